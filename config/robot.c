/* robot.c: opening, closing and asking a robot file. */
#include <errno.h>
#include <string.h>

#include "config/robot_read.h"

static int make(struct robot *robot, struct error_sink *errors)
{
	unsigned int before = errors->count;

	robot_read(robot, errors);
	robot_check(robot, errors);
	if (errors->count == before)
		return 0;
	robot_close(robot);
	return -EINVAL;
}

int robot_open(struct robot *robot, const char *path, struct error_sink *errors)
{
	int err;

	memset(robot, 0, sizeof(*robot));
	err = yaml_open_file(&robot->doc, path, errors);
	return err ? err : make(robot, errors);
}

int robot_open_text(struct robot *robot, const char *name, const char *text, size_t len, struct error_sink *errors)
{
	int err;

	memset(robot, 0, sizeof(*robot));
	err = yaml_open_text(&robot->doc, name, text, len, errors);
	return err ? err : make(robot, errors);
}

void robot_close(struct robot *robot)
{
	yaml_close(robot->doc);
	memset(robot, 0, sizeof(*robot));
}

const struct robot_bus *robot_bus(const struct robot *robot, const char *name)
{
	for (size_t i = 0; i < robot->buses_n; i++)
		if (!strcmp(robot->buses[i].name, name))
			return &robot->buses[i];
	return NULL;
}

const struct robot_device *robot_device(const struct robot *robot, const char *name)
{
	for (size_t i = 0; i < robot->devices_n; i++)
		if (!strcmp(robot->devices[i].name, name))
			return &robot->devices[i];
	return NULL;
}

const struct robot_limits *robot_limits(const struct robot_device *device, const char *joint)
{
	for (size_t i = 0; i < device->joints_n; i++)
		if (!strcmp(device->joints[i].name, joint))
			return &device->joints[i].limits;
	return &device->limits;
}
