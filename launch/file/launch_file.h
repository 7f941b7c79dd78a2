/* launch_file.h: the launch file, and with it the robot file: which processes make up a running robot (launch(5)).
 *
 *	include: ../config/robots/waist.yaml
 *	daemons:
 *	  canwire: {priority: 60}
 *	  robotsim:
 *	  clock: {priority: 55}
 *	  waist: {priority: 50, critical: hold}
 *
 *	struct launch launch;
 *
 *	if (launch_open(&launch, "launch/waist.launch", &errors) || launch_group(&launch, line.group, &errors))
 *		return 100;	(every error is a line in errors)
 *	for (i = 0; i < launch.daemons_n; i++)
 *		if (launch.daemons[i].wanted)
 *			...launch.daemons[i].argv...
 *	launch_close(&launch);
 *
 * It only reads files; check.h looks at programs, interfaces and frames.
 *
 * Offered to other folders:
 *	policy_rules.h
 */
#pragma once

#include <sys/types.h>

#include "channels/clock/vt_budget.h"
#include "channels/msg/msg.h"
#include "config/settings/robot.h"
#include "config/settings/yaml.h"
#include "launch/file/policy_rules.h"

#define LAUNCH_DAEMONS_MAX 60 /* one clock_wait has room for a descriptor of each, and four more */
#define LAUNCH_BUSES_MAX 16   /* of one daemon: what one canwire serves */
#define LAUNCH_PATH_MAX 512
#define LAUNCH_NO_GROUP ((gid_t)-1)
#define LAUNCH_GROUP_ALL "full" /* the group that every launch file has: all its daemons */

enum launch_kind {
	LAUNCH_DRIVER,	 /* a device of the robot file */
	LAUNCH_CANWIRE,	 /* serves soft wires */
	LAUNCH_ROBOTSIM, /* plays the devices */
	LAUNCH_BLACKBOX, /* records buses and channels */
	LAUNCH_PROGRAM,	 /* anything else */
};

/* How a daemon shows that it is alive, beside having a process. */
enum launch_alive {
	LAUNCH_ALIVE_STATE,    /* it publishes on the channel `channel` */
	LAUNCH_ALIVE_WATCHDOG, /* it sends WATCHDOG=1 */
	LAUNCH_ALIVE_PROCESS,  /* nothing: it is ready as soon as it runs, and never too old */
};

struct launch_daemon {
	const char *name; /* in achctl, logs and $RUN */
	enum launch_kind kind;
	const struct robot_device *device; /* of a driver; else NULL */
	bool clock;			   /* it is the robot's clock */
	bool world;			   /* it plays what is outside of the robot's computer */
	bool spare;			   /* a second process waits to take over */
	bool keep;			   /* its state and events outlive the robot */
	bool wanted;			   /* in the chosen group, or needed by a daemon in it */

	/* argv[0] is the program as the file names it: a name, to be found by launch_find, or a path, already
	 * relative to the working directory.  Ends with NULL. */
	char **argv;
	char **environment; /* KEY=VALUE, to be set beside what achstart has; the robot's first; ends with NULL */

	/* The daemons that it needs, also by default, as places in launch.daemons, all smaller than its own. */
	const size_t *needs;
	size_t needs_n;

	/* The buses that it drives or serves (canwire); the simulator and other programs have none. */
	const struct robot_bus *buses[LAUNCH_BUSES_MAX];
	size_t buses_n;

	int64_t priority; /* of SCHED_FIFO, set before exec; 0: the ordinary scheduler */
	int64_t core;	  /* -1: any */
	int64_t listen;	  /* port whose sockets achstart keeps for it; 0: none */
	struct policy_rules rules;
	enum msg_level critical; /* level to raise on POLICY_DO_RAISE; MSG_LEVEL_RUN: not critical */
	enum launch_alive alive;
	const char *channel;   /* of LAUNCH_ALIVE_STATE, without prefix: "waist-state", "clock"; else NULL */
	int64_t dead_after_ns; /* publication, or watchdog, older than this: POLICY_SILENT */
	bool dead_after_given; /* by the launch file; else the ticks in the driver's state may extend it */
	int64_t tick_ns;       /* of a driver; 0: the robot file does not give it */

