/* ros_plan.c: how the structs of channels/msg/types.h are copied to endplate_msgs and back, worked out once. */
#include <string.h>

#include "channels/ros/ros_plan.h"

/* clang-format off */
#define ONE(...) +1
#define ROWS_OF_GROUP(struct_name, TABLE) TABLE(ONE)
#define ROWS_OF_TYPE(struct_name, TABLE, number, version, name, retained) TABLE(ONE)
enum { STEPS = MSG_GROUPS(ROWS_OF_GROUP) MSG_TYPES(ROWS_OF_TYPE), PLANS = MSG_GROUPS(ONE) MSG_TYPES(ONE) };
/* clang-format on */

static struct ros_step steps[STEPS];
static struct ros_plan plans[PLANS]; /* of the rows of msg_structs */

static bool counts(const struct msg_field *list, const struct msg_field *count)
{
	return list->used && !strcmp(list->used, count->name);
}

bool ros_plan_has(const struct msg_group *group, const struct msg_field *field)
{
	bool has = strcmp(field->name, "reserved") != 0;

	for (size_t i = 0; i < group->n; i++)
		has &= !counts(&group->fields[i], field);
	return has;
}

static const struct ros_plan *plan_of(const struct msg_group *group)
{
	size_t i = 0;

	while (msg_structs[i].group != group)
		i++;
	return &plans[i];
}

/* Structs have no padding: the offset of a field is the sum of the sizes before it. */
static void find_count(struct ros_step *step, const struct msg_group *group, const struct msg_field *list)
{
	const struct msg_field *f = group->fields;

	step->counted = step->first = true;
	for (; !counts(list, f); f++)
		step->count_offset = (uint16_t)(step->count_offset + msg_field_size(f));
	for (f = group->fields; f < list; f++)
		step->first &= !f->used || strcmp(f->used, list->used) != 0;
}

static struct ros_step step_of(const struct msg_group *group, const struct msg_field *f, size_t offset)
{
	struct ros_step step = {
		.size = f->size, .count = f->count ? f->count : 1, .offset = (uint16_t)offset, .run_steps = 1
	};

	if (f->kind == MSG_group) {
		step.kind = ROS_STEP_GROUPS;
		step.group = plan_of(f->group);
	} else if (f->kind == MSG_name || f->kind == MSG_text) {
		step.kind = ROS_STEP_TEXTS;
	}
	if (f->used)
		find_count(&step, group, f);
	else if (step.kind == ROS_STEP_NUMBERS)
		step.run_bytes = (uint16_t)msg_field_size(f);
	return step;
}

/* In order: of the steps behind i, run_bytes are those of the field alone. */
static void find_runs(struct ros_step *first, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n && first[i].run_bytes && first[k].run_bytes; k++) {
			if (first[k].offset != first[i].offset + first[i].run_bytes || first[k].size > first[i].size)
				break;
			first[i].run_bytes = (uint16_t)(first[i].run_bytes + first[k].run_bytes);
			first[i].run_steps++;
		}
}

__attribute__((constructor)) static void prepare(void)
{
	struct ros_step *step = steps;

	for (size_t i = 0; i < msg_structs_n; i++) {
		const struct msg_group *group = msg_structs[i].group;
		size_t offset = 0;

		plans[i].steps = step;
		for (const struct msg_field *f = group->fields; f < group->fields + group->n; f++) {
			if (ros_plan_has(group, f))
				*step++ = step_of(group, f, offset);
			offset += msg_field_size(f);
		}
		plans[i].n = (size_t)(step - plans[i].steps);
		find_runs(step - plans[i].n, plans[i].n);
	}
}

const struct ros_plan *ros_plan_of(const struct msg_type *type)
{
	return &plans[msg_structs_n - msg_types_n + (size_t)(type - msg_types)]; /* msg_structs ends with the types */
}
