/* ftd.c: drives an ATI Net CAN OEM force/torque sensor, which is asked for every sample. */
#include <math.h>

#include "config/base/base.h"
#include "daemons/drv/drv_missed.h"
#include "daemons/ft/ati.h"
#include "daemons/ft/ftd_settings.h"

#define ITEM_LATE_NS 20000000 /* of what is read once: the sensor may have to load it */
#define ITEM_LOST_NS 40000000
#define RESET_WAIT_MAX_NS 1000000000

/* What it sends, each with a question of the same number, but for the reset. */
enum { SERIAL, FIRMWARE, COUNTS, UNITS, CALIBRATION, MATRIX, SAMPLE, RESET };
static const enum ati_opcode opcodes[] = {
	[SERIAL] = ATI_SERIAL,		 [FIRMWARE] = ATI_FIRMWARE, [COUNTS] = ATI_COUNTS, [UNITS] = ATI_UNITS,
	[CALIBRATION] = ATI_CALIBRATION, [MATRIX] = ATI_MATRIX,	    [SAMPLE] = ATI_GAUGE,  [RESET] = ATI_RESET,
};
static const char *const item_words[] = { "serial number",     "firmware version", "counts per unit", "unit codes",
					  "calibration index", "matrix",	   "sample" };

/* The rows that it receives have the same numbers.  Of an identifier the first row whose length fits takes a frame:
 * that of the matrix, with all identifiers that its replies may have, comes behind them.  That of the odds, for
 * --frames, is one of remote frames: the sensor sends none, so it takes none. */
enum { OTHER_HOST = RESET, ODDS };
static const unsigned int order[] = { SAMPLE, SERIAL, FIRMWARE, COUNTS, UNITS, CALIBRATION, OTHER_HOST, MATRIX, ODDS };

/* What it has to know: the items up to the calibration, then six rows of the matrix; a bit for each. */
#define ITEMS (MATRIX + ATI_AXES)
#define ALL ((1u << ITEMS) - 1)

struct ftd {
	struct ftd_settings settings; /* first: the loop fills them in */
	unsigned int receives[sizeof(order) / sizeof(*order)];
	struct mounting mounting;
	struct ati_wrench weight;

	unsigned int known; /* bits of items */
	char serial[ATI_SERIAL_LEN + 1];
	struct ati_firmware firmware;
	uint32_t counts[2];
	double unit[2]; /* N, N m */
	struct ati_calibration calibration;
	double row[ATI_GAUGES]; /* that is being read */
	bool row_spoiled;

	struct ati_halves halves;
	struct ati_sample got;	  /* the newest healthy one; t_ns 0: none */
	struct ati_wrench wrench; /* of it, without the weight, with the bias */
	uint32_t saturated;
	uint16_t status;
	int64_t heard_ns, started_ns; /* the newest complete sample; since when it is waited for */
	uint32_t lost, lost_noted;

	bool can_error;
	int64_t quiet_ns;		 /* until then nothing is sent */
	int64_t waits_ns, reset_wait_ns; /* after the last reset, and after the next */

	struct ati_wrench bias, sum;
	unsigned int summed;
	uint32_t bias_handle; /* 0: none is being taken */
};

/* ---- settings and frames ---- */

static void add_question(const struct ftd *f, struct drv *drv, unsigned int n, struct error_sink *errors)
{
	const bool sample = n == SAMPLE;
	const struct drv_send send = {
		.row = { .id = (uint32_t)f->settings.base << 4 | opcodes[n],
			 .key = { 0xFF }, /* which calibration, which row of the matrix */
			 .class = n == RESET ? SLOTS_COMMAND : SLOTS_QUEUE,
			 .period_ns = sample ? drv_period_ns(drv) : 0,
			 .deadline_ns = sample ? f->settings.reply_late_ns : ITEM_LATE_NS,
			 .harmless = n != RESET },
		.len = n == CALIBRATION || n == MATRIX,
	};
	const struct drv_question question = {
		.send = n,
		.receive = f->receives[n],
		.exclusive = true,
		.replies = sample	 ? ATI_HALVES
			   : n == MATRIX ? ATI_ROW_FRAMES
					 : 1,
		.late_ns = sample ? f->settings.reply_late_ns : ITEM_LATE_NS,
		.lost_ns = sample ? f->settings.reply_lost_ns : ITEM_LOST_NS,
	};

	drv_add_send(drv, &send, errors);
	if (n != RESET)
		drv_add_question(drv, &question, errors);
}

