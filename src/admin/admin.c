/*-------------------------------------------------------------------------
 *
 * admin.c
 *	  Tools of all administration functions: whom they run as, their
 *	  statements, datasets by name, and tables and columns that arguments name.
 *
 * Invariants of admin/:
 *	- anyone may execute these functions; each asks for itself whether the
 *	  caller owns the dataset (and, to protect a table, the table).
 *	- arguments are checked before anything is written, and an error leaves
 *	  nothing behind.
 *	- spent amounts are never touched here.
 *	- row locks are those that the statement needs and no more: the ledger's
 *	  worker waits for them.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "admin/admin.h"
#include "base/compat.h"
#include "base/errors.h"
#include "base/extension.h"
#include "base/settings.h"
#include "ledger/ledger.h"
#include "policy/policy.h"

/* as many datasets are listed, that there are more is said */
#define MAX_LISTED 10

void
dp_admin_not_loaded(void)
{
	dp_raise(BAD_PARAMETER,
			 errmsg("dp_cdp must be loaded when the server starts: add it to shared_preload_libraries and restart"));
}

void
dp_admin_require_primary(void)
{
	if (RecoveryInProgress())
		dp_raise(LEDGER_UNAVAILABLE,
				 errmsg("policies and budgets cannot be changed on a standby; call the function on the primary"));
}

void
dp_admin_begin(DpAdminContext *context)
{
	Oid			owner;

	if (!dp_preloaded)
		dp_admin_not_loaded();
	owner = dp_extension_owner();
	if (!OidIsValid(owner))
		dp_raise(BAD_PARAMETER,
				 errmsg("extension dp_cdp is not installed in this database: run CREATE EXTENSION dp_cdp"));
	GetUserIdAndSecContext(&context->userid, &context->security);
	SetUserIdAndSecContext(owner, context->security | SECURITY_LOCAL_USERID_CHANGE);
	SPI_connect();
}

void
dp_admin_end(DpAdminContext *context)
{
	SPI_finish();
	SetUserIdAndSecContext(context->userid, context->security);
}

uint64
dp_admin_execute(const char *sql, int nargs, Oid *types, Datum *values,
				 const char *nulls, bool writes)
{
	int			rc;

	if (writes)
		dp_ledger_write_begin();
	rc = SPI_execute_with_args(sql, nargs, types, values, nulls, false, 0);
	if (writes)
		dp_ledger_write_end();
	if (rc < 0)
		elog(ERROR, "dp_cdp: %s: %s", SPI_result_code_string(rc), sql);
	return SPI_processed;
}

/* Kept answers may be many, so they are read once for all balances that a statement makes. */
void
dp_admin_number_balances(void)
{
	static TimestampTz seen_by = 0;
	bool		is_seen = seen_by != 0 && seen_by == GetCurrentStatementStartTimestamp();

	dp_admin_execute(psprintf("SELECT pg_catalog.setval('dp_cdp_internal.ledger_id_seq', m.id)"
							  " FROM (SELECT greatest((SELECT max(ledger_id) FROM dp_cdp_internal.dataset),"
							  "   (SELECT max(ledger_id) FROM dp_cdp_internal.budget), (SELECT max(ledger_id) FROM dp_cdp_internal.block_spent)%s) AS id) m,"
							  "  dp_cdp_internal.ledger_id_seq s WHERE m.id >= s.last_value + s.is_called::int",
							  is_seen ? "" : ", (SELECT max(p.id) FROM dp_cdp_internal.kept_answer k, unnest(k.paid_by) AS p(id))"),
					 0, NULL, NULL, NULL, false);
	seen_by = GetCurrentStatementStartTimestamp();
}

void
dp_admin_forget_blocks(void)
{
	dp_admin_execute("DELETE FROM dp_cdp_internal.block_spent k"
					 " WHERE NOT EXISTS (SELECT FROM dp_cdp_internal.budget b WHERE b.ledger_id = k.ledger_id)"
					 " AND NOT EXISTS (SELECT FROM dp_cdp_internal.dataset d WHERE d.ledger_id = k.ledger_id)",
					 0, NULL, NULL, NULL, true);
}

char *
dp_admin_dataset_name(FunctionCallInfo fcinfo, int argno)
{
	char	   *name;

	dp_check_version();
	if (PG_ARGISNULL(argno))
		dp_raise(BAD_PARAMETER, errmsg("the name of the dataset is NULL: give a name"));
	name = text_to_cstring(PG_GETARG_TEXT_PP(argno));
	if (name[0] == '\0' || strlen(name) >= NAMEDATALEN)
		dp_raise(BAD_PARAMETER, errmsg("the name of a dataset must have between 1 and %d bytes", NAMEDATALEN - 1));
	return name;
}

/* a dataset that somebody may have meant */
typedef struct Candidate
{
	char	   *name;
	int			distance;		/* edits between the name and the one that was
								 * given */
} Candidate;

static int
nearest_first(const void *a, const void *b)
{
	const Candidate *x = a;
	const Candidate *y = b;

	return x->distance != y->distance ? x->distance - y->distance : strcmp(x->name, y->name);
}

