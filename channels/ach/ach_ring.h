/* ach_ring.h: what a channel looks like in memory, and what the files of
 * libach share.
 *
 * All mutable state follows from one word, `commit`, the newest sequence
 * number: the index entry of that message says where the next one goes and how
 * many are retained.  A put writes only outside what is retained and becomes
 * true with the one store of `commit`, so a writer that dies anywhere leaves
 * nothing to repair.  Readers copy, then check that `reclaim` has not passed
 * what they copied; they take no lock and write nothing but a hint.
 *
 * The letters P1..P5, R1..R5 and G1, G2 in the code are those of the model
 * (channels/model) and of its README.
 */
#pragma once

#include <linux/futex.h>

#include "channels/ach/ach.h"
#include "channels/ach/ach_order.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the futex word is the low half of commit");

#define ACH_MAGIC 0x33656e6972486341ull /* 3: System V memory, named by a plate */
#define ACH_PATH_LEN 192		/* of a plate's path */
#define ACH_ALIGN 16u			/* of every message, so that structs can be used in place */
#define ACH_COUNT_MAX (1u << 24)
#define ACH_BYTES_MAX ((1ull << 31) - 1)
#define ACH_SEQ_MAX (UINT64_MAX >> 1) /* the hint has room for no more */

/* Written once, before the channel has a name.  A handle copies and checks it at open and never reads it again. */
struct ach_geometry {
	uint64_t magic;
	uint64_t id;	/* random; differs in a re-created channel */
	uint64_t lsize; /* bytes retained, count * size */
	uint64_t psize; /* bytes of the data area: room for a message beside all that is retained */
	uint32_t count;
	uint32_t size;
	uint32_t slots; /* of the index: a power of two above count, so one is always free */
	uint32_t data_offset;
	int32_t clock;
	uint32_t named; /* 0: anonymous */
	uint64_t sum;
};

struct ach_entry {
	_Atomic uint64_t seq;
	_Atomic uint64_t pos;  /* place in the data area */
	_Atomic uint64_t cum;  /* bytes of all messages before this one, padding not counted */
	_Atomic uint32_t len;  /* 1..lsize */
	_Atomic uint32_t keep; /* messages retained once this one is the newest, itself included: 1..count */
};

/* The control words share a line: a process that reads or writes one of them needs the others at once, and a line that
 * must come from another core, or back into a cold cache, comes once. */
struct ach_header {
	struct ach_geometry geo;
	_Alignas(64) _Atomic uint64_t commit; /* newest sequence number; its low half is the futex word */
	_Atomic uint64_t reclaim;	      /* messages before this one may be changing */
	_Atomic uint64_t woken;		      /* waiters for messages up to this one have been woken */
	_Atomic uint32_t lock;		      /* the writers', a PI futex: tid | FUTEX_WAITERS | FUTEX_OWNER_DIED */
	_Atomic uint32_t writer;	      /* pid of the last to commit, for people to look at */
	_Atomic uint32_t condemned;	      /* not 0: every put and get fails with ACH_CORRUPT */
	_Alignas(64) _Atomic uint64_t hint;   /* of those who may write; see struct ach_handle */
	_Atomic uint32_t slices;	      /* not 0: some may only read, so no waiter relies on a watcher */
	_Atomic int32_t bell;		      /* identifier of its segment, or -1: for ach_orphan.c, as is the path */
	uint64_t folder_dev, folder_ino;      /* of the plate */
	_Alignas(64) char path[ACH_PATH_LEN];
	_Alignas(64) struct ach_entry index[];
};

_Static_assert(sizeof(struct ach_geometry) == 64, "the geometry is one line");
_Static_assert(sizeof(struct ach_entry) == 32, "two entries share a line");
_Static_assert(sizeof(struct ach_header) == 384, "the index follows the path");

/* One hold of the writers' lock by the calling thread. */
struct ach_section {
	struct ach_section *outer;
	uint64_t id;   /* of the channel */
	void *pending; /* what the robust list shows the kernel meanwhile */
};

