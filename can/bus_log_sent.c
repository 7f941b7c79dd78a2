/* bus_log_sent.c: writes the frames sent on a log to a file for comparison. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "can/bus_log_sent.h"
#include "can/log.h"
#include "channels/clock.h"

#define FRAMES 1024
#define LINES 64 /* of the longest, written at once */

struct bus_log_sent {
	int fd;
	bool placed; /* shift_ns is known */
	int64_t shift_ns;
	int64_t opened_ns;
	uint64_t lost;
	char interface[LOG_BUS_MAX];
	size_t n;
	struct {
		int64_t t_ns; /* the log's; ours as long as that is not known */
		struct frame frame;
	} kept[FRAMES];
};

/* ---- the file ---- */

static int say(struct error_sink *errors, const char *path, int error, const char *what)
{
	error_add(errors, "%s: %s", path, what);
	return error;
}

/* Locked, so that no other bus writes between our lines, and emptied only when it is known not to be the log.  A
 * device, such as /dev/null, may be used by several. */
static int open_file(const char *path, int log, struct error_sink *errors)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666), error = 0;
	struct stat ours = { 0 }, played = { 0 };

	if (fd < 0 || fstat(fd, &ours) || fstat(log, &played)) {
		error = -errno;
		error_add(errors, "%s: unable to write the frames sent: %s", path, strerror(-error));
	} else if (ours.st_dev == played.st_dev && ours.st_ino == played.st_ino) {
		error = say(errors, path, -EINVAL, "this log is being played: write the frames sent to another file");
	} else if (S_ISREG(ours.st_mode) && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
		error = say(errors, path, -EBUSY, "what another bus sends is kept there: name another file");
	} else if (S_ISREG(ours.st_mode) && ftruncate(fd, 0)) {
		error = say(errors, path, -errno, "unable to empty the file for frames sent");
	}
	if (error && fd >= 0)
		close(fd);
	return error ? error : fd;
}

/* After a failure nothing is written any more, so that the file has no gap. */
static void write_out(struct bus_log_sent *sent)
{
	char text[LINES * LOG_WRITE_MAX];
	size_t len = 0, lines = 0;

	if (!sent->placed)
		for (size_t i = 0; i < sent->n; i++)
			sent->kept[i].t_ns -= sent->opened_ns;
	for (size_t i = 0; i < sent->n; i++) {
		len += log_write_line(text + len, sent->kept[i].t_ns, sent->interface, &sent->kept[i].frame);
		lines++;
		if (lines < LINES && i + 1 < sent->n)
			continue;
		if (sent->lost || write(sent->fd, text, len) != (ssize_t)len)
			sent->lost += lines;
		len = lines = 0;
	}
	sent->n = 0;
}

/* ---- calls ---- */

int bus_log_sent_open(struct bus_log_sent **sent, const char *path, const char *interface, int log,
		      struct error_sink *errors)
{
	struct bus_log_sent *s = calloc(1, sizeof(*s));

	if (!s)
		return say(errors, path, -ENOMEM, "no memory left");
	s->fd = open_file(path, log, errors);
	if (s->fd < 0) {
		int error = s->fd;

		free(s);
		return error;
	}
	snprintf(s->interface, sizeof(s->interface), "%s", interface);
	s->opened_ns = clock_now_ns();
	*sent = s;
	return 0;
}

void bus_log_sent_close(struct bus_log_sent *sent)
{
	if (!sent)
		return;
	write_out(sent);
	close(sent->fd);
	free(sent);
}

void bus_log_sent_add(struct bus_log_sent *sent, int64_t now_ns, const struct frame *frame)
{
	if (!sent)
		return;
	sent->kept[sent->n].t_ns = now_ns - sent->shift_ns;
	sent->kept[sent->n].frame = *frame;
	if (++sent->n == FRAMES)
		write_out(sent);
}

void bus_log_sent_shift(struct bus_log_sent *sent, int64_t shift_ns)
{
	if (!sent)
		return;
	if (!sent->placed)
		for (size_t i = 0; i < sent->n; i++)
			sent->kept[i].t_ns -= shift_ns;
	sent->placed = true;
	sent->shift_ns = shift_ns;
}

uint64_t bus_log_sent_lost(const struct bus_log_sent *sent)
{
	return sent ? sent->lost : 0;
}
