/* test_threads_tsan.c: many threads on one anonymous channel, which all of them see at the same
 * address, so that ThreadSanitizer can tell a race.  Short; without a sanitizer it is one more stress test.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <sched.h>

#include "test/lib/lib.h"
#include "test/lib/testcase.h"

#define WRITERS 3
#define PUTS 4000 /* of each writer */
#define BYTES 240 /* of the longest message, a multiple of 8 */

static struct ach_header *shm;
static int writers_left;

void setUp(void)
{
	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
}

static void open_own(ach_channel_t *chan)
{
	struct timespec patience = lib_rel_ms(LIB_HANG_S * 1000);
	ach_attr_t attr;

	ach_attr_init(&attr);
	LIB_STATUS(ACH_OK, ach_attr_set_shm(&attr, shm));
	LIB_STATUS(ACH_OK, ach_attr_set_put_timeout(&attr, &patience));
	LIB_STATUS(ACH_OK, ach_open(chan, NULL, &attr));
}

/* ---- writers ---- */

/* Who writes into a reservation while slow readers may still copy what was there must do it as the
 * library does for ThreadSanitizer: word by word. */
static void copy_words(void *to, const void *from, size_t len)
{
	uint64_t *t = to;

	for (size_t i = 0; i < len / 8; i++) {
		uint64_t word;

		memcpy(&word, (const uint8_t *)from + i * 8, 8);
		__atomic_store_n(&t[i], word, __ATOMIC_RELEASE);
	}
}

static void *write_messages(void *arg)
{
	uint32_t number = (uint32_t)(uintptr_t)arg;
	uint64_t random = number + 1, message[BYTES / 8];
	ach_channel_t chan;

	open_own(&chan);
	for (uint64_t i = 1; i <= PUTS; i++) {
		size_t len = (LIB_MESSAGE_MIN + lib_random(&random) % (BYTES - LIB_MESSAGE_MIN + 1)) & ~(size_t)7;
		void *room;

		lib_message_make(message, len, number, i);
		if (lib_random(&random) % 2) {
			LIB_STATUS(ACH_OK, ach_put(&chan, message, len));
			continue;
		}
		LIB_STATUS(ACH_OK, ach_reserve(&chan, BYTES, &room));
		copy_words(room, message, len);
		LIB_STATUS(ACH_OK, ach_commit(&chan, len));
	}
	LIB_STATUS(ACH_OK, ach_close(&chan));
	__atomic_sub_fetch(&writers_left, 1, __ATOMIC_ACQ_REL);
	return NULL;
}

/* ---- readers ---- */

struct seen {
	uint64_t last[WRITERS];
	uint64_t total;
};

/* Whole, and in order for each writer; the newest again (COPY) is the same number. */
static void check_message(struct seen *seen, const void *buf, size_t len, bool again)
{
	struct lib_message head;

	LIB_CHECK(lib_message_good(buf, len));
	memcpy(&head, buf, sizeof head);
	LIB_CHECK(head.writer < WRITERS);
	LIB_CHECK(head.number > seen->last[head.writer] || (again && head.number == seen->last[head.writer]));
	seen->last[head.writer] = head.number;
	seen->total++;
}

static bool finished(const ach_channel_t *chan)
{
	return chan->seq_num == WRITERS * PUTS; /* there are no more messages: no reader may wait for one */
}

static void *read_messages(void *arg)
{
	int options = (int)(intptr_t)arg;
	struct seen seen = { 0 };
	ach_channel_t chan;

	open_own(&chan);
	while (!finished(&chan)) {
		struct timespec soon = lib_after_ms(CLOCK_MONOTONIC, 50);
		uint64_t buf[BYTES / 8];
		size_t len;
		enum ach_status status = ach_get(&chan, buf, sizeof buf, &len, &soon, options);

		if (status == ACH_OK || status == ACH_MISSED_FRAME)
			check_message(&seen, buf, len, options & ACH_O_COPY);
		else if (options & ACH_O_WAIT)
			LIB_STATUS(ACH_TIMEOUT, status);
		else {
			LIB_STATUS(ACH_EAGAIN, status);
			sched_yield();
		}
	}
	LIB_CHECK(seen.total > 0);
	LIB_STATUS(ACH_OK, ach_close(&chan));
	return NULL;
}

static void *peek_at_messages(void *unused)
{
	struct seen seen = { 0 };
	ach_channel_t chan;

	(void)unused;
	open_own(&chan);
	while (!finished(&chan)) {
		uint64_t buf[BYTES / 8];
		const void *message;
		size_t len;
		enum ach_status status = ach_peek(&chan, &message, &len, NULL, ACH_O_LAST);

		if (status == ACH_EAGAIN) {
			sched_yield();
			continue;
		}
		LIB_CHECK(status == ACH_OK || status == ACH_MISSED_FRAME);
		LIB_CHECK(len <= sizeof buf);
		for (size_t i = 0; i < len / 8; i++)
			buf[i] = __atomic_load_n((const uint64_t *)message + i, __ATOMIC_ACQUIRE);
		status = ach_peek_end(&chan);
		if (status == ACH_OK)
			check_message(&seen, buf, len, false);
		else
			LIB_STATUS(ACH_EAGAIN, status);
	}
	LIB_STATUS(ACH_OK, ach_close(&chan));
	return NULL;
}

