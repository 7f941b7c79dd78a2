/* bench_cost.c: what calls cost inside one process, beside a mutex of the same moment.
 *
 * Rounds: each measures every item once in a short block, in rotating order.
 * A figure is the median of the rounds; a ratio is the median of the ratios
 * inside each round, so that a change of the machine's speed affects both sides.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channels/ach/ach.h"
#include "test/bench/lib.h"
#include "test/bench/lib_figures.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define ROUNDS 101
#define BLOCK 20000	 /* calls of one item in one round */
#define FRAMES 16	 /* as ACH_DEFAULT_FRAME_COUNT */
#define CROWD 8		 /* readers that do not wait, waiters */
#define POLL_NS 10000000 /* how slowly readers that do not wait look */
#define NEWEST_PARTS 40
#define WAKES 1000 /* puts timed for each number of waiters */

#define TARGET_MUTEX 2.0
#define TARGET_INDEPENDENT 1.1 /* "independent of": within what the machine itself moves */

static void must(enum ach_status status, const char *call)
{
	if (status != ACH_OK && status != ACH_MISSED_FRAME)
		bench_die("%s: %s: %s", call, ach_result_to_string(status), ach_errstr());
}

/* ---- channels of this process ---- */

struct pair {
	ach_channel_t writer, reader, behind; /* behind: a reader that is always at the oldest message */
	char name[ACH_CHAN_NAME_MAX];
};

static void pair_open(struct pair *pair, size_t count, size_t size)
{
	static unsigned number;

	snprintf(pair->name, sizeof pair->name, "bench-cost-%d-%u", (int)getpid(), number++);
	must(ach_create(pair->name, count, size, NULL), "ach_create");
	must(ach_open(&pair->writer, pair->name, NULL), "ach_open");
	must(ach_open(&pair->reader, pair->name, NULL), "ach_open");
	must(ach_open(&pair->behind, pair->name, NULL), "ach_open");
}

/* Once every process has opened it: nothing is left behind even if the bench is killed. */
static void pair_forget_name(struct pair *pair)
{
	must(ach_unlink(pair->name), "ach_unlink");
}

static inline void put(ach_channel_t *chan, size_t size)
{
	static char message[1024];

	must(ach_put(chan, message, size), "ach_put");
}

static inline void get(ach_channel_t *chan, int options)
{
	static char buf[1024];
	size_t size;

	must(ach_get(chan, buf, sizeof buf, &size, NULL, options), "ach_get");
}

/* ---- what is measured: each function returns the ns that its calls took ---- */

#define TIMED(calls, statement)                                      \
	({                                                           \
		int64_t timed_start_ns = bench_now_ns();             \
		for (unsigned timed = 0; timed < (calls); timed++) { \
			statement;                                   \
		}                                                    \
		bench_now_ns() - timed_start_ns;                     \
	})

static pthread_mutex_t *robust, *robust_pi;

static pthread_mutex_t *robust_mutex(int protocol)
{
	pthread_mutex_t *mutex = bench_shared(sizeof *mutex);
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	if (pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED) ||
	    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST) ||
	    pthread_mutexattr_setprotocol(&attr, protocol) || pthread_mutex_init(mutex, &attr))
		bench_die("unable to make a robust mutex");
	pthread_mutexattr_destroy(&attr);
	return mutex;
}

static int64_t run_mutex(struct pair *unused, unsigned calls)
{
	(void)unused;
	return TIMED(calls, pthread_mutex_lock(robust); pthread_mutex_unlock(robust));
}

static int64_t run_mutex_pi(struct pair *unused, unsigned calls)
{
	(void)unused;
	return TIMED(calls, pthread_mutex_lock(robust_pi); pthread_mutex_unlock(robust_pi));
}

static int64_t run_wake_nobody(struct pair *unused, unsigned calls)
{
	static uint32_t word;

	(void)unused;
	return TIMED(calls, syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0));
}

static int64_t run_put(struct pair *pair, unsigned calls)
{
	return TIMED(calls, put(&pair->writer, 64));
}

/* Some puts, then the time to get as many: all messages if 16 are retained, the oldest ones if more are. */
static int64_t get_ns(ach_channel_t *writer, ach_channel_t *reader, unsigned calls)
{
	int64_t ns = 0;

	for (unsigned done = 0; done < calls; done += FRAMES) {
		for (unsigned i = 0; i < FRAMES; i++)
			put(writer, 64);
		ns += TIMED(FRAMES, get(reader, ACH_O_FIRST));
	}
	return ns;
}

static int64_t run_get(struct pair *pair, unsigned calls)
{
	return get_ns(&pair->writer, &pair->reader, calls);
}

