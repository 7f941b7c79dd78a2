/* test_hubod.c: the safety cases of hubod.
 *
 * The suite of safety_lib.h drives one joint on one bus; here eight of forty move, on boards of both buses.
 */
#include <math.h>
#include <signal.h>

#include "channels/clock/clock.h"
#include "channels/msg/msg.h"
#include "test/can/bus/wire_lib.h"
#include "test/daemons/hubo/hubod_rig.h"
#include "test/lib/estop_talk.h"
#include "test/lib/testcase.h"

void setUp(void)
{
	rig_set_up();
}

void tearDown(void)
{
	rig_finish();
}

/* ---- levels ---- */

TEST(an_estop_lets_no_reference_out_and_is_left_without_a_step)
{
	int64_t from_ns;

	rig_walk("");
	estop_talk_raise_both(MSG_LEVEL_ESTOP);
	rig_pass(6); /* the tick that reads it */
	from_ns = clock_now_ns();
	rig_pass(600);
	TEST_ASSERT_EQUAL(MSG_LIFE_DISARMED, hubod_rig.state.common.lifecycle);
	TEST_ASSERT_EQUAL(0, rig_count(REFERENCE, BOARDS, from_ns));
	TEST_ASSERT_EQUAL(0, rig_pushing(from_ns));
	TEST_ASSERT_TRUE(rig_sim_says("hubo.EJMC4", "RF1_does off"));
	from_ns = clock_now_ns();
	rig_arm(); /* the controller still refers, to somewhere else by now */
	rig_pass(600);
	rig_check_moving(MOVED, clock_now_ns() - 400 * MS);
	TEST_ASSERT_GREATER_THAN(0, rig_pushing(from_ns));
	rig_check_all_steps();
}

/* There the position of the wrist and the currents of two fingers are one frame. */
TEST(an_estop_of_drc_hubo_ends_the_currents_of_fingers_and_moves_no_wrist)
{
	int64_t from_ns;
	int32_t last = 0;

	hubod_rig.robot = "drc-hubo";
	rig_walk("");
	estop_talk_raise_both(MSG_LEVEL_ESTOP);
	rig_pass(6);
	for (unsigned int i = 0; i < hubod_rig.sent_n; i++)
		if (hubod_rig.sent[i].kind == WRIST && hubod_rig.sent[i].board == HAND && hubod_rig.sent[i].pushes)
			last = hubod_rig.sent[i].counts[0];
	TEST_ASSERT_NOT_EQUAL(0, last);
	from_ns = clock_now_ns();
	rig_pass(600);
	TEST_ASSERT_EQUAL(0, rig_count(REFERENCE, BOARDS, from_ns));
	TEST_ASSERT_EQUAL(0, rig_pushing(from_ns));
	TEST_ASSERT_GREATER_THAN(0, rig_count(WRIST, HAND, from_ns));
	for (unsigned int i = 0; i < hubod_rig.sent_n; i++)
		if (hubod_rig.sent[i].kind == WRIST && hubod_rig.sent[i].board == HAND &&
		    hubod_rig.sent[i].t_ns > from_ns)
			TEST_ASSERT_EQUAL(last, hubod_rig.sent[i].counts[0]);
}

/* Without the setting balance all joints brake within their limits, then stand. */
TEST(hold_brakes_within_the_limits)
{
	int64_t from_ns;

	rig_walk("balance: no");
	estop_talk_raise_both(MSG_LEVEL_HOLD);
	from_ns = clock_now_ns();
	rig_pass(600);
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, hubod_rig.state.common.lifecycle);
	for (unsigned int i = 0; i < MOVED; i++)
		TEST_ASSERT_UINT_WITHIN_MESSAGE(2, 120, rig_count(REFERENCE, rig_moved[i].board, from_ns),
						rig_moved[i].name);
	rig_check_standing(clock_now_ns() - 100 * MS);
	TEST_ASSERT_EQUAL(0, rig_pushing(from_ns + 10 * MS));
	rig_arm();
	rig_pass(600);
	rig_check_moving(MOVED, clock_now_ns() - 400 * MS);
	rig_check_all_steps();
}

TEST(at_hold_a_robot_that_balances_goes_on)
{
	int64_t from_ns;

	rig_walk("balance: yes");
	estop_talk_raise_both(MSG_LEVEL_HOLD);
	from_ns = clock_now_ns();
	rig_pass(400);
	rig_check_moving(MOVED, from_ns);
	rig_check_all_steps();
}

/* ---- references ---- */

