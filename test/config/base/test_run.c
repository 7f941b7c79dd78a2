/* test_run.c: the folder in which the parts of one robot meet. */
#include <sys/stat.h>
#include <sys/wait.h>

#include "config/base/run.h"
#include "test/config/settings/lines.h"
#include "test/lib/testcase.h"

static char folder[] = "/tmp/test-run-XXXXXX";
static char path[RUN_PATH_MAX];
static struct error_sink *errors;

void setUp(void)
{
	unsetenv("ENDPLATE_RUN");
	unsetenv("XDG_RUNTIME_DIR");
	errors = lines_start();
}

TEST(the_environment_wins)
{
	setenv("ENDPLATE_RUN", "/a/b", 1);
	setenv("XDG_RUNTIME_DIR", "/c", 1);
	TEST_ASSERT_EQUAL(0, run_path(path, "wire/torso", errors));
	TEST_ASSERT_EQUAL_STRING("/a/b/wire/torso", path);
	TEST_ASSERT_EQUAL(0, run_path(path, NULL, errors));
	TEST_ASSERT_EQUAL_STRING("/a/b", path);
}

/* In a child: the robot's name stays with a process, and a user other than root is a step that leads nowhere back. */
static int in_child(int (*what)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(what());
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int root_has_run(void)
{
	return run_path(path, "lock", errors) || strcmp(path, "/run/endplate/robot/lock") != 0;
}

static int user_has_the_runtime_folder(void)
{
	if (geteuid() == 0 && seteuid(12345))
		return 2;
	setenv("XDG_RUNTIME_DIR", "/run/user/12345", 1);
	return run_path(path, "lock", errors) || strcmp(path, "/run/user/12345/endplate/robot/lock") != 0;
}

static int user_without_one_is_reported(void)
{
	if (geteuid() == 0 && seteuid(12345))
		return 2;
	return run_path(path, "lock", errors) != -ENOENT || !strstr(lines, "export ENDPLATE_RUN=");
}

static int robots_have_folders_of_their_own(void)
{
	setenv("XDG_RUNTIME_DIR", "/run/user/1", 1);
	if (run_robot("a/b") != -EINVAL || run_robot("hubo") || run_path(path, "lock", errors))
		return 1;
	if (!strstr(path, "/endplate/hubo/lock"))
		return 2;
	return !strstr(getenv("ENDPLATE_RUN"), "/endplate/hubo"); /* for those started from here */
}

TEST(the_folder_depends_on_user_and_robot)
{
	if (geteuid() == 0)
		TEST_ASSERT_EQUAL(0, in_child(root_has_run));
	TEST_ASSERT_EQUAL(0, in_child(user_has_the_runtime_folder));
	TEST_ASSERT_EQUAL(0, in_child(user_without_one_is_reported));
	TEST_ASSERT_EQUAL(0, in_child(robots_have_folders_of_their_own));
}

TEST(too_long_is_reported)
{
	char long_name[RUN_PATH_MAX];

	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = 0;
	setenv("ENDPLATE_RUN", "/tmp", 1);
	TEST_ASSERT_EQUAL(-ENAMETOOLONG, run_path(path, long_name, errors));
	TEST_ASSERT_NOT_NULL(strstr(lines, "shorter"));
}

TEST(folders_are_made)
{
	struct stat info;
	char run[64];
	int fd;

	snprintf(run, sizeof(run), "%s/x/y", folder);
	setenv("ENDPLATE_RUN", run, 1);
	for (int again = 0; again < 2; again++) {
		fd = run_folder("wire", errors);
		TEST_ASSERT_GREATER_OR_EQUAL(0, fd);
		TEST_ASSERT_EQUAL(0, fstat(fd, &info));
		TEST_ASSERT_TRUE(S_ISDIR(info.st_mode));
		close(fd);
	}
	snprintf(path, sizeof(path), "%s/x/y/wire", folder);
	TEST_ASSERT_EQUAL(0, access(path, X_OK));

	setenv("ENDPLATE_RUN", "/dev/null/x", 1);
	TEST_ASSERT_EQUAL(-ENOTDIR, run_folder("wire", errors));
	TEST_ASSERT_EQUAL_STRING("unable to make the folder /dev/null/x: Not a directory\n", lines);
}

int main(void)
{
	char remove[64];
	int r;

	if (!mkdtemp(folder))
		return 1;
	UNITY_BEGIN();
	testcase_run_all();
	r = UNITY_END();
	snprintf(remove, sizeof(remove), "rm -rf %s", folder);
	return system(remove) || r;
}
