/*-------------------------------------------------------------------------
 *
 * time_fields.c
 *	  Fields of dates and times: between which numbers they are, and by which
 *	  units they divide time.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "guard/describe/describe.h"
#include "guard/describe/time_cells.h"
#include "parser/scansup.h"
#include "utils/builtins.h"
#include "utils/datetime.h"

static const DpTimeField fields[] = {
	{NULL, DTK_MICROSEC, "0", "60000000"}, {NULL, DTK_MILLISEC, "0.000", "60000.000"}, {NULL, DTK_SECOND, "0.000000", "60.000000"},
	{"minute", DTK_MINUTE, "0", "59", DP_UNIT_MINUTE}, {"hour", DTK_HOUR, "0", "24", DP_UNIT_HOUR},
	{"day", DTK_DAY, "1", "31", DP_UNIT_DAY}, {"dow", DTK_DOW, "0", "6", DP_UNIT_DAY},
	{"isodow", DTK_ISODOW, "1", "7", DP_UNIT_DAY}, {"doy", DTK_DOY, "1", "366", DP_UNIT_DAY},
	{"week", DTK_WEEK, "1", "53", DP_UNIT_WEEK}, {"month", DTK_MONTH, "1", "12", DP_UNIT_MONTH},
	{"quarter", DTK_QUARTER, "1", "4", DP_UNIT_QUARTER}, {"isoyear", DTK_ISOYEAR, NULL, NULL, DP_UNIT_WEEK, true},
	{"year", DTK_YEAR, NULL, NULL, DP_UNIT_YEAR, true}, {"decade", DTK_DECADE, NULL, NULL, DP_UNIT_YEAR, true},
	{"century", DTK_CENTURY, NULL, NULL, DP_UNIT_YEAR, true}, {"millennium", DTK_MILLENNIUM, NULL, NULL, DP_UNIT_YEAR, true}
};

const DpTimeField *
dp_time_field_of_name(const char *name)
{
	for (int i = 0; name != NULL && i < lengthof(fields); i++)
		if (fields[i].name != NULL && pg_strcasecmp(name, fields[i].name) == 0)
			return &fields[i];
	return NULL;
}

const DpTimeField *
dp_time_field(int field)
{
	for (int i = 0; i < lengthof(fields); i++)
		if (fields[i].field == field)
			return &fields[i];
	return NULL;
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
