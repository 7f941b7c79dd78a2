/* echo.c: ach echo: the messages of a channel or a recording, by their fields where they are ours. */
#include <ctype.h>
#include <unistd.h>

#include "channels/ach/ach_file.h"
#include "channels/clock/clock.h"
#include "channels/rec/recfile.h"
#include "channels/tool/tool.h"

#define ECHO_BATCH 256 /* messages between two checks for a signal */

struct echo {
	bool last, follow, json;
	int64_t count;
	struct settings_strings only;
	const char *robot;
	bool colour;
	struct reclog_channel channels[RECLOG_CHANNELS_MAX]; /* of a recording, by their numbers */
};

/* A message and the facts for its title. */
struct echo_message {
	const uint8_t *bytes;
	size_t len;
	uint64_t number, missed;
	int64_t now_ns; /* for its age; 0: it is from a file */
};

static const struct settings_row rows[] = {
	SETTINGS_BOOL("last", struct echo, last, "no", "the newest message only"),
	SETTINGS_BOOL("follow", struct echo, follow, "no", "every message from now on, until ^C"),
	SETTINGS_INT("count", struct echo, count, "", NULL, "1", NULL,
		     "that many messages: the newest, or with --follow the next", .value = "N"),
	SETTINGS_BOOL("json", struct echo, json, "no", "a line of JSON per message"),
	SETTINGS_STRINGS("only", struct echo, only, "print only that channel of a recording", .value = "CHANNEL"),
	TOOL_ROBOT(struct echo),
	SETTINGS_END,
};

/* ---- a message of another type ---- */

static void print_hex_dump(const uint8_t *bytes, size_t len)
{
	for (size_t row = 0; row < len; row += 16) {
		char seen[17] = "";

		out_text("%06zx ", row);
		for (size_t i = row; i < row + 16; i++) {
			if (i >= len) {
				out_text(i % 8 ? "   " : "    ");
				continue;
			}
			out_text(i % 8 ? " %02x" : "  %02x", bytes[i]);
			seen[i - row] = isprint(bytes[i]) ? (char)bytes[i] : '.';
		}
		out_text("  |%s|\n", seen);
	}
}

/* Does it have the header of an Endplate message?  Then the reason for refusing it is worth reporting. */
static bool has_our_header(enum msg_refusal why)
{
	return why == MSG_OTHER_VERSION || why == MSG_OTHER_SIZE;
}

/* ---- one message ---- */

static void json_hex(struct json *j, const uint8_t *bytes, size_t len)
{
	json_raw(j, "hex", "\"");
	for (size_t i = 0; i < len; i++)
		fprintf(j->to, "%02x", bytes[i]);
	fputc('"', j->to);
}

static void message_json(struct json *j, const char *name, const struct echo_message *m)
{
	const struct msg_type *type;
	enum msg_refusal why = msg_check(m->bytes, m->len, NULL, &type);
	char text[256];

	if (why == MSG_FINE) {
		msg_json(j, name, type, m->bytes);
		return;
	}
	json_object(j, name);
	if (has_our_header(why)) {
		msg_refusal_text(text, sizeof(text), why, m->bytes, m->len, NULL);
		json_text(j, "refused", text);
	}
	json_hex(j, m->bytes, m->len);
	json_end(j);
}

/* The line above a message; msg_from_text is never given it: ach put takes lines with a # for comments. */
static void print_title(const struct echo *echo, const char *channel, const struct echo_message *m, const char *what)
{
	out_text("%s# %s%s%" PRIu64 ": %s%s\n", echo->colour ? "\033[1m" : "", channel, *channel ? " " : "", m->number,
		 what, echo->colour ? "\033[0m" : "");
}

