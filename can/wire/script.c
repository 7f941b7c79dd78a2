/* script.c: reads scripts.  See script.h; script_run.c runs them. */
#include "can/wire/script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "can/bits.h"
#include "can/frame_text.h"
#include "can/wire/fault.h"

#define NS_PER_S INT64_C(1000000000)
#define LINE_MAX_BYTES 512
#define BLANKS " \t\r\n"

struct reader {
	struct script *script;
	const char *path;
	struct error_sink *errors;
	unsigned int line, bus;
	int64_t t_ns;
	bool ended;
};

static void __attribute__((format(printf, 2, 3))) wrong(struct reader *r, const char *fmt, ...)
{
	char text[ERROR_LINE_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	error_add(r->errors, "%s:%u: %s", r->path, r->line, text);
}

static int add(struct reader *r, const struct script_line *line)
{
	struct script *s = r->script;

	if (s->n == s->room) {
		size_t room = s->room ? 2 * s->room : 64;
		struct script_line *lines = realloc(s->lines, room * sizeof(*lines));

		if (!lines)
			return -ENOMEM;
		s->lines = lines;
		s->room = room;
	}
	s->lines[s->n++] = *line;
	return 0;
}

/* The next word of *rest, cut off there; "" at the end. */
static char *word(char **rest)
{
	char *start = *rest + strspn(*rest, BLANKS);

	*rest = start + strcspn(start, BLANKS);
	if (**rest)
		*(*rest)++ = 0;
	return start;
}

/* Seconds with up to nine digits behind the point, perhaps in parentheses as candump writes them. */
static bool read_time(const char *text, int64_t *ns)
{
	const bool wrapped = *text == '(';
	int64_t s = 0, fraction = 0, unit = NS_PER_S;
	int digits = 0;

	for (text += wrapped; *text >= '0' && *text <= '9' && digits < 10; text++, digits++)
		s = 10 * s + (*text - '0');
	if (digits && *text == '.')
		for (text++; *text >= '0' && *text <= '9' && unit > 1; text++)
			fraction += (*text - '0') * (unit /= 10);
	if (wrapped && *text++ != ')')
		return false;
	*ns = s * NS_PER_S + fraction;
	return digits && s < NS_PER_S && !*text;
}

/* ---- one line ---- */

static const struct {
	const char *word;
	enum script_what what;
} node_words[] = {
	{ "attach", SCRIPT_ATTACH },
	{ "detach", SCRIPT_DETACH },
	{ "up", SCRIPT_UP },
	{ "down", SCRIPT_DOWN },
	{ "reset", SCRIPT_RESET },
	{ "restart", SCRIPT_RESTART },
	{ "restart-ms", SCRIPT_RESTART_MS },
	{ "queue", SCRIPT_QUEUE },
	{ "power", SCRIPT_FAULT },
	{ "connect", SCRIPT_FAULT },
	{ "disconnect", SCRIPT_FAULT },
};

static bool read_number(struct reader *r, struct script_line *line, const char *name, char **rest)
{
	const char *text = word(rest);
	char quoted[TEXT_QUOTED_MAX];
	int64_t n;

	if (text_int(text, &n) || n < (line->what == SCRIPT_QUEUE) ||
	    n > (line->what == SCRIPT_QUEUE ? ENGINE_QUEUE_MAX : 1000000)) {
		wrong(r, "%s %s is not from %d to %d", name, text_quote(quoted, text), line->what == SCRIPT_QUEUE,
		      line->what == SCRIPT_QUEUE ? ENGINE_QUEUE_MAX : 1000000);
		return false;
	}
	line->number = (uint32_t)n;
	return true;
}

static bool read_node(struct reader *r, struct script_line *line, char **rest)
{
	const char *verb = word(rest);
	char quoted[TEXT_QUOTED_MAX], text[64], why[FAULT_WHY_MAX];
	size_t i = 0;

	while (i < sizeof(node_words) / sizeof(node_words[0]) && strcmp(verb, node_words[i].word) != 0)
		i++;
	if (i == sizeof(node_words) / sizeof(node_words[0])) {
		wrong(r,
		      "node %s: %s: write attach, detach, up, down, reset, restart, restart-ms N, queue N, power off, "
		      "power on, connect or disconnect",
		      line->node, text_quote(quoted, verb));
		return false;
	}
	line->what = node_words[i].what;
	if (line->what == SCRIPT_RESTART_MS || line->what == SCRIPT_QUEUE)
		return read_number(r, line, verb, rest);
	if (line->what == SCRIPT_FAULT) {
		snprintf(text, sizeof(text), "%s %.8s %s", verb, strcmp(verb, "power") ? "" : word(rest), line->node);
		if (fault_read(&line->fault, text, why)) {
			wrong(r, "%s", why);
			return false;
		}
	}
	return true;
}

static bool read_frame(struct reader *r, struct script_line *line, char **rest)
{
	const char *text = word(rest), *problem = frame_text_read(&line->frame, text, strlen(text));
	char quoted[TEXT_QUOTED_MAX];
	struct bits bits;

	if (!problem && (!frame_valid(&line->frame) || !bits_of(&bits, &line->frame)))
		problem = "the wire takes classic frames only";
	if (problem)
		wrong(r, "%s is not a frame such as 123#DEADBEEF: %s", text_quote(quoted, text), problem);
	return !problem;
}

static bool read_name(struct reader *r, struct script_line *line, const char *name)
{
	char quoted[TEXT_QUOTED_MAX];

	if (!text_is_name(name)) {
		wrong(r, "%s is not the name of a node: letters, digits, _ . -", text_quote(quoted, name));
		return false;
	}
	snprintf(line->node, sizeof(line->node), "%s", name);
	return true;
}

/* A word that begins with # begins a comment. */
static void cut_comment(char *text)
{
	for (char *c = text; *c; c++) {
		if (strchr("\r\n", *c) || (*c == '#' && (c == text || strchr(BLANKS, c[-1])))) {
			*c = 0;
			return;
		}
	}
}

/* Behind the time. */
static bool read_what(struct reader *r, struct script_line *line, char **rest)
{
	const char *who = word(rest);
	char why[FAULT_WHY_MAX];

	if (!*who) {
		wrong(r,
		      "nothing behind the time: write TIME NODE FRAME, TIME fault ..., TIME node NODE ... or TIME end");
		return false;
	}
	if (!strcmp(who, "end")) {
		line->what = SCRIPT_END;
		r->ended = true;
		return true;
	}
	if (!strcmp(who, "fault")) {
		line->what = SCRIPT_FAULT;
		cut_comment(*rest);
		if (fault_read(&line->fault, *rest, why)) {
			wrong(r, "%s", why);
			return false;
		}
		*rest += strlen(*rest);
		return true;
	}
	if (!strcmp(who, "node"))
		return read_name(r, line, word(rest)) && read_node(r, line, rest);
	line->what = SCRIPT_FRAME;
	return read_name(r, line, who) && read_frame(r, line, rest);
}

static void read_bus(struct reader *r, const char *name)
{
	char quoted[TEXT_QUOTED_MAX];

	for (unsigned int i = 0; i < r->script->buses; i++) {
		if (!strcmp(r->script->bus[i], name)) {
			r->bus = i;
			return;
		}
	}
	wrong(r, "bus %s is not among those that run", text_quote(quoted, name));
}

static int read_line(struct reader *r, char *text)
{
	struct script_line line = { .line = r->line };
	char quoted[TEXT_QUOTED_MAX], *rest = text, *first = word(&rest);

	if (!*first || *first == '#')
		return 0;
	if (!strcmp(first, "bus")) {
		read_bus(r, word(&rest));
	} else if (!read_time(first, &line.t_ns)) {
		wrong(r, "%s is not a time in seconds such as 0.001000", text_quote(quoted, first));
		return 0;
	} else if (r->ended) {
		wrong(r, "behind the line with end");
		return 0;
	} else if (line.t_ns < r->t_ns) {
		wrong(r, "%s lies before the line above it: put lines in order of time", first);
		return 0;
	} else {
		line.bus = r->bus;
		r->t_ns = line.t_ns;
		if (!read_what(r, &line, &rest))
			return 0;
		if (add(r, &line))
			return -ENOMEM;
	}
	first = word(&rest);
	if (*first && *first != '#')
		wrong(r, "%s is too much", text_quote(quoted, first));
	return 0;
}

/* ---- the file ---- */

static const struct script_node *find_node(const struct script *s, unsigned int bus, const char *name)
{
	for (unsigned int i = 0; i < s->nodes_n[bus]; i++)
		if (!strcmp(s->nodes[bus][i].name, name))
			return &s->nodes[bus][i];
	return NULL;
}

/* The nodes of each bus, and whether they are attached later. */
static void list_nodes(struct reader *r)
{
	struct script *s = r->script;

	for (size_t i = 0; i < s->n; i++) {
		const struct script_line *line = &s->lines[i];
		struct script_node *node = &s->nodes[line->bus][s->nodes_n[line->bus]];

		if (!line->node[0] || find_node(s, line->bus, line->node))
			continue;
		r->line = line->line;
		if (s->nodes_n[line->bus] == ENGINE_NODES) {
			wrong(r, "%s: a bus has at most %d nodes", line->node, ENGINE_NODES);
			return;
		}
		s->nodes_n[line->bus]++;
		memcpy(node->name, line->node, sizeof(node->name));
		node->later = line->what == SCRIPT_ATTACH;
	}
	/* A node that only faults name is a typing error. */
	for (size_t i = 0; i < s->n; i++) {
		const struct script_line *line = &s->lines[i];

		if (line->what != SCRIPT_FAULT || !line->fault.node[0] || find_node(s, line->bus, line->fault.node))
			continue;
		r->line = line->line;
		wrong(r, "there is no node %s: no other line of this bus names it", line->fault.node);
	}
}

static int read_file(struct reader *r, FILE *file)
{
	char text[LINE_MAX_BYTES];
	int status = 0;

	while (!status && fgets(text, sizeof(text), file)) {
		r->line++;
		if (strlen(text) == sizeof(text) - 1 && text[sizeof(text) - 2] != '\n') {
			wrong(r, "a line of more than %zu bytes", sizeof(text) - 2);
			return -EINVAL;
		}
		status = read_line(r, text);
	}
	if (!status && ferror(file))
		status = -errno;
	return status;
}

int script_open(struct script *script, const char *path, const char *const *buses, unsigned int n,
		struct error_sink *errors)
{
	const unsigned int before = errors->count;
	struct reader r = { .script = script, .path = path, .errors = errors };
	const bool standard = !strcmp(path, "-");
	FILE *file;
	int status;

	*script = (struct script){ .buses = n };
	if (!n || n > SCRIPT_BUSES_MAX)
		return -EINVAL;
	for (unsigned int i = 0; i < n; i++)
		snprintf(script->bus[i], sizeof(script->bus[i]), "%s", buses[i]);
	file = standard ? stdin : fopen(path, "re");
	if (!file) {
		status = -errno;
		error_add(errors, "unable to open %s: %m", path);
		return status;
	}
	status = read_file(&r, file);
	if (status && errors->count == before)
		error_add(errors, "unable to read %s: %s", path, strerror(-status));
	if (!standard)
		fclose(file);
	if (!status)
		list_nodes(&r);
	if (!status && errors->count != before)
		status = -EINVAL;
	if (status)
		script_close(script);
	return status;
}

void script_close(struct script *script)
{
	free(script->lines);
	*script = (struct script){ 0 };
}
