/*-------------------------------------------------------------------------
 *
 * forms.h
 *	  Which expressions tell apart values that are equal.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_FORMS_H
#define DP_FORMS_H

#include "guard/level.h"

/* forms.c: tells whether an expression reads a parameter */
extern bool dp_reads_param(Node *node);

/*
 * forms.c: tells whether the value of a condition may depend on the form of a
 * key of this type, which stands in it as a Param, or on settings, which are
 * others when rows are read; has_forms: equal keys may be different bytes
 */
extern bool dp_sees_form(Node *test, Oid type, bool has_forms);

/*
 * forms.c: returns the arguments, numbers, of a call whose results are equal
 * numbers where its arguments are; NIL: it may be another
 */
extern List *dp_numbers_of_call(Node *node);

#endif							/* DP_FORMS_H */
