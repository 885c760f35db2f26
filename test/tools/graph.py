#!/usr/bin/env python3
"""The graph of src/: which file includes which, and which calls which.

    graph.py            figures: files, lines, arrows, circles, arrows upwards
    graph.py --arrows   every call between files, with the functions called
    graph.py --check    what breaks a rule; exit 1 if anything does

GRAPH_REV=<commit> takes the sources from that commit, not from the tree.

A call is a function with external linkage that is named in another file,
called or handed on.  Comments, strings, fields and local variables of the
same name are not calls; neither is a name that no header read by the file
declares.  Calls through pointers and SQL are not seen.
"""
import fnmatch
import io
import os
import re
import subprocess
import sys
import tarfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MAX_LINES = int(os.environ.get("MAX_LINES", "900"))

# ---------------------------------------------------------------------------
# The rules
# ---------------------------------------------------------------------------

# Who may include and call whom.  What a layer may see through another it may
# see directly, too (guard may name a type of math), but never upwards.
LAYERS = {
    "math": "",
    "calc": "math",
    "calc/sql": "calc math base",       # calc/sql*: hands calc's functions to SQL
    "base": "math",
    "safe": "base",
    "ledger": "base math",
    "agg": "base math",
    "policy": "base math",
    "primary": "ledger",                # a module of its own: libpq for ledger/primary.c
    "release": "ledger agg policy base math",
    "guard": "safe policy release agg base math",
    "admin": "release policy ledger calc base math",
}

# Layers that need no server: the C library alone.
BARE = ("math", "calc")
C_LIBRARY = re.compile(r"^(alloca|assert|ctype|errno|float|inttypes|limits|math|stdbool|stddef|stdint|stdio"
                       r"|stdlib|string)\.h$")

# The floors of guard/, the highest first: a file may include and call files of
# its own floor and of those below.  Patterns are of paths below src/guard/.
FLOORS = [
    ("hooks", "hooks.c plan_statement*"),
    ("mask", "mask*"),
    ("split", "split.c"),
    ("rewrite", "rewrite.h blocks.c changes.c composed.c distinct_values.c distribute* empty_results.c existence.c failing_calls.c failing_clauses.c grouping.c inner_query.c membership.c named_values.c mistaken_constants.c outer_query.c public_filters.c public_keys.c fingerprint* rest.c trusted.c unread_columns.c verify*"),
    ("describe/", "describe/*"),
    ("read/", "read/*"),
    ("facts/", "facts/*"),
    ("level", "guard.h level.h aggregates.c bucket_cases.c call_forms.c collect.c examples.c exprs.c inline.c plain_query.c protected.c"),
    ("vet/", "vet/*"),
]

# The floor of files that had another name or folder, for figures of old commits.
FORMERLY = {
    "rewrite": "change.c probe.c vet/trusted.c",
    "describe/": "columns.c measures.c known_bounds.c domain.c domain.h restrict.c companions.c propagate.c",
    "read/": "source.c source.h subquery.c with_query.c joins.c unique.c lineage.c private_rows.c given.c",
    "level": "describe/aggregates.c identity.c",
    "vet/": "allow.c allow.h vet.c vet.h vet_call.c allow_list.c allow_sql.c constants.c constants.h added.c"
            " unit_aggregates.c canonical.c total.h total_*.c",
}

# Circles of files that call each other.  In guard/ there are two, which are
# recursions; they may lose files and gain none.
CIRCLES = {
    "levels: a subquery is read as the level around it is": """
        src/guard/read/source.c src/guard/read/subquery.c""",
    "expressions: the arguments of a call are vetted as the call is": """
        src/guard/vet/vet.c src/guard/vet/calls.c src/guard/vet/added.c src/guard/vet/unit_aggregates.c""",
}

# The most files of another layer that a circle may have.
LARGEST_CIRCLE = {"policy": 3, "release": 4, "admin": 2}

