/* runlog.c: logs a run of a simulated robot, and disturbs it at given times; runlog(1).
 *
 * It reads every message of its channels, so a line of the log is a ms of the body, whatever it was waiting for.
 */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "channels/ach/ach.h"
#include "channels/client/endplate.h"
#include "channels/clock/clock.h"
#include "channels/clock/vt_clock.h"
#include "channels/msg/msg.h"
#include "channels/port/notify.h"
#include "channels/port/rpc.h"
#include "config/base/base.h"
#include "config/settings/options.h"

#define PROGRAM "runlog"
#define TICK_NS 1000000
#define PHASE_NS 900000 /* of its ticks: the ms is over, its messages are there */
#define ANSWER_NS 100000000
#define WATCHED_MAX 24
#define ACTIONS_MAX SETTINGS_STRINGS_MAX
#define GAPS_MAX 1024
#define TIMERS_MAX 256
#define CHANNEL_MAX 64 /* of a channel, with the prefix */

struct runlog_options {
	const char *output, *summary, *robot;
	int64_t begin_ns, until_ns, timers;
	struct settings_strings actions;
};

static const struct settings_row rows[] = {
	SETTINGS_STRING("output", struct runlog_options, output, NULL, "CSV, a line for each ms of the body",
			.value = "FILE"),
	SETTINGS_STRING("summary", struct runlog_options, summary, NULL, "JSON, the gaps of each channel",
			.value = "FILE"),
	SETTINGS_STRINGS("at", struct runlog_options, actions, "push, fault, set of robotsim; request; pause",
			 .value = "TIME ACTION"),
	SETTINGS_DURATION("begin", struct runlog_options, begin_ns, "0", "0", NULL,
			  "time 0, of CLOCK_MONOTONIC; 0: its start", .value = "TIME"),
	SETTINGS_DURATION("until", struct runlog_options, until_ns, "0", "0", NULL, "end then; 0: when asked to",
			  .value = "TIME"),
	SETTINGS_INT("timers", struct runlog_options, timers, "", "0", "0", "99",
		     "SCHED_FIFO priority of bare timers; 0: none", .value = "P"),
	SETTINGS_STRING("robot", struct runlog_options, robot, NULL, "name of the robot; selects its folder",
			.value = "R"),
	SETTINGS_END,
};

/* A time without a message, from the last one of an incarnation to the first of another, or within one. */
struct gap {
	int64_t from_ns, to_ns;
	int64_t fresh_ns; /* first complete message measured after it; 0: none yet */
	uint32_t incarnation;
	bool restart;
};

struct watched {
	const char *device;
	ach_channel_t chan;
	bool open;
	char name[CHANNEL_MAX];
	union {
		struct msg_header header;
		struct {
			struct msg_header header;
			struct msg_common common;
		} state;
		struct msg_joint_state joints;
		struct msg_balance_state balance;
		struct msg_body body;
		char bytes[MSG_SIZE_MAX];
	} msg; /* the newest */
	bool ours;
	uint64_t messages, missed;
	uint64_t skipped_before, stale_before; /* of incarnations before this one */
	int64_t complete_ns;		       /* its newest complete message was measured then */
	int64_t gap_max_ns;
	struct gap gaps[GAPS_MAX];
	size_t gaps_n, fresh_n; /* of these the first ones are over: a complete message came */
};

struct action {
	int64_t at_ns;
	char words[200];
};

/* A thread that does nothing but wait for its next ms, on one processor. */
struct timer {
	_Atomic uint64_t skipped;
};

static struct {
	struct watched watched[WATCHED_MAX];
	size_t n;
	struct action actions[ACTIONS_MAX];
	size_t actions_n, done_n;
	int64_t begin_ns;
	FILE *csv;
	struct endplate *robot;
	struct timer timers[TIMERS_MAX];
	size_t timers_n;
} r;

static double seconds(int64_t t_ns)
{
	return (double)(t_ns - r.begin_ns) * 1e-9;
}

/* ---- messages ---- */

static const struct watched *find(const char *device)
{
	for (size_t i = 0; i < r.n; i++)
		if (!strcmp(r.watched[i].device, device) && r.watched[i].ours)
			return &r.watched[i];
	return NULL;
}

