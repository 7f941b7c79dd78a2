/* test_robotsim.c: what a simulated PowerCube module answers, held against hw-docs/devices/powercube.md itself. */

#include "test/lib/testcase.h"

#include "test/daemons/robotsim/robotsim_desk.h"

#define PAGE "hw-docs/devices/powercube.md"
#define CELLS_MAX 8

void setUp(void)
{
	desk_is("");
}

/* ---- the tables of the page ---- */

/* The cells of its row n below the title; false: there are no more. */
static bool row(const char *title, unsigned int n, char cells[CELLS_MAX][128])
{
	FILE *page = fopen(PAGE, "r");
	char line[512], wanted[64];
	bool found = false;
	unsigned int rows = 0;

	TEST_ASSERT_NOT_NULL_MESSAGE(page, PAGE ": run from the top of the tree");
	snprintf(wanted, sizeof(wanted), "## %s\n", title);
	while (!found && fgets(line, sizeof(line), page))
		found = !strcmp(line, wanted);
	TEST_ASSERT_TRUE_MESSAGE(found, title);
	found = false;
	while (!found && fgets(line, sizeof(line), page) && strncmp(line, "## ", 3) != 0)
		if (line[0] == '|' && rows++ == n + 2) { /* below the head and its rule */
			char *at = line + 1;

			memset(cells, 0, CELLS_MAX * sizeof(*cells));
			for (int i = 0; i < CELLS_MAX && *at && *at != '\n'; i++) {
				int len = (int)strcspn(at, "|"), from = (int)strspn(at, " ");

				snprintf(cells[i], sizeof(cells[i]), "%.*s", len - from, at + from);
				for (char *end = cells[i] + strlen(cells[i]); end > cells[i] && end[-1] == ' ';)
					*--end = 0;
				at += len + (at[len] == '|');
			}
			found = true;
		}
	fclose(page);
	return found;
}

static unsigned int size_of(const char *type)
{
	return !strcmp(type + 1, "32") ? 4 : !strcmp(type + 1, "16") ? 2 : 1;
}

TEST(test_every_parameter_is_answered_in_its_size)
{
	char cells[CELLS_MAX][128], question[32];
	unsigned int n = 0;

	for (; row("Parameters", n, cells); n++) {
		const unsigned int id = (unsigned int)strtoul(cells[0], NULL, 16);
		const char *answer;

		snprintf(question, sizeof(question), "0CF#0A%02X", id);
		answer = desk_ask(question);
		TEST_ASSERT_EQUAL_MESSAGE(8 + 2 * size_of(cells[2]), strlen(answer), question);
		TEST_ASSERT_EQUAL_STRING_LEN_MESSAGE("0AF#0A", answer, 6, question);
		TEST_ASSERT_EQUAL_STRING_LEN_MESSAGE(cells[0] + 2, answer + 6, 2, question);
		strcat(question, "00");
		desk_expect_nothing(question);
		/* 0E0 is not where one asks */
		snprintf(question, sizeof(question), "0EF#0A%02X", id);
		desk_expect_nothing(question);
	}
	TEST_ASSERT_GREATER_THAN(50, n);
}

TEST(test_an_unknown_parameter_is_not_answered)
{
	char cells[CELLS_MAX][128], question[32];
	bool known[256] = { [0x28] = true, [0x29] = true, [0x2A] = true }; /* the page leaves them open */

	for (unsigned int n = 0; row("Parameters", n, cells); n++)
		known[strtoul(cells[0], NULL, 16)] = true;
	for (unsigned int id = 0; id < 256; id++) {
		if (known[id])
			continue;
		snprintf(question, sizeof(question), "0CF#0A%02X", id);
		desk_expect_nothing(question);
		snprintf(question, sizeof(question), "0EF#08%02X00000000", id);
		desk_expect_nothing(question);
	}
}