TEST(an_expired_reference_brakes_within_the_limits)
{
	int64_t from_ns;

	rig_walk("");
	hubod_rig.referring = false;
	from_ns = clock_now_ns();
	rig_pass(600);
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, hubod_rig.state.common.lifecycle);
	TEST_ASSERT_UINT_WITHIN(2, 120, rig_count(REFERENCE, rig_moved[0].board, from_ns)); /* where it stands */
	rig_check_standing(clock_now_ns() - 100 * MS);
	TEST_ASSERT_EQUAL(0, rig_pushing(from_ns + VALID_NS + 2 * PERIOD_NS));
	rig_check_all_steps();
}

static void nan_position(struct msg_joint_ref *ref, size_t *len)
{
	(void)len;
	ref->position[rig_place("RSP")] = NAN;
}
static void short_message(struct msg_joint_ref *ref, size_t *len)
{
	(void)ref;
	*len -= 8;
}
static void too_few_joints(struct msg_joint_ref *ref, size_t *len)
{
	(void)len;
	ref->count--;
}
static void other_driver(struct msg_joint_ref *ref, size_t *len)
{
	(void)len;
	ref->header.for_incarnation++;
}
static void long_over(struct msg_joint_ref *ref, size_t *len)
{
	(void)len;
	ref->header.valid_until_ns = ref->header.t_publish_ns - MS;
}
static void without_end(struct msg_joint_ref *ref, size_t *len)
{
	(void)len;
	ref->header.valid_until_ns = INT64_MAX;
}

TEST(a_bad_reference_is_counted_and_moves_nothing)
{
	static const struct {
		void (*spoil)(struct msg_joint_ref *ref, size_t *len);
		const uint32_t *counter;
		const char *name;
	} cases[] = {
		{ nan_position, &hubod_rig.state.common.refs_refused.not_finite, "NaN" },
		{ short_message, &hubod_rig.state.common.refs_refused.other_size, "short" },
		{ too_few_joints, &hubod_rig.state.common.refs_refused.other_size, "too few joints" },
		{ other_driver, &hubod_rig.state.common.refs_refused.other_incarnation, "another incarnation" },
		{ long_over, &hubod_rig.state.common.refs_refused.past, "past" },
		{ without_end, &hubod_rig.state.common.refs_refused.too_far, "too far" },
	};
	int64_t from_ns;

	rig_up("");
	from_ns = clock_now_ns();
	hubod_rig.referring = true;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const uint32_t before = *cases[i].counter;

		hubod_rig.walk_ns = clock_now_ns() - 400 * MS;
		hubod_rig.spoil = cases[i].spoil;
		rig_pass(200);
		TEST_ASSERT_UINT_WITHIN_MESSAGE(3, 20, *cases[i].counter - before, cases[i].name);
		TEST_ASSERT_EQUAL_MESSAGE(MSG_LIFE_HOLDING, hubod_rig.state.common.lifecycle, cases[i].name);
	}
	rig_check_standing(from_ns);
	TEST_ASSERT_EQUAL(0, hubod_rig.state.common.refs_taken);
	hubod_rig.spoil = NULL; /* it was the references */
	hubod_rig.walk_ns = clock_now_ns();
	rig_pass(600);
	rig_check_moving(MOVED, clock_now_ns() - 400 * MS);
	rig_check_all_steps();
}

/* ---- limbs ---- */

static void check_limbs(bool arm_moves, bool leg_moves)
{
	const int64_t from_ns = clock_now_ns();
	unsigned int at;

	rig_pass(400);
	for (unsigned int i = 0; i < MOVED; i++) {
		const bool moves = (arm_moves && rig_has(&hubod_rig.authors[RARM].state, &rig_moved[i], &at)) ||
				   (leg_moves && rig_has(&hubod_rig.authors[LLEG].state, &rig_moved[i], &at));

		TEST_ASSERT_TRUE_MESSAGE(moves ? rig_way(&rig_moved[i], from_ns) > 0.05
					       : rig_way(&rig_moved[i], from_ns) == 0,
					 rig_moved[i].name);
	}
}

TEST(limbs_follow_authors_of_their_own)
{
	int64_t from_ns;

	rig_up("");
	hubod_rig.walk_ns = clock_now_ns();
	hubod_rig.authors[RARM].on = true;
	rig_pass(300);
	check_limbs(true, false);
	hubod_rig.authors[LLEG].on = true;
	rig_pass(300);
	check_limbs(true, true);
	TEST_ASSERT_EQUAL(0, hubod_rig.state.common.refs_taken);
	TEST_ASSERT_GREATER_THAN(50, hubod_rig.authors[RARM].state.common.refs_taken);
	hubod_rig.authors[RARM].on = false; /* its joints brake, and nothing else does */
	rig_pass(500);
	check_limbs(false, true);
	hubod_rig.referring = true; /* all joints, and first of all */
	rig_pass(500);
	from_ns = clock_now_ns();
	rig_pass(400);
	rig_check_moving(MOVED, from_ns);
	hubod_rig.referring = hubod_rig.authors[LLEG].on = false;
	rig_pass(600);
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, hubod_rig.state.common.lifecycle);
	check_limbs(false, false);
	rig_check_all_steps();
}

