/*-------------------------------------------------------------------------
 *
 * ledger_int.h
 *	  What the files of src/ledger share: shared memory and its rules.
 *
 * One word of shared memory per server process says what its request is at:
 * the database in the upper half, a DpRequestState in the lower.  Every change
 * of owner is one compare-and-swap of the whole word:
 *
 *		by the requesting process	FREE -> PENDING (or any answer -> FREE)
 *		by the worker				PENDING -> TAKEN -> an answer, or back to PENDING
 *		by one who gives up			PENDING -> FREE, else TAKEN -> ABANDONED
 *		by the worker				ABANDONED -> FREE
 *
 * The request in the slot belongs to the process while the word says FREE
 * or an answer, to the worker while it says TAKEN or ABANDONED; while it
 * says PENDING nobody may write to it.
 *
 * DpShared.lock protects the table of databases, that of failures
 * (failure.c) and that of spills (spills.c), DpShared.uses_lock what is
 * noted of kept answers (kept_tend.c).
 * Neither is held while the other is taken, nor across a wait, an allocation
 * or an ereport.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_LEDGER_INT_H
#define DP_LEDGER_INT_H

#include "datatype/timestamp.h"
#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "storage/dsm.h"
#include "storage/lwlock.h"
#include "utils/snapshot.h"

#include "ledger/kept.h"
#include "ledger/ledger.h"
#include "math/wide.h"

/*
 * how many releases one debit may hold (of a statement: one for each aggregating query or grouping set, one more
 * where it finds bounds), and room for all their strings
 */
#define DP_MAX_ITEMS	128
#define DP_STRINGS_SIZE (12288 + DP_MAX_QUERY_BYTES)

/*
 * when a worker is sent away for that of another database: so long after its last debit, or where debits leave it
 * no time, so long after it came, in ms
 */
#define DP_IDLE_MS 50
#define DP_TURN_MS 250
/* how often an idle worker looks whether somebody wants its database for himself, in ms */
#define DP_LOOK_MS 1000
/* how long a debit waits while others hold what it needs, and how often it looks, in ms */
#define DP_BUSY_PATIENCE_MS 5000
#define DP_BUSY_RETRY_MS 10
/* how long a request waits for a worker that does not take it, and how often it looks, in ms */
#define DP_ANSWER_PATIENCE_MS 30000
#define DP_ANSWER_LOOK_MS 1000
/* how long a debit waits for a free worker slot, in ms */
#define DP_WORKER_PATIENCE_MS 2500

typedef enum DpRequestState
{
	DP_REQUEST_FREE,
	DP_REQUEST_PENDING,			/* waits for the worker */
	DP_REQUEST_TAKEN,			/* in the worker's transaction */
	DP_REQUEST_ABANDONED,		/* as TAKEN, but nobody waits any more */
	/* answers */
	DP_REQUEST_GRANTED,			/* debited, durably */
	DP_REQUEST_REFUSED,			/* nothing debited; DpReply says why */
	DP_REQUEST_UNKNOWN			/* may be spent: the commit's outcome was not
								 * seen */
} DpRequestState;

/* why a debit was refused */
typedef enum DpReason
{
	DP_REASON_NONE,
	/* written to the audit log */
	DP_REASON_NO_BUDGET,		/* no budget row applies to the payer */
	DP_REASON_RHO,				/* a budget or the cap does not hold the rho */
	DP_REASON_DELTA,			/* ... the delta */
	DP_REASON_FAILURES,			/* too many of the releases that a budget paid
								 * for have failed today */
	DP_REASON_RATE,				/* more in a second than a role may ask */
	/* not written there: the ledger itself cannot answer */
	DP_REASON_NO_DATASET,
	DP_REASON_NOT_SPENT,		/* a correction would leave less than nothing */
	DP_REASON_UNCOUNTED,		/* a failure of who pays cannot be counted yet */
	DP_REASON_BUSY,				/* somebody holds locks on what is to be
								 * debited */
	DP_REASON_FOREIGN,			/* the stamp is not this database's:
								 * adopt_ledger() */
	DP_REASON_NOT_INSTALLED,
	DP_REASON_ERROR,			/* error in the worker, before its commit */
	DP_REASON_NO_SLOT,			/* the server has no place for a worker */
	DP_REASON_NO_START,			/* the worker could not start */
	DP_REASON_SILENT,			/* the worker has not taken the request */
	DP_REASON_WORKER_GONE		/* the worker left before it took the request */
} DpReason;

