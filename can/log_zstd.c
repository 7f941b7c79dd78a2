/* log_zstd.c: logs compressed by zstd, read and written. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "can/log_input.h"
#include "can/log_output.h"

/* ---- reading ---- */

struct zstd {
	struct log_input in;
	ZSTD_DStream *z;
	bool frame_ended;
};

bool log_zstd_probe(const unsigned char *bytes, size_t n)
{
	return n >= 4 && !memcmp(bytes, "\x28\xB5\x2F\xFD", 4);
}

static ssize_t wrong(struct log_input *in, const char *text)
{
	in->wrong = text;
	return -EBADMSG;
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
			return wrong(in, "the zstd data is damaged: what follows is lost");
		if (more)
			in->at = bytes.pos;
		s->frame_ended = status == 0;
		if (!more && !out.pos)
			return wrong(in, "the zstd data is cut off: what follows is lost");
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

/* ---- writing ---- */

struct zstd_output {
	struct log_output out;
	ZSTD_CStream *z;
};

static int zstd_put(struct log_output *out, const unsigned char *bytes, size_t n, bool last)
{
	struct zstd_output *s = (struct zstd_output *)out;
	ZSTD_inBuffer in = { bytes, n, 0 };
	unsigned char packed[1 << 14];
	size_t left;

	do {
		ZSTD_outBuffer to = { packed, sizeof(packed), 0 };
		int err;

		left = ZSTD_compressStream2(s->z, &to, &in, last ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left))
			return -ENOMEM;
		err = log_output_fd(out->fd, packed, to.pos);
		if (err)
			return err;
	} while (in.pos < in.size || (last && left));
	return 0;
}

static void zstd_end(struct log_output *out)
{
	ZSTD_freeCStream(((struct zstd_output *)out)->z);
}

struct log_output *log_zstd_output(void)
{
	struct zstd_output *s = calloc(1, sizeof(*s));

	if (s)
		s->z = ZSTD_createCStream();
	if (!s || !s->z) {
		free(s);
		return NULL;
	}
	s->out.put = zstd_put;
	s->out.close = zstd_end;
	return &s->out;
}
