/* robot_tables.c: the keys of the robot file. */
#include "config/settings/robot.h"

#define HEX "0123456789ABCDEFabcdef"

static const char *interface_form(const char *text)
{
	const char *form = "an interface such as can0, wire:NAME or log:FILE";
	bool log = !strncmp(text, "log:", 4), wire = !strncmp(text, "wire:", 5);

	if (log)
		return text[4] ? NULL : form;
	/* The kernel takes 15 bytes. */
	return text_is_name(text + (wire ? 5 : 0)) && (wire || strlen(text) <= 15) ? NULL : form;
}

/* Form only: what can/ reads as a frame with data. */
static const char *clock_form(const char *text)
{
	const char *form = "none or a frame such as 080#";
	size_t id = strspn(text, HEX), data;

	if (!strcmp(text, "none"))
		return NULL;
	if (text[id] != '#' || !((id == 3 && text[0] <= '7') || (id == 8 && text[0] <= '1')))
		return form;
	data = strspn(text + id + 1, HEX);
	return data % 2 || data > 16 || text[id + 1 + data] ? form : NULL;
}

const struct settings_row robot_rows[] = {
	SETTINGS_NODE("like", struct robot, like_node, NULL, "another robot file, for what is not said here"),
	SETTINGS_TEXT("robot", struct robot, name, SETTINGS_REQUIRED, "the robot's name", .check = text_name_form),
	SETTINGS_NODE("buses", struct robot, buses_node, SETTINGS_REQUIRED, "its buses by name"),
	SETTINGS_NODE("devices", struct robot, devices_node, SETTINGS_REQUIRED, "its devices by name"),
	SETTINGS_NODE("body", struct robot, body.node, NULL, "what its devices move, for the simulator"),
	SETTINGS_END,
};

const struct settings_row robot_bus_rows[] = {
	SETTINGS_TEXT("interface", struct robot_bus, interface, SETTINGS_REQUIRED, "can0, wire:NAME or log:FILE",
		      .check = interface_form),
	SETTINGS_INT("bitrate", struct robot_bus, bitrate, "bit/s", "1000000", "10000", "1000000", "speed of the bus"),
	SETTINGS_INT("data_bitrate", struct robot_bus, data_bitrate, "bit/s", "0", "0", "10000000",
		     "speed of the data of CAN FD frames; 0: a classic bus"),
	SETTINGS_REAL("sample_point", struct robot_bus, sample_point, "", "0", "0", "0.999",
		      "where in the bit it is read; 0: the controller's choice"),
	SETTINGS_INT("restart_ms", struct robot_bus, restart_ms, "ms", "0", "0", "10000",
		     "restart after bus-off; 0: by its owner, once all drivers on it hold"),
	SETTINGS_INT("in_flight", struct robot_bus, in_flight, "frames", "2", "1", "8",
		     "frames of one driver that the interface holds at a time"),
	SETTINGS_TEXT("clock", struct robot_bus, clock, "none", "frame sent first in each cycle, or none",
		      .check = clock_form),
	SETTINGS_INT("clock_divider", struct robot_bus, clock_divider, "cycles", "1", "1", "1000",
		     "cycles between two clock frames"),
	SETTINGS_END,
};

const struct settings_row robot_device_rows[] = {
	SETTINGS_TEXT("driver", struct robot_device, driver, SETTINGS_REQUIRED, "the program that drives it",
		      .check = text_name_form),
	SETTINGS_NODE("bus", struct robot_device, bus_node, NULL,
		      "its bus, or a list, or a mapping from role to bus; a controller has none"),
	SETTINGS_BOOL("actuated", struct robot_device, actuated, "yes",
		      "it moves: arming waits for it; no by default without a bus"),
	SETTINGS_NODE("ids", struct robot_device, ids, NULL, "its numbers on the bus, if the driver asks for them"),
	SETTINGS_NODE("settings", struct robot_device, settings, NULL, "the driver's settings: DRIVER --settings"),
	SETTINGS_NODE("limits", struct robot_device, limits_node, NULL, "what references may ask for"),
	SETTINGS_NODE("sim", struct robot_device, sim, NULL, "what the simulator plays"),
	SETTINGS_END,
};

const struct settings_row robot_limits_rows[] = {
	SETTINGS_REALS("position", struct robot_limits, position, position_n, "rad", NULL, NULL, NULL,
		       "lowest and highest position"),
	SETTINGS_REAL("velocity", struct robot_limits, velocity, "rad/s", NULL, "0", NULL, "highest velocity"),
	SETTINGS_REAL("acceleration", struct robot_limits, acceleration, "rad/s^2", NULL, "0.001", NULL,
		      "highest acceleration"),
	SETTINGS_REAL("jerk", struct robot_limits, jerk, "rad/s^3", NULL, "0.001", NULL,
		      "highest change of the acceleration, for those who plan a motion"),
	SETTINGS_REAL("current", struct robot_limits, current, "A", NULL, "0", NULL, "highest current"),
	SETTINGS_REAL("current_slew", struct robot_limits, current_slew, "A/s", NULL, "0.001", NULL,
		      "fastest change of the current"),
	SETTINGS_REAL("step", struct robot_limits, step, "rad", NULL, "0", NULL,
		      "farthest from one reference to the next"),
	SETTINGS_END,
};

const struct settings_row robot_body_rows[] = {
	SETTINGS_TEXT("kind", struct robot_body, kind, SETTINGS_REQUIRED, "the body: krang", .check = text_name_form),
	SETTINGS_TEXT("wheels", struct robot_body, names[0], "", "the device whose drives turn the wheels"),
	SETTINGS_TEXT("imu", struct robot_body, names[1], "", "the device that measures its motion"),
	SETTINGS_TEXT("waist", struct robot_body, names[2], "", "the device whose joint is the waist"),
	SETTINGS_NODE("settings", struct robot_body, settings, NULL, "settings of the body: robotsim run --settings"),
	SETTINGS_END,
};

const struct settings_row robot_joints_rows[] = {
	SETTINGS_NODE("joints", struct robot_joints, node, NULL, "limits of single joints, by name"),
	SETTINGS_END,
};
