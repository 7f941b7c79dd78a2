/* test_vt_clock.c: programs on a virtual clock: clock_wait, sets, and the waits of channels.
 *
 * The test is the coordinator of a page; the participants are this program again, started with $ENDPLATE_CLOCK as
 * achstart does, with the name of a body below.  What happens when is kept in a log that they share. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "channels/ach/ach.h"
#include "channels/clock/clock.h"
#include "channels/clock/vt_clock.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

#define BEGIN 1000000
#define SLOTS 8
#define LOG_MAX 1000
#define GAVE_UP 111

static struct shared {
	_Atomic uint32_t n;
	struct entry {
		int64_t now_ns; /* after BEGIN */
		int slot;
		int what;
	} log[LOG_MAX];
	_Atomic int done;
} * shared;

static void note(int what)
{
	const int64_t now_ns = clock_now_ns() - BEGIN;
	const uint32_t n = atomic_load(&shared->n);

	LIB_CHECK(n < LOG_MAX && (!n || shared->log[n - 1].now_ns <= now_ns)); /* time never goes back */
	shared->log[n] = (struct entry){ now_ns, vt_clock_end()->me, what };
	atomic_store(&shared->n, n + 1);
}

/* ---- the participants: their waits ---- */

static int64_t number(const char *text)
{
	return strtoll(text, NULL, 10);
}

static void wait_until(int64_t ns)
{
	LIB_CHECK(clock_wait(NULL, 0, ns) == 0);
	LIB_CHECK(clock_now_ns() == ns); /* exactly */
}

/* PERIOD N */
static void ticker(char **arg)
{
	int64_t tick_ns = clock_now_ns();

	for (int64_t n = number(arg[1]); n; n--) {
		note(0);
		tick_ns += number(arg[0]);
		wait_until(tick_ns);
	}
}

static void open_channel(ach_channel_t *chan, const char *name)
{
	LIB_STATUS(ACH_OK, ach_open(chan, name, NULL));
	LIB_STATUS(ACH_OK, ach_flush(chan));
}

/* CHANNEL PERIOD N: the n-th message at n periods. */
static void writer(char **arg)
{
	int64_t tick_ns = clock_now_ns();
	ach_channel_t chan;

	open_channel(&chan, arg[0]);
	for (int64_t n = number(arg[2]); n; n--) {
		tick_ns += number(arg[1]);
		wait_until(tick_ns);
		note(0);
		LIB_STATUS(ACH_OK, ach_put(&chan, &tick_ns, sizeof(tick_ns)));
	}
}

/* Its stamp is the time at which it was put. */
static void take_message(ach_channel_t *chan, int what)
{
	int64_t stamp_ns;
	size_t len;

	LIB_STATUS(ACH_OK, ach_get(chan, &stamp_ns, sizeof(stamp_ns), &len, NULL, 0));
	LIB_CHECK(stamp_ns == clock_now_ns());
	note(what);
}

/* CHANNEL N */
static void getter(char **arg)
{
	ach_channel_t chan;
	int64_t stamp_ns;
	size_t len;

	open_channel(&chan, arg[0]);
	for (int64_t n = number(arg[1]); n; n--) {
		LIB_STATUS(ACH_OK, ach_get(&chan, &stamp_ns, sizeof(stamp_ns), &len, NULL, ACH_O_WAIT));
		LIB_CHECK(stamp_ns == clock_now_ns());
		note(1);
	}
}

/* CHANNEL PERIOD N: with a deadline, which it meets exactly if there is no message. */
static void getter_by(char **arg)
{
	ach_channel_t chan;
	int64_t stamp_ns;
	size_t len;

	open_channel(&chan, arg[0]);
	for (int64_t n = number(arg[2]); n; n--) {
		const int64_t by_ns = clock_now_ns() + number(arg[1]);
		const struct timespec by = { by_ns / 1000000000, by_ns % 1000000000 };
		const enum ach_status r = ach_get(&chan, &stamp_ns, sizeof(stamp_ns), &len, &by, ACH_O_WAIT);

		if (r == ACH_TIMEOUT)
			LIB_CHECK(clock_now_ns() == by_ns);
		else
			LIB_CHECK(r == ACH_OK && stamp_ns == clock_now_ns());
		note(r == ACH_TIMEOUT ? 2 : 1);
	}
}

