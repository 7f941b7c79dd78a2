/* bench_peers.c: channels beside other libraries, in one interleaved run.
 *
 *	bench_peers run FOLDER SECONDS READERS NAME...	latency and throughput, SECONDS for each cell of the tables
 *	bench_peers quick FOLDER SECONDS READERS NAME...	the smallest and largest size only, in short slices
 *	bench_peers killed ROUNDS NAME...		writers killed in the middle of a message
 *
 * For each size and number of readers all transports are set up at once, each sender and each reader a process of its
 * own, and take turns in slices.  Latency: 1000 messages per second, from just before the send until a sleeping reader
 * has the message.  Throughput is what each reader receives, see side.h.  Exit status 1: a transport gave no figure.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/bench/lib.h"
#include "test/bench/lib_figures.h"
#include "test/bench/peers/peers.h"
#include "test/bench/peers/side.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define PRIORITY 50
#define SLICE_NS 100000000ll
#define SLICE_QUICK_NS 30000000ll
#define AGES 100000

static const struct size {
	const char *name;
	size_t bytes;
	bool quick;
} sizes[] = {
	{ "64B", 64, true },
	{ "1KiB", 1024, false },
	{ "8KiB", 8192, false },
	{ "64KiB", PEERS_SIZE_MAX, true },
};
static const char *const measures[SIDE_MEASURES] = { "latency", "flood", "window" };

static const struct transport *kinds[PEERS_MAX];
static size_t kinds_n;
static bool fifo, quick;
static unsigned failures;

static struct cell { /* one transport, size and number of readers; NAN: no figure */
	double p50_us, p99_us, age_us;
	double part[SIDE_MEASURES], per_second[SIDE_MEASURES]; /* received, by each reader */
} cells[COUNT(sizes)][PEERS_MAX];

/* ---- one size and number of readers ---- */

static struct figures_samples *sorted_samples(const struct side *side)
{
	struct figures_samples *samples = figures_samples_new();

	for (unsigned r = 0; r < side->link.readers; r++)
		samples = figures_samples_append(samples, side->samples[r]);
	figures_samples_sort(samples);
	return samples;
}

static void note(struct cell *cell, const struct side *side)
{
	struct figures_samples *samples = sorted_samples(side);

	for (unsigned m = 0; m < SIDE_MEASURES && side->works; m++) {
		const struct side_tally *tally = &side->shared->tallies[m];

		if (!tally->sent)
			continue;
		cell->part[m] = (double)tally->received / ((double)tally->sent * side->link.readers);
		cell->per_second[m] = (double)tally->received / side->link.readers / ((double)tally->spent_ns / 1e9);
	}
	if (side->works && side->timed) {
		cell->p50_us = figures_quantile_us(samples, 0.5);
		cell->p99_us = figures_quantile_us(samples, 0.99);
	} else if (side->works) {
		cell->age_us = figures_quantile_us(samples, 0.5);
	}
	free(samples);
	failures += !side->works;
}

/* Latency with real-time priorities, or the throughputs without. */
static void visit(struct cell *row, size_t size, unsigned readers, bool latency, double seconds)
{
	int64_t slice_ns = quick ? SLICE_QUICK_NS : SLICE_NS;
	unsigned turns = (unsigned)ceil(seconds * BENCH_NS_PER_S / (double)slice_ns);
	uint32_t samples = latency ? turns * (uint32_t)(slice_ns / SIDE_PERIOD_NS) : AGES;
	struct side sides[PEERS_MAX];

	for (size_t k = 0; k < kinds_n; k++)
		side_start(&sides[k], kinds[k], size, readers, slice_ns, latency, samples);
	for (size_t k = 0; k < kinds_n; k++)
		side_wait_joined(&sides[k]);
	for (size_t k = 0; k < kinds_n && fifo && latency; k++)
		side_set_priority(&sides[k], PRIORITY); /* not before: discovery of ten libraries takes the machine */
	for (unsigned t = 0; t < turns; t++)
		for (size_t i = 0; i < kinds_n; i++) {
			struct side *side = &sides[t % 2 ? kinds_n - 1 - i : i];

			side_turn(side, latency ? SIDE_LATENCY : SIDE_FLOOD);
			if (!latency)
				side_turn(side, SIDE_WINDOW);
		}
	for (size_t k = 0; k < kinds_n; k++) {
		note(&row[k], &sides[k]);
		side_set_priority(&sides[k], 0);
		side_quit(&sides[k]);
	}
	for (size_t k = 0; k < kinds_n; k++)
		side_end(&sides[k]);
}

