/* bench_latency.c: from just before the put until a sleeping reader in another process has the message.
 *
 * One interleaved run: every configuration is visited in several passes, and
 * within a visit the transports take turns in slices of 30 ms, so that a change
 * of the machine's speed affects all of them.  Compare inside a run only.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test/bench/lib.h"
#include "test/bench/lib_figures.h"
#include "test/bench/lib_transport.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define PASSES 2
#define SECONDS 150.0	/* usual length of the whole run */
#define SHARE_SLOW 0.75 /* of it for 1 kHz, where messages are rare */
#define WARM_UP 2	/* messages of a slice not counted: the transport before left its traces in the caches */
#define TARGET_RATIO 1.15
#define TARGET_RATIO_SET 1.2

/* A turn round all transports takes less than the 250 ms after which a waiter
 * looks around by itself, so that idle readers of one do not disturb another. */
#define SLICE_NS 30000000ll

/* All alike: on one core a reader starts when the sender has finished its beat and sleeps. */
#define PRIORITY 50

static const struct transport *const transports[] = {
	&transport_ach,	 &transport_achfd, &transport_achset, &transport_futex,
	&transport_pipe, &transport_dgram, &transport_mq,
};
#define TRANSPORTS COUNT(transports)
#define TIMER TRANSPORTS /* takes a slice as if it were one more: how late the sender itself wakes up */

enum { ACH, ACHFD, ACHSET, FUTEX }; /* as above */

static const struct rate {
	const char *name;
	int64_t period_ns;
	double share;
} rates[] = {
	{ "1khz", 1000000, SHARE_SLOW },
	{ "8khz", 125000, 1 - SHARE_SLOW },
};
static const unsigned reader_counts[] = { 1, 2, TRANSPORT_READERS_MAX };
static const struct size {
	const char *name;
	size_t bytes;
} sizes[] = { { "64B", 64 }, { "1KiB", TRANSPORT_SIZE_MAX } };
static const struct placement {
	const char *name;
	unsigned cores;
} places[] = { { "onecore", 1 }, { "across", 2 } };

struct configuration {
	const struct rate *rate;
	const struct size *size;
	const struct placement *place;
	unsigned readers;
	char name[64];
	uint64_t sent; /* per reader and transport, not counting warm-up */
	struct figures_samples *samples[TRANSPORTS];
};

static struct figures_samples *timer_samples[COUNT(rates)];
static bool fifo;

/* ---- readers ---- */

static unsigned reader_core(const struct configuration *configuration, unsigned reader)
{
	return configuration->place->cores == 1 ? 0 : 1 + reader % (bench_cores() - 1);
}

static _Noreturn void read_until_told(struct transport_link *link, unsigned reader, struct figures_samples *samples,
				      unsigned core, struct bench_gate *gate)
{
	_Alignas(8) char buf[TRANSPORT_SIZE_MAX];
	const struct transport_message *head = (const void *)buf;

	bench_pin(core);
	if (fifo)
		bench_fifo(PRIORITY);
	bench_lock_memory();
	transport_join_receiving(link, reader);
	bench_gate_pass(gate);
	for (;;) {
		int64_t now_ns;

		link->kind->receive(link, reader, buf);
		now_ns = bench_now_ns();
		if (head->note == TRANSPORT_QUIT)
			_exit(0);
		if (head->note == TRANSPORT_SAMPLE)
			figures_samples_add(samples, now_ns - head->sent_ns);
	}
}

/* ---- the sender ---- */

/* The next instant of the beat; after an interruption not the ones that were missed, which would come as a burst. */
static int64_t next_beat_ns(int64_t beat_ns, int64_t period_ns)
{
	int64_t now_ns = bench_now_ns();

	beat_ns += period_ns;
	return beat_ns > now_ns ? beat_ns : now_ns + period_ns;
}

/* link NULL: nothing is sent, the sender's own lateness is the sample. */
static int64_t run_slice(struct transport_link *link, const struct rate *rate, struct figures_samples *timer,
			 int64_t beat_ns)
{
	static _Alignas(8) char message[TRANSPORT_SIZE_MAX];

	for (int64_t i = 0; i < SLICE_NS / rate->period_ns; i++) {
		beat_ns = next_beat_ns(beat_ns, rate->period_ns);
		bench_sleep_until_ns(beat_ns);
		if (link)
			transport_send(link, message, i < WARM_UP ? TRANSPORT_WARM_UP : TRANSPORT_SAMPLE);
		else if (i >= WARM_UP)
			figures_samples_add(timer, bench_now_ns() - beat_ns);
	}
	return beat_ns;
}

/* Before the first beat and after the last: readers on one core start, and end, one after the other. */
#define SETTLE_NS 20000000ll

