/* link.h: the controller behind a bus: up, down, how it is, and how it gets well.
 *
 *	struct link_settings want = { .bitrate = 1000000, .queue = 10 };
 *
 *	if (link_up("can0", &want, &errors))
 *		return 111;
 *	link_look("can0", &info, &errors);
 *	link_warnings("can0", &info, &warnings);
 *
 * For the link's owner (achstart, or a person); drivers only look.  SocketCAN interfaces through libsocketcan and
 * netlink; wire:BUS through the wire's own control.  These calls take milliseconds and are for no real-time
 * loop.  For the time of a call of libsocketcan, which prints there, stderr of the whole process is silent.
 */
#ifndef CAN_LINK_H
#define CAN_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "can/bus.h"
#include "config/error.h"

struct link_settings {
	uint32_t bitrate;	  /* bit/s */
	uint32_t sample_point_pm; /* per mille; 0: the kernel's choice */
	uint32_t restart_ms;	  /* 0: a controller that is bus-off stays so until somebody restarts it */
	uint32_t queue;		  /* txqueuelen; 0: as it is */
};

/* In link_info.modes: ways of a controller that are not the usual one. */
#define LINK_LISTEN_ONLY 0x1 /* it neither sends nor acknowledges */
#define LINK_LOOPBACK 0x2    /* it hears itself only */
#define LINK_ONE_SHOT 0x4    /* a frame that fails, or loses arbitration, is not sent again */
#define LINK_PRESUME_ACK 0x8 /* it does not mind that nobody acknowledges */

struct link_info {
	enum bus_state state;
	bool up;
	bool virtual;		  /* vcan, vxcan: no controller and mostly no queue: there is nothing to set */
	bool bus_off_restarts;	  /* restart_ms is not 0 */
	struct link_settings now; /* as far as it has them */
	uint32_t quanta; /* parts of a bit, of which the sample point is at the end of one; 0: it does not say */
	uint32_t modes;
	uint32_t clock_hz;
	uint16_t tx_errors, rx_errors; /* counters of the controller, where it tells */
	uint32_t bus_offs, restarts;   /* since it exists */
	char kind[16];		       /* "can", "vcan", "wire" */
	char queueing[16];	       /* the queueing discipline: "pfifo_fast", "fq_codel" ... */
};

/* All answer 0 or -errno with a line in errors that says what to do:
 *	-EINVAL		the name, or a setting, makes no sense
 *	-ENODEV		there is no such interface
 *	-EMEDIUMTYPE	there is, but it is not of CAN
 *	-EAFNOSUPPORT	this kernel has no CAN
 *	-EPERM		it takes CAP_NET_ADMIN
 */
int link_look(const char *name, struct link_info *info, struct error_sink *errors);

/* Brings it up.  One that is up and right is left alone; one that is up with other values is -EBUSY, and the line
 * names the command that helps.  -ERANGE: the controller cannot do what is asked; it is down then. */
int link_up(const char *name, const struct link_settings *want, struct error_sink *errors);
int link_down(const char *name, struct error_sink *errors); /* one that is down is left alone */

/* From bus-off.  -EBUSY: it is not bus-off; -EALREADY: it restarts by itself (restart_ms); -EOPNOTSUPP: it is
 * virtual.  What the kernel has queued may survive it: a second bus-off within a second of the first leaves the queue
 * as it is, and it is sent after the restart.  link_reset brings a link back from bus-off as well, and empties it:
 * where actuators are on the bus that is the one to call. */
int link_restart(const char *name, struct error_sink *errors);

/* Down and up: what was queued, in the kernel or in the controller, is gone.  The settings stay.  It is up afterwards
 * also if it was not before. */
int link_reset(const char *name, struct error_sink *errors);

/* May this process reset it?  An interface takes CAP_NET_ADMIN; a wire is reset by whoever may talk to it. */
bool link_may_reset(const char *name);

/* Can no real device hang on it?  A wire; or an interface that the kernel calls vcan or vxcan, whatever its name.  One
 * that is not there may become anything: false. */
bool link_is_virtual(const char *name);

/* ---- pure ---- */

bool link_kind_is_virtual(const char *kind); /* link_info.kind */

/* What of a link is not as wanted: "bit rate 500000, not 1000000; listen-only".  How many things; 0: it is right, and
 * text is "".  A bit rate may be 0.5 % off and a sample point by a quantum: controllers divide a clock. */
#define LINK_OTHER_MAX 256
int link_other(char text[LINK_OTHER_MAX], const struct link_info *info, const struct link_settings *want);

/* Adds a line for each thing that makes frames late or lost: a queueing discipline that drops (fq_codel) or holds
 * back, a queue of more than LINK_QUEUE_MAX frames, a controller that listens only or sends once.  Returns how many.
 *
 * A process of this suite hands over two frames at a time unless in_flight of robot(5) says more, so 10, the kernel's
 * usual length, is enough for five of them; 64 frames take 8 ms at 1 Mbit/s, more than a cycle of 5 ms. */
#define LINK_QUEUE_MAX 64
int link_warnings(const char *name, const struct link_info *info, struct error_sink *warnings);

#endif
