/* MCAP: there and back in every compression, cut at every length, damaged at every byte, made whole again. */
#include <fcntl.h>
#include <malloc.h>
#include <sys/stat.h>
#include <zlib.h>

#include "channels/rec/mcap.h"
#include "channels/tool/tool.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

#define MESSAGES 60
#define CHUNKS 6

static uint8_t *file;
static size_t file_len, file_room;
static size_t chunk_end[CHUNKS]; /* where the bytes of each chunk end */
static char folder[] = "/tmp/test_mcap.XXXXXX";

struct sent {
	uint16_t channel;
	uint32_t sequence;
	uint64_t log_ns, publish_ns;
	uint8_t data[40];
	size_t len;
};
static struct sent sent[MESSAGES];

void setUp(void)
{
	lib_watchdog("test_mcap", LIB_HANG_S);
}

void tearDown(void)
{
}

static int to_memory(void *to, const void *bytes, size_t len)
{
	(void)to;
	if (file_len + len > file_room)
		file = realloc(file, file_room = 2 * (file_len + len));
	memcpy(file + file_len, bytes, len);
	file_len += len;
	return 0;
}

static struct mcap_writer *start(enum mcap_compression compression)
{
	static const struct mcap_options options = { .library = "test", .write = to_memory };
	struct mcap_options o = options;

	file_len = 0;
	o.compression = compression;
	return mcap_writer_new(&o);
}

/* Two schemas, three channels, MESSAGES in CHUNKS, metadata and an attachment. */
static void write_file(enum mcap_compression compression)
{
	static const uint8_t attachment[] = "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\4\0\0\0note\12\0\0\0text/plain"
					    "\5\0\0\0\0\0\0\0hello";
	struct mcap_writer *w = start(compression);
	struct mcap_map map = { .len = 0 };
	uint8_t whole[sizeof(attachment) - 1 + 4];
	uint64_t state = 1;
	uint32_t crc;

	mcap_map_add(&map, "key", "%d", 42);
	mcap_map_add(&map, "other", "value");
	TEST_ASSERT_EQUAL_INT(
		0, mcap_write_metadata(w, &(struct mcap_metadata){ mcap_text("meta"), mcap_map_text(&map) }));
	TEST_ASSERT_EQUAL_INT(0,
			      mcap_write_schema(w, &(struct mcap_schema){ 1, mcap_text("a/msg/B"), mcap_text("ros2msg"),
									  mcap_text("uint8 x\n") }));
	TEST_ASSERT_EQUAL_INT(0, mcap_write_schema(w, &(struct mcap_schema){ 2, mcap_text("c"), mcap_text("jsonschema"),
									     mcap_text("{}") }));
	for (uint16_t i = 0; i < 3; i++)
		TEST_ASSERT_EQUAL_INT(0, mcap_write_channel(w, &(struct mcap_channel){ i, i, mcap_text("/topic"),
										       mcap_text("cdr"),
										       mcap_map_text(&map) }));
	for (size_t i = 0; i < MESSAGES; i++) {
		struct sent *s = &sent[i];

		*s = (struct sent){ .channel = i % 3,
				    .sequence = (uint32_t)lib_random(&state),
				    .log_ns = 1000 + i,
				    .publish_ns = 900 + i,
				    .len = i % (sizeof(s->data) + 1) };
		memset(s->data, (int)i, sizeof(s->data));
		TEST_ASSERT_EQUAL_INT(0,
				      mcap_write_message(w, &(struct mcap_message){ s->channel, s->sequence, s->log_ns,
										    s->publish_ns, s->data, s->len }));
		TEST_ASSERT_TRUE(mcap_has_open_chunk(w));
		if (i % (MESSAGES / CHUNKS) == MESSAGES / CHUNKS - 1) {
			TEST_ASSERT_EQUAL_INT(0, mcap_write_chunk(w));
			TEST_ASSERT_FALSE(mcap_has_open_chunk(w));
			chunk_end[i / (MESSAGES / CHUNKS)] = file_len;
		}
	}
	memcpy(whole, attachment, sizeof(attachment) - 1);
	crc = (uint32_t)crc32_z(0, whole, sizeof(attachment) - 1);
	memcpy(whole + sizeof(attachment) - 1, &crc, 4);
	TEST_ASSERT_EQUAL_INT(0, mcap_write_attachment(w, whole, sizeof(whole)));
	TEST_ASSERT_EQUAL_INT(0, mcap_write_end(w));
	TEST_ASSERT_EQUAL_UINT64(file_len, mcap_written(w));
	mcap_writer_free(w);
}

