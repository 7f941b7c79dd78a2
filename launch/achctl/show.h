/* show.h: what a view looks like: lines and tables.  Pure. */
#ifndef LAUNCH_ACHCTL_SHOW_H
#define LAUNCH_ACHCTL_SHOW_H

#include "launch/achctl/table.h"
#include "launch/common/status.h"

#define SHOW_TEXT_MAX 32

/* Short: "0.4 s", "12 s", "3 min", "2.5 h", "4 d"; "45 us", "1.2 ms"; "200 Hz"; "-" for what is not known. */
void show_uptime(char text[SHOW_TEXT_MAX], double seconds);
void show_us(char text[SHOW_TEXT_MAX], double us);
void show_hz(char text[SHOW_TEXT_MAX], double hz);
void show_count(char text[SHOW_TEXT_MAX], int64_t n); /* 12345, 1.2M */

/* The robot, its level and its supervisor: two lines. */
void show_robot(const struct status *view, struct paint *paint, size_t width);
/* The clock: a line, or none if there is no clock. */
void show_clock(const struct status *view, struct paint *paint, size_t width);
void show_daemons(const struct status *view, struct table *table);
void show_buses(const struct status *view, struct table *table);

enum tone show_level_tone(const char *level);

/* Draws to a stream, with colours or without. */
struct show_stream {
	struct paint paint;
	FILE *to;
	bool colour;
};
void show_stream(struct show_stream *stream, FILE *to, bool colour);

#endif
