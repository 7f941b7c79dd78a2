/* test_port.c: one end of a channel: the first process makes it, and a lost channel is reopened. */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "channels/ach/ach_ring.h"
#include "channels/port/port.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

#define S_NS 1000000000

static char name[LIB_NAME_LEN], first_line[ERROR_LINE_MAX];
static struct port port;
static struct error_sink errors;
static const struct msg_type *type;

void setUp(void)
{
	unsetenv("ENDPLATE_PREFIX");
	lib_name(name, "port");
	*first_line = 0;
	errors = (struct error_sink){ error_keep_last, first_line, 0 };
	type = msg_type_by_number(msg_event_number);
	memset(&port, 0, sizeof(port));
}

void tearDown(void)
{
	port_close(&port);
	ach_unlink(name);
}

static int open_port(void)
{
	return port_open(&port, name, type, 0640, &errors);
}

static struct msg_event event(const char *code)
{
	struct msg_event e;

	msg_init(&e, type);
	snprintf(e.code, sizeof(e.code), "%s", code);
	return e;
}

/* From another handle. */
static void put_bytes(const void *bytes, size_t len)
{
	ach_channel_t chan;

	TEST_ASSERT_EQUAL(ACH_OK, ach_open(&chan, name, NULL));
	TEST_ASSERT_EQUAL(ACH_OK, ach_put(&chan, bytes, len));
	ach_close(&chan);
}

static void put_event(const char *code)
{
	struct msg_event e = event(code);

	put_bytes(&e, sizeof(e));
}

static struct msg_event got;
static size_t len;

static void next_is(enum port_got expected, const char *code)
{
	memset(&got, 0, sizeof(got));
	TEST_ASSERT_EQUAL(expected, port_next(&port, &got, sizeof(got), &len));
	TEST_ASSERT_EQUAL_STRING(code, got.code);
	TEST_ASSERT_EQUAL(*code ? sizeof(got) : 0, len);
}

/* ---- names ---- */

TEST(the_prefix_is_added)
{
	char full[PORT_NAME_MAX];

	TEST_ASSERT_EQUAL(0, port_name(full, "waist-state"));
	TEST_ASSERT_EQUAL_STRING("waist-state", full);
	setenv("ENDPLATE_PREFIX", "b-", 1);
	TEST_ASSERT_EQUAL(0, port_name(full, "waist-state"));
	TEST_ASSERT_EQUAL_STRING("b-waist-state", full);
	setenv("ENDPLATE_PREFIX", "123456789012345678901234567890123456789012345678901234", 1);
	TEST_ASSERT_EQUAL(0, port_name(full, "123456789"));
	TEST_ASSERT_EQUAL(63, strlen(full));
	TEST_ASSERT_EQUAL(-ENAMETOOLONG, port_name(full, "1234567890"));
	TEST_ASSERT_EQUAL(-EINVAL, port_open(&port, "1234567890", type, 0640, &errors));
	TEST_ASSERT_EQUAL_STRING("1234567890: the channel's name is longer than 63 bytes", first_line);
	TEST_ASSERT_FALSE(port.open);
}

/* ---- opening ---- */

TEST(the_first_makes_it_of_the_messages_size)
{
	char path[256];
	struct stat file;

	TEST_ASSERT_EQUAL(0, open_port());
	TEST_ASSERT_EQUAL(64, port.chan.handle->count);
	TEST_ASSERT_EQUAL(64 * sizeof(struct msg_event), port.chan.handle->lsize);
	TEST_ASSERT_EQUAL(0, stat(lib_path(path, name), &file));
	TEST_ASSERT_EQUAL_HEX(0600, file.st_mode & 0777);
	TEST_ASSERT_EQUAL(PORT_NONE, port_next(&port, &got, sizeof(got), &len));
}

TEST(an_existing_channel_is_used)
{
	TEST_ASSERT_EQUAL(ACH_OK, ach_create(name, 10, sizeof(struct msg_event) + 1, NULL));
	put_event("before");
	TEST_ASSERT_EQUAL(0, open_port());
	TEST_ASSERT_EQUAL(10, port.chan.handle->count);
	next_is(PORT_ONE, "before");
}

