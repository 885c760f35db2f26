/*-------------------------------------------------------------------------
 *
 * like.c
 *	  LIKE, ILIKE and their negations on raw rows.
 *
 * Invariant: for every argument the result is that of the built-in operator,
 * or NULL where that would raise an error, where the pattern ends with the
 * escape character or the collation is nondeterministic, or where a string is longer than DP_MAX_READ.
 *
 * The built-in matcher recurses for every % of the pattern and fails where
 * the stack ends: whether it does depends on the row.  This one keeps the
 * place of the last % alone.  That is enough: what stands before it has been
 * matched as far to the left as possible, so that nothing is gained by
 * matching it further to the right.
 *
 * The planner evaluates these on statistics, too: they bear the built-ins'
 * support functions, by which it also finds indexes.
 *
 * All are strict, and harmless to call by hand: they take time in the order
 * of the product of both lengths, look for interrupts, and constant stack.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "catalog/pg_collation.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "safe/constants.h"
#include "safe/safe.h"
#include "utils/formatting.h"
#include "utils/lsyscache.h"

/* how characters follow each other */
typedef enum DpLikeMode
{
	DP_LIKE_BYTES,				/* one byte each */
	DP_LIKE_UTF8,				/* continuation bytes are no others */
	DP_LIKE_MULTIBYTE			/* the first byte tells the length */
} DpLikeMode;

/* Returns the character after t, which is before end. */
static pg_attribute_always_inline const char *
like_next(const char *t, const char *end, DpLikeMode mode)
{
	switch (mode)
	{
		case DP_LIKE_UTF8:
			do
				t++;
			while (t < end && (*t & 0xC0) == 0x80);
			return t;
		case DP_LIKE_MULTIBYTE:
			{
				int			len = pg_encoding_mblen(GetDatabaseEncoding(), t);

				return len < end - t ? t + len : end;
			}
		case DP_LIKE_BYTES:
			break;
	}
	return t + 1;
}

/* Returns the first character from t on that begins with byte, or NULL. */
static pg_attribute_always_inline const char *
like_find(const char *t, const char *end, char byte, DpLikeMode mode)
{
	if (mode != DP_LIKE_MULTIBYTE)
		return t < end ? memchr(t, (unsigned char) byte, end - t) : NULL;
	for (; t < end; t = like_next(t, end, mode))
		if (*t == byte)
			return t;
	return NULL;
}

/* Matches a pattern that is good: no escape character ends it. */
static pg_attribute_always_inline bool
like_match_mode(const char *t, int tlen, const char *p, int plen, DpLikeMode mode)
{
	const char *const tend = t + tlen;
	const char *const pend = p + plen;
	const char *retry_p = NULL; /* after the last %: no wildcard */
	const char *retry_t = NULL; /* where that was tried */

	for (;;)
	{
		if (p == pend)
		{
			if (t == tend)
				return true;
		}
		else if (*p == '%')
		{
			for (; p < pend && (*p == '%' || *p == '_'); p++)
			{
				if (*p == '%')
					continue;
				if (t == tend)
					return false;
				t = like_next(t, tend, mode);
			}
			if (p == pend)
				return true;
			retry_p = p;
			t = retry_t = like_find(t, tend, *p == '\\' ? p[1] : *p, mode);
			if (t == NULL)
				return false;
			continue;
		}
		else if (t == tend)
		{
			/* further to the right, there is even less text */
			return false;
		}
		else if (*p == '_')
		{
			t = like_next(t, tend, mode);
			p++;
			continue;
		}
		else
		{
			/* within a character, text and pattern go on in step */
			const char *literal = *p == '\\' ? p + 1 : p;

			if (*literal == *t)
			{
				p = literal + 1;
				t++;
				continue;
			}
		}

		/* no match: the last % takes one character more */
		CHECK_FOR_INTERRUPTS();
		if (retry_p == NULL)
			return false;
		retry_t = like_next(retry_t, tend, mode);
		t = retry_t = like_find(retry_t, tend, *retry_p == '\\' ? retry_p[1] : *retry_p, mode);
		p = retry_p;
		if (t == NULL)
			return false;
	}
}

static bool
like_match(const char *t, int tlen, const char *p, int plen)
{
	if (pg_database_encoding_max_length() == 1)
		return like_match_mode(t, tlen, p, plen, DP_LIKE_BYTES);
	if (GetDatabaseEncoding() == PG_UTF8)
		return like_match_mode(t, tlen, p, plen, DP_LIKE_UTF8);
	return like_match_mode(t, tlen, p, plen, DP_LIKE_MULTIBYTE);
}

bool
dp_collation_has_like(Oid collation)
{
	static Oid	good = InvalidOid;

	if (collation == DEFAULT_COLLATION_OID || collation == C_COLLATION_OID || collation == good)
		return true;
	if (!OidIsValid(collation) || !get_collation_isdeterministic(collation))
		return false;
	good = collation;
	return true;
}

