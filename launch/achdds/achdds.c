/* achdds.c: the bridge between the channels of a robot and DDS; achdds(1). */
#include <sys/stat.h>
#include <unistd.h>

#include "channels/port/notify.h"
#include "config/settings/options.h"
#include "launch/achdds/bridge_in.h"
#include "launch/achdds/bridge_out.h"
#include "launch/achdds/drop_in.h"
#include "launch/achdds/library_log.h"
#include "launch/achdds/relay.h"
#include "launch/view/listener.h"

#define PROGRAM "achdds"
#define SCAN_NS 1000000000  /* between two looks for channels */
#define STATE_NS 1000000000 /* between two states */
#define LOG_NS 10000000000  /* between two events about the log of the DDS library */

struct achdds_options {
	const char *robot, *name, *state;
	bool check;
};

static const struct settings_row rows[] = {
	SETTINGS_STRING("robot", struct achdds_options, robot, NULL,
			"name of the robot; default: the only one that runs", .value = "R"),
	SETTINGS_STRING("name", struct achdds_options, name, PROGRAM, "name in the channel NAME-event",
			.value = "NAME"),
	SETTINGS_STRING("state", struct achdds_options, state, NULL, "where the state is written each second",
			.value = "FILE"),
	SETTINGS_BOOL("check", struct achdds_options, check, "no", "check the file and stop"),
	SETTINGS_END,
};

static struct {
	struct achdds_options options;
	struct bridge bridge;
	struct bridge_out *publish;
	struct bridge_in *subscribe;
	struct relay *relay; /* or NULL */
	struct notify notify;
	int64_t beat_ns, scan_ns, state_ns, log_ns;
	uint64_t log_lines; /* reported */
	bool state_failed;  /* said */
	bool stale;	    /* the interface is another one than that of the sockets */
} a;

/* ---- the network ---- */

/* In place of libc's, for the DDS library too: filter.h. */
__attribute__((visibility("default"))) int bind(int fd, const struct sockaddr *address, socklen_t len)
{
	return filter_bind(fd, address, len);
}

/* A neighbour can make the library log a line for each packet. */
static void report_library_log(int64_t now_ns)
{
	struct library_log log;

	library_log_read(&log);
	if (log.lines == a.log_lines || now_ns < a.log_ns)
		return;
	bridge_say(&a.bridge, MSG_SEVERITY_WARNING, "library",
		   "%" PRIu64 " malformed packets, %" PRIu64 " other warnings of the DDS library; the last: %s",
		   log.malformed, log.lines - log.malformed, log.newest);
	a.log_lines = log.lines;
	a.log_ns = now_ns + LOG_NS;
}

/* ---- the state ---- */

static int write_state(const char *path, int64_t now_ns)
{
	char aside[RUN_PATH_MAX];
	struct library_log log;
	struct json j;
	FILE *to;

	if (snprintf(aside, sizeof(aside), "%s.new", path) >= (int)sizeof(aside))
		return -ENAMETOOLONG;
	to = fopen(aside, "we");
	if (!to)
		return -errno;
	j = json_to(to);
	json_object(&j, NULL);
	json_uint(&j, "pid", (uint64_t)getpid());
	json_int(&j, "domain", a.bridge.file.domain);
	json_text(&j, "interface", a.bridge.file.interface);
	json_bool(&j, "secured", a.bridge.file.secured);
	library_log_read(&log);
	json_uint(&j, "library_warnings", log.lines);
	json_uint(&j, "malformed_packets", log.malformed);
	bridge_out_state(a.publish, &j, now_ns);
	bridge_in_state(a.subscribe, &j, now_ns);
	relay_state(a.relay, &j, now_ns);
	json_end(&j);
	fputc('\n', to);
	if (fclose(to) || rename(aside, path))
		return -errno;
	return 0;
}

