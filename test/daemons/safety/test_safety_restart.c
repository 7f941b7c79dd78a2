/* test_safety_restart.c: a driver that is killed, stopped, asked to end, started twice; and the device without one. */
#define _GNU_SOURCE
#include <elf.h>
#include <linux/futex.h>
#include <math.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "channels/ach/ach_ring.h"
#include "channels/clock/clock.h"
#include "test/daemons/safety/safety_lib.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"
#include "test/lib/virtual_lib.h"

/* Longer than a busy machine holds a driver up, and soon over all the same. */
static const struct safety_set trips = { .watchdog_ms = 200 };

static void moving(const struct safety_set *set, double rad_s)
{
	safety_start(set);
	safety_arm();
	safety_velocity(rad_s);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_ACTIVE && safety_reached(rad_s, INT64_MIN));
}

static void check_nothing_but_questions_and_moves(int64_t from_ns)
{
	TEST_ASSERT_EQUAL_MESSAGE(0, safety_count(SAFETY_HALT, from_ns), "a halt");
	TEST_ASSERT_EQUAL_MESSAGE(0, safety_count(SAFETY_RESET, from_ns), "a reset");
	TEST_ASSERT_EQUAL_MESSAGE(0, safety_count(SAFETY_HOME, from_ns), "homing");
	TEST_ASSERT_EQUAL_MESSAGE(0, safety_count(SAFETY_SET, from_ns), "another config");
}

/* The controller goes on with the incarnation that is dead; then it knows the new one. */
static void check_old_references(uint32_t incarnation)
{
	const struct msg_common *common;

	SAFETY_UNTIL(safety_life() == MSG_LIFE_HOLDING && safety_state()->common.refs_refused.other_incarnation > 20);
	common = &safety_state()->common;
	TEST_ASSERT_EQUAL_UINT32(incarnation, safety_state()->header.incarnation);
	TEST_ASSERT_EQUAL_UINT64(0, common->refs_taken);
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, safety_life());
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, common->level);
}

static void check_new_references(int64_t from_ns)
{
	const int64_t t_ns = clock_now_ns();

	safety_velocity(-SAFETY_CRUISE);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_ACTIVE && safety_reached(-SAFETY_CRUISE, t_ns));
	safety_check_ramp(from_ns, INT64_MAX, 0, SAFETY_VELOCITY);
}

/* ---- within the module's watchdog ---- */

TEST_NEEDS(restarted_while_standing, SAFETY_VELOCITIES)
{
	double at;
	int64_t t_ns;

	moving(NULL, 0);
	at = safety_position();
	safety_end_driver(SIGKILL);
	t_ns = clock_now_ns();
	safety_driver();
	check_old_references(2);
	TEST_ASSERT_TRUE_MESSAGE(fabs(safety_position() - at) < 0.002, "it did not stay where it was");
	if (safety_on->word_brake)
		TEST_ASSERT_FALSE(safety_sim_has(safety_on->word_brake));
	check_nothing_but_questions_and_moves(t_ns);
	check_new_references(t_ns);
	TEST_ASSERT_EQUAL_DOUBLE(0, safety_trips());
}

TEST_NEEDS(restarted_while_moving, SAFETY_VELOCITIES)
{
	int64_t t_ns;

	moving(NULL, -SAFETY_CRUISE);
	safety_end_driver(SIGKILL);
	t_ns = clock_now_ns();
	safety_driver();
	check_old_references(2);
	SAFETY_UNTIL(safety_sim_speed() < 0.002);
	TEST_ASSERT_EQUAL_DOUBLE_MESSAGE(0, safety_on->value(&safety_first(SAFETY_MOVE, t_ns)->frame),
					 "to one found moving the first is velocity 0");
	TEST_ASSERT_TRUE(safety_said(safety_on->event_found_moving));
	check_nothing_but_questions_and_moves(t_ns);
	check_new_references(t_ns);
	TEST_ASSERT_EQUAL_DOUBLE(0, safety_trips());
}

