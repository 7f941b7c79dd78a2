/* robot_channels.c: all channels of the robot. */
#include <math.h>
#include <sys/stat.h>

#include "channels/ach/ach_file.h"
#include "channels/ach/ach_ring.h"
#include "channels/client/folder.h"
#include "channels/clock/clock.h"
#include "channels/estop/estop_lower.h"
#include "channels/msg/ref.h"
#include "launch/view/robot_channels.h"

#define SCAN_NS 1000000000
#define RATE_NS 950000000
#define SILENT_NS 1000000000
#define MOST_NS INT64_C(1000000000000) /* a longer time is a jump of the clock */
#define EVENTS_AT_ONCE 64

/* ---- the list ---- */

static const char *prefix(void)
{
	const char *set = getenv("ENDPLATE_PREFIX");

	return set ? set : "";
}

static struct robot_channel *find(const struct robot_channels *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->at[i]->name, name))
			return c->at[i];
	return NULL;
}

static void drop(struct robot_channels *c, size_t i)
{
	ach_close(&c->at[i]->chan);
	free(c->at[i]->joints);
	free(c->at[i]->info);
	free(c->at[i]);
	c->at[i] = c->at[--c->n];
}

static void add(struct robot_channels *c, const char *full)
{
	struct robot_channel *one = c->n < ROBOT_CHANNELS_MAX ? calloc(1, sizeof(*one)) : NULL;
	ach_attr_t attr;

	ach_attr_init(&attr);
	ach_attr_set_owner(&attr, c->owner, 0777 & ~S_IWOTH);
	if (!one || ach_open(&one->chan, full, &attr) != ACH_OK) {
		free(one);
		return;
	}
	snprintf(one->name, sizeof(one->name), "%s", full + strlen(prefix()));
	one->rate_hz = one->phase_us = NAN;
	c->at[c->n++] = one;
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(struct robot_channel *const *)a)->name, (*(struct robot_channel *const *)b)->name);
}

static void scan(struct robot_channels *c)
{
	const size_t len = strlen(prefix());
	DIR *folder = ach_file_list();
	const char *full;

	c->owner = run_owner();
	for (size_t i = c->n; i-- > 0;)
		if (port_is_gone(&c->at[i]->chan))
			drop(c, i); /* the channel was removed or created again */
	while (folder && (full = ach_file_next(folder)))
		if (!strncmp(full, prefix(), len) && full[len] && !find(c, full + len))
			add(c, full);
	if (folder)
		closedir(folder);
	if (c->n)
		qsort(c->at, c->n, sizeof(*c->at), by_name);
}

/* ---- messages ---- */

static void keep_refusal(struct robot_channel *one, const struct msg_event *event)
{
	if (strncmp(event->code, REF_REFUSED, sizeof(event->code)) != 0)
		return;
	snprintf(one->refusal, sizeof(one->refusal), "%.*s", MSG_TEXT_SIZE, event->text);
	one->refused_by = event->header.incarnation;
}

/* Keeps a copy, in place of the one before; NULL: there is no memory. */
static void *copy(void *kept, const void *msg, size_t size)
{
	kept = kept ? kept : malloc(size);
	return kept ? memcpy(kept, msg, size) : NULL;
}

static void take(struct robot_channels *c, struct robot_channel *one, const void *msg, size_t len)
{
	const struct msg_type *type;

	one->ours = msg_check(msg, len, NULL, &type) == MSG_FINE;
	one->state = one->ours && msg_is_state(type);
	if (!one->ours)
		return;
	memcpy(&one->header, msg, sizeof(one->header));
	if (one->state)
		memcpy(&one->common, (const char *)msg + sizeof(one->header), sizeof(one->common));
	if (type->number == msg_event_number)
		keep_refusal(one, msg);
	if (type->number == msg_joint_state_number)
		one->joints = copy(one->joints, msg, sizeof(*one->joints));
	if (type->number == msg_device_info_number)
		one->info = copy(one->info, msg, sizeof(*one->info));
	if (type->number == msg_clock_number && !strcmp(one->name, "clock")) {
		memcpy(&c->clock, msg, sizeof(c->clock));
		c->has_clock = true;
	} else if (type->number == msg_balance_state_number) {
		memcpy(&c->balance, msg, sizeof(c->balance));
		c->has_balance = true;
	} else if (type->number == msg_mux_state_number) {
		memcpy(&c->mux, msg, sizeof(c->mux));
		c->has_mux = true;
	}
	if (c->each)
		c->each(c->to, one, type, msg);
}

static void measure_rate(struct robot_channel *one)
{
	const int64_t now_ns = one->read_ns;
	const int64_t passed_ns = now_ns - one->rate_ns;

	if (one->rate_ns && passed_ns >= 0 && passed_ns < RATE_NS)
		return;
	if (one->rate_ns && passed_ns >= 0 && passed_ns < MOST_NS)
		one->rate_hz = (double)(one->chan.seq_num - one->rate_seq) * 1e9 / (double)passed_ns;
	one->rate_seq = one->chan.seq_num;
	one->rate_ns = now_ns;
}

