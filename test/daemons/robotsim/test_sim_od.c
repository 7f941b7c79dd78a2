/* test_sim_od.c: the CANopen node of simulated devices: frames in, frames out. */
#include "test/lib/testcase.h"

#include "can/bus/frame_text.h"
#include "channels/clock/clock.h"
#include "daemons/robotsim/od.h"

#define MS INT64_C(1000000)
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const struct od_object objects[] = {
	{ 0x1000, 0, 32, OD_READ, 0x00020192, NULL },
	{ 0x1001, 0, 8, OD_READ | OD_MAP, 0, NULL },
	{ 0x1005, 0, 32, OD_WRITE, 0x80, NULL },
	{ 0x1008, 0, 0, OD_READ, 0, "a node of fourteen" },
	{ 0x100C, 0, 16, OD_WRITE, 0, NULL },
	{ 0x100D, 0, 8, OD_WRITE, 0, NULL },
	{ 0x1014, 0, 32, OD_READ | OD_ADD_NODE, 0x80, NULL },
	{ 0x1016, 0, 8, OD_READ, 2, NULL },
	{ 0x1016, 1, 32, OD_WRITE, 0, NULL },
	{ 0x1016, 2, 32, OD_WRITE, 0, NULL },
	{ 0x1017, 0, 16, OD_WRITE, 0, NULL },
	{ 0x2000, 0, 16, OD_WRITE | OD_MAP, 0x1234, NULL },
	{ 0x2000, 1, 8, OD_WRITE_ONLY, 0, NULL },
	{ 0x2001, 0, 0, OD_WRITE, 0, NULL },
	{ 0x6000, 0, 32, OD_READ | OD_MAP, 7, NULL },
	{ 0x6200, 0, 32, OD_WRITE | OD_MAP, 0, NULL },
};
static const struct od_pdo pdos[] = {
	{ 1, true, false, 0x180, 0xFF, { 0x20000010 } },
	{ 26, true, true, 0, 0xFE, { 0 } },
	{ 1, false, false, 0x200, 0xFF, { 0x20000010 } },
	{ 5, false, true, 0, 0x01, { 0x20000010, 0x62000020 } },
};

static struct od od;
static int64_t now_ns;
static uint16_t lost;
static unsigned int resets;

static uint32_t written(void *of, const struct od_object *o, uint32_t value)
{
	(void)of;
	return o->index == 0x2000 && value == 0xBAD ? OD_ABORT_RANGE : 0;
}

static void was_reset(void *of)
{
	(void)of;
	resets++;
}

static void was_lost(void *of, uint16_t code, int64_t t_ns)
{
	lost = code;
	od_emcy(of, code, 0x11, t_ns);
}

static struct od_device device = {
	.objects = objects,
	.objects_n = COUNT(objects),
	.pdos = pdos,
	.pdos_n = COUNT(pdos),
	.boot_ns = 100 * MS,
	.written = written,
	.reset = was_reset,
	.lost = was_lost,
};

void setUp(void)
{
	device.hides_size = false;
	now_ns = lost = resets = 0;
	od_start(&od, &device, &od, 5, now_ns);
}

void tearDown(void)
{
}

/* Everything until then, one frame after the other. */
static const char *heard(int64_t ms)
{
	static char said[512];
	struct frame f;

	now_ns += ms * MS;
	for (said[0] = '\0'; od_send(&od, now_ns, &f);) {
		char text[FRAME_TEXT_MAX];

		frame_text_write(text, &f);
		snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s%s", *said ? " " : "", text);
	}
	return said;
}

static void hear(const char *text)
{
	struct frame f;

	TEST_ASSERT_NULL_MESSAGE(frame_text_read(&f, text, strlen(text)), text);
	od_frame(&od, &f, now_ns);
}

struct exchange {
	int64_t ms; /* that pass after the frame */
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
		TEST_ASSERT_EQUAL_STRING_MESSAGE(exchanges[i].out, heard(exchanges[i].ms), where);
	}
}
#define PLAY(...)                                                    \
	do {                                                         \
		const struct exchange exchanges[] = { __VA_ARGS__ }; \
		play(exchanges, COUNT(exchanges));                   \
	} while (0)
