/* test_api.c: names, creation, attributes, handles: what the calls around put and get answer. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include "test/lib/lib.h"
#include "test/lib/testcase.h"

_Static_assert(sizeof(ach_channel_t) == 128, "programs reserve this much");
_Static_assert(sizeof(ach_attr_t) == 64, "programs reserve this much");
_Static_assert(sizeof(ach_create_attr_t) == 128, "programs reserve this much");
_Static_assert(sizeof(ach_cancel_attr_t) == 64, "programs reserve this much");

void setUp(void)
{
	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
}

/* ---- names ---- */

TEST(test_valid_names)
{
	static const char *const tails[] = { "a", "Z", "0", "_", "-", "a.b", "a..", "A-Z_0.9" };
	ach_channel_t chan;
	char name[LIB_NAME_LEN * 2], path[256];
	struct stat st;

	for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
		snprintf(name, sizeof name, "t-names-%ld-%s", (long)getpid(), tails[i]);
		LIB_ASSERT_STATUS(ACH_OK, ach_create(name, 1, 1, NULL));
		TEST_ASSERT_EQUAL_INT_MESSAGE(0, stat(lib_path(path, name), &st), name);
		LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, NULL));
		LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
		LIB_ASSERT_STATUS(ACH_OK, ach_unlink(name));
	}
}

TEST(test_longest_name)
{
	char name[80];
	int n = snprintf(name, sizeof name, "t-names-%ld-", (long)getpid());
	ach_channel_t chan;

	memset(name + n, 'x', sizeof name - (size_t)n);
	name[ACH_CHAN_NAME_MAX] = 0; /* 64 characters: one too many */
	LIB_ASSERT_STATUS(ACH_INVALID_NAME, ach_create(name, 1, 1, NULL));
	LIB_ASSERT_STATUS(ACH_INVALID_NAME, ach_open(&chan, name, NULL));
	LIB_ASSERT_STATUS(ACH_INVALID_NAME, ach_unlink(name));
	name[ACH_CHAN_NAME_MAX - 1] = 0;
	LIB_ASSERT_STATUS(ACH_OK, ach_create(name, 1, 1, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, "x", 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
	TEST_ASSERT_EQUAL_INT(1, lib_segments(name));
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(name));
	TEST_ASSERT_EQUAL_INT(0, lib_segments(name));
}

TEST(test_invalid_names)
{
	static const char *const bad[] = { "",	   ".",	  "..", ".hidden", "a/b",  "/a",  "a b",    "a\n",
					   "a\tb", "a:b", "a*", "~",	   "a\\b", "a%s", "\x80_b", "na\xc3\xaf_ve" };
	ach_channel_t chan;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		TEST_ASSERT_EQUAL_INT_MESSAGE(ACH_INVALID_NAME, ach_create(bad[i], 1, 1, NULL), bad[i]);
		TEST_ASSERT_EQUAL_INT_MESSAGE(ACH_INVALID_NAME, ach_open(&chan, bad[i], NULL), bad[i]);
		TEST_ASSERT_EQUAL_INT_MESSAGE(ACH_INVALID_NAME, ach_unlink(bad[i]), bad[i]);
	}
}

TEST(test_null_name)
{
	ach_channel_t chan;

	LIB_ASSERT_STATUS(ACH_EINVAL, ach_create(NULL, 1, 1, NULL));
	LIB_ASSERT_STATUS(ACH_EINVAL, ach_open(&chan, NULL, NULL));
	LIB_ASSERT_STATUS(ACH_EINVAL, ach_unlink(NULL));
}

/* ---- creation ---- */

TEST(test_default_geometry)
{
	static uint8_t message[ACH_DEFAULT_FRAME_COUNT * ACH_DEFAULT_FRAME_SIZE + 1];
	char name[LIB_NAME_LEN];
	ach_channel_t chan;

	TEST_ASSERT_EQUAL_INT(16, ACH_DEFAULT_FRAME_COUNT);
	TEST_ASSERT_EQUAL_INT(512, ACH_DEFAULT_FRAME_SIZE);
	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "default"), 0, 0, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	LIB_ASSERT_STATUS(ACH_OVERFLOW, ach_put(&chan, message, 16 * 512 + 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, message, 16 * 512));
	LIB_ASSERT_STATUS(ACH_OK, ach_flush(&chan));
	for (uint8_t i = 0; i < 17; i++)
		LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, &i, 1));
	LIB_ASSERT_STATUS(ACH_MISSED_FRAME, ach_get(&chan, message, sizeof message, NULL, NULL, 0));
	TEST_ASSERT_EQUAL_UINT8(1, message[0]); /* of 17 the newest 16 */
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
}

