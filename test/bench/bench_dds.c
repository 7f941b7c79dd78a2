/* bench_dds.c: 50 channels at 1 kHz through achdds, beside a bare writer of Cyclone DDS with the same bytes.
 *
 *	bench_dds FOLDER	FOLDER/.. holds the tools
 *
 * One process puts, or writes, the samples of a period one after another, evenly; another reads all topics on the
 * loopback interface.  Latency is from the sample's stamp to the reader, CPU time that of the process between channel
 * and network: achdds, or the bare writer itself.  The two take turns.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channels/clock/clock.h"
#include "channels/port/port.h"
#include "channels/ros/ros_map.h"
#include "launch/achdds/dds_node.h"
#include "test/bench/lib.h"
#include "test/bench/lib_figures.h"

#define CHANNELS 50
#define HZ 1000
#define SECONDS 4.0
#define ROUNDS 2
#define IMU "sensor_msgs/msg/Imu"

static char folder[256];
static unsigned int domain;
static uint64_t rounds;

static struct dds_node *join(void)
{
	static const char *const peers[] = { "127.0.0.1" };
	const struct dds_node_options options = {
		.domain = domain, .name = "bench", .space = "/", .interface = "lo", .peers = peers, .peers_n = 1
	};
	struct error_sink errors = { error_to_stderr, NULL, 0 };
	struct dds_node *node;

	if (dds_node_open(&node, &options, &errors))
		bench_die("no DDS");
	return node;
}

static struct dds_node_topic topic_of(char name[32], unsigned int i)
{
	const struct ros_type *type = ros_type_by_name(IMU);

	snprintf(name, 32, "rt/b%u/imu", i);
	return (struct dds_node_topic){ name, type->dds_name, type->hash, DDS_NODE_SENSOR };
}

/* ---- the reader ---- */

struct results {
	uint64_t received;
	bool matched, stop;
	struct figures_samples samples;
};

static int64_t stamp_ns(const uint8_t *cdr)
{
	int32_t s;
	uint32_t ns;

	memcpy(&s, cdr + 4, sizeof(s));
	memcpy(&ns, cdr + 8, sizeof(ns));
	return (int64_t)s * BENCH_NS_PER_S + ns;
}

static _Noreturn void read_all(struct results *results)
{
	struct error_sink errors = { error_to_stderr, NULL, 0 };
	struct dds_node_reader *readers[CHANNELS];
	struct dds_node *node = join();
	char name[32];

	for (unsigned int i = 0; i < CHANNELS; i++) {
		const struct dds_node_topic topic = topic_of(name, i);

		readers[i] = dds_node_read(node, &topic, &errors);
	}
	while (!__atomic_load_n(&results->stop, __ATOMIC_RELAXED)) {
		struct clock_fd fd = { .fd = dds_node_fd(node), .events = POLLIN };
		struct dds_node_sample sample;
		bool all = true;

		clock_wait(&fd, 1, clock_now_ns() + 20000000);
		dds_node_seen(node);
		for (unsigned int i = 0; i < CHANNELS; i++) {
			all = all && (results->matched || dds_node_writers(readers[i]));
			for (; dds_node_take(readers[i], &sample) > 0; dds_node_release(&sample)) {
				figures_samples_add(&results->samples, clock_real_ns() - stamp_ns(sample.cdr));
				results->received++;
			}
		}
		__atomic_store_n(&results->matched, all, __ATOMIC_RELAXED);
	}
	dds_node_close(node);
	_exit(0);
}

/* ---- the writers ---- */

static void fill(struct msg_imu *imu, uint64_t sequence)
{
	msg_init(imu, msg_type_by_number(msg_imu_number));
	imu->header.sequence = sequence;
	imu->header.t_publish_ns = imu->header.t_sample_ns = clock_now_ns();
	imu->orientation[0] = 1;
	for (int i = 0; i < 3; i++)
		imu->rate[i] = 1e-3 * (double)sequence + i;
}

