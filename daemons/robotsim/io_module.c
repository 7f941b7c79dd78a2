/* io_module.c: a CAN I/O module with a stop switch as a simulated device, written from hw-docs/devices/stop.md. */
#include "daemons/robotsim/sim_base.h"
#include "daemons/stop/stopd_settings.h"

#define CONTACTS 2
#define BOUNCES 5

struct io_module {
	bool pressed; /* the switch: all contacts are open */
	bool others;  /* the bits beside those of the switch */
	uint32_t id;
	unsigned int byte, bits[CONTACTS], contacts;
	bool closed_is_0;
	int64_t period_ns, next_ns;
	bool silent, is_short;
	bool welded[CONTACTS], broken[CONTACTS]; /* closed for ever; open for ever */
	bool bounce;				 /* the contacts bounce in the next frames */
	unsigned int bounces;			 /* frames in which they have */
	uint64_t sent;
};

static const struct settings_row rows[] = {
	SETTINGS_BOOL("pressed", struct io_module, pressed, "no", "the switch: its contacts are open"),
	SETTINGS_BOOL("others", struct io_module, others, "no", "the inputs beside the switch are 1"),
	SETTINGS_END,
};

/* A stopd on lines of a computer has no module. */
static int load(struct sim *sim, const struct robot_device *device, const void *of_driver, struct error_sink *errors)
{
	const struct stopd_settings *s = of_driver;
	struct io_module module = { .id = (uint32_t)s->id | (s->extended ? FRAME_EXT : 0),
				    .byte = (unsigned int)s->byte,
				    .contacts = (unsigned int)s->bits_n,
				    .closed_is_0 = s->closed,
				    .period_ns = s->period_ns };
	const struct sim_node node = { &module, sizeof(module), 1, .hears = FRAME_STD_MASK, .sends = module.id };

	for (unsigned int i = 0; i < module.contacts; i++)
		module.bits[i] = (unsigned int)s->bits[i];
	return s->input == STOPD_FRAME ? sim_add_node(sim, device, &node, errors) : 0;
}

static void start(void *state, int64_t t_ns)
{
	struct io_module *m = state;

	m->next_ns = t_ns + m->period_ns;
}

static void frame(void *state, const struct frame *f, int64_t t_ns)
{
	(void)state;
	(void)f;
	(void)t_ns;
}

static int64_t next_ns(const void *state)
{
	return ((const struct io_module *)state)->next_ns;
}

/* Bit by bit: a contact that is closed shows the level of closed. */
static uint8_t inputs(struct io_module *m)
{
	uint8_t value = m->others ? 0xFF : 0;

	m->bounces = m->bounce ? m->bounces + 1 : 0;
	m->bounce = m->bounce && m->bounces < BOUNCES;
	for (unsigned int i = 0; i < m->contacts; i++) {
		const bool bounced = m->bounces % 2;
		const bool closed = m->welded[i] || (!m->broken[i] && m->pressed == bounced);
		const uint8_t bit = (uint8_t)(1u << m->bits[i]);

		if (closed == m->closed_is_0)
			value = (uint8_t)(value & ~bit);
		else
			value |= bit;
	}
	return value;
}

static bool send(void *state, int64_t now_ns, struct frame *f)
{
	struct io_module *m = state;

	if (!sim_base_due(&m->next_ns, m->period_ns, now_ns) || m->silent)
		return false;
	*f = (struct frame){ .id = m->id, .len = m->is_short ? (uint8_t)m->byte : 8 };
	f->data[m->byte] = m->is_short ? 0 : inputs(m);
	m->sent++;
	return true;
}

#define FAULT(word, member) SIM_FAULT(word, struct io_module, member)
static const struct sim_fault faults[] = {
	FAULT("silent", silent),    FAULT("short", is_short),	FAULT("bounce", bounce),
	FAULT("welded", welded[0]), FAULT("broken", broken[0]), { 0 },
};

static void report(void *state, struct rpc_text *to)
{
	const struct io_module *m = state;

	rpc_say(to, " pressed %s sent %llu", m->pressed ? "yes" : "no", (unsigned long long)m->sent);
}

const struct sim_kind io_module_kind = {
	SIM_DRIVER(stopd), .no_ref = true,     .bus_optional = true, .rows = rows,     .load = load,	 .start = start,
	.frame = frame,	   .next_ns = next_ns, .send = send,	     .faults = faults, .report = report,
};
