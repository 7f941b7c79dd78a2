/* put.c: ach put: publishes a message, its header filled in as a client does it. */
#include <unistd.h>

#include "channels/ach/ach_ring.h"
#include "channels/clock/clock.h"
#include "channels/tool/put.h"

#define PUT_CHECK_NS 500000000 /* between two checks whether the channel was removed */

static const struct settings_row rows[] = {
	SETTINGS_STRING("json", struct put, json, NULL, "the message; - reads one from each line of standard input",
			.value = "JSON"),
	SETTINGS_STRING("text", struct put, text, NULL, "the same as lines of field = value, as ach echo prints them",
			.value = "TEXT"),
	SETTINGS_STRING("hex", struct put, hex, NULL, "any bytes, in hexadecimal", .value = "HEX"),
	SETTINGS_STRING("type", struct put, type_name, NULL, "type of the message, whatever the channel is for",
			.value = "TYPE"),
	SETTINGS_TIME("valid", struct put, valid_ns, "ms", NULL, "1ns", NULL,
		      "valid for that many milliseconds from each publication", .value = "MS"),
	SETTINGS_REAL("hz", struct put, hz, "", NULL, "0.001", "10000", "repeat at N Hz", .value = "N"),
	SETTINGS_TIME("for", struct put, for_ns, "s", NULL, "1ns", NULL,
		      "with --hz: for that many seconds; else until ^C", .value = "S"),
	TOOL_ROBOT(struct put),
	SETTINGS_END,
};

/* ---- the header ---- */

/* A reference is meant for the driver that publishes NAME-state now; a driver that starts later refuses it.  Those of
 * NAME.SOURCE-ref are, too. */
static uint32_t for_incarnation(const char *ref)
{
	char state[ACH_CHAN_NAME_MAX + 8];
	struct msg_header h = { 0 };
	size_t len = strlen(ref) - strlen("-ref");
	const char *dot = memrchr(ref, '.', len);
	ach_channel_t chan;
	enum ach_status status;
	bool found = false;

	snprintf(state, sizeof(state), "%.*s-state", (int)len, ref);
	status = ach_open(&chan, state, NULL);
	if (status != ACH_OK && dot) {
		snprintf(state, sizeof(state), "%.*s-state", (int)(dot - ref), ref);
		status = ach_open(&chan, state, NULL);
	}
	if (status == ACH_OK) {
		found = put_newest(&chan, &h);
		ach_close(&chan);
	}
	if (!found)
		tool_fail("%s: no message in %s, so for_incarnation is 0: any", ref, state);
	return h.incarnation;
}

/* Fields that were not given continue from the previous message: the newest in the channel, then our own. */
static void fill_in_once(struct put *put)
{
	struct msg_header h, before;

	memcpy(&h, put->bytes, sizeof(h));
	if (put->says[PUT_SEQUENCE])
		put->sequence = h.sequence;
	else if (!put->has_sequence)
		put->sequence = put_newest(&put->chan, &before) == put->type ? before.sequence : 0;
	put->has_sequence = true;
	if (!put->says[PUT_FOR] && text_ends_with(put->name, "-ref")) {
		if (!put->has_incarnation)
			put->incarnation = for_incarnation(put->name);
		put->has_incarnation = true;
		h.for_incarnation = put->incarnation;
	}
	memcpy(put->bytes, &h, sizeof(h));
}

/* For each publication. */
static void fill_in(struct put *put)
{
	struct msg_header h;
	int64_t now = clock_now_ns();

	memcpy(&h, put->bytes, sizeof(h));
	if (!put->says[PUT_SEQUENCE])
		h.sequence = ++put->sequence;
	if (!put->says[PUT_SAMPLE])
		h.t_sample_ns = now;
	if (!put->says[PUT_PUBLISH])
		h.t_publish_ns = now;
	if (put->valid_ns)
		h.valid_until_ns = now + put->valid_ns;
	if (put->watch.on && !put->says[PUT_WRITER])
		h.incarnation = (uint32_t)getpid();
	memcpy(put->bytes, &h, sizeof(h));
	put_watch_judge(&put->watch, put->bytes, put->len, now);
}

