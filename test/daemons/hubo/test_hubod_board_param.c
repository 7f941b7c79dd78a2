/* test_hubod_board_param.c: what boards have stored, as hubod publishes it; commands to boards, and boards that were
 * swapped.
 */
#include <math.h>
#include <signal.h>

#include "channels/clock/clock.h"
#include "channels/msg/msg.h"
#include "test/daemons/hubo/hubod_rig.h"
#include "test/lib/estop_talk.h"
#include "test/lib/testcase.h"

#define ACTIVE 35 /* joints of a Hubo2+ */
#define LETTERS 9 /* replies with the parameters of a joint */
#define LONG_MS 5000

void setUp(void)
{
	rig_set_up();
}

void tearDown(void)
{
	rig_finish();
}

static const char *const numbers[] = {
	/* of a motor */
	"kp", "ki", "kd", "encoder", "dead-zone", "home-direction", "home-mode", "search-turns", "home-offset", "lower",
	"upper", "acceleration", "velocity", "pwm", "current", "current-kp", "current-kd", "current-kf",
	/* of a board */
	"rate", "board-type", "home-acceleration", "home-to-limit", "home-to-offset", "jam-time", "saturation-time",
	"saturation-duty", "jam-duty", "input-difference", "error", "encoder-error"
};
#define NUMBERS (sizeof(numbers) / sizeof(*numbers))

/* As it was published last, by the name that requests have; unknown: NaN. */
static double published(const char *joint, const char *number)
{
	const struct msg_type *type = msg_type_by_number(msg_board_param_number);
	struct msg_place place;
	char path[32], error[128];
	double value;

	snprintf(path, sizeof(path), "%s", number);
	for (char *at = path; *at; at++)
		*at = (char)(*at == '-' ? '_' : *at);
	TEST_ASSERT_EQUAL_MESSAGE(0, msg_find(type, path, &place, error, sizeof(error)), error);
	TEST_ASSERT_EQUAL(0, msg_value(&hubod_rig.param, &place, (size_t)rig_place(joint), &value));
	return place.field->kind == MSG_f64 || value >= 0 ? value : NAN;
}

static unsigned int known(const char *joint)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < NUMBERS; i++)
		n += isfinite(published(joint, numbers[i])) != 0;
	return n;
}

static unsigned int known_of_all(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < hubod_rig.state.count; i++)
		n += known(hubod_rig.state.joint[i]);
	return n;
}

static void read_all(const char *key)
{
	const uint64_t id = rig_request(MSG_VERB_GET, key, "");

	TEST_ASSERT_EQUAL_MESSAGE(0, rig_result(id, LONG_MS), hubod_rig.reply.error);
	rig_pass(10);
}

static void disarm(void)
{
	estop_talk_raise_both(MSG_LEVEL_ESTOP);
	rig_pass(50);
}

/* ---- read by requests ---- */

