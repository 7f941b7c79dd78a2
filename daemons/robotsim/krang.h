/* krang.h: Golem Krang's body: a base on two wheels, and an upper body on a waist (hw-docs/devices/krang-body.md).
 *
 *	struct krang krang = { .settings = settings };
 *	struct krang_input in = { .left_a = 3, .right_a = 3, .waist_rad = 0.3 };
 *
 *	krang_place(&krang, KRANG_START_STANDING, 0.3);
 *	for (;;)
 *		krang_step(&krang, &in, 0.5e-3);
 *
 * Forward is x, up is z, the axle is the origin.  Pitch is positive forwards, the waist positive where it folds
 * forwards, heading positive to the left.  The waist is servoed: its motion is given, the torque on it follows.
 *
 * Pure: nothing here allocates, blocks or reads a clock.
 */
#pragma once

#include "config/settings/settings.h"
#include "daemons/robotsim/body.h"

#define KRANG_STEP_S 0.5e-3 /* longest step for which the equations are accurate */

enum krang_start { KRANG_START_SITTING, KRANG_START_STANDING, KRANG_START_HELD };

struct krang_settings {
	double base_mass, upper_mass, wheel_mass; /* kg; of one wheel */
	double base_x, base_z, waist_x, waist_z;  /* m from the axle: CoM of the base, waist axis */
	double upper_x, upper_z;		  /* m from the waist axis: CoM of the upper body */
	double base_roll, base_pitch, base_yaw;	  /* kg m^2 about its CoM */
	double upper_roll, upper_pitch, upper_yaw;
	double wheel_inertia, wheel_across;	     /* kg m^2 about the axle, about a diameter */
	double wheel_radius, wheel_base;	     /* m */
	double gear, torque_constant, rotor_inertia; /* of a wheel's motor: 1, N m/A, kg m^2 */
	double friction, viscous;		     /* of a wheel: N m, N m s/rad */
	double gravity;				     /* m/s^2 */
	double caster_x, caster_z, head_x, head_z;   /* m: what touches the floor: of base, of upper body */
	double floor_stiffness, floor_damping;	     /* N/m, N s/m */
	double imu_x, imu_z;			     /* m from the axle */
	double push_height;			     /* m above the axle */
	double fall;				     /* rad of lean */
	int start;				     /* enum krang_start */
	/* for the coupling, sim_body.c */
	double waist; /* rad, without a device */
	bool waist_reversed;
	int64_t waist_modules;
	double disturbance; /* N rms */
	int64_t seed;
};
extern const struct settings_row krang_rows[];

struct krang_input {
	double left_a, right_a;			     /* of the motors, forwards */
	double waist_rad, waist_rad_s, waist_rad_s2; /* when the step begins */
	double push_n;				     /* forwards */
};

enum krang_mode { KRANG_HELD, KRANG_SITTING, KRANG_STANDING, KRANG_FALLEN };

/* What is integrated: of the axle, of the base, and its heading. */
struct krang_state {
	double x, v, th, th_s, ps, ps_s;
};

struct krang {
	struct krang_settings settings;
	union {
		struct krang_state state;
		struct {
			double travel_m, speed_m_s, pitch_rad, rate_rad_s, heading_rad, turn_rad_s;
		};
	};
	double waist_rad, waist_rad_s;
	/* when the last step ended, by its input */
	double accel_m_s2, rate_rad_s2, turn_rad_s2;
	/* waist_inertia * acceleration of the waist = torque of its motor + waist_load_nm, positive where it folds. */
	double waist_inertia, waist_load_nm;
	enum krang_mode mode;
	double free_s; /* time for which it touched nothing but the floor below its wheels */
	unsigned int falls;
};

/* From its settings, with the waist at this angle; falls are kept. */
void krang_place(struct krang *k, enum krang_start start, double waist_rad);
/* With dt_s 0 it only computes accelerations and the waist's load. */
void krang_step(struct krang *k, const struct krang_input *in, double dt_s);

double krang_balance_rad(const struct krang *k, double waist_rad); /* pitch with the CoM above the axle; for tests */
double krang_lean_rad(const struct krang *k);			   /* of the CoM, wheels left out; positive forwards */
double krang_energy_j(const struct krang *k);			   /* for tests */
/* A wheel relative to the base, positive forwards. */
double krang_wheel_rad(const struct krang *k, bool right);
double krang_wheel_rad_s(const struct krang *k, bool right);
void krang_motion(const struct krang *k, struct sim_motion *motion); /* of the sensor in the base */
