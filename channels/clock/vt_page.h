/* vt_page.h: the memory that the processes of a virtual clock share, and the token that is handed around in it.
 *
 * The process that has the token runs; the others sleep.  It works until nothing is ready, writes its deadline,
 * computes from the page who is next (vt_core.h) and hands the token over to that process: one switch a turn.  Slot 0
 * is the coordinator (achtime): it has turns of its own, takes the token from the dead, and holds the clock to a rate.
 *
 * A process may be killed at any instruction.  The next core is written beside the present one and becomes valid by the
 * compare-and-swap of the token; everything else is single words.  A killed process leaves the state before
 * or after. */
#pragma once

#include <stdatomic.h>
#include <sys/types.h>

#include "channels/clock/vt_budget.h"
#include "channels/clock/vt_core.h"

#define VT_PAGE_MAGIC UINT64_C(0x32656d6974686361) /* "achtime2" */
#define VT_NAME_MAX 48
#define VT_OUTSIDE_MAX 128
#define VT_OBJECTS 256
/* Virtual clocks begin at three years.  No machine is up for that long: a time below is one of CLOCK_MONOTONIC. */
#define VT_BEGIN_NS INT64_C(100000000000000000)
#define VT_BEFORE_NS 10000000000 /* stamps of a virtual clock may precede its beginning by less than this */

struct vt_slot {
	_Alignas(64) _Atomic uint32_t grant; /* futex: counts the turns given to this slot */
	_Atomic uint32_t pid;		     /* 0: its process has not been started yet */
	_Atomic uint32_t incarnation;
	_Atomic uint32_t kill_after; /* it kills itself at the Nth action from now; 0: not planned */
	_Atomic uint32_t charged;    /* its processor time passes on the clock */
	_Atomic int64_t charged_ns;
	_Atomic uint32_t weight;      /* it shares what processes with a period leave; 0: a processor of its own */
	int64_t period_ns, budget_ns; /* 0: none */
	enum vt_over over;
	_Atomic uint32_t overs;	  /* periods over the budget, by all its incarnations */
	_Atomic int64_t worst_ns; /* most that it computed in one of them */
	char name[VT_NAME_MAX];
};

/* A channel or bus: whom a message concerns, and the hash over all that passed. */
struct vt_object {
	char name[VT_NAME_MAX];
	_Atomic uint64_t readers;
	uint64_t hash, count;
};

struct vt_page {
	uint64_t magic;
	_Atomic int64_t now_ns;		     /* of core, for programs beside the robot in any language (endplate(7)) */
	_Atomic uint32_t pid;		     /* the coordinator's, */
	_Atomic uint64_t started;	     /* and when that process was started: field 22 of /proc/PID/stat */
	_Alignas(64) _Atomic uint64_t token; /* generation << 16 | taken << 8 | copy << 7 | slot */
	_Alignas(64) _Atomic uint64_t live, held, dirty;
	_Atomic uint64_t slow;	  /* a descriptor of these slots may have become ready: they ask the kernel as well */
	_Atomic int64_t limit_ns; /* beyond it only the coordinator advances; 0: it wants the next rest */
	struct vt_core core[2];	  /* the token says which one is valid */
	_Alignas(64) _Atomic int64_t deadline_ns[VT_SLOTS];
	_Atomic int64_t floor_ns[VT_SLOTS];
	struct vt_slot slot[VT_SLOTS];
	_Atomic uint32_t objects_n;
	struct vt_object object[VT_OBJECTS];
	_Atomic uint32_t over;	    /* achstart has ended */
	_Atomic uint32_t newcomer;  /* the process of an achstart that wants the slot of one that was killed; 0: none */
	_Atomic uint32_t sweeping;  /* every process looks once, for what comes from outside */
	_Atomic int64_t outside_ns; /* something did: not repeatable since; 0: nothing */
	char outside_who[VT_NAME_MAX], outside_what[VT_OUTSIDE_MAX]; /* the process that found it, and where */
	uint32_t strict;	   /* every process looks at every instant, not now and then in real time */
	_Atomic uint32_t leave;	   /* a stopped process is left behind, else it holds the clock */
	_Atomic uint32_t permille; /* of life, lately */
	double rate;		   /* times life, to which it is held; 0: as fast as possible */
	_Atomic int64_t behind_ns; /* real time by which it has fallen behind that rate since it began */
	int64_t begun_ns;
	int64_t epoch_ns; /* clock_real_ns at VT_BEGIN_NS: of 2000, or in step with life the wall clock's */
	uint64_t seed;
	double charge;		  /* by which processor time is multiplied; 0: computing takes no time */
	uint32_t uncorrected;	  /* the cost of measuring is charged, too */
	_Atomic uint32_t failed;  /* a process was ended because it was over its budget */
	_Atomic uint64_t sharing; /* processes without a period that compute */
	struct vt_left left;	  /* the holder's of the token */
};

