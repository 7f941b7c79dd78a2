/* test_vt_page.c: processes on the page of a virtual clock hand the token around; the test is their coordinator.
 *
 * The coordinator sleeps until it is rung and has no time-out, so a wake-up that is lost is a test that hangs.  The
 * sweeps walk a process through a call by the debugger interface, kill it after k instructions for each k in turn, and
 * reap it: then the clock must go on. */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "channels/clock/vt_page.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

#define BEGIN 1000
#define PEERS 5
#define LOG_MAX 4096
#define NO_PTRACE 77
#define ALL (~UINT64_C(0))

/* In a peer's turn. */
enum deed { NOTHING, DIE, STOP, LEAVE, MARK };

static struct shared {
	_Atomic uint32_t n;
	struct turn {
		int64_t now_ns;
		int slot;
	} log[LOG_MAX];
	_Atomic uint32_t turns[PEERS];
	_Atomic int running; /* the slot that works, or 0 */
	_Atomic int phase;   /* of the victim: 1 inside the call, 2 behind it */
	struct peer {
		int64_t period_ns;
		enum deed deed;
		uint32_t at; /* its so-manieth turn */
		uint64_t marks;
	} peer[PEERS];
} * shared;

static char folder[64], path[80];
static struct vt_end co;
static pid_t pids[PEERS];

void setUp(void)
{
	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
	snprintf(folder, sizeof(folder), "%s/vt.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	TEST_ASSERT_NOT_NULL(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/clock", folder);
	TEST_ASSERT_EQUAL_INT(0, vt_page_create(path, BEGIN));
	TEST_ASSERT_EQUAL_INT(0, vt_page_join(&co, path, VT_COORDINATOR));
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	TEST_ASSERT_TRUE(shared != MAP_FAILED);
}

void tearDown(void)
{
	char bell[96];

	for (int i = 0; i < PEERS; i++) {
		if (pids[i])
			lib_kill(pids[i]);
		pids[i] = 0;
	}
	munmap(co.page, sizeof(*co.page));
	close(co.bell);
	munmap(shared, sizeof(*shared));
	snprintf(bell, sizeof(bell), "%s.bell", path);
	unlink(bell);
	unlink(path);
	rmdir(folder);
}

/* ---- the participants ---- */

static void take(struct vt_end *end, int64_t *last_ns)
{
	const int64_t now_ns = vt_page_core(end->page)->now_ns;
	uint32_t n;

	LIB_CHECK(atomic_exchange(&shared->running, end->me) == 0); /* no other process runs */
	LIB_CHECK(now_ns >= *last_ns);				    /* time never goes back */
	LIB_CHECK(now_ns >= atomic_load(&end->page->floor_ns[end->me]));
	*last_ns = now_ns;
	n = atomic_load(&shared->n);
	shared->log[n % LOG_MAX] = (struct turn){ now_ns, end->me };
	atomic_store(&shared->n, n + 1);
	atomic_fetch_add(&shared->turns[end->me], 1);
}

static void give(struct vt_end *end)
{
	atomic_store(&shared->running, 0);
	vt_page_pass(end);
}

static int peer_body(void *arg)
{
	const int slot = (int)(intptr_t)arg;
	const struct peer *peer = &shared->peer[slot];
	int64_t last_ns = 0;
	struct vt_end end;

	LIB_CHECK(!vt_page_join(&end, path, slot));
	for (;;) {
		LIB_CHECK(vt_page_await(&end, 0));
		take(&end, &last_ns);
		alarm(0); /* asleep for as long as the test wants */
		atomic_store(&end.page->deadline_ns[slot], peer->period_ns ? last_ns + peer->period_ns : VT_NEVER);
		if (peer->at == atomic_load(&shared->turns[slot]))
			switch (peer->deed) {
			case DIE:
				raise(SIGKILL);
				break;
			case STOP:
				raise(SIGSTOP);
				break;
			case LEAVE:
				atomic_store(&shared->running, 0);
				vt_page_leave(&end);
				return 0;
			case MARK:
				vt_page_mark(&end, peer->marks);
				break;
			case NOTHING:
				break;
			}
		give(&end);
	}
	return 0;
}

