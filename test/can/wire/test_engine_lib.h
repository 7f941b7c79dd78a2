/* test_engine_lib.h: a bus at 1 Mbit/s, on which a bit is a microsecond, and what happened on it as text.
 *
 *	81 echo a 1			microseconds, what, who, tag
 *	81 frame a 123#DEADBEEF > bc
 *	87 error a 200002A0#0000001900000800
 *	1312 state a warning 96 0
 *	1400 purged a 1 reset
 */
#pragma once

#include "can/wire/engine.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)

extern struct engine bus;
extern char happened[1 << 20];

/* The events to record; all by default. */
enum { SEE_FRAMES = 1, SEE_ECHOES = 2, SEE_ERRORS = 4, SEE_STATES = 8, SEE_PURGED = 16, SEE_ALL = 31 };
extern unsigned int see;

/* A new bus with nodes a, b, c ..., one for each letter; they are there since a second before 0. */
void bus_start(const char *nodes);
void bus_start_with(const char *nodes, struct engine_settings settings);

/* Requests "FRAME" of node 'a' ... at that time, which is now; its status. */
int at(int64_t us, char node, const char *frame);
/* The same with a stamp. */
int stamped(int64_t stamp_us, int64_t now_us, char node, const char *frame);
uint32_t requests(void); /* so far: the tag of the last */

void until(int64_t us); /* engine_advance */
int fault(int64_t us, const char *words);
struct frame frame_of(const char *text);
const struct engine_node *info(char node);

/* All that happened since the last call. */
const char *what_happened(void);
