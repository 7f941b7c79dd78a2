/* vm_link.c: links on the real kernel, in the virtual machine: can2 and can3 are emulated controllers on one wire. */
#include <fcntl.h>
#include <linux/can.h>
#include <linux/can/raw.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "test/lib/testcase.h"

#include "can/bus/link.h"
#include "daemons/drv/drv_bus.h"

#define FAULTS "/sys/module/canfault/parameters/inject"

static const struct link_settings usual = { .bitrate = 1000000, .restart_ms = 0, .queue = 10 };

/* ---- helpers ---- */

static char last[ERROR_LINE_MAX];
static struct error_sink errors;

static void run(const char *command)
{
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, system(command), command);
}

/* The first part of what it prints. */
static const char *output(const char *command)
{
	static char text[4096];
	FILE *pipe = popen(command, "r");
	size_t len = fread(text, 1, sizeof(text) - 1, pipe);

	text[len] = 0;
	pclose(pipe);
	return text;
}

static struct link_info query(const char *name)
{
	struct link_info info;

	TEST_ASSERT_EQUAL_INT_MESSAGE(0, link_query(name, &info, &errors), last);
	return info;
}

static void expect(int answer, int got, const char *line)
{
	TEST_ASSERT_EQUAL_INT_MESSAGE(answer, got, last);
	TEST_ASSERT_EQUAL_UINT(answer ? 1 : 0, errors.count);
	TEST_ASSERT_EQUAL_STRING(line, last);
	errors.count = 0;
	*last = 0;
}

static int open_can(const char *name)
{
	struct sockaddr_can a = { .can_family = AF_CAN, .can_ifindex = (int)if_nametoindex(name) };
	int s = socket(AF_CAN, SOCK_RAW | SOCK_CLOEXEC, CAN_RAW);

	TEST_ASSERT_TRUE(s >= 0 && !bind(s, (struct sockaddr *)&a, sizeof(a)));
	return s;
}

/* Has the interface been taken down since this socket was bound to it? */
static bool was_down(int s)
{
	socklen_t len = sizeof(int);
	int error = 0;

	TEST_ASSERT_EQUAL_INT(0, getsockopt(s, SOL_SOCKET, SO_ERROR, &error, &len));
	TEST_ASSERT_TRUE(!error || error == ENETDOWN);
	return error;
}

static void send_id(int s, canid_t id)
{
	struct can_frame f = { .can_id = id };

	TEST_ASSERT_EQUAL_INT(sizeof(f), write(s, &f, sizeof(f)));
}

/* The next frame that comes is this one. */
static void expect_next(int s, canid_t id)
{
	struct pollfd p = { .fd = s, .events = POLLIN };
	struct can_frame f;

	TEST_ASSERT_EQUAL_INT(1, poll(&p, 1, 30000));
	TEST_ASSERT_EQUAL_INT(sizeof(f), read(s, &f, sizeof(f)));
	TEST_ASSERT_EQUAL_HEX(id, f.can_id);
}

/* Everything that is printed goes here; it must stay empty. */
static int noise;

void setUp(void)
{
	run("tc qdisc del dev can2 root 2>/dev/null; ip link set can2 down && "
	    "ip link set can2 txqueuelen 1000 type can bitrate 1000000 restart-ms 0 listen-only off one-shot off");
	errors = (struct error_sink){ error_keep_last, last, 0 };
	*last = 0;
}

void tearDown(void)
{
	char text[200];
	ssize_t len = pread(noise, text, sizeof(text) - 1, 0);

	text[len > 0 ? len : 0] = 0;
	TEST_ASSERT_EQUAL_INT(0, ftruncate(noise, 0));
	TEST_ASSERT_EQUAL_STRING("", text);
}

/* ---- up ---- */

