/* test_safety_references.c: what becomes of references, on the wire and in the state: ramps, limits, expiry. */
#include <math.h>

#include "channels/clock/clock.h"
#include "test/daemons/safety/safety_lib.h"
#include "test/lib/testcase.h"

static double commanded(void)
{
	return safety_commanded(INT64_MIN);
}

static void armed(const struct safety_set *set)
{
	safety_start(set);
	safety_arm();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_HOLDING && safety_last(SAFETY_MOVE));
}

/* ---- ramps ---- */

/* Far away, then, in full motion, as far in the other direction. */
static void a_position_far_away(const struct safety_set *set)
{
	const double there_rad = SAFETY_START_RAD - 0.86, back_rad = SAFETY_START_RAD + 0.14;
	int64_t from_ns;

	armed(set);
	from_ns = safety_last(SAFETY_MOVE)->t_ns;
	safety_position_to(there_rad);
	SAFETY_UNTIL(commanded() <= -SAFETY_FAST); /* late ticks leave the joint ahead of its ramp: it goes slower */
	safety_position_to(back_rad);
	SAFETY_UNTIL(commanded() >= SAFETY_FAST);
	SAFETY_UNTIL(fabs(safety_position() - back_rad) < 0.005 && fabs(commanded()) < 0.01);
	safety_check_ramp(from_ns, INT64_MAX, 0, SAFETY_STEP);
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_HALT, from_ns));
}

TEST_NEEDS(far_away_is_a_ramp, SAFETY_POSITIONS)
{
	a_position_far_away(NULL);
}

TEST_NEEDS(far_away_is_a_ramp_on_the_clock, SAFETY_POSITIONS)
{
	a_position_far_away(&(struct safety_set){ .tick = "clock/5" });
	TEST_ASSERT_FALSE(safety_state()->header.flags & MSG_FLAG_FREERUN);
}

TEST_NEEDS(a_velocity_is_a_ramp_to_the_limit, SAFETY_VELOCITIES)
{
	int64_t from_ns;

	armed(NULL);
	from_ns = safety_last(SAFETY_MOVE)->t_ns;
	safety_velocity(-100);
	SAFETY_UNTIL(commanded() <= -SAFETY_VELOCITY + SAFETY_ROUNDING);
	safety_velocity(100);
	SAFETY_UNTIL(commanded() >= SAFETY_VELOCITY - SAFETY_ROUNDING);
	safety_velocity(0);
	SAFETY_UNTIL(commanded() == 0);
	safety_check_ramp(from_ns, INT64_MAX, 0, SAFETY_STEP);
}

/* ---- a tick for each reference, twice as often as the period says ---- */

/* In wire time, over as much of it as this neither the commands nor the joint gain more speed than the limit allows. */
#define WINDOW_NS (50 * SAFETY_MS)

static void check_acceleration_over_time(int64_t from_ns)
{
	const struct bus_frame *first = NULL;
	char text[96];

	for (unsigned int i = 0; i < safety.frames_n; i++) {
		const struct bus_frame *f = &safety.frames[i];
		double gained, most;

		if (f->t_ns <= from_ns || safety_on->kind(&f->frame) != SAFETY_MOVE)
			continue;
		if (!first || f->t_ns - first->t_ns > 2 * WINDOW_NS)
			first = f;
		if (f->t_ns - first->t_ns < WINDOW_NS)
			continue;
		gained = fabs(safety_on->value(&f->frame)) - fabs(safety_on->value(&first->frame));
		most = SAFETY_ACCELERATION * (double)(f->t_ns - first->t_ns) / 1e9 + 2 * SAFETY_STEP + SAFETY_MEASURED;
		snprintf(text, sizeof(text), "%g rad/s more within %d us", gained,
			 (int)((f->t_ns - first->t_ns) / 1000));
		TEST_ASSERT_TRUE_MESSAGE(gained <= most, text);
		first = f;
	}
}

static void check_joint_keeps_the_limit(void)
{
	char text[96];

	for (unsigned int i = 0; i < safety.states_n; i++) {
		snprintf(text, sizeof(text), "state %u: %g rad/s", i, safety.states[i].velocity[0]);
		TEST_ASSERT_FALSE_MESSAGE(fabs(safety.states[i].velocity[0]) > 1.02 * SAFETY_VELOCITY, text);
	}
}

