/* achtime.c: the coordinator of a virtual clock (channels/clock/vt_page.h), slot 0.
 *
 * It has no part in the usual turn: processes hand the token to each other.  It gets the token when all are at rest and
 * it asked for it, or the next deadline is beyond the limit it has set, or its own deadline has come.  Then it ends and
 * kills what the plan says, holds the clock to a rate, and lets the outside in: every 5 ms of real time each process
 * looks at its descriptors once, at rest, so that a look without a find changes nothing. */
#include <sched.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "channels/client/folder.h"
#include "channels/clock/clock.h"
#include "channels/clock/vt_page.h"
#include "config/settings/options.h"
#include "daemons/drv/realtime.h"
#include "launch/achstart/kill_schedule.h"

#define SWEEP_NS 5000000
#define RATE_NS 200000000      /* over which the ratio is measured */
#define STEP_NS 1000000	       /* of real time, by which the limit runs ahead */
#define STUCK_NS 50000000      /* without a turn */
#define CATCH_UP_NS 10000000   /* of real time: what a longer pause takes is lost, and never made up for in a hurry */
#define TURN_MAX_NS 2000000000 /* of processor time in one turn, on a clock that is held to a rate */
#define UNNAMED_NS 1000000000
#define ACHSTART 1 /* its slot */
#define PRIORITY 2 /* above the others, one of which may compute without an end */

struct achtime_options {
	const char *page;
	struct settings_strings kills, stops;
	double rate; /* 0: as fast as possible */
	int64_t for_ns;
};

static const struct settings_row rows[] = {
	SETTINGS_STRING("page", struct achtime_options, page, NULL, "page of the clock", .value = "FILE"),
	SETTINGS_REAL("rate", struct achtime_options, rate, "", "0", "0", "1000", "times life; 0: as fast as possible"),
	SETTINGS_DURATION("for", struct achtime_options, for_ns, "0", "0", NULL,
			  "after which achstart is asked to stop; 0: never"),
	SETTINGS_STRINGS("kill", struct achtime_options, kills,
			 "kill NAME@TIME, or at its Nth action then: NAME@TIME+N", .value = "PLAN"),
	SETTINGS_STRINGS("stop", struct achtime_options, stops, "stop NAME@TIME with SIGSTOP", .value = "PLAN"),
	SETTINGS_END,
};

struct achtime {
	struct vt_end end;
	const char *path;
	struct kill_schedule schedule;
	double rate;
	int pidfd[VT_SLOTS];
	uint32_t pid[VT_SLOTS]; /* of pidfd */
	int64_t named_ns[VT_SLOTS];
	int64_t begun_ns;     /* real */
	int64_t begun_now_ns; /* of the clock then */
	int64_t sweep_ns;     /* real: the next one */
	int64_t swept_now_ns; /* of the clock: the last sweep */
	int64_t paced_ns;     /* real: when the ratio was measured */
	int64_t paced_now_ns;
	uint64_t token; /* when it was last looked at */
	int64_t token_ns;
	int64_t spent_ns; /* processor time of its holder when it was first seen to be stuck; -1: not yet */
	bool said_stopped;
};

/* ---- processes ---- */

/* achstart was killed between the decision to start a process and its start. */
static void reap_unnamed(struct achtime *t, int slot, uint32_t pid)
{
	const uint64_t live = atomic_load(&t->end.page->live);
	const int64_t now_ns = clock_now_ns();

	if (pid || !(live & vt_bit(slot)) || live & vt_bit(ACHSTART))
		t->named_ns[slot] = now_ns;
	else if (now_ns - t->named_ns[slot] > UNNAMED_NS)
		vt_page_reap(&t->end, slot);
}

static void open_pidfds(struct achtime *t)
{
	for (int i = 1; i < VT_SLOTS; i++) {
		const uint32_t pid = atomic_load_explicit(&t->end.page->slot[i].pid, memory_order_acquire);

		reap_unnamed(t, i, pid);
		if (pid == t->pid[i] || !(atomic_load(&t->end.page->live) & vt_bit(i)))
			continue;
		if (t->pidfd[i] >= 0)
			close(t->pidfd[i]);
		t->pid[i] = pid;
		t->pidfd[i] = pid ? pidfd_open((pid_t)pid, 0) : -1;
		if (pid && t->pidfd[i] < 0)
			vt_page_reap(&t->end, i); /* it has ended already */
	}
}

