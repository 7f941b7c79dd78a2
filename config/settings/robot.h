/* robot.h: the robot file, config/robots/ROBOT.yaml: buses and devices, described once for all (robot(5)).
 *
 *	robot: bench
 *	buses:
 *	  torso: {interface: wire:torso, bitrate: 1000000}
 *	devices:
 *	  waist:
 *	    driver: pciod
 *	    bus: torso
 *	    settings: {modules: torso:15}
 *	    limits: {position: [-2.88, 0], velocity: 0.43}
 *
 *	struct robot robot;
 *
 *	if (robot_open(&robot, "config/robots/waist.yaml", &errors))
 *		return 100;	(all that is wrong is in errors, one line each)
 *	waist = robot_device(&robot, "waist");
 *	settings_read(&settings, waist->settings, &errors);
 *	robot_close(&robot);
 *
 * It knows no driver: what stands under settings and sim is handed on as it is.
 */
#pragma once

#include "config/settings/settings.h"

#define ROBOT_BUSES_MAX 64
#define ROBOT_ROLES_MAX 8 /* buses of one device, as in its state message */
#define ROBOT_INTERFACE_MAX 128

struct robot_bus {
	char name[TEXT_NAME_MAX + 1];
	char interface[ROBOT_INTERFACE_MAX]; /* can0, wire:NAME, log:FILE */
	int64_t bitrate;		     /* bit/s */
	int64_t data_bitrate;		     /* of the data of CAN FD frames; 0: a classic bus */
	double sample_point;		     /* share of the bit; 0: the controller's choice */
	int64_t restart_ms;		     /* after bus-off; 0: its owner does it */
	int64_t in_flight;		     /* frames of one driver that the interface holds at a time */
	char clock[32];			     /* frame of the clock: 080#; "" for none */
	int64_t clock_divider;		     /* cycles between two of it */
	const struct yaml_node *node;	     /* for error lines about it */
};

/* A limit that is not given is infinite, so that comparing is enough. */
struct robot_limits {
	double position[2];  /* lowest and highest, rad */
	size_t position_n;   /* always 2 */
	double velocity;     /* rad/s */
	double acceleration; /* rad/s^2 */
	double current;	     /* A */
	double current_slew; /* A/s */
	double step;	     /* rad from one reference to the next */
	double jerk;	     /* rad/s^3: for those who plan a motion */
};

struct robot_joint {
	char name[TEXT_NAME_MAX + 1];
	struct robot_limits limits;   /* those of the device where the joint has none of its own */
	const struct yaml_node *node; /* for error lines about it */
};

struct robot_role {
	const char *role; /* "" when the file names none */
	const struct robot_bus *bus;
};

struct robot_device {
	char name[TEXT_NAME_MAX + 1];
	char driver[TEXT_NAME_MAX + 1]; /* program */
	bool actuated;			/* it moves: arming waits for it */
	struct robot_role roles[ROBOT_ROLES_MAX];
	size_t roles_n;
	struct robot_limits limits; /* of every joint without its own */
	struct robot_joint *joints; /* those that have */
	size_t joints_n;
	/* As they stand in the file, or NULL. */
	const struct yaml_node *node; /* all of it */
	const struct yaml_node *bus_node, *limits_node;
	const struct yaml_node *ids; /* numbers, in lists and mappings as the driver likes */
	const struct yaml_node *settings;
	const struct yaml_node *sim;
};

/* For the simulator: what the devices move, and measure. */
struct robot_body {
	char kind[TEXT_NAME_MAX + 1];
	char names[3][TEXT_NAME_MAX + 1];		 /* of the devices below; "": none */
	const struct robot_device *wheels, *imu, *waist; /* or NULL */
	const struct yaml_node *settings;		 /* as they stand in the file, or NULL */
	const struct yaml_node *node;			 /* all of it; NULL: there is no body */
};

struct robot {
	char name[TEXT_NAME_MAX + 1];
	struct robot_bus *buses;
	size_t buses_n;
	struct robot_device *devices;
	size_t devices_n;
	const struct yaml_node *like_node, *buses_node, *devices_node;
	struct robot_body body;
	struct yaml *doc; /* holds all of the above */
};

/* 0; or -errno, everything that is wrong in errors, and nothing to close. */
int robot_open(struct robot *robot, const char *path, struct error_sink *errors);
/* The same from memory, for tests; name begins error lines. */
int robot_open_text(struct robot *robot, const char *name, const char *text, size_t len, struct error_sink *errors);
void robot_close(struct robot *robot);

/* By name, or NULL. */
const struct robot_bus *robot_bus(const struct robot *robot, const char *name);
const struct robot_device *robot_device(const struct robot *robot, const char *name);
/* The limits of a joint. */
const struct robot_limits *robot_limits(const struct robot_device *device, const char *joint);

/* robot_doubts.c: a line for each limit that is right as written but cannot be meant: degrees, as it seems. */
void robot_doubts(const struct robot_device *device, struct error_sink *warnings);

/* Stands beside the limits of a device, not of a joint. */
struct robot_joints {
	const struct yaml_node *node;
};

/* The tables behind the file, for those who document or test it. */
extern const struct settings_row robot_rows[], robot_bus_rows[], robot_device_rows[], robot_limits_rows[],
	robot_joints_rows[], robot_body_rows[];
