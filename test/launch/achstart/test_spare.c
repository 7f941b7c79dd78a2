/* test_spare.c: a second process of a driver waits, and takes over when the driver dies.
 *
 * waits: mostly
 */
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "test/lib/testcase.h"

#include "channels/clock/clock.h"
#include "channels/port/port.h"
#include "daemons/drv/standby.h"
#include "test/launch/achstart/rig.h"

#define TIMES RIG_MANY(10)
#define BLOWS RIG_MANY(40)
#define OWN_FILE                                                                        \
	"include: robot.yaml\narm: auto\ndaemons:\n  canwire:\n  robotsim:\n  clock:\n" \
	"  waist: {critical: hold}\n"

static bool on_clock; /* of the case */

void tearDown(void)
{
	rig_close();
	on_clock = false;
}

static void begin_with(const char *launch)
{
	rig_in_real_time = !on_clock;
	rig_open(launch);
	rig_shell("cp config/robots/waist.yaml %s/robot.yaml", rig.folder);
	rig_start();
	RIG_UNTIL(rig_armed());
}

static pid_t begin(void)
{
	begin_with(NULL);
	RIG_UNTIL(rig_spare("waist"));
	return rig_spare("waist");
}

/* It published a state of its own incarnation. */
static bool is_back(uint32_t incarnation)
{
	return rig_ready("waist") && rig_waist().header.incarnation == incarnation;
}

static void check_left(void)
{
	char left[4096];

	RIG_ASSERT(!rig_stop());
	if (rig_left(left, sizeof(left)))
		rig_fail(__LINE__, "left behind: %s", left);
	RIG_ASSERT(!rig_events("waist", "orphan"));
}

static void take_over_each_time(void)
{
	pid_t spare = begin();
	char words[32];

	snprintf(words, sizeof(words), "\"spare\":%d,", (int)spare);
	RIG_UNTIL(rig_status_has("waist", words));
	for (uint32_t i = 2; i < 2 + TIMES; i++) {
		rig_signal("waist", SIGKILL);
		RIG_UNTIL(is_back(i));
		RIG_ASSERT(rig_pid("waist") == spare);
		RIG_ASSERT(rig_incarnation("waist") == i);
		RIG_UNTIL(rig_spare("waist"));
		spare = rig_spare("waist");
	}
	RIG_ASSERT(rig_level(NULL) == MSG_LEVEL_RUN);
	check_left();
}

TEST(it_takes_over_each_time)
{
	take_over_each_time();
}

TEST(it_takes_over_each_time_on_the_virtual_clock)
{
	on_clock = true;
	take_over_each_time();
}

TEST(it_starts_again_on_the_virtual_clock_if_the_robot_file_has_changed)
{
	pid_t spare;

	on_clock = true;
	begin_with(OWN_FILE);
	RIG_UNTIL(rig_spare("waist"));
	spare = rig_spare("waist");
	rig_shell("echo >> %s/robot.yaml", rig.folder);
	rig_signal("waist", SIGKILL);
	RIG_UNTIL(is_back(2));
	RIG_ASSERT(rig_pid("waist") == spare);
	check_left();
}

static bool is_scheduled(pid_t pid, int policy, int priority)
{
	struct sched_param param = { 0 };

	return pid && sched_getscheduler(pid) == policy && !sched_getparam(pid, &param) &&
	       param.sched_priority == priority;
}

/* A spare waits as an ordinary process, and has the priority of its daemon when it takes over.  An ordinary daemon is
 * born with another, which it does not keep, whenever achstart dies. */
TEST(priorities_are_those_of_the_launch_file)
{
	if (sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 1 }))
		TEST_IGNORE_MESSAGE("no right to real-time priorities");
	sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ 0 });
	begin_with("include: @BENCH@\narm: auto\ndaemons:\n  canwire: {priority: 60}\n  robotsim:\n  clock:\n"
		   "  waist: {priority: 45, critical: hold}\n");
	RIG_UNTIL(is_scheduled(rig_spare("waist"), SCHED_OTHER, 0));
	RIG_ASSERT(is_scheduled(rig_pid("robotsim"), SCHED_OTHER, 0));
	rig_signal("waist", SIGKILL);
	RIG_UNTIL(is_back(2));
	RIG_ASSERT(is_scheduled(rig_pid("waist"), SCHED_FIFO, 45));
	rig_kill();
	TEST_ASSERT_EQUAL(0, sched_setscheduler(rig_pid("clock"), SCHED_RR,
						&(struct sched_param){ .sched_priority = 60 }));
	rig_start();
	RIG_UNTIL(rig_events("achstart", "all-ready") == 2);
	RIG_ASSERT(is_scheduled(rig_pid("clock"), SCHED_OTHER, 0));
	RIG_ASSERT(is_scheduled(rig_pid("waist"), SCHED_FIFO, 45) && is_scheduled(rig_pid("canwire"), SCHED_FIFO, 60));
	check_left();
}