/* CHANNEL CHANNEL N */
static void any(char **arg)
{
	ach_channel_t chans[2], *const both[] = { &chans[0], &chans[1] };
	const int64_t by_ns = BEGIN + 1000;
	const struct timespec by = { 0, by_ns };
	size_t which;

	open_channel(&chans[0], arg[0]);
	open_channel(&chans[1], arg[1]);
	for (int64_t n = number(arg[2]); n; n--) {
		LIB_STATUS(ACH_OK, ach_wait_any(both, 2, NULL, &which));
		take_message(both[which], (int)which);
	}
	LIB_STATUS(ACH_TIMEOUT, ach_wait_any(both, 2, &by, &which));
	LIB_CHECK(clock_now_ns() == by_ns);
}

/* CHANNEL CHANNEL N: the same with a set, in which a descriptor is too. */
static void set(char **arg)
{
	const int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	ach_channel_t chans[2];
	struct clock_set *all;
	uint32_t tags[4];

	LIB_CHECK(!clock_set_open(&all) && !clock_set_add_fd(all, fd, POLLIN, 7));
	for (uint32_t i = 0; i < 2; i++) {
		open_channel(&chans[i], arg[i]);
		LIB_CHECK(!clock_set_add_channel(all, &chans[i], i));
	}
	for (int64_t n = number(arg[2]); n; n--) {
		LIB_CHECK(clock_set_wait(all, tags, 4, CLOCK_NEVER) == 1);
		take_message(&chans[tags[0]], (int)tags[0]);
	}
	LIB_CHECK(clock_set_wait(all, tags, 4, clock_now_ns() + 5) == 0);
	note(2);
	clock_touch(getpid());
	LIB_CHECK(!eventfd_write(fd, 1));
	LIB_CHECK(clock_set_wait(all, tags, 4, clock_now_ns() + 5) == 1 && tags[0] == 7);
	note(3);
	LIB_CHECK(!clock_set_remove_channel(all, &chans[0]) && !clock_set_remove_fd(all, fd));
	clock_set_close(all);
}

/* CHANNEL N: through the descriptor of the channel. */
static void descriptor(char **arg)
{
	struct clock_fd fd = { .events = POLLIN };
	ach_channel_t chan;

	open_channel(&chan, arg[0]);
	LIB_STATUS(ACH_OK, ach_channel_fd(&chan, &fd.fd));
	for (int64_t n = number(arg[1]); n;) {
		int64_t stamp_ns;
		size_t len;

		LIB_CHECK(clock_wait(&fd, 1, CLOCK_NEVER) == 1);
		if (ach_get(&chan, &stamp_ns, sizeof(stamp_ns), &len, NULL, 0) != ACH_OK)
			continue;
		LIB_CHECK(stamp_ns == clock_now_ns());
		note(1);
		n--;
	}
}

/* CHANNEL PERIOD N: looks at its ticks only, and never sees what is put later. */
static void poller(char **arg)
{
	int64_t tick_ns = clock_now_ns(), stamp_ns, last_ns = 0;
	ach_channel_t chan;
	size_t len;

	open_channel(&chan, arg[0]);
	for (int64_t n = number(arg[2]); n; n--) {
		tick_ns += number(arg[1]);
		wait_until(tick_ns);
		while (ach_get(&chan, &stamp_ns, sizeof(stamp_ns), &len, NULL, 0) == ACH_OK) {
			LIB_CHECK(stamp_ns <= tick_ns && stamp_ns > last_ns);
			last_ns = stamp_ns;
			note(1);
		}
	}
}

/* ---- the participants: what is not on the clock ---- */

static void check_real(void)
{
	const int64_t before_ns = lib_now_ns(CLOCK_MONOTONIC);

	LIB_CHECK(!vt_clock_end() && clock_now_ns() >= before_ns && clock_now_ns() <= lib_now_ns(CLOCK_MONOTONIC));
	LIB_CHECK(clock_wait(NULL, 0, before_ns + 1000000) == 0 && clock_now_ns() >= before_ns + 1000000);
}

