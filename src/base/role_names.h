/*-------------------------------------------------------------------------
 *
 * role_names.h
 *	  Whether a role is still the one whose OID was written down.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_ROLE_NAMES_H
#define DP_ROLE_NAMES_H

#include "nodes/pg_list.h"

/* provider of this extension's security labels */
#define DP_LABEL_PROVIDER "dp_cdp"

/*
 * The role that a row of the ledger means by an OID and the name that the
 * role had when the row was written: InvalidOid when there is none any more.
 * Without a name the OID is believed.
 */
extern Oid	dp_known_role(Oid role, const char *name);

/* the name for a row that is being written; palloc'd, NULL: there is no such role */
extern char *dp_role_name(Oid role);

/* tells whether text can be a label of a role: an array of names */
extern bool dp_role_label_is_sound(const char *text);

/* keeps the name that a role has in a label of the role, called while it is renamed */
extern void dp_role_note_rename(Oid role);

/* OIDs in rows that mean one of these roles under another OID: a List of Oids, with the meant ones in "is" */
extern List *dp_role_aliases(List **is);

#endif							/* DP_ROLE_NAMES_H */
