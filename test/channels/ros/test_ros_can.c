/* Frames of CAN buses as ROS messages: bytes written by hand, both types, and every place at which one may be cut. */
#include "channels/ros/ros_can.h"
#include "test/lib/testcase.h"

static const char own[] = ROS_CAN_TYPE, other[] = "can_msgs/msg/Frame";

void setUp(void)
{
}

void tearDown(void)
{
}

TEST(a_frame_has_these_bytes)
{
	static const char expected[] = "\0\1\0\0"	      /* encapsulation */
				       "\2\0\0\0\7\0\0\0"     /* 2 s, 7 ns */
				       "\5\0\0\0can1\0\0\0\0" /* bus */
				       "\x78\x56\x34\x12"     /* identifier */
				       "\1\0\0\1\1\0"	      /* extended, rtr, error, fd, brs, esi */
				       "\2\0\3\0\0\0"	      /* sent, length code, length; padding */
				       "\3\0\0\0\xA\xB\xC";
	struct ros_can can = { .t_ns = 2000000007, .bus = "can1", .direction = 'T' };
	uint8_t cdr[ROS_CAN_CDR_MAX];

	can.frame.can_id = 0x12345678 | CAN_EFF_FLAG;
	can.frame.flags = CANFD_FDF | CANFD_BRS;
	can.frame.len = 3;
	memcpy(can.frame.data, "\xA\xB\xC\xD", 4);
	TEST_ASSERT_EQUAL_size_t(sizeof(expected) - 1, ros_can_encode(&can, cdr));
	TEST_ASSERT_EQUAL_MEMORY(expected, cdr, sizeof(expected) - 1);
}

TEST(frames_of_every_kind_come_back)
{
	static const struct {
		uint32_t id;
		uint8_t flags, len, code;
		char direction;
		int64_t t_ns;
	} rows[] = {
		{ 0x123, 0, 8, 0, 'R', 1700000000123456789 },
		{ 0x7FF, 0, 8, 15, 'T', 0 },
		{ 0x12345678 | CAN_EFF_FLAG, 0, 0, 0, 0, -1 },
		{ 0x123 | CAN_RTR_FLAG, 0, 5, 0, 'R', -1000000000 },
		{ 0x20 | CAN_ERR_FLAG, 0, 8, 0, 'R', 1 },
		{ 0x1F000000 | CAN_ERR_FLAG, 0, 8, 0, 'R', 1 },
		{ 0x1, CANFD_FDF, 64, 0, 'R', 1 },
		{ 0x1, CANFD_FDF | CANFD_BRS, 12, 0, 'R', 1 },
		{ 0x1, CANFD_FDF | CANFD_ESI, 12, 0, 'R', 1 },
	};

	TEST_ASSERT_TRUE(ros_can_known(own) && ros_can_known(other) && !ros_can_known("can_msgs/msg/Frames"));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct ros_can can = { .t_ns = rows[i].t_ns, .bus = "a_bus_of_15_let", .direction = rows[i].direction },
			       back;
		uint8_t cdr[ROS_CAN_CDR_MAX];
		struct cdr_in in;
		size_t len;

		can.frame.can_id = rows[i].id;
		can.frame.flags = rows[i].flags;
		can.frame.len = rows[i].len;
		can.frame.__res1 = rows[i].code;
		for (int k = 0; k < rows[i].len && !(rows[i].id & CAN_RTR_FLAG); k++)
			can.frame.data[k] = (uint8_t)(k + 1);
		len = ros_can_encode(&can, cdr);
		TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof(cdr), len);
		in = cdr_in(cdr, len);
		cdr_get_i32(&in);
		TEST_ASSERT_LESS_THAN_UINT32(1000000000, cdr_get_u32(&in)); /* nanosec */
		TEST_ASSERT_EQUAL_INT(0, ros_can_decode(own, cdr, len, &back));
		TEST_ASSERT_EQUAL_INT64(can.t_ns, back.t_ns);
		TEST_ASSERT_EQUAL_STRING(can.bus, back.bus);
		TEST_ASSERT_EQUAL_INT(can.direction, back.direction);
		TEST_ASSERT_EQUAL_MEMORY(&can.frame, &back.frame, sizeof(can.frame));
		for (size_t cut = 0; cut < len; cut++) {
			uint8_t *copy = malloc(cut + 1);

			memcpy(copy, cdr, cut);
			TEST_ASSERT_EQUAL_INT(-1, ros_can_decode(own, copy, cut, &back));
			free(copy);
		}
	}
}

TEST(eleven_bits_of_a_standard_frame_count)
{
	struct ros_can can = { .t_ns = 3000000000, .bus = "can0" }, back;
	uint8_t cdr[ROS_CAN_CDR_MAX];
	struct cdr_in in;

	can.frame.can_id = 0x1FFFF123;
	in = cdr_in(cdr, ros_can_encode(&can, cdr));
	TEST_ASSERT_EQUAL_INT32(3, cdr_get_i32(&in));
	TEST_ASSERT_EQUAL_UINT32(0, cdr_get_u32(&in));
	TEST_ASSERT_EQUAL_INT(0, ros_can_decode(own, cdr, in.len, &back));
	TEST_ASSERT_EQUAL_HEX32(0x123, back.frame.can_id);
}

