/* test_clock_set.c: sets of descriptors and channels, on the real clock and on a virtual one. */
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/time.h>

#include "channels/ach/ach_ring.h"
#include "channels/clock/clock.h"
#include "test/lib/clock_virtual.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

#define S 1000000000ll
#define TAG 0xCAFE0000u

static struct clock_set *set;
static int events[3];
static uint32_t tags[8];

static void ring(int fd)
{
	TEST_ASSERT_EQUAL_INT(0, eventfd_write(fd, 1));
}

static void unring(int fd)
{
	eventfd_t n;

	TEST_ASSERT_EQUAL_INT(0, eventfd_read(fd, &n));
}

static void open_set(void)
{
	clock_set_close(set);
	TEST_ASSERT_EQUAL_INT(0, clock_set_open(&set));
}

void setUp(void)
{
	clock_use(&clock_real);
	set = NULL;
	open_set();
	for (int i = 0; i < 3; i++)
		events[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}

void tearDown(void)
{
	clock_set_close(set);
	for (int i = 0; i < 3; i++)
		close(events[i]);
	clock_use(&clock_real);
}

static int poll_set(void)
{
	memset(tags, 0, sizeof(tags));
	return clock_set_wait(set, tags, 8, INT64_MIN);
}

TEST(a_level_is_told_while_it_is_ready)
{
	TEST_ASSERT_EQUAL_INT(0, clock_set_add_fd(set, events[0], POLLIN, TAG));
	TEST_ASSERT_EQUAL_INT(0, poll_set());
	ring(events[0]);
	for (int i = 0; i < 3; i++) {
		TEST_ASSERT_EQUAL_INT(1, poll_set());
		TEST_ASSERT_EQUAL_HEX32(TAG, tags[0]);
	}
	unring(events[0]);
	TEST_ASSERT_EQUAL_INT(0, poll_set());
}

TEST(an_edge_is_told_once_for_each_write_without_a_read)
{
	TEST_ASSERT_EQUAL_INT(0, clock_set_add_fd(set, events[0], POLLIN | CLOCK_EDGE, TAG));
	for (int i = 0; i < 5; i++) {
		TEST_ASSERT_EQUAL_INT(0, poll_set());
		ring(events[0]);
		TEST_ASSERT_EQUAL_INT(1, poll_set());
		TEST_ASSERT_EQUAL_HEX32(TAG, tags[0]);
	}
}

TEST(several_share_a_tag_and_leave_one_by_one)
{
	for (int i = 0; i < 3; i++) {
		TEST_ASSERT_EQUAL_INT(0, clock_set_add_fd(set, events[i], POLLIN, TAG + (i == 2)));
		ring(events[i]);
	}
	TEST_ASSERT_EQUAL_INT(3, poll_set());
	TEST_ASSERT_EQUAL_INT(2, clock_set_wait(set, tags, 2, CLOCK_NEVER)); /* no more than there is room for */
	TEST_ASSERT_EQUAL_INT(0, clock_set_remove_fd(set, events[0]));
	TEST_ASSERT_EQUAL_INT(-ENOENT, clock_set_remove_fd(set, events[0]));
	TEST_ASSERT_EQUAL_INT(0, clock_set_remove_fd(set, events[2]));
	TEST_ASSERT_EQUAL_INT(1, poll_set());
	TEST_ASSERT_EQUAL_HEX32(TAG, tags[0]);
	TEST_ASSERT_EQUAL_INT(-EBADF, clock_set_add_fd(set, -1, POLLIN, TAG));
}

TEST(what_may_be_written_is_ready)
{
	TEST_ASSERT_EQUAL_INT(0, clock_set_add_fd(set, events[0], POLLOUT, TAG));
	TEST_ASSERT_EQUAL_INT(1, poll_set());
}

TEST(a_channel_is_told_while_something_is_unseen)
{
	char name[LIB_NAME_LEN], got;
	ach_channel_t chan, writer;

	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "set"), 4, 4, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&writer, name, NULL));
	TEST_ASSERT_EQUAL_INT(0, clock_set_add_channel(set, &chan, TAG));
	for (int i = 0; i < 5; i++) {
		TEST_ASSERT_EQUAL_INT(0, poll_set());
		LIB_ASSERT_STATUS(ACH_OK, ach_put(&writer, "x", 1));
		TEST_ASSERT_EQUAL_INT(1, clock_set_wait(set, tags, 8, CLOCK_NEVER));
		TEST_ASSERT_EQUAL_HEX32(TAG, tags[0]);
		LIB_ASSERT_STATUS(ACH_OK, ach_get(&chan, &got, 1, NULL, NULL, 0));
	}
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&writer, "x", 1));
	TEST_ASSERT_EQUAL_INT(0, clock_set_remove_channel(set, &chan));
	TEST_ASSERT_EQUAL_INT(0, clock_set_wait(set, tags, 8, clock_now_ns() + S / 100));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&writer));
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(name));
}

