/* test_achstart_chaos.c: daemons of the robot are killed at random instants, and the robot stays what it was.
 *
 * ROBOT_KILLS: how many deaths in each case (make soak: thousands).  ROBOT_SEED: as printed by a failure.
 *
 * waits: mostly
 */
#include <math.h>
#include <signal.h>

#include "test/lib/testcase.h"

#include "channels/clock/clock.h"
#include "test/launch/achstart/rig.h"

#define SETTLED_NS 1000000000
#define BOUND_RAD (5 * M_PI / 180) /* hw-docs/devices/powercube.md: so far at most after its driver died, */
#define BOUND_S 0.3		   /* and for so long; later it moves on command */
#define VELOCITY_RAD_S 0.43	   /* its limit */

void tearDown(void)
{
	rig_close();
}

static unsigned int kills_wanted(unsigned int usual)
{
	const char *text = getenv("ROBOT_KILLS");

	return text ? (unsigned int)atoi(text) : RIG_MANY(usual);
}

/* ---- what must hold ---- */

static struct {
	uint32_t incarnation[RIG_NAMES]; /* at the start */
	uint64_t epoch;
	uint32_t waist; /* incarnation of the last state seen */
	double position, lowest, highest;
	int64_t sample_ns;
	uint64_t sequence;
	unsigned int jumps, states;
	bool blind; /* the wire or the joint itself was killed: what is said of it is of no use yet */
} seen;

static pid_t struck[RIG_NAMES]; /* whom the last blow was for */

/* Its successor was ready by then: achstart may not know yet that the one before is dead. */
static bool is_new(int which, int64_t t_ns)
{
	struct folder_state state;

	return rig_ready(rig_names[which]) && rig_state(rig_names[which], &state) && state.pid != struck[which] &&
	       t_ns > state.ready_ns;
}

/* All that is in this state was sent by a joint that is ready, on a wire that is. */
static bool sees_again(int64_t t_sample_ns)
{
	return is_new(RIG_CANWIRE, t_sample_ns) && is_new(RIG_ROBOTSIM, t_sample_ns);
}

/* A new driver has it elsewhere than it can have got. */
static bool is_jump(const struct msg_joint_state *state)
{
	const double s = (double)(state->header.t_sample_ns - seen.sample_ns) / 1e9;
	const double rad = fabs(state->position[0] - seen.position);

	if (rad <= BOUND_RAD + VELOCITY_RAD_S * fmax(s - BOUND_S, 0))
		return false;
	printf("chaos: from %g to %g rad in %g s\n", seen.position, state->position[0], s);
	return true;
}

static void watch_waist(void)
{
	const struct msg_joint_state state = rig_waist();

	if (!state.count || state.header.flags & MSG_FLAG_PARTIAL || isnan(state.position[0]) ||
	    (state.header.sequence == seen.sequence && state.header.incarnation == seen.waist))
		return;
	seen.sequence = state.header.sequence;
	if (seen.blind && !sees_again(state.header.t_sample_ns))
		return;
	seen.blind = false;
	if (!seen.states++)
		seen.lowest = seen.highest = state.position[0];
	seen.lowest = fmin(seen.lowest, state.position[0]);
	seen.highest = fmax(seen.highest, state.position[0]);
	if (seen.waist && state.header.incarnation != seen.waist)
		seen.jumps += is_jump(&state);
	seen.waist = state.header.incarnation;
	seen.sample_ns = state.header.t_sample_ns;
	seen.position = state.position[0];
}

static void begin(const char *launch)
{
	memset(&seen, 0, sizeof(seen));
	rig_in_real_time = true; /* it kills between two instructions */
	rig_open(launch);
	rig_start();
	RIG_UNTIL(rig_armed() && rig_level(&seen.epoch) == MSG_LEVEL_RUN);
	for (int i = 0; i < RIG_NAMES; i++)
		seen.incarnation[i] = rig_incarnation(rig_names[i]);
	rig_listen();
}

/* Each death is known to achstart, followed by exactly one new incarnation, and all are ready again. */
static unsigned int deaths(void)
{
	unsigned int n = 0;

	for (int i = 0; i < RIG_NAMES; i++)
		n += rig_events(rig_names[i], "ended");
	return n;
}

static bool is_whole(unsigned int kills)
{
	if (!rig_all_ready() || deaths() < kills)
		return false;
	for (int i = 0; i < RIG_NAMES; i++)
		if (rig_incarnation(rig_names[i]) - seen.incarnation[i] != rig_events(rig_names[i], "ended"))
			return false;
	return true;
}

