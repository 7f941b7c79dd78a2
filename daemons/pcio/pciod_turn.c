/* pciod_turn.c: commands and questions for every module in a tick. */
#include <math.h>

#include "daemons/pcio/pciod.h"

#define FEED_NS 10000000
#define STOP_STAND_NS 300000000 /* when stopping: it is halted after that, standing or not */
#define VERIFY_AT_ONCE 16	/* questions of the verification on one bus and tick */
#define SAMPLE_LEN 6		/* of the shortest answer that is part of a sample */

int64_t pciod_feed_period_ns(const struct pciod *p)
{
	return p->settings.watchdog_ns / 4 < FEED_NS ? p->settings.watchdog_ns / 4 : FEED_NS;
}

/* ---- putting ---- */

void pciod_forgive(struct pciod *p, unsigned int bus, int64_t t_ns)
{
	for (unsigned int i = 0; i < p->joints_n; i++)
		if (p->joints[i].bus == bus)
			pciod_actuator_excuse(&p->joints[i].module.a, t_ns);
}

/* The host lives: every bus, in whatever state, as long as this runs. */
static void feed(struct pciod *p, struct drv *drv, const struct drv_orders *orders)
{
	const int64_t tick_ns = (int64_t)(orders->dt_s * 1e9);
	struct frame frame;

	pcio_encode_all(PCIO_WATCHDOG, &frame);
	for (unsigned int i = 0; i < drv_buses(drv); i++) {
		struct pciod_bus *b = &p->buses[i];

		if (b->fed_ns && orders->tick_ns - b->fed_ns < pciod_feed_period_ns(p) - tick_ns / 2)
			continue;
		if (b->heard_fed_ns && orders->now_ns - b->heard_fed_ns > p->settings.watchdog_ns / 2)
			pciod_forgive(p, i, orders->now_ns); /* before an answer reports it */
		b->fed_ns = orders->tick_ns;
		drv_send(drv, b->watchdog, &frame);
	}
}

/* 0, or as drv_ask: -EBUSY as long as the answer to the last one is waited for, or owed. */
static int ask(struct pciod *p, struct drv *drv, struct pciod_joint *j, enum pcio_send row,
	       enum pciod_question question, const struct frame *frame, bool stops, int64_t now_ns)
{
	const uint32_t tag = PCIOD_TAG((uint32_t)(j - p->joints), question);
	int status =
		stops ? drv_ask_stop(drv, j->questions[row], frame, tag) : drv_ask(drv, j->questions[row], frame, tag);

	if (!status)
		pciod_module_put(&j->module, question, now_ns);
	return status;
}

void pciod_ask_more(struct pciod *p, struct drv *drv, int64_t now_ns)
{
	struct frame frame;
	uint32_t wanted = 0;

	for (unsigned int i = 0; i < p->joints_n; i++)
		wanted |= p->joints[i].want;
	for (unsigned int q = 0; wanted >> q; q++)
		for (struct pciod_joint *j = p->joints; j < p->joints + p->joints_n; j++) {
			if (!(j->want & 1u << q))
				continue;
			pcio_encode_get(j->module.number, pciod_questions[q].parameter, &frame);
			if (ask(p, drv, j, PCIO_SEND_GET, q, &frame, false, now_ns) != -ENOSPC)
				j->want &= ~(1u << q);
		}
}

/* With state, so that the answer has the position; or without, as long as the last answer is not there. */
static void put_move(struct pciod *p, struct drv *drv, struct pciod_joint *j, const struct pciod_move *move,
		     bool with_state, int64_t now_ns)
{
	const bool current = move->motion == PCIO_CURRENT_STATE;
	const enum pciod_question question = current ? PCIOD_Q_MOVE_CURRENT : PCIOD_Q_MOVE_VELOCITY;
	struct frame frame;
	int status = -EBUSY;

	if (with_state && !pcio_encode_move(j->module.number, move->motion, move->value, &frame))
		status = ask(p, drv, j, PCIO_SEND_MOVE, question, &frame, move->stops, now_ns);
	if (status != -EBUSY) {
		j->want &= ~(uint32_t)PCIOD_Q_BIT_POSITION;
		return;
	}
	if (pcio_encode_move(j->module.number, current ? PCIO_CURRENT : PCIO_VELOCITY, move->value, &frame))
		return;
	if (move->stops)
		drv_send_stop(drv, j->sends[PCIO_SEND_MOVE], &frame);
	else
		drv_send(drv, j->sends[PCIO_SEND_MOVE], &frame);
}