# Who looks into the nodes of operators in guard/: comparisons are read by the functions below, of
# vet/operators.c; the others treat all operators alike, as calls.
OPERATOR_FILES = {
    "src/guard/vet/operators.c": "reads and makes comparisons",
    "src/guard/vet/vet.c": "vets", "src/guard/vet/calls.c": "vets", "src/guard/vet/checks.c": "vets",
    "src/guard/verify_expr.c": "judges for itself", "src/guard/trusted.c": "asks who owns each",
    "src/guard/plain_query.c": "asks who owns each", "src/guard/failing_calls.c": "puts other functions in",
    "src/guard/fingerprint_expr.c": "writes each", "src/guard/fingerprint_leaves.c": "writes each",
    "src/guard/read/made_rows.c": "asks whether each returns a set",
}
OPERATOR_CAST = re.compile(r"\(\s*(?:const )?(?:ScalarArrayOpExpr|OpExpr|DistinctExpr) \*\)"
                           r"|\b(?:castNode|\w+_node)\((?:ScalarArrayOpExpr|OpExpr|DistinctExpr),"
                           r"|(?:ScalarArrayOpExpr|OpExpr|DistinctExpr) \*\w+[,)]")

# Who may read comparisons, of any kind and of two values.  What follows from one is for facts/ to say: these
# lists may lose files and gain none.
READERS = {
    "dp_read_comparison": """vet/* facts/* exprs.c describe/forms.c describe/key_lists.c describe/key_query_parts.c
        describe/known_values.c describe/time_cells.c describe/value_cells.c read/same_unit.c""",
    "dp_read_operator dp_read_side": """vet/* facts/* exprs.c blocks.c membership.c public_filters.c
        describe/join_matches.c read/compared_rows.c read/correlations.c read/near_columns.c read/same_unit.c
        read/sublink_values.c read/sublinks.c read/unique.c""",
}

# ---------------------------------------------------------------------------
# Reading
# ---------------------------------------------------------------------------


SUFFIXES = (".c", ".h", ".def")


def read_tree(revision):
    """Returns {path: text} of the C files below src/."""
    files = {}
    if revision:
        tar = subprocess.run(["git", "-C", ROOT, "archive", "--format=tar", revision, "src"],
                             check=True, stdout=subprocess.PIPE).stdout
        with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
            for member in archive:
                if member.isfile() and member.name.endswith(SUFFIXES):
                    files[member.name] = archive.extractfile(member).read().decode()
        return files
    for folder, _, names in os.walk(os.path.join(ROOT, "src")):
        for name in names:
            if name.endswith(SUFFIXES):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    files[os.path.relpath(path, ROOT)] = file.read()
    return files


TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def blank(match):
    """A comment or literal, as white space of as many lines."""
    text = match.group()
    return '""' if text[0] == '"' else "0" if text[0] == "'" else " " + "\n" * text.count("\n")


KEYWORDS = {"return", "else", "case", "goto", "sizeof", "do", "in"}
DEFINITION = re.compile(r"^(?P<type>[A-Za-z_][^\n;{}()=#]*)\n(?P<name>\w+)(?P<args>\([^;{}]*\))[^;{}()]*\n\{", re.M)
ONE_LINE = re.compile(r"^(?P<type>(?:static |extern |inline |const )*[A-Za-z_]\w*[ \t*]+)(?P<name>\w+)"
                      r"(?P<args>\([^;{}]*\))\s*\n\{", re.M)
PROTOTYPE = re.compile(r"^(?:[A-Z_]+ )?(?:extern|Datum|PG_FUNCTION_INFO_V1)\b[^;{}#]*?\b(\w+)\s*\([^;{#]*;", re.M)
INFO = re.compile(r"\bPG_FUNCTION_INFO_V1\((\w+)\)")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
NAME = re.compile(r"\b[A-Za-z_]\w*\b")


class File:
    def __init__(self, path, text):
        self.path = path
        self.lines = text.count("\n")
        self.includes = []              # (line, quoted, name, path or None)
        bare = TOKEN.sub(blank, text)
        named = TOKEN.sub(lambda m: m.group() if m.group()[0] == '"' else blank(m), text)
        for match in INCLUDE.finditer(named):
            self.includes.append((named.count("\n", 0, match.start(1)) + 1, match.group(1) == '"', match.group(2)))
        self.bodies = []                # (where the head begins, where the body ends)
        self.public = set()
        self.private = set()
        for pattern in (DEFINITION, ONE_LINE):
            for match in pattern.finditer(bare):
                end = bare.find("\n}", match.end())
                if any(start <= match.start() < stop for start, stop in self.bodies):
                    continue
                self.bodies.append((match.start(), len(bare) if end < 0 else end + 2))
                own = self.private if re.search(r"\bstatic\b", match.group("type")) else self.public
                own.add(match.group("name"))
        self.declared = set(PROTOTYPE.findall(bare)) | set(INFO.findall(bare))
        self.text = bare