TEST_NEEDS(restarted_again_and_again, SAFETY_VELOCITIES)
{
	moving(NULL, 0);
	for (uint32_t life = 2; life <= 6; life++) {
		const int64_t t_ns = clock_now_ns();

		safety_end_driver(SIGKILL);
		safety_driver();
		SAFETY_UNTIL(safety_life() == MSG_LIFE_HOLDING);
		TEST_ASSERT_EQUAL_UINT32(life, safety_state()->header.incarnation);
		check_nothing_but_questions_and_moves(t_ns);
	}
	TEST_ASSERT_TRUE(fabs(safety_position() - SAFETY_START_RAD) < 0.005);
}

/* ---- after it ---- */

static void killed_until_it_trips(void)
{
	moving(&trips, -SAFETY_CRUISE);
	safety_end_driver(SIGKILL);
	SAFETY_UNTIL(safety_trips() >= 1 && safety_sim_speed() == 0);
	TEST_ASSERT_TRUE(safety_sim_has(safety_on->word_tripped));
}

TEST_NEEDS(after_the_watchdog_one_reset, SAFETY_VELOCITIES | SAFETY_TRIPS)
{
	int64_t t_ns;

	killed_until_it_trips();
	t_ns = clock_now_ns();
	safety_driver();
	check_old_references(2);
	TEST_ASSERT_EQUAL_MESSAGE(1, safety_count(SAFETY_RESET, t_ns), "one reset");
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_HALT, t_ns));
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_HOME, t_ns));
	TEST_ASSERT_TRUE(safety_said(safety_on->event_reset));
	check_new_references(t_ns);
	TEST_ASSERT_EQUAL(1, safety_count(SAFETY_RESET, t_ns));
	TEST_ASSERT_EQUAL_DOUBLE(1, safety_trips());
}

/* It trips once more while the driver lives and feeds it: that is not caused by our absence. */
TEST_NEEDS(a_second_time_it_waits, SAFETY_VELOCITIES | SAFETY_TRIPS)
{
	int64_t t_ns;

	moving(&trips, -SAFETY_CRUISE);
	safety_ticks(60);
	t_ns = clock_now_ns();
	safety_fault(safety_on->fault_watchdog);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_FAULT);
	safety_ticks(60);
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_RESET, t_ns));
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, safety_life());
	TEST_ASSERT_TRUE(safety_said(safety_on->event_watchdog));
}

TEST_NEEDS(with_another_fault_no_reset, SAFETY_VELOCITIES | SAFETY_TRIPS | SAFETY_FAULTS)
{
	int64_t t_ns;
	uint64_t id;

	killed_until_it_trips();
	safety_fault(safety_on->fault_waits);
	t_ns = clock_now_ns();
	safety_driver();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_FAULT);
	safety_ticks(100);
	TEST_ASSERT_EQUAL_MESSAGE(0, safety_count(SAFETY_RESET, t_ns), "a reset without a request");
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_MOVE, t_ns));
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, safety_life());
	TEST_ASSERT_TRUE(safety_said(safety_on->event_waits));
	id = safety_request(MSG_VERB_CLEAR, "");
	SAFETY_UNTIL(safety_reply(id));
	TEST_ASSERT_EQUAL_MESSAGE(0, safety_reply(id)->result, safety_reply(id)->error);
	TEST_ASSERT_EQUAL(1, safety_count(SAFETY_RESET, t_ns));
	check_old_references(2);
	check_new_references(t_ns);
}

/* Stopped for so long, and let go on: as if it had been away. */
TEST_NEEDS(stopped_until_it_trips, SAFETY_VELOCITIES | SAFETY_TRIPS)
{
	int64_t t_ns;

	moving(&trips, -SAFETY_CRUISE);
	safety_stop_driver();
	SAFETY_UNTIL(safety_trips() >= 1 && safety_sim_speed() == 0);
	t_ns = clock_now_ns();
	safety_go_on();
	SAFETY_UNTIL(safety_first(SAFETY_RESET, t_ns));
	SAFETY_UNTIL(safety_life() == MSG_LIFE_ACTIVE &&
		     safety_reached(-SAFETY_CRUISE, safety_first(SAFETY_RESET, t_ns)->t_ns));
	TEST_ASSERT_EQUAL(1, safety_count(SAFETY_RESET, t_ns));
	TEST_ASSERT_EQUAL(1, safety_state()->header.incarnation);
	safety_check_ramp(safety_first(SAFETY_RESET, t_ns)->t_ns, INT64_MAX, 0, SAFETY_VELOCITY);
}