TEST(a_length_that_cannot_be_is_refused)
{
	static const struct {
		uint8_t rtr, len;
		uint32_t data;
		int expected;
	} rows[] = { { 0, 3, 3, 0 },   { 0, 3, 2, -1 },	  { 0, 2, 3, -1 }, { 1, 3, 0, 0 },  { 1, 3, 3, -1 },
		     { 0, 64, 64, 0 }, { 0, 65, 65, -1 }, { 1, 64, 0, 0 }, { 1, 65, 0, -1 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint8_t cdr[256];
		struct cdr_out o = cdr_out(cdr, sizeof(cdr));
		struct ros_can back;

		cdr_put_i32(&o, 0);
		cdr_put_u32(&o, 0);
		cdr_put_string(&o, i % 2 ? "a_name_that_is_longer_than_a_bus_may_have" : "a_name_that_is_l", 99);
		cdr_put_u32(&o, 0xFFFFFFFF); /* more than an identifier */
		cdr_put_u8(&o, 0);
		cdr_put_u8(&o, rows[i].rtr);
		for (int k = 0; k < 4; k++)
			cdr_put_u8(&o, 0);
		cdr_put_u8(&o, 3); /* no direction */
		cdr_put_u8(&o, 0);
		cdr_put_u8(&o, rows[i].len);
		cdr_put_u32(&o, rows[i].data);
		for (uint32_t k = 0; k < rows[i].data; k++)
			cdr_put_u8(&o, 1);
		TEST_ASSERT_EQUAL_INT(rows[i].expected, ros_can_decode(own, cdr, o.len, &back));
		TEST_ASSERT_EQUAL_HEX32(CAN_EFF_MASK | (rows[i].rtr ? CAN_RTR_FLAG : 0), back.frame.can_id);
		TEST_ASSERT_EQUAL_STRING("a_name_that_is_", back.bus);
		if (rows[i].expected)
			TEST_ASSERT_EQUAL_UINT8(0, back.frame.data[0]);
		TEST_ASSERT_EQUAL_INT(0, back.direction);
	}
}

TEST(frames_of_others_are_read)
{
	static const struct {
		uint8_t rtr, ext, err, dlc;
		uint32_t id;
		uint8_t len, code, last; /* the last byte that counts */
	} rows[] = {
		{ 0, 0, 0, 8, 0x123, 8, 0, 8 },
		{ 0, 1, 0, 3, 0x123 | CAN_EFF_FLAG, 3, 0, 3 },
		{ 1, 0, 0, 4, 0x123 | CAN_RTR_FLAG, 4, 0, 0 },
		{ 0, 0, 1, 8, 0x123 | CAN_ERR_FLAG, 8, 0, 8 },
		{ 0, 0, 0, 9, 0x123, 8, 9, 8 },
		{ 0, 0, 0, 15, 0x123, 8, 15, 8 },
		{ 0, 0, 0, 16, 0x123, 8, 0, 8 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint8_t cdr[64], data[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
		struct cdr_out o = cdr_out(cdr, sizeof(cdr));
		struct {
			struct ros_can back;
			uint8_t behind[16];
		} room;
		struct ros_can *back = &room.back;

		memset(room.behind, 0xAA, sizeof(room.behind));
		cdr_put_i32(&o, 5);
		cdr_put_u32(&o, 6);
		cdr_put_string(&o, "can", 3);
		cdr_put_u32(&o, 0x123);
		cdr_put_u8(&o, rows[i].rtr);
		cdr_put_u8(&o, rows[i].ext);
		cdr_put_u8(&o, rows[i].err);
		cdr_put_u8(&o, rows[i].dlc);
		cdr_put(&o, data, 1, 8);
		TEST_ASSERT_EQUAL_INT(0, ros_can_decode(other, cdr, o.len, back));
		TEST_ASSERT_EQUAL_INT64(5000000006, back->t_ns);
		TEST_ASSERT_EQUAL_STRING("can", back->bus);
		TEST_ASSERT_EQUAL_INT(0, back->direction);
		TEST_ASSERT_EQUAL_HEX32(rows[i].id, back->frame.can_id);
		TEST_ASSERT_EQUAL_UINT8(rows[i].len, back->frame.len);
		TEST_ASSERT_EQUAL_UINT8(rows[i].code, back->frame.__res1);
		for (uint8_t k = 0; k < sizeof(back->frame.data); k++)
			TEST_ASSERT_EQUAL_UINT8(k < rows[i].last ? k + 1 : 0, back->frame.data[k]);
		TEST_ASSERT_EACH_EQUAL_UINT8(0xAA, room.behind, sizeof(room.behind));
		TEST_ASSERT_EQUAL_INT(-1, ros_can_decode(other, cdr, o.len - 1, back));
	}
}
