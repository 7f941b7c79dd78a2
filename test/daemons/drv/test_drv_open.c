/* test_drv_open.c: what happens before the first tick: declaring, claims, channels, buses.  Also for drv_declare.c,
 * drv_wake.c. */
#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <malloc.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "channels/ach/ach.h"
#include "channels/clock/clock.h"
#include "config/base/boot_id.h"
#include "daemons/drv/claim.h"
#include "daemons/drv/drv_inside.h"
#include "daemons/drv/standby.h"
#include "test/daemons/drv/test_drv_lib.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

static int epoll_error; /* of every epoll_ctl; 0: they work */

void setUp(void)
{
	epoll_error = 0;
	drv_lib_begin();
}

void tearDown(void)
{
	drv_lib_end();
}

/* ---- what it waits for ---- */

/* In place of the C library's. */
int epoll_ctl(int set, int op, int fd, struct epoll_event *event)
{
	errno = epoll_error;
	return epoll_error ? -1 : (int)syscall(SYS_epoll_ctl, set, op, fd, event);
}

/* How many descriptors the set would tell by that tag. */
static int told_by(const struct clock_set *set, uint32_t tag)
{
	char path[64], line[128];
	unsigned long data;
	int found = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", clock_set_fd(set));
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		found += sscanf(line, "tfd: %*d events: %*x data: %lx", &data) == 1 && (data & UINT32_MAX) == tag;
	if (f)
		fclose(f);
	return found;
}

static int tagged[DRV_WAKE_BUS + 3];

static void read_tags(void)
{
	for (uint32_t tag = 0; tag < DRV_WAKE_BUS + 3; tag++)
		tagged[tag] = told_by(fake.drv->set, tag);
}

TEST(every_bus_can_wake_it)
{
	drv_lib_at(2, read_tags);
	drv_lib_at(3, drv_lib_stop);
	TEST_ASSERT_EQUAL(
		0, drv_lib_main("--name arm --bus wire:here --bus wire:there --bus wire:beyond --set lock_memory=no"));
	TEST_ASSERT_EQUAL(1, tagged[DRV_WAKE_STOP]);
	TEST_ASSERT_EQUAL(1, tagged[DRV_WAKE_REMOVAL]);
	TEST_ASSERT_EQUAL(0, tagged[DRV_WAKE_REF]);
	for (int i = 0; i < 3; i++)
		TEST_ASSERT_EQUAL(1, tagged[DRV_WAKE_BUS + i]);
}

#define STATE(i) (&drv_lib.states[i])
#define ON_WIRE "--name arm --bus wire:nowhere --set lock_memory=no"

static void said(const char *text)
{
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(drv_lib.said, text), drv_lib.said);
}

static void said_only(const char *line)
{
	TEST_ASSERT_EQUAL_STRING(line, drv_lib.said);
}

/* A robot whose one bus is a log that is over after ms; more is a line or two about the bus or the device. */
static const char *robot_line(double ms, const char *bus, const char *device)
{
	static char line[512];
	char text[1024];

	snprintf(text, sizeof(text),
		 "robot: lab\nbuses:\n  lab: {interface: \"log:%s\"%s}\n"
		 "devices:\n  arm: {driver: faked, bus: {main: lab}, limits: {velocity: 9, acceleration: 9}%s}\n",
		 drv_lib_log(ms), bus, device);
	snprintf(line, sizeof(line), "--name arm --set lock_memory=no --config %s", drv_lib_file("lab.yaml", text));
	return line;
}

/* ---- declaring ---- */

static int declare_badly(struct drv *drv, struct error_sink *errors)
{
	(void)drv;
	error_add(errors, "no such module");
	return -EINVAL;
}

static int declare_with_a_line(struct drv *drv, struct error_sink *errors)
{
	declare_badly(drv, errors);
	return 0;
}

TEST(a_plan_that_fails_is_a_configuration)
{
	fake.declare = declare_badly;
	TEST_ASSERT_EQUAL(100, drv_lib_run(10, ""));
	said_only("faked[arm]: fatal: no such module\n");
	fake.declare = declare_with_a_line;
	TEST_ASSERT_EQUAL(100, drv_lib_run(10, ""));
	TEST_ASSERT_EQUAL(0, fake.starts);
	TEST_ASSERT_EQUAL(0, drv_lib_seq("arm-state"));
}

TEST(check_does_no_more_than_plan)
{
	TEST_ASSERT_EQUAL(0, drv_lib_run(10, "--check"));
	TEST_ASSERT_EQUAL(1, fake.plans);
	TEST_ASSERT_EQUAL(0, fake.starts + drv_lib.states_n);
	said_only("");
	fake.declare = declare_badly;
	TEST_ASSERT_EQUAL(100, drv_lib_run(10, "--check"));
}

TEST(a_sensor_cannot_tick_on_references)
{
	drv_lib_driver.ref = 0;
	TEST_ASSERT_EQUAL(100, drv_lib_run(10, "--set tick=ref~5ms"));
	said_only("faked[arm]: fatal: tick: faked takes no references to tick on\n");
}

TEST(a_driver_that_cannot_wait_does_not_run)
{
	epoll_error = ENOSPC;
	TEST_ASSERT_EQUAL(111, drv_lib_run(10, ""));
	said("unable to wait: No space left on device\n");
}

TEST(a_state_type_is_not_a_reference)
{
	drv_lib_driver.ref = msg_joint_state_number;
	TEST_ASSERT_EQUAL(100, drv_lib_run(10, ""));
	said_only("faked[arm]: fatal: messages of type joint-state cannot be references\n");
}

TEST(a_driver_with_a_period_of_its_own_follows_nothing)
{
	drv_lib_driver.own_period = true;
	TEST_ASSERT_EQUAL(100, drv_lib_run(10, "--set tick=clock"));
	said_only("faked[arm]: fatal: tick: faked keeps a period of its own, such as 1ms\n");
	TEST_ASSERT_EQUAL(0, drv_lib_run(10, "--set tick=1ms"));
}

TEST(a_driver_does_not_tick_on_a_frame_of_another_bus)
{
	TEST_ASSERT_EQUAL(100, drv_lib_run(10, "--set tick=frame~torso~0x183~5ms"));
	said_only("faked[arm]: fatal: tick: there is no bus torso\n");
}