TEST(test_each_default_alone)
{
	static uint8_t message[16 * 512 + 1];
	char name[LIB_NAME_LEN];
	ach_channel_t chan;

	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "default"), 0, 3, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	LIB_ASSERT_STATUS(ACH_OVERFLOW, ach_put(&chan, message, 16 * 3 + 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, message, 16 * 3));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "default"), 3, 0, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	LIB_ASSERT_STATUS(ACH_OVERFLOW, ach_put(&chan, message, 3 * 512 + 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, message, 3 * 512));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
}

TEST(test_create_only_creates)
{
	char name[LIB_NAME_LEN], byte;
	ach_channel_t chan;

	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "exists"), 2, 2, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, "a", 1));
	LIB_ASSERT_STATUS(ACH_EEXIST, ach_create(name, 4, 4, NULL));
	TEST_ASSERT_EQUAL_INT(1, lib_segments(name)); /* the second's memory was taken back */
	LIB_ASSERT_STATUS(ACH_OK, ach_get(&chan, &byte, 1, NULL, NULL, 0));
	LIB_ASSERT_STATUS(ACH_OVERFLOW, ach_put(&chan, "12345", 5)); /* still 2 times 2 bytes */
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
}

TEST(test_missing_channel)
{
	char name[LIB_NAME_LEN];
	ach_channel_t chan;

	lib_name(name, "missing");
	LIB_ASSERT_STATUS(ACH_ENOENT, ach_open(&chan, name, NULL));
	LIB_ASSERT_STATUS(ACH_ENOENT, ach_unlink(name));
	LIB_ASSERT_STATUS(ACH_OK, ach_create(name, 1, 1, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(name));
	LIB_ASSERT_STATUS(ACH_ENOENT, ach_open(&chan, name, NULL));
	LIB_ASSERT_STATUS(ACH_ENOENT, ach_unlink(name));
}

TEST(test_truncate_replaces)
{
	char name[LIB_NAME_LEN], byte;
	ach_create_attr_t attr;
	ach_channel_t old, new;
	int unlinked;

	lib_name(name, "truncate");
	ach_create_attr_init(&attr);
	LIB_ASSERT_STATUS(ACH_OK, ach_create_attr_set_truncate(&attr, 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_create(name, 2, 2, &attr)); /* nothing to replace yet */
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&old, name, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&old, "a", 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_create(name, 4, 4, &attr));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&new, name, NULL));
	LIB_ASSERT_STATUS(ACH_EAGAIN, ach_get(&new, &byte, 1, NULL, NULL, 0));
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&new, "0123456789abcdef", 16));

	LIB_ASSERT_STATUS(ACH_OK, ach_put(&old, "b", 1)); /* the orphan lives on */
	LIB_ASSERT_STATUS(ACH_OK, ach_get(&old, &byte, 1, NULL, NULL, 0));
	TEST_ASSERT_EQUAL_INT('a', byte);
	LIB_ASSERT_STATUS(ACH_OK, ach_unlinked(&old, &unlinked));
	TEST_ASSERT_EQUAL_INT(1, unlinked);
	LIB_ASSERT_STATUS(ACH_OK, ach_unlinked(&new, &unlinked));
	TEST_ASSERT_EQUAL_INT(0, unlinked);

	LIB_ASSERT_STATUS(ACH_OK, ach_create_attr_set_truncate(&attr, 0));
	LIB_ASSERT_STATUS(ACH_EEXIST, ach_create(name, 2, 2, &attr));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&old));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&new));
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(name));
	TEST_ASSERT_EQUAL_INT(0, lib_segments(name));
}

TEST(test_limits)
{
	static const size_t bad[][2] = {
		{ ((size_t)1 << 24) + 1, 1 },	      /* count */
		{ (size_t)1 << 20, (size_t)1 << 11 }, /* 2 GiB */
		{ 1, (size_t)1 << 31 },		      /* 2 GiB */
		{ SIZE_MAX, SIZE_MAX },		      /* the product is 1, modulo a word */
		{ (size_t)1 << 32, (size_t)1 << 32 }, /* the product is 0 */
		{ 1, SIZE_MAX },
		{ SIZE_MAX, 1 },
		{ 0, (size_t)1 << 28 }, /* 16 of them */
		{ (size_t)1 << 24, 0 }, /* of 512 */
	};
	char name[LIB_NAME_LEN];
	ach_channel_t chan;

	lib_name(name, "limits");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		LIB_ASSERT_STATUS(ACH_EINVAL, ach_create(name, bad[i][0], bad[i][1], NULL));
	LIB_ASSERT_STATUS(ACH_ENOENT, ach_open(&chan, name, NULL));
	TEST_ASSERT_EQUAL_INT(0, lib_segments(name));
}

