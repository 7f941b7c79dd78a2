/* jmc_motor.h: one motor of a simulated Hubo joint board, with its joint, encoder, switch and faults, pure.
 *
 * Positions are counts of its encoder, from where the joint's zero really is; the board reports them from where it
 * believes the zero to be (zero).  A step is one sub-step of the board.
 */
#pragma once

#include "daemons/robotsim/jmc_home.h"
#include "daemons/robotsim/jmc_params.h"
#include "daemons/robotsim/jmc_path.h"

/* Status bits of a motor, as in its three bytes of a 1- or 2-motor board. */
#define JMC_JAM 0x0100u
#define JMC_SATURATED 0x0200u
#define JMC_BIG_ERROR 0x0400u
#define JMC_ENCODER_ERROR 0x0800u
#define JMC_DRIVER_FAULT 0x1000u
#define JMC_MOTOR_FAIL_0 0x2000u
#define JMC_MOTOR_FAIL_1 0x4000u
#define JMC_MIN_POSITION 0x010000u
#define JMC_MAX_POSITION 0x020000u
#define JMC_VELOCITY 0x040000u
#define JMC_ACCELERATION 0x080000u
#define JMC_TEMPERATURE 0x100000u
/* With one of these the motor is switched off until the board is cleared. */
#define JMC_TRIPS                                                                                            \
	(JMC_JAM | JMC_SATURATED | JMC_BIG_ERROR | JMC_ENCODER_ERROR | JMC_DRIVER_FAULT | JMC_MOTOR_FAIL_0 | \
	 JMC_MOTOR_FAIL_1 | JMC_TEMPERATURE)

enum jmc_motor_how { JMC_OFF, JMC_POSITION, JMC_PWM, JMC_HOMING };

/* What the motor is; rad and seconds at the joint. */
struct jmc_motor_model {
	double counts_per_rad, counts_per_turn;
	int clockwise;		       /* 1, -1: where counts go when it turns clockwise */
	double velocity, acceleration; /* largest */
	double ends[2];		       /* counts; -INFINITY and INFINITY: none */
	double switch_counts;	       /* its limit switch is closed from there on, in the search direction */
	int switch_side;
	double index_counts; /* of one pulse of the index; the others are turns away */
	double idle_a, gravity_a;
	double weight_nm; /* of the limb, 90 degrees from where it hangs */
};

struct jmc_motor {
	const struct jmc_motor_model *model;
	const struct jmc_params *params;    /* stored on the board, */
	const struct jmc_motor_params *own; /* and those of this motor */

	double counts, velocity; /* counts/s */
	double asked;		 /* the last reference, whatever the limits */
	double zero;		 /* counts that it calls 0 */
	enum jmc_motor_how how;
	bool jammed, encoder_stuck;
	double push_nm, push_for_s; /* from outside, and for how much longer */
	struct jmc_path path;	    /* counts from zero */
	struct jmc_home home;	    /* of the same origin as counts */
	double duty;		    /* -100 to 100 %, of JMC_PWM; else what the servo uses */
	double stuck_counts;	    /* what a stuck encoder says */
	bool stalled;		    /* it is driven and does not move */
	bool index;		    /* a pulse came in the last step */
	double index_counts;	    /* there */
	double jam_for_s, saturated_for_s;
	uint32_t latched; /* of the bits above */
	double current_a;
};

void jmc_motor_start(struct jmc_motor *motor, double counts, double zero);
/* As its encoder reports it, from zero. */
int32_t jmc_motor_reported(const struct jmc_motor *motor);
bool jmc_motor_switch(const struct jmc_motor *motor);
void jmc_motor_off(struct jmc_motor *motor);
void jmc_motor_hold(struct jmc_motor *motor); /* position control, where it is */
void jmc_motor_pwm(struct jmc_motor *motor, double duty);
void jmc_motor_home(struct jmc_motor *motor, const struct jmc_home_order *order);
/* A reference, counts from zero.  false: it is not in position control. */
bool jmc_motor_reference(struct jmc_motor *motor, double counts);
/* For step_s; a sub-step of its path, if it is in position control, is meant to last nominal_s.  measured: as in
 * jmc_path_step. */
void jmc_motor_step(struct jmc_motor *motor, bool measured, double nominal_s, double step_s);
void jmc_motor_trip(struct jmc_motor *motor, uint32_t bits);
/* Command 0x06: faults cleared, its place is 0. */
void jmc_motor_clear(struct jmc_motor *motor);
