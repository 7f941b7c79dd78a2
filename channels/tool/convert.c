/* convert.c: ach convert: a recording as MCAP, an MCAP file as a recording, a damaged MCAP file made whole. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels/rec/recfile.h"
#include "channels/tool/mcapfile.h"
#include "channels/tool/tool.h"
#include "config/base/text.h"

#define BUFFER_BYTES (1u << 18)

struct convert {
	bool repair, force;
	int compression;

	const char *in, *out;
	FILE *file;
	char temporary[4096]; /* its name until it is whole */
	struct mcapfile mcap;
	struct recfile from;
	uint64_t messages;
	uint64_t damages, strays; /* of an MCAP file to be repaired */
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
			return program_report(TOOL_USAGE, "%s: IN and OUT are the same file", c->out);
		if (!c->force)
			return tool_fail("%s: exists already (--force replaces it)", c->out);
	}
	if (snprintf(c->temporary, sizeof(c->temporary), "%s.new", c->out) >= (int)sizeof(c->temporary))
		return tool_fail("%s: %s", c->out, strerror(ENAMETOOLONG));
	c->file = fopen(c->temporary, "we");
	if (!c->file)
		return tool_fail("%s: %s", c->temporary, strerror(errno));
	setvbuf(c->file, NULL, _IOFBF, BUFFER_BYTES);
	return mcapfile_open(&c->mcap, fileno(c->file), (enum mcap_compression)c->compression) ? tool_fail("no memory")
											       : 0;
}

/* Takes its name if it is whole.  0 or TOOL_FAILED. */
static int close_out(struct convert *c, int status)
{
	if (!c->file)
		return status;
	if (fclose(c->file) && !status)
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

/* In the format of ach record. */
static int put_own(FILE *to, const struct reclog_record *r)
{
	uint8_t head[RECLOG_HEAD_SIZE];

	reclog_head(head, r);
	return fwrite(head, 1, sizeof(head), to) == sizeof(head) && fwrite(r->body, 1, r->len, to) == r->len ? 0
													     : -errno;
}

/* Every record of a recording.  0 or TOOL_FAILED. */
static int copy_records(struct convert *c, bool mcap)
{
	struct reclog_record r;
	int n, error = 0;

	if (!mcap)
		fputs(RECLOG_MAGIC, c->file);
	while (!error && (n = recfile_next(&c->from, &r)) > 0) {
		error = mcap ? mcaprec_put(c->mcap.writer, &r) : put_own(c->file, &r);
		c->messages += r.kind == RECLOG_MESSAGE;
	}
	if (!error && n < 0)
		return TOOL_FAILED;
	if (!error && mcap)
		error = mcap_write_end(c->mcap.mcap);
	return error ? cannot_write(c, error) : 0;
}

static int convert_recording(struct convert *c)
{
	const bool mcap = text_ends_with(c->out, ".mcap");
	int status = recfile_open(&c->from, c->in);

	if (!status)
		status = open_out(c);
	if (!status)
		status = copy_records(c, mcap);
	recfile_close(&c->from); /* damage is reported, and what is sound is there */
	return status;
}

/* ---- MCAP of any writer ---- */

static int write_record(struct mcap_writer *to, const struct mcap_record *m)
{
	switch (m->op) {
	case MCAP_SCHEMA:
		return mcap_write_schema(to, &m->schema);
	case MCAP_CHANNEL:
		return mcap_write_channel(to, &m->channel);
	case MCAP_MESSAGE:
		return mcap_write_message(to, &m->message);
	case MCAP_METADATA:
		return mcap_write_metadata(to, &m->metadata);
	case MCAP_ATTACHMENT:
		return mcap_write_attachment(to, m->bytes, m->len);
	default:
		return 0;
	}
}

/* A schema or a channel may be there again; it is a stray if its schema or channel was in a damaged chunk. */
static int copy_record(struct convert *c, const struct mcap_record *m)
{
	const int error = write_record(c->mcap.mcap, m);

	c->messages += m->op == MCAP_MESSAGE && !error;
	c->strays += error == -EINVAL;
	return error == -EINVAL || error == -EEXIST ? 0 : error;
}

static int copy_mcap(struct convert *c, struct mcap_reader *from)
{
	struct mcap_record m;
	enum mcap_found found;
	int error = 0;

	while (!error && ((found = mcap_read(from, &m)) == MCAP_FOUND_RECORD || found == MCAP_FOUND_DAMAGE)) {
		if (found == MCAP_FOUND_RECORD)
			error = copy_record(c, &m);
		else if (c->damages++ < 10)
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
	if (c->strays)
		tool_fail("%s: %" PRIu64 " records are of channels or schemas that are damaged, and left out", c->in,
			  c->strays);
	error = mcap_write_end(c->mcap.mcap);
	return error ? cannot_write(c, error) : 0;
}

static int repair(struct convert *c)
{
	int in = open(c->in, O_RDONLY | O_CLOEXEC), status;
	struct mcap_reader *from = mcap_reader_new(input_read_fd, &in);

	status = in < 0 ? tool_fail("%s: %s", c->in, strerror(errno)) : open_out(c);
	if (!status)
		status = from ? copy_mcap(c, from) : tool_fail("no memory");
	mcap_reader_free(from);
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
	if (c->repair && !text_ends_with(c->out, ".mcap"))
		status = program_report(TOOL_USAGE, "%s: --repair writes MCAP: give OUT the suffix .mcap", c->out);
	else
		status = close_out(c, c->repair ? repair(c) : convert_recording(c));
	mcapfile_close(&c->mcap);
	if (!status)
		printf("%" PRIu64 " messages\n", c->messages);
	return status;
}

TOOL_COMMAND(convert, run, rows, struct convert, "IN OUT", 2, 2,
	     "writes a recording as MCAP, or an MCAP file as a recording, by the suffix of OUT",
	     "OUT: .mcap is MCAP, any other suffix the format of ach record.  The format of IN is found by itself.\n");
