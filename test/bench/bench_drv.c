/* bench_drv.c: what the common loop costs: pciod beside a driver of 40 lines written by hand (plain_pcio.c).
 *
 *	bench_drv FOLDER	FOLDER/.. holds the programs; buses and channels live in FOLDER
 *
 * Both drive a module of their own, played by this process, on a soft wire of their own, with a tick for each
 * reference: every 3 ms, because a tick takes 0.8 ms of the wire, and every 10 ms.  References go to both in turn, so
 * that a change of the machine's speed affects both.  Each round starts new processes, because the place of a process
 * in memory and caches lasts for its lifetime and is worth a microsecond; each ratio is the median of those of the
 * rounds.  Measured:
 *
 *	ref	from right before the put of the reference to the first bit of the move on the wire
 *	state	from the last bit of the last reply on the wire until a reader has the state
 *	round	from right before the put of the reference until a reader has the state
 *	cpu	of the process, for a tick
 *
 * All run on one core, which does not halt: beside or apart from canwire a tick costs half or twice as much, and after
 * a halt most of it is the core's way back.
 *
 * The wire delivers each frame at its end, as a controller does.  With canwire's usual gap of 100 us, state would
 * depend on which frames happen to share a delivery.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "can/bus/bits.h"
#include "can/bus/bus.h"
#include "channels/ach/ach.h"
#include "channels/clock/clock.h"
#include "channels/msg/msg.h"
#include "test/bench/lib.h"
#include "test/bench/lib_figures.h"
#include "test/lib/estop_talk.h"

#define MODULE 15
#define WARM_UP 100
#define ROUNDS 12
#define SECONDS 1.5 /* of a round */
#define ANSWERS 4

enum figure { FIGURE_REF, FIGURE_STATE, FIGURE_ROUND, FIGURE_CPU, FIGURES };
static const char *const figure_names[] = { "ref", "state", "round", "cpu" };

struct side {
	const char *name, *wire;
	char prefix[48];
	pid_t pid;
	struct bus *bus; /* our end: the module's */
	ach_channel_t ref, state;
	struct figures_samples *now[FIGURES], *all[FIGURES]; /* of this round, and of those before it */
	int64_t cpu_ns;					     /* of the process so far; 0: not read */
	uint32_t incarnation;
};

static char folder[256], programs[280];
static int64_t period_ns; /* from reference to reference, which go to both in turn */

/* ---- the module ---- */

static void put_f32(uint8_t *to, float value)
{
	memcpy(to, &value, sizeof(value)); /* both architectures are little endian, as the module is */
}

/* The module's reply, by hw-docs/devices/powercube.md; false: none. */
static bool answer(const struct frame *asked, struct frame *reply)
{
	static const struct {
		uint8_t parameter;
		uint32_t word;
		float real;
		uint8_t len;
	} values[] = {
		{ 0x27, 0x8002, 0, 4 }, { 0x39, 0x01000118, 0, 4 }, { 0x1A, 1, 0, 4 },	   { 0x1D, 0x2501, 0, 2 },
		{ 0x3C, 0, -1, 4 },	{ 0x41, 0, 0, 4 },	    { 0x4D, 0, 0, 4 },	   { 0x45, 0, -2.88f, 4 },
		{ 0x46, 0, 0, 4 },	{ 0x48, 0, 0.43f, 4 },	    { 0x4A, 0, 1.74f, 4 }, { 0x4C, 0, 10, 4 },
		{ 0x59, 0, 0, 4 },
	};

	memset(reply, 0, sizeof(*reply));
	reply->id = 0x0A0 + MODULE;
	reply->data[0] = asked->data[0];
	reply->data[1] = asked->data[1];
	if (asked->id == 0x0E0 + MODULE && asked->data[0] == 0x0B) {
		reply->len = 8;
		put_f32(reply->data + 2, -1);
		return true;
	}
	if (asked->id == 0x0E0 + MODULE) {
		reply->len = asked->data[0] == 0x08 ? 3 : 1;
		reply->data[2] = 0x64;
		return true;
	}
	for (size_t i = 0; asked->id == 0x0C0 + MODULE && i < sizeof(values) / sizeof(*values); i++) {
		if (values[i].parameter != asked->data[1])
			continue;
		reply->len = 2 + values[i].len;
		memcpy(reply->data + 2, &values[i].word, 4);
		if (!values[i].word && values[i].len == 4)
			put_f32(reply->data + 2, values[i].real);
		return true;
	}
	return false;
}