TEST(test_what_can_be_set_is)
{
	char cells[CELLS_MAX][128], question[48], answer[48];

	for (unsigned int n = 0; row("Parameters", n, cells); n++) {
		const unsigned int size = size_of(cells[2]);
		const unsigned int id = (unsigned int)strtoul(cells[0], NULL, 16);
		const bool settable = *cells[4] || (id >= 0x54 && id <= 0x56); /* the servo loop's: see the page */

		/* As f32 0.25, as a number 0. */
		snprintf(question, sizeof(question), "0EF#08%02X%.*s", id, (int)size * 2,
			 *cells[2] == 'f' ? "0000803E" : "00000000");
		snprintf(answer, sizeof(answer), "0AF#08%02X%s", id, settable ? "64" : "00");
		desk_expect(question, answer);
		if (*cells[2] == 'f' && settable) {
			TEST_ASSERT_EQUAL_FLOAT_MESSAGE(0.25f, desk_real((uint8_t)id), cells[1]);
			snprintf(question, sizeof(question), "0EF#08%02X000080BE", id); /* -0.25 */
			if (!strcmp(cells[4], "not negative"))
				answer[8] = answer[9] = '0';
			desk_expect(question, answer);
			snprintf(question, sizeof(question), "0EF#08%02X0000C07F", id); /* not a number */
			answer[8] = answer[9] = '0';
			desk_expect(question, answer);
		}
		/* a byte too many, too few */
		strcat(question, "00");
		desk_expect_nothing(question);
		question[strlen(question) - 4] = 0;
		if (size > 1)
			desk_expect_nothing(question);
	}
}

TEST(test_state_names)
{
	char cells[CELLS_MAX][128];
	unsigned int n = 0;

	for (; row("State word", n, cells); n++) {
		TEST_ASSERT_EQUAL(n, strtoul(cells[0], NULL, 10));
		TEST_ASSERT_EQUAL_STRING(cells[1], pcube_state_names[n]);
		if (!strcmp(cells[2], "power off"))
			TEST_ASSERT_TRUE_MESSAGE(PCUBE_ENDS_BY_POWER & 1u << n, cells[1]);
		if (!strcmp(cells[2], "reset") && n)
			TEST_ASSERT_TRUE_MESSAGE(PCUBE_ENDS_BY_RESET & 1u << n, cells[1]);
	}
	TEST_ASSERT_EQUAL(28, n);
	TEST_ASSERT_EQUAL(28, PCUBE_BITS);
}

/* ---- commands ---- */

TEST(test_simple_commands_are_echoed)
{
	desk_expect("0EF#00", "0AF#00");
	desk_expect("0EF#01", "0AF#01");
	desk_expect("0EF#02", "0AF#02");
}

TEST(test_unknown_commands_and_lengths_are_not_answered)
{
	char text[48];

	for (unsigned int command = 0; command < 256; command++)
		for (unsigned int len = 0; len <= 8; len++) {
			const bool simple = command <= 2 && len == 1;

			snprintf(text, sizeof(text), "0EF#%.*s", (int)len * 2, "00FEFEFEFEFEFEFE");
			if (len)
				snprintf(text + 4, 3, "%02X", command), text[6] = len > 1 ? 'F' : 0;
			if (!simple)
				desk_expect_nothing(text);
			text[1] = 'C';
			desk_expect_nothing(text);
		}
	TEST_ASSERT_EQUAL(desk.counts.in, desk.counts.ignored);
	TEST_ASSERT_EQUAL(0, desk.counts.out);
}

TEST(test_frames_of_others_are_not_its_own)
{
	static const char *const frames[] = { "0CE#0A3C",   "0EE#00",	"0AF#00", "000000CF#0A3C", "0CF#R2",
					      "0CF##00A3C", "1CF#0A3C", "0E0#00", "101#02" };

	for (size_t i = 0; i < sizeof(frames) / sizeof(*frames); i++)
		desk_expect_nothing(frames[i]);
	TEST_ASSERT_EQUAL(0, desk.counts.in);
}

