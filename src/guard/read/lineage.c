/*-------------------------------------------------------------------------
 *
 * lineage.c
 *	  Where a column of a query comes from, and whether it may be NULL.
 *
 * Invariant: what is said to be a table's column has the value of that
 * column in some row of the table, or is NULL where an outer join found no
 * row.  A name says nothing: aliases may be called anything.  That an outer
 * join finds a row is believed of foreign keys alone that PostgreSQL enforces.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "base/compat.h"
#include "base/extension.h"
#include "base/walk.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type_d.h"
#include "guard/facts/lists.h"
#include "guard/read/read.h"
#include "guard/vet/allow.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

CommonTableExpr *
dp_find_cte(DpScope *scope, RangeTblEntry *rte, DpScope **owner)
{
	for (Index up = rte->ctelevelsup; scope != NULL && up > 0; up--)
		scope = scope->outer;
	if (scope == NULL || rte->self_reference)
		return NULL;
	foreach_ptr(CommonTableExpr, cte, scope->query->cteList)
	{
		if (strcmp(cte->ctename, rte->ctename) != 0)
			continue;
		if (cte->cterecursive || !IsA(cte->ctequery, Query) ||
			((Query *) cte->ctequery)->commandType != CMD_SELECT)
			return NULL;
		*owner = scope;
		return cte;
	}
	return NULL;
}

/* Tells whether a join of query below node may replace rows of entry rti by NULLs; found: the entry is below node. */
static bool
is_nulled(Query *query, Node *node, Index rti, bool *found)
{
	if (IsA(node, RangeTblRef))
	{
		*found = ((RangeTblRef *) node)->rtindex == rti;
		return false;
	}
	if (IsA(node, FromExpr))
	{
		foreach_ptr(Node, item, ((FromExpr *) node)->fromlist)
		{
			bool		nulled = is_nulled(query, item, rti, found);

			if (*found)
				return nulled;
		}
	}
	else if (IsA(node, JoinExpr))
	{
		JoinExpr   *join = (JoinExpr *) node;
		bool		nulled = is_nulled(query, join->larg, rti, found);

		if (*found)
			return nulled || join->jointype == JOIN_FULL ||
				(join->jointype == JOIN_RIGHT && !dp_join_always_matches(query, join));
		nulled = is_nulled(query, join->rarg, rti, found);
		if (*found)
			return nulled || join->jointype == JOIN_FULL ||
				(join->jointype == JOIN_LEFT && !dp_join_always_matches(query, join));
	}
	return false;
}

/* Traces output column attno of a subquery. */
static bool
trace_output(Query *sub, DpScope *outer, AttrNumber attno, DpColumnOrigin *origin)
{
	DpScope		scope = {sub, outer};
	TargetEntry *tle;

	/* grouping sets replace keys by NULL, set operations have two sides */
	if (sub->setOperations || sub->groupingSets || attno <= 0)
		return false;
	tle = get_tle_by_resno(sub->targetList, attno);
	if (tle == NULL || tle->resjunk || !dp_trace_column(sub, &scope, (Node *) tle->expr, origin))
		return false;
	if (IsA(tle->expr, Var) && dp_excludes_null(sub->jointree->quals, (Var *) tle->expr))
	{
		origin->has_value = true;
		origin->may_be_null = false;
	}
	return true;
}

bool
dp_trace_column(Query *query, DpScope *scope, Node *expr, DpColumnOrigin *origin)
{
	Var		   *var = (Var *) expr;
	RangeTblEntry *rte;
	DpScope    *owner;
	CommonTableExpr *cte;
	bool		traced = false;
	bool		found = false;

	check_stack_depth();
	if (!IsA(expr, Var) || var->varlevelsup != 0 || var->varno > list_length(query->rtable))
		return false;
	rte = rt_fetch(var->varno, query->rtable);
	switch (rte->rtekind)
	{
		case RTE_RELATION:
			if (var->varattno <= 0)
				return false;
			origin->relid = rte->relid;
			origin->attnum = var->varattno;
			origin->check_as_user = dp_check_as_user(query, rte);
			origin->is_protected = dp_is_protected(rte);
			origin->inherit = rte->inh;
			origin->may_be_null = origin->has_value = false;
			traced = true;
			break;
		case RTE_SUBQUERY:
			traced = trace_output(rte->subquery, scope, var->varattno, origin);
			break;
		case RTE_CTE:
			cte = dp_find_cte(scope, rte, &owner);
			traced = cte && trace_output((Query *) cte->ctequery, owner, var->varattno, origin);
			break;
		case RTE_JOIN:
			return var->varattno > 0 &&
				dp_trace_column(query, scope, list_nth(rte->joinaliasvars, var->varattno - 1), origin);
		default:
			expr = dp_group_expression(rte, var);
			return expr && dp_trace_column(query, scope, expr, origin);
	}
	if (traced && is_nulled(query, (Node *) query->jointree, var->varno, &found))
		origin->may_be_null = true;
	return traced;
}

