/* test_wire.c: a soft wire is a bus: the cases of every bus, run on it; and what only it can show. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "can/bus/attach.h"
#include "can/bus/bus.h"
#include "can/bus/link.h"
#include "channels/clock/clock.h"
#include "test/can/bus/bus_suite.h"
#include "test/can/bus/wire_lib.h"
#include "test/lib/testcase.h"

#define HANG_NS 20000000000

static struct clock_set *set; /* of the case; its buses are closed first */

void tearDown(void)
{
	bus_suite_end_case();
	clock_set_close(set);
	set = NULL;
	wire_lib_do("fault torso clear");
	wire_lib_do("link torso up");
}

/* ---- a frame's time is the wire's ---- */

TEST(stamps_are_ends_of_frames)
{
	struct bus *host = bus_suite_open("wire:torso", NULL), *imu = bus_suite_open("wire:torso@imu", NULL);
	struct frame frame = bus_suite_frame("123#DEADBEEF");
	int64_t echo_ns[3];

	for (int i = 0; i < 3; i++)
		bus_suite_send(host, &frame);
	for (int i = 0; i < 3; i++) {
		echo_ns[i] = bus_suite_receive(host, 1)->t_ns;
		TEST_ASSERT_EQUAL_INT64(echo_ns[i], bus_suite_receive(imu, 1)->t_ns);
	}
	/* 81 bits with the space between frames, at 1 Mbit/s: back to back, or later if they were handed over later */
	for (int i = 1; i < 3; i++)
		TEST_ASSERT_GREATER_OR_EQUAL(81000, echo_ns[i] - echo_ns[i - 1]);
	TEST_ASSERT_LESS_OR_EQUAL(clock_now_ns(), echo_ns[2]);
}

TEST(nothing_comes_before_its_time)
{
	struct bus *host = bus_suite_open("wire:torso", NULL), *imu = bus_suite_open("wire:torso@imu", NULL);
	struct frame frame = bus_suite_frame("001#1122334455667788");

	for (int i = 0; i < 50; i++) {
		struct bus_frame got;
		int n;

		bus_suite_send(host, &frame);
		while ((n = bus_receive(imu, &got, 1)) == 0)
			;
		TEST_ASSERT_EQUAL(1, n);
		TEST_ASSERT_GREATER_OR_EQUAL(got.t_ns, clock_now_ns());
	}
}

/* ---- acknowledgement ---- */

TEST(a_lone_node_repeats_its_frame_until_another_attaches)
{
	struct bus *host = bus_suite_open("wire:torso", NULL), *imu;
	struct frame frame = bus_suite_frame("123#11");
	struct bus_frame got;

	bus_suite_send(host, &frame);
	bus_suite_until_state(host, BUS_PASSIVE);
	TEST_ASSERT_EQUAL(0, bus_receive(host, &got, 1)); /* no echo without acknowledgement */
	TEST_ASSERT_EQUAL(128, wire_lib_number("torso", "host", "tx_errors"));
	imu = bus_suite_open("wire:torso@imu", NULL);
	TEST_ASSERT_TRUE(bus_suite_receive(host, 1)->flags & BUS_OWN);
	TEST_ASSERT_EQUAL(1, bus_suite_receive(imu, 1)->frame.len);
	TEST_ASSERT_EQUAL(127, wire_lib_number("torso", "host", "tx_errors"));
}

/* ---- the queue ---- */

TEST(a_full_queue_is_enobufs_and_loses_nothing)
{
	struct bus *host = bus_suite_open("wire:torso", NULL), *imu;
	struct frame frame = bus_suite_frame("123#00");
	int n = 0;

	for (; n < 100; n++) {
		frame.data[0] = (uint8_t)n;
		if (bus_send(host, &frame))
			break;
	}
	TEST_ASSERT_EQUAL(11, n); /* a queue of ten and the mailbox */
	TEST_ASSERT_EQUAL(-ENOBUFS, bus_send(host, &frame));
	TEST_ASSERT_EQUAL(2, bus_stats(host)->refused);
	imu = bus_suite_open("wire:torso@imu", NULL);
	for (int i = 0; i < n; i++)
		TEST_ASSERT_EQUAL(i, bus_suite_receive(imu, 1)->frame.data[0]);
	for (int i = 0; i < n; i++)
		TEST_ASSERT_EQUAL(i, bus_suite_receive(host, 1)->frame.data[0]);
}