TEST(a_limb_has_the_state_and_the_counts_of_its_own)
{
	static const char *const names[] = { "RSP", "RSR", "RSY", "REB", "RWY", "RWP" };
	const struct msg_joint_state *s = &hubod_rig.authors[RARM].state;

	rig_up("");
	TEST_ASSERT_EQUAL(6, s->count);
	for (unsigned int i = 0; i < 6; i++) {
		TEST_ASSERT_EQUAL_STRING(names[i], s->joint[i]);
		TEST_ASSERT_TRUE(s->position[i] == hubod_rig.state.position[rig_place(names[i])]);
		TEST_ASSERT_EQUAL(hubod_rig.state.status[rig_place(names[i])], s->status[i]);
	}
	TEST_ASSERT_EQUAL(hubod_rig.state.header.incarnation, s->header.incarnation);
	hubod_rig.authors[RARM].on = true;
	hubod_rig.authors[RARM].incarnation = 1;
	rig_pass(200);
	TEST_ASSERT_UINT_WITHIN(3, 20, s->common.refs_refused.other_incarnation);
	TEST_ASSERT_EQUAL(0, hubod_rig.state.common.refs_refused.other_incarnation);
	TEST_ASSERT_EQUAL(0, hubod_rig.authors[LLEG].state.common.refs_refused.other_incarnation);
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, hubod_rig.state.common.lifecycle);
	hubod_rig.authors[RARM].on = false;
	rig_ask_sim("fault hubo.EJMC4 silent"); /* a hand */
	rig_pass(100);
	TEST_ASSERT_TRUE(hubod_rig.state.header.flags & MSG_FLAG_PARTIAL ||
			 hubod_rig.state.status[rig_place("RF1")] & MSG_JOINT_SILENT);
	TEST_ASSERT_FALSE(s->header.flags & MSG_FLAG_PARTIAL);
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, s->common.lifecycle);
	wire_lib_ask("wire:upper", "link down host");
	rig_pass(100);
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, s->common.lifecycle);
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, hubod_rig.authors[LLEG].state.common.lifecycle);
}

/* ---- the driver ---- */

TEST(a_restarted_driver_goes_on_from_where_the_joints_are)
{
	rig_walk("");
	for (int i = 0; i < 3; i++) {
		const uint32_t incarnation = hubod_rig.state.header.incarnation;
		int64_t from_ns;

		rig_end(&hubod_rig.driver, SIGKILL);
		rig_pass(7 + 30 * i);
		from_ns = clock_now_ns();
		hubod_rig_drive();
		rig_pass(790);
		TEST_ASSERT_EQUAL(0, rig_count(REFERENCE, BOARDS, from_ns));
		TEST_ASSERT_EQUAL(0, rig_count(DUTY, BOARDS, from_ns));
		rig_pass(710);
		TEST_ASSERT_GREATER_THAN(incarnation, hubod_rig.state.header.incarnation);
		rig_check_moving(MOVED, clock_now_ns() - 400 * MS);
		TEST_ASSERT_EQUAL(0, rig_count(HOME, BOARDS, 0));
		rig_pass(37 * i);
	}
	rig_check_all_steps();
	TEST_ASSERT_EQUAL(0, rig_happened("motor"));
}

/* Killed while walking and started again at an e-stop: nothing moves since the time that is returned. */
static int64_t restart_stopped(void)
{
	int64_t from_ns;

	rig_walk("");
	hubod_rig.referring = false;
	rig_end(&hubod_rig.driver, SIGKILL);
	from_ns = clock_now_ns();
	estop_talk_raise_both(MSG_LEVEL_ESTOP);
	hubod_rig_drive();
	rig_pass(1500);
	TEST_ASSERT_EQUAL(0, rig_count(REFERENCE, BOARDS, from_ns));
	TEST_ASSERT_EQUAL(0, rig_pushing(from_ns));
	return from_ns;
}

TEST(a_restarted_driver_without_a_controller_stands_and_ends_the_push_of_a_finger)
{
	restart_stopped();
	TEST_ASSERT_TRUE(rig_sim_says("hubo.EJMC4", "RF1_does off"));
}

