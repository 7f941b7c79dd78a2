/* amc_objects.c: the object dictionary and the PDOs of a simulated AMC drive, as in hw-docs/devices/amc.md. */
#include <math.h>

#include "channels/clock/clock.h"
#include "daemons/robotsim/amc_drive.h"

#define OVER_VOLTAGE_V 88 /* the limit, Kov */

static const struct od_object objects[] = {
	{ 0x1000, 0, 32, OD_READ, 0x00020192, NULL },
	{ 0x1001, 0, 8, OD_READ | OD_MAP, 0, NULL },
	{ 0x1003, 0, 8, OD_READ, 1, NULL },
	{ 0x1003, 1, 32, OD_READ, 0, NULL },
	{ 0x1005, 0, 32, OD_WRITE, 0x80, NULL },
	{ 0x1008, 0, 0, OD_READ, 0, "DigiFlex simulated" },
	{ 0x100C, 0, 16, OD_WRITE, 0, NULL },
	{ 0x100D, 0, 8, OD_WRITE, 0, NULL },
	{ 0x1014, 0, 32, OD_READ | OD_ADD_NODE, 0x80, NULL },
	{ 0x1016, 0, 8, OD_READ, 1, NULL },
	{ 0x1016, 1, 32, OD_WRITE, 0, NULL },
	{ 0x1017, 0, 16, OD_WRITE, 0, NULL },
	{ 0x1018, 0, 8, OD_READ, 4, NULL },
	{ 0x1018, 1, 32, OD_READ, 0xBD, NULL },
	{ 0x1018, 2, 32, OD_READ, 1, NULL },
	{ 0x1018, 3, 32, OD_READ, 0x00010000, NULL },
	{ 0x1018, 4, 32, OD_READ | OD_ADD_NODE, 1000, NULL },
	{ 0x2001, 2, 16, OD_WRITE | OD_MAP, 0, NULL },
	{ 0x2002, 2, 16, OD_READ | OD_MAP, 0, NULL },
	{ 0x2002, 3, 16, OD_READ | OD_MAP, 0, NULL },
	{ 0x2002, 5, 16, OD_READ | OD_MAP, 0, NULL },
	{ 0x200F, 1, 16, OD_READ | OD_MAP, 0, NULL },
	{ 0x2032, 8, 16, OD_READ, 0, NULL },
	{ 0x2039, 1, 32, OD_WRITE, 0, NULL },
	{ 0x203C, 1, 0, OD_WRITE, 0, NULL },
	{ 0x2058, 8, 16, OD_WRITE, 0, NULL },
	{ 0x2058, 9, 16, OD_WRITE, 0, NULL },
	{ 0x20D8, 0x09, 16, OD_READ, 0, NULL },
	{ 0x20D8, 0x0C, 16, OD_READ, 0, NULL },
	{ 0x20D8, 0x24, 32, OD_READ, 0, NULL },
	{ 0x2120, 0, 16, OD_WRITE, 0, NULL },
	{ 0x2121, 0, 16, OD_WRITE, 0, NULL },
	{ 0x2123, 0, 16, OD_WRITE, 0, NULL },
	{ 0x2124, 0, 16, OD_WRITE, 0, NULL },
	{ 0x603F, 0, 16, OD_READ | OD_MAP, 0, NULL },
	{ 0x6040, 0, 16, OD_WRITE | OD_MAP, 0, NULL },
	{ 0x6041, 0, 16, OD_READ | OD_MAP, 0, NULL },
	{ 0x6060, 0, 8, OD_WRITE | OD_MAP, AMC_VELOCITY, NULL },
	{ 0x6061, 0, 8, OD_READ | OD_MAP, 0, NULL },
	{ 0x6064, 0, 32, OD_READ | OD_MAP, 0, NULL },
	{ 0x606C, 0, 32, OD_READ | OD_MAP, 0, NULL },
	{ 0x6071, 0, 16, OD_WRITE | OD_MAP, 0, NULL },
	{ 0x6077, 0, 16, OD_READ | OD_MAP, 0, NULL },
	{ 0x607A, 0, 32, OD_WRITE | OD_MAP, 0, NULL },
	{ 0x6086, 0, 16, OD_WRITE, 0, NULL },
	{ 0x60FF, 0, 32, OD_WRITE | OD_MAP, 0, NULL },
};
#define COUNT(array) (sizeof(array) / sizeof(*(array)))
_Static_assert(COUNT(objects) <= OD_OBJECTS_MAX, "room for the values");

