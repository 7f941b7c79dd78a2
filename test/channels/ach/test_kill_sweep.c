/* test_kill_sweep.c: a process is stopped at every single instruction of a call in turn, and killed there.
 *
 * The debugger interface walks a child k instructions into ach_put (or reserve and commit, or a waiting read), for
 * k = 1, 2, 3 ... until the call returns, so that every store to shared memory is followed once by a stop.  While the
 * victim is stopped all others must get on; after its death nothing may show that it ever was, except its whole
 * message.  Half of the sweeps let it go on instead: then it must finish as if nothing had been.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "channels/ach/ach.h"
#include "channels/ach/ach_ring.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

#define SWEEP_DENSE_HEAD 250 /* instructions looked at one by one at the start of a long call ... */
#define SWEEP_DENSE_TAIL 150 /* ... and at its end; */
#define SWEEP_MIDDLE 50	     /* stops between them, where the bytes are copied */
#define SWEEP_MIN 40	     /* a call of fewer instructions was not stepped through at all */
#define NO_PTRACE 77
#define LEN_MAX 1024

enum who { VICTIM = 1, OTHER, AFTER };
enum call { PUT, PUT_FIRST, PUT_NESTED, RESERVE, GET_WAIT, GET_DEADLINE, GET_ANY, GET_FD };

struct sweep {
	const char *what;
	enum call call;
	size_t count, size, len;
	bool empty;  /* a new channel at each stop, so that the victim's is the first message ever */
	bool waiter; /* another process sleeps in ach_get */
	bool resume; /* let the victim go on instead of killing it */
};

struct put_message {
	uint64_t number;
	enum who who;
	size_t len;
};

/* What must be in the channel.  Shared with the children. */
#define PUT_MAX 64
static struct model {
	char name[LIB_NAME_LEN];
	size_t count, bytes;
	uint64_t newest;
	struct put_message put[PUT_MAX]; /* by sequence number */
	volatile int phase;		 /* of the victim: 1 inside the call, 2 behind it */
	char complaint[256];
} * model;

static struct {
	struct lib_gate *ask, *answer, *seen;
	pid_t victim, reader, waiter;
	ach_channel_t inherited, other, after, side;
	char side_name[LIB_NAME_LEN];
	uint8_t message[LEN_MAX];
	uint64_t number;
} test;

/* ---- the model ---- */

static void model_add(enum who who, uint64_t number, size_t len)
{
	model->newest++;
	model->put[model->newest % PUT_MAX] = (struct put_message){ .number = number, .who = who, .len = len };
}

static uint64_t model_oldest(void)
{
	uint64_t first = model->newest + 1;
	size_t bytes = 0;

	while (first > 1 && model->newest + 1 - first < model->count) {
		bytes += model->put[(first - 1) % PUT_MAX].len;
		if (bytes > model->bytes)
			break;
		first--;
	}
	return first;
}

static bool complain(const char *what, uint64_t seq, enum ach_status r)
{
	snprintf(model->complaint, sizeof model->complaint, "%s: message %ju of %ju..%ju, %s", what, (uintmax_t)seq,
		 (uintmax_t)model_oldest(), (uintmax_t)model->newest, ach_result_to_string(r));
	return false;
}

static bool is_complete(const uint8_t *buf, size_t len, uint64_t seq)
{
	const struct put_message *put = &model->put[seq % PUT_MAX];
	struct lib_message head;

	memcpy(&head, buf, sizeof head);
	return lib_message_good(buf, len) && len == put->len && head.writer == put->who && head.number == put->number;
}

