/* bus_suite.h: what every bus does, whatever is behind it: the same cases run on SocketCAN and on the soft wire.
 *
 *	static const struct bus_suite suite = { .a = "vcan0", .b = "vcan0", .fd = true, .dlc = true };
 *
 *	void tearDown(void) { bus_suite_end_case(); }
 *	int main(void) { UNITY_BEGIN(); bus_suite_run(&suite); return UNITY_END(); }
 */
#pragma once

#include "can/bus/bus.h"

struct bus_suite {
	const char *a, *b;   /* names of one and the same bus: two interfaces on one wire, or twice the same */
	bool fd;	     /* it carries CAN FD */
	bool dlc;	     /* and length codes above 8 */
	unsigned int window; /* frames that may be under way at once; 0: 50 */
	bool remote_empty;   /* it does not carry the length of remote frames: QEMU's controllers trip over it */
};

/* Runs every case (RUN_TEST).  No other program may send on the bus meanwhile. */
void bus_suite_run(const struct bus_suite *suite);

/* ---- for other tests of buses too ---- */

#define BUS_SUITE_OPEN_MAX 8
#define BUS_SUITE_GOT_MAX 1024

/* Opens a bus for this case; fails it with the line that bus_open had to say. */
struct bus *bus_suite_open(const char *name, const struct bus_options *options);
void bus_suite_end_case(void); /* closes what the case has opened; in tearDown */

/* Sends it; where the queue is full, as soon as it is not. */
void bus_suite_send(struct bus *bus, const struct frame *frame);
struct frame bus_suite_frame(const char *text); /* 123#1122 */

/* Receives until there are n frames, and fails the case when they do not come.  Returns them. */
const struct bus_frame *bus_suite_receive(struct bus *bus, size_t n);

/* Receives until answer comes: 0, -ENETDOWN ... */
void bus_suite_until(struct bus *bus, int answer);
void bus_suite_until_state(struct bus *bus, enum bus_state state);
