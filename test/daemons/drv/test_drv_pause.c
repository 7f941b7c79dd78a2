/* test_drv_pause.c: what counts as a pause of the process and of its wires, for how long, and how it is reported.
 * Also for drv_joints.c. */
#include "can/bus/bus_backend.h"
#include "channels/clock/clock.h"
#include "daemons/drv/drv_inside.h"
#include "test/daemons/drv/test_drv_lib.h"
#include "test/lib/testcase.h"

#define MS (int64_t) DRV_LIB_MS
#define NOW (1000000 * MS)
#define WIRES 2

static int64_t since_ns[WIRES + 1]; /* a pause of that wire began then; 0: there is none */
static struct bus wires[WIRES + 1];
static const struct setup_bus setups[WIRES + 1] = { { .name = "torso" }, { .name = "arm" } };
static struct drv_bus buses[WIRES + 1]; /* the last is none of the driver's */
static struct drv drv;

static int64_t paused(const struct bus *bus, int64_t now_ns)
{
	(void)now_ns;
	return since_ns[bus - wires];
}

static void begin(void)
{
	static const struct drv_driver driver = { .program = "faked" };
	static const struct bus_ops ops = { .paused = paused };

	memset(&drv, 0, sizeof(drv));
	memset(buses, 0, sizeof(buses));
	memset(since_ns, 0, sizeof(since_ns));
	drv.driver = &driver;
	drv.report.port.type = msg_type_by_number(msg_event_number); /* events go nowhere */
	drv.buses = buses;
	drv.buses_n = WIRES;
	for (unsigned int i = 0; i <= WIRES; i++) {
		wires[i] = (struct bus){ .ops = &ops };
		buses[i].bus = &wires[i];
		buses[i].setup = &setups[i];
	}
	drv.joints_n = 3; /* one on each wire, and one on none */
	drv_joint_bus(&drv, 0, 0);
	drv_joint_bus(&drv, 1, 1);
	for (unsigned int i = 0; i < drv.joints_n; i++)
		drv_joint_group(&drv, i, i);
	drv.up = true;
}

void setUp(void)
{
	drv_lib_begin();
	begin();
}

void tearDown(void)
{
	drv_lib_end();
}

/* The turn before it was at 0 and had this one due at due; both in ms after NOW. */
static void turn(int64_t due, int64_t now)
{
	drv.due_ns = NOW + due * MS;
	drv.now_ns = NOW + now * MS;
	drv_pause_notice(&drv, drv.now_ns);
	TEST_ASSERT_EQUAL(0, buses[WIRES].pauses.n);
}

/* As the loop has it, and its slots. */
static int64_t paused_ms(unsigned int bus)
{
	const int64_t ns = drv_paused_ns(&drv, bus, NOW);

	if (bus < WIRES)
		TEST_ASSERT_EQUAL(ns, pauses_within_ns(&buses[bus].slots.pauses, NOW, drv.now_ns));
	return ns / MS;
}

static const char *frozen(void)
{
	static char text[4];

	for (unsigned int i = 0; i < 3; i++)
		text[i] = drv.frozen[i] ? 'f' : '-';
	return text;
}

/* ---- this process ---- */

TEST(the_first_turn_is_no_pause)
{
	turn(0, 500);
	TEST_ASSERT_EQUAL(0, paused_ms(0));
}

