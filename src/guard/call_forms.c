/*-------------------------------------------------------------------------
 *
 * call_forms.c
 *	  How the extension's functions are called, for who has called one with
 *	  arguments that no function takes.
 *
 * PostgreSQL's parser answers such a call before any hook of ours, and advises
 * casts, which would not help.  A function with arguments of any number and
 * kind would catch the call, but would change which function others resolve to.
 * So the message is completed when it is sent: the SQLSTATE stays 42883.  An
 * error that a function of PL/pgSQL handles stays PostgreSQL's, too.  Hints to
 * settings of the extension, which SET names wrong, are given the same way.
 *
 * Invariants:
 *	- only errors of the parser, of SET and of SHOW are completed, in a transaction that has not
 *	  been aborted yet, and by what the catalogues know of functions: the list
 *	  of functions of that name, which the parser has just read;
 *	- nothing is added to a call of a name that no function of the extension has, but where
 *	  no function at all has it, and an aggregate of ours has it behind dp_.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "base/extension.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "funcapi.h"
#include "guard/guard.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/formatting.h"
#include "utils/guc.h"
#include "utils/syscache.h"

/* with more arguments that may be left out, only those that the call names have their types told */
#define MANY_OPTIONS 6

static emit_log_hook_type prev_emit_log = NULL;

/* ------------------------------------------------------------------------
 * Aggregates, whose arguments have no names in the catalogues
 * ------------------------------------------------------------------------
 */

typedef struct AggregateForms
{
	const char *names;			/* each with a blank before and after it */
	const char *arguments[3];
	const char *note;
} AggregateForms;

#define OF_NUMBERS "x is a number"
#define OF_NUMBERS_AND_TIMES "x is a number, date or timestamp, and lower and upper are of its type"

static const AggregateForms aggregate_forms[] = {
	{" dp_count ", {"*", "x"}, NULL},
	{" dp_clipped_rows dp_clipped_groups ", {"*"}, NULL},
	{" dp_avg dp_variance dp_var_samp dp_var_pop dp_stddev dp_stddev_samp dp_stddev_pop ", {"x", "x, lower, upper"}, OF_NUMBERS},
	{" dp_sum dp_clipped_totals ", {"x", "x, lower, upper", "x, lower, upper, total_lower, total_upper"}, OF_NUMBERS},
	{" dp_median dp_min dp_max dp_clipped ", {"x", "x, lower, upper"}, OF_NUMBERS_AND_TIMES},
	{" dp_quantile ", {"x, fraction", "x, fraction, lower, upper"}, OF_NUMBERS_AND_TIMES},
	{" dp_histogram ", {"x, bins", "x, lower, upper, bins"}, OF_NUMBERS_AND_TIMES},
	{" dp_covariance dp_covar_samp dp_covar_pop dp_correlation dp_regr_slope dp_regr_intercept ",
	{"y, x", "y, x, y_lower, y_upper, x_lower, x_upper"}, "y and x are numbers"},
	{" dp_mode dp_bounds ", {"x"}, NULL},
	{" dp_noise_stddev dp_error_stddev dp_cut ", {"aggregate"}, "such as dp_count(*) for aggregate"},
	{" dp_margin ", {"aggregate", "aggregate, confidence"}, "such as dp_count(*) for aggregate and 0.99 for confidence"},
};

/* Appends the forms of an aggregate and returns whether it is known. */
static bool
append_aggregate(StringInfo text, const char *name)
{
	const char *word = psprintf(" %s ", name);

	for (int i = 0; i < lengthof(aggregate_forms); i++)
	{
		const AggregateForms *forms = &aggregate_forms[i];

		if (strstr(forms->names, word) == NULL)
			continue;
		for (int j = 0; j < lengthof(forms->arguments) && forms->arguments[j] != NULL; j++)
			appendStringInfo(text, "%s%s(%s)", j > 0 ? " or " : "", name, forms->arguments[j]);
		if (forms->note != NULL)
			appendStringInfo(text, "; %s", forms->note);
		return true;
	}
	return false;
}

