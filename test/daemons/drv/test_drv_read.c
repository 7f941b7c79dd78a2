/* test_drv_read.c: what the loop makes of its channels: e-stop, requests, references, clock, and of their loss.
 * Also for drv_wake.c. */
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "channels/ach/ach.h"
#include "channels/ach/ach_ring.h"
#include "channels/clock/clock.h"
#include "daemons/drv/drv_inside.h"
#include "test/daemons/drv/test_drv_lib.h"
#include "test/lib/estop_talk.h"
#include "test/lib/testcase.h"

void setUp(void)
{
	drv_lib_begin();
}

void tearDown(void)
{
	drv_lib_end();
}

#define STATE(i) (&drv_lib.states[i])
#define LEVEL(tick) (fake.ticks[(tick)-1].orders.level)
#define LIFE(tick) (fake.ticks[(tick)-1].orders.life)
#define US(ns) ((ns) / 1000)

static void armed_from_the_second_tick(void)
{
	drv_lib_at(1, drv_lib_arm);
}

/* ---- the e-stop ---- */

TEST(estop_until_armed)
{
	TEST_ASSERT_EQUAL(0, drv_lib_run(30, ""));
	for (unsigned int tick = 1; tick <= fake.ticks_n; tick++)
		TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, LEVEL(tick));
	TEST_ASSERT_EQUAL(0, drv_lib_last()->common.epoch);
}

DRV_LIB_HOOK(raise_other, drv_lib_raise(1, MSG_LEVEL_ESTOP));

TEST(one_channel_is_enough_to_stop)
{
	armed_from_the_second_tick();
	drv_lib_at(4, raise_other);
	TEST_ASSERT_EQUAL(0, drv_lib_run(30, ""));
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, LEVEL(4));
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, LEVEL(5));
	TEST_ASSERT_EQUAL(MSG_LIFE_DISARMED, LIFE(5));
	TEST_ASSERT_EQUAL_STRING("level estop, epoch 1, test: to see what happens", drv_lib_event("level-estop")->text);
}

/* Not at the next tick, which is a second away, and the state says so at once. */
TEST(a_driver_with_long_ticks_obeys_within_20_ms)
{
	drv_lib_at(1, drv_lib_arm);
	drv_lib_at(2, drv_lib_estop);
	TEST_ASSERT_EQUAL(0, drv_lib_run(900, "--set tick=1s"));
	TEST_ASSERT_EQUAL(3, fake.ticks_n);
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, LEVEL(2));
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, LEVEL(3));
	for (unsigned int i = 1; i < 3; i++)
		TEST_ASSERT_TRUE(fake.ticks[i].ns - fake.ticks[i - 1].ns <= 20 * DRV_LIB_MS);
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, drv_lib_last()->common.level);
	TEST_ASSERT_TRUE(drv_lib_last()->header.t_publish_ns - fake.ticks[2].ns < DRV_LIB_MS);
}

/* The robot's clock, if there is a level to obey, must not send a frame more. */
TEST(a_driver_that_moves_nothing_keeps_its_pace)
{
	drv_lib_driver.ref = 0;
	drv_lib_at(1, drv_lib_arm);
	drv_lib_at(2, drv_lib_estop);
	TEST_ASSERT_EQUAL(0, drv_lib_run(350, "--set tick=100ms"));
	TEST_ASSERT_EQUAL(4, fake.ticks_n);
	for (unsigned int i = 1; i < 4; i++)
		TEST_ASSERT_EQUAL(100 * DRV_LIB_MS, fake.ticks[i].ns - fake.ticks[i - 1].ns);
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, LEVEL(2));
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, LEVEL(3));
}

static void raise_and_lower(void)
{
	drv_lib_estop();
	drv_lib_arm();
}

TEST(raised_and_lowered_between_two_ticks_is_obeyed_for_one)
{
	armed_from_the_second_tick();
	drv_lib_at(4, raise_and_lower);
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, ""));
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, LEVEL(4));
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, LEVEL(5));
	TEST_ASSERT_EQUAL(MSG_LIFE_DISARMED, LIFE(5));
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, LEVEL(6));
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, LIFE(6));
	TEST_ASSERT_EQUAL(2, STATE(5)->common.epoch);
}

DRV_LIB_HOOK(remove_estop, drv_lib_remove("estop"));

TEST(removed_is_estop_and_the_new_one_can_arm)
{
	armed_from_the_second_tick();
	drv_lib_at(4, remove_estop);
	drv_lib_at(6, estop_talk_mend);
	drv_lib_at(12, drv_lib_arm);
	TEST_ASSERT_EQUAL(0, drv_lib_run(80, ""));
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, LEVEL(4));
	for (unsigned int tick = 5; tick <= 12; tick++)
		TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, LEVEL(tick));
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, LEVEL(13));
	TEST_ASSERT_EQUAL(2, drv_lib_last()->common.epoch);
}

DRV_LIB_HOOK(scribble_estop, drv_lib_scribble("estop"));

TEST(a_corrupt_channel_is_estop_until_replaced)
{
	armed_from_the_second_tick();
	drv_lib_at(10, scribble_estop);
	drv_lib_at(15, drv_lib_arm); /* which replaces it; the driver reads the lowering together with the trouble */
	drv_lib_at(25, drv_lib_arm);
	TEST_ASSERT_EQUAL(0, drv_lib_run(150, ""));
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, LEVEL(10));
	for (unsigned int tick = 11; tick <= 25; tick++)
		TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, LEVEL(tick));
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, LEVEL(26));
	TEST_ASSERT_EQUAL_STRING("level estop, epoch 1: estop cannot be read", drv_lib_event("level-estop")->text);
	TEST_ASSERT_EQUAL(MSG_SEVERITY_WARNING, drv_lib_event("level-estop")->severity);
}

static void put_other_message(void)
{
	char nonsense[20] = "nonsense";

	drv_lib_put("estop", nonsense, sizeof(nonsense));
}

TEST(an_invalid_message_is_estop)
{
	unsigned int times = 0; /* it is reported */

	armed_from_the_second_tick();
	drv_lib_at(4, put_other_message);
	drv_lib_at(7, drv_lib_arm);
	TEST_ASSERT_EQUAL(0, drv_lib_run(60, ""));
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, LEVEL(4));
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, LEVEL(5));
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, LEVEL(9));
	for (unsigned int i = 0; i < drv_lib.events_n; i++)
		if (!strcmp(drv_lib.events[i].code, "estop-invalid"))
			times += 1 + drv_lib.events[i].repeated;
	TEST_ASSERT_EQUAL_UINT(1, times);
}

/* ---- requests ---- */

DRV_LIB_HOOK(home, drv_lib_request(1, MSG_VERB_HOME, "", ""));
DRV_LIB_HOOK(reset, drv_lib_request(2, MSG_VERB_RESET, "joint", "all of them"));
DRV_LIB_HOOK(activate, drv_lib_request(2, MSG_VERB_ACTIVATE, "", ""));

TEST(a_request_is_done_and_answered_once)
{
	fake.why = "done so";
	drv_lib_at(3, reset);
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, ""));
	TEST_ASSERT_EQUAL(1, fake.requests_n);
	TEST_ASSERT_EQUAL(MSG_VERB_RESET, fake.requests[0].verb);
	TEST_ASSERT_EQUAL_STRING("joint", fake.requests[0].key);
	TEST_ASSERT_EQUAL_STRING("all of them", fake.requests[0].value);
	TEST_ASSERT_EQUAL(1, drv_lib.replies_n);
	TEST_ASSERT_EQUAL(2, drv_lib.replies[0].id);
	TEST_ASSERT_EQUAL(77, drv_lib.replies[0].client_pid);
	TEST_ASSERT_EQUAL(0, drv_lib.replies[0].result);
	TEST_ASSERT_EQUAL_STRING("", drv_lib.replies[0].error);
	TEST_ASSERT_EQUAL_STRING("done so", drv_lib.replies[0].value);
	TEST_ASSERT_EQUAL(1, drv_lib.replies[0].header.incarnation);
	TEST_ASSERT_EQUAL(fake.ticks[3].ns, drv_lib.replies[0].header.t_publish_ns);
	TEST_ASSERT_EQUAL(fake.ticks[3].ns, drv_lib.replies[0].header.t_sample_ns);
	TEST_ASSERT_FALSE(drv_lib_reported("requests-lost"));
}