static void wait_turn(int64_t start_ns, uint64_t round, unsigned int i)
{
	bench_sleep_until_ns(start_ns + (int64_t)round * (BENCH_NS_PER_S / HZ) +
			     (BENCH_NS_PER_S / HZ) * (int64_t)i / CHANNELS);
}

static _Noreturn void put_all(int64_t start_ns)
{
	struct error_sink errors = { error_to_stderr, NULL, 0 };
	struct port ports[CHANNELS] = { 0 };
	struct msg_imu imu;
	char name[32];

	for (unsigned int i = 0; i < CHANNELS; i++) {
		snprintf(name, sizeof(name), "b%u-state", i);
		if (port_open(&ports[i], name, msg_type_by_number(msg_imu_number), 0640, &errors))
			bench_die("%s", name);
	}
	for (uint64_t round = 0; round < rounds; round++)
		for (unsigned int i = 0; i < CHANNELS; i++) {
			wait_turn(start_ns, round, i);
			fill(&imu, round + 1);
			port_put(&ports[i], &imu);
		}
	_exit(0);
}

/* Encodes, too, as achdds does. */
static _Noreturn void write_all(const struct results *results)
{
	struct error_sink errors = { error_to_stderr, NULL, 0 };
	const struct ros_map *map = ros_map_for(msg_imu_number, ROS_STANDARD);
	struct dds_node_writer *writers[CHANNELS];
	static uint8_t cdr[ROS_CDR_MAX];
	struct dds_node *node = join();
	struct ros_context context = { .device = "bench" };
	struct msg_imu imu;
	int64_t start_ns;
	char name[32];

	for (unsigned int i = 0; i < CHANNELS; i++) {
		const struct dds_node_topic topic = topic_of(name, i);

		writers[i] = dds_node_write(node, &topic, &errors);
	}
	while (!__atomic_load_n(&results->matched, __ATOMIC_RELAXED))
		bench_sleep_until_ns(bench_now_ns() + 10000000);
	start_ns = bench_now_ns() + BENCH_NS_PER_S / 10;
	for (uint64_t round = 0; round < rounds; round++)
		for (unsigned int i = 0; i < CHANNELS; i++) {
			wait_turn(start_ns, round, i);
			fill(&imu, round + 1);
			context.wall_ns = clock_real_ns() - clock_now_ns();
			dds_node_put(writers[i], cdr, ros_encode(map, &imu, sizeof(imu), &context, cdr, sizeof(cdr)));
		}
	dds_node_close(node);
	_exit(0);
}

static pid_t start_bridge(void)
{
	char plan[300], tool[300], state[300];
	const pid_t pid = bench_fork();
	FILE *to;

	snprintf(plan, sizeof(plan), "%s/dds.plan", folder);
	snprintf(tool, sizeof(tool), "%s/../achdds", folder);
	snprintf(state, sizeof(state), "%s/dds.state", folder);
	if (pid)
		return pid;
	to = fopen(plan, "w");
	fprintf(to, "domain: %u\npublish:\n", domain);
	for (unsigned int i = 0; i < CHANNELS; i++)
		fprintf(to, "  /b%u/imu: {channel: b%u-state, qos: sensor}\n", i, i);
	fclose(to);
	execl(tool, tool, "--state", state, plan, (char *)NULL);
	bench_die("%s: %s", tool, strerror(errno));
}

