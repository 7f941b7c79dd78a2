/* sim.h: the devices of a robot file, played on their buses.
 *
 *	struct sim sim = { 0 };
 *
 *	sim_load(&sim, &robot, &errors);	units, each with a name such as waist.15
 *	sim_open(&sim, set, &errors);		their buses
 *	for (;;) {
 *		n = clock_set_wait(set, tags, CLOCK_TAGS_MAX, sim_next_ns(&sim));
 *		while (n > 0)
 *			sim_ready(&sim, tags[--n]);
 *		sim_turn(&sim, clock_now_ns());
 *	}
 *
 * A unit has a controller of its own on a bus: one module, one sensor.  Its kind is a file that was written from the
 * device's page and shares nothing with the driver, so that the two can disagree.  Only the table of settings is the
 * driver's own: both refuse the same values, with the same words, and have the same defaults.
 * One more kind of device is one more struct sim_kind in this folder, or in a shared object (SIM_OBJECT).
 *
 *	sim.c		kinds, units, names
 *	sim_object.c	kinds in shared objects
 *	sim_bus.c	units on their buses
 *	sim_body.c	the body of the robot, and the units that are coupled with it
 *	sim_keep.c	where the body is, for the robotsim that follows
 *	sim_control.c	RUN/robotsim: faults, pushes, reports, on command
 *	sim_base.c	what most kinds of units have in common
 *	sim_queue.c	frames that wait for their time
 *	sim_run.c	robotsim run
 *	sim_cli.c	robotsim fault, push, set, report
 */
#pragma once

#include "can/bus/bus.h"
#include "channels/port/port.h"
#include "channels/port/rpc.h"
#include "config/base/object.h"
#include "config/settings/robot.h"
#include "daemons/robotsim/krang.h"

#define SIM_UNITS_MAX 96
#define SIM_FILTERS_MAX 4
#define SIM_EARS_MAX 4
#define SIM_TAGS_MAX (SIM_UNITS_MAX + SIM_EARS_MAX)
#define SIM_ANSWER_MAX 65536
#define SIM_SOCKET "robotsim"	     /* in RUN */
#define SIM_STARTS "robotsim.starts" /* in RUN: how often it was started since it last ended as asked */
#define SIM_KEEP "robotsim.body"     /* in RUN: where the body is */
#define SIM_BODY "body"		     /* its name in commands */
#define SIM_BODY_STEP_NS 500000
#define SIM_PENDING_MAX 256

struct sim;

/* A fault that is a flag of the unit's state: a bool, or bits of a uint16_t if there is a mask. */
struct sim_fault {
	const char *word;
	size_t offset;
	uint16_t mask;
};
#define SIM_FAULT_BITS(word, type, member, mask)   \
	{                                          \
		word, offsetof(type, member), mask \
	}
#define SIM_FAULT(word, type, member) SIM_FAULT_BITS(word, type, member, 0)

struct sim_kind {
	const char *driver;		     /* of the devices that are of this kind */
	const struct settings_row *settings; /* of settings: in the robot file, as the driver has them */
	size_t settings_size;		     /* of the struct that they fill */
	bool no_ref;			     /* the driver takes no references */
	bool bus_optional;		     /* without a bus there is nothing to play */
	const struct settings_row *rows;     /* of sim: in the robot file, at the beginning of the unit's state */

	/* Adds a unit (sim_add) for each part of the device that has a controller; settings are those above, read.
	 * 0, or -EINVAL with lines in errors. */
	int (*load)(struct sim *sim, const struct robot_device *device, const void *settings,
		    struct error_sink *errors);

	/* The rest gets the unit's state.  Nothing here blocks, prints or allocates. */
	void (*start)(void *state, int64_t t_ns); /* may be NULL */
	/* For units with a common ear: is the frame for this one?  NULL: each is */
	bool (*hears)(const void *state, const struct frame *frame);
	void (*frame)(void *state, const struct frame *frame, int64_t t_ns);
	int64_t (*next_ns)(const void *state);				/* when it has something to send; CLOCK_NEVER */
	bool (*send)(void *state, int64_t now_ns, struct frame *frame); /* the next that is due */
	void (*advance)(void *state, int64_t t_ns); /* nothing will come from before t_ns; may be NULL */
	bool (*has_power)(const void *state);	    /* does its controller acknowledge?  NULL: always */

	/* On command (sim_fault), after all that was due before it: the table, then the words power-off and
	 * power-on, then the function, which returns 0; -EINVAL, and what is wrong in answer; or -ENOENT: no such
	 * fault.  Each may be NULL. */
	const struct sim_fault *faults;		    /* end with a word NULL */
	void (*faulted)(void *state, int64_t t_ns); /* one of that table has begun or ended */
	void (*power)(void *state, bool on, int64_t t_ns);
	void (*boot)(void *state, int64_t t_ns); /* instead, of a state that begins with a struct sim_base: on again */
	int (*fault)(void *state, const char *word, bool clear, int64_t t_ns, struct rpc_text *answer);
	void (*push)(void *state, double torque_nm, int64_t duration_ns, int64_t t_ns); /* or NULL */
	/* Which of rows may be changed while it runs: all but fixed, or only live; each ends with NULL, or is NULL. */
	const char *const *fixed, *const *live;
	void (*report)(void *state, struct rpc_text *answer); /* " key value key value", advanced to now */