/* ------------------------------------------------------------------------
 * Functions
 * ------------------------------------------------------------------------
 */

/* Names the types that functions of the extension have; NULL: another, that is not told. */
static const char *
type_text(Oid type)
{
	switch (type)
	{
		case TEXTOID:
		case NAMEOID:
		case BOOLOID:
		case INT4OID:
		case INT8OID:
		case NUMERICOID:
		case FLOAT8OID:
		case FLOAT8ARRAYOID:
		case DATEOID:
		case REGCLASSOID:
		case REGPROCEDUREOID:
		case REGROLEOID:
			return format_type_be(type);
		case TEXTARRAYOID:
			return "text[], such as ARRAY['a', 'b']";
		case INTERVALOID:
			return "interval, such as '1 month'";
		case TIMESTAMPOID:
			return "timestamp";
		case TIMESTAMPTZOID:
			return "timestamptz";
		case REGROLEARRAYOID:
			return "regrole[], such as '{alice, bob}'";
		case ANYARRAYOID:
			return "array, such as ARRAY['a', 'b']";
		default:
			return NULL;
	}
}

static void
append_argument(StringInfo text, int i, const char *name, Oid type, bool with_type)
{
	const char *type_name = with_type ? type_text(type) : NULL;

	appendStringInfoString(text, i > 0 ? ", " : "");
	appendStringInfoString(text, name && name[0] ? quote_identifier(name) : type_name ? "" : "value");
	if (type_name != NULL)
		appendStringInfo(text, "%s%s", name && name[0] ? " " : "", type_name);
}

static bool
is_of_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/* Returns whether a call, as the parser's message shows it, passes an argument by this name. */
static bool
names_argument(const char *message, const char *name)
{
	const char *arrow = psprintf("%s =>", name);

	for (const char *at = strstr(message, arrow); at != NULL; at = strstr(at + 1, arrow))
	{
		if (at > message && !is_of_name(at[-1]))
			return true;
	}
	return false;
}

/* Appends a function's form: its name, its arguments, and in brackets those that may be left out. */
static void
append_function(StringInfo text, HeapTuple tuple, const char *message)
{
	Form_pg_proc proc = (Form_pg_proc) GETSTRUCT(tuple);
	int			required = proc->pronargs - proc->pronargdefaults;
	bool		no_names;
	bool		no_modes;
	Datum		names = SysCacheGetAttr(PROCNAMEARGSNSP, tuple, Anum_pg_proc_proargnames, &no_names);
	Datum		modes = SysCacheGetAttr(PROCNAMEARGSNSP, tuple, Anum_pg_proc_proargmodes, &no_modes);
	char	  **name = NULL;

	if (!no_names && get_func_input_arg_names(names, no_modes ? (Datum) 0 : modes, &name) != proc->pronargs)
		name = NULL;
	appendStringInfo(text, "dp_cdp.%s(", NameStr(proc->proname));
	for (int i = 0; i < proc->pronargs; i++)
	{
		if (i == required)
			appendStringInfoString(text, i > 0 ? " [" : "[");
		append_argument(text, i, name ? name[i] : NULL, proc->proargtypes.values[i],
						i < required || proc->pronargdefaults <= MANY_OPTIONS ||
						(name && name[i] && names_argument(message, name[i])));
	}
	appendStringInfoString(text, proc->pronargdefaults > 0 ? "])" : ")");
}

/* Appends the forms of the extension's functions of a name, one a line, and returns how many there are. */
static int
append_functions(StringInfo text, const char *name, const char *message)
{
	CatCList   *list = SearchSysCacheList1(PROCNAMEARGSNSP, CStringGetDatum(name));
	Oid			schema = dp_own_schema();
	int			n = 0;

	for (int i = 0; i < list->n_members; i++)
	{
		HeapTuple	tuple = &list->members[i]->tuple;

		if (((Form_pg_proc) GETSTRUCT(tuple))->pronamespace != schema)
			continue;
		appendStringInfoString(text, n++ > 0 ? "\n" : "");
		append_function(text, tuple, message);
	}
	ReleaseSysCacheList(list);
	return n;
}