static void add_receive(struct ftd *f, struct drv *drv, unsigned int n, struct error_sink *errors)
{
	static const struct {
		uint32_t id, mask;
		uint8_t len_min, len_max;
	} shapes[] = {
		[SERIAL] = { ATI_SERIAL, 0, 8, 8 },	      [FIRMWARE] = { ATI_FIRMWARE, 0, 4, 4 },
		[COUNTS] = { ATI_COUNTS, 0, 8, 8 },	      [UNITS] = { ATI_UNITS, 0, 2, 2 },
		[CALIBRATION] = { ATI_CALIBRATION, 0, 1, 1 }, [MATRIX] = { ATI_MATRIX, 0x7F8, 8, 8 },
		[SAMPLE] = { ATI_GAUGE, 0x7FE, 6, 8 },	      [OTHER_HOST] = { ATI_GAUGE, 0x7FD, 0, 1 },
		[ODDS] = { ATI_ODDS | FRAME_RTR, 0, 6, 6 },
	};
	const struct drv_receive row = {
		.id = (uint32_t)f->settings.base << 4 | shapes[n].id,
		.id_mask = shapes[n].mask,
		.len_min = shapes[n].len_min,
		.len_max = shapes[n].len_max,
		.period_ns = n == ODDS ? drv_period_ns(drv) : 0,
		.from = "the sensor",
	};

	f->receives[n] = (unsigned int)drv_add_receive(drv, &row, errors);
}

static int declare(void *self, struct drv *drv, struct error_sink *errors)
{
	struct ftd *f = self;
	const struct ftd_settings *s = &f->settings;

	if (s->gravity[0] == 0 && s->gravity[1] == 0 && s->gravity[2] == 0)
		error_add(errors, "gravity: a direction is needed, such as [0, 0, -1]");
	if (errors->count)
		return -EINVAL;
	f->mounting = mounting_of(s->mounting_deg);
	f->weight = ati_weight(s->tool_kg, s->tool_center_m, s->gravity);
	f->reset_wait_ns = s->reset_wait_ns;
	for (unsigned int i = 0; i < sizeof(order) / sizeof(*order); i++)
		add_receive(f, drv, order[i], errors);
	for (unsigned int i = 0; i <= RESET; i++)
		add_question(f, drv, i, errors);
	return errors->count ? -EINVAL : 0;
}

/* The bias of the process before. */
static int open_previous(void *self, struct drv *drv, struct error_sink *errors)
{
	struct ftd *f = self;
	const struct msg_ft *before = drv_previous(drv);

	(void)errors;
	for (unsigned int i = 0; before && i < 3; i++) {
		if (isfinite(before->bias_force[i]))
			f->bias.force_n[i] = before->bias_force[i];
		if (isfinite(before->bias_torque[i]))
			f->bias.torque_nm[i] = before->bias_torque[i];
	}
	return 0;
}

/* ---- asking ---- */

/* The first that is not known; ITEMS: all are. */
static unsigned int missing(const struct ftd *f)
{
	unsigned int item = 0;

	while (f->known & 1u << item)
		item++;
	return item;
}

static unsigned int question_of(unsigned int item)
{
	return item == ITEMS ? SAMPLE : item < MATRIX ? item : MATRIX;
}

/* The next item that is not known; else a sample.  While one is under way, or its reply is owed, drv_ask refuses. */
static void ask(struct ftd *f, struct drv *drv, int64_t now_ns)
{
	const unsigned int base = (unsigned int)f->settings.base;
	const unsigned int item = missing(f), question = question_of(item);
	struct frame frame;

	if (now_ns < f->quiet_ns)
		return;
	ati_encode(&frame, base, opcodes[question],
		   (uint8_t)(question == MATRIX ? item - MATRIX : (unsigned int)f->settings.calibration));
	if (drv_ask(drv, question, &frame, item))
		return;
	f->row_spoiled = false;
	if (question == SAMPLE)
		ati_halves_begin(&f->halves);
}

/* ---- what it is ---- */