/* ---- results ---- */

static void print_ratio(const char *what, double ours, double best, const char *best_name, const char *name)
{
	double ratio = ours / best;

	printf("; %s %.2f of %s, %s", what, ratio, best_name, figures_target(ratio, 1, "%s", name));
}

static const struct cell *cell_of(const struct cell *row, const struct transport *kind)
{
	for (size_t k = 0; k < kinds_n; k++)
		if (kinds[k] == kind)
			return &row[k];
	return NULL;
}

static bool is_channel(const struct transport *kind)
{
	return kind == &transport_ach || kind == &peer_ach_gap || kind == &peer_ach_loan;
}

/* Copies are compared with copies, loans with loans; of the peers the best one.  Of rates their inverse, the time for
 * each message, so that less is better everywhere.  The flood is that of readers with a gap, if they were measured. */
static void compare(const struct cell *row, const char *name, bool loans)
{
	const char *class = loans ? "loans" : "copies";
	const struct cell *ours = cell_of(row, loans ? &peer_ach_loan : &transport_ach);
	const struct cell *flood = loans ? NULL : cell_of(row, &peer_ach_gap);

	if (!ours || isnan(ours->p50_us))
		return;
	printf("  channel, %s", class);
	for (unsigned m = 0; m < SIDE_MEASURES; m++) {
		const struct cell *cell = m == SIDE_FLOOD && flood ? flood : ours;
		double best = INFINITY, mine = m == SIDE_LATENCY ? cell->p50_us : 1e6 / cell->per_second[m];
		const char *best_name = NULL;
		char target[96];

		for (size_t k = 0; k < kinds_n; k++) {
			double us = m == SIDE_LATENCY ? row[k].p50_us : 1e6 / row[k].per_second[m];

			if (is_channel(kinds[k]) || !kinds[k]->loan != !loans || isnan(us) || us >= best)
				continue;
			best = us;
			best_name = kinds[k]->name;
		}
		snprintf(target, sizeof target, "peers.%s.%s.%s", name, class, measures[m]);
		if (best_name)
			print_ratio(m == SIDE_LATENCY ? "p50" : measures[m], mine, best, best_name, target);
	}
	printf("\n");
}

static void report(const struct cell *row, const struct size *size, unsigned readers)
{
	char name[64];

	snprintf(name, sizeof name, "%ur.%s", readers, size->name);
	printf("\n%-14s    p50 us     p99 us  heard     flood/s      MB/s  heard    age us", name);
	printf("    window/s      MB/s  heard\n");
	for (size_t k = 0; k < kinds_n; k++) {
		const struct cell *cell = &row[k];

		printf("  %-12s %9.2f  %9.2f  %4.0f%%", kinds[k]->name, cell->p50_us, cell->p99_us,
		       cell->part[SIDE_LATENCY] * 100);
		figures_line(cell->p50_us, "us", "peers.%s.%s.p50", name, kinds[k]->name);
		figures_line(cell->p99_us, "us", "peers.%s.%s.p99", name, kinds[k]->name);
		figures_line(cell->age_us, "us", "peers.%s.%s.flood_age", name, kinds[k]->name);
		for (unsigned m = SIDE_FLOOD; m < SIDE_MEASURES; m++) {
			printf("  %10.0f  %8.1f  %4.0f%%", cell->per_second[m],
			       cell->per_second[m] * (double)size->bytes / 1e6, cell->part[m] * 100);
			if (m == SIDE_FLOOD)
				printf("  %8.1f", cell->age_us);
			figures_line(cell->per_second[m], "1/s", "peers.%s.%s.%s", name, kinds[k]->name, measures[m]);
		}
		printf("\n");
	}
	compare(row, name, false);
	compare(row, name, true);
	fflush(stdout);
}