	/* For a body (body.h); NULL where there is none. */
	struct sim_shaft *(*shaft)(void *state, unsigned int n); /* the n-th of this unit; NULL: there are n */
	struct sim_motion *(*motion)(void *state);
	void (*place)(void *state, double rad); /* its shaft, which it moves itself, once it has started; may be NULL */
};

/* Devices of that driver, with its settings. */
#define SIM_DRIVER(name) \
	.driver = #name, .settings = name##_settings_rows, .settings_size = sizeof(struct name##_settings)

/* Version of the interface between kinds in shared objects and robotsim.  Add 1 when a struct or function that they use
 * changes: test/abi/test_drv_abi.sh finds such a change. */
#define SIM_ABI 1
/* In the file of the kind, which is then linked as DRIVER-sim.so: robotsim(1) finds it by the driver of the device. */
#define SIM_ABI_MARK "@(#)endplate-sim-object "
#define SIM_OBJECT(kind)                                               \
	extern const char sim_abi[];                                   \
	extern const struct sim_kind *const sim_object;                \
	const char sim_abi[] = OBJECT_ABI(SIM_ABI_MARK, SIM_ABI) "\n"; \
	const struct sim_kind *const sim_object = &(kind)

/* An attachment to a bus. */
struct sim_line {
	struct bus *bus;
	uint32_t tag; /* in the set */
	bool ready;   /* frames have come */
};

/* Boards that hear the same identifiers on one bus, and of which few frames are for each, receive through one
 * attachment: then a frame wakes robotsim once, not once for each of them.  Each still sends, and acknowledges, as a
 * controller of its own. */
struct sim_ear {
	const struct robot_device *device;
	const struct robot_bus *on;
	struct sim_line line; /* its bus is NULL: none of its units is on the bus */
	char bus_name[ROBOT_INTERFACE_MAX + TEXT_NAME_MAX + 2];
	struct bus_filter filters[SIM_FILTERS_MAX];
	size_t filters_n;
};

struct sim_unit {
	const struct robot_device *device;
	char name[TEXT_NAME_MAX + 1]; /* of the device, and which of its parts: waist.15 */
	const struct sim_kind *kind;
	void *state;
	const struct robot_bus *on;
	struct bus_filter filters[SIM_FILTERS_MAX]; /* what it listens to */
	size_t filters_n;
	struct sim_ear *ear; /* NULL: it hears by itself */
	uint32_t sends;	     /* identifier */

	/* by sim_bus.c */
	char bus_name[ROBOT_INTERFACE_MAX + TEXT_NAME_MAX + 2];
	struct sim_line line; /* its bus is NULL: it has no power, or its cable is cut */
	bool cut;
	struct frame held; /* that the bus has not taken yet */
	bool holds;
	int64_t retry_ns;
	uint64_t dropped; /* frames that never got to the bus */
};

/* Where the body is. */
struct sim_place {
	int64_t t_ns;
	double travel_m, heading_rad, waist_rad;
	uint32_t falls;
	bool fallen;
};

struct sim_keep;

struct sim_body {
	bool is_there;
	struct sim_keep *keep; /* NULL: none */
	struct krang krang;
	struct sim_unit *units[SIM_UNITS_MAX]; /* coupled */
	size_t units_n;
	const struct sim_unit *waist_unit;
	struct sim_shaft *wheels[2], *waist; /* left, right; NULL: none */
	struct sim_motion *motion;
	int64_t t_ns;		       /* of its grid: everything up to here has happened */
	double waist_rad, waist_rad_s; /* then */
	double push_n;
	int64_t push_until_ns;
	double disturbance; /* of the random push, of its rms */
	uint64_t random;
	struct krang_input input; /* of the last step */
	struct port *port;	  /* the channel body, every ms; NULL: none */
	unsigned int starts;	  /* as it publishes them */
};

struct sim {
	struct sim_unit units[SIM_UNITS_MAX];
	size_t units_n;
	struct sim_ear ears[SIM_EARS_MAX];
	size_t ears_n;
	struct sim_body body;
	unsigned int starts;

	/* by sim_bus.c */
	struct clock_set *set;
	/* frames that have come, in the order of their times */
	struct {
		struct sim_unit *unit;
		int64_t t_ns;
		struct frame frame;
	} pending[SIM_PENDING_MAX];
	size_t pending_n;
};

/* ---- sim.c ---- */

extern const struct sim_kind *const sim_kinds[]; /* every one of this folder, as make finds them; end with NULL */

/* That loads the device: of this folder, or of an object that was loaded; or NULL. */
const struct sim_kind *sim_kind(const struct robot_device *device);
/* The bus with that role or name among those of the struct robot_device; -ENOENT. */
int sim_find_bus(const void *device, const char *name);

