/* jmc_tx.c: what a simulated joint board of Hubo says. */
#include <math.h>

#include "daemons/robotsim/jmc_board.h"

/* Slots of a board with one or two motors; the second one of a single motor is the page's open question. */
static unsigned int slots(const struct jmc_board *b)
{
	return b->motors_n == 1 && b->settings.second_slot == JMC_SECOND_NONE ? 1 : 2;
}

/* The motor of a slot, or NULL. */
static const struct jmc_motor *slot(const struct jmc_board *b, unsigned int i)
{
	if (i < b->motors_n)
		return &b->motor[i];
	return b->settings.second_slot == JMC_SECOND_REPEAT ? &b->motor[0] : NULL;
}

static bool encoders(const struct jmc_board *b, uint8_t half, struct frame *f)
{
	const unsigned int first = b->layout == JMC_HAND && half == 1 ? 3 : 0, n = first ? 2 : 3;

	if (b->layout == JMC_JOINTS) {
		for (unsigned int i = 0; i < slots(b); i++)
			frame_put_le(f->data + 4 * i, slot(b, i) ? (uint32_t)jmc_motor_reported(slot(b, i)) : 0, 4);
		f->len = (uint8_t)(4 * slots(b));
		return true;
	}
	for (unsigned int i = 0; i < n; i++) {
		const struct jmc_motor *m = &b->motor[first + i];
		const double turns = (m->counts / m->model->counts_per_rad + M_PI) / (2 * M_PI);

		frame_put_le(f->data + 2 * i,
			     b->layout == JMC_NECK ? (uint64_t)llround(turns * 4096) : (uint32_t)jmc_motor_reported(m),
			     2);
	}
	f->len = (uint8_t)(2 * n);
	return true;
}

static uint8_t home_flag(const struct jmc_board *b, const struct jmc_motor *m)
{
	return (uint8_t)(m->home.phase == JMC_HOME_DONE	    ? b->settings.home_ok
			 : jmc_home_runs(&m->home)	    ? b->settings.home_runs
			 : m->home.phase == JMC_HOME_FAILED ? b->settings.home_failed
							    : 0);
}

static uint8_t state(const struct jmc_board *b, const struct jmc_motor *m)
{
	const bool control = m->how != JMC_OFF && (m->how != JMC_PWM || b->settings.pwm_is_control);

	return (uint8_t)(b->fet | control << 1 | (b->mode == 1) << 2 | jmc_motor_switch(m) << 3);
}

static void status(const struct jmc_board *b, struct frame *f)
{
	if (b->layout == JMC_JOINTS) {
		for (unsigned int i = 0; i < slots(b); i++) {
			const struct jmc_motor *m = slot(b, i);

			frame_put_le(f->data + 4 * i, m ? m->latched | home_flag(b, m) << 4u | state(b, m) : 0, 4);
		}
		f->len = (uint8_t)(4 * slots(b));
		return;
	}
	for (unsigned int i = 0; i < b->motors_n; i++)
		f->data[i] = (uint8_t)(state(b, &b->motor[i]) | (b->motor[i].latched >> 8 & 0xF) << 4);
	f->len = (uint8_t)b->motors_n;
}

static uint8_t byte(double value)
{
	return (uint8_t)llround(num_clamp(value, 0, 255));
}

static void currents(const struct jmc_board *b, struct frame *f)
{
	static const uint8_t three[] = { 0, 1, 3 }, five[] = { 0, 1, 2, 4, 5 };

	f->len = b->layout == JMC_HAND ? 6 : 4;
	if (b->layout != JMC_HAND)
		f->data[2] = byte(b->temperature_c);
	for (unsigned int i = 0; i < b->motors_n; i++) {
		const double a = b->motor[i].current_a;
		const uint32_t centi = (uint32_t)llround(fmin(a * 100, 1023));

		if (b->layout == JMC_HAND) {
			f->data[five[i]] = byte(a * 1000);
		} else if (b->layout != JMC_JOINTS) {
			f->data[three[i]] = byte(a * 250);
		} else {
			f->data[i] = (uint8_t)(centi >> 2);
			f->data[3] |= (uint8_t)((centi & 3) << 2 * i);
		}
	}
}

bool jmc_tx(const struct jmc_board *b, const struct frame *request, struct frame *f)
{
	const uint32_t number = (uint32_t)b->settings.number;
	const uint8_t code = request->data[1], which = request->len > 2 ? request->data[2] : 0;

	*f = (struct frame){ 0 };
	if (code == 0x02 && (request->len == 2 || request->len == 3)) {
		f->id = 0x150 + number;
		status(b, f);
	} else if (code == 0x03 && request->len == 3 && which <= 1) {
		f->id = 0x060 + number;
		return encoders(b, which, f);
	} else if (code == 0x04 && request->len == 2) {
		f->id = 0x1C0 + number;
		currents(b, f);
	} else if (code == 0x24 && request->len == 3) {
		f->id = 0x1C0 + number;
		f->len = 8;
		return jmc_params_reply(&b->params, b->motors_n, which, f->data);
	} else {
		return false;
	}
	return true;
}
