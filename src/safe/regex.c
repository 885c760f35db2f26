/*-------------------------------------------------------------------------
 *
 * regex.c
 *	  Regular expressions on raw rows: tests, and parts of strings.
 *
 * Invariant: for every argument the result is that of the built-in function,
 * or NULL where that would raise an error, where the collation is
 * nondeterministic, where the expression is none that is taken, and where a
 * string is too long: DP_MAX_READ for tests, MAX_SEARCHED for parts, less where
 * the automaton has many states (MAX_STEPS), DP_MAX_TEXT for results.
 *
 * The matcher is PostgreSQL's own.  Asked for a match and not for its place, it
 * reads the string once, as an automaton, in memory that the expression alone
 * decides.  Asked for a place, it may read from each character on, but needs no
 * stack.  A back reference makes it try one place after the other, and so does
 * looking ahead or behind: such expressions are not taken.  What parentheses
 * capture it finds by recursion, whose depth it checks where a string matches,
 * and nowhere else: so one pair is found here, by the same rule (see captured()).
 *
 * All are strict, and harmless to call by hand: they take time in the order
 * of the product of both lengths, for parts times that of the string, look for
 * interrupts, and constant stack.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>
#include <math.h>

#include "regex/regex.h"
#include "regex/regexport.h"

#include "base/compat.h"
#include "catalog/pg_collation.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "safe/constants.h"
#include "safe/safe.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

/* The longest expression, in bytes: to compile a long one takes minutes. */
#define MAX_REGEX 4096

/* The longest string of which parts are found: not more steps than DP_MAX_READ allows a test. */
#define MAX_SEARCHED 4096

/* How many states of an automaton a test may visit, and the search for a place, which mostly ends early: a second or two. */
#define MAX_STEPS (1 << 27)
#define MAX_STEPS_TO_PLACE (1 << 29)

/* How much of an expression may be optional, or repeated any number of times, and how many characters it is with all that is repeated
 * written out: to compile it takes milliseconds then. */
#define MAX_OPTIONAL 100
#define MAX_WRITTEN_OUT 4096

/* how deep groups may be nested */
#define MAX_NESTED 30

/* expressions that are made of one with a pair of parentheses that captures: A(B)C */
enum
{
	WHOLE,						/* as it stands, and nothing is captured */
	BEFORE,						/* ^A */
	REST,						/* ^BC$ */
	INSIDE,						/* ^B */
	AFTER,						/* ^C$ */
	N_EXPRESSIONS
};

/* a regular expression as a call compiled it last */
typedef struct DpRegex
{
	MemoryContext context;		/* of what follows */
	text	   *source;
	Oid			collation;
	int			flags;
	bool		is_good;
	bool		captures;		/* else only the whole is compiled */
	bool		has_before,
				has_after;		/* A and C are not empty */
	regex_t		compiled[N_EXPRESSIONS];
} DpRegex;

/* ------------------------------------------------------------------------
 * Expressions
 * ------------------------------------------------------------------------
 */

#define ONE_PAIR "capture with one pair of parentheses, outside of | and of what is repeated, and without *?, \\y and the like; (?:...) groups, and does not capture"

typedef struct RegexSize
{
	double		optional;
	double		written_out;
} RegexSize;

static const char *bracket_end(const char *p);

/* Adds up the size of an expression from *p on, to its end or to that of the group; returns false where groups are nested too deep. */
static bool
measure(const char **p, const char *end, int depth, RegexSize *size)
{
	while (*p < end && **p != ')')
	{
		RegexSize	atom = {0, 1};
		long		least = 1;
		long		most = 1;

		if (**p == '(')
		{
			(*p)++;
			if (depth >= MAX_NESTED || !measure(p, end, depth + 1, &atom))
				return false;
		}
		else if (**p == '[')
			*p = bracket_end(*p);
		else if (**p == '\\' && *p + 1 < end)
			(*p)++;
		*p += *p < end;
		/* how often: so many times, to so many more; any number is one more */
		if (*p < end && **p == '{' && isdigit((unsigned char) (*p)[1]))
		{
			char	   *rest;

			least = strtol(*p + 1, &rest, 10);
			most = *rest != ',' ? least : isdigit((unsigned char) rest[1]) ? strtol(rest + 1, NULL, 10) : least + 1;
		}
		else if (*p < end && strchr("*+?", **p) != NULL)
			most = least + 1;
		size->optional += atom.optional * Max(most, least) + Max(most - least, 0) * atom.written_out;
		size->written_out += atom.written_out * Max(most, least);
	}
	return true;
}

