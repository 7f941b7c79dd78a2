/* rig_ask.c: asking the achstart of a rig. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unity.h"

#include "channels/clock/clock.h"
#include "test/launch/achstart/rig.h"
#include "test/lib/virtual_lib.h"

#define ANSWER_NS 30000000000
#define TURNS 10000 /* of a millisecond */

static char answer[65536];

static void ask(const char *line)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	ssize_t n;
	int at = -1;

	snprintf(address.sun_path, sizeof(address.sun_path), "%.90s/control", rig.run);
	for (int turns = 0; turns < TURNS && (at = connect(fd, (struct sockaddr *)&address, sizeof(address))); turns++)
		rig_turn(); /* it may be about to listen */
	TEST_ASSERT_EQUAL(0, at);
	clock_touch(0);
	TEST_ASSERT_EQUAL(strlen(line), send(fd, line, strlen(line), MSG_NOSIGNAL));
	TEST_ASSERT_EQUAL(1,
			  clock_wait(&(struct clock_fd){ .fd = fd, .events = POLLIN }, 1, clock_now_ns() + ANSWER_NS));
	n = recv(fd, answer, sizeof(answer) - 1, 0);
	answer[n > 0 ? n : 0] = 0;
	close(fd);
}

/* What the status says of a daemon, from its name to the end of its object. */
static const char *status_of(const char *name)
{
	char key[64], *at, *end;

	snprintf(key, sizeof(key), "{\"name\":\"%s\",\"state\"", name);
	ask("status\n");
	at = strstr(answer, key);
	end = at ? strchr(at, '}') : NULL;
	if (!end)
		return "";
	*end = 0;
	return at;
}

bool rig_status_has(const char *name, const char *words)
{
	return strstr(status_of(name), words);
}

/* In the child: executes the line; in the test: its exit status. */
static int await(pid_t pid, const char *line)
{
	int status = -1;

	TEST_ASSERT_NOT_EQUAL(-1, pid);
	if (!pid) {
		execl("/bin/sh", "sh", "-c", line, NULL);
		_exit(127);
	}
	RIG_UNTIL(waitpid(pid, &status, WNOHANG) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

void rig_shell(const char *fmt, ...)
{
	char line[700];
	va_list values;

	va_start(values, fmt);
	vsnprintf(line, sizeof(line), fmt, values);
	va_end(values);
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, await(fork(), line), line);
}

int rig_try(const char *program, const char *arguments)
{
	char line[700];

	snprintf(line, sizeof(line), "exec %s %s >%s/output 2>&1", rig_program(program), arguments, rig.folder);
	return await(virtual_lib_fork(program), line);
}

void rig_run(const char *program, const char *arguments)
{
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, rig_try(program, arguments), rig_output());
}

void rig_run_on(const char *program, const char *arguments)
{
	char line[700];
	const pid_t pid = virtual_lib_fork(program);

	if (pid)
		return;
	snprintf(line, sizeof(line), "exec %s %s >/dev/null 2>&1", rig_program(program), arguments);
	execl("/bin/sh", "sh", "-c", line, NULL);
	_exit(127);
}
