/* test_drv_estop.c: which level of the e-stop is obeyed, rule by rule. */
#include <string.h>

#include "unity.h"

#include "daemons/drv_estop.h"

#define A 0
#define B 1

enum { RUN = MSG_LEVEL_RUN, HOLD = MSG_LEVEL_HOLD, ESTOP = MSG_LEVEL_ESTOP };

static struct drv_estop e;
static uint64_t seq[DRV_ESTOP_CHANNELS]; /* of the last message put */

void setUp(void)
{
	seq[A] = seq[B] = 0;
	drv_estop_start(&e);
	drv_estop_begin(&e);
}

void tearDown(void)
{
}

/* ---- sentences of a turn ---- */

static void put_seen(unsigned int channel, uint64_t epoch, uint32_t level, uint64_t seen_a, uint64_t seen_b)
{
	struct msg_estop msg = { .epoch = epoch, .level = level, .seen = { seen_a, seen_b }, .who = "me" };

	memcpy(msg.why, "because", 7);
	drv_estop_message(&e, channel, &msg, ++seq[channel]);
}

/* Its writer had seen everything. */
static void put(unsigned int channel, uint64_t epoch, uint32_t level)
{
	put_seen(channel, epoch, level, seq[A], seq[B]);
}

static void put_both(uint64_t epoch, uint32_t level)
{
	uint64_t seen_a = seq[A], seen_b = seq[B];

	put_seen(A, epoch, level, seen_a, seen_b);
	put_seen(B, epoch, level, seen_a, seen_b);
}

/* The turn ends at this level and in this epoch, and the next one begins. */
static void turn_is(int level, uint64_t epoch)
{
	TEST_ASSERT_EQUAL_INT(level, drv_estop_end(&e));
	TEST_ASSERT_EQUAL_INT(level, e.level);
	TEST_ASSERT_EQUAL_UINT64(epoch, e.epoch);
	drv_estop_begin(&e);
}

static void armed(uint64_t epoch)
{
	put_both(epoch, RUN);
	drv_estop_end(&e);
	drv_estop_begin(&e);
	turn_is(RUN, epoch);
}

/* ---- beginning ---- */

static void test_comes_up_stopped(void)
{
	memset(&e, 0xA5, sizeof(e));
	drv_estop_start(&e);
	TEST_ASSERT_EQUAL_INT(ESTOP, e.level);
	TEST_ASSERT_EQUAL_UINT64(0, e.epoch);
	TEST_ASSERT_EQUAL_UINT64(0, e.voided);
	TEST_ASSERT_EQUAL_STRING("", e.who);
	TEST_ASSERT_EQUAL_STRING("", e.why);
	drv_estop_begin(&e);
	turn_is(ESTOP, 0);
	turn_is(ESTOP, 0);
}

static void test_a_new_epoch_on_both_channels_arms(void)
{
	put_both(1, RUN);
	turn_is(RUN, 1);
	turn_is(RUN, 1);
	TEST_ASSERT_EQUAL_UINT64(0, e.voided);
}

static void test_one_channel_does_not_arm(void)
{
	for (unsigned int channel = A; channel <= B; channel++) {
		setUp();
		put(channel, 1, RUN);
		turn_is(ESTOP, 0);
		turn_is(ESTOP, 0);
		put(1 - channel, 1, RUN);
		turn_is(RUN, 1);
	}
}

static void test_epoch_nought_does_not_arm(void)
{
	put_both(0, RUN);
	turn_is(ESTOP, 0);
}

static void test_to_hold_is_a_lowering_too(void)
{
	put_both(1, HOLD);
	turn_is(HOLD, 1);
	put_both(2, RUN);
	turn_is(RUN, 2);
}

/* B's message comes a turn after A's, and A's does not lie behind what its writer had seen. */
static void test_to_hold_in_two_turns(void)
{
	put_seen(A, 1, HOLD, 0, 0);
	turn_is(ESTOP, 0);
	put_seen(B, 1, HOLD, 0, 0);
	turn_is(HOLD, 1);
	TEST_ASSERT_EQUAL_UINT64(0, e.voided);
}

/* What a driver that is started again reads at once. */
static void test_retained_messages_at_start(void)
{
	for (unsigned int channel = A; channel <= B; channel++) {
		seq[channel] = 100; /* older ones are gone */
		put_seen(channel, 6, ESTOP, 0, 0);
		put_seen(channel, 7, RUN, 101, 101);
		put_seen(channel, 7, HOLD, 0, 0);
	}
	turn_is(ESTOP, 0);
	turn_is(HOLD, 7);
	TEST_ASSERT_EQUAL_UINT64(0, e.voided);
}

