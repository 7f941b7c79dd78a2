/* vt_clock.c: this process on a virtual clock. */
#include "channels/clock/vt_clock.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "channels/ach/ach_ring.h"
#include "channels/clock/vt_charge.h"
#include "channels/clock/vt_hash.h"
#include "channels/clock/vt_outside.h"

#define WAITS_MAX 10000	 /* in one turn that return at once: a descriptor stays readable */
#define ROUNDS_MAX 10000 /* in one instant: processes that keep waking each other */
#define ASK_NS 1000000	 /* what no process announces, such as a removed file, is found within */
#define PROBES_MAX 160	 /* two of each bus */
#define READINGS 50
#define READING_ROWS 41
#define OUTSIDE_NS 1000000
#define SEEDS_APART 1000003 /* more than devices and buses have */
#define SEEDS_MAX 2000	    /* below 32 bits in all */
#define GUARD_NS 100000000

static struct vt_end end;
static _Thread_local bool joined; /* in this thread */
static uint32_t waits;
static struct vt_charge charge;
static struct vt_budget budget;
static struct {
	uint64_t what; /* descriptors of the last poll */
	int64_t at_ns; /* when it last asked the kernel */
	bool needed;   /* it must */
	bool always;   /* a channel's descriptor may be among them, which its writers do not announce as one */
} ask;
static void (*guard)(void);

struct vt_end *vt_clock_end(void)
{
	return joined ? &end : NULL;
}

static _Noreturn void give_up(const char *why)
{
	fprintf(stderr, "%s: virtual clock: %s\n", program_invocation_short_name, why);
	_exit(EXIT_RETRY);
}

/* ---- time ---- */

/* Processor time of this process, all threads. */
static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* The time of its turn, and with charging what it has computed since. */
static int64_t now(void)
{
	const int64_t granted_ns = vt_page_now(end.page);

	return charge.scale > 0 && joined ? granted_ns + vt_charge_passed_ns(&charge, cpu_ns()) : granted_ns;
}

static int64_t real(void)
{
	return end.page->epoch_ns + now() - VT_BEGIN_NS;
}

/* ---- waiting ---- */

void vt_clock_guard(void (*check)(void))
{
	guard = check;
}

static void await(void)
{
	while (!vt_page_await(&end, guard ? GUARD_NS : 0))
		guard();
}

/* Gives the token away until the next turn of this slot. */
static void take_turns(int64_t deadline_ns)
{
	uint32_t rounds;

	atomic_store_explicit(&end.page->deadline_ns[end.me], deadline_ns, memory_order_release);
	vt_page_pass(&end);
	await();
	if (charge.scale > 0)
		vt_charge_begin(&charge, cpu_ns());
	waits = 0;
	rounds = vt_page_core(end.page)->rounds_here;
	if (rounds && rounds % ROUNDS_MAX == 0) /* not in the rounds after: the others only look at who has ended */
		give_up("time does not advance: this process and others keep waking each other");
}

/* Others have their turns until then. */
static void compute_until(int64_t then_ns)
{
	atomic_store_explicit(&end.page->floor_ns[end.me], then_ns, memory_order_relaxed);
	take_turns(then_ns);
	atomic_store_explicit(&end.page->floor_ns[end.me], 0, memory_order_relaxed);
}

static void fail(void)
{
	fprintf(stderr, "virtual clock: over its budget of %.6g ms in a period of %.6g ms: killed\n",
		(double)budget.budget_ns / 1e6, (double)budget.period_ns / 1e6);
	atomic_store(&end.page->failed, 1);
	raise(SIGKILL);
}

static void spend(int64_t work_ns)
{
	struct vt_slot *slot = &end.page->slot[end.me];
	const uint32_t overs = budget.overs;
	bool fails;
	const int64_t then_ns = vt_budget_spend(&budget, vt_page_now(end.page), work_ns, &fails);

	end.page->left.busy_ns += work_ns;
	atomic_fetch_add_explicit(&slot->overs, budget.overs - overs, memory_order_relaxed);
	if (budget.worst_ns > atomic_load_explicit(&slot->worst_ns, memory_order_relaxed))
		atomic_store_explicit(&slot->worst_ns, budget.worst_ns, memory_order_relaxed);
	compute_until(then_ns);
	if (fails)
		fail();
}

/* The sum over the processes without a period that compute now, with this one. */
static uint32_t weights(void)
{
	uint32_t sum = 0;

	for (uint64_t left = atomic_load(&end.page->sharing) & atomic_load(&end.page->live); left; left &= left - 1)
		sum += atomic_load(&end.page->slot[__builtin_ctzll(left)].weight);
	return sum;
}

static void share(uint32_t weight, double work_ns)
{
	atomic_fetch_or(&end.page->sharing, vt_bit(end.me));
	while (work_ns >= 1) {
		const int64_t now_ns = vt_page_now(end.page);
		const double part = vt_left_share(&end.page->left, weight, weights());
		const double slice_ns = work_ns / part < VT_SHARE_SLICE_NS ? work_ns / part : VT_SHARE_SLICE_NS;

		compute_until(now_ns + (int64_t)slice_ns + 1);
		work_ns -= slice_ns * part;
	}
	atomic_fetch_and(&end.page->sharing, ~vt_bit(end.me));
}