TEST(test_up)
{
	const struct link_settings want = { .bitrate = 500000, .sample_point_pm = 800, .restart_ms = 50, .queue = 12 };
	struct link_info info = query("can2");

	TEST_ASSERT_FALSE(info.up);
	TEST_ASSERT_EQUAL_INT(BUS_STOPPED, info.state);
	expect(0, link_up("can2", &want, &errors), "");
	info = query("can2");
	TEST_ASSERT_TRUE(info.up);
	TEST_ASSERT_FALSE(info.virtual);
	TEST_ASSERT_EQUAL_INT(BUS_ERROR_ACTIVE, info.state);
	TEST_ASSERT_EQUAL_UINT(500000, info.now.bitrate);
	TEST_ASSERT_EQUAL_UINT(50, info.now.restart_ms);
	TEST_ASSERT_EQUAL_UINT(12, info.now.queue);
	TEST_ASSERT_EQUAL_UINT(8000000, info.clock_hz);
	TEST_ASSERT_EQUAL_UINT(16, info.quanta);	       /* 8 MHz / 500 kHz */
	TEST_ASSERT_EQUAL_UINT(750, info.now.sample_point_pm); /* 12 of 16 quanta; 13 would be 0.812 */
	TEST_ASSERT_EQUAL_UINT(0, info.modes);
	TEST_ASSERT_EQUAL_UINT(0, info.tx_errors + info.rx_errors);
	TEST_ASSERT_EQUAL_STRING("can", info.kind);
	TEST_ASSERT_NOT_NULL(strstr(output("ip -details link show can2"), "bitrate 500000 sample-point 0.750"));
	/* The sample point is not the wanted one, but the nearest that there is: right the second time, too. */
	expect(0, link_up("can2", &want, &errors), "");
}

TEST(test_right_is_left_alone)
{
	int s;

	expect(0, link_up("can2", &usual, &errors), "");
	s = open_can("can2");
	expect(0, link_up("can2", &usual, &errors), "");
	TEST_ASSERT_FALSE(was_down(s));
	expect(0, link_reset("can2", &errors), ""); /* the test can fail */
	TEST_ASSERT_TRUE(was_down(s));
	close(s);
}

TEST(test_other_values_are_refused)
{
	struct link_settings want = usual;
	int s;

	expect(0, link_up("can2", &usual, &errors), "");
	s = open_can("can2");
	want.bitrate = 250000;
	want.restart_ms = 100;
	expect(-EBUSY, link_up("can2", &want, &errors),
	       "can2 is up with bit rate 1000000, not 250000; restart-ms 0, not 100; take it down first: "
	       "ip link set can2 down");
	want = usual;
	want.queue = 20;
	expect(-EBUSY, link_up("can2", &want, &errors),
	       "can2 is up with txqueuelen 10, not 20; set it: ip link set can2 txqueuelen 20");
	TEST_ASSERT_FALSE(was_down(s));
	TEST_ASSERT_EQUAL_UINT(1000000, query("can2").now.bitrate);
	TEST_ASSERT_EQUAL_UINT(10, query("can2").now.queue);
	close(s);
}

TEST(test_listen_only)
{
	struct link_info info;

	run("ip link set can2 up type can bitrate 1000000 listen-only on");
	info = query("can2");
	TEST_ASSERT_EQUAL_UINT(LINK_LISTEN_ONLY, info.modes);
	expect(-EBUSY, link_up("can2", &(struct link_settings){ .bitrate = 1000000 }, &errors),
	       "can2 is up with listen-only; take it down first: ip link set can2 down");
	run("ip link set can2 down");
	expect(0, link_up("can2", &usual, &errors), "");
	TEST_ASSERT_EQUAL_UINT(0, query("can2").modes);
}

TEST(test_cannot)
{
	struct link_settings want = { .bitrate = 1234567 };

	expect(-ERANGE, link_up("can2", &want, &errors),
	       "can2: its controller, with a clock of 8000000 Hz, cannot do 1234567 bit/s; "
	       "ip -details link show can2 shows what it can");
	TEST_ASSERT_FALSE(query("can2").up);
	want = (struct link_settings){ .bitrate = 1000000, .sample_point_pm = 50 };
	expect(-ERANGE, link_up("can2", &want, &errors),
	       "can2: its controller, with a clock of 8000000 Hz, cannot do 1000000 bit/s "
	       "with a sample point of 0.050; "
	       "ip -details link show can2 shows what it can");
	TEST_ASSERT_FALSE(query("can2").up);
	expect(-EINVAL, link_up("can2", &(struct link_settings){ 0 }, &errors), "can2: which bit rate? 1000000, say");
	want.sample_point_pm = 1000;
	expect(-EINVAL, link_up("can2", &want, &errors),
	       "can2: a sample point is a part of the bit, 0.875 say, and below 1");
}

/* ---- CAN FD ---- */

TEST(test_a_classic_controller_has_no_fd)
{
	const struct link_settings want = { .bitrate = 1000000, .data_bitrate = 5000000 };

	expect(-ERANGE, link_up("can2", &want, &errors),
	       "can2: its controller has no CAN FD: take data_bitrate out of the robot file");
	TEST_ASSERT_FALSE(query("can2").up);
	expect(0, link_up("can2", &usual, &errors), "");
	expect(-EBUSY, link_up("can2", &want, &errors),
	       "can2 is up with classic CAN, not a data bit rate of 5000000; take it down first: "
	       "ip link set can2 down");
}