/* Adds to an error the datasets that a user owns, the one with the most similar name first; inside dp_admin_begin/end. */
static int
hint_at_datasets(const char *name, Oid user)
{
	uint64		n = dp_admin_execute("SELECT * FROM dp_cdp_internal.dataset", 0, NULL, NULL, NULL, false);
	SPITupleTable *rows = SPI_tuptable;
	Candidate  *found = palloc(Max(n, 1) * sizeof(Candidate));
	int			nfound = 0;
	StringInfoData list;

	for (uint64 i = 0; i < n; i++)
	{
		char	   *other = SPI_getvalue(rows->vals[i], rows->tupdesc, SPI_fnumber(rows->tupdesc, "name"));

		if (!has_privs_of_role(user, dp_read_dataset_owner(rows->vals[i], rows->tupdesc)))
			continue;
		found[nfound].name = other;
		found[nfound++].distance = varstr_levenshtein(name, strlen(name), other, strlen(other), 1, 1, 1, true);
	}
	if (nfound == 0)
		return 0;
	qsort(found, nfound, sizeof(Candidate), nearest_first);
	initStringInfo(&list);
	for (int i = 0; i < Min(nfound, MAX_LISTED); i++)
		appendStringInfo(&list, "%s\"%s\"", i > 0 ? ", " : "", found[i].name);
	if (nfound > MAX_LISTED)
		appendStringInfo(&list, " and %d more", nfound - MAX_LISTED);
	return errhint("Your datasets are %s.", list.data);
}

/* Adds to an error that the name is that of a table, whose dataset the user owns. */
static int
tell_table(const char *name, Oid user)
{
	List	   *parts;
	List	   *names = NIL;
	const DpTable *table;

	if (!SplitIdentifierString(pstrdup(name), '.', &parts) || parts == NIL || list_length(parts) > 2)
		return 0;
	foreach_ptr(char, part, parts)
		names = lappend(names, makeString(part));
	table = dp_policy_table(RangeVarGetRelid(makeRangeVarFromNameList(names), NoLock, true));
	if (table == NULL || !has_privs_of_role(user, dp_dataset_owner(table->dataset)))
		return 0;
	return errdetail("\"%s\" is a table, which is in dataset \"%s\".", name, table->dataset);
}

DpDatasetRow *
dp_admin_dataset(const char *name, Oid user, DpDatasetLock lock)
{
	static const char *const sql[] = {
		[DP_LOCK_REFERENCE] = "SELECT * FROM dp_cdp_internal.dataset WHERE name = $1 FOR KEY SHARE",
		[DP_LOCK_CHANGE] = "SELECT * FROM dp_cdp_internal.dataset WHERE name = $1 FOR UPDATE",
		[DP_LOCK_DROP] = "SELECT * FROM dp_cdp_internal.dataset WHERE name = $1 FOR UPDATE"
	};
	Oid			types[] = {TEXTOID};
	Datum		values[] = {CStringGetTextDatum(name)};
	DpDatasetRow *row;
	Oid			owner;

	dp_admin_require_primary();
	if (dp_admin_execute(sql[lock], 1, types, values, NULL, false) == 0)
		dp_raise(BAD_PARAMETER,
				 lock == DP_LOCK_DROP ? errmsg("dataset \"%s\" does not exist: there is nothing to drop", name) :
				 errmsg("dataset \"%s\" does not exist: create it with dp_cdp.create_dataset", name),
				 tell_table(name, user),
				 hint_at_datasets(name, user));

	owner = dp_read_dataset_owner(SPI_tuptable->vals[0], SPI_tuptable->tupdesc);
	if (!has_privs_of_role(user, owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of dataset \"%s\"", name),
				 dp_owner_detail(owner)));
	row = palloc0(sizeof(DpDatasetRow));
	dp_read_dataset_settings(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, row);
	dp_read_dataset_limits(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, row);
	return row;
}

/* ------------------------------------------------------------------------
 * Tables and columns
 * ------------------------------------------------------------------------
 */

Oid
dp_admin_table_argument(FunctionCallInfo fcinfo, int argno, const char *parameter)
{
	Oid			relid;

	dp_check_version();
	relid = PG_ARGISNULL(argno) ? InvalidOid : PG_GETARG_OID(argno);
	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
		dp_raise(BAD_PARAMETER,
				 errmsg("\"%s\" is not the name of a table: give one, with its schema if it is not in search_path",
						parameter));
	return relid;
}

Oid
dp_admin_table(FunctionCallInfo fcinfo)
{
	return dp_admin_table_argument(fcinfo, 0, "table");
}

