/* balanced_settings.h: the settings of balanced: its robot, how it weighs errors, and its limits. */
#pragma once

#include "config/settings/settings.h"
#include "daemons/balance/balance.h"

struct balanced_settings {
	char imu[24], wheels[24], waist[24];
	char waist_joint[24];
	double waist_sign;
	bool stands;
	int64_t valid_ns;
	struct model model;
	struct gains_weights weights;
	struct balance_limits limits;
	double stand_deg, fall_deg;
};

#define BALANCED_ROW(TYPE, key, ...) SETTINGS_##TYPE(key, struct balanced_settings, __VA_ARGS__)
static const struct settings_row balanced_settings_rows[] = {
	BALANCED_ROW(TEXT, "imu", imu, "imu", "device that measures the base's motion"),
	BALANCED_ROW(TEXT, "wheels", wheels, "wheels", "device of the two drives, joints left and right"),
	BALANCED_ROW(TEXT, "waist", waist, "waist", "device of the waist"),
	BALANCED_ROW(TEXT, "waist_joint", waist_joint, "15", "which of its joints"),
	BALANCED_ROW(REAL, "waist_sign", waist_sign, "", "-1", "-1", "1", "1 if the joint folds the robot forward"),
	BALANCED_ROW(BOOL, "stand", stands, "no", "stands up by itself once it is armed, not only on request"),
	BALANCED_ROW(DURATION, "valid", valid_ns, "100ms", "2ms", "200ms",
		     "how long the drives follow the last current if nothing newer comes"),

	BALANCED_ROW(REAL, "base_mass", model.base.kg, "kg", "75.767", "1", "500", "base without wheels"),
	BALANCED_ROW(REAL, "base_forward", model.base.forward_m, "m", "-0.0006", "-1", "1",
		     "its centre of mass, ahead of the axle"),
	BALANCED_ROW(REAL, "base_up", model.base.up_m, "m", "0.0767", "-1", "2", "and above it"),
	BALANCED_ROW(REAL, "base_inertia", model.base.inertia_kg_m2, "kg m^2", "3", "0", "200",
		     "about its centre of mass, in pitch"),
	BALANCED_ROW(REAL, "waist_forward", model.waist_forward_m, "m", "0.091", "-1", "1",
		     "axis of the waist, ahead of the axle"),
	BALANCED_ROW(REAL, "waist_up", model.waist_up_m, "m", "0.499", "0", "2", "and above it"),
	BALANCED_ROW(REAL, "waist_braking", model.waist_braking_rad_s2, "rad/s^2", "1.74", "0.1", "1000",
		     "how the waist stops by itself when its driver is dead"),
	BALANCED_ROW(REAL, "upper_mass", model.upper.kg, "kg", "59.21", "0.1", "500", "all above the waist"),
	BALANCED_ROW(REAL, "upper_forward", model.upper.forward_m, "m", "-0.032", "-1", "1",
		     "its centre of mass, ahead of the waist"),
	BALANCED_ROW(REAL, "upper_up", model.upper.up_m, "m", "0.675", "-1", "2",
		     "and above it, with a straight waist"),
	BALANCED_ROW(REAL, "upper_inertia", model.upper.inertia_kg_m2, "kg m^2", "9.8", "0", "200",
		     "about its centre of mass, in pitch"),
	BALANCED_ROW(REAL, "wheel_mass", model.wheel_kg, "kg", "4.66", "0.1", "100", "of each"),
	BALANCED_ROW(REAL, "wheel_radius", model.wheel_radius_m, "m", "0.264", "0.02", "1", "under load"),
	BALANCED_ROW(REAL, "wheel_inertia", model.wheel_inertia_kg_m2, "kg m^2", "0.166", "0.0001", "10",
		     "about the axle"),
	BALANCED_ROW(REAL, "wheel_base", model.wheel_base_m, "m", "0.70", "0.1", "3", "from wheel to wheel"),
	BALANCED_ROW(REAL, "gear", model.gear, "", "15", "1", "1000", "turns of the motor for one of the wheel"),
	BALANCED_ROW(REAL, "torque_constant", model.nm_per_a, "N m/A", "0.08474", "0.001", "10", "of the motor"),
	BALANCED_ROW(REAL, "rotor_inertia", model.rotor_inertia_kg_m2, "kg m^2", "1.6e-4", "0", "0.1", "of the motor"),

	BALANCED_ROW(REAL, "weight_lean", weights.lean, "", "300", "0", "1e9", "cost of lean^2, rad"),
	BALANCED_ROW(REAL, "weight_lean_rate", weights.lean_rate, "", "96000", "0", "1e9", "of its rate^2, rad/s"),
	BALANCED_ROW(REAL, "weight_wheel", weights.wheel, "", "30000", "1e-6", "1e9", "of the wheels' angle^2, rad"),
	BALANCED_ROW(REAL, "weight_wheel_rate", weights.wheel_rate, "", "90000", "0", "1e9", "of their rate^2, rad/s"),
	BALANCED_ROW(REAL, "weight_current", weights.current, "", "3231", "1e-6", "1e9",
		     "of the current^2 of a motor, A"),

	BALANCED_ROW(REAL, "current", limits.current_a, "A", "49", "0.1", "500", "most for each motor"),
	BALANCED_ROW(REAL, "turn_current", limits.turn_a, "A", "30", "0", "500", "of it, most for turning"),
	BALANCED_ROW(REAL, "speed", limits.speed_m_s, "m/s", "0.5", "0", "5", "most that is followed"),
	BALANCED_ROW(REAL, "acceleration", limits.acceleration_m_s2, "m/s^2", "0.3", "0.01", "5",
		     "of the speed followed"),
	BALANCED_ROW(REAL, "turn", limits.turn_rad_s, "rad/s", "1.3", "0", "10", "most turn rate that is followed"),
	BALANCED_ROW(REAL, "stand_lean", stand_deg, "deg", "16", "0", "45", "stands up from a lean up to this"),
	BALANCED_ROW(REAL, "fall_lean", fall_deg, "deg", "30", "1", "80", "no current beyond this lean"),
	SETTINGS_END,
};