/* ---- never again ---- */

/* Killed and never restarted: the device stands within the time and the way that its page states, and stays there. */
TEST_NEEDS(the_device_makes_itself_safe, SAFETY_VELOCITIES)
{
	const struct bus_options options = { .filters = &safety_on->answers, .filters_n = 1 };
	struct error_sink errors = { error_to_stderr, NULL, 0 };
	struct safety_reading seen, moved = { .velocity_rad_s = SAFETY_VELOCITY };
	struct bus *probe;
	int64_t dead_ns;
	double from_rad;
	char text[96];

	moving(&(struct safety_set){ .watchdog_ms = safety_on->watchdog_ms }, -SAFETY_VELOCITY);
	TEST_ASSERT_EQUAL(0, bus_open(&probe, "wire:torso@probe", &options, &errors));
	SAFETY_UNTIL(safety_state()->velocity[0] < -0.99 * SAFETY_VELOCITY);
	safety_end_driver(SIGKILL);
	from_rad = safety_position();
	dead_ns = safety_last(SAFETY_MOVE)->t_ns;
	if (safety_last(SAFETY_FEED) && safety_last(SAFETY_FEED)->t_ns > dead_ns)
		dead_ns = safety_last(SAFETY_FEED)->t_ns;
	for (safety_on->observe(probe, &seen); fabs(seen.velocity_rad_s) > 1e-3; safety_on->observe(probe, &seen)) {
		if (seen.t_ns - dead_ns > safety_on->rests_ns)
			TEST_FAIL_MESSAGE("it moves for longer than its page says");
		moved = seen;
	}
	/* Seen late, it stood when it came to rest from what it said before; unless that was before it braked. */
	if (seen.t_ns - dead_ns > safety_on->rests_ns && fabs(moved.velocity_rad_s) < 0.9 * SAFETY_VELOCITY)
		seen.t_ns = moved.t_ns + (int64_t)(fabs(moved.velocity_rad_s) / safety_on->brakes_rad_s2 * 1e9);
	TEST_ASSERT_TRUE_MESSAGE(seen.t_ns - dead_ns <= safety_on->rests_ns, "it was seen too late to know");
	TEST_ASSERT_TRUE(safety_sim_has(safety_on->word_halted) && safety_sim_has(safety_on->word_tripped));
	snprintf(text, sizeof(text), "from %g to %g rad", from_rad, seen.position_rad);
	TEST_ASSERT_TRUE_MESSAGE(seen.position_rad < from_rad && from_rad - seen.position_rad <= safety_on->rests_rad,
				 text);
	moved = seen;
	for (int i = 0; i < 20; i++) {
		safety_on->observe(probe, &seen);
		TEST_ASSERT_EQUAL_DOUBLE(moved.position_rad, seen.position_rad);
	}
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_MOVE, dead_ns));
	bus_close(probe);
}

/* ---- asked to end ---- */

TEST_NEEDS(asked_to_end_it_leaves_the_joint_at_rest, SAFETY_VELOCITIES)
{
	int64_t t_ns, next_ns;

	moving(NULL, -SAFETY_CRUISE);
	t_ns = clock_now_ns();
	virtual_lib_signal(safety.driver, SIGTERM);
	next_ns = safety_decided_after(clock_now_ns());
	SAFETY_UNTIL(!safety_driver_lives());
	TEST_ASSERT_TRUE(WIFEXITED(safety.driver_status));
	TEST_ASSERT_EQUAL(0, WEXITSTATUS(safety.driver_status));
	TEST_ASSERT_NOT_NULL(safety_stop_frame(t_ns));
	TEST_ASSERT_EQUAL(0, safety_motions(safety_stop_frame(t_ns)->t_ns));
	safety_check_braking(next_ns, safety_velocity_at(next_ns));
	TEST_ASSERT_EQUAL(MSG_LIFE_DOWN, safety_life());
	TEST_ASSERT_TRUE(safety_sim_has(safety_on->word_halted));
	SAFETY_UNTIL(safety_sim_speed() == 0);
}

/* ---- inside put ---- */