TEST(a_repeated_one_is_answered_again_and_not_done_again)
{
	drv_lib_at(3, reset);
	drv_lib_at(5, reset);
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, ""));
	TEST_ASSERT_EQUAL(1, fake.requests_n);
	TEST_ASSERT_EQUAL(2, drv_lib_answers(2));
	TEST_ASSERT_EQUAL(2, drv_lib.replies_n);
	TEST_ASSERT_EQUAL(fake.ticks[5].ns, drv_lib.replies[1].header.t_publish_ns);
	TEST_ASSERT_EQUAL(fake.ticks[5].ns, drv_lib.replies[1].header.t_sample_ns);
	TEST_ASSERT_EQUAL(1, drv_lib.replies[1].header.incarnation);
}

TEST(refused_with_the_reason_in_words)
{
	fake.answer = -EIO;
	fake.why = "it smokes";
	drv_lib_at(3, reset);
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, ""));
	TEST_ASSERT_EQUAL(-EIO, drv_lib_answer(2)->result);
	TEST_ASSERT_EQUAL_STRING("it smokes", drv_lib_answer(2)->error);
	TEST_ASSERT_EQUAL_STRING("", drv_lib_answer(2)->value);
}

TEST(motion_is_refused_unless_armed)
{
	drv_lib_at(3, home);
	drv_lib_at(4, activate);
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, ""));
	TEST_ASSERT_EQUAL(0, fake.requests_n);
	TEST_ASSERT_EQUAL(-EPERM, drv_lib_answer(1)->result);
	TEST_ASSERT_EQUAL_STRING("not armed: nothing moves at level estop", drv_lib_answer(1)->error);
	TEST_ASSERT_EQUAL(-EPERM, drv_lib_answer(2)->result);
}

TEST(motion_is_refused_at_hold)
{
	armed_from_the_second_tick();
	drv_lib_at(3, drv_lib_hold);
	drv_lib_at(3, home);
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, ""));
	TEST_ASSERT_EQUAL(0, fake.requests_n);
	TEST_ASSERT_EQUAL_STRING("not armed: nothing moves at level hold", drv_lib_answer(1)->error);
}

TEST(motion_is_refused_while_starting)
{
	fake.starts_wanted = 20;
	armed_from_the_second_tick();
	drv_lib_at(3, home);
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, ""));
	TEST_ASSERT_EQUAL(0, fake.requests_n);
	TEST_ASSERT_EQUAL(-EPERM, drv_lib_answer(1)->result);
	TEST_ASSERT_EQUAL_STRING("not ready: the device is starting", drv_lib_answer(1)->error);
}

DRV_LIB_HOOK(break_down, drv_fault(fake.drv, DRV_ALL, "gone", "it is gone"));

TEST(motion_is_refused_when_it_did_not_start_for_a_fault)
{
	fake.starts_wanted = 20;
	armed_from_the_second_tick();
	drv_lib_at(2, break_down);
	drv_lib_at(3, home);
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, ""));
	TEST_ASSERT_EQUAL_STRING("not ready: the device is in fault", drv_lib_answer(1)->error);
}

TEST(motion_is_done_when_armed)
{
	armed_from_the_second_tick();
	drv_lib_at(3, home);
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, ""));
	TEST_ASSERT_EQUAL(1, fake.requests_n);
	TEST_ASSERT_EQUAL(0, drv_lib_answer(1)->result);
}

DRV_LIB_HOOK(reply_now, drv_reply(fake.drv, fake.handles[0], 0, "home after %d s", 3));
DRV_LIB_HOOK(home_again, drv_lib_request(3, MSG_VERB_HOME, "", ""));

TEST(some_answers_come_later_and_once)
{
	fake.answer = DRV_LATER;
	armed_from_the_second_tick();
	drv_lib_at(3, home);
	drv_lib_at(5, home);	   /* the same: under way */
	drv_lib_at(5, home_again); /* another one */
	drv_lib_at(6, reset);	   /* and a request that takes time */
	drv_lib_at(8, reply_now);
	drv_lib_at(9, reply_now);
	TEST_ASSERT_EQUAL(0, drv_lib_run(60, ""));
	TEST_ASSERT_EQUAL(1, fake.requests_n); /* the others were refused before the driver began */
	TEST_ASSERT_EQUAL(1, drv_lib_answers(1));
	TEST_ASSERT_EQUAL(0, drv_lib_answer(1)->result);
	TEST_ASSERT_EQUAL_STRING("home after 3 s", drv_lib_answer(1)->value);
	TEST_ASSERT_EQUAL_STRING("", drv_lib_answer(1)->error);
	TEST_ASSERT_EQUAL(fake.ticks[7].ns, drv_lib_answer(1)->header.t_publish_ns);
	TEST_ASSERT_EQUAL(-EBUSY, drv_lib_answer(3)->result);
	TEST_ASSERT_EQUAL_STRING("another motion is under way", drv_lib_answer(3)->error);
	TEST_ASSERT_EQUAL(-EBUSY, drv_lib_answer(2)->result);
	TEST_ASSERT_EQUAL_STRING("another request is under way", drv_lib_answer(2)->error);
}

DRV_LIB_HOOK(reply_failed, drv_reply(fake.drv, fake.handles[0], -ETIMEDOUT, "it did not get there"));

static void bias_twice(void)
{
	drv_lib_request(4, MSG_VERB_BIAS, "x", "");
	drv_lib_request(5, MSG_VERB_BIAS, "y", "");
}

static void reply_to_both(void)
{
	drv_reply(fake.drv, fake.handles[2], 0, "second");
	drv_reply(fake.drv, fake.handles[1], -EIO, "first");
	drv_reply(fake.drv, fake.handles[1], 0, "not again");
}

TEST(several_are_under_way_and_answered_in_any_order)
{
	fake.answer = DRV_LATER;
	armed_from_the_second_tick();
	drv_lib_at(3, home);
	drv_lib_at(4, bias_twice);
	drv_lib_at(6, reply_to_both);
	drv_lib_at(8, reply_now);
	TEST_ASSERT_EQUAL(0, drv_lib_run(60, ""));
	TEST_ASSERT_EQUAL(3, fake.requests_n);
	TEST_ASSERT_EQUAL(3, drv_lib.replies_n);
	TEST_ASSERT_EQUAL_STRING("first", drv_lib_answer(4)->error);
	TEST_ASSERT_EQUAL_STRING("second", drv_lib_answer(5)->value);
	TEST_ASSERT_EQUAL_STRING("home after 3 s", drv_lib_answer(1)->value);
}

/* After the answer another one may begin. */
TEST(requests_that_run_alone_run_one_after_the_other)
{
	fake.answer = DRV_LATER;
	armed_from_the_second_tick();
	drv_lib_at(3, home);
	drv_lib_at(5, reply_now);
	drv_lib_at(6, home_again);
	TEST_ASSERT_EQUAL(0, drv_lib_run(60, ""));
	TEST_ASSERT_EQUAL(2, fake.requests_n);
	TEST_ASSERT_EQUAL(1, drv_lib.replies_n);
	TEST_ASSERT(fake.handles[0] != fake.handles[1]);
}

/* ---- cancel and deadline ---- */

static struct {
	uint32_t handle;
	int why;
	int64_t ns;
} cancels[8];
static unsigned int cancels_n;
static int cancel_answer;
static const char *cancel_why;

static int note_cancel(void *self, struct drv *drv, uint32_t handle, int why)
{
	(void)self;
	cancels[cancels_n].handle = handle;
	cancels[cancels_n].why = why;
	cancels[cancels_n++].ns = clock_now_ns();
	if (cancel_why)
		drv_why(drv, "%s", cancel_why);
	return cancel_answer;
}

static void can_cancel(void)
{
	cancels_n = 0;
	cancel_answer = 0;
	cancel_why = NULL;
	drv_lib_driver.cancel = note_cancel;
	fake.answer = DRV_LATER;
	armed_from_the_second_tick();
	drv_lib_at(3, home);
}

DRV_LIB_HOOK(cancel_home, drv_lib_request(1, MSG_VERB_CANCEL, "", ""));

TEST(a_client_cancels)
{
	can_cancel();
	drv_lib_at(5, cancel_home);
	drv_lib_at(6, cancel_home); /* again: the answer is repeated */
	drv_lib_at(9, reply_now);   /* too late */
	TEST_ASSERT_EQUAL(0, drv_lib_run(60, ""));
	TEST_ASSERT_EQUAL(1, cancels_n);
	TEST_ASSERT_EQUAL(fake.handles[0], cancels[0].handle);
	TEST_ASSERT_EQUAL(-ECANCELED, cancels[0].why);
	TEST_ASSERT_EQUAL(2, drv_lib_answers(1));
	TEST_ASSERT_EQUAL(-ECANCELED, drv_lib_answer(1)->result);
	TEST_ASSERT_EQUAL_STRING("cancelled", drv_lib_answer(1)->error);
}

