/* endplate_inside.h: what the files of libendplate share. */
#pragma once

#include <sys/types.h>

#include "channels/client/endplate.h"
#include "channels/estop/estop.h"
#include "channels/msg/ref.h"
#include "channels/port/port.h"
#include "config/base/base.h"

/* A channel that this process opens and never makes. */
struct endplate_end {
	char name[PORT_NAME_MAX];
	uid_t owner;
	mode_t mode_max;
	bool open;
	int64_t look_ns; /* when to look at its file again, or to try again to open it */
	int status;	 /* -errno while it is not open */
	ach_channel_t chan;
};

void endplate_end_close(struct endplate_end *end, int status);
/* Opens the channel, and reopens one that was removed, if it is time for that.  0, or why it is not open. */
int endplate_end_reopen(struct endplate_end *end, int64_t now_ns);

/* The newest event of its kind. */
struct endplate_said {
	char text[MSG_TEXT_SIZE];
	uint32_t incarnation;
	int64_t t_ns;
};

struct endplate_device {
	struct endplate_device *next;
	const struct endplate *robot;
	char name[TEXT_NAME_MAX + 1];
	struct endplate_end state, ref, info_end, event_end;
	uint32_t number;	     /* of the states' type; 0: any */
	const struct msg_type *type; /* of the state last seen */
	size_t count_at;	     /* of `count` in it; 0: there is none */
	struct ref_layout layout;    /* type NULL: the device takes no references */
	int64_t max_age_ns;

	/* of the state last seen */
	bool seen;
	uint32_t incarnation, count;
	struct msg_refused refused; /* references, by reason */
	int64_t refused_ns;	    /* when a look last found more of them; 0: none has */
	enum ref_verdict refused_why;
	uint64_t sequence; /* of the references put */

	struct msg_device_info info; /* header.type 0: not read yet */
	bool source;		     /* references go through a refmuxd */
	struct endplate_said refusal, fault;
};

/* The sink behind endplate_errstr; it forgets the former line. */
struct error_sink endplate_keep_errors(void);
/* A line there; returns status. */
int endplate_refuse(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* NULL: not known of the incarnation that was seen last.  Allocates nothing. */
const struct msg_device_info *endplate_known_info(struct endplate_device *d, int64_t now_ns);
/* Those that came since: into refusal and fault. */
void endplate_read_events(struct endplate_device *d);

/* Every state begins with both. */
struct endplate_front {
	struct msg_header header;
	struct msg_common common;
};

/* Reads header and common block of the newest state in place: the cursor of endplate_state does not move.  0 or
 * -errno. */
int endplate_peek_front(struct endplate_device *d, struct endplate_front *front, int64_t now_ns);

struct endplate {
	struct endplate_device *devices;
	uid_t owner;
	uint32_t pid; /* of this process: references say who put them */
	struct estop estop;
	int cancel_fd; /* an eventfd: endplate_cancel */

	struct endplate_end clock;
	int64_t t_cycle_ns, cycle_period_ns; /* of the newest message of the clock; period 0: none yet */
	uint64_t cycle;
	int64_t clock_ns;  /* when it was published */
	int64_t tick_ns;   /* the last; 0: none yet */
	int64_t jumped_ns; /* clock_jumped_ns then */
};
