/*-------------------------------------------------------------------------
 *
 * allow.h
 *	  Which expressions may run on raw rows with the rights of their owner.
 *
 * An expression over protected columns is computed for every row before any
 * noise is added.  It may therefore have no side effect, raise no error that
 * depends on a row (an error is an exact answer to a question), and call no
 * code that anybody but PostgreSQL, this extension and superusers wrote.  The
 * decision is made by function OID and node type; what is not listed is
 * refused.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_ALLOW_H
#define DP_ALLOW_H

#include "base/make_node.h"
#include "nodes/bitmapset.h"
#include "nodes/parsenodes.h"
#include "nodes/pg_list.h"
#include "nodes/primnodes.h"
#include "release/interval.h"

/* limits on one expression: bound the time a single row can take */
#define DP_MAX_EXPR_NODES 500
#define DP_MAX_CONST_BYTES 10240

/*
 * Holds all that the caller knows about the expression.  Zero-initialize; nothing here
 * is modified.
 */
typedef struct DpAllowContext
{
	Bitmapset  *rtindexes;		/* range table entries whose columns may be
								 * read; NULL: any */
	List	   *rtable;			/* names columns in messages; may be NIL */
	const char *source_text;	/* text that node locations refer to; may be
								 * NULL */
	Oid			run_as;			/* role with whose rights it runs; InvalidOid:
								 * the owners of the protected tables in
								 * rtable */
	bool		unit_aggregates;	/* aggregates of this level are accepted,
									 * too: it groups by the privacy unit */
	bool		windows;		/* and window functions, over the rows of one
								 * unit */
} DpAllowContext;

/*
 * Returns the form of expr that may run on raw rows: constant parts folded
 * (errors of constants arise here, before anything is debited), and every
 * function that could fail replaced by its safe variant.  Raises ZC002 where
 * it may not, naming what is refused, with its position.  For WHERE, join
 * conditions, FILTER and aggregate arguments; a List is taken for its members.
 * Join aliases must have been flattened; expr is not modified.  Types, typmods
 * and collations are kept.
 */
extern Node *dp_make_safe(Node *expr, const DpAllowContext *cxt);

/* Returns the function that makes an array of strings of what is in jsonb, by its name; tells whether a function is one of these. */
extern Oid	dp_parts_of_json(const char *name);
extern bool dp_is_parts_of_json(Oid funcid);

/* Makes an array safe that is looked into: a column, what a function of the list makes, or a list of constants. */
extern Node *dp_make_array_safe(Node *array, const DpAllowContext *cxt);

/*
 * Checks a column that a subquery hands up as it is: of jsonb, for functions
 * above it to look into; of units, to be compared.
 */
extern Node *dp_hand_up_column(Var *column, const DpAllowContext *cxt);

/* Tells whether a column is of citext, and does not lead to units. */
extern bool dp_is_other_citext(const DpAllowContext *cxt, const Var *column);

/*
 * Checks expr as dp_make_safe does, for GROUP BY keys and dp_count(DISTINCT
 * x): in addition, values that are equal must print alike, or be made so by
 * dp_canonical_key.
 */
extern void dp_allow_group_key(Node *expr, const DpAllowContext *cxt);

/*
 * Wraps a group key (after dp_make_safe) so that equal values have one
 * representation: the printed key would otherwise be that of an arbitrary,
 * single row.  numeric loses trailing zeros unless its typmod fixes the
 * scale, floating point loses the sign of zero, character strings of no fixed
 * length lose trailing blanks.
 */
extern Node *dp_canonical_key(Node *expr);

/*
 * Checks the group keys of a subquery over protected rows, whose targets have
 * passed dp_make_safe: ZC002 for types whose equal values may be written
 * differently and have no canonical form.
 */
extern void dp_allow_subquery_keys(Query *sub, const DpAllowContext *cxt);

/*
 * Makes all subqueries in the range table of an inner query, at any depth,
 * compute with the canonical forms of their group keys, in place.  To be
 * called when nobody asks any more where a column comes from.
 */
extern void dp_make_groups_canonical(Query *query);

/* Tell whether that was done to one subquery, and whether one expression has that form. */
extern bool dp_groups_are_canonical(Query *sub);
extern bool dp_is_canonical(Node *key);

