/*-------------------------------------------------------------------------
 *
 * extension.h
 *	  The extension in the catalogues, and the objects that belong to it.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_EXTENSION_H
#define DP_EXTENSION_H

#include "fmgr.h"

/* true when CREATE EXTENSION dp_cdp was run in this database; cheap */
extern bool dp_extension_installed(void);

/*
 * the schema of what users call and read, and of the ledger's tables; and that
 * of functions, types and views which only the extension itself uses
 */
#define DP_SCHEMA "dp_cdp"
#define DP_INTERNAL_SCHEMA "dp_cdp_internal"

/*
 * OIDs of the extension, of both schemas and of the schema of the dp_*
 * aggregates; InvalidOid where it is not installed.
 */
extern Oid	dp_extension_oid(void);
extern Oid	dp_own_schema(void);
extern Oid	dp_internal_schema(void);
extern Oid	dp_public_schema(void);

/* tells whether it is one of the two; false where the extension is not installed */
extern bool dp_is_own_schema(Oid schema);

/* InvalidOid where it is not installed */
extern Oid	dp_extension_owner(void);
extern Oid	dp_owner_of_extension(Oid extension);

/*
 * ZC004 where this library and the extension's objects are of different
 * versions; nothing where it is not installed, nor in its scripts.  Functions
 * whose arguments differ between versions ask before they read them.
 */
extern void dp_check_version(void);

/* tells whether an object is a member of the extension; cheap once it was */
extern bool dp_is_own(Oid classid, Oid objid);

/*
 * the C function behind a function of the extension; NULL of any other.  Looks
 * nothing up of PostgreSQL's own, and loads no other library.
 */
extern PGFunction dp_own_c_function(Oid funcid);

/*
 * Members of the extension by their names.  An object of that name which is
 * no member is none: it may be anybody's who may create in the schema.
 */

/* a table of schema dp_cdp_internal; InvalidOid when there is none, ZC004 when it is of another version */
extern Oid	dp_own_table(const char *name);

/* a type of schema dp_cdp_internal; internal error when there is none */
extern Oid	dp_own_type(const char *name);

/*
 * a function or aggregate of schema dp_cdp_internal, or of the schema of the dp_*
 * aggregates, by the types that it was declared with; 42883
 */
extern Oid	dp_own_routine(const char *name, int nargs, const Oid *argtypes);
extern Oid	dp_public_routine(const char *name, int nargs, const Oid *argtypes);

/* a strict function in C of schema dp_cdp_internal, not of a set, with that result; 42883 */
extern Oid	dp_own_function(const char *name, int nargs, const Oid *argtypes, Oid result);

/* an aggregate of schema dp_cdp_internal with that result; 42883 */
extern Oid	dp_own_aggregate(const char *name, int nargs, const Oid *argtypes, Oid result);

#endif							/* DP_EXTENSION_H */
