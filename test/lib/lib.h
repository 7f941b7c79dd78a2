/* lib.h: what the tests of channels share.
 *
 * Names carry the process id, so that two runs of the suite never meet.
 * Children die with their parent.  Nothing here sleeps to hide a race: a test
 * that must know where another process is asks it (struct lib_gate) or looks
 * into /proc (lib_until_asleep).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "channels/ach/ach.h"

#ifndef LIB_HANG_S
#define LIB_HANG_S 120 /* nothing in a test takes so long, even on a busy machine: a longer test hangs */
#endif
#define LIB_NOBODY 65534 /* an unprivileged user and group */
#define LIB_FAILED 99	 /* exit status of a process in which LIB_CHECK failed or something hung */
#define LIB_NAME_LEN 64

/* What a random test repeats under a sanitizer, whose programs the plain run has tested at length: the first runs find
 * what it looks for.  Input that is damaged at random is not reduced. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIB_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define LIB_SANITIZED 1
#endif
#endif
#ifdef LIB_SANITIZED
#define LIB_REPEAT(n) (((n) + 9) / 10)
#define LIB_SECONDS(s) (((s) + 3) / 4)
#define LIB_STRIDE(n) (n)
#else
#define LIB_REPEAT(n) (n)
#define LIB_SECONDS(s) (s)
#define LIB_STRIDE(n) 1
#endif

/* ---- names ---- */

/* "t-<what>-<pid of the test>-<number>", another one at every call; unlinked at exit of the process that asked. */
const char *lib_name(char buf[LIB_NAME_LEN], const char *what);
/* Of a channel: the path of its plate; the identifiers of its memory and of its bell, by the plate, or -1; its mode;
 * and how many segments say that they are its memory, with or without a plate. */
const char *lib_path(char buf[256], const char *name);
int lib_memory(const char *name);
int lib_bell(const char *name);
mode_t lib_mode(const char *name);
int lib_segments(const char *name);
/* A segment: does it exist?  Its mode is changed.  It is mapped, for writing; munmap or shmdt ends that. */
bool lib_segment_exists(int id);
void lib_segment_chmod(int id, mode_t mode);
void *lib_segment_map(int id, size_t *len);
/* Files and segments that are called like the channel. */
int lib_left(const char *name);
/* Every channel whose name begins so. */
void lib_unlink_all(const char *prefix);

/* ---- time ---- */

struct timespec lib_after_ms(clockid_t clock, int64_t ms); /* absolute: now + ms, which may be negative */
struct timespec lib_rel_ms(int64_t ms);
struct timespec lib_hang(void); /* absolute CLOCK_MONOTONIC, LIB_HANG_S from now */
int64_t lib_now_ns(clockid_t clock);

/* ---- hang detection ---- */

/* SIGALRM ends the process after seconds, saying what hung; 0 takes it back.  Call in setUp with LIB_HANG_S. */
void lib_watchdog(const char *what, unsigned seconds);

/* ---- other processes ---- */

/* fork: body(arg) is the child, what it returns its exit status.  The child dies with its parent and hangs at most
 * LIB_HANG_S.  In the child LIB_CHECK is the assertion: Unity's would jump back into a copy of the parent's test. */
pid_t lib_child(int (*body)(void *arg), void *arg);
/* Waits for the child: its exit status, or 128 + signal if it was killed. */
int lib_join(pid_t pid);
/* SIGKILL and wait: the child is gone when this returns. */
void lib_kill(pid_t pid);
/* SIGSTOP and wait until the child has stopped. */
void lib_stop(pid_t pid);
/* Until the child has stopped by itself. */
void lib_until_stopped(pid_t pid);
/* A child that has stopped inside a put of so many bytes: the channel is locked until the child is killed. */
pid_t lib_inside_put(const char *channel, size_t size);
/* Until the child has ended; its status is left for lib_join. */
void lib_until_ended(pid_t pid);
/* The state of that process or thread as /proc has it: R, S, Z...; 0 if it has ended. */
char lib_run_state(pid_t tid);
/* Until that process or thread sleeps in a futex, poll, select or epoll call. */
void lib_until_asleep(pid_t tid);
/* If of this process and its children one runs at a time: on two processors a wake-up costs three times as much. */
void lib_use_one_processor(void);

/* In a child of root: become LIB_NOBODY, with that one group besides ((gid_t)-1: none). */
void lib_drop(gid_t group);
bool lib_can_drop(void); /* are we root? */
/* What is opened between the two is opened as LIB_NOBODY, if we are root; for tests in one process. */
void lib_nobody_begin(void);
void lib_nobody_end(void);

/* One int in memory that children share, with a futex to wait for its change. */
struct lib_gate {
	int value;
};
struct lib_gate *lib_gate_new(void); /* shared with children forked later; value 0 */
void lib_gate_free(struct lib_gate *gate);
void lib_gate_set(struct lib_gate *gate, int value);
int lib_gate_get(struct lib_gate *gate);
void lib_gate_wait(struct lib_gate *gate, int value); /* until value is reached or passed */

/* For children and threads: on failure prints and ends the process with LIB_FAILED. */
#define LIB_CHECK(cond) lib_check(!!(cond), #cond, __FILE__, __LINE__)
void lib_check(bool ok, const char *cond, const char *file, int line);
/* The same for a status: prints both names. */
#define LIB_STATUS(expected, call) lib_status(expected, call, #call, __FILE__, __LINE__)
void lib_status(enum ach_status expected, enum ach_status got, const char *call, const char *file, int line);

/* For the test itself: Unity assertion with the names of both statuses (needs unity.h before). */
#define LIB_ASSERT_STATUS(expected, call)                                                                     \
	do {                                                                                                  \
		enum ach_status lib_got = (call);                                                             \
		UNITY_TEST_ASSERT_EQUAL_STRING(ach_result_to_string(expected), ach_result_to_string(lib_got), \
					       __LINE__, #call);                                              \
	} while (0)

/* ---- messages that prove themselves ---- */

struct lib_message {
	uint64_t check; /* of everything behind it */
	uint32_t writer;
	uint32_t len; /* of the whole message */
	uint64_t number;
	uint8_t fill[];
};
#define LIB_MESSAGE_MIN sizeof(struct lib_message)

void lib_message_make(void *buf, size_t len, uint32_t writer, uint64_t number); /* len >= LIB_MESSAGE_MIN */
bool lib_message_good(const void *buf, size_t len);

uint64_t lib_random(uint64_t *state); /* xorshift; state must not be 0 */
