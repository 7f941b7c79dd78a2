/* check_listen.c: whether daemons can have the ports that they listen on. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "launch/check/check_listen.h"
#include "launch/view/listener.h"

#define PAGE "achweb"

static bool is_page(const struct launch_daemon *daemon)
{
	const char *slash = strrchr(daemon->argv[0], '/');

	return !strcmp(slash ? slash + 1 : daemon->argv[0], PAGE);
}

static bool has_local_socket(const struct launch_daemon *daemon)
{
	for (char **arg = daemon->argv; *arg; arg++)
		if (strstr(*arg, "unix:/"))
			return true;
	return false;
}

static bool may_open_sockets(void)
{
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || errno != EAFNOSUPPORT;
}

/* The check of a robot that runs finds its own sockets. */
static void check_port(const struct launch_daemon *daemon, struct error_sink *warnings)
{
	static const char *const addresses[LISTENER_PAIR] = { "127.0.0.1", "::1" };
	char taken[LISTENER_TAKEN_MAX];
	uid_t uid;

	for (int i = 0; i < LISTENER_PAIR; i++) {
		if (!listener_user(addresses[i], (int)daemon->listen, &uid) || uid == geteuid())
			continue;
		listener_taken(taken, addresses[i], (int)daemon->listen);
		yaml_error(warnings, yaml_find(daemon->node, "listen"), "%s: end that process, or take another port",
			   taken);
		return;
	}
}

void check_listen(const struct launch *launch, struct error_sink *errors, struct error_sink *warnings)
{
	for (size_t i = 0; i < launch->daemons_n; i++) {
		const struct launch_daemon *daemon = &launch->daemons[i];
		const bool page = is_page(daemon);

		if (!daemon->wanted || (!daemon->listen && (!page || has_local_socket(daemon))))
			continue;
		if (may_open_sockets())
			check_port(daemon, warnings);
		else
			yaml_error(
				errors, daemon->node,
				"achstart may open no network socket here (RestrictAddressFamilies= of its unit): take "
				"%s out of this file, and run it by a unit of its own: %s%s%s",
				daemon->name, page ? "systemctl enable --now achweb@" : "as achweb@.service does",
				page ? launch->name : "", page ? ".socket (achweb@.service)" : "");
	}
}
