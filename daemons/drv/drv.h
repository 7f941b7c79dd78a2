/* drv.h: the one loop that every driver runs.  hw-docs/guides/write-a-driver.md walks through the smallest one.
 *
 *	static const struct drv_driver driver = {
 *		.program = "exampled", .about = "drives the example device",
 *		.size = sizeof(struct exampled), .settings = rows,
 *		.state = msg_joint_state_number, .ref = msg_joint_ref_number,
 *		.declare = declare, .start = start, .tick = tick, .rx = rx, .fill = fill, .stop = stop,
 *	};
 *
 *	int main(int argc, char **argv)
 *	{
 *		return drv_main(&driver, argc, argv);
 *	}
 *
 * The loop owns the command line, the settings that all drivers share, channels, buses, the tick, waiting, what may
 * be sent, which references count, limits and ramps, the e-stop, the lifecycle, publication, requests, readiness,
 * real-time set-up, counters and the exit status.  A driver is a table of functions that it calls, all in one thread.
 * None of them may wait, sleep, print, allocate or exit; each has to be short.
 *
 * In each turn the loop passes the frames that have arrived to rx.  At a tick it reads e-stop, requests and reference
 * and calls start or tick once.  Then it sends the frames that were put.  It publishes one state for each tick: as soon
 * as rx reports that the sample is complete, otherwise at the next tick, flagged partial.  A sensor that sends without
 * being asked publishes each sample (drv_publish, streams).
 *
 * Offered to other folders:
 *	claim.h drv_missed.h drv_output.h drv_ref.h drv_refused.h drv_tick.h drv_unheard.h mounting.h
 *	mounting_settings.h paused_text.h realtime.h refmux.h setup_rows.h standby.h
 */
#pragma once

#include <stdatomic.h>

#include "can/bus/bus.h"
#include "can/slots/slots.h"
#include "config/base/object.h"
#include "config/settings/robot.h"
#include "config/settings/settings.h"
#include "daemons/drv/drv_ask.h"
#include "daemons/drv/drv_ref.h"

struct drv;

/* ---- what a driver declares, in declare ---- */

/* A kind of frame that the driver sends.  A frame that is not declared cannot be sent. */
struct drv_send {
	unsigned int bus; /* which of the driver's buses, 0 to drv_buses() - 1 */
	struct slots_row row;
	uint8_t len;   /* of the longest */
	uint8_t flags; /* of all of them: 0, FRAME_FD, or FRAME_FD | FRAME_BRS */
	bool moves;    /* it can start a motion: sent only while drv_may_move, on a proven bus */
	bool shared;   /* several drivers may send this identifier, so it is not claimed */
	/* For --frames: a frame of reply_id is the answer to it; reply_bytes leading bytes come back as they were.  A
	 * question that is asked with it says itself what comes back, and fills in the others. */
	bool answered;
	uint32_t reply_id;
	uint8_t reply_bytes;
	int64_t reply_within_ns;
};

/* A kind of frame that the driver receives.  Rows may share an identifier and differ in length. */
struct drv_receive {
	unsigned int bus;
	uint32_t id;		  /* with FRAME_EXT */
	uint32_t id_mask;	  /* 0: that identifier alone */
	bool any_len;		  /* else: */
	uint8_t len_min, len_max; /* other lengths are counted (frames_odd) and not passed to rx */
	uint8_t flags;		  /* FRAME_FD: CAN FD frames, else classic ones; others are counted as odd */
	int64_t period_ns;	  /* missing frames are counted (frames_missing); 0: not periodic */
	int64_t silent_after_ns;  /* time without a frame after which the device is in fault; 0: never */
	const char *from;	  /* subject of the event: "the turntable" */
	bool shared;		  /* not the device's own: the frame of the clock, which another daemon sends */
};

/* ---- input of a tick ---- */

