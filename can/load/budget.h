/* budget.h: what frames cost a bus: load, peak load, and the same per identifier and over time.
 *
 *	const struct budget_rate rates[] = { { NULL, 1000000 }, { "can1", 500000 } };
 *	struct budget b = { .options = { .rates = rates, .rates_n = 2, .window_ns = 100000000 } };
 *
 *	while (log_next(&log, &r) > 0)
 *		budget_add(&b, r.bus, r.t_ns, &r.frame);
 *	budget_end(&b);
 *	...b.buses[0].busy_ns...
 *	budget_free(&b);
 *
 * A stamp is the end of a frame.  Time begins with the first stamp of all, so that frame itself belongs to the time
 * before: it is counted, but does not enter loads and rates.  Ten frames a second make 10 Hz and not 11 in 1 s.
 *
 * A stamp that lies more than a second back (a clock that was set, files put together) does not turn time back: it goes
 * on from where it was.  A stamp less far back is only out of order.
 *
 * CAN FD frames enter the load of a bus with a data bit rate (fd_rates), which logs do not contain; otherwise they are
 * only counted.  Error frames are not on the wire: they are counted, too, and do not enter the load.
 *
 * Offered to other folders:
 *	traffic.h
 */
#pragma once

#include "can/bus/frame.h"
#include "config/base/base.h"

#define BUDGET_BUS_MAX 16     /* bytes of a name, with the terminating zero */
#define BUDGET_ERROR_KINDS 10 /* bits of an error frame's identifier that have a name */

struct budget_rate {
	const char *bus; /* NULL: every bus that has no other line */
	uint32_t bitrate;
};

/* That of the bus; 0: it has none. */
uint32_t budget_rate_of(const struct budget_rate *rates, size_t n, const char *bus);

struct budget_options {
	const struct budget_rate *rates; /* kept; one of them for every bus */
	size_t rates_n;
	const struct budget_rate *fd_rates; /* kept; data bit rates of CAN FD; may be none */
	size_t fd_rates_n;
	int64_t window_ns; /* of the peak load; 0: no peak */
	int64_t over_ns;   /* intervals for the load over time; 0: none */
};

/* Times between a frame and the next of its kind.  The median is exact for the first BUDGET_KEPT of them, and then that
 * of BUDGET_KEPT chosen at random (always the same ones). */
#define BUDGET_KEPT 1024
struct budget_periods {
	uint64_t n;
	int64_t min_ns, max_ns;
	int64_t *kept;
	size_t room;
};

/* Sums of frames.  The timed ones are those behind the first of all. */
struct budget_sum {
	uint64_t frames, bytes, bits, stuff_bits;
	uint64_t timed, timed_bits;
	uint64_t timed_fast; /* of timed_bits those at the data bit rate */
};

/* All frames of one identifier and one kind on a bus. */
struct budget_id {
	uint32_t bus;	 /* which of the buses */
	uint32_t id;	 /* with FRAME_EXT, FRAME_RTR */
	bool fd;	 /* CAN FD: no bits if the bus has no data bit rate */
	uint8_t len_max; /* longest data */
	struct budget_sum sum;
	struct budget_periods periods;

	/* private */
	int64_t last_ns;
	uint64_t last_set_back;
};

/* An interval with frames in it; those without are not there. */
struct budget_interval {
	int64_t number;	 /* it begins at number times over_ns */
	uint64_t frames; /* that end in it */
	int64_t busy_ns;
};

struct budget_bus {
	char name[BUDGET_BUS_MAX];
	uint32_t bitrate, data_bitrate; /* data_bitrate 0: not known */
	struct budget_sum sum;		/* of data and remote frames; CAN FD frames if data_bitrate is known */
	uint64_t fd, errors;		/* CAN FD frames; error frames */
	uint64_t error_kinds[BUDGET_ERROR_KINDS];
	int64_t peak_ns, peak_at_ns; /* most in a window, and the end of that window; 0: none */
	struct budget_interval *intervals;
	size_t intervals_n, intervals_room;

	/* private: the frames in the window that ends now, from recent_first on */
	struct budget_recent {
		int64_t t_ns, busy_ns;
	} * recent;
	size_t recent_first, recent_n, recent_room;
	int64_t recent_ns;
};

struct budget {
	struct budget_options options;
	struct budget_bus *buses; /* in the order in which they were first seen */
	size_t buses_n;
	struct budget_id *ids; /* after budget_end in order of bus, then of arbitration */
	size_t ids_n;
	uint64_t frames;   /* all, on all buses, error frames too */
	int64_t first_ns;  /* stamp of the first */
	int64_t span_ns;   /* first to last */
	uint64_t set_back; /* times that the clock went back by more than a second */

	/* private */
	int64_t shift_ns; /* stamps to time here */
	size_t buses_room, ids_room;
	uint32_t *index; /* of the ids by hash: place + 1 */
	size_t index_size;
	uint64_t random;
};

int budget_add(struct budget *b, const char *bus, int64_t t_ns, const struct frame *f); /* 0 or -ENOMEM */
void budget_end(struct budget *b);
void budget_free(struct budget *b);

/* ---- asking; after budget_end ---- */

/* From 0 to 1.  Less than 0: not known (no time between frames; the window is longer than the log). */
double budget_load(const struct budget *b, const struct budget_bus *bus, const struct budget_sum *sum);
double budget_peak(const struct budget *b, const struct budget_bus *bus);

double budget_rate_hz(const struct budget *b, uint64_t timed); /* less than 0: not known */

int64_t budget_median_ns(const struct budget_periods *p); /* 0: there is none */

const char *budget_error_name(unsigned int kind); /* "bus off" */