/* A process is stopped inside a put on the driver's own channel: nothing is published, and everything else goes on. */
TEST_NEEDS(the_state_channel_is_locked, SAFETY_VELOCITIES)
{
	unsigned int last;
	double moves[400];
	int64_t t_ns;
	pid_t pid;

	moving(&trips, -SAFETY_CRUISE);
	pid = lib_inside_put(safety_channel(SAFETY_DEVICE "-state"), sizeof(struct msg_joint_state));
	t_ns = clock_now_ns();
	safety_turn();
	last = safety.states_n - 1;
	SAFETY_UNTIL(safety_count(SAFETY_MOVE, t_ns) >= 40);
	TEST_ASSERT_EQUAL_UINT(last, safety.states_n - 1);
	for (unsigned int i = 0, n = safety_moves(t_ns, INT64_MAX, moves, 400); i < n; i++)
		TEST_ASSERT_DOUBLE_WITHIN(SAFETY_ROUNDING, -SAFETY_CRUISE, moves[i]);
	lib_kill(pid);
	SAFETY_UNTIL(safety.states_n - 1 > last);
	TEST_ASSERT_GREATER_THAN_UINT32(30, safety.states[last + 1].common.put_timeouts);
	/* Each of them is missing in the sequence. */
	TEST_ASSERT_EQUAL_UINT64(safety.states[last].header.sequence + 1 + safety.states[last + 1].common.put_timeouts,
				 safety.states[last + 1].header.sequence);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, safety_life());
	TEST_ASSERT_EQUAL_DOUBLE_MESSAGE(0, safety_trips(), "the device was left alone");
}

#ifdef __aarch64__
#define BREAKPOINT 0xD4200000 /* brk #0 */
#define BREAKPOINT_MASK 0xFFFFFFFF
#define PROGRAM_COUNTER pc
#else
#define BREAKPOINT 0xCC /* int3 */
#define BREAKPOINT_MASK 0xFF
#define PROGRAM_COUNTER rip
#endif

static void go_on(int how)
{
	int status;

	TEST_ASSERT_EQUAL(0, ptrace(how, safety.driver, NULL, NULL));
	TEST_ASSERT_EQUAL(safety.driver, waitpid(safety.driver, &status, 0));
	TEST_ASSERT_TRUE(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
}

/* Where a function of the driver is in its memory */
static unsigned long address_of(const char *function)
{
	char text[128];
	unsigned long base = 0, offset = 0;
	FILE *file;

	snprintf(text, sizeof(text), "/proc/%d/maps", (int)safety.driver);
	file = fopen(text, "r");
	TEST_ASSERT_TRUE(file && fscanf(file, "%lx", &base) == 1);
	fclose(file);
	snprintf(text, sizeof(text), "nm /proc/%d/exe | sed -n 's/ T %s$//p'", (int)safety.driver, function);
	file = popen(text, "r");
	TEST_ASSERT_TRUE_MESSAGE(file && fscanf(file, "%lx", &offset) == 1, text);
	pclose(file);
	return base + offset;
}

/* Lets the driver go on to that instruction.  No other thread of it may come there: it is not traced. */
static void run_to(unsigned long address)
{
	const long was = ptrace(PTRACE_PEEKTEXT, safety.driver, (void *)address, NULL);
	struct user_regs_struct registers;
	struct iovec all = { &registers, sizeof(registers) };

	TEST_ASSERT_EQUAL(0, ptrace(PTRACE_POKETEXT, safety.driver, (void *)address,
				    (void *)((was & ~(long)BREAKPOINT_MASK) | BREAKPOINT)));
	go_on(PTRACE_CONT);
	TEST_ASSERT_EQUAL(0, ptrace(PTRACE_POKETEXT, safety.driver, (void *)address, (void *)was));
	TEST_ASSERT_EQUAL(0, ptrace(PTRACE_GETREGSET, safety.driver, (void *)NT_PRSTATUS, &all));
	registers.PROGRAM_COUNTER = address;
	TEST_ASSERT_EQUAL(0, ptrace(PTRACE_SETREGSET, safety.driver, (void *)NT_PRSTATUS, &all));
}

/* From the beginning of each put the driver is stepped, instruction by instruction, until it has the lock of its state
 * channel. */
static bool walk_into_a_put(ach_channel_t *chan)
{
	unsigned long put;

	if (ptrace(PTRACE_SEIZE, safety.driver, NULL, (void *)PTRACE_O_EXITKILL))
		return false;
	go_on(PTRACE_INTERRUPT);
	put = address_of("ach_put");
	for (int puts = 0; puts < 100; puts++) {
		run_to(put);
		for (int steps = 0; steps < 3000; steps++) {
			go_on(PTRACE_SINGLESTEP);
			if ((atomic_load(&chan->handle->shm->lock) & FUTEX_TID_MASK) == (uint32_t)safety.driver)
				return true;
		}
	}
	TEST_FAIL_MESSAGE("it never puts");
	return false;
}

TEST_NEEDS(stopped_and_killed_inside_put, SAFETY_VELOCITIES | SAFETY_REAL_TIME)
{
	uint64_t sequence;
	ach_channel_t chan;

#ifdef LIB_SANITIZED
	TEST_IGNORE_MESSAGE("NOT TESTED: sanitizers take too many steps");
#endif
#ifdef __aarch64__
	if (!(getauxval(AT_HWCAP) & HWCAP_ATOMICS))
		TEST_IGNORE_MESSAGE("NOT TESTED: exclusive loads and stores cannot be stepped through");
#endif
	moving(NULL, 0);
	safety_quiet();
	TEST_ASSERT_EQUAL(ACH_OK, ach_open(&chan, safety_channel(SAFETY_DEVICE "-state"), NULL));
	if (!walk_into_a_put(&chan))
		TEST_IGNORE_MESSAGE("NOT TESTED: this system does not permit ptrace");
	/* There it stands, with the lock.  Whoever reads is not disturbed: what was published is there. */
	safety_turn();
	sequence = safety_state()->header.sequence;
	TEST_ASSERT_EQUAL(1, safety_state()->header.incarnation);
	ptrace(PTRACE_DETACH, safety.driver, NULL, SIGKILL);
	SAFETY_UNTIL(!safety_driver_lives());
	TEST_ASSERT_EQUAL_UINT64(sequence, safety_state()->header.sequence);
	safety_driver();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_HOLDING);
	TEST_ASSERT_EQUAL_UINT32(2, safety_state()->header.incarnation);
	TEST_ASSERT_EQUAL_UINT32(0, safety_state()->common.put_timeouts);
	check_new_references(clock_now_ns());
	ach_close(&chan);
}

