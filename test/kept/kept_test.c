/*
 * kept_test.c
 *	  Lets t/ledger_kept.pl call what the ledger offers for kept answers
 *	  (src/ledger/kept.h) from SQL.  Built by that test, never installed.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "ledger/kept.h"
#include "ledger/ledger.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(kept_look);
PG_FUNCTION_INFO_V1(kept_debit);
PG_FUNCTION_INFO_V1(kept_keep);
PG_FUNCTION_INFO_V1(kept_used);
PG_FUNCTION_INFO_V1(kept_balances);
PG_FUNCTION_INFO_V1(kept_lock);
PG_FUNCTION_INFO_V1(kept_unlock);
PG_FUNCTION_INFO_V1(kept_lookup);

/* a question is a text, padded */
static void
set_fingerprint(uint8 *fingerprint, text *name)
{
	memset(fingerprint, 0, DP_FINGERPRINT_BYTES);
	memcpy(fingerprint, VARDATA_ANY(name), Min(VARSIZE_ANY_EXHDR(name), DP_FINGERPRINT_BYTES));
}

static void
set_id(DpKeptId *id, text *fingerprint, TimestampTz began, int64 rho, int64 below)
{
	memset(id, 0, sizeof(*id));
	set_fingerprint(id->fingerprint, fingerprint);
	id->began = began;
	id->rho = rho;
	id->below = below;
}

/* (dataset, question, since): a line for each answer: rho below paid_by values */
Datum
kept_look(PG_FUNCTION_ARGS)
{
	uint8		fingerprint[DP_FINGERPRINT_BYTES];
	StringInfoData out;
	DpKeptMoment moment = {0};
	List	   *answers;
	ListCell   *lc;

	set_fingerprint(fingerprint, PG_GETARG_TEXT_PP(1));
	answers = dp_kept_answers(text_to_cstring(PG_GETARG_TEXT_PP(0)), fingerprint, PG_GETARG_TIMESTAMPTZ(2), &moment);
	dp_kept_moment_end(&moment);
	initStringInfo(&out);
	foreach(lc, answers)
	{
		DpKeptAnswer *answer = lfirst(lc);

		appendStringInfo(&out, "%s" INT64_FORMAT " " INT64_FORMAT " {", out.len > 0 ? "; " : "",
						 answer->id.rho, answer->id.below);
		for (int i = 0; i < answer->npaid; i++)
			appendStringInfo(&out, "%s" INT64_FORMAT, i > 0 ? "," : "", answer->paid_by[i]);
		if (answer->values == NULL)
			appendStringInfoString(&out, "} -");
		else if (VARSIZE(answer->values) > 100)
			appendStringInfo(&out, "} %d bytes", (int) VARSIZE(answer->values) - VARHDRSZ);
		else
			appendStringInfo(&out, "} %s", text_to_cstring((struct varlena *) answer->values));
	}
	PG_RETURN_TEXT_P(cstring_to_text(out.data));
}

/*
 * (dataset, rho, question, began, answer rho, below, credit ids, credit amounts): a debit of one
 * item with credits and, where answer rho > 0, one answer
 */
Datum
kept_debit(PG_FUNCTION_ARGS)
{
	DpDebitItem item = {0};
	DpKeptId	id;
	Datum	   *ids,
			   *amounts;
	int			n,
				m;

	item.dataset = text_to_cstring(PG_GETARG_TEXT_PP(0));
	item.rho = PG_GETARG_INT64(1);
	item.aggregates = "dp_count(*)";
	set_id(&id, PG_GETARG_TEXT_PP(2), PG_GETARG_TIMESTAMPTZ(3), PG_GETARG_INT64(4), PG_GETARG_INT64(5));
	if (id.rho > 0)
		item.answers = list_make1(&id);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(6), INT8OID, 8, true, TYPALIGN_DOUBLE, &ids, NULL, &n);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(7), INT8OID, 8, true, TYPALIGN_DOUBLE, &amounts, NULL, &m);
	for (int i = 0; i < n; i++)
	{
		DpCredit   *credit = palloc0(sizeof(DpCredit));

		credit->ledger_id = DatumGetInt64(ids[i]);
		credit->rho = DatumGetInt64(amounts[i]);
		item.credits = lappend(item.credits, credit);
	}
	dp_ledger_debit(list_make1(&item));
	PG_RETURN_VOID();
}

/* (dataset, question, began, rho, below, values) */
Datum
kept_keep(PG_FUNCTION_ARGS)
{
	DpKeptValues value;

	set_id(&value.id, PG_GETARG_TEXT_PP(1), PG_GETARG_TIMESTAMPTZ(2), PG_GETARG_INT64(3), PG_GETARG_INT64(4));
	value.values = (struct varlena *) PG_GETARG_POINTER(5);
	dp_keep_values(text_to_cstring(PG_GETARG_TEXT_PP(0)), list_make1(&value));
	PG_RETURN_VOID();
}

/* (question, began) */
Datum
kept_used(PG_FUNCTION_ARGS)
{
	DpKeptId	id;

	set_id(&id, PG_GETARG_TEXT_PP(0), PG_GETARG_TIMESTAMPTZ(1), 0, 0);
	dp_kept_used(&id);
	PG_RETURN_VOID();
}

/* (dataset): numbers of the budgets, and behind a bar of the cap */
Datum
kept_balances(PG_FUNCTION_ARGS)
{
	int			n;
	DpKeptMoment moment = {0};
	int64	   *ids = dp_payer_balances(text_to_cstring(PG_GETARG_TEXT_PP(0)), &n, &moment);
	StringInfoData out;

	dp_kept_moment_end(&moment);
	initStringInfo(&out);
	for (int i = 0; i <= n; i++)
		appendStringInfo(&out, "%s" INT64_FORMAT, i == n ? "|" : i > 0 ? "," : "", ids[i]);
	PG_RETURN_TEXT_P(cstring_to_text(out.data));
}

Datum
kept_lock(PG_FUNCTION_ARGS)
{
	uint8		fingerprint[DP_FINGERPRINT_BYTES];

	set_fingerprint(fingerprint, PG_GETARG_TEXT_PP(0));
	dp_lock_fingerprint(fingerprint);
	PG_RETURN_VOID();
}

Datum
kept_unlock(PG_FUNCTION_ARGS)
{
	uint8		fingerprint[DP_FINGERPRINT_BYTES];

	set_fingerprint(fingerprint, PG_GETARG_TEXT_PP(0));
	dp_unlock_fingerprint(fingerprint);
	PG_RETURN_VOID();
}

/* (dataset, n): n lookups that find nothing */
Datum
kept_lookup(PG_FUNCTION_ARGS)
{
	const char *dataset = text_to_cstring(PG_GETARG_TEXT_PP(0));
	uint8		fingerprint[DP_FINGERPRINT_BYTES] = {1};

	for (int i = 0; i < PG_GETARG_INT32(1); i++)
	{
		DpKeptMoment moment = {0};

		memcpy(fingerprint, &i, sizeof(i));
		if (dp_kept_answers(dataset, fingerprint, DT_NOBEGIN, &moment) != NIL)
			elog(ERROR, "found something");
		dp_kept_moment_end(&moment);
	}
	PG_RETURN_VOID();
}
