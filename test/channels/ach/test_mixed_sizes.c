/* test_mixed_sizes.c: messages of any mix of sizes, millions of them, each one checked.
 *
 * First alone: random puts and gets on random geometries, every answer held against a list kept beside the channel.
 * Then two writers against three readers on the tightest rings there are, where a reader is overtaken all the time:
 * what it gets must be whole, in order, and honest about gaps.
 *
 *	MIXED_SECONDS	how long the second part takes; 4 unless set, 1 with sanitizers
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "channels/ach/ach.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

#define ALONE_GEOMETRIES 200
#define ALONE_OPS LIB_REPEAT(4000)
#define PUTS_MIN LIB_REPEAT(500000) /* in the second part, however slow the machine */
#define GETS_MIN LIB_REPEAT(500000)
#define SECONDS_DEFAULT LIB_SECONDS(4)
#define PATIENCE_MS 20000
#define LEN_MAX 16384
#define NOTES 8
#define WRITERS 2
#define READERS 3

static char geometry[80]; /* of the channel at hand, for messages */

/* ---- alone, against a list ---- */

#define LIST_MAX 64

static struct {
	size_t count, bytes;
	uint64_t newest;
	size_t len[LIST_MAX]; /* by sequence number */
} list;

static uint64_t list_oldest(void)
{
	uint64_t first = list.newest + 1;
	size_t bytes = 0;

	while (first > 1 && list.newest + 1 - first < list.count) {
		bytes += list.len[(first - 1) % LIST_MAX];
		if (bytes > list.bytes)
			break;
		first--;
	}
	return first;
}

static void fill(uint8_t *buf, size_t len, uint64_t seq)
{
	uint64_t state = seq * 7919 + 1;

	for (size_t i = 0; i < len; i++)
		buf[i] = (uint8_t)(lib_random(&state) >> 24);
}

static void alone_put(ach_channel_t *chan, uint64_t *seed)
{
	static uint8_t buf[LEN_MAX];
	size_t len = 1 + lib_random(seed) % (lib_random(seed) % 4 ? (list.bytes + 3) / 4 : list.bytes);
	void *room;

	fill(buf, len, list.newest + 1);
	if (lib_random(seed) % 2) {
		LIB_ASSERT_STATUS(ACH_OK, ach_put(chan, buf, len));
	} else {
		size_t max = len + lib_random(seed) % (list.bytes - len + 1);

		LIB_ASSERT_STATUS(ACH_OK, ach_reserve(chan, max, &room));
		TEST_ASSERT_EQUAL_MESSAGE(0, (uintptr_t)room % 16, "room for structs");
		memset(room, 0xee, max); /* all of what was promised is ours, and overlaps no message */
		memcpy(room, buf, len);
		LIB_ASSERT_STATUS(ACH_OK, ach_commit(chan, len));
	}
	list.newest++;
	list.len[list.newest % LIST_MAX] = len;
}

static void alone_get(ach_channel_t *chan, uint64_t *seed)
{
	static uint8_t buf[LEN_MAX], right[LEN_MAX];
	int options = (lib_random(seed) % 3 ? 0 : ACH_O_LAST) | (lib_random(seed) % 3 ? 0 : ACH_O_COPY);
	size_t size = lib_random(seed) % 4 ? sizeof buf : lib_random(seed) % (list.bytes + 1), len = SIZE_MAX, need;
	uint64_t cursor = chan->seq_num, want = cursor + 1, first = list_oldest();
	enum ach_status r = ach_get(chan, buf, size, &len, NULL, options);

	if (!list.newest || (cursor == list.newest && !(options & ACH_O_COPY))) {
		LIB_ASSERT_STATUS(ACH_EAGAIN, r);
		TEST_ASSERT_TRUE(len == SIZE_MAX);
		return;
	}
	if (cursor == list.newest || (options & ACH_O_LAST))
		want = list.newest;
	else if (want < first)
		want = first;
	need = list.len[want % LIST_MAX];
	TEST_ASSERT_EQUAL_size_t(need, len);
	if (need > size) {
		LIB_ASSERT_STATUS(ACH_OVERFLOW, r);
		TEST_ASSERT_TRUE(chan->seq_num == cursor);
		return;
	}
	LIB_ASSERT_STATUS(want > cursor + 1 ? ACH_MISSED_FRAME : ACH_OK, r);
	TEST_ASSERT_TRUE(chan->seq_num == want);
	fill(right, need, want);
	TEST_ASSERT_EQUAL_MEMORY(right, buf, need);
}

