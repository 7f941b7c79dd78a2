/* ls.c: ach ls, a table of the channels, and ach info, all about one.  Two snapshots some time apart give a rate. */
#include <fnmatch.h>
#include <math.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "channels/ach/ach_file.h"
#include "channels/clock/clock.h"
#include "channels/rec/snapshot.h"
#include "channels/tool/tool.h"

struct line {
	int64_t for_ns; /* between two snapshots; 0: only one */
	bool json;
	const char *robot;
};
#define ROW_FOR                                                           \
	SETTINGS_TIME("for", struct line, for_ns, "s", "0.5s", "0", NULL, \
		      "measure the rate for S seconds; 0: no rate", .value = "S")

static const struct settings_row rows[] = {
	SETTINGS_BOOL("json", struct line, json, "no", "an array with an object per channel"),
	ROW_FOR,
	TOOL_ROBOT(struct line),
	SETTINGS_END,
};

struct channel {
	char name[ACH_CHAN_NAME_MAX];
	ach_channel_t chan;
	struct stat st;
	struct snapshot first, last;
	double rate_hz;	 /* NAN: not asked for */
	char error[128]; /* why there is nothing to show, or "" */
};

struct channels {
	struct channel *at;
	size_t n, room;
};

/* ---- finding the channels ---- */

/* The error of the library without the path, as the name is printed before it. */
static void set_error(struct channel *c, enum ach_status status)
{
	char path[ACH_FILE_PATH_LEN];
	const char *why = ach_errstr();

	ach_file_channel_path(path, c->name);
	if (!strncmp(why, path, strlen(path))) {
		why += strlen(path);
		why += strspn(why, ": ");
		why += strncmp(why, "is ", 3) ? 0 : 3;
	}
	snprintf(c->error, sizeof(c->error), "%s%s", status == ACH_CORRUPT ? "corrupt: " : "", why);
}

static void take(struct channel *c, struct snapshot *into)
{
	if (*c->error)
		return;
	snapshot_take(into, &c->chan);
	if (into->status != ACH_OK)
		set_error(c, into->status);
}

static bool wanted(const char *name, char **patterns, int n)
{
	for (int i = 0; i < n; i++)
		if (!fnmatch(patterns[i], name, 0))
			return true;
	return !n;
}

/* 0, or EXIT_RETRY.  A channel that is removed meanwhile is not in the list. */
static int add(struct channels *all, const char *name)
{
	char path[ACH_FILE_PATH_LEN];
	enum ach_status status;
	struct channel *c;

	if (!grow(&all->at, &all->room, all->n + 1, sizeof(*all->at)))
		return tool_fail("out of memory");
	c = &all->at[all->n];
	memset(c, 0, sizeof(*c));
	snprintf(c->name, sizeof(c->name), "%s", name);
	ach_file_channel_path(path, name);
	if (lstat(path, &c->st))
		return 0;
	status = ach_open(&c->chan, name, NULL);
	if (status == ACH_ENOENT)
		return 0;
	if (status != ACH_OK)
		set_error(c, status);
	else
		c->st.st_mode = ach_memory_mode(c->chan.handle); /* that of the plate is not the channel's */
	all->n++;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct channel *)a)->name, ((const struct channel *)b)->name);
}

static int find(struct channels *all, char **patterns, int n)
{
	DIR *folder = ach_file_list();
	struct rlimit files;
	const char *name;
	int status = 0;

	if (!folder)
		return tool_fail("cannot list %s: %s", ach_file_dir(), strerror(errno));
	/* A descriptor for each channel. */
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	while (!status && (name = ach_file_next(folder)))
		if (wanted(name, patterns, n))
			status = add(all, name);
	closedir(folder);
	if (all->n)
		qsort(all->at, all->n, sizeof(*all->at), by_name);
	return status;
}

