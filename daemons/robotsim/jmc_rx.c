/* jmc_rx.c: what a simulated joint board of Hubo does on command. */
#include "daemons/robotsim/jmc_board.h"

#define ALL 0xF

static void home(struct jmc_board *b, unsigned int i)
{
	const struct jmc_motor_params *p = &b->params.motor[i];
	const double turn = b->model[i].counts_per_turn;
	const int clockwise = b->model[i].clockwise;

	jmc_motor_home(&b->motor[i], &(struct jmc_home_order){
					     .mode = p->home_mode <= JMC_HOME_BY_JAM ? p->home_mode : 0,
					     .direction = p->home_direction ? -clockwise : clockwise,
					     .offset = p->home_offset,
					     .search = p->home_search * turn,
					     .to_limit = p->home_to_limit * 10 / 60.0 * turn,
					     .to_offset = p->home_to_offset * 10 / 60.0 * turn,
				     });
	b->homings++;
}

static void pwm(struct jmc_board *b, const struct frame *f)
{
	const uint8_t *d = f->data, run = d[2];

	for (unsigned int i = 0; i < b->motors_n; i++) {
		const uint8_t *at = d + 3 + 2 * i;
		const double clockwise = b->model[i].clockwise, way = at[0] & 1 ? clockwise : -clockwise;

		if (!run)
			jmc_motor_off(&b->motor[i]);
		else if (b->layout != JMC_JOINTS)
			jmc_motor_pwm(&b->motor[i], jmc_board_i7(d[3 + i]));
		else if (run == 3)
			jmc_motor_pwm(&b->motor[i], way * ((at[0] & 0xF0) << 4 | at[1]) / 10);
		else
			jmc_motor_pwm(&b->motor[i], way * at[1]);
	}
}

/* Does it with one motor, or with all.  Returns how many. */
static unsigned int each(struct jmc_board *b, unsigned int which, void (*does)(struct jmc_board *b, unsigned int i))
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < b->motors_n; i++)
		if (which == ALL || which == i) {
			does(b, i);
			n++;
		}
	return n;
}

static void clear(struct jmc_board *b, unsigned int i)
{
	jmc_motor_clear(&b->motor[i]);
	b->clears++;
}

static bool pwm_fits(const struct jmc_board *b, const struct frame *f)
{
	if (b->layout == JMC_JOINTS)
		return f->len == (f->data[2] == 3 ? 7 : 8);
	return f->len == 3 + b->motors_n;
}

bool jmc_rx(struct jmc_board *b, const struct frame *f, int64_t t_ns)
{
	const uint8_t code = f->data[1], value = f->data[2];

	if (code == 0x06 && f->len == 3) {
		return each(b, value, clear);
	} else if (code == 0x0B && f->len == 3) {
		b->fet = value & 1;
		jmc_board_control(b, b->control);
	} else if (code == 0x0D && pwm_fits(b, f)) {
		if (b->fet)
			pwm(b, f);
	} else if ((code == 0x0E || code == 0x0F) && f->len == 2) {
		jmc_board_control(b, code == 0x0E);
	} else if (code == 0x10 && f->len == 3 && value <= 2) {
		b->mode = value;
	} else if (code == 0x11 && f->len == 8) {
		return (b->fet && b->control) ? each(b, value >> 4 == ALL ? ALL : (value >> 4) - 1u, home) : 1;
	} else if (code == 0xF0 && f->len == 4) {
		b->settings.number = value;
		b->params.can_rate_ms = b->flash.can_rate_ms = f->data[3];
		jmc_board_lock(b, t_ns);
	} else if (code == 0xFA && f->len == 2) {
		for (unsigned int i = 0; i < b->motors_n; i++)
			b->motor[i].latched = 0;
		b->fet = false;
		jmc_board_control(b, false);
	} else {
		return (code == 0x13 && f->len == 3) || (code == 0x6F && f->len == 6);
	}
	return true;
}
