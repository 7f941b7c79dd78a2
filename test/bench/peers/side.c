/* side.c: see side.h.
 *
 * Every message has the number of its turn.  After a turn the sender announces the next one until all readers have
 * heard of it: transports deliver in order, so by then nothing of the turn is on its way, and a reader that finds some
 * all the same does not count it.  A turn ends when the last reader has heard the announcement: what a flood has left
 * in queues counts, and so does the time that it takes to receive it.
 */
#include "test/bench/peers/side.h"

#include <dirent.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/bench/lib.h"

#define WARM_UP 5	       /* messages of a latency turn not counted */
#define LOST_NS 50000000ll     /* a message that did not come for this long counts as lost */
#define ANNOUNCE_NS 1000000ll  /* between announcements, of which some are lost */
#define LOOK_NS 50000ll	       /* between looks whether readers have heard one */
#define JOIN_S 30	       /* until all readers of a sender have heard it */
#define DRAIN_S 10	       /* until all readers have heard of the next turn */
#define ANSWER_S (DRAIN_S + 5) /* of a sender, beside the slice itself */
#define QUIT_S 5
#define AGE_EVERY 64 /* messages of a flood, of which the age of one is taken */

static _Alignas(64) char message[PEERS_SIZE_MAX];
static struct transport_message *const head = (void *)message;

/* ---- a reader ---- */

static _Noreturn void run_reader(struct side *side, unsigned r)
{
	struct side_reader *me = &side->shared->readers[r];
	uint64_t received = 0;
	uint32_t turn = 0;

	transport_join_receiving(&side->link, r);
	for (;;) {
		int64_t now_ns = 0;

		peers_receive(&side->link, r, message, false);
		if (side->timed || head->turn > turn)
			now_ns = bench_now_ns();
		if (head->turn > turn) {
			turn = head->turn;
			me->turned_ns = now_ns;
			me->turn = turn;
		}
		if (head->note == TRANSPORT_QUIT)
			break;
		if (head->note != TRANSPORT_SAMPLE || head->turn != turn)
			continue;
		if (side->timed)
			figures_samples_add(side->samples[r], now_ns - head->sent_ns);
		else if (head->sent_ns && received % AGE_EVERY == 0)
			figures_samples_add(side->samples[r], bench_now_ns() - head->sent_ns);
		atomic_store_explicit(&me->received, ++received, memory_order_release);
	}
	me->gone = true;
	transport_close(&side->link);
	_exit(0);
}

/* ---- the sender ---- */

static void send_note(struct side *side, enum transport_note note)
{
	head->note = note;
	head->turn = side->turn;
	peers_send(&side->link, message);
}

static bool all_turned(const struct side *side)
{
	for (unsigned r = 0; r < side->link.readers; r++)
		if (side->shared->readers[r].turn != side->turn)
			return false;
	return true;
}

static bool next_turn(struct side *side, enum transport_note note, int64_t limit_s)
{
	int64_t limit_ns = bench_now_ns() + limit_s * BENCH_NS_PER_S, again_ns = 0;

	for (side->turn++; !all_turned(side);) {
		int64_t now_ns = bench_now_ns();

		if (now_ns > limit_ns)
			return false;
		if (now_ns > again_ns) {
			send_note(side, note);
			again_ns = bench_now_ns() + ANNOUNCE_NS;
		}
		bench_sleep_until_ns(bench_now_ns() + LOOK_NS);
	}
	return true;
}

static uint64_t send_on_beat(struct side *side)
{
	int64_t beat_ns = bench_now_ns(), sent = 0;

	for (; sent < side->slice_ns / SIDE_PERIOD_NS; sent++) {
		int64_t now_ns = bench_now_ns();

		beat_ns = beat_ns + SIDE_PERIOD_NS > now_ns ? beat_ns + SIDE_PERIOD_NS : now_ns + SIDE_PERIOD_NS;
		bench_sleep_until_ns(beat_ns);
		head->sent_ns = bench_now_ns();
		send_note(side, sent < WARM_UP ? TRANSPORT_WARM_UP : TRANSPORT_SAMPLE);
	}
	return (uint64_t)sent - WARM_UP;
}

static uint64_t send_flood(struct side *side)
{
	int64_t end_ns = bench_now_ns() + side->slice_ns;
	uint64_t sent = 0;

	for (;;) {
		if (sent % 16 == 0)
			head->sent_ns = bench_now_ns(); /* often enough for an age, and does not slow the flood */
		if (head->sent_ns > end_ns)
			return sent;
		send_note(side, TRANSPORT_SAMPLE);
		sent++;
	}
}

/* Until a reader has room in its window.  passed: what it has received, and what counts as lost. */
static void wait_for_room(const struct side_reader *reader, uint64_t sent, uint64_t *before)
{
	int64_t limit_ns = 0;

	for (;;) {
		uint64_t passed = atomic_load_explicit(&reader->received, memory_order_acquire) - *before;

		if (passed > sent) { /* it was late, not lost */
			*before += passed - sent;
			passed = sent;
		}
		if (sent < passed + SIDE_WINDOW_SIZE)
			return;
		if (!limit_ns)
			limit_ns = bench_now_ns() + LOST_NS;
		if (bench_now_ns() > limit_ns)
			*before -= sent - passed;
		else
			sched_yield();
	}
}

static uint64_t send_window(struct side *side)
{
	uint64_t before[TRANSPORT_READERS_MAX], sent = 0;
	int64_t end_ns = bench_now_ns() + side->slice_ns;

	head->sent_ns = 0; /* ages are of interest in a flood */
	for (unsigned r = 0; r < side->link.readers; r++)
		before[r] = side->shared->readers[r].received;
	while (sent % 16 || bench_now_ns() < end_ns) {
		for (unsigned r = 0; r < side->link.readers; r++)
			wait_for_room(&side->shared->readers[r], sent, &before[r]);
		send_note(side, TRANSPORT_SAMPLE);
		sent++;
	}
	return sent;
}

