/* rig_ask.c: asking the achstart of a rig. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "unity.h"

#include "test/launch/rig.h"

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
	TEST_ASSERT_EQUAL(strlen(line), send(fd, line, strlen(line), MSG_NOSIGNAL));
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

void rig_shell(const char *fmt, ...)
{
	char line[700];
	va_list values;

	va_start(values, fmt);
	vsnprintf(line, sizeof(line), fmt, values);
	va_end(values);
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, system(line), line);
}

void rig_run(const char *program, const char *arguments)
{
	rig_shell("%s %s >/dev/null", rig_program(program), arguments);
}

void rig_run_on(const char *program, const char *arguments)
{
	rig_shell("%s %s >/dev/null 2>&1 &", rig_program(program), arguments);
}