/* ---- attributes ---- */

TEST(test_clock)
{
	static const struct {
		clockid_t clock;
		enum ach_status status;
	} rows[] = {
		{ CLOCK_MONOTONIC, ACH_OK },
		{ CLOCK_REALTIME, ACH_OK },
		{ CLOCK_PROCESS_CPUTIME_ID, ACH_EINVAL },
		{ CLOCK_MONOTONIC_RAW, ACH_EINVAL },
		{ -1, ACH_EINVAL },
	};
	char name[LIB_NAME_LEN];
	ach_create_attr_t attr;
	ach_channel_t chan;
	clockid_t clock;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		ach_create_attr_init(&attr);
		LIB_ASSERT_STATUS(rows[i].status, ach_create_attr_set_clock(&attr, rows[i].clock));
		if (rows[i].status)
			continue;
		LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "clock"), 1, 1, &attr));
		LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, NULL));
		LIB_ASSERT_STATUS(ACH_OK, ach_channel_clock(&chan, &clock));
		TEST_ASSERT_EQUAL_INT(rows[i].clock, clock);
		LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
	}
	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "clock"), 1, 1, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_channel_clock(&chan, &clock));
	TEST_ASSERT_EQUAL_INT(ACH_DEFAULT_CLOCK, clock);
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
}

TEST(test_map)
{
	char name[LIB_NAME_LEN];
	ach_create_attr_t create;
	ach_channel_t chan;
	ach_attr_t attr;
	enum ach_map map;

	for (enum ach_map kind = ACH_MAP_DEFAULT; kind <= ACH_MAP_USER; kind += 2) { /* both are files */
		ach_create_attr_init(&create);
		LIB_ASSERT_STATUS(ACH_OK, ach_create_attr_set_map(&create, kind));
		LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "map"), 1, 1, &create));
		ach_attr_init(&attr);
		attr.map = kind;
		LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, &attr));
		LIB_ASSERT_STATUS(ACH_OK, ach_channel_map(&chan, &map));
		TEST_ASSERT_EQUAL_INT(ACH_MAP_USER, map);
		LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
	}
}

TEST(test_map_kernel_is_not_there)
{
	char name[LIB_NAME_LEN];
	ach_create_attr_t create;
	ach_channel_t chan;
	ach_attr_t attr;

	ach_create_attr_init(&create);
	create.map = ACH_MAP_KERNEL;
	LIB_ASSERT_STATUS(ACH_ENOTSUP, ach_create(lib_name(name, "kernel"), 1, 1, &create));
	LIB_ASSERT_STATUS(ACH_ENOENT, ach_open(&chan, name, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_create(name, 1, 1, NULL));
	ach_attr_init(&attr);
	attr.map = ACH_MAP_KERNEL;
	LIB_ASSERT_STATUS(ACH_ENOTSUP, ach_open(&chan, name, &attr));
}

/* Programs for the original write .map_anon or .map themselves. */
TEST(test_fields_old_programs_write)
{
	ach_create_attr_t create;
	ach_cancel_attr_t cancel;
	struct ach_header *shm;
	ach_channel_t chan;
	ach_attr_t attr;
	char byte;

	ach_create_attr_init(&create);
	create.map_anon = 1;
	TEST_ASSERT_EQUAL_INT(ACH_MAP_ANON, create.map);
	LIB_ASSERT_STATUS(ACH_OK, ach_create("t-fields", 1, 1, &create)); /* the name is not looked at */
	LIB_ASSERT_STATUS(ACH_OK, ach_create_attr_get_shm(&create, &shm));
	TEST_ASSERT_NOT_NULL(shm);
	ach_attr_init(&attr);
	attr.map_anon = 1;
	attr.shm = shm;
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, "t-fields", &attr));
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, "a", 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_get(&chan, &byte, 1, NULL, NULL, 0));
	TEST_ASSERT_EQUAL_UINT64(1, chan.seq_num);
	ach_cancel_attr_init(&cancel);
	TEST_ASSERT_EQUAL_INT(0, cancel.async_unsafe);
	cancel.async_unsafe = 1;
	LIB_ASSERT_STATUS(ACH_OK, ach_cancel(&chan, &cancel));
	TEST_ASSERT_NOT_EQUAL(0, chan.cancel);
	LIB_ASSERT_STATUS(ACH_CANCELED, ach_get(&chan, &byte, 1, NULL, NULL, 0));
	chan.cancel = 0;
	LIB_ASSERT_STATUS(ACH_EAGAIN, ach_get(&chan, &byte, 1, NULL, NULL, 0));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
}

