/*-------------------------------------------------------------------------
 *
 * columns.c
 *	  set_keys, drop_keys, declared_keys.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "parser/parse_coerce.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "admin/admin.h"
#include "base/errors.h"
#include "base/input.h"
#include "base/sizes.h"
#include "policy/policy.h"
#include "policy/unit_types.h"

PG_FUNCTION_INFO_V1(dp_set_keys);
PG_FUNCTION_INFO_V1(dp_drop_keys);
PG_FUNCTION_INFO_V1(dp_declared_keys);

/* Tells the owner that there is a group of NULL. */
static void
note_null_group(Oid relid, const char *column)
{
	const char *quoted = quote_identifier(column);

	dp_admin_warn(NOTICE,
				  errmsg("column \"%s\" can be NULL, and has the group NULL, too", column),
				  errhint("To leave that group out, ALTER TABLE %s ALTER %s SET NOT NULL, or write WHERE %s IS NOT NULL in queries.",
						  quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)), get_rel_name(relid)),
						  quoted, quoted));
}

/*
 * Refuses keys of a type that the column's rows would not be written in: 't' for a boolean is no 'true', and a date
 * drops a timestamp's hours.  Text is read as the column's type reads it, and a number as any other number.
 */
static void
check_key_type(Oid given, Oid type, const char *column)
{
	Oid			function;

	if (TypeCategory(given) == TYPCATEGORY_STRING || given == UNKNOWNOID ||
		(TypeCategory(given) == TYPCATEGORY_NUMERIC && TypeCategory(type) == TYPCATEGORY_NUMERIC) ||
		find_coercion_pathway(type, given, COERCION_IMPLICIT, &function) != COERCION_PATH_NONE)
		return;
	dp_raise(BAD_PARAMETER,
			 errmsg("keys of type %s cannot be those of column \"%s\", which has type %s: give keys of that type",
					format_type_be(given), column, format_type_be(type)));
}

/* set_keys("table", "column", keys anyarray) */
Datum
dp_set_keys(PG_FUNCTION_ARGS)
{
	DpAdminColumn c = dp_admin_owned_column(fcinfo);
	char	   *column = get_attname(c.relid, c.attnum, false);
	DpLabel    *label;
	ArrayType  *array;
	Oid			element;
	Oid			output;
	bool		is_varlena;
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Datum	   *values;
	bool	   *nulls;
	Datum	   *keys;
	int			nvalues;
	int			nkeys = 0;
	int			distinct;
	int			level;

	dp_check_comparable(c.type, c.collation, column, "a grouping key");
	if (dp_is_citext(c.type))
		dp_raise(BAD_PARAMETER,
				 errmsg("column \"%s\" of type citext cannot have declared keys: leave them undeclared, so that queries select keys privately",
						column),
				 errhint("A query can also list values, as in WHERE %s IN ('...').", quote_identifier(column)));
	c.type = getBaseTypeAndTypmod(c.type, &c.typmod);

	if (PG_ARGISNULL(2))
		dp_raise(BAD_PARAMETER, errmsg("keys must not be NULL: call dp_cdp.drop_keys to remove keys"));
	array = PG_GETARG_ARRAYTYPE_P(2);
	element = ARR_ELEMTYPE(array);
	check_key_type(getBaseType(element), c.type, column);
	get_typlenbyvalalign(element, &typlen, &typbyval, &typalign);
	deconstruct_array(array, element, typlen, typbyval, typalign, &values, &nulls, &nvalues);
	if (nvalues == 0)
		dp_raise(BAD_PARAMETER, errmsg("keys must not be empty: call dp_cdp.drop_keys to remove keys"));
	if (nvalues > DP_MAX_DECLARED_KEYS)
		dp_raise(BAD_PARAMETER,
				 errmsg("a column can have at most %d keys: leave them undeclared, so that queries select keys privately",
						DP_MAX_DECLARED_KEYS));

	label = dp_admin_column_label(c.relid, c.attnum);
	label->has_keys = true;
	label->nkeys = nvalues;
	label->keys = palloc(nvalues * sizeof(char *));
	keys = palloc(nvalues * sizeof(Datum));
	getTypeOutputInfo(element, &output, &is_varlena);
	level = dp_begin_portable_text();
	for (int i = 0; i < nvalues; i++)
	{
		if (nulls[i])
		{
			label->keys[i] = NULL;
			continue;
		}
		label->keys[i] = OidOutputFunctionCall(output, values[i]);
		if (!dp_try_input(label->keys[i], c.type, c.typmod, &keys[nkeys]))
			dp_raise(BAD_PARAMETER, errmsg("\"%s\" cannot be a key of column \"%s\", which has type %s",
										   label->keys[i], column, format_type_with_typemod(c.type, c.typmod)));

		/* bounding leaves its rows out: see dp_key_bytes */
		if (get_typlen(c.type) == -1 && MAXALIGN(dp_value_bytes(keys[nkeys]) + VARHDRSZ) > DP_MOST_KEY_BYTES)
			dp_raise(BAD_PARAMETER, errmsg("key %d of column \"%s\" is too long: give keys of at most %d bytes",
										   i + 1, column, (int) DP_MOST_KEY_BYTES - VARHDRSZ),
					 errdetail("The group of the key would stay empty."));
		nkeys++;
	}
	distinct = dp_sort_keys(c.type, c.collation, keys, nkeys);
	/* groups are counted, and a key that is given twice has one */
	if (distinct + Min(nvalues - nkeys, 1) < nvalues)
	{
		getTypeOutputInfo(c.type, &output, &is_varlena);
		label->nkeys = 0;
		for (int i = 0; i < distinct; i++)
			label->keys[label->nkeys++] = OidOutputFunctionCall(output, keys[i]);
		if (nkeys < nvalues)
			label->keys[label->nkeys++] = NULL;
	}
	dp_end_portable_text(level);
	dp_label_put(c.relid, c.attnum, label);
	if (distinct < nkeys)
		dp_admin_warn(NOTICE,
					  errmsg("%d of %d keys of column \"%s\" repeat another, and equal keys have one group",
							 nkeys - distinct, nkeys, column));
	if (dp_leads_to_unit(c.relid, c.attnum))
		dp_admin_warn(WARNING,
					  errmsg("column \"%s\" names people, and its keys are public: everybody with a budget reads them", column),
					  errhint("dp_cdp.drop_keys removes them."));
	if (nkeys == nvalues && !dp_column_is_not_null(c.relid, c.attnum))
		note_null_group(c.relid, column);
	dp_admin_tell_of_rows(c.relid, c.attnum, false);
	PG_RETURN_DATUM(dp_admin_column_row(fcinfo, c.relid, label));
}

