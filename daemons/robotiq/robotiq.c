/* robotiq.c: the codec of the Robotiq 3-finger gripper.  Checked: pure, covered. */
#include "config/base/base.h"
#include "daemons/robotiq/robotiq.h"

#include <math.h>

#include "can/canopen/sdo.h"

#define INPUT 0x2000
#define OUTPUT 0x2200

/* Bits of register 1, in both directions. */
#define ACT 0x01
#define MODE(mode) ((mode) << 1)
#define GTO 0x08
#define ATR 0x10 /* output */

#define ICF 0x04 /* of output register 2 */
#define ICS 0x08

/* ---- registers ---- */

void robotiq_decode(struct robotiq_state *state, const uint8_t r[ROBOTIQ_REGISTERS])
{
	state->active = r[1] & ACT;
	state->go = r[1] & GTO;
	state->mode = (enum robotiq_mode)(r[1] >> 1 & 3);
	state->phase = (enum robotiq_phase)(r[1] >> 4 & 3);
	state->motion = (enum robotiq_motion)(r[1] >> 6);
	state->fault = r[3] & 0x0F;
	for (unsigned int i = 0; i < ROBOTIQ_FINGERS; i++) {
		const uint8_t *finger = r + ROBOTIQ_FIRST + 3 * i;

		state->finger[i].stop = (enum robotiq_stop)(r[2] >> 2 * i & 3);
		state->finger[i].requested = finger[0];
		state->finger[i].position = finger[1];
		state->finger[i].current = finger[2];
	}
}

void robotiq_encode(const struct robotiq_command *c, uint8_t r[ROBOTIQ_REGISTERS])
{
	r[1] = (uint8_t)((c->active ? ACT : 0) | MODE(c->mode) | (c->go ? GTO : 0) | (c->release ? ATR : 0));
	r[2] = (uint8_t)((c->fingers ? ICF : 0) | (c->scissor ? ICS : 0));
	r[3] = 0;
	for (unsigned int i = 0; i < ROBOTIQ_FINGERS; i++) {
		uint8_t *finger = r + ROBOTIQ_FIRST + 3 * i;

		finger[0] = c->finger[i].position;
		finger[1] = c->finger[i].speed;
		finger[2] = c->finger[i].force;
	}
}

uint8_t robotiq_echo(const struct robotiq_state *s)
{
	return (uint8_t)((s->active ? ACT : 0) | MODE(s->mode) | (s->go ? GTO : 0));
}

int robotiq_share(double share, uint8_t *ticks)
{
	if (isnan(share))
		return -EDOM;
	if (share < 0 || share > 1)
		return -ERANGE;
	*ticks = (uint8_t)lround(share * 255);
	return 0;
}

/* ---- frames ---- */

void robotiq_read(struct frame *frame, unsigned int node, uint8_t upload, uint8_t sub)
{
	sdo_read(frame, node, INPUT, sub);
	frame->data[0] = upload;
}

void robotiq_write(struct frame *frame, unsigned int node, uint8_t sub, uint8_t value)
{
	sdo_write(frame, node, OUTPUT, sub, value, 1);
}

int robotiq_decode_pdo(uint8_t r[ROBOTIQ_REGISTERS], const struct frame *frame, bool first)
{
	if (frame->len != ROBOTIQ_PDO_LEN)
		return -EMSGSIZE;
	if (first)
		memcpy(r + 1, frame->data, 8);
	else
		memcpy(r + 9, frame->data, 7);
	return 0;
}

void robotiq_encode_pdo(struct frame *frame, unsigned int node, const uint8_t r[ROBOTIQ_REGISTERS])
{
	*frame = (struct frame){ .id = ROBOTIQ_ID_RPDO1 + node, .len = ROBOTIQ_PDO_LEN };
	memcpy(frame->data, r + 1, ROBOTIQ_PDO_LEN);
}

/* ---- faults ---- */

static const struct robotiq_fault faults[] = {
	{ 0x0, ROBOTIQ_NO_FAULT, "none", "no fault" },
	{ 0x5, ROBOTIQ_NO_FAULT, "activating", "the activation is not complete" },
	{ 0x6, ROBOTIQ_NO_FAULT, "changing-mode", "the change of mode is not complete" },
	{ 0x7, ROBOTIQ_NO_FAULT, "not-activated", "it must be activated first" },
	{ 0x9, ROBOTIQ_CLEARS_ITSELF, "not-ready", "its communication is not ready, perhaps it boots" },
	{ 0xA, ROBOTIQ_CLEARS_ITSELF, "scissor-blocked",
	  "the scissor axis is blocked; it clears when that is removed" },
	{ 0xB, ROBOTIQ_CLEARS_ITSELF, "releasing", "an automatic release is in progress" },
	{ 0xD, ROBOTIQ_CLEARS_RESET, "activation-failed", "the activation failed: something is in the way" },
	{ 0xE, ROBOTIQ_CLEARS_RESET, "scissor-stuck", "the scissor axis has been blocked for more than 20 s" },
	{ 0xF, ROBOTIQ_CLEARS_RESET, "released", "an automatic release has been completed" },
};
static const struct robotiq_fault unknown = { 0xFF, ROBOTIQ_CLEARS_ITSELF, "unknown-fault",
					      "a fault that its manual does not name" };

const struct robotiq_fault *robotiq_fault(uint8_t fault)
{
	for (unsigned int i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		if (faults[i].number == fault)
			return &faults[i];
	return &unknown;
}
