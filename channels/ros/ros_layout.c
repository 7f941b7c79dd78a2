/* ros_layout.c: how the structs of channels/msg/types.h are copied to endplate_msgs and back, worked out once.
 *
 * Checked: covered.
 */
#include "channels/ros/ros_layout.h"

/* clang-format off */
/* The steps of each struct, at most: one of each row, and those of the structs inside it. */
#define STEPS_u8(d) 1
#define STEPS_u16(d) 1
#define STEPS_u32(d) 1
#define STEPS_u64(d) 1
#define STEPS_i32(d) 1
#define STEPS_i64(d) 1
#define STEPS_f64(d) 1
#define STEPS_name(d) 1
#define STEPS_text(d) 1
#define STEPS_word(d) 1
#define STEPS_flags(d) 1
#define STEPS_group(d) steps_##d
#define STEPS_OF_ROW(kind, name, dims, used, unit, detail) + STEPS_##kind(detail)
#define STEPS_OF_GROUP(struct_name, TABLE) steps_##struct_name = 0 TABLE(STEPS_OF_ROW),
#define STEPS_OF_TYPE(struct_name, TABLE, number, version, name, retained) STEPS_OF_GROUP(struct_name, TABLE)
enum { MSG_GROUPS(STEPS_OF_GROUP) MSG_TYPES(STEPS_OF_TYPE) };

#define ONE(...) +1
#define ADD(struct_name, ...) + steps_##struct_name
enum { STEPS = MSG_GROUPS(ADD) MSG_TYPES(ADD), PLANS = MSG_GROUPS(ONE) MSG_TYPES(ONE) };
/* clang-format on */

static struct ros_step steps[STEPS];
static struct ros_layout plans[PLANS]; /* of the rows of msg_structs */

bool ros_layout_has(const struct msg_group *group, const struct msg_field *field)
{
	return !msg_is_reserved(field) && !msg_is_count(group, field);
}

static const struct ros_layout *plan_of(const struct msg_group *group)
{
	size_t i = 0;

	while (msg_structs[i].group != group)
		i++;
	return &plans[i];
}

static void find_count(struct ros_step *step, const struct msg_group *group, const struct msg_field *list)
{
	const struct msg_field *count = msg_count_of(group, list);

	step->counted = step->first = true;
	step->count_offset = (uint16_t)(step->count_offset + msg_offset(group, count));
	for (const struct msg_field *f = group->fields; f < list; f++)
		step->first &= msg_count_of(group, f) != count;
}

/* base: of the struct that the group is a part of. */
static struct ros_step step_of(const struct msg_group *group, const struct msg_field *f, size_t base, size_t offset)
{
	struct ros_step step = { .size = f->size,
				 .count = f->count ? f->count : 1,
				 .offset = (uint16_t)(base + offset),
				 .count_offset = (uint16_t)base,
				 .run_steps = 1,
				 .stretch_steps = 1 };

	if (msg_is_reserved(f)) {
		step.kind = ROS_STEP_RESERVED;
	} else if (f->kind == MSG_group) {
		step.kind = ROS_STEP_GROUPS;
		step.group = plan_of(f->group);
	} else if (f->kind == MSG_name || f->kind == MSG_text) {
		step.kind = ROS_STEP_TEXTS;
	}
	if (f->used)
		find_count(&step, group, f);
	else if (step.kind == ROS_STEP_NUMBERS)
		step.run_bytes = step.stretch_bytes = (uint16_t)msg_field_size(f);
	return step;
}

/* Returns the end of the steps. */
static struct ros_step *add_steps(struct ros_step *to, const struct msg_group *group, size_t base)
{
	size_t offset = 0;

	for (const struct msg_field *f = group->fields; f < group->fields + group->n; f++) {
		if (f->kind == MSG_group && !f->count)
			to = add_steps(to, f->group, base + offset);
		else if (!msg_is_count(group, f))
			*to++ = step_of(group, f, base, offset);
		offset += msg_field_size(f);
	}
	return to;
}

/* From the last one on: behind a step its run and its stretch are known. */
static void find_runs(struct ros_step *first, struct ros_step *end)
{
	for (struct ros_step *s = end - 1; s-- > first;) {
		const struct ros_step *next = s + 1;

		if (!s->run_bytes || !next->run_bytes || next->offset != s->offset + s->run_bytes)
			continue;
		s->stretch_bytes = (uint16_t)(s->stretch_bytes + next->stretch_bytes);
		s->stretch_steps = (uint16_t)(s->stretch_steps + next->stretch_steps);
		/* The run ends before the first number that is larger than this one. */
		for (; next < s + s->stretch_steps && next->size <= s->size; next++) {
			s->run_bytes = (uint16_t)(next->offset + next->size * next->count - s->offset);
			s->run_steps++;
		}
	}
}

__attribute__((constructor)) static void prepare(void)
{
	struct ros_step *step = steps;

	for (size_t i = 0; i < msg_structs_n; i++) {
		struct ros_step *first = step;

		step = add_steps(step, msg_structs[i].group, 0);
		plans[i] = (struct ros_layout){ first, (size_t)(step - first) };
		find_runs(first, step);
	}
}

const struct ros_layout *ros_layout_of(const struct msg_type *type)
{
	return &plans[msg_structs_n - msg_types_n + (size_t)(type - msg_types)]; /* msg_structs ends with the types */
}
