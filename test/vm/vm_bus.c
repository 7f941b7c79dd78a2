/* vm_bus.c: bus.h on SocketCAN, in the guest, as root. */
#define _GNU_SOURCE
#include <linux/audit.h>
#include <linux/can.h>
#include <linux/can/raw.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/tty.h>
#include <net/if.h>
#include <pthread.h>
#include <pty.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>

#include "test/lib/testcase.h"

#include "can/bus/bus_stamp.h"
#include "channels/clock/clock.h"
#include "test/can/bus/bus_suite.h"
#include "test/lib/lib.h"

static char vcan[IFNAMSIZ]; /* our own, another one for each run */
static char line[ERROR_LINE_MAX];
static unsigned int lines;
static volatile int allocations; /* the compiler believes that malloc changes nothing */

/* ---- counted allocations ---- */

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

/* ---- what the cases need ---- */

__attribute__((format(printf, 1, 2))) static void sh(const char *fmt, ...)
{
	char command[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(command, sizeof(command), fmt, args);
	va_end(args);
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, system(command), command);
}

static void make_vcan(void)
{
	sh("ip link add %s mtu 72 type vcan && ip link set %s up", vcan, vcan);
}

static void keep(void *to, const char *text)
{
	(void)to;
	lines++;
	snprintf(line, sizeof(line), "%s", text);
}

/* The status of bus_open; it prints one line unless that is 0. */
static int refusal(const char *name, const struct bus_options *options)
{
	struct error_sink errors = { .line = keep };
	struct bus *bus;
	int r;

	line[0] = 0;
	lines = 0;
	r = bus_open(&bus, name, options, &errors);
	if (r)
		TEST_ASSERT_NULL(bus);
	else
		bus_close(bus);
	TEST_ASSERT_EQUAL_UINT(r ? 1 : 0, lines);
	return r;
}

/* Another program's socket, which sends any frame. */
static int raw_socket(void)
{
	struct sockaddr_can to = { .can_family = AF_CAN, .can_ifindex = (int)if_nametoindex(vcan) };
	int s = socket(AF_CAN, SOCK_RAW | SOCK_CLOEXEC, CAN_RAW), on = 1;

	LIB_CHECK(s >= 0 && !setsockopt(s, SOL_CAN_RAW, CAN_RAW_FD_FRAMES, &on, sizeof(on)));
	LIB_CHECK(!setsockopt(s, SOL_CAN_RAW, CAN_RAW_FILTER, NULL, 0));
	LIB_CHECK(!bind(s, (struct sockaddr *)&to, sizeof(to)));
	return s;
}

static void inject(const void *frame, size_t size)
{
	int s = raw_socket();

	TEST_ASSERT_EQUAL_INT((int)size, (int)write(s, frame, size));
	close(s);
}

static void inject_text(const char *text)
{
	struct frame f = bus_suite_frame(text);

	inject(&f, CAN_MTU);
}

static void check_echo(struct bus *bus)
{
	struct frame f = bus_suite_frame("321#ABCD");
	const struct bus_frame *g;

	bus_suite_send(bus, &f);
	g = bus_suite_receive(bus, 1);
	TEST_ASSERT_TRUE(frame_equal(&f, &g->frame));
	TEST_ASSERT_EQUAL_HEX32(BUS_OWN, g->flags & ~BUS_RESTAMPED);
}

/* The device at the other end of a serial line, which takes what is written to it. */
static struct serial {
	int master;
	pthread_t thread;
	pthread_mutex_t lock;
	char got[256];
} serial = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void *serial_body(void *arg)
{
	char bytes[64];
	ssize_t n;

	while ((n = read(serial.master, bytes, sizeof(bytes) - 1)) > 0) {
		bytes[n] = 0;
		pthread_mutex_lock(&serial.lock);
		snprintf(serial.got + strlen(serial.got), sizeof(serial.got) - strlen(serial.got), "%s", bytes);
		pthread_mutex_unlock(&serial.lock);
	}
	return arg;
}

static bool serial_has(const char *text)
{
	bool has;

	pthread_mutex_lock(&serial.lock);
	has = strstr(serial.got, text);
	pthread_mutex_unlock(&serial.lock);
	return has;
}

/* A serial line as a bus: the kernel returns each frame that it has queued, sent or not.  That is not an echo. */
TEST(slcan_confirms_nothing)
{
	struct frame f = bus_suite_frame("321#ABCD");
	const struct bus_frame *g;
	struct ifreq request;
	struct termios raw;
	struct bus *bus;
	int tty;

	memset(&raw, 0, sizeof(raw));
	cfmakeraw(&raw);
	LIB_CHECK(!openpty(&serial.master, &tty, NULL, &raw, NULL));
	LIB_CHECK(!pthread_create(&serial.thread, NULL, serial_body, NULL));
	LIB_CHECK(!ioctl(tty, TIOCSETD, &(int){ N_SLCAN }));
	LIB_CHECK(!ioctl(tty, SIOCGIFNAME, &request));
	sh("ip link set %.15s type can bitrate 1000000", request.ifr_name);
	sh("ip link set %.15s up", request.ifr_name);
	bus = bus_suite_open(request.ifr_name, NULL);
	TEST_ASSERT_FALSE(bus_confirms(bus));
	bus_suite_send(bus, &f);
	g = bus_suite_receive(bus, 1);
	TEST_ASSERT_TRUE(frame_equal(&f, &g->frame));
	TEST_ASSERT_EQUAL_HEX32(BUS_QUEUED, g->flags & (BUS_QUEUED | BUS_OWN));
	while (!serial_has("t3212ABCD\r"))
		usleep(1000); /* only spares the processor */
	LIB_CHECK(write(serial.master, "t1231EE\r", 8) == 8);
	g = bus_suite_receive(bus, 1);
	f = bus_suite_frame("123#EE");
	TEST_ASSERT_TRUE(frame_equal(&f, &g->frame));
	TEST_ASSERT_EQUAL_HEX32(0, g->flags & (BUS_QUEUED | BUS_OWN));
	sh("ip link set %.15s down", request.ifr_name);
	close(tty); /* which ends the reader */
	pthread_join(serial.thread, NULL);
	close(serial.master);
}

