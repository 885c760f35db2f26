/*-------------------------------------------------------------------------
 *
 * clock.c
 *	  Time that nobody sets, for how long something takes; and the server's clock
 *	  as far as it is believed, for what renews or ends.
 *
 * The server's clock (GetCurrentTimestamp) is stepped: by administrators, NTP,
 * hosts of virtual machines.  Durations by it are too long then, or
 * nothing.  dp_uptime counts from the start of the machine, also while that
 * sleeps, where the kernel tells it.
 *
 * Budgets renew by the date, which only the clock tells.  A clock that goes
 * ahead without time having passed would renew them before their time.  So
 * dp_now remembers by how much clock and uptime differ at the server's start.
 * Where the clock is more than SLACK beyond that, time goes on as before, until
 * somebody accepts the clock or the server is started again: how long it was off
 * nothing but the clock can tell.  A clock that is set back is believed, and
 * again when it catches up.
 *
 * Invariants:
 *	- dp_now is never later than the clock;
 *	- what is remembered is the postmaster's, and outlives a restart after a
 *	  crash: memory that its children share.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/mman.h>
#include <time.h>

#include "port/atomics.h"
#include "utils/timestamp.h"

#include "base/clock.h"

/*
 * how far ahead a clock may go that nobody sets, at once and by the time that
 * has passed: clocks are a little fast or slow, and corrected
 */
#define SLACK USECS_PER_HOUR
#define SLACK_PER_TIME 1000

typedef struct Start
{
	pg_atomic_uint64 clock;		/* TimestampTz */
	pg_atomic_uint64 uptime;
} Start;

/* NULL: the library was not loaded with the server, and nothing is debited */
static Start *start = NULL;

void
dp_clock_init(void)
{
	start = mmap(NULL, sizeof(Start), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (start == MAP_FAILED)
		ereport(FATAL,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("could not map shared memory: %m")));
	pg_atomic_init_u64(&start->clock, GetCurrentTimestamp());
	pg_atomic_init_u64(&start->uptime, dp_uptime());
}

int64
dp_uptime(void)
{
	struct timespec now = {0, 0};

#ifdef CLOCK_BOOTTIME
	if (clock_gettime(CLOCK_BOOTTIME, &now) != 0)
#endif
		(void) clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64) now.tv_sec * USECS_PER_SEC + now.tv_nsec / 1000 + 1;
}

/* Returns how far the clock is ahead of what the server's start and the time since then explain. */
static int64
ahead_of(TimestampTz now)
{
	int64		passed;
	int64		ahead;

	if (start == NULL)
		return 0;
	passed = dp_uptime() - (int64) pg_atomic_read_u64(&start->uptime);
	ahead = now - (int64) pg_atomic_read_u64(&start->clock) - passed;
	return ahead > SLACK + passed / SLACK_PER_TIME ? ahead : 0;
}

int64
dp_clock_ahead(void)
{
	return ahead_of(GetCurrentTimestamp());
}

TimestampTz
dp_now(void)
{
	TimestampTz now = GetCurrentTimestamp();

	return now - ahead_of(now);
}

/* Whoever reads between the two stores takes the clock for a little ahead, or for right. */
void
dp_clock_accept(void)
{
	if (start == NULL)
		return;
	pg_atomic_write_u64(&start->uptime, dp_uptime());
	pg_memory_barrier();
	pg_atomic_write_u64(&start->clock, GetCurrentTimestamp());
}
