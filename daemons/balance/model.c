/* model.c: the linear equations of the body; see model.h.  Checked: pure. */
#include <math.h>

#include "daemons/balance/model.h"

struct vector {
	double forward, up;
};

static struct vector turn(double forward, double up, double angle_rad)
{
	return (struct vector){ forward * cos(angle_rad) + up * sin(angle_rad),
				up * cos(angle_rad) - forward * sin(angle_rad) };
}

/* Where the centres of mass are, for an upright observer at the axle. */
struct centres {
	struct vector base, waist, upper; /* upper from the waist's axis */
	struct vector all;
};

static struct centres centres(const struct model *m, double pitch_rad, double waist_rad)
{
	const double kg = m->base.kg + m->upper.kg;
	struct centres c = {
		.base = turn(m->base.forward_m, m->base.up_m, pitch_rad),
		.waist = turn(m->waist_forward_m, m->waist_up_m, pitch_rad),
		.upper = turn(m->upper.forward_m, m->upper.up_m, pitch_rad + waist_rad),
	};

	c.all.forward = (m->base.kg * c.base.forward + m->upper.kg * (c.waist.forward + c.upper.forward)) / kg;
	c.all.up = (m->base.kg * c.base.up + m->upper.kg * (c.waist.up + c.upper.up)) / kg;
	return c;
}

double model_lean(const struct model *m, double pitch_rad, double waist_rad)
{
	const struct centres c = centres(m, pitch_rad, waist_rad);

	return atan2(c.all.forward, c.all.up);
}

double model_lean_by_waist(const struct model *m, double pitch_rad, double waist_rad)
{
	const struct centres c = centres(m, pitch_rad, waist_rad);
	const double share = m->upper.kg / (m->base.kg + m->upper.kg);
	const double square = c.all.forward * c.all.forward + c.all.up * c.all.up;

	/* The waist moves the upper centre at right angles to its arm: up forwards, forward downwards. */
	return share * (c.upper.up * c.all.up + c.upper.forward * c.all.forward) / square;
}

static double dot(struct vector a, struct vector b)
{
	return a.forward * b.forward + a.up * b.up;
}

/* mass * (travel'', pitch'') = (torque / radius, gravity * lean - torque) */
struct model_linear model_linear(const struct model *m, double waist_rad)
{
	const struct centres straight = centres(m, 0, waist_rad);
	const double pitch_rad = -atan2(straight.all.forward, straight.all.up);
	const struct centres c = centres(m, pitch_rad, waist_rad);
	const struct vector upper = { c.waist.forward + c.upper.forward, c.waist.up + c.upper.up };
	const double r = m->wheel_radius_m, kg = m->base.kg + m->upper.kg, rotor = m->rotor_inertia_kg_m2;
	const double xx = kg + 2 * m->wheel_kg + 2 * (m->wheel_inertia_kg_m2 + rotor * m->gear * m->gear) / (r * r);
	const double xp = kg * c.all.up + 2 * rotor * m->gear * (1 - m->gear) / r;
	const double pp = m->base.kg * dot(c.base, c.base) + m->base.inertia_kg_m2 + m->upper.kg * dot(upper, upper) +
			  m->upper.inertia_kg_m2 + 2 * rotor * (1 - m->gear) * (1 - m->gear);
	const double det = xx * pp - xp * xp;
	const double gravity = MODEL_GRAVITY_M_S2 * kg * c.all.up;
	const double torque = 2 * m->gear * m->nm_per_a;

	return (struct model_linear){
		.pitch_rad = pitch_rad,
		.height_m = c.all.up,
		.lean_by_lean = xx * gravity / det,
		.lean_by_current = -torque * (xx + xp / r) / det,
		.wheel_by_lean = -xp * gravity / det / r,
		.wheel_by_current = torque * (pp / r + xp) / det / r,
	};
}