TEST_NEEDS(references_more_often_than_the_period, SAFETY_VELOCITIES | SAFETY_POSITIONS)
{
	int64_t from_ns;

	armed(&(struct safety_set){ .tick = "ref 5ms" });
	from_ns = safety_last(SAFETY_MOVE)->t_ns;
	safety.ref_every_ns = 5 * SAFETY_MS / 2;
	safety_position_to(SAFETY_START_RAD - 0.5);
	SAFETY_UNTIL(safety_commanded(from_ns) <= -SAFETY_FAST);
	SAFETY_UNTIL(fabs(safety_position() - (SAFETY_START_RAD - 0.5)) < 0.005 && fabs(commanded()) < 0.01);
	safety_velocity(100);
	SAFETY_UNTIL(safety_commanded(from_ns) >= SAFETY_VELOCITY - SAFETY_ROUNDING);
	safety_ticks(40);
	safety_check_ramp(from_ns, INT64_MAX, 0, SAFETY_VELOCITY);
	check_acceleration_over_time(from_ns);
	check_joint_keeps_the_limit();
}

/* ---- position limits ---- */

/* A position limit counts for more than that of the acceleration: a joint that is a little late brakes harder. */
#define AT_LIMIT SAFETY_VELOCITY
/* A driver that was held up for some ticks brakes so much later. */
#define LATE_RAD (0.045 * SAFETY_VELOCITY)

static bool stands(double rad)
{
	return fabs(safety_position() - rad) < LATE_RAD && fabs(commanded()) < 0.005;
}

static void check_never_beyond(double min, double max)
{
	char text[64];

	for (unsigned int i = 0; i < safety.states_n; i++) {
		const double at = safety.states[i].position[0];

		snprintf(text, sizeof(text), "state %u: %g rad", i, at);
		TEST_ASSERT_TRUE_MESSAGE(isnan(at) || (at >= min && at <= max), text);
	}
}

TEST_NEEDS(stops_at_the_limit_minus_margin, SAFETY_VELOCITIES | SAFETY_POSITIONS)
{
	const double low = SAFETY_MIN + SAFETY_MARGIN, high = SAFETY_MAX - SAFETY_MARGIN;

	armed(&(struct safety_set){ .at_rad = SAFETY_MIN + 0.28 });
	safety_position_to(SAFETY_MIN - 8);
	SAFETY_UNTIL(stands(low));
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, safety_life());
	safety_position_to(SAFETY_MIN + 0.23);
	SAFETY_UNTIL(stands(SAFETY_MIN + 0.23));
	safety_velocity(-SAFETY_VELOCITY);
	SAFETY_UNTIL(stands(low));
	safety_ticks(50);
	TEST_ASSERT_TRUE(stands(low));
	check_never_beyond(low - LATE_RAD, high);
	safety_check_ramp(INT64_MIN, INT64_MAX, 0, AT_LIMIT);
	TEST_ASSERT_FALSE(safety_state()->status[0] & MSG_JOINT_FAULT);
}

TEST_NEEDS(stops_at_the_upper_limit_too, SAFETY_VELOCITIES | SAFETY_POSITIONS)
{
	const double high = SAFETY_MAX - SAFETY_MARGIN;

	armed(&(struct safety_set){ .at_rad = SAFETY_MAX - 0.25 });
	safety_position_to(SAFETY_MAX + 10);
	SAFETY_UNTIL(stands(high));
	safety_position_to(SAFETY_MAX - 0.25);
	SAFETY_UNTIL(stands(SAFETY_MAX - 0.25));
	safety_velocity(SAFETY_VELOCITY);
	SAFETY_UNTIL(stands(high));
	check_never_beyond(SAFETY_MIN, high + LATE_RAD);
	safety_check_ramp(INT64_MIN, INT64_MAX, 0, AT_LIMIT);
}

/* ---- expiry ---- */

/* The controller falls silent in full motion. */
static void check_expiry(void)
{
	int64_t until_ns, next_ns;
	unsigned int first;

	SAFETY_UNTIL(commanded() <= -0.7 * SAFETY_VELOCITY + SAFETY_ROUNDING);
	safety_ticks(20);
	safety_quiet();
	until_ns = safety.ref.header.valid_until_ns;
	next_ns = safety_decided_after(until_ns);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_HOLDING && fabs(commanded()) < 0.005);
	safety_ticks(20);
	/* Until then it went on; in every tick after it the joint is slower. */
	TEST_ASSERT_TRUE(safety_velocity_at(until_ns) <= -0.65 * SAFETY_VELOCITY);
	safety_check_braking(next_ns, safety_velocity_at(next_ns));
	safety_check_ramp(until_ns, INT64_MAX, safety_velocity_at(until_ns), SAFETY_STEP);
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_HALT, until_ns));
	/* And no tick later than that called itself active: the state before it was not published after the end. */
	for (first = 1; first < safety.states_n; first++)
		if (safety.states[first].common.lifecycle == MSG_LIFE_ACTIVE)
			TEST_ASSERT_TRUE(safety.states[first - 1].header.t_publish_ns <= until_ns);
	TEST_ASSERT_TRUE(safety_state()->header.flags & MSG_FLAG_HELD);
}

