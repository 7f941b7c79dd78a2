/* bench_virtual.c: a node on a soft wire, for virtual.sh: sends a frame every period, and takes what its peer sends.
 *
 *	bench_virtual WIRE NODE	NODE: 0 or 1; the two fill 70 % of the wire
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "can/bus/bits.h"
#include "can/bus/bus.h"
#include "channels/clock/clock.h"
#include "test/bench/lib.h"

#define BITRATE 1000000
#define LOAD 0.70

static int64_t frame_ns(const struct frame *frame)
{
	struct bits bits;

	bits_of(&bits, frame);
	return bits.all * INT64_C(1000000000) / BITRATE;
}

static void take(struct bus *bus)
{
	struct bus_frame got[32];

	while (bus_receive(bus, got, 32) > 0)
		;
}

int main(int argc, char **argv)
{
	const uint32_t node = argc == 3 ? (uint32_t)atoi(argv[2]) & 1 : 0;
	const struct frame frame = { .id = 0x100 + node, .len = 8, .data = "\x55\xaa\x55\xaa\x55\xaa\x55\xaa" };
	const struct bus_filter filter = { 0x101 - node, FRAME_STD_MASK | FRAME_EXT | FRAME_RTR };
	const int64_t period_ns = (int64_t)((double)frame_ns(&frame) * 2 / LOAD);
	struct clock_fd fd = { .events = POLLIN };
	char name[64];
	struct bus *bus;

	if (argc != 3)
		bench_die("usage: bench_virtual WIRE NODE");
	snprintf(name, sizeof(name), "wire:%s@%s", argv[1], node ? "device" : "host");
	bus = bench_bus_open(name, &(struct bus_options){ .filters = &filter, .filters_n = 1 });
	fd.fd = bus_fd(bus);
	for (int64_t next_ns = clock_now_ns() + node * period_ns / 2;; next_ns += period_ns) {
		while (clock_now_ns() < next_ns) {
			clock_wait(&fd, 1, next_ns);
			take(bus);
		}
		(void)bus_send(bus, &frame);
	}
}
