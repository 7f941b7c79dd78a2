/* test_sim_amc.c: the simulated AMC drive: frames in, frames out, and the vectors of hw-docs/devices/amc.md. */
#include <math.h>

#include "test/daemons/robotsim/robotsim_unit.h"
#include "test/lib/testcase.h"

#include "can/bus/frame_text.h"
#include "daemons/robotsim/amc_drive.h"

#define PAGE "hw-docs/devices/amc.md"
#define MS INT64_C(1000000)
#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define COUNTS_PER_RAD (60000 / (2 * 3.14159265358979323846))

extern const struct sim_kind amc_kind; /* make finds it by its definition */
static struct amc_drive *left, *right;

void tearDown(void)
{
	unit_unload();
}

static int load(const char *drives, const char *settings)
{
	return unit_load("robot: test\nbuses: {b: {interface: wire:b, bitrate: 1000000}}\n"
			 "devices: {wheels: {driver: amciod, bus: b, settings: {drives: \"%s\"}, sim: {%s}}}\n",
			 drives, settings);
}

/* Both drives, booted. */
static void start_with(const char *settings)
{
	TEST_ASSERT_EQUAL_MESSAGE(0, load("0x20 left, 0x21 right -", settings), said);
	TEST_ASSERT_EQUAL(2, sim.units_n);
	TEST_ASSERT_EQUAL_STRING("wheels.right", sim.units[1].name);
	left = sim.units[0].state;
	right = sim.units[1].state;
	unit_start(0);
}

static void hear(const char *text)
{
	struct frame f;

	TEST_ASSERT_NULL_MESSAGE(frame_text_read(&f, text, strlen(text)), text);
	amc_kind.frame(left, &f, now_ns);
	amc_kind.frame(right, &f, now_ns);
}

/* Everything that both say until then, one frame after the other. */
static const char *heard(double ms)
{
	const int64_t until_ns = now_ns + (int64_t)(ms * 1e6);
	struct amc_drive *drives[] = { left, right };

	said[0] = '\0';
	for (;;) {
		struct frame f;

		for (size_t i = 0; i < COUNT(drives); i++)
			while (amc_kind.send(drives[i], now_ns, &f)) {
				char text[FRAME_TEXT_MAX];

				frame_text_write(text, &f);
				snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s%s", *said ? " " : "",
					 text);
			}
		if (now_ns >= until_ns)
			return said;
		now_ns += 50000;
	}
}

struct exchange {
	double ms; /* that pass after the frame */
	const char *in, *out;
};

static void play(const struct exchange *exchanges, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char where[160];

		if (exchanges[i].in)
			hear(exchanges[i].in);
		snprintf(where, sizeof(where), "exchange %zu: %s", i,
			 exchanges[i].in ? exchanges[i].in : "time passes");
		heard(exchanges[i].ms);
		if (exchanges[i].out)
			TEST_ASSERT_EQUAL_STRING_MESSAGE(exchanges[i].out, said, where);
	}
}
#define PLAY(...)                                                    \
	do {                                                         \
		const struct exchange exchanges[] = { __VA_ARGS__ }; \
		play(exchanges, COUNT(exchanges));                   \
	} while (0)

