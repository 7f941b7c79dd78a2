/* test_bus.c: names, refusals, states, filters, and logs on the virtual clock; for kernels with and without CAN. */
#define _GNU_SOURCE
#include <linux/can.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "test/lib/clock_virtual.h"
#include "test/lib/testcase.h"

#include "can/bus/bus_backend.h"
#include "can/bus/bus_filters.h"
#include "can/bus/bus_interface.h"
#include "channels/clock/clock.h"
#include "test/can/bus/bus_suite.h"
#include "test/lib/lib.h"

/* ---- counted allocations; a sanitizer has its own ---- */

static volatile int allocations; /* the compiler believes that malloc changes nothing */

#ifndef LIB_SANITIZED
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size)
{
	allocations++;
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	allocations++;
	return __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	allocations++;
	return __libc_realloc(old, size);
}
#endif

/* ---- what the cases need ---- */

#define MS 1000000ll
#define S 1000000000ll
#define START (5 * S)

static char line[ERROR_LINE_MAX];
static unsigned int lines;
static char path[80];
static char name[128];
static struct bus_frame got[64];

static void keep(void *to, const char *text)
{
	(void)to;
	lines++;
	snprintf(line, sizeof(line), "%s", text);
}

/* The status of bus_open; with a line unless it is 0. */
static int refusal(const char *bus_name_, const struct bus_options *options)
{
	struct error_sink errors = { .line = keep };
	struct bus *bus;
	int r;

	line[0] = 0;
	lines = 0;
	r = bus_open(&bus, bus_name_, options, &errors);
	if (r)
		TEST_ASSERT_NULL(bus);
	bus_close(bus);
	TEST_ASSERT_EQUAL_UINT(r ? 1 : 0, lines);
	return r;
}

void setUp(void)
{
	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
	clock_use_virtual(START);
}

void tearDown(void)
{
	bus_suite_end_case();
	clock_use(&clock_real);
	if (path[0])
		unlink(path);
	path[0] = 0;
}

/* A log with that text, and the bus that plays it. */
static struct bus *log_bus(const char *text, const char *interface, const struct bus_options *options)
{
	int fd;

	if (!path[0]) {
		snprintf(path, sizeof(path), "/tmp/test_bus.XXXXXX");
		fd = mkstemp(path);
		TEST_ASSERT_TRUE(fd >= 0);
		TEST_ASSERT_EQUAL_INT((int)strlen(text), (int)write(fd, text, strlen(text)));
		close(fd);
	}
	snprintf(name, sizeof(name), "log:%s%s", path, interface);
	return bus_suite_open(name, options);
}

/* Goes to when the bus wants to be called next, and calls it. */
static int next(struct bus *bus)
{
	TEST_ASSERT_TRUE(bus_next_ns(bus) != CLOCK_NEVER);
	clock_wait(NULL, 0, bus_next_ns(bus));
	return bus_receive(bus, got, 64);
}

static void check(int64_t t_ns, const char *text, uint32_t flags, const struct bus_frame *f)
{
	struct frame expected = bus_suite_frame(text);

	TEST_ASSERT_TRUE_MESSAGE(frame_equal(&expected, &f->frame), text);
	TEST_ASSERT_EQUAL_INT64_MESSAGE(t_ns, f->t_ns, text);
	TEST_ASSERT_EQUAL_HEX32_MESSAGE(flags, f->flags, text);
}

/* ---- names ---- */