/* The kernel begins to stamp a moment after it was asked to. */
static void until_stamped(struct bus *bus)
{
	const struct bus_frame *g;

	do {
		inject_text("100#");
		g = bus_suite_receive(bus, 1);
	} while (g->flags & BUS_RESTAMPED);
}

void setUp(void)
{
	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
	if (!if_nametoindex(vcan))
		make_vcan();
	sh("ip link set %s up", vcan);
}

void tearDown(void)
{
	bus_suite_end_case();
}

/* ---- names and refusals ---- */

TEST(no_such_interface)
{
	char wrong[IFNAMSIZ], expected[128];

	TEST_ASSERT_EQUAL_INT(-ENODEV, refusal("cam0", NULL));
	TEST_ASSERT_EQUAL_STRING("cam0: no such CAN interface; is can0 meant?", line);
	snprintf(wrong, sizeof(wrong), "%s", vcan);
	wrong[0]++;
	TEST_ASSERT_EQUAL_INT(-ENODEV, refusal(wrong, NULL));
	snprintf(expected, sizeof(expected), "%s: no such CAN interface; is %s meant?", wrong, vcan);
	TEST_ASSERT_EQUAL_STRING(expected, line);
	TEST_ASSERT_EQUAL_INT(-ENODEV, refusal("nothing-like-it", NULL));
	TEST_ASSERT_EQUAL_STRING_LEN("nothing-like-it: no such CAN interface; there is can0, can1, ", line, 61);
}

TEST(interface_that_is_down)
{
	char expected[128];

	sh("ip link set %s down", vcan);
	TEST_ASSERT_EQUAL_INT(-ENETDOWN, refusal(vcan, NULL));
	snprintf(expected, sizeof(expected), "%s is down; bring it up: ip link set %s up", vcan, vcan);
	TEST_ASSERT_EQUAL_STRING(expected, line);
	sh("ip link set can3 down");
	TEST_ASSERT_EQUAL_INT(-ENETDOWN, refusal("can3", NULL));
	sh("ip link set can3 up");
	TEST_ASSERT_EQUAL_STRING("can3 is down; bring it up: ip link set can3 up type can bitrate 1000000", line);
}

TEST(interface_of_another_kind)
{
	TEST_ASSERT_EQUAL_INT(-EINVAL, refusal("lo", NULL));
	TEST_ASSERT_EQUAL_STRING_LEN("lo is not a CAN interface; ", line, 27);
	TEST_ASSERT_EQUAL_INT(-EINVAL, refusal("lo", &(struct bus_options){ .later = true }));
}

/* From now on socket(AF_CAN) is answered with an error in this process. */
static void deny_can(int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_CAN, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned int)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	LIB_CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	LIB_CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

static int not_permitted_child(void *error)
{
	const int e = *(int *)error;

	deny_can(e);
	LIB_CHECK(refusal(vcan, &(struct bus_options){ .later = true }) == -e);
	LIB_CHECK(strstr(line, "not allowed to open a CAN socket (") && strstr(line, "AF_CAN"));
	return 0;
}

TEST(not_permitted)
{
	TEST_ASSERT_EQUAL_INT(0, lib_join(lib_child(not_permitted_child, &(int){ EPERM })));
	TEST_ASSERT_EQUAL_INT(0, lib_join(lib_child(not_permitted_child, &(int){ EACCES })));
}

