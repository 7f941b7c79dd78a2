/* test_zero_copy.c: reserve and commit, peek and peek_end: every answer, and what a mistake leaves behind. */
#define _GNU_SOURCE
#include <pthread.h>

#include "test/lib/lib.h"
#include "test/lib/testcase.h"

static char name_a[LIB_NAME_LEN], name_b[LIB_NAME_LEN];
static ach_channel_t a, a2, b; /* two handles of one channel, one of another */

static void open_fast(ach_channel_t *chan, const char *name)
{
	struct timespec short_time = lib_rel_ms(10);
	ach_attr_t attr;

	ach_attr_init(&attr);
	LIB_STATUS(ACH_OK, ach_attr_set_put_timeout(&attr, &short_time));
	LIB_STATUS(ACH_OK, ach_open(chan, name, &attr));
}

void setUp(void)
{
	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
	LIB_STATUS(ACH_OK, ach_create(lib_name(name_a, "zero-a"), 4, 8, NULL));
	LIB_STATUS(ACH_OK, ach_create(lib_name(name_b, "zero-b"), 4, 8, NULL));
	open_fast(&a, name_a);
	open_fast(&a2, name_a);
	open_fast(&b, name_b);
}

void tearDown(void)
{
	(void)ach_close(&a);
	(void)ach_close(&a2);
	(void)ach_close(&b);
	(void)ach_unlink(name_a);
	(void)ach_unlink(name_b);
}

static void assert_next(ach_channel_t *chan, const char *text)
{
	char buf[64];
	size_t len;

	LIB_ASSERT_STATUS(ACH_OK, ach_get(chan, buf, sizeof buf, &len, NULL, 0));
	TEST_ASSERT_EQUAL_size_t(strlen(text), len);
	TEST_ASSERT_EQUAL_MEMORY(text, buf, len);
}

static void assert_nothing(ach_channel_t *chan)
{
	char buf[64];

	LIB_ASSERT_STATUS(ACH_EAGAIN, ach_get(chan, buf, sizeof buf, NULL, NULL, 0));
}

static void *in_thread(void *(*body)(void *))
{
	pthread_t thread;
	void *result;

	LIB_CHECK(pthread_create(&thread, NULL, body, NULL) == 0);
	LIB_CHECK(pthread_join(thread, &result) == 0);
	return result;
}

static void *put_in_thread(void *unused)
{
	ach_channel_t mine;
	enum ach_status status;

	(void)unused;
	open_fast(&mine, name_a);
	status = ach_put(&mine, "thread", 6);
	LIB_STATUS(ACH_OK, ach_close(&mine));
	return (void *)(intptr_t)status;
}

/* Is the writers' lock of channel a free for others? */
static void assert_others_can_put(bool can)
{
	TEST_ASSERT_EQUAL_STRING(ach_result_to_string(can ? ACH_OK : ACH_TIMEOUT),
				 ach_result_to_string((enum ach_status)(intptr_t)in_thread(put_in_thread)));
}

/* ---- reserve, commit ---- */

TEST(test_commit_publishes)
{
	void *room;

	LIB_ASSERT_STATUS(ACH_OK, ach_reserve(&a, 32, &room)); /* all of it */
	TEST_ASSERT_EQUAL_UINT64(0, (uintptr_t)room % 16);
	memcpy(room, "hello, you", 10);
	assert_nothing(&a2);
	assert_nothing(&a); /* nor for the one who reserved */
	assert_others_can_put(false);
	LIB_ASSERT_STATUS(ACH_OK, ach_commit(&a, 5)); /* less than reserved */
	assert_next(&a2, "hello");
	assert_next(&a, "hello");
	assert_others_can_put(true);
	assert_next(&a2, "thread");
}

TEST(test_reserve_errors)
{
	void *room = &room;

	LIB_ASSERT_STATUS(ACH_EINVAL, ach_reserve(&a, 0, &room));
	LIB_ASSERT_STATUS(ACH_EINVAL, ach_reserve(&a, 8, NULL));
	LIB_ASSERT_STATUS(ACH_OVERFLOW, ach_reserve(&a, 33, &room));
	LIB_ASSERT_STATUS(ACH_OVERFLOW, ach_reserve(&a, SIZE_MAX, &room));
	TEST_ASSERT_EQUAL_PTR(&room, room);
	assert_others_can_put(true); /* none of them kept the lock */
	LIB_ASSERT_STATUS(ACH_EINVAL, ach_commit(&a, 1));
	LIB_ASSERT_STATUS(ACH_EINVAL, ach_commit(&a, 0));
}

