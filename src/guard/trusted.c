/*-------------------------------------------------------------------------
 *
 * trusted.c
 *	  Who owns what a finished inner query is made of.
 *
 * The owner of a type, a collation, a function or an operator class can drop
 * it, change it, or make others fail by it, and what fails at a row tells of
 * the row.  So each of them belongs to PostgreSQL, to this extension, to a
 * superuser, or to those who are trusted with the rows: the owner of the
 * protected tables, as whom they are read, and the dataset's owner.  What is a
 * member of an extension belongs to the extension's owner, too: a trusted
 * extension can be installed by anybody with CREATE on the database, its
 * objects are a superuser's then, and it can be dropped with them.
 *
 * Who owns the schema that it is in is not asked: he may drop it, but not
 * change it, and release/objects.c holds what the query uses.
 *
 * Invariants:
 * - Every object of these kinds that the inner query names is looked at, and
 *	 what a type brings with it: its base type, elements and columns, and the
 *	 default operators by which it is compared, sorted and hashed.
 * - What passes is recorded in the release, unless it cannot be dropped.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "base/compat.h"
#include "base/extension.h"
#include "catalog/dependency.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "guard/describe/describe.h"
#include "guard/rewrite.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

typedef struct TrustContext
{
	DpLevel    *level;
	Oid			run_as;
	Oid			dataset_owner;
	Oid			extension_owner;	/* of dp_cdp */
	List	   *queries;		/* around the node, innermost first */
	List	   *types;			/* that were looked at */
} TrustContext;

/* ------------------------------------------------------------------------
 * Messages
 * ------------------------------------------------------------------------
 */

static const char *
remedy_for(TrustContext *c, Oid classid, Oid objid, Node *node)
{
	const char *owner = quote_identifier(GetUserNameFromId(c->run_as, false));

	switch (classid)
	{
		case TypeRelationId:
			return psprintf("use a built-in type such as text, or have the type given to the table's owner: ALTER TYPE %s OWNER TO %s",
							format_type_be_qualified(objid), owner);
		case CollationRelationId:
			return psprintf("%s, or have it given to the table's owner: ALTER COLLATION %s OWNER TO %s",
							node != NULL && IsA(node, Var) ? "write COLLATE \"C\" in a subquery around its table" : "write COLLATE \"C\"",
							quote_identifier(get_collation_name(objid)), owner);
		case RelationRelationId:
			return psprintf("have it given to the table's owner: ALTER TABLE %s OWNER TO %s",
							dp_relation_text(objid), owner);
		case ProcedureRelationId:
			return psprintf("have it given to the table's owner: ALTER FUNCTION ... OWNER TO %s", owner);
		default:
			return psprintf("use a type without it, or have it given to the table's owner with ALTER ... OWNER TO %s", owner);
	}
}

static void
refuse_object(TrustContext *c, Oid classid, Oid objid, Node *node, Oid owner, Oid extension)
{
	DpSplitContext *cxt = c->level->cxt;
	ObjectAddress object = {classid, objid, 0};
	const char *name = getObjectDescription(&object, false);
	const char *role = GetUserNameFromId(owner, true);
	const char *where = "";

	if (node != NULL && IsA(node, Var) && classid != RelationRelationId &&
		((Var *) node)->varattno > 0 && ((Var *) node)->varlevelsup == 0)
	{
		RangeTblEntry *rte = rt_fetch(((Var *) node)->varno, linitial_node(Query, c->queries)->rtable);

		where = psprintf(", of column \"%s\",", get_rte_attribute_name(rte, ((Var *) node)->varattno));
	}
	if (OidIsValid(extension))
		dp_refuse_at(exprLocation(node),
					 errmsg("%s%s cannot be used on rows of protected table \"%s\", as extension \"%s\" belongs to role \"%s\"; let a superuser install it, or use a built-in type",
							name, where, c->level->table, get_extension_name(extension), role ? role : "?"));
	dp_refuse_at(exprLocation(node),
				 errmsg("%s%s cannot be used on rows of protected table \"%s\", because it belongs to role \"%s\"; %s",
						name, where, c->level->table, role ? role : "?", remedy_for(c, classid, objid, node)));
}

/* ------------------------------------------------------------------------
 * Objects
 * ------------------------------------------------------------------------
 */

static Oid
object_schema(Oid classid, Oid objid)
{
	int			cacheid = get_object_catcache_oid(classid);
	HeapTuple	tuple = SearchSysCache1(cacheid, ObjectIdGetDatum(objid));
	Oid			schema;
	bool		isnull;

	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	schema = DatumGetObjectId(SysCacheGetAttr(cacheid, tuple, get_object_attnum_namespace(classid), &isnull));
	ReleaseSysCache(tuple);
	return schema;
}

