/* bus_log.c: a bus that plays a recording at its original pace.
 *
 *	log:trace.log		every frame of the file
 *	log:trace.log@can1	those of can1
 *	log:trace.log>sent.log	writes the frames sent to sent.log, for comparison
 *
 * The file's first record, whichever bus it is of, is now when bus_receive is first called; so several buses of one
 * file keep step.  A stamp before the one before it is taken for that one.  If it is a second or more before it,
 * the clock had been set; distances count from there on.
 *
 * Damaged lines are skipped and count as dropped, like frames that the file itself counts as lost; canconvert lists
 * them.
 *
 * A frame sent is echoed at once, as on an idle bus, and goes nowhere else.
 *
 * The frames sent are lines of candump -L with the times of the log that is played, so that the two can be laid side by
 * side; "log" stands for the interface where the name has no @.  Frames sent before the first record have times before
 * it.  As long as there is none (an empty log) times count from the opening.  They are kept in memory and written when
 * that is full, and at the closing: of a process that is killed the last ones are missing.
 *
 * For the bench: bus_receive reads a file and bus_send may write one, so the disk can delay them.
 */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "can/bus/bus_backend.h"
#include "can/bus/bus_filters.h"
#include "can/bus/bus_interface.h"
#include "can/log/log.h"
#include "channels/clock/clock.h"

#define PREFIX "log:"
#define CLOCK_SET_NS 1000000000
#define ECHOES 64    /* frames sent and not yet echoed */
#define RECORDS 4096 /* read in one bus_receive; the next one goes on */
#define SENT 1024    /* frames sent and not yet written */
#define LINES 64     /* of the longest, written at once */

struct bus_log {
	struct bus bus;
	struct log log;
	struct error_sink errors;    /* of the log */
	struct error_sink *opening;  /* where those go during bus_open */
	char *path, *sent_path;	     /* the second lies in the first */
	char interface[LOG_BUS_MAX]; /* "": all */
	bool want_errors, echo;
	struct bus_filters filters;
	int64_t shift_ns;  /* from the file's times to ours */
	int64_t latest_ns; /* the file's: no record since the clock was set has a later time */
	int64_t given_ns;  /* ours, of the frame before */
	bool playing;	   /* shift_ns is known */
	struct bus_frame next;
	bool ready; /* next is there */
	int end;    /* the reason that no frame follows: -ENODATA, or an error of the file */
	struct bus_frame echoes[ECHOES];
	size_t echo_first, echoes_n;
	int sent_fd;	       /* -1: frames sent are not kept */
	int64_t sent_shift_ns; /* shift_ns of the frame given last */
	int64_t opened_ns;
	uint64_t unwritten; /* frames sent that could not be written */
	size_t sent_n;
	struct {
		int64_t t_ns; /* the log's; ours as long as that is not known */
		struct frame frame;
	} sent[SENT];
};

static struct bus_log *of(struct bus *bus)
{
	return (struct bus_log *)bus;
}

/* ---- frames sent ---- */

/* Locked, so that no other bus writes between our lines, and emptied only when it is known not to be the log.  A
 * device, such as /dev/null, may be used by several. */
static int open_sent(const char *path, int log, struct error_sink *errors)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666), error = 0;
	struct stat ours = { 0 }, played = { 0 };

	if (fd < 0 || fstat(fd, &ours) || fstat(log, &played)) {
		error = -errno;
		error_add(errors, "%s: unable to write the frames sent: %s", path, strerror(-error));
	} else if (ours.st_dev == played.st_dev && ours.st_ino == played.st_ino) {
		error = error_refuse(errors, -EINVAL,
				     "%s: this log is being played: write the frames sent to another file", path);
	} else if (S_ISREG(ours.st_mode) && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
		error = error_refuse(errors, -EBUSY,
				     "%s: the frames that another bus sends are written there: name another file",
				     path);
	} else if (S_ISREG(ours.st_mode) && ftruncate(fd, 0)) {
		error = error_refuse(errors, -errno, "%s: unable to empty the file for frames sent", path);
	}
	if (error && fd >= 0)
		close(fd);
	return error ? error : fd;
}

static void shift_sent(struct bus_log *l, int64_t shift_ns)
{
	for (size_t i = 0; i < l->sent_n; i++)
		l->sent[i].t_ns -= shift_ns;
	l->sent_shift_ns = shift_ns;
}