#define BOOT                        \
	{                           \
		100, NULL, "705#00" \
	}
#define OPERATIONAL                       \
	BOOT,                             \
	{                                 \
		0, "000#0105", "185#3412" \
	}

/* ---- NMT ---- */

TEST(boot_up_comes_after_its_time_and_leads_to_pre_operational)
{
	PLAY({ 99, "605#4000100000000000", "" }, { 1, NULL, "705#00" },
	     { 0, "605#4000100000000000", "585#4300100092010200" });
	TEST_ASSERT_EQUAL(OD_PRE_OPERATIONAL, od.nmt);
}

TEST(nmt_commands_reach_the_node_they_name_or_all)
{
	static const struct {
		const char *in;
		enum od_nmt nmt;
	} steps[] = {
		{ "000#0105", OD_OPERATIONAL }, { "000#0206", OD_OPERATIONAL },	    { "000#0205", OD_STOPPED },
		{ "000#0100", OD_OPERATIONAL }, { "000#8005", OD_PRE_OPERATIONAL }, { "000#01", OD_PRE_OPERATIONAL },
		{ "000#8205", OD_BOOT },
	};

	heard(100);
	for (size_t i = 0; i < COUNT(steps); i++) {
		hear(steps[i].in);
		TEST_ASSERT_EQUAL_MESSAGE(steps[i].nmt, od.nmt, steps[i].in);
	}
}

TEST(reset_of_communication_keeps_the_application_and_reset_of_the_node_does_not)
{
	PLAY(BOOT, { 0, "605#2B00200001000000", "585#6000200000000000" },
	     { 0, "605#2B17100032000000", "585#6017100000000000" }, { 50, NULL, "705#7F" },
	     { 100, "000#8205", "705#00" }, { 60, NULL, "" }, { 0, "605#4000200000000000", "585#4B00200001000000" },
	     { 100, "000#8105", "705#00" }, { 0, "605#4000200000000000", "585#4B00200034120000" });
	TEST_ASSERT_EQUAL(2, resets); /* power, and 81 */
}

TEST(a_stopped_node_answers_no_sdo)
{
	PLAY(BOOT, { 0, "000#0205", "" }, { 0, "605#4000100000000000", "" });
}

/* ---- SDO ---- */

TEST(requests_are_answered_or_aborted_with_the_reason)
{
	PLAY(BOOT, { 0, "605#4000100000000000", "585#4300100092010200" }, /* 4 bytes */
	     { 0, "605#4001100000000000", "585#4F01100000000000" },	  /* 1 byte */
	     { 0, "605#4000200000000000", "585#4B00200034120000" },	  /* 2 bytes */
	     { 0, "605#2B00200078560000", "585#6000200000000000" },
	     { 0, "605#4000200000000000", "585#4B00200078560000" },
	     { 0, "605#22002000ABCD0000", "585#6000200000000000" }, /* size not indicated */
	     { 0, "605#4000200000000000", "585#4B002000ABCD0000" },
	     { 0, "605#4083600000000000", "585#8083600000000206" }, /* no such object */
	     { 0, "605#4000200700000000", "585#8000200711000906" }, /* no such sub-index */
	     { 0, "605#2B00200700000000", "585#8000200711000906" },
	     { 0, "605#2300100000000000", "585#8000100002000106" }, /* read-only */
	     { 0, "605#4000200100000000", "585#8000200101000106" }, /* write-only */
	     { 0, "605#2F00200000000000", "585#8000200010000706" }, /* length */
	     { 0, "605#2B002000AD0B0000", "585#8000200030000906" }, /* refused by the device */
	     { 0, "605#A000100000000000", "585#8000100001000405" }, /* block upload */
	     { 0, "605#6000000000000000", "585#8000000001000405" }, /* segment of nothing */
	     { 0, "605#40001000", "" });
	TEST_ASSERT_EQUAL(9, od.aborts);
}

TEST(a_device_may_hide_the_size)
{
	device.hides_size = true;
	PLAY(BOOT, { 0, "605#4000200000000000", "585#4200200034120000" },
	     { 0, "605#4200200000000000", "585#4200200034120000" },
	     { 0, "605#4000180200000000", "585#42001802FF000000" });
}

