/*-------------------------------------------------------------------------
 *
 * chunks.c
 *	  Memory and files for records that are set aside.
 *
 * Invariants:
 *	- records lie in chunks, whole.  A process's own chunks are cut from slabs, each of which is larger than what
 *	  memory contexts keep for themselves when it is freed, so the limit holds for what the process has;
 *	- a partition's chunks go to its file when memory is short, all partitions'
 *	  at once: files are written in pieces as large as memory allows;
 *	- chunks and files of the first pass are shared where processes gather
 *	  together; all others are the process's own.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/mman.h>

#include "commands/tablespace.h"
#include "miscadmin.h"
#include "storage/pg_shmem.h"
#include "utils/memutils.h"

#include "agg/bounding/gather.h"

/*
 * The first of a list in shared memory, what makes waiting for one rare, and the largest.  Where few rows are set
 * aside, most of what whole chunks take would be pages that the system clears, maps and takes back for nothing.
 */
#define FIRST_SHARED_CHUNK ((Size) 2048)
#define LONG_SHARED_CHUNK ((Size) 64 * 1024)
#define LARGEST_CHUNK ((Size) 256 * 1024)

/* chunks of the first slab, and bytes of the largest */
#define LEAST_SLAB 4
#define LARGEST_SLAB ((Size) 16 * 1024 * 1024)

/* what a large page is on most processors; where it is another size, advice is given for less than could be */
#define LARGE_PAGE ((Size) 2 * 1024 * 1024)

/* bytes that Linux maps around one that is read (fault_around_bytes) */
#define PAGES_AROUND ((Size) 64 * 1024)

/* what precedes a chunk's data in a file */
typedef struct ChunkHeader
{
	uint32		used;
	uint32		states;
} ChunkHeader;

/*
 * Asks the system for large pages where a process's own memory is long, unless huge_pages is off.  Rows go to as many
 * places at once as there are partitions, and on virtual machines a page that the processor has to look up, or the
 * system to clear, costs more than to write a row there.
 */
void
dp_advise_huge_pages(void *memory, Size size)
{
#ifdef MADV_HUGEPAGE
	uintptr_t	first = TYPEALIGN(LARGE_PAGE, (uintptr_t) memory);
	uintptr_t	end = TYPEALIGN_DOWN(LARGE_PAGE, (uintptr_t) memory + size);

	/* a system that has none says so, and all is as it was */
	if (huge_pages != HUGE_PAGES_OFF && first < end)
		(void) madvise((void *) first, end - first, MADV_HUGEPAGE);
#endif
}

/* Returns memory that begins with a large page where it is long enough for one; the context alone can free it. */
void *
dp_alloc_large(MemoryContext context, Size size)
{
	void	   *memory;

	if (size < LARGE_PAGE)
		return MemoryContextAllocHuge(context, size);
	memory = (void *) TYPEALIGN(LARGE_PAGE, (uintptr_t) MemoryContextAllocHuge(context, size + LARGE_PAGE));
	dp_advise_huge_pages(memory, size);
	return memory;
}

static inline bool
is_shared_pass(const DpBounding *bounding)
{
	return bounding->share != NULL && bounding->pass.bits == 0;
}

/*
 * Has pages of shared memory mapped, by reading: the system maps several around one that is read, but only one that is
 * written, and to ask it for each is a good part of what setting rows aside costs.
 */
static void
map_pages(const char *data, Size size)
{
	for (Size at = 0; at < size; at += PAGES_AROUND)
		(void) *(volatile const char *) (data + at);
	(void) *(volatile const char *) (data + size - 1);
}

/* Returns how many chunks the next slab should have: as many as all before it, as far as memory allows. */
static uint32
next_slab(const DpBounding *bounding)
{
	Size		have = MemoryContextMemAllocated(bounding->context, true);
	Size		most = Min(bounding->limit / 16, LARGEST_SLAB) / DP_CHUNK_SIZE;
	Size		n = 0;

	for (const DpSlab *slab = bounding->pass.slabs; slab != NULL && n < most; slab = slab->next)
		n += slab->n;
	n = Max(Min(n, most), LEAST_SLAB);
	while (n > 1 && have + n * DP_CHUNK_SIZE > bounding->limit / 4 * 3)
		n /= 2;
	return n;
}

/* Tells whether a chunk of the usual size is there without asking for memory. */
static bool
has_chunk(const DpBounding *bounding)
{
	const DpSlab *slab = bounding->pass.slabs;

	return bounding->pass.spare != NULL || (slab != NULL && slab->cut < slab->n);
}