TEST(test_put_timeout_and_wake_gap_values)
{
	static const struct {
		struct timespec t;
		enum ach_status status;
	} rows[] = {
		{ { 0, 0 }, ACH_OK },	   { { 0, 999999999 }, ACH_OK },      { { 3, 1 }, ACH_OK },
		{ { -1, 0 }, ACH_EINVAL }, { { 0, 1000000000 }, ACH_EINVAL }, { { 0, -1 }, ACH_EINVAL },
	};
	ach_attr_t attr;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		ach_attr_init(&attr);
		LIB_ASSERT_STATUS(rows[i].status, ach_attr_set_put_timeout(&attr, &rows[i].t));
		LIB_ASSERT_STATUS(rows[i].status, ach_attr_set_wake_gap(&attr, &rows[i].t));
	}
}

TEST(test_put_timeout_zero_still_puts)
{
	struct timespec zero = { 0, 0 };
	char name[LIB_NAME_LEN], byte;
	ach_channel_t chan;
	ach_attr_t attr;

	ach_attr_init(&attr);
	LIB_ASSERT_STATUS(ACH_OK, ach_attr_set_put_timeout(&attr, &zero));
	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "zero"), 1, 1, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, &attr));
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, "a", 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_get(&chan, &byte, 1, NULL, NULL, 0));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
}

/* ---- handles ---- */

TEST(test_closed_handle)
{
	char name[LIB_NAME_LEN], byte;
	struct timespec past = { 0, 0 };
	ach_channel_t chan, *chans[] = { &chan };
	const void *peek;
	void *room;
	size_t which;
	int n;

	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "closed"), 1, 1, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, "a", 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
	LIB_ASSERT_STATUS(ACH_CLOSED, ach_close(&chan));
	LIB_ASSERT_STATUS(ACH_CLOSED, ach_put(&chan, "a", 1));
	LIB_ASSERT_STATUS(ACH_CLOSED, ach_get(&chan, &byte, 1, NULL, NULL, 0));
	LIB_ASSERT_STATUS(ACH_CLOSED, ach_get(&chan, &byte, 1, NULL, NULL, ACH_O_WAIT));
	LIB_ASSERT_STATUS(ACH_CLOSED, ach_flush(&chan));
	LIB_ASSERT_STATUS(ACH_CLOSED, ach_peek(&chan, &peek, NULL, NULL, 0));
	LIB_ASSERT_STATUS(ACH_CLOSED, ach_peek_end(&chan));
	LIB_ASSERT_STATUS(ACH_CLOSED, ach_reserve(&chan, 1, &room));
	LIB_ASSERT_STATUS(ACH_CLOSED, ach_commit(&chan, 1));
	LIB_ASSERT_STATUS(ACH_CLOSED, ach_channel_fd(&chan, &n));
	LIB_ASSERT_STATUS(ACH_CLOSED, ach_unlinked(&chan, &n));
	LIB_ASSERT_STATUS(ACH_CLOSED, ach_chmod(&chan, 0600));
	LIB_ASSERT_STATUS(ACH_CLOSED, ach_wait_any(chans, 1, &past, &which));
}

TEST(test_handles_have_cursors_of_their_own)
{
	char name[LIB_NAME_LEN], byte;
	ach_channel_t a, b;

	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "cursors"), 4, 1, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&a, name, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&b, name, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&a, "1", 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&b, "2", 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_flush(&a));
	LIB_ASSERT_STATUS(ACH_EAGAIN, ach_get(&a, &byte, 1, NULL, NULL, 0));
	LIB_ASSERT_STATUS(ACH_OK, ach_get(&b, &byte, 1, NULL, NULL, 0));
	TEST_ASSERT_EQUAL_INT('1', byte);
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&a)); /* closing one leaves the other */
	LIB_ASSERT_STATUS(ACH_OK, ach_get(&b, &byte, 1, NULL, NULL, 0));
	TEST_ASSERT_EQUAL_INT('2', byte);
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&b));
}