static void test_retained_raises_alone_at_start(void)
{
	for (unsigned int channel = A; channel <= B; channel++) {
		seq[channel] = 100;
		put_seen(channel, 7, HOLD, 0, 0);
		put_seen(channel, 7, HOLD, 0, 0);
	}
	turn_is(HOLD, 7);
}

/* ---- raises ---- */

static void test_one_channel_raises(void)
{
	for (unsigned int channel = A; channel <= B; channel++)
		for (uint32_t level = HOLD; level <= ESTOP; level++) {
			setUp();
			armed(1);
			put(channel, 1, level);
			turn_is((int)level, 1);
			turn_is((int)level, 1);
		}
}

static void test_any_epoch_raises(void)
{
	for (uint64_t epoch = 4; epoch <= 6; epoch++) {
		setUp();
		armed(5);
		put(A, epoch, HOLD);
		turn_is(HOLD, 5);
		put(B, epoch, ESTOP);
		turn_is(ESTOP, epoch == 6 ? 6 : 5);
	}
}

static void test_the_same_epoch_never_lowers(void)
{
	armed(1);
	put_both(1, ESTOP);
	turn_is(ESTOP, 1);
	put_both(1, HOLD);
	turn_is(ESTOP, 1);
	put_both(1, RUN);
	turn_is(ESTOP, 1);
	put_both(0, RUN);
	turn_is(ESTOP, 1);
	TEST_ASSERT_EQUAL_UINT64(0, e.voided);
}

static void test_a_level_that_is_none_is_estop(void)
{
	armed(1);
	put(A, 1, ESTOP + 1);
	turn_is(ESTOP, 1);
	put_both(2, ESTOP + 1);
	turn_is(ESTOP, 2);
	put_both(3, UINT32_MAX);
	turn_is(ESTOP, 3);
}

static void test_a_new_epoch_of_the_same_level(void)
{
	armed(1);
	put_both(2, RUN);
	turn_is(RUN, 2);
	/* It was no raise, so the next one need not have seen it. */
	put(A, 2, HOLD);
	turn_is(HOLD, 2);
	put_seen(A, 3, RUN, 3, 0);
	put_seen(B, 3, RUN, 3, 0);
	turn_is(RUN, 3);
}

/* ---- lowerings and what makes them void ---- */

static void test_a_raise_the_writer_had_not_seen(void)
{
	for (unsigned int channel = A; channel <= B; channel++)
		for (uint64_t missing = 0; missing <= 1; missing++) {
			setUp();
			armed(1);
			put(channel, 1, HOLD);
			turn_is(HOLD, 1);
			put_seen(A, 2, RUN, channel == A ? 2 - missing : 1, channel == B ? 2 - missing : 1);
			put_seen(B, 2, RUN, channel == A ? 2 - missing : 1, channel == B ? 2 - missing : 1);
			turn_is(missing ? HOLD : RUN, missing ? 1 : 2);
			TEST_ASSERT_EQUAL_UINT64(missing, e.voided); /* the other channel had nothing to lower */
		}
}

static void test_a_raise_behind_the_lowering_in_the_same_turn(void)
{
	armed(1);
	put_both(1, ESTOP);
	turn_is(ESTOP, 1);
	put_both(2, RUN);
	put(B, 1, HOLD); /* by one who does not know of epoch 2 */
	turn_is(ESTOP, 1);
	turn_is(ESTOP, 1);
	TEST_ASSERT_EQUAL_UINT64(2, e.voided);
	put_both(3, RUN);
	turn_is(RUN, 3);
}

static void test_a_raise_between_what_was_read_and_the_lowering(void)
{
	armed(1);
	put_both(1, HOLD);
	turn_is(HOLD, 1);
	put(A, 1, ESTOP);
	put_seen(A, 2, RUN, 2, 2);
	put_seen(B, 2, RUN, 2, 2);
	turn_is(ESTOP, 1);
	TEST_ASSERT_EQUAL_UINT64(2, e.voided);
	turn_is(ESTOP, 1);
}

