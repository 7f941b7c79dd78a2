/* clock_page.c: the page of a virtual clock that an achstart finds. */
#define _GNU_SOURCE
#include "launch/achstart/clock_page.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "channels/client/folder.h"
#include "channels/clock/clock.h"

#define TRY_NS 1000000
#define TRIES 10000

int clock_page_coordinator(const struct vt_page *page)
{
	const pid_t pid = (pid_t)atomic_load(&page->pid);
	const int fd = pid ? pidfd_open(pid, 0) : -1;

	if (fd >= 0 && folder_started(pid) == atomic_load(&page->started)) /* not another one of that number */
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

int clock_page_processor(const struct vt_page *page)
{
	cpu_set_t set;

	for (uint64_t left = atomic_load(&page->live); left; left &= left - 1) {
		const pid_t pid = (pid_t)atomic_load(&page->slot[__builtin_ctzll(left)].pid);

		if (!pid || sched_getaffinity(pid, sizeof(set), &set) || CPU_COUNT(&set) != 1)
			continue;
		for (int i = 0; i < CPU_SETSIZE; i++)
			if (CPU_ISSET(i, &set))
				return i;
	}
	return sched_getcpu();
}

int clock_page_slot_named(const struct vt_page *page, const char *name, int first)
{
	for (int i = first; i < VT_SLOTS; i++)
		if (!strncmp(page->slot[i].name, name, VT_NAME_MAX - 1))
			return i;
	return -1;
}

static void end_coordinator(const struct vt_page *page)
{
	struct clock_fd fd = { .fd = clock_page_coordinator(page), .events = POLLIN };

	if (fd.fd < 0)
		return;
	pidfd_send_signal(fd.fd, SIGKILL, NULL, 0);
	clock_wait(&fd, 1, CLOCK_NEVER);
	close(fd.fd);
}

struct vt_page *clock_page_find(const char *path, const struct launch *launch, int first, bool *beside)
{
	struct vt_page *page = vt_page_open(path, true);
	struct folder_state state;
	bool on = false;

	*beside = false;
	for (size_t i = 0; i < launch->daemons_n; i++) {
		if (folder_state_read(launch->daemons[i].name, &state) || !folder_runs(&state))
			continue;
		if (page && vt_page_slot(page, state.pid) >= first)
			on = true;
		else
			*beside = true;
	}
	if (!page || on)
		return page;
	end_coordinator(page);
	munmap(page, sizeof(*page));
	return NULL;
}

int clock_page_enter(const char *path, struct vt_page *page, int slot, void (*check)(void))
{
	const uint32_t pid = (uint32_t)getpid();
	struct vt_end end;
	int status = -ETIMEDOUT;

	if (vt_page_reach(&end, path))
		return -errno;
	atomic_store(&page->over, 0);
	atomic_store(&page->newcomer, pid);
	for (int i = 0; i < TRIES && status; i++) {
		vt_page_ring(&end);
		check();
		clock_wait(NULL, 0, clock_now_ns() + TRY_NS);
		if (atomic_load(&page->live) & vt_bit(slot) && atomic_load(&page->slot[slot].pid) == pid)
			status = 0;
	}
	if (status)
		atomic_store(&page->newcomer, 0);
	close(end.bell);
	munmap(end.page, sizeof(*end.page));
	return status;
}
