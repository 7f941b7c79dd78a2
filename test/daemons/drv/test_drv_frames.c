/* test_drv_frames.c: --frames, word by word; test_setup.sh has others read it. */
#include "test/daemons/drv/test_drv_lib.h"
#include "test/lib/testcase.h"

void setUp(void)
{
	drv_lib_begin();
}

void tearDown(void)
{
	drv_lib_end();
}

#define KIND "\"ext\":false,\"rtr\":false,\"fd\":false,\"brs\":false,"
#define ROWS                                                                                           \
	"{\"bus\":\"left\",\"id\":\"201\"," KIND "\"dir\":\"tx\",\"len\":2,\"class\":\"latest\","      \
	"\"moves\":false,\"shared\":false,\"key\":\"0000\",\"period_us\":5000,"                        \
	"\"deadline_us\":5000,\"reply\":null},"                                                        \
	"{\"bus\":\"left\",\"id\":\"202\"," KIND "\"dir\":\"tx\",\"len\":8,\"class\":\"queue\","       \
	"\"moves\":false,\"shared\":false,\"key\":\"FFFF000000000000\",\"period_us\":null,"            \
	"\"deadline_us\":20000,"                                                                       \
	"\"reply\":{\"id\":\"182\",\"mask\":null,\"key\":\"FFFF\",\"frames\":1,\"within_us\":10000}}," \
	"%s"                                                                                           \
	"{\"bus\":\"left\",\"id\":\"181\"," KIND "\"dir\":\"rx\",\"len\":2,"                           \
	"\"class\":null,\"moves\":false,\"shared\":false,"                                             \
	"\"key\":null,\"period_us\":10000,\"deadline_us\":null,\"reply\":null},"                       \
	"{\"bus\":\"left\",\"id\":\"182\"," KIND "\"dir\":\"rx\",\"len\":8,"                           \
	"\"class\":null,\"moves\":false,\"shared\":false,"                                             \
	"\"key\":null,\"period_us\":null,\"deadline_us\":null,\"reply\":null}"

static void expect(const char *more_left, const char *more, const char *claims, const char *channels)
{
	char text[4096];
	int n = snprintf(text, sizeof(text), "{\"driver\":\"faked\",\"name\":\"arm\",\"tick_us\":5000,\"frames\":[");

	n += snprintf(text + n, sizeof(text) - (size_t)n, ROWS, more_left);
	snprintf(text + n, sizeof(text) - (size_t)n, "%s],\"claims\":[%s],\"channels\":[%s]}\n", more, claims,
		 channels);
	TEST_ASSERT_EQUAL_STRING(text, drv_lib.printed);
	TEST_ASSERT_EQUAL_STRING("", drv_lib.said);
	TEST_ASSERT_EQUAL(0, fake.starts);
}

TEST(one_bus)
{
	TEST_ASSERT_EQUAL(0, drv_lib_main("--name arm --bus left=wire:a --frames"));
	expect("", "", "", "");
}

static int add_more(struct drv *drv, struct error_sink *errors)
{
	static const struct drv_send urgent = {
		.row = { .id = FRAME_EXT | 0x12, .class = SLOTS_URGENT, .key = { 0, 0xf0 }, .deadline_ns = 1500 },
		.len = 3,
		.shared = true,
		.answered = true,
		.reply_id = FRAME_EXT | 0x1fffffff,
		.reply_bytes = 8,
		.reply_within_ns = 0,
	};
	static const struct drv_receive range = {
		.bus = 1, .id = FRAME_EXT | 0x5000000, .id_mask = 0x1f000000, .len_min = 1, .len_max = 4
	};

	TEST_ASSERT_EQUAL(2, drv_add_send(drv, &urgent, errors));
	TEST_ASSERT_EQUAL(2, drv_add_receive(drv, &range, errors));
	TEST_ASSERT_EQUAL(0, drv_add_claim(drv, 1, "pcio", errors));
	TEST_ASSERT_EQUAL(1, drv_add_claim(drv, 0, "clock", errors));
	TEST_ASSERT_EQUAL(0, drv_add_output(drv, "arm-force", msg_ft_number, errors));
	TEST_ASSERT_EQUAL(0, drv_add_input(drv, "arm-part-ref", msg_joint_ref_number, errors));
	return 0;
}

