/* test_readonly.c: a reader that may only read, and a reader without permission.
 *
 * As root the reader is a child that became another user; otherwise it is the
 * owner of a file without write permission.
 */
#define _GNU_SOURCE
#include <poll.h>

#include "channels/ach/ach_ring.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

#define ROUNDS 30
#define ROUNDS_POLLED 5 /* without the bell each may take a slice */

static char name[LIB_NAME_LEN];
static ach_channel_t writer;
static struct lib_gate *gate; /* rounds the reader has finished */

static void create(mode_t mode, gid_t group)
{
	ach_create_attr_t attr;

	ach_create_attr_init(&attr);
	LIB_STATUS(ACH_OK, ach_create_attr_set_mode(&attr, mode, group));
	LIB_STATUS(ACH_OK, ach_create(lib_name(name, "readonly"), 4, 16, &attr));
	LIB_STATUS(ACH_OK, ach_open(&writer, name, NULL));
}

void setUp(void)
{
	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
	gate = lib_gate_new();
}

void tearDown(void)
{
	(void)ach_close(&writer);
	(void)ach_unlink(name);
	lib_gate_free(gate);
}

static void become_reader(void)
{
	if (lib_can_drop())
		lib_drop((gid_t)-1);
}

/* A channel a reader may read; without its bell if asked. */
static void create_readable(bool bell)
{
	create(0644, (gid_t)-1);
	if (!lib_can_drop())
		LIB_ASSERT_STATUS(ACH_OK, ach_chmod(&writer, 0444));
	TEST_ASSERT_TRUE(lib_segment_exists(lib_bell(name)));
	if (!bell)
		lib_segment_chmod(lib_bell(name), 0400);
}

static void open_read_only(ach_channel_t *chan, bool bell)
{
	become_reader();
	LIB_STATUS(ACH_OK, ach_open(chan, name, NULL));
	LIB_CHECK(!chan->handle->writable);
	LIB_CHECK(!chan->handle->hint == !bell);
}

/* ---- get and put without waiting ---- */

static int reads(void *bell)
{
	ach_channel_t chan;
	const void *peek;
	void *room;
	char buf[16];
	size_t len;

	open_read_only(&chan, *(bool *)bell);
	LIB_STATUS(ACH_EACCES, ach_put(&chan, "x", 1));
	LIB_STATUS(ACH_EACCES, ach_reserve(&chan, 1, &room));
	LIB_STATUS(ACH_OK, ach_get(&chan, buf, sizeof buf, &len, NULL, 0));
	LIB_CHECK(len == 1 && buf[0] == '1');
	LIB_STATUS(ACH_OK, ach_peek(&chan, &peek, &len, NULL, 0));
	LIB_CHECK(len == 1 && *(const char *)peek == '2');
	LIB_STATUS(ACH_OK, ach_peek_end(&chan));
	LIB_STATUS(ACH_EAGAIN, ach_get(&chan, buf, sizeof buf, &len, NULL, 0));
	LIB_STATUS(ACH_OK, ach_get(&chan, buf, sizeof buf, &len, NULL, ACH_O_COPY));
	LIB_STATUS(ACH_OK, ach_flush(&chan));
	if (lib_can_drop())
		LIB_STATUS(ACH_EACCES, ach_chmod(&chan, 0666));
	LIB_STATUS(ACH_OK, ach_close(&chan));
	return 0;
}

TEST(test_reads_without_waiting)
{
	for (int i = 0; i < 2; i++) {
		bool bell = i;

		create_readable(bell);
		LIB_ASSERT_STATUS(ACH_OK, ach_put(&writer, "1", 1));
		LIB_ASSERT_STATUS(ACH_OK, ach_put(&writer, "2", 1));
		TEST_ASSERT_EQUAL_INT(0, lib_join(lib_child(reads, &bell)));
		if (!bell) {
			tearDown();
			setUp();
		}
	}
}

static int cannot_be_source(void *unused)
{
	ach_channel_t chan;
	ach_attr_t attr;

	(void)unused;
	become_reader();
	ach_attr_init(&attr);
	LIB_STATUS(ACH_OK, ach_attr_set_lock_source(&attr, 1));
	LIB_STATUS(ACH_EACCES, ach_open(&chan, name, &attr));
	return 0;
}

TEST(test_a_reader_cannot_be_the_source)
{
	create_readable(true);
	TEST_ASSERT_EQUAL_INT(0, lib_join(lib_child(cannot_be_source, NULL)));
}

/* ---- waiting ---- */

enum way { GET, PEEK, DESCRIPTOR, WAIT_ANY };

struct waiter {
	bool bell;
	enum way way;
};

static void wait_for_message(ach_channel_t *chan, enum way way, int *number)
{
	struct timespec hang = lib_hang();
	ach_channel_t *chans[] = { chan };
	const void *peek;
	struct pollfd p = { .events = POLLIN };
	enum ach_status status = ACH_EAGAIN;
	size_t which;

	switch (way) {
	case GET:
		LIB_STATUS(ACH_OK, ach_get(chan, number, sizeof *number, NULL, &hang, ACH_O_WAIT));
		break;
	case PEEK:
		LIB_STATUS(ACH_OK, ach_peek(chan, &peek, NULL, &hang, ACH_O_WAIT));
		memcpy(number, peek, sizeof *number);
		LIB_STATUS(ACH_OK, ach_peek_end(chan));
		break;
	case DESCRIPTOR:
		LIB_STATUS(ACH_OK, ach_channel_fd(chan, &p.fd));
		while (status == ACH_EAGAIN) { /* it may be readable for nothing */
			LIB_CHECK(poll(&p, 1, LIB_HANG_S * 1000) == 1);
			status = ach_get(chan, number, sizeof *number, NULL, NULL, 0);
		}
		LIB_STATUS(ACH_OK, status);
		break;
	case WAIT_ANY:
		LIB_STATUS(ACH_OK, ach_wait_any(chans, 1, &hang, &which));
		LIB_STATUS(ACH_OK, ach_get(chan, number, sizeof *number, NULL, NULL, 0));
		break;
	}
}

