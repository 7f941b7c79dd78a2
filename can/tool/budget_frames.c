/* budget_frames.c: canbudget over the frames that drivers declare: reading, table, JSON. */
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "can/tool/budget_frames.h"
#include "config/base/base.h"
#include "config/settings/program.h"

#define MODULE_NS 10000000 /* the room is counted in modules at 100 Hz */
#define PATH_SIZE 4096

/* ---- reading ---- */

/* All of it: JSON has no zero.  NULL: it cannot be read. */
static char *read_all(FILE *from, size_t *len)
{
	char *text = NULL;
	size_t room = 0;
	const ssize_t n = getdelim(&text, &room, '\0', from);

	*len = n < 0 ? 0 : (size_t)n;
	if (!ferror(from))
		return text;
	free(text);
	return NULL;
}

static int take(struct traffic *traffic, const char *name, const char *text, size_t len)
{
	return traffic_read(traffic, name, text, len, &program_errors) ? EXIT_WRONG : 0;
}

static int take_file(struct traffic *traffic, const char *path)
{
	FILE *from = strcmp(path, "-") ? fopen(path, "re") : stdin;
	size_t len = 0;
	char *text = from ? read_all(from, &len) : NULL;
	int status;

	if (!text)
		status = program_fail("%s: %s", path, strerror(errno));
	else
		status = take(traffic, path, text, len);
	if (from && from != stdin)
		fclose(from);
	free(text);
	return status;
}

/* achstart beside this program, so that a build uses its own, else that of $PATH. */
static void run_achstart(const char *launch)
{
	char path[PATH_SIZE];
	const ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - sizeof("achstart"));

	if (n > 0) {
		path[n] = '\0';
		strcpy(strrchr(path, '/') + 1, "achstart");
		execl(path, "achstart", "--frames", launch, (char *)NULL);
	}
	execlp("achstart", "achstart", "--frames", launch, (char *)NULL);
	dprintf(STDERR_FILENO, "unable to run achstart: %s\n", strerror(errno));
	_exit(EXIT_RETRY);
}

/* Repeats the lines of achstart in the name of the program that was asked. */
static void pass_on(int said_fd)
{
	static const char *const before[] = { "achstart: ", "fatal: " };
	FILE *said = fdopen(said_fd, "r");
	char line[ERROR_LINE_MAX];

	if (!said)
		return;
	rewind(said);
	while (fgets(line, sizeof(line), said)) {
		const char *what = line;

		for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++)
			if (!strncmp(what, before[i], strlen(before[i])))
				what += strlen(before[i]);
		program_say("%.*s", (int)strcspn(what, "\n"), what);
	}
	fclose(said);
}

static int take_launch(struct traffic *traffic, const char *launch)
{
	const int said_fd = memfd_create("achstart", MFD_CLOEXEC);
	int ends[2], status, how = 0;
	size_t len = 0;
	char *text;
	bool ended;
	pid_t pid;
	FILE *from;

	if (said_fd < 0 || pipe(ends))
		return program_fail("%s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		dup2(said_fd, STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		run_achstart(launch);
	}
	close(ends[1]);
	from = fdopen(ends[0], "r");
	text = from ? read_all(from, &len) : NULL;
	if (from)
		fclose(from);
	ended = pid > 0 && waitpid(pid, &how, 0) > 0;
	pass_on(said_fd);
	if (!ended || !text)
		status = program_fail("%s: %s", launch, strerror(errno));
	else if (!WIFEXITED(how))
		status = program_fail("achstart --frames %s was killed", launch);
	else
		status = WEXITSTATUS(how) ? WEXITSTATUS(how) : take(traffic, launch, text, len);
	free(text);
	return status;
}

int budget_frames_open(struct traffic *traffic, const char *launch, const struct settings_strings *files)
{
	int status = launch ? take_launch(traffic, launch) : 0;

	for (size_t i = 0; i < files->n && !status; i++)
		status = take_file(traffic, files->item[i]);
	return status;
}

/* ---- clashes ---- */