/* Tells whether an expression is compiled quickly. */
static bool
is_small(const char *source, int len)
{
	const char *copy = pnstrdup(source, len);
	const char *p = copy;
	RegexSize	size = {0, 0};

	do
	{
		if (!measure(&p, copy + len, 0, &size))
			return false;
	} while (p++ < copy + len);
	return size.optional <= MAX_OPTIONAL && size.written_out <= MAX_WRITTEN_OUT;
}

static const char *
compile(regex_t * regex, const char *source, int len, int flags, Oid collation)
{
	pg_wchar	wide[MAX_REGEX + 1];
	char		message[100];
	int			code;

	if (len > MAX_REGEX)
		return psprintf("write a regular expression of at most %d bytes", MAX_REGEX);
	if (!is_small(source, len))
		return "write a regular expression in which less is optional, repeated or nested";
	code = pg_regcomp(regex, wide, pg_mb2wchar_with_len(source, wide, len), REG_ADVANCED | flags, collation);
	if (code != REG_OKAY)
	{
		CHECK_FOR_INTERRUPTS();
		pg_regerror(code, regex, message, sizeof(message));
		return psprintf("correct the regular expression: %s", message);
	}
	if ((regex->re_info & (REG_UBACKREF | REG_ULOOKAROUND)) == 0)
		return NULL;
	pg_regfree(regex);
	return "write the regular expression without back references (\\1), (?=, (?!, (?<= and (?<!";
}

/* Returns the end of a bracket expression that begins at p. */
static const char *
bracket_end(const char *p)
{
	p++;
	p += *p == '^';
	p += *p == ']';
	for (; *p != '\0' && *p != ']'; p++)
	{
		if (*p == '\\' && p[1] != '\0')
			p++;
		else if (*p == '[' && p[1] != '\0' && strchr(":=.", p[1]) != NULL)
		{
			char		closing[] = {p[1], ']', '\0'};
			const char *end = strstr(p + 2, closing);

			p = end ? end + 1 : p;
		}
	}
	return p;
}

static bool
is_quantifier(char c)
{
	return c != '\0' && strchr("*+?{", c) != NULL;
}

/*
 * Finds the pair of parentheses that captures in a valid expression which has one.
 * Returns false where what it captures would not follow by captured()'s rule.
 */
static bool
find_pair(const char *source, const char **open, const char **close)
{
	int			depth = 0;
	int			depth_of_pair = -1;

	*open = *close = NULL;
	for (const char *p = source; *p != '\0'; p++)
	{
		/*
		 * anchors stand at the ends, and nothing is matched as short as
		 * possible
		 */
		if ((*p == '^' && p != source) || (*p == '$' && p[1] != '\0') ||
			(strchr("*+?}", *p) != NULL && p[1] == '?') || (p == source && strncmp(p, "***", 3) == 0))
			return false;
		if (*p == '\\')
		{
			p++;
			if (*p == '\0' || IS_HIGHBIT_SET(*p) || (isalnum((unsigned char) *p) && strchr("dswDSW", *p) == NULL))
				return false;
		}
		else if (*p == '[')
		{
			/* the ends of words look at what is beside them */
			if (strncmp(p, "[[:<:]]", 7) == 0 || strncmp(p, "[[:>:]]", 7) == 0)
				return false;
			p = bracket_end(p);
			if (*p == '\0')
				return false;
		}
		else if (*p == '|' && depth == 0)
			return false;
		else if (*p == '(' && p[1] == '?')
		{
			if (p[2] != ':')
				return false;
			depth++;
			p += 2;
		}
		else if (*p == '(')
		{
			if (depth > 0 || *open != NULL)
				return false;
			*open = p;
			depth_of_pair = depth++;
		}
		else if (*p == ')' && --depth == depth_of_pair && *close == NULL)
		{
			*close = p;
			if (is_quantifier(p[1]))
				return false;
		}
	}
	return *open != NULL && *close != NULL;
}

