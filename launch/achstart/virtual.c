/* virtual.c: the robot on a virtual clock. */
#include "launch/achstart/virtual.h"

#include <math.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channels/clock/clock.h"
#include "channels/clock/vt_clock.h"
#include "daemons/drv/realtime.h"
#include "launch/achstart/clock_page.h"
#include "launch/achstart/kill_schedule.h"

#define END_NS 10000000000
#define OWN_SLOT 1
#define FIRST_SLOT 2
#define FAILED 1
#define SEED 1
#define PRIORITY 1 /* of all processes on the clock: one runs at a time */
#define NICE (-10) /* without the right to that */
#define OVER_MAX 128
#define RATE_MAX 1000 /* as achtime has it */
/* From the start of a driver until it has read its configuration.  Measured beside a build, 600 times, as the length of
 * DRIVER --frames: 5 % 0.9 ms, 50 % 1.0 ms, 99 % 6.4 ms. */
#define STARTUP_MIN_NS 900000
#define STARTUP_MAX_NS 6400000
/* A spare has done that before: the time until it runs. */
#define SPARE_MIN_NS 100000
#define SPARE_MAX_NS 500000

static struct {
	const struct launch *launch; /* NULL: real time */
	char path[RUN_PATH_MAX];
	const struct virtual_line *line;
	const char *outsider; /* a daemon that is not on the clock */
	bool given;	      /* another process keeps the clock */
	double rate;	      /* times life; 0: as fast as possible */
	int slot[LAUNCH_DAEMONS_MAX];
	pid_t achtime;	      /* 0: the child of a former achstart */
	int achtime_fd;	      /* -1: it has ended, and no other one could be started yet */
	cpu_set_t processors; /* before it took one of them */
} run;

/* ---- starting ---- */

/* One process runs at a time, and a wake-up on the same processor is the cheapest.  achtime and daemons inherit it. */
static void use_processor(int number)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(number, &one);
	if (!sched_getaffinity(0, sizeof(run.processors), &run.processors))
		sched_setaffinity(0, sizeof(one), &one);
}

/* A clock that is held to a rate falls behind beside other load.  As fast as possible it would take all of the
 * processor, so it stays an ordinary process.  achtime and daemons inherit it, too. */
static void take_priority(void)
{
	if (realtime_schedule(0, SCHED_FIFO, PRIORITY) && setpriority(PRIO_PROCESS, 0, NICE))
		return; /* then it is slower beside load, which the status shows */
}

/* Called in a program that is not on the clock. */
void virtual_beside(void)
{
	if (!run.launch || !CPU_COUNT(&run.processors))
		return;
	sched_setaffinity(0, sizeof(run.processors), &run.processors);
	realtime_schedule(0, SCHED_OTHER, 0);
	setpriority(PRIO_PROCESS, 0, 0);
}

