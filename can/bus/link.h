/* link.h: the controller of a bus: its state and settings, bringing it up, resetting it.
 *
 *	struct link_settings want = { .bitrate = 1000000, .queue = 10 };
 *
 *	if (link_up("can0", &want, &errors))
 *		return 111;
 *	link_query("can0", &info, &errors);
 *
 * For the link's owner (achstart, or a user); drivers only read.  SocketCAN interfaces are read and changed through
 * netlink, wire:BUS through the control socket of canwire.  These calls take milliseconds: not for a real-time loop.
 */
#pragma once

#include <linux/can/netlink.h>

#include "can/bus/bus.h"

struct link_settings {
	uint32_t bitrate;	  /* bit/s */
	uint32_t data_bitrate;	  /* of the data of CAN FD frames; 0: classic, or whatever it is */
	uint32_t sample_point_pm; /* per mille; 0: the kernel's choice */
	uint32_t restart_ms;	  /* 0: a controller that is bus-off stays bus-off until it is reset */
	uint32_t queue;		  /* txqueuelen; 0: as it is */
};

/* In link_info.modes: unusual modes of a controller, by the kernel's bits. */
#define LINK_LISTEN_ONLY CAN_CTRLMODE_LISTENONLY  /* it neither sends nor acknowledges */
#define LINK_LOOPBACK CAN_CTRLMODE_LOOPBACK	  /* it hears itself only */
#define LINK_ONE_SHOT CAN_CTRLMODE_ONE_SHOT	  /* a frame that fails or loses arbitration is not repeated */
#define LINK_PRESUME_ACK CAN_CTRLMODE_PRESUME_ACK /* it does not need an acknowledgement */
#define LINK_MODES (LINK_LISTEN_ONLY | LINK_LOOPBACK | LINK_ONE_SHOT | LINK_PRESUME_ACK)

struct link_info {
	enum bus_state state;
	bool up;
	bool virtual;		  /* vcan, vxcan: no controller, nothing to set but the MTU */
	bool classic;		  /* its MTU is 16: it carries no CAN FD frame; not of a wire */
	struct link_settings now; /* 0 where it has none */
	uint32_t quanta;	  /* time quanta per bit; 0: not known */
	uint32_t modes;
	uint32_t clock_hz;
	uint16_t tx_errors, rx_errors; /* 0 if the driver does not report them */
	uint32_t bus_offs, restarts;   /* since the interface was created */
	bool echo;		       /* an echo confirms that a frame was sent; not of a wire */
	char kind[16];		       /* "can", "vcan", "wire" */
	char queueing[16];	       /* queueing discipline: "pfifo_fast"; not of a wire */
};

/* All return 0 or -errno with a line in errors that says what to do:
 *	-EINVAL		the name or a setting is not valid
 *	-ENODEV		there is no such interface
 *	-EMEDIUMTYPE	the interface is not a CAN interface
 *	-EAFNOSUPPORT	this kernel has no CAN
 *	-EPERM		CAP_NET_ADMIN is missing
 */
int link_query(const char *name, struct link_info *info, struct error_sink *errors);

/* Brings it up, unless it is up with these settings.  -EBUSY: it is up with others; the line names the command that
 * helps.  -ERANGE: the controller does not support the settings; it is down then. */
int link_up(const char *name, const struct link_settings *want, struct error_sink *errors);

/* Down and up: empties the queues of the kernel and the controller and ends bus-off.  The settings stay.  The link is
 * up afterwards even if it was down before. */
int link_reset(const char *name, struct error_sink *errors);

/* May this process reset it?  An interface takes CAP_NET_ADMIN; a wire takes access to its socket. */
bool link_may_reset(const char *name);

/* Is it an interface that is up and carries no CAN FD frame?  Then a line in errors names the command that mends it.
 * An interface that is absent or down may come up otherwise. */
bool link_is_classic(const char *name, struct error_sink *errors);

/* Is it without hardware?  A wire, or an interface of the kind vcan or vxcan.  False if the interface is missing:
 * a real one may appear under that name. */
bool link_is_virtual(const char *name);

/* ---- pure ---- */

bool link_kind_is_virtual(const char *kind); /* link_info.kind */

/* Lists the settings that differ: "bit rate 500000, not 1000000; listen-only".  false: none does, and text is "".  A
 * bit rate may be 0.5 % off and a sample point by a quantum: controllers divide a clock. */
#define LINK_OTHER_MAX 256
bool link_other(char text[LINK_OTHER_MAX], const struct link_info *info, const struct link_settings *want);

/* ---- back ends, for link*.c: each as above, with the whole name, prefix and all; info is all zeros ---- */

struct link_ops {
	int (*query)(const char *name, struct link_info *info, struct error_sink *errors);
	int (*up)(const char *name, const struct link_settings *want, struct error_sink *errors);
	int (*reset)(const char *name, struct error_sink *errors);
};

extern const struct link_ops link_socketcan_ops, link_wire_ops;