/* ------------------------------------------------------------------------
 * Columns of set operations
 * ------------------------------------------------------------------------
 */

/* WITH queries that are named twice, in each of many levels, would never end */
#define MOST_SOURCES 1000

static bool add_sources(DpScope *scope, Node *expr, bool may_be_null, bool *found, List **sources);

static DpScope *
make_scope(Query *query, DpScope *outer)
{
	DpScope    *scope = palloc(sizeof(DpScope));

	scope->query = query;
	scope->outer = outer;
	return scope;
}

/* Adds what a column is in the operands whose rows the operation has. */
static bool
add_operands(DpScope *scope, Node *operand, AttrNumber attno, bool may_be_null, bool *found, List **sources)
{
	SetOperationStmt *op = (SetOperationStmt *) operand;
	Query	   *sub;
	TargetEntry *tle;

	check_stack_depth();
	if (IsA(operand, SetOperationStmt))
		return add_operands(scope, op->larg, attno, may_be_null, found, sources) &&
			(op->op != SETOP_UNION || add_operands(scope, op->rarg, attno, may_be_null, found, sources));
	sub = rt_fetch(((RangeTblRef *) operand)->rtindex, scope->query->rtable)->subquery;
	tle = sub->setOperations || sub->groupingSets ? NULL : get_tle_by_resno(sub->targetList, attno);
	return tle != NULL && add_sources(make_scope(sub, scope), (Node *) tle->expr, may_be_null, found, sources);
}

/* Adds what an expression of the scope's query is; false where that is not known. */
static bool
add_sources(DpScope *scope, Node *expr, bool may_be_null, bool *found, List **sources)
{
	Var		   *var = (Var *) expr;
	RangeTblEntry *rte = IsA(expr, Var) && var->varlevelsup == 0 && var->varattno > 0 ?
	rt_fetch(var->varno, scope->query->rtable) : NULL;
	Query	   *sub = rte != NULL ? rte->subquery : NULL;
	DpScope    *outer = scope;
	DpColumnSource *source;
	TargetEntry *tle;
	bool		entry_found = false;

	check_stack_depth();
	if (rte != NULL && rte->rtekind == RTE_JOIN)
		return add_sources(scope, list_nth(rte->joinaliasvars, var->varattno - 1), may_be_null, found, sources);
	if (rte != NULL && dp_group_expression(rte, var) != NULL)
		return add_sources(scope, dp_group_expression(rte, var), may_be_null, found, sources);
	if (rte != NULL && rte->rtekind == RTE_CTE)
	{
		CommonTableExpr *cte = dp_find_cte(scope, rte, &outer);

		if (cte == NULL)
			return false;
		sub = (Query *) cte->ctequery;
	}
	if (sub == NULL)
	{
		if (list_length(*sources) >= MOST_SOURCES)
			return false;
		source = palloc(sizeof(DpColumnSource));
		source->scope = scope;
		source->expr = expr;
		source->may_be_null = may_be_null;
		*sources = lappend(*sources, source);
		return true;
	}
	may_be_null |= is_nulled(scope->query, (Node *) scope->query->jointree, var->varno, &entry_found);
	if (sub->setOperations)
	{
		*found = true;
		return add_operands(make_scope(sub, outer), sub->setOperations, var->varattno, may_be_null, found, sources);
	}
	tle = sub->groupingSets ? NULL : get_tle_by_resno(sub->targetList, var->varattno);
	return tle != NULL && !tle->resjunk &&
		add_sources(make_scope(sub, outer), (Node *) tle->expr, may_be_null, found, sources);
}

/* Returns what a Var of level query is, in each operand of a set operation if it comes from one, which sets found. */
static List *
sources_of(Query *query, DpScope *scope, Node *expr, bool *found)
{
	List	   *sources = NIL;

	*found = false;
	if (!IsA(expr, Var) || ((Var *) expr)->varno > list_length(query->rtable) ||
		!add_sources(make_scope(query, scope ? scope->outer : NULL), expr, false, found, &sources))
		return NIL;
	return sources;
}

