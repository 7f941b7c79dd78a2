/* Recordings as MCAP and back: every record equal, whatever the messages hold; frames; losses; numbers of any size. */
#include <sys/mman.h>

#include "channels/msg/msg.h"
#include "channels/rec/mcaprec.h"
#include "channels/ros/ros_can.h"
#include "config/base/base64.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

#define RECORDS_MAX 400

static struct reclog_record records[RECORDS_MAX];
static size_t records_n;
static int fd;
static struct mcap_writer *mcap;
static struct mcaprec_writer *writer;

static unsigned int writes;

static int to_fd(void *to, const void *bytes, size_t len)
{
	(void)to;
	writes++;
	return write(fd, bytes, len) == (ssize_t)len ? 0 : -EIO;
}

void setUp(void)
{
	static const struct mcap_options options = { .compression = MCAP_LZ4, .library = "test", .write = to_fd };

	lib_watchdog("test_mcaprec", LIB_HANG_S);
	records_n = 0;
	fd = memfd_create("mcaprec", MFD_CLOEXEC);
	mcap = mcap_writer_new(&options);
	writer = mcaprec_writer_new(mcap);
}

void tearDown(void)
{
	mcaprec_writer_free(writer);
	mcap_writer_free(mcap);
	for (size_t i = 0; i < records_n; i++)
		free((void *)(uintptr_t)records[i].body);
	close(fd);
}

static void put(enum reclog_kind kind, uint16_t channel, int64_t t_ns, uint64_t number, const void *body, size_t len)
{
	struct reclog_record *r = &records[records_n++];
	uint8_t *copy = malloc(len + 1);

	TEST_ASSERT_LESS_OR_EQUAL_size_t(RECORDS_MAX, records_n);
	if (len)
		memcpy(copy, body, len);
	*r = (struct reclog_record){
		.kind = kind, .channel = channel, .t_ns = t_ns, .number = number, .body = copy, .len = len
	};
	TEST_ASSERT_EQUAL_INT(0, mcaprec_put(writer, r));
}

static void put_channel(uint16_t channel, const char *name, uint64_t id, uint32_t type)
{
	struct reclog_channel what = { .count = 64, .size = 100, .mode = 0640, .type = type };
	uint8_t body[RECLOG_CHANNEL_MAX];

	snprintf(what.name, sizeof(what.name), "%s", name);
	put(RECLOG_CHANNEL, channel, 5, id, body, reclog_channel_write(body, &what));
}

static void put_message(uint16_t channel, int64_t t_ns, uint64_t number, const void *msg)
{
	struct msg_header h;

	memcpy(&h, msg, sizeof(h));
	put(RECLOG_MESSAGE, channel, t_ns, number, msg, h.size);
}

static void comes_back(void)
{
	struct mcaprec_reader *reader;
	struct reclog_record r;

	TEST_ASSERT_EQUAL_INT(0, mcap_write_end(mcap));
	lseek(fd, 0, SEEK_SET);
	reader = mcaprec_reader_new(fd);
	for (size_t i = 0; i < records_n; i++) {
		const struct reclog_record *e = &records[i];

		TEST_ASSERT_EQUAL(RECLOG_FOUND_RECORD, mcaprec_read(reader, &r));
		TEST_ASSERT_EQUAL(e->kind, r.kind);
		TEST_ASSERT_EQUAL_UINT16(e->channel, r.channel);
		TEST_ASSERT_EQUAL_INT64(e->t_ns, r.t_ns);
		TEST_ASSERT_EQUAL_UINT64(e->number, r.number);
		TEST_ASSERT_EQUAL_size_t(e->len, r.len);
		TEST_ASSERT_EQUAL_INT(0, r.len ? memcmp(e->body, r.body, r.len) : 0);
	}
	TEST_ASSERT_EQUAL(RECLOG_FOUND_EOF, mcaprec_read(reader, &r));
	mcaprec_reader_free(reader);
}

/* ---- */