TEST(names)
{
	static const struct {
		const char *name, *wrong; /* part of what is said */
	} rows[] = {
		{ "can0", NULL },
		{ "vcan12", NULL },
		{ "slcan-left.2", NULL },
		{ "123456789012345", NULL },
		{ "1234567890123456", "at most 15 characters" },
		{ "", "missing" },
		{ ".", "named like can0" },
		{ "..", "named like can0" },
		{ "can 0", "no blanks" },
		{ "can0\n", "no blanks" },
		{ "dev/can0", "no slashes" },
		{ "wires:waist", "wire:NAME or log:FILE" },
		{ "can0:1", "wire:NAME or log:FILE" },
		{ "wire:waist", NULL },
		{ "log:trace.log", NULL },
		{ "log:/some/where/a trace.log@can1", NULL },
		{ "log:", "the file is missing" },
		{ "log:@can1", "the file is missing" },
		{ "log:-", "not a pipe" },
		{ "log:trace.log>sent.log", NULL },
		{ "log:trace.log@can1>some/where/sent >1.log", NULL },
		{ "log:>sent.log", "the file is missing" },
		{ "log:@can1>sent.log", "the file is missing" },
		{ "log:->sent.log", "not a pipe" },
		{ "log:trace.log>", "log:FILE>SENT" },
		{ "log:trace.log@can1>-", "log:FILE>SENT" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *wrong = bus_name_wrong(rows[i].name);

		if (!rows[i].wrong) {
			TEST_ASSERT_NULL_MESSAGE(wrong, rows[i].name);
			continue;
		}
		TEST_ASSERT_NOT_NULL_MESSAGE(wrong, rows[i].name);
		TEST_ASSERT_NOT_NULL_MESSAGE(strstr(wrong, rows[i].wrong), wrong);
		TEST_ASSERT_EQUAL_INT(-EINVAL, refusal(rows[i].name, &(struct bus_options){ .later = true }));
		TEST_ASSERT_NOT_NULL_MESSAGE(strstr(line, rows[i].wrong), line);
	}
	TEST_ASSERT_EQUAL_INT(-EINVAL, refusal("can 0", NULL));
	TEST_ASSERT_EQUAL_STRING("\"can 0\" is not a bus: the name of an interface has no blanks and no slashes", line);
}

TEST(options)
{
	static const struct bus_filter filters[BUS_FILTERS_MAX + 1];

	TEST_ASSERT_EQUAL_INT(-EINVAL, refusal("can0", &(struct bus_options){ .filters = filters, .filters_n = 513 }));
	TEST_ASSERT_EQUAL_STRING("can0: 513 filters, but a bus takes at most 512: join some of them by a mask", line);
	TEST_ASSERT_TRUE(refusal("can0", &(struct bus_options){ .filters = filters, .filters_n = 512 }) != -EINVAL);
	TEST_ASSERT_EQUAL_INT(-EINVAL, refusal("can0", &(struct bus_options){ .filters_n = 1 }));
	bus_close(NULL);
}

/* ---- an interface, with and without CAN in the kernel ---- */

TEST(interface_that_is_not_there)
{
	int s = socket(AF_CAN, SOCK_RAW, CAN_RAW);
	char none[16];
	struct bus *bus;
	int r;

	snprintf(none, sizeof(none), "no%d", (int)getpid() % 1000000);
	r = refusal(none, NULL);
	if (s < 0) {
		TEST_ASSERT_EQUAL_INT(-EAFNOSUPPORT, r);
		TEST_ASSERT_NOT_NULL_MESSAGE(strstr(line, "this kernel has no CAN: load it, modprobe can_raw, or use a "
							  "soft wire, wire:NAME"),
					     line);
	} else {
		TEST_ASSERT_EQUAL_INT(-ENODEV, r);
		TEST_ASSERT_NOT_NULL_MESSAGE(strstr(line, ": no such CAN interface; "), line);
		TEST_ASSERT_EQUAL_INT(-EINVAL, refusal("lo", NULL));
		close(s);
	}
	bus = bus_suite_open(none, &(struct bus_options){ .later = true });
	TEST_ASSERT_EQUAL_STRING(none, bus_name(bus));
	TEST_ASSERT_EQUAL_INT(BUS_ABSENT, bus_state(bus));
	TEST_ASSERT_TRUE(bus_fd(bus) >= 0);
	TEST_ASSERT_EQUAL_INT(-ENODEV, bus_send(bus, &(struct frame){ .id = 1 }));
	for (int i = 0; i < 200; i++) { /* twenty seconds and more */
		struct clock_fd fd = { .fd = bus_fd(bus), .events = POLLIN };
		int64_t now_ns = clock_now_ns();

		TEST_ASSERT_EQUAL_INT(-ENODEV, bus_receive(bus, got, 64));
		TEST_ASSERT_TRUE(bus_next_ns(bus) > now_ns && bus_next_ns(bus) <= now_ns + S);
		TEST_ASSERT_EQUAL_INT(0, clock_wait(&fd, 1, bus_next_ns(bus)));
	}
	TEST_ASSERT_EQUAL_UINT64(0, bus_stats(bus)->attached);
}

/* From now on socket(AF_CAN) is answered with an error in this process. */
static int denied_child(void *error)
{
	const int e = *(int *)error;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_CAN, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned int)e),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(code) / sizeof(code[0]), .filter = code };
	struct bus_options later = { .later = true };

	LIB_CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	LIB_CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
	if (e == EPROTONOSUPPORT || e == EAFNOSUPPORT) { /* a kernel that may have it later */
		LIB_CHECK(refusal("can0", NULL) == -EAFNOSUPPORT && strstr(line, "this kernel has no CAN"));
		LIB_CHECK(refusal("can0", &later) == 0);
	} else {
		LIB_CHECK(refusal("can0", &later) == -e && !strncmp(line, "can0: ", 6) && strstr(line, strerror(e)));
		LIB_CHECK(!strstr(line, "not allowed") == (e == EMFILE));
	}
	return 0;
}

