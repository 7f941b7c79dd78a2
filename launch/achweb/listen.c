/* listen.c: the sockets that achweb listens on. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "launch/achweb/listen.h"

#define FIRST_FD 3

static struct {
	char paths[SERVER_LISTENERS_MAX][sizeof(((struct sockaddr_un *)0)->sun_path)]; /* to be removed at the end */
	size_t paths_n;
	bool given;
} l;

/* ---- sockets of its own ---- */

static bool is_local(const char *address)
{
	return !strncmp(address, "unix:/", 6);
}

static bool parse_local(struct sockaddr_un *a, const char *address)
{
	*a = (struct sockaddr_un){ .sun_family = AF_UNIX };
	return snprintf(a->sun_path, sizeof(a->sun_path), "%s", address + 5) < (int)sizeof(a->sun_path);
}

bool listen_is_valid(const char *address)
{
	union listener_address tcp;
	struct sockaddr_un local;

	return is_local(address) ? parse_local(&local, address) : listener_parse(&tcp, address, 0);
}

/* A socket that a process left behind is removed; one that is served, and any other file, stays. */
static void remove_old(const struct sockaddr_un *a)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct stat st;

	if (!lstat(a->sun_path, &st) && S_ISSOCK(st.st_mode) && connect(fd, (const struct sockaddr *)a, sizeof(*a)) &&
	    errno == ECONNREFUSED)
		unlink(a->sun_path);
	close(fd);
}

/* A descriptor or -errno. */
static int open_local(const char *address)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un a;
	int status = 0;

	if (fd < 0)
		return -errno;
	if (!parse_local(&a, address))
		status = -ENAMETOOLONG;
	else
		remove_old(&a);
	if (!status && bind(fd, (const struct sockaddr *)&a, sizeof(a)))
		status = -errno;
	if (!status)
		snprintf(l.paths[l.paths_n++], sizeof(*l.paths), "%s", a.sun_path);
	if (!status && chmod(a.sun_path, 0660))
		status = -errno;
	if (!status)
		return fd;
	close(fd);
	return status;
}

/* 0 or -errno. */
static int serve(struct server *server, int fd)
{
	const int status = fd < 0 ? fd : server_listen(server, fd);

	if (status && fd >= 0)
		close(fd);
	return status;
}

/* On both loopback addresses.  The port; or -errno, with the address in *where. */
static int open_usual(struct server *server, int port, const char **where)
{
	int fds[LISTENER_PAIR], n = listener_open_pair(fds, port, where), status = 0;

	for (int i = 0; i < n; i++) {
		const int one = serve(server, fds[i]);

		status = status ? status : one;
	}
	return n < 0 ? n : status ? status : listener_port(fds[0]);
}

/* On the addresses given, with one port.  The same. */
static int open_addresses(struct server *server, const struct settings_strings *addresses, int port, const char **where)
{
	int bound = 0;

	for (size_t i = 0; i < addresses->n; i++) {
		const char *address = *where = addresses->item[i];
		const int fd = is_local(address) ? open_local(address) : listener_open(address, bound ? bound : port);
		const int status = serve(server, fd);

		if (status)
			return status;
		bound = bound ? bound : listener_port(fd);
	}
	return bound;
}

static int open_own(struct server *server, const struct settings_strings *addresses, int port, const char **where)
{
	return addresses->n ? open_addresses(server, addresses, port, where) : open_usual(server, port, where);
}

static int refuse(const char *where, int port, int status, struct error_sink *errors)
{
	char taken[LISTENER_TAKEN_MAX];

	if (status == -EADDRINUSE && is_local(where))
		return error_refuse(errors, status, "%s: another process serves there, or it is not a socket", where);
	if (status == -EAFNOSUPPORT && listener_is_forbidden())
		return error_refuse(errors, status,
				    "achweb " LISTENER_FORBIDDEN ": run it by its own, systemctl enable --now "
				    "achweb@ROBOT.socket (achweb@.service), or give it --listen unix:/PATH");
	if (status != -EADDRINUSE)
		return error_refuse(errors, status, "%s: unable to listen: %s", where, strerror(-status));
	listener_taken(taken, where, port);
	return error_refuse(errors, status, "%s: give another --port", taken);
}

/* A port that another user has is not evaded: a person who expects this page there would see that user's.  This user
 * may have another robot. */
static int listen_own(struct server *server, const struct settings_strings *addresses, int port,
		      struct error_sink *errors)
{
	const bool usual = port < 0;
	const char *where = "";
	uid_t uid;
	int status;

	port = usual ? LISTEN_PORT : port;
	status = open_own(server, addresses, port, &where);
	if (status == -EADDRINUSE && usual && !is_local(where) && listener_user(where, port, &uid) &&
	    uid == geteuid()) {
		listen_end(server);
		status = open_own(server, addresses, 0, &where);
		if (status >= 0)
			error_say("achweb", NULL, ERROR_WARNING,
				  "port %d is held by another process of this user: port %d is used", port, status);
	}
	return status < 0 ? refuse(where, port, status, errors) : status;
}

/* ---- sockets that were given ---- */

int listen_given(void)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	int64_t of, n;

	if (!pid || !fds || text_int(pid, &of) || text_int(fds, &n) || of != getpid() || n < 0)
		return 0;
	return n < SERVER_LISTENERS_MAX + 1 ? (int)n : SERVER_LISTENERS_MAX + 1;
}

/* The port of the first that has one; 0: none has; or -errno with a line. */
static int take_given(struct server *server, int n, struct error_sink *errors)
{
	int port = 0;

	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	for (int fd = FIRST_FD; fd < FIRST_FD + n; fd++) {
		int listens = 0, status;

		if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &(socklen_t){ sizeof(listens) }) || !listens)
			return error_refuse(errors, -EINVAL, "LISTEN_FDS: descriptor %d does not listen", fd);
		fcntl(fd, F_SETFD, FD_CLOEXEC);
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
		status = server_listen(server, fd);
		if (status)
			return error_refuse(errors, status, "LISTEN_FDS: descriptor %d: %s", fd, strerror(-status));
		port = port ? port : listener_port(fd);
	}
	l.given = true;
	return port;
}

/* ---- both ---- */

int listen_begin(struct server *server, const struct settings_strings *addresses, int port, struct error_sink *errors)
{
	const int given = listen_given();

	return given ? take_given(server, given, errors) : listen_own(server, addresses, port, errors);
}

void listen_held(struct listen_held *h, const struct server *server, int port)
{
	unsigned int held = 0;

	*h = (struct listen_held){ 0 };
	for (size_t i = 0; i < server->listeners_n; i++) {
		held |= listener_covers(server->listeners[i], port);
		if (!*h->address)
			listener_text(h->address, server->listeners[i]);
	}
	h->both = held && (held | listener_absent()) == LISTENER_BOTH;
	if (held)
		snprintf(h->address, sizeof(h->address), held & 1 ? "127.0.0.1:%d" : "[::1]:%d", port);
}

void listen_end(struct server *server)
{
	server_unlisten(server);
	while (l.paths_n)
		unlink(l.paths[--l.paths_n]);
}

void listen_store(const struct server *server, struct notify *notify)
{
	if (l.given && getenv("ENDPLATE_DAEMON"))
		notify_store(notify, server->listeners, server->listeners_n);
}
