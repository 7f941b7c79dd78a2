/* log_blf_write.c: Vector's BLF, written: containers of 128 KiB, compressed by zlib. */
#include <zlib.h>

#include "can/log/log_blf.h"
#include "can/log/log_formats.h"

static void put_system_time(const struct log_writer *w, unsigned char *to, int64_t t_ns)
{
	const time_t s = (time_t)(t_ns / NS_PER_S);
	struct tm wall;

	if (!w->dated || !localtime_r(&s, &wall))
		return;
	frame_put_le(to, (uint64_t)wall.tm_year + 1900, 2);
	frame_put_le(to + 2, (uint64_t)wall.tm_mon + 1, 2);
	frame_put_le(to + 4, (uint64_t)wall.tm_wday, 2);
	frame_put_le(to + 6, (uint64_t)wall.tm_mday, 2);
	frame_put_le(to + 8, (uint64_t)wall.tm_hour, 2);
	frame_put_le(to + 10, (uint64_t)wall.tm_min, 2);
	frame_put_le(to + 12, (uint64_t)wall.tm_sec, 2);
	frame_put_le(to + 14, (uint64_t)(t_ns % NS_PER_S / NS_PER_MS), 2);
}

/* Sizes and counts are those at the end, 0 in a file that cannot be written again. */
static void file_header(const struct log_writer *w, unsigned char header[BLF_FILE_HEADER], bool complete)
{
	memset(header, 0, BLF_FILE_HEADER);
	memcpy(header, "LOGG", 4);
	frame_put_le(header + 4, BLF_FILE_HEADER, 4);
	header[12] = 2; /* the version of the format */
	header[13] = 6;
	header[14] = 8;
	header[15] = 1;
	put_system_time(w, header + 40, w->start_ns);
	if (!complete)
		return;
	frame_put_le(header + 16, w->total, 8);
	frame_put_le(header + 24, w->unpacked + BLF_FILE_HEADER, 8);
	frame_put_le(header + 32, (uint32_t)w->records, 4);
	put_system_time(w, header + 56, w->last_ns);
}

static void base(unsigned char *to, uint32_t header_size, uint32_t size, enum blf_type type)
{
	memcpy(to, "LOBJ", 4);
	frame_put_le(to + 4, header_size, 2);
	frame_put_le(to + 6, 1, 2);
	frame_put_le(to + 8, size, 4);
	frame_put_le(to + 12, type, 4);
}

static void end_container(struct log_writer *w)
{
	unsigned char packed[LOG_WRITER_BYTES + LOG_WRITER_BYTES / 8 + 64], head[BLF_CONTAINER] = { 0 };
	uLongf n = sizeof(packed);

	if (!w->held)
		return;
	if (compress(packed, &n, w->container, w->held) != Z_OK) {
		w->failed = -ENOMEM;
		return;
	}
	base(head, BLF_BASE, (uint32_t)(BLF_CONTAINER + n), BLF_LOG_CONTAINER);
	frame_put_le(head + 16, BLF_ZLIB, 2);
	frame_put_le(head + 24, (uint32_t)w->held, 4);
	log_put(w, head, sizeof(head));
	log_put(w, packed, n);
	log_put(w, "\0\0\0", n % 4); /* as many bytes as others write */
	w->unpacked += BLF_CONTAINER + w->held;
	w->held = 0;
}

/* Bodies are multiples of 4 bytes, so there is no padding. */
static void put_object(struct log_writer *w, int64_t ns, enum blf_type type, const unsigned char *body, size_t n)
{
	unsigned char *to;

	if (w->held + BLF_HEADER + n > sizeof(w->container))
		end_container(w);
	to = w->container + w->held;
	memset(to, 0, BLF_HEADER);
	base(to, BLF_HEADER, (uint32_t)(BLF_HEADER + n), type);
	frame_put_le(to + 16, 2, 4);
	frame_put_le(to + 24, (uint64_t)ns, 8);
	memcpy(to + BLF_HEADER, body, n);
	w->held += BLF_HEADER + n;
}

void log_blf_begin(struct log_writer *w)
{
	unsigned char header[BLF_FILE_HEADER];

	file_header(w, header, false);
	log_put(w, header, sizeof(header));
}

void log_blf_put(struct log_writer *w, const struct log_record *r)
{
	const struct frame *f = &r->frame;
	const int64_t ns = log_put_since(w, r->t_ns);
	unsigned char body[84] = { 0 };

	frame_put_le(body, w->channel, 2);
	if (f->id & FRAME_ERR) {
		put_object(w, ns, BLF_CAN_ERROR_EXT, body, 32);
		return;
	}
	body[2] = (unsigned char)((r->direction == 'T' ? 1 : 0) | (f->id & FRAME_RTR ? 0x80 : 0));
	body[3] = (unsigned char)frame_code(f);
	frame_put_le(body + 4, frame_id(f) | (f->id & FRAME_EXT ? 0x80000000u : 0), 4);
	if (!(f->flags & FRAME_FD)) {
		memcpy(body + 8, f->data, frame_data_len(f));
		put_object(w, ns, BLF_CAN_MESSAGE, body, 16);
		return;
	}
	body[13] = (unsigned char)(1 | (f->flags & FRAME_BRS ? 2 : 0) | (f->flags & FRAME_ESI ? 4 : 0));
	body[14] = f->len;
	memcpy(body + 20, f->data, f->len);
	put_object(w, ns, BLF_CAN_FD_MESSAGE, body, 84);
}

void log_blf_end(struct log_writer *w)
{
	unsigned char header[BLF_FILE_HEADER];

	end_container(w);
	file_header(w, header, true);
	log_put_again(w, header, sizeof(header));
}