/* Tell whether values of this type may be read at all, and whether they may be keys. */
extern bool dp_type_is_allowed(Oid type);

/* Tells whether type is one of int2 to int8, float4, float8 and numeric. */
extern bool dp_is_number(Oid type);

/*
 * Tells whether functions may look into columns of this type, which is not read otherwise: jsonb,
 * PostgreSQL's ranges, and arrays of what may be read.
 */
extern bool dp_type_is_opened(Oid type);

/* Returns what counts as an argument of count() does: itself, or true where a column of such a type is not NULL. */
extern Expr *dp_counted_value(Expr *arg);

/* Relabels what is of a domain as its base type: the value is the same, and no constraint is checked. */
extern Expr *dp_as_base_type(Expr *expr);
extern bool dp_type_is_key(Oid type);

/* Returns what is inside of casts that change nothing but the type's name. */
extern Node *dp_strip_relabel(Node *node);

/* A comparison of two values, or of one with the elements of an array. */
typedef struct DpComparison
{
	Node	   *left;
	Node	   *right;
	Oid			opno;
	Oid			collation;
	bool		is_distinct;	/* IS DISTINCT FROM */
	bool		is_array;
	bool		is_any;			/* one element is enough; true of two values */
	int			location;
} DpComparison;

/* Reads a node that compares; returns false of any other. */
extern bool dp_read_comparison(Node *node, DpComparison *comparison);

/* Reads an operator between two values; returns false of any other node, also of IS DISTINCT FROM. */
extern bool dp_read_operator(Node *node, DpComparison *comparison);

/* Reads such an operator so that the side of this number, 0 or 1, is on the left. */
extern bool dp_read_side(Node *node, int side, DpComparison *comparison);

/* Changes sides; the operator is InvalidOid where it has no commutator, or an array was on the right. */
extern void dp_turn_comparison(DpComparison *comparison);

/* Makes the node of which a comparison was read, as its fields are now. */
extern Node *dp_write_comparison(const DpComparison *comparison);

/* Returns a copy of a comparison with another operand on one side, 0 or 1. */
extern Node *dp_with_operand(Node *comparison, int side, Node *operand);

/* Finds the elements of an array that is a constant, or written out; false: it is neither, or has more. */
extern bool dp_list_elements(Node *array, int most, List **elements);

/*
 * Returns the arguments of a call, which may be by an operator, and the function; NIL: it is none, or has none.  A list
 * that an operator is applied to is an argument.
 */
extern List *dp_call_args(Node *node, Oid *funcid);

extern Const *dp_int4_const(int32 value);
extern Const *dp_int8_const(int64 value);
extern Const *dp_float8_const(double value);

/* Makes a call of a function, of which neither result nor arguments have a collation. */
extern FuncExpr *dp_call(Oid funcid, Oid type, List *args);

/* Returns num_nulls or num_nonnulls as what is added up: whether each argument is NULL, or not; NULL: the node is no such call. */
extern Node *dp_sum_of_null_tests(Node *node);

/* Makes the comparison of two values by an operator. */
extern OpExpr *dp_make_comparison(Oid opno, Expr *left, Expr *right, Oid collation);

/* Makes the comparison of a value with elements of an array: one is enough (is_any), or it is with each of them. */
extern ScalarArrayOpExpr *dp_make_array_comparison(Oid opno, bool is_any, Expr *left, Expr *array, Oid collation);

/* Makes the comparison of 0 with the number of an array's elements. */
extern OpExpr *dp_make_cardinality_comparison(Oid opno, Node *array);

/* Makes the comparison of two values by the order of the left one's type; NULL: it has none with the other's. */
extern OpExpr *dp_make_ordering(int strategy, Expr *left, Expr *right, Oid collation);

/* Returns the strategy of an operator in the order of a type; 0: it has none there, as <> has. */
extern int	dp_strategy_of(Oid opno, Oid type);

/* Tells whether an operator compares values by the order of a type; <> does. */
extern bool dp_compares_by_order(Oid opno, Oid type);

/*
 * Calls errposition() for a node's location within source_text; returns 0,
 * without a position, if either is unknown.  For use inside ereport.
 */
extern int	dp_error_position(const char *source_text, int location);

