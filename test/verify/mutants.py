#!/usr/bin/env python3
#-------------------------------------------------------------------------
#
# mutants.py
#	  Mistakes in what the guard vets, each with a query that makes use of it.
#
# usage: mutants.py list
#		 mutants.py apply MUTANT SOURCES OUT	writes the changed files below OUT, prints their names
#		 mutants.py sql MUTANT
#
# check_verify.sh builds the extension with each of them.  A mutant is
# (file, text, replacement) once or more; the text must be in the file once.
# "verify" switches the last gate itself off, and is added to each of the
# others to show that its mistake matters.
#
#-------------------------------------------------------------------------
import os
import sys

# who owns what is asked of a finished query, too, and would refuse what is the analyst's
OWNERS = ('src/guard/trusted.c', 'trust_walker((Node *) release->inner_query, &c);', ';')
GATE = ('src/guard/split.c', 'dp_verify_inner(level);', ';')

MUTANTS = {
    # what runs as it was written, although vetted
    'key': ([('src/guard/describe/columns.c', 'dp_canonical_key(dp_make_safe(expr, &level->allow))', 'dp_canonical_key(copyObject(expr))')],
            'SELECT 1 / (patient - 42) AS k, dp_count(*) FROM visit GROUP BY k'),
    'argument': ([('src/guard/describe/aggregate_call.c', 'return dp_make_safe(expr, &c->level->allow);', 'return copyObject(expr);')],
                 'SELECT dp_sum(1 / (patient - 42), 0, 1) FROM visit'),
    'where': ([('src/guard/read/rebuild.c', 'from->quals ? dp_make_safe(from->quals, allow) : NULL', 'copyObject(from->quals)')],
              'SELECT dp_count(*) FROM visit WHERE 1 / (patient - 42) >= 0'),
    'on': ([('src/guard/read/rebuild.c', 'join->quals ? dp_make_safe(join->quals, allow) : NULL', 'copyObject(join->quals)')],
           'SELECT dp_count(*) FROM visit v JOIN ward w ON w.ward = v.ward AND 1 / (patient - 42) >= 0'),
    'output of a subquery': ([('src/guard/read/rebuild.c', 'expr = (Expr *) dp_make_safe((Node *) expr, allow);', ';')],
                             'SELECT dp_sum(x, 0, 1) FROM (SELECT 1 / (patient - 42) AS x FROM visit) q'),
    'having': ([('src/guard/read/rebuild.c', 'dp_make_safe(sub->havingQual, allow)', 'copyObject(sub->havingQual)')],
               'SELECT dp_count(*) FROM (SELECT patient FROM visit GROUP BY patient HAVING 1 / (patient - 42) >= 0) q'),
    'total variant': ([('src/guard/vet/calls.c', 'if (allowed->safe == NULL)', 'if (true)')],
                      'SELECT dp_count(*) FROM visit WHERE 1 / (patient - 42) >= 0'),
    # what is not vetted
    'sublink': ([('src/guard/vet/vet.c', 'default:\n\t\t\trefuse_node(vet, node);', 'case T_SubLink: return copyObject(node);\n\t\tdefault: refuse_node(vet, node);'),
                 ('src/guard/read/rebuild.c', 'query->canSetTag = true;', 'query->canSetTag = query->hasSubLinks = true;'), OWNERS],
                'SELECT dp_count(*) FROM visit WHERE patient = (SELECT ana.f(1))'),
    'cast through text': ([('src/guard/vet/vet.c', 'return dp_vet_io(vet, (CoerceViaIO *) node);', 'return copyObject(node);')],
                          'SELECT dp_count(*) FROM visit WHERE name::int > 0'),
    'regular expressions': ([('src/guard/vet/vet.c', 'if (allowed == NULL || allowed->constants_only)\n', 'if (allowed == NULL) return; if (allowed->constants_only)\n')],
                            "SELECT dp_count(*) FROM visit WHERE name ~ ANY ('{a,b}')"),
    'constant argument': ([('src/guard/vet/calls.c', 'if (dp_reads_columns(lfirst(lc), NULL))', 'if (false)'),
                           ('src/guard/vet/calls.c', 'vet->no_columns = true;', ';')],
                          'SELECT dp_count(*) FROM visit WHERE ward ILIKE name'),
    'type': ([('src/guard/vet/checks.c', 'Oid type)\n{\n\tif (!dp_type_is_allowed(type))', 'Oid type)\n{\n\tif (false)'),
              ('src/guard/vet/raw_columns.c', 'if (!dp_type_is_allowed(getBaseType(var->vartype)) && cxt &&', 'if (false && cxt &&')],
             'SELECT dp_count(note) FROM visit'),
    'function of the analyst': ([('src/guard/vet/added.c', 'if (!dp_function_is_added(call->funcid))', 'if (false)'),
                                 ('src/guard/vet/added.c', 'problem = dp_added_problem(call->funcid);', 'problem = NULL;'), OWNERS],
                                'SELECT dp_count(*) FROM visit WHERE ana.f(patient) > 0'),
    'table of the analyst': ([('src/guard/read/source.c', 'dp_is_trusted_table(rte, s->level->allow.run_as, s->level->dataset->owner)', 'true'), OWNERS],
                             'SELECT dp_count(*) FROM visit v JOIN ana.own w ON w.ward = v.ward'),
    # rows that are bounded by something else than their unit
    'unit of another column': ([('src/guard/read/parents.c', 'from->unit.exprs = item.unit.exprs;', 'from->unit.exprs = item.unit.exprs ? list_make1(dp_table_var(rti, token->parent, linitial_int(token->key))) : NIL;')],
                               'SELECT dp_count(*) FROM item'),
    'unit of the referencing row': ([('src/guard/read/parents.c', 'from->unit.exprs = item.unit.exprs;', 'from->unit.exprs = token->vars;')],
                                    'SELECT dp_count(*) FROM item'),
    'rows as units': ([('src/guard/read/protected_table.c', 'else if (table->nthrough == 0)', 'else'),
                       ('src/guard/read/source.c', 'check_row_units(level);\n\tlevel', 'level->from.unit.one_row = false;\n\tlevel')],
                      'SELECT dp_count(*) FROM item'),
    # windows and choices, of other people's rows too, or by where rows are
    'window of several units': ([('src/guard/read/windows.c', 'if (names_unit(sub, ((WindowClause *) lfirst(lc))->partitionClause, from))', 'if (true)')],
                                'SELECT dp_count(*) FROM (SELECT row_number() OVER (PARTITION BY ward ORDER BY name) AS n FROM visit) q WHERE n = 1'),
    'choice among several units': ([('src/guard/read/windows.c', 'if (sub->hasDistinctOn && !names_unit(sub, sub->distinctClause, from))', 'if (false)')],
                                   'SELECT dp_count(*) FROM (SELECT DISTINCT ON (ward) ward, patient FROM visit ORDER BY ward, name) q WHERE patient = 1'),
    'order of equal rows': ([('src/guard/read/window_order.c', 'while ((value = dp_unordered_value(new, values, partition, order)) != NULL)', 'while (false)')],
                            'SELECT dp_count(*) FROM (SELECT name, lag(name) OVER (PARTITION BY patient ORDER BY ward) AS n FROM visit) q WHERE n < name'),
    'two orders of twins': ([('src/guard/read/windows.c', 'if (list_length(windows) < 2 ||', 'if (true ||')],
                            'SELECT dp_count(*) FROM (SELECT row_number() OVER (PARTITION BY patient ORDER BY ward) AS a, row_number() OVER (PARTITION BY patient ORDER BY ward DESC) AS b FROM visit) q WHERE a = b'),
    'offset of a frame': ([('src/guard/read/window_order.c', 'if (!is_offset((Const *) safe))', 'if (false)')],
                          'SELECT dp_count(*) FROM (SELECT count(*) OVER (PARTITION BY patient ORDER BY name ROWS NULL PRECEDING) AS n FROM visit) q WHERE n > 1'),
    'frame of dates': ([('src/guard/read/window_order.c', 'if (type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID)', 'if (false)')],
                       "SELECT dp_count(*) FROM (SELECT count(*) OVER (PARTITION BY patient ORDER BY date '2020-01-01' + patient RANGE '1 day' PRECEDING) AS n FROM visit) q WHERE n > 1"),
    'argument of a window function': ([('src/guard/vet/unit_aggregates.c', 'arg = dp_vet(lfirst(lc), &inner);', 'arg = copyObject(lfirst(lc));')],
                                      'SELECT dp_count(*) FROM (SELECT lag(1 / (patient - 42)) OVER (PARTITION BY patient ORDER BY name) AS n FROM visit) q WHERE n > 1'),
    'unit of operands': ([('src/guard/read/union_all.c', 'unit->exprs = lappend(unit->exprs, union_var(rti, targets, lfirst_node(Var, lc)->varattno));',
                           'unit->exprs = lappend(unit->exprs, union_var(rti, targets, 1));')],
                         'SELECT dp_count(*) FROM (SELECT bill FROM bill UNION ALL SELECT price FROM item) q'),
    # what is left to the planner
    'cast of operands': ([('src/guard/read/set_operations.c', 'if (exprType((Node *) tle->expr) == type)\n\t\t\tcontinue;', 'continue;'),
                          ('src/guard/read/union_all.c', 'if (exprType(expr) != type)\n\t\t\t\tdp_refuse_operand_types', 'if (false)\n\t\t\t\tdp_refuse_operand_types')],
                         'SELECT dp_count(x) FROM (SELECT price + 0.5 AS x FROM item UNION ALL SELECT bill FROM bill) q'),
    # clauses that pass
    'limit': ([('src/guard/read/subquery.c', 'if (keeps_all_rows(sub->limitCount, false) && keeps_all_rows(sub->limitOffset, true))\n\t\tsub->limitCount = sub->limitOffset = NULL;\n\telse', 'if (false)'),
               ('src/guard/read/rebuild.c', 'sub->commandType != CMD_SELECT || has_other_parts(sub)', 'false'),
               ('src/guard/read/rebuild.c', 'new->jointree = sub->jointree;', 'new->jointree = sub->jointree; new->limitCount = sub->limitCount;')],
              'SELECT dp_count(*) FROM (SELECT * FROM visit LIMIT 1) q'),
    'sample': ([('src/guard/read/protected_table.c', 'if (rte->tablesample)\n\t\tdp_refuse_at', 'if (false)\n\t\tdp_refuse_at'),
                ('src/guard/read/rebuild.c', 'new->inh = rte->inh;', 'new->inh = rte->inh; new->tablesample = rte->tablesample;')],
               'SELECT dp_count(*) FROM visit TABLESAMPLE bernoulli (10)'),
    'aggregation of all': ([('src/guard/read/subquery.c', 'check_grouping(s->cxt, sub, &from, is_operation);', ';'),
                            ('src/guard/read/private_rows.c', '!dp_aggregates_privately(query) && groups_by_unit(scope)', 'true')],
                           'SELECT dp_count(*) FROM (SELECT max(patient) AS patient, count(*) AS n FROM visit HAVING count(*) > 40) q'),
}


def changed(mutant, sources):
    files = {}
    for path, text, replacement in (MUTANTS[mutant][0] if mutant in MUTANTS else []) + ([GATE] if mutant == 'verify' else []):
        if path not in files:
            with open(os.path.join(sources, path)) as f:
                files[path] = f.read()
        if files[path].count(text) != 1:
            sys.exit('mutant "%s": %s has %d times: %s' % (mutant, path, files[path].count(text), text))
        files[path] = files[path].replace(text, replacement)
    return files


if sys.argv[1] == 'list':
    print('\n'.join(MUTANTS))
elif sys.argv[1] == 'sql':
    print(MUTANTS[sys.argv[2]][1] + ';')
else:
    for path, text in changed(sys.argv[2], sys.argv[3]).items():
        out = os.path.join(sys.argv[4], path)
        os.makedirs(os.path.dirname(out), exist_ok=True)
        with open(out, 'w') as f:
            f.write(text)
        print(path)