static void measure_rates(struct channels *all, int64_t for_ns)
{
	for (size_t i = 0; for_ns && i < all->n; i++)
		take(&all->at[i], &all->at[i].first);
	if (for_ns && all->n)
		clock_wait(NULL, 0, clock_now_ns() + for_ns);
	for (size_t i = 0; i < all->n; i++) {
		struct channel *c = &all->at[i];

		take(c, &c->last);
		c->rate_hz = for_ns ? snapshot_rate(&c->first, &c->last) : NAN;
	}
}

static void forget(struct channels *all)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->at[i].chan.handle)
			ach_close(&all->at[i].chan);
	free(all->at);
}

/* ---- the table ---- */

enum { NAME, TYPE, SIZE, MODE, OWNER, MESSAGES, RATE, AGE, WRITER, ALIVE, COLUMNS };

static const char *const heads[COLUMNS] = { "NAME",	"TYPE", "SIZE", "MODE",	  "OWNER",
					    "MESSAGES", "RATE", "AGE",	"WRITER", "ALIVE" };
static const unsigned right = 1u << SIZE | 1u << MESSAGES | 1u << RATE | 1u << AGE | 1u << WRITER; /* aligned so */

struct ls_line {
	char cell[COLUMNS][CHAN_OWNER_MAX];
};

#define CELL(line, column, ...) snprintf((line)->cell[column], sizeof((line)->cell[column]), __VA_ARGS__)

static void fill(struct ls_line *line, const struct channel *c)
{
	const struct snapshot *last = &c->last;

	for (int i = 0; i < COLUMNS; i++)
		CELL(line, i, "-");
	CELL(line, NAME, "%s", c->name);
	CELL(line, MODE, "%04o", (unsigned)c->st.st_mode & 07777);
	chan_owner(line->cell[OWNER], c->st.st_uid, c->st.st_gid);
	if (*c->error) {
		CELL(line, MESSAGES, "%s", "");
		return;
	}
	CELL(line, SIZE, "%u x %u", last->count, last->size);
	CELL(line, MESSAGES, "%" PRIu64, last->seq);
	if (!isnan(c->rate_hz))
		snapshot_rate_text(line->cell[RATE], c->rate_hz);
	if (last->type) {
		CELL(line, TYPE, "%s", last->type->name);
		snapshot_age_text(line->cell[AGE], snapshot_age_ns(last));
	}
	if (last->writer) {
		CELL(line, WRITER, "%u", last->writer);
		CELL(line, ALIVE, "%s", snapshot_alive(last->writer) ? "yes" : "no");
	}
}

/* Columns that are not shown have no width. */
static size_t measure(const struct ls_line *lines, size_t n, size_t width[COLUMNS], unsigned hidden)
{
	size_t sum = 0;

	for (int column = 0; column < COLUMNS; column++) {
		width[column] = 0;
		if (hidden >> column & 1)
			continue;
		width[column] = strlen(heads[column]);
		for (size_t i = 0; i < n; i++) {
			size_t len = strlen(lines[i].cell[column]);

			width[column] = len > width[column] ? len : width[column];
		}
		sum += width[column] + (column ? 2 : 0);
	}
	return sum;
}

static void print_cell(const char *text, int column, const size_t width[COLUMNS], const char *colour, bool last)
{
	int pad = (int)width[column] - (int)strlen(text);

	if (!width[column])
		return;
	printf("%s%*s%s%s%s%*s", column ? "  " : "", (right >> column & 1) ? pad : 0, "", colour, text,
	       *colour ? "\033[0m" : "", (right >> column & 1) || last ? 0 : pad, "");
}

static const char *colour_of(const char *text, int column)
{
	if (!strcmp(text, "-"))
		return "\033[2m";
	if (column == ALIVE)
		return !strcmp(text, "no") ? "\033[31m" : "\033[32m";
	return column == NAME ? "\033[1m" : "";
}

static size_t terminal_width(void)
{
	struct winsize size;

	return tool_is_terminal(stdout) && !ioctl(fileno(stdout), TIOCGWINSZ, &size) && size.ws_col ? size.ws_col
												    : SIZE_MAX;
}

