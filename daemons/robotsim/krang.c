/* krang.c: the equations of Krang's body.
 *
 * Coordinates: x of the axle, pitch th of the base, pitch be of the upper body, heading ps.  The matrix is the usual
 * one of a double pendulum on a cart; rotors turn with the gear's ratio against the base.  The waist is servoed,
 * be = th + ph with ph given: rows th and be are added, and row be yields the torque of the waist.
 *
 * Checked: covered.
 */
#include "daemons/robotsim/krang.h"

#include <math.h>

#define FRICTION_RAD_S 0.02 /* dry friction rises to its value around rest, so that it can be integrated */
#define STANDS_AFTER_S 0.2
#define LETS_GO_A 0.5 /* whoever holds it lets go when the wheels are driven */

/* ---- the matrix ---- */

struct point {
	double x, z; /* forward and up of the axle */
};

/* From the base or upper body into the world, turned by its pitch. */
static struct point turned(double pitch, double x, double z)
{
	return (struct point){ x * cos(pitch) + z * sin(pitch), z * cos(pitch) - x * sin(pitch) };
}

/* Everything that follows from a posture and its velocities.  M q'' + h is the generalised force. */
struct terms {
	double xx, xt, xb, tt, tb, bb; /* M */
	double x, t, b;		       /* h */
	double turn, turn_t, turn_b;   /* inertia of turning, and how th and be change it */
	double offset;		       /* sum of mass times forward offset */
	double potential_j;
};

static void set_terms(struct terms *m, const struct krang_settings *s, const struct krang_state *y, double ph,
		      double ph_s)
{
	const double be = y->th + ph, be_s = y->th_s + ph_s, turn2 = y->ps_s * y->ps_s;
	const double rotors = 2 * s->rotor_inertia, r = s->wheel_radius, half = s->wheel_base / 2;
	const double wheel = s->wheel_inertia + s->rotor_inertia * s->gear * s->gear;
	const double m1 = s->base_mass, m2 = s->upper_mass;
	const struct point c1 = turned(y->th, s->base_x, s->base_z), w = turned(y->th, s->waist_x, s->waist_z);
	const struct point c2 = turned(be, s->upper_x, s->upper_z);
	const double rho2 = w.x + c2.x; /* CoM of the upper body, from the axle */
	const double cross = w.x * c2.z - w.z * c2.x;

	m->xx = m1 + m2 + 2 * s->wheel_mass + 2 * wheel / (r * r);
	m->xt = m1 * c1.z + m2 * w.z + rotors * s->gear * (1 - s->gear) / r;
	m->xb = m2 * c2.z;
	m->tt = m1 * (c1.x * c1.x + c1.z * c1.z) + s->base_pitch + m2 * (w.x * w.x + w.z * w.z) +
		rotors * (1 - s->gear) * (1 - s->gear);
	m->tb = m2 * (w.x * c2.x + w.z * c2.z);
	m->bb = m2 * (c2.x * c2.x + c2.z * c2.z) + s->upper_pitch;

	m->offset = m1 * c1.x + m2 * rho2;
	m->turn = m1 * c1.x * c1.x + m2 * rho2 * rho2 + s->base_roll * pow(sin(y->th), 2) +
		  s->base_yaw * pow(cos(y->th), 2) + s->upper_roll * pow(sin(be), 2) + s->upper_yaw * pow(cos(be), 2) +
		  2 * (s->wheel_across + s->wheel_mass * half * half) + 2 * wheel * (half / r) * (half / r);
	m->turn_t = 2 * m1 * c1.x * c1.z + 2 * m2 * rho2 * w.z + (s->base_roll - s->base_yaw) * sin(2 * y->th);
	m->turn_b = 2 * m2 * rho2 * c2.z + (s->upper_roll - s->upper_yaw) * sin(2 * be);

	m->x = -(m1 * c1.x + m2 * w.x) * y->th_s * y->th_s - m2 * c2.x * be_s * be_s - m->offset * turn2;
	m->t = m2 * cross * be_s * be_s - s->gravity * (m1 * c1.x + m2 * w.x) - m->turn_t * turn2 / 2;
	m->b = -m2 * cross * y->th_s * y->th_s - s->gravity * m2 * c2.x - m->turn_b * turn2 / 2;
	m->potential_j = s->gravity * (m1 * c1.z + m2 * (w.z + c2.z));
}