TEST(not_permitted)
{
	static int errors[] = { EPERM, EACCES, EMFILE, EAFNOSUPPORT, EPROTONOSUPPORT };

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		TEST_ASSERT_EQUAL_INT(0, lib_join(lib_child(denied_child, &errors[i])));
}

/* ---- states ---- */

TEST(states)
{
	static const struct {
		enum bus_state from;
		const char *error;
		enum bus_state to;
	} rows[] = {
		{ BUS_ERROR_ACTIVE, "20000040#0000000000000000", BUS_OFF },
		{ BUS_PASSIVE, "20000044#0040000000000000", BUS_OFF },
		{ BUS_OFF, "20000100#0000000000000000", BUS_ERROR_ACTIVE },
		{ BUS_ERROR_ACTIVE, "20000004#0004000000000000", BUS_WARNING },
		{ BUS_ERROR_ACTIVE, "20000004#0008000000000000", BUS_WARNING },
		{ BUS_ERROR_ACTIVE, "20000004#0010000000000000", BUS_PASSIVE },
		{ BUS_ERROR_ACTIVE, "20000004#0020000000000000", BUS_PASSIVE },
		{ BUS_ERROR_ACTIVE, "20000004#0024000000000000", BUS_PASSIVE }, /* passive for sending, warning else */
		{ BUS_PASSIVE, "20000004#0008000000000000", BUS_WARNING },
		{ BUS_PASSIVE, "20000004#0040000000000000", BUS_ERROR_ACTIVE },
		{ BUS_OFF, "20000004#0040000000000000", BUS_ERROR_ACTIVE },
		{ BUS_PASSIVE, "20000204#004000000000007F", BUS_ERROR_ACTIVE }, /* the word counts, then the numbers */
		/* the receiver overflowed, which says nothing, and counters */
		{ BUS_PASSIVE, "20000004#0001000000000000", BUS_PASSIVE },
		{ BUS_ERROR_ACTIVE, "20000004#0001000000006000", BUS_WARNING },
		{ BUS_PASSIVE, "20000204#0001000000000000", BUS_ERROR_ACTIVE },
		{ BUS_PASSIVE, "20000200#0000000000005F5F", BUS_ERROR_ACTIVE },
		{ BUS_ERROR_ACTIVE, "20000200#0000000000006000", BUS_WARNING },
		{ BUS_ERROR_ACTIVE, "20000200#000000000000007F", BUS_WARNING },
		{ BUS_ERROR_ACTIVE, "20000200#0000000000000080", BUS_PASSIVE },
		{ BUS_ERROR_ACTIVE, "20000200#000000000000FF00", BUS_PASSIVE },
		{ BUS_OFF, "20000200#0000000000000000", BUS_OFF },
		{ BUS_OFF, "20000008#0000000000008080", BUS_OFF },
		/* bits of data[1] only mean that when the class says so */
		{ BUS_ERROR_ACTIVE, "20000008#0030000000000000", BUS_ERROR_ACTIVE },
		{ BUS_WARNING, "20000001#0000000000000000", BUS_WARNING },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct frame f = bus_suite_frame(rows[i].error);

		TEST_ASSERT_EQUAL_STRING_MESSAGE(bus_state_name(rows[i].to),
						 bus_state_name(bus_state_after(rows[i].from, &f)), rows[i].error);
	}
	TEST_ASSERT_EQUAL_STRING("absent", bus_state_name(BUS_ABSENT));
	TEST_ASSERT_EQUAL_STRING("stopped", bus_state_name(BUS_STOPPED));
	TEST_ASSERT_EQUAL_STRING("error-active", bus_state_name(BUS_ERROR_ACTIVE));
	TEST_ASSERT_EQUAL_STRING("warning", bus_state_name(BUS_WARNING));
	TEST_ASSERT_EQUAL_STRING("passive", bus_state_name(BUS_PASSIVE));
	TEST_ASSERT_EQUAL_STRING("bus-off", bus_state_name(BUS_OFF));
	TEST_ASSERT_EQUAL_STRING("unknown", bus_state_name((enum bus_state)99));
}