/* Reads one message; true: there may be more. */
static bool read_one(struct robot_channels *c, struct robot_channel *one, int options)
{
	static union {
		struct msg_header header;
		char bytes[8192];
	} msg; /* of one thread; the longest of ours */
	size_t len;
	const enum ach_status status = ach_get(&one->chan, &msg, sizeof(msg), &len, NULL, options);

	if (status != ACH_OK && status != ACH_MISSED_FRAME)
		return false;
	take(c, one, &msg, len);
	return true;
}

static void read_channel(struct robot_channels *c, struct robot_channel *one)
{
	const bool all = lines_before(one->name, "-event");

	for (int i = 0; i < EVENTS_AT_ONCE && read_one(c, one, all ? 0 : ACH_O_LAST) && all; i++)
		;
	one->read_ns = clock_now_ns();
	measure_rate(one);
}

static void find_phase(const struct robot_channels *c, struct robot_channel *one)
{
	const int64_t period_ns = c->clock.period_ns;
	int64_t behind_ns;

	one->phase_us = NAN;
	if (!c->has_clock || period_ns <= 0 || !one->state || !strcmp(one->name, "clock"))
		return;
	behind_ns = (one->header.t_publish_ns - c->clock.t_cycle_ns) % period_ns;
	one->phase_us = (double)(behind_ns < 0 ? behind_ns + period_ns : behind_ns) / 1e3;
}

void robot_channels_read(struct robot_channels *c)
{
	const int64_t now_ns = clock_now_ns();

	if (clock_is_due(c->scan_ns, now_ns, SCAN_NS)) {
		scan(c);
		c->scan_ns = now_ns + SCAN_NS;
	}
	c->has_clock &= find(c, "clock") != NULL;
	c->has_balance = c->has_mux = false;
	for (size_t i = 0; i < c->n; i++)
		read_channel(c, c->at[i]);
	for (size_t i = 0; i < c->n; i++)
		find_phase(c, c->at[i]);
}

void robot_channels_close(struct robot_channels *c)
{
	while (c->n)
		drop(c, c->n - 1);
}

double robot_channel_age_ms(const struct robot_channel *one)
{
	return one->ours ? (double)(one->read_ns - one->header.t_publish_ns) / 1e6 : NAN;
}

bool robot_channel_daemon(const struct robot_channel *one, char *name, size_t size)
{
	const size_t len = strcmp(one->name, "clock") ? lines_before(one->name, "-state") : strlen("clock");

	snprintf(name, size, "%.*s", (int)len, one->name);
	return one->state && len;
}

/* ---- the level ---- */

int robot_level_open(struct estop *e, bool make, struct error_sink *errors)
{
	const struct estop_options options = {
		.owner = run_owner(), .make = make, .group = (gid_t)-1, .name = "achctl"
	};

	return estop_open(e, &options, errors);
}

enum msg_level robot_level_read(struct estop *e, const struct robot_channels *channels, int64_t now_ns)
{
	struct estop_kept saved = { 0 };
	enum msg_level level;

	estop_maintain(e, now_ns);
	for (size_t i = 0; e->channel[0].open && i < channels->n; i++)
		if (channels->at[i]->state)
			estop_lower_add(&saved, &channels->at[i]->common, e->boot, e->channel[0].chan.handle->id);
	estop_rule_start(&e->rule, saved.base ? &saved : NULL, e->boot);
	level = estop_read(e, now_ns);
	for (size_t i = 0; !e->rule.base && i < channels->n; i++)
		if (channels->at[i]->state && estop_lower_is_driver(&channels->at[i]->common, e->boot) &&
		    channels->at[i]->common.epoch > e->epoch)
			e->epoch = channels->at[i]->common.epoch;
	return level;
}

static bool is_copy(const struct msg_estop *msg, const struct estop_seen *seen)
{
	return msg->kind == MSG_ESTOP_RAISE && msg->chan[0] == seen->id[0] && msg->chan[1] == seen->id[1] &&
	       msg->seen[1] == seen->seq[1];
}

bool robot_level_only_copied(struct estop *e, struct estop_seen *seen)
{
	struct estop_seen now;

	estop_read(e, clock_now_ns());
	now = estop_seen(e);
	if (now.id[0] != seen->id[0] || now.id[1] != seen->id[1] || now.seq[1] != seen->seq[1] ||
	    now.seq[0] <= seen->seq[0] || e->channel[0].window.oldest > seen->seq[0] + 1)
		return false;
	for (uint64_t seq = seen->seq[0] + 1; seq <= now.seq[0]; seq++)
		if (!is_copy(&e->channel[0].messages[seq % ESTOP_RETAINED], seen))
			return false;
	*seen = now;
	return true;
}

/* A process that is not in $RUN/state counts as ended if it was silent at that time. */
static bool is_gone(const struct robot_channel *one, const char *name, int64_t now_ns)
{
	struct folder_state saved;

	if (!folder_state_read(name, &saved))
		return !folder_runs(&saved);
	return now_ns - one->header.t_publish_ns > SILENT_NS;
}

bool robot_level_driver(const struct estop *e, const struct robot_channel *one, char *name, size_t size, int64_t now_ns)
{
	return robot_channel_daemon(one, name, size) && estop_lower_is_driver(&one->common, e->boot) &&
	       !is_gone(one, name, now_ns);
}