TEST(two_programs_share_one_controller)
{
	struct bus *one = bus_suite_open("wire:torso", NULL), *two = bus_suite_open("wire:torso", NULL), *imu;
	struct frame frame = bus_suite_frame("123#00");

	for (int i = 0; i < 11; i++)
		TEST_ASSERT_EQUAL(0, bus_send(i % 2 ? one : two, &frame));
	/* Both are refused once the shared queue is full, which is seen when canwire has taken the frames. */
	for (int64_t end_ns = clock_now_ns() + HANG_NS; bus_send(one, &frame) != -ENOBUFS;)
		TEST_ASSERT_LESS_THAN(end_ns, clock_now_ns());
	imu = bus_suite_open("wire:torso@imu", NULL);
	bus_suite_receive(imu, 11);
	TEST_ASSERT_EQUAL(BUS_OWN, bus_suite_receive(two, 1)->flags);
	TEST_ASSERT_EQUAL(BUS_LOCAL, bus_suite_receive(two, 1)->flags);
}

/* ---- the link ---- */

TEST(a_reset_empties_the_queue_and_is_reported_once)
{
	struct bus *host = bus_suite_open("wire:torso", NULL), *imu;
	struct frame old = bus_suite_frame("123#00"), fresh = bus_suite_frame("123#01");
	struct bus_frame got;

	for (int i = 0; i < 5; i++)
		bus_suite_send(host, &old);
	TEST_ASSERT_EQUAL_MESSAGE(0, wire_lib_do("link torso reset"), wire_lib_said);
	TEST_ASSERT_EQUAL(-ENETDOWN, bus_send(host, &fresh));
	TEST_ASSERT_EQUAL(0, bus_send(host, &fresh));
	imu = bus_suite_open("wire:torso@imu", NULL);
	TEST_ASSERT_EQUAL(1, bus_suite_receive(imu, 1)->frame.data[0]); /* none of the old ones */
	TEST_ASSERT_TRUE(bus_suite_receive(host, 1)->flags & BUS_OWN);
	TEST_ASSERT_EQUAL(0, bus_receive(imu, &got, 1));
}

TEST(a_link_is_down_for_programs_that_come_later_too)
{
	static struct error_sink ignored;
	struct bus *host = bus_suite_open("wire:torso", NULL), *late;
	struct frame frame = bus_suite_frame("123#00");
	struct bus *refused;

	TEST_ASSERT_EQUAL(0, wire_lib_do("link torso down"));
	bus_suite_until(host, -ENETDOWN);
	TEST_ASSERT_EQUAL(BUS_STOPPED, bus_state(host));
	TEST_ASSERT_EQUAL(-ENETDOWN, bus_send(host, &frame));
	bus_suite_end_case();
	TEST_ASSERT_EQUAL(-ENETDOWN, bus_open(&refused, "wire:torso", NULL, &ignored));
	late = bus_suite_open("wire:torso", &(struct bus_options){ .later = true });
	TEST_ASSERT_EQUAL(BUS_STOPPED, bus_state(late));
	TEST_ASSERT_EQUAL(0, wire_lib_do("link torso up"));
	bus_suite_until_state(late, BUS_ERROR_ACTIVE);
}

TEST(bus_off_and_back)
{
	struct bus *host = bus_suite_open("wire:torso", &(struct bus_options){ .errors = true });
	struct bus *imu = bus_suite_open("wire:torso@imu", NULL);
	struct frame frame = bus_suite_frame("123#00");

	TEST_ASSERT_EQUAL_MESSAGE(0, wire_lib_do("fault torso corrupt 40"), wire_lib_said);
	bus_suite_send(host, &frame);
	bus_suite_until_state(host, BUS_OFF);
	TEST_ASSERT_EQUAL(1, wire_lib_number("torso", "host", "bus_offs"));
	TEST_ASSERT_EQUAL(0, wire_lib_do("fault torso clear"));
	TEST_ASSERT_EQUAL_MESSAGE(0, wire_lib_do("link torso restart"), wire_lib_said);
	bus_suite_until_state(host, BUS_ERROR_ACTIVE);
	frame.data[0] = 1;
	if (bus_send(host, &frame) == -ENETDOWN) /* reported here, unless bus_receive has reported it */
		bus_suite_send(host, &frame);
	TEST_ASSERT_EQUAL(1, bus_suite_receive(imu, 1)->frame.data[0]); /* what waited then is gone */
}

