/*-------------------------------------------------------------------------
 *
 * policy_int.h
 *	  What the files of policy/ share among themselves.
 *
 *-------------------------------------------------------------------------
 */
#ifndef DP_POLICY_INT_H
#define DP_POLICY_INT_H

#include "base/role_names.h"
#include "policy/policy_admin.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

/* label.c: installs the label provider */
extern void dp_label_init(void);

/* function_labels.c: SECURITY LABEL on a function; text NULL: removed */
extern void dp_function_relabel(Oid funcid, const char *text);

/* cache.c: direct parents by pg_inherits, a List of Oids */
extern List *dp_parents(Oid relid);

/* datasets.c: the newest committed state wherever that may be asked for */
extern Snapshot dp_register_latest_snapshot(void);

/* drop.c: installs the object access hook */
extern void dp_drop_init(void);

#endif							/* DP_POLICY_INT_H */
