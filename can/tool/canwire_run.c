/* canwire_run.c: canwire run: serves buses until stopped. */
#include <sched.h>
#include <sys/mman.h>

#include "can/tool/can_tool.h"
#include "can/tool/canwire.h"
#include "can/wire/hub.h"
#include "can/wire/script.h"
#include "channels/clock/clock.h"
#include "channels/port/notify.h"
#include "config/settings/program.h"

struct canwire_run {
	const char *script, *robot;
	int64_t bitrate, fd, seed, queue, restart_ms, priority, gap_ns, outage_ns;
};

static const struct settings_row rows[] = {
	SETTINGS_INT("bitrate", struct canwire_run, bitrate, "bit/s", "1000000", "1000", "1000000",
		     "bit rate of all these buses", .value = "B"),
	SETTINGS_INT("fd", struct canwire_run, fd, "bit/s", "0", "0", "10000000",
		     "bit rate of the data of CAN FD frames; 0: classic buses", .value = "B"),
	SETTINGS_INT("seed", struct canwire_run, seed, "", "1", "0", NULL, "seed of random faults", .value = "N"),
	SETTINGS_STRING("script", struct canwire_run, script, NULL,
			"run the events of FILE without programs and without waiting, and print the log",
			.value = "FILE"),
	SETTINGS_DURATION("gap", struct canwire_run, gap_ns, "100us", "0", "10ms",
			  "least time between two wake-ups that deliver; 0: each frame at its end", .value = "TIME"),
	SETTINGS_DURATION("outage", struct canwire_run, outage_ns, "50ms", "0", "1h",
			  "after a delay of canwire longer than this drop the waiting frames; 0: never",
			  .value = "TIME"),
	SETTINGS_INT("queue", struct canwire_run, queue, "frames", "10", "1", "128",
		     "queue of each controller, as txqueuelen", .value = "N"),
	SETTINGS_INT("restart-ms", struct canwire_run, restart_ms, "ms", "0", "0", "60000",
		     "time after which a controller restarts from bus-off; 0: never", .value = "MS"),
	SETTINGS_INT("priority", struct canwire_run, priority, "", "0", "0", "99",
		     "SCHED_FIFO priority, above that of the programs it serves; 0: none", .value = "P"),
	SETTINGS_STRING("robot", struct canwire_run, robot, NULL, "robot of the buses; names the folder", .value = "R"),
	SETTINGS_END,
};

/* ---- by a script ---- */

static void print_line(void *to, const char *text)
{
	(void)to;
	puts(text);
}

static int play(const char *path, int argc, char **argv, const struct engine_settings *settings)
{
	struct script script;
	int r = script_open(&script, path, (const char *const *)argv, (unsigned int)argc, &program_errors);

	if (r)
		return r == -EINVAL ? EXIT_WRONG : EXIT_RETRY;
	r = script_run(&script, settings, print_line, NULL);
	script_close(&script);
	return r || fflush(stdout) ? program_fail("%s", strerror(r ? -r : errno)) : 0;
}

/* ---- for programs ---- */

static void be_real_time(int priority)
{
	struct sched_param p = { .sched_priority = priority };

	if (!priority)
		return;
	/* All processes of a virtual clock have the same one. */
	if (!vt_clock_end() && sched_setscheduler(0, SCHED_FIFO, &p))
		program_say("no SCHED_FIFO priority %d: %s; going on without", priority, strerror(errno));
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		program_say("memory is not locked: %s; going on without", strerror(errno));
}

/* Wakes ten times a second for the watchdog of a supervisor, if there is one. */
static void serve(struct hub *hub)
{
	struct clock_fd fds[] = { { .fd = hub->bell, .events = POLLIN },
				  { .fd = hub->doors, .events = POLLIN },
				  { .fd = clock_stop_fd(), .events = POLLIN } };
	struct notify notify;
	const bool supervised = notify_open(&notify) > 0;
	int64_t beat_ns = supervised ? clock_now_ns() : CLOCK_NEVER;

	notify_ready(&notify);
	while (!fds[2].ready) {
		int64_t wake_ns = hub_turn(hub, fds[0].ready);

		clock_wait(fds, 3, wake_ns < beat_ns ? wake_ns : beat_ns);
		if (fds[1].ready)
			hub_doors(hub);
		if (supervised && clock_now_ns() >= beat_ns) {
			beat_ns = clock_now_ns();
			beat_ns += notify_watchdog(&notify, beat_ns) == -EAGAIN ? NOTIFY_RETRY_NS : NOTIFY_PERIOD_NS;
		}
	}
	notify_stopping(&notify);
	notify_close(&notify);
}

int canwire_run(int argc, char **argv)
{
	struct canwire_run run = { 0 };
	struct options options = { .program = "canwire run",
				   .about = "Serves CAN buses in user space until stopped.",
				   .rows = rows,
				   .values = &run,
				   .arguments = "BUS...",
				   .arguments_min = 1,
				   .arguments_max = WIRE_BUSES_MAX };
	struct engine_settings settings = { 0 };
	static struct hub hub;
	int status = program_options(&options, &argc, argv);

	if (status != OPTIONS_RUN)
		return status;
	settings.bitrate = (uint32_t)run.bitrate;
	settings.data_bitrate = (uint32_t)run.fd;
	settings.outage_ns = run.outage_ns;
	settings.queue = (uint32_t)run.queue;
	settings.restart_ms = (uint32_t)run.restart_ms;
	settings.seed = (uint64_t)vt_clock_seed(run.seed);
	if (run.script)
		return play(run.script, argc, argv, &settings);
	if (can_tool_robot(run.robot, false))
		return EXIT_WRONG;

	status = hub_open(&hub, &program_errors);
	hub.gap_ns = vt_clock_end() ? 0 : run.gap_ns; /* on a virtual clock every frame ends at its instant */
	for (int i = 0; !status && i < argc; i++)
		status = hub_serve(&hub, argv[i], &settings, &program_errors);
	if (!status) {
		be_real_time((int)run.priority);
		serve(&hub);
	}
	hub_close(&hub);
	return status == -EINVAL ? EXIT_WRONG : status ? EXIT_RETRY : 0;
}