/* ---- refusals ---- */

/* Says what to write instead, as words of this command line. */
static const char *hint(const struct put *put, char text[TOOL_TYPES_MAX])
{
	const double max_ms = (double)put->watch.known.valid_max_ns / 1e6;

	*text = 0;
	if (strstr(put->watch.why, "valid") && max_ms > 0)
		snprintf(text, TOOL_TYPES_MAX, ", as --valid %.4g --hz %.4g", max_ms, 2000 / max_ms);
	return text;
}

static int refused(const struct put *put)
{
	char text[TOOL_TYPES_MAX];

	return tool_fail("%s: refused: %s%s", put->name, put->watch.why, hint(put, text));
}

/* The first of those that are repeated is reported at once, the others are counted. */
static void watch_on(struct put *put)
{
	const uint64_t before = put->watch.count;

	if (put_watch_look(&put->watch) && !before)
		refused(put);
}

static int sum_up(const struct put *put)
{
	char text[TOOL_TYPES_MAX];

	if (put->watch.count < 2)
		return put->watch.count ? EXIT_RETRY : 0;
	return tool_fail("%s: %" PRIu64 " were refused, the last: %s%s", put->name, put->watch.count, put->watch.why,
			 hint(put, text));
}

/* ---- publishing ---- */

static int put_once(struct put *put)
{
	enum ach_status status;

	if (put->type)
		fill_in(put);
	status = ach_put(&put->chan, put->bytes, put->len);
	if (status == ACH_OK)
		return 0;
	if (status == ACH_OVERFLOW)
		return tool_fail("%s: the message has %zu bytes, but the channel has room for %zu", put->name, put->len,
				 put->chan.handle->lsize);
	if (status == ACH_TIMEOUT)
		return tool_fail("%s: another writer is stopped in the middle of a message", put->name);
	return chan_refused(put->name, status);
}

/* Twice a second: was the channel removed? */
static bool was_removed(struct put *put)
{
	int unlinked = 0;

	if (clock_own_ns() < put->check_ns)
		return false;
	put->check_ns = clock_own_ns() + PUT_CHECK_NS;
	return ach_unlinked(&put->chan, &unlinked) != ACH_OK || unlinked;
}

/* A robot that is started again has made another channel. */
static void follow_channel(struct put *put)
{
	ach_channel_t chan;

	if (!was_removed(put) || ach_open(&chan, put->name, NULL) != ACH_OK)
		return;
	ach_close(&put->chan);
	put->chan = chan;
}

/* At absolute times, so that the mean is exact; what was overslept is left out, never made up for in a burst. */
static int repeat(struct put *put)
{
	struct clock_fd stop = { .fd = clock_stop_fd(), .events = POLLIN };
	int64_t period = (int64_t)(1e9 / put->hz), start = clock_now_ns(), next = start;
	int64_t end = put->for_ns ? start + put->for_ns : CLOCK_NEVER, jumped = clock_jumped_ns();

	while (next < end) {
		int64_t now;
		int ready = clock_wait(&stop, 1, next);

		if (ready)
			return ready < 0 ? tool_fail("cannot wait: %s", strerror(-ready)) : 0;
		now = clock_now_ns();
		if (clock_is_due(next, now, period)) {
			follow_channel(put);
			watch_on(put);
			if (put_once(put))
				return EXIT_RETRY;
			next = now < next ? now + period : next + period;
			now = clock_now_ns();
			if (now > next)
				next += (now - next) / period * period;
		}
		end = clock_moved(end, clock_jumped_ns() - jumped);
		jumped = clock_jumped_ns();
	}
	return 0;
}

static int put_again(struct put *put)
{
	const int status = repeat(put);

	if (put_watch_wait(&put->watch) && put->watch.count == 1)
		refused(put);
	return status ? status : sum_up(put);
}

