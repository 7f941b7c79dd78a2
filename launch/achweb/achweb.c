/* achweb.c: a page that shows a robot, stops it and, for those who may, arms it; achweb(1). */
#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "channels/notify.h"
#include "config/options.h"
#include "launch/achweb/login.h"
#include "launch/achweb/server.h"
#include "launch/common/robot_choice.h"

#define PROGRAM "achweb"
#define WRONG 100
#define FAILED 111
#define USUAL_PORT 8765
#define FDS 16
#define PORTS 4 /* that are tried if the usual one is taken */

struct achweb_options {
	const char *robot, *folder, *arming;
	struct settings_strings listen, host, origin;
	int64_t port;
};

static const struct settings_row rows[] = {
	SETTINGS_STRINGS("listen", struct achweb_options, listen, "address, or unix:PATH; by default 127.0.0.1 and ::1",
			 .value = "ADDRESS"),
	SETTINGS_INT("port", struct achweb_options, port, "", "-1", "-1", "65535",
		     "by default 8765, or another one if that is taken; 0: any", .value = "N"),
	SETTINGS_STRINGS("host", struct achweb_options, host,
			 "another name of this server, as browsers write it: robot.lan:8765", .value = "NAME"),
	SETTINGS_STRINGS("origin", struct achweb_options, origin,
			 "a studio in a browser that may connect: https://studio.lan", .value = "URL"),
	SETTINGS_STRING("arming", struct achweb_options, arming, NULL,
			"group whose members may act, beside the robot's user", .value = "GROUP"),
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
	char names[4][32];		       /* of this server, by default */
	char paths[SERVER_LISTENERS_MAX][108]; /* of local sockets, to be removed at the end */
	size_t paths_n;
} w;

/* ---- listening ---- */

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
};

/* The length of the address; 0: not a valid address. */
static socklen_t parse_address(union address *a, const char *text, int port)
{
	memset(a, 0, sizeof(*a));
	if (!strncmp(text, "unix:/", 6)) {
		a->un.sun_family = AF_UNIX;
		return snprintf(a->un.sun_path, sizeof(a->un.sun_path), "%s", text + 5) < (int)sizeof(a->un.sun_path)
			       ? sizeof(a->un)
			       : 0;
	}
	if (inet_pton(AF_INET, text, &a->in.sin_addr) == 1) {
		a->in.sin_family = AF_INET;
		a->in.sin_port = htons((uint16_t)port);
		return sizeof(a->in);
	}
	if (inet_pton(AF_INET6, text, &a->in6.sin6_addr) == 1) {
		a->in6.sin6_family = AF_INET6;
		a->in6.sin6_port = htons((uint16_t)port);
		return sizeof(a->in6);
	}
	return 0;
}

static int bound_port(int fd)
{
	union address a;
	socklen_t len = sizeof(a);

	if (getsockname(fd, &a.any, &len))
		return 0;
	return a.any.sa_family == AF_INET    ? ntohs(a.in.sin_port)
	       : a.any.sa_family == AF_INET6 ? ntohs(a.in6.sin6_port)
					     : 0;
}

/* A socket that a process left behind is removed; one that is served, and any other file, stays. */
static void remove_old(const union address *a, socklen_t len)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct stat st;

	if (!lstat(a->un.sun_path, &st) && S_ISSOCK(st.st_mode) && connect(fd, &a->any, len) && errno == ECONNREFUSED)
		unlink(a->un.sun_path);
	close(fd);
}

/* 0 or -errno. */
static int listen_on(const char *text, int port)
{
	union address a;
	const socklen_t len = parse_address(&a, text, port);
	const bool local = a.any.sa_family == AF_UNIX;
	int fd, status;

	fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
	if (a.any.sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &(int){ 1 }, sizeof(int));
	if (local)
		remove_old(&a, len);
	status = bind(fd, &a.any, len) ? -errno : 0;
	if (!status && local)
		snprintf(w.paths[w.paths_n++], sizeof(*w.paths), "%s", a.un.sun_path);
	if (!status && local && chmod(a.un.sun_path, 0660))
		status = -errno;
	if (!status)
		status = server_listen(&w.server, fd);
	if (status) {
		close(fd);
		return status;
	}
	if (!w.port)
		w.port = bound_port(fd);
	return 0;
}

static void stop_listening(void)
{
	server_unlisten(&w.server);
	while (w.paths_n)
		unlink(w.paths[--w.paths_n]);
	w.port = 0;
}

/* On every address, with one port; 0: any.  0, or -errno with the address in *where. */
static int listen_at(int port, const char **where)
{
	static const char *const usual[] = { "127.0.0.1", "::1" };
	const bool given = w.options.listen.n;
	const size_t n = given ? w.options.listen.n : 2;

	for (size_t i = 0; i < n; i++) {
		int status;

		*where = given ? w.options.listen.item[i] : usual[i];
		status = listen_on(*where, w.port ? w.port : port);
		if (status == -EADDRINUSE || (status && (given || !i))) /* else: a machine without IPv6 */
			return status;
	}
	return 0;
}

/* The port that was asked for; or the usual one, or any other if that is taken on one of the addresses: there another
 * user could serve a page that looks like this one. */
