/* test_example.c: the codec of the example device: the vectors of its page, and what they do not say. */

#include "can/bus/frame_text.h"
#include "daemons/example/example.h"
#include "test/daemons/drv/page_lib.h"
#include "test/lib/testcase.h"

#define PAGE "hw-docs/devices/example.md"

static const char *error_name(int status)
{
	return status == -EDOM ? "EDOM" : status == -ERANGE ? "ERANGE" : status == -EMSGSIZE ? "EMSGSIZE" : "?";
}

static void say_encode(char said[PAGE_LIB_TEXT], char *words)
{
	struct frame frame;
	unsigned int node;
	double velocity;
	int status;

	TEST_ASSERT_EQUAL(2, sscanf(words, "%u turn %lf", &node, &velocity));
	memset(&frame, 0x5A, sizeof(frame));
	status = example_encode_turn(node, velocity, &frame);
	if (status) {
		TEST_ASSERT_EQUAL_HEX8(0x5A, frame.len); /* left alone */
		strcpy(said, error_name(status));
		return;
	}
	TEST_ASSERT_TRUE(frame_valid(&frame));
	frame_text_write(said, &frame);
}

static void say_decode(char said[PAGE_LIB_TEXT], char *words)
{
	struct example_state state = { .t_ns = 7 };
	const struct frame frame = page_lib_read(words + 1);
	const int status = example_decode(&state, &frame, 123456789);

	TEST_ASSERT_EQUAL_INT64(status ? 7 : 123456789, state.t_ns);
	if (status)
		strcpy(said, error_name(status));
	else
		sprintf(said, "position %.10g velocity %.10g", state.position_rad, state.velocity_rad_s);
}

/* Each vector is said again by the codec, and must come out the same. */
TEST(the_pages_vectors)
{
	TEST_ASSERT_EQUAL(20, page_lib_each(PAGE, "encode", say_encode) + page_lib_each(PAGE, "decode", say_decode));
}

/* Whatever can be sent reads back as what it was, within half a step. */
TEST(velocities_there_and_back)
{
	for (int mrad_s = -32767; mrad_s <= 32767; mrad_s += 7) {
		struct frame frame, state = { .id = EXAMPLE_ID_STATE + 1, .len = 6 };
		struct example_state got;

		TEST_ASSERT_EQUAL(0, example_encode_turn(1, mrad_s / 1000.0 + 0.0004, &frame));
		memcpy(state.data + 4, frame.data, 2);
		TEST_ASSERT_EQUAL(0, example_decode(&got, &state, 1));
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, mrad_s / 1000.0, got.velocity_rad_s);
	}
}
