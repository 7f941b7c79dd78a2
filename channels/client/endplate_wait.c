/* endplate_wait.c: ticks in step with the robot's clock. */
#include "channels/client/endplate_inside.h"
#include "channels/clock/clock.h"

#define PERIOD_MIN_NS 100000
#define PERIOD_MAX_NS 10000000000
#define CLOCK_AGE_NS 100000000

/* A message that makes no sense leaves the phase as it is. */
static void take(struct endplate *r, const struct msg_clock *msg, int64_t now_ns)
{
	if (msg->period_ns < PERIOD_MIN_NS || msg->period_ns > PERIOD_MAX_NS || msg->t_cycle_ns < 0 ||
	    msg->t_cycle_ns > now_ns + PERIOD_MAX_NS || msg->header.t_publish_ns > now_ns ||
	    msg->header.t_publish_ns < 0)
		return;
	r->t_cycle_ns = msg->t_cycle_ns;
	r->cycle_period_ns = msg->period_ns;
	r->cycle = msg->cycle;
	r->clock_ns = msg->header.t_publish_ns;
}

static void read_clock(struct endplate *r, int64_t now_ns)
{
	struct msg_clock msg;
	enum ach_status status;
	size_t len;

	if (!r->clock.open && endplate_end_reopen(&r->clock, now_ns))
		return;
	status = ach_get(&r->clock.chan, &msg, sizeof(msg), &len, NULL, ACH_O_LAST);
	if (status == ACH_OK || status == ACH_MISSED_FRAME) {
		if (msg_check(&msg, len, msg_type_by_number(msg_clock_number), NULL) == MSG_FINE)
			take(r, &msg, now_ns);
	} else if (status == ACH_EAGAIN || status == ACH_OVERFLOW) {
		endplate_end_reopen(&r->clock, now_ns);
	} else {
		endplate_end_close(&r->clock, port_error(status));
	}
}

/* Has another clock taken the place of the former one?  Then what was read of that is void, the tick first. */
static bool has_jumped(struct endplate *r)
{
	const int64_t jumped_ns = clock_jumped_ns();

	if (jumped_ns == r->jumped_ns)
		return false;
	r->jumped_ns = jumped_ns;
	r->tick_ns = r->cycle_period_ns = 0;
	return true;
}

/* The last tick at or before now; ticks are whole periods of *period_ns from a cycle whose number is a multiple. */
static int64_t tick_before(const struct endplate *r, int64_t *period_ns, int64_t now_ns)
{
	const int64_t cycle_ns = r->cycle_period_ns;
	int64_t n, base_ns = 0, behind_ns;

	if (cycle_ns) {
		n = (*period_ns + cycle_ns / 2) / cycle_ns;
		n = n ? n : 1;
		*period_ns = n * cycle_ns;
		base_ns = r->t_cycle_ns - (int64_t)(r->cycle % (uint64_t)n) * cycle_ns;
	}
	behind_ns = (now_ns - base_ns) % *period_ns;
	return now_ns - (behind_ns < 0 ? behind_ns + *period_ns : behind_ns);
}

int endplate_wait(struct endplate *r, int64_t period_ns, struct endplate_tick *tick)
{
	int64_t now_ns = clock_now_ns(), due_ns, passed_ns;

	if (period_ns < PERIOD_MIN_NS || period_ns > PERIOD_MAX_NS)
		return -EINVAL;
	has_jumped(r);
	read_clock(r, now_ns);
	due_ns = tick_before(r, &period_ns, now_ns);
	/* The tick of the previous call, or of a phase that has changed a little, is not returned twice. */
	if (!r->tick_ns || due_ns - r->tick_ns < period_ns / 2)
		due_ns += period_ns;
	if (r->tick_ns && due_ns - r->tick_ns < period_ns / 2)
		due_ns += period_ns;
	while (now_ns < due_ns) {
		clock_wait(NULL, 0, due_ns);
		now_ns = clock_now_ns();
		if (has_jumped(r))
			due_ns = now_ns;
	}
	passed_ns = r->tick_ns ? due_ns - r->tick_ns : period_ns;
	r->tick_ns = due_ns;
	if (tick)
		*tick = (struct endplate_tick){ .t_ns = due_ns,
						.period_ns = period_ns,
						.late_ns = now_ns - due_ns,
						.skipped = (uint64_t)((passed_ns + period_ns / 2) / period_ns - 1),
						.clock = r->cycle_period_ns && now_ns - r->clock_ns < CLOCK_AGE_NS };
	return 0;
}