static void update_state_file(int64_t now_ns)
{
	int r;

	a.state_ns = now_ns + STATE_NS;
	if (!a.options.state)
		return;
	r = write_state(a.options.state, now_ns);
	if (r && !a.state_failed)
		bridge_say(&a.bridge, MSG_SEVERITY_WARNING, "state", "unable to write %s: %s", a.options.state,
			   strerror(-r));
	a.state_failed = r;
}

/* ---- the loop ---- */

static void beat(int64_t now_ns)
{
	const bool retry = notify_watchdog(&a.notify, now_ns) == -EAGAIN;

	a.beat_ns = now_ns + (retry ? NOTIFY_RETRY_NS : NOTIFY_PERIOD_NS);
	report_tick(&a.bridge.report, now_ns);
	port_reopen(&a.bridge.report.port, now_ns, SCAN_NS);
}

/* Does what is due; returns when there is more. */
static int64_t turn(void)
{
	const int64_t now_ns = clock_now_ns();
	int64_t next_ns;

	if (now_ns >= a.beat_ns)
		beat(now_ns);
	if (now_ns >= a.scan_ns) {
		bridge_out_scan(a.publish);
		report_library_log(now_ns);
		a.stale = filter_is_stale();
		a.scan_ns = now_ns + SCAN_NS;
	}
	if (now_ns >= a.state_ns)
		update_state_file(now_ns);
	next_ns = num_min(num_min(a.beat_ns, a.scan_ns), a.state_ns);
	next_ns = num_min(next_ns, bridge_out_due(a.publish, now_ns));
	next_ns = num_min(next_ns, relay_due(a.relay, now_ns));
	next_ns = num_min(next_ns, channel_reader_due(&a.bridge.readers, now_ns));
	return num_min(next_ns, bridge_in_due(a.subscribe, now_ns));
}

static void serve(uint32_t tag, int64_t now_ns)
{
	if (tag == BRIDGE_TAG_NODE) {
		dds_node_seen(a.bridge.node);
		bridge_in_take(a.subscribe);
		relay_take(a.relay);
	} else if (tag >= BRIDGE_TAG_RELAY) {
		relay_read(a.relay, tag - BRIDGE_TAG_RELAY, now_ns);
	} else {
		bridge_out_read(a.publish, tag, now_ns);
	}
}

/* While channels are polled it sleeps first: that takes one system call less than to be woken in time. */
static int wait_for(uint32_t tags[CLOCK_TAGS_MAX], int64_t next_ns)
{
	if (a.bridge.readers.polled) {
		clock_wait(NULL, 0, next_ns);
		next_ns = 0;
	}
	return clock_set_wait(a.bridge.set, tags, CLOCK_TAGS_MAX, next_ns);
}

static int run(void)
{
	uint32_t tags[CLOCK_TAGS_MAX];
	bool stop = false;
	int n;

	notify_open(&a.notify);
	notify_ready(&a.notify);
	do {
		n = wait_for(tags, turn());
		for (int i = 0; i < n; i++) {
			if (tags[i] == BRIDGE_TAG_STOP)
				stop = true;
			else
				serve(tags[i], clock_now_ns());
		}
	} while (n >= 0 && !stop && !a.stale);
	notify_stopping(&a.notify);
	update_state_file(clock_now_ns());
	if (n < 0)
		bridge_say(&a.bridge, MSG_SEVERITY_FATAL, "wait", "unable to wait: %s", strerror(-n));
	if (a.stale)
		bridge_say(&a.bridge, MSG_SEVERITY_FATAL, "interface",
			   "interface %s was removed and came back; achdds ends, to be started again on it",
			   a.bridge.file.interface);
	return n < 0 || a.stale ? EXIT_RETRY : 0;
}

/* ---- before and behind it ---- */

static int open_robot(struct error_sink *errors)
{
	const int r = endplate_open(&a.bridge.robot, a.options.robot);
	const char *prefix;

	if (r)
		return error_refuse(errors, r, "%s%s%s", endplate_strerror(r), *endplate_errstr() ? ": " : "",
				    endplate_errstr());
	prefix = getenv("ENDPLATE_PREFIX");
	a.bridge.prefix = prefix ? prefix : "";
	a.bridge.readers = (struct channel_readers){ .set = a.bridge.set, .owner = run_owner() };
	return 0;
}