/* With the token: a participant that is on the page from now on. */
static void start_after(int slot, struct peer peer, int64_t startup_ns)
{
	shared->peer[slot] = peer;
	vt_page_expect(&co, slot, "peer", startup_ns);
	pids[slot] = lib_child(peer_body, (void *)(intptr_t)slot);
}

static void start(int slot, int64_t period_ns)
{
	start_after(slot, (struct peer){ .period_ns = period_ns }, 0);
}

/* ---- the coordinator ---- */

static void await_bell(void)
{
	struct pollfd bell = { .fd = co.bell, .events = POLLIN };
	char drain[64];

	while (poll(&bell, 1, -1) < 0)
		;
	while (read(co.bell, drain, sizeof(drain)) > 0)
		;
}

static void await_token(void)
{
	while (!vt_page_is_ours(&co))
		await_bell();
	TEST_ASSERT_EQUAL_INT(0, atomic_load(&shared->running));
}

static void let_go(int64_t limit_ns)
{
	atomic_store(&co.page->limit_ns, limit_ns);
	vt_page_pass(&co);
}

static void run_until(int64_t limit_ns)
{
	let_go(limit_ns);
	await_token();
	TEST_ASSERT_TRUE(vt_page_core(co.page)->now_ns <= limit_ns);
	TEST_ASSERT_TRUE(vt_page_at_rest(&co));
}

static void kill_and_reap(int slot)
{
	int own = slot;

	lib_kill(pids[slot]);
	pids[slot] = 0;
	atomic_compare_exchange_strong(&shared->running, &own, 0);
	vt_page_reap(&co, slot);
}

static void expect_turns(size_t n, const struct turn *turns)
{
	char what[64];

	for (size_t i = 0; i < n && i < shared->n; i++) {
		snprintf(what, sizeof(what), "turn %zu: slot %d at %lld", i, shared->log[i].slot,
			 (long long)shared->log[i].now_ns);
		TEST_ASSERT_EQUAL_INT64_MESSAGE(turns[i].now_ns, shared->log[i].now_ns, what);
		TEST_ASSERT_EQUAL_INT_MESSAGE(turns[i].slot, shared->log[i].slot, what);
	}
	TEST_ASSERT_EQUAL_UINT32(n, shared->n);
	atomic_store(&shared->n, 0);
}

#define EXPECT_TURNS(...)                                                     \
	do {                                                                  \
		static const struct turn expected[] = { __VA_ARGS__ };        \
		expect_turns(sizeof(expected) / sizeof(*expected), expected); \
	} while (0)

/* ---- turns ---- */

TEST(test_token_goes_by_deadline_and_rank)
{
	start(3, 30);
	start(1, 10);
	start(2, 20);
	run_until(1060);
	EXPECT_TURNS({ 1000, 1 }, { 1000, 2 }, { 1000, 3 }, { 1010, 1 }, { 1020, 1 }, { 1020, 2 }, { 1030, 1 },
		     { 1030, 3 }, { 1040, 1 }, { 1040, 2 }, { 1050, 1 }, { 1060, 1 }, { 1060, 2 }, { 1060, 3 });
	TEST_ASSERT_EQUAL_UINT64(14, vt_page_core(co.page)->turns);
	TEST_ASSERT_EQUAL_UINT64(6, vt_page_core(co.page)->instants);
}

TEST(test_one_alone_keeps_the_token)
{
	start(1, 1);
	run_until(BEGIN + 1000);
	TEST_ASSERT_EQUAL_UINT32(1001, shared->turns[1]);
	/* None of these turns but the first was given by another process. */
	TEST_ASSERT_TRUE(atomic_load(&co.page->slot[1].grant) <= 1);
}

TEST(test_marked_runs_at_the_same_instant)
{
	start_after(2,
		    (struct peer){ .period_ns = 10, .deed = MARK, .at = 2, .marks = vt_bit(1) | vt_bit(3) | vt_bit(0) },
		    0);
	start(1, 0);
	start(3, 0);
	run_until(1020);
	EXPECT_TURNS({ 1000, 1 }, { 1000, 2 }, { 1000, 3 }, { 1010, 2 }, { 1010, 1 }, { 1010, 3 }, { 1020, 2 });
	TEST_ASSERT_EQUAL_HEX64(0, atomic_load(&co.page->dirty)); /* and slot 0 never is */
}

