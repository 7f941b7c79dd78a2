/* mcapfile.c: an MCAP file on the disk, for the commands that write one. */
#include <errno.h>
#include <string.h>

#include "channels/rec/writer.h"
#include "channels/tool/mcapfile.h"
#include "channels/tool/tool.h"
#include "config/settings/program.h"

const char *const mcapfile_compressions[] = { [MCAP_NONE] = "none", [MCAP_LZ4] = "lz4", [MCAP_ZSTD] = "zstd", NULL };

static int write_all(void *mcapfile, const void *bytes, size_t len)
{
	return writer_write(((const struct mcapfile *)mcapfile)->fd, bytes, len);
}

int mcapfile_open(struct mcapfile *f, int fd, enum mcap_compression compression)
{
	const struct mcap_options options = {
		.compression = compression, .library = "endplate " TOOL_VERSION, .write = write_all, .to = f
	};

	f->fd = fd;
	f->mcap = mcap_writer_new(&options);
	f->writer = f->mcap ? mcaprec_writer_new(f->mcap) : NULL;
	return f->writer ? 0 : -ENOMEM;
}

void mcapfile_close(struct mcapfile *f)
{
	mcaprec_writer_free(f->writer);
	mcap_writer_free(f->mcap);
}

int64_t mcapfile_convert(void *with, int fd, const char *items, size_t len, bool last)
{
	struct mcapfile *f = with;
	int err = items ? 0 : mcap_write_chunk(f->mcap);

	f->fd = fd;
	for (size_t at = 0; at < len && !err;) {
		struct reclog_record r;

		if (len - at >= RECLOG_MAGIC_SIZE && !memcmp(items + at, RECLOG_MAGIC, RECLOG_MAGIC_SIZE))
			at += RECLOG_MAGIC_SIZE;
		r = reclog_head_read((const uint8_t *)items + at);
		r.body = (const uint8_t *)items + at + RECLOG_HEAD_SIZE;
		err = mcaprec_put(f->writer, &r);
		at += RECLOG_HEAD_SIZE + r.len;
	}
	if (!err && last)
		err = mcap_write_end(f->mcap);
	return err ? err : (int64_t)mcap_written(f->mcap);
}
