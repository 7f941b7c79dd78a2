/* test_bus_log_sent.c: frames sent on a log are written to a file, byte for byte the same on the virtual clock. */
#include <fcntl.h>
#include <sys/stat.h>

#include "test/lib/clock_virtual.h"
#include "test/lib/testcase.h"

#include "can/bus/bus.h"
#include "channels/clock/clock.h"
#include "test/can/bus/bus_suite.h"
#include "test/lib/lib.h"

#define MS 1000000ll
#define S 1000000000ll
#define START (5 * S)
#define FRAMES 1024 /* kept in memory */

static char folder[32], trace[64], sent[64], name[160], line[ERROR_LINE_MAX];
static unsigned int lines;
static char text[FRAMES * 80];
static struct bus *bus;
static struct bus_frame got[64];

static void keep(void *to, const char *said)
{
	(void)to;
	lines++;
	snprintf(line, sizeof(line), "%s", said);
}

static void write_file(const char *path, const char *content)
{
	FILE *f = fopen(path, "w");

	TEST_ASSERT_NOT_NULL(f);
	TEST_ASSERT_TRUE(fputs(content, f) >= 0);
	TEST_ASSERT_EQUAL_INT(0, fclose(f));
}

static const char *read_file(const char *path)
{
	FILE *f = fopen(path, "r");
	size_t n;

	TEST_ASSERT_NOT_NULL_MESSAGE(f, path);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = 0;
	return text;
}

void setUp(void)
{
	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
	clock_use_virtual(START);
	strcpy(folder, "/tmp/test_bus_log.XXXXXX");
	TEST_ASSERT_NOT_NULL(mkdtemp(folder));
	snprintf(trace, sizeof(trace), "%s/trace.log", folder);
	snprintf(sent, sizeof(sent), "%s/sent.log", folder);
}

void tearDown(void)
{
	bus_close(bus);
	bus = NULL;
	bus_suite_end_case();
	clock_use(&clock_real);
	unlink(trace);
	unlink(sent);
	rmdir(folder);
}

/* Plays content; interface is "" or "@can1". */
static void play_into(const char *path, const char *content, const char *interface, const struct bus_options *options)
{
	struct error_sink errors = { .line = keep };

	write_file(trace, content);
	snprintf(name, sizeof(name), "log:%s%s>%s", trace, interface, path);
	line[0] = 0;
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, bus_open(&bus, name, options, &errors), line);
}

static void play(const char *content, const char *interface, const struct bus_options *options)
{
	play_into(sent, content, interface, options);
}

static void close_bus(void)
{
	bus_close(bus);
	bus = NULL;
}

static void send_at(int64_t t_ns, const char *frame)
{
	struct frame f = bus_suite_frame(frame);

	clock_wait(NULL, 0, t_ns);
	TEST_ASSERT_EQUAL_INT(0, bus_send(bus, &f));
}

static int receive_at(int64_t t_ns)
{
	clock_wait(NULL, 0, t_ns);
	return bus_receive(bus, got, 64);
}

/* ---- times and names ---- */

static const char two_buses[] = "(1000.000000) can0 100#01\n"
				"(1000.010000) can1 101#02\n"
				"(1002.000000) can1 103#04\n";

TEST(with_the_times_of_the_log)
{
	play(two_buses, "@can1", &(struct bus_options){ .fd = true });
	TEST_ASSERT_EQUAL_INT(0, receive_at(START));
	send_at(START, "7FF#00");
	TEST_ASSERT_EQUAL_INT(1, receive_at(START)); /* echoed at once */
	TEST_ASSERT_EQUAL_HEX32(BUS_OWN, got[0].flags);
	TEST_ASSERT_EQUAL_INT64(START, got[0].t_ns);
	send_at(START + 1234567, "12345678#R4");
	TEST_ASSERT_EQUAL_INT(2, receive_at(START + 10 * MS));
	send_at(START + 10 * MS, "0E4#0B110000803E");
	send_at(START + 10 * MS, "123##5112233");
	TEST_ASSERT_EQUAL_INT(3, receive_at(START + 3 * S));
	TEST_ASSERT_EQUAL_INT(-ENODATA, receive_at(START + 3 * S));
	send_at(START + 3 * S, "7FF#01"); /* time goes on when all is played */
	close_bus();
	TEST_ASSERT_EQUAL_STRING("(0000001000.000000) can1 7FF#00\n"
				 "(0000001000.001234) can1 12345678#R4\n"
				 "(0000001000.010000) can1 0E4#0B110000803E\n"
				 "(0000001000.010000) can1 123##5112233\n"
				 "(0000001003.000000) can1 7FF#01\n",
				 read_file(sent));
}