struct drv_orders {
	int64_t now_ns;
	int64_t tick_ns; /* the tick's own time: now_ns without the lateness */
	double dt_s;	 /* since the last one, at most a period */
	uint64_t tick;
	uint64_t cycle; /* of the robot's clock if the driver ticks on it; else 0 */
	bool freerun;	/* the source of ticks is missing: the loop ticks by its own timer */
	enum msg_life life;
	enum msg_level level;
	bool armed;	 /* level run; also hold if the driver balances */
	const void *ref; /* the reference to follow, in life active; else NULL: take the safe action */
	/* Per joint what to command now, limited and ramped: the reference's, or the safe action where there is none.
	 * At level estop, whatever the life, the driver takes its on_estop action instead, and track_rad_s brakes. */
	const struct drv_ref_command *joint;
	const enum msg_life *joint_life; /* life, but fault where the joint, or its group, has failed */
};

enum drv_step { DRV_AGAIN, DRV_DONE };
#define DRV_LATER 1 /* the answer of a request that drv_reply gives later */

/* A verb that its request function knows. */
struct drv_verb {
	enum msg_verb verb; /* MSG_VERB_NONE ends the table */
	bool moves;	    /* refused unless armed and up, and while something is latched; home and activate always */
	bool exclusive;	    /* refused while another such is under way */
};

/* Version of the interface between drivers in shared objects and drvhost(1).  Add 1 when a struct or function that
 * drivers use changes: test/abi/test_drv_abi.sh finds such a change. */
#define DRV_ABI 5

struct drv_driver {
	const char *program, *about;
	size_t size;			     /* of the driver's own struct, which begins as zeros */
	const struct settings_row *settings; /* its own settings, in that struct */
	const char *tick_preset;	     /* default of the setting tick; NULL: "5ms" */
	enum msg_number state, ref;	     /* types of NAME-state and NAME-ref; ref 0: a sensor */
	const char *state_channel;	     /* another name than NAME-state, for the whole robot; NULL: none */
	bool no_bus;			     /* a controller: it reaches other devices through libendplate */
	bool bus_optional;		     /* its settings say whether it has a bus: declare checks it */
	bool outlives_buses;		     /* a bus that is down or stalled does not put the driver in fault */
	bool own_period;		     /* tick must be a period, not something to follow */
	bool complies;			     /* joints take mode compliant; else such references are refused */
	bool opens_early;		     /* open only opens libendplate: a spare calls it before it is needed */
	bool streams; /* it publishes by drv_publish; ticks publish changes, and every tenth in any case */

	/* Settings are read: declare joints, frames, outputs.  No I/O: it is called for --frames and --check,
	 * too.  0, or -EINVAL with lines in errors. */
	int (*declare)(void *self, struct drv *drv, struct error_sink *errors);
	/* Before the loop runs, once its channels and buses are open: a controller opens libendplate here.  It may
	 * allocate.  0, or -errno with a line in errors; a spare calls it again after it failed.  close is called at
	 * the end, also if open was not.  Both may be NULL. */
	int (*open)(void *self, struct drv *drv, struct error_sink *errors);
	void (*close)(void *self);
	/* Each tick until it says DRV_DONE: the device is there, and nothing needs to move for it to be
	 * ready.  Called again after drv_start_again.  NULL: it is there when every row with silent_after_ns was
	 * heard. */
	enum drv_step (*start)(void *self, struct drv *drv, const struct drv_orders *orders);
	/* Each tick from then on.  May be NULL. */
	void (*tick)(void *self, struct drv *drv, const struct drv_orders *orders);
	/* A received frame, with the row that takes it (drv_add_receive, drv_monitor).  true: with it the sample of
	 * this tick is complete.  May be called several times in a turn.  May be NULL. */
	bool (*rx)(void *self, struct drv *drv, unsigned int row, const struct bus_frame *got);
	/* The answer to a drv_ask, which rx does not see; reply NULL: none came, and all tries are over.  true: as of
	 * rx.  May be NULL. */
	bool (*answer)(void *self, struct drv *drv, const struct drv_ask_answer *answer, const struct bus_frame *reply);
	/* An own frame was on the wire, complete, at t_ns; or will not be (lost, and perhaps it was).  May be NULL. */
	void (*sent)(void *self, struct drv *drv, unsigned int send, const struct frame *frame, int64_t t_ns);
	void (*lost)(void *self, struct drv *drv, unsigned int send, const struct frame *frame);
	/* Fills in the body of the state that is about to be published.  Answers t_sample_ns: when the oldest frame
	 * used in it was on the wire; 0: there is none yet. */
	int64_t (*fill)(void *self, struct drv *drv, void *state, int64_t now_ns);
	/* A request of one of these verbs that the loop found allowed, other than get of one of the settings.  0: done;
	 * -errno, with drv_why; DRV_LATER: drv_reply answers it by its handle; several may be under way.  What the loop
	 * refuses never comes here. */
	const struct drv_verb *verbs;
	int (*request)(void *self, struct drv *drv, uint32_t handle, const struct msg_request *request, int64_t now_ns);
	/* A request that was put off is to end, once: why is -ECANCELED, its client says so, or -ETIMEDOUT, its
	 * deadline has passed.  0: it has ended, and the loop answers with why and what drv_why says; DRV_LATER: it
	 * takes some time, and drv_reply answers.  NULL: what has begun goes on to its end. */
	int (*cancel)(void *self, struct drv *drv, uint32_t handle, int why);
	/* Asked to end: each tick until it says DRV_DONE, the device is safe; half a second at most.  NULL: at once. */
	enum drv_step (*stop)(void *self, struct drv *drv, const struct drv_orders *orders);
	/* The time of drv_wake_at has come.  May be NULL. */
	void (*wake)(void *self, struct drv *drv, int64_t now_ns);
};

