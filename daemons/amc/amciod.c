/* amciod.c: drives AMC DigiFlex servo drives over CANopen; amciod(1), hw-docs/devices/amc.md. */
#include "daemons/amc/amciod.h"

#include <math.h>

#include "can/canopen/eds.h"

/* A velocity is computed from positions so far apart: longer would be smoother and later. */
#define VELOCITY_NS 5000000

/* They begin the struct, where the loop fills them in. */
_Static_assert(offsetof(struct amciod, settings) == 0, "rows are of struct amciod_settings");

/* ---- settings ---- */

static int check_settings(const struct amciod_settings *s, struct error_sink *errors)
{
	const unsigned int before = errors->count;

	if (2 * s->heartbeat_ns > s->guard_ns)
		error_add(errors, "heartbeat: a drive would take its current away; at most half of guard_time");
	return errors->count == before ? 0 : -EINVAL;
}

/* The objects of the set-up, in the data sheet of the drive. */
static int check_eds(const struct amciod_drive *d, const char *path, struct error_sink *errors)
{
	const unsigned int before = errors->count;
	struct eds eds;

	if (eds_read(&eds, path, errors))
		return -EINVAL;
	for (unsigned int i = 0; i < d->script.n; i++) {
		const struct pdo_step *step = &d->script.steps[i];
		const struct eds_object *object = eds_find(&eds, step->index, step->sub);
		const unsigned int bytes = object ? eds_bytes(object->type) : 0;

		if (!object && step->how != PDO_STEP_DISABLE)
			error_add(errors, "eds: %s: no object 0x%04X.%02X", path, step->index, step->sub);
		else if (bytes && bytes != step->bytes)
			error_add(errors, "eds: %s: object 0x%04X.%02X, %s, has %u bytes, not %u", path, step->index,
				  step->sub, object->name, bytes, step->bytes);
	}
	eds_free(&eds);
	return errors->count == before ? 0 : -EINVAL;
}

/* ---- what is declared ---- */

static unsigned int send(struct drv *drv, const struct amciod_drive *d, struct slots_row row, uint8_t len,
			 struct error_sink *errors)
{
	struct drv_send s = { .bus = d->bus, .row = row, .len = len };

	s.moves = row.class == SLOTS_LATEST && !row.harmless;
	s.shared = row.id == NMT_ID_COMMAND;
	if (row.id & FRAME_RTR) { /* guarding */
		s.answered = true;
		s.reply_id = row.id & ~FRAME_RTR;
		s.reply_within_ns = d->settings->reply_late_ns;
	}
	return (unsigned int)drv_add_send(drv, &s, errors);
}

static unsigned int receive(struct drv *drv, const struct amciod_drive *d, uint32_t id, uint8_t len,
			    struct error_sink *errors)
{
	const struct drv_receive r = { .bus = d->bus, .id = id, .len_min = len, .len_max = len };

	return (unsigned int)drv_add_receive(drv, &r, errors);
}

static unsigned int receive_pdo(struct drv *drv, const struct amciod_drive *d, enum amc_pdo pdo, enum amc_layout layout,
				struct error_sink *errors)
{
	const uint8_t len = (uint8_t)amc_layout_len(layout);
	const struct drv_receive r = {
		.bus = d->bus,
		.id = amciod_pdo_id(d->node) + pdo,
		.len_min = len,
		.len_max = len,
		.period_ns = d->settings->sync ? drv_period_ns(drv) : d->settings->period_ns,
	};

	return (unsigned int)drv_add_receive(drv, &r, errors);
}

