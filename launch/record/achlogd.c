/* achlogd.c: records chosen channels of a robot into pieces of bounded size; achlogd(1). */
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels/clock/clock.h"
#include "channels/rec/rec_rotate.h"
#include "config/settings/program.h"
#include "launch/record/record_daemon.h"

#define PROGRAM "achlogd"
#define BUFFER_BYTES (16 << 20) /* that wait for the disk */
#define PATTERNS_MAX 64
#define DIGITS 8 /* of the number of a piece: names sort */

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
	struct record_daemon d;
	const char *patterns[PATTERNS_MAX];
	size_t patterns_n;
	char path[RUN_PATH_MAX + 64];
	int lock;

	struct recorder_place places[RECORDER_CHANNELS_MAX];
	int64_t mend_ns;
	int disk;      /* -errno that was reported; 0: all is well */
	uint64_t lost; /* reported */
} l = { .lock = -1 };

/* ---- events ---- */

static void say_disk(void)
{
	const struct writer_stats stats = writer_stats(l.d.rec.writer);

	if (stats.error && stats.error != l.disk)
		report_say(&l.d.report, MSG_SEVERITY_ERROR, "disk",
			   "unable to write in %s: %s; messages wait in %d MB of memory", l.d.folder,
			   strerror(-stats.error), BUFFER_BYTES >> 20);
	else if (!stats.error && l.disk)
		report_say(&l.d.report, MSG_SEVERITY_INFO, "disk",
			   "written again in %s; %" PRIu64 " messages were lost since the start", l.d.folder,
			   recorder_lost(&l.d.rec));
	l.disk = stats.error;
}

static void say_lost(void)
{
	const uint64_t lost = recorder_lost(&l.d.rec);

	if (lost > l.lost)
		report_say(&l.d.report, MSG_SEVERITY_WARNING, "lost", "%" PRIu64 " messages were lost since the start",
			   lost);
	l.lost = lost;
}

static bool is_wanted(const char *own)
{
	for (size_t i = 0; i < l.patterns_n; i++)
		if (!fnmatch(l.patterns[i], own, 0))
			return true;
	return false;
}

/* ---- where earlier recordings end, so that the next one goes on there ---- */

struct places {
	struct recorder_place *found; /* number 0: described, and its last message is not found yet */
	size_t n, open;
};

static struct recorder_place *place_of(struct places *p, uint64_t id)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->found[i].id == id)
			return &p->found[i];
	if (p->n == RECORDER_CHANNELS_MAX)
		return NULL;
	p->found[p->n] = (struct recorder_place){ .id = id };
	p->open++;
	return &p->found[p->n++];
}

/* A channel of this number in the piece is over: another one follows, or the piece ends. */
static void close_channel(struct places *p, struct recorder_place *last)
{
	struct recorder_place *place = last->id ? place_of(p, last->id) : NULL;

	if (place && last->number && !place->number) {
		place->number = last->number;
		p->open--;
	}
	*last = (struct recorder_place){ 0 };
}

static void read_piece(struct places *p, const char *path)
{
	static struct recorder_place last[RECLOG_CHANNELS_MAX]; /* by the number in the piece */
	struct reclog_reader reader;
	struct reclog_record r;
	enum reclog_found found;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	reclog_open(&reader, fd);
	while ((found = reclog_read(&reader, &r)) == RECLOG_FOUND_RECORD || found == RECLOG_FOUND_DAMAGE) {
		struct recorder_place *place = &last[r.channel];

		if (found == RECLOG_FOUND_DAMAGE)
			continue;
		if (r.kind == RECLOG_CHANNEL && place->id != r.number) {
			close_channel(p, place);
			place->id = r.number;
		}
		if (r.kind == RECLOG_MESSAGE && place->id)
			place->number = r.number;
	}
	for (size_t i = 0; i < RECLOG_CHANNELS_MAX; i++)
		close_channel(p, &last[i]);
	reclog_close(&reader);
	close(fd);
}

/* The last message of each channel in the pieces of a file, the newest pieces first, until each channel that the newest
 * one describes is found.  Damaged pieces are read as far as they can be.  Returns how many. */
