#!/usr/bin/env python3
#-------------------------------------------------------------------------
#
# mutants.py
#	  Mistakes in what the guard vets, each with a query that makes use of it.
#
# usage: mutants.py build SOURCES OUT [MUTANT ...]	writes files with all of these mistakes below OUT, prints their names
#		 mutants.py run [MUTANT ...]				asks the server at PGHOST, prints TAP
#
# A mutant is (file, text, replacement) once or more.  Both are expressions, or statements
# with a semicolon; the text must be in the file once, or within a text that is, [[so]].  The
# library has all mistakes, and in each session makes those that the setting
# mutant.made names; "verify", which switches the last gate itself off, is among them.
# `make test` takes about a third of them, by their names, `make test-all` and `make check-verify` all.
#
#-------------------------------------------------------------------------
import os
import re
import subprocess
import sys
import zlib

# who owns what is asked of a finished query, too, and would refuse what is the analyst's
OWNERS = ('src/guard/trusted.c', 'trust_walker((Node *) release->inner_query, &c)', 'false')
GATE = ('src/guard/split.c', 'dp_verify_inner(level)', '(void) 0')

MUTANTS = {
    # what runs as it was written, although vetted
    'key': ([('src/guard/describe/columns.c', 'dp_canonical_key(dp_make_safe(expr, &level->allow))', 'dp_canonical_key(copyObject(expr))')],
            'SELECT 1 / (patient - 42) AS k, dp_count(*) FROM visit GROUP BY k'),
    'argument': ([('src/guard/describe/aggregate_call.c', 'dp_make_safe(expr, &c->level->allow)', 'copyObject(expr)')],
                 'SELECT dp_sum(1 / (patient - 42), 0, 1) FROM visit'),
    'where': ([('src/guard/read/rebuild.c', 'from->quals ? dp_make_safe(from->quals, allow) : NULL', 'copyObject(from->quals)')],
              'SELECT dp_count(*) FROM visit WHERE 1 / (patient - 42) >= 0'),
    'on': ([('src/guard/read/rebuild.c', 'join->quals ? dp_make_safe(join->quals, allow) : NULL', 'copyObject(join->quals)')],
           'SELECT dp_count(*) FROM visit v JOIN ward w ON w.ward = v.ward AND 1 / (patient - 42) >= 0'),
    'output of a subquery': ([('src/guard/read/rebuild.c', 'expr = (Expr *) dp_make_safe((Node *) expr, allow)', 'expr')],
                             'SELECT dp_sum(x, 0, 1) FROM (SELECT 1 / (patient - 42) AS x FROM visit) q'),
    'having': ([('src/guard/read/rebuild.c', 'dp_make_safe(sub->havingQual, allow)', 'copyObject(sub->havingQual)')],
               'SELECT dp_count(*) FROM (SELECT patient FROM visit GROUP BY patient HAVING 1 / (patient - 42) >= 0) q'),
    'total variant': ([('src/guard/vet/calls.c', 'allowed->safe == NULL', 'true')],
                      'SELECT dp_count(*) FROM visit WHERE 1 / (patient - 42) >= 0'),
    # what is not vetted
    'sublink': ([('src/guard/vet/vet.c', 'dp_refuse_node(vet, node);', 'if (IsA(node, SubLink)) return copyObject(node); dp_refuse_node(vet, node);'),
                 ('src/guard/read/rebuild.c', 'dp_make(Query, .commandType = CMD_SELECT, .querySource = QSRC_ORIGINAL, .canSetTag = true)',
                  'dp_make(Query, .commandType = CMD_SELECT, .querySource = QSRC_ORIGINAL, .canSetTag = true, .hasSubLinks = true)'), OWNERS],
                'SELECT dp_count(*) FROM visit WHERE patient = (SELECT ana.f(1))'),
    'cast through text': ([('src/guard/vet/vet.c', 'dp_vet_io(vet, (CoerceViaIO *) node)', 'copyObject(node)')],
                          'SELECT dp_count(*) FROM visit WHERE name::int > 0'),
    'regular expressions': ([('src/guard/vet/vet.c', 'allowed->safe || allowed->constants', 'false')],
                            # more members than are written out
                            "SELECT dp_count(*) FROM visit WHERE name ~ ANY ('{%s}')" % ','.join('a%d' % i for i in range(101))),
    'constant argument': ([('src/guard/vet/calls.c', 'dp_reads_columns(arg, NULL)', 'false'),
                           ('src/guard/vet/calls.c', 'vet->no_columns = true', 'false')],
                          'SELECT dp_count(*) FROM visit WHERE ward ILIKE name'),
    'type': ([('src/guard/vet/checks.c', 'Oid type)\n{\n\tif ([[!dp_type_is_allowed(type)]])', 'false'),
              ('src/guard/vet/raw_columns.c', '!dp_type_is_allowed(type)', 'false')],
             'SELECT dp_count(coalesce(note, note)) FROM visit'),
    'long array': ([('src/guard/vet/vet.c', 'return vet_array_column(vet, array);', 'return copyObject(array);')],
                   "SELECT dp_count(*) FROM visit WHERE 'a' = ANY (tags)"),
    'function of the analyst': ([('src/guard/vet/added.c', '!dp_function_is_added(call->funcid)', 'false'),
                                 ('src/guard/vet/added.c', 'dp_added_problem(call->funcid)', 'NULL'), OWNERS],
                                'SELECT dp_count(*) FROM visit WHERE ana.f(patient) > 0'),
    'table of the analyst': ([('src/guard/read/source.c', 'dp_is_trusted_table(rte, s->level->allow.run_as, s->level->dataset->owner)', 'true'), OWNERS],
                             'SELECT dp_count(*) FROM visit v JOIN ana.own w ON w.ward = v.ward'),
    # rows that are bounded by something else than their unit
    'unit of another column': ([('src/guard/read/parents.c', 'from->unit.exprs = item.unit.exprs', 'from->unit.exprs = item.unit.exprs ? list_make1(dp_table_var(rti, token->parent, linitial_int(token->key))) : NIL')],
                               'SELECT dp_count(*) FROM item'),
    'unit of the referencing row': ([('src/guard/read/parents.c', 'from->unit.exprs = item.unit.exprs', 'from->unit.exprs = token->vars')],
                                    'SELECT dp_count(*) FROM item'),
    'rows as units': ([('src/guard/read/protected_table.c', 'else if ([[table->nthrough == 0]])', 'true'),
                       ('src/guard/read/source.c', 'check_row_units(level)', 'level->from.unit.one_row = false')],
                      'SELECT dp_count(*) FROM item'),
    # windows and choices, of other people's rows too, or by where rows are
    'window of several units': ([('src/guard/read/windows.c', 'names_unit(sub, item->partitionClause, from)', 'true')],
                                'SELECT dp_count(*) FROM (SELECT row_number() OVER (PARTITION BY ward ORDER BY name) AS n FROM visit) q WHERE n = 1'),
    'choice among several units': ([('src/guard/read/windows.c', '!names_unit(sub, sub->distinctClause, from)', 'false')],
                                   'SELECT dp_count(*) FROM (SELECT DISTINCT ON (ward) ward, patient FROM visit ORDER BY ward, name) q WHERE patient = 1'),
    'order of equal rows': ([('src/guard/read/window_order.c', '(value = dp_unordered_value(new, values, partition, order)) != NULL', 'false')],
                            'SELECT dp_count(*) FROM (SELECT name, lag(name) OVER (PARTITION BY patient ORDER BY ward) AS n FROM visit) q WHERE n < name'),
    'two orders of twins': ([('src/guard/read/windows.c', 'list_length(windows) < 2', 'true')],
                            'SELECT dp_count(*) FROM (SELECT row_number() OVER (PARTITION BY patient ORDER BY ward) AS a, row_number() OVER (PARTITION BY patient ORDER BY ward DESC) AS b FROM visit) q WHERE a = b'),
    'offset of a frame': ([('src/guard/read/window_order.c', '!is_offset((Const *) safe)', 'false')],
                          'SELECT dp_count(*) FROM (SELECT count(*) OVER (PARTITION BY patient ORDER BY name ROWS NULL PRECEDING) AS n FROM visit) q WHERE n > 1'),
    'frame of dates': ([('src/guard/read/window_order.c', 'type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID', 'false')],
                       "SELECT dp_count(*) FROM (SELECT count(*) OVER (PARTITION BY patient ORDER BY date '2020-01-01' + patient RANGE '1 day' PRECEDING) AS n FROM visit) q WHERE n > 1"),
    'argument of a window function': ([('src/guard/vet/unit_aggregates.c', 'dp_vet(item, &inner)', 'copyObject(item)')],
                                      'SELECT dp_count(*) FROM (SELECT lag(1 / (patient - 42)) OVER (PARTITION BY patient ORDER BY name) AS n FROM visit) q WHERE n > 1'),
    'order of a list': ([('src/guard/vet/unit_aggregates.c', 'if ([[allowed->is_ordered]])', 'false')],
                        "SELECT dp_count(*) FROM (SELECT patient, string_agg(name, ',' ORDER BY ward) AS n FROM visit GROUP BY patient) q WHERE n > 'b'"),
    'long list': ([('src/guard/vet/unit_aggregates.c', 'if ([[allowed->own]])\n\t\tcopy->aggfnoid', 'false')],
                  "SELECT dp_count(*) FROM (SELECT patient, string_agg(name, ',') AS n FROM visit GROUP BY patient) q WHERE n > 'b'"),
    'unit of operands': ([('src/guard/read/union_all.c', 'lappend(unit->exprs, union_var(rti, targets, item->varattno))',
                           'lappend(unit->exprs, union_var(rti, targets, 1))')],
                         'SELECT dp_count(*) FROM (SELECT bill FROM bill UNION ALL SELECT price FROM item) q'),
    # what is left to the planner
    'cast of operands': ([('src/guard/read/set_operations.c', 'exprType((Node *) tle->expr) == type', 'true'),
                          ('src/guard/read/union_all.c', 'exprType(expr) != type', 'false')],
                         'SELECT dp_count(x) FROM (SELECT price + 0.5 AS x FROM item UNION ALL SELECT bill FROM bill) q'),
    # units that are compared, of types of others
    'units of any length': ([('src/guard/read/protected_table.c', 'rte->securityQuals = [[dp_unit_limit(rte->relid, rti)]]', 'NIL')],
                            'SELECT dp_count(*) FROM login'),
    'comparison of what is no unit': ([('src/guard/vet/vet.c', 'dp_compares_units(vet->cxt, (Node *) op) && !vet->no_columns', 'true')],
                                      'SELECT dp_count(*) FROM visit WHERE 1 / (patient - 42) > 0'),
    # clauses that pass
    'limit': ([('src/guard/read/subquery.c', 'dp_rows_of_limit(sub->limitCount, PG_INT64_MAX) == PG_INT64_MAX && dp_rows_of_limit(sub->limitOffset, 0) == 0', 'true'),
               ('src/guard/read/subquery.c', 'sub->limitCount = sub->limitOffset = NULL', 'NULL'),
               ('src/guard/read/rebuild.c', 'sub->commandType != CMD_SELECT || has_other_parts(sub)', 'false'),
               ('src/guard/read/rebuild.c', 'new->jointree = sub->jointree', 'new->limitCount = sub->limitCount, new->jointree = sub->jointree')],
              'SELECT dp_count(ward) FROM (SELECT * FROM visit LIMIT 1) q'),
    'sample': ([('src/guard/read/protected_table.c', 'rte->tablesample', 'false'),
                ('src/guard/read/rebuild.c', 'new->inh = rte->inh', 'new->tablesample = rte->tablesample, new->inh = rte->inh')],
               'SELECT dp_count(*) FROM visit TABLESAMPLE bernoulli (10)'),
    'aggregation of all': ([('src/guard/read/subquery.c', 'check_grouping(s->cxt, sub, &from, is_operation)', '(void) 0'),
                            ('src/guard/read/private_rows.c', '!dp_aggregates_privately(query) && groups_by_unit(scope)', 'true')],
                           'SELECT dp_count(*) FROM (SELECT max(patient) AS patient, count(*) AS n FROM visit HAVING count(*) > 40) q'),
}