/* Where the next message goes, worked out under the lock. */
struct ach_target {
	uint64_t newest; /* sequence number before this put */
	uint64_t first;	 /* oldest retained before this put */
	uint64_t cum;
	uint64_t pos;
	size_t max; /* bytes reserved; 0: no reservation */
};

/* The fields that put and get need are in the first two cache lines: after a sleep each line is cold. */
struct ach_handle {
	_Alignas(64) struct ach_header *shm;
	uint8_t *data;		/* psize bytes, mapped twice in a row: every message is contiguous */
	_Atomic uint64_t *hint; /* seq << 1 | ACH_HINT_WATCHED; NULL: this reader may not ring and polls */
	_Atomic uint64_t *bell; /* the hint of those who may only read; NULL: there is none */
	uint64_t id, lsize, psize;
	uint32_t count, slot_mask;
	bool writable;

	void *nap_page;		   /* the control words once more, only to sleep on: ach_cancel takes them away */
	uint64_t watching;	   /* the message whose sleepers rely on this handle's; 0: none */
	bool streaming;		   /* the last get found a message without a sleep */
	uint8_t poll_in, poll_gap; /* waits until the next poll before a sleep, and how many they were the last time */
	int64_t wake_gap_ns;	   /* of ach_attr_set_wake_gap; 0: none */
	int64_t woken_ns;	   /* when a get returned after a sleep, if there is a gap */

	int event;		    /* the pollable descriptor, or -1 */
	uint32_t event_pid;	    /* the process that made it */
	bool event_counted;	    /* it is readable */
	_Atomic uint64_t event_seq; /* the cursor after the last get */
	struct ach_handle *watched; /* the next handle with a descriptor */

	struct ach_target target; /* of an open reservation */
	struct ach_section section;
	uint32_t reserve_tid, reserve_pid;
	uint64_t peek; /* sequence number of an open peek, or 0 */

	_Atomic uint32_t cancelling; /* calls of ach_cancel that still use this handle */

	int64_t put_timeout_ns;
	uint32_t stuck_word;   /* a lock that a put already timed out on ... */
	uint64_t stuck_commit; /* ... while this was the newest message */

	uint8_t *map; /* nap page, bell, plate's channel, or only the first */
	size_t map_len;
	int file;   /* the plate, or -1 */
	int source; /* the locked file of a source, or -1 */
	int shm_id, bell_id;
	dev_t dev;
	ino_t ino;
	char name[ACH_CHAN_NAME_MAX];

	void *outer;		  /* of ach_outer: its record of this channel, or NULL */
	uint64_t laps, takeovers; /* for tests: reads overtaken, locks taken from dead threads */
};

/* An entry as it was read; nothing in it is to be believed before ach_entry_ok and, for readers, R4. */
struct ach_seen {
	uint64_t seq, pos, cum;
	uint32_t len, keep;
};

#define ACH_CONDEMNED "the channel was condemned"
#define ACH_HINT_WATCHED 1u	  /* one of those who wait keeps the slice for all */
#define ACH_SLICE_NS 250000000	  /* how long a waiter trusts its wake-up: see ach_wait.c */
#define ACH_SLICE_POLL_NS 1000000 /* of a waiter that may not ring the bell */

/* The linker puts these side by side: a reader that was asleep has to find their pages again. */
#define ACH_HOT __attribute__((hot))

/* Another clock that this process lives on (vt_clock.c), or NULL.  It takes over waiting, and hears of every message.
 * The lock of writers is waited for in real time all the same. */
struct ach_outer {
	int64_t (*now)(void);
	/* This thread is about to wait for its next message, in poll or the like if by its descriptor. */
	void (*watched)(struct ach_handle *h, bool descriptor);
	bool (*sleep)(int64_t for_ns); /* until something watched may have changed; false: not this thread */
	void (*before)(void);	       /* a message is put together */
	void (*committed)(struct ach_handle *h, const void *data, size_t len);
};
extern const struct ach_outer *ach_outer; /* for the tree alone, not for programs that use libach */

#pragma GCC visibility push(hidden) /* none of these leaves the library */

/* ach.c: both answer status and leave the reason for ach_errstr; ach_fail takes a constant and is for put and get. */
enum ach_status ach_fail(enum ach_status status, const char *why) __attribute__((cold));
enum ach_status ach_error(enum ach_status status, const char *fmt, ...) __attribute__((format(printf, 2, 3), cold));