TEST(test_open_and_close_leak_no_descriptor)
{
	char name[LIB_NAME_LEN];
	ach_channel_t chan;
	int before, after, fd;

	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "leak"), 1, 1, NULL));
	for (int round = 0; round < 2; round++) { /* the first may set things up for the process */
		before = dup(0);
		close(before);
		for (int i = 0; i < 20; i++) {
			LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, NULL));
			LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, "a", 1));
			LIB_ASSERT_STATUS(ACH_OK, ach_channel_fd(&chan, &fd));
			LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
			LIB_ASSERT_STATUS(ACH_EEXIST, ach_create(name, 1, 1, NULL));
		}
		after = dup(0);
		close(after);
	}
	TEST_ASSERT_EQUAL_INT(before, after); /* the lowest free number */
}

/* ---- lock_source ---- */

struct source {
	char name[LIB_NAME_LEN];
	struct lib_gate *gate;
};

static enum ach_status open_source(ach_channel_t *chan, const char *name, int lock_source)
{
	ach_attr_t attr;

	ach_attr_init(&attr);
	LIB_STATUS(ACH_OK, ach_attr_set_lock_source(&attr, lock_source));
	return ach_open(chan, name, &attr);
}

static int source_child(void *arg)
{
	struct source *s = arg;
	ach_channel_t chan;

	LIB_STATUS(ACH_OK, open_source(&chan, s->name, 1));
	lib_gate_set(s->gate, 1);
	lib_gate_wait(s->gate, 2);
	LIB_STATUS(ACH_OK, ach_close(&chan));
	lib_gate_set(s->gate, 3);
	lib_gate_wait(s->gate, 4); /* never: killed, or done */
	return 0;
}

TEST(test_lock_source)
{
	struct source s = { .gate = lib_gate_new() };
	ach_channel_t chan, other;
	pid_t pid;

	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(s.name, "source"), 1, 1, NULL));
	pid = lib_child(source_child, &s);
	lib_gate_wait(s.gate, 1);
	TEST_ASSERT_EQUAL_INT(ACH_EAGAIN, ACH_LOCKED);
	LIB_ASSERT_STATUS(ACH_LOCKED, open_source(&chan, s.name, 1));
	LIB_ASSERT_STATUS(ACH_OK, open_source(&chan, s.name, 0)); /* a caller that does not ask is not refused */
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, "a", 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
	LIB_ASSERT_STATUS(ACH_LOCKED, open_source(&chan, s.name, 1));
	lib_gate_set(s.gate, 2);
	lib_gate_wait(s.gate, 3);
	LIB_ASSERT_STATUS(ACH_OK, open_source(&chan, s.name, 1)); /* given back by ach_close */
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&other, s.name, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&other)); /* a handle that is not a source takes nothing away */
	lib_kill(pid);
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
	lib_gate_free(s.gate);
}

