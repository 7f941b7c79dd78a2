/* bench_wire.c: what the soft wire costs and how late it is: eight buses at 1 Mbit/s, two nodes each.
 *
 *	bench_wire FOLDER	FOLDER/.. holds canwire; its buses live in FOLDER
 *
 * Late is the time between the computed end of a frame, which is its stamp, and its delivery to the receiver;
 * beside it stands how late a bare timer was in the same run.  canwire runs at a higher SCHED_FIFO priority than the
 * nodes, if the machine lets it.  CPU is what the kernel counted; 100 % is one core.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "can/bus/bits.h"
#include "can/bus/bus.h"
#include "channels/clock/clock.h"
#include "config/base/hist.h"
#include "test/bench/lib.h"
#include "test/bench/lib_figures.h"

#define BUSES 8
#define BITRATE 1000000
#define LOAD 0.70
#define SECONDS 5.0
#define CYCLE_NS 5000000 /* of the dialogues */
#define DIALOGUE 4	 /* requests and replies in a row */

static char tool[512], folder[512];

/* Shared by all nodes. */
static struct shared {
	struct hist late[2 * BUSES], timer, dialogue;
	uint64_t frames[2 * BUSES], dropped[2 * BUSES], refused[2 * BUSES];
	int64_t start_ns, end_ns;
} * shared;

static void must(int status, const char *what)
{
	if (status < 0)
		bench_die("%s: %s", what, strerror(-status));
}

/* ---- canwire ---- */

static pid_t start_wire(const char *gap, bool fifo)
{
	const char *argv[BUSES + 8] = { tool, "run", "--gap", gap };
	static char names[BUSES][8];
	int n = 4;
	pid_t pid;

	if (fifo) {
		argv[n++] = "--priority";
		argv[n++] = "60";
	}
	for (int i = 0; i < BUSES; i++) {
		snprintf(names[i], sizeof(names[i]), "b%d", i);
		argv[n++] = names[i];
	}
	pid = bench_fork();
	if (pid == 0) {
		execv(tool, (char **)argv);
		_exit(127);
	}
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGTERM);
	bench_reap(&pid, 1);
}

static struct bus *open_bus(int bus, const char *as, uint32_t hears)
{
	const struct bus_filter filter = { hears, FRAME_STD_MASK | FRAME_EXT | FRAME_RTR };
	char name[32];

	snprintf(name, sizeof(name), "wire:b%d@%s", bus, as);
	return bench_bus_open(name, &(struct bus_options){ .filters = &filter, .filters_n = 1 });
}

