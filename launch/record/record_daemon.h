/* record_daemon.h: what achlogd and blackbox share: a recorder that reports to the supervisor. */
#pragma once

#include "channels/port/notify.h"
#include "channels/port/report.h"
#include "channels/rec/recorder.h"
#include "config/base/base.h"

#define RECORD_DAEMON_SCAN_NS 1000000000 /* between two looks for channels, if the folder cannot be watched */

struct record_daemon {
	const char *folder_option;	 /* NULL: with the logs */
	bool (*wanted)(const char *own); /* a channel, without the prefix of the robot; NULL: all */
	void (*beat)(int64_t now_ns);	 /* called ten times a second */
	const char *prefix;
	char folder[RUN_PATH_MAX];
	struct recorder rec;
	struct report report;
	struct notify notify;

	/* private */
	struct error_sink lines;
	int64_t beat_ns, scan_ns;
	bool crowded; /* reported: too many channels */
};

/* Makes the folder, that one among the logs by default.  0 or -errno with a line in errors. */
int record_daemon_folder(struct record_daemon *d, const char *by_default, struct error_sink *errors);
/* Opens a recorder of the channels that are there.  0 or -errno with a line in errors. */
int record_daemon_open(struct record_daemon *d, struct error_sink *errors);
void record_daemon_scan(struct record_daemon *d);
/* As recorder_turn, with beats, and channels that are made later. */
int record_daemon_turn(struct record_daemon *d, int64_t deadline_ns);
