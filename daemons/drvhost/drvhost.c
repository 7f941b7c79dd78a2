/* drvhost.c: runs drivers that are in shared objects; drvhost(1).
 *
 * One driver runs in the first thread, as its program would.  Of several each has a thread with a loop of its own, and
 * this file is what they have in common: the end of the process, and the supervisor's one socket.
 */
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "channels/clock/clock.h"
#include "channels/port/notify.h"
#include "config/base/base.h"
#include "config/settings/options.h"
#include "daemons/drvhost/drvhost_load.h"

#define PROGRAM "drvhost"
#define DRIVERS_MAX 16
#define STACK_SIZE (1024 * 1024) /* which is locked in memory as a whole; the loop touches a quarter of it */
#define LOOK_NS (NOTIFY_PERIOD_NS / 2)

struct guest {
	const char *file;
	int argc;
	char **argv; /* argv[0] is the file */
	struct drv *drv;
	char name[TEXT_NAME_MAX + 1];

	struct drv_seat seat;
	pthread_t thread;
	int ended_fd;
	int status;	     /* once it has ended */
	_Atomic bool ended;  /* set by its thread */
	bool running;	     /* there is a thread to join */
	uint32_t turns;	     /* at the last beat */
	enum msg_life shown; /* in the last status */
};

struct host {
	struct guest guests[DRIVERS_MAX];
	size_t n;
	int status; /* of the process: of the first that failed */
	bool stopping, ready;
	struct notify notify;
};

__attribute__((format(printf, 1, 2))) static int refuse(const char *fmt, ...)
{
	struct error_sink errors = ERROR_TO_STDERR(PROGRAM, NULL, ERROR_FATAL);
	va_list args;

	va_start(args, fmt);
	error_add_v(&errors, fmt, args);
	va_end(args);
	return EXIT_WRONG;
}

/* ---- the command line ---- */

/* FILE.so OPTIONS [-- FILE.so OPTIONS]... */
static int split(struct host *host, int argc, char **argv)
{
	struct guest *guest = NULL;

	for (int i = 1; i < argc; i++) {
		if (guest && strcmp(argv[i], "--") != 0) {
			guest->argc++;
			continue;
		}
		if (guest)
			argv[i++] = NULL;
		if (i == argc || *argv[i] == '-')
			return refuse("%s: a FILE.so goes first, and behind each --; " PROGRAM " --help",
				      i < argc ? argv[i] : "--");
		if (host->n == DRIVERS_MAX)
			return refuse("more than %d drivers in one process", DRIVERS_MAX);
		guest = &host->guests[host->n++];
		*guest = (struct guest){ .file = argv[i], .argc = 1, .argv = &argv[i] };
	}
	return 0;
}

/* The value of its option --robot, or NULL. */
static const char *robot_of(const struct guest *guest)
{
	const char *robot = NULL;

	for (int i = 1; i < guest->argc; i++)
		if (!strcmp(guest->argv[i], "--robot") && i + 1 < guest->argc)
			robot = guest->argv[++i];
		else if (!strncmp(guest->argv[i], "--robot=", 8))
			robot = guest->argv[i] + 8;
	return robot;
}

/* Properties of the process, not of one driver. */
static int check_together(const struct host *host)
{
	const char *first = robot_of(&host->guests[0]);

	if (clock_used())
		return refuse(
			"several drivers in one process cannot keep to a virtual clock: give each a daemon of its own");
	for (size_t i = 1; i < host->n; i++) {
		const char *robot = robot_of(&host->guests[i]);

		if (!first != !robot || (robot && strcmp(first, robot) != 0))
			return refuse("%s: all drivers of a process belong to one robot: give each the same --robot",
				      host->guests[i].file);
	}
	return 0;
}

static int load_one(struct guest *guest, const struct drv_driver **driver)
{
	struct error_sink errors = ERROR_TO_STDERR(PROGRAM, NULL, ERROR_FATAL);

	*driver = drvhost_load(guest->file, &errors);
	return *driver ? 0 : EXIT_WRONG;
}

/* ---- several ---- */

static void *run(void *to)
{
	struct guest *guest = to;

	guest->status = drv_run(guest->drv, &guest->seat);
	guest->ended = true;
	eventfd_write(guest->ended_fd, 1);
	return NULL;
}

static void stop_all(struct host *host)
{
	if (!host->stopping)
		notify_stopping(&host->notify);
	host->stopping = true;
	for (size_t i = 0; i < host->n; i++)
		eventfd_write(host->guests[i].seat.stop_fd, 1);
}

/* Returns the number of those that run. */
static size_t join_ended(struct host *host)
{
	size_t running = 0;

	for (size_t i = 0; i < host->n; i++) {
		struct guest *guest = &host->guests[i];

		if (guest->running && guest->ended) {
			pthread_join(guest->thread, NULL);
			guest->running = false;
			if (guest->status && !host->status)
				host->status = guest->status;
			if (guest->status)
				stop_all(host);
		}
		running += guest->running;
	}
	return running;
}

