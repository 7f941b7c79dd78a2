/* test_create_race.c: many processes create, open and remove channels of one name at the same time.
 *
 * A channel appears complete or not at all, exactly one creator wins, and a creator that is killed on the way leaves
 * nothing that hinders the next: at most memory and files that the next clean-up takes with it.
 *
 *	RACE_SECONDS	how long each of the two crowds works; 2 unless set, 1 with sanitizers
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "channels/ach/ach_file.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

#define SECONDS_DEFAULT LIB_SECONDS(2)
#define CREATORS 6
#define WINS 200 /* rounds for one winner each */
#define KILLS_MIN 300
#define OPENS_MIN 200
#define NO_PTRACE 77
#define COUNT 3
#define SIZE 200

enum role { CREATOR, CREATOR_TOO, REMOVER, OPENER, OPENER_TOO, OPENER_OF_LAST, REPLACER, ROLES };

static struct shared {
	_Atomic unsigned created, removed, replaced, opened, missing;
	_Atomic int answers[CREATORS], ready;
	_Atomic bool stop;
	volatile int phase; /* of a traced child: 1 inside the call, 2 behind it */
} * shared;

static struct {
	char name[LIB_NAME_LEN];
	struct lib_gate *start, *ready;
	pid_t pids[ROLES + CREATORS];
} test;

/* What is under the name is a whole channel: it takes a message of any length and gives it back. */
static void use(ach_channel_t *chan, bool last)
{
	uint8_t buf[COUNT * SIZE];
	size_t len;
	enum ach_status r;

	lib_message_make(buf, sizeof buf, (uint32_t)getpid(), 1);
	LIB_STATUS(ACH_OK, ach_put(chan, buf, sizeof buf));
	r = ach_get(chan, buf, sizeof buf, &len, NULL, last ? ACH_O_LAST : 0);
	LIB_CHECK(r == ACH_OK || r == ACH_MISSED_FRAME);
	LIB_CHECK(len == sizeof buf && lib_message_good(buf, len));
}

/* ---- one winner ---- */

static int creator_body(void *arg)
{
	int id = *(int *)arg;

	for (int round = 1; round <= WINS; round++) {
		lib_watchdog("creator", LIB_HANG_S);
		lib_gate_wait(test.start, round);
		shared->answers[id] = ach_create(test.name, COUNT, SIZE, NULL);
		if (++shared->ready == round * CREATORS) /* the last of them */
			lib_gate_set(test.ready, round);
	}
	return 0;
}

TEST(test_exactly_one_creator_wins)
{
	static int ids[CREATORS];

	for (int i = 0; i < CREATORS; i++) {
		ids[i] = i;
		test.pids[i] = lib_child(creator_body, &ids[i]);
	}
	for (int round = 1; round <= WINS; round++) {
		unsigned won = 0, lost = 0;
		ach_channel_t chan;

		lib_watchdog("one winner", LIB_HANG_S);
		lib_gate_set(test.start, round);
		lib_gate_wait(test.ready, round);
		for (int i = 0; i < CREATORS; i++) {
			won += shared->answers[i] == ACH_OK;
			lost += shared->answers[i] == ACH_EEXIST;
		}
		TEST_ASSERT_EQUAL_MESSAGE(1, won, "winners");
		TEST_ASSERT_EQUAL_MESSAGE(CREATORS - 1, lost, "the others get ACH_EEXIST");
		TEST_ASSERT_EQUAL_MESSAGE(2, lib_left(test.name), "one plate, one segment");
		LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, test.name, NULL));
		use(&chan, false);
		ach_close(&chan);
		LIB_ASSERT_STATUS(ACH_OK, ach_unlink(test.name));
		TEST_ASSERT_EQUAL_MESSAGE(0, lib_left(test.name), "files or memory left behind");
	}
	for (int i = 0; i < CREATORS; i++) {
		TEST_ASSERT_EQUAL(0, lib_join(test.pids[i]));
		test.pids[i] = 0;
	}
}

/* ---- the crowd ---- */

static void open_and_use(bool last)
{
	struct timespec patience =
		lib_rel_ms(LIB_HANG_S * 1000); /* the lock's holder may have to wait for a processor */
	ach_channel_t chan;
	ach_attr_t attr;
	enum ach_status r;

	ach_attr_init(&attr);
	ach_attr_set_put_timeout(&attr, &patience);
	r = ach_open(&chan, test.name, &attr);
	if (r == ACH_ENOENT) {
		shared->missing++;
		return;
	}
	LIB_STATUS(ACH_OK, r);
	use(&chan, last);
	LIB_STATUS(ACH_OK, ach_close(&chan));
	shared->opened++;
}

