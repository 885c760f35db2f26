/*-------------------------------------------------------------------------
 *
 * spec.c
 *	  What the node hands to its inner plan, and catalogue look-ups for it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "noise.h"
#include "release/release.h"
#include "release/release_int.h"
#include "utils/syscache.h"

Oid
dp_internal_type(const char *name)
{
	Oid			type = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, PointerGetDatum(name),
									   ObjectIdGetDatum(dp_internal_schema()));

	if (!OidIsValid(type))
		elog(ERROR, "type dp_cdp.%s does not exist", name);
	return type;
}

Oid
dp_relation_owner(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", relid);
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return owner;
}

void
dp_grid_param(DpGrid *grid, ParamExternData *param)
{
	param->value = PointerGetDatum(grid);
	param->isnull = false;
	param->pflags = 0;
	param->ptype = dp_internal_type("grid");
}

/* the bounding of this execution; its seed decides which groups a unit keeps */
void
dp_bound_spec_param(DpFrozen *frozen, ParamExternData *param)
{
	Size		size = offsetof(DpBoundSpec, value) +
		frozen->ncolumns * sizeof(((DpBoundSpec *) NULL)->value[0]);
	DpBoundSpec *spec = palloc0(size);

	SET_VARSIZE(spec, size);
	spec->nkeys = frozen->nkeys;
	spec->nvalues = frozen->ncolumns;
	spec->max_groups = frozen->max_groups;
	dp_noise_bytes(spec->seed, sizeof(spec->seed));
	for (int i = 0; i < frozen->ncolumns; i++)
	{
		spec->value[i].kind = frozen->columns[i].column->kind;
		spec->value[i].grid = frozen->columns[i].grid;
	}
	param->value = PointerGetDatum(spec);
	param->isnull = false;
	param->pflags = 0;
	param->ptype = dp_internal_type("bound_spec");
}
