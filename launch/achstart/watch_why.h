/* watch_why.h: why a driver is in fault, by the events that it publishes.  Pure.
 *
 * Its last error is the reason, until it says that it is over.  A bus comes and goes beside that: "bus", "bus-back";
 * while it is away the silence of a device explains nothing.
 */
#ifndef LAUNCH_ACHSTART_WATCH_WHY_H
#define LAUNCH_ACHSTART_WATCH_WHY_H

#include <stdbool.h>
#include <stdint.h>

#include "channels/msg/msg.h"

struct watch_why {
	struct watch_why_one {
		char code[MSG_NAME_SIZE + 1], text[MSG_TEXT_SIZE + 1];
		uint32_t incarnation;
		uint64_t place; /* among all that were heard; 0: there was none */
		bool over;
	} device, bus;
	uint64_t heard;
};

void watch_why_hear(struct watch_why *why, const struct msg_event *event);
/* The newest that is not over, the bus before a silence; if they all are (the next is on its way), the newest.  "":
 * nothing was heard from that incarnation. */
const char *watch_why_text(const struct watch_why *why, uint32_t incarnation);

#endif
