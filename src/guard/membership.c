/*-------------------------------------------------------------------------
 *
 * membership.c
 *	  Tests of the inner query whether a row's key is one of the declared ones.
 *
 * Rows of other keys are left out before contributions are bounded, so that
 * they do not use up a unit's groups.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/extension.h"
#include "catalog/pg_type_d.h"
#include "guard/rewrite.h"
#include "nodes/makefuncs.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

static int
domain_size(DpReleaseKey *key)
{
	ArrayType  *domain = DatumGetArrayTypeP(key->domain->constvalue);

	return ArrayGetNItems(ARR_NDIM(domain), ARR_DIMS(domain));
}

/* Makes a test whether the key is in a list that is the parameter of this number. */
static Expr *
make_set_membership(Expr *key, DpReleaseKey *declared, int param)
{
	Oid			args[] = {ANYELEMENTOID, dp_own_type("key_set")};

	return (Expr *) makeFuncExpr(dp_own_routine("is_declared", 2, args), BOOLOID,
								 list_make2(copyObject(key), dp_make_param(param, args[1])),
								 InvalidOid, declared->collation, COERCE_EXPLICIT_CALL);
}

static Expr *
make_list_membership(Expr *key, DpReleaseKey *declared)
{
	ScalarArrayOpExpr *in = makeNode(ScalarArrayOpExpr);
	TypeCacheEntry *type = lookup_type_cache(declared->type, TYPECACHE_EQ_OPR);

	in->opno = type->eq_opr;
	in->opfuncid = get_opcode(type->eq_opr);
	in->useOr = true;
	in->inputcollid = declared->collation;
	/* varchar's equality is text's */
	in->args = list_make2(copyObject(key), copyObject(declared->domain));
	in->location = -1;
	return (Expr *) in;
}

/* Tells whether false, true and NULL are declared: no row has another key. */
static bool
is_every_boolean(DpReleaseKey *key)
{
	return key->type == BOOLOID && key->null_key && domain_size(key) == 2;
}

Expr *
dp_make_membership(Expr *key, DpReleaseKey *declared, int param)
{
	Expr	   *in;
	NullTest   *isnull;

	if (declared->domain == NULL || is_every_boolean(declared))
		return NULL;
	in = domain_size(declared) > DP_LISTED_KEYS ? make_set_membership(key, declared, param)
		: make_list_membership(key, declared);
	if (!declared->null_key)
		return in;
	isnull = makeNode(NullTest);
	isnull->arg = copyObject(key);
	isnull->nulltesttype = IS_NULL;
	isnull->location = -1;
	return makeBoolExpr(OR_EXPR, list_make2(in, isnull), -1);
}
