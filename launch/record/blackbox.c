/* blackbox.c: the last seconds of every bus and channel, kept when something goes wrong; blackbox(1). */
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "can/log/recorded_bus.h"
#include "channels/clock/clock.h"
#include "channels/rec/rec_rotate.h"
#include "config/settings/program.h"
#include "config/settings/robot.h"
#include "launch/record/causes.h"
#include "launch/record/freeze.h"
#include "launch/record/record_daemon.h"

#define PROGRAM "blackbox"
#define PIECES 5	       /* of the window, and one that is written */
#define LOOK_NS 10000000       /* between two looks at buses and channels */
#define HOLD_NS 5000000	       /* a frame may reach its socket this late, and still goes in order */
#define MEMORY_BYTES (4 << 20) /* that wait for the disk, of buses and of channels */
#define COST_NS 1000000000     /* between two reports of what it costs */
#define RECORDS 2
#define NICE 10 /* controllers come first */

struct blackbox_options {
	const char *robot, *folder, *name, *config;
	int64_t window_ns, after_ns, pause_ns, repeat_after_ns, keep, total, mb, skipped;
};

static const struct settings_row rows[] = {
	SETTINGS_DURATION("window", struct blackbox_options, window_ns, "10s", "1s", "10min",
			  "how far back an incident goes", .value = "TIME"),
	SETTINGS_DURATION("after", struct blackbox_options, after_ns, "1s", "0", "1min",
			  "recorded after the first cause", .value = "TIME"),
	SETTINGS_DURATION("pause", struct blackbox_options, pause_ns, "10s", "0", "1h", "from one incident to the next",
			  .value = "TIME"),
	SETTINGS_DURATION("repeat-after", struct blackbox_options, repeat_after_ns, "10min", "0", "24h",
			  "from an incident by late frames, or by an overrun, to the next such one", .value = "TIME",
			  .was = "apart"),
	SETTINGS_INT("keep", struct blackbox_options, keep, "", "20", "1", "10000",
		     "incidents that are kept; the oldest are removed", .value = "N"),
	SETTINGS_INT("total", struct blackbox_options, total, "", "256", "1", "1000000",
		     "megabytes of all incidents; the oldest are removed", .value = "MB"),
	SETTINGS_INT("size", struct blackbox_options, mb, "", "64", "2", "10000",
		     "megabytes of the rolling record, a quarter for buses and the rest for channels", .value = "MB"),
	SETTINGS_INT("skipped", struct blackbox_options, skipped, "", "20", "0", "1000000",
		     "an incident is a driver that skips more ticks within half a second; 0: never", .value = "N"),
	SETTINGS_STRING("config", struct blackbox_options, config, NULL,
			"the robot file, all buses of which are recorded", .value = "FILE"),
	SETTINGS_STRING("folder", struct blackbox_options, folder, NULL,
			"where incidents are written; default: with the logs", .value = "DIR"),
	SETTINGS_STRING("name", struct blackbox_options, name, PROGRAM, "name in the channel NAME-event",
			.value = "NAME"),
	SETTINGS_STRING("robot", struct blackbox_options, robot, NULL, "name of the robot; selects its folder",
			.value = "R"),
	SETTINGS_END,
};

static struct {
	struct blackbox_options options;
	struct record_daemon d;
	/* Paths of the rolling record; the other one is that of an incident that is written. */
	struct {
		char bus[RUN_PATH_MAX], channels[RUN_PATH_MAX];
	} records[RECORDS];
	unsigned int record;

	struct recorded_bus taps[ROBOT_BUSES_MAX];
	struct recorded_bus_held *held[ROBOT_BUSES_MAX];
	size_t buses;
	struct id_filter ids;
	struct writer *bus;
	uint64_t lost;

	struct causes causes;
	struct freeze incident; /* its causes, as they are found */
	struct freeze_job job;
	int64_t freeze_ns, quiet_ns; /* when to freeze; no other incident before */
	int64_t started_ns;
	uint64_t incidents, held_back; /* causes within --pause or --repeat-after */
	int disk;		       /* -errno that was reported; 0: none */
	int64_t cost_ns, look_ns;
} b = { .freeze_ns = CLOCK_NEVER };

/* ---- buses ---- */

static void put_entry(const struct recorded_bus_entry *e, const char *name)
{
	char line[LOG_WRITE_MAX];
	size_t len;

	if (e->note)
		len = (size_t)snprintf(line, sizeof(line), "# %s: %s\n", name, e->note);
	else if (e->lost)
		len = log_write_loss(line, name, e->lost);
	else
		len = log_write_line(line, e->t_ns + b.incident.real_ns, name, &e->frame);
	b.lost += e->lost;
	if (!writer_put(b.bus, e->t_ns, !e->note && !e->lost, &(struct iovec){ line, len }, 1))
		b.lost += !e->note && !e->lost;
}