typedef struct DpReply
{
	DpReason	reason;
	char		dataset[NAMEDATALEN];
	Oid			role;			/* whose budget; InvalidOid: the dataset's cap */
	int128		asked;			/* amount of rho or delta, by reason */
	int128		remaining;
	bool		renews;
	TimestampTz renews_at;
	int			stamp;			/* DP_REASON_FOREIGN: a DpStamp */
	bool		has_block;		/* in these days */
	DpDays		block;
	int			failures;		/* DP_REASON_FAILURES: how many, until when */
	TimestampTz failures_end;
	int			sqlstate;		/* DP_REASON_ERROR: of that error; 0: unknown */
} DpReply;

/* one release in a slot: offsets into DpRequest.strings, 0 is NULL */
typedef struct DpWireItem
{
	int64		rho;
	int64		delta;
	DpDays		days;			/* of blocks; all where nobody said which */
	uint16		dataset;
	uint16		aggregates;
	uint16		groups;
	uint16		sigma;
	uint16		tables;
} DpWireItem;

typedef enum DpRequestKind
{
	DP_REQUEST_DEBIT,
	DP_REQUEST_CORRECTION,
	DP_REQUEST_KEEP				/* values of answers that were paid for */
} DpRequestKind;

/* bytes of credits and answers that fit into a slot; more are in a segment of shared memory */
#define DP_EXTRA_SIZE 8192

typedef struct DpRequest
{
	DpRequestKind kind;
	Oid			session_role;
	Oid			role;			/* current_user, or on whose behalf; of a
								 * correction: whose budget */
	Oid			other_payer;	/* besides role: session_user, or the same */
	bool		of_caps;		/* no budget pays but the datasets' caps */
	int64		asked_at;		/* dp_uptime() */
	int			nitems;
	uint16		query;			/* offsets into strings */
	uint16		reason;			/* of a correction */
	char		application[NAMEDATALEN];
	char		client[NAMEDATALEN];
	DpReply		reply;
	DpWireItem	items[DP_MAX_ITEMS];
	char		strings[DP_STRINGS_SIZE];
	/* kept_wire.c */
	Size		extra_size;
	dsm_handle	extra_segment;	/* DSM_HANDLE_INVALID: in extra */
	char		extra[DP_EXTRA_SIZE] pg_attribute_aligned(8);
} DpRequest;

static inline const char *
dp_request_string(const DpRequest *req, uint16 offset)
{
	return offset == 0 ? NULL : req->strings + offset;
}

typedef enum DpWorkerState
{
	DP_WORKER_UNUSED,
	DP_WORKER_STARTING,			/* starter_pid has asked for a worker */
	DP_WORKER_LIVE,				/* a worker reads the requests of this
								 * database */
	DP_WORKER_AWAY				/* it has left, and the launcher brings it
								 * back; a debit may do so before */
} DpWorkerState;

/* one database that has, or is about to have, a worker */
typedef struct DpWorkerEntry
{
	DpWorkerState state;
	Oid			database;
	int			starter_pid;	/* STARTING: whom to wake */
	int			starter_proc;
	int			worker_pid;		/* LIVE */
	int			worker_proc;
	int64		since;			/* STARTING, LIVE: dp_uptime() when it became
								 * that */
	bool		is_queued;		/* STARTING: waits for a slot of the server's */
	int64		used_at;		/* LIVE: dp_uptime() of the last debit, 0:
								 * none */
	bool		sent_away;		/* LIVE: its slot is wanted elsewhere */
} DpWorkerEntry;

/* entries for failures: one for each process, and as many that wait to be counted */
#define DP_FAILURES(nslots) (2 * (nslots))

typedef enum DpFailureState
{
	DP_FAILURE_FREE,
	DP_FAILURE_RESERVED,		/* belongs to a process that may fail */
	DP_FAILURE_POSTED,			/* waits for the worker */
	DP_FAILURE_TAKEN,			/* in the worker's transaction */
	DP_FAILURE_COUNTED			/* durably; its waiter reads the count and
								 * frees it */
} DpFailureState;

/* a release that was paid for and failed, or may fail */
typedef struct DpFailure
{
	DpFailureState state;
	Oid			database;
	Oid			session_role;	/* who paid */
	Oid			role;
	bool		of_caps;		/* no budget did but the dataset's cap */
	int			waiter;			/* slot of the process that waits, -1: none */
	bool		is_stuck;		/* the worker could not count it alone: its
								 * payers are debited no more until it can */
	char		dataset[NAMEDATALEN];
	char		application[NAMEDATALEN];
	char		aggregates[256];
	char		groups[256];
	/* COUNTED */
	int			failures;		/* of today, at the budget with the most */
	int			most;			/* how many there may be */
} DpFailure;

