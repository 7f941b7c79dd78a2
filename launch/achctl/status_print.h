/* status_print.h: the status as lines and tables.  Pure. */
#pragma once

#include "launch/achctl/table.h"
#include "launch/view/status.h"

#define STATUS_PRINT_MAX 32

/* Short: "0.4 s", "12 s", "3 min", "2.5 h", "4 d"; "45 us", "1.2 ms"; "200 Hz"; "-" if unknown.  Uptime
 * and count are declared for tests. */
void status_print_uptime(char text[STATUS_PRINT_MAX], double seconds);
void status_print_us(char text[STATUS_PRINT_MAX], double us);
void status_print_hz(char text[STATUS_PRINT_MAX], double hz);
void status_print_count(char text[STATUS_PRINT_MAX], int64_t n); /* 12345, 1.2M */

/* The robot, its level and its supervisor: two lines. */
void status_print_robot(const struct status *view, struct paint *paint, size_t width);
/* The clock: as many lines as its drivers take, or none if there is no clock. */
void status_print_clock(const struct status *view, struct paint *paint, size_t width, size_t lines);
void status_print_daemons(const struct status *view, struct table *table);
void status_print_buses(const struct status *view, struct table *table);

/* Draws to a stream, with colours or without. */
struct status_print_stream {
	struct paint paint;
	FILE *to;
	bool colour;
};
void status_print_stream(struct status_print_stream *stream, FILE *to, bool colour);