STOPPED = 'ZC002: private query could not be verified'


def changed(mutants, sources):
    """{file: its text with these mistakes}"""
    made = {}                   # {(file, text): {mutant: replacement}}
    for mutant in mutants:
        for path, text, replacement in MUTANTS[mutant][0]:
            made.setdefault((path, text), {})[mutant] = replacement
    made[GATE[:2]] = {'verify': GATE[2]}
    files = {}
    for (path, text), replacements in made.items():
        if path not in files:
            files[path] = 'extern int dp_mutant(const char *name);\n' + open(os.path.join(sources, path)).read()
        text, this = re.sub(r'\[\[|\]\]', '', text), re.sub(r'(?s).*\[\[|\]\].*', '', text)
        if files[path].count(text) != 1:
            sys.exit('mutants %s: %s has %d times: %s' % (', '.join(replacements), path, files[path].count(text), text))
        with_all = this
        for mutant, replacement in replacements.items():
            with_all = ('if (dp_mutant("%s")) { %s } else %s' if this.endswith(';') else '(dp_mutant("%s") ? (%s) : (%s))') % (mutant, replacement, with_all)
        files[path] = files[path].replace(text, text.replace(this, with_all))
    files['src/mutant.c'] = '''
#include "postgres.h"
#include "utils/guc.h"
extern int dp_mutant(const char *name);
int
dp_mutant(const char *name)
{
	const char *made = GetConfigOption("mutant.made", true, false);

	return made && strstr(made, psprintf(";%s;", name));
}
'''
    return files


