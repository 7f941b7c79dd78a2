/* replay_live.c: canreplay --closed-loop. */
#include "can/bus/bits.h"
#include "can/replay/replay_live.h"
#include "channels/clock/clock.h"
#include "channels/port/notify.h"
#include "config/settings/program.h"

#define LEAD_NS 1000000 /* from the opening to the first frame */
/* achstart arms some 20 to 40 ms after everything is reported ready.  Around that moment the level is not that of the
 * recording. */
#define ARMING_NS 30000000
#define ARMING_BEFORE_NS 100000000
#define ARMING_AFTER_NS 200000000

/* ---- options ---- */

static int read_frames(struct replay_live *c, const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;
	ssize_t len = file ? getdelim(&text, &room, '\0', file) : -1;
	int status = 0;

	if (!file || ferror(file))
		status = program_fail("--frames: %s: %s", path, strerror(errno));
	else if (replay_match_rules_read(&c->rules, path, text, len < 0 ? 0 : (size_t)len, &program_errors))
		status = EXIT_WRONG;
	if (file)
		fclose(file);
	free(text);
	return status;
}

/* --bus torso=can3: the driver's bus torso is can3 in the recording. */
static int rename_bus(struct replay_live *c, const char *item)
{
	const char *equals = strchr(item, '=');
	bool any = false;

	if (!equals || equals == item || !equals[1] || strlen(equals + 1) >= REPLAY_MATCH_NAME_MAX)
		return program_wrong("--bus: %s is not NAME=OLD such as torso=can3", item);
	for (size_t i = 0; i < c->rules.n; i++) {
		struct replay_match_rule *rule = &c->rules.rows[i];

		if (strlen(rule->bus) != (size_t)(equals - item) || memcmp(rule->bus, item, strlen(rule->bus)) != 0)
			continue;
		snprintf(rule->bus, sizeof(rule->bus), "%s", equals + 1);
		any = true;
	}
	return any ? 0 : program_wrong("--bus: %s: the driver has no such bus", item);
}

static int not_alone(const struct replay_live *c)
{
	const char *option = c->frames.n      ? "frames"
			     : c->channels    ? "channels"
			     : c->tolerance.n ? "tolerance"
			     : c->shown.diff  ? "diff"
			     : c->step	      ? "step"
					      : NULL;

	return option ? program_wrong("--%s: needs --closed-loop", option) : 0;
}

int replay_live_check(struct replay_live *c)
{
	int status = 0;

	if (!c->on)
		return not_alone(c);
	if (!c->frames.n)
		return program_wrong("--closed-loop: needs --frames FILE, what DRIVER ... --frames prints");
	if (c->channel.n && !c->channels)
		return program_wrong("--channel: needs --channels REC");
	c->options.settle_ns = NS_PER_S;
	c->wait_ns = 10000000000;
	if (program_time("--window", c->window, false, &c->options.window_ns) ||
	    program_time("--settle", c->settle, true, &c->options.settle_ns) ||
	    program_time("--wait", c->wait, false, &c->wait_ns))
		return EXIT_WRONG;
	for (size_t i = 0; i < c->tolerance.n; i++)
		if (replay_match_same_read(&c->same, c->tolerance.item[i], &program_errors))
			return EXIT_WRONG;
	for (size_t i = 0; !status && i < c->frames.n; i++)
		status = read_frames(c, c->frames.item[i]);
	for (size_t i = 0; !status && i < c->bus.n; i++)
		status = rename_bus(c, c->bus.item[i]);
	c->options.any_order = c->same.any_order;
	c->options.same = &c->same;
	c->horizon_ns = NS_PER_S * BITS_MAX / c->bitrate;
	return status;
}

/* ---- opening ---- */

static bool is_real(const char *bus)
{
	return strncmp(bus, "wire:", 5) != 0 && strncmp(bus, "vcan", 4) != 0;
}

/* The driver sends as the node "host": it needs another one that acknowledges. */
static int name_node(struct bus_map_bus *b)
{
	const size_t len = strlen(b->name);

	if (strncmp(b->name, "wire:", 5) != 0 || strchr(b->name, '@'))
		return 0;
	if (len + sizeof("@devices") > sizeof(b->name))
		return program_fail("%s: the name is too long", b->name);
	memcpy(b->name + len, "@devices", sizeof("@devices"));
	return 0;
}

static int open_report(struct replay_live *c)
{
	c->shown.to = c->report ? fopen(c->report, "we") : stdout;
	c->shown.names = c->names;
	return c->shown.to ? 0 : program_fail("--report: %s: %s", c->report, strerror(errno));
}