/* Only a critical driver has one unless the launch file says so. */
TEST(the_launch_file_says_which_daemon_has_a_spare)
{
	begin_with("include: @BENCH@\narm: auto\ndaemons:\n  canwire:\n  robotsim:\n"
		   "  clock: {spare: yes}\n  waist: {critical: hold, spare: no}\n");
	RIG_UNTIL(rig_spare("clock"));
	RIG_ASSERT(!rig_spare("waist") && !rig_spare("canwire") && !rig_spare("robotsim"));
	rig_signal("clock", SIGKILL);
	rig_signal("waist", SIGKILL);
	RIG_UNTIL(is_back(2) && rig_incarnation("clock") == 2 && rig_ready("clock"));
	check_left();
}

TEST(a_killed_spare_is_not_missed)
{
	const pid_t spare = begin();

	kill(spare, SIGKILL);
	RIG_UNTIL(rig_reported("waist", "spare",
			       "its spare has ended: signal 9 (Killed); another one is started in 10 s"));
	rig_signal("waist", SIGKILL);
	RIG_UNTIL(is_back(2));
	RIG_ASSERT(rig_pid("waist") != spare);
	check_left();
	RIG_ASSERT(rig_events("waist", "spare") == 1);
}

TEST(a_frozen_spare_is_killed_and_replaced)
{
	const pid_t spare = begin();

	kill(spare, SIGSTOP);
	rig_signal("waist", SIGKILL);
	RIG_UNTIL(rig_reported("waist", "killed", "it was stopped"));
	RIG_UNTIL(rig_ready("waist") && rig_pid("waist") != spare);
	check_left();
}

TEST(it_ends_with_achstart_and_the_next_one_has_its_own)
{
	const pid_t spare = begin(), pid = rig_pid("waist");

	rig_kill();
	RIG_UNTIL(!rig_spare("waist"));
	rig_start();
	RIG_UNTIL(rig_spare("waist"));
	RIG_ASSERT(rig_spare("waist") != spare && rig_pid("waist") == pid);
	RIG_ASSERT(!rig_events("waist", "ended"));
	check_left();
}

TEST(a_daemon_that_was_stopped_has_none)
{
	begin();
	rig_run("achctl", "stop waist");
	RIG_UNTIL(!rig_spare("waist"));
	rig_run("achctl", "start waist");
	RIG_UNTIL(rig_spare("waist"));
	RIG_ASSERT(!rig_events("waist", "orphan"));
	check_left();
}

/* Its settings are those of the file when it takes over, not when it was started. */
TEST(changed_settings_count)
{
	begin_with(OWN_FILE);
	RIG_UNTIL(rig_spare("waist") && rig_waist().common.period_ns == 5000000);
	rig_shell("sed -i 's,clock/5,clock/10,' %s/robot.yaml", rig.folder);
	rig_signal("waist", SIGKILL);
	RIG_UNTIL(is_back(2) && rig_waist().common.period_ns == 10000000);
	check_left();
}

/* As without a spare. */
TEST(wrong_settings_are_not_worked_around)
{
	begin_with(OWN_FILE);
	RIG_UNTIL(rig_spare("waist"));
	rig_shell("cp %s/robot.yaml %s/right.yaml && sed -i 's,clock/5,clock/x,' %s/robot.yaml", rig.folder, rig.folder,
		  rig.folder);
	rig_signal("waist", SIGKILL);
	RIG_UNTIL(rig_reported("waist", "failed", "its configuration is wrong: exit status 100"));
	RIG_ASSERT(rig_reported("waist", "last-line", "tick: \"clock/x\""));
	RIG_UNTIL(!rig_pid("waist") && !rig_spare("waist"));
	RIG_UNTIL(rig_level(NULL) == MSG_LEVEL_HOLD);
	rig_shell("cp %s/right.yaml %s/robot.yaml", rig.folder, rig.folder);
	rig_run("achctl", "start waist");
	RIG_UNTIL(rig_ready("waist"));
	check_left();
}

