/* test_log_binary.c: damaged files of pcap, pcapng, BLF and MCAP: their messages, and what is still read of them. */
#include "test/lib/testcase.h"

#include "can/log/log_parse.h"
#include "channels/rec/mcap.h"
#include "channels/ros/ros_can.h"
#include "test/can/log/test_log_lib.h"

#define PCAP "test/can/logs/kinds.pcap"	    /* header 24 bytes, packets at 24, 56 and 88 */
#define PCAPNG "test/can/logs/kinds.pcapng" /* section 28 bytes, interface at 28, packets at 72 and 120 */
#define BLF "test/can/logs/kinds.blf"	    /* header 144 bytes, one container, compressed from 176 on */
#define WHOLE ((size_t)-1)

void setUp(void)
{
	log_lib_start();
}

void tearDown(void)
{
	log_lib_end();
}

static unsigned char bytes[1 << 16];

static size_t load(const char *path)
{
	FILE *f = fopen(path, "r");
	size_t n;

	TEST_ASSERT_NOT_NULL_MESSAGE(f, path);
	n = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	return n;
}

/* Reads the bytes: so many records, and that line, without the name of the file (NULL: none). */
static void check(size_t n, unsigned int records, const char *said, const char *what)
{
	char expected[512] = "";

	log_said[0] = '\0';
	TEST_ASSERT_EQUAL_INT_MESSAGE(
		0, log_open(&log_in, log_make_file((const char *)bytes, n), log_formats_all, 0, &log_errors), what);
	TEST_ASSERT_EQUAL_UINT_MESSAGE(records, log_count_lines(log_rest()), what);
	log_close(&log_in);
	if (said)
		snprintf(expected, sizeof(expected), FILE_PATH ": %s\n", said);
	TEST_ASSERT_EQUAL_STRING_MESSAGE(expected, log_said, what);
	TEST_ASSERT_EQUAL_UINT64_MESSAGE(said != NULL, log_in.damaged, what);
}

TEST(damaged_captures)
{
#define LINK_TYPE "the capture is not of a CAN interface (link type 227): capture on can0, not on any"
#define NO_FRAME "there is no such frame: its identifier or its length is damaged"
	static const struct {
		const char *path;
		size_t at, len; /* a byte that is changed, and where the file is cut */
		unsigned char value;
		unsigned int records;
		const char *said;
	} cases[] = {
		{ PCAP, 0, WHOLE, 0x4D, 3, NULL }, /* as it is */
		{ PCAP, 0, 20, 0x4D, 0, "record 1: the header of the file is cut off" },
		{ PCAP, 20, WHOLE, 1, 0, "record 1: " LINK_TYPE },
		{ PCAP, 24, 30, 0, 0, "record 1: the packet is cut off: it is lost" },
		{ PCAP, 0, 175, 0x4D, 2, "record 3: the packet is cut off: it is lost" },
		{ PCAP, 34, WHOLE, 1, 0, "record 1: the length of the packet is damaged: what follows is lost" },
		{ PCAP, 31, WHOLE, 0x77, 2, "record 1: the time is damaged: its fraction is more than a second" },
		{ PCAP, 44, WHOLE, 0x85, 2, "record 1: CAN XL is not read: leave such frames out of the capture" },
		{ PCAP, 44, WHOLE, 63, 2, "record 1: " NO_FRAME },
		{ PCAP, 44, WHOLE, 64, 2,
		  "record 1: the packet was cut when it was captured: capture with a larger snapshot length" },
		{ PCAP, 42, WHOLE, 0xFF, 2, "record 1: " NO_FRAME },
		{ PCAP, 40, WHOLE, 0x20, 2, "record 1: " NO_FRAME }, /* an error frame of 5 bytes */
		{ PCAPNG, 0, WHOLE, 0x0A, 13, NULL },
		{ PCAPNG, 0, 25, 0x0A, 0, "record 1: the block is cut off: it is lost" },
		{ PCAPNG, 0, 927, 0x0A, 12, "record 13: the block is cut off: it is lost" },
		{ PCAPNG, 76, WHOLE, 47, 0, "record 1: the length of a block is damaged: what follows is lost" },
		{ PCAPNG, 78, WHOLE, 1, 0, "record 1: the length of a block is damaged: what follows is lost" },
		{ PCAPNG, 72, WHOLE, 3, 12, "record 1: the packet has no time: capture with full packet blocks" },
		{ PCAPNG, 80, WHOLE, 9, 12, "record 1: the packet is of an interface that the file does not describe" },
		{ PCAPNG, 92, WHOLE, 200, 12, "record 1: the packet is longer than its block" },
		{ PCAPNG, 92, WHOLE, 7, 12, "record 1: the packet is shorter than the header of a frame" },
		{ PCAPNG, 60, WHOLE, 30, 13 - 3, NULL }, /* its stamps cannot be */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t n = load(cases[i].path);
		char what[128];

		snprintf(what, sizeof(what), "%s, byte %zu", cases[i].path, cases[i].at);
		bytes[cases[i].at] = cases[i].value;
		if (i + 1 < sizeof(cases) / sizeof(*cases)) {
			check(cases[i].len == WHOLE ? n : cases[i].len, cases[i].records, cases[i].said, what);
			continue;
		}
		TEST_ASSERT_EQUAL_INT(0, log_open(&log_in, log_make_file((const char *)bytes, n), log_formats_all, 0,
						  &log_errors));
		log_rest();
		log_close(&log_in);
		TEST_ASSERT_NOT_NULL(strstr(log_said, "record 1: the time is out of range\n"));
	}
}

