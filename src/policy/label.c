/*-------------------------------------------------------------------------
 *
 * label.c
 *	  Security labels as the catalogue of table policies.
 *
 * On a table:	 {"dataset": "clinic", "unit": true, "id": "0a1b2c3d4e5f6071"}
 *				 {"dataset": "clinic", "through": 1}
 *				 {"dataset": "clinic", "unit": true, "block": true}
 * On a column:	 {"unit": true, "lower": 0, "upper": 1000, "total_lower": 0, "total_upper": 3000, "keys": ["a", null]}
 *				 {"through": true}
 *				 {"lower": "2024-01-01", "upper": "2024-12-31"}
 *				 {"block": true}
 * On a function: see function_labels.c
 * On a role:	 {ana}, the names that it had; see base/role_names.c
 *
 * "unit" on the table says that one of its columns bears the unit, "through"
 * how many of them reference a row that has one.  Without it a table whose
 * unit column went away would silently turn into one where each row is a unit.
 * So does "block" for the column that says in which block of time a row is.
 *
 * "id" is random, and makes a policy another one than any that was there
 * before, whatever it says: answers that are kept are those to questions about
 * tables of this policy.  It is new when a table is protected, and when
 * a column is dropped (drop.c); a table that replaces another takes it over with the
 * rest.  Labels that were written by hand, or before there were any, have none.
 *
 * Invariants:
 *	- on every path of inheritance at most one relation bears a table label,
 *	  and it is the topmost one: whoever reads a protected row reads it
 *	  through a protected relation.  Checked here when a label is set and in
 *	  drop.c when a child is attached.
 *	- every change of a label invalidates the relation and its descendants.
 *	- SECURITY LABEL itself makes sure that the user owns the table; what is
 *	  asked here in addition is the dataset.  A superuser may set any well
 *	  formed label, because pg_dump restores labels before the rows of
 *	  dp_cdp.dataset.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_seclabel.h"
#include "catalog/pg_type_d.h"
#include "commands/seclabel.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/json.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "base/distributed.h"
#include "base/errors.h"
#include "base/extension.h"
#include "base/input.h"
#include "policy/policy_int.h"

/* ------------------------------------------------------------------------
 * Text and struct
 * ------------------------------------------------------------------------
 */

static void
bad_label(const char *text)
{
	ereport(ERROR,
			(errcode(ERRCODE_DP_BAD_PARAMETER),
			 errmsg("\"%s\" is not a security label of dp_cdp: use the functions of schema dp_cdp, such as dp_cdp.protect_table, to set policies",
					text)));
}

static bool
value_is_true(const JsonbValue *v, const char *text)
{
	if (v->type != jbvBool || !v->val.boolean)
		bad_label(text);
	return true;
}

static char *
numeric_text(Numeric n)
{
	return DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(n)));
}

static void
parse_keys(JsonbContainer *array, DpLabel *label, const char *text)
{
	JsonbIterator *it = JsonbIteratorInit(array);
	JsonbIteratorToken token;
	JsonbValue	v;

	token = JsonbIteratorNext(&it, &v, true);
	if (token != WJB_BEGIN_ARRAY || v.val.array.rawScalar)
		bad_label(text);
	label->has_keys = true;
	label->keys = palloc(sizeof(char *) * Max(v.val.array.nElems, 1));
	while ((token = JsonbIteratorNext(&it, &v, true)) == WJB_ELEM)
	{
		if (v.type == jbvString)
			label->keys[label->nkeys++] = pnstrdup(v.val.string.val, v.val.string.len);
		else if (v.type == jbvNull)
			label->keys[label->nkeys++] = NULL;
		else
			bad_label(text);
	}
}

/* Sets the number that a label says under this name; returns false where the name is none of a number's. */
static bool
parse_number(DpLabel *label, const char *name, Numeric value)
{
	Numeric    *to = strcmp(name, "lower") == 0 ? &label->lower
	: strcmp(name, "upper") == 0 ? &label->upper
	: strcmp(name, "total_lower") == 0 ? &label->total_lower
	: strcmp(name, "total_upper") == 0 ? &label->total_upper : NULL;

	if (to != NULL)
		*to = value;
	return to != NULL;
}

