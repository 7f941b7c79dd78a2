/* amciod_setup.c: a drive is found, set up or taken over, and watched, by SDO. */
#include <math.h>

#include "daemons/amc/amciod.h"

#define STATUSWORD 0x6041
#define MODE 0x6060
#define MODE_SHOWN 0x6061
#define MODE_OTHER 0xFF /* none of CiA 402 */
#define ERRORS 0x1003
#define HOST_HEARTBEAT 0x1016
#define HEARTBEAT 0x1017
#define GUARD_TIME 0x100C
#define GUARD_FACTOR 0x100D
#define GUARDS 4 /* node guarding: requests that may be missed */
#define AGAIN_NS 1000000000
#define SEEK_NS 20000000 /* a drive that sends would have been heard by then */

static const uint32_t slow_objects[AMCIOD_SLOW_OBJECTS] = { AMC_VOLTAGE, AMC_DRIVE_PROTECTION, AMC_SYSTEM_PROTECTION,
							    AMC_DRIVE_STATUS };

/* ---- the script ---- */

static void object(struct amciod_drive *d, enum pdo_how how, uint32_t where, uint8_t bytes, uint32_t value)
{
	pdo_add(&d->script, how, AMC_INDEX(where), AMC_SUB(where), bytes, value);
}

static uint32_t id_of(const struct amciod_drive *d, enum amc_pdo pdo)
{
	return amciod_pdo_id(d->node) + pdo;
}

static void map(struct amciod_drive *d, enum pdo_kind kind, unsigned int number, enum amc_pdo pdo, uint8_t type)
{
	pdo_map(&d->script, &(struct pdo){ .kind = kind, .number = number, .id = id_of(d, pdo), .type = type });
}

static void add_guard(struct amciod_drive *d)
{
	const struct amciod_settings *s = d->settings;
	const uint32_t ms = (uint32_t)(s->guard_ns / NS_PER_MS);

	if (s->guard == AMCIOD_GUARD_HEARTBEAT) {
		pdo_add(&d->script, PDO_STEP_SET, HOST_HEARTBEAT, 1, 4, (uint32_t)s->host_node << 16 | ms);
	} else {
		pdo_add(&d->script, PDO_STEP_SET, GUARD_TIME, 0, 2, ms / GUARDS);
		pdo_add(&d->script, PDO_STEP_SET, GUARD_FACTOR, 0, 1, GUARDS);
	}
	/* A node that is guarded must not send heartbeats. */
	pdo_add(&d->script, PDO_STEP_SET, HEARTBEAT, 0, 2,
		s->guard == AMCIOD_GUARD_HEARTBEAT ? (uint32_t)(s->heartbeat_ns / NS_PER_MS) : 0);
}