/* link.h, as the link's owner uses it, before any program is there and while one is. */
TEST(the_owner_of_the_link)
{
	static struct error_sink ignored;
	const struct link_settings want = { .bitrate = 1000000, .restart_ms = 300, .queue = 5 };
	const struct link_settings other = { .bitrate = 500000 };
	struct link_info info;
	struct bus *host;
	char answer[256];

	TEST_ASSERT_EQUAL(-EBUSY, link_up("wire:torso", &other, &ignored));
	TEST_ASSERT_EQUAL(0, attach_question("wire:torso", "link down host", answer, sizeof(answer), &ignored));
	TEST_ASSERT_EQUAL(0, link_query("wire:torso", &info, &ignored));
	TEST_ASSERT_EQUAL(BUS_STOPPED, info.state);
	TEST_ASSERT_FALSE(info.up);
	TEST_ASSERT_EQUAL(0, link_up("wire:torso", &want, &ignored));
	host = bus_suite_open("wire:torso", NULL);
	TEST_ASSERT_EQUAL(0, link_query("wire:torso", &info, &ignored));
	TEST_ASSERT_EQUAL(BUS_ERROR_ACTIVE, info.state);
	TEST_ASSERT_TRUE(info.up);
	TEST_ASSERT_EQUAL(1000000, info.now.bitrate);
	TEST_ASSERT_EQUAL(300, info.now.restart_ms);
	TEST_ASSERT_EQUAL(5, info.now.queue);
	TEST_ASSERT_EQUAL_STRING("wire", info.kind);
	TEST_ASSERT_EQUAL(0, link_reset("wire:torso", &ignored));
	bus_suite_until(host, -ENETDOWN);
	bus_suite_until_state(host, BUS_ERROR_ACTIVE);
	TEST_ASSERT_EQUAL(0,
			  link_up("wire:torso", &(struct link_settings){ .bitrate = 1000000, .queue = 10 }, &ignored));
	TEST_ASSERT_EQUAL(-ENODEV, link_query("wire:nowhere", &info, &ignored));
}

/* ---- deaths ---- */

/* Another program on the wire, which calls what and then waits to be killed. */
static pid_t other_program(const char *name, void (*what)(struct bus *bus))
{
	int ready[2];
	char byte;
	pid_t pid;

	TEST_ASSERT_EQUAL(0, pipe(ready));
	pid = fork();
	if (pid == 0) {
		struct error_sink ignored = { 0 };
		struct bus *bus;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!bus_open(&bus, name, NULL, &ignored)) {
			if (what)
				what(bus);
			(void)!write(ready[1], "x", 1);
		}
		for (;;)
			pause();
	}
	close(ready[1]);
	TEST_ASSERT_EQUAL(1, read(ready[0], &byte, 1));
	close(ready[0]);
	return pid;
}

