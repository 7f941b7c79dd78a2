/* log_blf.c: the objects of Vector's BLF, read; log_blf_input.c takes them out of their containers.
 *
 * Numbers are little-endian.  An object has a base header (signature, sizes, type), a header with flags and stamp,
 * and a
 * body that depends on its type; padding follows.  Vector publishes no description.  The layouts are those that other
 * programs read and write; objects of other types than those in log_blf.h carry no frame.
 */
#include "can/log/log_blf.h"
#include "can/log/log_formats.h"
#include "can/log/log_input.h"

#define ID_EXT 0x80000000u
#define REMOTE 0x80
#define SENT 0x01

/* Flags of a BLF_CAN_FD_MESSAGE. */
#define FD 0x1
#define FD_BRS 0x2
#define FD_ESI 0x4

/* Flags of a BLF_CAN_FD_MESSAGE_64. */
#define FD64_REMOTE 0x0010u
#define FD64 0x1000u
#define FD64_BRS 0x2000u
#define FD64_ESI 0x4000u

struct body {
	const unsigned char *at;
	size_t n;
};

static const char too_short[] = "the object is shorter than its type requires";

/* ---- the header of the file ---- */

static bool blf_probe(const unsigned char *bytes, size_t n)
{
	return n >= 4 && !memcmp(bytes, "LOGG", 4);
}

/* Year, month, day of the week, day, hour, minute, second, millisecond. */
static int64_t system_time(const unsigned char *b)
{
	struct tm wall = { .tm_year = frame_le16(b) - 1900,
			   .tm_mon = frame_le16(b + 2) - 1,
			   .tm_mday = frame_le16(b + 6),
			   .tm_hour = frame_le16(b + 8),
			   .tm_min = frame_le16(b + 10),
			   .tm_sec = frame_le16(b + 12) };

	return frame_le16(b) < 1970 || frame_le16(b) > 2200 ? 0
							    : log_local_ns(wall, frame_le16(b + 14) * INT64_C(1000000));
}

static const char *read_file_header(struct log *log, const unsigned char *b)
{
	log->of.start_ns = system_time(b + 40);
	log_skip(log, frame_le32(b + 4));
	log->line--;
	return log_nothing;
}

/* ---- frames ---- */

/* The identifier is at the same place in every message. */
static const char *set_head(struct log_record *r, uint32_t channel, bool sent, struct body b)
{
	const uint32_t id = frame_le32(b.at + 4);
	const char *wrong = log_set_channel(r, channel);

	r->direction = sent ? 'T' : 'R';
	return wrong ? wrong : log_set_id(&r->frame, id & ~ID_EXT, id & ID_EXT);
}

static void set_flags(struct frame *f, bool fd, bool brs, bool esi, bool remote)
{
	if (fd)
		f->flags = (uint8_t)(FRAME_FD | (brs ? FRAME_BRS : 0) | (esi ? FRAME_ESI : 0));
	else if (remote)
		f->id |= FRAME_RTR;
}

/* dlc is a length code; n bytes are there at data. */
static const char *set_data(struct frame *f, uint32_t dlc, const unsigned char *data, size_t n)
{
	const char *wrong = log_set_code(f, dlc);

	if (wrong)
		return wrong;
	if (frame_data_len(f) > n)
		return "there is less data than its length says";
	memcpy(f->data, data, frame_data_len(f));
	return NULL;
}

static const char *read_message(struct log_record *r, struct body b)
{
	const char *wrong;

	if (b.n < 16)
		return too_short;
	wrong = set_head(r, frame_le16(b.at), b.at[2] & SENT, b);
	set_flags(&r->frame, false, false, false, b.at[2] & REMOTE);
	return wrong ? wrong : set_data(&r->frame, b.at[3], b.at + 8, 8);
}

static const char *read_fd(struct log_record *r, struct body b)
{
	const char *wrong;

	if (b.n < 20)
		return too_short;
	wrong = set_head(r, frame_le16(b.at), b.at[2] & SENT, b);
	set_flags(&r->frame, b.at[13] & FD, b.at[13] & FD_BRS, b.at[13] & FD_ESI, b.at[2] & REMOTE);
	return wrong ? wrong : set_data(&r->frame, b.at[3], b.at + 20, b.at[14] < b.n - 20 ? b.at[14] : b.n - 20);
}

