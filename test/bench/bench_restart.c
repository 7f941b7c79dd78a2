/* bench_restart.c: how long a daemon of launch/waist.launch is away after kill -9, and what the supervisor costs.
 *
 *	bench_restart FOLDER	FOLDER/.. holds the programs; the robot lives in memory, as in /run
 *
 *	floor		from kill to the end of `PROGRAM --version`, started by achstart's own code: the time
 *			that the system takes to report a death and to start that binary
 *	published	from kill to the stamp of the first state of the next incarnation; for canwire and robotsim,
 *			which publish none, to READY
 *	complete	... of the first state that is not partial
 *	up		from the start of achstart to the last READY
 *
 * A daemon is killed at a random instant after it has been ready for a second.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channels/ach/ach.h"
#include "channels/clock/clock.h"
#include "channels/msg/msg.h"
#include "launch/achstart/child.h"
#include "test/bench/lib.h"
#include "test/bench/lib_figures.h"

#define SECONDS 30.0
#define STARTS 5
#define FLOORS 20
#define REST_NS 5000000000
#define SETTLED_NS 1000000000
#define GIVE_UP_NS 30000000000

static struct victim {
	const char *name, *program, *channel;
	ach_channel_t chan;
	struct figures_samples *floor, *published, *complete;
	pid_t killed;
	int64_t kill_ns, next_ns;
	uint32_t incarnation;
	bool away, published_once;
} victims[] = {
	{ .name = "canwire", .program = "canwire" },
	{ .name = "robotsim", .program = "robotsim" },
	{ .name = "clock", .program = "hubo-daemon", .channel = "clock" },
	{ .name = "waist", .program = "pciod", .channel = "waist-state" },
};
#define VICTIMS (sizeof(victims) / sizeof(*victims))

static char folder[300], programs[300], prefix[32];
static pid_t achstart;

/* ---- the robot ---- */

static void start_robot(void)
{
	char path[400];

	achstart = fork();
	if (achstart < 0)
		bench_die("fork: %s", strerror(errno));
	if (achstart)
		return;
	prctl(PR_SET_PDEATHSIG, SIGTERM); /* it stops the robot, too, if we are killed */
	snprintf(path, sizeof(path), "%s/achstart", programs);
	if (!getenv("BENCH_LOUD"))
		dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
	execl(path, "achstart", "--real", "launch/waist.launch", NULL);
	_exit(127);
}

static void stop_robot(void)
{
	int status = 0;

	kill(achstart, SIGTERM);
	if (waitpid(achstart, &status, 0) != achstart || !WIFEXITED(status) || WEXITSTATUS(status))
		bench_die("achstart ended with %#x", status);
}

static bool is_ready(const struct victim *v, struct folder_state *state)
{
	return !folder_state_read(v->name, state) && state->ready && state->pid != v->killed && folder_runs(state);
}

/* When the last daemon became ready. */
static int64_t wait_for_all(void)
{
	const int64_t until_ns = clock_now_ns() + GIVE_UP_NS;
	int64_t last_ns = 0;

	for (size_t i = 0; i < VICTIMS;) {
		struct folder_state state;

		if (is_ready(&victims[i], &state)) {
			last_ns = state.ready_ns > last_ns ? state.ready_ns : last_ns;
			i++;
		} else if (clock_now_ns() > until_ns) {
			bench_die("%s is never ready: %s/log", victims[i].name, folder);
		} else {
			bench_sleep_until_ns(bench_now_ns() + 1000000);
		}
	}
	return last_ns;
}

static void bring_up(double *p50_s, double *max_s)
{
	double up_s[STARTS];

	for (int i = 0; i < STARTS; i++) {
		const int64_t from_ns = clock_now_ns();

		start_robot();
		up_s[i] = (double)(wait_for_all() - from_ns) / 1e9;
		stop_robot();
	}
	*p50_s = figures_median(up_s, STARTS);
	*max_s = figures_part(up_s, STARTS, 1);
}

/* ---- the floor ---- */