/* Before the process acts or looks: others must have done all that they do until then, and none may see what it does
 * before its time. */
static void settle(void)
{
	const int64_t passed_ns = charge.scale > 0 ? vt_charge_end(&charge, cpu_ns()) : 0;
	struct vt_slot *slot = &end.page->slot[end.me];
	const uint32_t weight = atomic_load_explicit(&slot->weight, memory_order_relaxed);

	if (!passed_ns)
		return;
	atomic_fetch_add_explicit(&slot->charged_ns, passed_ns, memory_order_relaxed);
	vt_left_update(&end.page->left, vt_page_now(end.page));
	if (weight)
		share(weight, (double)passed_ns);
	else if (budget.period_ns)
		spend(passed_ns);
	else
		compute_until(vt_page_now(end.page) + passed_ns);
}

/* A descriptor that a sweep finds ready was not announced by a process of the robot. */
static void say_outside(const struct vt_poll *at)
{
	int64_t nothing = 0;

	if (!atomic_load_explicit(&end.page->sweeping, memory_order_relaxed) ||
	    !atomic_compare_exchange_strong(&end.page->outside_ns, &nothing, vt_page_now(end.page)))
		return;
	snprintf(end.page->outside_who, VT_NAME_MAX, "%s", end.page->slot[end.me].name);
	if (at->found_channel)
		snprintf(end.page->outside_what, VT_OUTSIDE_MAX, "channel %s", vt_hash_name(at->found_channel));
	else
		vt_outside_fd(end.page->outside_what, at->found_fd);
}

/* A set that another thread waits for, or a child of fork: in real time. */
static int wait_outside(struct vt_poll *at, int64_t deadline_ns)
{
	int ready;

	while (!(ready = at->poll(at)) && now() < deadline_ns)
		clock_real.wait(NULL, 0, clock_real.now() + OUTSIDE_NS);
	return ready;
}

int vt_clock_wait(struct vt_poll *at, int64_t deadline_ns)
{
	int ready;

	if (!joined)
		return wait_outside(at, deadline_ns);
	settle();
	if (deadline_ns > vt_page_now(end.page) + ASK_NS)
		ask.needed = true;
	ready = at->poll(at);
	if (ready || deadline_ns <= vt_page_now(end.page)) {
		if (++waits > WAITS_MAX)
			give_up("a descriptor stays readable: this process waits without an end");
		vt_budget_release(&budget, vt_page_now(end.page));
		return ready;
	}
	do {
		take_turns(deadline_ns);
		ready = at->poll(at);
	} while (!ready && vt_page_now(end.page) < deadline_ns);
	if (ready && vt_page_now(end.page) < deadline_ns)
		say_outside(at);
	vt_budget_release(&budget, vt_page_now(end.page));
	return ready;
}

bool vt_clock_asks(uint64_t what)
{
	const uint64_t me = vt_bit(end.me);

	if (!joined)
		return true;
	if (what != ask.what || ask.always || vt_page_now(end.page) >= ask.at_ns + ASK_NS)
		ask.needed = true;
	ask.what = what;
	if (atomic_load_explicit(&end.page->slow, memory_order_acquire) & me) {
		atomic_fetch_and_explicit(&end.page->slow, ~me, memory_order_acq_rel); /* first, then it looks */
		ask.needed = true;
	}
	return ask.needed;
}

void vt_clock_asked(int ready)
{
	if (!joined)
		return;
	ask.needed = ready != 0; /* the program may leave something unread */
	ask.at_ns = vt_page_now(end.page);
}

/* ---- probes ---- */

static struct probe {
	int fd;
	clock_rung *rung; /* NULL: this place is free */
	const void *arg;
} probes[PROBES_MAX];
static int probes_n;

int vt_clock_probe(int fd)
{
	for (int i = 0; i < probes_n; i++)
		if (probes[i].rung && probes[i].fd == fd)
			return i;
	return -1;
}

uint64_t vt_clock_rung(int place)
{
	return probes[place].rung ? probes[place].rung(probes[place].arg) : 0;
}

void clock_probe(int fd, clock_rung *rung, const void *arg)
{
	int place = vt_clock_probe(fd);

	for (int i = 0; i < PROBES_MAX && place < 0 && rung; i++)
		if (!probes[i].rung)
			place = i;
	if (place < 0 && rung && joined)
		give_up("too many buses in one process");
	if (place < 0 || !joined)
		return;
	probes[place] = (struct probe){ fd, rung, arg };
	if (place >= probes_n)
		probes_n = place + 1;
}

static int poll_probes(struct vt_poll *at)
{
	int ready = 0;

	for (size_t i = 0; i < at->n && probes_n; i++) {
		const int place = at->fds[i].fd < 0 || at->fds[i].ready ? -1 : vt_clock_probe(at->fds[i].fd);

		if (place >= 0 && at->fds[i].events & POLLIN && vt_clock_rung(place)) {
			at->found_fd = at->fds[i].fd;
			at->fds[i].ready = POLLIN;
			ready++;
		}
	}
	return ready;
}

