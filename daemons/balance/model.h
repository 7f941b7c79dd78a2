/* model.h: a wheeled inverted pendulum with a waist, as its controller sees it.
 *
 * Forward and up are measured from the axle, or from the waist's axis; angles lean forward.  The waist is servoed: its
 * angle is given, and base and upper body are one rigid body.  Linearised where its centre of mass is above the axle,
 * without friction, for the lean of the centre of mass and the angle of the wheels (travel / radius):
 *
 *	lean''  = lean_by_lean  * lean + lean_by_current  * current
 *	wheel'' = wheel_by_lean * lean + wheel_by_current * current
 *
 * with the current of each of the two motors.  hw-docs/devices/krang-body.md derives the equations of motion.
 */
#pragma once

#define MODEL_GRAVITY_M_S2 9.81

struct model_part {
	double kg, forward_m, up_m; /* mass, and where its centre is */
	double inertia_kg_m2;	    /* about its centre, in pitch */
};

struct model {
	struct model_part base; /* without wheels; from the axle */
	double waist_forward_m, waist_up_m;
	double waist_braking_rad_s2; /* of modules whose driver is dead */
	struct model_part upper;     /* from the waist's axis, while the waist is straight */
	double wheel_kg, wheel_radius_m, wheel_inertia_kg_m2, wheel_base_m;
	double gear, nm_per_a, rotor_inertia_kg_m2; /* of a motor */
};

struct model_linear {
	double pitch_rad; /* of the base, at balance */
	double height_m;  /* of the centre of mass, above the axle */
	double lean_by_lean, lean_by_current, wheel_by_lean, wheel_by_current;
};

/* Lean of the centre of mass, and how much of it a rad of the waist makes. */
double model_lean(const struct model *model, double pitch_rad, double waist_rad);
double model_lean_by_waist(const struct model *model, double pitch_rad, double waist_rad);

struct model_linear model_linear(const struct model *model, double waist_rad);
