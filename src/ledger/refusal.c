/*-------------------------------------------------------------------------
 *
 * refusal.c
 *	  What the asker of a debit is told when it is not granted.
 *
 * Several clients show nothing but the primary message, so each stands
 * alone: what was asked, what remains, who can do what about it.  Budgets
 * are not data and may be named; the ledger knows no data.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "base/amounts.h"
#include "base/clock.h"
#include "base/errors.h"
#include "base/settings.h"
#include "ledger/ledger_int.h"

static const char *
role_name(Oid role)
{
	const char *name = GetUserNameFromId(role, true);

	return name ? name : "?";
}

/*
 * Names the cause of an error in the worker, as far as its SQLSTATE tells.  Its
 * message and all else are for the server's log.
 */
static const char *
cause_of(int sqlstate)
{
	switch (sqlstate)
	{
		case ERRCODE_DISK_FULL:
			return "a disk is full";
		case ERRCODE_OUT_OF_MEMORY:
			return "memory is exhausted";
		case ERRCODE_PROGRAM_LIMIT_EXCEEDED:
			return "a limit of the server is reached, such as that of transactions before a VACUUM (wraparound)";
		case ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED:
			return "a sequence of the ledger is used up";
		case ERRCODE_UNDEFINED_COLUMN:
		case ERRCODE_UNDEFINED_TABLE:
		case ERRCODE_UNDEFINED_OBJECT:
			return "a table, column or sequence of the ledger was dropped or renamed";
		case ERRCODE_READ_ONLY_SQL_TRANSACTION:
			return "the server cannot be written to";
		case ERRCODE_LOCK_NOT_AVAILABLE:
			return "somebody holds locks on the ledger";
		case ERRCODE_UNIQUE_VIOLATION:
		case ERRCODE_CHECK_VIOLATION:
		case ERRCODE_NOT_NULL_VIOLATION:
			return "a row of the ledger is in the way, dp_cdp.check_ledger() may tell which";
		case ERRCODE_DATA_CORRUPTED:
		case ERRCODE_INDEX_CORRUPTED:
			return "a table or index of the ledger is damaged";
		case ERRCODE_IO_ERROR:
		case ERRCODE_UNDEFINED_FILE:
		case ERRCODE_DUPLICATE_FILE:
		case ERRCODE_INSUFFICIENT_PRIVILEGE:
			return "a file or an object of the ledger cannot be used";
		default:
			return "see the table of error codes of PostgreSQL";
	}
}

/* Says that the worker does not do anything. */
static void
raise_silent(void)
{
	DpWorkerEntry *entry;
	int			pid;

	LWLockAcquire(dp_shared->lock, LW_SHARED);
	entry = dp_entry_find(MyDatabaseId);
	pid = entry && entry->state == DP_WORKER_LIVE ? entry->worker_pid : 0;
	LWLockRelease(dp_shared->lock);
	dp_raise(LEDGER_UNAVAILABLE,
			 pid != 0 ?
			 errmsg("the ledger's background worker (process %d) has not answered for %d seconds; nothing was debited: retry, or ask the administrator to look at it", pid, DP_ANSWER_PATIENCE_MS / 1000) :
			 errmsg("the ledger's background worker did not start within %d seconds; nothing was debited: retry, or ask the administrator to read the server log", DP_ANSWER_PATIENCE_MS / 1000),
			 errhint("It is stopped, or waits, for a disk or a synchronous standby for instance: pg_stat_activity shows what for."));
}

/* Tells how less may be asked, where something is left. */
static int
hint_at_price(int128 remaining)
{
	if (dp_guc_target > 0)
		return errhint("dp_cdp.target_error decides on the price in this session: RESET dp_cdp.target_error, or SET it wider.");
	if (remaining <= 0)
		return 0;
	return dp_guc_rho > 0 ? errhint("dp_cdp.rho is %g in this session: SET it lower, for an answer with more noise.", dp_guc_rho)
		: errhint("An answer with more noise costs less: SET dp_cdp.rho.");
}

