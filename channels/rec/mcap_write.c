/* mcap_write.c: writes MCAP files. */
#include "channels/rec/crc.h"
#include "channels/rec/mcap.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are copied as they are");

#define ROOM_MIN 4096

/* Bytes that grow. */
struct bytes {
	uint8_t *at;
	size_t len, room;
};

/* A message of the open chunk, or the last one of a channel: next is its place in the list plus 1. */
struct entry {
	uint64_t log_ns, offset;
	uint32_t next;
	uint16_t channel;
};

struct channel {
	bool known;
	uint32_t first, last; /* entries of the open chunk, plus 1; 0: none */
	uint32_t in_chunk;
	uint64_t index_at; /* of its message index, from the chunk on */
	uint64_t messages;
};

struct mcap_writer {
	struct mcap_options options;
	void *pack; /* state of the compression */
	int failed;
	uint64_t position;
	uint32_t data_crc;
	bool ended;

	struct bytes out;   /* what the next write has */
	struct bytes chunk; /* the unpacked records of the open chunk */
	struct entry *entries;
	size_t entries_n, entries_room;
	uint16_t in_chunk[MCAP_IDS]; /* channels of the open chunk */
	size_t in_chunk_n;
	uint64_t chunk_first_ns, chunk_last_ns;

	struct {
		struct bytes records; /* whole ones */
		uint32_t n;
	} summary[MCAP_DATA_END]; /* by their kind; the statistics are made at the end */
	bool schema_known[MCAP_IDS];
	struct channel channel[MCAP_IDS];
	uint32_t channels_end; /* no channel has this id or a higher one */
	uint64_t messages, first_ns, last_ns;
};

/* ---- bytes ---- */

static bool make_room_slow(struct mcap_writer *w, struct bytes *b, size_t len)
{
	if (!grow(&b->at, &b->room, b->len + (len > ROOM_MIN ? len : ROOM_MIN), 1))
		w->failed = -ENOMEM;
	return !w->failed;
}

static inline bool make_room(struct mcap_writer *w, struct bytes *b, size_t len)
{
	return !w->failed && (len <= b->room - b->len || make_room_slow(w, b, len));
}

static inline void add(struct mcap_writer *w, struct bytes *b, const void *from, size_t len)
{
	if (!len || !make_room(w, b, len))
		return;
	memcpy(b->at + b->len, from, len);
	b->len += len;
}

static void add_number(struct mcap_writer *w, struct bytes *b, size_t size, uint64_t v)
{
	add(w, b, &v, size);
}

static void add_text(struct mcap_writer *w, struct bytes *b, struct mcap_text text)
{
	add_number(w, b, 4, text.len);
	add(w, b, text.at, text.len);
}

/* Begins a record; its length follows with end_record. */
static size_t begin_record(struct mcap_writer *w, struct bytes *b, enum mcap_op op)
{
	add_number(w, b, 1, op);
	add_number(w, b, 8, 0);
	return b->len;
}

static void end_record(struct mcap_writer *w, struct bytes *b, size_t start)
{
	const uint64_t len = b->len - start;

	if (!w->failed)
		memcpy(b->at + start - sizeof(len), &len, sizeof(len));
}

/* Writes out; data: the bytes are of the data section. */
static void flush(struct mcap_writer *w, bool data)
{
	if (data)
		w->data_crc = crc_more(w->data_crc, w->out.at, w->out.len);
	if (!w->failed && w->out.len)
		w->failed = w->options.write(w->options.to, w->out.at, w->out.len);
	w->position += w->out.len;
	w->out.len = 0;
}

/* ---- schemas and channels ---- */

/* Where one more record of that kind goes in the summary. */
static struct bytes *one_more(struct mcap_writer *w, enum mcap_op op)
{
	w->summary[op].n++;
	return &w->summary[op].records;
}

/* Ends a record of the summary, which the chunk has as well. */
static void end_in_both(struct mcap_writer *w, struct bytes *b, size_t start)
{
	end_record(w, b, start);
	if (!w->failed)
		add(w, &w->chunk, b->at + start - MCAP_RECORD_HEAD, MCAP_RECORD_HEAD + b->len - start);
}

int mcap_write_schema(struct mcap_writer *w, const struct mcap_schema *s)
{
	struct bytes *b;
	size_t start;

	if (!s->id || w->schema_known[s->id])
		return w->failed ? w->failed : s->id ? -EEXIST : -EINVAL;
	b = one_more(w, MCAP_SCHEMA);
	start = begin_record(w, b, MCAP_SCHEMA);
	add_number(w, b, 2, s->id);
	add_text(w, b, s->name);
	add_text(w, b, s->encoding);
	add_text(w, b, s->data);
	end_in_both(w, b, start);
	w->schema_known[s->id] = true;
	return w->failed;
}

