/*-------------------------------------------------------------------------
 *
 * ledger_file.c
 *	  A file in the data directory that no copy of it shares.
 *
 * A ledger's tables are the same in a copied data directory.  The stamp
 * therefore also names a file, one for each database, by what is written in
 * it and by where the file system has it:
 *
 *	- token: random, made with the file, never changed.  Another file of that
 *	  name is told by it.
 *	- place: the number of the inode, and when the inode was made.  A copy by
 *	  whatever means is a new inode.  Its number alone would not do: a data
 *	  directory that is deleted and restored gets the same numbers back.  Where
 *	  the file system does not tell when an inode was made, its generation
 *	  takes the place of the time, and where there is none, either, nothing does.
 *
 * Not among them: the number of the device, which LVM, NFS and containers give
 * out anew at each boot, and times that chmod, chown or a restore set.
 *
 * Invariants:
 *	- the file and its name are on disk before anybody learns of the token, so
 *	  a stamp that was committed never names a file that a crash has lost;
 *	- a file that is there and whole is kept: a stamp that was rolled back
 *	  leaves what the one before it names.
 *	- one process at a time makes the file of a database: the callers hold
 *	  locks on the ledger's tables that exclude each other.
 *
 * It lies in a directory of its own because pg_checksums takes every file
 * below base/ for a relation's.
 *
 * Copyright (c) 2026, the dp_cdp developers
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>
#ifdef __linux__
#include <sys/ioctl.h>
#include <linux/fs.h>
#endif

#include "common/file_perm.h"
#include "storage/fd.h"

#include "ledger/ledger_int.h"

#define DIRECTORY "dp_cdp"
#define HEAD "dp_cdp ledger\n"
#define TAIL "\nThis file tells the data directory from copies of it: do not delete it, nor copy it by itself.\n"

static void
file_path(char *path, Oid database)
{
	snprintf(path, MAXPGPATH, "%s/ledger.%u", DIRECTORY, database);
}

/* ---------------------------------------------------------------------
 * Its place
 * ---------------------------------------------------------------------
 */

/* Says when the inode was made; false when the file system does not tell. */
static bool
birth_of(int fd, const struct stat *st, char *text, size_t size)
{
#if defined(__linux__) && defined(STATX_BTIME)
	struct statx more;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &more) != 0 ||
		(more.stx_mask & STATX_BTIME) == 0 ||
		(more.stx_btime.tv_sec == 0 && more.stx_btime.tv_nsec == 0))
		return false;
	snprintf(text, size, ", born %lld.%09u", (long long) more.stx_btime.tv_sec, (unsigned) more.stx_btime.tv_nsec);
	return true;
#elif defined(__APPLE__)
	snprintf(text, size, ", born %lld.%09ld", (long long) st->st_birthtimespec.tv_sec, (long) st->st_birthtimespec.tv_nsec);
	return true;
#elif defined(__FreeBSD__) || defined(__NetBSD__)
	snprintf(text, size, ", born %lld.%09ld", (long long) st->st_birthtim.tv_sec, (long) st->st_birthtim.tv_nsec);
	return true;
#else
	return false;
#endif
}

/* Says which of the files that had this inode it is; false when the file system does not tell. */
static bool
generation_of(int fd, char *text, size_t size)
{
#ifdef FS_IOC_GETVERSION
	/* declared with a long, written as an int */
	union
	{
		long		room;
		int			value;
	}			generation = {0};

	if (ioctl(fd, FS_IOC_GETVERSION, &generation) != 0)
		return false;
	snprintf(text, size, ", generation %u", (unsigned) generation.value);
	return true;
#else
	return false;
#endif
}

static void
read_place(int fd, const char *path, DpLedgerFile *file)
{
	struct stat st;
	int			length;

	if (fstat(fd, &st) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not stat file \"%s\": %m", path)));
	length = snprintf(file->place, sizeof(file->place), "inode %llu", (unsigned long long) st.st_ino);
	if (!birth_of(fd, &st, file->place + length, sizeof(file->place) - length))
		(void) generation_of(fd, file->place + length, sizeof(file->place) - length);
}

