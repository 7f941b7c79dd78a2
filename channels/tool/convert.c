/* convert.c: ach convert: a recording as MCAP, an MCAP file as a recording, a damaged MCAP file made whole. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels/tool/mcapfile.h"
#include "channels/tool/recfile.h"
#include "channels/tool/tool.h"
#include "config/text.h"

#define BUFFER_BYTES (1u << 18)

struct convert {
	bool repair, force;
	int compression;

	const char *in, *out;
	int fd;
	char temporary[4096]; /* the file until it is whole */
	struct mcapfile mcap;
	struct recfile from;
	char *buffer;
	size_t buffered;
	uint64_t messages;
};

static const struct settings_row rows[] = {
	SETTINGS_BOOL("repair", struct convert, repair, "no",
		      "from an MCAP file of any writer, cut off or damaged: all that is whole, with its indexes"),
	SETTINGS_WORD("compress", struct convert, compression, mcapfile_compressions, "zstd",
		      "the chunks of MCAP: zstd is smaller, lz4 takes less time"),
	SETTINGS_BOOL("force", struct convert, force, "no", "replace OUT if it exists"),
	SETTINGS_END,
};

/* ---- the file that is written ---- */

static int open_out(struct convert *c)
{
	struct stat in, out;

	if (!stat(c->out, &out)) {
		if (!stat(c->in, &in) && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
			return tool_report(TOOL_USAGE, "%s: IN and OUT are the same file", c->out);
		if (!c->force)
			return tool_fail("%s: exists already (--force replaces it)", c->out);
	}
	if (snprintf(c->temporary, sizeof(c->temporary), "%s.new", c->out) >= (int)sizeof(c->temporary))
		return tool_fail("%s: %s", c->out, strerror(ENAMETOOLONG));
	c->fd = open(c->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return c->fd < 0 ? tool_fail("%s: %s", c->temporary, strerror(errno)) : 0;
}

/* Takes its name if it is whole.  0 or TOOL_FAILED. */
static int close_out(struct convert *c, int status)
{
	if (c->fd < 0)
		return status;
	if (close(c->fd) && !status)
		status = tool_fail("%s: %s", c->out, strerror(errno));
	if (!status && rename(c->temporary, c->out))
		status = tool_fail("%s: %s", c->out, strerror(errno));
	if (status)
		unlink(c->temporary);
	return status;
}

static int cannot_write(const struct convert *c, int error)
{
	return tool_fail("%s: %s", c->out, strerror(-error));
}

/* ---- records ---- */

static int flush(struct convert *c)
{
	const int error = mcapfile_write(&c->mcap, c->buffer, c->buffered);

	c->buffered = 0;
	return error;
}

static int add(struct convert *c, const void *bytes, size_t len)
{
	int error = 0;

	if (c->buffered + len > BUFFER_BYTES)
		error = flush(c);
	if (!error && len > BUFFER_BYTES)
		return mcapfile_write(&c->mcap, bytes, len);
	if (len)
		memcpy(c->buffer + c->buffered, bytes, len);
	c->buffered += len;
	return error;
}

static int put_own(struct convert *c, const struct reclog_record *r)
{
	uint8_t head[RECLOG_HEAD_SIZE];
	int error;

	reclog_head(head, r);
	error = add(c, head, sizeof(head));
	return error ? error : add(c, r->body, r->len);
}

/* Every record of a recording.  0 or TOOL_FAILED. */
static int copy_records(struct convert *c, bool mcap)
{
	struct reclog_record r;
	int n, error = mcap ? 0 : add(c, RECLOG_MAGIC, RECLOG_MAGIC_SIZE);

	while (!error && (n = recfile_next(&c->from, &r)) > 0) {
		error = mcap ? mcaprec_put(c->mcap.writer, &r) : put_own(c, &r);
		c->messages += r.kind == RECLOG_MESSAGE;
	}
	if (!error && n < 0)
		return TOOL_FAILED;
	if (!error)
		error = mcap ? mcaprec_end(c->mcap.writer) : flush(c);
	return error ? cannot_write(c, error) : 0;
}

static int convert_recording(struct convert *c)
{
	const bool mcap = text_ends_with(c->out, ".mcap");
	int status = recfile_open(&c->from, c->in);

	if (!status)
		status = open_out(c);
	if (!status && mcapfile_open(&c->mcap, c->fd, (enum mcap_compression)c->compression))
		status = tool_fail("no memory");
	if (!status)
		status = copy_records(c, mcap);
	recfile_close(&c->from); /* damage is reported, and what is sound is there */
	return status;
}

/* ---- MCAP of any writer ---- */

struct repair {
	struct mcap_writer *to;
	uint8_t *schemas, *channels; /* by id: they are written */
	uint64_t damages, strays;
};

static int copy_record(struct convert *c, struct repair *re, const struct mcap_record *m)
{
	switch (m->op) {
	case MCAP_SCHEMA:
		if (re->schemas[m->schema.id])
			return 0;
		re->schemas[m->schema.id] = 1;
		return mcap_write_schema(re->to, &m->schema);
	case MCAP_CHANNEL:
		if (re->channels[m->channel.id])
			return 0;
		if (m->channel.schema && !re->schemas[m->channel.schema]) {
			re->strays++; /* its schema was in a damaged chunk */
			return 0;
		}
		re->channels[m->channel.id] = 1;
		return mcap_write_channel(re->to, &m->channel);
	case MCAP_MESSAGE:
		if (!re->channels[m->message.channel]) {
			re->strays++;
			return 0;
		}
		c->messages++;
		return mcap_write_message(re->to, &m->message);
	case MCAP_METADATA:
		return mcap_write_metadata(re->to, &m->metadata);
	case MCAP_ATTACHMENT:
		return mcap_write_attachment(re->to, m->bytes, m->len);
	default:
		return 0;
	}
}

static ssize_t read_in(void *from, void *bytes, size_t room)
{
	ssize_t n;

	do
		n = read(*(int *)from, bytes, room);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static int copy_mcap(struct convert *c, struct mcap_reader *from, struct repair *re)
{
	struct mcap_record m;
	enum mcap_found found;
	int error = 0;

	while (!error && ((found = mcap_read(from, &m)) == MCAP_FOUND_RECORD || found == MCAP_FOUND_DAMAGE)) {
		if (found == MCAP_FOUND_RECORD)
			error = copy_record(c, re, &m);
		else if (re->damages++ < 10)
			tool_fail("%s: %s, at %" PRIu64, c->in, mcap_damage(from), mcap_position(from));
	}
	if (error)
		return cannot_write(c, error);
	if (found == MCAP_FOUND_NO_MCAP)
		return tool_fail("%s: is not MCAP", c->in);
	if (found == MCAP_FOUND_ERROR)
		return tool_fail("%s: %s", c->in, strerror(-mcap_error(from)));
	if (found == MCAP_FOUND_CUT)
		tool_fail("%s: is cut off at %" PRIu64 "; all before it is whole", c->in, mcap_position(from));
	if (re->strays)
		tool_fail("%s: %" PRIu64 " records are of channels or schemas that are damaged, and left out", c->in,
			  re->strays);
	error = mcap_write_end(re->to);
	return error ? cannot_write(c, error) : 0;
}

static int repair(struct convert *c)
{
	struct repair re = { .schemas = calloc(1, UINT16_MAX + 1), .channels = calloc(1, UINT16_MAX + 1) };
	int in = open(c->in, O_RDONLY | O_CLOEXEC), status = 0;
	struct mcap_reader *from = mcap_reader_new(read_in, &in);

	if (in < 0)
		status = tool_fail("%s: %s", c->in, strerror(errno));
	if (!status)
		status = open_out(c);
	c->mcap.fd = c->fd;
	re.to = mcap_writer_new(&(struct mcap_options){ .compression = (enum mcap_compression)c->compression,
							.library = "endplate " TOOL_VERSION,
							.write = mcapfile_write,
							.to = &c->mcap });
	if (!status && (!re.schemas || !re.channels || !from || !re.to))
		status = tool_fail("no memory");
	if (!status)
		status = copy_mcap(c, from, &re);
	mcap_reader_free(from);
	mcap_writer_free(re.to);
	free(re.schemas);
	free(re.channels);
	if (in >= 0)
		close(in);
	return status;
}

/* ---- the command ---- */

static int run(void *values, int argc, char **argv)
{
	struct convert *c = values;
	int status;

	(void)argc;
	c->in = argv[0];
	c->out = argv[1];
	c->fd = -1;
	c->buffer = malloc(BUFFER_BYTES);
	if (!c->buffer)
		return tool_fail("no memory");
	if (c->repair && !text_ends_with(c->out, ".mcap"))
		status = tool_report(TOOL_USAGE, "%s: --repair writes MCAP: give OUT the suffix .mcap", c->out);
	else
		status = close_out(c, c->repair ? repair(c) : convert_recording(c));
	mcapfile_close(&c->mcap);
	free(c->buffer);
	if (!status)
		printf("%" PRIu64 " messages\n", c->messages);
	return status;
}

TOOL_COMMAND(convert, run, rows, struct convert, "IN OUT", 2, 2,
	     "writes a recording as MCAP, or an MCAP file as a recording, by the suffix of OUT",
	     "OUT: .mcap is MCAP, any other suffix the format of ach record.  The format of IN is found by itself.\n");
