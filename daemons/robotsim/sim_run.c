/* sim_run.c: robotsim run: plays the devices of a robot file until a signal ends it. */
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "channels/clock/vt_clock.h"
#include "channels/port/notify.h"
#include "config/settings/options.h"
#include "daemons/robotsim/sim.h"

#define PROGRAM "robotsim"
#define LOOK_NS 1000000000

enum { TAG_STOP = SIM_TAGS_MAX, TAG_CONTROL };

struct run {
	const char *robot;
	int64_t priority;
	bool check;
};

static const struct settings_row rows[] = {
	SETTINGS_STRING("robot", struct run, robot, NULL, "name of the robot; selects its folder", .value = "R"),
	SETTINGS_INT("priority", struct run, priority, "", "0", "0", "99",
		     "SCHED_FIFO priority, so that answers come in time; 0: none", .value = "P"),
	SETTINGS_BOOL("check", struct run, check, "no", "read the file, list what would be played, and stop"),
	SETTINGS_END,
};

static struct sim sim;

static void be_real_time(int priority)
{
	struct sched_param p = { .sched_priority = priority };

	if (!priority)
		return;
	/* All processes of a virtual clock have the same one. */
	if (!vt_clock_end() && sched_setscheduler(0, SCHED_FIFO, &p))
		error_say(PROGRAM, NULL, ERROR_WARNING, "no SCHED_FIFO priority %d: %s; going on without", priority,
			  strerror(errno));
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		error_say(PROGRAM, NULL, ERROR_WARNING, "memory is not locked: %s; going on without", strerror(errno));
}

/* Ten times a second: advances idle units, reattaches units, notifies the supervisor.  When the next is due. */
static int64_t beat(struct notify *notify, int64_t now_ns)
{
	const struct sim_unit *missing;

	sim_beat(&sim, now_ns);
	if (!sim_is_attached(&sim, &missing)) {
		char text[NOTIFY_STATUS_MAX];

		snprintf(text, sizeof(text), "waiting for the bus %s of %s", missing->on->interface, missing->name);
		notify_status(notify, now_ns, text);
	}
	return now_ns + (notify_watchdog(notify, now_ns) == -EAGAIN ? NOTIFY_RETRY_NS : NOTIFY_PERIOD_NS);
}

/* Clients come and go: what the set has of the control socket is taken out before, and what there is then put in. */
static void serve(struct sim_control *control, struct clock_set *set, struct clock_fd *fds, int64_t now_ns)
{
	for (uint32_t i = 0; i < SIM_CONTROL_FDS; i++)
		if (fds[i].fd >= 0)
			clock_set_remove_fd(set, fds[i].fd);
	rpc_serve(&control->server, fds, now_ns);
	rpc_fds(&control->server, fds);
	for (uint32_t i = 0; i < SIM_CONTROL_FDS; i++)
		if (fds[i].fd >= 0)
			clock_set_add_fd(set, fds[i].fd, (uint32_t)fds[i].events, TAG_CONTROL + i);
}

static int play(struct sim_control *control, struct clock_set *set)
{
	struct clock_fd control_fds[SIM_CONTROL_FDS];
	struct notify notify;
	bool attached = false, asked = false, stop = false;
	int64_t beat_ns = clock_now_ns(), look_ns = beat_ns + LOOK_NS;
	int r = 0;

	for (size_t i = 0; i < SIM_CONTROL_FDS; i++)
		control_fds[i] = (struct clock_fd){ .fd = -1 };
	notify_open(&notify);
	while (!stop && r >= 0) {
		const int64_t now_ns = clock_now_ns();
		uint32_t tags[CLOCK_TAGS_MAX];
		const struct sim_unit *missing;
		int64_t next_ns;

		sim_turn(&sim, now_ns);
		if (!attached)
			attached = sim_is_attached(&sim, &missing) && notify_ready(&notify) >= 0;
		if (now_ns >= look_ns) {
			sim_control_reopen(control);
			if (sim.body.port)
				port_reopen(sim.body.port, now_ns, 0);
			look_ns = now_ns + LOOK_NS;
		}
		if (asked || now_ns >= beat_ns)
			serve(control, set, control_fds, now_ns);
		if (now_ns >= beat_ns)
			beat_ns = beat(&notify, now_ns);
		asked = false;
		next_ns = sim_next_ns(&sim);
		r = clock_set_wait(set, tags, CLOCK_TAGS_MAX, next_ns < beat_ns ? next_ns : beat_ns);
		for (int i = 0; i < r; i++) {
			if (tags[i] < SIM_TAGS_MAX) {
				sim_ready(&sim, tags[i]);
			} else if (tags[i] == TAG_STOP) {
				stop = true;
			} else {
				control_fds[tags[i] - TAG_CONTROL].ready = POLLIN;
				asked = true;
			}
		}
	}
	if (r < 0)
		error_say(PROGRAM, NULL, ERROR_FATAL, "unable to wait: %s", strerror(-r));
	notify_stopping(&notify);
	notify_close(&notify);
	return r < 0 ? EXIT_RETRY : 0;
}