static void kill_and_wait(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static long programs(void)
{
	long n = 0;

	TEST_ASSERT_EQUAL(0, wire_lib_do("stats torso"));
	for (const char *at = wire_lib_said; (at = strstr(at, "program ")); at++)
		n++;
	return n;
}

static void until_programs(long n)
{
	for (int64_t end_ns = clock_now_ns() + HANG_NS; programs() != n;)
		TEST_ASSERT_LESS_THAN_MESSAGE(end_ns, clock_now_ns(), wire_lib_said);
}

TEST(the_dead_acknowledge_nothing)
{
	struct bus *host = bus_suite_open("wire:torso", NULL);
	struct frame frame = bus_suite_frame("123#00");
	struct bus_frame got;
	pid_t imu = other_program("wire:torso@imu", NULL);

	bus_suite_send(host, &frame);
	bus_suite_receive(host, 1);
	kill(imu, SIGSTOP); /* its controller still does */
	bus_suite_send(host, &frame);
	bus_suite_receive(host, 1);
	kill_and_wait(imu);
	until_programs(1);
	bus_suite_send(host, &frame);
	bus_suite_until_state(host, BUS_PASSIVE);
	TEST_ASSERT_EQUAL(0, bus_receive(host, &got, 1));
}

static void send_one(struct bus *bus)
{
	struct frame frame = bus_suite_frame("123#77");

	bus_send(bus, &frame);
}

TEST(frames_of_a_dead_program_in_a_shared_controller_are_sent)
{
	struct bus *host = bus_suite_open("wire:torso", NULL), *imu;

	kill_and_wait(other_program("wire:torso", send_one));
	until_programs(1);
	imu = bus_suite_open("wire:torso@imu", NULL);
	TEST_ASSERT_EQUAL(0x77, bus_suite_receive(imu, 1)->frame.data[0]);
	TEST_ASSERT_EQUAL(BUS_LOCAL, bus_suite_receive(host, 1)->flags);
}

TEST(frames_of_the_last_program_of_a_controller_are_not_sent)
{
	struct bus *imu, *other;
	struct frame frame = bus_suite_frame("124#01");

	kill_and_wait(other_program("wire:torso", send_one));
	until_programs(0);
	imu = bus_suite_open("wire:torso@imu", NULL);
	other = bus_suite_open("wire:torso@other", NULL);
	bus_suite_send(other, &frame);
	TEST_ASSERT_EQUAL(1, bus_suite_receive(imu, 1)->frame.data[0]);
}

TEST(only_a_stopped_program_loses_frames)
{
	struct bus *host = bus_suite_open("wire:torso", NULL), *imu = bus_suite_open("wire:torso@imu", NULL);
	struct frame frame = bus_suite_frame("001#00");
	pid_t stopped = other_program("wire:torso@stopped", NULL);

	kill(stopped, SIGSTOP);
	for (int i = 0; i < 600; i++) { /* its ring holds 512 */
		bus_suite_send(host, &frame);
		bus_suite_receive(host, 1);
		bus_suite_receive(imu, 1);
	}
	TEST_ASSERT_EQUAL(0, bus_stats(host)->dropped);
	TEST_ASSERT_EQUAL(0, bus_stats(imu)->dropped);
	TEST_ASSERT_EQUAL(0, wire_lib_do("stats torso"));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(wire_lib_said, "dropped 88"), wire_lib_said);
	kill_and_wait(stopped);
}

TEST(canwire_killed_and_back)
{
	struct bus *host = bus_suite_open("wire:torso", NULL), *imu = bus_suite_open("wire:torso@imu", NULL);
	struct frame frame = bus_suite_frame("123#01");
	const int fd = bus_fd(host);

	for (int round = 0; round < 3; round++) {
		bus_suite_send(host, &frame);
		bus_suite_receive(imu, 1);
		bus_suite_receive(host, 1);
		wire_lib_end(SIGKILL);
		bus_suite_until(host, -ENODEV);
		bus_suite_until(imu, -ENODEV);
		TEST_ASSERT_EQUAL(BUS_ABSENT, bus_state(host));
		TEST_ASSERT_EQUAL(-ENODEV, bus_send(host, &frame));
		wire_lib_start("torso");
		bus_suite_until_state(host, BUS_ERROR_ACTIVE);
		bus_suite_until_state(imu, BUS_ERROR_ACTIVE);
		TEST_ASSERT_EQUAL(fd, bus_fd(host));
		TEST_ASSERT_EQUAL(round + 2, bus_stats(host)->attached);
	}
	bus_suite_send(host, &frame);
	bus_suite_receive(imu, 1);
}

static unsigned int recvs;

/* In place of the C library's. */
ssize_t recv(int fd, void *to, size_t len, int flags)
{
	recvs++;
	return recvfrom(fd, to, len, flags, NULL, NULL);
}

static void until_readable(const struct bus *bus)
{
	struct clock_fd fd = { .fd = bus_fd(bus), .events = POLLIN };

	TEST_ASSERT_EQUAL(1, clock_wait(&fd, 1, clock_now_ns() + HANG_NS));
}

/* The socket, where canwire's end is noticed, is looked at when frames do not explain the wake-up. */
TEST(frames_are_taken_without_a_look_at_the_socket)
{
	struct bus *host = bus_suite_open("wire:torso", NULL), *imu = bus_suite_open("wire:torso@imu", NULL);
	struct frame frame = bus_suite_frame("123#01");
	struct bus_frame got;

	for (int i = 0; i < 20; i++) {
		bus_suite_send(host, &frame);
		until_readable(imu);
		recvs = 0;
		TEST_ASSERT_EQUAL(1, bus_receive(imu, &got, 1));
		TEST_ASSERT_EQUAL(0, bus_receive(imu, &got, 1));
		TEST_ASSERT_EQUAL(0, recvs);
	}
	TEST_ASSERT_EQUAL(0, bus_receive(imu, &got, 1));
	TEST_ASSERT_EQUAL(1, recvs);
}

