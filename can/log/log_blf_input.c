/* log_blf_input.c: the objects of a BLF file without their containers.
 *
 * The file is a header and containers, each with a piece of the stream of objects, plain or by zlib; an object may lie
 * across the end of one.  The output is the header and the objects.  Objects outside of a container come out, too.
 * A container is decompressed as a whole, because its checksum is at its end: of a damaged one nothing comes out.  Of
 * one that is cut off comes out what is there.
 */
#include <zlib.h>

#include "can/log/log_blf.h"
#include "can/log/log_input.h"
#include "can/log/log_parse.h"

#define CONTAINER_MAX ((size_t)1 << 26)
#define CONTAINER_CUT "a container is cut off: what follows is lost"

struct blf {
	struct log_input in;
	unsigned char *out; /* what goes on: the head of an object, a piece of one, an unpacked container */
	size_t room, n, given;
	uint64_t plain; /* bytes to pass on */
	uint64_t drop;	/* bytes to leave out */
	bool cut;	/* the file ends within a container */
	bool begun;
	uint64_t bytes, size; /* of the file: so far, and as its header says (0: nothing) */
	z_stream z;
};
_Static_assert(BLF_OBJECT_MAX >= LOG_INPUT_BYTES, "out has room for a piece");

static int cut_off(struct blf *b, int more, const char *what)
{
	return more < 0 ? more : log_input_wrong(&b->in, what);
}

/* Gathers a head of n bytes.  1; 0: the file ends within them; or -errno. */
static int gather(struct blf *b, size_t n)
{
	while (b->n < n) {
		int more = log_input_more(&b->in);

		if (more <= 0)
			return more;
		b->out[b->n++] = b->in.bytes[b->in.at++];
		b->bytes++;
	}
	return 1;
}

static int begin_file(struct blf *b)
{
	int more = gather(b, 24);
	uint32_t size;

	if (more <= 0)
		return cut_off(b, more, "the header of the file is cut off");
	size = frame_le32(b->out + 4);
	if (size < 72 || size > BLF_OBJECT_MAX)
		return log_input_wrong(&b->in, "the header of the file is damaged");
	b->size = log_le64(b->out + 16);
	b->plain = size - 24;
	b->begun = true;
	return 1;
}

/* ---- a compressed container ---- */

static int make_room(struct blf *b)
{
	unsigned char *more;

	if (b->n < b->room)
		return 0;
	if (2 * b->room > CONTAINER_MAX)
		return log_input_wrong(&b->in, "a container has more than 64 MiB: what follows is lost");
	more = realloc(b->out, 2 * b->room);
	if (!more)
		return -ENOMEM;
	b->out = more;
	b->room *= 2;
	return 0;
}

/* Decompresses bytes that are there.  1: there is more to do; 0: it is whole; or -errno. */
static int unpack_more(struct blf *b, uint64_t *packed)
{
	size_t n = b->in.n - b->in.at;
	int status = make_room(b);

	if (status)
		return status;
	n = n < *packed ? n : (size_t)*packed;
	b->z.next_in = b->in.bytes + b->in.at;
	b->z.avail_in = (unsigned int)n;
	b->z.next_out = b->out + b->n;
	b->z.avail_out = (unsigned int)(b->room - b->n);
	status = inflate(&b->z, Z_NO_FLUSH);
	n -= b->z.avail_in;
	b->in.at += n;
	b->bytes += n;
	*packed -= n;
	b->n = b->room - b->z.avail_out;
	b->drop = *packed;
	if (status == Z_STREAM_END)
		return 0;
	if (status != Z_OK || (!*packed && b->z.avail_out))
		return log_input_wrong(&b->in, "the compressed data of a container is damaged: what follows is lost");
	return 1;
}

/* All of the container, or what is there of it.  1 or -errno. */
static int unpack(struct blf *b, uint64_t packed)
{
	int more = 1;

	inflateReset(&b->z);
	while (more > 0) {
		more = packed ? log_input_more(&b->in) : 1;
		if (more < 0 && more != -EBADMSG)
			return more;
		b->cut = more <= 0;
		if (!b->cut)
			more = unpack_more(b, &packed);
	}
	return more < 0 && !b->cut ? more : 1;
}

