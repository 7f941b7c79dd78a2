/* ctl_incident.c: achctl incident: what blackbox(1) has kept. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "can/log/log.h"
#include "channels/rec/reclog.h"
#include "launch/achctl/ctl.h"
#include "launch/record/freeze.h"
#include "launch/view/incident_text.h"
#include "launch/view/logs.h"

extern char **environ;

#define CHANNELS_MAX 4096
#define INCIDENT_PATH_MAX (RUN_PATH_MAX + NAME_MAX + 2)

/* ---- which ---- */

static int is_incident(const struct dirent *entry)
{
	return *entry->d_name >= '0' && *entry->d_name <= '9';
}

static void free_names(struct dirent **names, int n)
{
	while (n > 0)
		free(names[--n]);
	free(names);
}

static int folder_of(const struct ctl_line *line, char folder[RUN_PATH_MAX])
{
	int status = 0;

	if (!line->folder)
		status = logs_path(folder, "incident");
	else if (snprintf(folder, RUN_PATH_MAX, "%s", line->folder) >= RUN_PATH_MAX)
		status = -ENAMETOOLONG;
	return status ? ctl_fail(line, EXIT_RETRY, "%s", strerror(-status)) : 0;
}

/* The value of a key in the file "incident", or "". */
static void value_of(const char *path, const char *key, char *value, size_t size)
{
	const size_t len = strlen(key);
	char text[512], name[PATH_MAX];
	FILE *from;

	*value = 0;
	snprintf(name, sizeof(name), "%s/incident", path);
	from = fopen(name, "re");
	while (from && !*value && fgets(text, sizeof(text), from))
		if (!strncmp(text, key, len) && text[len] == ':')
			snprintf(value, size, "%.*s", (int)strcspn(text + len + 2, "\n"), text + len + 2);
	if (from)
		fclose(from);
}

static int list(const struct ctl_line *line, const char *folder)
{
	struct dirent **names = NULL;
	const int n = scandir(folder, &names, is_incident, alphasort);
	struct json j;
	const bool json = ctl_json(line, &j);
	bool incomplete;
	char hidden[PATH_MAX];

	snprintf(hidden, sizeof(hidden), "%s/" FREEZE_INCOMPLETE, folder);
	incomplete = !access(hidden, F_OK);
	if (json)
		json_array(&j, "incidents");
	for (int i = 0; i < n; i++) {
		char path[PATH_MAX], cause[256];

		snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);
		value_of(path, "cause", cause, sizeof(cause));
		if (json) {
			json_object(&j, NULL);
			json_text(&j, "name", names[i]->d_name);
			json_text(&j, "cause", cause);
			json_end(&j);
		} else {
			printf("%s  %s\n", names[i]->d_name, cause);
		}
	}
	free_names(names, n);
	if (json) {
		json_end(&j);
		json_bool(&j, "incomplete", incomplete);
		return ctl_json_end(&j);
	}
	if (n <= 0)
		puts("no incidents");
	if (incomplete)
		puts("one is incomplete: it is being written, or blackbox was killed while it wrote");
	return 0;
}

/* The one that is named, or the newest.  0, or the exit status after a line. */
static int choose(const struct ctl_line *line, const char *folder, char name[NAME_MAX + 1])
{
	struct dirent **names = NULL;
	const int n = scandir(folder, &names, is_incident, alphasort);
	const char *asked = line->argc > 1 ? line->argv[1] : NULL;
	bool found = false;

	for (int i = 0; i < n; i++) {
		if (!asked || !strcmp(asked, names[i]->d_name)) {
			snprintf(name, NAME_MAX + 1, "%s", names[i]->d_name);
			found = true;
		}
	}
	free_names(names, n);
	if (!found)
		return ctl_fail(line, CTL_NO, asked ? "%s: not found (achctl incident list)" : "no incidents%s",
				asked ? asked : "");
	return 0;
}

/* ---- show ---- */

static int64_t number_of(const char *path, const char *key)
{
	char value[64];

	value_of(path, key, value, sizeof(value));
	return strtoll(value, NULL, 10);
}

static int is_bus(const struct dirent *entry)
{
	return !strncmp(entry->d_name, "bus-", 4) && text_ends_with(entry->d_name, ".log");
}

static int64_t read_bus(struct incident_text *incident, const char *name, int64_t real_ns)
{
	static struct log log;
	struct log_record r;
	int64_t last_ns = 0;

	if (log_open(&log, name, log_formats_plain, 0, NULL))
		return 0;
	while (log_next(&log, &r) > 0) {
		last_ns = r.t_ns - real_ns;
		incident_text_frame(incident, r.bus, &r.frame, last_ns);
	}
	log_close(&log);
	return last_ns;
}

