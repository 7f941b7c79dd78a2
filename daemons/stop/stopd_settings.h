/* stopd_settings.h: the settings of stopd, which the simulated I/O module reads too. */
#pragma once

#include "config/settings/settings.h"

#define STOPD_CHANNELS_MAX 2

enum stopd_input { STOPD_GPIO, STOPD_FRAME };
enum stopd_bias { STOPD_BIAS_NONE, STOPD_BIAS_DOWN, STOPD_BIAS_UP };

struct stopd_settings {
	enum stopd_input input;
	int level;
	int closed; /* enum: high, low */
	int64_t close_after_ns, differ_after_ns, silent_after_ns;
	/* gpio */
	char chip[64];
	int64_t lines[STOPD_CHANNELS_MAX];
	size_t lines_n;
	enum stopd_bias bias;
	/* frame */
	int64_t id, byte, bits[STOPD_CHANNELS_MAX];
	bool extended;
	size_t bits_n;
	int64_t period_ns;
};

static const char *const stopd_settings_inputs[] = { "gpio", "frame", NULL };
static const char *const stopd_settings_levels[] = { "hold", "estop", NULL };
static const char *const stopd_settings_closed[] = { "high", "low", NULL };
static const char *const stopd_settings_biases[] = { "none", "down", "up", NULL };

#define STOPD_ROW(TYPE, key, ...) SETTINGS_##TYPE(key, struct stopd_settings, __VA_ARGS__)
static const struct settings_row stopd_settings_rows[] = {
	STOPD_ROW(WORD, "input", input, stopd_settings_inputs, SETTINGS_REQUIRED,
		  "gpio, lines of this computer, or frame, of an I/O module on a bus"),
	STOPD_ROW(WORD, "level", level, stopd_settings_levels, "estop", "to which it raises while open or silent"),
	STOPD_ROW(WORD, "closed", closed, stopd_settings_closed, "high", "high or low: a closed channel reads 1 or 0"),
	STOPD_ROW(DURATION, "close_after", close_after_ns, "100ms", "0s", "10s",
		  "time after which closed counts as closed; opening counts at once"),
	STOPD_ROW(DURATION, "differ_after", differ_after_ns, "500ms", "1ms", "10s",
		  "time for which two channels may differ"),
	STOPD_ROW(DURATION, "silent_after", silent_after_ns, "100ms", "1ms", "10s",
		  "time without a reading that counts as open", .ticks = 2),
	STOPD_ROW(TEXT, "chip", chip, "gpiochip0", "gpio: name, label, number or path of the chip"),
	STOPD_ROW(INTS, "lines", lines, lines_n, "", "[0]", "0", "4095", "gpio: one or two lines of the chip"),
	STOPD_ROW(WORD, "bias", bias, stopd_settings_biases, "down", "gpio: pull resistor of the chip"),
	STOPD_ROW(INT, "id", id, "", "0x181", "0", "0x1FFFFFFF", "frame: its identifier"),
	STOPD_ROW(BOOL, "extended", extended, "no", "frame: the identifier has 29 bits"),
	STOPD_ROW(INT, "byte", byte, "", "0", "0", "7", "frame: the byte with the inputs, from 0"),
	STOPD_ROW(INTS, "bits", bits, bits_n, "", "[0]", "0", "7", "frame: one or two bits of that byte"),
	STOPD_ROW(DURATION, "period", period_ns, "20ms", "1ms", "1s", "frame: how often the module sends it"),
	SETTINGS_END,
};