static int add_plan(char **argv, size_t *n, const char *option, const struct settings_strings *schedule)
{
	for (size_t i = 0; i < schedule->n; i++, ++*n)
		if (asprintf(&argv[*n], "--%s=%s", option, schedule->item[i]) < 0)
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

/* Times life; 0: as fast as possible. */
static double rate_of(const struct virtual_line *line)
{
	double rate = run.outsider || line->in_step ? 1 : 0;

	if (line->rate && (!strcmp(line->rate, "max") || text_real(line->rate, &rate)))
		rate = 0;
	return rate;
}

static int start_achtime(const struct virtual_line *line, struct error_sink *errors)
{
	char path[LAUNCH_FIND_MAX], page[RUN_PATH_MAX + 8], rate[64], time[TEXT_VALUE_MAX], until[TEXT_VALUE_MAX + 8];
	char *argv[2 * SETTINGS_STRINGS_MAX + 8] = { (char *)"achtime", page, rate, until };
	size_t n = 4;
	int status = launch_find(path, "achtime");

	snprintf(page, sizeof(page), "--page=%s", run.path);
	snprintf(rate, sizeof(rate), "--rate=%.9g", run.rate);
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
	run.achtime_fd = status ? -1 : pidfd_open(run.achtime, 0);
	if (!status && run.achtime_fd < 0) {
		status = -errno;
		kill(run.achtime, SIGKILL);
		waitpid(run.achtime, NULL, 0);
	}
	if (status)
		error_add(errors, "unable to start achtime: %s", strerror(-status));
	return status;
}

/* The clock stands still without achtime when it is needed next: another one carries on. */
static void restart_ended_achtime(void)
{
	struct clock_fd fd = { .fd = run.achtime_fd, .events = POLLIN };
	struct error_sink errors = ERROR_TO_STDERR("achstart", NULL, ERROR_ERROR);

	if (fd.fd >= 0) {
		if (clock_real.wait(&fd, 1, 0) <= 0)
			return;
		close(fd.fd);
		if (run.achtime)
			waitpid(run.achtime, NULL, 0); /* not the child of a former achstart */
		fprintf(stderr, "achstart: achtime has ended and is started again\n");
	} else {
		errors = (struct error_sink){ 0 }; /* it was reported; the next try follows */
	}
	start_achtime(run.line, &errors);
}

/* By the order of the launch file; of an adopted robot, whose launch file may have changed, as they have them. */
static void give_slots(const struct vt_page *page)
{
	uint64_t taken = 0;

	for (size_t i = 0; i < run.launch->daemons_n; i++) {
		run.slot[i] = clock_page_slot_named(page, run.launch->daemons[i].name, FIRST_SLOT);
		taken |= run.slot[i] < 0 ? 0 : vt_bit(run.slot[i]);
	}
	for (int i = FIRST_SLOT; i < VT_SLOTS; i++)
		taken |= atomic_load(&page->live) & vt_bit(i);
	for (size_t i = 0; i < run.launch->daemons_n; i++) {
		for (int j = FIRST_SLOT; run.slot[i] < 0 && j < VT_SLOTS; j++)
			if (!(taken & vt_bit(j)))
				run.slot[i] = j;
		taken |= run.slot[i] < 0 ? 0 : vt_bit(run.slot[i]);
	}
}

static bool is_bench(const struct launch *launch)
{
	bool any = false;

	for (size_t i = 0; i < launch->robot.buses_n; i++) {
		if (!launch_uses(launch, &launch->robot.buses[i]))
			continue;
		if (!launch_bus_wire(&launch->robot.buses[i]))
			return false;
		any = true;
	}
	return any;
}

void virtual_choose(struct virtual_line *line, bool real, const struct launch *launch)
{
	if (line->on || real || !is_bench(launch))
		return;
	line->on = line->in_step = true;
}

const char *virtual_name(const struct virtual_line *line)
{
	return !line->on ? "real time" : line->in_step ? "a virtual one, in step with life" : "a virtual one";
}

/* What only a virtual clock can do. */
static int check_real(const struct virtual_line *line, struct error_sink *errors)
{
	const struct {
		const char *option;
		bool given;
	} all[] = {
		{ "seed", line->seed >= 0 },	{ "rate", line->rate },
		{ "for", line->for_ns },	{ "startup", line->startup_ns },
		{ "charge", line->charge > 0 }, { "kill", line->kills.n },
		{ "stop", line->stops.n },	{ "leave", line->leave },
		{ "strict", line->strict },	{ "uncorrected", line->uncorrected },
	};
	int status = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i].given)
			status = error_refuse(errors, -EINVAL,
					      "--%s: only on a virtual clock: leave it out, or run with --virtual",
					      all[i].option);
	return status;
}