/* ---- reading ---- */

struct from {
	const uint8_t *bytes;
	size_t len, at, piece;
};

static ssize_t from_memory(void *from, void *bytes, size_t room)
{
	struct from *f = from;
	size_t n = f->len - f->at < room ? f->len - f->at : room;

	n = f->piece && n > f->piece ? f->piece : n;
	memcpy(bytes, f->bytes + f->at, n);
	f->at += n;
	return (ssize_t)n;
}

struct result {
	enum mcap_found found;
	size_t messages, damages, schemas, channels, metadata, attachments;
	bool wrong; /* a message that was never sent */
};

static bool was_sent(const struct mcap_message *m)
{
	for (size_t i = 0; i < MESSAGES; i++)
		if (m->channel == sent[i].channel && m->sequence == sent[i].sequence && m->log_ns == sent[i].log_ns &&
		    m->publish_ns == sent[i].publish_ns && m->len == sent[i].len &&
		    (!m->len || !memcmp(m->data, sent[i].data, m->len)))
			return true;
	return false;
}

/* The watchdog is for one file: thousands of them may take minutes beside load, under the sanitizers above all. */
static struct result read_bytes(const uint8_t *bytes, size_t len, size_t piece)
{
	uint8_t *copy = malloc(len + 1); /* so that the sanitizer sees the end */
	struct from from = { copy, len, 0, piece };
	struct mcap_reader *r = mcap_reader_new(from_memory, &from);
	struct result result = { .found = MCAP_FOUND_RECORD };
	struct mcap_record m;

	lib_watchdog("test_mcap", LIB_HANG_S);
	memcpy(copy, bytes, len);
	while ((result.found = mcap_read(r, &m)) == MCAP_FOUND_RECORD || result.found == MCAP_FOUND_DAMAGE) {
		if (result.found == MCAP_FOUND_DAMAGE) {
			result.damages++;
			continue;
		}
		result.messages += m.op == MCAP_MESSAGE;
		result.schemas += m.op == MCAP_SCHEMA;
		result.channels += m.op == MCAP_CHANNEL;
		result.metadata += m.op == MCAP_METADATA && mcap_map_number(m.metadata.map, "key", 0) == 42 &&
				   mcap_is(mcap_map_get(m.metadata.map, "other"), "value") &&
				   !mcap_map_get(m.metadata.map, "none").at;
		result.attachments += m.op == MCAP_ATTACHMENT;
		result.wrong |= m.op == MCAP_MESSAGE && !was_sent(&m.message);
	}
	TEST_ASSERT_EQUAL(result.found, mcap_read(r, &m)); /* and so it stays */
	mcap_reader_free(r);
	free(copy);
	return result;
}

TEST(every_compression_comes_back)
{
	for (int c = MCAP_NONE; c <= MCAP_ZSTD; c++)
		for (size_t piece = 0; piece < 40; piece += 13) {
			struct result r;

			write_file((enum mcap_compression)c);
			r = read_bytes(file, file_len, piece);
			TEST_ASSERT_EQUAL(MCAP_FOUND_END, r.found);
			TEST_ASSERT_EQUAL_size_t(MESSAGES, r.messages);
			TEST_ASSERT_EQUAL_size_t(2, r.schemas);
			TEST_ASSERT_EQUAL_size_t(3, r.channels);
			TEST_ASSERT_EQUAL_size_t(1, r.metadata);
			TEST_ASSERT_EQUAL_size_t(1, r.attachments);
			TEST_ASSERT_EQUAL_size_t(0, r.damages);
			TEST_ASSERT_FALSE(r.wrong);
		}
}

/* Returns where the last record of that kind begins, and how many there are in n. */
static size_t last_record(enum mcap_op op, size_t *n)
{
	size_t found = 0;

	*n = 0;
	for (size_t at = MCAP_MAGIC_SIZE; at < file_len - MCAP_MAGIC_SIZE;) {
		uint64_t len;

		memcpy(&len, file + at + 1, sizeof(len));
		if (file[at] == op) {
			found = at;
			++*n;
		}
		at += MCAP_RECORD_HEAD + len;
	}
	return found;
}