TEST(test_give_up)
{
	void *room;

	LIB_ASSERT_STATUS(ACH_OK, ach_reserve(&a, 8, &room));
	memset(room, 'x', 8);
	LIB_ASSERT_STATUS(ACH_OK, ach_commit(&a, 0));
	assert_nothing(&a);
	LIB_ASSERT_STATUS(ACH_EINVAL, ach_commit(&a, 1));
	assert_others_can_put(true);
	assert_next(&a, "thread");
}

TEST(test_commit_of_too_much_gives_up)
{
	void *room;

	LIB_ASSERT_STATUS(ACH_OK, ach_reserve(&a, 8, &room));
	LIB_ASSERT_STATUS(ACH_OVERFLOW, ach_commit(&a, 9));
	assert_nothing(&a);
	LIB_ASSERT_STATUS(ACH_EINVAL, ach_commit(&a, 8));
	assert_others_can_put(true);
}

TEST(test_close_gives_up)
{
	void *room;

	LIB_ASSERT_STATUS(ACH_OK, ach_put(&a, "before", 6));
	LIB_ASSERT_STATUS(ACH_OK, ach_reserve(&a, 8, &room));
	memset(room, 'x', 8);
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&a));
	assert_others_can_put(true);
	assert_next(&a2, "before");
	assert_next(&a2, "thread");
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&a2, "mine", 4)); /* nor does this thread think it holds it */
}

TEST(test_put_inside_own_reservation_is_a_bug)
{
	void *room, *other;

	LIB_ASSERT_STATUS(ACH_OK, ach_reserve(&a, 8, &room));
	memcpy(room, "reserved", 8);
	LIB_ASSERT_STATUS(ACH_BUG, ach_put(&a, "x", 1));
	LIB_ASSERT_STATUS(ACH_BUG, ach_reserve(&a, 1, &other));
	LIB_ASSERT_STATUS(ACH_BUG, ach_put(&a2, "x", 1)); /* through another handle too */
	LIB_ASSERT_STATUS(ACH_BUG, ach_reserve(&a2, 1, &other));
	LIB_ASSERT_STATUS(ACH_EINVAL, ach_commit(&a2, 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_commit(&a, 8)); /* and it is still there */
	assert_next(&a2, "reserved");
	assert_nothing(&a2);
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&a2, "x", 1));
	assert_others_can_put(true);
}

static void *commit_in_thread(void *unused)
{
	(void)unused;
	return (void *)(intptr_t)ach_commit(&a, 4);
}

TEST(test_commit_by_another_thread_is_a_bug)
{
	void *room;

	LIB_ASSERT_STATUS(ACH_OK, ach_reserve(&a, 8, &room));
	memcpy(room, "mine", 4);
	TEST_ASSERT_EQUAL_INT(ACH_BUG, (intptr_t)in_thread(commit_in_thread));
	assert_nothing(&a2);
	assert_others_can_put(false);
	LIB_ASSERT_STATUS(ACH_OK, ach_commit(&a, 4));
	assert_next(&a2, "mine");
	assert_others_can_put(true);
}

/* ---- two channels at once ---- */

static int put_to_both(void *unused)
{
	ach_channel_t x, y;

	(void)unused;
	open_fast(&x, name_a);
	open_fast(&y, name_b);
	LIB_STATUS(ACH_OK, ach_put(&x, "child", 5));
	LIB_STATUS(ACH_OK, ach_put(&y, "child", 5));
	return 0;
}