static int crowd_body(void *arg)
{
	enum role role = *(enum role *)arg;
	ach_create_attr_t replace;
	enum ach_status r;

	ach_create_attr_init(&replace);
	ach_create_attr_set_truncate(&replace, 1);
	while (!shared->stop) {
		lib_watchdog("crowd", LIB_HANG_S);
		switch (role) {
		case CREATOR:
		case CREATOR_TOO:
			r = ach_create(test.name, COUNT, SIZE, NULL);
			if (r == ACH_OK)
				shared->created++;
			else
				LIB_STATUS(ACH_EEXIST, r);
			break;
		case REMOVER:
			r = ach_unlink(test.name);
			if (r == ACH_OK)
				shared->removed++;
			else
				LIB_STATUS(ACH_ENOENT, r);
			break;
		case REPLACER:
			r = ach_create(test.name, COUNT, SIZE, &replace);
			if (r == ACH_OK)
				shared->replaced++;
			else /* another creator was always faster */
				LIB_STATUS(ACH_EEXIST, r);
			usleep(300);
			break;
		default:
			open_and_use(role == OPENER_OF_LAST);
		}
	}
	return 0;
}

static enum role roles[ROLES];

static void crowd_start(int role)
{
	roles[role] = role;
	test.pids[role] = lib_child(crowd_body, &roles[role]);
}

static int64_t crowd_until(void)
{
	const char *seconds = getenv("RACE_SECONDS");

	return lib_now_ns(CLOCK_MONOTONIC) + (seconds ? atoi(seconds) : SECONDS_DEFAULT) * INT64_C(1000000000);
}

static void crowd_end(void)
{
	shared->stop = true;
	for (int i = 0; i < ROLES; i++) {
		if (test.pids[i])
			TEST_ASSERT_EQUAL_MESSAGE(0, lib_join(test.pids[i]), "a process was given a wrong answer");
		test.pids[i] = 0;
	}
}

/* In the end one more unlink and a clean-up clear everything away, whatever happened before. */
static void must_be_clean(void)
{
	enum ach_status r = ach_unlink(test.name);

	if (r != ACH_ENOENT)
		LIB_ASSERT_STATUS(ACH_OK, r);
	(void)ach_orphan_remove(0, false);
	TEST_ASSERT_EQUAL_MESSAGE(0, lib_left(test.name), "files or memory left behind");
	LIB_ASSERT_STATUS(ACH_OK, ach_create(test.name, COUNT, SIZE, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(test.name));
	TEST_ASSERT_EQUAL_MESSAGE(0, lib_left(test.name), "files or memory left behind");
}

TEST(test_crowd)
{
	int64_t until = crowd_until();
	char path[256];
	unsigned there;

	for (int i = 0; i < REPLACER; i++)
		crowd_start(i);
	while (lib_now_ns(CLOCK_MONOTONIC) < until || shared->opened < OPENS_MIN || shared->missing < OPENS_MIN) {
		lib_watchdog("crowd", LIB_HANG_S);
		for (int i = 0; i < REPLACER; i++)
			TEST_ASSERT_EQUAL_MESSAGE(0, waitpid(test.pids[i], NULL, WNOHANG), "a process has given up");
		usleep(20000);
	}
	crowd_end();
	there = access(lib_path(path, test.name), F_OK) == 0;
	printf("crowd: %u created, %u removed, %u opened, %u found nothing; left over: %d\n", shared->created,
	       shared->removed, shared->opened, shared->missing, lib_left(test.name) - 2 * (int)there);
	TEST_ASSERT_EQUAL_MESSAGE(shared->created, shared->removed + there,
				  "every channel was made once and removed once");
	must_be_clean();
}

TEST(test_crowd_killed)
{
	int64_t until = crowd_until();
	uint64_t seed = (uint64_t)lib_now_ns(CLOCK_REALTIME) | 1;
	unsigned kills = 0;

	for (int i = 0; i < ROLES; i++)
		crowd_start(i);
	while (lib_now_ns(CLOCK_MONOTONIC) < until || kills < KILLS_MIN || shared->opened < OPENS_MIN) {
		int role = (int)(lib_random(&seed) % ROLES);

		lib_watchdog("crowd", LIB_HANG_S);
		kill(test.pids[role], SIGKILL);
		TEST_ASSERT_EQUAL_MESSAGE(128 + SIGKILL, lib_join(test.pids[role]), "a process had given up");
		kills++;
		crowd_start(role);
		usleep((useconds_t)(lib_random(&seed) % 2000));
	}
	crowd_end();
	printf("crowd: %u killed, %u created, %u removed, %u replaced, %u opened; left over: %d\n", kills,
	       shared->created, shared->removed, shared->replaced, shared->opened, lib_left(test.name));
	must_be_clean();
}

/* ---- killed before and after every system call ---- */

enum call { CREATE, REPLACE, REMOVE };

static int traced_body(void *arg)
{
	enum call call = *(enum call *)arg;
	ach_create_attr_t replace;
	enum ach_status r;

	ach_create_attr_init(&replace);
	ach_create_attr_set_truncate(&replace, call == REPLACE);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		return NO_PTRACE;
	raise(SIGSTOP);
	shared->phase = 1;
	r = call == REMOVE ? ach_unlink(test.name) : ach_create(test.name, COUNT, SIZE, &replace);
	shared->phase = 2;
	return r;
}

/* False: the call was over before its k-th stop. */
static bool kill_at_stop(enum call call, unsigned k)
{
	pid_t pid = test.pids[0] = lib_child(traced_body, &call);
	unsigned n = 0;
	int status;

	TEST_ASSERT_EQUAL(pid, waitpid(pid, &status, 0));
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_PTRACE) {
		test.pids[0] = 0;
		TEST_IGNORE_MESSAGE("NOT TESTED: this system does not permit ptrace");
	}
	TEST_ASSERT_EQUAL(0, ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_EXITKILL));
	while (n < k && shared->phase != 2) {
		TEST_ASSERT_EQUAL(0, ptrace(PTRACE_SYSCALL, pid, NULL, NULL));
		TEST_ASSERT_EQUAL(pid, waitpid(pid, &status, 0));
		TEST_ASSERT_TRUE_MESSAGE(WIFSTOPPED(status), "it stops at a system call");
		n += shared->phase == 1;
	}
	kill(pid, SIGKILL);
	TEST_ASSERT_EQUAL(128 + SIGKILL, lib_join(pid));
	test.pids[0] = 0;
	return shared->phase == 1;
}