class Graph:
    def __init__(self, texts):
        self.files = {path: File(path, text) for path, text in sorted(texts.items())}
        self.owner = {}
        for path, file in self.files.items():
            for name in file.public:
                self.owner.setdefault(name, path)
        self.includes = {path: [] for path in self.files}
        for path, file in self.files.items():
            for line, quoted, name in file.includes:
                self.includes[path].append((line, quoted, name, self.find(path, name) if quoted else None))
        self.calls = {}                 # (from, to): {function: line}
        for path, file in self.files.items():
            self.find_calls(path, file)

    def find(self, path, name):
        """Where the compiler finds a header: beside the file, then below src/."""
        for folder in (os.path.dirname(path), "src"):
            found = os.path.normpath(os.path.join(folder, name))
            if found in self.files:
                return found
        return None

    def visible(self, path, seen):
        """Names that the file and the headers it reads declare."""
        seen.add(path)
        names = set(self.files[path].declared) | self.files[path].public
        for _, _, _, found in self.includes[path]:
            if found and found not in seen:
                names |= self.visible(found, seen)
        return names

    def find_calls(self, path, file):
        foreign = {name for name in self.visible(path, set()) - file.private
                   if self.owner.get(name, path) != path}
        # tables of functions stand outside of bodies: everything but declarations is searched
        spans = sorted(file.bodies)
        position = 0
        parts = []
        for start, stop in spans:
            parts.append((position, file.text[position:start]))
            parts.append((start, file.text[start:stop]))
            position = stop
        parts.append((position, file.text[position:]))
        for start, part in parts:
            if not any(s == start for s, _ in spans):
                part = PROTOTYPE.sub(lambda m: " " * len(m.group()), part)
            for match in NAME.finditer(part):
                name = match.group()
                if name not in foreign:
                    continue
                before = part[:match.start()].rstrip()
                if before.endswith((".", "->")) or self.is_local(part, name):
                    continue
                line = file.text.count("\n", 0, start + match.start()) + 1
                self.calls.setdefault((path, self.owner[name]), {}).setdefault(name, line)

    @staticmethod
    def is_local(body, name):
        """Whether a parameter or variable of the function bears the name."""
        for match in re.finditer(r"(\w+)[ \t\n]+\**%s[ \t]*[;,=)\[]" % re.escape(name), body):
            if match.group(1) not in KEYWORDS:
                return True
        return False


def circles(nodes, arrows):
    """Strongly connected components of more than one node, the largest first."""
    after = {node: [] for node in nodes}
    for tail, head in arrows:
        after[tail].append(head)
    number, low, stack, found = {}, {}, [], []

    def visit(node):
        number[node] = low[node] = len(number)
        stack.append(node)
        for head in after[node]:
            if head not in number:
                visit(head)
                low[node] = min(low[node], low[head])
            elif head in stack:
                low[node] = min(low[node], number[head])
        if low[node] == number[node]:
            component = []
            while True:
                component.append(stack.pop())
                if component[-1] == node:
                    break
            if len(component) > 1:
                found.append(sorted(component))

    sys.setrecursionlimit(10000)
    for node in nodes:
        if node not in number:
            visit(node)
    return sorted(found, key=lambda c: (-len(c), c))


def layer(path):
    """The layer that a file below src/ belongs to; dp_cdp.c has none above or below it."""
    path = path[len("src/"):]
    if path.startswith("calc/sql"):
        return "calc/sql"
    return path.split("/")[0] if "/" in path else os.path.splitext(path)[0]


def floor(path):
    """The number of a file's floor of guard/, 0 being the highest; None: it has none."""
    if not path.startswith("src/guard/"):
        return None
    name = path[len("src/guard/"):]
    for number, (title, patterns) in enumerate(FLOORS):
        if any(fnmatch.fnmatch(name, pattern) for pattern in (patterns + " " + FORMERLY.get(title, "")).split()):
            return number
    return None