/* Creates the page in a file, which must not exist, with a FIFO beside it (PATH.bell) that wakes the coordinator.  The
 * token is the coordinator's.  0 or -errno. */
int vt_page_create(const char *path, int64_t begin_ns);
void vt_page_remove(const char *path);
struct vt_page *vt_page_open(const char *path, bool writable); /* NULL with errno */

/* This process's end of it. */
struct vt_end {
	struct vt_page *page;
	int me;
	int bell;
};

int vt_page_reach(struct vt_end *end, const char *path); /* for one without a slot, to ring.  0 or -errno */
int vt_page_join(struct vt_end *end, const char *path,
		 int slot); /* 0 or -errno; the token is awaited with the first turn */

static inline const struct vt_core *vt_page_core(const struct vt_page *page)
{
	return &page->core[atomic_load_explicit(&page->token, memory_order_acquire) >> 7 & 1];
}

int64_t vt_page_now(const struct vt_page *page); /* for any thread, and for observers */

/* These slots have something to look at, in the kernel or (light) in memory; not the coordinator. */
void vt_page_mark(struct vt_end *end, uint64_t slots);
void vt_page_mark_light(struct vt_end *end, uint64_t slots);
void vt_page_pass(struct vt_end *end); /* hands the token over */
/* Waits for the token and takes it; while_ns: at most that long, in real time.  Has it the token? */
bool vt_page_await(struct vt_end *end, int64_t while_ns);
void vt_page_leave(struct vt_end *end); /* with the token: no longer a participant */
void vt_page_ring(struct vt_end *end);	/* wakes the coordinator; declared for tests */

/* A slot for a process that is about to be started, by the holder of the token.  Its first turn is after startup_ns. */
void vt_page_expect(struct vt_end *end, int slot, const char *name, int64_t startup_ns);
void vt_page_started(struct vt_end *end, int slot); /* by the new process, before exec */
void vt_page_forget(struct vt_end *end, int slot);  /* its process was not started */
/* After SIGKILL, by the holder of the token: waits until the coordinator has reaped it, so that it dies now. */
void vt_page_killed(struct vt_end *end, pid_t pid);
int vt_page_slot(const struct vt_page *page, pid_t pid); /* -1: none */

/* The coordinator's. */
bool vt_page_is_ours(struct vt_end *end);	       /* has it the token? */
int64_t vt_page_next_ns(const struct vt_end *end);     /* the instant at which another slot has its next turn */
int64_t vt_page_deadline_ns(const struct vt_end *end); /* until which another slot waits at most; VT_NEVER: none does */
bool vt_page_at_rest(const struct vt_end *end);
void vt_page_reap(struct vt_end *end, int slot);   /* its process has ended: all look, its token is the coordinator's */
bool vt_page_revoke(struct vt_end *end, int slot); /* stopped before it took the token: held from now on */

/* The object of that name, created if needed; NULL: there are too many. */
struct vt_object *vt_page_object(struct vt_page *page, const char *name);
void vt_page_hash(struct vt_object *object, int64_t t_ns, const void *data, size_t len);
uint64_t vt_page_hash_all(const struct vt_page *page); /* of all objects by name, in whatever order they were made */
