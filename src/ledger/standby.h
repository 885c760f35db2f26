/*-------------------------------------------------------------------------
 *
 * standby.h
 *	  Debits that a standby asks for, on their way: what primary.c writes and
 *	  admin/standby.c reads, and what the primary's side of it asks of the ledger.
 *
 * Each is an array of texts; those of items have a row for each item.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_STANDBY_H
#define DP_STANDBY_H

#include "ledger/ledger.h"

/* the server that asks */
typedef enum DpOriginField
{
	DP_ORIGIN_NAME,				/* cluster_name */
	DP_ORIGIN_VERSION,			/* of the library */
	DP_ORIGIN_SYSTEM,			/* identifier */
	DP_ORIGIN_TIMELINE,			/* that it replays */
	DP_ORIGIN_DATABASE,			/* OID */
	DP_ORIGIN_FIELDS
} DpOriginField;

/* the session that asks */
typedef enum DpAskerField
{
	DP_ASKER_SESSION_ROLE,		/* OIDs and names */
	DP_ASKER_SESSION_NAME,
	DP_ASKER_ROLE,
	DP_ASKER_ROLE_NAME,
	DP_ASKER_APPLICATION,
	DP_ASKER_CLIENT,
	DP_ASKER_QUERY,				/* or NULL */
	DP_ASKER_FIELDS
} DpAskerField;

/* what it asks for: a DpDebitItem */
typedef enum DpItemField
{
	DP_ITEM_DATASET,
	DP_ITEM_RHO,				/* amounts */
	DP_ITEM_DELTA,
	DP_ITEM_AGGREGATES,
	DP_ITEM_GROUPS,
	DP_ITEM_SIGMA,
	DP_ITEM_TABLES,
	DP_ITEM_FROM,				/* days of blocks; NULL: none */
	DP_ITEM_TO,
	DP_ITEM_POLICY,				/* NULL: no policy has to do with it */
	DP_ITEM_FIELDS
} DpItemField;

/* on whose behalf; strings must last as long as the call */
typedef struct DpAsker
{
	Oid			session_role;
	Oid			role;
	const char *application;
	const char *client;
	const char *query;			/* NULL: none */
} DpAsker;

/* client.c: as dp_ledger_debit, for a session of another server; who may ask so is the caller's business */
extern void dp_ledger_debit_as(List *items, const DpAsker *asker);

/*
 * failure.c: a release of another server's session begins to read rows, and has
 * read them.  If this process ends between the two, it has failed.  What is
 * handed over is copied.
 */
extern void dp_ledger_standby_reads(const DpAsker *asker, const DpDebitItem *item);
extern void dp_ledger_standby_has_read(bool failed, int *failures, int *most);

#endif							/* DP_STANDBY_H */