static void reap_slot(struct achtime *t, int slot)
{
	close(t->pidfd[slot]);
	t->pidfd[slot] = -1;
	vt_page_reap(&t->end, slot);
	vt_page_mark(&t->end, ~vt_bit(VT_COORDINATOR));
}

static void reap_dead(struct achtime *t)
{
	for (int i = 1; i < VT_SLOTS; i++) {
		struct clock_fd fd = { .fd = t->pidfd[i], .events = POLLIN };

		if (fd.fd >= 0 && clock_wait(&fd, 1, 0) > 0)
			reap_slot(t, i);
	}
}

/* A signal is not a death: only the descriptor says that sockets are closed and locks are free. */
static void kill_slot(struct achtime *t, int slot)
{
	struct clock_fd fd;

	open_pidfds(t);
	fd = (struct clock_fd){ .fd = t->pidfd[slot], .events = POLLIN };
	if (fd.fd < 0 || pidfd_send_signal(fd.fd, SIGKILL, NULL, 0))
		return;
	clock_wait(&fd, 1, CLOCK_NEVER);
	reap_slot(t, slot);
}

static int slot_named(const struct achtime *t, const char *name)
{
	for (int i = 1; i < VT_SLOTS; i++)
		if (atomic_load(&t->end.page->live) & vt_bit(i) && !strcmp(t->end.page->slot[i].name, name))
			return i;
	return -1;
}

static bool is_stopped(uint32_t pid)
{
	const char state = folder_run_state((pid_t)pid);

	return state == 'T' || state == 't';
}

/* It stays out of the rounds until it goes on, or is killed. */
static void stop_slot(struct achtime *t, int slot)
{
	open_pidfds(t);
	if (t->pidfd[slot] < 0 || pidfd_send_signal(t->pidfd[slot], SIGSTOP, NULL, 0))
		return;
	while (folder_run_state((pid_t)t->pid[slot]) && !is_stopped(t->pid[slot]))
		clock_wait(NULL, 0, clock_now_ns() + STEP_NS / 10);
	atomic_fetch_or(&t->end.page->held, vt_bit(slot));
}

static void release_continued(struct achtime *t)
{
	for (uint64_t held = atomic_load(&t->end.page->held); held; held &= held - 1) {
		const int slot = __builtin_ctzll(held);

		if (is_stopped(t->pid[slot]))
			continue;
		atomic_fetch_and(&t->end.page->held, ~vt_bit(slot));
		vt_page_mark(&t->end, vt_bit(slot));
	}
}

/* achstart cannot end a process that computes without an end: it waits for its own turn. */
static void check_spinning(struct achtime *t, int slot)
{
	const int64_t spent_ns = clock_processor_ns((pid_t)t->pid[slot]);

	if (t->spent_ns < 0)
		t->spent_ns = spent_ns;
	if (t->rate <= 0 || slot == ACHSTART || spent_ns - t->spent_ns < TURN_MAX_NS)
		return;
	fprintf(stderr, "achtime: %s has computed for %.3g s in one turn, and the clock stood still: killed\n",
		t->end.page->slot[slot].name, (double)(spent_ns - t->spent_ns) / 1e9);
	kill_slot(t, slot);
}

/* The clock has not moved for a while: is the process that should run stopped, or does it compute without an end? */
static void check_holder(struct achtime *t, int64_t real_ns)
{
	struct vt_page *page = t->end.page;
	const uint64_t token = atomic_load(&page->token);
	const int slot = (int)(token & 63);

	if (token != t->token) {
		t->token = token;
		t->token_ns = real_ns;
		t->spent_ns = -1;
		t->said_stopped = false;
		return;
	}
	if (real_ns - t->token_ns < STUCK_NS || !slot || !t->pid[slot])
		return;
	if (!is_stopped(t->pid[slot])) {
		check_spinning(t, slot);
		return;
	}
	if (atomic_load(&page->leave) && vt_page_revoke(&t->end, slot))
		return;
	if (!t->said_stopped)
		fprintf(stderr, "achtime: %s is stopped, and the clock with it\n", page->slot[slot].name);
	t->said_stopped = true;
}

/* An achstart that was started after another one was killed. */
static void admit(struct achtime *t)
{
	struct vt_page *page = t->end.page;
	const uint32_t pid = atomic_load(&page->newcomer);
	int64_t nothing = 0;

	if (!pid || atomic_load(&page->live) & vt_bit(ACHSTART))
		return;
	vt_page_expect(&t->end, ACHSTART, "achstart", 0);
	atomic_store_explicit(&page->slot[ACHSTART].pid, pid, memory_order_release);
	atomic_store(&page->newcomer, 0);
	atomic_compare_exchange_strong(&page->outside_ns, &nothing, vt_page_core(page)->now_ns);
	open_pidfds(t);
}