/* Plays the module until the deadline.  When the first move was on the wire, and how many answers were sent. */
struct played {
	int64_t move_ns, last_answer_ns;
	unsigned int answers, echoes;
};

static void play(struct side *s, struct played *p)
{
	struct bus_frame got[16];
	struct frame reply;
	const int n = bus_receive(s->bus, got, 16);

	for (int i = 0; i < n; i++) {
		struct bits bits;

		if (got[i].flags & BUS_OWN) {
			p->echoes++;
			p->last_answer_ns = got[i].t_ns;
			continue;
		}
		bits_of(&bits, &got[i].frame);
		if (got[i].frame.id == 0x0E0 + MODULE && got[i].frame.data[0] == 0x0B && !p->move_ns)
			p->move_ns = got[i].t_ns - bits.all * 1000;
		if (answer(&got[i].frame, &reply) && !bus_send(s->bus, &reply))
			p->answers++;
	}
}

static void play_until(struct side *const *sides, int64_t until_ns)
{
	struct played p = { 0 };

	while (clock_now_ns() < until_ns) {
		struct clock_fd fds[2];

		for (int i = 0; i < 2; i++)
			fds[i] = (struct clock_fd){ .fd = bus_fd(sides[i]->bus), .events = POLLIN };
		clock_wait(fds, 2, until_ns);
		for (int i = 0; i < 2; i++)
			play(sides[i], &p);
	}
}

/* ---- one reference ---- */

static bool newest(struct side *s, struct msg_joint_state *state)
{
	size_t len;

	const enum ach_status status = ach_get(&s->state, state, sizeof(*state), &len, NULL, ACH_O_LAST);

	return (status == ACH_OK || status == ACH_MISSED_FRAME) && len == sizeof(*state);
}

static void one(struct side *s, bool counts)
{
	static struct msg_joint_state state;
	static struct msg_joint_ref ref;
	struct played p = { 0 };
	const int64_t from_ns = clock_now_ns();
	bool complete = false;

	while (newest(s, &state))
		s->incarnation = state.header.incarnation;
	msg_init(&ref, msg_type_by_number(msg_joint_ref_number));
	ref.count = 1;
	ref.mode[0] = MSG_MODE_VELOCITY;
	ref.velocity[0] = 0.01;
	ref.header.for_incarnation = s->incarnation;
	ref.header.valid_until_ns = clock_now_ns() + 2 * period_ns;
	ach_put(&s->ref, &ref, sizeof(ref));
	while (!complete && clock_now_ns() < from_ns + period_ns - 500000) {
		int state_fd = -1;
		struct clock_fd fds[2] = { { .fd = bus_fd(s->bus), .events = POLLIN } };

		ach_channel_fd(&s->state, &state_fd);
		fds[1] = (struct clock_fd){ .fd = state_fd, .events = POLLIN };
		clock_wait(fds, 2, from_ns + period_ns - 500000);
		play(s, &p);
		while (newest(s, &state)) {
			const int64_t now_ns = clock_now_ns();

			if (state.header.flags & MSG_FLAG_PARTIAL || p.answers < ANSWERS)
				continue;
			complete = true;
			play(s, &p); /* the echo of the last answer may still lie there */
			if (counts && p.move_ns && p.echoes == p.answers) {
				figures_samples_add(s->now[FIGURE_REF], p.move_ns - from_ns);
				figures_samples_add(s->now[FIGURE_STATE], now_ns - p.last_answer_ns);
				figures_samples_add(s->now[FIGURE_ROUND], now_ns - from_ns);
			}
		}
	}
}

/* ---- both ---- */

static int64_t cpu_ns(pid_t pid)
{
	char path[64];
	long long ns = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%lld", &ns) != 1)
		ns = 0;
	if (f)
		fclose(f);
	return ns;
}

