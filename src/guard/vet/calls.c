/*-------------------------------------------------------------------------
 *
 * calls.c
 *	  The functions of an expression: which are accepted, and what is called
 *	  in their place.
 *
 * Invariant: a call that leaves here is of a function of the list that
 * cannot fail, of a strict C function of schema dp_cdp_internal, or of a function that a
 * superuser has added (added.c).
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/extension.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "guard/vet/vet.h"
#include "mb/pg_wchar.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "safe/constants.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

/*
 * Refuses to fold case in some encodings: it goes through the C library's wide
 * characters, which need not know every character that an encoding other than
 * UTF8 has, and fails then.
 */
static void
vet_folding(DpVet *vet, Node *node, Oid funcid, Oid inputcollid)
{
	if (pg_database_encoding_max_length() > 1 && GetDatabaseEncoding() != PG_UTF8 &&
		!dp_ctype_is_c(inputcollid))
		dp_refuse_function(vet, node, funcid,
						   psprintf("in encoding %s, add COLLATE \"C\"", GetDatabaseEncodingName()));
}

static FuncExpr *
call_of(Oid funcid, Node *like, Oid inputcollid, List *args)
{
	FuncExpr   *call = makeFuncExpr(funcid, exprType(like), args, exprCollation(like),
									inputcollid, COERCE_EXPLICIT_CALL);

	/*
	 * a cast to numeric(p, s) still tells the scale of its values: they are
	 * keys in that form
	 */
	if (exprIsLengthCoercion(like, NULL))
		call->funcformat = ((FuncExpr *) like)->funcformat;
	call->location = exprLocation(like);
	return call;
}

/*
 * Returns NULL if value is good for check; otherwise what to write instead,
 * for an error message.  argtype is the type of the function's last argument,
 * to which fields belong.
 */
static const char *
constant_problem(DpConstantCheck check, Oid argtype, Oid type, Datum value)
{
	const char *bytes;
	int			len;
	int64		length;

	if (check == DP_CHECK_NONE)
		return NULL;
	if (check == DP_CHECK_LENGTH)
	{
		if (type == BOOLOID)
			return DatumGetBool(value) ? NULL : "write an explicit cast";
		return DatumGetInt32(value) <= DP_MAX_CONST_BYTES + VARHDRSZ ? NULL : "choose a shorter length";
	}
	if (check == DP_CHECK_STRIDE)
		return type != INTERVALOID || dp_stride_is_good(DatumGetIntervalP(value), &length) ? NULL :
			"the stride must be longer than 0 and have days, hours, minutes and seconds alone; use date_trunc for months";
	if (type != TEXTOID)
		return NULL;
	bytes = VARDATA_ANY(DatumGetPointer(value));
	len = VARSIZE_ANY_EXHDR(DatumGetPointer(value));
	switch (check)
	{
		case DP_CHECK_LIKE:
			return dp_like_is_good(bytes, len) ? NULL :
				"end the pattern with something else than the escape character";
		case DP_CHECK_REGEX:
		case DP_CHECK_REGEX_PART:
			return dp_regex_problem(bytes, len, check == DP_CHECK_REGEX_PART);
		case DP_CHECK_REGEX_FLAGS:
			return dp_regex_flags_problem(bytes, len);
		case DP_CHECK_FIELD:
			return dp_field_is_good(bytes, len, argtype) ? NULL :
				"write the field out, for example year, quarter, month, week, day, dow, hour or epoch, and one that the type has";
		case DP_CHECK_TRUNC:
			return dp_trunc_is_good(bytes, len, argtype) ? NULL :
				"truncate to year, quarter, month, week, day, hour, minute or second";
		case DP_CHECK_ZONE:
			return dp_zone_is_good(bytes, len) ? NULL :
				"write a full time zone name such as 'Europe/Berlin'";
		case DP_CHECK_FORMAT:
			return dp_format_is_good(bytes, len) ? NULL :
				"use a template of YYYY, MM, DD, HH24, MI, SS, Q, WW, IYYY, IW, Mon, FMMonth, Dy, digits and punctuation";
		default:
			return NULL;
	}
}

