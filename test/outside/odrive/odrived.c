/* odrived.c: drives an ODrive by CANSimple, firmware 0.6; odrive.md. */
#include <math.h>

#include "config/base/base.h"
#include "daemons/drv/drv.h"
#include "odrive.h"
#include "odrived_settings.h"

#define SILENT_HEARTBEAT_NS 350000000 /* three missed */
#define SILENT_ESTIMATES_NS 50000000
#define ASK_NS 50000000
#define LOST_NS 200000000
#define ENABLE_NS 200000000 /* its next heartbeat has shown by then whether it obeyed */
#define REST_RAD_S 5e-3

/* In the order in which it must get those of one tick: the identifiers alone would have the state leave first. */
enum { CLEAR, MODE, POSITION, VELOCITY, STATE, VERSION, REASON, WATCHDOG };
enum { HEARTBEAT, ESTIMATES, GOT_VERSION, GOT_REASON, GOT_VALUE, OTHERS };
enum { ASK_VERSION, ASK_REASON, ASK_WATCHDOG };

struct odrived {
	struct odrived_settings settings; /* first: the loop fills them in */
	struct odrive_heartbeat beat;
	struct odrive_estimates got; /* of the motor */
	bool versed, guarded;	     /* its version, and its watchdog, are known */
	bool driven;		     /* by this process, in closed loop */
	uint32_t control;	     /* the last mode that it was sent */
	int64_t enable_ns;	     /* when it was last told to close its loop */
	uint32_t clear;		     /* handle of the request; valid while clears */
	bool clears;
};

/* ---- what is declared ---- */

#define ASKS .class = SLOTS_QUEUE, .deadline_ns = ASK_NS, .harmless = true
#define LEN(n) .len_min = n, .len_max = 8

static int declare(void *self, struct drv *drv, struct error_sink *errors)
{
	const struct odrived *o = self;
	struct drv_send sends[] = {
		[CLEAR] = { .row = { .id = ODRIVE_CLEAR, .step = 0 }, .len = 1 },
		[MODE] = { .row = { .id = ODRIVE_MODE, .step = 1 }, .len = 8, .moves = true },
		[POSITION] = { .row = { .id = ODRIVE_POSITION, .step = 2 }, .len = 8, .moves = true },
		[VELOCITY] = { .row = { .id = ODRIVE_VELOCITY, .step = 2 }, .len = 8, .moves = true },
		[STATE] = { .row = { .id = ODRIVE_STATE, .step = 3 }, .len = 4, .moves = true },
		[VERSION] = { .row = { .id = ODRIVE_VERSION | FRAME_RTR, ASKS }, .len = 8 },
		[REASON] = { .row = { .id = ODRIVE_ERROR | FRAME_RTR, ASKS }, .len = 8 },
		[WATCHDOG] = { .row = { .id = ODRIVE_READ, ASKS }, .len = 4 },
	};
	struct drv_receive receives[] = {
		[HEARTBEAT] = { .id = ODRIVE_HEARTBEAT, LEN(8), .period_ns = ODRIVE_HEARTBEAT_NS },
		[ESTIMATES] = { .id = ODRIVE_ESTIMATES, LEN(8), .period_ns = ODRIVE_ESTIMATES_NS },
		[GOT_VERSION] = { .id = ODRIVE_VERSION, LEN(8) },
		[GOT_REASON] = { .id = ODRIVE_ERROR, LEN(8) },
		[GOT_VALUE] = { .id = ODRIVE_VALUE, LEN(5) },
		[OTHERS] = { .id_mask = ODRIVE_ID_NODE, .any_len = true },
	};

	receives[HEARTBEAT].from = "the heartbeat of the drive";
	receives[HEARTBEAT].silent_after_ns = SILENT_HEARTBEAT_NS;
	receives[ESTIMATES].from = "the encoder of the drive";
	receives[ESTIMATES].silent_after_ns = SILENT_ESTIMATES_NS;
	sends[POSITION].row.period_ns = drv_period_ns(drv);
	for (unsigned int i = CLEAR; i <= WATCHDOG; i++) {
		sends[i].row.id |= ODRIVE_ID(o->settings.node, 0);
		if (i < VERSION) {
			sends[i].row.class = SLOTS_LATEST;
			sends[i].row.deadline_ns = drv_period_ns(drv);
		}
		drv_add_send(drv, &sends[i], errors);
	}
	for (unsigned int i = HEARTBEAT; i <= OTHERS; i++) {
		receives[i].id |= ODRIVE_ID(o->settings.node, 0);
		drv_add_receive(drv, &receives[i], errors);
	}
	for (unsigned int i = ASK_VERSION; i <= ASK_WATCHDOG; i++) {
		const struct drv_question question = {
			.send = VERSION + i,
			.receive = GOT_VERSION + i,
			.echo = { { 1, 1, i == ASK_WATCHDOG ? 0xFF : 0 }, { 2, 2, 0xFF } },
			.late_ns = ASK_NS,
			.lost_ns = LOST_NS,
			.tries = 3,
		};

		drv_add_question(drv, &question, errors);
	}
	drv_add_joint(drv, "axis", errors);
	return errors->count ? -EINVAL : 0;
}