TEST(kernel_without_can)
{
	static const char later_line[] = "this kernel has no CAN";
	struct bus *bus;
	struct clock_fd fd = { .events = POLLIN };

	sh("rmmod can_raw && echo /bin/false >/proc/sys/kernel/modprobe");
	TEST_ASSERT_EQUAL_INT(-EAFNOSUPPORT, refusal(vcan, NULL));
	TEST_ASSERT_NOT_NULL(strstr(line, later_line));
	TEST_ASSERT_NOT_NULL(strstr(line, "modprobe can_raw"));
	bus = bus_suite_open(vcan, &(struct bus_options){ .later = true });
	TEST_ASSERT_EQUAL_INT(-ENODEV, bus_receive(bus, &(struct bus_frame){ 0 }, 1));
	TEST_ASSERT_EQUAL_INT(-ENODEV, bus_send(bus, &(struct frame){ .id = 1 }));
	TEST_ASSERT_EQUAL_INT(BUS_ABSENT, bus_state(bus));
	TEST_ASSERT_EQUAL_UINT64(0, bus_stats(bus)->attached);
	fd.fd = bus_fd(bus);
	TEST_ASSERT_EQUAL_INT(0, clock_wait(&fd, 1, 0));
	sh("echo /sbin/modprobe >/proc/sys/kernel/modprobe; modprobe can_raw");
	bus_suite_until(bus, 0);
	TEST_ASSERT_EQUAL_INT(BUS_ERROR_ACTIVE, bus_state(bus));
	TEST_ASSERT_EQUAL_INT(fd.fd, bus_fd(bus));
	TEST_ASSERT_EQUAL_INT(0, clock_wait(&fd, 1, 0));
	inject_text("123#11");
	TEST_ASSERT_EQUAL_INT(1, clock_wait(&fd, 1, clock_now_ns() + 10000000000));
	(void)bus_suite_receive(bus, 1);
	check_echo(bus);
}

/* ---- frames ---- */

TEST(padding_of_others)
{
	struct can_frame classic = { .can_id = 0x123, .len = 4, .__pad = 0xff, .__res0 = 0xff, .len8_dlc = 12 };
	struct canfd_frame fd = { .can_id = 0x124, .len = 9, .flags = 0xfb, .__res0 = 0xff, .__res1 = 0xff };
	struct bus *bus = bus_suite_open(vcan, &(struct bus_options){ .fd = true });
	const struct bus_frame *g;

	inject(&classic, sizeof(classic));
	g = bus_suite_receive(bus, 1);
	TEST_ASSERT_TRUE(frame_valid(&g->frame));
	TEST_ASSERT_EQUAL_HEX8(0, g->frame.flags);
	TEST_ASSERT_EQUAL_HEX8(0, g->frame.reserved);
	memset(fd.data, 0x77, sizeof(fd.data));
	inject(&fd, sizeof(fd));
	g = bus_suite_receive(bus, 1);
	TEST_ASSERT_TRUE(frame_valid(&g->frame));
	TEST_ASSERT_EQUAL_INT(12, g->frame.len);
	TEST_ASSERT_EQUAL_HEX8_ARRAY(((uint8_t[]){ 0x77, 0, 0, 0 }), g->frame.data + 8, 4);
}

TEST(error_frames)
{
	static const struct bus_filter none;
	struct bus *all = bus_suite_open(vcan, &(struct bus_options){ .errors = true, .filters = &none });
	struct bus *plain = bus_suite_open(vcan, &(struct bus_options){ .receive_buffer = 1 << 20 });
	const struct bus_frame *g;
	struct frame f = bus_suite_frame("200000FF#0102030405060708");

	inject_text("200000FF#0102030405060708");
	inject_text("123#");
	g = bus_suite_receive(all, 1);
	TEST_ASSERT_TRUE(frame_equal(&f, &g->frame));
	TEST_ASSERT_EQUAL_UINT64(1, bus_stats(all)->errors);
	TEST_ASSERT_EQUAL_UINT64(0, bus_stats(all)->received);
	TEST_ASSERT_EQUAL_HEX32(0x123, bus_suite_receive(plain, 1)->frame.id);
	TEST_ASSERT_EQUAL_UINT64(1, bus_stats(plain)->errors);
	TEST_ASSERT_EQUAL_UINT64(1, bus_stats(plain)->received);
	for (int i = 0; i < 300; i++) /* more than one bus_receive reads */
		inject_text("20000004#0008000000000000");
	inject_text("123#01");
	TEST_ASSERT_EQUAL_INT(1, bus_suite_receive(plain, 1)->frame.len);
	check_echo(plain);
}

TEST(states)
{
	static const struct {
		const char *error;
		enum bus_state state;
	} rows[] = {
		{ "20000004#0004000000000000", BUS_WARNING },	   { "20000004#0020000000000000", BUS_PASSIVE },
		{ "20000004#0008000000000000", BUS_WARNING },	   { "20000004#0040000000000000", BUS_ERROR_ACTIVE },
		{ "20000004#0030000000000000", BUS_PASSIVE },	   { "20000040#0000000000000000", BUS_OFF },
		{ "20000004#0001000000000000", BUS_OFF },	   { "20000100#0000000000000000", BUS_ERROR_ACTIVE },
		{ "20000204#0000000000007F00", BUS_WARNING },	   { "20000204#0000000000000080", BUS_PASSIVE },
		{ "20000204#0000000000005F5F", BUS_ERROR_ACTIVE },
	};
	struct bus *bus = bus_suite_open(vcan, NULL);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		inject_text(rows[i].error);
		while (bus_stats(bus)->errors <= i)
			(void)bus_receive(bus, &(struct bus_frame){ 0 }, 1);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(bus_state_name(rows[i].state), bus_state_name(bus_state(bus)),
						 rows[i].error);
		check_echo(bus);
	}
	TEST_ASSERT_EQUAL_UINT64(2, bus_stats(bus)->attached); /* one more: back from bus-off */
}

/* ---- a controller that fails ---- */

#define FAULTS "/sys/module/canfault/parameters/inject"