/* READY once all are; a beat once each loop has turned since the last one. */
static void report(struct host *host, int64_t now_ns)
{
	bool ready = true, beat = true, changed = false;
	char text[NOTIFY_STATUS_MAX] = "";
	size_t len = 0;

	for (size_t i = 0; i < host->n; i++) {
		struct guest *guest = &host->guests[i];
		const enum msg_life life = guest->running ? (enum msg_life)guest->seat.life : MSG_LIFE_DOWN;

		ready &= guest->seat.ready || !guest->running;
		beat &= guest->seat.turns != guest->turns || !guest->running;
		changed |= life != guest->shown;
		guest->shown = life;
		if (len < sizeof(text))
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s %s", i ? ", " : "", guest->name,
						msg_life_word(life));
	}
	if (changed)
		notify_status(&host->notify, now_ns, text);
	if (ready && !host->ready && !host->stopping) {
		host->ready = true;
		notify_ready(&host->notify);
	}
	if (beat && notify_watchdog(&host->notify, now_ns) != -EBUSY)
		for (size_t i = 0; i < host->n; i++)
			host->guests[i].turns = host->guests[i].seat.turns;
}

static int start_threads(struct host *host, int ended_fd)
{
	pthread_attr_t attr;
	int status = -pthread_attr_init(&attr);

	if (!status)
		status = -pthread_attr_setstacksize(&attr, STACK_SIZE);
	for (size_t i = 0; i < host->n && !status; i++) {
		struct guest *guest = &host->guests[i];

		guest->ended_fd = ended_fd;
		guest->seat.stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		status = guest->seat.stop_fd < 0 ? -errno : -pthread_create(&guest->thread, &attr, run, guest);
		guest->running = !status;
		if (guest->running)
			pthread_setname_np(guest->thread, guest->name);
	}
	pthread_attr_destroy(&attr);
	return status;
}

static int run_all(struct host *host)
{
	struct clock_fd fds[2] = { { .fd = clock_stop_fd(), .events = POLLIN },
				   { .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .events = POLLIN } };
	uint64_t ended;
	int status;

	notify_open(&host->notify);
	status = fds[0].fd < 0 || fds[1].fd < 0 ? -errno : start_threads(host, fds[1].fd);
	if (status) {
		error_say(PROGRAM, NULL, ERROR_FATAL, "unable to start a thread: %s", strerror(-status));
		return EXIT_RETRY; /* those that run end with the process: none of them has armed anything yet */
	}
	while (join_ended(host)) {
		struct signalfd_siginfo info;

		clock_wait(fds, 2, clock_now_ns() + LOOK_NS);
		(void)eventfd_read(fds[1].fd, &ended);
		if (read(fds[0].fd, &info, sizeof(info)) > 0)
			stop_all(host);
		report(host, clock_now_ns());
	}
	return host->status;
}

/* --check and --frames print, one after the other. */
static int check_all(struct host *host)
{
	int status = 0;

	for (size_t i = 0; i < host->n; i++) {
		const int one = drv_run(host->guests[i].drv, NULL);

		status = status ? status : one;
	}
	return status;
}

static int run_several(struct host *host)
{
	int status = check_together(host);
	size_t checks = 0, news = 0;

	for (size_t i = 0; i < host->n && !status; i++) {
		struct guest *guest = &host->guests[i];
		const struct drv_driver *driver;

		status = load_one(guest, &driver);
		if (status)
			return status;
		guest->drv = drv_new(driver, guest->argc, guest->argv, &status);
		if (!guest->drv && !status)
			news++; /* --help and the like */
		if (!guest->drv)
			continue;
		status = 0;
		snprintf(guest->name, sizeof(guest->name), "%s", drv_name(guest->drv));
		checks += drv_checks(guest->drv);
	}
	if (status || news)
		return status;
	if (checks && checks < host->n)
		return refuse("--check or --frames for some of the drivers only: give it to all");
	return checks ? check_all(host) : run_all(host);
}

int main(int argc, char **argv)
{
	static const struct settings_row rows[] = { SETTINGS_END };
	static struct host host;
	struct error_sink errors = { error_to_stderr, NULL, 0 };
	struct options options = {
		.program = PROGRAM,
		.about = "runs drivers that are in shared objects",
		.rows = rows,
		.values = &host,
		.arguments = "FILE.so [OPTION...] [-- FILE.so [OPTION...]]...",
		.arguments_min = 1,
		.arguments_max = -1,
		.version = OPTIONS_VERSION,
		.notes = "The options behind a FILE.so are those of its driver: " PROGRAM " FILE.so --help\n",
	};
	const struct drv_driver *driver;
	int status;

	if (argc < 2 || *argv[1] == '-') {
		if (options_read(&options, &argc, argv, &errors) != OPTIONS_ANSWER)
			return errors.count ? EXIT_WRONG
					    : refuse("-- has to stand between two drivers; " PROGRAM " --help");
		options_answer(&options, stdout);
		return 0;
	}
	status = split(&host, argc, argv);
	if (status)
		return status;
	if (host.n > 1)
		return run_several(&host);
	status = load_one(&host.guests[0], &driver);
	if (status)
		return status;
	pthread_setname_np(pthread_self(), driver->program); /* as ps and a claim show the program */
	return drv_main(driver, host.guests[0].argc, host.guests[0].argv);
}
