/* put.c: ach put: publishes a message, its header filled in as a client does it. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "channels/ach_ring.h"
#include "channels/clock.h"
#include "channels/tool/lines.h"
#include "channels/tool/span.h"
#include "channels/tool/tool.h"
#include "config/text.h"
#include "config/yaml.h"

#define PUT_INPUT_MAX (1u << 20)
#define PUT_ERROR_MAX 400
#define PUT_BAD_LINES 10      /* further ones are only counted */
#define PUT_LOOK_NS 500000000 /* how often a stream asks whether the channel was removed */

struct put {
	const char *json, *text, *hex, *type_name, *valid_ms, *for_s;
	double hz;

	const char *name; /* of the channel */
	ach_channel_t chan;
	int64_t valid_ns, for_ns;
	const struct msg_type *type; /* NULL: raw bytes */
	const struct msg_type *kept; /* that the channel is for; NULL: several, or nothing tells */
	bool kept_by_newest;	     /* the newest message told so, nothing else did */
	bool newest_told;	     /* and no other told the type of this message */
	char *input;		     /* what standard input said */
	uint8_t *bytes;
	size_t len;

	/* what the input says itself and is left alone */
	bool says_sample, says_publish, says_sequence, says_for;

	/* what goes on from one message to the next */
	bool has_sequence, has_incarnation;
	uint64_t sequence;
	uint32_t incarnation;

	uint64_t line, bad_lines; /* of standard input, one message each; 0: they are not */
};

static const struct settings_row rows[] = {
	SETTINGS_STRING("json", struct put, json, NULL, "the message; - reads one from each line of standard input",
			.value = "JSON"),
	SETTINGS_STRING("text", struct put, text, NULL, "the same as lines of field = value, as ach echo prints them",
			.value = "TEXT"),
	SETTINGS_STRING("hex", struct put, hex, NULL, "bytes that are no message of ours, in hexadecimal",
			.value = "HEX"),
	SETTINGS_STRING("type", struct put, type_name, NULL, "what it is, whatever the channel is for",
			.value = "TYPE"),
	SETTINGS_STRING("valid", struct put, valid_ms, NULL, "valid for that many milliseconds from each publication",
			.value = "MS"),
	SETTINGS_REAL("hz", struct put, hz, "", NULL, "0.001", "10000", "again and again, so often", .value = "N"),
	SETTINGS_STRING("for", struct put, for_s, NULL, "with --hz: for that many seconds; else until ^C",
			.value = "S"),
	SETTINGS_END,
};

static int usage(const char *what)
{
	tool_fail("%s", what);
	return TOOL_USAGE;
}

/* One line on stderr that names the line of the input, if it has several. */
__attribute__((format(printf, 2, 3))) static int refuse(const struct put *put, const char *fmt, ...)
{
	char what[ERROR_LINE_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	if (!put->line)
		return tool_fail("%s", what);
	if (put->bad_lines < PUT_BAD_LINES)
		tool_fail("line %" PRIu64 ": %s", put->line, what);
	return TOOL_FAILED;
}

/* ---- what to publish ---- */

static int read_input(struct put *put, const char **text)
{
	char *input = malloc(PUT_INPUT_MAX + 1);
	size_t len = 0;
	ssize_t n = 1;

	if (!input)
		return tool_fail("no memory");
	while (n > 0 && len < PUT_INPUT_MAX) {
		n = read(STDIN_FILENO, input + len, PUT_INPUT_MAX - len);
		len += n > 0 ? (size_t)n : 0;
	}
	input[len] = '\0';
	*text = put->input = input;
	if (n < 0)
		return tool_fail("cannot read standard input: %s", strerror(errno));
	if (n > 0)
		return tool_fail("standard input is longer than %u bytes", PUT_INPUT_MAX);
	return strlen(input) == len ? 0 : tool_fail("standard input is not text");
}

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)((at - digits) % 16) : -1;
}

static int take_hex(struct put *put)
{
	size_t n = strlen(put->hex);
	char quoted[TEXT_QUOTED_MAX];

	put->bytes = malloc(n / 2 + 1);
	if (!put->bytes)
		return tool_fail("no memory");
	for (; put->len < n / 2; put->len++) {
		int high = hex_digit(put->hex[2 * put->len]), low = hex_digit(put->hex[2 * put->len + 1]);

		if (high < 0 || low < 0)
			break;
		put->bytes[put->len] = (uint8_t)(high << 4 | low);
	}
	if (!n || n % 2 || put->len < n / 2)
		return tool_fail("--hex: %s is not pairs of hexadecimal digits such as DEADBEEF",
				 text_quote(quoted, put->hex));
	return 0;
}

