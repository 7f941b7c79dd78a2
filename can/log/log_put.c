/* log_put.c: the bytes of a log that is written. */
#include <unistd.h>

#include "can/log/log_output.h"
#include "can/log/log_put.h"

/* ---- bytes ---- */

int log_output_fd(int fd, const void *bytes, size_t n)
{
	const char *at = bytes;

	while (n) {
		ssize_t done = write(fd, at, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		at += done;
		n -= (size_t)done;
	}
	return 0;
}

void log_put_flush(struct log_writer *w, bool last)
{
	if (!w->failed)
		w->failed = w->output ? w->output->put(w->output, w->bytes, w->n, last)
				      : log_output_fd(w->fd, w->bytes, w->n);
	w->n = 0;
}

void log_put(struct log_writer *w, const void *bytes, size_t n)
{
	const unsigned char *from = bytes;

	w->total += n;
	while (n) {
		size_t part = sizeof(w->bytes) - w->n < n ? sizeof(w->bytes) - w->n : n;

		memcpy(w->bytes + w->n, from, part);
		w->n += part;
		from += part;
		n -= part;
		if (w->n == sizeof(w->bytes))
			log_put_flush(w, false);
	}
}

void log_put_text(struct log_writer *w, const char *fmt, ...)
{
	char text[LOG_LINE_MAX];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	log_put(w, text, n < (int)sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

void log_put_again(struct log_writer *w, const void *bytes, size_t n)
{
	log_put_flush(w, false);
	if (!w->failed && !w->output && lseek(w->fd, 0, SEEK_SET) == 0)
		w->failed = log_output_fd(w->fd, bytes, n);
}

/* ---- for formats ---- */

int64_t log_put_since(const struct log_writer *w, int64_t t_ns)
{
	return t_ns > w->start_ns ? t_ns - w->start_ns : 0;
}

void log_put_data(struct log_writer *w, const struct frame *f)
{
	for (unsigned int i = 0, n = frame_data_len(f); i < n; i++)
		log_put_text(w, " %02X", f->data[i]);
}