/* A raise of an epoch before the last stays to be seen. */
static void test_an_old_raise_is_not_forgotten_with_its_epoch(void)
{
	armed(1);
	put(A, 1, HOLD); /* A's 2 */
	put(A, 2, HOLD); /* A's 3: a new epoch that lowers nothing */
	put(B, 2, RUN);
	turn_is(HOLD, 2);
	put_seen(A, 3, RUN, 1, seq[B]);
	put_seen(B, 3, RUN, 1, seq[B]);
	turn_is(HOLD, 2);
	TEST_ASSERT_EQUAL_UINT64(1, e.voided); /* on B nothing was lowered */
	put_seen(A, 4, RUN, 3, seq[B]);
	put_seen(B, 4, RUN, 3, seq[B]);
	turn_is(RUN, 4);
}

/* A has taken the lowering, and is raised in the new epoch, before B comes to it: the raise does not undo B's. */
static void test_a_raise_of_the_new_epoch_does_not_make_it_void(void)
{
	put_seen(A, 1, RUN, 0, 0);
	turn_is(ESTOP, 0);
	put(A, 1, HOLD);
	turn_is(ESTOP, 0);
	put_seen(B, 1, RUN, 0, 0);
	turn_is(HOLD, 1);
	/* But one of an older epoch, which came after, does. */
	setUp();
	put_seen(A, 1, RUN, 0, 0);
	turn_is(ESTOP, 0);
	put(A, 0, HOLD);
	turn_is(ESTOP, 0);
	put_seen(B, 1, RUN, 0, 0);
	turn_is(ESTOP, 0);
	TEST_ASSERT_EQUAL_UINT64(1, e.voided);
}

/* The other channel's epoch is the new one already, and its raise belonged to the one before. */
static void test_a_raise_of_the_old_epoch_after_the_other_channel_went_on(void)
{
	armed(1);
	put(A, 1, ESTOP);
	turn_is(ESTOP, 1);
	put_seen(A, 2, RUN, 2, 1);
	turn_is(RUN, 1);
	put(B, 1, HOLD);
	turn_is(HOLD, 1);
	put_seen(B, 2, RUN, 1, 2); /* says that it had not seen A's estop */
	turn_is(HOLD, 1);
	TEST_ASSERT_EQUAL_UINT64(1, e.voided);
	put_seen(B, 2, RUN, 2, 2);
	turn_is(RUN, 2);
}

/* Nobody has seen what comes after his own message. */
static void test_what_cannot_have_been_seen(void)
{
	for (unsigned int channel = A; channel <= B; channel++) {
		setUp();
		put_seen(channel, 1, RUN, 1000, 1000);
		put_seen(channel, 0, HOLD, 0, 0);
		put_seen(1 - channel, 1, RUN, 1000, 1000);
		turn_is(ESTOP, 0);
		TEST_ASSERT_EQUAL_UINT64(1, e.voided);
		put_both(2, RUN);
		turn_is(RUN, 2);
	}
	/* Not even its own: the epoch's raise has the number of the message before. */
	setUp();
	put(A, 0, HOLD);
	put_seen(A, 1, RUN, 2, 0);
	put_seen(B, 1, RUN, 1, 0);
	turn_is(HOLD, 0);
	turn_is(RUN, 1);
	TEST_ASSERT_EQUAL_UINT64(1, e.channel[A].seen_seq[A]);
}

/* ---- several messages of the new epoch in one turn ---- */

static void test_the_highest_level_of_the_new_epoch_counts(void)
{
	put_both(1, RUN);
	put(A, 1, HOLD);
	put(A, 1, RUN);
	turn_is(HOLD, 1);
	turn_is(HOLD, 1);
	TEST_ASSERT_EQUAL_UINT64(0, e.voided);
	/* And it was a raise that the next lowering must have seen. */
	put_seen(A, 2, RUN, 1, 1);
	put_seen(B, 2, RUN, 1, 1);
	turn_is(HOLD, 1);
	put_seen(A, 3, RUN, 2, 1);
	put_seen(B, 3, RUN, 2, 1);
	turn_is(RUN, 3);
}

/* The raiser saw the new epoch on A and was faster than the armer on B. */
static void test_a_raise_of_the_new_epoch_before_its_lowering(void)
{
	armed(1);
	put_both(1, ESTOP); /* 2 of both */
	turn_is(ESTOP, 1);
	put_seen(A, 2, RUN, 2, 2);
	put_seen(B, 2, HOLD, 0, 0);
	put_seen(B, 2, RUN, 2, 2);
	turn_is(HOLD, 2);
	TEST_ASSERT_EQUAL_UINT64(0, e.voided);
	put_seen(A, 3, RUN, 3, 2); /* has not seen the hold, B's 3 */
	put_seen(B, 3, RUN, 3, 2);
	turn_is(HOLD, 2);
	TEST_ASSERT_EQUAL_UINT64(1, e.voided);
	put_seen(B, 4, RUN, 3, 3);
	put_seen(A, 4, RUN, 3, 3);
	turn_is(RUN, 4);
}