static void fault(const char *word)
{
	sh("echo can2 %s >" FAULTS, word);
}

static void restart_ms(unsigned int ms)
{
	sh("ip link set can2 down; ip link set can2 up type can restart-ms %u", ms);
}

/* can2 with restart-ms 0, and the module that makes it fail. */
static void need_faults(void)
{
	struct utsname kernel;
	const char *build = getenv("BUILD");

	uname(&kernel);
	if (access(FAULTS, F_OK)) {
		char command[512];

		snprintf(command, sizeof(command), "insmod %s/test/vm/canfault/%s/canfault.ko 2>/dev/null",
			 build ? build : "build", kernel.release);
		if (system(command))
			TEST_IGNORE_MESSAGE("no fault module for this kernel");
	}
	restart_ms(0);
}

static unsigned int link_flags(const char *name)
{
	struct ifreq r = { 0 };
	int s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), missing;

	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", name);
	missing = ioctl(s, SIOCGIFFLAGS, &r);
	close(s);
	return missing ? 0 : (unsigned short)r.ifr_flags;
}

TEST(controller_states)
{
	struct bus *bus, *other;

	need_faults();
	bus = bus_suite_open("can2", NULL);
	fault("warning");
	bus_suite_until_state(bus, BUS_WARNING);
	other = bus_suite_open("can2", NULL); /* opened later, it knows the state too */
	TEST_ASSERT_EQUAL_INT(BUS_WARNING, bus_state(other));
	fault("passive");
	bus_suite_until_state(bus, BUS_PASSIVE);
	fault("active");
	bus_suite_until_state(bus, BUS_ERROR_ACTIVE);
	fault("busoff");
	bus_suite_until_state(bus, BUS_OFF);
	bus_suite_until_state(other, BUS_OFF);
	other = bus_suite_open("can2", NULL);
	TEST_ASSERT_EQUAL_INT(BUS_OFF, bus_state(other));
	sh("ip link set can2 type can restart");
	bus_suite_until_state(bus, BUS_ERROR_ACTIVE);
	bus_suite_until_state(other, BUS_ERROR_ACTIVE);
	TEST_ASSERT_EQUAL_UINT64(2, bus_stats(bus)->attached); /* one more: back from bus-off */
	bus_suite_end_case();
	bus = bus_suite_open("can2", NULL);
	check_echo(bus);
	fault("busoff");
	bus_suite_until_state(bus, BUS_OFF);
	sh("ip link set can2 down");
	bus_suite_until_state(bus, BUS_STOPPED);
	sh("ip link set can2 up");
	bus_suite_until_state(bus, BUS_ERROR_ACTIVE);
	check_echo(bus);
	restart_ms(100);
}

/* The frame that reports the restart is lost: the carrier shows it. */
TEST(restart_unheard)
{
	struct bus *bus, *peer;

	need_faults();
	bus = bus_suite_open("can2", &(struct bus_options){ .receive_buffer = 1 });
	peer = bus_suite_open("can3", NULL);
	fault("busoff");
	bus_suite_until_state(bus, BUS_OFF);
	while (link_flags("can2") & IFF_RUNNING)
		clock_wait(NULL, 0, clock_now_ns() + 10000000);
	clock_wait(NULL, 0, bus_next_ns(bus));
	(void)bus_receive(bus, &(struct bus_frame){ 0 }, 1);
	for (uint32_t i = 0; i < 100; i++) {
		bus_suite_send(peer, &(struct frame){ .id = i });
		(void)bus_suite_receive(peer, 1);
	}
	sh("ip link set can2 type can restart");
	bus_suite_until_state(bus, BUS_ERROR_ACTIVE);
	TEST_ASSERT_EQUAL_UINT64(1, bus_stats(bus)->errors); /* not by an error frame */
	restart_ms(100);
}

static int answering_child(void *gate)
{
	struct error_sink errors = { .line = keep };
	struct bus_filter even = { 0, FRAME_EXT | FRAME_RTR | 1 };
	struct bus_frame got[32];
	struct bus *bus;
	unsigned int answered = 0;

	LIB_CHECK(!bus_open(&bus, vcan, &(struct bus_options){ .filters = &even, .filters_n = 1 }, &errors));
	lib_gate_set(gate, 1);
	while (answered < 200) {
		struct clock_fd fd = { .fd = bus_fd(bus), .events = POLLIN };
		int n = bus_receive(bus, got, 32);

		LIB_CHECK(n >= 0);
		for (int i = 0; i < n; i++) {
			if (got[i].flags & BUS_OWN)
				continue;
			LIB_CHECK(got[i].flags & BUS_LOCAL && !(got[i].frame.id & 1));
			got[i].frame.id |= 1;
			LIB_CHECK(!bus_send(bus, &got[i].frame));
			answered++;
		}
		if (!n)
			clock_wait(&fd, 1, bus_next_ns(bus));
	}
	bus_close(bus);
	return 0;
}

