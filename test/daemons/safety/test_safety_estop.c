/* test_safety_estop.c: e-stop and hold, on the wire and in the state: raised, lowered, in vain, and with channels
 * that are not as they should be. */
#include <math.h>
#include <signal.h>

#include "channels/ach/ach_ring.h"
#include "channels/clock/clock.h"
#include "test/daemons/safety/safety_lib.h"
#include "test/lib/estop_talk.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

static double commanded(void)
{
	return safety_commanded(INT64_MIN);
}

static bool obeys(enum msg_level level)
{
	return safety_state()->common.level == level;
}

static void moving_with(const struct safety_set *set)
{
	safety_start(set);
	safety_arm();
	safety_velocity(-SAFETY_CRUISE);
	SAFETY_UNTIL(safety_reached(-SAFETY_CRUISE, INT64_MIN));
}

static void moving(void)
{
	moving_with(NULL);
}

static bool halted(void)
{
	return safety_life() == MSG_LIFE_DISARMED && safety_sim_has(safety_on->word_halted) && safety_sim_speed() == 0;
}

/* It was done at t_ns or soon after.  Ticks that were decided later than now command no motion; the halt is before. */
static void check_halt(int64_t t_ns)
{
	const int64_t next_ns = safety_decided_after(clock_now_ns());
	const struct bus_frame *halt;

	SAFETY_UNTIL(halted());
	halt = safety_stop_frame(t_ns);
	TEST_ASSERT_NOT_NULL_MESSAGE(halt, "no halt on the wire");
	TEST_ASSERT_EQUAL_MESSAGE(0, safety_motions(halt->t_ns), "a move after the halt");
	TEST_ASSERT_EQUAL_MESSAGE(0, safety_motions(next_ns), "a move later than the e-stop");
	TEST_ASSERT_TRUE_MESSAGE(obeys(MSG_LEVEL_ESTOP), "not at estop");
}

/* References that still come, and time, change nothing. */
static void check_stays_stopped(void)
{
	const int64_t from_ns = clock_now_ns();

	safety_ticks(40);
	TEST_ASSERT_EQUAL(MSG_LIFE_DISARMED, safety_life());
	TEST_ASSERT_EQUAL(0, safety_motions(from_ns));
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_RESET, from_ns));
}

/* And armed again it goes on, from standing. */
static void check_goes_on_when_armed(void)
{
	const int64_t from_ns = clock_now_ns();

	safety_arm();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_ACTIVE && safety_reached(-SAFETY_CRUISE, from_ns));
	safety_check_ramp(from_ns, INT64_MAX, 0, SAFETY_STEP);
	safety_check_resets(1, from_ns);
}

/* ---- up and down ---- */

TEST_NEEDS(comes_up_stopped, SAFETY_VELOCITIES)
{
	safety_start(NULL);
	safety_velocity(-SAFETY_CRUISE);
	safety_ticks(40);
	TEST_ASSERT_EQUAL(MSG_LIFE_DISARMED, safety_life());
	TEST_ASSERT_TRUE(obeys(MSG_LEVEL_ESTOP));
	TEST_ASSERT_EQUAL(0, safety_motions(INT64_MIN));
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_HOME, INT64_MIN));
	TEST_ASSERT_TRUE(fabs(safety_position() - SAFETY_START_RAD) < 0.002);
}

static void raised_on(unsigned int channel)
{
	int64_t t_ns;

	moving();
	t_ns = clock_now_ns();
	estop_talk_raise(channel, MSG_LEVEL_ESTOP);
	check_halt(t_ns);
	check_stays_stopped();
	check_goes_on_when_armed();
}

TEST_NEEDS(raised_on_the_first_channel, SAFETY_VELOCITIES)
{
	raised_on(0);
}

TEST_NEEDS(raised_on_the_second_channel, SAFETY_VELOCITIES)
{
	raised_on(1);
}

/* A process was stopped in the middle of a message: its channel is locked for all, the other one for none. */
TEST_NEEDS(a_writer_stopped_inside_put, SAFETY_VELOCITIES)
{
	int64_t t_ns;
	pid_t pid;

	moving();
	pid = lib_inside_put(safety_channel("estop"), sizeof(struct msg_estop));
	safety_ticks(20);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, safety_life());
	t_ns = clock_now_ns();
	estop_talk_raise(1, MSG_LEVEL_ESTOP);
	check_halt(t_ns);
	lib_kill(pid);
	check_goes_on_when_armed();
}

