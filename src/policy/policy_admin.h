/*-------------------------------------------------------------------------
 *
 * policy_admin.h
 *	  How policies are read and written label by label, for admin/.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_POLICY_ADMIN_H
#define DP_POLICY_ADMIN_H

#include "nodes/pg_list.h"
#include "policy/policy.h"

/*
 * One security label, parsed.  On a table: dataset, and unit (whether a column
 * bears the unit) or through (how many columns reference what does), and
 * block (whether a column says in which block of time a row is).  On a
 * column: unit or through, block, bounds, totals, keys.
 */
typedef struct DpLabel
{
	AttrNumber	attnum;			/* 0: the table itself */
	char	   *dataset;
	char	   *id;				/* of a table: tells this policy from others
								 * that say the same; NULL: nothing does */
	bool		unit;
	int			through;		/* columns of the foreign key; of a column: 1 */
	bool		block;			/* it says in which block of time a row is; of
								 * a table: one of its columns does */
	bool		has_bounds;
	Numeric		lower;			/* of a row's value */
	Numeric		upper;
	bool		has_totals;		/* only with bounds */
	Numeric		total_lower;	/* of a unit's total in a group; 0 is within */
	Numeric		total_upper;
	char	   *first;			/* bounds of dates and times, in ISO form;
								 * NULL: none */
	char	   *last;
	bool		has_keys;
	int			nkeys;
	char	  **keys;			/* text of the column's base type; NULL: the
								 * NULL group */
} DpLabel;

/* label.c */

/* all labels of a relation: a List of DpLabel *, table first if it has one */
extern List *dp_label_list(Oid relid);

/* label of a column (attnum > 0) or table (0), NULL when there is none */
extern DpLabel *dp_label_get(Oid relid, AttrNumber attnum);

/* writes or, with nothing to say, removes a label; privileges are the caller's business */
extern void dp_label_put(Oid relid, AttrNumber attnum, const DpLabel *label);

/* returns an identity for the label of a table that gets a policy, DP_POLICY_ID_DIGITS hexadecimal digits */
#define DP_POLICY_ID_DIGITS 16
extern char *dp_new_policy_id(void);

/* gives the policy of a table, if it has a label of its own, a new identity */
extern void dp_label_renew(Oid relid);

/* relids of all tables labelled as members of a dataset; NULL: of any */
extern List *dp_label_tables(const char *dataset);

/* tells every session to forget what it knows and has planned about a table */
extern void dp_policy_invalidate(Oid relid);

/* protectable.c */

/*
 * ZC004 when the relation cannot be protected: wrong kind, or an ancestor or
 * descendant other than itself bears a label.
 */
extern void dp_check_protectable(Oid relid);

/* moves.c */

/* the name of a table is not reserved for the dataset: it was protected, or unprotected on purpose */
extern void dp_policy_name_settled(Oid relid, const char *dataset);

/* the name of table old is held for new, which is to take it */
extern void dp_policy_name_passes(Oid old, Oid new, const char *dataset);

/* cache.c */

/* labelled relations among relid's ancestors, not itself: a List of Oids */
extern List *dp_labelled_ancestors(Oid relid);

/* datasets.c */

/* owner of a dataset; InvalidOid when there is no such dataset */
extern Oid	dp_dataset_owner(const char *name);

/* in an ereport: the detail that names the owner of a dataset, where there is one */
extern int	dp_owner_detail(Oid owner);

/* column_keys.c */

/*
 * ZC004 when values of the column cannot serve as unit or keys: no btree
 * order or hash equality, or a collation in which different strings are equal.
 * "what" goes into the message.
 */
extern void dp_check_comparable(Oid type, Oid collation, const char *column, const char *what);

/*
 * Between these two, output functions write text that input functions read
 * back under any settings.
 */
extern int	dp_begin_portable_text(void);
extern void dp_end_portable_text(int level);

#endif							/* DP_POLICY_ADMIN_H */