static void nested(bool inner_first)
{
	void *room_a, *room_b;

	LIB_ASSERT_STATUS(ACH_OK, ach_reserve(&a, 8, &room_a));
	memcpy(room_a, "in a", 4);
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&b, "within", 6)); /* a put inside another's reservation */
	LIB_ASSERT_STATUS(ACH_OK, ach_reserve(&b, 8, &room_b));
	memcpy(room_b, "in b", 4);
	LIB_ASSERT_STATUS(ACH_BUG, ach_put(&a2, "x", 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_commit(inner_first ? &b : &a, 4));
	LIB_ASSERT_STATUS(inner_first ? ACH_BUG : ACH_OK, ach_put(&a2, "y", 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_commit(inner_first ? &a : &b, 4));
	assert_next(&a, "in a");
	if (!inner_first)
		assert_next(&a, "y");
	assert_nothing(&a);
	assert_next(&b, "within");
	assert_next(&b, "in b");
	assert_nothing(&b);
	TEST_ASSERT_EQUAL_INT(0, lib_join(lib_child(put_to_both, NULL)));
	assert_next(&a, "child");
	assert_next(&b, "child");
}

TEST(test_nested_inner_first)
{
	nested(true);
}

TEST(test_nested_out_of_order)
{
	nested(false);
}

/* Out of order, then killed inside the last reservation: the next writer must get the lock. */
static int dies_out_of_order(void *gate)
{
	void *room;

	LIB_STATUS(ACH_OK, ach_reserve(&a, 8, &room));
	LIB_STATUS(ACH_OK, ach_reserve(&b, 8, &room));
	LIB_STATUS(ACH_OK, ach_commit(&a, 1));
	lib_gate_set(gate, 1);
	lib_gate_wait(gate, 2); /* never */
	return 0;
}

TEST(test_killed_between_commits_out_of_order)
{
	struct lib_gate *gate = lib_gate_new();
	pid_t pid = lib_child(dies_out_of_order, gate);

	lib_gate_wait(gate, 1);
	lib_kill(pid);
	TEST_ASSERT_EQUAL_INT(0, lib_join(lib_child(put_to_both, NULL)));
	lib_gate_free(gate);
}

/* Killed while it holds both: both must be free again, the outer one too. */
static int dies_nested(void *gate)
{
	void *room;

	LIB_STATUS(ACH_OK, ach_reserve(&a, 8, &room));
	LIB_STATUS(ACH_OK, ach_reserve(&b, 8, &room));
	lib_gate_set(gate, 1);
	lib_gate_wait(gate, 2); /* never */
	return 0;
}

TEST(test_killed_in_a_nested_reservation)
{
	struct lib_gate *gate = lib_gate_new();
	pid_t pid = lib_child(dies_nested, gate);

	lib_gate_wait(gate, 1);
	lib_kill(pid);
	TEST_ASSERT_EQUAL_INT(0, lib_join(lib_child(put_to_both, NULL)));
	lib_gate_free(gate);
}

/* ---- wrap-around ---- */

TEST(test_messages_are_contiguous_and_aligned)
{
	char name[LIB_NAME_LEN];
	uint64_t random = 521288629;
	ach_channel_t w, r;
	size_t max = 3 * 700;

	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "zero-wrap"), 3, 700, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&w, name, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&r, name, NULL));
	for (uint64_t i = 1; i <= 3000; i++) {
		size_t len = LIB_MESSAGE_MIN + lib_random(&random) % (max - LIB_MESSAGE_MIN + 1), got;
		struct lib_message head;
		const void *seen;
		void *room;

		LIB_ASSERT_STATUS(ACH_OK, ach_reserve(&w, max, &room));
		TEST_ASSERT_EQUAL_UINT64(0, (uintptr_t)room % 16);
		lib_message_make(room, len, 0, i);
		LIB_ASSERT_STATUS(ACH_OK, ach_commit(&w, len));
		LIB_ASSERT_STATUS(ACH_OK, ach_peek(&r, &seen, &got, NULL, 0));
		TEST_ASSERT_EQUAL_UINT64(0, (uintptr_t)seen % 16);
		TEST_ASSERT_EQUAL_size_t(len, got);
		TEST_ASSERT_TRUE(lib_message_good(seen, got));
		memcpy(&head, seen, sizeof head);
		TEST_ASSERT_EQUAL_UINT64(i, head.number);
		LIB_ASSERT_STATUS(ACH_OK, ach_peek_end(&r));
	}
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&w));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&r));
}

/* Writing into a reservation of the full size touches nothing that is retained. */
TEST(test_reservation_lies_outside_what_is_retained)
{
	char name[LIB_NAME_LEN], expected[8], got[8];
	ach_channel_t w, r;
	void *room;
	size_t len;

	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "zero-outside"), 4, 2, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&w, name, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&r, name, NULL));
	for (int i = 0; i < 2000; i++) {
		size_t size = (size_t)(i * 7 % 8) + 1;

		memset(expected, i, sizeof expected);
		LIB_ASSERT_STATUS(ACH_OK, ach_put(&w, expected, size));
		LIB_ASSERT_STATUS(ACH_OK, ach_reserve(&w, 8, &room));
		memset(room, 0xee, 8);
		LIB_ASSERT_STATUS(ACH_OK, ach_commit(&w, 0));
		LIB_ASSERT_STATUS(ACH_OK, ach_get(&r, got, sizeof got, &len, NULL, 0));
		TEST_ASSERT_EQUAL_size_t(size, len);
		TEST_ASSERT_EQUAL_MEMORY(expected, got, size);
	}
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&w));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&r));
}

/* ---- peek ---- */

