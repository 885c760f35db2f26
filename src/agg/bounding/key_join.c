/*-------------------------------------------------------------------------
 *
 * key_join.c
 *	  The plan node that joins rows with the one row that a whole number names.
 *
 * A table whose rows belong to whom rows of another belong to is joined with that one in nearly each
 * query, by its key, for two columns.  PostgreSQL's hash join keeps whole tuples
 * and looks for each by way of a bucket: two places in memory that are hardly ever in a cache.
 * Here columns are words in arrays, and keys that lie close together, as those of a serial do,
 * are looked up in an array of row numbers: where rows lie in the order of those that they refer
 * to, one row's place is beside that of the row before it.
 *
 * Invariants:
 *	- the planner knows that the inner side has at most one row for a key (inner_unique), and that
 *	  nothing else is asked of a pair: so the rows are those of any other inner join;
 *	- keys are numbers of 16 to 64 bits and the operator is their equality; NULL has no match;
 *	- the inner side's columns are passed by value;
 *	- only where units are bounded, that is, never for a query of somebody else's.
 *
 * By estimate the arrays take at most a half of what a hash table may; where
 * there are more rows than that, they take more, in proportion to them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_opfamily_d.h"
#include "catalog/pg_type_d.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "executor/nodeHash.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"

#include "agg/bounding/asked.h"
#include "base/compat.h"

#define DP_KEY_JOIN_NODE "DpKeyJoin"

/* columns of the inner side, at most: a bit tells of each whether it is NULL */
#define MOST_COLUMNS 32

/* an array of row numbers has at most so many places for each row */
#define PLACES_OF_ROW 4

/* room for rows: so many, and a little more than the planner expects */
#define FIRST_ROWS 1024
#define EXPECTED 1.05

/* numbers of rows have 32 bits, and 0 is none */
#define MOST_ROWS (PG_UINT32_MAX - 1)

typedef struct KeyJoin
{
	CustomScanState css;
	PlanState  *outer;
	PlanState  *inner;
	AttrNumber	outer_key;
	AttrNumber	inner_key;
	int16		outer_typlen;
	int16		inner_typlen;
	int			nouter;			/* columns of the outer side, of which so many
								 * are read */
	int			outer_read;
	int			ninner;
	MemoryContext context;		/* of what follows; NULL: not read yet */
	uint64		nrows;
	uint64		room;			/* for rows */
	Datum	   *columns;		/* ninner for each row, the key among them */
	uint32	   *nulls;			/* bits of them; NULL: there are none */
	uint32	   *places;			/* numbers of rows, from 1 on: by key - least,
								 * or by a hash */
	bool		by_key;
	int64		least;
	uint64		nplaces;
	int			shift;			/* of hashes */
} KeyJoin;

/* ------------------------------------------------------------------------
 * Planning
 * ------------------------------------------------------------------------
 */

/* Tells whether a clause is the equality of two columns of whole numbers; sets them, that of the inner relation apart. */
static bool
read_clause(const RestrictInfo *clause, const RelOptInfo *innerrel, Node **outer_key, Node **inner_key)
{
	OpExpr	   *op = (OpExpr *) clause->clause;
	Node	   *left;
	Node	   *right;

	if (clause->pseudoconstant || !IsA(op, OpExpr) || list_length(op->args) != 2 ||
		get_op_opfamily_strategy(op->opno, INTEGER_BTREE_FAM_OID) != BTEqualStrategyNumber)
		return false;
	left = linitial(op->args);
	right = lsecond(op->args);
	if (!IsA(left, Var) || !IsA(right, Var))
		return false;
	*inner_key = ((Var *) left)->varno == innerrel->relid ? left : right;
	*outer_key = *inner_key == left ? right : left;
	return ((Var *) *inner_key)->varno == innerrel->relid && ((Var *) *outer_key)->varno != innerrel->relid &&
		((Var *) *inner_key)->varattno > 0 && ((Var *) *outer_key)->varattno > 0;
}