static void print_joints(const struct watched *w, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		fprintf(r.csv, ",%.6g,%.6g,%.6g", w ? w->msg.joints.position[i] : NAN,
			w ? w->msg.joints.velocity[i] : NAN, w ? w->msg.joints.current[i] : NAN);
}

static bool is_state(const struct watched *w)
{
	return w->msg.header.type != msg_body_number && w->msg.header.type != msg_clock_number;
}

static int64_t period_of(const struct watched *w)
{
	return is_state(w) ? w->msg.state.common.period_ns : TICK_NS;
}

/* 1 while a process publishes. */
static int is_up(const struct watched *w, int64_t t_ns)
{
	return w && t_ns - w->msg.header.t_publish_ns < 2 * period_of(w) + TICK_NS;
}

/* Frames that were on a wire too late, of this incarnation. */
static uint64_t stale_of(const struct watched *w)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; is_state(w) && i < w->msg.state.common.bus_count && i < MSG_BUSES; i++)
		sum += w->msg.state.common.bus[i].stale;
	return sum;
}

static uint64_t skipped_of(const struct watched *w)
{
	return is_state(w) ? w->msg.state.common.skipped : 0;
}

/* The sum over all devices, with what was counted before they were restarted. */
static uint64_t stale_all(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < r.n; i++)
		sum += r.watched[i].stale_before + stale_of(&r.watched[i]);
	return sum;
}

static uint64_t skipped_by_timers(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < r.timers_n; i++)
		sum += atomic_load_explicit(&r.timers[i].skipped, memory_order_relaxed);
	return sum;
}

static void print_driver(const struct watched *w, int64_t t_ns)
{
	fprintf(r.csv, ",%d,%" PRIu64, is_up(w, t_ns), w ? w->skipped_before + skipped_of(w) : 0);
}

static void print_row(const struct msg_body *b)
{
	const struct watched *balance = find("balance"), *waist = find("waist");
	const int64_t t_ns = b->header.t_sample_ns;

	fprintf(r.csv, "%.3f,%u,%.7g,%.7g,%.7g,%.6g,%.6g,%.7g,%.6g,%.6g,%.6g,%g", seconds(t_ns), b->mode, b->pitch,
		b->pitch_rate, b->lean, b->travel, b->speed, b->waist_position, b->waist_velocity, b->current[0],
		b->current[1], b->push);
	fprintf(r.csv, ",%u,%.6g,%d,%u,%u", balance ? balance->msg.balance.mode : 0,
		balance ? balance->msg.balance.lean : NAN, is_up(waist, t_ns),
		waist ? waist->msg.header.incarnation : 0, waist ? waist->msg.state.common.lifecycle : 0);
	print_joints(waist, 1);
	fprintf(r.csv, ",%.3f,%" PRIu64 ",%d", waist ? (double)(t_ns - waist->complete_ns) * 1e-6 : NAN, stale_all(),
		is_up(find("clock"), t_ns));
	print_driver(find("imu"), t_ns);
	print_driver(find("wheels"), t_ns);
	print_driver(balance, t_ns);
	fprintf(r.csv, ",%" PRIu64 "\n", skipped_by_timers());
}

static void add_gap(struct watched *w, const struct msg_header *before, const struct msg_header *now)
{
	const bool restart = before->incarnation != now->incarnation;
	const int64_t gap_ns = now->t_publish_ns - before->t_publish_ns;

	w->gap_max_ns = gap_ns > w->gap_max_ns ? gap_ns : w->gap_max_ns;
	if ((restart || gap_ns > 2 * period_of(w)) && w->gaps_n < GAPS_MAX)
		w->gaps[w->gaps_n++] =
			(struct gap){ before->t_publish_ns, now->t_publish_ns, 0, now->incarnation, restart };
}