List *
dp_column_sources(Query *query, DpScope *scope, Node *expr)
{
	bool		found;
	List	   *sources = sources_of(query, scope, expr, &found);

	return found ? sources : NIL;
}

static bool
traces_to_unit(DpScope *scope, Node *expr, bool of_all_rows)
{
	DpColumnOrigin origin;
	const DpTable *table;

	if (!dp_trace_column(scope->query, scope, expr, &origin) || !origin.is_protected ||
		(of_all_rows && origin.may_be_null))
		return false;
	table = dp_policy_table(origin.relid);
	return table->has_unit && get_attnum(origin.relid, table->unit) == origin.attnum;
}

bool
dp_is_unit_origin(DpScope *scope, Node *expr, bool of_all_rows)
{
	List	   *sources = dp_column_sources(scope->query, scope, expr);

	if (sources == NIL)
		return traces_to_unit(scope, expr, of_all_rows);
	foreach_ptr(DpColumnSource, source, sources)
	{
		if ((of_all_rows && source->may_be_null) || !traces_to_unit(source->scope, source->expr, of_all_rows))
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------------
 * Expressions that are never NULL
 *
 * PostgreSQL's functions that are strict return NULL for NULL alone, but for those that look into JSON.  Infinity and the
 * like, for which some do, have no group.  What is said follows from the query's text and from constraints, which a plan
 * depends on, and never from rows.
 * ------------------------------------------------------------------------
 */

/* Tells whether a function is ours and has this name. */
static bool
is_own(Oid funcid, const char *name)
{
	return get_func_namespace(funcid) == dp_internal_schema() && strcmp(get_func_name(funcid), name) == 0;
}

/* Tells whether a function looks into one of its arguments, and may find nothing there. */
static bool
may_find_nothing(Node *call, List *args)
{
	List	   *same;

	if (dp_function_facts(dp_call_kind(call, &same))->finds)
		return true;
	if (exprType(call) == BOOLOID)
		return false;
	foreach_ptr(Node, arg, args)
	{
		if (exprType(arg) == JSONOID || dp_type_is_opened(exprType(arg)))
			return true;
	}
	return false;
}

static bool
is_time(Node *expr)
{
	return dp_type_is_time(exprType(expr));
}

/*
 * Tells whether a safe variant has a value wherever its function has one for values that have groups: of whole numbers that are
 * divided by a constant, and of times but for the ends of their range.
 */
static bool
always_succeeds(Node *expr)
{
	List	   *args;
	Const	   *constant;
	int64		whole;

	switch (dp_call_kind(expr, &args))
	{
		case DP_KIND_mod:
		case DP_KIND_divide:
			constant = lsecond(args);
			return IsA(constant, Const) && !constant->constisnull && dp_get_whole(constant->constvalue, constant->consttype, &whole) &&
				whole != 0 && whole != -1;
		case DP_KIND_add:
		case DP_KIND_subtract:
			return is_time(linitial(args)) || is_time(llast(args));
		case DP_KIND_date:
		case DP_KIND_timestamp:
		case DP_KIND_timestamptz:
			return is_time(linitial(args));
		case DP_KIND_extract:
		case DP_KIND_date_part:
		case DP_KIND_date_trunc:
		case DP_KIND_timezone:
			return IsA(linitial(args), Const) && is_time(lsecond(args));
		default:
			return false;
	}
}

static bool
all_have_values(Query *query, Node *conditions, List *exprs)
{
	foreach_ptr(Node, expr, exprs)
	{
		if (!dp_has_value(query, conditions, expr))
			return false;
	}
	return true;
}

static bool
case_has_value(Query *query, Node *conditions, CaseExpr *cases)
{
	foreach_node(CaseWhen, when, cases->args)
	{
		if (!dp_has_value(query, conditions, (Node *) when->result))
			return false;
	}
	return cases->defresult != NULL && dp_has_value(query, conditions, (Node *) cases->defresult);
}

/* Tells whether an aggregate has a value in each group of a query: of values without NULL, sums of which cannot overflow. */
static bool
has_value_of_group(Query *query, Node *conditions, Aggref *agg)
{
	Node	   *arg;

	if (agg->aggfnoid == F_COUNT_ || agg->aggfnoid == F_COUNT_ANY)
		return true;
	if (query->groupClause == NIL || query->groupingSets != NIL || agg->aggfilter != NULL || agg->aggkind != AGGKIND_NORMAL ||
		list_length(agg->args) != 1)
		return false;
	arg = (Node *) linitial_node(TargetEntry, agg->args)->expr;
	/* where nothing limits them, large summands are left out */
	if (IsA(arg, FuncExpr) && exprTypmod(linitial(((FuncExpr *) arg)->args)) >= (int32) VARHDRSZ &&
		is_own(((FuncExpr *) arg)->funcid, "try_summand"))
		arg = linitial(((FuncExpr *) arg)->args);
	if (!dp_has_value(query, conditions, arg))
		return false;
	switch (agg->aggfnoid)
	{
		case F_SUM_INT2:
		case F_SUM_INT4:
		case F_SUM_INT8:
		case F_AVG_INT2:
		case F_AVG_INT4:
		case F_AVG_INT8:
		case F_BOOL_AND:
		case F_BOOL_OR:
		case F_EVERY:
			return true;
		case F_SUM_NUMERIC:
		case F_AVG_NUMERIC:
			return exprTypmod(arg) >= (int32) VARHDRSZ;
		default:
			if (agg->aggfnoid >= FirstGenbkiObjectId)
				return is_own(agg->aggfnoid, "unit_min") || is_own(agg->aggfnoid, "unit_max");
			return strcmp(get_func_name(agg->aggfnoid), "min") == 0 || strcmp(get_func_name(agg->aggfnoid), "max") == 0;
	}
}

bool
dp_has_value(Query *query, Node *conditions, Node *expr)
{
	List	   *args;
	Oid			funcid;

	check_stack_depth();
	switch (nodeTag(expr))
	{
		case T_Const:
			return !((Const *) expr)->constisnull;
		case T_Var:
			return dp_is_never_null(query, expr) || dp_excludes_null(conditions, (Var *) expr);
		case T_NullTest:
		case T_BooleanTest:
		case T_DistinctExpr:
		case T_SQLValueFunction:
			return true;
		case T_RelabelType:
			return dp_has_value(query, conditions, (Node *) ((RelabelType *) expr)->arg);
		case T_CollateExpr:
			return dp_has_value(query, conditions, (Node *) ((CollateExpr *) expr)->arg);
		case T_BoolExpr:
			return all_have_values(query, conditions, ((BoolExpr *) expr)->args);
		case T_CaseExpr:
			return case_has_value(query, conditions, (CaseExpr *) expr);
		case T_CoalesceExpr:
			foreach_ptr(Node, arg, ((CoalesceExpr *) expr)->args)
			{
				if (dp_has_value(query, conditions, arg))
					return true;
			}
			return false;
		case T_FuncExpr:
		case T_OpExpr:
			args = dp_call_args(expr, &funcid);
			return (funcid < FirstGenbkiObjectId || always_succeeds(expr)) && func_strict(funcid) && !may_find_nothing(expr, args) &&
				all_have_values(query, conditions, args);
		case T_Aggref:
			return has_value_of_group(query, conditions, (Aggref *) expr);
		case T_WindowFunc:
			switch (((WindowFunc *) expr)->winfnoid)
			{
				case F_ROW_NUMBER:
				case F_RANK_:
				case F_DENSE_RANK_:
				case F_COUNT_:
				case F_COUNT_ANY:
					return true;
				default:
					return false;
			}
		default:
			return false;
	}
}

/* ------------------------------------------------------------------------
 * Columns that are never NULL
 * ------------------------------------------------------------------------
 */

/* Tells whether a node calculates with times, of which those at the ends of their range, and infinity, may make NULL. */
static DpWalk
calculates_with_times(Node *node, int levels, void *context)
{
	Oid			funcid;
	List	   *args = IsA(node, FuncExpr) || IsA(node, OpExpr) ? dp_call_args(node, &funcid) : NIL;

	foreach_ptr(Node, arg, args != NIL && exprType(node) != BOOLOID ? args : NIL)
	{
		if (is_time(arg))
			return DP_WALK_STOP;
	}
	return DP_WALK_ON;
}

/* Tells whether a column is NULL in none of those that it comes from. */
static bool
is_never_null_in(Query *query, Node *expr)
{
	bool		found;
	List	   *sources = sources_of(query, NULL, expr, &found);

	foreach_ptr(DpColumnSource, source, sources)
	{
		Query	   *of = source->scope->query;

		/* a column of the query itself comes from nowhere else */
		if (source->may_be_null || (of == query && IsA(source->expr, Var)) || !dp_has_value(of, of->jointree->quals, source->expr) ||
			dp_walk(source->expr, calculates_with_times, NULL))
			return false;
	}
	return sources != NIL;
}

bool
dp_column_has_no_null(Oid relid, AttrNumber attnum, bool inherit)
{
	const char *name = get_attname(relid, attnum, false);
	List	   *tables = inherit ? find_all_inheritors(relid, AccessShareLock, NULL) : list_make1_oid(relid);
	bool		result = true;

	foreach_oid(table, tables)
	{
		Relation	rel = table_open(table, AccessShareLock);

		/* nobody checks NOT NULL of foreign tables */
		result &= rel->rd_rel->relkind != RELKIND_FOREIGN_TABLE &&
			dp_is_not_null_column(RelationGetDescr(rel), get_attnum(RelationGetRelid(rel), name));
		table_close(rel, NoLock);
	}
	return result;
}

bool
dp_is_never_null(Query *query, Node *expr)
{
	DpColumnOrigin origin;

	if (!dp_trace_column(query, NULL, expr, &origin))
		return is_never_null_in(query, expr);
	return !origin.may_be_null && (origin.has_value || dp_column_has_no_null(origin.relid, origin.attnum, origin.inherit));
}

bool
dp_shows_no_null(Query *query, Node *expr)
{
	foreach_ptr(NullTest, test, dp_conjuncts(query->jointree->quals))
	{
		if (IsA(test, NullTest) && test->nulltesttype == IS_NOT_NULL && equal(test->arg, expr))
			return true;
	}
	return IsA(expr, Var) && dp_is_never_null(query, expr);
}

/* ------------------------------------------------------------------------
 * Joins along foreign keys
 * ------------------------------------------------------------------------
 */

bool
dp_foreign_key_holds(const ForeignKeyCacheInfo *key)
{
	HeapTuple	tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(key->conoid));
	Form_pg_constraint form;
	Oid			parent;
	bool		holds;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_constraint) GETSTRUCT(tuple);
	holds = form->convalidated && !form->condeferrable && !dp_is_temporal_constraint(form);
	parent = form->conparentid;
	ReleaseSysCache(tuple);
	if (!holds || !OidIsValid(parent))
		return holds;

	/*
	 * a key to a partitioned table is also written as one to each partition,
	 * of which only one has the row
	 */
	tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(parent));
	holds = HeapTupleIsValid(tuple) && ((Form_pg_constraint) GETSTRUCT(tuple))->conrelid != key->conrelid;
	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return holds;
}

