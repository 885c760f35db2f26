/*-------------------------------------------------------------------------
 *
 * rows_text.c
 *	  Writes down which rows a release reads.
 *
 * Two releases with the same text read the same rows and group them by the same
 * units, whatever their keys and aggregates are.  The converse does not
 * hold: a subquery that is written in another way has another text.  The text is that of the
 * nodes of FROM and WHERE and of the unit, without what names and positions say,
 * and without which columns are read.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "guard/rewrite.h"
#include "lib/stringinfo.h"
#include "nodes/nodes.h"

/* fields that do not tell which rows there are */
static const char *const unread_fields[] = {
	":location ", ":stmt_location ", ":stmt_len ", ":alias ", ":eref ", ":selectedCols ", ":perminfoindex "
};

/* Returns the end of a value in the text of a node: a word, a list or a node. */
static const char *
skip_value(const char *p)
{
	int			depth = 0;

	for (; *p != '\0'; p++)
	{
		if (*p == '\\' && p[1] != '\0')
			p++;
		else if (*p == '{' || *p == '(')
			depth++;
		else if (*p == '}' || *p == ')')
		{
			if (depth == 0)
				return p;
			if (--depth == 0)
				return p + 1;
		}
		else if (*p == ' ' && depth == 0)
			return p;
	}
	return p;
}

static void
put_node(StringInfo text, const void *node)
{
	const char *p = nodeToString(node);

	while (*p != '\0')
	{
		int			i;

		for (i = 0; i < lengthof(unread_fields); i++)
			if (strncmp(p, unread_fields[i], strlen(unread_fields[i])) == 0)
				break;
		if (i < lengthof(unread_fields))
			p = skip_value(p + strlen(unread_fields[i]));
		else
			appendStringInfoChar(text, *p++);
	}
	appendStringInfoChar(text, '\n');
}

char *
dp_rows_text(const DpFrom *from)
{
	StringInfoData text;

	initStringInfo(&text);
	put_node(&text, from->query->rtable);
	put_node(&text, from->query->jointree);
	put_node(&text, from->unit.exprs);
	return text.data;
}
