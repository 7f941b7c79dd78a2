/* bench_bus.c: what bus_receive costs beside a bare recvmsg loop on the very same descriptor.  In the guest, as root.
 *
 *	burst	a hundred frames wait and are read at once
 *	single	one frame comes, the reader wakes up, reads until nothing is left
 *	stream	another process sends as fast as it can
 *
 * The ways of reading take turns, so that a change of the machine's speed affects all of them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/can.h>
#include <linux/can/raw.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "can/bus/bus.h"
#include "channels/clock/clock.h"
#include "test/bench/lib.h"
#include "test/bench/lib_figures.h"

#define BURST 100
#define ROUNDS 300
#define BATCH 32
#define SLICE_NS 50000000ll
#define SLICES 10
#define TARGET 1.3

static struct bus *bus;
static char interface[IFNAMSIZ];

/* ---- ways of reading: each reads all frames and returns their number ---- */

static char control[BATCH][256];
static struct frame frames[BATCH];
static struct iovec parts[BATCH];
static struct mmsghdr messages[BATCH];

static void message(struct msghdr *m, unsigned int i)
{
	parts[i] = (struct iovec){ &frames[i], sizeof(frames[i]) };
	*m = (struct msghdr){
		.msg_iov = &parts[i], .msg_iovlen = 1, .msg_control = control[i], .msg_controllen = sizeof(control[i])
	};
}

static unsigned int read_recvmsg(void)
{
	unsigned int got = 0;

	for (;;) {
		struct msghdr m;

		message(&m, 0);
		if (recvmsg(bus_fd(bus), &m, MSG_DONTWAIT) < 0)
			return got;
		got++;
	}
}

static unsigned int read_recvmmsg(void)
{
	unsigned int got = 0;
	int n;

	do {
		for (unsigned int i = 0; i < BATCH; i++)
			message(&messages[i].msg_hdr, i);
		n = recvmmsg(bus_fd(bus), messages, BATCH, MSG_DONTWAIT, NULL);
		got += n > 0 ? (unsigned int)n : 0;
	} while (n > 0);
	return got;
}

static unsigned int read_bus(void)
{
	static struct bus_frame batch[BATCH];
	unsigned int got = 0;
	int n;

	while ((n = bus_receive(bus, batch, BATCH)) > 0)
		got += (unsigned int)n;
	return got;
}

static void wait_poll(void)
{
	struct pollfd fd = { .fd = bus_fd(bus), .events = POLLIN };

	poll(&fd, 1, 1000);
}

static void wait_bus(void)
{
	struct clock_fd fd = { .fd = bus_fd(bus), .events = POLLIN };

	clock_wait(&fd, 1, bench_now_ns() + BENCH_NS_PER_S);
}

static struct way {
	const char *name, *text;
	unsigned int (*read)(void);
	void (*wait)(void);
	double burst_ns[ROUNDS], single_ns[ROUNDS]; /* of CPU time, a frame */
	uint64_t stream_frames;
	int64_t stream_cpu_ns, stream_ns;
} ways[] = {
	{ .name = "recvmsg", .text = "recvmsg, bare", .read = read_recvmsg, .wait = wait_poll },
	{ .name = "recvmmsg", .text = "recvmmsg, bare", .read = read_recvmmsg, .wait = wait_poll },
	{ .name = "bus", .text = "bus_receive", .read = read_bus, .wait = wait_bus },
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))
enum { RECVMSG, RECVMMSG, BUS };

/* ---- the other side ---- */

static int open_sender(void)
{
	struct sockaddr_can to = { .can_family = AF_CAN, .can_ifindex = (int)if_nametoindex(interface) };
	int s = socket(AF_CAN, SOCK_RAW | SOCK_CLOEXEC, CAN_RAW);

	if (s < 0 || setsockopt(s, SOL_CAN_RAW, CAN_RAW_FILTER, NULL, 0) || bind(s, (struct sockaddr *)&to, sizeof(to)))
		bench_die("unable to open %s for sending: %s", interface, strerror(errno));
	return s;
}

static void put(int s)
{
	static const struct can_frame f = { .can_id = 0x123, .len = 8 };

	if (write(s, &f, sizeof(f)) != sizeof(f) && errno != ENOBUFS)
		bench_die("unable to send on %s: %s", interface, strerror(errno));
}

