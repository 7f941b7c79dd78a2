/* test_terminal.c: achstart's lines for the person who started it, also on a terminal or pipe of another user. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>

#include "test/lib/testcase.h"

#include "launch/view/terminal.h"

#define OTHER 7100

void setUp(void)
{
	if (geteuid())
		TEST_IGNORE_MESSAGE("another user takes root");
}

/* As another user, with that as stderr, says the line so many times: how many were lost. */
static int lost(int fd, unsigned int times)
{
	const pid_t pid = fork();
	struct terminal t;
	int status;

	if (!pid) {
		dup2(fd, STDERR_FILENO);
		if (setgid(OTHER) || setuid(OTHER))
			_exit(200);
		terminal_open(&t);
		for (unsigned int i = 0; i < times; i++)
			terminal_say(&t, "0123456789012345678901234567890123456789012345678901234567890");
		_exit(t.lost < 100 ? (int)t.lost : 100);
	}
	TEST_ASSERT_EQUAL_INT(pid, waitpid(pid, &status, 0));
	TEST_ASSERT_TRUE(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void is_heard(int from)
{
	char text[8] = "";

	TEST_ASSERT_EQUAL_INT(7, read(from, text, 7));
	TEST_ASSERT_EQUAL_STRING("0123456", text);
}

TEST(a_pipe_of_another_user)
{
	int ends[2];

	TEST_ASSERT_EQUAL_INT(0, pipe2(ends, O_CLOEXEC));
	TEST_ASSERT_EQUAL_INT(0, lost(ends[1], 1));
	is_heard(ends[0]);
	/* A pipe without a reader fills up: achstart does not wait, other writers still do. */
	TEST_ASSERT_EQUAL_INT(100, lost(ends[1], 5000));
	TEST_ASSERT_FALSE(fcntl(ends[1], F_GETFL) & O_NONBLOCK);
	close(ends[0]);
	close(ends[1]);
}

TEST(a_terminal_of_another_user)
{
	const int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	int slave;

	TEST_ASSERT_TRUE(master >= 0);
	TEST_ASSERT_EQUAL_INT(0, grantpt(master) | unlockpt(master));
	slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	TEST_ASSERT_TRUE(slave >= 0);
	TEST_ASSERT_EQUAL_INT(0, fchmod(slave, 0600));
	TEST_ASSERT_EQUAL_INT(0, lost(slave, 1));
	is_heard(master);
	TEST_ASSERT_EQUAL_INT(100, lost(slave, 5000));
	TEST_ASSERT_FALSE(fcntl(slave, F_GETFL) & O_NONBLOCK);
	/* Stopped with Ctrl-S. */
	TEST_ASSERT_EQUAL_INT(0, tcflush(slave, TCIOFLUSH));
	TEST_ASSERT_EQUAL_INT(0, tcflow(slave, TCOOFF));
	TEST_ASSERT_EQUAL_INT(3, lost(slave, 3));
	close(slave);
	close(master);
}