int mcap_write_channel(struct mcap_writer *w, const struct mcap_channel *c)
{
	const bool known = w->channel[c->id].known;
	struct bytes *b;
	size_t start;

	if (known || (c->schema && !w->schema_known[c->schema]))
		return w->failed ? w->failed : known ? -EEXIST : -EINVAL;
	b = one_more(w, MCAP_CHANNEL);
	start = begin_record(w, b, MCAP_CHANNEL);
	add_number(w, b, 2, c->id);
	add_number(w, b, 2, c->schema);
	add_text(w, b, c->topic);
	add_text(w, b, c->encoding);
	add_text(w, b, c->metadata);
	end_in_both(w, b, start);
	w->channel[c->id].known = true;
	w->channels_end = c->id >= w->channels_end ? c->id + 1u : w->channels_end;
	return w->failed;
}

/* ---- messages ---- */

/* Takes note of the message that begins at the end of the chunk. */
static bool index_message(struct mcap_writer *w, const struct mcap_message *m)
{
	struct channel *c = &w->channel[m->channel];

	if (w->entries_n == w->entries_room &&
	    !grow(&w->entries, &w->entries_room, w->entries_n + 1, sizeof(*w->entries))) {
		w->failed = -ENOMEM;
		return false;
	}
	w->entries[w->entries_n++] = (struct entry){ m->log_ns, w->chunk.len, 0, m->channel };
	if (c->last)
		w->entries[c->last - 1].next = (uint32_t)w->entries_n;
	else
		c->first = (uint32_t)w->entries_n;
	if (!c->in_chunk++)
		w->in_chunk[w->in_chunk_n++] = m->channel;
	c->last = (uint32_t)w->entries_n;
	c->messages++;
	return true;
}

static void extend(uint64_t *first, uint64_t *last, bool begun, uint64_t t_ns)
{
	*first = !begun || t_ns < *first ? t_ns : *first;
	*last = !begun || t_ns > *last ? t_ns : *last;
}

/* Before the data of a message. */
struct message_head {
	uint8_t op;
	uint64_t len;
	uint16_t channel;
	uint32_t sequence;
	uint64_t log_ns, publish_ns;
} __attribute__((packed));

uint8_t *mcap_room(struct mcap_writer *w, size_t len)
{
	const size_t head = sizeof(struct message_head);

	return make_room(w, &w->chunk, head + len) ? w->chunk.at + w->chunk.len + head : NULL;
}

int mcap_write_message(struct mcap_writer *w, const struct mcap_message *m)
{
	const struct message_head head = { MCAP_MESSAGE, sizeof(head) - MCAP_RECORD_HEAD + m->len,
					   m->channel,	 m->sequence,
					   m->log_ns,	 m->publish_ns };
	uint8_t *data;

	if (!w->channel[m->channel].known)
		return w->failed ? w->failed : -EINVAL;
	data = mcap_room(w, m->len);
	if (!data || !index_message(w, m))
		return w->failed;
	extend(&w->chunk_first_ns, &w->chunk_last_ns, w->entries_n > 1, m->log_ns);
	extend(&w->first_ns, &w->last_ns, w->messages, m->log_ns);
	memcpy(data - sizeof(head), &head, sizeof(head));
	if (m->data != data && m->len)
		memcpy(data, m->data, m->len);
	w->chunk.len += sizeof(head) + m->len;
	w->messages++;
	return w->chunk.len < MCAP_CHUNK_BYTES ? w->failed : mcap_write_chunk(w);
}

/* ---- chunks ---- */

/* The records of the open chunk behind their packed length, which is returned. */
static uint64_t add_packed(struct mcap_writer *w)
{
	const size_t bound = mcap_pack_bound(w->options.compression, w->chunk.len), at = w->out.len;
	uint64_t packed;

	if (!make_room(w, &w->out, sizeof(packed) + bound))
		return 0;
	packed = mcap_pack(w->options.compression, &w->pack, w->out.at + at + sizeof(packed), bound, w->chunk.at,
			   w->chunk.len);
	memcpy(w->out.at + at, &packed, sizeof(packed));
	w->out.len += sizeof(packed) + packed;
	w->failed = packed ? 0 : -ENOMEM;
	return packed;
}

static void add_message_index(struct mcap_writer *w, struct bytes *b, struct channel *c, uint16_t id)
{
	size_t start;

	c->index_at = b->len;
	start = begin_record(w, b, MCAP_MESSAGE_INDEX);
	add_number(w, b, 2, id);
	add_number(w, b, 4, c->in_chunk * 16);
	if (!make_room(w, b, (size_t)c->in_chunk * 16))
		return;
	for (uint32_t i = c->first; i; i = w->entries[i - 1].next, b->len += 16)
		memcpy(b->at + b->len, &w->entries[i - 1], 16); /* log_ns and offset */
	end_record(w, b, start);
}

