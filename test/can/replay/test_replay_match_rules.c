/* test_replay_match_rules.c: what --frames of a driver says, and what is refused. */
#include "test/lib/testcase.h"

#include "can/replay/replay_match_rules.h"

static struct replay_match_rules rules;
static struct error_sink errors;
static char said[ERROR_LINE_MAX];

void setUp(void)
{
	errors = (struct error_sink){ error_keep_last, said, 0 };
	*said = 0;
}

void tearDown(void)
{
	replay_match_rules_free(&rules);
}

static int read_text(const char *text)
{
	return replay_match_rules_read(&rules, "waist.json", text, strlen(text), &errors);
}

static int read_row(const char *row)
{
	char text[1024];

	snprintf(text, sizeof(text), "{\"frames\":[%s]}", row);
	return read_text(text);
}

TEST(a_whole_row)
{
	TEST_ASSERT_EQUAL_MESSAGE(
		0,
		read_text("{\"driver\":\"pciod\",\"name\":\"waist\",\"frames\":["
			  "{\"bus\":\"torso\",\"id\":\"0CF\",\"ext\":false,\"rtr\":false,\"dir\":\"tx\",\"len\":2,"
			  "\"class\":\"queue\",\"key\":\"FF0f\",\"period_us\":null,\"reply\":{\"id\":\"0AF\","
			  "\"mask\":\"7F8\",\"key\":\"00FF\",\"frames\":3,\"within_us\":1500.5}},"
			  "{\"bus\":\"torso\",\"id\":\"0AF\",\"dir\":\"rx\",\"len\":8,\"key\":null,\"reply\":null}],"
			  "\"claims\":[]}"),
		said);
	TEST_ASSERT_EQUAL(1, rules.n);
	TEST_ASSERT_EQUAL_STRING("torso", rules.rows[0].bus);
	TEST_ASSERT_EQUAL_HEX32(0x0CF, rules.rows[0].id);
	TEST_ASSERT_EQUAL(2, rules.rows[0].len);
	TEST_ASSERT_EQUAL_HEX8(0xFF, rules.rows[0].key[0]);
	TEST_ASSERT_EQUAL_HEX8(0x0F, rules.rows[0].key[1]);
	TEST_ASSERT_EQUAL_HEX8(0x00, rules.rows[0].key[2]);
	TEST_ASSERT_TRUE(rules.rows[0].answered);
	TEST_ASSERT_EQUAL_HEX32(0x0AF, rules.rows[0].reply_id);
	TEST_ASSERT_EQUAL_HEX32(0xFFFFFFF8, rules.rows[0].reply_mask);
	TEST_ASSERT_EQUAL_HEX8(0x00, rules.rows[0].reply_key[0]);
	TEST_ASSERT_EQUAL_HEX8(0xFF, rules.rows[0].reply_key[1]);
	TEST_ASSERT_EQUAL(3, rules.rows[0].reply_frames);
	TEST_ASSERT_EQUAL_INT64(1500500, rules.rows[0].within_ns);
}

TEST(the_shortest_row)
{
	TEST_ASSERT_EQUAL_MESSAGE(0, read_row("{bus: can0, id: '701', rtr: yes, dir: tx, reply: {id: '701'}}"), said);
	TEST_ASSERT_EQUAL_HEX32(0x701 | FRAME_RTR, rules.rows[0].id);
	TEST_ASSERT_EQUAL(8, rules.rows[0].len);
	TEST_ASSERT_EQUAL_HEX32(0x701, rules.rows[0].reply_id);
	TEST_ASSERT_EQUAL_HEX32(0xFFFFFFFF, rules.rows[0].reply_mask);
	TEST_ASSERT_EQUAL(1, rules.rows[0].reply_frames);
	TEST_ASSERT_EQUAL_INT64(REPLAY_MATCH_WITHIN_NS, rules.rows[0].within_ns);
	TEST_ASSERT_EQUAL_MESSAGE(0, read_row("{bus: can0, id: '00012345', dir: tx}"), said);
	TEST_ASSERT_EQUAL(2, rules.n);
	TEST_ASSERT_EQUAL_HEX32(0x12345 | FRAME_EXT, rules.rows[1].id);
	TEST_ASSERT_FALSE(rules.rows[1].answered);
}

TEST(masks_of_both_widths)
{
	TEST_ASSERT_EQUAL_MESSAGE(0,
				  read_row("{bus: a, id: '001', dir: tx, reply: {id: '002', mask: 7FF}},"
					   "{bus: a, id: '001', dir: tx, reply: {id: '00000002', mask: 7FF}}"),
				  said);
	TEST_ASSERT_EQUAL_HEX32(0xFFFFFFFF, rules.rows[0].reply_mask);
	TEST_ASSERT_EQUAL_HEX32(0xE00007FF, rules.rows[1].reply_mask);
}

TEST(many_rows)
{
	char *text = calloc(1, 1 << 16);
	size_t len = (size_t)sprintf(text, "{frames: [");

	for (int i = 0; i < 500; i++)
		len += (size_t)sprintf(text + len, "{bus: can0, id: '%03X', dir: tx},", i);
	strcpy(text + len, "]}");
	TEST_ASSERT_EQUAL_MESSAGE(0, read_text(text), said);
	free(text);
	TEST_ASSERT_EQUAL(500, rules.n);
	TEST_ASSERT_EQUAL_HEX32(499, rules.rows[499].id);
}

