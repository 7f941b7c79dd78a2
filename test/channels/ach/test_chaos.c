/* test_chaos.c: writers, readers and waiters of every kind at work on one channel, killed at random instants.
 *
 * The parent kills one of them about every millisecond and starts it again, now and then it stops one for a while.
 * Every message carries a checksum, its writer and a number that grows per writer.  What a
 * process finds wrong it notes in memory that outlives it.  Nothing may be noted: no torn or disordered message, no
 * wrong status, no hang; and the channel must be in order at the end.
 *
 *	CHAOS_SECONDS	how long, all geometries together; 24 unless set, 6 with sanitizers
 *	CHAOS_SEED	of the killer; printed
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "channels/ach/ach.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

/* What the whole run must have done, however slow the machine: it goes on until it has. */
#define KILLS_MIN LIB_REPEAT(5000)
#define PUTS_MIN LIB_REPEAT(100000)
#define GETS_MIN LIB_REPEAT(50000)
#define SECONDS_DEFAULT LIB_SECONDS(10)

#define PATIENCE_MS 20000 /* a wait or a put that takes so long was not helped: lost, or locked up */
#define KILL_EVERY_US 500
#define BURST_MAX 8
#define STOP_MAX_MS 30
#define LEN_MAX 8192
#define NOTES 8

enum role {
	WRITER_SMALL, /* 64 bytes */
	WRITER_LARGE, /* 4 KiB, or what fits */
	WRITER_MIXED, /* any size, half of them by reserve and commit, some with a put to the other channel inside */
	WRITER_HASTY, /* gives up after a millisecond */
	WRITERS,
	READER_NEXT = WRITERS,
	READER_LAST,
	READER_PEEK,
	WAITER_NEXT,
	WAITER_LAST,
	WAITER_FD,
	WAITER_ANY,
	ROLES
};

static const char *const role_names[ROLES] = {
	"writer of 64 bytes",  "writer of 4 KiB",    "writer of any size", "hasty writer",
	"reader of the next",  "reader of the last", "peeking reader",	   "waiter",
	"waiter for the last", "descriptor user",    "wait_any user",
};

enum { MAIN, SIDE, CHANNELS };

static struct shared {
	_Atomic uint64_t puts, gets, timeouts, missed;
	_Atomic uint64_t done[ROLES];		    /* calls that came back, per role */
	_Atomic uint64_t number[CHANNELS][WRITERS]; /* of the message a writer puts next */
	_Atomic unsigned wrong;
	char notes[NOTES][160];
} * shared;

static struct {
	size_t count, size;
	char names[CHANNELS][LIB_NAME_LEN];
	pid_t pids[ROLES];
	uint64_t random;
	uint64_t kills, stops;
	int64_t seconds;
} chaos;

static const size_t side_count = 2, side_size = 128;

/* ---- in the children ---- */

static enum role role;
static uint64_t seed;
static uint8_t buf[LEN_MAX];

static void note(const char *what, enum ach_status r)
{
	unsigned n = atomic_fetch_add(&shared->wrong, 1);

	if (n < NOTES)
		snprintf(shared->notes[n], sizeof shared->notes[n], "%s: %s, %s (%s)", role_names[role], what,
			 ach_result_to_string(r), r == ACH_OK ? "" : ach_errstr());
}

struct stream {
	ach_channel_t chan;
	int which;
	uint64_t seq;
	uint64_t number[WRITERS];
};

static void stream_open(struct stream *s, int which, const struct timespec *put_timeout)
{
	ach_attr_t attr;
	enum ach_status r;

	memset(s, 0, sizeof *s);
	s->which = which;
	ach_attr_init(&attr);
	ach_attr_set_put_timeout(&attr, put_timeout);
	r = ach_open(&s->chan, chaos.names[which], &attr);
	if (r != ACH_OK) {
		note("open", r);
		_exit(LIB_FAILED);
	}
}

static size_t stream_max(const struct stream *s)
{
	return s->which == MAIN ? chaos.count * chaos.size : side_count * side_size;
}