static void run_turns(struct transport_link *links, const struct rate *rate, struct figures_samples *timer,
		      unsigned turns, bool backwards)
{
	int64_t beat_ns = bench_now_ns() + SETTLE_NS;

	for (unsigned turn = 0; turn < turns; turn++)
		for (unsigned i = 0; i <= TRANSPORTS; i++) {
			unsigned t = backwards ? TRANSPORTS - i : i;

			beat_ns = run_slice(t == TIMER ? NULL : &links[t], rate, timer, beat_ns);
		}
	bench_sleep_until_ns(beat_ns + SETTLE_NS);
}

static void visit(struct configuration *configuration, unsigned turns, bool backwards)
{
	const struct rate *rate = configuration->rate;
	uint32_t messages = turns * (uint32_t)(SLICE_NS / rate->period_ns - WARM_UP);
	struct figures_samples *samples[TRANSPORTS][TRANSPORT_READERS_MAX];
	struct figures_samples *timer = figures_samples_shared(messages);
	struct figures_samples **timer_all = &timer_samples[rate - rates];
	struct transport_link links[TRANSPORTS];
	pid_t pids[TRANSPORTS * TRANSPORT_READERS_MAX];
	static _Alignas(8) char message[TRANSPORT_SIZE_MAX];
	struct bench_gate gate;
	size_t children = 0;

	bench_hang_limit(60 + turns * (TRANSPORTS + 1) * (double)SLICE_NS / BENCH_NS_PER_S * 2);
	bench_gate_open(&gate);
	for (unsigned t = 0; t < TRANSPORTS; t++)
		transport_open(&links[t], transports[t], configuration->size->bytes, configuration->readers,
			       ACH_DEFAULT_FRAME_COUNT);
	for (unsigned t = 0; t < TRANSPORTS; t++)
		for (unsigned r = 0; r < configuration->readers; r++) {
			samples[t][r] = figures_samples_shared(messages);
			pids[children] = bench_fork();
			if (!pids[children++])
				read_until_told(&links[t], r, samples[t][r], reader_core(configuration, r), &gate);
		}
	for (unsigned t = 0; t < TRANSPORTS; t++)
		transport_join_sending(&links[t]);
	bench_gate_wait(&gate, children);
	for (unsigned t = 0; t < TRANSPORTS; t++)
		transport_all_joined(&links[t]);

	bench_pin(0);
	if (fifo)
		bench_fifo(PRIORITY);
	run_turns(links, rate, timer, turns, backwards);
	bench_fifo(0);

	for (unsigned t = 0; t < TRANSPORTS; t++)
		transport_send(&links[t], message, TRANSPORT_QUIT);
	bench_reap(pids, children);
	bench_hang_limit(0);
	for (unsigned t = 0; t < TRANSPORTS; t++) {
		for (unsigned r = 0; r < configuration->readers; r++) {
			configuration->samples[t] = figures_samples_append(configuration->samples[t], samples[t][r]);
			munmap(samples[t][r], figures_samples_size(messages));
		}
		transport_close(&links[t]);
	}
	configuration->sent += messages;
	*timer_all = figures_samples_append(*timer_all, timer);
	munmap(timer, figures_samples_size(messages));
}

/* ---- results ---- */

static const struct quantile {
	const char *name;
	double part;
} quantiles[] = { { "p50", 0.5 }, { "p99", 0.99 }, { "p99.9", 0.999 }, { "max", 1 } };

static void report_row(const struct figures_samples *sorted, const char *name)
{
	for (size_t i = 0; i < COUNT(quantiles); i++) {
		double us = figures_quantile_us(sorted, quantiles[i].part);

		printf(" %9.2f", us);
		figures_line(us, "us", "latency.%s.%s", name, quantiles[i].name);
	}
}

static double p50_ratio(const struct configuration *configuration, unsigned t)
{
	return figures_quantile_us(configuration->samples[t], 0.5) /
	       figures_quantile_us(configuration->samples[FUTEX], 0.5);
}

static void report(struct configuration *configuration)
{
	char name[96];

	for (unsigned t = 0; t < TRANSPORTS; t++)
		figures_samples_sort(configuration->samples[t]);
	printf("\n%-28s       p50       p99     p99.9       max   missed  p50 / futex\n", configuration->name);
	for (unsigned t = 0; t < TRANSPORTS; t++) {
		const struct figures_samples *samples = configuration->samples[t];
		uint64_t wanted = configuration->sent * configuration->readers;

		printf("  %-26s", transports[t]->name);
		snprintf(name, sizeof name, "%s.%s", configuration->name, transports[t]->name);
		report_row(samples, name);
		printf(" %8lld       %5.2f", (long long)(wanted - samples->count), p50_ratio(configuration, t));
		if (t == ACH || t == ACHSET) {
			const double target = t == ACH ? TARGET_RATIO : TARGET_RATIO_SET;

			printf("  %s (target %.2f)",
			       figures_target(p50_ratio(configuration, t), target, "latency.%s.ratio", name), target);
		} else if (t != FUTEX) {
			figures_line(p50_ratio(configuration, t), "x", "latency.%s.ratio", name);
		}
		printf("\n");
	}
}