/* Returns the two columns that a condition equates by the equality of their type, the first of entry rti. */
static bool
equated_columns(Node *condition, Index rti, Var **inner, Var **outer)
{
	Node	   *left,
			   *right;

	if (!dp_is_equality(condition, &left, &right) || exprType(left) != exprType(right) || !IsA(left, Var) || !IsA(right, Var))
		return false;
	*inner = (Var *) (((Var *) left)->varno == rti ? left : right);
	*outer = (Var *) (((Var *) left)->varno == rti ? right : left);
	return (*inner)->varno == rti && (*outer)->varno != rti;
}

/* Tells whether each key of DISTINCT ON is a column, of entry rti, that one of the conditions equates. */
static bool
are_equated(Query *sub, List *conditions, Index rti)
{
	foreach_ptr(SortGroupClause, clause, sub->distinctClause)
	{
		TargetEntry *tle = get_sortgroupclause_tle(clause, sub->targetList);
		bool		found = false;

		foreach_ptr(Node, condition, conditions)
		{
			Var		   *inner,
					   *outer;

			found |= equated_columns(condition, rti, &inner, &outer) && inner->varattno == tle->resno;
		}
		if (!found)
			return false;
	}
	return true;
}

/*
 * Returns the table whose rows an entry shows, one at least for each key by which it is joined: itself, or the table
 * that a subquery reads without a condition.  NULL: it is anything else.  sub: NULL, or that subquery.
 */