static void ask(const struct odrived *o, struct drv *drv, unsigned int question)
{
	const unsigned int node = (unsigned int)o->settings.node;
	struct frame frame;

	if (question == ASK_WATCHDOG)
		odrive_encode_read(node, (uint16_t)o->settings.watchdog_endpoint, &frame);
	else
		odrive_encode_ask(node, question == ASK_REASON ? ODRIVE_ERROR : ODRIVE_VERSION, &frame);
	drv_ask(drv, question, &frame, question);
}

/* ---- what is received ---- */

/* Errors that the absence of a driver explains are cleared when the drive is enabled; others wait for a person. */
static void judge(struct odrived *o, struct drv *drv)
{
	const uint32_t errors = o->beat.errors & ~(ODRIVE_WATCHDOG | ODRIVE_INITIALIZING);
	const bool left = o->driven && o->beat.state != ODRIVE_CLOSED_LOOP;
	char words[ODRIVE_WORDS_MAX];

	odrive_error_words(words, o->beat.errors);
	if (o->clears && !errors)
		drv_fault_clear(drv, 0, NULL);
	if (o->clears)
		drv_reply(drv, o->clear, errors ? -EIO : 0, "%s", words);
	o->clears = false;
	if (left)
		ask(o, drv, ASK_REASON);
	if (left || errors)
		drv_fault(drv, 0, "axis-error", "the drive is in state %u, errors: %s", o->beat.state, words);
	o->driven &= !left;
}

static bool rx(void *self, struct drv *drv, unsigned int row, const struct bus_frame *got)
{
	struct odrived *o = self;

	if (row == ESTIMATES)
		return !odrive_decode_estimates(&o->got, &got->frame, got->t_ns);
	if (row == HEARTBEAT && !odrive_decode_heartbeat(&o->beat, &got->frame, got->t_ns))
		judge(o, drv);
	if (row == OTHERS && odrive_is_order(&got->frame))
		drv_event(drv, MSG_SEVERITY_WARNING, "other-program", "another program sends 0x%03X to the drive",
			  frame_id(&got->frame));
	return false;
}