TEST(test_alone)
{
	uint64_t seed = (uint64_t)lib_now_ns(CLOCK_REALTIME) | 1, puts = 0;

	printf("seed %#jx\n", (uintmax_t)seed);
	for (int g = 0; g < ALONE_GEOMETRIES; g++) {
		size_t count = 1 + lib_random(&seed) % (g % 4 ? 9 : 2);
		size_t size = 1 + lib_random(&seed) % (g % 3 == 0 ? 3 : g % 3 == 1 ? 300 : 1800);
		char name[LIB_NAME_LEN];
		ach_channel_t chans[3];

		snprintf(geometry, sizeof geometry, "%zu x %zu", count, size);
		memset(&list, 0, sizeof list);
		list.count = count;
		list.bytes = count * size;
		lib_watchdog(geometry, LIB_HANG_S);
		LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "alone"), count, size, NULL));
		for (int i = 0; i < 3; i++)
			LIB_ASSERT_STATUS(ACH_OK, ach_open(&chans[i], name, NULL));
		for (int n = 0; n < ALONE_OPS; n++) {
			ach_channel_t *chan = &chans[lib_random(&seed) % 3];

			if (lib_random(&seed) % 5 < 2) {
				alone_put(chan, &seed);
				puts++;
			} else {
				alone_get(chan, &seed);
			}
		}
		for (int i = 0; i < 3; i++)
			ach_close(&chans[i]);
		LIB_ASSERT_STATUS(ACH_OK, ach_unlink(name));
	}
	printf("alone: %d geometries, %ju puts\n", ALONE_GEOMETRIES, (uintmax_t)puts);
}

/* ---- together ---- */

static struct shared {
	_Atomic uint64_t puts, gets, missed, overflows;
	_Atomic bool stop;
	_Atomic unsigned wrong;
	char notes[NOTES][160];
} * shared;

static struct {
	char name[LIB_NAME_LEN];
	size_t bytes, typical;
	int64_t seconds;
	pid_t pids[WRITERS + READERS];
} run;

struct job {
	/* 0, 1: writers; 2 waits for the next; 3 polls for it, at times with a small buffer; 4: the last, in place */
	int id;
	uint64_t seed;
};

static void note(const struct job *job, const char *what, enum ach_status r, uint64_t seq)
{
	unsigned n = atomic_fetch_add(&shared->wrong, 1);

	if (n < NOTES)
		snprintf(shared->notes[n], sizeof shared->notes[n], "process %d, message %ju: %s, %s", job->id,
			 (uintmax_t)seq, what, ach_result_to_string(r));
}

static int write_on(void *arg)
{
	struct job *job = arg;
	static uint8_t buf[LEN_MAX];
	struct timespec patience = lib_rel_ms(PATIENCE_MS);
	ach_channel_t chan;
	ach_attr_t attr;

	lib_watchdog("writer", 0);
	ach_attr_init(&attr);
	ach_attr_set_put_timeout(&attr, &patience);
	LIB_STATUS(ACH_OK, ach_open(&chan, run.name, &attr));
	for (uint64_t n = 1; !atomic_load_explicit(&shared->stop, memory_order_relaxed); n++) {
		uint64_t random = lib_random(&job->seed);
		size_t most = random % 8 ? run.typical : run.bytes;
		size_t len = LIB_MESSAGE_MIN + (random >> 8) % (most - LIB_MESSAGE_MIN + 1);
		enum ach_status r;
		void *room;

		if (random >> 62) {
			lib_message_make(buf, len, (uint32_t)job->id, n);
			r = ach_put(&chan, buf, len);
		} else {
			r = ach_reserve(&chan, run.bytes, &room);
			if (r == ACH_OK) {
				lib_message_make(room, len, (uint32_t)job->id, n);
				r = ach_commit(&chan, len);
			}
		}
		if (r != ACH_OK)
			note(job, "put", r, n);
		atomic_fetch_add_explicit(&shared->puts, 1, memory_order_relaxed);
		if (random % 1024 == 0)
			usleep((useconds_t)(random >> 40) % 200); /* so that the waiting reader sleeps now and then */
	}
	return 0;
}

