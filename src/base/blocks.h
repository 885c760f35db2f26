/*-------------------------------------------------------------------------
 *
 * blocks.h
 *	  Blocks of time: which of them a day is in, and ranges of days.
 *
 * A dataset with blocks keeps its promise for each person and block.  Blocks
 * are whole months or whole days, counted from 2000-01-01; times with a zone
 * are in the block of their day in UTC.  The first block begins at -infinity,
 * and has what has no day: NULL and -infinity.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_BLOCKS_H
#define DP_BLOCKS_H

#include "datatype/timestamp.h"
#include "utils/date.h"

/* how long a block is; one of the two is above 0, or there are no blocks */
typedef struct DpBlockLength
{
	int32		months;
	int32		days;
} DpBlockLength;

/* days from "from" on and before "to", as a rule starts of blocks; -infinity and infinity at the ends */
typedef struct DpDays
{
	DateADT		from;
	DateADT		to;
} DpDays;

#define DP_ALL_DAYS ((DpDays) {DATEVAL_NOBEGIN, DATEVAL_NOEND})

/* Tells whether blocks may be that long: whole months or whole days, above 0 and at most 100 years. */
extern bool dp_block_length(const Interval *interval, DpBlockLength *length);

static inline bool
dp_has_blocks(const DpBlockLength *length)
{
	return length->months > 0 || length->days > 0;
}

/* Returns the day on which the block of a day begins, and that on which the next one does. */
extern DateADT dp_block_start(DateADT day, const DpBlockLength *length);
extern DateADT dp_block_end(DateADT day, const DpBlockLength *length);

/* Returns the day, in UTC, of a date or of a timestamp with or without time zone. */
extern DateADT dp_day_of(Datum value, Oid type);

/*
 * Returns the first and the last value of such a type on a day, which may be
 * -infinity or infinity.
 */
extern Datum dp_first_of_day(DateADT day, Oid type);
extern Datum dp_last_before_day(DateADT day, Oid type);

/* Returns a day as text, in ISO form. */
extern char *dp_day_text(DateADT day);

/* Returns the days of blocks in words: "all", "from 2024-01-01", "2024-01-01 to 2024-03-01" (that not included). */
extern char *dp_days_text(DpDays days);

#endif							/* DP_BLOCKS_H */