static int print_table(const struct channels *all)
{
	struct ls_line *lines = calloc(all->n, sizeof(*lines));
	static const int least[] = { OWNER, MODE, SIZE, TYPE };
	bool colour = tool_colour(stdout);
	size_t width[COLUMNS], room = terminal_width();
	unsigned hidden = 0;

	if (!lines)
		return tool_fail("out of memory");
	for (size_t i = 0; i < all->n; i++)
		fill(&lines[i], &all->at[i]);
	/* In a narrow terminal the columns go first that change least. */
	for (size_t i = 0; measure(lines, all->n, width, hidden) > room && i < sizeof(least) / sizeof(*least); i++)
		hidden |= 1u << least[i];
	for (int column = 0; column < COLUMNS; column++)
		print_cell(heads[column], column, width, colour ? "\033[4m" : "", column == COLUMNS - 1);
	putchar('\n');
	for (size_t i = 0; i < all->n; i++) {
		const char *error = all->at[i].error;
		int end = *error ? MESSAGES : COLUMNS;

		for (int column = 0; column < end; column++) {
			const char *text = lines[i].cell[column];

			print_cell(text, column, width, colour ? colour_of(text, column) : "", column == COLUMNS - 1);
		}
		if (*error)
			printf("  %s%s%s", colour ? "\033[31m" : "", error, colour ? "\033[0m" : "");
		putchar('\n');
	}
	free(lines);
	return 0;
}

/* ---- JSON ---- */

static void print_json(const struct channels *all)
{
	struct json j = json_to(stdout);

	json_array(&j, NULL);
	for (size_t i = 0; i < all->n; i++) {
		const struct channel *c = &all->at[i];

		if (i)
			json_line(&j);
		json_object(&j, NULL);
		if (*c->error) {
			json_text(&j, "name", c->name);
			json_textf(&j, "mode", "%04o", (unsigned)c->st.st_mode & 07777);
			json_text(&j, "error", c->error);
		} else {
			snapshot_json(&j, c->name, c->rate_hz, &c->last);
			if (c->last.writer)
				json_bool(&j, "writer_alive", snapshot_alive(c->last.writer));
			else
				json_null(&j, "writer_alive");
		}
		json_end(&j);
	}
	json_end(&j);
	putchar('\n');
}

/* ---- the command ---- */

/* A pattern without a channel is a mistake, as with ls(1). */
static int check_patterns(const struct channels *all, char **patterns, int n)
{
	int status = 0;

	for (int i = 0; i < n; i++) {
		size_t at = 0;

		while (at < all->n && fnmatch(patterns[i], all->at[at].name, 0))
			at++;
		if (at == all->n)
			status = tool_fail("%s: no channel of that name", patterns[i]);
	}
	return status;
}

static int run(void *values, int argc, char **argv)
{
	const struct line *ls = values;
	struct channels all = { 0 };
	static char all_names[] = "*";
	char *every[] = { all_names };
	int status;

	if (ls->robot && !argc) { /* all of that robot */
		argv = every;
		argc = 1;
	}
	status = names_find(ls->robot, argv, argc, true);
	if (!status)
		status = find(&all, argv, argc);

	if (!status) {
		measure_rates(&all, ls->for_ns);
		status = check_patterns(&all, argv, argc);
		if (ls->json)
			print_json(&all);
		else if (all.n)
			status |= print_table(&all);
		else if (!argc)
			puts("no channels (ach mk makes one)");
	}
	forget(&all);
	return status;
}

TOOL_COMMAND(ls, run, rows, struct line, "[PATTERN...]", 0, -1,
	     "lists the channels: what flows, how fast, how old, from whom",
	     "PATTERN is a name with * ? [] as in the shell, in quotes: 'larm-*'\n");

static const struct settings_row info_rows[] = {
	SETTINGS_BOOL("json", struct line, json, "no", "one object, for scripts"),
	ROW_FOR,
	TOOL_ROBOT(struct line),
	SETTINGS_END,
};