/* Compiles the expressions of source, those of a pair only if parts are wanted; returns what is wrong, or NULL. */
static const char *
compile_all(DpRegex *regex, const char *source, int len, int flags, bool part, Oid collation)
{
	const char *problem = compile(&regex->compiled[WHOLE], source, len, flags | (part ? 0 : REG_NOSUB), collation);
	char	   *copy;
	const char *open,
			   *close,
			   *before,
			   *end;
	char	   *parts[N_EXPRESSIONS];
	int			n;

	regex->captures = part && problem == NULL && regex->compiled[WHOLE].re_nsub > 0;
	if (problem != NULL || !regex->captures)
		return problem;
	pg_regfree(&regex->compiled[WHOLE]);
	copy = pnstrdup(source, len);
	if (!find_pair(copy, &open, &close))
		return ONE_PAIR;
	before = copy + (*copy == '^');
	end = copy + len - (close[1] != '\0' && copy[len - 1] == '$' && copy[len - 2] != '\\');
	regex->has_before = open > before;
	regex->has_after = end > close + 1;
	parts[WHOLE] = psprintf("%.*s(?:%.*s", (int) (open - copy), copy, (int) (copy + len - open - 1), open + 1);
	parts[BEFORE] = psprintf("^(?:%.*s)", (int) (open - before), before);
	parts[INSIDE] = psprintf("^(?:%.*s)", (int) (close - open - 1), open + 1);
	parts[AFTER] = psprintf("^(?:%.*s)$", (int) (end - close - 1), close + 1);
	parts[REST] = psprintf("^(?:%.*s)(?:%.*s)$", (int) (close - open - 1), open + 1, (int) (end - close - 1), close + 1);
	for (n = 0; n < N_EXPRESSIONS && problem == NULL; n++)
		problem = compile(&regex->compiled[n], parts[n], strlen(parts[n]), flags, collation);
	/* the last has not been compiled */
	for (int i = 0; problem != NULL && i < n - 1; i++)
		pg_regfree(&regex->compiled[i]);
	return problem;
}

static void
free_all(void *arg)
{
	DpRegex    *regex = arg;

	for (int i = 0; i < (regex->captures ? N_EXPRESSIONS : WHOLE + 1); i++)
		pg_regfree(&regex->compiled[i]);
}

const char *
dp_regex_problem(const char *source, int len, bool part)
{
	DpRegex		regex;
	const char *problem = compile_all(&regex, source, len, 0, part, C_COLLATION_OID);

	if (problem == NULL)
		free_all(&regex);
	return problem;
}

/* Reads flags of regexp_replace; returns false for others than g and i. */
static bool
read_flags(const char *source, int len, bool *all, int *flags)
{
	for (int i = 0; i < len; i++)
	{
		if (source[i] != 'g' && source[i] != 'i')
			return false;
		*all |= source[i] == 'g';
		*flags |= source[i] == 'i' ? REG_ICASE : 0;
	}
	return true;
}

const char *
dp_regex_flags_problem(const char *source, int len)
{
	bool		all = false;
	int			flags = 0;

	return read_flags(source, len, &all, &flags) ? NULL : "give it flags g and i alone";
}

