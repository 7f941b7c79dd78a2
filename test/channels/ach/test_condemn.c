/* test_condemn.c: a condemned channel fails for every process until it is created again, whatever its writers do. */
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

#include "test/lib/lib.h"
#include "test/lib/testcase.h"

static char name[LIB_NAME_LEN];
static ach_channel_t chan;

void setUp(void)
{
	lib_watchdog("test_condemn", LIB_HANG_S);
	TEST_ASSERT_EQUAL_INT(ACH_OK, ach_create(lib_name(name, "condemn"), 4, 64, NULL));
	TEST_ASSERT_EQUAL_INT(ACH_OK, ach_open(&chan, name, NULL));
}

void tearDown(void)
{
	ach_close(&chan);
	(void)ach_unlink(name);
}

TEST(test_every_call_of_every_handle_fails)
{
	ach_channel_t other, *both[] = { &other };
	struct timespec past = { 0, 0 };
	const void *at;
	void *room;
	char byte;
	size_t n;

	LIB_ASSERT_STATUS(ACH_OK, ach_open(&other, name, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, "a", 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_peek(&chan, &at, &n, NULL, 0));
	LIB_ASSERT_STATUS(ACH_OK, ach_condemn(&chan));
	LIB_ASSERT_STATUS(ACH_CORRUPT, ach_peek_end(&chan));
	LIB_ASSERT_STATUS(ACH_CORRUPT, ach_put(&other, "b", 1));
	TEST_ASSERT_EQUAL_STRING("the channel was condemned", ach_errstr());
	LIB_ASSERT_STATUS(ACH_CORRUPT, ach_reserve(&other, 1, &room));
	LIB_ASSERT_STATUS(ACH_CORRUPT, ach_get(&other, &byte, 1, &n, NULL, 0));
	LIB_ASSERT_STATUS(ACH_CORRUPT, ach_get(&other, &byte, 1, &n, NULL, ACH_O_LAST | ACH_O_COPY));
	LIB_ASSERT_STATUS(ACH_CORRUPT, ach_get(&other, &byte, 1, &n, &past, ACH_O_WAIT));
	LIB_ASSERT_STATUS(ACH_CORRUPT, ach_peek(&other, &at, &n, NULL, 0));
	LIB_ASSERT_STATUS(ACH_CORRUPT, ach_flush(&other));
	LIB_ASSERT_STATUS(ACH_OK, ach_wait_any(both, 1, NULL, &n));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&other));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&other, name, NULL));
	LIB_ASSERT_STATUS(ACH_CORRUPT, ach_put(&other, "b", 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&other));
}

TEST(test_created_again_it_works)
{
	ach_create_attr_t attr;

	LIB_ASSERT_STATUS(ACH_OK, ach_condemn(&chan));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&chan));
	ach_create_attr_init(&attr);
	ach_create_attr_set_truncate(&attr, 1);
	LIB_ASSERT_STATUS(ACH_OK, ach_create(name, 4, 64, &attr));
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, "a", 1));
}

static int stop_inside_put(void *arg)
{
	void *room;

	(void)arg;
	LIB_STATUS(ACH_OK, ach_reserve(&chan, 1, &room));
	*(char *)room = 'x';
	raise(SIGSTOP);
	return ach_commit(&chan, 1);
}

TEST(test_beside_a_writer_stopped_inside_put)
{
	struct timespec patience = lib_rel_ms(1);
	ach_channel_t mine;
	ach_attr_t attr;
	char byte;
	int status;
	pid_t pid = lib_child(stop_inside_put, NULL);

	lib_until_stopped(pid);
	ach_attr_init(&attr);
	ach_attr_set_put_timeout(&attr, &patience);
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&mine, name, &attr));
	LIB_ASSERT_STATUS(ACH_TIMEOUT, ach_put(&mine, "b", 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_condemn(&mine));
	LIB_ASSERT_STATUS(ACH_CORRUPT, ach_put(&mine, "b", 1));
	kill(pid, SIGCONT);
	status = lib_join(pid);
	TEST_ASSERT_TRUE(status == ACH_OK || status == ACH_CORRUPT);
	LIB_ASSERT_STATUS(ACH_CORRUPT, ach_get(&mine, &byte, 1, NULL, NULL, ACH_O_LAST));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&mine));
}

static int sleep_in_get(void *arg)
{
	char byte;

	return ach_get(&chan, &byte, 1, NULL, arg, ACH_O_WAIT);
}

