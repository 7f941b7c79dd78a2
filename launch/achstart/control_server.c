/* control_server.c: the socket $RUN/control, which takes the commands of achctl. */
#include <math.h>
#include <unistd.h>

#include "launch/achstart/control_server.h"
#include "launch/achstart/virtual.h"
#include "launch/view/peer.h"
#include "launch/view/status.h"

#define WORDS_MAX 8
#define PASSWD "/etc/passwd"
#define OTHER_VERSION "is achctl of another version?"

/* Beside a client: who it is, and for what it waits. */
struct waiting {
	char user[PEER_NAME_MAX]; /* who commands */
	struct request *request;  /* to a driver, until it replies; NULL: none */
	bool arming;		  /* its arm request is under way */
};

struct control {
	struct supervisor *s;
	struct rpc_server server;
	struct waiting waiting[RPC_CLIENTS_MAX]; /* as server.clients */
};

static void take_question(void *context, struct rpc_client *client, char *line, int64_t now_ns);

/* ---- requests to drivers ---- */

/* Channels have the name of the device, which may be driven by a daemon of another name. */
static const char *device_name(const struct supervised *d)
{
	return d->daemon->device ? d->daemon->device->name : d->daemon->name;
}

static const struct supervised *find_driver(const struct supervisor *s, const char *name, struct error_sink *errors)
{
	const char *best = NULL;

	for (size_t i = 0; i < s->n; i++) {
		const struct supervised *d = &s->supervised[i];

		if (d->daemon->alive != LAUNCH_ALIVE_STATE)
			continue;
		if (!strcmp(device_name(d), name) || !strcmp(d->daemon->name, name))
			return d;
		nearest_try(name, device_name(d), &best);
	}
	error_add(errors, "there is no driver %s%s%s%s", name, best ? "; did you mean " : "", best ? best : "",
		  best ? "?" : "");
	return NULL;
}

/* A request to a driver, until it is answered: words NAME VERB KEY VALUE, for the user of that name.  To be freed with
 * close_request; NULL with a line. */
static struct request *request_driver(struct supervisor *s, const char *const *words, const char *user, int64_t now_ns,
				      struct error_sink *errors)
{
	const struct supervised *d = find_driver(s, words[0], errors);
	struct request *r = NULL;
	enum msg_verb verb = MSG_VERB_NONE;

	if (!d)
		return NULL;
	if (!policy_has_process(&d->policy))
		error_add(errors, "%s does not run: it is %s", words[0], policy_state_name(d->policy.state));
	else if (!request_verb(words[1], &verb))
		error_add(errors, "%s is not a verb", words[1]);
	else if (!(r = malloc(sizeof(*r))))
		error_add(errors, "%s", strerror(ENOMEM));
	if (!r || request_open(r, device_name(d), verb, words[2], words[3], errors)) {
		free(r);
		return NULL;
	}
	if (verb != MSG_VERB_GET)
		supervised_say(s, d, now_ns, INFO, "asked", "%s%s%s, asked by %s", words[1], *words[2] ? " " : "",
			       words[2], user);
	return r;
}

static void close_request(struct request *r)
{
	if (r)
		request_close(r);
	free(r);
}

/* The members "result", "value" and "error" of the driver's reply. */
static void write_reply(struct json *j, struct msg_reply *reply)
{
	if (reply->result && !*reply->error)
		snprintf(reply->error, sizeof(reply->error), "%s", strerror(-reply->result));
	terminal_clean(reply->value);
	terminal_clean(reply->error);
	json_int(j, "result", reply->result);
	json_text(j, "value", reply->value);
	json_text(j, "error", reply->error);
}

/* ---- opening ---- */

