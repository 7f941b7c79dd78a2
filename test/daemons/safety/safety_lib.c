/* safety_lib.c: processes and channels of an actuator on a soft wire; see safety_lib.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channels/clock/clock.h"
#include "config/base/run.h"
#include "test/can/bus/wire_lib.h"
#include "test/daemons/safety/safety_lib.h"
#include "test/lib/lib.h"
#include "test/lib/virtual_lib.h"
#include "unity.h"

#define GIVE_UP_NS (30000 * SAFETY_MS)
#define CHANNEL_MESSAGES 2048 /* more than anybody can be late to read */
#define WIRE "wire:torso"
#define PATIENT_MS 10000 /* what happens after this time does not happen in a case */
#define SILENT_MS 2000

struct safety safety;

static int64_t give_up_ns;

static const char robot[] = "robot: safety\n"
			    "buses:\n"
			    "  torso: {interface: wire:torso, bitrate: 1000000}\n"
			    "devices:\n"
			    "  clock: {driver: hubo-daemon, bus: torso, actuated: no}\n"
			    "  " SAFETY_DEVICE ":\n"
			    "    driver: %s\n"
			    "    bus: torso\n"
			    "    settings: {ref_max: 200ms, lock_memory: no, tick: %s%s}\n"
			    "    limits: {position: [%g, %g], velocity: %g, acceleration: %g%s}\n"
			    "    sim: {position: %g%s}\n";

/* ---- processes ---- */

static pid_t launch(const char *program, const char *arguments, const char *output)
{
	const bool object = program == safety_on->program && getenv("SAFETY_DRVHOST");
	char line[1400];
	pid_t pid;

	snprintf(line, sizeof(line), "exec %s %s%s %s >>%s 2>&1", wire_lib_program(object ? "drvhost" : program),
		 object ? program : "", object ? ".so" : "", arguments, output);
	pid = virtual_lib_fork(program);
	TEST_ASSERT(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl("/bin/sh", "sh", "-c", line, NULL);
		_exit(127);
	}
	return pid;
}

static void end(pid_t *pid, int signal, int *status)
{
	if (*pid <= 0)
		return;
	virtual_lib_signal(*pid, signal);
	while (waitpid(*pid, status, 0) < 0 && errno == EINTR)
		;
	*pid = 0;
}

static const char *in_folder(const char *name)
{
	static char path[RUN_PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", getenv("ENDPLATE_RUN"), name);
	return path;
}

static void read_back(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "r");
	size_t n = file ? fread(text, 1, size - 1, file) : 0;

	text[n] = 0;
	if (file)
		fclose(file);
}

static void make_channel(ach_channel_t *chan, const char *name, enum msg_number number, size_t count)
{
	const struct msg_type *type = msg_type_by_number(number);

	TEST_ASSERT_EQUAL(ACH_OK, ach_create(safety_channel(name), count, type->body->size, NULL));
	TEST_ASSERT_EQUAL(ACH_OK, ach_open(chan, safety_channel(name), NULL));
}

/* Answers and questions are not recorded: they would be most of all frames. */
static void open_ear(void)
{
	const struct bus_options options = { .filters = safety_on->filters,
					     .filters_n = safety_on->filters_n,
					     .later = true };
	struct error_sink errors = { error_to_stderr, NULL, 0 };

	TEST_ASSERT_EQUAL(0, bus_open(&safety.ear, WIRE "@ear", &options, &errors));
}

/* Nothing is acknowledged on it before we listen, and so nothing happens that we do not hear. */
void safety_start_wire(void)
{
	if (safety.sim)
		virtual_lib_signal(safety.sim, SIGSTOP);
	safety.wire = wire_lib_start("torso");
	if (!safety.sim)
		return;
	SAFETY_UNTIL(bus_state(safety.ear) == BUS_ERROR_ACTIVE);
	virtual_lib_signal(safety.sim, SIGCONT);
}

void safety_kill_wire(void)
{
	wire_lib_end(SIGKILL);
}

/* ", " and this, if there is any. */
static void add(char *text, size_t size, const char *more)
{
	const size_t len = strlen(text);

	if (more && *more)
		snprintf(text + len, size - len, ", %s", more);
}

static void add_ms(char *text, size_t size, const char *fmt, int ms)
{
	char one[64];
	const char *at = fmt ? strstr(fmt, "%d") : NULL;

	if (!at)
		return;
	snprintf(one, sizeof(one), "%.*s%d%s", (int)(at - fmt), fmt, ms, at + 2);
	add(text, size, one);
}