/* The configuration of the page: RPDO 5 at 2E2, TPDO 26 at 2E3 with each SYNC; heartbeat of the host 200 ms. */
#define CONFIGURED                                                                               \
	{ 301, NULL, "720#00 721#00" }, { 1, "000#8020", "" },                                   \
		{ 1, "620#2B21210000000000", "5A0#6021210000000000" }, /* timers send nothing */ \
		{ 1, "620#23001801A0010080", "5A0#6000180100000000" }, /* TPDO 1 and 3 off */    \
		{ 1, "620#23021801A0030080", "5A0#6002180100000000" },                           \
		{ 1, "620#23031801A0040080", "5A0#6003180100000000" },                           \
		{ 1, "620#23041401E2020080", "5A0#6004140100000000" }, /* RPDO 5 */              \
		{ 1, "620#2F041402FE000000", "5A0#6004140200000000" },                           \
		{ 1, "620#23041401E2020000", "5A0#6004140100000000" },                           \
		{ 1, "620#2F191A0000000000", "5A0#60191A0000000000" }, /* TPDO 26 */             \
		{ 1, "620#23191A0110004160", "5A0#60191A0100000000" },                           \
		{ 1, "620#23191A0220006460", "5A0#60191A0200000000" },                           \
		{ 1, "620#23191A0310007760", "5A0#60191A0300000000" },                           \
		{ 1, "620#2F191A0003000000", "5A0#60191A0000000000" },                           \
		{ 1, "620#2F19180201000000", "5A0#6019180200000000" },                           \
		{ 1, "620#23191801E3020000", "5A0#6019180100000000" },                           \
		{ 1, "620#2F60600004000000", "5A0#6060600000000000" }, /* current */             \
		{ 1, "620#4061600000000000", "5A0#4261600004000000" },                           \
		{ 1, "620#23161001C8007F00", "5A0#6016100100000000" }, { 1, "000#0120", "" },    \
	{                                                                                        \
		1, "080#", "2E3#6006000000000000"                                                \
	}
#define ENABLED                                                                                                  \
	CONFIGURED, { 1, "2E2#06000000", "" }, { 1, "080#", "2E3#2106000000000000" }, { 1, "2E2#07000000", "" }, \
		{ 1, "080#", "2E3#2306000000000000" }, { 1, "2E2#0F000000", "" },                                \
	{                                                                                                        \
		1, "080#", "2E3#3706000000000000"                                                                \
	}

static void feed(const char *rpdo, double ms)
{
	for (double t = 0; t < ms; t += 10) {
		hear("77F#05");
		if (rpdo)
			hear(rpdo);
		heard(10);
	}
}

static const char *report(void *state)
{
	struct rpc_text to = { said, 0, sizeof(said) };

	amc_kind.report(state, &to);
	return said;
}

static void fault(void *state, const char *word, bool clear)
{
	char answer[256];
	struct rpc_text to = { answer, 0, sizeof(answer) };

	TEST_ASSERT_EQUAL_MESSAGE(0, sim_fault(&sim.units[state == right], word, clear, now_ns, &to), word);
}

/* ---- start-up ---- */

TEST(the_sequence_of_the_page_enables_one_drive_and_leaves_the_other)
{
	start_with("");
	PLAY(ENABLED);
	TEST_ASSERT_EQUAL(AMC_ENABLED, left->state);
	TEST_ASSERT_EQUAL(1, left->enables);
	TEST_ASSERT_EQUAL(AMC_DISABLED, right->state);
	TEST_ASSERT_EQUAL(OD_PRE_OPERATIONAL, right->od.nmt);
	TEST_ASSERT_NOT_NULL(strstr(report(left), " nmt operational state enabled status 0x0637 "));
}