/* Returns what the second argument of a call means, which is mostly that of the call before; NULL: none that is taken. */
static DpRegex *
compiled_argument(FunctionCallInfo fcinfo, int flags, bool part)
{
	DpRegex    *last = fcinfo->flinfo->fn_extra;
	text	   *source = PG_GETARG_TEXT_PP(1);
	int			len = VARSIZE_ANY_EXHDR(source);
	MemoryContext caller;

	if (last == NULL)
	{
		last = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(DpRegex));
		last->context = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "dp_cdp regular expression", ALLOCSET_SMALL_SIZES);
		fcinfo->flinfo->fn_extra = last;
	}
	else if (last->source != NULL && last->collation == PG_GET_COLLATION() && last->flags == flags &&
			 VARSIZE_ANY_EXHDR(last->source) == len && memcmp(VARDATA_ANY(last->source), VARDATA_ANY(source), len) == 0)
		return last->is_good ? last : NULL;

	last->source = NULL;
	MemoryContextReset(last->context);
	caller = MemoryContextSwitchTo(last->context);
	last->collation = PG_GET_COLLATION();
	last->flags = flags;
	last->is_good = compile_all(last, VARDATA_ANY(source), len, flags, part, last->collation) == NULL;
	if (last->is_good)
	{
		/* version 15 has it in memory of malloc() */
		MemoryContextCallback *callback = palloc0(sizeof(MemoryContextCallback));

		callback->func = free_all;
		callback->arg = last;
		MemoryContextRegisterResetCallback(last->context, callback);
	}
	last->source = cstring_to_text_with_len(VARDATA_ANY(source), len);
	MemoryContextSwitchTo(caller);
	return last->is_good ? last : NULL;
}

/* ------------------------------------------------------------------------
 * Matches
 * ------------------------------------------------------------------------
 */

/* Looks for a match in string from start on; place: where it is, NULL: any will do. */
static bool
matches(regex_t * regex, const pg_wchar *string, int len, int start, regmatch_t * place)
{
	int			code = pg_regexec(regex, string, len, start, NULL, place != NULL, place, 0);

	if (code == REG_OKAY || code == REG_NOMATCH)
		return code == REG_OKAY;
	/* a cancel in version 15, or else there is no memory */
	CHECK_FOR_INTERRUPTS();
	ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
}

/* Returns whether the arguments can be matched at all. */
static bool
is_matchable(FunctionCallInfo fcinfo, int longest)
{
	return dp_value_bytes(PG_GETARG_DATUM(0)) <= longest && dp_value_bytes(PG_GETARG_DATUM(1)) <= MAX_REGEX &&
		dp_collation_has_like(PG_GET_COLLATION());
}

static pg_wchar *
wide_argument(FunctionCallInfo fcinfo, int *len)
{
	text	   *arg = PG_GETARG_TEXT_PP(0);
	pg_wchar   *wide = palloc((VARSIZE_ANY_EXHDR(arg) + 1) * sizeof(pg_wchar));

	*len = pg_mb2wchar_with_len(VARDATA_ANY(arg), wide, VARSIZE_ANY_EXHDR(arg));
	PG_FREE_IF_COPY(arg, 0);
	return wide;
}

/*
 * Tells whether a string is short enough for the states of an automaton, each of
 * which a step may visit: power 1 of a test, 2 of a place.
 */
static bool
is_short_enough(regex_t * regex, double len, int power)
{
	return pow(len, power) * pg_reg_getnumstates(regex) <= (power == 1 ? MAX_STEPS : MAX_STEPS_TO_PLACE);
}

static Datum
test(FunctionCallInfo fcinfo, int flags)
{
	DpRegex    *regex;
	pg_wchar   *wide;
	int			len;
	bool		found;

	if (!is_matchable(fcinfo, DP_MAX_READ) || (regex = compiled_argument(fcinfo, flags, false)) == NULL)
		PG_RETURN_NULL();
	wide = wide_argument(fcinfo, &len);
	if (!is_short_enough(&regex->compiled[WHOLE], len, 1))
		PG_RETURN_NULL();
	found = matches(&regex->compiled[WHOLE], wide, len, 0, NULL);
	pfree(wide);
	PG_RETURN_BOOL(found);
}

PG_FUNCTION_INFO_V1(dp_try_matches);
Datum
dp_try_matches(PG_FUNCTION_ARGS)
{
	return test(fcinfo, 0);
}

