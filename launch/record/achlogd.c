/* achlogd.c: records chosen channels of a robot into pieces of bounded size; achlogd(1). */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels/ach/ach_file.h"
#include "channels/clock/clock.h"
#include "channels/port/notify.h"
#include "channels/port/report.h"
#include "channels/rec/recorder.h"
#include "config/base/exit.h"
#include "config/base/run.h"
#include "config/base/text.h"
#include "config/settings/program.h"
#include "launch/record/achlogd.h"
#include "launch/view/logs.h"

#define PROGRAM "achlogd"
#define BUFFER_BYTES (16 << 20) /* that wait for the disk */
#define SCAN_NS 1000000000	/* between two looks for channels, if the folder cannot be watched */
#define PATTERNS_MAX 64

struct achlogd_options {
	const char *robot, *name, *folder;
	int64_t piece_mb, pieces, total_mb;
};

static const struct settings_row rows[] = {
	SETTINGS_STRING("folder", struct achlogd_options, folder, NULL,
			"where pieces are written; by default with the logs", .value = "DIR"),
	SETTINGS_INT("piece", struct achlogd_options, piece_mb, "", "4", "1", "100000", "megabytes of a piece",
		     .value = "MB"),
	SETTINGS_INT("pieces", struct achlogd_options, pieces, "", "64", "2", "100000", "pieces that are kept",
		     .value = "N"),
	SETTINGS_INT("total", struct achlogd_options, total_mb, "", "32", "2", "10000000", "megabytes of all pieces",
		     .value = "MB"),
	SETTINGS_STRING("name", struct achlogd_options, name, PROGRAM,
			"name of the pieces, and in the channel NAME-event", .value = "NAME"),
	SETTINGS_STRING("robot", struct achlogd_options, robot, NULL, "name of the robot; selects its folder",
			.value = "R"),
	SETTINGS_END,
};

static struct {
	struct achlogd_options options;
	const char *prefix;
	const char *patterns[PATTERNS_MAX];
	size_t patterns_n;
	char folder[RUN_PATH_MAX], path[RUN_PATH_MAX + 64];
	int lock;

	struct recorder rec;
	struct recorder_place places[RECORDER_CHANNELS_MAX];
	struct report report;
	struct notify notify;
	int64_t scan_ns, beat_ns, mend_ns;
	int disk;      /* -errno that was reported; 0: all is well */
	uint64_t lost; /* reported */
	bool crowded;  /* reported: too many channels */
} l = { .lock = -1 };

/* ---- events ---- */

/* Prints a line about a channel that cannot be read. */
static void say_line(void *to, const char *line)
{
	(void)to;
	report_say(&l.report, MSG_SEVERITY_WARNING, "channel", "%s", line);
}

static void say_disk(void)
{
	const struct writer_stats stats = writer_stats(l.rec.writer);

	if (stats.error && stats.error != l.disk)
		report_say(&l.report, MSG_SEVERITY_ERROR, "disk",
			   "unable to write in %s: %s; messages wait in %d MB of memory", l.folder,
			   strerror(-stats.error), BUFFER_BYTES >> 20);
	else if (!stats.error && l.disk)
		report_say(&l.report, MSG_SEVERITY_INFO, "disk",
			   "written again in %s; %" PRIu64 " messages were lost since the start", l.folder,
			   recorder_lost(&l.rec));
	l.disk = stats.error;
}

static void say_lost(void)
{
	const uint64_t lost = recorder_lost(&l.rec);

	if (lost > l.lost)
		report_say(&l.report, MSG_SEVERITY_WARNING, "lost", "%" PRIu64 " messages were lost since the start",
			   lost);
	l.lost = lost;
}

/* ---- channels ---- */

static bool is_wanted(const char *channel)
{
	const size_t len = strlen(l.prefix);

	if (strncmp(channel, l.prefix, len) != 0)
		return false;
	for (size_t i = 0; i < l.patterns_n; i++)
		if (!fnmatch(l.patterns[i], channel + len, 0))
			return true;
	return false;
}

static void scan(void)
{
	DIR *folder = ach_file_list();
	const char *channel;

	while (folder && (channel = ach_file_next(folder)) && !l.crowded) {
		if (!is_wanted(channel) || recorder_has(&l.rec, channel))
			continue;
		l.crowded = recorder_add(&l.rec, channel);
	}
	if (folder)
		closedir(folder);
	l.scan_ns = clock_now_ns() + SCAN_NS;
}

/* ---- the folder ---- */

