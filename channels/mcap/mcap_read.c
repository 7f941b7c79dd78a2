/* mcap_read.c: reads MCAP files, one record after the other. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channels/mcap/crc.h"
#include "channels/mcap/mcap.h"

#define READ_BYTES (256u << 10)
#define HEAD MCAP_RECORD_HEAD

struct mcap_reader {
	ssize_t (*read)(void *from, void *bytes, size_t room);
	void *from;
	uint8_t *buf;
	size_t start, end, room; /* read and not yet given out */
	uint64_t position;	 /* of buf[start] in the file */
	uint64_t record_at;
	bool eof;
	uint32_t crc; /* of all bytes up to buf[start] */

	uint8_t *chunk; /* unpacked */
	size_t chunk_at, chunk_len, chunk_room;

	enum mcap_found last; /* MCAP_FOUND_RECORD: go on */
	int error;
	char damage[96];
};

/* ---- bytes of the file ---- */

static size_t held(const struct mcap_reader *r)
{
	return r->end - r->start;
}

/* The room grows with the bytes read, not with the length that a record claims. */
static int make_room(struct mcap_reader *r)
{
	uint8_t *buf;
	size_t room;

	if (r->start) {
		memmove(r->buf, r->buf + r->start, held(r));
		r->end -= r->start;
		r->start = 0;
	}
	if (r->room - r->end >= READ_BYTES)
		return 0;
	room = 2 * r->end + READ_BYTES;
	buf = realloc(r->buf, room);
	if (!buf)
		return -ENOMEM;
	r->buf = buf;
	r->room = room;
	return 0;
}

/* Until len bytes are held, or the file has no more.  0 or -errno. */
static int hold(struct mcap_reader *r, size_t len)
{
	while (held(r) < len && !r->eof) {
		const int err = make_room(r);
		ssize_t n = err ? err : r->read(r->from, r->buf + r->end, r->room - r->end);

		if (n < 0)
			return (int)n;
		r->end += (size_t)n;
		r->eof = !n;
	}
	return 0;
}

static void pass(struct mcap_reader *r, size_t len)
{
	r->crc = crc_more(r->crc, r->buf + r->start, len);
	r->start += len;
	r->position += len;
}

/* ---- fields of a record ---- */

/* bad: the record is shorter than its fields. */
struct fields {
	const uint8_t *at, *end;
	bool bad;
};

static const uint8_t *take(struct fields *f, uint64_t len)
{
	const uint8_t *at = f->at;

	f->bad |= len > (uint64_t)(f->end - f->at);
	if (f->bad)
		return NULL;
	f->at += len;
	return at;
}

static uint64_t number(struct fields *f, size_t size)
{
	const uint8_t *at = take(f, size);
	uint64_t v = 0;

	if (at)
		memcpy(&v, at, size);
	return v;
}

static struct mcap_text bytes_of(struct fields *f, uint64_t len)
{
	const uint8_t *at = take(f, len);

	return (struct mcap_text){ at ? (const char *)at : "", at ? (size_t)len : 0 };
}

static struct mcap_text text(struct fields *f)
{
	return bytes_of(f, number(f, 4));
}

/* A map, or what is said to be one: its pairs are checked when they are asked for. */
static void read_channel(struct fields *f, struct mcap_channel *c)
{
	c->id = (uint16_t)number(f, 2);
	c->schema = (uint16_t)number(f, 2);
	c->topic = text(f);
	c->encoding = text(f);
	c->metadata = text(f);
}

static void read_schema(struct fields *f, struct mcap_schema *s)
{
	s->id = (uint16_t)number(f, 2);
	s->name = text(f);
	s->encoding = text(f);
	s->data = text(f);
	f->bad |= !s->id;
}

static void read_message(struct fields *f, struct mcap_message *m)
{
	m->channel = (uint16_t)number(f, 2);
	m->sequence = (uint32_t)number(f, 4);
	m->log_ns = number(f, 8);
	m->publish_ns = number(f, 8);
	m->data = f->at;
	m->len = (size_t)(f->end - f->at);
}

