/* bench_record.c: what observing costs: ach record of 50 channels at 1 kHz, in its own format and as MCAP, and how fast
 * ach echo --json prints.
 *
 *	bench_record FOLDER	FOLDER/.. holds the tool; the recording goes into FOLDER and is removed
 *	bench_record FOLDER FORMAT	own, none, lz4 or zstd: makes the bytes of messages only, without channels and
 *					file, for valgrind --tool=callgrind
 *
 * Writers are ordinary processes that put when their time has come; the recorder's CPU time is that which the kernel
 * counted for it.  The formats take turns, and the CPU time of each is compared with that of its own format in the same
 * round.  With BENCH_SECONDS a run is as long.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channels/ach/ach.h"
#include "channels/msg/msg.h"
#include "channels/rec/mcaprec.h"
#include "test/bench/lib.h"
#include "test/bench/lib_figures.h"

#define CHANNELS 50
#define WRITERS 5
#define HZ 1000
#define SECONDS 2.0
#define ROUNDS 3
#define ECHOED 20000
#define FORMATTED 20000
#define FORMAT_ROUNDS 15

static char names[CHANNELS][ACH_CHAN_NAME_MAX];
static char tool[512], file[512];

static const char *make_channel(char name[ACH_CHAN_NAME_MAX], const char *what, unsigned n, size_t count)
{
	enum ach_status status;

	snprintf(name, ACH_CHAN_NAME_MAX, "bench-%s-%d-%u", what, (int)getppid(), n);
	ach_unlink(name);
	status = ach_create(name, count, sizeof(struct msg_imu), NULL);
	if (status != ACH_OK)
		bench_die("%s: %s", name, ach_result_to_string(status));
	return name;
}

static void open_channel(ach_channel_t *chan, const char *name)
{
	if (ach_open(chan, name, NULL) != ACH_OK)
		bench_die("%s: %s", name, ach_errstr());
}

static struct msg_imu imu_of(uint64_t sequence, int64_t t_ns)
{
	struct msg_imu imu;

	msg_init(&imu, msg_type_by_number(msg_imu_number));
	imu.header.sequence = sequence;
	imu.header.t_publish_ns = imu.header.t_sample_ns = t_ns;
	for (int i = 0; i < 3; i++) {
		imu.rate[i] = 1e-3 * (double)sequence + i;
		imu.acceleration[i] = 9.81 * i + 1e-6 * (double)sequence;
	}
	return imu;
}

static void put_imu(ach_channel_t *chan, uint64_t sequence)
{
	const struct msg_imu imu = imu_of(sequence, bench_now_ns());

	if (ach_put(chan, &imu, sizeof(imu)) != ACH_OK)
		bench_die("put: %s", ach_errstr());
}

/* One of WRITERS: every channel of its own once a period, at a time of its own within it. */
static _Noreturn void write_channels(unsigned writer, int64_t start_ns, uint64_t rounds)
{
	ach_channel_t chans[CHANNELS / WRITERS];
	int64_t period = BENCH_NS_PER_S / HZ;

	for (unsigned i = 0; i < CHANNELS / WRITERS; i++)
		open_channel(&chans[i], names[i * WRITERS + writer]);
	for (uint64_t round = 0; round < rounds; round++)
		for (unsigned i = 0; i < CHANNELS / WRITERS; i++) {
			int64_t within = period * (int64_t)(i * WRITERS + writer) / CHANNELS;

			bench_sleep_until_ns(start_ns + (int64_t)round * period + within);
			put_imu(&chans[i], round + 1);
		}
	_exit(0);
}

/* NULL: its own format; else the compression of MCAP. */
static pid_t start_recorder(const char *compress)
{
	char *argv[CHANNELS + 8], mcap[] = "--mcap", compression[32];
	pid_t pid = bench_fork();
	int n = 0;

	if (pid)
		return pid;
	argv[n++] = tool;
	argv[n++] = (char[]){ "record" };
	argv[n++] = (char[]){ "--output" };
	argv[n++] = file;
	if (compress) {
		snprintf(compression, sizeof(compression), "--compress=%s", compress);
		argv[n++] = mcap;
		argv[n++] = compression;
	}
	for (unsigned i = 0; i < CHANNELS; i++)
		argv[n++] = names[i];
	argv[n] = NULL;
	dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
	execv(tool, argv);
	bench_die("%s: %s", tool, strerror(errno));
}