TEST(two_processes)
{
	struct lib_gate *gate = lib_gate_new();
	struct bus *bus = bus_suite_open(vcan, &(struct bus_options){ .no_echo = true });
	pid_t child = lib_child(answering_child, gate);

	lib_gate_wait(gate, 1);
	for (uint32_t i = 0; i < 200; i++) {
		struct frame f = { .id = 2 * i, .len = 1, .data = { (uint8_t)i } };
		const struct bus_frame *g;

		bus_suite_send(bus, &f);
		g = bus_suite_receive(bus, 1);
		TEST_ASSERT_EQUAL_HEX32(2 * i + 1, g->frame.id);
		TEST_ASSERT_EQUAL_HEX8(i & 0xff, g->frame.data[0]);
		TEST_ASSERT_EQUAL_HEX32(BUS_LOCAL, g->flags & ~BUS_RESTAMPED);
	}
	TEST_ASSERT_EQUAL_INT(0, lib_join(child));
	lib_gate_free(gate);
}

TEST(frames_lost_are_counted)
{
	struct bus *bus = bus_suite_open(vcan, &(struct bus_options){ .receive_buffer = 1 });
	struct bus_frame got[32];
	uint64_t received = 0;
	int s = raw_socket(), n;

	for (int round = 1; round <= 2; round++) {
		for (int i = 0; i < 500; i++)
			TEST_ASSERT_EQUAL_INT(CAN_MTU, (int)write(s, &(struct can_frame){ .can_id = 0x123 }, CAN_MTU));
		while ((n = bus_receive(bus, got, 32)) > 0)
			;
		TEST_ASSERT_EQUAL_INT(0, n);
		TEST_ASSERT_EQUAL_INT(CAN_MTU, (int)write(s, &(struct can_frame){ .can_id = 0x124 }, CAN_MTU));
		(void)bus_suite_receive(bus, 1);
		received = bus_stats(bus)->received;
		TEST_ASSERT_TRUE(received < 501 * (unsigned int)round);
		TEST_ASSERT_EQUAL_UINT64(501 * (unsigned int)round, received + bus_stats(bus)->dropped);
	}
	close(s);
}

TEST(large_receive_buffer)
{
	struct bus *bus = bus_suite_open(vcan, &(struct bus_options){ .receive_buffer = 4 << 20 });
	int s = raw_socket();

	for (int i = 0; i < 1000; i++)
		TEST_ASSERT_EQUAL_INT(CAN_MTU, (int)write(s, &(struct can_frame){ .can_id = 0x123 }, CAN_MTU));
	(void)bus_suite_receive(bus, 1000);
	TEST_ASSERT_EQUAL_UINT64(0, bus_stats(bus)->dropped);
	close(s);
}

/* Sends until it is refused; how many went.  Slow: the queue cannot empty itself meanwhile. */
static unsigned int fill_queue(struct bus *bus)
{
	struct frame f = { .id = 0x123, .len = 8 };
	unsigned int sent = 0;
	int r;

	while (!(r = bus_send(bus, &f)))
		TEST_ASSERT_TRUE(++sent < 2000);
	TEST_ASSERT_EQUAL_INT(-ENOBUFS, r);
	TEST_ASSERT_EQUAL_UINT64(1, bus_stats(bus)->refused);
	TEST_ASSERT_EQUAL_UINT64(sent, bus_stats(bus)->sent);
	return sent;
}

TEST(queue_that_is_full)
{
	struct bus *bus = bus_suite_open("can2", NULL);

	sh("tc qdisc replace dev can2 root tbf rate 8kbit burst 32 limit 160");
	TEST_ASSERT_TRUE(fill_queue(bus) <= 12);
	(void)bus_suite_receive(bus, 1);
	bus_suite_send(bus, &(struct frame){ .id = 0x124 });
	bus_suite_end_case();
	/* a queue longer than what a socket may have under way */
	sh("tc qdisc replace dev can2 root tbf rate 8kbit burst 32 limit 32000");
	bus = bus_suite_open("can2", NULL);
	(void)fill_queue(bus);
	bus_suite_end_case();
	sh("tc qdisc del dev can2 root; ip link set can2 down; ip link set can2 up");
}

/* ---- a link that comes and goes ---- */

TEST(down_and_up)
{
	struct bus *bus = bus_suite_open(vcan, NULL);
	struct frame f = bus_suite_frame("123#01");
	int fd = bus_fd(bus);

	bus_suite_send(bus, &f);
	inject_text("124#02");
	sh("ip link set %s down", vcan);
	/* what came before it first, */
	TEST_ASSERT_EQUAL_HEX32(0x123, bus_suite_receive(bus, 1)->frame.id);
	TEST_ASSERT_EQUAL_HEX32(0x124, bus_suite_receive(bus, 1)->frame.id);
	/* then, every time, that it is down */
	for (int i = 0; i < 3; i++) {
		TEST_ASSERT_EQUAL_INT(-ENETDOWN, bus_receive(bus, &(struct bus_frame){ 0 }, 1));
		TEST_ASSERT_EQUAL_INT(-ENETDOWN, bus_send(bus, &f));
		TEST_ASSERT_EQUAL_INT(BUS_STOPPED, bus_state(bus));
		TEST_ASSERT_TRUE(bus_next_ns(bus) < clock_now_ns() + 200000000);
	}
	TEST_ASSERT_EQUAL_UINT64(1, bus_stats(bus)->attached);
	TEST_ASSERT_EQUAL_UINT64(1, bus_stats(bus)->sent);
	sh("ip link set %s up", vcan);
	bus_suite_until(bus, 0);
	TEST_ASSERT_EQUAL_INT(BUS_ERROR_ACTIVE, bus_state(bus));
	TEST_ASSERT_EQUAL_UINT64(2, bus_stats(bus)->attached);
	TEST_ASSERT_EQUAL_INT64(CLOCK_NEVER, bus_next_ns(bus));
	TEST_ASSERT_EQUAL_INT(fd, bus_fd(bus));
	check_echo(bus);
}

