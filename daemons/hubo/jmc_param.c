/* jmc_param.c: parameters of a joint board by name.  Checked: pure, covered. */
#include "config/base/base.h"
#include "daemons/hubo/jmc.h"

#define AT(letter, byte) (8 * ((letter) - 'A') + (byte))

static const struct {
	const char *name;
	uint8_t at, size; /* 1, 2: unsigned; 4: signed */
} rows[JMC_NUMBERS] = {
	{ "kp", AT('A', 0), 2 },
	{ "ki", AT('A', 2), 2 },
	{ "kd", AT('A', 4), 2 },
	{ "encoder", AT('A', 6), 2 },
	{ "dead-zone", AT('B', 0), 2 },
	{ "home-direction", AT('B', 2), 1 },
	{ "home-mode", AT('B', 3), 1 },
	{ "search-turns", AT('B', 4), 2 },
	{ "home-offset", AT('B', 6), 4 },
	{ "lower", AT('C', 2), 4 },
	{ "upper", AT('C', 6), 4 },
	{ "acceleration", AT('D', 2), 2 },
	{ "velocity", AT('D', 4), 2 },
	{ "pwm", AT('D', 6), 2 },
	{ "current", AT('E', 0), 2 },
	{ "current-kp", AT('E', 4), 2 },
	{ "current-kd", AT('E', 6), 2 },
	{ "current-kf", AT('F', 0), 2 },
	{ "rate", AT('G', 2), 2 },
	{ "board-type", AT('G', 4), 1 },
	{ "home-acceleration", AT('G', 6), 2 },
	{ "home-to-limit", AT('H', 0), 2 },
	{ "home-to-offset", AT('H', 2), 2 },
	{ "jam-time", AT('H', 4), 2 },
	{ "saturation-time", AT('H', 6), 2 },
	{ "saturation-duty", AT('I', 0), 1 },
	{ "jam-duty", AT('I', 1), 1 },
	{ "input-difference", AT('I', 2), 2 },
	{ "error", AT('I', 4), 2 },
	{ "encoder-error", AT('I', 6), 2 },
};

struct jmc_parameter_about jmc_parameter_about(unsigned int parameter)
{
	struct jmc_parameter_about about = { NULL, 0 };

	if (parameter < JMC_NUMBERS) {
		const unsigned int first = rows[parameter].at, last = first + rows[parameter].size - 1u;

		about.name = rows[parameter].name;
		about.letters = (uint16_t)(1u << first / 8 | 1u << last / 8);
	}
	return about;
}

int jmc_parameter_find(const char *name)
{
	for (unsigned int i = 0; i < JMC_NUMBERS; i++)
		if (!strcmp(rows[i].name, name))
			return (int)i;
	return -1;
}

int64_t jmc_parameter_value(const struct jmc_parameters *parameters, unsigned int parameter)
{
	const uint8_t *at = parameters->bytes + rows[parameter].at;

	switch (rows[parameter].size) {
	case 1:
		return *at;
	case 2:
		return frame_le16(at);
	default:
		return (int32_t)frame_le32(at);
	}
}