/* Do new handles find exactly the retained messages, in order, whole, with the right answers? */
static bool model_holds(bool writable)
{
	uint8_t buf[LEN_MAX];
	uint64_t first = model_oldest();
	ach_channel_t chan;
	enum ach_status r;
	size_t len;

	if ((r = ach_open(&chan, model->name, NULL)) != ACH_OK)
		return complain("open", 0, r);
	for (uint64_t seq = first; seq <= model->newest; seq++) {
		r = ach_get(&chan, buf, sizeof buf, &len, NULL, 0);
		if (r != (seq == first && first > 1 ? ACH_MISSED_FRAME : ACH_OK))
			return complain("next", seq, r);
		if (chan.seq_num != seq || !is_complete(buf, len, seq))
			return complain("next is another", seq, r);
	}
	if ((r = ach_get(&chan, buf, sizeof buf, &len, NULL, 0)) != ACH_EAGAIN)
		return complain("behind the newest", model->newest, r);
	if (model->newest && (r = ach_get(&chan, buf, sizeof buf, &len, NULL, ACH_O_COPY)) != ACH_OK)
		return complain("copy", model->newest, r);
	if (model->newest && !is_complete(buf, len, model->newest))
		return complain("copy is another", model->newest, r);
	if (!writable && (r = ach_put(&chan, buf, 1)) != ACH_EACCES)
		return complain("put by a reader", 0, r);
	ach_close(&chan);

	if ((r = ach_open(&chan, model->name, NULL)) != ACH_OK)
		return complain("open again", 0, r);
	r = ach_get(&chan, buf, sizeof buf, &len, NULL, ACH_O_LAST);
	if (r != (!model->newest ? ACH_EAGAIN : model->newest > 1 ? ACH_MISSED_FRAME : ACH_OK))
		return complain("last", model->newest, r);
	if (model->newest && (chan.seq_num != model->newest || !is_complete(buf, len, model->newest)))
		return complain("last is another", model->newest, r);
	ach_close(&chan);
	return true;
}

/* ---- the bystanders ---- */

/* A process that may only read the channel, and holds the model against it whenever it is asked. */
static int reader_body(void *arg)
{
	(void)arg;
	if (lib_can_drop())
		lib_drop((gid_t)-1);
	for (int n = 1;; n++) {
		lib_watchdog("reader", 2 * LIB_HANG_S);
		lib_gate_wait(test.ask, n);
		lib_gate_set(test.answer, model_holds(false) ? n : -1);
	}
	return 0;
}

static void reader_check(void)
{
	static const mode_t shut = 0444, open_to_all = 0644;
	int n = lib_gate_get(test.ask) + 1;

	/* The owner of a channel is held off by its mode; root is not and has become another user. */
	LIB_ASSERT_STATUS(ACH_OK, ach_chmod(&test.after, lib_can_drop() ? open_to_all : shut));
	lib_gate_set(test.ask, n);
	while (lib_gate_get(test.answer) == n - 1)
		sched_yield();
	LIB_ASSERT_STATUS(ACH_OK, ach_chmod(&test.after, open_to_all));
	if (lib_gate_get(test.answer) != n)
		TEST_FAIL_MESSAGE(model->complaint);
}

static int waiter_body(void *arg)
{
	uint8_t buf[LEN_MAX];
	ach_channel_t chan;
	uint64_t last = 0;
	size_t len;

	(void)arg;
	LIB_STATUS(ACH_OK, ach_open(&chan, model->name, NULL));
	for (;; last = chan.seq_num) {
		enum ach_status r;

		lib_watchdog("waiter", 2 * LIB_HANG_S);
		r = ach_get(&chan, buf, sizeof buf, &len, NULL, ACH_O_WAIT);

		LIB_STATUS(chan.seq_num == last + 1 ? ACH_OK : ACH_MISSED_FRAME, r);
		LIB_CHECK(chan.seq_num > last && lib_message_good(buf, len));
		lib_gate_set(test.seen, (int)chan.seq_num);
	}
	return 0;
}

/* ---- the victim ---- */

static void ptrace_me(void)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(NO_PTRACE);
	raise(SIGSTOP);
}

static int victim_put(ach_channel_t *chan, const struct sweep *sweep)
{
	enum ach_status r;
	void *room;

	ptrace_me();
	model->phase = 1;
	if (sweep->call == RESERVE) {
		r = ach_reserve(chan, sweep->len + 8, &room);
		if (r == ACH_OK) {
			memcpy(room, test.message, sweep->len);
			r = ach_commit(chan, sweep->len);
		}
	} else {
		r = ach_put(chan, test.message, sweep->len);
	}
	model->phase = 2;
	return r;
}

