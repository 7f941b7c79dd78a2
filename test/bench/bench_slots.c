/* bench_slots.c: what a frame costs in the slots: put, take, hand over, echo.
 *
 * There is no bus: the next call confirms each frame that was handed over.  A figure is the median of short rounds.
 */
#include <stdio.h>

#include "can/slots/slots.h"
#include "test/bench/lib.h"
#include "test/bench/lib_figures.h"

#define ROUNDS 51
#define BLOCK 20000 /* frames in a round */
#define KEYS 64
#define MS 1000000ll

static const struct slots_row rows[] = {
	{ .id = 0x010, .class = SLOTS_LATEST, .key = { 0xff }, .period_ns = 5 * MS },
	{ .id = 0x011, .class = SLOTS_QUEUE, .deadline_ns = 3600000 * MS },
	{ .id = 0x7f0, .class = SLOTS_LATEST, .key = { 0xff }, .deadline_ns = 3600000 * MS },
};

static struct slots slots;
static int64_t now_ns;
static volatile unsigned int next_ns; /* keeps the call */

static void must(int status, const char *call)
{
	if (status)
		bench_die("%s: %d", call, status);
}

static void put(unsigned int row, uint8_t key)
{
	struct frame frame = { .id = rows[row].id, .len = 8, .data = { key } };

	must(slots_put(&slots, row, &frame, now_ns), "slots_put");
}

static void hand_over(struct frame *copy)
{
	const struct frame *frame = slots_take(&slots, now_ns);

	if (!frame)
		bench_die("nothing to hand over");
	*copy = *frame;
	slots_handed(&slots, now_ns);
}

/* The whole way of a frame. */
static void way(unsigned int i)
{
	struct frame frame;

	now_ns += 1000;
	put(0, (uint8_t)(i % KEYS));
	hand_over(&frame);
	slots_echo(&slots, &frame, now_ns);
	next_ns += slots_next_ns(&slots) != 0;
}

/* A frame that replaces another and is not sent. */
static void replace(unsigned int i)
{
	now_ns += 1000;
	put(2, (uint8_t)(i % KEYS));
}

static void fill(unsigned int row, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		put(row, (uint8_t)i);
}

static double round_ns(void (*one)(unsigned int i), unsigned int latest, unsigned int queue)
{
	struct error_sink errors = { 0 };
	struct frame frame;
	int64_t start_ns;

	must(slots_init(&slots, rows, sizeof(rows) / sizeof(rows[0]), NULL, &errors), "slots_init");
	fill(0, 1);
	hand_over(&frame);
	slots_echo(&slots, &frame, now_ns);
	fill(1, queue);
	fill(2, latest);
	start_ns = bench_now_ns();
	for (unsigned int i = 0; i < BLOCK; i++)
		one(i);
	return (double)(bench_now_ns() - start_ns) / BLOCK;
}

static const struct {
	const char *name, *what;
	void (*one)(unsigned int i);
	unsigned int latest, queue;
} items[] = {
	{ "slots.frame", "put, take, hand over, echo; nothing else waits", way, 0, 0 },
	{ "slots.frame_20_waiting", "the same before 20 others", way, 10, 10 },
	{ "slots.frame_180_waiting", "the same before 180 others", way, 120, 60 },
	{ "slots.frame_360_waiting", "the same before 360 others", way, 240, 120 },
	{ "slots.replace_64_keys", "put: one of 64 keys, and 116 others, wait", replace, 120, 60 },
};
#define ITEMS (sizeof(items) / sizeof(items[0]))

int main(void)
{
	static double ns[ITEMS][ROUNDS];

	bench_hang_limit(60);
	bench_pin(0);
	for (unsigned int r = 0; r < ROUNDS; r++)
		for (unsigned int i = 0; i < ITEMS; i++)
			ns[i][r] = round_ns(items[i].one, items[i].latest, items[i].queue);
	printf("Slots, ns of processor per frame (median of %d rounds, and the slowest tenth)\n", ROUNDS);
	for (unsigned int i = 0; i < ITEMS; i++) {
		double median = figures_median(ns[i], ROUNDS);

		printf("  %-50s %8.1f %8.1f\n", items[i].what, median, figures_part(ns[i], ROUNDS, 0.9));
		figures_line(median, "ns", "%s", items[i].name);
	}
	figures_print();
	return 0;
}
