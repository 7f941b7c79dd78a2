/* control.c: $RUN/control, where achctl asks. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "config/nearest.h"
#include "config/owned.h"
#include "config/run.h"
#include "launch/achstart/control.h"
#include "launch/achstart/control_request.h"
#include "launch/achstart/control_status.h"
#include "launch/common/folder.h"
#include "launch/common/peer.h"
#include "config/utf8.h"

#define LINE_MAX_BYTES 512
#define WORDS_MAX 8
#define IDLE_NS 1000000000
#define PER_USER 6 /* connections, so that the others reach it whatever one user does */
#define PASSWD "/etc/passwd"
#define OTHER_VERSION "is achctl of another version?"

struct client {
	int fd; /* -1: none */
	int64_t since_ns;
	uid_t uid;
	unsigned int rights;
	struct request *request; /* to a driver, until it replies; NULL: none */
	bool arming;		 /* its arm request is under way */
	char line[LINE_MAX_BYTES];
	size_t len;
	char *answer; /* what is not sent yet */
	size_t answer_len, sent;
};

struct control {
	struct supervisor *s;
	int fd;
	struct client clients[CONTROL_CLIENTS];
};

/* ---- opening ---- */

int control_listen(struct control *c, struct error_sink *errors)
{
	const bool shared = c->s->launch->operators != LAUNCH_NO_GROUP;
	const int folder = run_folder(NULL, errors);
	int fd, status;

	if (folder < 0)
		return folder;
	fd = owned_socket(folder, "control", SOCK_STREAM, shared ? 0660 : 0600);
	if (fd >= 0)
		folder_give(folder, "control");
	close(folder);
	status = fd < 0 ? fd : listen(fd, CONTROL_CLIENTS) ? -errno : 0;
	if (status) {
		error_add(errors, "control: unable to listen: %s", strerror(-status));
		if (fd >= 0)
			close(fd);
		return status;
	}
	if (c->fd >= 0)
		close(c->fd);
	c->fd = fd;
	return 0;
}

struct control *control_open(struct supervisor *s, struct error_sink *errors)
{
	struct control *c = calloc(1, sizeof(*c));

	if (!c) {
		error_add(errors, "%s", strerror(ENOMEM));
		return NULL;
	}
	c->s = s;
	c->fd = -1;
	for (int i = 0; i < CONTROL_CLIENTS; i++)
		c->clients[i].fd = -1;
	if (!control_listen(c, errors))
		return c;
	free(c);
	return NULL;
}

static void drop(struct client *client)
{
	close(client->fd);
	free(client->answer);
	control_request_close(client->request);
	*client = (struct client){ .fd = -1 };
}

void control_close(struct control *c)
{
	char path[RUN_PATH_MAX];

	for (int i = 0; i < CONTROL_CLIENTS; i++)
		if (c->clients[i].fd >= 0)
			drop(&c->clients[i]);
	close(c->fd);
	if (!run_path(path, "control", &(struct error_sink){ 0 }))
		unlink(path);
	free(c);
}

/* ---- answers ---- */

static void answer(struct client *client, char *json)
{
	client->answer = json;
	client->answer_len = json ? strlen(json) : 0;
	client->sent = 0;
}