int control_server_listen(struct control *c, struct error_sink *errors)
{
	const bool shared = c->s->launch->operators != LAUNCH_NO_GROUP;
	const int folder = run_folder(NULL, errors);
	int fd;

	if (folder < 0)
		return folder;
	fd = safe_path_listen(folder, "control", shared ? 0660 : 0600, RPC_CLIENTS_MAX, errors);
	if (fd >= 0)
		folder_give(folder, "control");
	close(folder);
	if (fd < 0)
		return fd;
	if (c->server.listener >= 0)
		close(c->server.listener);
	c->server.listener = fd;
	return 0;
}

struct control *control_server_open(struct supervisor *s, struct error_sink *errors)
{
	struct control *c = calloc(1, sizeof(*c));

	if (!c) {
		error_add(errors, "%s", strerror(ENOMEM));
		return NULL;
	}
	c->s = s;
	c->server = (struct rpc_server){
		.question = take_question, .context = c, .clients_max = RPC_CLIENTS_MAX, .listener = -1
	};
	rpc_server_init(&c->server);
	if (!control_server_listen(c, errors))
		return c;
	free(c);
	return NULL;
}

void control_server_close(struct control *c)
{
	char path[RUN_PATH_MAX];

	for (int i = 0; i < RPC_CLIENTS_MAX; i++)
		close_request(c->waiting[i].request);
	rpc_server_close(&c->server);
	close(c->server.listener);
	if (!run_path(path, "control", &(struct error_sink){ 0 }))
		unlink(path);
	free(c);
}

static struct waiting *waiting_of(struct control *c, const struct rpc_client *client)
{
	return &c->waiting[client - c->server.clients];
}

/* ---- answers ---- */

/* One object in one line, which the caller fills between these two. */
struct reply {
	char *text;
	size_t size;
	struct json j;
};

/* false: there is no memory, and the client has been answered. */
static bool begin_reply(struct reply *r, struct rpc_client *client, bool ok)
{
	FILE *to = open_memstream(&r->text, &r->size);

	if (!to) {
		rpc_answer(client, "{\"ok\":false,\"error\":\"no memory left\"}\n");
		return false;
	}
	r->j = json_to(to);
	json_object(&r->j, NULL);
	json_bool(&r->j, "ok", ok);
	return true;
}

static void send_reply(struct reply *r, struct rpc_client *client)
{
	json_end(&r->j);
	fputc('\n', r->j.to);
	if (!fclose(r->j.to))
		rpc_answer(client, r->text);
	else
		rpc_drop(client);
	free(r->text);
}

/* Allocates nothing: a command that was accepted is not answered as one that failed. */
static void accept_command(struct rpc_client *client)
{
	rpc_answer(client, "{\"ok\":true}\n");
}

__attribute__((format(printf, 2, 3))) static void refuse(struct rpc_client *client, const char *fmt, ...)
{
	char text[ERROR_LINE_MAX];
	struct reply r;
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	utf8_clean(text);
	if (!begin_reply(&r, client, false))
		return;
	json_text(&r.j, "error", text);
	send_reply(&r, client);
}

/* ---- rights ---- */