PG_FUNCTION_INFO_V1(dp_try_imatches);
Datum
dp_try_imatches(PG_FUNCTION_ARGS)
{
	return test(fcinfo, REG_ICASE);
}

/* ------------------------------------------------------------------------
 * Parts
 * ------------------------------------------------------------------------
 */

/* Returns the end of the longest beginning of string[start, end) that matches; -1: none. */
static int
longest_beginning(regex_t * regex, const pg_wchar *string, int start, int end)
{
	regmatch_t	place;

	return matches(regex, string + start, end - start, 0, &place) ? start + (int) place.rm_eo : -1;
}

/*
 * Sets *part to what is captured in a match of A(B)C: A is as long as it can be
 * where BC matches the rest, then B where C does.  That is the rule of
 * PostgreSQL's regexec.c for concatenations, of which each prefers to be long.
 * Returns false if that is nothing, which find_pair excludes.
 */
static bool
captured(DpRegex *regex, const pg_wchar *string, const regmatch_t * whole, regmatch_t * part)
{
	int			start = whole->rm_so;
	int			end = whole->rm_eo;
	int			middle = start;

	if (regex->has_before)
	{
		middle = longest_beginning(&regex->compiled[BEFORE], string, start, end);
		while (middle > start && !matches(&regex->compiled[REST], string + middle, end - middle, 0, NULL))
			middle = longest_beginning(&regex->compiled[BEFORE], string, start, middle - 1);
	}
	part->rm_so = middle;
	part->rm_eo = end;
	if (middle >= 0 && regex->has_after)
	{
		int			last = longest_beginning(&regex->compiled[INSIDE], string, middle, end);

		while (last > middle && !matches(&regex->compiled[AFTER], string + last, end - last, 0, NULL))
			last = longest_beginning(&regex->compiled[INSIDE], string, middle, last - 1);
		part->rm_eo = last;
	}
	return part->rm_so >= 0 && part->rm_eo >= part->rm_so;
}

static void
append_wide(StringInfo result, const pg_wchar *string, int start, int end)
{
	enlargeStringInfo(result, (end - start) * pg_database_encoding_max_length() + 1);
	result->len += pg_wchar2mb_with_len(string + start, result->data + result->len, end - start);
}

/* substring(string FROM regex): what is captured, or the match */
PG_FUNCTION_INFO_V1(dp_try_regexp_substr);
Datum
dp_try_regexp_substr(PG_FUNCTION_ARGS)
{
	DpRegex    *regex;
	pg_wchar   *wide;
	int			len;
	regmatch_t	part;
	StringInfoData result;

	if (!is_matchable(fcinfo, MAX_SEARCHED) || (regex = compiled_argument(fcinfo, 0, true)) == NULL)
		PG_RETURN_NULL();
	wide = wide_argument(fcinfo, &len);
	if (!is_short_enough(&regex->compiled[WHOLE], len, 2) || !matches(&regex->compiled[WHOLE], wide, len, 0, &part))
		PG_RETURN_NULL();
	if (regex->captures)
	{
		regmatch_t	whole = part;

		if (!captured(regex, wide, &whole, &part))
			PG_RETURN_NULL();
	}
	initStringInfo(&result);
	append_wide(&result, wide, part.rm_so, part.rm_eo);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(result.data, result.len));
}

/* Appends what a match is replaced by: \& is the match, \1 what is captured. */
static void
append_replacement(StringInfo result, const text *by, DpRegex *regex, const pg_wchar *string, const regmatch_t * whole)
{
	const char *end = VARDATA_ANY(by) + VARSIZE_ANY_EXHDR(by);

	for (const char *p = VARDATA_ANY(by); p < end; p++)
	{
		if (*p != '\\' || p + 1 == end)
			appendStringInfoChar(result, *p);
		else if (p[1] == '&')
			append_wide(result, string, whole->rm_so, whole->rm_eo);
		else if (p[1] == '1' && regex->captures)
		{
			regmatch_t	part;

			if (captured(regex, string, whole, &part))
				append_wide(result, string, part.rm_so, part.rm_eo);
		}
		else if (p[1] == '\\' || p[1] < '1' || p[1] > '9')
			appendStringInfoChar(result, '\\');
		p += *p == '\\' && p + 1 < end && (p[1] == '&' || p[1] == '\\' || (p[1] >= '1' && p[1] <= '9'));
	}
}