static const char *read_fd64(struct log_record *r, struct body b)
{
	const char *wrong;
	uint32_t flags;

	if (b.n < 40)
		return too_short;
	flags = frame_le32(b.at + 12);
	wrong = set_head(r, b.at[0], b.at[34], b);
	set_flags(&r->frame, flags & FD64, flags & FD64_BRS, flags & FD64_ESI, flags & FD64_REMOTE);
	return wrong ? wrong : set_data(&r->frame, b.at[1], b.at + 40, b.at[2] < b.n - 40 ? b.at[2] : b.n - 40);
}

static const char *read_error(struct log_record *r, struct body b)
{
	const char *wrong = b.n < 2 ? too_short : log_set_channel(r, frame_le16(b.at));

	return wrong ? wrong : log_set_error(r);
}

/* Its channel is a byte. */
static const char *read_fd_error(struct log_record *r, struct body b)
{
	const char *wrong = b.n < 1 ? too_short : log_set_channel(r, b.at[0]);

	return wrong ? wrong : log_set_error(r);
}

static const struct type {
	enum blf_type type;
	const char *(*read)(struct log_record *r, struct body b);
} types[] = {
	{ BLF_CAN_MESSAGE, read_message },	{ BLF_CAN_MESSAGE2, read_message },
	{ BLF_CAN_ERROR, read_error },		{ BLF_CAN_ERROR_EXT, read_error },
	{ BLF_CAN_FD_MESSAGE, read_fd },	{ BLF_CAN_FD_MESSAGE_64, read_fd64 },
	{ BLF_CAN_FD_ERROR_64, read_fd_error },
};

/* NULL: the object has no frame. */
static const struct type *type_of(const unsigned char *object)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (types[i].type == frame_le32(object + 12))
			return &types[i];
	return NULL;
}

static const char *read_object(struct log *log, struct log_record *r, const unsigned char *object, uint32_t size)
{
	const struct type *type = type_of(object);
	const uint32_t header = frame_le16(object + 4);
	uint64_t stamp;
	const char *wrong;

	if (!type)
		return log_nothing;
	if (header < BLF_HEADER || header > size)
		return "the size of an object's header is damaged";
	stamp = log_le64(object + 24);
	if (__builtin_mul_overflow(stamp, frame_le32(object + 16) == BLF_TIME_10US ? 10000u : 1u, &stamp) ||
	    stamp > INT64_MAX)
		return "the time is out of range";
	wrong = log_set_time(r, log->of.start_ns, (int64_t)stamp);
	memset(&r->frame, 0, sizeof(r->frame));
	return wrong ? wrong : type->read(r, (struct body){ object + header, size - header });
}

/* Up to the next object; false: there is none. */
static bool find_object(struct log *log)
{
	const unsigned char *b = NULL;

	for (int i = 0; i <= BLF_PADDING; i++) {
		b = log_bytes(log, 4);
		if (!b || !memcmp(b, "LOBJ", 4))
			break;
		log_skip(log, 1);
	}
	return b && !memcmp(b, "LOBJ", 4);
}

static const char *blf_record(struct log *log, struct log_record *r)
{
	const unsigned char *b = log_bytes(log, 4);
	const char *wrong;
	uint32_t size;

	if (b && !memcmp(b, "LOGG", 4)) {
		b = log_bytes(log, 72);
		return b ? read_file_header(log, b) : log_end;
	}
	if (!find_object(log)) {
		if (!log_bytes(log, 4)) /* what is left is padding */
			return log_end;
		return log_stop(log, "there is no object where one should be: what follows is lost");
	}
	b = log_bytes(log, BLF_BASE);
	if (!b)
		return log->cut ? log_end : log_stop(log, "the object is cut off");
	size = frame_le32(b + 8);
	if (size > BLF_OBJECT_MAX && !type_of(b)) /* such as an image */
		return log_skip(log, size) || log->cut ? log_nothing : "the object is cut off";
	if (size < BLF_BASE || size > BLF_OBJECT_MAX)
		return log_stop(log, "the size of an object is damaged: what follows is lost");
	b = log_bytes(log, size);
	if (!b) {
		if (!log->cut)
			return log_stop(log, "the object is cut off: it is lost");
		log->begin = log->end;
		return log_end;
	}
	wrong = read_object(log, r, b, size);
	log_skip(log, size);
	return wrong;
}

const struct log_format log_blf_format = {
	.name = "Vector BLF",
	.suffix = ".blf",
	.probe_bytes = blf_probe,
	.input = log_blf_input,
	.read_record = blf_record,
	.start_unit_ns = NS_PER_MS,
	.begin = log_blf_begin,
	.put = log_blf_put,
	.end = log_blf_end,
	.lacks = LOG_NO_NAMES | LOG_NO_DETAILS | LOG_NO_PAST,
};