TEST(it_takes_its_time_to_end)
{
	can_cancel();
	cancel_answer = DRV_LATER;
	drv_lib_at(5, cancel_home);
	drv_lib_at(6, cancel_home); /* it knows */
	drv_lib_at(8, reply_failed);
	TEST_ASSERT_EQUAL(0, drv_lib_run(60, ""));
	TEST_ASSERT_EQUAL(1, cancels_n);
	TEST_ASSERT_EQUAL(1, drv_lib_answers(1));
	TEST_ASSERT_EQUAL(-ETIMEDOUT, drv_lib_answer(1)->result);
}

TEST(a_driver_may_not_be_able_to)
{
	can_cancel();
	drv_lib_driver.cancel = NULL;
	drv_lib_at(5, cancel_home);
	drv_lib_at(8, reply_now);
	TEST_ASSERT_EQUAL(0, drv_lib_run(60, ""));
	TEST_ASSERT_EQUAL(1, drv_lib_answers(1));
	TEST_ASSERT_EQUAL(0, drv_lib_answer(1)->result);
}

TEST(there_is_nothing_to_cancel)
{
	can_cancel();
	drv_lib_at(2, cancel_home);
	TEST_ASSERT_EQUAL(0, drv_lib_run(20, ""));
	TEST_ASSERT_EQUAL(0, cancels_n);
	TEST_ASSERT_EQUAL(-ENOENT, drv_lib_answer(1)->result);
	TEST_ASSERT_EQUAL_STRING("no request of this client and id is under way", drv_lib_answer(1)->error);
}

static void home_until(double ms)
{
	struct msg_request msg;

	msg_init(&msg, msg_type_by_number(msg_request_number));
	msg.header.valid_until_ns = DRV_LIB_START_NS + (int64_t)(ms * DRV_LIB_MS);
	msg.id = 1;
	msg.client_pid = 77;
	msg.verb = MSG_VERB_HOME;
	drv_lib_put("arm-req", &msg, sizeof(msg));
}

static void home_until_22_ms(void)
{
	home_until(22);
}

static void home_until_25_ms(void)
{
	home_until(25);
}

static void home_until_14_ms(void)
{
	home_until(14);
}

/* Put in the third tick, at 10 ms, it is read at 15 ms. */
TEST(a_request_not_done_by_its_deadline_is_cancelled_at_the_next_tick)
{
	static const struct {
		void (*put)(void);
		int64_t ms; /* 0: the driver never began */
	} cases[] = { { home_until_22_ms, 25 }, { home_until_25_ms, 30 }, { home_until_14_ms, 0 } };

	for (unsigned int i = 0; i < 3; i++) {
		drv_lib_end();
		drv_lib_begin();
		can_cancel();
		drv_lib_forget();
		armed_from_the_second_tick();
		cancel_why = i ? "braked" : NULL;
		drv_lib_at(3, cases[i].put);
		TEST_ASSERT_EQUAL(0, drv_lib_run(60, ""));
		TEST_ASSERT_EQUAL(cases[i].ms ? 1 : 0, fake.requests_n);
		TEST_ASSERT_EQUAL(cases[i].ms ? 1 : 0, cancels_n);
		TEST_ASSERT_EQUAL(1, drv_lib_answers(1));
		TEST_ASSERT_EQUAL(-ETIMEDOUT, drv_lib_answer(1)->result);
		TEST_ASSERT_EQUAL_STRING(!cases[i].ms ? "its deadline passed before it was read"
					 : i	      ? "braked"
						      : "its deadline has passed",
					 drv_lib_answer(1)->error);
		if (!cases[i].ms)
			continue;
		TEST_ASSERT_EQUAL(-ETIMEDOUT, cancels[0].why);
		TEST_ASSERT_EQUAL(US(DRV_LIB_START_NS + cases[i].ms * DRV_LIB_MS), US(cancels[0].ns));
	}
}

TEST(a_later_answer_can_be_a_refusal)
{
	fake.answer = DRV_LATER;
	armed_from_the_second_tick();
	drv_lib_at(3, home);
	drv_lib_at(8, reply_failed);
	TEST_ASSERT_EQUAL(0, drv_lib_run(60, ""));
	TEST_ASSERT_EQUAL(-ETIMEDOUT, drv_lib_answer(1)->result);
	TEST_ASSERT_EQUAL_STRING("it did not get there", drv_lib_answer(1)->error);
	TEST_ASSERT_EQUAL_STRING("", drv_lib_answer(1)->value);
}

DRV_LIB_HOOK(bias, drv_lib_request(6, MSG_VERB_BIAS, "", ""));

TEST(a_verb_that_the_driver_says_moves_is_refused_unless_armed)
{
	static const struct drv_verb moving_bias[] = { { .verb = MSG_VERB_BIAS, .moves = true }, { 0 } };

	drv_lib_driver.verbs = moving_bias;
	drv_lib_at(3, bias);
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, ""));
	TEST_ASSERT_EQUAL(0, fake.requests_n);
	TEST_ASSERT_EQUAL(-EPERM, drv_lib_answer(6)->result);
}

TEST(a_verb_that_it_does_not_declare_never_gets_to_it)
{
	static const struct drv_verb only_reset[] = { { .verb = MSG_VERB_RESET }, { 0 }, { .verb = MSG_VERB_BIAS } };

	drv_lib_driver.verbs = only_reset;
	drv_lib_at(3, bias);
	drv_lib_at(3, home); /* not armed, but that is not why */
	drv_lib_at(3, reset);
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, ""));
	TEST_ASSERT_EQUAL(1, fake.requests_n);
	TEST_ASSERT_EQUAL(0, drv_lib_answer(2)->result);
	TEST_ASSERT_EQUAL(-EOPNOTSUPP, drv_lib_answer(6)->result);
	TEST_ASSERT_EQUAL_STRING("faked does not do that", drv_lib_answer(6)->error);
	TEST_ASSERT_EQUAL(-EOPNOTSUPP, drv_lib_answer(1)->result);
}

static void ask_settings(void)
{
	drv_lib_request(10, MSG_VERB_GET, "tick", "");
	drv_lib_request(11, MSG_VERB_GET, "gain", "");
	drv_lib_request(12, MSG_VERB_GET, "nothing", "");
	drv_lib_request(13, MSG_VERB_SET, "gain", "2");
	drv_lib_request(14, MSG_VERB_CLEAR, "", "");
	drv_lib_request(15, 99, "", "");
	drv_lib_request(16, MSG_VERB_GET, "note", "");
}

TEST(settings_are_returned_and_unknown_verbs_refused)
{
	drv_lib_driver.verbs = NULL;
	drv_lib_at(3, ask_settings);
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, "--set gain=3"));
	TEST_ASSERT_EQUAL_STRING("5ms", drv_lib_answer(10)->value);
	TEST_ASSERT_EQUAL(0, drv_lib_answer(10)->result);
	TEST_ASSERT_EQUAL_STRING("3", drv_lib_answer(11)->value);
	TEST_ASSERT_EQUAL(0, drv_lib_answer(11)->result);
	TEST_ASSERT_EQUAL(-EOPNOTSUPP, drv_lib_answer(12)->result);
	TEST_ASSERT_EQUAL_STRING("faked has no setting of that name", drv_lib_answer(12)->error);
	TEST_ASSERT_EQUAL_STRING("faked cannot change that while it runs", drv_lib_answer(13)->error);
	TEST_ASSERT_EQUAL_STRING("faked does not do that", drv_lib_answer(14)->error);
	TEST_ASSERT_EQUAL(-EINVAL, drv_lib_answer(15)->result);
	TEST_ASSERT_EQUAL(0, drv_lib_answer(16)->result); /* an empty one is one */
	TEST_ASSERT_EQUAL_STRING("", drv_lib_answer(16)->value);
	TEST_ASSERT_EQUAL(7, drv_lib.replies_n);
}

TEST(a_driver_has_its_own_words)
{
	fake.answer = -EOPNOTSUPP;
	fake.why = "not with this firmware";
	drv_lib_at(3, reset);
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, ""));
	TEST_ASSERT_EQUAL_STRING("not with this firmware", drv_lib_answer(2)->error);
}

static void many(void)
{
	for (uint64_t id = 100; id < 200; id++)
		drv_lib_request(id, MSG_VERB_RESET, "", "");
}

TEST(lost_requests_are_reported)
{
	drv_lib_at(3, many);
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, ""));
	TEST_ASSERT_EQUAL(64, fake.requests_n);
	TEST_ASSERT_EQUAL(136, fake.requests[0].id);
	TEST_ASSERT_EQUAL(1, drv_lib_answers(199));
	TEST_ASSERT_TRUE(drv_lib_reported("requests-lost"));
}

