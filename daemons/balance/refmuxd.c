/* refmuxd.c: several sources of references for one device. */
#include "channels/clock/vt_clock.h"
#include "channels/msg/msg.h"
#include "config/base/base.h"
#include "daemons/drv/drv_output.h"
#include "daemons/drv/drv_refused.h"
#include "daemons/drv/refmux.h"

/* ---- settings ---- */

struct refmuxd_settings {
	char output[MSG_NAME_SIZE], sources[200];
	int type;
};

static const struct {
	enum msg_number state, ref;
} types[] = { { msg_joint_state_number, msg_joint_ref_number },
	      { msg_gripper_state_number, msg_gripper_ref_number },
	      { msg_balance_state_number, msg_balance_ref_number } };
static const char *const type_words[] = { "joint", "gripper", "balance", NULL };
_Static_assert(sizeof(type_words) / sizeof(*type_words) == sizeof(types) / sizeof(*types) + 1, "a word for each type");

static const char *sources_form(const char *text)
{
	return refmux_sources(NULL, text);
}

#define ROW(TYPE, key, ...) SETTINGS_##TYPE(key, struct refmuxd_settings, __VA_ARGS__)
static const struct settings_row rows[] = {
	ROW(TEXT, "output", output, SETTINGS_REQUIRED, "the device that gets the references", .check = text_name_form),
	ROW(TEXT, "sources", sources, SETTINGS_REQUIRED, "[joy:50ms, control]: names by priority, time-outs",
	    .check = sources_form, .joined = true),
	ROW(WORD, "type", type, type_words, "joint", "of the references"),
	SETTINGS_END,
};

struct refmuxd {
	struct refmuxd_settings settings; /* first: the loop fills them in */
	struct refmux mux;
	struct ref_layout layout;
	struct drv_output output;
	struct msg_device_info info; /* of the device; header.type 0: not known */
	int in_charge;
	union {
		struct msg_joint_state joints;
		struct msg_gripper_state gripper;
		struct msg_balance_state balance;
	} state;
};

static size_t size_of(enum msg_number number)
{
	return msg_type_by_number(number)->body->size;
}

/* ---- before the loop ---- */

static int declare(void *self, struct drv *drv, struct error_sink *errors)
{
	struct refmuxd *m = self;
	const enum msg_number ref = types[m->settings.type].ref;
	char channel[3 * MSG_NAME_SIZE];

	m->output.name = m->settings.output;
	m->output.source = "none";
	drv_output_declare(&m->output, drv, "output", errors);
	refmux_sources(&m->mux, m->settings.sources);
	m->mux.by_joint = ref == msg_joint_ref_number;
	m->in_charge = REFMUX_NONE;
	ref_layout(&m->layout, msg_type_by_number(ref));
	for (unsigned int i = 0; i < m->mux.n; i++) {
		snprintf(channel, sizeof(channel), "%s.%s-ref", m->settings.output, m->mux.sources[i].name);
		drv_add_input(drv, channel, ref, errors);
	}
	return errors->count ? -EINVAL : 0;
}

static int open_output(void *self, struct drv *drv, struct error_sink *errors)
{
	struct refmuxd *m = self;

	(void)drv;
	return drv_output_open(&m->output, types[m->settings.type].state, errors);
}

static void close_output(void *self)
{
	endplate_close(((struct refmuxd *)self)->output.robot);
}

/* ---- in a tick ---- */

/* Tried once for each incarnation: the driver puts it before its first state. */
static void read_info(struct refmuxd *m)
{
	if (endplate_device_info(m->output.device, &m->info))
		memset(&m->info, 0, sizeof(m->info));
	m->info.header.incarnation = m->output.view.incarnation;
}

static void read_driver_state(struct refmuxd *m, struct drv *drv)
{
	uint32_t count = 0;

	drv_output_read(&m->output, drv, &m->state, size_of(types[m->settings.type].state));
	if (!m->output.seen)
		return;
	if (m->info.header.incarnation != m->output.view.incarnation)
		read_info(m);
	if (m->mux.by_joint)
		count = m->state.joints.count;
	else if (types[m->settings.type].state == msg_gripper_state_number)
		count = m->state.gripper.count;
	refmux_output(&m->mux, m->output.view.incarnation, count);
}

/* The longest validity that the driver takes, unless the time-out of the source makes it shorter. */
static int64_t max_ahead_ns(const struct refmuxd *m, const struct refmux_source *source)
{
	const int64_t valid_max_ns = m->info.header.type ? m->info.valid_max_ns : ENDPLATE_VALID_MAX_NS;
	const bool shorter = source->timeout_ns && source->timeout_ns <= valid_max_ns;

	return shorter ? ENDPLATE_VALID_MAX_NS : valid_max_ns;
}

