/* syscalls.c: does one thing REPEAT times, each between two calls of getppid, so that
 * test_syscalls.sh can count the system calls in between.
 *
 *	syscalls put | get | reserve | peek | copy | wait | put-waiters N
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test/lib/lib.h"

#define REPEAT 20
#define WAITERS_MAX 8

static char name[LIB_NAME_LEN];
static ach_channel_t chan, writer;

static void mark(void)
{
	syscall(SYS_getppid);
}

static void put(void)
{
	LIB_STATUS(ACH_OK, ach_put(&writer, "x", 1));
}

static void get(int options)
{
	char byte;

	LIB_STATUS(ACH_OK, ach_get(&chan, &byte, 1, NULL, NULL, options));
}

static void reserve_and_commit(void)
{
	void *room;

	LIB_STATUS(ACH_OK, ach_reserve(&writer, 1, &room));
	LIB_STATUS(ACH_OK, ach_commit(&writer, 1));
}

static void peek_and_end(void)
{
	const void *seen;

	LIB_STATUS(ACH_OK, ach_peek(&chan, &seen, NULL, NULL, 0));
	LIB_STATUS(ACH_OK, ach_peek_end(&chan));
}

static void once(const char *what)
{
	char byte;

	if (strcmp(what, "put") && strcmp(what, "reserve"))
		put();
	mark();
	if (!strcmp(what, "put"))
		put();
	else if (!strcmp(what, "reserve"))
		reserve_and_commit();
	else if (!strcmp(what, "get"))
		get(0);
	else if (!strcmp(what, "wait"))
		get(ACH_O_WAIT);
	else if (!strcmp(what, "peek"))
		peek_and_end();
	else if (!strcmp(what, "copy")) {
		get(ACH_O_COPY);
		get(ACH_O_COPY);
	} else
		LIB_CHECK(!"something to do");
	mark();
	while (ach_get(&chan, &byte, 1, NULL, NULL, 0) == ACH_OK)
		;
}

static int waiter(void *unused)
{
	struct timespec hang = lib_hang();
	char byte;

	(void)unused;
	for (int i = 0; i < REPEAT + 1; i++)
		LIB_STATUS(ACH_OK, ach_get(&chan, &byte, 1, NULL, &hang, ACH_O_WAIT));
	return 0;
}

static void with_waiters(int n)
{
	pid_t pids[WAITERS_MAX];

	LIB_CHECK(n >= 1 && n <= WAITERS_MAX);
	for (int i = 0; i < n; i++)
		pids[i] = lib_child(waiter, NULL);
	for (int k = 0; k < REPEAT + 1; k++) {
		for (int i = 0; i < n; i++)
			lib_until_asleep(pids[i]); /* a put leaves no waiter asleep, so they have come back */
		if (k)
			mark();
		put(); /* the first finds out who we are */
		if (k)
			mark();
	}
	for (int i = 0; i < n; i++)
		LIB_CHECK(lib_join(pids[i]) == 0);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: syscalls put|get|reserve|peek|copy|wait|put-waiters N\n");
		return 2;
	}
	lib_watchdog(argv[1], LIB_HANG_S);
	LIB_STATUS(ACH_OK, ach_create(lib_name(name, "syscalls"), 64, 4, NULL));
	LIB_STATUS(ACH_OK, ach_open(&chan, name, NULL));
	LIB_STATUS(ACH_OK, ach_open(&writer, name, NULL));
	if (argc > 2) {
		with_waiters(atoi(argv[2]));
		return 0;
	}
	put(); /* the first finds out who we are */
	get(0);
	for (int i = 0; i < REPEAT; i++)
		once(argv[1]);
	return 0;
}
