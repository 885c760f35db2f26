/*-------------------------------------------------------------------------
 *
 * fingerprint_text.c
 *	  The text of a question while it is written: what its parts are made of,
 *	  without the expressions in them.
 *
 * Long expressions are named by their hash and defined behind the text, so
 * that columns of columns do not make it long.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "guard/fingerprint.h"
#include "release/fingerprint.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* a long expression, by its hash */
typedef struct Definition
{
	char		name[2 * DP_FINGERPRINT_BYTES]; /* its hash in hexadecimal
												 * digits */
	char	   *text;
} Definition;

char *
dp_fingerprint_cut(DpFingerprintWriter *w, int start)
{
	char	   *text = pnstrdup(w->text.data + start, w->text.len - start);

	w->text.len = start;
	w->text.data[start] = '\0';
	return text;
}

int
dp_compare_texts(const ListCell *a, const ListCell *b)
{
	return strcmp(lfirst(a), lfirst(b));
}

void
dp_fingerprint_sorted(DpFingerprintWriter *w, List *texts)
{
	const char *last = NULL;

	list_sort(texts, dp_compare_texts);
	foreach_ptr(const char, text, texts)
	{
		if (last != NULL && strcmp(text, last) == 0)
			continue;
		last = text;

		PUT("%s,", last);
	}
}

void
dp_fingerprint_named(DpFingerprintWriter *w, Oid classid, Oid objid)
{
	dp_fingerprint_object(&w->text, classid, objid);
	appendStringInfoCharMacro(&w->text, ' ');
}

void
dp_fingerprint_type(DpFingerprintWriter *w, Oid type)
{
	dp_fingerprint_named(w, TypeRelationId, type);
}

void
dp_fingerprint_collation(DpFingerprintWriter *w, Oid collation)
{
	dp_fingerprint_named(w, CollationRelationId, collation);
}

void
dp_fingerprint_define(DpFingerprintWriter *w, int start)
{
	uint8		hash[DP_FINGERPRINT_BYTES];
	char		name[2 * DP_FINGERPRINT_BYTES];
	Definition *definition;
	bool		found;

	dp_fingerprint_hash(w->text.data + start, w->text.len - start, hash);
	hex_encode((char *) hash, DP_FINGERPRINT_BYTES, name);
	if (w->definitions == NULL)
	{
		HASHCTL		ctl = {.keysize = sizeof(name), .entrysize = sizeof(Definition), .hcxt = CurrentMemoryContext};

		w->definitions = hash_create("dp_cdp parts of a question", 64, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	definition = hash_search(w->definitions, name, HASH_ENTER, &found);
	if (!found)
		definition->text = pnstrdup(w->text.data + start, w->text.len - start);
	(void) dp_fingerprint_cut(w, start);
	PUT("%c%.*s", DP_FINGERPRINT_REFERENCE, (int) sizeof(name), name);
}

const char *
dp_fingerprint_defined(DpFingerprintWriter *w, const char *reference)
{
	Definition *definition = w->definitions ? hash_search(w->definitions, reference, HASH_FIND, NULL) : NULL;

	if (definition == NULL)
		elog(ERROR, "a part of a question was not defined");
	return definition->text;
}

List *
dp_fingerprint_members(DpFingerprintWriter *w, const Const *array, List *texts)
{
	ArrayType  *value = DatumGetArrayTypeP(array->constvalue);
	int16		length;
	bool		byval;
	char		align;
	Datum	   *values;
	bool	   *nulls;
	int			n;

	get_typlenbyvalalign(ARR_ELEMTYPE(value), &length, &byval, &align);
	deconstruct_array(value, ARR_ELEMTYPE(value), length, byval, align, &values, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		int			start = w->text.len;

		dp_fingerprint_value(&w->text, ARR_ELEMTYPE(value), array->constcollid, values[i], nulls[i]);
		texts = lappend(texts, dp_fingerprint_cut(w, start));
	}
	return texts;
}
