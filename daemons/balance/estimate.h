/* estimate.h: how the robot stands, from its sensors, and from the model while one of them is silent.
 *
 * Pitch is the integral of the gyroscope, drawn slowly to the direction of gravity; the wheels' acceleration is
 * subtracted from that of the sensor.  The gyroscope's bias is estimated with it.
 *
 *	IMU	fresh up to 20 ms, its rate carries the pitch on; then predicted by the model of the lean, for 0.5 s
 *	wheels	fresh up to 20 ms; then predicted by the model, for 0.5 s
 *	waist	fresh up to 50 ms, carried on with its last rate; then it is taken to brake, since its modules stop by
 *		themselves.  A fresh angle that differs is approached within 100 ms.
 */
#pragma once

#include "channels/msg/types.h"
#include "config/base/base.h"
#include "daemons/balance/gains.h"

/* A measurement that was not seen before has is_new set; t_ns is when it was taken. */
struct estimate_imu {
	bool is_new;
	int64_t t_ns;
	double forward_m_s2, up_m_s2, pitch_rate_rad_s; /* specific force along, and rate about, the base's own axes */
};

struct estimate_wheels {
	bool is_new;
	int64_t t_ns;
	double position_rad[2], velocity_rad_s[2], current_a[2]; /* left, right; against the base */
};

struct estimate_waist {
	bool is_new;
	int64_t t_ns;
	double position_rad, velocity_rad_s;
};

struct estimate_inputs {
	struct estimate_imu imu;
	struct estimate_wheels wheels;
	struct estimate_waist waist;
};

struct estimate {
	/* how it stands now */
	double pitch_rad, pitch_rate_rad_s, bias_rad_s;
	double lean_rad, lean_rate_rad_s;
	double wheel_rad, wheel_rate_rad_s; /* mean of both, against the ground */
	double heading_rad, turn_rate_rad_s;
	double waist_rad, waist_rate_rad_s;
	enum msg_input imu, wheels, waist;
	bool wheels_back; /* in this tick: fresh again after a gap, so positions may have jumped */

	/* between ticks */
	const struct model *model;
	const struct gains_table *table;
	int64_t t_ns;		       /* of now; 0: nothing was measured yet */
	struct estimate_imu at;	       /* the newest sample, */
	double at_pitch_rad;	       /* its pitch, */
	double at_wheel_rate_rad_s;    /* and the wheels' rate then */
	double gap_rate_rad_s;	       /* predicted */
	struct estimate_wheels rolled; /* the newest */
	struct estimate_waist bent;    /* the newest */
	double waist_step_rad;	       /* used minus measured, */
	int64_t waist_step_ns;	       /* since it was fresh again */
};

/* now: 0, or the estimate goes on from that of a process before, which ended at t_ns. */
void estimate_begin(struct estimate *estimate, const struct model *model, const struct gains_table *table);
void estimate_resume(struct estimate *estimate, const struct msg_balance_state *last);

/* current_a: of each motor, as commanded in the tick before.  false: too little was measured so far. */
bool estimate_tick(struct estimate *estimate, const struct estimate_inputs *inputs, double current_a, int64_t now_ns);