static void write_robot(const struct safety_set *set)
{
	const struct safety_actuator *on = safety_on;
	const int watchdog_ms = set->watchdog_ms ? set->watchdog_ms : PATIENT_MS;
	char settings[300] = "", limits[100] = "", sim[300] = "";
	FILE *file = fopen(safety.file, "w");

	TEST_ASSERT_NOT_NULL(file);
	add(settings, sizeof(settings), on->settings);
	add_ms(settings, sizeof(settings), on->watchdog, watchdog_ms);
	add_ms(settings, sizeof(settings), on->silent, set->silent_ms ? set->silent_ms : SILENT_MS);
	add(settings, sizeof(settings), set->settings);
	add(limits, sizeof(limits), on->limits);
	add(sim, sizeof(sim), on->sim);
	add_ms(sim, sizeof(sim), on->sim_watchdog, watchdog_ms);
	add(sim, sizeof(sim), set->sim);
	fprintf(file, robot, on->program, set->tick ? set->tick : "5ms", settings, on->min_rad, on->max_rad,
		on->velocity_rad_s, on->acceleration_rad_s2, limits, set->at_rad != 0 ? set->at_rad : on->start_rad,
		sim);
	fclose(file);
}

void safety_bench(const struct safety_set *set)
{
	static const struct safety_set patient;
	char line[600];

	set = set ? set : &patient;
	safety_start_wire();
	snprintf(safety.file, sizeof(safety.file), "%.511s", in_folder("robot.yaml"));
	write_robot(set);
	make_channel(&safety.state_channel, SAFETY_DEVICE "-state", msg_joint_state_number, CHANNEL_MESSAGES);
	make_channel(&safety.event_channel, SAFETY_DEVICE "-event", msg_event_number, CHANNEL_MESSAGES);
	make_channel(&safety.reply_channel, SAFETY_DEVICE "-rep", msg_reply_number, CHANNEL_MESSAGES);
	make_channel(&safety.ref_channel, SAFETY_DEVICE "-ref", msg_joint_ref_number, 64);
	open_ear();
	snprintf(line, sizeof(line), "run %s", safety.file);
	safety.sim = launch("robotsim", line, in_folder("sim.out"));
	if (set->tick && strstr(set->tick, "clock/")) {
		snprintf(line, sizeof(line), "--name clock --config %s", safety.file);
		safety.clock = launch("hubo-daemon", line, in_folder("clock.out"));
	}
}

static void start_driver(const char *program)
{
	const unsigned int before = safety.states_n;
	char line[600];

	snprintf(line, sizeof(line), "--name " SAFETY_DEVICE " --config %s", safety.file);
	unlink(in_folder("driver.out"));
	safety.driver = launch(program, line, in_folder("driver.out"));
	SAFETY_UNTIL(safety.states_n > before || !safety_driver_lives());
	if (safety.states_n == before) {
		read_back(in_folder("driver.out"), safety.driver_said, sizeof(safety.driver_said));
		TEST_FAIL_MESSAGE(safety.driver_said);
	}
}

void safety_driver(void)
{
	start_driver(safety_on->program);
}

void safety_careless_driver(void)
{
	start_driver(safety_on->careless);
}

void safety_start(const struct safety_set *set)
{
	safety_bench(set);
	safety_driver();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_DISARMED);
}

