#!/usr/bin/env python3
"""Names in the text of a page of documentation: all of them exist.

    doc_names.py PAGE...    exit 1 and a line for each name that does not

Looked at is what stands in `backquotes`, and all of a ``` block.  Names are
    folder/file.c, file.c, folder/      from the top, src/, test/ or the page's folder; or a file's name alone; * as in a shell
    file.c:name, file.c:name()          defined in that file (SQL and scripts: named in it)
    name, name(), Type.field            a function, type, macro, constant, variable or field that is defined in
                                        src/, or an object of the install script; what PostgreSQL, a system or
                                        a test defines must at least be a word of src/ or test/
    make goal, ONLY="suite file"        of the Makefile and of test/
PREFIX_* stands for any name that begins so; what contains < or NAME, or is not of these
forms (SQL, commands, plain words in a block) is not looked at, but for names
that begin with dp_, Dp or DP_.
"""
import fnmatch
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from test_files import SUITES  # noqa: E402

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
try:
    FILES = sorted(set(subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True)
                       .stdout.split()))
except FileNotFoundError:
    FILES = []
if not FILES:                   # a copy without its history, or a machine without git
    FILES = [os.path.relpath(os.path.join(d, f), ".") for d, _, names in os.walk(".") for f in names]
FILES = [f for f in FILES if os.path.isfile(f)]
FOLDERS = {os.path.dirname(f) for f in FILES}
PATHS = set(FILES) | FOLDERS | {os.path.dirname(d) for d in FOLDERS}
INSTALL = "sql/dp_cdp--%s.sql" % re.search(r"^default_version = '(.*)'", open("dp_cdp.control").read(), re.M).group(1)
GOALS = set(re.search(r"^OWN_GOALS = (.*)$", open("Makefile").read(), re.M).group(1).split()) | {"install", "clean"}
KEYWORDS = set("if while for switch return sizeof defined else do case static extern typedef struct enum union const "
               "void int bool char double unsigned inline".split())
OURS = re.compile(r"(?<![\w.<])(?:dp|Dp|DP)(?:_|(?<=Dp)[A-Z])\w*\*?(?![\w<])")
PATH = re.compile(r"[\w.*-]+(?:/[\w.*-]+)*(?:\.(?:c|h|def|sql|sh|py|pl|psql|md|conf|control|json)|/)|Makefile")


def code(text):
    """a C file without its comments and without what its strings say"""
    return re.sub(r"/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", lambda m: " " if m.group()[0] == "/" else '""', text, flags=re.S)