/* ------------------------------------------------------------------------
 * Messages
 * ------------------------------------------------------------------------
 */

/* Returns the function that a message names, whatever its language: the word before the first parenthesis. */
static char *
called_name(const char *message)
{
	const char *end = strchr(message, '(');
	const char *begin = end;

	while (begin != NULL && begin > message && is_of_name(begin[-1]))
		begin--;
	return begin == NULL || begin == end ? NULL : pnstrdup(begin, end - begin);
}

/* Tells whether no function has a name, as median(x). */
static bool
is_nobodys(const char *name)
{
	CatCList   *list = SearchSysCacheList1(PROCNAMEARGSNSP, CStringGetDatum(name));
	bool		result = list->n_members == 0;

	ReleaseSysCacheList(list);
	return result;
}

/* Returns what is right to write, and in detail the forms, if there are several; NULL: the call is not of this extension's. */
static const char *
right_call(const char *message, char **detail)
{
	char	   *called = called_name(message);
	char	   *dot = called ? strrchr(called, '.') : NULL;
	char	   *name = dot ? dot + 1 : called;
	bool		in_schema = dot != NULL && strncmp(called, "dp_cdp.", strlen("dp_cdp.")) == 0;
	StringInfoData text;
	int			n;

	if (name == NULL)
		return NULL;
	initStringInfo(&text);
	if (strncmp(name, "dp_", strlen("dp_")) == 0 && append_aggregate(&text, name))
		return psprintf("write %s", text.data);
	if (dot == NULL && is_nobodys(name) && append_aggregate(&text, psprintf("dp_%s", name)))
		return psprintf("over protected tables write %s", text.data);

	n = dot == NULL || in_schema ? append_functions(&text, name, message) : 0;
	if (n > 1)
		*detail = text.data;

	if (n > 0)
		return n > 1 ? "write one of the forms below" : psprintf("write %s", text.data);

	if (in_schema && strcmp(dot, called + strlen("dp_cdp")) == 0 && GetConfigOption(called, true, false) != NULL)
		return psprintf("%s is a setting: SET %s = ...", called, called);
	if (dot == NULL && strncmp(name, "dp_", strlen("dp_")) == 0 && is_nobodys(name))
		return "private aggregates are dp_count, dp_sum, dp_avg, dp_median and others, which \\da dp_* in psql lists";
	return in_schema ? "the reference, and \\df dp_cdp.* in psql, list the functions that there are" : NULL;
}

static void
complete_message(ErrorData *edata)
{
	const char *right = NULL;

	if (edata->sqlerrcode == ERRCODE_UNDEFINED_FUNCTION || edata->sqlerrcode == ERRCODE_AMBIGUOUS_FUNCTION)
		right = right_call(edata->message, &edata->detail);
	else if (debug_query_string != NULL && strstr(debug_query_string, "dp_cdp.set_keys") != NULL)
		right = "give dp_cdp.set_keys an array of keys, such as ARRAY['a', 'b']";
	if (right == NULL)
		return;
	edata->message = psprintf("%s; %s", edata->message, right);
	edata->hint = NULL;
}

/* Returns the form of the first function of the extension that a statement calls; NULL: it calls none by its schema. */
static const char *
first_called_form(const char *statement)
{
	const char *prefix = "dp_cdp.";
	StringInfoData text;

	for (const char *at = strstr(statement, prefix); at != NULL; at = strstr(at + 1, prefix))
	{
		const char *end = at + strlen(prefix);

		while (is_of_name(*end))
			end++;
		initStringInfo(&text);
		if (*end == '(' && append_functions(&text, pnstrdup(at + strlen(prefix), end - at - strlen(prefix)), statement) > 0)
			return text.data;
	}
	return NULL;
}

/* Tells the form of a call whose table or role does not exist, which may be another argument, or of which a literal cannot be read. */
static void
hint_at_order(ErrorData *edata, const char *about)
{
	const char *form = debug_query_string != NULL ? first_called_form(debug_query_string) : NULL;

	if (form != NULL && edata->hint == NULL)
		edata->hint = psprintf("The call has the form %s.%s%s", form, about != NULL ? " " : "", about != NULL ? about : "");
}