/* The link is up again before the bus is read: the first call reports it, once. */
TEST(reset)
{
	struct bus *bus = bus_suite_open("can3", NULL);

	check_echo(bus);
	sh("ip link set can3 down && ip link set can3 up");
	TEST_ASSERT_EQUAL_INT(-ENETDOWN, bus_receive(bus, &(struct bus_frame){ 0 }, 1));
	TEST_ASSERT_EQUAL_INT(BUS_ERROR_ACTIVE, bus_state(bus));
	TEST_ASSERT_EQUAL_INT(0, bus_receive(bus, &(struct bus_frame){ 0 }, 1));
	TEST_ASSERT_EQUAL_UINT64(2, bus_stats(bus)->attached);
	check_echo(bus);
	sh("ip link set can3 down && ip link set can3 up");
	TEST_ASSERT_EQUAL_INT(-ENETDOWN, bus_send(bus, &(struct frame){ .id = 1 }));
	TEST_ASSERT_TRUE(bus_next_ns(bus) <= clock_now_ns()); /* the descriptor would not wake a reader now */
	TEST_ASSERT_EQUAL_INT(0, bus_send(bus, &(struct frame){ .id = 2 }));
	bus_suite_until(bus, -ENETDOWN);
	TEST_ASSERT_EQUAL_INT64(CLOCK_NEVER, bus_next_ns(bus));
	TEST_ASSERT_EQUAL_INT(BUS_ERROR_ACTIVE, bus_state(bus));
	TEST_ASSERT_EQUAL_UINT64(3, bus_stats(bus)->attached);
	while (bus_stats(bus)->confirmed < 3)
		(void)bus_receive(bus, &(struct bus_frame){ 0 }, 1);
	check_echo(bus);
}

/* A frame is sent before the program has seen that the link is back. */
TEST(send_finds_it_up)
{
	struct bus *bus = bus_suite_open(vcan, NULL);

	sh("ip link set %s down", vcan);
	bus_suite_until(bus, -ENETDOWN);
	sh("ip link set %s up", vcan);
	TEST_ASSERT_EQUAL_INT(0, bus_send(bus, &(struct frame){ .id = 1 }));
	TEST_ASSERT_EQUAL_INT(BUS_ERROR_ACTIVE, bus_state(bus));
	TEST_ASSERT_EQUAL_HEX32(1, bus_suite_receive(bus, 1)->frame.id);
}

static const struct bus_filter only_100 = { 0x100, FRAME_EXT | FRAME_RTR | FRAME_STD_MASK };

TEST(gone_and_back)
{
	struct bus *bus = bus_suite_open(
		vcan, &(struct bus_options){ .filters = &only_100, .filters_n = 1, .errors = true, .fd = true });
	int fd = bus_fd(bus);

	check_echo(bus);
	for (unsigned int round = 1; round <= 3; round++) {
		inject_text("100#01");
		sh("(sleep 0.05; ip link del %s) &", vcan);
		TEST_ASSERT_EQUAL_HEX32(0x100, bus_suite_receive(bus, 1)->frame.id);
		bus_suite_until(bus, -ENODEV);
		TEST_ASSERT_EQUAL_INT(-ENODEV, bus_receive(bus, &(struct bus_frame){ 0 }, 1));
		TEST_ASSERT_EQUAL_INT(-ENODEV, bus_send(bus, &(struct frame){ .id = 1 }));
		TEST_ASSERT_EQUAL_INT(BUS_ABSENT, bus_state(bus));
		TEST_ASSERT_EQUAL_UINT64(round, bus_stats(bus)->attached);
		if (round == 2) {
			sh("ip link add %s mtu 72 type vcan", vcan);
			bus_suite_until_state(bus, BUS_STOPPED);
			TEST_ASSERT_EQUAL_INT(-ENETDOWN, bus_receive(bus, &(struct bus_frame){ 0 }, 1));
			sh("ip link set %s up", vcan);
		} else {
			make_vcan();
		}
		bus_suite_until(bus, 0);
		TEST_ASSERT_EQUAL_INT(BUS_ERROR_ACTIVE, bus_state(bus));
		TEST_ASSERT_EQUAL_UINT64(round + 1, bus_stats(bus)->attached);
		TEST_ASSERT_EQUAL_INT(fd, bus_fd(bus));
		/* with all that was asked for */
		inject_text("101#");
		inject_text("20000002#0000000000000000");
		inject(&(struct canfd_frame){ .can_id = 0x100, .len = 64 }, CANFD_MTU);
		TEST_ASSERT_EQUAL_HEX32(0x20000002, bus_suite_receive(bus, 1)->frame.id);
		TEST_ASSERT_EQUAL_INT(64, bus_suite_receive(bus, 1)->frame.len);
		check_echo(bus);
	}
}