def goes_up(tail, head):
    """Whether an arrow between files leads to a layer or floor that the first must not know; why, or None."""
    own, other = layer(tail), layer(head)
    if own not in LAYERS or other not in LAYERS:
        return None
    if own != other:
        return None if other in LAYERS[own].split() else "%s must not know %s" % (own, other)
    if own == "guard" and floor(tail) is not None and floor(head) is not None and floor(head) < floor(tail):
        return "%s is above %s" % (FLOORS[floor(head)][0], FLOORS[floor(tail)][0])
    return None


def upward(graph):
    """[(file, line, what, why)] of includes and calls that go up."""
    found = []
    for path, includes in graph.includes.items():
        for line, _, name, head in includes:
            why = head and goes_up(path, head)
            if why:
                found.append((path, line, 'includes "%s"' % name, why))
    for (tail, head), functions in graph.calls.items():
        why = goes_up(tail, head)
        if why:
            found.append((tail, min(functions.values()),
                          "calls %s of %s" % (", ".join(sorted(functions)), head[len("src/"):]), why))
    return sorted(found)


# ---------------------------------------------------------------------------
# Printing
# ---------------------------------------------------------------------------


def short(path):
    return path[len("src/"):]


def folder(path):
    name = os.path.dirname(short(path))
    return name + "/" if name else "."


def figures(graph):
    folders = sorted({folder(path) for path in graph.files})
    include_arrows = {(path, head) for path, includes in graph.includes.items() for _, _, _, head in includes if head}
    print("%-18s %6s %7s %9s %6s" % ("folder", "files", "lines", "includes", "calls"))
    for name in folders + [None]:
        def inside(path):
            return name is None or folder(path) == name
        print("%-18s %6d %7d %9d %6d" % (name or "all",
                                         sum(inside(path) for path in graph.files),
                                         sum(file.lines for path, file in graph.files.items() if inside(path)),
                                         sum(inside(tail) for tail, _ in include_arrows),
                                         sum(inside(tail) for tail, _ in graph.calls)))
    found = circles(graph.files, include_arrows)
    print("\ncircles of includes: %d" % len(found))
    for circle in found:
        print("  %d files: %s" % (len(circle), " ".join(map(short, circle))))
    found = circles(graph.files, graph.calls)
    print("circles of calls: %d" % len(found))
    for circle in found:
        print("  %d files: %s" % (len(circle), " ".join(map(short, circle))))
    found = upward(graph)
    guard = [arrow for arrow in found if layer(arrow[0]) == "guard"]
    print("upward arrows: %d, of which in guard: %d" % (len(found), len(guard)))
    for path, line, what, why in found:
        print("  %s:%d: %s (%s)" % (short(path), line, what, why))


def arrows(graph):
    for (tail, head), functions in sorted(graph.calls.items()):
        print("%s -> %s: %s" % (short(tail), short(head), " ".join(sorted(functions))))


def comparisons(graph):
    """[what is wrong] where a file takes a comparison apart that should ask."""
    found = []
    for path, file in graph.files.items():
        if path.startswith("src/guard/") and path.endswith(".c"):
            match = OPERATOR_CAST.search(file.text)
            if match and path not in OPERATOR_FILES:
                found.append("%s:%d: looks into the node of an operator: ask guard/vet/operators.c or guard/facts/"
                             % (path, file.text.count("\n", 0, match.start()) + 1))
            elif not match and path in OPERATOR_FILES:
                found.append("%s: looks into no operator any more: take it out of OPERATOR_FILES" % path)
    for names, patterns in READERS.items():
        callers = {tail[len("src/guard/"):] for (tail, _), functions in graph.calls.items()
                   if functions.keys() & set(names.split())}
        for caller in callers:
            if not any(fnmatch.fnmatch(caller, pattern) for pattern in patterns.split()):
                found.append("src/guard/%s: calls %s: ask guard/facts/ instead" % (caller, names))
        for pattern in patterns.split():
            if not fnmatch.filter(callers, pattern) and "*" not in pattern:
                found.append("src/guard/%s: calls no %s any more: take it out of READERS" % (pattern, names))
    return sorted(found)


