/* fuzz_mcap.c: recordings of anyone: the records of an MCAP file, and what they become.
 *
 * The first byte chooses: the bytes are a file, or the records of a chunk in a sound one.
 * Longest: 65537 bytes.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "channels/rec/mcaprec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t file[65536 + 128];
static size_t file_len;

static void add(const void *bytes, size_t len)
{
	memcpy(file + file_len, bytes, len);
	file_len += len;
}

static void wrap(const uint8_t *records, size_t len)
{
	const uint64_t chunk = 8 + 8 + 8 + 4 + 4 + 8 + len, size = len;

	add("\x06", 1);
	add(&chunk, 8);
	add("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	add(&size, 8);
	add("\0\0\0\0\0\0\0", 8);
	add(&size, 8);
	add(records, len);
}

struct source {
	const uint8_t *at;
	size_t left, piece;
};

static ssize_t read_source(void *from, void *bytes, size_t room)
{
	struct source *s = from;
	size_t n = s->left < s->piece ? s->left : s->piece;

	n = n < room ? n : room;
	memcpy(bytes, s->at, n);
	s->at += n;
	s->left -= n;
	return (ssize_t)n;
}

/* Every byte that is given out is read. */
static volatile unsigned int sum;
static void touch(struct mcap_text text)
{
	for (size_t i = 0; i < text.len; i++)
		sum += (unsigned char)text.at[i];
}

static void try_records(size_t piece)
{
	uint8_t *copy = malloc(file_len);
	struct source source = { copy, file_len, piece };
	struct mcap_reader *r = mcap_reader_new(read_source, &source);
	struct mcap_record m;
	enum mcap_found found;
	char text[24];

	memcpy(copy, file, file_len);
	while ((found = mcap_read(r, &m)) == MCAP_FOUND_RECORD || found == MCAP_FOUND_DAMAGE) {
		if (found == MCAP_FOUND_DAMAGE)
			continue;
		touch((struct mcap_text){ (const char *)m.bytes, m.len });
		if (m.op == MCAP_MESSAGE)
			touch((struct mcap_text){ (const char *)m.message.data, m.message.len });
		if (m.op == MCAP_SCHEMA)
			touch(m.schema.data);
		if (m.op == MCAP_CHANNEL)
			touch(mcap_map_get(m.channel.metadata, "kind"));
		if (m.op == MCAP_METADATA)
			mcap_map_number(m.metadata.map, "n", 0);
		if (m.op == MCAP_CHANNEL)
			assert(strlen(mcap_copy(m.channel.topic, text, sizeof(text))) < sizeof(text));
	}
	assert(mcap_read(r, &m) == found);
	mcap_reader_free(r);
	free(copy);
}

static int write_nowhere(void *to, const void *bytes, size_t len)
{
	(void)to;
	touch((struct mcap_text){ bytes, len });
	return 0;
}

/* As ach convert does: what is read is written again. */
static void try_recording(void)
{
	static const struct mcap_options options = { .library = "fuzz", .write = write_nowhere };
	struct mcap_writer *mcap = mcap_writer_new(&options);
	struct mcaprec_writer *w = mcaprec_writer_new(mcap);
	const int fd = memfd_create("mcap", MFD_CLOEXEC);
	struct mcaprec_reader *r = mcaprec_reader_new(fd);
	struct reclog_channel channel;
	struct reclog_record m;
	enum reclog_found found;

	assert(write(fd, file, file_len) == (ssize_t)file_len && !lseek(fd, 0, SEEK_SET));
	while ((found = mcaprec_read(r, &m)) == RECLOG_FOUND_RECORD || found == RECLOG_FOUND_DAMAGE) {
		if (found == RECLOG_FOUND_DAMAGE)
			continue;
		touch((struct mcap_text){ (const char *)m.body, m.len });
		if (m.kind == RECLOG_CHANNEL)
			reclog_channel_read(&channel, &m);
		assert(!mcaprec_put(w, &m));
	}
	assert(!mcap_write_end(mcap));
	mcaprec_writer_free(w);
	mcap_writer_free(mcap);
	mcaprec_reader_free(r);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size || size > 65537)
		return 0;
	file_len = 0;
	if (data[0] & 1) {
		add(MCAP_MAGIC, MCAP_MAGIC_SIZE);
		wrap(data + 1, size - 1);
	} else {
		add(data + 1, size - 1);
	}
	if (data[0] & 6)
		try_records(1 + (data[0] >> 1));
	else
		try_recording(); /* much slower */
	return 0;
}
