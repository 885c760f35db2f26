/*-------------------------------------------------------------------------
 *
 * constants.c
 *	  Arguments that must be constants: which values are good.
 *
 * Invariant: with an argument found good here, the safe variants (and, for
 * LIKE, the built-ins) raise no error whatever the other arguments are.  The
 * lists are deliberately shorter than what PostgreSQL understands: only names
 * that mean the same in every supported version.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "base/compat.h"
#include "catalog/pg_type_d.h"
#include "pgtime.h"
#include "safe/constants.h"

/* kinds of values that have fields */
#define DP_OF_DATE		0x01
#define DP_OF_TIME		0x02
#define DP_OF_TIMESTAMP 0x04
#define DP_OF_TIMESTAMPTZ 0x08
#define DP_OF_INTERVAL	0x10
#define DP_OF_STAMPS	(DP_OF_TIMESTAMP | DP_OF_TIMESTAMPTZ)
#define DP_OF_DAYS		(DP_OF_DATE | DP_OF_STAMPS)

typedef struct DpField
{
	const char *name;
	int			of;
} DpField;

static const DpField dp_fields[] = {
	{"century", DP_OF_DAYS | DP_OF_INTERVAL},
	{"day", DP_OF_DAYS | DP_OF_INTERVAL},
	{"decade", DP_OF_DAYS | DP_OF_INTERVAL},
	{"dow", DP_OF_DAYS},
	{"doy", DP_OF_DAYS},
	{"epoch", DP_OF_DAYS | DP_OF_TIME | DP_OF_INTERVAL},
	{"hour", DP_OF_STAMPS | DP_OF_TIME | DP_OF_INTERVAL},
	{"isodow", DP_OF_DAYS},
	{"isoyear", DP_OF_DAYS},
	{"julian", DP_OF_DAYS},
	{"microseconds", DP_OF_STAMPS | DP_OF_TIME | DP_OF_INTERVAL},
	{"millennium", DP_OF_DAYS | DP_OF_INTERVAL},
	{"milliseconds", DP_OF_STAMPS | DP_OF_TIME | DP_OF_INTERVAL},
	{"minute", DP_OF_STAMPS | DP_OF_TIME | DP_OF_INTERVAL},
	{"month", DP_OF_DAYS | DP_OF_INTERVAL},
	{"quarter", DP_OF_DAYS | DP_OF_INTERVAL},
	{"second", DP_OF_STAMPS | DP_OF_TIME | DP_OF_INTERVAL},
	{"timezone", DP_OF_TIMESTAMPTZ},
	{"timezone_hour", DP_OF_TIMESTAMPTZ},
	{"timezone_minute", DP_OF_TIMESTAMPTZ},
	{"week", DP_OF_DAYS},
	{"year", DP_OF_DAYS | DP_OF_INTERVAL},
	{NULL, 0}
};

static const DpField dp_truncs[] = {
	{"century", DP_OF_STAMPS | DP_OF_INTERVAL},
	{"day", DP_OF_STAMPS | DP_OF_INTERVAL},
	{"decade", DP_OF_STAMPS | DP_OF_INTERVAL},
	{"hour", DP_OF_STAMPS | DP_OF_INTERVAL},
	{"microseconds", DP_OF_STAMPS | DP_OF_INTERVAL},
	{"millennium", DP_OF_STAMPS | DP_OF_INTERVAL},
	{"milliseconds", DP_OF_STAMPS | DP_OF_INTERVAL},
	{"minute", DP_OF_STAMPS | DP_OF_INTERVAL},
	{"month", DP_OF_STAMPS | DP_OF_INTERVAL},
	{"quarter", DP_OF_STAMPS | DP_OF_INTERVAL},
	{"second", DP_OF_STAMPS | DP_OF_INTERVAL},
	{"week", DP_OF_STAMPS},
	{"year", DP_OF_STAMPS | DP_OF_INTERVAL},
	{NULL, 0}
};

/*
 * Parts of a template.  Longer before shorter.  Not here: TM (a limit on the
 * length of a locale's names), zones (depend on settings), Roman numerals and
 * ordinal suffixes.
 */