static int victim_get(ach_channel_t *chan, const struct sweep *sweep)
{
	static uint8_t buf[LEN_MAX];
	ach_channel_t *const both[] = { &test.side, chan };
	struct timespec hang = lib_hang();
	struct pollfd poller = { .events = POLLIN };
	size_t len = 0, which = 1;
	enum ach_status r = ACH_OK;

	if (sweep->call == GET_FD)
		LIB_STATUS(ACH_OK, ach_channel_fd(chan, &poller.fd));
	ptrace_me();
	model->phase = 1;
	switch (sweep->call) {
	case GET_FD:
		do { /* again if it was a spurious wake-up */
			LIB_CHECK(poll(&poller, 1, LIB_HANG_S * 1000) == 1);
			r = ach_get(chan, buf, sizeof buf, &len, NULL, 0);
		} while (r == ACH_EAGAIN);
		break;
	case GET_ANY:
		r = ach_wait_any(both, 2, &hang, &which);
		if (r == ACH_OK)
			r = ach_get(chan, buf, sizeof buf, &len, NULL, 0);
		break;
	default:
		r = ach_get(chan, buf, sizeof buf, &len, sweep->call == GET_DEADLINE ? &hang : NULL, ACH_O_WAIT);
	}
	model->phase = 2;
	if (r == ACH_OK || r == ACH_MISSED_FRAME)
		return which == 1 && lib_message_good(buf, len) ? ACH_OK : LIB_FAILED;
	return r;
}

static int victim_body(void *arg)
{
	const struct sweep *sweep = arg;
	ach_channel_t chan;
	void *room;

	if (sweep->call != PUT_FIRST) {
		LIB_STATUS(ACH_OK, ach_open(&chan, model->name, NULL));
		LIB_STATUS(ACH_OK,
			   ach_put(&test.side, test.message, 1)); /* what happens once per thread is behind us */
	}
	if (sweep->call == PUT_NESTED)
		LIB_STATUS(ACH_OK, ach_reserve(&test.side, 1, &room));
	if (sweep->call >= GET_WAIT) {
		ach_flush(&test.side);
		ach_flush(&chan);
	}
	return sweep->call >= GET_WAIT ? victim_get(&chan, sweep)
				       : victim_put(sweep->call == PUT_FIRST ? &test.inherited : &chan, sweep);
}

static void victim_stopped(int status)
{
	char what[80];

	snprintf(what, sizeof what, "the victim got status %#x", (unsigned)status);
	if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
		TEST_FAIL_MESSAGE(what);
}

/* One instruction.  False: it is a system call in which the victim sleeps. */
static bool victim_step(bool may_sleep)
{
	int status, looks = 0;

	TEST_ASSERT_EQUAL_MESSAGE(0, ptrace(PTRACE_SINGLESTEP, test.victim, NULL, NULL), "single step");
	if (!may_sleep) {
		TEST_ASSERT_EQUAL(test.victim, waitpid(test.victim, &status, 0));
		victim_stopped(status);
		return true;
	}
	for (int n = 0;; n++) {
		pid_t r = waitpid(test.victim, &status, WNOHANG);

		if (r) {
			TEST_ASSERT_EQUAL(test.victim, r);
			victim_stopped(status);
			return true;
		}
		if (n < 30) {
			sched_yield();
			continue;
		}
		/* Twice, so that a sleep on the way (a page that must be made) is not taken for it. */
		looks = lib_run_state(test.victim) == 'S' ? looks + 1 : 0;
		if (looks == 2)
			return false;
		usleep(300);
	}
}

static void victim_wait_stop(void)
{
	int status;

	TEST_ASSERT_EQUAL(test.victim, waitpid(test.victim, &status, 0));
	victim_stopped(status);
}

static void victim_start(const struct sweep *sweep)
{
	int status;

	model->phase = 0;
	lib_message_make(test.message, sweep->len, VICTIM, ++test.number);
	test.victim = lib_child(victim_body, (void *)(uintptr_t)sweep);
	TEST_ASSERT_EQUAL(test.victim, waitpid(test.victim, &status, 0));
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_PTRACE) {
		test.victim = 0;
		TEST_IGNORE_MESSAGE("NOT TESTED: this system does not permit ptrace");
	}
	TEST_ASSERT_TRUE_MESSAGE(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP, "the victim stops before the call");
	TEST_ASSERT_EQUAL(0, ptrace(PTRACE_SETOPTIONS, test.victim, NULL, (void *)PTRACE_O_EXITKILL));
	for (int n = 0; !model->phase; n++) {
		TEST_ASSERT_TRUE_MESSAGE(n < 10000, "the victim reaches the call");
		victim_step(false);
	}
}

/* ---- a stop ---- */

static void put_by(ach_channel_t *chan, enum who who, size_t len)
{
	uint8_t buf[LEN_MAX];

	lib_message_make(buf, len, who, ++test.number);
	LIB_ASSERT_STATUS(ACH_OK, ach_put(chan, buf, len));
	model_add(who, test.number, len);
}