static void refuse(struct client *client, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void refuse(struct client *client, const char *fmt, ...)
{
	char text[ERROR_LINE_MAX], *json = NULL;
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	utf8_clean(text);
	for (char *p = text; *p; p++)
		if (*p == '"' || *p == '\\' || (unsigned char)*p < ' ')
			*p = '\'';
	if (asprintf(&json, "{\"ok\":false,\"error\":\"%s\"}\n", text) < 0)
		json = NULL;
	answer(client, json);
}

/* The lines of a refusal, as one. */
struct collected {
	char text[ERROR_LINE_MAX];
};

static void collect(void *to, const char *line)
{
	struct collected *c = to;
	const size_t len = strlen(c->text);

	snprintf(c->text + len, sizeof(c->text) - len, "%s%s", len ? "; " : "", line);
}

/* ---- who may ---- */

static unsigned int rights(const struct control *c, int fd, uid_t *uid)
{
	const struct launch *l = c->s->launch;
	const struct rights_robot robot = { geteuid(), l->operators, l->arming, l->moving };

	return peer_rights(fd, &robot, uid);
}

/* false: refused. */
static bool may(struct client *client, const char *const *words)
{
	const bool get = !strcmp(words[0], "request") && !strcmp(words[3], "get");
	const unsigned int right = rights_needed(get ? "get" : words[0]);

	if (!right)
		refuse(client, "unknown command %s", words[0]);
	else if (!(client->rights & right))
		refuse(client, "%s is for %s", words[0], rights_holders(right));
	else
		return true;
	return false;
}

/* ---- commands ---- */

static bool is_number(const char *word, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(word, &end, 10);
	return *word >= '0' && *word <= '9' && !*end && !errno;
}

/* After its line has been read, nothing more comes from an asker but its end. */
static bool has_hung_up(const struct client *client)
{
	char byte;

	return recv(client->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* By a clock that is read now: this process may have been stopped since it woke. */
static bool is_too_late(const struct client *client, uint64_t until_ns)
{
	return (uint64_t)clock_now_ns() > until_ns || has_hung_up(client);
}

static void not_done(struct control *c, struct client *client, const char *what, int64_t now_ns)
{
	refuse(client, "%s came too late, and is not done", what);
	events_say(&c->s->events, now_ns, MSG_SEVERITY_WARNING, "achstart", "too-late",
		   "%s came too late, and is not done: who asked for it does not wait any more", what);
}

static void to_daemon(struct control *c, struct client *client, const char *name, enum policy_event event,
		      int64_t now_ns)
{
	struct watch *w = supervise_find(c->s, name);
	const char *best = NULL;
	char user[PEER_NAME_MAX];

	for (size_t i = 0; !w && i < c->s->n; i++)
		nearest_try(name, c->s->watches[i].daemon->name, &best);
	if (!w) {
		refuse(client, "there is no daemon %s%s%s%s", name, best ? "; did you mean " : "",
		       best ? best : " (achctl status lists them)", best ? "?" : "");
		return;
	}
	if (c->s->stop_ns) {
		refuse(client, "the robot is being stopped");
		return;
	}
	peer_name(user, client->uid, PASSWD);
	events_say(&c->s->events, now_ns, MSG_SEVERITY_INFO, name, "asked", "%s, asked by %s", policy_event_name(event),
		   user);
	if (event == POLICY_START)
		supervise_start(c->s, w, now_ns);
	else
		watch_event(c->s, w, event, now_ns);
	answer(client, strdup("{\"ok\":true}\n"));
}

/* WHO ID SEQ ID SEQ; answered by follow_arming. */
static void arm_robot(struct control *c, struct client *client, uint64_t until_ns, const char *const *words,
		      int64_t now_ns)
{
	struct arming request = { .uid = client->uid, .until_ns = (int64_t)until_ns, .lower_ns = ESTOP_LOWER_NS };

	for (int i = 0; i < 2; i++)
		if (!is_number(words[1 + 2 * i], &request.seen.id[i]) ||
		    !is_number(words[2 + 2 * i], &request.seen.seq[i])) {
			refuse(client, "it does not say what was seen of the e-stop: " OTHER_VERSION);
			return;
		}
	if (arming_is_under_way(&c->s->arming)) {
		refuse(client, "another arm request, of %s, is under way", c->s->arming.who);
		return;
	}
	peer_name(request.who, client->uid, PASSWD);
	snprintf(request.claimed, sizeof(request.claimed), "%s", words[0]);
	arming_begin(c->s, &request, now_ns);
	client->arming = true;
}

/* LEVEL WHY; never too late. */
static void raise_level(struct control *c, struct client *client, const char *const *words, int64_t now_ns)
{
	const enum msg_level level = strcmp(words[0], "hold") ? MSG_LEVEL_ESTOP : MSG_LEVEL_HOLD;
	struct collected lines = { "" };
	struct error_sink errors = { collect, &lines, 0 };
	char who[PEER_NAME_MAX];

	peer_name(who, client->uid, PASSWD);
	if (level_raise_for(c->s, level, who, client->uid, words[1], now_ns, &errors))
		refuse(client, "%s", lines.text);
	else
		answer(client, strdup("{\"ok\":true}\n"));
}

static size_t requests(const struct control *c)
{
	size_t n = 0;

	for (int i = 0; i < CONTROL_CLIENTS; i++)
		n += c->clients[i].request != NULL;
	return n;
}

/* NAME VERB KEY VALUE; answered by request_step. */
static void request(struct control *c, struct client *client, const char *const *words, int64_t now_ns)
{
	struct collected lines = { "" };
	struct error_sink errors = { collect, &lines, 0 };
	char user[PEER_NAME_MAX];

	if (requests(c) == CONTROL_REQUESTS) {
		refuse(client, "too many requests are under way: ask again when one has been answered");
		return;
	}
	peer_name(user, client->uid, PASSWD);
	client->request = control_request_open(c->s, words, user, now_ns, &errors);
	if (!client->request)
		refuse(client, "%s", lines.text);
}

static void stop_robot(struct control *c, struct client *client, int64_t now_ns)
{
	char user[PEER_NAME_MAX];

	peer_name(user, client->uid, PASSWD);
	events_say(&c->s->events, now_ns, MSG_SEVERITY_INFO, "achstart", "asked", "stop, asked by %s", user);
	supervise_stop(c->s, now_ns);
	answer(client, strdup("{\"ok\":true}\n"));
}

static void command(struct control *c, struct client *client, const char *const *words, int64_t now_ns)
{
	uint64_t until_ns;

	if (!is_number(words[1], &until_ns))
		refuse(client, "%s: it does not say until when: " OTHER_VERSION, words[0]);
	else if (is_too_late(client, until_ns))
		not_done(c, client, words[0], now_ns);
	else if (!strcmp(words[0], "stop") && !*words[2])
		stop_robot(c, client, now_ns);
	else if (!strcmp(words[0], "stop"))
		to_daemon(c, client, words[2], POLICY_STOP, now_ns);
	else if (!strcmp(words[0], "start") || !strcmp(words[0], "clear"))
		to_daemon(c, client, words[2], POLICY_START, now_ns);
	else if (!strcmp(words[0], "restart"))
		to_daemon(c, client, words[2], POLICY_RESTART, now_ns);
	else if (!strcmp(words[0], "request"))
		request(c, client, words + 2, now_ns);
	else
		arm_robot(c, client, until_ns, words + 2, now_ns);
}

static void obey(struct control *c, struct client *client, int64_t now_ns)
{
	const char *words[WORDS_MAX] = { "", "", "", "", "", "", "", "" };
	char *rest = client->line, *word;
	size_t n = 0;

	while (n < WORDS_MAX && (word = strsep(&rest, "\t")))
		words[n++] = word;
	if (!may(client, words))
		;
	else if (!strcmp(words[0], "raise"))
		raise_level(c, client, words + 1, now_ns);
	else if (!strcmp(words[0], "status"))
		answer(client, control_status(c->s, now_ns));
	else
		command(c, client, words, now_ns);
	if (!client->answer && !client->request && !client->arming)
		refuse(client, "no memory left");
}

/* ---- serving ---- */

static void accept_one(struct control *c, int64_t now_ns)
{
	const int fd = accept4(c->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct client client = { .fd = fd, .since_ns = now_ns }, *free = NULL;
	int same = 0;

	if (fd < 0)
		return;
	client.rights = rights(c, fd, &client.uid);
	for (int i = 0; i < CONTROL_CLIENTS; i++) {
		if (c->clients[i].fd < 0)
			free = &c->clients[i];
		else
			same += c->clients[i].uid == client.uid;
	}
	if (free && (same < PER_USER || !client.uid || client.uid == geteuid()))
		*free = client;
	else
		close(fd);
}

/* The request is decided in the looks of the supervisor. */
static void follow_arming(struct control *c, struct client *client, int64_t now_ns)
{
	const struct arming *a = &c->s->arming;
	char *json = NULL;

	if (arming_is_under_way(a) && has_hung_up(client))
		arming_cancel(c->s, "achctl arm does not wait any more", now_ns);
	if (arming_is_under_way(a))
		return;
	client->arming = false;
	client->since_ns = now_ns;
	if (a->state == ARMING_REFUSED)
		refuse(client, "%s", a->why);
	else if (asprintf(&json, "{\"ok\":true,\"epoch\":%llu,\"taken\":%zu}\n", (unsigned long long)a->epoch,
			  a->taken) >= 0)
		answer(client, json);
	else
		refuse(client, "no memory left");
}

/* Nothing more is read from one whose driver is asked, but its end. */
static void follow_request(struct client *client, int64_t now_ns)
{
	if (has_hung_up(client)) {
		drop(client);
		return;
	}
	answer(client, control_request_step(client->request, now_ns));
	if (!client->answer)
		return;
	control_request_close(client->request);
	client->request = NULL;
	client->since_ns = now_ns;
}

static void read_line(struct control *c, struct client *client, int64_t now_ns)
{
	const ssize_t n = read(client->fd, client->line + client->len, sizeof(client->line) - 1 - client->len);
	char *end;

	if (n <= 0) {
		drop(client);
		return;
	}
	client->len += (size_t)n;
	client->line[client->len] = 0;
	end = strchr(client->line, '\n');
	if (end) {
		*end = 0;
		obey(c, client, now_ns);
	} else if (client->len == sizeof(client->line) - 1) {
		refuse(client, "the line is too long");
	}
}

static void write_answer(struct client *client)
{
	const ssize_t n = send(client->fd, client->answer + client->sent, client->answer_len - client->sent,
			       MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n > 0)
		client->sent += (size_t)n;
	if ((n < 0 && errno != EAGAIN) || client->sent == client->answer_len)
		drop(client);
}

/* A client whose driver is asked, or that arms, is looked at in every round: the end of its asker stays readable. */
size_t control_fds(const struct control *c, struct clock_fd fds[CONTROL_FDS])
{
	fds[0] = (struct clock_fd){ .fd = c->fd, .events = POLLIN };
	for (int i = 0; i < CONTROL_CLIENTS; i++)
		fds[i + 1] =
			(struct clock_fd){ .fd = c->clients[i].request || c->clients[i].arming ? -1 : c->clients[i].fd,
					   .events = c->clients[i].answer ? POLLOUT : POLLIN };
	return CONTROL_FDS;
}

void control_serve(struct control *c, const struct clock_fd *fds, size_t n, int64_t now_ns)
{
	for (size_t i = 1; i < n; i++) {
		struct client *client = &c->clients[i - 1];

		if (client->fd < 0)
			continue;
		if (fds[i].ready && !client->answer && !client->request)
			read_line(c, client, now_ns);
		if (client->request)
			follow_request(client, now_ns);
		if (client->arming)
			follow_arming(c, client, now_ns);
		if (client->fd >= 0 && client->answer)
			write_answer(client);
		if (client->fd >= 0 && !client->request && !client->arming && now_ns - client->since_ns > IDLE_NS)
			drop(client);
	}
	if (fds[0].ready)
		accept_one(c, now_ns);
}
