/* recbus.c: a CAN bus beside the channels that ach record records. */
#include "can/bus/bus.h"
#include "channels/rec/recbus.h"
#include "config/base/base.h"

#define BATCH 32
#define SOCKET_BYTES (4 << 20) /* asked of the kernel */

_Static_assert(sizeof(struct frame) == sizeof(struct canfd_frame), "a frame is the kernel's");

struct recbus {
	struct bus *bus;
	struct bus_frame frames[BATCH];
	int at, n;
};

/* The bus and its name in the file: that before =, or the interface's or the wire's own. */
static const char *split(const char *text, char name[ROS_CAN_BUS_MAX])
{
	const char *equals = strchr(text, '='), *colon = strchr(text, ':');
	const bool named = equals && (!colon || equals < colon);
	const char *bus = named ? equals + 1 : text;
	const char *own = !strncmp(bus, "wire:", 5) ? bus + 5 : bus;

	if (named)
		snprintf(name, ROS_CAN_BUS_MAX, "%.*s", (int)(equals - text), text);
	else
		snprintf(name, ROS_CAN_BUS_MAX, "%.*s", (int)strcspn(own, "@"), own);
	return bus;
}

static struct recbus *bus_of(const char *text, char name[ROS_CAN_BUS_MAX], struct error_sink *errors)
{
	const struct bus_options options = { .errors = true, .fd = true, .receive_buffer = SOCKET_BYTES };
	const char *bus = split(text, name), *wrong = bus_name_wrong(bus);
	struct recbus *b;

	if (wrong || !text_is_name(name)) {
		error_add(errors, "%s: %s", text, wrong ? wrong : "its name in the file is not a name: write NAME=BUS");
		return NULL;
	}
	b = calloc(1, sizeof(*b));
	if (!b)
		error_add(errors, "no memory");
	if (!b || bus_open(&b->bus, bus, &options, errors)) {
		free(b);
		return NULL;
	}
	return b;
}

static int join(struct recbus *b, struct clock_set *set, uint32_t tag)
{
	return bus_join(b->bus, set, tag);
}

static int64_t next_ns(const struct recbus *b)
{
	return b->at < b->n ? 0 : bus_next_ns(b->bus);
}

static bool receive(struct recbus *b, struct ros_can *can)
{
	const struct bus_frame *f;

	if (b->at == b->n) {
		b->at = 0;
		b->n = bus_receive(b->bus, b->frames, BATCH);
	}
	if (b->n <= 0) {
		b->at = b->n = 0;
		return false;
	}
	f = &b->frames[b->at++];
	*can = (struct ros_can){ .t_ns = f->t_ns, .direction = f->flags & BUS_LOCAL ? 'T' : 'R' };
	memcpy(&can->frame, &f->frame, sizeof(can->frame));
	return true;
}

static uint64_t lost(const struct recbus *b)
{
	return bus_stats(b->bus)->dropped;
}

static void close_bus(struct recbus *b)
{
	if (b)
		bus_close(b->bus);
	free(b);
}

const struct recbus_ops recbus_ops = { bus_of, join, next_ns, receive, lost, close_bus };
