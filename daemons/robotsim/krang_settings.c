/* krang_settings.c: the figures of Krang's body; hw-docs/devices/krang-body.md has their sources. */
#include "daemons/robotsim/krang.h"

static const char *const starts[] = { "sitting", "standing", "held", NULL };

#define REAL(key, unit, preset, min, max, help) \
	SETTINGS_REAL(#key, struct krang_settings, key, unit, preset, min, max, help)
/* clang-format off */
const struct settings_row krang_rows[] = {
	SETTINGS_WORD("start", struct krang_settings, start, starts, "sitting",
		      "on its caster; upright; or upright and held until its wheels are driven"),
	REAL(waist, "rad", "0.3", "-1", "3.1", "angle of the waist if no device moves it"),
	SETTINGS_BOOL("waist_reversed", struct krang_settings, waist_reversed, "yes",
		      "the device's position falls where the waist folds"),
	SETTINGS_INT("waist_modules", struct krang_settings, waist_modules, "", "2", "1", "8",
		     "modules that carry the waist together, of which one is simulated"),
	REAL(disturbance, "N", "0", "0", "1000", "random push on the base, rms"),
	SETTINGS_INT("seed", struct krang_settings, seed, "", "1", "0", "0xFFFFFFFF", "seed of the random numbers"),
	REAL(push_height, "m", "0.5", "-1", "3", "where it is pushed, above the axle"),
	REAL(fall, "rad", "0.5236", "0.1", "1.5", "it has fallen when its CoM leans farther"),
	REAL(base_mass, "kg", "75.767", "1", "1000", "of the base with battery, computer and motors"),
	REAL(upper_mass, "kg", "59.21", "1", "1000", "of all above the waist"),
	REAL(wheel_mass, "kg", "4.66", "0.01", "100", "of each wheel"),
	REAL(base_x, "m", "-0.0006", "-1", "1", "CoM of the base, forward of the axle"),
	REAL(base_z, "m", "0.0767", "-1", "1", "CoM of the base, above the axle"),
	REAL(waist_x, "m", "0.091", "-1", "1", "waist axis, forward of the axle"),
	REAL(waist_z, "m", "0.499", "0.01", "2", "waist axis, above the axle"),
	REAL(upper_x, "m", "-0.032", "-1", "1", "CoM of the upper body, forward of the waist axis"),
	REAL(upper_z, "m", "0.675", "0.01", "2", "CoM of the upper body, above the waist axis"),
	REAL(base_roll, "kg m^2", "3.2", "0.01", "1000", "inertia of the base"),
	REAL(base_pitch, "kg m^2", "3.0", "0.01", "1000", "inertia of the base"),
	REAL(base_yaw, "kg m^2", "2.5", "0.01", "1000", "inertia of the base"),
	REAL(upper_roll, "kg m^2", "12.3", "0.01", "1000", "inertia of the upper body"),
	REAL(upper_pitch, "kg m^2", "9.80", "0.01", "1000", "inertia of the upper body"),
	REAL(upper_yaw, "kg m^2", "4.5", "0.01", "1000", "inertia of the upper body"),
	REAL(wheel_inertia, "kg m^2", "0.166", "0.0001", "100", "of a wheel about the axle"),
	REAL(wheel_across, "kg m^2", "0.083", "0.0001", "100", "of a wheel about a diameter"),
	REAL(wheel_radius, "m", "0.264", "0.01", "1", "loaded"),
	REAL(wheel_base, "m", "0.70", "0.1", "3", "between the wheels"),
	REAL(gear, "", "15", "1", "1000", "motor turns for one of the wheel"),
	REAL(torque_constant, "N m/A", "0.08474", "0.0001", "100", "of a wheel's motor"),
	REAL(rotor_inertia, "kg m^2", "1.6e-4", "0", "1", "of a wheel's motor"),
	REAL(friction, "N m", "1.5", "0", "100", "dry, of each wheel"),
	REAL(viscous, "N m s/rad", "0.3", "0", "100", "of each wheel"),
	REAL(gravity, "m/s^2", "9.81", "-100", "100", "acceleration of free fall"),
	REAL(imu_x, "m", "0", "-1", "1", "inertial sensor in the base, forward of the axle"),
	REAL(imu_z, "m", "0.1", "-1", "2", "inertial sensor in the base, above the axle"),
	REAL(caster_x, "m", "-0.08", "-2", "2", "caster in the base, forward of the axle"),
	REAL(caster_z, "m", "0.6", "0.01", "2", "caster in the base, above the axle"),
	REAL(head_x, "m", "0", "-2", "2", "top of the upper body, forward of the waist axis"),
	REAL(head_z, "m", "1", "0.01", "3", "top of the upper body, above the waist axis"),
	REAL(floor_stiffness, "N/m", "200000", "1000", "1000000", "of the floor below caster and head"),
	REAL(floor_damping, "N s/m", "5000", "0", "10000", "of the floor below caster and head"),
	SETTINGS_END,
};
/* clang-format on */