static void check(unsigned int kills)
{
	uint64_t epoch;

	RIG_UNTIL(is_whole(kills));
	for (int i = 0; i < RIG_NAMES; i++)
		RIG_ASSERT(!rig_events(rig_names[i], "failed"));
	RIG_ASSERT(rig_level(&epoch) == MSG_LEVEL_RUN);
	RIG_ASSERT(epoch == seen.epoch);
	RIG_UNTIL(rig_waist().common.lifecycle == MSG_LIFE_HOLDING || rig_waist().common.lifecycle == MSG_LIFE_ACTIVE);
	RIG_ASSERT(!rig_events("achstart", "corrupt"));
	RIG_ASSERT(!seen.jumps);
	RIG_ASSERT(seen.highest - seen.lowest > BOUND_RAD); /* it did move */
	RIG_ASSERT(!rig_heard.homes);
	RIG_ASSERT(!rig_heard.undue);
	printf("chaos: %u killed, %u deaths in all, %u states, %u resets\n", kills, deaths(), seen.states,
	       rig_heard.resets);
	RIG_ASSERT(!rig_stop());
}

/* ---- killing ---- */

/* Its process, if it has been ready for long enough; 0: not yet. */
static pid_t settled(const char *name)
{
	struct folder_state state;
	const bool is = rig_state(name, &state) && state.ready && folder_runs(&state) &&
			clock_now_ns() > state.ready_ns + SETTLED_NS;

	return is ? state.pid : 0;
}

/* A daemon that is still dying is left alone. */
static bool strike(int which, pid_t pid)
{
	if (which == RIG_CANWIRE || which == RIG_ROBOTSIM) {
		rig_excuse();
		seen.blind = true;
		seen.waist = 0;
	}
	if (!pid || pid == struck[which])
		return false;
	struck[which] = pid;
	return !kill(pid, SIGKILL);
}

/* Any daemon that has been ready for long enough may be next. */
static void kill_settled(unsigned int kills, int first)
{
	int64_t next_ns[RIG_NAMES] = { 0 };

	for (unsigned int n = 0; n < kills;) {
		rig_turn();
		watch_waist();
		for (int i = first; i < RIG_NAMES && n < kills; i++) {
			const pid_t pid = settled(rig_names[i]);

			if (!pid) {
				next_ns[i] = 0;
			} else if (!next_ns[i]) {
				next_ns[i] = clock_now_ns() + rig_random(100000000);
			} else if (clock_now_ns() >= next_ns[i]) {
				n += strike(i, pid);
				next_ns[i] = 0;
			}
		}
	}
}

/* The joint moves all the while: drivers alone die, so all that is on the wire has its reason. */
TEST(drivers_die_while_the_waist_moves)
{
	const unsigned int kills = kills_wanted(40);

	begin(NULL);
	rig_drive(0.3);
	kill_settled(kills, 2);
	rig_drive(0);
	check(kills);
}

TEST(everything_dies)
{
	const unsigned int kills = kills_wanted(100);

	begin(NULL);
	rig_drive(0.3);
	kill_settled(kills, 0);
	rig_drive(0);
	check(kills);
}

/* At any instant, those of a start included: with a budget that is never used up. */
TEST(deaths_during_the_start)
{
	static const char launch[] =
		"include: @BENCH@\narm: auto\ndaemons:\n"
		"  canwire: {priority: 60, restart: {backoff: 1ms, backoff_max: 4ms, budget: 100, within: 1s}}\n"
		"  robotsim: {priority: 55, restart: {backoff: 1ms, backoff_max: 4ms, budget: 100, within: 1s}}\n"
		"  clock: {priority: 50, restart: {backoff: 1ms, backoff_max: 4ms, budget: 100, within: 1s}}\n"
		"  waist: {priority: 45, restart: {backoff: 1ms, backoff_max: 4ms, budget: 100, within: 1s}}\n";
	const unsigned int kills = kills_wanted(150);
	int64_t next_ns = 0;
	int which;

	begin(launch);
	for (unsigned int n = 0; n < kills;) {
		rig_turn();
		if (clock_now_ns() < next_ns)
			continue;
		which = (int)rig_random(RIG_NAMES);
		n += strike(which, rig_pid(rig_names[which]));
		next_ns = clock_now_ns() + rig_random(60000000);
	}
	/* A process that was killed before it published had no number of its own. */
	RIG_UNTIL(rig_all_ready() && deaths() >= kills);
	RIG_ASSERT(!rig_heard.homes);
	RIG_ASSERT(rig_level(NULL) == MSG_LEVEL_RUN);
	for (int i = 0; i < RIG_NAMES; i++)
		RIG_ASSERT(!rig_events(rig_names[i], "failed"));
	RIG_ASSERT(!rig_stop());
}