/* Tells how somebody gets the right to call a function of the extension, or who has it. */
static void
hint_at_grant(ErrorData *edata)
{
	/*
	 * what others than administrators may have: all else shares in
	 * administration, and check_setup() says so
	 */
	static const struct
	{
		const char *function;
		const char *grantor;
	}			granted[] = {
		{"create_dataset", "The owner of the database, or a superuser,"},
		{"setup_metrics", "A superuser"},
		{"debit_budget(text, numeric, numeric)", "The owner of the dataset needs no grant if he gives delta and role, too. A superuser"}
	};
	const char *said = "permission denied for function ";
	const char *name = edata->message + strlen(said);
	char	   *role;

	if (strncmp(edata->message, said, strlen(said)) != 0 || debug_query_string == NULL || edata->hint != NULL ||
		strstr(debug_query_string, psprintf("dp_cdp.%s", name)) == NULL)
		return;
	role = GetUserNameFromId(GetUserId(), true);
	edata->hint = strcmp(name, "harden") == 0 ? "A superuser calls it, or the owner of the database for what is his." :
		"A superuser, or the owner of the extension, calls it.";
	for (int i = 0; i < lengthof(granted) && role != NULL; i++)
		if (strncmp(granted[i].function, name, strlen(name)) == 0 && !is_of_name(granted[i].function[strlen(name)]))
			edata->hint = psprintf("%s grants it: GRANT EXECUTE ON FUNCTION dp_cdp.%s TO %s.",
								   granted[i].grantor, granted[i].function, quote_identifier(role));
}

/* Returns whether a statement has a name, and after it this text; blanks may be between them. */
static bool
has_name_before(const char *statement, const char *name, const char *text)
{
	for (const char *at = strstr(statement, name); at != NULL; at = strstr(at + 1, name))
	{
		const char *end = at + strlen(name);

		end += strspn(end, " \t\n");
		if (strncmp(end, text, strlen(text)) == 0 && (at == statement || !is_of_name(at[-1])))
			return true;
	}
	return false;
}

/* Returns the name of a function of an answer's error that is called with a name; NULL: none is. */
static const char *
error_function_of(const char *statement, const char *name)
{
	static const char *const functions[] = {"dp_margin", "dp_noise_stddev", "dp_error_stddev", "dp_cut"};

	for (int i = 0; i < lengthof(functions); i++)
		if (strstr(statement, psprintf("%s(%s)", functions[i], name)) != NULL ||
			strstr(statement, psprintf("%s(%s,", functions[i], name)) != NULL)
			return functions[i];
	return NULL;
}

/* Tells what is meant by a name that a call has as a column: an argument, an aggregate's alias, or a name in quotes. */
static void
hint_at_quotes(ErrorData *edata)
{
	const char *statement = debug_query_string;
	const char *begin = strchr(edata->message, '"');
	const char *end = begin ? strchr(begin + 1, '"') : NULL;
	const char *name = end ? pnstrdup(begin + 1, end - begin - 1) : NULL;
	const char *function;
	const char *form;

	if (statement == NULL || name == NULL || edata->hint != NULL)
		return;
	function = error_function_of(statement, name);
	if (function != NULL)
	{
		edata->hint = psprintf("%s takes the aggregate itself, and not its name in the select list: write for example %s(count(*)).",
							   function, function);
		return;
	}
	form = first_called_form(statement);
	if (form == NULL || strstr(asc_tolower(statement, strlen(statement)), " from ") != NULL)
		return;
	edata->hint = "Names are given in single quotes, such as 'patient_id'.";
	if (has_name_before(statement, name, "=") && !has_name_before(statement, name, "=>") && has_name_before(form, name, ""))
		edata->hint = psprintf("Arguments are named with =>, such as %s => ...", name);
}