static unsigned int done_by[2];

static void seventy(void)
{
	for (uint64_t id = 100; id < 170; id++)
		drv_lib_request(id, MSG_VERB_RESET, "", "");
}

DRV_LIB_HOOK(count_done, done_by[fake.ticks_n - 4] = fake.requests_n);

TEST(a_larger_channel_does_not_raise_the_requests_done_at_once)
{
	drv_lib_make("arm-req", 200, sizeof(struct msg_request));
	drv_lib_at(3, seventy);
	drv_lib_at(4, count_done);
	drv_lib_at(5, count_done);
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, ""));
	TEST_ASSERT_EQUAL(64, done_by[0]);
	TEST_ASSERT_EQUAL(70, done_by[1]);
}

static void put_nonsense_request(void)
{
	struct msg_request wild;

	drv_lib_put("arm-req", "nonsense", 8);
	msg_init(&wild, msg_type_by_number(msg_request_number));
	memset((char *)&wild + sizeof(wild.header), 0x41, sizeof(wild) - sizeof(wild.header));
	wild.id = 5;
	wild.client_pid = 77;
	wild.verb = MSG_VERB_RESET;
	drv_lib_put("arm-req", &wild, sizeof(wild));
}

TEST(nonsense_is_dropped_and_texts_are_terminated)
{
	drv_lib_at(3, put_nonsense_request);
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, ""));
	TEST_ASSERT_EQUAL(1, fake.requests_n);
	TEST_ASSERT_EQUAL(MSG_NAME_SIZE - 1, strlen(fake.requests[0].key));
	TEST_ASSERT_EQUAL(MSG_TEXT_SIZE - 1, strlen(fake.requests[0].value));
	TEST_ASSERT_EQUAL(1, drv_lib.replies_n);
}

static void put_oversized(void)
{
	static char large[10000];

	drv_lib_put("arm-req", large, sizeof(large));
	reset();
}

TEST(an_oversized_message_is_skipped)
{
	drv_lib_at(3, put_oversized);
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, ""));
	TEST_ASSERT_EQUAL(1, drv_lib_answers(2));
}

/* Whole messages but for their version. */
static void put_of_another_version(void)
{
	struct msg_request asked;
	struct msg_reply answered;

	msg_init(&answered, msg_type_by_number(msg_reply_number));
	answered.header.version++;
	answered.id = 8;
	answered.client_pid = 77;
	drv_lib_put("arm-rep", &answered, sizeof(answered));
	msg_init(&asked, msg_type_by_number(msg_request_number));
	asked.header.version++;
	asked.id = 9;
	asked.client_pid = 77;
	asked.verb = MSG_VERB_RESET;
	drv_lib_put("arm-req", &asked, sizeof(asked));
}

static void ask_8_and_9(void)
{
	drv_lib_request(8, MSG_VERB_RESET, "", "");
	drv_lib_request(9, MSG_VERB_RESET, "", "");
}

TEST(messages_of_another_version_are_ignored)
{
	TEST_ASSERT_EQUAL(0, drv_lib_run(20, ""));
	put_of_another_version();
	drv_lib.replies_n = 0;
	drv_lib_at(3, ask_8_and_9);
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, ""));
	TEST_ASSERT_EQUAL(2, fake.requests_n);
	TEST_ASSERT_EQUAL(8, fake.requests[0].id);
	TEST_ASSERT_EQUAL(9, fake.requests[1].id);
	TEST_ASSERT_EQUAL(3, drv_lib.replies_n); /* with the one of another version, which the test reads, too */
}

static void ask_64(void)
{
	for (uint64_t id = 100; id < 164; id++)
		drv_lib_request(id, MSG_VERB_RESET, "", "");
}

static void ask_the_first_and_the_last(void)
{
	drv_lib_request(100, MSG_VERB_RESET, "", "");
	drv_lib_request(163, MSG_VERB_RESET, "", "");
}

TEST(everything_that_the_channel_holds_is_remembered)
{
	drv_lib_at(3, ask_64);
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, ""));
	TEST_ASSERT_EQUAL(64, fake.requests_n);
	drv_lib_forget();
	drv_lib_at(3, ask_the_first_and_the_last);
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, ""));
	TEST_ASSERT_EQUAL(64, fake.requests_n);
	TEST_ASSERT_EQUAL(66, drv_lib.replies_n);
	TEST_ASSERT_EQUAL(2, drv_lib_answers(100));
	TEST_ASSERT_EQUAL(0, drv_lib_answer(100)->result);
	TEST_ASSERT_EQUAL(2, drv_lib_answers(163));
	TEST_ASSERT_EQUAL(0, drv_lib_answer(163)->result);
}

TEST(requests_that_the_channel_holds_are_not_done_later)
{
	ask_64();
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, ""));
	TEST_ASSERT_EQUAL(0, fake.requests_n);
	TEST_ASSERT_EQUAL(64, drv_lib.replies_n);
	TEST_ASSERT_EQUAL(-ESTALE, drv_lib_answer(163)->result);
}

/* Not even if it holds more than there are answers for. */
TEST(requests_that_a_larger_channel_holds_are_not_done_later)
{
	drv_lib_make("arm-req", 200, sizeof(struct msg_request));
	seventy();
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, ""));
	TEST_ASSERT_EQUAL(0, fake.requests_n);
	TEST_ASSERT_EQUAL(64, drv_lib.replies_n);
}

/* Homing requested from the predecessor must not begin by itself. */
TEST(requests_from_before_the_start_are_not_done)
{
	armed_from_the_second_tick();
	drv_lib_at(3, reset);
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, ""));
	TEST_ASSERT_EQUAL(1, fake.requests_n);
	drv_lib_request(1, MSG_VERB_HOME, "", ""); /* while no driver ran */
	drv_lib_put("arm-req", "nonsense", 8);
	drv_lib_put("arm-rep", "nonsense", 8);
	drv_lib_forget();
	drv_lib_at(4, reset); /* once more, of the successor */
	drv_lib_at(5, home);
	drv_lib_at(6, home_again);
	TEST_ASSERT_EQUAL(0, drv_lib_run(60, ""));
	TEST_ASSERT_EQUAL(2, fake.requests_n);
	TEST_ASSERT_EQUAL(3, fake.requests[1].id);
	TEST_ASSERT_EQUAL(-ESTALE, drv_lib_answer(1)->result);
	TEST_ASSERT_EQUAL_STRING("asked before this driver was there: ask again", drv_lib_answer(1)->error);
	TEST_ASSERT_EQUAL(2, drv_lib_answers(1)); /* and when it was repeated */
	TEST_ASSERT_EQUAL(2, drv_lib_answers(2)); /* by each of them */
	TEST_ASSERT_EQUAL(0, drv_lib_answer(2)->result);
}

DRV_LIB_HOOK(remove_req, drv_lib_remove("arm-req"));

TEST(a_new_channel_of_requests_is_found_within_a_second)
{
	drv_lib_at(3, remove_req);
	drv_lib_at(210, reset);
	TEST_ASSERT_EQUAL(0, drv_lib_run(1100, ""));
	TEST_ASSERT_EQUAL(1, drv_lib_answers(2));
}

/* It may have been there for a while, so the age of its requests is unknown. */
TEST(requests_put_on_a_new_channel_before_it_is_opened_are_not_done)
{
	armed_from_the_second_tick();
	drv_lib_at(3, remove_req);
	drv_lib_at(100, home);
	drv_lib_at(210, reset);
	TEST_ASSERT_EQUAL(0, drv_lib_run(1100, ""));
	TEST_ASSERT_EQUAL(-ESTALE, drv_lib_answer(1)->result);
	TEST_ASSERT_EQUAL(1, fake.requests_n);
	TEST_ASSERT_EQUAL(MSG_VERB_RESET, fake.requests[0].verb);
}

DRV_LIB_HOOK(scribble_req, drv_lib_scribble("arm-req"));

TEST(a_corrupt_one_is_left_alone)
{
	drv_lib_at(3, scribble_req);
	TEST_ASSERT_EQUAL(0, drv_lib_run(100, ""));
	TEST_ASSERT_EQUAL(0, fake.requests_n);
	TEST_ASSERT_EQUAL(21, fake.ticks_n);
}

/* ---- references ---- */

static struct msg_joint_ref ref;

