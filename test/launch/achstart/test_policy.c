/* test_policy.c: the table of the supervisor, every entry of it. */
#include "test/lib/testcase.h"

#include "launch/achstart/policy.h"
#include "test/launch/file/launch_lib.h"

#define MS INT64_C(1000000)
#define S (1000 * MS)

static struct policy p;
static struct policy_rules rules;
static int64_t now;

void setUp(void)
{
	policy_init(&p);
	rules = launch_lib_rules;
	now = 1000 * S;
}

static unsigned int happens(enum policy_event event)
{
	return policy_event(&p, &rules, event, true, now);
}

/* The shortest way into a state. */
static void go_to(enum policy_state state)
{
	policy_init(&p);
	if (state == POLICY_STOPPED)
		return;
	happens(POLICY_START);
	if (state == POLICY_WAITING)
		return;
	happens(POLICY_NEEDS_MET);
	switch (state) {
	case POLICY_READY:
		happens(POLICY_IS_READY);
		break;
	case POLICY_BACKOFF:
		happens(POLICY_DIED);
		break;
	case POLICY_FAILED:
		happens(POLICY_EXITED_100);
		break;
	case POLICY_STOPPING:
		happens(POLICY_STOP);
		break;
	case POLICY_RESTARTING:
		happens(POLICY_RESTART);
		break;
	case POLICY_KILLED:
		happens(POLICY_SILENT);
		break;
	case POLICY_DONE:
		policy_event(&p, &(struct policy_rules){ .never = true }, POLICY_EXITED, true, now);
		break;
	default:
		break;
	}
	TEST_ASSERT_EQUAL_STRING(policy_state_name(state), policy_state_name(p.state));
}

/* ---- the whole table ---- */

#define SAME -1
struct entry {
	int next;
	unsigned int actions;
};

/* clang-format off */
#define NONE { SAME, 0 }
#define SPAWN { POLICY_STARTING, POLICY_DO_SPAWN }
#define PAUSE { POLICY_BACKOFF, POLICY_SAY_PAUSE }
#define TAKEN { POLICY_BACKOFF, POLICY_SAY_TAKEN }
#define FAIL { POLICY_FAILED, POLICY_SAY_FAILED }
#define TO(state) { POLICY_##state, 0 }
#define END(state) { POLICY_##state, POLICY_DO_TERM }
#define KILL(state) { POLICY_##state, POLICY_DO_KILL }
/* By columns: start stop restart needs-met is-ready exited exited-100 exited-112 died silent frozen timer adopt
 * adopt-ready was-done was-failed was-lost.
 * Everything happens at one instant, except that the timer is due. */
static const struct entry expected[POLICY_STATES][POLICY_EVENTS] = {
	[POLICY_STOPPED] = { TO(WAITING), NONE, TO(WAITING), NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE,
			     TO(STARTING), TO(READY), TO(DONE), TO(FAILED), FAIL },
	[POLICY_WAITING] = { NONE, TO(STOPPED), NONE, SPAWN, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE,
			     TO(STARTING), TO(READY), NONE, NONE, NONE },
	[POLICY_STARTING] = { NONE, END(STOPPING), END(RESTARTING), NONE, TO(READY), PAUSE, FAIL, TAKEN, PAUSE,
			     KILL(KILLED), KILL(KILLED), { SAME, POLICY_SAY_LATE }, NONE, NONE, NONE, NONE, NONE },
	[POLICY_READY] = { NONE, END(STOPPING), END(RESTARTING), NONE, NONE, PAUSE, FAIL, TAKEN, PAUSE, KILL(KILLED),
			     KILL(KILLED), NONE, NONE, NONE, NONE, NONE, NONE },
	[POLICY_BACKOFF] = { SPAWN, TO(STOPPED), SPAWN, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, SPAWN, NONE,
			     NONE, NONE, NONE, NONE },
	[POLICY_FAILED] = { TO(WAITING), TO(STOPPED), TO(WAITING), NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE,
			     NONE, NONE, NONE, NONE, NONE, NONE },
	[POLICY_STOPPING] = { TO(RESTARTING), NONE, TO(RESTARTING), NONE, NONE, TO(STOPPED), TO(STOPPED), TO(STOPPED),
			     TO(STOPPED), NONE, KILL(STOPPING), KILL(STOPPING), NONE, NONE, NONE, NONE, NONE },
	[POLICY_RESTARTING] = { NONE, TO(STOPPING), NONE, NONE, NONE, SPAWN, SPAWN, SPAWN, SPAWN, NONE,
			     KILL(RESTARTING), KILL(RESTARTING), NONE, NONE, NONE, NONE, NONE },
	[POLICY_KILLED] = { TO(RESTARTING), TO(STOPPING), TO(RESTARTING), NONE, NONE, PAUSE, FAIL, TAKEN, PAUSE, NONE,
			     NONE, { SAME, POLICY_SAY_STUCK }, NONE, NONE, NONE, NONE, NONE },
	[POLICY_DONE] = { TO(WAITING), TO(STOPPED), TO(WAITING), NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE,
			     NONE, NONE, NONE, NONE, NONE },
};
/* clang-format on */