TEST(test_the_rates_of_can_fd)
{
	const char *build = getenv("BUILD");
	struct link_settings want = { .bitrate = 500000, .sample_point_pm = 800, .data_bitrate = 2000000, .queue = 12 };
	struct utsname kernel;
	char command[1024];

	uname(&kernel);
	snprintf(command, sizeof(command), "insmod %s/test/vm/canfault/%s/canfdfake.ko 2>/dev/null",
		 build ? build : "build", kernel.release);
	if (!if_nametoindex("canfd0") && system(command))
		TEST_IGNORE_MESSAGE("no controller of CAN FD for this kernel");
	expect(0, link_up("canfd0", &want, &errors), "");
	TEST_ASSERT_TRUE(query("canfd0").up);
	TEST_ASSERT_EQUAL_UINT(500000, query("canfd0").now.bitrate);
	TEST_ASSERT_EQUAL_UINT(800, query("canfd0").now.sample_point_pm);
	TEST_ASSERT_EQUAL_UINT(2000000, query("canfd0").now.data_bitrate);
	TEST_ASSERT_EQUAL_UINT(0, query("canfd0").modes);
	TEST_ASSERT_NOT_NULL(strstr(output("ip -details link show canfd0"), "mtu 72"));
	expect(0, link_up("canfd0", &want, &errors), ""); /* as it is */
	want.data_bitrate = 4000000;
	expect(-EBUSY, link_up("canfd0", &want, &errors),
	       "canfd0 is up with data bit rate 2000000, not 4000000; take it down first: ip link set canfd0 down");
	run("ip link set canfd0 down");
	expect(0, link_up("canfd0", &want, &errors), "");
	TEST_ASSERT_EQUAL_UINT(4000000, query("canfd0").now.data_bitrate);
	run("ip link set canfd0 down");
	want.data_bitrate = 9876543;
	expect(-ERANGE, link_up("canfd0", &want, &errors),
	       "canfd0: its controller cannot do what is asked: it came up with data bit rate 10000000, not 9876543");
	TEST_ASSERT_FALSE(query("canfd0").up);
	want.data_bitrate = 60000000;
	expect(-ERANGE, link_up("canfd0", &want, &errors),
	       "canfd0: its controller, with a clock of 80000000 Hz, cannot do 500000 bit/s "
	       "with a sample point of 0.800 and data at 60000000 bit/s; "
	       "ip -details link show canfd0 shows what it can");
}

/* ---- vcan ---- */

TEST(test_virtual)
{
	struct link_info info;

	run("ip link add vlink0 type vcan");
	info = query("vlink0");
	TEST_ASSERT_TRUE(info.virtual);
	TEST_ASSERT_FALSE(info.up);
	TEST_ASSERT_EQUAL_INT(BUS_STOPPED, info.state);
	TEST_ASSERT_EQUAL_STRING("vcan", info.kind);
	expect(0, link_up("vlink0", &usual, &errors), "");
	expect(0, link_up("vlink0", &(struct link_settings){ 0 }, &errors), "");
	info = query("vlink0");
	TEST_ASSERT_TRUE(info.up);
	TEST_ASSERT_EQUAL_INT(BUS_ERROR_ACTIVE, info.state);
	expect(0, link_reset("vlink0", &errors), "");
	TEST_ASSERT_TRUE(query("vlink0").up);
	run("ip link del vlink0");
}

/* A vcan has room for CAN FD frames unless its MTU was set to 16. */
TEST(test_virtual_without_room_for_fd)
{
	const struct link_settings want = { .bitrate = 1000000, .data_bitrate = 5000000 };
	struct setup_bus setup = { .name = "lab", .interface = "vlink0", .bitrate = 1000000 };
	struct drv_bus *bus = calloc(1, sizeof(*bus));

	bus->setup = &setup;
	drv_bus_add_receive(bus, &(struct drv_receive){ .id = 0x185, .len_max = 64, .flags = FRAME_FD }, 0);
	run("ip link add vlink0 mtu 16 type vcan");
	TEST_ASSERT_TRUE(query("vlink0").classic);
	TEST_ASSERT_FALSE(link_is_classic("vlink0", &errors)); /* it may come up otherwise */
	expect(0, link_up("vlink0", &usual, &errors), "");
	expect(-EBUSY, link_up("vlink0", &want, &errors),
	       "vlink0 is up with mtu 16, not 72: it carries no CAN FD frame; set it: ip link set vlink0 down; "
	       "ip link set vlink0 mtu 72 up");
	expect(EXIT_RETRY, drv_bus_open(bus, &errors),
	       "vlink0 carries no CAN FD frame, its mtu is 16: ip link set vlink0 down; ip link set vlink0 mtu 72 up");
	run("ip link set vlink0 down");
	expect(0, link_up("vlink0", &want, &errors), "");
	TEST_ASSERT_FALSE(query("vlink0").classic);
	expect(0, drv_bus_open(bus, &errors), "");
	bus_close(bus->bus);
	free(bus);
	run("ip link del vlink0");
}

