/* robotiqd_io.c: output registers that have to be written, images of the input registers, SDO and PDO. */
#include "can/canopen/nmt.h"
#include "can/canopen/sdo.h"
#include "config/base/base.h"
#include "daemons/robotiq/robotiqd.h"

#define LAST 15 /* register */
#define PROBE_NS 200000000
#define WRITES_FAILED 3

/* ---- what is wanted of the output registers ---- */

static void want(struct robotiqd *d, unsigned int reg, uint8_t value)
{
	d->want[reg] = value;
	d->wanted |= 1u << reg;
}

void robotiqd_want_only(struct robotiqd *d, const struct robotiq_command *command, bool stops)
{
	uint8_t r[ROBOTIQ_REGISTERS];

	robotiq_encode(command, r);
	d->wanted = 0;
	want(d, 1, r[1]);
	d->stops = stops;
}

void robotiqd_want_rest(struct robotiqd *d)
{
	robotiqd_want_only(d, &(struct robotiq_command){ .active = d->got.active, .mode = d->got.mode }, true);
}

void robotiqd_want_target(struct robotiqd *d, const struct robotiq_command *c)
{
	uint8_t r[ROBOTIQ_REGISTERS];

	robotiq_encode(c, r);
	d->wanted = 0;
	d->stops = false;
	want(d, 1, r[1]);
	want(d, 2, r[2]);
	for (unsigned int i = 0; i < robotiqd_fingers(d); i++)
		for (unsigned int k = ROBOTIQ_FIRST + 3 * i; k < ROBOTIQ_FIRST + 3 * i + 3; k++)
			if (!i || (i == ROBOTIQ_SCISSOR ? c->scissor : c->fingers))
				want(d, k, r[k]);
}

/* What to write next; 0: nothing.  Positions behind speeds and forces, and rGTO last. */
unsigned int robotiqd_next_write(const struct robotiqd *d)
{
	static const uint8_t order[] = { 9, 11, 12, 14, 15, 10, 13, 2, 5, 6, 8, 4, 7, 1 };

	for (unsigned int i = 0; i < sizeof(order); i++) {
		const unsigned int reg = order[i], bit = 1u << reg;

		if (d->wanted & bit && !(d->known & bit && d->out[reg] == d->want[reg]))
			return reg;
	}
	return 0;
}

/* ---- requests to the gripper ---- */

/* With PDOs nothing else is sent at rest, nor while a write is withheld because the bus has confirmed nothing. */
static void probe(struct robotiqd *d, struct drv *drv, int64_t now_ns)
{
	struct frame frame;

	robotiq_read(&frame, (unsigned int)d->settings.node, (uint8_t)d->settings.upload, 1);
	d->busy = now_ns - d->probed_ns > PROBE_NS && !drv_ask(drv, ROBOTIQD_SEND_READ, &frame, 0);
	if (d->busy)
		d->probed_ns = now_ns;
}

static void read_next(struct robotiqd *d, struct drv *drv, int64_t now_ns)
{
	struct frame frame;

	if (!d->at) {
		d->at = 1;
		d->image_begun_ns = now_ns;
	}
	robotiq_read(&frame, (unsigned int)d->settings.node, (uint8_t)d->settings.upload, (uint8_t)d->at);
	d->busy = !drv_ask(drv, ROBOTIQD_SEND_READ, &frame, 0);
	d->reading = d->busy;
	if (!d->busy)
		d->at = 0;
}

/* false: it waits for the next tick, and something else may be sent before; nothing before a stop. */
static bool write_next(struct robotiqd *d, struct drv *drv, unsigned int reg)
{
	struct frame frame;

	robotiq_write(&frame, (unsigned int)d->settings.node, (uint8_t)reg, d->want[reg]);
	d->busy = !(d->stops ? drv_ask_stop : drv_ask)(drv, ROBOTIQD_SEND_WRITE, &frame, 0);
	d->waits = !d->busy;
	return d->busy || d->stops;
}

