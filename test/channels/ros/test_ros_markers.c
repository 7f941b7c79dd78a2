/* The picture of a balancing robot: where its shapes are, by plane geometry. */
#include <math.h>

#include "channels/ros/ros_map.h"
#include "test/lib/testcase.h"

#define MARKERS 32
#define EXACT 1e-12

static struct msg_balance_state state;
static struct msg_joint_state arms[2];
static struct ros_context context;

static struct marker {
	char frame[32], ns[16], text[32];
	int32_t id, type, action, lifetime_s;
	double at[3], turn[4], size[3];
	float rgba[4];
	uint8_t locked;
} markers[MARKERS];
static uint32_t count;

enum { LEFT_WHEEL = 0, LEFT_SPOKE = 1, RIGHT_SPOKE = 3, BASE = 4, HINGE = 5, TORSO = 6, HEAD = 8, TEXT = 9, ARM = 20 };

void setUp(void)
{
	msg_init(&state, msg_type_by_number(msg_balance_state_number));
	state.mode = MSG_BALANCE_STANDING;
	state.header.t_publish_ns = 5000000000;
	context = (struct ros_context){ .wall_ns = 77 };
	for (int i = 0; i < 2; i++) {
		msg_init(&arms[i], msg_type_by_number(msg_joint_state_number));
		arms[i].header.t_publish_ns = 4100000000;
		arms[i].count = 7;
	}
}

static void get_text(struct cdr_in *in, char *to, size_t size)
{
	size_t len;
	const char *from = cdr_get_string(in, &len);

	TEST_ASSERT_LESS_THAN_size_t(size, len);
	memcpy(to, from, len);
	to[len] = 0;
}

static void get_nothing(struct cdr_in *in, int words)
{
	while (words--)
		TEST_ASSERT_EQUAL_UINT32(0, cdr_get_u32(in));
}

static void get_empty(struct cdr_in *in)
{
	char text[32];

	get_text(in, text, sizeof(text));
	TEST_ASSERT_EQUAL_STRING("", text);
}

static void get_marker(struct cdr_in *in, struct marker *m)
{
	get_nothing(in, 2); /* stamp */
	get_text(in, m->frame, sizeof(m->frame));
	get_text(in, m->ns, sizeof(m->ns));
	m->id = cdr_get_i32(in);
	m->type = cdr_get_i32(in);
	m->action = cdr_get_i32(in);
	cdr_get(in, m->at, 8, 3);
	cdr_get(in, m->turn, 8, 4);
	cdr_get(in, m->size, 8, 3);
	cdr_get(in, m->rgba, 4, 4);
	m->lifetime_s = cdr_get_i32(in);
	get_nothing(in, 1);
	m->locked = cdr_get_u8(in);
	get_nothing(in, 2); /* points, colors */
	get_empty(in);
	get_nothing(in, 2); /* texture */
	get_empty(in);
	get_empty(in);
	get_nothing(in, 2);
	get_text(in, m->text, sizeof(m->text));
	get_empty(in);
	get_empty(in); /* mesh_file */
	get_nothing(in, 1);
	TEST_ASSERT_EQUAL_UINT8(0, cdr_get_u8(in));
}

static void draw_with(const struct ros_context *c)
{
	static uint8_t cdr[ROS_CDR_MAX];
	const struct ros_map *map = ros_map_for(msg_balance_state_number, ROS_PICTURE);
	struct cdr_in in = cdr_in(cdr, ros_encode(map, &state, sizeof(state), c, cdr, sizeof(cdr)));

	count = cdr_get_u32(&in);
	TEST_ASSERT_LESS_THAN_UINT32(MARKERS, count);
	for (uint32_t i = 0; i < count; i++)
		get_marker(&in, &markers[i]);
	TEST_ASSERT_FALSE(in.bad);
	TEST_ASSERT_EQUAL_size_t(in.len, in.at);
}

static void draw(void)
{
	draw_with(&context);
}

static const struct marker *find(int32_t id)
{
	for (uint32_t i = 0; i < count; i++)
		if (markers[i].id == id)
			return &markers[i];
	return NULL;
}

static void is_at(int32_t id, double x, double y, double z)
{
	const struct marker *m = find(id);
	const double expected[] = { x, y, z };
	char text[32];

	snprintf(text, sizeof(text), "marker %d", id);
	TEST_ASSERT_NOT_NULL_MESSAGE(m, text);
	for (int i = 0; i < 3; i++)
		TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(EXACT, expected[i], m->at[i], text);
}

