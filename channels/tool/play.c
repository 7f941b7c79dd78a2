/* play.c: ach play: publishes the messages of a recording again, with the same timing. */
#include "channels/ach/ach_file.h"
#include "channels/ach/ach_ring.h"
#include "channels/clock/clock.h"
#include "channels/clock/vt_observe.h"
#include "channels/rec/recfile.h"
#include "channels/rec/schedule.h"
#include "channels/rec/snapshot.h"
#include "channels/tool/bar.h"
#include "channels/tool/tool.h"

#define LIVE_NS 10000000000
#define PLAY_CHANNEL_MAX (1 << 28) /* bytes of a channel that is made because a file says so */

struct play_channel {
	struct reclog_channel what;
	const char *name; /* under which it is played */
	bool known, wanted, open;
	ach_channel_t chan;
	uint64_t messages, bytes, lost;
};

struct play {
	int64_t loop;
	struct settings_strings map, only;
	bool as_replay, list, force;

	struct recfile file;
	struct play_channel channels[RECLOG_CHANNELS_MAX]; /* by their numbers; pages that are not used cost nothing */
	size_t n;

	struct schedule schedule;
	struct bar bar;
	int64_t began_ns; /* playing; 0: not yet */
	uint64_t messages;
	int64_t real_ns; /* CLOCK_REALTIME when the recording began */
	bool whole;
	struct hist late;
};

static const struct settings_row rows[] = {
	SETTINGS_REAL("speed", struct play, schedule.speed, "", "1", "0.001", "1000", "2: twice as fast", .value = "X"),
	SETTINGS_INT("loop", struct play, loop, "", "1", "0", NULL, "play it that many times; 0: until ^C",
		     .value = "N"),
	SETTINGS_STRINGS("map", struct play, map, "play a channel under another name", .value = "OLD=NEW"),
	SETTINGS_STRINGS("only", struct play, only, "play only that channel", .value = "CHANNEL"),
	SETTINGS_BOOL("as-replay", struct play, as_replay, "no",
		      "set the flag replayed in Endplate messages and move the times in their headers to now"),
	SETTINGS_BOOL("force", struct play, force, "no",
		      "also play into e-stop, reference and request channels of a live robot"),
	SETTINGS_BOOL("list", struct play, list, "no", "list what is in it and play nothing"),
	SETTINGS_END,
};

/* ---- a live robot ---- */

/* Is its last writer alive? */
static bool is_live(const char *name)
{
	ach_channel_t chan;
	enum ach_status status = ach_open(&chan, name, NULL);
	struct snapshot snap;
	int64_t age_ns;

	if (status != ACH_OK)
		return status != ACH_ENOENT && status != ACH_INVALID_NAME;
	snapshot_take(&snap, &chan);
	ach_close(&chan);
	if (snap.status != ACH_OK)
		return true;
	if (!snap.seq)
		return false;
	age_ns = snap.type && !(snap.header.flags & MSG_FLAG_REPLAYED) ? snapshot_age_ns(&snap) : -1;
	return snapshot_alive(snap.writer) || (age_ns >= 0 && age_ns < LIVE_NS);
}

/* A channel of the robot on which len bytes of prefix are those of the e-stop. */
static bool any_is_live(const char *prefix, size_t len, char by[ACH_CHAN_NAME_MAX])
{
	DIR *folder = ach_file_list();
	const char *name;
	bool found = false;

	while (folder && !found && (name = ach_file_next(folder))) {
		if (strncmp(name, prefix, len) != 0 ||
		    !(text_ends_with(name, "-state") || text_ends_with(name, "-event") || !strcmp(name + len, "clock")))
			continue;
		found = is_live(name);
		snprintf(by, ACH_CHAN_NAME_MAX, "%s", name);
	}
	if (folder)
		closedir(folder);
	return found;
}

/* Does a running robot read that channel, and by which channel, in by, was it seen?
 *
 * Applies to the e-stop (estop and estop-b behind any prefix), references (X-ref) and requests (X-req): a message there
 * moves a robot.  The robot is live if a channel that it writes (X-state or X-event; for an e-stop any
 * -state, -event or clock with its prefix) was last written by a process that still runs, or less than LIVE_NS ago, or
 * cannot be read, so that it is unknown.
 */
static bool live_listens(const char *channel, char by[ACH_CHAN_NAME_MAX])
{
	static const char *const estops[] = { "estop", "estop-b" }, *const inputs[] = { "-ref", "-req" };
	static const char *const outputs[] = { "-state", "-event" };
	size_t len = strlen(channel);

	for (size_t i = 0; i < 2; i++)
		if (text_ends_with(channel, estops[i]))
			return any_is_live(channel, len - strlen(estops[i]), by);
	for (size_t i = 0; i < 2; i++) {
		if (!text_ends_with(channel, inputs[i]))
			continue;
		for (size_t k = 0; k < 2; k++) {
			snprintf(by, ACH_CHAN_NAME_MAX, "%.*s%s", (int)(len - strlen(inputs[i])), channel, outputs[k]);
			if (is_live(by))
				return true;
		}
	}
	return false;
}

