/* drv.c: the program that every driver is, and its loop; see drv.h. */
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "daemons/drv/drv_inside.h"
#include "daemons/drv/standby.h"

#define STOP_NS 500000000

/* ---- the loop ---- */

static void read_signals(struct drv *drv, int64_t now_ns)
{
	struct signalfd_siginfo info;

	if (read(drv->signals, &info, sizeof(info)) <= 0 || drv->stopping)
		return;
	drv->stopping = true;
	drv->stop_by_ns = now_ns + STOP_NS;
	notify_stopping(&drv->notify);
}

static bool all_sent(struct drv *drv)
{
	for (unsigned int i = 0; i < drv->buses_n; i++)
		if (slots_waiting(&drv->buses[i].slots) || slots_in_flight(&drv->buses[i].slots))
			return false;
	return true;
}

static bool all_ended(const struct drv *drv)
{
	for (unsigned int i = 0; i < drv->buses_n; i++)
		if (!drv->buses[i].ended)
			return false;
	return drv->buses_n > 0;
}

static bool moves_something(const struct drv *drv)
{
	for (unsigned int i = 0; i < drv->buses_n; i++)
		if (drv->buses[i].moves)
			return true;
	return drv->driver->ref;
}

/* A driver with long ticks obeys an e-stop between them.  The clock, which moves nothing, keeps its pace. */
static void obey_estop(struct drv *drv, int64_t now_ns)
{
	if (now_ns - drv->estop_ns < ESTOP_READ_NS)
		return;
	if (!drv_read_estop(drv, now_ns) || !moves_something(drv))
		return;
	drv_publish_tick(drv, now_ns);
	drv_cycle_tick(drv, now_ns); /* a second reading would end a level that lasts one tick */
	drv_publish_owe(drv, DRV_OWED_LEVEL);
}

/* Frames first: to put a message may take time if another process holds the channel. */
static void send_all(struct drv *drv)
{
	drv_hand_over(drv);
	drv_publish_turn(drv, drv->now_ns);
	drv_put_replies(drv);
	report_release(&drv->report, drv->report.held ? clock_now_ns() : drv->now_ns);
}

static bool tick_if_due(struct drv *drv, int64_t now_ns)
{
	uint64_t skipped;

	if (drv_tick_next_ns(&drv->tick) <= now_ns)
		drv_read_clock(drv, now_ns);
	if (!drv_tick_due(&drv->tick, now_ns, &drv->late_ns, &skipped))
		return false;
	drv_skips_add(&drv->skips, skipped);
	if (skipped && drv->tick_now_ns && now_ns - drv->tick_now_ns >= DRV_FROZEN_NS)
		drv_joints_freeze(drv, now_ns);
	drv_publish_tick(drv, now_ns);
	drv_read_estop(drv, now_ns);
	drv_cycle_tick(drv, now_ns);
	return true;
}

static void wake_driver(struct drv *drv, int64_t now_ns)
{
	if (now_ns < drv->wake_ns)
		return;
	drv->wake_ns = CLOCK_NEVER;
	if (drv->driver->wake)
		drv->driver->wake(drv->self, drv, now_ns);
}

static bool turn(struct drv *drv)
{
	const int64_t now_ns = clock_now_ns();
	const bool removed = drv_woken_by(drv, DRV_WAKE_REMOVAL) && removal_read(&drv->removal);
	bool ticked;

	drv->now_ns = now_ns;
	if (drv_woken_by(drv, DRV_WAKE_STOP))
		read_signals(drv, now_ns);
	drv_wake_take_ref(drv, now_ns);
	drv->report.holding = true;
	drv_pause_notice(drv, now_ns);
	for (unsigned int i = 0; i < drv->buses_n; i++) {
		struct drv_bus *bus = &drv->buses[i];

		if (drv_woken_by(drv, DRV_WAKE_BUS + i) || bus_next_ns(bus->bus) <= now_ns || bus_pending(bus->bus))
			drv_cycle_receive(drv, bus, now_ns);
	}
	drv_question_due(drv, now_ns);
	ticked = tick_if_due(drv, now_ns);
	if (!ticked)
		obey_estop(drv, now_ns);
	wake_driver(drv, now_ns);
	drv_pause_report(drv, now_ns);
	send_all(drv);
	drv_wake_clear_ref(drv);
	if (ticked || drv->estop_ns == now_ns || removed)
		estop_maintain(&drv->estop, now_ns);
	if (ticked)
		drv_cycle_end(drv, now_ns);
	notify_watchdog(&drv->notify, now_ns);
	if (drv->seat)
		atomic_fetch_add_explicit(&drv->seat->turns, 1, memory_order_relaxed);
	if (drv->stopping)
		return !(drv->over && all_sent(drv)) && now_ns < drv->stop_by_ns;
	return !all_ended(drv);
}