TEST(everything_else)
{
	fake.declare = add_more;
	TEST_ASSERT_EQUAL(0, drv_lib_main("--name arm --bus left=wire:a --bus can7 --frames"));
	expect("{\"bus\":\"left\",\"id\":\"00000012\",\"ext\":true,\"rtr\":false,\"fd\":false,\"brs\":false,"
	       "\"dir\":\"tx\","
	       "\"len\":3,\"class\":\"urgent\","
	       "\"moves\":false,\"shared\":true,\"key\":\"00F000\",\"period_us\":null,\"deadline_us\":1.5,"
	       "\"reply\":{\"id\":\"1FFFFFFF\",\"mask\":null,\"key\":\"FFFFFFFFFFFFFFFF\","
	       "\"frames\":1,\"within_us\":null}},",
	       ",{\"bus\":\"can7\",\"id\":\"05000000\",\"ext\":true,\"rtr\":false,\"fd\":false,\"brs\":false,"
	       "\"dir\":\"rx\",\"len\":4,\"class\":null,"
	       "\"moves\":false,\"shared\":false,\"key\":null,\"period_us\":null,\"deadline_us\":null,\"reply\":null}",
	       "{\"bus\":\"can7\",\"what\":\"pcio\"},{\"bus\":\"left\",\"what\":\"clock\"}",
	       "{\"name\":\"arm-force\",\"type\":\"force-torque\",\"dir\":\"out\"},"
	       "{\"name\":\"arm-part-ref\",\"type\":\"joint-ref\",\"dir\":\"in\"}");
}

static int add_part(struct drv *drv, struct error_sink *errors)
{
	TEST_ASSERT_EQUAL(0, drv_add_part(drv, "hand", &(unsigned int){ 0 }, 1, errors));
	return 0;
}

TEST(channels_of_a_part)
{
	fake.declare = add_part;
	TEST_ASSERT_EQUAL(0, drv_lib_main("--name arm --bus left=wire:a --frames"));
	expect("", "", "",
	       "{\"name\":\"arm-hand-state\",\"type\":\"joint-state\",\"dir\":\"out\"},"
	       "{\"name\":\"arm-hand-info\",\"type\":\"device-info\",\"dir\":\"out\"},"
	       "{\"name\":\"arm-hand-ref\",\"type\":\"joint-ref\",\"dir\":\"in\"}");
}

static int add_questions(struct drv *drv, struct error_sink *errors)
{
	static const struct drv_send ask = { .row = { .id = 0x300, .class = SLOTS_QUEUE, .deadline_ns = 1000 },
					     .len = 4 };
	static const struct drv_receive replies = { .id = 0x310, .id_mask = 0x7fc, .len_min = 0, .len_max = 8 };
	static const struct drv_question question = { .send = 2,
						      .receive = 2,
						      .echo = { { 1, 1, 0xFF }, { 2, 2, 0x0F }, { 3, 0, 0xFF } },
						      .replies = 3,
						      .late_ns = 1000000,
						      .lost_ns = 2000000 };

	TEST_ASSERT_EQUAL(2, drv_add_send(drv, &ask, errors));
	TEST_ASSERT_EQUAL(2, drv_add_receive(drv, &replies, errors));
	TEST_ASSERT_EQUAL(0, drv_add_question(drv, &question, errors));
	return 0;
}

/* What the device repeats tells requests apart; what it repeats elsewhere does not tell replies apart. */
TEST(a_question)
{
	fake.declare = add_questions;
	TEST_ASSERT_EQUAL(0, drv_lib_main("--name arm --bus left=wire:a --frames"));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(drv_lib.printed, "\"key\":\"00FF0FFF\",\"period_us\":null,"),
				     drv_lib.printed);
	TEST_ASSERT_NOT_NULL_MESSAGE(
		strstr(drv_lib.printed, "\"reply\":{\"id\":\"310\",\"mask\":\"7FC\",\"key\":\"00FF0F\",\"frames\":3,"
					"\"within_us\":2000}}"),
		drv_lib.printed);
}

TEST(no_bus_no_frames)
{
	TEST_ASSERT_EQUAL(100, drv_lib_main("--name arm --frames"));
	TEST_ASSERT_EQUAL_STRING("", drv_lib.printed);
}
