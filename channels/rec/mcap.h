/* mcap.h: MCAP files, the container of recordings that other tools read; format version 0.
 *
 * All integers are little endian.  A file is the magic bytes, records, and the magic bytes again.  A record is a u8
 * opcode, a u64 length and that many bytes.  Messages lie in chunks, which are compressed; behind a chunk stand its
 * message indexes, and at the end of the file a summary: schemas, channels, chunk indexes, statistics.
 *
 * Written (mcap_write.c): every message in a chunk, each chunk with its indexes in one write, CRC-32 of every chunk, of
 * the data and of the summary.  A file that was cut off is read up to its last whole record, so it loses at most the
 * last chunk.
 *
 * Read (mcap_read.c): any file, also without chunks, indexes or CRCs, one record after the other.
 */
#pragma once

#include "channels/rec/input.h"

#define MCAP_IDS 65536 /* of schemas, and of channels */
#define MCAP_MAGIC "\x89MCAP0\r\n"
#define MCAP_MAGIC_SIZE 8
#define MCAP_RECORD_HEAD 9	     /* opcode and length */
#define MCAP_RECORD_MAX (256u << 20) /* bytes of a record or of an unpacked chunk; more is taken for damage */
#define MCAP_CHUNK_BYTES (1u << 20)  /* of messages, at which a chunk is closed */

enum mcap_op {
	MCAP_HEADER = 1,
	MCAP_FOOTER,
	MCAP_SCHEMA,
	MCAP_CHANNEL,
	MCAP_MESSAGE,
	MCAP_CHUNK,
	MCAP_MESSAGE_INDEX,
	MCAP_CHUNK_INDEX,
	MCAP_ATTACHMENT,
	MCAP_ATTACHMENT_INDEX,
	MCAP_STATISTICS,
	MCAP_METADATA,
	MCAP_METADATA_INDEX,
	MCAP_SUMMARY_OFFSET,
	MCAP_DATA_END,
};

enum mcap_compression { MCAP_NONE, MCAP_LZ4, MCAP_ZSTD };

/* Text or bytes in a buffer, not terminated. */
struct mcap_text {
	const char *at;
	size_t len;
};
struct mcap_text mcap_text(const char *text);
bool mcap_is(struct mcap_text text, const char *other);
/* The whole of it, cut to size; returns to. */
char *mcap_copy(struct mcap_text text, char *to, size_t size);

/* ---- records ---- */

struct mcap_schema {
	uint16_t id; /* not 0 */
	struct mcap_text name, encoding, data;
};

struct mcap_channel {
	uint16_t id, schema; /* 0: none */
	struct mcap_text topic, encoding;
	struct mcap_text metadata; /* the bytes of a map: mcap_map_get */
};

struct mcap_message {
	uint16_t channel;
	uint32_t sequence;
	uint64_t log_ns, publish_ns;
	const uint8_t *data;
	size_t len;
};

struct mcap_metadata {
	struct mcap_text name, map;
};

/* A map of keys and values: at most size bytes, n so far. */
struct mcap_map {
	char bytes[512];
	size_t len;
};
void mcap_map_add(struct mcap_map *map, const char *key, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
struct mcap_text mcap_map_text(const struct mcap_map *map);
/* The value of a key; at is NULL if there is none. */
struct mcap_text mcap_map_get(struct mcap_text map, const char *key);
/* The same as a number; other if there is none. */
uint64_t mcap_map_number(struct mcap_text map, const char *key, uint64_t other);

/* ---- writing ---- */

struct mcap_writer;

struct mcap_options {
	enum mcap_compression compression;
	const char *library;				       /* "endplate 1.0.0" */
	int (*write)(void *to, const void *bytes, size_t len); /* 0 or -errno */
	void *to;
};

/* NULL: no memory. */
struct mcap_writer *mcap_writer_new(const struct mcap_options *options);
void mcap_writer_free(struct mcap_writer *w); /* NULL is fine */

/* Each returns 0 or -errno: of write, or -ENOMEM; then every further call returns it too.  A schema comes before its
 * channels and a channel before its messages (-EINVAL: it did not; -EEXIST: there is one with that id). */
int mcap_write_schema(struct mcap_writer *w, const struct mcap_schema *schema);
int mcap_write_channel(struct mcap_writer *w, const struct mcap_channel *channel);
int mcap_write_message(struct mcap_writer *w, const struct mcap_message *message);
/* Where the data of the next message may be made, len bytes: if mcap_write_message follows with data there, and at most
 * len of it, it is not copied.  NULL: failed, as the calls above. */
uint8_t *mcap_room(struct mcap_writer *w, size_t len);
int mcap_write_metadata(struct mcap_writer *w, const struct mcap_metadata *metadata);
/* A record of an attachment, as it was read. */
int mcap_write_attachment(struct mcap_writer *w, const uint8_t *record, size_t len);
int mcap_write_chunk(struct mcap_writer *w); /* ends the chunk, if it has something */
int mcap_write_end(struct mcap_writer *w);   /* summary and footer */

bool mcap_has_open_chunk(const struct mcap_writer *w);
uint64_t mcap_written(const struct mcap_writer *w); /* bytes */

/* ---- reading ---- */

struct mcap_reader;

struct mcap_record {
	enum mcap_op op;
	union {
		struct mcap_schema schema;
		struct mcap_channel channel;
		struct mcap_message message;
		struct mcap_metadata metadata;
	};
	const uint8_t *bytes; /* the whole content of the record, of an attachment too */
	size_t len;
};

/* NULL: no memory. */
struct mcap_reader *mcap_reader_new(input_read *read, void *from);
void mcap_reader_free(struct mcap_reader *r); /* NULL is fine */

enum mcap_found {
	MCAP_FOUND_RECORD, /* a schema, channel, message, attachment or metadata; good until the next call */
	MCAP_FOUND_END,	   /* of the data: the file goes on with its summary, or ended in order */
	MCAP_FOUND_CUT,	   /* the file ends inside a record, or without DataEnd: what comes before was whole */
	MCAP_FOUND_DAMAGE, /* a record, or a whole chunk, is left out: mcap_damage says why; go on */
	MCAP_FOUND_NO_MCAP,
	MCAP_FOUND_ERROR, /* reading failed: mcap_error */
};
enum mcap_found mcap_read(struct mcap_reader *r, struct mcap_record *record);
uint64_t mcap_position(const struct mcap_reader *r); /* in the file, of the record at the top that was read last */
const char *mcap_damage(const struct mcap_reader *r);
int mcap_error(const struct mcap_reader *r); /* -errno */

/* ---- inside ---- */

/* Packs len bytes into a buffer of at least mcap_pack_bound(len).  The length; 0: failed. */
size_t mcap_pack_bound(enum mcap_compression c, size_t len);
size_t mcap_pack(enum mcap_compression c, void **state, void *to, size_t room, const void *from, size_t len);
void mcap_pack_free(enum mcap_compression c, void *state);
/* Exactly to_len bytes.  0, or -1: damaged, or not the length that it should have. */
int mcap_unpack(struct mcap_text compression, void *to, size_t to_len, const void *from, size_t len);
const char *mcap_compression_name(enum mcap_compression c);
