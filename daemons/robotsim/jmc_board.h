/* jmc_board.h: a simulated joint board of Hubo (JMC, EJMC), written from hw-docs/devices/hubo.md.
 *
 *	jmc_pll.c	locks to the arrival of references
 *	jmc_path.c	set-points between them
 *	jmc_home.c	the search for a joint's zero
 *	jmc_motor.c	a motor, its joint, encoder, switch and faults
 *	jmc_params.c	what the board has stored
 *	jmc_tx.c	what it sends
 *	jmc_rx.c	what it does on command
 *	jmc_board.c	what it hears, and its time
 *	hubo_boards.h	the boards of a robot file; faults on command, report
 */
#pragma once

#include "daemons/robotsim/jmc_motor.h"
#include "daemons/robotsim/jmc_pll.h"
#include "daemons/robotsim/sim_base.h"

#define JMC_REPLIES_MAX 8

enum jmc_layout {
	JMC_JOINTS, /* one or two motors */
	JMC_NECK,   /* three, absolute encoders */
	JMC_WRIST,  /* a wrist and two fingers */
	JMC_HAND,   /* five fingers, without references */
};

enum jmc_second_slot { JMC_SECOND_ZERO, JMC_SECOND_REPEAT, JMC_SECOND_NONE };
extern const char *const jmc_second_slots[], *const jmc_ways[];

/* Under sim: in the robot file. */
struct jmc_settings {
	int64_t number;
	int64_t reply_ns, jitter_ns;
	int64_t seed, boot_ns;
	struct jmc_pll_settings pll;
	int64_t sub_steps;
	enum jmc_second_slot second_slot;
	int64_t home_ok, home_runs, home_failed;
	int64_t big_error, input_difference; /* counts */
	int clockwise_down;		     /* counts go down when a motor turns clockwise */
	double velocity, acceleration, margin_rad;
	double idle_a, gravity_a;
	double weight_nm;
	double ambient_c, heat, position_rad;
	int64_t warms_ns;
	bool power, on, homed;
	bool pwm_is_control; /* so says the status */
};

struct jmc_board {
	struct sim_base base;
	struct jmc_settings settings; /* as in the robot file */

	enum jmc_layout layout;
	unsigned int motors_n;
	const char *joint[JMC_MOTORS_MAX]; /* names */
	struct jmc_params flash, params;
	struct jmc_motor_model model[JMC_MOTORS_MAX];
	struct jmc_motor motor[JMC_MOTORS_MAX];
	struct jmc_pll pll;
	bool twice, fet, control;
	uint8_t mode; /* 0 position, 1 current, 2 both */
	double temperature_c;
	int64_t t_ns, step_ns, boot_until_ns;	       /* steps done, the next one, deaf until then */
	int64_t now_ns;				       /* advanced to */
	int64_t steps_left;			       /* of this period, before its last one */
	uint64_t in, ignored, unused, clears, homings; /* unused: references without effect */
};

/* Called by robotsim, with a struct jmc_board. */
void jmc_board_start(void *state, int64_t t_ns);
void jmc_board_power(void *state, bool on, int64_t t_ns);
void jmc_board_advance(void *state, int64_t t_ns);
void jmc_board_frame(void *state, const struct frame *frame, int64_t t_ns);

void jmc_board_control(struct jmc_board *board, bool on);
void jmc_board_lock(struct jmc_board *board, int64_t t_ns); /* begins again to look for references */

/* 7 bits and the sign. */
static inline double jmc_board_i7(uint8_t from)
{
	return from & 0x80 ? -(from & 0x7F) : from;
}

/* ---- jmc_rx.c ---- */

/* A command without a reply.  false: there is no such command, or its length is wrong. */
bool jmc_rx(struct jmc_board *board, const struct frame *frame, int64_t t_ns);

/* ---- jmc_tx.c ---- */

/* The reply to a request.  false: there is none. */
bool jmc_tx(const struct jmc_board *board, const struct frame *request, struct frame *reply);
