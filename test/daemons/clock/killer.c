/* killer.c: kills hubo-daemon and starts it again while a driver ticks on it.
 *
 * It is everything else of the robot: the turntable that the example driver drives, the controller, the operator,
 * and the listener on the bus.  The controller asks for a velocity that is never reached, and the limit of acceleration
 * is such that each tick of the driver commands exactly 1 mrad/s more: a doubled, missing or stepped reference is seen
 * in the frames.
 */
#include "test/daemons/clock/killer.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "can/bus/bus.h"
#include "channels/ach/ach.h"
#include "channels/clock/clock.h"
#include "channels/msg/msg.h"
#include "test/can/bus/wire_lib.h"
#include "test/daemons/clock/verdict.h"
#include "test/lib/estop_talk.h"
#include "test/lib/lib.h"
#include "test/lib/virtual_lib.h"
#include "unity.h"

#define MS INT64_C(1000000)
#define ID_TURN 0x211
#define ID_TABLE 0x191
#define ID_CLOCK 0x080
#define GIVE_UP_NS (10000 * MS)
#define ACTIONS 12 /* of the clock in two of its cycles, at most: messages, frames */

static struct verdict_record record;
static const char *robot_file;
static struct bus *bus; /* NULL: no robot is open */
static pid_t clock_pid, driver_pid;
static ach_channel_t clock_channel, state_channel, ref_channel;
static uint32_t driver_incarnation;
static int commanded; /* mrad/s, last */
static bool driver_active, driver_freerun;
static int64_t table_ns, reference_ns; /* when they speak next */
static uint64_t seed;

/* ---- small things ---- */

static int64_t between(int64_t from, int64_t to)
{
	return from + (int64_t)(lib_random(&seed) % (uint64_t)(to - from));
}

static pid_t start(const char *program, const char *name)
{
	char line[700];

	snprintf(line, sizeof(line), "--name %s --config %s", name, robot_file);
	return wire_lib_launch(program, line);
}

static void open_channel(ach_channel_t *channel, const char *name, enum msg_number type)
{
	const struct msg_type *of = msg_type_by_number(type);
	ach_create_attr_t attr;
	char full[64];

	snprintf(full, sizeof(full), "%s%s", getenv("ENDPLATE_PREFIX"), name);
	ach_create_attr_init(&attr);
	ach_create_attr_set_mode(&attr, 0600, (gid_t)-1);
	ach_create(full, of->retained, of->body->size, &attr);
	TEST_ASSERT_EQUAL_MESSAGE(ACH_OK, ach_open(channel, full, NULL), full);
	ach_flush(channel);
}

/* ---- the rest of the robot ---- */

static void send_reference(int64_t now_ns)
{
	struct msg_joint_ref msg;

	msg_init(&msg, msg_type_by_number(msg_joint_ref_number));
	msg.header.for_incarnation = driver_incarnation;
	msg.header.t_publish_ns = now_ns;
	msg.header.valid_until_ns = now_ns + 180 * MS;
	msg.count = 1;
	msg.mode[0] = MSG_MODE_VELOCITY;
	msg.velocity[0] = 32;
	TEST_ASSERT_EQUAL(ACH_OK, ach_put(&ref_channel, &msg, sizeof(msg)));
}

static void send_table(void)
{
	struct frame frame = { .id = ID_TABLE, .len = 6 };

	frame.data[4] = (uint8_t)commanded;
	frame.data[5] = (uint8_t)(commanded >> 8);
	bus_send(bus, &frame);
}

/* ---- what is seen ---- */

static void see_frame(const struct bus_frame *got)
{
	if (got->frame.id == ID_TURN && record.reference_n < VERDICT_FRAMES_MAX) {
		commanded = (int16_t)(got->frame.data[0] | got->frame.data[1] << 8);
		record.reference[record.reference_n++] = (struct verdict_reference){ got->t_ns, commanded };
	} else if (got->frame.id == ID_CLOCK && record.frame_n < VERDICT_FRAMES_MAX) {
		record.frame_ns[record.frame_n++] = got->t_ns;
	}
}

static void see_clock(const struct msg_clock *msg, bool missed)
{
	if (record.clock_n < VERDICT_MESSAGES_MAX)
		record.clock[record.clock_n++] = (struct verdict_message){ .t_publish_ns = msg->header.t_publish_ns,
									   .t_cycle_ns = msg->t_cycle_ns,
									   .period_ns = msg->period_ns,
									   .cycle = msg->cycle,
									   .incarnation = msg->header.incarnation,
									   .missed = missed };
}

static void see_state(const struct msg_joint_state *msg, bool missed)
{
	const struct msg_bus *on = &msg->common.bus[0];

	driver_incarnation = msg->header.incarnation;
	driver_active = msg->common.lifecycle == MSG_LIFE_ACTIVE;
	driver_freerun = msg->header.flags & MSG_FLAG_FREERUN;
	if (record.state_n < VERDICT_STATES_MAX)
		record.state[record.state_n++] =
			(struct verdict_state){ .t_publish_ns = msg->header.t_publish_ns,
						.sequence = msg->header.sequence,
						.ticks = msg->common.ticks,
						.skipped = msg->common.skipped,
						.unsent = on->replaced + on->expired + on->lost,
						.freerun = driver_freerun,
						.active = driver_active,
						.missed = missed };
}

