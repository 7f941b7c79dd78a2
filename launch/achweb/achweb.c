/* achweb.c: a page that shows a robot, stops it and, for those who may, arms it; achweb(1). */
#include <grp.h>

#include "channels/client/robot_choice.h"
#include "channels/port/port.h"
#include "config/settings/options.h"
#include "launch/achweb/listen.h"
#include "launch/achweb/login.h"
#include "launch/view/rights.h"

#define PROGRAM "achweb"
#define PORT_OF_ALL 1024 /* from here on every user may listen */
#define FDS 16

struct achweb_options {
	const char *robot, *folder, *arming;
	struct settings_strings listen, host, origin;
	int64_t port;
};

static const struct settings_row rows[] = {
	SETTINGS_STRINGS("listen", struct achweb_options, listen, "address, or unix:PATH; by default 127.0.0.1 and ::1",
			 .value = "ADDRESS"),
	SETTINGS_INT("port", struct achweb_options, port, "", "-1", "-1", "65535", "by default 8765; 0: any",
		     .value = "N"),
	SETTINGS_STRINGS("host", struct achweb_options, host,
			 "another name of this server, as browsers write it: robot.lan:8765", .value = "NAME"),
	SETTINGS_STRINGS("origin", struct achweb_options, origin,
			 "a studio in a browser that may connect: https://studio.lan", .value = "URL"),
	SETTINGS_STRING("arming", struct achweb_options, arming, NULL,
			"group whose members may act; default: arming: of the launch file", .value = "GROUP"),
	SETTINGS_STRING("folder", struct achweb_options, folder, NULL,
			"folder of the socket for achctl web; by default the robot's", .value = "DIR"),
	SETTINGS_STRING("robot", struct achweb_options, robot, NULL,
			"name of the robot; default: the only one that runs", .value = "R"),
	SETTINGS_END,
};

static struct {
	struct achweb_options options;
	struct server server;
	struct login login;
	struct notify notify;
	int port;
	char names[3][32]; /* of this server, by default */
	char suffix[32];   /* of the names of links */
	char holders[128]; /* who may act */
} w;

/* ---- names ---- */

static void add_host(const char *host)
{
	if (w.server.guard.hosts_n < REQUEST_CHECK_NAMES_MAX)
		w.server.guard.hosts[w.server.guard.hosts_n++] = host;
}

/* Each link has a host name of its own, which browsers resolve to their machine: a page that another program once
 * served on this port keeps the name that it had (service worker, cache), and gets no other.  A browser takes any
 * loopback address for such a name, so they are all held here, or else the link has one that is.  Ports below 1024 are
 * not for other users, and a name that was given is used. */
static void name_links(int port, bool both)
{
	if (port < PORT_OF_ALL || !both || w.options.host.n)
		return;
	snprintf(w.suffix, sizeof(w.suffix), ".localhost:%d", port);
	w.login.suffix = w.server.guard.suffix = w.suffix;
}

static void know_names(void)
{
	static const char *const usual[] = { "127.0.0.1", "localhost", "[::1]" };
	static char listened[SERVER_LISTENERS_MAX][64];
	struct request_check *g = &w.server.guard;
	struct listen_held held;

	for (size_t i = 0; i < 3; i++) {
		snprintf(w.names[i], sizeof(w.names[i]), "%s:%d", usual[i], w.port ? w.port : LISTEN_PORT);
		add_host(w.names[i]);
	}
	for (size_t i = 0; i < w.options.listen.n && i < SERVER_LISTENERS_MAX; i++) {
		const char *text = w.options.listen.item[i];

		if (!strncmp(text, "unix:", 5))
			continue;
		snprintf(listened[i], sizeof(listened[i]), strchr(text, ':') ? "[%s]:%d" : "%s:%d", text, w.port);
		add_host(listened[i]);
	}
	for (size_t i = 0; i < w.options.host.n; i++)
		add_host(w.options.host.item[i]);
	for (size_t i = 0; i < w.options.origin.n && g->origins_n < REQUEST_CHECK_NAMES_MAX; i++)
		g->origins[g->origins_n++] = w.options.origin.item[i];
	listen_held(&held, &w.server, w.port);
	snprintf(w.login.address, sizeof(w.login.address), "%s",
		 w.options.host.n ? w.options.host.item[0]
		 : *held.address  ? held.address
				  : w.names[0]);
	add_host(w.login.address);
	name_links(w.port, held.both);
}

/* ---- the loop ---- */

static void say_status(int64_t now_ns)
{
	char text[NOTIFY_STATUS_MAX];

	snprintf(text, sizeof(text), "http://%s, %zu pages, %zu studios", w.login.address, w.server.pages_n,
		 w.server.studios_n);
	notify_status(&w.notify, now_ns, text);
}