/* ---- objects ---- */

static int begin_container(struct blf *b, uint32_t object_size)
{
	int more = gather(b, BLF_CONTAINER);
	uint16_t method;

	if (more <= 0)
		return cut_off(b, more, CONTAINER_CUT);
	if (object_size < BLF_CONTAINER)
		return log_input_wrong(&b->in, "the size of a container is damaged: what follows is lost");
	method = frame_le16(b->out + 16);
	if (method != BLF_PLAIN && method != BLF_ZLIB)
		return log_input_wrong(&b->in, "a container has an unknown compression: what follows is lost");
	b->n = 0;
	if (method == BLF_ZLIB)
		return unpack(b, object_size - BLF_CONTAINER);
	b->plain = object_size - BLF_CONTAINER;
	return 1;
}

/* The next object, or the padding before it.  1; 0: the end; or -errno. */
static int begin_object(struct blf *b)
{
	uint32_t size;
	int more = 1;

	for (int padding = 0; padding <= BLF_PADDING; padding++) {
		more = gather(b, 4);
		if (more < 0)
			return more;
		if (!more) /* the last padding; or something is missing */
			return b->size > b->bytes
				       ? log_input_wrong(&b->in,
							 "the file is shorter than its header says: its end is lost")
				       : 0;
		if (!memcmp(b->out, "LOBJ", 4))
			break;
		memmove(b->out, b->out + 1, --b->n);
	}
	if (b->n < 4)
		return log_input_wrong(&b->in, "there is no object where one should be: what follows is lost");
	more = gather(b, BLF_BASE);
	if (more <= 0)
		return cut_off(b, more, "an object is cut off: what follows is lost");
	size = frame_le32(b->out + 8);
	if (frame_le32(b->out + 12) == BLF_LOG_CONTAINER)
		return begin_container(b, size);
	if (size < BLF_BASE)
		return log_input_wrong(&b->in, "the size of an object is damaged: what follows is lost");
	b->plain = size - BLF_BASE;
	return 1;
}

/* Some of the bytes to pass on, or to leave out.  1 or -errno. */
static int take(struct blf *b)
{
	uint64_t *left = b->plain ? &b->plain : &b->drop;
	int more = log_input_more(&b->in);
	size_t n = b->in.n - b->in.at;

	if (more <= 0)
		return cut_off(b, more, b->plain ? "an object is cut off: what follows is lost" : CONTAINER_CUT);
	n = n < *left ? n : (size_t)*left;
	if (b->plain) {
		memcpy(b->out, b->in.bytes + b->in.at, n);
		b->n = n;
	}
	b->in.at += n;
	b->bytes += n;
	*left -= n;
	return 1;
}

static ssize_t blf_read(struct log_input *in, unsigned char *to, size_t room)
{
	struct blf *b = (struct blf *)in;
	size_t n;

	while (!b->n) {
		int more;

		if (b->cut)
			return log_input_wrong(&b->in, b->in.wrong ? b->in.wrong : CONTAINER_CUT);
		more = b->plain || b->drop ? take(b) : b->begun ? begin_object(b) : begin_file(b);
		if (more <= 0)
			return more;
	}
	n = b->n - b->given < room ? b->n - b->given : room;
	memcpy(to, b->out + b->given, n);
	b->given += n;
	if (b->given == b->n)
		b->given = b->n = 0;
	return (ssize_t)n;
}

static void blf_close(struct log_input *in)
{
	struct blf *b = (struct blf *)in;

	inflateEnd(&b->z);
	free(b->out);
}

struct log_input *log_blf_input(void)
{
	struct blf *b = calloc(1, sizeof(*b));

	if (b)
		b->out = malloc(BLF_OBJECT_MAX);
	if (!b || !b->out || inflateInit(&b->z) != Z_OK) {
		free(b ? b->out : NULL);
		free(b);
		return NULL;
	}
	b->room = BLF_OBJECT_MAX;
	b->in.read = blf_read;
	b->in.close = blf_close;
	return &b->in;
}