TEST(the_end_of_canwire_behind_frames_is_noticed)
{
	struct bus *host = bus_suite_open("wire:torso", NULL), *imu = bus_suite_open("wire:torso@imu", NULL);
	struct frame frame = bus_suite_frame("123#01");
	struct bus_frame got;
	int answers[3];

	bus_suite_send(host, &frame);
	until_readable(imu);
	wire_lib_end(SIGKILL);
	for (int i = 0; i < 3; i++) {
		until_readable(imu);
		answers[i] = bus_receive(imu, &got, 1);
	}
	wire_lib_start("torso");
	TEST_ASSERT_EQUAL(1, answers[0]);
	TEST_ASSERT_EQUAL(0, answers[1]);
	TEST_ASSERT_EQUAL(-ENODEV, answers[2]);
	bus_suite_until_state(host, BUS_ERROR_ACTIVE);
}

/* ---- in a set ---- */

#define TAG 77

static unsigned int reads;

/* In place of the C library's. */
ssize_t read(int fd, void *to, size_t len)
{
	reads++;
	return syscall(SYS_read, fd, to, len);
}

/* Sleeps until the bus has to be asked, and asks it until it has no more: how many frames, or an error. */
static int wait_and_receive(struct bus *bus)
{
	const int64_t hang_ns = clock_now_ns() + HANG_NS, next_ns = bus_next_ns(bus);
	struct bus_frame got;
	uint32_t tags[4];
	int all = 0, n;

	n = clock_set_wait(set, tags, 4, next_ns < hang_ns ? next_ns : hang_ns);
	TEST_ASSERT_TRUE_MESSAGE(n > 0 || next_ns < hang_ns, "nothing came");
	for (int i = 0; i < n; i++)
		TEST_ASSERT_EQUAL(TAG, tags[i]);
	while ((n = bus_receive(bus, &got, 1)) > 0)
		all++;
	return n < 0 ? n : all;
}

TEST(a_wire_in_a_set_receives_without_a_system_call)
{
	struct bus *host = bus_suite_open("wire:torso", NULL), *imu = bus_suite_open("wire:torso@imu", NULL);
	struct frame frame = bus_suite_frame("123#01");
	struct bus_frame got;

	TEST_ASSERT_EQUAL(0, clock_set_open(&set));
	bus_suite_send(host, &frame); /* before it is in the set */
	until_readable(imu);
	TEST_ASSERT_EQUAL(0, bus_join(imu, set, TAG));
	TEST_ASSERT_EQUAL(1, wait_and_receive(imu));
	for (int i = 0; i < 20; i++) {
		int n = 0;

		bus_suite_send(host, &frame);
		reads = recvs = 0;
		for (int wakes = 0; !n && wakes < 2; wakes++) /* the first may be about what was seen before */
			n = wait_and_receive(imu);
		TEST_ASSERT_EQUAL(1, n);
		TEST_ASSERT_EQUAL(0, reads);
		if (i)
			TEST_ASSERT_EQUAL(0, recvs);
		TEST_ASSERT_EQUAL_INT64(CLOCK_NEVER, bus_next_ns(imu));
	}
	for (int i = 0; i < 2; i++)
		bus_suite_send(host, &frame);
	for (int n = 0; n < 2;) { /* one by one: more may be there, and no edge will say so */
		uint32_t tags[4];
		const int64_t next_ns = bus_next_ns(imu);

		clock_set_wait(set, tags, 4, next_ns);
		if (bus_receive(imu, &got, 1) > 0) {
			n++;
			TEST_ASSERT_TRUE(bus_next_ns(imu) < clock_now_ns());
		}
	}
}

TEST(canwire_killed_and_back_in_a_set)
{
	struct bus *host = bus_suite_open("wire:torso", NULL), *imu = bus_suite_open("wire:torso@imu", NULL);
	struct frame frame = bus_suite_frame("123#01");
	int died = 0, n = 0;

	TEST_ASSERT_EQUAL(0, clock_set_open(&set));
	TEST_ASSERT_EQUAL(0, bus_join(imu, set, TAG));
	wire_lib_end(SIGKILL);
	while (!died)
		died = wait_and_receive(imu);
	wire_lib_start("torso");
	TEST_ASSERT_EQUAL(-ENODEV, died);
	while (bus_state(imu) != BUS_ERROR_ACTIVE)
		wait_and_receive(imu);
	bus_suite_until_state(host, BUS_ERROR_ACTIVE);
	bus_suite_send(host, &frame);
	while (n <= 0)
		n = wait_and_receive(imu);
	TEST_ASSERT_EQUAL(1, n);
}

