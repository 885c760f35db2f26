/*-------------------------------------------------------------------------
 *
 * constants.h
 *	  Arguments that must be constants: which values are good.
 *
 * The same test is made of a constant when the query is checked, where it can
 * be explained, and by the safe variants at run time for parameters, where
 * a bad value gives NULL.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_CONSTANTS_H
#define DP_CONSTANTS_H

#include "datatype/timestamp.h"

/* Knows the fields of extract and date_part that type has; the name in any case. */
extern bool dp_field_is_good(const char *name, int len, Oid type);

/* Knows the precisions of date_trunc. */
extern bool dp_trunc_is_good(const char *name, int len, Oid type);

/* Knows names of the time zone database, and POSIX specifications. */
extern bool dp_zone_is_good(const char *name, int len);

/* Tells whether no string can make the pattern of LIKE fail. */
extern bool dp_like_is_good(const char *pattern, int len);

/*
 * Tells what to write instead of a regular expression that cannot be read in linear
 * time, or by which no part of a string can be found; NULL: it can.
 */
extern const char *dp_regex_problem(const char *regex, int len, bool part);

/* Tells which flags of regexp_replace to give instead of others; NULL: these are taken. */
extern const char *dp_regex_flags_problem(const char *flags, int len);

/* Tells whether date_bin takes a stride: of days and time alone, longer than 0; sets *length to its microseconds. */
extern bool dp_stride_is_good(const Interval *stride, int64 *length);

/* Tells whether every part of a template of to_char is known to succeed for every timestamp. */
extern bool dp_format_is_good(const char *format, int len);

#endif							/* DP_CONSTANTS_H */
