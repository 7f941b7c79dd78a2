/* test_example.c: the codec of the example device: the vectors of its page, and what they do not say. */
#include <math.h>

#include "can/frame_text.h"
#include "daemons/example/example.h"
#include "test/channels/testcase.h"

#define PAGE "hw-docs/example.md"

static const char *error_name(int status)
{
	return status == -EDOM ? "EDOM" : status == -ERANGE ? "ERANGE" : status == -EMSGSIZE ? "EMSGSIZE" : "?";
}

static void say_encode(char *said, const char *node, const char *velocity)
{
	struct frame frame;
	int status;

	memset(&frame, 0x5A, sizeof(frame));
	status = example_encode_turn((unsigned int)atoi(node), strtod(velocity, NULL), &frame);
	if (status) {
		TEST_ASSERT_EQUAL_HEX8(0x5A, frame.len); /* left alone */
		strcpy(said, error_name(status));
		return;
	}
	TEST_ASSERT_TRUE(frame_valid(&frame));
	frame_text_write(said, &frame);
}

static void say_decode(char *said, const char *text)
{
	struct example_state state = { .t_ns = 7 };
	struct frame frame;
	int status;

	TEST_ASSERT_NULL_MESSAGE(frame_text_read(&frame, text, strlen(text)), text);
	memset(frame.data + frame.len, 0xA5,
	       sizeof(frame.data) - frame.len); /* what it does not carry does not count */
	status = example_decode(&state, &frame, 123456789);
	TEST_ASSERT_EQUAL_INT64(status ? 7 : 123456789, state.t_ns);
	if (status)
		strcpy(said, error_name(status));
	else
		sprintf(said, "position %.10g velocity %.10g", state.position_rad, state.velocity_rad_s);
}

/* Each vector is said again by the codec, and must come out the same. */
TEST(the_pages_vectors)
{
	char line[256], words[4][64], said[256];
	FILE *page = fopen(PAGE, "r");
	unsigned int vectors = 0;
	bool inside = false;

	TEST_ASSERT_NOT_NULL_MESSAGE(page, PAGE ": run from the top of the tree");
	while (fgets(line, sizeof(line), page)) {
		char *answer;

		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, "```", 3))
			inside = !strcmp(line, "```vectors");
		else if (inside && line[0] != '#') {
			answer = strstr(line, " = ");
			TEST_ASSERT_NOT_NULL_MESSAGE(answer, line);
			if (sscanf(line, "encode %63s turn %63s", words[0], words[1]) == 2)
				say_encode(said, words[0], words[1]);
			else if (sscanf(line, "decode %63s", words[0]) == 1)
				say_decode(said, words[0]);
			else
				TEST_FAIL_MESSAGE(line);
			TEST_ASSERT_EQUAL_STRING_MESSAGE(answer + 3, said, line);
			vectors++;
		}
	}
	fclose(page);
	TEST_ASSERT_EQUAL(20, vectors);
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