/* The daemon runs on, but could not be started again: that is reported before a spare is needed. */
TEST(a_spare_finds_wrong_settings_first)
{
	pid_t spare;

	begin_with(OWN_FILE);
	rig_shell("cp %s/robot.yaml %s/right.yaml && sed -i 's,clock/5,clock/x,' %s/robot.yaml", rig.folder, rig.folder,
		  rig.folder);
	spare = rig_spare("waist"); /* it may have read the file before */
	if (spare)
		kill(spare, SIGKILL);
	RIG_UNTIL(rig_reported("waist", "spare", "its spare has ended: exit status 100; another one is started in"));
	RIG_ASSERT(rig_ready("waist") && rig_incarnation("waist") == 1);
	rig_shell("cp %s/right.yaml %s/robot.yaml", rig.folder, rig.folder);
	rig_run("achctl", "restart waist");
	RIG_UNTIL(rig_spare("waist"));
	check_left();
}

/* ---- what came while it waited ---- */

static const char *full(const char *channel)
{
	static char name[PORT_NAME_MAX];

	TEST_ASSERT_EQUAL(0, port_name(name, channel));
	return name;
}

static void put(const char *channel, unsigned int number, void *msg)
{
	struct error_sink errors = { error_to_stderr, NULL, 0 };
	struct port port;

	TEST_ASSERT_EQUAL(0, port_open(&port, channel, msg_type_by_number(number), 0660, &errors));
	TEST_ASSERT_TRUE(port_put(&port, msg));
	port_close(&port);
}

/* Its driver is dead, and achstart does not know yet. */
static void hold_up(void)
{
	const pid_t pid = rig_pid("waist");

	kill(rig.achstart, SIGSTOP);
	kill(pid, SIGKILL);
	RIG_UNTIL(!folder_started(pid));
}

static void ask_to_home(void)
{
	struct msg_request request;

	msg_init(&request, msg_type_by_number(msg_request_number));
	request.id = 77;
	request.client_pid = getpid();
	request.verb = MSG_VERB_HOME;
	put("waist-req", msg_request_number, &request);
}

static void refer(void)
{
	struct msg_joint_ref ref;

	msg_init(&ref, msg_type_by_number(msg_joint_ref_number));
	ref.count = 1;
	ref.mode[0] = MSG_MODE_VELOCITY;
	ref.velocity[0] = 0.3;
	ref.header.for_incarnation = rig_waist().header.incarnation;
	ref.header.t_publish_ns = clock_now_ns();
	ref.header.valid_until_ns = clock_now_ns() + 200000000;
	put("waist-ref", msg_joint_ref_number, &ref);
}

static bool was_refused(void)
{
	struct error_sink errors = { error_to_stderr, NULL, 0 };
	struct msg_reply reply;
	struct port port;
	bool refused = false;
	size_t len;

	TEST_ASSERT_EQUAL(0, port_open(&port, "waist-rep", msg_type_by_number(msg_reply_number), 0640, &errors));
	while (port_next(&port, &reply, sizeof(reply), &len) == PORT_ONE)
		refused |= reply.id == 77 && strstr(reply.error, "asked before this driver was there");
	port_close(&port);
	return refused;
}

TEST(requests_to_the_predecessor_are_not_done)
{
	const pid_t spare = begin();

	rig_listen();
	hold_up();
	ask_to_home();
	refer();
	kill(rig.achstart, SIGCONT);
	RIG_UNTIL(is_back(2) && was_refused());
	RIG_UNTIL(rig_waist().common.lifecycle == MSG_LIFE_HOLDING);
	RIG_ASSERT(rig_pid("waist") == spare && !rig_heard.homes);
	check_left();
}

TEST(a_raised_stop_counts)
{
	const pid_t spare = begin();

	rig_run("achctl", "estop");
	RIG_UNTIL(rig_level(NULL) == MSG_LEVEL_ESTOP);
	rig_signal("waist", SIGKILL);
	RIG_UNTIL(is_back(2) && rig_waist().common.lifecycle == MSG_LIFE_DISARMED);
	RIG_ASSERT(rig_pid("waist") == spare && rig_waist().common.level == MSG_LEVEL_ESTOP);
	rig_run("achctl", "arm");
	RIG_UNTIL(rig_waist().common.lifecycle == MSG_LIFE_HOLDING);
	check_left();
}

/* The state file says what was latched; what the state said besides is lost, and has to be taken for the worst. */
TEST(channels_that_were_removed_are_made_again)
{
	static const char *const channels[] = { "waist-state", "waist-req", "waist-rep", "waist-ref", "waist-event" };
	const pid_t spare = begin();

	hold_up();
	for (size_t i = 0; i < sizeof(channels) / sizeof(*channels); i++)
		TEST_ASSERT_EQUAL(ACH_OK, ach_unlink(full(channels[i])));
	kill(rig.achstart, SIGCONT);
	RIG_UNTIL(is_back(2) && rig_waist().common.latches);
	RIG_ASSERT(rig_pid("waist") == spare);
	rig_run("achctl", "request waist clear");
	RIG_UNTIL(rig_waist().common.lifecycle == MSG_LIFE_HOLDING);
	check_left();
}