static const char *const dp_format_parts[] = {
	"IYYY", "iyyy", "YYYY", "yyyy", "HH24", "hh24", "HH12", "hh12", "Month", "MONTH", "month", "IDDD", "iddd",
	"Mon", "MON", "mon", "Day", "DAY", "day", "DDD", "ddd", "Dy", "DY", "dy", "YY", "yy", "MM", "mm", "DD", "dd",
	"HH", "hh", "MI", "mi", "SS", "ss", "MS", "ms", "US", "us", "WW", "ww", "IW", "iw", "ID", "id", "AM", "am", "PM", "pm",
	"Q", "q", "D", "d", "W", "w", NULL
};

static bool
in_list(const DpField *list, const char *name, int len, Oid type)
{
	int			of;

	switch (type)
	{
		case DATEOID:
			of = DP_OF_DATE;
			break;
		case TIMEOID:
			of = DP_OF_TIME;
			break;
		case TIMESTAMPOID:
			of = DP_OF_TIMESTAMP;
			break;
		case TIMESTAMPTZOID:
			of = DP_OF_TIMESTAMPTZ;
			break;
		case INTERVALOID:
			of = DP_OF_INTERVAL;
			break;
		default:
			return false;
	}
	for (; list->name; list++)
	{
		if ((list->of & of) && strlen(list->name) == len && pg_strncasecmp(list->name, name, len) == 0)
			return true;
	}
	return false;
}

bool
dp_field_is_good(const char *name, int len, Oid type)
{
	return in_list(dp_fields, name, len, type);
}

bool
dp_trunc_is_good(const char *name, int len, Oid type)
{
	return in_list(dp_truncs, name, len, type);
}

bool
dp_zone_is_good(const char *name, int len)
{
	char		buf[TZ_STRLEN_MAX + 1];

	/*
	 * the built-ins try abbreviations first, then this; so they find one or
	 * the other
	 */
	if (len == 0 || len > TZ_STRLEN_MAX || memchr(name, 0, len) != NULL)
		return false;
	memcpy(buf, name, len);
	buf[len] = '\0';
	return pg_tzset(buf) != NULL;
}

bool
dp_like_is_good(const char *pattern, int len)
{
	int			i;

	/* no server encoding has a backslash byte inside another character */
	for (i = 0; i < len; i++)
	{
		if (pattern[i] == '\\' && ++i == len)
			return false;
	}
	return true;
}

bool
dp_format_is_good(const char *format, int len)
{
	const char *end = format + len;

	if (len == 0 || len > 100)
		return false;
	while (format < end)
	{
		const char *const *part;

		/* digits and punctuation stand for themselves */
		if (*format == ' ' || (*format >= '0' && *format <= '9') ||
			(*format != '"' && *format != '\\' && !IS_HIGHBIT_SET(*format) && ispunct((unsigned char) *format)))
		{
			format++;
			continue;
		}
		if (*format == '"')
		{
			/* literal text, without escapes */
			while (++format < end && *format != '"')
			{
				if (*format == '\\' || IS_HIGHBIT_SET(*format))
					return false;
			}
			if (format++ == end)
				return false;
			continue;
		}
		/* without padding */
		if (end - format > 2 && (strncmp(format, "FM", 2) == 0 || strncmp(format, "fm", 2) == 0))
			format += 2;
		for (part = dp_format_parts; *part; part++)
		{
			if (strlen(*part) <= end - format && strncmp(*part, format, strlen(*part)) == 0)
				break;
		}
		if (*part == NULL)
			return false;
		format += strlen(*part);
		/* a suffix changes the meaning of a part */
		if (format < end - 1 && (pg_strncasecmp(format, "th", 2) == 0 || pg_strncasecmp(format, "sp", 2) == 0))
			return false;
	}
	return true;
}

bool
dp_stride_is_good(const Interval *stride, int64 *length)
{
	if (dp_interval_is_infinite(stride) || stride->month != 0)
		return false;
	return !__builtin_mul_overflow((int64) stride->day, USECS_PER_DAY, length) &&
		!__builtin_add_overflow(*length, stride->time, length) && *length > 0;
}