static int add_bad_row(struct drv *drv, struct error_sink *errors)
{
	static const struct drv_send bad = { .row = { .id = 0x203, .period_ns = -1 }, .len = 1 };

	TEST_ASSERT_EQUAL(2, drv_add_send(drv, &bad, errors));
	return 0;
}

TEST(rows_that_make_no_sense_are_a_configuration)
{
	fake.declare = add_bad_row;
	TEST_ASSERT_EQUAL(100, drv_lib_run(10, ""));
	said("row 2 of the frames to send, 203: ");
}

/* ---- ticks on frames ---- */

static void frames_at_7_17_and_so_on(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		drv_lib_frame(7 + 10 * i, "183#");
}

/* Free ticks at 0, 10 ... are moved by 1 % a tick until they meet the frames; here they meet at once. */
TEST(ticks_on_a_frame)
{
	for (unsigned int i = 1; i <= 8; i++)
		drv_lib_frame(10 * i + (i == 3 ? 1.5 : 0), "183#0102");
	TEST_ASSERT_EQUAL(0, drv_lib_run(89, "--set tick=frame~table~0x183~10ms"));
	for (unsigned int i = 1; i <= 8; i++)
		TEST_ASSERT_EQUAL(DRV_LIB_START_NS + (int64_t)((10 * i + (i == 3 ? 1.5 : 0)) * DRV_LIB_MS),
				  fake.ticks[i].ns);
	TEST_ASSERT_EQUAL(MSG_FLAG_FREERUN, STATE(0)->header.flags & MSG_FLAG_FREERUN);
	TEST_ASSERT_EQUAL(0, STATE(4)->header.flags & MSG_FLAG_FREERUN);
	TEST_ASSERT_EQUAL(0, fake.got_n); /* the driver has not declared it */
}

TEST(a_bus_may_be_called_by_its_role)
{
	for (unsigned int i = 1; i <= 4; i++)
		drv_lib_frame(10 * i, "183#");
	TEST_ASSERT_EQUAL(0, drv_lib_main(robot_line(49, "", ", settings: {tick: frame main 0x183 10ms}")));
	TEST_ASSERT_EQUAL(0, STATE(3)->header.flags & MSG_FLAG_FREERUN);
	TEST_ASSERT_EQUAL_STRING("lab", STATE(3)->common.bus[0].name);
}

/* As a preset, which knows no bus by name. */
TEST(a_preset_ticks_on_a_frame_of_the_first_bus)
{
	for (unsigned int i = 0; i < 5; i++)
		drv_lib_frame(10 * i, "183#");
	drv_lib_driver.tick_preset = "frame 0x183 10ms";
	TEST_ASSERT_EQUAL(0, drv_lib_run(49, ""));
	TEST_ASSERT_EQUAL(0, STATE(3)->header.flags & MSG_FLAG_FREERUN);
	TEST_ASSERT_EQUAL(10000000, STATE(3)->common.period_ns);
}

static int watch_all(struct drv *drv, struct error_sink *errors)
{
	(void)errors;
	return drv_monitor(drv, 0) == 2 ? 0 : -1;
}

TEST(a_driver_that_watches_a_bus_receives_every_frame)
{
	fake.declare = watch_all;
	frames_at_7_17_and_so_on(2);
	drv_lib_frame(18, "181#01"); /* odd */
	drv_lib_frame(19, "123#R3");
	TEST_ASSERT_EQUAL_MESSAGE(0, drv_lib_run(20, ""), drv_lib.said);
	TEST_ASSERT_EQUAL(6, fake.got_n); /* the log's first and last, too, which are error frames */
	TEST_ASSERT_EQUAL(FRAME_ERR | 0x80, fake.got[0].frame.id);
	TEST_ASSERT_EQUAL(0x183, fake.got[1].frame.id);
	TEST_ASSERT_EQUAL(0x181, fake.got[3].frame.id);
	TEST_ASSERT_EQUAL(FRAME_RTR | 0x123, fake.got[4].frame.id);
	TEST_ASSERT_EQUAL(1, STATE(drv_lib.states_n - 1)->common.frames_odd);
}

/* ---- the clock's frame ---- */

static void put_clock(void)
{
	struct msg_clock msg;

	msg_init(&msg, msg_type_by_number(msg_clock_number));
	msg.cycle = (uint64_t)((clock_now_ns() - DRV_LIB_START_NS) / DRV_LIB_MS);
	msg.t_cycle_ns = DRV_LIB_START_NS + (int64_t)msg.cycle * DRV_LIB_MS;
	msg.period_ns = DRV_LIB_MS;
	drv_lib_put("clock", &msg, sizeof(msg));
}

/* The channel says that cycles begin at whole milliseconds, the frame (every fifth cycle) that it is 0.1 ms later:
 * the frame is believed. */
TEST(ticks_are_locked_to_the_clocks_frame)
{
	for (unsigned int i = 1; i <= 19; i++) {
		drv_lib_frame(5 * i + 0.1, "080#");
		drv_lib_frame(5 * i + 0.9, "080#00"); /* another frame */
	}
	drv_lib_always(put_clock);
	TEST_ASSERT_EQUAL(0, drv_lib_main(robot_line(99, ", clock: \"080#\"", ", settings: {tick: clock/5}")));
	TEST_ASSERT_EQUAL(0, STATE(6)->header.flags & MSG_FLAG_FREERUN);
	for (unsigned int i = 8; i < 19; i++)
		TEST_ASSERT_EQUAL(100000, (fake.ticks[i].ns - DRV_LIB_START_NS) % DRV_LIB_TICK_NS);
	TEST_ASSERT_EQUAL(0, fake.got_n);
}

/* Without the channel each frame is taken for a cycle that the divider divides. */
TEST(the_frame_alone_will_do)
{
	for (unsigned int i = 1; i <= 19; i++)
		drv_lib_frame(5 * i + 0.1, "080#");
	TEST_ASSERT_EQUAL(0, drv_lib_main(robot_line(99, ", clock: \"080#\"", ", settings: {tick: clock/5}")));
	TEST_ASSERT_EQUAL(0, STATE(6)->header.flags & MSG_FLAG_FREERUN);
	TEST_ASSERT_EQUAL(100000, (fake.ticks[12].ns - DRV_LIB_START_NS) % DRV_LIB_TICK_NS);
}

