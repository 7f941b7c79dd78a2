/* ach.h: channels in shared memory in which the newest message wins.
 *
 * The interface of the Ach library (golems/ach 2.0), so that programs written
 * for it compile unchanged, and a few calls it lacks.  ach(7) is the guide,
 * each call has a page of its own in section 3.
 */
#ifndef ACH_H
#define ACH_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
#define ACH_RESTRICT
extern "C" {
#else
#define ACH_RESTRICT __restrict /* C89 has no restrict */
#endif
#define ACH_INLINE static __inline__
#define ACH_EXTENSION __extension__ /* unnamed structs in C89, C99 and C++: no warning with -pedantic */
#define ACH_WARN_UNUSED __attribute__((__warn_unused_result__))
#define ACH_DEPRECATED __attribute__((__deprecated__))

#ifndef CLOCK_MONOTONIC
#error "ach.h needs POSIX clocks: compile with -std=gnu89 to gnu17, or define _POSIX_C_SOURCE as 200809L"
#endif
#define ACH_DEFAULT_CLOCK CLOCK_MONOTONIC

#define ACH_CHAN_NAME_MAX 64ul /* with the terminating zero */
#define ACH_DEFAULT_FRAME_COUNT 16
#define ACH_DEFAULT_FRAME_SIZE 512
#define ACH_WAIT_ANY_MAX 127 /* channels in one ach_wait_any */

/* ---- what calls answer ---- */

typedef enum ach_status {
	ACH_OK = 0,
	ACH_OVERFLOW = 1,	/* buffer or channel too small for the message */
	ACH_INVALID_NAME = 2,	/* not 1 to 63 of [A-Za-z0-9_.-], or starts with a dot */
	ACH_BAD_SHM_FILE = 3,	/* the file is not a channel, or only half of one */
	ACH_FAILED_SYSCALL = 4, /* ach_errstr says which */
	ACH_EAGAIN = 5,		/* nothing unseen; from ach_open: another process is the source */
	ACH_MISSED_FRAME = 6,	/* a message, and some before it were not seen */
	ACH_TIMEOUT = 7,
	ACH_EEXIST = 8,
	ACH_ENOENT = 9,
	ACH_CLOSED = 10, /* the handle is not open */
	ACH_BUG = 11,	 /* a call that can only be a programming error */
	ACH_EINVAL = 12,
	ACH_CORRUPT = 13, /* the channel's memory was overwritten, or the channel was condemned */
	ACH_BAD_HEADER = 14,
	ACH_EACCES = 15,
	ACH_CANCELED = 16,
	ACH_EFAULT = 17,
	ACH_EINTR = 18, /* never surfaces */
	ACH_ENOTSUP = 19
} ach_status_t;

#define ACH_STALE_FRAMES ACH_EAGAIN
#define ACH_LOCKED ACH_EAGAIN

#define ACH_STATUS_MASK(status) (1u << (status))

/* clang-format off */
#define ACH_EACH_STATUS(S) \
	S(OK) S(OVERFLOW) S(INVALID_NAME) S(BAD_SHM_FILE) S(FAILED_SYSCALL) S(EAGAIN) S(MISSED_FRAME) S(TIMEOUT) \
	S(EEXIST) S(ENOENT) S(CLOSED) S(BUG) S(EINVAL) S(CORRUPT) S(BAD_HEADER) S(EACCES) S(CANCELED) S(EFAULT) \
	S(EINTR) S(ENOTSUP)

/* ACH_MASK_OK, ACH_MASK_OVERFLOW and so on. */
#define ACH_MASK_VALUE(name) ACH_MASK_##name = ACH_STATUS_MASK(ACH_##name),
ACH_EXTENSION typedef enum ach_mask {
	ACH_MASK_NONE = 0,
	ACH_EACH_STATUS(ACH_MASK_VALUE)
	ACH_MASK_ALL = 0xffffffff
} ach_mask_t;
/* clang-format on */

#define ACH_MASK_STALE_FRAMES ACH_MASK_EAGAIN
#define ACH_MASK_LOCKED ACH_MASK_EAGAIN

ACH_INLINE enum ach_mask ach_status_mask(enum ach_status status)
{
	return (enum ach_mask)ACH_STATUS_MASK(status);
}

/* Is status one of those in mask?  mask is an int so that masks may be or-ed in C++ too. */
ACH_INLINE int ach_status_match(enum ach_status status, int mask)
{
	return (ACH_STATUS_MASK(status) & (unsigned)mask) != 0;
}

const char *ach_result_to_string(enum ach_status status);
const char *ach_errstr(void); /* details of this thread's latest error; "" if there was none */

/* ---- attributes: fields are public because old programs write them ---- */

enum ach_map {
	ACH_MAP_DEFAULT = 0,
	ACH_MAP_ANON = 1, /* no name: this process and its children */
	ACH_MAP_USER = 2, /* a file in the shared memory folder */
	ACH_MAP_KERNEL = 3
};

struct ach_header; /* the shared memory of a channel */

ACH_EXTENSION typedef struct ach_attr {
	union {
		struct {
			union {
				int map_anon;
				enum ach_map map;
			};
			struct ach_header *shm;
			unsigned int lock_source : 1;
			unsigned int set_put_timeout : 1;
			unsigned int set_owner : 1;
			unsigned int sparse : 1; /* pages come when they are touched: for a single look */
			int64_t put_timeout_ns;
			uid_t owner;
			mode_t mode_max;
			int64_t wake_gap_ns;
		};
		uint64_t reserved[8];
	};
} ach_attr_t;

ACH_EXTENSION typedef struct ach_create_attr {
	union {
		struct {
			union {
				int map_anon;
				enum ach_map map;
			};
			struct ach_header *shm; /* out: the memory of an anonymous channel */
			clockid_t clock;
			unsigned int truncate : 1;
			unsigned int set_clock : 1;
			unsigned int set_mode : 1;
			mode_t mode;
			gid_t group;
		};
		uint64_t reserved[16];
	};
} ach_create_attr_t;

ACH_EXTENSION typedef struct ach_cancel_attr {
	union {
		struct {
			int async_unsafe; /* both kinds of cancel are async-signal-safe here */
		};
		int64_t reserved[8];
	};
} ach_cancel_attr_t;

void ach_attr_init(ach_attr_t *attr);
enum ach_status ach_attr_set_shm(ach_attr_t *attr, struct ach_header *shm);
enum ach_status ach_attr_set_lock_source(ach_attr_t *attr, int lock_source);
/* How long a put waits for other writers before it answers ACH_TIMEOUT; relative; 0.5 s unless set. */
enum ach_status ach_attr_set_put_timeout(ach_attr_t *attr, const struct timespec *timeout);
/* A waiting get that has been woken is not woken again before this time has passed; relative; 0 unless set. */
enum ach_status ach_attr_set_wake_gap(ach_attr_t *attr, const struct timespec *gap);
/* ach_open fails with ACH_EACCES unless owner or root owns the channel and its mode has no bit outside mode_max. */
enum ach_status ach_attr_set_owner(ach_attr_t *attr, uid_t owner, mode_t mode_max);

void ach_create_attr_init(ach_create_attr_t *attr);
enum ach_status ach_create_attr_set_clock(ach_create_attr_t *attr, clockid_t clock);
enum ach_status ach_create_attr_set_map(ach_create_attr_t *attr, enum ach_map map);
enum ach_status ach_create_attr_set_truncate(ach_create_attr_t *attr, int truncate);
enum ach_status ach_create_attr_get_shm(ach_create_attr_t *attr, struct ach_header **shm);
/* Exact mode, umask or not, and group ((gid_t)-1: the process's), in force before the name appears. */
enum ach_status ach_create_attr_set_mode(ach_create_attr_t *attr, mode_t mode, gid_t group);

void ach_cancel_attr_init(ach_cancel_attr_t *attr);
enum ach_status ach_cancel_attr_set_async_unsafe(ach_cancel_attr_t *attr, int async_unsafe);

/* ---- channels ---- */

struct ach_handle;

ACH_EXTENSION typedef struct ach_channel {
	union {
		struct {
			struct ach_header *shm;
			struct ach_handle *handle;
			uint64_t seq_num; /* of the newest message this handle has seen */
			enum ach_map map;
			clockid_t clock;
			volatile sig_atomic_t cancel; /* write 0 to take an ach_cancel back */
		};
		uint64_t reserved[16];
	};
} ach_channel_t;

enum ach_status ach_create(const char *name, size_t frame_cnt, size_t frame_size, ach_create_attr_t *attr);
enum ach_status ach_open(ach_channel_t *chan, const char *name, ach_attr_t *attr);
enum ach_status ach_close(ach_channel_t *chan);
enum ach_status ach_unlink(const char *name);
enum ach_status ach_chmod(ach_channel_t *chan, mode_t mode);
void ach_dump(struct ach_header *shm);

/* *unlinked: the file of this handle is no longer the one under its name. */
enum ach_status ach_unlinked(const ach_channel_t *chan, int *unlinked);

enum ach_status ach_channel_fd(const ach_channel_t *chan, int *fd);
enum ach_status ach_channel_map(const ach_channel_t *chan, enum ach_map *map);
enum ach_status ach_channel_clock(const ach_channel_t *chan, clockid_t *clock);

/* ---- writing ---- */

enum ach_status ach_put(ach_channel_t *chan, const void *buf, size_t len);

/* Room for a message of at most max bytes inside the channel; no other thread can
 * write until ach_commit, by the same thread, publishes len bytes of it or,
 * with len 0, gives it up. */
enum ach_status ach_reserve(ach_channel_t *chan, size_t max, void **buf);
enum ach_status ach_commit(ach_channel_t *chan, size_t len);

/* Every later put and get, by any process, fails with ACH_CORRUPT until the channel is created again.
 * Takes no lock: also while a writer is stopped inside a put. */
enum ach_status ach_condemn(ach_channel_t *chan);

/* ---- reading ---- */

typedef enum ach_get_opts {
	ACH_O_NONBLOCK = 0,
	ACH_O_FIRST = 0,
	ACH_O_ABSTIME = 0,
	ACH_O_WAIT = 1,
	ACH_O_LAST = 2,
	ACH_O_COPY = 4,
	ACH_O_RELTIME = 8
} ach_get_opts_t;

enum ach_status ach_get(ach_channel_t *chan, void *buf, size_t size, size_t *frame_size,
			const struct timespec *ACH_RESTRICT timeout, int options);
enum ach_status ach_flush(ach_channel_t *chan);

/* Types of the original's callbacks, for programs that declare some; no call here takes them. */
typedef enum ach_status ach_get_fun(void *cx, void **obj_dst, const void *chan_src, size_t frame_size);
typedef enum ach_status ach_put_fun(void *cx, void *chan_dst, const void *obj_src);

/* As ach_get, but *buf points into the channel.  What was read through it
 * counts only if ach_peek_end then answers ACH_OK, which also moves the
 * cursor; ACH_EAGAIN: it was overwritten meanwhile, peek again. */
enum ach_status ach_peek(ach_channel_t *chan, const void **buf, size_t *frame_size,
			 const struct timespec *ACH_RESTRICT timeout, int options);
enum ach_status ach_peek_end(ach_channel_t *chan);

/* Until one of n channels holds something unseen (*which, the first such) or
 * the absolute CLOCK_MONOTONIC deadline has passed; NULL: for ever. */
enum ach_status ach_wait_any(ach_channel_t *const chans[], size_t n, const struct timespec *deadline, size_t *which);

/* Ends this handle's waiting get, and every later one, with ACH_CANCELED; async-signal-safe. */
enum ach_status ach_cancel(ach_channel_t *chan, const ach_cancel_attr_t *attr);

#ifdef __cplusplus
}
#endif

#endif
