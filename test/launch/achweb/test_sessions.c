/* test_sessions.c: sessions that outlive the process, in a file. */
#include "test/lib/testcase.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/achweb/sessions.h"

#define S INT64_C(1000000000)

static struct token_store before, after;
static char path[64], file[96];
static int folder;

void setUp(void)
{
	snprintf(path, sizeof(path), "/tmp/test_sessions.XXXXXX");
	TEST_ASSERT_NOT_NULL(mkdtemp(path));
	snprintf(file, sizeof(file), "%s/" SESSIONS_FILE, path);
	folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	memset(&before, 0, sizeof(before));
	memset(&after, 0, sizeof(after));
}

void tearDown(void)
{
	close(folder);
	unlink(file);
	rmdir(path);
}

#define CLIENT "0123456789abcdef0123456789abcdef"

static struct token *begin(uint8_t number, unsigned int rights, const char *who, int64_t now_ns)
{
	const struct token_holder holder = { rights, 1000u + number, who };
	uint8_t bytes[TOKEN_RANDOM];
	struct token *link;

	memset(bytes, number, sizeof(bytes));
	link = token_issue(&before, bytes, &holder, now_ns);
	return token_redeem(&before, link, CLIENT, bytes, now_ns);
}

TEST(sessions_go_on_with_their_keys_rights_names_and_ends)
{
	const struct token_holder bob = { TOKEN_LOOK | TOKEN_ACT, 1003, "bob" };
	const struct token *found, *link;
	struct stat st;

	begin(1, TOKEN_LOOK, "alice", S);
	begin(2, TOKEN_LOOK | TOKEN_ACT, "a name with blanks", 2 * S);
	token_begin_studio(&before, (uint8_t[TOKEN_ID_RANDOM]){ 3 }, &bob, 2 * S);
	link = token_issue(&before, (uint8_t[TOKEN_RANDOM]){ 4 }, &bob, 2 * S);
	TEST_ASSERT_EQUAL_INT(0, sessions_write(&before, folder, 3 * S));
	TEST_ASSERT_EQUAL_INT(0, stat(file, &st));
	TEST_ASSERT_EQUAL_UINT(0600, st.st_mode & 07777);
	TEST_ASSERT_EQUAL_size_t(3, sessions_read(&after, folder, 3 * S));
	TEST_ASSERT_EQUAL_MEMORY(before.sessions, after.sessions, sizeof(before.sessions));
	found = token_session(&after, "01010101010101010101010101010101", 4 * S);
	TEST_ASSERT_NOT_NULL(found);
	TEST_ASSERT_EQUAL_UINT(TOKEN_LOOK, found->rights);
	TEST_ASSERT_EQUAL_STRING("alice", found->who);
	found = token_session(&after, "02020202020202020202020202020202", 2 * S + TOKEN_SESSION_NS - 1);
	TEST_ASSERT_NOT_NULL(found);
	TEST_ASSERT_EQUAL_UINT(TOKEN_LOOK | TOKEN_ACT, found->rights);
	TEST_ASSERT_EQUAL_STRING("a name with blanks", found->who);
	TEST_ASSERT_NOT_NULL(token_studio(&after, "03000000000000000000000000000000", 4 * S));
	TEST_ASSERT_NULL(token_link(&after, link->id, 4 * S));
}

/* Its challenges are others, so that what was used before it needs no memory. */
TEST(counts_are_not_kept)
{
	struct token *t = begin(1, TOKEN_LOOK, "alice", S);

	TEST_ASSERT_EQUAL_INT(FRESH_TAKEN, fresh_take(t->windows, CLIENT, 5, 1));
	TEST_ASSERT_EQUAL_INT(0, sessions_write(&before, folder, S));
	TEST_ASSERT_EQUAL_size_t(1, sessions_read(&after, folder, S));
	TEST_ASSERT_EQUAL_STRING("", after.sessions[0].windows[0].client);
}

