/* links.h: the robot's links: brought up at the start, reset after a stall or bus-off.
 *
 * Drivers report stalls in their states; achstart resets a link once no driver on the bus has confirmed or received a
 * frame since.  It resets a link that is bus-off, which also empties its queue, once every driver on it holds, is
 * disarmed or in fault; it waits for a driver that runs but does not publish.  If a reset did not help, the next one
 * follows after twice the time, from 50 ms to 2 s.  An interface that drivers report absent or down, or on which no
 * driver reports because all of them wait for it, is brought up once it exists: tried every second, and reported when
 * that changes something.
 */
#pragma once

#include "channels/client/daemon_state.h"
#include "launch/achstart/events.h"
#include "launch/file/launch_file.h"

struct links {
	struct links_one {
		const struct robot_bus *bus;
		int64_t next_ns;  /* no reset before */
		int64_t pause_ns; /* to the reset after that */
		uint64_t resets;
		int up_error; /* reported: why it cannot be brought up; 0: it can */
	} one[ROBOT_BUSES_MAX];
	size_t n;
};

void links_init(struct links *links, const struct launch *launch);
/* Brings SocketCAN links up that are not up with the right values.  A failure is an event: drivers wait for the bus. */
void links_up(struct links *links, const struct launch *launch, struct events *events, int64_t now_ns);

/* What to do about a link, by the reports of the drivers on it; pure. */
enum links_action { LINKS_FINE, LINKS_WAIT, LINKS_RESET, LINKS_UP };
struct links_report { /* of one driver, about the bus */
	const struct msg_bus *bus;
	enum msg_life life;
	bool silent; /* it has not published for a while: the report is old */
};
enum links_action links_decide(const struct links_report *reports, size_t n, const char **why);

/* Does that for every link. */
struct links_driver {
	const struct daemon_state *published;
	bool lives; /* the process that published it runs */
};
void links_update(struct links *links, const struct launch *launch, const struct links_driver *drivers, size_t n,
		  struct events *events, int64_t now_ns);
