/*-------------------------------------------------------------------------
 *
 * clock.h
 *	  Time that nobody sets, for how long something takes; and the server's clock
 *	  as far as it is believed, for what renews or ends.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_CLOCK_H
#define DP_CLOCK_H

#include "datatype/timestamp.h"

/* remembers what the clock says at the server's start, from _PG_init while shared_preload_libraries is processed */
extern void dp_clock_init(void);

/* microseconds since the machine was started; the same in all processes, never 0 */
extern int64 dp_uptime(void);

/* how long a moment of dp_uptime is past, in milliseconds */
static inline int64
dp_ms_since(int64 moment)
{
	return (dp_uptime() - moment) / 1000;
}

/* The time: the server's clock, unless that was set ahead while the server ran. */
extern TimestampTz dp_now(void);

/* how far it was set ahead, in microseconds; 0: it was not, or was accepted */
extern int64 dp_clock_ahead(void);

/* has it believed from now on, for all processes */
extern void dp_clock_accept(void);

#endif							/* DP_CLOCK_H */
