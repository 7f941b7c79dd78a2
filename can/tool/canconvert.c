/* canconvert.c: a log in another format. */
#include <sys/stat.h>

#include "can/log/log_writer.h"
#include "channels/clock/clock.h"
#include "channels/tool/bar.h"
#include "config/base/base.h"
#include "config/settings/program.h"

struct convert {
	bool lenient, force;
	const char *in, *out;
	struct log log;
	struct log_writer writer;
	struct bar bar;
};

static const struct settings_row rows[] = {
	SETTINGS_BOOL("lenient", struct convert, lenient, "no",
		      "leave out damaged lines and what OUT has no place for, instead of failing"),
	SETTINGS_BOOL("force", struct convert, force, "no", "replace OUT if it exists"),
	SETTINGS_END,
};

static bool same_file(const char *a, const char *b)
{
	struct stat of_a, of_b;

	return !stat(a, &of_a) && !stat(b, &of_b) && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

/* All records; after damage they are read only to report the rest of it, unless --lenient.  0, or EXIT_RETRY after
 * a line. */
static int copy(struct convert *c)
{
	struct log_record r;
	int n;

	bar_start(&c->bar, clock_now_ns());
	while ((n = log_next(&c->log, &r)) > 0) {
		if (r.line % 4096 == 0)
			bar_draw(&c->bar, c->writer.records, c->writer.records, clock_now_ns(), CLOCK_NEVER);
		n = c->log.damaged && !c->lenient ? 0 : log_writer_put(&c->writer, &r);
		if (n)
			break;
	}
	bar_clear(&c->bar);
	return n ? EXIT_RETRY : 0;
}

static int convert(struct convert *c)
{
	int status;

	if (log_writer_open(&c->writer, c->out, (c->lenient ? LOG_LENIENT : 0) | (c->force ? LOG_REPLACE : 0),
			    &program_errors))
		return EXIT_RETRY;
	status = copy(c);
	if (!status && c->log.damaged && !c->lenient)
		status = program_fail("%s: damaged in %" PRIu64 " places: --lenient leaves those out", c->log.path,
				      c->log.damaged);
	if (log_writer_close(&c->writer, status))
		status = EXIT_RETRY;
	if (status)
		return status;
	if (c->log.lost)
		program_say("%s: %" PRIu64 " frames were lost when it was recorded", c->log.path, c->log.lost);
	if (c->log.damaged || c->writer.left_out || c->writer.changed)
		program_say("%" PRIu64 " frames written, %" PRIu64 " of them incomplete; left out: %" PRIu64
			    " damaged, %" PRIu64 " without a place",
			    c->writer.records, c->writer.changed, c->log.damaged, c->writer.left_out);
	return 0;
}

int main(int argc, char **argv)
{
	static struct convert c;
	struct options options = {
		.program = "canconvert",
		.about = "writes a CAN log in another format, by the suffix of OUT",
		.rows = rows,
		.values = &c,
		.arguments = "IN OUT",
		.arguments_min = 2,
		.arguments_max = 2,
		.version = OPTIONS_VERSION,
		.notes = "OUT: .log .asc .trc .csv .ixxat.csv .blf .pcap .pcapng .mcap, also with .gz or .zst;\n"
			 "- is candump -L on standard output.  The format of IN is detected.\n"
	};
	int status = program_options(&options, &argc, argv);

	if (status != OPTIONS_RUN)
		return status;
	c.in = argv[0];
	c.out = argv[1];
	c.bar.unit = "frames";
	if (!log_writer_format(c.out, &program_errors))
		return EXIT_WRONG;
	if (same_file(c.in, c.out))
		return program_wrong("%s: IN and OUT are the same file", c.out);
	if (log_open(&c.log, c.in, log_formats_all, 0, &program_errors))
		return EXIT_RETRY;
	status = convert(&c);
	log_close(&c.log);
	return status;
}