int virtual_check(const struct virtual_line *line, const struct launch *launch, struct error_sink *errors)
{
	static struct kill_schedule schedule;
	double rate;

	if (!line->on)
		return check_real(line, errors);
	if (kill_schedule_read(&schedule, &line->kills, &line->stops, errors))
		return -EINVAL;
	for (size_t i = 0; i < schedule.n; i++) {
		const bool own = !strcmp(schedule.steps[i].name, "achstart");

		if (!own && !launch_daemon(launch, schedule.steps[i].name))
			return error_refuse(errors, -EINVAL, "--kill and --stop: the launch file has no daemon %s",
					    schedule.steps[i].name);
		if (own && schedule.steps[i].signal == SIGSTOP)
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
	int status = vt_page_create(run.path, VT_BEGIN_NS);

	own.page = status ? NULL : vt_page_open(run.path, true);
	if (!own.page)
		return error_refuse(errors, status ? status : -errno, "%s: %s", run.path,
				    strerror(status ? -status : errno));
	own.page->seed = line->seed < 0 ? SEED : (uint64_t)line->seed;
	if (line->in_step)
		own.page->epoch_ns = clock_real.real(); /* logs of several runs are read together */
	own.page->charge = line->charge;
	own.page->leave = line->leave;
	own.page->uncorrected = line->uncorrected;
	own.page->strict = line->strict;
	vt_page_expect(&own, OWN_SLOT, "achstart", 0);
	atomic_store(&own.page->slot[OWN_SLOT].pid, (uint32_t)getpid());
	if (run.outsider && !line->rate && !line->in_step)
		fprintf(stderr, "achstart: the clock runs at --rate 1, since %s is not on it\n", run.outsider);
	run.rate = rate_of(line);
	use_processor(sched_getcpu());
	if (run.rate > 0)
		take_priority();
	give_slots(own.page);
	status = start_achtime(line, errors);
	munmap(own.page, sizeof(*own.page));
	return status;
}

/* The clock of a robot whose achstart was killed. */
static int adopt(struct vt_page *page, const struct virtual_line *line, struct error_sink *errors)
{
	int status;

	fprintf(stderr, "achstart: the robot's clock goes on as it was begun\n");
	run.rate = page->rate;
	run.achtime_fd = clock_page_coordinator(page);
	use_processor(clock_page_processor(page));
	if (run.rate > 0)
		take_priority();
	if (run.achtime_fd < 0 && (status = start_achtime(line, errors)))
		return status;
	run.line = line;
	status = clock_page_enter(run.path, page, OWN_SLOT, restart_ended_achtime);
	if (status)
		return error_refuse(errors, status,
				    "the robot's clock stands still, so its daemons cannot be adopted: end the process "
				    "that is stopped, or all of them");
	give_slots(page);
	return 0;
}

/* 0; 1: in real time; or -errno. */
static int find_clock(const struct virtual_line *line, struct error_sink *errors)
{
	struct vt_page *page;
	int status = run_path(run.path, "clock", errors);
	bool beside;

	if (status)
		return status;
	page = clock_page_find(run.path, run.launch, FIRST_SLOT, &beside);
	if (page) {
		status = adopt(page, line, errors);
		munmap(page, sizeof(*page));
		return status;
	}
	if (beside && line->on)
		fprintf(stderr, "achstart: the robot's daemons run in real time, and so it goes on\n");
	return beside || !line->on ? 1 : create(line, errors);
}

int virtual_begin(const struct virtual_line *line, const struct launch *launch, struct error_sink *errors)
{
	const char *given = getenv(VIRTUAL_GIVEN);
	char place[VIRTUAL_PLACE_MAX];
	int status = 0;

	run.outsider = line->on ? outsider(launch) : NULL;
	run.launch = launch;
	run.given = given;
	if (given) {
		snprintf(run.path, sizeof(run.path), "%s", given + strcspn(given, " ") + 1);
		for (size_t i = 0; i < launch->daemons_n; i++)
			run.slot[i] = FIRST_SLOT + (int)i;
	} else {
		status = find_clock(line, errors);
	}
	if (status) {
		run.launch = NULL;
		return status < 0 ? status : 0;
	}
	if (!given)
		vt_clock_guard(restart_ended_achtime);
	run.line = line;
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
	return run.slot[daemon - run.launch->daemons];
}

void virtual_over(const struct launch_daemon *daemon, char *text, size_t size)
{
	const struct vt_end *end = vt_clock_end();

	*text = '\0';
	if (end && slot_of(daemon) >= 0)
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
	if (!run.given)
		atomic_store(&end->page->over, 1);
	vt_clock_leave();
	if (run.given)
		return 0;
	clock_wait(&(struct clock_fd){ .fd = run.achtime_fd, .events = POLLIN }, 1, clock_now_ns() + END_NS);
	vt_page_remove(run.path);
	if (getenv("ENDPLATE_HASHES"))
		print_details(end->page);
	print_overs(end->page);
	if (end->page->outside_ns)
		printf("not repeatable since %.6f s: to %s from outside: %s\n",
		       (double)(end->page->outside_ns - end->page->begun_ns) / 1e9, end->page->outside_who,
		       end->page->outside_what);
	printf("hash %016" PRIx64 "\n", vt_page_hash_all(end->page));
	fflush(stdout);
	return end->page->failed ? FAILED : 0;
}

double virtual_pace(void)
{
	const struct vt_end *end = vt_clock_end();

	return end ? atomic_load(&end->page->permille) / 1000.0 : NAN;
}

double virtual_behind_s(void)
{
	const struct vt_end *end = vt_clock_end();

	return end && end->page->rate > 0 ? (double)atomic_load(&end->page->behind_ns) / 1e9 : NAN;
}

/* ---- daemons ---- */

/* The same for a seed, a slot and an incarnation. */
static int64_t startup_ns(const struct vt_page *page, int slot, int64_t min_ns, int64_t max_ns)
{
	uint64_t x = page->seed * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)slot * UINT64_C(0xBF58476D1CE4E5B9) +
		     atomic_load(&page->slot[slot].incarnation);

	if (run.line->startup_ns)
		return run.line->startup_ns;
	x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
	return min_ns + (int64_t)((x ^ x >> 31) % (uint64_t)(max_ns - min_ns));
}

