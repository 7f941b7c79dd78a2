/* stopd.c: a hardware stop input raises the e-stop while it is open or silent. */
#include <math.h>

#include "channels/client/endplate.h"
#include "daemons/drv/drv.h"
#include "daemons/stop/stop_gpio.h"
#include "daemons/stop/stopd_settings.h"

#define RETRY_NS 100000000
#define TICK_MAX_NS 10000000
_Static_assert(STOPD_CHANNELS_MAX == STOP_CHANNELS_MAX, "as many settings as channels");

struct stopd {
	struct stopd_settings settings; /* first: the loop fills them in */
	struct stop stop;
	struct stop_frame where;
	struct stop_gpio_lines lines;
	struct stop_gpio *gpio;
	int64_t retry_ns;
	bool unable; /* to open the lines: reported */
	enum stop_state state;
	bool evaluated;		    /* state is that of a tick before */
	int64_t first_ns, heard_ns; /* the first reading, and the last; 0: none */
	struct endplate *robot;
};

static bool is_gpio(const struct stopd *s)
{
	return s->settings.input == STOPD_GPIO;
}

/* ---- before the loop ---- */

static void plan_gpio(struct stopd *s, struct drv *drv, struct error_sink *errors)
{
	const struct stopd_settings *set = &s->settings;

	s->lines = (struct stop_gpio_lines){ .chip = set->chip,
					     .consumer = "stopd",
					     .channels = (unsigned int)set->lines_n,
					     .closed_is_0 = set->closed,
					     .pull = set->bias == STOPD_BIAS_UP	    ? 1
						     : set->bias == STOPD_BIAS_DOWN ? -1
										    : 0 };
	for (unsigned int i = 0; i < s->lines.channels; i++)
		s->lines.lines[i] = (unsigned int)set->lines[i];
	if (set->lines_n == 2 && set->lines[0] == set->lines[1])
		error_add(errors, "lines: two channels need two lines");
	if (drv_buses(drv))
		error_add(errors, "input: gpio needs no bus");
}

static void plan_frame(struct stopd *s, struct drv *drv, struct error_sink *errors)
{
	const struct stopd_settings *set = &s->settings;
	const struct drv_receive row = { .id = (uint32_t)set->id | (set->extended ? FRAME_EXT : 0),
					 .len_min = (uint8_t)(set->byte + 1),
					 .len_max = FRAME_DATA_MAX,
					 .period_ns = set->period_ns,
					 .from = "the I/O module" };

	s->where = (struct stop_frame){ .byte = (unsigned int)set->byte,
					.channels = (unsigned int)set->bits_n,
					.closed_is_0 = set->closed };
	for (unsigned int i = 0; i < s->where.channels; i++)
		s->where.bits[i] = (unsigned int)set->bits[i];
	if (set->bits_n == 2 && set->bits[0] == set->bits[1])
		error_add(errors, "bits: two channels need two bits");
	if (!set->extended && set->id > FRAME_STD_MASK)
		error_add(errors, "id: 0x%llx has more than 11 bits: write extended: yes", (long long)set->id);
	if (set->silent_after_ns < 2 * set->period_ns)
		error_add(errors, "silent_after: it must be at least two periods of the frame");
	if (drv_buses(drv) != 1)
		error_add(errors, "input: frame needs one bus");
	else
		drv_add_receive(drv, &row, errors);
}

static int declare(void *self, struct drv *drv, struct error_sink *errors)
{
	struct stopd *s = self;
	const struct stopd_settings *set = &s->settings;

	if (is_gpio(s))
		plan_gpio(s, drv, errors);
	else
		plan_frame(s, drv, errors);
	s->stop.rules = (struct stop_rules){ .channels = (unsigned int)(is_gpio(s) ? set->lines_n : set->bits_n),
					     .close_after_ns = set->close_after_ns,
					     .silent_after_ns = set->silent_after_ns,
					     .differ_after_ns = set->differ_after_ns };
	if (!s->stop.rules.channels)
		error_add(errors, "%s: it is empty", is_gpio(s) ? "lines" : "bits");
	if (drv_period_ns(drv) > TICK_MAX_NS)
		error_add(errors, "tick: at most 10ms, in which a lowering has to be answered");
	return errors->count ? -EINVAL : 0;
}

static int open_robot(void *self, struct drv *drv, struct error_sink *errors)
{
	struct stopd *s = self;
	const int status = endplate_open(&s->robot, NULL);

	(void)drv;
	if (status)
		error_add(errors, "%s: %s", endplate_strerror(status), endplate_errstr());
	return status;
}

static void close_all(void *self)
{
	struct stopd *s = self;

	stop_gpio_close(s->gpio);
	endplate_close(s->robot);
}

/* ---- reading ---- */

static bool rx(void *self, struct drv *drv, unsigned int row, const struct bus_frame *got)
{
	struct stopd *s = self;

	(void)drv;
	(void)row;
	s->heard_ns = got->t_ns;
	stop_read(&s->stop, stop_decode(&s->where, &got->frame), got->t_ns);
	return false;
}

/* To open the lines allocates; until they are open the e-stop is raised, so nothing waits for it. */
static void open_lines(struct stopd *s, struct drv *drv, int64_t now_ns)
{
	int status;

	if (now_ns < s->retry_ns)
		return;
	s->retry_ns = now_ns + RETRY_NS;
	status = stop_gpio_open(&s->gpio, &s->lines);
	if (status && !s->unable)
		drv_event(drv, MSG_SEVERITY_ERROR, "no-lines", "unable to open lines of %s: %s", s->settings.chip,
			  strerror(-status));
	if (!status && !stop_gpio_has_edges(s->gpio))
		drv_event(drv, MSG_SEVERITY_WARNING, "no-edges",
			  "%s reports no edges: an opening shorter than a tick is not seen", s->settings.chip);
	s->unable = status;
}