TEST(every_entry_is_as_written)
{
	for (int state = 0; state < POLICY_STATES; state++) {
		for (int event = 0; event < POLICY_EVENTS; event++) {
			const struct entry *e = &expected[state][event];
			char what[100];
			unsigned int actions;

			setUp();
			go_to(state);
			if (event == POLICY_TIMER && policy_wake_ns(&p) != INT64_MAX)
				now = policy_wake_ns(&p);
			actions = happens(event);
			snprintf(what, sizeof(what), "%s, %s", policy_state_name(state), policy_event_name(event));
			TEST_ASSERT_EQUAL_STRING_MESSAGE(policy_state_name(e->next == SAME ? state : e->next),
							 policy_state_name(p.state), what);
			TEST_ASSERT_EQUAL_HEX_MESSAGE(e->actions, actions, what);
		}
	}
}

TEST(there_is_a_process_where_there_should_be)
{
	static const char *const with = "starting ready stopping restarting killed";

	for (int state = 0; state < POLICY_STATES; state++) {
		go_to(state);
		TEST_ASSERT_EQUAL_MESSAGE(strstr(with, policy_state_name(state)) != NULL, policy_has_process(&p),
					  policy_state_name(state));
	}
}

/* No event starts a second process, or ends a missing one. */
TEST(processes_are_started_and_ended_once)
{
	for (int state = 0; state < POLICY_STATES; state++) {
		for (int event = 0; event < POLICY_EVENTS; event++) {
			bool before, died = event == POLICY_EXITED || event == POLICY_EXITED_100 ||
					    event == POLICY_EXITED_112 || event == POLICY_DIED;
			bool adopted = event == POLICY_ADOPT || event == POLICY_ADOPT_READY;
			unsigned int actions;

			setUp();
			go_to(state);
			before = policy_has_process(&p);
			now += 3600 * S;
			actions = happens(event);
			if (actions & POLICY_DO_SPAWN)
				TEST_ASSERT_TRUE(!before || died);
			if (actions & (POLICY_DO_TERM | POLICY_DO_KILL))
				TEST_ASSERT_TRUE(before && !died);
			if (!before && policy_has_process(&p))
				TEST_ASSERT_TRUE(actions & POLICY_DO_SPAWN || adopted);
		}
	}
}

/* ---- restarts ---- */

static void dies_early(int64_t pause_ns)
{
	TEST_ASSERT_EQUAL_HEX(POLICY_SAY_PAUSE, happens(POLICY_DIED));
	TEST_ASSERT_EQUAL_INT64(now + pause_ns, policy_wake_ns(&p));
	now = policy_wake_ns(&p) - 1;
	TEST_ASSERT_EQUAL_HEX(0, happens(POLICY_TIMER));
	TEST_ASSERT_EQUAL(POLICY_BACKOFF, p.state);
	now++;
	TEST_ASSERT_EQUAL_HEX(POLICY_DO_SPAWN, happens(POLICY_TIMER));
}

