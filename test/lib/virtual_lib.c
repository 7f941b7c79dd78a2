/* virtual_lib.c: a virtual clock for a test and the programs that it starts. */
#include "test/lib/virtual_lib.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channels/clock/vt_clock.h"
#include "test/lib/lib.h"
#include "unity.h"

#define FIRST_SLOT 1
#define LAST_SLOT (VT_SLOTS - 1)
#define STARTUP_NS 3000000

static char path[512];
static pid_t achtime;
static int own_slot;
static cpu_set_t processors; /* before the first clock */

static void start_achtime(void)
{
	const char *build = getenv("BUILD");
	char program[512], page[600];

	snprintf(program, sizeof(program), "%s/achtime", build ? build : "build");
	snprintf(page, sizeof(page), "--page=%s", path);
	achtime = fork();
	TEST_ASSERT_NOT_EQUAL(-1, achtime);
	if (achtime)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	unsetenv("ENDPLATE_RUN"); /* it is not a part of the robot */
	execl(program, "achtime", page, NULL);
	_exit(127);
}

static void begin(const char *folder, int slot)
{
	struct vt_end end = { 0 };
	char place[600];

	own_slot = slot;
	if (!CPU_COUNT(&processors))
		TEST_ASSERT_EQUAL(0, sched_getaffinity(0, sizeof(processors), &processors));
	lib_use_one_processor();
	snprintf(path, sizeof(path), "%s/clock", folder);
	TEST_ASSERT_EQUAL(0, vt_page_create(path, VT_BEGIN_NS));
	TEST_ASSERT_EQUAL(0, vt_page_join(&end, path, own_slot));
	vt_page_expect(&end, own_slot, "test", 0);
	vt_page_started(&end, own_slot);
	close(end.bell);
	start_achtime();
	snprintf(place, sizeof(place), "%d %s", own_slot, path);
	vt_clock_join(place);
}

void virtual_lib_begin(const char *folder)
{
	begin(folder, FIRST_SLOT);
}

void virtual_lib_begin_last(const char *folder)
{
	begin(folder, LAST_SLOT);
}

void virtual_lib_end(void)
{
	struct vt_end *end = vt_clock_end();

	if (!end)
		return;
	atomic_store(&end->page->over, 1);
	vt_clock_leave();
	kill(achtime, SIGKILL);
	waitpid(achtime, NULL, 0);
	vt_page_remove(path);
	sched_setaffinity(0, sizeof(processors), &processors);
}

/* Beside a robot: from behind. */
static int free_slot(const struct vt_page *page)
{
	const int step = own_slot == FIRST_SLOT ? 1 : -1;

	for (int i = own_slot + step; i > 0 && i < VT_SLOTS; i += step)
		if (!(atomic_load(&page->live) & vt_bit(i)))
			return i;
	TEST_FAIL_MESSAGE("no slot is free");
	return -1;
}

static pid_t fork_in(int slot, const char *name, const char *variable)
{
	struct vt_end *end = vt_clock_end();
	char place[600];
	pid_t pid;

	if (slot)
		vt_page_expect(end, slot, name, STARTUP_NS);
	pid = fork();
	if (!pid && slot) {
		vt_page_started(end, slot);
		snprintf(place, sizeof(place), "%d %s", slot, path);
		setenv(variable, place, 1);
	} else if (pid > 0 && slot) {
		while (!atomic_load(&end->page->slot[slot].pid)) /* or it might be killed without a name */
			usleep(50);
	}
	return pid;
}

pid_t virtual_lib_fork(const char *name)
{
	struct vt_end *end = vt_clock_end();

	return fork_in(end ? free_slot(end->page) : 0, name, VT_CLOCK_PLACE);
}

pid_t virtual_lib_fork_achstart(void)
{
	const struct vt_end *end = vt_clock_end();

	if (end && atomic_load(&end->page->live) & vt_bit(FIRST_SLOT))
		return fork();
	return fork_in(end ? FIRST_SLOT : 0, "achstart", "ENDPLATE_CLOCK_GIVEN");
}

/* Also of a process that is not our child. */
static bool is_stopped(pid_t pid)
{
	const char state = lib_run_state(pid);

	return !state || strchr("TtZX", state);
}

static void hold(struct vt_end *end, pid_t pid, int slot)
{
	while (!is_stopped(pid))
		usleep(50);
	if (slot > 0)
		atomic_fetch_or(&end->page->held, vt_bit(slot));
}

void virtual_lib_signal(pid_t pid, int number)
{
	struct vt_end *end = vt_clock_end();
	const int slot = end ? vt_page_slot(end->page, pid) : -1;

	clock_touch(0);
	kill(pid, number);
	if (!end)
		return;
	if (number == SIGKILL)
		vt_page_killed(end, pid);
	else if (number == SIGSTOP)
		hold(end, pid, slot);
	else if (number == SIGCONT && slot > 0)
		atomic_fetch_and(&end->page->held, ~vt_bit(slot));
}

void virtual_lib_kill_at(pid_t pid, unsigned int action)
{
	struct vt_page *page = vt_clock_end()->page;
	const int slot = vt_page_slot(page, pid);

	TEST_ASSERT(slot > 0);
	atomic_store(&page->slot[slot].kill_after, action);
}
