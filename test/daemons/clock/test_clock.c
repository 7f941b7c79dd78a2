/* test_clock.c: hubo-daemon, the clock of the robot, with the real programs on soft wires and a virtual clock. */
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "config/base/exit.h"
#include "test/lib/testcase.h"

#include "can/bus/bus.h"
#include "can/bus/frame_text.h"
#include "channels/ach/ach.h"
#include "channels/clock/clock.h"
#include "channels/msg/msg.h"
#include "test/can/bus/wire_lib.h"
#include "test/daemons/clock/killer.h"
#include "test/lib/lib.h"
#include "test/lib/virtual_lib.h"

#define MS INT64_C(1000000)
#define GIVE_UP_MS 10000
#ifdef __SANITIZE_ADDRESS__ /* its programs take long to start */
#define KILLS 10
#else
#define KILLS 100
#endif

static char prefix[32], file[600];
static struct bus *ear[2]; /* nodes that acknowledge */
static pid_t running[8];
static unsigned int running_n;

/* ---- programs ---- */

static void set_prefix(void)
{
	static unsigned int number;

	snprintf(prefix, sizeof(prefix), "clk%d-%u-", (int)getpid(), ++number);
	setenv("ENDPLATE_PREFIX", prefix, 1);
}

static void begin(const char *clock_frame)
{
	FILE *to;

	lib_watchdog("test_clock", LIB_HANG_S);
	umask(0077);
	set_prefix();
	unsetenv("NOTIFY_SOCKET");
	virtual_lib_begin(wire_lib_folder());
	wire_lib_start("torso");
	snprintf(file, sizeof(file), "%s/robot.yaml", wire_lib_folder());
	to = fopen(file, "w");
	TEST_ASSERT_NOT_NULL(to);
	fprintf(to,
		"robot: clk\n"
		"buses:\n"
		"  torso: {interface: wire:torso, clock: %s, clock_divider: 5}\n"
		"  base: {interface: wire:base, clock: 100#0F, bitrate: 500000}\n"
		"devices:\n"
		"  clock: {driver: hubo-daemon, bus: torso, actuated: no, settings: {lock_memory: no}}\n"
		"  two: {driver: hubo-daemon, bus: [torso, base], actuated: no, settings: {lock_memory: no}}\n"
		"  other: {driver: hubo-daemon, bus: base, actuated: no, settings: {lock_memory: no}}\n"
		"  demo:\n"
		"    driver: exampled\n"
		"    bus: torso\n"
		"    settings: {tick: clock/5, ref_max: 200ms, lock_memory: no}\n"
		"    limits: {velocity: 32, acceleration: 0.2}\n",
		clock_frame);
	fclose(to);
}

static pid_t launch(const char *program, const char *arguments)
{
	TEST_ASSERT(running_n < sizeof(running) / sizeof(*running));
	return running[running_n++] = wire_lib_launch(program, arguments);
}

static pid_t launch_clock(const char *name)
{
	char line[700];

	snprintf(line, sizeof(line), "--name %s --config %s", name, file);
	return launch("hubo-daemon", line);
}

static void pass(int ms)
{
	struct bus_frame got[64];

	for (; ms > 0; ms--) {
		clock_wait(NULL, 0, clock_now_ns() + MS);
		for (int i = 0; i < 2; i++)
			while (ear[i] && bus_receive(ear[i], got, 64) > 0)
				;
	}
}

