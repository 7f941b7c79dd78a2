/* Recordings: cut at every length, damaged at every byte, and read in pieces. */
#include <sys/mman.h>

#include "channels/rec/crc.h"
#include "channels/rec/rec_delta.h"
#include "channels/rec/reclog.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

#define RECORDS 12
#define FILE_SIZE_MAX 4096

/* A recording as ach record writes it, and where its records lie. */
static uint8_t file[FILE_SIZE_MAX];
static size_t file_len, at[RECORDS + 1];
static struct reclog_record written[RECORDS];
static uint8_t bodies[RECORDS][200];
static uint64_t state;

static void add(size_t i, enum reclog_kind kind, uint16_t channel, size_t len)
{
	written[i] = (struct reclog_record){ .kind = kind,
					     .channel = channel,
					     .t_ns = (int64_t)(lib_random(&state) >> 1),
					     .number = lib_random(&state),
					     .body = bodies[i],
					     .len = len,
					     .position = file_len };
	at[i] = file_len;
	reclog_head(file + file_len, &written[i]);
	memcpy(file + file_len + RECLOG_HEAD_SIZE, bodies[i], len);
	file_len += RECLOG_HEAD_SIZE + len;
}

void setUp(void)
{
	static const size_t lens[RECORDS - 4] = { 1, 7, 8, 9, 56, 200, 31, 64 };
	struct reclog_channel channel = { .count = 64, .size = 1360, .mode = 0640, .type = 3, .name = "imu-state" };

	lib_watchdog("test_reclog", LIB_HANG_S);
	state = 0x9e3779b97f4a7c15;
	for (size_t i = 0; i < RECORDS; i++)
		for (size_t k = 0; k < sizeof(bodies[i]); k++)
			bodies[i][k] = (uint8_t)lib_random(&state);
	memcpy(file, RECLOG_MAGIC, RECLOG_MAGIC_SIZE);
	file_len = RECLOG_MAGIC_SIZE;
	add(0, RECLOG_START, 0, 0);
	add(1, RECLOG_CHANNEL, 0, reclog_channel_write(bodies[1], &channel));
	for (size_t i = 0; i < RECORDS - 4; i++)
		add(i + 2, RECLOG_MESSAGE, 0, lens[i]);
	add(RECORDS - 2, RECLOG_LOSS, 0, 0);
	add(RECORDS - 1, RECLOG_END, 0, 0);
	at[RECORDS] = file_len;
}

static int memory_file(const uint8_t *bytes, size_t len)
{
	int fd = memfd_create("reclog", MFD_CLOEXEC);

	TEST_ASSERT_GREATER_OR_EQUAL_INT(0, fd);
	TEST_ASSERT_EQUAL_INT((ssize_t)len, pwrite(fd, bytes, len, 0));
	return fd;
}

static void assert_record(const struct reclog_record *expected, const struct reclog_record *r)
{
	TEST_ASSERT_EQUAL_INT(expected->kind, r->kind);
	TEST_ASSERT_EQUAL_UINT(expected->channel, r->channel);
	TEST_ASSERT_EQUAL_INT64(expected->t_ns, r->t_ns);
	TEST_ASSERT_EQUAL_UINT64(expected->number, r->number);
	TEST_ASSERT_EQUAL_size_t(expected->len, r->len);
	TEST_ASSERT_EQUAL_INT(0, memcmp(expected->body, r->body, r->len));
}

TEST(test_written_and_read)
{
	int fd = memory_file(file, file_len);
	struct reclog_reader reader;
	struct reclog_record r;

	reclog_open(&reader, fd);
	for (size_t i = 0; i < RECORDS; i++) {
		TEST_ASSERT_EQUAL_INT(RECLOG_FOUND_RECORD, reclog_read(&reader, &r));
		assert_record(&written[i], &r);
		TEST_ASSERT_EQUAL_UINT64(at[i], r.position);
	}
	TEST_ASSERT_EQUAL_INT(RECLOG_FOUND_EOF, reclog_read(&reader, &r));
	TEST_ASSERT_EQUAL_INT(RECLOG_FOUND_EOF, reclog_read(&reader, &r));
	reclog_close(&reader);
	close(fd);
}

