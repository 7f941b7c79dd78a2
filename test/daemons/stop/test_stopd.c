/* test_stopd.c: stopd and a simulated I/O module on a soft wire, on the virtual clock. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channels/ach/ach.h"
#include "channels/clock/clock.h"
#include "test/can/bus/wire_lib.h"
#include "test/lib/estop_talk.h"
#include "test/lib/sim_talk.h"
#include "test/lib/testcase.h"
#include "test/lib/virtual_lib.h"

#define MS INT64_C(1000000)

static char prefix[32], file[600];
static pid_t sim, stopd;
static uint64_t epoch;
static struct msg_joint_state state;

static void pass(int ms)
{
	for (; ms > 0; ms--)
		clock_wait(NULL, 0, clock_now_ns() + MS);
}

static void end(pid_t *pid, int signal)
{
	if (*pid <= 0)
		return;
	virtual_lib_signal(*pid, signal);
	while (waitpid(*pid, NULL, WNOHANG) == 0)
		pass(1);
	*pid = 0;
}

static void start_stopd(void)
{
	char line[700];

	snprintf(line, sizeof(line), "--name stop --config %s", file);
	stopd = wire_lib_launch("stopd", line);
	pass(10);
}

static void begin(const char *settings)
{
	char line[700];
	FILE *to;

	snprintf(prefix, sizeof(prefix), "stopd%d-", (int)getpid());
	umask(0077);
	setenv("ENDPLATE_PREFIX", prefix, 1);
	unsetenv("NOTIFY_SOCKET");
	virtual_lib_begin(wire_lib_folder());
	wire_lib_start("io");
	snprintf(file, sizeof(file), "%s/robot.yaml", wire_lib_folder());
	to = fopen(file, "w");
	TEST_ASSERT_NOT_NULL(to);
	fprintf(to,
		"robot: lab\nbuses: {io: {interface: wire:io}}\ndevices:\n"
		"  stop: {driver: stopd, bus: io, settings: {lock_memory: no, input: frame, %s}, sim: {others: yes}}\n",
		settings);
	fclose(to);
	estop_talk_mend();
	snprintf(line, sizeof(line), "run %s", file);
	sim = wire_lib_launch("robotsim", line);
	pass(30);
	start_stopd();
}

void setUp(void)
{
	sim = stopd = 0;
}

void tearDown(void)
{
	char line[128];

	end(&stopd, SIGKILL);
	end(&sim, SIGKILL);
	wire_lib_end(SIGKILL);
	virtual_lib_end();
	snprintf(line, sizeof(line), "rm -f /dev/shm/ach*-%s*", prefix);
	TEST_ASSERT_EQUAL(0, system(line));
}

static void read_state(void)
{
	char channel[64];
	ach_channel_t chan;
	size_t len;

	snprintf(channel, sizeof(channel), "%sstop-state", prefix);
	TEST_ASSERT_EQUAL(ACH_OK, ach_open(&chan, channel, NULL));
	ach_get(&chan, &state, sizeof(state), &len, NULL, ACH_O_LAST | ACH_O_COPY);
	ach_close(&chan);
	TEST_ASSERT_EQUAL(sizeof(state), len);
}

static enum msg_level level(void)
{
	read_state();
	return state.common.level;
}

static void arm(void)
{
	pass(20); /* a raise on estop-b is copied first */
	estop_talk_lower(MSG_LEVEL_RUN, ++epoch);
	pass(30);
}

static void step_on(void)
{
	pass(1);
}

static void ask_sim(const char *question)
{
	char said[512];

	sim_talk(question, said, sizeof(said), step_on);
}

#define TWO "bits: [4, 2], byte: 1, closed: low, close_after: 50ms, differ_after: 300ms"