TEST(the_crc_of_the_data_is_that_of_all_its_bytes)
{
	for (int c = MCAP_NONE; c <= MCAP_ZSTD; c++) {
		size_t end, n;
		uint32_t crc;

		write_file((enum mcap_compression)c);
		last_record(MCAP_CHUNK, &n);
		TEST_ASSERT_EQUAL_size_t(CHUNKS, n);
		end = last_record(MCAP_DATA_END, &n);
		TEST_ASSERT_EQUAL_size_t(1, n);
		memcpy(&crc, file + end + MCAP_RECORD_HEAD, sizeof(crc));
		TEST_ASSERT_EQUAL_HEX32(crc32_z(0, file, end), crc);
	}
}

TEST(the_statistics_count_the_messages_of_each_channel)
{
	static const uint16_t ids[] = { UINT16_MAX, 3, 0, 7 };
	static const char expected[] = "\x1E\0\0\0"
				       "\0\0\3\0\0\0\0\0\0\0"
				       "\3\0\2\0\0\0\0\0\0\0"
				       "\xff\xff\1\0\0\0\0\0\0\0";
	const size_t before = MCAP_RECORD_HEAD + 8 + 2 + 4 * 4 + 2 * 8;
	struct mcap_writer *w = start(MCAP_NONE);
	size_t at, n;

	for (size_t i = 0; i < 4; i++)
		mcap_write_channel(w, &(struct mcap_channel){ ids[i], 0, mcap_text("t"), mcap_text("cdr"), { "", 0 } });
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k <= i; k++)
			mcap_write_message(w, &(struct mcap_message){ .channel = ids[i] });
	TEST_ASSERT_EQUAL_INT(0, mcap_write_end(w));
	mcap_writer_free(w);
	at = last_record(MCAP_STATISTICS, &n);
	TEST_ASSERT_EQUAL_size_t(1, n);
	TEST_ASSERT_EQUAL_UINT8(before - MCAP_RECORD_HEAD + sizeof(expected) - 1, file[at + 1]);
	TEST_ASSERT_EQUAL_MEMORY(expected, file + at + before, sizeof(expected) - 1);
}

TEST(a_message_made_in_its_place_is_the_same_as_a_copied_message)
{
	uint8_t data[300], *copied;
	size_t copied_len = 0;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7);
	copied = malloc(1 << 16);
	for (int in_place = 0; in_place < 2; in_place++) {
		struct mcap_writer *w = start(MCAP_NONE);

		mcap_write_channel(w, &(struct mcap_channel){ 5, 0, mcap_text("t"), mcap_text("cdr"), { "", 0 } });
		for (uint32_t i = 0; i < 100; i++) { /* the memory grows among them */
			uint8_t *room = mcap_room(w, sizeof(data) + 1000);

			TEST_ASSERT_NOT_NULL(room);
			memset(room, 0xEE, sizeof(data) + 1000);
			if (in_place)
				memcpy(room, data, sizeof(data));
			TEST_ASSERT_EQUAL_INT(0, mcap_write_message(w, &(struct mcap_message){ 5, i, i, i,
											       in_place ? room : data,
											       i % sizeof(data) }));
		}
		TEST_ASSERT_EQUAL_INT(0, mcap_write_end(w));
		mcap_writer_free(w);
		if (in_place) {
			TEST_ASSERT_EQUAL_size_t(copied_len, file_len);
			TEST_ASSERT_EQUAL_MEMORY(copied, file, file_len);
		} else {
			TEST_ASSERT_LESS_THAN_size_t(1 << 16, file_len);
			memcpy(copied, file, file_len);
			copied_len = file_len;
		}
	}
	free(copied);
}

TEST(a_file_without_messages_is_whole)
{
	struct mcap_writer *w = start(MCAP_ZSTD);
	struct result r;

	TEST_ASSERT_EQUAL_INT(0, mcap_write_end(w));
	mcap_writer_free(w);
	r = read_bytes(file, file_len, 0);
	TEST_ASSERT_EQUAL(MCAP_FOUND_END, r.found);
	TEST_ASSERT_EQUAL_size_t(0, r.messages);
}