/* The bytes themselves: other programs read them. */
TEST(test_bytes)
{
	static const uint8_t expected[] = { 0x87, 0x6e, 0xe8, 0x2b, 0x03, 0x00, 0x00, 0x00, 0xc2, 0x41, 0x24,
					    0x35, 0x03, 0x00, 0x02, 0x01, 0x08, 0x07, 0x06, 0x05, 0x04, 0x03,
					    0x02, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f };
	struct reclog_record r = { .kind = RECLOG_MESSAGE,
				   .channel = 0x0102,
				   .t_ns = 0x0102030405060708,
				   .number = INT64_MAX,
				   .body = (const uint8_t *)"abc",
				   .len = 3 };
	uint8_t head[RECLOG_HEAD_SIZE];

	reclog_head(head, &r);
	TEST_ASSERT_EQUAL_HEX8_ARRAY(expected, head, sizeof(head));
}

TEST(test_cut_at_every_length)
{
	for (size_t len = 0; len <= file_len; len++) {
		int fd = memory_file(file, len);
		enum reclog_found end;
		struct reclog_reader reader;
		struct reclog_record r;
		size_t whole = 0;

		reclog_open(&reader, fd);
		while ((end = reclog_read(&reader, &r)) == RECLOG_FOUND_RECORD)
			assert_record(&written[whole++], &r);
		TEST_ASSERT_TRUE(whole == RECORDS || at[whole + 1] > len); /* no whole record was left out */
		if (!len)
			TEST_ASSERT_EQUAL_INT(RECLOG_FOUND_NO_LOG, end);
		else if (len == at[whole])
			TEST_ASSERT_EQUAL_INT(RECLOG_FOUND_EOF, end);
		else
			TEST_ASSERT_EQUAL_INT(RECLOG_FOUND_CUT, end);
		if (end == RECLOG_FOUND_CUT) {
			size_t from = len < RECLOG_MAGIC_SIZE ? 0 : at[whole];

			TEST_ASSERT_EQUAL_UINT64(from, r.position);
			TEST_ASSERT_EQUAL_size_t(len - from, r.len);
		}
		reclog_close(&reader);
		close(fd);
	}
}

/* All records but the one hit come as they were, and the damage is reported where that one lies. */
static void damaged_record(const uint8_t *bytes, size_t len, size_t hit)
{
	int fd = memory_file(bytes, len);
	struct reclog_reader reader;
	struct reclog_record r;

	reclog_open(&reader, fd);
	for (size_t i = 0; i < RECORDS; i++) {
		enum reclog_found found = reclog_read(&reader, &r);

		if (i == hit) {
			TEST_ASSERT_EQUAL_INT(RECLOG_FOUND_DAMAGE, found);
			TEST_ASSERT_EQUAL_UINT64(at[i], r.position);
			TEST_ASSERT_EQUAL_size_t(at[i + 1] - at[i] + len - file_len, r.len);
			continue;
		}
		TEST_ASSERT_EQUAL_INT(RECLOG_FOUND_RECORD, found);
		assert_record(&written[i], &r);
	}
	TEST_ASSERT_EQUAL_INT(RECLOG_FOUND_EOF, reclog_read(&reader, &r));
	reclog_close(&reader);
	close(fd);
}

static size_t record_of(size_t byte)
{
	size_t i = 0;

	while (byte >= at[i + 1])
		i++;
	return i;
}

TEST(test_every_byte_flipped)
{
	for (size_t i = RECLOG_MAGIC_SIZE; i < file_len; i++)
		for (unsigned bit = 0; bit <= 8; bit++) {
			uint8_t mask = bit < 8 ? (uint8_t)(1u << bit) : 0xff;

			file[i] ^= mask;
			damaged_record(file, file_len, record_of(i));
			file[i] ^= mask;
		}
}

