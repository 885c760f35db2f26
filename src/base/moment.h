/*-------------------------------------------------------------------------
 *
 * moment.h
 *	  Whether the database may have changed since something was read in it.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_MOMENT_H
#define DP_MOMENT_H

/* all 0: none */
typedef struct DpMoment
{
	uint64		completed;		/* transactions that had ended */
	CommandId	command;		/* of the own transaction */
	TransactionId own;			/* which may have written */
} DpMoment;

/*
 * Sets the moment before something is read with the latest snapshot; to none
 * where that may not be remembered.
 */
extern void dp_moment_note(DpMoment *moment);

/* Tells whether what was read after the moment was noted is what would be read now; never of none. */
extern bool dp_moment_lasts(const DpMoment *moment);

#endif							/* DP_MOMENT_H */
