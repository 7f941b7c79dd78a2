/* drv_inside.h: the state of the loop, shared by its files. */
#pragma once

#include "channels/clock/clock.h"
#include "channels/estop/estop.h"
#include "channels/port/notify.h"
#include "channels/port/report.h"
#include "daemons/drv/claim.h"
#include "daemons/drv/drv_bus.h"
#include "daemons/drv/drv_life.h"
#include "daemons/drv/drv_previous.h"
#include "daemons/drv/drv_request.h"
#include "daemons/drv/drv_skips.h"

/* All that the buses have room for.  An eight-bus Krang in one process sends 8 x 156 kinds. */
#define DRV_SENDS_MAX (MSG_BUSES * SLOTS_ROWS_MAX)
#define DRV_RECEIVES_MAX (MSG_BUSES * (DRV_BUS_RECEIVES_MAX + 1))
#define DRV_OUTPUTS_MAX 24 /* a Hubo: 4 force/torque, 2 tilt, 3 IMUs, power, clock, 2 buses, 8 limbs, parameters */
#define DRV_INPUTS_MAX 12  /* as many as a refmuxd has sources; what a Hubo measures, for hubo-legacyd */
#define DRV_PARTS_MAX MSG_SOURCES
#define DRV_CLAIMS_MAX 16 /* 8 buses, and as many more; launch/check/check_frames.h counts on it */
#define DRV_FAULTS_MAX 64
#define DRV_FROZEN_NS 50000000 /* no tick, or a paused wire, for this long makes earlier commands void */

/* Reasons to wake the loop before its next deadline. */
enum drv_wake {
	DRV_WAKE_STOP,	  /* it is asked to end */
	DRV_WAKE_REF,	  /* a reference, for ticks on references */
	DRV_WAKE_REMOVAL, /* a channel of the e-stop was removed, perhaps */
	DRV_WAKE_BUS,	  /* a frame on the first bus; those of the others follow */
};

/* What is owed of the state of this tick.  A later one replaces an earlier one. */
enum drv_owed {
	DRV_OWED_NOTHING, /* it was made */
	DRV_OWED_IN_TICK, /* the next tick makes it, partial; of a stream only what changed, or a heartbeat */
	DRV_OWED_LEVEL,	  /* the level changed between two ticks: this turn makes it, partial */
	DRV_OWED_SAMPLE,  /* the sample is complete: this turn makes it */
};

struct drv {
	struct setup setup;
	const struct drv_driver *driver;
	void *self;
	uint32_t incarnation;

	/* declared */
	struct drv_bus *buses; /* of the buses there are: each takes 200 kB, and all is locked */
	unsigned int buses_n;
	struct {
		unsigned int bus, row;
	} sends[DRV_SENDS_MAX];
	unsigned int sends_n;
	struct {
		unsigned int bus;
		int row; /* on the bus; -1: everything else */
	} receives[DRV_RECEIVES_MAX];
	unsigned int receives_n;
	char joints[MSG_JOINTS][MSG_NAME_SIZE];
	unsigned int joints_n;
	struct drv_channel {
		char channel[PORT_NAME_MAX];
		enum msg_number type;
	} outputs[DRV_OUTPUTS_MAX], inputs[DRV_INPUTS_MAX];
	unsigned int outputs_n, inputs_n;
	struct drv_parts *parts; /* NULL: it has none */
	struct {
		unsigned int bus; /* DRV_CHANNEL: what is a channel */
		char what[PORT_NAME_MAX];
	} claims[DRV_CLAIMS_MAX];
	unsigned int claims_n;

	struct drv_ask asks; /* questions and their requests: drv_question.c */

	struct claim_set claimed;
	int64_t claims_look_ns; /* when their files are looked at next */
	int signals;
	struct drv_seat *seat; /* NULL: it is alone in its process */
	struct clock_set *set; /* all that the loop waits for, by enum drv_wake */
	uint32_t woken;	       /* the bits of the reasons for this turn */
	struct port ref_wake;  /* another handle of the channel of references, for the set; open: it is in the set */

	/* channels */
	struct port state_port, ref_port, req_port, rep_port, clock_port;
	struct port output_ports[DRV_OUTPUTS_MAX], input_ports[DRV_INPUTS_MAX];
	struct port info_port;
	struct msg_device_info info;
	int64_t info_ns; /* when it is put next */
	struct report report;
	struct notify notify;

	/* time */
	struct drv_tick tick;
	struct drv_skips skips;
	bool skips_shown; /* in the status, while it is not ready */
	struct hist late;
	int64_t late_ns, late_p99_ns, late_p99_at_ns;
	int64_t now_ns;		  /* the time of this turn */
	int64_t tick_now_ns;	  /* and when the last one with a tick did; 0: none has */
	int64_t tick_kept_ns;	  /* by which the ticks so far were late */
	int64_t wake_ns;	  /* of drv_wake_at; CLOCK_NEVER: none */
	uint64_t ticks;		  /* that the state belongs to */
	struct frame clock_frame; /* of the first bus that has one */
	int64_t clock_frame_ns;	  /* when it last was on the wire; 0: never */
	uint64_t clock_cycle;
	int64_t clock_cycle_ns, clock_period_ns;