TEST(every_type_of_message_comes_back_byte_for_byte)
{
	int64_t t_ns = 1000;

	put(RECLOG_START, 0, 1000, 1700000000000000000, NULL, 0);
	for (uint16_t i = 0; i < msg_types_n; i++)
		put_channel(i, msg_types[i].name, 100 + i, msg_types[i].number);
	for (int form = 0; form < 6; form++)
		for (uint16_t i = 0; i < msg_types_n; i++) {
			uint64_t msg[MSG_SIZE_MAX / 8];
			struct msg_header h;

			memset(msg, form == 4 ? 0xFF : form == 5 ? 0xA7 : 0, sizeof(msg));
			memcpy(&h, msg, sizeof(h));
			if (form < 4)
				msg_init(msg, &msg_types[i]);
			if (form % 2)
				msg_unknown(msg, &msg_types[i]);
			memcpy(&h, msg, sizeof(h));
			h.type = msg_types[i].number; /* all else of the last two is garbage */
			h.version = msg_types[i].version;
			h.size = (uint32_t)msg_types[i].body->size;
			memcpy(msg, &h, sizeof(h));
			put_message(i, t_ns += 1000000, (uint64_t)form + 1, msg);
		}
	put(RECLOG_LOSS, 3, t_ns, 17, NULL, 0);
	put(RECLOG_END, 0, t_ns + 5, 6 * msg_types_n, NULL, 0);
	comes_back();
}

/* By the time of its records: one write for each second, one for the head, one for the metadata, two for the end. */
TEST(a_chunk_covers_a_second)
{
	put(RECLOG_START, 0, 0, 0, NULL, 0);
	put_channel(0, "a", 1, 0);
	writes = 0;
	for (uint64_t i = 0; i < 300; i++)
		put(RECLOG_MESSAGE, 0, (int64_t)i * 20000000, i + 1, "xyz", 3);
	TEST_ASSERT_EQUAL_UINT(5, writes);
	TEST_ASSERT_EQUAL_INT(0, mcap_write_end(mcap));
	TEST_ASSERT_EQUAL_UINT(8, writes);
}

TEST(messages_of_other_programs_come_back)
{
	static const char other[] = "some\0bytes\xff that are not a message";
	struct msg_imu imu;

	msg_init(&imu, msg_type_by_number(msg_imu_number));
	put(RECLOG_START, 0, 10, 20, NULL, 0);
	put_channel(0, "other", 0, 0);
	put(RECLOG_MESSAGE, 0, 30, 1, other, sizeof(other));
	put(RECLOG_MESSAGE, 0, 31, 2, "", 0);
	put(RECLOG_MESSAGE, 0, 32, 3, other, 1);
	put_message(0, 33, 4, &imu); /* and one of ours among them */
	imu.header.version += 1;     /* of a version that is not known here */
	put_message(0, 34, 5, &imu);
	put(RECLOG_MESSAGE, 0, 35, 6, other, 2);
	comes_back();
}

/* MCAP has 32 bits for them, and a channel that is made again begins at 1. */
TEST(numbers_of_any_size_and_order_come_back)
{
	static const uint64_t numbers[] = { 1, 2,	   0xFFFFFFFF, 0x100000000, 0x100000001,
					    7, UINT64_MAX, 0,	       5,	    5,
					    4, 0x7FFFFFFF, 0x80000000, 0x180000000, 0x8000000000000000 };
	struct msg_imu imu;

	msg_init(&imu, msg_type_by_number(msg_imu_number));
	put(RECLOG_START, 0, 0, 0, NULL, 0);
	put_channel(0, "imu-state", 1, 3);
	put_channel(1, "raw", 2, 0);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		put_message(0, (int64_t)i, numbers[i], &imu);
		put(RECLOG_MESSAGE, 1, (int64_t)i, numbers[i], "x", 1);
	}
	put_channel(0, "imu-state", 9, 3);
	put_message(0, 99, 1, &imu);
	comes_back();
}

TEST(times_of_any_sign_come_back)
{
	struct msg_imu imu;

	msg_init(&imu, msg_type_by_number(msg_imu_number));
	put(RECLOG_START, 0, 5000000000, 3, NULL, 0); /* the wall clock is before the other one */
	put_channel(0, "imu-state", 1, 3);
	put_message(0, 4000000000, 1, &imu);
	put_message(0, 5000000001, 2, &imu);
	put_message(0, 0, 3, &imu);
	comes_back();
}

/* Of a recording that another program wrote, or that is damaged. */
TEST(times_that_no_clock_has_come_back)
{
	static const int64_t times[] = { INT64_MAX, INT64_MIN, -1, 0, INT64_MAX };
	struct msg_imu imu;

	msg_init(&imu, msg_type_by_number(msg_imu_number));
	put(RECLOG_START, 0, INT64_MIN, INT64_MAX, NULL, 0);
	put_channel(0, "imu-state", 1, 3);
	for (uint64_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		imu.header.t_sample_ns = imu.header.t_publish_ns = times[i];
		put_message(0, times[i], 1 + i, &imu);
	}
	comes_back();
}

