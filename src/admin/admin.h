/*-------------------------------------------------------------------------
 *
 * admin.h
 *	  What the administration functions share.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_ADMIN_H
#define DP_ADMIN_H

#include "base/dataset_row.h"
#include "policy/policy_admin.h"
#include "storage/lockdefs.h"

/* how a function holds the dataset it works on */
typedef enum DpDatasetLock
{
	DP_LOCK_REFERENCE,			/* only keeps it from being dropped */
	DP_LOCK_CHANGE,
	DP_LOCK_DROP
} DpDatasetLock;

/*
 * Between begin and end, statements run as the owner of the extension, and
 * SPI is connected.  The functions have search_path pinned in their
 * definition; an error restores user and SPI with the (sub)transaction.
 */
typedef struct DpAdminContext
{
	Oid			userid;
	int			security;
} DpAdminContext;

extern void dp_admin_begin(DpAdminContext *context);
extern void dp_admin_end(DpAdminContext *context);

/* Ends all answers of a dataset that are kept; between dp_admin_begin and dp_admin_end. */
extern int64 dp_admin_end_answers(const char *dataset);

/*
 * One statement with parameters; the number of rows.  writes: it changes or
 * deletes rows that the ledger guards.
 */
extern uint64 dp_admin_execute(const char *sql, int nargs, Oid *types, Datum *values,
							   const char *nulls, bool writes);

/*
 * Lets balances that are made next be numbered after those there are and those
 * that have paid for kept answers: a restore may have set the sequence back.
 */
extern void dp_admin_number_balances(void);

/* Removes what was spent in blocks by balances that there are no more. */
extern void dp_admin_forget_blocks(void);

/* ZC003 on a standby */
extern void dp_admin_require_primary(void);

/* the text of an argument; ZC004 when it is NULL, or the library is of another version than the objects */
extern char *dp_admin_dataset_name(FunctionCallInfo fcinfo, int argno);

/*
 * Reads and locks a dataset, inside dp_admin_begin/end.  ZC004 when there is
 * none, 42501 when user does not own it.
 */
extern DpDatasetRow *dp_admin_dataset(const char *name, Oid user, DpDatasetLock lock);

/* ZC004: the library was not loaded at server start */
extern void dp_admin_not_loaded(void) __attribute__((noreturn));

/*
 * the table that argument 0 or another names; ZC004 when there is none, or the
 * library is of another version than the objects
 */
extern Oid	dp_admin_table(FunctionCallInfo fcinfo);
extern Oid	dp_admin_table_argument(FunctionCallInfo fcinfo, int argno, const char *parameter);

/* 42501 unless the caller owns the table */
extern void dp_admin_require_table_owner(Oid relid);

/* the label that the table itself bears; ZC004 when there is none */
extern DpLabel *dp_admin_table_label(Oid relid);

/* tells who reads the table without dp_cdp; inside dp_admin_begin/end */
extern void dp_admin_report_readers(Oid relid);

/* keeps its columns as they are until the end of the transaction */
extern void dp_admin_lock_table(Oid relid);

/* locks a table; ZC004 where it was dropped while this waited */
extern void dp_admin_lock_existing(Oid relid, LOCKMODE mode);

/*
 * The column of an argument, by number, with its type.  parameter is the name
 * of the argument.
 */
extern AttrNumber dp_admin_column(FunctionCallInfo fcinfo, int argno, const char *parameter,
								  Oid relid, Oid *type, int32 *typmod, Oid *collation);

/*
 * Errors unless the table itself is protected and the caller owns the
 * dataset, which is kept from being dropped, and returned.
 */
extern const char *dp_admin_require_policy_owner(Oid relid);

/* A column of a protected table. */
typedef struct DpAdminColumn
{
	Oid			relid;
	AttrNumber	attnum;
	Oid			type;
	int32		typmod;
	Oid			collation;
} DpAdminColumn;

/* Reads the arguments "table" and "column" of who owns the policy, and locks the table. */
extern DpAdminColumn dp_admin_owned_column(FunctionCallInfo fcinfo);

/* label of a column, or an empty one */
extern DpLabel *dp_admin_column_label(Oid relid, AttrNumber attnum);

/* ------------------------------------------------------------------------
 * warnings.c: notices that are a column of the function's row, too
 * ------------------------------------------------------------------------
 */

/*
 * Raises a NOTICE or WARNING, of errmsg() and what else ereport() takes, and adds its message to the warnings of the row that the
 * function returns.  A session without notices (client_min_messages) has them there.
 */
#define dp_admin_warn(level, ...) \
	((void) errstart(ERROR, TEXTDOMAIN), (void) (__VA_ARGS__), dp_admin_raise_warning(level, __FILE__, __LINE__, __func__))
extern void dp_admin_raise_warning(int level, const char *file, int line, const char *function);

/* Returns the messages since it was called last, an array of text, which is empty where there are none. */
extern Datum dp_admin_warnings(void);

/* ------------------------------------------------------------------------
 * policy_rows.c: what functions on tables and columns return
 * ------------------------------------------------------------------------
 */

/*
 * Return a value of dp_cdp.table_policy or dp_cdp.column_policy, which is the type of
 * the function's result.  label: of the column, as it was written.  Outside of
 * dp_admin_begin and dp_admin_end.
 */
extern Datum dp_admin_table_row(FunctionCallInfo fcinfo, Oid relid);
extern Datum dp_admin_column_row(FunctionCallInfo fcinfo, Oid relid, const DpLabel *label);

/* who holds SELECT on the table and its children, but for owners; NULL: nobody; inside dp_admin_begin/end */
extern char *dp_admin_readers(Oid relid);

