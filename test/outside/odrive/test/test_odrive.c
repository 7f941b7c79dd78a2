/* test_odrive.c: the codec of an ODrive: the vectors of its page. */
#include <math.h>

#include "can/bus/frame_text.h"
#include "odrive.h"
#include "test/daemons/drv/page_lib.h"
#include "test/lib/testcase.h"

#define PAGE "odrive.md"
#define NODE 5

static const char *error_name(int status)
{
	return status == -EDOM ? "EDOM" : status == -ERANGE ? "ERANGE" : status == -EMSGSIZE ? "EMSGSIZE" : "?";
}

static void say_encode(char said[PAGE_LIB_TEXT], char *words)
{
	struct frame frame = { 0 };
	double value = 0, other = 0;
	char what[16];
	int status = 0;

	TEST_ASSERT_TRUE(sscanf(words, "%15s %lf %lf", what, &value, &other) >= 2);
	if (!strcmp(what, "state"))
		odrive_encode_state(NODE, (enum odrive_state)value, &frame);
	else if (!strcmp(what, "mode"))
		odrive_encode_mode(NODE, (enum odrive_control)value, &frame);
	else if (!strcmp(what, "position"))
		status = odrive_encode_position(NODE, value * 2 * M_PI, other * 2 * M_PI, &frame);
	else if (!strcmp(what, "velocity"))
		status = odrive_encode_velocity(NODE, value * 2 * M_PI, &frame);
	else if (!strcmp(what, "clear"))
		odrive_encode_clear(NODE, &frame);
	else if (!strcmp(what, "ask"))
		odrive_encode_ask(NODE, (enum odrive_command)value, &frame);
	else
		odrive_encode_read(NODE, (uint16_t)value, &frame);
	if (status)
		strcpy(said, error_name(status));
	else
		frame_text_write(said, &frame);
}

static void say_decode(char said[PAGE_LIB_TEXT], char *words)
{
	struct odrive_heartbeat beat;
	struct odrive_estimates got;
	struct frame frame;
	char what[16], error_words[ODRIVE_WORDS_MAX];
	uint32_t reason;
	int status, n;

	TEST_ASSERT_EQUAL(1, sscanf(words, "%15s%n", what, &n));
	words += n;
	TEST_ASSERT_TRUE(page_lib_frame(&words, &frame));
	if (!strcmp(what, "heartbeat")) {
		status = odrive_decode_heartbeat(&beat, &frame, 7);
		if (!status)
			sprintf(said, "errors %s state %u result %u", odrive_error_words(error_words, beat.errors),
				beat.state, beat.result);
	} else if (!strcmp(what, "estimates")) {
		status = odrive_decode_estimates(&got, &frame, 7);
		if (!status)
			sprintf(said, "position %.10g velocity %.10g", got.position_rad / (2 * M_PI),
				got.velocity_rad_s / (2 * M_PI));
	} else {
		status = odrive_decode_u32(&reason, &frame, 4);
		if (!status)
			sprintf(said, "errors %s", odrive_error_words(error_words, reason));
	}
	if (status)
		strcpy(said, error_name(status));
}

TEST(the_pages_vectors)
{
	TEST_ASSERT_EQUAL(24, page_lib_each(PAGE, "encode", say_encode) + page_lib_each(PAGE, "decode", say_decode));
}
