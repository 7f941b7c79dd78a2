/* slots_bus.h: a struct slots and the struct bus it sends on.
 *
 *	struct slots_bus line;
 *	struct bus_frame got[32];
 *
 *	slots_bus_init(&line, &slots, bus, clock_now_ns());
 *	for (;;) {
 *		struct clock_fd fd = { .fd = bus_fd(bus), .events = POLLIN };
 *
 *		clock_wait(&fd, 1, slots_bus_next_ns(&line));
 *		now_ns = clock_now_ns();
 *		while ((n = slots_bus_receive(&line, got, 32, now_ns)) > 0)
 *			...
 *		...	(slots_put, here or anywhere else)
 *		slots_bus_pump(&line, now_ns);
 *		while (slots_lost(&slots, &loss))
 *			...
 *	}
 *
 * Each turn receives until nothing is left, whether the descriptor was ready or not, and then pumps: an echo that lies
 * unread would look like a stall, and a link that went down is believed only once everything before it has been read.
 * The bus must be opened with echoes, better also with error frames (bus_options.errors: a short bus-off is not
 * missed), and no other part of this process may send on it.
 */
#pragma once

#include "can/bus/bus.h"
#include "can/slots/slots.h"

struct slots_bus { /* private */
	struct slots *slots;
	struct bus *bus;
	uint64_t attached, dropped; /* as reported to the slots */
	bool broken;		    /* the link was away; reported to the slots once everything is read */

	/* Called for each own frame that was on the wire; set it after slots_bus_init. */
	void (*sent)(void *to, unsigned int row, const struct frame *frame, int64_t t_ns);
	void *to;
};

void slots_bus_init(struct slots_bus *line, struct slots *slots, struct bus *bus, int64_t now_ns);

/* bus_receive, with reports to the slots.  Own echoes (BUS_OWN) stay among the frames. */
int slots_bus_receive(struct slots_bus *line, struct bus_frame *frames, size_t n, int64_t now_ns);

/* Hands over the frames that may be sent; returns their number. */
int slots_bus_pump(struct slots_bus *line, int64_t now_ns);

/* The earlier of bus_next_ns and slots_next_ns. */
int64_t slots_bus_next_ns(const struct slots_bus *line);
