/*-------------------------------------------------------------------------
 *
 * source.c
 *	  What a level reads, made ready for the inner query.
 *
 * The level's range table and join tree are built anew (rebuild.c), with the
 * same numbers.  Each entry of the join tree becomes one of:
 *
 * - a protected table, read with its owner's rights;
 * - a public table that nobody but trusted roles can make run code;
 * - a subquery, view or WITH query over protected tables that filters,
 *	 projects and joins, or that aggregates the rows of each privacy unit by
 *	 itself: treated in the same way, level by level (subquery.c);
 * - anything else that reads nothing protected: rows that are computed
 *	 beforehand, with the rights of who asks (public_rows.c).
 *
 * Invariants:
 * - Every expression of the result has passed the allow-list and is safe.
 * - Each subquery over protected tables hands up what names the privacy unit
 *	 of its rows, whether it was asked to or not.
 * - The privileges that a view or a public table asks for are still checked,
 *	 as who asks.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/transam.h"
#include "base/compat.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "guard/read/read.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "policy/policy.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* ------------------------------------------------------------------------
 * Entries
 * ------------------------------------------------------------------------
 */

/* Turns a public entry into rows that are computed beforehand. */
static void
prefetch_entry(DpSource *s, DpScope *scope, Query *query, Index rti, Node *expressions)
{
	RangeTblEntry *rte = rt_fetch(rti, query->rtable);

	switch (rte->rtekind)
	{
		case RTE_RELATION:
			if (rte->tablesample)
				dp_refuse_entry(s, rte, "a sample of", "leave TABLESAMPLE out");
			break;
		case RTE_CTE:
			dp_inline_cte(s, scope, rte, true);
			break;
		case RTE_SUBQUERY:
		case RTE_VALUES:
			break;
		case RTE_FUNCTION:
		case RTE_TABLEFUNC:
			dp_refuse_entry(s, rte, "function", "store its rows in a temporary table first");
			break;
		default:
			dp_refuse_entry(s, rte, "transition table", "store its rows in a temporary table first");
	}
	if (rte->rtekind != RTE_RELATION)
	{
		if (dp_refers_outside(scope, rte))
			dp_refuse_entry(s, rte, "LATERAL or correlated subquery", "write a join condition instead");
		if (rte->rtekind == RTE_SUBQUERY)
			dp_inline_ctes_of(s, scope, rte->subquery);
	}
	dp_make_prefetch(s->level->release, query, rti, dp_columns_read(query, rti, expressions));
}

static void
check_protected(DpSource *s, RangeTblEntry *rte)
{
	DpSplitContext *cxt = s->cxt;
	int			where = s->level->where;
	DpRelease  *release = s->level->release;
	const DpTable *table = dp_policy_table(rte->relid);
	const char *name = get_rel_name(rte->relid);

	if (rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_PARTITIONED_TABLE)
		dp_refuse_at(where, errmsg("\"%s\" is neither a table nor a partitioned table", name));
	if (rte->tablesample)
		dp_refuse_at(where, errmsg("TABLESAMPLE is not releasable over protected tables; leave the clause out"));
	if (release->relids == NIL)
	{
		release->dataset = pstrdup(table->dataset);
		release->relid = rte->relid;
		s->level->table = name;
		s->level->allow.run_as = dp_relation_owner(rte->relid);
		s->level->dataset = dp_policy_dataset(table->dataset);
	}
	else
	{
		Oid			owner = dp_relation_owner(rte->relid);

		if (strcmp(release->dataset, table->dataset) != 0)
			dp_refuse_at(where, errmsg("tables \"%s\" and \"%s\" belong to different datasets; ask for private aggregates of each, and join the released rows",
									   s->level->table, name));

		/*
		 * the inner query runs as the owner; whose code it could run must not
		 * depend on the order
		 */
		if (owner != s->level->allow.run_as)
			ereport(ERROR,
					(errcode(ERRCODE_DP_BAD_PARAMETER),
					 errmsg("protected tables \"%s\" and \"%s\" belong to different owners and cannot be joined; "
							"give them one owner with ALTER TABLE ... OWNER TO",
							s->level->table, name),
					 dp_error_position(cxt->source_text, where)));
	}

	/*
	 * before anything is read or planned in the owner's name; who may read
	 * the rows learns nothing
	 */
	if (!dp_may_read(rte->relid))
		dp_check_payer(release->dataset);
	release->relids = list_append_unique_oid(release->relids, rte->relid);
}

