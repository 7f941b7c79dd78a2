/* vt_observe.c: the virtual clock of a robot, for programs beside it.
 *
 * A robot may start after this process, end, and start again, on a virtual clock or in real time.  While there is no
 * page, or its time stands still, this process opens the file again every LOOK_NS.  Whenever this process changes to
 * another clock, its time jumps; a deadline that was computed before is not one of the new clock. */
#include "channels/clock/vt_observe.h"

#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels/clock/clock.h"
#include "channels/clock/vt_page.h"

#define LOOK_NS 50000000       /* between two looks at the file of a clock that stands still */
#define SLICE_NS 50000000      /* of a wait beside the robot */
#define STILL_NS 500000000     /* without a change of the time, after which the clock counts as standing still */
#define LONGEST_NS VT_BEGIN_NS /* that a virtual clock may run */
#define OBSERVED_MAX RUN_PATH_MAX
#define DAEMON "ENDPLATE_DAEMON" /* set for daemons of a robot */

static struct {
	const struct vt_page *page; /* NULL: no robot runs, or one in real time */
	char path[OBSERVED_MAX];
	bool given; /* the path; else it is searched for */
	ino_t file;
	_Atomic int64_t seen_ns, look_ns;
	_Atomic int64_t still_ns;  /* real: when the time was first seen to stand still; 0: it moves */
	_Atomic int64_t jumped_ns; /* sum of all jumps */
} observed;

/* A process that has ended may not be reaped yet. */
static bool runs(uint32_t pid)
{
	struct clock_fd fd = { .fd = pid ? pidfd_open((pid_t)pid, 0) : -1, .events = POLLIN };
	bool ended;

	if (fd.fd < 0)
		return pid && errno != ESRCH;
	ended = clock_real.wait(&fd, 1, 0) > 0;
	close(fd.fd);
	return !ended;
}

/* A page without any process was left by a robot that was killed. */
static bool is_used(const struct vt_page *page)
{
	if (runs(atomic_load(&page->pid)))
		return true;
	for (uint64_t left = atomic_load(&page->live) & ~vt_bit(VT_COORDINATOR); left; left &= left - 1)
		if (runs(atomic_load(&page->slot[__builtin_ctzll(left)].pid)))
			return true;
	return false;
}

/* NULL with errno. */
static const struct vt_page *open_observed(void)
{
	const struct vt_page *page;
	struct stat st;

	if (!observed.given && run_clock_find(observed.path)) {
		errno = ENOENT;
		return NULL;
	}
	page = vt_page_open(observed.path, false);
	if (!page)
		return NULL;
	if (!is_used(page) || stat(observed.path, &st)) {
		munmap((void *)page, sizeof(*page));
		errno = ENOENT;
		return NULL;
	}
	observed.file = st.st_ino;
	return page;
}

static int64_t time_of(const struct vt_page *page)
{
	return page ? vt_page_now(page) : clock_real.now();
}

/* An old page stays mapped, for another thread may be reading it. */
static void look_again(void)
{
	const struct vt_page *before = observed.page, *page;
	struct stat st;

	if (before && !stat(observed.path, &st) && st.st_ino == observed.file && is_used(before))
		return;
	page = open_observed();
	if (page == before)
		return;
	atomic_fetch_add(&observed.jumped_ns, time_of(page) - time_of(before));
	observed.page = page;
	atomic_store(&observed.still_ns, 0);
}

static int64_t observed_now(void)
{
	const int64_t now_ns = observed.page ? vt_page_now(observed.page) : 0;
	int64_t real_ns, look_ns, moves = 0;

	if (now_ns && atomic_exchange(&observed.seen_ns, now_ns) != now_ns) {
		if (atomic_load_explicit(&observed.still_ns, memory_order_relaxed))
			atomic_store(&observed.still_ns, 0);
		return now_ns;
	}
	real_ns = clock_real.now();
	look_ns = atomic_load_explicit(&observed.look_ns, memory_order_relaxed);
	if (now_ns)
		atomic_compare_exchange_strong(&observed.still_ns, &moves, real_ns);
	if (real_ns >= look_ns && atomic_compare_exchange_strong(&observed.look_ns, &look_ns, real_ns + LOOK_NS))
		look_again();
	return observed.page ? vt_page_now(observed.page) : real_ns;
}

static int64_t observed_real(void)
{
	const int64_t now_ns = observed_now();
	const struct vt_page *page = observed.page;

	return page ? page->epoch_ns + now_ns - VT_BEGIN_NS : clock_real.real();
}

static int64_t observed_jumped(void)
{
	return atomic_load(&observed.jumped_ns);
}

/* Is the deadline of a virtual clock?  One that is still later is of neither: it hardly comes. */
static bool is_virtual(int64_t deadline_ns)
{
	return deadline_ns >= VT_BEGIN_NS - VT_BEFORE_NS && deadline_ns < VT_BEGIN_NS + LONGEST_NS;
}

/* In real time, in slices: the robot's time passes at another pace, and may stand still or jump. */
static int observed_wait(struct clock_fd *fds, size_t n, int64_t deadline_ns)
{
	const int64_t jumped_ns = observed_jumped(), now_ns = observed_now(), real_ns = clock_real.now();
	int64_t until_ns;

	if (deadline_ns == CLOCK_NEVER)
		return clock_real.wait(fds, n, CLOCK_NEVER);
	if (deadline_ns <= now_ns || observed_jumped() != jumped_ns || (is_virtual(deadline_ns) && !observed.page))
		return clock_real.wait(fds, n, real_ns);
	until_ns = deadline_ns - now_ns > INT64_MAX - real_ns ? INT64_MAX - 1 : real_ns + (deadline_ns - now_ns);
	for (;;) {
		const int64_t slice_ns = clock_real.now() + SLICE_NS;
		const int ready = clock_real.wait(fds, n, slice_ns < until_ns ? slice_ns : until_ns);

		if (ready || slice_ns >= until_ns || observed_now() >= deadline_ns || observed_jumped() != jumped_ns)
			return ready;
	}
}

static const struct clock_source observer = {
	.now = observed_now, .real = observed_real, .wait = observed_wait, .jumped = observed_jumped
};

int vt_observe(const char *path)
{
	if (clock_used())
		return 0;
	if (path && strlen(path) >= sizeof(observed.path))
		return -ENAMETOOLONG;
	observed.given = path;
	if (path)
		strcpy(observed.path, path);
	observed.page = open_observed();
	if (!observed.page && getenv(DAEMON))
		return -errno; /* it ends with its robot, and is on no clock that begins later */
	if (observed.page)
		atomic_store(&observed.jumped_ns, time_of(observed.page) - clock_real.now());
	clock_use(&observer);
	return 0;
}

bool vt_observe_stands(bool wait)
{
	const int64_t now_ns = clock_now_ns();
	int64_t still_ns;

	for (;;) {
		const bool moved = clock_now_ns() != now_ns;

		still_ns = atomic_load(&observed.still_ns);
		if (clock_used() != &observer || !observed.page || (wait && moved))
			return false;
		if (still_ns && clock_real.now() - still_ns >= STILL_NS)
			return true;
		if (!wait)
			return false;
		clock_real.wait(NULL, 0, clock_real.now() + STILL_NS / 50);
	}
}

bool vt_observe_is_kept(void)
{
	return observed.page && runs(atomic_load(&observed.page->pid));
}
