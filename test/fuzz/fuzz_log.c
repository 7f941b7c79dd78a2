/* fuzz_log.c: arbitrary bytes as a log of any format: records that can be, counts that fit, and the same again after a
 * rewind.
 *
 * Seeds: test/can/logs.
 * Longest: 16384 bytes.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "can/log/log.h"
#include "test/fuzz/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[32];

/* A line is one line, and begins with the name of the file. */
static void check_line(void *to, const char *line)
{
	(void)to;
	must(!strncmp(line, path, strlen(path)) && line[strlen(path)] == ':' && strlen(line) < ERROR_LINE_MAX);
	for (; *line; line++)
		must((unsigned char)*line >= 0x20 && *line != 0x7F);
}

static void make_file(const uint8_t *data, size_t size)
{
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("fuzz", 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	must(fd >= 0 && !ftruncate(fd, 0));
	for (size_t done = 0; done < size;) {
		ssize_t n = pwrite(fd, data + done, size - done, (off_t)done);

		must(n > 0);
		done += (size_t)n;
	}
}

struct sum {
	uint64_t records, hash, damaged, backward, lost, lines;
	int64_t status;
};

/* Written as candump does, the bus, the frame and the microsecond are read again. */
static void check_written(const struct log_record *r)
{
	static struct log again;
	static int fd = -1;
	static char written[32];
	char text[LOG_WRITE_MAX];
	struct log_record back;
	size_t len = log_write_line(text, r->t_ns, r->bus, &r->frame);

	must(len == strlen(text) && len < LOG_WRITE_MAX);
	if (fd < 0) {
		fd = memfd_create("written", 0);
		snprintf(written, sizeof(written), "/proc/self/fd/%d", fd);
	}
	must(!ftruncate(fd, 0) && pwrite(fd, text, len, 0) == (ssize_t)len);
	must(!log_open(&again, written, log_formats_all, LOG_STRICT, NULL) && log_next(&again, &back) == 1);
	must(back.t_ns == r->t_ns / 1000 * 1000 && !strcmp(back.bus, r->bus));
	must(!memcmp(&back.frame, &r->frame, sizeof(back.frame)));
	log_close(&again);
}

static struct sum read_all(struct log *log, bool check)
{
	struct sum sum = { 0 };
	struct log_record r;
	uint64_t line = 0;

	while ((sum.status = log_next(log, &r)) > 0) {
		const unsigned char *bytes = (const unsigned char *)&r.frame;

		must(frame_valid(&r.frame) && r.t_ns >= 0);
		must(r.line > line && r.line == log->line);
		line = r.line;
		must(strnlen(r.bus, sizeof(r.bus)) >= 1 && strnlen(r.bus, sizeof(r.bus)) < LOG_BUS_MAX);
		must(!r.direction || r.direction == 'R' || r.direction == 'T');
		for (size_t i = 0; i < sizeof(r.frame); i++)
			sum.hash = sum.hash * 31 + bytes[i];
		sum.hash = sum.hash * 31 + (uint64_t)r.t_ns;
		sum.records++;
		if (check && sum.records < 8 && r.t_ns < INT64_C(9000000000000000000))
			check_written(&r);
	}
	must(log_next(log, &r) == sum.status);
	sum.damaged = log->damaged;
	sum.backward = log->backward;
	sum.lost = log->lost;
	sum.lines = log->line;
	must(sum.records + sum.damaged <= sum.lines && sum.backward <= sum.records);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct log log;
	struct error_sink errors = { check_line, NULL, 0 };
	struct sum first, second, strict;
	int err;

	make_file(data, size);
	err = log_open(&log, path, log_formats_all, 0, &errors);
	must(err == 0 || err == -EBADMSG);
	must(errors.count == (err ? 1 : 0));
	if (err)
		return 0;
	first = read_all(&log, true);
	must(first.status == 0);
	must(errors.count == (first.damaged <= LOG_ERRORS_MAX ? first.damaged : LOG_ERRORS_MAX + 1));
	must(!log_rewind(&log));
	second = read_all(&log, false);
	must(!memcmp(&first, &second, sizeof(first)));
	log_close(&log);

	must(!log_open(&log, path, log_formats_all, LOG_STRICT, NULL));
	strict = read_all(&log, false);
	must(strict.status == (first.damaged ? -EBADMSG : 0) && strict.damaged == (first.damaged > 0));
	must(strict.records <= first.records && (first.damaged || strict.hash == first.hash));
	log_close(&log);
	return 0;
}