/* ---- two of them ---- */

TEST_NEEDS(two_drivers_for_one_device, SAFETY_VELOCITIES)
{
	char names[64], same[600];
	int64_t t_ns;

	moving(NULL, -SAFETY_CRUISE);
	t_ns = safety_last(SAFETY_MOVE)->t_ns;
	snprintf(same, sizeof(same), "--name " SAFETY_DEVICE " --config %s", safety.file);
	snprintf(names, sizeof(names), "%s, process %d", safety_on->program, (int)safety.driver);
	for (unsigned int i = 0; i < 4; i++) {
		const char *second = i ? safety_on->second[i - 1] : same;

		if (!second)
			break;
		TEST_ASSERT_EQUAL_MESSAGE(112, safety_second(second), safety.said);
		TEST_ASSERT_NOT_NULL_MESSAGE(strstr(safety.said, names), safety.said);
	}
	TEST_ASSERT_TRUE(safety_driver_lives());
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, safety_life());
	TEST_ASSERT_EQUAL_UINT32(1, safety_state()->header.incarnation);
	check_nothing_but_questions_and_moves(t_ns);
	safety_check_rate(0);
	/* Killed, it holds nothing any more. */
	safety_end_driver(SIGKILL);
	safety_driver();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_HOLDING);
}

/* The driver was held up while the joint went on, and its reference ran out: the joint comes to rest where it is by
 * then, and is not taken back to where its ramp stayed. */
