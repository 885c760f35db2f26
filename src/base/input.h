/*-------------------------------------------------------------------------
 *
 * input.h
 *	  Values from texts that may be no values.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_INPUT_H
#define DP_INPUT_H

/* the value that text stands for; false if the type has no such value */
extern bool dp_try_input(const char *text, Oid type, int32 typmod, Datum *value);

#endif							/* DP_INPUT_H */
