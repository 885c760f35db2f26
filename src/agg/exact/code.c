/*-------------------------------------------------------------------------
 *
 * code.c
 *	  The code of a value, of 64 bits, by which different values are told apart.
 *
 * Invariants: values that are equal have equal codes; others have equal codes with probability
 * 2^-64 for each pair, which is far below the noise and costs no privacy: a
 * unit still adds at most m codes.  No value raises an error.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "agg/bounding/state.h"
#include "base/compat.h"
#include "base/errors.h"

PG_FUNCTION_INFO_V1(dp_code);

/* where the codes of values start from */
#define CODE_SEED UINT64CONST(0x6a09e667f3bcc909)

bool
dp_code_supported(Oid type)
{
	TypeCacheEntry *cache = lookup_type_cache(type, TYPECACHE_HASH_PROC |
											  TYPECACHE_HASH_EXTENDED_PROC);

	return type != RECORDOID && OidIsValid(cache->hash_proc) &&
		OidIsValid(cache->hash_extended_proc);
}

/* longer values have no code, where hashing them needs memory: texts of nondeterministic collations */
#define MOST_HASHED ((Size) 16 * 1024 * 1024)

typedef struct CodeCall
{
	DpKeyInfo	info;
	Oid			base_type;
} CodeCall;

static CodeCall *
code_call_init(FunctionCallInfo fcinfo)
{
	CodeCall   *call = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(CodeCall));
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, 0);

	if (!OidIsValid(type) || !dp_code_supported(type) ||
		!dp_key_info_init(&call->info, type, PG_GET_COLLATION(), fcinfo->flinfo->fn_mcxt))
		dp_raise(NOT_RELEASABLE,
				 errmsg("cannot count distinct values of type %s: the type has no hash function of 64 bits; cast them to text or numeric",
						format_type_be(type)));
	call->base_type = getBaseType(type);
	fcinfo->flinfo->fn_extra = call;
	return call;
}

static inline bool
is_nan(Datum x, Oid type)
{
	switch (type)
	{
		case FLOAT4OID:
			return isnan(DatumGetFloat4(x));
		case FLOAT8OID:
			return isnan(DatumGetFloat8(x));
		case NUMERICOID:
			return numeric_is_nan(DatumGetNumeric(x));
		default:
			return false;
	}
}

/* code(anyelement) -> bigint returns a hash; strict; NaN counts as NULL, and so does a value that is too long. */
Datum
dp_code(PG_FUNCTION_ARGS)
{
	CodeCall   *call = fcinfo->flinfo->fn_extra;
	DpKey		key;
	uint64		hash;

	if (unlikely(call == NULL))
		call = code_call_init(fcinfo);
	if (is_nan(PG_GETARG_DATUM(0), call->base_type))
		PG_RETURN_NULL();
	if (call->info.class == DP_KEY_GENERIC && call->info.typlen == -1 &&
		dp_key_bytes(PG_GETARG_DATUM(0), -1) > MOST_HASHED)
		PG_RETURN_NULL();
	hash = dp_key_hash(&call->info, PG_GETARG_DATUM(0), &key, CODE_SEED);
	PG_RETURN_INT64((int64) dp_mix(hash ^ CODE_SEED));
}