static const struct traffic_row *clash_of(const struct traffic *traffic, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (traffic_clash(&traffic->rows[i], &traffic->rows[j]))
			return &traffic->rows[j];
	return NULL;
}

/* One for each identifier. */
static bool is_new_clash(const struct traffic *traffic, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (traffic->rows[j].bus == traffic->rows[i].bus && traffic->rows[j].id == traffic->rows[i].id &&
		    clash_of(traffic, j))
			return false;
	return clash_of(traffic, i);
}

static const char *sender_text(char text[TEXT_NAME_MAX + 16], const struct traffic *traffic, unsigned int driver,
			       bool device)
{
	snprintf(text, TEXT_NAME_MAX + 16, "%s%s", device ? "device of " : "", traffic->drivers[driver].name);
	return text;
}

/* ---- table ---- */

static bool same(const struct traffic_frame *a, const struct traffic_frame *b)
{
	return a->kind == b->kind && a->driver == b->driver && a->bus == b->bus && a->id == b->id && a->len == b->len &&
	       a->flags == b->flags && a->deadline_ns == b->deadline_ns && a->r.period_ns == b->r.period_ns &&
	       a->r.burst == b->r.burst && a->r.response_ns == b->r.response_ns;
}

static bool shown_before(const struct traffic *traffic, size_t i)
{
	for (size_t j = i; j-- > 0 && traffic->frames[j].bus == traffic->frames[i].bus;)
		if (same(&traffic->frames[j], &traffic->frames[i]))
			return true;
	return false;
}

static unsigned int alike(const struct traffic *traffic, size_t i)
{
	unsigned int n = 0;

	for (size_t j = i; j < traffic->frames_n; j++)
		n += same(&traffic->frames[j], &traffic->frames[i]) ? traffic->frames[j].r.burst : 0;
	return n;
}

static const char *bound_text(char text[16], int64_t ns)
{
	return ns == RESPONSE_NEVER ? "never" : budget_time_text(text, ns);
}

static void print_frame(const struct traffic *traffic, size_t i)
{
	const struct traffic_frame *f = &traffic->frames[i];
	char id[BUDGET_ID_MAX], from[TEXT_NAME_MAX + 16], text[4][16];

	if (!f->r.period_ns || shown_before(traffic, i))
		return;
	budget_id_text(id, f->id);
	printf("%-8s  %-22s  %5u  %3u%s  %7s  %7s  %8s  %8s%s\n", id,
	       sender_text(from, traffic, f->driver, f->kind != TRAFFIC_SENT), alike(traffic, i), f->len,
	       f->flags & FRAME_FD ? "F" : " ", budget_time_text(text[0], f->r.period_ns),
	       budget_time_text(text[1], f->r.time_ns), bound_text(text[2], f->r.response_ns),
	       f->deadline_ns ? budget_time_text(text[3], f->deadline_ns) : "-", f->late ? "  LATE" : "");
}

static void print_bus(const struct traffic *traffic, unsigned int b)
{
	printf("\n%s\n%-8s  %-22s  %5s  %4s  %7s  %7s  %8s  %8s\n", traffic->buses[b].name, "id", "from", "count",
	       "len ", "every", "takes", "at worst", "deadline");
	for (size_t i = 0; i < traffic->frames_n; i++)
		if (traffic->frames[i].bus == b)
			print_frame(traffic, i);
	if (traffic->buses[b].any)
		printf("%u kinds of frames are sent at any time: each may block others once, and has no bound\n",
		       traffic->buses[b].any);
}

static bool is_used(const struct traffic *traffic, unsigned int b)
{
	for (size_t i = 0; i < traffic->rows_n; i++)
		if (traffic->rows[i].bus == b)
			return true;
	return false;
}

static const char *data_text(char text[16], uint32_t bitrate)
{
	snprintf(text, 16, "%" PRIu32, bitrate);
	return bitrate ? text : "-";
}

