/* drv_read.c: reads the channels of a driver: e-stop, requests, reference, clock.  Checked: covered. */
#include "channels/clock/vt_clock.h"
#include "daemons/drv/drv_inside.h"
#include "daemons/drv/drv_refused.h"

#define MESSAGES_MAX 64 /* read of one channel in one tick: as many as it holds */
#define LOOK_NS 1000000000

/* ---- the e-stop ---- */

static void report_level(struct drv *drv, enum msg_level before)
{
	static const char *const codes[] = { "level-run", "level-hold", "level-estop" }; /* none holds another back */
	const struct estop *e = &drv->estop;

	drv_event(drv, e->level > before ? MSG_SEVERITY_WARNING : MSG_SEVERITY_INFO, codes[e->level],
		  "level %s, epoch %llu%s%s%s%s", msg_level_word(e->level), (unsigned long long)e->epoch,
		  *e->who ? ", " : "", e->who, *e->why ? ": " : "", e->why);
}

bool drv_read_estop(struct drv *drv, int64_t now_ns)
{
	const enum msg_level before = drv->estop.level;
	const uint64_t base = drv->estop.rule.kept.base;

	estop_read(&drv->estop, now_ns);
	drv->estop_ns = now_ns;
	if (drv->estop.level != before)
		report_level(drv, before);
	if (drv->estop.invalid != drv->estop_invalid)
		drv_event(drv, MSG_SEVERITY_WARNING, "estop-invalid", "%s", drv->estop.invalid_why);
	drv->estop_invalid = drv->estop.invalid;
	return drv->estop.level != before || drv->estop.rule.kept.base != base;
}

bool drv_armed(const struct drv *drv)
{
	return drv->estop.level == MSG_LEVEL_RUN || (drv->estop.level == MSG_LEVEL_HOLD && drv->setup.balance);
}

/* ---- requests ---- */

static const struct drv_verb *verb_of(const struct drv *drv, enum msg_verb verb)
{
	for (const struct drv_verb *row = drv->driver->verbs; row && row->verb != MSG_VERB_NONE; row++)
		if (row->verb == verb)
			return row;
	return NULL;
}

static int not_supported(struct drv *drv, enum msg_verb verb)
{
	if (!*drv->why)
		drv_why(drv,
			verb == MSG_VERB_GET   ? "%s has no setting of that name"
			: verb == MSG_VERB_SET ? "%s cannot change that while it runs"
					       : "%s does not do that",
			drv->driver->program);
	return -EOPNOTSUPP;
}

static int refuse_motion(struct drv *drv)
{
	if (!drv->up)
		drv_why(drv, "not ready: the device is %s", drv_fault_device(drv) ? "in fault" : "starting");
	else if (!drv_armed(drv))
		drv_why(drv, "not armed: nothing moves at level %s",
			drv->estop.level == MSG_LEVEL_HOLD ? "hold" : "estop");
	else if (!drv_latch_refuses(drv))
		return 0;
	return -EPERM;
}

/* Before the driver has begun: 0, or -errno with drv_why. */
static int refuse(struct drv *drv, const struct drv_verb *row, const struct msg_request *request, int64_t now_ns)
{
	const bool moves = row->moves || row->verb == MSG_VERB_HOME || row->verb == MSG_VERB_ACTIVATE;
	int result;

	if (request->header.valid_until_ns && now_ns > request->header.valid_until_ns)
		return drv_refuse(drv, -ETIMEDOUT, "its deadline passed before it was read");
	result = moves ? refuse_motion(drv) : 0;
	if (!result && row->exclusive && drv_request_exclusive(&drv->requests)) {
		drv_why(drv, "another %s is under way", moves ? "motion" : "request");
		result = -EBUSY;
	}
	return result;
}

static int do_request(struct drv *drv, uint32_t handle, const struct msg_request *request, char value[MSG_TEXT_SIZE],
		      int64_t now_ns)
{
	const struct drv_verb *row = verb_of(drv, request->verb);
	int result;

	*drv->why = *value = 0;
	if (request->verb == MSG_VERB_GET && settings_text(&drv->setup.loop, request->key, value, MSG_TEXT_SIZE) >= 0)
		return 0;
	result = row ? refuse(drv, row, request, now_ns) : 0;
	if (result)
		return result;
	result = row ? drv->driver->request(drv->self, drv, handle, request, now_ns) : -EOPNOTSUPP;
	if (result == -EOPNOTSUPP && request->verb == MSG_VERB_CLEAR && drv->latches)
		result = drv_latch_clear(drv);
	if (result == -EOPNOTSUPP)
		return not_supported(drv, request->verb);
	if (result == DRV_LATER && row->exclusive)
		drv_request_set_exclusive(&drv->requests, handle);
	if (!result)
		snprintf(value, MSG_TEXT_SIZE, "%s", drv->why);
	return result;
}

