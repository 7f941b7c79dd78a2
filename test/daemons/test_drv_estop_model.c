/* test_drv_estop_model.c: everything that can happen between those who raise, one who arms, and a driver, step by
 * step in every order.
 *
 * A raiser looks which epoch it is, then puts on one channel, then on the other.  An armer reads one channel, then
 * the other, then puts the next epoch on each with what it had seen.  A driver's turn reads all there is on one
 * channel, then on the other.  What must hold is said in terms of what was put and read, not of how the driver keeps
 * book.
 */
#include <string.h>

#include "unity.h"

#include "daemons/drv_estop.h"

#define MESSAGES_MAX 16
#define ACTORS_MAX 4

enum { RUN = MSG_LEVEL_RUN, HOLD = MSG_LEVEL_HOLD, ESTOP = MSG_LEVEL_ESTOP };

struct note {
	uint8_t epoch, level;
	bool arm;
	uint8_t seen[2];
};

/* One who takes steps. */
struct actor {
	enum { RAISER, ARMER, DRIVER } is;
	uint8_t steps;
	uint8_t level; /* raiser */
	uint8_t first; /* raiser: the channel it puts on first */
};

struct world {
	struct note log[2][MESSAGES_MAX]; /* message s of channel k is log[k][s - 1] */
	uint8_t n[2];
	uint8_t done[ACTORS_MAX];
	uint8_t epoch[ACTORS_MAX]; /* as each actor has read it */
	uint8_t seen[ACTORS_MAX][2];
	/* the driver */
	struct drv_estop estop;
	uint8_t read[2];   /* the last message read */
	uint8_t before[2]; /* at the beginning of its turn */
	uint8_t since[2];  /* the first message read after some were missed; 0: none ever were */
};

static const struct actor *actors;
static unsigned int actors_n;
static unsigned int retained;
static unsigned long orders, exact, stopped;

void setUp(void)
{
	orders = exact = stopped = 0;
	retained = MESSAGES_MAX;
}

void tearDown(void)
{
}

/* ---- what must hold ---- */

/* Has the driver read a lowering, on the same channel, whose writer had seen this message? */
static bool is_covered(const struct world *w, unsigned int k, unsigned int s)
{
	const struct note *raise = &w->log[k][s - 1];

	for (unsigned int i = 0; i < w->read[k]; i++)
		if (w->log[k][i].arm && w->log[k][i].epoch > raise->epoch && w->log[k][i].seen[k] >= s)
			return true;
	return false;
}

static const struct note *newest_arm(const struct world *w, unsigned int k)
{
	for (unsigned int i = w->read[k]; i-- > 0;)
		if (w->log[k][i].arm)
			return &w->log[k][i];
	return NULL;
}

/* The newest one, if the driver has read it on both channels, else NULL. */
static const struct note *last_arm(const struct world *w)
{
	const struct note *a = newest_arm(w, 0), *b = newest_arm(w, 1);

	return a && b && a->epoch == b->epoch ? a : NULL;
}

/* Was it right to arm: had its writer seen every raise of an older epoch, and everything the driver missed? */
static bool is_right(const struct world *w, const struct note *arm)
{
	for (unsigned int k = 0; k < 2; k++) {
		for (unsigned int s = arm->seen[k] + 1u; s <= w->read[k]; s++)
			if (!w->log[k][s - 1].arm && w->log[k][s - 1].epoch < arm->epoch)
				return false;
		if (w->since[k] && arm->seen[k] + 1u < w->since[k])
			return false;
	}
	return true;
}

static uint8_t highest_of_epoch(const struct world *w, uint8_t epoch)
{
	uint8_t level = RUN;

	for (unsigned int k = 0; k < 2; k++)
		for (unsigned int i = 0; i < w->read[k]; i++)
			if (w->log[k][i].epoch == epoch && w->log[k][i].level > level)
				level = w->log[k][i].level;
	return level;
}