static int print_buses(const struct traffic *traffic)
{
	char text[3][16];

	printf("%-16s  %8s  %8s  %6s  %6s  %8s  %s\n", "bus", "bit rate", "data", "least", "most", "frames/s",
	       "room for modules at 100 Hz");
	for (unsigned int b = 0; b < traffic->buses_n; b++) {
		const struct traffic_bus *bus = &traffic->buses[b];
		const int room = is_used(traffic, b) ? traffic_room(traffic, b, MODULE_NS) : 0;

		if (room < 0)
			return program_fail("no memory");
		if (is_used(traffic, b))
			printf("%-16s  %8" PRIu32 "  %8s  %6s  %6s  %8.0f  %d%s\n", bus->name, bus->bitrate,
			       data_text(text[2], bus->data_bitrate), budget_percent_text(text[0], bus->load_least),
			       budget_percent_text(text[1], bus->load_most), bus->hz, room,
			       room == TRAFFIC_MODULES_MAX ? " or more" : "");
	}
	return 0;
}

static int print_misses(const struct traffic *traffic)
{
	char advice[TRAFFIC_ADVICE_MAX], from[2][TEXT_NAME_MAX + 16], id[BUDGET_ID_MAX], load[16];
	int late = 0;

	for (size_t i = 0; i < traffic->rows_n; i++) {
		const struct traffic_row *row = &traffic->rows[i], *other = clash_of(traffic, i);

		if (!is_new_clash(traffic, i))
			continue;
		late = BUDGET_FRAMES_LATE;
		budget_id_text(id, row->id);
		printf("%s: identifier %s is sent by %s and by %s: give one of them other ids, or another bus\n",
		       traffic->buses[row->bus].name, id, sender_text(from[0], traffic, other->driver, !other->tx),
		       sender_text(from[1], traffic, row->driver, !row->tx));
	}
	for (unsigned int b = 0; b < traffic->buses_n; b++) {
		if (traffic_fits(traffic, b))
			continue;
		late = BUDGET_FRAMES_LATE;
		if (traffic_advice(traffic, b, advice))
			return program_fail("no memory");
		printf("%s does not fit: load %s, %u kinds of frames late: %s\n", traffic->buses[b].name,
		       budget_percent_text(load, traffic->buses[b].load_most), traffic->buses[b].late, advice);
	}
	return late;
}

static void print_offsets(const struct traffic *traffic)
{
	const char *comma = "\noffsets that spread the ticks of drivers on one bus: ";

	for (size_t i = 0; i < traffic->drivers_n; i++)
		if (traffic->drivers[i].offset_ns) {
			char text[16];

			printf("%s%s +%s", comma, traffic->drivers[i].name,
			       budget_time_text(text, traffic->drivers[i].offset_ns));
			comma = ", ";
		}
	if (*comma == ',')
		printf("\n");
}

static int show_text(const struct traffic *traffic)
{
	int late = print_buses(traffic);

	if (!late)
		late = print_misses(traffic);
	for (unsigned int b = 0; b < traffic->buses_n; b++)
		if (is_used(traffic, b))
			print_bus(traffic, b);
	print_offsets(traffic);
	return late;
}

/* ---- JSON ---- */

static void write_frame(struct json *j, const struct traffic *traffic, const struct traffic_frame *f)
{
	static const char *const kinds[] = {
		[TRAFFIC_SENT] = "sent", [TRAFFIC_ANSWER] = "answer", [TRAFFIC_CYCLIC] = "cyclic"
	};
	char id[BUDGET_ID_MAX];

	budget_id_text(id, f->id);
	json_line(j);
	json_object(j, NULL);
	json_text(j, "id", id);
	json_bool(j, "ext", f->id & FRAME_EXT);
	json_bool(j, "fd", f->flags & FRAME_FD);
	json_bool(j, "brs", f->flags & FRAME_BRS);
	json_text(j, "kind", kinds[f->kind]);
	json_text(j, "driver", traffic->drivers[f->driver].name);
	json_uint(j, "len", f->len);
	json_int(j, "time_ns", f->r.time_ns);
	json_uint_or_null(j, "period_ns", (uint64_t)f->r.period_ns);
	json_uint(j, "burst", f->r.burst);
	json_uint_or_null(j, "deadline_ns", (uint64_t)f->deadline_ns);
	json_uint_or_null(j, "response_ns", f->r.response_ns == RESPONSE_NEVER ? 0 : (uint64_t)f->r.response_ns);
	json_uint(j, "instance", f->r.instance);
	json_bool(j, "late", f->late);
	json_end(j);
}