static void until_pending(const struct bus *bus)
{
	const int64_t hang_ns = clock_now_ns() + HANG_NS;

	while (!bus_pending(bus)) {
		TEST_ASSERT_TRUE(clock_now_ns() < hang_ns);
		clock_wait(NULL, 0, clock_now_ns() + 100000);
	}
}

static bool woken(void)
{
	uint32_t tags[4];

	return clock_set_wait(set, tags, 4, clock_now_ns()) > 0;
}

/* A wake may be about a frame that was received before it. */
static void receive_after_wakes(struct bus *bus, int frames)
{
	while (frames > 0)
		frames -= wait_and_receive(bus);
	TEST_ASSERT_EQUAL(0, frames);
}

TEST(echoes_wake_only_if_asked_to)
{
	unsigned int slept = 0;
	struct bus *host = bus_suite_open("wire:torso", NULL), *imu = bus_suite_open("wire:torso@imu", NULL);
	struct frame frame = bus_suite_frame("123#01");

	TEST_ASSERT_EQUAL(0, clock_set_open(&set));
	TEST_ASSERT_EQUAL(0, bus_join(imu, set, TAG));
	wait_and_receive(imu);
	while (woken())
		;
	for (int i = 0; i < 20; i++) {
		bus_wake_by(imu, BUS_WAKE_OTHERS);
		bus_suite_send(imu, &frame);
		until_pending(imu);
		slept += !woken(); /* canwire may ring late for the frame before */
		TEST_ASSERT_EQUAL_INT64(CLOCK_NEVER, bus_next_ns(imu));
		if (i % 2) { /* one that came before the loop asked for it */
			bus_wake_by(imu, BUS_WAKE_ALL);
			TEST_ASSERT_TRUE(bus_next_ns(imu) < clock_now_ns());
			receive_after_wakes(imu, 1);
		} else { /* another's frame wakes, and both are there */
			bus_suite_send(host, &frame);
			receive_after_wakes(imu, 2);
		}
		bus_wake_by(imu, BUS_WAKE_ALL);
		bus_suite_send(imu, &frame);
		receive_after_wakes(imu, 1);
	}
	TEST_ASSERT_TRUE(slept >= 10);
}

TEST(nothing_wakes_a_loop_that_rests)
{
	unsigned int slept = 0;
	struct bus *host = bus_suite_open("wire:torso", NULL), *imu = bus_suite_open("wire:torso@imu", NULL);
	struct frame frame = bus_suite_frame("123#01");

	TEST_ASSERT_FALSE(bus_wake_by(imu, BUS_WAKE_NONE)); /* it has not joined yet */
	TEST_ASSERT_EQUAL(0, clock_set_open(&set));
	TEST_ASSERT_EQUAL(0, bus_join(imu, set, TAG));
	wait_and_receive(imu);
	while (woken())
		;
	for (int i = 0; i < 20; i++) {
		TEST_ASSERT_TRUE(bus_wake_by(imu, BUS_WAKE_NONE));
		bus_suite_send(host, &frame);
		until_pending(imu);
		slept += !woken();
		TEST_ASSERT_EQUAL_INT64(CLOCK_NEVER, bus_next_ns(imu));
		/* The end of the rest: what came in it does not wait for another to ring. */
		bus_wake_by(imu, i % 2 ? BUS_WAKE_ALL : BUS_WAKE_OTHERS);
		TEST_ASSERT_TRUE(bus_next_ns(imu) < clock_now_ns());
		receive_after_wakes(imu, 1);
		bus_suite_send(host, &frame);
		receive_after_wakes(imu, 1);
	}
	TEST_ASSERT_TRUE(slept >= 10);
}

/* ---- names and refusals ---- */

static char line[ERROR_LINE_MAX];

