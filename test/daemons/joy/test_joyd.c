/* test_joyd.c: joyd as a process, on the virtual clock, alone and behind a refmuxd; events come through a FIFO. */
#include <fcntl.h>
#include <linux/input.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channels/ach/ach.h"
#include "channels/clock/clock.h"
#include "test/daemons/drv/controller_lib.h"
#include "test/lib/testcase.h"
#include "test/lib/virtual_lib.h"

#define MS CONTROLLER_LIB_MS
#define FULL 32767

static char fifo[64];
static int pen; /* -1: the joystick is unplugged */
static pid_t joyd;
static struct msg_joint_ref ref;
static struct msg_mux_state state;

void setUp(void)
{
	controller_lib_begin();
	snprintf(fifo, sizeof(fifo), "%s/joystick", getenv("ENDPLATE_RUN"));
	TEST_ASSERT_EQUAL(0, mkfifo(fifo, 0600));
	pen = -1;
	joyd = 0;
}

static void end_joyd(int signal)
{
	if (joyd <= 0)
		return;
	virtual_lib_signal(joyd, signal);
	while (waitpid(joyd, NULL, WNOHANG) == 0)
		controller_lib_ms(1);
	joyd = 0;
}

void tearDown(void)
{
	end_joyd(SIGKILL);
	if (pen >= 0)
		close(pen);
	controller_lib_end();
}

static void plug(void)
{
	pen = open(fifo, O_RDWR | O_NONBLOCK); /* also if joyd has it closed now */
	TEST_ASSERT(pen >= 0);
	controller_lib_ms(1100);
}

static void unplug(void)
{
	close(pen);
	pen = -1;
}

static void arguments(char *line, size_t size, const char *source, const char *more)
{
	snprintf(line, size,
		 "--name stick --set output=waist --set source=%s --set device=file:%s --set tick=5ms "
		 "--set axes=waist=ABS_Y*-0.5 --set dead_zone=0 --set expo=0 %s",
		 source, fifo, more);
}

/* joyd for waist-ref, plugged in and armed. */
static void begin(const char *more)
{
	char line[400];

	arguments(line, sizeof(line), "none", more);
	controller_lib_start("joyd", line);
	plug();
	controller_lib_arm();
	controller_lib_ms(20);
}

static void event(uint16_t type, uint16_t code, int32_t value)
{
	const struct input_event ev = { .type = type, .code = code, .value = value };

	TEST_ASSERT_EQUAL(sizeof(ev), write(pen, &ev, sizeof(ev)));
}

static void hold(bool pressed)
{
	event(EV_KEY, BTN_TL, pressed);
	event(EV_SYN, SYN_REPORT, 0);
}

static void stick(int32_t value)
{
	event(EV_ABS, ABS_Y, value);
	event(EV_SYN, SYN_REPORT, 0);
}

static enum msg_source read_state(void)
{
	controller_lib_newest("stick-state", &state, sizeof(state));
	return state.state[0];
}

/* Is the joint commanded now? */
static bool moves(void)
{
	return controller_lib_ref(&ref) && ref.mode[0] == MSG_MODE_VELOCITY;
}

TEST(it_commands_a_velocity_while_the_switch_is_held)
{
	begin("");
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, (read_state(), state.common.lifecycle));
	TEST_ASSERT_EQUAL(MSG_SOURCE_READY, state.state[0]);
	stick(FULL);
	controller_lib_ms(20);
	TEST_ASSERT_FALSE(moves());
	stick(0);
	hold(true);
	controller_lib_ms(20);
	stick(FULL);
	controller_lib_ms(20);
	TEST_ASSERT_TRUE(moves());
	TEST_ASSERT_EQUAL_DOUBLE(-0.5, ref.velocity[0]);
	TEST_ASSERT_EQUAL(MSG_MODE_NONE, ref.mode[1]);
	TEST_ASSERT_LESS_OR_EQUAL_INT64(clock_now_ns() + 15 * MS, ref.header.valid_until_ns);
	TEST_ASSERT_EQUAL(MSG_SOURCE_IN_CHARGE, read_state());
	TEST_ASSERT_EQUAL_STRING("none", state.in_charge);
	/* At the release nothing is asked for any more, in the next tick. */
	hold(false);
	controller_lib_ms(5);
	TEST_ASSERT_FALSE(moves());
	controller_lib_ms(20);
	TEST_ASSERT_FALSE(controller_lib_ref(&ref));
	TEST_ASSERT_EQUAL(MSG_SOURCE_READY, read_state());
	TEST_ASSERT_EQUAL_STRING("", state.in_charge);
	TEST_ASSERT_EQUAL(0, controller_lib_stop(SIGTERM));
}

/* Held and at the end of its range when this begins. */
static void be_held(const char *more)
{
	begin(more);
	hold(true);
	controller_lib_ms(10);
	stick(FULL);
	controller_lib_ms(10);
	TEST_ASSERT_TRUE(moves());
}

TEST(unplugged_it_is_released_and_a_new_joystick_has_to_press_the_switch)
{
	be_held("");
	unplug();
	controller_lib_ms(6);
	TEST_ASSERT_FALSE(moves());
	TEST_ASSERT_EQUAL(MSG_SOURCE_ABSENT, read_state());
	plug();
	TEST_ASSERT_EQUAL(MSG_SOURCE_READY, read_state());
	stick(FULL);
	controller_lib_ms(20);
	TEST_ASSERT_FALSE(moves());
	hold(true);
	controller_lib_ms(20);
	TEST_ASSERT_EQUAL(MSG_SOURCE_REFUSED, read_state()); /* not centred */
	TEST_ASSERT_FALSE(moves());
	stick(0);
	controller_lib_ms(20);
	TEST_ASSERT_TRUE(moves());
}