/* Values are those of the simulator's page and of the home file. */
TEST(what_was_read_is_published_and_the_rest_is_unknown)
{
	static const struct {
		const char *joint, *number;
		double value;
	} rows[] = {
		{ "RHY", "kp", 400 },
		{ "RHY", "kd", 200 },
		{ "RHY", "encoder", 4000 },
		{ "RHR", "lower", -180278 },
		{ "RHR", "upper", 119112 },
		{ "RHY", "home-offset", -4775 },
		{ "LKN", "home-offset", -24446 },
		{ "LF5", "search-turns", 250 },
		{ "REB", "jam-time", 1000 },
		{ "WST", "rate", 5 },
		{ "RSP", "kp", 400 },
	};
	static const char *const compared[] = { "RHR", "LF5", "RWP" };
	char key[64];

	rig_up("");
	TEST_ASSERT_GREATER_THAN(0, hubod_rig.params_n);
	TEST_ASSERT_EQUAL(hubod_rig.state.count, hubod_rig.param.count);
	TEST_ASSERT_EQUAL(0, known_of_all());
	TEST_ASSERT_EQUAL(0, hubod_rig.param.header.t_sample_ns);

	rig_check_parameter("RHY.kp", "400"); /* comes in a reply with three others */
	rig_check_parameter("WST.rate", "5");
	rig_pass(10);
	TEST_ASSERT_EQUAL(4 + 3, known_of_all());
	TEST_ASSERT_EQUAL(4, known("RHY"));
	TEST_ASSERT_GREATER_THAN_INT64(0, hubod_rig.param.t_read_ns[rig_place("RHY")]);
	TEST_ASSERT_EQUAL_INT64(0, hubod_rig.param.t_read_ns[rig_place("RHR")]);
	TEST_ASSERT_EQUAL_INT64(hubod_rig.param.t_read_ns[rig_place("RHY")], hubod_rig.param.header.t_sample_ns);

	read_all("all.all");
	TEST_ASSERT_EQUAL_STRING("35 joints read", hubod_rig.reply.value);
	TEST_ASSERT_EQUAL(ACTIVE * NUMBERS, known_of_all());
	TEST_ASSERT_EQUAL(0, known("NKY")); /* inactive */
	TEST_ASSERT_EQUAL(0x22, hubod_rig.param.board[rig_place("NKY")]);
	TEST_ASSERT_EQUAL(0x25, hubod_rig.param.board[rig_place("LF5")]);
	TEST_ASSERT_EQUAL(-1, hubod_rig.param.board[18]);
	TEST_ASSERT_EQUAL(0, rig_happened("home-file"));
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		TEST_ASSERT_EQUAL_DOUBLE_MESSAGE(rows[i].value, published(rows[i].joint, rows[i].number),
						 rows[i].number);
	for (unsigned int i = 0; i < sizeof(compared) / sizeof(*compared); i++)
		for (unsigned int k = 0; k < NUMBERS; k++) {
			const double before = published(compared[i], numbers[k]);

			snprintf(key, sizeof(key), "%s.%s", compared[i], numbers[k]);
			TEST_ASSERT_EQUAL_MESSAGE(0, rig_ask(MSG_VERB_GET, key), key);
			TEST_ASSERT_EQUAL_DOUBLE_MESSAGE(atof(hubod_rig.reply.value), before, key);
		}
	rig_check_parameter("missed", "0");
}

TEST(joints_limbs_and_all_are_read_and_nothing_else)
{
	static const struct {
		const char *key, *reply;
		int result;
	} rows[] = {
		{ "RHY.all", "1 joints read", 0 }, { "rleg.all", "6 joints read", 0 }, { "NKY.all", "", -ENOENT },
		{ ".all", "", -ENOENT },	   { "nothing.all", "", -ENOENT },
	};

	rig_up("");
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const uint64_t id = rig_request(MSG_VERB_GET, rows[i].key, "");

		TEST_ASSERT_EQUAL_MESSAGE(rows[i].result, rig_result(id, LONG_MS), rows[i].key);
		TEST_ASSERT_EQUAL_STRING(rows[i].reply, hubod_rig.reply.value);
	}
	rig_pass(10);
	TEST_ASSERT_EQUAL(6 * NUMBERS, known_of_all());
	rig_ask_sim("fault hubo.JMC9 silent");
	TEST_ASSERT_EQUAL(-EIO, rig_result(rig_request(MSG_VERB_GET, "rarm.all", ""), LONG_MS));
	TEST_ASSERT_EQUAL_STRING_LEN("RSY: ", hubod_rig.reply.error, 5);
}