/* The same for what is written as text, bounds of dates and times. */
static bool
parse_time(DpLabel *label, const char *name, const JsonbValue *v)
{
	char	  **to = strcmp(name, "lower") == 0 ? &label->first
	: strcmp(name, "upper") == 0 ? &label->last : NULL;

	if (to != NULL)
		*to = pnstrdup(v->val.string.val, v->val.string.len);
	return to != NULL;
}

/* Returns the identity that a label says. */
static char *
parse_id(const JsonbValue *v, const char *text)
{
	char	   *id = v->type == jbvString ? pnstrdup(v->val.string.val, v->val.string.len) : "";

	if (strlen(id) != DP_POLICY_ID_DIGITS || strspn(id, "0123456789abcdef") != DP_POLICY_ID_DIGITS)
		bad_label(text);
	return id;
}

static bool
less(Numeric a, Numeric b)
{
	return DatumGetBool(DirectFunctionCall2(numeric_lt, NumericGetDatum(a), NumericGetDatum(b)));
}

/* Bounds come in pairs, in order; totals are limits of bounded values, and 0 is one of them. */
static void
check_bounds(DpLabel *label, const char *text)
{
	Numeric		zero = int64_to_numeric(0);

	Datum		first;
	Datum		last;

	if (label->first != NULL && label->last != NULL &&
		(!dp_try_input(label->first, TIMESTAMPTZOID, -1, &first) || !dp_try_input(label->last, TIMESTAMPTZOID, -1, &last)))
		bad_label(text);
	label->has_bounds = label->lower != NULL;
	label->has_totals = label->total_lower != NULL;
	if ((label->first != NULL) != (label->last != NULL) || (label->first != NULL && label->has_bounds) ||
		(label->upper != NULL) != label->has_bounds || (label->total_upper != NULL) != label->has_totals ||
		(label->has_bounds && !less(label->lower, label->upper)) ||
		(label->has_totals && (!label->has_bounds || !less(label->total_lower, label->total_upper) ||
							   less(zero, label->total_lower) || less(label->total_upper, zero))))
		bad_label(text);
}

/* Parses a label; ZC004 when text is no label for a table (or column). */
static DpLabel *
label_parse(const char *text, bool is_column)
{
	DpLabel    *label = palloc0(sizeof(DpLabel));
	Datum		json;
	JsonbIterator *it;
	JsonbValue	v;

	if (!dp_try_input(text, JSONBOID, -1, &json))
		bad_label(text);
	it = JsonbIteratorInit(&DatumGetJsonbP(json)->root);
	if (JsonbIteratorNext(&it, &v, true) != WJB_BEGIN_OBJECT)
		bad_label(text);
	while (JsonbIteratorNext(&it, &v, true) == WJB_KEY)
	{
		char	   *name = pnstrdup(v.val.string.val, v.val.string.len);

		JsonbIteratorNext(&it, &v, true);
		if (strcmp(name, "unit") == 0)
			label->unit = value_is_true(&v, text);
		else if (strcmp(name, "block") == 0)
			label->block = value_is_true(&v, text);
		else if (is_column && strcmp(name, "through") == 0)
			label->through = value_is_true(&v, text);
		else if (strcmp(name, "through") == 0 && v.type == jbvNumeric)
		{
			char	   *end;

			label->through = strtol(numeric_text(v.val.numeric), &end, 10);
			if (*end != '\0' || label->through < 1 || label->through > INDEX_MAX_KEYS)
				bad_label(text);
		}
		else if (!is_column && strcmp(name, "dataset") == 0)
		{
			if (v.type != jbvString || v.val.string.len == 0 ||
				v.val.string.len >= NAMEDATALEN)
				bad_label(text);
			label->dataset = pnstrdup(v.val.string.val, v.val.string.len);
		}
		else if (!is_column && strcmp(name, "id") == 0)
			label->id = parse_id(&v, text);
		else if (is_column && v.type == jbvNumeric && parse_number(label, name, v.val.numeric))
			continue;
		else if (is_column && v.type == jbvString && parse_time(label, name, &v))
			continue;
		else if (is_column && strcmp(name, "keys") == 0 && v.type == jbvBinary)
			parse_keys(v.val.binary.data, label, text);
		else
			bad_label(text);
	}

	if (is_column)
	{
		check_bounds(label, text);
		if (!(label->unit || label->through || label->block || label->has_bounds || label->first != NULL || label->has_keys))
			bad_label(text);
	}
	else if (label->dataset == NULL)
		bad_label(text);
	if (label->unit && label->through)
		bad_label(text);
	return label;
}

