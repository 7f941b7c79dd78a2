/* mcap_read.c: reads MCAP files, one record after the other. */
#include "channels/rec/crc.h"
#include "channels/rec/mcap.h"

#define HEAD MCAP_RECORD_HEAD

struct mcap_reader {
	struct input in;
	uint64_t record_at;
	uint32_t crc; /* of all bytes that were passed */

	uint8_t *chunk; /* unpacked */
	size_t chunk_at, chunk_len, chunk_room;

	enum mcap_found last; /* MCAP_FOUND_RECORD: go on */
	int error;
	const char *damage;
};

/* ---- bytes of the file ---- */

static void pass(struct mcap_reader *r, size_t len)
{
	r->crc = crc_more(r->crc, r->in.buf + r->in.start, len);
	input_pass(&r->in, len);
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

static void read_schema(struct fields *f, struct mcap_record *record)
{
	struct mcap_schema *s = &record->schema;

	s->id = (uint16_t)number(f, 2);
	s->name = text(f);
	s->encoding = text(f);
	s->data = text(f);
	f->bad |= !s->id;
}

/* A map, or what is said to be one: its pairs are checked when they are asked for. */
static void read_channel(struct fields *f, struct mcap_record *record)
{
	struct mcap_channel *c = &record->channel;

	c->id = (uint16_t)number(f, 2);
	c->schema = (uint16_t)number(f, 2);
	c->topic = text(f);
	c->encoding = text(f);
	c->metadata = text(f);
}

static void read_message(struct fields *f, struct mcap_record *record)
{
	struct mcap_message *m = &record->message;

	m->channel = (uint16_t)number(f, 2);
	m->sequence = (uint32_t)number(f, 4);
	m->log_ns = number(f, 8);
	m->publish_ns = number(f, 8);
	m->data = f->at;
	m->len = (size_t)(f->end - f->at);
}

static void read_metadata(struct fields *f, struct mcap_record *record)
{
	record->metadata.name = text(f);
	record->metadata.map = text(f);
}

static void read_attachment(struct fields *f, struct mcap_record *record)
{
	const uint8_t *start = f->at;
	size_t len;
	uint32_t crc;

	(void)record; /* its bytes are enough */
	take(f, 16);
	text(f);
	text(f);
	take(f, number(f, 8));
	len = (size_t)(f->at - start);
	crc = (uint32_t)number(f, 4);
	f->bad |= crc && crc != crc_more(0, start, len);
}

/* The records that are given out. */
static void (*const readers[])(struct fields *f, struct mcap_record *record) = {
	[MCAP_SCHEMA] = read_schema,	     [MCAP_CHANNEL] = read_channel,   [MCAP_MESSAGE] = read_message,
	[MCAP_ATTACHMENT] = read_attachment, [MCAP_METADATA] = read_metadata,
};

static bool is_wanted(uint8_t op)
{
	return op < sizeof(readers) / sizeof(*readers) && readers[op];
}

/* Sets the record.  false: it is too short for its fields. */
static bool parse(struct mcap_record *record, enum mcap_op op, const uint8_t *bytes, size_t len)
{
	struct fields f = { bytes, bytes + len, false };

	*record = (struct mcap_record){ .op = op, .bytes = bytes, .len = len };
	readers[op](&f, record);
	return !f.bad;
}

/* ---- chunks ---- */

static enum mcap_found damaged(struct mcap_reader *r, const char *what)
{
	r->damage = what;
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
	if (!grow(&r->chunk, &r->chunk_room, size, 1))
		return fail(r, -ENOMEM);
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
	const int err = input_hold(&r->in, MCAP_MAGIC_SIZE);
	const size_t held = input_held(&r->in), n = held < MCAP_MAGIC_SIZE ? held : MCAP_MAGIC_SIZE;

	if (err)
		return fail(r, err);
	if (!n || memcmp(r->in.buf + r->in.start, MCAP_MAGIC, n) != 0)
		return r->last = MCAP_FOUND_NO_MCAP;
	if (n < MCAP_MAGIC_SIZE)
		return r->last = MCAP_FOUND_CUT;
	pass(r, MCAP_MAGIC_SIZE);
	return MCAP_FOUND_RECORD;
}

/* The record at the top of the file: held, with its length. */
static enum mcap_found next_at_top(struct mcap_reader *r, uint64_t *len)
{
	int err = input_hold(&r->in, HEAD);

	r->record_at = r->in.position;
	if (!err && input_held(&r->in) >= HEAD) {
		memcpy(len, r->in.buf + r->in.start + 1, sizeof(*len));
		if (*len > MCAP_RECORD_MAX) {
			r->last = MCAP_FOUND_CUT;
			return damaged(r, "a record is larger than 256 MiB; what follows is lost");
		}
		err = input_hold(&r->in, HEAD + *len);
	}
	if (err)
		return fail(r, err);
	if (input_held(&r->in) < HEAD || input_held(&r->in) - HEAD < *len)
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

	if (found == MCAP_FOUND_RECORD && !r->in.position)
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
		op = r->in.buf[r->in.start];
		bytes = r->in.buf + r->in.start + HEAD;
		if (op == MCAP_DATA_END || op == MCAP_FOOTER)
			return end_data(r, op, bytes, len);
		pass(r, HEAD + len);
		if (op == MCAP_CHUNK)
			found = open_chunk(r, bytes, len);
		else if (is_wanted(op))
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

struct mcap_reader *mcap_reader_new(input_read *read, void *from)
{
	struct mcap_reader *r = calloc(1, sizeof(*r));

	if (r)
		r->in = (struct input){ .read = read, .from = from };
	return r;
}

void mcap_reader_free(struct mcap_reader *r)
{
	if (!r)
		return;
	free(r->in.buf);
	free(r->chunk);
	free(r);
}