TEST_NEEDS(on_estop_may_be_to_hold, SAFETY_VELOCITIES | SAFETY_ON_ESTOP)
{
	int64_t t_ns;

	moving_with(&(struct safety_set){ .settings = "on_estop: hold" });
	safety_raise(MSG_LEVEL_ESTOP);
	t_ns = clock_now_ns();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_DISARMED && commanded() == 0);
	safety_ticks(20);
	safety_check_braking(safety_decided_after(t_ns), safety_velocity_at(safety_decided_after(t_ns)));
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_HALT, t_ns));
}

/* ---- hold ---- */

TEST_NEEDS(hold_brakes_and_waits_for_a_reference, SAFETY_VELOCITIES)
{
	int64_t t_ns, lowered_ns, next_ns;

	moving();
	safety_raise(MSG_LEVEL_HOLD);
	t_ns = clock_now_ns();
	next_ns = safety_decided_after(t_ns);
	SAFETY_UNTIL(obeys(MSG_LEVEL_HOLD) && safety_life() == MSG_LIFE_HOLDING && fabs(commanded()) < 0.005);
	safety_ticks(40); /* references still come */
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, safety_life());
	safety_check_braking(next_ns, safety_velocity_at(next_ns));
	TEST_ASSERT_EQUAL_MESSAGE(0, safety_count(SAFETY_HALT, t_ns), "hold is not a halt");

	/* Lowered when no reference comes any more: it goes on holding. */
	safety_quiet();
	lowered_ns = safety.ref.header.valid_until_ns;
	SAFETY_UNTIL(clock_now_ns() > lowered_ns);
	safety_arm();
	safety_ticks(40);
	TEST_ASSERT_TRUE(obeys(MSG_LEVEL_RUN));
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, safety_life());
	safety_check_braking(next_ns, safety_velocity_at(next_ns));
	t_ns = safety_last(SAFETY_MOVE)->t_ns;
	safety_velocity(-SAFETY_CRUISE);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_ACTIVE && safety_reached(-SAFETY_CRUISE, INT64_MIN));
	safety_check_ramp(t_ns, INT64_MAX, safety_velocity_at(t_ns), SAFETY_STEP);
	TEST_ASSERT_EQUAL_MESSAGE(0, safety_count(SAFETY_RESET, next_ns), "nothing was halted");
}

TEST_NEEDS(from_hold_to_estop, SAFETY_VELOCITIES)
{
	int64_t t_ns;

	moving();
	safety_raise(MSG_LEVEL_HOLD);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_HOLDING);
	t_ns = clock_now_ns();
	safety_raise(MSG_LEVEL_ESTOP);
	check_halt(t_ns);
	/* A raise to a lower level lowers nothing, nor does one to run. */
	safety_raise(MSG_LEVEL_HOLD);
	estop_talk_raise(0, MSG_LEVEL_RUN);
	check_stays_stopped();
	check_goes_on_when_armed();
}

/* ---- between two ticks ---- */

static unsigned int times_disarmed(unsigned int from)
{
	unsigned int n = 0;

	for (unsigned int i = from; i < safety.states_n; i++)
		n += safety.states[i].common.lifecycle == MSG_LIFE_DISARMED &&
		     (i == from || safety.states[i - 1].common.lifecycle != MSG_LIFE_DISARMED);
	return n;
}

TEST_NEEDS(raised_and_lowered_between_two_ticks, SAFETY_VELOCITIES)
{
	const struct bus_frame *halt;
	unsigned int first;
	uint64_t epoch;
	int64_t t_ns;

	moving();
	epoch = safety_state()->common.epoch;
	safety_stop_driver();
	first = safety.states_n;
	safety_raise(MSG_LEVEL_ESTOP);
	safety_lower();
	t_ns = clock_now_ns();
	safety_go_on();
	SAFETY_UNTIL(safety_stop_frame(t_ns));
	halt = safety_stop_frame(t_ns);
	SAFETY_UNTIL(safety_state()->common.epoch == epoch + 1 && safety_life() == MSG_LIFE_ACTIVE &&
		     safety_reached(-SAFETY_CRUISE, halt->t_ns));
	TEST_ASSERT_EQUAL_MESSAGE(1, times_disarmed(first), "once");
	while (first < safety.states_n && safety.states[first].common.lifecycle != MSG_LIFE_DISARMED)
		first++;
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, safety.states[first].common.level);
	/* Between halt and reset nothing moves, and then it begins at rest. */
	safety_check_resets(1, halt->t_ns);
	if (safety_has(SAFETY_HALTS))
		TEST_ASSERT_TRUE(safety_first(SAFETY_MOVE, halt->t_ns)->t_ns >
				 safety_first(SAFETY_RESET, halt->t_ns)->t_ns);
	safety_check_ramp(halt->t_ns, INT64_MAX, 0, SAFETY_STEP);
}