static int poll_fds(struct vt_poll *at)
{
	uint64_t what = 0;
	int ready;

	for (size_t i = 0; i < at->n; i++)
		what = what * 1000003 + (uint64_t)(uint32_t)at->fds[i].fd * 65536 + (uint16_t)at->fds[i].events + 1;
	if (!vt_clock_asks(what)) {
		for (size_t i = 0; i < at->n; i++)
			at->fds[i].ready = 0;
		return poll_probes(at);
	}
	ready = clock_real.wait(at->fds, at->n, 0);
	vt_clock_asked(ready);
	for (size_t i = 0; i < at->n && ready > 0; i++)
		if (at->fds[i].ready)
			at->found_fd = at->fds[i].fd;
	return ready < 0 ? ready : ready + poll_probes(at);
}

static int vt_wait(struct clock_fd *fds, size_t n, int64_t deadline_ns)
{
	if (!joined && !probes_n) /* in real time: the robot's passes at another pace, and may stand still */
		return clock_real.wait(fds, n, clock_moved(deadline_ns, clock_real.now() - now()));
	return vt_clock_wait(&(struct vt_poll){ poll_fds, .fds = fds, .n = n, .found_fd = -1 }, deadline_ns);
}

/* A kill that was planned for its Nth action. */
static void act(void)
{
	_Atomic uint32_t *left = &end.page->slot[end.me].kill_after;

	if (atomic_load_explicit(left, memory_order_relaxed) && atomic_fetch_sub(left, 1) == 1)
		raise(SIGKILL);
}

static int slot_of(pid_t pid)
{
	static struct {
		pid_t pid;
		int slot;
	} known[VT_SLOTS];
	const int at = (int)((unsigned int)pid % VT_SLOTS);

	if (known[at].pid != pid ||
	    atomic_load_explicit(&end.page->slot[known[at].slot].pid, memory_order_relaxed) != (uint32_t)pid) {
		known[at].slot = vt_page_slot(end.page, pid);
		known[at].pid = known[at].slot < 0 ? 0 : pid;
	}
	return known[at].slot;
}

bool clock_ring(pid_t pid)
{
	const int slot = joined && pid ? slot_of(pid) : -1;

	if (slot < 0) {
		clock_touch(pid);
		return false;
	}
	settle();
	act();
	vt_page_mark_light(&end, vt_bit(slot));
	return true;
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

int64_t vt_clock_machine_ns(void)
{
	const int64_t machine_ns = joined ? clock_real.now() : 0;

	return machine_ns < VT_BEGIN_NS - VT_BEFORE_NS ? machine_ns : 0;
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

/* A program that waits for the descriptor of a channel. */
static void watched(struct ach_handle *h, bool descriptor)
{
	ask.always |= descriptor && joined;
	vt_clock_watch(h);
}

static bool vt_sleep(int64_t for_ns)
{
	if (!joined)
		return false;
	settle();
	take_turns(for_ns > VT_NEVER - now() ? VT_NEVER : now() + for_ns);
	vt_budget_release(&budget, vt_page_now(end.page));
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
	vt_page_mark_light(&end, (object ? object->readers : ~vt_bit(VT_COORDINATOR)));
	if (object)
		vt_hash_message(object, vt_page_now(end.page), data, len);
}

static const struct ach_outer outer = { now, watched, vt_sleep, before, committed };

static const struct clock_source source = { now, real, vt_wait, touch, NULL, true };

/* ---- joining ---- */

static int by_size(const void *a, const void *b)
{
	return (*(const int64_t *)a > *(const int64_t *)b) - (*(const int64_t *)a < *(const int64_t *)b);
}

/* The median of the means of readings in a row: an interrupt, or caches that are cold after a preemption, make a mean
 * larger, and each process has its own. */
static double reading_ns(void)
{
	int64_t rows[READING_ROWS];

	for (int row = 0; row < READING_ROWS; row++) {
		const int64_t begin_ns = cpu_ns();

		for (int i = 1; i < READINGS; i++)
			cpu_ns();
		rows[row] = cpu_ns() - begin_ns;
	}
	qsort(rows, READING_ROWS, sizeof(*rows), by_size);
	return (double)rows[READING_ROWS / 2] / READINGS;
}

static void begin_charging(void)
{
	const struct vt_slot *slot = &end.page->slot[end.me];

	if (end.page->charge <= 0 || !atomic_load(&end.page->slot[end.me].charged))
		return;
	charge = (struct vt_charge){ .scale = end.page->charge };
	budget = (struct vt_budget){ .period_ns = slot->period_ns, .budget_ns = slot->budget_ns, .over = slot->over };
	if (!end.page->uncorrected)
		charge.cost_ns = reading_ns();
	vt_charge_begin(&charge, cpu_ns());
}

static void forked(void)
{
	joined = false;
	ach_outer = NULL;
	clock_use(&clock_real);
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
	await();
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
