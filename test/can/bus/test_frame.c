/* test_frame.c: what can be said of a frame without a bus. */
#include "test/lib/testcase.h"

#include "can/bus/frame.h"

TEST(identifier)
{
	TEST_ASSERT_EQUAL_HEX32(0x7ff, frame_id(&(struct frame){ .id = 0x7ff | FRAME_RTR }));
	TEST_ASSERT_EQUAL_HEX32(0x1fffffff, frame_id(&(struct frame){ .id = 0xffffffff }));
	TEST_ASSERT_EQUAL_HEX32(0x7ff, frame_id(&(struct frame){ .id = 0x1fffffff })); /* what a wire would carry */
	TEST_ASSERT_EQUAL_HEX32(0x1000, frame_id(&(struct frame){ .id = FRAME_ERR | 0x1000 }));
}

TEST(data_length)
{
	TEST_ASSERT_EQUAL_UINT(8, frame_data_len(&(struct frame){ .len = 8 }));
	TEST_ASSERT_EQUAL_UINT(0, frame_data_len(&(struct frame){ .id = FRAME_RTR, .len = 8 }));
	TEST_ASSERT_EQUAL_UINT(64, frame_data_len(&(struct frame){ .flags = FRAME_FD, .len = 64 }));
}

TEST(lengths_of_fd)
{
	static const uint8_t next[] = { 0,  1,	2,  3,	4,  5,	6,  7,	8,  12, 12, 12, 12, 16, 16, 16, 16,
					20, 20, 20, 20, 24, 24, 24, 24, 32, 32, 32, 32, 32, 32, 32, 32 };

	for (unsigned int i = 0; i <= 70; i++)
		TEST_ASSERT_EQUAL_UINT(i < sizeof(next) ? next[i] : i <= 48 ? 48 : 64, frame_len_fd(i));
}

TEST(valid)
{
	static const struct {
		const char *what;
		bool valid;
		struct frame f;
	} rows[] = {
		{ "empty", true, { .id = 0 } },
		{ "highest of 11 bits", true, { .id = 0x7ff, .len = 8 } },
		{ "12 bits", false, { .id = 0x800 } },
		{ "12 bits, remote", false, { .id = 0x800 | FRAME_RTR } },
		{ "highest of 29 bits", true, { .id = 0x1fffffff | FRAME_EXT, .len = 8 } },
		{ "remote", true, { .id = FRAME_RTR | 1, .len = 8 } },
		{ "29 bits, remote", true, { .id = FRAME_EXT | FRAME_RTR | 1, .len = 0 } },
		{ "9 bytes", false, { .len = 9 } },
		{ "remote for 9", false, { .id = FRAME_RTR, .len = 9 } },
		{ "length code 9", true, { .len = 8, .dlc = 9 } },
		{ "length code 15, remote", true, { .id = FRAME_RTR, .len = 8, .dlc = 15 } },
		{ "length code 16", false, { .len = 8, .dlc = 16 } },
		{ "length code 8", false, { .len = 8, .dlc = 8 } },
		{ "length code with 7 bytes", false, { .len = 7, .dlc = 9 } },
		{ "fd", true, { .id = 0x7ff, .len = 64, .flags = FRAME_FD } },
		{ "fd, all flags", true, { .len = 12, .flags = FRAME_FD | FRAME_BRS | FRAME_ESI } },
		{ "fd of 9", false, { .len = 9, .flags = FRAME_FD } },
		{ "fd of 65", false, { .len = 65, .flags = FRAME_FD } },
		{ "fd, remote", false, { .id = FRAME_RTR, .flags = FRAME_FD } },
		{ "fd, length code", false, { .len = 8, .dlc = 9, .flags = FRAME_FD } },
		{ "fd of 12 bits", false, { .id = 0x800, .flags = FRAME_FD } },
		{ "bit rate switch without fd", false, { .flags = FRAME_BRS } },
		{ "unknown flag", false, { .flags = FRAME_FD | 8 } },
		{ "error", true, { .id = FRAME_ERR | 0x40, .len = 8 } },
		{ "error of all classes", true, { .id = FRAME_ERR | 0x1fffffff, .len = 8 } },
		{ "error of 7", false, { .id = FRAME_ERR | 0x40, .len = 7 } },
		{ "error, 29 bits", false, { .id = FRAME_ERR | FRAME_EXT, .len = 8 } },
		{ "error, remote", false, { .id = FRAME_ERR | FRAME_RTR, .len = 8 } },
		{ "error, fd", false, { .id = FRAME_ERR, .len = 8, .flags = FRAME_FD } },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].valid, frame_valid(&rows[i].f), rows[i].what);
}

TEST(equal)
{
	struct frame a = { .id = 0x123, .len = 3, .data = { 1, 2, 3, 4 } }, b = a;

	TEST_ASSERT_TRUE(frame_equal(&a, &b));
	b.data[3] = 9; /* not carried */
	b.reserved = 9;
	TEST_ASSERT_TRUE(frame_equal(&a, &b));
	b.data[2] = 9;
	TEST_ASSERT_FALSE(frame_equal(&a, &b));
	a.id = b.id |= FRAME_RTR; /* nothing is carried */
	TEST_ASSERT_TRUE(frame_equal(&a, &b));
	b.len = 2;
	TEST_ASSERT_FALSE(frame_equal(&a, &b));
	b = a;
	b.id |= FRAME_EXT;
	TEST_ASSERT_FALSE(frame_equal(&a, &b));
	a = (struct frame){ .len = 8 };
	b = (struct frame){ .len = 8, .flags = FRAME_FD };
	TEST_ASSERT_FALSE(frame_equal(&a, &b));
	b = (struct frame){ .len = 8, .dlc = 9 };
	TEST_ASSERT_FALSE(frame_equal(&a, &b));
	a = (struct frame){ .len = 64, .flags = FRAME_FD };
	b = a;
	b.data[63] = 1;
	TEST_ASSERT_FALSE(frame_equal(&a, &b));
}