/* Is what a read answered right, after what was read before? */
static void stream_check(struct stream *s, enum ach_status r, uint64_t seq, const void *bytes, size_t len)
{
	struct lib_message head;

	if (r != ACH_OK && r != ACH_MISSED_FRAME) {
		note("get", r);
		return;
	}
	if (!lib_message_good(bytes, len)) {
		note("torn message", r);
		return;
	}
	memcpy(&head, bytes, sizeof head);
	atomic_fetch_add_explicit(&shared->gets, 1, memory_order_relaxed);
	if (seq == s->seq) { /* only COPY reads it again; the caller knows */
		if (r != ACH_OK || head.number != s->number[head.writer % WRITERS])
			note("read again, it was another", r);
		return;
	}
	if (seq < s->seq)
		note("backwards", r);
	if ((r == ACH_MISSED_FRAME) != (seq != s->seq + 1))
		note("MISSED_FRAME and the sequence numbers disagree", r);
	if (head.writer >= WRITERS || head.number <= s->number[head.writer])
		note("a writer's messages out of order", r);
	else
		s->number[head.writer] = head.number;
	if (r == ACH_MISSED_FRAME)
		atomic_fetch_add_explicit(&shared->missed, 1, memory_order_relaxed);
	s->seq = seq;
}

static void beat(void)
{
	atomic_fetch_add_explicit(&shared->done[role], 1, memory_order_relaxed);
}

static void message_next(const struct stream *s, void *at, size_t len)
{
	lib_message_make(at, len, role, atomic_fetch_add(&shared->number[s->which][role], 1) + 1);
}

static size_t random_len(const struct stream *s)
{
	size_t max = stream_max(s);

	if (role == WRITER_SMALL || role == WRITER_HASTY)
		return 64;
	if (role == WRITER_LARGE)
		return max < 4096 ? max : 4096;
	return LIB_MESSAGE_MIN + lib_random(&seed) % (max - LIB_MESSAGE_MIN + 1);
}

static void put_done(enum ach_status r)
{
	if (r == ACH_OK)
		atomic_fetch_add_explicit(&shared->puts, 1, memory_order_relaxed);
	else if (r == ACH_TIMEOUT && role == WRITER_HASTY)
		atomic_fetch_add_explicit(&shared->timeouts, 1, memory_order_relaxed);
	else
		note("put", r);
}

/* Held up while we make the message, so that the lock is often found taken. */
static void put_in_place(struct stream *s, struct stream *inner)
{
	size_t len = random_len(s);
	void *room;
	enum ach_status r = ach_reserve(&s->chan, len, &room);

	if (r != ACH_OK) {
		put_done(r);
		return;
	}
	message_next(s, room, len);
	if (lib_random(&seed) % 4 == 0) {
		size_t inner_len = random_len(inner);

		message_next(inner, buf, inner_len);
		put_done(ach_put(&inner->chan, buf, inner_len));
	}
	if (lib_random(&seed) % 16 == 0)
		len = 0; /* change of mind */
	r = ach_commit(&s->chan, len);
	if (len || r != ACH_OK)
		put_done(r);
}

static void writer(void)
{
	struct timespec patience = lib_rel_ms(role == WRITER_HASTY ? 1 : PATIENCE_MS);
	struct stream streams[CHANNELS];

	for (int i = 0; i < CHANNELS; i++)
		stream_open(&streams[i], i, &patience);
	for (unsigned n = 0;; n++) {
		struct stream *s = &streams[lib_random(&seed) % 8 ? MAIN : SIDE];

		if (role == WRITER_MIXED && n % 2) {
			put_in_place(&streams[MAIN], &streams[SIDE]);
		} else {
			size_t len = random_len(s);

			message_next(s, buf, len);
			put_done(ach_put(&s->chan, buf, len));
		}
		beat();
		if (n % 16 == 0 && lib_random(&seed) % 2)
			usleep(lib_random(&seed) % 300); /* so that a reader falls asleep */
	}
}

