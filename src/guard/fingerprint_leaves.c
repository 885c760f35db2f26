/*-------------------------------------------------------------------------
 *
 * fingerprint_leaves.c
 *	  What expressions in the text of a question end in: columns of tables,
 *	  parameters, and the bounds of comparisons.
 *
 * Invariants:
 * - A column of a table that has no policy is written in letters of its own, and
 *	 noted, so that another table's can be put there.
 * - A strict comparison is written as the closed one only where its type has
 *	 steps, and only for a value that is known when the statement is executed.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "base/compat.h"
#include "base/extension.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "guard/describe/describe.h"
#include "guard/fingerprint.h"
#include "nodes/nodeFuncs.h"
#include "release/fingerprint.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* Notes by which text a column of a table without a policy is written. */
static void
note_public(DpFingerprintWriter *w, int entry, AttrNumber number, const char *text)
{
	DpFingerprintColumn *column;

	foreach_ptr(DpFingerprintColumn, item, w->public_columns)
	{
		column = item;
		if (column->entry == entry && column->column == number)
			return;
	}
	column = palloc(sizeof(DpFingerprintColumn));
	column->entry = entry;
	column->column = number;
	column->text = pstrdup(text);
	w->public_columns = lappend(w->public_columns, column);
}

void
dp_fingerprint_column(DpFingerprintWriter *w, int number, Oid relid, Var *var)
{
	int			start = w->text.len;
	int			entry = -1;

	foreach_int(item, w->public_entries)
		if (item == number)
		entry = foreach_current_index(item);
	/* what a row of such a table is called by the server is not what is in it */
	w->is_unknown |= entry >= 0 && var->varattno < 0;
	if (entry >= 0)
		appendStringInfoCharMacro(&w->text, DP_FINGERPRINT_PUBLIC);
	PUT("v%d[", number);
	if (var->varattno > 0)
		dp_fingerprint_name(&w->text, get_attname(relid, var->varattno, false));
	else
		PUT("%d", var->varattno);
	appendStringInfoCharMacro(&w->text, ':');
	if (entry >= 0)
		note_public(w, entry, var->varattno, w->text.data + start);
	dp_fingerprint_object(&w->text, TypeRelationId, var->vartype);
}

void
dp_fingerprint_param(DpFingerprintWriter *w, Param *param, int step)
{
	if (param->paramkind != PARAM_EXTERN)
		w->is_unknown = true;
	else if (param->paramid < w->release->first_param)
	{
		PUT("%c%d:", DP_FINGERPRINT_PARAM, param->paramid);
		PUT("%u:%u:%d%c", param->paramtype, param->paramcollid, step, DP_FINGERPRINT_PARAM_END);
	}
	else if (param->paramid >= w->own_param && param->paramid < w->own_param + DP_COLUMN_PARAMS)
		PUT("own%d", param->paramid - w->own_param);
	else
		w->is_unknown = true;
}

/* Tells whether a side of a comparison is a value of this type, now or when the statement is executed. */
static bool
is_value(DpFingerprintWriter *w, Node *side, Oid type)
{
	if (exprType(side) != type)
		return false;
	return IsA(side, Const) || (IsA(side, Param) && ((Param *) side)->paramkind == PARAM_EXTERN &&
								((Param *) side)->paramid < w->release->first_param);
}

int
dp_fingerprint_close(DpFingerprintWriter *w, OpExpr *op, Oid *opno, int *step)
{
	Oid			types[2];
	int			strategy;
	int			side;

	op_input_types(op->opno, &types[0], &types[1]);
	if (!dp_fingerprint_has_steps(types[0]) || !dp_fingerprint_has_steps(types[1]))
		return -1;
	strategy = dp_strategy_of(op->opno, types[0]);
	if (strategy != BTLessStrategyNumber && strategy != BTGreaterStrategyNumber)
		return -1;
	side = is_value(w, lsecond(op->args), types[1]) ? 1 : 0;
	/* what has values on both sides is as it is */
	if (!is_value(w, list_nth(op->args, side), types[side]) || is_value(w, list_nth(op->args, 1 - side), types[1 - side]))
		return -1;
	*opno = get_opfamily_member(lookup_type_cache(types[0], TYPECACHE_BTREE_OPFAMILY)->btree_opf, types[0], types[1],
								strategy == BTLessStrategyNumber ? BTLessEqualStrategyNumber : BTGreaterEqualStrategyNumber);
	if (!OidIsValid(*opno))
		elog(ERROR, "operator %u has no closed one beside it", op->opno);
	*step = (strategy == BTLessStrategyNumber) == (side == 1) ? -1 : 1;
	return side;
}

char *
dp_fingerprint_bound_text(DpFingerprintWriter *w, Node *value, int step)
{
	int			start = w->text.len;
	Const	   *constant = (Const *) value;

	if (IsA(value, Param))
		dp_fingerprint_param(w, (Param *) value, step);
	else
		dp_fingerprint_bound(&w->text, constant->consttype, constant->constcollid, constant->constvalue, constant->constisnull, step);
	return dp_fingerprint_cut(w, start);
}

bool
dp_fingerprint_commutes(FuncExpr *call)
{
	DpFunctionKind kind = dp_function_kind(call->funcid);

	if (list_length(call->args) != 2 || !dp_is_own(ProcedureRelationId, call->funcid) ||
		exprType(linitial(call->args)) != exprType(lsecond(call->args)) || !dp_is_number(exprType(linitial(call->args))))
		return false;
	return kind == DP_KIND_add || kind == DP_KIND_multiply;
}