static void read_metadata(struct fields *f, struct mcap_metadata *m)
{
	m->name = text(f);
	m->map = text(f);
}

static void read_attachment(struct fields *f)
{
	const uint8_t *start = f->at;
	uint32_t crc;

	take(f, 16);
	text(f);
	text(f);
	take(f, number(f, 8));
	if (!f->bad) {
		const size_t len = (size_t)(f->at - start);

		crc = (uint32_t)number(f, 4);
		f->bad |= crc && crc != crc_more(0, start, len);
	}
}

/* Sets the record.  false: it is too short for its fields. */
static bool parse(struct mcap_record *record, enum mcap_op op, const uint8_t *bytes, size_t len)
{
	struct fields f = { bytes, bytes + len, false };

	*record = (struct mcap_record){ .op = op, .bytes = bytes, .len = len };
	if (op == MCAP_SCHEMA)
		read_schema(&f, &record->schema);
	else if (op == MCAP_CHANNEL)
		read_channel(&f, &record->channel);
	else if (op == MCAP_MESSAGE)
		read_message(&f, &record->message);
	else if (op == MCAP_ATTACHMENT)
		read_attachment(&f);
	else if (op == MCAP_METADATA)
		read_metadata(&f, &record->metadata);
	return !f.bad;
}

static bool wanted(unsigned int op)
{
	return op == MCAP_SCHEMA || op == MCAP_CHANNEL || op == MCAP_MESSAGE || op == MCAP_ATTACHMENT ||
	       op == MCAP_METADATA;
}

/* ---- chunks ---- */

static enum mcap_found damaged(struct mcap_reader *r, const char *what)
{
	snprintf(r->damage, sizeof(r->damage), "%s", what);
	return MCAP_FOUND_DAMAGE;
}

static enum mcap_found fail(struct mcap_reader *r, int error)
{
	r->error = error;
	return r->last = MCAP_FOUND_ERROR;
}

/* Unpacks a chunk; its records come next. */
static enum mcap_found open_chunk(struct mcap_reader *r, const uint8_t *bytes, size_t len)
{
	struct fields f = { bytes, bytes + len, false };
	struct mcap_text compression, records;
	uint64_t size;
	uint32_t crc;

	take(&f, 16);
	size = number(&f, 8);
	crc = (uint32_t)number(&f, 4);
	compression = text(&f);
	records = bytes_of(&f, number(&f, 8));
	if (f.bad)
		return damaged(r, "a chunk is shorter than its fields");
	if (size > MCAP_RECORD_MAX)
		return damaged(r, "a chunk is larger than 256 MiB");
	if (size > r->chunk_room) {
		uint8_t *chunk = realloc(r->chunk, size);

		if (!chunk)
			return fail(r, -ENOMEM);
		r->chunk = chunk;
		r->chunk_room = size;
	}
	if (size && mcap_unpack(compression, r->chunk, size, records.at, records.len))
		return damaged(r, compression.len && !mcap_is(compression, "zstd") && !mcap_is(compression, "lz4")
					  ? "a chunk has an unknown compression"
					  : "a chunk cannot be unpacked");
	if (crc && crc != crc_more(0, r->chunk, size))
		return damaged(r, "the CRC of a chunk is wrong");
	r->chunk_at = 0;
	r->chunk_len = size;
	return MCAP_FOUND_RECORD;
}

/* The next record of the open chunk.  MCAP_FOUND_END: there are no more. */
static enum mcap_found next_inside(struct mcap_reader *r, struct mcap_record *record)
{
	while (r->chunk_at < r->chunk_len) {
		const size_t left = r->chunk_len - r->chunk_at;
		const uint8_t *at = r->chunk + r->chunk_at;
		uint64_t len = 0;

		if (left >= HEAD)
			memcpy(&len, at + 1, sizeof(len));
		if (left < HEAD || len > left - HEAD) {
			r->chunk_len = 0;
			return damaged(r, "a record in a chunk is longer than the chunk");
		}
		r->chunk_at += HEAD + len;
		if (*at != MCAP_SCHEMA && *at != MCAP_CHANNEL && *at != MCAP_MESSAGE)
			continue;
		if (!parse(record, *at, at + HEAD, len))
			return damaged(r, "a record in a chunk is shorter than its fields");
		return MCAP_FOUND_RECORD;
	}
	return MCAP_FOUND_END;
}