static void *thread_body(void *arg)
{
	(void)arg;
	/* In virtual time this never comes: its process holds the clock meanwhile. */
	LIB_CHECK(clock_wait(NULL, 0, clock_now_ns() + 1000000) == 0);
	LIB_CHECK(!vt_clock_end());
	atomic_fetch_add(&shared->done, 1);
	return NULL;
}

static void thread(char **arg)
{
	pthread_t id;

	(void)arg;
	LIB_CHECK(!pthread_create(&id, NULL, thread_body, NULL) && !pthread_join(id, NULL));
	note(1);
	wait_until(clock_now_ns() + 10);
	note(2);
}

static void parent(char **arg)
{
	char *const again[] = { (char *)"test_vt_clock", (char *)"real", NULL };
	int status;
	pid_t pid;

	(void)arg;
	for (int i = 0; i < 2; i++) {
		pid = fork();
		if (!pid && i) {
			execv("/proc/self/exe", again);
			_exit(1);
		}
		if (!pid) {
			check_real();
			_exit(0);
		}
		LIB_CHECK(waitpid(pid, &status, 0) == pid && status == 0);
		note(i);
	}
	wait_until(clock_now_ns() + 10); /* it is still there */
	note(2);
}

/* ---- the participants: without an end ---- */

static void readable(char **arg)
{
	struct clock_fd fd = { .fd = eventfd(1, EFD_CLOEXEC), .events = POLLIN };

	(void)arg;
	for (;;)
		LIB_CHECK(clock_wait(&fd, 1, CLOCK_NEVER) == 1);
}

/* CHANNEL CHANNEL: what comes on one is answered on the other. */
static void answerer(char **arg)
{
	ach_channel_t in, out;
	size_t len;
	char c = 0;

	open_channel(&in, arg[0]);
	open_channel(&out, arg[1]);
	wait_until(BEGIN + 10); /* both are there */
	LIB_STATUS(ACH_OK, ach_put(&out, &c, 1));
	for (;;) {
		LIB_CHECK(ach_get(&in, &c, 1, &len, NULL, ACH_O_WAIT) == ACH_OK);
		LIB_STATUS(ACH_OK, ach_put(&out, &c, 1));
	}
}

static const struct body {
	const char *name;
	void (*run)(char **arg);
} bodies[] = {
	{ "ticker", ticker }, { "writer", writer }, { "getter", getter },     { "getter_by", getter_by },
	{ "any", any },	      { "set", set },	    { "poller", poller },     { "descriptor", descriptor },
	{ "thread", thread }, { "parent", parent }, { "readable", readable }, { "answerer", answerer },
};

static int run_body(char **argv)
{
	int fd;

	if (!strcmp(argv[1], "real")) {
		check_real();
		return 0;
	}
	fd = open(argv[2], O_RDWR | O_CLOEXEC);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	LIB_CHECK(shared != MAP_FAILED && vt_clock_end());
	for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++)
		if (!strcmp(argv[1], bodies[i].name)) {
			bodies[i].run(argv + 3);
			return 0;
		}
	return 1;
}

/* ---- the coordinator ---- */

static char folder[64], page[80], log_path[80], said[80];
static char first[LIB_NAME_LEN], second[LIB_NAME_LEN];
static struct vt_end co;
static pid_t pids[SLOTS];
static int pidfds[SLOTS], status_of[SLOTS];

void setUp(void)
{
	int fd;

	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
	snprintf(folder, sizeof(folder), "%s/vt.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	TEST_ASSERT_NOT_NULL(mkdtemp(folder));
	snprintf(page, sizeof(page), "%s/clock", folder);
	snprintf(log_path, sizeof(log_path), "%s/log", folder);
	snprintf(said, sizeof(said), "%s/said", folder);
	fd = open(log_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	TEST_ASSERT_EQUAL_INT(0, ftruncate(fd, sizeof(*shared)));
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	TEST_ASSERT_EQUAL_INT(0, vt_page_create(page, BEGIN));
	TEST_ASSERT_EQUAL_INT(0, vt_page_join(&co, page, VT_COORDINATOR));
	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(first, "first"), 4, 8, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(second, "second"), 4, 8, NULL));
	memset(pids, 0, sizeof(pids));
	memset(status_of, -1, sizeof(status_of));
	for (int i = 0; i < SLOTS; i++)
		pidfds[i] = -1;
}