/* ---- forces ---- */

struct forces {
	double x, t, b, turn; /* generalised */
	bool touches;
};

/* The floor lies a wheel's radius below the axle; it pushes up, and does not hold. */
static double floor_n(const struct krang_settings *s, double z, double z_s)
{
	const double deep = -s->wheel_radius - z;

	return deep > 0 ? fmax(0, s->floor_stiffness * deep - s->floor_damping * z_s) : 0;
}

static void add_floor(struct forces *f, const struct krang_settings *s, const struct krang_state *y, double ph,
		      double ph_s)
{
	const double be = y->th + ph, be_s = y->th_s + ph_s;
	const struct point caster = turned(y->th, s->caster_x, s->caster_z), w = turned(y->th, s->waist_x, s->waist_z);
	const struct point head = turned(be, s->head_x, s->head_z);
	const double caster_n = floor_n(s, caster.z, -caster.x * y->th_s);
	const double head_n = floor_n(s, w.z + head.z, -w.x * y->th_s - head.x * be_s);

	f->t -= caster_n * caster.x + head_n * w.x;
	f->b -= head_n * head.x;
	f->touches = caster_n > 0 || head_n > 0;
}

/* The torque by motor and friction of a wheel that turns with w against the base. */
static double wheel_nm(const struct krang_settings *s, double current_a, double w)
{
	return s->gear * s->torque_constant * current_a - s->friction * tanh(w / FRICTION_RAD_S) - s->viscous * w;
}

static struct forces all_forces(const struct krang_settings *s, const struct krang_state *y,
				const struct krang_input *in, double ph, double ph_s)
{
	const double half = s->wheel_base / 2, r = s->wheel_radius;
	const double straight = y->v / r - y->th_s, apart = half * y->ps_s / r;
	const double left_nm = wheel_nm(s, in->left_a, straight - apart);
	const double right_nm = wheel_nm(s, in->right_a, straight + apart), both_nm = left_nm + right_nm;
	struct forces f = { .x = both_nm / r + in->push_n,
			    .t = -both_nm + in->push_n * s->push_height,
			    .turn = half / r * (right_nm - left_nm) };

	add_floor(&f, s, y, ph, ph_s);
	return f;
}

/* ---- motion ---- */

/* Accelerations for a waist that has this one. */
static struct krang_state change(const struct krang_settings *s, const struct krang_state *y,
				 const struct krang_input *in, double after_s, struct terms *m, struct forces *f)
{
	const double ph_ss = in->waist_rad_s2, ph_s = in->waist_rad_s + ph_ss * after_s;
	const double ph = in->waist_rad + (in->waist_rad_s + ph_ss * after_s / 2) * after_s;
	double xt, tt, x, t, det;

	set_terms(m, s, y, ph, ph_s);
	*f = all_forces(s, y, in, ph, ph_s);
	xt = m->xt + m->xb;
	tt = m->tt + 2 * m->tb + m->bb;
	det = m->xx * tt - xt * xt;
	x = f->x - m->x - m->xb * ph_ss;
	t = f->t + f->b - m->t - m->b - (m->tb + m->bb) * ph_ss;
	return (struct krang_state){
		.x = y->v,
		.v = (tt * x - xt * t) / det,
		.th = y->th_s,
		.th_s = (m->xx * t - xt * x) / det,
		.ps = y->ps_s,
		.ps_s = (f->turn - (m->turn_t * y->th_s + m->turn_b * (y->th_s + ph_s)) * y->ps_s -
			 m->offset * y->v * y->ps_s) /
			m->turn,
	};
}

static struct krang_state plus(const struct krang_state *y, const struct krang_state *d, double by)
{
	return (struct krang_state){ y->x + d->x * by,	     y->v + d->v * by,	 y->th + d->th * by,
				     y->th_s + d->th_s * by, y->ps + d->ps * by, y->ps_s + d->ps_s * by };
}