/* the worker's, while it is TAKEN */
typedef struct DpFailureCopy
{
	int			entry;
	bool		counted;
	DpFailure	failure;
} DpFailureCopy;

/* queries that were refused before they had a price */
#define DP_MAX_NOTES 64
#define DP_SQLSTATE_BYTES 5

typedef struct DpNote
{
	int			number;			/* so many that are alike; 0: no note */
	Oid			database;
	Oid			session_role;
	Oid			role;
	char		dataset[NAMEDATALEN];
	char		application[NAMEDATALEN];
	char		client[NAMEDATALEN];
	char		tables[256];
	char		reason[512];	/* SQLSTATE and message */
	char		query[DP_MAX_QUERY_BYTES + 1];
} DpNote;

/* a chain of answers of which one was given again */
#define DP_MAX_USES 1024

typedef struct DpUse
{
	Oid			database;		/* InvalidOid: none */
	uint8		fingerprint[DP_FINGERPRINT_BYTES];
	TimestampTz began;
	TimestampTz used_at;
} DpUse;

/* what releases from a dataset have written to temporary files */
#define DP_MAX_SPILLS 256

typedef struct DpSpill
{
	Oid			database;		/* InvalidOid: none */
	int64		ledger_id;		/* of the dataset's cap */
	uint64		bytes;
} DpSpill;

typedef struct DpShared
{
	LWLock	   *lock;
	ConditionVariable changed;	/* an entry's state has changed */
	int			nslots;
	int			nentries;
	pg_atomic_uint64 *words;	/* [nslots] */
	DpRequest  *requests;		/* [nslots] */
	DpWorkerEntry *entries;		/* [nentries] */
	int			launcher_proc;	/* -1: there is none */
	pg_atomic_uint32 told_not_applied;	/* writes.c: it was said in the log */
	pg_atomic_uint32 nfailures; /* POSTED or TAKEN */
	DpFailure  *failures;		/* [nslots], of nobody in particular */
	int			nnotes;
	pg_atomic_uint32 nnoted;	/* notes there are */
	DpNote	   *notes;			/* [nnotes] */
	LWLock	   *uses_lock;		/* protects uses */
	DpUse		uses[DP_MAX_USES];	/* by a hash of the question */
	DpSpill		spills[DP_MAX_SPILLS];
} DpShared;

/* NULL when the library is not in shared_preload_libraries */
extern DpShared *dp_shared;

/* --- shmem.c --- */

static inline uint64
dp_word(Oid database, DpRequestState state)
{
	return ((uint64) database << 32) | (uint64) state;
}

static inline DpRequestState
dp_word_state(uint64 word)
{
	return (DpRequestState) (word & 0xFFFFFFFF);
}

/* one compare-and-swap: the slot's word from one state to another */
extern bool dp_slot_swap(int slot, Oid database, DpRequestState from, DpRequestState to);
extern void dp_slot_wake(int slot);

/* the caller holds the lock; find: NULL when there is none */
extern DpWorkerEntry *dp_entry_find(Oid database);
extern DpWorkerEntry *dp_entry_make(Oid database);

/* the state of a database's worker, UNUSED when there is none; takes the lock */
extern DpWorkerState dp_entry_state(Oid database);

/* sends the worker that has been idle for longest away, unless all have just come or worked; the caller does not hold the lock */
extern bool dp_send_worker_away(void);

/* tells whether no other database has waited longer for a slot for its worker; takes the lock */
extern bool dp_is_first_to_start(void);

/* tells whether anything is PENDING for the database */
extern bool dp_anything_pending(Oid database);

/* --- batch.c: one batch, in the transaction that the caller has started --- */

typedef enum DpOutcome
{
	DP_OUTCOME_LATER,			/* locked by others: ask again */
	DP_OUTCOME_GRANT,
	DP_OUTCOME_REFUSE
} DpOutcome;

typedef struct DpBatchRequest
{
	int			slot;
	DpRequest  *req;
	DpOutcome	outcome;
	List	   *rows;			/* GRANT: what the log is told, DpLogRow */
	dsm_segment *segment;		/* attached; NULL: none */
} DpBatchRequest;

/* a row of the log about an item: what some of its balances were debited */
typedef struct DpLogRow
{
	int			item;
	int64		rho;
	int64		delta;
	bool		is_first;		/* of the item */
	bool		has_days;		/* its dataset is with blocks */
	bool		is_kept;		/* answers are kept; of what was debited for
								 * them: */
	int64		reuse_rho;
	int64		reuse_delta;
	Datum		paid_by;
} DpLogRow;