/* ---- a turn ---- */

/* The end has come, and there is no achstart to stop the robot. */
static void end_all(struct achtime *t)
{
	for (int i = 1; i < VT_SLOTS; i++)
		if (atomic_load(&t->end.page->live) & vt_bit(i))
			kill_slot(t, i);
	atomic_store(&t->end.page->over, 1);
	printf("hash %016" PRIx64 "\n", vt_page_hash_all(t->end.page));
	fflush(stdout);
	vt_page_remove(t->path);
}

static void follow_plan(struct achtime *t, int64_t now_ns)
{
	const struct kill_schedule_step *step;

	while ((step = kill_schedule_due(&t->schedule, now_ns - t->end.page->begun_ns))) {
		const int slot = slot_named(t, step->name);

		if (step->after && slot > 0)
			atomic_store(&t->end.page->slot[slot].kill_after, step->after);
		else if (step->signal == SIGKILL && slot > 0)
			kill_slot(t, slot);
		else if (step->signal == SIGSTOP && slot > 0)
			stop_slot(t, slot);
		else if (step->signal == SIGTERM && slot < 0)
			end_all(t);
		else if (slot > 0 && t->pidfd[slot] >= 0)
			pidfd_send_signal(t->pidfd[slot], step->signal, NULL, 0);
		vt_page_mark(&t->end, ~vt_bit(VT_COORDINATOR));
	}
}

/* How far the clock may run until we look again. */
static int64_t limit_ns(const struct achtime *t, int64_t real_ns)
{
	const int64_t next_ns = t->end.page->strict ? vt_page_next_ns(&t->end) : VT_NEVER;
	int64_t paced_ns;

	if (t->rate <= 0)
		return next_ns;
	paced_ns = t->begun_now_ns + (int64_t)((double)(real_ns - t->begun_ns) * t->rate);
	return paced_ns < next_ns ? paced_ns : next_ns;
}

/* With a pause of the machine the clock pauses: it does not run faster than its rate for longer than CATCH_UP_NS.
 * Only a deadline that has passed is late: while all processes wait for a later one, the clock stands still. */
static void forgive(struct achtime *t, int64_t now_ns, int64_t real_ns)
{
	const int64_t deadline_ns = vt_page_deadline_ns(&t->end);
	const int64_t due_ns = deadline_ns > now_ns ? deadline_ns : now_ns;
	const double late_ns = t->rate > 0 ? (double)(limit_ns(t, real_ns) - due_ns) / t->rate : 0;
	const int64_t lost_ns = late_ns > CATCH_UP_NS ? (int64_t)late_ns - CATCH_UP_NS : 0;

	t->begun_ns += lost_ns;
	atomic_fetch_add(&t->end.page->behind_ns, lost_ns);
}

static void say_ratio(struct achtime *t, int64_t now_ns, int64_t real_ns)
{
	if (real_ns - t->paced_ns < RATE_NS)
		return;
	atomic_store(&t->end.page->permille,
		     (uint32_t)(1000 * (double)(now_ns - t->paced_now_ns) / (double)(real_ns - t->paced_ns)));
	t->paced_ns = real_ns;
	t->paced_now_ns = now_ns;
}

/* With the token. */
static void turn(struct achtime *t, int64_t real_ns)
{
	struct vt_page *page = t->end.page;
	const int64_t now_ns = vt_page_core(page)->now_ns;
	int64_t step_ns;

	follow_plan(t, now_ns);
	admit(t);
	atomic_store(&page->sweeping, 0);
	if ((page->strict ? now_ns != t->swept_now_ns : real_ns >= t->sweep_ns) && vt_page_at_rest(&t->end)) {
		t->swept_now_ns = now_ns;
		t->sweep_ns = real_ns + SWEEP_NS;
		atomic_store(&page->sweeping, 1);
		vt_page_mark(&t->end, ~vt_bit(VT_COORDINATOR));
	}
	say_ratio(t, now_ns, real_ns);
	forgive(t, now_ns, real_ns);
	/* A sweep ends with the next rest, which is ours. */
	atomic_store(&page->limit_ns, atomic_load(&page->sweeping) ? 0 : limit_ns(t, real_ns + STEP_NS));
	step_ns = kill_schedule_next_ns(&t->schedule);
	atomic_store(&page->deadline_ns[VT_COORDINATOR], step_ns == CLOCK_NEVER ? VT_NEVER : page->begun_ns + step_ns);
	vt_page_pass(&t->end);
	if (page->strict && vt_page_is_ours(&t->end))
		vt_page_ring(&t->end); /* its next turn is at once */
}