TEST(test_frames_to_all_are_not_answered)
{
	static const char *const frames[] = { "100#07", "100#0F", "100#02", "100#00", "100#01", "100#0A3C" };

	for (size_t i = 0; i < sizeof(frames) / sizeof(*frames); i++)
		desk_expect_nothing(frames[i]);
	TEST_ASSERT_EQUAL(6, desk.counts.in);
	TEST_ASSERT_EQUAL(1, desk.counts.ignored);
	TEST_ASSERT_EQUAL(1, desk.counts.halts);
	TEST_ASSERT_EQUAL(1, desk.counts.resets);
	TEST_ASSERT_EQUAL(1, desk.counts.homings);
}

TEST(test_addresses)
{
	struct pcube other;
	struct frame frame = { .id = 0x0C1, .len = 2, .data = { 0x0A, 0x20 } }, reply;

	pcube_start(&other, 1, &desk.settings, 0);
	pcube_frame(&other, &frame, 0);
	TEST_ASSERT_TRUE(pcube_reply(&other, MS, &reply));
	TEST_ASSERT_EQUAL_HEX32(0x0A1, reply.id);
	TEST_ASSERT_EQUAL_HEX8_ARRAY(((uint8_t[]){ 0x0A, 0x20, 1 }), reply.data, 3);
	pcube_start(&other, 31, &desk.settings, 0);
	frame.id = 0x0DF;
	pcube_frame(&other, &frame, 0);
	TEST_ASSERT_TRUE(pcube_reply(&other, MS, &reply));
	TEST_ASSERT_EQUAL_HEX32(0x0BF, reply.id);
}

TEST(test_a_module_reports_its_description)
{
	desk_is("type: PRL80, position: -0.5, serial: 0x12345678, version: 0x2501, config: 0x01000118, "
		"limits: [-1, 1]");
	desk_expect("0CF#0A1A", "0AF#0A1A78563412");
	desk_expect("0CF#0A1D", "0AF#0A1D0125");
	desk_expect("0CF#0A20", "0AF#0A200F");
	desk_expect("0CF#0A22", "0AF#0A2203");
	desk_expect("0CF#0A39", "0AF#0A3918010001");
	desk_expect("0CF#0A1B", "0AF#0A1B18010001");
	TEST_ASSERT_EQUAL_FLOAT(552, desk_real(0x01));
	TEST_ASSERT_EQUAL_FLOAT(-1, desk_real(0x45));
	TEST_ASSERT_EQUAL_FLOAT(1, desk_real(0x46));
	TEST_ASSERT_EQUAL_FLOAT(3, desk_real(0x78));
	TEST_ASSERT_EQUAL_FLOAT(6, desk_real(0x79));
	TEST_ASSERT_FLOAT_WITHIN(1e-5, -0.5f, desk_real(0x3C));
	TEST_ASSERT_FLOAT_WITHIN(1e-6, 0.436332f, desk_real(0x48));
	TEST_ASSERT_EQUAL_FLOAT(0, desk_real(0x41));
}

TEST(test_home_offset_has_two_numbers)
{
	desk_expect("0EF#08590000803E", "0AF#085964");
	desk_expect("0CF#0A89", "0AF#0A890000803E");
	desk_expect("0EF#0889000038C0", "0AF#088964");
	desk_expect("0CF#0A59", "0AF#0A59000038C0");
}

TEST(test_limits_are_not_widened)
{
	TEST_ASSERT_FLOAT_WITHIN(1e-6, 0.436332f, desk_real(0x0A));
	desk_expect("0EF#08480000803F", "0AF#084800"); /* 1 rad/s */
	TEST_ASSERT_FLOAT_WITHIN(1e-6, 0.436332f, desk_real(0x48));
	TEST_ASSERT_EQUAL(1, desk.counts.refused);
	desk_set_real(0x48, desk_real(0x0A)); /* the same value does not widen it */
	TEST_ASSERT_EQUAL(1, desk.counts.refused);
	desk_is("refused: 0x65");
	desk_expect("0EF#08480000803F", "0AF#084865");
}

TEST(test_outputs)
{
	desk_expect("0EF#0826FF000000", "0AF#082664");
	desk_expect("0CF#0A26", "0AF#0A26F0000000");
	TEST_ASSERT_EQUAL_STRING_LEN("F0", desk_ask("0EF#0B1100000000") + 18, 2);
}

/* ---- moves ---- */

