/* vt_clock.c: this process on a virtual clock. */
#include "channels/vt_clock.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "channels/ach_ring.h"
#include "channels/clock.h"
#include "channels/vt_charge.h"
#include "channels/vt_hash.h"

#define WAITS_MAX 10000	 /* in one turn that return at once: a descriptor stays readable */
#define ROUNDS_MAX 10000 /* in one instant: processes that keep waking each other */
#define READINGS 1000
#define OUTSIDE_NS 1000000
#define SEEDS_APART 1000003 /* more than devices and buses have */
#define SEEDS_MAX 2000	    /* below 32 bits in all */
#define GUARD_NS 100000000

static struct vt_end end;
static _Thread_local bool joined; /* in this thread */
static uint32_t waits;
static struct vt_charge charge;
static void (*guard)(void);

struct vt_end *vt_clock_end(void)
{
	return joined ? &end : NULL;
}

static _Noreturn void give_up(const char *why)
{
	fprintf(stderr, "%s: virtual clock: %s\n", program_invocation_short_name, why);
	_exit(111);
}

/* ---- time ---- */

/* The copy may be written again while another thread, or an observer, reads it. */
static int64_t page_now(const struct vt_page *page)
{
	for (;;) {
		const uint64_t token = atomic_load_explicit(&page->token, memory_order_acquire);
		const int64_t now_ns = *(const volatile int64_t *)&page->core[token >> 7 & 1].now_ns;

		atomic_thread_fence(memory_order_acquire);
		if ((atomic_load_explicit(&page->token, memory_order_relaxed) ^ token) >> 16 == 0)
			return now_ns;
	}
}

/* Of all its threads. */
static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The time of its turn, and with charging what it has computed since. */
static int64_t now(void)
{
	const int64_t granted_ns = page_now(end.page);

	return charge.scale > 0 && joined ? granted_ns + vt_charge_passed_ns(&charge, cpu_ns()) : granted_ns;
}

static int64_t real(void)
{
	return CLOCK_VIRTUAL_EPOCH_NS + now();
}

/* ---- waiting ---- */

void vt_clock_guard(void (*check)(void))
{
	guard = check;
}

/* Gives the token away until the next turn of this slot. */
static void take_turns(int64_t deadline_ns)
{
	uint32_t rounds;

	atomic_store_explicit(&end.page->deadline_ns[end.me], deadline_ns, memory_order_release);
	vt_page_pass(&end);
	while (!vt_page_await(&end, guard ? GUARD_NS : 0))
		guard();
	if (charge.scale > 0)
		vt_charge_begin(&charge, cpu_ns());
	waits = 0;
	rounds = vt_page_core(end.page)->rounds_here;
	if (rounds && rounds % ROUNDS_MAX == 0) /* not in the rounds after: the others only look at who has ended */
		give_up("time does not advance: this process and others keep waking each other");
}

/* Before the process acts or looks: others must have done all that they do until then, and none may see what it does
 * before its time. */
static void settle(void)
{
	const int64_t passed_ns = charge.scale > 0 ? vt_charge_end(&charge, cpu_ns()) : 0;
	const int64_t then_ns = page_now(end.page) + passed_ns;

	if (!passed_ns)
		return;
	atomic_fetch_add_explicit(&end.page->slot[end.me].charged_ns, passed_ns, memory_order_relaxed);
	atomic_store_explicit(&end.page->floor_ns[end.me], then_ns, memory_order_relaxed);
	take_turns(then_ns);
	atomic_store_explicit(&end.page->floor_ns[end.me], 0, memory_order_relaxed);
}

/* What is found in a sweep was not announced by a process of the robot. */
static void say_outside(void)
{
	int64_t nothing = 0;

	if (atomic_load_explicit(&end.page->sweeping, memory_order_relaxed))
		atomic_compare_exchange_strong(&end.page->outside_ns, &nothing, page_now(end.page));
}

/* A set that another thread waits for, or a child of fork: in real time. */
static int wait_outside(struct vt_look *at, int64_t deadline_ns)
{
	int ready;

	while (!(ready = at->look(at)) && now() < deadline_ns)
		clock_real.wait(NULL, 0, clock_real.now() + OUTSIDE_NS);
	return ready;
}

int vt_clock_wait(struct vt_look *at, int64_t deadline_ns)
{
	int ready;

	if (!joined)
		return wait_outside(at, deadline_ns);
	settle();
	ready = at->look(at);
	if (ready || deadline_ns <= page_now(end.page)) {
		if (++waits > WAITS_MAX)
			give_up("a descriptor stays readable: this process waits without an end");
		return ready;
	}
	do {
		take_turns(deadline_ns);
		ready = at->look(at);
	} while (!ready && page_now(end.page) < deadline_ns);
	if (ready && page_now(end.page) < deadline_ns)
		say_outside();
	return ready;
}

static int look_fds(struct vt_look *at)
{
	return clock_real.wait(at->fds, at->n, 0);
}

static int vt_wait(struct clock_fd *fds, size_t n, int64_t deadline_ns)
{
	if (!joined)
		return clock_real.wait(
			fds, n, deadline_ns == CLOCK_NEVER ? CLOCK_NEVER : clock_real.now() + (deadline_ns - now()));
	return vt_clock_wait(&(struct vt_look){ look_fds, .fds = fds, .n = n }, deadline_ns);
}