TEST(a_bus_without_a_clock_frame_has_the_channel)
{
	drv_lib_frame(5.1, "080#");
	drv_lib_always(put_clock);
	TEST_ASSERT_EQUAL(0, drv_lib_main(robot_line(49, "", ", settings: {tick: clock/5}")));
	TEST_ASSERT_EQUAL(0, STATE(6)->header.flags & MSG_FLAG_FREERUN);
	TEST_ASSERT_EQUAL(0, (fake.ticks[8].ns - DRV_LIB_START_NS) % DRV_LIB_TICK_NS);
}

/* Frames come on bus one; the other is silent. */
static void ticks_with_two_buses(const char *clock_of_one, const char *clock_of_two, const char *buses)
{
	char line[256], text[1024], other[96];

	for (unsigned int i = 1; i <= 19; i++) {
		drv_lib_frame(5 * i + 0.1, "080#");
		drv_lib_frame(5 * i + 0.9, "081#");
	}
	snprintf(other, sizeof(other), "%s",
		 drv_lib_file("other.log", "(1.000000) can0 123#\n"
					   "(1.099000) can0 20000080#0000000000000000\n"));
	snprintf(text, sizeof(text),
		 "robot: lab\nbuses:\n  one: {interface: \"log:%s\"%s}\n  two: {interface: \"log:%s\"%s}\n"
		 "devices:\n  arm: {driver: faked, bus: {%s}, settings: {tick: clock/5},\n"
		 "    limits: {velocity: 9, acceleration: 9}}\n",
		 drv_lib_log(99), clock_of_one, other, clock_of_two, buses);
	snprintf(line, sizeof(line), "--name arm --set lock_memory=no --config %s", drv_lib_file("lab.yaml", text));
	TEST_ASSERT_EQUAL_MESSAGE(0, drv_lib_main(line), drv_lib.said);
	TEST_ASSERT_EQUAL(0, STATE(12)->header.flags & MSG_FLAG_FREERUN);
	TEST_ASSERT_EQUAL(100000, (fake.ticks[12].ns - DRV_LIB_START_NS) % DRV_LIB_TICK_NS);
}

TEST(the_clock_frame_of_the_first_bus_counts)
{
	ticks_with_two_buses(", clock: \"080#\"", ", clock: \"081#\"", "first: one, second: two");
}

TEST(if_it_has_one)
{
	ticks_with_two_buses(", clock: \"080#\"", "", "first: two, second: one");
}

/* ---- in flight ---- */

static unsigned int depth;

DRV_LIB_HOOK(keep_depth, depth = fake.drv->buses[0].slots.options.in_flight);

TEST(the_robot_file_says_how_many_are_in_flight)
{
	static const struct {
		const char *bus;
		unsigned int depth;
	} cases[] = { { "", 2 }, { ", in_flight: 1", 1 }, { ", in_flight: 8", 8 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		drv_lib_at(3, keep_depth);
		TEST_ASSERT_EQUAL_MESSAGE(0, drv_lib_main(robot_line(50, cases[i].bus, "")), drv_lib.said);
		TEST_ASSERT_EQUAL(cases[i].depth, depth);
		drv_lib_forget();
	}
	TEST_ASSERT_EQUAL(100, drv_lib_main(robot_line(50, ", in_flight: 9", "")));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(drv_lib.said, "in_flight: 9 is above the maximum 8"), drv_lib.said);
	drv_lib_at(3, keep_depth);
	TEST_ASSERT_EQUAL(0, drv_lib_run(50, "")); /* no file */
	TEST_ASSERT_EQUAL(2, depth);
}

/* ---- claims ---- */

static char claim_line[ERROR_LINE_MAX];

static int try_claim(const char *what)
{
	struct error_sink errors = { error_keep_last, claim_line, 0 };
	struct claim_set set = { 0 };
	const int status = claim_interface(&set, "wire:nowhere", what, &errors, &errors);

	claim_release(&set);
	return status;
}

static int claim_results[9];

static void try_claims(void)
{
	claim_results[0] = try_claim("201");
	claim_results[1] = try_claim("202");
	claim_results[2] = try_claim("00000203");
	claim_results[3] = try_claim("100");
	claim_results[4] = try_claim("clock");
	claim_results[5] = try_claim("203");
	claim_results[6] = try_claim("second");
	claim_results[7] = try_claim("000"); /* not declared */
	claim_results[8] = try_claim("");
	drv_lib_stop();
}

static int add_claims(struct drv *drv, struct error_sink *errors)
{
	static const struct drv_send more[] = {
		{ .row = { .id = 0x201, .class = SLOTS_URGENT, .deadline_ns = 1000000 }, .len = 2 }, /* once more */
		{ .row = { .id = 0x202, .class = SLOTS_URGENT, .deadline_ns = 1000000 }, .len = 2 }, /* once more */
		{ .row = { .id = FRAME_EXT | 0x203, .class = SLOTS_QUEUE, .deadline_ns = 1000000 }, .len = 2 },
		{ .row = { .id = 0x100, .class = SLOTS_QUEUE, .deadline_ns = 1000000 }, .len = 2, .shared = true },
	};

	for (int i = 0; i < 4; i++)
		TEST_ASSERT_EQUAL(2 + i, drv_add_send(drv, &more[i], errors));
	TEST_ASSERT_EQUAL(0, drv_add_claim(drv, 0, "clock", errors));
	TEST_ASSERT_EQUAL(1, drv_add_claim(drv, 0, "second", errors));
	return 0;
}

TEST(every_identifier_that_is_not_shared_is_claimed_for_life)
{
	static const int expected[] = { -EBUSY, -EBUSY, -EBUSY, 0, -EBUSY, 0, -EBUSY, 0, 0 };

	fake.declare = add_claims;
	drv_lib_at(2, try_claims);
	TEST_ASSERT_EQUAL(0, drv_lib_main(ON_WIRE));
	TEST_ASSERT_EQUAL_INT_ARRAY(expected, claim_results, 9);
	try_claims();
	TEST_ASSERT_EACH_EQUAL_INT(0, claim_results, 9);
}