/* Returns the text of a label, NULL when there is nothing to say. */
static char *
label_format(const DpLabel *label)
{
	StringInfoData s;
	const char *separator = "";

	initStringInfo(&s);
	appendStringInfoChar(&s, '{');
	if (label->dataset)
	{
		appendStringInfoString(&s, "\"dataset\": ");
		escape_json(&s, label->dataset);
		separator = ", ";
	}
	if (label->unit)
	{
		appendStringInfo(&s, "%s\"unit\": true", separator);
		separator = ", ";
	}
	if (label->through)
	{
		appendStringInfo(&s, label->dataset ? "%s\"through\": %d" : "%s\"through\": true", separator, label->through);
		separator = ", ";
	}
	if (label->block)
	{
		appendStringInfo(&s, "%s\"block\": true", separator);
		separator = ", ";
	}
	if (label->id)
	{
		appendStringInfo(&s, "%s\"id\": ", separator);
		escape_json(&s, label->id);
		separator = ", ";
	}
	if (label->has_bounds)
	{
		appendStringInfo(&s, "%s\"lower\": %s, \"upper\": %s", separator,
						 numeric_text(label->lower), numeric_text(label->upper));
		separator = ", ";
	}
	if (label->has_totals)
		appendStringInfo(&s, "%s\"total_lower\": %s, \"total_upper\": %s", separator,
						 numeric_text(label->total_lower), numeric_text(label->total_upper));
	if (label->first != NULL)
	{
		appendStringInfo(&s, "%s\"lower\": ", separator);
		escape_json(&s, label->first);
		appendStringInfoString(&s, ", \"upper\": ");
		escape_json(&s, label->last);
		separator = ", ";
	}
	if (label->has_keys)
	{
		appendStringInfo(&s, "%s\"keys\": [", separator);
		for (int i = 0; i < label->nkeys; i++)
		{
			if (i > 0)
				appendStringInfoString(&s, ", ");
			if (label->keys[i])
				escape_json(&s, label->keys[i]);
			else
				appendStringInfoString(&s, "null");
		}
		appendStringInfoChar(&s, ']');
	}
	if (s.len == 1)
		return NULL;
	appendStringInfoChar(&s, '}');
	return s.data;
}

/* ------------------------------------------------------------------------
 * Catalog
 * ------------------------------------------------------------------------
 */

void
dp_label_visit(Oid relid, void (*visit) (AttrNumber attnum, const char *label, void *arg), void *arg)
{
	Relation	rel = table_open(SecLabelRelationId, AccessShareLock);
	ScanKeyData key[2];
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key[0], Anum_pg_seclabel_objoid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relid));
	ScanKeyInit(&key[1], Anum_pg_seclabel_classoid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(RelationRelationId));
	scan = systable_beginscan(rel, SecLabelObjectIndexId, true, NULL, 2, key);
	while ((tuple = systable_getnext(scan)) != NULL)
	{
		TupleDesc	desc = RelationGetDescr(rel);
		AttrNumber	attnum = ((FormData_pg_seclabel *) GETSTRUCT(tuple))->objsubid;
		bool		isnull;
		char	   *provider;

		provider = TextDatumGetCString(heap_getattr(tuple, Anum_pg_seclabel_provider,
													desc, &isnull));
		if (strcmp(provider, DP_LABEL_PROVIDER) == 0)
			visit(attnum, TextDatumGetCString(heap_getattr(tuple, Anum_pg_seclabel_label, desc, &isnull)), arg);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
}