static int run(void)
{
	struct clock_fd fds[FDS] = { { .fd = w.server.epoll, .events = POLLIN },
				     { .fd = clock_stop_fd(), .events = POLLIN },
				     { .events = POLLIN } };
	int64_t beat_ns = 0;

	notify_open(&w.notify);
	notify_ready(&w.notify);
	for (;;) {
		const int64_t now_ns = clock_own_ns();
		int64_t next_ns = server_turn(&w.server, now_ns);
		size_t n;

		login_keep(&w.login, now_ns);
		if (now_ns >= beat_ns) {
			const bool retry = notify_watchdog(&w.notify, now_ns) == -EAGAIN;

			say_status(now_ns);
			listen_store(&w.server, &w.notify);
			beat_ns = now_ns + (retry ? NOTIFY_RETRY_NS : NOTIFY_PERIOD_NS);
		}
		fds[2].fd = robot_view_fd(&w.server.view);
		n = 3 + rpc_fds(&w.login.server, fds + 3);
		if (clock_own_wait(fds, n, next_ns < beat_ns ? next_ns : beat_ns) < 0)
			return EXIT_RETRY;
		if (fds[1].ready)
			return 0;
		if (fds[2].ready)
			robot_view_answer(&w.server.view);
		rpc_serve(&w.login.server, fds + 3, clock_own_ns());
	}
}

static int serve(struct error_sink *errors)
{
	int status = server_open(&w.server);

	if (status)
		return error_refuse(errors, EXIT_RETRY, "%s", strerror(-status));
	w.login.tokens = &w.server.tokens;
	w.server.acts.arming = w.login.arming;
	w.port = listen_begin(&w.server, &w.options.listen, (int)w.options.port, errors);
	if (w.port < 0) {
		status = w.port == -EADDRINUSE ? EXIT_TAKEN : w.port == -EAFNOSUPPORT ? EXIT_WRONG : EXIT_RETRY;
	} else {
		know_names();
		status = login_open(&w.login, w.options.folder, errors) ? EXIT_RETRY : run();
		notify_stopping(&w.notify);
		if (w.login.server.listener >= 0)
			login_close(&w.login);
	}
	listen_end(&w.server);
	server_close(&w.server);
	notify_close(&w.notify);
	return status;
}

/* The group of --arming, or of the launch file, which achstart leaves in the environment. */
static void find_arming(struct error_sink *errors)
{
	const struct group *group = w.options.arming ? getgrnam(w.options.arming) : NULL;

	w.login.holders = w.holders;
	if (w.options.arming && !group)
		error_add(errors, "--arming: there is no group %s", w.options.arming);
	w.login.arming = group ? group->gr_gid : w.options.arming ? (gid_t)-1 : port_arming();
	if (group)
		snprintf(w.holders, sizeof(w.holders), "the robot's user, root and the group %s (achweb --arming)",
			 w.options.arming);
	else if (w.login.arming != (gid_t)-1)
		snprintf(w.holders, sizeof(w.holders), "%s", rights_holders(RIGHTS_ARM));
	else
		snprintf(w.holders, sizeof(w.holders), "the robot's user and root; achweb --arming adds a group");
}

static int check(struct error_sink *errors)
{
	struct robot_choice_asked asked;

	w.login.server.listener = -1;
	find_arming(errors);
	for (size_t i = 0; i < w.options.listen.n; i++)
		if (!listen_is_valid(w.options.listen.item[i]))
			error_add(errors, "--listen: %s is not an address such as 10.0.0.5, or unix:/PATH",
				  w.options.listen.item[i]);
	if (w.options.listen.n > SERVER_LISTENERS_MAX)
		error_add(errors, "--listen: at most %d", SERVER_LISTENERS_MAX);
	if (listen_given() && (w.options.listen.n || w.options.port >= 0))
		error_add(errors,
			  "%s: the sockets are those of LISTEN_FDS: take this out, and the port from the unit, or "
			  "from listen: of the launch file",
			  w.options.listen.n ? "--listen" : "--port");
	if (robot_choice_begin(&asked, w.options.robot))
		error_add(errors, "--robot: %s is not a valid name", w.options.robot);
	if (errors->count)
		return EXIT_WRONG;
	return robot_choice_use(&asked, errors) < 0 ? EXIT_RETRY : 0;
}

int main(int argc, char **argv)
{
	struct options options = {
		.program = PROGRAM,
		.about = "Serves a page that shows a robot and stops it; achctl web prints the link to it.",
		.rows = rows,
		.values = &w.options,
		.version = OPTIONS_VERSION,
	};
	struct error_sink errors = ERROR_TO_STDERR(PROGRAM, NULL, ERROR_FATAL);
	int status = options_main(&options, &argc, argv);

	if (status != OPTIONS_RUN)
		return status;
	status = check(&errors);
	return status ? status : serve(&errors);
}