static void cancel(struct drv *drv, uint32_t handle, int why, const char *words)
{
	*drv->why = 0;
	if (drv->driver->cancel && !drv->driver->cancel(drv->self, drv, handle, why))
		drv_reply(drv, handle, why, "%s", *drv->why ? drv->why : words);
}

void drv_expire_requests(struct drv *drv, int64_t now_ns)
{
	uint32_t handle;

	while ((handle = drv_request_expired(&drv->requests, now_ns)))
		cancel(drv, handle, -ETIMEDOUT, "its deadline has passed");
}

static void take_request(struct drv *drv, const struct msg_request *request, int64_t now_ns)
{
	char value[MSG_TEXT_SIZE];
	struct msg_reply reply;
	uint32_t handle;
	int result;

	switch (drv_request_take(&drv->requests, request, &reply)) {
	case DRV_REQUEST_NEW:
		handle = drv_request_handle(&drv->requests, &reply);
		result = do_request(drv, handle, request, value, now_ns);
		if (result != DRV_LATER)
			drv_answer(drv, &reply, result, result ? drv->why : "", value);
		break;
	case DRV_REQUEST_CANCEL:
		cancel(drv, drv_request_handle(&drv->requests, &reply), -ECANCELED, "cancelled");
		break;
	case DRV_REQUEST_AGAIN:
	case DRV_REQUEST_WRONG:
		drv_queue_reply(drv, &reply);
		break;
	case DRV_REQUEST_OPEN:
		break;
	}
}

void drv_read_requests(struct drv *drv, int64_t now_ns)
{
	size_t len;

	for (int i = 0; i < MESSAGES_MAX; i++) {
		const enum port_got got = port_next(&drv->req_port, &drv->scratch, sizeof(drv->scratch), &len);

		if (got == PORT_NONE || got == PORT_BROKEN)
			return;
		if (got == PORT_MISSED)
			drv_event(drv, MSG_SEVERITY_WARNING, "requests-lost",
				  "requests came faster than they are read");
		if (msg_check(&drv->scratch, len, drv->req_port.type, NULL) != MSG_FINE)
			continue;
		drv->scratch.request.key[MSG_NAME_SIZE - 1] = drv->scratch.request.value[MSG_TEXT_SIZE - 1] = 0;
		take_request(drv, &drv->scratch.request, now_ns);
	}
}

/* Replies of the previous process, from the reply channel: a repeated request gets the same reply again. */
static void recall_answers(struct drv *drv)
{
	struct msg_reply reply;
	size_t len;

	for (int i = 0; i < MESSAGES_MAX; i++) {
		const enum port_got got = port_next(&drv->rep_port, &drv->scratch, sizeof(drv->scratch), &len);
		const struct msg_reply *old = &drv->scratch.reply;
		const struct msg_request was = { .id = old->id, .client_pid = old->client_pid, .verb = MSG_VERB_GET };

		if (got == PORT_NONE || got == PORT_BROKEN)
			return;
		if (msg_check(old, len, drv->rep_port.type, NULL) == MSG_FINE &&
		    drv_request_take(&drv->requests, &was, &reply) == DRV_REQUEST_NEW)
			drv_request_done(&drv->requests, &reply, old->result, old->error, old->value);
	}
}

/* The age of these requests is unknown: a restarted driver must not home because a client asked its predecessor. */
void drv_pass_requests(struct drv *drv)
{
	struct msg_reply reply;
	size_t len;

	recall_answers(drv);
	for (int i = 0; i < MESSAGES_MAX; i++) {
		const enum port_got got = port_next(&drv->req_port, &drv->scratch, sizeof(drv->scratch), &len);

		if (got == PORT_NONE || got == PORT_BROKEN)
			return;
		if (msg_check(&drv->scratch, len, drv->req_port.type, NULL) == MSG_FINE &&
		    drv_request_take(&drv->requests, &drv->scratch.request, &reply) == DRV_REQUEST_NEW)
			drv_answer(drv, &reply, -ESTALE, "asked before this driver was there: ask again", "");
	}
	ach_flush(&drv->req_port.chan); /* a channel that was made larger than ours holds more */
}

/* ---- reference and clock ---- */

/* Its writer may not know of the virtual clock: the younger of the two ages is meant. */
static int64_t age_of(const struct msg_header *h, const struct ref_rules *rules, int64_t now_ns)
{
	int64_t age_ns, other_ns;

	if (h->t_publish_ns <= 0)
		return 0;
	age_ns = now_ns - h->t_publish_ns;
	other_ns = rules->machine_ns - h->t_publish_ns;
	return rules->machine_ns && other_ns >= 0 && other_ns < age_ns ? other_ns : age_ns;
}