/* ---- channels ---- */

/* A channel's name is a whole item, or what stands before the = of one. */
static const char *item_of(const struct settings_strings *items, const char *name, char end)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < items->n; i++)
		if (!strncmp(items->item[i], name, len) && items->item[i][len] == end)
			return items->item[i];
	return NULL;
}

static void channel_described(struct play *play, struct play_channel *c, const struct reclog_record *r)
{
	struct reclog_channel what;
	const char *map;

	if (reclog_channel_read(&what, r))
		return;
	if (c->known && !what.count) /* no new one was made yet */
		what = c->what;
	c->what = what;
	map = item_of(&play->map, c->what.name, '=');
	c->name = map ? strchr(map, '=') + 1 : NULL;
	c->wanted = (!play->only.n || item_of(&play->only, c->what.name, '\0')) && c->what.type != RECLOG_CAN;
	c->known = true;
}

static const char *channel_name(const struct play_channel *c)
{
	return c->name ? c->name : c->what.name;
}

/* Refuses channels whose messages move a live robot.  0, or EXIT_RETRY after a line. */
static int refuse_live(const struct play *play, const struct play_channel *c)
{
	char by[ACH_CHAN_NAME_MAX];

	if (play->force || !live_listens(channel_name(c), by))
		return 0;
	return tool_fail("%s: a live robot listens to it (see ach info %s); --map %s=NAME plays it under another name, "
			 "--force plays it all the same",
			 channel_name(c), by, c->what.name);
}

/* Opens it, or makes it as it was. */
static int channel_open(const struct play *play, struct play_channel *c)
{
	const char *name = channel_name(c);
	enum ach_status status;
	ach_create_attr_t attr;

	if (refuse_live(play, c))
		return EXIT_RETRY;
	status = ach_open(&c->chan, name, NULL);
	if (status == ACH_ENOENT) {
		if ((uint64_t)c->what.count * c->what.size > PLAY_CHANNEL_MAX)
			return tool_fail("%s: the recording asks for a channel of %u x %u bytes, more than %d MiB "
					 "(ach mk makes one of any size)",
					 name, c->what.count, c->what.size, PLAY_CHANNEL_MAX >> 20);
		ach_create_attr_init(&attr);
		if (c->what.mode)
			ach_create_attr_set_mode(&attr, c->what.mode & 0777, (gid_t)-1);
		status = ach_create(name, c->what.count, c->what.size, &attr);
		if (status != ACH_OK && status != ACH_EEXIST)
			return chan_refused(name, status);
		status = ach_open(&c->chan, name, NULL);
	}
	if (status != ACH_OK)
		return chan_refused(name, status);
	c->open = true;
	return 0;
}

/* All that the beginning of the file names, so that a process that waits for a channel can open it. */
static int open_channels(struct play *play)
{
	for (int opening = 0; opening < 2; opening++) /* refused before anything is made */
		for (size_t i = 0; i < play->n; i++) {
			struct play_channel *c = &play->channels[i];

			if (!c->known || !c->wanted || !c->what.count || c->open)
				continue;
			if (opening ? channel_open(play, c) : refuse_live(play, c))
				return EXIT_RETRY;
		}
	return 0;
}

static bool file_has(const struct play *play, const char *name, size_t len)
{
	for (size_t i = 0; i < play->n; i++)
		if (play->channels[i].known && strlen(play->channels[i].what.name) == len &&
		    !memcmp(play->channels[i].what.name, name, len))
			return true;
	return false;
}

/* Names on the command line that the file does not know are mistakes. */
static int check_items(const struct play *play, const char *option, const struct settings_strings *items)
{
	for (size_t i = 0; i < items->n; i++) {
		const size_t len = strcspn(items->item[i], "=");

		if (!file_has(play, items->item[i], len))
			return tool_fail("%s: %s has no channel %.*s (--list lists them)", option, play->file.path,
					 (int)len, items->item[i]);
	}
	return 0;
}

/* ---- the file ---- */

/* Takes note of a record; messages are published elsewhere. */
static struct play_channel *take_record(struct play *play, const struct reclog_record *r)
{
	struct play_channel *c = &play->channels[r->channel];
	const struct msg_type *type;