static char lost_name[LIB_NAME_LEN];

/* A put without a wake-up, as of a writer that is killed in between. */
static int put_silently(void *unused)
{
	ach_channel_t chan;

	(void)unused;
	LIB_STATUS(ACH_OK, ach_open(&chan, lost_name, NULL));
	lib_until_asleep(getppid());
	atomic_store(chan.handle->hint, 0);
	LIB_STATUS(ACH_OK, ach_put(&chan, "x", 1));
	return 0;
}

TEST(a_message_whose_wake_up_was_lost_is_reported)
{
	ach_channel_t chan;
	pid_t writer;

	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(lost_name, "lost"), 4, 4, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, lost_name, NULL));
	TEST_ASSERT_EQUAL_INT(0, clock_set_add_channel(set, &chan, TAG));
	writer = lib_child(put_silently, NULL);
	TEST_ASSERT_EQUAL_INT(1, clock_set_wait(set, tags, 8, clock_now_ns() + 100 * S));
	TEST_ASSERT_EQUAL_INT(0, lib_join(writer));
	TEST_ASSERT_EQUAL_INT(0, clock_set_remove_channel(set, &chan));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(lost_name));
}

TEST(a_source_that_left_is_not_told_in_the_place_of_another)
{
	for (int i = 0; i < 100; i++) {
		TEST_ASSERT_EQUAL_INT(0, clock_set_add_fd(set, events[0], POLLIN | CLOCK_EDGE, TAG));
		TEST_ASSERT_EQUAL_INT(0, poll_set());
		ring(events[0]); /* its completion is on the way when it leaves */
		TEST_ASSERT_EQUAL_INT(0, clock_set_remove_fd(set, events[0]));
		TEST_ASSERT_EQUAL_INT(0, clock_set_add_fd(set, events[1], POLLIN, TAG + 1));
		TEST_ASSERT_EQUAL_INT(0, poll_set());
		TEST_ASSERT_EQUAL_INT(0, clock_set_remove_fd(set, events[1]));
		unring(events[0]);
	}
}

static void ignore(int signal)
{
	(void)signal;
}

TEST(signals_do_not_end_a_wait)
{
	const struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { 0 };
	const int64_t deadline_ns = clock_now_ns() + S / 50;

	sigaction(SIGALRM, &(struct sigaction){ .sa_handler = ignore }, NULL);
	TEST_ASSERT_EQUAL_INT(0, clock_set_add_fd(set, events[0], POLLIN, TAG));
	setitimer(ITIMER_REAL, &often, NULL);
	TEST_ASSERT_EQUAL_INT(0, clock_set_wait(set, tags, 8, deadline_ns));
	setitimer(ITIMER_REAL, &never, NULL);
	TEST_ASSERT_GREATER_OR_EQUAL_INT64(deadline_ns, clock_now_ns());
}

TEST(the_deadline_is_not_early)
{
	TEST_ASSERT_EQUAL_INT(0, clock_set_add_fd(set, events[0], POLLIN, TAG));
	for (int64_t wait_ns = 1000; wait_ns < 20000000; wait_ns *= 5) {
		const int64_t deadline_ns = clock_now_ns() + wait_ns;

		TEST_ASSERT_EQUAL_INT(0, clock_set_wait(set, tags, 8, deadline_ns));
		TEST_ASSERT_GREATER_OR_EQUAL_INT64(deadline_ns, clock_now_ns());
	}
}

TEST(time_is_virtual_with_a_virtual_clock)
{
	clock_use_virtual(5);
	open_set();
	TEST_ASSERT_EQUAL_INT(0, clock_set_add_fd(set, events[0], POLLIN | CLOCK_EDGE, TAG));
	TEST_ASSERT_EQUAL_INT(0, clock_set_wait(set, tags, 8, 70 * S));
	TEST_ASSERT_EQUAL_INT64(70 * S, clock_now_ns());
	ring(events[0]);
	TEST_ASSERT_EQUAL_INT(1, clock_set_wait(set, tags, 8, 80 * S));
	TEST_ASSERT_EQUAL_INT64(70 * S, clock_now_ns());
	TEST_ASSERT_EQUAL_INT(0, clock_set_wait(set, tags, 8, 80 * S));
	TEST_ASSERT_EQUAL_INT(-EDEADLK, clock_set_wait(set, tags, 8, CLOCK_NEVER));
}