TEST(test_limit_0_asks_for_the_next_rest)
{
	start(1, 10);
	let_go(VT_NEVER);
	for (int i = 0; i < 100; i++) {
		atomic_store(&co.page->limit_ns, 0);
		await_token();
		TEST_ASSERT_TRUE(vt_page_at_rest(&co));
		let_go(VT_NEVER);
	}
}

/* ---- starts and ends ---- */

TEST(test_join_after_the_startup_time)
{
	start(1, 10);
	run_until(1010);
	start_after(2, (struct peer){ .period_ns = 10 }, 5);
	vt_page_mark(&co, vt_bit(2)); /* a message for it does not make it faster */
	run_until(1030);
	EXPECT_TURNS({ 1000, 1 }, { 1010, 1 }, { 1015, 2 }, { 1020, 1 }, { 1025, 2 }, { 1030, 1 });
	TEST_ASSERT_EQUAL_UINT32((uint32_t)pids[2], atomic_load(&co.page->slot[2].pid));
	TEST_ASSERT_EQUAL_UINT32(1, atomic_load(&co.page->slot[2].incarnation));
}

/* Its slot is live from the instant at which it is expected: time does not pass it by, however late it joins. */
TEST(test_time_waits_for_a_process_that_starts)
{
	start(1, 10);
	shared->peer[2].period_ns = 100;
	vt_page_expect(&co, 2, "late", 15);
	let_go(1050);
	while (atomic_load(&shared->turns[1]) < 2)
		sched_yield();
	for (int i = 0; i < 1000; i++)
		sched_yield();
	TEST_ASSERT_FALSE(vt_page_is_ours(&co));
	TEST_ASSERT_EQUAL_INT64(1015, vt_page_core(co.page)->now_ns);
	pids[2] = lib_child(peer_body, (void *)(intptr_t)2);
	await_token();
	EXPECT_TURNS({ 1000, 1 }, { 1010, 1 }, { 1015, 2 }, { 1020, 1 }, { 1030, 1 }, { 1040, 1 }, { 1050, 1 });
}

TEST(test_forget_what_was_not_started)
{
	start(1, 10);
	vt_page_expect(&co, 2, "missing", 5);
	vt_page_forget(&co, 2);
	run_until(1020);
	EXPECT_TURNS({ 1000, 1 }, { 1010, 1 }, { 1020, 1 });
}

TEST(test_leave)
{
	start(1, 10);
	start_after(2, (struct peer){ .period_ns = 10, .deed = LEAVE, .at = 2 }, 0);
	start(3, 0);
	run_until(1030);
	/* All look when one has left. */
	EXPECT_TURNS({ 1000, 1 }, { 1000, 2 }, { 1000, 3 }, { 1010, 1 }, { 1010, 2 }, { 1010, 1 }, { 1010, 3 },
		     { 1020, 1 }, { 1030, 1 });
	TEST_ASSERT_EQUAL_INT(0, lib_join(pids[2]));
	pids[2] = 0;
	TEST_ASSERT_EQUAL_HEX64(vt_bit(0) | vt_bit(1) | vt_bit(3), atomic_load(&co.page->live));
	TEST_ASSERT_EQUAL_HEX64(0, atomic_load(&co.page->dirty) & atomic_load(&co.page->live));
}

TEST(test_the_last_one_leaves)
{
	start_after(1, (struct peer){ .deed = LEAVE, .at = 1 }, 0);
	let_go(VT_NEVER);
	await_token();
	TEST_ASSERT_EQUAL_INT(0, lib_join(pids[1]));
	pids[1] = 0;
	TEST_ASSERT_EQUAL_HEX64(vt_bit(0), atomic_load(&co.page->live));
}

TEST(test_holder_dies)
{
	start_after(1, (struct peer){ .period_ns = 10, .deed = DIE, .at = 3 }, 0);
	start(2, 10);
	start(3, 0); /* looks when one has died */
	let_go(1030);
	lib_until_ended(pids[1]);
	TEST_ASSERT_FALSE(vt_page_is_ours(&co));
	kill_and_reap(1);
	TEST_ASSERT_TRUE(vt_page_is_ours(&co));
	TEST_ASSERT_EQUAL_INT64(1020, vt_page_core(co.page)->now_ns);
	run_until(1030);
	EXPECT_TURNS({ 1000, 1 }, { 1000, 2 }, { 1000, 3 }, { 1010, 1 }, { 1010, 2 }, { 1020, 1 }, { 1020, 2 },
		     { 1020, 3 }, { 1030, 2 });
}