void
dp_admin_require_table_owner(Oid relid)
{
	if (!dp_owns_table(relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(get_rel_relkind(relid)),
					   get_rel_name(relid));
}

void
dp_admin_lock_table(Oid relid)
{
	dp_admin_require_primary();
	dp_admin_lock_existing(relid, ShareUpdateExclusiveLock);
}

void
dp_admin_lock_existing(Oid relid, LOCKMODE mode)
{
	LockRelationOid(relid, mode);
	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
		dp_raise(BAD_PARAMETER, errmsg("the table was dropped in the meantime"));
}

/* Adds to an error the column with the most similar name, whatever its case and quotes; its owner may see it. */
static int
hint_at_column(Oid relid, const char *name)
{
	Relation	rel = relation_open(relid, AccessShareLock);
	const char *nearest = NULL;
	int			least = NAMEDATALEN;
	size_t		n = strlen(name);
	bool		in_quotes = n > 2 && name[0] == '"' && name[n - 1] == '"';
	char	   *bare = in_quotes ? pnstrdup(name + 1, n - 2) : pstrdup(name);

	for (int i = 0; i < RelationGetNumberOfAttributes(rel); i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(rel), i);
		const char *other = NameStr(attribute->attname);
		int			distance;

		if (attribute->attisdropped)
			continue;
		distance = pg_strcasecmp(bare, other) == 0 ? 0 : varstr_levenshtein(bare, strlen(bare), other, strlen(other), 1, 1, 1, true);
		if (distance < least)
		{
			least = distance;
			nearest = pstrdup(other);
		}
	}
	relation_close(rel, NoLock);
	if (nearest == NULL || least > 3)
		return 0;
	return errhint("Perhaps you mean %s. A name is given as it is stored, without double quotes.", quote_literal_cstr(nearest));
}

AttrNumber
dp_admin_column(FunctionCallInfo fcinfo, int argno, const char *parameter, Oid relid,
				Oid *type, int32 *typmod, Oid *collation)
{
	char	   *name;
	AttrNumber	attnum;

	if (PG_ARGISNULL(argno))
		dp_raise(BAD_PARAMETER, errmsg("\"%s\" must not be NULL: name a column of table \"%s\"",
									   parameter, get_rel_name(relid)));
	name = NameStr(*PG_GETARG_NAME(argno));
	attnum = get_attnum(relid, name);
	if (attnum == InvalidAttrNumber)
		dp_raise(BAD_PARAMETER, errmsg("table \"%s\" has no column \"%s\": name one of its columns",
									   get_rel_name(relid), name),
				 hint_at_column(relid, name));
	if (attnum < 0)
		dp_raise(BAD_PARAMETER, errmsg("\"%s\" is a system column of table \"%s\": name one of its own columns",
									   name, get_rel_name(relid)));
	get_atttypetypmodcoll(relid, attnum, type, typmod, collation);
	return attnum;
}

DpLabel *
dp_admin_table_label(Oid relid)
{
	DpLabel    *label = dp_label_get(relid, 0);
	List	   *ancestors;

	if (label != NULL)
		return label;
	ancestors = dp_labelled_ancestors(relid);
	if (ancestors != NIL)
		dp_raise(BAD_PARAMETER, errmsg("table \"%s\" takes its policy from \"%s\": change the policy there",
									   get_rel_name(relid), get_rel_name(linitial_oid(ancestors))));
	dp_raise(BAD_PARAMETER, errmsg("table \"%s\" is not protected: call dp_cdp.protect_table first",
								   get_rel_name(relid)));
	return NULL;				/* keep compiler quiet */
}

const char *
dp_admin_require_policy_owner(Oid relid)
{
	DpLabel    *label = dp_admin_table_label(relid);
	Oid			user = GetUserId();
	DpAdminContext context;

	dp_admin_begin(&context);
	(void) dp_admin_dataset(label->dataset, user, DP_LOCK_REFERENCE);
	dp_admin_end(&context);
	return label->dataset;
}

DpAdminColumn
dp_admin_owned_column(FunctionCallInfo fcinfo)
{
	DpAdminColumn c = {.relid = dp_admin_table(fcinfo)};

	dp_admin_require_policy_owner(c.relid);
	dp_admin_lock_table(c.relid);
	/* while this waited the policy may have gone, or become another's */
	dp_admin_require_policy_owner(c.relid);
	c.attnum = dp_admin_column(fcinfo, 1, "column", c.relid, &c.type, &c.typmod, &c.collation);
	return c;
}

DpLabel *
dp_admin_column_label(Oid relid, AttrNumber attnum)
{
	DpLabel    *label = dp_label_get(relid, attnum);

	if (label == NULL)
	{
		label = palloc0(sizeof(DpLabel));
		label->attnum = attnum;
	}
	return label;
}

void
dp_admin_report_readers(Oid relid)
{
	char	   *readers = dp_admin_readers(relid);

	if (readers != NULL)
		dp_admin_warn(NOTICE,
					  errmsg("these roles hold SELECT on table \"%s\" and go on reading it without noise: %s",
							 get_rel_name(relid), readers),
					  errhint("REVOKE SELECT from those who are to see private answers only."));
	readers = dp_admin_partial_readers(relid);
	if (readers != NULL)
		dp_admin_warn(NOTICE,
					  errmsg("these roles read table \"%s\" by some columns or by a view, and get no rows from now on, but private answers if they have a budget: %s",
							 get_rel_name(relid), readers),
					  errhint("Give them a budget with dp_cdp.set_budget, or SELECT on the table, if they are to see rows."));
}
