/*-------------------------------------------------------------------------
 *
 * regex.c
 *	  Functions of regular expressions, in words of functions that take time in
 *	  proportion to the string.
 *
 * All tests are words of string ~ regex (safe/regex.c).  To find a part of a
 * string, PostgreSQL's matcher takes time that depends on the row.  So only
 * expressions of a few forms are taken there, each of which other functions of
 * the list find in the same place.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "guard/vet/vet.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"

static FuncExpr *
call_of(Oid funcid, Oid type, Node *like, Oid inputcollid, List *args)
{
	FuncExpr   *call = makeFuncExpr(funcid, type, args, type == TEXTOID ? exprCollation(like) : InvalidOid, inputcollid, COERCE_EXPLICIT_CALL);

	call->location = exprLocation(like);
	return call;
}

/* ------------------------------------------------------------------------
 * Tests
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
test_in_words(Node *node, Oid funcid, Oid inputcollid, List *args)
{
	Oid			opno = IsA(node, OpExpr) ? ((OpExpr *) node)->opno : InvalidOid;
	Node	   *regex = lsecond(args);
	bool		negated = false;
	bool		same = true;
	Node	   *string;
	OpExpr	   *test;

	/* SIMILAR TO */
	if (IsA(regex, FuncExpr) && !dp_is_unfoldable(regex, NULL) &&
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
	if (same || !OidIsValid(opno))
		return NULL;
	string = linitial(args);
	if (exprType(string) == NAMEOID)
		string = (Node *) call_of(F_TEXT_NAME, TEXTOID, string, inputcollid, list_make1(string));
	test = dp_make_comparison(opno, (Expr *) string, (Expr *) regex, inputcollid);
	test->location = exprLocation(node);
	return negated ? (Node *) makeBoolExpr(NOT_EXPR, list_make1(test), exprLocation(node)) : (Node *) test;
}

/* ------------------------------------------------------------------------
 * Parts of strings
 * ------------------------------------------------------------------------
 */

static bool
is_quantifier(char c)
{
	return c != '\0' && strchr("*+?{", c) != NULL;
}

/* an expression of plain characters, one class that is repeated, and what follows that */
typedef struct RegexPart
{
	bool		from_start;		/* ^ */
	char	   *before;
	bool		captures;		/* the class is in parentheses, and no more */
	char		until;			/* which character the class has not; 0: it
								 * has all */
	bool		not_empty;		/* + */
	bool		until_follows;
	bool		to_end;			/* $ */
} RegexPart;

/* Reads plain characters; NULL: one of them is repeated. */
static char *
read_plain(const char **regex)
{
	StringInfoData plain;

	initStringInfo(&plain);
	for (; **regex != '\0'; (*regex)++)
	{
		if (**regex == '\\' && !IS_HIGHBIT_SET((*regex)[1]) && ispunct((unsigned char) (*regex)[1]))
			(*regex)++;
		else if (strchr("[](){}*+?|^$.\\", **regex) != NULL)
			break;
		if (is_quantifier((*regex)[1]))
			return NULL;
		appendStringInfoChar(&plain, **regex);
	}
	return plain.data;
}

static bool
read_char(const char **regex, char c)
{
	if (**regex != c)
		return false;
	(*regex)++;
	return true;
}

static bool
read_part(const char *regex, RegexPart *part)
{
	const char *plain;

	memset(part, 0, sizeof(RegexPart));
	part->from_start = read_char(&regex, '^');
	part->before = read_plain(&regex);
	part->captures = read_char(&regex, '(');
	if (regex[0] == '[' && regex[1] == '^' && regex[2] != '\0' && !IS_HIGHBIT_SET(regex[2]) && strchr("[]\\", regex[2]) == NULL && regex[3] == ']')
	{
		part->until = regex[2];
		regex += 4;
	}
	else if (!read_char(&regex, '.'))
		return false;
	part->not_empty = *regex == '+';
	if (part->before == NULL || (!read_char(&regex, '+') && !read_char(&regex, '*')) || is_quantifier(*regex) ||
		(part->captures && (!read_char(&regex, ')') || is_quantifier(*regex))))
		return false;
	plain = read_plain(&regex);
	part->until_follows = plain != NULL && plain[0] != '\0';
	part->to_end = read_char(&regex, '$');
	return *regex == '\0' && plain != NULL && (plain[0] == '\0' || (plain[0] == part->until && plain[1] == '\0'));
}

/* what a part is looked for in */
typedef struct Searched
{
	Node	   *node;			/* the call that is replaced */
	Node	   *string;
	Oid			collation;
} Searched;

static Node *
text_const(const Searched *s, const char *text)
{
	return (Node *) makeConst(TEXTOID, -1, exprCollation(s->node), -1, CStringGetTextDatum(text), false, false);
}

static Node *
split(const Searched *s, Node *string, const char *delimiter, int field)
{
	return (Node *) call_of(F_SPLIT_PART, TEXTOID, s->node, s->collation, list_make3(string, text_const(s, delimiter), dp_int4_const(field)));
}

static Node *
position(const Searched *s, const char *sought)
{
	return (Node *) call_of(F_STRPOS, INT4OID, s->node, s->collation, list_make2(copyObject(s->string), text_const(s, sought)));
}