void tearDown(void)
{
	char file[96];

	for (int i = 0; i < SLOTS; i++) {
		if (pids[i])
			lib_kill(pids[i]);
		close(pidfds[i]);
	}
	munmap(co.page, sizeof(*co.page));
	close(co.bell);
	munmap(shared, sizeof(*shared));
	snprintf(file, sizeof(file), "%s.bell", page);
	unlink(file);
	unlink(page);
	unlink(log_path);
	unlink(said);
	rmdir(folder);
	ach_unlink(first);
	ach_unlink(second);
}

static void start_late(int slot, int64_t startup_ns, const char *body, const char *a, const char *b, const char *c)
{
	char place[128],
		*argv[] = { (char *)"test_vt_clock", (char *)body, log_path, (char *)a, (char *)b, (char *)c, NULL };

	snprintf(place, sizeof(place), "%d %s", slot, page);
	vt_page_expect(&co, slot, body, startup_ns);
	fflush(stdout);
	pids[slot] = fork();
	if (!pids[slot]) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(open(said, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600), STDERR_FILENO);
		atomic_store(&co.page->slot[slot].pid, (uint32_t)getpid());
		setenv(VT_CLOCK_PLACE, place, 1);
		execv("/proc/self/exe", argv);
		_exit(LIB_FAILED);
	}
	pidfds[slot] = pidfd_open(pids[slot], 0);
}

static void start(int slot, const char *body, const char *a, const char *b, const char *c)
{
	start_late(slot, 0, body, a, b, c);
}

static void reap_ended(void)
{
	for (int i = 1; i < SLOTS; i++) {
		struct pollfd ended = { .fd = pidfds[i], .events = POLLIN };

		if (ended.fd < 0 || poll(&ended, 1, 0) < 1)
			continue;
		vt_page_reap(&co, i);
		close(pidfds[i]);
		pidfds[i] = -1;
		status_of[i] = lib_join(pids[i]);
		pids[i] = 0;
	}
}

/* Until all is at rest and nothing happens until then. */
static void run_until(int64_t ns)
{
	atomic_store(&co.page->limit_ns, BEGIN + ns);
	for (;;) {
		struct pollfd fds[SLOTS] = { { .fd = co.bell, .events = POLLIN } };
		char drain[64];

		reap_ended();
		if (vt_page_is_ours(&co)) {
			vt_page_pass(&co);
			if (vt_page_is_ours(&co) && vt_page_at_rest(&co))
				return;
		}
		for (int i = 1; i < SLOTS; i++)
			fds[i] = (struct pollfd){ .fd = pidfds[i], .events = POLLIN };
		poll(fds, SLOTS, -1);
		while (read(co.bell, drain, sizeof(drain)) > 0)
			;
	}
}

static void show_said(void)
{
	char text[1000];
	const int fd = open(said, O_RDONLY | O_CLOEXEC);
	const ssize_t n = read(fd, text, sizeof(text) - 1);

	close(fd);
	if (n > 0)
		printf("%.*s", (int)n, text);
}

static void expect_log(size_t n, const struct entry *log)
{
	for (size_t i = 0; i < n && i < shared->n; i++) {
		const struct entry *got = &shared->log[i];
		char what[80];

		snprintf(what, sizeof(what), "entry %zu: slot %d, %d at %lld", i, got->slot, got->what,
			 (long long)got->now_ns);
		TEST_ASSERT_EQUAL_INT64_MESSAGE(log[i].now_ns, got->now_ns, what);
		TEST_ASSERT_EQUAL_INT_MESSAGE(log[i].slot, got->slot, what);
		TEST_ASSERT_EQUAL_INT_MESSAGE(log[i].what, got->what, what);
	}
	if (n != shared->n)
		show_said();
	TEST_ASSERT_EQUAL_UINT32(n, shared->n);
}

#define EXPECT_LOG(...)                                                     \
	do {                                                                \
		static const struct entry expected[] = { __VA_ARGS__ };     \
		expect_log(sizeof(expected) / sizeof(*expected), expected); \
	} while (0)