struct stream {
	ach_channel_t chan;
	uint64_t seq, number[WRITERS];
};

static void check(const struct job *job, struct stream *s, enum ach_status r, const uint8_t *buf, size_t len)
{
	uint64_t seq = s->chan.seq_num;
	struct lib_message head;

	if (r != ACH_OK && r != ACH_MISSED_FRAME) {
		note(job, "get", r, seq);
		return;
	}
	if (!lib_message_good(buf, len)) {
		note(job, "torn", r, seq);
		return;
	}
	memcpy(&head, buf, sizeof head);
	if (seq <= s->seq)
		note(job, "backwards", r, seq);
	if ((r == ACH_MISSED_FRAME) != (seq != s->seq + 1))
		note(job, "MISSED_FRAME and the sequence numbers disagree", r, seq);
	if (head.writer >= WRITERS || head.number <= s->number[head.writer])
		note(job, "a writer's messages out of order", r, seq);
	else
		s->number[head.writer] = head.number;
	s->seq = seq;
	atomic_fetch_add_explicit(&shared->gets, 1, memory_order_relaxed);
	if (r == ACH_MISSED_FRAME)
		atomic_fetch_add_explicit(&shared->missed, 1, memory_order_relaxed);
}

static void read_next(struct job *job, struct stream *s, uint8_t *buf, int options)
{
	struct timespec patience = lib_after_ms(CLOCK_MONOTONIC, PATIENCE_MS);
	size_t size = LEN_MAX, len = 0;
	uint64_t before = s->chan.seq_num;
	enum ach_status r;

	if (!(options & ACH_O_WAIT) && lib_random(&job->seed) % 8 == 0)
		size = lib_random(&job->seed) % run.typical;
	r = ach_get(&s->chan, buf, size, &len, &patience, options);
	if (r == ACH_OVERFLOW) {
		if (len <= size || len > run.bytes || s->chan.seq_num != before)
			note(job, "OVERFLOW without reason", r, before);
		atomic_fetch_add_explicit(&shared->overflows, 1, memory_order_relaxed);
		size = LEN_MAX;
		r = ach_get(&s->chan, buf, size, &len, &patience, options);
	}
	if (r == ACH_EAGAIN && !(options & ACH_O_WAIT))
		return;
	check(job, s, r, buf, len);
}

static void read_last_in_place(struct job *job, struct stream *s, uint8_t *buf)
{
	struct timespec patience = lib_after_ms(CLOCK_MONOTONIC, PATIENCE_MS);
	const void *bytes;
	size_t len = 0;
	enum ach_status r = ach_peek(&s->chan, &bytes, &len, &patience, ACH_O_LAST | ACH_O_WAIT), end;

	if (r != ACH_OK && r != ACH_MISSED_FRAME) {
		note(job, "peek", r, s->chan.seq_num);
		return;
	}
	memcpy(buf, bytes, len < LEN_MAX ? len : LEN_MAX);
	end = ach_peek_end(&s->chan);
	if (end == ACH_OK)
		check(job, s, r, buf, len);
	else if (end != ACH_EAGAIN)
		note(job, "peek_end", end, s->chan.seq_num);
}

