/* test_log_lib.c: files in memory, and what was read of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "test/can/log/test_log_lib.h"

#define FILE_FD 100

/* No Unity: this is linked to programs without. */
static void must(bool holds, const char *what)
{
	if (holds)
		return;
	printf("test_log_lib.c: %s\n", what);
	abort();
}

struct log log_in;
struct log_record log_got;
char log_said[1 << 14];

static void keep_line(void *to, const char *line)
{
	size_t at = strlen(log_said);

	(void)to;
	snprintf(log_said + at, sizeof(log_said) - at, "%s\n", line);
}

struct error_sink log_errors = { keep_line, NULL, 0 };

void log_lib_zone(const char *name)
{
	setenv("TZ", name, 1);
	tzset();
}

void log_lib_start(void)
{
	log_lib_zone("UTC");
	log_said[0] = '\0';
	log_errors.count = 0;
}

void log_lib_end(void)
{
	close(FILE_FD);
}

/* ---- a file of these bytes ---- */

const char *log_make_file(const char *bytes, size_t len)
{
	int fd = memfd_create("log", 0);

	must(dup2(fd, FILE_FD) == FILE_FD, "no file in memory");
	close(fd);
	for (size_t done = 0; done < len;) {
		ssize_t n = write(FILE_FD, bytes + done, len - done);

		must(n > 0, "the file cannot be written");
		done += (size_t)n;
	}
	return FILE_PATH;
}

void log_open_text(const char *text, int flags)
{
	must(!log_open(&log_in, log_make_file(text, strlen(text)), log_formats_all, flags, &log_errors),
	     "the log cannot be opened");
}

/* The rest of the log, a line each. */
const char *log_rest(void)
{
	static char all[1 << 15];
	char *to = all;
	int status;

	while ((status = log_next(&log_in, &log_got)) > 0) {
		must(frame_valid(&log_got.frame), "a frame that cannot be");
		to += log_write_line(to, log_got.t_ns, log_got.bus, &log_got.frame);
		if (log_got.direction)
			to += sprintf(to - 1, " %c\n", log_got.direction) - 1;
		must(to < all + sizeof(all) - LOG_WRITE_MAX, "too many records");
	}
	*to = '\0';
	must(status == 0, "it does not end as it should");
	return all;
}

unsigned int log_count_lines(const char *text)
{
	unsigned int n = 0;

	for (; (text = strchr(text, '\n')); text++)
		n++;
	return n;
}