static void add_rows(struct amciod *a, struct drv *drv, struct amciod_drive *d, struct error_sink *errors)
{
	const struct amciod_settings *s = &a->settings;
	const uint32_t id = amciod_pdo_id(d->node);
	const int64_t tick_ns = drv_period_ns(drv);

	/* One of them is sent in each tick, which the load of the bus counts once. */
	for (unsigned int i = 0; i < 3; i++)
		d->send_rpdo[i] = send(drv, d,
				       (struct slots_row){ .id = id + i,
							   .class = SLOTS_LATEST,
							   .period_ns = i == AMC_RPDO_CURRENT ? tick_ns : 0,
							   .deadline_ns = tick_ns },
				       i == AMC_RPDO_CURRENT ? 4 : 6, errors);
	d->send_sdo = send(drv, d,
			   (struct slots_row){ .id = SDO_ID_REQUEST + d->node,
					       .class = SLOTS_QUEUE,
					       .key = { 0xFF, 0xFF, 0xFF, 0xFF },
					       .deadline_ns = s->reply_late_ns },
			   8, errors);
	d->send_nmt = send(drv, d,
			   (struct slots_row){ .id = NMT_ID_COMMAND,
					       .class = SLOTS_COMMAND,
					       .key = { 0xFF, 0xFF },
					       .deadline_ns = s->reply_late_ns },
			   2, errors);
	if (s->guard == AMCIOD_GUARD_NODE)
		d->send_guard = send(drv, d,
				     (struct slots_row){ .id = (NMT_ID + d->node) | FRAME_RTR,
							 .class = SLOTS_LATEST,
							 .period_ns = s->heartbeat_ns,
							 .harmless = true },
				     1, errors);
	d->got_tpdo = receive_pdo(drv, d, AMC_TPDO_POSITION, d->layout, errors);
	d->got_second = s->second_tpdo ? receive_pdo(drv, d, AMC_TPDO_VELOCITY, d->second, errors) : ~0u;
	d->got_state = receive(drv, d, NMT_ID + d->node, 1, errors);
	d->got_emcy = receive(drv, d, EMCY_ID + d->node, 8, errors);
	d->question = (unsigned int)drv_add_question(
		drv,
		&(struct drv_question){ .send = d->send_sdo,
					.receive = receive(drv, d, SDO_ID_REPLY + d->node, 8, errors),
					.only = { .mask = SDO_ABORT },
					.echo = { { 1, 1, 0xFF }, { 2, 2, 0xFF }, { 3, 3, 0xFF } },
					.exclusive = true,
					.late_ns = s->reply_late_ns,
					.lost_ns = s->reply_late_ns },
		errors);
}

static void add_drive(struct amciod *a, struct drv *drv, const struct amciod_list_item *item, struct error_sink *errors)
{
	const struct amciod_settings *s = &a->settings;
	const bool velocity = s->carries == AMCIOD_CARRIES_VELOCITY;
	struct amciod_drive *d = &a->drives[a->n];
	const int joint = drv_add_joint(drv, item->joint, errors);

	if (joint < 0)
		return;
	*d = (struct amciod_drive){
		.settings = s,
		.node = item->node,
		.bus = item->bus,
		.layout = velocity ? AMC_VELOCITY : AMC_POSITION,
		.second = velocity ? AMC_POSITION_ONLY : AMC_VELOCITY_ONLY,
		.scale.counts_per_rad = (item->backwards ? -1 : 1) * (double)s->counts * s->gear / (2 * M_PI),
		.got = { .position_rad = NAN, .velocity_rad_s = NAN, .current_a = NAN },
	};
	memcpy(d->name, item->joint, sizeof(d->name));
	a->n++;
	amciod_script(d);
	add_rows(a, drv, d, errors);
	/* One drive that is lost does not take the other down. */
	drv_joint_group(drv, (unsigned int)joint, (unsigned int)joint);
	drv_joint_bus(drv, (unsigned int)joint, d->bus);
	drv_joint_gain(drv, (unsigned int)joint, s->gain_1_s);
	if (velocity && !s->second_tpdo)
		drv_joint_no_position(drv, (unsigned int)joint);
}

static void add_bus(struct amciod *a, struct drv *drv, unsigned int bus, struct error_sink *errors)
{
	const struct amciod_settings *s = &a->settings;
	const struct drv_receive sync = { .bus = bus, .id = NMT_ID_SYNC, .len_max = 1, .shared = true };
	const struct drv_send heartbeat = { .bus = bus,
					    .row = { .id = NMT_ID + (uint32_t)s->host_node,
						     .class = SLOTS_LATEST,
						     .period_ns = s->heartbeat_ns,
						     .harmless = true },
					    .len = 1 };

	a->buses[bus].got_sync = (unsigned int)drv_add_receive(drv, &sync, errors);
	if (s->guard == AMCIOD_GUARD_HEARTBEAT)
		a->buses[bus].send_heartbeat = (unsigned int)drv_add_send(drv, &heartbeat, errors);
}