/* ---- the file ---- */

static enum mcap_found read_magic(struct mcap_reader *r)
{
	const int err = hold(r, MCAP_MAGIC_SIZE);
	const size_t n = held(r) < MCAP_MAGIC_SIZE ? held(r) : MCAP_MAGIC_SIZE;

	if (err)
		return fail(r, err);
	if (!n || memcmp(r->buf + r->start, MCAP_MAGIC, n) != 0)
		return r->last = MCAP_FOUND_NO_MCAP;
	if (n < MCAP_MAGIC_SIZE)
		return r->last = MCAP_FOUND_CUT;
	pass(r, MCAP_MAGIC_SIZE);
	return MCAP_FOUND_RECORD;
}

/* The record at the top of the file: held, with its length. */
static enum mcap_found next_at_top(struct mcap_reader *r, uint64_t *len)
{
	int err = hold(r, HEAD);

	r->record_at = r->position;
	if (!err && held(r) >= HEAD) {
		memcpy(len, r->buf + r->start + 1, sizeof(*len));
		if (*len > MCAP_RECORD_MAX) {
			r->last = MCAP_FOUND_CUT;
			return damaged(r, "a record is larger than 256 MiB; what follows is lost");
		}
		err = hold(r, HEAD + *len);
	}
	if (err)
		return fail(r, err);
	if (held(r) < HEAD || held(r) - HEAD < *len)
		return r->last = MCAP_FOUND_CUT;
	return MCAP_FOUND_RECORD;
}

/* The end of the data, with a CRC of all that was before it. */
static enum mcap_found end_data(struct mcap_reader *r, enum mcap_op op, const uint8_t *bytes, size_t len)
{
	struct fields f = { bytes, bytes + len, false };
	const uint32_t crc = op == MCAP_DATA_END ? (uint32_t)number(&f, 4) : 0;

	r->last = MCAP_FOUND_END;
	if (crc && crc != r->crc)
		return damaged(r, "the CRC of the data is wrong: some of it was changed");
	return r->last;
}

enum mcap_found mcap_read(struct mcap_reader *r, struct mcap_record *record)
{
	enum mcap_found found = r->last;

	if (found == MCAP_FOUND_RECORD && !r->position)
		found = read_magic(r);
	while (found == MCAP_FOUND_RECORD) {
		uint64_t len = 0;
		uint8_t op;
		const uint8_t *bytes;

		found = next_inside(r, record);
		if (found != MCAP_FOUND_END)
			return found;
		found = next_at_top(r, &len);
		if (found != MCAP_FOUND_RECORD)
			return found;
		op = r->buf[r->start];
		bytes = r->buf + r->start + HEAD;
		if (op == MCAP_DATA_END || op == MCAP_FOOTER)
			return end_data(r, op, bytes, len);
		pass(r, HEAD + len);
		if (op == MCAP_CHUNK)
			found = open_chunk(r, bytes, len);
		else if (wanted(op))
			return parse(record, op, bytes, len)
				       ? MCAP_FOUND_RECORD
				       : damaged(r, op == MCAP_ATTACHMENT ? "an attachment is damaged"
									  : "a record is shorter than its fields");
	}
	return found;
}

uint64_t mcap_position(const struct mcap_reader *r)
{
	return r->record_at;
}

const char *mcap_damage(const struct mcap_reader *r)
{
	return r->damage;
}

int mcap_error(const struct mcap_reader *r)
{
	return r->error;
}

struct mcap_reader *mcap_reader_new(ssize_t (*read)(void *from, void *bytes, size_t room), void *from)
{
	struct mcap_reader *r = calloc(1, sizeof(*r));

	if (r) {
		r->read = read;
		r->from = from;
	}
	return r;
}

void mcap_reader_free(struct mcap_reader *r)
{
	if (!r)
		return;
	free(r->buf);
	free(r->chunk);
	free(r);
}
