/* endplate.h: for programs that control a robot: states, references, the clock, the e-stop, requests.
 *
 *	struct endplate *robot;
 *	struct endplate_device *waist;
 *	struct endplate_view view;
 *	struct msg_joint_state state;
 *	struct msg_joint_ref ref = { .count = 1, .mode = { MSG_MODE_POSITION } };
 *
 *	endplate_open(&robot, NULL);
 *	endplate_device_open(robot, "waist", msg_joint_state_number, &waist);
 *	while (!endplate_wait(robot, 5000000, NULL)) {
 *		if (endplate_state(waist, &state, sizeof(state), &view) || view.doubts)
 *			continue;
 *		ref.position[0] = ...;
 *		endplate_put(waist, &ref, sizeof(ref), 20000000);
 *	}
 *
 * Every call returns 0 or a negative errno, which endplate_strerror(3) puts into words.  endplate(3) is the guide.
 * endplate_state, endplate_put, endplate_level and endplate_raise are for control loops: they allocate nothing, print
 * nothing, and wait for at most 2 ms, if another writer is stopped inside a put.  Times are nanoseconds of
 * CLOCK_MONOTONIC.
 */
#ifndef ENDPLATE_H
#define ENDPLATE_H

#include <stddef.h>
#include <stdint.h>

#include "channels/msg/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ENDPLATE_VERSION 0x010000 /* 1.0.0; msg_joint_state_version and the like are the versions of the messages */

struct endplate;	/* a robot; used by one thread at a time */
struct endplate_device; /* one of its devices */

/* ---- opening ---- */

/* The robot of that name; NULL: that of the environment, or the only one on this machine.  Sets ENDPLATE_RUN,
 * ENDPLATE_PREFIX and ACH_DIR, so a process has one robot.  -ENOENT: no robot of that name; -EINVAL: not a valid name,
 * or it is not clear which robot is meant (endplate_errstr). */
int endplate_open(struct endplate **robot, const char *name);
void endplate_close(struct endplate *robot); /* and its devices; NULL is allowed */

/* A device of which states of that type are read, 0: any type.  The driver need not run yet.  -EINVAL: not a valid name
 * or type. */
int endplate_device_open(struct endplate *robot, const char *name, uint32_t state_number,
			 struct endplate_device **device);

const char *endplate_strerror(int status); /* what a status means, in words */
/* Details of this thread's latest failed endplate_open, endplate_joint, endplate_ready, endplate_put, endplate_ask or
 * function of a trajectory; or "". */
const char *endplate_errstr(void);

/* ---- what there is ---- */

/* Its driver's joints, their limits and modes, the period of its ticks, the longest validity of a reference.  The
 * driver puts them when it starts, and once a second.  -ENOENT, -EACCES, -ENODATA, -EPROTO as endplate_state. */
int endplate_device_info(struct endplate_device *device, struct msg_device_info *info);

/* The index of a joint in states and references, by its name, or by that number in decimal.  -ENOENT: it has no such
 * joint (endplate_errstr lists those that it has); -ENODATA: its driver has not said yet which joints there are. */
int endplate_joint(struct endplate_device *device, const char *name);

/* Waits until each of n devices has a state without doubts and, if it takes references, follows them; looks at their
 * states meanwhile.  Not for a control loop.  -ETIMEDOUT: one of them is not ready yet; endplate_errstr says which one
 * and why. */
int endplate_ready(struct endplate_device *const devices[], size_t n, int64_t within_ns);

/* ---- states ---- */

enum endplate_doubt {
	ENDPLATE_RESTARTED = 1, /* the driver was restarted since the previous look: what is known of it is void */
	ENDPLATE_SILENT = 2,	/* the driver has published nothing for the maximum age */
	ENDPLATE_OLD = 4,	/* the oldest measurement is older than the maximum age, or there is none yet */
	ENDPLATE_PARTIAL = 8,	/* the flag partial: not everything in it is new */
	ENDPLATE_NOT_UP = 16,	/* the lifecycle is down, starting, fault or stopping */
	ENDPLATE_REPLAYED = 32	/* the flag replayed: from a recording */
};

struct endplate_view {
	uint32_t doubts;      /* of enum endplate_doubt; 0: the state can be trusted */
	uint32_t follows;     /* 1: a valid reference is followed now: holding or active, at level run */
	uint32_t is_new;      /* 1: published since the previous look */
	uint32_t incarnation; /* of the driver */
	uint32_t lifecycle;   /* enum msg_life */
	uint32_t level;	      /* enum msg_level, as the driver obeys it */
	uint64_t refused;     /* references that the driver refused since the previous look: common.refs_refused */
	uint64_t missed;      /* states between the previous look and this one */
	int64_t age_ns;	      /* of the oldest measurement; INT64_MAX: there is none */
	int64_t silent_ns;    /* since it was published */
	int64_t now_ns;	      /* when it was looked at */
};