TEST(a_large_chunk_is_closed_by_itself)
{
	struct mcap_writer *w = start(MCAP_NONE);
	static uint8_t data[MCAP_CHUNK_BYTES / 4];
	size_t before;

	TEST_ASSERT_EQUAL_INT(
		0, mcap_write_channel(w, &(struct mcap_channel){ 5, 0, mcap_text("t"), mcap_text("json"), { "", 0 } }));
	for (int i = 0; i < 4; i++) {
		before = file_len;
		TEST_ASSERT_EQUAL_INT(0,
				      mcap_write_message(w, &(struct mcap_message){ 5, 0, 0, 0, data, sizeof(data) }));
		TEST_ASSERT_EQUAL(i == 3, file_len > before);
	}
	mcap_writer_free(w);
}

TEST(the_order_of_schema_channel_and_message_is_kept)
{
	struct mcap_writer *w = start(MCAP_NONE);
	const struct mcap_schema schema = { 1, mcap_text("a"), mcap_text("ros2msg"), mcap_text("") };
	const struct mcap_channel channel = { 1, 1, mcap_text("t"), mcap_text("cdr"), { "", 0 } };
	const struct mcap_message message = { 1, 0, 0, 0, NULL, 0 };

	TEST_ASSERT_EQUAL_INT(-EINVAL, mcap_write_schema(w, &(struct mcap_schema){ .id = 0, .name = mcap_text("") }));
	TEST_ASSERT_EQUAL_INT(-EINVAL, mcap_write_channel(w, &channel));
	TEST_ASSERT_EQUAL_INT(-EINVAL, mcap_write_message(w, &message));
	TEST_ASSERT_EQUAL_INT(0, mcap_write_schema(w, &schema));
	TEST_ASSERT_EQUAL_INT(-EEXIST, mcap_write_schema(w, &schema));
	TEST_ASSERT_EQUAL_INT(0, mcap_write_channel(w, &channel));
	TEST_ASSERT_EQUAL_INT(-EEXIST, mcap_write_channel(w, &channel));
	TEST_ASSERT_EQUAL_INT(0, mcap_write_message(w, &message));
	mcap_writer_free(w);
}

static int fails(void *to, const void *bytes, size_t len)
{
	(void)bytes;
	(void)len;
	return *(int *)to;
}

TEST(a_write_that_fails_is_the_last_one)
{
	int error = -ENOSPC;
	const struct mcap_options options = { .library = "test", .write = fails, .to = &error };
	struct mcap_writer *w = mcap_writer_new(&options);

	TEST_ASSERT_EQUAL_INT(
		0, mcap_write_channel(w, &(struct mcap_channel){ 1, 0, mcap_text("t"), mcap_text("cdr"), { "", 0 } }));
	TEST_ASSERT_EQUAL_INT(-ENOSPC, mcap_write_chunk(w));
	error = 0;
	TEST_ASSERT_NULL(mcap_room(w, 1));
	TEST_ASSERT_EQUAL_INT(-ENOSPC, mcap_write_message(w, &(struct mcap_message){ .channel = 1 }));
	TEST_ASSERT_EQUAL_INT(-ENOSPC, mcap_write_end(w));
	mcap_writer_free(w);
}

static size_t whole_messages(size_t cut)
{
	size_t n = 0;

	for (size_t i = 0; i < CHUNKS; i++)
		n += cut >= chunk_end[i] ? MESSAGES / CHUNKS : 0;
	return n;
}

TEST(a_file_that_is_cut_anywhere_loses_at_most_one_chunk)
{
	for (int c = MCAP_NONE; c <= MCAP_ZSTD; c++) {
		write_file((enum mcap_compression)c);
		for (size_t cut = 0; cut < file_len; cut += LIB_STRIDE(7)) {
			const struct result r = read_bytes(file, cut, 0);

			TEST_ASSERT_TRUE(r.messages >= whole_messages(cut) && !r.damages && !r.wrong);
			TEST_ASSERT_TRUE(r.found == MCAP_FOUND_CUT ||
					 (r.found == MCAP_FOUND_END && r.messages == MESSAGES) ||
					 (!cut && r.found == MCAP_FOUND_NO_MCAP));
		}
	}
}

/* A changed byte is noticed: no message is another one, and where one is missing, that is said. */
TEST(a_file_that_is_damaged_anywhere_gives_no_wrong_message)
{
	write_file(MCAP_LZ4);
	for (size_t i = 0; i < file_len; i++) {
		const uint8_t before = file[i];
		struct result r;

		file[i] ^= 0x10;
		r = read_bytes(file, file_len, 0);
		file[i] = before;
		TEST_ASSERT_FALSE(r.wrong);
		if (r.messages < MESSAGES)
			TEST_ASSERT_TRUE(r.damages || r.found == MCAP_FOUND_CUT || r.found == MCAP_FOUND_NO_MCAP ||
					 r.found == MCAP_FOUND_END);
		if (r.messages < MESSAGES && r.found == MCAP_FOUND_END && !r.damages)
			TEST_FAIL_MESSAGE("messages are missing, and nothing says so");
	}
}