static void take(struct watched *w, const void *msg, size_t len)
{
	const struct msg_header before = w->msg.header, *now = msg;

	if (msg_check(msg, len, NULL, NULL) != MSG_FINE)
		return;
	if (w->ours && before.incarnation != now->incarnation) {
		w->skipped_before += skipped_of(w);
		w->stale_before += stale_of(w);
	}
	memcpy(&w->msg, msg, len);
	if (!(now->flags & MSG_FLAG_PARTIAL))
		w->complete_ns = now->t_sample_ns;
	if (w->ours)
		add_gap(w, &before, now);
	while (!(now->flags & MSG_FLAG_PARTIAL) && w->fresh_n < w->gaps_n &&
	       now->t_sample_ns > w->gaps[w->fresh_n].from_ns)
		w->gaps[w->fresh_n++].fresh_ns = now->t_publish_ns;
	w->ours = true;
	w->messages++;
	if (now->type == msg_body_number && r.csv)
		print_row(&w->msg.body);
}

/* All that was put since.  A channel that is not there yet, or was made again, is opened. */
static void read_channel(struct watched *w)
{
	static char msg[MSG_SIZE_MAX] __attribute__((aligned(8)));
	enum ach_status status = ACH_OK;
	size_t len;

	if (!w->open)
		w->open = ach_open(&w->chan, w->name, NULL) == ACH_OK;
	while (w->open && (status == ACH_OK || status == ACH_MISSED_FRAME)) {
		status = ach_get(&w->chan, msg, sizeof(msg), &len, NULL, 0);
		if (status == ACH_OK || status == ACH_MISSED_FRAME)
			take(w, msg, len);
		w->missed += status == ACH_MISSED_FRAME && w->messages > 1;
	}
}

/* ---- disturbances ---- */

static void say(const char *words, const char *why)
{
	error_say(PROGRAM, NULL, ERROR_PLAIN, "%s: %s", words, why);
}

/* Words of robotsim: push body 80N 200ms. */
static void ask_robotsim(const char *words)
{
	struct error_sink errors = { error_to_stderr, &(struct error_who){ PROGRAM, NULL, ERROR_PLAIN }, 0 };
	char path[RUN_PATH_MAX], answer[1000];

	if (!run_path(path, "robotsim", &errors) &&
	    !rpc_call(path, words, answer, sizeof(answer), clock_now_ns() + ANSWER_NS, &errors) &&
	    strncmp(answer, "ok", 2) != 0)
		say(words, answer);
}

/* request DEVICE VERB [KEY [VALUE]] */
static void ask_driver(const char *words)
{
	char device[40] = "", verb[20] = "", key[40] = "", value[100] = "";
	struct msg_reply reply = { 0 };
	enum msg_verb number = MSG_VERB_NONE;
	int status;

	if (sscanf(words, "request %39s %19s %39s %99[^\n]", device, verb, key, value) < 2)
		return say(words, "write request DEVICE VERB [KEY [VALUE]]");
	number = !strcmp(verb, "set") ? MSG_VERB_SET : !strcmp(verb, "activate") ? MSG_VERB_ACTIVATE : MSG_VERB_CLEAR;
	status = endplate_ask(r.robot, device, number, key, value, ANSWER_NS, &reply);
	if (status)
		say(words, *reply.error ? reply.error : endplate_strerror(status));
}

/* pause DEVICE SOURCE TIME: as a source of refmuxd it commands velocity 0 for TIME. */
static void pause_device(const char *words)
{
	char name[40] = "", source[40] = "";
	struct msg_joint_ref ref = { .count = 1, .mode = { MSG_MODE_VELOCITY } };
	struct msg_joint_state state;
	struct endplate_device *device;
	struct endplate_view view;
	int for_ms = 0, status;

	if (sscanf(words, "pause %39s %39s %dms", name, source, &for_ms) < 3)
		return say(words, "write pause DEVICE SOURCE 50ms");
	status = endplate_device_open(r.robot, name, msg_joint_state_number, &device);
	if (!status)
		status = endplate_source(device, source);
	if (!status)
		status = endplate_state(device, &state, sizeof(state), &view);
	if (!status)
		status = endplate_put(device, &ref, sizeof(ref), for_ms * INT64_C(1000000));
	if (status)
		say(words, endplate_strerror(status));
}

static void act(const char *words)
{
	if (!strncmp(words, "request ", 8))
		ask_driver(words);
	else if (!strncmp(words, "pause ", 6))
		pause_device(words);
	else
		ask_robotsim(words);
}

static int by_time(const void *a, const void *b)
{
	const struct action *x = a, *y = b;

	return x->at_ns < y->at_ns ? -1 : x->at_ns > y->at_ns;
}

