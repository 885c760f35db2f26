"""What META.json says is so: check_meta.py DIRECTORY, of the unpacked archive.

Its fields are those of the specification of PGXN, version 1.0.0; its version is
that of the control file, of the install script and of CHANGELOG.md's newest
heading; files that it names are there.
"""
import json
import os
import re
import sys

STATUS = ("stable", "testing", "unstable")
VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[A-Za-z][\w-]*)?$")
RESOURCES = {"homepage": None, "bugtracker": ("web", "mailto"), "repository": ("url", "web", "type")}
OLDEST = "15.0.0"

top = sys.argv[1]
problems = []


def need(holds, what):
    if not holds:
        problems.append("META.json: " + what)


def text_of(name):
    return open(os.path.join(top, name)).read()


meta = json.loads(text_of("META.json"))
for field in ("name", "version", "abstract", "maintainer", "license", "provides", "meta-spec"):
    need(field in meta, "no " + field)
for field in meta:
    need(field.startswith(("x_", "X_")) or field in (
        "name", "version", "abstract", "maintainer", "license", "provides", "meta-spec", "description",
        "generated_by", "tags", "no_index", "prereqs", "release_status", "resources"), "unknown field " + field)
need(meta["meta-spec"]["version"] == "1.0.0", "another specification")
need(meta["license"] == "postgresql", "another licence than LICENSE")
need(text_of("LICENSE").startswith("PostgreSQL License"), "another licence than LICENSE")
need(meta.get("release_status") in STATUS, "release_status is none of " + ", ".join(STATUS))
need(meta["prereqs"]["runtime"]["requires"].get("PostgreSQL") == OLDEST, "PostgreSQL from %s on" % OLDEST)

version = re.search(r"^default_version = '(.*)'", text_of("dp_cdp.control"), re.M).group(1)
heading = re.search(r"^## (\S+) \((.*)\)", text_of("CHANGELOG.md"), re.M)
need(VERSION.match(version), "%s is no semantic version" % version)
need(meta["version"] == version, "version %s, but %s in dp_cdp.control" % (meta["version"], version))
need(heading.group(1) == version, "version %s, but %s in CHANGELOG.md" % (version, heading.group(1)))
need((heading.group(2) == "unreleased") == (meta["release_status"] == "unstable"),
     "unstable is what is unreleased, and nothing else")
need(os.path.basename(os.path.normpath(top)) == "dp_cdp-" + version, "the archive's directory is not dp_cdp-" + version)

need(list(meta["provides"]) == ["dp_cdp"], "provides something else than dp_cdp")
for name, extension in meta["provides"].items():
    need(extension["version"] == version, "provides another version")
    need(extension["file"] == "sql/dp_cdp--%s.sql" % version, "provides another script")
    for file in (extension["file"], extension["docfile"]):
        need(os.path.isfile(os.path.join(top, file)), "there is no " + file)

for name, value in meta.get("resources", {}).items():
    need(name in RESOURCES, "unknown resource " + name)
    parts = RESOURCES.get(name)
    need(isinstance(value, str) if parts is None else set(value) <= set(parts), "resource %s has other parts" % name)

if problems:
    sys.exit("\n".join(problems))
print("META.json is right")