/* ---- both ---- */

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static double reap_cpu(pid_t pid)
{
	struct rusage usage;
	int status;

	if (wait4(pid, &status, 0, &usage) != pid || status)
		bench_die("process %d ended with status %d", (int)pid, status);
	return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/* Messages that the bridge found overwritten, by its last state. */
static uint64_t missed(void)
{
	static char text[1 << 20];
	char path[300];
	uint64_t n = 0;
	size_t len;
	FILE *from;

	snprintf(path, sizeof(path), "%s/dds.state", folder);
	from = fopen(path, "r");
	len = from ? fread(text, 1, sizeof(text) - 1, from) : 0;
	text[len] = '\0';
	for (const char *at = text; (at = strstr(at, "\"missed\":")); at++)
		n += strtoull(at + sizeof("\"missed\":") - 1, NULL, 10);
	if (from)
		fclose(from);
	return n;
}

/* Else the next bridge would publish their last messages. */
static void remove_channels(void)
{
	char name[32];

	for (unsigned int i = 0; i < CHANNELS; i++) {
		snprintf(name, sizeof(name), "b%u-state", i);
		ach_unlink(name);
	}
}

static void measure(const char *what, bool bare)
{
	const double length = (double)rounds / HZ;
	const size_t size = sizeof(struct results) + figures_samples_size((uint32_t)(rounds * CHANNELS));
	struct results *results = bench_shared(size);
	pid_t reader, middle, writer;
	double cpu, lost;

	results->samples.room = (uint32_t)(rounds * CHANNELS);
	bench_hang_limit(length + 60);
	reader = bench_fork();
	if (!reader)
		read_all(results);
	middle = bare ? bench_fork() : start_bridge();
	if (bare && !middle)
		write_all(results);
	while (!__atomic_load_n(&results->matched, __ATOMIC_RELAXED))
		bench_sleep_until_ns(bench_now_ns() + 10000000);
	if (!bare) {
		writer = bench_fork();
		if (!writer)
			put_all(bench_now_ns() + 2 * BENCH_NS_PER_S); /* it finds the channels meanwhile */
		bench_reap(&writer, 1);
		bench_sleep_until_ns(bench_now_ns() + BENCH_NS_PER_S / 5);
		kill(middle, SIGTERM);
	}
	cpu = 100 * reap_cpu(middle) / length;
	bench_sleep_until_ns(bench_now_ns() + BENCH_NS_PER_S / 5);
	__atomic_store_n(&results->stop, true, __ATOMIC_RELAXED);
	bench_reap(&reader, 1);
	figures_samples_sort(&results->samples);
	lost = 100 - 100 * (double)results->received / (double)(rounds * CHANNELS);
	printf("%-8s p50 %6.0f us, p99 %7.0f us, lost %.3f %%, %5.1f %% of a core", what,
	       figures_quantile_us(&results->samples, 0.5), figures_quantile_us(&results->samples, 0.99), lost, cpu);
	if (bare)
		printf("\n");
	else
		printf(", %.3f %% were overwritten before the bridge read them\n",
		       100 * (double)missed() / (double)(rounds * CHANNELS));
	figures_line(figures_quantile_us(&results->samples, 0.5), "us", "dds.%s.p50", what);
	figures_line(figures_quantile_us(&results->samples, 0.99), "us", "dds.%s.p99", what);
	figures_line(lost, "%", "dds.%s.lost", what);
	figures_line(cpu, "%", "dds.%s.cpu", what);
	remove_channels();
	bench_hang_limit(0);
}

int main(int argc, char **argv)
{
	char run[300], channels[300];

	if (argc != 2)
		bench_die("usage: bench_dds FOLDER");
	snprintf(folder, sizeof(folder), "%s", argv[1]);
	snprintf(run, sizeof(run), "%s/dds.run", folder);
	snprintf(channels, sizeof(channels), "%s/dds.chan", folder);
	mkdir(run, 0700);
	mkdir(channels, 0700);
	setenv("ENDPLATE_RUN", realpath(run, NULL), 1);
	setenv("ACH_DIR", realpath(channels, NULL), 1);
	unsetenv("ENDPLATE_PREFIX");
	domain = (unsigned int)getpid() % 100 + 1;
	rounds = (uint64_t)(bench_seconds(SECONDS) * HZ);
	printf("%d channels at %d Hz of sensor_msgs/Imu, %.0f s each\n", CHANNELS, HZ, (double)rounds / HZ);
	for (int i = 0; i < ROUNDS; i++) {
		measure("bare", true);
		measure("achdds", false);
	}
	figures_print();
	return 0;
}