TEST(test_peek_moves_the_cursor_at_its_end)
{
	const void *seen;
	size_t len;

	LIB_ASSERT_STATUS(ACH_OK, ach_put(&a, "one", 3));
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&a, "two", 3));
	LIB_ASSERT_STATUS(ACH_OK, ach_peek(&a, &seen, &len, NULL, 0));
	TEST_ASSERT_EQUAL_size_t(3, len);
	TEST_ASSERT_EQUAL_MEMORY("one", seen, 3);
	TEST_ASSERT_EQUAL_UINT64(0, a.seq_num);
	LIB_ASSERT_STATUS(ACH_OK, ach_peek(&a, &seen, &len, NULL, 0)); /* the same once more */
	TEST_ASSERT_EQUAL_MEMORY("one", seen, 3);
	LIB_ASSERT_STATUS(ACH_OK, ach_peek_end(&a));
	TEST_ASSERT_EQUAL_UINT64(1, a.seq_num);
	LIB_ASSERT_STATUS(ACH_EINVAL, ach_peek_end(&a));
	TEST_ASSERT_EQUAL_UINT64(1, a.seq_num);
	LIB_ASSERT_STATUS(ACH_OK, ach_peek(&a, &seen, NULL, NULL, 0)); /* frame_size may be NULL */
	TEST_ASSERT_EQUAL_MEMORY("two", seen, 3);
	LIB_ASSERT_STATUS(ACH_OK, ach_peek_end(&a));
	LIB_ASSERT_STATUS(ACH_EAGAIN, ach_peek(&a, &seen, &len, NULL, 0));
	LIB_ASSERT_STATUS(ACH_OK, ach_peek(&a, &seen, &len, NULL, ACH_O_COPY));
	TEST_ASSERT_EQUAL_MEMORY("two", seen, 3);
	LIB_ASSERT_STATUS(ACH_OK, ach_peek_end(&a));
	TEST_ASSERT_EQUAL_UINT64(2, a.seq_num);
}

TEST(test_peek_errors)
{
	const void *seen = &a;
	size_t len = 77;
	struct timespec past = { 0, 0 };

	LIB_ASSERT_STATUS(ACH_EINVAL, ach_peek_end(&a));
	LIB_ASSERT_STATUS(ACH_EAGAIN, ach_peek(&a, &seen, &len, NULL, 0));
	LIB_ASSERT_STATUS(ACH_EINVAL, ach_peek_end(&a)); /* nothing was peeked at */
	LIB_ASSERT_STATUS(ACH_TIMEOUT, ach_peek(&a, &seen, &len, &past, ACH_O_WAIT));
	TEST_ASSERT_EQUAL_size_t(77, len);
	TEST_ASSERT_EQUAL_PTR(&a, seen);
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&a, "one", 3));
	LIB_ASSERT_STATUS(ACH_EINVAL, ach_peek(&a, NULL, &len, NULL, 0));
	LIB_ASSERT_STATUS(ACH_EINVAL, ach_peek_end(&a));
	assert_next(&a, "one");
}

TEST(test_peek_overwritten)
{
	uint8_t full[32];
	const void *seen;
	size_t len;

	LIB_ASSERT_STATUS(ACH_OK, ach_put(&a2, "old", 3));
	LIB_ASSERT_STATUS(ACH_OK, ach_peek(&a, &seen, &len, NULL, 0));
	for (uint8_t i = 0; i < 20; i++) {
		memset(full, i, sizeof full);
		LIB_ASSERT_STATUS(ACH_OK, ach_put(&a2, full, sizeof full));
	}
	LIB_ASSERT_STATUS(ACH_EAGAIN, ach_peek_end(&a));
	TEST_ASSERT_EQUAL_UINT64(0, a.seq_num);
	LIB_ASSERT_STATUS(ACH_EINVAL, ach_peek_end(&a)); /* that peek is over */
	LIB_ASSERT_STATUS(ACH_MISSED_FRAME, ach_peek(&a, &seen, &len, NULL, 0));
	TEST_ASSERT_EQUAL_size_t(sizeof full, len);
	TEST_ASSERT_EQUAL_MEMORY(full, seen, len);
	LIB_ASSERT_STATUS(ACH_OK, ach_peek_end(&a));
	TEST_ASSERT_EQUAL_UINT64(21, a.seq_num);
}

/* What is retained when it is peeked at stays readable while the next put is under way. */
TEST(test_peek_of_the_newest_survives_a_reservation)
{
	const void *seen;
	void *room;
	size_t len;

	for (int i = 0; i < 100; i++) {
		uint8_t full[32];

		memset(full, i, sizeof full);
		LIB_ASSERT_STATUS(ACH_OK, ach_put(&a2, full, sizeof full));
		LIB_ASSERT_STATUS(ACH_OK, ach_peek(&a, &seen, &len, NULL, 0));
		LIB_ASSERT_STATUS(ACH_OK, ach_reserve(&a2, sizeof full, &room));
		memset(room, 0xee, sizeof full);
		TEST_ASSERT_EQUAL_MEMORY(full, seen, sizeof full);
		LIB_ASSERT_STATUS(ACH_OK, ach_peek_end(&a));
		LIB_ASSERT_STATUS(ACH_OK, ach_commit(&a2, 0));
	}
}
