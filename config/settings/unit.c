/* unit.c: a number with a unit, in the unit of its row. */
#include <math.h>

#include "config/settings/unit.h"

/* A value in a unit times `times` by `per` is one in the unit of `is`; a division keeps 3 mm equal to 0.003. */
static const struct part {
	const char *name, *is;
	double times, per;
} parts[] = {
	{ "rad", "rad", 1, 1 },
	{ "deg", "rad", M_PI, 180 },
	{ "turn", "rad", 2 * M_PI, 1 },
	{ "m", "m", 1, 1 },
	{ "cm", "m", 1, 100 },
	{ "mm", "m", 1, 1000 },
	{ "s", "s", 1, 1 },
	{ "ms", "s", 1, 1000 },
	{ "us", "s", 1, 1000000 },
	{ "A", "A", 1, 1 },
	{ "mA", "A", 1, 1000 },
	{ "V", "V", 1, 1 },
	{ "mV", "V", 1, 1000 },
	{ "N", "N", 1, 1 },
	{ "mN", "N", 1, 1000 },
	{ "kN", "N", 1000, 1 },
	{ "N m", "N m", 1, 1 },
	{ "mN m", "N m", 1, 1000 },
	{ "kg", "kg", 1, 1 },
	{ "g", "kg", 1, 1000 },
	{ "Hz", "Hz", 1, 1 },
	{ "kHz", "Hz", 1000, 1 },
	{ "bit", "bit", 1, 1 },
	{ "kbit", "bit", 1000, 1 },
	{ "Mbit", "bit", 1000000, 1 },
	{ "1", "", 1, 1 },
	{ "", "", 1, 1 },
	{ "%", "", 1, 100 },
};
#define PARTS (sizeof(parts) / sizeof(*parts))

/* The part of a unit before "/s^2"; NULL: there is none. */
static const struct part *part_of(const char *unit)
{
	const size_t len = strcspn(unit, "/");

	for (size_t i = 0; i < PARTS; i++)
		if (strlen(parts[i].name) == len && !strncmp(parts[i].name, unit, len))
			return &parts[i];
	return NULL;
}

int unit_convert(double *value, const char *from, const char *to)
{
	const struct part *a = part_of(from), *b = part_of(to);

	if (!strcmp(from, to))
		return 0;
	if (!a || !b || strcmp(a->is, b->is) != 0 || strcmp(from + strlen(a->name), to + strlen(b->name)) != 0)
		return -EINVAL;
	*value = *value * a->times / a->per * b->per / b->times;
	return 0;
}

void unit_list(struct text_out *out, const char *to)
{
	const struct part *b = part_of(to);

	text_add(out, "%s", to);
	for (size_t i = 0; b && i < PARTS; i++)
		if (&parts[i] != b && *parts[i].name && !strcmp(parts[i].is, b->is))
			text_add(out, ", %s%s", parts[i].name, to + strlen(b->name));
}