TEST(test_every_byte_gone_or_one_more)
{
	uint8_t bytes[FILE_SIZE_MAX];

	for (size_t i = RECLOG_MAGIC_SIZE; i < at[RECORDS - 1]; i++) {
		size_t hit = record_of(i);

		/* Which bytes of the record remain may make the next one's head part of its body: two are hit then. */
		if (i < at[hit] + RECLOG_HEAD_SIZE) {
			memcpy(bytes, file, i);
			memcpy(bytes + i, file + i + 1, file_len - i - 1);
			damaged_record(bytes, file_len - 1, hit);
		}
		if (i > at[hit] && i < at[hit] + RECLOG_HEAD_SIZE) {
			memcpy(bytes, file, i);
			bytes[i] = (uint8_t)~file[i];
			memcpy(bytes + i + 1, file + i, file_len - i);
			damaged_record(bytes, file_len + 1, hit);
		}
	}
}

TEST(test_no_recording)
{
	static const char *const others[] = { "x", "achrec2\n", "achrec1 ", "{\"type\":\"imu\"}\n",
					      "\0\0\0\0\0\0\0\0\0" };
	struct reclog_reader reader;
	struct reclog_record r;

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		int fd = memory_file((const uint8_t *)others[i], strlen(others[i]) + 1);

		reclog_open(&reader, fd);
		TEST_ASSERT_EQUAL_INT(RECLOG_FOUND_NO_LOG, reclog_read(&reader, &r));
		reclog_close(&reader);
		close(fd);
	}
	reclog_open(&reader, -1);
	TEST_ASSERT_EQUAL_INT(RECLOG_FOUND_ERROR, reclog_read(&reader, &r));
	TEST_ASSERT_EQUAL_INT(EBADF, errno);
	reclog_close(&reader);
}

/* What a crash leaves at the end of some file systems. */
TEST(test_zeroes_at_the_end)
{
	static uint8_t bytes[FILE_SIZE_MAX + 5000];
	struct reclog_reader reader;
	struct reclog_record r;
	int fd;

	memcpy(bytes, file, file_len);
	memset(bytes + file_len, 0, 5000);
	fd = memory_file(bytes, file_len + 5000);
	reclog_open(&reader, fd);
	for (size_t i = 0; i < RECORDS; i++)
		TEST_ASSERT_EQUAL_INT(RECLOG_FOUND_RECORD, reclog_read(&reader, &r));
	TEST_ASSERT_EQUAL_INT(RECLOG_FOUND_DAMAGE, reclog_read(&reader, &r));
	TEST_ASSERT_EQUAL_UINT64(file_len, r.position);
	TEST_ASSERT_EQUAL_size_t(5000, r.len);
	TEST_ASSERT_EQUAL_INT(RECLOG_FOUND_EOF, reclog_read(&reader, &r));
	reclog_close(&reader);
	close(fd);
}

/* A head that claims gigabytes does not make the reader allocate them. */
static void claims(uint32_t len, enum reclog_found expected)
{
	struct reclog_record huge = { .kind = RECLOG_MESSAGE, .len = 0 }, r;
	struct reclog_reader reader;
	uint8_t bytes[RECLOG_MAGIC_SIZE + RECLOG_HEAD_SIZE];
	uint32_t crc;
	int fd;

	memcpy(bytes, RECLOG_MAGIC, RECLOG_MAGIC_SIZE);
	reclog_head(bytes + RECLOG_MAGIC_SIZE, &huge);
	memcpy(bytes + RECLOG_MAGIC_SIZE + 4, &len, sizeof(len));
	crc = crc_more(0, bytes + RECLOG_MAGIC_SIZE + 4, RECLOG_HEAD_SIZE - 4);
	memcpy(bytes + RECLOG_MAGIC_SIZE, &crc, sizeof(crc));
	fd = memory_file(bytes, sizeof(bytes));
	reclog_open(&reader, fd);
	TEST_ASSERT_EQUAL_INT(expected, reclog_read(&reader, &r));
	TEST_ASSERT_EQUAL_size_t(expected == RECLOG_FOUND_LARGE ? len : RECLOG_HEAD_SIZE, r.len);
	TEST_ASSERT_EQUAL_UINT64(RECLOG_MAGIC_SIZE, r.position);
	TEST_ASSERT_LESS_THAN_size_t(1 << 22, reader.in.room);
	reclog_close(&reader);
	close(fd);
}