static void await_recorder(pid_t pid)
{
	while (access(file, F_OK) && !kill(pid, 0))
		bench_sleep_until_ns(bench_now_ns() + 1000000);
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

struct counted {
	uint64_t messages, lost;
	double bytes;
};

static struct counted count_recorded(bool mcap)
{
	struct counted c = { 0 };
	struct reclog_reader own;
	struct mcaprec_reader *reader;
	struct reclog_record r;
	struct stat st;
	int fd = open(file, O_RDONLY);

	reclog_open(&own, fd);
	reader = mcaprec_reader_new(fd);
	while ((mcap ? mcaprec_read(reader, &r) : reclog_read(&own, &r)) == RECLOG_FOUND_RECORD) {
		c.messages += r.kind == RECLOG_MESSAGE;
		c.lost += r.kind == RECLOG_LOSS ? r.number : 0;
	}
	if (!fstat(fd, &st))
		c.bytes = (double)st.st_size;
	reclog_close(&own);
	mcaprec_reader_free(reader);
	close(fd);
	return c;
}

/* Returns the CPU time, in percent of a core. */
static double measure_record(const char *compress)
{
	const char *format = compress ? compress : "own";
	double length = bench_seconds(SECONDS), cpu, took;
	uint64_t rounds = (uint64_t)(length * HZ);
	pid_t writers[WRITERS], recorder;
	struct counted c;
	struct rusage usage;
	int64_t start_ns;
	int status;

	bench_hang_limit(length + 60);
	for (unsigned i = 0; i < CHANNELS; i++)
		make_channel(names[i], "record", i, 64);
	unlink(file);
	recorder = start_recorder(compress);
	await_recorder(recorder);
	start_ns = bench_now_ns() + BENCH_NS_PER_S / 10;
	for (unsigned i = 0; i < WRITERS; i++) {
		writers[i] = bench_fork();
		if (!writers[i])
			write_channels(i, start_ns, rounds);
	}
	bench_reap(writers, WRITERS);
	took = (double)(bench_now_ns() - start_ns) * 1e-9;
	kill(recorder, SIGINT);
	if (wait4(recorder, &status, 0, &usage) != recorder || status)
		bench_die("ach record ended with status %d", status);
	cpu = 100 * (seconds(usage.ru_utime) + seconds(usage.ru_stime)) / took;
	c = count_recorded(compress);
	if (c.messages + c.lost != rounds * CHANNELS)
		bench_die("%llu messages recorded and %llu lost of %llu", (unsigned long long)c.messages,
			  (unsigned long long)c.lost, (unsigned long long)(rounds * CHANNELS));
	printf("record%s%s: %d channels at %d Hz, %zu B, %.1f s\n", compress ? " --mcap --compress=" : "",
	       compress ? compress : "", CHANNELS, HZ, sizeof(struct msg_imu), took);
	printf("  %.1f %% of a core, %llu of %llu messages lost, %.1f MB/s, %ld switches/s\n", cpu,
	       (unsigned long long)c.lost, (unsigned long long)(rounds * CHANNELS), c.bytes / took * 1e-6,
	       (long)((double)(usage.ru_nvcsw + usage.ru_nivcsw) / took));
	figures_line(cpu, "%", "record.50x1kHz.%s.cpu", format);
	figures_line(100.0 * (double)c.lost / (double)(rounds * CHANNELS), "%", "record.50x1kHz.%s.lost", format);
	figures_line(c.bytes / took * 1e-6, "MB/s", "record.50x1kHz.%s.written", format);
	unlink(file);
	for (unsigned i = 0; i < CHANNELS; i++)
		ach_unlink(names[i]);
	bench_hang_limit(0);
	return cpu;
}

static void compare_formats(void)
{
	static const char *const formats[] = { NULL, "none", "lz4", "zstd" };
	double cpu[ROUNDS], ratio[4][ROUNDS];

	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < 4; i++) {
			cpu[round] = i ? cpu[round] : measure_record(NULL);
			ratio[i][round] = i ? measure_record(formats[i]) / cpu[round] : 1;
		}
	for (int i = 1; i < 4; i++) {
		const double median = figures_median(ratio[i], ROUNDS);

		printf("CPU time of record --mcap --compress=%s against its own format: %.2f (%s)\n", formats[i],
		       median, figures_target(median, 1, "record.50x1kHz.%s.cpu_ratio", formats[i]));
	}
}

/* to: a descriptor; -1: nowhere. */
static int write_formatted(void *to, const void *bytes, size_t len)
{
	const int fd = *(const int *)to;

	return fd < 0 || write(fd, bytes, len) == (ssize_t)len ? 0 : -EIO;
}

/* As the recorder passes it to its thread, which writes its own format as it is (writer NULL). */
static void format_record(struct mcaprec_writer *writer, int fd, struct reclog_record r)
{
	static _Alignas(uint64_t) uint8_t items[1 << 17];
	static size_t len;
	uint8_t *item = items + len;

	if (writer)
		reclog_head_bare(item, &r);
	else
		reclog_head(item, &r);
	memcpy(item + RECLOG_HEAD_SIZE, r.body, r.len);
	r.body = item + RECLOG_HEAD_SIZE;
	len += RECLOG_HEAD_SIZE + r.len;
	if (writer ? mcaprec_put(writer, &r) : len > sizeof(items) - 2048 && write_formatted(&fd, items, len))
		bench_die("a recording cannot be written");
	if (len > sizeof(items) - 2048)
		len = 0;
}