int replay_live_open(struct replay_live *c, struct bus_map *map)
{
	int status = 0;

	for (size_t i = 0; i < map->n; i++) {
		struct bus_map_entry *r = &map->entry[i];

		if (r->to && r->seen && !c->names[r->to - map->bus])
			c->names[r->to - map->bus] = r->from;
	}
	for (size_t i = 0; !status && i < map->buses; i++) {
		if (c->names[i] && c->channels && !c->force && is_real(map->bus[i].name))
			status = program_fail("--channels: %s is a real bus, on which references may move a device: "
					      "--force plays them anyway",
					      map->bus[i].name);
		c->names[i] = c->names[i] ? c->names[i] : "";
		if (!status)
			status = name_node(&map->bus[i]);
	}
	if (!status && c->channels)
		status = replay_live_refs_read(&c->refs, c->channels, &c->channel);
	if (!status)
		status = open_report(c);
	if (!status &&
	    replay_match_new(&c->loop, &c->rules, c->names, (unsigned int)map->buses, &c->options, &program_errors))
		status = EXIT_RETRY;
	return status;
}

int replay_live_add(struct replay_live *c, const struct bus_map *map, const struct bus_map_bus *to,
		    const struct log_record *r)
{
	if (r->frame.id & FRAME_ERR)
		return 0;
	return replay_match_add(c->loop, (unsigned int)(to - map->bus), &r->frame, r->t_ns, r->line)
		       ? program_fail("no memory left: --from and --until play a part of it")
		       : 0;
}

/* ---- steps ---- */

struct stepper {
	struct replay_live *c;
	FILE *from;
	enum { STEP_DIFFERENCE, STEP_FRAME, STEP_NEVER } until;
};

/* Stands still until a line comes.  On a virtual clock the robot stands still, too; on the real one the recording. */
static void step(struct stepper *s, const struct replay_match_event *e)
{
	char text[REPLAY_LIVE_REPORT_LINE_MAX], line[64];
	const int64_t since_ns = clock_now_ns();

	if (!s->from || s->until == STEP_NEVER || (s->until == STEP_DIFFERENCE && !e->counts))
		return;
	replay_live_report_line(&s->c->shown, e, text);
	program_say("%s", text);
	if (!fgets(line, sizeof(line), s->from))
		s->until = STEP_NEVER;
	else
		s->until = *line == 'c' ? STEP_NEVER : *line == 'n' ? STEP_FRAME : STEP_DIFFERENCE;
	replay_match_shift(s->c->loop, clock_now_ns() - since_ns);
}

static void on_event(void *to, const struct replay_match_event *e)
{
	struct stepper *s = to;
	const int status = replay_live_report_add(&s->c->shown, e);

	if (status)
		s->c->failed = status;
	step(s, e);
}

/* ---- playing ---- */

static void on_frame(void *to, const struct bus_map_bus *b, const struct bus_frame *got)
{
	struct replay_live *c = to;
	const int status = replay_match_heard(c->loop, (unsigned int)(b - c->sender->map->bus), &got->frame, got->t_ns);

	if (status)
		c->failed = status;
}

/* How long the frame is on the bus, without the space behind it. */
static int64_t frame_ns(const struct replay_live *c, const struct frame *f)
{
	struct bits bits;

	return bits_of(&bits, f) ? NS_PER_S * (bits.all - BITS_INTERFRAME) / c->bitrate : 0;
}

static int hold(struct replay_live *c, const struct replay_match_play *play)
{
	const struct replay_live_frame frame = { play->due_ns - frame_ns(c, play->frame), *play };
	size_t at = c->held_n;

	if (!grow(&c->held, &c->held_room, c->held_n + 1, sizeof(frame)))
		return program_fail("no memory left");
	for (; at && frame.send_ns < c->held[at - 1].send_ns; at--)
		c->held[at] = c->held[at - 1];
	c->held[at] = frame;
	c->held_n++;
	return 0;
}

/* All that is to be handed over now.  0, SENDER_STOP, or less than 0. */
static int send_due(struct replay_live *c)
{
	struct replay_match_play play;
	int stop = 0;

	while (replay_match_take(c->loop, clock_now_ns() + c->horizon_ns, &play))
		if (hold(c, &play))
			return -1;
	while (!stop && c->held_n && c->held[0].send_ns <= clock_now_ns()) {
		const struct replay_live_frame frame = c->held[0];
		const struct log_record r = { .frame = *frame.play.frame, .line = frame.play.item->line };

		memmove(c->held, c->held + 1, --c->held_n * sizeof(*c->held));
		stop = sender_send(c->sender, &c->sender->map->bus[frame.play.bus], &r, frame.send_ns);
	}
	return stop;
}

/* From stamps of the recording to the clock. */
static int64_t stamp_offset_ns(const struct replay_live *c)
{
	return c->loop->offset_ns - c->loop->first_ns;
}

/* When everything is reported ready to the supervisor: at once, or before the robot was armed in the recording: then
 * arm: auto arms it at about the same moment. */
static int64_t ready_ns(const struct replay_live *c)
{
	if (!c->refs.armed_ns)
		return 0;
	return c->loop->begun ? c->refs.armed_ns - ARMING_NS + stamp_offset_ns(c) : INT64_MAX;
}

