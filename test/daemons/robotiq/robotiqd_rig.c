/* robotiqd_rig.c: robotiqd, a simulated gripper and a controller; see robotiqd_rig.h. */
#include "test/daemons/robotiq/robotiqd_rig.h"

#include <stdlib.h>
#include <string.h>

#include "channels/clock/clock.h"
#include "test/lib/estop_talk.h"
#include "unity.h"

#define REF_EVERY_NS (25 * DEVICE_LIB_MS)

struct robotiqd_seen robotiqd_seen;
static ach_channel_t refs;
static int64_t ref_ns;
static uint64_t epoch;

static void refer(void)
{
	const int64_t now_ns = clock_now_ns();

	if (!robotiqd_seen.referring || now_ns - ref_ns < REF_EVERY_NS || !robotiqd_seen.states_n)
		return;
	ref_ns = now_ns;
	robotiqd_seen.ref.header.for_incarnation = robotiqd_rig_state()->header.incarnation;
	robotiqd_seen.ref.header.t_publish_ns = now_ns;
	robotiqd_seen.ref.header.valid_until_ns = now_ns + RIG_VALID_MS * DEVICE_LIB_MS;
	TEST_ASSERT_EQUAL(ACH_OK, ach_put(&refs, &robotiqd_seen.ref, sizeof(robotiqd_seen.ref)));
}

static const struct device_lib_what what = {
	.driver = "robotiqd",
	.name = "grip",
	.bus = "hand",
	.step_ms = 1,
	.frames_max = 120000,
	.events_max = 400,
	.requests = true,
	.state = msg_gripper_state_number,
	.states = robotiqd_seen.states,
	.states_n = &robotiqd_seen.states_n,
	.states_max = RIG_STATES_MAX,
	.step = refer,
};

void robotiqd_rig_begin(const char *settings, const char *sim)
{
	memset(&robotiqd_seen, 0, sizeof(robotiqd_seen));
	ref_ns = 0;
	device_lib_begin(&what, settings, sim, "");
	device_lib_channel(&refs, "-ref", msg_gripper_ref_number);
}

void robotiqd_rig_end(void)
{
	ach_close(&refs);
	device_lib_end();
}

double robotiqd_rig_number(const char *key)
{
	char word[32];
	const char *at;

	device_lib_sim("report grip.11");
	snprintf(word, sizeof(word), " %s ", key);
	at = strstr(device_lib.said, word);
	TEST_ASSERT_NOT_NULL_MESSAGE(at, device_lib.said);
	return strtod(at + strlen(word), NULL);
}

void robotiqd_rig_arm(void)
{
	for (int i = 0; i < 100 && robotiqd_rig_state()->common.level != MSG_LEVEL_RUN; i++) {
		if (estop_talk_is_ratified())
			estop_talk_lower(MSG_LEVEL_RUN, ++epoch);
		device_lib_pass(110);
	}
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, robotiqd_rig_state()->common.level);
}

void robotiqd_rig_raise(enum msg_level level)
{
	estop_talk_raise_both(level);
}

void robotiqd_rig_grasp(double position)
{
	msg_init(&robotiqd_seen.ref, msg_type_by_number(msg_gripper_ref_number));
	robotiqd_seen.ref.count = 3;
	robotiqd_seen.ref.grip = robotiqd_rig_state()->grip;
	for (unsigned int i = 0; i < 3; i++) {
		robotiqd_seen.ref.position[i] = position;
		robotiqd_seen.ref.speed[i] = 1;
		robotiqd_seen.ref.force[i] = 0.5;
	}
	robotiqd_seen.referring = true;
}

const struct msg_reply *robotiqd_rig_reply(uint64_t id)
{
	for (unsigned int i = 0; i < device_lib.replies_n; i++)
		if (device_lib.replies[i].id == id)
			return &device_lib.replies[i];
	return NULL;
}

int robotiqd_rig_ask(enum msg_verb verb, const char *key, const char *value, int ms)
{
	const uint64_t id = device_lib_request(verb, key, value);

	for (int i = 0; i < ms && !robotiqd_rig_reply(id); i += 10)
		device_lib_pass(10);
	return robotiqd_rig_reply(id) ? robotiqd_rig_reply(id)->result : 1;
}

const struct msg_gripper_state *robotiqd_rig_state(void)
{
	TEST_ASSERT_NOT_EQUAL(0, robotiqd_seen.states_n);
	return &robotiqd_seen.states[robotiqd_seen.states_n - 1];
}

unsigned int robotiqd_rig_writes(unsigned int from, unsigned int reg)
{
	unsigned int n = 0;

	for (unsigned int i = from; i < device_lib.frames_n; i++) {
		const struct bus_frame *f = &device_lib.frames[i];

		n += f->frame.id == 0x60B && f->frame.data[0] == 0x2F && !(f->flags & BUS_QUEUED) &&
		     (!reg || f->frame.data[3] == reg);
	}
	return n;
}

unsigned int robotiqd_rig_nmt(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < device_lib.frames_n; i++)
		n += device_lib.frames[i].frame.id == 0 && !(device_lib.frames[i].flags & BUS_QUEUED);
	return n;
}
