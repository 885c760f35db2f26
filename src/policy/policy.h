/*-------------------------------------------------------------------------
 *
 * policy.h
 *	  What is protected, and how: the cached view of the policy catalogue.
 *
 * A table's policy is a security label of provider "dp_cdp" on the table (its
 * dataset) and on its columns (privacy unit, bounds, keys); labels follow
 * renames, are dumped by pg_dump and vanish with the object.  Everything else
 * (datasets, budgets) is in ordinary tables of schema dp_cdp.
 *
 * A relation is protected when it, or any table it is a partition or
 * inheritance child of, or the table it is the TOAST table of, is labelled.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_POLICY_H
#define DP_POLICY_H

#include "access/attnum.h"
#include "access/transam.h"
#include "base/blocks.h"
#include "datatype/timestamp.h"
#include "nodes/parsenodes.h"
#include "nodes/pg_list.h"
#include "nodes/primnodes.h"
#include "utils/datum.h"
#include "utils/numeric.h"
#include "utils/relcache.h"

typedef enum DpNeighbors
{
	DP_ADD_REMOVE,
	DP_REPLACE_ONE
} DpNeighbors;

/* a column has at most so many declared keys */
#define DP_MAX_DECLARED_KEYS 1000000

/*
 * What a declared key takes, in bytes, at most: in the plan, and in the tables
 * in which it is looked up while rows are read.  One that is not by value is
 * held three times: as it is read, in the plan, and in a copy of that.
 */
#define DP_KEY_MEMORY 120

static inline int64
dp_key_memory(Datum key, bool typbyval, int typlen)
{
	return DP_KEY_MEMORY + (typbyval ? 0 : 3 * (int64) datumGetSize(key, typbyval, typlen));
}

/* policies as one planning reads them */
typedef struct DpHeldPolicies DpHeldPolicies;

/* one protected relation */
typedef struct DpTable
{
	Oid			relid;			/* hash key */
	bool		is_protected;
	Oid			labelled;		/* the relation that bears the label: relid or
								 * an ancestor */
	char		dataset[NAMEDATALEN];
	bool		has_unit;		/* false: each row is a unit, unless ... */
	char		unit[NAMEDATALEN];	/* column name of the unit, else "" */
	int			nthrough;		/* ... > 0: a row belongs to whom the row
								 * belongs to that these columns reference */
	char		through[INDEX_MAX_KEYS][NAMEDATALEN];
	char		block[NAMEDATALEN]; /* column whose time says in which block a
									 * row is, else "": the dataset is without
									 * blocks, or it is that of the row that
									 * "through" references */
} DpTable;

/* policy of one column; palloc'd by dp_policy_column */
typedef struct DpColumn
{
	bool		has_bounds;
	Numeric		lower;			/* of a row's value */
	Numeric		upper;
	bool		has_totals;		/* only with bounds */
	Numeric		total_lower;	/* of a unit's total in a group; 0 is within */
	Numeric		total_upper;
	bool		has_times;		/* bounds of a date, in days, or of a
								 * timestamp, in microseconds, of keytype */
	int64		first;
	int64		last;
	bool		has_keys;		/* declared keys: set_keys, else enum,
								 * boolean, foreign key to an unprotected
								 * table */
	bool		too_large;		/* it has keys, but they take more memory than
								 * was asked for; nkeys: more than so many */
	Datum	   *keys;			/* values of the column's type, in canonical
								 * (btree) order */
	int			nkeys;
	bool		null_key;		/* NULL is a key, too: the column may be NULL */
	Oid			keytype;
} DpColumn;

/* so many tables may lie between a row and whom it belongs to */
#define DP_MAX_PARENTS 16

/* the foreign key by which a table's rows belong to whom those of another belong to */
typedef struct DpParent
{
	Oid			parent;			/* the referenced table */
	Oid			index;			/* that makes its key unique */
	int			n;
	AttrNumber	child[INDEX_MAX_KEYS];	/* columns of the referencing table */
	AttrNumber	key[INDEX_MAX_KEYS];	/* what they reference, ascending */
} DpParent;

/* why a table's rows belong to nobody */
typedef enum DpParentProblem
{
	DP_PARENT_OK,
	DP_PARENT_NO_KEY,
	DP_PARENT_NOT_VALID,
	DP_PARENT_UNPROTECTED,
	DP_PARENT_OTHER_DATASET,
	DP_PARENT_AMBIGUOUS,
	DP_PARENT_TYPES,
	DP_PARENT_INHERITED,
	DP_PARENT_CIRCLE
} DpParentProblem;

