/*-------------------------------------------------------------------------
 *
 * table.c
 *	  protect_table, unprotect_table: policies of tables, kept in security
 *	  labels.
 *
 * Invariants:
 *	- a table comes under protection only by somebody who owns both the table
 *	  and the dataset: protecting publishes noisy answers about it to the roles
 *	  that have a budget.
 *	- taking the protection away is up to the owner of the dataset, as bounds
 *	  and keys are.  Without protection only those may read the table who hold
 *	  SELECT.
 *	- rows are taken for a person each only where the owner says so.
 *	- a table that moves to another dataset keeps bounds and keys, and whoever
 *	  moves it owns both datasets: its people get another budget.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "admin/admin.h"
#include "admin/whose_rows.h"
#include "base/compat.h"
#include "base/distributed.h"
#include "base/errors.h"
#include "base/settings.h"

PG_FUNCTION_INFO_V1(dp_protect_table);
PG_FUNCTION_INFO_V1(dp_unprotect_table);
PG_FUNCTION_INFO_V1(dp_dataset_of);
PG_FUNCTION_INFO_V1(dp_through_problem);

/* Tells of tables whose rows belong to people through one that has left their dataset. */
static void
report_children(Oid relid, List *children)
{
	foreach_oid(item, children)
		dp_admin_warn(WARNING,
					  errmsg("rows of table \"%s\" belong to people through table \"%s\": nothing is released from it until it is protected in the same dataset",
							 get_rel_name(item), get_rel_name(relid)));
}

/* Labels table and unit, in place of leftovers: labels of columns whose table's was removed by hand. */
static void
write_policy(Oid relid, List *leftovers, char *dataset, const DpUnitArgument *argument)
{
	DpLabel		label = {0};
	DpLabel		block_label = {.block = true};
	DpLabel		unit_label = {.unit = true, .block = argument->block.column == argument->unit};
	DpLabel		through_label = {.through = 1};

	foreach_ptr(DpLabel, leftover, leftovers)
		dp_label_put(relid, leftover->attnum, NULL);

	label.dataset = dataset;
	label.id = dp_new_policy_id();
	label.unit = argument->unit != InvalidAttrNumber;
	label.through = argument->through.nthrough;
	label.block = argument->block.column != InvalidAttrNumber;
	dp_label_put(relid, 0, &label);
	if (label.unit)
		dp_label_put(relid, argument->unit, &unit_label);
	for (int i = 0; i < label.through; i++)
	{
		through_label.block = argument->columns[i] == argument->block.column;
		block_label.block &= !through_label.block;
		dp_label_put(relid, argument->columns[i], &through_label);
	}
	/* a column has one label */
	if (label.block && block_label.block && argument->block.column != argument->unit)
		dp_label_put(relid, argument->block.column, &block_label);
}

/* Moves a protected table to another dataset of the same owner, with bounds and keys. */
static void
move_policy(Oid relid, DpLabel *label, char *dataset, Oid user)
{
	char	   *old = label->dataset;
	List	   *children = dp_policy_children(relid, old);

	/* without its dataset, after a restore, the table's owner decides */
	if (OidIsValid(dp_dataset_owner(old)))
		(void) dp_admin_dataset(old, user, DP_LOCK_REFERENCE);
	label->dataset = dataset;
	dp_label_put(relid, 0, label);
	dp_policy_name_settled(relid, old);
	dp_admin_warn(NOTICE,
				  errmsg("table \"%s\" moved from dataset \"%s\" to \"%s\", with bounds and keys: what \"%s\" has spent stays, the budgets of \"%s\" come on top",
						 get_rel_name(relid), old, dataset, old, dataset));
	report_children(relid, children);
}

/*
 * Lets workers of a cluster know what they cannot be told with a table that was distributed before: they close
 * it to who may read it by pg_read_all_data alone, and to writers whom its keys would tell who is there.
 * removed: labels that it had.
 */
static void
relabel_workers(Oid relid, List *removed)
{
	Oid			types[] = {REGCLASSOID, INT2ARRAYOID};
	Datum		values[] = {ObjectIdGetDatum(relid), 0};
	Datum	   *columns = palloc(sizeof(Datum) * Max(list_length(removed), 1));
	AttrNumber	column;
	DpAdminContext context;

	if (!dp_is_distributed(relid, &column))
		return;
	foreach_ptr(DpLabel, item, removed)
		columns[foreach_current_index(item)] = Int16GetDatum(item->attnum);
	values[1] = PointerGetDatum(construct_array(columns, list_length(removed), INT2OID, sizeof(int16), true, TYPALIGN_SHORT));
	CommandCounterIncrement();
	dp_admin_begin(&context);
	dp_admin_execute("SELECT dp_cdp_internal.relabel_workers($1, $2)", 2, types, values, NULL, true);
	dp_admin_end(&context);
}