static uint64_t received(const struct side *side)
{
	uint64_t sum = 0;

	for (unsigned r = 0; r < side->link.readers; r++)
		sum += side->shared->readers[r].received;
	return sum;
}

static bool run_slice(struct side *side, enum side_order order)
{
	static uint64_t (*const sends[SIDE_MEASURES])(struct side *) = { send_on_beat, send_flood, send_window };
	struct side_tally *tally = &side->shared->tallies[order];
	int64_t start_ns = bench_now_ns(), end_ns = start_ns;
	uint64_t before = received(side), sent = sends[order](side);

	if (!next_turn(side, TRANSPORT_WARM_UP, DRAIN_S))
		return false;
	for (unsigned r = 0; r < side->link.readers; r++)
		if (side->shared->readers[r].turned_ns > end_ns)
			end_ns = side->shared->readers[r].turned_ns;
	tally->sent += sent;
	tally->received += received(side) - before;
	tally->spent_ns += end_ns - start_ns;
	return true;
}

static _Noreturn void run_sender(struct side *side)
{
	char order;

	transport_join_sending(&side->link);
	if (!next_turn(side, TRANSPORT_WARM_UP, JOIN_S))
		_exit(1);
	for (;;) {
		if (write(side->answers[1], "", 1) != 1 || read(side->orders[0], &order, 1) != 1)
			_exit(1);
		if (order == SIDE_QUIT)
			break;
		if (!run_slice(side, (enum side_order)order))
			_exit(1);
	}
	next_turn(side, TRANSPORT_QUIT, QUIT_S);
	transport_close(&side->link);
	_exit(0);
}

/* ---- the parent ---- */

static void answered(struct side *side, int64_t limit_ns, const char *what)
{
	struct pollfd answer = { .fd = side->answers[0], .events = POLLIN };
	char byte;

	side->works = poll(&answer, 1, (int)(limit_ns / 1000000)) == 1 && read(side->answers[0], &byte, 1) == 1;
	if (!side->works)
		printf("  %s: %s (%u readers of %zu B)\n", side->link.kind->name, what, side->link.readers,
		       side->link.size);
}

void side_start(struct side *side, const struct transport *kind, size_t size, unsigned readers, int64_t slice_ns,
		bool timed, uint32_t samples)
{
	memset(side, 0, sizeof *side);
	side->shared = bench_shared(sizeof *side->shared);
	side->slice_ns = slice_ns;
	side->timed = timed;
	transport_open(&side->link, kind, size, readers, peers_depth(size));
	for (unsigned r = 0; r < readers; r++) {
		side->samples[r] = figures_samples_shared(samples);
		side->readers[r] = bench_fork();
		if (!side->readers[r])
			run_reader(side, r);
	}
	if (pipe(side->orders) || pipe(side->answers)) /* not readers': the end of a sender must end its pipe */
		bench_die("unable to make a pipe");
	side->sender = bench_fork();
	if (!side->sender) {
		close(side->answers[0]);
		close(side->orders[1]);
		run_sender(side);
	}
	close(side->answers[1]);
	close(side->orders[0]);
}

void side_wait_joined(struct side *side)
{
	answered(side, (JOIN_S + 5) * BENCH_NS_PER_S, "readers did not hear their sender");
	transport_all_joined(&side->link);
}

static void set_priority(pid_t pid, int priority)
{
	const struct sched_param param = { .sched_priority = priority };
	char path[64];
	struct dirent *thread;
	DIR *threads;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	threads = opendir(path);
	while (threads && (thread = readdir(threads)))
		if (atoi(thread->d_name))
			sched_setscheduler(atoi(thread->d_name), priority ? SCHED_FIFO : SCHED_OTHER, &param);
	if (threads)
		closedir(threads);
}

void side_set_priority(struct side *side, int priority)
{
	set_priority(side->sender, priority);
	for (unsigned r = 0; r < side->link.readers; r++)
		set_priority(side->readers[r], priority);
}

static bool give_order(struct side *side, enum side_order order)
{
	const char byte = (char)order;

	return write(side->orders[1], &byte, 1) == 1;
}

void side_turn(struct side *side, enum side_order order)
{
	if (!side->works)
		return;
	give_order(side, order); /* a dead sender does not answer */
	answered(side, side->slice_ns + ANSWER_S * BENCH_NS_PER_S, "a turn did not end");
}

void side_quit(struct side *side)
{
	if (!side->works || !give_order(side, SIDE_QUIT))
		kill(side->sender, SIGKILL);
}

static void reap(pid_t pid, int64_t limit_ns)
{
	while (waitpid(pid, NULL, WNOHANG) == 0) {
		if (bench_now_ns() > limit_ns)
			kill(pid, SIGKILL);
		bench_sleep_until_ns(bench_now_ns() + ANNOUNCE_NS);
	}
}

void side_end(struct side *side)
{
	int64_t limit_ns = bench_now_ns() + (side->works ? (QUIT_S + 1) * BENCH_NS_PER_S : 0);

	reap(side->sender, limit_ns);
	for (unsigned r = 0; r < side->link.readers; r++) {
		reap(side->readers[r], side->shared->readers[r].gone ? limit_ns : 0);
		munmap(side->samples[r], figures_samples_size(side->samples[r]->room));
	}
	munmap(side->shared, sizeof *side->shared);
	close(side->answers[0]);
	close(side->orders[1]);
	transport_close(&side->link);
}
