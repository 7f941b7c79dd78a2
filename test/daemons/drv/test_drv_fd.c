/* test_drv_fd.c: a driver that declares CAN FD frames.  Also for drv_declare.c. */
#include <errno.h>

#include "can/bus/bits.h"
#include "daemons/drv/drv_inside.h"
#include "test/daemons/drv/test_drv_lib.h"
#include "test/lib/testcase.h"

#define FD (FRAME_FD | FRAME_BRS)
#define ZEROS "0000000000000000"

static struct drv_send sends;
static struct drv_receive receives;

void setUp(void)
{
	drv_lib_begin();
	sends = (struct drv_send){ .row = { .id = 0x205, .class = SLOTS_LATEST, .period_ns = DRV_LIB_TICK_NS },
				   .len = 24,
				   .flags = FD };
	receives = (struct drv_receive){ .id = 0x185, .len_min = 12, .len_max = 64, .flags = FRAME_FD };
}

void tearDown(void)
{
	drv_lib_end();
}

static int add_fd(struct drv *drv, struct error_sink *errors)
{
	int r = drv_add_send(drv, &sends, errors);

	return r < 0 ? r : drv_add_receive(drv, &receives, errors) < 0 ? -EINVAL : 0;
}

/* A robot whose one bus has these keys, too. */
static int run_with(int (*declare)(struct drv *drv, struct error_sink *errors), const char *bus, const char *option)
{
	char text[1024], line[512];

	snprintf(text, sizeof(text),
		 "robot: lab\nbuses:\n  lab: {interface: \"log:%s\"%s}\n"
		 "devices:\n  arm: {driver: faked, bus: lab, limits: {velocity: 9, acceleration: 9}}\n",
		 drv_lib_log(50), bus);
	snprintf(line, sizeof(line), "--name arm --set lock_memory=no --config %s%s", drv_lib_file("lab.yaml", text),
		 option);
	fake.declare = declare;
	return drv_lib_main(line);
}

static int run(const char *bus, const char *option)
{
	return run_with(add_fd, bus, option);
}

static struct frame frame_of(uint8_t len, uint8_t flags)
{
	return (struct frame){ .id = 0x205, .len = len, .flags = flags, .data = { 1, 2, 3 } };
}

static int try(unsigned int row, struct frame frame)
{
	return drv_send(fake.drv, row, &frame);
}

static void send_some(void)
{
	TEST_ASSERT_EQUAL(-EINVAL, try(2, frame_of(8, 0)));	    /* a classic one */
	TEST_ASSERT_EQUAL(-EINVAL, try(2, frame_of(24, FRAME_FD))); /* all of it at the nominal rate */
	TEST_ASSERT_EQUAL(-EINVAL, try(2, frame_of(32, FD)));	    /* longer than declared */
	TEST_ASSERT_EQUAL(-EINVAL, try(2, frame_of(23, FD)));	    /* no such length */
	TEST_ASSERT_EQUAL(0, try(2, frame_of(24, FD)));
	TEST_ASSERT_EQUAL(-EINVAL,
			  try(FAKE_LATEST, (struct frame){ .id = 0x201, .len = 2, .flags = FRAME_FD })); /* classic */
}

TEST(a_frame_is_sent_as_it_is_declared)
{
	drv_lib_at(3, send_some);
	TEST_ASSERT_EQUAL_MESSAGE(0, run(", data_bitrate: 5000000", ""), drv_lib.said);
	TEST_ASSERT_EQUAL(1, fake.sent_n);
	TEST_ASSERT_EQUAL(0x205, fake.sent[0].id);
	TEST_ASSERT_EQUAL(FD, fake.sent[0].flags);
	TEST_ASSERT_EQUAL(24, fake.sent[0].len);
}

TEST(classic_frames_of_its_identifier_are_odd)
{
	drv_lib_frame(12, "185##1000102030405060708090A0B");
	drv_lib_frame(13, "185#0001020304050607");
	drv_lib_frame(14, "185##00001");			     /* too short */
	drv_lib_frame(15, "182##0000102030405060708090A0B0C0D0E0F"); /* of a classic row */
	TEST_ASSERT_EQUAL_MESSAGE(0, run(", data_bitrate: 5000000", ""), drv_lib.said);
	TEST_ASSERT_EQUAL(1, fake.got_n);
	TEST_ASSERT_EQUAL(12, fake.got[0].frame.len);
	TEST_ASSERT_EQUAL(11, fake.got[0].frame.data[11]);
	TEST_ASSERT_EQUAL(3, drv_lib_last()->common.frames_odd);
}