/*
 * protect_table("table", dataset, unit, through, block, every, each_row)
 */
Datum
dp_protect_table(PG_FUNCTION_ARGS)
{
	Oid			relid = dp_admin_table(fcinfo);
	char	   *dataset = dp_admin_dataset_name(fcinfo, 1);
	DpUnitArgument argument = {0};
	Oid			user = GetUserId();
	DpAdminContext context;
	DpDatasetRow *row;
	List	   *labels;

	dp_admin_require_table_owner(relid);
	dp_admin_lock_table(relid);
	dp_admin_require_table_owner(relid);
	dp_check_protectable(relid);
	dp_admin_read_unit(fcinfo, relid, &argument);
	dp_admin_read_block(fcinfo, 4, relid, &argument.block);

	dp_admin_begin(&context);
	row = dp_admin_dataset(dataset, user, DP_LOCK_REFERENCE);
	if (argument.through.nthrough > 0)
		dp_admin_check_through(relid, dataset, &argument);
	labels = dp_label_list(relid);
	if (labels != NIL && ((DpLabel *) linitial(labels))->attnum == 0)
		dp_admin_check_same_unit(relid, linitial(labels), &argument);
	dp_admin_settle_blocks(dataset, row, user, relid, argument.through.nthrough > 0, &argument.block);
	if (labels != NIL && ((DpLabel *) linitial(labels))->attnum == 0)
	{
		if (strcmp(((DpLabel *) linitial(labels))->dataset, dataset) != 0)
			move_policy(relid, linitial(labels), dataset, user);
	}
	else
		write_policy(relid, labels, dataset, &argument);
	CommandCounterIncrement();
	dp_admin_keep_blocks(relid, InvalidOid);
	dp_policy_name_settled(relid, dataset);
	dp_admin_report_readers(relid);
	dp_admin_doubt_unit(relid);
	dp_admin_end(&context);
	relabel_workers(relid, NIL);
	dp_admin_tell_of_rows(relid, 0, true);
	PG_RETURN_DATUM(dp_admin_table_row(fcinfo, relid));
}

/* Warns of those who read rows of a table now that its policy is gone: views, too, show them again. */
static void
report_opened(Oid relid)
{
	Oid			types[] = {OIDOID};
	Datum		values[] = {ObjectIdGetDatum(relid)};
	DpAdminContext context;
	char	   *readers;

	dp_admin_begin(&context);
	dp_admin_execute("WITH RECURSIVE r AS ("
					 "   SELECT $1 AS oid UNION SELECT x.next FROM r CROSS JOIN LATERAL ("
					 "     SELECT i.inhrelid AS next FROM pg_inherits i WHERE i.inhparent = r.oid"
					 "     UNION ALL SELECT w.ev_class FROM pg_depend d JOIN pg_rewrite w ON w.oid = d.objid"
					 "     WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass"
					 "     AND d.refobjid = r.oid) x)"
					 " SELECT string_agg(format('%s (%s)', g.relation, g.roles), ', ' ORDER BY g.relation::text) FROM ("
					 "   SELECT c.oid::regclass AS relation, string_agg(DISTINCT CASE WHEN a.grantee = 0 THEN 'PUBLIC'"
					 "     ELSE a.grantee::regrole::text END, ', ') AS roles"
					 "   FROM r JOIN pg_class c ON c.oid = r.oid CROSS JOIN LATERAL ("
					 "     SELECT x.* FROM aclexplode(c.relacl) x"
					 "     UNION ALL SELECT x.* FROM pg_attribute t, aclexplode(t.attacl) x WHERE t.attrelid = c.oid) a"
					 "   WHERE a.privilege_type = 'SELECT' AND a.grantee <> c.relowner GROUP BY c.oid) g",
					 1, types, values, NULL, false);
	readers = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
	if (readers != NULL)
		dp_admin_warn(WARNING,
					  errmsg("table \"%s\" is not protected any more: who holds SELECT on it, or on a view that reads it, sees its rows: %s",
							 get_rel_name(relid), readers),
					  errhint("REVOKE SELECT from those who are not to see rows."));
	dp_admin_end(&context);
}

