/* balance.c: currents of the wheels from the estimated state; see balance.h.  Checked: pure, covered. */
#include <math.h>

#include "daemons/balance/balance.h"

#define QUIET_RAD_S 0.03
#define QUIET_LEAN_RAD 0.05
#define QUIET_TICKS 100
#define SIT_WAIST_RAD 2.618 /* folded at least this far */
#define SIT_PITCH_RAD -1.763
#define SIT_LEAN_A_RAD 250.0
#define SIT_RATE_A_S_RAD 40.0
#define SIT_RAD_S 0.1
#define TURN_A_RAD 15.0
#define TURN_A_S_RAD 10.0
#define TURN_RAD_S2 1.0		/* of the turn rate that is followed */
#define WHEEL_ERROR_MAX_RAD 1.0 /* a robot that was pushed further stays where it is */

void balance_begin(struct balance *b, const struct model *model, const struct gains_weights *weights,
		   const struct balance_limits *limits, double period_s)
{
	*b = (struct balance){ .mode = MSG_BALANCE_OFF, .model = *model, .limits = *limits };
	gains_fill(&b->table, &b->model, weights, period_s);
	estimate_begin(&b->estimate, &b->model, &b->table);
}

void balance_resume(struct balance *b, const struct msg_balance_state *last)
{
	b->mode = last->mode;
	b->speed_ref_m_s = last->speed_ref;
	b->turn_ref_rad_s = last->turn_rate_ref;
	b->current_a[0] = last->current[0];
	b->current_a[1] = last->current[1];
	estimate_resume(&b->estimate, last);
}

/* ---- references ---- */

static double approach(double from, double to, double step)
{
	return from + num_clamp(to - from, -step, step);
}

static double limit(double value, double most)
{
	return num_clamp(value, -most, most);
}

/* Where it is now is where it should be. */
static void stay_here(struct balance *b)
{
	b->wheel_ref_rad = b->estimate.wheel_rad;
	b->heading_ref_rad = b->estimate.heading_rad;
}

static void move_references(struct balance *b, const struct balance_orders *orders, double dt_s)
{
	const struct balance_limits *l = &b->limits;
	const bool moves = b->mode == MSG_BALANCE_STANDING;
	const double speed_m_s = moves ? limit(orders->speed_m_s, l->speed_m_s) : 0;
	const double turn_rad_s = moves ? limit(orders->turn_rad_s, l->turn_rad_s) : 0;

	b->speed_ref_m_s = approach(b->speed_ref_m_s, speed_m_s, l->acceleration_m_s2 * dt_s);
	b->turn_ref_rad_s = approach(b->turn_ref_rad_s, turn_rad_s, TURN_RAD_S2 * dt_s);
	if (b->estimate.wheels_back)
		stay_here(b);
	b->wheel_ref_rad += b->speed_ref_m_s / b->model.wheel_radius_m * dt_s;
	b->wheel_ref_rad = b->estimate.wheel_rad + limit(b->wheel_ref_rad - b->estimate.wheel_rad, WHEEL_ERROR_MAX_RAD);
	b->heading_ref_rad += b->turn_ref_rad_s * dt_s;
}

/* ---- currents ---- */

static double upright_a(const struct balance *b)
{
	const struct estimate *e = &b->estimate;
	const struct gains k = gains_at(&b->table, e->waist_rad);

	return k.lean * e->lean_rad + k.lean_rate * e->lean_rate_rad_s + k.wheel * (e->wheel_rad - b->wheel_ref_rad) +
	       k.wheel_rate * (e->wheel_rate_rad_s - b->speed_ref_m_s / b->model.wheel_radius_m);
}

/* The support is behind it. */
static double sit_a(struct balance *b, double dt_s)
{
	const struct estimate *e = &b->estimate;

	b->lean_ref_rad -= SIT_RAD_S * dt_s;
	return SIT_LEAN_A_RAD * (e->lean_rad - b->lean_ref_rad) + SIT_RATE_A_S_RAD * e->lean_rate_rad_s;
}

