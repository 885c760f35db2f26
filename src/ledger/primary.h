/*-------------------------------------------------------------------------
 *
 * primary.h
 *	  A standby's way to the server that pays for its answers: what primary.c
 *	  does for the ledger, and what module dp_cdp_primary does for primary.c.
 *
 * The module knows libpq, and is loaded by the first debit that needs it, so
 * that servers which are no standby do not have libpq.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_PRIMARY_H
#define DP_PRIMARY_H

#include "fmgr.h"

#include "ledger/ledger_int.h"

/* ------------------------------------------------------------------------
 * primary.c
 * ------------------------------------------------------------------------
 */

/* tells whether dp_cdp.primary_conninfo says who pays for what a standby answers */
extern bool dp_primary_pays(void);

/* has the primary debit all items, and returns when that is durable there; else an error */
extern void dp_primary_debit(List *items, const DpOrder *order);

/*
 * Says to the primary that a release which it has debited begins to read
 * rows, and how that ended.  The first is an error where it is not heard.  The
 * others raise none: whom the primary loses meanwhile has failed, for it.
 */
extern void dp_primary_reads(const DpDebitItem *item, Oid role);
extern void dp_primary_has_read(void);
extern void dp_primary_failed(int *failures, int *most);

/* ------------------------------------------------------------------------
 * module dp_cdp_primary
 * ------------------------------------------------------------------------
 */

typedef enum DpCallOutcome
{
	DP_CALL_NOT_SENT,			/* there is no connection (any more) */
	DP_CALL_DONE,
	DP_CALL_REFUSED,			/* the other server raised an error */
	DP_CALL_LOST				/* it may have been done */
} DpCallOutcome;

/* all of it palloc'd */
typedef struct DpCall
{
	DpCallOutcome outcome;
	char	   *value;			/* DONE: the first column of the first row;
								 * NULL: it is, or there is none */
	char	   *cause;			/* NOT_SENT, LOST: for the log alone */
	/* REFUSED */
	char	   *sqlstate;
	char	   *message;
	char	   *detail;
	char	   *hint;
} DpCall;

/* what is called at each wake while the other server is waited for; sent: it may have the request */
typedef void (*DpWhileWaiting) (bool sent);

typedef struct DpPrimaryMethods
{
	/*
	 * The module's.  It stands first in every version, since a server that
	 * goes on with a former library may find the module of a newer package.
	 */
	const char *version;

	/*
	 * opens the session's only connection; returns why that was not possible,
	 * palloc'd, or NULL
	 */
	char	   *(*connect) (const char *conninfo, const char *database, const char *name, int timeout,
							DpWhileWaiting waiting);

	/*
	 * Calls with parameters of unknown type; a connection that was lost, or
	 * whose answer has not come in time, is closed.  So it is after errors of
	 * waiting(), which pass through.
	 */
	void		(*call) (const char *sql, int n, const char *const *values, int timeout, DpWhileWaiting waiting,
						 DpCall *call);
	void		(*close) (void);

	/*
	 * returns the process that serves the connection, as it was told when
	 * that was made
	 */
	int			(*backend) (void);
} DpPrimaryMethods;

/* the only symbol of the module */
#define DP_PRIMARY_MODULE "$libdir/dp_cdp_primary"
#define DP_PRIMARY_SYMBOL "dp_primary_methods"
typedef const DpPrimaryMethods *(*DpPrimaryMethodsFunction) (void);

#endif							/* DP_PRIMARY_H */