static Var *
table_var(Index rti, Oid relid, AttrNumber attnum)
{
	Oid			type;
	int32		typmod;
	Oid			collation;

	get_atttypetypmodcoll(relid, attnum, &type, &typmod, &collation);
	return makeVar(rti, attnum, type, typmod, collation, 0);
}

/* Tells whether no two rows of the table have the same unit. */
static bool
is_unique(Oid relid, Var *unit)
{
	Oid			eq = lookup_type_cache(unit->vartype, TYPECACHE_EQ_OPR)->eq_opr;
	Oid			left,
				right;
	Expr	   *column = (Expr *) copyObject(unit);
	Expr	   *same;

	if (!OidIsValid(eq))
		return false;
	op_input_types(eq, &left, &right);
	if (left != unit->vartype)
		column = (Expr *) makeRelabelType(column, left, -1, unit->varcollid, COERCE_IMPLICIT_CAST);
	same = make_opclause(eq, BOOLOID, false, column, (Expr *) makeNullConst(right, -1, unit->varcollid),
						 InvalidOid, unit->varcollid);
	set_opfuncid((OpExpr *) same);
	return dp_at_most_one_row(relid, unit->varno, list_make1(same), NULL);
}

static void
read_protected(DpSource *s, Query *query, Index rti, DpFromItem *item)
{
	RangeTblEntry *rte = rt_fetch(rti, query->rtable);
	const DpTable *table;

	check_protected(s, rte);
	table = dp_policy_table(rte->relid);
	item->is_private = true;
	if (table->has_unit)
	{
		AttrNumber	unit = get_attnum(rte->relid, table->unit);

		if (unit <= 0)
			ereport(ERROR,
					(errcode(ERRCODE_DP_BAD_PARAMETER),
					 errmsg("the privacy unit of table \"%s\" is missing; "
							"its owner must protect it anew with dp_cdp.protect_table",
							get_rel_name(rte->relid))));
		item->unit.exprs = list_make1(table_var(rti, rte->relid, unit));
		item->unit.vars = item->unit.exprs;
		item->unit.one_row = is_unique(rte->relid, linitial(item->unit.exprs));
	}
	else
	{
		item->unit.one_row = true;
		item->unit.exprs = list_make2(makeVar(rti, TableOidAttributeNumber, OIDOID, -1, InvalidOid, 0),
									  makeVar(rti, SelfItemPointerAttributeNumber, TIDOID, -1, InvalidOid, 0));
	}
	rte->securityQuals = NIL;
	rte->lateral = false;
	rte->enrname = pstrdup(DP_INNER_MARK);
	dp_set_read_permission(query, rte, dp_relation_owner(rte->relid));
}

/* ------------------------------------------------------------------------
 * One level
 * ------------------------------------------------------------------------
 */

static void
read_join_tree(DpSource *s, DpScope *scope, DpFrom *from, Node *node, Node *expressions, DpFromItem *items)
{
	if (IsA(node, FromExpr))
	{
		ListCell   *lc;

		foreach(lc, ((FromExpr *) node)->fromlist)
			read_join_tree(s, scope, from, lfirst(lc), expressions, items);
	}
	else if (IsA(node, JoinExpr))
	{
		read_join_tree(s, scope, from, ((JoinExpr *) node)->larg, expressions, items);
		read_join_tree(s, scope, from, ((JoinExpr *) node)->rarg, expressions, items);
	}
	else
	{
		Index		rti = castNode(RangeTblRef, node)->rtindex;
		RangeTblEntry *rte = rt_fetch(rti, from->query->rtable);

		from->entries = bms_add_member(from->entries, rti);
		if (rte->rtekind == RTE_RELATION && dp_is_protected(rte))
			read_protected(s, from->query, rti, &items[rti]);
		else if (dp_entry_yields_rows(scope, rte, s->even_if_readable))
			dp_read_subquery(s, scope, from->query, rti, expressions, &items[rti]);
	}
}

/*
 * Reads the public entries; who is trusted with them depends on the owners of
 * the protected ones, which come first.
 */