/* counts failures first, and sets "counted" where that was possible; then debits */
extern void dp_batch_debit(DpBatchRequest *batch, int n, DpFailureCopy *failures, int nfailures);

/* --- chain.c --- */

#define DP_HASH_BYTES 32

extern void dp_chain_forget(void);

/* check.c: chains up the rows after the end of the chain, or after a row where there is none */
extern void dp_chain_extend(int64 after);

/* has the log say what balances are, and accepts its rows, for a reason */
extern void dp_ledger_settle(const char *reason, const char *dataset);

/* --- repeats.c: refusals that are counted in a row that is there --- */

extern bool dp_repeats_due(void);

/* tells whether something is to be written that nobody waits for; how long that may wait, in ms */
extern bool dp_audit_due(void);
extern long dp_audit_timeout(void);

/* a batch has ended in an error: the rest is tried again a second later */
extern void dp_audit_failed(void);
extern void dp_repeats_forget(void);

/* --- notes.c --- */

extern bool dp_notes_posted(void);
extern bool dp_note_take(DpNote *note);

/* --- tables.c --- */

/* forgets what was learned about the tables, as after an error */
extern void dp_tables_forget(void);

/* how often that was done, for who remembers something of them, too */
extern uint64 dp_tables_forgotten(void);

/* --- failure.c --- */

/* Sees to it that there is room for a failure of this process; ZC003: there is not.  The others are for the worker. */
extern void dp_failure_reserve(void);
extern bool dp_failures_posted(void);
extern int	dp_failures_retry(void);
extern List *dp_failures_stuck(void);
extern int	dp_failures_take(DpFailureCopy *copies, int most);
extern void dp_failures_settle(DpFailureCopy *copies, int n, bool single);

/* --- kept_wire.c: credits, answers and values, from the asking side to the worker --- */

/* what is handed over, of an item of a debit or of a request to keep values */
typedef struct DpExtraItem
{
	int			ncredits;
	const DpCredit *credits;
	int			nanswers;
	const DpKeptId *answers;
} DpExtraItem;

/* writes what belongs to a request into its slot, or a segment, which the caller detaches when it is answered */
extern dsm_segment *dp_extra_write(DpRequest *req, List *items, List *values);

/* attaches what a request has; false: who asked has gone.  The batch detaches it. */
extern bool dp_extra_attach(DpBatchRequest *request);
extern void dp_extra_detach(DpBatchRequest *request);

/* of each item of a debit, palloc'd; what they point to is in shared memory */
extern DpExtraItem *dp_extra_items(const DpBatchRequest *request);

/* List of DpKeptValues; values are in shared memory */
extern List *dp_extra_values(const DpBatchRequest *request);

/* --- kept_tend.c: what the worker does to answers that nobody waits for --- */

/* counts what a batch has added: answers that have values, and their bytes */
extern void dp_kept_count(int64 answers, int64 bytes);
extern bool dp_kept_due(void);

/* in a transaction of its own, with SPI and the tables locked; true */
extern bool dp_kept_tend(void);

/* --- request.c --- */

/* the longest reason of a correction */
#define DP_MAX_REASON_BYTES 500

/* what is asked of the worker besides amounts */
typedef struct DpOrder
{
	DpRequestKind kind;
	const struct DpAsker *asker;	/* of another server; NULL: the caller */
	bool		is_for;			/* on behalf of role, not of the caller */
	Oid			role;
	bool		of_caps;		/* no budget pays but the datasets' caps */
	const char *reason;			/* of a correction */
	List	   *values;			/* to be kept, DpKeptValues */
	const char *query;			/* the statement, not terminated; NULL: none */
	int			query_length;
} DpOrder;

/* where the session's client is, into room for NAMEDATALEN bytes */
extern void dp_ledger_client_address(char *address);

/* moves the statement that dp_ledger_set_query has named into the order */
extern void dp_take_query(DpOrder *order);

/* writes all of it into the process's slot, which is free; items are DpDebitItem */
extern void dp_write_request(DpRequest *req, List *items, const DpOrder *order);

/* --- launcher.c --- */

struct BackgroundWorker;

/* Fills in the registration of a worker; from_launcher: it leaves if there is nothing to debit. */
extern void dp_ledger_worker_registration(struct BackgroundWorker *worker, Oid database, bool from_launcher);
extern bool dp_ledger_from_launcher(const struct BackgroundWorker *worker);

/*
 * Tells whether somebody has, or waits for, a lock on a database that keeps
 * others from connecting to it: he waits, for five seconds, until all have left.
 */
