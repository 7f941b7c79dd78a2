/* put_input.c: ach put: the message that the input says, and of which type it is. */
#include <unistd.h>

#include "channels/ach/ach_ring.h"
#include "channels/clock/clock.h"
#include "channels/tool/put.h"
#include "config/settings/yaml.h"

int put_refuse(const struct put *put, const char *fmt, ...)
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
	return EXIT_RETRY;
}

/* ---- lines of standard input ---- */

/* An input_read, which ends with a signal, too. */
static ssize_t read_stdin(void *lines, void *bytes, size_t room)
{
	struct put_lines *l = lines;
	struct clock_fd fds[] = { { .fd = STDIN_FILENO, .events = POLLIN },
				  { .fd = clock_stop_fd(), .events = POLLIN } };
	ssize_t n;

	do {
		const int r = clock_wait(fds, 2, CLOCK_NEVER);

		if (r < 0)
			return r;
		l->stopped = fds[1].ready;
		n = l->stopped ? 0 : read(STDIN_FILENO, bytes, room);
	} while (n < 0 && (errno == EINTR || errno == EAGAIN));
	return n < 0 ? -errno : n;
}

static int give_line(struct put_lines *l, size_t len, size_t skip, char **line, size_t *line_len)
{
	*line = (char *)l->in.buf + l->in.start;
	(*line)[len] = '\0';
	*line_len = len;
	input_pass(&l->in, len + skip);
	l->searched = 0;
	l->number++;
	return 1;
}

int put_next_line(struct put_lines *l, char **line, size_t *len)
{
	struct input *in = &l->in;

	in->read = read_stdin;
	in->from = l;
	for (;;) {
		const size_t held = input_held(in);
		const uint8_t *from = in->buf + in->start;
		const uint8_t *newline = held ? memchr(from + l->searched, '\n', held - l->searched) : NULL;
		const size_t found = newline ? (size_t)(newline - from) : held;
		int r;

		if (found >= PUT_INPUT_MAX)
			return program_report(-1, "line %" PRIu64 " is longer than %u bytes", l->number + 1,
					      PUT_INPUT_MAX - 1);
		if (newline)
			return give_line(l, found, 1, line, len);
		l->searched = held;
		if (in->eof)
			return held && !l->stopped ? give_line(l, held, 0, line, len) : 0;
		r = input_hold(in, held + 1);
		if (r)
			return program_report(-1, "cannot read standard input: %s", strerror(-r));
	}
}

/* ---- what to publish ---- */

static int read_input(struct put *put, const char **text)
{
	int fd = STDIN_FILENO;
	struct input in = { .read = input_read_fd, .from = &fd };
	const int r = input_hold(&in, PUT_INPUT_MAX);

	*text = put->input = (char *)in.buf;
	if (r)
		return tool_fail("cannot read standard input: %s", strerror(-r));
	if (!in.eof)
		return tool_fail("standard input is longer than %u bytes", PUT_INPUT_MAX);
	in.buf[in.end] = '\0';
	return strlen(*text) == in.end ? 0 : tool_fail("standard input is not text");
}

int put_take_hex(struct put *put)
{
	const size_t n = strlen(put->hex);
	char quoted[TEXT_QUOTED_MAX], pair[3] = "";

	if (!n || n % 2 || strspn(put->hex, "0123456789abcdefABCDEF") < n)
		return tool_fail("--hex: %s is not pairs of hexadecimal digits such as DEADBEEF",
				 text_quote(quoted, put->hex));
	put->bytes = malloc(n / 2);
	if (!put->bytes)
		return tool_fail("no memory");
	for (; put->len < n / 2; put->len++) {
		memcpy(pair, put->hex + 2 * put->len, 2);
		put->bytes[put->len] = (uint8_t)strtoul(pair, NULL, 16);
	}
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

/* The newest message, if it is an Endplate message. */
const struct msg_type *put_newest(ach_channel_t *chan, struct msg_header *h)
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
	char unknown[TOOL_TYPES_MAX];

	return put_refuse(put, "%s: %s", option, tool_unknown_type(unknown, name));
}