	/* Limits of computing that is charged on a virtual clock (vt_budget.h). */
	int64_t period_ns, budget_ns; /* 0: none */
	enum vt_over over;
	int64_t weight; /* 0: none */

	char *bounds; /* ENDPLATE_BOUNDS=..., from check_frames_bounds; NULL: none */

	const struct yaml_node *node; /* for error lines about it */

	/* private: keys of the file, for the steps of launch_open */
	struct launch_raw {
		char device[TEXT_NAME_MAX + 1];
		char program[LAUNCH_PATH_MAX / 2], object[LAUNCH_PATH_MAX / 2];
		const struct yaml_node *args, *bus, *needs, *restart, *environment;
		uint64_t needed;		     /* bit per daemon, in the order of the file */
		size_t place;			     /* in the order of the file */
		const char *roles[LAUNCH_BUSES_MAX]; /* of the buses that the launch file gives it */
	} raw;
};

#define LAUNCH_DEAD_TICKS 20 /* without a publication, unless the launch file gives a time */

struct launch_group {
	const char *name;
	const struct yaml_node *node; /* list of names */
};

#define LAUNCH_CHANNEL_MAX 64

/* A channel of a driver beside NAME-state, -ref, -req, -rep and -event. */
struct launch_channel {
	char name[LAUNCH_CHANNEL_MAX]; /* without prefix */
	const struct launch_daemon *daemon;
	bool reads; /* references for it */
};

struct launch {
	char name[TEXT_NAME_MAX + 1]; /* of the robot: --robot, $RUN */
	const char *path;	      /* of the launch file, as given or found */
	const char *config;	      /* of the robot file, absolute: --config */
	const char *folder;	      /* that the launch file is in, as seen from here: "launch", "." */
	struct robot robot;
	int arm;		 /* enum launch_arm */
	int64_t unsupervised_ns; /* how long daemons run on without an achstart until they hold; 0: for ever */
	bool links;		 /* bring up, reset and restart SocketCAN links */
	int overload;		 /* enum launch_overload */
	const char *clock;	 /* name of the daemon that is the clock; NULL: there is none */
	const char *group;	 /* that was asked for */

	/* Groups of the system with rights beside the robot's user and root (rights.h), from launch_rights on;
	 * LAUNCH_NO_GROUP: none. */
	gid_t operators, arming, moving;

	/* In order of start: each after all it needs, and otherwise as in the file.  Stop in reverse. */
	struct launch_daemon *daemons;
	size_t daemons_n;
	const struct launch_channel *channels; /* of its drivers, if they were asked (check_robot); NULL: not known */
	size_t channels_n;
	struct launch_group *groups; /* those of the file: without "full" */
	size_t groups_n;

	struct yaml *doc; /* holds all of the above */

	/* private: keys of the file, for the steps of launch_open */
	struct {
		char robot[TEXT_NAME_MAX + 1], clock[TEXT_NAME_MAX + 1];
		char include[LAUNCH_PATH_MAX / 2];
		char operators[33], arming[33], moving[33];
		bool clock_given; /* also under a misspelt key */
		const struct yaml_node *groups, *daemons, *environment;
	} raw;
};

enum launch_arm { LAUNCH_ARM_NO, LAUNCH_ARM_AUTO };
enum launch_overload { LAUNCH_OVERLOAD_REFUSE, LAUNCH_OVERLOAD_REPORT };

/* Reads the launch file (file: as for launch_path) and the robot file it includes.  All daemons are wanted.  0; or
 * -errno with a line for each error, and nothing to close. */
int launch_open(struct launch *launch, const char *file, struct error_sink *errors);
void launch_close(struct launch *launch);

/* Looks up the groups that operators, arming and moving name.  0, or -EINVAL with a line for each that this system does
 * not have.  May ask the network, where groups come from there. */
int launch_rights(struct launch *launch, struct error_sink *errors);

/* Makes the daemons of that group, what they need, the clock and what it needs wanted.  NULL: all.  0, or
 * -EINVAL with a line in errors ("--group: x.launch has no group ...") and nothing changed. */
int launch_group(struct launch *launch, const char *group, struct error_sink *errors);