static int add_on_the_second_bus(struct drv *drv, struct error_sink *errors)
{
	static const struct drv_send other = {
		.bus = 1, .row = { .id = 0x205, .class = SLOTS_LATEST, .period_ns = DRV_LIB_TICK_NS }, .len = 2
	};

	TEST_ASSERT_EQUAL(2, drv_add_send(drv, &other, errors));
	return 0;
}

static void try_second_bus(void)
{
	struct error_sink errors = { error_keep_last, claim_line, 0 };
	struct claim_set set = { 0 };

	claim_results[0] = claim_interface(&set, "wire:other", "205", &errors, &errors);
	claim_release(&set);
	claim_results[1] = try_claim("205");
	drv_lib_stop();
}

TEST(on_every_bus)
{
	fake.declare = add_on_the_second_bus;
	drv_lib_at(2, try_second_bus);
	TEST_ASSERT_EQUAL(0, drv_lib_main(ON_WIRE " --bus wire:other"));
	TEST_ASSERT_EQUAL(-EBUSY, claim_results[0]);
	TEST_ASSERT_EQUAL(0, claim_results[1]);
}

static struct claim_set held;
static int stolen_fd;

static void what_is_taken_is_the_world_with_a_name(const char *what)
{
	struct error_sink errors = { error_keep_last, claim_line, 0 };
	char line[256];

	fake.declare = add_claims;
	TEST_ASSERT_EQUAL(0, claim_interface(&held, "wire:nowhere", what, &errors, &errors));
	TEST_ASSERT_EQUAL(112, drv_lib_main(ON_WIRE));
	snprintf(line, sizeof(line), "faked[arm]: fatal: %s of wire:nowhere is taken by %s, process %d of uid %d\n",
		 what, program_invocation_short_name, (int)getpid(), (int)geteuid());
	said_only(line);
	claim_release(&held);
	TEST_ASSERT_EQUAL(0, drv_lib_seq("arm-state"));
	TEST_ASSERT(fcntl(STDIN_FILENO, F_GETFD) >= 0); /* what was not opened is not closed */
}

TEST(a_taken_identifier)
{
	what_is_taken_is_the_world_with_a_name("202");
}

TEST(a_taken_claim)
{
	what_is_taken_is_the_world_with_a_name("clock");
}

static int hold_channel(const char *channel)
{
	struct error_sink errors = { error_keep_last, claim_line, 0 };

	return claim_channel(&held, drv_lib_channel(channel), &errors, &errors);
}

TEST(a_state_has_one_writer)
{
	char line[256];

	TEST_ASSERT_EQUAL(0, hold_channel("arm-state"));
	TEST_ASSERT_EQUAL(112, drv_lib_run(10, ""));
	snprintf(line, sizeof(line), "is taken by %s, process %d of uid %d\n", program_invocation_short_name,
		 (int)getpid(), (int)geteuid());
	said(line);
	drv_lib_driver.state_channel = "robot-arms";
	TEST_ASSERT_EQUAL(0, drv_lib_run(10, ""));
	claim_release(&held);
	TEST_ASSERT_EQUAL(0, hold_channel("robot-arms"));
	TEST_ASSERT_EQUAL(112, drv_lib_run(10, ""));
	claim_release(&held);
	TEST_ASSERT_EQUAL(0, drv_lib_run(10, ""));
}

TEST(a_name_too_long_for_a_channel_is_a_configuration)
{
	setenv("ENDPLATE_PREFIX", "a-prefix-that-is-so-long-that-hardly-anything-else-fits", 1);
	TEST_ASSERT_EQUAL(100, drv_lib_run(10, ""));
	said_only("faked[arm]: fatal: arm-state: the channel's name is longer than 63 bytes\n");
}

static int lock_one(int flags)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/.endplate-claims-%u", drv_lib.folder, (unsigned int)geteuid());
	if (flags & O_EXCL)
		unlink(path);
	stolen_fd = open(path, O_RDWR | O_CLOEXEC | flags, 0600);
	return claim_file_lock(stolen_fd, claim_file_byte("wire/nowhere.201"));
}

static void remove_claims(void)
{
	lock_one(O_CREAT | O_EXCL);
	close(stolen_fd);
}

static void see_none(void)
{
	claim_results[1] = lock_one(0);
	close(stolen_fd);
}

static void see_claims(void)
{
	claim_results[0] = lock_one(0);
	close(stolen_fd);
	drv_lib_stop();
}

TEST(claims_whose_file_was_removed_are_taken_again_after_a_second)
{
	drv_lib_at(2, remove_claims);
	drv_lib_at(500000000 / DRV_LIB_TICK_NS, see_none);
	drv_lib_at(2 + 1000000000 / DRV_LIB_TICK_NS, see_claims);
	TEST_ASSERT_EQUAL(0, drv_lib_main(ON_WIRE));
	TEST_ASSERT_EQUAL(-EBUSY, claim_results[0]);
	TEST_ASSERT_EQUAL(0, claim_results[1]);
	TEST_ASSERT_EQUAL(0, drv_lib_events("claim-lost"));
}

static void steal_claims(void)
{
	lock_one(O_CREAT | O_EXCL);
}

TEST(a_claim_that_was_lost_with_its_file_is_an_event)
{
	drv_lib_at(2, steal_claims);
	drv_lib_at(3 + 2000000000 / DRV_LIB_TICK_NS, drv_lib_stop);
	TEST_ASSERT_EQUAL(0, drv_lib_main(ON_WIRE));
	close(stolen_fd);
	TEST_ASSERT_EQUAL(1, drv_lib_events("claim-lost"));
	TEST_ASSERT_NOT_NULL(strstr(drv_lib_event("claim-lost")->text, "was removed, and another process"));
}

TEST(a_log_is_not_claimed)
{
	char interface[128];
	struct error_sink errors = { error_keep_last, claim_line, 0 };

	snprintf(interface, sizeof(interface), "log:%s/log", drv_lib.folder);
	TEST_ASSERT_EQUAL(0, claim_interface(&held, interface, "201", &errors, &errors));
	TEST_ASSERT_EQUAL(0, drv_lib_run(10, ""));
	claim_release(&held);
}

/* ---- channels ---- */