TEST(a_turn_that_is_late_is_a_pause_of_all_buses)
{
	static const struct {
		int64_t due, now, paused;
	} rows[] = { { 5, 5, 0 }, { 5, 6, 0 }, { 5, 35, 30 }, { -5, 30, 30 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		begin();
		turn(0, 0);
		turn(rows[i].due, rows[i].now);
		for (unsigned int bus = 0; bus <= WIRES; bus++) /* the last: no bus */
			TEST_ASSERT_EQUAL_MESSAGE(rows[i].paused, paused_ms(bus), "a row");
	}
	TEST_ASSERT_EQUAL_STRING("---", frozen());
}

static int take_all(struct bus *bus, const struct frame *frame)
{
	(void)bus;
	(void)frame;
	return 0;
}

/* Stopped after it has looked for frames, before it hands over the next one: the first is not confirmed yet. */
TEST(a_bus_does_not_stall_in_a_pause_within_a_turn)
{
	static const struct slots_row row = { .id = 0x201, .class = SLOTS_QUEUE, .deadline_ns = 100 * MS };
	static const struct bus_ops ops = { .paused = paused, .send = take_all };
	const struct frame frame = { .id = 0x201 };
	struct slots *slots = &buses[0].slots;

	wires[0].ops = &ops;
	TEST_ASSERT_EQUAL(0, slots_init(slots, &row, 1, NULL, NULL));
	buses[0].pump = (struct slots_bus){ .slots = slots, .bus = &wires[0] };
	drv.buses_n = 1;
	drv.now_ns = drv.turn_ns = clock_now_ns() - 300 * MS;
	slots_put(slots, 0, &frame, drv.now_ns);
	TEST_ASSERT_NOT_NULL(slots_take(slots, drv.now_ns));
	slots_handed(slots, drv.now_ns);
	slots_put(slots, 0, &frame, drv.now_ns);
	drv_hand_over(&drv);
	TEST_ASSERT_EQUAL(SLOTS_RUNNING, slots_state(slots));
	TEST_ASSERT_EQUAL(1, drv.paused.n);
}

/* ---- a wire ---- */

TEST(a_pause_of_a_wire_grows_with_each_turn)
{
	since_ns[1] = NOW;
	turn(0, 10);
	TEST_ASSERT_EQUAL(10, paused_ms(1));
	turn(30, 30);
	TEST_ASSERT_EQUAL(30, paused_ms(1));
	turn(50, 50);
	TEST_ASSERT_EQUAL(0, paused_ms(0));
	TEST_ASSERT_EQUAL(50 * MS, pauses_within_ns(&drv.asks.pauses, NOW, drv.now_ns));
	since_ns[1] = 0;
	turn(100, 100);
	TEST_ASSERT_EQUAL(50, paused_ms(1));
	TEST_ASSERT_EQUAL(1, drv.paused.n);
	TEST_ASSERT_EQUAL(50 * MS, drv.paused.longest_ns);
	TEST_ASSERT_EQUAL_PTR(&buses[1], drv.paused.bus);
}

TEST(a_wire_that_hangs_is_not_paused_for_longer_than_150_ms)
{
	since_ns[0] = NOW;
	turn(0, 149);
	TEST_ASSERT_EQUAL(149, paused_ms(0));
	turn(5000, 5000);
	TEST_ASSERT_EQUAL(150 * MS, drv_paused_ns(&drv, 0, NOW));
}

/* Stopped between two instructions of a turn: what that turn looks at next, the bus, must know of it. */
TEST(a_turn_that_takes_longer_than_a_millisecond_was_paused)
{
	turn(0, 10);
	drv_pause_within(&drv, NOW + 11 * MS);
	TEST_ASSERT_EQUAL(0, pauses_within_ns(&buses[1].slots.pauses, NOW, NOW + 100 * MS));
	drv_pause_within(&drv, NOW + 50 * MS);
	TEST_ASSERT_EQUAL(40 * MS, pauses_within_ns(&buses[1].slots.pauses, NOW, NOW + 100 * MS));
	turn(45, 52); /* one pause, and another of 2 ms behind it */
	TEST_ASSERT_EQUAL(42, paused_ms(0));
	TEST_ASSERT_EQUAL(1, drv.paused.n);
	TEST_ASSERT_EQUAL(40 * MS, drv.paused.longest_ns);
}

TEST(two_pauses_of_a_wire_count_as_two)
{
	since_ns[0] = NOW;
	turn(0, 40);
	since_ns[0] = NOW + 60 * MS;
	turn(100, 100);
	TEST_ASSERT_EQUAL(80, paused_ms(0));
	TEST_ASSERT_EQUAL(2, drv.paused.n);
	TEST_ASSERT_EQUAL(40 * MS, drv.paused.longest_ns);
}

TEST(one_that_began_before_it_was_last_seen_is_the_same)
{
	since_ns[0] = NOW;
	turn(0, 40);
	since_ns[0] = NOW + 40 * MS;
	turn(70, 70);
	TEST_ASSERT_EQUAL(70, paused_ms(0));
	TEST_ASSERT_EQUAL(1, drv.paused.n);
}

TEST(a_wire_paused_for_50_ms_freezes_its_joints_and_those_of_no_bus)
{
	since_ns[1] = NOW;
	turn(0, 49);
	TEST_ASSERT_EQUAL_STRING("---", frozen());
	turn(50, 50);
	TEST_ASSERT_EQUAL_STRING("-ff", frozen());
}

TEST(while_it_is_not_up_there_is_nothing_to_freeze)
{
	drv.up = false;
	since_ns[1] = NOW;
	turn(0, 50);
	TEST_ASSERT_EQUAL_STRING("---", frozen());
}

TEST(a_turn_may_be_a_millisecond_late_and_a_pause_of_20_ms_is_a_long_one)
{
	turn(0, 0);
	drv.due_ns = drv.now_ns;
	drv.now_ns += MS + 1;
	drv_pause_notice(&drv, drv.now_ns);
	TEST_ASSERT_EQUAL(MS + 1, drv_paused_ns(&drv, WIRES, NOW));
	since_ns[0] = since_ns[1] = NOW + MS + 2;
	turn(20, 20);
	TEST_ASSERT_EQUAL(0, drv.paused.n);
	drv.due_ns = drv.now_ns = NOW + 21 * MS + 2;
	drv_pause_notice(&drv, drv.now_ns);
	TEST_ASSERT_EQUAL(2, drv.paused.n);
	TEST_ASSERT_EQUAL_PTR(&buses[0], drv.paused.bus);
	turn(23, 23);
	TEST_ASSERT_EQUAL(2, drv.paused.n);
}

/* ---- reports ---- */

static const char *reported(int64_t now)
{
	memset(&drv.report, 0, sizeof(drv.report));
	drv.report.port.type = msg_type_by_number(msg_event_number);
	drv.report.holding = true; /* in the table of codes */
	drv_pause_report(&drv, NOW + now * MS);
	return drv.report.codes_n ? drv.report.codes[0].text : "";
}

TEST(pauses_of_less_than_20_ms_are_not_reported)
{
	since_ns[0] = NOW + 10 * MS;
	turn(0, 0);
	turn(5, 24);
	TEST_ASSERT_EQUAL_STRING("", reported(24));
}

#define REMEDY ": no fault of a device; achdoctor, --virtual"

TEST(many_are_one_report_of_the_longest_and_then_none_for_ten_seconds)
{
	turn(0, 0);
	turn(5, 30);
	since_ns[0] = NOW + 30 * MS;
	turn(61, 61);
	TEST_ASSERT_EQUAL_STRING("", reported(61)); /* it is under way */
	since_ns[0] = 0;
	turn(62, 62);
	TEST_ASSERT_EQUAL_STRING("this machine paused for 31 ms (wire torso, 2 times)" REMEDY, reported(62));
	TEST_ASSERT_EQUAL(NOW + 61 * MS, drv.report.codes[0].t_ns); /* when it ended */
	TEST_ASSERT_EQUAL_STRING("", reported(63));
	turn(65, 90);
	TEST_ASSERT_EQUAL_STRING("", reported(10061));
	TEST_ASSERT_EQUAL_STRING("this machine paused for 25 ms (this process)" REMEDY, reported(10062));
	TEST_ASSERT_EQUAL(NOW + 90 * MS, drv.report.codes[0].t_ns);
}

TEST(one_that_is_longer_by_more_than_5_ms_is_reported_at_once)
{
	turn(0, 0);
	turn(5, 30);
	TEST_ASSERT_EQUAL_STRING("this machine paused for 25 ms (this process)" REMEDY, reported(30));
	turn(35, 65);
	TEST_ASSERT_EQUAL_STRING("", reported(65));
	turn(100, 131);
	TEST_ASSERT_EQUAL_STRING("this machine paused for 31 ms (this process, 2 times)" REMEDY, reported(131));
	turn(200, 236);
	TEST_ASSERT_EQUAL_STRING("", reported(236));
	turn(300, 336);
	TEST_ASSERT_EQUAL_STRING("", reported(10130));
	TEST_ASSERT_EQUAL_STRING("this machine paused for 36 ms (this process, 2 times)" REMEDY, reported(10131));
}

TEST(a_wire_that_hangs_is_reported_once_it_is_a_fault)
{
	since_ns[1] = NOW;
	turn(0, 149);
	TEST_ASSERT_EQUAL_STRING("", reported(149));
	turn(150, 150);
	TEST_ASSERT_EQUAL_STRING("", reported(150));
	turn(151, 151);
	TEST_ASSERT_EQUAL_STRING("this machine paused for 150 ms and more (wire arm)" REMEDY, reported(151));
	turn(5000, 5000);
	TEST_ASSERT_EQUAL_STRING("", reported(5000));
}
