/*-------------------------------------------------------------------------
 *
 * share.c
 *	  Several processes gather one input together.
 *
 * Each reads its share of the rows into a table of its own and sets the others
 * aside, in partitions that all have in common.  When its input ends it sets aside
 * the states of its table, too, and waits for the others; then it takes one
 * partition after the other, and no process needs what another has.  As for a
 * parallel hash join, each may use as much memory as one by itself.
 *
 * Invariants:
 *	- a process that has let a row leave waits for nobody: the leader may be
 *	  waiting for room in a queue that nobody else reads;
 *	- whoever comes when the partitions are complete takes what is left of them;
 *	  so it does not matter how many processes start, and when.  One that fails takes
 *	  the query with it, as any error in a worker does;
 *	- a partition is taken once, whole.  What it takes up later is the process's own;
 *	- chunks and files that nobody took go with the shared memory.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "port/atomics.h"
#include "storage/barrier.h"
#include "storage/sharedfileset.h"
#include "storage/spin.h"
#include "utils/wait_event.h"

#include "agg/bounding/gather.h"

/* phases of the barrier */
#define READING 0

struct DpShare
{
	Barrier		barrier;
	dsm_handle	segment;		/* that this is in */
	SharedFileSet files;
	pg_atomic_uint32 next;		/* partition that nobody has taken yet */
	pg_atomic_uint64 waiting;	/* bytes in chunks that wait */
	int			participants;
	int			partition_bits;
	slock_t		lock;			/* of what follows */
	dsa_pointer chunks[DP_MAX_PARTITIONS];
	int			nfiles[DP_MAX_PARTITIONS];
	DpBoundingUse use[FLEXIBLE_ARRAY_MEMBER];	/* of each process */
};

/* Returns the bytes for so many processes, the leader among them. */
Size
dp_share_size(int participants)
{
	return offsetof(DpShare, use) + participants * sizeof(DpBoundingUse);
}

static void
empty(DpShare *share)
{
	BarrierInit(&share->barrier, 0);
	pg_atomic_write_u32(&share->next, 0);
	pg_atomic_write_u64(&share->waiting, 0);
	for (int i = 0; i < DP_MAX_PARTITIONS; i++)
		share->chunks[i] = InvalidDsaPointer;
	memset(share->nfiles, 0, sizeof(share->nfiles));
}

/* Makes ready for so many processes, and partitions. */
void
dp_share_init(DpShare *share, int participants, int partition_bits, dsm_segment *segment)
{
	memset(share, 0, dp_share_size(participants));
	SpinLockInit(&share->lock);
	pg_atomic_init_u32(&share->next, 0);
	pg_atomic_init_u64(&share->waiting, 0);
	share->segment = dsm_segment_handle(segment);
	share->participants = participants;
	share->partition_bits = partition_bits;
	SharedFileSetInit(&share->files, segment);
	empty(share);
}

/* Makes ready for a rescan: nobody else is attached. */
void
dp_share_reset(DpShare *share, dsa_area *dsa)
{
	for (int i = 0; i < DP_MAX_PARTITIONS; i++)
		while (DsaPointerIsValid(share->chunks[i]))
		{
			DpChunk    *chunk = dsa_get_address(dsa, share->chunks[i]);
			dsa_pointer next = chunk->next_shared;

			dsa_free(dsa, share->chunks[i]);
			share->chunks[i] = next;
		}
	SharedFileSetDeleteAll(&share->files);
	empty(share);
}

/* In a worker, which has been attached to the segment. */
void
dp_share_attach(DpShare *share)
{
	SharedFileSetAttach(&share->files, dsm_find_mapping(share->segment));
}

int
dp_share_bits(const DpBounding *bounding)
{
	return bounding->share->partition_bits;
}

/* ------------------------------------------------------------------------
 * Reading
 * ------------------------------------------------------------------------
 */

/* Returns false where all rows have been read, and partitions are complete. */
bool
dp_share_enter(DpBounding *bounding)
{
	if (BarrierAttach(&bounding->share->barrier) == READING)
		return true;
	BarrierDetach(&bounding->share->barrier);
	return false;
}

static void
file_name(char *name, int partition, int number)
{
	snprintf(name, MAXPGPATH, "%d.%d", partition, number);
}

/* Makes a file for records of a partition, of which others of other processes may be there. */
BufFile *
dp_share_create_file(DpBounding *bounding, int partition)
{
	DpShare    *share = bounding->share;
	char		name[MAXPGPATH];
	int			number;

	SpinLockAcquire(&share->lock);
	number = share->nfiles[partition]++;
	SpinLockRelease(&share->lock);
	file_name(name, partition, number);
	return BufFileCreateFileSet(&share->files.fs, name);
}