/* The whole program.  Its exit status: 0 asked to stop (or log: has ended), 100 configuration, 111 the world. */
int drv_main(const struct drv_driver *driver, int argc, char **argv);

/* In the file of the driver, before main: make then builds a shared object, too, which drvhost(1) loads.  It looks for
 * the text of drv_abi in the file before it runs any code of it. */
#define DRV_ABI_MARK "@(#)endplate-object "
#define DRV_OBJECT(driver)                                             \
	extern const char drv_abi[];                                   \
	extern const struct drv_driver *const drv_object;              \
	const char drv_abi[] = OBJECT_ABI(DRV_ABI_MARK, DRV_ABI) "\n"; \
	const struct drv_driver *const drv_object = &(driver)

/* ---- several in one process, a thread each: drvhost ---- */

/* What the thread of one driver shares with the host, which reports to the supervisor for all of them. */
struct drv_seat {
	int stop_fd;		/* readable: the driver has to end */
	_Atomic uint32_t turns; /* of its loop */
	_Atomic bool ready;
	_Atomic int life; /* enum msg_life */
};

/* drv_main in two parts.  drv_new reads the command line, in one thread; NULL: all is said, and *status is the exit
 * status.  drv_run does the rest, in any thread, and frees it; seat NULL: it is alone in its process. */
struct drv *drv_new(const struct drv_driver *driver, int argc, char **argv, int *status);
int drv_run(struct drv *drv, struct drv_seat *seat);
const char *drv_name(const struct drv *drv);
bool drv_checks(const struct drv *drv); /* --check or --frames: drv_run opens nothing */

/* In start or tick: nothing has to arrive for the state of this tick; it is published at the end of the turn. */
void drv_complete(struct drv *drv);
/* In rx: a sample is complete, and is published whatever else comes in this turn.  Several in a tick are several
 * messages. */
void drv_publish(struct drv *drv);
/* wake is called once at that time, between ticks; a later call replaces an earlier one, CLOCK_NEVER takes it back. */
void drv_wake_at(struct drv *drv, int64_t t_ns);
/* In start: the next tick is at next_ns, and so is the phase of those that follow. */
void drv_tick_at(struct drv *drv, int64_t next_ns);

/* ---- in declare ---- */

/* The buses, in the order of the robot file or of the command line. */
unsigned int drv_buses(const struct drv *drv);
int drv_bus(const struct drv *drv, const char *name); /* by role or by name; -ENOENT */
const char *drv_bus_name(const struct drv *drv, unsigned int bus);
const char *drv_bus_interface(const struct drv *drv, unsigned int bus); /* as it is opened: wire:torso */
/* Its entry in the robot file; NULL: it was given on the command line, without a file. */
const struct robot_bus *drv_robot_bus(const struct drv *drv, unsigned int bus);
int64_t drv_period_ns(const struct drv *drv); /* of the ticks */
/* The robot file, for what it says of other devices; NULL: none was given. */
const struct robot *drv_robot(const struct drv *drv);

