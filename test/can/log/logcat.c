/* logcat.c: any log as lines of candump -L, for the scripts.
 *
 *	logcat [--strict] [--direction] FILE
 *
 * What is wrong goes to stderr, a line each; status 1 if there was anything, or the log could not be read.
 */
#include <stdio.h>
#include <string.h>

#include "can/log/log.h"

static struct log input;

int main(int argc, char **argv)
{
	struct error_sink errors = { error_to_stderr, NULL, 0 };
	char text[LOG_WRITE_MAX];
	struct log_record r;
	bool strict = false, direction = false;
	int status;

	for (; argc > 2; argc--, argv++) {
		strict = strict || !strcmp(argv[1], "--strict");
		direction = direction || !strcmp(argv[1], "--direction");
	}
	if (argc != 2 || log_open(&input, argv[1], log_formats_all, strict ? LOG_STRICT : 0, &errors))
		return 1;
	while ((status = log_next(&input, &r)) > 0) {
		size_t len = log_write_line(text, r.t_ns, r.bus, &r.frame);

		if (direction && r.direction)
			snprintf(text + len - 1, sizeof(text) - len + 1, " %c\n", r.direction);
		fputs(text, stdout);
	}
	if (input.lost || input.backward)
		fprintf(stderr, "%llu lost, %llu backward\n", (unsigned long long)input.lost,
			(unsigned long long)input.backward);
	log_close(&input);
	return status < 0 || errors.count;
}