TEST_NEEDS(held_up_it_does_not_take_the_joint_back, SAFETY_POSITIONS)
{
	double moves[256], back_rad = 0;
	int64_t back_ns;
	unsigned int n;

	safety_start(NULL); /* its own watchdog does not stop it, if it can be set so */
	safety_arm();
	safety_position_to(SAFETY_START_RAD - 1.16);
	SAFETY_UNTIL(safety_sim_speed() > 0.97 * SAFETY_VELOCITY);
	safety_quiet();
	safety_stop_driver();
	for (int64_t until_ns = clock_now_ns() + 300 * SAFETY_MS; clock_now_ns() < until_ns;)
		safety_turn();
	back_ns = clock_now_ns();
	safety_go_on();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_HOLDING && safety_sim_speed() < 0.001);
	safety_ticks(60);
	n = safety_moves(back_ns, INT64_MAX, moves, 256);
	TEST_ASSERT_GREATER_THAN_UINT(50, n);
	for (unsigned int i = 0; i < n; i++)
		back_rad += fmax(moves[i], 0) * SAFETY_TICK_S;
	TEST_ASSERT_DOUBLE_WITHIN(0.02, 0, back_rad); /* taken back, 0.08 */
}

/* ---- freezes ---- */

#define OF_DRIVER 1
#define OF_WIRE 2
#define OF_DEVICE 4

static void signal_to(unsigned int whom, int signal)
{
	if (whom & OF_WIRE)
		virtual_lib_signal(safety.wire, signal);
	if (whom & OF_DEVICE)
		virtual_lib_signal(safety.sim, signal);
	if (whom & OF_DRIVER)
		virtual_lib_signal(safety.driver, signal);
}

/* Of both directions in turn. */
static void freeze(unsigned int whom, int64_t ms, double rad_s)
{
	static double moves[4000];
	unsigned int n, first = 0;
	int64_t back_ns;

	safety_velocity(rad_s);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_ACTIVE && safety_reached(rad_s, INT64_MIN));
	if (whom & OF_DRIVER)
		safety_stop_driver();
	signal_to(whom & ~(unsigned int)OF_DRIVER, SIGSTOP);
	for (int64_t until_ns = clock_now_ns() + ms * SAFETY_MS; clock_now_ns() < until_ns;)
		safety_turn();
	back_ns = clock_now_ns();
	signal_to(whom, SIGCONT);
	SAFETY_UNTIL(safety_reached(rad_s, back_ns) && safety_count(SAFETY_MOVE, back_ns) > 60 &&
		     safety_life() == MSG_LIFE_ACTIVE);
	n = safety_moves(back_ns, INT64_MAX, moves, 4000);
	/* What was in flight when the wire stood still, two frames at most, is the kernel's. */
	while (whom & OF_WIRE && first < 2 && fabs(moves[first] - rad_s) <= SAFETY_ROUNDING)
		first++;
	TEST_ASSERT_EQUAL_DOUBLE_MESSAGE(0, moves[first], "the first command is not rest");
	for (unsigned int i = first + 1; i < n; i++)
		TEST_ASSERT_TRUE(fabs(moves[i]) <= SAFETY_VELOCITY + SAFETY_ROUNDING &&
				 fabs(moves[i]) - fabs(moves[i - 1]) <= 2 * SAFETY_STEP + SAFETY_MEASURED);
}

/* Whatever stood still, while the controller went on: the first thing that is commanded is rest, and then a ramp from
 * there. */
static void check_freezes(unsigned int whom, int64_t shortest_ms)
{
	const int64_t times_ms[] = { shortest_ms, 500, 1000 };

	safety_start(&(struct safety_set){ .silent_ms = 10000 });
	safety_arm();
	for (unsigned int i = 0; i < sizeof(times_ms) / sizeof(*times_ms); i++)
		freeze(whom, times_ms[i], i % 2 ? -SAFETY_FAST : SAFETY_FAST);
}

TEST_NEEDS(a_frozen_driver_begins_at_rest, SAFETY_VELOCITIES)
{
	check_freezes(OF_DRIVER, 100);
}

TEST_NEEDS(after_a_frozen_wire_it_begins_at_rest, SAFETY_VELOCITIES)
{
	check_freezes(OF_WIRE, 100);
}

TEST_NEEDS(after_a_freeze_of_everything_it_begins_at_rest, SAFETY_VELOCITIES)
{
	check_freezes(OF_DRIVER | OF_WIRE | OF_DEVICE, 100);
}

/* The driver goes on meanwhile, and brakes; so long that it has come to rest. */
TEST_NEEDS(after_a_frozen_device_it_begins_at_rest, SAFETY_VELOCITIES)
{
	check_freezes(OF_DEVICE, 400);
}

int main(int argc, char **argv)
{
	return safety_main(argc, argv);
}