static void see_all(void)
{
	struct bus_frame got[64];
	union {
		struct msg_clock clock;
		struct msg_joint_state state;
	} msg;
	enum ach_status status;
	size_t size;
	int n;

	while ((n = bus_receive(bus, got, 64)) > 0)
		for (int i = 0; i < n; i++)
			see_frame(&got[i]);
	while ((status = ach_get(&clock_channel, &msg, sizeof(msg), &size, NULL, 0)) == ACH_OK ||
	       status == ACH_MISSED_FRAME)
		see_clock(&msg.clock, status == ACH_MISSED_FRAME);
	while ((status = ach_get(&state_channel, &msg, sizeof(msg), &size, NULL, 0)) == ACH_OK ||
	       status == ACH_MISSED_FRAME)
		see_state(&msg.state, status == ACH_MISSED_FRAME);
}

/* The robot lives until t_ns.  The turntable speaks in the middle between two ticks. */
static void live_until(int64_t t_ns)
{
	int64_t now_ns;

	while ((now_ns = clock_now_ns()) < t_ns) {
		see_all();
		if (now_ns >= table_ns) {
			send_table();
			table_ns = (now_ns / VERDICT_PERIOD_NS + 1) * VERDICT_PERIOD_NS + VERDICT_PERIOD_NS / 2;
		}
		if (now_ns >= reference_ns && driver_incarnation) {
			send_reference(now_ns);
			reference_ns = now_ns + 20 * MS;
		}
		clock_wait(NULL, 0, t_ns < table_ns ? t_ns : table_ns);
	}
	see_all();
}

/* ---- the clock's lives ---- */

static void wait_for_life(uint32_t incarnation)
{
	const int64_t by_ns = clock_now_ns() + GIVE_UP_NS;

	while (!record.clock_n || record.clock[record.clock_n - 1].incarnation < incarnation) {
		TEST_ASSERT_MESSAGE(clock_now_ns() < by_ns, "the clock does not come up");
		live_until(clock_now_ns() + 2 * MS);
	}
}

static void wait_for_driver(void)
{
	const int64_t by_ns = clock_now_ns() + GIVE_UP_NS;

	while (!driver_active || driver_freerun) {
		TEST_ASSERT_MESSAGE(clock_now_ns() < by_ns, "the driver does not follow");
		live_until(clock_now_ns() + 2 * MS);
	}
}

static void end(pid_t *pid)
{
	if (*pid <= 0)
		return;
	virtual_lib_signal(*pid, SIGKILL);
	waitpid(*pid, NULL, 0);
	*pid = 0;
}

/* Now and then it is stopped for a while before: what it did not do in time must not be made up for. */
static void one_life(uint32_t life)
{
	wait_for_life(life);
	live_until(clock_now_ns() + between(25 * MS, 100 * MS));
	if (life % 10 == 0) {
		virtual_lib_signal(clock_pid, SIGSTOP);
		live_until(clock_now_ns() + 30 * MS);
		virtual_lib_signal(clock_pid, SIGCONT);
		live_until(clock_now_ns() + 30 * MS);
	}
}

/* While it waits; or, every other time, between two of its messages and frames. */
static void one_death(uint32_t life)
{
	const int64_t by_ns = clock_now_ns() + GIVE_UP_NS;

	if (life % 2) {
		end(&clock_pid);
		return;
	}
	virtual_lib_kill_at(clock_pid, (unsigned int)between(1, ACTIONS));
	while (!waitpid(clock_pid, NULL, WNOHANG)) {
		TEST_ASSERT_MESSAGE(clock_now_ns() < by_ns, "the clock does nothing");
		live_until(clock_now_ns() + MS);
	}
	clock_pid = 0;
}

static void open_robot(void)
{
	struct error_sink errors = { error_to_stderr, NULL, 0 };

	TEST_ASSERT_EQUAL(0, bus_open(&bus, "wire:torso@table", NULL, &errors));
	open_channel(&clock_channel, "clock", msg_clock_number);
	open_channel(&state_channel, "demo-state", msg_joint_state_number);
	open_channel(&ref_channel, "demo-ref", msg_joint_ref_number);
	memset(&record, 0, sizeof(record));
	driver_incarnation = 0;
	commanded = 0;
	driver_active = false;
	driver_freerun = true;
	table_ns = reference_ns = 0;
	estop_talk_lower(MSG_LEVEL_RUN, 1);
}

void killer_end(void)
{
	if (!bus)
		return;
	end(&clock_pid);
	end(&driver_pid);
	bus_close(bus);
	bus = NULL;
	ach_close(&clock_channel);
	ach_close(&state_channel);
	ach_close(&ref_channel);
}

int killer_run(const char *file, uint32_t kills)
{
	robot_file = file;
	seed = 1;
	open_robot();
	driver_pid = start("exampled", "demo");
	clock_pid = start("hubo-daemon", "clock");
	wait_for_life(1);
	wait_for_driver();
	live_until(clock_now_ns() + 300 * MS);
	memset(&record, 0, sizeof(record));
	for (uint32_t life = 1; life <= kills; life++) {
		one_life(life);
		one_death(life);
		live_until(clock_now_ns() + between(0, 60 * MS));
		clock_pid = start("hubo-daemon", "clock");
	}
	wait_for_life(kills + 1);
	live_until(clock_now_ns() + 500 * MS);
	killer_end();
	return verdict(&record, kills);
}
