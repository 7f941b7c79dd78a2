/* notify.h: reports our state to the supervisor, as sd_notify(3) does.
 *
 *	struct notify notify;
 *
 *	notify_open(&notify);
 *	notify_ready(&notify);
 *	for (;;) {					every turn of the loop:
 *		notify_watchdog(&notify, now_ns);	a daemon with a watchdog
 *		notify_flush(&notify, now_ns);		a daemon without: sends what could not be sent before
 *	}
 *
 * Datagrams go to the socket that $NOTIFY_SOCKET names, a path, or @ and an abstract name.  Nothing here blocks,
 * prints or fails permanently: the supervisor may not read, may be gone or replaced, so each datagram is
 * addressed again.
 *
 * Every call returns
 *	1	sent
 *	0	nothing to do, or $NOTIFY_SOCKET is not set
 *	-EBUSY	held back: ten a second at most.  Nothing is lost by it, see below
 *	-errno	not taken: -EAGAIN (the supervisor does not read), -ECONNREFUSED or -ENOENT (it is gone) ...
 * READY, STOPPING and the newest STATUS that were not sent stay, and go with the next datagram that is, a beat or
 * that of a notify_flush.  A beat does not stay: it says that we are alive now.  In a process that beats a STATUS
 * goes with a beat, so that it never takes the place of one.
 */
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include "config/base/base.h"

#define NOTIFY_STATUS_MAX 200 /* bytes of a status, with the terminating zero; what is longer is cut */
#define NOTIFY_PERIOD_NS 100000000
#define NOTIFY_RETRY_NS 25000000 /* after -EAGAIN: the socket was full, of the words of others perhaps */

/* At most one in 100 ms over any length of time, and never two within 90: the 10 are for the jitter of a caller
 * with a period of 100 ms; otherwise every second beat would be refused.  Pure; all zeroes to begin with;
 * declared for tests. */
struct notify_rate {
	int64_t next_ns; /* when the next is due */
	bool started;
};
bool notify_rate_take(struct notify_rate *rate, int64_t now_ns); /* may one go now?  If so it is counted as gone. */

struct notify {
	uint64_t sent; /* datagrams */
	uint64_t held; /* calls that the rate held back */
	uint64_t lost; /* datagrams that were not taken */

	/* private */
	int fd;
	socklen_t to_len; /* 0: $NOTIFY_SOCKET is not set */
	struct sockaddr_un to;
	struct notify_rate rate;
	bool beats;
	int64_t beat_ns;
	unsigned pending;
	char status[NOTIFY_STATUS_MAX];
};

/* 1: there is a supervisor; 0: there is none; -EINVAL, -ENAMETOOLONG: $NOTIFY_SOCKET makes no sense.  The struct may be
 * used after each of them. */
int notify_open(struct notify *n);
void notify_close(struct notify *n);

int notify_ready(struct notify *n);    /* at once, and outside the rate */
int notify_stopping(struct notify *n); /* the same; a READY that is not sent yet never will be */
int notify_status(struct notify *n, int64_t now_ns, const char *text); /* control characters become blanks */
int notify_watchdog(struct notify *n, int64_t now_ns);
int notify_flush(struct notify *n, int64_t now_ns); /* no system call unless something is left to be sent */

/* Hands descriptors, at most NOTIFY_FDS, to the supervisor, which may keep them for the next process: FDSTORE=1.  At
 * once, and outside the rate; does not stay. */
#define NOTIFY_FDS 8
int notify_store(struct notify *n, const int *fds, size_t count);

/* Anything else, for tests: assignments, one per line.  At once, and outside the rate; does not stay. */
int notify_send(struct notify *n, const char *assignments);
