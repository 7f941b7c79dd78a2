/* test_pciod_ask.c: a late reply never satisfies the next request. */
#include "unity.h"

#include "daemons/pcio/pciod_ask.h"

#define MS INT64_C(1000000)

static const struct pciod_ask_times times = { .late_ns = 20 * MS, .lost_ns = 100 * MS };
static struct pciod_ask ask;

void setUp(void)
{
	ask = (struct pciod_ask){ 0 };
}

void tearDown(void)
{
}

static bool is_free(int64_t now_ms)
{
	return pciod_ask_free(&ask, &times, now_ms * MS);
}

static bool reply(int64_t t_ms)
{
	return pciod_ask_reply(&ask, &times, t_ms * MS);
}

static void put_and_sent(int64_t put_ms, int64_t sent_ms)
{
	TEST_ASSERT_TRUE(is_free(put_ms));
	pciod_ask_put(&ask, put_ms * MS);
	pciod_ask_sent(&ask, sent_ms * MS);
}

static void a_reply_in_time_is_the_answer(void)
{
	put_and_sent(1000, 1001);
	TEST_ASSERT_FALSE(is_free(1002));
	TEST_ASSERT_TRUE(reply(1003));
	TEST_ASSERT_EQUAL_INT64(1001 * MS, ask.since_ns);
	TEST_ASSERT_FALSE(ask.unanswered);
	TEST_ASSERT_TRUE(is_free(1003));
}

static void what_nobody_asked_for_is_no_answer(void)
{
	TEST_ASSERT_FALSE(reply(1000));
	TEST_ASSERT_TRUE(is_free(1000));
	put_and_sent(1001, 1001);
	TEST_ASSERT_TRUE(reply(1002));
	TEST_ASSERT_FALSE(reply(1003)); /* twice */
	TEST_ASSERT_TRUE(is_free(1003));
}

/* The controller's driver delivers what it received before it tells what it has sent. */
static void a_reply_before_the_echo_of_its_request_counts(void)
{
	for (int i = 0; i < 5; i++) { /* and does not disturb the next one */
		TEST_ASSERT_TRUE(is_free(1000 + 10 * i));
		pciod_ask_put(&ask, (1000 + 10 * i) * MS);
		TEST_ASSERT_TRUE(reply(1001 + 10 * i));
		TEST_ASSERT_FALSE(ask.unanswered);
		TEST_ASSERT_TRUE(is_free(1001 + 10 * i));
		TEST_ASSERT_FALSE(reply(1001 + 10 * i)); /* twice */
		pciod_ask_sent(&ask, (1002 + 10 * i) * MS);
		TEST_ASSERT_TRUE(is_free(1003 + 10 * i));
	}
	/* The echo comes when the next one is put. */
	pciod_ask_put(&ask, 1100 * MS);
	TEST_ASSERT_TRUE(reply(1101));
	pciod_ask_put(&ask, 1102 * MS);
	pciod_ask_sent(&ask, 1103 * MS);
	TEST_ASSERT_EQUAL(PCIOD_ASK_PUT, ask.phase);
	pciod_ask_sent(&ask, 1104 * MS);
	TEST_ASSERT_EQUAL(PCIOD_ASK_SENT, ask.phase);
	TEST_ASSERT_TRUE(reply(1105));
	/* Or it is lost. */
	pciod_ask_put(&ask, 1200 * MS);
	TEST_ASSERT_TRUE(reply(1201));
	pciod_ask_lost(&ask);
	put_and_sent(1202, 1203);
	TEST_ASSERT_TRUE(reply(1204));
}

/* On an interface that has no echo. */
static void or_there_never_is_an_echo(void)
{
	for (int i = 0; i < 100; i++) {
		TEST_ASSERT_TRUE(is_free(1000 + 10 * i));
		pciod_ask_put(&ask, (1000 + 10 * i) * MS);
		TEST_ASSERT_TRUE(reply(1001 + 10 * i));
	}
	TEST_ASSERT_EQUAL(2, ask.early);
}

static void a_reply_before_its_request_is_none(void)
{
	pciod_ask_put(&ask, 1000 * MS);
	TEST_ASSERT_FALSE(reply(999));
	TEST_ASSERT_FALSE(is_free(1000));
	pciod_ask_sent(&ask, 1003 * MS);
	TEST_ASSERT_FALSE(reply(1002)); /* by the stamps */
	TEST_ASSERT_FALSE(is_free(1004));
	TEST_ASSERT_TRUE(reply(1003));
}

static void late_is_inclusive(void)
{
	put_and_sent(1000, 1000);
	TEST_ASSERT_FALSE(is_free(1020));
	TEST_ASSERT_TRUE(reply(1020));
	put_and_sent(1100, 1100);
	TEST_ASSERT_FALSE(reply(1121)); /* no tick in between */
	TEST_ASSERT_TRUE(ask.unanswered);
	TEST_ASSERT_TRUE(is_free(1121));
}

