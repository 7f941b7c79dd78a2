/* jmc_reply.c: what Hubo's boards reply.  Checked: pure, covered. */
#include <math.h>

#include "config/base/base.h"
#include "daemons/hubo/jmc.h"

static int16_t i16(const uint8_t *bytes)
{
	return (int16_t)frame_le16(bytes);
}

int jmc_decode_encoders(struct jmc_encoders *e, enum jmc_kind kind, const struct frame *frame)
{
	const bool wide = kind == JMC_ONE || kind == JMC_TWO;
	const unsigned int bytes = wide ? 4 : 2;

	e->first = 0;
	e->n = jmc_motors(kind);
	if (kind == JMC_HAND) { /* two frames of one identifier: fingers 1 to 3, and 4 and 5 */
		e->first = frame->len == 4 ? 3 : 0;
		e->n = frame->len == 4 ? 2 : 3;
	}
	/* Whether a board with one motor sends four bytes or eight is not known. */
	if (frame->len != e->n * bytes && (kind != JMC_ONE || frame->len != 8))
		return -EMSGSIZE;
	for (unsigned int i = 0; i < e->n; i++)
		e->counts[e->first + i] = wide ? (int32_t)frame_le32(&frame->data[4 * i]) : i16(&frame->data[2 * i]);
	return 0;
}

/* Three bytes of a motor; those of their bits that are used are the flags in their order. */
static uint32_t flags_of(const uint8_t bytes[3])
{
	return (bytes[0] & 0x0Fu) | (bytes[1] & 0x7Fu) << 4 | (bytes[2] & 0x1Fu) << 11;
}

int jmc_decode_status(struct jmc_status *status, enum jmc_kind kind, const struct frame *frame)
{
	const unsigned int motors = jmc_motors(kind), bytes = motors <= 2 ? 4 : 1;

	if (frame->len < motors * bytes)
		return -EMSGSIZE;
	for (unsigned int i = 0; i < motors; i++) {
		const uint8_t *from = &frame->data[i * bytes];

		/* The one byte of the others has the eight first flags in their order. */
		status->flags[i] = motors <= 2 ? flags_of(from) : *from;
		status->home[i] = motors <= 2 ? *from >> 4 : JMC_HOME_UNKNOWN;
	}
	return 0;
}

int jmc_decode_currents(struct jmc_currents *c, enum jmc_kind kind, const struct frame *frame)
{
	static const uint8_t three[] = { 0, 1, 3 }, five[] = { 0, 1, 2, 4, 5 };
	const unsigned int motors = jmc_motors(kind);

	if (frame->len < (kind == JMC_HAND ? 6 : 4))
		return -EMSGSIZE;
	c->temperature_c = kind == JMC_HAND ? NAN : frame->data[2];
	for (unsigned int i = 0; i < motors; i++) {
		if (motors <= 2)
			c->current_a[i] = (frame->data[i] << 2 | (frame->data[3] >> 2 * i & 3)) / 100.0;
		else if (motors == 3)
			c->current_a[i] = frame->data[three[i]] / 250.0;
		else
			c->current_a[i] = frame->data[five[i]] / 1000.0;
	}
	return 0;
}

int jmc_decode_measured(double value[JMC_MEASURED_MAX], enum jmc_measured what, const struct frame *frame)
{
	static const struct {
		uint8_t n;
		double counts_per[JMC_MEASURED_MAX];
	} replies[] = {
		[JMC_IS_FORCE] = { 3, { 100, 100, 10 } },
		[JMC_IS_TILT] = { 3, { 100, 100, 750 } },
		[JMC_IS_IMU] = { 4, { 100, 100, 100, 100 } },
		[JMC_IS_POWER] = { 3, { 100, 100, 10 } },
	};
	const unsigned int n = replies[what].n;

	if (frame->len < 2 * n || (frame->len > 2 * n && what != JMC_IS_POWER))
		return -EMSGSIZE;
	for (unsigned int i = 0; i < n; i++)
		value[i] = i16(&frame->data[2 * i]) / replies[what].counts_per[i];
	return 0;
}

/* ---- parameters ---- */

uint8_t jmc_parameter_index(unsigned int letter, unsigned int motor)
{
	if (letter > 5)
		return (uint8_t)(letter - 6 + 20);
	return (uint8_t)(6 * motor + letter + 1 + (motor >= 3 ? 5 : 0));
}

int jmc_decode_parameter(struct jmc_parameters *p, unsigned int letter, const struct frame *frame)
{
	if (frame->len != 8)
		return -EMSGSIZE;
	memcpy(p->bytes + 8 * (size_t)letter, frame->data, 8);
	return 0;
}
