/* wire_lib.c: a canwire of one's own, for tests. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "can/bus/attach.h"
#include "channels/clock/clock.h"
#include "test/can/bus/wire_lib.h"
#include "test/lib/testcase.h"
#include "test/lib/virtual_lib.h"

char wire_lib_said[1 << 16];
bool wire_lib_plain;

static char folder[] = "/tmp/test-wire-XXXXXX";
static pid_t server;

const char *wire_lib_program(const char *name)
{
	const bool plain = wire_lib_plain && (!strcmp(name, "canwire") || !strcmp(name, "robotsim"));
	static char path[512];
	const char *build = plain ? getenv("PLAIN_BUILD") : NULL;

	if (!build)
		build = getenv("BUILD");
	snprintf(path, sizeof(path), "%s/%s", build ? build : "build", name);
	return path;
}

const char *wire_lib_folder(void)
{
	if (strstr(folder, "XXXXXX")) {
		TEST_ASSERT_NOT_NULL(mkdtemp(folder));
		setenv("ENDPLATE_RUN", folder, 1);
		testcase_at_end = wire_lib_clean;
	}
	return folder;
}

static bool answers(const char *bus)
{
	static char answer[ATTACH_ANSWER_MAX];

	return !attach_question(bus, "stats", answer, sizeof(answer), &(struct error_sink){ 0 });
}

int wire_lib_do(const char *command)
{
	char line[1024];
	FILE *from;
	int status;
	size_t n;

	wire_lib_folder();
	/* Looking for leaks at each end would take longer than all the rest. */
	snprintf(line, sizeof(line), "%s %s 2>&1", wire_lib_program("canwire"), command);
	from = popen(line, "r");
	TEST_ASSERT_NOT_NULL(from);
	n = fread(wire_lib_said, 1, sizeof(wire_lib_said) - 1, from);
	wire_lib_said[n] = 0;
	status = pclose(from);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

pid_t wire_lib_launch(const char *name, const char *arguments)
{
	char line[1400];
	const pid_t pid = virtual_lib_fork(name);

	TEST_ASSERT(pid >= 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(line, sizeof(line), "exec %s %s >>%s/out 2>&1", wire_lib_program(name), arguments, wire_lib_folder());
	execl("/bin/sh", "sh", "-c", line, NULL);
	_exit(127);
}

/* Without outages: a busy machine delays every process.  canwire is ready once it answers to stats. */
pid_t wire_lib_start(const char *arguments)
{
	const char *last = strrchr(arguments, ' ');
	char line[1024];

	wire_lib_folder();
	snprintf(line, sizeof(line), "exec %s run --outage 0 %s", wire_lib_program("canwire"), arguments);
	server = virtual_lib_fork("canwire");
	if (server == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl("/bin/sh", "sh", "-c", line, NULL);
		_exit(127);
	}
	for (int i = 0; i < 1000 && !answers(last ? last + 1 : arguments); i++) {
		TEST_ASSERT_EQUAL_MESSAGE(0, waitpid(server, NULL, WNOHANG), "canwire ended at once");
		clock_wait(NULL, 0, clock_now_ns() + 10000000);
	}
	return server;
}

void wire_lib_end(int signal)
{
	if (server <= 0)
		return;
	virtual_lib_signal(server, signal);
	kill(server, SIGCONT);
	while (waitpid(server, NULL, 0) < 0 && errno == EINTR)
		;
	server = 0;
}

const char *wire_lib_ask(const char *bus, const char *question)
{
	static char answer[ATTACH_ANSWER_MAX];
	struct error_sink errors = { error_to_stderr, NULL, 0 };

	TEST_ASSERT_EQUAL_MESSAGE(0, attach_question(bus, question, answer, sizeof(answer), &errors), question);
	return answer;
}

long wire_lib_number(const char *bus, const char *name, const char *key)
{
	char command[128], want[128];
	const char *at;

	snprintf(command, sizeof(command), "stats %s --json", bus);
	TEST_ASSERT_EQUAL_MESSAGE(0, wire_lib_do(command), wire_lib_said);
	snprintf(want, sizeof(want), "\"name\":\"%s\"", name);
	at = strstr(wire_lib_said, want);
	TEST_ASSERT_NOT_NULL_MESSAGE(at, wire_lib_said);
	snprintf(want, sizeof(want), "\"%s\":", key);
	at = strstr(at, want);
	TEST_ASSERT_NOT_NULL_MESSAGE(at, wire_lib_said);
	return strtol(at + strlen(want), NULL, 10);
}

void wire_lib_clean(void)
{
	char line[64];

	wire_lib_end(SIGKILL);
	if (!strstr(folder, "XXXXXX")) {
		snprintf(line, sizeof(line), "rm -rf %s", folder);
		(void)!system(line);
	}
}
