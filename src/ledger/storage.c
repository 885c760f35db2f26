/*-------------------------------------------------------------------------
 *
 * storage.c
 *	  One batch of debits against the tables, inside the worker's transaction.
 *
 * Each balance that a batch touches is locked once, decided on in memory
 * request by request, and written once; the audit gets a row per release.
 * Rows are read and written with the executor's own primitives and not with
 * queries: a batch of one then costs little more than its commit.  Triggers
 * do not fire on these writes, so nobody's code runs on behalf of a debit;
 * expressions in somebody's indexes run as the owner of the tables.
 *
 * Invariants:
 *	- a request is granted only if every budget row that applies to its payer
 *	  and its datasets' caps hold all of it, and then debits all of them;
 *	- balances are decided on after the row is locked and from its latest
 *	  version, which the lock keeps until the commit;
 *	- no lock is waited for: a request that needs a locked row or table is
 *	  put off, the others go on.  So the worker is in no deadlock and holds
 *	  up no other dataset.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "compat.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "commands/sequence.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "ledger/ledger_int.h"

/* columns of the three tables, resolved by name */
enum
{
	DATASET_NAME, DATASET_RHO_LIMIT, DATASET_RHO_SPENT, DATASET_DELTA_LIMIT,
	DATASET_DELTA_SPENT, DATASET_NCOLS
};
enum
{
	BUDGET_DATASET, BUDGET_RHO_LIMIT, BUDGET_RHO_SPENT, BUDGET_DELTA_LIMIT,
	BUDGET_DELTA_SPENT, BUDGET_ROLE, BUDGET_PERIOD, BUDGET_RENEWS_AT, BUDGET_NCOLS
};
enum
{
	LOG_ID, LOG_RELEASED_AT, LOG_DATASET, LOG_ROLE, LOG_SESSION_ROLE, LOG_APPLICATION,
	LOG_AGGREGATES, LOG_GROUPS, LOG_RHO, LOG_DELTA, LOG_SIGMA, LOG_GRANTED, LOG_NCOLS
};

/* the first five of both balance tables mean the same */
#define BALANCE_KEY		0
#define BALANCE_RHO_LIMIT	1
#define BALANCE_RHO_SPENT	2
#define BALANCE_DELTA_LIMIT 3
#define BALANCE_DELTA_SPENT 4

#define MAX_COLS LOG_NCOLS

static const char *const column_names[3][MAX_COLS] = {
	{"name", "rho_limit", "rho_spent", "delta_limit", "delta_spent"},
	{"dataset", "rho_limit", "rho_spent", "delta_limit", "delta_spent", "role", "period", "renews_at"},
	{"id", "released_at", "dataset", "role", "session_role", "application",
	"aggregates", "groups", "rho", "delta", "sigma", "granted"},
};

typedef enum DpTableNo
{
	T_DATASET, T_BUDGET, T_LOG, T_STAMP, T_COUNT
} DpTableNo;

static const char *const table_names[T_COUNT] = {"dataset", "budget", "release_log", "ledger_stamp"};

/* what is known of the tables; forgotten when any of them changes */
static struct
{
	bool		valid;
	bool		stamp_valid;
	Oid			relid[T_COUNT];
	AttrNumber	attnum[3][MAX_COLS];
	Oid			log_sequence;
} known;

static bool callback_registered = false;

/* a table during a batch */
typedef struct OpenTable
{
	Relation	rel;
	ResultRelInfo *rri;
	AttrNumber *attnum;
} OpenTable;

/* a budget row, or a dataset's row as its cap */
typedef struct Balance
{
	OpenTable  *table;
	Oid			role;			/* InvalidOid: cap */
	ItemPointerData tid;		/* as found by the scan */
	enum
	{
		BALANCE_FOUND,			/* not locked yet */
		BALANCE_LOCKED,
		BALANCE_BUSY,			/* locked by others */
		BALANCE_GONE			/* deleted since */
	}			state;
	TupleTableSlot *row;		/* LOCKED: the latest version */
	int128		rho_left;
	int128		delta_left;
	int128		rho_taken;		/* by this batch */
	int128		delta_taken;
	bool		renewed;		/* spent starts at 0 again */
	bool		renews;
	TimestampTz renews_at;
} Balance;

typedef struct Dataset
{
	char		name[NAMEDATALEN];
	Balance    *cap;			/* NULL: there is no such dataset */
	List	   *budgets;		/* of Balance */
} Dataset;