TEST(a_settled_daemon_is_restarted_at_once)
{
	go_to(POLICY_READY);
	for (int i = 1; i <= 100; i++) {
		now += S;
		TEST_ASSERT_EQUAL_HEX(POLICY_DO_SPAWN, happens(i % 2 ? POLICY_DIED : POLICY_EXITED));
		TEST_ASSERT_EQUAL(POLICY_STARTING, p.state);
		TEST_ASSERT_EQUAL_UINT64(i, p.restarts);
		happens(POLICY_IS_READY);
	}
	now += S - 1;
	TEST_ASSERT_EQUAL_HEX(POLICY_SAY_PAUSE, happens(POLICY_DIED));
}

/* A second READY, which some programs send, does not start the second again. */
TEST(ready_counts_once)
{
	go_to(POLICY_READY);
	now += S / 2;
	happens(POLICY_IS_READY);
	now += S / 2;
	TEST_ASSERT_EQUAL_HEX(POLICY_DO_SPAWN, happens(POLICY_DIED));
}

TEST(pauses_double_up_to_five_seconds)
{
	static const int64_t pauses_ms[] = { 100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000 };

	go_to(POLICY_STARTING);
	for (size_t i = 0; i < sizeof(pauses_ms) / sizeof(*pauses_ms); i++) {
		dies_early(pauses_ms[i] * MS);
		TEST_ASSERT_EQUAL_UINT(i + 1, p.early_deaths);
	}
	TEST_ASSERT_EQUAL_UINT64(9, p.restarts);
	TEST_ASSERT_EQUAL_STRING("", p.why);
	TEST_ASSERT_EQUAL_HEX(POLICY_SAY_FAILED, happens(POLICY_DIED));
	TEST_ASSERT_EQUAL(POLICY_FAILED, p.state);
	TEST_ASSERT_EQUAL_UINT(10, p.early_deaths);
	TEST_ASSERT_EQUAL_STRING("it died too often before it had been ready for long", p.why);
	TEST_ASSERT_EQUAL_INT64(INT64_MAX, policy_wake_ns(&p));
}

/* Another process holds a claim or a port of it, for hours. */
TEST(what_is_taken_is_tried_again_without_an_end)
{
	go_to(POLICY_STARTING);
	dies_early(100 * MS);
	for (int i = 1; i <= 1000; i++) {
		TEST_ASSERT_EQUAL_HEX(POLICY_SAY_TAKEN, happens(POLICY_EXITED_112));
		TEST_ASSERT_TRUE(p.taken);
		TEST_ASSERT_EQUAL_INT64(now + (i < 6 ? 100 * MS << i : 5 * S), policy_wake_ns(&p));
		TEST_ASSERT_EQUAL_UINT(1, p.early_deaths);
		now = policy_wake_ns(&p);
		TEST_ASSERT_EQUAL_HEX(POLICY_DO_SPAWN, happens(POLICY_TIMER));
		TEST_ASSERT_TRUE(p.taken);
	}
	happens(POLICY_IS_READY);
	TEST_ASSERT_FALSE(p.taken);
	now += S;
	TEST_ASSERT_EQUAL_HEX(POLICY_DO_SPAWN, happens(POLICY_DIED));
	TEST_ASSERT_EQUAL_HEX(POLICY_SAY_TAKEN, happens(POLICY_EXITED_112));
	TEST_ASSERT_EQUAL_INT64(now + 100 * MS, policy_wake_ns(&p));
}

/* The robot must not run without a critical one; one that is not restarted has had its try. */
TEST(what_is_taken_from_a_critical_daemon_counts_as_a_death)
{
	rules.critical = true;
	go_to(POLICY_STARTING);
	TEST_ASSERT_EQUAL_HEX(POLICY_SAY_PAUSE, happens(POLICY_EXITED_112));
	happens((now = policy_wake_ns(&p), POLICY_TIMER));
	happens(POLICY_EXITED_112);
	happens((now = policy_wake_ns(&p), POLICY_TIMER));
	TEST_ASSERT_EQUAL_HEX(POLICY_DO_RAISE | POLICY_SAY_PAUSE, happens(POLICY_EXITED_112));
	rules.critical = false;
	rules.never = true;
	go_to(POLICY_STARTING);
	TEST_ASSERT_EQUAL_HEX(POLICY_SAY_FAILED, happens(POLICY_EXITED_112));
}