/* A raiser may write into seen_seq what he likes: what counts is the lowering's. */
static void test_a_raise_does_not_speak_for_the_lowering(void)
{
	armed(1);
	put_both(1, ESTOP);
	turn_is(ESTOP, 1);
	for (unsigned int channel = A; channel <= B; channel++) {
		put_seen(channel, 2, RUN, 1, 1);
		put_seen(channel, 2, HOLD, 3, 3);
	}
	turn_is(ESTOP, 1);
	turn_is(ESTOP, 1);
	TEST_ASSERT_EQUAL_UINT64(2, e.voided);
	put_seen(A, 2, HOLD, 4, 4);
	turn_is(ESTOP, 1);
	TEST_ASSERT_EQUAL_UINT64(2, e.voided);
	/* Nor if it comes first. */
	for (unsigned int channel = A; channel <= B; channel++) {
		put_seen(channel, 3, HOLD, 9, 9);
		put_seen(channel, 3, RUN, 1, 1);
	}
	turn_is(ESTOP, 1);
	TEST_ASSERT_EQUAL_UINT64(4, e.voided);
}

/* A void lowering may be repeated, in the same epoch, by one who looked again: in the same turn or later. */
static void test_a_void_lowering_is_repeated(void)
{
	for (int turns = 1; turns <= 2; turns++) {
		setUp();
		armed(1);
		put_both(1, ESTOP); /* 2 */
		turn_is(ESTOP, 1);
		put_seen(A, 2, RUN, 1, 2);
		put_seen(B, 2, RUN, 1, 2);
		if (turns == 2)
			turn_is(ESTOP, 1);
		TEST_ASSERT_EQUAL_UINT64(turns == 2 ? 2 : 0, e.voided);
		put_seen(A, 2, RUN, 2, 0);
		put_seen(B, 2, RUN, 2, 0);
		turn_is(RUN, 2);
	}
}

/* As before, but the raise of the new epoch was found void before the lowering came. */
static void test_a_raise_of_the_new_epoch_a_turn_before_its_lowering(void)
{
	armed(1);
	put_both(1, ESTOP); /* 2 of both */
	turn_is(ESTOP, 1);
	put_seen(A, 2, RUN, 2, 2);
	put_seen(B, 2, HOLD, 0, 0);
	turn_is(ESTOP, 1);
	put_seen(B, 2, RUN, 2, 2);
	turn_is(HOLD, 2);
}

/* The raise of a void lowering's epoch stays. */
static void test_a_void_lowering_leaves_its_raise(void)
{
	armed(1);
	put_both(1, HOLD);
	turn_is(HOLD, 1);
	put_seen(A, 2, RUN, 0, 0);
	put(A, 2, ESTOP); /* 4 */
	turn_is(ESTOP, 1);
	turn_is(ESTOP, 1);
	TEST_ASSERT_EQUAL_UINT64(1, e.voided);
	put_seen(A, 3, RUN, 3, 2);
	put_seen(B, 3, RUN, 3, 2);
	turn_is(ESTOP, 1);
	put_seen(A, 4, RUN, 4, 2);
	put_seen(B, 4, RUN, 4, 2);
	turn_is(RUN, 4);
}

static void test_two_lowerings_in_one_turn(void)
{
	put_both(1, HOLD);
	put_both(2, RUN);
	turn_is(HOLD, 0);
	turn_is(RUN, 2);
	TEST_ASSERT_EQUAL_UINT64(0, e.voided);
}

/* The second had not seen what was raised after the first. */
static void test_a_raise_between_two_lowerings(void)
{
	armed(1);
	put_both(1, HOLD); /* 2 */
	turn_is(HOLD, 1);
	for (unsigned int channel = A; channel <= B; channel++) {
		put_seen(channel, 2, RUN, 2, 2);   /* 3 */
		put_seen(channel, 2, ESTOP, 0, 0); /* 4 */
		put_seen(channel, 3, HOLD, 3, 3);  /* 5: from estop to hold */
	}
	turn_is(ESTOP, 1);
	turn_is(ESTOP, 1);
	TEST_ASSERT_EQUAL_UINT64(2, e.voided);
}