static int write_bus(struct json *j, const struct traffic *traffic, unsigned int b)
{
	const struct traffic_bus *bus = &traffic->buses[b];
	const int room = traffic_room(traffic, b, MODULE_NS);
	char advice[TRAFFIC_ADVICE_MAX];

	if (room < 0 || (!traffic_fits(traffic, b) && traffic_advice(traffic, b, advice)))
		return program_fail("no memory");
	json_object(j, NULL);
	json_text(j, "name", bus->name);
	json_uint(j, "bitrate", bus->bitrate);
	json_uint_or_null(j, "data_bitrate", bus->data_bitrate);
	json_fixed(j, "load_least", 6, bus->load_least);
	json_fixed(j, "load_most", 6, bus->load_most);
	json_fixed(j, "rate_hz", 3, bus->hz);
	json_bool(j, "fits", traffic_fits(traffic, b));
	json_uint(j, "late", bus->late);
	json_uint(j, "any_time", bus->any);
	json_int(j, "room_100hz", room);
	json_text(j, "advice", traffic_fits(traffic, b) ? NULL : advice);
	json_array(j, "frames");
	for (size_t i = 0; i < traffic->frames_n; i++)
		if (traffic->frames[i].bus == b)
			write_frame(j, traffic, &traffic->frames[i]);
	json_end(j);
	json_end(j);
	return traffic_fits(traffic, b) ? 0 : BUDGET_FRAMES_LATE;
}

static bool write_clashes(struct json *j, const struct traffic *traffic)
{
	bool any = false;

	json_array(j, "clashes");
	for (size_t i = 0; i < traffic->rows_n; i++) {
		const struct traffic_row *row = &traffic->rows[i], *other = clash_of(traffic, i);
		char id[BUDGET_ID_MAX];

		if (!is_new_clash(traffic, i))
			continue;
		any = true;
		budget_id_text(id, row->id);
		json_object(j, NULL);
		json_text(j, "bus", traffic->buses[row->bus].name);
		json_text(j, "id", id);
		json_array(j, "drivers");
		json_text(j, NULL, traffic->drivers[other->driver].name);
		json_text(j, NULL, traffic->drivers[row->driver].name);
		json_end(j);
		json_end(j);
	}
	json_end(j);
	return any;
}

static int show_json(const struct traffic *traffic)
{
	struct json j = json_to(stdout);
	int late = 0;

	json_object(&j, NULL);
	json_int(&j, "reply_ns", traffic->reply_ns);
	json_int(&j, "jitter_ns", traffic->jitter_ns);
	json_array(&j, "buses");
	for (unsigned int b = 0; b < traffic->buses_n && late <= BUDGET_FRAMES_LATE; b++)
		if (is_used(traffic, b)) {
			const int status = write_bus(&j, traffic, b);

			late = status > late ? status : late;
		}
	json_end(&j);
	if (write_clashes(&j, traffic) && !late)
		late = BUDGET_FRAMES_LATE;
	json_array(&j, "drivers");
	for (size_t i = 0; i < traffic->drivers_n; i++) {
		json_object(&j, NULL);
		json_text(&j, "name", traffic->drivers[i].name);
		json_uint_or_null(&j, "tick_ns", (uint64_t)traffic->drivers[i].tick_ns);
		json_int(&j, "offset_ns", traffic->drivers[i].offset_ns);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	putchar('\n');
	return late;
}

int budget_frames_show(const struct traffic *traffic, bool json)
{
	return json ? show_json(traffic) : show_text(traffic);
}