def build(mutants, sources, directory):
    for path, text in changed(mutants, sources).items():
        out = os.path.join(directory, path)
        os.makedirs(os.path.dirname(out), exist_ok=True)
        with open(out, 'w') as f:
            f.write(text)
        print(path)


def ask(query, *made):
    """what ana gets: the answer, or the error with its SQLSTATE"""
    script = "\\set VERBOSITY verbose\nSET mutant.made = ';%s;';\n%s;\n" % (';'.join(made), query)
    return subprocess.run(['psql', '-X', '-q', '-A', '-t', '-U', 'ana', '-d', 'postgres', '-f', '-'], input=script, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout


def run(mutants):
    """without a mistake, the gate has nothing to say; a mistake matters where there is no gate; the gate stops it"""
    number = failed = 0
    for mutant in mutants:
        query = MUTANTS[mutant][1]
        right, without, stopped = ask(query), ask(query, mutant, 'verify'), ask(query, mutant)
        reason = re.search('verified: (.*);', stopped)
        for what, good, out in (
                ('as it is: ' + mutant, 'could not be verified' not in right and 'server closed' not in right, right),
                ('matters: ' + mutant, 'failed while it read' in without or not re.search('ZC002|server closed', without), without),
                ('is stopped: %s (%s)' % (mutant, reason and reason[1]), STOPPED in stopped, stopped)):
            number += 1
            failed += not good
            print('%s %d - %s' % ('ok' if good else 'not ok', number, what))
            for line in [] if good else [query] + out.splitlines()[:5]:
                print('    # ' + line)
    print('1..%d' % number)
    return failed > 0


if __name__ == '__main__':
    arguments = 4 if sys.argv[1] == 'build' else 2
    chosen = sys.argv[arguments:] or [name for name in MUTANTS if os.environ.get('DP_TEST_ALL') or zlib.crc32(name.encode()) % 3 == 0]
    sys.exit(build(chosen, *sys.argv[2:4]) if sys.argv[1] == 'build' else run(chosen))
