/*-------------------------------------------------------------------------
 *
 * attempt.h
 *	  What may fail without the statement failing.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_ATTEMPT_H
#define DP_ATTEMPT_H

#include "postgres.h"

typedef void (*DpAttempt) (void *context);

extern ErrorData *dp_attempt(DpAttempt action, void *context);

#endif							/* DP_ATTEMPT_H */