/* A sink whose lines begin with the place of a node of the launch file: "x.launch:5: waist: ...".  The errors that an
 * included file or a driver finds go through it. */
struct launch_place {
	const struct yaml_node *node;
	struct error_sink *errors;
};
struct error_sink launch_sink(struct launch_place *place);

/* By name, or NULL. */
struct launch_daemon *launch_daemon(const struct launch *launch, const char *name);
/* The wanted daemon that serves a soft wire, or NULL. */
const struct launch_daemon *launch_server(const struct launch *launch, const struct robot_bus *bus);
bool launch_has_bus(const struct launch_daemon *daemon, const struct robot_bus *bus);
/* Does a wanted daemon use or serve the bus? */
bool launch_uses(const struct launch *launch, const struct robot_bus *bus);

/* The name behind "wire:"; NULL: it is not a soft wire. */
const char *launch_bus_wire(const struct robot_bus *bus);

/* The references that a wanted refmuxd(1) reads, OUTPUT.SOURCE-ref, and writes, OUTPUT-ref.  false: the daemon is not
 * one, or has no valid setting output, which its own check reports. */
struct launch_mux {
	const char *output;
	char sources[MSG_SOURCES + 1][TEXT_NAME_MAX + 1];
	size_t n;
};
bool launch_mux(const struct launch_daemon *daemon, struct launch_mux *mux);
/* Is the device the output of one of them? */
bool launch_is_muxed(const struct launch *launch, const struct robot_device *device);

/* A hash of argv, environment and port, by which a new achstart sees whether a daemon that it adopts was started from
 * the same configuration. */
uint64_t launch_hash(const struct launch_daemon *daemon);

/* The keys of the file, for its documentation and tests. */
extern const struct settings_row launch_rows[], launch_daemon_rows[], launch_restart_rows[];

#define LAUNCH_FIND_MAX 1024

/* ---- finds a launch file. */

/* The launch file that name means: a path (with a slash) as it is.  waist and waist.launch: the first of waist.launch,
 * the file waist itself, launch/waist.launch, and waist.launch where launch files are installed.  Root takes from the
 * current folder only what no other user can change.  0, or -errno with a line in errors; -ENOENT: which says where it
 * looked; -EPERM: it is there, but another user can change it. */
int launch_path(char path[LAUNCH_FIND_MAX], const char *name, struct error_sink *errors);

/* The folder of launch files, with a slash behind it, of an installed program (a link as /proc/self/exe is), by the
 * folder bin that the program is in; NULL: it is in another folder. */
const char *launch_installed(char folder[LAUNCH_FIND_MAX], const char *program);

/* The same for another process, and for tests. */
struct launch_places {
	const char *here;      /* before names in its current folder: "", "/proc/1/cwd/" */
	const char *installed; /* launch_installed */
	bool careful;	       /* it is root's */
};
int launch_path_in(char path[LAUNCH_FIND_MAX], const char *name, const struct launch_places *places,
		   struct error_sink *errors);

/* ---- finds the file of a program. */

/* The file that program names: a path (with a slash) as it is; a name beside the running executable (/proc/self/exe)
 * first, so that a build starts what was built with it, then in $PATH.  0, -ENOENT, -EACCES (it may not be executed),
 * -ENAMETOOLONG. */
int launch_find(char path[LAUNCH_FIND_MAX], const char *program);

/* The same with both given, for tests: beside is a folder or NULL, search as $PATH or NULL. */
int launch_find_in(char path[LAUNCH_FIND_MAX], const char *program, const char *beside, const char *search);

/* Does the file carry the mark of a driver, "@(#)endplate" and "-driver" in one word?  Every program with drv_main() in
 * it does; a script has it in a comment.  So a program that is named as a driver by mistake need not be run to find
 * out.  Also true if the file cannot be read: starting it fails, or it is for execution only. */
bool launch_is_driver(const char *path);

/* Can it wait as a spare (daemons/drv/standby.h)? */
bool launch_stands_by(const char *path);

/* Does it keep to a virtual clock (vt_clock.h)?  It contains clock.c, or is linked with libendplate. */
bool launch_keeps_clock(const char *path);