TEST(long_objects_are_segmented_both_ways)
{
	PLAY(BOOT, { 0, "605#4008100000000000", "585#4108100012000000" },
	     { 0, "605#6000000000000000", "585#0061206E6F646520" },
	     { 0, "605#7000000000000000", "585#106F6620666F7572" },
	     { 0, "605#6000000000000000", "585#077465656E000000" },
	     /* 9 bytes down and up again */
	     { 0, "605#2101200009000000", "585#6001200000000000" },
	     { 0, "605#0001020304050607", "585#2000000000000000" },
	     { 0, "605#1B08090000000000", "585#3000000000000000" },
	     { 0, "605#4001200000000000", "585#4101200009000000" },
	     { 0, "605#6000000000000000", "585#0001020304050607" },
	     { 0, "605#7000000000000000", "585#1B08090000000000" },
	     /* the same toggle twice */
	     { 0, "605#4008100000000000", "585#4108100012000000" },
	     { 0, "605#7000000000000000", "585#8008100000000305" },
	     { 0, "605#6000000000000000", "585#8000000001000405" },
	     /* aborted by the client */
	     { 0, "605#4008100000000000", "585#4108100012000000" }, { 0, "605#8008100000000000", "" },
	     { 0, "605#6000000000000000", "585#8000000001000405" });
}

/* ---- heartbeat, guarding ---- */

TEST(heartbeats_carry_the_state)
{
	PLAY(BOOT, { 0, "605#2B17100014000000", "585#6017100000000000" }, { 20, NULL, "705#7F" },
	     { 0, "000#0105", "185#3412" }, { 40, NULL, "705#05 705#05" },
	     { 0, "605#2B17100000000000", "585#6017100000000000" }, { 100, NULL, "" });
}

TEST(guard_replies_toggle_and_their_loss_is_noticed_after_the_life_time)
{
	PLAY(BOOT, { 0, "605#2B0C10000A000000", "585#600C100000000000" },
	     { 0, "605#2F0D100003000000", "585#600D100000000000" },
	     { 1000, NULL, "" }, /* not before the first request */
	     { 29, "705#R", "705#7F" }, { 29, "705#R", "705#FF" }, { 29, "705#R", "705#7F" },
	     { 1, NULL, "085#3081110000000000" }, { 1000, NULL, "" });
	TEST_ASSERT_EQUAL_HEX16(OD_LOST_LIFE, lost);
}

TEST(a_lost_heartbeat_is_noticed_once_it_was_heard)
{
	PLAY(BOOT, { 0, "605#2316100232007F00", "585#6016100200000000" }, { 1000, NULL, "" }, { 49, "77F#05", "" },
	     { 49, "77F#05", "" }, { 20, "77E#05", "085#3081110000000000" });
	TEST_ASSERT_EQUAL_HEX16(OD_LOST_LIFE, lost);
	TEST_ASSERT_FALSE(od_is_guarded(&od));
	PLAY({ 0, "77F#05", "" });
	TEST_ASSERT_TRUE(od_is_guarded(&od));
}

/* ---- PDOs ---- */

TEST(pdos_are_exchanged_in_operational_only)
{
	PLAY(BOOT, { 0, "205#0100", "" }, { 0, "000#0105", "185#3412" }, { 0, "205#0200", "185#0200" },
	     { 0, "205#0200", "" } /* no change */, { 0, "205#030099", "185#0300" } /* more bytes than are mapped */,
	     { 0, "205#04", "085#1082110000000000" } /* too few */);
}