/* Tells whether expr reads any column of these range table entries (NULL: of any). */
extern bool dp_reads_columns(Node *expr, const Bitmapset *rtindexes);

/* ------------------------------------------------------------------------
 * The list (list.c)
 * ------------------------------------------------------------------------
 */

/* Checks of arguments that must be constants. */
typedef enum DpConstantCheck
{
	DP_CHECK_NONE,
	DP_CHECK_LIKE,				/* pattern does not end with the escape
								 * character */
	DP_CHECK_REGEX,				/* an automaton reads the regular expression */
	DP_CHECK_REGEX_PART,		/* and what it captures is found by places */
	DP_CHECK_REGEX_FLAGS,		/* g and i */
	DP_CHECK_DELIMITER,			/* which is not NULL */
	DP_CHECK_FIELD,				/* a field of extract */
	DP_CHECK_TRUNC,				/* a precision of date_trunc */
	DP_CHECK_ZONE,				/* a time zone */
	DP_CHECK_FORMAT,			/* a template of to_char for timestamps */
	DP_CHECK_STRIDE,			/* a stride of date_bin */
	DP_CHECK_LENGTH				/* of a cast: a length, and that it is
								 * explicit, and truncates */
} DpConstantCheck;

/* Functions of one kind compute the same, of other types. */
typedef enum DpFunctionKind
{
	DP_KIND_NONE,				/* nothing that is known */
#define KIND(kind, ...) DP_KIND_##kind,
#include "guard/vet/functions.def"
#undef KIND
} DpFunctionKind;

/* Facts that hold for all functions of a kind. */
typedef struct DpFunctionFacts
{
	const char *variant;		/* stands for those that may fail, in schema
								 * dp_cdp_internal */
	DpBoundOp	bound;			/* how bounds of its value follow from those
								 * of its arguments; DP_BOUND_NONE: they do
								 * not */
	bool		finds;			/* it is NULL where it finds nothing, and that
								 * is no error */
	bool		of_equals;		/* equal numbers make equal ones, however they
								 * are written */
	bool		released;		/* its safe variant is called on released
								 * values, too */
	const char *lowest;			/* its values are in this range, as text;
								 * NULL: in none that is known */
	const char *highest;
	const char *factor;			/* its value is this times the argument; NULL:
								 * it is not */
} DpFunctionFacts;

typedef struct DpAllowed
{
	Oid			funcid;
	DpFunctionKind kind;
	const char *safe;			/* name of its safe variant in schema
								 * dp_cdp_internal, which has the same
								 * arguments and result; NULL: it runs as it
								 * stands */
	uint16		constants;		/* bit i: argument i may not read columns */
	uint8		check;			/* DpConstantCheck for all of these */
	bool		constants_only; /* callable on constants only, and then
								 * evaluated at once */
	bool		folds;			/* changes or ignores case */
	const char *negates;		/* is called as NOT of this safe variant,
								 * which the planner knows more about */
} DpAllowed;

/* Returns the kind of a function of the list, also by its safe variant. */
extern DpFunctionKind dp_function_kind(Oid funcid);

/* Returns the kind and the arguments of a call, also by an operator; DP_KIND_NONE: it is no call of the list. */
extern DpFunctionKind dp_call_kind(Node *node, List **args);

extern const DpFunctionFacts *dp_function_facts(DpFunctionKind kind);

/* Returns the function of double precision that a function of numeric is computed by; InvalidOid: it is none */
extern Oid	dp_double_function(Oid funcid);

/*
 * Returns the function of schema dp_cdp_internal that stands for a listed one which
 * may fail.  Raises an error when the extension's objects do not match.
 */
extern Oid	dp_safe_variant(const DpAllowed *allowed);

/* Returns the function whose NOT stands for one with negates. */
extern Oid	dp_negated_variant(const DpAllowed *allowed);


/* Returns the whole list, in no particular order. */
extern const DpAllowed *dp_allowed_functions(int *count);

/* Returns NULL if the function is not listed. */
extern const DpAllowed *dp_allowed_function(Oid funcid);

/*
 * unit_aggregates.c: the aggregates that a subquery which groups by the
 * privacy unit may compute on raw rows
 */
