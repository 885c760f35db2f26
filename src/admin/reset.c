/*-------------------------------------------------------------------------
 *
 * reset.c
 *	  Options of a dataset by name: alter_dataset puts them back to their
 *	  defaults, and tells which it has changed.
 *
 * Invariants:
 *	- a default is what create_dataset takes where an option is left out:
 *	  dp_admin_default_options is the one place that says so.
 *	- an option is reset or given a value, never both in one call.
 *	- checks of a value hold for a default, too: resets come before them.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "admin/admin.h"
#include "base/amounts.h"
#include "base/errors.h"
#include "base/settings.h"

void
dp_admin_default_options(DpDatasetRow *row)
{
	row->has_rho_limit = false;
	row->rho_limit = 0;
	row->delta_limit = DP_DELTA_ONE / 1000000;
	row->default_rho = DP_RHO_ONE / 100;
	row->max_rho = 0;
	row->max_groups = 0;
	row->max_rows = 0;
	row->neighbors = "add_remove";
	row->default_delta = 0;
	row->min_rho = 0;
	row->max_failures = 20;
	row->answer_step = NULL;
	row->release_memory = 0;
	row->find_bounds = DP_USUAL_BOUNDS_SHARE;
	row->reuse = 0;
	row->reuse_dumped = false;
	row->consistent = false;
	row->pull_rows = false;
	row->key_delta_share = 0.1;
	row->max_contribution = 0;
	row->min_units = 1;
}

void
dp_admin_check_neighbors(const DpDatasetRow *row, const char *neighbors)
{
	if (row->spent && strcmp(neighbors, row->neighbors) != 0)
		dp_raise(BAD_PARAMETER,
				 errmsg("neighbors of dataset \"%s\" cannot change after a release: create another dataset",
						row->name),
				 errdetail("The rho that was spent has another meaning under the other relation."));
}

/* an option, the argument of alter_dataset that it is, and where a row of a dataset has it */
typedef struct Option
{
	const char *name;
	int			argument;
	size_t		place;
	size_t		size;
} Option;

#define OPTION(name, argument, field) \
	{name, argument, offsetof(DpDatasetRow, field), sizeof(((DpDatasetRow *) NULL)->field)}

static const Option options[] = {
	OPTION("rho", 1, has_rho_limit),
	OPTION("delta", 2, delta_limit),
	OPTION("default_rho", 3, default_rho),
	OPTION("max_rho", 4, max_rho),
	OPTION("max_groups", 5, max_groups),
	OPTION("max_rows", 6, max_rows),
	OPTION("neighbors", 7, neighbors),
	OPTION("default_delta", 8, default_delta),
	OPTION("min_rho", 10, min_rho),
	OPTION("max_failures", 11, max_failures),
	OPTION("answer_step", 12, answer_step),
	OPTION("release_memory", 13, release_memory),
	OPTION("find_bounds", 14, find_bounds),
	OPTION("reuse", 15, reuse),
	OPTION("reuse_dumped", 16, reuse_dumped),
	OPTION("consistent", 17, consistent),
	OPTION("pull_rows", 18, pull_rows),
	OPTION("key_delta_share", 19, key_delta_share),
	OPTION("max_contribution", 20, max_contribution),
	OPTION("min_units", 22, min_units),
};

static const Option *
option_of(const char *name)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < lengthof(options); i++)
	{
		if (strcmp(options[i].name, name) == 0)
			return &options[i];
		appendStringInfo(&names, "%s%s", i > 0 ? ", " : "", options[i].name);
	}
	dp_raise(BAD_PARAMETER,
			 errmsg("\"%s\" is no option of a dataset that can be reset: name some of %s", name, names.data));
	return NULL;				/* keep compiler quiet */
}

void
dp_admin_reset_options(FunctionCallInfo fcinfo, int arg, DpDatasetRow *row)
{
	DpDatasetRow defaults;
	Datum	   *names;
	bool	   *nulls;
	int			n;

	if (PG_ARGISNULL(arg))
		return;
	dp_admin_default_options(&defaults);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(arg), TEXTOID, -1, false, TYPALIGN_INT, &names, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		const Option *option = option_of(nulls[i] ? "NULL" : TextDatumGetCString(names[i]));

		if (!PG_ARGISNULL(option->argument))
			dp_raise(BAD_PARAMETER,
					 errmsg("option \"%s\" is reset and given a value: leave one of the two out", option->name));
		if (option->place == offsetof(DpDatasetRow, neighbors))
			dp_admin_check_neighbors(row, defaults.neighbors);
		memcpy((char *) row + option->place, (char *) &defaults + option->place, option->size);
	}
}

char *
dp_admin_options_that_differ(void)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "array_remove(ARRAY[");
	for (int i = 0; i < lengthof(options); i++)
	{
		const char *name = options[i].name;

		/* limits have names of their own in the table, beside what is spent */
		const char *limit = strcmp(name, "rho") == 0 || strcmp(name, "delta") == 0 ? "_limit" : "";

		/* one that is not set is a share of default_rho */
		const char *follows = strcmp(name, "min_rho") == 0 ? " OR d.min_rho IS NULL AND d.default_rho <> old.default_rho" : "";

		appendStringInfo(&sql, "CASE WHEN d.%s%s IS DISTINCT FROM old.%s%s%s THEN '%s' END, ", name, limit, name, limit, follows, name);
	}
	appendStringInfoString(&sql, "CASE WHEN d.owner <> old.owner THEN 'new_owner' END], NULL)");
	return sql.data;
}