TEST(a_too_small_channel_is_refused)
{
	char line[256];

	TEST_ASSERT_EQUAL(ACH_OK, ach_create(name, 64, sizeof(struct msg_event) - 1, NULL));
	TEST_ASSERT_EQUAL(-EINVAL, open_port());
	snprintf(line, sizeof(line),
		 "channel %s: too small for messages of type event (%zu bytes): remove it with "
		 "ach rm %s",
		 name, sizeof(struct msg_event), name);
	TEST_ASSERT_EQUAL_STRING(line, first_line);
	TEST_ASSERT_FALSE(port.open);
}

TEST(a_file_that_is_not_a_channel_is_refused)
{
	char path[256], line[256];
	const int fd = open(lib_path(path, name), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	TEST_ASSERT_EQUAL(9, write(fd, "nonsense\n", 9));
	close(fd);
	TEST_ASSERT_EQUAL(-EIO, open_port());
	snprintf(line, sizeof(line),
		 "channel %s: its file is not a channel, or of another version: remove it with "
		 "ach rm %s",
		 name, name);
	TEST_ASSERT_EQUAL_STRING(line, first_line);
	unlink(path);
}

TEST(an_invalid_name_is_refused)
{
	TEST_ASSERT_EQUAL(-EINVAL, port_open(&port, "a/b", type, 0640, &errors));
	TEST_ASSERT_EQUAL_STRING("channel a/b: not a valid channel name", first_line);
}

TEST(a_channel_of_another_user_is_refused)
{
	char line[512];
	int status;

	if (!lib_can_drop())
		TEST_IGNORE_MESSAGE("needs root");
	TEST_ASSERT_EQUAL(0, port_open(&port, name, type, 0600, &errors));
	port_close(&port);
	lib_nobody_begin();
	status = open_port();
	lib_nobody_end();
	TEST_ASSERT_EQUAL(-EACCES, status);
	snprintf(line, sizeof(line),
		 "channel %s of uid 0: /dev/shm/achshm-%s: permission denied: remove it with ach rm %s, or set "
		 "ENDPLATE_PREFIX",
		 name, name, name);
	TEST_ASSERT_EQUAL_STRING(line, first_line);
}

/* Made first by another user, who would have owned what the driver reads and writes; or open to more than granted. */
TEST(a_channel_that_others_may_change_is_refused)
{
	static const struct {
		uid_t owner;
		mode_t mode, most;
		int status;
		const char *said;
	} rows[] = {
		{ 0, 0600, 0640, 0, NULL },
		{ 0, 0640, 0640, 0, NULL },
		{ 0, 0660, 0660, 0, NULL },
		{ 0, 0660, 0640, -EACCES, "belongs to uid 0, mode 0660, expected uid 0, mode 0640 at most" },
		{ 0, 0644, 0640, -EACCES, "mode 0644" },
		{ 0, 0666, 0660, -EACCES, "ach rm" },
		{ LIB_NOBODY, 0600, 0640, -EACCES, "of uid 65534: " },
		{ LIB_NOBODY, 0666, 0660, -EACCES, "belongs to uid 65534, mode 0666, expected uid 0" },
	};
	ach_create_attr_t attr;

	if (!lib_can_drop())
		TEST_IGNORE_MESSAGE("needs root");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		ach_create_attr_init(&attr);
		ach_create_attr_set_mode(&attr, rows[i].mode, (gid_t)-1);
		if (rows[i].owner)
			lib_nobody_begin();
		TEST_ASSERT_EQUAL(ACH_OK, ach_create(name, 4, sizeof(struct msg_event), &attr));
		if (rows[i].owner)
			lib_nobody_end();
		TEST_ASSERT_EQUAL(rows[i].status, port_open(&port, name, type, rows[i].most, &errors));
		if (rows[i].said)
			TEST_ASSERT_NOT_NULL_MESSAGE(strstr(first_line, rows[i].said), first_line);
		TEST_ASSERT_EQUAL(!rows[i].status, port.open);
		port_close(&port);
		TEST_ASSERT_EQUAL(ACH_OK, ach_unlink(name));
	}
}

