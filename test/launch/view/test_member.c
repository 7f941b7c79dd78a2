/* test_member.c: a user's rights by the user database, and how long it is waited for. */
#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/lib/testcase.h"

#include "launch/view/member.h"

#define NONE ((gid_t)-1)
#define UNUSED 23987 /* neither a user nor a group */
#define ALL (RIGHTS_LOOK | RIGHTS_RAISE | RIGHTS_ARM)
#define WITHIN_NS 60000000000 /* a loaded machine */

static struct rights_robot robot_with(gid_t arming)
{
	return (struct rights_robot){ UNUSED, NONE, arming, NONE };
}

TEST(rights_are_those_of_the_database)
{
	struct rights_robot robot = robot_with(NONE);
	const struct passwd *nobody = getpwnam("nobody");

	TEST_ASSERT_NOT_NULL(nobody);
	TEST_ASSERT_EQUAL_INT(0, member_rights(&robot, nobody->pw_uid, WITHIN_NS));
	robot = robot_with(nobody->pw_gid);
	TEST_ASSERT_EQUAL_INT(ALL, member_rights(&robot, nobody->pw_uid, WITHIN_NS));
	robot = robot_with(UNUSED);
	TEST_ASSERT_EQUAL_INT(0, member_rights(&robot, nobody->pw_uid, WITHIN_NS));
	robot = robot_with(nobody->pw_gid);
	TEST_ASSERT_EQUAL_INT(0, member_rights(&robot, UNUSED + 1, WITHIN_NS));
	TEST_ASSERT_EQUAL_INT(-1, waitpid(-1, NULL, 0)); /* no child is left */
}

/* Groups that this process was given do not count. */
TEST(groups_of_a_process_do_not_count)
{
	const struct rights_robot robot = robot_with(UNUSED);
	const struct passwd *nobody = getpwnam("nobody");

	TEST_ASSERT_NOT_NULL(nobody);
	if (geteuid())
		TEST_IGNORE_MESSAGE("needs root, to take a group");
	TEST_ASSERT_EQUAL_INT(0, setgroups(1, (gid_t[]){ UNUSED }));
	TEST_ASSERT_EQUAL_INT(0, member_rights(&robot, nobody->pw_uid, WITHIN_NS));
	TEST_ASSERT_EQUAL_INT(0, setgroups(0, NULL));
}

TEST(root_and_the_robots_user_need_no_database)
{
	const struct rights_robot robot = robot_with(NONE);

	TEST_ASSERT_EQUAL_INT(ALL, member_rights(&robot, 0, 0));
	TEST_ASSERT_EQUAL_INT(ALL, member_rights(&robot, UNUSED, 0));
}

static bool hanging;

/* In a child, which then does not get to its end. */
static void hang(void)
{
	while (hanging)
		pause();
}

TEST(a_database_that_does_not_answer_is_not_waited_for)
{
	const struct rights_robot robot = robot_with(UNUSED);

	pthread_atfork(NULL, NULL, hang);
	signal(SIGCHLD, SIG_IGN);
	hanging = true;
	TEST_ASSERT_EQUAL_INT(-ETIMEDOUT, member_rights(&robot, UNUSED + 1, 0));
	hanging = false;
	TEST_ASSERT_EQUAL_INT(0, member_rights(&robot, UNUSED + 1, WITHIN_NS));
}