TEST(an_open_input_raises_again_when_it_is_lowered_and_a_closed_one_lets_it_be)
{
	begin(TWO);
	pass(200);
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, level());
	arm();
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, level());
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, state.common.lifecycle);
	TEST_ASSERT_EQUAL(2, state.count);
	TEST_ASSERT_EQUAL_STRING("bit4", state.joint[0]);
	TEST_ASSERT_EQUAL_STRING("bit2", state.joint[1]);
	TEST_ASSERT_EQUAL(1, state.state_word[0]);
	TEST_ASSERT_EQUAL(MSG_JOINT_ENABLED, state.status[1]);
	ask_sim("set stop.1 pressed=yes");
	pass(30); /* a period of the module, and a tick */
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, level());
	TEST_ASSERT_EQUAL(0, state.state_word[0]);
	TEST_ASSERT_EQUAL(0, state.status[0]);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, state.common.lifecycle);
	for (int i = 0; i < 3; i++) {
		arm();
		TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, level());
	}
	ask_sim("set stop.1 pressed=no");
	pass(200);
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, level()); /* it never lowers */
	arm();
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, level());
}

TEST(level_hold_is_raised_to_hold_and_left_at_estop)
{
	begin("level: hold");
	pass(200);
	arm();
	ask_sim("set stop.1 pressed=yes");
	pass(30);
	TEST_ASSERT_EQUAL(MSG_LEVEL_HOLD, level());
	estop_talk_raise_both(MSG_LEVEL_ESTOP);
	pass(30);
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, level());
}

/* ms after which it is raised, of the fault, at the latest. */
TEST(a_module_that_fails_counts_as_open)
{
	static const struct {
		const char *settings, *fault;
		int within_ms;
		bool in_fault;
		uint32_t status;
	} rows[] = {
		{ TWO, "silent", 130, true, MSG_JOINT_SILENT },
		{ TWO, "cut", 130, true, MSG_JOINT_SILENT },
		{ TWO, "short", 130, true, MSG_JOINT_SILENT },
		{ TWO, "broken", 30, false, 0 },
		{ TWO, "bounce", 30, false, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char question[64];

		if (i)
			tearDown();
		begin(rows[i].settings);
		pass(200);
		arm();
		TEST_ASSERT_EQUAL_MESSAGE(MSG_LEVEL_RUN, level(), rows[i].fault);
		snprintf(question, sizeof(question), "fault stop.1 %s", rows[i].fault);
		ask_sim(question);
		pass(rows[i].within_ms);
		TEST_ASSERT_EQUAL_MESSAGE(MSG_LEVEL_ESTOP, level(), rows[i].fault);
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].in_fault, state.common.lifecycle == MSG_LIFE_FAULT, rows[i].fault);
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].status, state.status[0], rows[i].fault);
		strcat(question, " clear");
		ask_sim(question);
		pass(200);
		TEST_ASSERT_EQUAL_MESSAGE(MSG_LIFE_ACTIVE, (read_state(), state.common.lifecycle), rows[i].fault);
		arm();
		TEST_ASSERT_EQUAL_MESSAGE(MSG_LEVEL_RUN, level(), rows[i].fault);
	}
}

TEST(a_welded_contact_is_found_when_the_switch_is_pressed)
{
	begin(TWO);
	pass(200);
	ask_sim("fault stop.1 welded");
	arm();
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, level()); /* not yet */
	ask_sim("set stop.1 pressed=yes");
	pass(30);
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, level());
	pass(400);
	ask_sim("set stop.1 pressed=no");
	pass(200);
	arm();
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, level());
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, state.common.lifecycle);
	TEST_ASSERT_EQUAL(MSG_JOINT_FAULT, state.status[0]);
	ask_sim("fault stop.1 welded clear");
	ask_sim("set stop.1 pressed=yes");
	pass(100);
	ask_sim("set stop.1 pressed=no");
	pass(200);
	arm();
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, level());
}

TEST(a_wire_that_is_gone_counts_as_open)
{
	begin(TWO);
	pass(200);
	arm();
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, level());
	wire_lib_end(SIGKILL);
	pass(20); /* sooner than by silence */
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, level());
	wire_lib_start("io");
	pass(3000);
	arm();
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, level());
}

/* A press during its absence would be lost: so it raises when it comes back, until the input has been closed. */
TEST(killed_and_started_again_it_raises)
{
	begin(TWO);
	pass(200);
	arm();
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, level());
	end(&stopd, SIGKILL);
	start_stopd();
	pass(100);
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, level());
	TEST_ASSERT_EQUAL(2, state.header.incarnation);
	pass(200);
	arm();
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, level());
	end(&stopd, SIGTERM);
}