TEST(test_claims_more_than_there_is)
{
	claims(RECLOG_BODY_MAX, RECLOG_FOUND_CUT);
	claims(RECLOG_BODY_MAX + 1, RECLOG_FOUND_LARGE);
	claims(UINT32_MAX, RECLOG_FOUND_LARGE);
}

/* ---- larger than any buffer, in pieces of any size ---- */

#define BIG 1000000

static int writes_pieces(void *to)
{
	int fd = *(int *)to;
	uint64_t dice = 7;
	uint8_t *body = malloc(BIG), head[RECLOG_HEAD_SIZE];

	LIB_CHECK(body);
	LIB_CHECK(write(fd, RECLOG_MAGIC, RECLOG_MAGIC_SIZE) == RECLOG_MAGIC_SIZE);
	for (size_t i = 0; i < 4; i++) {
		struct reclog_record r = { .kind = RECLOG_MESSAGE, .number = i, .body = body, .len = BIG - i };

		memset(body, (int)i, BIG);
		reclog_head(head, &r);
		LIB_CHECK(write(fd, head, sizeof(head)) == sizeof(head));
		for (size_t done = 0; done < r.len;) {
			size_t part = 1 + lib_random(&dice) % 30000;

			part = part < r.len - done ? part : r.len - done;
			LIB_CHECK(write(fd, body + done, part) == (ssize_t)part);
			done += part;
		}
	}
	return 0;
}

TEST(test_a_pipe)
{
	struct reclog_reader reader;
	struct reclog_record r;
	int fds[2];
	pid_t pid;

	TEST_ASSERT_EQUAL_INT(0, pipe(fds));
	pid = lib_child(writes_pieces, &fds[1]);
	close(fds[1]);
	reclog_open(&reader, fds[0]);
	for (size_t i = 0; i < 4; i++) {
		TEST_ASSERT_EQUAL_INT(RECLOG_FOUND_RECORD, reclog_read(&reader, &r));
		TEST_ASSERT_EQUAL_UINT64(i, r.number);
		TEST_ASSERT_EQUAL_size_t(BIG - i, r.len);
		TEST_ASSERT_EACH_EQUAL_HEX8(i, r.body, r.len);
	}
	TEST_ASSERT_EQUAL_INT(RECLOG_FOUND_EOF, reclog_read(&reader, &r));
	reclog_close(&reader);
	close(fds[0]);
	TEST_ASSERT_EQUAL_INT(0, lib_join(pid));
}

TEST(test_channels)
{
	struct reclog_channel c = { .count = 1, .size = 2, .mode = 3, .type = 4 }, back;
	uint8_t body[RECLOG_CHANNEL_MAX];
	struct reclog_record r = { .kind = RECLOG_CHANNEL, .body = body };

	memset(c.name, 'n', sizeof(c.name) - 1);
	for (size_t len = 1; len < sizeof(c.name); len++) {
		memset(c.name, 0, sizeof(c.name));
		memset(c.name, 'n', len);
		r.len = reclog_channel_write(body, &c);
		TEST_ASSERT_EQUAL_size_t(16 + len, r.len);
		TEST_ASSERT_EQUAL_INT(0, reclog_channel_read(&back, &r));
		TEST_ASSERT_EQUAL_MEMORY(&c, &back, sizeof(c));
	}
	for (r.len = 0; r.len <= 16; r.len++)
		TEST_ASSERT_EQUAL_INT(-1, reclog_channel_read(&back, &r));
	r.len = sizeof(body);
	TEST_ASSERT_EQUAL_INT(-1, reclog_channel_read(&back, &r));
	r.len = 20;
	body[18] = 0;
	TEST_ASSERT_EQUAL_INT(-1, reclog_channel_read(&back, &r));
}

