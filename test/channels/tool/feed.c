/* feed.c: messages whose bytes are known, for tests of tools.
 *
 *	feed CHANNEL N [HZ [MAX]]	puts N messages of 1 to MAX (1000) bytes, HZ of them a second (0: at once),
 *					all but the first between two calls of getppid; prints each as recdump does
 *	feed --quiet ...		without printing
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test/lib/lib.h"

#define FEED_MAX 100000

static void pause_until(int64_t ns)
{
	struct timespec t = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
		;
}

static void print(const char *name, uint64_t number, const uint8_t *bytes, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	printf("%s %llu ", name, (unsigned long long)number);
	for (size_t i = 0; i < len; i++) {
		putchar_unlocked(digits[bytes[i] >> 4]);
		putchar_unlocked(digits[bytes[i] & 15]);
	}
	putchar_unlocked('\n');
}

int main(int argc, char **argv)
{
	bool quiet = argc > 1 && !strcmp(argv[1], "--quiet");
	static uint8_t bytes[FEED_MAX];
	uint64_t state = 88172645463325252u, n;
	ach_channel_t chan;
	int64_t start, step;
	size_t max;
	double hz;

	argc -= quiet;
	argv += quiet;
	if (argc < 3) {
		fprintf(stderr, "usage: feed [--quiet] CHANNEL N [HZ [MAX]]\n");
		return 2;
	}
	lib_watchdog("feed", LIB_HANG_S);
	n = strtoull(argv[2], NULL, 10);
	hz = argc > 3 ? atof(argv[3]) : 0;
	max = argc > 4 ? strtoul(argv[4], NULL, 10) : 1000;
	step = hz > 0 ? (int64_t)(1e9 / hz) : 0;
	LIB_CHECK(max > 0 && max <= FEED_MAX);
	LIB_STATUS(ACH_OK, ach_open(&chan, argv[1], NULL));
	start = lib_now_ns(CLOCK_MONOTONIC);
	for (uint64_t i = 0; i < n; i++) {
		size_t len = 1 + lib_random(&state) % max;

		for (size_t k = 0; k < len; k += 8) {
			uint64_t r = lib_random(&state);

			memcpy(bytes + k, &r, len - k < 8 ? len - k : 8);
		}
		if (step)
			pause_until(start + (int64_t)i * step);
		LIB_STATUS(ACH_OK, ach_put(&chan, bytes, len));
		if (!i)
			syscall(SYS_getppid); /* the first finds out who we are */
		if (!quiet)
			print(argv[1], i + 1, bytes, len);
	}
	syscall(SYS_getppid);
	ach_close(&chan);
	return 0;
}
