/* robotiqd.c: drives a Robotiq 3-finger gripper over CANopen; robotiqd(1), hw-docs/devices/robotiq.md. */
#include "config/base/base.h"
#include "daemons/robotiq/robotiqd.h"

#include "can/canopen/nmt.h"
#include "can/canopen/sdo.h"
#include "daemons/drv/drv_missed.h"

#define TAKE_OVER_NS 200000000 /* no reference is valid for longer: until then a predecessor's may be renewed */
#define SEEN_NS 100000000

/* ---- what is declared ---- */

static void check(const struct robotiqd_settings *s, struct error_sink *errors)
{
	if (s->upload != ROBOTIQ_UPLOAD && s->upload != ROBOTIQ_UPLOAD_OTHER)
		error_add(errors, "upload: it must be 0x40 or 0x4F");
	if (s->position_min > s->position_max)
		error_add(errors, "position_min: it is above position_max");
}

static int declare(void *self, struct drv *drv, struct error_sink *errors)
{
	struct robotiqd *d = self;
	const struct robotiqd_settings *s = &d->settings;
	const uint32_t node = (uint32_t)s->node;
	const struct slots_row sdo = { .id = SDO_ID_REQUEST + node,
				       .class = SLOTS_QUEUE,
				       .key = { 0xFF, 0xFF, 0xFF, 0xFF },
				       .deadline_ns = s->reply_late_ns };
	struct drv_send send = { .row = sdo, .len = 8 };
	struct drv_receive get = { .id = SDO_ID_REPLY + node, .len_min = 8, .len_max = 8 };
	struct drv_question question = { .send = ROBOTIQD_SEND_READ,
					 .receive = ROBOTIQD_GOT_SDO,
					 .echo = { { 1, 1, 0xFF }, { 2, 2, 0xFF }, { 3, 3, 0xFF } },
					 .exclusive = true,
					 .late_ns = s->reply_late_ns,
					 .lost_ns = 2 * s->reply_late_ns,
					 .tries = 1 };

	d->seen_ns = drv_period_ns(drv) + SEEN_NS;
	check(s, errors);
	send.row.harmless = true;
	drv_add_send(drv, &send, errors);
	send.row.harmless = false;
	send.moves = true;
	drv_add_send(drv, &send, errors);
	send = (struct drv_send){ .row = { .id = NMT_ID_COMMAND,
					   .class = SLOTS_COMMAND,
					   .key = { 0xFF, 0xFF },
					   .deadline_ns = s->reply_late_ns },
				  .len = 2,
				  .shared = true };
	drv_add_send(drv, &send, errors);
	drv_add_receive(drv, &get, errors);
	get = (struct drv_receive){ .id = NMT_ID + node, .len_min = 1, .len_max = 1 };
	drv_add_receive(drv, &get, errors);
	drv_add_question(drv, &question, errors);
	question.send = ROBOTIQD_SEND_WRITE;
	question.exclusive = false; /* one whose reply is lost does not keep a stop back */
	drv_add_question(drv, &question, errors);
	if (!s->pdo)
		return errors->count ? -EINVAL : 0;
	send = (struct drv_send){ .row = { .id = ROBOTIQ_ID_RPDO1 + node,
					   .class = SLOTS_LATEST,
					   .period_ns = drv_period_ns(drv),
					   .deadline_ns = drv_period_ns(drv) },
				  .len = ROBOTIQ_PDO_LEN,
				  .moves = true };
	drv_add_send(drv, &send, errors);
	get = (struct drv_receive){ .id = ROBOTIQ_ID_TPDO1 + node, .len_min = 8, .len_max = 8 };
	drv_add_receive(drv, &get, errors);
	get.id = ROBOTIQ_ID_TPDO2 + node;
	drv_add_receive(drv, &get, errors);
	return errors->count ? -EINVAL : 0;
}

/* ---- references ---- */

static double clamp(double value, double min, double max)
{
	return value < min ? min : value > max ? max : value;
}

/* 0, or -EINVAL: not followed, and why is reported. */
static int target_of(const struct robotiqd *d, struct drv *drv, const struct msg_gripper_ref *ref,
		     struct robotiq_command *c)
{
	const struct robotiqd_settings *s = &d->settings;
	const unsigned int n = robotiqd_fingers(d);