static int find_bus(const void *of, const char *name)
{
	return drv_bus(of, name);
}

static int declare(void *self, struct drv *drv, struct error_sink *errors)
{
	struct amciod *a = self;
	const struct amciod_list_buses buses = { "drives", drv_buses(drv), find_bus, drv };
	const unsigned int before = errors->count;
	struct amciod_list list;

	if (check_settings(&a->settings, errors) || amciod_list_read(&list, a->settings.drives, &buses, errors))
		return -EINVAL;
	for (unsigned int i = 0; i < list.n; i++)
		add_drive(a, drv, &list.item[i], errors);
	for (unsigned int i = 0; i < drv_buses(drv) && i < AMCIOD_LIST_MAX; i++)
		add_bus(a, drv, i, errors);
	if (*a->settings.eds && errors->count == before)
		check_eds(&a->drives[0], a->settings.eds, errors);
	return errors->count == before ? 0 : -EINVAL;
}

/* ---- what is received ---- */

/* From positions far enough apart that one count does not matter, but no farther than the drive can be delayed for. */
static void compute_velocity(struct amciod_drive *d)
{
	const struct amciod_past now = { d->t_ns, d->got.position_rad };
	const unsigned int kept = d->past_n < AMCIOD_PAST ? d->past_n : AMCIOD_PAST;
	struct amciod_past then = now;

	for (unsigned int i = 1; i <= kept; i++) {
		const struct amciod_past *p = &d->past[(d->past_n - i) % AMCIOD_PAST];

		if (now.t_ns - p->t_ns > VELOCITY_NS && then.t_ns != now.t_ns)
			break;
		then = *p;
		if (now.t_ns - p->t_ns >= VELOCITY_NS)
			break;
	}
	d->past[d->past_n++ % AMCIOD_PAST] = now;
	d->got.velocity_rad_s =
		then.t_ns < now.t_ns ? (now.position_rad - then.position_rad) / ((double)(now.t_ns - then.t_ns) * 1e-9)
				     : 0;
}

static bool got_sample(struct amciod *a, struct amciod_drive *d, enum amc_layout layout, const struct bus_frame *got)
{
	const int64_t sync_ns = a->buses[d->bus].sync_ns;
	const bool second = layout == d->second;
	const unsigned int all = a->settings.second_tpdo ? 2 : 1;

	if (amc_decode(&d->got, &got->frame, layout, &d->scale))
		return false;
	d->state = cia402_state(d->got.status);
	/* Both wheels are sampled by the same SYNC. */
	if (!second) {
		d->t_ns = a->settings.sync && sync_ns > d->t_ns && sync_ns <= got->t_ns ? sync_ns : got->t_ns;
		d->paused_ns = 0;
	}
	if (layout == AMC_POSITION && !a->settings.second_tpdo)
		compute_velocity(d);
	d->fresh++;
	for (unsigned int i = 0; i < a->n; i++)
		if (a->drives[i].fresh < all && !amciod_silent(&a->drives[i], got->t_ns))
			return false;
	return true;
}

static void got_state(struct amciod *a, struct amciod_drive *d, const struct bus_frame *got)
{
	const bool was_up = d->phase == AMCIOD_UP || d->phase == AMCIOD_ATTACH;
	uint8_t word;

	if (!nmt_decode(&got->frame, &word))
		return;
	nmt_heard(&d->nmt, word, a->settings.guard == AMCIOD_GUARD_NODE, got->t_ns);
	if (word != NMT_BOOT)
		return;
	d->power_lost = was_up && !a->estop_ns;
	d->state = CIA402_NOT_READY;
	d->controlword = 0;
	d->failures = 0;
	d->past_n = 0; /* its counter began again */
	amciod_seek(d, got->t_ns);
}