#define REPLY(reply) "{bus: a, id: '0CF', dir: tx, reply: {" reply "}}"
#define LONG64 "0000000000000000000000000000000000000000000000000000000000000000"

static const struct {
	const char *row, *said;
} bad[] = {
	{ "{id: '0CF', dir: tx}", "bus is not the name of a bus" },
	{ "{bus: '', id: '0CF', dir: tx}", "bus is not the name of a bus" },
	{ "{bus: abcdefghijklmnopqrstuvwx, id: '0CF', dir: tx}", "bus is not the name of a bus" },
	{ "{bus: [a], id: '0CF', dir: tx}", "bus is not the name of a bus" },
	{ "{bus: a, id: '0CF'}", "dir is not tx or rx" },
	{ "{bus: a, id: '0CF', dir: xx}", "dir is not tx or rx" },
	{ "{bus: a, dir: tx}", "id is not three or eight digits such as 0EF" },
	{ "{bus: a, id: 'CF', dir: tx}", "id is not three or eight digits such as 0EF" },
	{ "{bus: a, id: '0CFG', dir: tx}", "id is not three or eight digits such as 0EF" },
	{ "{bus: a, id: '20000080', dir: rx}", "id is not three or eight digits such as 0EF" },
	{ "{bus: a, id: '000000123', dir: rx}", "id is not three or eight digits such as 0EF" },
	{ "{bus: a, id: '0CF', dir: tx, len: -1}", "len is not 0 to 64" },
	{ "{bus: a, id: '0CF', dir: tx, len: 65}", "len is not 0 to 64" },
	{ "{bus: a, id: '0CF', dir: tx, len: x}", "len is not 0 to 64" },
	{ "{bus: a, id: '0CF', dir: tx, rtr: 3}", "rtr is not true or false" },
	{ "{bus: a, id: '0CF', dir: tx, key: FFF}", "key is not an even number of hexadecimal digits" },
	{ "{bus: a, id: '0CF', dir: tx, key: FG}", "key is not an even number of hexadecimal digits" },
	{ "{bus: a, id: '0CF', dir: tx, key: [FF]}", "key is not an even number of hexadecimal digits" },
	{ "{bus: a, id: '0CF', dir: tx, key: '" LONG64 LONG64 "00'}",
	  "key is not an even number of hexadecimal digits" },
	{ REPLY("key: FF"), "reply has no id of three or eight digits such as 0AF" },
	{ REPLY("id: '0AF', mask: 7G8"), "mask of the reply is not a hexadecimal number" },
	{ REPLY("id: '0AF', mask: ''"), "mask of the reply is not a hexadecimal number" },
	{ REPLY("id: '0AF', mask: 123456789"), "mask of the reply is not a hexadecimal number" },
	{ REPLY("id: '0AF', mask: [7F8]"), "mask of the reply is not a hexadecimal number" },
	{ REPLY("id: '0AF', key: F"), "key of the reply is not an even number of hexadecimal digits" },
	{ REPLY("id: '0AF', frames: 0"), "frames of the reply is not 1 to 1000" },
	{ REPLY("id: '0AF', frames: 1001"), "frames of the reply is not 1 to 1000" },
	{ REPLY("id: '0AF', frames: x"), "frames of the reply is not 1 to 1000" },
	{ REPLY("id: '0AF', within_us: 0"), "within_us of the reply is not above 0, and at most an hour" },
	{ REPLY("id: '0AF', within_us: 4e9"), "within_us of the reply is not above 0, and at most an hour" },
	{ REPLY("id: '0AF', within_us: x"), "within_us of the reply is not above 0, and at most an hour" },
	{ "", "no row with dir tx" },
	{ "{bus: a, id: '0CF', dir: rx}", "no row with dir tx" },
};

TEST(refused)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		setUp();
		TEST_ASSERT_EQUAL_MESSAGE(-EINVAL, read_row(bad[i].row), bad[i].row);
		TEST_ASSERT_NOT_NULL_MESSAGE(strstr(said, bad[i].said), said);
		TEST_ASSERT_EQUAL_MESSAGE(0, strncmp(said, "waist.json:", 11), said);
	}
}

TEST(limits_that_are_allowed)
{
	TEST_ASSERT_EQUAL_MESSAGE(
		0,
		read_row("{bus: a, id: '0CF', dir: tx, len: 64, key: '" LONG64 LONG64 "', reply: {id: '0AF', key: null,"
			 "frames: 1000, within_us: 3.6e9}}, {bus: a, id: '0CF', dir: tx, len: 0, key: null}"),
		said);
	TEST_ASSERT_EQUAL(1000, rules.rows[0].reply_frames);
	TEST_ASSERT_EQUAL_INT64(3600000000000, rules.rows[0].within_ns);
	TEST_ASSERT_EQUAL(0, rules.rows[1].len);
}

TEST(not_the_output_of_frames)
{
	TEST_ASSERT_EQUAL(-EINVAL, read_text("{}"));
	TEST_ASSERT_EQUAL_STRING("waist.json: no list \"frames\": DRIVER --frames prints it", said);
	TEST_ASSERT_EQUAL(-EINVAL, read_text("frames: x"));
	TEST_ASSERT_EQUAL_STRING("waist.json: no list \"frames\": DRIVER --frames prints it", said);
	TEST_ASSERT_NOT_EQUAL(0, read_text("{"));
}
