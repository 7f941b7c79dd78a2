/* How structs are copied: each run and stretch against its definition, step by step. */
#include "channels/ros/ros_layout.h"
#include "test/lib/testcase.h"

static bool is_plain(const struct ros_step *s)
{
	return s->kind == ROS_STEP_NUMBERS && !s->counted;
}

/* Plain numbers one behind the other, of at most that size behind the first. */
static void is_long(const struct ros_layout *l, size_t i, unsigned int most, unsigned int bytes, unsigned int steps)
{
	const struct ros_step *s = &l->steps[i], *end = l->steps + l->n;
	unsigned int sum = is_plain(s) ? s->size * s->count : 0, n = 1;

	for (const struct ros_step *next = s + 1; is_plain(s) && next < end && is_plain(next); next++, n++) {
		if (next->offset != s->offset + sum || next->size > most)
			break;
		sum += next->size * next->count;
	}
	TEST_ASSERT_EQUAL_UINT(sum, bytes);
	TEST_ASSERT_EQUAL_UINT(n, steps);
}

static void check(const struct ros_layout *layout)
{
	for (size_t i = 0; i < layout->n; i++) {
		const struct ros_step *s = &layout->steps[i];

		is_long(layout, i, s->size, s->run_bytes, s->run_steps);
		is_long(layout, i, sizeof(uint64_t), s->stretch_bytes, s->stretch_steps);
		if (s->kind == ROS_STEP_GROUPS)
			check(s->group);
	}
}

TEST(runs_and_stretches_are_as_long_as_can_be)
{
	for (size_t i = 0; i < msg_types_n; i++) {
		TEST_ASSERT_GREATER_THAN_size_t(1, ros_layout_of(&msg_types[i])->n);
		check(ros_layout_of(&msg_types[i]));
	}
}