/* Epochs out of order: the lower one lowers nothing, and is a raise if it is one. */
static void test_an_older_epoch_after_a_newer_one(void)
{
	for (unsigned int channel = A; channel <= B; channel++) {
		put_seen(channel, 5, RUN, 0, 0);
		put_seen(channel, 4, RUN, 0, 0);
	}
	turn_is(RUN, 5);
	setUp();
	for (unsigned int channel = A; channel <= B; channel++) {
		put_seen(channel, 5, RUN, 0, 0);
		put_seen(channel, 4, HOLD, 0, 0);
	}
	turn_is(ESTOP, 0);
	TEST_ASSERT_EQUAL_UINT64(2, e.voided);
}

static void test_a_newer_epoch_that_raises_after_a_lowering(void)
{
	put_both(1, RUN);
	put_both(2, ESTOP);
	turn_is(ESTOP, 2);
	put_both(2, RUN);
	turn_is(ESTOP, 2);
	put_both(3, RUN);
	turn_is(RUN, 3);
	TEST_ASSERT_EQUAL_UINT64(0, e.voided);
}

/* ---- a raise and its lowering in one turn ---- */

static void test_raised_and_lowered_in_one_turn(void)
{
	for (uint32_t level = HOLD; level <= ESTOP; level++) {
		setUp();
		armed(1);
		put_both(1, level);
		put_both(2, RUN);
		turn_is((int)level, 1); /* the action now, the new epoch at the next */
		turn_is(RUN, 2);
	}
}

static void test_raised_on_one_channel_and_lowered_in_one_turn(void)
{
	armed(1);
	put(B, 1, HOLD);
	put_both(2, RUN);
	turn_is(HOLD, 1);
	turn_is(RUN, 2);
}

static void test_raised_in_the_new_epoch_and_lowered_in_one_turn(void)
{
	put_both(1, RUN);
	put_both(1, ESTOP);
	put_both(2, RUN);
	turn_is(ESTOP, 0);
	turn_is(RUN, 2);
}

/* ---- trouble ---- */

static void test_trouble_is_estop_until_a_new_epoch(void)
{
	for (unsigned int channel = A; channel <= B; channel++) {
		setUp();
		armed(1);
		drv_estop_trouble(&e, channel, "messages were missed");
		TEST_ASSERT_TRUE(e.channel[channel].trouble);
		turn_is(ESTOP, 1);
		TEST_ASSERT_FALSE(e.channel[channel].trouble);
		TEST_ASSERT_EQUAL_STRING("", e.who);
		TEST_ASSERT_EQUAL_STRING("messages were missed", e.why);
		turn_is(ESTOP, 1);
		put_both(1, RUN);
		turn_is(ESTOP, 1);
		put(1 - channel, 2, RUN); /* the sound channel alone does not do */
		turn_is(ESTOP, 1);
		put(channel, 2, RUN);
		turn_is(RUN, 2);
	}
}

static void test_trouble_and_a_new_epoch_in_one_turn(void)
{
	armed(1);
	drv_estop_trouble(&e, A, "messages were missed");
	seq[A] = 40;
	put_both(2, RUN);
	turn_is(ESTOP, 1);
	turn_is(RUN, 2);
}

static void test_trouble_after_the_message(void)
{
	armed(1);
	put_both(1, HOLD);
	turn_is(HOLD, 1);
	put_both(2, RUN);
	drv_estop_trouble(&e, A, "corrupt");
	turn_is(ESTOP, 1);
	turn_is(ESTOP, 1);
	TEST_ASSERT_EQUAL_UINT64(2, e.channel[B].epoch);
	TEST_ASSERT_EQUAL_UINT64(1, e.channel[A].epoch);
}

