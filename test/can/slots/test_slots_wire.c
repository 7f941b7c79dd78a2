/* test_slots_wire.c: frames with steps on a soft wire, as another node sees them.
 *
 * Eight PDOs and a SYNC per tick.  The next tick comes after so many confirmations, often too early for the bus, so
 * that frames of two ticks wait at once; there are no times in it.  Deadlines are longer than the test.
 */
#include <signal.h>

#include "test/lib/testcase.h"

#include "can/slots/slots_bus.h"
#include "channels/clock/clock.h"
#include "test/can/bus/bus_suite.h"
#include "test/can/bus/wire_lib.h"
#include "test/lib/lib.h"

#define PDOS 8
#define ROWS (PDOS + 1)
#define SYNC PDOS
#define TICKS 200
#define LONG_NS 100000000000

static const unsigned int confirmations[] = { 3, 9, 7, 20, 1, 9, 9 }; /* from one tick to the next */
#define MOODS (sizeof(confirmations) / sizeof(confirmations[0]))

struct order {
	bool sync_first;
	uint32_t sync_id; /* as arbitration has it, it would leave at the other end */
};

static struct slots_row rows[ROWS];
static struct slots slots;
static struct slots_bus line;
static struct bus *host, *node;
static struct bus_frame seen[TICKS * ROWS];
static unsigned int seen_n, pdos_of[TICKS + 1], syncs_of[TICKS + 1];

void setUp(void)
{
	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
}

void tearDown(void)
{
	bus_suite_end_case();
}

static void begin(const struct order *order, const struct slots_options *options)
{
	for (unsigned int i = 0; i < ROWS; i++)
		rows[i] = (struct slots_row){ .id = i == SYNC ? order->sync_id : 0x201 + i,
					      .class = SLOTS_LATEST,
					      .deadline_ns = LONG_NS,
					      .step = (i == SYNC) != order->sync_first };
	TEST_ASSERT_EQUAL_INT(0, slots_init(&slots, rows, ROWS, options, &(struct error_sink){ 0 }));
	host = bus_suite_open("wire:torso", NULL);
	node = bus_suite_open("wire:torso@node", NULL);
	slots_bus_init(&line, &slots, host, clock_now_ns());
	seen_n = 0;
}

/* In an order that is neither that of the wire nor its reverse. */
static void put_tick(unsigned int tick, int64_t now_ns)
{
	for (unsigned int i = 0; i < ROWS; i++) {
		const unsigned int row = (i * 5 + tick) % ROWS;
		const struct frame frame = { .id = rows[row].id, .len = 1, .data = { (uint8_t)tick } };

		TEST_ASSERT_EQUAL_INT(0, slots_put(&slots, row, &frame, now_ns));
	}
}

static void receive_frames(void)
{
	int n;

	while ((n = bus_receive(node, seen + seen_n, TICKS * ROWS - seen_n)) > 0)
		seen_n += (unsigned int)n;
}

static void turn(void)
{
	struct clock_fd fds[] = { { .fd = bus_fd(host), .events = POLLIN }, { .fd = bus_fd(node), .events = POLLIN } };
	struct bus_frame got[16];

	clock_wait(fds, 2, slots_bus_next_ns(&line));
	while (slots_bus_receive(&line, got, 16, clock_now_ns()) > 0)
		;
	receive_frames();
	slots_bus_pump(&line, clock_now_ns());
}

static void run(void)
{
	const struct slots_counts *counts = slots_counts(&slots);
	uint64_t from = 0;

	for (unsigned int tick = 1; tick <= TICKS; tick++) {
		put_tick(tick, clock_now_ns());
		slots_bus_pump(&line, clock_now_ns());
		while (counts->confirmed - from < confirmations[tick % MOODS] &&
		       slots_waiting(&slots) + slots_in_flight(&slots))
			turn();
		from = counts->confirmed;
	}
	while (slots_waiting(&slots) + slots_in_flight(&slots) || seen_n < counts->confirmed)
		turn();
	TEST_ASSERT_EQUAL_UINT64(0, counts->lost + counts->expired + counts->no_room);
	TEST_ASSERT_GREATER_THAN(TICKS / 4, counts->replaced); /* the bus was too slow for many a tick */
}

/* Frames leave tick by tick, and within a tick step by step. */
static void expect_order(const struct order *order)
{
	unsigned int last = 0, syncs = 0;

	memset(pdos_of, 0, sizeof(pdos_of));
	memset(syncs_of, 0, sizeof(syncs_of));
	for (unsigned int i = 0; i < seen_n; i++) {
		const unsigned int tick = seen[i].frame.data[0];
		const bool sync = seen[i].frame.id == order->sync_id;
		const unsigned int place = 2 * tick + (sync != order->sync_first);

		TEST_ASSERT_GREATER_OR_EQUAL_MESSAGE(last, place, "a frame of an earlier tick or step");
		last = place;
		syncs += sync;
		if (sync)
			TEST_ASSERT_EQUAL_MESSAGE(0, syncs_of[tick]++, "a second SYNC in a tick");
		else
			pdos_of[tick]++;
		if (sync && !order->sync_first)
			TEST_ASSERT_EQUAL_MESSAGE(PDOS, pdos_of[tick], "a SYNC before a PDO of its tick");
		if (!sync && order->sync_first)
			TEST_ASSERT_EQUAL_MESSAGE(1, syncs_of[tick], "a PDO before the SYNC of its tick");
	}
	TEST_ASSERT_EQUAL(1, syncs_of[TICKS]);
	TEST_ASSERT_EQUAL(PDOS, pdos_of[TICKS]);
	TEST_ASSERT_GREATER_THAN(TICKS / 4, syncs);
}

static void with(const struct order *order)
{
	static const unsigned int depths[] = { 1, 2, 8 };

	for (unsigned int i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		begin(order, &(struct slots_options){ .in_flight = depths[i] });
		run();
		expect_order(order);
		bus_suite_end_case();
	}
}

TEST(all_pdos_of_a_tick_then_its_sync)
{
	with(&(struct order){ .sync_id = 0x080 });
}

TEST(sync_then_the_pdos_of_its_tick)
{
	with(&(struct order){ .sync_id = 0x7f0, .sync_first = true });
}

int main(void)
{
	int status;

	wire_lib_start("torso");
	UNITY_BEGIN();
	testcase_run_all();
	status = UNITY_END();
	wire_lib_end(SIGTERM);
	wire_lib_clean();
	return status;
}