	/* pauses: drv_pause.c */
	int64_t turn_ns;      /* when the last turn began, or its last pause ended; 0: there was none yet */
	int64_t due_ns;	      /* when the next one should begin */
	struct pauses pauses; /* of this process */
	struct {
		unsigned int n; /* long ones, since the last report */
		int64_t longest_ns, until_ns;
		const struct drv_bus *bus;    /* whose the longest was; NULL: this process's */
		int64_t next_ns, reported_ns; /* before next_ns only a longer one than that is reported */
		bool under_way;		      /* one of a wire: it is reported when it is over */
	} paused;

	/* life */
	enum msg_life life;
	bool up, ready, homing, stopping, over;
	int64_t stop_by_ns;
	struct {
		unsigned int joint; /* DRV_ALL: the device */
		char code[MSG_NAME_SIZE];
	} faults[DRV_FAULTS_MAX];
	unsigned int faults_n;
	bool faults_full;
	unsigned int joint_groups[MSG_JOINTS];
	unsigned int joint_buses[MSG_JOINTS]; /* from 1; 0: none was said */
	bool joint_absent[MSG_JOINTS];
	bool joint_faulty[MSG_JOINTS]; /* by itself, or with its group */
	enum msg_life joint_life[MSG_JOINTS];
	const char *bus_how;		      /* a bus is dead; NULL: none is */
	const struct drv_bus *bus_dead;	      /* that one */
	const struct drv_bus_receive *silent; /* a row that should be heard, and is not; NULL: none */
	int64_t since_ns;		      /* the first tick, from which silence counts */
	struct estop estop;
	bool stood_by;		/* it was opened by a spare, before it was needed */
	bool opened;		/* so was the driver itself (opens_early) */
	int64_t estop_ns;	/* when it was last looked at */
	struct removal removal; /* of its channels */
	uint64_t estop_invalid; /* invalid messages reported */

	/* latches: drv_latch.c */
	struct drv_previous previous;
	uint32_t latches, unlatching; /* unlatching: they end with the next state that is published */
	bool latched_here;	      /* by this process, which knows its device: it counts as ready */
	char latch_code[MSG_NAME_SIZE];

	/* references */
	struct drv_ref_limits limits[MSG_JOINTS];
	struct drv_ref_joint ramps[MSG_JOINTS];
	struct drv_ref_track tracks[MSG_JOINTS];
	double gains_1_s[MSG_JOINTS];
	bool frozen[MSG_JOINTS]; /* the driver or a bus stood still, and the joint is not known to stand since */
	int64_t frozen_ns;	 /* when that was found last */
	bool halted[MSG_JOINTS]; /* commanded to stop: its next ramp begins at rest */
	const char *stale;	 /* a joint whose sample is too old for the reference there is; NULL: none */
	bool stale_reported;
	struct drv_ref_command commands[MSG_JOINTS];
	struct ref_layout ref_layout;
	bool ref_there;
	union drv_message refs[2]; /* the last accepted one, and room for the next */
	unsigned int ref;

	/* requests */
	struct drv_request requests;
	bool asked; /* some wait to be read */
	char why[MSG_TEXT_SIZE];

	/* motion frames that did not leave */
	uint64_t withheld;
	uint32_t withheld_id;
	bool withheld_now, withheld_reported; /* since something last might move */

	/* publication: drv_publish.c */
	enum drv_owed owed;
	bool unput;		 /* the state is made and not yet put */
	union drv_message state; /* put from here: a copy would cost more than all else that a publication does */
	struct msg_reply replies[DRV_REQUEST_KEPT];
	unsigned int replies_n;
	union drv_message scratch;
};

/* drv_declare.c and drv_open.c.  0, or the exit status with lines in errors. */
int drv_declare(struct drv *drv, struct error_sink *errors); /* no I/O */
bool drv_stand_by(struct drv *drv); /* as a spare, until it is needed; false: it is not (standby.h) */
int drv_open(struct drv *drv, struct error_sink *errors);
void drv_close(struct drv *drv);

/* drv_cycle.c */
void drv_cycle_receive(struct drv *drv, struct drv_bus *bus, int64_t now_ns); /* all frames that have arrived */
void drv_cycle_tick(struct drv *drv, int64_t now_ns);			      /* the e-stop has been read */
void drv_cycle_end(struct drv *drv, int64_t now_ns); /* of a cycle with a tick: work that can wait until all is sent */

/* drv_pause.c */
void drv_pause_notice(struct drv *drv, int64_t now_ns); /* before anything is judged by the time of this turn */
void drv_pause_within(struct drv *drv, int64_t now_ns); /* the same, of a later time than that of the turn */
void drv_pause_report(struct drv *drv, int64_t now_ns);

