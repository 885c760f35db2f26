/*-------------------------------------------------------------------------
 *
 * kept_wider.c
 *	  Kept answers of a release given to who asks for some of its groups.
 *
 * A condition that looks at nothing but the keys does not change what rows a group
 * has, it leaves out groups.  So where the guard has described a release without
 * such conditions (DpRelease.wider), and columns of it are kept and
 * paid for at the price that is asked, their groups are shown from there.  They are the
 * answer to the wider question: its bounds on groups of a unit hold, and its noise.
 *
 * Where all columns are there, nothing is run.  Otherwise those that are have the groups that are
 * asked for taken out of them, and stand beside what is bought.
 *
 * Nothing is ever bought of a wider release: a column of it that is
 * missing, or owed, is bought as it was asked for, as if there was no other.
 *
 * Invariants:
 * - Each group that was asked for satisfies all conditions that the wider release
 *	 does without, and is a group of it.  Otherwise it is not given: a group that the
 *	 conditions empty would be shown with its rows.
 * - What is looked at are questions, payments, keys and time; no protected row.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/attempt.h"
#include "base/compat.h"
#include "base/errors.h"
#include "executor/executor.h"
#include "release/kept_int.h"
#include "utils/guc.h"

/* a wider release that is priced, which may fail where the other does not */
typedef struct PriceWider
{
	DpRelease  *release;
	EState	   *estate;
	const char *timezone;
	DpPricedRelease *priced;
} PriceWider;

static void
price_wider(void *context)
{
	PriceWider *p = context;

	p->priced = dp_price_release(p->release, p->estate, NULL,
								 dp_find_key_tuples(p->release, p->estate, NULL, p->timezone));
}

/* Prices a wider release; NULL: it could not be asked for, as for too many groups. */
static DpPricedRelease *
try_price(DpRelease *release, EState *estate, const char *timezone)
{
	PriceWider	p = {.release = release, .estate = estate, .timezone = timezone};
	ErrorData  *error = dp_attempt(price_wider, &p);

	if (error == NULL)
		return p.priced;
	if (error->sqlerrcode != ERRCODE_DP_NOT_RELEASABLE && error->sqlerrcode != ERRCODE_DP_BAD_PARAMETER)
		ThrowErrorData(error);
	return NULL;
}

/* Returns the statement's parameters, and room for the keys after them. */
static ParamListInfo
params_with_keys(const DpRelease *release, EState *estate)
{
	ParamListInfo asked = estate->es_param_list_info;
	int			nasked = asked ? asked->numParams : 0;
	int			n = Max(release->first_param + list_length(release->keys) - 1, nasked);
	ParamListInfo params = makeParamList(n);

	memset(params->params, 0, n * sizeof(ParamExternData));
	for (int i = 0; i < Min(nasked, release->first_param - 1); i++)
	{
		ParamExternData workspace;
		ParamExternData *p = asked->paramFetch ? asked->paramFetch(asked, i + 1, false, &workspace) : &asked->params[i];

		params->params[i] = *p;
	}
	foreach_ptr(DpReleaseKey, key, release->keys)
		params->params[release->first_param - 1 + foreach_current_index(key)].ptype = key->type;
	return params;
}

/*
 * Tells whether each group that is asked for is one of the wider release, and satisfies what that does without.
 * places: set to where each is among the wider's groups; NULL: nobody wants to know.
 */
static bool
has_groups(const DpPricedRelease *asked, const DpPricedRelease *wider, EState *estate, const char *timezone, int64 **places)
{
	DpKeyTable *all = dp_key_table_create(wider->release, wider->tuples, true);
	DpKeyTable *some = dp_key_table_create(asked->release, asked->tuples, false);
	ParamListInfo params = params_with_keys(asked->release, estate);
	ParamExternData *key = params->params + asked->release->first_param - 1;
	Datum	   *values = palloc(asked->nkeys * sizeof(Datum));
	bool	   *nulls = palloc(asked->nkeys * sizeof(bool));
	EState	   *own = CreateExecutorState();
	ExprContext *econtext = GetPerTupleExprContext(own);
	int			level = NewGUCNestLevel();
	ExprState  *tests;
	bool		is_there = true;

	dp_pin_meanings(timezone);
	own->es_param_list_info = params;
	econtext->ecxt_param_list_info = params;
	tests = ExecPrepareQual(asked->release->wider_tests, own);
	if (places != NULL)
		*places = palloc_extended(Max(dp_key_table_size(some), 1) * sizeof(int64), MCXT_ALLOC_HUGE);
	for (int64 i = 0; is_there && i < dp_key_table_size(some); i++)
	{
		int64		place;

		CHECK_FOR_INTERRUPTS();
		dp_key_table_get(some, i, values, nulls);
		for (int j = 0; j < asked->nkeys; j++)
		{
			key[j].value = values[j];
			key[j].isnull = nulls[j];
		}
		ResetExprContext(econtext);
		place = dp_key_table_find(all, values, nulls);
		is_there = ExecQual(tests, econtext) && place >= 0;
		if (places != NULL)
			(*places)[i] = place;
	}
	FreeExecutorState(own);
	AtEOXact_GUC(true, level);
	return is_there;
}