static void list(const struct robot *robot)
{
	if (sim.body.is_there)
		printf("body %s\n", robot->body.kind);
	for (size_t i = 0; i < sim.units_n; i++)
		printf("%s on %s\n", sim.units[i].name, sim.units[i].on->interface);
}

static int run(const struct run *run, const struct robot *robot, struct error_sink *errors)
{
	struct error_sink warnings = ERROR_TO_STDERR(PROGRAM, NULL, ERROR_WARNING);
	struct sim_control control;
	struct port body = { 0 };
	struct clock_set *set;
	int r, stop;

	sim_missing(robot, &warnings);
	if (run->check) {
		list(robot);
		return 0;
	}
	stop = clock_stop_fd(); /* before anybody can see us */
	r = clock_set_open(&set);
	if (!r)
		r = clock_set_add_fd(set, stop, POLLIN, TAG_STOP);
	if (r)
		return error_refuse(errors, EXIT_RETRY, "unable to wait: %s", strerror(-r));
	r = sim_control_open(&control, &sim, errors);
	if (r)
		return EXIT_RETRY;
	r = sim_body_publish(&sim, &body, errors);
	if (!r)
		r = sim_open(&sim, set, errors);
	if (!r) {
		be_real_time((int)run->priority);
		r = play(&control, set);
		sim_close(&sim);
	} else {
		r = r == -EINVAL ? EXIT_WRONG : EXIT_RETRY;
	}
	clock_set_close(set);
	port_close(&body);
	sim_control_close(&control);
	return r;
}

/* --settings: of every kind, since each has its own under sim: in the robot file. */
static void answer(const struct options *options, struct error_sink *errors)
{
	static char defaults[4096]; /* of any kind */
	static struct krang_settings of_body;
	struct settings body = { .rows = krang_rows, .values = &of_body };

	if (strcmp(options->answer, "settings") != 0) {
		options_answer(options, stdout);
		return;
	}
	for (size_t i = 0; sim_kinds[i]; i++) {
		struct settings settings = { .rows = sim_kinds[i]->rows, .values = defaults };

		printf("%sunder sim: of a device with driver: %s\n", i ? "\n" : "", sim_kinds[i]->driver);
		if (!settings_defaults(&settings, errors))
			settings_print(&settings, stdout);
	}
	printf("\nunder settings: of a body with kind: krang\n");
	if (!settings_defaults(&body, errors))
		settings_print(&body, stdout);
}

int sim_run(int argc, char **argv)
{
	struct settings any = { .rows = sim_kinds[0]->rows }; /* there is --settings; answer prints it */
	struct run line = { 0 };
	struct options options = {
		.program = PROGRAM " run",
		.about = "Plays the devices of a robot file on its buses until SIGINT or SIGTERM.",
		.rows = rows,
		.values = &line,
		.arguments = "FILE",
		.arguments_min = 1,
		.arguments_max = 1,
		.settings = &any,
		.notes = "It plays the devices of the drivers that --settings lists, each with its settings\n"
			 "under sim: in the robot file, "
	};
	struct error_sink errors = ERROR_TO_STDERR(PROGRAM, NULL, ERROR_FATAL), plain = { error_to_stderr, NULL, 0 };
	struct robot robot;
	int status;

	switch (options_read(&options, &argc, argv, &plain)) {
	case OPTIONS_WRONG:
		return EXIT_WRONG;
	case OPTIONS_ANSWER:
		answer(&options, &plain);
		return 0;
	case OPTIONS_GO:
		break;
	}
	if (line.robot && run_robot(line.robot))
		return error_refuse(&errors, EXIT_WRONG, "--robot: %s is not a valid name", line.robot);
	if (robot_open(&robot, argv[0], &errors))
		return EXIT_WRONG;
	status = sim_load(&sim, &robot, &errors) ? EXIT_WRONG : run(&line, &robot, &errors);
	sim_unload(&sim);
	robot_close(&robot);
	return status;
}