/* Tells whether all that the inner side returns are columns that are passed by value, and fits into memory by estimate. */
static bool
may_be_kept(const RelOptInfo *innerrel, const Path *inner)
{
	int			n = list_length(innerrel->reltarget->exprs);
	ListCell   *lc;

	foreach(lc, innerrel->reltarget->exprs)
	{
		if (!IsA(lfirst(lc), Var) || ((Var *) lfirst(lc))->varattno <= 0 || !get_typbyval(exprType(lfirst(lc))))
			return false;
	}
	return n <= MOST_COLUMNS && inner->rows < MOST_ROWS / 2 &&
		inner->rows * (n * sizeof(Datum) + PLACES_OF_ROW * sizeof(uint32)) <= get_hash_memory_limit() / 2;
}

static Plan *
plan_key_join(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
			  List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);
	Plan	   *outer = linitial(custom_plans);
	Plan	   *inner = lsecond(custom_plans);
	TargetEntry *outer_key;
	TargetEntry *inner_key;
	ListCell   *lc;

	dp_omit_projection(root, outer);
	outer_key = tlist_member(linitial(path->custom_private), outer->targetlist);
	inner_key = tlist_member(lsecond(path->custom_private), inner->targetlist);
	if (outer_key == NULL || inner_key == NULL)
		elog(ERROR, "the key is not a column of the plans below " DP_KEY_JOIN_NODE);
	foreach(lc, outer->targetlist)
		dp_add_scan_column(scan, copyObject(lfirst_node(TargetEntry, lc)->expr));
	foreach(lc, inner->targetlist)
		dp_add_scan_column(scan, copyObject(lfirst_node(TargetEntry, lc)->expr));
	scan->custom_plans = custom_plans;
	/* for EXPLAIN alone */
	scan->custom_exprs = copyObject(path->custom_private);
	scan->custom_private = list_make2(makeInteger(outer_key->resno), makeInteger(inner_key->resno));
	scan->scan.plan.targetlist = tlist;
	scan->scan.scanrelid = 0;
	scan->flags = path->flags;
	scan->methods = &dp_key_join_methods;
	return &scan->scan.plan;
}

static const CustomPathMethods key_join_path_methods = {
	.CustomName = DP_KEY_JOIN_NODE,
	.PlanCustomPath = plan_key_join
};

const Path *
dp_key_join_outer(const Path *path)
{
	return IsA(path, CustomPath) && ((const CustomPath *) path)->methods == &key_join_path_methods ?
		linitial(((const CustomPath *) path)->custom_paths) : NULL;
}

void
dp_add_key_join(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel, RelOptInfo *innerrel,
				JoinType jointype, JoinPathExtraData *extra)
{
	Path	   *outer = outerrel->cheapest_total_path;
	Path	   *inner = innerrel->cheapest_total_path;
	Node	   *outer_key;
	Node	   *inner_key;
	CustomPath *path;

	if (jointype != JOIN_INNER || !extra->inner_unique || !enable_hashjoin || list_length(extra->restrictlist) != 1 ||
		outer == NULL || inner == NULL || PATH_REQ_OUTER(outer) != NULL || PATH_REQ_OUTER(inner) != NULL ||
		!bms_is_empty(joinrel->lateral_relids) ||
		!read_clause(linitial(extra->restrictlist), innerrel, &outer_key, &inner_key) || !may_be_kept(innerrel, inner))
		return;
	path = makeNode(CustomPath);
	path->path.pathtype = T_CustomScan;
	path->path.parent = joinrel;
	path->path.pathtarget = joinrel->reltarget;
	path->path.parallel_safe = joinrel->consider_parallel && outer->parallel_safe && inner->parallel_safe;
	path->path.rows = joinrel->rows;
	/* as a hash join of unique rows, which compares keys again in its buckets */
	path->path.startup_cost = outer->startup_cost + inner->total_cost + (cpu_operator_cost + cpu_tuple_cost) * inner->rows;
	path->path.total_cost = path->path.startup_cost + outer->total_cost - outer->startup_cost +
		cpu_operator_cost * outer->rows + joinrel->reltarget->cost.per_tuple * joinrel->rows;
	dp_path_count_disabled(&path->path, outer, true);
	path->flags = DP_CUSTOMPATH_PROJECTION;
	path->custom_paths = list_make2(outer, inner);
	path->custom_private = list_make2(outer_key, inner_key);
	path->methods = &key_join_path_methods;
	add_path(joinrel, &path->path);
}

