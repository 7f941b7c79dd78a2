/* log_gzip.c: logs compressed by gzip, read and written. */
#include <zlib.h>

#include "can/log/log_input.h"
#include "can/log/log_output.h"

#define GZIP_WINDOW (15 + 16) /* the largest window, and gzip's header */

/* ---- reading ---- */

struct gzip {
	struct log_input in;
	z_stream z;
	bool member_ended; /* the next byte begins another one, or there is none */
};

bool log_gzip_probe(const unsigned char *bytes, size_t n)
{
	return n >= 3 && bytes[0] == 0x1F && bytes[1] == 0x8B && bytes[2] == 8;
}

static ssize_t gzip_read(struct log_input *in, unsigned char *to, size_t room)
{
	struct gzip *g = (struct gzip *)in;

	g->z.next_out = to;
	g->z.avail_out = (unsigned int)room;
	while (g->z.next_out == to) {
		int more = log_input_more(in), status;

		if (more < 0)
			return more;
		if (!more)
			return g->member_ended ? 0
					       : log_input_wrong(in, "the gzip data is cut off: what follows is lost");
		if (g->member_ended)
			inflateReset(&g->z);
		g->z.next_in = in->bytes + in->at;
		g->z.avail_in = (unsigned int)(in->n - in->at);
		status = inflate(&g->z, Z_NO_FLUSH);
		in->at = in->n - g->z.avail_in;
		if (status == Z_MEM_ERROR)
			return -ENOMEM;
		if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
			return log_input_wrong(in, "the gzip data is damaged: what follows is lost");
		g->member_ended = status == Z_STREAM_END;
	}
	return g->z.next_out - to;
}

static void gzip_close(struct log_input *in)
{
	inflateEnd(&((struct gzip *)in)->z);
}

struct log_input *log_gzip_input(void)
{
	struct gzip *g = calloc(1, sizeof(*g));

	if (!g || inflateInit2(&g->z, GZIP_WINDOW) != Z_OK) {
		free(g);
		return NULL;
	}
	g->in.read = gzip_read;
	g->in.close = gzip_close;
	return &g->in;
}

/* ---- writing ---- */

struct gzip_output {
	struct log_output out;
	z_stream z;
};

static int gzip_put(struct log_output *out, const unsigned char *bytes, size_t n, bool last)
{
	struct gzip_output *g = (struct gzip_output *)out;
	unsigned char packed[1 << 14];
	int status = Z_OK;

	g->z.next_in = (unsigned char *)bytes;
	g->z.avail_in = (unsigned int)n;
	do {
		int err;

		g->z.next_out = packed;
		g->z.avail_out = sizeof(packed);
		status = deflate(&g->z, last ? Z_FINISH : Z_NO_FLUSH);
		err = log_output_fd(out->fd, packed, sizeof(packed) - g->z.avail_out);
		if (err)
			return err;
	} while (g->z.avail_in || (last && status != Z_STREAM_END));
	return 0;
}

static void gzip_end(struct log_output *out)
{
	deflateEnd(&((struct gzip_output *)out)->z);
}

struct log_output *log_gzip_output(void)
{
	struct gzip_output *g = calloc(1, sizeof(*g));

	if (!g || deflateInit2(&g->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(g);
		return NULL;
	}
	g->out.put = gzip_put;
	g->out.close = gzip_end;
	return &g->out;
}