static void read_one(struct stream *s, int options)
{
	struct timespec patience = lib_after_ms(CLOCK_MONOTONIC, PATIENCE_MS);
	size_t len = 0;
	enum ach_status r = ach_get(&s->chan, buf, sizeof buf, &len, options & ACH_O_WAIT ? NULL : &patience, options);

	beat();
	if (r == ACH_EAGAIN && !(options & ACH_O_WAIT))
		return;
	if (s->chan.seq_num == s->seq && (r == ACH_OK || r == ACH_MISSED_FRAME) &&
	    (options & (ACH_O_COPY | ACH_O_WAIT)) != ACH_O_COPY)
		note("the same message again", r);
	stream_check(s, r, s->chan.seq_num, buf, len);
}

static void peek_one(struct stream *s, int options)
{
	struct timespec patience = lib_after_ms(CLOCK_MONOTONIC, PATIENCE_MS);
	const void *bytes;
	size_t len = 0;
	enum ach_status r = ach_peek(&s->chan, &bytes, &len, options & ACH_O_WAIT ? NULL : &patience, options), end;

	beat();
	if (r == ACH_EAGAIN && !(options & ACH_O_WAIT))
		return;
	if (r != ACH_OK && r != ACH_MISSED_FRAME) {
		note("peek", r);
		return;
	}
	if (len > sizeof buf) {
		note("peek of an impossible length", r);
		return;
	}
	memcpy(buf, bytes, len);
	end = ach_peek_end(&s->chan);
	if (end == ACH_OK)
		stream_check(s, r, s->chan.seq_num, buf, len);
	else if (end != ACH_EAGAIN)
		note("peek_end", end);
}

static void read_by_descriptor(struct stream *s)
{
	struct pollfd p = { .events = POLLIN };
	enum ach_status r = ach_channel_fd(&s->chan, &p.fd);

	if (r != ACH_OK) {
		note("channel_fd", r);
		_exit(LIB_FAILED);
	}
	for (;;) {
		int n = poll(&p, 1, PATIENCE_MS);

		if (n != 1)
			note(n ? "poll fails" : "poll sleeps through all messages", ACH_OK);
		read_one(s, lib_random(&seed) % 2 ? ACH_O_LAST : 0);
	}
}

static void read_any(struct stream *streams)
{
	ach_channel_t *const chans[CHANNELS] = { &streams[MAIN].chan, &streams[SIDE].chan };

	for (;;) {
		struct timespec patience = lib_after_ms(CLOCK_MONOTONIC, PATIENCE_MS);
		size_t which = 9;
		enum ach_status r = ach_wait_any(chans, CHANNELS, &patience, &which);

		if (r != ACH_OK || which >= CHANNELS)
			note("wait_any", r);
		else
			read_one(&streams[which], lib_random(&seed) % 2 ? ACH_O_LAST : 0);
	}
}

static void reader(void)
{
	struct timespec patience = lib_rel_ms(PATIENCE_MS);
	struct stream streams[CHANNELS];

	for (int i = 0; i < CHANNELS; i++)
		stream_open(&streams[i], i, &patience);
	if (role == WAITER_FD)
		read_by_descriptor(&streams[MAIN]);
	if (role == WAITER_ANY)
		read_any(streams);
	for (;;) {
		int copy = lib_random(&seed) % 2 ? ACH_O_COPY : 0;
		struct stream *s = &streams[lib_random(&seed) % 8 ? MAIN : SIDE];

		switch (role) {
		case READER_NEXT:
			read_one(s, copy);
			break;
		case READER_LAST:
			read_one(s, copy | ACH_O_LAST);
			break;
		case READER_PEEK:
			peek_one(s, copy ? ACH_O_LAST : ACH_O_WAIT);
			break;
		case WAITER_LAST:
			read_one(s, copy | ACH_O_WAIT | ACH_O_LAST);
			break;
		default:
			read_one(s, copy | ACH_O_WAIT);
		}
		if (!(lib_random(&seed) % 8))
			usleep(lib_random(&seed) % 300); /* leave the processor to the others */
	}
}