DRV_LIB_HOOK(put_ref, drv_lib_put("arm-ref", &ref, sizeof(ref)));
DRV_LIB_HOOK(put_good, drv_lib_put_ref(MSG_MODE_VELOCITY, 1, 20));
DRV_LIB_HOOK(fill_for_now, ref = drv_lib_ref(MSG_MODE_VELOCITY, 1, 20));

/* One change to a good reference, and where it is counted. */
#define REFUSED(change, counter)                                                       \
	static void put_##counter(void)                                                \
	{                                                                              \
		fill_for_now();                                                        \
		change;                                                                \
		put_ref();                                                             \
	}                                                                              \
	TEST(refused_##counter)                                                        \
	{                                                                              \
		armed_from_the_second_tick();                                          \
		drv_lib_at(4, put_##counter);                                          \
		TEST_ASSERT_EQUAL(0, drv_lib_run(50, ""));                             \
		TEST_ASSERT_EQUAL(1, drv_lib_last()->common.refs_refused.counter);     \
		TEST_ASSERT_EQUAL(0, drv_lib_last()->common.refs_taken);               \
		TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, drv_lib_last()->common.lifecycle); \
		TEST_ASSERT_EQUAL(1, drv_lib_events("ref-refused"));                   \
	}

REFUSED(ref.header.valid_until_ns = 0, no_validity)
REFUSED(ref.header.valid_until_ns = clock_now_ns() + 4999999, past)
REFUSED(ref.header.valid_until_ns = clock_now_ns() + 6 * DRV_LIB_TICK_NS + 1, too_far) /* read one tick later */
REFUSED(ref.header.type = msg_gripper_ref_number, other_type)
REFUSED(ref.header.version++, other_version)
REFUSED(ref.count = 2, other_size)
REFUSED(ref.velocity[0] = NAN, not_finite)
REFUSED(ref.header.for_incarnation = 7, other_incarnation)

static void put_900_ms(void)
{
	fill_for_now();
	ref.header.incarnation = 4711;
	ref.header.t_publish_ns = clock_now_ns();
	ref.header.valid_until_ns = clock_now_ns() + 900 * DRV_LIB_MS;
	put_ref();
}

/* Who, why, what to write; once a second, however often it is refused. */
TEST(a_refused_reference_is_reported_once_and_counted)
{
	const struct msg_event *last;

	armed_from_the_second_tick();
	drv_lib_always(put_900_ms);
	TEST_ASSERT_EQUAL(0, drv_lib_run(500, ""));
	TEST_ASSERT_GREATER_THAN(90, drv_lib_last()->common.refs_refused.too_far);
	TEST_ASSERT_EQUAL(2, drv_lib_events("ref-refused")); /* the second when the driver ends */
	last = drv_lib_event("ref-refused");
	TEST_ASSERT_EQUAL_STRING("process 4711: valid for 900 ms, at most 25 ms: give it less", last->text);
	TEST_ASSERT_EQUAL(MSG_SEVERITY_WARNING, last->severity);
}

static void put_late(void)
{
	fill_for_now();
	ref.header.t_publish_ns = clock_now_ns();
	ref.header.valid_until_ns = clock_now_ns() + DRV_LIB_MS;
	put_ref();
}

TEST(a_reference_that_is_over_when_it_is_read_is_reported)
{
	armed_from_the_second_tick();
	drv_lib_at(4, put_late);
	TEST_ASSERT_EQUAL(0, drv_lib_run(50, ""));
	TEST_ASSERT_EQUAL(1, drv_lib_last()->common.refs_refused.past);
	TEST_ASSERT_EQUAL_STRING("a reference: over for 4 ms when it was read: give it more time, at most 25 ms",
				 drv_lib_event("ref-refused")->text);
}

static void put_from_before(void)
{
	fill_for_now();
	ref.header.t_publish_ns = DRV_LIB_START_NS - 1;
	ref.header.valid_until_ns = clock_now_ns() - 1;
	put_ref();
}

TEST(a_reference_from_before_the_driver_is_counted_but_not_reported)
{
	armed_from_the_second_tick();
	drv_lib_at(4, put_from_before);
	TEST_ASSERT_EQUAL(0, drv_lib_run(50, ""));
	TEST_ASSERT_EQUAL(1, drv_lib_last()->common.refs_refused.past);
	TEST_ASSERT_EQUAL(0, drv_lib_events("ref-refused"));
}

static void put_late_and_pause(void)
{
	put_late();
	pauses_add(&fake.drv->pauses, clock_now_ns(), clock_now_ns() + DRV_LIB_TICK_NS);
}

/* It was this machine that let it grow old, which is reported by itself. */
TEST(a_reference_that_was_over_after_a_pause_is_counted_but_not_reported)
{
	armed_from_the_second_tick();
	drv_lib_at(4, put_late_and_pause);
	TEST_ASSERT_EQUAL(0, drv_lib_run(50, ""));
	TEST_ASSERT_EQUAL(1, drv_lib_last()->common.refs_refused.past);
	TEST_ASSERT_EQUAL(0, drv_lib_events("ref-refused"));
}

TEST(the_farthest_validity_is_taken)
{
	armed_from_the_second_tick();
	fill_for_now();
	ref.header.valid_until_ns = DRV_LIB_START_NS + 9 * DRV_LIB_TICK_NS; /* 5 ticks from the fifth */
	drv_lib_at(4, put_ref);
	TEST_ASSERT_EQUAL(0, drv_lib_run(50, ""));
	TEST_ASSERT_EQUAL(1, drv_lib_last()->common.refs_taken);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, LIFE(10)); /* at that very time */
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, LIFE(11));
}

TEST(a_longer_ref_max_is_a_setting)
{
	armed_from_the_second_tick();
	drv_lib_at(4, put_too_far);
	TEST_ASSERT_EQUAL(0, drv_lib_run(50, "--set ref_max=100ms"));
	TEST_ASSERT_EQUAL(1, drv_lib_last()->common.refs_taken);
}

static void put_three(void)
{
	drv_lib_put_ref(MSG_MODE_VELOCITY, 1, 20);
	drv_lib_put_ref(MSG_MODE_VELOCITY, 2, 20);
	drv_lib_put_ref(MSG_MODE_VELOCITY, 3, 20);
}

TEST(the_newest_counts)
{
	armed_from_the_second_tick();
	drv_lib_at(4, put_three);
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, ""));
	TEST_ASSERT_EQUAL(1, drv_lib_last()->common.refs_taken);
	TEST_ASSERT_EQUAL_DOUBLE(3, fake.ticks[4].joint.velocity_rad_s);
	TEST_ASSERT_EQUAL_DOUBLE(3, fake.ticks[4].ref_rad_s);
}

static void put_for_any(void)
{
	fill_for_now();
	ref.header.for_incarnation = 0;
	put_ref();
}

TEST(references_for_any_incarnation_need_a_setting)
{
	armed_from_the_second_tick();
	drv_lib_at(4, put_for_any);
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, ""));
	TEST_ASSERT_EQUAL(1, drv_lib_last()->common.refs_refused.other_incarnation);
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, "--set any_incarnation=yes"));
	TEST_ASSERT_EQUAL(1, drv_lib_last()->common.refs_taken);
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, "--set balance=yes"));
	TEST_ASSERT_EQUAL(1, drv_lib_last()->common.refs_taken);
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, "--set balance=yes --set any_incarnation=no"));
	TEST_ASSERT_EQUAL(0, drv_lib_last()->common.refs_taken);
}

/* The controller must have seen the gap. */
TEST(references_for_the_predecessor_are_not_taken)
{
	TEST_ASSERT_EQUAL(0, drv_lib_run(20, ""));
	armed_from_the_second_tick();
	drv_lib_at(1, fill_for_now);
	ref = drv_lib_ref(MSG_MODE_VELOCITY, 1, 30); /* of incarnation 1 */
	ref.header.t_publish_ns = clock_now_ns();
	put_ref();
	drv_lib_forget();
	armed_from_the_second_tick();
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, "--set ref_max=200ms"));
	TEST_ASSERT_EQUAL(1, drv_lib_last()->common.refs_refused.other_incarnation);
	TEST_ASSERT_EQUAL(0, drv_lib_last()->common.refs_taken);
	TEST_ASSERT_FALSE(drv_lib_reported("ref-refused")); /* its writer did nothing wrong */
}

static void put_large_then_good(void)
{
	static char large[10000];

	drv_lib_put("arm-ref", large, sizeof(large));
}

TEST(oversized_messages_are_counted_and_passed)
{
	armed_from_the_second_tick();
	drv_lib_at(4, put_large_then_good);
	drv_lib_at(6, put_good);
	TEST_ASSERT_EQUAL(0, drv_lib_run(50, ""));
	TEST_ASSERT_EQUAL(1, drv_lib_last()->common.refs_refused.other_size);
	TEST_ASSERT_EQUAL(1, drv_lib_last()->common.refs_taken);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, LIFE(7));
}