static int add_output(struct drv *drv, struct error_sink *errors)
{
	TEST_ASSERT_EQUAL(0, drv_add_output(drv, "bus-table", msg_bus_stats_number, errors));
	TEST_ASSERT_EQUAL(1, drv_add_output(drv, "bus-chair", msg_bus_stats_number, errors));
	return 0;
}

static void of_wrong_size(const char *channel, const char *type)
{
	char line[256];

	drv_lib_make(channel, 64, 16);
	TEST_ASSERT_EQUAL_MESSAGE(100, drv_lib_run(10, "--set tick=clock"), channel);
	snprintf(line, sizeof(line),
		 "faked[arm]: fatal: channel %s%s: too small for messages of type %s (%zu bytes): "
		 "remove it with ach rm %s%s\n",
		 drv_lib.prefix, channel, type, msg_type_by_name(type)->body->size, drv_lib.prefix, channel);
	said_only(line);
	TEST_ASSERT_EQUAL(0, fake.starts);
	drv_lib_remove(channel);
}

TEST(a_channel_of_the_wrong_size_is_a_configuration)
{
	fake.declare = add_output;
	of_wrong_size("arm-state", "joint-state");
	of_wrong_size("arm-req", "request");
	of_wrong_size("arm-rep", "reply");
	of_wrong_size("arm-ref", "joint-ref");
	of_wrong_size("clock", "clock");
	of_wrong_size("bus-table", "bus-stats");
	of_wrong_size("bus-chair", "bus-stats");
	of_wrong_size("arm-event", "event");
}

/* achstart replaces it, so another attempt may do. */
TEST(an_estop_channel_of_the_wrong_size_is_the_world)
{
	drv_lib_make("estop-b", 64, 16);
	TEST_ASSERT_EQUAL(111, drv_lib_run(10, ""));
	TEST_ASSERT_NOT_NULL(strstr(drv_lib.said, "estop-b: ACH_BAD_SHM_FILE: it is too small for e-stop messages"));
	TEST_ASSERT_EQUAL(0, fake.starts);
}

/* Alone, and with a group of operators. */
TEST(modes)
{
	static const struct {
		const char *channel;
		mode_t shared;
	} rows[] = { { "arm-state", 0640 }, { "arm-req", 0600 }, { "arm-rep", 0640 },
		     { "arm-event", 0640 }, { "arm-ref", 0600 }, { "bus-table", 0640 },
		     { "clock", 0640 },	    { "estop", 0640 },	 { "estop-b", 0660 } };
	char group[16];

	snprintf(group, sizeof(group), "%u", (unsigned int)getegid());
	fake.declare = add_output;
	for (int shared = 0; shared < 2; shared++) {
		if (shared)
			setenv("ENDPLATE_OPERATORS", group, 1);
		TEST_ASSERT_EQUAL(0, drv_lib_run(10, "--set tick=clock"));
		unsetenv("ENDPLATE_OPERATORS");
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			const char *name = drv_lib_channel(rows[i].channel);

			TEST_ASSERT_EQUAL_HEX_MESSAGE(shared ? rows[i].shared : 0600, lib_mode(name), name);
			TEST_ASSERT_EQUAL(ACH_OK, ach_unlink(name));
		}
	}
}

TEST(a_sensor_has_no_references_and_a_tick_of_its_own_no_clock)
{
	char path[256];

	drv_lib_driver.ref = 0;
	TEST_ASSERT_EQUAL(0, drv_lib_run(10, ""));
	TEST_ASSERT(access(lib_path(path, drv_lib_channel("arm-ref")), F_OK));
	TEST_ASSERT(access(lib_path(path, drv_lib_channel("clock")), F_OK));
	TEST_ASSERT(!access(lib_path(path, drv_lib_channel("arm-req")), F_OK));
}

TEST(the_state_may_have_a_name_of_the_robot)
{
	drv_lib_driver.state_channel = "robot-arms";
	TEST_ASSERT_EQUAL(0, drv_lib_run(10, ""));
	TEST_ASSERT_EQUAL(5, drv_lib_seq("robot-arms"));
	TEST_ASSERT_EQUAL(0, drv_lib_seq("arm-state"));
}

static int declare_part(struct drv *drv, struct error_sink *errors)
{
	return drv_add_part(drv, "hand", &(unsigned int){ 0 }, 1, errors);
}

TEST(a_part_has_its_channels_from_the_begin)
{
	fake.declare = declare_part;
	TEST_ASSERT_EQUAL(0, drv_lib_run(20, ""));
	TEST_ASSERT_GREATER_THAN_UINT64(0, drv_lib_seq("arm-hand-info"));
	TEST_ASSERT_GREATER_THAN_UINT64(0, drv_lib_seq("arm-hand-state"));
}

TEST(an_existing_channel_is_used)
{
	struct msg_joint_state state;

	msg_init(&state, msg_type_by_number(msg_joint_state_number));
	state.header.incarnation = 41;
	TEST_ASSERT_EQUAL(0, boot_id_read(state.common.boot));
	state.common.latches = MSG_LATCH_HOMING_ABORTED; /* it is of this boot, so it counts */
	drv_lib_make("arm-state", 200, sizeof(state));
	drv_lib_put("arm-state", &state, sizeof(state));
	TEST_ASSERT_EQUAL(0, drv_lib_run(10, ""));
	TEST_ASSERT_EQUAL(42, drv_lib_last()->header.incarnation);
	TEST_ASSERT_EQUAL(6, drv_lib_seq("arm-state"));
	TEST_ASSERT_EQUAL(MSG_LATCH_HOMING_ABORTED, drv_lib_last()->common.latches);
}

/* Of others than ours nothing is believed. */
TEST(incarnations_begin_at_one)
{
	drv_lib_make("arm-state", 64, sizeof(struct msg_joint_state));
	drv_lib_put("arm-state", "nonsense that is long enough", 28);
	TEST_ASSERT_EQUAL(0, drv_lib_run(10, ""));
	TEST_ASSERT_EQUAL(1, drv_lib_last()->header.incarnation);
}

/* In place of the C library's: files of the cases before are gone, and the program would be run again. */
int execv(const char *path, char *const argv[])
{
	(void)path;
	(void)argv;
	errno = ENOENT;
	return -1;
}