TEST(test_lock_source_ends_with_its_process)
{
	struct source s = { .gate = lib_gate_new() };
	ach_channel_t chan;
	pid_t pid;

	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(s.name, "source"), 1, 1, NULL));
	pid = lib_child(source_child, &s);
	lib_gate_wait(s.gate, 1);
	LIB_ASSERT_STATUS(ACH_LOCKED, open_source(&chan, s.name, 1));
	lib_kill(pid);
	LIB_ASSERT_STATUS(ACH_OK, open_source(&chan, s.name, 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
	lib_gate_free(s.gate);
}

/* ---- texts ---- */

TEST(test_result_strings_and_masks)
{
	static const struct {
		enum ach_status status;
		int value;
		const char *text;
		enum ach_mask mask;
	} rows[] = {
		{ ACH_OK, 0, "ACH_OK", ACH_MASK_OK },
		{ ACH_OVERFLOW, 1, "ACH_OVERFLOW", ACH_MASK_OVERFLOW },
		{ ACH_INVALID_NAME, 2, "ACH_INVALID_NAME", ACH_MASK_INVALID_NAME },
		{ ACH_BAD_SHM_FILE, 3, "ACH_BAD_SHM_FILE", ACH_MASK_BAD_SHM_FILE },
		{ ACH_FAILED_SYSCALL, 4, "ACH_FAILED_SYSCALL", ACH_MASK_FAILED_SYSCALL },
		{ ACH_EAGAIN, 5, "ACH_EAGAIN", ACH_MASK_EAGAIN },
		{ ACH_STALE_FRAMES, 5, "ACH_EAGAIN", ACH_MASK_STALE_FRAMES },
		{ ACH_LOCKED, 5, "ACH_EAGAIN", ACH_MASK_LOCKED },
		{ ACH_MISSED_FRAME, 6, "ACH_MISSED_FRAME", ACH_MASK_MISSED_FRAME },
		{ ACH_TIMEOUT, 7, "ACH_TIMEOUT", ACH_MASK_TIMEOUT },
		{ ACH_EEXIST, 8, "ACH_EEXIST", ACH_MASK_EEXIST },
		{ ACH_ENOENT, 9, "ACH_ENOENT", ACH_MASK_ENOENT },
		{ ACH_CLOSED, 10, "ACH_CLOSED", ACH_MASK_CLOSED },
		{ ACH_BUG, 11, "ACH_BUG", ACH_MASK_BUG },
		{ ACH_EINVAL, 12, "ACH_EINVAL", ACH_MASK_EINVAL },
		{ ACH_CORRUPT, 13, "ACH_CORRUPT", ACH_MASK_CORRUPT },
		{ ACH_BAD_HEADER, 14, "ACH_BAD_HEADER", ACH_MASK_BAD_HEADER },
		{ ACH_EACCES, 15, "ACH_EACCES", ACH_MASK_EACCES },
		{ ACH_CANCELED, 16, "ACH_CANCELED", ACH_MASK_CANCELED },
		{ ACH_EFAULT, 17, "ACH_EFAULT", ACH_MASK_EFAULT },
		{ ACH_EINTR, 18, "ACH_EINTR", ACH_MASK_EINTR },
		{ ACH_ENOTSUP, 19, "ACH_ENOTSUP", ACH_MASK_ENOTSUP },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		TEST_ASSERT_EQUAL_INT(rows[i].value, rows[i].status);
		TEST_ASSERT_EQUAL_STRING(rows[i].text, ach_result_to_string(rows[i].status));
		TEST_ASSERT_EQUAL_UINT32(UINT32_C(1) << rows[i].value, rows[i].mask);
		TEST_ASSERT_EQUAL_UINT32(rows[i].mask, ach_status_mask(rows[i].status));
		TEST_ASSERT_TRUE(ach_status_match(rows[i].status, (int)ACH_MASK_ALL));
		TEST_ASSERT_FALSE(ach_status_match(rows[i].status, ACH_MASK_NONE));
		TEST_ASSERT_TRUE(ach_status_match(rows[i].status, (int)rows[i].mask));
		TEST_ASSERT_FALSE(ach_status_match(rows[i].status, (int)(ACH_MASK_ALL & ~rows[i].mask)));
	}
	TEST_ASSERT_EQUAL_STRING("UNKNOWN", ach_result_to_string((enum ach_status)20));
	TEST_ASSERT_EQUAL_STRING("UNKNOWN", ach_result_to_string((enum ach_status) - 1));
	TEST_ASSERT_EQUAL_UINT32(0, ACH_MASK_NONE);
	TEST_ASSERT_EQUAL_UINT32(0xffffffff, ACH_MASK_ALL);
}

static void *fresh_errstr(void *arg)
{
	(void)arg;
	LIB_CHECK(ach_errstr() && !*ach_errstr());
	return NULL;
}

TEST(test_errstr_belongs_to_the_thread)
{
	char name[LIB_NAME_LEN];
	ach_channel_t chan;
	pthread_t thread;

	LIB_ASSERT_STATUS(ACH_ENOENT, ach_open(&chan, lib_name(name, "errstr"), NULL));
	TEST_ASSERT_NOT_NULL(ach_errstr());
	TEST_ASSERT_NOT_EQUAL(0, *ach_errstr());
	TEST_ASSERT_EQUAL_INT(0, pthread_create(&thread, NULL, fresh_errstr, NULL));
	TEST_ASSERT_EQUAL_INT(0, pthread_join(thread, NULL));
}

TEST(test_dump_only_prints)
{
	char name[LIB_NAME_LEN], byte;
	ach_channel_t chan;
	int saved = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY);

	LIB_ASSERT_STATUS(ACH_OK, ach_create(lib_name(name, "dump"), 2, 2, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, "a", 1));
	dup2(null, STDERR_FILENO);
	ach_dump(chan.shm);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(null);
	LIB_ASSERT_STATUS(ACH_OK, ach_get(&chan, &byte, 1, NULL, NULL, 0));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
}