/* Runge and Kutta's, of fourth order. */
static struct krang_state integrate(const struct krang_settings *s, const struct krang_state *y,
				    const struct krang_input *in, double dt_s)
{
	struct terms m;
	struct forces f;
	const struct krang_state a = change(s, y, in, 0, &m, &f), y_a = plus(y, &a, dt_s / 2);
	const struct krang_state b = change(s, &y_a, in, dt_s / 2, &m, &f), y_b = plus(y, &b, dt_s / 2);
	const struct krang_state c = change(s, &y_b, in, dt_s / 2, &m, &f), y_c = plus(y, &c, dt_s);
	const struct krang_state d = change(s, &y_c, in, dt_s, &m, &f);
	struct krang_state end = plus(y, &a, dt_s / 6);

	end = plus(&end, &b, dt_s / 3);
	end = plus(&end, &c, dt_s / 3);
	return plus(&end, &d, dt_s / 6);
}

/* What holds its CoM above the axle, wherever the waist goes. */
static struct krang_state held(const struct krang *k, double ph, double dt_s)
{
	const double th = krang_balance_rad(k, ph);

	return (struct krang_state){
		.x = k->travel_m, .th = th, .th_s = dt_s > 0 ? (th - k->pitch_rad) / dt_s : 0, .ps = k->heading_rad
	};
}

/* ---- how it is ---- */

static void set_mode(struct krang *k, bool touches, double dt_s)
{
	const double lean = fabs(krang_lean_rad(k));

	k->free_s = touches ? 0 : k->free_s + dt_s;
	if (k->mode == KRANG_STANDING && lean > k->settings.fall) {
		k->mode = KRANG_FALLEN;
		k->falls++;
	} else if (k->mode == KRANG_STANDING && touches) {
		k->mode = KRANG_SITTING;
	} else if (k->free_s > STANDS_AFTER_S && lean < k->settings.fall / 2) {
		k->mode = KRANG_STANDING;
	}
}

/* Accelerations, and the waist's torque, which is linear in the waist's acceleration. */
static void set_outputs(struct krang *k, const struct krang_input *end, double dt_s)
{
	const struct krang_state y = k->state;
	struct krang_input without = *end;
	struct terms m;
	struct forces f;
	struct krang_state d = change(&k->settings, &y, end, 0, &m, &f);
	double xt, tt, det, mixed;

	if (k->mode == KRANG_HELD)
		d = (struct krang_state){ 0 };
	k->accel_m_s2 = d.v;
	k->rate_rad_s2 = d.th_s;
	k->turn_rad_s2 = d.ps_s;
	without.waist_rad_s2 = 0;
	d = change(&k->settings, &y, &without, 0, &m, &f);
	xt = m.xt + m.xb;
	tt = m.tt + 2 * m.tb + m.bb;
	det = m.xx * tt - xt * xt;
	mixed = m.tb + m.bb;
	k->waist_load_nm = -(m.xb * d.v + mixed * d.th_s + m.b - f.b);
	k->waist_inertia = m.bb - (tt * m.xb * m.xb - 2 * xt * m.xb * mixed + m.xx * mixed * mixed) / det;
	if (k->mode != KRANG_HELD)
		set_mode(k, f.touches, dt_s);
}

void krang_step(struct krang *k, const struct krang_input *in, double dt_s)
{
	struct krang_input end = *in;

	end.waist_rad += (in->waist_rad_s + in->waist_rad_s2 * dt_s / 2) * dt_s;
	end.waist_rad_s += in->waist_rad_s2 * dt_s;
	if (k->mode == KRANG_HELD && fabs(in->left_a) + fabs(in->right_a) > LETS_GO_A)
		k->mode = KRANG_STANDING;
	k->state = k->mode == KRANG_HELD ? held(k, end.waist_rad, dt_s) : integrate(&k->settings, &k->state, in, dt_s);
	k->waist_rad = end.waist_rad;
	k->waist_rad_s = end.waist_rad_s;
	set_outputs(k, &end, dt_s);
}

/* ---- where it begins ---- */