/* Makes the folder and locks it.  0 or -errno. */
static int open_folder(void)
{
	int fd, r = 0;

	if (mkdir(l.folder, 0750) && errno != EEXIST)
		return -errno;
	fd = open(l.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		r = -EBUSY;
	if (l.lock >= 0 && !r)
		close(l.lock);
	if (r)
		close(fd);
	else
		l.lock = fd;
	return r;
}

static int find_folder(struct error_sink *errors)
{
	int fd, r;

	if (l.options.folder) {
		r = snprintf(l.folder, sizeof(l.folder), "%s", l.options.folder) < (int)sizeof(l.folder)
			    ? 0
			    : -ENAMETOOLONG;
	} else {
		fd = run_folder("log", errors);
		if (fd < 0)
			return fd;
		close(fd);
		r = logs_path(l.folder, "record");
	}
	if (!r)
		r = open_folder();
	if (r == -EBUSY)
		return error_refuse(errors, r, "%s: another achlogd writes there; give one of them another --folder",
				    l.folder);
	if (r)
		return error_refuse(errors, r, "--folder: %s: %s", l.options.folder ? l.options.folder : l.folder,
				    strerror(-r));
	snprintf(l.path, sizeof(l.path), "%s/%s.rec", l.folder, l.options.name);
	return 0;
}

/* ---- the loop ---- */

static void beat(int64_t now_ns)
{
	const bool retry = notify_watchdog(&l.notify, now_ns) == -EAGAIN;

	l.beat_ns = now_ns + (retry ? NOTIFY_RETRY_NS : NOTIFY_PERIOD_NS);
	say_disk();
	say_lost();
	report_tick(&l.report, now_ns);
	port_reopen(&l.report.port, now_ns, SCAN_NS);
	if (l.disk == -ENOENT && now_ns >= l.mend_ns) {
		open_folder(); /* it was removed */
		l.mend_ns = now_ns + SCAN_NS;
	}
}

static int run(void)
{
	int r;

	notify_open(&l.notify);
	notify_ready(&l.notify);
	do {
		const int64_t now_ns = clock_now_ns();

		if (now_ns >= l.beat_ns)
			beat(now_ns);
		if (now_ns >= l.scan_ns)
			scan();
		r = recorder_turn(&l.rec, l.beat_ns < l.scan_ns ? l.beat_ns : l.scan_ns);
		if (r > 0 && r & RECORDER_FOLDER)
			l.scan_ns = 0;
	} while (r >= 0 && !(r & (RECORDER_STOP | RECORDER_ENDED)));
	notify_stopping(&l.notify);
	return r < 0 || r & RECORDER_ENDED ? EXIT_RETRY : 0;
}

static int record(struct error_sink *errors)
{
	struct error_sink lines = { say_line, NULL, 0 };
	struct writer_options writer = { .path = l.path,
					 .rotate_bytes = l.options.piece_mb * 1000000,
					 .keep = l.options.pieces,
					 .total_bytes = l.options.total_mb * 1000000,
					 .digits = ACHLOGD_DIGITS,
					 .memory = BUFFER_BYTES,
					 .lasting = true };
	int r = recorder_open(&l.rec, &lines), status = EXIT_RETRY, error;

	if (r)
		return error_refuse(errors, EXIT_RETRY, "%s", strerror(-r));
	l.rec.places_n = places_read(l.places, l.path);
	l.rec.places = l.places;
	scan();
	if (!recorder_begin(&l.rec, &writer, errors)) {
		status = run();
		error = recorder_end(&l.rec, true);
		if (error && !status)
			status = error_refuse(errors, EXIT_RETRY, "unable to write in %s: %s", l.folder,
					      error == -ECANCELED ? "given up" : strerror(-error));
		say_lost();
	}
	report_end(&l.report, clock_now_ns());
	notify_close(&l.notify);
	recorder_close(&l.rec);
	return status;
}

static int check(int argc, char **argv, struct error_sink *errors)
{
	const char *prefix = getenv("ENDPLATE_PREFIX");

	l.prefix = prefix ? prefix : "";
	if (l.options.robot && run_robot(l.options.robot))
		error_add(errors, "--robot: %s is not a valid name", l.options.robot);
	if (!text_is_name(l.options.name))
		error_add(errors, "--name: %s is not a valid name", l.options.name);
	if (l.options.total_mb < 2 * l.options.piece_mb)
		error_add(errors, "--total: %" PRId64 " MB have no room for two pieces of --piece %" PRId64 " MB",
			  l.options.total_mb, l.options.piece_mb);
	l.patterns[0] = "*-event";
	l.patterns_n = argc ? (size_t)argc : 1;
	for (int i = 0; i < argc; i++)
		l.patterns[i] = argv[i];
	return errors->count ? -EINVAL : 0;
}

int main(int argc, char **argv)
{
	struct options options = {
		.program = PROGRAM,
		.about = "Records channels of a robot into pieces of bounded size, the oldest of which are removed.",
		.rows = rows,
		.values = &l.options,
		.arguments = "[PATTERN...]",
		.arguments_max = PATTERNS_MAX,
		.version = OPTIONS_VERSION,
		.notes = "A PATTERN is a channel, or several: \"*-event\", which is the default, \"?arm-state\".\n"
			 "ach play, ach echo and the Python module read each piece.\n",
	};
	struct error_who me = { PROGRAM, NULL, ERROR_FATAL };
	struct error_sink errors = { error_to_stderr, &me, 0 };
	int status = program_options(&options, &argc, argv);

	if (status != OPTIONS_RUN)
		return status;
	if (check(argc, argv, &errors))
		return EXIT_WRONG;
	clock_stop_fd(); /* from here on a signal is an orderly end */
	if (find_folder(&errors))
		return EXIT_RETRY;
	report_open(&l.report, PROGRAM, l.options.name, &errors); /* if it is refused, it is tried again */
	return record(&errors);
}