/* false: refused. */
static bool may(const struct control *c, struct rpc_client *client, const char *const *words)
{
	const struct launch *l = c->s->launch;
	const struct rights_robot robot = { geteuid(), l->operators, l->arming, l->moving };
	const bool get = !strcmp(words[0], "request") && !strcmp(words[3], "get");
	const unsigned int right = rights_needed(get ? "get" : words[0]);
	uid_t uid;

	if (!right)
		refuse(client, "unknown command %s", words[0]);
	else if (!(peer_rights(client->fd, &robot, &uid) & right))
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

/* Has its time passed, or has its client hung up or cancelled it?  By a clock that is read now: this process may have
 * been stopped since it woke. */
static bool is_too_late(struct control *c, struct rpc_client *client, uint64_t until_ns, const char *what)
{
	if ((uint64_t)clock_now_ns() <= until_ns && rpc_next(client) == RPC_NOTHING)
		return false;
	refuse(client, "%s came too late, and is not done", what);
	supervise_say(c->s, clock_now_ns(), WARNING, "too-late",
		      "%s came too late, and is not done: its client does not wait any more", what);
	return true;
}

static void to_daemon(struct control *c, struct rpc_client *client, const char *name, enum policy_event event,
		      int64_t now_ns)
{
	struct supervised *d = supervise_find(c->s, name);
	const char *best = NULL;

	for (size_t i = 0; !d && i < c->s->n; i++)
		nearest_try(name, c->s->supervised[i].daemon->name, &best);
	if (!d) {
		refuse(client, "there is no daemon %s%s%s%s", name, best ? "; did you mean " : "",
		       best ? best : " (achctl status lists them)", best ? "?" : "");
		return;
	}
	if (c->s->stop_ns) {
		refuse(client, "the robot is being stopped");
		return;
	}
	events_say(&c->s->events, now_ns, MSG_SEVERITY_INFO, name, "asked", "%s, asked by %s", policy_event_name(event),
		   waiting_of(c, client)->user);
	if (event == POLICY_START)
		supervise_start(c->s, d, now_ns);
	else
		supervised_event(c->s, d, event, now_ns);
	accept_command(client);
}

/* WHO ID SEQ ID SEQ; answered by follow_arming. */
static void arm_robot(struct control *c, struct rpc_client *client, uint64_t until_ns, const char *const *words,
		      int64_t now_ns)
{
	struct arming request = { .uid = client->uid, .until_ns = (int64_t)until_ns, .lower_ns = ESTOP_LOWER_NS };

	for (int i = 0; i < 2; i++)
		if (!is_number(words[1 + 2 * i], &request.seen.id[i]) ||
		    !is_number(words[2 + 2 * i], &request.seen.seq[i])) {
			refuse(client, "missing sequence numbers of the e-stop: " OTHER_VERSION);
			return;
		}
	if (arming_is_under_way(&c->s->arming)) {
		refuse(client, "another arm request, of %s, is under way", c->s->arming.who);
		return;
	}
	snprintf(request.who, sizeof(request.who), "%s", waiting_of(c, client)->user);
	snprintf(request.claimed, sizeof(request.claimed), "%s", words[0]);
	arming_begin(c->s, &request, now_ns);
	waiting_of(c, client)->arming = true;
}

/* LEVEL WHY; never too late. */
static void raise_level(struct control *c, struct rpc_client *client, const char *const *words, int64_t now_ns)
{
	const enum msg_level level = strcmp(words[0], "hold") ? MSG_LEVEL_ESTOP : MSG_LEVEL_HOLD;
	struct lines why;

	if (level_raise_for(c->s, level, waiting_of(c, client)->user, client->uid, words[1], now_ns, lines_begin(&why)))
		refuse(client, "%s", why.text);
	else
		accept_command(client);
}

static size_t requests(const struct control *c)
{
	size_t n = 0;

	for (int i = 0; i < RPC_CLIENTS_MAX; i++)
		n += c->waiting[i].request != NULL;
	return n;
}

/* NAME VERB KEY VALUE DEADLINE; answered by follow_request. */
static void request(struct control *c, struct rpc_client *client, const char *const *words, int64_t now_ns)
{
	struct lines why;
	struct waiting *waiting = waiting_of(c, client);
	uint64_t deadline_ns;

	if (requests(c) == CONTROL_SERVER_REQUESTS) {
		refuse(client, "too many requests are under way: ask again when one has been answered");
		return;
	}
	waiting->request = request_driver(c->s, words, waiting->user, now_ns, lines_begin(&why));
	if (!waiting->request)
		refuse(client, "%s", why.text);
	else if (is_number(words[4], &deadline_ns))
		waiting->request->msg.header.valid_until_ns = (int64_t)deadline_ns;
}

static void stop_robot(struct control *c, struct rpc_client *client, int64_t now_ns)
{
	supervise_say(c->s, now_ns, INFO, "asked", "stop, asked by %s", waiting_of(c, client)->user);
	supervise_stop(c->s, now_ns);
	accept_command(client);
}

static void command(struct control *c, struct rpc_client *client, const char *const *words, int64_t now_ns)
{
	uint64_t until_ns;

	if (!is_number(words[1], &until_ns))
		refuse(client, "%s: missing deadline: " OTHER_VERSION, words[0]);
	else if (is_too_late(c, client, until_ns, words[0]))
		return;
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

/* ---- the status ---- */

static void add_daemon(struct status *to, const struct supervised *from, int64_t now_ns)
{
	const bool runs = policy_has_process(&from->policy);
	struct status_daemon *d = status_add_daemon(to, from->daemon->name);

	if (!d)
		return;
	STATUS_COPY(d->state, policy_state_name(from->policy.state));
	d->ready = from->policy.state == POLICY_READY;
	d->pid = runs ? from->child.pid : 0;
	d->spare = from->spare.child.pid;
	d->incarnation = supervised_incarnation(from);
	d->uptime_s = runs ? (double)(now_ns - from->saved.spawned_ns) / 1e9 : NAN;
	d->restarts = from->policy.restarts;
	d->adopted = from->policy.adopted;
	d->wanted = from->daemon->wanted;
	virtual_over(from->daemon, d->status, sizeof(d->status));
	if (!*d->status)
		STATUS_COPY(d->status, from->status);
	STATUS_COPY(d->last_end, from->last_end);
	STATUS_COPY(d->why, supervised_why(from));
	if (runs && from->published.there) {
		status_take_state(d, &from->published.header, &from->published.common);
		STATUS_COPY(d->refusal, events_refusal_text(&from->fault, from->published.header.incarnation));
		d->age_ms = (double)daemon_state_age_ns(&from->published, now_ns) / 1e6;
		d->rate_hz = from->published.rate_hz;
	}
}

static void add_bus(struct status *to, const struct supervisor *s, const struct links_one *one)
{
	struct status_bus *b = to->buses_n < STATUS_BUSES_MAX ? &to->buses[to->buses_n++] : NULL;

	if (!b)
		return;
	*b = (struct status_bus){ .load = NAN, .resets = (int64_t)one->resets };
	STATUS_COPY(b->name, one->bus->name);
	STATUS_COPY(b->interface, one->bus->interface);
	for (size_t i = 0; i < s->n; i++) {
		const struct daemon_state *p = &s->supervised[i].published;

		for (size_t n = 0; p->there && n < p->common.bus_count && n < MSG_BUSES; n++)
			if (!strncmp(p->common.bus[n].name, one->bus->name, MSG_NAME_SIZE))
				status_take_bus(b, &p->common.bus[n]);
	}
	if (!*b->state)
		STATUS_COPY(b->state, "unknown");
}

static void write_status(struct supervisor *s, struct json *j, int64_t now_ns)
{
	static struct status to;

	for (size_t i = 0; i < s->n; i++)
		if (s->supervised[i].daemon->alive == LAUNCH_ALIVE_STATE)
			daemon_state_update(&s->supervised[i].published, now_ns); /* as new as the level */
	estop_read(&s->estop, now_ns);
	to = (struct status){ .supervised = true,
			      .epoch = (int64_t)s->estop.epoch,
			      .pid = getpid(),
			      .uptime_s = (double)(now_ns - s->begun_ns) / 1e9,
			      .pace = virtual_pace(),
			      .behind_s = virtual_behind_s(),
			      .stopping = s->stop_ns != 0 };
	STATUS_COPY(to.robot, s->launch->name);
	STATUS_COPY(to.config, s->launch->config);
	STATUS_COPY(to.level, msg_level_word(s->estop.level));
	STATUS_COPY(to.who, s->estop.who);
	STATUS_COPY(to.why, s->estop.why);
	terminal_clean(to.who);
	terminal_clean(to.why);
	for (size_t i = 0; i < s->links.n; i++)
		add_bus(&to, s, &s->links.one[i]);
	for (size_t i = 0; i < s->n; i++) {
		const struct supervised *from = &s->supervised[i];

		add_daemon(&to, from, now_ns);
		if (from->published.there && to.channels_n < STATUS_DAEMONS_MAX) {
			struct status_channel *c = &to.channels[to.channels_n++];

			STATUS_COPY(c->name, from->daemon->channel);
			c->rate_hz = from->published.rate_hz;
			c->age_ms = (double)daemon_state_age_ns(&from->published, now_ns) / 1e6;
		}
		if (from->published.there && from->published.is_clock && !*to.clock.name) {
			status_take_clock(&to, from->daemon->name, &from->published.clock);
			to.clock.rate_hz = from->published.rate_hz;
		}
	}
	status_write(&to, j);
}

/* ---- a question ---- */

static void take_question(void *context, struct rpc_client *client, char *line, int64_t now_ns)
{
	const char *words[WORDS_MAX] = { "", "", "", "", "", "", "", "" };
	struct control *c = context;
	struct reply r;
	char *word;
	size_t n = 0;

	while (n < WORDS_MAX && (word = strsep(&line, "\t")))
		words[n++] = word;
	if (!may(c, client, words))
		return;
	if (!strcmp(words[0], "status")) {
		if (begin_reply(&r, client, true)) {
			write_status(c->s, &r.j, now_ns);
			send_reply(&r, client);
		}
		return;
	}
	peer_name(waiting_of(c, client)->user, client->uid, PASSWD);
	if (!strcmp(words[0], "raise"))
		raise_level(c, client, words + 1, now_ns);
	else
		command(c, client, words, now_ns);
}

/* ---- clients that wait ---- */

/* The supervisor decides the arm request in its own rounds. */
static void follow_arming(struct control *c, struct rpc_client *client, int64_t now_ns)
{
	const struct arming *a = &c->s->arming;
	struct reply r;

	if (arming_is_under_way(a) && rpc_next(client) == RPC_HUNG_UP)
		arming_cancel(c->s, "achctl arm does not wait any more", now_ns);
	if (arming_is_under_way(a))
		return;
	waiting_of(c, client)->arming = false;
	if (a->state == ARMING_REFUSED) {
		refuse(client, "%s", a->why.text);
	} else if (begin_reply(&r, client, true)) {
		json_uint(&r.j, "epoch", a->epoch);
		json_uint(&r.j, "taken", a->taken);
		send_reply(&r, client);
	}
}

static void follow_request(struct rpc_client *client, struct request **request, int64_t now_ns)
{
	const enum rpc_next next = rpc_next(client);
	const bool gone = next == RPC_HUNG_UP;
	struct msg_reply reply;
	struct reply r;

	if (next == RPC_MORE)
		request_cancel(*request); /* all that a client may say after its question */
	if (!gone && !request_step(*request, now_ns, &reply))
		return;
	close_request(*request);
	*request = NULL;
	if (gone) {
		rpc_drop(client);
	} else if (begin_reply(&r, client, true)) {
		write_reply(&r.j, &reply);
		send_reply(&r, client);
	}
}

size_t control_server_fds(const struct control *c, struct clock_fd fds[CONTROL_SERVER_FDS])
{
	return rpc_fds(&c->server, fds);
}

void control_server_serve(struct control *c, const struct clock_fd *fds, int64_t now_ns)
{
	rpc_serve(&c->server, fds, now_ns);
	for (int i = 0; i < RPC_CLIENTS_MAX; i++) {
		if (c->waiting[i].request)
			follow_request(&c->server.clients[i], &c->waiting[i].request, now_ns);
		else if (c->waiting[i].arming)
			follow_arming(c, &c->server.clients[i], now_ns);
	}
}