/* ---------------------------------------------------------------------
 * Reading and making
 * ---------------------------------------------------------------------
 */

/* Takes the token out of a whole file; false when it is not one of ours. */
static bool
parse(const char *text, ssize_t length, DpLedgerFile *file)
{
	const char *token = text +strlen(HEAD);

	if (length != strlen(HEAD) + DP_TOKEN_LENGTH + strlen(TAIL) ||
		memcmp(text, HEAD, strlen(HEAD)) != 0 ||
		memcmp(token + DP_TOKEN_LENGTH, TAIL, strlen(TAIL)) != 0)
		return false;
	memcpy(file->token, token, DP_TOKEN_LENGTH);
	file->token[DP_TOKEN_LENGTH] = '\0';
	return strspn(file->token, "0123456789abcdef") == DP_TOKEN_LENGTH;
}

bool
dp_ledger_file_read(Oid database, DpLedgerFile *file)
{
	char		path[MAXPGPATH];
	char text[	256];
	ssize_t		length;
	int			fd;

	file_path(path, database);
	fd = OpenTransientFile(path, O_RDONLY | PG_BINARY);
	if (fd < 0 && errno == ENOENT)
		return false;
	if (fd < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open file \"%s\": %m", path)));
	length = read(fd, text, sizeof(text));
	if (length < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read file \"%s\": %m", path)));
	read_place(fd, path, file);
	CloseTransientFile(fd);
	return parse(text, length, file);
}

/* Writes a file with a new token beside its place, and flushes it. */
static void
write_new(const char *path)
{
	uint8		random[DP_TOKEN_LENGTH / 2];
	char		token[DP_TOKEN_LENGTH + 1];
	char	   *text;
	int			fd;

	if (!pg_strong_random(random, sizeof(random)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random bits")));
	for (int i = 0; i < sizeof(random); i++)
		snprintf(token + 2 * i, 3, "%02x", random[i]);
	text = psprintf("%s%s%s", HEAD, token, TAIL);

	fd = OpenTransientFile(path, O_WRONLY | O_CREAT | O_TRUNC | PG_BINARY);
	if (fd < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not create file \"%s\": %m", path)));
	errno = 0;
	if (write(fd, text, strlen(text)) != strlen(text))
	{
		/* a short write without an error is a full disk */
		if (errno == 0)
			errno = ENOSPC;
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not write file \"%s\": %m", path)));
	}
	if (pg_fsync(fd) != 0)
		ereport(data_sync_elevel(ERROR),
				(errcode_for_file_access(),
				 errmsg("could not fsync file \"%s\": %m", path)));
	if (CloseTransientFile(fd) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not close file \"%s\": %m", path)));
	pfree(text);
}

void
dp_ledger_file_make(Oid database, DpLedgerFile *file)
{
	char		path[MAXPGPATH];
	char		new_path[MAXPGPATH + 4];

	if (dp_ledger_file_read(database, file))
		return;
	if (MakePGDirectory(DIRECTORY) != 0 && errno != EEXIST)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not create directory \"%s\": %m", DIRECTORY)));
	fsync_fname(".", true);

	file_path(path, database);
	snprintf(new_path, sizeof(new_path), "%s.new", path);
	write_new(new_path);
	durable_rename(new_path, path, ERROR);
	if (!dp_ledger_file_read(database, file))
		elog(ERROR, "file \"%s\" was lost while it was made", path);
}

void
dp_ledger_file_touch(Oid database)
{
	char		path[MAXPGPATH];

	file_path(path, database);
	if (utime(path, NULL) != 0)
		ereport(LOG,
				(errcode_for_file_access(),
				 errmsg("could not set the time of file \"%s\": %m", path)));
}