/* Would ach mk --type make a channel like this one for it? */
static bool made_for(const ach_channel_t *chan, const struct msg_type *type)
{
	return type->body->size * chan->handle->count == chan->handle->lsize;
}

/* The type of the channel, by its name, its size or, where that fits several types or none, the newest message.  Not
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
	last = put_newest(&put->chan, &h);
	put->kept_by_newest = n != 1 && last && (!n || made_for(&put->chan, last));
	put->kept = n == 1 ? made : put->kept_by_newest ? last : NULL;
}

/* Is the channel for the type that the input says, or for none that we know? */
static int check_kept(const struct put *put)
{
	char all[256];
	struct text_out out = text_out(all, sizeof(all));

	for (size_t i = 0; i < msg_types_n; i++) {
		const struct msg_type *type = &msg_types[i];

		if (put->kept ? type != put->kept : !made_for(&put->chan, type))
			continue;
		if (type == put->type)
			return 0;
		text_add(&out, "%s%s", out.len ? " or " : "", type->name);
	}
	if (!out.len)
		return 0;
	return put_refuse(put, "%s is for %s, and this is a message of type %s; --type %s puts it all the same",
			  put->name, all, put->type->name, put->type->name);
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
	put->typed_by_newest = put->kept_by_newest && !said;
	if (put->type)
		return check_kept(put);
	if (said)
		return unknown_type(put, "type", said);
	return put_refuse(put, "%s: the type of the message is unknown; give it, such as --type joint-ref", put->name);
}

/* The type may be what is wrong with the fields. */
static int refuse_fields(const struct put *put, const char *error)
{
	if (!put->typed_by_newest)
		return put_refuse(put, "%s", error);
	return put_refuse(put, "%s (the newest message in %s is of type %s; --type gives another)", error, put->name,
			  put->type->name);
}

/* ---- the fields ---- */

static const char *const paths[PUT_FIELDS] = { "header.t_sample_ns", "header.t_publish_ns", "header.sequence",
					       "header.for_incarnation", "header.incarnation" };

int put_take_json(struct put *put, const char *json)
{
	char error[ERROR_LINE_MAX] = "";
	struct error_sink errors = { error_keep_last, error, 0 };
	const struct yaml_node *root, *said;
	struct yaml *doc;
	int status;

	if (yaml_open_text(&doc, "JSON", json, strlen(json), &errors))
		return put_refuse(put, "%s", error);
	root = yaml_root(doc);
	said = yaml_find(root, "type");
	for (size_t i = 0; i < PUT_FIELDS; i++) /* nested, or by its path */
		put->says[i] =
			yaml_find(yaml_find(root, "header"), strchr(paths[i], '.') + 1) || yaml_find(root, paths[i]);
	status = find_type(put, said && said->kind == YAML_TEXT ? said->text : NULL);
	if (!status && msg_from_node(put->type, put->bytes, root, error, sizeof(error)))
		status = refuse_fields(put, error);
	yaml_close(doc);
	return status;
}

/* Does a line of the text set that field? */
static bool text_says(const char *text, const char *path)
{
	for (; text; text = strchr(text, '\n'), text += text != NULL) {
		const char *at = text + strspn(text, " \t");
		size_t n = strlen(path);

		if (!strncmp(at, path, n) && at[n + strspn(at + n, " \t")] == '=')
			return true;
	}
	return false;
}

int put_take_text(struct put *put)
{
	char error[ERROR_LINE_MAX] = "";
	char *text;
	int status;

	if (!strcmp(put->text, "-") && read_input(put, &put->text))
		return EXIT_RETRY;
	text = without_comments(put->text);
	if (!text)
		return tool_fail("no memory");
	for (size_t i = 0; i < PUT_FIELDS; i++)
		put->says[i] = text_says(text, paths[i]);
	status = find_type(put, NULL);
	if (!status && msg_from_text(put->type, put->bytes, text, error, sizeof(error)))
		status = refuse_fields(put, error);
	free(text);
	return status;
}