static bool answer(void *self, struct drv *drv, const struct drv_ask_answer *asked, const struct bus_frame *reply)
{
	struct odrived *o = self;
	char words[ODRIVE_WORDS_MAX];
	uint32_t value = 0;

	if (!reply) {
		if (asked->tag != ASK_REASON)
			drv_fault(drv, DRV_ALL, "no-answer", "no answer to frame %03X", frame_id(&asked->request));
		return false;
	}
	drv_fault_clear(drv, DRV_ALL, "no-answer");
	if (asked->tag == ASK_VERSION) {
		o->versed = reply->frame.data[0] == ODRIVE_PROTOCOL;
		if (!o->versed)
			drv_fault(drv, DRV_ALL, "version", "protocol %u, not %u: firmware 0.6 is needed",
				  reply->frame.data[0], ODRIVE_PROTOCOL);
	} else if (asked->tag == ASK_REASON && !odrive_decode_u32(&value, &reply->frame, 4)) {
		drv_event(drv, MSG_SEVERITY_WARNING, "disarmed", "it was disarmed for: %s",
			  odrive_error_words(words, value));
	} else if (asked->tag == ASK_WATCHDOG) {
		o->guarded = reply->frame.data[4];
		if (o->guarded)
			drv_fault_clear(drv, DRV_ALL, "watchdog-off");
		else
			drv_fault(drv, DRV_ALL, "watchdog-off",
				  "its watchdog is off: set axis0.config.enable_watchdog");
	}
	return false;
}

/* ---- what it does ---- */

static enum drv_step start(void *self, struct drv *drv, const struct drv_orders *orders)
{
	struct odrived *o = self;

	(void)orders;
	if (!o->versed)
		ask(o, drv, ASK_VERSION);
	if (!o->guarded && o->settings.watchdog_endpoint)
		ask(o, drv, ASK_WATCHDOG);
	if (!o->versed || !o->beat.t_ns || !o->got.t_ns || (o->settings.watchdog_endpoint && !o->guarded))
		return DRV_AGAIN;
	if (!o->guarded)
		drv_event(drv, MSG_SEVERITY_WARNING, "watchdog-unknown",
			  "whether its watchdog is on cannot be read back: give watchdog_endpoint");
	return DRV_DONE;
}

static void put(struct drv *drv, unsigned int row, const struct frame *frame, bool stops)
{
	if (stops)
		drv_send_stop(drv, row, frame);
	else
		drv_send(drv, row, frame);
}

static void command(struct odrived *o, struct drv *drv, const struct drv_ref_command *to)
{
	const unsigned int node = (unsigned int)o->settings.node;
	const bool velocity = to->mode == MSG_MODE_VELOCITY;
	const enum odrive_control control = velocity ? ODRIVE_BY_VELOCITY : ODRIVE_BY_POSITION;
	const double gear = o->settings.gear;
	struct frame frame, mode;

	if (velocity ? odrive_encode_velocity(node, to->velocity_rad_s * gear, &frame)
		     : odrive_encode_position(node, to->position_rad * gear, to->velocity_rad_s * gear, &frame))
		return;
	odrive_encode_mode(node, control, &mode);
	if (o->control != control)
		put(drv, MODE, &mode, to->stops);
	put(drv, velocity ? VELOCITY : POSITION, &frame, to->stops);
}

static void set_state(struct odrived *o, struct drv *drv, enum odrive_state state)
{
	struct frame frame;

	odrive_encode_state((unsigned int)o->settings.node, state, &frame);
	put(drv, STATE, &frame, state == ODRIVE_IDLE);
}

/* Where it stands, and then its loop: all in this tick, in the order of their steps. */
static void enable(struct odrived *o, struct drv *drv, const struct drv_orders *orders)
{
	const struct drv_ref_command here = { .mode = MSG_MODE_POSITION,
					      .position_rad = o->got.position_rad / o->settings.gear };
	struct frame frame;

	if (orders->now_ns - o->enable_ns < ENABLE_NS)
		return;
	o->enable_ns = orders->now_ns;
	o->control = 0;
	odrive_encode_clear((unsigned int)o->settings.node, &frame);
	if (o->beat.errors & ODRIVE_WATCHDOG)
		drv_send(drv, CLEAR, &frame);
	command(o, drv, &here);
	set_state(o, drv, ODRIVE_CLOSED_LOOP);
}