/* Walks k instructions into the call; false: it was over before.  *asleep: the last of them sleeps in the kernel. */
#define UNTIL_ASLEEP UINT_MAX
static bool walk(const struct sweep *sweep, unsigned k, bool *asleep, unsigned *walked)
{
	const bool may_sleep = sweep->call >= GET_WAIT;

	*asleep = false;
	for (*walked = 0; *walked < k && model->phase == 1; ++*walked) {
		if (*asleep) { /* and one more instruction is wanted: wake it */
			if (k == UNTIL_ASLEEP)
				return true;
			put_by(&test.after, AFTER, sweep->len);
			victim_wait_stop();
		}
		*asleep = !victim_step(may_sleep);
	}
	return model->phase == 1;
}

static void must_hold(void)
{
	if (!model_holds(true))
		TEST_FAIL_MESSAGE(model->complaint);
}

/* The victim's message may have appeared since we last looked, as a whole. */
static bool find_victims_message(uint64_t number, size_t len)
{
	uint8_t buf[LEN_MAX];
	ach_channel_t chan;
	size_t n;

	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, model->name, NULL));
	(void)ach_get(&chan, buf, sizeof buf, &n, NULL, ACH_O_LAST);
	n = chan.seq_num != model->newest;
	ach_close(&chan);
	if (n)
		model_add(VICTIM, number, len);
	must_hold();
	return n;
}

static void channel_make(const struct sweep *sweep)
{
	struct timespec soon = { .tv_nsec = 200000 }, at_once = { 0 };
	ach_create_attr_t attr;
	ach_attr_t short_put, no_wait;

	ach_create_attr_init(&attr);
	TEST_ASSERT_EQUAL(ACH_OK, ach_create_attr_set_mode(&attr, 0644, (gid_t)-1));
	memset(model, 0, sizeof *model);
	lib_name(model->name, "sweep");
	model->count = sweep->count;
	model->bytes = sweep->count * sweep->size;
	LIB_ASSERT_STATUS(ACH_OK, ach_create(model->name, sweep->count, sweep->size, &attr));
	ach_attr_init(&short_put);
	LIB_ASSERT_STATUS(ACH_OK, ach_attr_set_put_timeout(&short_put, &soon));
	ach_attr_init(&no_wait);
	LIB_ASSERT_STATUS(ACH_OK, ach_attr_set_put_timeout(&no_wait, &at_once));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&test.inherited, model->name, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&test.other, model->name, &short_put));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&test.after, model->name, &no_wait));
}

static void channel_unmake(void)
{
	ach_close(&test.inherited);
	ach_close(&test.other);
	ach_close(&test.after);
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(model->name));
	TEST_ASSERT_EQUAL_MESSAGE(0, lib_left(model->name), "files or memory left behind");
}

/* How often each thing happened, so that a sweep which saw nothing fails. */
struct count {
	unsigned stops, there, before, locked, free, asleep;
};