static void expect(int slot, const struct launch_daemon *daemon, int64_t startup)
{
	struct vt_end *end = vt_clock_end();
	struct vt_slot *at = &end->page->slot[slot];

	vt_page_expect(end, slot, daemon->name, startup);
	atomic_store(&at->charged, !daemon->world);
	at->period_ns = daemon->period_ns;
	at->budget_ns = daemon->budget_ns;
	at->over = daemon->over;
	atomic_store(&at->weight, (uint32_t)daemon->weight);
}

int virtual_expect(const struct launch_daemon *daemon, const char *path, char place[VIRTUAL_PLACE_MAX])
{
	const struct vt_end *end = vt_clock_end();
	const int slot = end ? slot_of(daemon) : -1;

	if (slot < 0 || !launch_keeps_clock(path))
		return 0;
	expect(slot, daemon, startup_ns(end->page, slot, STARTUP_MIN_NS, STARTUP_MAX_NS));
	snprintf(place, VIRTUAL_PLACE_MAX, VT_CLOCK_PLACE "=%d %s", slot, run.path);
	return slot;
}

/* It was beside the clock until now. */
static void bring_in(pid_t pid)
{
	cpu_set_t own;

	if (!CPU_COUNT(&run.processors))
		return;
	if (!sched_getaffinity(0, sizeof(own), &own))
		sched_setaffinity(pid, sizeof(own), &own);
	if (sched_getscheduler(0) == SCHED_FIFO)
		realtime_schedule(pid, SCHED_FIFO, PRIORITY);
	else
		setpriority(PRIO_PROCESS, (id_t)pid, getpriority(PRIO_PROCESS, 0));
}

int virtual_expect_spare(const struct launch_daemon *daemon, pid_t pid, char place[VIRTUAL_PLACE_MAX])
{
	struct vt_end *end = vt_clock_end();
	const int slot = end ? slot_of(daemon) : -1;

	if (slot < 0)
		return 0;
	expect(slot, daemon, startup_ns(end->page, slot, SPARE_MIN_NS, SPARE_MAX_NS));
	atomic_store_explicit(&end->page->slot[slot].pid, (uint32_t)pid, memory_order_release);
	vt_page_ring(end);
	bring_in(pid);
	snprintf(place, VIRTUAL_PLACE_MAX, "%d %s", slot, run.path);
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

/* A program may leave SIGTERM to the kernel. */
bool virtual_dies(pid_t pid, int signal)
{
	char path[64], line[128];
	uint64_t kept = 0, mask;
	FILE *status;

	if (!vt_clock_end() || signal != SIGTERM)
		return signal == SIGKILL;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	status = fopen(path, "re");
	if (!status)
		return false;
	while (fgets(line, sizeof(line), status))
		if (sscanf(line, "SigBlk: %" SCNx64, &mask) == 1 || sscanf(line, "SigIgn: %" SCNx64, &mask) == 1 ||
		    sscanf(line, "SigCgt: %" SCNx64, &mask) == 1)
			kept |= mask;
	fclose(status);
	return !(kept & UINT64_C(1) << (signal - 1));
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