/* Deleted and created again before the bus is read. */
TEST(replaced)
{
	struct bus *bus = bus_suite_open(vcan, NULL);

	sh("ip link del %s", vcan);
	make_vcan();
	TEST_ASSERT_EQUAL_INT(-ENODEV, bus_receive(bus, &(struct bus_frame){ 0 }, 1));
	TEST_ASSERT_EQUAL_INT(0, bus_receive(bus, &(struct bus_frame){ 0 }, 1));
	TEST_ASSERT_EQUAL_UINT64(2, bus_stats(bus)->attached);
	check_echo(bus);
}

#define ASKED "/run/modprobe-asked"

/* For an interface that it does not know the kernel may start modprobe and wait for it.  A loop must not. */
TEST(a_name_that_is_gone_while_the_link_is_down_starts_no_modprobe)
{
	struct bus *bus = bus_suite_open(vcan, NULL);
	bool asked;

	sh("rm -f %s; printf '#!/bin/sh\\necho \"$@\" >>%s\\n' >/run/modprobe && chmod +x /run/modprobe", ASKED, ASKED);
	sh("echo /run/modprobe >/proc/sys/kernel/modprobe && ip link set %s down", vcan);
	bus_suite_until(bus, -ENETDOWN);
	sh("ip link set %s name %s-", vcan, vcan);
	bus_suite_until(bus, -ENODEV);
	asked = !access(ASKED, F_OK);
	sh("echo /sbin/modprobe >/proc/sys/kernel/modprobe; ip link set %s- name %s; ip link set %s up", vcan, vcan,
	   vcan);
	TEST_ASSERT_FALSE(asked);
	bus_suite_until(bus, 0);
	TEST_ASSERT_EQUAL_UINT64(2, bus_stats(bus)->attached);
	check_echo(bus);
}

/* Without root the interface is looked for in another way, the second time in a third one. */
static int nobody_child(void *gate)
{
	struct error_sink errors = { .line = keep };
	struct bus_frame got;
	struct bus *bus;

	lib_drop((gid_t)-1);
	LIB_CHECK(!bus_open(&bus, vcan, &(struct bus_options){ .receive_buffer = 1 << 20 }, &errors));
	for (int round = 0; round < 3; round++) {
		struct clock_fd fd = { .fd = bus_fd(bus), .events = POLLIN };

		lib_gate_set(gate, 10 * round + 1);
		while (bus_receive(bus, &got, 1) != -ENODEV)
			clock_wait(&fd, 1, bus_next_ns(bus));
		lib_gate_set(gate, 10 * round + 2);
		while (bus_receive(bus, &got, 1) != 0)
			clock_wait(&fd, 1, bus_next_ns(bus));
		LIB_CHECK(bus_stats(bus)->attached == (uint64_t)round + 2);
		LIB_CHECK(!bus_send(bus, &(struct frame){ .id = 1 }));
		while (!bus_receive(bus, &got, 1))
			clock_wait(&fd, 1, bus_next_ns(bus));
		LIB_CHECK(got.frame.id == 1 && got.flags & BUS_OWN);
	}
	bus_close(bus);
	return 0;
}

TEST(without_root)
{
	struct lib_gate *gate = lib_gate_new();
	pid_t child = lib_child(nobody_child, gate);

	for (int round = 0; round < 3; round++) {
		lib_gate_wait(gate, 10 * round + 1);
		sh("ip link del %s", vcan);
		lib_gate_wait(gate, 10 * round + 2);
		make_vcan();
	}
	TEST_ASSERT_EQUAL_INT(0, lib_join(child));
	lib_gate_free(gate);
}

TEST(later)
{
	struct bus_options options = { .later = true };
	struct bus *bus;

	sh("ip link set %s down", vcan);
	bus = bus_suite_open(vcan, &options);
	TEST_ASSERT_EQUAL_INT(BUS_STOPPED, bus_state(bus));
	TEST_ASSERT_EQUAL_INT(-ENETDOWN, bus_receive(bus, &(struct bus_frame){ 0 }, 1));
	TEST_ASSERT_EQUAL_INT(-ENETDOWN, bus_send(bus, &(struct frame){ .id = 1 }));
	TEST_ASSERT_EQUAL_UINT64(0, bus_stats(bus)->attached);
	sh("ip link set %s up", vcan);
	bus_suite_until(bus, 0);
	TEST_ASSERT_EQUAL_UINT64(1, bus_stats(bus)->attached);
	check_echo(bus);
	bus_suite_end_case();
	sh("ip link set %s down", vcan);
	bus = bus_suite_open(vcan, &options);
	sh("ip link set %s up", vcan);
	check_echo(bus); /* nothing is refused for what was before */
	sh("ip link del %s", vcan);
	bus = bus_suite_open(vcan, &options);
	TEST_ASSERT_EQUAL_INT(BUS_ABSENT, bus_state(bus));
	TEST_ASSERT_EQUAL_INT(-ENODEV, bus_receive(bus, &(struct bus_frame){ 0 }, 1));
	make_vcan();
	bus_suite_until(bus, 0);
	TEST_ASSERT_EQUAL_UINT64(1, bus_stats(bus)->attached);
	check_echo(bus);
}

