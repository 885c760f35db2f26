/*-------------------------------------------------------------------------
 *
 * policy_int.h
 *	  What the files of policy/ share among themselves.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_POLICY_INT_H
#define DP_POLICY_INT_H

#include "base/role_names.h"
#include "policy/policy_admin.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

/* label.c: installs the label provider */
extern void dp_label_init(void);

/* label_text.c: refuses a text that is no label, with ZC004 */
extern void dp_bad_label(const char *text);

/* label_text.c: parses the label of a table, or of a column; ZC004 where the text is none */
extern DpLabel *dp_label_parse(const char *text, bool is_column);

/* label_text.c: the text of a label; NULL: it says nothing */
extern char *dp_label_format(const DpLabel *label);

/* label.c: calls visit for each label of a relation and of its columns, in the order of these */
extern void dp_label_visit(Oid relid, void (*visit) (AttrNumber attnum, const char *label, void *arg), void *arg);

/* function_labels.c: SECURITY LABEL on a function; text NULL: removed */
extern void dp_function_relabel(Oid funcid, const char *text);

/* cache.c: direct parents by pg_inherits, a List of Oids */
extern List *dp_parents(Oid relid);

/* cache.c: the table that a TOAST table is of */
extern Oid	dp_toast_owner(Oid relid);

/* access.c: tells whether SELECT is granted on the table itself, or the role owns it, or is a superuser */
extern bool dp_is_granted_select(Oid relid, Oid roleid);

/* datasets.c: the newest committed state wherever that may be asked for */
extern Snapshot dp_register_latest_snapshot(void);

/* cache.c: installs the callbacks that invalidate it */
extern void dp_cache_init(void);

/* held.c: what a planning holds is returned; what it does not, yet, is looked up, and held from then on */
extern const DpTable *dp_held_table(Oid relid, const DpTable *(*look_up) (Oid relid));
extern bool dp_held_dataset(const char *name, bool (*read) (const char *name, DpDataset *dataset), DpDataset *dataset);

/* ------------------------------------------------------------------------
 * names.c: names that are held
 * ------------------------------------------------------------------------
 */

/* what a query may call a relation */
typedef struct DpRelationName
{
	Oid			schemaid;
	NameData	schema;
	NameData	name;
} DpRelationName;

/*
 * The name of a relation that has rows, is not temporary and not the
 * extension's; false for others.
 * changed: as the running command has left it, not as it was before.
 */
extern bool dp_relation_name(Oid relid, bool changed, DpRelationName *name);

/* name of a schema as the running command has left it; NULL when there is none */
extern char *dp_changed_schema_name(Oid schema);

extern bool dp_same_name(const DpRelationName *a, const DpRelationName *b);

/* schema.name, quoted where needed */
extern char *dp_quote_name(const DpRelationName *name);

/* tells whether a protected table has left the name, and nobody released it since */
extern bool dp_name_is_reserved(const DpRelationName *name);

/* the table that is to take the name by dp_cdp.replace_table; InvalidOid: none */
extern Oid	dp_name_successor(const DpRelationName *name, const char *dataset);

/* all names of a schema that are written down: a List of char * */
extern List *dp_names_in_schema(const char *schema);

/* holds a name for a dataset; successor: see above, InvalidOid leaves it as it is */
extern void dp_name_hold(const DpRelationName *name, const char *dataset, Oid successor);

/* forgets a name as far as it is held, or was released, for a dataset */
extern void dp_name_forget(const DpRelationName *name, const char *dataset);

/* ------------------------------------------------------------------------
 * moves.c: reactions to DDL, for drop.c
 * ------------------------------------------------------------------------
 */

/* a relation or schema was altered, maybe renamed */
extern void dp_moves_relation(Oid relid);
extern void dp_moves_schema(Oid schema);

/* a relation is about to be dropped; was made */
extern void dp_moves_drop(Oid relid);
extern void dp_moves_create(Oid relid);

/* child was attached to parent, or detached from it */
extern void dp_moves_detach(Oid child, Oid parent);


/* ------------------------------------------------------------------------
 * column_values.c
 * ------------------------------------------------------------------------
 */

/* a column, the type of its values, and what its keys may take */
typedef struct DpColumnInfo
{
	Oid			relid;
	AttrNumber	attnum;
	Oid			type;			/* base type */
	int32		typmod;
	Oid			collation;
	int16		typlen;
	bool		typbyval;
	int64		room;
} DpColumnInfo;

/* ------------------------------------------------------------------------
 * known_columns.c
 * ------------------------------------------------------------------------
 */

/* what is remembered of a protected column */
typedef struct DpKnownColumn
{
	AttrNumber	attnum;
	DpLabel    *label;			/* without the keys that it lists; NULL: there
								 * is none */
	bool		has_keys;		/* these are they, as DpColumn has them */
	Datum	   *keys;
	int			nkeys;
	int64		memory;			/* what they take (dp_key_memory) */
} DpKnownColumn;

/* ... and of those of a relation; all 0: nothing */
typedef struct DpKnownColumns
{
	MemoryContext context;
	Size		bytes;			/* of keys */
	List	   *list;			/* DpKnownColumn */
} DpKnownColumns;

/* cache.c: where this is remembered, as long as the relation's policy; NULL: it is not protected */
extern DpKnownColumns *dp_known_columns(Oid relid);

/* cache.c: another number after each invalidation; what was read meanwhile is not to be remembered */
extern uint64 dp_policy_generation(void);

/* NULL: nothing is remembered of the column */
extern DpKnownColumn *dp_known_column(const DpKnownColumns *columns, AttrNumber attnum);

/* Remembers the label of a column of which nothing is; NULL: it has none. */
extern void dp_know_label(DpKnownColumns *columns, AttrNumber attnum, const DpLabel *label);

/* Remembers the keys that the label lists, if that may be; memory: what they take (dp_key_memory). */
extern void dp_know_keys(DpKnownColumns *columns, DpKnownColumn *known, const DpColumn *column, const DpColumnInfo *info,
						 int64 memory);

extern void dp_forget_known_columns(DpKnownColumns *columns);

/* values of a column that were read in a table */
typedef struct DpColumnValues
{
	int			rows;			/* without NULLs */
	Size		bytes;			/* in these */
	bool		null_found;
	Datum	   *values;
	int			n;				/* in values; equal ones are left out when it
								 * grows */
	int			size;
	int64		memory;			/* what they take as keys */
	bool		too_large;		/* more than there is room for: rows are only
								 * counted */
} DpColumnValues;

/*
 * Collects the column's values in a table, with those of its children where
 * they are asked for.  False when they are too many, or cannot all be read here.
 */
extern bool dp_read_column_values(Oid relid, const char *column, bool inherit, const DpColumnInfo *info,
								  DpColumnValues *read);

/* Sorts what was read, and leaves out values that are there already. */
extern void dp_sort_column_values(DpColumnValues *read, const DpColumnInfo *info);

#endif							/* DP_POLICY_INT_H */