static void make(ach_channel_t *chan, const char *prefix, const char *name, enum msg_number number)
{
	const struct msg_type *type = msg_type_by_number(number);
	ach_create_attr_t attr;
	char full[64];

	snprintf(full, sizeof(full), "%s%s", prefix, name);
	ach_unlink(full);
	ach_create_attr_init(&attr);
	ach_create_attr_set_mode(&attr, 0600, (gid_t)-1);
	if (ach_create(full, type->retained, type->body->size, &attr) != ACH_OK || ach_open(chan, full, NULL) != ACH_OK)
		bench_die("no channel %s", full);
}

static void arm(const char *prefix)
{
	setenv("ENDPLATE_PREFIX", prefix, 1);
	estop_talk_lower(MSG_LEVEL_RUN, 1);
}

static pid_t start(const char *program, const char *const *arguments, const char *prefix)
{
	char path[512];
	pid_t pid = bench_fork();

	if (pid)
		return pid;
	snprintf(path, sizeof(path), "%s/%s", programs, program);
	setenv("ENDPLATE_PREFIX", prefix, 1);
	if (!getenv("BENCH_LOUD") && !freopen("/dev/null", "w", stderr))
		_exit(126);
	execv(path, (char *const *)(uintptr_t)arguments);
	_exit(127);
}

static void start_side(struct side *s, bool pciod)
{
	char interface[64], module[8], modules[32], tick[32];

	snprintf(s->prefix, sizeof(s->prefix), "bench%d%s.", (int)getpid(), s->wire);
	snprintf(interface, sizeof(interface), "wire:%s@module", s->wire);
	s->bus = bench_bus_open(interface, NULL);
	make(&s->ref, s->prefix, "waist-ref", msg_joint_ref_number);
	make(&s->state, s->prefix, "waist-state", msg_joint_state_number);
	arm(s->prefix);
	snprintf(interface, sizeof(interface), "wire:%s", s->wire);
	snprintf(module, sizeof(module), "%d", MODULE);
	snprintf(modules, sizeof(modules), "modules=%d", MODULE);
	snprintf(tick, sizeof(tick), "tick=ref %dus", (int)(2 * period_ns / 1000));
	if (pciod)
		s->pid = start("pciod",
			       (const char *const[]){ "pciod", "--name", "waist", "--bus", interface, "--set", modules,
						      "--set", tick, "--set", "ref_max=100ms", NULL },
			       s->prefix);
	else
		s->pid = start("test/bench/plain_pcio",
			       (const char *const[]){ "plain_pcio", interface, module, s->prefix, NULL }, s->prefix);
	s->incarnation = 0;
	s->cpu_ns = 0;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void end_side(struct side *s)
{
	static const char *const names[] = { "waist-ref",   "waist-state", "waist-req", "waist-rep",
					     "waist-event", "estop",	   "estop-b" };
	char full[64];

	end(s->pid);
	bus_close(s->bus);
	ach_close(&s->ref);
	ach_close(&s->state);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(full, sizeof(full), "%s%s", s->prefix, names[i]);
		ach_unlink(full);
	}
}

/* From reference to reference, of which the median is taken: a machine that stands still makes ticks beside them. */
static void count_cpu(struct side *s, bool counts)
{
	const int64_t ns = cpu_ns(s->pid);

	if (counts && s->cpu_ns)
		figures_samples_add(s->now[FIGURE_CPU], ns - s->cpu_ns);
	s->cpu_ns = ns;
}

static void table(struct side *s, const char *pace)
{
	printf("%-8s", s->name);
	for (int i = 0; i < FIGURES; i++) {
		struct figures_samples *all = s->all[i];
		const char *what = figure_names[i];

		figures_samples_sort(all);
		printf("  %-5s %8.1f %8.1f %8.1f", what, figures_quantile_us(all, 0.5), figures_quantile_us(all, 0.99),
		       figures_quantile_us(all, 1));
		figures_line(figures_quantile_us(all, 0.5), "us", "drv.%s.%s.%s.p50", pace, s->name, what);
		figures_line(figures_quantile_us(all, 0.99), "us", "drv.%s.%s.%s.p99", pace, s->name, what);
		figures_line(figures_quantile_us(all, 1), "us", "drv.%s.%s.%s.max", pace, s->name, what);
	}
	printf("  %7u samples\n", s->all[FIGURE_REF]->count);
}

