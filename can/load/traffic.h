/* traffic.h: the frames that drivers declare (DRIVER ... --frames), and whether their buses have time for them.
 *
 *	struct traffic traffic = { .reply_ns = TRAFFIC_REPLY_NS };
 *
 *	traffic_read(&traffic, "waist.json", text, len, &errors);	of each driver, or of all: achstart --frames
 *	traffic_solve(&traffic);
 *	for (i = 0; i < traffic.frames_n; i++)
 *		...traffic.frames[i].r.response_ns, traffic.frames[i].late...
 *	traffic_free(&traffic);
 *
 * A frame is one that a driver sends, an answer to one of these, or one that a device sends by itself.  All drivers
 * send through one queue, that of the computer's interface; each frame of a device competes for the bus by itself.  A
 * row whose period is shorter than the driver's tick stands for several frames in each tick.  A row without a period is
 * sent at any time: it may block others, and has no bound.  A driver's frame is late if it may end after its deadline,
 * which is its period unless the driver declares another; an answer if it may come later than the driver waits for it;
 * a device's own frame if it may end after its period.
 */
#pragma once

#include "can/bus/frame.h"
#include "can/load/response.h"
#include "config/settings/yaml.h"

#define TRAFFIC_REPLY_NS 200000 /* time within which a device answers */
#define TRAFFIC_LOAD_MAX 0.9	/* above this a bus is full: errors and repetitions need time, too */
#define TRAFFIC_BITRATE 1000000 /* of a bus that is not described */
#define TRAFFIC_BUSES_MAX 64
#define TRAFFIC_DRIVERS_MAX 64
#define TRAFFIC_ADVICE_MAX 160

/* A line of --frames. */
struct traffic_row {
	unsigned int driver, bus; /* places in the traffic */
	uint32_t id;		  /* with FRAME_EXT */
	uint8_t len, flags;	  /* flags: FRAME_FD, FRAME_BRS */
	bool tx, shared;
	int64_t period_ns, deadline_ns; /* 0: none */
	bool answered;
	uint32_t reply_id;
	int64_t within_ns; /* longest wait of the driver for the answer; 0: not known */
};

enum traffic_kind { TRAFFIC_SENT, TRAFFIC_ANSWER, TRAFFIC_CYCLIC };

struct traffic_frame {
	enum traffic_kind kind;
	unsigned int driver, bus;
	uint32_t id;
	uint8_t len, flags;
	int64_t deadline_ns; /* 0: none */
	struct response_frame r;
	bool late; /* its bound is above the deadline */
};

struct traffic_driver {
	char name[TEXT_NAME_MAX + 1];
	int64_t tick_ns;   /* 0: not known */
	int64_t offset_ns; /* traffic_offsets: by which its ticks should follow the clock */
};

struct traffic_bus {
	char name[TEXT_NAME_MAX + 1];
	uint32_t bitrate, data_bitrate; /* data_bitrate 0: of frames with FRAME_BRS the same */
	double load_least, load_most;	/* without stuff bits, and with as many as possible */
	double hz;
	unsigned int late; /* frames of drivers that are */
	unsigned int any;  /* rows without a period */
};

struct traffic {
	/* given */
	int64_t reply_ns;  /* from a request to the release of its answer, at most */
	int64_t jitter_ns; /* by which processes may release late */

	struct traffic_bus buses[TRAFFIC_BUSES_MAX];
	size_t buses_n;
	struct traffic_driver drivers[TRAFFIC_DRIVERS_MAX];
	size_t drivers_n;
	struct traffic_row *rows;
	size_t rows_n, rows_room;
	/* found; in order of bus, then of arbitration */
	struct traffic_frame *frames;
	size_t frames_n;
};

/* One driver {driver, name, tick_us, frames: [...]}, or all of a robot {buses: [{name, bitrate}], drivers: [...]}.  A
 * bus that is not described has 1 Mbit/s.  0; -EINVAL with a line in errors; -ENOMEM. */
int traffic_read(struct traffic *traffic, const char *name, const char *text, size_t len, struct error_sink *errors);
/* One row, without its driver and bus; NULL, or what is wrong with it. */
const char *traffic_read_row(struct traffic_row *row, const struct yaml_node *node);

/* Places, added if they are new; -ENOSPC. */
int traffic_bus(struct traffic *traffic, const char *name);
int traffic_driver(struct traffic *traffic, const char *name, int64_t tick_ns);
int traffic_add(struct traffic *traffic, const struct traffic_row *row); /* 0 or -ENOMEM */

int traffic_solve(struct traffic *traffic); /* 0 or -ENOMEM */
void traffic_free(struct traffic *traffic);

/* Do both, or the devices they belong to, send the same identifier?  A frame that a driver receives is one that its
 * device sends; shared ones may be sent, or received, by several.  A device may answer with the identifier of the
 * request: it does not send before it was asked. */
bool traffic_clash(const struct traffic_row *a, const struct traffic_row *b);
/* Does the device send that row when it is asked by the other one, of the same driver? */
bool traffic_is_answer(const struct traffic_row *asked, const struct traffic_row *row);

/* ---- after traffic_solve ---- */

/* Where the frames of a bus begin; returns how many there are. */
size_t traffic_frames_of(const struct traffic *traffic, unsigned int bus, size_t *first);

/* The part of load_most that is due to one driver. */
double traffic_load(const struct traffic *traffic, unsigned int bus, unsigned int driver);

/* Neither above TRAFFIC_LOAD_MAX nor a driver's frame late. */
bool traffic_fits(const struct traffic *traffic, unsigned int bus);

/* How many modules more, each with a request and an answer of eight bytes at this rate, the bus has room for; at most
 * TRAFFIC_MODULES_MAX.  -ENOMEM. */
#define TRAFFIC_MODULES_MAX 64
int traffic_room(const struct traffic *traffic, unsigned int bus, int64_t period_ns);

/* A change after which the bus fits: "tick of larm 10 ms instead of 5 ms"; the smallest one found, else that one of
 * its drivers needs another bus.  0 or -ENOMEM. */
int traffic_advice(const struct traffic *traffic, unsigned int bus, char text[TRAFFIC_ADVICE_MAX]);

/* Spreads the ticks of drivers that share a bus: drivers[].offset_ns. */
void traffic_offsets(struct traffic *traffic);