/* ------------------------------------------------------------------------
 * The inner side
 * ------------------------------------------------------------------------
 */

static inline int64
whole_number(Datum value, int16 typlen)
{
	switch (typlen)
	{
		case sizeof(int16):
			return DatumGetInt16(value);
		case sizeof(int32):
			return DatumGetInt32(value);
		default:
			return DatumGetInt64(value);
	}
}

/* Returns the key of a row of the inner side. */
static inline int64
key_of(const KeyJoin *node, uint64 row)
{
	return whole_number(node->columns[row * node->ninner + node->inner_key - 1], node->inner_typlen);
}

static inline uint64
first_place(const KeyJoin *node, int64 key)
{
	return ((uint64) key * UINT64CONST(0x9E3779B97F4A7C15)) >> node->shift;
}

static void
make_room(KeyJoin *node)
{
	uint64		room = node->room * 2;

	if (node->nrows < node->room)
		return;
	node->columns = repalloc_huge(node->columns, room * node->ninner * sizeof(Datum));
	if (node->nulls != NULL)
		node->nulls = repalloc_huge(node->nulls, room * sizeof(uint32));
	node->room = room;
}

/* Keeps a row of the inner side, whose columns are there. */
static void
keep_row(KeyJoin *node, const TupleTableSlot *row)
{
	uint32		nulls = 0;

	if (row->tts_isnull[node->inner_key - 1])
		return;
	if (node->nrows >= MOST_ROWS)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("too many rows to join by their key")));
	make_room(node);
	memcpy(node->columns + node->nrows * node->ninner, row->tts_values, node->ninner * sizeof(Datum));
	for (int i = 0; i < node->ninner; i++)
		nulls |= (uint32) row->tts_isnull[i] << i;
	if (nulls != 0 && node->nulls == NULL)
		node->nulls = MemoryContextAllocExtended(node->context, node->room * sizeof(uint32), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	if (node->nulls != NULL)
		node->nulls[node->nrows] = nulls;
	node->nrows++;
}

/* Decides how rows are found: by their keys, where these lie close together, else by hashes. */
static void
plan_places(KeyJoin *node)
{
	int64		least = PG_INT64_MAX;
	int64		greatest = PG_INT64_MIN;

	for (uint64 i = 0; i < node->nrows; i++)
	{
		least = Min(least, key_of(node, i));
		greatest = Max(greatest, key_of(node, i));
	}
	node->least = least;
	node->by_key = node->nrows > 0 && (uint64) greatest - (uint64) least < node->nrows * PLACES_OF_ROW;
	if (node->by_key)
	{
		node->nplaces = (uint64) greatest - (uint64) least + 1;
		return;
	}
	node->nplaces = 2;
	node->shift = 63;
	while (node->nplaces < node->nrows * 2)
	{
		node->nplaces *= 2;
		node->shift--;
	}
}