static void take_sources(struct refmuxd *m, struct drv *drv, int64_t now_ns)
{
	struct ref_rules rules = { .layout = &m->layout,
				   .count = m->mux.count,
				   .incarnation = m->mux.incarnation,
				   .machine_ns = vt_clock_machine_ns(),
				   .joints = m->info.header.type ? m->info.joint : NULL };
	union refmux_ref ref;

	for (unsigned int i = 0; i < m->mux.n; i++) {
		const size_t len = drv_newest(drv, i, &ref, sizeof(ref));
		enum ref_verdict verdict;

		if (!len)
			continue;
		rules.max_ahead_ns = max_ahead_ns(m, &m->mux.sources[i]);
		verdict = ref_take(&ref, len, &rules, now_ns);
		refmux_take(&m->mux, i, verdict == REF_TAKEN ? &ref : NULL, now_ns);
		if (verdict != REF_TAKEN)
			drv_refused(drv, m->mux.sources[i].name, verdict, &ref, len, &rules, now_ns);
	}
}

static void put(struct refmuxd *m, struct drv *drv, union refmux_ref *ref, int64_t now_ns)
{
	const int status = endplate_put(m->output.device, ref, size_of(types[m->settings.type].ref),
					ref->header.valid_until_ns - now_ns);

	if (status == -EACCES || status == -EIO || status == -ETIMEDOUT || drv_output_is_wrong(status))
		drv_event(drv, MSG_SEVERITY_WARNING, "put", "%s", endplate_errstr());
}

static void report(struct refmuxd *m, struct drv *drv)
{
	if (m->mux.in_charge == m->in_charge)
		return;
	m->in_charge = m->mux.in_charge;
	drv_event(drv, MSG_SEVERITY_INFO, "in-charge", "%s moves %s",
		  m->in_charge == REFMUX_NONE ? "no source" : m->mux.sources[m->in_charge].name, m->settings.output);
}

static void tick(void *self, struct drv *drv, const struct drv_orders *orders)
{
	struct refmuxd *m = self;
	union refmux_ref ref;

	read_driver_state(m, drv);
	if (m->output.seen)
		take_sources(m, drv, orders->now_ns);
	if (refmux_choose(&m->mux, &ref, orders->now_ns, drv_period_ns(drv)) && m->output.seen)
		put(m, drv, &ref, orders->now_ns);
	report(m, drv);
	drv_complete(drv);
}

static enum drv_step start(void *self, struct drv *drv, const struct drv_orders *orders)
{
	tick(self, drv, orders);
	return drv_output_step(&((struct refmuxd *)self)->output);
}

static int64_t fill(void *self, struct drv *drv, void *state, int64_t now_ns)
{
	const struct refmuxd *m = self;
	struct msg_mux_state *s = state;

	(void)drv;
	memcpy(s->output, m->settings.output, sizeof(s->output));
	memset(s->in_charge, 0, sizeof(s->in_charge));
	if (m->mux.in_charge != REFMUX_NONE)
		memcpy(s->in_charge, m->mux.sources[m->mux.in_charge].name, sizeof(s->in_charge));
	s->handovers = m->mux.handovers;
	s->source_count = m->mux.n;
	for (unsigned int i = 0; i < m->mux.n; i++) {
		const struct refmux_source *source = &m->mux.sources[i];

		memcpy(s->source[i], source->name, sizeof(s->source[i]));
		s->state[i] = source->state;
		s->age_ns[i] = source->newest_ns ? now_ns - source->newest_ns : INT64_MAX;
		s->taken[i] = source->taken;
		s->refused[i] = source->refused;
	}
	s->joint_count = m->mux.by_joint ? m->mux.count : 0;
	memcpy(s->author, m->mux.author, sizeof(s->author));
	return m->output.seen ? now_ns : 0;
}

static const struct drv_driver driver = {
	.program = "refmuxd",
	.about = "passes on the references of several sources to one device, by priority",
	.size = sizeof(struct refmuxd),
	.settings = rows,
	.tick_preset = "clock",
	.state = msg_mux_state_number,
	.no_bus = true,
	.opens_early = true,
	.declare = declare,
	.open = open_output,
	.close = close_output,
	.start = start,
	.tick = tick,
	.fill = fill,
};

int main(int argc, char **argv)
{
	return drv_main(&driver, argc, argv);
}