/* Refuses call node if arg, its argument i, which must be a constant, is a bad one; args: all, as they were. */
static void
check_constant_argument(DpVet *vet, Node *node, const DpAllowed *allowed, List *args, int i, Node *arg)
{
	DpConstantCheck check = allowed->check;
	Oid			argtype = exprType(llast(args));
	Const	   *con = (Const *) arg;
	Datum		value;
	const char *problem;

	if (check == DP_CHECK_NONE)
		return;
	if (!IsA(arg, Const))
	{
		if (check == DP_CHECK_LENGTH)
			dp_refuse_function(vet, node, allowed->funcid, "write an explicit cast");
		return;
	}
	if (con->constisnull && check == DP_CHECK_DELIMITER)
		dp_refuse_function(vet, node, allowed->funcid, "write a delimiter that is not NULL");
	if (con->constisnull)
		return;
	value = con->constvalue;
	if (con->constlen == -1)
		value = PointerGetDatum(PG_DETOAST_DATUM_PACKED(value));
	if (check == DP_CHECK_TRUNC)
	{
		/* the third argument of date_trunc is its zone */
		argtype = exprType(lsecond(args));
		if (i == 2)
			check = DP_CHECK_ZONE;
	}
	/* then regexp_replace has what the match is replaced by, and flags */
	if (check == DP_CHECK_REGEX_PART && i > 1)
		check = i == 2 ? DP_CHECK_NONE : DP_CHECK_REGEX_FLAGS;
	problem = constant_problem(check, argtype, con->consttype, value);
	if (problem)
		dp_refuse_function(vet, node, allowed->funcid, problem);
}

static List *
vet_arguments(DpVet *vet, Node *node, const DpAllowed *allowed, List *args)
{
	List	   *vetted = NIL;

	foreach_ptr(Node, arg, args)
	{
		int			i = foreach_current_index(arg);
		bool		is_constant = (allowed->constants & (1 << i)) != 0;
		bool		is_json = exprType(arg) == JSONBOID;
		bool		is_array = type_is_array(exprType(arg));
		bool		outer = vet->no_columns;

		if (is_constant)
		{
			if (dp_reads_columns(arg, NULL))
				dp_refuse_function(vet, node, allowed->funcid,
								   psprintf("its argument number %d must be a constant", i + 1));
			vet->no_columns = true;
		}
		vet->opens = dp_type_is_opened(exprType(arg)) && !is_array &&
			(IsA(arg, Var) || (is_json ? is_opclause(arg) || is_funcclause(arg) : IsA(arg, Param) || !dp_is_unfoldable(arg, NULL)));
		vetted = lappend(vetted, is_array ? dp_vet_array(vet, node, arg) : dp_vet(arg, vet));
		vet->opens = false;
		vet->no_columns = outer;
		if (is_constant && !is_array)
			check_constant_argument(vet, node, allowed, args, i, llast(vetted));
	}
	return vetted;
}

/* ------------------------------------------------------------------------
 * Concatenation
 * ------------------------------------------------------------------------
 */

/* Returns arg as text, as a cast writes it. */
static Node *
as_text(Node *arg)
{
	return coerce_to_target_type(NULL, arg, exprType(arg), TEXTOID, -1, COERCION_EXPLICIT, COERCE_EXPLICIT_CAST,
								 exprLocation(arg));
}

/* Makes left || right in the collation of its result, as concat of numbers alone has no other. */
static Node *
concatenation(Node *left, Node *right, Node *like)
{
	return (Node *) call_of(F_TEXTCAT, like, exprCollation(like), list_make2(left, right));
}

/* Returns arg as concat writes it, NULL for NULL: as a cast does, but for blanks at the end of char(n), and t and f. */
static Node *
written_by_concat(DpVet *vet, Node *node, Oid funcid, Node *arg)
{
	int32		typmod = exprTypmod(arg);
	Oid			type = getBaseTypeAndTypmod(exprType(arg), &typmod);
	Node	   *text = as_text(arg);
	List	   *more;

	if (type != BPCHAROID && type != BOOLOID)
		return text;

	if (type == BPCHAROID && typmod < VARHDRSZ)
		dp_refuse_function(vet, node, funcid, psprintf("cast its argument of type %s to text", dp_type_name(type)));
	exprSetCollation(text, DEFAULT_COLLATION_OID);
	exprSetInputCollation(text, DEFAULT_COLLATION_OID);
	more = type == BPCHAROID ? list_make1(dp_int4_const(typmod - VARHDRSZ)) : list_make2(dp_int4_const(1), dp_int4_const(1));
	return (Node *) makeFuncExpr(type == BPCHAROID ? F_RPAD_TEXT_INT4 : F_SUBSTR_TEXT_INT4_INT4, TEXTOID, lcons(text, more),
								 DEFAULT_COLLATION_OID, DEFAULT_COLLATION_OID, COERCE_EXPLICIT_CALL);
}

