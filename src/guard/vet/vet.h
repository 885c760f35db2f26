/*-------------------------------------------------------------------------
 *
 * vet.h
 *	  What the files that vet expressions share.
 *
 * Checking an expression and making it safe are one walk, dp_vet, so that
 * nothing can be accepted in one form and run in another.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_VET_H
#define DP_VET_H

#include "guard/vet/allow.h"

/* state of one walk */
typedef struct DpVet
{
	const DpAllowContext *cxt;	/* NULL: any column may be read */
	bool		no_columns;		/* inside an argument that must be a constant */
	Oid			case_type;		/* of the innermost CASE's argument;
								 * InvalidOid: none */
	bool		opens;			/* the node at hand is what a function looks
								 * into, or a test for NULL */
} DpVet;

/* Vets an expression; returns a new tree, in its safe form (vet.c). */
extern Node *dp_vet(Node *node, DpVet *vet);

/* Vets an array, argument of node: a column, or constants. */
extern Node *dp_vet_array(DpVet *vet, Node *node, Node *array);

/* ------------------------------------------------------------------------
 * raw_columns.c
 * ------------------------------------------------------------------------
 */

/* Vets a column of raw rows; returns it as one of its base type, or of text, if it is of citext. */
extern Node *dp_vet_column(DpVet *vet, Var *var);

/* Tells whether the node at hand, of this type, is what a function looks into; what is below it is not. */
extern bool dp_is_opened(DpVet *vet, Oid type);

/* ------------------------------------------------------------------------
 * checks.c: messages, types, collations, operators, constants
 * ------------------------------------------------------------------------
 */

/* Returns the name of a type, for messages; 42704 where it was dropped since the statement was prepared. */
extern const char *dp_type_name(Oid type);

/* Raises ZC002 at node.  what: a noun phrase; remedy: a sentence without capital and stop, or NULL. */
extern void dp_refuse(DpVet *vet, Node *node, const char *what, const char *remedy) __attribute__((noreturn));

/* Refuses a node of a type that is not accepted. */
extern void dp_refuse_node(DpVet *vet, Node *node) __attribute__((noreturn));

/* Refuses the function or operator of node; without remedy, names the nearest that is allowed. */
extern void dp_refuse_function(DpVet *vet, Node *node, Oid funcid, const char *remedy) __attribute__((noreturn));

extern void dp_vet_type(DpVet *vet, Node *node, Oid type);
extern void dp_vet_const(DpVet *vet, Const *con);
extern void dp_vet_operator(DpVet *vet, Node *node);
extern void dp_vet_collation(DpVet *vet, Node *node, Oid collation);

/* Checks the collation of a function or comparison with these arguments. */
extern void dp_vet_input_collation(DpVet *vet, Node *node, List *args, Oid collation);

/* Tells whether node cannot be evaluated when the query is checked; a tree walker. */
extern bool dp_is_unfoldable(Node *node, void *context);

/* Refuses, ZC002, a call that fails within what can be evaluated; a tree walker. */
extern bool dp_refuse_failing(Node *node, DpVet *vet);

/* Returns the value of what can be evaluated. */
extern Const *dp_fold(Node *node);

/* Returns the value of an expression; NULL: it is not known now, or NULL. */
extern Const *dp_value_of(Node *node);

/* Tells whether function gives a time, not the name of somebody or something. */
extern bool dp_is_time_function(SQLValueFunction *function);

/* Tells whether a cast of arrays merely changes labels, as varchar[] to text[]. */
extern bool dp_array_cast_is_relabel(ArrayCoerceExpr *cast);

/* ------------------------------------------------------------------------
 * calls.c: functions
 * ------------------------------------------------------------------------
 */

/*
 * search.c: returns a full-text search of a string in its safe form, a call of which the second argument, the string,
 * is still to be vetted; NULL for any other function.
 * ZC002 for configurations that are not PostgreSQL's, and queries that are not constant.
 */
extern Node *dp_in_words_of_search(DpVet *vet, Node *node, Oid funcid, List *args);

/* json.c: returns value @> object in words of ->, ->> and jsonb_typeof, NULL where value is; NULL for any other call. */
extern Node *dp_in_words_of_json(Node *node, Oid funcid, List *args);

/*
 * Vets a call of funcid with args, which stands for node, and returns its safe
 * form; NULL when node can keep its function, with *args vetted.
 */
extern Node *dp_vet_call(DpVet *vet, Node *node, Oid funcid, Oid inputcollid, List **args);

/*
 * added.c: vets the call of a function that a superuser has added, which keeps
 * it, and *args.  Returns false when the function was not added.
 */
extern bool dp_vet_added(DpVet *vet, FuncExpr *call, List **args);

/* Vets a cast to or from text; refuses it where no safe variant exists. */
extern Node *dp_vet_io(DpVet *vet, CoerceViaIO *io);

/*
 * unit_aggregates.c: vets an aggregate of this level and returns its safe
 * form; only where the context accepts unit_aggregates.
 */
extern Node *dp_vet_unit_aggregate(DpVet *vet, Aggref *agg);

/* Vets a window function and returns its safe form; only where the context accepts windows. */
extern Node *dp_vet_window_function(DpVet *vet, WindowFunc *function);

/* citext.c: whether a column may be compared, grouped by and handed up, though its values are not read */
extern bool dp_is_compared_unit(const DpAllowContext *cxt, Node *node);
extern bool dp_compares_units(const DpAllowContext *cxt, Node *node);

#endif							/* DP_VET_H */
