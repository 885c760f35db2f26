#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# check_docs.sh
#	  What the documentation names exists: every relative link of the documentation
#	  at the top, of docs/ and of the pages in src/ and test/, with the heading
#	  that it points to; every file of the repository in `backquotes` of docs/
#	  and of the documentation at the top; and every file and block of the table of
#	  attacks in test/attacks/README.md.  The page of a folder of src/ names all
#	  of its files.  Pictures are shown, described and small.  README.md has at
#	  most 200 lines, a version in CHANGELOG.md at most 40, no test of sql/ has the name of one of test/pgtap, the version is the
#	  same in all places that RELEASING.md lists, and the install script and
#	  updates to this version are what their parts in src/sql/ make.
#	  test_files.py holds what is written of test files, doc_names.py which names
#	  the developers' pages have (ARCHITECTURE.md, docs/dev, src/, test/), and
#	  language.py how all pages read.
#
#-------------------------------------------------------------------------
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

python3 - <<'EOF'
import glob
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

PATH = re.compile(r"(?:src|test|sql|docs|expected)/[\w./-]+\w|[A-Za-z]\w+/\w+\.(?:sql|py|pl|c|sh|md)")
problems = []
seen = 0
# the most bytes of a picture, by its kind
LARGEST = {".svg": 20000, ".png": 150000}
shown = set()


def anchors(path):
    """headings as GitHub turns them into fragments"""
    text = re.sub(r"```.*?```", "", open(path).read(), flags=re.S)
    names = []
    for heading in re.findall(r"^#+ +(.*)$", text, re.M):
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        names.append(name if name not in names else "%s-%d" % (name, names.count(name)))
    return names


pages = sorted(glob.glob("*.md")) + sorted(page for folder in ("docs", "src", "test")
                                           for page in glob.glob(folder + "/**/*.md", recursive=True))
for page in pages:
    text = re.sub(r"```.*?```", "", open(page).read(), flags=re.S)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        seen += 1
        name, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(page), name)) if name else page
        shown.add(target)
        if not os.path.exists(target):
            problems.append("%s: there is no %s" % (page, link))
        elif anchor and anchor not in anchors(target):
            problems.append("%s: %s has no heading %s" % (page, target, anchor))
    # paths on the developers' pages are below src/, test/ or beside the page: doc_names.py looks at these
    if page.startswith("docs/") and not page.startswith("docs/dev/") or ("/" not in page and page not in ("CHANGELOG.md", "ARCHITECTURE.md")):
        for code in re.findall(r"`([^`]+)`", text):
            for name in PATH.findall(code):
                seen += 1
                if not os.path.exists(name) and not os.path.exists("test/" + name):
                    problems.append("%s: there is no %s" % (page, name))

for picture in sorted(glob.glob("docs/pictures/*")):
    kind = os.path.splitext(picture)[1]
    if kind not in LARGEST:
        continue
    seen += 1
    if picture not in shown:
        problems.append("%s: no page shows it" % picture)
    if os.path.getsize(picture) > LARGEST[kind]:
        problems.append("%s: has more than %d bytes" % (picture, LARGEST[kind]))
    if kind == ".svg":
        tags = {e.tag.split("}")[1]: "".join(e.itertext()) for e in ET.parse(picture).iter()}
        loads = re.search(r"<(script|image|a)\b|href=.[^#]|url\([^#]|@import", open(picture).read())
        if not tags.get("title") or not (tags.get("desc") or tags.get("description")) or loads:
            problems.append("%s: a picture has a title and a description, and loads nothing" % picture)

# a folder of src/ with a page has all of its files on it; a header may go with the file of its name
for page in sorted(glob.glob("src/*/README.md")):
    named = {os.path.basename(name) for name in re.findall(r"`([\w./-]+\.(?:c|h|def|sql|sh))`", open(page).read())}
    for path in glob.glob(os.path.dirname(page) + "/**/*.[ch]", recursive=True):
        name = os.path.basename(path)
        seen += 1
        if name not in named and name[:-1] + "c" not in named:
            problems.append("%s: does not say what %s is for" % (page, path))

# | what | `file` | "block", "block" |
files = {}
table = "test/attacks/README.md"
for line in open(table):
    if not line.startswith("|"):
        continue
    for name, blocks in re.findall(r"`([\w/.]+\.(?:sql|py|pl))`((?:[^`|\"]*\"[^\"]+\")*)", line):
        path = next((p for p in ("test/attacks/" + name, "test/" + name) if os.path.exists(p)), None)
        seen += 1
        if path is None:
            problems.append("%s: there is no %s" % (table, name))
            continue
        for block in re.findall(r"\"([^\"]+)\"", blocks):
            seen += 1
            if block not in open(path).read():
                problems.append("%s: %s has no \"%s\"" % (table, path, block))

# a version's changes: at most 40 lines, below the headings that readers look for
for version, part in re.findall(r"^## (\S+).*\n((?:(?!## ).*\n)*)", open("CHANGELOG.md").read(), re.M):
    found = re.findall(r"^### (.*)", part, re.M)
    if len(part.strip().split("\n")) >= 40 or not found or [h for h in ("Breaking", "New", "Fixed", "Upgrade") if h in found] != found:
        problems.append("CHANGELOG.md: %s has 40 lines or more, or other headings than Breaking, New, Fixed, Upgrade" % version)

lines = open("README.md").read().count("\n")
if lines > 200:
    problems.append("README.md has %d lines: move some to docs/" % lines)
for name in sorted(set(os.listdir("sql")) & set(os.listdir("test/pgtap"))):
    problems.append("sql/%s and test/pgtap/%s: one name for two tests" % (name, name))

version = re.search(r"^default_version = '(.*)'", open("dp_cdp.control").read(), re.M).group(1)
meta = json.load(open("META.json"))
versions = {
    "META.json": meta["version"],
    "META.json, provides": meta["provides"]["dp_cdp"]["version"],
    "META.json, file": meta["provides"]["dp_cdp"]["file"].partition("--")[2].removesuffix(".sql"),
    "CHANGELOG.md": re.search(r"^## ([\d.]+)", open("CHANGELOG.md").read(), re.M).group(1)}
for place, other in versions.items():
    if other != version:
        problems.append("dp_cdp.control has version %s, %s has %s" % (version, place, other))
scripts = {version: ["install"]}
scripts.update((os.path.basename(path)[:-4], ["update", os.path.basename(path)[:-4]])
               for path in glob.glob("src/sql/update/*--%s.sql" % version))
if len(scripts) < 2 and len(glob.glob("sql/dp_cdp--*.sql")) > 1:
    problems.append("src/sql/update/ has no update to version " + version)
for name, words in scripts.items():
    script = "sql/dp_cdp--%s.sql" % name
    made = subprocess.run(["sh", "src/sql/compose.sh"] + words, stdout=subprocess.PIPE, check=True).stdout.decode()
    if not os.path.exists(script) or open(script).read() != made:
        problems.append("%s is not what src/sql/ makes: edit that, then make" % script)

if seen < 60:
    problems.append("only %d names were found: the expressions of this check no longer fit" % seen)
print("\n".join(problems) or "%d names in %d pages" % (seen, len(pages)))
sys.exit(1 if problems else 0)
EOF
rc=$?
python3 test/tools/test_files.py check || rc=1
python3 test/tools/golden.py dead test/golden || rc=1
python3 test/tools/language.py || rc=1
shopt -s globstar
python3 test/tools/doc_names.py ARCHITECTURE.md docs/dev/*.md src/**/*.md test/**/*.md && exit $rc