static void read_lines(struct stopd *s, struct drv *drv, int64_t now_ns)
{
	int status;

	if (!s->gpio)
		open_lines(s, drv, now_ns);
	if (!s->gpio)
		return;
	status = stop_gpio_read(s->gpio, &s->stop, now_ns);
	if (!status) {
		s->heard_ns = now_ns;
		return;
	}
	drv_event(drv, MSG_SEVERITY_ERROR, "lines-lost", "lines of %s are lost: %s", s->settings.chip,
		  strerror(-status));
	stop_gpio_close(s->gpio);
	s->gpio = NULL;
}

/* ---- in a tick ---- */

static const struct {
	const char *code, *text;
} words[] = {
	[STOP_CLOSED] = { "closed", "the stop input is closed" },
	[STOP_OPEN] = { "open", "the stop input is open" },
	[STOP_SILENT] = { "silent", "the stop input is silent" },
	[STOP_DIFFER] = { "differ", "the channels of the stop input differ: open both once" },
};

/* An open input is what it is for; the others are faults of it. */
static void report(struct stopd *s, struct drv *drv, enum stop_state before)
{
	for (int i = STOP_SILENT; i <= STOP_DIFFER; i++)
		if ((int)s->state == i)
			drv_fault(drv, DRV_ALL, words[i].code, "%s", words[i].text);
		else
			drv_fault_clear(drv, DRV_ALL, words[i].code);
	if ((s->state != before || !s->evaluated) && s->state < STOP_SILENT)
		drv_event(drv, s->state == STOP_OPEN ? MSG_SEVERITY_WARNING : MSG_SEVERITY_INFO, words[s->state].code,
			  "%s", words[s->state].text);
	s->evaluated = true;
}

/* Raised once for each level below: the loop reads the e-stop before the tick, also a level that was lowered. */
static void raise_if_lower(struct stopd *s, struct drv *drv, enum msg_level level)
{
	const enum msg_level asked = MSG_LEVEL_HOLD + (enum msg_level)s->settings.level;

	if (s->state == STOP_CLOSED || level >= asked)
		return;
	if (endplate_raise(s->robot, asked, words[s->state].text))
		drv_event(drv, MSG_SEVERITY_ERROR, "raise", "unable to raise the e-stop");
}

static void tick(void *self, struct drv *drv, const struct drv_orders *orders)
{
	struct stopd *s = self;
	const enum stop_state before = s->state;

	if (is_gpio(s))
		read_lines(s, drv, orders->now_ns);
	else if (drv_bus_dead(drv, 0))
		stop_lose(&s->stop);
	s->state = stop_evaluate(&s->stop, orders->now_ns);
	raise_if_lower(s, drv, orders->level);
	report(s, drv, before);
	drv_complete(drv);
}

/* An input that is open is there.  One that is closed counts as closed first: a robot that is armed when all are ready
 * would be stopped at once. */
static enum drv_step start(void *self, struct drv *drv, const struct drv_orders *orders)
{
	struct stopd *s = self;

	tick(self, drv, orders);
	if (!s->stop.read)
		return DRV_AGAIN;
	if (!s->first_ns)
		s->first_ns = orders->now_ns;
	return orders->now_ns - s->first_ns > s->settings.close_after_ns ? DRV_DONE : DRV_AGAIN;
}

/* A joint for each channel: state_word 1 is closed; enabled while the input as a whole is. */
static int64_t fill(void *self, struct drv *drv, void *state, int64_t now_ns)
{
	const struct stopd *s = self;
	struct msg_joint_state *to = state;

	(void)drv;
	to->count = s->stop.rules.channels;
	for (unsigned int i = 0; i < to->count; i++) {
		snprintf(to->joint[i], sizeof(to->joint[i]), "%s%u", is_gpio(s) ? "line" : "bit",
			 is_gpio(s) ? s->lines.lines[i] : s->where.bits[i]);
		to->position[i] = to->velocity[i] = to->current[i] = to->temperature[i] = NAN;
		to->age_ns[i] = s->heard_ns ? now_ns - s->heard_ns : INT64_MAX;
		to->lifecycle[i] = to->common.lifecycle;
		to->status[i] = (s->state == STOP_CLOSED ? MSG_JOINT_ENABLED : 0) |
				(s->state == STOP_SILENT ? MSG_JOINT_SILENT : 0) |
				(s->state == STOP_DIFFER ? MSG_JOINT_FAULT : 0);
		to->state_word[i] = s->stop.closed >> i & 1;
	}
	return s->heard_ns;
}

static const struct drv_driver driver = {
	.program = "stopd",
	.about = "raises the e-stop while a hardware stop input is open or silent",
	.size = sizeof(struct stopd),
	.settings = stopd_settings_rows,
	.state = msg_joint_state_number,
	.bus_optional = true,
	.outlives_buses = true,
	.opens_early = true,
	.declare = declare,
	.open = open_robot,
	.close = close_all,
	.start = start,
	.tick = tick,
	.rx = rx,
	.fill = fill,
};

int main(int argc, char **argv)
{
	return drv_main(&driver, argc, argv);
}