static void report_timer(const struct rate *rate)
{
	struct figures_samples *samples = timer_samples[rate - rates];
	char name[64];

	figures_samples_sort(samples);
	snprintf(name, sizeof name, "%s.timer", rate->name);
	printf("  %-26s", name);
	report_row(samples, name);
	printf("\n");
}

/* Values of one bin differ by less than 1 %. */
static uint32_t bin(uint32_t ns)
{
	unsigned shift = 31 - (unsigned)__builtin_clz(ns | 128) - 7;

	return shift << 8 | ns >> shift;
}

/* For the plot: a named block per transport, in it a line per bin of latencies. */
static void write_distribution(const struct configuration *configuration, const char *folder)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof path, "%s/latency.%s.dat", folder, configuration->name);
	file = fopen(path, "w");
	if (!file)
		bench_die("unable to write %s", path);
	fprintf(file, "# latency in us, part of the messages that took no longer, messages\n");
	for (unsigned t = 0; t < TRANSPORTS; t++) {
		const struct figures_samples *sorted = configuration->samples[t];
		uint32_t first = 0;

		fprintf(file, "\n\n# %s\n", transports[t]->name);
		for (uint32_t i = 0; i < sorted->count; i++) {
			if (i + 1 < sorted->count && bin(sorted->ns[i + 1]) == bin(sorted->ns[i]))
				continue;
			fprintf(file, "%.2f %.6f %u\n", sorted->ns[i] / 1e3, (i + 1.0) / sorted->count, i + 1 - first);
			first = i + 1;
		}
	}
	if (fclose(file))
		bench_die("unable to write %s", path);
}

/* ---- the run ---- */

static size_t make_configurations(struct configuration *configurations)
{
	size_t count = 0;

	for (size_t rate = 0; rate < COUNT(rates); rate++)
		for (size_t readers = 0; readers < COUNT(reader_counts); readers++)
			for (size_t size = 0; size < COUNT(sizes); size++)
				for (size_t place = 0; place < COUNT(places); place++) {
					struct configuration *one = &configurations[count];

					if (places[place].cores > bench_cores())
						continue;
					one->rate = &rates[rate];
					one->readers = reader_counts[readers];
					one->size = &sizes[size];
					one->place = &places[place];
					snprintf(one->name, sizeof one->name, "%s.%ur.%s.%s", one->rate->name,
						 one->readers, one->size->name, one->place->name);
					for (unsigned t = 0; t < TRANSPORTS; t++)
						one->samples[t] = figures_samples_new();
					count++;
				}
	return count;
}

static unsigned turns_per_visit(const struct configuration *configuration, size_t count)
{
	double seconds = bench_seconds(SECONDS) * configuration->rate->share / ((double)count / COUNT(rates)) / PASSES;
	double turn = (TRANSPORTS + 1) * (double)SLICE_NS / BENCH_NS_PER_S;

	return seconds > turn ? (unsigned)(seconds / turn) : 1;
}

int main(int argc, char **argv)
{
	struct configuration configurations[COUNT(rates) * COUNT(reader_counts) * COUNT(sizes) * COUNT(places)] = { 0 };
	size_t count = make_configurations(configurations);

	for (size_t rate = 0; rate < COUNT(rates); rate++)
		timer_samples[rate] = figures_samples_new();
	fifo = bench_fifo(PRIORITY) && bench_fifo(0);
	printf("latency: from put to a sleeping reader in another process, us, about %.0f s\n", bench_seconds(SECONDS));
	printf("  %s; sender on one core, readers on %s\n",
	       fifo ? "SCHED_FIFO, all of one priority" : "SCHED_FIFO was refused: ordinary scheduling",
	       bench_cores() > 1 ? "the same (onecore) or the others (across)" : "the same: it has no other");
	fflush(stdout);
	for (unsigned pass = 0; pass < PASSES; pass++)
		for (size_t i = 0; i < count; i++)
			visit(&configurations[i], turns_per_visit(&configurations[i], count), pass % 2);

	printf("\n%-28s       p50       p99     p99.9       max\n", "bare timer, lateness");
	for (size_t rate = 0; rate < COUNT(rates); rate++)
		report_timer(&rates[rate]);
	for (size_t i = 0; i < count; i++) {
		report(&configurations[i]);
		if (argc > 1)
			write_distribution(&configurations[i], argv[1]);
	}
	figures_print();
	return 0;
}
