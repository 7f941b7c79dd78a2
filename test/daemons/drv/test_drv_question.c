/* test_drv_question.c: a driver asks, and the loop brings the answer, asks again, or says that there is none. */
#include "channels/clock/clock.h"
#include "daemons/drv/drv_inside.h"
#include "test/daemons/drv/test_drv_lib.h"
#include "test/lib/testcase.h"

#define REPLY 1 /* the row of 182 */

/* What answer was called with. */
static struct answers {
	struct drv_ask_answer answer;
	struct bus_frame reply;
	bool unanswered;
	int64_t ns;
} answers[16];
static unsigned int answers_n;
static bool answer_completes;
static unsigned int asks_in_answer;
static struct drv_question question;

void setUp(void)
{
	drv_lib_begin();
	memset(answers, 0, sizeof(answers));
	answers_n = asks_in_answer = 0;
	answer_completes = false;
	question = (struct drv_question){
		.send = FAKE_QUEUE,
		.receive = REPLY,
		.echo = { { 0, 0, 0xFF }, { 1, 1, 0xFF } },
		.late_ns = 12 * DRV_LIB_MS,
		.lost_ns = 40 * DRV_LIB_MS,
	};
}

void tearDown(void)
{
	drv_lib_end();
}

static const struct frame first = { .id = 0x202, .len = 3, .data = { 0x0A, 0x3C, 7 } };
static const struct frame second = { .id = 0x202, .len = 2, .data = { 0x0A, 0x3D } };

static bool answer(void *self, struct drv *drv, const struct drv_ask_answer *got, const struct bus_frame *reply)
{
	struct answers *t = &answers[answers_n++];

	(void)self;
	TEST_ASSERT(answers_n < 16);
	t->answer = *got;
	t->unanswered = !reply;
	if (reply)
		t->reply = *reply;
	t->ns = clock_now_ns();
	if (asks_in_answer) {
		asks_in_answer--;
		TEST_ASSERT_EQUAL(0, drv_ask(drv, 0, &second, 99));
	}
	return answer_completes;
}

static int add_question(struct drv *drv, struct error_sink *errors)
{
	return drv_add_question(drv, &question, errors) == 0 ? 0 : -1;
}

static void ask_first(void)
{
	TEST_ASSERT_EQUAL(0, drv_ask(fake.drv, 0, &first, 41));
	TEST_ASSERT_EQUAL(-EBUSY, drv_ask(fake.drv, 0, &first, 42));
}

DRV_LIB_HOOK(ask_second, TEST_ASSERT_EQUAL(0, drv_ask(fake.drv, 0, &second, 43)));

static void asks(unsigned int tick, void (*what)(void))
{
	fake.declare = add_question;
	drv_lib_driver.answer = answer;
	drv_lib_at(tick, what);
}

static double after_ms(int64_t t_ns)
{
	return (double)(t_ns - DRV_LIB_START_NS) / DRV_LIB_MS;
}

/* ---- answers ---- */

TEST(the_answer_goes_to_answer_and_everything_else_to_rx)
{
	asks(3, ask_first);
	drv_lib_frame(11, "182#0A3D01"); /* of no request */
	drv_lib_frame(12, "182#0A3C05");
	drv_lib_frame(13, "182#0A3C06"); /* twice */
	TEST_ASSERT_EQUAL(0, drv_lib_run(30, ""));
	TEST_ASSERT_EQUAL(1, answers_n);
	TEST_ASSERT_FALSE(answers[0].unanswered);
	TEST_ASSERT_EQUAL(41, answers[0].answer.tag);
	TEST_ASSERT_EQUAL(0, answers[0].answer.question);
	TEST_ASSERT_TRUE(frame_equal(&first, &answers[0].answer.request));
	TEST_ASSERT_EQUAL(fake.ticks[2].ns, answers[0].answer.asked_ns);
	TEST_ASSERT_EQUAL(5, answers[0].reply.frame.data[2]);
	TEST_ASSERT_EQUAL_DOUBLE(12, after_ms(answers[0].reply.t_ns));
	TEST_ASSERT_EQUAL(2, fake.got_n);
	TEST_ASSERT_EQUAL(1, fake.got[0].frame.data[2]);
	TEST_ASSERT_EQUAL(6, fake.got[1].frame.data[2]);
	TEST_ASSERT_EQUAL(1, fake.sent_n); /* and the driver gets it as of any frame */
}

TEST(several_are_under_way)
{
	asks(3, ask_first);
	drv_lib_at(3, ask_second);
	drv_lib_frame(12, "182#0A3D01");
	drv_lib_frame(13, "182#0A3C02");
	TEST_ASSERT_EQUAL(0, drv_lib_run(30, ""));
	TEST_ASSERT_EQUAL(2, answers_n);
	TEST_ASSERT_EQUAL(43, answers[0].answer.tag);
	TEST_ASSERT_EQUAL(41, answers[1].answer.tag);
	TEST_ASSERT_EQUAL(0, fake.got_n);
}