/* settings of one dataset, read afresh by every call of dp_policy_dataset */
typedef struct DpDataset
{
	char		name[NAMEDATALEN];
	int64		ledger_id;		/* of the cap; no other dataset of the
								 * database has it, before or after */
	Oid			owner;
	int64		default_rho;	/* amounts of rho */
	int64		max_rho;		/* 0: none */
	int64		default_delta;	/* per key selection, amount of delta */
	int			max_groups;		/* 0: none */
	int			max_rows;		/* 0: none */
	double		max_contribution;	/* rows; DP_FOUND_CONTRIBUTION, 0: none */
	DpNeighbors neighbors;
	int64		min_rho;		/* the least that one aggregate may cost, > 0 */
	int64		answer_step;	/* microseconds; 0: none */
	int			max_failures;	/* of a budget in a day */
	int			release_memory; /* kB; 0: the server's setting alone */
	double		find_bounds;	/* share of an aggregate's price that finding
								 * bounds may cost; 0: they are not found */
	DpBlockLength blocks;		/* budgets and the cap hold in each block; 0:
								 * it is without blocks */
	int64		reuse;			/* microseconds for which an answer is given
								 * again; 0: never */
	TimestampTz forgotten_at;	/* answers that are older have ended;
								 * -infinity */
	bool		reuse_dumped;
	bool		consistent;		/* grouping sets are made to add up */
	bool		pull_rows;		/* the coordinator of a cluster may add up
								 * what others cannot */
	int			min_units;		/* that a group has which is shown, >= 1 */
} DpDataset;

/* the share of default_rho that min_rho is where nobody has set it */
#define DP_MIN_RHO_SHARE 100

/* installs label provider and cache callbacks, from _PG_init */
extern void dp_policy_init(void);

/*
 * NULL when relid is not protected.  The result is valid until the end of the
 * transaction (copy what must live longer).  A policy that contradicts itself
 * (its unit column is gone, two protected parents) has dataset "", which
 * dp_policy_dataset refuses.
 */
extern const DpTable *dp_policy_table(Oid relid);

/*
 * cache.c: some of the relations that are neither protected nor held, each at a place that its OID decides.
 * held.c: what the running planning holds.  For the function below, in a few instructions.
 */
#define DP_RECENT_UNPROTECTED 64
extern Oid	dp_recent_unprotected[DP_RECENT_UNPROTECTED];
extern DpHeldPolicies *dp_held_policies;

/*
 * Tells at once that a relation is neither protected nor held, and needs no transaction; false: dp_policy_table may say
 * so all the same.  While policies are held, it knows this of catalogues alone.
 */
static inline bool
dp_is_known_unprotected(Oid relid)
{
	return relid < FirstNormalObjectId ||
		(dp_recent_unprotected[relid % DP_RECENT_UNPROTECTED] == relid && dp_held_policies == NULL);
}

/*
 * held.c: dp_hold_policies lets the functions of this file give each policy as they
 * find it first, from now on.  dp_let_go_policies ends that, goes back to what was
 * held before, which the former returns, and tells whether any of it has changed.
 * dp_suspend_policies goes over to what was held elsewhere (NULL: nothing),
 * and returns what is held; who catches an error goes back by it.
 */
extern DpHeldPolicies *dp_hold_policies(void);
extern bool dp_let_go_policies(DpHeldPolicies *before);
extern DpHeldPolicies *dp_suspend_policies(DpHeldPolicies *instead);

/*
 * held.c: dp_held_note_unwatched notes that what is planned depends on what may change without an invalidation: labels
 * of an enum, values of a public column, settings.  dp_policies_read_unwatched tells whether it does, where policies are
 * held.
 */
extern void dp_held_note_unwatched(void);
extern bool dp_policies_read_unwatched(void);

/* ------------------------------------------------------------------------
 * through.c: tables whose rows belong to people through a foreign key
 * ------------------------------------------------------------------------
 */

/* Finds the foreign key of a protected table with nthrough > 0; parent is filled where it is DP_PARENT_OK. */
extern DpParentProblem dp_policy_parent(Oid relid, DpParent *parent);

/* The same for columns that nothing declares yet, for rows of dataset. */
extern DpParentProblem dp_find_parent(Oid relid, const char *dataset, int n, char (*columns)[NAMEDATALEN],
									  DpParent *parent);

/*
 * Counts the tables between the rows of relid and what names their units: 0
 * for one that needs no foreign key.  at: the table with the problem.
 */
extern DpParentProblem dp_policy_chain(Oid relid, int *length, Oid *at);

/*
 * Returns the column of a protected table that has the unit of each row, or NULL
 * where the row is nobody's: its unit, or the column of its foreign key that
 * references the unit of the next table, of the same type and equality.  Invalid:
 * there is none.  A table further up has none for it: a plan that reads none of
 * those between would not depend on its policy.
 */
extern AttrNumber dp_policy_unit_column(Oid relid);

/* Returns the problem in words, after "but"; at: the table that has it. */
extern char *dp_parent_complaint(DpParentProblem problem, Oid at);

/* Returns the columns as they stand in messages: a, b */
extern char *dp_policy_through(const DpTable *table);

/* Returns the tables of a dataset whose rows belong to people through a table: a List of Oids. */
extern List *dp_policy_children(Oid relid, const char *dataset);