/* which of a dataset's budgets a payer's debits touch; a batch's memo */
typedef struct Payer
{
	Dataset    *dataset;
	Oid			role;
	Oid			session_role;
	List	   *budgets;		/* of Balance */
} Payer;

/* a batch at work */
typedef struct Work
{
	TimestampTz now;
	EState	   *estate;
	Snapshot	snapshot;
	OpenTable	table[3];
	List	   *datasets;
	List	   *payers;
} Work;

/* ---------------------------------------------------------------------
 * Tables
 * ---------------------------------------------------------------------
 */

void
dp_storage_forget(void)
{
	known.valid = false;
	known.stamp_valid = false;
}

static void
relation_changed(Datum arg, Oid relid)
{
	if (!OidIsValid(relid))
		dp_storage_forget();
	for (int t = 0; t < T_COUNT; t++)
	{
		if (known.relid[t] == relid)
			dp_storage_forget();
	}
}

/*
 * Locks the tables and fills in what is to be known of them.  False, with the
 * reason, when they are not there or locked by others.
 */
static bool
lock_tables(DpReason *reason)
{
	if (!callback_registered)
	{
		CacheRegisterRelcacheCallback(relation_changed, (Datum) 0);
		callback_registered = true;
	}

	for (int attempt = 0; attempt < 3; attempt++)
	{
		if (!known.valid)
		{
			Oid			extension = dp_ledger_extension();

			memset(known.attnum, 0, sizeof(known.attnum));
			known.log_sequence = InvalidOid;
			for (int t = 0; t < T_COUNT; t++)
			{
				known.relid[t] = dp_ledger_table(extension, table_names[t]);
				if (!OidIsValid(known.relid[t]))
				{
					*reason = DP_REASON_NOT_INSTALLED;
					return false;
				}
			}
			known.stamp_valid = false;
			known.valid = true;
		}

		/* getting a lock reads pending invalidations, which may reset valid */
		for (int t = 0; t < T_COUNT; t++)
		{
			if (!ConditionalLockRelationOid(known.relid[t], RowExclusiveLock))
			{
				*reason = DP_REASON_BUSY;
				return false;
			}
		}
		if (known.valid)
			return true;
	}
	*reason = DP_REASON_BUSY;
	return false;
}

static void
open_table(Work *work, DpTableNo t)
{
	OpenTable  *table = &work->table[t];

	table->rel = table_open(known.relid[t], NoLock);
	table->attnum = known.attnum[t];
	for (int i = 0; i < MAX_COLS && column_names[t][i]; i++)
	{
		/* looked up once: they change only with the table's definition */
		if (table->attnum[i] != InvalidAttrNumber)
			continue;
		table->attnum[i] = get_attnum(known.relid[t], column_names[t][i]);
		if (table->attnum[i] == InvalidAttrNumber)
			elog(ERROR, "table dp_cdp.%s lacks column \"%s\"", table_names[t], column_names[t][i]);
	}
	if (t == T_LOG && !OidIsValid(known.log_sequence))
		known.log_sequence = dp_identity_sequence(table->rel, table->attnum[LOG_ID]);

	table->rri = makeNode(ResultRelInfo);
	InitResultRelInfo(table->rri, table->rel, 0, NULL, 0);	/* in no range table */
	ExecOpenIndices(table->rri, false);
}

static void
close_table(OpenTable *table)
{
	ExecCloseIndices(table->rri);
	table_close(table->rel, NoLock);
}

static Datum
column(OpenTable *table, TupleTableSlot *row, int col, bool *isnull)
{
	return slot_getattr(row, table->attnum[col], isnull);
}

/* ---------------------------------------------------------------------
 * Reading balances
 * ---------------------------------------------------------------------
 */

static SysScanDesc
scan_by_dataset(Work *work, OpenTable *table, const char *name)
{
	AttrNumber	attnum = table->attnum[BALANCE_KEY];
	ScanKeyData key;
	Oid			index;

	RelationGetIndexList(table->rel);	/* sets rd_pkindex */
	index = table->rel->rd_pkindex;
	ScanKeyEntryInitialize(&key, 0, attnum, BTEqualStrategyNumber, InvalidOid,
						   TupleDescAttr(RelationGetDescr(table->rel), attnum - 1)->attcollation,
						   F_TEXTEQ, CStringGetTextDatum(name));
	return systable_beginscan(table->rel, index, OidIsValid(index), work->snapshot, 1, &key);
}

