/* killed.c: what a reader sees when a writer is killed in the middle of a message, and when the next writer comes.
 *
 * One reader stays; writers come one after the other.  Each sends 64 KiB without a pause, every message filled with one
 * byte, and is killed when it has been heard: at instants that are swept over two of its rounds of filling and sending.
 * Its note in shared memory says whether it was inside of a send.  The reader checks that each message is filled with
 * one byte.  A reader that does not hear the next writer is stuck, and a new one takes its place.  If that one does not
 * hear its first writer either, the whole library is stuck: the rounds end.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/bench/lib.h"
#include "test/bench/lib_figures.h"
#include "test/bench/peers/peers.h"

#define BEFORE 20 /* messages received before the kill */
#define LIMIT_S 10
#define SWEEP 2 /* of a writer's rounds */
#define ROUNDS_MAX 1000

struct watch {
	_Atomic bool joined;
	_Atomic uint32_t writer; /* the newest that was heard */
	_Atomic int64_t first_ns;
	_Atomic uint64_t received, torn; /* of it; of all */
	_Atomic uint64_t sends;		 /* of the living writer */
	_Atomic int64_t send_ns;	 /* what its sends and fillings take */
	_Atomic bool sending;
};

static struct victim { /* one transport */
	struct transport_link link;
	struct watch *watch;
	pid_t reader;
	uint32_t writer;
	unsigned kills, inside, torn, stuck, reader_died, heard;
	bool lost;			       /* a new reader does not hear a new writer */
	double first_ms, again_ms[ROUNDS_MAX]; /* until a writer is heard: the first, and those after a killed one */
} victims[PEERS_MAX];

static _Alignas(64) char buf[PEERS_SIZE_MAX];
static struct transport_message *const head = (void *)buf;

static bool filled_with_one_byte(const char *bytes, size_t size)
{
	const size_t start = sizeof(struct transport_message);

	return memcmp(bytes + start, bytes + start + 1, size - start - 1) == 0;
}

static _Noreturn void watch_writers(struct victim *victim)
{
	struct watch *watch = victim->watch;

	transport_join_receiving(&victim->link, 0);
	watch->joined = true;
	for (;;) {
		peers_receive(&victim->link, 0, buf, true);
		watch->torn += !filled_with_one_byte(buf, victim->link.size);
		if (head->turn > watch->writer) {
			watch->first_ns = bench_now_ns();
			watch->received = 0;
			watch->writer = head->turn;
		}
		watch->received++;
	}
}