/* drop_keys("table", "column") */
Datum
dp_drop_keys(PG_FUNCTION_ARGS)
{
	DpAdminColumn c = dp_admin_owned_column(fcinfo);
	DpLabel    *label = dp_admin_column_label(c.relid, c.attnum);

	if (!label->has_keys)
		dp_raise(BAD_PARAMETER,
				 errmsg("column \"%s\" of table \"%s\" has no declared keys of its own: see dp_cdp.protected for those there are",
						get_attname(c.relid, c.attnum, false), get_rel_name(c.relid)));
	label->has_keys = false;
	dp_label_put(c.relid, c.attnum, label);
	PG_RETURN_DATUM(dp_admin_column_row(fcinfo, c.relid, label));
}

/*
 * declared_keys("table", "column") returns the keys a GROUP BY releases, as text; NULL
 * when the keys are not declared, so that queries select them privately.
 */
Datum
dp_declared_keys(PG_FUNCTION_ARGS)
{
	Oid			relid = dp_admin_table(fcinfo);
	AttrNumber	attnum;
	Oid			type;
	int32		typmod;
	Oid			collation;
	Oid			output;
	bool		is_varlena;
	DpColumn   *column;
	Datum	   *texts;
	bool	   *nulls;
	int			dims[1];
	int			lbs[1] = {1};
	int			level;

	dp_admin_require_policy_owner(relid);
	attnum = dp_admin_column(fcinfo, 1, "column", relid, &type, &typmod, &collation);
	column = dp_policy_column(relid, attnum, InvalidOid, PG_INT64_MAX);
	if (!column->has_keys)
		PG_RETURN_NULL();

	getTypeOutputInfo(type, &output, &is_varlena);
	dims[0] = column->nkeys + column->null_key;
	if (dims[0] == 0)
		PG_RETURN_ARRAYTYPE_P(construct_empty_array(TEXTOID));
	texts = palloc(dims[0] * sizeof(Datum));
	nulls = palloc0(dims[0] * sizeof(bool));
	level = dp_begin_portable_text();
	for (int i = 0; i < column->nkeys; i++)
		texts[i] = CStringGetTextDatum(OidOutputFunctionCall(output, column->keys[i]));
	dp_end_portable_text(level);
	nulls[dims[0] - 1] = column->null_key;
	PG_RETURN_ARRAYTYPE_P(construct_md_array(texts, nulls, 1, dims, lbs, TEXTOID, -1, false, TYPALIGN_INT));
}