/* Returns arg as concat writes it, "" for NULL. */
static Node *
part_of_concat(DpVet *vet, Node *node, Oid funcid, Node *arg, Oid collation)
{
	return (Node *) dp_make(CoalesceExpr, .coalescetype = TEXTOID, .coalescecollid = collation,
							.args = list_make2(written_by_concat(vet, node, funcid, arg), makeConst(TEXTOID, -1, collation, -1, CStringGetTextDatum(""), false, false)),
							.location = exprLocation(arg));
}

/* Returns concat_ws(separator, arguments): each with the separator before it, less the first separator. */
static Node *
joined(DpVet *vet, FuncExpr *call, Oid collation)
{
	Node	   *separator = linitial(call->args);
	Node	   *all = NULL;
	Node	   *start;

	if (dp_reads_columns(separator, NULL))
		dp_refuse_function(vet, (Node *) call, call->funcid, "its argument number 1 must be a constant");
	for (int i = 1; i < list_length(call->args); i++)
	{
		Node	   *arg = list_nth(call->args, i);
		CoalesceExpr *part = (CoalesceExpr *) part_of_concat(vet, (Node *) call, call->funcid, arg, collation);

		linitial(part->args) = concatenation(copyObject(separator), linitial(part->args), (Node *) call);
		all = all == NULL ? (Node *) part : concatenation(all, (Node *) part, (Node *) call);
	}
	start = (Node *) dp_call(F_INT4PL, INT4OID,
							 list_make2(makeFuncExpr(F_LENGTH_TEXT, INT4OID, list_make1(copyObject(separator)), InvalidOid,
													 call->inputcollid, COERCE_EXPLICIT_CALL),
										dp_int4_const(1)));
	return (Node *) call_of(F_SUBSTR_TEXT_INT4, (Node *) call, call->inputcollid, list_make2(all, start));
}

/* ------------------------------------------------------------------------
 * Regular expressions
 * ------------------------------------------------------------------------
 */

/* tests that are operators of text or bpchar, or their negations */
static const struct
{
	Oid			funcid;
	Oid			opno;
	bool		negated;
}			tests[] = {
	{F_TEXTREGEXNE, OID_TEXT_REGEXEQ_OP, true}, {F_TEXTICREGEXNE, OID_TEXT_ICREGEXEQ_OP, true}, {F_BPCHARREGEXNE, OID_BPCHAR_REGEXEQ_OP, true},
	{F_BPCHARICREGEXNE, OID_BPCHAR_ICREGEXEQ_OP, true}, {F_NAMEREGEXEQ, OID_TEXT_REGEXEQ_OP, false}, {F_NAMEREGEXNE, OID_TEXT_REGEXEQ_OP, true},
	{F_NAMEICREGEXEQ, OID_TEXT_ICREGEXEQ_OP, false}, {F_NAMEICREGEXNE, OID_TEXT_ICREGEXEQ_OP, true}, {F_REGEXP_LIKE_TEXT_TEXT, OID_TEXT_REGEXEQ_OP, false}
};

/* Returns a test of a regular expression in words of string ~ regex; NULL for such a test, and for other functions. */
static Node *
in_words_of_regex(Node *node, Oid funcid, Oid inputcollid, List *args)
{
	Oid			opno = IsA(node, OpExpr) ? ((OpExpr *) node)->opno : InvalidOid;
	Node	   *regex = list_length(args) == 2 ? lsecond(args) : NULL;
	bool		negated = false;
	bool		same = true;
	Node	   *string;
	OpExpr	   *test;

	/* SIMILAR TO */
	if (regex != NULL && IsA(regex, FuncExpr) && !dp_is_unfoldable(regex, NULL) &&
		(((FuncExpr *) regex)->funcid == F_SIMILAR_TO_ESCAPE_TEXT || ((FuncExpr *) regex)->funcid == F_SIMILAR_TO_ESCAPE_TEXT_TEXT))
	{
		regex = (Node *) dp_fold(regex);
		same = false;
	}
	for (int i = 0; i < lengthof(tests); i++)
		if (tests[i].funcid == funcid)
		{
			opno = tests[i].opno;
			negated = tests[i].negated;
			same = false;
		}
	if (regex == NULL || same || !OidIsValid(opno))
		return NULL;
	string = linitial(args);
	if (exprType(string) == NAMEOID)
		string = (Node *) makeFuncExpr(F_TEXT_NAME, TEXTOID, list_make1(string), inputcollid, inputcollid, COERCE_EXPLICIT_CAST);
	test = dp_make_comparison(opno, (Expr *) string, (Expr *) regex, inputcollid);
	test->location = exprLocation(node);
	return negated ? (Node *) makeBoolExpr(NOT_EXPR, list_make1(test), exprLocation(node)) : (Node *) test;
}