static void is_turned(int32_t id, double x, double y, double z, double w)
{
	const double expected[] = { x, y, z, w };

	for (int i = 0; i < 4; i++)
		TEST_ASSERT_DOUBLE_WITHIN(EXACT, expected[i], find(id)->turn[i]);
}

#define TYRE                        \
	{                           \
		0.15F, 0.15F, 0.17F \
	}
#define METAL                       \
	{                           \
		0.62F, 0.65F, 0.68F \
	}
#define BODY                       \
	{                          \
		0.05F, 0.45F, 0.6F \
	}

/* m, on the floor below the axle; by hand from hw-docs/devices/krang-body.md and the sketch of the arms. */
TEST(upright_with_arms_that_hang_every_shape_has_its_place_size_and_colour)
{
	enum { CUBE = 1, SPHERE = 2, CYLINDER = 3, WORDS = 9 };
	static const struct {
		int32_t id, type;
		double at[3], size[3];
		float rgb[3];
	} rows[] = {
		{ 0, CYLINDER, { 0, 0.35, 0.264 }, { 0.528, 0.528, 0.08 }, TYRE },
		{ 1, CUBE, { 0, 0.35, 0.264 }, { 0.4224, 0.05, 0.1 }, METAL },
		{ 2, CYLINDER, { 0, -0.35, 0.264 }, { 0.528, 0.528, 0.08 }, TYRE },
		{ 3, CUBE, { 0, -0.35, 0.264 }, { 0.4224, 0.05, 0.1 }, METAL },
		{ 4, CUBE, { 0.02, 0, 0.464 }, { 0.36, 0.5, 0.5 }, BODY },
		{ 5, CUBE, { 0.091, 0, 0.713 }, { 0.1, 0.3, 0.16 }, METAL },
		{ 6, CUBE, { 0.091, 0, 1.163 }, { 0.16, 0.3, 0.8 }, BODY },
		{ 7, CUBE, { 0.091, 0, 1.563 }, { 0.12, 0.6, 0.12 }, METAL },
		{ 8, SPHERE, { 0.091, 0, 1.763 }, { 0.18, 0.18, 0.2 }, { 0.9F, 0.6F, 0.1F } },
		{ 9, WORDS, { 0, 0, 1.95 }, { 0, 0, 0.1 }, { 1, 1, 1 } },
		{ 20, CYLINDER, { 0.091, 0.345, 1.398 }, { 0.09, 0.09, 0.33 }, METAL },
		{ 21, CYLINDER, { 0.091, 0.345, 1.073 }, { 0.09, 0.09, 0.32 }, METAL },
		{ 22, CYLINDER, { 0.091, 0.345, 0.803 }, { 0.09, 0.09, 0.22 }, METAL },
		{ 23, CUBE, { 0.091, 0.345, 0.693 }, { 0.06, 0.14, 0.1 }, BODY },
		{ 30, CYLINDER, { 0.091, -0.345, 1.398 }, { 0.09, 0.09, 0.33 }, METAL },
		{ 31, CYLINDER, { 0.091, -0.345, 1.073 }, { 0.09, 0.09, 0.32 }, METAL },
		{ 32, CYLINDER, { 0.091, -0.345, 0.803 }, { 0.09, 0.09, 0.22 }, METAL },
		{ 33, CUBE, { 0.091, -0.345, 0.693 }, { 0.06, 0.14, 0.1 }, BODY },
	};

	context.arms[0] = &arms[0];
	context.arms[1] = &arms[1];
	draw();
	TEST_ASSERT_EQUAL_UINT32(sizeof(rows) / sizeof(*rows), count);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		is_at(rows[i].id, rows[i].at[0], rows[i].at[1], rows[i].at[2]);
		TEST_ASSERT_EQUAL_INT32(rows[i].type, find(rows[i].id)->type);
		for (int k = 0; k < 3; k++) {
			TEST_ASSERT_DOUBLE_WITHIN(EXACT, rows[i].size[k], find(rows[i].id)->size[k]);
			TEST_ASSERT_TRUE(rows[i].rgb[k] == find(rows[i].id)->rgba[k]);
		}
	}
	is_turned(TEXT, 0, 0, 0, 1);
}

TEST(a_robot_has_two_arms)
{
	const struct {
		struct ros_context context;
		const struct msg_joint_state *third;
	} room = { .context = { .arms = { &arms[0], &arms[1] } }, .third = &arms[0] };

	draw_with(&room.context);
	TEST_ASSERT_EQUAL_UINT32(18, count);
}

