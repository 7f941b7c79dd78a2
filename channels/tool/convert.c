/* convert.c: ach convert: a recording in the present versions of its messages. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels/tool/recfile.h"
#include "channels/tool/tool.h"

struct convert {
	bool force;

	struct recfile in;
	FILE *out;
	uint64_t messages, renewed, unknown;
};

static const struct settings_row rows[] = {
	SETTINGS_BOOL("force", struct convert, force, "no", "replace an existing file"),
	SETTINGS_END,
};

/* A new file, or an existing file with --force, but not the recording itself. */
static int open_output(struct convert *c, const char *path)
{
	struct stat in, out;
	int fd;

	if (!stat(path, &out) && S_ISREG(out.st_mode) && out.st_size && !c->force)
		return tool_fail("%s: exists already (--force replaces it)", path);
	if (!stat(path, &out) && !fstat(c->in.fd, &in) && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
		return tool_fail("%s: is the recording itself; name another file", path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
	c->out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!c->out || fwrite(RECLOG_MAGIC, RECLOG_MAGIC_SIZE, 1, c->out) != 1)
		return tool_fail("%s: %s", path, strerror(errno));
	return 0;
}

static bool of_another_version(const struct reclog_record *r)
{
	return msg_check(r->body, r->len, NULL, NULL) == MSG_OTHER_VERSION;
}

static void convert_record(struct convert *c, struct reclog_record *r, uint8_t channel[RECLOG_CHANNEL_MAX])
{
	struct reclog_channel what;

	if (r->kind == RECLOG_CHANNEL && !recfile_channel(&what, r)) {
		r->len = reclog_channel_write(channel, &what);
		r->body = channel;
	}
	if (r->kind != RECLOG_MESSAGE)
		return;
	c->messages++;
	if (recfile_renew(&c->in, r))
		c->renewed++;
	else
		c->unknown += of_another_version(r);
}

static int convert_all(struct convert *c, const char *path)
{
	uint8_t head[RECLOG_HEAD_SIZE], channel[RECLOG_CHANNEL_MAX];
	struct reclog_record r;
	int n;

	while ((n = recfile_next(&c->in, &r)) > 0 && !tool_stopped()) {
		convert_record(c, &r, channel);
		reclog_head(head, &r);
		if (fwrite(head, sizeof(head), 1, c->out) != 1 || (r.len && fwrite(r.body, r.len, 1, c->out) != 1))
			return tool_fail("%s: %s", path, strerror(errno));
	}
	if (n > 0)
		return tool_fail("%s: stopped; what is written can be played", path);
	if (fflush(c->out))
		return tool_fail("%s: %s", path, strerror(errno));
	return n < 0 ? TOOL_FAILED : 0;
}

static void print_summary(const struct convert *c, const char *path)
{
	printf("%" PRIu64 " messages, %" PRIu64 " of them of an older version and converted\n", c->messages,
	       c->renewed);
	if (c->unknown)
		tool_fail("%s: %" PRIu64
			  " messages are of versions that this program does not know, and stay as they were",
			  path, c->unknown);
}

static int run(void *values, int argc, char **argv)
{
	struct convert *c = values;
	int status;

	(void)argc;
	tool_stop_fd(); /* from here on a signal is an orderly end */
	status = recfile_open(&c->in, argv[0]);
	if (!status)
		status = open_output(c, argv[1]);
	if (!status)
		status = convert_all(c, argv[1]);
	if (!status)
		print_summary(c, argv[0]);
	if (c->out && fclose(c->out) && !status)
		status = tool_fail("%s: %s", argv[1], strerror(errno));
	return recfile_close(&c->in) ? TOOL_FAILED : status;
}

TOOL_COMMAND(convert, run, rows, struct convert, "IN OUT", 2, 2,
	     "rewrites a recording in the present versions of its messages",
	     "Times, numbers and losses stay as they were.\n");