TEST(it_is_listed)
{
	TEST_ASSERT_EQUAL_MESSAGE(0, run(", data_bitrate: 5000000", " --frames"), drv_lib.said);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(drv_lib.printed,
					    "\"id\":\"205\",\"ext\":false,\"rtr\":false,\"fd\":true,\"brs\":true,"
					    "\"dir\":\"tx\",\"len\":24,\"class\":\"latest\",\"moves\":false,"
					    "\"shared\":false,\"key\":\"" ZEROS ZEROS ZEROS "\","),
				     drv_lib.printed);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(drv_lib.printed,
					    "\"id\":\"185\",\"ext\":false,\"rtr\":false,\"fd\":true,\"brs\":false,"
					    "\"dir\":\"rx\",\"len\":64,"),
				     drv_lib.printed);
	receives.any_len = true;
	receives.len_max = 0;
	TEST_ASSERT_EQUAL_MESSAGE(0, run(", data_bitrate: 5000000", " --frames"), drv_lib.said);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(drv_lib.printed, "\"dir\":\"rx\",\"len\":64,"), drv_lib.printed);
}

static void refused(const char *line)
{
	TEST_ASSERT_EQUAL(100, run("", ""));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(drv_lib.said, line), drv_lib.said);
}

TEST(a_classic_bus_is_refused)
{
	refused("frame 205 is a CAN FD frame, but bus lab is classic CAN: give it a data_bitrate");
	sends.flags = 0;
	sends.len = 8;
	refused("frame 185 is a CAN FD frame, but bus lab is classic CAN: give it a data_bitrate");
}

TEST(invalid_flags_are_refused)
{
	sends.flags = FRAME_BRS;
	refused("frame 205: its flags are not FRAME_FD, with or without FRAME_BRS");
	sends.flags = FRAME_FD | FRAME_ESI;
	refused("frame 205: its flags are not FRAME_FD, with or without FRAME_BRS");
}

static int64_t longest_ns;
DRV_LIB_HOOK(note_longest, longest_ns = fake.drv->buses[0].slots.options.longest_ns);

/* A long frame is not taken for a stall. */
TEST(the_longest_frame_counts)
{
	const struct bits_rates rates = { 500000, 2000000 };

	drv_lib_at(3, note_longest);
	sends.len = 64;
	TEST_ASSERT_EQUAL_MESSAGE(0, run(", bitrate: 500000, data_bitrate: 2000000", ""), drv_lib.said);
	TEST_ASSERT_EQUAL_INT64(bits_frame_ns(&rates, 0x205, 64, FD, true), longest_ns);
	TEST_ASSERT_TRUE(longest_ns > 300000);
}

/* ---- questions ---- */

/* The byte that is repeated is not one of the first eight. */
static const struct drv_question far_question = {
	.send = 2, .receive = 2, .echo = { { 20, 9, 0xFF } }, .late_ns = 12 * DRV_LIB_MS, .lost_ns = 40 * DRV_LIB_MS
};
static struct drv_ask_answer asked;
static unsigned int answers, unanswered;
static uint8_t answered;

static int add_far_question(struct drv *drv, struct error_sink *errors)
{
	const struct drv_question near = { .send = 3,
					   .receive = 2,
					   .echo = { { 1, 1, 0x0F }, { 11, 11, 0xF0 } },
					   .late_ns = DRV_LIB_MS,
					   .lost_ns = DRV_LIB_MS };
	struct drv_send other;

	sends.row.class = SLOTS_QUEUE;
	sends.row.key[0] = 0xFF;
	sends.row.period_ns = 0;
	sends.row.deadline_ns = 20 * DRV_LIB_MS;
	other = sends;
	other.row.id = 0x206;
	other.len = 12;
	return add_fd(drv, errors) || drv_add_send(drv, &other, errors) != 3 ||
			       drv_add_question(drv, &far_question, errors) != 0 ||
			       drv_add_question(drv, &near, errors) != 1
		       ? -EINVAL
		       : 0;
}

