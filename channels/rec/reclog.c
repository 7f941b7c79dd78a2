/* reclog.c: the file that ach record writes and ach play reads. */
#include "channels/rec/crc.h"
#include "channels/rec/rec_delta.h"
#include "channels/rec/reclog.h"
#include "channels/ros/ros_can.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are copied as they are");

/* ---- records ---- */

struct head {
	uint32_t crc, len, body_crc;
	uint16_t kind, channel;
	int64_t t_ns;
	uint64_t number;
};

_Static_assert(sizeof(struct head) == RECLOG_HEAD_SIZE, "the head is as reclog.h says");

static uint32_t head_crc(const struct head *h)
{
	return crc_more(0, &h->len, sizeof(*h) - sizeof(h->crc));
}

void reclog_head_bare(uint8_t head[RECLOG_HEAD_SIZE], const struct reclog_record *r)
{
	const struct head h = { .len = (uint32_t)r->len,
				.kind = (uint16_t)r->kind,
				.channel = r->channel,
				.t_ns = r->t_ns,
				.number = r->number };

	memcpy(head, &h, sizeof(h));
}

void reclog_head(uint8_t head[RECLOG_HEAD_SIZE], const struct reclog_record *r)
{
	struct head h;

	reclog_head_bare(head, r);
	memcpy(&h, head, sizeof(h));
	h.body_crc = crc_more(0, r->body, r->len);
	h.crc = head_crc(&h);
	memcpy(head, &h, sizeof(h));
}

struct reclog_record reclog_head_read(const uint8_t head[RECLOG_HEAD_SIZE])
{
	struct head h;

	memcpy(&h, head, sizeof(h));
	return (struct reclog_record){
		.kind = h.kind, .channel = h.channel, .t_ns = h.t_ns, .number = h.number, .len = h.len
	};
}

size_t reclog_channel_write(uint8_t body[RECLOG_CHANNEL_MAX], const struct reclog_channel *c)
{
	const uint32_t numbers[] = { c->count, c->size, c->mode, c->type };
	size_t len = strnlen(c->name, sizeof(c->name));

	memcpy(body, numbers, sizeof(numbers));
	memcpy(body + sizeof(numbers), c->name, len);
	return sizeof(numbers) + len;
}

int reclog_channel_read(struct reclog_channel *c, const struct reclog_record *r)
{
	uint32_t numbers[4];
	size_t len = r->len - sizeof(numbers);

	if (r->len <= sizeof(numbers) || len >= sizeof(c->name) || memchr(r->body + sizeof(numbers), 0, len))
		return -1;
	memcpy(numbers, r->body, sizeof(numbers));
	*c = (struct reclog_channel){ .count = numbers[0], .size = numbers[1], .mode = numbers[2], .type = numbers[3] };
	memcpy(c->name, r->body + sizeof(numbers), len);
	return 0;
}

size_t reclog_can_write(uint8_t body[RECLOG_CAN_MAX], const struct ros_can *can)
{
	const size_t size = can->frame.flags & CANFD_FDF ? sizeof(struct canfd_frame) : sizeof(struct can_frame);

	memset(body, 0, 4);
	body[0] = (uint8_t)can->direction;
	memcpy(body + 4, &can->frame, size);
	return 4 + size;
}

int reclog_can_read(struct ros_can *can, const struct reclog_record *r)
{
	const bool fd = r->len == 4 + sizeof(struct canfd_frame);

	*can = (struct ros_can){ .t_ns = r->t_ns };
	if (!fd && r->len != 4 + sizeof(struct can_frame))
		return -1;
	can->direction = (char)r->body[0];
	memcpy(&can->frame, r->body + 4, r->len - 4);
	return fd == !!(can->frame.flags & CANFD_FDF) ? 0 : -1;
}

/* ---- reading ---- */

void reclog_open(struct reclog_reader *reader, int fd)
{
	*reader = (struct reclog_reader){ .fd = fd, .in = { .read = input_read_fd, .from = &reader->fd } };
}

void reclog_close(struct reclog_reader *reader)
{
	free(reader->in.buf);
	free(reader->whole);
	reader->in.buf = reader->whole = NULL;
}

/* 0, or -1: errno. */
static int hold(struct reclog_reader *reader, size_t len)
{
	const int r = input_hold(&reader->in, len);

	if (r)
		errno = -r;
	return r ? -1 : 0;
}

