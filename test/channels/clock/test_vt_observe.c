/* test_vt_observe.c: the clock of a robot, seen from beside it: robots that come, end and are started again.
 *
 * The robot is a page in which the test writes the time; each case runs in a process of its own. */
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channels/clock/clock.h"
#include "channels/clock/vt_observe.h"
#include "channels/clock/vt_page.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

#define S_NS INT64_C(1000000000)
#define SOON_NS (2 * S_NS) /* of real time */

static char path[64];

static void set_time(struct vt_page *page, int64_t now_ns)
{
	page->core[0].now_ns = page->core[1].now_ns = now_ns;
}

static struct vt_page *begin_robot(int64_t now_ns)
{
	struct vt_page *page;

	LIB_CHECK(vt_page_create(path, VT_BEGIN_NS) == 0);
	page = vt_page_open(path, true);
	LIB_CHECK(page);
	set_time(page, now_ns);
	atomic_store(&page->pid, (uint32_t)getppid()); /* a process that lives */
	return page;
}

static void end_robot(struct vt_page *page)
{
	vt_page_remove(path);
	munmap(page, sizeof(*page));
}

/* The robot ends, and perhaps another one begins, while the test waits. */
static pid_t later(bool again)
{
	const pid_t pid = fork();

	if (pid)
		return pid;
	clock_use(&clock_real);
	clock_wait(NULL, 0, clock_now_ns() + S_NS / 5);
	vt_page_remove(path);
	if (again)
		atomic_store(&begin_robot(VT_BEGIN_NS + S_NS)->pid, 1);
	_exit(0);
}

static void waits_until(int64_t deadline_ns)
{
	const int64_t real_ns = clock_real.now();

	LIB_CHECK(clock_wait(NULL, 0, deadline_ns) == 0);
	LIB_CHECK(clock_real.now() - real_ns < SOON_NS);
}

static void wait_ends_with_the_robot_body(void)
{
	struct vt_page *page = begin_robot(VT_BEGIN_NS + 100 * S_NS);

	LIB_CHECK(vt_observe(path) == 0);
	LIB_CHECK(clock_now_ns() == VT_BEGIN_NS + 100 * S_NS);
	later(false);
	waits_until(clock_now_ns() + 100 * S_NS);
	LIB_CHECK(clock_now_ns() < VT_BEGIN_NS / 2);
	waits_until(VT_BEGIN_NS + 200 * S_NS); /* of the former clock: it has passed */
	munmap(page, sizeof(*page));
}

static void wait_ends_with_the_next_robot_body(void)
{
	int64_t jumped_ns, left_ns;

	begin_robot(VT_BEGIN_NS + 100 * S_NS);
	LIB_CHECK(vt_observe(path) == 0);
	jumped_ns = clock_jumped_ns();
	later(true);
	waits_until(clock_now_ns() + 100 * S_NS);
	while (clock_now_ns() != VT_BEGIN_NS + S_NS)
		clock_wait(NULL, 0, clock_now_ns() + S_NS / 100);
	left_ns = clock_moved(VT_BEGIN_NS + 105 * S_NS, clock_jumped_ns() - jumped_ns) - clock_now_ns();
	LIB_CHECK(left_ns > 4 * S_NS && left_ns <= 5 * S_NS);
	vt_page_remove(path);
}

static void observer_precedes_the_robot_body(void)
{
	struct vt_page *page;
	const int64_t until_ns = clock_real.now() + SOON_NS;

	unsetenv("ENDPLATE_DAEMON");
	LIB_CHECK(vt_observe(path) == 0);
	LIB_CHECK(clock_now_ns() < VT_BEGIN_NS / 2);
	page = begin_robot(VT_BEGIN_NS + S_NS);
	while (clock_now_ns() != VT_BEGIN_NS + S_NS && clock_real.now() < until_ns)
		waits_until(clock_now_ns() + S_NS / 100);
	LIB_CHECK(clock_now_ns() == VT_BEGIN_NS + S_NS);
	LIB_CHECK(clock_own_ns() < VT_BEGIN_NS / 2);
	waits_until(clock_real.now() + 1000 * S_NS); /* a deadline in real time has passed */
	end_robot(page);
}

static void daemon_is_on_no_later_clock_body(void)
{
	setenv("ENDPLATE_DAEMON", "waist", 1);
	LIB_CHECK(vt_observe(path) == -ENOENT);
	LIB_CHECK(!clock_used());
}

static void clock_that_does_not_move_stands_still_body(void)
{
	struct vt_page *page = begin_robot(VT_BEGIN_NS + S_NS);
	const int64_t real_ns = clock_real.now();

	LIB_CHECK(vt_observe(path) == 0);
	LIB_CHECK(!vt_observe_stands(false));
	LIB_CHECK(vt_observe_stands(true));
	LIB_CHECK(clock_real.now() - real_ns >= S_NS / 2);
	LIB_CHECK(vt_observe_is_kept());
	set_time(page, VT_BEGIN_NS + 2 * S_NS);
	LIB_CHECK(!vt_observe_stands(false));
	end_robot(page);
}

static void in_a_process(void (*body)(void))
{
	pid_t pid;

	snprintf(path, sizeof(path), "/tmp/test_vt_observe.%d", (int)getpid());
	vt_page_remove(path);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		body();
		_exit(0);
	}
	TEST_ASSERT_EQUAL_INT(0, lib_join(pid));
	vt_page_remove(path);
}

TEST(wait_ends_with_the_robot)
{
	in_a_process(wait_ends_with_the_robot_body);
}

TEST(wait_ends_with_the_next_robot)
{
	in_a_process(wait_ends_with_the_next_robot_body);
}

TEST(observer_precedes_the_robot)
{
	in_a_process(observer_precedes_the_robot_body);
}

TEST(daemon_is_on_no_later_clock)
{
	in_a_process(daemon_is_on_no_later_clock_body);
}

TEST(clock_that_does_not_move_stands_still)
{
	in_a_process(clock_that_does_not_move_stands_still_body);
}