static void
fill_places(KeyJoin *node)
{
	Size		size;

	plan_places(node);
	size = node->nplaces * sizeof(uint32);
	node->places = MemoryContextAllocHuge(node->context, size);
	dp_advise_huge_pages(node->places, size);
	memset(node->places, 0, size);
	for (uint64 i = 0; i < node->nrows; i++)
	{
		uint64		at;

		if (i % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		if (node->by_key)
			at = (uint64) key_of(node, i) - (uint64) node->least;
		else
			for (at = first_place(node, key_of(node, i)); node->places[at] != 0;)
				at = (at + 1) & (node->nplaces - 1);
		node->places[at] = (uint32) (i + 1);
	}
}

/* Reads the inner side. */
static void
read_inner(KeyJoin *node)
{
	TupleTableSlot *row;

	node->context = AllocSetContextCreate(node->css.ss.ps.state->es_query_cxt, "dp_cdp rows by key", ALLOCSET_DEFAULT_SIZES);
	node->nrows = 0;
	node->room = FIRST_ROWS + Min(node->inner->plan->plan_rows * EXPECTED, MOST_ROWS);
	node->columns = MemoryContextAllocHuge(node->context, node->room * node->ninner * sizeof(Datum));
	dp_advise_huge_pages(node->columns, node->room * node->ninner * sizeof(Datum));
	node->nulls = NULL;
	while (row = ExecProcNode(node->inner), !TupIsNull(row))
	{
		slot_getallattrs(row);
		keep_row(node, row);
	}
	fill_places(node);
}

/* Gives back what was read. */
static void
forget_inner(KeyJoin *node)
{
	if (node->context != NULL)
		MemoryContextDelete(node->context);
	node->context = NULL;
}

/* ------------------------------------------------------------------------
 * Execution
 * ------------------------------------------------------------------------
 */

/* Returns the last column of the outer side that the node's own rows are made of, or its key. */
static int
last_column_read(const CustomScan *plan, int nouter, AttrNumber key)
{
	int			last = key;
	ListCell   *lc;

	foreach(lc, pull_var_clause((Node *) plan->scan.plan.targetlist, PVC_INCLUDE_PLACEHOLDERS | PVC_RECURSE_AGGREGATES))
	{
		const Var  *var = lfirst(lc);

		if (!IsA(var, Var))
			return nouter;
		if (var->varattno <= nouter)
			last = Max(last, var->varattno);
	}
	return last;
}

static void
key_join_begin(CustomScanState *css, EState *estate, int eflags)
{
	KeyJoin    *node = (KeyJoin *) css;
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;
	TupleTableSlot *scan = css->ss.ss_ScanTupleSlot;
	TupleDesc	outer;
	TupleDesc	inner;

	node->outer = ExecInitNode(linitial(plan->custom_plans), estate, eflags);
	node->inner = ExecInitNode(lsecond(plan->custom_plans), estate, eflags);
	css->custom_ps = list_make2(node->outer, node->inner);
	outer = ExecGetResultType(node->outer);
	inner = ExecGetResultType(node->inner);
	node->nouter = outer->natts;
	node->ninner = inner->natts;
	node->outer_key = intVal(linitial(plan->custom_private));
	node->inner_key = intVal(lsecond(plan->custom_private));
	node->outer_typlen = TupleDescAttr(outer, node->outer_key - 1)->attlen;
	node->inner_typlen = TupleDescAttr(inner, node->inner_key - 1)->attlen;
	node->outer_read = css->ss.ps.ps_ProjInfo == NULL ? node->nouter : last_column_read(plan, node->nouter, node->outer_key);
	memset(scan->tts_isnull, true, scan->tts_tupleDescriptor->natts * sizeof(bool));
}

/* Returns the number of the row that has a key, from 1 on; 0: there is none. */
static inline uint64
find_row(const KeyJoin *node, int64 key)
{
	uint64		at;

	if (node->by_key)
	{
		at = (uint64) key - (uint64) node->least;
		return at < node->nplaces ? node->places[at] : 0;
	}
	for (at = first_place(node, key); node->places[at] != 0; at = (at + 1) & (node->nplaces - 1))
		if (key_of(node, node->places[at] - 1) == key)
			return node->places[at];
	return 0;
}

/* Puts a row and the one that its key names together, in the scan tuple. */
static inline void
join_rows(KeyJoin *node, const TupleTableSlot *row, uint64 found)
{
	TupleTableSlot *scan = node->css.ss.ss_ScanTupleSlot;

	ExecClearTuple(scan);
	memcpy(scan->tts_values, row->tts_values, node->outer_read * sizeof(Datum));
	memcpy(scan->tts_isnull, row->tts_isnull, node->outer_read * sizeof(bool));
	for (int i = 0; i < node->ninner; i++)
	{
		scan->tts_values[node->nouter + i] = node->columns[found * node->ninner + i];
		scan->tts_isnull[node->nouter + i] = node->nulls != NULL && (node->nulls[found] & (UINT32_C(1) << i)) != 0;
	}
	ExecStoreVirtualTuple(scan);
}

static TupleTableSlot *
key_join_exec(CustomScanState *css)
{
	KeyJoin    *node = (KeyJoin *) css;
	ExprContext *econtext = css->ss.ps.ps_ExprContext;

	if (node->context == NULL)
		read_inner(node);
	for (;;)
	{
		TupleTableSlot *row;
		uint64		found;

		CHECK_FOR_INTERRUPTS();
		row = ExecProcNode(node->outer);
		if (TupIsNull(row))
			return NULL;
		slot_getsomeattrs(row, node->outer_read);
		if (row->tts_isnull[node->outer_key - 1])
			continue;
		found = find_row(node, whole_number(row->tts_values[node->outer_key - 1], node->outer_typlen));
		if (found == 0)
			continue;
		join_rows(node, row, found - 1);
		if (css->ss.ps.ps_ProjInfo == NULL)
			return css->ss.ss_ScanTupleSlot;
		ResetExprContext(econtext);
		econtext->ecxt_scantuple = css->ss.ss_ScanTupleSlot;
		return ExecProject(css->ss.ps.ps_ProjInfo);
	}
}

static void
key_join_rescan(CustomScanState *css)
{
	KeyJoin    *node = (KeyJoin *) css;

	if (css->ss.ps.chgParam != NULL)
	{
		UpdateChangedParamSet(node->outer, css->ss.ps.chgParam);
		UpdateChangedParamSet(node->inner, css->ss.ps.chgParam);
	}
	/* otherwise its first row rescans it */
	if (node->outer->chgParam == NULL)
		ExecReScan(node->outer);
	if (node->inner->chgParam != NULL)
		forget_inner(node);
	else if (node->context == NULL)
		ExecReScan(node->inner);
}

static void
key_join_end(CustomScanState *css)
{
	KeyJoin    *node = (KeyJoin *) css;

	forget_inner(node);
	ExecEndNode(node->outer);
	ExecEndNode(node->inner);
}

/* Shows the keys and, once it has run, what the arrays took. */
static void
key_join_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	KeyJoin    *node = (KeyJoin *) css;
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, (Plan *) plan, ancestors);

	ExplainPropertyText("Key Cond", psprintf("(%s = %s)", deparse_expression(linitial(plan->custom_exprs), context, true, false),
											 deparse_expression(lsecond(plan->custom_exprs), context, true, false)), es);
	if (es->analyze && node->context != NULL)
		ExplainPropertyInteger("Memory Usage", "kB", (MemoryContextMemAllocated(node->context, false) + 1023) / 1024, es);
}

static const CustomExecMethods key_join_exec_methods = {
	.CustomName = DP_KEY_JOIN_NODE,
	.BeginCustomScan = key_join_begin,
	.ExecCustomScan = key_join_exec,
	.EndCustomScan = key_join_end,
	.ReScanCustomScan = key_join_rescan,
	.ExplainCustomScan = key_join_explain
};

static Node *
create_state(CustomScan *plan)
{
	KeyJoin    *node = (KeyJoin *) newNode(sizeof(KeyJoin), T_CustomScanState);

	node->css.methods = &key_join_exec_methods;
	return (Node *) node;
}

const CustomScanMethods dp_key_join_methods = {
	.CustomName = DP_KEY_JOIN_NODE,
	.CreateCustomScanState = create_state
};