	*c = (struct robotiq_command){ .active = true, .go = true, .mode = d->got.mode, .scissor = s->scissor };
	if (!robotiqd_is_activated(d)) {
		drv_event(drv, MSG_SEVERITY_WARNING, "not-activated", "not activated: no reference is followed");
		return -EINVAL;
	}
	if (ref->count != n || ref->grip != d->got.mode) {
		drv_event(drv, MSG_SEVERITY_WARNING, "other-reference",
			  "a reference for %u fingers in mode %s is not followed: %u fingers, mode %s", ref->count,
			  robotiqd_modes[ref->grip], n, robotiqd_modes[d->got.mode]);
		return -EINVAL;
	}
	for (unsigned int i = 0; i < n; i++) {
		if (robotiq_share(ref->position[i], &c->finger[i].position) ||
		    robotiq_share(ref->speed[i], &c->finger[i].speed) ||
		    robotiq_share(ref->force[i], &c->finger[i].force)) {
			drv_event(drv, MSG_SEVERITY_WARNING, "out-of-range",
				  "a reference with a value outside 0 to 1 is not followed");
			return -EINVAL;
		}
		robotiq_share(clamp(ref->position[i], s->position_min, s->position_max), &c->finger[i].position);
		robotiq_share(clamp(ref->speed[i], 0, s->speed_max), &c->finger[i].speed);
		robotiq_share(clamp(ref->force[i], 0, s->force_max), &c->finger[i].force);
		/* Equal values for A, B and C are a grasp, which finger A's registers command. */
		c->fingers |= i && i < ROBOTIQ_SCISSOR && memcmp(&c->finger[i], &c->finger[0], sizeof(c->finger[0]));
	}
	return 0;
}

/* Without a reference, once.  A grip that has been made is kept: the fingers stand, and what they were last commanded
 * has been seen by them. */
static void rest(struct robotiqd *d)
{
	const bool stands =
		robotiqd_is_settled(d) && !robotiqd_next_write(d) && !(d->got.go && d->got.motion == ROBOTIQ_MOVING);

	d->following = false;
	if (d->settings.on_expiry == ROBOTIQD_KEEP && stands)
		d->wanted = 0;
	else
		robotiqd_want_rest(d);
}

/* ---- ticks ---- */

static void watch_silence(struct robotiqd *d, struct drv *drv, int64_t now_ns)
{
	const bool silent = drv_missed_ms(drv, d->got_ns, d->since_ns, d->settings.silent_after_ns, now_ns);

	if (silent)
		drv_fault(drv, DRV_ALL, "no-image", "the gripper's registers cannot be read: %s",
			  *d->wrong ? d->wrong : "nothing is received");
	d->nmt_due |= silent && now_ns - d->nmt_ns > ROBOTIQD_AGAIN_NS;
	if (d->refused_ns && now_ns - d->refused_ns > ROBOTIQD_AGAIN_NS) {
		drv_fault_clear(drv, DRV_ALL, "not-written");
		d->refused_ns = 0;
		d->writes_failed = 0;
	}
}

static void start_node(struct robotiqd *d, struct drv *drv, int64_t now_ns)
{
	struct frame frame;

	if (!d->nmt_due)
		return;
	nmt_command(&frame, NMT_START, (unsigned int)d->settings.node);
	d->nmt_due = drv_send(drv, ROBOTIQD_SEND_NMT, &frame);
	d->nmt_ns = now_ns;
}

static void at_estop(struct robotiqd *d, struct drv *drv)
{
	if (d->job != ROBOTIQD_NO_JOB && d->only_resets)
		return;
	d->following = false;
	d->releasing |= d->may_release && robotiqd_is_activated(d);
	d->may_release = false;
	if (d->job != ROBOTIQD_NO_JOB)
		robotiqd_job_abort(d, drv, -ECANCELED, "e-stop");
	else if (d->releasing)
		robotiqd_want_only(d, &(struct robotiq_command){ .active = true, .mode = d->got.mode, .release = true },
				   true);
	else if (d->got.active)
		robotiqd_want_rest(d);
	else
		d->wanted = 0;
}

static void decide(struct robotiqd *d, struct drv *drv, const struct drv_orders *orders)
{
	struct robotiq_command command;

	if (orders->level == MSG_LEVEL_ESTOP) {
		at_estop(d, drv);
		return;
	}
	/* Not for a level that was estop when this process began: an object may have been held through a restart. */
	d->may_release = d->settings.on_estop == ROBOTIQD_ESTOP_RELEASE;
	d->releasing = false;
	if (d->job != ROBOTIQD_NO_JOB) {
		if (!orders->armed && !d->only_resets)
			robotiqd_job_abort(d, drv, -ECANCELED, "not armed any more");
		else if (orders->now_ns - d->job_ns > d->settings.activate_ns)
			robotiqd_job_abort(d, drv, -ETIMEDOUT, "it took longer than activate_within");
	} else if (orders->ref && !target_of(d, drv, orders->ref, &command)) {
		d->following = true;
		d->take_over_ns = 0;
		robotiqd_want_target(d, &command);
	} else if (d->following && orders->now_ns >= d->take_over_ns) {
		rest(d);
	}
}