def definitions(text):
    """what a C file defines, and Type.field for the fields of its types"""
    names = set(re.findall(r"^(\w+)\(", text, re.M))                               # functions
    names |= set(re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", text, re.M))
    names |= set(re.findall(r"^\w[\w \t*]*?\b(\w+)(?:\[[^\]]*\])*\s*(?:=[^=]|;)", text, re.M))     # variables
    names |= set(re.findall(r"^\w[\w \t*]*?\b(\w+)\s*\(", text, re.M))               # declarations
    names |= set(re.findall(r"^typedef\s[\w \t*]*?\b(\w+)\s+__attribute__", text, re.M))
    names |= set(re.findall(r"PG_FUNCTION_INFO_V1\((\w+)\)", text))
    names |= set(re.findall(r"\(\*\s*(\w+)\)\s*\(", text))                          # types of functions
    for kind, tag, body, alias in re.findall(r"\b(struct|union|enum)\s+(\w*)\s*\{(.*?)\n\}\s*(\w*)", text, re.S):
        names |= {tag, alias}
        fields = set(re.findall(r"\b(\w+)\s*(?=[,=]|$)" if kind == "enum" else r"\b(\w+)\s*(?:\[[^\]]*\]\s*)*[;,]",
                                body + "\n", re.M))
        if kind == "enum":
            names |= fields
        names |= {"%s.%s" % (t, f) for t in (tag, alias) if t for f in fields}
    return names - KEYWORDS - {""}


SOURCES = {f: code(open(f).read()) for f in FILES if re.match(r"src/.*\.(c|h|def)$", f)}
DEFINED = {f: definitions(text) for f, text in SOURCES.items()}
EVERYTHING = set().union(*DEFINED.values())
TESTS = "\n".join(open(f, errors="replace").read() for f in FILES
                  if f == "Makefile" or re.match(r"(src/sql|test)/.*\.(c|h|sql|psql|py|pl|pm|sh|conf)$", f))
USED = set(re.findall(r"\w+", "\n".join(SOURCES.values()) + TESTS))
SQL = open(INSTALL).read()
SETTINGS = set(re.findall(r"Define\w+Variable\(\"([\w.]+)\"", "\n".join(open(f).read() for f in SOURCES)))
OBJECTS = set(re.findall(r"CREATE (?:OR REPLACE )?(?:FUNCTION|AGGREGATE|VIEW|TABLE|TYPE|TRIGGER|EVENT TRIGGER|SCHEMA)\s+(?:@extschema@\.|dp_cdp(?:_internal)?\.)?(\w+)", SQL))
ENVIRONMENT = set(re.findall(r"(?:environ\S*?[\[(]\W?|\$\{?|getenv\(\"|\\getenv \w+ )(DP_\w+)", TESTS))
INNER = set(re.findall(r"CREATE (?:OR REPLACE )?(?:FUNCTION|AGGREGATE|VIEW|TABLE|SEQUENCE|TYPE)\s+dp_cdp_internal\.(\w+)", SQL))
C_NAMES = set(re.findall(r"'MODULE_PATHNAME', '(\w+)'", SQL))


def files_of(name):
    """the files, or folders, that a name stands for on a page in folder here"""
    name = name.rstrip("/")
    if name.startswith("../"):
        name = os.path.normpath(os.path.join(here, name))
    tops = ("", "src/", "test/", here + "/")
    if "*" not in name:
        found = [top + name for top in tops if top + name in PATHS]
        return found or ([f for f in FILES if os.path.basename(f) == name] if "/" not in name else [])
    found = [f for f in sorted(PATHS) if any(fnmatch.fnmatchcase(f, top + name) for top in tops)]
    if not found and "/" not in name:
        found = [f for f in FILES if fnmatch.fnmatchcase(os.path.basename(f), name)]
    return found


def exists(name):
    if name in ENVIRONMENT:
        return True
    if name.startswith("dp_cdp_internal."):
        return any(fnmatch.fnmatchcase(n, name.split(".")[1]) for n in INNER)
    if name.startswith("dp_cdp.") and name.endswith("*"):
        return any(n.startswith(name[7:-1]) for n in OBJECTS - INNER)
    if name.startswith("dp_cdp."):
        return name in SETTINGS or name.split(".")[1] in OBJECTS - INNER | set(re.findall(r"^\t(\w+) ", SQL, re.M)) or name == "dp_cdp.so"
    if name.endswith("*"):
        return any(n.startswith(name[:-1]) for n in EVERYTHING | OBJECTS)
    if name == "dp_cdp":
        return True
    return name in EVERYTHING or name in OBJECTS or name in C_NAMES


def is_in(name, files):
    for f in files:
        if f in DEFINED:
            if name in DEFINED[f]:
                return True
        elif os.path.isfile(f) and re.search(r"\b%s\b" % re.escape(name), open(f).read()):
            return True
    return False


def problems_of(text):
    """of one code span; or None, where it is of no form that is known"""
    text = text.strip()
    problems = []
    pair = re.fullmatch(r"(%s):(\w+(?:\.\w+)?)(?:\(\))?" % PATH.pattern, text)
    if pair:
        files = files_of(pair.group(1))
        if not files:
            return ["there is no file %s" % pair.group(1)]
        if is_in(pair.group(2), files):
            return []
        others = [f for f in DEFINED if f.endswith(".c") and pair.group(2) in DEFINED[f]]
        return ["%s does not define %s%s" % (pair.group(1), pair.group(2), "; %s does" % others[0] if others else "")]
    if text.startswith("build/"):
        return []               # what a build makes
    if PATH.fullmatch(text):
        return [] if files_of(text) else ["there is no file or folder %s" % text]
    single = re.fullmatch(r"([A-Za-z_]\w*(?:\.\w+)?\*?)(?:\(\))?", text)
    if re.fullmatch(r"[a-z]+|[A-Z]+|PG_CONFIG", text):
        return []               # a plain word, or one of SQL or of the Makefile
    if single:
        name = single.group(1)
        if exists(name):
            return []
        if not OURS.match(name) and all(any(u.startswith(n[:-1]) for u in USED) if n.endswith("*") else n in USED
                                        for n in name.split(".")):
            return []
        return ["nothing defines %s" % name]
    for goal in re.findall(r"\bmake (?:-C \S+ )?([a-z][\w-]*)", text):
        if goal not in GOALS and "-C" not in text:
            problems.append("the Makefile has no goal %s" % goal)
    of_tests = not re.search(r"\bmake (?!test)[a-z]", text)
    for only in re.findall(r"\bONLY=(?:\"([^\"]*)\"|([\w/.]+))", text) if of_tests else []:
        for name in " ".join(only).split():
            if name not in SUITES and name != "..." and not files_of("test/" + name) and not files_of("test/%s.*" % name) \
                    and not (name.startswith("regress/") and files_of("sql/%s.sql" % os.path.splitext(name[8:])[0])) \
                    and not (name.startswith("readme/") and files_of(name[7:])):
                problems.append("no suite or file of tests is called %s" % name)
    text = re.sub(r"ONLY=\"[^\"]*\"", "", text)
    for name in re.findall(r"(?<![\w/.<*-])(?:src|test|sql|docs|expected|build)/[\w./*-]*\w", text):
        if not name.startswith("build/") and not files_of(name):
            problems.append("there is no file %s" % name)
    for name in OURS.findall(re.sub(r"[\w./-]*/[\w./*-]+|\S+\.(?:so|control|sql)\b", "", text)):
        if not exists(name):
            problems.append("nothing defines %s" % name)
    return problems


seen = 0
failed = 0
for page in sys.argv[1:]:
    here = os.path.dirname(page)
    fenced = False
    for number, line in enumerate(open(page), 1):
        if line.startswith("```"):
            fenced = not fenced
            continue
        if fenced:
            spans = [line]
            spans += re.findall(r"(?<![\w/])[\w/]+\.[ch](?::\w+)?\b", line)
        else:
            spans = re.findall(r"`([^`]+)`", line)
        for span in spans:
            if "<" in span and not OURS.search(span) or re.search(r"\bNAME\b", span):
                continue
            seen += 1
            for problem in problems_of(span):
                failed += 1
                print("%s:%d: %s" % (page, number, problem))
if seen < 20 * len(sys.argv[1:]):
    failed += 1
    print("only %d names were found: the expressions of this check no longer fit" % seen)
print("%d names in %s" % (seen, ", ".join(sys.argv[1:])))
sys.exit(1 if failed else 0)