/* The offset of the clocks, in the metadata, has no checksum. */
TEST(a_damaged_offset_of_the_clocks_shifts_all_times_alike)
{
	static const char offset[] = "1700000000000000000";
	struct mcaprec_reader *reader;
	struct reclog_record r;
	char bytes[1024];
	ssize_t n;
	char *at;

	put(RECLOG_START, 0, 0, 1700000000000000000, NULL, 0);
	put_channel(0, "other", 1, 0);
	put(RECLOG_MESSAGE, 0, 1000, 1, "a", 1);
	put(RECLOG_MESSAGE, 0, 3000, 2, "b", 1);
	TEST_ASSERT_EQUAL_INT(0, mcap_write_end(mcap));
	n = pread(fd, bytes, sizeof(bytes), 0);
	at = memmem(bytes, (size_t)n, offset, sizeof(offset) - 1);
	TEST_ASSERT_NOT_NULL(at);
	TEST_ASSERT_EQUAL_INT(1, pwrite(fd, "9", 1, at - bytes));
	lseek(fd, 0, SEEK_SET);
	reader = mcaprec_reader_new(fd);
	for (int i = 0; i < 3; i++)
		TEST_ASSERT_EQUAL(RECLOG_FOUND_RECORD, mcaprec_read(reader, &r));
	TEST_ASSERT_EQUAL_INT64(1000 - 8000000000000000000, r.t_ns);
	TEST_ASSERT_EQUAL(RECLOG_FOUND_RECORD, mcaprec_read(reader, &r));
	TEST_ASSERT_EQUAL_INT64(3000 - 8000000000000000000, r.t_ns);
	mcaprec_reader_free(reader);
}

TEST(frames_come_back)
{
	struct ros_can can = { .direction = 'R' };
	uint8_t body[RECLOG_CAN_MAX];
	uint64_t n = 0;

	put(RECLOG_START, 0, 1000, 1700000000000000000, NULL, 0);
	put_channel(0, "can0", 0, RECLOG_CAN);
	for (int kind = 0; kind < 8; kind++) {
		static const char directions[] = { 'R', 'T', 0 };

		memset(&can.frame, 0, sizeof(can.frame));
		can.direction = directions[kind % 3];
		can.frame.can_id = kind == 1   ? 0x12345678 | CAN_EFF_FLAG
				   : kind == 2 ? 0x123 | CAN_RTR_FLAG
				   : kind == 3 ? CAN_ERR_FLAG | CAN_ERR_MASK
					       : 0x7FF;
		can.frame.len = kind < 5 ? 8 : 64;
		can.frame.flags = kind < 5 ? 0 : kind == 5 ? CANFD_FDF : CANFD_FDF | CANFD_BRS | CANFD_ESI;
		can.frame.__res1 = kind == 4 ? 15 : 0;
		for (int i = 0; i < can.frame.len && kind != 2; i++)
			can.frame.data[i] = (uint8_t)(i + 1);
		put(RECLOG_MESSAGE, 0, 1000 + kind, ++n, body, reclog_can_write(body, &can));
	}
	can.frame.len = 3; /* with bytes behind its length: as they are */
	put(RECLOG_MESSAGE, 0, 2000, ++n, body, reclog_can_write(body, &can));
	put(RECLOG_MESSAGE, 0, 2001, ++n, "not a frame", 11);
	comes_back();
}

TEST(base64_there_and_back)
{
	static const struct {
		const char *bytes, *text;
	} rows[] = { { "", "" },	{ "f", "Zg==" },	{ "fo", "Zm8=" },
		     { "foo", "Zm9v" }, { "foob", "Zm9vYg==" }, { "\xff\xfe\xfd", "//79" } };
	char text[BASE64_LEN(16) + 1];
	uint8_t bytes[16];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const size_t n = strlen(rows[i].bytes);

		text[base64_write(text, (const uint8_t *)rows[i].bytes, n)] = '\0';
		TEST_ASSERT_EQUAL_STRING(rows[i].text, text);
		TEST_ASSERT_EQUAL_INT((ssize_t)n, base64_read(bytes, text, strlen(text)));
		TEST_ASSERT_EQUAL_INT(0, memcmp(rows[i].bytes, bytes, n));
	}
	TEST_ASSERT_EQUAL_INT(-1, base64_read(bytes, "Zg=", 3));
	TEST_ASSERT_EQUAL_INT(-1, base64_read(bytes, "Z===", 4));
	TEST_ASSERT_EQUAL_INT(-1, base64_read(bytes, "Zg==Zg==", 8));
	TEST_ASSERT_EQUAL_INT(-1, base64_read(bytes, "Zm 9", 4));
}