static Balance *
make_balance(OpenTable *table, HeapTuple tuple, Oid role)
{
	Balance    *balance = palloc0(sizeof(Balance));

	balance->table = table;
	balance->role = role;
	balance->tid = tuple->t_self;
	balance->state = BALANCE_FOUND;
	return balance;
}

static Dataset *
find_dataset(Work *work, const char *name)
{
	Dataset    *dataset;
	SysScanDesc scan;
	HeapTuple	tuple;
	ListCell   *lc;

	foreach(lc, work->datasets)
	{
		dataset = lfirst(lc);
		if (strcmp(dataset->name, name) == 0)
			return dataset;
	}

	dataset = palloc0(sizeof(Dataset));
	strlcpy(dataset->name, name, NAMEDATALEN);
	work->datasets = lappend(work->datasets, dataset);

	scan = scan_by_dataset(work, &work->table[T_DATASET], name);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		dataset->cap = make_balance(&work->table[T_DATASET], tuple, InvalidOid);
	systable_endscan(scan);
	if (dataset->cap == NULL)
		return dataset;

	scan = scan_by_dataset(work, &work->table[T_BUDGET], name);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		OpenTable  *table = &work->table[T_BUDGET];
		bool		isnull;
		Datum		role = heap_getattr(tuple, table->attnum[BUDGET_ROLE],
										RelationGetDescr(table->rel), &isnull);

		dataset->budgets = lappend(dataset->budgets,
								   make_balance(table, tuple, DatumGetObjectId(role)));
	}
	systable_endscan(scan);
	return dataset;
}

/* the budgets of a dataset that the payer's roles have */
static List *
payers_budgets(Work *work, Dataset *dataset, Oid role, Oid session_role)
{
	Payer	   *payer;
	ListCell   *lc;

	foreach(lc, work->payers)
	{
		payer = lfirst(lc);
		if (payer->dataset == dataset && payer->role == role &&
			payer->session_role == session_role)
			return payer->budgets;
	}

	payer = palloc0(sizeof(Payer));
	payer->dataset = dataset;
	payer->role = role;
	payer->session_role = session_role;
	foreach(lc, dataset->budgets)
	{
		Balance    *budget = lfirst(lc);

		if (dp_role_pays(role, budget->role) ||
			(session_role != role && dp_role_pays(session_role, budget->role)))
			payer->budgets = lappend(payer->budgets, budget);
	}
	work->payers = lappend(work->payers, payer);
	return payer->budgets;
}

/* limit - spent in units, as of now; no limit is the largest there is */
static int128
units_left(Balance *balance, int limit_col, int spent_col, int scale)
{
	bool		limit_null;
	bool		spent_null;
	Datum		limit = column(balance->table, balance->row, limit_col, &limit_null);
	Datum		spent = column(balance->table, balance->row, spent_col, &spent_null);

	if (limit_null)
		return ((int128) 1) << 120;
	if (!balance->renewed)
		limit = DirectFunctionCall2(numeric_sub, limit, spent);
	return dp_units_floor(DatumGetNumeric(limit), scale);
}

/* locks the row without waiting and works out what is left of it */
static void
lock_balance(Work *work, Balance *balance)
{
	OpenTable  *table = balance->table;
	TM_FailureData failure;
	TM_Result	result;

	if (balance->state != BALANCE_FOUND)
		return;

	balance->row = table_slot_create(table->rel, NULL);
	result = table_tuple_lock(table->rel, &balance->tid, work->snapshot, balance->row,
							  GetCurrentCommandId(false), LockTupleNoKeyExclusive,
							  LockWaitSkip, TUPLE_LOCK_FLAG_FIND_LAST_VERSION, &failure);
	switch (result)
	{
		case TM_Ok:
			balance->state = BALANCE_LOCKED;
			break;
		case TM_WouldBlock:
			balance->state = BALANCE_BUSY;
			break;
		case TM_Deleted:
			balance->state = BALANCE_GONE;
			break;
		default:
			elog(ERROR, "unexpected result %d of locking a privacy budget", (int) result);
	}
	if (balance->state != BALANCE_LOCKED)
	{
		ExecDropSingleTupleTableSlot(balance->row);
		balance->row = NULL;
		return;
	}
	slot_getallattrs(balance->row);

	if (OidIsValid(balance->role))
	{
		bool		date_null;
		bool		period_null;
		Datum		date = column(table, balance->row, BUDGET_RENEWS_AT, &date_null);
		Datum		period = column(table, balance->row, BUDGET_PERIOD, &period_null);

		if (!date_null && !period_null)
		{
			Interval   *interval = DatumGetIntervalP(period);

			balance->renewed = dp_renewal_due(DatumGetTimestampTz(date), interval, work->now);
			balance->renews_at = dp_next_renewal(DatumGetTimestampTz(date), interval, work->now);
			balance->renews = balance->renews_at > work->now && !TIMESTAMP_NOT_FINITE(balance->renews_at);
		}
	}
	balance->rho_left = units_left(balance, BALANCE_RHO_LIMIT, BALANCE_RHO_SPENT, DP_RHO_SCALE);
	balance->delta_left = units_left(balance, BALANCE_DELTA_LIMIT, BALANCE_DELTA_SPENT, DP_DELTA_SCALE);
}