TEST(test_moves_and_their_answers)
{
	static const uint8_t motions[] = { 4, 7, 8 };
	char question[48], answer[48];

	for (size_t i = 0; i < sizeof(motions); i++) {
		desk_is("");
		snprintf(question, sizeof(question), "0EF#0B%02X00000000", motions[i]);
		snprintf(answer, sizeof(answer), "0AF#0B%02X64", motions[i]);
		desk_expect(question, answer);
		strcat(question, "00");
		desk_expect_nothing(question);
		question[14] = 0;
		desk_expect_nothing(question);
		/* in ticks */
		snprintf(question, sizeof(question), "0EF#0B%02X00000000", motions[i] + 5);
		snprintf(answer, sizeof(answer), "0AF#0B%02X64", motions[i] + 5);
		desk_expect(question, answer);
		/* with the state: position 0, something, no inputs */
		for (unsigned int more = 10; more <= 15; more += 5) {
			snprintf(question, sizeof(question), "0EF#0B%02X00000000", motions[i] + more);
			snprintf(answer, sizeof(answer), "0AF#0B%02X00000000", motions[i] + more);
			TEST_ASSERT_EQUAL_STRING_LEN(answer, desk_ask(question), 16);
		}
	}
	desk_is("");
	desk_expect("0EF#0B06000000006400", "0AF#0B0664");
	desk_expect_nothing("0EF#0B0600000000");
	desk_expect_nothing("0EF#0B060000000005");
}

TEST(test_motions_that_there_are_not)
{
	char question[48];

	for (unsigned int motion = 0; motion < 256; motion++) {
		const unsigned int m = motion >= 14 ? motion - 10 : motion;

		if (motion < 24 && m >= 4 && m != 5 && m != 10)
			continue;
		snprintf(question, sizeof(question), "0EF#0B%02X00000000", motion);
		desk_expect_nothing(question);
		strcat(question, "0500");
		desk_expect_nothing(question);
	}
}

TEST(test_short_state)
{
	desk_is("home: 1, config: 0x4918"); /* all three switches */
	TEST_ASSERT_EQUAL_STRING("0AF#0B11000000001000", desk_ask("0EF#0B110000803E"));
	desk_pass(100 * MS);
	TEST_ASSERT_EQUAL_STRING_LEN("1000", desk_ask("0EF#0B110000803E") + 16, 4);
	desk_ask("0EF#02");
	TEST_ASSERT_EQUAL_STRING_LEN("1100", desk_ask("0EF#0B110000803E") + 16, 4);
	desk_is("homed: no, home: 1");
	TEST_ASSERT_EQUAL_STRING_LEN("2100", desk_ask("0EF#0B1100000000") + 16, 4);
	desk_is("position: 1, home: 1");
	TEST_ASSERT_EQUAL_STRING_LEN("2200", desk_ask("0EF#0B1100000000") + 16, 4);
	desk_is("config: 0x4918, position: -1.99, ends: [-2, 2], home: 1");
	TEST_ASSERT_EQUAL_STRING_LEN("2400", desk_ask("0EF#0B1100000000") + 16, 4);
	desk_is("config: 0x4918, position: 1.99, ends: [-2, 2], home: 1");
	TEST_ASSERT_EQUAL_STRING_LEN("2800", desk_ask("0EF#0B1100000000") + 16, 4);
	desk_is("home: 1");
	desk_hear("0EF#0B100000803E6400"); /* a step, and the next */
	TEST_ASSERT_EQUAL_STRING_LEN("5000", desk_ask("0EF#0B100000803E6400") + 16, 4);
	desk_said();
	TEST_ASSERT_EQUAL_STRING_LEN("D000", desk_ask("0EF#0B100000803E6400") + 16, 4);
}

TEST(test_nan_moves_nothing)
{
	desk_expect("0EF#0B070000C07F", "0AF#0B0700");
	desk_expect("0EF#0B080000807F", "0AF#0B0800");
	desk_ask("0EF#0B110000C07F");
	desk_pass(100 * MS);
	TEST_ASSERT_EQUAL_DOUBLE(0, desk.joint.velocity);
	TEST_ASSERT_EQUAL(3, desk.counts.refused);
}