/* Returns what is behind the first occurrence of a string. */
static Node *
rest_behind(const Searched *s, const char *before)
{
	Node	   *length = (Node *) call_of(F_LENGTH_TEXT, INT4OID, s->node, s->collation, list_make1(text_const(s, before)));
	Node	   *start = (Node *) call_of(F_INT4PL, INT4OID, s->node, InvalidOid, list_make2(position(s, before), length));

	return (Node *) call_of(F_SUBSTR_TEXT_INT4, TEXTOID, s->node, s->collation, list_make2(copyObject(s->string), start));
}

/* Returns a value where a string occurs behind so many characters, else NULL. */
static Node *
where_found(const Searched *s, const char *sought, int behind, Node *value)
{
	CaseExpr   *cases = makeNode(CaseExpr);
	CaseWhen   *when = makeNode(CaseWhen);

	when->expr = (Expr *) dp_make_comparison(Int4LessOperator, (Expr *) dp_int4_const(behind), (Expr *) position(s, sought), InvalidOid);
	when->result = (Expr *) value;
	cases->casetype = TEXTOID;
	cases->casecollid = exprCollation(s->node);
	cases->args = list_make1(when);
	cases->defresult = (Expr *) makeNullConst(TEXTOID, -1, cases->casecollid);
	cases->location = exprLocation(s->node);
	return (Node *) cases;
}

static Node *
null_if_empty(const Searched *s, Node *value)
{
	NullIfExpr *expr = makeNode(NullIfExpr);

	expr->opno = TextEqualOperator;
	expr->opresulttype = TEXTOID;
	expr->opcollid = exprCollation(s->node);
	expr->inputcollid = s->collation;
	expr->args = list_make2(value, text_const(s, ""));
	expr->location = exprLocation(s->node);
	return (Node *) expr;
}

/* Returns substring(string FROM regex) in words of split_part and strpos; NULL where they do not do. */
static Node *
substring_in_words(const Searched *s, const char *regex)
{
	RegexPart	r;
	bool		has_before;
	char		until[2] = {0};
	Node	   *value;

	if (!read_part(regex, &r))
		return NULL;
	has_before = r.before[0] != '\0';
	until[0] = r.until;
	if (!r.captures && (has_before || r.until_follows))
		return NULL;
	if (r.until == '\0' && has_before && !r.from_start)
		value = where_found(s, r.before, 0, rest_behind(s, r.before));
	else if (r.until != '\0' && !has_before && r.from_start && r.until_follows && !r.to_end)
		return where_found(s, until, r.not_empty, split(s, copyObject(s->string), until, 1));
	else if (r.until != '\0' && !has_before && !r.until_follows && r.from_start != r.to_end)
		value = split(s, copyObject(s->string), until, r.from_start ? 1 : -1);
	else if (r.until != '\0' && has_before && !r.from_start && !r.until_follows && !r.to_end && !r.not_empty)
		value = where_found(s, r.before, 0, split(s, rest_behind(s, r.before), until, 1));
	else
		return NULL;
	return r.not_empty ? null_if_empty(s, value) : value;
}

/* Returns regexp_replace(string, regex, by) in words of replace and split_part; NULL where they do not do. */
static Node *
replace_in_words(const Searched *s, const char *regex, const char *by, bool all)
{
	bool		from_start = read_char(&regex, '^');
	bool		any = from_start && strncmp(regex, ".*", 2) == 0;
	char	   *plain;

	if (strchr(by, '\\') != NULL)
		return NULL;
	regex += any ? 2 : 0;
	plain = is_quantifier(*regex) ? NULL : read_plain(&regex);
	if (plain == NULL || plain[0] == '\0' || (from_start && !any))
		return NULL;
	if (any)
		return by[0] == '\0' && *regex == '\0' && plain[1] == '\0' ? split(s, copyObject(s->string), plain, -1) : NULL;
	if (*regex == '\0')
		return all ? (Node *) call_of(F_REPLACE, TEXTOID, s->node, s->collation, list_make3(copyObject(s->string), text_const(s, plain), text_const(s, by)))
			: NULL;
	return by[0] == '\0' && (strcmp(regex, ".*") == 0 || strcmp(regex, ".*$") == 0) ? split(s, copyObject(s->string), plain, 1) : NULL;
}

/* Returns a constant argument as a string; NULL: it is none. */
static const char *
constant_text(List *args, int n)
{
	Const	   *con = list_nth(args, n);

	return IsA(con, Const) && !con->constisnull && con->consttype == TEXTOID ? TextDatumGetCString(con->constvalue) : NULL;
}

Node *
dp_words_of_regex(Node *node, Oid funcid, Oid inputcollid, List *args)
{
	Searched	s = {node, args != NIL ? linitial(args) : NULL, inputcollid};
	const char *texts[4] = {0};

	if (funcid != F_SUBSTRING_TEXT_TEXT && list_length(args) == 2)
		return test_in_words(node, funcid, inputcollid, args);
	if (funcid != F_SUBSTRING_TEXT_TEXT && funcid != F_REGEXP_REPLACE_TEXT_TEXT_TEXT && funcid != F_REGEXP_REPLACE_TEXT_TEXT_TEXT_TEXT)
		return NULL;
	for (int i = 1; i < list_length(args); i++)
	{
		texts[i] = constant_text(args, i);
		if (texts[i] == NULL)
			return NULL;
	}
	if (funcid == F_SUBSTRING_TEXT_TEXT)
		return substring_in_words(&s, texts[1]);
	if (texts[3] != NULL && strcmp(texts[3], "g") != 0)
		return NULL;
	return replace_in_words(&s, texts[1], texts[2], texts[3] != NULL);
}