#define ONE(prefix, name, word) +1

TEST(a_mode_that_is_not_known_is_said_to_be_so)
{
	state.mode = 0 MSG_WORDS_BALANCE(ONE);
	draw();
	TEST_ASSERT_EQUAL_STRING("unknown", find(TEXT)->text);
	state.mode--;
	draw();
	TEST_ASSERT_TRUE(strcmp("unknown", find(TEXT)->text) != 0);
}

TEST(every_shape_is_in_one_frame_and_disappears_if_it_is_not_sent_again)
{
	context.arms[0] = &arms[0];
	context.arms[1] = &arms[1];
	draw();
	TEST_ASSERT_EQUAL_UINT32(18, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct marker *m = &markers[i];

		TEST_ASSERT_EQUAL_STRING("base_footprint", m->frame);
		TEST_ASSERT_EQUAL_STRING("robot", m->ns);
		TEST_ASSERT_EQUAL_PTR(m, find(m->id)); /* no number twice */
		TEST_ASSERT_EQUAL_INT32(0, m->action);
		TEST_ASSERT_EQUAL_INT32(1, m->lifetime_s);
		TEST_ASSERT_EQUAL_UINT8(1, m->locked);
		TEST_ASSERT_TRUE(m->rgba[3] == 1);
		TEST_ASSERT_TRUE(m->size[2] > 0);
	}
	context.frame_id = "other";
	draw();
	TEST_ASSERT_EQUAL_STRING("other", markers[0].frame);
}

TEST(upright_it_stands_on_the_floor)
{
	draw();
	TEST_ASSERT_EQUAL_UINT32(10, count);
	is_at(LEFT_WHEEL, 0, 0.35, 0.264);
	TEST_ASSERT_EQUAL_INT32(3, find(LEFT_WHEEL)->type);
	TEST_ASSERT_DOUBLE_WITHIN(EXACT, 2 * 0.264, find(LEFT_WHEEL)->size[0]);
	is_at(RIGHT_SPOKE, 0, -0.35, 0.264);
	is_at(BASE, 0.02, 0, 0.464);
	is_turned(BASE, 0, 0, 0, 1);
	TEST_ASSERT_EQUAL_INT32(1, find(BASE)->type);
	is_at(HEAD, 0.091, 0, 0.264 + 0.499 + 1);
	TEST_ASSERT_EQUAL_INT32(2, find(HEAD)->type);
	is_at(TEXT, 0, 0, 1.95);
	TEST_ASSERT_EQUAL_INT32(9, find(TEXT)->type);
	TEST_ASSERT_EQUAL_STRING("standing", find(TEXT)->text);
	TEST_ASSERT_EQUAL_STRING("", find(HEAD)->text);
}

/* A point of a part that was turned forward: x, z behind it. */
#define FORWARD_X(x, z, rad) ((x)*cos(rad) + (z)*sin(rad))
#define FORWARD_Z(x, z, rad) (-(x)*sin(rad) + (z)*cos(rad))

TEST(the_base_pitches_and_the_torso_folds)
{
	const double pitch = -0.5, fold = 1.2, both = pitch + fold;
	const double waist_x = FORWARD_X(0.091, 0.499, pitch), waist_z = 0.264 + FORWARD_Z(0.091, 0.499, pitch);

	state.pitch = pitch;
	state.waist_position = fold;
	draw();
	is_at(BASE, FORWARD_X(0.02, 0.2, pitch), 0, 0.264 + FORWARD_Z(0.02, 0.2, pitch));
	is_turned(BASE, 0, sin(pitch / 2), 0, cos(pitch / 2));
	is_at(TORSO, waist_x + FORWARD_X(0, 0.4, both), 0, waist_z + FORWARD_Z(0, 0.4, both));
	is_at(HEAD, waist_x + FORWARD_X(0, 1, both), 0, waist_z + FORWARD_Z(0, 1, both));
	is_turned(HEAD, 0, sin(both / 2), 0, cos(both / 2));
}

