/* lib.c: time, cores, priorities and children for the benches. */
#define _GNU_SOURCE
#include "test/bench/lib.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

_Noreturn void bench_die(const char *format, ...)
{
	va_list args;
	int error = errno;

	va_start(args, format);
	fputs("bench: fatal: ", stderr);
	vfprintf(stderr, format, args);
	fprintf(stderr, " (%s)\n", strerror(error));
	va_end(args);
	exit(1);
}

int64_t bench_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * BENCH_NS_PER_S + now.tv_nsec;
}

void bench_sleep_until_ns(int64_t when_ns)
{
	struct timespec when = {
		.tv_sec = (time_t)(when_ns / BENCH_NS_PER_S),
		.tv_nsec = (long)(when_ns % BENCH_NS_PER_S),
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR)
		;
}

double bench_seconds(double usual)
{
	const char *text = getenv("BENCH_SECONDS");
	double seconds = text ? strtod(text, NULL) : 0;

	return seconds > 0 ? seconds : usual;
}

void bench_hang_limit(double seconds)
{
	alarm((unsigned)seconds);
}

/* The cores of this process before it was pinned; children inherit the value. */
static const cpu_set_t *allowed_cores(void)
{
	static cpu_set_t allowed;

	if (!CPU_COUNT(&allowed) && sched_getaffinity(0, sizeof allowed, &allowed))
		bench_die("unable to read the cores of this process");
	return &allowed;
}

unsigned bench_cores(void)
{
	return (unsigned)CPU_COUNT(allowed_cores());
}

void bench_pin(unsigned nth)
{
	const cpu_set_t *allowed = allowed_cores();
	cpu_set_t one;
	int cpu = 0;

	nth %= bench_cores();
	for (;; cpu++)
		if (CPU_ISSET(cpu, allowed) && !nth--)
			break;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof one, &one))
		bench_die("unable to pin to core %d", cpu);
}

bool bench_fifo(int priority)
{
	struct sched_param param = { .sched_priority = priority };

	return sched_setscheduler(0, priority ? SCHED_FIFO : SCHED_OTHER, &param) == 0;
}

/* A child per core that runs when nothing else wants to. */
void bench_keep_awake(void)
{
	const struct sched_param none = { 0 };

	for (unsigned core = 0; core < bench_cores(); core++) {
		if (bench_fork())
			continue;
		bench_pin(core);
		if (sched_setscheduler(0, SCHED_IDLE, &none))
			bench_die("unable to leave the core to others");
		for (;;)
			atomic_signal_fence(memory_order_relaxed); /* a loop without effect may not be endless */
	}
}

void bench_lock_memory(void)
{
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		return; /* not root: the first messages of a slice, which are not counted, fault the pages in */
}

pid_t bench_fork(void)
{
	pid_t parent = getpid(), child;

	fflush(stdout);
	child = fork();
	if (child < 0)
		bench_die("unable to fork");
	if (child)
		return child;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(1);
	return 0;
}

void bench_reap(const pid_t *pids, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int status;

		if (waitpid(pids[i], &status, 0) != pids[i])
			bench_die("unable to wait for process %d", (int)pids[i]);
		errno = 0;
		if (status)
			bench_die("process %d ended with status %#x", (int)pids[i], (unsigned)status);
	}
}

void *bench_shared(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (memory == MAP_FAILED)
		bench_die("unable to map %zu bytes", size);
	return memory;
}

void bench_gate_open(struct bench_gate *gate)
{
	if (pipe(gate->fds))
		bench_die("unable to make a pipe");
}

void bench_gate_pass(struct bench_gate *gate)
{
	if (write(gate->fds[1], "", 1) != 1)
		bench_die("unable to pass the gate");
	close(gate->fds[0]);
	close(gate->fds[1]);
}

void bench_gate_wait(struct bench_gate *gate, size_t count)
{
	char byte;

	close(gate->fds[1]); /* a child that died before the gate is then an end of file, not a hang */
	for (; count; count--)
		if (read(gate->fds[0], &byte, 1) != 1)
			bench_die("a process died before it was set up");
	close(gate->fds[0]);
}

struct bus *bench_bus_open(const char *name, const struct bus_options *options)
{
	struct error_sink silent = { 0 }, errors = { .line = error_to_stderr };
	struct bus *bus;

	for (int i = 0; i < 500; i++) {
		if (!bus_open(&bus, name, options, &silent))
			return bus;
		bench_sleep_until_ns(bench_now_ns() + 10000000);
	}
	if (bus_open(&bus, name, options, &errors))
		bench_die("no bus %s", name);
	return bus;
}