def check(graph):
    """Prints what breaks a rule; returns whether nothing does."""
    wrong = comparisons(graph)
    for path, file in graph.files.items():
        own = layer(path)
        if own != "dp_cdp" and own not in LAYERS:
            wrong.append("%s: belongs to no layer" % path)
        if own == "guard" and floor(path) is None:
            wrong.append("%s: belongs to no floor of guard/" % path)
        if file.lines > MAX_LINES:
            wrong.append("%s: %d lines; split it (at most %d)" % (path, file.lines, MAX_LINES))
        for line, quoted, name, head in graph.includes[path]:
            if own in BARE and (head is None if quoted else not C_LIBRARY.match(name)):
                wrong.append("%s:%d: %s may include the C library alone, not %s" % (path, line, own, name))
    for path, line, what, why in upward(graph):
        wrong.append("%s:%d: %s, but %s" % (path, line, what, why))
    include_arrows = [(path, head) for path, includes in graph.includes.items() for _, _, _, head in includes if head]
    for circle in circles(graph.files, include_arrows):
        wrong.append("headers include each other: " + " ".join(circle))
    for circle in circles(graph.files, graph.calls):
        layers = {layer(path) for path in circle}
        small = len(layers) == 1 and len(circle) <= LARGEST_CIRCLE.get(layers.pop(), 1)
        if not small and not any(set(circle) <= set(known.split()) for known in CIRCLES.values()):
            wrong.append("a circle of calls (see CIRCLES in test/tools/graph.py): " + " ".join(circle))
            for tail, head in sorted(graph.calls):
                if tail in circle and head in circle:
                    wrong.append("  %s calls %s of %s" % (tail, " ".join(sorted(graph.calls[tail, head])), head))
    for line in wrong:
        print(line)
    return not wrong


# What is appended to a file, and whether that is a call of a file above it.
PLANTS = [
    ("src/guard/read/lineage.c", "extern void dp_add_keys(DpLevel *level);\nvoid\ndp_planted(void)\n{\n"
     "\tdp_add_keys(NULL);\n}\n", True),
    ("src/guard/vet/list.c", "extern bool dp_is_protected(void *rte);\n"
     "void *dp_planted[] = {dp_is_protected};\n", True),
    ("src/guard/read/lineage.c", '#include "guard/describe/describe.h"\n', True),
    ("src/policy/access.c", '#include "guard/guard.h"\n', True),
    ("src/guard/read/lineage.c", "extern void dp_add_keys(DpLevel *level);\n/* dp_add_keys(NULL); */\n", False),
    ("src/guard/read/lineage.c", "extern void dp_add_keys(DpLevel *level);\nvoid\ndp_planted(void)\n{\n"
     "\tint dp_add_keys = 0;\n\tdp_trace(p->dp_add_keys + dp_add_keys);\n}\n", False),
]


# Code that takes a comparison apart.
LOOKS_INTO = ["return linitial(((OpExpr *) node)->args);", "static Node *\nplanted(ScalarArrayOpExpr *node)",
              "foreach_node(OpExpr, item, list)"]
READS = ("src/guard/read/lineage.c", "bool\ndp_planted(Node *node)\n{\n\tDpComparison c;\n\n"
         "\treturn dp_read_comparison(node, &c);\n}\n")


def test(texts):
    """Returns whether upward calls and includes that are planted are seen, and nothing else is taken for one."""
    path, text = READS
    if not all(map(OPERATOR_CAST.search, LOOKS_INTO)) or \
            (path in texts and not comparisons(Graph({**texts, path: texts[path] + text}))):
        print("graph.py overlooks what takes a comparison apart")
        return False
    before = len(upward(Graph(texts)))
    for path, text, goes in PLANTS:
        if path not in texts or (len(upward(Graph({**texts, path: texts[path] + text}))) > before) != goes:
            mistake = "overlooks a planted arrow" if goes else "sees an arrow that is none"
            print("graph.py %s in %s: %s" % (mistake, path, text.strip().replace("\n", " ")))
            return False
    return True


def main():
    revision = os.environ.get("GRAPH_REV", "")
    texts = read_tree(revision)
    graph = Graph(texts)
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if check(graph) and test(texts) else 1)
    if sys.argv[1:] == ["--arrows"]:
        arrows(graph)
    elif not sys.argv[1:]:
        figures(graph)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