static int64_t one_floor(const char *path, char *program)
{
	char *argv[] = { program, (char[]){ "--version" }, NULL };
	struct launch_daemon daemon = { .name = "floor", .argv = argv, .core = -1 };
	struct error_sink quiet = { 0 };
	struct child child, next;
	struct clock_fd end = { .events = POLLIN };
	int64_t from_ns;
	pid_t pid = bench_fork();
	int status;

	if (!pid)
		for (;;)
			pause();
	child = (struct child){ .pid = pid, .pidfd = pidfd_open(pid, 0), .ours = true };
	if (child.pidfd < 0)
		bench_die("pidfd_open");
	from_ns = clock_now_ns();
	kill(pid, SIGKILL);
	end.fd = child.pidfd;
	clock_wait(&end, 1, CLOCK_NEVER);
	child_ended(&child, &status);
	if (child_start(&next, &daemon, path, -1, NULL, NULL, &quiet, &quiet))
		bench_die("unable to start %s", path);
	end.fd = next.pidfd;
	clock_wait(&end, 1, CLOCK_NEVER);
	from_ns = clock_now_ns() - from_ns;
	child_ended(&next, &status);
	return from_ns;
}

static void measure_floor(struct victim *v)
{
	char path[400], program[32];

	snprintf(path, sizeof(path), "%s/%s", programs, v->program);
	snprintf(program, sizeof(program), "%s", v->program);
	for (int i = 0; i < FLOORS; i++)
		figures_samples_add(v->floor, one_floor(path, program));
}

/* ---- deaths ---- */

static void open_channel(struct victim *v)
{
	char name[64];

	snprintf(name, sizeof(name), "%s%s", prefix, v->channel);
	if (ach_open(&v->chan, name, NULL) != ACH_OK)
		bench_die("no channel %s", name);
}

/* Reads what the daemon has published since the last call. */
static void follow(struct victim *v)
{
	static union {
		struct msg_header header;
		char bytes[8192];
	} msg;
	size_t len;

	for (;;) {
		const enum ach_status status = ach_get(&v->chan, &msg, sizeof(msg), &len, NULL, ACH_O_FIRST);

		if (status != ACH_OK && status != ACH_MISSED_FRAME)
			return;
		if (!v->away || msg.header.incarnation == v->incarnation) {
			v->incarnation = msg.header.incarnation;
			continue;
		}
		if (!v->published_once)
			figures_samples_add(v->published, msg.header.t_publish_ns - v->kill_ns);
		v->published_once = true;
		if (msg.header.flags & MSG_FLAG_PARTIAL)
			continue;
		figures_samples_add(v->complete, msg.header.t_publish_ns - v->kill_ns);
		v->incarnation = msg.header.incarnation;
		v->away = false;
	}
}

static void turn(struct victim *v, bool kills)
{
	struct folder_state state;

	if (v->channel)
		follow(v);
	if (v->away && !v->channel && is_ready(v, &state)) {
		figures_samples_add(v->published, state.ready_ns - v->kill_ns);
		v->away = false;
	}
	if (v->away || !kills || !is_ready(v, &state) || clock_now_ns() < state.ready_ns + SETTLED_NS)
		return;
	if (!v->next_ns) {
		v->next_ns = clock_now_ns() + rand() % 100000000;
	} else if (clock_now_ns() >= v->next_ns) {
		v->next_ns = 0;
		v->killed = state.pid;
		v->away = true;
		v->published_once = false;
		v->kill_ns = clock_now_ns();
		kill(state.pid, SIGKILL);
	}
}

/* One daemon is away at a time, so that each is measured alone. */
static void kill_them(double seconds)
{
	const int64_t end_ns = clock_now_ns() + (int64_t)(seconds * 1e9);
	bool away = false;

	while (clock_now_ns() < end_ns || away) {
		struct folder_state state;

		away = false;
		for (size_t i = 0; i < VICTIMS; i++)
			away |= victims[i].away || !is_ready(&victims[i], &state);
		for (size_t i = 0; i < VICTIMS; i++) {
			turn(&victims[i], !away && clock_now_ns() < end_ns);
			away |= victims[i].away;
		}
		if (clock_now_ns() > end_ns + GIVE_UP_NS)
			bench_die("a daemon did not come back: %s/log", folder);
		bench_sleep_until_ns(bench_now_ns() + 1000000);
	}
}

/* ---- the supervisor at rest ---- */

static int64_t cpu_ns(void)
{
	long long ns = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)achstart);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%lld", &ns) != 1)
		bench_die("%s cannot be read", path);
	fclose(f);
	return ns;
}

static double memory_mb(void)
{
	char path[64], line[128];
	long kb = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)achstart);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f) && sscanf(line, "VmRSS: %ld", &kb) != 1)
		;
	if (f)
		fclose(f);
	return (double)kb / 1024;
}