TEST(test_chosen_but_dead)
{
	start(1, 10);
	start(2, 10);
	run_until(1000);
	lib_kill(pids[1]);
	let_go(1010); /* to the dead */
	TEST_ASSERT_FALSE(vt_page_is_ours(&co));
	vt_page_reap(&co, 1);
	pids[1] = 0;
	TEST_ASSERT_TRUE(vt_page_is_ours(&co));
	run_until(1020);
	EXPECT_TURNS({ 1000, 1 }, { 1000, 2 }, { 1010, 2 }, { 1020, 2 });
}

/* The slot is used again, by another process. */
TEST(test_restart)
{
	start(2, 10);
	for (int i = 0; i < 50; i++) {
		start_after(1, (struct peer){ .period_ns = 10, .deed = i % 3 ? NOTHING : DIE, .at = 2 }, 3);
		shared->turns[1] = 0;
		let_go(vt_page_core(co.page)->now_ns + 20);
		if (i % 3)
			await_token();
		else
			lib_until_ended(pids[1]);
		kill_and_reap(1);
		await_token();
		TEST_ASSERT_TRUE(shared->turns[1] >= 1);
		TEST_ASSERT_EQUAL_UINT32((uint32_t)i + 1, atomic_load(&co.page->slot[1].incarnation));
	}
}

/* ---- stops ---- */

TEST(test_revoke_from_a_stopped_process)
{
	start(1, 10);
	start(2, 10);
	run_until(1000);
	lib_until_asleep(pids[1]);
	lib_stop(pids[1]);
	TEST_ASSERT_FALSE(vt_page_revoke(&co, 1)); /* it has no token */
	let_go(1030);
	TEST_ASSERT_FALSE(vt_page_is_ours(&co));
	TEST_ASSERT_FALSE(vt_page_revoke(&co, 2));
	TEST_ASSERT_TRUE(vt_page_revoke(&co, 1));
	TEST_ASSERT_TRUE(vt_page_is_ours(&co));
	TEST_ASSERT_EQUAL_HEX64(vt_bit(1), atomic_load(&co.page->held));
	run_until(1030); /* left behind */
	EXPECT_TURNS({ 1000, 1 }, { 1000, 2 }, { 1010, 2 }, { 1020, 2 }, { 1030, 2 });
	/* It goes on: its deadline has passed. */
	atomic_store(&co.page->held, 0);
	kill(pids[1], SIGCONT);
	run_until(1040);
	EXPECT_TURNS({ 1030, 1 }, { 1040, 1 }, { 1040, 2 });
}

/* Stopped inside its turn it holds the clock. */
TEST(test_no_revoke_from_a_process_that_works)
{
	start_after(1, (struct peer){ .period_ns = 10, .deed = STOP, .at = 2 }, 0);
	start(2, 10);
	let_go(1020);
	lib_until_stopped(pids[1]);
	TEST_ASSERT_FALSE(vt_page_revoke(&co, 1));
	TEST_ASSERT_FALSE(vt_page_is_ours(&co));
	TEST_ASSERT_EQUAL_HEX64(0, atomic_load(&co.page->held));
	kill(pids[1], SIGCONT);
	await_token();
	EXPECT_TURNS({ 1000, 1 }, { 1000, 2 }, { 1010, 1 }, { 1010, 2 }, { 1020, 1 }, { 1020, 2 });
}

TEST(test_a_held_process_dies)
{
	start(1, 10);
	start(2, 10);
	run_until(1000);
	lib_until_asleep(pids[1]);
	lib_stop(pids[1]);
	let_go(1010);
	TEST_ASSERT_TRUE(vt_page_revoke(&co, 1));
	kill_and_reap(1);
	TEST_ASSERT_EQUAL_HEX64(0, atomic_load(&co.page->held));
	run_until(1010);
	start_after(1, (struct peer){ .period_ns = 10 }, 0);
	run_until(1020);
	EXPECT_TURNS({ 1000, 1 }, { 1000, 2 }, { 1010, 2 }, { 1010, 1 }, { 1020, 1 }, { 1020, 2 });
}

