/* hubo-legacyd.c: lets clients of hubo-ach move and see a Hubo that hubod drives. */
#include "channels/ach/ach.h"
#include "channels/client/endplate.h"
#include "channels/msg/msg.h"
#include "daemons/drv/drv.h"
#include "daemons/drv/drv_unheard.h"
#include "daemons/hubo/legacy.h"

#define SILENT "silent" /* the fault */
#define SOURCE "hubo-ach"
#define VALID_TICKS 4
#define LOOK_NS 1000000000
#define PUT_NS 2000000

struct legacyd_settings {
	char output[MSG_NAME_SIZE];
	int64_t ref_ms;
	bool state;
};

#define ROW(TYPE, key, ...) SETTINGS_##TYPE(key, struct legacyd_settings, __VA_ARGS__)
static const struct settings_row rows[] = {
	ROW(TEXT, "output", output, SETTINGS_REQUIRED, "the device that hubod drives; not hubo"),
	ROW(INT, "legacy_ref_ms", ref_ms, "ms", "0", "0", "60000",
	    "how long a reference in hubo-ref counts; 0: none is taken"),
	ROW(BOOL, "legacy_state", state, "no", "publish hubo-state"),
	SETTINGS_END,
};

/* What the driver publishes beside its state. */
static const struct other {
	const char *suffix;
	enum msg_number type;
	unsigned int place; /* in ft, or in imu */
} others[] = {
	{ "rhft", msg_ft_number, 0 },  { "lhft", msg_ft_number, 1 },	   { "rfft", msg_ft_number, 2 },
	{ "lfft", msg_ft_number, 3 },  { "rtilt", msg_imu_number, 0 },	   { "ltilt", msg_imu_number, 1 },
	{ "imu0", msg_imu_number, 2 }, { "power", msg_battery_number, 0 },
};
#define OTHERS (sizeof(others) / sizeof(*others))

struct legacyd {
	struct legacyd_settings settings; /* first: the loop fills them in */
	unsigned int input, inputs[OTHERS];
	ach_channel_t out; /* hubo-state: not a message of ours */
	bool out_open;
	int64_t look_ns; /* when to look whether it was removed */
	struct endplate *robot;
	struct endplate_device *output;
	struct endplate_view view;
	bool seen;
	struct msg_joint_state state; /* of the output */
	struct legacy_joint joints[HUBO_JOINTS];
	struct legacy_ref ref;
	struct legacy_state old; /* in upstream's layout */
	uint64_t taken, refused;
	int64_t taken_ns; /* the reference; 0: none */
	union {
		struct msg_ft ft;
		struct msg_imu imu;
		struct msg_battery battery;
	} got;
};

/* ---- before the loop ---- */

static int declare(void *self, struct drv *drv, struct error_sink *errors)
{
	struct legacyd *l = self;
	const struct robot *robot = drv_robot(drv);
	const struct robot_device *device = robot ? robot_device(robot, l->settings.output) : NULL;
	char channel[3 * MSG_NAME_SIZE];

	if (!strcmp(l->settings.output, "hubo"))
		return error_refuse(errors, -EINVAL,
				    "output: the channels of a device hubo have the names of hubo-ach's: call the "
				    "device body");
	if (robot && !device)
		return error_refuse(errors, -EINVAL, "output: there is no device %s in the robot file",
				    l->settings.output);
	for (int i = 0; i < HUBO_JOINTS; i++) {
		const char *name = hubo_joint_name(i);
		const enum hubo_limb limb = hubo_joint_limb(i);

		l->joints[i].finger = name && (limb == HUBO_LHAND || limb == HUBO_RHAND);
		l->joints[i].current_a = name && device ? robot_limits(device, name)->current : 0;
	}
	if (l->settings.ref_ms)
		l->input = (unsigned int)drv_add_input(drv, LEGACY_REF_CHANNEL, msg_joint_ref_number, errors);
	if (l->settings.state) {
		drv_add_output(drv, LEGACY_STATE_CHANNEL, msg_joint_state_number, errors);
		for (unsigned int i = 0; i < OTHERS; i++) {
			snprintf(channel, sizeof(channel), "%s-%s", l->settings.output, others[i].suffix);
			l->inputs[i] = (unsigned int)drv_add_input(drv, channel, others[i].type, errors);
		}
	}
	return errors->count ? -EINVAL : 0;
}

/* The loop has made it. */
static void open_out(struct legacyd *l, int64_t now_ns)
{
	const struct timespec patience = { .tv_nsec = PUT_NS };
	const char *prefix = getenv("ENDPLATE_PREFIX");
	int unlinked = 0;
	ach_attr_t attr;
	char full[128];

	if (now_ns < l->look_ns)
		return;
	l->look_ns = now_ns + LOOK_NS;
	if (l->out_open && (ach_unlinked(&l->out, &unlinked) != ACH_OK || unlinked)) {
		ach_close(&l->out);
		l->out_open = false;
	}
	if (l->out_open)
		return;
	snprintf(full, sizeof(full), "%s%s", prefix ? prefix : "", LEGACY_STATE_CHANNEL);
	ach_attr_init(&attr);
	ach_attr_set_put_timeout(&attr, &patience);
	l->out_open = ach_open(&l->out, full, &attr) == ACH_OK;
}