static void put(struct pciod *p, struct drv *drv, struct pciod_joint *j, const struct pciod_tick_output *output,
		int64_t now_ns)
{
	struct pciod_module *m = &j->module;
	struct frame frame;

	j->want = output->ask;
	switch (output->what) {
	case PCIOD_DO_NOTHING:
		break;
	case PCIOD_DO_HALT: /* a move that it overtakes must not follow it */
		drv_cancel(drv, j->sends[PCIO_SEND_MOVE]);
		drv_cancel(drv, j->sends[PCIO_SEND_COMMAND]);
		drv_cancel(drv, j->sends[PCIO_SEND_HOME]);
		pcio_encode_command(m->number, PCIO_HALT, &frame);
		drv_send(drv, j->sends[PCIO_SEND_HALT], &frame);
		break;
	case PCIOD_DO_MOVE:
	case PCIOD_DO_STAND:
		put_move(p, drv, j, &output->move, output->what == PCIOD_DO_MOVE, now_ns);
		break;
	case PCIOD_DO_RESET:
		pcio_encode_command(m->number, PCIO_RESET, &frame);
		ask(p, drv, j, PCIO_SEND_COMMAND, PCIOD_Q_RESET, &frame, false, now_ns);
		break;
	case PCIOD_DO_HOME:
		pcio_encode_command(m->number, PCIO_HOME, &frame);
		ask(p, drv, j, PCIO_SEND_HOME, PCIOD_Q_HOME, &frame, false, now_ns);
		break;
	}
	if (output->set_config && !pcio_encode_set(m->number, PCIO_CONFIG, m->config_wanted, &frame))
		ask(p, drv, j, PCIO_SEND_COMMAND, PCIOD_Q_SET_CONFIG, &frame, false, now_ns);
}

/* ---- faults and news ---- */

/* Modules with sync-motion stop, too, only upon the clock's frame. */
static bool clock_lost(const struct pciod *p, unsigned int bus, int64_t now_ns)
{
	return p->settings.sync_motion && now_ns - p->buses[bus].clock_ns > p->settings.silent_after_ns;
}

uint32_t pciod_latches(const struct pciod *p)
{
	uint32_t latches = 0;

	for (unsigned int i = 0; i < p->joints_n; i++)
		latches |= p->joints[i].module.a.latches;
	return latches;
}

/* well: nothing else is wrong any more, so the reason is named again. */
static void report_latches(struct pciod *p, struct drv *drv, bool well, int64_t now_ns)
{
	char code[PCIOD_CODE_MAX], text[PCIOD_WORDS_MAX];

	for (unsigned int i = 0; i < p->joints_n; i++) {
		struct pciod_module *m = &p->joints[i].module;

		pciod_actuator_latch(&m->a, m->phase == PCIOD_UP && !m->wrong, m->wrong);
		if (!(m->a.latches & ~drv_latched(drv)) && !(m->a.latches && (well || !p->latch_reported)))
			continue;
		if (pciod_actuator_silent(&m->a) || !(m->known & PCIOD_Q_BIT_STATE))
			continue;
		if (!pciod_module_trouble(m, now_ns, code, text))
			pciod_module_latched(m, code, text);
		drv_latch(drv, m->a.latches, code, "%s", text);
		well = false;
		p->latch_reported = true;
	}
	drv_unlatch(drv, drv_latched(drv) & ~pciod_latches(p));
}

/* The loop reports a code once; here a changed text is reported again. */
static void report_joint(struct pciod *p, struct drv *drv, unsigned int joint, int64_t now_ns)
{
	char code[PCIOD_CODE_MAX] = "", text[PCIOD_WORDS_MAX] = "";
	struct pciod_joint *j = &p->joints[joint];

	pciod_module_trouble(&j->module, now_ns, code, text);
	if (*j->code && strcmp(code, j->code))
		drv_fault_clear(drv, joint, j->code);
	if (*code && strcmp(code, j->code))
		drv_fault(drv, joint, code, "%s", text);
	else if (*code && strcmp(text, j->text))
		drv_event(drv, MSG_SEVERITY_ERROR, code, "%s", text);
	strcpy(j->code, code);
	strcpy(j->text, text);
}