static int listen_all(struct error_sink *errors)
{
	const int port = w.options.port < 0 ? USUAL_PORT : (int)w.options.port;
	const char *where;
	int status = listen_at(port, &where);

	for (int i = 0; i < PORTS && status == -EADDRINUSE && w.options.port <= 0; i++) {
		stop_listening();
		status = listen_at(0, &where);
	}
	if (status == -EADDRINUSE && !strncmp(where, "unix:", 5))
		return error_refuse(errors, status, "%s: another process serves there, or it is not a socket", where);
	if (status == -EADDRINUSE)
		return error_refuse(errors, status, "%s port %d is taken: give another --port", where, port);
	if (status)
		return error_refuse(errors, status, "%s: unable to listen: %s", where, strerror(-status));
	return 0;
}

/* ---- names ---- */

static void add_host(const char *host)
{
	if (w.server.guard.hosts_n < GUARD_NAMES_MAX)
		w.server.guard.hosts[w.server.guard.hosts_n++] = host;
}

static void know_names(void)
{
	static char listened[SERVER_LISTENERS_MAX][64];
	struct guard *g = &w.server.guard;

	snprintf(w.names[0], sizeof(w.names[0]), "127.0.0.1:%d", w.port ? w.port : USUAL_PORT);
	snprintf(w.names[1], sizeof(w.names[1]), "localhost:%d", w.port ? w.port : USUAL_PORT);
	snprintf(w.names[2], sizeof(w.names[2]), "[::1]:%d", w.port ? w.port : USUAL_PORT);
	for (size_t i = 0; i < 3; i++)
		add_host(w.names[i]);
	for (size_t i = 0; i < w.options.listen.n && i < SERVER_LISTENERS_MAX; i++) {
		const char *text = w.options.listen.item[i];

		if (!strncmp(text, "unix:", 5))
			continue;
		snprintf(listened[i], sizeof(listened[i]), strchr(text, ':') ? "[%s]:%d" : "%s:%d", text, w.port);
		add_host(listened[i]);
	}
	for (size_t i = 0; i < w.options.host.n; i++)
		add_host(w.options.host.item[i]);
	for (size_t i = 0; i < w.options.origin.n && g->origins_n < GUARD_NAMES_MAX; i++)
		g->origins[g->origins_n++] = w.options.origin.item[i];
	snprintf(w.server.cookie, sizeof(w.server.cookie), "endplate-%d", w.port);
	snprintf(w.login.address, sizeof(w.login.address), "%s",
		 w.options.host.n ? w.options.host.item[0] : w.names[0]);
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
		const int64_t now_ns = clock_now_ns();
		int64_t next_ns = server_turn(&w.server, now_ns);
		size_t n;

		login_keep(&w.login, now_ns);
		if (now_ns >= beat_ns) {
			const bool retry = notify_watchdog(&w.notify, now_ns) == -EAGAIN;

			say_status(now_ns);
			beat_ns = now_ns + (retry ? NOTIFY_RETRY_NS : NOTIFY_PERIOD_NS);
		}
		fds[2].fd = view_fd(&w.server.view);
		n = 3 + query_fds(&w.login.server, fds + 3);
		if (clock_wait(fds, n, next_ns < beat_ns ? next_ns : beat_ns) < 0)
			return FAILED;
		if (fds[1].ready)
			return 0;
		if (fds[2].ready)
			view_answer(&w.server.view);
		query_serve(&w.login.server, fds + 3, clock_now_ns());
	}
}

static int serve(struct error_sink *errors)
{
	int status = server_open(&w.server);

	if (status)
		return error_refuse(errors, FAILED, "%s", strerror(-status));
	w.login.tokens = &w.server.tokens;
	if (listen_all(errors)) {
		status = FAILED;
	} else {
		know_names();
		status = login_open(&w.login, w.options.folder, errors) ? FAILED : run();
		notify_stopping(&w.notify);
		if (w.login.server.listener >= 0)
			login_close(&w.login);
	}
	stop_listening();
	server_close(&w.server);
	notify_close(&w.notify);
	return status;
}

static int check(struct error_sink *errors)
{
	struct robot_choice_asked asked;
	union address a;

	w.login.arming = (gid_t)-1;
	w.login.server.listener = -1;
	if (w.options.arming) {
		const struct group *group = getgrnam(w.options.arming);

		if (!group)
			error_add(errors, "--arming: there is no group %s", w.options.arming);
		else
			w.login.arming = group->gr_gid;
	}
	for (size_t i = 0; i < w.options.listen.n; i++)
		if (!parse_address(&a, w.options.listen.item[i], 0))
			error_add(errors, "--listen: %s is not an address such as 10.0.0.5, or unix:/PATH",
				  w.options.listen.item[i]);
	if (w.options.listen.n > SERVER_LISTENERS_MAX)
		error_add(errors, "--listen: at most %d", SERVER_LISTENERS_MAX);
	if (robot_choice_begin(&asked, w.options.robot))
		error_add(errors, "--robot: %s is not a valid name", w.options.robot);
	if (errors->count)
		return WRONG;
	return robot_choice_use(&asked, errors) < 0 ? FAILED : 0;
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
	struct error_who me = { PROGRAM, NULL, ERROR_FATAL };
	struct error_sink errors = { error_to_stderr, &me, 0 };
	int status = options_main(&options, &argc, argv);

	if (status != OPTIONS_RUN)
		return status;
	status = check(&errors);
	return status ? status : serve(&errors);
}