static void
publish_chunks(DpShare *share, int partition, DpChunk *chunks)
{
	DpChunk    *last = chunks;

	if (chunks == NULL)
		return;
	while (last->next != NULL)
	{
		last->next_shared = last->next->self;
		last = last->next;
	}
	SpinLockAcquire(&share->lock);
	last->next_shared = share->chunks[partition];
	share->chunks[partition] = chunks->self;
	SpinLockRelease(&share->lock);
}

/* Hands over what this process has set aside, and waits until all have done so. */
void
dp_share_publish(DpBounding *bounding)
{
	DpShare    *share = bounding->share;

	for (int i = 0; i < 1 << share->partition_bits; i++)
	{
		DpPartition *p = &bounding->pass.partitions[i];

		dp_close_rows(p);
		publish_chunks(share, i, p->rows);
		publish_chunks(share, i, p->states);
		p->rows = p->states = NULL;
		if (p->file != NULL)
		{
			BufFileExportFileSet(p->file);
			BufFileClose(p->file);
			p->file = NULL;
		}
	}
	pg_atomic_fetch_add_u64(&share->waiting, bounding->pass.shared);
	bounding->pass.shared = 0;
	BarrierArriveAndWait(&share->barrier, PG_WAIT_EXTENSION);
	BarrierDetach(&share->barrier);
}

/* ------------------------------------------------------------------------
 * Partitions
 * ------------------------------------------------------------------------
 */

/* Takes a partition; -1 when there is none left. */
int
dp_share_next_partition(DpBounding *bounding)
{
	DpShare    *share = bounding->share;
	uint32		n = 1 << share->partition_bits;
	uint32		i;

	do
	{
		if (pg_atomic_read_u32(&share->next) >= n)
			return -1;
		i = pg_atomic_fetch_add_u32(&share->next, 1);
	} while (i < n && !DsaPointerIsValid(share->chunks[i]) && share->nfiles[i] == 0);
	return i < n ? (int) i : -1;
}

/* Returns this process's part of the bytes that wait in chunks. */
Size
dp_share_waiting(const DpBounding *bounding)
{
	if (bounding->share == NULL)
		return 0;
	return pg_atomic_read_u64(&bounding->share->waiting) / bounding->share->participants;
}

/* Counts a chunk as freed. */
void
dp_share_freed(DpBounding *bounding, Size size)
{
	pg_atomic_fetch_sub_u64(&bounding->share->waiting, size);
}

/* Returns file i of a partition that this process took, in CurrentMemoryContext; NULL when there are no more. */
BufFile *
dp_share_open_file(DpBounding *bounding, int partition, int i)
{
	DpShare    *share = bounding->share;
	char		name[MAXPGPATH];

	if (i >= share->nfiles[partition])
		return NULL;
	file_name(name, partition, i);
	return BufFileOpenFileSet(&share->files.fs, name, O_RDONLY, false);
}

/* Returns the bytes of records in a partition that this process took; SIZE_MAX where some are in files. */
Size
dp_share_bytes(const DpBounding *bounding, int partition)
{
	const DpShare *share = bounding->share;
	dsa_pointer next = share->chunks[partition];
	Size		bytes = 0;

	if (share->nfiles[partition] > 0)
		return SIZE_MAX;
	while (DsaPointerIsValid(next))
	{
		const DpChunk *chunk = dsa_get_address(bounding->dsa, next);

		bytes += chunk->used;
		next = chunk->next_shared;
	}
	return bytes;
}

/* Takes a chunk of a partition that this process took; NULL when there is none left. */
DpChunk *
dp_share_take_chunk(DpBounding *bounding, int partition)
{
	DpShare    *share = bounding->share;
	DpChunk    *chunk;

	if (!DsaPointerIsValid(share->chunks[partition]))
		return NULL;
	chunk = dsa_get_address(bounding->dsa, share->chunks[partition]);
	share->chunks[partition] = chunk->next_shared;
	return chunk;
}

/* ------------------------------------------------------------------------
 * What it took
 * ------------------------------------------------------------------------
 */

/* Leaves what this process used for the leader to see. */
void
dp_share_report(DpShare *share, const DpBoundingUse *use)
{
	share->use[ParallelWorkerNumber + 1] = *use;
}

/* Adds what all others used to the leader's own, once. */
void
dp_share_collect(DpShare *share, DpBoundingUse *use)
{
	for (int i = 1; i < share->participants; i++)
	{
		use->memory += share->use[i].memory;
		use->disk += share->use[i].disk;
		use->passes += share->use[i].passes;
		use->units += share->use[i].units;
	}
	memset(share->use, 0, share->participants * sizeof(DpBoundingUse));
}
