/* lib.h: what every bench needs of the machine: time, cores, priorities, children, buses. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "can/bus/bus.h"

#define BENCH_NS_PER_S 1000000000ll

/* ---- time ---- */

int64_t bench_now_ns(void);
void bench_sleep_until_ns(int64_t when_ns);
double bench_seconds(double usual); /* BENCH_SECONDS, or the usual length */

/* A hang must end the bench rather than `make bench`: SIGALRM kills it. */
void bench_hang_limit(double seconds);

/* ---- cores and priorities ---- */

unsigned bench_cores(void);    /* that this process may use */
void bench_pin(unsigned nth);  /* to the nth of them, counted round */
bool bench_fifo(int priority); /* SCHED_FIFO, 0: back to SCHED_OTHER; false: refused */
void bench_keep_awake(void);  /* no core halts while this process lives: a halted one starts slowly, with cold caches */
void bench_lock_memory(void); /* no page fault may look like a slow transport; may be refused */

/* ---- children ---- */

pid_t bench_fork(void);				  /* the child dies with its parent */
void bench_reap(const pid_t *pids, size_t count); /* dies unless each exited with 0 */
void *bench_shared(size_t size);		  /* zeroed, shared with children made later */

/* Children say that they are set up; the parent waits for all of them. */
struct bench_gate {
	int fds[2];
};

void bench_gate_open(struct bench_gate *gate);
void bench_gate_pass(struct bench_gate *gate);
void bench_gate_wait(struct bench_gate *gate, size_t count);

/* ---- buses ---- */

/* Waits up to 5 s for canwire to serve it. */
struct bus *bench_bus_open(const char *name, const struct bus_options *options);

_Noreturn void bench_die(const char *format, ...) __attribute__((format(printf, 1, 2)));