TEST(what_is_not_mcap_is_refused)
{
	TEST_ASSERT_EQUAL(MCAP_FOUND_NO_MCAP, read_bytes((const uint8_t *)"", 0, 0).found);
	TEST_ASSERT_EQUAL(MCAP_FOUND_NO_MCAP, read_bytes((const uint8_t *)"achrec1\n", 8, 0).found);
	TEST_ASSERT_EQUAL(MCAP_FOUND_CUT, read_bytes((const uint8_t *)MCAP_MAGIC, 3, 0).found);
	TEST_ASSERT_EQUAL(MCAP_FOUND_CUT, read_bytes((const uint8_t *)MCAP_MAGIC, 8, 0).found);
}

/* ---- ach convert --repair ---- */

static int convert(const char *in, const char *out)
{
	char repair[] = "--repair", force[] = "--force", name[] = "convert", from[64], to[64];
	char *argv[] = { name, repair, force, from, to, NULL };
	struct error_sink errors = { 0 };
	void *values = calloc(1, tool_convert.size);
	struct options options = { .program = "ach convert",
				   .rows = tool_convert.rows,
				   .values = values,
				   .arguments = tool_convert.arguments,
				   .arguments_min = 2,
				   .arguments_max = 2 };
	int argc = 5, status;

	snprintf(from, sizeof(from), "%s", in);
	snprintf(to, sizeof(to), "%s", out);
	TEST_ASSERT_EQUAL(OPTIONS_GO, options_read(&options, &argc, argv, &errors));
	status = tool_convert.run(values, argc, argv);
	free(values);
	return status;
}

static size_t read_file(const char *path, uint8_t **bytes)
{
	struct stat st;
	int fd = open(path, O_RDONLY);

	TEST_ASSERT_TRUE(fd >= 0 && !fstat(fd, &st));
	*bytes = malloc((size_t)st.st_size + 1);
	TEST_ASSERT_EQUAL_INT(st.st_size, read(fd, *bytes, (size_t)st.st_size));
	close(fd);
	return (size_t)st.st_size;
}

TEST(a_file_that_was_cut_anywhere_is_made_whole)
{
	char in[64], out[64];
	int quiet, out_fd, err_fd;

	TEST_ASSERT_NOT_NULL(mkdtemp(folder));
	snprintf(in, sizeof(in), "%s/in.mcap", folder);
	snprintf(out, sizeof(out), "%s/out.mcap", folder);
	write_file(MCAP_ZSTD);
	fflush(stdout);
	mallopt(M_MMAP_THRESHOLD, 1 << 17); /* else the megabytes of a writer are cleared each time */
	quiet = open("/dev/null", O_WRONLY);
	out_fd = dup(1);
	err_fd = dup(2);
	dup2(quiet, 1);
	dup2(quiet, 2);
	for (size_t cut = 1; cut <= file_len; cut += LIB_STRIDE(19)) {
		int fd = open(in, O_WRONLY | O_CREAT | O_TRUNC, 0600), status;
		uint8_t *bytes;
		struct result r;
		size_t len;

		TEST_ASSERT_EQUAL_INT((ssize_t)cut, write(fd, file, cut));
		close(fd);
		status = convert(in, out);
		TEST_ASSERT_EQUAL_INT(0, status);
		len = read_file(out, &bytes);
		r = read_bytes(bytes, len, 0);
		/* The end is that of a whole file, with a footer and the magic bytes. */
		TEST_ASSERT_TRUE(r.found == MCAP_FOUND_END && !r.wrong && r.messages >= whole_messages(cut));
		TEST_ASSERT_EQUAL_MEMORY(MCAP_MAGIC, bytes + len - MCAP_MAGIC_SIZE, MCAP_MAGIC_SIZE);
		free(bytes);
	}
	fflush(stdout);
	dup2(out_fd, 1);
	dup2(err_fd, 2);
	unlink(in);
	unlink(out);
	rmdir(folder);
}
