/* fake.c: a daemon for the tests of achstart that does what no daemon should.
 *
 *	fake spin		ready, beats for a while, and then its loop turns without end
 *	fake stubborn		ready, beats, and does not care for SIGTERM
 *	fake mute		beats and is never ready
 *	fake print		ready, beats, and prints a line at each beat; with SIGUSR1 a megabyte
 *	fake nap		ready, beats, computes for 5 ms at each beat; sleeps from one SIGUSR1 to the next
 *	fake exit N [MS]	ends with that status, after a line about it; at once, or after so many milliseconds
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "channels/clock/clock.h"
#include "channels/port/notify.h"

#define BEAT_NS 20000000
#define COMPUTE (CLOCKS_PER_SEC / 200)
#define BEATS_BEFORE_SPIN 10

static volatile sig_atomic_t asked;

static void on_usr1(int number)
{
	(void)number;
	asked = 1;
}

static void print(unsigned int beat)
{
	printf("line %u\n", beat);
	for (unsigned int i = 0; asked && i < 16384; i++)
		printf("%-62u\n", i);
	asked = 0;
	clearerr(stdout); /* a full FIFO refuses, and that is all */
}

static void nap(void)
{
	for (const clock_t until = clock() + COMPUTE; clock() < until;)
		;
	if (!asked)
		return;
	for (asked = 0; !asked;)
		clock_wait(NULL, 0, clock_now_ns() + BEAT_NS);
	asked = 0;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	struct notify notify;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(kind, "exit")) {
		if (argc > 3)
			clock_wait(NULL, 0, clock_now_ns() + atoi(argv[3]) * INT64_C(1000000));
		fprintf(stderr, "fake: it will not work");
		return argc > 2 ? atoi(argv[2]) : 1;
	}
	if (!strcmp(kind, "stubborn"))
		signal(SIGTERM, SIG_IGN);
	signal(SIGUSR1, on_usr1);
	notify_open(&notify);
	if (strcmp(kind, "mute") != 0)
		notify_ready(&notify);
	for (unsigned int beat = 0;; beat++) {
		notify_watchdog(&notify, clock_now_ns());
		if (!strcmp(kind, "print"))
			print(beat);
		while (!strcmp(kind, "spin") && beat >= BEATS_BEFORE_SPIN)
			;
		if (!strcmp(kind, "nap"))
			nap();
		clock_wait(NULL, 0, clock_now_ns() + BEAT_NS);
	}
}
