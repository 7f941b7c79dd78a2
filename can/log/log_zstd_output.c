/* log_zstd_output.c: logs compressed by zstd, written. */
#include <zstd.h>

#include "can/log/log_output.h"

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
