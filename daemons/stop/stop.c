/* stop.c: is a stop input closed?  Checked: pure, covered. */
#include "daemons/stop/stop.h"

static unsigned int all(const struct stop *stop)
{
	return (1u << stop->rules.channels) - 1;
}

/* From the first reading in which they differ to the first in which they do not, and beyond if that took too long. */
static void compare(struct stop *stop, int64_t t_ns)
{
	const bool differ = stop->closed && stop->closed != all(stop);

	if (differ && !stop->differ)
		stop->differ_ns = t_ns;
	stop->differ = differ;
	if (differ && t_ns - stop->differ_ns > stop->rules.differ_after_ns)
		stop->differed = true;
	else if (!stop->closed)
		stop->differed = false;
}

void stop_read(struct stop *stop, unsigned int closed, int64_t t_ns)
{
	stop->closed = closed & all(stop);
	stop->read = true;
	stop->read_ns = t_ns;
	compare(stop, t_ns);
	if (stop->closed != all(stop)) {
		stop->all_closed = false;
	} else if (!stop->all_closed) {
		stop->all_closed = true;
		stop->closed_ns = t_ns;
	}
}

void stop_lose(struct stop *stop)
{
	stop->read = stop->all_closed = stop->differ = false;
	stop->closed = 0;
}

enum stop_state stop_evaluate(struct stop *stop, int64_t now_ns)
{
	if (stop->read && now_ns - stop->read_ns > stop->rules.silent_after_ns)
		stop_lose(stop);
	if (!stop->read)
		return STOP_SILENT;
	if (stop->differed)
		return STOP_DIFFER;
	return stop->all_closed && now_ns - stop->closed_ns >= stop->rules.close_after_ns ? STOP_CLOSED : STOP_OPEN;
}

unsigned int stop_decode(const struct stop_frame *where, const struct frame *frame)
{
	unsigned int closed = 0;

	if (frame->len <= where->byte || frame->id & FRAME_RTR)
		return 0;
	for (unsigned int i = 0; i < where->channels; i++)
		if ((frame->data[where->byte] >> where->bits[i] & 1) != where->closed_is_0)
			closed |= 1u << i;
	return closed;
}