static bool is_in(const char *list, const char *name)
{
	const size_t len = strlen(name);

	for (const char *at = strstr(list, name); at; at = strstr(at + 1, name))
		if ((at == list || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
	return !strcmp(list, "*");
}

TEST(a_command_makes_unknown_what_it_changes)
{
	static const struct {
		const char *joint, *other; /* on the same board */
		const char *command, *value;
		const char *of_joint, *of_other; /* unknown then; "*": all */
	} rows[] = {
		{ "RHY", "RHR", "position-gains", "300,1,150", "kp ki kd", "" },
		{ "RHY", "RHR", "current-gains", "1,2,3", "current-kp current-kd current-kf", "" },
		{ "RHY", "RHR", "dead-zone", "7", "dead-zone", "" },
		{ "RHY", "RHR", "home-search", "5,1,77", "search-turns home-direction home-offset", "" },
		{ "RHY", "RHR", "encoder-resolution", "4000", "encoder", "" },
		{ "RHY", "RHR", "motion-limits", "100,200", "acceleration velocity", "" },
		{ "RHY", "RHR", "lower-limit", "3,-2", "lower", "" },
		{ "RHY", "RHR", "upper-limit", "3,5", "upper", "" },
		{ "RHY", "RHR", "home-motion", "1,2,3,1,50",
		  "home-mode home-acceleration home-to-limit home-to-offset jam-duty",
		  "home-acceleration home-to-limit home-to-offset jam-duty" },
		{ "RHR", "RHY", "jam-limits", "100,200,20,90", "jam-time saturation-time saturation-duty jam-duty",
		  "jam-time saturation-time saturation-duty jam-duty" },
		{ "RHR", "RHY", "error-limits", "2000,4000,60", "input-difference error", "input-difference error" },
		{ "RHY", "RHR", "beep", "1", "", "" },
		{ "RHY", "RHR", "fet", "0", "", "" },
		{ "RHY", "RHR", "position-gains", "65536,1,150", "", "" },    /* refused */
		{ "RF2", "RF1", "dead-zone", "7", "dead-zone", "dead-zone" }, /* five motors share it */
		{ "RHY", "RHR", "initialize", "", "*", "*" },
	};
	char key[64], text[128];

	rig_up("enable: no");
	disarm();
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		snprintf(key, sizeof(key), "%s.all", rows[i].joint);
		read_all(key);
		snprintf(key, sizeof(key), "%s.all", rows[i].other);
		read_all(key);
		snprintf(key, sizeof(key), "%s.%s", rows[i].joint, rows[i].command);
		rig_ask_value(MSG_VERB_SET, key, rows[i].value);
		rig_pass(10);
		for (unsigned int k = 0; k < NUMBERS; k++) {
			snprintf(text, sizeof(text), "%s: %s", key, numbers[k]);
			TEST_ASSERT_EQUAL_MESSAGE(!is_in(rows[i].of_joint, numbers[k]),
						  isfinite(published(rows[i].joint, numbers[k])) != 0, text);
			TEST_ASSERT_EQUAL_MESSAGE(!is_in(rows[i].of_other, numbers[k]),
						  isfinite(published(rows[i].other, numbers[k])) != 0, text);
		}
	}
}

/* The reply to its first letter is older than the command. */
TEST(a_command_in_the_middle_of_a_reading_leaves_no_old_number)
{
	uint64_t id;

	rig_up("");
	id = rig_request(MSG_VERB_GET, "RHY.all", "");
	rig_pass(25);
	rig_request(MSG_VERB_SET, "RHY.position-gains", "300,1,150");
	TEST_ASSERT_EQUAL_MESSAGE(0, rig_result(id, LONG_MS), hubod_rig.reply.error);
	rig_pass(10);
	TEST_ASSERT_EQUAL(NUMBERS, known("RHY"));
	TEST_ASSERT_EQUAL_DOUBLE(300, published("RHY", "kp"));
}

/* ---- read without a request ---- */

TEST(all_is_read_while_no_references_are_sent)
{
	unsigned int asked;

	rig_begin("read_parameters: yes");
	hubod_rig_drive();
	rig_pass(3000);
	TEST_ASSERT_EQUAL(ACTIVE * NUMBERS, known_of_all());
	TEST_ASSERT_EQUAL(ACTIVE * LETTERS, hubod_rig.parameters_asked);
	TEST_ASSERT_EQUAL(0, rig_happened("home-file"));
	rig_arm();
	rig_ask_sim("fault hubo.JMC8 silent");
	rig_pass(200);
	TEST_ASSERT_EQUAL(0, known("RSP")); /* it may be another one that comes back */
	TEST_ASSERT_EQUAL(0, known("RSR"));
	TEST_ASSERT_EQUAL(NUMBERS, known("RSY"));
	rig_ask_sim("fault hubo.JMC8 silent clear");
	TEST_ASSERT_EQUAL(0, rig_ask_value(MSG_VERB_SET, "LSP.position-gains", "300,1,150"));
	rig_pass(300);
	TEST_ASSERT_EQUAL(ACTIVE * LETTERS, hubod_rig.parameters_asked); /* armed: references need the bus */
	TEST_ASSERT_EQUAL(NUMBERS - 3, known("LSP"));
	rig_check_parameter("RSP.kp", "400"); /* requests go before */
	asked = hubod_rig.parameters_asked;
	disarm();
	rig_pass(500);
	TEST_ASSERT_EQUAL(ACTIVE * NUMBERS, known_of_all());
	TEST_ASSERT_EQUAL_DOUBLE(300, published("LSP", "kp"));
	TEST_ASSERT_EQUAL(asked + 3 * LETTERS, hubod_rig.parameters_asked);
}

TEST(a_restarted_driver_knows_nothing_of_what_was_read)
{
	rig_up("");
	read_all("RHY.all");
	TEST_ASSERT_EQUAL(1, hubod_rig.param.header.incarnation);
	TEST_ASSERT_EQUAL(NUMBERS, known("RHY"));
	rig_end(&hubod_rig.driver, SIGKILL);
	hubod_rig_drive();
	rig_pass(200);
	TEST_ASSERT_EQUAL(2, hubod_rig.param.header.incarnation);
	TEST_ASSERT_EQUAL(0, known_of_all());
}

/* ---- commands ---- */

/* Of the driver: it is killed, and the request is put before the next one comes, or to that. */
enum fate { LIVES, PUT_BEFORE_NEXT, PUT_TO_NEXT };

/* By frames on the wire: control-off to the board of RHY. */
TEST(a_command_is_acted_on_at_most_once)
{
	static const struct {
		const char *what;
		bool again; /* the request that was done, else a new one */
		enum fate fate;
		int64_t until_ns;
		int result;
		unsigned int frames;
	} rows[] = {
		{ "a command", false, LIVES, 0, 0, 1 },
		{ "the same request again", true, LIVES, 0, 0, 0 },
		{ "and again", true, LIVES, 0, 0, 0 },
		{ "one whose deadline has passed", false, LIVES, 1, -ETIMEDOUT, 0 },
		{ "one that was put while no driver ran", false, PUT_BEFORE_NEXT, 0, -ESTALE, 0 },
		{ "one that the driver before has done", true, PUT_TO_NEXT, 0, 0, 0 },
		{ "a new one", false, LIVES, 0, 0, 1 },
	};
	struct msg_request done;
	uint64_t number = 1000000;

	rig_up("enable: no");
	memset(&done, 0, sizeof(done));
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const unsigned int before = rig_count(CONTROL_OFF, 0, 0);
		struct msg_request request = done;

		if (rows[i].fate != LIVES)
			rig_end(&hubod_rig.driver, SIGKILL);
		if (rows[i].fate == PUT_TO_NEXT) {
			hubod_rig_drive();
			rig_pass(1000);
		}
		if (!rows[i].again) {
			msg_init(&request, msg_type_by_number(msg_request_number));
			request.id = ++number;
			request.client_pid = (uint32_t)getpid();
			request.verb = MSG_VERB_SET;
			request.header.valid_until_ns = rows[i].until_ns;
			snprintf(request.key, sizeof(request.key), "RHY.control-off");
		}
		hubod_rig.reply.id = 0;
		rig_put_request(&request);
		if (rows[i].fate == PUT_BEFORE_NEXT)
			hubod_rig_drive();
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].result, rig_result(request.id, 2000), rows[i].what);
		rig_pass(100);
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].frames, rig_count(CONTROL_OFF, 0, 0) - before, rows[i].what);
		if (!rows[i].result)
			done = request;
	}
}