/* Tells whether columns of two releases are shown in the same way. */
static bool
has_columns(const DpPricedRelease *asked, const DpPricedRelease *wider)
{
	if (asked->ncolumns != wider->ncolumns || asked->nkeys != wider->nkeys)
		return false;
	for (int i = 0; i < asked->ncolumns; i++)
	{
		const DpReleaseColumn *a = asked->columns[i].desc;
		const DpReleaseColumn *w = wider->columns[i].desc;

		if (a->answer != w->answer || a->kind != w->kind || a->statistic != w->statistic || a->result_type != w->result_type ||
			a->companions != w->companions || a->hidden != w->hidden)
			return false;
	}
	return true;
}

/* Tells whether a column costs the same in both: a wanted accuracy may make it cost more where a unit is in more groups. */
static bool
costs_no_more(const DpPricedRelease *asked, const DpPricedRelease *wider)
{
	for (int i = 0; i < asked->ncolumns; i++)
	{
		if (wider->columns[i].rho < asked->columns[i].rho)
			return false;
	}
	return true;
}

/* Returns the priced wider release of one that is asked for, if its answers could be given; NULL: they cannot. */
static DpPricedRelease *
wider_of(DpPricedRelease *asked, EState *estate, const char *timezone)
{
	DpRelease  *release = asked->release->wider;
	DpPricedRelease *wider;

	if (release == NULL || dp_target_needs_pilot(asked->release) ||
		(asked->tuples == NULL && dp_has_key_tuples(asked->release)) ||
		(estate->es_param_list_info == NULL && (asked->release->wider_has_params || release->needs_params)))
		return NULL;
	wider = try_price(release, estate, timezone);
	if (wider == NULL || !has_columns(asked, wider) || !costs_no_more(asked, wider) || !dp_keeps_answers(wider))
		return NULL;
	wider->is_wider = true;
	return wider;
}

/* ------------------------------------------------------------------------
 * Single columns
 * ------------------------------------------------------------------------
 */

/* Tells whether a column of the wider release can stand in the place of one that is asked for: it has states in the same places. */
static bool
fits(const DpPricedColumn *asked, const DpPricedColumn *wider)
{
	if (asked->nparts != wider->nparts || asked->later || wider->later || dp_waits_for_limit(asked) || dp_waits_for_limit(wider))
		return false;
	for (int i = 0; i < asked->nparts; i++)
	{
		if (asked->parts[i].width != wider->parts[i].width || asked->parts[i].offset != wider->parts[i].offset)
			return false;
	}
	return true;
}

/* Tells whether n numbers ascend. */
static bool
ascend(const int64 *numbers, int64 n)
{
	for (int64 i = 1; i < n; i++)
	{
		if (numbers[i] <= numbers[i - 1])
			return false;
	}
	return true;
}

/* Returns a kept answer, of so many numbers in each of so many groups, with the n groups alone that are at these places, which ascend. */
static const DpKeptAnswer *
take_groups(const DpKeptAnswer *answer, int draws, int64 groups, const int64 *places, int64 n)
{
	DpKeptAnswer *taken = palloc(sizeof(DpKeptAnswer));
	dp_i128    *values = palloc(draws * sizeof(dp_i128));
	int64		at = 0;
	DpValueReader reader;
	DpValueWriter writer;

	dp_read_values(&reader, answer->values, draws, groups);
	dp_begin_values(&writer, draws, DP_DERIVED_MAX_BYTES);
	for (int64 i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (; at <= places[i]; at++)
			dp_read_group(&reader, values);
		dp_write_group(&writer, values);
	}
	pfree(values);
	*taken = *answer;
	taken->values = dp_end_values(&writer);
	return taken->values != NULL ? taken : NULL;
}

/* Has a column answered by that of a wider release, whose groups at these places are asked for. */
static void
take_column(DpKept *kept, DpPricedRelease *priced, const DpKept *wider, int i, const int64 *places)
{
	DpKeptColumn column = wider->columns[i];
	DpPricedColumn settled = wider->priced->columns[i];

	column.increments = palloc(column.nincrements * sizeof(DpKeptIncrement));
	for (int j = 0; j < column.nincrements; j++)
	{
		column.increments[j] = wider->columns[i].increments[j];
		column.increments[j].answer = take_groups(column.increments[j].answer, dp_answer_draws(&settled),
												  dp_declared_groups(wider->priced->release, wider->priced->tuples), places,
												  dp_declared_groups(priced->release, priced->tuples));
		/* too long; it is bought as if it was not kept */
		if (column.increments[j].answer == NULL)
			return;
	}
	/* what was asked for is what others wait for */
	memcpy(column.fingerprint, kept->columns[i].fingerprint, DP_FINGERPRINT_BYTES);
	column.is_wider = true;
	kept->columns[i] = column;
	settled.desc = priced->columns[i].desc;
	priced->columns[i] = settled;
	dp_price_again(priced, i, column.id.rho);
}

