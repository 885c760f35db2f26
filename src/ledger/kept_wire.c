/*-------------------------------------------------------------------------
 *
 * kept_wire.c
 *	  What a request has to do with kept answers, handed to the worker: credits
 *	  and answers of a debit, or values to be kept.
 *
 * It is of any size.  What fits into the slot is written there, the rest into
 * a segment of shared memory, which lives as long as one of the two holds it.
 * So a process that gives up may leave at once: the worker finds no segment,
 * and nobody waits for what it would have done.
 *
 * Of each item of a debit there are two numbers, credits and answers; of values
 * there is their number, then each one's DpKeptId, size and bytes.  All parts
 * begin at multiples of 8 bytes.
 *
 * Both sides are this library in one server, so what is read is not checked
 * but for its size.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/compat.h"

#include "fmgr.h"
#include "storage/dsm.h"

#include "base/errors.h"
#include "ledger/ledger_int.h"

/* numbers of what follows, of an item */
typedef struct Numbers
{
	int32		credits;
	int32		answers;
} Numbers;

/* what comes before the bytes of a value */
typedef struct ValueHead
{
	DpKeptId	id;
	int64		size;
} ValueHead;

StaticAssertDecl(sizeof(DpCredit) % 8 == 0 && sizeof(DpKeptId) % 8 == 0 && sizeof(Numbers) % 8 == 0 &&
				 sizeof(ValueHead) % 8 == 0, "parts of a request begin at multiples of 8 bytes");

#define ALIGN8(size) TYPEALIGN64(8, size)

/* ---------------------------------------------------------------------
 * Writing
 * ---------------------------------------------------------------------
 */

static Size
size_of_items(List *items)
{
	Size		size = 0;
	bool		any = false;

	foreach_ptr(DpDebitItem, item, items)
	{
		any = any || item->credits != NIL || item->answers != NIL;
		size += sizeof(Numbers) + list_length(item->credits) * sizeof(DpCredit) +
			list_length(item->answers) * sizeof(DpKeptId);
	}
	return any ? size : 0;
}

/* 0: there is none */
static Size
size_of_value(const DpKeptValues *value)
{
	return value->values ? VARSIZE(value->values) : 0;
}

static Size
size_of_values(List *values)
{
	Size		size = sizeof(int64);

	foreach_ptr(const DpKeptValues, value, values)
		size = add_size(size, add_size(sizeof(ValueHead), ALIGN8(size_of_value(value))));
	return size;
}

static char *
put(char *at, const void *bytes, Size size)
{
	memcpy(at, bytes, size);
	return at + ALIGN8(size);
}

static void
write_items(char *at, List *items)
{
	foreach_ptr(DpDebitItem, item, items)
	{
		Numbers		numbers = {list_length(item->credits), list_length(item->answers)};

		at = put(at, &numbers, sizeof(numbers));
		foreach_ptr(Node, credit, item->credits)
			at = put(at, credit, sizeof(DpCredit));
		foreach_ptr(Node, part, item->answers)
			at = put(at, part, sizeof(DpKeptId));
	}
}

static void
write_values(char *at, List *values)
{
	int64		n = list_length(values);

	at = put(at, &n, sizeof(n));
	foreach_ptr(DpKeptValues, value, values)
	{
		ValueHead	head = {value->id, size_of_value(value)};

		at = put(at, &head, sizeof(head));
		if (head.size > 0)
			at = put(at, value->values, head.size);
	}
}

/* Values are as they are stored: with a header of four bytes, and whole (dp_keep_values sees to that). */
dsm_segment *
dp_extra_write(DpRequest *req, List *items, List *values)
{
	dsm_segment *segment = NULL;
	char	   *at = req->extra;

	req->extra_segment = DSM_HANDLE_INVALID;
	req->extra_size = values != NIL ? size_of_values(values) : size_of_items(items);
	if (req->extra_size == 0)
		return NULL;
	if (req->extra_size > DP_EXTRA_SIZE)
	{
		segment = dsm_create(req->extra_size, DSM_CREATE_NULL_IF_MAXSEGMENTS);
		if (segment == NULL)
			dp_raise(LEDGER_UNAVAILABLE,
					 values != NIL
					 ? errmsg("no shared memory is left to keep an answer, which is not shown; the charge stays, and the same question costs no more: retry")
					 : errmsg("the server has no shared memory left for the privacy ledger; nothing was debited: retry"));
		req->extra_segment = dsm_segment_handle(segment);
		at = dsm_segment_address(segment);
	}
	if (values != NIL)
		write_values(at, values);
	else
		write_items(at, items);
	return segment;
}

/* ---------------------------------------------------------------------
 * Reading
 * ---------------------------------------------------------------------
 */

bool
dp_extra_attach(DpBatchRequest *request)
{
	Assert(request->segment == NULL);
	if (request->req->extra_size == 0 || request->req->extra_segment == DSM_HANDLE_INVALID)
		return true;
	request->segment = dsm_attach(request->req->extra_segment);
	return request->segment != NULL;
}

void
dp_extra_detach(DpBatchRequest *request)
{
	if (request->segment != NULL)
		dsm_detach(request->segment);
	request->segment = NULL;
}

static const char *
start_of(const DpBatchRequest *request)
{
	return request->segment ? dsm_segment_address(request->segment) : request->req->extra;
}

DpExtraItem *
dp_extra_items(const DpBatchRequest *request)
{
	DpExtraItem *items = palloc0(Max(request->req->nitems, 1) * sizeof(DpExtraItem));
	const char *at = start_of(request);

	for (int i = 0; request->req->extra_size > 0 && i < request->req->nitems; i++)
	{
		const Numbers *numbers = (const Numbers *) at;

		items[i].ncredits = numbers->credits;
		items[i].nanswers = numbers->answers;
		at += sizeof(Numbers);
		items[i].credits = (const DpCredit *) at;
		at += numbers->credits * sizeof(DpCredit);
		items[i].answers = (const DpKeptId *) at;
		at += numbers->answers * sizeof(DpKeptId);
	}
	return items;
}

List *
dp_extra_values(const DpBatchRequest *request)
{
	const char *at = start_of(request);
	int64		n = *(const int64 *) at;
	List	   *values = NIL;

	at += sizeof(int64);
	for (int64 i = 0; i < n; i++)
	{
		const ValueHead *head = (const ValueHead *) at;
		DpKeptValues *value = palloc(sizeof(DpKeptValues));

		at += sizeof(ValueHead);
		value->id = head->id;
		value->values = head->size > 0 ? (struct varlena *) at : NULL;
		values = lappend(values, value);
		at += ALIGN8(head->size);
	}
	return values;
}