extern bool dp_ledger_database_is_wanted(Oid database);

/* --- refusal.c --- */

extern void dp_raise_refusal(const DpReply *reply);

/* says that answers could not be kept; reply NULL: whether they were is not known */
extern void dp_raise_not_kept(const DpReply *reply);

/* --- writes.c --- */


/* --- stamp.c --- */

/* how the ledger's stamp compares with where the ledger is */
typedef enum DpStamp
{
	DP_STAMP_GOOD,
	DP_STAMP_FRESH,				/* there is none, and nothing was spent */
	/* all others: nothing may be debited until it is adopted */
	DP_STAMP_MISSING,			/* there is none, but something was spent */
	DP_STAMP_OTHER_SYSTEM,
	DP_STAMP_OTHER_DATABASE,
	DP_STAMP_OTHER_TIMELINE,
	DP_STAMP_OTHER_EXTENSION,
	DP_STAMP_NO_FILE,
	DP_STAMP_OTHER_PLACE		/* of the file, in the file system */
} DpStamp;

static inline bool
dp_stamp_is_good(DpStamp stamp)
{
	return stamp <= DP_STAMP_FRESH;
}

/* what one of the others means, a sentence */
extern const char *dp_stamp_text(DpStamp stamp);

/* compares; SPI is connected */
extern DpStamp dp_stamp_look(void);

/* compares, and stamps a ledger that is fresh; SPI is not connected */
extern DpStamp dp_stamp_check(void);

/* stamps the ledger as this database's; SPI is connected */
extern void dp_stamp_write(void);

/*
 * Whether it is time that the stamp names another file, as a worker has begun,
 * or there were debits; has it do so, in a transaction of its own, with SPI and
 * the tables locked.  False: the stamp is not good, or not any more.
 */
extern void dp_stamp_note_debits(void);
extern bool dp_stamp_due(void);
extern bool dp_stamp_renew(void);

/* lets the log's rows be numbered after those that it holds; SPI is connected */
extern void dp_advance_log_sequence(void);

/*
 * the stamp that would be written now, in one text, for datasets that are
 * adopted by themselves; SPI is connected, the tables are locked
 */
extern char *dp_stamp_here(void);
extern bool dp_stamp_is_here(const char *text);

/* --- ledger_file.c --- */

#define DP_TOKEN_LENGTH 32

typedef struct DpLedgerFile
{
	char		token[DP_TOKEN_LENGTH + 1];
	char		place[96];
} DpLedgerFile;

/* finds the place of a token's file; false when there is none, or it is damaged */
extern bool dp_ledger_file_read(Oid database, const char *token, DpLedgerFile *file);

/* makes one, durably; the caller's locks keep others from making or deleting any */
extern void dp_ledger_file_make(Oid database, DpLedgerFile *file);

extern void dp_ledger_file_delete(Oid database, const char *token);

/* deletes all but those of some tokens, char * */
extern void dp_ledger_files_sweep(Oid database, List *named);

/* --- blocks.c --- */

/* returns the rho that a balance has spent in the block among these days that has spent the most */
extern Numeric dp_blocks_spent(int64 ledger_id, Snapshot snapshot, DpDays days);

/* --- owner.c --- */

/*
 * Between these, a function of the extension's owner (function NULL: whoever
 * calls it) runs statements as the owner of the tables; debits wait.  An error
 * undoes all of it.
 */
typedef struct DpLedgerAdmin
{
	Oid			user;
	int			security;
} DpLedgerAdmin;

extern void dp_ledger_admin_begin(DpLedgerAdmin *admin, const char *function);
extern void dp_ledger_admin_end(DpLedgerAdmin *admin);

/* --- names.c --- */

/* names of the datasets that a role owns, as text[] */
extern Datum dp_ledger_datasets_of(Oid user);

/* of those that session_user or current_user owns, or may act as the owner of */
extern Datum dp_ledger_datasets_of_mine(void);
extern bool dp_ledger_role_is_mine(Oid role);

/* --- link.c --- */

/* gives what is nobody's to the roles of those names, after a restore */
extern void dp_link_roles(const char *dataset);

/* --- renewal.c --- */

/* the first renewal after now, counted from renews_at in whole periods */
extern TimestampTz dp_next_renewal(TimestampTz renews_at, const Interval *period, TimestampTz now);

/* tells whether it is time to renew, and renews_at and the period are sound */
extern bool dp_renewal_due(TimestampTz renews_at, const Interval *period, TimestampTz now);

#endif							/* DP_LEDGER_INT_H */
