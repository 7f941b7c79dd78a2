/* ros_layout.h: how the structs of channels/msg/types.h are copied to endplate_msgs and back, worked out once.
 *
 * A struct is a list of steps, one of each field, with those of a struct inside it in its place.  Numbers have no
 * padding in memory, and CDR aligns a number to its size.  So of numbers one behind the other in memory
 *
 *	a run, in which none is larger than the first, lies in CDR as in memory, wherever that first one begins;
 *	a stretch, of any sizes, does so if it begins at the same place modulo 8 in CDR and in the struct,
 *
 * and is copied at once.
 */
#pragma once

#include "channels/msg/msg.h"

/* endplate_msgs has no place for what is reserved. */
enum ros_step_kind { ROS_STEP_NUMBERS, ROS_STEP_TEXTS, ROS_STEP_GROUPS, ROS_STEP_RESERVED };

struct ros_step {
	enum ros_step_kind kind;
	uint16_t size, count; /* of one element, and elements there is room for; 1 if it is not an array */
	uint16_t offset;      /* in the struct */
	bool counted;	      /* only elements up to a u32 at count_offset count */
	bool first;	      /* of the lists that have this count */
	uint16_t count_offset;
	uint16_t run_bytes, stretch_bytes; /* that begin here; 0: this is not a number, or counted */
	uint16_t run_steps, stretch_steps; /* at least 1 */
	const struct ros_layout *group;
};

struct ros_layout {
	const struct ros_step *steps;
	size_t n;
};

/* type: a row of msg_types. */
const struct ros_layout *ros_layout_of(const struct msg_type *type);

/* What endplate_msgs has of a struct: all but counts and reserved places. */
bool ros_layout_has(const struct msg_group *group, const struct msg_field *field);