/* Returns who reads it by some columns or by a view alone, and how, in SPI's memory; NULL: nobody. */
extern char *dp_admin_partial_readers(Oid relid);

/* ------------------------------------------------------------------------
 * row_checks.c: rows that are outside of what is declared
 * ------------------------------------------------------------------------
 */

/*
 * Tells who may read the rows of a small table how they differ from what was declared just now: of a column its bounds and
 * totals, else its keys; without a column, attnum 0, whose rows they are, else limits alone.  Outside of dp_admin_begin and dp_admin_end.
 */
extern void dp_admin_tell_of_rows(Oid relid, AttrNumber attnum, bool of_bounds);

/* ------------------------------------------------------------------------
 * blocks.c: tables whose rows are in blocks of time
 * ------------------------------------------------------------------------
 */

typedef struct DpBlockArgument
{
	AttrNumber	column;			/* 0: none */
	Interval   *every;			/* NULL: as the dataset has it */
	DpBlockLength length;
} DpBlockArgument;

/* reads the arguments block and every, which begin at argument "first"; ZC004 */
extern void dp_admin_read_block(FunctionCallInfo fcinfo, int first, Oid relid, DpBlockArgument *argument);

/*
 * Refuses a table with blocks in a dataset without, and the other way round;
 * a dataset that has nothing yet gets blocks.
 */
extern void dp_admin_settle_blocks(const char *dataset, const DpDatasetRow *row, Oid user, Oid relid, bool through,
								   const DpBlockArgument *argument);

/*
 * Makes the triggers that keep rows of a table in their blocks, and those of
 * the table that it belongs through to; drops those that are not needed any
 * more.  like: a table that it is to take the place of, or InvalidOid.  Inside
 * dp_admin_begin/end.
 */
extern void dp_admin_keep_blocks(Oid relid, Oid like);

/* ------------------------------------------------------------------------
 * reset.c: options of datasets
 * ------------------------------------------------------------------------
 */

/* gives each option the value that it has where create_dataset leaves it out; a default_delta of 0 follows delta */
extern void dp_admin_default_options(DpDatasetRow *row);

/* ZC004 where the relation would change after a release */
extern void dp_admin_check_neighbors(const DpDatasetRow *row, const char *neighbors);

/*
 * Puts the options back that an argument of alter_dataset names, an array of
 * text; ZC004 for other names, and for those that have a value, too.
 */
extern void dp_admin_reset_options(FunctionCallInfo fcinfo, int arg, DpDatasetRow *row);

/*
 * Returns an expression of SQL, an array of text: the options that differ
 * between "d" and "old", two rows of dp_cdp_internal.dataset, as alter_dataset calls them.
 */
extern char *dp_admin_options_that_differ(void);

/* ------------------------------------------------------------------------
 * granted.c: what a budget or cap allows
 * ------------------------------------------------------------------------
 */

/* amounts, but for epsilon */
typedef struct DpGrant
{
	const char *dataset;
	Oid			role;			/* InvalidOid: the cap of the dataset */
	const char *role_name;		/* NULL: that of role */
	bool		no_limit;		/* a cap on rho that there is not */
	int64		rho;
	double		epsilon;		/* as it was asked for; 0: rho was */
	int64		report_delta;	/* that epsilon belongs to */
	int64		key_delta;		/* for key selections, beside it */
	int64		default_rho;	/* of the dataset, as the next two */
	int64		min_rho;
	int64		default_delta;
	bool		has_cap;		/* of the dataset, as the next */
	int64		cap;
} DpGrant;

/*
 * Returns a value of dp_cdp.granted, which is the type of the function's
 * result.  Outside of dp_admin_begin and dp_admin_end.
 */
extern Datum dp_admin_granted(FunctionCallInfo fcinfo, const DpGrant *grant);

/* Returns a value of dp_cdp.altered, likewise, with the options that were changed, an array of text. */
extern Datum dp_admin_altered(FunctionCallInfo fcinfo, const DpGrant *cap, Datum changed);

/* warns where a limit pays for few aggregates */
extern void dp_admin_tell_of_little(const DpGrant *grant);

/* tells of a budget above the cap, and of a limit that promises little */
extern void dp_admin_tell_of_much(const DpGrant *grant);

/* tells of a budget whose renewals promise little, and that no cap ends */
extern void dp_admin_tell_of_renewals(const DpGrant *grant, const Interval *period);

/* tells of a limit below what is spent, and whether it is one; between dp_admin_begin and dp_admin_end */
extern bool dp_admin_tell_of_spent(const DpGrant *grant);

/* tells of budgets above a new cap; between dp_admin_begin and dp_admin_end */
extern void dp_admin_tell_of_budgets(const DpGrant *cap);

/* how often the best guesser is right once rho and key_delta are spent, rounded up to 4 decimals */
extern double dp_admin_best_guess(double rho, double key_delta);

/* the settings of a dataset that a grant tells of */
extern DpGrant dp_admin_grant(const DpDatasetRow *row, const char *name);

/* The arguments epsilon, and delta beside it, which is needed; NULL among them, and no number, are ZC004. */
extern double dp_admin_epsilon(FunctionCallInfo fcinfo, int epsilon, int delta);

/* the largest rho that is (epsilon, delta)-DP, in amounts; ZC004 where it is none */
extern int64 dp_admin_rho_for_epsilon(double epsilon, int64 delta);

/* an amount of delta as a double, never above it */
extern double dp_admin_delta_down(int64 amount);

/* keeps a role from being dropped until the end of the transaction; ZC004 when there is none */
extern void dp_admin_lock_role(Oid role, const char *parameter);

#endif							/* DP_ADMIN_H */