static void
add_label(AttrNumber attnum, const char *text, void *result)
{
	List	  **list = result;
	DpLabel    *label = label_parse(text, attnum != 0);

	label->attnum = attnum;
	/* the index delivers them in this order, but do not rely on it */
	*list = attnum == 0 ? lcons(label, *list) : lappend(*list, label);
}

List *
dp_label_list(Oid relid)
{
	List	   *result = NIL;

	dp_label_visit(relid, add_label, &result);
	return result;
}

DpLabel *
dp_label_get(Oid relid, AttrNumber attnum)
{
	ObjectAddress object = {RelationRelationId, relid, attnum};
	char	   *text = GetSecurityLabel(&object, DP_LABEL_PROVIDER);
	DpLabel    *label;

	if (text == NULL)
		return NULL;
	label = label_parse(text, attnum != 0);
	label->attnum = attnum;
	return label;
}

void
dp_label_put(Oid relid, AttrNumber attnum, const DpLabel *label)
{
	ObjectAddress object = {RelationRelationId, relid, attnum};

	SetSecurityLabel(&object, DP_LABEL_PROVIDER, label ? label_format(label) : NULL);
	dp_policy_invalidate(relid);
}

char *
dp_new_policy_id(void)
{
	uint64		random;

	if (!pg_strong_random(&random, sizeof(random)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random bits for a policy")));
	return psprintf("%016llx", (unsigned long long) random);
}

void
dp_label_renew(Oid relid)
{
	DpLabel    *label = dp_label_get(relid, 0);

	if (label == NULL)
		return;
	label->id = dp_new_policy_id();
	/* a label can be written once in a command */
	CommandCounterIncrement();
	dp_label_put(relid, 0, label);
}

List *
dp_label_tables(const char *dataset)
{
	List	   *result = NIL;
	Relation	rel = table_open(SecLabelRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	tuple;

	while ((tuple = systable_getnext(scan)) != NULL)
	{
		FormData_pg_seclabel *form = (FormData_pg_seclabel *) GETSTRUCT(tuple);
		TupleDesc	desc = RelationGetDescr(rel);
		bool		isnull;
		DpLabel    *label;

		if (form->classoid != RelationRelationId || form->objsubid != 0 ||
			strcmp(TextDatumGetCString(heap_getattr(tuple, Anum_pg_seclabel_provider,
													desc, &isnull)),
				   DP_LABEL_PROVIDER) != 0)
			continue;
		label = label_parse(TextDatumGetCString(heap_getattr(tuple, Anum_pg_seclabel_label,
															 desc, &isnull)),
							false);
		/* Citus takes no label from shards */
		if ((dataset == NULL || strcmp(label->dataset, dataset) == 0) && !dp_is_shard(form->objoid))
			result = lappend_oid(result, form->objoid);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return result;
}

void
dp_policy_invalidate(Oid relid)
{
	List	   *relids = find_all_inheritors(relid, NoLock, NULL);
	ListCell   *lc;

	foreach(lc, relids)
	{
		if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(lfirst_oid(lc))))
			CacheInvalidateRelcacheByRelid(lfirst_oid(lc));
	}
}

/* ------------------------------------------------------------------------
 * SECURITY LABEL FOR dp_cdp
 * ------------------------------------------------------------------------
 */

static void
require_dataset_owner(const char *dataset)
{
	Oid			owner = dp_dataset_owner(dataset);

	/*
	 * A worker of a cluster has labels of its coordinator's datasets, and
	 * releases nothing: Citus sets them on shards as the table's owner, whom
	 * the coordinator has asked.
	 */
	if (!OidIsValid(owner) && dp_is_citus_worker())
		return;
	if (!OidIsValid(owner))
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("dataset \"%s\" does not exist: create it with dp_cdp.create_dataset", dataset)));
	if (!has_privs_of_role(GetUserId(), owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of dataset \"%s\"", dataset)));
}