/* A reader at the oldest message. */
static int64_t run_oldest(struct pair *pair, unsigned calls)
{
	return get_ns(&pair->writer, &pair->behind, calls);
}

static int64_t run_put_get(struct pair *pair, unsigned calls)
{
	ach_flush(&pair->reader);
	return TIMED(calls, put(&pair->writer, 64); get(&pair->reader, ACH_O_FIRST));
}

static int64_t run_put_get_1k(struct pair *pair, unsigned calls)
{
	ach_flush(&pair->reader);
	return TIMED(calls, put(&pair->writer, 1024); get(&pair->reader, ACH_O_FIRST));
}

static int64_t run_stale(struct pair *pair, unsigned calls)
{
	char buf[64];
	size_t size;

	ach_flush(&pair->reader);
	return TIMED(calls, if (ach_get(&pair->reader, buf, sizeof buf, &size, NULL, ACH_O_FIRST) != ACH_STALE_FRAMES)
				    bench_die("a stale get found something"));
}

static int64_t run_reserve(struct pair *pair, unsigned calls)
{
	void *room;

	return TIMED(calls, must(ach_reserve(&pair->writer, 64, &room), "ach_reserve"); *(volatile char *)room = 1;
		     must(ach_commit(&pair->writer, 64), "ach_commit"));
}

static int64_t run_peek(struct pair *pair, unsigned calls)
{
	const void *message;
	size_t size;

	return TIMED(calls, must(ach_peek(&pair->reader, &message, &size, NULL, ACH_O_LAST | ACH_O_COPY), "ach_peek");
		     (void)*(const volatile char *)message; must(ach_peek_end(&pair->reader), "ach_peek_end"));
}

/* The newest again and again, now and then another, so that no one place in memory is all that is measured. */
static int64_t run_newest(struct pair *pair, unsigned calls)
{
	int64_t ns = 0;

	for (unsigned part = 0; part < NEWEST_PARTS; part++) {
		put(&pair->writer, 64);
		ns += TIMED(calls / NEWEST_PARTS, get(&pair->reader, ACH_O_LAST | ACH_O_COPY));
	}
	return ns;
}

static struct pair small, large, unread, crowded;

/* Several of each depth, a round takes one of them: where a channel happens to be mapped is worth 2 ns. */
#define PLACES 5
static struct pair deep_1[PLACES], deep_16[PLACES], deep_1k[PLACES], deep_64k[PLACES];

/* ---- rounds ---- */

struct item {
	const char *name, *text;
	int64_t (*run)(struct pair *pair, unsigned calls);
	struct pair *pair;
	unsigned pairs;	   /* one after the other, 0: there is one */
	double ns[ROUNDS]; /* per call, in each round */
};

enum {
	MUTEX,
	MUTEX_PI,
	WAKE_NOBODY,
	PUT,
	GET,
	PUT_GET,
	PUT_GET_1K,
	STALE,
	RESERVE,
	PEEK,
	NEWEST_1,
	NEWEST_16,
	NEWEST_1K,
	NEWEST_64K,
	OLDEST_16,
	OLDEST_1K,
	OLDEST_64K,
};

static struct item items[] = {
	[MUTEX] = { "mutex.robust", "robust mutex, lock and unlock", run_mutex, NULL, 0, {} },
	[MUTEX_PI] = { "mutex.robust_pi", "robust PI mutex, lock and unlock", run_mutex_pi, NULL, 0, {} },
	[WAKE_NOBODY] = { "futex_wake.nobody", "FUTEX_WAKE without a waiter", run_wake_nobody, NULL, 0, {} },
	[PUT] = { "put.64B", "put, 64 B", run_put, &small, 0, {} },
	[GET] = { "get.64B", "get, 64 B", run_get, &small, 0, {} },
	[PUT_GET] = { "put_get.64B", "put and get, 64 B", run_put_get, &small, 0, {} },
	[PUT_GET_1K] = { "put_get.1KiB", "put and get, 1 KiB", run_put_get_1k, &large, 0, {} },
	[STALE] = { "get.stale", "get that finds nothing", run_stale, &small, 0, {} },
	[RESERVE] = { "reserve_commit.64B", "reserve and commit, 64 B", run_reserve, &small, 0, {} },
	[PEEK] = { "peek.64B", "peek and its end, 64 B", run_peek, &small, 0, {} },
	[NEWEST_1] = { "get.newest_of_1", "get of the newest, 1 retained", run_newest, deep_1, PLACES, {} },
	[NEWEST_16] = { "get.newest_of_16", "get of the newest, 16 retained", run_newest, deep_16, PLACES, {} },
	[NEWEST_1K] = { "get.newest_of_1024", "get of the newest, 1024 retained", run_newest, deep_1k, PLACES, {} },
	[NEWEST_64K] = { "get.newest_of_65536", "get of the newest, 65536 retained", run_newest, deep_64k, PLACES, {} },
	[OLDEST_16] = { "get.oldest_of_16", "get of the oldest, 16 retained", run_oldest, deep_16, PLACES, {} },
	[OLDEST_1K] = { "get.oldest_of_1024", "get of the oldest, 1024 retained", run_oldest, deep_1k, PLACES, {} },
	[OLDEST_64K] = { "get.oldest_of_65536", "get of the oldest, 65536 retained", run_oldest, deep_64k, PLACES, {} },
};