/* Each answers its number, 0 and up, or -ENOSPC or -EINVAL with a line in errors. */
int drv_add_send(struct drv *drv, const struct drv_send *send, struct error_sink *errors);
int drv_add_receive(struct drv *drv, const struct drv_receive *receive, struct error_sink *errors);
/* Requests that the device answers; drv_ask.h.  The rows are numbers of drv_add_send and drv_add_receive. */
int drv_add_question(struct drv *drv, const struct drv_question *question, struct error_sink *errors);
/* A joint of the state and reference messages; its limits are those of the robot file. */
int drv_add_joint(struct drv *drv, const char *name, struct error_sink *errors);
/* Sets the velocity for each rad that a joint is behind its ramp (drv_ref_command.track_rad_s); 0 by
 * default. */
void drv_joint_gain(struct drv *drv, unsigned int joint, double gain_1_s);
/* Joints of one group stop together when one of them fails; all are in group 0 by default.  A joint that hangs on a
 * bus fails with it; unless that is said of some joint, the whole device does. */
void drv_joint_group(struct drv *drv, unsigned int joint, unsigned int group);
void drv_joint_bus(struct drv *drv, unsigned int joint, unsigned int bus);
/* It measures no position (a pure current or velocity drive): the state's stays NaN, position limits are not kept. */
void drv_joint_no_position(struct drv *drv, unsigned int joint);
/* A place in the messages without a joint (not fitted, or inactive): its lifecycle is down, it needs no limits, and
 * references to it are ignored. */
void drv_joint_absent(struct drv *drv, unsigned int joint);
/* Joints with channels of their own: NAME-PART-state, and NAME-PART-ref for a process that moves these alone.  Each
 * joint follows NAME-ref, or where that has no valid reference with a mode its part's: the rules of refmuxd(1). */
int drv_add_part(struct drv *drv, const char *part, const unsigned int *joints, unsigned int n,
		 struct error_sink *errors);
/* A channel, of the whole robot, that it writes. */
int drv_add_output(struct drv *drv, const char *channel, enum msg_number type, struct error_sink *errors);
/* A channel of references, of the whole robot, that it reads beside its own. */
int drv_add_input(struct drv *drv, const char *channel, enum msg_number type, struct error_sink *errors);
/* A further resource that only one process may own, beside the identifiers that it sends: "clock".  Of the bus
 * DRV_CHANNEL: a channel, "waist-ref", that no other process with such a claim writes. */
#define DRV_CHANNEL (~0u)
int drv_add_claim(struct drv *drv, unsigned int bus, const char *what, struct error_sink *errors);
/* Every frame of the bus that no other row takes, error frames too, is given to rx. */
unsigned int drv_monitor(struct drv *drv, unsigned int bus);

/* ---- later ---- */

/* Puts it into its slot.  0, or -EINVAL: not as declared; -ENOSPC: too many wait; -EPERM: its row moves, and nothing
 * may: it is withheld, counted (frames_withheld) and reported.  Its deadline counts from the beginning of the turn,
 * when it was decided. */
int drv_send(struct drv *drv, unsigned int send, const struct frame *frame);
/* The same for a frame of a row that moves which brings the device to rest or keeps it there: velocity 0, halt, what
 * orders->joint says while it stops.  It leaves whatever the level is, and takes the place of what waits. */
int drv_send_stop(struct drv *drv, unsigned int send, const struct frame *frame);
/* Sends a request of a question, again if need be, and gives its answer to answer, with this tag.  0, or -EBUSY: one
 * with the same key is under way, or its reply is owed; -ENOSPC: too many are, or wait; -EINVAL: too short; else as
 * drv_send.  A reply that is late is dropped; a frame that belongs to no request goes to rx. */
int drv_ask(struct drv *drv, unsigned int question, const struct frame *request, uint32_t tag);
/* The same, put as by drv_send_stop.  Its question has one try. */
int drv_ask_stop(struct drv *drv, unsigned int question, const struct frame *request, uint32_t tag);
/* In start or tick: nothing of this bus is needed before that many answers to what was asked, of at least len bytes
 * each, are there, or before the next tick.  Until they can have been on the wire the loop may sleep, and rx, answer
 * and sent are called then.  It counts for this tick. */