static int format_messages(const char *format, int fd, uint64_t n)
{
	static const char *const formats[] = { [MCAP_NONE] = "none", [MCAP_LZ4] = "lz4", [MCAP_ZSTD] = "zstd" };
	struct mcap_options options = { .library = "bench", .write = write_formatted, .to = &fd };
	struct mcap_writer *mcap = NULL;
	struct mcaprec_writer *writer = NULL;
	uint8_t body[RECLOG_CHANNEL_MAX];

	for (int i = MCAP_NONE; i <= MCAP_ZSTD; i++)
		if (!strcmp(format, formats[i])) {
			options.compression = (enum mcap_compression)i;
			mcap = mcap_writer_new(&options);
			writer = mcaprec_writer_new(mcap);
		}
	format_record(writer, fd, (struct reclog_record){ .kind = RECLOG_START, .number = 1, .body = body });
	for (uint16_t i = 0; i < CHANNELS; i++) {
		struct reclog_channel what = { .count = 64, .size = sizeof(struct msg_imu), .type = msg_imu_number };

		snprintf(what.name, sizeof(what.name), "bench-record-%u", i);
		format_record(writer, fd,
			      (struct reclog_record){ .kind = RECLOG_CHANNEL,
						      .channel = i,
						      .number = i + 1,
						      .body = body,
						      .len = reclog_channel_write(body, &what) });
	}
	for (uint64_t i = 0; i < n; i++) {
		const int64_t t_ns = (int64_t)i * BENCH_NS_PER_S / HZ / CHANNELS;
		const struct msg_imu imu = imu_of(1 + i / CHANNELS, t_ns);

		format_record(writer, fd,
			      (struct reclog_record){ .kind = RECLOG_MESSAGE,
						      .channel = (uint16_t)(i % CHANNELS),
						      .t_ns = t_ns,
						      .number = 1 + i / CHANNELS,
						      .body = (const uint8_t *)&imu,
						      .len = sizeof(imu) });
	}
	if (writer && mcap_write_end(mcap))
		bench_die("a recording cannot be written");
	mcaprec_writer_free(writer);
	mcap_writer_free(mcap);
	return 0;
}

/* The CPU time that the format takes with its file.  The load of the machine changes it less than that of a recorder,
 * which depends on how many messages it finds when it wakes. */
static double measure_format(const char *format)
{
	struct rusage usage;
	int status, fd;
	pid_t pid;

	unlink(file);
	fd = open(file, O_WRONLY | O_CREAT, 0600);
	pid = bench_fork();
	if (!pid)
		_exit(format_messages(format, fd, 5 * FORMATTED));
	if (wait4(pid, &status, 0, &usage) != pid || status)
		bench_die("the format %s ended with status %d", format, status);
	close(fd);
	unlink(file);
	return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

static void compare_formats_alone(void)
{
	static const char *const formats[] = { "own", "none", "lz4", "zstd" };
	double own[FORMAT_ROUNDS], ratio[4][FORMAT_ROUNDS];

	for (int round = 0; round < FORMAT_ROUNDS; round++)
		for (int i = 0; i < 4; i++) {
			const double cpu = measure_format(formats[i]);

			own[round] = i ? own[round] : cpu;
			ratio[i][round] = cpu / own[round];
		}
	for (int i = 1; i < 4; i++) {
		const double median = figures_median(ratio[i], FORMAT_ROUNDS);

		printf("CPU time of MCAP with %s and its file against the own format: %.2f\n", formats[i], median);
		figures_line(median, "", "record.format.%s.cpu_ratio", formats[i]);
	}
}

static void measure_echo(void)
{
	char name[ACH_CHAN_NAME_MAX];
	ach_channel_t chan;
	int64_t start_ns, took_ns;
	pid_t pid;

	bench_hang_limit(60);
	open_channel(&chan, make_channel(name, "echo", 0, ECHOED));
	for (unsigned i = 0; i < ECHOED; i++)
		put_imu(&chan, i + 1);
	start_ns = bench_now_ns();
	pid = bench_fork();
	if (!pid) {
		dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
		execl(tool, tool, "echo", name, "--json", (char *)NULL);
		bench_die("%s: %s", tool, strerror(errno));
	}
	bench_reap(&pid, 1);
	took_ns = bench_now_ns() - start_ns;
	printf("echo --json: %d messages (imu, %zu B) in %.0f ms\n", ECHOED, sizeof(struct msg_imu),
	       (double)took_ns * 1e-6);
	figures_line((double)ECHOED * 1e9 / (double)took_ns, "messages/s", "echo.json.imu");
	ach_unlink(name);
	bench_hang_limit(0);
}

int main(int argc, char **argv)
{
	const char *folder = argc > 1 ? argv[1] : "build/bench";

	if (argc > 2)
		return format_messages(argv[2], -1, FORMATTED);
	snprintf(tool, sizeof(tool), "%s/../ach", folder);
	snprintf(file, sizeof(file), "%s/record.tmp", folder);
	compare_formats_alone();
	compare_formats();
	measure_echo();
	figures_print();
	return 0;
}