TEST(a_death_after_a_second_ends_the_doubling)
{
	go_to(POLICY_STARTING);
	dies_early(100 * MS);
	dies_early(200 * MS);
	happens(POLICY_IS_READY);
	now += S;
	TEST_ASSERT_EQUAL_HEX(POLICY_DO_SPAWN, happens(POLICY_DIED));
	dies_early(100 * MS);
}

/* For arm: auto. */
TEST(restart_never_is_settled_after_a_while_or_when_done)
{
	go_to(POLICY_READY);
	TEST_ASSERT_TRUE(policy_is_settled(&p, &rules, now)); /* others at once */
	rules.never = true;
	go_to(POLICY_READY);
	TEST_ASSERT_FALSE(policy_is_settled(&p, &rules, now));
	TEST_ASSERT_FALSE(policy_is_settled(&p, &rules, now + rules.settled_ns - 1));
	TEST_ASSERT_TRUE(policy_is_settled(&p, &rules, now + rules.settled_ns));
	happens(POLICY_EXITED);
	TEST_ASSERT_TRUE(policy_is_settled(&p, &rules, now));
	go_to(POLICY_READY);
	happens(POLICY_DIED);
	TEST_ASSERT_FALSE(policy_is_settled(&p, &rules, now + 100 * S));
}

/* A daemon that dies early every seven seconds, never ten times in a minute, is never given up. */
TEST(the_budget_is_for_a_minute)
{
	go_to(POLICY_STARTING);
	for (int i = 0; i < 500; i++) {
		now += 2 * S;
		TEST_ASSERT_EQUAL_HEX(POLICY_SAY_PAUSE, happens(POLICY_DIED));
		now += 5 * S;
		TEST_ASSERT_EQUAL_HEX(POLICY_DO_SPAWN, happens(POLICY_TIMER));
	}
	TEST_ASSERT_EQUAL_UINT(9, p.early_deaths);
}

TEST(the_budget_window_is_exact)
{
	rules.budget = 2;
	go_to(POLICY_STARTING);
	dies_early(100 * MS);
	now += 60 * S - 100 * MS;
	TEST_ASSERT_EQUAL_HEX(POLICY_SAY_FAILED, happens(POLICY_DIED));

	go_to(POLICY_STARTING);
	dies_early(100 * MS);
	now += 60 * S - 100 * MS + 1;
	/* And the pauses begin again. */
	dies_early(100 * MS);
	TEST_ASSERT_EQUAL_UINT(1, p.early_deaths);
}

TEST(the_largest_budget_is_kept)
{
	rules.budget = POLICY_DEATHS_MAX;
	rules.backoff_max_ns = rules.backoff_ns;
	go_to(POLICY_STARTING);
	for (int i = 1; i < POLICY_DEATHS_MAX; i++)
		dies_early(100 * MS);
	TEST_ASSERT_EQUAL_HEX(POLICY_SAY_FAILED, happens(POLICY_DIED));
}

TEST(a_start_on_request_resets_the_budget)
{
	rules.budget = 2;
	go_to(POLICY_STARTING);
	dies_early(100 * MS);
	TEST_ASSERT_EQUAL_HEX(POLICY_SAY_FAILED, happens(POLICY_DIED));
	TEST_ASSERT_EQUAL_HEX(0, happens(POLICY_START));
	TEST_ASSERT_EQUAL_STRING("", p.why);
	TEST_ASSERT_EQUAL_UINT(0, p.early_deaths);
	TEST_ASSERT_EQUAL_HEX(POLICY_DO_SPAWN, happens(POLICY_NEEDS_MET));
	dies_early(100 * MS);
	/* A restart in the pause: now, and with a new budget. */
	go_to(POLICY_BACKOFF);
	TEST_ASSERT_EQUAL_HEX(POLICY_DO_SPAWN, happens(POLICY_RESTART));
	dies_early(100 * MS);
	TEST_ASSERT_EQUAL_UINT64(1, p.restarts);
}

