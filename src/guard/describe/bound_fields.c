/*-------------------------------------------------------------------------
 *
 * bound_fields.c
 *	  Between which numbers fields of dates and times are.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "guard/describe/describe.h"
#include "parser/scansup.h"
#include "utils/builtins.h"
#include "utils/datetime.h"

/* between what a field of a date or time is, with a scale that says what it is a multiple of */
static const struct
{
	int			field;
	const char *lowest;
	const char *highest;
}			field_ranges[] = {
	{DTK_MICROSEC, "0", "60000000"}, {DTK_MILLISEC, "0.000", "60000.000"}, {DTK_SECOND, "0.000000", "60.000000"},
	{DTK_MINUTE, "0", "59"}, {DTK_HOUR, "0", "24"}, {DTK_DAY, "1", "31"}, {DTK_MONTH, "1", "12"}, {DTK_QUARTER, "1", "4"},
	{DTK_WEEK, "1", "53"}, {DTK_DOW, "0", "6"}, {DTK_ISODOW, "1", "7"}, {DTK_DOY, "1", "366"}
};

bool
dp_bound_field_range(int field, const char **lowest, const char **highest)
{
	for (int i = 0; i < lengthof(field_ranges); i++)
		if (field_ranges[i].field == field)
		{
			*lowest = field_ranges[i].lowest;
			*highest = field_ranges[i].highest;
			return true;
		}
	return false;
}

int
dp_bound_field(Const *name)
{
	char	   *word;
	int			kind;
	int			field;

	if (!IsA(name, Const) || name->constisnull || name->consttype != TEXTOID)
		return -1;
	word = TextDatumGetCString(name->constvalue);
	word = downcase_identifier(word, strlen(word), false, true);
	kind = DecodeUnits(0, word, &field);
	if (kind == UNKNOWN_FIELD)
		kind = DecodeSpecial(0, word, &field);
	return kind == UNITS || (kind == RESERV && field == DTK_EPOCH) ? field : -1;
}