static void one_driver(void)
{
	for (int i = 0; i < 100; i++) {
		struct frame f = { .id = 0x100 + (uint32_t)i, .len = 2, .data = { (uint8_t)i } };

		receive_at(clock_now_ns() + i * 1234567);
		TEST_ASSERT_EQUAL_INT(0, bus_send(bus, &f));
	}
	close_bus();
}

/* Wherever the clock begins, and whatever was in the file before. */
TEST(the_same_each_time)
{
	static char first[sizeof(text)];

	play(two_buses, "", NULL);
	one_driver();
	strcpy(first, read_file(sent));
	TEST_ASSERT_EQUAL_MEMORY("(0000001000.000000) log 100#0000\n", first, 33);
	TEST_ASSERT_EQUAL_size_t(100 * 33, strlen(first));
	clock_use_virtual(777 * S + 123);
	play(two_buses, "", NULL);
	one_driver();
	TEST_ASSERT_EQUAL_STRING(first, read_file(sent));
	clock_use_virtual(START);
	play("", "", NULL);
	close_bus();
	TEST_ASSERT_EQUAL_STRING("", read_file(sent));
}

TEST(before_the_first_record)
{
	play(two_buses, "", NULL);
	send_at(START, "001#");
	send_at(START + 250 * MS, "002#");
	TEST_ASSERT_EQUAL_INT(3, receive_at(START + S)); /* that is 1000 s now */
	send_at(START + S, "003#");
	close_bus();
	TEST_ASSERT_EQUAL_STRING("(0000000999.000000) log 001#\n"
				 "(0000000999.250000) log 002#\n"
				 "(0000001000.000000) log 003#\n",
				 read_file(sent));
	clock_use_virtual(START); /* times before 0 cannot be written */
	play("(0.5) can0 100#\n", "", NULL);
	send_at(START, "001#");
	TEST_ASSERT_EQUAL_INT(2, receive_at(START + S));
	send_at(START + S, "002#");
	close_bus();
	TEST_ASSERT_EQUAL_STRING("(0000000000.000000) log 001#\n"
				 "(0000000000.500000) log 002#\n",
				 read_file(sent));
}

/* Nothing of the log is ours, but its times are.  Without any they count from the opening. */
TEST(without_a_record)
{
	play(two_buses, "@can7", NULL);
	TEST_ASSERT_EQUAL_INT(-ENODATA, receive_at(START));
	send_at(START + S, "001#");
	close_bus();
	TEST_ASSERT_EQUAL_STRING("(0000001001.000000) can7 001#\n", read_file(sent));
	clock_use_virtual(START);
	play("", "@can7", NULL);
	send_at(START + S, "001#");
	TEST_ASSERT_EQUAL_INT(1, receive_at(START + S));
	TEST_ASSERT_EQUAL_INT(-ENODATA, receive_at(START + S));
	send_at(START + 2 * S, "002#");
	close_bus();
	TEST_ASSERT_EQUAL_STRING("(0000000001.000000) can7 001#\n"
				 "(0000000002.000000) can7 002#\n",
				 read_file(sent));
}

/* The log's clock was set, also in frames of other buses: a frame sent before that has the time before. */
TEST(when_the_clock_was_set)
{
	play("(1000.0) can1 100#\n"
	     "(1001.0) can0 101#\n"
	     "(0900.0) can0 102#\n"
	     "(0900.5) can1 103#\n",
	     "@can1", NULL);
	TEST_ASSERT_EQUAL_INT(1, receive_at(START));
	TEST_ASSERT_EQUAL_INT(0, receive_at(START));
	send_at(START + 500 * MS, "001#");
	TEST_ASSERT_EQUAL_INT(2, receive_at(START + 1500 * MS));
	send_at(START + 1600 * MS, "002#");
	close_bus();
	TEST_ASSERT_EQUAL_STRING("(0000001000.500000) can1 001#\n"
				 "(0000000900.600000) can1 002#\n",
				 read_file(sent));
}

/* ---- what is kept, and when it is written ---- */

TEST(refused_frames_are_not_kept)
{
	struct frame f = { .id = 1 };

	play(two_buses, "", NULL);
	TEST_ASSERT_EQUAL_INT(-EINVAL, bus_send(bus, &(struct frame){ .len = 9 }));
	for (int i = 0; i < 64; i++)
		TEST_ASSERT_EQUAL_INT(0, bus_send(bus, &f));
	TEST_ASSERT_EQUAL_INT(-ENOBUFS, bus_send(bus, &f));
	close_bus();
	TEST_ASSERT_EQUAL_size_t(64 * 29, strlen(read_file(sent)));
}