/* Tells of columns whose bounds and keys go with the policy, of which these are the labels. */
static void
report_forgotten(Oid relid, List *labels)
{
	StringInfoData columns;

	initStringInfo(&columns);
	foreach_ptr(DpLabel, label, labels)
	{
		bool		has_bounds = label->has_bounds || label->first != NULL;
		const char *name = label->attnum == 0 ? NULL : get_attname(relid, label->attnum, true);

		if (name != NULL && (has_bounds || label->has_keys))
			appendStringInfo(&columns, "%s%s (%s)", columns.len > 0 ? ", " : "", quote_identifier(name),
							 has_bounds && label->has_keys ? "bounds, keys" : has_bounds ? "bounds" : "keys");
	}
	if (columns.len > 0)
		dp_admin_warn(NOTICE,
					  errmsg("bounds and keys of columns of table \"%s\" are forgotten: %s",
							 get_rel_name(relid), columns.data),
					  errhint("If you protect the table again, declare them again with dp_cdp.set_bounds and dp_cdp.set_keys."));
}

/* Returns the policy of a table, which the caller may take away. */
static DpLabel *
own_policy(Oid relid)
{
	DpLabel    *label;

	if (dp_label_get(relid, 0) == NULL && dp_labelled_ancestors(relid) == NIL)
		dp_raise(BAD_PARAMETER,
				 errmsg("table \"%s\" is not protected: there is nothing to take away", get_rel_name(relid)));
	label = dp_admin_table_label(relid);
	if (OidIsValid(dp_dataset_owner(label->dataset)) || !dp_owns_table(relid, GetUserId()))
		dp_admin_require_policy_owner(relid);
	return label;
}

/*
 * unprotect_table("table")
 *
 * When the dataset is gone, which only a restore without data can bring
 * about, the table's owner decides.
 */
Datum
dp_unprotect_table(PG_FUNCTION_ARGS)
{
	Oid			relid = dp_admin_table(fcinfo);
	DpLabel    *label;
	List	   *children;
	List	   *labels;
	DpParent	parent;
	Oid			in_rows_of;
	int64		ended;
	DpAdminContext context;

	(void) own_policy(relid);
	dp_admin_lock_table(relid);
	/* while this waited it may have gone, or become another's */
	label = own_policy(relid);
	children = dp_policy_children(relid, label->dataset);
	in_rows_of = dp_policy_parent(relid, &parent) == DP_PARENT_OK ? parent.parent : InvalidOid;
	labels = dp_label_list(relid);
	foreach_ptr(DpLabel, item, labels)
		dp_label_put(relid, item->attnum, NULL);
	CommandCounterIncrement();
	dp_policy_name_settled(relid, label->dataset);
	dp_admin_begin(&context);
	dp_admin_keep_blocks(relid, InvalidOid);
	if (in_rows_of != InvalidOid)
		dp_admin_keep_blocks(in_rows_of, InvalidOid);
	/* a policy that is written alike later asks the same questions */
	ended = dp_admin_end_answers(label->dataset);
	if (ended > 0)
		dp_admin_warn(NOTICE,
					  errmsg_plural("%lld kept answer of dataset \"%s\" has ended, and costs again",
									"%lld kept answers of dataset \"%s\" have ended, and cost again",
									(unsigned long) ended, (long long) ended, label->dataset));
	dp_admin_end(&context);
	relabel_workers(relid, labels);
	report_forgotten(relid, labels);
	report_opened(relid);
	report_children(relid, children);
	PG_RETURN_DATUM(dp_admin_table_row(fcinfo, relid));
}

/*
 * dataset_of("table"): the dataset that protects a table, by its own label or
 * an ancestor's; NULL when none does.  ZC004 when its policy is damaged.
 */
Datum
dp_dataset_of(PG_FUNCTION_ARGS)
{
	const DpTable *table;

	if (!dp_preloaded)
		dp_admin_not_loaded();
	table = dp_policy_table(PG_GETARG_OID(0));
	if (table == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(dp_policy_dataset(table->dataset)->name));
}

/*
 * through_problem("table"): why the rows of a table belong to nobody; NULL
 * where they do not belong to people through a foreign key, or all is well.
 */
Datum
dp_through_problem(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	const DpTable *table;
	DpParentProblem problem;
	int			length;
	Oid			at;

	if (!dp_preloaded)
		dp_admin_not_loaded();
	table = dp_policy_table(relid);
	if (table == NULL || table->nthrough == 0)
		PG_RETURN_NULL();
	problem = dp_policy_chain(relid, &length, &at);
	if (problem == DP_PARENT_OK)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(dp_parent_complaint(problem, at)));
}