static double cpu_seconds(pid_t pid)
{
	char path[64], text[1024];
	unsigned long user, system;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	if (n <= 0 ||
	    sscanf(strrchr(text, ')') + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2)
		bench_die("%s cannot be read", path);
	return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static double own_cpu_seconds(int who)
{
	struct rusage use;

	getrusage(who, &use);
	return (double)use.ru_utime.tv_sec + (double)use.ru_stime.tv_sec +
	       1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

/* ---- the frame that all send, of a known length ---- */

static struct frame frame_of(uint32_t id)
{
	return (struct frame){ .id = id, .len = 8, .data = { 0x55, 0xaa, 0x55, 0xaa, 0x55, 0xaa, 0x55, 0xaa } };
}

static int64_t frame_ns(uint32_t id)
{
	struct frame frame = frame_of(id);
	struct bits bits;

	bits_of(&bits, &frame);
	return bits.all * INT64_C(1000000000) / BITRATE;
}

/* ---- nodes ---- */

static void take(struct bus *bus, int node, struct hist *late)
{
	struct bus_frame got[32];
	int n;

	while ((n = bus_receive(bus, got, 32)) > 0) {
		int64_t now_ns = bench_now_ns();

		for (int i = 0; i < n; i++)
			if (!(got[i].flags & BUS_OWN)) {
				hist_add(late, now_ns - got[i].t_ns);
				shared->frames[node]++;
			}
	}
	must(n, "bus_receive");
}

/* Sends every period; all: as much as the bus takes, two frames in flight. */
static void talk(int node, struct bus *bus, uint32_t id, int64_t period_ns, bool all)
{
	struct clock_fd fd = { .fd = bus_fd(bus), .events = POLLIN };
	struct frame frame = frame_of(id);
	int64_t next_ns = shared->start_ns + node * period_ns / (2 * BUSES);
	const struct bus_stats *stats = bus_stats(bus);

	while (bench_now_ns() < shared->end_ns) {
		if (all)
			while (stats->sent - stats->confirmed < 2 && !bus_send(bus, &frame))
				;
		else if (bench_now_ns() >= next_ns) {
			(void)bus_send(bus, &frame);
			next_ns += period_ns;
		}
		clock_wait(&fd, 1, all || next_ns > shared->end_ns ? shared->end_ns : next_ns);
		take(bus, node, &shared->late[node]);
	}
	shared->dropped[node] = stats->dropped;
	shared->refused[node] = stats->refused;
}

static void tick_bare_timer(void)
{
	for (int64_t next_ns = shared->start_ns; next_ns < shared->end_ns; next_ns += 1000000) {
		bench_sleep_until_ns(next_ns);
		hist_add(&shared->timer, bench_now_ns() - next_ns);
	}
}

/* ---- load ---- */

struct result {
	double hub_percent, nodes_percent, load;
	uint64_t frames, dropped, refused;
	struct hist late;
};

static void add_late(struct hist *to, const struct hist *of)
{
	if (!to->count || (of->count && of->min_ns < to->min_ns))
		to->min_ns = of->min_ns;
	to->max_ns = of->max_ns > to->max_ns ? of->max_ns : to->max_ns;
	to->count += of->count;
	for (size_t i = 0; i <= HIST_PARTS; i++)
		to->parts[i] += of->parts[i];
}

static struct result run_load(const char *gap, bool all, double seconds, bool fifo)
{
	struct result result = { 0 };
	struct bench_gate gate;
	pid_t hub = start_wire(gap, fifo), pids[2 * BUSES + 1];
	double hub_cpu, nodes_cpu = own_cpu_seconds(RUSAGE_CHILDREN);

	memset(shared, 0, sizeof(*shared));
	bench_gate_open(&gate);
	for (int node = 0; node < 2 * BUSES + 1; node++) {
		pids[node] = bench_fork();
		if (pids[node])
			continue;
		if (fifo)
			bench_fifo(node == 2 * BUSES ? 61 : 50);
		if (node == 2 * BUSES) {
			bench_gate_pass(&gate);
			while (!*(volatile int64_t *)&shared->start_ns)
				usleep(1000);
			tick_bare_timer();
		} else {
			uint32_t own = 0x100 + (uint32_t)(node & 1), peer = 0x101 - (uint32_t)(node & 1);
			struct bus *bus = open_bus(node / 2, node & 1 ? "device" : "host", peer);

			bench_gate_pass(&gate);
			while (!*(volatile int64_t *)&shared->start_ns)
				usleep(1000);
			bench_sleep_until_ns(shared->start_ns);
			talk(node, bus, own, (int64_t)((double)frame_ns(own) * 2 / LOAD), all);
		}
		_exit(0);
	}
	bench_gate_wait(&gate, 2 * BUSES + 1);
	shared->end_ns = bench_now_ns() + 100000000 + (int64_t)(seconds * 1e9);
	__atomic_store_n(&shared->start_ns, bench_now_ns() + 100000000, __ATOMIC_SEQ_CST);
	bench_sleep_until_ns(shared->start_ns);
	hub_cpu = cpu_seconds(hub);
	bench_sleep_until_ns(shared->end_ns);
	result.hub_percent = 100 * (cpu_seconds(hub) - hub_cpu) / seconds;
	bench_reap(pids, 2 * BUSES + 1);
	result.nodes_percent = 100 * (own_cpu_seconds(RUSAGE_CHILDREN) - nodes_cpu) / seconds;
	stop(hub);
	for (int node = 0; node < 2 * BUSES; node++) {
		result.frames += shared->frames[node];
		result.dropped += shared->dropped[node];
		result.refused += shared->refused[node];
		add_late(&result.late, &shared->late[node]);
	}
	result.load = (double)result.frames * (double)frame_ns(0x100) * 1e-9 / seconds / BUSES;
	return result;
}

static double us(const struct hist *h, double part)
{
	return (double)hist_quantile(h, part) * 1e-3;
}

static void print_load(const char *name, const char *gap, struct result r)
{
	printf("%-22s %5s %7.1f %7.1f %8.1f %6.1f %8.0f %8.0f %8.0f %8.0f %8" PRIu64 "\n", name, gap, 100 * r.load,
	       r.hub_percent, r.nodes_percent, (double)r.frames * 1e-3 / bench_seconds(SECONDS), us(&r.late, 0.5),
	       us(&r.late, 0.99), (double)r.late.max_ns * 1e-3, us(&shared->timer, 0.99), r.dropped + r.refused);
	figures_line(r.hub_percent, "%", "wire.%s.gap%s.hub", name, gap);
	figures_line(r.nodes_percent, "%", "wire.%s.gap%s.nodes", name, gap);
	figures_line((double)r.frames / bench_seconds(SECONDS), "1/s", "wire.%s.gap%s.frames", name, gap);
	figures_line(us(&r.late, 0.5), "us", "wire.%s.gap%s.late.p50", name, gap);
	figures_line(us(&r.late, 0.99), "us", "wire.%s.gap%s.late.p99", name, gap);
	figures_line((double)r.late.max_ns * 1e-3, "us", "wire.%s.gap%s.late.max", name, gap);
}

/* ---- request and reply ---- */

static void answer_all(struct bus *bus)
{
	struct clock_fd fd = { .fd = bus_fd(bus), .events = POLLIN };
	struct frame reply = frame_of(0x101);
	struct bus_frame got[8];

	for (;;) {
		int n = bus_receive(bus, got, 8);

		for (int i = 0; i < n; i++)
			if (!(got[i].flags & BUS_OWN))
				must(bus_send(bus, &reply), "reply");
		if (n <= 0)
			clock_wait(&fd, 1, CLOCK_NEVER);
	}
}

static void ask_one(struct bus *bus)
{
	struct clock_fd fd = { .fd = bus_fd(bus), .events = POLLIN };
	struct frame request = frame_of(0x100);
	struct bus_frame got[8];

	must(bus_send(bus, &request), "request");
	for (;;) {
		int n = bus_receive(bus, got, 8);

		for (int i = 0; i < n; i++)
			if (!(got[i].flags & BUS_OWN))
				return;
		if (!n)
			clock_wait(&fd, 1, CLOCK_NEVER);
	}
}

static void run_dialogues(const char *gap, double seconds, bool fifo)
{
	pid_t hub = start_wire(gap, fifo), device = bench_fork();
	struct bus *bus;
	int64_t next_ns;
	double wire_us = DIALOGUE * (double)(frame_ns(0x100) + frame_ns(0x101)) * 1e-3;

	if (device == 0) {
		if (fifo)
			bench_fifo(50);
		answer_all(open_bus(0, "device", 0x100));
	}
	if (fifo)
		bench_fifo(50);
	bus = open_bus(0, "host", 0x101);
	shared->dialogue = (struct hist){ 0 };
	next_ns = bench_now_ns() + 100000000;
	for (int i = 0; i < (int)(seconds * 1e9 / CYCLE_NS); i++, next_ns += CYCLE_NS) {
		int64_t begin_ns;

		bench_sleep_until_ns(next_ns);
		begin_ns = bench_now_ns();
		for (int k = 0; k < DIALOGUE; k++)
			ask_one(bus);
		hist_add(&shared->dialogue, bench_now_ns() - begin_ns);
	}
	bus_close(bus);
	bench_fifo(0);
	kill(device, SIGKILL);
	waitpid(device, NULL, 0);
	stop(hub);
	printf("%-22s %5s %9.0f %9.0f %9.0f %9.0f\n", "4 requests, replies", gap, wire_us, us(&shared->dialogue, 0.5),
	       us(&shared->dialogue, 0.99), (double)shared->dialogue.max_ns * 1e-3);
	figures_line(us(&shared->dialogue, 0.5), "us", "wire.dialogue.gap%s.p50", gap);
	figures_line(us(&shared->dialogue, 0.99), "us", "wire.dialogue.gap%s.p99", gap);
	figures_line(us(&shared->dialogue, 0.5) / wire_us, "x", "wire.dialogue.gap%s.ratio", gap);
}

int main(int argc, char **argv)
{
	const double seconds = bench_seconds(SECONDS);
	bool fifo = bench_fifo(1);
	struct result r;

	bench_fifo(0);
	if (argc != 2)
		bench_die("usage: bench_wire FOLDER");
	snprintf(tool, sizeof(tool), "%s/../canwire", argv[1]);
	snprintf(folder, sizeof(folder), "%s/wire.%d", argv[1], (int)getpid());
	if (mkdir(folder, 0700))
		bench_die("%s cannot be made", folder);
	setenv("ENDPLATE_RUN", folder, 1);
	bench_hang_limit(20 * seconds + 60);
	shared = bench_shared(sizeof(*shared));

	printf("Soft wire: %d buses at 1 Mbit/s, two nodes each, %s, %g s a row\n", BUSES,
	       fifo ? "SCHED_FIFO, canwire above the nodes" : "no real-time priority", seconds);
	printf("%-22s %5s %7s %7s %8s %6s %8s %8s %8s %8s %8s\n", "", "gap", "load %", "hub %", "nodes %", "kf/s",
	       "late p50", "p99", "max us", "timer", "lost");
	r = run_load("100us", false, seconds, fifo);
	print_load("load70", "100us", r);
	figures_target(r.hub_percent, 50, "wire.load70.hub");
	print_load("load70", "0", run_load("0", false, seconds, fifo));
	print_load("full", "100us", run_load("100us", true, seconds, fifo));
	printf("\n%-22s %5s %9s %9s %9s %9s\n", "", "gap", "wire us", "p50", "p99", "max");
	run_dialogues("100us", seconds, fifo);
	run_dialogues("0", seconds, fifo);
	printf("\n");
	figures_print();
	rmdir(folder);
	snprintf(folder, sizeof(folder), "rm -rf '%s/wire.%d'", argv[1], (int)getpid());
	return system(folder) != 0;
}