double krang_balance_rad(const struct krang *k, double waist_rad)
{
	const struct krang_settings *s = &k->settings;
	const struct point c2 = turned(waist_rad, s->upper_x, s->upper_z);

	return -atan2(s->base_mass * s->base_x + s->upper_mass * (s->waist_x + c2.x),
		      s->base_mass * s->base_z + s->upper_mass * (s->waist_z + c2.z));
}

static bool is_on_the_floor(const struct krang_settings *s, double th, double ph)
{
	const double z = turned(th, s->waist_x, s->waist_z).z + turned(th + ph, s->head_x, s->head_z).z;

	return fmin(z, turned(th, s->caster_x, s->caster_z).z) <= -s->wheel_radius;
}

/* Backwards from where it balances to where it touches the floor. */
static double sitting_rad(const struct krang *k, double waist_rad)
{
	double up = krang_balance_rad(k, waist_rad), down = up;

	while (down > up - M_PI && !is_on_the_floor(&k->settings, down, waist_rad))
		down -= 0.01;
	up = down + 0.01;
	for (int i = 0; i < 50; i++) {
		const double middle = (up + down) / 2;

		if (is_on_the_floor(&k->settings, middle, waist_rad))
			down = middle;
		else
			up = middle;
	}
	return up;
}

void krang_place(struct krang *k, enum krang_start start, double waist_rad)
{
	static const enum krang_mode modes[] = { KRANG_SITTING, KRANG_STANDING, KRANG_HELD };
	const unsigned int falls = k->falls;

	*k = (struct krang){ .settings = k->settings, .mode = modes[start], .falls = falls };
	k->pitch_rad = start == KRANG_START_SITTING ? sitting_rad(k, waist_rad) : krang_balance_rad(k, waist_rad);
	krang_step(k, &(struct krang_input){ .waist_rad = waist_rad }, 0);
}

/* ---- what can be seen of it ---- */

double krang_lean_rad(const struct krang *k)
{
	return remainder(k->pitch_rad - krang_balance_rad(k, k->waist_rad), 2 * M_PI);
}

double krang_energy_j(const struct krang *k)
{
	const struct krang_state y = k->state;
	const double th_s = y.th_s, be_s = y.th_s + k->waist_rad_s;
	struct terms m;

	set_terms(&m, &k->settings, &y, k->waist_rad, k->waist_rad_s);
	return m.xx * y.v * y.v / 2 + m.xt * y.v * th_s + m.xb * y.v * be_s + m.tt * th_s * th_s / 2 +
	       m.tb * th_s * be_s + m.bb * be_s * be_s / 2 + m.turn * y.ps_s * y.ps_s / 2 + m.potential_j;
}

static double wheel(const struct krang_settings *s, double forward_m, double turned_rad, double pitch_rad, bool right)
{
	return (forward_m + (right ? 0.5 : -0.5) * s->wheel_base * turned_rad) / s->wheel_radius - pitch_rad;
}

double krang_wheel_rad(const struct krang *k, bool right)
{
	return wheel(&k->settings, k->travel_m, k->heading_rad, k->pitch_rad, right);
}

double krang_wheel_rad_s(const struct krang *k, bool right)
{
	return wheel(&k->settings, k->speed_m_s, k->turn_rad_s, k->rate_rad_s, right);
}

void krang_motion(const struct krang *k, struct sim_motion *motion)
{
	const double th = k->pitch_rad, th_s = k->rate_rad_s, ps_s = k->turn_rad_s;
	const struct point at = turned(th, k->settings.imu_x, k->settings.imu_z);
	const double x = k->accel_m_s2 + k->rate_rad_s2 * at.z - (th_s * th_s + ps_s * ps_s) * at.x;
	const double z = -k->rate_rad_s2 * at.x - th_s * th_s * at.z + k->settings.gravity;

	*motion = (struct sim_motion){
		.force_m_s2 = { x * cos(th) - z * sin(th),
				(k->speed_m_s + 2 * at.z * th_s) * ps_s + k->turn_rad_s2 * at.x,
				x * sin(th) + z * cos(th) },
		.rate_rad_s = { -ps_s * sin(th), th_s, ps_s * cos(th) },
	};
}