static void expect_ended(int slots)
{
	for (int i = 1; i <= slots; i++) {
		if (status_of[i])
			show_said();
		TEST_ASSERT_EQUAL_INT(0, status_of[i]);
	}
}

/* ---- tests ---- */

TEST(test_deadlines_are_exact_and_by_rank)
{
	start(2, "ticker", "10", "4", NULL);
	start(1, "ticker", "15", "3", NULL);
	run_until(1000);
	expect_ended(2);
	EXPECT_LOG({ 0, 1, 0 }, { 0, 2, 0 }, { 10, 2, 0 }, { 15, 1, 0 }, { 20, 2, 0 }, { 30, 1, 0 }, { 30, 2, 0 });
	/* No process is left: the last one ended at its last deadline. */
	TEST_ASSERT_EQUAL_INT64(BEGIN + 45, vt_page_core(co.page)->now_ns);
}

TEST(test_a_start_takes_its_time)
{
	start_late(1, 12, "ticker", "10", "2", NULL);
	start(2, "ticker", "10", "3", NULL);
	run_until(1000);
	expect_ended(2);
	EXPECT_LOG({ 0, 2, 0 }, { 10, 2, 0 }, { 12, 1, 0 }, { 20, 2, 0 }, { 22, 1, 0 });
}

TEST(test_nothing_beyond_the_limit)
{
	start(1, "ticker", "10", "5", NULL);
	run_until(19);
	EXPECT_LOG({ 0, 1, 0 }, { 10, 1, 0 });
	TEST_ASSERT_EQUAL_INT64(BEGIN + 10, vt_page_core(co.page)->now_ns);
	run_until(20);
	EXPECT_LOG({ 0, 1, 0 }, { 10, 1, 0 }, { 20, 1, 0 });
}

TEST(test_a_message_wakes_its_readers_at_once)
{
	start(1, "getter", first, "2", NULL);
	start(2, "descriptor", first, "2", NULL);
	start(3, "writer", first, "10", "2");
	start(4, "getter", first, "2", NULL);
	run_until(1000);
	expect_ended(4);
	EXPECT_LOG({ 10, 3, 0 }, { 10, 1, 1 }, { 10, 2, 1 }, { 10, 4, 1 }, { 20, 3, 0 }, { 20, 1, 1 }, { 20, 2, 1 },
		   { 20, 4, 1 });
}

TEST(test_a_get_with_a_deadline)
{
	start(1, "getter_by", first, "7", "4");
	start(2, "writer", first, "10", "2");
	run_until(1000);
	expect_ended(2);
	EXPECT_LOG({ 7, 1, 2 }, { 10, 2, 0 }, { 10, 1, 1 }, { 17, 1, 2 }, { 20, 2, 0 }, { 20, 1, 1 });
}

TEST(test_wait_any)
{
	start(1, "any", first, second, "4");
	start(2, "writer", first, "10", "2");
	start(3, "writer", second, "15", "2");
	run_until(2000);
	expect_ended(3);
	EXPECT_LOG({ 10, 2, 0 }, { 10, 1, 0 }, { 15, 3, 0 }, { 15, 1, 1 }, { 20, 2, 0 }, { 20, 1, 0 }, { 30, 3, 0 },
		   { 30, 1, 1 });
}

TEST(test_sets)
{
	start(1, "set", first, second, "4");
	start(2, "writer", first, "10", "2");
	start(3, "writer", second, "15", "2");
	run_until(1000);
	expect_ended(3);
	EXPECT_LOG({ 10, 2, 0 }, { 10, 1, 0 }, { 15, 3, 0 }, { 15, 1, 1 }, { 20, 2, 0 }, { 20, 1, 0 }, { 30, 3, 0 },
		   { 30, 1, 1 }, { 35, 1, 2 }, { 35, 1, 3 });
}