/* Has columns that would cost something answered by those of a wider release that are paid for. */
static void
take_columns(DpKept *kept, DpPricedRelease *priced, const DpKept *wider, EState *estate, const char *timezone)
{
	int64	   *places = NULL;

	for (int i = 0; i < kept->ncolumns; i++)
	{
		if (dp_kept_column_is_free(kept, i) || !dp_kept_column_is_free(wider, i) ||
			!fits(&priced->columns[i], &wider->priced->columns[i]))
			continue;
		if (places == NULL &&
			(!has_groups(priced, wider->priced, estate, timezone, &places) ||
			 !ascend(places, dp_declared_groups(priced->release, priced->tuples))))
			return;
		take_column(kept, priced, wider, i, places);
	}
}

/*
 * Looks at what is kept of a wider release (wider; NULL: its questions are not known); returns it if all is there and paid for.
 * Otherwise kept, the answers of what was asked for, takes single columns.
 */
static DpKept *
look(DpKept *wider, DpKept *kept, DpPricedRelease *asked, EState *estate, const char *timezone, DpKeptMoment *moment)
{
	if (wider == NULL)
		return NULL;
	dp_kept_look(wider, NIL, moment);
	if (!dp_kept_is_free(wider))
	{
		take_columns(kept, asked, wider, estate, timezone);
		return NULL;
	}
	if (!has_groups(asked, wider->priced, estate, timezone, NULL))
		return NULL;
	wider->is_wider = true;
	return wider;
}

DpKept *
dp_kept_of_wider(const DpRun *run, DpKept *kept, DpPricedRelease *priced, EState *estate, DpKeptMoment *moment)
{
	DpPricedRelease *wider = wider_of(priced, estate, run->timezone);

	if (wider == NULL)
		return NULL;
	return look(dp_kept_create(run, wider, estate), kept, priced, estate, run->timezone, moment);
}

/* ------------------------------------------------------------------------
 * Without executing anything
 * ------------------------------------------------------------------------
 */

/* Looks at what is kept for releases (DpKept, NULL: nothing is), as kept_run.c does; returns whether nothing is owed. */
static bool
foresee(List *all, List *before, DpKeptMoment *moment)
{
	bool		is_free = true;

	before = list_copy(before);
	foreach_ptr(DpKept, kept, all)
	{
		if (kept == NULL || kept->is_wider)
			continue;
		dp_kept_look(kept, before, moment);
		before = lappend(before, kept);
		is_free = is_free && dp_kept_is_free(kept);
	}
	return is_free;
}

/* Returns what a release that would cost something would be given of a wider one, or kept, which may have taken columns of that. */
static DpKept *
foresee_wider(DpKept *kept, EState *estate, DpKeptMoment *moment)
{
	const char *timezone = pstrdup(GetConfigOption("TimeZone", false, false));
	DpPricedRelease *wider = wider_of(kept->priced, estate, timezone);
	DpKept	   *given = NULL;

	if (wider != NULL)
		given = look(dp_kept_create_early(wider, estate), kept, kept->priced, estate, timezone, moment);
	return given != NULL ? given : kept;
}

/* Settles what a release would cost, and returns what is shown of it. */
static DpPricedRelease *
settle_foreseen(DpKept *kept)
{
	dp_kept_settle(kept);
	for (DpBefore b = 0; b < DP_BEFORES; b++)
		if (kept->before[b] != NULL)
			dp_kept_set_noise(kept->before[b]);
	if (!dp_kept_has_before(kept))
		dp_kept_set_noise(kept);
	return kept->priced;
}

List *
dp_foresee_kept(List *releases, EState *estate, List **before)
{
	List	   *all = NIL;		/* DpKept */
	List	   *known = NIL;	/* those of them that there are */
	List	   *given = NIL;
	DpKeptMoment moment = {0};
	ListCell   *lc,
			   *priced;

	foreach_ptr(DpPricedRelease, release, releases)
	{
		all = lappend(all, release != NULL && dp_keeps_answers(release) ? dp_kept_create_early(release, estate) : NULL);
	}
	dp_kept_set_groups(all);
	foreach(lc, all)
		if (lfirst(lc) != NULL)
		known = lappend(known, lfirst(lc));
	dp_kept_agree(known);
	if (!foresee(all, *before, &moment))
	{
		foreach(lc, all)
		{
			if (lfirst(lc) != NULL && !dp_kept_is_free(lfirst(lc)))
				lfirst(lc) = foresee_wider(lfirst(lc), estate, &moment);
		}
		(void) foresee(all, *before, &moment);
	}
	dp_kept_moment_end(&moment);
	forboth(lc, all, priced, releases)
	{
		given = lappend(given, lfirst(lc) != NULL ? settle_foreseen(lfirst(lc)) : lfirst(priced));
		if (lfirst(lc) != NULL && !((DpKept *) lfirst(lc))->is_wider)
			*before = lappend(*before, lfirst(lc));
	}
	return given;
}