/* Doubts in words: "silent, old"; "" for 0.  The text is this thread's, until its next call. */
const char *endplate_doubt_text(uint32_t doubts);

/* The newest state of a device, whether it was seen before or not, into size bytes at msg.  Never waits.  -ENOENT: no
 * channel; -EACCES; -ENODATA: nothing was published; -EPROTO: a message of another type, version or size.  The bytes
 * at msg mean nothing then, and of the view doubts is set to ENDPLATE_SILENT. */
int endplate_state(struct endplate_device *device, void *msg, size_t size, struct endplate_view *view);

/* For the doubts SILENT and OLD; 100 ms unless set. */
#define ENDPLATE_MAX_AGE_NS 100000000
int endplate_max_age(struct endplate_device *device, int64_t max_age_ns);

/* ---- references ---- */

/* Puts a reference that is valid for valid_ns from now, for the incarnation in the state last seen; the header is
 * filled in.  Its type is that of the state: joint-ref for joint-state, gripper-ref for gripper-state, balance-ref for
 * balance-state.
 *	-ENODATA    no state was seen yet
 *	-ESTALE	    the driver was restarted since: look at its state first
 *	-EHOSTDOWN  the driver is neither holding nor active
 *	-ETIME	    the driver is silent
 *	-EDOM	    not a finite number
 *	-ERANGE	    valid_ns is not positive, more than 200 ms, or more than the device takes
 *	-EPROTO	    size is not that of the reference, count is not the device's, or a mode does not exist
 *	-ENOENT, -EACCES, -EIO  no channel, not allowed, channel corrupted
 *	-ETIMEDOUT  another writer is stopped inside a put
 * Nothing was put in any of these cases, and endplate_errstr says more of the first eight. */
#define ENDPLATE_VALID_MAX_NS 200000000
int endplate_put(struct endplate_device *device, void *ref, size_t size, int64_t valid_ns);

/* Why the driver refused the newest of the references that view.refused counted, this program's or another's, with what
 * to write instead: "process 4711: valid for 900 ms, at most 25 ms: give it less"; "": it has refused none.  The text
 * is the device's, until the next call.  Not for a control loop. */
const char *endplate_refusal(struct endplate_device *device);

/* One of several programs that put references for a device, behind a refmuxd(1) that has this source: references go to
 * the channel DEVICE.SOURCE-ref instead of DEVICE-ref.  NULL: to DEVICE-ref.  -EINVAL: not a valid name. */
int endplate_source(struct endplate_device *device, const char *source);

/* ---- time ---- */

struct endplate_tick {
	int64_t t_ns;	   /* when it was due */
	int64_t period_ns; /* whole cycles of the clock */
	int64_t late_ns;   /* by how much it is later now */
	uint64_t skipped;  /* ticks that were due since the previous call, and are left out */
	uint32_t clock;	   /* 1: the clock runs; 0: the last phase known goes on */
	uint32_t reserved;
};

/* Until the next tick: every period_ns, rounded to whole cycles of the robot's clock, in step with it.  Without a clock
 * ticks come in the last phase that is known, or at whole periods of CLOCK_MONOTONIC, which is where a clock of the
 * robot would have them.  A tick that is due already is returned at once.  tick may be NULL.  -EINVAL: period_ns is not
 * 0.1 ms to 10 s. */
int endplate_wait(struct endplate *robot, int64_t period_ns, struct endplate_tick *tick);

/* The robot's time: CLOCK_MONOTONIC, or after endplate_open its virtual clock, on which a bench runs. */
int64_t endplate_now_ns(void);

/* ---- trajectories ---- */

/* Waypoints for joints of several devices, which arrive together, within the limits of the robot file:
 *
 *	endplate_trajectory_open(robot, &t);
 *	endplate_trajectory_joint(t, larm, "5");
 *	endplate_trajectory_joint(t, rarm, "5");
 *	endplate_trajectory_until(t, lft, "force", 20);
 *	endplate_trajectory_add(t, (double[]){ 0.5, -0.5 }, 0);
 *	status = endplate_trajectory_run(t);
 *
 * endplate_trajectory(3) says how they move.  endplate_errstr has details of every failure. */
struct endplate_trajectory; /* used by the thread of its robot */

int endplate_trajectory_open(struct endplate *robot, struct endplate_trajectory **t);
void endplate_trajectory_close(struct endplate_trajectory *t); /* NULL is allowed */

/* The next column: a joint, named as for endplate_joint.  Its number, 0 and up; or, beside what that returns,
 *	-EOPNOTSUPP  the joint takes no positions
 *	-EDOM	     it has no limit of velocity or of acceleration
 *	-EEXIST	     it is a column already
 *	-EBUSY	     there are waypoints already
 *	-ENOBUFS     more than 64 joints, or 16 devices */
