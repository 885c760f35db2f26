/*-------------------------------------------------------------------------
 *
 * clock.h
 *	  Time that nobody sets, for how long something takes.
 *
 * The server's clock (GetCurrentTimestamp) is stepped by administrators, NTP
 * and hosts of virtual machines; what is measured by it lasts too long then,
 * or no time at all.  This one counts from the start of the machine, also while
 * that sleeps, where the kernel tells it, and is the same in all processes.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_CLOCK_H
#define DP_CLOCK_H

#include <time.h>

#include "datatype/timestamp.h"

/* a moment, in microseconds; never 0 */
static inline int64
dp_uptime(void)
{
	struct timespec now = {0, 0};

#ifdef CLOCK_BOOTTIME
	if (clock_gettime(CLOCK_BOOTTIME, &now) != 0)
#endif
		(void) clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * USECS_PER_SEC + now.tv_nsec / 1000 + 1;
}

/* how long a moment is past, in milliseconds */
static inline int64
dp_ms_since(int64 moment)
{
	return (dp_uptime() - moment) / 1000;
}

#endif							/* DP_CLOCK_H */
