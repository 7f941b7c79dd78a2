/* killer.c: killer BUILD ROBOT-FILE KILLS: kills hubo-daemon and starts it again while a driver ticks on it.
 *
 * It is everything else of the robot: the turntable that the example driver drives, the controller, the operator,
 * and the listener on the bus.  The controller asks for a velocity that is never reached, and the limit of acceleration
 * is such that each tick of the driver commands exactly 1 mrad/s more: a doubled, missing or stepped reference is seen
 * in the frames.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "can/bus.h"
#include "channels/ach.h"
#include "channels/clock.h"
#include "channels/msg/msg.h"
#include "test/daemons/clock/verdict.h"
#include "test/channels/estop_talk.h"

#define MS 1000000
#define S 1000000000
#define ID_TURN 0x211
#define ID_TABLE 0x191
#define ID_CLOCK 0x080
#define GIVE_UP_NS ((int64_t)10 * S)

static struct verdict_record record;
static const char *build, *robot_file;
static struct bus *bus;
static ach_channel_t clock_channel, state_channel, ref_channel;
static uint32_t driver_incarnation;
static int commanded; /* mrad/s, last */
static bool driver_active, driver_freerun = true;
static uint64_t seed;

/* ---- small things ---- */

static _Noreturn void fail(const char *what)
{
	printf("killer: %s\n", what);
	exit(1);
}

static int64_t between_ns(int64_t from_ns, int64_t to_ns)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return from_ns + (int64_t)((seed >> 16) % (uint64_t)(to_ns - from_ns));
}

static pid_t start(const char *program, const char *name)
{
	char path[512];
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(path, sizeof(path), "%s/%s", build, program);
	execl(path, program, "--name", name, "--config", robot_file, (char *)NULL);
	_exit(111);
}

static void open_channel(ach_channel_t *channel, const char *name, enum msg_number type)
{
	const struct msg_type *of = msg_type_by_number(type);
	const char *prefix = getenv("ENDPLATE_PREFIX");
	ach_create_attr_t attr;
	char full[64];

	snprintf(full, sizeof(full), "%s%s", prefix ? prefix : "", name);
	ach_create_attr_init(&attr);
	ach_create_attr_set_mode(&attr, 0600, (gid_t)-1);
	ach_create(full, of->retained, of->body->size, &attr);
	if (ach_open(channel, full, NULL) != ACH_OK)
		fail("no channel");
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
	if (ach_put(&ref_channel, &msg, sizeof(msg)) != ACH_OK)
		fail("cannot send a reference");
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
	static int64_t table_ns, reference_ns;
	int64_t now_ns;

	while ((now_ns = clock_now_ns()) < t_ns) {
		struct clock_fd fd = { .fd = bus_fd(bus), .events = POLLIN };

		see_all();
		if (now_ns >= table_ns) {
			send_table();
			table_ns = (now_ns / VERDICT_PERIOD_NS + 1) * VERDICT_PERIOD_NS + VERDICT_PERIOD_NS / 2;
		}
		if (now_ns >= reference_ns && driver_incarnation) {
			send_reference(now_ns);
			reference_ns = now_ns + 20 * MS;
		}
		clock_wait(&fd, 1, t_ns < now_ns + 2 * MS ? t_ns : now_ns + 2 * MS);
	}
	see_all();
}

/* ---- the clock's lives ---- */

static void wait_for_life(uint32_t incarnation)
{
	const int64_t by_ns = clock_now_ns() + GIVE_UP_NS;

	while (!record.clock_n || record.clock[record.clock_n - 1].incarnation < incarnation) {
		if (clock_now_ns() > by_ns)
			fail("the clock does not come up");
		live_until(clock_now_ns() + 2 * MS);
	}
}

static void wait_for_driver(void)
{
	const int64_t by_ns = clock_now_ns() + GIVE_UP_NS;

	while (!driver_active || driver_freerun) {
		if (clock_now_ns() > by_ns)
			fail("the driver does not follow");
		live_until(clock_now_ns() + 2 * MS);
	}
}

/* Now and then it is stopped for a while before: what it did not do in time must not be made up for. */
static void one_life(pid_t clock, uint32_t life)
{
	wait_for_life(life);
	live_until(clock_now_ns() + between_ns(25 * MS, 100 * MS));
	if (life % 10 == 0) {
		kill(clock, SIGSTOP);
		live_until(clock_now_ns() + 30 * MS);
		kill(clock, SIGCONT);
		live_until(clock_now_ns() + 30 * MS);
	}
}

int main(int argc, char **argv)
{
	struct error_sink errors = { error_to_stderr, NULL, 0 };
	uint32_t kills;
	pid_t clock;

	if (argc != 4)
		fail("usage: killer BUILD ROBOT-FILE KILLS");
	build = argv[1];
	robot_file = argv[2];
	kills = (uint32_t)strtoul(argv[3], NULL, 10);
	seed = (uint64_t)getpid();
	if (bus_open(&bus, "wire:torso@table", NULL, &errors))
		return 111;
	open_channel(&clock_channel, "clock", msg_clock_number);
	open_channel(&state_channel, "demo-state", msg_joint_state_number);
	open_channel(&ref_channel, "demo-ref", msg_joint_ref_number);
	estop_talk_lower(MSG_LEVEL_RUN, 1);
	start("exampled", "demo");
	clock = start("hubo-daemon", "clock");
	wait_for_life(1);
	wait_for_driver();
	live_until(clock_now_ns() + 300 * MS);
	memset(&record, 0, sizeof(record));
	for (uint32_t life = 1; life <= kills; life++) {
		one_life(clock, life);
		kill(clock, SIGKILL);
		waitpid(clock, NULL, 0);
		live_until(clock_now_ns() + between_ns(0, 60 * MS));
		clock = start("hubo-daemon", "clock");
	}
	wait_for_life(kills + 1);
	live_until(clock_now_ns() + 500 * MS);
	return verdict(&record, kills) ? 1 : 0;
}