/* A kill that was planned for its Nth action. */
static void act(void)
{
	_Atomic uint32_t *left = &end.page->slot[end.me].kill_after;

	if (atomic_load_explicit(left, memory_order_relaxed) && atomic_fetch_sub(left, 1) == 1)
		raise(SIGKILL);
}

static void touch(pid_t pid)
{
	const int slot = pid ? vt_page_slot(end.page, pid) : -1;

	if (!joined)
		return;
	settle();
	act();
	vt_page_mark(&end, (slot < 0 ? ~UINT64_C(0) : vt_bit(slot)) & ~vt_bit(VT_COORDINATOR));
}

struct vt_object *vt_clock_object(const char *name)
{
	return joined ? vt_page_object(end.page, name) : NULL;
}

int64_t vt_clock_seed(int64_t seed)
{
	return joined ? seed + SEEDS_APART * (int64_t)(end.page->seed % SEEDS_MAX) : seed;
}

/* ---- channels ---- */

static struct vt_object *object_of(struct ach_handle *h)
{
	if (!h->outer)
		h->outer = vt_page_object(end.page, vt_hash_name(h->name));
	return h->outer;
}

void vt_clock_watch(struct ach_handle *h)
{
	struct vt_object *object = joined ? object_of(h) : NULL;

	if (object)
		atomic_fetch_or_explicit(&object->readers, vt_bit(end.me), memory_order_relaxed);
}

static bool vt_sleep(int64_t for_ns)
{
	if (!joined)
		return false;
	settle();
	take_turns(for_ns > VT_NEVER - now() ? VT_NEVER : now() + for_ns);
	return true;
}

static void before(void)
{
	if (joined)
		settle();
}

/* A handle that was opened before, or in another thread, may have no object: then every process looks. */
static void committed(struct ach_handle *h, const void *data, size_t len)
{
	struct vt_object *object = joined ? object_of(h) : NULL;

	if (!joined)
		return;
	act();
	vt_page_mark(&end, (object ? object->readers : ~vt_bit(VT_COORDINATOR)));
	if (object)
		vt_hash_message(object, page_now(end.page), data, len);
}

static const struct ach_outer outer = { now, vt_clock_watch, vt_sleep, before, committed };

static const struct clock_source source = { now, real, vt_wait, &vt_set_ops, touch };

/* ---- joining ---- */

/* The mean of many readings in a row. */
static double reading_ns(void)
{
	const int64_t begin_ns = cpu_ns();

	for (int i = 1; i < READINGS; i++)
		cpu_ns();
	return (double)(cpu_ns() - begin_ns) / READINGS;
}

static void begin_charging(void)
{
	if (end.page->charge <= 0 || !atomic_load(&end.page->slot[end.me].charged))
		return;
	charge = (struct vt_charge){ .scale = end.page->charge };
	if (!end.page->uncorrected)
		charge.cost_ns = reading_ns();
	vt_charge_begin(&charge, cpu_ns());
}

static void forked(void)
{
	joined = false;
	ach_outer = NULL;
	clock_use_real();
}

void vt_clock_join(const char *place)
{
	char *path;
	const long slot = strtol(place, &path, 10);
	const struct vt_page *page = *path == ' ' ? vt_page_open(++path, false) : NULL;

	if (!page || slot <= VT_COORDINATOR || slot >= VT_SLOTS)
		give_up("$" VT_CLOCK_PLACE " is not SLOT PATH, or the page is not there");
	if (vt_page_slot(page, getpid()) != slot)
		return; /* a child of the process that the slot is for */
	if (vt_page_join(&end, path, (int)slot))
		give_up(strerror(errno));
	clock_use(&source);
	pthread_atfork(NULL, NULL, forked);
	vt_page_await(&end, 0);
	atomic_store_explicit(&end.page->floor_ns[slot], 0, memory_order_relaxed);
	joined = true;
	ach_outer = &outer;
	begin_charging();
}

void vt_clock_leave(void)
{
	if (!joined)
		return;
	forked();
	vt_page_leave(&end);
}

/* ---- beside the robot ---- */

static const struct vt_page *observed;

static int64_t observed_now(void)
{
	return page_now(observed);
}

static int64_t observed_real(void)
{
	return CLOCK_VIRTUAL_EPOCH_NS + observed_now();
}

/* The robot's time passes at another pace, and may stand still. */
static int observed_wait(struct clock_fd *fds, size_t n, int64_t deadline_ns)
{
	const int64_t left_ns = deadline_ns == CLOCK_NEVER ? 0 : deadline_ns - observed_now();

	return clock_real.wait(fds, n, deadline_ns == CLOCK_NEVER ? CLOCK_NEVER : clock_real.now() + left_ns);
}

static const struct clock_source observer = { observed_now, observed_real, observed_wait, NULL, NULL };

int vt_clock_observe(const char *path)
{
	const struct vt_page *page = clock_used() ? NULL : vt_page_open(path, false);

	if (!page)
		return clock_used() ? 0 : -errno;
	if (kill((pid_t)atomic_load(&page->slot[VT_COORDINATOR].pid), 0) && errno == ESRCH)
		return -ENOENT; /* left by a robot that was killed */
	observed = page;
	clock_use(&observer);
	return 0;
}

const struct vt_page *vt_clock_observed(void)
{
	return observed;
}
