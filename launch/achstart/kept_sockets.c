/* kept_sockets.c: the listening sockets of a daemon. */
#include <unistd.h>

#include "launch/achstart/kept_sockets.h"

int kept_sockets_open(struct kept_sockets *s, int port, struct error_sink *errors, struct error_sink *warnings)
{
	char taken[LISTENER_TAKEN_MAX];
	const char *where;
	uid_t uid;
	int n;

	if (!port || s->n)
		return 0;
	n = listener_open_pair(s->fd, port, &where);
	if (n == -EADDRINUSE && listener_user(where, port, &uid) && uid == geteuid()) {
		n = listener_open_pair(s->fd, 0, &where);
		if (n > 0)
			error_add(warnings, "listen: port %d is held by another process of this user: port %d is used",
				  port, listener_port(s->fd[0]));
	}
	s->n = n < 0 ? 0 : (size_t)n;
	if (n >= 0)
		return 0;
	if (n != -EADDRINUSE)
		return error_refuse(errors, n, "listen: %s port %d: %s", where, port, strerror(-n));
	listener_taken(taken, where, port);
	return error_refuse(errors, n, "listen: %s: end that process, or write another port", taken);
}

/* By the address alone: a daemon may have got another port than the launch file says. */
bool kept_sockets_take(struct kept_sockets *s, int port, int fd)
{
	const int place = port ? listener_place(fd, listener_port(fd)) : -1;

	if (place < 0 || (size_t)place != s->n) /* in this order, as it got them */
		return false;
	s->fd[s->n++] = fd;
	return true;
}

void kept_sockets_close(struct kept_sockets *s)
{
	while (s->n)
		close(s->fd[--s->n]);
}