int safety_second(const char *arguments)
{
	int status = 0;
	pid_t pid;

	unlink(in_folder("second.out"));
	pid = launch(safety_on->program, arguments, in_folder("second.out"));
	SAFETY_UNTIL(waitpid(pid, &status, WNOHANG) == pid);
	read_back(in_folder("second.out"), safety.said, sizeof(safety.said));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The process is not on the wire any more, and none of its frames waits. */
static bool gone_from_wire(pid_t pid)
{
	const char *stats = safety_wire("stats"), *host = strstr(stats, "controller host ");
	char program[32];

	snprintf(program, sizeof(program), "program %d ", (int)pid);
	host = host ? strstr(host, " waiting ") : NULL;
	return !strstr(stats, program) && (!host || !strncmp(host, " waiting 0 ", 11));
}

void safety_end_driver(int signal)
{
	const pid_t pid = safety.driver;

	virtual_lib_signal(pid, signal);
	SAFETY_UNTIL(!safety_driver_lives());
	read_back(in_folder("driver.out"), safety.driver_said, sizeof(safety.driver_said));
	SAFETY_UNTIL(gone_from_wire(pid));
	safety_turn();
}

void safety_stop_driver(void)
{
	int status;

	virtual_lib_signal(safety.driver, SIGSTOP);
	TEST_ASSERT_EQUAL(safety.driver, waitpid(safety.driver, &status, WUNTRACED));
	TEST_ASSERT_TRUE(WIFSTOPPED(status));
	safety_turn();
}

void safety_go_on(void)
{
	virtual_lib_signal(safety.driver, SIGCONT);
}

bool safety_driver_lives(void)
{
	if (safety.driver > 0 && waitpid(safety.driver, &safety.driver_status, WNOHANG) == safety.driver)
		safety.driver = 0;
	return safety.driver > 0;
}

/* ---- a case ---- */

static void close_channel(ach_channel_t *chan)
{
	if (chan->handle)
		ach_close(chan);
	memset(chan, 0, sizeof(*chan));
}

void safety_begin(void)
{
	static unsigned int number;

	memset(&safety, 0, sizeof(safety));
	safety.ref_every_ns = 5 * SAFETY_MS;
	snprintf(safety.prefix, sizeof(safety.prefix), "s%d-%u-", (int)getpid(), ++number);
	umask(0077); /* a driver takes no channel that others may read */
	setenv("ENDPLATE_PREFIX", safety.prefix, 1);
	unsetenv("NOTIFY_SOCKET");
	wire_lib_plain = true;
	if (!(safety_case->needs & SAFETY_REAL_TIME))
		virtual_lib_begin(wire_lib_folder());
}

void safety_end(void)
{
	end(&safety.driver, SIGKILL, &safety.driver_status);
	end(&safety.clock, SIGKILL, NULL);
	end(&safety.sim, SIGKILL, NULL);
	wire_lib_end(SIGKILL);
	bus_close(safety.ear);
	safety.ear = NULL;
	close_channel(&safety.state_channel);
	close_channel(&safety.event_channel);
	close_channel(&safety.reply_channel);
	close_channel(&safety.ref_channel);
	lib_unlink_all(safety.prefix);
	virtual_lib_end();
}

/* ---- the record ---- */

static void hear(void)
{
	int n;

	while (safety.ear && (n = bus_receive(safety.ear, safety.frames + safety.frames_n, 256)) > 0) {
		safety.frames_n += (unsigned int)n;
		TEST_ASSERT_MESSAGE(safety.frames_n < SAFETY_FRAMES_MAX - 256, "too many frames");
	}
	TEST_ASSERT_MESSAGE(!safety.ear || !bus_stats(safety.ear)->dropped, "frames were not heard");
}

static bool next(ach_channel_t *chan, void *to, size_t size)
{
	enum ach_status status;
	size_t len;

	if (!chan->handle)
		return false;
	status = ach_get(chan, to, size, &len, NULL, 0);
	TEST_ASSERT_NOT_EQUAL(ACH_MISSED_FRAME, status);
	return status == ACH_OK && len == size;
}

static void read_channels(void)
{
	while (next(&safety.state_channel, &safety.states[safety.states_n], sizeof(struct msg_joint_state)))
		TEST_ASSERT_MESSAGE(++safety.states_n < SAFETY_STATES_MAX, "too many states");
	while (next(&safety.event_channel, &safety.events[safety.events_n], sizeof(struct msg_event)))
		TEST_ASSERT_MESSAGE(++safety.events_n < SAFETY_EVENTS_MAX, "too many events");
	while (next(&safety.reply_channel, &safety.replies[safety.replies_n], sizeof(struct msg_reply)))
		TEST_ASSERT_MESSAGE(++safety.replies_n < SAFETY_REPLIES_MAX, "too many replies");
}

/* ---- waiting ---- */

void safety_turn(void)
{
	struct clock_fd fd = { .fd = safety.ear ? bus_fd(safety.ear) : -1, .events = POLLIN };
	const int64_t now_ns = clock_now_ns();

	if (safety.referring && now_ns - safety.ref_ns >= safety.ref_every_ns) {
		struct msg_joint_ref ref = safety.ref;

		safety_put_ref(&ref);
	}
	clock_wait(&fd, 1, now_ns + SAFETY_MS);
	hear();
	read_channels();
}

void safety_wait_begin(void)
{
	safety_turn();
	give_up_ns = clock_now_ns() + GIVE_UP_NS;
}

void safety_wait(const char *condition, int line)
{
	char text[400];

	if (clock_now_ns() > give_up_ns) {
		snprintf(text, sizeof(text), "timed out waiting for %s", condition);
		UnityFail(text, (UNITY_LINE_TYPE)line);
	}
	safety_turn();
}

void safety_ticks(unsigned int n)
{
	const uint64_t until = safety_state()->common.ticks + n;

	SAFETY_UNTIL(safety_state()->common.ticks >= until);
}
