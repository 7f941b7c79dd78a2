/* log_writer.c: writes recorded frames in any format: the file, its format, its buses, what has no place. */
#include <fcntl.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "can/bus/frame_error.h"
#include "can/log/log_formats.h"
#include "can/log/log_output.h"
#include "can/log/log_writer.h"

#define DATED_NS (INT64_C(100000000) * NS_PER_S) /* stamps above are of the epoch, since 1973 */

/* ---- the file ---- */

static bool ends(const char *text, size_t len, const char *suffix)
{
	const size_t n = strlen(suffix);

	return len > n && !strncasecmp(text + len - n, suffix, n);
}

/* Its length without the suffix of a compression. */
static size_t bare(const char *path)
{
	const size_t len = strlen(path);

	return ends(path, len, ".gz") ? len - 3 : ends(path, len, ".zst") ? len - 4 : len;
}

const struct log_format *log_writer_format(const char *path, struct error_sink *errors)
{
	const size_t len = bare(path);
	char text[160];
	struct text_out known = text_out(text, sizeof(text));
	const struct log_format *best = NULL;

	if (!strcmp(path, "-"))
		return &log_candump_format;
	for (size_t i = 0; log_formats_all[i]; i++) {
		const struct log_format *row = log_formats_all[i];

		if (!row->put)
			continue;
		text_add(&known, "%s%s", known.len ? ", " : "", row->suffix);
		if (ends(path, len, row->suffix) && (!best || strlen(row->suffix) > strlen(best->suffix)))
			best = row;
	}
	if (!best)
		error_add(errors, "%s: the suffix decides the format: use one of %s, perhaps with .gz or .zst", path,
			  text);
	return best;
}

static int cannot_write(struct log_writer *w, int err)
{
	if (err == -EEXIST)
		return error_refuse(w->errors, err, "%s: the file exists: remove it, or --force replaces it", w->path);
	return error_refuse(w->errors, err, "%s: unable to write: %s", w->path, strerror(-err));
}

/* A file that is replaced stays until the new one is complete.  The descriptor, or -errno. */
static int open_file(struct log_writer *w)
{
	const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (w->flags & LOG_REPLACE ? O_TRUNC : O_EXCL);
	struct stat old;
	int fd;

	if (w->flags & LOG_REPLACE && !lstat(w->path, &old) && S_ISREG(old.st_mode) &&
	    asprintf(&w->replacement, "%s.new", w->path) < 0) {
		w->replacement = NULL;
		return -ENOMEM;
	}
	fd = open(w->replacement ? w->replacement : w->path, flags, 0666);
	return fd < 0 ? -errno : fd;
}

int log_writer_open(struct log_writer *w, const char *path, int flags, struct error_sink *errors)
{
	const bool standard = !strcmp(path, "-");
	const size_t len = strlen(path);
	int err;

	memset(w, 0, offsetof(struct log_writer, bytes));
	w->fd = -1;
	w->path = standard ? "standard output" : path;
	w->flags = flags;
	w->errors = errors;
	w->format = log_writer_format(path, errors);
	if (!w->format)
		return -EINVAL;
	if (ends(path, len, ".gz") || ends(path, len, ".zst")) {
		w->output = ends(path, len, ".gz") ? log_gzip_output() : log_zstd_output();
		if (!w->output)
			return cannot_write(w, -ENOMEM);
	}
	w->fd = standard ? STDOUT_FILENO : open_file(w);
	if (w->fd < 0) {
		err = cannot_write(w, w->fd);
		log_writer_close(w, false);
		return err;
	}
	if (w->output)
		w->output->fd = w->fd;
	return 0;
}

/* The time of the first record is known. */
static void begin(struct log_writer *w, int64_t first_ns)
{
	const int64_t unit_ns = w->format->start_unit_ns;

	w->dated = first_ns >= DATED_NS;
	w->start_ns = w->dated && unit_ns ? first_ns / unit_ns * unit_ns : 0;
	if (w->format->begin)
		w->format->begin(w);
}

int log_writer_close(struct log_writer *w, bool remove)
{
	const struct log_format *row = w->format;
	int err = 0;

	if (w->fd >= 0) {
		if (!w->records)
			begin(w, 0);
		if (row->end)
			row->end(w);
		log_put_flush(w, true);
		if (w->fd != STDOUT_FILENO && close(w->fd) && !w->failed)
			w->failed = -errno;
		if (w->fd != STDOUT_FILENO && (remove || w->failed))
			unlink(w->replacement ? w->replacement : w->path);
		else if (w->replacement && rename(w->replacement, w->path))
			w->failed = -errno;
		if (w->failed)
			err = cannot_write(w, w->failed);
		w->fd = -1;
	}
	free(w->replacement);
	w->replacement = NULL;
	if (w->output)
		w->output->close(w->output);
	free(w->output);
	w->output = NULL;
	return err;
}

/* ---- records ---- */

