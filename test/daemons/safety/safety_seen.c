/* safety_seen.c: what the frames on the wire and the states in the channel tell; see safety_lib.h. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "channels/clock/clock.h"
#include "test/daemons/safety/safety_lib.h"
#include "unity.h"

#define MOVES_MAX 20000

/* ---- state ---- */

const struct msg_joint_state *safety_state(void)
{
	TEST_ASSERT_MESSAGE(safety.states_n, "no state was published");
	return &safety.states[safety.states_n - 1];
}

enum msg_life safety_life(void)
{
	return (enum msg_life)safety_state()->common.lifecycle;
}

double safety_position(void)
{
	return safety_state()->position[0];
}

bool safety_reported(const char *code, const char *words)
{
	for (unsigned int i = 0; i < safety.events_n; i++)
		if (!strcmp(safety.events[i].code, code) && strstr(safety.events[i].text, words))
			return true;
	return false;
}

bool safety_said(struct safety_event event)
{
	return !event.code || safety_reported(event.code, event.words);
}

static const struct msg_joint_state *complete_after(int64_t t_ns)
{
	for (unsigned int i = 0; i < safety.states_n; i++)
		if (safety.states[i].header.t_publish_ns > t_ns && !(safety.states[i].header.flags & MSG_FLAG_PARTIAL))
			return &safety.states[i];
	return NULL;
}

int64_t safety_decided_after(int64_t t_ns)
{
	SAFETY_UNTIL(complete_after(t_ns));
	return complete_after(t_ns)->header.t_publish_ns;
}

void safety_check_rate(unsigned int first_state)
{
	char text[96];

	for (unsigned int i = first_state + 1; i < safety.states_n; i++) {
		const struct msg_joint_state *a = &safety.states[i - 1], *b = a + 1;

		snprintf(text, sizeof(text), "state %" PRIu64 " of tick %" PRIu64 ", then %" PRIu64 " of %" PRIu64,
			 a->header.sequence, a->common.ticks, b->header.sequence, b->common.ticks);
		TEST_ASSERT_EQUAL_UINT64_MESSAGE(a->header.sequence + 1, b->header.sequence, text);
		/* The first is that of tick 0. */
		TEST_ASSERT_EQUAL_UINT64_MESSAGE(b->header.sequence - 1, b->common.ticks, text);
	}
}

/* ---- frames ---- */

static bool is(const struct bus_frame *f, enum safety_kind kind, int64_t from_ns)
{
	return f->t_ns > from_ns && safety_on->kind(&f->frame) == kind;
}

unsigned int safety_count(enum safety_kind kind, int64_t from_ns)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < safety.frames_n; i++)
		n += is(&safety.frames[i], kind, from_ns);
	return n;
}

const struct bus_frame *safety_first(enum safety_kind kind, int64_t from_ns)
{
	for (unsigned int i = 0; i < safety.frames_n; i++)
		if (is(&safety.frames[i], kind, from_ns))
			return &safety.frames[i];
	return NULL;
}

const struct bus_frame *safety_last(enum safety_kind kind)
{
	for (unsigned int i = safety.frames_n; i-- > 0;)
		if (is(&safety.frames[i], kind, INT64_MIN))
			return &safety.frames[i];
	return NULL;
}

unsigned int safety_moves(int64_t from_ns, int64_t to_ns, double *velocity, unsigned int max)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < safety.frames_n && n < max; i++)
		if (is(&safety.frames[i], SAFETY_MOVE, from_ns) && safety.frames[i].t_ns <= to_ns)
			velocity[n++] = safety_on->value(&safety.frames[i].frame);
	return n;
}

double safety_velocity_at(int64_t t_ns)
{
	for (unsigned int i = safety.frames_n; i-- > 0;)
		if (safety.frames[i].t_ns <= t_ns && safety_on->kind(&safety.frames[i].frame) == SAFETY_MOVE)
			return safety_on->value(&safety.frames[i].frame);
	return NAN;
}

double safety_commanded(int64_t from_ns)
{
	const struct bus_frame *last = safety_last(SAFETY_MOVE);

	return last && last->t_ns > from_ns ? safety_on->value(&last->frame) : NAN;
}

bool safety_reached(double rad_s, int64_t from_ns)
{
	return fabs(safety_commanded(from_ns) - rad_s) <= SAFETY_ROUNDING;
}

static bool moves_it(const struct bus_frame *f, int64_t from_ns)
{
	return is(f, SAFETY_MOVE, from_ns) && (safety_has(SAFETY_HALTS) || safety_on->value(&f->frame) != 0);
}