/* stdin of a spare: "", with its zero, which says that it is needed and has no place on a clock; then its end. */
static void stand_by(bool needed)
{
	int ends[2];

	TEST_ASSERT_EQUAL(0, pipe(ends));
	TEST_ASSERT_EQUAL(needed, write(ends[1], "", needed));
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	close(ends[1]);
	setenv(STANDBY, "0", 1);
}

TEST(a_spare_that_is_needed_is_a_driver)
{
	stand_by(true);
	drv_lib_at(2, drv_lib_stop);
	TEST_ASSERT_EQUAL(0, drv_lib_main("--name arm --bus wire:here"));
	TEST_ASSERT_EQUAL(1, STATE(0)->header.incarnation);
	TEST_ASSERT_NULL(getenv(STANDBY));
}

static unsigned int opens, opens_that_fail;

static int open_or_fail(void *self, struct drv *drv, struct error_sink *errors)
{
	(void)self;
	(void)drv;
	return opens++ < opens_that_fail ? error_refuse(errors, -EIO, "not yet") : 0;
}

static void open_early(unsigned int fail, unsigned int expected)
{
	opens = 0;
	opens_that_fail = fail;
	drv_lib_driver.open = open_or_fail;
	drv_lib_driver.opens_early = true;
	stand_by(true);
	drv_lib_at(2, drv_lib_stop);
	TEST_ASSERT_EQUAL(0, drv_lib_main("--name arm --bus wire:here"));
	TEST_ASSERT_EQUAL(expected, opens);
}

TEST(channels_that_a_spare_has_opened_are_not_opened_again)
{
	open_early(0, 1);
}

TEST(channels_that_a_spare_could_not_open_are_tried_again)
{
	open_early(1, 2);
}

TEST(a_spare_that_is_not_needed_ends_and_has_published_nothing)
{
	stand_by(false);
	TEST_ASSERT_EQUAL(0, drv_lib_main("--name arm --bus wire:here --set lock_memory=no"));
	TEST_ASSERT_EQUAL(0, drv_lib.states_n);
	unsetenv(STANDBY);
}

static int add_inputs(struct drv *drv, struct error_sink *errors)
{
	TEST_ASSERT_EQUAL(0, drv_add_input(drv, "one-ref", msg_joint_ref_number, errors));
	TEST_ASSERT_EQUAL(1, drv_add_input(drv, "two-ref", msg_joint_ref_number, errors));
	return 0;
}

TEST(every_input_is_there)
{
	ach_channel_t chan;

	fake.declare = add_inputs;
	TEST_ASSERT_EQUAL(0, drv_lib_run(10, ""));
	TEST_ASSERT_EQUAL(ACH_OK, ach_open(&chan, drv_lib_channel("one-ref"), NULL));
	ach_close(&chan);
	TEST_ASSERT_EQUAL(ACH_OK, ach_open(&chan, drv_lib_channel("two-ref"), NULL));
	ach_close(&chan);
}

TEST(at_first_it_is_starting_and_stopped)
{
	uint64_t boot[2];

	TEST_ASSERT_EQUAL(0, drv_lib_run(10, ""));
	TEST_ASSERT_EQUAL(1, drv_lib.firsts_n);
	TEST_ASSERT_EQUAL(MSG_LIFE_STARTING, drv_lib.first.common.lifecycle);
	TEST_ASSERT_EQUAL(0, boot_id_read(boot));
	TEST_ASSERT_EQUAL_MEMORY(boot, drv_lib.first.common.boot, sizeof(boot));
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, drv_lib.first.common.level);
	TEST_ASSERT_EQUAL(MSG_FLAG_PARTIAL, drv_lib.first.header.flags);
	TEST_ASSERT_EQUAL_UINT32(0, drv_lib.first.state_word[0]);
}

TEST(requests_from_before_are_answered_and_not_done)
{
	drv_lib_request(1, MSG_VERB_RESET, "", "");
	TEST_ASSERT_EQUAL(0, drv_lib_run(20, ""));
	TEST_ASSERT_EQUAL(0, fake.requests_n);
	TEST_ASSERT_EQUAL(-ESTALE, drv_lib_answer(1)->result);
}

static rlim_t descriptors_more;
static struct rlimit descriptors;

static int allow_few_descriptors(struct drv *drv, struct error_sink *errors)
{
	const int lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)drv;
	(void)errors;
	close(lowest);
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){ (rlim_t)lowest + descriptors_more, descriptors.rlim_max });
	return 0;
}

/* Whatever it cannot open, it says so and ends; what it waits with is among that. */
TEST(every_missing_descriptor_is_reported)
{
	int status = -1, waits = 0;

	getrlimit(RLIMIT_NOFILE, &descriptors);
	fake.declare = allow_few_descriptors;
	for (descriptors_more = 0; status && descriptors_more < 100; descriptors_more++) {
		status = drv_lib_run(20, "");
		setrlimit(RLIMIT_NOFILE, &descriptors);
		TEST_ASSERT(!status || *drv_lib.said);
		waits += strstr(drv_lib.said, "unable to wait: Too many open files") != NULL;
	}
	TEST_ASSERT_EQUAL(0, status);
	TEST_ASSERT_EQUAL(1, waits);
}

static bool ref_wake_added;

DRV_LIB_HOOK(read_ref_wake, ref_wake_added = ((const struct drv *)fake.drv)->ref_wake.open);

TEST(a_driver_that_ticks_on_references_is_woken_by_them)
{
	drv_lib_at(2, read_ref_wake);
	TEST_ASSERT_EQUAL(0, drv_lib_run(20, "--set tick=ref~5ms"));
	TEST_ASSERT_TRUE(ref_wake_added);
	TEST_ASSERT_EQUAL(0, drv_lib_run(20, ""));
	TEST_ASSERT_FALSE(ref_wake_added);
}

static int add_joint(struct drv *drv, struct error_sink *errors)
{
	TEST_ASSERT_EQUAL(1, drv_add_joint(drv, "wrist", errors));
	return 0;
}

static int64_t fill_nothing(void *self, struct drv *drv, void *state, int64_t now_ns)
{
	(void)self;
	(void)drv;
	(void)state;
	(void)now_ns;
	return 0;
}