/* The frame that ends the currents of its fingers has a place for the wrist, which must not move. */
TEST(a_restarted_driver_of_drc_hubo_ends_the_currents_of_fingers_where_the_wrist_is)
{
	int64_t from_ns;

	hubod_rig.robot = "drc-hubo";
	from_ns = restart_stopped();
	TEST_ASSERT_EQUAL(10, rig_count(WRIST, HAND, from_ns));
	for (unsigned int i = 0; i < hubod_rig.sent_n; i++)
		if (hubod_rig.sent[i].kind == WRIST && hubod_rig.sent[i].board == HAND &&
		    hubod_rig.sent[i].t_ns > from_ns)
			TEST_ASSERT_EQUAL(hubod_rig.sent[i].measured[0], hubod_rig.sent[i].counts[0]);
	TEST_ASSERT_NOT_EQUAL(0, hubod_rig.measured[HAND][0]);
}

/* ---- the wire ---- */

static unsigned int read_missed(const char *word)
{
	const char *at;

	TEST_ASSERT_EQUAL(0, rig_ask(MSG_VERB_GET, "missed-why"));
	at = strstr(hubod_rig.reply.value, word);
	TEST_ASSERT_NOT_NULL(at);
	return (unsigned int)atoi(at + strlen(word));
}

static void check_missed(unsigned int unsent, unsigned int late, unsigned int lost)
{
	char words[64];

	snprintf(words, sizeof(words), "unsent %u late %u lost %u", unsent, late, lost);
	TEST_ASSERT_EQUAL(0, rig_ask(MSG_VERB_GET, "missed-why"));
	TEST_ASSERT_EQUAL_STRING(words, hubod_rig.reply.value);
}

/* What a cycle lost is not sent later: the boards interpolate over it. */
TEST(lost_replies_are_counted_and_stop_nothing)
{
	char missed[32];
	int64_t from_ns;

	rig_walk("");
	from_ns = clock_now_ns();
	rig_ask_sim("set hubo.JMC8 lose=1");
	rig_pass(13); /* two cycles or three */
	rig_ask_sim("set hubo.JMC8 lose=0");
	rig_pass(400);
	rig_check_moving(MOVED, from_ns);
	TEST_ASSERT_EQUAL(0, rig_happened("silent"));
	TEST_ASSERT_EQUAL(0, rig_ask(MSG_VERB_GET, "JMC8"));
	TEST_ASSERT_TRUE_MESSAGE(!strncmp(hubod_rig.reply.value, "missed 2 ", 9) ||
					 !strncmp(hubod_rig.reply.value, "missed 3 ", 9),
				 hubod_rig.reply.value);
	snprintf(missed, sizeof(missed), "%.8s", hubod_rig.reply.value + 7);
	TEST_ASSERT_EQUAL(0, rig_ask(MSG_VERB_GET, "missed"));
	TEST_ASSERT_EQUAL_INT(atoi(missed), atoi(hubod_rig.reply.value));
	check_missed(0, 0, (unsigned int)atoi(missed));
	rig_check_all_steps();
}

/* Who lost them: a board that replies after the end of the cycle did not lose its reply, nor did a bus that stands. */
TEST(missed_replies_are_told_apart)
{
	unsigned int late, lost;

	rig_up("");
	check_missed(0, 0, 0);
	rig_ask_sim("set hubo.JMC8 reply_delay=4500us"); /* the request is on the wire after 1 ms or so */
	rig_pass(23);
	rig_ask_sim("set hubo.JMC8 reply_delay=150us");
	rig_pass(100);
	late = read_missed("late");
	TEST_ASSERT_EQUAL(1, late); /* from then on each of them comes in time for the next request */
	check_missed(0, late, 0);
	rig_ask_sim("set hubo.JMC8 lose=1");
	rig_pass(13);
	rig_ask_sim("set hubo.JMC8 lose=0");
	rig_pass(100);
	lost = read_missed("lost");
	TEST_ASSERT_UINT_WITHIN(1, 2, lost);
	check_missed(0, late, lost);
	wire_lib_ask("wire:upper", "fault stuck 60s");
	rig_pass(200);
	wire_lib_ask("wire:upper", "fault stuck off");
	rig_pass(300);
	/* Of each board and sensor a reply or two were under way when it stopped. */
	TEST_ASSERT_GREATER_THAN(300, read_missed("unsent"));
	TEST_ASSERT_UINT_WITHIN(24, lost, read_missed("lost"));
}

/* A frame in fifty is lost, in either direction.  So slow that two lost references are within what a board accepts from
 * one to the next (input_difference). */