static int waits(void *arg)
{
	struct waiter *w = arg;
	ach_channel_t chan;
	int number;

	open_read_only(&chan, w->bell);
	for (int i = 1; i <= (w->bell ? ROUNDS : ROUNDS_POLLED); i++) {
		wait_for_message(&chan, w->way, &number);
		LIB_CHECK(number == i);
		lib_gate_set(gate, i);
	}
	LIB_STATUS(ACH_OK, ach_close(&chan));
	return 0;
}

static void waiting(enum way way)
{
	for (int bell = 0; bell < 2; bell++) {
		struct waiter w = { .bell = bell, .way = way };
		pid_t pid;

		create_readable(bell);
		lib_gate_set(gate, 0);
		pid = lib_child(waits, &w);
		for (int i = 1; i <= (bell ? ROUNDS : ROUNDS_POLLED); i++) {
			uint64_t newest;

			lib_until_asleep(pid);
			LIB_ASSERT_STATUS(ACH_OK, ach_put(&writer, &i, sizeof i));
			newest = atomic_load(&writer.shm->commit);
			/* It was woken by the bell, not by patience; no bell is rung where there is none.
			 * (A helper thread may come round to ring only after the reader sleeps.) */
			if (!bell || way != DESCRIPTOR)
				TEST_ASSERT_EQUAL_UINT64(bell ? newest : 0, atomic_load(&writer.shm->woken));
			lib_gate_wait(gate, i);
		}
		TEST_ASSERT_EQUAL_INT(0, lib_join(pid));
		if (!bell) {
			tearDown();
			setUp();
		}
	}
}

TEST(test_wait_in_get)
{
	waiting(GET);
}

TEST(test_wait_in_peek)
{
	waiting(PEEK);
}

TEST(test_wait_with_the_descriptor)
{
	waiting(DESCRIPTOR);
}

TEST(test_wait_any)
{
	waiting(WAIT_ANY);
}

/* ---- permissions ---- */

static int opens(void *expected)
{
	ach_channel_t chan;

	become_reader();
	LIB_STATUS(*(enum ach_status *)expected, ach_open(&chan, name, NULL));
	return 0;
}

TEST(test_no_permission_at_all)
{
	enum ach_status expected = ACH_EACCES;

	create(0600, (gid_t)-1);
	if (!lib_can_drop())
		LIB_ASSERT_STATUS(ACH_OK, ach_chmod(&writer, 0));
	TEST_ASSERT_EQUAL_INT(0, lib_join(lib_child(opens, &expected)));
}

TEST(test_write_permission_alone_is_not_enough)
{
	enum ach_status expected = ACH_EACCES;

	create(0622, (gid_t)-1);
	if (!lib_can_drop())
		LIB_ASSERT_STATUS(ACH_OK, ach_chmod(&writer, 0222));
	TEST_ASSERT_EQUAL_INT(0, lib_join(lib_child(opens, &expected)));
}

/* A writer that could not see who waits would leave them asleep. */
TEST(test_a_writer_needs_the_bell)
{
	enum ach_status expected = ACH_EACCES;

	create(0646, (gid_t)-1); /* the group may only read, so there is a bell */
	lib_segment_chmod(lib_bell(name), 0400);
	TEST_ASSERT_EQUAL_INT(0, lib_join(lib_child(opens, &expected)));
}

struct member {
	gid_t group;
	enum ach_status expected;
};

static int opens_as_member(void *arg)
{
	struct member *m = arg;
	ach_channel_t chan;

	lib_drop(m->group);
	LIB_STATUS(m->expected, ach_open(&chan, name, NULL));
	if (m->expected)
		return 0;
	LIB_CHECK(!chan.handle->writable && chan.handle->hint);
	wait_for_message(&chan, GET, &(int){ 0 });
	LIB_STATUS(ACH_EACCES, ach_put(&chan, "x", 1));
	return 0;
}

TEST(test_group_may_read)
{
	const gid_t group = 64000; /* has no members */
	struct member in = { group, ACH_OK }, out = { (gid_t)-1, ACH_EACCES };
	pid_t pid;
	int one = 1;

	if (!lib_can_drop())
		TEST_IGNORE_MESSAGE("needs root");
	create(0640, group);
	pid = lib_child(opens_as_member, &in);
	lib_until_asleep(pid);
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&writer, &one, sizeof one));
	TEST_ASSERT_EQUAL_UINT64(1, atomic_load(&writer.shm->woken));
	TEST_ASSERT_EQUAL_INT(0, lib_join(pid));
	TEST_ASSERT_EQUAL_INT(0, lib_join(lib_child(opens_as_member, &out)));
}

static int writes(void *unused)
{
	ach_channel_t chan;

	(void)unused;
	if (lib_can_drop())
		lib_drop((gid_t)-1);
	LIB_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	LIB_STATUS(ACH_OK, ach_put(&chan, "x", 1));
	return 0;
}

TEST(test_every_user_may_write)
{
	create(0666, (gid_t)-1);
	TEST_ASSERT_EQUAL_INT(0, lib_join(lib_child(writes, NULL)));
	LIB_ASSERT_STATUS(ACH_OK, ach_get(&writer, &(char){ 0 }, 1, NULL, NULL, 0));
}