/* ---- the runs ---- */

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * BENCH_NS_PER_S + t.tv_nsec;
}

/* A round in which the kernel still had frames on their way is done again. */
static double burst(struct way *way, int s)
{
	for (int tries = 0; tries < 100; tries++) {
		int64_t start_ns;
		unsigned int got;

		for (int i = 0; i < BURST; i++)
			put(s);
		bench_sleep_until_ns(bench_now_ns() + 200000);
		start_ns = cpu_ns();
		got = way->read();
		if (got == BURST)
			return (double)(cpu_ns() - start_ns) / BURST;
		bench_sleep_until_ns(bench_now_ns() + 10000000);
		(void)way->read();
	}
	bench_die("the frames do not come");
}

static double single(struct way *way, int s)
{
	int64_t start_ns;
	unsigned int got = 0;

	put(s);
	start_ns = cpu_ns();
	while (!got) {
		way->wait();
		got = way->read();
	}
	return (double)(cpu_ns() - start_ns);
}

static void stream(struct way *way)
{
	int64_t start_ns, end_ns, cpu_start_ns;

	(void)way->read();
	cpu_start_ns = cpu_ns();
	start_ns = bench_now_ns();
	do {
		way->wait();
		way->stream_frames += way->read();
		end_ns = bench_now_ns();
	} while (end_ns - start_ns < SLICE_NS);
	way->stream_cpu_ns += cpu_ns() - cpu_start_ns;
	way->stream_ns += end_ns - start_ns;
}

static void run(void)
{
	int s = open_sender();
	pid_t sender;

	for (int round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < WAYS; i++) {
			ways[i].burst_ns[round] = burst(&ways[i], s);
			ways[i].single_ns[round] = single(&ways[i], s);
		}
	sender = bench_fork();
	if (!sender)
		for (;;)
			put(s);
	for (int slice = 0; slice < SLICES; slice++)
		for (size_t i = 0; i < WAYS; i++)
			stream(&ways[i]);
	kill(sender, SIGKILL);
	waitpid(sender, NULL, 0);
	close(s);
}

/* ---- figures ---- */

static void report(const char *what, double ns[WAYS])
{
	for (size_t i = 0; i < WAYS; i++) {
		printf("  %-8s %-16s %10.0f ns of CPU a frame\n", what, ways[i].text, ns[i]);
		figures_line(ns[i], "ns", "bus.%s.%s", what, ways[i].name);
	}
	printf("  %-8s bus_receive is %.2f of a bare recvmsg loop: %s (target %.1f)\n", what, ns[BUS] / ns[RECVMSG],
	       figures_target(ns[BUS] / ns[RECVMSG], TARGET, "bus.%s.over.recvmsg", what), TARGET);
}

static void report_all(void)
{
	double ns[WAYS];

	for (size_t i = 0; i < WAYS; i++)
		ns[i] = figures_median(ways[i].burst_ns, ROUNDS);
	report("burst", ns);
	for (size_t i = 0; i < WAYS; i++)
		ns[i] = figures_median(ways[i].single_ns, ROUNDS);
	report("single", ns);
	for (size_t i = 0; i < WAYS; i++)
		ns[i] = (double)ways[i].stream_cpu_ns / (double)ways[i].stream_frames;
	report("stream", ns);
	for (size_t i = 0; i < WAYS; i++) {
		double per_s = (double)ways[i].stream_frames * 1e9 / (double)ways[i].stream_ns;

		printf("  %-8s %-16s %10.0f frames/s\n", "stream", ways[i].text, per_s);
		figures_line(per_s, "frames/s", "bus.stream.%s.rate", ways[i].name);
	}
}

int main(void)
{
	struct error_sink errors = { .line = error_to_stderr };
	char command[128];

	bench_hang_limit(300);
	snprintf(interface, sizeof(interface), "bb%d", (int)getpid() % 1000000);
	snprintf(command, sizeof(command), "ip link add %s type vcan && ip link set %s up", interface, interface);
	if (system(command))
		bench_die("unable to make a virtual CAN interface");
	if (bus_open(&bus, interface, NULL, &errors))
		return 1;
	run();
	printf("bus: reading %s, medians of %d rounds\n", interface, ROUNDS);
	report_all();
	figures_print();
	bus_close(bus);
	return 0;
}