static void check_turn(const struct world *w, bool missed)
{
	const enum msg_level level = w->estop.level;
	const struct note *arm = last_arm(w);
	bool quiet = w->read[0] == w->before[0] && w->read[1] == w->before[1];

	for (unsigned int k = 0; k < 2; k++)
		for (unsigned int s = 1; s <= w->read[k]; s++) {
			const struct note *note = &w->log[k][s - 1];
			bool lost = w->since[k] && s < w->since[k];

			/* A raise counts until it is lowered, and for the turn in which it is read in any case. */
			if (!note->arm && !lost && (s > w->before[k] || !is_covered(w, k, s)))
				TEST_ASSERT_GREATER_OR_EQUAL_INT(note->level, level);
		}
	if (missed)
		TEST_ASSERT_EQUAL_INT(ESTOP, level);
	/* Some were missed on a channel: estop until an epoch that covers them has come there. */
	for (unsigned int k = 0; k < 2; k++) {
		bool over = !w->since[k];

		for (unsigned int s = w->since[k]; s && s <= w->read[k]; s++)
			over |= w->log[k][s - 1].arm && w->log[k][s - 1].seen[k] + 1u >= w->since[k];
		if (!over) {
			TEST_ASSERT_EQUAL_INT(ESTOP, level);
			stopped++;
		}
	}
	/* Nothing new, so what was raised and lowered before is lowered now. */
	if (quiet && arm && is_right(w, arm)) {
		TEST_ASSERT_EQUAL_INT(highest_of_epoch(w, arm->epoch), level);
		TEST_ASSERT_EQUAL_UINT64(arm->epoch, w->estop.epoch);
		exact++;
	}
}

/* ---- steps ---- */

static void put(struct world *w, unsigned int k, struct note note)
{
	w->log[k][w->n[k]++] = note;
}

static uint8_t epoch_on(const struct world *w, unsigned int k)
{
	uint8_t epoch = 0;

	for (unsigned int i = 0; i < w->n[k]; i++)
		if (w->log[k][i].epoch > epoch)
			epoch = w->log[k][i].epoch;
	return epoch;
}

static void step_raiser(struct world *w, unsigned int a)
{
	const struct actor *who = &actors[a];

	if (w->done[a] == 0)
		w->epoch[a] = epoch_on(w, 0) > epoch_on(w, 1) ? epoch_on(w, 0) : epoch_on(w, 1);
	else
		put(w, w->done[a] == 1 ? who->first : 1 - who->first,
		    (struct note){ .epoch = w->epoch[a], .level = who->level });
}

static void step_armer(struct world *w, unsigned int a)
{
	unsigned int step = w->done[a] % 4, k = step % 2;

	if (step < 2) {
		if (step == 0 || epoch_on(w, k) > w->epoch[a])
			w->epoch[a] = epoch_on(w, k);
		w->seen[a][k] = w->n[k];
	} else {
		put(w, k,
		    (struct note){ .epoch = (uint8_t)(w->epoch[a] + 1),
				   .arm = true,
				   .level = RUN,
				   .seen = { w->seen[a][0], w->seen[a][1] } });
	}
}

/* Reads a channel; true: some messages were gone. */
static bool read_channel(struct world *w, unsigned int k)
{
	bool missed = w->n[k] - w->read[k] > (int)retained;

	if (missed) {
		drv_estop_trouble(&w->estop, k, "missed");
		w->read[k] = (uint8_t)(w->n[k] - retained);
		w->since[k] = (uint8_t)(w->read[k] + 1);
	}
	while (w->read[k] < w->n[k]) {
		const struct note *note = &w->log[k][w->read[k]++];
		struct msg_estop msg = { .epoch = note->epoch,
					 .level = note->level,
					 .seen = { note->seen[0], note->seen[1] } };

		drv_estop_message(&w->estop, k, &msg, w->read[k]);
	}
	return missed;
}

static void step_driver(struct world *w, unsigned int half)
{
	bool missed;

	if (half == 0) {
		memcpy(w->before, w->read, sizeof(w->before));
		drv_estop_begin(&w->estop);
	}
	missed = read_channel(w, half);
	if (half == 1) {
		drv_estop_end(&w->estop);
		check_turn(w, missed);
	}
}

static void step(struct world *w, unsigned int a)
{
	switch (actors[a].is) {
	case RAISER:
		step_raiser(w, a);
		break;
	case ARMER:
		step_armer(w, a);
		break;
	case DRIVER:
		step_driver(w, w->done[a] % 2);
		break;
	}
	w->done[a]++;
}

static void explore(const struct world *w)
{
	bool over = true;

	for (unsigned int a = 0; a < actors_n; a++) {
		struct world next;

		if (w->done[a] == actors[a].steps)
			continue;
		over = false;
		next = *w;
		step(&next, a);
		explore(&next);
	}
	if (over) {
		struct world last = *w;

		for (unsigned int half = 0; half < 4; half++)
			step_driver(&last, half % 2);
		orders++;
	}
}