/* Registers 1 to 8 in one frame, each tick until it was sent.  The gripper does not answer: the echo of the next image
 * shows whether it arrived. */
static bool write_pdo(struct robotiqd *d, struct drv *drv)
{
	uint8_t out[ROBOTIQ_REGISTERS];
	struct frame frame;

	memcpy(out, d->out, sizeof(out));
	for (unsigned int i = 1; i <= 8; i++)
		if (d->wanted & 1u << i)
			out[i] = d->want[i];
	robotiq_encode_pdo(&frame, (unsigned int)d->settings.node, out);
	d->waits = true;
	return !drv_send(drv, ROBOTIQD_SEND_PDO, &frame);
}

void robotiqd_sent(void *self, struct drv *drv, unsigned int send, const struct frame *frame, int64_t t_ns)
{
	struct robotiqd *d = self;

	(void)drv;
	if (send != ROBOTIQD_SEND_PDO)
		return;
	memcpy(d->out + 1, frame->data, ROBOTIQ_PDO_LEN);
	d->known |= 0x1FE;
	d->written_ns = t_ns;
}

/* A write of register 1 repeats rACT, which would activate a gripper that has lost its power: it has to have been seen
 * activated shortly before, in less time than it takes to boot. */
static bool may_write(const struct robotiqd *d, unsigned int reg, int64_t now_ns)
{
	const bool acts = d->wanted & 2 && d->want[1] & 1 && (reg == 1 || (d->settings.pdo && reg <= 8));

	return !acts || d->job == ROBOTIQD_ACTIVATE || (d->active_ns && now_ns - d->active_ns <= d->seen_ns);
}

void robotiqd_go_on(struct robotiqd *d, struct drv *drv, int64_t now_ns)
{
	const unsigned int reg = d->waits ? 0 : robotiqd_next_write(d);

	if (d->busy)
		return;
	if (reg && (d->stops || !d->reading) && may_write(d, reg, now_ns)) {
		d->at = 0;
		if (d->settings.pdo && !d->stops && !d->job && reg <= 8 ? write_pdo(d, drv) : write_next(d, drv, reg))
			return;
	}
	if (d->settings.pdo) {
		probe(d, drv, now_ns);
	} else if (d->due || d->reading) {
		d->due = false;
		d->reading = true;
		if (d->at || now_ns >= d->written_ns + d->settings.refresh_ns)
			read_next(d, drv, now_ns);
		else
			drv_wake_at(drv, d->written_ns + d->settings.refresh_ns);
	}
}

/* ---- images ---- */

/* What the gripper was last commanded, by its own report: it may have been by another program, or before a restart. */
static void take_echo(struct robotiqd *d)
{
	if (!robotiqd_is_settled(d))
		return;
	d->out[1] = (uint8_t)(robotiq_echo(&d->got) | (d->known & 2 ? d->out[1] & 0x10 : 0));
	d->known |= 2;
	for (unsigned int i = 0; i < ROBOTIQ_FINGERS; i++) {
		d->out[ROBOTIQ_FIRST + 3 * i] = d->got.finger[i].requested;
		d->known |= 1u << (ROBOTIQ_FIRST + 3 * i);
	}
}

static bool got_image(struct robotiqd *d, struct drv *drv)
{
	robotiq_decode(&d->got, d->image);
	d->status = d->image[1] | (uint32_t)d->image[2] << 8 | (uint32_t)d->image[3] << 16;
	d->got_ns = d->image_ns;
	d->begun_ns = d->image_begun_ns;
	d->at = 0;
	d->reading = false;
	drv_fault_clear(drv, DRV_ALL, "no-image");
	take_echo(d);
	if (!d->got.active && d->job == ROBOTIQD_NO_JOB)
		d->wanted = 0;
	robotiqd_job_image(d, drv);
	return true;
}