void amciod_script(struct amciod_drive *d)
{
	static const unsigned int others[] = { 1, 3, 4, 5, 21, 22, 23, 24, 25 };
	const struct amciod_settings *s = d->settings;
	const bool velocity = s->carries == AMCIOD_CARRIES_VELOCITY;
	const unsigned int second = !s->second_tpdo ? 0 : velocity ? 3 : 4;
	const uint8_t type = s->sync ? 1 : PDO_ASYNC;
	const struct pdo fast = { .kind = PDO_SENT,
				  .number = 26,
				  .id = id_of(d, AMC_TPDO_POSITION),
				  .type = type,
				  .mapped = 3,
				  .object = { STATUSWORD << 16 | 16, velocity ? 0x606C0020 : 0x60640020,
					      (uint32_t)s->current_object << 16 | 16 } };

	/* First what a drive that is taken over is commanded with. */
	if (s->kp_a == 0)
		object(d, PDO_STEP_READ, AMC_KP, 2, 0);
	pdo_add(&d->script, PDO_STEP_READ, MODE_SHOWN, 0, 1, 0);
	if (s->ks_hz == 0)
		object(d, PDO_STEP_READ, AMC_KS, 4, 0);
	if (s->ki == 0)
		object(d, PDO_STEP_READ, AMC_KI, 2, 0);
	add_guard(d);
	object(d, PDO_STEP_SET, AMC_TIMER_TPDOS, 2,
	       s->sync ? 0
		       : AMC_TIMER_26 | (second == 4 ? AMC_TIMER_4
					 : second    ? AMC_TIMER_3
						     : 0));
	object(d, PDO_STEP_SET, AMC_TIMER_2_TPDOS, 2, 0);
	if (!s->sync)
		object(d, PDO_STEP_SET, AMC_TIMER_MS, 2, (uint32_t)(s->period_ns / NS_PER_MS));
	for (unsigned int i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (others[i] != second)
			pdo_off(&d->script, PDO_SENT, others[i]);
	map(d, PDO_RECEIVED, 3, AMC_RPDO_POSITION, PDO_ASYNC);
	map(d, PDO_RECEIVED, 4, AMC_RPDO_VELOCITY, PDO_ASYNC);
	map(d, PDO_RECEIVED, 5, AMC_RPDO_CURRENT, PDO_ASYNC);
	if (second)
		map(d, PDO_SENT, second, AMC_TPDO_VELOCITY, type);
	pdo_map(&d->script, &fast);
	object(d, PDO_STEP_READ, AMC_KOV, 2, 0);
}

/* ---- how it is known ---- */

static uint32_t value(const struct amciod_drive *d, uint32_t where)
{
	return pdo_value(&d->script, AMC_INDEX(where), AMC_SUB(where));
}

static void learn(struct amciod_drive *d)
{
	const struct amciod_settings *s = d->settings;

	d->scale.kp_a = s->kp_a > 0 ? s->kp_a : amc_kp_a(value(d, AMC_KP));
	d->scale.ks_hz = s->ks_hz > 0 ? s->ks_hz : amc_ks_hz(value(d, AMC_KS));
	d->scale.ki = s->ki ? (unsigned int)s->ki : value(d, AMC_KI);
	d->kov = value(d, AMC_KOV);
	if (!d->mode)
		d->mode = pdo_value(&d->script, MODE_SHOWN, 0);
}

static bool has_scale(const struct amciod_drive *d)
{
	return d->scale.kp_a > 0 && d->scale.ks_hz > 0 && d->scale.ki;
}

bool amciod_known(const struct amciod_drive *d)
{
	return has_scale(d) && d->mode;
}

bool amciod_silent(const struct amciod_drive *d, int64_t now_ns)
{
	return d->t_ns && now_ns - d->t_ns - d->paused_ns > d->settings->silent_after_ns;
}

/* ---- phases ---- */

static void enter(struct amciod_drive *d, enum amciod_phase phase, int64_t now_ns)
{
	d->phase = phase;
	d->phase_ns = now_ns;
}

void amciod_seek(struct amciod_drive *d, int64_t now_ns)
{
	enter(d, AMCIOD_SEEK, now_ns);
	d->mode_wanted = 0;
	d->change = (struct pdo_script){ 0 };
}

static void attach(struct amciod_drive *d, int64_t now_ns)
{
	enter(d, AMCIOD_ATTACH, now_ns);
	d->attached = true;
	d->mode = 0;
	pdo_begin(&d->script, PDO_CHECK);
}

static void set_up(struct drv *drv, struct amciod_drive *d, int64_t now_ns)
{
	struct frame frame;

	enter(d, AMCIOD_SET_UP, now_ns);
	d->attached = false;
	d->mode = 0;
	pdo_begin(&d->script, PDO_WRITE);
	nmt_command(&frame, NMT_PREPARE, d->node);
	drv_send(drv, d->send_nmt, &frame);
}

static void limit(struct drv *drv, const struct amciod_drive *d, unsigned int joint)
{
	struct drv_ref_limits limits = drv_ref_no_limits;

	/* The greatest command is one raw count less than Kp. */
	limits.current_a = fmin(d->settings->current_max_a, d->scale.kp_a * INT16_MAX / -(double)INT16_MIN);
	drv_ref_tighten(drv_limits(drv, joint), &limits);
}

static void up(struct amciod *a, struct drv *drv, struct amciod_drive *d, int64_t now_ns)
{
	char code[AMCIOD_CODE_MAX];
	struct frame frame;

	if (!d->attached) {
		nmt_command(&frame, NMT_START, d->node);
		drv_send(drv, d->send_nmt, &frame);
	}
	enter(d, AMCIOD_UP, now_ns);
	d->failures = 0;
	limit(drv, d, (unsigned int)(d - a->drives));
	snprintf(code, sizeof(code), "%s-%02X", d->attached ? "taken-over" : "set-up", d->node);
	drv_event(drv, MSG_SEVERITY_INFO, code, "drive 0x%02X %s: %s, Kp %.4g A, KS %.6g Hz, KI %u, %s", d->node,
		  d->name, d->attached ? "taken over as it was" : "set up", d->scale.kp_a, d->scale.ks_hz, d->scale.ki,
		  cia402_words(d->state));
	snprintf(code, sizeof(code), "unusable-%02X", d->node);
	drv_fault_clear(drv, (unsigned int)(d - a->drives), code);
}

static void script_failed(struct amciod *a, struct drv *drv, struct amciod_drive *d, enum pdo_result result,
			  uint32_t code_sdo, int64_t now_ns)
{
	const struct pdo_step *step = pdo_at(&d->script);
	char code[AMCIOD_CODE_MAX];

	if (d->phase == AMCIOD_ATTACH && result != PDO_SILENT) {
		snprintf(code, sizeof(code), "other-set-up-%02X", d->node);
		drv_event(drv, MSG_SEVERITY_WARNING, code,
			  "drive 0x%02X %s: object 0x%04X.%02X is not as this driver sets it; setting the drive up",
			  d->node, d->name, step->index, step->sub);
		set_up(drv, d, now_ns);
		return;
	}
	snprintf(code, sizeof(code), "unusable-%02X", d->node);
	drv_fault(drv, (unsigned int)(d - a->drives), code, "drive 0x%02X %s: object 0x%04X.%02X: %s", d->node, d->name,
		  step->index, step->sub,
		  result == PDO_DIFFERS	 ? "reads back as another value"
		  : result == PDO_SILENT ? "no reply"
		  : result == PDO_DONE	 ? "but Kp, KS or KI is 0: set kp, ks or ki"
					 : sdo_words(code_sdo));
	d->failures++;
	amciod_seek(d, now_ns);
}

/* ---- jobs: one transfer at a time ---- */

static bool runs_script(const struct amciod_drive *d)
{
	return d->phase == AMCIOD_ATTACH || d->phase == AMCIOD_SET_UP;
}

static enum amciod_job choose(struct amciod_drive *d, int64_t now_ns)
{
	if (d->phase == AMCIOD_SEEK)
		return now_ns - d->phase_ns >= (d->failures ? AGAIN_NS : SEEK_NS) ? AMCIOD_STATUS : AMCIOD_NO_JOB;
	/* A mode that a reference waits for goes before the rest of the comparison. */
	if (d->mode_wanted && d->phase != AMCIOD_SET_UP)
		return AMCIOD_MODE;
	if (d->state == CIA402_FAULT && !d->error_known)
		return AMCIOD_ERROR;
	if (runs_script(d))
		return AMCIOD_SCRIPT;
	return now_ns - d->slow_ns >= d->settings->slow_ns / AMCIOD_SLOW_OBJECTS ? AMCIOD_SLOW : AMCIOD_NO_JOB;
}

static void begin(struct amciod_drive *d, int64_t now_ns, struct frame *request)
{
	const unsigned int slow_next = (d->slow_next + 1) % AMCIOD_SLOW_OBJECTS;

	d->job = choose(d, now_ns);
	switch (d->job) {
	case AMCIOD_NO_JOB:
		break;
	case AMCIOD_STATUS:
		sdo_read(request, d->node, STATUSWORD, 0);
		break;
	case AMCIOD_SCRIPT:
		pdo_step(&d->script, d->node, request);
		break;
	case AMCIOD_MODE:
		if (!d->change.n) {
			pdo_add(&d->change, PDO_STEP_WRITE, MODE, 0, 1, d->mode_wanted);
			pdo_add(&d->change, PDO_STEP_CHECK, MODE_SHOWN, 0, 1, d->mode_wanted);
			pdo_begin(&d->change, PDO_WRITE);
		}
		pdo_step(&d->change, d->node, request);
		break;
	case AMCIOD_ERROR:
		sdo_read(request, d->node, ERRORS, 1);
		break;
	case AMCIOD_SLOW:
		sdo_read(request, d->node, AMC_INDEX(slow_objects[slow_next]), AMC_SUB(slow_objects[slow_next]));
		break;
	}
}

static void go_on(struct amciod *a, struct drv *drv, struct amciod_drive *d, int64_t now_ns)
{
	struct frame request;

	if (d->job != AMCIOD_NO_JOB)
		return;
	begin(d, now_ns, &request);
	if (d->job != AMCIOD_NO_JOB && drv_ask(drv, d->question, &request, (uint32_t)(d - a->drives)))
		d->job = AMCIOD_NO_JOB; /* until the next tick */
	if (d->job == AMCIOD_SLOW) {
		d->slow_ns = now_ns;
		d->slow_next = (d->slow_next + 1) % AMCIOD_SLOW_OBJECTS;
	}
}

static void script_done(struct amciod *a, struct drv *drv, struct amciod_drive *d, uint32_t code, uint32_t got,
			int64_t now_ns)
{
	const enum pdo_result script = pdo_done(&d->script, code, got);

	learn(d);
	if (script == PDO_DONE && !d->mode)
		d->mode = MODE_OTHER;
	if (script == PDO_DONE && has_scale(d))
		up(a, drv, d, now_ns);
	else if (script != PDO_BUSY)
		script_failed(a, drv, d, script, code, now_ns);
}

static void mode_done(struct amciod_drive *d, uint32_t code, uint32_t got)
{
	const enum pdo_result change = d->change.n ? pdo_done(&d->change, code, got) : PDO_BUSY;

	if (change == PDO_BUSY) /* or given up meanwhile */
		return;
	if (change == PDO_DONE)
		d->mode = d->mode_wanted;
	d->mode_wanted = 0; /* one that failed is asked for again by the next tick */
	d->change = (struct pdo_script){ 0 };
}

static void status_done(struct drv *drv, struct amciod_drive *d, uint32_t code, uint32_t got, int64_t now_ns)
{
	if (code)
		return;
	d->state = cia402_state((uint16_t)got);
	if (d->state == CIA402_ENABLED)
		attach(d, now_ns);
	else
		set_up(drv, d, now_ns);
}

bool amciod_answer(void *self, struct drv *drv, const struct drv_ask_answer *asked, const struct bus_frame *reply)
{
	struct amciod *a = self;
	struct amciod_drive *d = &a->drives[asked->tag];
	const int64_t t_ns = reply ? reply->t_ns : asked->asked_ns + d->settings->reply_late_ns;
	const enum amciod_job job = d->job;
	struct frame end;
	uint32_t got;
	const uint32_t code = sdo_reply(&asked->request, reply ? &reply->frame : NULL, &got);

	d->job = AMCIOD_NO_JOB;
	if (!reply && drv_bus_dead(drv, d->bus)) /* it has not refused: the next tick asks again */
		return false;
	switch (job) {
	case AMCIOD_NO_JOB:
		break;
	case AMCIOD_STATUS:
		status_done(drv, d, code, got, t_ns);
		break;
	case AMCIOD_SCRIPT:
		if (runs_script(d))
			script_done(a, drv, d, code, got, t_ns);
		break;
	case AMCIOD_MODE:
		mode_done(d, code, got);
		break;
	case AMCIOD_ERROR:
		d->error_known = code != SDO_NO_REPLY;
		if (!code)
			d->error = (uint16_t)got;
		break;
	case AMCIOD_SLOW:
		if (!code)
			d->slow[d->slow_next] = (uint16_t)got;
		break;
	}
	/* The next request ends a transfer, too. */
	if ((code == SDO_NO_REPLY || code == SDO_NOT_A_REPLY) && choose(d, t_ns) == AMCIOD_NO_JOB) {
		sdo_abort(&end, &asked->request, code);
		drv_send(drv, d->send_sdo, &end);
	}
	go_on(a, drv, d, t_ns);
	return false;
}

void amciod_setup(struct amciod *a, struct drv *drv, struct amciod_drive *d, const struct drv_orders *orders)
{
	/* Sending since it was looked for: it is there, and need not be asked. */
	if (d->phase == AMCIOD_SEEK && !d->failures && d->t_ns > d->phase_ns)
		attach(d, orders->now_ns);
	if (d->phase == AMCIOD_UP && amciod_silent(d, orders->now_ns) && orders->now_ns - d->phase_ns > AGAIN_NS)
		amciod_seek(d, orders->now_ns);
	go_on(a, drv, d, orders->now_ns);
}