/* For the plot: a line for each size, four columns for each transport. */
static void write_data(const char *folder, unsigned readers)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof path, "%s/peers.%u.dat", folder, readers);
	file = fopen(path, "w");
	if (!file)
		bench_die("unable to write %s", path);
	fputs("size", file);
	for (size_t k = 0; k < kinds_n; k++)
		fprintf(file, " %s p99 flood window", kinds[k]->name);
	fputc('\n', file);
	for (size_t s = 0; s < COUNT(sizes); s++) {
		if (quick && !sizes[s].quick)
			continue;
		fprintf(file, "%zu", sizes[s].bytes);
		for (size_t k = 0; k < kinds_n; k++)
			fprintf(file, " %.3f %.3f %.1f %.1f", cells[s][k].p50_us, cells[s][k].p99_us,
				cells[s][k].per_second[SIDE_FLOOD], cells[s][k].per_second[SIDE_WINDOW]);
		fputc('\n', file);
	}
	if (fclose(file))
		bench_die("unable to write %s", path);
}

static void run_all(const char *folder, double seconds, unsigned readers)
{
	fifo = bench_fifo(PRIORITY) && bench_fifo(0);
	printf("peers: %u readers, latency at 1000 messages per second (%s), throughput (ordinary scheduling)\n",
	       readers, fifo ? "SCHED_FIFO" : "ordinary scheduling, SCHED_FIFO was refused");
	for (size_t s = 0; s < COUNT(sizes); s++) {
		struct cell *row = cells[s];

		if (quick && !sizes[s].quick)
			continue;
		for (size_t k = 0; k < kinds_n; k++)
			row[k] = (struct cell){ NAN, NAN, NAN, { NAN, NAN, NAN }, { NAN, NAN, NAN } };
		visit(row, sizes[s].bytes, readers, true, seconds);
		visit(row, sizes[s].bytes, readers, false, seconds);
		report(row, &sizes[s], readers);
	}
	write_data(folder, readers);
	figures_print();
}

/* ---- which ---- */

static void choose(char *const *names, int count)
{
	const struct transport *const all[] = {
		&transport_ach, &peer_lcm,     &peer_zmq,      &peer_nng,	   &peer_cyclone, &peer_cyclone_shm,
		&peer_fast,	&peer_iceoryx, &peer_ach_loan, &peer_iceoryx_loan, &peer_ach_gap,
	};

	for (int n = 0; n < count; n++) {
		size_t i = 0;

		while (i < COUNT(all) && !(all[i] && strcmp(names[n], all[i]->name) == 0))
			i++;
		if (i < COUNT(all) && kinds_n < PEERS_MAX)
			kinds[kinds_n++] = all[i];
		else
			printf("skipped: %s: it was not built\n", names[n]);
	}
}

int main(int argc, char **argv)
{
	bool killed = argc > 1 && strcmp(argv[1], "killed") == 0;
	int own = killed ? 3 : 5, readers = argc > 4 ? atoi(argv[4]) : 0;

	if (argc <= own || (!killed && (readers < 1 || readers > TRANSPORT_READERS_MAX))) {
		fprintf(stderr, "bench_peers run|quick FOLDER SECONDS READERS NAME..., or killed ROUNDS NAME...\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	choose(argv + own, argc - own);
	quick = strcmp(argv[1], "quick") == 0;
	if (killed)
		failures = peers_killed(kinds, kinds_n, (unsigned)atoi(argv[2]));
	else
		run_all(argv[2], atof(argv[3]), (unsigned)readers);
	return failures ? 1 : 0;
}
