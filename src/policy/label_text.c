/*-------------------------------------------------------------------------
 *
 * label_text.c
 *	  Security labels of tables and columns: their text, and what it says.
 *
 * Their form is described in label.c.
 *
 * Invariant: what is parsed is well formed in itself (bounds in order, no unit
 * beside a foreign key), and what is formatted can be parsed; whether it is
 * true of the table is asked elsewhere.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/jsonb.h"
#include "utils/numeric.h"

#include "base/errors.h"
#include "base/input.h"
#include "policy/policy_int.h"

void
dp_bad_label(const char *text)
{
	dp_raise(BAD_PARAMETER,
			 errmsg("\"%s\" is not a security label of dp_cdp: use the functions of schema dp_cdp, such as dp_cdp.protect_table, to set policies",
					text));
}

static bool
value_is_true(const JsonbValue *v, const char *text)
{
	if (v->type != jbvBool || !v->val.boolean)
		dp_bad_label(text);
	return true;
}

static char *
numeric_text(Numeric n)
{
	return DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(n)));
}

static void
parse_keys(JsonbContainer *array, DpLabel *label, const char *text)
{
	JsonbIterator *it = JsonbIteratorInit(array);
	JsonbIteratorToken token;
	JsonbValue	v;

	token = JsonbIteratorNext(&it, &v, true);
	if (token != WJB_BEGIN_ARRAY || v.val.array.rawScalar)
		dp_bad_label(text);
	label->has_keys = true;
	label->keys = palloc(sizeof(char *) * Max(v.val.array.nElems, 1));
	while ((token = JsonbIteratorNext(&it, &v, true)) == WJB_ELEM)
	{
		if (v.type == jbvString)
			label->keys[label->nkeys++] = pnstrdup(v.val.string.val, v.val.string.len);
		else if (v.type == jbvNull)
			label->keys[label->nkeys++] = NULL;
		else
			dp_bad_label(text);
	}
}

/* Sets the number that a label says under this name; returns false where the name is none of a number's. */
static bool
parse_number(DpLabel *label, const char *name, Numeric value)
{
	Numeric    *to = strcmp(name, "lower") == 0 ? &label->lower
	: strcmp(name, "upper") == 0 ? &label->upper
	: strcmp(name, "total_lower") == 0 ? &label->total_lower
	: strcmp(name, "total_upper") == 0 ? &label->total_upper : NULL;

	if (to != NULL)
		*to = value;
	return to != NULL;
}

/* The same for what is written as text, bounds of dates and times. */
static bool
parse_time(DpLabel *label, const char *name, const JsonbValue *v)
{
	char	  **to = strcmp(name, "lower") == 0 ? &label->first
	: strcmp(name, "upper") == 0 ? &label->last : NULL;

	if (to != NULL)
		*to = pnstrdup(v->val.string.val, v->val.string.len);
	return to != NULL;
}

/* Returns the identity that a label says. */
static char *
parse_id(const JsonbValue *v, const char *text)
{
	char	   *id = v->type == jbvString ? pnstrdup(v->val.string.val, v->val.string.len) : "";

	if (strlen(id) != DP_POLICY_ID_DIGITS || strspn(id, "0123456789abcdef") != DP_POLICY_ID_DIGITS)
		dp_bad_label(text);
	return id;
}

static bool
less(Numeric a, Numeric b)
{
	return DatumGetBool(DirectFunctionCall2(numeric_lt, NumericGetDatum(a), NumericGetDatum(b)));
}

/* Bounds come in pairs, in order; totals are limits of bounded values, and 0 is one of them. */
static void
check_bounds(DpLabel *label, const char *text)
{
	Numeric		zero = int64_to_numeric(0);

	Datum		first;
	Datum		last;

	if (label->first != NULL && label->last != NULL &&
		(!dp_try_input(label->first, TIMESTAMPTZOID, -1, &first) || !dp_try_input(label->last, TIMESTAMPTZOID, -1, &last)))
		dp_bad_label(text);
	label->has_bounds = label->lower != NULL;
	label->has_totals = label->total_lower != NULL;
	if ((label->first != NULL) != (label->last != NULL) || (label->first != NULL && label->has_bounds) ||
		(label->upper != NULL) != label->has_bounds || (label->total_upper != NULL) != label->has_totals ||
		(label->has_bounds && !less(label->lower, label->upper)) ||
		(label->has_totals && (!label->has_bounds || !less(label->total_lower, label->total_upper) ||
							   less(zero, label->total_lower) || less(label->total_upper, zero))))
		dp_bad_label(text);
}