/* ---- boards that were swapped ---- */

static void swap(void)
{
	rig_ask_sim("set hubo.JMC0 number=4"); /* hip of the right leg, and of the left */
	rig_ask_sim("set hubo.JMC4 number=0");
}

/* On the wire each is like the other; what it has stored of its joints is not. */
TEST(swapped_boards_are_reported_when_they_are_read)
{
	static const char *const settings[] = { "read_parameters: yes", "read_parameters: no" };

	for (unsigned int i = 0; i < 2; i++) {
		unsigned int named = 0;

		if (i)
			rig_finish();
		rig_begin(settings[i]);
		swap();
		hubod_rig_drive();
		rig_pass(3000);
		if (i) {
			TEST_ASSERT_EQUAL(0, rig_happened("home-file"));
			read_all("RHR.all");
			rig_pass(1100);
		}
		TEST_ASSERT_GREATER_THAN(0, rig_happened("home-file"));
		for (unsigned int k = 0; k < hubod_rig.events_n; k++)
			named += !strcmp(hubod_rig.events[k].code, "home-file") &&
				 (!strncmp(hubod_rig.events[k].text + 1, "HR: ", 4) ||
				  !strncmp(hubod_rig.events[k].text + 1, "HY: ", 4));
		TEST_ASSERT_EQUAL(rig_happened("home-file"), named);
		TEST_ASSERT_EQUAL_DOUBLE(-119112, published("RHR", "lower")); /* that of LHR */
		rig_arm();
		hubod_rig.walk_ns = clock_now_ns();
		hubod_rig.referring = true;
		rig_pass(400);
		rig_check_moving(MOVED, clock_now_ns() - 100 * MS);
		rig_check_all_steps();
	}
}

