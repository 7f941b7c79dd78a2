/* achlogd.h: what the parts of achlogd share. */
#ifndef LAUNCH_RECORD_ACHLOGD_H
#define LAUNCH_RECORD_ACHLOGD_H

#include "channels/rec/recorder.h"

#define ACHLOGD_DIGITS 8 /* of the number of a piece: names sort */

/* ---- places.c: where earlier recordings end, so that the next one goes on there ---- */

/* The last message of each channel in the pieces of a file, the newest pieces first, until each channel that the newest
 * one describes is found.  Damaged pieces are read as far as they can be.  Returns how many. */
size_t places_read(struct recorder_place places[RECORDER_CHANNELS_MAX], const char *whole);

#endif
