/* jmc_param.c: parameters of a joint board by name. */
#include <stddef.h>
#include <string.h>

#include "daemons/hubo/jmc.h"

#define IN(letter) (1u << ((letter) - 'A'))
/* clang-format off */
#define ROW(n, member, in) \
	{ { n, in }, offsetof(struct jmc_parameters, member), sizeof(((struct jmc_parameters *)NULL)->member) }
/* clang-format on */

static const struct {
	struct jmc_parameter_about about;
	size_t at, size; /* 1, 2: unsigned; 4: signed */
} rows[] = {
	ROW("kp", kp, IN('A')),
	ROW("ki", ki, IN('A')),
	ROW("kd", kd, IN('A')),
	ROW("encoder", encoder, IN('A')),
	ROW("dead-zone", dead_zone, IN('B')),
	ROW("home-direction", home_direction, IN('B')),
	ROW("home-mode", home_mode, IN('B')),
	ROW("search-turns", search_turns, IN('B')),
	ROW("home-offset", home_offset, IN('B') | IN('C')),
	ROW("lower", lower, IN('C')),
	ROW("upper", upper, IN('C') | IN('D')),
	ROW("acceleration", acceleration_max, IN('D')),
	ROW("velocity", velocity_max, IN('D')),
	ROW("pwm", pwm_max, IN('D')),
	ROW("current", current_max, IN('E')),
	ROW("current-kp", current_kp, IN('E')),
	ROW("current-kd", current_kd, IN('E')),
	ROW("current-kf", current_kf, IN('F')),
	ROW("rate", rate_ms, IN('G')),
	ROW("board-type", board_type, IN('G')),
	ROW("home-acceleration", home_acceleration, IN('G')),
	ROW("home-to-limit", home_velocity_limit, IN('H')),
	ROW("home-to-offset", home_velocity_offset, IN('H')),
	ROW("jam-time", jam_time, IN('H')),
	ROW("saturation-time", saturation_time, IN('H')),
	ROW("saturation-duty", saturation_duty, IN('I')),
	ROW("jam-duty", jam_duty, IN('I')),
	ROW("input-difference", input_difference, IN('I')),
	ROW("error", error_max, IN('I')),
	ROW("encoder-error", encoder_error_max, IN('I')),
};

_Static_assert(sizeof(rows) / sizeof(*rows) == JMC_NUMBERS, "a row for each");

struct jmc_parameter_about jmc_parameter_about(unsigned int parameter)
{
	const struct jmc_parameter_about none = { NULL, 0 };

	return parameter < JMC_NUMBERS ? rows[parameter].about : none;
}

int jmc_parameter_find(const char *name)
{
	for (unsigned int i = 0; i < JMC_NUMBERS; i++)
		if (!strcmp(rows[i].about.name, name))
			return (int)i;
	return -1;
}

int64_t jmc_parameter_value(const struct jmc_parameters *parameters, unsigned int parameter)
{
	const void *at = (const char *)parameters + rows[parameter].at;

	switch (rows[parameter].size) {
	case 1:
		return *(const uint8_t *)at;
	case 2:
		return *(const uint16_t *)at;
	default:
		return *(const int32_t *)at;
	}
}
