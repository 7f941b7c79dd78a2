/* pieces.h: the names of a recording in several files: drive.log is drive-0001.log, drive-0002.log and so on. */
#ifndef CHANNELS_TOOL_PIECES_H
#define CHANNELS_TOOL_PIECES_H

#include <limits.h>

/* 0 or -ENAMETOOLONG. */
int pieces_path(char path[PATH_MAX], const char *whole, unsigned int piece);

/* Removes the pieces up to remove_to; returns the highest number found, 0 if there is no piece. */
unsigned int pieces_highest(const char *whole, unsigned int remove_to);

#endif