TEST(unfilled_values_are_nan)
{
	const struct msg_joint_state *s;

	fake.declare = add_joint;
	drv_lib_driver.fill = fill_nothing;
	TEST_ASSERT_EQUAL(0, drv_lib_run(10, ""));
	s = drv_lib_last();
	TEST_ASSERT_EQUAL(2, s->count);
	TEST_ASSERT_EQUAL_STRING("elbow", s->joint[0]);
	TEST_ASSERT_EQUAL_STRING("wrist", s->joint[1]);
	for (unsigned int i = 0; i < 3; i++) {
		TEST_ASSERT_TRUE(isnan(s->position[i]) && isnan(s->velocity[i]));
		TEST_ASSERT_TRUE(isnan(s->current[i]) && isnan(s->temperature[i]));
		TEST_ASSERT_EQUAL(INT64_MAX, s->age_ns[i]);
	}
	TEST_ASSERT_EQUAL(23, strlen(s->common.bus[0].interface)); /* cut, and it ends */
}

static int64_t fill_imu(void *self, struct drv *drv, void *state, int64_t now_ns)
{
	(void)self;
	(void)drv;
	((struct msg_imu *)state)->age_ns = 17;
	return now_ns - 17;
}

TEST(any_message_can_be_a_state)
{
	struct msg_imu imu = { 0 };
	ach_channel_t chan;
	size_t len;

	drv_lib_driver.state = msg_imu_number;
	drv_lib_driver.ref = 0;
	drv_lib_driver.fill = fill_imu;
	TEST_ASSERT_EQUAL(0, drv_lib_run(10, ""));
	TEST_ASSERT_EQUAL(ACH_OK, ach_open(&chan, drv_lib_channel("arm-state"), NULL));
	ach_get(&chan, &imu, sizeof(imu), &len, NULL, ACH_O_LAST); /* it missed those before */
	ach_close(&chan);
	TEST_ASSERT_EQUAL(sizeof(imu), len);
	TEST_ASSERT_EQUAL(MSG_FINE, msg_check(&imu, len, msg_type_by_number(msg_imu_number), NULL));
	TEST_ASSERT_EQUAL(17, imu.age_ns);
	TEST_ASSERT_EQUAL(DRV_LIB_START_NS + 10 * (int64_t)DRV_LIB_MS - 17, imu.header.t_sample_ns);
	TEST_ASSERT_TRUE(isnan(imu.acceleration[0]) && isnan(imu.rate[2]) && isnan(imu.orientation[3]));
}

/* ---- buses and the system ---- */

TEST(a_log_that_is_not_there_is_the_world)
{
	TEST_ASSERT_EQUAL(111, drv_lib_main("--name arm --bus log:/nowhere/at-all.log --set lock_memory=no"));
	said("/nowhere/at-all.log");
	TEST_ASSERT_EQUAL(0, fake.starts);
}

static struct __user_cap_data_struct caps_kept[_LINUX_CAPABILITY_U32S_3];

static void set_caps(const struct __user_cap_data_struct *caps)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };

	TEST_ASSERT_EQUAL(0, syscall(SYS_capset, &header, caps));
}

static void without_net_admin(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];

	TEST_ASSERT_EQUAL(0, syscall(SYS_capget, &header, caps_kept));
	memcpy(caps, caps_kept, sizeof(caps));
	caps[0].effective &= ~(1u << CAP_NET_ADMIN);
	set_caps(caps);
}

TEST(a_driver_that_cannot_reset_a_link_reports_it)
{
	int status;

	drv_lib_driver.ref = 0; /* on a real bus references need limits */
	drv_lib_at(3, drv_lib_stop);
	without_net_admin();
	status = drv_lib_main("--name arm --bus other=wire:nowhere --bus can97 --set lock_memory=no");
	set_caps(caps_kept);
	TEST_ASSERT_EQUAL(0, status);
	TEST_ASSERT_EQUAL_STRING("bus can97: without CAP_NET_ADMIN its link cannot be reset after a stall",
				 drv_lib_event("no-reset")->text);
	TEST_ASSERT_EQUAL(1, drv_lib_last()->common.bus[0].can_reset);
	TEST_ASSERT_EQUAL(0, drv_lib_last()->common.bus[1].can_reset);
	TEST_ASSERT_EQUAL(2, drv_lib_last()->common.bus_count);
	TEST_ASSERT_EQUAL_STRING("other", drv_lib_last()->common.bus[0].name);
	TEST_ASSERT_EQUAL_STRING("wire:nowhere", drv_lib_last()->common.bus[0].interface);
	TEST_ASSERT_EQUAL_STRING("can97", drv_lib_last()->common.bus[1].name);
	TEST_ASSERT_EQUAL_STRING("can97", drv_lib_last()->common.bus[1].interface);
	/* whichever it is */
	drv_lib.events_n = 0;
	without_net_admin();
	status = drv_lib_main("--name arm --bus can97 --bus other=wire:nowhere --set lock_memory=no");
	set_caps(caps_kept);
	TEST_ASSERT_EQUAL(0, status);
	TEST_ASSERT_TRUE(drv_lib_reported("no-reset"));
	/* achstart does it */
	drv_lib.events_n = 0;
	setenv("ENDPLATE_DAEMON", "arm", 1);
	without_net_admin();
	status = drv_lib_main("--name arm --bus can97 --bus other=wire:nowhere --set lock_memory=no");
	set_caps(caps_kept);
	unsetenv("ENDPLATE_DAEMON");
	TEST_ASSERT_EQUAL(0, status);
	TEST_ASSERT_FALSE(drv_lib_reported("no-reset"));
	TEST_ASSERT_EQUAL(1, drv_lib_last()->common.bus[0].can_reset);
}

/* No further one is looked at, which a sanitizer sees. */
TEST(as_many_buses_as_there_may_be)
{
	drv_lib_at(3, drv_lib_stop);
	TEST_ASSERT_EQUAL_MESSAGE(0,
				  drv_lib_main("--name arm --set lock_memory=no --set tick=clock/5 "
					       "--bus wire:a --bus wire:b --bus wire:c --bus wire:d "
					       "--bus wire:e --bus wire:f --bus wire:g --bus last=wire:h"),
				  drv_lib.said);
	TEST_ASSERT_EQUAL(8, drv_lib_last()->common.bus_count);
	TEST_ASSERT_EQUAL_STRING("last", drv_lib_last()->common.bus[7].name);
}

