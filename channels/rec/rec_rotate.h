/* rec_rotate.h: the names of the pieces of a file, and which of them have to go.
 *
 * drive.log is drive-0001.log, drive-0002.log and so on: a higher number is newer, and no number is used twice.
 * No I/O.
 */
#pragma once

#include <limits.h>

#include "config/base/base.h"

#define REC_ROTATE_NUMBER_MAX 99999999

/* The path of a piece; digits: of its number, at least.  0 or -ENAMETOOLONG. */
int rec_rotate_path(char path[PATH_MAX], const char *whole, unsigned int digits, unsigned int number);
/* A hidden file beside the pieces.  0 or -ENAMETOOLONG. */
int rec_rotate_hidden_path(char path[PATH_MAX], const char *whole);
/* The folder that they are in; "." if the path has none. */
void rec_rotate_folder(char folder[PATH_MAX], const char *whole);
/* The number of a piece by the name of its file, without a folder; 0: the file is not a piece. */
unsigned int rec_rotate_number(const char *whole, const char *file);

struct rec_piece {
	unsigned int number;
	int64_t bytes;
};

/* Sorts the pieces, the oldest first. */
void rec_rotate_sort(struct rec_piece *pieces, size_t n);
/* How many of the sorted pieces have to go, the oldest first, before another one of at most next_bytes begins, so that
 * there are at most keep pieces of at most total_bytes; 0: that is not bounded. */
size_t rec_rotate_over(const struct rec_piece *pieces, size_t n, int64_t keep, int64_t total_bytes, int64_t next_bytes);