DpLabel *
dp_label_parse(const char *text, bool is_column)
{
	DpLabel    *label = palloc0(sizeof(DpLabel));
	Datum		json;
	JsonbIterator *it;
	JsonbValue	v;

	if (!dp_try_input(text, JSONBOID, -1, &json))
		dp_bad_label(text);
	it = JsonbIteratorInit(&DatumGetJsonbP(json)->root);
	if (JsonbIteratorNext(&it, &v, true) != WJB_BEGIN_OBJECT)
		dp_bad_label(text);
	while (JsonbIteratorNext(&it, &v, true) == WJB_KEY)
	{
		char	   *name = pnstrdup(v.val.string.val, v.val.string.len);

		JsonbIteratorNext(&it, &v, true);
		if (strcmp(name, "unit") == 0)
			label->unit = value_is_true(&v, text);
		else if (strcmp(name, "block") == 0)
			label->block = value_is_true(&v, text);
		else if (is_column && strcmp(name, "through") == 0)
			label->through = value_is_true(&v, text);
		else if (strcmp(name, "through") == 0 && v.type == jbvNumeric)
		{
			char	   *end;

			label->through = strtol(numeric_text(v.val.numeric), &end, 10);
			if (*end != '\0' || label->through < 1 || label->through > INDEX_MAX_KEYS)
				dp_bad_label(text);
		}
		else if (!is_column && strcmp(name, "dataset") == 0)
		{
			if (v.type != jbvString || v.val.string.len == 0 ||
				v.val.string.len >= NAMEDATALEN)
				dp_bad_label(text);
			label->dataset = pnstrdup(v.val.string.val, v.val.string.len);
		}
		else if (!is_column && strcmp(name, "id") == 0)
			label->id = parse_id(&v, text);
		else if (is_column && v.type == jbvNumeric && parse_number(label, name, v.val.numeric))
			continue;
		else if (is_column && v.type == jbvString && parse_time(label, name, &v))
			continue;
		else if (is_column && strcmp(name, "keys") == 0 && v.type == jbvBinary)
			parse_keys(v.val.binary.data, label, text);
		else
			dp_bad_label(text);
	}

	if (is_column)
	{
		check_bounds(label, text);
		if (!(label->unit || label->through || label->block || label->has_bounds || label->first != NULL || label->has_keys))
			dp_bad_label(text);
	}
	else if (label->dataset == NULL)
		dp_bad_label(text);
	if (label->unit && label->through)
		dp_bad_label(text);
	return label;
}

char *
dp_label_format(const DpLabel *label)
{
	StringInfoData s;
	const char *separator = "";

	initStringInfo(&s);
	appendStringInfoChar(&s, '{');
	if (label->dataset)
	{
		appendStringInfoString(&s, "\"dataset\": ");
		escape_json(&s, label->dataset);
		separator = ", ";
	}
	if (label->unit)
	{
		appendStringInfo(&s, "%s\"unit\": true", separator);
		separator = ", ";
	}
	if (label->through)
	{
		appendStringInfo(&s, label->dataset ? "%s\"through\": %d" : "%s\"through\": true", separator, label->through);
		separator = ", ";
	}
	if (label->block)
	{
		appendStringInfo(&s, "%s\"block\": true", separator);
		separator = ", ";
	}
	if (label->id)
	{
		appendStringInfo(&s, "%s\"id\": ", separator);
		escape_json(&s, label->id);
		separator = ", ";
	}
	if (label->has_bounds)
	{
		appendStringInfo(&s, "%s\"lower\": %s, \"upper\": %s", separator,
						 numeric_text(label->lower), numeric_text(label->upper));
		separator = ", ";
	}
	if (label->has_totals)
		appendStringInfo(&s, "%s\"total_lower\": %s, \"total_upper\": %s", separator,
						 numeric_text(label->total_lower), numeric_text(label->total_upper));
	if (label->first != NULL)
	{
		appendStringInfo(&s, "%s\"lower\": ", separator);
		escape_json(&s, label->first);
		appendStringInfoString(&s, ", \"upper\": ");
		escape_json(&s, label->last);
		separator = ", ";
	}
	if (label->has_keys)
	{
		appendStringInfo(&s, "%s\"keys\": [", separator);
		for (int i = 0; i < label->nkeys; i++)
		{
			if (i > 0)
				appendStringInfoString(&s, ", ");
			if (label->keys[i])
				escape_json(&s, label->keys[i]);
			else
				appendStringInfoString(&s, "null");
		}
		appendStringInfoChar(&s, ']');
	}
	if (s.len == 1)
		return NULL;
	appendStringInfoChar(&s, '}');
	return s.data;
}