/* Made from what the page says of the recorded base: every RPDO disabled, guarding, velocity with RPDO 4 of 8 bytes. */
TEST(a_velocity_base_like_the_recorded_one_starts_and_turns)
{
	start_with("voltage: 48");
	PLAY({ 301, NULL, "720#00 721#00" }, { 1, "620#4083600000000000", "5A0#8083600000000206" },
	     { 1, "620#2300140120020080", "5A0#6000140100000000" },
	     { 1, "620#2301140120030080", "5A0#6001140100000000" },
	     { 1, "620#2302140120040080", "5A0#6002140100000000" },
	     { 1, "620#2303140120050080", "5A0#6003140100000000" },
	     { 1, "620#2314140100000080", "5A0#6014140100000000" },
	     { 1, "620#2303140120050000", "5A0#6003140100000000" },
	     { 1, "620#23001801A0010080", "5A0#6000180100000000" },
	     { 1, "620#23021801A0030080", "5A0#6002180100000000" },
	     { 1, "620#23031801A0010080", "5A0#6003180100000000" },
	     { 1, "620#2F03180201000000", "5A0#6003180200000000" },
	     { 1, "620#23031801A0010000", "5A0#6003180100000000" },
	     { 1, "620#2F14180201000000", "5A0#6014180200000000" },
	     { 1, "620#23141801A0020000", "5A0#6014180100000000" },
	     { 1, "620#2F16180201000000", "5A0#6016180200000000" },
	     { 1, "620#23161801A0030000", "5A0#6016180100000000" },
	     { 1, "620#23191A0110010F20", "5A0#60191A0100000000" },
	     { 1, "620#23191A0110020220", "5A0#60191A0100000000" },
	     { 1, "620#2F191A0001000000", "5A0#60191A0000000000" },
	     { 1, "620#2F19180201000000", "5A0#6019180200000000" },
	     { 1, "620#23191801A0040000", "5A0#6019180100000000" },
	     { 1, "620#2B0C10000A000000", "5A0#600C100000000000" },
	     { 1, "620#2F0D1000FA000000", "5A0#600D100000000000" },
	     { 1, "620#2F60600003000000", "5A0#6060600000000000" }, { 1, "000#0120", "" }, { 1, "720#R", "720#05" },
	     { 2, "080#", "1A0#600600000000 2A0#00000000 3A0#0000 4A0#0000" }, { 1, "520#0600000000000000", "" },
	     { 2, "080#", "1A0#210600000000 2A0#00000000 3A0#0000 4A0#0000" }, { 1, "520#0700000000000000", "" },
	     { 1, "520#0F00000000000000", "" }, { 2, "080#", "1A0#370600000000 2A0#00000000 3A0#0000 4A0#0000" },
	     { 1, "720#R", "720#85" });
	/* 1 rad/s of the joint, 9549 counts/s, in units of 20000 / 2^17 counts/s: 62583 */
	for (unsigned int i = 0; i < 240; i++)
		PLAY({ 10, "520#0F0077F400000000", "" });
	TEST_ASSERT_DOUBLE_WITHIN(0.05, 1, left->joint.velocity);
	PLAY({ 110, NULL, "0A0#3081110000000000" });
	TEST_ASSERT_EQUAL(AMC_FAULT, left->state); /* the life time of 2.5 s is over */
}

/* ---- the page's vectors ---- */

static const uint16_t leads_to[AMC_STATES][3] = { { 0 }, { 0x06 }, { 0x06, 0x07 }, { 0x06, 0x07, 0x0F }, { 0 }, { 0 } };

static int state_of(const char *name)
{
	for (int s = 0; s < AMC_STATES; s++)
		if (!strcmp(amc_state_names[s], name))
			return s;
	TEST_FAIL_MESSAGE(name);
	return -1;
}

static void put_into(int state)
{
	fault(left, "stuck-in-fault", false);
	fault(left, "stuck-in-fault", true);
	amc_control(left, 0);
	if (state != AMC_FAULT)
		amc_control(left, 0x80);
	for (unsigned int i = 0; i < 3 && leads_to[state][i]; i++)
		amc_control(left, leads_to[state][i]);
	TEST_ASSERT_EQUAL(state, left->state);
	left->control = 0;
	heard(0);
}

/* The statusword of the page without the bits that say more than the state. */
static void check_status(const char *word, const char *name)
{
	const unsigned int value = (unsigned int)strtoul(word, NULL, 16), mask = 0x6F;

	left->state = (enum amc_state)state_of(name);
	TEST_ASSERT_EQUAL_HEX16_MESSAGE(value & (left->state == AMC_FAULT ? 0x4F : mask),
					amc_status(left) & (left->state == AMC_FAULT ? 0x4F : mask), word);
}

