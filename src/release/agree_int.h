/*-------------------------------------------------------------------------
 *
 * agree_int.h
 *	  What agree.c and agreed_rows.c share.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_AGREE_INT_H
#define DP_AGREE_INT_H

#include "math/marginals.h"
#include "release/release.h"
#include "release/release_int.h"

/* one aggregate in all sets */
typedef struct DpAgreedColumn
{
	int			columns[DP_MAX_MARGINALS];	/* of each release */
	dp_marginals marginals;
	int			exponent;		/* of the grid that its answers agree on */
	bool		waits;			/* limits are to be found, and noise with them */
	int			decimals;		/* that answers are shown with, which make
								 * them agree; 0: they agree in steps */
} DpAgreedColumn;

/* the sets of one query that agree */
typedef struct DpAgreement
{
	int			n;
	DpPricedRelease *sets[DP_MAX_MARGINALS];
	DpRun	   *runs[DP_MAX_MARGINALS]; /* NULL: nothing is run */
	List	   *columns;		/* DpAgreedColumn */
	bool		has_begun;
	bool		has_ended;
} DpAgreement;

/* agreed_rows.c: replaces what was drawn of the sets, and their released rows, by answers that agree; in context */
extern void dp_agree_rows(DpAgreement *a, MemoryContext context);

#endif							/* DP_AGREE_INT_H */