enum { UNREAD, CROWDED };

static struct item crowd_items[] = {
	[UNREAD] = { "put.readers_0", "put, no reader", run_put, &unread, 0, {} },
	[CROWDED] = { "put.readers_8", "put, 8 readers that do not wait", run_put, &crowded, 0, {} },
};

static void run_rounds(struct item *list, size_t count)
{
	for (unsigned round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < count; i++) {
			struct item *item = &list[(i + round) % count];

			struct pair *pair = item->pairs ? &item->pair[round % item->pairs] : item->pair;

			item->ns[round] = (double)item->run(pair, BLOCK) / BLOCK;
		}
}

static double item_ratio(const struct item *item, const struct item *base)
{
	double ratios[ROUNDS];

	for (unsigned round = 0; round < ROUNDS; round++)
		ratios[round] = item->ns[round] / base->ns[round];
	return figures_median(ratios, ROUNDS);
}

static void report_values(const char *name, const char *text, const double *values, size_t count)
{
	double sorted[WAKES > ROUNDS ? WAKES : ROUNDS], median;

	memcpy(sorted, values, count * sizeof values[0]);
	median = figures_median(sorted, count);
	printf("  %-36s %8.1f   %8.1f to %8.1f\n", text, median, figures_part(sorted, count, 0.1),
	       figures_part(sorted, count, 0.9));
	figures_line(median, "ns", "cost.%s", name);
}

static void report_items(const struct item *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		report_values(list[i].name, list[i].text, list[i].ns, ROUNDS);
}

static void report_ratio(const struct item *item, const struct item *base, double limit)
{
	double ratio = item_ratio(item, base);

	printf("  %-36s %8.3f   %s (target %.2f)  of: %s\n", item->text, ratio,
	       figures_target(ratio, limit, "cost.%s.over.%s", item->name, base->name), limit, base->text);
}

/* ---- readers that do not wait ---- */

static _Noreturn void poll_slowly(struct pair *pair, struct bench_gate *gate)
{
	ach_channel_t chan;
	char buf[64];
	size_t size;

	bench_pin(1);
	must(ach_open(&chan, pair->name, NULL), "ach_open");
	bench_gate_pass(gate);
	for (;;) {
		ach_get(&chan, buf, sizeof buf, &size, NULL, ACH_O_LAST);
		bench_sleep_until_ns(bench_now_ns() + POLL_NS);
	}
}