static void check_current(double kp_a, double a, int raw)
{
	left->settings.peak_a = kp_a;
	put_into(AMC_ENABLED);
	od_set(&left->od, 0x6060, 0, AMC_CURRENT);
	od_set(&left->od, 0x6071, 0, (uint16_t)raw);
	heard(20);
	TEST_ASSERT_DOUBLE_WITHIN(kp_a / 0x8000, a, left->current_a);
	od_set(&left->od, 0x6071, 0, 0);
}

static void check_value(const char *object, double before, double after, double *at)
{
	char question[32], expected[32];

	*at = after;
	snprintf(question, sizeof(question), "620#40%s00000000", object);
	hear(question);
	snprintf(expected, sizeof(expected), "5A0#42%s", object);
	heard(0);
	now_ns += MS;
	left->t_ns = now_ns; /* as it stands */
	heard(0);
	TEST_ASSERT_EQUAL_STRING_LEN(expected, said, strlen(expected));
	{
		struct frame f;
		const bool wide = !strncmp(object, "6C", 2);
		int32_t got;

		TEST_ASSERT_NULL(frame_text_read(&f, said, strlen(said)));
		got = (int32_t)(f.data[4] | f.data[5] << 8 | (uint32_t)f.data[6] << 16 | (uint32_t)f.data[7] << 24);
		TEST_ASSERT_EQUAL_INT32((int32_t)before, wide ? got : (int16_t)got);
	}
}

static void check_vector(char *line)
{
	char *equals = strstr(line, " = "), *word[4] = { NULL }, *rest = NULL;

	TEST_ASSERT_NOT_NULL_MESSAGE(equals, line);
	*equals = '\0';
	equals += 3;
	for (unsigned int i = 0; i < COUNT(word); i++)
		word[i] = strtok_r(i ? NULL : line, " ", &rest);
	if (!strcmp(word[0], "status")) {
		check_status(word[1], equals);
	} else if (!strcmp(word[0], "control")) {
		put_into(state_of(word[1]));
		amc_control(left, (uint16_t)strtoul(word[2], NULL, 16));
		TEST_ASSERT_EQUAL_STRING_MESSAGE(equals, amc_state_names[left->state], word[2]);
	} else if (!strcmp(word[0], "sdo")) {
		heard(0);
		PLAY({ 1, word[1], equals });
	} else if (!strcmp(word[0], "current")) {
		check_current(strtod(word[1], NULL), strtod(word[2], NULL), atoi(equals));
	} else if (!strcmp(word[0], "measured")) {
		left->settings.peak_a = strtod(word[1], NULL);
		check_value("776000", strtod(word[2], NULL), strtod(equals, NULL), &left->current_a);
	} else if (!strcmp(word[0], "velocity")) {
		left->settings.ks_hz = strtod(word[1], NULL);
		left->settings.ki = atoi(word[2]);
		check_value("6C6000", strtod(word[3], NULL), strtod(equals, NULL), &left->velocity);
	} else {
		TEST_ASSERT_EQUAL_STRING_MESSAGE("pdo", word[0], line);
	}
}

TEST(the_drive_agrees_with_the_vectors_of_the_page)
{
	FILE *page = fopen(PAGE, "r");
	char line[256];
	unsigned int vectors = 0;
	bool inside = false;

	TEST_ASSERT_NOT_NULL_MESSAGE(page, PAGE ": run from the top of the tree");
	start_with("peak: 20, continuous: 20, friction: 1000");
	heard(301);
	while (fgets(line, sizeof(line), page)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "```", 3))
			inside = !strcmp(line, "```vectors");
		else if (inside) {
			check_vector(line);
			vectors++;
		}
	}
	fclose(page);
	TEST_ASSERT_GREATER_THAN(60, vectors);
}

/* ---- current, motion ---- */

