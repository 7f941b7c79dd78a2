/* test_defects.c: what broke in the original library, each as a test.  A writer killed inside put is
 * the business of the kill tests, waiting for several channels of test_wait_any and test_fd. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/wait.h>

#include "channels/ach/ach_file.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

static char name[LIB_NAME_LEN];

void setUp(void)
{
	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
	lib_name(name, "defects");
}

void tearDown(void)
{
	(void)ach_unlink(name);
}

/* ---- 1: a killed reader hung the writer for ever ---- */

static struct lib_gate *seen;

static int reader(void *arg)
{
	struct timespec hang = lib_hang();
	ach_channel_t chan;
	int number;

	(void)arg;
	LIB_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	for (int i = 1; i <= 20; i++) {
		LIB_STATUS(ACH_OK, ach_get(&chan, &number, sizeof number, NULL, &hang, ACH_O_WAIT));
		LIB_CHECK(number == i);
		lib_gate_set(seen, number);
	}
	return 0;
}

TEST(test_1_killed_waiter_hangs_no_other)
{
	ach_channel_t chan;
	pid_t killed, other;

	seen = lib_gate_new();
	LIB_ASSERT_STATUS(ACH_OK, ach_create(name, 32, 4, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	killed = lib_child(reader, NULL);
	lib_until_asleep(killed);
	lib_kill(killed);
	other = lib_child(reader, NULL);
	for (int i = 1; i <= 20; i++) {
		lib_until_asleep(other);
		LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, &i, sizeof i));
		lib_gate_wait(seen, i);
	}
	TEST_ASSERT_EQUAL_INT(0, lib_join(other));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
	lib_gate_free(seen);
}

/* ---- 2: wrong bytes with a success code when sizes vary ---- */

TEST(test_2_varying_sizes)
{
	static const char long_one[] = "thirteen byte";
	ach_channel_t chan;
	char buf[32];
	size_t len;

	LIB_ASSERT_STATUS(ACH_OK, ach_create(name, 8, 2, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	for (int i = 0; i < 5; i++)
		LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, "4byt", 4));
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, long_one, 13));
	LIB_ASSERT_STATUS(ACH_MISSED_FRAME, ach_get(&chan, buf, sizeof buf, &len, NULL, 0));
	TEST_ASSERT_EQUAL_size_t(13, len);
	TEST_ASSERT_EQUAL_MEMORY(long_one, buf, 13);
	TEST_ASSERT_EQUAL_UINT64(6, chan.seq_num);
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
}

TEST(test_2_random_sizes)
{
	uint64_t random = 2463534242u;
	uint8_t message[16 * LIB_MESSAGE_MIN], buf[sizeof message];
	ach_channel_t chan;
	size_t len;

	LIB_ASSERT_STATUS(ACH_OK, ach_create(name, 8, sizeof message / 8, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	for (uint64_t i = 1; i <= 20000; i++) {
		struct lib_message head;
		size_t size = LIB_MESSAGE_MIN + lib_random(&random) % (sizeof message - LIB_MESSAGE_MIN + 1);
		enum ach_status status;

		lib_message_make(message, size, 0, i);
		LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, message, size));
		if (lib_random(&random) % 3)
			continue;
		status = ach_get(&chan, buf, sizeof buf, &len, NULL, lib_random(&random) % 2 ? ACH_O_LAST : 0);
		TEST_ASSERT_TRUE(status == ACH_OK || status == ACH_MISSED_FRAME);
		TEST_ASSERT_TRUE(lib_message_good(buf, len));
		memcpy(&head, buf, sizeof head);
		TEST_ASSERT_EQUAL_UINT64(chan.seq_num, head.number);
	}
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
}

/* ---- 4: open mapped too few bytes ---- */

TEST(test_4_one_of_3744)
{
	uint8_t message[3744], buf[3744];
	ach_channel_t chan;
	size_t len;

	LIB_ASSERT_STATUS(ACH_OK, ach_create(name, 1, sizeof message, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	for (uint64_t i = 1; i < 20; i++) {
		lib_message_make(message, sizeof message, 0, i);
		LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, message, sizeof message));
		LIB_ASSERT_STATUS(ACH_OK, ach_get(&chan, buf, sizeof buf, &len, NULL, 0));
		TEST_ASSERT_EQUAL_size_t(sizeof message, len);
		TEST_ASSERT_EQUAL_MEMORY(message, buf, sizeof message);
	}
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
}

