/* script.c: reads scripts.  See script.h; script_run.c runs them. */
#include "can/wire/script.h"

#include "can/log/log.h"
#include "can/wire/fault.h"

#define LINE_MAX_BYTES 512

struct reader {
	struct script *script;
	const char *path;
	struct error_sink *errors;
	unsigned int line, bus;
	int64_t t_ns;
	bool ended;
};

static int add(struct script *s, const struct script_line *line)
{
	if (!grow(&s->lines, &s->room, s->n + 1, sizeof(*line)))
		return -ENOMEM;
	s->lines[s->n++] = *line;
	return 0;
}

/* ---- one line ---- */

static const struct {
	const char *word;
	enum script_what what;
	script_command *command;
} node_words[] = {
	{ "attach", SCRIPT_ATTACH, NULL },	   { "detach", SCRIPT_COMMAND, engine_detach },
	{ "up", SCRIPT_COMMAND, engine_up },	   { "down", SCRIPT_COMMAND, engine_down },
	{ "reset", SCRIPT_COMMAND, engine_reset }, { "restart", SCRIPT_COMMAND, engine_restart },
	{ "restart-ms", SCRIPT_RESTART_MS, NULL }, { "queue", SCRIPT_QUEUE, NULL },
	{ "power", SCRIPT_FAULT, NULL },	   { "connect", SCRIPT_FAULT, NULL },
	{ "disconnect", SCRIPT_FAULT, NULL },
};
#define NODE_WORDS (sizeof(node_words) / sizeof(*node_words))

static int read_number(struct fault_words *words, struct script_line *line, const char *name)
{
	const int64_t min = line->what == SCRIPT_QUEUE, max = line->what == SCRIPT_QUEUE ? ENGINE_QUEUE_MAX : 1000000;
	const char *text = fault_next(words);
	char quoted[TEXT_QUOTED_MAX];
	int64_t n;

	if (text_int(text, &n) || n < min || n > max)
		return fault_wrong(words, "%s %s is not from %" PRId64 " to %" PRId64, name, text_quote(quoted, text),
				   min, max);
	line->number = (uint32_t)n;
	return 0;
}

static int read_node(struct fault_words *words, struct script_line *line)
{
	int status = fault_read_node(words, line->node);
	const char *verb = fault_next(words);
	char quoted[TEXT_QUOTED_MAX], text[64];
	size_t i = 0;

	if (status)
		return status;
	while (i < NODE_WORDS && strcmp(verb, node_words[i].word) != 0)
		i++;
	if (i == NODE_WORDS)
		return fault_wrong(words,
				   "node %s: %s: write attach, detach, up, down, reset, restart, restart-ms N, queue "
				   "N, power off, power on, connect or disconnect",
				   line->node, text_quote(quoted, verb));
	line->what = node_words[i].what;
	line->command = node_words[i].command;
	if (line->what == SCRIPT_RESTART_MS || line->what == SCRIPT_QUEUE)
		return read_number(words, line, verb);
	if (line->what != SCRIPT_FAULT)
		return 0;
	snprintf(text, sizeof(text), "%s %.8s %s", verb, strcmp(verb, "power") ? "" : fault_next(words), line->node);
	return fault_read(&line->fault, text, words->why);
}

/* Behind the time. */
static int read_what(struct reader *r, struct script_line *line, struct fault_words *words)
{
	const char *who = fault_next(words);
	int status;

	if (!*who)
		return fault_wrong(words, "nothing behind the time: write TIME NODE FRAME, TIME fault ..., "
					  "TIME node NODE ... or TIME end");
	if (!strcmp(who, "end")) {
		line->what = SCRIPT_END;
		r->ended = true;
		return 0;
	}
	if (!strcmp(who, "fault")) {
		line->what = SCRIPT_FAULT;
		return fault_read_words(&line->fault, words);
	}
	if (!strcmp(who, "node"))
		return read_node(words, line);
	line->what = SCRIPT_FRAME;
	words->at--;
	status = fault_read_node(words, line->node);
	return status ? status : fault_read_frame(words, &line->frame);
}

static int read_bus(struct reader *r, struct fault_words *words)
{
	const char *name = fault_next(words);
	char quoted[TEXT_QUOTED_MAX];

	for (unsigned int i = 0; i < r->script->buses; i++)
		if (!strcmp(r->script->bus[i], name)) {
			r->bus = i;
			return fault_end(words);
		}
	return fault_wrong(words, "bus %s is not among those that run", text_quote(quoted, name));
}

/* Perhaps in parentheses, as candump writes them. */
static int read_time(const char *word, int64_t *ns)
{
	const size_t len = strlen(word);
	char text[FRAME_TEXT_MAX];

	if (*word != '(' || word[len - 1] != ')')
		return log_stamp(word, ns);
	snprintf(text, sizeof(text), "%.*s", (int)len - 2, word + 1);
	return log_stamp(text, ns);
}

/* 0, -EINVAL, or -ENOMEM. */
static int read_line(struct reader *r, struct fault_words *words)
{
	struct script_line line = { .line = r->line };
	const char *first = fault_next(words);
	char quoted[TEXT_QUOTED_MAX];
	int status;

	if (!strcmp(first, "bus"))
		return read_bus(r, words);
	if (read_time(first, &line.t_ns))
		return fault_wrong(words, "%s is not a time in seconds such as 0.001000", text_quote(quoted, first));
	if (r->ended)
		return fault_wrong(words, "behind the line with end");
	if (line.t_ns < r->t_ns)
		return fault_wrong(words, "%s lies before the line above it: put lines in order of time", first);
	line.bus = r->bus;
	r->t_ns = line.t_ns;
	status = read_what(r, &line, words);
	if (!status)
		status = fault_end(words);
	return status ? status : add(r->script, &line);
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
		if (s->nodes_n[line->bus] == ENGINE_NODES) {
			error_add(r->errors, "%s:%u: %s: a bus has at most %d nodes", r->path, line->line, line->node,
				  ENGINE_NODES);
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
		error_add(r->errors, "%s:%u: there is no node %s: no other line of this bus names it", r->path,
			  line->line, line->fault.node);
	}
}

static int read_file(struct reader *r, FILE *file)
{
	char text[LINE_MAX_BYTES], why[FAULT_WHY_MAX];

	while (fgets(text, sizeof(text), file)) {
		struct fault_words words = { .why = why };
		int status;

		r->line++;
		if (strlen(text) == sizeof(text) - 1 && text[sizeof(text) - 2] != '\n')
			return error_refuse(r->errors, -EINVAL, "%s:%u: a line of more than 510 bytes", r->path,
					    r->line);
		status = fault_split(&words, text);
		if (!status && words.n)
			status = read_line(r, &words);
		if (status == -ENOMEM)
			return status;
		if (status)
			error_add(r->errors, "%s:%u: %s", r->path, r->line, why);
	}
	return ferror(file) ? -errno : 0;
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
		return error_refuse(errors, status, "unable to open %s: %m", path);
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
