/* test_rights.c: what a user may ask of achstart, by user and groups; and the user at the other end of a socket. */
#include <grp.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "test/lib/testcase.h"

#include "launch/view/peer.h"
#include "test/launch/file/launch_lib.h"

#define NONE ((gid_t)-1)
#define LOOK RIGHTS_LOOK
#define RAISE (RIGHTS_LOOK | RIGHTS_RAISE)
#define ALL (RIGHTS_LOOK | RIGHTS_RAISE | RIGHTS_ARM)

TEST(rights_are_a_table)
{
	static const struct {
		struct rights_robot robot;
		uid_t uid;
		gid_t gid, groups[2];
		unsigned int rights;
	} cases[] = {
		/* owner operators arming moving | uid gid groups | rights */
		{ { 70, NONE, NONE, NONE }, 70, 7, { 8, 9 }, ALL },
		{ { 70, NONE, NONE, NONE }, 0, 7, { 8, 9 }, ALL },
		{ { 70, NONE, NONE, NONE }, 71, 70, { 0, NONE }, 0 },
		{ { 70, 5, NONE, NONE }, 71, 7, { 8, 9 }, 0 },
		{ { 70, 5, NONE, NONE }, 71, 5, { 8, 9 }, RAISE },
		{ { 70, 5, NONE, NONE }, 71, 7, { 8, 5 }, RAISE },
		{ { 70, 5, 6, 4 }, 71, 7, { 5, 6 }, ALL },
		{ { 70, 5, 6, 4 }, 71, 6, { 8, 9 }, ALL },
		{ { 70, 5, 6, 4 }, 71, 7, { 4, 9 }, RAISE },
		{ { 70, 5, 6, 4 }, 71, 7, { 4, 5 }, RAISE },
		{ { 70, NONE, NONE, 4 }, 71, NONE, { NONE, NONE }, 0 },
		{ { 70, 0, NONE, NONE }, 71, 0, { 8, 9 }, RAISE },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct rights_peer peer = { cases[i].uid, cases[i].gid, cases[i].groups, 2 };
		char which[16];

		snprintf(which, sizeof(which), "case %zu", i);
		TEST_ASSERT_EQUAL_UINT_MESSAGE(cases[i].rights, rights_of(&cases[i].robot, &peer), which);
	}
}

TEST(every_command_takes_one_right)
{
	static const char *const arming[] = { "arm", "start", "restart", "stop", "clear", "request" };

	TEST_ASSERT_EQUAL_UINT(RIGHTS_LOOK, rights_needed("status"));
	TEST_ASSERT_EQUAL_UINT(RIGHTS_LOOK, rights_needed("get"));
	TEST_ASSERT_EQUAL_UINT(RIGHTS_RAISE, rights_needed("raise"));
	for (size_t i = 0; i < sizeof(arming) / sizeof(*arming); i++)
		TEST_ASSERT_EQUAL_UINT_MESSAGE(RIGHTS_ARM, rights_needed(arming[i]), arming[i]);
	TEST_ASSERT_EQUAL_UINT(0, rights_needed(""));
	TEST_ASSERT_EQUAL_UINT(0, rights_needed("lower"));
	TEST_ASSERT_NOT_NULL(strstr(rights_holders(RIGHTS_ARM), "arming:"));
	TEST_ASSERT_NULL(strstr(rights_holders(RIGHTS_RAISE), "arming:"));
}

/* Of a user who is in n groups, group 6000 the last of them. */
static unsigned int rights_with_groups(size_t n, gid_t operators)
{
	const struct rights_robot robot = { 70, operators, NONE, NONE };
	unsigned int rights;
	gid_t *groups;
	int ends[2];
	pid_t pid;
	uid_t uid;

	/* A pair has the ids of the process that made it. */
	pid = fork();
	if (!pid) {
		groups = calloc(n, sizeof(*groups));
		for (size_t i = 0; i < n; i++)
			groups[i] = (gid_t)(6001 + n - i);
		groups[n - 1] = 6000;
		if (setgroups(n, groups) || setgid(6999) || setuid(71) || socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
			_exit(255);
		rights = peer_rights(ends[0], &robot, &uid);
		_exit(uid == 71 ? (int)rights : 254);
	}
	TEST_ASSERT_EQUAL_INT(pid, waitpid(pid, ends, 0));
	TEST_ASSERT_TRUE(WIFEXITED(ends[0]));
	return (unsigned int)WEXITSTATUS(ends[0]);
}

TEST(a_peer_may_be_in_many_groups)
{
	if (geteuid())
		TEST_IGNORE_MESSAGE("setgroups takes root");
	TEST_ASSERT_EQUAL_UINT(RAISE, rights_with_groups(1, 6000));
	TEST_ASSERT_EQUAL_UINT(RAISE, rights_with_groups(200, 6000));
	TEST_ASSERT_EQUAL_UINT(RAISE, rights_with_groups(5000, 6000));
	TEST_ASSERT_EQUAL_UINT(0, rights_with_groups(5000, 5999));
	TEST_ASSERT_EQUAL_UINT(RAISE, rights_with_groups(1, 6999));
}

TEST(names_come_from_the_file)
{
	char folder[LAUNCH_LIB_PATH], path[LAUNCH_LIB_PATH], name[PEER_NAME_MAX];

	launch_lib_folder(folder);
	launch_lib_write(path, folder, "passwd", 0644,
			 "root:x:0:0::/root:/bin/sh\nann:x:1007:1:A:/:/bin/sh\nbad\x1b[2Jname:x:1008:1:A:/:/bin/sh\n"
			 "a-name-longer-than-a-message-has-room-for:x:1009:1:A:/:/bin/sh\n");
	peer_name(name, 1007, path);
	TEST_ASSERT_EQUAL_STRING("ann", name);
	peer_name(name, 0, path);
	TEST_ASSERT_EQUAL_STRING("root", name);
	for (uid_t uid = 1008; uid < 1011; uid++) {
		char expected[32];

		snprintf(expected, sizeof(expected), "uid %u", uid);
		peer_name(name, uid, path);
		TEST_ASSERT_EQUAL_STRING(expected, name);
	}
	launch_lib_remove(folder);
	peer_name(name, 1007, path);
	TEST_ASSERT_EQUAL_STRING("uid 1007", name);
}