/*
 * Tells whether a relation is not protected, but bears a name under which a
 * table was (names.c).
 */
extern bool dp_policy_is_reserved(Oid relid);

/*
 * Tells whether this session has met a relation whose name is reserved: false spares the
 * question for each relation after dp_policy_table was asked for all.
 */
extern bool dp_policy_any_held(void);

/* warns of relations that took a reserved name in the statement that ends (moves.c) */
extern void dp_report_taken_names(void);

/*
 * Policy of a column of a protected table, by the column's number in relid.
 * Always returns a struct (has_bounds = has_keys = false if nothing is
 * declared).  Reads the referenced table for foreign keys, with the latest
 * snapshot, where reader may: the keys are shown to him.  InvalidOid: they are
 * shown to the table's owner.  The keys may take so many bytes (dp_key_memory),
 * room, and are not read beyond.
 */
extern DpColumn *dp_policy_column(Oid relid, AttrNumber attnum, Oid reader, int64 room);

/* policy of a column as above, without its keys: reads no table */
extern DpColumn *dp_policy_bounds(Oid relid, AttrNumber attnum);

/* bytes of a digest of labels, a SHA-256 */
#define DP_POLICY_DIGEST_BYTES 32

/* Returns a digest of the labels of a relation and of its columns, as they are written, with the columns' names. */
extern void dp_policy_digest(Oid relid, uint8 *digest);

/*
 * proof.c: dp_policy_proof returns from which policy of tables and dataset a price
 * follows, in one text; dp_policy_is_proved tells whether that is the policy here and
 * now, also on another copy of the database.  ZC004 where there is no such dataset here.
 */
extern char *dp_policy_proof(const DpDataset *dataset, List *relids);
extern bool dp_policy_is_proved(const char *dataset, const char *proof);

/* not_null.c: tells whether no row of a table, or of what inherits from it, has NULL in a column: constraints or its type say so */
extern bool dp_column_is_not_null(Oid relid, AttrNumber attnum);

/* not_null.c: returns what the CHECK constraints say of all rows of a table, and of what inherits from it */
extern List *dp_checks_of(Relation rel);

/* Tells whether columns of the type, or of a domain over it, can have declared bounds. */
extern bool dp_type_has_bounds(Oid type);

/* Tells whether these are dates, or timestamps with or without time zone. */
extern bool dp_type_is_time(Oid type);

/*
 * Keys of a column of a table that is not protected: the values that reader
 * finds in it (inherit: and in its children).  has_keys is false where reader
 * may not read it, or they are too many.  room: as above.
 */
extern DpColumn *dp_policy_public_column(Oid relid, AttrNumber attnum, bool inherit, Oid reader, int64 room);

/*
 * In place: canonical order without duplicates; returns how many remain, -1
 * for a type without order.
 */
extern int	dp_sort_keys(Oid type, Oid collation, Datum *values, int n);

/*
 * function_labels.c: functions that a superuser has added to those that may be used
 * on rows.  Says nothing about whether they are fit for it (guard/vet/added.c).
 */
extern bool dp_function_is_added(Oid funcid);
extern List *dp_added_functions(void);

/* adds or removes one; superusers only, 42501 */
extern void dp_function_add(Oid funcid, bool add);

/* ZC004 when there is no such dataset */
extern DpDataset *dp_policy_dataset(const char *name);

/* tells whether a role that holds a budget in the dataset (NULL: in any) passes the test */
extern bool dp_policy_any_budget(const char *dataset, bool (*test) (Oid role, void *arg), void *arg);

/* ------------------------------------------------------------------------
 * access.c: who is asking
 * ------------------------------------------------------------------------
 */

/*
 * Both session_user and current_user hold SELECT on the table, and row-level
 * security does not deny either of them everything.  Only then is a query
 * left alone.  In a foreign-key check on behalf of somebody who holds no
 * budget current_user alone is asked: it is no question of an analyst.
 */
extern bool dp_may_read(Oid relid);

/* the same of a role, whoever asks now */
extern bool dp_role_may_read(Oid relid, Oid roleid);

/* tells whether row-level security is enabled on a table, whomever it lets pass */
extern bool dp_has_row_security(Oid relid);

/*
 * tells that current_user may read the table by itself, and the role that has
 * logged in, which SET ROLE does not change, may not
 */
extern bool dp_login_may_not_read(Oid relid);

/* tells whether row-level security lets a role that holds SELECT see any row; InvalidOid: PUBLIC */
extern bool dp_policies_let_read(Oid relid, Oid roleid);

/* Tells whether session_user or current_user holds a budget, or can become a role that does. */
extern bool dp_asks_as_analyst(void);

/*
 * A sequence tells how many rows its table has ever had, so that it is read
 * with the right to read the table.
 */
extern Oid	dp_table_of_sequence(RangeTblEntry *rte);

#endif							/* DP_POLICY_H */