DRV_LIB_HOOK(scribble_ref, drv_lib_scribble("arm-ref"));
DRV_LIB_HOOK(remove_ref, drv_lib_remove("arm-ref"));

/* It is reopened periodically, in case it was repaired. */
TEST(a_scribbled_channel_of_references_holds_and_a_new_one_works)
{
	armed_from_the_second_tick();
	drv_lib_at(3, put_good);
	drv_lib_at(4, scribble_ref);
	drv_lib_at(10, remove_ref);
	drv_lib_at(13, put_good);
	TEST_ASSERT_EQUAL(0, drv_lib_run(80, ""));
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, LIFE(5));
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, LIFE(10));
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, LIFE(14));
	TEST_ASSERT_EQUAL(2, drv_lib_last()->common.refs_taken);
	TEST_ASSERT_EQUAL(0, drv_lib_last()->common.refs_refused.other_size); /* unreadable, so not a reference */
}

/* ---- ticks on references ---- */

/* The virtual clock, but references come by themselves at these times, and it waits until they are there. */
static int64_t put_times_ns[16], patient_ns;
static void (*put_what[16])(void); /* NULL: a good one */
static unsigned int put_times_n, put_next;

static int64_t patient_now(void)
{
	return patient_ns;
}

static bool is_loop(const struct clock_fd *fds, size_t n)
{
	const struct clock_set *set = fake.drv ? ((const struct drv *)fake.drv)->set : NULL;

	return n == 1 && set && fds[0].fd == clock_set_fd(set);
}

static int patient_wait(struct clock_fd *fds, size_t n, int64_t deadline_ns)
{
	struct pollfd polled[CLOCK_FDS_MAX];
	int timeout_ms = 0, ready;

	if (put_next < put_times_n && put_times_ns[put_next] <= deadline_ns && is_loop(fds, n)) {
		patient_ns = put_times_ns[put_next];
		(put_what[put_next] ? put_what[put_next] : put_good)();
		put_next++;
		timeout_ms = 100000; /* another thread, or the kernel, sees to it */
	}
	for (size_t i = 0; i < n; i++)
		polled[i] = (struct pollfd){ fds[i].fd, fds[i].events, 0 };
	ready = poll(polled, n, timeout_ms);
	for (size_t i = 0; i < n; i++)
		fds[i].ready = polled[i].revents;
	TEST_ASSERT(ready > 0 || !timeout_ms);
	if (!ready && deadline_ns > patient_ns)
		patient_ns = deadline_ns;
	return ready;
}

static const struct clock_source patient = { .now = patient_now, .real = patient_now, .wait = patient_wait };

static void be_patient(void)
{
	patient_ns = DRV_LIB_START_NS;
	put_times_n = put_next = 0;
	memset(put_what, 0, sizeof(put_what));
	clock_use(&patient);
}

TEST(ticks_on_references)
{
	static const double ms[] = { 10, 20.05, 30, 39.9, 50, 60 };

	be_patient();
	for (; put_times_n < 6; put_times_n++)
		put_times_ns[put_times_n] = DRV_LIB_START_NS + (int64_t)(ms[put_times_n] * DRV_LIB_MS);
	armed_from_the_second_tick();
	TEST_ASSERT_EQUAL(0, drv_lib_run(99, "--set tick=ref~10ms"));
	for (unsigned int i = 0; i < 6; i++) {
		TEST_ASSERT_EQUAL(US(put_times_ns[i]), US(fake.ticks[i + 1].ns));
		TEST_ASSERT_EQUAL(0, STATE(i + 1)->header.flags & MSG_FLAG_FREERUN);
	}
	TEST_ASSERT_EQUAL(MSG_FLAG_FREERUN, STATE(0)->header.flags & MSG_FLAG_FREERUN);
	TEST_ASSERT_EQUAL(6, drv_lib_last()->common.refs_taken);
	/* No more of them: after one and a half periods it goes on alone. */
	TEST_ASSERT_EQUAL(US(DRV_LIB_START_NS + 75 * (int64_t)DRV_LIB_MS), US(fake.ticks[7].ns));
	TEST_ASSERT_EQUAL(MSG_FLAG_FREERUN, STATE(7)->header.flags & MSG_FLAG_FREERUN);
}

static int ref_wake_gone;

DRV_LIB_HOOK(read_ref_wake, ach_unlinked(&((const struct drv *)fake.drv)->ref_wake.chan, &ref_wake_gone));

/* The descriptor of a channel that is closed must not be waited for: it would never wait again. */
TEST(ticks_on_references_survive_the_channel)
{
	be_patient();
	drv_lib_at(2, put_good);
	drv_lib_at(3, scribble_ref);
	drv_lib_at(7, remove_ref);
	drv_lib_at(12, read_ref_wake);
	ref_wake_gone = -1;
	put_times_ns[put_times_n++] = DRV_LIB_START_NS + 155 * (int64_t)DRV_LIB_MS;
	put_times_ns[put_times_n++] = DRV_LIB_START_NS + 165 * (int64_t)DRV_LIB_MS;
	TEST_ASSERT_EQUAL(0, drv_lib_run(190, "--set tick=ref~10ms"));
	TEST_ASSERT_EQUAL(3, drv_lib_last()->common.refs_taken);
	TEST_ASSERT_EQUAL(0, ref_wake_gone); /* it is that of the new one */
}

/* At 10, 20, 30 and 40 ms, which are ticks, and then at ms; there a frame comes, too, and in_turn is called: after the
 * wake was answered, before it is cleared. */
static void (*in_turn)(void);

static bool rx_in_turn(void *self, struct drv *drv, unsigned int row, const struct bus_frame *got)
{
	(void)self;
	(void)drv;
	(void)row;
	(void)got;
	in_turn();
	return false;
}

static void ring_at(int64_t ms, void (*what)(void))
{
	be_patient();
	for (int64_t at_ms = 10; at_ms <= 40; at_ms += 10)
		put_times_ns[put_times_n++] = DRV_LIB_START_NS + at_ms * DRV_LIB_MS;
	put_what[put_times_n] = what;
	put_times_ns[put_times_n++] = DRV_LIB_START_NS + ms * DRV_LIB_MS;
	drv_lib_frame((double)ms, "182#");
	drv_lib_driver.rx = rx_in_turn;
}

/* Its ring is made quiet with that of the one before it. */
TEST(a_reference_that_comes_in_a_turn_is_a_tick_as_well)
{
	ring_at(50, put_other_incarnation);
	in_turn = put_good;
	TEST_ASSERT_EQUAL(0, drv_lib_run(79, "--set tick=ref~10ms"));
	TEST_ASSERT_EQUAL(5, drv_lib_last()->common.refs_taken);
	TEST_ASSERT_EQUAL(1, drv_lib_last()->common.refs_refused.other_incarnation);
	TEST_ASSERT_EQUAL(US(DRV_LIB_START_NS + 50 * (int64_t)DRV_LIB_MS), US(fake.ticks[5].ns));
}

static void take_back_ref(void)
{
	ach_channel_t chan;

	TEST_ASSERT_EQUAL(ACH_OK, ach_open(&chan, drv_lib_channel("arm-ref"), NULL));
	atomic_fetch_sub(&chan.handle->shm->commit, 2); /* older than what was seen */
	ach_close(&chan);
}

TEST(a_ref_wake_that_cannot_be_cleared_is_removed)
{
	ring_at(43, NULL); /* too soon for a tick */
	in_turn = take_back_ref;
	TEST_ASSERT_EQUAL(0, drv_lib_run(89, "--set tick=ref~10ms"));
	TEST_ASSERT_EQUAL(US(DRV_LIB_START_NS + 55 * (int64_t)DRV_LIB_MS), US(fake.ticks[5].ns));
}

static unsigned int count_descriptors(void)
{
	DIR *fds = opendir("/proc/self/fd");
	unsigned int n = 0;

	TEST_ASSERT_NOT_NULL(fds);
	while (readdir(fds))
		n++;
	closedir(fds);
	return n;
}

TEST(the_old_ref_wake_is_removed)
{
	unsigned int before;

	TEST_ASSERT_EQUAL(0, drv_lib_run(49, "--set tick=ref~10ms"));
	before = count_descriptors();
	drv_lib_at(2, put_good);
	drv_lib_at(3, scribble_ref);
	TEST_ASSERT_EQUAL(0, drv_lib_run(99, "--set tick=ref~10ms"));
	TEST_ASSERT_EQUAL(before, count_descriptors());
}