static void message_text(const struct echo *echo, const char *channel, const struct echo_message *m)
{
	const struct msg_type *type;
	enum msg_refusal why = msg_check(m->bytes, m->len, NULL, &type);
	char what[256], age[DURATION_TEXT_MAX];
	struct msg_header h;

	if (why == MSG_FINE) {
		memcpy(&h, m->bytes, sizeof(h));
		if (h.t_publish_ns > 0 && h.t_publish_ns <= m->now_ns)
			snprintf(what, sizeof(what), "%s, %s old", type->name,
				 duration_text(age, m->now_ns - h.t_publish_ns));
		else
			snprintf(what, sizeof(what), "%s", type->name);
		print_title(echo, channel, m, what);
		msg_text(out_file(), type, m->bytes);
		return;
	}
	if (has_our_header(why))
		msg_refusal_text(what, sizeof(what), why, m->bytes, m->len, NULL);
	else
		snprintf(what, sizeof(what), "%zu bytes", m->len);
	print_title(echo, channel, m, what);
	print_hex_dump(m->bytes, m->len);
}

static void print_missed(const struct echo *echo, const char *channel, uint64_t missed)
{
	struct json j = json_to(out_file());
	char shown[ACH_CHAN_NAME_MAX];

	if (!echo->json) {
		out_flush();
		snprintf(shown, sizeof(shown), "%s", channel);
		utf8_clean(shown);
		fprintf(stderr, "-- %s%s%" PRIu64 " missed --\n", shown, *shown ? ": " : "", missed);
		return;
	}
	json_object(&j, NULL);
	if (*channel)
		json_text(&j, "channel", channel);
	json_uint(&j, "missed", missed);
	json_end(&j);
	out_text("\n");
}

static void print_message(const struct echo *echo, const struct follow *f)
{
	const struct echo_message m = {
		.bytes = f->bytes, .len = f->len, .number = f->chan.seq_num, .now_ns = clock_now_ns()
	};

	if (f->missed)
		print_missed(echo, "", f->missed);
	if (echo->json) {
		struct json j = json_to(out_file());

		message_json(&j, NULL, &m);
		out_text("\n");
	} else {
		message_text(echo, "", &m);
	}
}

/* ---- all of them ---- */

static uint64_t newest_asked(const struct echo *echo)
{
	return echo->last ? 1 : echo->count ? (uint64_t)echo->count : UINT64_MAX;
}

/* Up to the newest at the start, so that a fast writer does not make it endless, or for ever. */
static int echo_messages(const struct echo *echo, struct follow *f, uint64_t newest)
{
	int64_t left = echo->count ? echo->count : INT64_MAX;
	int r, stop;

	do {
		r = 0;
		for (int i = 0; i < ECHO_BATCH && left && (echo->follow || f->chan.seq_num < newest); i++) {
			r = follow_next(f);
			if (r <= 0)
				break;
			print_message(echo, f);
			left--;
		}
		if (out_flush())
			return out_end();
		if (r < 0 || !left || (!echo->follow && (!r || f->chan.seq_num >= newest)))
			break;
		r = stop = follow_wait(f, 1, CLOCK_NEVER);
	} while (!stop);
	return r < 0 ? EXIT_RETRY : 0;
}

/* ---- those of a recording ---- */

/* Is name that of a recording, where the channel would be called so?  If there is no such channel. */
static bool is_file(const char *name, const char *channel)
{
	char path[ACH_FILE_PATH_LEN];

	if (access(name, F_OK))
		return false;
	if (ach_file_check_name(channel) != ACH_OK)
		return true;
	ach_file_channel_path(path, channel);
	return access(path, F_OK) != 0;
}

static bool wanted(const struct echo *echo, const struct reclog_channel *c)
{
	for (size_t i = 0; i < echo->only.n; i++)
		if (!strcmp(echo->only.item[i], c->name))
			return true;
	return !echo->only.n;
}

static void print_recorded(const struct echo *echo, const struct reclog_record *r, const struct reclog_channel *c)
{
	struct echo_message m = { .bytes = r->body, .len = r->len, .number = r->number };
	struct json j = json_to(out_file());
	char shown[sizeof(c->name)];

	if (!echo->json) {
		message_text(echo, recfile_name(shown, c), &m);
		return;
	}
	json_object(&j, NULL);
	json_text(&j, "channel", c->name);
	json_uint(&j, "number", r->number);
	json_int(&j, "t_ns", r->t_ns);
	message_json(&j, "message", &m);
	json_end(&j);
	out_text("\n");
}

