/* stop_gpio.h: lines of a GPIO chip as channels of a stop input. */
#pragma once

#include "daemons/stop/stop.h"

struct stop_gpio;

struct stop_gpio_lines {
	const char *chip, *consumer;
	unsigned int lines[STOP_CHANNELS_MAX], channels;
	bool closed_is_0;
	int pull; /* -1 down, 1 up, 0 none */
};

/* 0, or -errno. */
int stop_gpio_open(struct stop_gpio **gpio, const struct stop_gpio_lines *lines);
/* Reads the lines into stop, and what happened to them since the last call.  0, or -errno: they are lost, and gpio has
 * to be closed. */
int stop_gpio_read(struct stop_gpio *gpio, struct stop *stop, int64_t now_ns);
bool stop_gpio_has_edges(const struct stop_gpio *gpio); /* false: an opening between two calls is not seen */
void stop_gpio_close(struct stop_gpio *gpio);		/* NULL is allowed */