static _Noreturn void write_until_killed(struct victim *victim)
{
	struct transport_link *link = &victim->link;
	struct watch *watch = victim->watch;

	transport_join_sending(link);
	for (unsigned char fill = 0;; fill++) {
		int64_t start_ns = bench_now_ns();

		memset(buf, fill, sizeof buf);
		*head = (struct transport_message){ .turn = victim->writer };
		watch->sending = true;
		watch->sends++;
		if (link->kind->loan) {
			memcpy(link->kind->loan(link), buf, link->size);
			link->kind->publish(link);
		} else {
			link->kind->send(link, buf);
		}
		watch->sending = false;
		watch->send_ns = bench_now_ns() - start_ns;
	}
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static bool wait_until(bool (*done)(const struct victim *), const struct victim *victim)
{
	int64_t limit_ns = bench_now_ns() + LIMIT_S * BENCH_NS_PER_S;

	while (!done(victim)) {
		if (bench_now_ns() > limit_ns)
			return false;
		bench_sleep_until_ns(bench_now_ns() + 1000000);
	}
	return true;
}

static bool joined(const struct victim *victim)
{
	return victim->watch->joined;
}

static bool heard(const struct victim *victim)
{
	return victim->watch->writer == victim->writer && victim->watch->received >= BEFORE;
}

static void start_reader(struct victim *victim, const struct transport *kind)
{
	memset(victim->watch, 0, sizeof *victim->watch);
	transport_open(&victim->link, kind, PEERS_SIZE_MAX, 1, peers_depth(PEERS_SIZE_MAX));
	victim->writer = 0;
	victim->reader = bench_fork();
	if (!victim->reader)
		watch_writers(victim);
	wait_until(joined, victim);
}

static void end_reader(struct victim *victim)
{
	if (waitpid(victim->reader, NULL, WNOHANG) == victim->reader)
		victim->reader_died++;
	else
		end(victim->reader);
	victim->torn += (unsigned)victim->watch->torn;
	transport_all_joined(&victim->link);
	transport_close(&victim->link);
}

/* The kill comes this part of the sweep after a send has begun. */
static void kill_writer(struct victim *victim, pid_t writer, double part)
{
	const struct watch *watch = victim->watch;
	uint64_t sends = watch->sends;
	int64_t limit_ns = bench_now_ns() + BENCH_NS_PER_S, when_ns;

	while (watch->sends == sends && bench_now_ns() < limit_ns)
		;
	when_ns = bench_now_ns() + (int64_t)(part * SWEEP * (double)watch->send_ns);
	while (bench_now_ns() < when_ns)
		;
	end(writer);
	victim->kills++;
	victim->inside += watch->sending;
}

static void run_round(struct victim *victim, const struct transport *kind, double part)
{
	int64_t start_ns;
	pid_t writer;

	if (victim->lost)
		return;
	if (!victim->reader)
		start_reader(victim, kind);
	victim->writer++;
	victim->watch->sends = 0;
	start_ns = bench_now_ns();
	writer = bench_fork();
	if (!writer)
		write_until_killed(victim);
	if (wait_until(heard, victim)) {
		double ms = (double)(victim->watch->first_ns - start_ns) / 1e6;

		if (victim->writer == 1)
			victim->first_ms = ms;
		else
			victim->again_ms[victim->heard++] = ms;
		kill_writer(victim, writer, part);
	} else {
		end(writer);
		if (victim->writer == 1)
			victim->lost = true;
		else
			victim->stuck++;
		end_reader(victim);
		victim->reader = 0;
	}
}

static void report(const char *name, struct victim *v)
{
	double median_ms = figures_median(v->again_ms, v->heard);

	printf("  %-14s %5u %6u %5u %5u %5u %9.1f", name, v->kills, v->inside, v->torn, v->stuck, v->reader_died,
	       v->first_ms);
	if (v->heard)
		printf(" %9.1f %9.1f", median_ms, figures_part(v->again_ms, v->heard, 1));
	if (v->lost)
		printf("  then no new reader heard a new writer");
	printf("\n");
	figures_line(v->torn, "messages", "peers.killed.%s.torn", name);
	figures_line(v->stuck, "kills", "peers.killed.%s.stuck", name);
	if (v->heard)
		figures_line(median_ms, "ms", "peers.killed.%s.again_p50", name);
	fflush(stdout);
}

unsigned peers_killed(const struct transport *const *kinds, size_t count, unsigned rounds)
{
	unsigned silent = 0;

	if (rounds > ROUNDS_MAX)
		bench_die("more than %d rounds", ROUNDS_MAX);
	for (size_t k = 0; k < count; k++)
		victims[k].watch = bench_shared(sizeof *victims[k].watch);
	for (unsigned round = 0; round < rounds; round++)
		for (size_t k = 0; k < count; k++)
			run_round(&victims[k], kinds[k], (double)round / rounds);
	if (!count)
		return 0;
	printf("killed: writers of 64 KiB are killed; inside: of a send; torn: messages of two sends that "
	       "were received;\n"
	       "stuck: the next writer was not heard within %d s; ms from the start of a writer to its first message\n"
	       "                 kills inside  torn stuck  died  first ms  next p50  next max\n",
	       LIMIT_S);
	for (size_t k = 0; k < count; k++) {
		if (victims[k].reader)
			end_reader(&victims[k]);
		report(kinds[k]->name, &victims[k]);
		silent += !victims[k].kills;
		munmap(victims[k].watch, sizeof *victims[k].watch);
	}
	figures_print();
	return silent;
}