/* ---- time ---- */

static void set_clock(int64_t by_ns)
{
	int64_t ns = lib_now_ns(CLOCK_REALTIME) + by_ns;
	struct timespec t = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	TEST_ASSERT_EQUAL_INT(0, clock_settime(CLOCK_REALTIME, &t));
}

#define HOUR_NS 3600000000000ll

static void clock_set_by(int64_t by_ns)
{
	struct bus *bus = bus_suite_open(vcan, NULL);
	int64_t last_ns;
	uint64_t restamped;

	until_stamped(bus);
	restamped = bus_stats(bus)->restamped;
	last_ns = bus_stats(bus)->received_ns;
	inject_text("123#01");
	inject_text("123#02");
	clock_wait(NULL, 0, clock_now_ns() + 3000000);
	set_clock(by_ns);
	for (unsigned int i = 1; i <= 4; i++) {
		const struct bus_frame *g;

		if (i > 2)
			inject_text("123#03");
		g = bus_suite_receive(bus, 1);
		TEST_ASSERT_TRUE(g->t_ns >= last_ns && g->t_ns <= clock_now_ns());
		TEST_ASSERT_EQUAL_HEX32(i > 2 ? BUS_LOCAL : BUS_LOCAL | BUS_RESTAMPED, g->flags);
		last_ns = g->t_ns;
	}
	TEST_ASSERT_EQUAL_UINT64(restamped + 2, bus_stats(bus)->restamped);
	bus_suite_end_case();
}

TEST(clock_set_by_an_hour)
{
	clock_set_by(HOUR_NS);
	clock_set_by(-HOUR_NS);
}

TEST(stamps_are_of_the_bus_and_not_of_the_reader)
{
	struct bus *bus = bus_suite_open(vcan, NULL);
	const struct bus_frame *g;
	int64_t sent_ns;

	until_stamped(bus);
	inject_text("123#");
	sent_ns = clock_now_ns();
	clock_wait(NULL, 0, sent_ns + 20000000);
	g = bus_suite_receive(bus, 1);
	TEST_ASSERT_TRUE(g->t_ns <= sent_ns + BUS_STAMP_JITTER_NS);
	TEST_ASSERT_EQUAL_HEX32(BUS_LOCAL, g->flags);
}

/* ---- resources ---- */

TEST(nothing_is_allocated)
{
	struct bus *bus = bus_suite_open(vcan, &(struct bus_options){ .filters = &only_100, .filters_n = 1 });
	struct bus_frame got[64];
	struct frame f = { .len = 8 };
	void *volatile memory; /* or the compiler sees that it need not be */
	int before, r = 0, s = raw_socket();

	before = allocations;
	memory = malloc(1);
	free(memory);
	TEST_ASSERT_EQUAL_INT(before + 1, allocations);
	before = allocations;
	for (uint32_t i = 0; i < 600 && !r; i++) { /* more than there are filters */
		f.id = i;
		r = bus_send(bus, &f);
		(void)!write(s, &(struct can_frame){ .can_id = 0x20000040, .len = 8 }, CAN_MTU);
		(void)!write(s, &(struct can_frame){ .can_id = 0x20000100, .len = 8 }, CAN_MTU);
		while (bus_receive(bus, got, 64) > 0)
			;
	}
	while (!r && bus_stats(bus)->confirmed < 600)
		(void)bus_receive(bus, got, 64);
	TEST_ASSERT_EQUAL_INT(before, allocations);
	TEST_ASSERT_EQUAL_INT(0, r);
	close(s);
	sh("ip link set %s down", vcan);
	before = allocations;
	r = bus_receive(bus, got, 64);
	TEST_ASSERT_EQUAL_INT(before, allocations);
	TEST_ASSERT_EQUAL_INT(-ENETDOWN, r);
	sh("ip link del %s", vcan);
	make_vcan();
	before = allocations;
	while ((r = bus_receive(bus, got, 64)))
		;
	TEST_ASSERT_EQUAL_INT(before, allocations);
	check_echo(bus);
}

TEST(nothing_is_left_open)
{
	int fd = dup(0);

	close(fd);
	for (int i = 0; i < 10; i++) {
		(void)bus_suite_open(vcan, NULL);
		bus_suite_end_case();
		(void)refusal("nothing", NULL);
		(void)refusal("lo", NULL);
	}
	TEST_ASSERT_EQUAL_INT(fd, dup(0));
	close(fd);
}

int main(void)
{
	struct bus_suite virtual = { .a = vcan, .b = vcan, .fd = true, .dlc = true };
	struct bus_suite wire = { .a = "can0", .b = "can1", .window = 4, .remote_empty = true };
	struct bus_suite controller = { .a = "can0", .b = "can0", .window = 4, .remote_empty = true };
	char remove[64];
	int failures;

	snprintf(vcan, sizeof(vcan), "vb%d", (int)getpid() % 1000000);
	snprintf(remove, sizeof(remove), "ip link del %s 2>/dev/null", vcan);
	UNITY_BEGIN();
	bus_suite_run(&virtual);
	bus_suite_run(&wire);
	bus_suite_run(&controller);
	testcase_run_all();
	failures = UNITY_END();
	(void)!system(remove);
	return failures;
}