/* ---------------------------------------------------------------------
 * Deciding
 * ---------------------------------------------------------------------
 */

static DpOutcome
refuse(DpRequest *req, DpReason reason, const char *dataset)
{
	req->reply.reason = reason;
	strlcpy(req->reply.dataset, dataset, NAMEDATALEN);
	return DP_OUTCOME_REFUSE;
}

static DpOutcome
refuse_balance(DpRequest *req, DpReason reason, const char *dataset, Balance *balance,
			   int128 asked, int128 left)
{
	req->reply.role = balance->role;
	req->reply.asked = asked;
	req->reply.remaining = left;
	req->reply.renews = balance->renews;
	req->reply.renews_at = balance->renews_at;
	return refuse(req, reason, dataset);
}

/* the request's sums over its items of one dataset */
static void
sum_of_dataset(DpRequest *req, const char *name, int128 *rho, int128 *delta)
{
	*rho = 0;
	*delta = 0;
	for (int i = 0; i < req->nitems; i++)
	{
		if (strcmp(dp_request_string(req, req->items[i].dataset), name) == 0)
		{
			*rho += req->items[i].rho;
			*delta += req->items[i].delta;
		}
	}
}

/* is this the first of the request's items that names its dataset? */
static bool
first_of_dataset(DpRequest *req, int item)
{
	const char *name = dp_request_string(req, req->items[item].dataset);

	for (int i = 0; i < item; i++)
	{
		if (strcmp(dp_request_string(req, req->items[i].dataset), name) == 0)
			return false;
	}
	return true;
}

/* the balances that a debit from the dataset by this payer touches */
static List *
balances_of(Work *work, DpRequest *req, Dataset *dataset)
{
	return lappend(list_copy(payers_budgets(work, dataset, req->role, req->session_role)),
				   dataset->cap);
}

static DpOutcome
decide(Work *work, DpRequest *req)
{
	bool		busy = false;
	ListCell   *lc;

	memset(&req->reply, 0, sizeof(req->reply));

	/* first everything is found and locked, then the amounts are compared */
	for (int i = 0; i < req->nitems; i++)
	{
		const char *name = dp_request_string(req, req->items[i].dataset);
		Dataset    *dataset;

		if (!first_of_dataset(req, i))
			continue;
		dataset = find_dataset(work, name);
		if (dataset->cap == NULL)
			return refuse(req, DP_REASON_NO_DATASET, name);
		foreach(lc, balances_of(work, req, dataset))
		{
			Balance    *balance = lfirst(lc);

			lock_balance(work, balance);
			if (balance->state == BALANCE_BUSY)
			{
				busy = true;
				refuse(req, DP_REASON_BUSY, name);
			}
		}
		if (dataset->cap->state == BALANCE_GONE)
			return refuse(req, DP_REASON_NO_DATASET, name);
	}
	if (busy)
		return DP_OUTCOME_LATER;

	for (int i = 0; i < req->nitems; i++)
	{
		const char *name = dp_request_string(req, req->items[i].dataset);
		Dataset    *dataset;
		int128		rho;
		int128		delta;
		bool		any = false;

		if (!first_of_dataset(req, i))
			continue;
		dataset = find_dataset(work, name);
		sum_of_dataset(req, name, &rho, &delta);
		foreach(lc, balances_of(work, req, dataset))
		{
			Balance    *balance = lfirst(lc);

			if (balance->state != BALANCE_LOCKED)
				continue;		/* a budget that was dropped meanwhile */
			any = any || OidIsValid(balance->role);
			if (!OidIsValid(balance->role) && !any)
				break;
			if (rho > balance->rho_left)
				return refuse_balance(req, DP_REASON_RHO, name, balance, rho, balance->rho_left);
			if (delta > balance->delta_left)
				return refuse_balance(req, DP_REASON_DELTA, name, balance, delta, balance->delta_left);
		}
		if (!any)
		{
			req->reply.asked = rho;
			return refuse(req, DP_REASON_NO_BUDGET, name);
		}
	}

	for (int i = 0; i < req->nitems; i++)
	{
		const char *name = dp_request_string(req, req->items[i].dataset);
		Dataset    *dataset;
		int128		rho;
		int128		delta;

		if (!first_of_dataset(req, i))
			continue;
		dataset = find_dataset(work, name);
		sum_of_dataset(req, name, &rho, &delta);
		foreach(lc, balances_of(work, req, dataset))
		{
			Balance    *balance = lfirst(lc);

			if (balance->state != BALANCE_LOCKED)
				continue;
			balance->rho_left -= rho;
			balance->rho_taken += rho;
			balance->delta_left -= delta;
			balance->delta_taken += delta;
		}
	}
	return DP_OUTCOME_GRANT;
}

