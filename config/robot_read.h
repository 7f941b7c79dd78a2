/* robot_read.h: private to robot*.c: from the tree of the file to the structs. */
#ifndef CONFIG_ROBOT_READ_H
#define CONFIG_ROBOT_READ_H

#include "config/robot.h"

/* Stands beside the limits of a device, not of a joint. */
struct robot_joints {
	const struct yaml_node *node;
};

/* The parts one by one; what is wrong goes to errors, and reading goes on. */
void robot_read(struct robot *robot, struct error_sink *errors);
/* How the parts fit together: finds the buses of each device. */
void robot_check(const struct robot *robot, struct error_sink *errors);

#endif