/* "3.25 push body 80N 200ms": seconds from time 0. */
static int read_actions(const struct runlog_options *options, struct error_sink *errors)
{
	for (size_t i = 0; i < options->actions.n; i++) {
		struct action *one = &r.actions[r.actions_n++];
		char *rest;
		const double at_s = strtod(options->actions.item[i], &rest);

		if (rest == options->actions.item[i] || *rest != ' ')
			error_add(errors, "--at: %s: write seconds, then what to do: \"3.25 push body 80N 200ms\"",
				  options->actions.item[i]);
		one->at_ns = r.begin_ns + llround(at_s * 1e9);
		snprintf(one->words, sizeof(one->words), "%s", rest + (*rest == ' '));
	}
	qsort(r.actions, r.actions_n, sizeof(*r.actions), by_time);
	return errors->count ? -EINVAL : 0;
}

/* ---- bare timers ---- */

/* Counts as drv_tick_due does. */
static void *wait_and_count(void *arg)
{
	struct timer *timer = arg;
	int64_t next_ns = clock_now_ns();

	for (;;) {
		int64_t passed;

		next_ns += TICK_NS;
		clock_wait(NULL, 0, next_ns);
		passed = (clock_now_ns() - next_ns) / TICK_NS;
		atomic_fetch_add_explicit(&timer->skipped, (uint64_t)passed, memory_order_relaxed);
		next_ns += passed * TICK_NS;
	}
	return NULL;
}

/* One for each processor: a driver may run on any, and is delayed when that one is. */
static void start_timers(int priority)
{
	const struct sched_param param = { .sched_priority = priority };
	int status = 0;
	cpu_set_t may, one;
	pthread_t thread;

	sched_getaffinity(0, sizeof(may), &may);
	for (int i = 0; i < CPU_SETSIZE && r.timers_n < TIMERS_MAX && !status; i++) {
		struct timer *timer = &r.timers[r.timers_n];

		if (!CPU_ISSET(i, &may))
			continue;
		CPU_ZERO(&one);
		CPU_SET(i, &one);
		status = pthread_create(&thread, NULL, wait_and_count, timer);
		if (!status)
			status = pthread_setaffinity_np(thread, sizeof(one), &one);
		if (!status && pthread_setschedparam(thread, SCHED_FIFO, &param))
			error_say(PROGRAM, NULL, ERROR_WARNING, "timer: no SCHED_FIFO priority %d; going on without",
				  priority);
		r.timers_n += !status;
	}
	if (status)
		error_say(PROGRAM, NULL, ERROR_WARNING, "timer: %s", strerror(status));
}

/* ---- the run ---- */

static void run(int stop, int64_t until_ns)
{
	struct clock_fd fd = { .fd = stop, .events = POLLIN };
	int64_t next_ns = clock_now_ns() / TICK_NS * TICK_NS + PHASE_NS;
	struct notify notify;

	notify_open(&notify);
	notify_ready(&notify);
	while (!fd.ready && clock_now_ns() < until_ns) {
		const int64_t now_ns = clock_now_ns();
		const bool acts = r.done_n < r.actions_n && r.actions[r.done_n].at_ns <= now_ns;

		for (size_t i = 0; i < r.n; i++)
			read_channel(&r.watched[i]);
		if (acts)
			act(r.actions[r.done_n++].words);
		while (next_ns <= now_ns)
			next_ns += TICK_NS;
		notify_watchdog(&notify, now_ns);
		clock_wait(&fd, 1,
			   r.done_n < r.actions_n && r.actions[r.done_n].at_ns < next_ns ? r.actions[r.done_n].at_ns
											 : next_ns);
	}
	notify_close(&notify);
}

static void write_gaps(struct json *json, const struct watched *w)
{
	json_array(json, "gaps");
	for (size_t i = 0; i < w->gaps_n; i++) {
		const struct gap *gap = &w->gaps[i];

		json_object(json, NULL);
		json_real(json, "at_s", seconds(gap->from_ns));
		json_real(json, "ms", (double)(gap->to_ns - gap->from_ns) * 1e-6);
		json_real(json, "fresh_ms", gap->fresh_ns ? (double)(gap->fresh_ns - gap->from_ns) * 1e-6 : NAN);
		json_int(json, "incarnation", gap->incarnation);
		json_bool(json, "restart", gap->restart);
		json_end(json);
	}
	json_end(json);
}