TEST(lost_frames_stop_nothing)
{
	int64_t from_ns;

	hubod_rig.span_rad = 0.4;
	rig_walk("");
	wire_lib_ask("wire:lower", "fault drop 2%");
	wire_lib_ask("wire:upper", "fault drop 2%");
	from_ns = clock_now_ns();
	rig_pass(1600);
	wire_lib_ask("wire:lower", "fault drop off");
	wire_lib_ask("wire:upper", "fault drop off");
	TEST_ASSERT_EQUAL(0, rig_ask(MSG_VERB_GET, "missed"));
	TEST_ASSERT_GREATER_THAN(0, atoi(hubod_rig.reply.value));
	TEST_ASSERT_EQUAL(0, rig_happened("motor"));
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, hubod_rig.state.common.lifecycle);
	for (unsigned int i = 0; i < MOVED; i++)
		TEST_ASSERT_TRUE_MESSAGE(rig_way(&rig_moved[i], from_ns) > 0.35, rig_moved[i].name);
}

TEST(a_bus_that_stalls_takes_out_its_own_boards)
{
	static const char *const faults[] = { "fault stuck 60s", "link down host" };
	static const char *const ends[] = { "fault stuck off", "link up host" };
	int64_t from_ns;

	rig_walk("");
	for (unsigned int f = 0; f < 2; f++) {
		wire_lib_ask("wire:upper", faults[f]);
		from_ns = clock_now_ns();
		rig_pass(500);
		for (unsigned int i = 0; i < MOVED; i++) {
			const bool lower = rig_moved[i].board < 0x08 || rig_moved[i].board == 0x23;
			const enum msg_life life = hubod_rig.state.lifecycle[rig_place(rig_moved[i].name)];

			TEST_ASSERT_EQUAL_MESSAGE(lower ? MSG_LIFE_ACTIVE : MSG_LIFE_FAULT, life, rig_moved[i].name);
			if (lower)
				TEST_ASSERT_UINT_WITHIN_MESSAGE(
					2, 100, rig_count(REFERENCE, rig_moved[i].board, from_ns), rig_moved[i].name);
		}
		if (!f) /* as the link's owner does: what the controller holds is stale */
			wire_lib_ask("wire:upper", "link reset host");
		wire_lib_ask("wire:upper", ends[f]);
		rig_pass(600);
		from_ns = clock_now_ns();
		rig_pass(400);
		rig_check_moving(MOVED, from_ns);
	}
	TEST_ASSERT_EQUAL(0, rig_happened("motor"));
	rig_check_all_steps();
}

/* Boards lock to the arrival of references, and interpolate between them. */
static void check_locked(const char *name)
{
	static const char *const boards[] = { "JMC0",  "JMC1",	"JMC2",	 "JMC3",  "JMC4",  "JMC5",
					      "JMC6",  "JMC7",	"EJMC3", "JMC8",  "JMC9",  "JMC10",
					      "JMC11", "EJMC0", "EJMC1", "EJMC2", "EJMC4", "EJMC5" };
	const unsigned int n = sizeof(boards) / sizeof(*boards);
	unsigned int losses[32], locked = 0;
	int64_t from_ns;

	hubod_rig.robot = name;
	rig_walk("");
	for (unsigned int i = 0; i < n; i++)
		losses[i] = rig_sim_number(boards[i], "losses");
	from_ns = clock_now_ns();
	rig_pass(2000);
	rig_check_moving(MOVED, from_ns);
	for (unsigned int i = 0; i < n; i++) {
		if (!rig_sim_number(boards[i], "references")) /* a hand, or inactive */
			continue;
		TEST_ASSERT_EQUAL_MESSAGE(losses[i], rig_sim_number(boards[i], "losses"), hubod_rig.said);
		TEST_ASSERT_TRUE_MESSAGE(strstr(hubod_rig.said, " lock yes "), hubod_rig.said);
		locked++;
	}
	TEST_ASSERT_EQUAL(!strcmp(name, "hubo") ? 15 : 18, locked);
	TEST_ASSERT_EQUAL(0, rig_ask(MSG_VERB_GET, "missed"));
	TEST_ASSERT_EQUAL_STRING("0", hubod_rig.reply.value);
}

TEST(all_boards_of_hubo_lock_and_none_misses_a_reply)
{
	check_locked("hubo");
}

TEST(all_boards_of_drc_hubo_lock_and_none_misses_a_reply)
{
	check_locked("drc-hubo");
}

/* ---- boards ---- */