/* "1234, alive: pciod" */
static void print_writer(uint32_t pid)
{
	char path[32], name[32] = "";
	FILE *comm;

	if (!pid) {
		puts("writer    none yet");
		return;
	}
	if (!snapshot_alive(pid)) {
		printf("writer    %u, dead\n", pid);
		return;
	}
	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	comm = fopen(path, "re");
	if (comm) {
		if (fgets(name, sizeof(name), comm))
			name[strcspn(name, "\n")] = '\0';
		fclose(comm);
	}
	utf8_clean(name); /* a process chooses its own */
	printf("writer    %u, alive%s%s\n", pid, *name ? ": " : "", name);
}

static void print_type(const struct snapshot *snap)
{
	char why[160];

	if (snap->type) {
		printf("type      %s, version %u\n", snap->type->name, snap->type->version);
	} else if (snap->len) {
		msg_refusal_text(why, sizeof(why), snap->refusal, &snap->header, snap->len, NULL);
		printf("type      - (%s)\n", why);
	} else {
		puts("type      -");
	}
}

static void print_lock(uint32_t word)
{
	const uint32_t tid = word & 0x3fffffff; /* FUTEX_TID_MASK */

	if (tid)
		printf("lock      held by thread %u\n", tid);
	else
		puts("lock      free");
}

static void print_info(const ach_channel_t *chan, const struct snapshot *snap, double rate_hz, const struct stat *st)
{
	char path[ACH_FILE_PATH_LEN], owner[CHAN_OWNER_MAX], text[SNAPSHOT_TEXT_MAX];

	ach_file_channel_path(path, chan->handle->name);
	chan_owner(owner, st->st_uid, st->st_gid);
	printf("name      %s\n", chan->handle->name);
	printf("file      %s\n", path);
	print_type(snap);
	printf("size      %u x %u bytes\n", snap->count, snap->size);
	printf("mode      %04o %s\n", (unsigned)snap->mode & 07777, owner);
	printf("messages  %" PRIu64 ", %zu retained\n", snap->seq, snap->retained);
	if (snap->len)
		printf("newest    %zu bytes\n", snap->len);
	if (!isnan(rate_hz)) {
		snapshot_rate_text(text, rate_hz);
		printf("rate      %s\n", text);
	}
	if (snap->type) {
		snapshot_age_text(text, snapshot_age_ns(snap));
		printf("age       %s\n", text);
	}
	print_writer(snap->writer);
	print_lock(atomic_load(&chan->shm->lock));
	printf("waiting   %s\n", snap->waited ? "yes" : "no");
	printf("clock     %s\n", chan->clock == CLOCK_REALTIME ? "realtime" : "monotonic");
	printf("you may   %s\n", chan->handle->writable ? "read and write" : "read");
}

static int show(ach_channel_t *chan, const char *name, const struct line *info)
{
	double rate_hz = NAN;
	struct json j = json_to(stdout);
	struct snapshot first, last;
	struct stat st;

	if (fstat(chan->handle->file, &st))
		return tool_fail("%s: cannot stat its file: %m", name);
	snapshot_take(&last, chan);
	if (last.status == ACH_OK && info->for_ns) {
		first = last;
		clock_wait(NULL, 0, clock_now_ns() + info->for_ns);
		snapshot_take(&last, chan);
		rate_hz = snapshot_rate(&first, &last);
	}
	if (last.status != ACH_OK)
		return tool_fail("%s: %s%s", name, last.status == ACH_CORRUPT ? "corrupt: " : "", ach_errstr());
	if (info->json) {
		json_object(&j, NULL);
		snapshot_json(&j, name, rate_hz, &last);
		json_end(&j);
		putchar('\n');
	} else {
		print_info(chan, &last, rate_hz, &st);
	}
	return 0;
}

static int run_info(void *values, int argc, char **argv)
{
	const struct line *info = values;
	ach_channel_t chan;
	int status = names_find(info->robot, argv, argc, false);

	if (status)
		return status;
	if (chan_open(&chan, argv[0]))
		return EXIT_RETRY;
	status = show(&chan, argv[0], info);
	ach_close(&chan);
	return status;
}

TOOL_COMMAND(info, run_info, info_rows, struct line, "NAME", 1, 1, "shows everything about one channel", NULL);
