/* ctl_log.c: achctl log and events: the log files that achstart writes; they can be read without achstart. */
#include <dirent.h>

#include "launch/achctl/ctl.h"
#include "launch/achctl/tail.h"
#include "launch/view/logs.h"
#include "launch/view/terminal.h"

#define LOOK_NS 100000000
#define STAMP 26 /* "2026-11-15 08:00:00.123456" */

/* ---- lines ---- */

struct printer {
	bool json;
	bool events;
	bool colour;
	bool closed; /* the reader has closed the pipe */
};

/* One member of the object: up to the first of the characters in end. */
static const char *member(struct json *j, const char *key, const char *text, const char *end)
{
	const size_t len = strcspn(text, end);

	json_textf(j, key, "%.*s", (int)len, text);
	text += len;
	return text + strspn(text, ": ");
}

static void print_json(const struct printer *p, const char *line)
{
	struct json j = json_to(stdout);

	json_object(&j, NULL);
	json_textf(&j, "time", "%.*s", STAMP, line);
	line += strnlen(line, STAMP);
	line += *line == ' ';
	if (p->events) {
		line = member(&j, "source", line, " ");
		line = member(&j, "severity", line, " ");
		line = member(&j, "code", line, ":");
	}
	json_text(&j, "text", line);
	ctl_json_end(&j);
}

/* The colour of an event, by its severity. */
static const char *colour_of(const char *line)
{
	const char *source = strlen(line) > STAMP ? line + STAMP + 1 : "", *severity = strchr(source, ' ');

	if (severity && (!strncmp(severity, " error ", 7) || !strncmp(severity, " fatal ", 7)))
		return "\033[1;31m";
	return severity && !strncmp(severity, " warning ", 9) ? "\033[33m" : NULL;
}

static void print_line(void *to, const char *bytes)
{
	struct printer *p = to;
	char line[TAIL_LINE_MAX];
	const char *colour;

	snprintf(line, sizeof(line), "%s", bytes);
	terminal_clean(line);
	colour = p->colour && p->events ? colour_of(line) : NULL;
	if (p->json)
		print_json(p, line);
	else if (colour)
		printf("%s%s\033[0m\n", colour, line);
	else
		puts(line);
	p->closed |= ferror(stdout) != 0;
}

/* ---- which file ---- */

/* The daemon with the most similar name that has a log, or "". */
static void nearest_log(const char *name, char best[TEXT_NAME_MAX + 8])
{
	char path[RUN_PATH_MAX];
	const char *found = NULL;
	struct dirent *file;
	DIR *folder = NULL;

	*best = 0;
	if (!logs_path(path, ""))
		folder = opendir(path);
	while (folder && (file = readdir(folder))) {
		const char *nearer = found;

		file->d_name[lines_before(file->d_name, ".log")] = 0;
		nearest_try(name, file->d_name, &nearer);
		if (nearer != found && text_is_name(nearer))
			found = strcpy(best, nearer);
	}
	if (folder)
		closedir(folder);
}

static int no_log(const struct ctl_line *line, const char *name, const char *path, int status)
{
	char best[TEXT_NAME_MAX + 8];

	if (status != -ENOENT)
		return ctl_fail(line, EXIT_RETRY, "%s: %s", path, strerror(-status));
	nearest_log(name, best);
	if (*best)
		return ctl_fail(line, CTL_NO, "there is no log of %s; did you mean %s?", name, best);
	return ctl_fail(line, EXIT_RETRY, "there is no log of %s (%s)", name, path);
}

/* ---- following ---- */

static void follow(struct tail *tail, struct printer *printer)
{
	/* stdout as well: it ends when the reader closes the pipe, even if no line comes. */
	struct clock_fd fds[] = { { .fd = clock_stop_fd(), .events = POLLIN }, { .fd = 1, .events = 0 } };

	while (!printer->closed) {
		tail_more(tail, print_line, printer);
		fflush(stdout);
		printer->closed |= ferror(stdout) != 0;
		clock_wait(fds, 2, clock_now_ns() + LOOK_NS);
		if (fds[0].ready || fds[1].ready & POLLERR)
			return;
	}
}

static int show_log(const struct ctl_line *line, const char *name, bool events)
{
	struct printer printer = { .json = line->json, .events = events, .colour = ctl_colour(stdout) };
	char path[RUN_PATH_MAX], file[TEXT_NAME_MAX + 16];
	struct tail tail;
	int status;

	snprintf(file, sizeof(file), "%s.log", name);
	if (logs_path(path, file))
		return ctl_fail(line, EXIT_RETRY, "%s: %s", file, strerror(ENAMETOOLONG));
	status = tail_open(&tail, path);
	if (status)
		return no_log(line, name, path, status);
	tail_last(&tail, line->lines, print_line, &printer);
	if (line->follow)
		follow(&tail, &printer);
	tail_close(&tail);
	return 0;
}

int ctl_log(const struct ctl_line *line)
{
	return show_log(line, line->argv[0], false);
}

int ctl_events(const struct ctl_line *line)
{
	return show_log(line, "events", true);
}