/* After a failure nothing is written any more, so that the file has no gap. */
static void write_sent(struct bus_log *l)
{
	const int64_t start_ns = l->playing ? 0 : l->opened_ns;
	char text[LINES * LOG_WRITE_MAX];
	size_t len = 0, lines = 0;

	for (size_t i = 0; i < l->sent_n; i++) {
		len += log_write_line(text + len, l->sent[i].t_ns - start_ns, l->interface[0] ? l->interface : "log",
				      &l->sent[i].frame);
		lines++;
		if (lines < LINES && i + 1 < l->sent_n)
			continue;
		if (l->unwritten || write(l->sent_fd, text, len) != (ssize_t)len)
			l->unwritten += lines;
		len = lines = 0;
	}
	l->sent_n = 0;
}

static void keep_sent(struct bus_log *l, int64_t now_ns, const struct frame *frame)
{
	if (l->sent_fd < 0)
		return;
	l->sent[l->sent_n].t_ns = now_ns - l->sent_shift_ns;
	l->sent[l->sent_n].frame = *frame;
	if (++l->sent_n == SENT)
		write_sent(l);
}

/* ---- the file ---- */

static void place_in_time(struct bus_log *l, int64_t t_ns)
{
	bool set = l->playing && t_ns < l->latest_ns - CLOCK_SET_NS;

	l->next.flags = l->playing && t_ns < l->latest_ns ? BUS_RESTAMPED : 0;
	if (!l->playing) {
		l->shift_ns = clock_now_ns() - t_ns;
		shift_sent(l, l->shift_ns);
	} else if (set) {
		l->shift_ns += l->latest_ns - t_ns;
	}
	if (!l->playing || set || t_ns > l->latest_ns)
		l->latest_ns = t_ns;
	l->playing = true;
	l->next.t_ns = l->latest_ns + l->shift_ns;
}

static bool wanted(const struct bus_log *l, const struct log_record *r)
{
	if (l->interface[0] && strcmp(l->interface, r->bus) != 0)
		return false;
	if (r->frame.flags & FRAME_FD && !l->bus.fd_frames)
		return false;
	return r->frame.id & FRAME_ERR || bus_filters_want(&l->filters, r->frame.id);
}

/* Goes to the next record that is wanted.  true: there it is; false: the end, or it was a long way and the next call
 * goes on. */
static bool advance(struct bus_log *l, int *left)
{
	struct log_record r;

	while (!l->ready && !l->end && *left > 0) {
		int status = log_next(&l->log, &r);

		--*left;
		if (status <= 0) {
			l->end = status ? status : -ENODATA;
			break;
		}
		place_in_time(l, r.t_ns);
		l->ready = wanted(l, &r);
		l->next.frame = r.frame;
	}
	return l->ready;
}

/* ---- the loop's half ---- */

/* An error frame is due.  true: deliver it. */
static bool take_error_frame(struct bus_log *l)
{
	l->bus.state = bus_state_after(l->bus.state, &l->next.frame);
	l->bus.stats.errors += !l->want_errors;
	return l->want_errors;
}

static void give(struct bus_log *l, struct bus_frame *to, const struct bus_frame *from)
{
	*to = *from;
	if (to->t_ns < l->given_ns)
		to->t_ns = l->given_ns;
	l->given_ns = to->t_ns;
}

/* Damaged lines are counted as they are read, frames that cannot be kept as they are written. */
static void count_dropped(struct bus_log *l)
{
	l->bus.stats.dropped = l->log.damaged + l->log.lost + l->unwritten;
}

static int log_receive(struct bus *bus, struct bus_frame *frames, size_t n)
{
	struct bus_log *l = of(bus);
	int64_t now_ns = clock_now_ns();
	int left = RECORDS;
	size_t got = 0;

	while (got < n) {
		bool due = advance(l, &left) && l->next.t_ns <= now_ns;
		const struct bus_frame *echo = l->echoes_n ? &l->echoes[l->echo_first] : NULL;

		if (echo && (!due || echo->t_ns <= l->next.t_ns)) {
			give(l, &frames[got++], echo);
			l->echo_first = (l->echo_first + 1) % ECHOES;
			l->echoes_n--;
		} else if (due) {
			l->ready = false;
			l->sent_shift_ns = l->shift_ns;
			if (!(l->next.frame.id & FRAME_ERR) || take_error_frame(l))
				give(l, &frames[got++], &l->next);
		} else {
			break;
		}
	}
	count_dropped(l);
	bus->next_ns = l->ready ? l->next.t_ns : l->end ? CLOCK_NEVER : now_ns;
	if (l->echoes_n)
		bus->next_ns = now_ns;
	return got ? (int)got : l->ready ? 0 : l->end;
}