/* The bus's number; 0: there are too many. */
static unsigned int channel_of(struct log_writer *w, const char *name)
{
	const unsigned int lacks = w->format->lacks;
	unsigned int channel = 0, wanted = 0;
	char canonical[LOG_BUS_MAX];
	bool taken = true;

	for (size_t i = 0; i < w->buses_n; i++)
		if (!strcmp(w->buses[i].name, name))
			return w->buses[i].channel;
	if (w->buses_n == LOG_WRITER_BUSES_MAX)
		return 0;
	if (sscanf(name, "can%3u", &wanted) == 1 && wanted < 250) {
		snprintf(canonical, sizeof(canonical), "can%u", wanted);
		if (strcmp(name, canonical) != 0)
			wanted = 0;
	}
	for (unsigned int number = wanted + 1; taken; number++) {
		taken = false;
		for (size_t i = 0; i < w->buses_n; i++)
			taken = taken || w->buses[i].channel == number;
		channel = number;
	}
	snprintf(w->buses[w->buses_n].name, LOG_BUS_MAX, "%s", name);
	w->buses[w->buses_n++].channel = channel;
	snprintf(canonical, sizeof(canonical), "can%u", channel - 1);
	if (lacks & LOG_NO_NAMES && lacks & LOG_NO_BUSES && w->buses_n == 1 && strcmp(name, "can0") != 0)
		error_add(w->errors, "%s: %s has no names of buses: %s is written without", w->path, w->format->name,
			  name);
	else if (lacks & LOG_NO_NAMES && !(lacks & LOG_NO_BUSES) && strcmp(name, canonical) != 0)
		error_add(w->errors, "%s: %s has no names of buses: %s is its channel %u", w->path, w->format->name,
			  name, channel);
	return channel;
}

/* An error frame says more than that there was an error, which is all that log_set_error keeps. */
static bool has_details(const struct frame *f)
{
	bool details = f->id != (FRAME_ERR | CAN_ERR_BUSERROR);

	for (unsigned int i = 0; i < f->len; i++)
		details = details || f->data[i];
	return details;
}

/* What of the record has no place: LOG_NO_. */
static unsigned int lacking(const struct log_writer *w, const struct log_record *r)
{
	const unsigned int lacks = w->format->lacks;

	unsigned int has = 0;

	if (r->frame.flags & FRAME_FD)
		has |= LOG_NO_FD;
	if (r->frame.id & FRAME_ERR)
		has |= LOG_NO_ERRORS | (has_details(&r->frame) ? LOG_NO_DETAILS : 0);
	if (w->buses_n && strcmp(w->buses[0].name, r->bus) != 0)
		has |= LOG_NO_BUSES;
	if (r->direction == 'T')
		has |= LOG_NO_DIRECTION;
	if (r->frame.dlc)
		has |= LOG_NO_CODES;
	if (w->records && r->t_ns < w->start_ns)
		has |= LOG_NO_PAST;
	return has & lacks;
}

static const struct lack {
	unsigned int bit;
	const char *name;
} all_lacks[] = {
	{ LOG_NO_FD, "CAN FD frames" },
	{ LOG_NO_BUSES, "more than one bus" },
	{ LOG_NO_DIRECTION, "frames that were sent" },
	{ LOG_NO_ERRORS, "error frames" },
	{ LOG_NO_DETAILS, "which error an error frame is about" },
	{ LOG_NO_CODES, "length codes above 8" },
	{ LOG_NO_PAST, "times before that of the first frame" },
};

#define LEAVE_OUT (LOG_NO_FD | LOG_NO_ERRORS) /* without it nothing is left of the frame */

/* What the frame loses: an error, or reported once. */
static int report(struct log_writer *w, const struct lack *lack)
{
	const char *format = w->format->name;
	const bool frame = lack->bit & LEAVE_OUT;

	if (!(w->flags & LOG_LENIENT))
		return error_refuse(w->errors, -EMEDIUMTYPE,
				    "%s: %s has no place for %s: choose another format, or --lenient %s", w->path,
				    format, lack->name, frame ? "leaves them out" : "writes the frames without");
	if (!(w->said & lack->bit))
		error_add(w->errors, "%s: %s has no place for %s: %s", w->path, format, lack->name,
			  frame ? "they are left out" : "the frames are written without");
	w->said |= lack->bit;
	return 0;
}

/* 0: write it; 1: leave it out; -EMEDIUMTYPE. */
static int check(struct log_writer *w, const struct log_record *r)
{
	unsigned int lacks = lacking(w, r);
	const bool frame = lacks & LEAVE_OUT, changed = lacks && !frame;

	if (frame)
		lacks &= LEAVE_OUT;
	for (size_t i = 0; i < sizeof(all_lacks) / sizeof(*all_lacks); i++) {
		const int err = lacks & all_lacks[i].bit ? report(w, &all_lacks[i]) : 0;

		if (err)
			return err;
	}
	w->left_out += frame;
	w->changed += changed;
	return frame;
}

int log_writer_put(struct log_writer *w, const struct log_record *r)
{
	const int verdict = check(w, r);

	if (verdict)
		return verdict < 0 ? verdict : 0;
	w->channel = channel_of(w, r->bus);
	if (!w->channel)
		return error_refuse(w->errors, -EMEDIUMTYPE, "%s: more than %d buses", w->path, LOG_WRITER_BUSES_MAX);
	if (!w->records)
		begin(w, r->t_ns);
	w->format->put(w, r);
	w->records++;
	w->last_ns = r->t_ns;
	return w->failed ? cannot_write(w, w->failed) : 0;
}