/* Whatever the bytes are, reading ends and what it gives out lies inside them. */
TEST(test_noise)
{
	uint8_t bytes[FILE_SIZE_MAX];

	for (int round = 0; round < 2000; round++) {
		uint64_t last = 0;
		enum reclog_found found;
		struct reclog_reader reader;
		struct reclog_record r;
		int fd;

		memcpy(bytes, file, file_len);
		for (uint64_t n = lib_random(&state) % 20; n; n--)
			bytes[RECLOG_MAGIC_SIZE + lib_random(&state) % (file_len - RECLOG_MAGIC_SIZE)] =
				(uint8_t)lib_random(&state);
		fd = memory_file(bytes, file_len);
		reclog_open(&reader, fd);
		while ((found = reclog_read(&reader, &r)) <= RECLOG_FOUND_DAMAGE) {
			TEST_ASSERT_GREATER_OR_EQUAL_UINT64(last, r.position);
			TEST_ASSERT_LESS_OR_EQUAL_UINT64(file_len, r.position + r.len);
			last = r.position + 1;
		}
		TEST_ASSERT_TRUE(found == RECLOG_FOUND_EOF || found == RECLOG_FOUND_CUT);
		reclog_close(&reader);
		close(fd);
	}
}

/* A message without its repetitions is read as a message. */
TEST(test_sparse)
{
	enum { SPARSE = 4 + 4 + 16 + 4 + 8 };
	static uint8_t message[5000], packed[REC_DELTA_MAX];
	struct reclog_record r = { .kind = RECLOG_SPARSE, .channel = 3, .t_ns = 4, .number = 5, .body = packed };
	struct reclog_reader reader;
	int fd;

	message[17] = 1;
	message[4999] = 2;
	r.len = rec_delta_pack(packed, message, sizeof(message));
	TEST_ASSERT_EQUAL_UINT(SPARSE, r.len);
	memcpy(file, RECLOG_MAGIC, RECLOG_MAGIC_SIZE);
	reclog_head(file + RECLOG_MAGIC_SIZE, &r);
	memcpy(file + RECLOG_MAGIC_SIZE + RECLOG_HEAD_SIZE, packed, r.len);
	packed[5] = 0xff; /* more of them than there are */
	reclog_head(file + RECLOG_MAGIC_SIZE + RECLOG_HEAD_SIZE + SPARSE, &r);
	memcpy(file + RECLOG_MAGIC_SIZE + 2 * RECLOG_HEAD_SIZE + SPARSE, packed, r.len);
	fd = memory_file(file, RECLOG_MAGIC_SIZE + 2 * (RECLOG_HEAD_SIZE + SPARSE));
	lseek(fd, 0, SEEK_SET);
	reclog_open(&reader, fd);
	TEST_ASSERT_EQUAL(RECLOG_FOUND_RECORD, reclog_read(&reader, &r));
	TEST_ASSERT_EQUAL(RECLOG_MESSAGE, r.kind);
	TEST_ASSERT_EQUAL_UINT(3, r.channel);
	TEST_ASSERT_EQUAL_UINT64(5, r.number);
	TEST_ASSERT_EQUAL_UINT(5000, r.len);
	TEST_ASSERT_EQUAL_MEMORY(message, r.body, sizeof(message));
	TEST_ASSERT_EQUAL(RECLOG_FOUND_DAMAGE, reclog_read(&reader, &r)); /* sound, but not such bytes */
	TEST_ASSERT_EQUAL_UINT(RECLOG_HEAD_SIZE + SPARSE, r.len);
	TEST_ASSERT_EQUAL(RECLOG_FOUND_EOF, reclog_read(&reader, &r));
	reclog_close(&reader);
	close(fd);
}