/* ------------------------------------------------------------------------
 * Logarithms and powers of numeric
 * ------------------------------------------------------------------------
 */

static Expr *
double_call(Oid funcid, List *args)
{
	return (Expr *) dp_call(funcid, FLOAT8OID, args);
}

/* Returns the function of numeric, of 15 digits, in words of double precision; NULL for any other. */
static Node *
in_words_of_double(Node *node, Oid funcid, List *args)
{
	Expr	   *value = NULL;
	List	   *doubles = NIL;

	foreach_ptr(Node, arg, args)
	{
		if (exprType(arg) != NUMERICOID)
			return NULL;
		doubles = lappend(doubles, double_call(F_FLOAT8_NUMERIC, list_make1(arg)));
	}
	if (funcid == F_LOG_NUMERIC_NUMERIC)
		value = double_call(F_FLOAT8DIV, list_make2(double_call(F_LN_FLOAT8, list_make1(lsecond(doubles))),
													double_call(F_LN_FLOAT8, list_make1(linitial(doubles)))));
	else if (OidIsValid(dp_double_function(funcid)))
		value = double_call(dp_double_function(funcid), doubles);
	return value == NULL ? NULL : (Node *) call_of(F_NUMERIC_FLOAT8, node, InvalidOid, list_make1(value));
}

Node *
dp_sum_of_null_tests(Node *node)
{
	Oid			funcid = InvalidOid;
	List	   *args = dp_call_args(node, &funcid);
	Node	   *sum = NULL;

	if ((funcid != F_NUM_NULLS && funcid != F_NUM_NONNULLS) || ((FuncExpr *) node)->funcvariadic)
		return NULL;
	foreach_ptr(Node, arg, args)
	{
		NullTest   *test = dp_make(NullTest, .arg = (Expr *) arg, .nulltesttype = funcid == F_NUM_NULLS ? IS_NULL : IS_NOT_NULL,
								   .location = exprLocation(node));
		Node	   *one = (Node *) dp_call(F_INT4_BOOL, INT4OID, list_make1(test));

		/* IS NULL looks into rows */
		if (type_is_rowtype(exprType(arg)))
			return NULL;
		sum = sum == NULL ? one : (Node *) dp_call(F_INT4PL, INT4OID, list_make2(sum, one));
	}
	return sum;
}

/*
 * Returns text || anything, concat and concat_ws in words of text || text and casts,
 * tests of regular expressions in words of text ~ text, jsonb @> objects in words of their parts, and logarithms and powers of numeric in
 * words of double precision, to be checked in turn; NULL for any other function.
 */
static Node *
in_other_words(DpVet *vet, Node *node, Oid funcid, Oid inputcollid, List *args)
{
	Node	   *all = NULL;

	all = in_words_of_double(node, funcid, args);
	if (all != NULL)
		return all;
	all = in_words_of_regex(node, funcid, inputcollid, args);
	if (all != NULL)
		return all;
	all = dp_in_words_of_json(node, funcid, args);
	if (all != NULL)
		return all;
	all = dp_sum_of_null_tests(node);
	if (all != NULL)
		return all;
	if (funcid == F_TEXTANYCAT || funcid == F_ANYTEXTCAT)
		return concatenation(as_text(linitial(args)), as_text(lsecond(args)), node);
	if ((funcid != F_CONCAT && funcid != F_CONCAT_WS) || ((FuncExpr *) node)->funcvariadic)
		return NULL;
	if (funcid == F_CONCAT_WS && list_length(args) > 1)
		return joined(vet, (FuncExpr *) node, exprCollation(node));
	if (funcid == F_CONCAT_WS)
		return NULL;
	foreach_ptr(Node, arg, args)
	{
		Node	   *part = part_of_concat(vet, node, funcid, arg, exprCollation(node));

		all = all == NULL ? part : concatenation(all, part, node);
	}
	return all;
}