static void *read_with_descriptor(void *unused)
{
	struct pollfd p = { .events = POLLIN };
	struct seen seen = { 0 };
	ach_channel_t chan;

	(void)unused;
	open_own(&chan);
	LIB_STATUS(ACH_OK, ach_channel_fd(&chan, &p.fd));
	while (!finished(&chan)) {
		uint64_t buf[BYTES / 8];
		enum ach_status status;
		size_t len;

		LIB_CHECK(poll(&p, 1, LIB_HANG_S * 1000) == 1);
		while ((status = ach_get(&chan, buf, sizeof buf, &len, NULL, 0)) != ACH_EAGAIN) {
			LIB_CHECK(status == ACH_OK || status == ACH_MISSED_FRAME);
			check_message(&seen, buf, len, false);
		}
	}
	LIB_STATUS(ACH_OK, ach_close(&chan));
	return NULL;
}

/* Handles of one thread that come and go beside all others. */
static void *open_and_close(void *unused)
{
	(void)unused;
	while (__atomic_load_n(&writers_left, __ATOMIC_ACQUIRE)) {
		ach_channel_t chan, *any[] = { &chan };
		uint64_t buf[BYTES / 8];
		struct timespec past = { 0, 0 };
		int fd;

		open_own(&chan);
		LIB_STATUS(ACH_OK, ach_channel_fd(&chan, &fd));
		(void)ach_get(&chan, buf, sizeof buf, NULL, NULL, ACH_O_LAST);
		(void)ach_wait_any(any, 1, &past, NULL);
		LIB_STATUS(ACH_OK, ach_flush(&chan));
		LIB_STATUS(ACH_OK, ach_close(&chan));
	}
	return NULL;
}

/* ---- cancel ---- */

static ach_channel_t to_cancel;
static struct lib_gate *cancelled; /* how often the reader has answered */
#define CANCELS 200

static void *is_cancelled(void *unused)
{
	(void)unused;
	for (int i = 1; i <= CANCELS; i++) {
		uint64_t buf[BYTES / 8];
		enum ach_status status;

		do {
			status = ach_get(&to_cancel, buf, sizeof buf, NULL, NULL, ACH_O_WAIT);
			LIB_CHECK(status == ACH_OK || status == ACH_MISSED_FRAME || status == ACH_CANCELED);
		} while (status != ACH_CANCELED);
		to_cancel.cancel = 0; /* the other thread does not touch it before it gets the signal */
		lib_gate_set(cancelled, i);
	}
	return NULL;
}

static void *cancels(void *unused)
{
	(void)unused;
	for (int i = 1; i <= CANCELS; i++) {
		LIB_STATUS(ACH_OK, ach_cancel(&to_cancel, NULL));
		lib_gate_wait(cancelled, i);
	}
	return NULL;
}

/* ---- all together ---- */

static int play(void *unused)
{
	static const struct {
		void *(*run)(void *);
		int arg;
	} crew[] = {
		{ write_messages, 0 },	       { write_messages, 1 },
		{ write_messages, 2 },	       { read_messages, 0 },
		{ read_messages, ACH_O_LAST }, { read_messages, ACH_O_COPY },
		{ read_messages, ACH_O_WAIT }, { read_messages, ACH_O_WAIT | ACH_O_LAST },
		{ peek_at_messages, 0 },       { read_with_descriptor, 0 },
		{ read_with_descriptor, 0 },   { open_and_close, 0 },
		{ is_cancelled, 0 },	       { cancels, 0 },
	};
	enum { CREW = sizeof crew / sizeof *crew };
	pthread_t threads[CREW];
	ach_create_attr_t attr;

	(void)unused;
	ach_create_attr_init(&attr);
	LIB_STATUS(ACH_OK, ach_create_attr_set_map(&attr, ACH_MAP_ANON));
	LIB_STATUS(ACH_OK, ach_create(NULL, 4, BYTES / 2, &attr));
	LIB_STATUS(ACH_OK, ach_create_attr_get_shm(&attr, &shm));
	writers_left = WRITERS;
	open_own(&to_cancel);
	cancelled = lib_gate_new();
	for (int i = 0; i < CREW; i++)
		LIB_CHECK(pthread_create(&threads[i], NULL, crew[i].run, (void *)(intptr_t)crew[i].arg) == 0);
	for (int i = 0; i < CREW; i++)
		LIB_CHECK(pthread_join(threads[i], NULL) == 0);
	LIB_STATUS(ACH_OK, ach_close(&to_cancel));
	return 0;
}

TEST(test_threads)
{
	TEST_ASSERT_EQUAL_INT(0, lib_join(lib_child(play, NULL)));
}