/* What was missed may have been a raise, so its writer must have seen all of it. */
static void test_what_was_missed_has_to_have_been_seen(void)
{
	for (uint64_t seen = 8; seen <= 9; seen++) {
		setUp();
		armed(1);
		drv_estop_trouble(&e, A, "messages were missed");
		seq[A] = 9;
		put_seen(A, 2, RUN, seen, 1);
		put_seen(B, 2, RUN, seen, 1);
		turn_is(ESTOP, 1);
		turn_is(seen == 9 ? RUN : ESTOP, seen == 9 ? 2 : 1);
		TEST_ASSERT_EQUAL_UINT64(seen == 9 ? 0 : 1, e.voided);
	}
	/* Only the first message after it tells. */
	setUp();
	armed(1);
	drv_estop_trouble(&e, A, "messages were missed");
	seq[A] = 8;
	put_seen(A, 1, RUN, 0, 0);
	put_seen(A, 2, RUN, 8, 1);
	put_seen(B, 2, RUN, 8, 1);
	turn_is(ESTOP, 1);
	turn_is(RUN, 2);
}

/* Another file under the old name: its numbers begin anew, and the old file's are nothing to them. */
static void test_a_new_file(void)
{
	armed(1);
	for (int i = 0; i < 9; i++)
		put_both(1, ESTOP);
	put_both(2, RUN);
	put_both(2, ESTOP);
	turn_is(ESTOP, 2);
	drv_estop_trouble(&e, A, "its channel was removed");
	turn_is(ESTOP, 2);
	seq[A] = 0;
	put_seen(B, 3, RUN, 0, seq[B]); /* B's is read before A's is there */
	turn_is(ESTOP, 2);
	TEST_ASSERT_EQUAL_UINT64(0, e.voided);
	put_seen(A, 3, RUN, 0, seq[B]);
	turn_is(RUN, 3);
	put(B, 3, HOLD);
	turn_is(HOLD, 3);
	put_both(4, RUN);
	turn_is(RUN, 4);
	put(A, 4, HOLD);
	turn_is(HOLD, 4);
	put_both(5, RUN);
	turn_is(RUN, 5);
}

/* ---- who said it ---- */

static void said(unsigned int channel, uint64_t epoch, uint32_t level, const char *who)
{
	struct msg_estop msg = { .epoch = epoch, .level = level, .seen = { seq[A], seq[B] } };

	strcpy(msg.who, who);
	strcpy(msg.why, who);
	drv_estop_message(&e, channel, &msg, ++seq[channel]);
}

static void test_who_and_why(void)
{
	armed(1);
	TEST_ASSERT_EQUAL_STRING("me", e.who);
	TEST_ASSERT_EQUAL_STRING("because", e.why);
	said(A, 1, HOLD, "button");
	TEST_ASSERT_EQUAL_STRING("button", e.who);
	said(A, 1, HOLD, "echo"); /* changes nothing */
	said(A, 0, RUN, "nobody");
	TEST_ASSERT_EQUAL_STRING("button", e.who);
	said(A, 0, ESTOP, "late");
	TEST_ASSERT_EQUAL_STRING("late", e.who);
	turn_is(ESTOP, 1);
	said(A, 2, RUN, "operator");
	TEST_ASSERT_EQUAL_STRING("late", e.who); /* not judged yet */
	turn_is(RUN, 1);
	TEST_ASSERT_EQUAL_STRING("operator", e.who);
	TEST_ASSERT_EQUAL_STRING("operator", e.why);
	said(B, 2, RUN, "epoch");
	TEST_ASSERT_EQUAL_STRING("epoch", e.who);
	/* Of a lowering that was raised again in the same turn: who raised it. */
	put_both(2, ESTOP);
	turn_is(ESTOP, 2);
	put_both(3, RUN);
	said(A, 3, HOLD, "first");
	said(A, 3, HOLD, "second");
	said(B, 3, HOLD, "first");
	said(B, 3, HOLD, "second");
	said(B, 3, RUN, "third");
	turn_is(HOLD, 3);
	TEST_ASSERT_EQUAL_STRING("first", e.who);
	TEST_ASSERT_EQUAL_STRING("first", e.why);
	/* Of one that is lowered in the same turn: who raised it, and then who lowered it. */
	said(A, 3, ESTOP, "raiser");
	said(B, 3, ESTOP, "raiser");
	said(A, 4, RUN, "armer");
	said(B, 4, RUN, "armer");
	TEST_ASSERT_EQUAL(ESTOP, drv_estop_end(&e));
	TEST_ASSERT_EQUAL_STRING("raiser", e.who);
	drv_estop_begin(&e);
	turn_is(RUN, 4);
	TEST_ASSERT_EQUAL_STRING("armer", e.who);
	TEST_ASSERT_EQUAL_STRING("armer", e.why);
	said(A, 4, HOLD, "first");
	said(B, 4, HOLD, "first");
	turn_is(HOLD, 4);
	/* Of a void one: nothing. */
	put_seen(A, 5, RUN, 0, 0);
	turn_is(HOLD, 4);
	TEST_ASSERT_EQUAL_STRING("first", e.who);
}