/* 8192 of 2^15 at a peak of 60 A is 15 A, which with a lag of 1 ms is 63 % after 1 ms. */
TEST(current_follows_with_its_lag_and_has_the_sign_of_its_drive)
{
	struct amc_drive *d;

	start_with("friction: 1000");
	PLAY(ENABLED);
	d = left;
	hear("2E2#0F000020");
	heard(1);
	TEST_ASSERT_DOUBLE_WITHIN(0.1, 15 * (1 - exp(-1)), d->shaft.current_a);
	heard(20);
	PLAY({ 1, "080#", "2E3#3706000000000008" }); /* 15 A of 60 A / 2^13 */

	put_into(AMC_ENABLED);
	od_set(&right->od, 0x6060, 0, AMC_CURRENT);
	right->state = AMC_ENABLED;
	od_set(&right->od, 0x6071, 0, 0x2000);
	heard(20);
	TEST_ASSERT_DOUBLE_WITHIN(0.01, -15, right->shaft.current_a);
	TEST_ASSERT_DOUBLE_WITHIN(0.01, 15, right->current_a);
}

TEST(the_encoder_counts_and_the_right_one_counts_backwards)
{
	start_with("friction: 0, viscous: 0");
	heard(301);
	left->joint.velocity = right->joint.velocity = 1;
	heard(1000);
	TEST_ASSERT_DOUBLE_WITHIN(20, COUNTS_PER_RAD, left->position);
	TEST_ASSERT_DOUBLE_WITHIN(20, -COUNTS_PER_RAD, right->position);
	TEST_ASSERT_DOUBLE_WITHIN(700, -COUNTS_PER_RAD, right->velocity);
	fault(left, "encoder-stuck", false);
	heard(100);
	TEST_ASSERT_DOUBLE_WITHIN(20, COUNTS_PER_RAD, left->position);
	TEST_ASSERT_DOUBLE_WITHIN(1, 0, left->velocity);
	TEST_ASSERT_DOUBLE_WITHIN(0.01, 1.1, left->joint.position);
}

TEST(a_body_moves_the_shaft_and_gets_the_current)
{
	struct sim_shaft *shaft;

	start_with("");
	shaft = amc_kind.shaft(left, 0);
	TEST_ASSERT_NULL(amc_kind.shaft(left, 1));
	shaft->coupled = shaft->driven = true;
	PLAY(ENABLED, { 10, "2E2#0F000020", "" });
	TEST_ASSERT_DOUBLE_WITHIN(0.01, 15, shaft->current_a);
	TEST_ASSERT_EQUAL_DOUBLE(0, left->joint.position); /* the body did not move it */
	shaft->position_rad = 1;
	PLAY({ 1, "080#", NULL });
	TEST_ASSERT_EQUAL_STRING_LEN("2E3#37", said, 6);
	TEST_ASSERT_EQUAL_DOUBLE(9549, left->position);
}

TEST(position_mode_reaches_its_target)
{
	start_with("friction: 0.1");
	PLAY(CONFIGURED, { 1, "620#2F60600001000000", "5A0#6060600000000000" });
	put_into(AMC_ENABLED);
	od_set(&left->od, 0x607A, 0, 9549);
	heard(5000);
	TEST_ASSERT_DOUBLE_WITHIN(0.01, 1, left->joint.position);
	TEST_ASSERT_EQUAL_HEX16(0x0637, amc_status(left));
}

TEST(more_than_the_continuous_current_ends_with_the_budget)
{
	start_with("friction: 1000, i2t: 1s");
	PLAY(ENABLED);
	feed("2E2#0F00FF7F", 500);
	TEST_ASSERT_DOUBLE_WITHIN(0.1, 60, left->current_a);
	feed("2E2#0F00FF7F", 600);
	TEST_ASSERT_DOUBLE_WITHIN(0.1, 30, left->current_a);
	TEST_ASSERT_TRUE(amc_status(left) & 0x0800);
}

TEST(quick_stop_brakes_and_ends_switch_on_disabled)
{
	start_with("friction: 0.1");
	PLAY(ENABLED);
	left->joint.velocity = 5;
	heard(20);
	PLAY({ 5, "2E2#02000000", "" });
	TEST_ASSERT_EQUAL(AMC_QUICK_STOP, left->state);
	heard(2000);
	TEST_ASSERT_EQUAL(AMC_DISABLED, left->state);
	TEST_ASSERT_DOUBLE_WITHIN(0.1, 0, left->joint.velocity);
}