/* ---- 5: readers needed write permission and the writers' lock ---- */

TEST(test_5_readers_need_neither_permission_nor_lock)
{
	struct timespec past = { 0, 0 };
	ach_channel_t writer, chan;
	char buf[8];
	void *room;

	LIB_ASSERT_STATUS(ACH_OK, ach_create(name, 4, 8, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&writer, name, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&writer, "a", 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_chmod(&writer, 0444));
	LIB_ASSERT_STATUS(ACH_OK, ach_reserve(&writer, 8, &room)); /* holds the lock */
	memset(room, 0, 8);
	lib_nobody_begin();
	LIB_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	lib_nobody_end();
	LIB_ASSERT_STATUS(ACH_EACCES, ach_put(&chan, "a", 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_get(&chan, buf, sizeof buf, NULL, NULL, 0));
	LIB_ASSERT_STATUS(ACH_OK, ach_get(&chan, buf, sizeof buf, NULL, NULL, ACH_O_COPY));
	LIB_ASSERT_STATUS(ACH_EAGAIN, ach_get(&chan, buf, sizeof buf, NULL, NULL, 0));
	LIB_ASSERT_STATUS(ACH_TIMEOUT, ach_get(&chan, buf, sizeof buf, NULL, &past, ACH_O_WAIT));
	LIB_ASSERT_STATUS(ACH_OK, ach_commit(&writer, 8));
	LIB_ASSERT_STATUS(ACH_OK, ach_get(&chan, buf, sizeof buf, NULL, NULL, 0));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&writer));
}

/* ---- 7: the file was visible before its header was written ---- */

static int creator(void *arg)
{
	ach_create_attr_t attr;
	int *truncate = arg;

	ach_create_attr_init(&attr);
	LIB_STATUS(ACH_OK, ach_create_attr_set_truncate(&attr, *truncate));
	for (;;) { /* until killed: also in the middle of it */
		LIB_STATUS(ACH_OK, ach_create(name, 4, 1024, &attr));
		if (!*truncate)
			LIB_STATUS(ACH_OK, ach_unlink(name));
	}
	return 0;
}

static void open_while_created(int truncate)
{
	pid_t pid = lib_child(creator, &truncate);
	int found = 0, missing = 0;
	char byte;

	while (found < 300 || (!truncate && missing < 10)) {
		ach_channel_t chan;
		enum ach_status status = ach_open(&chan, name, NULL);

		if (status == ACH_ENOENT) {
			missing++;
			continue;
		}
		LIB_ASSERT_STATUS(ACH_OK, status);
		LIB_ASSERT_STATUS(ACH_OK, ach_flush(&chan)); /* we may have met this one before */
		LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, "a", 1));
		LIB_ASSERT_STATUS(ACH_OK, ach_get(&chan, &byte, 1, NULL, NULL, 0));
		LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
		found++;
		if (found % 50 == 0) {
			lib_kill(pid);
			(void)ach_unlink(name);
			(void)ach_orphan_remove(0, false); /* what it was about to make */
			TEST_ASSERT_EQUAL_INT(0, lib_segments(name));
			pid = lib_child(creator, &truncate);
		}
	}
	lib_kill(pid);
	(void)ach_unlink(name);
	(void)ach_orphan_remove(0, false);
	TEST_ASSERT_EQUAL_INT(0, lib_segments(name));
}

TEST(test_7_creation_is_atomic)
{
	open_while_created(0);
}

TEST(test_7_truncation_is_atomic)
{
	open_while_created(1);
}

static int creates_what_is_missing(void *unused)
{
	(void)unused;
	for (;;) {
		enum ach_status status = ach_create(name, 4, 16, NULL);

		LIB_CHECK(status == ACH_OK || status == ACH_EEXIST);
	}
	return 0;
}