static unsigned int awaited[8];

DRV_LIB_HOOK(await, drv_await(fake.drv, 0, 4, 6));
DRV_LIB_HOOK(note_awaited, awaited[3] = fake.drv->buses[0].awaited);

static bool note_answer(void *self, struct drv *drv, const struct drv_ask_answer *got, const struct bus_frame *reply)
{
	awaited[answers_n] = drv->buses[0].awaited;
	return answer(self, drv, got, reply);
}

/* The loop itself ends what is left of it with the tick. */
TEST(answers_that_are_awaited_are_counted)
{
	asks(3, ask_first);
	drv_lib_driver.answer = note_answer;
	drv_lib_at(3, ask_second);
	drv_lib_at(3, await);
	drv_lib_frame(12, "182#0A3D01");
	drv_lib_frame(13, "182#0A3C02");
	drv_lib_at(4, note_awaited);
	memset(awaited, 0xFF, sizeof(awaited));
	TEST_ASSERT_EQUAL(0, drv_lib_run(30, ""));
	TEST_ASSERT_EQUAL(2, answers_n);
	TEST_ASSERT_EQUAL(3, awaited[0]);
	TEST_ASSERT_EQUAL(2, awaited[1]);
	TEST_ASSERT_EQUAL(0, awaited[3]);
	TEST_ASSERT_EQUAL_DOUBLE(12, after_ms(answers[0].ns)); /* a log's frames are not slept through */
}

TEST(an_answer_can_complete_the_sample)
{
	fake.completes = false;
	answer_completes = true;
	asks(3, ask_first);
	drv_lib_frame(12, "182#0A3C05");
	TEST_ASSERT_EQUAL(0, drv_lib_run(30, ""));
	TEST_ASSERT_EQUAL(MSG_FLAG_PARTIAL, drv_lib.states[1].header.flags & MSG_FLAG_PARTIAL);
	TEST_ASSERT_EQUAL(0, drv_lib.states[2].header.flags & MSG_FLAG_PARTIAL);
	TEST_ASSERT_EQUAL_DOUBLE(12, after_ms(drv_lib.states[2].header.t_publish_ns));
}

TEST(the_next_one_is_asked_in_answer)
{
	asks_in_answer = 1;
	asks(3, ask_first);
	drv_lib_frame(12, "182#0A3C05");
	drv_lib_frame(13, "182#0A3D05");
	TEST_ASSERT_EQUAL(0, drv_lib_run(30, ""));
	TEST_ASSERT_EQUAL(2, answers_n);
	TEST_ASSERT_EQUAL(99, answers[1].answer.tag);
	TEST_ASSERT_EQUAL_DOUBLE(12, after_ms(answers[1].answer.asked_ns)); /* it left at once, between ticks */
}

/* ---- none ---- */

/* With ticks of 100 ms, so that none of it happens at one. */
TEST(between_ticks_it_is_asked_again)
{
	question.tries = 3;
	asks(2, ask_first);
	drv_lib_frame(125, "182#0A3C05");
	TEST_ASSERT_EQUAL(0, drv_lib_run(210, "--set tick=100ms"));
	TEST_ASSERT_EQUAL(1, answers_n);
	TEST_ASSERT_FALSE(answers[0].unanswered);
	TEST_ASSERT_EQUAL(3, answers[0].answer.tries);
	TEST_ASSERT_EQUAL(3, fake.sent_n);
}

TEST(no_answer_is_reported_once_and_a_late_reply_dropped)
{
	question.tries = 2;
	asks(2, ask_first);
	drv_lib_frame(130, "182#0A3C05");
	drv_lib_frame(131, "182#0A3C05");
	drv_lib_frame(132, "182#0A3C05"); /* that is one more than was asked for */
	TEST_ASSERT_EQUAL(0, drv_lib_run(210, "--set tick=100ms"));
	TEST_ASSERT_EQUAL(1, answers_n);
	TEST_ASSERT_TRUE(answers[0].unanswered);
	TEST_ASSERT_EQUAL(41, answers[0].answer.tag);
	TEST_ASSERT_DOUBLE_WITHIN(0.1, 124, after_ms(answers[0].ns));
	TEST_ASSERT_EQUAL(1, fake.got_n);
}