static bool head_here(const struct reclog_reader *reader, struct head *h)
{
	memcpy(h, reader->in.buf + reader->in.start, sizeof(*h));
	return h->kind >= RECLOG_START && h->kind <= RECLOG_SPARSE && h->crc == head_crc(h);
}

/* No head here: goes on to where one is.  *len: bytes passed. */
static enum reclog_found search(struct reclog_reader *reader, size_t *len)
{
	struct input *in = &reader->in;
	struct head h;

	*len = 0;
	for (;;) {
		if (hold(reader, RECLOG_HEAD_SIZE + 1))
			return RECLOG_FOUND_ERROR;
		if (input_held(in) <= RECLOG_HEAD_SIZE) { /* the file ends before another one could */
			*len += input_held(in);
			input_pass(in, input_held(in));
			return RECLOG_FOUND_DAMAGE;
		}
		input_pass(in, 1);
		++*len;
		if (head_here(reader, &h))
			return RECLOG_FOUND_DAMAGE;
	}
}

/* Until size bytes are held; r->len is how many there are. */
static enum reclog_found hold_whole(struct reclog_reader *reader, size_t size, struct reclog_record *r)
{
	if (hold(reader, size))
		return RECLOG_FOUND_ERROR;
	r->len = input_held(&reader->in);
	return r->len < size ? RECLOG_FOUND_CUT : RECLOG_FOUND_RECORD;
}

static enum reclog_found read_magic(struct reclog_reader *reader, struct reclog_record *r)
{
	const enum reclog_found found = hold_whole(reader, RECLOG_MAGIC_SIZE, r);
	const size_t n = r->len < RECLOG_MAGIC_SIZE ? r->len : RECLOG_MAGIC_SIZE;

	if (found == RECLOG_FOUND_ERROR)
		return found;
	if (!n || memcmp(reader->in.buf, RECLOG_MAGIC, n) != 0)
		return RECLOG_FOUND_NO_LOG;
	if (found == RECLOG_FOUND_RECORD)
		input_pass(&reader->in, RECLOG_MAGIC_SIZE);
	return found;
}

static enum reclog_found unpack(struct reclog_reader *reader, struct reclog_record *r)
{
	int len;

	if (!reader->whole)
		reader->whole = malloc(REC_DELTA_MAX);
	if (!reader->whole)
		return RECLOG_FOUND_ERROR;
	len = rec_delta_unpack(reader->whole, r->body, r->len);
	if (len < 0) {
		r->len += RECLOG_HEAD_SIZE;
		return RECLOG_FOUND_DAMAGE;
	}
	r->kind = RECLOG_MESSAGE;
	r->body = reader->whole;
	r->len = (size_t)len;
	return RECLOG_FOUND_RECORD;
}

enum reclog_found reclog_read(struct reclog_reader *reader, struct reclog_record *r)
{
	enum reclog_found found = RECLOG_FOUND_RECORD;
	struct head h;
	size_t size;

	*r = (struct reclog_record){ .len = 0 };
	if (!reader->in.position)
		found = read_magic(reader, r);
	if (found == RECLOG_FOUND_RECORD)
		found = hold_whole(reader, RECLOG_HEAD_SIZE, r);
	r->position = reader->in.position;
	if (found != RECLOG_FOUND_RECORD)
		return found == RECLOG_FOUND_CUT && !r->len ? RECLOG_FOUND_EOF : found;
	if (!head_here(reader, &h))
		return search(reader, &r->len);
	if (h.len > RECLOG_BODY_MAX) {
		r->len = h.len;
		return RECLOG_FOUND_LARGE;
	}
	size = RECLOG_HEAD_SIZE + h.len;
	found = hold_whole(reader, size, r);
	if (found != RECLOG_FOUND_RECORD)
		return found;
	r->body = reader->in.buf + reader->in.start + RECLOG_HEAD_SIZE;
	r->len = h.len;
	input_pass(&reader->in, size);
	if (crc_more(0, r->body, r->len) != h.body_crc) {
		r->len = size;
		return RECLOG_FOUND_DAMAGE;
	}
	r->kind = h.kind;
	r->channel = h.channel;
	r->t_ns = h.t_ns;
	r->number = h.number;
	return r->kind == RECLOG_SPARSE ? unpack(reader, r) : RECLOG_FOUND_RECORD;
}
