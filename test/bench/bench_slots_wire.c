/* bench_slots_wire.c: a reference on a busy bus: how long from the hand-over by its slots to its first bit on the wire.
 *
 *	bench_slots_wire FOLDER	FOLDER/.. holds canwire; its bus lives in FOLDER
 *
 * Another controller loads the bus to 80 % with frames of lower priority.  A reference has to wait for the frame that
 * is being sent and for no other, so the length of a frame is the bound.  The time is measured from right before the
 * hand-over, a reading of the clock, to the start of the frame, which the wire computes however late the processes are.
 * Whether the bound was kept is measured from right after the hand-over, so that an interrupted process does not count.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "can/bus/bits.h"
#include "can/slots/slots_bus.h"
#include "channels/clock/clock.h"
#include "test/bench/lib.h"
#include "test/bench/lib_figures.h"

#define BITRATE 1000000
#define BIT_NS (BENCH_NS_PER_S / BITRATE)
#define LOAD 0.80
#define LOAD_NS 1000000 /* it is handed over in portions of that */
#define PERIOD_NS 1000000
#define SECONDS 5.0

static const struct frame reference = { .id = 0x101, .len = 8, .data = { 1, 2, 3, 4, 5, 6, 7, 8 } };
/* Among the longest that there are. */
static const struct frame other = { .id = 0x7c1, .len = 8, .data = { 0x3c, 0x3c, 0x3c, 0x3c, 0x3c, 0x3c, 0x20, 0x7f } };

static const struct slots_row rows[] = {
	{ .id = 0x101, .class = SLOTS_LATEST, .period_ns = PERIOD_NS, .deadline_ns = 5 * PERIOD_NS },
};

static char tool[512];

static int64_t frame_ns(const struct frame *frame)
{
	struct bits bits;

	bits_of(&bits, frame);
	return bits.all * BIT_NS;
}

static pid_t start_wire(bool fifo)
{
	pid_t pid = bench_fork();

	if (pid == 0) {
		execl(tool, tool, "run", "busy", fifo ? "--priority" : NULL, "60", NULL);
		_exit(127);
	}
	return pid;
}

/* Hears echoes only. */
static struct bus *open_bus(const char *name)
{
	static const struct bus_filter none;

	return bench_bus_open(name, &(struct bus_options){ .filters = &none });
}

/* For ever. */
static void load_bus(void)
{
	struct bus *bus = open_bus("wire:busy@load");
	struct bus_frame got[64];

	for (int64_t next_ns = bench_now_ns(); /* */; next_ns += LOAD_NS) {
		static double due;

		clock_wait(NULL, 0, next_ns);
		while (bus_receive(bus, got, 64) > 0)
			;
		for (due += LOAD * LOAD_NS / (double)frame_ns(&other); due >= 1 && !bus_send(bus, &other); due--)
			;
		if (due > 2)
			due = 2; /* no burst afterwards for what did not fit */
	}
}

struct waits {
	struct figures_samples *samples;
	unsigned int over; /* the bound */
};

/* One reference, and how long it waited. */
static void put_one(struct waits *waits, struct slots *slots, struct slots_bus *line)
{
	struct clock_fd fd = { .fd = bus_fd(line->bus), .events = POLLIN };
	const struct slots_counts *counts = slots_counts(slots), before = *counts;
	struct bus_frame got = { 0 };
	int64_t now_ns = clock_now_ns(), handed_ns, start_ns;

	if (slots_put(slots, 0, &reference, now_ns))
		bench_die("slots_put");
	slots_bus_pump(line, now_ns);
	handed_ns = clock_now_ns();
	/* A reference is refused or lost if canwire did not get the processor. */
	while (counts->confirmed == before.confirmed) {
		clock_wait(&fd, 1, slots_bus_next_ns(line));
		while (counts->confirmed == before.confirmed && slots_bus_receive(line, &got, 1, clock_now_ns()) > 0)
			;
		slots_bus_pump(line, clock_now_ns());
		if (counts->lost + counts->expired > before.lost + before.expired)
			return;
	}
	start_ns = got.t_ns - (frame_ns(&reference) - BITS_INTERFRAME * BIT_NS);
	figures_samples_add(waits->samples, start_ns > now_ns ? start_ns - now_ns : 0);
	waits->over += start_ns - handed_ns > frame_ns(&other);
}