/* Its bus is not there: it is never sent, and expires after 20 ms. */
TEST(a_request_that_expires_is_unanswered_and_owes_nothing)
{
	question.late_ns = 1000 * (int64_t)DRV_LIB_MS;
	question.lost_ns = 5000 * (int64_t)DRV_LIB_MS;
	asks(2, ask_first);
	drv_lib_at(10, ask_first); /* it may */
	drv_lib_at(30, drv_lib_stop);
	TEST_ASSERT_EQUAL(0, drv_lib_main("--name arm --bus wire:nowhere --set lock_memory=no"));
	TEST_ASSERT_EQUAL(2, answers_n);
	TEST_ASSERT_TRUE(answers[0].unanswered);
	TEST_ASSERT_DOUBLE_WITHIN(5, 5 + 20, after_ms(answers[0].ns));
	TEST_ASSERT_EQUAL(2, fake.lost_n);
}

static int add_question_of_a_row_that_moves(struct drv *drv, struct error_sink *errors)
{
	static const struct drv_send moving = {
		.row = { .id = 0x203, .class = SLOTS_LATEST, .period_ns = DRV_LIB_TICK_NS },
		.len = 2,
		.moves = true,
	};

	question.send = (unsigned int)drv_add_send(drv, &moving, errors);
	return drv_add_question(drv, &question, errors);
}

static void ask_to_move(void)
{
	const struct frame move = { .id = 0x203, .len = 2, .data = { 0x0B, 4 } };

	TEST_ASSERT_EQUAL(fake.ticks_n == 2 ? -EPERM : 0, drv_ask(fake.drv, 0, &move, 41));
}

/* What drv_send refuses is not asked; what it refuses later is a try that was not sent. */
TEST(a_row_that_moves_is_asked_while_it_may)
{
	question.tries = 5;
	asks(2, ask_to_move);
	fake.declare = add_question_of_a_row_that_moves;
	fake.sends = true; /* so that the bus is proven */
	drv_lib_at(2, drv_lib_arm);
	drv_lib_at(5, ask_to_move);
	drv_lib_at(6, drv_lib_estop);
	TEST_ASSERT_EQUAL(0, drv_lib_run(110, ""));
	TEST_ASSERT_EQUAL(1, answers_n);
	TEST_ASSERT_TRUE(answers[0].unanswered);
	TEST_ASSERT_EQUAL(5, answers[0].answer.tries);
	TEST_ASSERT_DOUBLE_WITHIN(0.1, 20 + 5 * 12, after_ms(answers[0].ns));
	TEST_ASSERT_EQUAL(1 + 4, drv_lib_last()->common.frames_withheld);
}

static void ask_to_stop(void)
{
	const struct frame move = { .id = 0x203, .len = 2, .data = { 0x0B, 4 } };

	TEST_ASSERT_EQUAL(0, drv_ask_stop(fake.drv, 0, &move, 41));
	TEST_ASSERT_EQUAL(-EBUSY, drv_ask_stop(fake.drv, 0, &move, 42));
}

/* As drv_send_stop: also while nothing may move. */
TEST(a_stop_is_asked_whatever_the_level_is)
{
	asks(2, ask_to_stop);
	fake.declare = add_question_of_a_row_that_moves;
	drv_lib_frame(12, "182#0B0405");
	TEST_ASSERT_EQUAL(0, drv_lib_run(60, ""));
	TEST_ASSERT_EQUAL(1, answers_n);
	TEST_ASSERT_FALSE(answers[0].unanswered);
	TEST_ASSERT_EQUAL(41, answers[0].answer.tag);
	TEST_ASSERT_EQUAL(0, drv_lib_last()->common.frames_withheld);
}

TEST(a_driver_may_have_neither_answer_nor_rx)
{
	asks(3, ask_first);
	drv_lib_driver.answer = NULL;
	drv_lib_driver.rx = NULL;
	drv_lib_frame(12, "182#0A3C05");
	drv_lib_frame(13, "182#0A3C05");
	drv_lib_at(4, ask_first);
	TEST_ASSERT_EQUAL(0, drv_lib_run(60, ""));
	TEST_ASSERT_EQUAL(0, answers_n);
}

static void send_first(void)
{
	TEST_ASSERT_EQUAL(0, drv_send(fake.drv, FAKE_QUEUE, &first));
}

static void may_not_ask_first(void)
{
	TEST_ASSERT_EQUAL(-EBUSY, drv_ask(fake.drv, 0, &first, 41));
	TEST_ASSERT_EQUAL(0, drv_ask(fake.drv, 0, &second, 43));
}

/* Once it was on the wire its reply will come. */
TEST(the_reply_to_a_request_that_was_only_sent_is_owed)
{
	asks(2, send_first);
	drv_lib_at(3, may_not_ask_first);
	drv_lib_frame(12, "182#0A3C05");
	drv_lib_at(4, ask_first);
	TEST_ASSERT_EQUAL(0, drv_lib_run(21, ""));
	TEST_ASSERT_EQUAL(0, answers_n + fake.got_n);
}

/* ---- declaring ---- */

