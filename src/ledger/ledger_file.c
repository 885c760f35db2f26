/*-------------------------------------------------------------------------
 *
 * ledger_file.c
 *	  A file in the data directory that no copy of it shares, and no former
 *	  state of it.
 *
 * A ledger's tables are the same in a copied data directory, and as they were
 * in one that is put back.  The stamp therefore also names a file, by a token
 * and by where the file system has it:
 *
 *	- token: random, in the file's name and in the file.  The stamp names
 *	  another one after each start of a worker, and every few seconds while there
 *	  are debits (stamp.c); the one before is deleted.
 *	- place: the number of the inode, and when the inode was made.  A copy by
 *	  whatever means is a new inode.  Its number alone would not do: a file that
 *	  is deleted and made again gets the same number back.  Where the file system
 *	  does not tell when an inode was made, its generation takes the place of the
 *	  time, and where there is none, either, nothing does.
 *
 * So who puts a former state back brings a file whose name is not there any
 * more: whatever the tool does with files that are there (compare times, sums
 * or contents, write over them), this one it has to make, at another place.
 *
 * Not among them: the number of the device, which LVM, NFS and containers give
 * out anew at each boot, and times that chmod, chown or a restore set.
 *
 * Invariants:
 *	- a file and its name are on disk before anybody learns of the token, so
 *	  a stamp that was committed never names a file that a crash has lost;
 *	- a file is deleted only when a stamp that names another is on disk: a crash
 *	  at any moment leaves the file that the stamp names, and perhaps one that
 *	  nobody names, which the next renewal deletes;
 *	- files are made and deleted under locks on the ledger's tables that keep
 *	  others from doing so for this database.
 *
 * They lie in a directory of their own because pg_checksums takes every file
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
#ifdef __linux__
#include <sys/ioctl.h>
#include <linux/fs.h>
#endif

#include "base/compat.h"
#include "storage/fd.h"

#include "ledger/ledger_int.h"

#define DIRECTORY "dp_cdp"
#define HEAD "dp_cdp ledger\n"
#define TAIL "\nThis file tells the data directory from copies of it: do not delete it, nor copy it by itself.\n"

/* the names of a database's files: this, and the token */
static void
name_prefix(char *name, Oid database)
{
	snprintf(name, MAXPGPATH, "ledger.%u.", database);
}

static void
file_path(char *path, Oid database, const char *token)
{
	snprintf(path, MAXPGPATH, "%s/ledger.%u.%s", DIRECTORY, database, token);
}

static bool
is_token(const char *text)
{
	return strlen(text) == DP_TOKEN_LENGTH && strspn(text, "0123456789abcdef") == DP_TOKEN_LENGTH;
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

/* Writes what is in the file of a token; it has room for MAXPGPATH bytes. */
static void
content_of(char *text, const char *token)
{
	snprintf(text, MAXPGPATH, "%s%s%s", HEAD, token, TAIL);
}

bool
dp_ledger_file_read(Oid database, const char *token, DpLedgerFile *file)
{
	char		path[MAXPGPATH];
	char		wanted[MAXPGPATH];
	char text[	MAXPGPATH];
	ssize_t		length;
	int			fd;

	/* what is no token was put into the table by hand, and is no path, either */
	if (!is_token(token))
		return false;
	file_path(path, database, token);
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
	strlcpy(file->token, token, sizeof(file->token));
	read_place(fd, path, file);
	CloseTransientFile(fd);
	content_of(wanted, token);
	return length == strlen(wanted) && memcmp(text, wanted, length) == 0;
}

/* Writes a file that is not there yet, and flushes it. */
static void
write_new(const char *path, const char *text)
{
	int			fd = OpenTransientFile(path, O_WRONLY | O_CREAT | O_EXCL | PG_BINARY);

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
}

void
dp_ledger_file_make(Oid database, DpLedgerFile *file)
{
	uint8		random[DP_TOKEN_LENGTH / 2];
	char		token[DP_TOKEN_LENGTH + 1];
	char		path[MAXPGPATH];
	char text[	MAXPGPATH];

	if (!pg_strong_random(random, sizeof(random)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random bits")));
	for (int i = 0; i < sizeof(random); i++)
		snprintf(token + 2 * i, 3, "%02x", random[i]);

	if (MakePGDirectory(DIRECTORY) == 0)
		fsync_fname(".", true);
	else if (errno != EEXIST)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not create directory \"%s\": %m", DIRECTORY)));
	file_path(path, database, token);
	content_of(text, token);
	write_new(path, text);
	fsync_fname(DIRECTORY, true);
	if (!dp_ledger_file_read(database, token, file))
		elog(ERROR, "file \"%s\" was lost while it was made", path);
}

/* ---------------------------------------------------------------------
 * Deleting
 * ---------------------------------------------------------------------
 */

/* Says in the log what cannot be deleted: nobody names it, and the next renewal tries again. */
static void
delete_path(const char *path)
{
	if (unlink(path) != 0 && errno != ENOENT)
		ereport(LOG,
				(errcode_for_file_access(),
				 errmsg("could not remove file \"%s\": %m", path)));
}

void
dp_ledger_file_delete(Oid database, const char *token)
{
	char		path[MAXPGPATH];

	if (!is_token(token))
		return;
	file_path(path, database, token);
	delete_path(path);
}

void
dp_ledger_files_sweep(Oid database, List *named)
{
	char		prefix[MAXPGPATH];
	char		path[MAXPGPATH * 2];
	DIR		   *dir = AllocateDir(DIRECTORY);
	struct dirent *entry;

	if (dir == NULL && errno == ENOENT)
		return;
	name_prefix(prefix, database);
	while ((entry = ReadDir(dir, DIRECTORY)) != NULL)
	{
		bool		is_named = false;

		if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
			continue;
		foreach_ptr(const char, item, named)
			is_named = is_named || strcmp(entry->d_name + strlen(prefix), item) == 0;
		if (is_named)
			continue;
		snprintf(path, sizeof(path), "%s/%s", DIRECTORY, entry->d_name);
		delete_path(path);
	}
	FreeDir(dir);
}