static int read_on(void *arg)
{
	struct job *job = arg;
	static uint8_t buf[LEN_MAX];
	struct stream s = { .seq = 0 };

	lib_watchdog("reader", 0);
	LIB_STATUS(ACH_OK, ach_open(&s.chan, run.name, NULL));
	for (;;) {
		if (job->id == WRITERS + 2)
			read_last_in_place(job, &s, buf);
		else
			read_next(job, &s, buf, job->id == WRITERS ? ACH_O_WAIT : 0);
	}
	return 0;
}

/* share: of the whole, in percent. */
static void together(size_t count, size_t size, unsigned share)
{
	static struct job jobs[WRITERS + READERS];
	uint64_t seed = (uint64_t)lib_now_ns(CLOCK_REALTIME) | 1;
	int64_t begin = lib_now_ns(CLOCK_MONOTONIC);
	ach_channel_t chan;

	snprintf(geometry, sizeof geometry, "%zu x %zu", count, size);
	memset(shared, 0, sizeof *shared);
	run.bytes = count * size;
	run.typical = count == 1 ? run.bytes : 2 * size;
	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(run.name, "mixed"), count, size, NULL));
	lib_watchdog("mixed sizes", (unsigned)run.seconds + 300);
	for (int i = 0; i < WRITERS + READERS; i++) {
		jobs[i] = (struct job){ .id = i, .seed = lib_random(&seed) };
		run.pids[i] = lib_child(i < WRITERS ? write_on : read_on, &jobs[i]);
	}
	while (!shared->wrong &&
	       (lib_now_ns(CLOCK_MONOTONIC) - begin < run.seconds * INT64_C(10000000) * share ||
		shared->puts * 100 < PUTS_MIN * (uint64_t)share || shared->gets * 100 < GETS_MIN * (uint64_t)share))
		usleep(10000);
	atomic_store(&shared->stop, true);
	for (int i = 0; i < WRITERS; i++) {
		TEST_ASSERT_EQUAL_MESSAGE(0, lib_join(run.pids[i]), "a writer's end");
		run.pids[i] = 0;
	}
	for (int i = WRITERS; i < WRITERS + READERS; i++) {
		kill(run.pids[i], SIGKILL);
		TEST_ASSERT_EQUAL_MESSAGE(128 + SIGKILL, lib_join(run.pids[i]), "a reader ended by itself");
		run.pids[i] = 0;
	}
	printf("together %zu x %zu: %ju puts, %ju gets, %ju after a gap, %ju overflows\n", count, size,
	       (uintmax_t)shared->puts, (uintmax_t)shared->gets, (uintmax_t)shared->missed,
	       (uintmax_t)shared->overflows);
	for (unsigned i = 0; i < shared->wrong && i < NOTES; i++)
		printf("wrong: %s\n", shared->notes[i]);
	TEST_ASSERT_EQUAL_MESSAGE(0, shared->wrong, "things noted as wrong");
	TEST_ASSERT_TRUE_MESSAGE(shared->missed > 0, "readers were overtaken");
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, run.name, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_flush(&chan));
	TEST_ASSERT_TRUE_MESSAGE(chan.seq_num == shared->puts, "as many messages as puts");
	ach_close(&chan);
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(run.name));
}

TEST(test_one_near_half_a_page)
{
	together(1, 2032, 30); /* twice this and the padding is just a page: no byte to spare */
}

TEST(test_one_of_a_page)
{
	together(1, 4096, 30);
}

TEST(test_three_of_any_size)
{
	together(3, 1000, 20);
}

TEST(test_two_small)
{
	together(2, 64, 20);
}

void tearDown(void)
{
	alarm(0); /* a leak check at exit may take its time */
	if (Unity.CurrentTestFailed)
		printf("the channel was %s\n", geometry);
	for (int i = 0; i < WRITERS + READERS; i++) {
		if (run.pids[i])
			lib_kill(run.pids[i]);
		run.pids[i] = 0;
	}
}

void testcase_begin(void)
{
	const char *seconds = getenv("MIXED_SECONDS");

	run.seconds = seconds ? atoi(seconds) : SECONDS_DEFAULT;
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	LIB_CHECK(shared != MAP_FAILED);
	setvbuf(stdout, NULL, _IOLBF, 0);
}
