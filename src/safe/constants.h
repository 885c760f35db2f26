/*-------------------------------------------------------------------------
 *
 * constants.h
 *	  Arguments that must be constants: which values are good.
 *
 * The same test is made of a constant when the query is checked, where it can
 * be explained, and by the safe variants at run time for parameters, where
 * a bad value gives NULL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_CONSTANTS_H
#define DP_CONSTANTS_H

/* fields of extract and date_part that type has; the name in any case */
extern bool dp_field_is_good(const char *name, int len, Oid type);

/* precisions of date_trunc */
extern bool dp_trunc_is_good(const char *name, int len, Oid type);

/* a name of the time zone database, or a POSIX specification */
extern bool dp_zone_is_good(const char *name, int len);

/* a pattern of LIKE that no string can make fail */
extern bool dp_like_is_good(const char *pattern, int len);

/* a template of to_char whose every part is known to succeed for every timestamp */
extern bool dp_format_is_good(const char *format, int len);

#endif							/* DP_CONSTANTS_H */
