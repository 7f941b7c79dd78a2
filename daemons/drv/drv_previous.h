/* drv_previous.h: the last state of the previous driver process, read before the first frame is sent.
 *
 * Two places hold it: the state channel, and $RUN/state/NAME, where achstart keeps the latches it last saw.
 *
 *	newest state sound, of this boot	found: its latches, and those of the file
 *	newest state not sound			lost
 *	no state of this boot, and the file
 *	says that one was published		lost
 *	neither					the first start in this boot
 *
 * Lost means that nothing is known: every latch counts as set.
 */
#pragma once

#include "channels/port/port.h"

/* Room for any message there is, aligned as they are. */
union drv_message {
	struct msg_header header;
	struct { /* every state begins so */
		struct msg_header header;
		struct msg_common common;
	} state;
	struct msg_joint_state joints;
	struct msg_joint_ref joint_ref;
	struct msg_clock clock;
	struct msg_estop estop;
	struct msg_request request;
	struct msg_reply reply;
	uint8_t bytes[8192];
};

#define DRV_PREVIOUS_ALL \
	(MSG_LATCH_POSITION_UNKNOWN | MSG_LATCH_HOMING_ABORTED | MSG_LATCH_HALTED_BY_OTHER | MSG_LATCH_WAITS_FOR_PERSON)

struct drv_previous {
	bool found;	      /* a sound state of this boot */
	bool lost;	      /* there was one, and it cannot be read */
	uint32_t incarnation; /* the highest of all sound states and of the file; 0: none */
	uint32_t latches;
	uint64_t boot[2], base_chan, base_seq; /* the lowering of the e-stop that it obeyed */
	enum msg_level base_level;
	union drv_message state; /* the newest, if found */
};

/* What $RUN/state/NAME says. */
struct drv_previous_file {
	bool there;	      /* a process of this name has run before, and published */
	uint32_t incarnation; /* of the last one before this process; 0: none */
	uint32_t latches;
};

/* text: the file's; pid: of this process, session: of its session, whose leader achstart started.  For tests. */
struct drv_previous_file drv_previous_parse(const char *text, const uint64_t boot[2], int pid, int session);

/* Reads the channel, from its oldest message on, and the file of the daemon `name`. */
void drv_previous_read(struct drv_previous *previous, struct port *state, const char *name, const uint64_t boot[2]);