/* ---- what it leaves in others ---- */

static unsigned int descriptors(pid_t pid)
{
	const struct dirent *entry;
	unsigned int n = 0;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		n += *entry->d_name != '.';
	if (dir)
		closedir(dir);
	return n;
}

/* The spare's end of its pipe.  Just forked it still has the stdin of achstart. */
static bool read_pipe(char link[64], pid_t spare)
{
	char path[64];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/fd/0", (int)spare);
	len = readlink(path, link, 63);
	link[len > 0 ? len : 0] = 0;
	return !strncmp(link, "pipe:", 5);
}

/* A second holder of the pipe would keep it from ending with achstart. */
static bool has_pipe_of(pid_t pid, pid_t spare)
{
	char path[64], wanted[64], link[64];
	bool found = false;

	RIG_UNTIL(read_pipe(wanted, spare));
	for (int fd = 0; fd < 256; fd++) {
		ssize_t len;

		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
		len = readlink(path, link, sizeof(link) - 1);
		link[len > 0 ? len : 0] = 0;
		found |= !strcmp(link, wanted);
	}
	return found;
}

TEST(promotions_leave_no_descriptor_and_no_zombie)
{
	const char *const others[] = { "clock", "canwire", "robotsim" };
	const unsigned int first = descriptors((begin(), rig_pid("waist")));
	const unsigned int before = descriptors(rig.achstart);

	for (uint32_t i = 2; i < 2 + TIMES; i++) {
		rig_signal("waist", SIGKILL);
		RIG_UNTIL(is_back(i) && rig_spare("waist"));
	}
	RIG_ASSERT(has_pipe_of(rig.achstart, rig_spare("waist")));
	RIG_ASSERT(!has_pipe_of(rig_pid("waist"), rig_spare("waist")));
	for (size_t k = 0; k < sizeof(others) / sizeof(*others); k++) {
		const pid_t pid = rig_pid(others[k]);
		pid_t now;

		rig_signal(others[k], SIGKILL);
		/* The process first: one that is dying may be ready a last time, and one just forked has all pipes. */
		RIG_UNTIL((now = rig_pid(others[k])) && now != pid && rig_ready(others[k]));
		RIG_ASSERT(!has_pipe_of(now, rig_spare("waist")));
	}
	RIG_UNTIL(descriptors(rig_pid("waist")) == first);
	RIG_UNTIL(descriptors(rig.achstart) == before);
	RIG_UNTIL(rig_children((int[RIG_CHILDREN_MAX]){ 0 }) == RIG_NAMES + 1);
	check_left();
}

/* ---- at any time ---- */

static void strike(uint32_t whom)
{
	const pid_t spare = rig_spare("waist");

	if (whom == 0)
		rig_signal("waist", SIGKILL);
	else if (whom == 1 && spare)
		kill(spare, SIGKILL);
	else if (whom == 2)
		rig_kill();
}

/* The driver, its spare and achstart are killed at random, also at once; one driver is there afterwards. */
TEST(any_of_them_may_be_killed)
{
	begin();
	for (int i = 0; i < BLOWS; i++) {
		const uint32_t blows = 1 + rig_random(4);

		for (uint32_t k = 0; k < blows; k++) {
			const int64_t until_ns = clock_now_ns() + rig_random(15000000);

			strike(rig_random(3));
			clock_wait(NULL, 0, rig_random(2) ? until_ns : 0);
			if (!rig.achstart)
				rig_start();
		}
		RIG_UNTIL(rig_all_ready());
		if (rig_random(2))
			RIG_UNTIL(rig_spare("waist"));
	}
	RIG_UNTIL(rig_waist().header.incarnation == rig_incarnation("waist") && rig_spare("waist"));
	RIG_ASSERT(!rig_events("waist", "failed") && !rig_events("achstart", "corrupt"));
	RIG_ASSERT(!rig_stop());
}

/* Only achstart sets it, for a driver. */
TEST(the_variable_of_a_spare_is_not_passed_on)
{
	setenv(STANDBY, "yes", 1);
	begin();
	rig_signal("waist", SIGKILL);
	RIG_UNTIL(is_back(2));
	unsetenv(STANDBY);
	check_left();
}