void drv_await(struct drv *drv, unsigned int bus, unsigned int answers, uint8_t len);
/* Armed, up, and no latch is set. */
bool drv_may_move(const struct drv *drv);
/* Sends now what was put so far, before the callback returns; for a driver that has more to do after it. */
void drv_hand_over(struct drv *drv);
void drv_cancel(struct drv *drv, unsigned int send); /* what waits of it will not be sent */
/* About a row that is received: its bus; when its last frame was on the wire (0: none yet); silent, as declared. */
unsigned int drv_row_bus(const struct drv *drv, unsigned int row);
unsigned int drv_send_bus(const struct drv *drv, unsigned int send); /* of a row that is sent */
int64_t drv_heard_ns(const struct drv *drv, unsigned int row);
bool drv_silent(const struct drv *drv, unsigned int row);
/* How much of the time since t_ns this process, or the wire of the bus, was paused: the machine was busy, and no device
 * is to blame for what did not come in it.  DRV_CHANNEL instead of a bus: this process alone. */
int64_t drv_paused_ns(const struct drv *drv, unsigned int bus, int64_t t_ns);
/* Down, away, off, or stalled. */
bool drv_bus_dead(const struct drv *drv, unsigned int bus);
const struct bus_stats *drv_bus_stats(const struct drv *drv, unsigned int bus);
enum bus_state drv_bus_state(const struct drv *drv, unsigned int bus);

struct drv_ref_limits *drv_limits(struct drv *drv, unsigned int joint); /* to be tightened by what the device says */
/* In tick: orders->joint was not sent to this joint (it is halted, homes, does not answer), so its ramp begins again at
 * the measured state; stopped: at rest, since the joint was commanded to stop. */
void drv_not_driven(struct drv *drv, unsigned int joint, bool stopped);

/* Sets a fault of the device or of one of its joints; an event reports it when it is new.  Several may be set at a
 * time; each lasts until drv_fault_clear.  A joint in fault takes the safe action, and so does its group. */
#define DRV_ALL (~0u)
void drv_fault(struct drv *drv, unsigned int joint, const char *code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void drv_fault_clear(struct drv *drv, unsigned int joint, const char *code); /* NULL: all that are wrong with it */
void drv_start_again(struct drv *drv);					     /* call start again */
void drv_homing(struct drv *drv, bool homing); /* a motion of its own, which was asked for, begins and ends */

/* A condition that only a person may end: power lost, homing aborted, halted by another program, an uncleared fault.
 * It is published in every state and outlives the process.  While one is set the lifecycle is fault, no reference is
 * followed, and the driver resets nothing by itself; it is ready all the same.  A homing may end position-unknown and
 * homing-aborted, and runs while they are set.  code and text as in drv_fault. */
void drv_latch(struct drv *drv, uint32_t latches, const char *code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The device has confirmed what a person asked for.  They end with the next state published, not before. */
void drv_unlatch(struct drv *drv, uint32_t latches);
uint32_t drv_latched(const struct drv *drv); /* set of enum msg_latch */
/* The last state of the process that drove this device before, of the driver's own type; NULL: there was none in this
 * boot, or it cannot be read, and then all latches are set.  For what carries over a restart: a bias, a homed joint. */
const void *drv_previous(const struct drv *drv);

/* Reports an event.  The same code goes out once a second at most, and is counted.  Not for every tick. */
void drv_event(struct drv *drv, enum msg_severity severity, const char *code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Why a request is refused, in words, before returning -errno; and the value it asked for. */
void drv_why(struct drv *drv, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same; has the value of status: return drv_refuse(drv, -EINVAL, "..."); */
#define drv_refuse(drv, status, ...) (drv_why(drv, __VA_ARGS__), (status))
/* Answers a request that returned DRV_LATER.  A second answer to the same request is ignored. */
void drv_reply(struct drv *drv, uint32_t handle, int result, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The newest message of an input, if one was put since the last call, into size bytes.  Returns its length, whatever it
 * is: it has not been checked; 0: none. */
size_t drv_newest(struct drv *drv, unsigned int input, void *msg, size_t size);
/* Header, flags and publication time are filled in, and the common block of a state. */
void drv_put(struct drv *drv, unsigned int output, void *msg, int64_t now_ns);