TEST(boards_that_were_swapped_without_power_are_moved_only_when_asked)
{
	static const char *const settings[] = { "enable: yes", "enable: no" };

	for (unsigned int i = 0; i < 2; i++) {
		int64_t from_ns;

		if (i)
			rig_finish();
		rig_walk(settings[i]);
		rig_ask_sim("fault hubo.JMC0 power-off");
		rig_ask_sim("fault hubo.JMC4 power-off");
		rig_pass(200);
		swap();
		from_ns = clock_now_ns();
		rig_ask_sim("fault hubo.JMC0 power-on");
		rig_ask_sim("fault hubo.JMC4 power-on");
		rig_pass(1000);
		TEST_ASSERT_EQUAL(0, rig_count(REFERENCE, 0x00, from_ns) + rig_count(REFERENCE, 0x04, from_ns));
		TEST_ASSERT_EQUAL(0, rig_count(SWITCH_ON, 0x00, from_ns) + rig_count(SWITCH_ON, 0x04, from_ns));
		TEST_ASSERT_GREATER_THAN(0, rig_happened("off"));
		TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, hubod_rig.state.lifecycle[rig_place("RHY")]);
		TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, hubod_rig.state.lifecycle[rig_place("LHR")]);
		rig_check_moving(RHY, clock_now_ns() - 400 * MS);
		TEST_ASSERT_EQUAL_MESSAGE(0, rig_ask(MSG_VERB_ACTIVATE, "RHY"), hubod_rig.reply.error);
		rig_pass(200);
		from_ns = clock_now_ns();
		rig_pass(400);
		rig_check_moving(MOVED, from_ns);
		rig_check_all_steps();
	}
}