/* ---- interfaces and filters ---- */

TEST(an_echo_of_its_own)
{
	static const struct {
		struct bus_interface link;
		bool confirms;
	} cases[] = {
		{ { .flags = 0x400c1, .kind = "can" }, true },	  { { .flags = 0x400c1, .kind = "" }, true },
		{ { .flags = 0x000c1, .kind = "can" }, false },	  { { .flags = 0x000c1, .kind = "" }, false },
		{ { .flags = 0x000c1, .kind = "slcan" }, false }, { { .flags = 0x000c1, .kind = "vcan" }, true },
		{ { .flags = 0x000c1, .kind = "vxcan" }, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		TEST_ASSERT_EQUAL(cases[i].confirms, bus_interface_confirms(&cases[i].link));
}

TEST(filters_of_the_kernel)
{
	struct bus_filter wanted[] = { { 0x100, FRAME_EXT | FRAME_RTR | 0x7f0 },
				       { 0x200 | FRAME_ERR, 0x7ff },
				       { FRAME_ERR, FRAME_ERR } };
	uint32_t sends[] = { 0x101, 0x301 };
	struct bus_options o = { .filters = wanted, .filters_n = 3, .sends = sends, .sends_n = 2 };
	static struct bus_filters f;

	bus_filters_start(&f, &(struct bus_options){ 0 });
	TEST_ASSERT_TRUE(f.all && !f.more && bus_filters_want(&f, 0x7ff));
	TEST_ASSERT_FALSE(bus_filters_echo(&f, 5));

	bus_filters_start(&f, &o);
	TEST_ASSERT_TRUE(!f.all && f.more);
	TEST_ASSERT_EQUAL_UINT(3, f.kernel_n); /* 0x101 passes anyway, and the third takes nothing */
	TEST_ASSERT_EQUAL_HEX32(0x200, f.kernel[1].id);
	TEST_ASSERT_EQUAL_HEX32(0x301, f.kernel[2].id);
	TEST_ASSERT_EQUAL_HEX32(FRAME_EXT | FRAME_RTR | FRAME_STD_MASK, f.kernel[2].mask);
	TEST_ASSERT_TRUE(bus_filters_want(&f, 0x10f));
	TEST_ASSERT_FALSE(bus_filters_want(&f, 0x10f | FRAME_RTR));
	TEST_ASSERT_FALSE(bus_filters_want(&f, 0x301));
	TEST_ASSERT_FALSE(bus_filters_echo(&f, 0x301));
	TEST_ASSERT_TRUE(bus_filters_echo(&f, 0x301 | FRAME_EXT));
	TEST_ASSERT_EQUAL_HEX32(FRAME_EXT | FRAME_RTR | FRAME_EXT_MASK, f.kernel[3].mask);
	TEST_ASSERT_TRUE(bus_filters_echo(&f, 0x301 | FRAME_RTR));

	o.no_echo = true;
	bus_filters_start(&f, &o);
	TEST_ASSERT_TRUE(f.kernel_n == 2 && !f.more);
}

/* When the kernel's list is full it lets everything through, and nothing unwanted comes out for that. */
TEST(filters_beyond_the_kernel)
{
	struct bus_filter wanted = { 0x7ff, FRAME_EXT | FRAME_RTR | FRAME_STD_MASK };
	static struct bus_filters f;

	bus_filters_start(&f, &(struct bus_options){ .filters = &wanted, .filters_n = 1 });
	for (uint32_t id = 0; id < BUS_FILTERS_MAX - 1; id++)
		TEST_ASSERT_TRUE(bus_filters_echo(&f, id));
	TEST_ASSERT_EQUAL_UINT(BUS_FILTERS_MAX, f.kernel_n);
	TEST_ASSERT_TRUE(bus_filters_echo(&f, 0x600));
	TEST_ASSERT_EQUAL_UINT(1, f.kernel_n);
	TEST_ASSERT_EQUAL_HEX32(0, f.kernel[0].mask);
	TEST_ASSERT_FALSE(bus_filters_echo(&f, 0x601));
	TEST_ASSERT_TRUE(f.more && !f.all && bus_filters_want(&f, 0x7ff) && !bus_filters_want(&f, 0x600));
}

/* ---- logs ---- */

static const char two_buses[] = "(1000.000000) can0 100#01\n"
				"(1000.010000) can1 101#02\n"
				"(1000.010500) can0 102#03\n"
				"(1000.010500) can0 12345678#R4\n"
				"(1002.000000) can1 103#04\n";

TEST(log_at_its_pace)
{
	struct bus *bus = log_bus(two_buses, "", NULL);

	TEST_ASSERT_EQUAL_STRING(name, bus_name(bus));
	TEST_ASSERT_EQUAL_INT(-1, bus_fd(bus));
	TEST_ASSERT_EQUAL_INT(BUS_ERROR_ACTIVE, bus_state(bus));
	clock_wait(NULL, 0, START + S); /* it begins when it is first asked */
	TEST_ASSERT_EQUAL_INT(1, bus_receive(bus, got, 64));
	check(6 * S, "100#01", 0, got);
	TEST_ASSERT_EQUAL_INT(0, bus_receive(bus, got, 64));
	TEST_ASSERT_EQUAL_INT64(6 * S + 10 * MS, bus_next_ns(bus));
	clock_wait(NULL, 0, 6 * S + 10 * MS - 1);
	TEST_ASSERT_EQUAL_INT(0, bus_receive(bus, got, 64));
	TEST_ASSERT_EQUAL_INT(1, next(bus));
	check(6 * S + 10 * MS, "101#02", 0, got);
	clock_wait(NULL, 0, 6 * S + 20 * MS); /* late: with the times at which they were due */
	TEST_ASSERT_EQUAL_INT(1, bus_receive(bus, got, 1));
	check(6 * S + 10500000, "102#03", 0, got);
	TEST_ASSERT_EQUAL_INT(1, bus_receive(bus, got, 1));
	check(6 * S + 10500000, "12345678#R4", 0, got);
	TEST_ASSERT_EQUAL_INT(0, bus_receive(bus, got, 1));
	TEST_ASSERT_EQUAL_INT(1, next(bus));
	check(8 * S, "103#04", 0, got);
	for (int i = 0; i < 3; i++) {
		TEST_ASSERT_EQUAL_INT(-ENODATA, bus_receive(bus, got, 64));
		TEST_ASSERT_EQUAL_INT64(CLOCK_NEVER, bus_next_ns(bus));
	}
	TEST_ASSERT_EQUAL_UINT64(5, bus_stats(bus)->received);
	TEST_ASSERT_EQUAL_INT64(8 * S, bus_stats(bus)->received_ns);
	TEST_ASSERT_EQUAL_UINT64(1, bus_stats(bus)->attached);
}

/* The last frame and the end in one call: the frame first. */
TEST(log_end_after_the_last)
{
	struct bus *bus = log_bus("(1.0) can0 100#\n(1.0) can0 101#\n", "", NULL);

	TEST_ASSERT_EQUAL_INT(2, bus_receive(bus, got, 64));
	TEST_ASSERT_EQUAL_INT(-ENODATA, bus_receive(bus, got, 64));
}

TEST(log_of_one_bus)
{
	struct bus *one = log_bus(two_buses, "@can1", NULL), *none = log_bus(NULL, "@can7", NULL);

	TEST_ASSERT_EQUAL_INT(0, bus_receive(one, got, 64));
	TEST_ASSERT_EQUAL_INT(1, next(one)); /* in step with can0 */
	check(START + 10 * MS, "101#02", 0, got);
	TEST_ASSERT_EQUAL_INT(1, next(one));
	check(START + 2 * S, "103#04", 0, got);
	TEST_ASSERT_EQUAL_INT(-ENODATA, bus_receive(one, got, 64));
	TEST_ASSERT_EQUAL_INT(-ENODATA, bus_receive(none, got, 64));
}

TEST(log_with_an_at_in_its_name)
{
	char plain[64];
	struct bus *bus = log_bus("(1.0) can0 100#\n(1.0) can1 101#\n", "", NULL);

	snprintf(plain, sizeof(plain), "%.60s", path);
	snprintf(path, sizeof(path), "%s@can1", plain);
	TEST_ASSERT_EQUAL_INT(0, rename(plain, path));
	bus = log_bus(NULL, "", NULL);
	TEST_ASSERT_EQUAL_INT(2, bus_receive(bus, got, 64));
	bus = log_bus(NULL, "@can1", NULL);
	TEST_ASSERT_EQUAL_INT(1, bus_receive(bus, got, 64));
	check(START, "101#", 0, got);
}

TEST(log_whose_clock_goes_back)
{
	struct bus *bus = log_bus("(1000.000) can0 100#\n"
				  "(1000.500) can0 101#\n"
				  "(1000.400) can0 102#\n" /* at once, with the time of the one before */
				  "(1000.450) can0 103#\n"
				  "(1000.600) can0 104#\n"
				  "(0900.000) can0 105#\n" /* the clock was set: distances count from here */
				  "(0900.250) can0 106#\n",
				  "", NULL);

	TEST_ASSERT_EQUAL_INT(1, next(bus));
	TEST_ASSERT_EQUAL_INT(0, bus_receive(bus, got, 64));
	TEST_ASSERT_EQUAL_INT(3, next(bus));
	check(START + 500 * MS, "101#", 0, &got[0]);
	check(START + 500 * MS, "102#", BUS_RESTAMPED, &got[1]);
	check(START + 500 * MS, "103#", BUS_RESTAMPED, &got[2]);
	TEST_ASSERT_EQUAL_INT(2, next(bus));
	check(START + 600 * MS, "104#", 0, &got[0]);
	check(START + 600 * MS, "105#", BUS_RESTAMPED, &got[1]);
	TEST_ASSERT_EQUAL_INT(1, next(bus));
	check(START + 850 * MS, "106#", 0, &got[0]);
	TEST_ASSERT_EQUAL_UINT64(3, bus_stats(bus)->restamped);
}

TEST(log_filtered)
{
	static const char text[] = "(1.0) can0 100#\n"
				   "(1.1) can0 200#\n"
				   "(1.2) can0 100##1AABB\n"
				   "(1.3) can0 20000040#0000000000000000\n"
				   "(1.4) can0 101#\n";
	struct bus_filter f = { 0x101, FRAME_EXT | FRAME_STD_MASK };
	struct bus *bus = log_bus(text, "", &(struct bus_options){ .filters = &f, .filters_n = 1 });

	/* The first frame is the start, wanted or not. */
	TEST_ASSERT_EQUAL_INT(0, bus_receive(bus, got, 64));
	TEST_ASSERT_EQUAL_INT64(START + 300 * MS, bus_next_ns(bus));
	TEST_ASSERT_EQUAL_INT(BUS_ERROR_ACTIVE, bus_state(bus)); /* not before its time */
	TEST_ASSERT_EQUAL_INT(0, next(bus));
	TEST_ASSERT_EQUAL_INT(BUS_OFF, bus_state(bus));
	TEST_ASSERT_EQUAL_UINT64(1, bus_stats(bus)->errors);
	TEST_ASSERT_EQUAL_INT(1, next(bus));
	check(START + 400 * MS, "101#", 0, got);
	TEST_ASSERT_EQUAL_INT(-ENODATA, bus_receive(bus, got, 64));

	clock_use_virtual(START);
	bus = log_bus(NULL, "", &(struct bus_options){ .filters = &f, .errors = true, .fd = true });
	TEST_ASSERT_EQUAL_INT(0, bus_receive(bus, got, 64));
	TEST_ASSERT_EQUAL_INT(1, next(bus));
	check(START + 300 * MS, "20000040#0000000000000000", 0, got);
	TEST_ASSERT_EQUAL_UINT64(1, bus_stats(bus)->errors);
	TEST_ASSERT_EQUAL_UINT64(0, bus_stats(bus)->received);
	TEST_ASSERT_EQUAL_INT(-ENODATA, bus_receive(bus, got, 64));

	clock_use_virtual(START);
	bus = log_bus(NULL, "", &(struct bus_options){ .fd = true });
	TEST_ASSERT_EQUAL_INT(1, next(bus));
	TEST_ASSERT_EQUAL_INT(0, bus_receive(bus, got, 64));
	TEST_ASSERT_EQUAL_INT(1, next(bus));
	TEST_ASSERT_EQUAL_INT(1, next(bus));
	check(START + 200 * MS, "100##1AABB", 0, got);
}

TEST(log_damaged)
{
	struct bus *bus = log_bus("(1.0) can0 100#\n"
				  "(1.0) can0 zzz#\n"
				  "# can0: 12 frames lost\n"
				  "(1.0) can0 101#\n",
				  "", NULL);

	lines = 0;
	TEST_ASSERT_EQUAL_INT(2, bus_receive(bus, got, 64));
	TEST_ASSERT_EQUAL_UINT64(13, bus_stats(bus)->dropped);
	TEST_ASSERT_EQUAL_UINT(0, lines); /* no line: the sink of bus_open may be gone */
}

TEST(log_that_cannot_be_read)
{
	struct bus *bus;

	TEST_ASSERT_EQUAL_INT(-ENOENT, refusal("log:/nowhere/at/all.log", &(struct bus_options){ .later = true }));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(line, "/nowhere/at/all.log"), line);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(line, "No such file or directory"), line);
	TEST_ASSERT_EQUAL_INT(-ENOENT, refusal("log:/nowhere@all/x.log", NULL)); /* no interface has a slash */
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(line, "/nowhere@all/x.log"), line);
	TEST_ASSERT_EQUAL_INT(-ENOENT, refusal("log:/nowhere/x.log@can1", NULL));
	TEST_ASSERT_NULL_MESSAGE(strstr(line, "@can1"), line);
	TEST_ASSERT_EQUAL_INT(-EISDIR, refusal("log:/tmp", NULL));
	bus = log_bus("", "", NULL);
	TEST_ASSERT_EQUAL_INT(-ENODATA, bus_receive(bus, got, 64));
}

