/*-------------------------------------------------------------------------
 *
 * request.c
 *	  Writing a request: who asks, from where, what is to be debited, and the
 *	  texts that the audit keeps.
 *
 * Invariant: a request is of one size, and what does not fit into it is cut;
 * names of datasets never are.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"

#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"

#include "base/clock.h"
#include "base/settings.h"
#include "ledger/ledger_int.h"
#include "ledger/standby.h"

/* the statement that makes the next debit, for the audit; NULL: none */
static const char *query_text = NULL;
static int	query_length = 0;

/* Writes where the session's client is, into room for NAMEDATALEN bytes. */
void
dp_ledger_client_address(char *address)
{
	static char known[NAMEDATALEN] = "";

	/*
	 * it stays the same; the header that knows it wants those of Kerberos,
	 * too
	 */
	if (known[0] == '\0' && MyProcPort != NULL)
	{
		LOCAL_FCINFO(fcinfo, 0);
		Datum inet;

		InitFunctionCallInfoData(*fcinfo, NULL, 0, InvalidOid, NULL, NULL);
		inet = inet_client_addr(fcinfo);

		strlcpy(known, fcinfo->isnull ? "[local]" : DatumGetCString(DirectFunctionCall1(inet_out, inet)),
				NAMEDATALEN);
	}
	strlcpy(address, known, NAMEDATALEN);
}

void
dp_ledger_set_query(const char *text, int location, int length)
{
	int			whole = text ? strlen(text) : 0;

	if (text == NULL || location < 0 || location > whole)
		location = 0;
	query_text = text ? text +location : NULL;

	query_length = length <= 0 || length > whole - location ? whole - location : length;
	/* no more than is kept, and something to tell that it was cut */
	query_length = Min(query_length, DP_MAX_QUERY_BYTES + 1);
	while (query_length > 0 && isspace((unsigned char) *query_text))
	{
		query_text++;
		query_length--;
	}
}

void
dp_take_query(DpOrder *order)
{
	/* good for one debit: what it points to may not outlive this one */
	order->query = query_text;
	order->query_length = query_length;
	query_text = NULL;
}

/*
 * Appends at most limit bytes of a string, the cut marked by "..."; returns
 * its offset.
 */
static uint16
put_string(DpRequest *req, Size *used, const char *s, Size limit)
{
	Size		len;
	uint16		offset = (uint16) *used;

	if (s == NULL)
		return 0;
	len = strlen(s);
	if (len > limit)
	{
		len = pg_mbcliplen(s, len, limit - 3);
		memcpy(req->strings + offset, s, len);
		memcpy(req->strings + offset + len, "...", 3);
		len += 3;
	}
	else
		memcpy(req->strings + offset, s, len);
	req->strings[offset + len] = '\0';
	*used += len + 1;
	Assert(*used <= DP_STRINGS_SIZE);
	return offset;
}

static Size
room_for(const char *s, Size limit)
{
	return s == NULL ? 0 : Min(strlen(s), limit) + 1;
}

/* Appends the statement's text, as far as the settings want it; returns its offset. */
static uint16
put_query(DpRequest *req, Size *used, const DpOrder *order)
{
	char	   *text;
	uint16		offset;

	if (order->query == NULL || dp_guc_log_query_bytes == 0)
		return 0;
	text = pnstrdup(order->query, order->query_length);

	offset = put_string(req, used, text, Max(dp_guc_log_query_bytes, 4));
	pfree(text);
	return offset;
}

/* Says who asks, from where. */
static void
write_asker(DpRequest *req, const DpOrder *order)
{
	const DpAsker *asker = order->asker;

	req->kind = order->kind;
	req->session_role = asker ? asker->session_role : GetSessionUserId();
	req->role = asker ? asker->role : order->is_for ? order->role : GetUserId();
	req->other_payer = order->is_for ? order->role : req->session_role;
	req->of_caps = order->of_caps;
	req->asked_at = dp_uptime();
	strlcpy(req->application, asker ? asker->application : application_name ? application_name : "", NAMEDATALEN);
	if (asker)
		strlcpy(req->client, asker->client, NAMEDATALEN);
	else
		dp_ledger_client_address(req->client);
	memset(&req->reply, 0, sizeof(req->reply));
}

void
dp_write_request(DpRequest *req, List *items, const DpOrder *order)
{
	Size		used = 1;		/* offset 0 stands for NULL */
	Size		limit;
	Size		names = 0;
	const char *last_name = NULL;
	uint16		last_offset = 0;

	write_asker(req, order);
	req->nitems = list_length(items);
	req->query = put_query(req, &used, order);
	req->reason = put_string(req, &used, order->reason, DP_MAX_REASON_BYTES);

	foreach_ptr(DpDebitItem, one, items)
		names += room_for(one->dataset, NAMEDATALEN);

	/* names are needed whole; the other strings share what they leave */
	for (limit = DP_STRINGS_SIZE; limit > 4; limit = limit * 3 / 4)
	{
		Size		sum = used + names;

		foreach_ptr(DpDebitItem, item, items)
		{
			sum += room_for(item->aggregates, limit) + room_for(item->groups, limit) +
				room_for(item->sigma, limit) + room_for(item->tables, limit);
		}
		if (sum <= DP_STRINGS_SIZE)
			break;
	}

	foreach_ptr(DpDebitItem, item, items)
	{
		DpWireItem *wire = &req->items[foreach_current_index(item)];

		wire->rho = item->rho;
		wire->delta = item->delta;
		wire->days = item->has_days ? item->days : DP_ALL_DAYS;
		if (last_name == NULL || strcmp(last_name, item->dataset) != 0)
		{
			last_name = item->dataset;
			last_offset = put_string(req, &used, last_name, NAMEDATALEN);
		}
		wire->dataset = last_offset;
		wire->aggregates = put_string(req, &used, item->aggregates, limit);
		wire->groups = put_string(req, &used, item->groups, limit);
		wire->sigma = put_string(req, &used, item->sigma, limit);
		wire->tables = put_string(req, &used, item->tables, limit);
	}
}
