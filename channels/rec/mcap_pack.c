/* mcap_pack.c: the compressions of chunks: zstd, and frames of lz4. */
#include <lz4frame.h>
#include <zstd.h>

#include "channels/rec/mcap.h"

/* A recording must not take the processor from the robot: level 1 is 8 % smaller for a quarter more of it. */
#define ZSTD_LEVEL (-2)

const char *mcap_compression_name(enum mcap_compression c)
{
	static const char *const names[] = { [MCAP_NONE] = "", [MCAP_LZ4] = "lz4", [MCAP_ZSTD] = "zstd" };

	return names[c];
}

size_t mcap_pack_bound(enum mcap_compression c, size_t len)
{
	switch (c) {
	case MCAP_LZ4:
		return LZ4F_compressFrameBound(len, NULL);
	case MCAP_ZSTD:
		return ZSTD_compressBound(len);
	default:
		return len;
	}
}

size_t mcap_pack(enum mcap_compression c, void **state, void *to, size_t room, const void *from, size_t len)
{
	size_t n;

	if (c == MCAP_NONE) {
		memcpy(to, from, len);
		return len;
	}
	if (c == MCAP_LZ4) {
		n = LZ4F_compressFrame(to, room, from, len, NULL);
		return LZ4F_isError(n) ? 0 : n;
	}
	if (!*state)
		*state = ZSTD_createCCtx();
	n = *state ? ZSTD_compressCCtx(*state, to, room, from, len, ZSTD_LEVEL) : 0;
	return ZSTD_isError(n) ? 0 : n;
}

void mcap_pack_free(enum mcap_compression c, void *state)
{
	if (c == MCAP_ZSTD)
		ZSTD_freeCCtx(state);
}

static int unpack_lz4(char *to, size_t to_len, const char *from, size_t len)
{
	LZ4F_dctx *z;
	size_t at = 0, done = 0, more = 1;

	if (LZ4F_isError(LZ4F_createDecompressionContext(&z, LZ4F_VERSION)))
		return -1;
	while (more && at < len) {
		size_t in = len - at, out = to_len - done;

		more = LZ4F_decompress(z, to + done, &out, from + at, &in, NULL);
		if (LZ4F_isError(more) || (!in && !out))
			break;
		at += in;
		done += out;
	}
	LZ4F_freeDecompressionContext(z);
	return more || done != to_len ? -1 : 0;
}

int mcap_unpack(struct mcap_text compression, void *to, size_t to_len, const void *from, size_t len)
{
	if (mcap_is(compression, "zstd"))
		return ZSTD_decompress(to, to_len, from, len) == to_len ? 0 : -1;
	if (mcap_is(compression, "lz4"))
		return unpack_lz4(to, to_len, from, len);
	if (compression.len || len != to_len)
		return -1;
	memcpy(to, from, len);
	return 0;
}