static int64_t wake_ns(const struct replay_live *c, int64_t beat_ns, int64_t give_up_ns)
{
	const int64_t next_ns = replay_match_next_ns(c->loop);
	int64_t wake = num_min(beat_ns, replay_match_pass_ns(c->loop));

	if (next_ns != INT64_MAX)
		wake = num_min(wake, next_ns - c->horizon_ns);
	if (c->held_n)
		wake = num_min(wake, c->held[0].send_ns);
	if (!c->ready)
		wake = num_min(wake, ready_ns(c));
	if (c->loop->begun)
		return num_min(wake, replay_live_refs_next_ns(&c->refs, stamp_offset_ns(c)));
	return num_min(wake, give_up_ns);
}

/* 0, SENDER_STOP, or less than 0. */
static int play(struct replay_live *c, struct notify *notify)
{
	const int64_t give_up_ns = clock_now_ns() + c->wait_ns;
	int64_t beat_ns = clock_now_ns();
	bool begun = false;
	int stop = 0;

	while (!stop && !replay_match_over(c->loop, clock_now_ns())) {
		stop = sender_wait(c->sender, wake_ns(c, beat_ns, give_up_ns));
		if (stop)
			break;
		if (clock_now_ns() >= beat_ns) {
			notify_watchdog(notify, clock_now_ns());
			beat_ns = clock_now_ns() + NOTIFY_PERIOD_NS;
		}
		if (!c->ready && clock_now_ns() >= ready_ns(c)) {
			notify_ready(notify);
			c->ready = true;
		}
		if (!c->loop->begun && clock_now_ns() >= give_up_ns) {
			program_fail("no frame of the driver came within %g s: is it on this bus, and are these its "
				     "--frames?",
				     (double)c->wait_ns / 1e9);
			return -1;
		}
		if (c->loop->begun && !begun)
			replay_live_refs_begin(&c->refs, stamp_offset_ns(c), clock_now_ns());
		begun = c->loop->begun;
		replay_match_pass_time(c->loop, clock_now_ns());
		stop = send_due(c);
		if (begun && replay_live_refs_play(&c->refs, stamp_offset_ns(c), clock_now_ns()))
			return -1;
		if (c->failed) {
			program_fail("%s", strerror(-c->failed));
			return -1;
		}
	}
	return stop;
}

/* Do both recordings have the same clock? */
static int check_span(const struct replay_live *c)
{
	const int64_t first_ns = c->loop->first_ns;
	int64_t from_ns, until_ns;

	if (!replay_live_refs_span(&c->refs, &from_ns, &until_ns))
		return 0;
	if (c->loop->time_was_set)
		return program_fail(
			"--channels: the clock of the log was set while it was recorded, so references have "
			"no moment: --from and --until choose a part of it");
	if (until_ns < first_ns)
		return program_fail("--channels: %s ends %.1f s before the log begins: they are not of one run",
				    c->channels, (double)(first_ns - until_ns) / 1e9);
	return 0;
}

static int finish(struct replay_live *c, const struct sender_log *log)
{
	int status;

	c->shown.lost = log->lost;
	c->shown.references = c->refs.put;
	c->shown.early = c->refs.early;
	replay_match_finish(c->loop);
	status = c->json ? replay_live_report_json(&c->shown, c->loop) : replay_live_report_print(&c->shown, c->loop);
	if (c->report && fclose(c->shown.to) && !status)
		status = -errno;
	c->shown.to = NULL;
	if (status)
		return program_fail("cannot write: %s", strerror(-status));
	return c->shown.diff && c->loop->differences ? REPLAY_LIVE_DIFFERS : 0;
}

int replay_live_run(struct replay_live *c, struct sender *sender, const struct sender_log *log)
{
	struct stepper stepper = { .c = c };
	struct notify notify;
	int stop;

	c->sender = sender;
	sender->heard = on_frame;
	sender->heard_to = c;
	c->options.event = on_event;
	c->options.to = &stepper;
	if (c->step) {
		stepper.from = strcmp(c->step, "-") ? fopen(c->step, "re") : stdin;
		if (!stepper.from)
			return program_fail("--step: %s: %s", c->step, strerror(errno));
	}
	if (replay_match_prepare(c->loop))
		return program_fail("no memory left");
	if (check_span(c))
		return EXIT_RETRY;
	if (c->refs.armed_ns) {
		c->options.from_ns = c->refs.armed_ns - c->loop->first_ns - ARMING_BEFORE_NS;
		c->options.until_ns = c->refs.armed_ns - c->loop->first_ns + ARMING_AFTER_NS;
	}
	notify_open(&notify);
	replay_match_start(c->loop, clock_now_ns() + LEAD_NS);
	stop = play(c, &notify);
	notify_stopping(&notify);
	notify_close(&notify);
	if (stepper.from && stepper.from != stdin)
		fclose(stepper.from);
	return stop < 0 ? EXIT_RETRY : finish(c, log);
}

void replay_live_close(struct replay_live *c)
{
	replay_match_free(c->loop);
	replay_match_rules_free(&c->rules);
	replay_live_refs_close(&c->refs);
	replay_live_report_free(&c->shown);
	free(c->held);
}
