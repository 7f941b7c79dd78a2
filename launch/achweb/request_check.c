/* request_check.c: which requests are answered at all. */
#include <strings.h>

#include "launch/achweb/request_check.h"

static const struct {
	const char *path;
	enum request_check_route route;
	enum { SOCKET, POST } how;
	unsigned int rights;
} routes[] = {
	{ "/socket", REQUEST_CHECK_SOCKET, SOCKET, 0 },	     { "/foxglove", REQUEST_CHECK_STUDIO, SOCKET, TOKEN_LOOK },
	{ "/login", REQUEST_CHECK_LOGIN, POST, TOKEN_LOOK }, { "/stop", REQUEST_CHECK_STOP, POST, TOKEN_LOOK },
	{ "/act", REQUEST_CHECK_ACT, POST, TOKEN_ACT },
};
#define ROUTES (sizeof(routes) / sizeof(*routes))

enum request_check_route request_check_route(const struct http *r, bool is_file)
{
	for (size_t i = 0; i < ROUTES; i++)
		if (!strcmp(r->path, routes[i].path))
			return routes[i].route;
	return is_file ? REQUEST_CHECK_FILE : REQUEST_CHECK_NOTHING;
}

static bool is_among(const char *word, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcasecmp(word, list[i]))
			return true;
	return false;
}

/* A name that a link was given out with. */
static bool is_link(const struct request_check *g, const char *host)
{
	const char *dot = strchr(host, '.');

	return g->suffix && dot && !strcasecmp(dot, g->suffix) && token_has_host(g->links, host, (size_t)(dot - host));
}

/* "http://" or "https://", which a proxy may add, and the host that was asked. */
static bool is_own_origin(const struct http *r)
{
	const char *host = strstr(r->origin, "://");

	if (!host || (strncmp(r->origin, "http://", 7) && strncmp(r->origin, "https://", 8)))
		return false;
	return !strcasecmp(host + 3, r->host);
}

static int refuse(int status, const char **why, const char *text)
{
	*why = text;
	return status;
}

static int check_socket(const struct request_check *g, const struct http *r, enum request_check_route route,
			const char **why)
{
	/* A program sends no Origin; its key has come from achctl web. */
	const bool program = route == REQUEST_CHECK_STUDIO && !*r->origin;

	if (!program && !is_own_origin(r) &&
	    !(route == REQUEST_CHECK_STUDIO && is_among(r->origin, g->origins, g->origins_n)))
		return refuse(403, why, "another origin; achweb --origin allows one for /foxglove");
	if (!http_lists(r->connection, "upgrade") || !http_lists(r->upgrade, "websocket") || r->old)
		return refuse(426, why, "only a WebSocket is served here");
	if (strcmp(r->ws_version, "13") != 0)
		return refuse(426, why, "another version of WebSocket");
	return 0;
}

static int check_post(const struct http *r, const char **why)
{
	const size_t type = strcspn(r->type, "; ");

	if (!is_own_origin(r))
		return refuse(403, why, "another origin, or none");
	if (!*r->proof)
		return refuse(403, why, "the header X-Endplate is missing");
	if (type != strlen("application/json") || strncasecmp(r->type, "application/json", type) != 0)
		return refuse(415, why, "only application/json is read");
	return 0;
}

int request_check_check(const struct request_check *g, const struct http *r, enum request_check_route route,
			unsigned int rights, const char **why)
{
	size_t i = 0;
	int status;

	if (!is_among(r->host, g->hosts, g->hosts_n) && !is_link(g, r->host))
		return refuse(421, why, "another Host; achweb --host adds a name of this server");
	if (route == REQUEST_CHECK_NOTHING)
		return refuse(404, why, "there is no such page");
	while (i < ROUTES && routes[i].route != route)
		i++;
	if (r->post != (i < ROUTES && routes[i].how == POST))
		return refuse(405, why, r->post ? "only GET is served here" : "only POST is served here");
	if (i == ROUTES)
		return 0;
	status = routes[i].how == SOCKET ? check_socket(g, r, route, why) : check_post(r, why);
	if (status)
		return status;
	if (!rights && routes[i].rights)
		return refuse(401, why, "not logged in: open the link that achctl web prints");
	if (routes[i].rights & ~rights)
		return refuse(403, why, "you may look and stop; achctl web --act prints a link for acting");
	return 0;
}