TEST(test_nothing_is_seen_before_its_stamp)
{
	start(1, "poller", first, "10", "4");
	start(2, "writer", first, "5", "6");
	run_until(1000);
	expect_ended(2);
	/* At 10 the poller is the first, by its rank: what is put then it sees at 20. */
	EXPECT_LOG({ 5, 2, 0 }, { 10, 1, 1 }, { 10, 2, 0 }, { 15, 2, 0 }, { 20, 1, 1 }, { 20, 1, 1 }, { 20, 2, 0 },
		   { 25, 2, 0 }, { 30, 1, 1 }, { 30, 1, 1 }, { 30, 2, 0 }, { 40, 1, 1 });
}

/* A message that no participant waits for gives no turn, one for a dead reader neither. */
TEST(test_a_reader_dies)
{
	start(1, "getter", first, "9", NULL);
	start(2, "writer", first, "10", "3");
	run_until(15);
	kill(pids[1], SIGKILL);
	lib_until_ended(pids[1]);
	run_until(1000);
	EXPECT_LOG({ 10, 2, 0 }, { 10, 1, 1 }, { 20, 2, 0 }, { 30, 2, 0 });
	TEST_ASSERT_EQUAL_INT(128 + SIGKILL, status_of[1]);
	TEST_ASSERT_EQUAL_INT(0, status_of[2]);
}

TEST(test_further_threads_are_on_real_time)
{
	start(1, "thread", NULL, NULL, NULL);
	run_until(1000);
	expect_ended(1);
	TEST_ASSERT_EQUAL_INT(1, atomic_load(&shared->done));
	EXPECT_LOG({ 0, 1, 1 }, { 10, 1, 2 });
}

TEST(test_children_are_on_real_time)
{
	start(1, "parent", NULL, NULL, NULL);
	start(2, "ticker", "5", "2", NULL);
	run_until(1000);
	expect_ended(2);
	EXPECT_LOG({ 0, 1, 0 }, { 0, 1, 1 }, { 0, 2, 0 }, { 5, 2, 0 }, { 10, 1, 2 });
}

/* ---- guards ---- */

static void expect_said(const char *words)
{
	char text[1000];
	const int fd = open(said, O_RDONLY | O_CLOEXEC);
	const ssize_t n = read(fd, text, sizeof(text) - 1);

	close(fd);
	TEST_ASSERT_TRUE(n > 0);
	text[n] = 0;
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, words), text);
	TEST_ASSERT_EQUAL_PTR_MESSAGE(text + n - 1, strchr(text, '\n'), text); /* one line */
}

TEST(test_a_descriptor_that_stays_readable)
{
	start(1, "readable", NULL, NULL, NULL);
	start(2, "ticker", "10", "3", NULL);
	run_until(1000);
	TEST_ASSERT_EQUAL_INT(GAVE_UP, status_of[1]);
	TEST_ASSERT_EQUAL_INT(0, status_of[2]); /* the others go on */
	expect_said("virtual clock: a descriptor stays readable");
}

TEST(test_processes_that_keep_waking_each_other)
{
	start(1, "answerer", first, second, NULL);
	start(2, "answerer", second, first, NULL);
	start(3, "ticker", "20", "3", NULL);
	run_until(1000);
	TEST_ASSERT_EQUAL_INT(GAVE_UP, status_of[1] < 0 ? status_of[2] : status_of[1]);
	TEST_ASSERT_EQUAL_INT(0, status_of[3]);
	expect_said("virtual clock: time does not advance");
}

TEST(test_a_place_that_is_wrong)
{
	static const char *const wrong[] = { "", "1", "1 /nowhere/clock", "0 @", "64 @", "x @" };
	char place[128];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		pid_t pid;

		snprintf(place, sizeof(place), "%.*s%s", (int)strcspn(wrong[i], "@"), wrong[i],
			 strchr(wrong[i], '@') ? page : "");
		unlink(said);
		fflush(stdout);
		pid = fork();
		if (!pid) {
			dup2(open(said, O_WRONLY | O_CREAT | O_CLOEXEC, 0600), STDERR_FILENO);
			setenv(VT_CLOCK_PLACE, place, 1);
			execl("/proc/self/exe", "test_vt_clock", "real", NULL);
		}
		TEST_ASSERT_EQUAL_INT(GAVE_UP, lib_join(pid));
		expect_said(VT_CLOCK_PLACE);
	}
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return run_body(argv);
	UNITY_BEGIN();
	testcase_run_all();
	return UNITY_END();
}
