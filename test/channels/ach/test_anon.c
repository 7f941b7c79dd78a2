/* test_anon.c: channels without a name, shared by the threads of a process and its children. */
#define _GNU_SOURCE
#include <sys/stat.h>

#include "test/lib/lib.h"
#include "test/lib/testcase.h"

#define MESSAGES 200

static struct ach_header *shm;

void setUp(void)
{
	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
}

static struct ach_header *create(const char *name, size_t cnt, size_t size)
{
	struct ach_header *memory = NULL;
	ach_create_attr_t attr;

	ach_create_attr_init(&attr);
	LIB_STATUS(ACH_OK, ach_create_attr_set_map(&attr, ACH_MAP_ANON));
	LIB_STATUS(ACH_OK, ach_create(name, cnt, size, &attr));
	LIB_STATUS(ACH_OK, ach_create_attr_get_shm(&attr, &memory));
	LIB_CHECK(memory != NULL);
	return memory;
}

static void open_anon(ach_channel_t *chan, struct ach_header *memory)
{
	ach_attr_t attr;

	ach_attr_init(&attr);
	LIB_STATUS(ACH_OK, ach_attr_set_shm(&attr, memory));
	LIB_STATUS(ACH_OK, ach_open(chan, NULL, &attr));
}

TEST(test_names_are_not_looked_at)
{
	static const char *const names[] = { NULL, "t-anon", "not/a name", "" };
	ach_channel_t chan;
	enum ach_map map;
	char path[256];
	int unlinked = -1;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		open_anon(&chan, create(names[i], 1, 1));
		LIB_ASSERT_STATUS(ACH_OK, ach_channel_map(&chan, &map));
		TEST_ASSERT_EQUAL_INT(ACH_MAP_ANON, map);
		LIB_ASSERT_STATUS(ACH_OK, ach_unlinked(&chan, &unlinked));
		TEST_ASSERT_EQUAL_INT(0, unlinked);
		LIB_ASSERT_STATUS(ACH_EINVAL, ach_chmod(&chan, 0600));
		LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
	}
	TEST_ASSERT_NOT_EQUAL(0, access(lib_path(path, "t-anon"), F_OK)); /* no file */
	TEST_ASSERT_EQUAL_INT(0, lib_segments("t-anon"));
}

TEST(test_errors)
{
	ach_create_attr_t create_attr;
	ach_channel_t chan;
	ach_attr_t attr;

	ach_attr_init(&attr);
	attr.map = ACH_MAP_ANON; /* but no memory */
	LIB_ASSERT_STATUS(ACH_EINVAL, ach_open(&chan, NULL, &attr));
	ach_create_attr_init(&create_attr);
	create_attr.map = ACH_MAP_ANON;
	LIB_ASSERT_STATUS(ACH_EINVAL, ach_create(NULL, SIZE_MAX, 2, &create_attr));
}

TEST(test_several_handles)
{
	ach_channel_t a, b, c;
	char byte;

	shm = create(NULL, 4, 4);
	open_anon(&a, shm);
	open_anon(&b, shm);
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&a, "1", 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&b, "2", 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_get(&b, &byte, 1, NULL, NULL, 0));
	TEST_ASSERT_EQUAL_INT('1', byte);
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&b));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&a));
	open_anon(&c, shm); /* the memory outlives its handles */
	LIB_ASSERT_STATUS(ACH_OK, ach_get(&c, &byte, 1, NULL, NULL, 0));
	TEST_ASSERT_EQUAL_INT('1', byte);
	LIB_ASSERT_STATUS(ACH_OK, ach_get(&c, &byte, 1, NULL, NULL, 0));
	TEST_ASSERT_EQUAL_INT('2', byte);
	LIB_ASSERT_STATUS(ACH_EAGAIN, ach_get(&c, &byte, 1, NULL, NULL, 0));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&c));
}

TEST(test_channels_are_apart)
{
	ach_channel_t a, b;
	char byte;

	open_anon(&a, create(NULL, 4, 4));
	open_anon(&b, create(NULL, 4, 4));
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&a, "1", 1));
	LIB_ASSERT_STATUS(ACH_EAGAIN, ach_get(&b, &byte, 1, NULL, NULL, 0));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&a));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&b));
}

/* ---- parent and child, each with a channel to the other ---- */

struct pair {
	ach_channel_t to_child, to_parent;
	struct ach_header *shm_to_child, *shm_to_parent;
	bool reopen;
};