static void begin(struct robotiqd *d, struct drv *drv, const struct drv_orders *orders)
{
	const struct msg_gripper_state *before = drv_previous(drv);

	d->begun = d->following = true; /* a reference from before this start, perhaps */
	d->since_ns = orders->now_ns;
	d->take_over_ns = orders->now_ns + TAKE_OVER_NS;
	d->written_ns = orders->now_ns - d->settings.refresh_ns;
	d->was_activated = before && before->activated;
}

static void turn(struct robotiqd *d, struct drv *drv, const struct drv_orders *orders)
{
	d->waits = false;
	d->armed = orders->armed;
	d->due |= orders->now_ns - d->image_begun_ns >= d->settings.refresh_ns;
	watch_silence(d, drv, orders->now_ns);
	start_node(d, drv, orders->now_ns);
	robotiqd_go_on(d, drv, orders->now_ns);
}

/* An activated gripper was started by the process before: it is left as it is. */
static enum drv_step start(void *self, struct drv *drv, const struct drv_orders *orders)
{
	struct robotiqd *d = self;

	if (!d->begun)
		begin(d, drv, orders);
	if (d->settings.pdo && !d->got_ns && orders->now_ns - d->since_ns > TAKE_OVER_NS && !d->nmt_ns)
		d->nmt_due = true; /* one that is operational would have been heard */
	if (!d->got_ns) {
		turn(d, drv, orders);
		return DRV_AGAIN;
	}
	d->nmt_due |= !d->got.active && !d->nmt_ns;
	decide(d, drv, orders);
	turn(d, drv, orders);
	return DRV_DONE;
}

static void tick(void *self, struct drv *drv, const struct drv_orders *orders)
{
	decide(self, drv, orders);
	turn(self, drv, orders);
}

static enum drv_step stop(void *self, struct drv *drv, const struct drv_orders *orders)
{
	struct robotiqd *d = self;

	if (!d->got_ns)
		return DRV_DONE;
	if (d->job != ROBOTIQD_NO_JOB)
		robotiqd_job_abort(d, drv, -ECANCELED, "the driver ends");
	else if (d->following)
		rest(d);
	turn(d, drv, orders);
	return robotiqd_next_write(d) || d->busy ? DRV_AGAIN : DRV_DONE;
}

static int64_t fill(void *self, struct drv *drv, void *state, int64_t now_ns)
{
	const struct robotiqd *d = self;
	struct msg_gripper_state *s = state;

	(void)drv;
	s->count = robotiqd_fingers(d);
	if (!d->got_ns)
		return 0;
	s->grip = d->got.mode;
	s->activated = robotiqd_is_activated(d);
	s->status = d->status;
	for (unsigned int i = 0; i < s->count; i++) {
		s->position[i] = d->got.finger[i].position / 255.0;
		s->current[i] = d->got.finger[i].current * 0.1;
		s->finger[i] = d->got.finger[i].stop;
	}
	s->age_ns = now_ns - d->got_ns;
	return d->got_ns;
}

/* ---- the driver ---- */

static const struct drv_verb verbs[] = {
	{ .verb = MSG_VERB_ACTIVATE, .moves = true, .exclusive = true },
	{ .verb = MSG_VERB_SET, .moves = true, .exclusive = true },
	{ .verb = MSG_VERB_CLEAR, .exclusive = true },
	{ 0 },
};

static const struct drv_driver driver = {
	.program = "robotiqd",
	.about = "drives a Robotiq 3-finger gripper",
	.size = sizeof(struct robotiqd),
	.settings = robotiqd_settings_rows,
	.tick_preset = "50ms",
	.state = msg_gripper_state_number,
	.ref = msg_gripper_ref_number,
	.declare = declare,
	.start = start,
	.tick = tick,
	.rx = robotiqd_rx,
	.answer = robotiqd_answer,
	.sent = robotiqd_sent,
	.fill = fill,
	.verbs = verbs,
	.request = robotiqd_job_request,
	.cancel = robotiqd_job_cancel,
	.wake = robotiqd_wake,
	.stop = stop,
};

int main(int argc, char **argv)
{
	return drv_main(&driver, argc, argv);
}