/* ---------------------------------------------------------------------
 * Writing
 * ---------------------------------------------------------------------
 */

static void
write_balance(Work *work, Balance *balance)
{
	OpenTable  *table = balance->table;
	int			natts = RelationGetDescr(table->rel)->natts;
	TupleTableSlot *row;
	struct
	{
		int			col;
		int128		taken;
		int			scale;
	}			spent[2] = {
		{BALANCE_RHO_SPENT, balance->rho_taken, DP_RHO_SCALE},
		{BALANCE_DELTA_SPENT, balance->delta_taken, DP_DELTA_SCALE}
	};

	if (balance->rho_taken == 0 && balance->delta_taken == 0)
		return;

	row = table_slot_create(table->rel, NULL);
	memcpy(row->tts_values, balance->row->tts_values, natts * sizeof(Datum));
	memcpy(row->tts_isnull, balance->row->tts_isnull, natts * sizeof(bool));
	for (int i = 0; i < lengthof(spent); i++)
	{
		AttrNumber	attnum = table->attnum[spent[i].col];
		Datum		sum = NumericGetDatum(dp_units_to_numeric(spent[i].taken, spent[i].scale));

		if (!balance->renewed)
			sum = DirectFunctionCall2(numeric_add, row->tts_values[attnum - 1], sum);
		row->tts_values[attnum - 1] = sum;
	}
	if (balance->renewed)
		row->tts_values[table->attnum[BUDGET_RENEWS_AT] - 1] =
			TimestampTzGetDatum(balance->renews_at);
	ExecStoreVirtualTuple(row);
	dp_update_locked_row(table->rri, work->estate, work->snapshot, &balance->row->tts_tid, row);
	ExecDropSingleTupleTableSlot(row);
}

static void
set_column(OpenTable *table, TupleTableSlot *row, int col, Datum value)
{
	row->tts_values[table->attnum[col] - 1] = value;
	row->tts_isnull[table->attnum[col] - 1] = false;
}

static void
set_text(OpenTable *table, TupleTableSlot *row, int col, const char *value)
{
	if (value)
		set_column(table, row, col, CStringGetTextDatum(value));
}

