/* virtual.c: the robot on a virtual clock. */
#include "launch/achstart/virtual.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channels/clock.h"
#include "channels/vt_clock.h"
#include "config/run.h"
#include "config/text.h"
#include "launch/achtime/plan.h"

#define END_NS 10000000000
#define OWN_SLOT 1
#define FIRST_SLOT 2
#define FAILED 1
#define OVER_MAX 128
#define RATE_MAX 1000			/* as achtime has it */
#define BEGIN_NS INT64_C(1000000000000) /* later than any duration that is subtracted from it */
/* From the start of a driver until it has read its configuration.  Measured beside a build, 600 times, as the length of
 * DRIVER --frames: 5 % 0.9 ms, 50 % 1.0 ms, 99 % 6.4 ms. */
#define STARTUP_MIN_NS 900000
#define STARTUP_MAX_NS 6400000

static struct {
	const struct launch *launch; /* NULL: real time */
	char path[RUN_PATH_MAX];
	int64_t startup_ns;
	const struct virtual_line *line;
	const char *outsider; /* a daemon that is not on the clock */
	bool given;	      /* another process keeps the clock */
	pid_t achtime;
	int achtime_fd;
} run;

/* ---- starting ---- */

/* One process runs at a time, and a wake-up on the same processor is the cheapest.  Daemons inherit it. */
static void use_one_processor(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static int add_plan(char **argv, size_t *n, const char *option, const struct settings_strings *plan)
{
	for (size_t i = 0; i < plan->n; i++, ++*n)
		if (asprintf(&argv[*n], "--%s=%s", option, plan->item[i]) < 0)
			return -ENOMEM;
	return 0;
}

/* The first program that is not on the clock, or NULL. */
static const char *outsider(const struct launch *launch)
{
	char path[LAUNCH_FIND_MAX];

	for (size_t i = 0; i < launch->daemons_n; i++) {
		const struct launch_daemon *daemon = &launch->daemons[i];

		if (daemon->wanted && !launch_find(path, daemon->argv[0]) && !launch_keeps_clock(path))
			return daemon->name;
	}
	return NULL;
}

static const char *rate_of(const struct virtual_line *line)
{
	if (line->rate)
		return strcmp(line->rate, "max") ? line->rate : "0";
	return run.outsider ? "1" : "0";
}

static int start_achtime(const struct virtual_line *line, struct error_sink *errors)
{
	char path[LAUNCH_FIND_MAX], page[RUN_PATH_MAX + 8], rate[64], time[TEXT_VALUE_MAX], until[TEXT_VALUE_MAX + 8];
	char *argv[2 * SETTINGS_STRINGS_MAX + 8] = { (char *)"achtime", page, rate, until };
	size_t n = 4;
	int status = launch_find(path, "achtime");

	snprintf(page, sizeof(page), "--page=%s", run.path);
	snprintf(rate, sizeof(rate), "--rate=%s", rate_of(line));
	text_from_duration(time, line->for_ns);
	snprintf(until, sizeof(until), "--for=%s", time);
	if (!status)
		status = add_plan(argv, &n, "kill", &line->kills);
	if (!status)
		status = add_plan(argv, &n, "stop", &line->stops);
	if (!status)
		status = -posix_spawn(&run.achtime, path, NULL, NULL, argv, environ);
	for (size_t i = 4; i < n; i++)
		free(argv[i]);
	if (status)
		error_add(errors, "unable to start achtime: %s", strerror(-status));
	else
		run.achtime_fd = pidfd_open(run.achtime, 0);
	return status;
}

/* The clock stands still without achtime when it is needed next: another one carries on. */
static void restart_ended_achtime(void)
{
	struct clock_fd fd = { .fd = run.achtime_fd, .events = POLLIN };

	if (clock_real.wait(&fd, 1, 0) <= 0)
		return;
	close(run.achtime_fd);
	waitpid(run.achtime, NULL, 0);
	fprintf(stderr, "achstart: achtime has ended and is started again\n");
	start_achtime(run.line, &(struct error_sink){ 0 });
}

static bool has_daemon(const struct launch *launch, const char *name)
{
	for (size_t i = 0; i < launch->daemons_n; i++)
		if (!strcmp(launch->daemons[i].name, name))
			return true;
	return !strcmp(name, "achstart");
}

int virtual_check(const struct virtual_line *line, const struct launch *launch, struct error_sink *errors)
{
	static struct plan plan;
	double rate;

	if (plan_read(&plan, &line->kills, SIGKILL, errors) || plan_read(&plan, &line->stops, SIGSTOP, errors))
		return -EINVAL;
	for (size_t i = 0; i < plan.n; i++) {
		const bool own = !strcmp(plan.steps[i].name, "achstart");

		if (!has_daemon(launch, plan.steps[i].name))
			return error_refuse(errors, -EINVAL, "--kill and --stop: the launch file has no daemon %s",
					    plan.steps[i].name);
		if (own && plan.steps[i].signal == SIGSTOP)
			return error_refuse(errors, -EINVAL,
					    "--stop achstart: then it does not end the robot; --kill it instead");
		if (own && !line->for_ns)
			return error_refuse(errors, -EINVAL,
					    "--kill achstart: give --for, too, or no process ends the robot");
	}
	if (line->rate && strcmp(line->rate, "max") &&
	    (text_real(line->rate, &rate) || !(rate > 0 && rate <= RATE_MAX)))
		return error_refuse(errors, -EINVAL, "--rate: \"%s\" is neither a number above 0, at most %d, nor max",
				    line->rate, RATE_MAX);
	if (launch->daemons_n > VT_SLOTS - FIRST_SLOT)
		return error_refuse(errors, -EINVAL, "%zu daemons: %d is the most on a virtual clock",
				    launch->daemons_n, VT_SLOTS - FIRST_SLOT);
	return 0;
}

static int create(const struct virtual_line *line, struct error_sink *errors)
{
	struct vt_end own = { 0 };
	int status = run_path(run.path, "clock", errors);

	if (status)
		return status;
	status = vt_page_create(run.path, BEGIN_NS);
	own.page = status ? NULL : vt_page_open(run.path, true);
	if (!own.page)
		return error_refuse(errors, status ? status : -errno, "%s: %s", run.path,
				    strerror(status ? -status : errno));
	own.page->seed = (uint64_t)line->seed;
	own.page->charge = line->charge;
	own.page->leave = line->leave;
	own.page->uncorrected = line->uncorrected;
	vt_page_expect(&own, OWN_SLOT, "achstart", 0);
	atomic_store(&own.page->slot[OWN_SLOT].pid, (uint32_t)getpid());
	if (run.outsider && !line->rate)
		fprintf(stderr, "achstart: the clock runs at --rate 1, since %s is not on it\n", run.outsider);
	use_one_processor();
	return start_achtime(line, errors);
}

int virtual_begin(const struct virtual_line *line, const struct launch *launch, struct error_sink *errors)
{
	const char *given = getenv(VIRTUAL_GIVEN);
	char place[VIRTUAL_PLACE_MAX];
	int status;

	run.outsider = line->on ? outsider(launch) : NULL;
	status = given || !line->on ? 0 : create(line, errors);
	if (status || (!given && !line->on))
		return status;
	if (given)
		snprintf(run.path, sizeof(run.path), "%s", given + strcspn(given, " ") + 1);
	else
		vt_clock_guard(restart_ended_achtime);
	run.given = given;
	run.launch = launch;
	run.line = line;
	run.startup_ns = line->startup_ns;
	snprintf(place, sizeof(place), "%d %s", OWN_SLOT, run.path);
	vt_clock_join(given ? given : place);
	return 0;
}

static void over(const struct vt_slot *slot, char *text, size_t size)
{
	*text = '\0';
	if (slot->overs)
		snprintf(text, size, "over its budget of %.6g ms in %u periods of %.6g ms, at worst %.6g ms",
			 (double)slot->budget_ns / 1e6, slot->overs, (double)slot->period_ns / 1e6,
			 (double)slot->worst_ns / 1e6);
}

static int slot_of(const struct launch_daemon *daemon)
{
	return FIRST_SLOT + (int)(daemon - run.launch->daemons);
}

void virtual_over(const struct launch_daemon *daemon, char *text, size_t size)
{
	const struct vt_end *end = vt_clock_end();

	*text = '\0';
	if (end)
		over(&end->page->slot[slot_of(daemon)], text, size);
}

static void print_overs(const struct vt_page *page)
{
	char text[OVER_MAX];

	for (int i = FIRST_SLOT; i < VT_SLOTS; i++) {
		over(&page->slot[i], text, sizeof(text));
		if (*text)
			printf("%s: %s\n", page->slot[i].name, text);
	}
}

static void print_details(const struct vt_page *page)
{
	const struct vt_core *core = vt_page_core(page);

	for (uint32_t i = 0; i < page->objects_n; i++)
		printf("%016" PRIx64 " %8" PRIu64 " %s\n", page->object[i].hash, page->object[i].count,
		       page->object[i].name);
	printf("turns %" PRIu64 ", rounds %" PRIu64 ", instants %" PRIu64 "\n", core->turns, core->rounds,
	       core->instants);
}

int virtual_end(void)
{
	struct vt_end *end = vt_clock_end();

	if (!end)
		return 0;
	if (run.given) {
		vt_clock_leave();
		return 0;
	}
	atomic_store(&end->page->over, 1);
	vt_clock_leave();
	clock_wait(&(struct clock_fd){ .fd = run.achtime_fd, .events = POLLIN }, 1, clock_now_ns() + END_NS);
	vt_page_remove(run.path);
	if (getenv("ENDPLATE_HASHES"))
		print_details(end->page);
	print_overs(end->page);
	if (end->page->outside_ns)
		printf("not repeatable since %.6f s: something came from outside\n",
		       (double)(end->page->outside_ns - end->page->begun_ns) / 1e9);
	printf("hash %016" PRIx64 "\n", vt_page_hash_all(end->page));
	fflush(stdout);
	return end->page->failed ? FAILED : 0;
}

double virtual_pace(void)
{
	const struct vt_end *end = vt_clock_end();

	return end ? atomic_load(&end->page->permille) / 1000.0 : NAN;
}

/* ---- daemons ---- */

static uint64_t draw(uint64_t seed, uint64_t slot, uint64_t incarnation)
{
	uint64_t x = seed * UINT64_C(0x9E3779B97F4A7C15) + slot * UINT64_C(0xBF58476D1CE4E5B9) + incarnation;

	x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
	return x ^ x >> 31;
}

static int64_t startup_ns(const struct vt_page *page, int slot)
{
	const uint32_t incarnation = atomic_load(&page->slot[slot].incarnation);

	if (run.startup_ns)
		return run.startup_ns;
	return STARTUP_MIN_NS +
	       (int64_t)(draw(page->seed, (uint64_t)slot, incarnation) % (STARTUP_MAX_NS - STARTUP_MIN_NS));
}

static void set_budget(struct vt_slot *slot, const struct launch_daemon *daemon)
{
	atomic_store(&slot->charged, !daemon->world);
	slot->period_ns = daemon->period_ns;
	slot->budget_ns = daemon->budget_ns;
	slot->over = daemon->over;
	atomic_store(&slot->weight, (uint32_t)daemon->weight);
}

int virtual_expect(const struct launch_daemon *daemon, const char *path, char place[VIRTUAL_PLACE_MAX])
{
	struct vt_end *end = vt_clock_end();
	int slot;

	if (!end || !launch_keeps_clock(path))
		return 0;
	slot = slot_of(daemon);
	vt_page_expect(end, slot, daemon->name, startup_ns(end->page, slot));
	set_budget(&end->page->slot[slot], daemon);
	snprintf(place, VIRTUAL_PLACE_MAX, VT_CLOCK_PLACE "=%d %s", slot, run.path);
	return slot;
}

void virtual_started(int slot)
{
	if (slot)
		vt_page_started(vt_clock_end(), slot);
}

void virtual_not_started(int slot)
{
	if (slot)
		vt_page_forget(vt_clock_end(), slot);
}

void virtual_killed(pid_t pid)
{
	struct vt_end *end = vt_clock_end();

	if (end)
		vt_page_killed(end, pid);
}

bool virtual_waits_for(pid_t pid)
{
	const struct vt_end *end = vt_clock_end();
	const int slot = end ? vt_page_slot(end->page, pid) : -1;

	return slot > 0 && !(atomic_load(&end->page->held) & vt_bit(slot));
}