/* drv_publish.c */
/* The state of tick 0, so that others see at once that the driver is back.  It is put just before the loop runs, since
 * from then on states are expected.  Not for the clock, where each message is a cycle. */
void drv_publish_first(struct drv *drv);
void drv_publish_tick(struct drv *drv, int64_t now_ns);	   /* a tick begins: makes what the one before still owes */
void drv_publish_owe(struct drv *drv, enum drv_owed owed); /* unless the state of this tick was made */
void drv_publish_turn(struct drv *drv, int64_t now_ns);	   /* the frames are handed over: makes and puts what is owed */
/* What every state has. */
void drv_fill_common(struct drv *drv, struct msg_common *common, int64_t now_ns);
uint32_t drv_flags(const struct drv *drv, bool partial, int64_t now_ns);

/* drv_info.c: NAME-info, and of each part NAME-PART-info. */
void drv_info_begin(struct drv *drv);
void drv_info_put(struct drv *drv, int64_t now_ns); /* if it is time for that */

/* drv_read.c */
bool drv_read_estop(struct drv *drv, int64_t now_ns); /* level or lowering obeyed changed */
void drv_read_requests(struct drv *drv, int64_t now_ns);
void drv_expire_requests(struct drv *drv, int64_t now_ns); /* those whose deadline has passed */
void drv_pass_requests(struct drv *drv);		   /* those that are there before the first is read */
bool drv_read_ref(struct drv *drv, int64_t now_ns);	   /* one was taken */
void drv_read_clock(struct drv *drv, int64_t now_ns);
void drv_reopen_ports(struct drv *drv, int64_t now_ns); /* are the channels still there? */
bool drv_armed(const struct drv *drv);

/* drv_wake.c */
int drv_wake_open(struct drv *drv, struct error_sink *errors); /* 0, or the exit status */
void drv_wake_by_ref(struct drv *drv);			       /* from here on: the channel was opened */
void drv_wake_take_ref(struct drv *drv, int64_t now_ns);
void drv_wake_clear_ref(struct drv *drv); /* once everything is sent */
int drv_wake_wait(struct drv *drv);	  /* negative: -errno */
static inline bool drv_woken_by(const struct drv *drv, uint32_t reason)
{
	return drv->woken >> reason & 1;
}

/* drv_part.c */
struct drv_parts;
bool drv_parts_read(struct drv *drv, const struct ref_rules *rules, int64_t now_ns); /* one was taken */
void drv_parts_put(struct drv *drv); /* the states of the parts, of the state that was just made */
void drv_parts_close(struct drv *drv);
const struct drv_channel *drv_parts_info(const struct drv *drv, unsigned int part, struct port **port); /* or NULL */
void drv_parts_put_info(struct drv *drv);

/* drv_joints.c */
void drv_joints_command(struct drv *drv, double dt_s, int64_t now_ns); /* the command of each in this tick */
void drv_joints_freeze(struct drv *drv, int64_t now_ns);	       /* nothing that was commanded left until now */
void drv_joints_freeze_bus(struct drv *drv, const struct drv_bus *bus, int64_t now_ns); /* the same, of this bus */
const char *drv_joints_stale(struct drv *drv, int64_t now_ns); /* whose sample is too old for the reference */
void drv_joints_report(struct drv *drv);
/* Limits for each joint, and joints for all limits.  true: something is wrong, with lines in errors. */
bool drv_joints_check(const struct drv *drv, struct error_sink *errors);

/* drv_calls.c */
void drv_report_withheld(struct drv *drv);
void drv_queue_reply(struct drv *drv, struct msg_reply *reply); /* to be put once the frames are handed over */
void drv_put_replies(struct drv *drv);

/* drv_question.c */
bool drv_question_reply(struct drv *drv, unsigned int row, const struct bus_frame *got); /* it was one, late or not */
void drv_question_due(struct drv *drv, int64_t now_ns); /* after all frames that have arrived */

/* drv_fault.c */
bool drv_fault_active(const struct drv *drv, const char *code); /* of the device or of any joint */
void drv_fault_spread(struct drv *drv);				/* which joints are in fault now */
const char *drv_fault_device(const struct drv *drv);		/* its fault in words; NULL: none */

/* drv_latch.c */
void drv_latch_begin(struct drv *drv);	      /* latches of the predecessor */
bool drv_latch_blocks(const struct drv *drv); /* nothing may move but a homing that ends the latch */
void drv_latch_published(struct drv *drv);    /* without those that are unlatching */
bool drv_latch_refuses(struct drv *drv);      /* a request that moves, with drv_why */
int drv_latch_clear(struct drv *drv);	      /* the request clear, for a driver that does not know it */

/* The frames it sends and receives, as JSON on stdout. */
void drv_frames_print(const struct drv *drv);

/* Answers a request. */
void drv_answer(struct drv *drv, struct msg_reply *reply, int result, const char *error, const char *value);
