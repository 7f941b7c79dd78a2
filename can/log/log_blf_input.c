/* log_blf_input.c: the objects of a BLF file without their containers.
 *
 * The file is a header and containers, each with a piece of the stream of objects, plain or by zlib; an object may lie
 * across the end of one.  The output is the header and the objects.  Objects outside of a container come out, too.
 * A container is decompressed as a whole, because its checksum is at its end: of a damaged one nothing comes out.  Of
 * one that is cut off comes out what is there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "can/log/log_blf.h"
#include "can/log/log_input.h"
#include "can/log/log_parse.h"

#define CONTAINER_MAX ((size_t)1 << 26)

struct blf {
	struct log_input in;
	unsigned char head[BLF_CONTAINER]; /* of the object that begins */
	size_t head_n, head_done;
	uint64_t plain;	 /* bytes to pass on */
	uint64_t packed; /* bytes to decompress */
	uint64_t drop;	 /* bytes to leave out */
	bool inside;	 /* z is in the middle of a container */
	unsigned char *container;
	size_t room, held, given; /* bytes of container: in all, decompressed, passed on */
	bool cut;		  /* the file ends within it */
	bool begun;
	uint64_t bytes, size; /* of the file: so far, and as its header says (0: nothing) */
	z_stream z;
};

/* Gathers n bytes in head.  1; 0: the file ends within them; or -errno. */
static int gather(struct blf *b, size_t n)
{
	while (b->head_n < n) {
		int more = log_input_more(&b->in);

		if (more <= 0)
			return more;
		b->head[b->head_n++] = b->in.bytes[b->in.at++];
		b->bytes++;
	}
	return 1;
}

static int begin_file(struct blf *b)
{
	int more = gather(b, 24);
	uint32_t size;

	if (more <= 0)
		return more < 0 ? more : log_input_wrong(&b->in, "the header of the file is cut off");
	size = frame_le32(b->head + 4);
	if (size < 72 || size > BLF_OBJECT_MAX)
		return log_input_wrong(&b->in, "the header of the file is damaged");
	b->size = log_le64(b->head + 16);
	b->plain = size - 24;
	b->begun = true;
	return 1;
}

static int begin_container(struct blf *b, uint32_t object_size)
{
	int more = gather(b, BLF_CONTAINER);
	uint16_t method;

	if (more <= 0)
		return more < 0 ? more : log_input_wrong(&b->in, "a container is cut off: what follows is lost");
	if (object_size < BLF_CONTAINER)
		return log_input_wrong(&b->in, "the size of a container is damaged: what follows is lost");
	method = frame_le16(b->head + 16);
	if (method != BLF_PLAIN && method != BLF_ZLIB)
		return log_input_wrong(&b->in, "a container has an unknown compression: what follows is lost");
	*(method == BLF_ZLIB ? &b->packed : &b->plain) = object_size - BLF_CONTAINER;
	b->inside = method == BLF_ZLIB;
	if (b->inside)
		inflateReset(&b->z);
	b->head_n = 0;
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
		if (!memcmp(b->head, "LOBJ", 4))
			break;
		memmove(b->head, b->head + 1, --b->head_n);
	}
	if (b->head_n < 4)
		return log_input_wrong(&b->in, "there is no object where one should be: what follows is lost");
	more = gather(b, BLF_BASE);
	if (more <= 0)
		return more < 0 ? more : log_input_wrong(&b->in, "an object is cut off: what follows is lost");
	size = frame_le32(b->head + 8);
	if (frame_le32(b->head + 12) == BLF_LOG_CONTAINER)
		return begin_container(b, size);
	if (size < BLF_BASE)
		return log_input_wrong(&b->in, "the size of an object is damaged: what follows is lost");
	b->plain = size - BLF_BASE;
	return 1;
}

/* Each returns how many bytes it gave, or -errno; 0 does not mean the end. */

static ssize_t give_head(struct blf *b, unsigned char *to, size_t room)
{
	size_t n = b->head_n - b->head_done < room ? b->head_n - b->head_done : room;

	memcpy(to, b->head + b->head_done, n);
	b->head_done += n;
	if (b->head_done == b->head_n)
		b->head_n = b->head_done = 0;
	return (ssize_t)n;
}

