/*-------------------------------------------------------------------------
 *
 * protected_table.c
 *	  A protected table as an entry of an inner query.
 *
 * Invariants:
 * - All protected tables of a release are of one dataset and one owner, with
 *	 whose rights they are read.
 * - Units that are compared at the price of their length are not longer than
 *	 DP_MAX_TEXT: other rows are nobody's, before anything else looks at them.
 * - Whoever asks may read each of them, or could pay, before anything of it is
 *	 looked at.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/sysattr.h"
#include "access/xlog.h"
#include "base/compat.h"
#include "base/distributed.h"
#include "base/sizes.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_opfamily_d.h"
#include "catalog/pg_type.h"
#include "guard/read/read.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "policy/policy.h"
#include "policy/unit_types.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* Refuses a table without blocks in a dataset with, and the other way round: their policies contradict each other. */
static void
check_block(DpSource *s, RangeTblEntry *rte, const DpTable *table)
{
	bool		has_blocks = s->level->release->in_blocks;
	AttrNumber	attnum = table->block[0] != '\0' ? get_attnum(rte->relid, table->block) : InvalidAttrNumber;
	AttrNumber	distributed_by;

	if (table->block[0] == '\0' ? has_blocks && table->nthrough == 0
		: !has_blocks || attnum <= 0 || !dp_type_is_time(get_atttype(rte->relid, attnum)))
		dp_raise(BAD_PARAMETER,
				 errmsg("the policy of table \"%s\" is damaged: dataset \"%s\" is %s blocks of time, and the table has %s; its owner has to call dp_cdp.unprotect_table and dp_cdp.protect_table",
						get_rel_name(rte->relid), table->dataset, has_blocks ? "with" : "without",
						table->block[0] == '\0' ? "no column that says in which of them a row is"
						: "a column of another kind for them"),
				 dp_error_position(s->cxt->source_text, s->level->where));

	/*
	 * what Citus lets be distributed with its trigger has no policy at
	 * shards, where that would do nothing
	 */
	if (attnum > 0 && dp_is_distributed(rte->relid, &distributed_by))
		dp_raise(NOT_RELEASABLE,
				 errmsg("the rows of distributed table \"%s\" may leave their blocks of time; its owner has to call undistribute_table, or use a dataset without blocks",
						get_rel_name(rte->relid)),
				 dp_error_position(s->cxt->source_text, s->level->where));
}

/* Refuses what a standby has no rows of, before the planner does without naming it. */
static void
check_logged(DpSplitContext *cxt, const RangeTblEntry *rte, int where)
{
	foreach_oid(item, rte->inh ? find_all_inheritors(rte->relid, AccessShareLock, NULL) : list_make1_oid(rte->relid))
	{
		if (get_rel_persistence(item) == RELPERSISTENCE_UNLOGGED)
			dp_refuse_at(where, errmsg("a standby lacks rows of table \"%s\", which is UNLOGGED or has such partitions; send the query to the primary",
									   get_rel_name(rte->relid)));
	}
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
		dp_refuse_at(where, errmsg("TABLESAMPLE is not releasable over protected tables; leave the clause out"),
					 errdetail("The rows that it takes depend on all others."));
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
			dp_raise(BAD_PARAMETER,
					 errmsg("protected tables \"%s\" and \"%s\" belong to different owners and cannot be joined; "
							"give them one owner with ALTER TABLE ... OWNER TO",
							s->level->table, name),
					 dp_error_position(cxt->source_text, where));
	}

	release->in_blocks = dp_has_blocks(&s->level->dataset->blocks);
	check_block(s, rte, table);

	/*
	 * before anything is read or planned in the owner's name; who may read
	 * the rows learns nothing
	 */
	if (!dp_may_read(rte->relid))
		dp_check_payer(release->dataset);
	if (RecoveryInProgress())
		check_logged(cxt, rte, where);
	release->relids = list_append_unique_oid(release->relids, rte->relid);
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
	same = (Expr *) dp_make_comparison(eq, column, (Expr *) makeNullConst(right, -1, unit->varcollid), unit->varcollid);
	return dp_at_most_one_row(relid, unit->varno, list_make1(same), NULL);
}

List *
dp_unit_limit(Oid relid, Index rti)
{
	const DpTable *table = dp_policy_table(relid);
	AttrNumber	unit = table != NULL && table->has_unit ? get_attnum(relid, table->unit) : InvalidAttrNumber;
	Var		   *column;
	Expr	   *length,
			   *limit;
	Oid			le;

	if (unit <= 0 || !dp_is_citext(get_atttype(relid, unit)))
		return NIL;
	column = dp_table_var(rti, relid, unit);
	length = (Expr *) makeRelabelType((Expr *) column, TEXTOID, -1, column->varcollid, COERCE_IMPLICIT_CAST);
	length = (Expr *) dp_call(F_OCTET_LENGTH_TEXT, INT4OID, list_make1(length));
	limit = (Expr *) dp_int4_const(DP_MAX_TEXT);
	le = get_opfamily_member(INTEGER_BTREE_FAM_OID, INT4OID, INT4OID, BTLessEqualStrategyNumber);
	limit = (Expr *) dp_make_comparison(le, length, limit, InvalidOid);
	return list_make1(limit);
}

void
dp_read_protected(DpSource *s, Query *query, Index rti, DpFromItem *item)
{
	RangeTblEntry *rte = rt_fetch(rti, query->rtable);
	const DpTable *table;
	const char *problem;

	check_protected(s, rte);
	table = dp_policy_table(rte->relid);
	item->is_private = true;
	if (table->has_unit)
	{
		AttrNumber	unit = get_attnum(rte->relid, table->unit);

		if (unit <= 0)
			dp_raise(BAD_PARAMETER, errmsg("the privacy unit of table \"%s\" is missing; "
										   "its owner must protect it anew with dp_cdp.protect_table",
										   get_rel_name(rte->relid)));
		problem = dp_unit_type_problem(get_atttype(rte->relid, unit));
		if (problem != NULL)
			dp_raise(BAD_PARAMETER,
					 errmsg("the privacy unit of table \"%s\" cannot have type %s, because %s; its owner can give the column another type, such as text",
							get_rel_name(rte->relid), format_type_be(get_atttype(rte->relid, unit)), problem));
		item->unit.exprs = list_make1(dp_table_var(rti, rte->relid, unit));
		item->unit.vars = item->unit.exprs;
		item->unit.one_row = is_unique(rte->relid, linitial(item->unit.exprs));
	}
	else if (table->nthrough == 0)
	{
		item->unit.one_row = true;
		item->unit.exprs = list_make2(makeVar(rti, TableOidAttributeNumber, OIDOID, -1, InvalidOid, 0),
									  makeVar(rti, SelfItemPointerAttributeNumber, TIDOID, -1, InvalidOid, 0));
	}
	dp_table_tokens(s, rti, rte->relid, &item->unit);
	rte->securityQuals = dp_unit_limit(rte->relid, rti);
	rte->lateral = false;
	rte->enrname = pstrdup(DP_INNER_MARK);
	dp_set_read_permission(query, rte, dp_relation_owner(rte->relid));
}
