/* refmux.h: several sources of references for one device, by priority.
 *
 *	refmux_output(&mux, incarnation, count);		as the device's state says
 *	refmux_take(&mux, source, &ref, now_ns);		of each source, in each tick
 *	if (refmux_choose(&mux, &ref, now_ns, tick_ns))
 *		(put it; it is valid until ref.header.valid_until_ns)
 *
 * Pure: times are arguments, and references have been checked (ref_check).
 *
 * For each joint the first source counts that has a valid reference with a mode other than none.  A source that would
 * expire before the next tick has lost already to one that would not: the device always has a reference that is valid
 * until it gets the next.  A reference is never valid for longer than that of its source.  The device's own limits and
 * ramps make the change of source smooth: whatever the sources ask for, they are kept (drv_ref.h).
 *
 * Messages without joints have one author.
 */
#pragma once

#include "channels/msg/types.h"
#include "config/base/base.h"

#define REFMUX_NONE (-1)
#define REFMUX_SOURCES (MSG_SOURCES + 1) /* the parts of a device (drv_part.c), and the whole */

union refmux_ref {
	struct msg_header header;
	struct msg_joint_ref joints;
	struct msg_gripper_ref gripper;
	struct msg_balance_ref balance;
};

struct refmux_source {
	msg_name name;
	int64_t timeout_ns; /* how long a reference counts at most; 0: as long as it is valid */

	enum msg_source state;
	uint64_t taken, refused;
	int64_t newest_ns; /* when the newest came, taken or not; 0: none has */
	bool there;	   /* ref was taken for this incarnation of the device */
	bool odd;	   /* the newest was refused */
	int64_t taken_ns;
	union refmux_ref ref;
};

struct refmux {
	struct refmux_source sources[REFMUX_SOURCES]; /* by priority */
	unsigned int n;
	bool by_joint; /* references are msg_joint_ref */

	uint32_t incarnation, count; /* of the device */
	int author[MSG_JOINTS];	     /* place of the source that each joint follows; REFMUX_NONE: none */
	int in_charge;		     /* the first of them, or the author of the whole message */
	uint64_t handovers;	     /* ticks in which an author changed */
};

/* The device has this incarnation and number of joints.  After a restart all references are void. */
void refmux_output(struct refmux *mux, uint32_t incarnation, uint32_t count);

/* The newest reference of a source; NULL: it was refused. */
void refmux_take(struct refmux *mux, unsigned int source, const union refmux_ref *ref, int64_t now_ns);

/* The reference for the device; its header is filled in but for what a put fills in.  The next choice is in tick_ns.
 * false: no source has a valid one. */
bool refmux_choose(struct refmux *mux, union refmux_ref *ref, int64_t now_ns, int64_t tick_ns);

/* ---- refmux_sources.c: the setting sources of refmuxd: "joy:50ms,control" ---- */

/* Names and time-outs into mux, which may be NULL.  NULL, or the form that it should have. */
const char *refmux_sources(struct refmux *mux, const char *text);
