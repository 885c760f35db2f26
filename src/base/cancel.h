/*-------------------------------------------------------------------------
 *
 * cancel.h
 *	  Cancels that are told in words of our own.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_CANCEL_H
#define DP_CANCEL_H

extern bool dp_take_cancel(void);

#endif							/* DP_CANCEL_H */