static void
read_public(DpSource *s, DpScope *scope, DpFrom *from, Node *expressions, DpFromItem *items)
{
	int			rti = -1;

	while ((rti = bms_next_member(from->entries, rti)) >= 0)
	{
		RangeTblEntry *rte = rt_fetch(rti, from->query->rtable);

		if (items[rti].is_private)
			continue;
		if (rte->rtekind == RTE_RELATION &&
			dp_is_trusted_table(rte, s->level->allow.run_as, s->level->dataset->owner))
			items[rti].relid = rte->relid;
		else
			prefetch_entry(s, scope, from->query, rti, expressions);
	}
}

void
dp_read_level(DpSource *s, DpScope *scope, DpFrom *from, DpAllowContext *allow, Node *expressions)
{
	DpFromItem *items = palloc0(sizeof(DpFromItem) * (list_length(from->query->rtable) + 1));
	DpAllowContext conditions;

	check_stack_depth();
	/* the inner query runs as the protected table's owner */
	dp_check_permissions_as(from->query, GetUserId());
	dp_check_view_permissions(from->query);
	read_join_tree(s, scope, from, (Node *) from->query->jointree, expressions, items);
	read_public(s, scope, from, expressions, items);
	dp_rebuild_entries(s, from->query, from->entries);

	allow->rtindexes = from->entries;
	allow->rtable = from->query->rtable;
	allow->source_text = s->cxt->source_text;
	allow->run_as = s->level->allow.run_as;
	conditions = *allow;
	conditions.unit_aggregates = false;
	from->query->jointree = castNode(FromExpr, dp_rebuild_join_tree((Node *) from->query->jointree, &conditions));
	dp_analyse_joins(s->cxt, from, items, s->level->where);
}

/*
 * Refuses joins that may repeat rows of foreign tables, whose rows need not
 * have a ctid to be known again by.
 */
static void
check_row_units(DpLevel *level)
{
	DpSplitContext *cxt = level->cxt;
	ListCell   *lc;

	if (level->from.unit.vars != NIL || !level->from.unit.may_repeat)
		return;
	foreach(lc, find_all_inheritors(level->release->relid, AccessShareLock, NULL))
		if (get_rel_relkind(lfirst_oid(lc)) == RELKIND_FOREIGN_TABLE)
		dp_refuse_at(level->where,
					 errmsg("rows of protected table \"%s\" are partly in foreign table \"%s\" and cannot be joined with what may repeat them; "
							"join on all columns of a unique key of the other table",
							level->table, get_rel_name(lfirst_oid(lc))));
}

/* Returns the conjuncts that every row of the tree satisfies. */
static List *
conditions_of(Node *node)
{
	List	   *conditions = NIL;
	Node	   *quals = NULL;
	ListCell   *lc;

	if (IsA(node, FromExpr))
	{
		foreach(lc, ((FromExpr *) node)->fromlist)
			conditions = list_concat(conditions, conditions_of(lfirst(lc)));
		quals = ((FromExpr *) node)->quals;
	}
	else if (IsA(node, JoinExpr) &&
			 (((JoinExpr *) node)->jointype == JOIN_INNER || ((JoinExpr *) node)->jointype == JOIN_LEFT))
	{
		conditions = conditions_of(((JoinExpr *) node)->larg);
		if (((JoinExpr *) node)->jointype == JOIN_INNER)
		{
			conditions = list_concat(conditions, conditions_of(((JoinExpr *) node)->rarg));
			quals = ((JoinExpr *) node)->quals;
		}
	}
	return list_concat(conditions, make_ands_implicit((Expr *) quals));
}

void
dp_read_source(DpLevel *level, DpScope *scope, bool even_if_readable)
{
	DpSource	s = {.cxt = level->cxt, .level = level, .even_if_readable = even_if_readable};
	Query	   *outer = level->query;
	Query	   *query = dp_new_select();
	DpScope		inner = {query, scope->outer};
	List	   *read = list_make2(outer->targetList, outer->havingQual);

	query->rtable = copyObject(outer->rtable);
	dp_copy_permissions(query, outer);
	query->jointree = copyObject(outer->jointree);
	query->cteList = outer->cteList;
	level->from.query = query;
	level->from.is_level = true;
	level->conditions = conditions_of((Node *) outer->jointree);
	dp_read_level(&s, &inner, &level->from, &level->allow, (Node *) read);
	query->cteList = NIL;
	check_row_units(level);
	level->release->has_unit = !level->from.unit.one_row || level->from.unit.may_repeat;
}