static const char *report_clock(const struct pciod *p, struct drv *drv, int64_t now_ns)
{
	static const char lost[] = "no 100#0F, for which moves wait (sync_motion): modules are halted";
	bool any = false;

	for (unsigned int i = 0; i < drv_buses(drv); i++) {
		if (!clock_lost(p, i, now_ns))
			continue;
		drv_fault(drv, DRV_ALL, "clock-lost", "%s: %s", drv_bus_name(drv, i), lost);
		any = true;
	}
	if (!any)
		drv_fault_clear(drv, DRV_ALL, "clock-lost");
	return any ? lost : NULL;
}

static void report_trouble(struct pciod *p, struct drv *drv, int64_t now_ns)
{
	const char *trouble = report_clock(p, drv, now_ns);
	const bool before = p->unwell;

	for (unsigned int i = p->joints_n; i-- > 0;) {
		report_joint(p, drv, i, now_ns);
		if (*p->joints[i].text)
			trouble = p->joints[i].text;
	}
	p->unwell = trouble;
	*p->text = 0;
	if (trouble)
		snprintf(p->text, sizeof(p->text), "%s", trouble);
	report_latches(p, drv, before && !p->unwell, now_ns);
}

static void report_news(struct pciod_joint *j, struct drv *drv, unsigned int joint)
{
	struct pciod_module *m = &j->module;
	char code[PCIOD_CODE_MAX], offset[32] = "home offset unknown";

	if (m->a.was_excused) {
		m->a.was_excused = false;
		snprintf(code, sizeof(code), "comm-cleared-%u", m->number);
		drv_event(drv, MSG_SEVERITY_INFO, code,
			  "module %u: its watchdog ran out while it was not fed; it was reset once", m->number);
	}
	if (!m->unreported)
		return;
	m->unreported = false;
	drv_ref_tighten(drv_limits(drv, joint), &m->limits);
	snprintf(code, sizeof(code), "taken-over-%u", m->number);
	if (!isnan(m->home_offset_rad))
		snprintf(offset, sizeof(offset), "home offset %.4g rad", m->home_offset_rad);
	drv_event(drv, MSG_SEVERITY_INFO, code, "module %u: found %s%s, version 0x%04X, serial %u, config 0x%08X, %s",
		  m->number,
		  m->a.found.moving   ? "moving"
		  : m->a.found.halted ? "halted"
				      : "standing",
		  m->state & PCIO_STATE_HOMED ? "" : ", not homed", m->version, m->serial, m->config, offset);
}

/* ---- a tick ---- */

static bool must_halt(const struct pciod *p, const struct drv_orders *orders, unsigned int bus)
{
	return (orders->level >= MSG_LEVEL_ESTOP && p->settings.on_estop == PCIOD_ACTION_HALT) ||
	       (p->unwell && p->settings.on_fault == PCIOD_ACTION_HALT) || clock_lost(p, bus, orders->now_ns);
}

/* Halts in these states are the driver's own: at estop, in fault and at its end, if the settings say so. */
static bool halts(const struct pciod *p, const struct msg_common *common)
{
	return common->lifecycle == MSG_LIFE_STOPPING || common->lifecycle == MSG_LIFE_DOWN ||
	       (common->lifecycle == MSG_LIFE_FAULT && p->settings.on_fault == PCIOD_ACTION_HALT) ||
	       (common->level == MSG_LEVEL_ESTOP && common->ticks && p->settings.on_estop == PCIOD_ACTION_HALT);
}

static struct pciod_actuator_before before(const struct pciod *p, const struct drv *drv, const char *joint,
					   uint32_t *state)
{
	const struct msg_joint_state *last = drv_previous(drv);
	struct pciod_actuator_before b = { .latches = drv_latched(drv) };

	for (unsigned int i = 0; last && i < last->count && i < MSG_JOINTS; i++) {
		if (strncmp(last->joint[i], joint, MSG_NAME_SIZE) != 0)
			continue;
		*state = last->state_word[i];
		b.known = *state || !isnan(last->position[i]);
		b.homed = *state & PCIO_STATE_HOMED;
		b.halted_by_us = !(b.latches & MSG_LATCH_HALTED_BY_OTHER) &&
				 (*state & PCIO_STATE_HALTED || halts(p, &last->common));
	}
	return b;
}

static void begin(struct pciod *p, const struct drv *drv, int64_t now_ns)
{
	if (p->begun)
		return;
	p->begun = true;
	for (unsigned int i = 0; i < p->joints_n; i++) {
		uint32_t state = 0;
		const struct pciod_actuator_before b = before(p, drv, p->joints[i].name, &state);
		struct pciod_module *m = &p->joints[i].module;

		pciod_module_init(m, &p->settings, m->number, state, &b, now_ns);
	}
}