/* The group gets access only if it is named and owns the channel. */
TEST(a_new_channel_is_for_its_user_and_the_operators)
{
	static const struct {
		int group; /* in the environment, as seen from our own; -1: none */
		mode_t most, mode;
	} rows[] = {
		{ -1, 0640, 0600 }, { -1, 0660, 0600 }, { 0, 0640, 0640 },
		{ 0, 0660, 0600 },  { 0, 0600, 0600 },	{ 1, 0640, 0600 },
	};
	char path[256], group[16];
	struct stat st;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		snprintf(group, sizeof(group), "%d", (int)getegid() + rows[i].group);
		if (rows[i].group >= 0)
			setenv(PORT_OPERATORS, group, 1);
		umask(0);
		TEST_ASSERT_EQUAL(0, port_open(&port, name, type, rows[i].most, &errors));
		umask(0077);
		TEST_ASSERT_EQUAL(0, stat(lib_path(path, name), &st));
		TEST_ASSERT_EQUAL_HEX(rows[i].mode & 0444, st.st_mode & 0444);
		TEST_ASSERT_EQUAL_HEX(0, st.st_mode & 0022);
		port_close(&port);
		TEST_ASSERT_EQUAL(ACH_OK, ach_unlink(name));
		unsetenv(PORT_OPERATORS);
	}
	setenv(PORT_OPERATORS, "", 1);
	TEST_ASSERT_EQUAL((gid_t)-1, port_group());
	setenv(PORT_OPERATORS, "0x", 1);
	TEST_ASSERT_EQUAL((gid_t)-1, port_group());
	unsetenv(PORT_OPERATORS);
}

/* It need not be a group of this process: it is compared with those of others. */
TEST(the_group_arming_is_that_of_the_environment)
{
	static const struct {
		const char *text;
		gid_t group;
	} rows[] = {
		{ "0", 0 },	     { "64001", 64001 },      { "", (gid_t)-1 },
		{ "x", (gid_t)-1 },  { "64001x", (gid_t)-1 }, { "4294967295", (gid_t)-1 },
		{ "-1", (gid_t)-1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		setenv(PORT_ARMING, rows[i].text, 1);
		TEST_ASSERT_EQUAL_UINT_MESSAGE(rows[i].group, port_arming(), rows[i].text);
	}
	unsetenv(PORT_ARMING);
	TEST_ASSERT_EQUAL_UINT((gid_t)-1, port_arming());
}

static int member(void *unused)
{
	struct stat st;
	char path[256];

	(void)unused;
	lib_drop(64000);
	setenv(PORT_OPERATORS, "64000", 1);
	LIB_CHECK(port_group() == 64000);
	LIB_CHECK(!port_open(&port, name, type, 0640, &errors));
	LIB_CHECK(!stat(lib_path(path, name), &st) && st.st_gid == 64000 && (st.st_mode & 0777) == 0640);
	setenv(PORT_OPERATORS, "4294967295", 1);
	LIB_CHECK(port_group() == (gid_t)-1);
	return 0;
}

TEST(the_operators_may_be_a_supplementary_group)
{
	if (!lib_can_drop())
		TEST_IGNORE_MESSAGE("needs root");
	TEST_ASSERT_EQUAL(0, lib_join(lib_child(member, NULL)));
}

/* No file may be longer than this. */
TEST(a_channel_that_cannot_be_made_is_reported)
{
	const struct rlimit small = { 16, RLIM_INFINITY };
	struct rlimit kept;
	int status;

	getrlimit(RLIMIT_FSIZE, &kept);
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &small);
	status = open_port();
	setrlimit(RLIMIT_FSIZE, &kept);
	TEST_ASSERT_EQUAL(-EIO, status);
	TEST_ASSERT_EQUAL_STRING_LEN("channel ", first_line, 8);
	TEST_ASSERT_FALSE(port.open);
	/* It is tried again. */
	TEST_ASSERT_TRUE(port_reopen(&port, 0, S_NS));
	TEST_ASSERT_TRUE(port.open);
}

