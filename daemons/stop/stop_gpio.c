/* stop_gpio.c: lines of a GPIO chip, through libgpiod. */
#include "daemons/stop/stop_gpio.h"

#include <fcntl.h>
#include <gpiod.h>

#define EVENTS_MAX 16

struct stop_gpio {
	struct gpiod_chip *chip;
	struct gpiod_line *lines[STOP_CHANNELS_MAX];
	unsigned int channels;
	bool edges;
};

static int flags_of(const struct stop_gpio_lines *l)
{
	const int pull = l->pull > 0   ? GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_UP
			 : l->pull < 0 ? GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_DOWN
				       : GPIOD_LINE_REQUEST_FLAG_BIAS_DISABLE;

	return pull | (l->closed_is_0 ? GPIOD_LINE_REQUEST_FLAG_ACTIVE_LOW : 0);
}

/* A chip without interrupts is read in each tick alone. */
static int request(struct stop_gpio *g, const struct stop_gpio_lines *l)
{
	const int flags = flags_of(l);
	bool edges = true;

	for (unsigned int i = 0; i < l->channels; i++) {
		g->lines[i] = gpiod_chip_get_line(g->chip, l->lines[i]);
		if (!g->lines[i])
			return -errno;
		if (edges && !gpiod_line_request_both_edges_events_flags(g->lines[i], l->consumer, flags)) {
			if (fcntl(gpiod_line_event_get_fd(g->lines[i]), F_SETFL, O_NONBLOCK))
				return -errno;
			continue;
		}
		edges = false;
		if (gpiod_line_request_input_flags(g->lines[i], l->consumer, flags))
			return -errno;
	}
	g->edges = edges;
	g->channels = l->channels;
	return 0;
}

int stop_gpio_open(struct stop_gpio **gpio, const struct stop_gpio_lines *lines)
{
	struct stop_gpio *g = calloc(1, sizeof(*g));
	int status;

	*gpio = NULL;
	if (!g)
		return -ENOMEM;
	g->chip = gpiod_chip_open_lookup(lines->chip);
	status = g->chip ? request(g, lines) : -errno;
	if (status) {
		stop_gpio_close(g);
		return status;
	}
	*gpio = g;
	return 0;
}

/* 1: an edge to open was among them; 0: none; or -errno. */
static int read_edges(struct gpiod_line *line)
{
	struct gpiod_line_event events[EVENTS_MAX];
	int opened = 0, n = EVENTS_MAX;

	for (int batch = 0; batch < EVENTS_MAX && n == EVENTS_MAX; batch++) {
		n = gpiod_line_event_read_multiple(line, events, EVENTS_MAX);
		if (n < 0)
			return errno == EAGAIN ? opened : -errno;
		for (int i = 0; i < n; i++)
			opened |= events[i].event_type == GPIOD_LINE_EVENT_FALLING_EDGE;
	}
	return opened;
}

int stop_gpio_read(struct stop_gpio *g, struct stop *stop, int64_t now_ns)
{
	unsigned int closed = 0, opened = 0;

	for (unsigned int i = 0; i < g->channels; i++) {
		const int edge = g->edges ? read_edges(g->lines[i]) : 0;
		const int value = gpiod_line_get_value(g->lines[i]);

		if (edge < 0 || value < 0) {
			const int status = edge < 0 ? edge : -errno;

			stop_lose(stop);
			return status;
		}
		closed |= (unsigned int)(value > 0) << i;
		opened |= (unsigned int)edge << i;
	}
	if (opened)
		stop_read(stop, closed & ~opened, now_ns);
	stop_read(stop, closed, now_ns);
	return 0;
}

bool stop_gpio_has_edges(const struct stop_gpio *g)
{
	return g->edges;
}

void stop_gpio_close(struct stop_gpio *g)
{
	if (!g)
		return;
	if (g->chip)
		gpiod_chip_close(g->chip); /* and its lines */
	free(g);
}