/* ---- answers in time ---- */

TEST(test_reply_delay)
{
	const int64_t start_ns = desk_now_ns;

	desk_hear("0CF#0A3C");
	TEST_ASSERT_EQUAL_INT64(start_ns + 300000, pcube_next_ns(&desk));
	TEST_ASSERT_FALSE(pcube_reply(&desk, start_ns + 299999, &(struct frame){ 0 }));
	TEST_ASSERT_TRUE(pcube_reply(&desk, start_ns + 300000, &(struct frame){ 0 }));
	TEST_ASSERT_EQUAL(1, desk.counts.out);
}

TEST(test_jitter_keeps_the_order)
{
	int64_t least_ns = INT64_MAX, most_ns = 0;

	desk_is("reply_delay: 100us, reply_jitter: 1ms");
	for (int i = 0; i < 200; i++) {
		const int64_t start_ns = desk_now_ns;

		desk_hear("0CF#0A3C");
		TEST_ASSERT_GREATER_OR_EQUAL_INT64(start_ns + 100000, pcube_next_ns(&desk));
		TEST_ASSERT_LESS_THAN_INT64(start_ns + 1100000, pcube_next_ns(&desk));
		least_ns = pcube_next_ns(&desk) - start_ns < least_ns ? pcube_next_ns(&desk) - start_ns : least_ns;
		most_ns = pcube_next_ns(&desk) - start_ns > most_ns ? pcube_next_ns(&desk) - start_ns : most_ns;
		desk_hear("0CF#0A41");
		TEST_ASSERT_EQUAL_STRING_LEN("0AF#0A3C", desk_said(), 8);
		TEST_ASSERT_EQUAL_STRING_LEN("0AF#0A41", desk_said(), 8);
	}
	TEST_ASSERT_LESS_THAN_INT64(150000, least_ns);
	TEST_ASSERT_GREATER_THAN_INT64(1000000, most_ns);
}

TEST(test_reorder)
{
	int overtaken = 0;

	desk_is("reorder: 0.5");
	for (int i = 0; i < 400; i++) {
		desk_hear("0CF#0A3C");
		desk_hear("0CF#0A41");
		overtaken += !strncmp(desk_said(), "0AF#0A41", 8);
		TEST_ASSERT_NOT_EQUAL_CHAR(0, *desk_said());
	}
	TEST_ASSERT_INT_WITHIN(40, 100, overtaken); /* the first held back, the second not: a quarter */
}

TEST(test_lose)
{
	int heard = 0;

	desk_is("lose: 0.25");
	for (int i = 0; i < 400; i++)
		heard += *desk_ask("0CF#0A3C") != 0;
	TEST_ASSERT_INT_WITHIN(40, 300, heard);
	TEST_ASSERT_EQUAL(400 - heard, desk.counts.lost);
}