TEST(a_dead_board_takes_out_its_own_joints)
{
	static const char *const faults[] = { "silent", "cut" };
	char question[64];
	int64_t from_ns;

	rig_walk("");
	for (unsigned int i = 0; i < 2; i++) {
		snprintf(question, sizeof(question), "fault %s %s", rig_moved[RSP].unit, faults[i]);
		rig_ask_sim(question);
		from_ns = clock_now_ns();
		rig_pass(500);
		rig_check_moving(RSP, from_ns);
		TEST_ASSERT_EQUAL(0, rig_count(REFERENCE, rig_moved[RSP].board, from_ns + 40 * MS));
		TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, hubod_rig.state.lifecycle[rig_place("RSP")]);
		TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, hubod_rig.state.lifecycle[rig_place("RSR")]); /* on the same board */
		TEST_ASSERT_TRUE(hubod_rig.state.status[rig_place("RSP")] & MSG_JOINT_SILENT);
		TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, hubod_rig.state.common.lifecycle);
		TEST_ASSERT_EQUAL(i + 1, rig_happened("silent"));
		strcat(question, " clear");
		rig_ask_sim(question);
		rig_pass(300);
		from_ns = clock_now_ns();
		rig_pass(400);
		rig_check_moving(MOVED, from_ns);
	}
	rig_check_all_steps();
}

/* It pushes on, for it hears: the duty has to be ended. */
TEST(a_hand_that_is_dead_is_ordered_to_stop)
{
	int64_t from_ns;

	rig_walk("");
	rig_ask_sim("fault hubo.EJMC4 silent");
	from_ns = clock_now_ns();
	rig_pass(400);
	rig_check_moving(MOVED, from_ns);
	TEST_ASSERT_EQUAL(0, rig_pushing(from_ns + 40 * MS));
	TEST_ASSERT_TRUE(rig_sim_says("hubo.EJMC4", "RF1_does off"));
}

/* It has forgotten its zero: where its references would bring it is not known. */
static void check_off(int64_t from_ns)
{
	TEST_ASSERT_EQUAL(0, rig_count(REFERENCE, rig_moved[RSP].board, from_ns));
	TEST_ASSERT_EQUAL(0, rig_count(SWITCH_ON, rig_moved[RSP].board, from_ns));
	TEST_ASSERT_TRUE(rig_sim_says(rig_moved[RSP].unit, "RSP_does off"));
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, hubod_rig.state.lifecycle[rig_place("RSP")]);
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, hubod_rig.state.lifecycle[rig_place("RSR")]);
	TEST_ASSERT_FALSE(hubod_rig.state.status[rig_place("RSP")] & (MSG_JOINT_HOMED | MSG_JOINT_ENABLED));
	rig_check_moving(RSP, clock_now_ns() - 400 * MS);
}

static void check_activates(void)
{
	int64_t from_ns;

	TEST_ASSERT_EQUAL_MESSAGE(0, rig_ask(MSG_VERB_ACTIVATE, "RSP"), hubod_rig.reply.error);
	rig_pass(200);
	from_ns = clock_now_ns();
	rig_pass(400);
	rig_check_moving(MOVED, from_ns);
	rig_check_all_steps();
}

TEST(a_board_that_lost_its_power_is_moved_only_when_asked)
{
	static const char *const settings[] = { "enable: yes", "enable: no" };

	for (unsigned int i = 0; i < 2; i++) {
		int64_t from_ns;

		if (i)
			rig_finish();
		rig_walk(settings[i]);
		rig_ask_sim("fault hubo.JMC8 power-off");
		rig_pass(200);
		from_ns = clock_now_ns();
		rig_ask_sim("fault hubo.JMC8 power-on");
		rig_pass(1000);
		check_off(from_ns);
		TEST_ASSERT_EQUAL(1, rig_happened("off"));
		check_activates();
	}
}

/* The second one is killed, too, so that what it knew of the first one's board has to outlive both. */
TEST(power_lost_between_two_drivers_is_noticed)
{
	int64_t from_ns;

	rig_walk("enable: yes");
	from_ns = clock_now_ns() + 10 * MS;
	for (int i = 0; i < 2; i++) {
		rig_end(&hubod_rig.driver, SIGKILL);
		rig_ask_sim("fault hubo.JMC8 power-off");
		rig_ask_sim("fault hubo.JMC8 power-on");
		rig_pass(200);
		hubod_rig_drive();
		rig_pass(1500);
		check_off(from_ns);
	}
	check_activates();
}