/*
 * Refuses an object of somebody who is not trusted, and records others.  node:
 * the expression that it is found in, for messages.  Objects of this extension
 * pass: in its schemas nobody but its owner, a superuser, can drop them.
 */
static void
check_object(TrustContext *c, Oid classid, Oid objid, Node *node)
{
	Oid			owner;
	Oid			extension;

	/*
	 * pinned objects can neither be dropped nor be given away by others than
	 * superusers
	 */
	if (objid < FirstUnpinnedObjectId)
		return;
	owner = dp_object_owner(classid, objid);
	if (owner == c->extension_owner && dp_is_own_schema(object_schema(classid, objid)))
		return;
	/* tables of the owner are not asked: there may be thousands of partitions */
	extension = classid == RelationRelationId && owner == c->run_as ? InvalidOid
		: getExtensionOfObject(classid, objid);
	if (OidIsValid(owner) && !dp_owner_is_trusted(owner, c->run_as, c->dataset_owner))
		refuse_object(c, classid, objid, node, owner, InvalidOid);
	if (OidIsValid(extension))
	{
		owner = dp_owner_of_extension(extension);
		if (!dp_owner_is_trusted(owner, c->run_as, c->dataset_owner))
			refuse_object(c, classid, objid, node, owner, extension);
	}
	if (classid != RelationRelationId)
		dp_record_object(c->level->release, classid, objid);
}

static void
check_operator(TrustContext *c, Oid opno, Node *node)
{
	if (!OidIsValid(opno))
		return;
	check_object(c, OperatorRelationId, opno, node);
	check_object(c, ProcedureRelationId, get_opcode(opno), node);
}

/* A type's default operator class, which PostgreSQL looks for among all of pg_opclass. */
typedef struct DefaultClass
{
	struct
	{
		Oid			type;
		Oid			method;
	}			key;			/* of the hash */
	Oid			opclass;		/* InvalidOid: it has none */
} DefaultClass;

static HTAB *default_classes = NULL;

static void
forget_default_classes(Datum arg, int cacheid, uint32 hashvalue)
{
	if (default_classes != NULL)
		hash_destroy(default_classes);
	default_classes = NULL;
}

/* GetDefaultOpClass, remembered until an operator class or a cast changes. */
static Oid
default_class(Oid type, Oid method)
{
	static bool registered = false;
	DefaultClass class = {{type, method}};
	DefaultClass *found = default_classes ? hash_search(default_classes, &class.key, HASH_FIND, NULL) : NULL;

	if (found != NULL)
		return found->opclass;
	if (!registered)
	{
		CacheRegisterSyscacheCallback(CLAOID, forget_default_classes, (Datum) 0);
		CacheRegisterSyscacheCallback(CASTSOURCETARGET, forget_default_classes, (Datum) 0);
		registered = true;
	}
	class.opclass = GetDefaultOpClass(type, method);
	if (default_classes == NULL)
	{
		HASHCTL		ctl = {.keysize = sizeof(class.key), .entrysize = sizeof(DefaultClass)};

		default_classes = hash_create("dp_cdp default operator classes", 64, &ctl, HASH_ELEM | HASH_BLOBS);
	}
	found = hash_search(default_classes, &class.key, HASH_ENTER, NULL);
	*found = class;
	return found->opclass;
}

static void
check_default_class(TrustContext *c, Oid type, Oid method, Node *node)
{
	Oid			opclass = default_class(type, method);

	if (!OidIsValid(opclass))
		return;
	check_object(c, OperatorClassRelationId, opclass, node);
	check_object(c, OperatorFamilyRelationId, get_opclass_family(opclass), node);
}

static void
check_type(TrustContext *c, Oid type, Node *node)
{
	TypeCacheEntry *entry;

	check_stack_depth();
	if (!OidIsValid(type) || list_member_oid(c->types, type))
		return;
	c->types = lappend_oid(c->types, type);
	if (get_typtype(type) == TYPTYPE_PSEUDO)
		return;
	check_object(c, TypeRelationId, type, node);

	entry = lookup_type_cache(type, TYPECACHE_EQ_OPR | TYPECACHE_CMP_PROC | TYPECACHE_HASH_PROC |
							  TYPECACHE_HASH_EXTENDED_PROC);
	check_operator(c, entry->eq_opr, node);
	check_object(c, ProcedureRelationId, entry->cmp_proc, node);
	check_object(c, ProcedureRelationId, entry->hash_proc, node);
	check_object(c, ProcedureRelationId, entry->hash_extended_proc, node);
	check_default_class(c, type, BTREE_AM_OID, node);
	check_default_class(c, type, HASH_AM_OID, node);

	switch (entry->typtype)
	{
		case TYPTYPE_DOMAIN:
			check_type(c, getBaseType(type), node);
			break;
		case TYPTYPE_RANGE:
			check_type(c, get_range_subtype(type), node);
			break;
		case TYPTYPE_MULTIRANGE:
			check_type(c, get_multirange_range(type), node);
			break;
		case TYPTYPE_COMPOSITE:
			{
				TupleDesc	desc = lookup_rowtype_tupdesc_copy(type, -1);

				for (int i = 0; i < desc->natts; i++)
					if (!TupleDescAttr(desc, i)->attisdropped)
						check_type(c, TupleDescAttr(desc, i)->atttypid, node);
				break;
			}
		default:
			check_type(c, get_element_type(type), node);
			break;
	}
}