unsigned int safety_motions(int64_t from_ns)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < safety.frames_n; i++)
		n += moves_it(&safety.frames[i], from_ns);
	return n;
}

const struct bus_frame *safety_stop_frame(int64_t from_ns)
{
	if (safety_has(SAFETY_HALTS))
		return safety_first(SAFETY_HALT, from_ns);
	for (unsigned int i = 0; i < safety.frames_n; i++)
		if (is(&safety.frames[i], SAFETY_MOVE, from_ns) && !moves_it(&safety.frames[i], from_ns))
			return &safety.frames[i];
	return NULL;
}

void safety_check_resets(unsigned int n, int64_t from_ns)
{
	TEST_ASSERT_EQUAL_UINT_MESSAGE(safety_has(SAFETY_HALTS) ? n : 0, safety_count(SAFETY_RESET, from_ns), "resets");
}

static double moves[MOVES_MAX];

void safety_check_still(int64_t from_ns, double rad_s)
{
	const unsigned int n = safety_moves(from_ns, INT64_MAX, moves, MOVES_MAX);
	char text[96];

	for (unsigned int i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "move %u of %u: %g rad/s, and nothing asked for it", i, n, moves[i]);
		TEST_ASSERT_TRUE_MESSAGE(fabs(moves[i]) <= rad_s, text);
	}
}

static unsigned int never_sent(const struct msg_common *common)
{
	const struct msg_bus *bus = &common->bus[0];

	return (unsigned int)(bus->replaced + bus->expired + bus->lost + common->frames_withheld);
}

/* Frames that the driver made since then and that were never on the wire: each explains a tick more between two that
 * were.  It withholds a frame while a wire that waits for a processor has not confirmed the last one. */
static unsigned int unsent(int64_t from_ns)
{
	const struct msg_joint_state *last = safety_state();
	unsigned int before = 0;

	for (unsigned int i = 0; i < safety.states_n; i++)
		if (safety.states[i].header.incarnation == last->header.incarnation &&
		    safety.states[i].header.t_publish_ns <= from_ns)
			before = never_sent(&safety.states[i].common);
	return never_sent(&last->common) - before;
}

/* May a velocity change by so much from one move to the next? */
static bool within_ticks(double change, double most, unsigned int *missing)
{
	const double ticks = ceil((fabs(change) - SAFETY_MEASURED) / most);

	if (ticks <= 1)
		return true;
	if (ticks - 1 > *missing)
		return false;
	*missing -= (unsigned int)ticks - 1;
	return true;
}

void safety_check_ramp(int64_t from_ns, int64_t to_ns, double before, double braking)
{
	const unsigned int n = safety_moves(from_ns, to_ns, moves, MOVES_MAX);
	unsigned int missing = unsent(from_ns);
	char text[96];

	TEST_ASSERT_MESSAGE(n, "nothing was commanded");
	for (unsigned int i = 0; i < n; i++) {
		const bool brakes = fabs(moves[i]) < fabs(before) && moves[i] * before >= 0;

		snprintf(text, sizeof(text), "move %u of %u: from %g to %g rad/s", i, n, before, moves[i]);
		TEST_ASSERT_TRUE_MESSAGE(fabs(moves[i]) <= SAFETY_VELOCITY + SAFETY_ROUNDING, text);
		TEST_ASSERT_TRUE_MESSAGE(within_ticks(moves[i] - before, brakes ? braking : SAFETY_STEP, &missing),
					 text);
		before = moves[i];
	}
}

/* Standing, it is held where it is: corrections of some mrad are not motion. */
#define STANDING 0.1

void safety_check_braking(int64_t from_ns, double before)
{
	const unsigned int n = safety_moves(from_ns, INT64_MAX, moves, MOVES_MAX);
	const double sign = before < 0 ? -1 : 1;
	double speed = sign * before;
	unsigned int missing = unsent(from_ns);
	bool stands = false;
	char text[96];

	TEST_ASSERT_MESSAGE(n, "nothing was commanded");
	for (unsigned int i = 0; i < n; i++) {
		const double next = sign * moves[i];

		snprintf(text, sizeof(text), "move %u of %u: from %g to %g rad/s", i, n, sign * speed, moves[i]);
		stands |= fabs(next) <= STANDING;
		TEST_ASSERT_TRUE_MESSAGE(stands ? fabs(next) <= STANDING : next < speed, text);
		TEST_ASSERT_TRUE_MESSAGE(within_ticks(next - speed, SAFETY_STEP, &missing), text);
		speed = next;
	}
	TEST_ASSERT_TRUE_MESSAGE(stands, text);
}