static rlim_t descriptors_more;
static struct rlimit descriptors;
static bool few, ref_wake_added;

/* From the moment at which it opens its buses. */
static int64_t now_with_few_descriptors(void)
{
	const struct drv *drv = fake.drv;
	int lowest;

	if (few && drv && drv->signals > 0) {
		few = false;
		lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);
		TEST_ASSERT(lowest >= 0);
		close(lowest);
		setrlimit(RLIMIT_NOFILE, &(struct rlimit){ (rlim_t)lowest + descriptors_more, descriptors.rlim_max });
	}
	return patient_ns;
}

static const struct clock_source frugal = { .now = now_with_few_descriptors,
					    .real = now_with_few_descriptors,
					    .wait = patient_wait };

static void allow_as_before(void)
{
	ref_wake_added = ((const struct drv *)fake.drv)->ref_wake.open;
	setrlimit(RLIMIT_NOFILE, &descriptors);
}

/* It is the last to be opened: as many as all the others need are one too few. */
TEST(without_a_descriptor_for_references_ticks_run_free)
{
	int status = -1;

	getrlimit(RLIMIT_NOFILE, &descriptors);
	drv_lib_at(1, allow_as_before);
	drv_lib_at(2, put_good);
	for (descriptors_more = 0; status && descriptors_more < 20; descriptors_more++) {
		be_patient();
		clock_use(&frugal);
		fake.drv = NULL;
		few = true;
		status = drv_lib_run(49, "--set tick=ref~10ms");
		setrlimit(RLIMIT_NOFILE, &descriptors);
	}
	TEST_ASSERT_EQUAL(0, status);
	TEST_ASSERT_FALSE(few);
	TEST_ASSERT_FALSE(ref_wake_added);
	TEST_ASSERT_EQUAL(5, fake.ticks_n);
	TEST_ASSERT_EQUAL(1, drv_lib_last()->common.refs_taken);
}

/* ---- the clock ---- */

static int64_t clock_phase_ns, clock_base_ns = DRV_LIB_MS;
static uint64_t clock_first_cycle;

static void put_clock(void)
{
	const int64_t cycles = (clock_now_ns() - DRV_LIB_START_NS) / clock_base_ns;
	struct msg_clock msg;

	msg_init(&msg, msg_type_by_number(msg_clock_number));
	msg.cycle = clock_first_cycle + (uint64_t)cycles;
	msg.t_cycle_ns = DRV_LIB_START_NS + cycles * clock_base_ns + clock_phase_ns;
	msg.period_ns = clock_base_ns;
	drv_lib_put("clock", &msg, sizeof(msg));
}

static int64_t phase_of_tick(unsigned int tick)
{
	return (fake.ticks[tick - 1].ns - DRV_LIB_START_NS) % DRV_LIB_TICK_NS;
}

/* The clock's fifth cycles are 0.5 ms after our ticks: a tenth of a period, so ten ticks. */
TEST(ticks_are_moved_to_the_clock)
{
	clock_phase_ns = 500000;
	drv_lib_always(put_clock);
	TEST_ASSERT_EQUAL(0, drv_lib_run(100, "--set tick=clock/5"));
	TEST_ASSERT_EQUAL(MSG_FLAG_FREERUN, STATE(0)->header.flags & MSG_FLAG_FREERUN);
	TEST_ASSERT_EQUAL(0, STATE(2)->header.flags & MSG_FLAG_FREERUN);
	for (unsigned int tick = 2; tick < fake.ticks_n; tick++) {
		const int64_t distance_ns = fake.ticks[tick].ns - fake.ticks[tick - 1].ns;

		TEST_ASSERT_INT64_WITHIN(DRV_LIB_TICK_NS / 100, DRV_LIB_TICK_NS, distance_ns);
	}
	TEST_ASSERT_EQUAL(500000, phase_of_tick(15));
	TEST_ASSERT_EQUAL(500000, phase_of_tick(19));
}

static void put_clocks(void)
{
	put_clock();
	put_clock();
}

/* A clock is faster than most of its drivers. */
TEST(the_newest_of_many_cycles_counts)
{
	clock_phase_ns = 500000;
	drv_lib_always(put_clocks);
	TEST_ASSERT_EQUAL(0, drv_lib_run(100, "--set tick=clock/5"));
	TEST_ASSERT_EQUAL(500000, phase_of_tick(15));
	TEST_ASSERT_EQUAL(0, STATE(10)->header.flags & MSG_FLAG_FREERUN);
}

TEST(the_offset_is_after_the_clock)
{
	clock_phase_ns = 0;
	drv_lib_always(put_clock);
	TEST_ASSERT_EQUAL(0, drv_lib_run(150, "--set tick=clock/5+1ms"));
	TEST_ASSERT_EQUAL(1000000, phase_of_tick(28));
}

TEST(without_a_clock_it_runs_free)
{
	TEST_ASSERT_EQUAL(0, drv_lib_run(50, "--set tick=clock/5"));
	TEST_ASSERT_EQUAL(11, fake.ticks_n);
	TEST_ASSERT_EQUAL(MSG_FLAG_FREERUN, drv_lib_last()->header.flags & MSG_FLAG_FREERUN);
}

static void put_odd_clocks(void)
{
	struct msg_clock msg;

	drv_lib_put("clock", "nonsense", 8);
	msg_init(&msg, msg_type_by_number(msg_clock_number));
	msg.t_cycle_ns = clock_now_ns() + 500000;
	drv_lib_put("clock", &msg, sizeof(msg)); /* of no period */
}

TEST(invalid_clocks_are_not_followed)
{
	drv_lib_always(put_odd_clocks);
	TEST_ASSERT_EQUAL(0, drv_lib_run(50, "--set tick=clock/5"));
	TEST_ASSERT_EQUAL(0, phase_of_tick(10));
	TEST_ASSERT_EQUAL(MSG_FLAG_FREERUN, drv_lib_last()->header.flags & MSG_FLAG_FREERUN);
}

static void put_clock_of_another_version(void)
{
	struct msg_clock msg;

	msg_init(&msg, msg_type_by_number(msg_clock_number));
	msg.header.version++;
	msg.t_cycle_ns = clock_now_ns() + 500000;
	msg.period_ns = DRV_LIB_MS;
	drv_lib_put("clock", &msg, sizeof(msg));
}

TEST(clocks_of_another_version_are_not_followed)
{
	drv_lib_always(put_clock_of_another_version);
	TEST_ASSERT_EQUAL(0, drv_lib_run(50, "--set tick=clock/5"));
	TEST_ASSERT_EQUAL(0, phase_of_tick(10));
	TEST_ASSERT_EQUAL(MSG_FLAG_FREERUN, drv_lib_last()->header.flags & MSG_FLAG_FREERUN);
}

/* ---- its frame ---- */

static const char *line_with_clock_frame(double ms)
{
	static char line[512];
	char text[512];

	snprintf(text, sizeof(text),
		 "robot: lab\nbuses:\n  lab: {interface: \"log:%s\", clock: \"080#\"}\n"
		 "devices:\n  arm: {driver: faked, bus: {main: lab}, settings: {tick: clock/5},\n"
		 "    limits: {velocity: 9, acceleration: 9}}\n",
		 drv_lib_log(ms));
	snprintf(line, sizeof(line), "--name arm --set lock_memory=no --config %s", drv_lib_file("lab.yaml", text));
	return line;
}

static void put_clock_from_2(void)
{
	clock_first_cycle = 2;
	put_clock();
	clock_first_cycle = 0;
}

/* Cycle 2 is that of the start, so 5, 10 ... are 3, 8 ... ms after it.  The frame is sent in each of them, 0.1 ms
 * later. */
TEST(the_channel_says_which_cycle_a_frame_belongs_to)
{
	clock_phase_ns = 0;
	for (unsigned int i = 0; i < 600; i++)
		drv_lib_frame(i + 0.1, "080#");
	drv_lib_always(put_clock_from_2);
	TEST_ASSERT_EQUAL_MESSAGE(0, drv_lib_main(line_with_clock_frame(599)), drv_lib.said);
	for (unsigned int tick = fake.ticks_n - 10; tick < fake.ticks_n; tick++)
		TEST_ASSERT_EQUAL(3100000, (fake.ticks[tick].ns - DRV_LIB_START_NS) % DRV_LIB_TICK_NS);
}

/* The frame comes 0.1 ms after the cycle, and tells better; when it is missing for more than two periods the channel
 * is believed again, and ticks are moved to it, by 0.05 ms each. */