TEST(a_refusal_of_the_system_is_reported)
{
	TEST_ASSERT_EQUAL(0, drv_lib_run(10, "--set core=1023"));
	TEST_ASSERT_TRUE(drv_lib_reported("not-real-time"));
	said("faked[arm]: warning: core 1023: Invalid argument; there is no such core, or it is not for this process");
	drv_lib.events_n = 0;
	TEST_ASSERT_EQUAL(0, drv_lib_run(10, ""));
	TEST_ASSERT_FALSE(drv_lib_reported("not-real-time"));
}

static int signal_flags, signal_status;

static void read_signal_flags(void)
{
	const struct drv *drv = fake.drv;

	signal_flags = fcntl(drv->signals, F_GETFD);
	signal_status = fcntl(drv->signals, F_GETFL);
}

TEST(two_signals_come_by_descriptor_and_no_others)
{
	sigset_t blocked;

	drv_lib_at(2, read_signal_flags);
	TEST_ASSERT_EQUAL(0, drv_lib_run(10, ""));
	sigprocmask(SIG_BLOCK, NULL, &blocked);
	for (int signal = 1; signal < 32; signal++)
		TEST_ASSERT_EQUAL(signal == SIGTERM || signal == SIGINT, sigismember(&blocked, signal));
	TEST_ASSERT_TRUE(signal_flags & FD_CLOEXEC);
	TEST_ASSERT_TRUE(signal_status & O_NONBLOCK);
}

DRV_LIB_HOOK(interrupted, kill(getpid(), SIGINT));

TEST(sigint_ends_it_as_well)
{
	drv_lib_at(3, interrupted);
	TEST_ASSERT_EQUAL(0, drv_lib_run(0, ""));
	TEST_ASSERT_EQUAL(1, fake.stops);
}

/* Descriptors, mappings of channels, and bytes of memory. */
static void count_open(size_t counts[3])
{
	DIR *fds = opendir("/proc/self/fd");
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];

	TEST_ASSERT(fds && maps);
	counts[0] = counts[1] = 0;
	counts[2] = mallinfo2().uordblks;
	while (readdir(fds))
		counts[0]++;
	while (fgets(line, sizeof(line), maps))
		counts[1] += strstr(line, "/SYSV") != NULL;
	closedir(fds);
	fclose(maps);
}

static void one_of_each_kind(void)
{
	char line[128];

	drv_lib_forget();
	fake.declare = NULL;
	TEST_ASSERT_EQUAL(0, drv_lib_main(robot_line(10, "", "")));
	TEST_ASSERT_EQUAL(0, drv_lib_run(10, "--set tick=ref~5ms"));
	fake.declare = add_output;
	snprintf(line, sizeof(line), "--set tick=clock/5 --bus other=log:%s",
		 drv_lib_file("other.log", "(1.000000) can0 123#\n"));
	TEST_ASSERT_EQUAL(0, drv_lib_run(10, line));
	drv_lib_at(2, drv_lib_stop);
	TEST_ASSERT_EQUAL(0, drv_lib_main(ON_WIRE));
}

/* A process may run many. */
TEST(nothing_is_left_open)
{
	size_t before[3], after[3], last = 0, least = 1000000;
	char socket[128];

	snprintf(socket, sizeof(socket), "%s/nobody", drv_lib.folder);
	setenv("NOTIFY_SOCKET", socket, 1);
	for (int i = 0; i < 8; i++) {
		one_of_each_kind();
		count_open(i < 4 ? before : after);
		if (i >= 4 && after[2] < last + least)
			least = after[2] > last ? after[2] - last : 0;
		last = i < 4 ? before[2] : after[2];
	}
	unsetenv("NOTIFY_SOCKET");
	TEST_ASSERT_EQUAL(before[0], after[0]);
	TEST_ASSERT_EQUAL(before[1], after[1]);
	TEST_ASSERT(least < 250); /* a robot file takes more; libc keeps some once, as when a late tick is reported */
}

/* ---- what is kept of the process before ---- */

static double new_bias;

static int64_t fill_bias(void *self, struct drv *drv, void *state, int64_t now_ns)
{
	struct msg_ft *s = state;

	(void)self;
	(void)drv;
	(void)now_ns;
	for (unsigned int i = 0; i < 3 && new_bias != 0; i++) {
		s->bias_force[i] = new_bias + i;
		s->bias_torque[i] = -new_bias - i;
	}
	return 0;
}

/* The first state of that incarnation. */
static void first_of(uint32_t incarnation, struct msg_ft *state)
{
	ach_channel_t chan;
	size_t len;

	TEST_ASSERT_EQUAL(ACH_OK, ach_open(&chan, drv_lib_channel("arm-state"), NULL));
	do
		TEST_ASSERT_EQUAL(ACH_OK, ach_get(&chan, state, sizeof(*state), &len, NULL, 0));
	while (state->header.incarnation != incarnation);
	ach_close(&chan);
}

/* A process that is killed after its first state leaves the bias of the one before. */
TEST(the_first_state_has_the_bias_of_the_process_before)
{
	struct msg_ft last = { 0 };

	drv_lib_driver.state = msg_ft_number;
	drv_lib_driver.ref = 0;
	drv_lib_driver.fill = fill_bias;
	new_bias = 0;
	TEST_ASSERT_EQUAL(0, drv_lib_run(20, ""));
	drv_lib_get("arm-state", &last, msg_ft_number);
	TEST_ASSERT_TRUE(isnan(last.bias_force[0]) && isnan(last.bias_torque[2]));
	new_bias = 5;
	TEST_ASSERT_EQUAL(0, drv_lib_run(20, ""));
	new_bias = 0;
	TEST_ASSERT_EQUAL(0, drv_lib_run(20, ""));
	first_of(3, &last);
	TEST_ASSERT_EQUAL(0, last.common.ticks);
	for (unsigned int i = 0; i < 3; i++) {
		TEST_ASSERT_EQUAL_DOUBLE(5 + i, last.bias_force[i]);
		TEST_ASSERT_EQUAL_DOUBLE(-5.0 - i, last.bias_torque[i]);
	}
}