/* ---- reading ---- */

TEST(next_newest_and_peek)
{
	TEST_ASSERT_EQUAL(0, open_port());
	put_event("a");
	put_event("b");
	put_event("c");
	put_event("d");
	TEST_ASSERT_EQUAL(PORT_ONE, port_newest(&port, &got, sizeof(got), &len));
	TEST_ASSERT_EQUAL_STRING("d", got.code);
	next_is(PORT_NONE, ""); /* a look at the newest passes over the others */
	put_event("e");
	put_event("f");
	next_is(PORT_ONE, "e");
	put_event("g");
	TEST_ASSERT_EQUAL(PORT_MISSED, port_newest(&port, &got, sizeof(got), &len));
	TEST_ASSERT_EQUAL_STRING("g", got.code);
	TEST_ASSERT_EQUAL(PORT_NONE, port_newest(&port, &got, sizeof(got), &len));
}

/* What was lost before the handle was there is not its loss. */
TEST(only_what_is_missed_from_then_on_counts)
{
	TEST_ASSERT_EQUAL(ACH_OK, ach_create(name, 4, sizeof(struct msg_event), NULL));
	for (int i = 0; i < 9; i++)
		put_event("old");
	TEST_ASSERT_EQUAL(0, open_port());
	next_is(PORT_ONE, "old");
	for (int i = 0; i < 9; i++)
		put_event("new");
	next_is(PORT_MISSED, "new");
	next_is(PORT_ONE, "new");
}

TEST(every_message_of_a_channel_that_was_empty_counts)
{
	TEST_ASSERT_EQUAL(ACH_OK, ach_create(name, 4, sizeof(struct msg_event), NULL));
	TEST_ASSERT_EQUAL(0, open_port());
	next_is(PORT_NONE, "");
	for (int i = 0; i < 9; i++)
		put_event("new");
	next_is(PORT_MISSED, "new");
}

TEST(a_message_that_is_too_long_is_stepped_over)
{
	static char large[2000];

	TEST_ASSERT_EQUAL(0, open_port());
	put_event("a");
	put_bytes(large, sizeof(large));
	put_event("b");
	next_is(PORT_ONE, "a");
	next_is(PORT_ONE, "");
	next_is(PORT_ONE, "b");
	put_event("c");
	put_bytes(large, sizeof(large));
	TEST_ASSERT_EQUAL(PORT_MISSED, port_newest(&port, &got, sizeof(got), &len));
	TEST_ASSERT_EQUAL(0, len);
	next_is(PORT_NONE, "");
	for (int i = 0; i < 100; i++)
		put_bytes(large, sizeof(large));
	next_is(PORT_MISSED, "");
}

/* ---- losing it ---- */

static void scribble(void)
{
	ach_channel_t chan;

	TEST_ASSERT_EQUAL(ACH_OK, ach_open(&chan, name, NULL));
	atomic_fetch_add(&chan.handle->shm->commit, 1000);
	ach_close(&chan);
}

TEST(a_corrupt_one_is_closed_and_tried_at_each_look)
{
	TEST_ASSERT_EQUAL(0, open_port());
	TEST_ASSERT_FALSE(port_reopen(&port, 0, S_NS));
	put_event("a");
	scribble();
	next_is(PORT_BROKEN, "");
	TEST_ASSERT_FALSE(port.open);
	next_is(PORT_BROKEN, "");
	TEST_ASSERT_TRUE(port_reopen(&port, 1, S_NS)); /* though the second is not over */
	next_is(PORT_BROKEN, "");
	ach_unlink(name);
	TEST_ASSERT_TRUE(port_reopen(&port, 2, S_NS));
	next_is(PORT_NONE, "");
	put_event("b");
	next_is(PORT_ONE, "b");
}