static double turning_a(const struct balance *b)
{
	const struct estimate *e = &b->estimate;

	if (b->mode != MSG_BALANCE_STANDING || e->wheels != MSG_INPUT_FRESH)
		return 0;
	return TURN_A_RAD * (b->heading_ref_rad - e->heading_rad) +
	       TURN_A_S_RAD * (b->turn_ref_rad_s - e->turn_rate_rad_s);
}

/* Turning gets what balancing leaves. */
static void drive(struct balance *b, double both_a, double turn_a)
{
	const double most_a = b->limits.current_a;

	both_a = limit(both_a, most_a);
	turn_a = limit(turn_a, fmin(b->limits.turn_a, most_a - fabs(both_a)));
	b->current_a[0] = both_a - turn_a;
	b->current_a[1] = both_a + turn_a;
}

/* ---- modes ---- */

static bool drives(const struct balance *b)
{
	return b->mode != MSG_BALANCE_OFF && b->mode != MSG_BALANCE_FALLEN;
}

static void change_mode(struct balance *b, const struct balance_orders *orders)
{
	const struct estimate *e = &b->estimate;
	const bool quiet = fabs(e->lean_rate_rad_s) < QUIET_RAD_S && fabs(e->lean_rad) < QUIET_LEAN_RAD;

	b->quiet = quiet ? b->quiet + 1 : 0;
	if (drives(b) && !orders->armed)
		b->mode = MSG_BALANCE_OFF;
	else if (drives(b) && (fabs(e->lean_rad) > b->limits.fall_rad || e->imu == MSG_INPUT_LOST))
		b->mode = MSG_BALANCE_FALLEN;
	else if (b->mode == MSG_BALANCE_STANDING_UP && b->quiet >= QUIET_TICKS)
		b->mode = MSG_BALANCE_STANDING;
	else if (b->mode == MSG_BALANCE_SITTING_DOWN && e->pitch_rad < SIT_PITCH_RAD)
		b->mode = MSG_BALANCE_OFF;
}

const char *balance_stand(struct balance *b)
{
	const struct estimate *e = &b->estimate;

	if (b->mode == MSG_BALANCE_STANDING || b->mode == MSG_BALANCE_STANDING_UP)
		return NULL;
	if (e->imu != MSG_INPUT_FRESH || e->wheels != MSG_INPUT_FRESH || e->waist != MSG_INPUT_FRESH)
		return "a sensor is not fresh: see imu, wheels and waist of its state";
	if (fabs(e->lean_rad) > b->limits.stand_rad)
		return "it leans too far: fold or unfold the waist until its centre of mass is above the axle";
	b->mode = MSG_BALANCE_STANDING_UP;
	b->quiet = 0;
	b->speed_ref_m_s = b->turn_ref_rad_s = 0;
	stay_here(b);
	return NULL;
}

const char *balance_sit(struct balance *b)
{
	if (b->mode != MSG_BALANCE_STANDING)
		return "it does not stand";
	if (b->estimate.waist_rad < SIT_WAIST_RAD)
		return "fold the waist to 2.62 rad first: the support is behind the base";
	b->mode = MSG_BALANCE_SITTING_DOWN;
	b->lean_ref_rad = b->estimate.lean_rad;
	return NULL;
}

bool balance_tick(struct balance *b, const struct estimate_inputs *inputs, const struct balance_orders *orders,
		  double dt_s, int64_t now_ns)
{
	const bool known = estimate_tick(&b->estimate, inputs, 0.5 * (b->current_a[0] + b->current_a[1]), now_ns);

	b->current_a[0] = b->current_a[1] = 0;
	if (!known)
		return false;
	change_mode(b, orders);
	if (!drives(b))
		return true;
	move_references(b, orders, dt_s);
	drive(b, b->mode == MSG_BALANCE_SITTING_DOWN ? sit_a(b, dt_s) : upright_a(b), turning_a(b));
	return true;
}