TEST(test_silent)
{
	desk.silent = true;
	desk_expect_nothing("0CF#0A3C");
	desk_move(7, 0.1f);
	desk_pass(500 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(0.01, 0.1, desk.joint.velocity); /* it hears */
	desk.silent = false;
	TEST_ASSERT_NOT_EQUAL_CHAR(0, *desk_ask("0CF#0A3C"));
}

TEST(test_a_full_queue_loses_answers)
{
	for (int i = 0; i < PCUBE_REPLIES_MAX + 3; i++)
		desk_hear("0CF#0A3C");
	TEST_ASSERT_EQUAL(3, desk.counts.lost);
	for (int i = 0; i < PCUBE_REPLIES_MAX; i++)
		TEST_ASSERT_NOT_EQUAL_CHAR(0, *desk_said());
	TEST_ASSERT_EQUAL_STRING("", desk_said());
}

/* ---- the config word ---- */

TEST(test_no_acknowledge)
{
	desk_set_config(0x04000118);
	desk_expect_nothing("0EF#02");
	desk_expect_nothing("0EF#00");
	desk_expect_nothing("0EF#0B110000803E");
	desk_expect_nothing("0EF#0B070000803E");
	desk_expect_nothing("0EF#0845000080BF");
	desk_expect("0CF#0A39", "0AF#0A3918010004");
	TEST_ASSERT_EQUAL(2, desk.counts.moves);
}

TEST(test_another_interface)
{
	desk_set_config(0x10000118);
	desk_expect_nothing("0CF#0A39");
	TEST_ASSERT_FALSE(pcube_hears(&desk));
	pcube_power(&desk, false, desk_now_ns);
	pcube_power(&desk, true, desk_now_ns);
	desk_pass(301 * MS);
	desk_expect("0CF#0A39", "0AF#0A3918010000");
}

TEST(test_first_position_after_a_reset)
{
	desk_is("position: 0.5");
	desk_expect("0EF#00", "0AF#00");
	TEST_ASSERT_FLOAT_WITHIN(1e-5, 0.75f, desk_real(0x3C));
	TEST_ASSERT_FLOAT_WITHIN(1e-3, 0.5f, desk_real(0x3C));
	desk_ask("0EF#00");
	TEST_ASSERT_NOT_EQUAL(0, strncmp("0000003F", desk_ask("0EF#0B1100000000") + 8,
					 8)); /* in the answer to a move, too */
	TEST_ASSERT_FLOAT_WITHIN(1e-3, 0.5f, desk_real(0x3C));
	desk_is("position: 0.5, wrong_after_reset: no");
	desk_ask("0EF#00");
	TEST_ASSERT_FLOAT_WITHIN(1e-3, 0.5f, desk_real(0x3C));
}

/* ---- the same again ---- */

/* A module asked often and one asked seldom are the same to the last bit; a seed gives the same answers. */
TEST(test_only_bus_time_counts)
{
	struct pcube often, seldom;
	const struct frame go = { .id = 0x0EF, .len = 6, .data = { 0x0B, 0x04, 0, 0, 0, 0x3F } };
	const struct frame get = { .id = 0x0CF, .len = 2, .data = { 0x0A, 0x3C } };

	desk_is("reply_jitter: 1ms, lose: 0.3, reorder: 0.3, gravity: 20, seed: 7");
	often = seldom = desk;
	pcube_frame(&often, &go, desk_now_ns + 1000);
	pcube_frame(&seldom, &go, desk_now_ns + 1000);
	for (int i = 0; i < 5000; i++)
		pcube_advance(&often, desk_now_ns + i * (int64_t)1000003);
	pcube_advance(&seldom, desk_now_ns + 4999 * (int64_t)1000003);
	TEST_ASSERT_EQUAL_INT64(often.t_ns, seldom.t_ns);
	TEST_ASSERT_EQUAL_MEMORY(&often.joint, &seldom.joint, sizeof(often.joint));
	TEST_ASSERT_EQUAL_MEMORY(&often.motion, &seldom.motion, sizeof(often.motion));
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 0.5, often.joint.position);
	for (int i = 0; i < 100; i++) {
		struct frame a = { 0 }, b = { 0 };

		desk_now_ns += 10000 * MS;
		pcube_frame(&often, &get, desk_now_ns);
		pcube_frame(&seldom, &get, desk_now_ns);
		TEST_ASSERT_EQUAL_INT64(pcube_next_ns(&often), pcube_next_ns(&seldom));
		TEST_ASSERT_EQUAL(pcube_reply(&often, desk_now_ns + 9 * MS, &a),
				  pcube_reply(&seldom, desk_now_ns + 9 * MS, &b));
		TEST_ASSERT_EQUAL_MEMORY(&a, &b, sizeof(a));
	}
}

/* What stands is passed over in one go: a year is soon over, and the watchdog still trips in time. */
TEST(test_a_year)
{
	desk_set_config(0x01000118);
	desk_hear("100#07");
	desk_pass(365 * 86400 * (1000 * MS));
	TEST_ASSERT_EQUAL_HEX32(PCUBE_ERROR | PCUBE_HALTED | PCUBE_COMM_ERROR,
				desk_state() & (PCUBE_ERROR | PCUBE_HALTED | PCUBE_COMM_ERROR));
}