TEST(a_missing_frame_is_not_waited_for)
{
	static const int64_t expected_us[] = { 55100, 60100, 65100, 70050, 75000, 80000 };

	clock_phase_ns = 0;
	for (unsigned int i = 0; i <= 10; i++)
		drv_lib_frame(5 * i + 0.1, "080#");
	drv_lib_always(put_clock);
	TEST_ASSERT_EQUAL_MESSAGE(0, drv_lib_main(line_with_clock_frame(91)), drv_lib.said);
	TEST_ASSERT_EQUAL(US(DRV_LIB_START_NS) + 50100, US(fake.ticks[10].ns));
	for (unsigned int i = 0; i < 6; i++)
		TEST_ASSERT_EQUAL(US(DRV_LIB_START_NS) + expected_us[i], US(fake.ticks[11 + i].ns));
}

/* A message does not change how fast a driver obeys. */
TEST(a_clock_of_another_period_is_ignored)
{
	clock_phase_ns = 0;
	clock_base_ns = 2000 * DRV_LIB_MS;
	drv_lib_always(put_clock);
	TEST_ASSERT_EQUAL(0, drv_lib_run(200, "--set tick=clock/5"));
	clock_base_ns = DRV_LIB_MS;
	TEST_ASSERT_INT64_WITHIN(DRV_LIB_MS / 10, 5 * DRV_LIB_MS, fake.ticks[8].ns - fake.ticks[7].ns);
	TEST_ASSERT_TRUE(drv_lib_last()->header.flags & MSG_FLAG_FREERUN);
}

DRV_LIB_HOOK(remove_clock, drv_lib_remove("clock"));

TEST(a_new_clock_is_found_within_a_second)
{
	clock_phase_ns = 0;
	drv_lib_at(3, remove_clock);
	drv_lib_at(210, put_clock);
	TEST_ASSERT_EQUAL(0, drv_lib_run(1060, "--set tick=clock/5"));
	TEST_ASSERT_EQUAL(MSG_FLAG_FREERUN, STATE(208)->header.flags & MSG_FLAG_FREERUN);
	TEST_ASSERT_EQUAL(0, STATE(210)->header.flags & MSG_FLAG_FREERUN);
}

/* ---- channels that it writes ---- */

static int add_output(struct drv *drv, struct error_sink *errors)
{
	TEST_ASSERT_EQUAL(0, drv_add_output(drv, "bus-table", msg_bus_stats_number, errors));
	TEST_ASSERT_EQUAL(1, drv_add_output(drv, "bus-chair", msg_bus_stats_number, errors));
	return 0;
}

static void put_output(void)
{
	struct msg_bus_stats msg;

	msg_init(&msg, msg_type_by_number(msg_bus_stats_number));
	msg.header.t_sample_ns = 5;
	drv_put(fake.drv, 0, &msg, clock_now_ns());
	drv_put(fake.drv, 1, &msg, clock_now_ns());
}

static void remove_outputs(void)
{
	drv_lib_remove("arm-state");
	drv_lib_remove("arm-rep");
	drv_lib_remove("arm-event");
	drv_lib_remove("bus-table");
	drv_lib_remove("bus-chair");
}

static void write_every_output(void)
{
	reset();
	break_down();
	put_output();
}

TEST(removed_channels_are_made_again_within_a_second)
{
	struct msg_bus_stats msg = { 0 };

	fake.declare = add_output;
	drv_lib_at(3, remove_outputs);
	drv_lib_at(210, write_every_output);
	TEST_ASSERT_EQUAL(0, drv_lib_run(1100, ""));
	TEST_ASSERT_TRUE(drv_lib_reported("gone"));
	TEST_ASSERT_EQUAL(1, drv_lib_answers(2));
	/* two ticks, then 202 to 221, and the end */
	TEST_ASSERT_EQUAL(2 + 20 + 1, drv_lib.states_n);
	TEST_ASSERT_EQUAL(202, STATE(2)->common.ticks);
	TEST_ASSERT_EQUAL(1, STATE(2)->header.incarnation);
	drv_lib_get("bus-table", &msg, msg_bus_stats_number);
	TEST_ASSERT_EQUAL(5, msg.header.t_sample_ns);
	TEST_ASSERT_EQUAL(fake.ticks[209].ns, msg.header.t_publish_ns);
	TEST_ASSERT_EQUAL(1, msg.header.incarnation);
	TEST_ASSERT_EQUAL(1, msg.header.sequence);
	TEST_ASSERT_EQUAL(1, drv_lib_seq("bus-chair"));
}

static int thief_fd;

static void take_a_claim(void)
{
	char path[128], name[96];

	snprintf(path, sizeof(path), "%s/shm/.endplate-claims-%u", drv_lib.folder, (unsigned int)geteuid());
	snprintf(name, sizeof(name), "channel:%s", drv_lib_channel("arm-state"));
	TEST_ASSERT_EQUAL(0, unlink(path));
	thief_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	TEST_ASSERT_EQUAL(0, claim_file_lock(thief_fd, claim_file_byte(name)));
}

TEST(a_claim_taken_by_another_process_is_reported_within_a_second)
{
	char own[96];

	snprintf(own, sizeof(own), "%s/shm", drv_lib.folder);
	TEST_ASSERT_EQUAL(0, mkdir(own, 0700));
	setenv("ACH_DIR", own, 1);
	drv_lib_at(3, take_a_claim);
	TEST_ASSERT_EQUAL(0, drv_lib_run(2200, ""));
	unsetenv("ACH_DIR");
	close(thief_fd);
	TEST_ASSERT_EQUAL(1, drv_lib_events("claim-lost"));
	TEST_ASSERT_NOT_NULL(strstr(drv_lib_event("claim-lost")->text, "was removed, and another process has taken"));
}

/* ---- parts ---- */

static int add_hand(struct drv *drv, struct error_sink *errors)
{
	const unsigned int joints[] = { 0 };

	return drv_add_part(drv, "hand", joints, 1, errors) < 0 ? -1 : 0;
}

static void put_hand_ref(void)
{
	const struct msg_joint_ref hand = drv_lib_ref(MSG_MODE_VELOCITY, 0.1, 100);

	drv_lib_put("arm-hand-ref", &hand, sizeof(hand));
}

DRV_LIB_HOOK(put_whole_ref, drv_lib_put_ref(MSG_MODE_VELOCITY, 0.2, 20));

static void put_nan_hand(void)
{
	struct msg_joint_ref hand = drv_lib_ref(MSG_MODE_VELOCITY, 0.1, 20);

	hand.header.incarnation = 4711;
	hand.velocity[0] = NAN;
	drv_lib_put("arm-hand-ref", &hand, sizeof(hand));
}

TEST(a_refused_reference_of_a_part_is_reported_with_its_channel)
{
	fake.declare = add_hand;
	armed_from_the_second_tick();
	drv_lib_at(3, put_nan_hand);
	TEST_ASSERT_EQUAL(0, drv_lib_run(80, ""));
	TEST_ASSERT_EQUAL_STRING("arm-hand-ref: process 4711: velocity[0] (elbow) is nan: give a finite number",
				 drv_lib_event("ref-refused")->text);
}

TEST(a_refused_reference_for_a_device_with_parts_is_reported)
{
	fake.declare = add_hand;
	armed_from_the_second_tick();
	drv_lib_at(3, put_900_ms);
	TEST_ASSERT_EQUAL(0, drv_lib_run(80, ""));
	TEST_ASSERT_EQUAL_STRING("process 4711: valid for 900 ms, at most 25 ms: give it less",
				 drv_lib_event("ref-refused")->text);
}

TEST(a_part_follows_its_own_reference_where_the_whole_device_has_none)
{
	struct msg_joint_state state;

	fake.declare = add_hand;
	armed_from_the_second_tick();
	drv_lib_at(3, put_hand_ref);
	drv_lib_at(6, put_whole_ref);
	TEST_ASSERT_EQUAL(0, drv_lib_run(80, "--set ref_max=100ms"));
	TEST_ASSERT_EQUAL_DOUBLE(0, fake.ticks[2].ref_rad_s);
	TEST_ASSERT_EQUAL_DOUBLE(0.1, fake.ticks[4].ref_rad_s);
	TEST_ASSERT_EQUAL_DOUBLE(0.2, fake.ticks[7].ref_rad_s);
	TEST_ASSERT_EQUAL_DOUBLE(0.1, fake.ticks[13].ref_rad_s);
	drv_lib_get("arm-hand-state", &state, msg_joint_state_number);
	TEST_ASSERT_EQUAL(1, state.count);
	TEST_ASSERT_EQUAL_STRING(drv_lib_last()->joint[0], state.joint[0]);
}