TEST(a_wrong_configuration_is_never_restarted)
{
	go_to(POLICY_READY);
	now += 3600 * S;
	TEST_ASSERT_EQUAL_HEX(POLICY_SAY_FAILED, happens(POLICY_EXITED_100));
	TEST_ASSERT_EQUAL_STRING("its configuration is wrong: exit status 100", p.why);
	TEST_ASSERT_EQUAL_HEX(0, happens(POLICY_STOP));
	TEST_ASSERT_EQUAL_STRING("", p.why);
}

TEST(restart_never_is_kept)
{
	rules.never = true;
	go_to(POLICY_READY);
	now += S;
	TEST_ASSERT_EQUAL_HEX(0, happens(POLICY_EXITED));
	TEST_ASSERT_EQUAL(POLICY_DONE, p.state);
	TEST_ASSERT_TRUE(policy_is_fine(&p));
	/* Also before it was ready; after a SIGTERM it is stopped, not done. */
	go_to(POLICY_STARTING);
	TEST_ASSERT_FALSE(policy_is_fine(&p));
	TEST_ASSERT_EQUAL_HEX(0, happens(POLICY_EXITED));
	TEST_ASSERT_EQUAL(POLICY_DONE, p.state);
	go_to(POLICY_READY);
	TEST_ASSERT_TRUE(policy_is_fine(&p));
	happens(POLICY_STOP);
	TEST_ASSERT_EQUAL_HEX(0, happens(POLICY_EXITED));
	TEST_ASSERT_EQUAL(POLICY_STOPPED, p.state);
	TEST_ASSERT_FALSE(policy_is_fine(&p));
	go_to(POLICY_READY);
	now += S;
	TEST_ASSERT_EQUAL_HEX(POLICY_SAY_FAILED, happens(POLICY_DIED));
	TEST_ASSERT_FALSE(policy_is_fine(&p));
	TEST_ASSERT_EQUAL_STRING("it died, and is not to be restarted", p.why);
}

/* ---- critical ---- */

/* Short pauses first, then long ones, so that endless deaths do not keep the machine busy. */
TEST(a_critical_daemon_is_not_given_up)
{
	int64_t pause_ns = 20 * MS;

	rules.critical = true;
	go_to(POLICY_STARTING);
	for (unsigned int i = 1; i <= 1000; i++) {
		if (i >= rules.budget)
			pause_ns = pause_ns * 2 < rules.backoff_max_ns ? pause_ns * 2 : rules.backoff_max_ns;
		TEST_ASSERT_EQUAL_HEX(POLICY_SAY_PAUSE, happens(POLICY_DIED) & ~(unsigned int)POLICY_DO_RAISE);
		TEST_ASSERT_EQUAL_INT64(now + pause_ns, policy_wake_ns(&p));
		now += pause_ns;
		TEST_ASSERT_EQUAL_HEX(POLICY_DO_SPAWN, happens(POLICY_TIMER));
	}
	/* A settled daemon begins again. */
	happens(POLICY_IS_READY);
	now += rules.settled_ns;
	TEST_ASSERT_EQUAL_HEX(POLICY_DO_SPAWN, happens(POLICY_DIED));
	now += rules.budget_within_ns;
	happens(POLICY_DIED);
	TEST_ASSERT_EQUAL_INT64(now + 20 * MS, policy_wake_ns(&p));
	rules.backoff_ns = 5 * MS;
	go_to(POLICY_STARTING);
	dies_early(5 * MS);
	dies_early(10 * MS);
	rules.backoff_max_ns = 15 * MS;
	TEST_ASSERT_EQUAL_HEX(POLICY_SAY_PAUSE | POLICY_DO_RAISE, happens(POLICY_DIED));
	TEST_ASSERT_EQUAL_INT64(now + 15 * MS, policy_wake_ns(&p));
}