/* ---- BLF ---- */

static size_t used;

static void put(size_t at, uint64_t value, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		bytes[at + i] = (unsigned char)(value >> 8 * i);
}

static void file_header(void)
{
	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, "LOGG", 4);
	put(4, 144, 4);
	used = 144;
}

/* With a header of 32 bytes and a body of n; returns where the body begins. */
static size_t object(unsigned int type, size_t n)
{
	size_t at = used;

	memcpy(bytes + at, "LOBJ", 4);
	put(at + 4, 32, 2);
	put(at + 6, 1, 2);
	put(at + 8, 32 + n, 4);
	put(at + 12, type, 4);
	put(at + 16, 2, 4);
	used += 32 + n;
	return at + 32;
}

/* can0 123#11 */
static size_t message(void)
{
	size_t at = object(1, 16);

	put(at, 1, 2);
	put(at + 3, 1, 1);
	put(at + 4, 0x123, 4);
	put(at + 8, 0x11, 1);
	return at;
}

TEST(damaged_blf)
{
	static const struct {
		size_t at; /* in the second of three messages: from its base header on */
		uint64_t value;
		unsigned int n, records;
		const char *said;
	} cases[] = {
		{ 0, 'L', 1, 3, NULL },
		{ 0, 'X', 1, 1, "record 2: there is no object where one should be: what follows is lost" },
		{ 4, 16, 2, 2, "record 2: the size of an object's header is damaged" },
		{ 4, 60, 2, 2, "record 2: the size of an object's header is damaged" },
		{ 8, 15, 4, 1, "record 2: the size of an object is damaged: what follows is lost" },
		{ 8, 47, 4, 2, "record 2: the object is shorter than its type requires" },
		{ 8, 0x10000000, 4, 1, "record 2: the size of an object is damaged: what follows is lost" },
		{ 12, 5, 4, 2, NULL }, /* of another type */
		{ 12, 10, 4, 1, "record 2: a container has an unknown compression: what follows is lost" },
		{ 24, UINT64_MAX, 8, 2, "record 2: the time is out of range" },
		{ 32, 0, 2, 2, "record 2: a channel is a number from 1" },
		{ 35, 16, 1, 2, "record 2: a length code is 0 to 15" },
		{ 36, 0x800, 4, 2, "record 2: an 11-bit identifier is at most 7FF" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char what[64];

		snprintf(what, sizeof(what), "case %zu", i);
		file_header();
		message();
		put(message() - 32 + cases[i].at, cases[i].value, cases[i].n);
		if (cases[i].at == 12 && cases[i].value == 10)
			put(used - 48 + 16, 7, 2);
		message();
		check(used, cases[i].records, cases[i].said, what);
	}
	file_header();
	check(100, 0, "record 1: an object is cut off: what follows is lost", "header");
	put(4, 71, 4);
	check(144, 0, "record 1: the header of the file is damaged", "header size");
	file_header();
	put(16, 1000, 8);
	message();
	check(used, 1, "record 2: the file is shorter than its header says: its end is lost", "file size");
}

/* ---- a compressed container ---- */

#define CONTAINER 144
#define PACKED (CONTAINER + 32)

static char whole[1 << 15]; /* what is read of the undamaged file */

/* Reads the first n bytes of the file: nothing but records of the whole one, and why there are no more.  true: all of
 * them. */
static bool check_packed(size_t n, const char *said, const char *what)
{
	const char *rest;
	bool all;

	log_said[0] = '\0';
	TEST_ASSERT_EQUAL_INT_MESSAGE(
		0, log_open(&log_in, log_make_file((const char *)bytes, n), log_formats_all, 0, &log_errors), what);
	rest = log_rest();
	TEST_ASSERT_EQUAL_STRING_LEN_MESSAGE(whole, rest, strlen(rest), what);
	all = !strcmp(whole, rest) && !log_in.damaged;
	log_close(&log_in);
	if (all)
		said = NULL;
	TEST_ASSERT_EQUAL_UINT64_MESSAGE(said != NULL, log_in.damaged, what);
	TEST_ASSERT_TRUE_MESSAGE(said ? strstr(log_said, said) != NULL : !*log_said, log_said);
	return all;
}

/* Its first n bytes as they were. */
static size_t load_whole(void)
{
	size_t n = load(BLF);

	TEST_ASSERT_EQUAL_INT(0, log_open(&log_in, BLF, log_formats_all, LOG_STRICT, &log_errors));
	snprintf(whole, sizeof(whole), "%s", log_rest());
	log_close(&log_in);
	TEST_ASSERT_EQUAL_UINT(2, frame_le16(bytes + CONTAINER + 16)); /* by zlib */
	TEST_ASSERT_EQUAL_UINT(13, log_count_lines(whole));
	return n;
}

/* Wherever it is cut off, that is said. */
TEST(cut_container)
{
	const size_t n = load_whole(), end = CONTAINER + frame_le32(bytes + CONTAINER + 8);
	unsigned int most = 0;

	TEST_ASSERT_TRUE(check_packed(n, NULL, "whole"));
	for (size_t cut = CONTAINER; cut < end; cut++) {
		const char *said = cut < CONTAINER + 4	  ? "the file is shorter than its header says"
				   : cut < CONTAINER + 16 ? "an object is cut off"
							  : "a container is cut off";
		char what[64];

		snprintf(what, sizeof(what), "cut at %zu", cut);
		TEST_ASSERT_FALSE_MESSAGE(check_packed(cut, said, what), what);
		most = log_in.line > most ? (unsigned int)log_in.line : most;
	}
	TEST_ASSERT_GREATER_THAN_UINT(10, most); /* what was there of the container was read */
}

/* Whichever bit is changed, the checksum of zlib finds it, and nothing of the container is read.  A few bits make no
 * difference, such as the distance to one of several equal strings. */
TEST(corrupt_container)
{
	const size_t n = load_whole(), end = CONTAINER + frame_le32(bytes + CONTAINER + 8);
	unsigned int harmless = 0;

	for (size_t at = PACKED; at < end; at++) {
		for (unsigned int bit = 0; bit < 8; bit++) {
			char what[64];

			snprintf(what, sizeof(what), "byte %zu, bit %u", at, bit);
			bytes[at] ^= (unsigned char)(1u << bit);
			harmless += check_packed(n, "the compressed data of a container is damaged", what);
			TEST_ASSERT_TRUE_MESSAGE(!log_in.damaged || log_in.line == 1, what);
			bytes[at] ^= (unsigned char)(1u << bit);
		}
	}
	TEST_ASSERT_LESS_THAN_UINT((unsigned int)(end - PACKED) * 8 / 100, harmless);
}

/* Sizes in its header. */
TEST(sizes_of_a_container)
{
	static const struct {
		size_t at;
		uint32_t value;
		const char *said;
	} cases[] = {
		{ 8, 31, "the size of a container is damaged" },
		{ 8, 15, "the size of a container is damaged" },
		{ 8, 32, "the compressed data of a container is damaged" }, /* no data */
		{ 8, 100, "the compressed data of a container is damaged" },
		{ 8, 0x7FFFFFFF, "a container is cut off" },
		{ 16, 3, "a container has an unknown compression" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const size_t n = load_whole();

		for (unsigned int byte = 0; byte < 4; byte++)
			bytes[CONTAINER + cases[i].at + byte] = (unsigned char)(cases[i].value >> 8 * byte);
		TEST_ASSERT_FALSE_MESSAGE(check_packed(n, cases[i].said, cases[i].said), cases[i].said);
	}
}

/* CAN FD as Vector's newer tools write it; stamps of 10 us; a header of version 2. */
TEST(other_objects_of_blf)
{
	size_t at;

	file_header();
	at = object(101, 40 + 12);
	put(at, 2, 1);
	put(at + 1, 9, 1);
	put(at + 2, 12, 1);
	put(at + 4, 0x80000123, 4);
	put(at + 12, 0x7000, 4);
	put(at + 34, 1, 1);
	put(at + 40, 0xAABB, 2);
	put(at - 16, 1, 4); /* flags */
	put(at - 8, 5, 8);  /* stamp */
	at = object(104, 48);
	put(at, 1, 1);
	TEST_ASSERT_EQUAL_INT(0, log_open(&log_in, log_make_file((const char *)bytes, used), log_formats_all,
					  LOG_STRICT, &log_errors));
	TEST_ASSERT_EQUAL_STRING("(0000000000.000050) can1 00000123##7BBAA00000000000000000000 T\n"
				 "(0000000000.000000) can0 20000080#0000000000000000\n",
				 log_rest());
	log_close(&log_in);
}

static size_t made;

static int add_bytes(void *to, const void *from, size_t len)
{
	(void)to;
	memcpy(bytes + made, from, len);
	made += len;
	return 0;
}

/* The frame has no time of its own, so that of its message counts. */
static void write_frame(struct mcap_writer *w, int64_t t_ns)
{
	const struct ros_can can = { .bus = "can0", .frame = { .can_id = 0x123 } };
	uint8_t cdr[ROS_CAN_CDR_MAX];

	TEST_ASSERT_EQUAL_INT(0, mcap_write_message(w, &(struct mcap_message){ .channel = 1,
									       .log_ns = (uint64_t)t_ns,
									       .data = cdr,
									       .len = ros_can_encode(&can, cdr) }));
}

TEST(a_frame_of_mcap_with_a_negative_time_is_damaged)
{
	struct mcap_writer *w = mcap_writer_new(&(struct mcap_options){ MCAP_NONE, "test", add_bytes, NULL });

	mcap_write_schema(w, &(struct mcap_schema){ .id = 1, .name = mcap_text(ROS_CAN_TYPE) });
	mcap_write_channel(w, &(struct mcap_channel){ .id = 1, .schema = 1, .encoding = mcap_text("cdr") });
	write_frame(w, 5000);
	write_frame(w, -1);
	write_frame(w, INT64_MIN);
	write_frame(w, 7000);
	TEST_ASSERT_EQUAL_INT(0, mcap_write_end(w));
	mcap_writer_free(w);
	TEST_ASSERT_EQUAL_INT(0, log_open(&log_in, log_make_file((const char *)bytes, made), log_formats_all, 0,
					  &log_errors));
	TEST_ASSERT_EQUAL_STRING("(0000000000.000005) can0 123#\n(0000000000.000007) can0 123#\n", log_rest());
	TEST_ASSERT_EQUAL_STRING(FILE_PATH ": record 2: the time is out of range\n" FILE_PATH
					   ": record 3: the time is out of range\n",
				 log_said);
	log_close(&log_in);
}