static void add_chunk_index(struct mcap_writer *w, uint64_t chunk_len, uint64_t indexes, uint64_t packed, uint64_t len)
{
	struct bytes *b = one_more(w, MCAP_CHUNK_INDEX);
	const size_t start = begin_record(w, b, MCAP_CHUNK_INDEX);

	add_number(w, b, 8, w->chunk_first_ns);
	add_number(w, b, 8, w->chunk_last_ns);
	add_number(w, b, 8, w->position);
	add_number(w, b, 8, chunk_len);
	add_number(w, b, 4, w->in_chunk_n * 10);
	for (size_t i = 0; i < w->in_chunk_n; i++) {
		add_number(w, b, 2, w->in_chunk[i]);
		add_number(w, b, 8, w->position + w->channel[w->in_chunk[i]].index_at);
	}
	add_number(w, b, 8, indexes);
	add_text(w, b, mcap_text(mcap_compression_name(w->options.compression)));
	add_number(w, b, 8, packed);
	add_number(w, b, 8, len);
	end_record(w, b, start);
}

static void forget_chunk(struct mcap_writer *w)
{
	for (size_t i = 0; i < w->in_chunk_n; i++) {
		struct channel *c = &w->channel[w->in_chunk[i]];

		c->first = c->last = c->in_chunk = 0;
	}
	w->in_chunk_n = w->entries_n = 0;
	w->chunk.len = 0;
	w->chunk_first_ns = w->chunk_last_ns = 0;
}

int mcap_write_chunk(struct mcap_writer *w)
{
	struct bytes *b = &w->out;
	const size_t len = w->chunk.len;
	size_t start, end;
	uint64_t packed;

	flush(w, true); /* the beginning of the file */
	if (w->failed || !len)
		return w->failed;
	start = begin_record(w, b, MCAP_CHUNK);
	add_number(w, b, 8, w->chunk_first_ns);
	add_number(w, b, 8, w->chunk_last_ns);
	add_number(w, b, 8, len);
	add_number(w, b, 4, crc_more(0, w->chunk.at, len));
	add_text(w, b, mcap_text(mcap_compression_name(w->options.compression)));
	packed = add_packed(w);
	end_record(w, b, start);
	end = b->len;
	for (size_t i = 0; i < w->in_chunk_n; i++)
		add_message_index(w, b, &w->channel[w->in_chunk[i]], w->in_chunk[i]);
	add_chunk_index(w, end, b->len - end, packed, len);
	flush(w, true);
	forget_chunk(w);
	return w->failed;
}

bool mcap_has_open_chunk(const struct mcap_writer *w)
{
	return w->entries_n;
}

uint64_t mcap_written(const struct mcap_writer *w)
{
	return w->position;
}

/* ---- metadata and attachments ---- */

int mcap_write_metadata(struct mcap_writer *w, const struct mcap_metadata *m)
{
	struct bytes *b = one_more(w, MCAP_METADATA_INDEX);
	size_t start;

	if (mcap_write_chunk(w))
		return w->failed;
	start = begin_record(w, &w->out, MCAP_METADATA);
	add_text(w, &w->out, m->name);
	add_text(w, &w->out, m->map);
	end_record(w, &w->out, start);
	start = begin_record(w, b, MCAP_METADATA_INDEX);
	add_number(w, b, 8, w->position);
	add_number(w, b, 8, w->out.len);
	add_text(w, b, m->name);
	end_record(w, b, start);
	flush(w, true);
	return w->failed;
}

int mcap_write_attachment(struct mcap_writer *w, const uint8_t *record, size_t len)
{
	struct bytes *b = one_more(w, MCAP_ATTACHMENT_INDEX);
	size_t start, at = 2 * sizeof(uint64_t);
	uint64_t data_len;

	if (mcap_write_chunk(w))
		return w->failed;
	start = begin_record(w, b, MCAP_ATTACHMENT_INDEX);
	add_number(w, b, 8, w->position);
	add_number(w, b, 8, MCAP_RECORD_HEAD + len);
	add(w, b, record, at);	      /* log and creation time */
	for (int i = 0; i < 2; i++) { /* name, media type: before them the length of the data */
		uint32_t n;

		memcpy(&n, record + at, sizeof(n));
		at += sizeof(n) + n;
	}
	memcpy(&data_len, record + at, sizeof(data_len));
	add_number(w, b, 8, data_len);
	add(w, b, record + 2 * sizeof(uint64_t), at - 2 * sizeof(uint64_t));
	end_record(w, b, start);
	start = begin_record(w, &w->out, MCAP_ATTACHMENT);
	add(w, &w->out, record, len);
	end_record(w, &w->out, start);
	flush(w, true);
	return w->failed;
}