static void a_late_reply_is_dropped_and_the_key_is_free_again(void)
{
	put_and_sent(1000, 1000);
	TEST_ASSERT_FALSE(is_free(1021));
	TEST_ASSERT_EQUAL(PCIOD_ASK_OWED, ask.phase);
	TEST_ASSERT_TRUE(ask.unanswered);
	TEST_ASSERT_FALSE(reply(1030));
	TEST_ASSERT_TRUE(is_free(1030));
	put_and_sent(1035, 1035);
	TEST_ASSERT_TRUE(reply(1036));
	TEST_ASSERT_FALSE(ask.unanswered);
}

static void nothing_is_asked_while_a_reply_is_owed(void)
{
	put_and_sent(1000, 1000);
	TEST_ASSERT_FALSE(is_free(1021));
	TEST_ASSERT_FALSE(is_free(1100));
	TEST_ASSERT_TRUE(is_free(1101));
	put_and_sent(1101, 1102);
	TEST_ASSERT_TRUE(reply(1103));
}

static void what_was_not_confirmed_is_given_up_too(void)
{
	pciod_ask_put(&ask, 1000 * MS);
	TEST_ASSERT_FALSE(is_free(1020));
	TEST_ASSERT_FALSE(is_free(1021));
	TEST_ASSERT_EQUAL(PCIOD_ASK_OWED, ask.phase);
	pciod_ask_sent(&ask, 1090 * MS); /* a stall held it */
	TEST_ASSERT_FALSE(is_free(1150));
	TEST_ASSERT_FALSE(reply(1151));
	TEST_ASSERT_TRUE(is_free(1151));
}

static void an_echo_after_all_hope_leaves_a_reply_owed(void)
{
	pciod_ask_put(&ask, 1000 * MS);
	TEST_ASSERT_FALSE(is_free(1050));
	TEST_ASSERT_TRUE(is_free(1101));
	pciod_ask_sent(&ask, 1200 * MS);
	TEST_ASSERT_FALSE(is_free(1201));
	TEST_ASSERT_FALSE(reply(1201));
	TEST_ASSERT_TRUE(is_free(1201));
}

static void two_on_the_wire_owe_two_replies(void)
{
	pciod_ask_put(&ask, 1000 * MS);
	TEST_ASSERT_FALSE(is_free(1050));
	TEST_ASSERT_TRUE(is_free(1101));
	pciod_ask_put(&ask, 1101 * MS);
	pciod_ask_sent(&ask, 1102 * MS); /* the first one's */
	pciod_ask_sent(&ask, 1103 * MS);
	TEST_ASSERT_FALSE(reply(1104));
	TEST_ASSERT_FALSE(is_free(1104));
	TEST_ASSERT_FALSE(reply(1105));
	TEST_ASSERT_TRUE(is_free(1105));
}

static void a_lost_one_may_have_been_sent(void)
{
	pciod_ask_put(&ask, 1000 * MS);
	pciod_ask_lost(&ask);
	TEST_ASSERT_FALSE(is_free(1001));
	TEST_ASSERT_TRUE(ask.unanswered);
	TEST_ASSERT_FALSE(reply(1002));
	TEST_ASSERT_TRUE(is_free(1002));
	pciod_ask_lost(&ask); /* of one that is not under way */
	TEST_ASSERT_TRUE(is_free(1002));
	put_and_sent(1003, 1003);
	pciod_ask_lost(&ask); /* it was sent, by its echo */
	TEST_ASSERT_TRUE(reply(1004));
}

static void a_reply_lost_for_good_does_not_shift_those_behind_it(void)
{
	int64_t now = 1000;
	unsigned int answered = 0;

	put_and_sent(now, now); /* never answered */
	for (unsigned int i = 0; i < 100; i++) {
		now += 5;
		if (!is_free(now))
			continue;
		put_and_sent(now, now);
		answered += reply(now + 1);
	}
	TEST_ASSERT_EQUAL_UINT(80, answered); /* all but those of the first 100 ms */
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(a_reply_in_time_is_the_answer);
	RUN_TEST(what_nobody_asked_for_is_no_answer);
	RUN_TEST(a_reply_before_the_echo_of_its_request_counts);
	RUN_TEST(or_there_never_is_an_echo);
	RUN_TEST(a_reply_before_its_request_is_none);
	RUN_TEST(late_is_inclusive);
	RUN_TEST(a_late_reply_is_dropped_and_the_key_is_free_again);
	RUN_TEST(nothing_is_asked_while_a_reply_is_owed);
	RUN_TEST(what_was_not_confirmed_is_given_up_too);
	RUN_TEST(an_echo_after_all_hope_leaves_a_reply_owed);
	RUN_TEST(two_on_the_wire_owe_two_replies);
	RUN_TEST(a_lost_one_may_have_been_sent);
	RUN_TEST(a_reply_lost_for_good_does_not_shift_those_behind_it);
	return UNITY_END();
}