static void
check_collation(TrustContext *c, Oid collation, Node *node)
{
	if (OidIsValid(collation))
		check_object(c, CollationRelationId, collation, node);
}

/* Checks a table, with the partitions and children that are read with the rights on it. */
static void
check_relation(TrustContext *c, RangeTblEntry *rte)
{
	if (rte->rtekind != RTE_RELATION)
		return;
	if (!rte->inh)
		check_object(c, RelationRelationId, rte->relid, NULL);
	else
		foreach_oid(inheritor, find_all_inheritors(rte->relid, AccessShareLock, NULL))
			check_object(c, RelationRelationId, inheritor, NULL);
}

/* ------------------------------------------------------------------------
 * The walk
 * ------------------------------------------------------------------------
 */

typedef struct FunctionContext
{
	TrustContext *trust;
	Node	   *node;
} FunctionContext;

static bool
check_function(Oid funcid, void *context)
{
	FunctionContext *f = context;

	check_object(f->trust, ProcedureRelationId, funcid, f->node);
	return false;
}

static void
check_clauses(TrustContext *c, List *clauses)
{
	foreach_node(SortGroupClause, clause, clauses)
	{
		check_operator(c, clause->eqop, NULL);
		check_operator(c, clause->sortop, NULL);
	}
}

static void
check_entry(TrustContext *c, RangeTblEntry *rte)
{
	foreach_oid(coltype, rte->coltypes)
		check_type(c, coltype, NULL);
	foreach_oid(colcollation, rte->colcollations)
		check_collation(c, colcollation, NULL);
}

static void
check_expression(TrustContext *c, Node *node)
{
	FunctionContext f = {c, node};

	switch (nodeTag(node))
	{
			/* these are no expressions: what they hold is looked at by itself */
		case T_List:
		case T_TargetEntry:
		case T_CaseWhen:
		case T_FromExpr:
		case T_JoinExpr:
		case T_SortGroupClause:
		case T_SetOperationStmt:
			return;
		default:
			break;
	}
	check_type(c, exprType(node), node);
	check_collation(c, exprCollation(node), node);
	check_collation(c, exprInputCollation(node), node);
	switch (nodeTag(node))
	{
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
			check_operator(c, ((OpExpr *) node)->opno, node);
			break;
		case T_ScalarArrayOpExpr:
			check_operator(c, ((ScalarArrayOpExpr *) node)->opno, node);
			break;
		case T_Aggref:
			check_clauses(c, ((Aggref *) node)->aggorder);
			check_clauses(c, ((Aggref *) node)->aggdistinct);
			break;
		default:
			break;
	}
	(void) check_functions_in_node(node, check_function, &f);
}

static bool
trust_walker(Node *node, TrustContext *c)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		check_entry(c, (RangeTblEntry *) node);
		return false;
	}
	/* entries of the join tree are read; rules leave others */
	if (IsA(node, RangeTblRef))
	{
		check_relation(c, rt_fetch(((RangeTblRef *) node)->rtindex, linitial_node(Query, c->queries)->rtable));
		return false;
	}
	if (IsA(node, Query))
	{
		Query	   *query = (Query *) node;

		check_stack_depth();
		c->queries = lcons(query, c->queries);
		check_clauses(c, query->groupClause);
		check_clauses(c, query->sortClause);
		check_clauses(c, query->distinctClause);
		foreach_node(WindowClause, window, query->windowClause)
		{
			check_clauses(c, window->partitionClause);
			check_clauses(c, window->orderClause);
		}
		query_tree_walker(query, trust_walker, c, QTW_EXAMINE_RTES_BEFORE | QTW_IGNORE_JOINALIASES);
		c->queries = list_delete_first(c->queries);
		return false;
	}
	/* of a function of FROM its call is the expression */
	if (!IsA(node, RangeTblFunction))
		check_expression(c, node);
	return expression_tree_walker(node, trust_walker, c);
}

void
dp_check_trusted(DpLevel *level)
{
	DpRelease  *release = level->release;
	TrustContext c = {
		.level = level,
		.run_as = level->allow.run_as,
		.dataset_owner = dp_policy_dataset(release->dataset)->owner,
		.extension_owner = dp_extension_owner()
	};

	trust_walker((Node *) release->inner_query, &c);
}