/* ---- the end ---- */

static void add_statistics(struct mcap_writer *w)
{
	const size_t start = begin_record(w, &w->out, MCAP_STATISTICS);
	uint32_t n = 0;

	for (size_t i = 0; i < w->channels_end; i++)
		n += w->channel[i].messages > 0;
	add_number(w, &w->out, 8, w->messages);
	add_number(w, &w->out, 2, w->summary[MCAP_SCHEMA].n);
	add_number(w, &w->out, 4, w->summary[MCAP_CHANNEL].n);
	add_number(w, &w->out, 4, w->summary[MCAP_ATTACHMENT_INDEX].n);
	add_number(w, &w->out, 4, w->summary[MCAP_METADATA_INDEX].n);
	add_number(w, &w->out, 4, w->summary[MCAP_CHUNK_INDEX].n);
	add_number(w, &w->out, 8, w->first_ns);
	add_number(w, &w->out, 8, w->last_ns);
	add_number(w, &w->out, 4, n * 10);
	for (size_t i = 0; i < w->channels_end; i++)
		if (w->channel[i].messages) {
			add_number(w, &w->out, 2, i);
			add_number(w, &w->out, 8, w->channel[i].messages);
		}
	end_record(w, &w->out, start);
}

static void add_summary(struct mcap_writer *w, uint64_t *offsets_at)
{
	static const enum mcap_op groups[] = { MCAP_SCHEMA,	      MCAP_CHANNEL,	   MCAP_CHUNK_INDEX,
					       MCAP_ATTACHMENT_INDEX, MCAP_METADATA_INDEX, MCAP_STATISTICS };
	struct bytes offsets = { 0 };

	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
		const size_t before = w->out.len;
		size_t start;

		if (groups[i] == MCAP_STATISTICS)
			add_statistics(w);
		else
			add(w, &w->out, w->summary[groups[i]].records.at, w->summary[groups[i]].records.len);
		if (w->out.len == before)
			continue;
		start = begin_record(w, &offsets, MCAP_SUMMARY_OFFSET);
		add_number(w, &offsets, 1, groups[i]);
		add_number(w, &offsets, 8, w->position + before);
		add_number(w, &offsets, 8, w->out.len - before);
		end_record(w, &offsets, start);
	}
	*offsets_at = w->position + w->out.len;
	add(w, &w->out, offsets.at, offsets.len);
	free(offsets.at);
}

int mcap_write_end(struct mcap_writer *w)
{
	uint64_t summary, offsets = 0;
	size_t start;

	if (mcap_write_chunk(w) || w->ended)
		return w->failed;
	w->ended = true;
	start = begin_record(w, &w->out, MCAP_DATA_END);
	add_number(w, &w->out, 4, w->data_crc);
	end_record(w, &w->out, start);
	flush(w, false);
	summary = w->position;
	add_summary(w, &offsets);
	add_number(w, &w->out, 1, MCAP_FOOTER);
	add_number(w, &w->out, 8, 20);
	add_number(w, &w->out, 8, summary);
	add_number(w, &w->out, 8, offsets);
	add_number(w, &w->out, 4, crc_more(0, w->out.at, w->out.len));
	add(w, &w->out, MCAP_MAGIC, MCAP_MAGIC_SIZE);
	flush(w, false);
	return w->failed;
}

/* ---- the writer ---- */

struct mcap_writer *mcap_writer_new(const struct mcap_options *options)
{
	struct mcap_writer *w = calloc(1, sizeof(*w)); /* megabytes, but pages that are not used cost nothing */
	size_t start;

	if (!w)
		return NULL;
	w->options = *options;
	add(w, &w->out, MCAP_MAGIC, MCAP_MAGIC_SIZE);
	start = begin_record(w, &w->out, MCAP_HEADER);
	add_text(w, &w->out, mcap_text("")); /* profile */
	add_text(w, &w->out, mcap_text(options->library));
	end_record(w, &w->out, start);
	return w;
}

void mcap_writer_free(struct mcap_writer *w)
{
	if (!w)
		return;
	mcap_pack_free(w->options.compression, w->pack);
	free(w->out.at);
	free(w->chunk.at);
	for (size_t i = 0; i < sizeof(w->summary) / sizeof(*w->summary); i++)
		free(w->summary[i].records.at);
	free(w->entries);
	free(w);
}
