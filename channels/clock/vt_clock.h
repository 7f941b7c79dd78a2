/* vt_clock.h: this process on a virtual clock (vt_page.h), behind the calls of clock.h.
 *
 * achstart --virtual starts each program with $ENDPLATE_CLOCK, and the program joins before main: its first turn comes
 * once its start-up time has passed.  From then on clock_wait hands the token over and returns at a turn at which a
 * descriptor or channel is ready or the deadline has come.  Other threads than the first keep to the real clock. */
#pragma once

#include "channels/clock/clock.h"
#include "channels/clock/vt_page.h"

#define VT_CLOCK_PLACE "ENDPLATE_CLOCK" /* "SLOT PATH" */

/* place: as in the environment.  It is only for the process that its slot names: children of it are on real time.
 * Ends the process if the page cannot be used. */
void vt_clock_join(const char *place);

/* With the token, before exit. */
void vt_clock_leave(void);

/* While it waits for its turn, this is called ten times a second of real time: achstart restarts an achtime that has
 * ended. */
void vt_clock_guard(void (*check)(void));

/* The page of this process; NULL: it is on another clock. */
struct vt_end *vt_clock_end(void);

/* The object of that name for what this process does there; NULL: it is on another clock. */
struct vt_object *vt_clock_object(const char *name);

/* CLOCK_MONOTONIC, for stamps of programs that do not know the virtual clock; 0: this process is not on one. */
int64_t vt_clock_machine_ns(void);

/* The seed of something random: on a virtual clock another one for each seed of the clock, else as it is. */
int64_t vt_clock_seed(int64_t seed);

/* ---- between vt_clock.c and clock_set.c ---- */

/* What a wait polls, without blocking: how many are ready. */
struct vt_poll {
	int (*poll)(struct vt_poll *at);
	struct clock_fd *fds;
	size_t n;
	struct clock_set *set;
	uint32_t *tags;
	int found_fd;		   /* the first that was ready; -1: none */
	const char *found_channel; /* or NULL */
};
int vt_clock_wait(struct vt_poll *at, int64_t deadline_ns);
/* Must a poll of these descriptors (a number that stands for them) ask the kernel?  Not if they are those of the last
 * poll, which found nothing less than a millisecond ago, and no process has marked this one since.  Then: how many
 * were ready. */
bool vt_clock_asks(uint64_t what);
/* What its probe says about a descriptor; place: of the probe, from vt_clock_probe; -1: it has none. */
int vt_clock_probe(int fd);
uint64_t vt_clock_rung(int place);
void vt_clock_asked(int ready);
void vt_clock_watch(struct ach_handle *h); /* a message on it gives this process a turn */