TEST(test_await_with_a_time_out)
{
	struct vt_end end;

	vt_page_expect(&co, 1, "patient", 0);
	TEST_ASSERT_EQUAL_INT(0, vt_page_join(&end, path, 1));
	TEST_ASSERT_FALSE(vt_page_await(&end, 1000));
	let_go(VT_NEVER);
	TEST_ASSERT_TRUE(vt_page_await(&end, 1000));
	munmap(end.page, sizeof(*end.page));
	close(end.bell);
}

/* ---- objects ---- */

struct said {
	const char *name;
	int64_t t_ns;
	const char *text;
};

static uint64_t hash_of(size_t n, const struct said *said)
{
	vt_page_create(path, BEGIN);
	munmap(co.page, sizeof(*co.page));
	close(co.bell);
	TEST_ASSERT_EQUAL_INT(0, vt_page_join(&co, path, VT_COORDINATOR));
	for (size_t i = 0; i < n; i++) {
		struct vt_object *object = vt_page_object(co.page, said[i].name);

		TEST_ASSERT_NOT_NULL(object);
		if (said[i].text)
			vt_page_hash(object, said[i].t_ns, said[i].text, strlen(said[i].text));
	}
	return vt_page_hash_all(co.page);
}

#define HASH(...) hash_of(sizeof((struct said[]){ __VA_ARGS__ }) / sizeof(struct said), (struct said[]){ __VA_ARGS__ })

TEST(test_hash_is_of_what_was_said)
{
	const uint64_t hash = HASH({ "a", 1, "one" }, { "b", 2, "two" }, { "a", 3, "three" });
	const uint64_t others[] = {
		HASH({ "a", 1, "one" }, { "b", 2, "two" }, { "a", 3, "threE" }), /* contents */
		HASH({ "a", 1, "one" }, { "b", 2, "two" }, { "a", 4, "three" }), /* stamp */
		HASH({ "a", 1, "one" }, { "b", 2, "two" }, { "c", 3, "three" }), /* name */
		HASH({ "a", 1, "one" }, { "b", 2, "two" }),			 /* count */
		HASH({ "a", 1, "one" }, { "b", 2, "two" }, { "a", 3, "three" }, { "a", 3, "three" }),
		HASH({ "a", 1, "one" }, { "b", 2, "two" }, { "a", 3, "three" }, { "a", 3, "" }),
		HASH({ "a", 3, "three" }, { "b", 2, "two" }, { "a", 1, "one" }), /* order in one object */
		HASH({ "b", 1, "one" }, { "a", 2, "two" }, { "b", 3, "three" }), /* in the other */
		HASH({ "a", 1, "one" }, { "b", 2, "two" }, { "a", 3, "three" }, { "c", 0, NULL }),
		HASH({ "a", 1, "on" }, { "b", 2, "two" }, { "a", 3, "three" }),
		HASH({ "a", 1, "one-and-more" }, { "b", 2, "two" }, { "a", 3, "three" }),
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		TEST_ASSERT_NOT_EQUAL_UINT64(hash, others[i]);
		for (size_t k = 0; k < i; k++)
			TEST_ASSERT_NOT_EQUAL_UINT64(others[i], others[k]);
	}
	TEST_ASSERT_EQUAL_HEX64(hash, HASH({ "a", 1, "one" }, { "b", 2, "two" }, { "a", 3, "three" }));
}

TEST(test_hash_whatever_the_order_of_objects)
{
	const uint64_t hash = HASH({ "a", 1, "one" }, { "b", 2, "two" }, { "a", 3, "three" });

	TEST_ASSERT_EQUAL_HEX64(hash, HASH({ "b", 2, "two" }, { "a", 1, "one" }, { "a", 3, "three" }));
	TEST_ASSERT_EQUAL_HEX64(hash,
				HASH({ "b", 0, NULL }, { "a", 1, "one" }, { "a", 3, "three" }, { "b", 2, "two" }));
}