/* Returns a chunk of the usual size, cut from a slab. */
static DpChunk *
cut_chunk(DpBounding *bounding)
{
	DpSlab	   *slab = bounding->pass.slabs;
	DpChunk    *chunk;

	if (slab == NULL || slab->cut == slab->n)
	{
		uint32		n = next_slab(bounding);
		Size		size = offsetof(DpSlab, data) + n * (Size) DP_CHUNK_SIZE;

		slab = MemoryContextAllocHuge(bounding->context, size);
		dp_advise_huge_pages(slab, size);
		slab->n = n;
		slab->cut = slab->taken = 0;
		slab->next = bounding->pass.slabs;
		bounding->pass.slabs = slab;
	}
	chunk = (DpChunk *) (slab->data + slab->cut++ * (Size) DP_CHUNK_SIZE);
	chunk->slab = slab;
	return chunk;
}

static DpChunk *
new_chunk(DpBounding *bounding, Size data)
{
	Size		size = Max(is_shared_pass(bounding) ? 0 : DP_CHUNK_SIZE, offsetof(DpChunk, data) + data);
	DpChunk    *chunk = bounding->pass.spare;

	if (is_shared_pass(bounding))
	{
		dsa_pointer self = dsa_allocate_extended(bounding->dsa, size, DSA_ALLOC_HUGE);

		chunk = dsa_get_address(bounding->dsa, self);
		map_pages((char *) chunk, size);
		chunk->self = self;
		chunk->slab = NULL;
		bounding->pass.shared += size;
	}
	else
	{
		if (size != DP_CHUNK_SIZE)
		{
			chunk = MemoryContextAllocHuge(bounding->context, size);
			chunk->slab = NULL;
		}
		else if (chunk != NULL)
			bounding->pass.spare = chunk->next;
		else
			chunk = cut_chunk(bounding);
		if (chunk->slab != NULL)
			chunk->slab->taken++;
		chunk->self = InvalidDsaPointer;
	}
	chunk->size = size - offsetof(DpChunk, data);
	chunk->next = NULL;
	chunk->next_shared = InvalidDsaPointer;
	chunk->used = 0;
	chunk->states = false;
	return chunk;
}

void
dp_free_chunk(DpBounding *bounding, DpChunk *chunk)
{
	Size		size = chunk->size + offsetof(DpChunk, data);

	if (DsaPointerIsValid(chunk->self))
	{
		if (is_shared_pass(bounding))
			bounding->pass.shared -= size;
		else
			dp_share_freed(bounding, size);
		dsa_free(bounding->dsa, chunk->self);
		return;
	}
	if (chunk->slab != NULL)
	{
		chunk->slab->taken--;
		chunk->next = bounding->pass.spare;
		bounding->pass.spare = chunk;
		return;
	}
	pfree(chunk);
}

/* Frees the slabs of which no chunk is in use. */
void
dp_free_spare_chunks(DpBounding *bounding)
{
	DpChunk    *spare = bounding->pass.spare;
	DpSlab	  **link = &bounding->pass.slabs;

	bounding->pass.spare = NULL;
	while (spare != NULL)
	{
		DpChunk    *next = spare->next;

		if (spare->slab->taken > 0)
		{
			spare->next = bounding->pass.spare;
			bounding->pass.spare = spare;
		}
		spare = next;
	}
	while (*link != NULL)
	{
		DpSlab	   *slab = *link;

		if (slab->taken > 0)
			link = &slab->next;
		else
		{
			*link = slab->next;
			pfree(slab);
		}
	}
}

static void
write_chunks(DpBounding *bounding, BufFile *file, DpChunk **chunks)
{
	while (*chunks != NULL)
	{
		DpChunk    *chunk = *chunks;
		ChunkHeader header = {.used = chunk->used, .states = chunk->states};

		BufFileWrite(file, &header, sizeof(header));
		BufFileWrite(file, chunk->data, chunk->used);
		bounding->pass.written += chunk->used;
		*chunks = chunk->next;
		dp_free_chunk(bounding, chunk);
	}
}