static void
relabel_table(Oid relid, const char *text)
{
	DpLabel    *old = dp_label_get(relid, 0);
	DpLabel    *new;

	if (text == NULL)
	{
		/*
		 * Without its dataset nobody gets an answer from the table, and its
		 * owner, who is asking, is the only one left to decide.
		 */
		if (old != NULL && !superuser() && OidIsValid(dp_dataset_owner(old->dataset)))
			require_dataset_owner(old->dataset);
		return;
	}

	new = label_parse(text, false);
	dp_check_protectable(relid);
	if (superuser())
		return;
	require_dataset_owner(new->dataset);
	if (old != NULL &&
		(strcmp(old->dataset, new->dataset) != 0 || old->unit != new->unit || old->through != new->through ||
		 old->block != new->block))
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("table \"%s\" is already protected: call dp_cdp.unprotect_table first",
						get_rel_name(relid))));
}

/*
 * Does a table's label say that a column bears the unit, or references what
 * does, and fewer do?  So it is while a dump is restored, and nothing is
 * released from it until they do.
 */
static bool
awaits_unit(Oid relid, const DpLabel *table, const DpLabel *new)
{
	int			missing = new->unit ? table->unit : new->through ? table->through : table->block;
	bool		no_block = table->block;
	ListCell   *lc;

	foreach(lc, dp_label_list(relid))
	{
		DpLabel    *label = lfirst(lc);

		if (label->attnum != 0)
		{
			missing -= new->unit ? label->unit : new->through ? label->through : label->block;
			no_block = no_block && !label->block;
		}
	}
	return missing > 0 && (!new->block || no_block);
}

/* Tells whether two labels of a column, which may be missing, say the same of units. */
static bool
same_unit(const DpLabel *a, const DpLabel *b)
{
	return (a != NULL && a->unit) == (b != NULL && b->unit) &&
		(a != NULL && a->through) == (b != NULL && b->through) &&
		(a != NULL && a->block) == (b != NULL && b->block);
}

static void
relabel_column(Oid relid, AttrNumber attnum, const char *text)
{
	DpLabel    *table;
	DpLabel    *old;
	DpLabel    *new = NULL;

	if (text !=NULL)
	{
		if (attnum < 0)
			ereport(ERROR,
					(errcode(ERRCODE_DP_BAD_PARAMETER),
					 errmsg("system columns have no policy: name another column")));
		new = label_parse(text, true);
	}
	if (superuser())
		return;

	table = dp_label_get(relid, 0);
	old = dp_label_get(relid, attnum);
	if (table == NULL)
	{
		if (text == NULL)
			return;
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("table \"%s\" is not protected: call dp_cdp.protect_table first",
						get_rel_name(relid))));
	}
	require_dataset_owner(table->dataset);
	if (!same_unit(old, new) &&
		(new == NULL || !(new->unit || new->through || new->block) ||
		 (old != NULL && (old->unit || old->through || old->block)) ||
		 !awaits_unit(relid, table, new) || dp_is_virtual_column(relid, attnum)))
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("the privacy unit of table \"%s\" cannot be changed by SECURITY LABEL: call dp_cdp.unprotect_table and dp_cdp.protect_table",
						get_rel_name(relid))));
}

/* Lets superusers restore the former names of a role, which decide whose rows of the ledger are whose. */
static void
relabel_role(const char *text)
{
	if (!superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("only superusers may set the security label of a role for dp_cdp, which holds its former names")));
	if (text !=NULL && !dp_role_label_is_sound(text))
		bad_label(text);
}

static void
relabel(const ObjectAddress *object, const char *text)
{
	if (object->classId == ProcedureRelationId)
	{
		dp_function_relabel(object->objectId, text);
		return;
	}
	if (object->classId == AuthIdRelationId)
	{
		relabel_role(text);
		return;
	}
	if (object->classId != RelationRelationId)
		ereport(ERROR,
				(errcode(ERRCODE_DP_BAD_PARAMETER),
				 errmsg("dp_cdp has security labels for tables, their columns and functions only")));

	if (object->objectSubId == 0)
		relabel_table(object->objectId, text);
	else
		relabel_column(object->objectId, object->objectSubId, text);
	dp_policy_invalidate(object->objectId);
}

void
dp_label_init(void)
{
	register_label_provider(DP_LABEL_PROVIDER, relabel);
}