TEST(test_hash_of_every_length)
{
	char text[40] = { 0 };
	uint64_t seen[sizeof(text)];

	for (size_t len = 0; len < sizeof(text); len++) {
		struct vt_object object = { .hash = 0 };

		vt_page_hash(&object, 7, text, len); /* zeros: only the length differs */
		seen[len] = object.hash;
		for (size_t k = 0; k < len; k++)
			TEST_ASSERT_NOT_EQUAL_UINT64(seen[k], seen[len]);
		for (size_t k = 0; k < len; k++) {
			struct vt_object other = { .hash = 0 };

			text[k] = 1;
			vt_page_hash(&other, 7, text, len);
			text[k] = 0;
			TEST_ASSERT_NOT_EQUAL_UINT64(object.hash, other.hash);
		}
	}
}

TEST(test_objects_are_found_by_name)
{
	char name[2 * VT_NAME_MAX];
	struct vt_object *first = vt_page_object(co.page, "first");

	for (int i = 1; i < VT_OBJECTS; i++) {
		snprintf(name, sizeof(name), "object-%d", i);
		TEST_ASSERT_NOT_NULL(vt_page_object(co.page, name));
	}
	TEST_ASSERT_NULL(vt_page_object(co.page, "one too many"));
	TEST_ASSERT_EQUAL_PTR(first, vt_page_object(co.page, "first"));
	TEST_ASSERT_EQUAL_PTR(first + 200, vt_page_object(co.page, "object-200"));
}

TEST(test_long_names_of_objects)
{
	char name[2 * VT_NAME_MAX];

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = 0;
	TEST_ASSERT_EQUAL_PTR(vt_page_object(co.page, name), vt_page_object(co.page, name));
	TEST_ASSERT_EQUAL_UINT32(1, atomic_load(&co.page->objects_n));
}

/* ---- the file ---- */

TEST(test_files_that_are_not_a_page)
{
	char other[96];
	struct vt_end end;
	int fd;

	snprintf(other, sizeof(other), "%s/other", folder);
	TEST_ASSERT_NULL(vt_page_open(other, true));
	TEST_ASSERT_EQUAL_INT(ENOENT, errno);
	TEST_ASSERT_EQUAL_INT(-ENOENT, vt_page_join(&end, other, 1));
	fd = open(other, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	TEST_ASSERT_NULL(vt_page_open(other, true)); /* of another size */
	TEST_ASSERT_EQUAL_INT(EPROTO, errno);
	TEST_ASSERT_EQUAL_INT(0, ftruncate(fd, sizeof(struct vt_page)));
	TEST_ASSERT_NULL(vt_page_open(other, false)); /* without its mark */
	TEST_ASSERT_EQUAL_INT(EPROTO, errno);
	close(fd);
	unlink(other);
	TEST_ASSERT_EQUAL_INT(-ENOENT, vt_page_create("/nowhere/clock", 0));
}

/* ---- killed at every instruction ---- */

enum call { PASS, PASS_TO_DEAD, AWAIT_GRANTED, AWAIT_ASLEEP, AWAIT_MEANWHILE, MARK_ALL, JOIN, LEAVING };

#define VICTIM 1
#define PEER 2
#define CHOSEN 3 /* dies while the victim hands over to it */

static void ptrace_me(void)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(NO_PTRACE);
	raise(SIGSTOP);
}

static int victim_body(void *arg)
{
	const enum call call = (enum call)(intptr_t)arg;
	int64_t last_ns = 0;
	struct vt_end end;

	if (call == JOIN)
		ptrace_me();
	shared->phase = call == JOIN;
	LIB_CHECK(!vt_page_join(&end, path, VICTIM));
	shared->phase = call == JOIN ? 2 : 0;
	if (call == AWAIT_ASLEEP || call == AWAIT_GRANTED || call == AWAIT_MEANWHILE) {
		ptrace_me();
		shared->phase = 1;
		LIB_CHECK(vt_page_await(&end, 0));
		shared->phase = 2;
	} else {
		LIB_CHECK(vt_page_await(&end, 0));
	}
	take(&end, &last_ns);
	atomic_store(&end.page->deadline_ns[VICTIM], last_ns + 7);
	if (call == PASS || call == PASS_TO_DEAD) {
		if (call == PASS_TO_DEAD)
			vt_page_mark(&end, vt_bit(CHOSEN));
		ptrace_me();
		atomic_store(&shared->running, 0);
		shared->phase = 1;
		vt_page_pass(&end);
		shared->phase = 2;
	} else if (call == MARK_ALL) {
		ptrace_me();
		shared->phase = 1;
		vt_page_mark(&end, ALL);
		shared->phase = 2;
		give(&end);
	} else if (call == LEAVING) {
		ptrace_me();
		atomic_store(&shared->running, 0);
		shared->phase = 1;
		vt_page_leave(&end);
		shared->phase = 2;
		return 0;
	} else {
		give(&end);
	}
	for (;;) {
		LIB_CHECK(vt_page_await(&end, 0));
		take(&end, &last_ns);
		atomic_store(&end.page->deadline_ns[VICTIM], last_ns + 7);
		give(&end);
	}
	return 0;
}