static RangeTblEntry *
shown_table(Query *query, List *conditions, Index rti, Query **sub)
{
	RangeTblEntry *rte = rt_fetch(rti, query->rtable);
	Query	   *q = rte->subquery;

	*sub = NULL;
	if (rte->rtekind == RTE_RELATION)
		return rte;
	if (rte->rtekind != RTE_SUBQUERY || q->jointree->quals != NULL || list_length(q->jointree->fromlist) != 1 ||
		!IsA(linitial(q->jointree->fromlist), RangeTblRef) || q->hasAggs || q->groupClause || q->havingQual || q->groupingSets ||
		q->limitCount || q->limitOffset || q->setOperations || q->hasTargetSRFs || q->rowMarks ||
		(q->distinctClause && !q->hasDistinctOn) || !are_equated(q, conditions, rti))
		return NULL;
	*sub = q;
	rte = rt_fetch(((RangeTblRef *) linitial(q->jointree->fromlist))->rtindex, q->rtable);
	return rte->rtekind == RTE_RELATION ? rte : NULL;
}

/* Returns the number of the table's column that a column of an entry is; 0: it is none. */
static AttrNumber
shown_column(Query *sub, Var *var)
{
	TargetEntry *tle;

	if (sub == NULL)
		return var->varattno;
	tle = get_tle_by_resno(sub->targetList, var->varattno);
	return tle != NULL && IsA(tle->expr, Var) && ((Var *) tle->expr)->varlevelsup == 0 ? ((Var *) tle->expr)->varattno : 0;
}