TEST(an_unlinked_channel_is_made_again)
{
	char path[256];

	TEST_ASSERT_EQUAL(0, open_port());
	TEST_ASSERT_FALSE(port_reopen(&port, 5, S_NS));
	ach_unlink(name);
	TEST_ASSERT_FALSE(port_reopen(&port, S_NS + 4, S_NS));
	TEST_ASSERT(access(lib_path(path, name), F_OK));
	TEST_ASSERT_TRUE(port_reopen(&port, S_NS + 5, S_NS));
	TEST_ASSERT(!access(lib_path(path, name), F_OK));
	TEST_ASSERT_FALSE(port_reopen(&port, 3ll * S_NS, S_NS));
}

TEST(a_new_one_under_the_old_name_is_read_from_its_beginning)
{
	TEST_ASSERT_EQUAL(0, open_port());
	put_event("a");
	next_is(PORT_ONE, "a");
	ach_unlink(name);
	TEST_ASSERT_EQUAL(ACH_OK, ach_create(name, 4, sizeof(struct msg_event), NULL));
	for (int i = 0; i < 9; i++)
		put_event("b");
	TEST_ASSERT_TRUE(port_reopen(&port, S_NS, 0));
	next_is(PORT_ONE, "b");
	TEST_ASSERT_FALSE(port_reopen(&port, S_NS, 0)); /* every_ns 0: each time, and it is there */
}

/* ---- writing ---- */

TEST(puts_are_numbered)
{
	struct msg_event e = event("mine");

	TEST_ASSERT_EQUAL(0, open_port());
	TEST_ASSERT_TRUE(port_put(&port, &e));
	TEST_ASSERT_TRUE(port_put(&port, &e));
	next_is(PORT_ONE, "mine");
	TEST_ASSERT_EQUAL(1, got.header.sequence);
	next_is(PORT_ONE, "mine");
	TEST_ASSERT_EQUAL(2, got.header.sequence);
}

TEST(messages_that_could_not_be_put_are_counted)
{
	struct msg_event e = event("mine");

	TEST_ASSERT_EQUAL(0, open_port());
	scribble();
	TEST_ASSERT_FALSE(port_put(&port, &e));
	TEST_ASSERT_FALSE(port.open);
	TEST_ASSERT_FALSE(port_put(&port, &e));
	TEST_ASSERT_EQUAL(2, port.puts_failed);
	ach_unlink(name);
	TEST_ASSERT_TRUE(port_reopen(&port, 1, S_NS));
	TEST_ASSERT_TRUE(port_put(&port, &e));
	TEST_ASSERT_EQUAL(2, port.puts_failed);
}

/* A stopped process holds the writers' lock: give up after 2 ms, until the next time. */
static int hold_lock(void *arg)
{
	struct lib_gate *gate = arg;
	ach_channel_t chan;
	void *inside;

	LIB_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	LIB_STATUS(ACH_OK, ach_reserve(&chan, sizeof(struct msg_event), &inside));
	lib_gate_set(gate, 1);
	lib_gate_wait(gate, 2);
	return 0;
}

TEST(a_put_that_would_wait_is_given_up_and_the_channel_kept)
{
	struct lib_gate *gate = lib_gate_new();
	struct msg_event e = event("mine");
	pid_t other;

	TEST_ASSERT_EQUAL(0, open_port());
	other = lib_child(hold_lock, gate);
	lib_gate_wait(gate, 1);
	TEST_ASSERT_FALSE(port_put(&port, &e));
	TEST_ASSERT_EQUAL(1, port.puts_failed);
	TEST_ASSERT_TRUE(port.open);
	lib_gate_set(gate, 2);
	TEST_ASSERT_EQUAL(0, lib_join(other));
	TEST_ASSERT_TRUE(port_put(&port, &e));
	TEST_ASSERT_EQUAL(1, port.puts_failed);
	lib_gate_free(gate);
}

void testcase_begin(void)
{
	umask(0077); /* of the channels that are made here */
}