	play->n = r->channel >= play->n ? r->channel + 1u : play->n;
	switch (r->kind) {
	case RECLOG_START:
		play->real_ns = (int64_t)r->number;
		break;
	case RECLOG_CHANNEL:
		channel_described(play, c, r);
		break;
	case RECLOG_MESSAGE:
	case RECLOG_SPARSE:
		/* It was unknown when the channel was described, which may be again in the middle. */
		if (!c->what.type && msg_check(r->body, r->len, NULL, &type) == MSG_FINE)
			c->what.type = type->number;
		c->messages++;
		c->bytes += r->len;
		break;
	case RECLOG_LOSS:
		c->lost += r->number;
		break;
	case RECLOG_END:
		play->whole = true;
		break;
	}
	return c;
}

/* ---- playing ---- */

/* As if it had been recorded now. */
static void rebase(uint8_t *message, size_t len, int64_t by_ns)
{
	struct msg_header h;

	if (msg_check(message, len, NULL, NULL) != MSG_FINE)
		return;
	memcpy(&h, message, sizeof(h));
	h.flags |= MSG_FLAG_REPLAYED;
	h.t_sample_ns += by_ns;
	h.t_publish_ns += by_ns;
	if (h.valid_until_ns)
		h.valid_until_ns += by_ns;
	memcpy(message, &h, sizeof(h));
}

/* Refuses a message that no reader of its channel would take.  0, or EXIT_RETRY after a line. */
static int refuse_version(const struct play_channel *c, const struct reclog_record *r)
{
	enum msg_refusal why = msg_check(r->body, r->len, NULL, NULL);
	struct msg_header h;
	char text[128];

	if (why != MSG_OTHER_VERSION)
		return 0;
	memcpy(&h, r->body, sizeof(h));
	if (h.size != r->len)
		return 0; /* of another program's, and similar by chance */
	msg_refusal_text(text, sizeof(text), why, r->body, r->len, NULL);
	return tool_fail("%s: message %" PRIu64 ": %s", channel_name(c), r->number, text);
}

static int put(struct play *play, struct play_channel *c, struct reclog_record *r, int64_t at_ns)
{
	enum ach_status status;

	if (!c->known)
		return 0; /* its description was damaged, so it cannot be made */
	if (!c->open && channel_open(play, c))
		return EXIT_RETRY;
	if (refuse_version(c, r))
		return EXIT_RETRY;
	if (play->as_replay) /* the reader's buffer is ours until the next record */
		rebase((uint8_t *)(uintptr_t)r->body, r->len, at_ns - r->t_ns);
	status = ach_put(&c->chan, r->body, r->len);
	if (status == ACH_OVERFLOW)
		return tool_fail("%s: a message of %zu bytes does not fit into the channel, which takes %zu",
				 channel_name(c), r->len, c->chan.handle->lsize);
	if (status != ACH_OK)
		return chan_refused(channel_name(c), status);
	play->messages++;
	return 0;
}

/* 0; 1: a signal; -1: failed. */
static int wait_until(struct play *play, const struct reclog_record *r, int64_t at_ns)
{
	const int64_t jumped_ns = clock_jumped_ns();
	struct clock_fd stop = { .fd = clock_stop_fd(), .events = POLLIN };

	for (;;) {
		int64_t bar_ns = bar_next_ns(&play->bar);
		int n = clock_wait(&stop, 1, bar_ns > clock_now_ns() && bar_ns < at_ns ? bar_ns : at_ns);

		if (n < 0)
			tool_fail("cannot wait: %s", strerror(-n));
		if (n)
			return n;
		bar_draw(&play->bar, r->position, play->messages, clock_now_ns(), at_ns);
		if (clock_now_ns() >= at_ns || clock_jumped_ns() != jumped_ns)
			return 0;
	}
}

static int play_message(struct play *play, struct play_channel *c, struct reclog_record *r)
{
	int64_t at_ns;
	int stop;

	if (!c->wanted)
		return 0;
	at_ns = schedule_at(&play->schedule, r->t_ns);
	stop = wait_until(play, r, at_ns);
	if (stop)
		return stop;
	hist_add(&play->late, clock_now_ns() - at_ns);
	return put(play, c, r, at_ns) ? -1 : 0;
}

static void start(struct play *play)
{
	play->began_ns = clock_now_ns();
	schedule_start(&play->schedule, play->began_ns);
	bar_start(&play->bar, play->began_ns);
}

/* From the reader's position to the end.  0; 1: a signal; -1: failed. */
static int play_pass(struct play *play)
{
	struct reclog_record r;
	bool described = false;
	int n;

	while ((n = recfile_next(&play->file, &r)) > 0) {
		struct play_channel *c = take_record(play, &r);
		int stop = 0;

		if (!described && r.kind > RECLOG_CHANNEL) { /* the channels are named before all else */
			described = true;
			if (check_items(play, "--only", &play->only) || check_items(play, "--map", &play->map) ||
			    open_channels(play))
				return -1;
			if (!play->began_ns)
				start(play);
		}
		if (r.kind == RECLOG_MESSAGE)
			stop = play_message(play, c, &r);
		if (stop)
			return stop;
	}
	return n;
}