TEST(frames_lists_the_reply)
{
	static const struct {
		struct drv_ask_echo echo[DRV_ASK_ECHOES_MAX];
		const char *key;
	} cases[] = {
		{ { { 0 } }, "" },
		{ { { 0, 0, 0xFF } }, "FF" },
		{ { { 0, 0, 0xFF }, { 1, 1, 0xFF }, { 2, 2, 0xFF } }, "FFFFFF" },
		{ { { 0, 0, 0xFF }, { 1, 1, 0x7F } }, "FF7F" },
		{ { { 1, 1, 0xFF }, { 2, 2, 0xFF }, { 3, 3, 0xFF } }, "00FFFFFF" },
		{ { { 0, 0, 0xFF }, { 1, 2, 0xFF } }, "FF" },
		{ { { 0, 0, 0xFF }, { 2, 1, 0xFF } }, "FF" },
		{ { { 0, 0, 255 },
		    { 1, 1, 255 },
		    { 2, 2, 255 },
		    { 3, 3, 255 },
		    { 4, 4, 255 },
		    { 5, 5, 255 },
		    { 6, 6, 255 },
		    { 7, 7, 255 } },
		  "FFFFFFFFFFFFFFFF" },
	};
	char reply[128];

	fake.declare = add_question;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		memcpy(question.echo, cases[i].echo, sizeof(question.echo));
		TEST_ASSERT_EQUAL(0, drv_lib_main("--name arm --bus left=wire:a --frames"));
		snprintf(reply, sizeof(reply),
			 "\"reply\":{\"id\":\"182\",\"mask\":null,\"key\":\"%s\",\"frames\":1,\"within_us\":40000}",
			 cases[i].key);
		TEST_ASSERT_NOT_NULL_MESSAGE(strstr(drv_lib.printed, reply), drv_lib.printed);
	}
}

static const char rows_missing[] = "a question needs a row to send and a row to receive, on the same bus";
static const char times_missing[] = "a question needs late_ns, lost_ns that is not less, and a row to send of its own";
static const struct wrong {
	unsigned int send, receive;
	int64_t late_ns, lost_ns;
	const char *why;
} wrongs[] = {
	{ 2, REPLY, 1, 1, rows_missing },
	{ FAKE_QUEUE, 3, 1, 1, rows_missing },
	{ FAKE_QUEUE, 4, 1, 1, rows_missing }, /* no other row of its bus is one of replies */
	{ FAKE_QUEUE, 2, 1, 1, rows_missing }, /* of the other bus */
	{ FAKE_QUEUE, REPLY, 0, 1, times_missing },
	{ FAKE_QUEUE, REPLY, 2, 1, times_missing },
	{ FAKE_LATEST, REPLY, 1, 1, times_missing }, /* it has a question */
};

static int add_wrong_questions(struct drv *drv, struct error_sink *errors)
{
	static const struct drv_receive other = { .bus = 1, .id = 0x183, .any_len = true };

	TEST_ASSERT_EQUAL(2, drv_add_receive(drv, &other, errors));
	TEST_ASSERT_EQUAL(3, drv_monitor(drv, 0));
	question.send = FAKE_LATEST;
	TEST_ASSERT_EQUAL(0, drv_add_question(drv, &question, errors));
	for (size_t i = 0; i < sizeof(wrongs) / sizeof(*wrongs); i++) {
		const struct drv_question q = { .send = wrongs[i].send,
						.receive = wrongs[i].receive,
						.late_ns = wrongs[i].late_ns,
						.lost_ns = wrongs[i].lost_ns };

		TEST_ASSERT_EQUAL(-EINVAL, drv_add_question(drv, &q, errors));
		TEST_ASSERT_EQUAL(i + 1, errors->count);
	}
	return 0;
}

TEST(each_wrong_question_is_refused)
{
	const char *at = drv_lib.said;

	fake.declare = add_wrong_questions;
	TEST_ASSERT_EQUAL(100, drv_lib_main("--name arm --bus left=wire:a --bus right=wire:b --check"));
	for (size_t i = 0; i < sizeof(wrongs) / sizeof(*wrongs); i++) {
		at = strstr(at, wrongs[i].why);
		TEST_ASSERT_NOT_NULL_MESSAGE(at, drv_lib.said);
		at++;
	}
}

static int fill_questions(struct drv *drv, struct error_sink *errors)
{
	drv->asks.questions_n = DRV_ASK_QUESTIONS_MAX;
	TEST_ASSERT_EQUAL(-ENOSPC, drv_add_question(drv, &question, errors));
	return -1;
}

TEST(there_are_so_many_at_most)
{
	fake.declare = fill_questions;
	TEST_ASSERT_EQUAL(100, drv_lib_main("--name arm --bus left=wire:a --check"));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(drv_lib.said, "more than 512 questions"), drv_lib.said);
}
