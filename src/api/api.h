/*-------------------------------------------------------------------------
 *
 * api.h
 *	  What the administration functions share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_API_H
#define DP_API_H

#include "policy/policy_int.h"

/* one row of dp_cdp.dataset, in accounting units */
typedef struct DpDatasetRow
{
	char		name[NAMEDATALEN];
	Oid			owner;
	bool		has_rho_limit;
	int64		rho_limit;
	bool		spent;			/* rho_spent or delta_spent > 0 */
	int64		delta_limit;
	int64		default_rho;
	int64		max_rho;		/* 0: none */
	int64		default_delta;
	int			max_groups;
	int			max_rows;
	char	   *neighbors;
} DpDatasetRow;

/* how a function holds the dataset it works on */
typedef enum DpDatasetLock
{
	DP_LOCK_REFERENCE,			/* only keeps it from being dropped */
	DP_LOCK_CHANGE
} DpDatasetLock;

/*
 * Between begin and end, statements run as the owner of the extension, and
 * SPI is connected.  The functions have search_path pinned in their
 * definition; an error restores user and SPI with the (sub)transaction.
 */
typedef struct DpApiContext
{
	Oid			userid;
	int			security;
} DpApiContext;

extern void dp_api_begin(DpApiContext *context);
extern void dp_api_end(DpApiContext *context);

/*
 * One statement with parameters; the number of rows.  writes: it changes or
 * deletes rows that the ledger guards.
 */
extern uint64 dp_api_execute(const char *sql, int nargs, Oid *types, Datum *values,
							 const char *nulls, bool writes);

/* the text of an argument, ZC004 when it is NULL */
extern char *dp_api_dataset_name(FunctionCallInfo fcinfo, int argno);

/*
 * Reads and locks a dataset, inside dp_api_begin/end.  ZC004 when there is
 * none, 42501 when user does not own it.
 */
extern DpDatasetRow *dp_api_dataset(const char *name, Oid user, DpDatasetLock lock);

/* keeps a role from being dropped until the end of the transaction; ZC004 when there is none */
extern void dp_api_lock_role(Oid role, const char *parameter);

#endif							/* DP_API_H */