/* ---- in the parent ---- */

static uint64_t random_below(uint64_t n)
{
	return lib_random(&chaos.random) % n;
}

static void start(enum role who)
{
	pid_t parent = getpid();

	lib_random(&chaos.random);
	chaos.pids[who] = fork();
	TEST_ASSERT_TRUE_MESSAGE(chaos.pids[who] >= 0, "fork");
	if (chaos.pids[who])
		return;
	alarm(0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(LIB_FAILED);
	role = who;
	seed = chaos.random + who + 1;
	if (who < WRITERS)
		writer();
	else
		reader();
}

static void end(enum role who)
{
	int status;

	if (!chaos.pids[who])
		return;
	kill(chaos.pids[who], SIGKILL);
	waitpid(chaos.pids[who], &status, 0);
	chaos.pids[who] = 0;
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
		unsigned n = atomic_fetch_add(&shared->wrong, 1);

		if (n < NOTES)
			snprintf(shared->notes[n], sizeof shared->notes[n], "%s: died by itself, status %#x",
				 role_names[who], (unsigned)status);
	}
}

/* Some of them at once, so that a busy machine is asked for their deaths together; then all start again. */
static void strike(enum role *stopped)
{
	unsigned victims = 0, n = (unsigned)random_below(BURST_MAX) + 1;

	while (n--)
		victims |= 1u << random_below(ROLES);
	for (int i = 0; i < ROLES; i++)
		if (victims & 1u << i) {
			kill(chaos.pids[i], SIGKILL);
			chaos.kills++;
		}
	for (int i = 0; i < ROLES; i++)
		if (victims & 1u << i) {
			end(i);
			start(i);
			if (*stopped == (enum role)i)
				*stopped = ROLES;
		}
}

static void fail_if_wrong(void)
{
	unsigned n = atomic_load(&shared->wrong);

	if (!n)
		return;
	for (unsigned i = 0; i < n && i < NOTES; i++)
		printf("wrong: %s\n", shared->notes[i]);
	printf("%u wrong things in all\n", n);
	TEST_FAIL_MESSAGE("see above");
}

/* Who has not come back from a call for long, though it was neither killed nor stopped? */
static void fail_if_hanging(uint64_t seen[ROLES], int64_t since[ROLES])
{
	int64_t now = lib_now_ns(CLOCK_MONOTONIC);

	for (int i = 0; i < ROLES; i++) {
		uint64_t done = atomic_load(&shared->done[i]);

		if (done != seen[i] || !since[i]) {
			seen[i] = done;
			since[i] = now;
		} else if (now - since[i] > LIB_HANG_S * INT64_C(1000000000)) {
			TEST_FAIL_MESSAGE(role_names[i]); /* hangs */
		}
	}
}

static void must_be_in_order(const char *name, size_t max)
{
	ach_channel_t chan;
	enum ach_status r;
	uint64_t seq;
	size_t len;

	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	r = ach_get(&chan, buf, sizeof buf, &len, NULL, 0);
	if (r != ACH_MISSED_FRAME)
		LIB_ASSERT_STATUS(ACH_OK, r);
	do {
		TEST_ASSERT_TRUE_MESSAGE(lib_message_good(buf, len), "a retained message is whole");
		seq = chan.seq_num;
		r = ach_get(&chan, buf, sizeof buf, &len, NULL, 0);
		TEST_ASSERT_EQUAL(seq + (r == ACH_OK), chan.seq_num);
	} while (r == ACH_OK);
	LIB_ASSERT_STATUS(ACH_EAGAIN, r);
	lib_message_make(buf, max, 0, 1);
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, buf, max));
	LIB_ASSERT_STATUS(ACH_OK, ach_get(&chan, buf, sizeof buf, &len, NULL, 0));
	TEST_ASSERT_EQUAL(seq + 1, chan.seq_num);
	TEST_ASSERT_TRUE(len == max && lib_message_good(buf, len));
	ach_close(&chan);
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(name));
	TEST_ASSERT_EQUAL_MESSAGE(0, lib_segments(name), "memory left behind");
}