/* The time of the last one. */
static int64_t read_frames(struct incident_text *incident, const char *path, int64_t real_ns)
{
	struct dirent **names = NULL;
	const int n = scandir(path, &names, is_bus, alphasort);
	int64_t last_ns = 0;

	for (int i = 0; i < n; i++) {
		char name[PATH_MAX];

		snprintf(name, sizeof(name), "%s/%s", path, names[i]->d_name);
		last_ns = num_max(last_ns, read_bus(incident, name, real_ns));
	}
	free_names(names, n);
	return last_ns;
}

static int64_t read_messages(struct incident_text *incident, const char *path)
{
	static char channels[CHANNELS_MAX][64];
	struct reclog_channel what;
	struct reclog_reader reader;
	struct reclog_record r;
	enum reclog_found found;
	char name[PATH_MAX];
	int64_t last_ns = 0;
	int fd;

	snprintf(name, sizeof(name), "%s/channels.rec", path);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	reclog_open(&reader, fd);
	while ((found = reclog_read(&reader, &r)) == RECLOG_FOUND_RECORD || found == RECLOG_FOUND_DAMAGE) {
		if (found == RECLOG_FOUND_DAMAGE || r.channel >= CHANNELS_MAX)
			continue;
		if (r.kind == RECLOG_CHANNEL && !reclog_channel_read(&what, &r))
			memcpy(channels[r.channel], what.name, sizeof(what.name));
		if (r.kind != RECLOG_MESSAGE)
			continue;
		last_ns = r.t_ns;
		incident_text_message(incident, channels[r.channel], r.body, r.len, r.t_ns);
	}
	reclog_close(&reader);
	close(fd);
	return last_ns;
}

static void print_head(const char *path, const char *name)
{
	static const char *const keys[] = { "time", "robot", "endplate", "kernel", "host", "cause" };
	char value[512];

	printf("incident %s\n", name);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		value_of(path, keys[i], value, sizeof(value));
		printf("%-9s %s\n", keys[i], value);
	}
	putchar('\n');
}

static int show(const struct ctl_line *line, const char *folder)
{
	char name[NAME_MAX + 1], path[INCIDENT_PATH_MAX];
	struct incident_text incident = { 0 };
	int64_t cause_ns, from_ns, frames_ns, messages_ns;
	struct json j;
	size_t first = 0;
	int status = choose(line, folder, name);

	if (status)
		return status;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	cause_ns = number_of(path, "t_ns");
	from_ns = number_of(path, "from_ns"); /* channels hold older messages */
	frames_ns = read_frames(&incident, path, number_of(path, "real_ns"));
	messages_ns = read_messages(&incident, path);
	if (incident_text_end(&incident, num_max(frames_ns, messages_ns))) {
		incident_text_free(&incident);
		return ctl_fail(line, EXIT_RETRY, "no memory left");
	}
	while (first < incident.n && incident.lines[first].t_ns < from_ns)
		first++;
	if (ctl_json(line, &j)) {
		json_text(&j, "name", name);
		json_array(&j, "story");
		for (size_t i = first; i < incident.n; i++) {
			json_object(&j, NULL);
			json_int(&j, "t_ns", incident.lines[i].t_ns - cause_ns);
			json_text(&j, "text", incident.lines[i].text);
			json_end(&j);
		}
		json_end(&j);
		status = ctl_json_end(&j);
	} else {
		print_head(path, name);
		for (size_t i = first; i < incident.n; i++)
			printf("%+12.6f s  %s\n", (double)(incident.lines[i].t_ns - cause_ns) / 1e9,
			       incident.lines[i].text);
	}
	incident_text_free(&incident);
	return status;
}

/* ---- export ---- */

static int export(const struct ctl_line *line, const char *folder)
{
	char name[NAME_MAX + 1], file[PATH_MAX];
	char *argv[] = { (char *)"tar", (char *)"-C", (char *)(uintptr_t)folder, (char *)"-czf", file, name, NULL };
	int status = choose(line, folder, name), ended;
	pid_t pid;

	if (status)
		return status;
	if (line->argc > 2)
		snprintf(file, sizeof(file), "%s", line->argv[2]);
	else
		snprintf(file, sizeof(file), "%s.tar.gz", name);
	status = posix_spawnp(&pid, "tar", NULL, NULL, argv, environ);
	if (status || waitpid(pid, &ended, 0) < 0)
		return ctl_fail(line, EXIT_RETRY, "tar: %s", strerror(status ? status : errno));
	if (ended)
		return ctl_fail(line, EXIT_RETRY, "%s: tar failed", file);
	return ctl_done(line, "%s", file);
}

int ctl_incident(const struct ctl_line *line)
{
	const char *verb = line->argc ? line->argv[0] : "list";
	char folder[RUN_PATH_MAX];
	int status = folder_of(line, folder);

	if (status)
		return status;
	if (!strcmp(verb, "list"))
		return list(line, folder);
	if (!strcmp(verb, "show"))
		return show(line, folder);
	if (!strcmp(verb, "export"))
		return export(line, folder);
	return ctl_fail(line, EXIT_WRONG, "%s: write list, show or export", verb);
}