static int open_all(void *self, struct drv *drv, struct error_sink *errors)
{
	struct legacyd *l = self;
	int status = endplate_open(&l->robot, NULL);

	(void)drv;
	if (!status)
		status = endplate_device_open(l->robot, l->settings.output, msg_joint_state_number, &l->output);
	if (status)
		error_add(errors, "%s: %s", endplate_strerror(status), endplate_errstr());
	return status;
}

static void close_all(void *self)
{
	struct legacyd *l = self;

	endplate_close(l->robot);
	if (l->out_open)
		ach_close(&l->out);
}

/* ---- references ---- */

static void take(struct legacyd *l, struct drv *drv, int64_t now_ns)
{
	union {
		struct legacy_ref ref;
		uint8_t bytes[sizeof(struct msg_joint_ref)];
	} got;
	const size_t len = drv_newest(drv, l->input, &got, sizeof(got));

	if (!len)
		return;
	if (len != sizeof(got.ref) || legacy_check(&got.ref, l->joints)) {
		l->refused++;
		return;
	}
	l->taken++;
	l->taken_ns = now_ns;
	l->ref = got.ref;
}

/* A client of hubo-ach puts a reference once, and expects that it lasts; the driver gets one in each tick. */
static void refer(struct legacyd *l, struct drv *drv, const struct drv_orders *orders)
{
	const bool counts = l->taken_ns && orders->now_ns - l->taken_ns <= l->settings.ref_ms * 1000000;
	struct msg_joint_ref ref = { .count = 0 };

	if (!counts || !l->view.follows) {
		l->taken_ns = counts ? l->taken_ns : 0;
		for (int i = 0; i < HUBO_JOINTS; i++)
			l->joints[i].begun = false;
		return;
	}
	legacy_refer(&ref, &l->ref, l->joints, &l->state, orders->dt_s);
	endplate_put(l->output, &ref, sizeof(ref), VALID_TICKS * drv_period_ns(drv));
}

/* ---- states ---- */

static void publish(struct legacyd *l, struct drv *drv, int64_t now_ns)
{
	for (unsigned int i = 0; i < OTHERS; i++) {
		const size_t len = drv_newest(drv, l->inputs[i], &l->got, sizeof(l->got));

		if (!len || msg_check(&l->got, len, msg_type_by_number(others[i].type), NULL) != MSG_FINE)
			continue;
		if (others[i].type == msg_ft_number)
			legacy_force(&l->old, others[i].place, &l->got.ft);
		else if (others[i].type == msg_imu_number)
			legacy_incline(&l->old, others[i].place, &l->got.imu);
		else
			legacy_power(&l->old, &l->got.battery);
	}
	legacy_joints(&l->old, &l->state, l->taken_ns ? &l->ref : NULL);
	l->old.ref_wait = !l->view.follows;
	open_out(l, now_ns);
	if (l->out_open)
		ach_put(&l->out, &l->old, sizeof(l->old));
}

/* ---- in a tick ---- */

static void tick(void *self, struct drv *drv, const struct drv_orders *orders)
{
	struct legacyd *l = self;
	bool missing;

	missing = endplate_state(l->output, &l->state, sizeof(l->state), &l->view) || l->state.count != HUBO_JOINTS;
	l->seen = !missing && !(l->view.doubts & ENDPLATE_SILENT);
	if (l->seen)
		drv_fault_clear(drv, DRV_ALL, SILENT);
	else if (missing || unheard(drv, &l->view))
		drv_fault(drv, DRV_ALL, SILENT, "%s publishes no state of a Hubo", l->settings.output);
	drv_complete(drv);
	if (!l->seen)
		return;
	for (int i = 0; i < HUBO_JOINTS; i++)
		l->joints[i].active = l->state.lifecycle[i] != MSG_LIFE_DOWN;
	if (l->settings.ref_ms) {
		take(l, drv, orders->now_ns);
		refer(l, drv, orders);
	}
	if (l->settings.state)
		publish(l, drv, orders->now_ns);
}

static enum drv_step start(void *self, struct drv *drv, const struct drv_orders *orders)
{
	tick(self, drv, orders);
	return ((struct legacyd *)self)->seen ? DRV_DONE : DRV_AGAIN;
}

static int64_t fill(void *self, struct drv *drv, void *state, int64_t now_ns)
{
	const struct legacyd *l = self;
	struct msg_mux_state *s = state;

	(void)drv;
	memcpy(s->output, l->settings.output, sizeof(s->output));
	snprintf(s->source[0], sizeof(s->source[0]), "%s", SOURCE);
	snprintf(s->in_charge, sizeof(s->in_charge), "%s", l->taken_ns ? SOURCE : "");
	s->source_count = 1;
	s->state[0] = l->taken_ns ? MSG_SOURCE_IN_CHARGE : l->taken ? MSG_SOURCE_STALE : MSG_SOURCE_ABSENT;
	s->age_ns[0] = l->taken_ns ? now_ns - l->taken_ns : INT64_MAX;
	s->taken[0] = l->taken;
	s->refused[0] = l->refused;
	return l->seen ? now_ns : 0;
}

static const struct drv_driver driver = {
	.program = "hubo-legacyd",
	.about = "lets clients of hubo-ach move and see a Hubo",
	.size = sizeof(struct legacyd),
	.settings = rows,
	.tick_preset = "clock",
	.state = msg_mux_state_number,
	.no_bus = true,
	.declare = declare,
	.open = open_all,
	.close = close_all,
	.start = start,
	.tick = tick,
	.fill = fill,
};

int main(int argc, char **argv)
{
	return drv_main(&driver, argc, argv);
}
