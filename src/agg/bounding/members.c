/*-------------------------------------------------------------------------
 *
 * members.c
 *	  Tests of a scan's condition whether a column is one of a list of whole numbers, by a bitmap, or not NULL.
 *
 * Keys are declared: each row of a private query has to be in a group that its answer has, and
 * "key = ANY (list)" is a part of nearly each condition, where the key may be NULL with "OR key IS NULL".
 * PostgreSQL hashes the list, and calls two functions for each row.
 *
 * Invariants:
 *	- a row passes these tests and the rest of the condition if and only if it passes the condition:
 *	  they are parts of a conjunction, compare bits that are equal where the operator says so, and
 *	  a row whose column is NULL passes those alone that ask for it;
 *	- the operators fail for no value and tell nothing of it, so that they may come before any other
 *	  part, a security barrier's too.  (All are marked LEAKPROOF but that of enums, which compares OIDs.)
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

#include "agg/bounding/gather.h"

/* numbers from the least to the greatest of a list, at most: its bitmap takes 8 kB */
#define MOST_NUMBERS 65536

static bool read_test(const Node *part, DpMembers *members);

/* Reads the list; returns false where it is too wide, has a NULL, or nothing. */
static bool
read_list(ArrayType *list, DpMembers *members)
{
	int64		greatest = PG_INT64_MIN;
	bool		byval;
	char		align;
	Datum	   *element;
	int			n;

	if (array_contains_nulls(list))
		return false;
	get_typlenbyvalalign(ARR_ELEMTYPE(list), &members->typlen, &byval, &align);
	/* where they are not passed by value, words of 64 bits are no words */
	if (!byval)
		return false;
	deconstruct_array(list, ARR_ELEMTYPE(list), members->typlen, byval, align, &element, NULL, &n);
	members->least = PG_INT64_MAX;
	for (int i = 0; i < n; i++)
	{
		members->least = Min(members->least, (int64) dp_key_word(element[i], members->typlen));
		greatest = Max(greatest, (int64) dp_key_word(element[i], members->typlen));
	}
	if (n == 0 || (uint64) greatest - (uint64) members->least >= MOST_NUMBERS)
		return false;
	members->span = (uint64) greatest - (uint64) members->least;
	members->bits = palloc0(sizeof(uint64) * (members->span / 64 + 1));
	for (int i = 0; i < n; i++)
	{
		uint64		at = dp_key_word(element[i], members->typlen) - (uint64) members->least;

		members->bits[at / 64] |= UINT64CONST(1) << (at % 64);
	}
	return true;
}

/* Reads "column = ANY (list) OR column IS NULL", which the keys of a nullable column are declared by. */
static bool
read_test_or_null(const BoolExpr *either, DpMembers *members)
{
	const NullTest *null = lsecond(either->args);

	if (list_length(either->args) != 2 || !IsA(null, NullTest) || null->nulltesttype != IS_NULL || null->argisrow ||
		!IsA(linitial(either->args), ScalarArrayOpExpr) ||
		!equal(linitial(((ScalarArrayOpExpr *) linitial(either->args))->args), null->arg) ||
		!read_test(linitial(either->args), members))
		return false;
	members->takes_null = true;
	return true;
}

/* Reads "column IS NOT NULL", which each unit has to be: all numbers are members. */
static bool
read_not_null(const NullTest *test, DpMembers *members)
{
	const Var  *column = (const Var *) test->arg;

	if (test->nulltesttype != IS_NOT_NULL || test->argisrow || !IsA(column, Var) || column->varattno <= 0)
		return false;
	members->attno = column->varattno;
	members->takes_null = false;
	members->takes_all = true;
	return true;
}

/* Reads a part of the condition if it is such a test. */
static bool
read_test(const Node *part, DpMembers *members)
{
	const ScalarArrayOpExpr *test = (const ScalarArrayOpExpr *) part;
	const Var  *column;
	const Const *list;

	if (IsA(part, NullTest))
		return read_not_null((const NullTest *) part, members);
	if (is_orclause(part))
		return read_test_or_null((const BoolExpr *) part, members);
	if (!IsA(part, ScalarArrayOpExpr) || !test->useOr || !dp_compares_words(get_opcode(test->opno)))
		return false;
	column = linitial(test->args);
	list = lsecond(test->args);
	if (!IsA(column, Var) || column->varattno <= 0 || !IsA(list, Const) || list->constisnull)
		return false;
	members->attno = column->varattno;
	members->takes_null = members->takes_all = false;
	return read_list(DatumGetArrayTypeP(list->constvalue), members);
}

/*
 * Reads the condition of a scan: what bitmaps tell, and the rest as the executor tests it.  The scan has
 * been started, and the condition is tested in its expression context.
 */
void
dp_read_condition(DpBounding *bounding, ScanState *scan)
{
	DpCondition *condition = &bounding->input.condition;
	List	   *qual = scan->ps.plan->qual;
	List	   *rest = NIL;

	memset(condition, 0, sizeof(DpCondition));
	condition->rest = scan->ps.qual;
	/* a subplan is started with the expression that it is in, and once */
	if (contain_subplans((Node *) qual))
		return;
	condition->members = palloc0(sizeof(DpMembers) * Max(list_length(qual), 1));
	foreach_ptr(Node, item, qual)
	{
		DpMembers  *members = &condition->members[condition->nmembers];

		if (!read_test(item, members))
		{
			rest = lappend(rest, item);
			continue;
		}
		dp_columns_add(&condition->columns, members->attno);
		dp_columns_add(&bounding->input.first, members->attno);
		condition->nmembers++;
	}
	if (condition->nmembers > 0)
		condition->rest = ExecInitQual(rest, &scan->ps);
}