static void sweep(enum call call, const char *what)
{
	unsigned k;

	for (k = 1;; k++) {
		ach_channel_t chan;
		enum ach_status r;
		bool hit;

		lib_watchdog(what, LIB_HANG_S);
		shared->phase = 0;
		if (call != CREATE)
			LIB_ASSERT_STATUS(ACH_OK, ach_create(test.name, COUNT, SIZE, NULL));
		hit = kill_at_stop(call, k);

		/* Complete, or not there. */
		r = ach_open(&chan, test.name, NULL);
		if (r == ACH_OK) {
			use(&chan, false);
			ach_close(&chan);
			LIB_ASSERT_STATUS(ACH_EEXIST, ach_create(test.name, COUNT, SIZE, NULL));
		} else {
			LIB_ASSERT_STATUS(ACH_ENOENT, r);
			LIB_ASSERT_STATUS(ACH_OK, ach_create(test.name, COUNT, SIZE, NULL));
		}
		LIB_ASSERT_STATUS(ACH_OK, ach_unlink(test.name));
		(void)ach_orphan_remove(0, false);
		TEST_ASSERT_EQUAL_MESSAGE(0, lib_left(test.name), "files or memory left behind");
		if (!hit)
			break;
	}
	printf("%s: killed at %u stops\n", what, k - 1);
	TEST_ASSERT_TRUE_MESSAGE(k > 4, "a call without system calls?");
}

TEST(test_create_killed_at_every_system_call)
{
	sweep(CREATE, "create");
}

TEST(test_replace_killed_at_every_system_call)
{
	sweep(REPLACE, "create over another");
}

TEST(test_unlink_killed_at_every_system_call)
{
	sweep(REMOVE, "unlink");
}

void setUp(void)
{
	lib_watchdog("create race", LIB_HANG_S);
	memset(shared, 0, sizeof *shared);
	lib_gate_set(test.start, 0);
	lib_gate_set(test.ready, 0);
	lib_name(test.name, "race");
}

void tearDown(void)
{
	alarm(0); /* a leak check at exit may take its time */
	for (size_t i = 0; i < sizeof test.pids / sizeof *test.pids; i++) {
		if (test.pids[i]) {
			kill(test.pids[i], SIGKILL);
			waitpid(test.pids[i], NULL, 0);
		}
		test.pids[i] = 0;
	}
}

void testcase_begin(void)
{
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	LIB_CHECK(shared != MAP_FAILED);
	test.start = lib_gate_new();
	test.ready = lib_gate_new();
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* Removing a channel looks at every segment of the user: those of other tests are not to be counted. */
	(void)unshare(CLONE_NEWIPC);
}