/* Says that a budget or a cap does not hold what was asked. */
static void
raise_exhausted(const DpReply *reply)
{
	const char *unit = reply->reason == DP_REASON_RHO ? "rho" : "delta";
	int			scale = reply->reason == DP_REASON_RHO ? DP_RHO_SCALE : DP_DELTA_SCALE;
	char	   *asked = dp_amount_text(reply->asked, scale);
	char	   *remaining = dp_amount_text(Max(reply->remaining, 0), scale);
	char	   *in = reply->has_block ? psprintf(" in the blocks %s", dp_days_text(reply->block)) : "";

	/* the rest of the cap tells of prices that others have paid */
	if (!OidIsValid(reply->role))
		dp_raise(BUDGET_EXHAUSTED,
				 errmsg("privacy budget exhausted for dataset \"%s\": asked %s %s%s, more than its lifetime cap over all roles still holds%s; its owner can raise the cap with dp_cdp.alter_dataset",
						reply->dataset, unit, asked, in, reply->has_block ? " there" : ""),
				 errdetail("The cap does not renew."));
	if (reply->renews)
	{
		char	   *at = pstrdup(timestamptz_to_str(reply->renews_at));

		/* the clock says that it is time */
		if (dp_clock_ahead() > 0 && reply->renews_at <= GetCurrentTimestamp())
			at = psprintf("%s, once the owner of the extension has accepted the server's clock, which was set ahead, with dp_cdp.accept_clock()", at);
		dp_raise(BUDGET_EXHAUSTED,
				 errmsg("privacy budget exhausted for dataset \"%s\": asked %s %s%s, remaining %s (role \"%s\"); it renews at %s, or the dataset's owner can raise it with dp_cdp.set_budget",
						reply->dataset, unit, asked, in, remaining, role_name(reply->role), at));
	}
	dp_raise(BUDGET_EXHAUSTED,
			 errmsg("privacy budget exhausted for dataset \"%s\": asked %s %s%s, remaining %s (role \"%s\"); the dataset's owner can raise it with dp_cdp.set_budget",
					reply->dataset, unit, asked, in, remaining, role_name(reply->role)),
			 errdetail("This budget does not renew."),
			 reply->reason == DP_REASON_RHO ? hint_at_price(reply->remaining) : 0);
}