static void pass_on(ach_channel_t *from, ach_channel_t *to)
{
	struct timespec hang = lib_hang();
	uint8_t buf[256];
	size_t len;

	LIB_STATUS(ACH_OK, ach_get(from, buf, sizeof buf, &len, &hang, ACH_O_WAIT));
	LIB_CHECK(lib_message_good(buf, len));
	LIB_STATUS(ACH_OK, ach_put(to, buf, len));
}

static int echo_child(void *arg)
{
	struct pair *pair = arg;

	if (pair->reopen) { /* handles of its own */
		open_anon(&pair->to_child, pair->shm_to_child);
		open_anon(&pair->to_parent, pair->shm_to_parent);
	}
	for (int i = 0; i < MESSAGES; i++)
		pass_on(&pair->to_child, &pair->to_parent);
	return 0;
}

static void ping_pong(bool reopen)
{
	struct timespec hang = lib_hang();
	struct pair pair = { .reopen = reopen };
	pid_t pid;

	pair.shm_to_child = create(NULL, 4, 64);
	pair.shm_to_parent = create(NULL, 4, 64);
	open_anon(&pair.to_child, pair.shm_to_child);
	open_anon(&pair.to_parent, pair.shm_to_parent);
	pid = lib_child(echo_child, &pair);
	for (uint64_t i = 1; i <= MESSAGES; i++) {
		uint8_t sent[256], got[256];
		size_t len = LIB_MESSAGE_MIN + i, back;

		lib_message_make(sent, len, 0, i);
		LIB_ASSERT_STATUS(ACH_OK, ach_put(&pair.to_child, sent, len));
		LIB_ASSERT_STATUS(ACH_OK, ach_get(&pair.to_parent, got, sizeof got, &back, &hang, ACH_O_WAIT));
		TEST_ASSERT_EQUAL_size_t(len, back);
		TEST_ASSERT_EQUAL_MEMORY(sent, got, len);
	}
	TEST_ASSERT_EQUAL_INT(0, lib_join(pid));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&pair.to_child));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&pair.to_parent));
}

TEST(test_child_with_inherited_handles)
{
	ping_pong(false);
}

TEST(test_child_with_handles_of_its_own)
{
	ping_pong(true);
}

/* ---- a child killed while it holds a reservation ---- */

static int reserving_child(void *arg)
{
	ach_channel_t chan;
	void *room;

	open_anon(&chan, shm);
	LIB_STATUS(ACH_OK, ach_reserve(&chan, 4, &room));
	memcpy(room, "dead", 4);
	lib_gate_set(arg, 1);
	lib_gate_wait(arg, 2); /* never */
	return 0;
}

TEST(test_child_killed_inside_a_reservation)
{
	struct lib_gate *gate = lib_gate_new();
	ach_channel_t chan;
	char buf[4];
	pid_t pid;

	shm = create(NULL, 4, 4);
	open_anon(&chan, shm);
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, "1", 1));
	pid = lib_child(reserving_child, gate);
	lib_gate_wait(gate, 1);
	lib_kill(pid);
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, "2", 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_get(&chan, buf, sizeof buf, NULL, NULL, 0));
	TEST_ASSERT_EQUAL_INT('1', buf[0]);
	LIB_ASSERT_STATUS(ACH_OK, ach_get(&chan, buf, sizeof buf, NULL, NULL, 0));
	TEST_ASSERT_EQUAL_INT('2', buf[0]);
	LIB_ASSERT_STATUS(ACH_EAGAIN, ach_get(&chan, buf, sizeof buf, NULL, NULL, 0));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
	lib_gate_free(gate);
}

/* Messages that wrap around the end of the memory stay in one piece. */
TEST(test_wrap_around)
{
	uint64_t random = 362436069;
	ach_channel_t chan;

	open_anon(&chan, create(NULL, 3, 100));
	for (uint64_t i = 1; i <= 2000; i++) {
		uint8_t sent[300], got[300];
		size_t len = LIB_MESSAGE_MIN + lib_random(&random) % (sizeof sent - LIB_MESSAGE_MIN + 1), back;

		lib_message_make(sent, len, 0, i);
		LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, sent, len));
		LIB_ASSERT_STATUS(ACH_OK, ach_get(&chan, got, sizeof got, &back, NULL, 0));
		TEST_ASSERT_EQUAL_size_t(len, back);
		TEST_ASSERT_EQUAL_MEMORY(sent, got, len);
	}
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
}