/* All orders, from a robot that is armed in epoch 1, or one that comes up. */
static void all_orders(const struct actor *who, unsigned int n, bool armed)
{
	struct world w = { .n = { 0 } };

	actors = who;
	actors_n = n;
	drv_estop_start(&w.estop);
	for (unsigned int k = 0; armed && k < 2; k++)
		put(&w, k, (struct note){ .epoch = 1, .arm = true });
	for (unsigned int half = 0; half < 4; half++)
		step_driver(&w, half % 2);
	TEST_ASSERT_EQUAL_INT(armed ? RUN : ESTOP, w.estop.level);
	explore(&w);
}
#define ALL_ORDERS(armed, ...)                                                                                      \
	all_orders((struct actor[]){ __VA_ARGS__ }, sizeof((struct actor[]){ __VA_ARGS__ }) / sizeof(struct actor), \
		   armed)

/* ---- who takes part, and how many of his steps he takes ---- */

/* clang-format off */
#define RAISES(n, l, f) { .is = RAISER, .steps = n, .level = l, .first = f }
#define ARMS(n) { .is = ARMER, .steps = n }
#define TURNS(n) { .is = DRIVER, .steps = n }
/* clang-format on */

static void test_a_raise_and_two_armings(void)
{
	for (uint8_t level = HOLD; level <= ESTOP; level++)
		ALL_ORDERS(true, RAISES(3, level, 0), ARMS(8), TURNS(4));
	TEST_ASSERT_EQUAL_UINT(2 * 225225, orders); /* 15! / (3! 8! 4!) */
	TEST_ASSERT_GREATER_THAN_UINT(0, exact);
}

/* The raiser stops after its first put, or begins with the other channel. */
static void test_a_raise_on_one_channel(void)
{
	for (uint8_t first = 0; first <= 1; first++) {
		ALL_ORDERS(true, RAISES(2, HOLD, first), ARMS(8), TURNS(4));
		ALL_ORDERS(true, RAISES(2, ESTOP, first), ARMS(6), TURNS(6));
		ALL_ORDERS(true, RAISES(3, HOLD, first), ARMS(7), TURNS(4));
	}
	TEST_ASSERT_GREATER_THAN_UINT(0, exact);
}

static void test_two_raisers_and_an_arming(void)
{
	ALL_ORDERS(true, RAISES(3, ESTOP, 0), RAISES(2, HOLD, 1), ARMS(4), TURNS(4));
	TEST_ASSERT_EQUAL_UINT(900900, orders); /* 13! / (3! 2! 4! 4!) */
	TEST_ASSERT_GREATER_THAN_UINT(0, exact);
}

static void test_two_armers(void)
{
	ALL_ORDERS(true, RAISES(3, HOLD, 1), ARMS(4), ARMS(4), TURNS(2));
	TEST_ASSERT_GREATER_THAN_UINT(0, exact);
}

static void test_from_the_start(void)
{
	ALL_ORDERS(false, RAISES(3, HOLD, 0), ARMS(8), TURNS(4));
	ALL_ORDERS(false, RAISES(3, HOLD, 1), RAISES(2, HOLD, 0), ARMS(4), TURNS(2));
	TEST_ASSERT_GREATER_THAN_UINT(0, exact);
}

static void test_with_messages_missed(void)
{
	for (retained = 1; retained <= 2; retained++)
		for (uint8_t level = HOLD; level <= ESTOP; level++) {
			ALL_ORDERS(true, RAISES(3, level, 0), ARMS(8), TURNS(4));
			ALL_ORDERS(true, RAISES(3, level, 1), RAISES(2, HOLD, 0), ARMS(4), TURNS(2));
		}
	TEST_ASSERT_GREATER_THAN_UINT(0, exact);
	TEST_ASSERT_GREATER_THAN_UINT(0, stopped);
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(test_a_raise_and_two_armings);
	RUN_TEST(test_a_raise_on_one_channel);
	RUN_TEST(test_two_raisers_and_an_arming);
	RUN_TEST(test_two_armers);
	RUN_TEST(test_from_the_start);
	RUN_TEST(test_with_messages_missed);
	return UNITY_END();
}