/* share: of the whole run, in percent. */
static void chaos_run(size_t count, size_t size, unsigned share)
{
	uint64_t seen[ROLES] = { 0 };
	int64_t since[ROLES] = { 0 }, begin = lib_now_ns(CLOCK_MONOTONIC), looked = begin, continue_at = 0;
	enum role stopped = ROLES; /* none */

	memset(shared, 0, sizeof *shared);
	chaos.count = count;
	chaos.size = size;
	chaos.kills = chaos.stops = 0;
	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(chaos.names[MAIN], "chaos"), count, size, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(chaos.names[SIDE], "chaos-side"), side_count, side_size, NULL));
	lib_watchdog("chaos", (unsigned)chaos.seconds * 10 + 300);
	for (int i = 0; i < ROLES; i++)
		start(i);

	for (;;) {
		int64_t now = lib_now_ns(CLOCK_MONOTONIC);
		enum role who = random_below(ROLES);

		if (now - begin > chaos.seconds * INT64_C(10000000) * share && chaos.kills * 100 >= KILLS_MIN * share &&
		    shared->puts * 100 >= PUTS_MIN * (uint64_t)share &&
		    shared->gets * 100 >= GETS_MIN * (uint64_t)share)
			break;
		if (stopped != ROLES && now > continue_at) {
			kill(chaos.pids[stopped], SIGCONT);
			stopped = ROLES;
		}
		if (random_below(16) == 0 && stopped == ROLES) {
			kill(chaos.pids[who], SIGSTOP);
			stopped = who;
			continue_at = now + (int64_t)random_below(STOP_MAX_MS * 1000000);
			chaos.stops++;
		} else {
			strike(&stopped);
		}
		if (now - looked > 100000000) {
			looked = now;
			fail_if_wrong();
			fail_if_hanging(seen, since);
		}
		usleep((useconds_t)random_below(2 * KILL_EVERY_US));
	}
	for (int i = 0; i < ROLES; i++)
		end(i);
	printf("chaos %zu x %zu: %ju kills, %ju stops, %ju puts, %ju gets (%ju after a gap), %ju puts timed out\n",
	       count, size, (uintmax_t)chaos.kills, (uintmax_t)chaos.stops, (uintmax_t)shared->puts,
	       (uintmax_t)shared->gets, (uintmax_t)shared->missed, (uintmax_t)shared->timeouts);
	fail_if_wrong();
	for (int i = 0; i < ROLES; i++)
		TEST_ASSERT_TRUE_MESSAGE(atomic_load(&shared->done[i]) > 10, role_names[i]); /* did nothing */
	must_be_in_order(chaos.names[MAIN], count * size);
	must_be_in_order(chaos.names[SIDE], side_count * side_size);
}

TEST(test_two_small)
{
	chaos_run(2, 128, 30);
}

TEST(test_one_of_64_bytes)
{
	chaos_run(1, 64, 20);
}

TEST(test_one_of_a_page)
{
	chaos_run(1, 4096, 30);
}

TEST(test_eight_mixed)
{
	chaos_run(8, 1000, 20);
}

void tearDown(void)
{
	alarm(0); /* a leak check at exit may take its time */
	for (int i = 0; i < ROLES; i++)
		end(i);
}

void testcase_begin(void)
{
	const char *seconds = getenv("CHAOS_SECONDS"), *given = getenv("CHAOS_SEED");

	chaos.seconds = seconds ? atoi(seconds) : SECONDS_DEFAULT;
	chaos.random =
		given ? strtoull(given, NULL, 0) : (uint64_t)lib_now_ns(CLOCK_REALTIME) ^ (uint64_t)getpid() << 40;
	chaos.random += !chaos.random;
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	LIB_CHECK(shared != MAP_FAILED);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("CHAOS_SEED=%#jx\n", (uintmax_t)chaos.random);
}