static size_t read_places(struct recorder_place places[RECORDER_CHANNELS_MAX], const char *whole)
{
	struct places p = { .found = places };
	struct rec_piece *pieces;
	char path[PATH_MAX];
	size_t n = writer_pieces(whole, &pieces), kept = 0;

	for (size_t left = n; left && (left == n || p.open); left--)
		if (!rec_rotate_path(path, whole, DIGITS, pieces[left - 1].number))
			read_piece(&p, path);
	free(pieces);
	for (size_t i = 0; i < p.n; i++)
		if (places[i].number)
			places[kept++] = places[i];
	return kept;
}

/* ---- the folder ---- */

/* Locks it.  0 or -errno. */
static int lock_folder(void)
{
	const int fd = open(l.d.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
		close(fd);
		return -EBUSY;
	}
	if (l.lock >= 0)
		close(l.lock);
	l.lock = fd;
	return 0;
}

static int find_folder(struct error_sink *errors)
{
	int r = record_daemon_folder(&l.d, "record", errors);

	if (r)
		return r;
	r = lock_folder();
	if (r == -EBUSY)
		return error_refuse(errors, r, "%s: another achlogd writes there; give one of them another --folder",
				    l.d.folder);
	if (r)
		return error_refuse(errors, r, "--folder: %s: %s", l.d.folder, strerror(-r));
	snprintf(l.path, sizeof(l.path), "%s/%s.rec", l.d.folder, l.options.name);
	return 0;
}

/* ---- the loop ---- */

static void beat(int64_t now_ns)
{
	say_disk();
	say_lost();
	if (l.disk == -ENOENT && now_ns >= l.mend_ns) { /* it was removed */
		mkdir(l.d.folder, 0750);
		lock_folder();
		l.mend_ns = now_ns + RECORD_DAEMON_SCAN_NS;
	}
}

static int run(void)
{
	int r;

	notify_open(&l.d.notify);
	notify_ready(&l.d.notify);
	do
		r = record_daemon_turn(&l.d, CLOCK_NEVER);
	while (r >= 0 && !(r & (RECORDER_STOP | RECORDER_ENDED)));
	notify_stopping(&l.d.notify);
	return r < 0 || r & RECORDER_ENDED ? EXIT_RETRY : 0;
}

static int record(struct error_sink *errors)
{
	struct writer_options writer = { .path = l.path,
					 .rotate_bytes = l.options.piece_mb * 1000000,
					 .keep = l.options.pieces,
					 .total_bytes = l.options.total_mb * 1000000,
					 .digits = DIGITS,
					 .memory = BUFFER_BYTES,
					 .lasting = true };
	int status = EXIT_RETRY, error;

	if (record_daemon_open(&l.d, errors))
		return EXIT_RETRY;
	l.d.rec.places_n = read_places(l.places, l.path);
	l.d.rec.places = l.places;
	record_daemon_scan(&l.d);
	if (!recorder_begin(&l.d.rec, &writer, errors)) {
		status = run();
		error = recorder_end(&l.d.rec, true);
		if (error && !status)
			status = error_refuse(errors, EXIT_RETRY, "unable to write in %s: %s", l.d.folder,
					      error == -ECANCELED ? "given up" : strerror(-error));
		say_lost();
	}
	report_end(&l.d.report, clock_now_ns());
	notify_close(&l.d.notify);
	recorder_close(&l.d.rec);
	return status;
}

static int check(int argc, char **argv, struct error_sink *errors)
{
	const char *prefix = getenv("ENDPLATE_PREFIX");

	l.d.prefix = prefix ? prefix : "";
	l.d.folder_option = l.options.folder;
	l.d.wanted = is_wanted;
	l.d.beat = beat;
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
	struct error_sink errors = ERROR_TO_STDERR(PROGRAM, NULL, ERROR_FATAL);
	int status = program_options(&options, &argc, argv);

	if (status != OPTIONS_RUN)
		return status;
	if (check(argc, argv, &errors))
		return EXIT_WRONG;
	clock_stop_fd(); /* from here on a signal is an orderly end */
	if (find_folder(&errors))
		return EXIT_RETRY;
	report_open(&l.d.report, PROGRAM, l.options.name, &errors); /* if it is refused, it is tried again */
	return record(&errors);
}