/* Tells whether each condition equates one column of the key, and all columns are equated; sub: NULL, or the subquery that shows them. */
static bool
matches_key(const ForeignKeyCacheInfo *key, Query *query, List *conditions, Index rti, Index outer_rti, Query *sub)
{
	Bitmapset  *found = NULL;
	DpColumnOrigin origin;

	foreach_ptr(Node, condition, conditions)
	{
		Var		   *inner,
				   *outer;
		bool		matched = false;

		if (!equated_columns(condition, rti, &inner, &outer) || outer->varno != outer_rti ||
			!dp_trace_column(query, NULL, (Node *) outer, &origin) || origin.relid != key->conrelid)
			return false;
		for (int i = 0; i < key->nkeys; i++)
		{
			if (key->conkey[i] != origin.attnum || key->confkey[i] != shown_column(sub, inner))
				continue;
			found = bms_add_member(found, i);
			matched = true;
		}
		if (!matched || (!dp_is_never_null(query, (Node *) outer) && !dp_excludes_null(query->jointree->quals, outer)))
			return false;
	}
	return bms_num_members(found) == key->nkeys;
}

/*
 * Returns the entry that the outer columns of the conditions are of, and the table
 * that they come from; 0: there is none such.  Several columns of a subquery
 * may be of several rows.
 */
static Index
outer_entry(Query *query, List *conditions, Index rti, Oid *relid)
{
	Var		   *inner,
			   *outer;
	DpColumnOrigin origin;
	RangeTblEntry *rte;

	if (conditions == NIL || !equated_columns(linitial(conditions), rti, &inner, &outer))
		return 0;
	rte = rt_fetch(outer->varno, query->rtable);
	if ((rte->rtekind != RTE_RELATION && (rte->rtekind != RTE_SUBQUERY || list_length(conditions) > 1)) ||
		!dp_trace_column(query, NULL, (Node *) outer, &origin))
		return 0;
	*relid = origin.relid;
	return outer->varno;
}

bool
dp_join_always_matches(Query *query, JoinExpr *join)
{
	List	   *conditions = make_ands_implicit((Expr *) join->quals);
	Node	   *side = join->jointype == JOIN_RIGHT ? join->larg : join->rarg;
	Index		rti,
				outer_rti;
	RangeTblEntry *inner;
	Query	   *sub;
	Oid			relid;
	Relation	rel;
	bool		found = false;

	if ((join->jointype != JOIN_LEFT && join->jointype != JOIN_RIGHT) || !IsA(side, RangeTblRef))
		return false;
	rti = ((RangeTblRef *) side)->rtindex;
	outer_rti = outer_entry(query, conditions, rti, &relid);
	if (outer_rti == 0)
		return false;
	inner = shown_table(query, conditions, rti, &sub);
	/* rows of children need not refer to anything */
	if (inner == NULL || inner->tablesample != NULL ||
		inner->securityQuals != NIL || (!inner->inh && has_subclass(inner->relid)) || has_subclass(relid))
		return false;
	rel = table_open(relid, AccessShareLock);
	foreach_ptr(ForeignKeyCacheInfo, key, RelationGetFKeyList(rel))
	{
		found |= key->confrelid == inner->relid && dp_foreign_key_holds(key) &&
			matches_key(key, query, conditions, rti, outer_rti, sub);
	}
	table_close(rel, NoLock);
	return found;
}