TEST(log_that_is_long)
{
	static char text[10000 * 32];
	struct bus *bus;
	size_t len = 0;
	int calls = 1, r;

	for (int i = 0; i < 9999; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "(1.%04d) can0 100#\n", i);
	snprintf(text + len, sizeof(text) - len, "(2.0) can1 101#\n");
	bus = log_bus(text, "@can1", NULL);
	while (!(r = bus_receive(bus, got, 64)) && bus_next_ns(bus) == clock_now_ns())
		calls++; /* no time passes: it has only not found it yet */
	TEST_ASSERT_EQUAL_INT(0, r);
	TEST_ASSERT_EQUAL_INT(3, calls);
	TEST_ASSERT_EQUAL_INT(1, next(bus));
	check(START + S, "101#", 0, got);
}

TEST(log_takes_frames)
{
	struct bus *bus = log_bus(two_buses, "", NULL);
	struct frame f = { .id = 0x7ff, .len = 1 };

	TEST_ASSERT_EQUAL_INT(1, bus_receive(bus, got, 64));
	TEST_ASSERT_EQUAL_INT(0, bus_receive(bus, got, 64));
	TEST_ASSERT_EQUAL_INT(0, bus_send(bus, &f));
	TEST_ASSERT_EQUAL_INT64(clock_now_ns(), bus_next_ns(bus));
	clock_wait(NULL, 0, START + 15 * MS);
	f.data[0] = 1;
	TEST_ASSERT_EQUAL_INT(0, bus_send(bus, &f));
	TEST_ASSERT_EQUAL_INT(5, bus_receive(bus, got, 64));
	check(START, "7FF#00", BUS_OWN, &got[0]);
	check(START + 10 * MS, "101#02", 0, &got[1]);
	check(START + 10500000, "102#03", 0, &got[2]);
	check(START + 10500000, "12345678#R4", 0, &got[3]);
	check(START + 15 * MS, "7FF#01", BUS_OWN, &got[4]);
	TEST_ASSERT_EQUAL_INT64(START + 2 * S, bus_next_ns(bus));
	TEST_ASSERT_EQUAL_UINT64(2, bus_stats(bus)->sent);
	TEST_ASSERT_EQUAL_UINT64(2, bus_stats(bus)->confirmed);
	TEST_ASSERT_EQUAL_INT64(START + 15 * MS, bus_stats(bus)->confirmed_ns);
	TEST_ASSERT_EQUAL_INT(-EINVAL, bus_send(bus, &(struct frame){ .len = 9 }));
	for (int i = 0; i < 64; i++)
		TEST_ASSERT_EQUAL_INT(0, bus_send(bus, &f));
	TEST_ASSERT_EQUAL_INT(-ENOBUFS, bus_send(bus, &f));
	TEST_ASSERT_EQUAL_UINT64(1, bus_stats(bus)->refused);
	TEST_ASSERT_EQUAL_INT(63, bus_receive(bus, got, 63));
	TEST_ASSERT_EQUAL_INT64(clock_now_ns(), bus_next_ns(bus));
	TEST_ASSERT_EQUAL_INT(1, bus_receive(bus, got, 64));
	bus = log_bus(NULL, "", &(struct bus_options){ .no_echo = true });
	TEST_ASSERT_EQUAL_INT(0, bus_send(bus, &f));
	TEST_ASSERT_EQUAL_INT(1, bus_receive(bus, got, 64));
	check(clock_now_ns(), "100#01", 0, got);
}