/* ---- lowered in vain ---- */

/* Decided before the raise: the person had not seen it. */
TEST_NEEDS(lowering_that_has_not_seen_the_raise, SAFETY_VELOCITIES)
{
	struct msg_estop msg;
	int64_t t_ns;

	moving();
	msg = estop_talk_message(MSG_ESTOP_LOWER, MSG_LEVEL_RUN);
	msg.epoch = ++safety.epoch;
	t_ns = clock_now_ns();
	estop_talk_raise(1, MSG_LEVEL_ESTOP);
	estop_talk_put(0, &msg);
	check_halt(t_ns);
	check_stays_stopped();
	check_goes_on_when_armed();
}

/* Each of these would lower if it were the lowering that achstart wrote, there and then. */
static const struct {
	const char *what;
	unsigned int channel;
	int seen, other_chan, other_boot, late;
} in_vain[] = {
	{ "on estop-b", .channel = 1 },		{ "a copy, behind its place", .seen = -1 },
	{ "before its place", .seen = 1 },	{ "of another channel", .other_chan = 1 },
	{ "of another boot", .other_boot = 1 }, { "after its time", .late = 1 },
};

TEST_NEEDS(lowerings_that_do_not_count, SAFETY_VELOCITIES)
{
	int64_t t_ns;

	moving();
	t_ns = clock_now_ns();
	safety_raise(MSG_LEVEL_ESTOP);
	check_halt(t_ns);
	for (size_t i = 0; i < sizeof(in_vain) / sizeof(*in_vain); i++) {
		struct msg_estop msg;

		SAFETY_UNTIL(estop_talk_is_ratified());
		msg = estop_talk_message(MSG_ESTOP_LOWER, MSG_LEVEL_RUN);
		msg.epoch = UINT64_MAX;
		msg.seen[0] += (uint64_t)in_vain[i].seen;
		msg.chan[0] += (uint64_t)in_vain[i].other_chan;
		msg.boot[1] += (uint64_t)in_vain[i].other_boot;
		msg.until_ns = in_vain[i].late ? clock_now_ns() : msg.until_ns;
		estop_talk_put(in_vain[i].channel, &msg);
		safety_ticks(10);
		TEST_ASSERT_TRUE_MESSAGE(obeys(MSG_LEVEL_ESTOP), in_vain[i].what);
	}
	check_stays_stopped();
	check_goes_on_when_armed();
}

/* ---- channels that are not as they should be ---- */

static void removed(const char *name)
{
	int64_t t_ns;

	moving();
	t_ns = clock_now_ns();
	TEST_ASSERT_EQUAL(ACH_OK, ach_unlink(safety_channel(name)));
	/* Its file is looked at in every tick, after everything has been sent: the next one knows. */
	safety_decided_after(clock_now_ns());
	check_halt(t_ns);
	check_stays_stopped();
	check_goes_on_when_armed(); /* with channels that were made again */
}

TEST_NEEDS(first_channel_removed, SAFETY_VELOCITIES)
{
	removed("estop");
}

TEST_NEEDS(second_channel_removed, SAFETY_VELOCITIES)
{
	removed("estop-b");
}

TEST_NEEDS(a_channel_scribbled_upon, SAFETY_VELOCITIES)
{
	ach_channel_t chan;
	int64_t t_ns;

	moving();
	t_ns = clock_now_ns();
	TEST_ASSERT_EQUAL(ACH_OK, ach_open(&chan, safety_channel("estop"), NULL));
	atomic_store(&chan.handle->shm->commit, UINT64_MAX); /* no reader can make sense of it */
	ach_close(&chan);
	check_halt(t_ns);
	check_stays_stopped();
	check_goes_on_when_armed();
}

TEST_NEEDS(a_message_that_is_none, SAFETY_VELOCITIES)
{
	struct msg_joint_ref other;
	int64_t t_ns;

	moving();
	other = safety_ref();
	t_ns = clock_now_ns();
	safety_put("estop", &other, 64);
	check_halt(t_ns);
	check_stays_stopped();
	check_goes_on_when_armed();
}

TEST_NEEDS(a_level_that_is_none, SAFETY_VELOCITIES)
{
	struct msg_estop msg;
	int64_t t_ns;

	moving();
	msg = estop_talk_message(MSG_ESTOP_RAISE, MSG_LEVEL_ESTOP);
	msg.level = 99;
	t_ns = clock_now_ns();
	estop_talk_put(1, &msg);
	check_halt(t_ns);
	check_goes_on_when_armed();
}