static int rewind_file(struct play *play)
{
	if (!play->schedule.n)
		return 1; /* there is nothing to repeat */
	schedule_repeat(&play->schedule);
	return recfile_rewind(&play->file) ? -1 : 0;
}

static void print_summary(const struct play *play)
{
	char took[DURATION_TEXT_MAX], p50[DURATION_TEXT_MAX], p99[DURATION_TEXT_MAX], max[DURATION_TEXT_MAX];
	size_t n = 0;

	for (size_t i = 0; i < play->n; i++)
		n += play->channels[i].open;
	printf("%" PRIu64 " messages of %zu channel%s in %s; late p50 %s, p99 %s, max %s\n", play->messages, n,
	       n == 1 ? "" : "s", duration_text(took, play->began_ns ? clock_now_ns() - play->began_ns : 0),
	       duration_text(p50, hist_quantile(&play->late, 0.5)),
	       duration_text(p99, hist_quantile(&play->late, 0.99)), duration_text(max, play->late.max_ns));
}

static int play_file(struct play *play)
{
	int r = 0;

	play->bar.unit = "messages";
	play->bar.all = play->file.size;
	for (int64_t pass = 0; !r && (!play->loop || pass < play->loop); pass++) {
		if (pass)
			r = rewind_file(play);
		if (!r)
			r = play_pass(play);
	}
	bar_clear(&play->bar);
	if (r >= 0)
		print_summary(play);
	return r < 0 ? EXIT_RETRY : 0;
}

/* ---- what is in it ---- */

static int list_file(struct play *play)
{
	char span[DURATION_TEXT_MAX], stamp[64], name[sizeof(((struct reclog_channel *)0)->name)];
	int64_t first_ns = 0, last_ns = 0;
	struct reclog_record r;
	struct tm when;
	time_t seconds;
	int n;

	while ((n = recfile_next(&play->file, &r)) > 0) {
		take_record(play, &r);
		if (r.kind != RECLOG_MESSAGE)
			continue;
		if (!play->messages++)
			first_ns = last_ns = r.t_ns;
		last_ns = r.t_ns > last_ns ? r.t_ns : last_ns;
	}
	if (n < 0)
		return EXIT_RETRY;
	seconds = play->real_ns / NS_PER_S;
	strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S %z", localtime_r(&seconds, &when));
	printf("recorded %s, %" PRIu64 " messages in %s%s\n", stamp, play->messages,
	       duration_text(span, last_ns - first_ns), play->whole ? "" : ", not ended in order");
	for (size_t i = 0; i < play->n; i++) {
		const struct play_channel *c = &play->channels[i];
		const struct msg_type *type = c->known ? msg_type_by_number(c->what.type) : NULL;

		if (!c->known && !c->messages)
			continue;
		printf("%-24s  %-13s  %8" PRIu64 " messages  %10" PRIu64 " bytes",
		       c->known ? recfile_name(name, &c->what) : "?",
		       c->what.type == RECLOG_CAN ? "CAN"
		       : type			  ? type->name
						  : "-",
		       c->messages, c->bytes);
		printf(c->lost ? "  %" PRIu64 " lost\n" : "\n", c->lost);
	}
	return 0;
}

/* ---- the command ---- */

static int check_maps(const struct play *play)
{
	for (size_t i = 0; i < play->map.n; i++) {
		const char *equals = strchr(play->map.item[i], '=');

		if (!equals || equals == play->map.item[i] || !equals[1])
			return program_report(EXIT_WRONG, "--map: %s is not OLD=NEW", play->map.item[i]);
	}
	return 0;
}

static int run(void *values, int argc, char **argv)
{
	struct play *play = values;
	int status = check_maps(play);

	(void)argc;
	if (status)
		return status;
	vt_observe(NULL);
	clock_stop_fd(); /* from here on a signal is an orderly end */
	status = recfile_open(&play->file, argv[0]);
	if (!status && !play->file.twice && play->loop != 1)
		status = tool_fail("%s: cannot be read twice, so there is no --loop", argv[0]);
	if (!status)
		status = play->list ? list_file(play) : play_file(play);
	for (size_t i = 0; i < play->n; i++)
		if (play->channels[i].open)
			ach_close(&play->channels[i].chan);
	return recfile_close(&play->file) ? EXIT_RETRY : status;
}

TOOL_COMMAND(play, run, rows, struct play, "FILE", 1, 1,
	     "publishes the messages of a recording again, with the same timing",
	     "Channels that are missing are made as they were.\n");