/* References come at fixed times, so that a driver that ticks on them finds its phase. */
static void in_turn(struct side *const *sides, int64_t end_ns, bool counts)
{
	int64_t next_ns = clock_now_ns();

	for (int i = 0; next_ns < end_ns; i++, next_ns += period_ns) {
		play_until(sides, next_ns);
		count_cpu(sides[i % 2], counts);
		one(sides[i % 2], counts);
		for (; clock_now_ns() > next_ns + period_ns; next_ns += period_ns)
			i++;
	}
}

static void one_round(struct side *const *sides, double seconds)
{
	const pid_t canwire =
		start("canwire", (const char *const[]){ "canwire", "run", "a", "b", "--gap", "0", NULL }, "");

	for (int i = 0; i < 2; i++)
		start_side(sides[i], i == 0);
	play_until(sides, clock_now_ns() + 1000000000);
	in_turn(sides, clock_now_ns() + WARM_UP * period_ns, false);
	in_turn(sides, clock_now_ns() + (int64_t)(seconds * 1e9), true);
	for (int i = 0; i < 2; i++)
		end_side(sides[i]);
	end(canwire);
}

/* The median of this round; the samples go to those of all rounds. */
static double take_median(struct side *s, enum figure figure)
{
	struct figures_samples *now = s->now[figure];
	double median;

	if (!now->count)
		bench_die("%s did not answer", s->name);
	figures_samples_sort(now);
	median = figures_quantile_us(now, 0.5);
	s->all[figure] = figures_samples_append(s->all[figure], now);
	now->count = 0;
	return median;
}

/* aim: of the CPU time. */
static void measure(const char *pace, int64_t tick_ns, double seconds, double aim)
{
	const double aims[] = { 1.2, 1.2, 1.2, aim };
	struct side pciod = { .name = "pciod", .wire = "a" }, plain = { .name = "plain", .wire = "b" };
	struct side *const sides[] = { &pciod, &plain };
	double ratios[FIGURES][ROUNDS];

	period_ns = tick_ns / 2;
	for (int i = 0; i < 2 * FIGURES; i++) {
		sides[i % 2]->now[i / 2] = figures_samples_shared(1 << 16);
		sides[i % 2]->all[i / 2] = figures_samples_new();
	}
	for (int round = 0; round < ROUNDS; round++) {
		one_round(sides, seconds);
		for (int i = 0; i < FIGURES; i++)
			ratios[i][round] = take_median(&pciod, (enum figure)i) / take_median(&plain, (enum figure)i);
	}
	printf("a tick every %.0f ms: us, p50 p99 max; reference to the wire, last reply to the state, all; CPU time\n",
	       (double)tick_ns / 1e6);
	table(&pciod, pace);
	table(&plain, pace);
	printf("ratio, median of %d rounds, the smallest and the largest\n", ROUNDS);
	for (int i = 0; i < FIGURES; i++) {
		const double median = figures_median(ratios[i], ROUNDS);

		printf("  %-5s %5.2f  %5.2f %5.2f\n", figure_names[i], median, ratios[i][0], ratios[i][ROUNDS - 1]);
		figures_target(median, aims[i], "drv.%s.%s.ratio", pace, figure_names[i]);
	}
}

int main(int argc, char **argv)
{
	const double seconds = bench_seconds(SECONDS);

	if (argc != 2)
		bench_die("usage: bench_drv FOLDER");
	snprintf(folder, sizeof(folder), "%s/drv", argv[1]);
	snprintf(programs, sizeof(programs), "%s/..", argv[1]);
	mkdir(folder, 0755);
	setenv("ENDPLATE_RUN", folder, 1);
	bench_hang_limit(60 + 8 * ROUNDS * (seconds + 2));
	bench_keep_awake();
	bench_pin(0);
	measure("fast", 3000000, seconds, 1.4);
	measure("slow", 10000000, seconds, 1.4);
	figures_print();
	return 0;
}