TEST(three_deaths_within_a_second_raise_the_level)
{
	rules.critical = true;
	go_to(POLICY_STARTING);
	dies_early(20 * MS);
	now += 480 * MS;
	dies_early(20 * MS);
	now += 480 * MS;
	TEST_ASSERT_EQUAL_HEX(POLICY_SAY_PAUSE | POLICY_DO_RAISE, happens(POLICY_DIED));

	go_to(POLICY_STARTING);
	dies_early(20 * MS);
	now += 480 * MS;
	dies_early(20 * MS);
	now += 480 * MS + 1;
	dies_early(20 * MS);
	/* The last three count, whichever they are. */
	now += 480 * MS - 1;
	TEST_ASSERT_EQUAL_HEX(POLICY_SAY_PAUSE | POLICY_DO_RAISE, happens(POLICY_DIED));
}

TEST(deaths_of_settled_daemons_count_too)
{
	rules.critical = true;
	rules.settled_ns = 100 * MS;
	go_to(POLICY_READY);
	for (int i = 1; i <= 6; i++) {
		now += 300 * MS;
		TEST_ASSERT_EQUAL_HEX(POLICY_DO_SPAWN | (i % 3 ? 0 : POLICY_DO_RAISE), happens(POLICY_DIED));
		happens(POLICY_IS_READY);
	}
}

TEST(giving_up_a_critical_daemon_raises_the_level)
{
	rules.critical = true;
	go_to(POLICY_STARTING);
	TEST_ASSERT_EQUAL_HEX(POLICY_SAY_FAILED | POLICY_DO_RAISE, happens(POLICY_EXITED_100));
}

/* ---- ends ---- */

TEST(a_publishing_daemon_gets_sigterm_first)
{
	static const enum policy_event asked[] = { POLICY_STOP, POLICY_RESTART };

	for (int i = 0; i < 2; i++) {
		go_to(POLICY_READY);
		TEST_ASSERT_EQUAL_HEX(POLICY_DO_TERM, policy_event(&p, &rules, asked[i], true, now));
		TEST_ASSERT_EQUAL_INT64(now + 2 * S, policy_wake_ns(&p));
		now += 2 * S;
		TEST_ASSERT_EQUAL_HEX(POLICY_DO_KILL, happens(POLICY_TIMER));
		/* Once; after that it is only reported. */
		TEST_ASSERT_EQUAL_HEX(0, happens(POLICY_TIMER));
		TEST_ASSERT_EQUAL_HEX(0, happens(POLICY_FROZEN));
		now += 2 * S;
		TEST_ASSERT_EQUAL_HEX(POLICY_SAY_STUCK, happens(POLICY_TIMER));
		now += 3600 * S;
		TEST_ASSERT_EQUAL_HEX(0, happens(POLICY_TIMER));
		TEST_ASSERT_EQUAL_HEX(i ? POLICY_DO_SPAWN : 0, happens(POLICY_DIED));
	}
}

TEST(a_silent_daemon_gets_sigkill_at_once)
{
	go_to(POLICY_READY);
	TEST_ASSERT_EQUAL_HEX(POLICY_DO_KILL, policy_event(&p, &rules, POLICY_STOP, false, now));
	TEST_ASSERT_EQUAL(POLICY_STOPPING, p.state);
	go_to(POLICY_STARTING);
	TEST_ASSERT_EQUAL_HEX(POLICY_DO_KILL, policy_event(&p, &rules, POLICY_RESTART, false, now));
	TEST_ASSERT_EQUAL(POLICY_RESTARTING, p.state);
	/* The next process has not been sent anything. */
	TEST_ASSERT_EQUAL_HEX(POLICY_DO_SPAWN, happens(POLICY_DIED));
	TEST_ASSERT_EQUAL_HEX(POLICY_DO_TERM, happens(POLICY_STOP));
	TEST_ASSERT_EQUAL_HEX(POLICY_DO_KILL, happens(POLICY_FROZEN));
	TEST_ASSERT_EQUAL_HEX(0, happens(POLICY_FROZEN));
}