static void check_stop(int status)
{
	char what[80];

	snprintf(what, sizeof(what), "the victim got status %#x", (unsigned)status);
	TEST_ASSERT_TRUE_MESSAGE(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP, what);
}

/* One instruction.  False: it is a system call in which the victim sleeps. */
static bool step(bool may_sleep)
{
	const pid_t victim = pids[VICTIM];
	int status, looks = 0;

	TEST_ASSERT_EQUAL_MESSAGE(0, ptrace(PTRACE_SINGLESTEP, victim, NULL, NULL), "single step");
	for (int n = 0; looks < 2; n++) {
		const pid_t r = waitpid(victim, &status, may_sleep ? WNOHANG : 0);

		if (r) {
			TEST_ASSERT_EQUAL(victim, r);
			check_stop(status);
			return true;
		}
		if (n < 30)
			sched_yield();
		else
			looks = lib_run_state(victim) == 'S' ? looks + 1 : 0; /* twice: it may be a sleep on the way */
	}
	return false;
}

static void await_stop(void)
{
	int status;

	TEST_ASSERT_EQUAL(pids[VICTIM], waitpid(pids[VICTIM], &status, 0));
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_PTRACE) {
		pids[VICTIM] = 0;
		TEST_IGNORE_MESSAGE("NOT TESTED: this system does not permit ptrace");
	}
	TEST_ASSERT_TRUE_MESSAGE(WIFSTOPPED(status), "the victim stops before the call");
}

/* The victim is there, stopped at the first instruction of the call; the coordinator had the token. */
static void start_victim(enum call call)
{
	vt_page_expect(&co, VICTIM, "victim", 0);
	pids[VICTIM] = lib_child(victim_body, (void *)(intptr_t)call);
	if (call != AWAIT_GRANTED && call != AWAIT_ASLEEP && call != AWAIT_MEANWHILE && call != JOIN)
		let_go(vt_page_core(co.page)->now_ns);
	await_stop();
	if (call == AWAIT_GRANTED)
		let_go(vt_page_core(co.page)->now_ns);
	TEST_ASSERT_EQUAL(0, ptrace(PTRACE_SETOPTIONS, pids[VICTIM], NULL, (void *)PTRACE_O_EXITKILL));
	for (int n = 0; !shared->phase; n++) {
		TEST_ASSERT_TRUE_MESSAGE(n < 10000, "the victim reaches the call");
		step(false);
	}
}

/* The clock goes on: the peer gets three more turns, at three more instants. */
static void must_go_on(void)
{
	const uint32_t turns = atomic_load(&shared->turns[PEER]);

	await_token();
	while (atomic_load(&shared->turns[PEER]) < turns + 3)
		run_until(vt_page_core(co.page)->now_ns + 10);
}