/* TPDOs first: their places are the bits of the timers' masks. */
static const struct od_pdo pdos[] = {
	{ 1, true, false, 0x180, 0xFF, { 0x60410010 } },
	{ 3, true, false, 0x380, 0xFE, { 0x60410010, 0x60640020 } },
	{ 4, true, false, 0x480, 0xFE, { 0x60410010, 0x606C0020 } },
	{ 5, true, false, 0, 0xFE, { 0x60410010, 0x60770010 } },
	{ 21, true, false, 0, 0xFE, { 0x60640020 } },
	{ 22, true, false, 0, 0xFE, { 0x606C0020 } },
	{ 23, true, false, 0, 0xFE, { 0x60770010 } },
	{ 24, true, false, 0, 0xFE, { 0x20020210, 0x20020310, 0x20020510 } },
	{ 25, true, false, 0, 0xFE, { 0x200F0110 } },
	{ 26, true, true, 0, 0xFE, { 0 } },
	{ 1, false, false, 0x200, 0xFF, { 0x60400010 } },
	{ 2, false, false, 0x300, 0xFF, { 0x60400010, 0x60600008 } },
	{ 3, false, false, 0x400, 0xFF, { 0x60400010, 0x607A0020 } },
	{ 4, false, false, 0x500, 0xFF, { 0x60400010, 0x60FF0020 } },
	{ 5, false, false, 0, 0xFF, { 0x60400010, 0x60710010 } },
	{ 21, false, false, 0, 0xFF, { 0x607A0020 } },
	{ 22, false, false, 0, 0xFF, { 0x60FF0020 } },
	{ 23, false, false, 0, 0xFF, { 0x60710010 } },
	{ 24, false, false, 0, 0xFF, { 0x20010210 } },
};
_Static_assert(COUNT(pdos) <= OD_PDOS_MAX, "room for their state");

static uint32_t counts32(double value)
{
	return (uint32_t)(int64_t)value;
}

static uint32_t value_of(void *of, const struct od_object *o, uint32_t stored)
{
	const struct amc_drive *d = of;
	const struct amc_settings *s = &d->settings;
	const double voltage_v = s->voltage_v * (d->causes & AMC_LOW_VOLTAGE ? 0.6 : 1);

	switch (AMC_KEY(o->index, o->sub)) {
	case AMC_KEY(0x1003, 1):
	case AMC_KEY(0x603F, 0):
		return d->error;
	case AMC_KEY(0x2002, 2):
		return (d->causes & AMC_LOW_VOLTAGE ? 1u << 4 : 0) | (d->causes & AMC_HOT ? 1u << 6 : 0);
	case AMC_KEY(0x2002, 3):
		return d->state == AMC_FAULT && d->error >= 0x8100 && d->error < 0x8300 ? 1u << 9 : 0;
	case AMC_KEY(0x2002, 5):
		return d->limited;
	case AMC_KEY(0x200F, 1):
		return (uint32_t)lround(voltage_v * 0x4000 / (1.05 * OVER_VOLTAGE_V));
	case AMC_KEY(0x2032, 8):
		return (uint32_t)s->ki;
	case AMC_KEY(0x20D8, 0x09):
		return (uint32_t)lround(OVER_VOLTAGE_V * 10);
	case AMC_KEY(0x20D8, 0x0C):
		return (uint32_t)lround(s->peak_a * 10);
	case AMC_KEY(0x20D8, 0x24):
		return (uint32_t)lround(s->ks_hz * 1e-3 * 0x10000);
	case AMC_KEY(0x6041, 0):
		return amc_status(d);
	case AMC_KEY(0x6061, 0):
		return od_value(&d->od, 0x6060, 0);
	case AMC_KEY(0x6064, 0):
		return counts32(d->position + d->offset);
	case AMC_KEY(0x606C, 0):
		return counts32(floor(d->velocity / amc_velocity_unit(d) + 0.5));
	case AMC_KEY(0x6077, 0):
		return (uint32_t)lround(num_clamp(d->current_a * 0x2000 / s->peak_a, INT16_MIN, INT16_MAX));
	default:
		return stored;
	}
}

static uint32_t written(void *of, const struct od_object *o, uint32_t value)
{
	struct amc_drive *d = of;
	const int64_t due_ns = value ? d->t_ns + value * NS_PER_MS : CLOCK_NEVER;

	switch (AMC_KEY(o->index, o->sub)) {
	case AMC_KEY(0x2058, 8): /* 1, then 0: the position becomes the preset */
		if (!value && od_value(&d->od, 0x2058, 8) == 1)
			d->offset = (int32_t)od_value(&d->od, 0x2039, 1) - d->position;
		break;
	case AMC_KEY(0x2120, 0):
		d->timer_ns[0] = due_ns;
		break;
	case AMC_KEY(0x2123, 0):
		d->timer_ns[1] = due_ns;
		break;
	case AMC_KEY(0x6040, 0):
		amc_control(d, (uint16_t)value);
		break;
	case AMC_KEY(0x6060, 0):
		if (value != AMC_POSITION && value != AMC_VELOCITY && value != AMC_CURRENT)
			return OD_ABORT_RANGE;
		d->integral_a = 0;
		break;
	default:
		break;
	}
	return 0;
}

const struct od_device amc_device = {
	.objects = objects,
	.objects_n = COUNT(objects),
	.pdos = pdos,
	.pdos_n = COUNT(pdos),
	.hides_size = true,
	.read = value_of,
	.written = written,
	.reset = amc_reset,
	.lost = amc_lost,
};
