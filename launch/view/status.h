/* status.h: how a robot is.  achstart writes it as JSON; achctl reads that, or observes the channels itself, and prints
 * it as tables or as JSON again.  One table of fields for each kind of row says all of that.
 *
 * Offered to other folders:
 *	estop_raise.h incident_text.h joints.h listener.h logs.h member.h observe.h peer.h rights.h
 *	robot_channels.h status_poll.h terminal.h
 */
#pragma once

#include "channels/ach/ach.h"
#include "channels/msg/msg.h"
#include "config/base/base.h"
#include "config/settings/robot.h"
#include "config/settings/yaml.h"

#define STATUS_NAME_MAX 32
#define STATUS_INTERFACE_MAX 128
#define STATUS_TEXT_MAX 200
#define STATUS_PATH_MAX 512
#define STATUS_DAEMONS_MAX 64
#define STATUS_BUSES_MAX ROBOT_BUSES_MAX

#define STATUS_COPY(to, text) snprintf(to, sizeof(to), "%s", text)

/* Unknown numbers are NAN, unknown words "". */
struct status_daemon {
	char name[STATUS_NAME_MAX];
	char state[STATUS_NAME_MAX]; /* policy_state_name; without achstart running, silent, gone */
	char life[STATUS_NAME_MAX];  /* lifecycle */
	char level[STATUS_NAME_MAX]; /* of the e-stop, as obeyed */
	char refusal
		[STATUS_TEXT_MAX]; /* why the newest of refs_refused was, who put it, what to write; "": not known */
	char status[STATUS_TEXT_MAX], last_end[STATUS_TEXT_MAX], why[STATUS_TEXT_MAX];
	bool ready, wanted, adopted, freerun;
	int64_t pid, spare, incarnation, restarts, epoch; /* spare: the process that waits; 0: none */
	int64_t refs_taken, refs_refused, ticks, skipped;
	double uptime_s, late_p99_us, late_max_us, age_ms, rate_hz;
	double phase_us; /* publication behind the clock's cycle; not in the JSON */
};

struct status_bus {
	char name[STATUS_NAME_MAX];
	char interface[STATUS_INTERFACE_MAX];
	char state[STATUS_NAME_MAX];
	uint32_t link; /* the same as a number, while it is filled from messages */
	double load;   /* 1: full */
	int64_t stale, sent, replaced, expired, lost, rx_dropped, errors, resets;
	bool stalled;
};

struct status_clock {
	char name[STATUS_NAME_MAX]; /* of its daemon; "": there is no clock */
	double rate_hz, period_us, late_us;
	int64_t cycle;
};

struct status_channel {
	char name[ACH_CHAN_NAME_MAX];
	double rate_hz, age_ms;
};

struct status {
	bool supervised; /* by achstart, whose answer it is */
	char robot[STATUS_NAME_MAX];
	char config[STATUS_PATH_MAX]; /* the robot file */
	char level[STATUS_NAME_MAX];
	char who[STATUS_NAME_MAX], why[STATUS_TEXT_MAX]; /* of the level; without a level why it is not known */
	int64_t epoch, pid;
	double uptime_s;
	double pace;	 /* of a virtual clock, 1 as in life; NAN: real time */
	double behind_s; /* by which one that is held to a rate has fallen behind it; NAN: it is not */
	char clock_still[STATUS_TEXT_MAX]; /* why the clock of the robot stands still; "": it runs */
	bool stopping;
	struct status_clock clock;
	struct status_daemon daemons[STATUS_DAEMONS_MAX];
	size_t daemons_n;
	struct status_bus buses[STATUS_BUSES_MAX];
	size_t buses_n;
	struct status_channel channels[STATUS_DAEMONS_MAX]; /* achstart's alone */
	size_t channels_n;
};

/* ---- the table of fields ---- */

enum status_kind { STATUS_TEXT, STATUS_WORD /* "" is null */, STATUS_WHOLE, STATUS_REAL, STATUS_BOOL };
enum status_unit { STATUS_PLAIN, STATUS_COUNT, STATUS_S, STATUS_MS, STATUS_US, STATUS_HZ, STATUS_SHARE };

/* Columns that status_print.c fills in itself. */
enum { STATUS_DAEMON_STATE = 1, STATUS_DAEMON_LIFE = 2, STATUS_DAEMON_PID = 9 };
enum { STATUS_BUS_INTERFACE = 1, STATUS_BUS_STATE = 2, STATUS_BUS_LOAD = 3 };

struct status_field {
	const char *key; /* in JSON */
	enum status_kind kind;
	size_t offset, size;

	/* as a column of the table; title NULL: it is not in the table */
	const char *title;
	unsigned int column; /* from left to right */
	int weight;	     /* columns with a small one are left out first; 0: it always stays */
	enum status_unit unit;
	bool alarm; /* another value than 0 is worth a colour */
};

/* They end with key NULL. */
extern const struct status_field status_daemon_fields[], status_bus_fields[];

/* From achstart's answer; what is missing in it is unknown. */
void status_read(struct status *status, const struct yaml_node *answer);
/* The members of the object. */
void status_write(const struct status *status, struct json *j);

/* ---- filled from messages ---- */

/* The daemon of that name, added if need be; NULL: there are too many. */
struct status_daemon *status_add_daemon(struct status *status, const char *name);
/* What its newest state says; age and rate are the caller's. */
void status_take_state(struct status_daemon *daemon, const struct msg_header *header, const struct msg_common *common);
/* Adds what one driver says of its bus: sums, the worst state, and the errors of the driver that has seen most. */
void status_take_bus(struct status_bus *bus, const struct msg_bus *msg);
/* Period, lateness and cycle, and the loads of the buses that are there. */
void status_take_clock(struct status *status, const char *name, const struct msg_clock *clock);

/* ---- what is wrong ---- */

/* The first driver that publishes another level than the robot's; NULL: none. */
const struct status_daemon *status_other_level(const struct status *status);

/* By name, or NULL. */
struct status_daemon *status_find_daemon(struct status *status, const char *name);

enum status_rank { STATUS_FINE, STATUS_ODD, STATUS_BAD };
bool status_daemon_is_fine(const struct status_daemon *daemon); /* ready, or done with its work */
enum status_rank status_daemon_rank(const struct status_daemon *daemon);
enum status_rank status_bus_rank(const struct status_bus *bus);
/* Is everything as wanted?  The level of the e-stop does not count: a robot may be stopped on purpose. */
bool status_is_fine(const struct status *status);
