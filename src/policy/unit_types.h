/*-------------------------------------------------------------------------
 *
 * unit_types.h
 *	  Which types the column that names a privacy unit may have, and by which
 *	  operators its values are compared on rows.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_UNIT_TYPES_H
#define DP_UNIT_TYPES_H

#include "postgres.h"

/* Returns why values of a type cannot name units, after "because"; NULL: they can. */
extern const char *dp_unit_type_problem(Oid type);

/* Tells whether a type is citext, or a domain over it: its values are equal whatever the case of their letters. */
extern bool dp_is_citext(Oid type);

/* Returns what the module citext calls a function of its own, or the function of PostgreSQL that it has under a name of its own; else NULL. */
extern const char *dp_citext_function(Oid funcid);

/* Returns the type as which values are read on rows, and sets *typmod: that below a domain; text for citext. */
extern Oid	dp_type_as_read(Oid type, int32 *typmod);

/* Tells whether an operator may group, sort and join values of units: PostgreSQL's own, and those of citext. */
extern bool dp_is_unit_operator(Oid opno);

/*
 * Tells whether a column of a protected table names units, or is in a foreign
 * key to what does, or is in a unique index of all rows: values of the last two are short.
 */
extern bool dp_leads_to_unit(Oid relid, AttrNumber attnum);

#endif							/* DP_UNIT_TYPES_H */