/* The other motor of its board brakes within its limits; it gets the position where it is. */
TEST(a_motor_that_tripped_is_not_led_away)
{
	int64_t from_ns;

	rig_walk("");
	rig_ask_sim("fault hubo.JMC8 jam-0");
	rig_pass(100);
	from_ns = clock_now_ns();
	rig_pass(500);
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, hubod_rig.state.lifecycle[rig_place("RSP")]);
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, hubod_rig.state.lifecycle[rig_place("RSR")]);
	TEST_ASSERT_UINT_WITHIN(2, 100, rig_count(REFERENCE, rig_moved[RSP].board, from_ns));
	for (unsigned int i = 0; i < hubod_rig.sent_n; i++)
		if (hubod_rig.sent[i].kind == REFERENCE && hubod_rig.sent[i].board == rig_moved[RSP].board &&
		    hubod_rig.sent[i].t_ns > from_ns)
			TEST_ASSERT_EQUAL(hubod_rig.sent[i].measured[0], hubod_rig.sent[i].counts[0]);
	TEST_ASSERT_TRUE(rig_way(&rig_moved[RSR], clock_now_ns() - 100 * MS) == 0);
	rig_check_steps(&rig_moved[RSR]);
	rig_check_moving(RSP, from_ns);
}

/* ---- parameters ---- */

/* Values are those of the simulator's page and of the home file: counts are rad * driven / drive * harmonic * encoder /
 * (2 pi).  Currents have the same identifier, and are asked for all the time. */
TEST(parameters_are_read_while_the_robot_moves)
{
	int64_t from_ns;

	rig_walk("");
	from_ns = clock_now_ns();
	rig_check_parameter("RHY.kp", "400");
	rig_check_parameter("RHY.kd", "200");
	rig_check_parameter("RHR.lower", "-180278"); /* of -0.56 rad: both halves in one reply */
	rig_check_parameter("RHR.upper", "119112");  /* 0.37: halves in two replies */
	rig_check_parameter("LKN.home-offset", "-24446");
	rig_check_parameter("LF5.search-turns", "250"); /* the fifth motor of its board */
	rig_check_parameter("REB.jam-time", "1000");
	rig_check_parameter("WST.rate", "5");
	TEST_ASSERT_EQUAL(-ENOENT, rig_ask(MSG_VERB_GET, "RHY.nothing"));
	TEST_ASSERT_EQUAL(-ENOENT, rig_ask(MSG_VERB_GET, "XYZ.kp"));
	TEST_ASSERT_EQUAL(-ENOENT, rig_ask(MSG_VERB_GET, "NKY.kp")); /* inactive */
	rig_pass(100);
	rig_check_moving(MOVED, from_ns);
	for (unsigned int i = 0; i < MOVED; i++)
		TEST_ASSERT_TRUE_MESSAGE(hubod_rig.state.current[rig_place(rig_moved[i].name)] < 2, rig_moved[i].name);
	rig_check_parameter("missed", "0");
}

TEST(a_parameter_of_a_dead_board_is_an_error)
{
	rig_up("");
	rig_ask_sim("fault hubo.JMC8 silent");
	TEST_ASSERT_EQUAL(-EIO, rig_ask(MSG_VERB_GET, "RSP.kp"));
	rig_pass(100);
	TEST_ASSERT_EQUAL(-EIO, rig_ask(MSG_VERB_GET, "RSR.kp"));
	rig_check_parameter("LSP.kp", "400");
}

TEST(commands_go_to_boards_within_their_limits)
{
	static const struct {
		const char *key, *value;
		int armed, disarmed; /* the result */
	} rows[] = {
		{ "RHY.position-gains", "300,1,150", 0, 0 },
		{ "RHY.position-gains", "300,1", -EINVAL, -EINVAL },
		{ "RHY.position-gains", "65536,1,1", -ERANGE, -ERANGE },
		{ "RF3.position-gains", "1,1,1", -EINVAL, -EINVAL }, /* motors 0 and 1 have them */
		{ "rarm.dead-zone", "7", 0, 0 },
		{ "all.beep", "1", 0, 0 },
		{ "all.beep", "256", -ERANGE, -ERANGE },
		{ "RHY.mode", "1", -EBUSY, 0 },
		{ "all.initialize", "", -EBUSY, 0 },
		{ "RHY.encoder-resolution", "4000", -EBUSY, 0 },
		{ "RHY.fet", "1", 0, -EPERM },
		{ "all.control-off", "", 0, 0 },
		{ "RHY.home", "1", -EINVAL, -EINVAL }, /* by its own verb */
		{ "RHY.zero", "0", -EINVAL, -EINVAL },
		{ "RHY.board-number", "1,5", -EINVAL, -EINVAL },
		{ "NKY.beep", "1", -ENOENT, -ENOENT },
		{ ".beep", "1", -ENOENT, -ENOENT },
	};

	rig_up("enable: no");
	for (unsigned int disarmed = 0; disarmed < 2; disarmed++) {
		if (disarmed) {
			rig_check_parameter("RHY.kp", "300");
			rig_check_parameter("RSP.dead-zone", "7");
			rig_check_parameter("RWP.dead-zone", "7");
			rig_check_parameter("LSP.dead-zone", "0");
			estop_talk_raise_both(MSG_LEVEL_ESTOP);
			rig_pass(50);
		}
		for (unsigned int i = 0; i < sizeof(rows) / sizeof(*rows); i++)
			TEST_ASSERT_EQUAL_MESSAGE(disarmed ? rows[i].disarmed : rows[i].armed,
						  rig_ask_value(MSG_VERB_SET, rows[i].key, rows[i].value), rows[i].key);
	}
}