/* Tells which settings there are, or which values a setting takes, where SET names one of the extension's. */
static void
hint_at_settings(ErrorData *edata)
{
	const char *begin = strstr(edata->message, "\"dp_cdp.");
	const char *end = begin ? strchr(begin + 1, '"') : NULL;
	const char *name = end ? pnstrdup(begin + 1, end - begin - 1) : NULL;

	if (name == NULL || edata->hint != NULL)
		return;
	if (GetConfigOption(name, true, false) == NULL)
		edata->hint = "SELECT setting, in_effect FROM dp_cdp.settings shows the settings. Options of a dataset are its owner's to change, with dp_cdp.alter_dataset.";
	else
		edata->hint = psprintf("SELECT vartype, min_val, max_val, short_desc FROM pg_settings WHERE name = '%s' shows which values it takes.", name);
}

static bool
is_of(const ErrorData *edata, const char *function, int code)
{
	return edata->elevel == ERROR && edata->funcname != NULL && edata->message != NULL &&
		edata->sqlerrcode == code && strcmp(edata->funcname, function) == 0;
}

static void
complete_error(ErrorData *edata)
{
	/*
	 * the parser's: of a call that nothing fits, or of a polymorphic argument
	 * that is only a literal
	 */
	bool		no_right = is_of(edata, "aclcheck_error", ERRCODE_INSUFFICIENT_PRIVILEGE);
	bool		no_role = is_of(edata, "get_role_oid", ERRCODE_UNDEFINED_OBJECT);
	bool		no_quotes = is_of(edata, "errorMissingColumn", ERRCODE_UNDEFINED_COLUMN) || is_of(edata, "errorMissingRTE", ERRCODE_UNDEFINED_TABLE);

	/*
	 * a literal of a call has a position, which values that are read when it
	 * runs have not
	 */
	bool		no_value = edata->elevel == ERROR && edata->cursorpos > 0 && edata->message != NULL &&
	(edata->sqlerrcode == ERRCODE_INVALID_TEXT_REPRESENTATION || edata->sqlerrcode == ERRCODE_INVALID_DATETIME_FORMAT ||
	 edata->sqlerrcode == ERRCODE_INVALID_NAME);
	bool		no_form = is_of(edata, "ParseFuncOrColumn", ERRCODE_UNDEFINED_FUNCTION) ||
	is_of(edata, "ParseFuncOrColumn", ERRCODE_AMBIGUOUS_FUNCTION) ||
	is_of(edata, "enforce_generic_type_consistency", ERRCODE_DATATYPE_MISMATCH);

	/*
	 * of guc.c: of a name that is no setting's, or of a value that is not one
	 * of its type
	 */
	bool		no_setting = edata->elevel == ERROR && edata->message != NULL && strstr(edata->message, "\"dp_cdp.") != NULL &&
	edata->filename != NULL && strstr(edata->filename, "guc") != NULL &&
	(edata->sqlerrcode == ERRCODE_INVALID_NAME || edata->sqlerrcode == ERRCODE_UNDEFINED_OBJECT ||
	 edata->sqlerrcode == ERRCODE_INVALID_PARAMETER_VALUE);

	if ((no_form || no_role || no_right || no_quotes || no_value || no_setting || is_of(edata, "RangeVarGetRelidExtended", ERRCODE_UNDEFINED_TABLE)) &&
		MyBackendType == B_BACKEND && IsTransactionState() && dp_extension_installed())
	{
		MemoryContext old = MemoryContextSwitchTo(edata->assoc_context);

		if (no_form)
			complete_message(edata);
		else if (no_setting)
			hint_at_settings(edata);
		else if (no_right)
			hint_at_grant(edata);
		else if (no_quotes)
			hint_at_quotes(edata);
		else if (no_value)
			hint_at_order(edata, NULL);
		else
			hint_at_order(edata, !no_role ? "Give a table with its schema, if that is not in search_path."
						  : strstr(edata->message, "\"public\"") ? "A budget is a role's, and none is PUBLIC's." : "If the role is in its place, CREATE ROLE makes it.");
		MemoryContextSwitchTo(old);
	}
	if (prev_emit_log)
		prev_emit_log(edata);
}

void
dp_call_forms_init(void)
{
	prev_emit_log = emit_log_hook;
	emit_log_hook = complete_error;
}