/* Every device of the robot whose driver there is a kind for.  0, or -EINVAL with lines in errors. */
int sim_load(struct sim *sim, const struct robot *robot, struct error_sink *errors);
/* A line for each device with a bus that there is no kind for. */
void sim_missing(const struct robot *robot, struct error_sink *errors);
void sim_unload(struct sim *sim);
/* One more unit, called DEVICE.PART; size bytes of zeros are its state.  NULL: a line is in errors. */
struct sim_unit *sim_add(struct sim *sim, const struct robot_device *device, const char *part, size_t size,
			 struct error_sink *errors);
/* The unit hears through an ear that it has in common with the others of its device on its bus, with the same filters.
 * 0, or -EINVAL with a line in errors. */
int sim_share_ear(struct sim *sim, struct sim_unit *unit, struct error_sink *errors);
/* For a device with one controller: reads rows into state, and adds it as DEVICE.NODE on its first bus. */
struct sim_node {
	void *state;
	size_t size;
	unsigned int node;
	uint32_t hears, sends; /* identifiers */
};
int sim_add_node(struct sim *sim, const struct robot_device *device, const struct sim_node *node,
		 struct error_sink *errors);
struct sim_unit *sim_find(struct sim *sim, const char *name, struct rpc_text *answer); /* or NULL and why not */

/* ---- sim_object.c ---- */

/* Loads the kind of the device from DRIVER-sim.so: beside the robot file, beside this program, or in lib/endplate.
 * 0, or -ENOENT: there is no such file; -EINVAL: it was refused, with a line in errors. */
int sim_object_load(const struct robot_device *device, struct error_sink *errors);
const struct sim_kind *sim_object_kind(const char *driver);			       /* of those loaded, or NULL */
void sim_object_missing(const struct robot_device *device, struct error_sink *errors); /* where it is not */

/* ---- sim_bus.c ---- */

/* A bus that is absent is attached to when it appears.  Their tags in the set are below SIM_TAGS_MAX. */
int sim_open(struct sim *sim, struct clock_set *set, struct error_sink *errors);
void sim_close(struct sim *sim);
int64_t sim_next_ns(const struct sim *sim);
void sim_ready(struct sim *sim, uint32_t tag);				      /* that the set has returned */
void sim_turn(struct sim *sim, int64_t now_ns);				      /* what has come, and what is due */
void sim_beat(struct sim *sim, int64_t now_ns);				      /* a few times a second */
bool sim_is_attached(const struct sim *sim, const struct sim_unit **missing); /* everywhere it has power */
void sim_connect(struct sim *sim, struct sim_unit *unit);		      /* as its power and its cable are now */

/* ---- sim_keep.c ---- */

/* Maps RUN/robotsim.body; without it every start is as the robot file says. */
void sim_keep_open(struct sim *sim, int folder);
void sim_keep_close(struct sim *sim, int folder); /* it ends as asked: the next one begins as the robot file says */
bool sim_keep_read(const struct sim_keep *keep, int64_t now_ns, struct sim_place *place); /* is there a recent one? */
void sim_keep_write(struct sim_keep *keep, const struct sim_place *place);

/* ---- sim_body.c ---- */

int sim_body_load(struct sim *sim, const struct robot *robot, struct error_sink *errors);
void sim_start(struct sim *sim, int64_t t_ns);	      /* the units and the body */
void sim_body_advance(struct sim *sim, int64_t t_ns); /* and the units that are coupled with it */
void sim_body_push(struct sim *sim, double force_n, int64_t duration_ns);
bool sim_body_live(const char *key); /* may this setting be changed while it runs? */
void sim_body_changed(struct sim *sim, const char *key);
/* From now on it publishes how it moves, on the channel body. */
int sim_body_publish(struct sim *sim, struct port *port, struct error_sink *errors);
void sim_body_report(const struct sim *sim, struct rpc_text *answer);

/* ---- sim_control.c ---- */

/* Says why a command is refused; has the value -EINVAL. */
#define sim_refuse(answer, ...) (rpc_say(answer, "error " __VA_ARGS__), -EINVAL)

struct sim_control {
	int folder;
	struct locked_socket place;
	struct rpc_server server;
};
#define SIM_CONTROL_FDS 5

int sim_control_open(struct sim_control *control, struct sim *sim, struct error_sink *errors);
/* About once a second: a socket that was removed, with its folder or without, is made again. */
void sim_control_reopen(struct sim_control *control);
void sim_control_close(struct sim_control *control);
/* Sets a fault of the unit, or ends it.  0, or -EINVAL and what is wrong in answer.  For tests. */
int sim_fault(struct sim_unit *unit, const char *word, bool clear, int64_t now_ns, struct rpc_text *answer);
/* The answer to a line of words: "ok" and what there is to say, or "error" and why not.  For tests. */
void sim_control_answer(struct sim *sim, char *question, struct rpc_text *answer, int64_t now_ns);

/* ---- commands ---- */

int sim_run(int argc, char **argv);
int sim_cli(int argc, char **argv); /* fault, push, set, report */