TEST(refusals_say_what_to_do)
{
	struct error_sink errors = { error_keep_last, line, 0 };
	struct bus *bus;

	TEST_ASSERT_EQUAL(-ENODEV, bus_open(&bus, "wire:nowhere", NULL, &errors));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(line, "start it with canwire run nowhere"), line);
	TEST_ASSERT_EQUAL(-EINVAL, bus_open(&bus, "wire:", NULL, &errors));
	TEST_ASSERT_EQUAL(-EINVAL, bus_open(&bus, "wire:torso@", NULL, &errors));
	TEST_ASSERT_EQUAL(-EINVAL, bus_open(&bus, "wire:a/b", NULL, &errors));
	TEST_ASSERT_EQUAL(111, wire_lib_do("run torso")); /* ours serves it */
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(wire_lib_said, "served already"), wire_lib_said);
}

TEST(a_wire_that_comes_later)
{
	struct bus *bus;

	wire_lib_end(SIGTERM);
	bus = bus_suite_open("wire:torso", &(struct bus_options){ .later = true });
	TEST_ASSERT_EQUAL(BUS_ABSENT, bus_state(bus));
	wire_lib_start("torso");
	bus_suite_until_state(bus, BUS_ERROR_ACTIVE);
}

TEST(a_wire_that_is_only_asked)
{
	const struct bus_options options = { .later = true, .ask_only = true };
	struct error_sink errors = { error_keep_last, line, 0 };

	for (int i = 0; i < 3; i++) { /* attached, down, without canwire */
		static const enum bus_state states[] = { BUS_ERROR_ACTIVE, BUS_STOPPED, BUS_ABSENT };
		struct bus *bus;

		if (i == 1)
			TEST_ASSERT_EQUAL(0, wire_lib_do("link torso down"));
		if (i == 2)
			wire_lib_end(SIGTERM);
		bus = bus_suite_open("wire:torso", &options);
		TEST_ASSERT_EQUAL(BUS_ABSENT, bus_state(bus));
		for (int again = 0; again < 2; again++) {
			TEST_ASSERT_EQUAL_MESSAGE(0, bus_settle(bus, &errors), line);
			TEST_ASSERT_EQUAL(states[i], bus_state(bus));
		}
	}
	wire_lib_start("torso");
}

/* A canwire that ends when a program attaches: 0 before it has read the request, 1 after. */
static pid_t dying_wire(int hears)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), fd;
	char heard[4096];
	pid_t pid;

	snprintf(at.sun_path, sizeof(at.sun_path), "%s/wire/dying", getenv("ENDPLATE_RUN"));
	unlink(at.sun_path);
	TEST_ASSERT_EQUAL(0, bind(listener, (struct sockaddr *)&at, sizeof(at)));
	TEST_ASSERT_EQUAL(0, listen(listener, 1));
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fd = accept(listener, NULL, NULL);
		if (hears)
			(void)!recv(fd, heard, sizeof(heard), 0);
		_exit(0);
	}
	close(listener);
	return pid;
}

TEST(a_wire_may_die_while_a_program_attaches)
{
	for (int i = 0; i < 40; i++) {
		struct error_sink errors = { error_keep_last, line, 0 };
		pid_t wire = dying_wire(i / 2 % 2);
		struct bus *bus;

		if (i % 2) {
			const struct bus_options options = { .later = true, .ask_only = i % 8 > 3 };

			TEST_ASSERT_EQUAL_MESSAGE(0, bus_open(&bus, "wire:dying", &options, &errors), line);
			TEST_ASSERT_EQUAL_MESSAGE(0, bus_settle(bus, &errors), line);
			TEST_ASSERT_EQUAL(BUS_ABSENT, bus_state(bus));
			bus_close(bus);
		} else {
			TEST_ASSERT_EQUAL(-ENODEV, bus_open(&bus, "wire:dying", NULL, &errors));
			TEST_ASSERT_NOT_NULL_MESSAGE(strstr(line, "no such wire"), line);
		}
		kill_and_wait(wire);
	}
}

int main(void)
{
	static const struct bus_suite suite = { .a = "wire:torso", .b = "wire:torso@other", .dlc = true };
	pid_t acknowledges;
	int r;

	UNITY_BEGIN();
	wire_lib_start("torso");
	acknowledges = other_program("wire:torso@acknowledges", NULL);
	bus_suite_run(&suite);
	kill_and_wait(acknowledges);
	testcase_run_all();
	r = UNITY_END();
	wire_lib_clean();
	return r;
}
