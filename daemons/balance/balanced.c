/* balanced.c: keeps a robot on two wheels upright; balanced(1).
 *
 * It has no bus: it reads imu, wheels and waist through libendplate and puts currents for the wheels, every tick.
 */
#include <math.h>

#include "channels/client/endplate.h"
#include "daemons/balance/balanced_settings.h"
#include "daemons/drv/drv.h"

#define RESUME_NS 1000000000 /* a state older than this says nothing of how it stands now */

struct balanced {
	struct balanced_settings settings; /* first: the loop fills them in */
	struct balance balance;
	struct endplate *robot;
	struct endplate_device *imu, *wheels, *waist;
	struct msg_imu imu_state;
	struct msg_joint_state wheels_state, waist_state;
	int left, right, bends; /* joints; -1: not found yet */
	bool known;
	enum msg_balance was;
};

static int declare(void *self, struct drv *drv, struct error_sink *errors)
{
	struct balanced *d = self;
	struct balance_limits limits = d->settings.limits;

	(void)errors;
	limits.stand_rad = d->settings.stand_deg * M_PI / 180;
	limits.fall_rad = d->settings.fall_deg * M_PI / 180;
	balance_begin(&d->balance, &d->settings.model, &d->settings.weights, &limits,
		      (double)drv_period_ns(drv) * 1e-9);
	d->left = d->right = d->bends = -1;
	return 0;
}

/* ---- inputs ---- */

static int joint(const struct msg_joint_state *state, const char *name)
{
	for (uint32_t i = 0; i < state->count && i < MSG_JOINTS; i++)
		if (!strncmp(state->joint[i], name, sizeof(state->joint[i])))
			return (int)i;
	return -1;
}

/* A measurement counts that is newer than the last one and complete; a driver in fault may still measure. */
static bool read_new_sample(struct endplate_device *device, void *state, size_t size)
{
	const struct msg_header *header = state;
	const int64_t before_ns = header->t_sample_ns;
	struct endplate_view view;

	return !endplate_state(device, state, size, &view) && !(header->flags & MSG_FLAG_PARTIAL) &&
	       header->t_sample_ns > before_ns;
}

static void read_imu(struct balanced *d, struct estimate_imu *to)
{
	const struct msg_imu *s = &d->imu_state;

	if (!read_new_sample(d->imu, &d->imu_state, sizeof(d->imu_state)))
		return;
	*to = (struct estimate_imu){ .t_ns = s->header.t_sample_ns,
				     .forward_m_s2 = s->acceleration[0],
				     .up_m_s2 = s->acceleration[2],
				     .pitch_rate_rad_s = s->rate[1] };
	to->is_new = isfinite(to->forward_m_s2) && isfinite(to->up_m_s2) && isfinite(to->pitch_rate_rad_s);
}

static void read_wheels(struct balanced *d, struct estimate_wheels *to)
{
	const struct msg_joint_state *s = &d->wheels_state;

	if (!read_new_sample(d->wheels, &d->wheels_state, sizeof(d->wheels_state)))
		return;
	d->left = joint(s, "left");
	d->right = joint(s, "right");
	if (d->left < 0 || d->right < 0)
		return;
	to->t_ns = s->header.t_sample_ns;
	to->is_new = true;
	for (int i = 0; i < 2; i++) {
		const int j = i ? d->right : d->left;

		to->position_rad[i] = s->position[j];
		to->velocity_rad_s[i] = s->velocity[j];
		to->current_a[i] = s->current[j];
		to->is_new &= isfinite(s->position[j]) && isfinite(s->velocity[j]) && isfinite(s->current[j]);
	}
}

/* A module that has lost its power counts from anywhere: its last angle is better. */
static void read_waist(struct balanced *d, struct estimate_waist *to)
{
	const struct msg_joint_state *s = &d->waist_state;

	if (!read_new_sample(d->waist, &d->waist_state, sizeof(d->waist_state)))
		return;
	d->bends = joint(s, d->settings.waist_joint);
	if (d->bends < 0 || s->common.latches & MSG_LATCH_POSITION_UNKNOWN || !(s->status[d->bends] & MSG_JOINT_HOMED))
		return;
	*to = (struct estimate_waist){ .t_ns = s->header.t_sample_ns,
				       .position_rad = d->settings.waist_sign * s->position[d->bends],
				       .velocity_rad_s = d->settings.waist_sign * s->velocity[d->bends] };
	to->is_new = isfinite(to->position_rad) && isfinite(to->velocity_rad_s);
}

/* ---- ticks ---- */

static int open_devices(struct balanced *d)
{
	const struct balanced_settings *s = &d->settings;
	int status = endplate_open(&d->robot, NULL);

	if (!status)
		status = endplate_device_open(d->robot, s->imu, msg_imu_number, &d->imu);
	if (!status)
		status = endplate_device_open(d->robot, s->wheels, msg_joint_state_number, &d->wheels);
	if (!status)
		status = endplate_device_open(d->robot, s->waist, msg_joint_state_number, &d->waist);
	return status;
}

static void drive_wheels(struct balanced *d)
{
	struct msg_joint_ref ref = { .count = d->wheels_state.count };

	if (d->left < 0 || d->right < 0)
		return;
	ref.mode[d->left] = ref.mode[d->right] = MSG_MODE_CURRENT;
	ref.current[d->left] = d->balance.current_a[0];
	ref.current[d->right] = d->balance.current_a[1];
	/* Drives that are disarmed, in fault or restarting refuse it; their own driver reports that. */
	endplate_put(d->wheels, &ref, sizeof(ref), d->settings.valid_ns);
}