void drv_refused(struct drv *drv, const char *channel, enum ref_verdict verdict, const void *msg, size_t len,
		 const struct ref_rules *rules, int64_t now_ns)
{
	char text[MSG_TEXT_SIZE];
	struct msg_header h = { 0 };
	int64_t age_ns;

	memcpy(&h, msg, len < sizeof(h) ? len : sizeof(h));
	age_ns = age_of(&h, rules, now_ns);
	if (age_ns >= now_ns - drv->since_ns)
		return;
	if (verdict == REF_PAST && drv_paused_ns(drv, DRV_CHANNEL, now_ns - age_ns) >= now_ns - h.valid_until_ns)
		return;
	ref_refusal_by(text, sizeof(text), verdict, msg, len, rules, now_ns);
	drv_event(drv, MSG_SEVERITY_WARNING, REF_REFUSED, "%s%s%s", channel ? channel : "", channel ? ": " : "", text);
}

bool drv_read_ref(struct drv *drv, int64_t now_ns)
{
	const struct ref_rules rules = {
		.layout = &drv->ref_layout,
		.joints = drv->joints,
		.count = drv->joints_n,
		.incarnation = drv->incarnation,
		.any_incarnation = drv->setup.any_incarnation,
		.max_ahead_ns = drv->setup.ref_max_ns,
		.machine_ns = vt_clock_machine_ns(),
	};
	union drv_message *next = &drv->refs[!drv->ref];
	enum ref_verdict verdict;
	enum port_got got;
	size_t len;

	if (!drv->driver->ref)
		return false;
	if (drv->parts)
		return drv_parts_read(drv, &rules, now_ns);
	got = port_newest(&drv->ref_port, next, sizeof(*next), &len);
	if (got == PORT_NONE || got == PORT_BROKEN)
		return false;
	verdict = ref_take(next, len, &rules, now_ns);
	ref_count(&drv->state.state.common, verdict);
	if (verdict == REF_TAKEN) {
		drv->ref = !drv->ref;
		drv->ref_there = true;
	} else {
		drv_refused(drv, NULL, verdict, next, len, &rules, now_ns);
	}
	return verdict == REF_TAKEN;
}

void drv_read_clock(struct drv *drv, int64_t now_ns)
{
	const struct msg_clock *clock = &drv->scratch.clock;
	size_t len;

	if (drv->setup.rule.kind != DRV_TICK_CLOCK)
		return;
	port_newest(&drv->clock_port, &drv->scratch, sizeof(drv->scratch), &len); /* 0: there is none */
	if (msg_check(&drv->scratch, len, drv->clock_port.type, NULL) != MSG_FINE ||
	    !drv_tick_has_period(&drv->tick, clock->period_ns))
		return;
	drv->clock_cycle = clock->cycle;
	drv->clock_cycle_ns = clock->t_cycle_ns;
	drv->clock_period_ns = clock->period_ns;
	/* The frame shows better than the channel when the cycle began for the devices. */
	if (!drv->clock_frame_ns || now_ns - drv->clock_frame_ns > 2 * drv->tick.period_ns)
		drv_tick_clock(&drv->tick, clock->cycle, clock->t_cycle_ns, clock->period_ns, now_ns);
}

static void renew_claims(struct drv *drv, int64_t now_ns)
{
	char line[ERROR_LINE_MAX] = "";
	struct error_sink errors = { error_keep_last, line, 0 };

	if (now_ns < drv->claims_look_ns)
		return;
	drv->claims_look_ns = now_ns + LOOK_NS;
	if (claim_renew(&drv->claimed, &errors) < 0)
		drv_event(drv, MSG_SEVERITY_ERROR, "claim-lost", "%s", line);
}

void drv_reopen_ports(struct drv *drv, int64_t now_ns)
{
	struct port *part;

	renew_claims(drv, now_ns);
	port_reopen(&drv->state_port, now_ns, LOOK_NS);
	port_reopen(&drv->rep_port, now_ns, LOOK_NS);
	if (port_reopen(&drv->req_port, now_ns, LOOK_NS))
		drv_pass_requests(drv);
	port_reopen(&drv->report.port, now_ns, LOOK_NS);
	port_reopen(&drv->info_port, now_ns, LOOK_NS);
	for (unsigned int i = 0; drv_parts_info(drv, i, &part); i++)
		port_reopen(part, now_ns, LOOK_NS);
	if (drv->driver->ref && port_reopen(&drv->ref_port, now_ns, LOOK_NS))
		drv_wake_by_ref(drv);
	if (drv->setup.rule.kind == DRV_TICK_CLOCK)
		port_reopen(&drv->clock_port, now_ns, LOOK_NS);
	for (unsigned int i = 0; i < drv->outputs_n; i++)
		port_reopen(&drv->output_ports[i], now_ns, LOOK_NS);
	for (unsigned int i = 0; i < drv->inputs_n; i++)
		port_reopen(&drv->input_ports[i], now_ns, LOOK_NS);
}