TEST(test_a_controller_without_fd_is_classic)
{
	expect(0, link_up("can2", &usual, &errors), "");
	TEST_ASSERT_TRUE(link_is_classic("can2", &errors));
	expect(1, 1,
	       "can2 carries no CAN FD frame, its mtu is 16: ip link set can2 down; ip link set can2 up type can "
	       "bitrate 1000000 dbitrate 5000000 fd on");
}

/* ---- reset ---- */

static int queued(void)
{
	const char *backlog = strstr(output("tc -s qdisc show dev can2"), "backlog ");
	int bytes, frames;

	TEST_ASSERT_NOT_NULL(backlog);
	TEST_ASSERT_EQUAL_INT(2, sscanf(backlog, "backlog %db %dp", &bytes, &frames));
	return frames;
}

/* Three frames are held in the queue, for longer than the test takes; none of them is there after the reset, and the
 * next one is on the wire first. */
/* By what the kernel says, not by the name. */
TEST(test_virtual_is_not_a_name)
{
	run("ip link add can77 type vcan; ip link set can2 down; ip link set can2 name vcan77");
	TEST_ASSERT_TRUE(link_is_virtual("can77"));
	TEST_ASSERT_FALSE(link_is_virtual("vcan77"));
	run("ip link set vcan77 name can2; ip link del can77");
	TEST_ASSERT_FALSE(link_is_virtual("can2"));
	TEST_ASSERT_FALSE(link_is_virtual("can77"));
	TEST_ASSERT_FALSE(link_is_virtual("lo"));
	TEST_ASSERT_TRUE(link_is_virtual("wire:none"));
	TEST_ASSERT_FALSE(link_is_virtual("log:none"));
}

TEST(test_reset_flushes)
{
	struct link_settings want = { .bitrate = 500000, .restart_ms = 70, .queue = 10 };
	struct link_info before, after;
	int s, far;

	expect(0, link_up("can2", &want, &errors), "");
	run("tc qdisc replace dev can2 root netem delay 200s");
	s = open_can("can2");
	far = open_can("can3");
	for (canid_t id = 0x100; id < 0x103; id++)
		send_id(s, id);
	TEST_ASSERT_EQUAL_INT(3, queued());
	before = query("can2");
	expect(0, link_reset("can2", &errors), "");
	after = query("can2");
	TEST_ASSERT_TRUE(after.up);
	TEST_ASSERT_EQUAL_MEMORY(&before.now, &after.now, sizeof(before.now));
	TEST_ASSERT_EQUAL_INT(0, queued());
	run("tc qdisc change dev can2 root netem delay 0");
	close(s); /* it still has the error of the interface that went down */
	s = open_can("can2");
	send_id(s, 0x200);
	expect_next(far, 0x200);
	close(s);
	close(far);
}

TEST(test_a_reset_brings_up_a_link_that_is_down)
{
	expect(0, link_reset("can2", &errors), "");
	TEST_ASSERT_TRUE(query("can2").up);
	TEST_ASSERT_EQUAL_UINT(1000000, query("can2").now.bitrate);
}

/* ---- bus-off ---- */

static void fault(const char *word)
{
	FILE *f = fopen(FAULTS, "w");

	TEST_ASSERT_NOT_NULL(f);
	fprintf(f, "can2 %s", word);
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, fclose(f), word);
}

static void need_faults(void)
{
	const char *build = getenv("BUILD");
	struct utsname kernel;
	char command[1024];

	uname(&kernel);
	snprintf(command, sizeof(command), "insmod %s/test/vm/canfault/%s/canfault.ko 2>/dev/null",
		 build ? build : "build", kernel.release);
	if (access(FAULTS, W_OK) && system(command))
		TEST_IGNORE_MESSAGE("no fault module for this kernel");
}