static void tick(void *self, struct drv *drv, const struct drv_orders *orders)
{
	struct odrived *o = self;

	if (orders->level == MSG_LEVEL_ESTOP) {
		if (o->beat.state == ODRIVE_CLOSED_LOOP)
			set_state(o, drv, ODRIVE_IDLE); /* the motor is free at once */
		o->driven = false;
	} else if (o->beat.state == ODRIVE_CLOSED_LOOP) {
		o->driven = true;
		command(o, drv, &orders->joint[0]);
		return;
	} else if (drv_may_move(drv) && orders->joint_life[0] != MSG_LIFE_FAULT) {
		enable(o, drv, orders);
	}
	drv_not_driven(drv, 0, true);
}

/* It obeys at once; its heartbeat says so up to 100 ms later. */
static void sent(void *self, struct drv *drv, unsigned int row, const struct frame *frame, int64_t t_ns)
{
	struct odrived *o = self;

	(void)drv;
	(void)t_ns;
	if (row == MODE)
		o->control = frame->data[0];
	if (row == STATE && frame->data[0] == ODRIVE_IDLE)
		o->beat.state = ODRIVE_IDLE;
}

static int64_t fill(void *self, struct drv *drv, void *state, int64_t now_ns)
{
	const struct odrived *o = self;
	struct msg_joint_state *s = state;

	s->status[0] = (drv_silent(drv, ESTIMATES) || drv_silent(drv, HEARTBEAT) ? MSG_JOINT_SILENT : 0) |
		       (o->beat.state == ODRIVE_CLOSED_LOOP ? MSG_JOINT_ENABLED : 0) |
		       (o->beat.errors ? MSG_JOINT_FAULT : 0);
	s->state_word[0] = o->beat.errors;
	if (!o->got.t_ns)
		return 0;
	s->position[0] = o->got.position_rad / o->settings.gear;
	s->velocity[0] = o->got.velocity_rad_s / o->settings.gear;
	s->age_ns[0] = now_ns - o->got.t_ns;
	return o->got.t_ns;
}

static enum drv_step stop(void *self, struct drv *drv, const struct drv_orders *orders)
{
	struct odrived *o = self;

	if (o->beat.state != ODRIVE_CLOSED_LOOP)
		return DRV_DONE;
	o->driven = false;
	if (orders->level != MSG_LEVEL_ESTOP && fabs(o->got.velocity_rad_s) > REST_RAD_S * o->settings.gear)
		command(o, drv, &orders->joint[0]);
	else
		set_state(o, drv, ODRIVE_IDLE);
	return DRV_AGAIN;
}

static const struct drv_verb verbs[] = { { .verb = MSG_VERB_CLEAR, .exclusive = true }, { 0 } };

/* Its next heartbeat says whether it helped. */
static int request(void *self, struct drv *drv, uint32_t handle, const struct msg_request *asked, int64_t now_ns)
{
	struct odrived *o = self;
	struct frame frame;

	(void)asked;
	(void)now_ns;
	odrive_encode_clear((unsigned int)o->settings.node, &frame);
	o->clear = handle;
	o->clears = !drv_send(drv, CLEAR, &frame);
	return o->clears ? DRV_LATER : drv_refuse(drv, -EAGAIN, "the bus takes no frame");
}

static const struct drv_driver driver = {
	.program = "odrived",
	.about = "drives an ODrive",
	.size = sizeof(struct odrived),
	.settings = odrived_settings_rows,
	.state = msg_joint_state_number,
	.ref = msg_joint_ref_number,
	.declare = declare,
	.rx = rx,
	.answer = answer,
	.start = start,
	.tick = tick,
	.sent = sent,
	.fill = fill,
	.stop = stop,
	.verbs = verbs,
	.request = request,
};

DRV_OBJECT(driver);

int main(int argc, char **argv)
{
	return drv_main(&driver, argc, argv);
}
