/* web_action.c: actions that go through achstart. */
#include "channels/port/request.h"
#include "launch/achweb/web_action.h"
#include "launch/view/member.h"

#define ARM_NS 3000000000
#define READY_NS 10000000000	    /* until a daemon is ready again */
#define REPLY_NS 10000000000	    /* for the reply of a driver, */
#define REPLY_MOTION_NS 60000000000 /* and to home */
#define STEP_NS 20000000
#define UNKNOWN_NS 2000000000 /* to wait after a user database that does not answer */

void web_action_finish(struct web_actions *acts, struct web_action *a, bool ok, const char *fmt, ...)
{
	const uint64_t client = a->client;
	char text[WEB_ACTION_TEXT_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	utf8_clean(text);
	if (a->asking)
		control_call_end(&a->ask);
	memset(a, 0, sizeof(*a));
	acts->done(acts->to, client, ok, text);
}

/* ---- asking achstart ---- */

static void ask(struct web_actions *acts, struct web_action *a, const char *const *words, int64_t within_ns,
		int64_t now_ns)
{
	const int64_t most_ns = CONTROL_CALL_WITHIN_NS - CONTROL_CALL_GRACE_NS; /* later achstart does not do it */
	struct lines why;
	const int status = control_call_begin(
		&a->ask, words, clock_now_ns() + (within_ns < most_ns ? within_ns : most_ns), lines_begin(&why));

	a->asking = !status;
	a->until_ns = now_ns + within_ns;
	if (a->asking)
		return;
	if (a->order.kind == POST_BODY_ARM && !control_call_did_not_arrive(status))
		web_action_stop_arming(acts, a, why.text, now_ns);
	else
		web_action_finish(acts, a, false, "%s", why.text);
}

static void ask_driver(struct web_actions *acts, struct web_action *a, const char *verb, int64_t within_ns,
		       int64_t now_ns)
{
	a->driver = true;
	ask(acts, a, (const char *const[]){ "request", a->order.name, verb, "", "", NULL }, within_ns, now_ns);
}

static void ask_daemon(struct web_actions *acts, struct web_action *a, const char *verb, int64_t now_ns)
{
	ask(acts, a, (const char *const[]){ verb, a->order.name, NULL }, READY_NS, now_ns);
}

/* ---- arm ---- */

static void ask_to_arm(struct web_actions *acts, struct web_action *a, int64_t now_ns)
{
	struct control_call_arm arm;

	ask(acts, a, control_call_arm(&arm, a->who, &a->order.seen), a->until_ns - now_ns, now_ns);
}

static void begin_arming(struct web_actions *acts, struct web_action *a, int64_t now_ns)
{
	robot_view_examine(acts->view, now_ns);
	for (size_t i = 0; i < acts->view->doctor.n; i++) {
		const struct doctor_finding *f = &acts->view->doctor.at[i];

		if (f->verdict != DOCTOR_FAIL)
			continue;
		web_action_finish(acts, a, false, "refused: %s: %s%s%s", f->part, f->found, *f->mend ? ": " : "",
				  f->mend);
		return;
	}
	a->until_ns = now_ns + ARM_NS;
	ask_to_arm(acts, a, now_ns);
}

static void armed(struct web_actions *acts, struct web_action *a, int64_t now_ns)
{
	const struct yaml_node *root = yaml_root(a->ask.doc), *node;
	int64_t epoch = 0, taken = 0;

	/* Only copies of what the person had seen: asked again with the numbers behind them. */
	if (!a->ask.ok && now_ns < a->until_ns && robot_level_only_copied(&acts->view->estop, &a->order.seen)) {
		control_call_end(&a->ask);
		ask_to_arm(acts, a, now_ns);
		return;
	}
	if (!a->ask.ok) {
		web_action_finish(acts, a, false, "refused: %s", a->ask.error);
		return;
	}
	if ((node = yaml_find(root, "epoch")))
		yaml_int(node, &epoch);
	if ((node = yaml_find(root, "taken")))
		yaml_int(node, &taken);
	web_action_finish(acts, a, true, "armed: level run, epoch %lld, by %s; taken by %lld driver%s",
			  (long long)epoch, a->who, (long long)taken, taken == 1 ? "" : "s");
}

/* ---- a daemon ---- */

static void begin_clearing(struct web_actions *acts, struct web_action *a, const struct status_daemon *d,
			   int64_t now_ns)
{
	if (d && !strcmp(d->state, "failed"))
		ask_daemon(acts, a, "clear", now_ns);
	else if (d && !strcmp(d->state, "stopped"))
		web_action_finish(acts, a, false, "%s is stopped: there is nothing to clear", d->name);
	else
		ask_driver(acts, a, "clear", REPLY_NS, now_ns);
}

static void replied(struct web_actions *acts, struct web_action *a)
{
	struct msg_reply reply;

	if (!a->ask.ok) {
		web_action_finish(acts, a, false, "refused: %s", a->ask.error);
		return;
	}
	control_call_reply(&a->ask, &reply);
	if (reply.result)
		web_action_finish(acts, a, false, "refused: %s: %s", a->order.name,
				  *reply.error ? reply.error : strerror(-reply.result));
	else
		web_action_finish(acts, a, true, "%s: %s: %s", a->order.name, post_body_words[a->order.kind],
				  *reply.value ? reply.value : "done");
}

/* Is it ready, in another process than before a restart?  By an answer of achstart that is newer than the command. */
static void check_daemon(struct web_actions *acts, struct web_action *a, int64_t now_ns)
{
	const struct status_daemon *d = status_find_daemon(&acts->view->status, a->order.name);
	const bool fresh = !acts->view->achstart.away && acts->view->answers > a->answers + 1;

	if (fresh && d && d->ready && d->pid != a->before && !(d->age_ms / 1e3 > d->uptime_s))
		web_action_finish(acts, a, true, "%s: %s%s%s, process %lld, incarnation %lld", d->name, d->state,
				  *d->life ? ", " : "", d->life, (long long)d->pid, (long long)d->incarnation);
	else if (fresh && d && !strcmp(d->state, "failed"))
		web_action_finish(acts, a, false, "%s: not started: %s", d->name, *d->why ? d->why : d->last_end);
	else if (now_ns >= a->until_ns)
		web_action_finish(acts, a, false, "%s: not ready within %g s", a->order.name, READY_NS / 1e9);
}

/* ---- all ---- */

static void answered(struct web_actions *acts, struct web_action *a, int64_t now_ns)
{
	if (a->order.kind == POST_BODY_ARM) {
		armed(acts, a, now_ns);
	} else if (a->driver) {
		replied(acts, a);
	} else if (!a->ask.ok) {
		web_action_finish(acts, a, false, "refused: %s", a->ask.error);
	} else {
		control_call_end(&a->ask);
		a->asking = false;
		a->answers = acts->view->answers;
	}
}

static void step(struct web_actions *acts, struct web_action *a, int64_t now_ns)
{
	struct lines why;
	int status;

	if (!a->asking) {
		check_daemon(acts, a, now_ns);
		return;
	}
	status = control_call_step(&a->ask, lines_begin(&why));
	if (status > 0) {
		answered(acts, a, now_ns);
	} else if (status || now_ns >= a->until_ns) {
		if (!status)
			error_add(&why.sink, "no answer from achstart");
		if (a->order.kind == POST_BODY_ARM)
			web_action_stop_arming(acts, a, why.text, now_ns);
		else
			web_action_finish(acts, a, false, "%s%s", why.text,
					  a->order.kind == POST_BODY_HOME
						  ? "; a motion that has begun goes on: stop ends it"
						  : "");
	}
}

static void begin(struct web_actions *acts, struct web_action *a, int64_t now_ns)
{
	const struct status_daemon *d = status_find_daemon(&acts->view->status, a->order.name);

	switch (a->order.kind) {
	case POST_BODY_ARM:
		begin_arming(acts, a, now_ns);
		break;
	case POST_BODY_HOME:
		ask_driver(acts, a, "home", REPLY_MOTION_NS, now_ns);
		break;
	case POST_BODY_CLEAR:
		a->before = -1;
		begin_clearing(acts, a, d, now_ns);
		break;
	default:
		a->before = d ? d->pid : -1;
		ask_daemon(acts, a, "restart", now_ns);
	}
}

/* Why that user may not act, or NULL. */
static const char *refusal(struct web_actions *acts, uid_t uid, int64_t now_ns)
{
	const bool ask = now_ns >= acts->unknown_ns;
	const int may = ask ? member_may_arm(acts->arming, uid) : -ETIMEDOUT;

	if (may > 0)
		return NULL;
	if (!may)
		return "refused: your user may not act any more: the user database does not list him in the group "
		       "that may";
	if (ask)
		acts->unknown_ns = now_ns + UNKNOWN_NS;
	return "refused: the user database does not say whether you may act: try again in two seconds";
}

void web_action_begin(struct web_actions *acts, const struct post_body *order, uint64_t client,
		      struct web_action_person person, int64_t now_ns)
{
	const char *why;

	if (order->kind == POST_BODY_STOP) {
		web_action_stop_begin(acts, order->level, client, person.who, now_ns);
		return;
	}
	why = refusal(acts, person.uid, now_ns);
	if (why) {
		acts->done(acts->to, client, false, why);
		return;
	}
	for (size_t i = 0; i < WEB_ACTION_SLOTS; i++) {
		struct web_action *a = &acts->acts[i];

		if (a->client)
			continue;
		*a = (struct web_action){ .client = client, .order = *order };
		snprintf(a->who, sizeof(a->who), "%s", person.who);
		begin(acts, a, now_ns);
		return;
	}
	acts->done(acts->to, client, false, "too many actions are under way: try again");
}

int64_t web_action_step(struct web_actions *acts, int64_t now_ns)
{
	int64_t next_ns = web_action_stop_step(acts, now_ns);

	for (size_t i = 0; i < WEB_ACTION_SLOTS; i++) {
		if (acts->acts[i].client)
			step(acts, &acts->acts[i], now_ns);
		if (acts->acts[i].client && now_ns + STEP_NS < next_ns)
			next_ns = now_ns + STEP_NS;
	}
	return next_ns;
}

void web_action_close(struct web_actions *acts)
{
	web_action_stop_close(acts);
	for (size_t i = 0; i < WEB_ACTION_SLOTS; i++)
		if (acts->acts[i].client && acts->acts[i].asking)
			control_call_end(&acts->acts[i].ask);
}