/* Answers false when the call was over before k instructions. */
static bool stop_at(const struct sweep *sweep, unsigned k, struct count *count)
{
	const bool reading = sweep->call >= GET_WAIT;
	uint64_t number;
	bool asleep, there, again;
	unsigned walked;
	enum ach_status r;
	uint8_t buf[LEN_MAX];

	if (sweep->waiter)
		lib_until_asleep(test.waiter);
	victim_start(sweep);
	number = test.number;
	if (!walk(sweep, k, &asleep, &walked)) {
		ptrace(PTRACE_DETACH, test.victim, NULL, NULL);
		TEST_ASSERT_EQUAL_MESSAGE(ACH_OK, lib_join(test.victim), "the victim's answer");
		test.victim = 0;
		if (!reading)
			TEST_ASSERT_TRUE(find_victims_message(number, sweep->len));
		return false;
	}
	count->stops++;
	count->asleep += asleep;

	/* Stopped: readers notice nothing, another writer goes on or gets ACH_TIMEOUT. */
	there = find_victims_message(number, sweep->len) || reading;
	reader_check();
	lib_message_make(buf, sweep->len / 2, OTHER, ++test.number);
	r = ach_put(&test.other, buf, sweep->len / 2);
	if (r == ACH_OK) {
		model_add(OTHER, test.number, sweep->len / 2);
		count->free++;
	} else {
		LIB_ASSERT_STATUS(ACH_TIMEOUT, r);
		LIB_ASSERT_STATUS(ACH_TIMEOUT, ach_put(&test.other, buf, sweep->len / 2));
		LIB_ASSERT_STATUS(ACH_TIMEOUT, ach_put(&test.after, buf, sweep->len / 2));
		TEST_ASSERT_FALSE_MESSAGE(reading, "a reader holds a writer up");
		count->locked++;
	}
	must_hold();

	if (sweep->resume) {
		if (asleep)
			victim_wait_stop(); /* the other's put has woken it */
		TEST_ASSERT_EQUAL(0, ptrace(PTRACE_DETACH, test.victim, NULL, NULL));
		TEST_ASSERT_EQUAL_MESSAGE(ACH_OK, lib_join(test.victim), "the victim's answer");
		test.victim = 0;
		again = there || find_victims_message(number, sweep->len);
		TEST_ASSERT_TRUE_MESSAGE(again, "a message that was put is there");
	} else {
		TEST_ASSERT_EQUAL(0, kill(test.victim, SIGKILL));
		TEST_ASSERT_EQUAL(128 + SIGKILL, lib_join(test.victim));
		test.victim = 0;
		/* or another thread with its number would one day be taken for the owner */
		TEST_ASSERT_EQUAL_HEX32_MESSAGE(0, test.after.shm->lock & FUTEX_TID_MASK, "the dead own no lock");
	}
	if (!reading && there)
		count->there++;
	else
		count->before++;

	/* Gone: the channel is as it was, and can be written at once. */
	must_hold();
	if (sweep->call == PUT_NESTED)
		LIB_ASSERT_STATUS(ACH_OK, ach_put(&test.side, buf, 1));
	put_by(&test.after, AFTER, sweep->len - sweep->len / 4);
	must_hold();
	reader_check();
	if (sweep->waiter)
		lib_gate_wait(test.seen, (int)model->newest);
	TEST_ASSERT_EQUAL_MESSAGE(2, lib_left(model->name), "one plate, one segment");
	return true;
}

/* Every instruction of the calls that write and die; every second of the others, for the sake of time. */
static unsigned next_stop(const struct sweep *sweep, unsigned k, unsigned length)
{
	unsigned dense = sweep->resume || sweep->call >= GET_WAIT ? 2 : 1;
	unsigned middle =
		SWEEP_DENSE_HEAD + SWEEP_DENSE_TAIL < length ? length - SWEEP_DENSE_HEAD - SWEEP_DENSE_TAIL : 0;
	unsigned stride = middle / SWEEP_MIDDLE + 1;

	if (k < SWEEP_DENSE_HEAD || k + stride > length - SWEEP_DENSE_TAIL || stride < dense)
		return k + dense;
	return k + stride;
}

static void sweep_run(const struct sweep *sweep)
{
	struct count count = { 0 };
	unsigned over = 0, length;
	bool asleep;

#ifdef LIB_SANITIZED
	TEST_IGNORE_MESSAGE("NOT TESTED: a sanitizer's instructions are not the library's");
#endif
#if defined(__aarch64__)
	if (!(getauxval(AT_HWCAP) & HWCAP_ATOMICS))
		TEST_IGNORE_MESSAGE("NOT TESTED: a debugger stop breaks every exclusive access of this processor");
#endif
	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(test.side_name, "side"), 2, 16, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&test.side, test.side_name, NULL));
	channel_make(sweep);
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&test.side, test.message, 1));
	lib_gate_set(test.ask, 0);
	lib_gate_set(test.answer, 0);
	lib_gate_set(test.seen, 0);
	test.reader = lib_child(reader_body, NULL);
	if (sweep->waiter)
		test.waiter = lib_child(waiter_body, NULL);

	/* How long is it?  And what a first call needs (the dynamic linker) is behind us. */
	if (!sweep->empty)
		put_by(&test.inherited, AFTER, sweep->len);
	must_hold();
	victim_start(sweep);
	TEST_ASSERT_FALSE_MESSAGE(walk(sweep, 1000000, &asleep, &length), "the call comes to an end");
	ptrace(PTRACE_DETACH, test.victim, NULL, NULL);
	TEST_ASSERT_EQUAL_MESSAGE(ACH_OK, lib_join(test.victim), "the victim's answer");
	test.victim = 0;
	if (sweep->call < GET_WAIT)
		TEST_ASSERT_TRUE(find_victims_message(test.number, sweep->len));
	TEST_ASSERT_TRUE_MESSAGE(length >= SWEEP_MIN, "the call is too short to be true");

	/* The length varies with what the waiter does meanwhile: over means three times. */
	for (unsigned k = 1; over < 3; k = next_stop(sweep, k, length)) {
		lib_watchdog(sweep->what, 2 * LIB_HANG_S);
		if (sweep->empty) {
			channel_unmake();
			channel_make(sweep);
		}
		over = stop_at(sweep, k, &count) ? 0 : over + 1;
		TEST_ASSERT_TRUE_MESSAGE(k < 3 * length + 1000, "the call comes to an end");
	}
	if (sweep->call >= GET_WAIT)
		TEST_ASSERT_TRUE_MESSAGE(stop_at(sweep, UNTIL_ASLEEP, &count), "the victim falls asleep");
	printf("swept %s: %u instructions, stopped and %s at %u of them; message there %u, not yet %u; other writer "
	       "held off %u, free %u; asleep %u\n",
	       sweep->what, length, sweep->resume ? "resumed" : "killed", count.stops, count.there, count.before,
	       count.locked, count.free, count.asleep);
	TEST_ASSERT_TRUE_MESSAGE(count.before > 0 && count.free > 0, "stops before the commit");
	if (sweep->call < GET_WAIT)
		TEST_ASSERT_TRUE_MESSAGE(count.there > 0 && count.locked > 0, "stops inside the lock, and after it");
	channel_unmake();
}