TEST(test_states)
{
	static const struct {
		const char *word;
		enum bus_state state;
	} states[] = { { "warning", BUS_WARNING }, { "passive", BUS_PASSIVE }, { "busoff", BUS_OFF } };

	need_faults();
	expect(0, link_up("can2", &usual, &errors), "");
	for (size_t i = 0; i < 3; i++) {
		fault(states[i].word);
		TEST_ASSERT_EQUAL_INT(states[i].state, query("can2").state);
	}
}

TEST(test_error_counters)
{
	struct link_info info;

	need_faults();
	expect(0, link_up("can2", &usual, &errors), "");
	fault("counters 100 7");
	info = query("can2");
	TEST_ASSERT_EQUAL_UINT(100, info.tx_errors);
	TEST_ASSERT_EQUAL_UINT(7, info.rx_errors);
	TEST_ASSERT_EQUAL_INT(BUS_WARNING, info.state);
}

/* As with the cable off: what waited is not sent when it is back. */
TEST(test_reset_of_a_stalled_bus)
{
	int s, far;

	need_faults();
	expect(0, link_up("can2", &usual, &errors), "");
	fault("stall");
	s = open_can("can2");
	far = open_can("can3");
	for (canid_t id = 0x100; id < 0x103; id++)
		send_id(s, id);
	expect(0, link_reset("can2", &errors), "");
	fault("resume");
	close(s);
	s = open_can("can2");
	send_id(s, 0x200);
	expect_next(far, 0x200);
	close(s);
	close(far);
}

/* A link that is up, right and bus-off is left alone as well: the restart is the owner's decision. */
TEST(test_bus_off_is_left_alone)
{
	struct link_info before;

	need_faults();
	expect(0, link_up("can2", &usual, &errors), "");
	before = query("can2");
	fault("busoff");
	TEST_ASSERT_EQUAL_UINT(before.bus_offs + 1, query("can2").bus_offs);
	expect(0, link_up("can2", &usual, &errors), "");
	TEST_ASSERT_EQUAL_INT(BUS_OFF, query("can2").state);
	expect(0, link_reset("can2", &errors), "");
	TEST_ASSERT_EQUAL_INT(BUS_ERROR_ACTIVE, query("can2").state);
}

TEST(test_restarts_by_itself)
{
	struct link_settings want = usual;

	need_faults();
	want.restart_ms = 600000;
	expect(0, link_up("can2", &want, &errors), "");
	fault("busoff");
	TEST_ASSERT_EQUAL_INT(BUS_OFF, query("can2").state);
}

/* ---- without permission ---- */

static void as_ordinary_user(void)
{
	const struct link_settings want = { .bitrate = 250000 };

	TEST_ASSERT_EQUAL_INT(0, setresuid(65534, 65534, 65534));
	query("can2"); /* any user may */
	expect(-EPERM, link_up("can2", &want, &errors),
	       "can2: not allowed to set its bit rate: it takes the capability CAP_NET_ADMIN; run it as root, or by a "
	       "service with AmbientCapabilities=CAP_NET_ADMIN");
	TEST_ASSERT_EQUAL_INT(-EPERM, link_reset("can2", &errors));
}

TEST(test_permission)
{
	pid_t child;
	int status;

	fflush(stdout);
	child = fork();
	if (!child) {
		as_ordinary_user(); /* leaves by longjmp if something is wrong */
		_exit(42);
	}
	TEST_ASSERT_EQUAL_INT(child, waitpid(child, &status, 0));
	TEST_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 42);
	TEST_ASSERT_TRUE(query("vcan0").up);
}

TEST(test_names)
{
	struct link_info info;

	TEST_ASSERT_EQUAL_INT(-ENODEV, link_query("can77", &info, &errors));
	TEST_ASSERT_EQUAL_STRING_LEN("can77: no such CAN interface; ", last, 30);
	TEST_ASSERT_EQUAL_INT(-EMEDIUMTYPE, link_query("lo", &info, &errors));
	TEST_ASSERT_EQUAL_STRING_LEN("lo is not a CAN interface; ", last, 27);
}

int main(void)
{
	const char *path = "/tmp/vm_link.noise";
	int status;

	noise = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
	dup2(noise, STDERR_FILENO);
	run("ip link set can3 down; ip link set can3 up type can bitrate 1000000");
	UNITY_BEGIN();
	testcase_run_all();
	status = UNITY_END();
	/* As they were after boot. */
	setUp();
	run("ip link set can2 up type can restart-ms 100");
	run("ip link set can3 down; ip link set can3 up type can restart-ms 100");
	return status;
}