static int unlinks_what_is_there(void *unused)
{
	(void)unused;
	for (;;) {
		enum ach_status status = ach_unlink(name);

		LIB_CHECK(status == ACH_OK || status == ACH_ENOENT);
	}
	return 0;
}

/* One creates, another removes: what a third finds has its bell. */
TEST(test_7_unlink_meanwhile)
{
	pid_t creates = lib_child(creates_what_is_missing, NULL), unlinks = lib_child(unlinks_what_is_there, NULL);

	for (int found = 0; found < 1000;) {
		ach_channel_t chan;
		enum ach_status status = ach_open(&chan, name, NULL);

		if (status == ACH_ENOENT)
			continue;
		LIB_ASSERT_STATUS(ACH_OK, status);
		LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, "a", 1));
		LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
		found++;
	}
	lib_kill(creates);
	lib_kill(unlinks);
	(void)ach_unlink(name);
	(void)ach_orphan_remove(0, false);
	TEST_ASSERT_EQUAL_INT(0, lib_segments(name));
}

/* Of many that create at once exactly one succeeds. */
static int create_once(void *arg)
{
	struct lib_gate *gate = arg;
	enum ach_status status;

	lib_gate_wait(gate, 1);
	status = ach_create(name, 4, 16, NULL);
	LIB_CHECK(status == ACH_OK || status == ACH_EEXIST);
	return (int)status;
}

TEST(test_7_one_creator_wins)
{
	for (int round = 0; round < 10; round++) {
		struct lib_gate *gate = lib_gate_new();
		pid_t pids[4];
		int won = 0;

		for (int i = 0; i < 4; i++)
			pids[i] = lib_child(create_once, gate);
		lib_gate_set(gate, 1);
		for (int i = 0; i < 4; i++) {
			int status = lib_join(pids[i]);

			TEST_ASSERT_TRUE(status == ACH_OK || status == ACH_EEXIST);
			won += status == ACH_OK;
		}
		TEST_ASSERT_EQUAL_INT(1, won);
		TEST_ASSERT_EQUAL_INT(1, lib_segments(name));
		LIB_ASSERT_STATUS(ACH_OK, ach_unlink(name));
		lib_gate_free(gate);
	}
}

/* ---- 8: cancel in a handler forked (test_cancel has more), a NULL name crashed ---- */

static ach_channel_t to_cancel;

static void cancel_handler(int sig)
{
	(void)sig;
	LIB_STATUS(ACH_OK, ach_cancel(&to_cancel, NULL));
}

TEST(test_8_cancel_in_a_handler_makes_no_process)
{
	struct sigaction action = { .sa_handler = cancel_handler }, old;
	char byte;

	LIB_ASSERT_STATUS(ACH_OK, ach_create(name, 4, 16, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&to_cancel, name, NULL));
	TEST_ASSERT_EQUAL_INT(0, sigaction(SIGUSR1, &action, &old));
	TEST_ASSERT_EQUAL_INT(0, raise(SIGUSR1));
	errno = 0;
	TEST_ASSERT_EQUAL_INT(-1, waitpid(-1, NULL, 0));
	TEST_ASSERT_EQUAL_INT(ECHILD, errno);
	LIB_ASSERT_STATUS(ACH_CANCELED, ach_get(&to_cancel, &byte, 1, NULL, NULL, ACH_O_WAIT));
	sigaction(SIGUSR1, &old, NULL);
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&to_cancel));
}

TEST(test_8_null_name_of_an_anonymous_channel)
{
	ach_create_attr_t create;
	ach_channel_t chan;
	ach_attr_t attr;
	char byte;

	ach_create_attr_init(&create);
	create.map = ACH_MAP_ANON;
	LIB_ASSERT_STATUS(ACH_OK, ach_create(NULL, 4, 16, &create));
	ach_attr_init(&attr);
	LIB_ASSERT_STATUS(ACH_OK, ach_attr_set_shm(&attr, create.shm));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, NULL, &attr));
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, "a", 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_get(&chan, &byte, 1, NULL, NULL, 0));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
}