/* Comments, such as the line that ach echo prints above a message, become empty lines. */
static char *without_comments(const char *text)
{
	char *copy = strdup(text);
	bool comment = false, start = true;

	for (char *c = copy; c && *c; c++) {
		if (start)
			comment = *c == '#';
		start = *c == '\n';
		if (comment && !start)
			*c = ' ';
	}
	return copy;
}

/* ---- which type ---- */

/* The newest message, if it is one of ours. */
static const struct msg_type *newest(ach_channel_t *chan, struct msg_header *h)
{
	const struct msg_type *type;
	uint8_t bytes[MSG_SIZE_MAX];
	size_t len;
	enum ach_status status = ach_get(chan, bytes, sizeof(bytes), &len, NULL, ACH_O_LAST | ACH_O_COPY);

	if ((status != ACH_OK && status != ACH_MISSED_FRAME) || msg_check(bytes, len, NULL, &type) != MSG_FINE)
		return NULL;
	memcpy(h, bytes, sizeof(*h));
	return type;
}

static int unknown_type(const struct put *put, const char *option, const char *name)
{
	char quoted[TEXT_QUOTED_MAX], all[256] = "";
	size_t at = 0;

	for (size_t i = 0; i < msg_types_n && at < sizeof(all); i++)
		at += (size_t)snprintf(all + at, sizeof(all) - at, "%s%s", i ? ", " : "", msg_types[i].name);
	return refuse(put, "%s: %s is no type of message; there are %s", option, text_quote(quoted, name), all);
}

/* Would ach mk --type make a channel like this one for it? */
static bool made_for(const ach_channel_t *chan, const struct msg_type *type)
{
	return type->body->size * chan->handle->count == tool_room(chan);
}

/* What the channel is for, by its name, its size or, where that fits several types or none, the newest message.  Not
 * by that first: one odd message, put by mistake, would be the type from then on. */
static void find_kept(struct put *put)
{
	const struct msg_type *last, *made = NULL;
	struct msg_header h;
	size_t n = 0;

	put->kept = msg_type_by_channel(put->name);
	if (put->kept)
		return;
	for (size_t i = 0; i < msg_types_n; i++)
		if (made_for(&put->chan, &msg_types[i])) {
			made = &msg_types[i];
			n++;
		}
	last = newest(&put->chan, &h);
	put->kept_by_newest = n != 1 && last && (!n || made_for(&put->chan, last));
	put->kept = n == 1 ? made : put->kept_by_newest ? last : NULL;
}

/* Is the channel for the type that the input says, or for none that we know? */
static int check_kept(const struct put *put)
{
	char all[256] = "";
	size_t at = 0;

	for (size_t i = 0; i < msg_types_n && at < sizeof(all); i++) {
		const struct msg_type *type = &msg_types[i];

		if (put->kept ? type != put->kept : !made_for(&put->chan, type))
			continue;
		if (type == put->type)
			return 0;
		at += (size_t)snprintf(all + at, sizeof(all) - at, "%s%s", at ? " or " : "", type->name);
	}
	if (!at)
		return 0;
	return refuse(put, "%s is for %s, and this is a message of type %s; --type %s puts it all the same", put->name,
		      all, put->type->name, put->type->name);
}

/* From the option; else from the input, if the channel is for it; else from the channel. */
static int find_type(struct put *put, const char *said)
{
	if (put->type_name) {
		put->type = msg_type_by_name(put->type_name);
		return put->type ? 0 : unknown_type(put, "--type", put->type_name);
	}
	if (!put->kept)
		find_kept(put);
	put->type = said ? msg_type_by_name(said) : put->kept;
	put->newest_told = put->kept_by_newest && !said;
	if (put->type)
		return check_kept(put);
	if (said)
		return unknown_type(put, "type", said);
	return refuse(put, "%s: nothing tells the type of the message; say --type, such as --type joint-ref",
		      put->name);
}

/* The type may be what is wrong with the fields. */
static int refuse_fields(const struct put *put, const char *error)
{
	if (!put->newest_told)
		return refuse(put, "%s", error);
	return refuse(put, "%s (the newest message in %s is of type %s; --type tells another)", error, put->name,
		      put->type->name);
}

/* ---- the fields ---- */

static void first_line(void *to, const char *line)
{
	if (!*(char *)to)
		snprintf(to, PUT_ERROR_MAX, "%s", line);
}