TEST_NEEDS(a_velocity_expires, SAFETY_VELOCITIES)
{
	armed(NULL);
	safety_velocity(-0.7 * SAFETY_VELOCITY);
	check_expiry();
}

TEST_NEEDS(a_position_expires, SAFETY_POSITIONS)
{
	armed(NULL);
	safety_position_to(SAFETY_START_RAD - 1.26);
	check_expiry();
}

/* A safe action of another kind: at once. */
TEST_NEEDS(safe_is_zero_velocity, SAFETY_VELOCITIES)
{
	int64_t until_ns, next_ns;
	double moves[64];
	unsigned int n;

	armed(&(struct safety_set){ .settings = "safe: zero-velocity" });
	safety_velocity(-SAFETY_CRUISE);
	SAFETY_UNTIL(safety_reached(-SAFETY_CRUISE, INT64_MIN));
	safety_quiet();
	until_ns = safety.ref.header.valid_until_ns;
	next_ns = safety_decided_after(until_ns);
	safety_ticks(10);
	n = safety_moves(next_ns, INT64_MAX, moves, 64);
	TEST_ASSERT_GREATER_THAN_UINT(5, n);
	for (unsigned int i = 0; i < n; i++)
		TEST_ASSERT_EQUAL_DOUBLE(0, moves[i]);
}

/* ---- refusals ---- */

struct bad {
	const char *what;
	size_t counter; /* offset in struct msg_refused */
	size_t len;	/* 0: as it is */
	void (*spoil)(struct msg_joint_ref *ref, int64_t now_ns);
};

#define SPOIL(name, statement)                                      \
	static void name(struct msg_joint_ref *ref, int64_t now_ns) \
	{                                                           \
		(void)now_ns;                                       \
		statement;                                          \
	}
SPOIL(nothing, (void)ref)
SPOIL(nan_velocity, ref->velocity[0] = NAN)
SPOIL(nan_position, ref->position[0] = NAN)
SPOIL(infinite, ref->velocity[0] = INFINITY)
SPOIL(minus_infinite, ref->current[0] = -INFINITY)
SPOIL(header_size, ref->header.size -= 8)
SPOIL(two_joints, ref->count = 2)
SPOIL(no_joint, ref->count = 0)
SPOIL(huge_count, ref->count = UINT32_MAX)
SPOIL(type, ref->header.type = msg_joint_state_number)
SPOIL(unknown_type, ref->header.type = 4711)
SPOIL(mode, ref->mode[0] = 77)
SPOIL(version, ref->header.version++)
SPOIL(no_validity, ref->header.valid_until_ns = 0)
SPOIL(negative_validity, ref->header.valid_until_ns = INT64_MIN)
SPOIL(past, ref->header.valid_until_ns = now_ns - 1)
SPOIL(too_far, ref->header.valid_until_ns = now_ns + 10000 * SAFETY_MS)
SPOIL(for_ever, ref->header.valid_until_ns = INT64_MAX)
SPOIL(other_incarnation, ref->header.for_incarnation++)
SPOIL(any_incarnation, ref->header.for_incarnation = 0)

#define COUNTER(name) offsetof(struct msg_refused, name)
static const struct bad bads[] = {
	{ "NaN as velocity", COUNTER(not_finite), 0, nan_velocity },
	{ "NaN in a field that is not used", COUNTER(not_finite), 0, nan_position },
	{ "infinity", COUNTER(not_finite), 0, infinite },
	{ "minus infinity", COUNTER(not_finite), 0, minus_infinite },
	{ "another size in the header", COUNTER(other_size), 0, header_size },
	{ "shorter", COUNTER(other_size), sizeof(struct msg_joint_ref) - 8, nothing },
	{ "longer", COUNTER(other_size), sizeof(struct msg_joint_ref) + 8, nothing },
	{ "longer than any message", COUNTER(other_size), 9000, nothing },
	{ "a header and nothing else", COUNTER(other_size), sizeof(struct msg_header), nothing },
	{ "a few bytes", COUNTER(other_size), 7, nothing },
	{ "for two joints", COUNTER(other_size), 0, two_joints },
	{ "for none", COUNTER(other_size), 0, no_joint },
	{ "for more than there is room", COUNTER(other_size), 0, huge_count },
	{ "another type", COUNTER(other_type), 0, type },
	{ "an unknown type", COUNTER(other_type), 0, unknown_type },
	{ "an unknown mode", COUNTER(other_type), 0, mode },
	{ "another version", COUNTER(other_version), 0, version },
	{ "no validity", COUNTER(no_validity), 0, no_validity },
	{ "less than none", COUNTER(no_validity), 0, negative_validity },
	{ "past", COUNTER(past), 0, past },
	{ "valid for too long", COUNTER(too_far), 0, too_far },
	{ "valid for ever", COUNTER(too_far), 0, for_ever },
	{ "another incarnation", COUNTER(other_incarnation), 0, other_incarnation },
	{ "any incarnation", COUNTER(other_incarnation), 0, any_incarnation },
};
#define BADS (sizeof(bads) / sizeof(*bads))
#define SLOW (SAFETY_CRUISE / 2)