int endplate_trajectory_joint(struct endplate_trajectory *t, struct endplate_device *device, const char *joint);

enum endplate_shape { ENDPLATE_QUINTIC, ENDPLATE_TRAPEZOID };
int endplate_trajectory_shape(struct endplate_trajectory *t, enum endplate_shape shape); /* quintic unless set */
/* How much of the velocity limits is used: above 0, at most 1, which it is unless set.  -EDOM. */
int endplate_trajectory_share(struct endplate_trajectory *t, double share);

/* A waypoint where all joints come to rest: a position for each column, NaN: it stays where it is.  seconds: from the
 * waypoint before; 0: as fast as the limits allow.
 *	-ERANGE	  a position is outside its range
 *	-EDOM	  not a number that can be meant
 *	-EINVAL	  the waypoint before is passed, and seconds is 0
 *	-ENODATA  there are no columns
 *	-ENOBUFS  more than 10000 waypoints */
int endplate_trajectory_add(struct endplate_trajectory *t, const double *position_rad, double seconds);
/* A waypoint that is passed, seconds (above 0) after the one before.  Velocities and accelerations of each column; NULL
 * or NaN: they follow from the waypoints beside it.  The last one of all is at rest. */
int endplate_trajectory_pass(struct endplate_trajectory *t, const double *position_rad, const double *velocity_rad_s,
			     const double *acceleration_rad_s2, double seconds);

/* Forgets the waypoints added since the last start. */
void endplate_trajectory_clear(struct endplate_trajectory *t);

/* It stops, within the limits, when the absolute value of that field of the device's state (of a list: its norm) is
 * above that, and when the state cannot be trusted.  At most 8 of these.  -EINVAL: not such a field; -ENODATA: the
 * device was opened for any type, and no state was seen yet. */
int endplate_trajectory_until(struct endplate_trajectory *t, struct endplate_device *device, const char *field,
			      double above);

/* Plans the way through the waypoints added since the last start, from the measured state; while it runs, from that
 * which was commanded last: they replace the others.  -ENODATA: none was added; -ERANGE: a limit would be exceeded;
 * -EHOSTDOWN: a device does not follow.  Then what ran goes on, and the waypoints added are forgotten. */
int endplate_trajectory_start(struct endplate_trajectory *t);
/* Once per tick, behind endplate_wait: reads states, checks conditions, puts references; for control loops as well.
 * 1: it moves; 0: it has arrived; else it has ended:
 *	-EINTR	    by a condition, or endplate_trajectory_stop
 *	-EHOSTDOWN  the level is above run, or a driver does not follow
 *	-ETIME	    a joint does not arrive, or there was no step for too long
 *	-ENODATA    it was not started */
int endplate_trajectory_step(struct endplate_trajectory *t);
int endplate_trajectory_stop(struct endplate_trajectory *t); /* within the limits; steps go on until -EINTR */
/* Starts, waits and steps until it has ended; what step returned, or start. */
int endplate_trajectory_run(struct endplate_trajectory *t);

/* ---- e-stop ---- */

/* The level, by the rules of drivers; MSG_LEVEL_ESTOP if it cannot be read.  It is the level that drivers obey once a
 * driver's state was looked at, or if the robot was armed since it was opened; until then it is MSG_LEVEL_ESTOP. */
enum msg_level endplate_level(struct endplate *robot);

/* Raises to MSG_LEVEL_HOLD or MSG_LEVEL_ESTOP; only a person lowers it (achctl arm).  -EINVAL: another level; -EIO:
 * no channel of the e-stop can be written. */
int endplate_raise(struct endplate *robot, enum msg_level level, const char *why);

/* ---- requests ---- */

/* Asks a driver and waits for its reply, within_ns at most: not for a control loop.  key and value may be NULL, reply
 * as well.  0: done, its answer is reply->value.  Else the driver's -errno, the reason in reply->error; or -EPERM if
 * achstart refuses, -ETIMEDOUT, -ENOENT if there is no such driver; endplate_errstr has the reason. */
int endplate_ask(struct endplate *robot, const char *device, enum msg_verb verb, const char *key, const char *value,
		 int64_t within_ns, struct msg_reply *reply);
/* The same with a deadline: a driver that has not done it after within_ns ends it, and replies -ETIMEDOUT. */
int endplate_ask_deadline(struct endplate *robot, const char *device, enum msg_verb verb, const char *key,
			  const char *value, int64_t within_ns, struct msg_reply *reply);
/* From a signal handler or another thread: asks the driver to end the request that waits in one of these two, which
 * returns -ECANCELED, or 0 if the driver was done.  Without a request nothing happens. */
int endplate_cancel(struct endplate *robot);

#ifdef __cplusplus
}
#endif

#endif