static int decode_units(struct ftd *f, const struct frame *frame)
{
	uint8_t codes[2];
	const int status = ati_decode_units(codes, frame);

	if (status)
		return status;
	f->unit[0] = ati_force_n(f->settings.force_unit ? (uint8_t)f->settings.force_unit : codes[0]);
	f->unit[1] = ati_torque_nm(f->settings.torque_unit ? (uint8_t)f->settings.torque_unit : codes[1]);
	return f->unit[0] > 0 && f->unit[1] > 0 ? 0 : -EPROTO;
}

static int decode_item(struct ftd *f, unsigned int item, unsigned int place, const struct frame *frame)
{
	uint8_t index;
	int status;

	switch (item) {
	case SERIAL:
		return ati_decode_serial(f->serial, frame);
	case FIRMWARE:
		return ati_decode_firmware(&f->firmware, frame);
	case COUNTS:
		return ati_decode_counts(f->counts, frame);
	case UNITS:
		return decode_units(f, frame);
	case CALIBRATION:
		status = ati_decode_calibration(&index, frame);
		return status ? status : index == f->settings.calibration ? 0 : -EPROTO;
	default:
		status = f->row_spoiled ? -EPROTO : ati_decode_row(f->row, place, frame);
		f->row_spoiled |= status != 0;
		if (!status && place == ATI_ROW_FRAMES - 1)
			memcpy(f->calibration.matrix[item - MATRIX], f->row, sizeof(f->row));
		return status;
	}
}

static void take_item(struct ftd *f, struct drv *drv, const struct drv_ask_answer *asked, const struct bus_frame *reply)
{
	const unsigned int item = asked->tag;
	const int status = decode_item(f, item, ATI_ROW_FRAMES - 1 - asked->left, &reply->frame);

	if (status) {
		drv_fault(drv, DRV_ALL, "answer", "invalid %s: %u bytes, %02x %02x ...", item_words[question_of(item)],
			  reply->frame.len, reply->frame.data[0], reply->frame.data[1]);
		return;
	}
	if (asked->left)
		return;
	drv_fault_clear(drv, DRV_ALL, "answer");
	f->known |= 1u << item;
	if (item == ITEMS - 1) {
		f->calibration.force_n = f->unit[0] / f->counts[0];
		f->calibration.torque_nm = f->unit[1] / f->counts[1];
		drv_event(drv, MSG_SEVERITY_INFO, "sensor",
			  "serial number %s, firmware %u.%u.%u, counts per unit %u, %u, calibration %d", f->serial,
			  f->firmware.major, f->firmware.minor, f->firmware.build, f->counts[0], f->counts[1],
			  (int)f->settings.calibration);
	}
	ask(f, drv, clock_now_ns());
}

/* ---- samples ---- */

static void end_bias(struct ftd *f, struct drv *drv, int result, const char *text)
{
	if (f->bias_handle)
		drv_reply(drv, f->bias_handle, result, "%s", text);
	f->bias_handle = 0;
}

static bool is_healthy(struct ftd *f, struct drv *drv, const struct ati_sample *sample)
{
	const unsigned int bad = sample->status & ~(unsigned int)f->settings.status_ignored;

	f->status = sample->status;
	f->can_error = bad & ATI_STATUS_CAN_ERROR;
	if (bad) {
		drv_fault(drv, DRV_ALL, "status", "the sensor reports %s%s, status %04x",
			  f->can_error ? "a CAN error" : "",
			  bad & ~ATI_STATUS_CAN_ERROR ? f->can_error ? " and a problem" : "a problem" : "", f->status);
		end_bias(f, drv, -EIO, "the sensor reports a problem");
		return false;
	}
	drv_fault_clear(drv, DRV_ALL, "status");
	f->reset_wait_ns = f->settings.reset_wait_ns;
	return true;
}

static void check_saturation(struct ftd *f, struct drv *drv)
{
	const uint32_t now = ati_saturated(&f->got, (int32_t)f->settings.saturation_counts), new = now & ~f->saturated;

	f->saturated = now;
	if (new)
		drv_event(drv, MSG_SEVERITY_WARNING, "saturated", "saturated gauges:%s%s%s%s%s%s", now & 1 ? " 0" : "",
			  now & 2 ? " 1" : "", now & 4 ? " 2" : "", now & 8 ? " 3" : "", now & 16 ? " 4" : "",
			  now & 32 ? " 5" : "");
}