/* Kills the victim after k instructions; false: the call was over before. */
static bool kill_at(enum call call, unsigned k)
{
	bool inside, asleep = false;

	start_victim(call);
	for (unsigned n = 0; n < k && shared->phase == 1; n++) {
		if (asleep) {
			let_go(vt_page_core(co.page)->now_ns); /* its turn */
			await_stop();
		}
		asleep = !step(call == AWAIT_ASLEEP || call == AWAIT_MEANWHILE);
	}
	inside = shared->phase == 1;
	if (call == AWAIT_MEANWHILE && inside && vt_page_is_ours(&co)) {
		/* The victim lives; the token comes at this step, and it must notice. */
		let_go(vt_page_core(co.page)->now_ns);
		if (asleep)
			await_stop();
		TEST_ASSERT_EQUAL(0, ptrace(PTRACE_DETACH, pids[VICTIM], NULL, NULL));
		must_go_on();
	}
	if (call == PASS_TO_DEAD) {
		/* The victim lives; it is another process that is reaped at this step. */
		kill_and_reap(CHOSEN);
		TEST_ASSERT_EQUAL(0, ptrace(PTRACE_DETACH, pids[VICTIM], NULL, NULL));
		must_go_on();
		start(CHOSEN, 0);
		run_until(vt_page_core(co.page)->now_ns);
	}
	kill_and_reap(VICTIM);
	must_go_on();
	return inside;
}

static void sweep(const char *what, enum call call, unsigned least)
{
	unsigned k = 1;

#ifdef LIB_SANITIZED
	TEST_IGNORE_MESSAGE("NOT TESTED: a sanitizer's instructions are not the library's");
#endif
#if defined(__aarch64__)
	if (!(getauxval(AT_HWCAP) & HWCAP_ATOMICS))
		TEST_IGNORE_MESSAGE("NOT TESTED: a debugger stop breaks every exclusive access of this processor");
#endif
	start(PEER, 5);
	if (call == PASS_TO_DEAD)
		start(CHOSEN, 0);
	run_until(BEGIN + 10);
	vt_page_ring(&co); /* what a first call needs, the dynamic linker, is behind us */
	while (kill_at(call, k)) {
		lib_watchdog(what, LIB_HANG_S);
		k++;
	}
	printf("swept %s: killed after each of %u instructions\n", what, k);
	TEST_ASSERT_TRUE_MESSAGE(k >= least, "the call is too short to be true");
}

TEST(test_killed_in_pass)
{
	sweep("pass", PASS, 100);
}

TEST(test_next_is_reaped_during_pass)
{
	sweep("pass to a process that is reaped", PASS_TO_DEAD, 100);
}

TEST(test_killed_in_await_with_the_token)
{
	sweep("await", AWAIT_GRANTED, 10);
}

TEST(test_killed_in_await_asleep)
{
	sweep("await, asleep", AWAIT_ASLEEP, 20);
}

TEST(test_token_comes_during_await)
{
	sweep("await, into which the token comes", AWAIT_MEANWHILE, 20);
}

TEST(test_killed_in_mark)
{
	sweep("mark", MARK_ALL, 3);
}

TEST(test_killed_in_join)
{
	sweep("join", JOIN, 100);
}

TEST(test_killed_in_leave)
{
	sweep("leave", LEAVING, 100);
}

/* ---- killed at random ---- */

static bool has_ended(pid_t pid)
{
	siginfo_t info = { .si_pid = 0 };

	return !waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid == pid;
}

/* Three processes that mark each other; one is killed or stopped for a while now and then, at whatever it does. */
TEST(test_killed_and_stopped_at_random)
{
	uint64_t state = 20261116;
	int deaths = 0;

	for (int i = 1; i <= 3; i++)
		start_after(i, (struct peer){ i * 3, MARK, 2, vt_bit(1 + i % 3) }, 0);
	while (deaths < 300) {
		const int slot = 1 + (int)(lib_random(&state) % 3);
		const uint32_t turns = atomic_load(&shared->turns[1 + slot % 3]);

		lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
		let_go(VT_NEVER);
		for (uint64_t n = lib_random(&state) % 2000; n; n--)
			__asm__ volatile("");
		if (lib_random(&state) % 2)
			while (atomic_load(&shared->turns[1 + slot % 3]) < turns + 2)
				sched_yield();
		kill(pids[slot], SIGKILL);
		while (!has_ended(pids[slot]))
			sched_yield();
		kill_and_reap(slot);
		deaths++;
		atomic_store(&co.page->limit_ns, 0); /* the next rest is ours */
		await_token();
		start_after(slot, (struct peer){ slot * 3, MARK, 2, vt_bit(1 + slot % 3) }, 2);
	}
	TEST_ASSERT_TRUE(atomic_load(&shared->n) > 300);
}