/* Both channels are written beside the crowd of readers, which reads only one of them. */
static void run_crowd(void)
{
	struct bench_gate gate;
	pid_t pids[CROWD];

	bench_gate_open(&gate);
	for (unsigned i = 0; i < CROWD; i++) {
		pids[i] = bench_fork();
		if (!pids[i])
			poll_slowly(&crowded, &gate);
	}
	bench_gate_wait(&gate, CROWD);
	pair_forget_name(&crowded);
	run_rounds(crowd_items, COUNT(crowd_items));
	for (unsigned i = 0; i < CROWD; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
}

/* ---- waiters ---- */

struct waiter {
	_Atomic uint64_t got;
	pid_t pid;
	int stat; /* its /proc/PID/stat, in the parent */
};

struct waited { /* a channel and the processes that wait on it */
	const char *name, *text;
	unsigned count;
	struct pair pair;
	struct waiter *waiters;
	uint64_t puts;
	double ns[WAKES];
};

static struct waited waited[] = {
	{ .name = "put.waiters_0", .text = "put, no waiter", .count = 0 },
	{ .name = "put.waiters_1", .text = "put, 1 waits", .count = 1 },
	{ .name = "put.waiters_8", .text = "put, 8 wait", .count = CROWD },
};

static _Noreturn void wait_for_ever(const char *name, struct waiter *self, struct bench_gate *gate)
{
	ach_channel_t chan;
	char buf[64];
	size_t size;

	bench_pin(1);
	must(ach_open(&chan, name, NULL), "ach_open");
	bench_gate_pass(gate);
	for (;;) {
		must(ach_get(&chan, buf, sizeof buf, &size, NULL, ACH_O_WAIT), "ach_get");
		atomic_fetch_add(&self->got, 1);
	}
}

static void waited_open(struct waited *one)
{
	struct bench_gate gate;
	char path[64];

	pair_open(&one->pair, FRAMES, 64);
	one->waiters = bench_shared((one->count + 1) * sizeof one->waiters[0]);
	bench_gate_open(&gate);
	for (unsigned i = 0; i < one->count; i++) {
		pid_t pid = bench_fork();

		if (!pid)
			wait_for_ever(one->pair.name, &one->waiters[i], &gate);
		one->waiters[i].pid = pid;
		snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
		one->waiters[i].stat = open(path, O_RDONLY | O_CLOEXEC);
		if (one->waiters[i].stat < 0)
			bench_die("unable to open %s", path);
	}
	bench_gate_wait(&gate, one->count);
	pair_forget_name(&one->pair);
}

/* The waiter has got every message and sleeps; it sleeps nowhere but in the channel. */
static bool waiter_asleep(struct waiter *waiter, uint64_t puts)
{
	char text[256] = "";
	const char *state;

	if (atomic_load(&waiter->got) != puts)
		return false;
	if (pread(waiter->stat, text, sizeof text - 1, 0) <= 0)
		bench_die("unable to read the state of process %d", (int)waiter->pid);
	state = strrchr(text, ')');
	return state && state[1] == ' ' && state[2] == 'S';
}

static double put_with_waiters_ns(struct waited *one)
{
	int64_t start_ns;

	for (unsigned i = 0; i < one->count; i++)
		while (!waiter_asleep(&one->waiters[i], one->puts))
			sched_yield();
	one->puts++;
	start_ns = bench_now_ns();
	put(&one->pair.writer, 64);
	return (double)(bench_now_ns() - start_ns);
}

static void run_waited(void)
{
	for (size_t i = 0; i < COUNT(waited); i++)
		waited_open(&waited[i]);
	for (unsigned n = 0; n < WAKES; n++)
		for (size_t i = 0; i < COUNT(waited); i++)
			waited[i].ns[n] = put_with_waiters_ns(&waited[i]);
	for (size_t i = 0; i < COUNT(waited); i++)
		for (unsigned w = 0; w < waited[i].count; w++) {
			kill(waited[i].waiters[w].pid, SIGKILL);
			waitpid(waited[i].waiters[w].pid, NULL, 0);
		}
}

/* ---- the run ---- */

static void open_and_fill(struct pair *pair, unsigned count, size_t size)
{
	pair_open(pair, count, size);
	for (unsigned i = 0; i < count; i++)
		put(&pair->writer, size);
	if (pair != &crowded) /* which its crowd has yet to open */
		pair_forget_name(pair);
}

int main(void)
{
	bench_hang_limit(300);
	bench_pin(0);
	robust = robust_mutex(PTHREAD_PRIO_NONE);
	robust_pi = robust_mutex(PTHREAD_PRIO_INHERIT);
	open_and_fill(&small, FRAMES, 64);
	open_and_fill(&large, FRAMES, 1024);
	for (unsigned i = 0; i < PLACES; i++) {
		open_and_fill(&deep_1[i], 1, 64);
		open_and_fill(&deep_16[i], 16, 64);
		open_and_fill(&deep_1k[i], 1024, 64);
		open_and_fill(&deep_64k[i], 65536, 64);
	}
	open_and_fill(&unread, FRAMES, 64);
	open_and_fill(&crowded, FRAMES, 64);

	run_rounds(items, COUNT(items));
	run_crowd();
	run_waited();

	printf("cost: calls of one process, ns, %d rounds\n", ROUNDS);
	printf("  %-36s %8s   %8s to %8s\n", "", "median", "10 %", "90 %");
	report_items(items, COUNT(items));
	report_items(crowd_items, COUNT(crowd_items));
	for (size_t i = 0; i < COUNT(waited); i++)
		report_values(waited[i].name, waited[i].text, waited[i].ns, WAKES);
	printf("  (the last three: each put timed alone, with the clock; the waiters sleep on another core)\n");
	printf("\n  ratios, median of the rounds\n");
	report_ratio(&items[PUT_GET], &items[MUTEX], TARGET_MUTEX);
	report_ratio(&items[PUT_GET], &items[MUTEX_PI], TARGET_MUTEX);
	report_ratio(&crowd_items[CROWDED], &crowd_items[UNREAD], TARGET_INDEPENDENT);
	for (unsigned i = NEWEST_16; i <= NEWEST_64K; i++)
		report_ratio(&items[i], &items[NEWEST_1], TARGET_INDEPENDENT);
	for (unsigned i = OLDEST_1K; i <= OLDEST_64K; i++)
		report_ratio(&items[i], &items[OLDEST_16], TARGET_INDEPENDENT);
	figures_print();
	return 0;
}