/* true: with this sample the bias is known. */
static bool add_to_bias(struct ftd *f, struct drv *drv)
{
	if (!f->bias_handle)
		return false;
	if (f->saturated) {
		end_bias(f, drv, -ERANGE, "a gauge is saturated");
		return false;
	}
	f->sum = ati_add(&f->sum, 1, &f->wrench);
	if (++f->summed < f->settings.bias_samples)
		return false;
	f->bias = ati_add(&(struct ati_wrench){ 0 }, 1.0 / f->summed, &f->sum);
	return true;
}

static void take_sample(struct ftd *f, struct drv *drv, const struct ati_sample *sample)
{
	struct ati_wrench mounted;
	bool biased;

	f->heard_ns = sample->t_ns;
	if (!is_healthy(f, drv, sample))
		return;
	f->got = *sample;
	mounted = ati_measure(&f->calibration, sample);
	ati_mount(&f->mounting, &mounted);
	f->wrench = ati_add(&mounted, -1, &f->weight);
	check_saturation(f, drv);
	biased = add_to_bias(f, drv);
	drv_publish(drv);
	if (biased)
		end_bias(f, drv, 0, "biased");
}

static void take_half(struct ftd *f, struct drv *drv, const struct drv_ask_answer *asked, const struct bus_frame *reply)
{
	struct ati_sample sample;

	if (ati_halves_take(&f->halves, &reply->frame, reply->t_ns, &sample))
		take_sample(f, drv, &sample);
	else if (!asked->left)
		f->lost++;
}

/* A sensor that was switched off and on meanwhile has forgotten its calibration: it is set again. */
static void miss_sample(struct ftd *f, struct drv *drv)
{
	f->lost++;
	f->known &= ~(1u << CALIBRATION);
	ask(f, drv, clock_now_ns());
}

static bool answer(void *self, struct drv *drv, const struct drv_ask_answer *asked, const struct bus_frame *reply)
{
	struct ftd *f = self;

	if (asked->question == SAMPLE) {
		if (reply)
			take_half(f, drv, asked, reply);
		else
			miss_sample(f, drv);
	} else if (reply) {
		take_item(f, drv, asked, reply);
	}
	return false;
}

/* A frame that belongs to no request.  Replies to other hosts look the same as replies to this one. */
static bool rx(void *self, struct drv *drv, unsigned int row, const struct bus_frame *got)
{
	struct ftd *f = self;

	(void)got;
	if (row != f->receives[OTHER_HOST] && row != f->receives[CALIBRATION])
		return false;
	drv_event(drv, MSG_SEVERITY_WARNING, "other-host", "another host sends requests to the sensor");
	f->halves.spoiled = f->row_spoiled = true;
	f->known &= ~(1u << CALIBRATION);
	return false;
}

static int64_t fill(void *self, struct drv *drv, void *state, int64_t now_ns)
{
	const struct ftd *f = self;
	const struct ati_wrench without = ati_add(&f->wrench, -1, &f->bias);
	struct msg_ft *s = state;

	(void)drv;
	memcpy(s->bias_force, f->bias.force_n, sizeof(s->bias_force));
	memcpy(s->bias_torque, f->bias.torque_nm, sizeof(s->bias_torque));
	s->status = f->status;
	if (!f->got.t_ns)
		return 0;
	memcpy(s->force, without.force_n, sizeof(s->force));
	memcpy(s->torque, without.torque_nm, sizeof(s->torque));
	s->saturated = f->saturated;
	s->age_ns = now_ns - f->got.t_ns;
	return f->got.t_ns;
}

/* ---- each tick ---- */

static void begin_again(struct ftd *f, struct drv *drv, const char *why)
{
	end_bias(f, drv, -EIO, why);
	f->known = 0;
	f->started_ns = 0;
	drv_start_again(drv);
}

static void sent(void *self, struct drv *drv, unsigned int send, const struct frame *frame, int64_t t_ns)
{
	struct ftd *f = self;

	(void)drv;
	(void)frame;
	if (send == RESET)
		f->quiet_ns = t_ns + f->waits_ns;
}