/* ---- resources ---- */

TEST(nothing_is_allocated)
{
	struct bus *bus = log_bus(two_buses, ">/dev/null", NULL);
	struct bus *absent = bus_suite_open("no-such-thing", &(struct bus_options){ .later = true });
	struct frame f = { .id = 1 };
	void *volatile memory; /* or the compiler sees that it need not be */
	int before, r;

#ifdef LIB_SANITIZED
	TEST_IGNORE_MESSAGE("a sanitizer has its own malloc");
#endif
	before = allocations;
	memory = malloc(1);
	free(memory);
	TEST_ASSERT_EQUAL_INT(before + 1, allocations);
	before = allocations;
	while ((r = bus_receive(bus, got, 64)) >= 0) {
		bus_send(bus, &f);
		clock_wait(NULL, 0, bus_next_ns(bus) == CLOCK_NEVER ? 0 : bus_next_ns(bus));
		if (bus_stats(bus)->sent == 100)
			break;
		(void)bus_receive(absent, got, 64);
		(void)bus_send(absent, &f);
	}
	TEST_ASSERT_EQUAL_INT(before, allocations);
}

TEST(nothing_is_left_open)
{
	int fd = dup(0);

	close(fd);
	for (int i = 0; i < 5; i++) {
		(void)log_bus(two_buses, "", NULL);
		(void)refusal("can77", NULL);
		(void)refusal("can77", &(struct bus_options){ .later = true });
		(void)refusal("log:/tmp", NULL);
		bus_suite_end_case();
	}
	TEST_ASSERT_EQUAL_INT(fd, dup(0));
	close(fd);
}