/* Texts without an end are cut, and nothing of an earlier one is left. */
static void test_texts_without_an_end(void)
{
	struct msg_estop msg = { .epoch = 1, .level = ESTOP };
	static const char zeros[MSG_TEXT_SIZE];

	memset(msg.who, 'x', sizeof(msg.who));
	memset(msg.why, 'y', sizeof(msg.why));
	drv_estop_message(&e, A, &msg, 1);
	TEST_ASSERT_EQUAL_size_t(sizeof(e.who) - 1, strlen(e.who));
	TEST_ASSERT_EQUAL_size_t(sizeof(e.why) - 1, strlen(e.why));
	msg.level = RUN;
	msg.epoch = 2;
	memset(msg.seen, 0xFF, sizeof(msg.seen));
	drv_estop_message(&e, A, &msg, 2);
	drv_estop_end(&e);
	TEST_ASSERT_EQUAL_size_t(sizeof(e.who) - 1, strlen(e.who));
	TEST_ASSERT_EQUAL_size_t(sizeof(e.why) - 1, strlen(e.why));
	drv_estop_trouble(&e, A, "short");
	TEST_ASSERT_EQUAL_MEMORY(zeros, e.who, sizeof(e.who));
	TEST_ASSERT_EQUAL_MEMORY(zeros, e.why + 5, sizeof(e.why) - 5);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(test_comes_up_stopped);
	RUN_TEST(test_a_new_epoch_on_both_channels_arms);
	RUN_TEST(test_one_channel_does_not_arm);
	RUN_TEST(test_epoch_nought_does_not_arm);
	RUN_TEST(test_to_hold_is_a_lowering_too);
	RUN_TEST(test_to_hold_in_two_turns);
	RUN_TEST(test_retained_messages_at_start);
	RUN_TEST(test_retained_raises_alone_at_start);
	RUN_TEST(test_one_channel_raises);
	RUN_TEST(test_any_epoch_raises);
	RUN_TEST(test_the_same_epoch_never_lowers);
	RUN_TEST(test_a_level_that_is_none_is_estop);
	RUN_TEST(test_a_new_epoch_of_the_same_level);
	RUN_TEST(test_a_raise_the_writer_had_not_seen);
	RUN_TEST(test_a_raise_behind_the_lowering_in_the_same_turn);
	RUN_TEST(test_a_raise_between_what_was_read_and_the_lowering);
	RUN_TEST(test_an_old_raise_is_not_forgotten_with_its_epoch);
	RUN_TEST(test_a_raise_of_the_new_epoch_does_not_make_it_void);
	RUN_TEST(test_a_raise_of_the_old_epoch_after_the_other_channel_went_on);
	RUN_TEST(test_what_cannot_have_been_seen);
	RUN_TEST(test_the_highest_level_of_the_new_epoch_counts);
	RUN_TEST(test_a_raise_of_the_new_epoch_before_its_lowering);
	RUN_TEST(test_a_raise_does_not_speak_for_the_lowering);
	RUN_TEST(test_a_void_lowering_is_repeated);
	RUN_TEST(test_a_raise_of_the_new_epoch_a_turn_before_its_lowering);
	RUN_TEST(test_a_void_lowering_leaves_its_raise);
	RUN_TEST(test_two_lowerings_in_one_turn);
	RUN_TEST(test_a_raise_between_two_lowerings);
	RUN_TEST(test_an_older_epoch_after_a_newer_one);
	RUN_TEST(test_a_newer_epoch_that_raises_after_a_lowering);
	RUN_TEST(test_raised_and_lowered_in_one_turn);
	RUN_TEST(test_raised_on_one_channel_and_lowered_in_one_turn);
	RUN_TEST(test_raised_in_the_new_epoch_and_lowered_in_one_turn);
	RUN_TEST(test_trouble_is_estop_until_a_new_epoch);
	RUN_TEST(test_trouble_and_a_new_epoch_in_one_turn);
	RUN_TEST(test_trouble_after_the_message);
	RUN_TEST(test_what_was_missed_has_to_have_been_seen);
	RUN_TEST(test_a_new_file);
	RUN_TEST(test_who_and_why);
	RUN_TEST(test_texts_without_an_end);
	return UNITY_END();
}