static void got_emcy(struct drv *drv, struct amciod_drive *d, const struct frame *frame)
{
	char code[AMCIOD_CODE_MAX];
	struct emcy emcy;

	if (!emcy_decode(&emcy, frame))
		return;
	d->error = emcy.code;
	d->error_known = emcy.code != EMCY_RESET;
	snprintf(code, sizeof(code), "emcy-%02X", d->node);
	drv_event(drv, emcy.code == EMCY_RESET ? MSG_SEVERITY_INFO : MSG_SEVERITY_WARNING, code,
		  "drive 0x%02X %s: emergency 0x%04X: %s", d->node, d->name, emcy.code, emcy_words(emcy.code));
}

static bool rx(void *self, struct drv *drv, unsigned int row, const struct bus_frame *got)
{
	struct amciod *a = self;

	for (unsigned int i = 0; i < drv_buses(drv); i++)
		if (row == a->buses[i].got_sync)
			a->buses[i].sync_ns = got->t_ns;
	for (unsigned int i = 0; i < a->n; i++) {
		struct amciod_drive *d = &a->drives[i];

		if (row == d->got_tpdo)
			return got_sample(a, d, d->layout, got);
		if (row == d->got_second)
			return got_sample(a, d, d->second, got);
		if (row == d->got_state)
			got_state(a, d, got);
		if (row == d->got_emcy)
			got_emcy(drv, d, &got->frame);
	}
	return false;
}

/* When it was fed for certain. */
static void sent(void *self, struct drv *drv, unsigned int row, const struct frame *frame, int64_t t_ns)
{
	struct amciod *a = self;

	for (unsigned int i = 0; i < drv_buses(drv); i++)
		if (row == a->buses[i].send_heartbeat && frame_id(frame) == NMT_ID + a->settings.host_node)
			a->buses[i].heard_fed_ns = t_ns;
	for (unsigned int i = 0; i < a->n; i++)
		if (frame->id & FRAME_RTR && row == a->drives[i].send_guard)
			a->buses[a->drives[i].bus].heard_fed_ns = t_ns;
}

/* ---- what is published ---- */

static uint32_t status(const struct amciod_drive *d, int64_t now_ns)
{
	return (d->state == CIA402_ENABLED ? MSG_JOINT_ENABLED : 0) |
	       (d->state == CIA402_FAULT || d->state == CIA402_FAULT_REACTION ? MSG_JOINT_FAULT : 0) |
	       (d->got.status & 0x80 ? MSG_JOINT_WARNING : 0) | (amciod_silent(d, now_ns) ? MSG_JOINT_SILENT : 0);
}

static int64_t fill(void *self, struct drv *drv, void *state, int64_t now_ns)
{
	const struct amciod *a = self;
	struct msg_joint_state *s = state;
	int64_t oldest_ns = 0;

	(void)drv;
	s->count = a->n;
	for (unsigned int i = 0; i < a->n; i++) {
		const struct amciod_drive *d = &a->drives[i];

		memcpy(s->joint[i], d->name, sizeof(s->joint[i]));
		s->status[i] = status(d, now_ns);
		s->state_word[i] = d->got.status;
		if (!d->t_ns)
			continue;
		s->position[i] = d->got.position_rad;
		s->velocity[i] = amciod_known(d) || d->layout == AMC_POSITION ? d->got.velocity_rad_s : NAN;
		s->current[i] = d->scale.kp_a > 0 ? d->got.current_a : NAN;
		s->age_ns[i] = now_ns - d->t_ns;
		if (!oldest_ns || d->t_ns < oldest_ns)
			oldest_ns = d->t_ns;
	}
	return oldest_ns;
}

/* ---- the driver ---- */

static const struct drv_verb verbs[] = { { .verb = MSG_VERB_CLEAR, .exclusive = true },
					 { .verb = MSG_VERB_GET },
					 { 0 } };

static const struct drv_driver driver = {
	.program = "amciod",
	.about = "drives AMC DigiFlex servo drives",
	.size = sizeof(struct amciod),
	.settings = amciod_settings_rows,
	.tick_preset = "1ms",
	.state = msg_joint_state_number,
	.ref = msg_joint_ref_number,
	.declare = declare,
	.start = amciod_start,
	.tick = amciod_tick,
	.rx = rx,
	.answer = amciod_answer,
	.sent = sent,
	.fill = fill,
	.verbs = verbs,
	.request = amciod_request,
	.stop = amciod_stop,
};

int main(int argc, char **argv)
{
	return drv_main(&driver, argc, argv);
}