static ssize_t give_plain(struct blf *b, unsigned char *to, size_t room)
{
	int more = log_input_more(&b->in);
	size_t n = b->in.n - b->in.at;

	if (more <= 0)
		return more < 0 ? more : log_input_wrong(&b->in, "an object is cut off: what follows is lost");
	n = n < room ? n : room;
	n = n < b->plain ? n : (size_t)b->plain;
	memcpy(to, b->in.bytes + b->in.at, n);
	b->in.at += n;
	b->plain -= n;
	b->bytes += n;
	return (ssize_t)n;
}

static int grow(struct blf *b)
{
	const size_t room = b->room ? 2 * b->room : BLF_OBJECT_MAX;
	unsigned char *more = room > CONTAINER_MAX ? NULL : realloc(b->container, room);

	if (!more)
		return room > CONTAINER_MAX
			       ? log_input_wrong(&b->in, "a container has more than 64 MiB: what follows is lost")
			       : -ENOMEM;
	b->container = more;
	b->room = room;
	return 0;
}

/* Decompresses bytes that are there.  0, or -errno. */
static int unpack_more(struct blf *b)
{
	size_t n = b->in.n - b->in.at;
	int status;

	if (b->held == b->room) {
		status = grow(b);
		if (status)
			return status;
	}
	n = n < b->packed ? n : (size_t)b->packed;
	b->z.next_in = b->in.bytes + b->in.at;
	b->z.avail_in = (unsigned int)n;
	b->z.next_out = b->container + b->held;
	b->z.avail_out = (unsigned int)(b->room - b->held);
	status = inflate(&b->z, Z_NO_FLUSH);
	n -= b->z.avail_in;
	b->in.at += n;
	b->packed -= n;
	b->bytes += n;
	b->held = b->room - b->z.avail_out;
	if (status == Z_STREAM_END) {
		b->drop = b->packed;
		b->packed = 0;
		b->inside = false;
	} else if (status != Z_OK || (!b->packed && b->z.avail_out)) {
		return log_input_wrong(&b->in, "the compressed data of a container is damaged: what follows is lost");
	}
	return 0;
}

/* All of the container, or what is there of it.  1 or -errno. */
static int unpack(struct blf *b)
{
	b->held = b->given = 0;
	while (b->inside) {
		int more = b->packed ? log_input_more(&b->in) : 1;

		if (more < 0 && more != -EBADMSG)
			return more;
		if (more <= 0) {
			b->cut = true;
			b->inside = false;
			return 1;
		}
		more = unpack_more(b);
		if (more)
			return more;
	}
	return 1;
}

static ssize_t give_container(struct blf *b, unsigned char *to, size_t room)
{
	size_t n = b->held - b->given < room ? b->held - b->given : room;

	memcpy(to, b->container + b->given, n);
	b->given += n;
	return (ssize_t)n;
}

static int drop(struct blf *b)
{
	int more = log_input_more(&b->in);
	size_t n = b->in.n - b->in.at;

	if (more <= 0)
		return more < 0 ? more : log_input_wrong(&b->in, "a container is cut off: what follows is lost");
	n = n < b->drop ? n : (size_t)b->drop;
	b->in.at += n;
	b->drop -= n;
	b->bytes += n;
	return 1;
}

static ssize_t blf_read(struct log_input *in, unsigned char *to, size_t room)
{
	struct blf *b = (struct blf *)in;

	for (;;) {
		ssize_t n = 0;
		int more = 1;

		if (b->head_n)
			n = give_head(b, to, room);
		else if (b->plain)
			n = give_plain(b, to, room);
		else if (b->inside)
			more = unpack(b);
		else if (b->given < b->held)
			n = give_container(b, to, room);
		else if (b->cut)
			more = log_input_wrong(&b->in, b->in.wrong ? b->in.wrong
								   : "a container is cut off: what follows is lost");
		else if (b->drop)
			more = drop(b);
		else
			more = b->begun ? begin_object(b) : begin_file(b);
		if (n)
			return n;
		if (more <= 0)
			return more;
	}
}

static void blf_close(struct log_input *in)
{
	struct blf *b = (struct blf *)in;

	inflateEnd(&b->z);
	free(b->container);
}

struct log_input *log_blf_input(void)
{
	struct blf *b = calloc(1, sizeof(*b));

	if (!b || inflateInit(&b->z) != Z_OK) {
		free(b);
		return NULL;
	}
	b->in.read = blf_read;
	b->in.close = blf_close;
	return &b->in;
}