TEST(a_session_that_has_ended_does_not_begin_again)
{
	begin(1, TOKEN_LOOK, "alice", S);
	TEST_ASSERT_EQUAL_INT(0, sessions_write(&before, folder, S));
	TEST_ASSERT_EQUAL_size_t(0, sessions_read(&after, folder, S + TOKEN_SESSION_NS));
	TEST_ASSERT_EQUAL_size_t(1, sessions_read(&after, folder, S + TOKEN_SESSION_NS - 1));
	TEST_ASSERT_EQUAL_INT(0, sessions_write(&before, folder, S + TOKEN_SESSION_NS));
	TEST_ASSERT_EQUAL_size_t(0, sessions_read(&after, folder, S));
}

TEST(as_many_as_there_can_be)
{
	for (uint8_t i = 0; i < TOKEN_SESSIONS; i++)
		begin(i, TOKEN_LOOK | TOKEN_ACT, "a name that is long enou", S);
	TEST_ASSERT_EQUAL_INT(0, sessions_write(&before, folder, S));
	TEST_ASSERT_EQUAL_size_t(TOKEN_SESSIONS, sessions_read(&after, folder, S));
	TEST_ASSERT_EQUAL_MEMORY(before.sessions, after.sessions, sizeof(before.sessions));
}

/* The file with one place changed. */
static size_t changed(const char *from, const char *to)
{
	char text[2000] = "", *at;
	int fd = open(file, O_RDWR | O_CLOEXEC);

	TEST_ASSERT_TRUE(read(fd, text, sizeof(text) - 100) > 0);
	at = strstr(text, from);
	TEST_ASSERT_NOT_NULL_MESSAGE(at, from);
	memmove(at + strlen(to), at + strlen(from), strlen(at + strlen(from)) + 1);
	memcpy(at, to, strlen(to));
	TEST_ASSERT_EQUAL_INT(0, ftruncate(fd, 0));
	TEST_ASSERT_EQUAL_INT(strlen(text), pwrite(fd, text, strlen(text), 0));
	close(fd);
	memset(&after, 0, sizeof(after));
	return sessions_read(&after, folder, S);
}

TEST(what_is_not_sound_is_left_out)
{
	static const struct {
		const char *from, *to;
		size_t left;
	} rows[] = {
		{ "boot ", "boot f", 0 }, /* of another boot */
		{ "boot ", "boat ", 0 },
		{ "0101", "01", 1 },
		{ "0202", "02x2", 1 },
		{ "01010101 ", "01010101 -", 1 }, /* a host */
		{ " - 1 1001", " -- 1 1001", 1 },
		{ " - 1 1001", " 00 1 1001", 1 }, /* a key to act without that right */
		{ " 3 1002", " 1 1002", 1 },
		{ "1001", "x", 1 },
		{ " 1 1001", " 2 1001", 1 }, /* acting alone */
		{ " 1 1001", " 7 1001", 1 },
		{ " 1 1001", " 1001", 1 },
		{ " alice", "", 1 },
		{ " alice", " a name that is longer than any can be", 1 },
		{ "43201000000000 alice", "43201000000001 alice", 1 },
		{ "alice", "ali\nce", 2 }, /* the rest of a line is not a name */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		memset(&before, 0, sizeof(before));
		begin(1, TOKEN_LOOK, "alice", S);
		begin(2, TOKEN_LOOK | TOKEN_ACT, "bob", S);
		TEST_ASSERT_EQUAL_INT(0, sessions_write(&before, folder, S));
		TEST_ASSERT_EQUAL_size_t_MESSAGE(rows[i].left, changed(rows[i].from, rows[i].to), rows[i].to);
	}
}

TEST(a_file_that_others_may_write_is_not_read)
{
	TEST_ASSERT_EQUAL_size_t(0, sessions_read(&after, folder, S)); /* there is none */
	begin(1, TOKEN_LOOK, "alice", S);
	TEST_ASSERT_EQUAL_INT(0, sessions_write(&before, folder, S));
	TEST_ASSERT_EQUAL_INT(0, chmod(file, 0666));
	TEST_ASSERT_EQUAL_size_t(0, sessions_read(&after, folder, S));
	TEST_ASSERT_EQUAL_INT(0, chmod(file, 0600));
	TEST_ASSERT_EQUAL_size_t(1, sessions_read(&after, folder, S));
}