/* Does the JSON set that field of the header, nested or by its path? */
static bool json_says(const struct yaml_node *root, const char *field)
{
	char path[64];

	snprintf(path, sizeof(path), "header.%s", field);
	return yaml_find(yaml_find(root, "header"), field) || yaml_find(root, path);
}

static int take_json(struct put *put, const char *json)
{
	char error[PUT_ERROR_MAX] = "";
	struct error_sink errors = { first_line, error, 0 };
	const struct yaml_node *root, *said;
	struct yaml *doc;
	int status;

	if (yaml_open_text(&doc, "JSON", json, strlen(json), &errors))
		return refuse(put, "%s", error);
	root = yaml_root(doc);
	said = yaml_find(root, "type");
	put->says_sample = json_says(root, "t_sample_ns");
	put->says_publish = json_says(root, "t_publish_ns");
	put->says_sequence = json_says(root, "sequence");
	put->says_for = json_says(root, "for_incarnation");
	status = find_type(put, said && said->kind == YAML_TEXT ? said->text : NULL);
	if (!status && msg_from_node(put->type, put->bytes, root, error, sizeof(error)))
		status = refuse_fields(put, error);
	yaml_close(doc);
	return status;
}

/* Does a line of the text set that field of the header? */
static bool text_says(const char *text, const char *field)
{
	char path[64];

	snprintf(path, sizeof(path), "header.%s", field);
	for (; text; text = strchr(text, '\n'), text += text != NULL) {
		const char *at = text + strspn(text, " \t");
		size_t n = strlen(path);

		if (!strncmp(at, path, n) && at[n + strspn(at + n, " \t")] == '=')
			return true;
	}
	return false;
}

static int take_text(struct put *put)
{
	char error[PUT_ERROR_MAX] = "";
	char *text = without_comments(put->text);
	int status;

	if (!text)
		return tool_fail("no memory");
	put->says_sample = text_says(text, "t_sample_ns");
	put->says_publish = text_says(text, "t_publish_ns");
	put->says_sequence = text_says(text, "sequence");
	put->says_for = text_says(text, "for_incarnation");
	status = find_type(put, NULL);
	if (!status && msg_from_text(put->type, put->bytes, text, error, sizeof(error)))
		status = refuse_fields(put, error);
	free(text);
	return status;
}

/* ---- the header ---- */

/* A reference is meant for the driver that publishes NAME-state now; one that is started later refuses it. */
static uint32_t for_incarnation(const char *ref)
{
	char state[ACH_CHAN_NAME_MAX + 8];
	struct msg_header h = { 0 };
	size_t len = strlen(ref) - strlen("-ref");
	ach_channel_t chan;
	bool found = false;

	snprintf(state, sizeof(state), "%.*s-state", (int)len, ref);
	if (ach_open(&chan, state, NULL) == ACH_OK) {
		found = newest(&chan, &h);
		ach_close(&chan);
	}
	if (!found)
		tool_fail("%s: no message in %s, so for_incarnation is 0: any", ref, state);
	return h.incarnation;
}

static bool is_reference(const char *name)
{
	size_t len = strlen(name);

	return len > 4 && !strcmp(name + len - 4, "-ref");
}

/* What was not said goes on from the message before: the newest in the channel, then those of this process. */
static void fill_in_once(struct put *put)
{
	struct msg_header h, before;

	memcpy(&h, put->bytes, sizeof(h));
	if (put->says_sequence)
		put->sequence = h.sequence;
	else if (!put->has_sequence)
		put->sequence = newest(&put->chan, &before) == put->type ? before.sequence : 0;
	put->has_sequence = true;
	if (!put->says_for && is_reference(put->name)) {
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
	if (!put->says_sequence)
		h.sequence = ++put->sequence;
	if (!put->says_sample)
		h.t_sample_ns = now;
	if (!put->says_publish)
		h.t_publish_ns = now;
	if (put->valid_ns)
		h.valid_until_ns = now + put->valid_ns;
	memcpy(put->bytes, &h, sizeof(h));
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
				 tool_room(&put->chan));
	if (status == ACH_TIMEOUT)
		return tool_fail("%s: another writer is stopped in the middle of a message", put->name);
	return tool_refused(put->name, status);
}

/* At absolute times, so that the mean is exact; what was overslept is left out, never made up for in a burst. */
static int put_again(struct put *put)
{
	struct clock_fd stop = { .fd = tool_stop_fd(), .events = POLLIN };
	int64_t period = (int64_t)(1e9 / put->hz), start = clock_now_ns(), next = start;
	int64_t end = put->for_ns ? start + put->for_ns : CLOCK_NEVER;

	while (next < end) {
		int64_t now;
		int ready = clock_wait(&stop, 1, next);

		if (ready)
			return ready < 0 ? tool_fail("cannot wait: %s", strerror(-ready)) : 0;
		if (put_once(put))
			return TOOL_FAILED;
		next += period;
		now = clock_now_ns();
		if (now > next)
			next += (now - next) / period * period;
	}
	return 0;
}