static uint32_t counter(size_t offset)
{
	uint32_t value;

	memcpy(&value, (const char *)&safety_state()->common.refs_refused + offset, sizeof(value));
	return value;
}

static uint32_t all_refused(void)
{
	uint32_t sum = 0;

	for (size_t offset = 0; offset < sizeof(struct msg_refused); offset += sizeof(uint32_t))
		sum += counter(offset);
	return sum;
}

/* A good one, so that there is motion to be disturbed, and once it is taken the bad one, which says full speed back. */
static void put_bad(const struct bad *bad)
{
	static char room[16384];
	struct msg_joint_ref ref = safety.ref;
	const uint64_t taken = safety_state()->common.refs_taken;
	const int64_t now_ns = clock_now_ns();

	safety_put_ref(&ref);
	SAFETY_UNTIL(safety_state()->common.refs_taken > taken);
	ref.velocity[0] = SAFETY_VELOCITY;
	ref.header.valid_until_ns = clock_now_ns() + SAFETY_VALID_NS;
	bad->spoil(&ref, now_ns);
	memset(room, 0, sizeof(room));
	memcpy(room, &ref, sizeof(ref));
	safety_put(SAFETY_DEVICE "-ref", room, bad->len ? bad->len : sizeof(ref));
}

static void check_undisturbed(int64_t from_ns)
{
	static double moves[2000];
	const unsigned int n = safety_moves(from_ns, INT64_MAX, moves, 2000);
	char text[64];

	TEST_ASSERT_GREATER_THAN_UINT(BADS, n);
	for (unsigned int i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "move %u: %g rad/s", i, moves[i]);
		TEST_ASSERT_TRUE_MESSAGE(fabs(moves[i] + SLOW) <= SAFETY_ROUNDING, text);
	}
}

TEST_NEEDS(refused_and_counted, SAFETY_VELOCITIES)
{
	unsigned int first;
	int64_t from_ns;

	armed(NULL);
	safety_velocity(-SLOW);
	SAFETY_UNTIL(safety_reached(-SLOW, INT64_MIN));
	safety_quiet();
	from_ns = safety_last(SAFETY_MOVE)->t_ns;
	first = safety.states_n;
	for (size_t i = 0; i < BADS; i++) {
		const uint32_t before = counter(bads[i].counter), all = all_refused();

		put_bad(&bads[i]);
		SAFETY_UNTIL(all_refused() > all);
		TEST_ASSERT_EQUAL_UINT32_MESSAGE(before + 1, counter(bads[i].counter), bads[i].what);
		TEST_ASSERT_EQUAL_UINT32_MESSAGE(all + 1, all_refused(), bads[i].what);
	}
	for (unsigned int i = first; i < safety.states_n; i++)
		TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, safety.states[i].common.lifecycle);
	check_undisturbed(from_ns);
	TEST_ASSERT_TRUE(safety_driver_lives());
}

/* Nothing but bad ones: it never moves. */
TEST_NEEDS(bad_ones_alone_move_nothing, SAFETY_VELOCITIES)
{
	int64_t from_ns;

	armed(NULL);
	from_ns = safety_last(SAFETY_MOVE)->t_ns;
	for (size_t i = 0; i < BADS; i++) {
		struct msg_joint_ref ref = safety_ref();
		static char room[16384];
		const uint32_t all = all_refused();

		ref.velocity[0] = SAFETY_VELOCITY;
		ref.header.valid_until_ns = clock_now_ns() + SAFETY_VALID_NS;
		bads[i].spoil(&ref, clock_now_ns());
		memcpy(room, &ref, sizeof(ref));
		safety_put(SAFETY_DEVICE "-ref", room, bads[i].len ? bads[i].len : sizeof(ref));
		SAFETY_UNTIL(all_refused() > all);
	}
	TEST_ASSERT_EQUAL_UINT32(0, safety_state()->common.refs_taken);
	safety_check_still(from_ns, 0.01);
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, safety_life());
	TEST_ASSERT_TRUE(fabs(safety_position() - SAFETY_START_RAD) < 0.002);
}

int main(int argc, char **argv)
{
	return safety_main(argc, argv);
}
