/* robotsim_desk.c: one simulated module on a desk. */
#include "test/daemons/robotsim/robotsim_desk.h"

#include <stdio.h>
#include <string.h>

#include "unity.h"

#include "can/bus/frame_text.h"
#include "channels/clock/clock.h"
#include "config/settings/yaml.h"
#include "daemons/pcio/pciod_settings.h"

struct pcube desk;
int64_t desk_now_ns;

static void fail_line(void *to, const char *line)
{
	(void)to;
	TEST_FAIL_MESSAGE(line);
}

void desk_is(const char *text)
{
	static const double limits[2] = { -2, 2 };
	static const struct pciod_settings driver = { .watchdog_ns = 50 * MS, .ack_ok = 0x64 };
	struct pcube_settings values = { 0 };
	struct settings settings = { .rows = pcube_rows, .values = &values };
	const struct pcube_given given = { &driver, limits, 15, "sim" };
	struct error_sink errors = { fail_line, NULL, 0 };
	struct yaml *doc;
	char map[512];
	int n = snprintf(map, sizeof(map), "{%s}", text);

	settings_defaults(&settings, &errors);
	yaml_open_text(&doc, "settings", map, (size_t)n, &errors);
	settings_read(&settings, yaml_root(doc), &errors);
	yaml_close(doc);
	TEST_ASSERT_EQUAL(0, pcube_settings_complete(&settings, &given, &errors));
	desk_now_ns = 1000 * MS;
	pcube_start(&desk, 15, &values, desk_now_ns);
}

void desk_pass(int64_t ns)
{
	desk_now_ns += ns;
	pcube_advance(&desk, desk_now_ns);
}

void desk_hear(const char *text)
{
	struct frame frame;

	TEST_ASSERT_NULL_MESSAGE(frame_text_read(&frame, text, strlen(text)), text);
	pcube_frame(&desk, &frame, desk_now_ns);
}

const char *desk_said(void)
{
	static char text[FRAME_TEXT_MAX];
	struct frame frame;
	const int64_t next_ns = pcube_next_ns(&desk);

	if (next_ns == CLOCK_NEVER)
		return "";
	desk_now_ns = next_ns > desk_now_ns ? next_ns : desk_now_ns;
	TEST_ASSERT_TRUE(pcube_reply(&desk, desk_now_ns, &frame));
	frame_text_write(text, &frame);
	return text;
}

const char *desk_ask(const char *frame)
{
	desk_hear(frame);
	return desk_said();
}

void desk_expect(const char *frame, const char *answer)
{
	TEST_ASSERT_EQUAL_STRING_MESSAGE(answer, desk_ask(frame), frame);
	TEST_ASSERT_EQUAL_STRING_MESSAGE("", desk_said(), frame);
}

void desk_expect_nothing(const char *frame)
{
	desk_expect(frame, "");
}

uint32_t desk_state(void)
{
	pcube_advance(&desk, desk_now_ns);
	return pcube_state(&desk);
}

float desk_real(uint8_t parameter)
{
	char question[16];
	struct frame frame;
	const char *answer;

	snprintf(question, sizeof(question), "0CF#0A%02X", parameter);
	answer = desk_ask(question);
	TEST_ASSERT_NULL_MESSAGE(frame_text_read(&frame, answer, strlen(answer)), question);
	TEST_ASSERT_EQUAL(6, frame.len);
	return pcube_value_f32(frame.data + 2);
}

static void send_command(uint8_t command, uint8_t second, const void *value)
{
	struct frame frame = { .id = 0x0EF, .len = 6, .data = { command, second } };

	memcpy(frame.data + 2, value, 4);
	pcube_frame(&desk, &frame, desk_now_ns);
	desk_said();
}

void desk_move(uint8_t motion, float value)
{
	send_command(0x0B, motion, &value);
}

void desk_set_real(uint8_t parameter, float value)
{
	send_command(0x08, parameter, &value);
}

void desk_set_config(uint32_t config)
{
	send_command(0x08, 0x39, &config);
}

int64_t desk_until(uint32_t mask, uint32_t bits)
{
	const int64_t start_ns = desk_now_ns;

	while ((desk_state() & mask) != bits) {
		char text[64];

		snprintf(text, sizeof(text), "for a minute the state is %08X", desk_state());
		TEST_ASSERT_MESSAGE(desk_now_ns - start_ns < 60000 * MS, text);
		desk_pass(PCUBE_STEP_NS);
	}
	return desk_now_ns - start_ns;
}