/* If a reset does not end an error, the next one comes later. */
static void reset(struct ftd *f, struct drv *drv, int64_t now_ns)
{
	struct frame frame;

	if (!f->can_error || now_ns < f->quiet_ns)
		return;
	f->can_error = false;
	ati_encode(&frame, (unsigned int)f->settings.base, ATI_RESET, 0);
	if (!drv_send(drv, RESET, &frame))
		drv_event(drv, MSG_SEVERITY_WARNING, "reset", "the sensor is reset after a CAN error, status %04x",
			  f->status);
	f->waits_ns = f->reset_wait_ns;
	f->quiet_ns = now_ns + f->waits_ns;
	if (f->reset_wait_ns <= RESET_WAIT_MAX_NS / 2)
		f->reset_wait_ns *= 2;
	begin_again(f, drv, "the sensor was reset");
}

static void report_losses(struct ftd *f, struct drv *drv)
{
	if (drv_missed_more(&f->lost_noted, f->lost))
		drv_event(drv, MSG_SEVERITY_WARNING, "samples-lost", "so far %u samples lacked a half, or both",
			  f->lost);
}

/* Silence counts from the start, and from the end of a reset. */
static bool is_silent(const struct ftd *f, struct drv *drv, int64_t now_ns)
{
	const int64_t waits_ns = f->quiet_ns > f->started_ns ? f->quiet_ns : f->started_ns;
	const long long ms = drv_missed_ms(drv, f->heard_ns, waits_ns, f->settings.silent_after_ns, now_ns);

	if (ms && !drv_bus_dead(drv, 0))
		drv_fault(drv, DRV_ALL, "no-answer", "the sensor does not answer: no %s for %lld ms",
			  item_words[question_of(missing(f))], ms);
	return ms;
}

static enum drv_step start(void *self, struct drv *drv, const struct drv_orders *orders)
{
	struct ftd *f = self;
	bool ready;

	if (!f->started_ns)
		f->started_ns = orders->now_ns;
	reset(f, drv, orders->now_ns);
	ready = f->known == ALL && f->got.t_ns > f->started_ns;
	if (ready) {
		drv_fault_clear(drv, DRV_ALL, "no-answer");
		f->lost_noted = f->lost; /* while it was away */
	} else {
		is_silent(f, drv, orders->now_ns);
	}
	ask(f, drv, orders->now_ns);
	return ready ? DRV_DONE : DRV_AGAIN;
}

static void tick(void *self, struct drv *drv, const struct drv_orders *orders)
{
	struct ftd *f = self;

	report_losses(f, drv);
	reset(f, drv, orders->now_ns);
	if (is_silent(f, drv, orders->now_ns))
		begin_again(f, drv, "the sensor does not answer");
	ask(f, drv, orders->now_ns);
}

/* ---- requests ---- */

static const struct drv_verb verbs[] = { { .verb = MSG_VERB_BIAS, .exclusive = true },
					 { .verb = MSG_VERB_CLEAR },
					 { 0 } };

static int request(void *self, struct drv *drv, uint32_t handle, const struct msg_request *request, int64_t now_ns)
{
	struct ftd *f = self;

	if (request->verb == MSG_VERB_CLEAR) {
		f->bias = (struct ati_wrench){ 0 };
		drv_why(drv, "the bias is 0");
		return 0;
	}
	if ((f->known | 1u << CALIBRATION) != ALL || now_ns - f->got.t_ns > f->settings.silent_after_ns)
		return drv_refuse(drv, -EAGAIN, "there are no samples: the sensor is in fault or starting");
	f->sum = (struct ati_wrench){ 0 };
	f->summed = 0;
	f->bias_handle = handle;
	return DRV_LATER;
}

/* The bias stays as it was. */
static int cancel(void *self, struct drv *drv, uint32_t handle, int why)
{
	(void)drv;
	(void)handle;
	(void)why;
	((struct ftd *)self)->bias_handle = 0;
	return 0;
}

static const struct drv_driver driver = {
	.program = "ftd",
	.about = "drives a force/torque sensor",
	.size = sizeof(struct ftd),
	.settings = ftd_settings_rows,
	.tick_preset = "10ms",
	.state = msg_ft_number,
	.declare = declare,
	.open = open_previous,
	.start = start,
	.tick = tick,
	.rx = rx,
	.answer = answer,
	.sent = sent,
	.fill = fill,
	.verbs = verbs,
	.request = request,
	.cancel = cancel,
};

int main(int argc, char **argv)
{
	return drv_main(&driver, argc, argv);
}