static void
write_partition(DpBounding *bounding, int i)
{
	DpPartition *p = &bounding->pass.partitions[i];

	if (p->rows == NULL && p->states == NULL)
		return;
	dp_close_rows(p);
	if (p->file == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(bounding->context);

		if (is_shared_pass(bounding))
			p->file = dp_share_create_file(bounding, i);
		else
		{
			PrepareTempTablespaces();
			p->file = BufFileCreateTemp(false);
		}
		MemoryContextSwitchTo(old);
	}
	write_chunks(bounding, p->file, &p->rows);
	write_chunks(bounding, p->file, &p->states);
}

/* Writes all records of the pass to files. */
void
dp_write_partitions(DpBounding *bounding)
{
	CHECK_FOR_INTERRUPTS();
	for (int i = 0; i < 1 << bounding->pass.partition_bits; i++)
		write_partition(bounding, i);
}

/* Closes the files of records that no pass will read any more. */
void
dp_close_files(DpBounding *bounding)
{
	for (int i = 0; i < DP_MAX_PARTITIONS; i++)
		if (bounding->pass.partitions[i].file != NULL)
			BufFileClose(bounding->pass.partitions[i].file);
	for (DpPartition *p = bounding->pass.waiting; p != NULL; p = p->next)
		if (p->file != NULL)
			BufFileClose(p->file);
}

/*
 * Returns how long the next chunk of a list should be.  In shared memory processes wait for each other to take or
 * free one, so long lists get longer ones, up to an eighth of a partition's part of memory.  Half of the last one
 * stays free as a rule, so above what makes waiting rare it is no more than an eighth of a list.
 */
static Size
next_size(const DpBounding *bounding, const DpChunk *last)
{
	Size		most = Min(bounding->limit >> (bounding->pass.partition_bits + 3), LARGEST_CHUNK);
	Size		size = FIRST_SHARED_CHUNK;

	if (!is_shared_pass(bounding))
		return DP_CHUNK_SIZE;
	if (last == NULL)
		return size;
	most = Min(Max(most, DP_CHUNK_SIZE), 2 * (last->size + offsetof(DpChunk, data)));
	most = Min(most, Max(LONG_SHARED_CHUNK, last->total / 8));
	while (size * 2 <= most)
		size *= 2;
	return size;
}

/* Gives a list of chunks one with room for a record of size bytes. */
static void
add_chunk(DpBounding *bounding, DpChunk **chunks, Size size, bool states)
{
	DpChunk    *chunk;
	Size		whole = Max(offsetof(DpChunk, data) + size, next_size(bounding, *chunks));

	/* the first pass leaves room for the later ones */
	Size		limit = bounding->pass.bits > 0 ? bounding->limit : bounding->limit / 4 * 3;

	CHECK_FOR_INTERRUPTS();
	if ((is_shared_pass(bounding) || whole != DP_CHUNK_SIZE || !has_chunk(bounding)) &&
		dp_bounding_memory(bounding) + whole > limit)
		dp_write_partitions(bounding);
	chunk = new_chunk(bounding, whole - offsetof(DpChunk, data));
	chunk->states = states;
	chunk->next = *chunks;
	chunk->total = whole + (chunk->next != NULL ? chunk->next->total : 0);
	*chunks = chunk;
}

/* Gives a partition room for a row's record of size bytes. */
void
dp_add_row_chunk(DpBounding *bounding, DpPartition *p, Size size)
{
	dp_close_rows(p);
	add_chunk(bounding, &p->rows, size, false);
	p->room = p->rows->data;
	p->room_end = p->room + p->rows->size;
}

/* Returns room for a state's record of size bytes in a partition, taken; a multiple of what records are aligned to. */
char *
dp_state_room(DpBounding *bounding, DpPartition *p, Size size)
{
	char	   *record;

	if (unlikely(p->states == NULL || p->states->size - p->states->used < size))
		add_chunk(bounding, &p->states, size, true);
	record = p->states->data + p->states->used;
	p->states->used += size;
	return record;
}

/* Returns the next chunk of the file; NULL at its end. */
DpChunk *
dp_read_chunk(DpBounding *bounding, BufFile *file)
{
	ChunkHeader header;
	DpChunk    *chunk;
	size_t		n = BufFileRead(file, &header, sizeof(header));

	if (n == 0)
		return NULL;
	if (n == sizeof(header))
	{
		chunk = new_chunk(bounding, header.used);
		chunk->used = header.used;
		chunk->states = header.states != 0;
		if (BufFileRead(file, chunk->data, header.used) == header.used)
			return chunk;
	}
	ereport(ERROR,
			(errcode_for_file_access(),
			 errmsg("could not read from temporary file of a private query")));
}
