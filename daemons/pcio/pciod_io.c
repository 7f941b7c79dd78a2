/* pciod_io.c: what arrives from the modules, and what is published of it. */
#include <math.h>

#include "daemons/pcio/pciod.h"

#define MODULE_MASK 0x1Fu

/* ---- what arrives ---- */

static struct pciod_joint *joint_of(struct pciod *p, unsigned int bus, const struct frame *frame)
{
	const uint8_t joint = p->buses[bus].joint[frame_id(frame) & MODULE_MASK];

	return joint && p->begun ? &p->joints[joint - 1] : NULL;
}

static bool complete(const struct pciod *p)
{
	for (unsigned int i = 0; i < p->joints_n; i++)
		if ((p->joints[i].module.fresh & PCIOD_SAMPLE) != PCIOD_SAMPLE)
			return false;
	return true;
}

static void report_news(const struct pciod_module *m, struct drv *drv, enum pciod_news news)
{
	char code[PCIOD_CODE_MAX];

	if (news == PCIOD_NEWS_NONE)
		return;
	snprintf(code, sizeof(code), "%s-%u", news == PCIOD_NEWS_ODD ? "odd" : "refused", m->number);
	drv_event(drv, MSG_SEVERITY_WARNING, code, "module %u %s", m->number,
		  news == PCIOD_NEWS_ODD ? "answered with an invalid value" : "refused a move (ack_ok)");
}

bool pciod_answer(void *self, struct drv *drv, const struct drv_ask_answer *answer, const struct bus_frame *reply)
{
	struct pciod *p = self;
	struct pciod_module *m = &p->joints[answer->tag >> 8].module;
	const enum pciod_question question = answer->tag & 0xFF;

	if (!reply) {
		pciod_module_unanswered(m, question, answer->asked_ns);
		return false;
	}
	report_news(m, drv, pciod_module_answer(m, question, &reply->frame, answer->asked_ns, reply->t_ns));
	return complete(p);
}

bool pciod_rx(void *self, struct drv *drv, unsigned int row, const struct bus_frame *got)
{
	const unsigned int bus = drv_row_bus(drv, row);
	struct pciod *p = self;
	struct pciod_joint *j;

	if (frame_id(&got->frame) == PCIO_ID_ALL) {
		if (got->frame.len && got->frame.data[0] == PCIO_START)
			p->buses[bus].clock_ns = got->t_ns;
		return false;
	}
	j = joint_of(p, bus, &got->frame);
	if (j)
		report_news(&j->module, drv, pciod_module_stray(&j->module, &got->frame, got->t_ns));
	return false;
}

static int bus_of(const struct pciod *p, unsigned int send)
{
	for (unsigned int i = 0; i < p->joints_n; i++)
		for (unsigned int row = 0; row < PCIO_SENDS; row++)
			if (p->joints[i].sends[row] == send)
				return (int)p->joints[i].bus;
	return -1;
}

static bool is_reset(const struct pciod_joint *j, unsigned int send, const struct frame *frame)
{
	return send == j->sends[PCIO_SEND_COMMAND] && frame->data[0] == PCIO_RESET;
}

void pciod_sent(void *self, struct drv *drv, unsigned int send, const struct frame *frame, int64_t t_ns)
{
	struct pciod *p = self;
	const int bus = bus_of(p, send);
	struct pciod_bus *b;
	struct pciod_joint *j;

	if (bus < 0)
		return;
	b = &p->buses[bus];
	if (frame_id(frame) == PCIO_ID_ALL) {
		if (b->heard_fed_ns && t_ns - b->heard_fed_ns > p->settings.watchdog_ns / 2)
			pciod_forgive(p, (unsigned int)bus, t_ns);
		b->heard_fed_ns = t_ns;
		return;
	}
	j = joint_of(p, (unsigned int)bus, frame);
	if (j && send == j->sends[PCIO_SEND_HALT])
		j->module.a.halt_ns = t_ns;
	if (j && is_reset(j, send, frame))
		pciod_module_reset_sent(&j->module, t_ns);
	pciod_ask_more(p, drv, t_ns);
}

void pciod_lost(void *self, struct drv *drv, unsigned int send, const struct frame *frame)
{
	struct pciod *p = self;
	const int bus = bus_of(p, send);
	struct pciod_joint *j = bus < 0 ? NULL : joint_of(p, (unsigned int)bus, frame);

	(void)drv;
	if (j && is_reset(j, send, frame))
		pciod_module_event(&j->module, PCIOD_ACTUATOR_ON_RESET_LOST, j->module.a.state_ns);
}

/* ---- what is published ---- */

int64_t pciod_fill(void *self, struct drv *drv, void *state, int64_t now_ns)
{
	const struct pciod *p = self;
	struct msg_joint_state *s = state;
	int64_t oldest_ns = 0;

	(void)drv;
	s->count = p->joints_n;
	for (unsigned int i = 0; i < p->joints_n; i++) {
		const struct pciod_module *m = &p->joints[i].module;
		const int64_t t_ns = p->begun ? pciod_module_oldest_ns(m) : 0;

		memcpy(s->joint[i], p->joints[i].name, sizeof(s->joint[i]));
		s->position[i] = p->begun ? m->position_rad : NAN;
		s->velocity[i] = p->begun ? m->velocity_rad_s : NAN;
		s->current[i] = p->begun ? m->current_a : NAN;
		s->temperature[i] = NAN;
		s->age_ns[i] = t_ns ? now_ns - t_ns : INT64_MAX;
		s->status[i] = pciod_module_status(m);
		s->state_word[i] = m->state;
		if (t_ns && (!oldest_ns || t_ns < oldest_ns))
			oldest_ns = t_ns;
	}
	return oldest_ns;
}