TEST(timers_send_the_tpdos_of_their_masks)
{
	start_with("");
	PLAY({ 301, NULL, "720#00 721#00" }, { 1, "620#23001801A0010080", NULL }, { 1, "620#2B20210002000000", NULL },
	     { 1, "620#2B21210006000000", NULL }, { 0, "000#0120", NULL });
	heard(2.5);
	TEST_ASSERT_EQUAL_STRING_LEN("3A0#600600000000 4A0#600600000000", said, 33);
	PLAY({ 1, "620#2B21210000000000", NULL }, { 10, NULL, "" });
}

TEST(the_position_can_be_preset)
{
	start_with("position: 3");
	heard(301);
	PLAY({ 1, "620#23392001E8030000", "5A0#6039200100000000" },
	     { 1, "620#2B58200801000000", "5A0#6058200800000000" },
	     { 1, "620#2B58200800000000", "5A0#6058200800000000" },
	     { 1, "620#4064600000000000", "5A0#42646000E8030000" });
}

/* ---- no driver talks to it ---- */

TEST(the_last_current_lasts_while_the_host_is_heard_and_ends_with_it)
{
	start_with("friction: 1000");
	PLAY(ENABLED);
	feed("2E2#0F000020", 100);
	feed(NULL, 1000); /* heartbeats only */
	TEST_ASSERT_DOUBLE_WITHIN(0.1, 15, left->shaft.current_a);
	heard(189); /* 199 ms after the last one */
	TEST_ASSERT_DOUBLE_WITHIN(0.1, 15, left->shaft.current_a);
	PLAY({ 2, NULL, "0A0#3081110000000000" }); /* EMCY */
	TEST_ASSERT_EQUAL_DOUBLE(0, left->shaft.current_a);
	TEST_ASSERT_EQUAL(AMC_FAULT, left->state);
	PLAY({ 1, "080#", "2E3#2806000000000000" }, { 1, "2E2#8F000020", "0A0#0000000000000000" },
	     { 1, "080#", "2E3#6006000000000000" });
	TEST_ASSERT_EQUAL(1, left->losses);
}

TEST(without_a_watchdog_the_last_current_lasts_for_ever)
{
	start_with("friction: 1000");
	PLAY(ENABLED, { 60000, "2E2#0F000020", "" });
	TEST_ASSERT_DOUBLE_WITHIN(0.1, 15, left->shaft.current_a);
}

TEST(an_rpdo_time_out_takes_the_current_away)
{
	start_with("friction: 1000");
	PLAY(ENABLED, { 1, "620#2B041405C8000000", "5A0#6004140500000000" }, { 199, "2E2#0F000020", "" },
	     { 2, NULL, "0A0#5082110000000000" });
	TEST_ASSERT_EQUAL_DOUBLE(0, left->shaft.current_a);
}

/* ---- faults ---- */

TEST(a_fault_ends_by_a_rising_edge_once_its_cause_is_gone)
{
	static const struct {
		const char *word, *emcy;
	} causes[] = {
		{ "over-temperature", "0A0#1043090000000000" },
		{ "under-voltage", "0A0#2032050000000000" },
		{ "stuck-in-fault", "0A0#00FF810000000000" },
	};

	for (size_t i = 0; i < COUNT(causes); i++) {
		start_with("");
		PLAY(ENABLED);
		fault(left, causes[i].word, false);
		PLAY({ 1, NULL, causes[i].emcy }, { 1, "2E2#80000000", "" }, { 1, "2E2#0F000000", "" });
		TEST_ASSERT_EQUAL(AMC_FAULT, left->state); /* enabled again and again */
		TEST_ASSERT_EQUAL_DOUBLE(0, left->shaft.current_a);
		PLAY({ 1, "2E2#8F000000", "" });
		fault(left, causes[i].word, true);
		PLAY({ 1, "2E2#8F000000", "" }); /* no edge */
		TEST_ASSERT_EQUAL(AMC_FAULT, left->state);
		PLAY({ 1, "2E2#0F000000", "" }, { 1, "2E2#8F000000", "0A0#0000000000000000" });
		TEST_ASSERT_EQUAL(AMC_DISABLED, left->state);
	}
}

