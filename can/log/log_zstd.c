/* log_zstd.c: logs compressed by zstd, read. */
#include <zstd.h>

#include "can/log/log_input.h"

struct zstd {
	struct log_input in;
	ZSTD_DStream *z;
	bool frame_ended;
};

bool log_zstd_probe(const unsigned char *bytes, size_t n)
{
	return n >= 4 && !memcmp(bytes, "\x28\xB5\x2F\xFD", 4);
}

static ssize_t zstd_read(struct log_input *in, unsigned char *to, size_t room)
{
	struct zstd *s = (struct zstd *)in;
	ZSTD_outBuffer out = { to, room, 0 };

	while (!out.pos) {
		int more = log_input_more(in);
		ZSTD_inBuffer bytes;
		size_t status;

		if (more < 0)
			return more;
		/* Without input it may still have output. */
		bytes = (ZSTD_inBuffer){ in->bytes, more ? in->n : 0, more ? in->at : 0 };
		if (!more && s->frame_ended)
			return 0;
		status = ZSTD_decompressStream(s->z, &out, &bytes);
		if (ZSTD_isError(status))
			return log_input_wrong(in, "the zstd data is damaged: what follows is lost");
		if (more)
			in->at = bytes.pos;
		s->frame_ended = status == 0;
		if (!more && !out.pos)
			return log_input_wrong(in, "the zstd data is cut off: what follows is lost");
	}
	return (ssize_t)out.pos;
}

static void zstd_close(struct log_input *in)
{
	ZSTD_freeDStream(((struct zstd *)in)->z);
}

struct log_input *log_zstd_input(void)
{
	struct zstd *s = calloc(1, sizeof(*s));

	if (s)
		s->z = ZSTD_createDStream();
	if (!s || !s->z) {
		free(s);
		return NULL;
	}
	s->in.read = zstd_read;
	s->in.close = zstd_close;
	return &s->in;
}