static off_t size_of(const char *path)
{
	struct stat st;

	TEST_ASSERT_EQUAL_INT(0, stat(path, &st));
	return st.st_size;
}

TEST(written_when_full)
{
	char expected[80];

	play(two_buses, "", &(struct bus_options){ .no_echo = true });
	receive_at(START);
	for (int i = 0; i < FRAMES + 1; i++) {
		struct frame f = { .id = 0x100 + (uint32_t)i };

		TEST_ASSERT_EQUAL_INT(i < FRAMES ? 0 : FRAMES * 29, (int)size_of(sent));
		clock_wait(NULL, 0, START + i * MS);
		TEST_ASSERT_EQUAL_INT(0, bus_send(bus, &f));
	}
	close_bus();
	read_file(sent);
	for (int i = 0; i < FRAMES + 1; i++) {
		snprintf(expected, sizeof(expected), "(000000100%d.%03d000) log %03X#\n", i / 1000, i % 1000,
			 0x100 + i);
		TEST_ASSERT_EQUAL_MEMORY(expected, text + i * 29, 29);
	}
	TEST_ASSERT_EQUAL_size_t((FRAMES + 1) * 29, strlen(text));
}

static const char damaged[] = "(1.0) can0 100#\nnonsense\n(1.0) can0 101#\n";

/* Devices are not locked. */
static void play_another(void)
{
	struct bus *first = bus;

	bus = NULL;
	play_into("/dev/full", damaged, "", NULL);
	close_bus();
	bus = first;
}

/* A disk that is full: frames are lost, and counted beside the log's damaged lines. */
TEST(frames_that_cannot_be_written_are_dropped)
{
	struct frame f = { .id = 1 };

	play_into("/dev/full", damaged, "", &(struct bus_options){ .no_echo = true });
	for (int i = 0; i < FRAMES - 1; i++)
		TEST_ASSERT_EQUAL_INT(0, bus_send(bus, &f));
	TEST_ASSERT_EQUAL_UINT64(0, bus_stats(bus)->dropped);
	TEST_ASSERT_EQUAL_INT(0, bus_send(bus, &f));
	TEST_ASSERT_EQUAL_UINT64(FRAMES, bus_stats(bus)->dropped);
	play_another();
	TEST_ASSERT_EQUAL_INT(2, receive_at(START));
	TEST_ASSERT_EQUAL_UINT64(FRAMES + 1, bus_stats(bus)->dropped);
	for (int i = 0; i < FRAMES; i++)
		TEST_ASSERT_EQUAL_INT(0, bus_send(bus, &f));
	TEST_ASSERT_EQUAL_UINT64(2 * FRAMES + 1, bus_stats(bus)->dropped);
}

/* ---- refusals ---- */

static void refused(int error, const char *path, const char *said)
{
	struct error_sink errors = { .line = keep };
	char all[ERROR_LINE_MAX];
	struct bus *other;

	lines = 0;
	snprintf(name, sizeof(name), "log:%s>%s", trace, path);
	snprintf(all, sizeof(all), "%s: %s", path, said);
	TEST_ASSERT_EQUAL_INT(error, bus_open(&other, name, NULL, &errors));
	TEST_ASSERT_NULL(other);
	TEST_ASSERT_EQUAL_UINT(1, lines);
	TEST_ASSERT_EQUAL_STRING(all, line);
}

static int descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

TEST(a_file_that_cannot_be)
{
	int open_before;

	play(two_buses, "", NULL);
	open_before = descriptors();
	for (int i = 0; i < 3; i++) {
		refused(-EINVAL, trace, "this log is being played: write the frames sent to another file");
		refused(-EBUSY, sent, "the frames that another bus sends are written there: name another file");
		refused(-ENOENT, "/nowhere/at/all", "unable to write the frames sent: No such file or directory");
		refused(-EISDIR, folder, "unable to write the frames sent: Is a directory");
	}
	TEST_ASSERT_EQUAL_INT(open_before, descriptors());
	TEST_ASSERT_EQUAL_STRING(two_buses, read_file(trace));
	send_at(START, "001#");
	close_bus();
	TEST_ASSERT_EQUAL_STRING("(0000000000.000000) log 001#\n", read_file(sent));
	TEST_ASSERT_EQUAL_INT(open_before - 2, descriptors());
	play(two_buses, "", NULL); /* free again */
}

/* A pipe without a reader does not block. */
TEST(a_pipe_without_a_reader)
{
	write_file(trace, two_buses);
	TEST_ASSERT_EQUAL_INT(0, mkfifo(sent, 0600));
	refused(-ENXIO, sent, "unable to write the frames sent: No such device or address");
}