/* Each line of standard input as it comes.  A wrong line is skipped, and the status is 1 then. */
static int put_lines(struct put *put)
{
	struct put_lines lines = { 0 };
	int r, status = 0;
	char *line;
	size_t len;

	while (!status && (r = put_next_line(&lines, &line, &len)) > 0) {
		put->line = lines.number;
		if (!line[strspn(line, " \t\r")])
			continue;
		if (strlen(line) < len ? put_refuse(put, "is not text") : put_take_json(put, line)) {
			put->bad_lines++;
			continue;
		}
		put->len = put->type->body->size;
		fill_in_once(put);
		watch_on(put);
		status = put_once(put);
		if (!status && was_removed(put))
			status = tool_fail("%s was removed", put->name);
	}
	free(lines.in.buf);
	if (!status && !r && !put->bad_lines && !put->has_sequence && !tool_stopped())
		status = tool_fail("no message on standard input");
	if (put->bad_lines > PUT_BAD_LINES)
		tool_fail("%" PRIu64 " lines were refused", put->bad_lines);
	if (put_watch_wait(&put->watch) && put->watch.count == 1)
		refused(put);
	if (!status)
		status = sum_up(put);
	return r < 0 || put->bad_lines ? EXIT_RETRY : status;
}

static int open_channel(struct put *put)
{
	const struct msg_type *type = put->type_name ? msg_type_by_name(put->type_name) : NULL;
	enum ach_status status = ach_open(&put->chan, put->name, NULL);

	if (status == ACH_OK)
		return 0;
	if (status != ACH_ENOENT)
		return chan_refused(put->name, status);
	if (!type)
		type = msg_type_by_channel(put->name);
	if (put->hex)
		return tool_fail("%s: no such channel; make it with: ach mk %s", put->name, put->name);
	if (!type && text_ends_with(put->name, "-ref"))
		type = msg_type_by_name("joint-ref");
	return tool_fail("%s: no such channel; make it with: ach mk %s --type %s", put->name, put->name,
			 type ? type->name : "TYPE");
}

/* Reads the input into put->bytes. */
static int take(struct put *put)
{
	if (put->hex)
		return put_take_hex(put);
	if (put->json ? put_take_json(put, put->json) : put_take_text(put))
		return EXIT_RETRY;
	put->len = put->type->body->size;
	fill_in_once(put);
	return 0;
}

static bool is_stream(const struct put *put)
{
	return put->json && !strcmp(put->json, "-");
}

static int check_line(const struct put *put)
{
	if (!put->json + !put->text + !put->hex != 2)
		return program_report(EXIT_WRONG, "say what to publish: one of --json, --text and --hex");
	if (put->hex && (put->type_name || put->valid_ns))
		return program_report(EXIT_WRONG, "--hex: raw bytes have no type and no validity");
	if (is_stream(put) && put->hz > 0)
		return program_report(EXIT_WRONG, "--hz repeats one message; --json - publishes each line as it comes");
	if (put->for_ns && !(put->hz > 0))
		return program_report(EXIT_WRONG, "--for: how often? say --hz, too");
	return 0;
}

static int publish(struct put *put)
{
	int status;

	put->bytes = put->hex ? NULL : calloc(1, MSG_SIZE_MAX);
	if (!put->bytes && !put->hex)
		return tool_fail("no memory");
	if (is_stream(put))
		return put_lines(put);
	status = take(put);
	if (status)
		return status;
	if (put->hz > 0)
		return put_again(put);
	status = put_once(put);
	return !status && put_watch_wait(&put->watch) ? refused(put) : status;
}

static int run(void *values, int argc, char **argv)
{
	struct put *put = values;
	int status = check_line(put);

	if (!status)
		status = names_find(put->robot, argv, argc, false);
	if (status)
		return status;
	put->name = argv[0];
	if (open_channel(put))
		return EXIT_RETRY;
	put->check_ns = clock_own_ns() + PUT_CHECK_NS;
	if (!put->hex)
		put_watch_open(&put->watch, put->name);
	status = publish(put);
	put_watch_close(&put->watch);
	free(put->bytes);
	free(put->input);
	ach_close(&put->chan);
	return status;
}

TOOL_COMMAND(put, run, rows, struct put, "CHANNEL", 1, 1, "publishes a message; its header is filled in", NULL);