typedef struct DpUnitAggregate
{
	Oid			aggfnoid;
	const char *summand;		/* in schema dp_cdp_internal, takes the
								 * argument and returns it, or NULL where it
								 * might make the aggregate fail; NULL: none
								 * does */
	const char *own;			/* an aggregate of schema dp_cdp_internal that
								 * is run instead; NULL: it runs itself */
	bool		of_set;			/* DISTINCT changes nothing */
	bool		is_ordered;		/* the order of rows shows */
} DpUnitAggregate;

/* Returns the whole list, in no particular order. */
extern const DpUnitAggregate *dp_unit_aggregates(int *count);

/* Returns the function summand or the aggregate own of one; InvalidOid if it has neither. */
extern Oid	dp_unit_aggregate_safe(const DpUnitAggregate *allowed);

/* ------------------------------------------------------------------------
 * row_order.c: what rows are put in order by, where that shows
 * ------------------------------------------------------------------------
 */

typedef enum DpWindowKind
{
	DP_WINDOW_UNKNOWN,
	DP_WINDOW_OF_PEERS,			/* the same for all rows that ORDER BY takes
								 * for equal */
	DP_WINDOW_OF_ROWS,			/* of single rows, whatever the frame */
	DP_WINDOW_OF_FRAME,			/* of a single row of the frame */
	DP_WINDOW_AGGREGATE			/* of all rows of the frame */
} DpWindowKind;

/* Returns what a window function looks at; DP_WINDOW_UNKNOWN: it is not listed. */
extern DpWindowKind dp_window_kind(const WindowFunc *function);

/* Tells whether its result depends on the order of rows that ORDER BY takes for equal. */
extern bool dp_window_needs_order(const WindowFunc *function, const WindowClause *window);

/* Returns the window functions of an expression or target list, themselves. */
extern List *dp_window_functions(Node *node);

/* Returns the window of that number, NULL if there is none. */
extern WindowClause *dp_window_of(List *windows, Index number);

/*
 * Returns what the targets of a query are computed from, each once: columns,
 * what is found in jsonb, keys of GROUP BY, aggregates.
 */
extern List *dp_row_values(Query *query);

/* Returns the columns of a query's result that are not constant. */
extern List *dp_shown_values(Query *query);

/*
 * Returns an expression that has an order of its type's own and is equal for
 * two values only if nothing tells them apart; NULL where there is none.
 */
extern Expr *dp_row_image(Expr *value);

/* Returns a clause of the number that a target has; is_ordered: its type must have an order, beside the equality. */
extern SortGroupClause *dp_clause_of(const TargetEntry *tle, bool is_ordered);

/* Adds an expression to what clauses sort by, last, and to the targets. */
extern List *dp_sort_by(List *clauses, List **targets, Expr *expr);

/* Tells whether a function that the allow-list need not have makes images. */
extern bool dp_is_image_function(Oid funcid);

/* Returns one of values whose image neither partition nor order have; NULL: they have all. */
extern Expr *dp_unordered_value(Query *query, List *values, List *partition, List *order);

/*
 * added.c: returns why a function that a superuser adds cannot run on raw
 * rows, as words after "because"; NULL if it can.
 */
extern const char *dp_added_problem(Oid funcid);

/* Returns what to use instead, or NULL when nothing is near. */
extern const char *dp_nearest_allowed(Oid funcid);

/* Tells whether a node compares values of citext by a function of that module; also CASE with a value that it compares. */
extern bool dp_is_of_citext(Node *node);

/* Returns such a comparison as one of text, or as it is where its list is not known, or, unless that is asked for, where it compares columns. */
extern Node *dp_citext_as_text(Node *node, bool columns);

/* Return a value of citext, or text, as text: in lower case, so that what is equal is equal in all its bytes; and as it is written. */
extern Expr *dp_citext_folded(Node *node);
extern Expr *dp_citext_as_written(Node *node);

/* Returns what a cast reads: a column or parameter, other values of citext as text, as they are written. */
extern Node *dp_citext_as_read(Node *arg);

/* Tells whether a node is a value of citext, other than a column, that is read: a constant, a parameter, a choice among values, or one with a collation. */
extern bool dp_citext_is_known(Node *node);

#endif							/* DP_ALLOW_H */
