/* hubo_table.h: Hubo's joints, boards and sensors, from three text files in hubo-ach's columns.
 *
 *	# name  motNo refEnc drive driven harm enc dir jmc active can numMot kp kd maxPWM zeroed
 *	RHY     0     0      10    25     100  4000 1  JMC0 1     0   2      0  0  0      0
 *
 *	# Name  CAN active BoardNumber x-axis y-axis z-axis
 *	RFFT    0   1      1           1      1      1
 *
 *	# JointName HomeOffset LowerLimit UpperLimit SearchDirection SearchLimit Type
 *	RHY         -4364      -379999    250001     0               20          raw
 *
 * Words are separated by blanks, "#" begins a comment, a line has all columns.  A joint that is not in the table does
 * not exist; one that is inactive exists, but it is neither commanded nor expected to reply.  Everything that is wrong
 * is reported, a line each: "FILE:LINE: what; what to write instead".
 *
 *	struct hubo_table table;
 *
 *	if (hubo_table_read(&table, "hubo.joints", "hubo.sensors", "hubo.home", &errors))
 *		return 100;
 *
 * Offered to other folders:
 *	jmc.h
 */
#pragma once

#include "config/base/base.h"
#include "config/settings/robot.h"

#define HUBO_JOINTS 42	   /* places of upstream's arrays; 18 and 25 are unused */
#define HUBO_BUSES 2	   /* 0: legs, waist, body sensors; 1: arms, neck, hands, power */
#define HUBO_BOARDS_MAX 18 /* JMC0..JMC11 and EJMC0..EJMC5 */
#define HUBO_MOTORS_MAX 5  /* of one board */
#define HUBO_POWER_BOARD 0x0E
#define HUBO_NONE (-1)

enum hubo_limb {
	HUBO_LARM,
	HUBO_RARM,
	HUBO_LLEG,
	HUBO_RLEG,
	HUBO_LHAND,
	HUBO_RHAND,
	HUBO_NECK,
	HUBO_WAIST,
	HUBO_LIMBS,
};

/* In the order of upstream's sensor arrays, which is not that of the board numbers. */
enum hubo_sensor_index {
	HUBO_RHFT,
	HUBO_LHFT,
	HUBO_RFFT,
	HUBO_LFFT,
	HUBO_IMU0,
	HUBO_IMU1,
	HUBO_IMU2,
	HUBO_SENSORS,
};

/* Where a joint is found after a search for its limit switch.  In encoder counts, whatever the file says. */
struct hubo_home {
	unsigned int line;	/* of the home file; 0: none */
	int32_t offset;		/* from the switch (or index) to the joint's zero */
	int32_t lower, upper;	/* position limits that the board keeps */
	unsigned int direction; /* of the search: 0 clockwise, 1 counter-clockwise */
	unsigned int search;	/* motor turns after which the search fails */
};

struct hubo_joint {
	unsigned int line;			 /* of the joint table; 0: this joint does not exist */
	int motor;				 /* on its board, from 0 */
	int board;				 /* index into boards */
	double drive, driven, harmonic, encoder; /* gear wheels, harmonic drive, counts per motor turn */
	int direction;				 /* 1 or -1; applied only where upstream applies it: fingers of DRC */
	bool active, zeroed;
	double kp, kd, pwm_max; /* compliance: %/rad, %·s/rad, % */
	double counts_per_rad;
	struct hubo_home home;
};

struct hubo_board {
	int number;		    /* 0x00..0x0B, 0x20..0x25 */
	int bus;		    /* 0 or 1 */
	int motors;		    /* 1, 2, 3 or 5 */
	int joint[HUBO_MOTORS_MAX]; /* of each motor, or HUBO_NONE */
	bool active;		    /* one of its joints is */
	char name[8];		    /* JMC0, EJMC3 */
};

struct hubo_sensor {
	unsigned int line; /* of the sensor table; 0: this sensor does not exist */
	int bus;
	bool active;
	int number;  /* of the board, 1..7 */
	int sign[3]; /* of x, y, z: -1, 0 (inertial sensors) or 1 */
};

struct hubo_table {
	struct hubo_joint joints[HUBO_JOINTS];
	struct hubo_board boards[HUBO_BOARDS_MAX]; /* ordered by bus, then number */
	int boards_n;
	struct hubo_sensor sensors[HUBO_SENSORS];
};

/* ---- names ---- */

/* The name of a joint, or NULL for the two unused places. */
const char *hubo_joint_name(int joint);
/* The joint, or HUBO_NONE. */
int hubo_joint_find(const char *name);
enum hubo_limb hubo_joint_limb(int joint);
extern const char *const hubo_limb_names[HUBO_LIMBS + 1];     /* larm rarm lleg ...; ends with NULL */
extern const char *const hubo_sensor_names[HUBO_SENSORS + 1]; /* RHFT LHFT ...; ends with NULL */

/* ---- reading ---- */

/* All of the text of one file, for tests; name begins the error lines.  Joints first: the home file refers to them.  0,
 * or -EINVAL with lines in errors. */
int hubo_table_joints(struct hubo_table *table, const char *name, const char *text, struct error_sink *errors);
int hubo_table_sensors(struct hubo_table *table, const char *name, const char *text, struct error_sink *errors);
int hubo_table_homes(struct hubo_table *table, const char *name, const char *text, struct error_sink *errors);

/* The three files into an empty table; NULL or "" stands for a file that there is none of.  0 or -errno, with lines. */
int hubo_table_read(struct hubo_table *table, const char *joints, const char *sensors, const char *homes,
		    struct error_sink *errors);

/* The path of the file that a setting of a device names, relative to the file in which that line stands: a robot file
 * that is like another one takes its tables over, too.  A name that is not the setting's, or without a device, comes
 * from the command line.  0 or -ENAMETOOLONG. */
int hubo_table_path_of(char *path, size_t size, const struct robot_device *device, const char *key, const char *name);
