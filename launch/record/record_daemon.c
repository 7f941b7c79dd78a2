/* record_daemon.c: what achlogd and blackbox share: a recorder that reports to the supervisor. */
#include <sys/stat.h>
#include <unistd.h>

#include "channels/ach/ach_file.h"
#include "channels/clock/clock.h"
#include "launch/record/record_daemon.h"
#include "launch/view/logs.h"

int record_daemon_folder(struct record_daemon *d, const char *by_default, struct error_sink *errors)
{
	int fd, r = 0;

	if (d->folder_option) {
		if (snprintf(d->folder, sizeof(d->folder), "%s", d->folder_option) >= (int)sizeof(d->folder))
			r = -ENAMETOOLONG;
	} else {
		fd = run_folder("log", errors);
		if (fd < 0)
			return fd;
		close(fd);
		r = logs_path(d->folder, by_default);
	}
	if (!r && mkdir(d->folder, 0750) && errno != EEXIST)
		r = -errno;
	return r ? error_refuse(errors, r, "--folder: %s: %s", d->folder, strerror(-r)) : 0;
}

/* A line about a channel that cannot be read. */
static void say_line(void *report, const char *line)
{
	report_say(report, MSG_SEVERITY_WARNING, "channel", "%s", line);
}

int record_daemon_open(struct record_daemon *d, struct error_sink *errors)
{
	int r;

	d->crowded = false;
	d->lines = (struct error_sink){ say_line, &d->report, 0 };
	r = recorder_open(&d->rec, &d->lines);
	return r ? error_refuse(errors, r, "%s", strerror(-r)) : 0;
}

void record_daemon_scan(struct record_daemon *d)
{
	const size_t len = strlen(d->prefix);
	DIR *folder = ach_file_list();
	const char *channel;

	while (folder && !d->crowded && (channel = ach_file_next(folder)))
		if (!strncmp(channel, d->prefix, len) && (!d->wanted || d->wanted(channel + len)) &&
		    !recorder_has(&d->rec, channel))
			d->crowded = recorder_add(&d->rec, channel);
	if (folder)
		closedir(folder);
	d->scan_ns = clock_now_ns() + RECORD_DAEMON_SCAN_NS;
}

static void beat(struct record_daemon *d, int64_t now_ns)
{
	bool retry;

	d->beat(now_ns); /* its status goes with the beat */
	retry = notify_watchdog(&d->notify, now_ns) == -EAGAIN;
	d->beat_ns = now_ns + (retry ? NOTIFY_RETRY_NS : NOTIFY_PERIOD_NS);
	report_tick(&d->report, now_ns);
	port_reopen(&d->report.port, now_ns, RECORD_DAEMON_SCAN_NS);
}

int record_daemon_turn(struct record_daemon *d, int64_t deadline_ns)
{
	const int64_t now_ns = clock_now_ns();
	int r;

	if (now_ns >= d->beat_ns)
		beat(d, now_ns);
	if (now_ns >= d->scan_ns)
		record_daemon_scan(d);
	r = recorder_turn(&d->rec, num_min(deadline_ns, num_min(d->beat_ns, d->scan_ns)));
	if (r > 0 && r & RECORDER_FOLDER)
		d->scan_ns = 0;
	return r;
}