/* ---- the sweeps ---- */

#define SWEEP(name, ...)                                   \
	TEST(name)                                         \
	{                                                  \
		sweep_run(&(struct sweep){ __VA_ARGS__ }); \
	}

#define SMALL .count = 4, .size = 64, .len = 64
#define LONG .count = 1, .size = 1024, .len = 1024

SWEEP(test_put_killed, "put of 64 bytes", PUT, SMALL, .waiter = true)
SWEEP(test_put_resumed, "put of 64 bytes", PUT, SMALL, .waiter = true, .resume = true)
SWEEP(test_put_without_waiters, "put that drops by bytes, no waiters", PUT, .count = 6, .size = 25, .len = 64)
SWEEP(test_put_first_message, "put into an empty channel", PUT, .count = 2, .size = 128, .len = 64, .empty = true)
SWEEP(test_put_tight, "put into a channel of one message", PUT, .count = 1, .size = 64, .len = 64, .waiter = true)
SWEEP(test_put_long_killed, "put of 1024 bytes", PUT, LONG, .waiter = true)
SWEEP(test_put_long_resumed, "put of 1024 bytes", PUT, LONG, .waiter = true, .resume = true)
SWEEP(test_put_after_fork, "first put after fork", PUT_FIRST, SMALL, .waiter = true)
SWEEP(test_put_nested, "put inside the reservation of another channel", PUT_NESTED, .count = 2, .size = 64, .len = 64)
SWEEP(test_reserve_killed, "reserve and commit", RESERVE, SMALL, .waiter = true)
SWEEP(test_reserve_resumed, "reserve and commit", RESERVE, .count = 2, .size = 64, .len = 64, .resume = true)
SWEEP(test_get_killed, "waiting get", GET_WAIT, SMALL, .waiter = true)
SWEEP(test_get_resumed, "waiting get", GET_WAIT, SMALL, .resume = true)
SWEEP(test_get_with_deadline_killed, "get with a deadline", GET_DEADLINE, SMALL, .waiter = true)
SWEEP(test_wait_any_killed, "wait_any", GET_ANY, SMALL, .waiter = true)
SWEEP(test_fd_killed, "descriptor", GET_FD, SMALL, .waiter = true)

void setUp(void)
{
	lib_watchdog("kill sweep", LIB_HANG_S);
}

void tearDown(void)
{
	pid_t *const pids[] = { &test.victim, &test.reader, &test.waiter };

	alarm(0); /* a leak check at exit may take its time */
	for (size_t i = 0; i < sizeof pids / sizeof *pids; i++) {
		if (*pids[i]) {
			kill(*pids[i], SIGKILL);
			waitpid(*pids[i], NULL, 0);
		}
		*pids[i] = 0;
	}
}

int main(void)
{
	model = mmap(NULL, sizeof *model, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	LIB_CHECK(model != MAP_FAILED);
	test.ask = lib_gate_new();
	test.answer = lib_gate_new();
	test.seen = lib_gate_new();
	setvbuf(stdout, NULL, _IOLBF, 0);
	lib_use_one_processor();
	UNITY_BEGIN();
	testcase_run_all();
	return UNITY_END();
}