TEST(sensors_are_nulled_and_initialized_by_name)
{
	rig_up("");
	TEST_ASSERT_EQUAL(0, rig_ask(MSG_VERB_BIAS, "RFFT"));
	TEST_ASSERT_EQUAL(0, rig_ask(MSG_VERB_BIAS, "LFFT.tilt"));
	TEST_ASSERT_EQUAL(0, rig_ask(MSG_VERB_BIAS, "IMU0"));
	TEST_ASSERT_EQUAL(-ENOENT, rig_ask(MSG_VERB_BIAS, "RHFT.tilt")); /* a hand has none */
	TEST_ASSERT_EQUAL(-ENOENT, rig_ask(MSG_VERB_BIAS, "IMU1"));	 /* inactive */
	TEST_ASSERT_EQUAL(-ENOENT, rig_ask(MSG_VERB_BIAS, "RFFT.force"));
	TEST_ASSERT_EQUAL(0, rig_ask(MSG_VERB_RESET, "LHFT"));
	TEST_ASSERT_EQUAL(-ENOENT, rig_ask(MSG_VERB_RESET, "IMU2"));
	TEST_ASSERT_EQUAL(-EBUSY, rig_ask(MSG_VERB_RESET, "RSP")); /* armed */
	TEST_ASSERT_TRUE(rig_sim_says("hubo.RFFT", "ignored 0") || !strstr(hubod_rig.said, "ignored"));
	rig_check_parameter("RFFT", "missed 0");
	rig_ask_sim("fault hubo.RFFT silent");
	rig_pass(52);
	TEST_ASSERT_EQUAL(0, rig_ask(MSG_VERB_GET, "RFFT"));
	TEST_ASSERT_GREATER_OR_EQUAL(10, atoi(hubod_rig.reply.value + strlen("missed ")));
	TEST_ASSERT_EQUAL(-ENOENT, rig_ask(MSG_VERB_GET, "IMU1"));
}

TEST(the_home_file_is_written_and_read_back)
{
	rig_up("");
	TEST_ASSERT_EQUAL(-EBUSY, rig_ask_value(MSG_VERB_SET, "home-file", "RHY")); /* armed */
	estop_talk_raise_both(MSG_LEVEL_ESTOP);
	rig_pass(50);
	TEST_ASSERT_EQUAL(0, rig_ask_value(MSG_VERB_SET, "RHY.home-search", "5,1,77"));
	rig_check_parameter("RHY.search-turns", "5");
	rig_check_parameter("RHY.home-offset", "77");
	TEST_ASSERT_EQUAL_MESSAGE(0, rig_ask_value(MSG_VERB_SET, "home-file", "RHY"), hubod_rig.reply.error);
	TEST_ASSERT_EQUAL_STRING("1 joints written and read back", hubod_rig.reply.value);
	rig_check_parameter("RHY.search-turns", "20");
	rig_check_parameter("RHY.home-offset", "-4775"); /* -0.03 rad */
	TEST_ASSERT_EQUAL_MESSAGE(0, rig_ask_value(MSG_VERB_SET, "home-file", "all"), hubod_rig.reply.error);
	TEST_ASSERT_EQUAL_STRING("35 joints written and read back", hubod_rig.reply.value);
	TEST_ASSERT_EQUAL(-ENOENT, rig_ask_value(MSG_VERB_SET, "home-file", "neck"));
	rig_ask_sim("fault hubo.JMC9 silent");
	TEST_ASSERT_EQUAL(-EIO, rig_ask_value(MSG_VERB_SET, "home-file", "rarm"));
	TEST_ASSERT_EQUAL_STRING_LEN("RSY: ", hubod_rig.reply.error, 5);
}