static int write_summary(const char *path)
{
	FILE *to = fopen(path, "w");
	struct json json;

	if (!to)
		return -errno;
	json = json_to(to);
	json_object(&json, NULL);
	for (size_t i = 0; i < r.n; i++) {
		const struct watched *w = &r.watched[i];

		json_line(&json);
		json_object(&json, w->device);
		json_uint(&json, "messages", w->messages);
		json_uint(&json, "missed", w->missed);
		json_real(&json, "gap_max_ms", (double)w->gap_max_ns * 1e-6);
		json_uint(&json, "skipped", w->ours ? w->skipped_before + skipped_of(w) : 0);
		if (w->msg.header.type == msg_body_number)
			json_uint(&json, "falls", w->msg.body.falls);
		write_gaps(&json, w);
		json_end(&json);
	}
	json_end(&json);
	fputc('\n', to);
	return fclose(to) ? -errno : 0;
}

static int open_files(const struct runlog_options *options, int argc, char **argv, struct error_sink *errors)
{
	const char *prefix = getenv("ENDPLATE_PREFIX");

	for (int i = 0; i < argc && i < WATCHED_MAX; i++) {
		struct watched *w = &r.watched[r.n++];
		const bool alone = !strcmp(argv[i], "body") || !strcmp(argv[i], "clock");

		w->device = argv[i];
		if ((size_t)snprintf(w->name, sizeof(w->name), "%s%s%s", prefix ? prefix : "", argv[i],
				     alone ? "" : "-state") >= sizeof(w->name))
			error_add(errors, "%s: the name is too long", argv[i]);
	}
	r.csv = options->output ? fopen(options->output, "w") : NULL;
	if (options->output && !r.csv)
		error_add(errors, "%s: %s", options->output, strerror(errno));
	else if (r.csv)
		fputs("t_s,body,pitch_rad,pitch_rate_rad_s,lean_rad,travel_m,speed_m_s,waist_rad,waist_rad_s,left_a,"
		      "right_a,push_n,balance,lean_seen_rad,waist_up,waist_incarnation,waist_life,waist_position_rad,"
		      "waist_velocity_rad_s,waist_a,waist_age_ms,stale,clock_up,imu_up,imu_skipped,wheels_up,"
		      "wheels_skipped,balance_up,balance_skipped,timers_skipped\n",
		      r.csv);
	return errors->count ? -EIO : 0;
}

int main(int argc, char **argv)
{
	struct runlog_options options = { 0 };
	struct options command = {
		.program = PROGRAM,
		.about = "Logs a run of a simulated robot, and disturbs it at given times.",
		.rows = rows,
		.values = &options,
		.arguments = "DEVICE...",
		.arguments_min = 1,
		.arguments_max = WATCHED_MAX,
		.version = OPTIONS_VERSION,
	};
	struct error_sink errors = ERROR_TO_STDERR(PROGRAM, NULL, ERROR_FATAL);
	int status, stop;

	status = options_main(&command, &argc, argv);
	if (status != OPTIONS_RUN)
		return status;
	r.begin_ns = options.begin_ns ? options.begin_ns : vt_clock_end() ? VT_BEGIN_NS : clock_now_ns();
	if (read_actions(&options, &errors))
		return EXIT_WRONG;
	if (endplate_open(&r.robot, options.robot))
		error_add(&errors, "%s", endplate_errstr());
	if (errors.count || open_files(&options, argc, argv, &errors))
		return EXIT_RETRY;
	stop = clock_stop_fd(); /* threads have its mask of signals */
	if (options.timers && !vt_clock_end())
		start_timers((int)options.timers);
	run(stop, options.until_ns ? r.begin_ns + options.until_ns : CLOCK_NEVER);
	status = options.summary ? write_summary(options.summary) : 0;
	if (status)
		error_add(&errors, "%s: %s", options.summary, strerror(-status));
	if (r.csv && fclose(r.csv))
		error_add(&errors, "%s: %s", options.output, strerror(errno));
	return errors.count ? EXIT_RETRY : 0;
}
