/* balance.h: keeps a robot on two wheels upright: estimate, gains, modes; no I/O.
 *
 *	off		no current.  The robot sits on its support, or a person holds it
 *	standing-up	balances, and does not turn, until it is quiet for 100 ticks
 *	standing	balances, and follows speed and turn rate
 *	sitting-down	lets itself sink back onto the support, with the waist folded
 *	fallen		no current: the lean cannot be caught, or the IMU is lost
 *
 * The motors never brake on a fault: without current a robot that leans rolls out from under itself, with locked wheels
 * it topples.
 */
#pragma once

#include "daemons/balance/estimate.h"

struct balance_limits {
	double current_a;		     /* of each motor */
	double turn_a;			     /* of it, for turning */
	double speed_m_s, acceleration_m_s2; /* of the references */
	double turn_rad_s;
	double stand_rad; /* it stands up from a lean up to this, */
	double fall_rad;  /* and gives up beyond this */
};

struct balance {
	enum msg_balance mode;
	struct model model;
	struct gains_table table;
	struct balance_limits limits;
	struct estimate estimate;
	double wheel_ref_rad, speed_ref_m_s;
	double heading_ref_rad, turn_ref_rad_s;
	double lean_ref_rad; /* while it sits down */
	unsigned int quiet;  /* ticks in a row */
	double current_a[2]; /* left, right */
};

struct balance_orders {
	bool armed;
	double speed_m_s, turn_rad_s; /* wanted; 0 where there is no reference */
};

void balance_begin(struct balance *balance, const struct model *model, const struct gains_weights *weights,
		   const struct balance_limits *limits, double period_s);
/* The state of the process before, published not long ago: what stood then stands on. */
void balance_resume(struct balance *balance, const struct msg_balance_state *last);

/* A tick: the currents are in current_a.  false: not every sensor has spoken yet, the currents are 0. */
bool balance_tick(struct balance *balance, const struct estimate_inputs *inputs, const struct balance_orders *orders,
		  double dt_s, int64_t now_ns);

/* On request.  NULL, or why not. */
const char *balance_stand(struct balance *balance);
const char *balance_sit(struct balance *balance);