/* ach_lock.c; the lock itself is in ach_lock.h */
uint32_t ach_self_pid(void);

/* ach_put.c */
bool ach_reserved_elsewhere(const struct ach_handle *h);

/* ach_wait.c */
int64_t ach_now_ns(clockid_t clock);
int64_t ach_wait_now_ns(clockid_t clock); /* in which deadlines of waits are given */
int64_t ach_timespec_ns(const struct timespec *t);
long ach_futex(_Atomic uint32_t *word, int op, uint32_t value, const struct timespec *timeout);
void ach_ring_bell(struct ach_handle *h, uint64_t seq);
void ach_wake(struct ach_handle *h);
void ach_wake_forgotten(struct ach_handle *h);
void ach_cancel_finish(const struct ach_handle *h);
bool ach_poll_newer(struct ach_handle *h, uint64_t seq);
bool ach_rest(const ach_channel_t *chan, int64_t for_ns);
void ach_wait_newer(struct ach_handle *h, uint64_t seq, int64_t for_ns);
void ach_watch_end(struct ach_handle *h);
struct futex_waitv ach_waitv_channel(struct ach_handle *h, uint64_t seq);
struct futex_waitv ach_waitv_private(_Atomic uint32_t *word, uint32_t value);
int64_t ach_slice_ns(const struct ach_handle *h);
void ach_sleep(struct futex_waitv *v, size_t n, int64_t for_ns);

/* ach_fd.c */
void ach_fd_update(struct ach_handle *h, uint64_t seq);
void ach_fd_close(struct ach_handle *h);

#pragma GCC visibility pop

static inline struct ach_seen ach_entry_read(const struct ach_handle *h, uint64_t seq)
{
	const struct ach_entry *e = &h->shm->index[seq & h->slot_mask];

	return (struct ach_seen){
		.seq = atomic_load_explicit(&e->seq, ACH_LOAD_UNCHECKED),
		.pos = atomic_load_explicit(&e->pos, ACH_LOAD_UNCHECKED),
		.cum = atomic_load_explicit(&e->cum, ACH_LOAD_UNCHECKED),
		.len = atomic_load_explicit(&e->len, ACH_LOAD_UNCHECKED),
		.keep = atomic_load_explicit(&e->keep, ACH_LOAD_UNCHECKED),
	};
}

static inline bool ach_entry_ok(const struct ach_handle *h, const struct ach_seen *e, uint64_t seq)
{
	return e->seq == seq && e->pos < h->psize && e->len - 1u < h->lsize && e->keep - 1u < h->count &&
	       e->keep <= seq;
}

static inline _Atomic uint32_t *ach_futex_word(struct ach_handle *h)
{
	return (_Atomic uint32_t *)&h->shm->commit;
}

static inline bool ach_condemned(const struct ach_handle *h)
{
	return __builtin_expect(atomic_load_explicit(&h->shm->condemned, memory_order_relaxed) != 0, 0);
}

/* The newest message that a hint asks for. */
static inline uint64_t ach_hint_seq(uint64_t hint)
{
	return hint >> 1;
}

/* The newest message that any process waits for.  Both loads are P4: two Dekker pairs, one with each kind of waiter. */
static inline uint64_t ach_waited_for(const struct ach_handle *h)
{
	uint64_t hint = ach_hint_seq(atomic_load_explicit(&h->shm->hint, memory_order_seq_cst)), rung = 0;

	if (h->bell)
		rung = ach_hint_seq(atomic_load_explicit(h->bell, memory_order_seq_cst));
	return rung > hint ? rung : hint;
}

static inline int64_t ach_shorter(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* G2: has the channel moved on from seq?  seq_cst: the waiter's half of the Dekker pair with P3, P4.
 * A condemned channel has: its reader gets ACH_CORRUPT instead of sleeping. */
static inline bool ach_newer(const struct ach_handle *h, uint64_t seq)
{
	return atomic_load_explicit(&h->shm->commit, memory_order_seq_cst) != seq || ach_condemned(h);
}
