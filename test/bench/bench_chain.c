/* bench_chain.c: through a row of processes, each of which sleeps for a message and hands it to the next.
 *
 * The transports take turns message by message.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>

#include "test/bench/lib.h"
#include "test/bench/lib_figures.h"
#include "test/bench/lib_transport.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define SIZE 64
#define LONGEST 32
#define MESSAGES 300 /* of each transport and length */
#define WARM_UP 10
#define PAUSE_NS 500000 /* between messages, so that every reader sleeps again */
#define PRIORITY 50

static const struct transport *const transports[] = { &transport_ach, &transport_futex, &transport_pipe };
#define TRANSPORTS COUNT(transports)
enum { ACH, FUTEX };

static const unsigned lengths[] = { 1, 2, 4, 8, 16, LONGEST };

struct chain {
	struct transport_link links[LONGEST + 1]; /* into each process, and out of the last */
	pid_t pids[LONGEST];
	unsigned length;
};

static bool fifo;

static void set_up(unsigned core)
{
	bench_pin(core);
	if (fifo)
		bench_fifo(PRIORITY);
	bench_lock_memory();
}

static _Noreturn void pass_on(struct transport_link *in, struct transport_link *out, struct bench_gate *gate)
{
	_Alignas(8) char message[SIZE];
	const struct transport_message *head = (const void *)message;

	transport_join_receiving(in, 0);
	transport_join_sending(out);
	bench_gate_pass(gate);
	do {
		in->kind->receive(in, 0, message);
		out->kind->send(out, message);
	} while (head->note != TRANSPORT_QUIT);
	_exit(0);
}

static void start(struct chain *chain, const struct transport *kind, unsigned length, unsigned cores)
{
	struct bench_gate gate;

	chain->length = length;
	bench_gate_open(&gate);
	for (unsigned i = 0; i <= length; i++)
		transport_open(&chain->links[i], kind, SIZE, 1, ACH_DEFAULT_FRAME_COUNT);
	for (unsigned i = 0; i < length; i++) {
		chain->pids[i] = bench_fork();
		if (chain->pids[i])
			continue;
		set_up((i + 1) % cores);
		pass_on(&chain->links[i], &chain->links[i + 1], &gate);
	}
	transport_join_sending(&chain->links[0]);
	transport_join_receiving(&chain->links[length], 0);
	bench_gate_wait(&gate, length);
	for (unsigned i = 0; i <= length; i++)
		transport_all_joined(&chain->links[i]);
}

static int64_t round_trip_ns(struct chain *chain, enum transport_note note)
{
	static _Alignas(8) char message[SIZE], answer[SIZE];
	struct transport_link *last = &chain->links[chain->length];

	transport_send(&chain->links[0], message, note);
	last->kind->receive(last, 0, answer);
	return bench_now_ns() - ((struct transport_message *)answer)->sent_ns;
}

static void end(struct chain *chain)
{
	round_trip_ns(chain, TRANSPORT_QUIT);
	bench_reap(chain->pids, chain->length);
	for (unsigned i = 0; i <= chain->length; i++)
		transport_close(&chain->links[i]);
}

static void measure(unsigned length, unsigned cores, struct figures_samples *samples[TRANSPORTS])
{
	static struct chain chains[TRANSPORTS];

	bench_hang_limit(120);
	for (size_t t = 0; t < TRANSPORTS; t++)
		start(&chains[t], transports[t], length, cores);
	set_up(0);
	for (unsigned i = 0; i < WARM_UP + MESSAGES; i++)
		for (size_t t = 0; t < TRANSPORTS; t++) {
			size_t turn = (t + i) % TRANSPORTS;
			int64_t ns;

			bench_sleep_until_ns(bench_now_ns() + PAUSE_NS);
			ns = round_trip_ns(&chains[turn], TRANSPORT_SAMPLE);
			if (i >= WARM_UP)
				figures_samples_add(samples[turn], ns);
		}
	bench_fifo(0);
	for (size_t t = 0; t < TRANSPORTS; t++)
		end(&chains[t]);
	bench_hang_limit(0);
}

static void report(unsigned length, const char *place, struct figures_samples *samples[TRANSPORTS])
{
	double hops = length + 1; /* into each process, and back to the first */
	double ratio;

	printf("  %-8s %5u", place, length);
	for (size_t t = 0; t < TRANSPORTS; t++) {
		double p50, p99;

		figures_samples_sort(samples[t]);
		p50 = figures_quantile_us(samples[t], 0.5);
		p99 = figures_quantile_us(samples[t], 0.99);
		printf("  |%8.1f%8.1f%7.2f", p50, p99, p50 / hops);
		figures_line(p50, "us", "chain.%s.%u.%s.p50", place, length, transports[t]->name);
		figures_line(p99, "us", "chain.%s.%u.%s.p99", place, length, transports[t]->name);
		figures_line(p50 / hops, "us", "chain.%s.%u.%s.hop", place, length, transports[t]->name);
	}
	ratio = figures_quantile_us(samples[ACH], 0.5) / figures_quantile_us(samples[FUTEX], 0.5);
	printf("  | %5.2f\n", ratio);
	figures_line(ratio, "x", "chain.%s.%u.ach.ratio", place, length);
	fflush(stdout);
}

int main(void)
{
	struct figures_samples *samples[TRANSPORTS];

	fifo = bench_fifo(PRIORITY) && bench_fifo(0);
	for (size_t t = 0; t < TRANSPORTS; t++)
		samples[t] = figures_samples_shared(MESSAGES);
	printf("chain: through a row of processes and back, %d B, us, %s\n", SIZE,
	       fifo ? "SCHED_FIFO" : "SCHED_FIFO was refused: ordinary scheduling");
	printf("                ");
	for (size_t t = 0; t < TRANSPORTS; t++)
		printf("  | %-22s", transports[t]->name);
	printf("  | ach /\n  place    count");
	for (size_t t = 0; t < TRANSPORTS; t++)
		printf("  |     p50     p99    hop");
	printf("  | futex\n");
	for (unsigned cores = 1; cores <= 2 && cores <= bench_cores(); cores++)
		for (size_t i = 0; i < COUNT(lengths); i++) {
			for (size_t t = 0; t < TRANSPORTS; t++)
				samples[t]->count = 0;
			measure(lengths[i], cores, samples);
			report(lengths[i], cores == 1 ? "onecore" : "across", samples);
		}
	figures_print();
	return 0;
}