static void report_mode(struct balanced *d, struct drv *drv)
{
	const struct estimate *e = &d->balance.estimate;

	if (d->balance.mode == MSG_BALANCE_FALLEN)
		drv_fault(drv, DRV_ALL, "fallen", "%s, lean %.0f deg: no current",
			  e->imu == MSG_INPUT_LOST ? "the IMU is lost" : "it leans too far", e->lean_rad * 180 / M_PI);
	else
		drv_fault_clear(drv, DRV_ALL, "fallen");
	d->was = d->balance.mode;
}

static void balance(struct balanced *d, struct drv *drv, const struct drv_orders *orders)
{
	const struct msg_balance_ref *ref = orders->ref;
	const struct balance_orders wanted = {
		.armed = orders->armed,
		.speed_m_s = ref ? ref->speed : 0,
		.turn_rad_s = ref ? ref->turn_rate : 0,
	};
	struct estimate_inputs inputs = { 0 };

	read_imu(d, &inputs.imu);
	read_wheels(d, &inputs.wheels);
	read_waist(d, &inputs.waist);
	d->known = balance_tick(&d->balance, &inputs, &wanted, orders->dt_s, orders->now_ns);
	if (d->known && d->settings.stands && orders->armed && d->balance.mode == MSG_BALANCE_OFF)
		balance_stand(&d->balance);
	if (d->balance.mode != d->was)
		report_mode(d, drv);
	if (d->balance.mode != MSG_BALANCE_OFF && d->balance.mode != MSG_BALANCE_FALLEN)
		drive_wheels(d);
	drv_complete(drv);
}

/* A robot that stood goes on standing, from the first tick on. */
static enum drv_step start(void *self, struct drv *drv, const struct drv_orders *orders)
{
	const struct msg_balance_state *last = drv_previous(drv);
	struct balanced *d = self;

	if (!d->robot) {
		const int status = open_devices(d);

		if (status) {
			drv_fault(drv, DRV_ALL, "no-robot", "%s", endplate_strerror(status));
			return DRV_AGAIN;
		}
		if (last && orders->now_ns - last->header.t_publish_ns < RESUME_NS)
			balance_resume(&d->balance, last);
		d->was = d->balance.mode;
	}
	balance(d, drv, orders);
	return d->known ? DRV_DONE : DRV_AGAIN;
}

static void tick(void *self, struct drv *drv, const struct drv_orders *orders)
{
	balance(self, drv, orders);
}

static int64_t fill(void *self, struct drv *drv, void *state, int64_t now_ns)
{
	const struct balanced *d = self;
	const struct balance *b = &d->balance;
	const struct estimate *e = &b->estimate;
	struct msg_balance_state *s = state;

	(void)drv;
	s->mode = b->mode;
	if (!d->known)
		return 0;
	s->imu = e->imu;
	s->wheels = e->wheels;
	s->waist = e->waist;
	s->pitch = e->pitch_rad;
	s->pitch_rate = e->pitch_rate_rad_s;
	s->rate_bias = e->bias_rad_s;
	s->lean = e->lean_rad;
	s->lean_rate = e->lean_rate_rad_s;
	s->travel = e->wheel_rad * b->model.wheel_radius_m;
	s->speed = e->wheel_rate_rad_s * b->model.wheel_radius_m;
	s->heading = e->heading_rad;
	s->turn_rate = e->turn_rate_rad_s;
	s->waist_position = e->waist_rad;
	s->waist_velocity = e->waist_rate_rad_s;
	s->speed_ref = b->speed_ref_m_s;
	s->turn_rate_ref = b->turn_ref_rad_s;
	s->current[0] = b->current_a[0];
	s->current[1] = b->current_a[1];
	s->age_ns = now_ns - e->at.t_ns;
	return e->at.t_ns;
}

/* ---- requests ---- */

static const struct drv_verb verbs[] = {
	{ .verb = MSG_VERB_ACTIVATE },
	{ .verb = MSG_VERB_SET },
	{ .verb = MSG_VERB_CLEAR },
	{ 0 },
};

static int refuse(struct drv *drv, const char *why)
{
	if (!why)
		return 0;
	return drv_refuse(drv, -EPERM, "%s", why);
}

static int request(void *self, struct drv *drv, uint32_t handle, const struct msg_request *request, int64_t now_ns)
{
	struct balanced *d = self;

	(void)handle;
	(void)now_ns;
	if (request->verb == MSG_VERB_CLEAR) {
		if (d->balance.mode == MSG_BALANCE_FALLEN)
			d->balance.mode = MSG_BALANCE_OFF;
		return 0;
	}
	if (request->verb == MSG_VERB_ACTIVATE || (!strcmp(request->key, "mode") && !strcmp(request->value, "stand")))
		return refuse(drv, balance_stand(&d->balance));
	if (!strcmp(request->key, "mode") && !strcmp(request->value, "sit"))
		return refuse(drv, balance_sit(&d->balance));
	return drv_refuse(drv, -EINVAL, "%s %s: write mode stand, or mode sit", request->key, request->value);
}

static const struct drv_driver driver = {
	.program = "balanced",
	.about = "keeps a robot on two wheels upright",
	.size = sizeof(struct balanced),
	.settings = balanced_settings_rows,
	.tick_preset = "clock",
	.state = msg_balance_state_number,
	.ref = msg_balance_ref_number,
	.no_bus = true,
	.declare = declare,
	.start = start,
	.tick = tick,
	.fill = fill,
	.verbs = verbs,
	.request = request,
};

int main(int argc, char **argv)
{
	return drv_main(&driver, argc, argv);
}
