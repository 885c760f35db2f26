/*-------------------------------------------------------------------------
 *
 * link.c
 *	  Roles of a ledger that came from another server.
 *
 * There the OIDs are those of other roles, or of none.  Names decide: what
 * stands under an OID and a name that do not belong together here goes to the
 * role that has this name, or had it before it was renamed (its security label
 * came along).  Where there is none, or more than one, as somebody has taken
 * the name of a role that was renamed, it is nobody's until the owner of the
 * extension names a role with dp_cdp.adopt_role().
 *
 * Balances and datasets get the new OIDs.  Rows of the log stay as they are,
 * as they are many; role_alias says whom they mean.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "utils/builtins.h"

#include "base/errors.h"
#include "base/role_names.h"
#include "ledger/ledger_int.h"

PG_FUNCTION_INFO_V1(dp_ledger_adopt_role);

/*
 * Roles by each name that means one role alone; or the role $2 by the name $1.
 */
#define ROLES \
	"(SELECT n.name, r.oid, r.rolname FROM (" \
	"   SELECT a.name, min(a.oid) AS oid FROM (" \
	"     SELECT rolname::text AS name, oid FROM pg_catalog.pg_roles" \
	"     UNION SELECT f.name, l.objoid FROM pg_catalog.pg_shseclabel l," \
	"       LATERAL unnest(CASE WHEN l.provider = '" DP_LABEL_PROVIDER "' THEN l.label::text[] END) AS f(name)" \
	"       WHERE l.provider = '" DP_LABEL_PROVIDER "' AND l.classoid = 'pg_catalog.pg_authid'::regclass) a" \
	"   GROUP BY a.name HAVING count(*) = 1) n JOIN pg_catalog.pg_roles r ON r.oid = n.oid" \
	"   WHERE $1 IS NULL" \
	" UNION ALL SELECT $1, oid, rolname FROM pg_catalog.pg_roles WHERE rolname = $2) r"

/* rows whose OID and name are nobody's, with the role that they go to */
#define UNKNOWN(role, name) " r.name = " name " AND dp_cdp_internal.known_role(" role ", " name ") IS NULL"

/*
 * The same of balances and datasets, which an alias does not change: where
 * there is one, as a dataset was adopted before this one, it says the role.
 */
#define UNKNOWN_OWNER(role, name) \
	" r.name = coalesce((SELECT k.rolname::text FROM pg_catalog.pg_roles k" \
	"   WHERE k.oid = dp_cdp_internal.known_role(" role ", " name ")), " name ")" \
	" AND dp_cdp_internal.known_role(" role ", " name ") IS DISTINCT FROM " role

/* of the dataset $3, NULL: of all */
#define OF_DATASET(name) " AND ($3 IS NULL OR " name " = $3)"

static uint64
run(const char *query, const char *from, const char *to, const char *dataset)
{
	Oid			types[3] = {TEXTOID, TEXTOID, TEXTOID};
	const char *texts[3] = {from, to, dataset};
	Datum		values[3];
	char		nulls[3];

	for (int i = 0; i < lengthof(texts); i++)
	{
		values[i] = texts[i] ? CStringGetTextDatum(texts[i]) : (Datum) 0;
		nulls[i] = texts[i] ? ' ' : 'n';
	}
	if (SPI_execute_with_args(query, lengthof(types), types, values, nulls, false, 0) < 0)
		elog(ERROR, "ledger query failed");
	return SPI_processed;
}

static uint64
link_roles(const char *from, const char *to, const char *dataset)
{
	uint64		n;

	dp_ledger_write_begin();
	n = run("UPDATE dp_cdp_internal.dataset d SET owner = r.oid, owner_name = r.rolname FROM " ROLES
			" WHERE " UNKNOWN_OWNER("d.owner", "d.owner_name") OF_DATASET("d.name"), from, to, dataset);
	/* of several in one dataset the latest; the others stay nobody's */
	n += run("UPDATE dp_cdp_internal.budget b SET role = x.oid, role_name = x.rolname"
			 " FROM (SELECT DISTINCT ON (b.dataset, r.oid) b.ledger_id, r.oid, r.rolname FROM dp_cdp_internal.budget b, " ROLES
			 "   WHERE " UNKNOWN_OWNER("b.role", "b.role_name") OF_DATASET("b.dataset")
			 "   AND NOT EXISTS (SELECT FROM dp_cdp_internal.budget o WHERE o.dataset = b.dataset AND o.role = r.oid"
			 "     AND dp_cdp_internal.known_role(o.role, o.role_name) = r.oid)"
			 "   ORDER BY b.dataset, r.oid, b.ledger_id DESC) x"
			 " WHERE b.ledger_id = x.ledger_id", from, to, dataset);
	/* last: an alias makes the pair known, and what is known stays as it is */
	n += run("INSERT INTO dp_cdp_internal.role_alias (role, role_name, is_role, is_name)"
			 " SELECT p.role, p.name, r.oid, r.rolname"
			 " FROM (SELECT role, role_name FROM dp_cdp_internal.release_log WHERE true" OF_DATASET("dataset") " GROUP BY 1, 2"
			 "   UNION SELECT session_role, session_role_name FROM dp_cdp_internal.release_log"
			 "   WHERE session_role <> role" OF_DATASET("dataset") " GROUP BY 1, 2)"
			 "   AS p(role, name), " ROLES
			 " WHERE " UNKNOWN("p.role", "p.name")
			 " ON CONFLICT (role, role_name) DO UPDATE SET is_role = excluded.is_role, is_name = excluded.is_name",
			 from, to, dataset);
	dp_ledger_write_end();
	return n;
}

/* Gives all of a dataset (NULL: of all) that is nobody's to the roles of those names; the caller is the tables' owner, SPI is connected. */
void
dp_link_roles(const char *dataset)
{
	(void) link_roles(NULL, NULL, dataset);
}

/*
 * SQL: dp_cdp.adopt_role(role_name, role)
 *
 * What the ledger has of a role that there is no more is the role's from now
 * on.  Balances that the role has already stay beside it, unchanged.
 */
Datum
dp_ledger_adopt_role(PG_FUNCTION_ARGS)
{
	DpLedgerAdmin admin;
	uint64		given;
	char	   *from = PG_ARGISNULL(0) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(0));
	char	   *to = PG_ARGISNULL(1) ? NULL : dp_role_name(PG_GETARG_OID(1));

	dp_ledger_admin_begin(&admin, "adopt_role");
	if (from == NULL)
		dp_raise(BAD_PARAMETER, errmsg("role_name must be given, as dp_cdp.budgets and dp_cdp.releases show it"),
				 errdetail("It is the name of a role that does not exist any more."));
	if (to == NULL)
		dp_raise(BAD_PARAMETER, errmsg("role is no role: give the name of an existing role"));
	given = link_roles(from, to, NULL);
	if (given == 0)
		dp_raise(BAD_PARAMETER,
				 errmsg("the ledger has nothing of a missing role \"%s\" that role \"%s\" could be given: see role_missing in dp_cdp.budgets",
						from, to));
	dp_ledger_admin_end(&admin);
	PG_RETURN_INT64(given);
}