#define UNTIL(condition)                                                   \
	do {                                                               \
		for (int ms_ = 0; !(condition); ms_++) {                   \
			TEST_ASSERT_MESSAGE(ms_ < GIVE_UP_MS, #condition); \
			pass(1);                                           \
		}                                                          \
	} while (0)

static void listen_to(unsigned int i, const char *name)
{
	UNTIL(!bus_open(&ear[i], name, NULL, &(struct error_sink){ 0 }));
}

static int ended(pid_t pid)
{
	int status = 0;

	UNTIL(waitpid(pid, &status, WNOHANG) == pid);
	for (unsigned int i = 0; i < running_n; i++)
		running[i] = running[i] == pid ? 0 : running[i];
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void end(pid_t pid, int signal)
{
	virtual_lib_signal(pid, signal);
	TEST_ASSERT_EQUAL(signal == SIGKILL ? -SIGKILL : 0, ended(pid));
}

void tearDown(void)
{
	killer_end();
	while (running_n)
		if (running[--running_n]) {
			virtual_lib_signal(running[running_n], SIGKILL);
			waitpid(running[running_n], NULL, 0);
		}
	for (int i = 0; i < 2; i++) {
		bus_close(ear[i]);
		ear[i] = NULL;
	}
	wire_lib_end(SIGKILL);
	virtual_lib_end();
	lib_unlink_all(prefix);
}

/* ---- channels ---- */

static bool open_channel(ach_channel_t *chan, const char *name)
{
	char full[96];

	snprintf(full, sizeof(full), "%s%s", prefix, name);
	return ach_open(chan, full, NULL) == ACH_OK;
}

static bool newest(const char *name, void *msg, size_t size)
{
	enum ach_status status;
	ach_channel_t chan;
	size_t len = 0;

	memset(msg, 0, size);
	if (!open_channel(&chan, name))
		return false;
	status = ach_get(&chan, msg, size, &len, NULL, ACH_O_LAST);
	ach_close(&chan);
	return (status == ACH_OK || status == ACH_MISSED_FRAME) && len == size;
}

/* Zeros: none yet. */
static const struct msg_clock *clock_said(void)
{
	static struct msg_clock msg;

	newest("clock", &msg, sizeof(msg));
	return &msg;
}

static const struct msg_bus_stats *bus_said(const char *channel)
{
	static struct msg_bus_stats msg;

	newest(channel, &msg, sizeof(msg));
	return &msg;
}

static bool is_active(void)
{
	return clock_said()->common.lifecycle == MSG_LIFE_ACTIVE;
}

static bool reported(const char *channel, const char *code, const char *words)
{
	struct msg_event event;
	enum ach_status status;
	ach_channel_t chan;
	bool found = false;
	size_t len;

	if (!open_channel(&chan, channel))
		return false;
	while ((status = ach_get(&chan, &event, sizeof(event), &len, NULL, 0)) == ACH_OK || status == ACH_MISSED_FRAME)
		found |= !strncmp(event.code, code, sizeof(event.code)) && strstr(event.text, words);
	ach_close(&chan);
	return found;
}

static void hear(const char *text)
{
	struct frame frame;

	TEST_ASSERT_NULL(frame_text_read(&frame, text, strlen(text)));
	TEST_ASSERT_EQUAL(0, bus_send(ear[0], &frame));
}

static void up(const char *name)
{
	listen_to(0, "wire:torso@ear");
	launch_clock(name);
	UNTIL(is_active());
}

/* ---- cases ---- */

TEST(says_which_cycle_it_is)
{
	const struct msg_clock *c;

	begin("080#");
	up("clock");
	c = clock_said();
	TEST_ASSERT_EQUAL_INT64(MS, c->period_ns);
	TEST_ASSERT_EQUAL_INT64((int64_t)c->cycle * c->period_ns, c->t_cycle_ns);
	TEST_ASSERT_EQUAL_INT64(0, c->late_ns);
	UNTIL(clock_said()->bus[0].confirmed > 100);
	TEST_ASSERT_EQUAL_STRING("torso", clock_said()->bus[0].name);
	TEST_ASSERT_EQUAL(5, clock_said()->bus[0].divider);
	end(running[0], SIGTERM);
	c = clock_said();
	TEST_ASSERT_EQUAL(MSG_LIFE_DOWN, c->common.lifecycle);
	TEST_ASSERT_EQUAL_UINT64(0, c->common.skipped);
	/* Every fifth cycle had a frame; at the ends one off. */
	TEST_ASSERT_UINT64_WITHIN(1, c->common.ticks / 5, c->bus[0].sent);
	TEST_ASSERT_EQUAL_UINT64(0, c->common.bus[0].replaced + c->common.bus[0].expired);
}

TEST(says_how_the_buses_are)
{
	const struct msg_bus_stats *s;
	uint64_t frames;

	begin("080#");
	up("clock");
	UNTIL(bus_said("bus-torso")->load > 0);
	s = bus_said("bus-torso");
	TEST_ASSERT_EQUAL_STRING("torso", s->name);
	TEST_ASSERT_EQUAL_STRING("wire:torso", s->interface);
	TEST_ASSERT_EQUAL(MSG_LINK_ERROR_ACTIVE, s->state);
	TEST_ASSERT_EQUAL(1000000, s->bitrate);
	TEST_ASSERT_TRUE(s->load_max >= s->load && s->load_max < 0.2);
	UNTIL(clock_said()->bus[0].load > 0);
	frames = bus_said("bus-torso")->frames;
	wire_lib_ask("wire:torso", "fault babble ear 123#1122334455667788 300ms");
	UNTIL(bus_said("bus-torso")->load_max > 0.5);
	UNTIL(bus_said("bus-torso")->frames > frames + 500);
	UNTIL(bus_said("bus-torso")->load < 0.2);
	TEST_ASSERT_TRUE(bus_said("bus-torso")->load_max > 0.5 && bus_said("bus-torso")->load_max < 1.02);
}

/* Neither a second one of its name nor, on another bus, one of its robot. */
TEST(a_second_one_does_not_start)
{
	const char *const lines[] = { "--name clock --config @", "--name clock --bus wire:torso",
				      "--name other --config @" };
	char line[700], words[64], said[4096], path[600];
	FILE *from;
	size_t n;

	begin("080#");
	up("clock");
	snprintf(path, sizeof(path), "%s/out", wire_lib_folder());
	snprintf(words, sizeof(words), "hubo-daemon, process %d", (int)running[0]);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		const char *at = strchr(lines[i], '@');

		TEST_ASSERT_EQUAL(0, truncate(path, 0));
		snprintf(line, sizeof(line), "%.*s%s", (int)strcspn(lines[i], "@"), lines[i], at ? file : "");
		TEST_ASSERT_EQUAL_MESSAGE(EXIT_TAKEN, ended(launch("hubo-daemon", line)), line);
		from = fopen(path, "r");
		TEST_ASSERT_NOT_NULL(from);
		n = fread(said, 1, sizeof(said) - 1, from);
		said[n] = 0;
		fclose(from);
		TEST_ASSERT_NOT_NULL_MESSAGE(strstr(said, words), said);
	}
	TEST_ASSERT_TRUE(is_active());
	/* Another robot, with buses of its own, has a clock of its own. */
	set_prefix();
	launch_clock("other");
	UNTIL(is_active());
}

TEST(goes_on_without_a_bus)
{
	pid_t base;

	begin("080#");
	up("two");
	UNTIL(bus_said("bus-base")->header.t_publish_ns && bus_said("bus-base")->state == MSG_LINK_ABSENT);
	UNTIL(reported("two-event", "bus-base", "base is absent"));
	UNTIL(clock_said()->bus[0].confirmed > 20);
	TEST_ASSERT_EQUAL_UINT64(0, clock_said()->bus[1].confirmed);
	base = launch("canwire", "run --outage 0 base");
	listen_to(1, "wire:base@ear");
	UNTIL(clock_said()->bus[1].confirmed > 20);
	UNTIL(reported("two-event", "bus-base", "base is back"));
	UNTIL(bus_said("bus-base")->load > 0);
	TEST_ASSERT_EQUAL(500000, bus_said("bus-base")->bitrate);
	end(base, SIGKILL);
	UNTIL(bus_said("bus-base")->state == MSG_LINK_ABSENT);
	TEST_ASSERT_TRUE(is_active());
	TEST_ASSERT_EQUAL_UINT64(0, clock_said()->common.skipped);
}

TEST(another_sender_of_its_frame_is_reported)
{
	begin("080#");
	up("clock");
	hear("081#");
	hear("080#00");
	pass(100);
	TEST_ASSERT_FALSE(reported("clock-event", "second-clock", ""));
	hear("080#");
	UNTIL(reported("clock-event", "second-clock", "another node sends the clock frame of torso"));
}

TEST(a_rate_that_is_not_kept_is_reported)
{
	begin("080#");
	up("clock");
	for (unsigned int i = 0; i < 80; i++) {
		virtual_lib_signal(running[0], SIGSTOP);
		pass(15);
		virtual_lib_signal(running[0], SIGCONT);
		pass(5);
	}
	UNTIL(reported("clock-event", "slow", "cycles skipped"));
	UNTIL(is_active()); /* a good second later */
}

TEST(cycles_skipped_in_a_pause_are_not_reported_as_a_tick_that_is_too_short)
{
	begin("080#");
	up("clock");
	virtual_lib_signal(running[0], SIGSTOP);
	pass(1200);
	virtual_lib_signal(running[0], SIGCONT);
	UNTIL(reported("clock-event", "paused", "this machine paused for 1"));
	pass(1500);
	TEST_ASSERT_FALSE(reported("clock-event", "slow", ""));
}

TEST(killed_a_hundred_times)
{
	begin("080#");
	TEST_ASSERT_EQUAL(0, killer_run(file, KILLS));
}

/* Drivers on it know the clock by its channel alone. */
TEST(killed_on_a_bus_without_a_clock_frame)
{
	begin("none");
	TEST_ASSERT_EQUAL(0, killer_run(file, KILLS * 2 / 5));
}