/* Longer than any e-stop message, on both channels, and then a lowering by a process that had not read them. */
TEST_NEEDS(messages_longer_than_the_buffer, SAFETY_VELOCITIES)
{
	static const char zeros[800];
	struct msg_estop msg;
	int64_t t_ns;

	moving();
	msg = estop_talk_message(MSG_ESTOP_LOWER, MSG_LEVEL_RUN);
	t_ns = clock_now_ns();
	safety_put("estop", zeros, sizeof(zeros));
	safety_put("estop-b", zeros, sizeof(zeros));
	estop_talk_put(0, &msg);
	check_halt(t_ns);
	check_stays_stopped();
	TEST_ASSERT_TRUE(safety_reported("estop-invalid", "invalid e-stop message of 800 bytes"));
	check_goes_on_when_armed();
}

/* Among what was overwritten may have been a raise. */
TEST_NEEDS(more_messages_than_the_channel_holds, SAFETY_VELOCITIES)
{
	int64_t t_ns;

	moving();
	safety_stop_driver();
	for (int i = 0; i < 80; i++)
		estop_talk_raise(0, MSG_LEVEL_HOLD);
	t_ns = clock_now_ns();
	safety_go_on();
	check_halt(t_ns);
	check_goes_on_when_armed();
}

/* ---- a restart ---- */

TEST_NEEDS(a_restarted_driver_obeys_the_present_level, SAFETY_VELOCITIES)
{
	int64_t t_ns;

	moving();
	t_ns = clock_now_ns();
	safety_raise(MSG_LEVEL_ESTOP);
	check_halt(t_ns);
	safety_end_driver(SIGKILL);
	t_ns = clock_now_ns();
	safety_driver();
	safety_velocity(-SAFETY_CRUISE);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_DISARMED);
	safety_ticks(40);
	TEST_ASSERT_TRUE(obeys(MSG_LEVEL_ESTOP));
	TEST_ASSERT_EQUAL(0, safety_motions(t_ns));
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_RESET, t_ns));
	check_goes_on_when_armed();
}

/* The raise to estop is overwritten by others to hold, and the one who had read it dies. */
TEST_NEEDS(a_restarted_driver_is_not_lower_than_the_one_that_died, SAFETY_VELOCITIES)
{
	int64_t t_ns;

	moving();
	t_ns = clock_now_ns();
	safety_raise(MSG_LEVEL_ESTOP);
	check_halt(t_ns);
	for (int i = 0; i < 70; i++)
		safety_raise(MSG_LEVEL_HOLD);
	safety_end_driver(SIGKILL);
	t_ns = clock_now_ns();
	safety_driver();
	safety_velocity(-SAFETY_CRUISE);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_DISARMED);
	safety_ticks(40);
	TEST_ASSERT_TRUE(obeys(MSG_LEVEL_ESTOP));
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_RESET, t_ns));
	check_goes_on_when_armed();
}

/* ---- a careless driver ---- */

/* It wants to turn in every tick, ten times as fast as its limit: what leaves is for the loop to say. */
TEST_NEEDS(a_careless_driver_moves_nothing_unless_armed, SAFETY_CARELESS)
{
	int64_t t_ns;

	safety_bench(NULL);
	safety_careless_driver();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_DISARMED);
	safety_velocity(-SAFETY_CRUISE);
	safety_ticks(40);
	TEST_ASSERT_EQUAL(0, safety_motions(INT64_MIN));
	TEST_ASSERT_GREATER_THAN_UINT64(30, safety_state()->common.frames_withheld);

	safety_arm();
	SAFETY_UNTIL(safety_motions(INT64_MIN) > 10); /* so it does try */
	safety_raise(MSG_LEVEL_HOLD);
	SAFETY_UNTIL(obeys(MSG_LEVEL_HOLD));
	t_ns = safety_decided_after(clock_now_ns());
	safety_ticks(40);
	TEST_ASSERT_EQUAL(0, safety_motions(t_ns));
	TEST_ASSERT_EQUAL_DOUBLE(0, safety_sim_speed());

	safety_raise(MSG_LEVEL_ESTOP);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_DISARMED);
	safety_end_driver(SIGTERM);
	TEST_ASSERT_EQUAL(0, safety_motions(t_ns));
	TEST_ASSERT_EQUAL_DOUBLE(0, safety_sim_speed());
}

int main(int argc, char **argv)
{
	return safety_main(argc, argv);
}