static void measure(struct waits *waits, double seconds)
{
	static struct slots slots;
	struct bus *bus = open_bus("wire:busy");
	struct error_sink errors = { .line = error_to_stderr };
	int64_t next_ns = bench_now_ns();
	struct slots_bus line;

	if (slots_init(&slots, rows, 1, NULL, &errors))
		bench_die("slots_init");
	slots_bus_init(&line, &slots, bus, next_ns);
	srand(1);
	for (const int64_t end_ns = next_ns + (int64_t)(seconds * 1e9); next_ns < end_ns;) {
		next_ns += PERIOD_NS + rand() % PERIOD_NS; /* of any phase to the load's */
		clock_wait(NULL, 0, next_ns);
		put_one(waits, &slots, &line);
	}
	bus_close(bus);
}

/* The part of its time that the bus was busy, as canwire says. */
static double measured_load(void)
{
	char command[600], text[512] = "";
	const char *at;
	FILE *from;

	snprintf(command, sizeof(command), "%s stats busy --json", tool);
	from = popen(command, "r");
	if (from) {
		(void)!fread(text, 1, sizeof(text) - 1, from);
		pclose(from);
	}
	at = strstr(text, "\"load\":");
	return at ? strtod(at + 7, NULL) : 0;
}

int main(int argc, char **argv)
{
	const double seconds = bench_seconds(SECONDS), bound_us = (double)frame_ns(&other) * 1e-3;
	const bool fifo = bench_fifo(1);
	char folder[512], command[600];
	struct waits waits = { .samples = figures_samples_shared((uint32_t)(seconds * 1000) + 1) };
	pid_t wire, load;

	bench_fifo(0);
	if (argc != 2)
		bench_die("usage: bench_slots_wire FOLDER");
	snprintf(tool, sizeof(tool), "%s/../canwire", argv[1]);
	snprintf(folder, sizeof(folder), "%s/slots_wire.%d", argv[1], (int)getpid());
	if (mkdir(folder, 0700))
		bench_die("%s cannot be made", folder);
	setenv("ENDPLATE_RUN", folder, 1);
	bench_hang_limit(5 * seconds + 60);
	wire = start_wire(fifo);
	load = bench_fork();
	if (load == 0) {
		bench_fifo(fifo ? 50 : 0);
		load_bus();
	}
	bench_fifo(fifo ? 50 : 0);
	measure(&waits, seconds);
	bench_fifo(0);
	figures_samples_sort(waits.samples);

	printf("References on a bus with 80 %% of lower priority (%.0f %% in all; %s), us from hand-over to wire\n",
	       100 * measured_load(), fifo ? "SCHED_FIFO" : "no real-time priority");
	printf("  %10s %8s %8s %8s %8s %8s %8s\n", "references", "p50", "p99", "p99.9", "max", "bound", "over");
	printf("  %10u %8.1f %8.1f %8.1f %8.1f %8.1f %8u %s\n", waits.samples->count,
	       figures_quantile_us(waits.samples, 0.5), figures_quantile_us(waits.samples, 0.99),
	       figures_quantile_us(waits.samples, 0.999), figures_quantile_us(waits.samples, 1), bound_us, waits.over,
	       figures_target(waits.over, 0, "slots.to_wire.over"));
	figures_line(figures_quantile_us(waits.samples, 0.5), "us", "slots.to_wire.p50");
	figures_line(figures_quantile_us(waits.samples, 0.99), "us", "slots.to_wire.p99");
	figures_line(figures_quantile_us(waits.samples, 1), "us", "slots.to_wire.max");
	figures_line(bound_us, "us", "slots.to_wire.bound");
	figures_print();

	kill(load, SIGKILL);
	waitpid(load, NULL, 0);
	kill(wire, SIGTERM);
	bench_reap(&wire, 1);
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command) != 0;
}