static bool
like_is_matchable(FunctionCallInfo fcinfo)
{
	text	   *pattern;

	if (!dp_collation_has_like(PG_GET_COLLATION()) || dp_value_bytes(PG_GETARG_DATUM(1)) > DP_MAX_READ)
		return false;
	pattern = PG_GETARG_TEXT_PP(1);
	return dp_like_is_good(VARDATA_ANY(pattern), VARSIZE_ANY_EXHDR(pattern));
}

#define DP_TRY_LIKE(name, result) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	text	   *pattern; \
	text	   *arg; \
	bool		matches; \
	if (dp_value_bytes(PG_GETARG_DATUM(0)) > DP_MAX_READ || !like_is_matchable(fcinfo)) \
		PG_RETURN_NULL(); \
	pattern = PG_GETARG_TEXT_PP(1); \
	arg = PG_GETARG_TEXT_PP(0); \
	matches = like_match(VARDATA_ANY(arg), VARSIZE_ANY_EXHDR(arg), \
							VARDATA_ANY(pattern), VARSIZE_ANY_EXHDR(pattern)); \
	PG_FREE_IF_COPY(arg, 0); \
	PG_FREE_IF_COPY(pattern, 1); \
	PG_RETURN_BOOL(result); \
} \
StaticAssertDecl(true, "")

DP_TRY_LIKE(like_text, matches);
DP_TRY_LIKE(not_like_text, !matches);

#define DP_TRY_LIKE_NAME(name, result) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	Name		arg = PG_GETARG_NAME(0); \
	text	   *pattern; \
	bool		matches; \
	if (!like_is_matchable(fcinfo)) \
		PG_RETURN_NULL(); \
	pattern = PG_GETARG_TEXT_PP(1); \
	matches = like_match(NameStr(*arg), strlen(NameStr(*arg)), \
							VARDATA_ANY(pattern), VARSIZE_ANY_EXHDR(pattern)); \
	PG_FREE_IF_COPY(pattern, 1); \
	PG_RETURN_BOOL(result); \
} \
StaticAssertDecl(true, "")

DP_TRY_LIKE_NAME(like_name, matches);
DP_TRY_LIKE_NAME(not_like_name, !matches);

/*
 * Matches both strings in lower case, as the built-in has them in every
 * encoding but those of one byte; there, it folds character by character, to
 * the same end.
 */
static bool
ilike(const char *arg, int len, const text *pattern, Oid collation)
{
	char	   *folded = str_tolower(arg, len, collation);
	char	   *folded_pattern = str_tolower(VARDATA_ANY(pattern), VARSIZE_ANY_EXHDR(pattern), collation);
	bool		matches;

	/*
	 * lower case does not end in an escape character where the pattern does
	 * not
	 */
	matches = like_match(folded, strlen(folded), folded_pattern, strlen(folded_pattern));
	pfree(folded);
	pfree(folded_pattern);
	return matches;
}

#define DP_TRY_ILIKE(name, result) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	text	   *pattern; \
	text	   *arg; \
	bool		matches; \
	if (dp_value_bytes(PG_GETARG_DATUM(0)) > DP_MAX_READ || !like_is_matchable(fcinfo)) \
		PG_RETURN_NULL(); \
	pattern = PG_GETARG_TEXT_PP(1); \
	arg = PG_GETARG_TEXT_PP(0); \
	matches = ilike(VARDATA_ANY(arg), VARSIZE_ANY_EXHDR(arg), pattern, PG_GET_COLLATION()); \
	PG_FREE_IF_COPY(arg, 0); \
	PG_FREE_IF_COPY(pattern, 1); \
	PG_RETURN_BOOL(result); \
} \
StaticAssertDecl(true, "")

DP_TRY_ILIKE(ilike_text, matches);
DP_TRY_ILIKE(not_ilike_text, !matches);

#define DP_TRY_ILIKE_NAME(name, result) \
PG_FUNCTION_INFO_V1(dp_try_##name); \
Datum \
dp_try_##name(PG_FUNCTION_ARGS) \
{ \
	Name		arg = PG_GETARG_NAME(0); \
	text	   *pattern; \
	bool		matches; \
	if (!like_is_matchable(fcinfo)) \
		PG_RETURN_NULL(); \
	pattern = PG_GETARG_TEXT_PP(1); \
	matches = ilike(NameStr(*arg), strlen(NameStr(*arg)), pattern, PG_GET_COLLATION()); \
	PG_FREE_IF_COPY(pattern, 1); \
	PG_RETURN_BOOL(result); \
} \
StaticAssertDecl(true, "")

DP_TRY_ILIKE_NAME(ilike_name, matches);
DP_TRY_ILIKE_NAME(not_ilike_name, !matches);