TEST(test_sleeping_readers_wake)
{
	struct timespec late = lib_hang();
	pid_t readers[] = { lib_child(sleep_in_get, NULL), lib_child(sleep_in_get, NULL),
			    lib_child(sleep_in_get, &late) };

	for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
		lib_until_asleep(readers[i]);
	LIB_ASSERT_STATUS(ACH_OK, ach_condemn(&chan));
	for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
		TEST_ASSERT_EQUAL_INT(ACH_CORRUPT, lib_join(readers[i]));
}

TEST(test_descriptor_becomes_readable)
{
	struct pollfd p = { .events = POLLIN };
	char byte;

	LIB_ASSERT_STATUS(ACH_OK, ach_channel_fd(&chan, &p.fd));
	LIB_ASSERT_STATUS(ACH_OK, ach_condemn(&chan));
	for (int i = 0; i < 2; i++) {
		TEST_ASSERT_EQUAL_INT(1, poll(&p, 1, LIB_HANG_S * 1000));
		LIB_ASSERT_STATUS(ACH_CORRUPT, ach_get(&chan, &byte, 1, NULL, NULL, 0));
	}
}

TEST(test_handles_that_cannot_condemn)
{
	ach_channel_t reader;

	memset(&reader, 0, sizeof reader);
	LIB_ASSERT_STATUS(ACH_CLOSED, ach_condemn(&reader));
	if (!lib_can_drop())
		TEST_IGNORE_MESSAGE("needs root");
	LIB_ASSERT_STATUS(ACH_OK, ach_chmod(&chan, 0644));
	lib_nobody_begin();
	enum ach_status opened = ach_open(&reader, name, NULL);
	lib_nobody_end();
	LIB_ASSERT_STATUS(ACH_OK, opened);
	LIB_ASSERT_STATUS(ACH_EACCES, ach_condemn(&reader));
	LIB_ASSERT_STATUS(ACH_OK, ach_put(&chan, "a", 1));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&reader));
}

/* ---- ach_attr_set_owner ---- */

TEST(test_foreign_owner_and_looser_mode_are_refused)
{
	const uid_t me = geteuid();
	const struct {
		mode_t mode;
		uid_t owner;
		mode_t mode_max;
		enum ach_status status;
	} rows[] = {
		{ 0640, me, 0640, ACH_OK },	{ 0600, me, 0640, ACH_OK },
		{ 0640, me, 0777, ACH_OK },	{ 0660, me, 0640, ACH_EACCES },
		{ 0644, me, 0660, ACH_EACCES }, { 0640, me + 1, 0640, me ? ACH_EACCES : ACH_OK },
	};
	ach_channel_t c;
	ach_attr_t attr;

	ach_attr_init(&attr);
	LIB_ASSERT_STATUS(ACH_EINVAL, ach_attr_set_owner(&attr, me, 01777));
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		LIB_ASSERT_STATUS(ACH_OK, ach_chmod(&chan, rows[i].mode));
		ach_attr_init(&attr);
		LIB_ASSERT_STATUS(ACH_OK, ach_attr_set_owner(&attr, rows[i].owner, rows[i].mode_max));
		LIB_ASSERT_STATUS(rows[i].status, ach_open(&c, name, &attr));
		if (rows[i].status == ACH_OK)
			ach_close(&c);
	}
}

TEST(test_channel_of_another_user_is_named)
{
	char expected[160];
	ach_channel_t c;
	ach_attr_t attr;
	enum ach_status made;

	if (!lib_can_drop())
		TEST_IGNORE_MESSAGE("needs root");
	LIB_ASSERT_STATUS(ACH_OK, ach_unlink(name));
	lib_nobody_begin();
	mode_t mask = umask(0);
	made = ach_create(name, 4, 64, NULL);
	umask(mask);
	lib_nobody_end();
	LIB_ASSERT_STATUS(ACH_OK, made);
	ach_attr_init(&attr);
	ach_attr_set_owner(&attr, 990, 0640);
	LIB_ASSERT_STATUS(ACH_EACCES, ach_open(&c, name, &attr));
	snprintf(expected, sizeof expected, "%s belongs to uid %d, mode 0666, expected uid 990, mode 0640 at most",
		 name, LIB_NOBODY);
	TEST_ASSERT_EQUAL_STRING(expected, ach_errstr());
	ach_attr_set_owner(&attr, LIB_NOBODY, 0666);
	LIB_ASSERT_STATUS(ACH_OK, ach_open(&c, name, &attr));
	LIB_ASSERT_STATUS(ACH_OK, ach_close(&c));
}