/* Nobody is left whose time could pass, and nothing is planned.  After a killed achstart the drivers go on. */
static bool is_over(const struct achtime *t)
{
	if (atomic_load(&t->end.page->live) & ~vt_bit(VT_COORDINATOR))
		return false;
	return atomic_load(&t->end.page->over) ||
	       (!atomic_load(&t->end.page->newcomer) && kill_schedule_next_ns(&t->schedule) == CLOCK_NEVER);
}

static void nap(struct achtime *t, int64_t real_ns)
{
	struct clock_fd fds[CLOCK_FDS_MAX];
	/* If it waits for the next rest, the bell rings then. */
	int64_t until_ns = real_ns < t->sweep_ns ? t->sweep_ns : real_ns + STUCK_NS;
	char drain[64];
	size_t n = 0;

	if (vt_page_is_ours(&t->end) && t->rate > 0 && real_ns + STEP_NS < until_ns)
		until_ns = real_ns + STEP_NS;
	fds[n++] = (struct clock_fd){ .fd = t->end.bell, .events = POLLIN };
	for (int i = 1; i < VT_SLOTS && n < CLOCK_FDS_MAX; i++)
		if (t->pidfd[i] >= 0)
			fds[n++] = (struct clock_fd){ .fd = t->pidfd[i], .events = POLLIN };
	clock_wait(fds, n, until_ns);
	while (read(t->end.bell, drain, sizeof(drain)) > 0)
		;
}

static void run(struct achtime *t)
{
	while (!is_over(t)) {
		const int64_t real_ns = clock_now_ns();

		open_pidfds(t);
		reap_dead(t);
		release_continued(t);
		check_holder(t, real_ns);
		if (vt_page_is_ours(&t->end))
			turn(t, real_ns);
		else if (real_ns >= t->sweep_ns)
			atomic_store(&t->end.page->limit_ns, 0); /* the next rest is ours */
		nap(t, real_ns);
	}
}

int main(int argc, char **argv)
{
	struct error_sink errors = ERROR_TO_STDERR("achtime", NULL, ERROR_FATAL);
	struct achtime_options options = { 0 };
	struct options command = { .program = "achtime",
				   .about = "keeps the virtual clock of a robot; achstart --virtual starts it",
				   .rows = rows,
				   .values = &options,
				   .version = OPTIONS_VERSION };
	struct kill_schedule_step end = { .name = "achstart", .signal = SIGTERM };
	static struct achtime t;
	int64_t now_ns;
	int status = options_main(&command, &argc, argv);

	if (status != OPTIONS_RUN)
		return status;
	end.at_ns = options.for_ns;
	if (!options.page)
		return error_refuse(&errors, EXIT_WRONG, "--page FILE is missing: achstart --virtual starts achtime");
	if (kill_schedule_read(&t.schedule, &options.kills, &options.stops, &errors) ||
	    (options.for_ns && kill_schedule_add(&t.schedule, &end, &errors)))
		return EXIT_WRONG;
	for (int i = 0; i < VT_SLOTS; i++)
		t.pidfd[i] = -1;
	status = vt_page_join(&t.end, options.page, VT_COORDINATOR);
	if (status)
		return error_refuse(&errors, EXIT_RETRY, "%s: %s", options.page, strerror(-status));
	t.path = options.page;
	t.rate = options.rate;
	t.end.page->rate = options.rate;
	atomic_store(&t.end.page->started, folder_started(getpid()));
	t.begun_ns = t.paced_ns = t.sweep_ns = clock_now_ns();
	t.begun_now_ns = t.paced_now_ns = now_ns = vt_page_core(t.end.page)->now_ns;
	/* What another achtime has done that was killed is not done again. */
	while (now_ns > t.end.page->begun_ns && kill_schedule_due(&t.schedule, now_ns - t.end.page->begun_ns))
		;
	signal(SIGPIPE, SIG_IGN);
	if (sched_getscheduler(0) == SCHED_FIFO)
		realtime_schedule(0, SCHED_FIFO, PRIORITY);
	setsid(); /* signals of a terminal are for achstart, which stops the robot, and we end with it */
	run(&t);
	return 0;
}