TEST(the_wheels_roll_with_the_travel_and_against_each_other_in_a_turn)
{
	const double quarter = M_PI / 2;

	draw();
	is_turned(LEFT_SPOKE, sqrt(0.5), 0, 0, sqrt(0.5));
	state.travel = quarter * 0.264;
	draw();
	is_turned(LEFT_SPOKE, 0.5, 0.5, -0.5, 0.5);
	is_turned(RIGHT_SPOKE, 0.5, 0.5, -0.5, 0.5);
	state.travel = 0;
	state.heading = quarter * 0.264 / 0.35; /* to the left: the right wheel is the faster one */
	draw();
	is_turned(LEFT_SPOKE, 0.5, -0.5, 0.5, 0.5);
	is_turned(RIGHT_SPOKE, 0.5, 0.5, -0.5, 0.5);
}

TEST(arms_hang_bend_forward_and_turn)
{
	const double x = 0.091, y = 0.345, z = 0.264 + 0.499 + 0.8;

	context.arms[0] = &arms[0];
	context.arms[1] = &arms[1];
	arms[1].position[1] = M_PI / 2; /* shoulder */
	draw();
	is_at(ARM, x, y, z - 0.165);
	is_at(ARM + 1, x, y, z - 0.33 - 0.16);
	is_at(ARM + 2, x, y, z - 0.65 - 0.11);
	is_at(ARM + 3, x, y, z - 0.87);
	is_at(ARM + 10, x + 0.165, -y, z);
	is_at(ARM + 13, x + 0.87, -y, z);
	arms[0].position[0] = M_PI / 2; /* the whole arm turns, then bends to the side */
	arms[0].position[3] = M_PI / 2; /* elbow */
	arms[0].position[5] = -M_PI / 2;
	arms[0].position[6] = M_PI;
	draw();
	is_at(ARM, x, y, z - 0.165);
	is_at(ARM + 1, x, y - 0.16, z - 0.33);
	is_at(ARM + 2, x, y - 0.32, z - 0.33 - 0.11);
	is_at(ARM + 3, x, y - 0.32, z - 0.33 - 0.22);
	TEST_ASSERT_EQUAL_INT32(3, find(ARM)->type);
	TEST_ASSERT_EQUAL_INT32(1, find(ARM + 3)->type);
	/* Down, x forward: Rx(pi); then about its own z by a half and a quarter turn. */
	is_turned(ARM + 3, -sqrt(0.5), -sqrt(0.5), 0, 0);
}

TEST(a_part_with_an_unknown_position_is_not_drawn)
{
	static const struct {
		double *value;
		uint32_t count;
		int32_t first_gone, still;
	} rows[] = {
		{ &state.waist_position, 6 + 1, TORSO, HINGE },
		{ &state.pitch, 4 + 1, BASE, RIGHT_SPOKE },
		{ &state.travel, 5 + 1 + 8, LEFT_WHEEL, ARM },
		{ &state.heading, 5 + 1 + 8, RIGHT_SPOKE, HEAD },
		{ &arms[0].position[0], 9 + 1 + 4, ARM, ARM + 10 },
		{ &arms[1].position[3], 9 + 1 + 4 + 1, ARM + 11, ARM + 10 },
		{ &arms[0].position[6], 9 + 1 + 7, ARM + 3, ARM + 2 },
	};

	context.arms[0] = &arms[0];
	context.arms[1] = &arms[1];
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		*rows[i].value = NAN;
		draw();
		TEST_ASSERT_EQUAL_UINT32_MESSAGE(rows[i].count, count, "count");
		TEST_ASSERT_NULL(find(rows[i].first_gone));
		TEST_ASSERT_NOT_NULL(find(rows[i].still));
		TEST_ASSERT_NOT_NULL(find(TEXT));
		*rows[i].value = 0;
	}
	state.mode = 99;
	draw();
	TEST_ASSERT_EQUAL_STRING("unknown", find(TEXT)->text);
}

TEST(an_arm_that_is_old_or_has_other_joints_is_not_drawn)
{
	context.arms[1] = &arms[1];
	draw();
	TEST_ASSERT_NOT_NULL(find(ARM + 10));
	arms[1].header.t_publish_ns = 4000000000; /* a second older than the state */
	draw();
	TEST_ASSERT_NULL(find(ARM + 10));
	arms[1].header.t_publish_ns++;
	draw();
	TEST_ASSERT_NOT_NULL(find(ARM + 10));
	arms[1].header.t_publish_ns = INT64_MIN; /* the age overflows */
	draw();
	TEST_ASSERT_NULL(find(ARM + 10));
	arms[1].header.t_publish_ns = 4500000000;
	arms[1].count = 6;
	draw();
	TEST_ASSERT_NULL(find(ARM + 10));
}
