/* endplate_trajectory.h: what the files of a trajectory share.
 *
 *	endplate_trajectory.c		devices, joints, waypoints, conditions
 *	endplate_trajectory_plan.c	from waypoints to motions
 *	endplate_trajectory_step.c	in each tick
 */
#pragma once

#include "channels/client/endplate_inside.h"
#include "channels/plan/plan.h"

#define TRAJECTORY_JOINTS 64
#define TRAJECTORY_DEVICES 16
#define TRAJECTORY_CONDITIONS 8
#define TRAJECTORY_WAYPOINTS 10000

struct trajectory_device {
	struct endplate_device *device;
	bool moves;		     /* it has columns */
	int64_t period_ns, valid_ns; /* of its driver's ticks, of references */
	uint32_t incarnation;	     /* that follows */
	uint64_t base[2];	     /* the lowering that was obeyed at the start */
	uint64_t refused;	     /* references, since the start */
	int status;		     /* of endplate_state in this step */
	struct endplate_view view;
	struct msg_joint_ref ref;
	union {
		struct msg_joint_state joints;
		uint8_t bytes[MSG_SIZE_MAX];
	} state;
};

struct trajectory_column {
	struct trajectory_device *of;
	unsigned int joint;
	msg_name name; /* of the joint */
	struct motion_limits limits;
	double ramp_rad_s2; /* of its driver */
};

struct trajectory_waypoint {
	double seconds;	    /* as given; 0: as short as possible */
	double total_s;	    /* as planned */
	bool passed, timed; /* timed: it was to be passed, though the last one comes to rest */
};

struct trajectory_path {
	size_t n, room, states_room;
	struct trajectory_waypoint *waypoints;
	struct motion_state *states; /* a row for each waypoint; NaN: not given */
};

struct trajectory_condition {
	struct trajectory_device *of;
	struct msg_place place;
	char field[MSG_TEXT_SIZE];
	double above;
};

enum trajectory_phase { TRAJECTORY_ENDED, TRAJECTORY_RUNS, TRAJECTORY_STOPS, TRAJECTORY_WAITS };

struct endplate_trajectory {
	struct endplate *robot;
	enum plan_shape shape;
	double share;
	size_t devices_n, columns_n, conditions_n;
	struct trajectory_device devices[TRAJECTORY_DEVICES];
	struct trajectory_column columns[TRAJECTORY_JOINTS];
	struct trajectory_condition conditions[TRAJECTORY_CONDITIONS];
	struct trajectory_path added, path; /* since the last start; that which is followed */

	enum trajectory_phase phase;
	int ended; /* what step returned at the end */
	char why[ERROR_LINE_MAX];
	bool goes_on;				    /* after the stop: it waits for its devices, and begins again */
	size_t goal;				    /* waypoint */
	int64_t lead_ns;			    /* references are that far ahead: until the joint is there */
	int64_t valid_ns;			    /* of references, the shortest */
	int64_t jumped_ns;			    /* clock_jumped_ns at the start */
	int64_t begun_ns;			    /* of the moves, lead included; 0: in the next step */
	double total_s;				    /* of the moves */
	int64_t now_ns;				    /* of the last step, lead included */
	struct motion_state now[TRAJECTORY_JOINTS]; /* as commanded then */
	struct plan_joint joints[TRAJECTORY_JOINTS], trial[TRAJECTORY_JOINTS];
};

/* Reads again, of the drivers that run now, where the joints are and what they may do.  0, or -errno with a line. */
int trajectory_renew(struct endplate_trajectory *t);
/* Reads the states of all its devices. */
void trajectory_look(struct endplate_trajectory *t);
/* Does the device do what it is told?  NULL, or one that does not. */
struct trajectory_device *trajectory_lost(struct endplate_trajectory *t);
/* Why it does not, for endplate_errstr; returns -EHOSTDOWN. */
int trajectory_say_lost(struct trajectory_device *d);

/* From here on another lowering, or another clock, ends it. */
void trajectory_remember(struct endplate_trajectory *t);

/* Where each column is by measurement. */
void trajectory_measured(const struct endplate_trajectory *t, struct motion_state states[]);
/* Are all motions of the path possible, from there?  Fills in what was not given.  0, or -errno with a line. */
int trajectory_plan(struct endplate_trajectory *t, struct trajectory_path *path, const struct motion_state from[]);
/* The motions to the goal begin; begun_ns as above. */
void trajectory_enter(struct endplate_trajectory *t, const struct motion_state from[], int64_t begun_ns);
/* The same from where it was stopped by a driver, to the same waypoint.  0, or -errno with a line. */
int trajectory_enter_again(struct endplate_trajectory *t);