/* ---- figures ---- */

static void column(struct figures_samples *samples, const struct victim *v, const char *what)
{
	if (!samples->count) {
		printf("  %26s", "");
		return;
	}
	figures_samples_sort(samples);
	printf("  %8.2f %8.2f %8.2f", figures_quantile_us(samples, 0.5) / 1e3, figures_quantile_us(samples, 0.99) / 1e3,
	       figures_quantile_us(samples, 1) / 1e3);
	figures_line(figures_quantile_us(samples, 0.5) / 1e3, "ms", "restart.%s.%s.p50", v->name, what);
	figures_line(figures_quantile_us(samples, 0.99) / 1e3, "ms", "restart.%s.%s.p99", v->name, what);
	figures_line(figures_quantile_us(samples, 1) / 1e3, "ms", "restart.%s.%s.max", v->name, what);
}

static void table(const struct victim *v)
{
	if (!v->published->count)
		bench_die("%s was never killed", v->name);
	printf("%-9s", v->name);
	column(v->floor, v, "floor");
	column(v->published, v, "published");
	column(v->complete, v, "complete");
	printf("  %4u deaths\n", v->published->count);
	figures_target(figures_quantile_us(v->published, 0.5) / 1e3, 5, "restart.%s.published.p50_ms", v->name);
}

static void open_all(const char *to)
{
	snprintf(folder, sizeof(folder), "/dev/shm/endplate-bench.%d", (int)getpid());
	if (!realpath(to, programs))
		bench_die("%s: %s", to, strerror(errno));
	*strrchr(programs, '/') = 0;
	snprintf(prefix, sizeof(prefix), "bench%d.", (int)getpid());
	mkdir(folder, 0755);
	setenv("ENDPLATE_RUN", folder, 1);
	setenv("ENDPLATE_PREFIX", prefix, 1);
	unsetenv("NOTIFY_SOCKET");
	for (size_t i = 0; i < VICTIMS; i++) {
		victims[i].floor = figures_samples_shared(1 << 12);
		victims[i].published = figures_samples_shared(1 << 12);
		victims[i].complete = figures_samples_shared(1 << 12);
	}
}

int main(int argc, char **argv)
{
	const double seconds = bench_seconds(SECONDS);
	double up_p50_s, up_max_s, share, rss_mb;
	char remove[320];
	int64_t cpu_from_ns;

	if (argc != 2)
		bench_die("usage: bench_restart FOLDER");
	open_all(argv[1]);
	bench_hang_limit(120 + 3 * seconds);
	for (size_t i = 0; i < VICTIMS; i++)
		measure_floor(&victims[i]);
	bring_up(&up_p50_s, &up_max_s);

	start_robot();
	wait_for_all();
	for (size_t i = 0; i < VICTIMS; i++)
		if (victims[i].channel)
			open_channel(&victims[i]);
	bench_sleep_until_ns(bench_now_ns() + SETTLED_NS);
	cpu_from_ns = cpu_ns();
	bench_sleep_until_ns(bench_now_ns() + REST_NS);
	share = (double)(cpu_ns() - cpu_from_ns) / REST_NS * 100;
	rss_mb = memory_mb();
	kill_them(seconds);
	stop_robot();

	printf("after kill -9: ms, p50 p99 max\n%-9s  %26s  %26s  %26s\n", "", "floor: exec to main", "published",
	       "complete");
	for (size_t i = 0; i < VICTIMS; i++)
		table(&victims[i]);
	printf("bring-up: %.0f ms (at most %.0f); achstart at rest: %.2f %% of a core, %.1f MB\n", up_p50_s * 1e3,
	       up_max_s * 1e3, share, rss_mb);
	figures_line(up_p50_s * 1e3, "ms", "restart.up.p50");
	figures_target(figures_quantile_us(victims[VICTIMS - 1].complete, 0.99) / 1e3, 50,
		       "restart.waist.complete.p99_ms");
	figures_target(up_max_s, 2, "restart.up.max_s");
	figures_target(share, 1, "restart.achstart.cpu_percent");
	figures_target(rss_mb, 20, "restart.achstart.rss_mb");
	figures_print();
	snprintf(remove, sizeof(remove), "rm -rf '%s'", folder);
	return system(remove);
}