/* A state is published when the samples of all modules are there; other answers have time until the next tick. */
static void await(const struct pciod *p, struct drv *drv)
{
	unsigned int answers[MSG_BUSES] = { 0 };

	for (const struct pciod_joint *j = p->joints; j < p->joints + p->joints_n; j++)
		answers[j->bus] += pciod_actuator_silent(&j->module.a) ? 0 : PCIOD_SAMPLES;
	for (unsigned int i = 0; i < drv_buses(drv); i++)
		drv_await(drv, i, answers[i], SAMPLE_LEN);
}

/* commanded: by orders->joint. */
static void turn(struct pciod *p, struct drv *drv, const struct drv_orders *orders, bool commanded)
{
	begin(p, drv, orders->now_ns);
	pciod_job_step(p, drv, orders);
	for (unsigned int i = 0; i < p->joints_n; i++) {
		struct pciod_joint *j = &p->joints[i];
		const bool halt = must_halt(p, orders, j->bus);
		const bool stood = pciod_module_stands(&j->module) || orders->now_ns - p->stop_ns > STOP_STAND_NS;
		const unsigned int share = VERIFY_AT_ONCE / p->buses[j->bus].modules;
		/* Latched, it comes to rest and is left alone, but not with its last slow velocity command. */
		const bool commanded_now = commanded && !(drv_latched(drv) && !(j->module.state & PCIO_STATE_MOVING));
		const struct pciod_tick_input input = {
			.now_ns = orders->now_ns,
			.paused_ns = drv_paused_ns(drv, j->bus, j->module.waiting_ns),
			.sample_paused_ns = drv_paused_ns(drv, j->bus, pciod_module_oldest_ns(&j->module)),
			.halt = halt || (p->stop_ns && stood),
			.resets = !halt && !p->stop_ns && !drv_latched(drv),
			.command = commanded_now ? &orders->joint[i] : NULL,
			.stand = commanded_now && orders->level >= MSG_LEVEL_ESTOP,
			.limits = drv_limits(drv, i),
			.dt_s = orders->dt_s,
			.following = orders->ref,
			.verify_max = share > 2 ? share : 2,
		};
		struct pciod_tick_output output;

		/* Also a reply that came too late, which answers nothing. */
		if (drv_heard_ns(drv, j->receive) > j->module.heard_ns)
			pciod_module_heard(&j->module, drv_heard_ns(drv, j->receive));
		pciod_module_tick(&j->module, &input, &output);
		if (j->module.a.state != PCIOD_ACTUATOR_DRIVEN)
			drv_not_driven(drv, i, j->module.a.from_rest);
		put(p, drv, j, &output, orders->now_ns);
	}
	drv_hand_over(drv); /* what moves, before what may follow */
	feed(p, drv, orders);
	pciod_ask_more(p, drv, orders->now_ns);
	await(p, drv);
	for (unsigned int i = 0; i < p->joints_n; i++)
		report_news(&p->joints[i], drv, i);
	report_trouble(p, drv, orders->now_ns);
}

enum drv_step pciod_start(void *self, struct drv *drv, const struct drv_orders *orders)
{
	struct pciod *p = self;

	turn(p, drv, orders, false);
	for (unsigned int i = 0; i < p->joints_n; i++)
		if (p->joints[i].module.phase != PCIOD_UP || pciod_actuator_resetting(&p->joints[i].module.a))
			return DRV_AGAIN;
	return p->unwell && !drv_latched(drv) ? DRV_AGAIN : DRV_DONE;
}

void pciod_tick(void *self, struct drv *drv, const struct drv_orders *orders)
{
	turn(self, drv, orders, true);
}

enum drv_step pciod_stop(void *self, struct drv *drv, const struct drv_orders *orders)
{
	struct pciod *p = self;

	if (!p->stop_ns)
		p->stop_ns = orders->now_ns;
	turn(p, drv, orders, true);
	for (unsigned int i = 0; i < p->joints_n; i++) {
		const struct pciod_module *m = &p->joints[i].module;

		if (!pciod_actuator_silent(&m->a) && !(m->known & PCIOD_Q_BIT_STATE && m->state & PCIO_STATE_HALTED))
			return DRV_AGAIN;
	}
	return DRV_DONE;
}
