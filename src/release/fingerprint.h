/*-------------------------------------------------------------------------
 *
 * fingerprint.h
 *	  The identity of a question: what makes two releases ask the same.
 *
 * The guard writes a release's question down as text (guard/fingerprint.c), and the
 * release node adds what is known when it runs (fingerprint.c).  The text is made of
 * what follows; it is the same for whatever asks the same in other words, and for
 * nothing else.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_FINGERPRINT_H
#define DP_FINGERPRINT_H

#include "ledger/kept.h"
#include "lib/stringinfo.h"
#include "utils/snapshot.h"
#include "utils/tuplestore.h"

/* the identity of one column's question */
typedef struct DpFingerprint
{
	uint8		id[DP_FINGERPRINT_BYTES];
} DpFingerprint;

/*
 * around the number of a parameter of the statement, in whose place its value is to stand, or the bound that is a step from it
 * (dp_fingerprint_bound): number:type:collation:step; in no other part of a text
 */
#define DP_FINGERPRINT_PARAM '\x01'
#define DP_FINGERPRINT_PARAM_END '\x02'

/* the first character of a reference to an expression that is defined behind the text; in no other part of it */
#define DP_FINGERPRINT_REFERENCE '='

/* in front of a column of a table without a policy, whose content is part of the question; in no other part of a text */
#define DP_FINGERPRINT_PUBLIC '\x03'

/* Writes a name in quotes, without a character that the text uses. */
extern void dp_fingerprint_name(StringInfo text, const char *name);

/*
 * Writes an object: the number of one that every database has, else its name with
 * its schema, so that it is the same in a copy of the database.  classid is
 * the catalogue of relations, types, functions, operators or collations.
 */
extern void dp_fingerprint_object(StringInfo text, Oid classid, Oid objid);

/* Writes a value with its type. */
extern void dp_fingerprint_value(StringInfo text, Oid type, Oid collation, Datum value, bool isnull);

/* Tells whether values of a type have a next one, so that a strict bound is a closed one (dp_fingerprint_bound). */
extern bool dp_fingerprint_has_steps(Oid type);

/*
 * Writes the closed bound that stands for a strict one of such a type: the value that is a step (1: after, -1: before) from
 * it.  A NULL stays one; what has no such neighbour, the last value of its type or an infinite date, is written as what it is a strict bound of.
 */
extern void dp_fingerprint_bound(StringInfo text, Oid type, Oid collation, Datum value, bool isnull, int step);

/* Computes the SHA-256 of so many bytes. */
extern void dp_fingerprint_hash(const void *bytes, Size length, uint8 *hash);

/*
 * public_content.c: the hash of rows, in whatever order they are: of a tuplestore, and of columns (numbers, ascending) of a table,
 * with what inherits from it, as a snapshot sees them.  False where these are more than dp_cdp.max_public_rows.
 */
extern void dp_stored_content(Tuplestorestate *store, TupleDesc desc, uint8 *digest);
extern bool dp_public_content(Oid relid, bool inherit, List *columns, Snapshot snapshot, uint8 *digest);

#endif							/* DP_FINGERPRINT_H */