/* A driver that spins after an hour is restarted at once. */
TEST(a_silent_daemon_is_killed_and_restarted)
{
	go_to(POLICY_READY);
	now += 3600 * S;
	TEST_ASSERT_EQUAL_HEX(POLICY_DO_KILL, happens(POLICY_SILENT));
	now += MS;
	TEST_ASSERT_EQUAL_HEX(POLICY_DO_SPAWN, happens(POLICY_DIED));
	TEST_ASSERT_EQUAL_UINT64(1, p.restarts);
	/* Again, before it was ready. */
	TEST_ASSERT_EQUAL_HEX(POLICY_DO_KILL, happens(POLICY_SILENT));
	dies_early(100 * MS);
}

TEST(the_last_request_counts)
{
	go_to(POLICY_READY);
	happens(POLICY_STOP);
	happens(POLICY_START);
	TEST_ASSERT_EQUAL_INT64(now + 2 * S, policy_wake_ns(&p));
	TEST_ASSERT_EQUAL_HEX(POLICY_DO_SPAWN, happens(POLICY_EXITED));
	happens(POLICY_RESTART);
	happens(POLICY_STOP);
	TEST_ASSERT_EQUAL_HEX(0, happens(POLICY_EXITED));
	TEST_ASSERT_EQUAL(POLICY_STOPPED, p.state);
	TEST_ASSERT_EQUAL_UINT64(0, p.restarts);
}

/* ---- readiness ---- */

TEST(lateness_is_reported_once)
{
	go_to(POLICY_STARTING);
	TEST_ASSERT_EQUAL_INT64(now + 5 * S, policy_wake_ns(&p));
	now += 5 * S;
	TEST_ASSERT_EQUAL_HEX(POLICY_SAY_LATE, happens(POLICY_TIMER));
	TEST_ASSERT_EQUAL_INT64(INT64_MAX, policy_wake_ns(&p));
	now += 3600 * S;
	TEST_ASSERT_EQUAL_HEX(0, happens(POLICY_IS_READY));
	TEST_ASSERT_EQUAL(POLICY_READY, p.state);
}

/* ---- adoption ---- */

TEST(an_adopted_one_is_left_alone_and_counts_as_settled)
{
	TEST_ASSERT_EQUAL_HEX(0, happens(POLICY_ADOPT_READY));
	TEST_ASSERT_TRUE(p.adopted);
	TEST_ASSERT_EQUAL_INT64(INT64_MAX, policy_wake_ns(&p));
	TEST_ASSERT_EQUAL_HEX(POLICY_DO_SPAWN, happens(POLICY_DIED));
	TEST_ASSERT_FALSE(p.adopted);
}

TEST(an_adopted_daemon_has_its_time_to_be_ready)
{
	TEST_ASSERT_EQUAL_HEX(0, happens(POLICY_ADOPT));
	TEST_ASSERT_TRUE(p.adopted);
	TEST_ASSERT_EQUAL_INT64(now + 5 * S, policy_wake_ns(&p));
	dies_early(100 * MS);
	TEST_ASSERT_FALSE(p.adopted);
}

TEST(a_status_is_one_of_four_deaths)
{
	TEST_ASSERT_EQUAL(POLICY_EXITED, policy_death(0));
	TEST_ASSERT_EQUAL(POLICY_EXITED_100, policy_death(100 << 8));
	TEST_ASSERT_EQUAL(POLICY_EXITED_112, policy_death(112 << 8));
	TEST_ASSERT_EQUAL(POLICY_DIED, policy_death(111 << 8));
	TEST_ASSERT_EQUAL(POLICY_DIED, policy_death(9));
	TEST_ASSERT_EQUAL(POLICY_DIED, policy_death(100)); /* killed by a signal of that number */
}