/* ---- what is received ---- */

static void write_failed(struct robotiqd *d, struct drv *drv, uint32_t code, int64_t now_ns)
{
	d->waits = true; /* for the next tick */
	if ((code == SDO_NO_REPLY || code == SDO_NOT_A_REPLY) && ++d->writes_failed < WRITES_FAILED)
		return;
	d->refused_ns = now_ns;
	drv_fault(drv, DRV_ALL, "not-written", "%s", d->wrong);
}

static void answered_write(struct robotiqd *d, struct drv *drv, const struct frame *request, uint32_t code,
			   int64_t t_ns)
{
	const unsigned int reg = request->data[3], bit = 1u << reg;

	d->written_ns = t_ns;
	d->known &= ~bit; /* perhaps it was written */
	if (code) {
		write_failed(d, drv, code, t_ns);
		return;
	}
	d->writes_failed = 0;
	d->out[reg] = request->data[4];
	d->known |= bit;
}

static void see_active(struct robotiqd *d, uint8_t first, int64_t t_ns)
{
	d->active_ns = first & 1 ? t_ns : 0;
}

static bool answered_read(struct robotiqd *d, struct drv *drv, uint8_t value, uint32_t code, int64_t t_ns)
{
	if (!code && (d->settings.pdo || d->at == 1))
		see_active(d, value, t_ns);
	if (d->settings.pdo)
		return false;
	if (code) { /* an image has no gaps: the next tick begins again */
		d->at = 0;
		d->reading = false;
		return false;
	}
	if (d->at == 1)
		d->image_ns = t_ns;
	d->image[d->at] = value;
	return d->at++ == LAST && got_image(d, drv);
}

bool robotiqd_answer(void *self, struct drv *drv, const struct drv_ask_answer *asked, const struct bus_frame *reply)
{
	struct robotiqd *d = self;
	const struct frame *request = &asked->request;
	const bool writes = asked->question == ROBOTIQD_SEND_WRITE;
	const int64_t t_ns = reply ? reply->t_ns : asked->asked_ns + d->settings.reply_late_ns;
	uint32_t value;
	const uint32_t code = sdo_reply(request, reply ? &reply->frame : NULL, &value);
	bool complete = false;

	d->busy = false;
	if (code)
		snprintf(d->wrong, sizeof(d->wrong), "%s 0x%02X%02X.%02X: %.34s", writes ? "write" : "read",
			 request->data[2], request->data[1], request->data[3], sdo_words(code));
	if (writes)
		answered_write(d, drv, request, code, t_ns);
	else
		complete = answered_read(d, drv, (uint8_t)value, code, t_ns);
	robotiqd_go_on(d, drv, t_ns);
	return complete;
}

bool robotiqd_rx(void *self, struct drv *drv, unsigned int row, const struct bus_frame *got)
{
	struct robotiqd *d = self;
	uint8_t word;

	if (row == ROBOTIQD_GOT_NMT && nmt_decode(&got->frame, &word)) {
		d->nmt_due |= (word & ~NMT_TOGGLE) != NMT_OPERATIONAL;
		if (word == NMT_BOOT)
			d->active_ns = 0;
	}
	if (row == ROBOTIQD_GOT_PDO1 && !robotiq_decode_pdo(d->image, &got->frame, true)) {
		d->image_ns = d->image_begun_ns = got->t_ns;
		d->at = 9;
		see_active(d, d->image[1], got->t_ns);
	}
	/* Both of one refresh: otherwise one of them was lost. */
	if (row != ROBOTIQD_GOT_PDO2 || d->at != 9 || got->t_ns - d->image_ns >= d->settings.refresh_ns ||
	    robotiq_decode_pdo(d->image, &got->frame, false))
		return false;
	return got_image(d, drv);
}

void robotiqd_wake(void *self, struct drv *drv, int64_t now_ns)
{
	robotiqd_go_on(self, drv, now_ns);
}