static int loop(struct drv *drv)
{
	while (turn(drv)) {
		int n;

		drv_pause_within(drv, clock_now_ns());
		n = drv_wake_wait(drv);
		if (n < 0)
			return n;
	}
	report_end(&drv->report, clock_now_ns());
	drv->life = MSG_LIFE_DOWN;
	drv->owed = DRV_OWED_LEVEL;
	drv_publish_turn(drv, clock_now_ns());
	return 0;
}

/* ---- the program ---- */

/* Without a robot file there are no limits, so the bus must be a soft wire or a recording. */
static int check_limits(const struct drv *drv, struct error_sink *errors)
{
	for (unsigned int i = 0; i < drv->buses_n && drv->joints_n && drv->driver->ref && !drv->setup.device; i++) {
		if (!drv->buses[i].real)
			continue;
		return error_refuse(
			errors, EXIT_WRONG,
			"no limits for joint %s on %s: write limits: in a robot file, and give it with --config",
			drv->joints[0], drv->buses[i].setup->interface);
	}
	return 0;
}

static int run(struct drv *drv, struct error_sink *errors)
{
	int status;

	signal(SIGPIPE, SIG_IGN); /* the reader of stderr may be gone */
	if (!drv->seat && standby_asked() && !drv_stand_by(drv))
		return 0;
	drv->life = MSG_LIFE_STARTING;
	status = drv_open(drv, errors);
	if (!status)
		status = check_limits(drv, errors);
	if (status)
		return status;
	for (unsigned int i = 0; i < drv->joints_n; i++)
		drv->joint_life[i] = drv->life;
	drv->wake_ns = CLOCK_NEVER;
	drv_tick_start(&drv->tick, &drv->setup.rule, clock_now_ns());
	status = loop(drv);
	if (status)
		error_add(errors, "unable to wait: %s", strerror(-status));
	return status ? EXIT_RETRY : 0;
}

static int declare_and_run(struct drv *drv, struct error_sink *errors)
{
	struct error_sink warnings = ERROR_TO_STDERR(drv->driver->program, drv->setup.name, ERROR_WARNING);
	int status = EXIT_RETRY;

	drv->buses = calloc(drv->setup.buses_n + 1, sizeof(*drv->buses)); /* a controller has none */
	if (drv->buses)
		status = drv_declare(drv, errors);
	else
		error_add(errors, "%s", strerror(ENOMEM));
	if (!status && drv_joints_check(drv, errors))
		status = EXIT_WRONG;
	if (!status && !drv->setup.frames && drv->setup.device)
		robot_doubts(drv->setup.device, &warnings);
	if (!status && drv->setup.frames)
		drv_frames_print(drv);
	else if (!status && !drv->setup.check)
		status = run(drv, errors);
	return status;
}

/* achstart recognises a driver by it, without running the program (launch/file/launch_file.h). */
__attribute__((used)) static const char mark[] = "@(#)endplate-driver";

struct drv *drv_new(const struct drv_driver *driver, int argc, char **argv, int *status)
{
	struct drv *drv = calloc(1, sizeof(*drv));

	if (!drv) {
		error_say(driver->program, NULL, ERROR_FATAL, "%s", strerror(ENOMEM));
		*status = EXIT_RETRY;
		return NULL;
	}
	drv->driver = driver;
	*status = setup_read(&drv->setup, driver, argc, argv);
	if (*status == SETUP_GO)
		return drv;
	drv_close(drv);
	free(drv);
	return NULL;
}

const char *drv_name(const struct drv *drv)
{
	return drv->setup.name;
}

bool drv_checks(const struct drv *drv)
{
	return drv->setup.check || drv->setup.frames;
}

int drv_run(struct drv *drv, struct drv_seat *seat)
{
	struct error_sink errors = ERROR_TO_STDERR(drv->driver->program, drv->setup.name, ERROR_FATAL);
	int status;

	drv->seat = seat;
	drv->self = drv->setup.self;
	status = declare_and_run(drv, &errors);
	drv_close(drv);
	free(drv);
	return status;
}

int drv_main(const struct drv_driver *driver, int argc, char **argv)
{
	struct drv *drv;
	int status;

	standby_begin(argc, argv);
	drv = drv_new(driver, argc, argv, &status);
	return drv ? drv_run(drv, NULL) : status;
}