TEST(a_silent_drive_hears_and_obeys)
{
	start_with("friction: 1000");
	PLAY(ENABLED);
	fault(left, "silent", false);
	PLAY({ 10, "2E2#0F000020", "" }, { 1, "080#", "" });
	TEST_ASSERT_DOUBLE_WITHIN(0.1, 15, left->shaft.current_a);
	fault(left, "silent", true);
	PLAY({ 1, "080#", "2E3#3706000000000008" });
}

TEST(power_brings_it_back_unconfigured)
{
	start_with("");
	PLAY(ENABLED);
	left->joint.position = 2;
	heard(1);
	fault(left, "power-off", false);
	TEST_ASSERT_FALSE(amc_kind.has_power(left));
	TEST_ASSERT_EQUAL(CLOCK_NEVER, amc_kind.next_ns(left));
	TEST_ASSERT_EQUAL_DOUBLE(0, left->shaft.current_a);
	PLAY({ 100, "080#", "" });
	fault(left, "power-off", true);
	TEST_ASSERT_TRUE(amc_kind.has_power(left));
	PLAY({ 301, NULL, "720#00" }, { 1, "080#", "" }, { 1, "620#4019180100000000", "5A0#4219180100000080" },
	     { 1, "620#4064600000000000", "5A0#4264600000000000" });
	TEST_ASSERT_EQUAL(AMC_DISABLED, left->state);
}

/* ---- the robot file, commands ---- */

TEST(settings_that_make_no_sense_are_refused)
{
	static const struct {
		const char *drives, *settings, *line;
	} cases[] = {
		{ "0x20", "", "\"0x20\": not a drive" },
		{ "0x20 left, 0x20 right", "", "this node is in the list already" },
		{ "0x20 left, 0x21 left", "", "this joint is in the list already" },
		{ "0x80 left", "", "nodes have the numbers 1 to 0x7F" },
		{ "20x left", "", "nodes have the numbers" },
		{ "0x20 left +", "", "not a drive" },
		{ "top:0x20 left", "", "this device has no such bus" },
		{ "0x20 left", "continuous: 70", "continuous: 70 A is above the peak, 60 A" },
		{ "0x20 left", "peek: 70", "did you mean peak?" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		TEST_ASSERT_EQUAL_MESSAGE(-EINVAL, load(cases[i].drives, cases[i].settings), cases[i].line);
		TEST_ASSERT_NOT_NULL_MESSAGE(strstr(said, cases[i].line), said);
	}
}

TEST(an_unknown_fault_is_refused_with_the_nearest_word)
{
	char answer[256] = "";
	struct rpc_text to = { answer, 0, sizeof(answer) };

	start_with("");
	TEST_ASSERT_EQUAL(-EINVAL, sim_fault(&sim.units[0], "silence", false, now_ns, &to));
	TEST_ASSERT_EQUAL_STRING("error silence: no such fault; did you mean silent?", answer);
}

TEST(how_often_it_is_advanced_makes_no_difference)
{
	double position;

	start_with("");
	PLAY(ENABLED, { 1, "2E2#0F000020", "" });
	amc_kind.advance(left, now_ns + 400 * MS);
	position = left->joint.position;
	start_with("");
	PLAY(ENABLED, { 1, "2E2#0F000020", "" }, { 400, NULL, "" });
	TEST_ASSERT_EQUAL_DOUBLE(position, left->joint.position);
	TEST_ASSERT_TRUE(position > 0.5);
}
