/*-------------------------------------------------------------------------
 *
 * arguments.c
 *	  What the arguments of bound_unit are in rows of the input.
 *
 * They are: the spec, the unit or not, keys, values.  How many of each there are
 * is known with the spec, when the first row is asked for.
 *
 * Invariant: what is read here depends on the plan and on the statement's parameters
 * alone, which are the same for all runs of the node.  So it is read once: rescans would compile
 * expressions again, and where jit is on that code stays until the query ends.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"

#include "agg/bounding/gather.h"

/* Reads the spec, which is the same for all rows. */
static void
read_spec(DpBounding *bounding, PlanState *node, List *args)
{
	bool		isnull;
	Datum		spec = ExecEvalExpr(ExecInitExpr(linitial(args), node), bounding->input.econtext, &isnull);

	if (isnull)
		dp_bound_spec_missing();
	bounding->spec = (const DpBoundSpec *) DatumGetPointer(spec);
	dp_check_bound_call(bounding->spec, list_length(args) - 1);
	bounding->key_bytes = dp_key_bytes_limit(bounding->spec->max_groups);
	bounding->no_salt = dp_unit_salt(dp_unit_hash(DP_NO_UNIT, bounding->spec), bounding->spec);
}

/*
 * Reads how units are told apart: by the columns "units" of the input.  Ranks
 * start from the column "argument" of these; -1: they start alike.
 */
static void
read_units(DpBounding *bounding, List *units, int argument, TupleDesc desc)
{
	DpUnitFormat *unit = &bounding->unit;
	int			n = list_length(units);

	unit->ncolumns = n;
	unit->attno = palloc0(sizeof(AttrNumber) * n);
	unit->info = palloc0(sizeof(DpKeyInfo) * n);
	bounding->row.unit_key = palloc0(sizeof(DpKey) * n);
	bounding->row.unit_hash = palloc0(sizeof(uint64) * n);
	unit->salt = argument;
	for (int i = 0; i < n; i++)
	{
		AttrNumber	attno = list_nth_int(units, i);
		Form_pg_attribute att = TupleDescAttr(desc, attno - 1);

		unit->attno[i] = attno;
		if (!dp_key_info_init(&unit->info[i], att->atttypid, att->attcollation, CurrentMemoryContext))
			dp_refuse_key_type(att->atttypid);
		dp_columns_add(&bounding->input.first, attno);
	}
	unit->is_word = n == 1 && unit->info[0].class == DP_KEY_WORD;
	bounding->input.may_unit_first = bounding->input.unit_first = unit->is_word;
	unit->is_plain = n == 1 && (unit->info[0].class == DP_KEY_BYTES || unit->info[0].class == DP_KEY_FIXED);
}

static void
read_keys(DpBounding *bounding, PlanState *node, List *args, int first)
{
	DpInput    *input = &bounding->input;

	input->keys_are_columns = bounding->spec->nkeys > 0;
	for (int i = 0; i < bounding->spec->nkeys; i++)
	{
		Expr	   *key = list_nth(args, first + i);
		Oid			type = exprType((Node *) key);

		if (!dp_key_info_init(&bounding->shape.key[i], type, exprCollation((Node *) key), CurrentMemoryContext))
			dp_refuse_key_type(type);
		input->key_attno[i] = dp_input_column(key);
		input->key_expr[i] = ExecInitExpr(key, node);
		input->keys_are_columns &= input->key_attno[i] > 0;
	}
	for (int i = 0; i < bounding->spec->nkeys && input->keys_are_columns; i++)
		dp_columns_add(&input->first, input->key_attno[i]);
	input->may_rank_first = input->keys_are_columns;
	for (int i = 0; i < bounding->spec->nkeys; i++)
		input->may_rank_first &= bounding->shape.key[i].class == DP_KEY_WORD;
	for (int i = 0; i < bounding->unit.ncolumns; i++)
		input->may_rank_first &= bounding->unit.info[i].class != DP_KEY_GENERIC;
}

/*
 * Makes bounding ready for rows of its input, of type desc: args are the arguments of
 * bound_unit, units the columns that rows are grouped by, of which the first argument is that number.
 */
void
dp_read_arguments(DpBounding *bounding, PlanState *node, List *args, List *units, int unit_argument, TupleDesc desc)
{
	int			nvalues;
	int			first_key;
	List	   *values;

	read_spec(bounding, node, args);
	nvalues = bounding->spec->nvalues;
	first_key = list_length(args) - bounding->spec->nkeys - nvalues;
	if (first_key > 1 && unit_argument < 0)
		elog(ERROR, "the unit of bound_unit is not what rows are grouped by");
	read_units(bounding, units, first_key > 1 ? unit_argument : -1, desc);
	read_keys(bounding, node, args, first_key);
	for (int i = 0; i < nvalues; i++)
	{
		Oid			type = exprType(list_nth(args, first_key + bounding->spec->nkeys + i));

		if (!dp_unit_takes(bounding->spec, i, type))
			elog(ERROR, "bound_unit cannot take value %d from type %s", i, format_type_be(type));
	}
	dp_unit_shape(&bounding->shape, bounding->spec);
	values = list_copy_tail(args, list_length(args) - nvalues);
	dp_fields_init(&bounding->fields, bounding->spec, &bounding->shape.layout, values,
				   node, bounding->input.econtext, desc);
	/* columns of a condition are those of the table */
	if (IsA(bounding->input.outer, SeqScanState) && bounding->input.outer->ps_ProjInfo == NULL)
		dp_read_condition(bounding, (ScanState *) bounding->input.outer);
	dp_columns_place(&bounding->input.first, desc);
	dp_columns_place(&bounding->input.condition.columns, desc);
	dp_columns_place(&bounding->fields.columns, desc);
	dp_plan_records(bounding);
}