Node *
dp_vet_call(DpVet *vet, Node *node, Oid funcid, Oid inputcollid, List **args)
{
	const DpAllowed *allowed = dp_allowed_function(funcid);

	Node	   *words;

	dp_vet_operator(vet, node);
	words = in_other_words(vet, node, funcid, inputcollid, *args);
	if (words != NULL)
		return dp_vet(words, vet);
	words = dp_in_words_of_search(vet, node, funcid, *args);
	if (words != NULL)
	{
		Node	  **string = (Node **) &lsecond(((FuncExpr *) words)->args);

		*string = dp_vet(*string, vet);
		return words;
	}
	if (allowed == NULL)
	{
		if (IsA(node, FuncExpr) && dp_vet_added(vet, (FuncExpr *) node, args))
			return NULL;
		dp_refuse_function(vet, node, funcid, NULL);
	}
	if (allowed->constants_only)
		dp_refuse_function(vet, node, funcid, "only constants can be converted so; cast columns, for example column::date");

	dp_vet_input_collation(vet, node, *args, inputcollid);
	if (allowed->folds)
		vet_folding(vet, node, funcid, inputcollid);
	*args = vet_arguments(vet, node, allowed, *args);
	if (allowed->safe == NULL)
		return NULL;
	if (allowed->negates != NULL)
		return (Node *) makeBoolExpr(NOT_EXPR,
									 list_make1(call_of(dp_negated_variant(allowed), node,
														inputcollid, *args)),
									 exprLocation(node));
	return (Node *) call_of(dp_safe_variant(allowed), node, inputcollid, *args);
}

/* casts of text, by their safe variants */
static const struct
{
	Oid			type;
	const char *safe;
}			casts_of_text[] = {
	{INT2OID, "try_int2"}, {INT4OID, "try_int4"}, {INT8OID, "try_int8"}, {FLOAT8OID, "try_float8"}, {NUMERICOID, "try_numeric"},
	{BOOLOID, "try_bool"}, {DATEOID, "try_date"}, {TIMEOID, "try_time"}, {TIMESTAMPOID, "try_timestamp"},
	{TIMESTAMPTZOID, "try_timestamptz"}, {INTERVALOID, "try_interval"}, {UUIDOID, "try_uuid"}
};

Node *
dp_vet_io(DpVet *vet, CoerceViaIO *io)
{
	Oid			from = getBaseType(exprType((Node *) io->arg));
	Oid			to = io->resulttype;
	bool		from_text = from == TEXTOID || from == VARCHAROID;
	bool		to_text = to == TEXTOID || to == VARCHAROID;
	const char *name = NULL;
	Oid			argtype = from_text ? TEXTOID : from;
	Oid			result = to_text ? TEXTOID : to;
	Node	   *arg;
	FuncExpr   *call;

	if (to_text)
	{
		if (from == INT2OID || from == INT4OID || from == INT8OID || from == NUMERICOID ||
			from == UUIDOID || from == DATEOID || from == TIMESTAMPOID || from == TIMESTAMPTZOID)
			name = "try_text";
		else if (type_is_enum(from))
		{
			name = "try_text";
			argtype = ANYENUMOID;
		}
	}
	else if (from_text)
	{
		for (int i = 0; i < lengthof(casts_of_text); i++)
			if (casts_of_text[i].type == to)
				name = casts_of_text[i].safe;
	}
	if (name == NULL)
		dp_refuse(vet, (Node *) io,
				  psprintf("a cast from %s to %s", dp_type_name(from), dp_type_name(to)),
				  to_text && type_is_array(from) ? "write array_to_string(column, ',')" :
				  to_text ? "integers, numeric, uuid, dates, timestamps and enums can be cast to text" :
				  "text can be cast to boolean, integers, numeric, double precision, dates, times, interval and uuid, and constants to every type");
	arg = dp_vet((Node *) io->arg, vet);
	dp_vet_collation(vet, (Node *) io, io->resultcollid);
	call = makeFuncExpr(dp_own_function(name, 1, &argtype, result), result, list_make1(arg),
						io->resultcollid, InvalidOid, COERCE_EXPLICIT_CALL);
	call->location = io->location;
	if (result == to)
		return (Node *) call;
	return (Node *) makeRelabelType((Expr *) call, to, -1, io->resultcollid, COERCE_EXPLICIT_CAST);
}