static int open_all(struct error_sink *errors)
{
	const struct bridge_file *file = &a.bridge.file;
	const struct dds_node_options options = { .domain = (unsigned int)file->domain,
						  .name = file->name,
						  .space = "/",
						  .interface = file->interface,
						  .peers = file->peers,
						  .peers_n = file->peers_n,
						  .multicast = file->multicast,
						  .security = file->secured ? &file->security : NULL,
						  .check_sockets = filter_check };
	int r = clock_set_open(&a.bridge.set);

	if (r)
		return error_refuse(errors, r, "unable to wait: %s", strerror(-r));
	r = open_robot(errors);
	if (!r)
		r = filter_open(file->interface, file->addresses, file->peers_n, errors);
	if (!r)
		r = dds_node_open(&a.bridge.node, &options, errors);
	if (!r)
		r = bridge_out_open(&a.publish, &a.bridge, errors);
	if (!r)
		r = bridge_in_open(&a.subscribe, &a.bridge, errors);
	if (!r)
		r = relay_open(&a.relay, &a.bridge, errors);
	if (!r)
		r = clock_set_add_fd(a.bridge.set, dds_node_fd(a.bridge.node), POLLIN, BRIDGE_TAG_NODE);
	if (!r)
		r = clock_set_add_fd(a.bridge.set, clock_stop_fd(), POLLIN, BRIDGE_TAG_STOP);
	return r ? r : dds_node_announce(a.bridge.node);
}

static void close_all(void)
{
	bridge_out_close(a.publish);
	bridge_in_close(a.subscribe);
	relay_close(a.relay);
	dds_node_close(a.bridge.node);
	endplate_close(a.bridge.robot);
	if (a.bridge.set)
		clock_set_close(a.bridge.set);
	bridge_file_close(&a.bridge.file);
}

static int bridge(struct error_sink *errors)
{
	struct error_sink quiet = { 0 };
	int status = EXIT_RETRY;

	clock_stop_fd(); /* from here on a signal is an orderly end */
	if (listener_is_forbidden()) {
		status = error_refuse(errors, EXIT_WRONG,
				      PROGRAM " " LISTENER_FORBIDDEN ": run it by its own, systemctl enable --now "
					      "achdds@ROBOT (achdds@.service)");
	} else if (!open_all(errors)) {
		/* Where only the robot's user may make channels, events are lines. */
		if (report_open(&a.bridge.report, PROGRAM, a.options.name, &quiet))
			a.bridge.report.lines = true;
		status = run();
		report_end(&a.bridge.report, clock_now_ns());
		port_close(&a.bridge.report.port);
		notify_close(&a.notify);
	}
	close_all();
	return status;
}

int main(int argc, char **argv)
{
	struct options options = {
		.program = PROGRAM,
		.about = "Joins the channels of a robot with DDS, as a ROS 2 node.",
		.rows = rows,
		.values = &a.options,
		.arguments = "FILE",
		.arguments_min = 1,
		.arguments_max = 1,
		.version = OPTIONS_VERSION,
		.notes = "FILE says which channels are published, and what may come in: achdds(1).\n",
	};
	struct error_sink errors = ERROR_TO_STDERR(PROGRAM, NULL, ERROR_FATAL);
	int status = options_main(&options, &argc, argv);

	if (status != OPTIONS_RUN)
		return status;
	if (!text_is_name(a.options.name))
		return error_refuse(&errors, EXIT_WRONG, "--name: %s is not a valid name", a.options.name);
	if (bridge_file_open(&a.bridge.file, argv[0], &errors))
		return EXIT_WRONG;
	if (a.options.check) {
		drop_in_print(stdout, &a.bridge.file, a.options.robot ? a.options.robot : "ROBOT");
		bridge_file_close(&a.bridge.file);
		return 0;
	}
	return bridge(&errors);
}