static void
write_log(Work *work, TupleTableSlot *row, DpRequest *req, bool granted)
{
	OpenTable  *log = &work->table[T_LOG];

	for (int i = 0; i < req->nitems; i++)
	{
		DpWireItem *item = &req->items[i];
		const char *aggregates = dp_request_string(req, item->aggregates);

		ExecClearTuple(row);
		memset(row->tts_isnull, true, RelationGetDescr(log->rel)->natts * sizeof(bool));
		set_column(log, row, LOG_ID, Int64GetDatum(nextval_internal(known.log_sequence, false)));
		set_column(log, row, LOG_RELEASED_AT, TimestampTzGetDatum(work->now));
		set_text(log, row, LOG_DATASET, dp_request_string(req, item->dataset));
		set_column(log, row, LOG_ROLE, ObjectIdGetDatum(req->role));
		set_column(log, row, LOG_SESSION_ROLE, ObjectIdGetDatum(req->session_role));
		set_text(log, row, LOG_APPLICATION, req->application);
		set_text(log, row, LOG_AGGREGATES, aggregates ? aggregates : "");
		set_text(log, row, LOG_GROUPS, dp_request_string(req, item->groups));
		set_column(log, row, LOG_RHO, NumericGetDatum(dp_units_to_numeric(item->rho, DP_RHO_SCALE)));
		set_column(log, row, LOG_DELTA, NumericGetDatum(dp_units_to_numeric(item->delta, DP_DELTA_SCALE)));
		set_text(log, row, LOG_SIGMA, dp_request_string(req, item->sigma));
		set_column(log, row, LOG_GRANTED, BoolGetDatum(granted));
		ExecStoreVirtualTuple(row);

		simple_table_tuple_insert(log->rel, row);
		if (log->rri->ri_NumIndices > 0)
			dp_insert_index_tuples(log->rri, row, work->estate, false, false);
		ResetPerTupleExprContext(work->estate);
	}
}

static bool
is_audited(DpBatchEntry *entry)
{
	return entry->outcome == DP_OUTCOME_GRANT ||
		(entry->outcome == DP_OUTCOME_REFUSE &&
		 entry->req->reply.reason <= DP_REASON_DELTA);
}

static void
write_all(Work *work, DpBatchEntry *batch, int n)
{
	TupleTableSlot *row = table_slot_create(work->table[T_LOG].rel, NULL);
	ListCell   *lc;

	for (int i = 0; i < n; i++)
	{
		if (is_audited(&batch[i]))
			write_log(work, row, batch[i].req, batch[i].outcome == DP_OUTCOME_GRANT);
	}
	ExecDropSingleTupleTableSlot(row);

	foreach(lc, work->datasets)
	{
		Dataset    *dataset = lfirst(lc);
		ListCell   *lc2;

		if (dataset->cap == NULL)
			continue;
		foreach(lc2, lappend(dataset->budgets, dataset->cap))
		{
			Balance    *balance = lfirst(lc2);

			if (balance->state != BALANCE_LOCKED)
				continue;
			write_balance(work, balance);
			ExecDropSingleTupleTableSlot(balance->row);
		}
	}
}

/* ---------------------------------------------------------------------
 * A batch
 * ---------------------------------------------------------------------
 */

static void
answer_all(DpBatchEntry *batch, int n, DpReason reason)
{
	for (int i = 0; i < n; i++)
	{
		DpRequest  *req = batch[i].req;

		refuse(req, reason, dp_request_string(req, req->items[0].dataset));
		batch[i].outcome = reason == DP_REASON_BUSY ? DP_OUTCOME_LATER : DP_OUTCOME_REFUSE;
	}
}

/*
 * Decides n requests and writes the consequences.  Sets each entry's outcome
 * and its request's reply; the outcome counts once the caller has committed.
 */
void
dp_storage_debit(DpBatchEntry *batch, int n)
{
	Work		work;
	DpReason	reason;
	Relation	rel;
	Oid			user;
	int			security;

	memset(&work, 0, sizeof(work));
	if (!lock_tables(&reason))
	{
		answer_all(batch, n, reason);
		return;
	}

	/* a snapshot taken after the locks sees what they waited for */
	PushActiveSnapshot(GetTransactionSnapshot());
	work.snapshot = GetActiveSnapshot();
	work.now = GetCurrentTimestamp();

	GetUserIdAndSecContext(&user, &security);
	rel = table_open(known.relid[T_DATASET], NoLock);
	SetUserIdAndSecContext(rel->rd_rel->relowner, security | SECURITY_RESTRICTED_OPERATION);
	table_close(rel, NoLock);

	if (!known.stamp_valid && !(known.stamp_valid = dp_stamp_valid()))
		answer_all(batch, n, DP_REASON_FOREIGN);
	else
	{
		work.estate = CreateExecutorState();
		for (int t = T_DATASET; t <= T_LOG; t++)
			open_table(&work, t);
		for (int i = 0; i < n; i++)
			batch[i].outcome = decide(&work, batch[i].req);
		write_all(&work, batch, n);
		for (int t = T_DATASET; t <= T_LOG; t++)
			close_table(&work.table[t]);
		FreeExecutorState(work.estate);
	}

	SetUserIdAndSecContext(user, security);
	PopActiveSnapshot();
}