TEST(a_map_is_written_while_its_pdo_is_disabled)
{
	PLAY(BOOT, { 0, "605#4019180100000000", "585#4319180100000080" },
	     { 0, "605#2F191A0000000000", "585#60191A0000000000" },
	     { 0, "605#23191A0110000020", "585#60191A0100000000" },
	     { 0, "605#23191A0220000060", "585#60191A0200000000" },
	     { 0, "605#23191A0320000060", "585#60191A0300000000" },
	     { 0, "605#2F191A0003000000", "585#80191A0042000406" }, /* 80 bits */
	     { 0, "605#23191A0310000060", "585#80191A0341000406" }, /* that object has 32 */
	     { 0, "605#23191A0320009960", "585#80191A0341000406" },
	     { 0, "605#2F191A0002000000", "585#60191A0000000000" },
	     { 0, "605#23191A0120000060", "585#80191A0122000008" }, /* while it counts */
	     { 0, "605#2319180185020000", "585#6019180100000000" },
	     { 0, "605#2F191A0000000000", "585#80191A0022000008" }, /* while it is enabled */
	     { 0, "605#2319180186020000", "585#8019180130000906" }, /* so is another identifier refused */
	     { 0, "605#2319180186020080", "585#6019180100000000" },
	     { 0, "605#2319180186020000", "585#6019180100000000" },
	     { 0, "605#23001A0110000020", "585#80001A0102000106" }, /* fixed map */
	     { 0, "605#2F19180201000000", "585#6019180200000000" },
	     { 0, "605#2F191802F1000000", "585#8019180230000906" }, { 0, "000#0105", "185#3412" },
	     { 0, "080#", "286#341207000000" }, { 0, "080#", "286#341207000000" },
	     { 0, "605#2F19180203000000", "585#6019180200000000" }, { 0, "080#", "" }, { 0, "080#", "" },
	     { 0, "080#", "286#341207000000" });
}

TEST(an_event_timer_sends_a_tpdo_and_limits_the_silence_of_an_rpdo)
{
	PLAY(BOOT, { 0, "605#2B001805000A0000", "585#6000180500000000" },
	     { 0, "605#2B00140514000000", "585#6000140500000000" },
	     { 0, "605#2B0018050A000000", "585#6000180500000000" }, { 0, "000#0105", "185#3412" },
	     { 20, NULL, "185#3412 185#3412" }, { 19, "205#3412", "185#3412" },
	     { 2, NULL, "185#3412 085#5082110000000000" }, { 0, "605#2B00180500000000", "585#6000180500000000" },
	     { 50, NULL, "" });
	TEST_ASSERT_EQUAL_HEX16(OD_LOST_RPDO, lost);
}

TEST(a_synchronous_rpdo_acts_with_the_next_sync)
{
	PLAY(BOOT, { 0, "605#2304140155030000", "585#6004140100000000" }, { 0, "000#0105", "185#3412" },
	     { 0, "355#010002000000", "" }, { 0, "605#4000620000000000", "585#4300620000000000" },
	     { 0, "080#", "185#0100" }, { 0, "605#4000620000000000", "585#4300620002000000" });
}

/* The order in which a recorded master brings up a node, with values of our own: reset, identity, an object that is
 * absent, heartbeats both ways, a name, start. */
TEST(start_up_in_the_order_of_a_recording)
{
	PLAY(BOOT, { 100, "000#8100", "705#00" }, { 0, "605#4000100000000000", "585#4300100092010200" },
	     { 0, "605#4029100000000000", "585#8029100000000206" },
	     { 0, "605#2B171000E8030000", "585#6017100000000000" },
	     { 0, "605#23161001B80B0100", "585#6016100100000000" }, { 1000, "701#05", "705#7F" },
	     { 0, "605#4008100000000000", "585#4108100012000000" },
	     { 0, "605#6000000000000000", "585#0061206E6F646520" },
	     { 0, "605#7000000000000000", "585#106F6620666F7572" },
	     { 0, "605#6000000000000000", "585#077465656E000000" }, { 0, "000#0105", "185#3412" },
	     { 1000, "701#05", "705#05" }, { 3000, NULL, "705#05 705#05 085#3081110000000000 705#05" });
}

TEST(without_power_it_neither_hears_nor_speaks)
{
	PLAY(OPERATIONAL);
	od_power(&od, false, now_ns);
	TEST_ASSERT_EQUAL(CLOCK_NEVER, od_next_ns(&od));
	PLAY({ 1000, "605#4000100000000000", "" });
	od_power(&od, true, now_ns);
	PLAY(BOOT, { 0, "080#", "" });
}