static bool note_answer(void *self, struct drv *drv, const struct drv_ask_answer *got, const struct bus_frame *reply)
{
	(void)self;
	(void)drv;
	asked = *got;
	answers += !!reply;
	unanswered += !reply;
	if (reply)
		answered = reply->frame.data[10];
	return false;
}

static void ask_far(void)
{
	struct frame request = frame_of(24, FD);

	request.data[20] = 0x5A;
	TEST_ASSERT_EQUAL(0, drv_ask(fake.drv, 0, &request, 7));
	TEST_ASSERT_EQUAL(-EBUSY, drv_ask(fake.drv, 0, &request, 7));
	request.data[20] = 0x5B; /* another one */
	TEST_ASSERT_EQUAL(0, drv_ask(fake.drv, 0, &request, 8));
	request.len = 20; /* too short */
	TEST_ASSERT_EQUAL(-EINVAL, drv_ask(fake.drv, 0, &request, 9));
}

TEST(requests_are_told_apart_by_any_byte)
{
	answers = unanswered = 0;
	drv_lib_at(3, ask_far);
	drv_lib_frame(12, "185##1000000000000000000015100");
	drv_lib_frame(13, "185##10000000000000000005A2200");
	drv_lib_driver.answer = note_answer;
	TEST_ASSERT_EQUAL_MESSAGE(0, run_with(add_far_question, ", data_bitrate: 5000000", ""), drv_lib.said);
	TEST_ASSERT_EQUAL(1, answers);
	TEST_ASSERT_EQUAL(0x22, answered);
	TEST_ASSERT_EQUAL(1, unanswered); /* the other one */
	TEST_ASSERT_EQUAL(8, asked.tag);
	TEST_ASSERT_EQUAL(24, asked.request.len);
	TEST_ASSERT_EQUAL(0x5B, asked.request.data[20]);
	TEST_ASSERT_EQUAL(1, fake.got_n);
	TEST_ASSERT_EQUAL(2, fake.sent_n);
}

TEST(the_key_of_a_long_request_is_listed)
{
	TEST_ASSERT_EQUAL_MESSAGE(0, run_with(add_far_question, ", data_bitrate: 5000000", " --frames"), drv_lib.said);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(drv_lib.printed, "\"key\":\"FF00000000000000" ZEROS "00000000FF000000\","),
				     drv_lib.printed);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(drv_lib.printed, "\"reply\":{\"id\":\"185\",\"mask\":null,\"key\":\"\","),
				     drv_lib.printed);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(drv_lib.printed, "\"key\":\"FF0F000000000000000000F0\","), drv_lib.printed);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(drv_lib.printed, "\"mask\":null,\"key\":\"000F000000000000000000F0\","),
				     drv_lib.printed);
}

/* Of a driver that keeps its own books; more than a frame has is all of it. */
TEST(repeated_bytes_of_long_frames_are_listed)
{
	char key[2 * FRAME_DATA_MAX_FD + 1], part[256];

	sends.answered = true;
	sends.reply_id = 0x185;
	sends.reply_bytes = 255;
	memset(key, 'F', sizeof(key) - 1);
	key[sizeof(key) - 1] = 0;
	snprintf(part, sizeof(part), "\"mask\":null,\"key\":\"%s\",", key);
	TEST_ASSERT_EQUAL_MESSAGE(0, run(", data_bitrate: 5000000", " --frames"), drv_lib.said);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(drv_lib.printed, part), drv_lib.printed);
}

static int64_t awaited_ns;

static void await_long(void)
{
	drv_await(fake.drv, 0, 4, 64);
	awaited_ns = fake.drv->buses[0].awaited_ns;
}

/* A rest must not last beyond the first answers. */
TEST(long_answers_are_awaited_at_the_data_bit_rate)
{
	const struct bits_rates rates = { 500000, 2000000 };

	drv_lib_at(3, await_long);
	TEST_ASSERT_EQUAL_MESSAGE(0, run(", bitrate: 500000, data_bitrate: 2000000", ""), drv_lib.said);
	TEST_ASSERT_EQUAL_INT64(bits_frame_ns(&rates, 0, 64, FD, false), awaited_ns);
}
