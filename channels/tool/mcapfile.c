/* mcapfile.c: an MCAP file on the disk, for the commands that write one. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "channels/tool/mcapfile.h"
#include "channels/tool/tool.h"

const char *const mcapfile_compressions[] = { [MCAP_NONE] = "none", [MCAP_LZ4] = "lz4", [MCAP_ZSTD] = "zstd", NULL };

int mcapfile_write(void *mcapfile, const void *bytes, size_t len)
{
	const struct mcapfile *f = mcapfile;
	const off_t start = lseek(f->fd, 0, SEEK_CUR);
	const char *at = bytes;

	while (len) {
		const ssize_t n = write(f->fd, at, len);

		if (n > 0) {
			at += n;
			len -= (size_t)n;
		} else if (!n || errno != EINTR) {
			const int error = n ? -errno : -EIO;

			if (start >= 0 && at != bytes && ftruncate(f->fd, start))
				return error; /* a torn chunk, which is found by its reader */
			return error;
		}
	}
	return 0;
}

int mcapfile_open(struct mcapfile *f, int fd, enum mcap_compression compression)
{
	const struct mcap_options options = {
		.compression = compression, .library = "endplate " TOOL_VERSION, .write = mcapfile_write, .to = f
	};

	f->fd = fd;
	f->writer = mcaprec_writer_new(&options);
	return f->writer ? 0 : -ENOMEM;
}

void mcapfile_close(struct mcapfile *f)
{
	mcaprec_writer_free(f->writer);
	f->writer = NULL;
}

int64_t mcapfile_convert(void *with, int fd, const char *items, size_t len, bool last)
{
	struct mcapfile *f = with;
	int err = items ? 0 : mcap_write_chunk(mcaprec_mcap(f->writer));

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
		err = mcaprec_end(f->writer);
	return err ? err : (int64_t)mcap_written(mcaprec_mcap(f->writer));
}