/* regexp_replace(string, regex, by [, flags]) */
PG_FUNCTION_INFO_V1(dp_try_regexp_replace);
Datum
dp_try_regexp_replace(PG_FUNCTION_ARGS)
{
	bool		all = false;
	int			flags = 0;
	text	   *by;
	DpRegex    *regex;
	pg_wchar   *wide;
	int			len;
	int			copied = 0;
	regmatch_t	whole;
	StringInfoData result;

	if (PG_NARGS() > 3)
	{
		text	   *given = PG_GETARG_TEXT_PP(3);

		if (!read_flags(VARDATA_ANY(given), VARSIZE_ANY_EXHDR(given), &all, &flags))
			PG_RETURN_NULL();
	}
	if (!is_matchable(fcinfo, MAX_SEARCHED) || dp_text_is_wide(PG_GETARG_DATUM(2)) || (regex = compiled_argument(fcinfo, flags, true)) == NULL)
		PG_RETURN_NULL();
	by = PG_GETARG_TEXT_PP(2);
	wide = wide_argument(fcinfo, &len);
	if (!is_short_enough(&regex->compiled[WHOLE], len, 2))
		PG_RETURN_NULL();
	initStringInfo(&result);
	for (int start = 0; start <= len && matches(&regex->compiled[WHOLE], wide, len, start, &whole); start = whole.rm_eo + (whole.rm_so == whole.rm_eo))
	{
		CHECK_FOR_INTERRUPTS();
		append_wide(&result, wide, copied, whole.rm_so);
		append_replacement(&result, by, regex, wide, &whole);
		copied = whole.rm_eo;
		if (result.len > DP_MAX_TEXT)
			PG_RETURN_NULL();
		if (!all)
			break;
	}
	append_wide(&result, wide, copied, len);
	if (result.len > DP_MAX_TEXT)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text_with_len(result.data, result.len));
}

/*
 * regexp_split_to_array(string, regex): the parts between matches, but for those of nothing at an end of the string or
 * just behind another
 */
PG_FUNCTION_INFO_V1(dp_try_regexp_split_to_array);
Datum
dp_try_regexp_split_to_array(PG_FUNCTION_ARGS)
{
	DpRegex    *regex;
	pg_wchar   *wide;
	int			len;
	int			start = 0;
	int			last = 0;
	int			copied = 0;
	regmatch_t	place;
	StringInfoData part;
	DpTextArray texts;

	if (!is_matchable(fcinfo, MAX_SEARCHED) || (regex = compiled_argument(fcinfo, 0, true)) == NULL)
		PG_RETURN_NULL();
	wide = wide_argument(fcinfo, &len);
	if (!is_short_enough(&regex->compiled[WHOLE], len, 2))
		PG_RETURN_NULL();
	dp_begin_texts(&texts);
	initStringInfo(&part);
	while (start <= len && matches(&regex->compiled[WHOLE], wide, len, start, &place))
	{
		CHECK_FOR_INTERRUPTS();
		if (place.rm_so < len && place.rm_eo > last)
		{
			append_wide(&part, wide, copied, place.rm_so);
			if (!dp_add_text(&texts, part.data, part.len))
				PG_RETURN_NULL();
			resetStringInfo(&part);
			copied = place.rm_eo;
		}
		last = place.rm_eo;
		start = last + (place.rm_so == place.rm_eo);
	}
	append_wide(&part, wide, copied, len);
	if (!dp_add_text(&texts, part.data, part.len))
		PG_RETURN_NULL();
	return dp_end_texts(&texts, fcinfo);
}