static int log_send(struct bus *bus, const struct frame *frame)
{
	struct bus_log *l = of(bus);
	int64_t now_ns = clock_now_ns();

	if (l->echo && l->echoes_n == ECHOES)
		return -ENOBUFS;
	keep_sent(l, now_ns, frame);
	count_dropped(l);
	if (!l->echo)
		return 0;
	l->echoes[(l->echo_first + l->echoes_n++) % ECHOES] =
		(struct bus_frame){ .t_ns = now_ns, .flags = BUS_OWN, .frame = *frame };
	if (bus->next_ns > now_ns)
		bus->next_ns = now_ns;
	return 0;
}

/* ---- opening and closing ---- */

static const char *log_name_wrong(const char *name)
{
	const char *file = name + strlen(PREFIX), *sent = strchr(file, '>');

	if (!*file || *file == '@' || sent == file)
		return "the file is missing: log:FILE, or log:FILE@can1 for the frames of can1";
	if (!strcmp(file, "-") || !strncmp(file, "->", 2))
		return "the log must be a file, not a pipe: log:FILE";
	if (sent && (!sent[1] || !strcmp(sent, ">-")))
		return "write the file for frames sent after the >: log:FILE>SENT";
	return NULL;
}

/* The first > ends what is about the file that is played.  There the last @ ends the file's name, unless there is a
 * file with it in its name. */
static bool split(struct bus_log *l, const char *name)
{
	char *at;

	l->path = strdup(name + strlen(PREFIX));
	if (!l->path)
		return false;
	l->sent_path = strchr(l->path, '>');
	if (l->sent_path)
		*l->sent_path++ = 0;
	at = strrchr(l->path, '@');
	if (at && !bus_interface_name_wrong(at + 1) && access(l->path, F_OK)) {
		snprintf(l->interface, sizeof(l->interface), "%s", at + 1);
		*at = 0;
	}
	return true;
}

/* The caller's sink is there for the time of the opening only. */
static void forward_line(void *to, const char *line)
{
	const struct bus_log *l = to;

	if (l->opening)
		error_add(l->opening, "%s", line);
}

static void log_bus_close(struct bus *bus)
{
	struct bus_log *l = of(bus);

	write_sent(l);
	if (l->sent_fd >= 0)
		close(l->sent_fd);
	log_close(&l->log);
	free(l->path);
	free(l);
}

static int log_bus_open(struct bus **bus, const char *name, const struct bus_options *options,
			struct error_sink *errors)
{
	struct bus_log *l = calloc(1, sizeof(*l));
	int r;

	if (!l || !split(l, name)) {
		free(l);
		return error_refuse(errors, -ENOMEM, "%s: no memory left", name);
	}
	l->errors = (struct error_sink){ .line = forward_line, .to = l };
	l->opening = errors;
	r = log_open(&l->log, l->path, options->log_formats ? options->log_formats : log_formats_plain, 0, &l->errors);
	l->opening = NULL;
	l->sent_fd = -1;
	if (!r && l->sent_path) {
		l->sent_fd = open_sent(l->sent_path, l->log.fd, errors);
		r = l->sent_fd < 0 ? l->sent_fd : 0;
	}
	if (r) {
		log_bus_close(&l->bus);
		return r;
	}
	bus_filters_start(&l->filters, options);
	l->want_errors = options->errors;
	l->echo = !options->no_echo;
	l->bus.fd_frames = options->fd;
	l->bus.fd = -1;
	l->bus.next_ns = l->opened_ns = clock_now_ns();
	l->bus.state = BUS_ERROR_ACTIVE;
	l->bus.stats.attached = 1;
	l->given_ns = INT64_MIN;
	*bus = &l->bus;
	return 0;
}

const struct bus_ops bus_log_ops = {
	.prefix = PREFIX,
	.name_wrong = log_name_wrong,
	.open = log_bus_open,
	.close = log_bus_close,
	.receive = log_receive,
	.send = log_send,
};
