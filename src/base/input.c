/*-------------------------------------------------------------------------
 *
 * input.c
 *	  Values from texts that may be no values.
 *
 * Invariant: only what an input function says about its text is caught; errors
 * of any other kind (a cancel, lack of memory) go on.  Input functions hold
 * nothing that an abort would have to give back, so no subtransaction is
 * needed.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/input.h"
#include "fmgr.h"
#include "utils/lsyscache.h"

bool
dp_try_input(const char *text, Oid type, int32 typmod, Datum *value)
{
	MemoryContext caller = CurrentMemoryContext;
	volatile bool known = true;
	Oid			input;
	Oid			ioparam;

	getTypeInputInfo(type, &input, &ioparam);
	PG_TRY();
	{
		*value = OidInputFunctionCall(input, unconstify(char *, text), ioparam, typmod);
	}
	PG_CATCH();
	{
		ErrorData  *edata;

		MemoryContextSwitchTo(caller);
		edata = CopyErrorData();
		if (ERRCODE_TO_CATEGORY(edata->sqlerrcode) != ERRCODE_DATA_EXCEPTION &&
			ERRCODE_TO_CATEGORY(edata->sqlerrcode) != ERRCODE_PROGRAM_LIMIT_EXCEEDED)
			PG_RE_THROW();
		FlushErrorState();
		FreeErrorData(edata);
		known = false;
	}
	PG_END_TRY();
	return known;
}