/* Prints, or else counts, what is wanted behind the first skip messages; *n: how many.  0 or EXIT_RETRY. */
static int each_recorded(struct echo *echo, struct recfile *file, uint64_t skip, bool print, uint64_t *n)
{
	struct reclog_record r;
	int found = 0, stop = 0;

	*n = 0;
	while (!stop && (found = recfile_next(file, &r)) > 0) {
		struct reclog_channel *c = &echo->channels[r.channel];

		if (r.kind == RECLOG_CHANNEL)
			reclog_channel_read(c, &r);
		else if (!*c->name)
			strcpy(c->name, "?"); /* its description was damaged */
		if (!wanted(echo, c))
			continue;
		if (r.kind == RECLOG_LOSS && print && *n >= skip)
			print_missed(echo, c->name, r.number);
		if (r.kind != RECLOG_MESSAGE || ++*n <= skip || !print)
			continue;
		print_recorded(echo, &r, c);
		stop = *n % ECHO_BATCH ? 0 : out_flush();
	}
	if (!stop && print)
		stop = out_flush();
	return found < 0 || (stop && stop != -ECANCELED) ? EXIT_RETRY : 0;
}

/* The first pass counts, and says nothing. */
static int skip_to(struct echo *echo, struct recfile *file, uint64_t newest, uint64_t *skip)
{
	uint64_t n;

	if (!file->twice)
		return tool_fail("%s: cannot be read twice, so there is no --last and no --count", file->path);
	file->quiet = true;
	if (each_recorded(echo, file, 0, false, &n) || recfile_rewind(file))
		return EXIT_RETRY;
	memset(echo->channels, 0, sizeof(echo->channels));
	*skip = n > newest ? n - newest : 0;
	return 0;
}

static int echo_recording(struct echo *echo, const char *path)
{
	uint64_t n = 0, newest = newest_asked(echo), skip = 0;
	struct recfile file;
	int status;

	if (echo->follow)
		return tool_fail("%s: --follow is for channels, and this is a recording", path);
	clock_stop_fd();
	status = recfile_open(&file, path);
	if (!status && newest != UINT64_MAX)
		status = skip_to(echo, &file, newest, &skip);
	if (!status)
		status = each_recorded(echo, &file, skip, true, &n);
	if (!status && !n)
		status = tool_fail(echo->only.n ? "%s: no message of that channel" : "%s: no message", path);
	return recfile_close(&file) ? EXIT_RETRY : status;
}

/* ---- the command ---- */

static int run(void *values, int argc, char **argv)
{
	struct echo *echo = values;
	uint64_t newest, before = newest_asked(echo);
	const char *given = argv[0];
	struct follow f;
	int status;

	echo->colour = tool_colour(stdout);
	if (strchr(given, '/'))
		return echo_recording(echo, given);
	status = names_find(echo->robot, argv, argc, false);
	if (is_file(given, argv[0]))
		return echo_recording(echo, given);
	if (status)
		return status;
	if (echo->only.n)
		return program_report(EXIT_WRONG, "--only: %s is a channel; --only chooses among those of a recording",
				      argv[0]);
	if (follow_open(&f, argv[0]))
		return EXIT_RETRY;
	newest = follow_from(&f, echo->follow ? echo->last : before);
	if (!newest && echo->follow && tool_is_terminal(stderr))
		program_say("%s: no message yet; waiting for the first", f.name);
	if (!newest && !echo->follow)
		status = tool_fail("%s: no message yet (--follow waits for the first)", f.name);
	else
		status = echo_messages(echo, &f, newest);
	follow_close(&f);
	return status;
}

TOOL_COMMAND(echo, run, rows, struct echo, "CHANNEL|FILE", 1, 1, "prints the messages of a channel or of a recording",
	     "Without --last and --follow: all messages that the channel retains, or the file has.\n"
	     "A name with a slash is a file, as is the name of a file if no channel has it.\n");