static void read_buses(int64_t horizon_ns)
{
	const struct recorded_bus_entry *e;
	size_t i;

	for (i = 0; i < b.buses; i++)
		recorded_bus_receive(&b.taps[i], &b.ids, true);
	while (b.buses && (e = recorded_bus_next(b.held, b.buses, horizon_ns, &i)))
		put_entry(e, b.taps[i].name);
}

/* ---- causes ---- */

static void cause(enum trigger_kind kind, int64_t t_ns, const char *why)
{
	struct freeze *f = &b.incident;
	struct freeze_cause *c = &f->causes[f->causes_n];

	if (t_ns < b.started_ns - b.options.window_ns) /* of a channel that outlived its robot */
		return;
	if (t_ns < b.quiet_ns || (!f->causes_n && !trigger_begins(&b.causes.trigger, kind, t_ns))) {
		b.held_back++;
		return;
	}
	if (f->causes_n == FREEZE_CAUSES_MAX) {
		f->more++;
		return;
	}
	c->t_ns = t_ns;
	snprintf(c->why, sizeof(c->why), "%s", why);
	for (char *p = c->why; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = ' ';
	if (!f->causes_n++)
		b.freeze_ns = clock_now_ns() + b.options.after_ns;
}

static void seen(const struct recorder_channel *c)
{
	causes_seen(&b.causes, c);
}

/* ---- the rolling record ---- */

static int begin_record(struct error_sink *errors)
{
	const int64_t quarter = b.options.mb * 250000; /* messages take about three times as much as frames */
	struct writer_options options = { .rotate_bytes = quarter / PIECES,
					  .every_ns = b.options.window_ns / (PIECES - 1),
					  .keep = PIECES,
					  .total_bytes = quarter,
					  .digits = 4,
					  .memory = MEMORY_BYTES,
					  .lasting = true };
	struct writer_options channels = options;
	int status = record_daemon_open(&b.d, errors);

	if (status)
		return status;
	b.d.rec.seen = seen;
	b.d.rec.sparse = true;
	b.d.rec.polled = true; /* every LOOK_NS, in which no channel is overwritten as a whole */
	options.path = b.records[b.record].bus;
	channels.path = b.records[b.record].channels;
	channels.rotate_bytes *= 3;
	channels.total_bytes *= 3;
	record_daemon_scan(&b.d);
	status = writer_open(&b.bus, &options, errors);
	return status ? status : recorder_begin(&b.d.rec, &channels, errors);
}

/* The writers are left, for the thread that waits for them; without writer_finish, which takes a pending signal. */
static void end_record(struct writer **bus, struct writer **channels)
{
	recorder_turn(&b.d.rec, 0);
	read_buses(CLOCK_NEVER);
	b.lost += recorder_lost(&b.d.rec);
	*bus = b.bus;
	*channels = b.d.rec.writer;
	b.bus = b.d.rec.writer = NULL;
	recorder_close(&b.d.rec);
	memset(&b.d.rec, 0, sizeof(b.d.rec));
}

static void remove_pieces(const char *whole)
{
	struct rec_piece *pieces = NULL;
	const size_t n = writer_pieces(whole, &pieces);
	char path[PATH_MAX];

	for (size_t i = 0; i < n; i++)
		if (!rec_rotate_path(path, whole, 4, pieces[i].number))
			unlink(path);
	free(pieces);
}

static void remove_records(void)
{
	for (int i = 0; i < RECORDS; i++) {
		remove_pieces(b.records[i].bus);
		remove_pieces(b.records[i].channels);
	}
}

/* It is on the disk. */
static void announce(void)
{
	struct freeze_job *job = &b.job;

	if (job->status) {
		report_say(&b.d.report, MSG_SEVERITY_ERROR, "incident", "%s", job->why.text);
		return;
	}
	b.incidents++;
	report_say(&b.d.report, MSG_SEVERITY_WARNING, "incident", "incident %s: %.150s", job->name,
		   job->freeze.causes[0].why);
}

/* Makes an incident of the recording.  The last one has ended. */
static void freeze(void)
{
	struct freeze *f = &b.incident;
	struct freeze_job *job = &b.job;

	end_record(&job->bus, &job->channels);
	f->from_ns = f->causes[0].t_ns - b.options.window_ns;
	f->bus = b.records[b.record].bus;
	f->channels = b.records[b.record].channels;
	job->freeze = *f;
	b.record = (b.record + 1) % RECORDS;
	b.quiet_ns = f->causes[0].t_ns + b.options.pause_ns;
	b.freeze_ns = CLOCK_NEVER;
	f->causes_n = 0;
	f->more = 0;
	freeze_begin(job);
	if (freeze_waits() && freeze_ended(job, true))
		announce();
}

/* ---- the loop ---- */

static int64_t pieces_bytes(const char *whole)
{
	struct rec_piece *pieces = NULL;
	const size_t n = writer_pieces(whole, &pieces);
	int64_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += pieces[i].bytes;
	free(pieces);
	return bytes;
}

static int64_t record_bytes(void)
{
	int64_t bytes = 0;

	for (int i = 0; i < RECORDS; i++)
		bytes += pieces_bytes(b.records[i].bus) + pieces_bytes(b.records[i].channels);
	return bytes;
}

static void say_disk(void)
{
	const int bus = writer_stats(b.bus).error, error = bus ? bus : writer_stats(b.d.rec.writer).error;

	if (error && error != b.disk)
		report_say(&b.d.report, MSG_SEVERITY_ERROR, "disk",
			   "unable to write: %s; the next %d MB wait in memory: %s", strerror(-error),
			   MEMORY_BYTES >> 20, bus ? b.records[b.record].bus : b.records[b.record].channels);
	else if (!error && b.disk)
		report_say(&b.d.report, MSG_SEVERITY_INFO, "disk", "the rolling record is written again");
	b.disk = error;
}

static void alive(void)
{
	notify_watchdog(&b.d.notify, clock_now_ns());
}

/* Memory of its own in MB: the channels that it reads are mapped, too. */
static double own_memory(void)
{
	long all = 0, shared = 0;
	FILE *from = fopen("/proc/self/statm", "re");

	if (from && fscanf(from, "%*d %ld %ld", &all, &shared) != 2)
		all = shared = 0;
	if (from)
		fclose(from);
	return (double)((all - shared) * sysconf(_SC_PAGESIZE)) / 1e6;
}

/* What it costs, for achctl status. */
static void say_cost(int64_t now_ns)
{
	char text[NOTIFY_STATUS_MAX];
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	snprintf(text, sizeof(text),
		 "%" PRIu64 " incidents (%" PRIu64 " causes within --pause or --repeat-after); record %.1f of %" PRId64
		 " MB, %" PRIu64 " lost, memory %.1f MB, %.1f s of processor time in %.0f s",
		 b.incidents, b.held_back, (double)record_bytes() / 1e6, b.options.mb, b.lost + recorder_lost(&b.d.rec),
		 own_memory(),
		 (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
			 (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6,
		 (double)(now_ns - b.started_ns) / 1e9);
	notify_status(&b.d.notify, now_ns, text);
	b.cost_ns = now_ns + COST_NS;
}

static void beat(int64_t now_ns)
{
	if (now_ns >= b.cost_ns)
		say_cost(now_ns);
	if (!b.job.on) /* the record of the incident has a part of the room until it is written */
		say_disk();
}

static void drop_record(void)
{
	struct writer *bus, *channels;

	end_record(&bus, &channels);
	writer_close(bus);
	writer_close(channels);
}

static int run(struct error_sink *errors)
{
	int status = begin_record(errors), r = 0;

	notify_open(&b.d.notify);
	if (!status)
		notify_ready(&b.d.notify);
	while (!status && r >= 0 && !(r & RECORDER_STOP)) {
		const int64_t now_ns = clock_now_ns();

		if (now_ns >= b.look_ns) {
			b.look_ns = now_ns + LOOK_NS;
			read_buses(now_ns - HOLD_NS);
		}
		if (freeze_ended(&b.job, false))
			announce();
		if (now_ns >= b.freeze_ns && !b.job.on) {
			freeze();
			status = begin_record(errors);
		}
		if (!status)
			r = record_daemon_turn(&b.d, b.look_ns);
		causes_look(&b.causes, clock_now_ns());
	}
	if (!status) /* what came before the signal */
		recorder_turn(&b.d.rec, 0);
	if (freeze_ended(&b.job, true))
		announce();
	if (!status && b.incident.causes_n)
		freeze();
	else if (b.bus)
		drop_record();
	if (freeze_ended(&b.job, true))
		announce();
	remove_records();
	notify_stopping(&b.d.notify);
	report_end(&b.d.report, clock_now_ns());
	notify_close(&b.d.notify);
	return status || r < 0 ? EXIT_RETRY : 0;
}

/* ---- opening ---- */

static int add_bus(const char *text)
{
	struct recorded_bus *t = &b.taps[b.buses];

	if (b.buses == ROBOT_BUSES_MAX)
		return program_wrong("more than %d buses", ROBOT_BUSES_MAX);
	if (recorded_bus_read(t, text))
		return EXIT_WRONG;
	for (size_t i = 0; i < b.buses; i++)
		if (!strcmp(t->name, b.taps[i].name))
			return program_wrong("%s: there are two buses of that name: NAME=%s", t->name, t->text);
	b.buses++;
	return 0;
}

/* Recordings that stand for a bus are left out. */
static int add_file(const char *path, struct error_sink *errors)
{
	static struct robot robot;
	static char texts[ROBOT_BUSES_MAX][160];
	int status = 0;

	if (robot_open(&robot, path, errors))
		return EXIT_WRONG;
	for (size_t i = 0; !status && i < robot.buses_n; i++) {
		if (!strncmp(robot.buses[i].interface, "log:", 4))
			continue;
		snprintf(texts[b.buses], sizeof(texts[0]), "%s=%s", robot.buses[i].name, robot.buses[i].interface);
		status = add_bus(texts[b.buses]);
	}
	robot_close(&robot);
	return status;
}

static int open_buses(void)
{
	const struct bus_options options = { .errors = true, .fd = true, .later = true, .receive_buffer = 1 << 20 };

	b.ids.all = true;
	for (size_t i = 0; i < b.buses; i++) {
		if (recorded_bus_open(&b.taps[i], &options))
			return EXIT_RETRY;
		b.held[i] = b.taps[i].held;
	}
	return 0;
}

static int make_folders(struct error_sink *errors)
{
	int fd = run_folder("blackbox", errors);

	if (fd < 0)
		return EXIT_RETRY;
	close(fd);
	if (run_path(b.records[0].bus, "blackbox/bus.log", errors) ||
	    run_path(b.records[0].channels, "blackbox/channels.rec", errors) ||
	    run_path(b.records[1].bus, "blackbox/bus-b.log", errors) ||
	    run_path(b.records[1].channels, "blackbox/channels-b.rec", errors))
		return EXIT_RETRY;
	if (record_daemon_folder(&b.d, "incident", errors))
		return EXIT_RETRY;
	remove_records(); /* of a predecessor that was killed */
	return 0;
}

int main(int argc, char **argv)
{
	struct options options = {
		.program = PROGRAM,
		.about = "Keeps the last seconds of all buses and channels when a daemon dies or the robot stops.",
		.rows = rows,
		.values = &b.options,
		.arguments = "[[NAME=]BUS...]",
		.arguments_max = ROBOT_BUSES_MAX,
		.version = OPTIONS_VERSION,
		.notes = "achctl incident lists and shows incidents.\n",
	};
	struct error_sink errors = program_errors;
	const char *prefix = getenv("ENDPLATE_PREFIX");
	int status = program_options(&options, &argc, argv);

	if (status != OPTIONS_RUN)
		return status;
	b.d.prefix = prefix ? prefix : "";
	b.d.folder_option = b.options.folder;
	b.d.beat = beat;
	b.causes.trigger.skipped_max = (uint64_t)b.options.skipped;
	b.causes.trigger.repeat_after_ns = b.options.repeat_after_ns;
	b.causes.found = cause;
	b.causes.prefix = strlen(b.d.prefix);
	b.incident.folder = b.d.folder;
	b.incident.keep = b.options.keep;
	b.incident.total_bytes = b.options.total * 1000000;
	b.incident.robot = b.options.robot ? b.options.robot : "robot";
	b.started_ns = clock_now_ns();
	b.incident.real_ns = clock_real_ns() - b.started_ns;
	b.job.remove = remove_pieces;
	b.job.alive = alive;
	status = b.options.robot && run_robot(b.options.robot)
			 ? program_wrong("--robot: %s is not a valid name", b.options.robot)
			 : 0;
	for (int i = 0; !status && i < argc; i++)
		status = add_bus(argv[i]);
	if (!status && b.options.config)
		status = add_file(b.options.config, &errors);
	if (status)
		return status;
	clock_stop_fd(); /* from here on a signal is an orderly end */
	setpriority(PRIO_PROCESS, 0, NICE);
	status = make_folders(&errors);
	if (!status)
		status = open_buses();
	if (!status) {
		const int64_t newest_ns = freeze_newest(b.d.folder);

		if (newest_ns) /* by a predecessor, whose causes are read again */
			b.quiet_ns = newest_ns - b.incident.real_ns + b.options.pause_ns;
		report_open(&b.d.report, PROGRAM, b.options.name, &errors); /* if it is refused, it is tried again */
		status = run(&errors);
	}
	for (size_t i = 0; i < b.buses; i++)
		recorded_bus_close(&b.taps[i]);
	return status;
}