static int was_removed(struct put *put)
{
	int unlinked = 0;

	if (ach_unlinked(&put->chan, &unlinked) == ACH_OK && !unlinked)
		return 0;
	return tool_fail("%s was removed", put->name);
}

/* Each line of standard input as it comes.  One that is wrong is left out, and the status is 1 then. */
static int put_lines(struct put *put)
{
	struct lines lines = { 0 };
	int64_t look_ns = clock_now_ns() + PUT_LOOK_NS;
	int r, status = 0;
	char *line;
	size_t len;

	while (!status && (r = lines_next(&lines, &line, &len)) > 0) {
		put->line = lines.number;
		if (!line[strspn(line, " \t\r")])
			continue;
		if (strlen(line) < len ? refuse(put, "is not text") : take_json(put, line)) {
			put->bad_lines++;
			continue;
		}
		put->len = put->type->body->size;
		fill_in_once(put);
		status = put_once(put);
		if (!status && clock_now_ns() >= look_ns) {
			look_ns = clock_now_ns() + PUT_LOOK_NS;
			status = was_removed(put);
		}
	}
	lines_free(&lines);
	if (!status && !r && !put->bad_lines && !put->has_sequence && !tool_stopped())
		status = tool_fail("no message on standard input");
	if (put->bad_lines > PUT_BAD_LINES)
		tool_fail("%" PRIu64 " lines were refused", put->bad_lines);
	return r < 0 || put->bad_lines ? TOOL_FAILED : status;
}

static int open_channel(struct put *put)
{
	const struct msg_type *type = put->type_name ? msg_type_by_name(put->type_name) : NULL;
	enum ach_status status = ach_open(&put->chan, put->name, NULL);

	if (status == ACH_OK)
		return 0;
	if (status != ACH_ENOENT)
		return tool_refused(put->name, status);
	if (!type)
		type = msg_type_by_channel(put->name);
	if (put->hex)
		return tool_fail("%s: no such channel; make it with: ach mk %s", put->name, put->name);
	return tool_fail("%s: no such channel; make it with: ach mk %s --type %s", put->name, put->name,
			 type			   ? type->name
			 : is_reference(put->name) ? "joint-ref"
						   : "TYPE");
}

/* What is there, of what kind, in put->bytes. */
static int take(struct put *put)
{
	if (put->hex)
		return take_hex(put);
	if (put->text && !strcmp(put->text, "-") && read_input(put, &put->text))
		return TOOL_FAILED;
	if (put->json ? take_json(put, put->json) : take_text(put))
		return TOOL_FAILED;
	put->len = put->type->body->size;
	fill_in_once(put);
	return 0;
}

static bool is_stream(const struct put *put)
{
	return put->json && !strcmp(put->json, "-");
}

static int check_line(struct put *put, const struct options *options)
{
	if (!put->json + !put->text + !put->hex != 2)
		return usage("say what to publish: one of --json, --text and --hex");
	if (put->hex && (put->type_name || put->valid_ms))
		return usage("--hex: raw bytes have no type and no validity");
	if (is_stream(put) && put->hz > 0)
		return usage("--hz repeats one message; --json - publishes each line as it comes");
	if (put->for_s && !options_given(options, "hz"))
		return usage("--for: how often? say --hz, too");
	if (span_read("--valid", put->valid_ms, "ms", &put->valid_ns) ||
	    span_read("--for", put->for_s, "s", &put->for_ns))
		return TOOL_USAGE;
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
	return put->hz > 0 ? put_again(put) : put_once(put);
}

int tool_put(int argc, char **argv)
{
	struct put put = { 0 };
	struct options options = { .program = "ach put",
				   .about = "publishes a message; its header is filled in",
				   .rows = rows,
				   .values = &put,
				   .arguments = "CHANNEL",
				   .arguments_min = 1,
				   .arguments_max = 1 };
	int status = tool_options(&options, &argc, argv);

	if (status != TOOL_GO)
		return status;
	status = check_line(&put, &options);
	if (status)
		return status;
	put.name = argv[0];
	if (open_channel(&put))
		return TOOL_FAILED;
	status = publish(&put);
	free(put.bytes);
	free(put.input);
	ach_close(&put.chan);
	return status;
}