/* Raises the error for an answer of DP_REQUEST_REFUSED. */
void
dp_raise_refusal(const DpReply *reply)
{
	switch (reply->reason)
	{
		case DP_REASON_RHO:
		case DP_REASON_DELTA:
			raise_exhausted(reply);
			break;
		case DP_REASON_FAILURES:
			{
				const char *role = role_name(reply->role);
				char	   *at = pstrdup(timestamptz_to_str(reply->failures_end));

				dp_raise(BUDGET_EXHAUSTED,
						 errmsg_plural("%d release from dataset \"%s\" failed or was cancelled within a day, and nothing more is released to role \"%s\" until %s; the dataset's owner can call dp_cdp.reset_failures(%s, %s)",
									   "%d releases from dataset \"%s\" failed or were cancelled within a day, and nothing more is released to role \"%s\" until %s; the dataset's owner can call dp_cdp.reset_failures(%s, %s)",
									   reply->failures,
									   reply->failures, reply->dataset, role, at,
									   quote_literal_cstr(reply->dataset), quote_literal_cstr(quote_identifier(role))),
						 errdetail("Each failure tells something that no noise covers. At most max_failures of the dataset are allowed in a day."));
			}
			break;
		case DP_REASON_NO_BUDGET:
			dp_raise(BUDGET_EXHAUSTED,
					 errmsg("role \"%s\" has no privacy budget for dataset \"%s\"; the dataset's owner can give one with dp_cdp.set_budget",
							role_name(OidIsValid(reply->role) ? reply->role : GetUserId()), reply->dataset),
					 errdetail("Asked rho %s, remaining 0.", dp_amount_text(reply->asked, DP_RHO_SCALE)));
			break;
		case DP_REASON_RATE:
			dp_raise(LEDGER_UNAVAILABLE,
					 errmsg("role \"%s\" asks the privacy ledger more often than a role may in a second; nothing was debited: retry later",
							role_name(reply->role)),
					 errdetail("The administrator's settings dp_cdp.max_debits_per_second and dp_cdp.max_refusals_per_second limit it."));
			break;
		case DP_REASON_NOT_SPENT:
			{
				char	   *spent = dp_amount_text(reply->remaining, DP_RHO_SCALE);

				if (reply->has_block)
					spent = psprintf("%s, in some blocks,", spent);
				if (OidIsValid(reply->role))
					dp_raise(BAD_PARAMETER,
							 errmsg("role \"%s\" has spent rho %s of dataset \"%s\"; give a smaller amount",
									role_name(reply->role), spent, reply->dataset),
							 errdetail("A correction cannot leave less than nothing."));
				dp_raise(BAD_PARAMETER,
						 errmsg("rho %s of dataset \"%s\" was spent over all roles; give a smaller amount",
								spent, reply->dataset),
						 errdetail("A correction cannot leave less than nothing."));
			}
			break;
		case DP_REASON_NO_DATASET:
			dp_raise(BAD_PARAMETER,
					 errmsg("there is no dataset \"%s\"; dp_cdp.create_dataset makes one", reply->dataset));
			break;
		case DP_REASON_UNCOUNTED:
			dp_raise(LEDGER_UNAVAILABLE,
					 errmsg("a private query that role \"%s\" pays for has failed, and the privacy ledger could not count that yet; nothing was debited: retry, or ask the administrator",
							role_name(reply->role)),
					 errdetail("Until it is counted, nothing is released to roles that pay from the same budgets."));
			break;
		case DP_REASON_BUSY:
			dp_raise(LEDGER_UNAVAILABLE,
					 errmsg("the privacy budget of dataset \"%s\" is being changed; nothing was debited: retry when that transaction has ended",
							reply->dataset),
					 errhint("If this transaction itself changed budgets, commit it first."));
			break;
		case DP_REASON_FOREIGN:
			dp_raise(LEDGER_UNAVAILABLE,
					 errmsg("the privacy ledger was copied, restored or promoted, and may be old: the extension's owner must first call dp_cdp.adopt_ledger()"),
					 errdetail("%s The dataset's owner can adopt dataset \"%s\" by itself: dp_cdp.adopt_ledger(dataset => %s).",
							   dp_stamp_text(reply->stamp), reply->dataset, quote_literal_cstr(reply->dataset)));
			break;
		case DP_REASON_NOT_INSTALLED:
			dp_raise(LEDGER_UNAVAILABLE,
					 errmsg("this database has no privacy ledger; a superuser can make one with CREATE EXTENSION dp_cdp"));
			break;
		case DP_REASON_NO_SLOT:
			dp_raise(LEDGER_UNAVAILABLE,
					 errmsg("the privacy ledger found no free background worker; nothing was debited: retry, or ask the administrator to raise \"max_worker_processes\""),
					 errdetail("All %d background workers are in use.", max_worker_processes));
			break;
		case DP_REASON_NO_START:
			dp_raise(LEDGER_UNAVAILABLE,
					 errmsg("the privacy ledger's background worker could not start; nothing was debited: the server log says why"));
			break;
		case DP_REASON_SILENT:
			raise_silent();
			break;
		default:
			dp_raise(LEDGER_UNAVAILABLE,
					 errmsg("the privacy ledger failed; nothing was debited: retry, the server log has the cause"),
					 reply->reason == DP_REASON_ERROR && reply->sqlstate != 0 ?
					 errdetail("The ledger's background worker met SQLSTATE %s: %s.",
							   unpack_sql_state(reply->sqlstate), cause_of(reply->sqlstate)) : 0);
	}
}

void
dp_raise_not_kept(const DpReply *reply)
{
	const char *cause = reply == NULL ? "the privacy ledger's background worker was lost" :
	reply->reason == DP_REASON_BUSY ? "the kept answers are being changed by somebody else" :
	reply->reason == DP_REASON_SILENT ? "the privacy ledger's background worker does not answer" :
	reply->reason == DP_REASON_NO_SLOT ? "the privacy ledger found no free background worker" :
	reply->reason == DP_REASON_NO_START ? "the privacy ledger's background worker could not start, the server log says why" :
	"the privacy ledger failed, the server log has the cause";

	dp_raise(LEDGER_UNAVAILABLE,
			 errmsg("the answer could not be kept and is not shown: %s; the charge stays, and the same question costs no more: retry",
					cause),
			 errdetail("A question of now() costs again."));
}