TEST(idle_is_a_release)
{
	be_held("--set idle=200ms");
	controller_lib_ms(150);
	TEST_ASSERT_TRUE(moves());
	controller_lib_ms(60);
	TEST_ASSERT_FALSE(moves());
	TEST_ASSERT_EQUAL(MSG_SOURCE_STALE, read_state());
	stick(0);
	stick(FULL);
	controller_lib_ms(20);
	TEST_ASSERT_FALSE(moves());
}

TEST(a_joyd_that_stood_still_begins_released)
{
	char line[400];

	arguments(line, sizeof(line), "none", "");
	be_held("");
	controller_lib_stop(SIGKILL);
	controller_lib_ms(20);
	TEST_ASSERT_FALSE(controller_lib_ref(&ref)); /* the last one has expired */
	controller_lib_start("joyd", line);
	stick(FULL);
	controller_lib_ms(20);
	TEST_ASSERT_FALSE(moves());
}

TEST(lost_events_are_a_release)
{
	be_held("");
	event(EV_SYN, SYN_DROPPED, 0);
	controller_lib_ms(5);
	TEST_ASSERT_FALSE(moves());
}

TEST(it_takes_back_what_it_asked_for_when_it_ends)
{
	be_held("");
	TEST_ASSERT_EQUAL(0, controller_lib_stop(SIGTERM));
	TEST_ASSERT_FALSE(moves());
}

static enum msg_level level(void)
{
	read_state();
	return state.common.level;
}

TEST(the_stop_button_raises_and_never_lowers)
{
	static const struct {
		const char *setting;
		enum msg_level level;
	} rows[] = { { "--set stop_level=hold", MSG_LEVEL_HOLD }, { "", MSG_LEVEL_ESTOP } };

	for (size_t i = 0; i < 2; i++) {
		if (i) {
			tearDown();
			setUp();
		}
		begin(rows[i].setting);
		TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, level());
		event(EV_KEY, BTN_EAST, 1); /* pressed and released within a tick, without the dead-man switch */
		event(EV_KEY, BTN_EAST, 0);
		controller_lib_ms(20);
		TEST_ASSERT_EQUAL(rows[i].level, level());
		controller_lib_arm();
		controller_lib_ms(20);
		TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, level()); /* once is enough */
		event(EV_KEY, BTN_EAST, 1);
		controller_lib_ms(20);
		controller_lib_arm();
		controller_lib_ms(20);
		TEST_ASSERT_EQUAL(rows[i].level, level()); /* still pressed: raised again */
	}
}

TEST(a_recording_is_played_with_its_times)
{
	static const struct input_event events[] = {
		{ .type = EV_KEY, .code = BTN_TL, .value = 1, .input_event_sec = 7, .input_event_usec = 900000 },
		{ .type = EV_ABS, .code = ABS_Y, .value = FULL, .input_event_sec = 8 },
		{ .type = EV_KEY, .code = BTN_TL, .value = 0, .input_event_sec = 8, .input_event_usec = 200000 },
		{ .type = EV_KEY, .code = BTN_TL, .value = 1, .input_event_sec = 8, .input_event_usec = 300000 },
	};
	char line[400];
	FILE *to;

	unlink(fifo);
	to = fopen(fifo, "w");
	TEST_ASSERT_NOT_NULL(to);
	TEST_ASSERT_EQUAL(4, fwrite(events, sizeof(*events), 4, to));
	fclose(to);
	controller_lib_arm();
	controller_lib_ms(10);
	arguments(line, sizeof(line), "none", "");
	controller_lib_start("joyd", line); /* takes 50 ms */
	TEST_ASSERT_TRUE(moves());
	TEST_ASSERT_EQUAL_DOUBLE(0, ref.velocity[0]);
	controller_lib_ms(100);
	TEST_ASSERT_TRUE(moves());
	TEST_ASSERT_EQUAL_DOUBLE(-0.5, ref.velocity[0]);
	controller_lib_ms(200);
	TEST_ASSERT_FALSE(moves());
	TEST_ASSERT_EQUAL(MSG_SOURCE_READY, read_state());
	controller_lib_ms(150); /* at its end the joystick is unplugged, though the switch is held */
	TEST_ASSERT_FALSE(moves());
	TEST_ASSERT_EQUAL(MSG_SOURCE_ABSENT, read_state());
}

TEST(the_other_source_follows_in_the_next_tick)
{
	char line[500], command[600];
	int until = 0;

	controller_lib_start("refmuxd", "--name mux --set tick=5ms --set output=waist --set sources=joy,control");
	arguments(line, sizeof(line), "joy", "");
	joyd = virtual_lib_fork("joyd");
	TEST_ASSERT(joyd >= 0);
	if (!joyd) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		snprintf(command, sizeof(command), "exec %s/joyd --set lock_memory=no %s >/dev/null 2>&1",
			 getenv("BUILD") ? getenv("BUILD") : "build", line);
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	controller_lib_ms(50);
	plug();
	controller_lib_arm();
	hold(true);
	for (int i = 0; i < 8; i++) {
		controller_lib_put("waist.control-ref", 2, 30);
		controller_lib_ms(5);
	}
	TEST_ASSERT_TRUE(moves());
	hold(false);
	for (until = 0; until < 30 && !(controller_lib_ref(&ref) && ref.mode[0] == MSG_MODE_POSITION); until++) {
		controller_lib_put("waist.control-ref", 2, 30);
		controller_lib_ms(1);
	}
	TEST_ASSERT_LESS_OR_EQUAL(10, until); /* a tick of joyd and one of refmuxd */
	TEST_ASSERT_EQUAL_DOUBLE(2, ref.position[0]);
}
