/* links.h: the owner of the robot's links: up at the start, reset after a stall, back from bus-off.
 *
 * A stall is what drivers say in their states; the link is reset once none of those on the bus has confirmed or
 * received anything since.  A link that is bus-off is reset, which empties its queue too, once every driver on it
 * says that it holds, is disarmed or in fault; one that lives and has fallen silent is waited for.  After a reset that
 * did not help the next one comes after twice the time, from 50 ms to 2 s.  An interface that drivers find absent or
 * down, at start or later, or of which nobody says anything because everybody waits for it, is brought up once it is
 * there: tried every second, and told when that changes something.
 */
#ifndef LAUNCH_ACHSTART_LINKS_H
#define LAUNCH_ACHSTART_LINKS_H

#include "launch/achstart/events.h"
#include "launch/file/launch_file.h"
#include "launch/common/pulse.h"

#define LINKS_MAX 32

struct links {
	struct links_one {
		const struct robot_bus *bus;
		int64_t next_ns;  /* no reset before */
		int64_t pause_ns; /* to the one after */
		uint64_t resets;
		int told; /* that it cannot be brought up, and why: -errno */
	} one[LINKS_MAX];
	size_t n;
};

void links_init(struct links *links, const struct launch *launch);
/* Brings SocketCAN links up; one that is right is left alone.  Trouble is an event: the drivers wait for the bus. */
void links_up(struct links *links, const struct launch *launch, struct events *events, int64_t now_ns);

/* What the drivers on a bus say, judged; pure. */
enum links_verdict { LINKS_FINE, LINKS_WAIT, LINKS_RESET, LINKS_UP };
struct links_word { /* of one driver about the bus */
	const struct msg_bus *bus;
	enum msg_life life;
	bool silent; /* these are its last words, and what it does now nobody knows */
};
enum links_verdict links_judge(const struct links_word *words, size_t n, const char **why);

/* Looks at all of them and resets what is to be reset. */
struct links_driver {
	const struct pulse *pulse;
	bool lives; /* the process that published it */
};
void links_look(struct links *links, const struct launch *launch, const struct links_driver *drivers, size_t n,
		struct events *events, int64_t now_ns);

#endif
