/* od.c: a CANopen node: object dictionary, NMT, PDOs, heartbeat, guarding, EMCY.  The SDO server is od_sdo.c. */
#include "channels/clock/clock.h"
#include "daemons/robotsim/od_inside.h"

#define DISABLED 0x80000000u
#define LAST_SYNC_TYPE 0xF0
#define ON_CHANGE 0xFF

/* ---- values ---- */

size_t od_find(const struct od *od, uint16_t index, uint8_t sub)
{
	size_t i = 0;

	while (i < od->device->objects_n &&
	       (od->device->objects[i].index != index || od->device->objects[i].sub != sub))
		i++;
	return i;
}

uint32_t od_value(const struct od *od, uint16_t index, uint8_t sub)
{
	const size_t i = od_find(od, index, sub);

	return i < od->device->objects_n ? od->value[i] : 0;
}

void od_set(struct od *od, uint16_t index, uint8_t sub, uint32_t value)
{
	const size_t i = od_find(od, index, sub);

	if (i < od->device->objects_n)
		od->value[i] = value;
}

uint32_t od_read(struct od *od, size_t i)
{
	return od->device->read ? od->device->read(od->of, &od->device->objects[i], od->value[i]) : od->value[i];
}

uint32_t od_write(struct od *od, size_t i, uint32_t value)
{
	const struct od_object *o = &od->device->objects[i];
	const uint32_t abort_code = od->device->written ? od->device->written(od->of, o, value) : 0;

	if (!abort_code)
		od->value[i] = value;
	return abort_code;
}

/* ---- frames to send ---- */

void od_queue(struct od *od, uint32_t id, const uint8_t *data, uint8_t len, int64_t t_ns)
{
	struct frame f = { .id = id, .len = len };

	memcpy(f.data, data, len);
	sim_queue_put(&od->queue, &f, t_ns);
}

void od_emcy(struct od *od, uint16_t code, uint8_t error_register, int64_t t_ns)
{
	const uint8_t data[8] = { (uint8_t)code, (uint8_t)(code >> 8), error_register };

	od_set(od, 0x1001, 0, error_register);
	if (od->nmt != OD_OPERATIONAL && od->nmt != OD_PRE_OPERATIONAL)
		return;
	od->emcys++;
	od_queue(od, od_value(od, 0x1014, 0) & FRAME_STD_MASK, data, 8, t_ns);
}

/* ---- PDOs ---- */

static uint64_t compose(struct od *od, const struct od_channel *c, uint8_t *len)
{
	uint64_t data = 0;
	unsigned int bits = 0;

	for (unsigned int i = 0; i < c->mapped; i++) {
		const size_t at = od_find(od, (uint16_t)(c->map[i] >> 16), (uint8_t)(c->map[i] >> 8));
		const unsigned int width = c->map[i] & 0xFF;

		if (at < od->device->objects_n)
			data |= (od_read(od, at) & ((UINT64_C(1) << width) - 1)) << bits;
		bits += width;
	}
	*len = (uint8_t)(bits / 8);
	return data;
}

void od_transmit(struct od *od, size_t k, int64_t t_ns)
{
	struct od_channel *c = &od->pdo[k];
	uint8_t bytes[8], len;

	if (od->nmt != OD_OPERATIONAL || c->cob & DISABLED)
		return;
	c->last = compose(od, c, &len);
	frame_put_le(bytes, c->last, sizeof(bytes));
	od_queue(od, c->cob & FRAME_STD_MASK, bytes, len, t_ns + od->pdo_ns);
}

static void take_over(struct od *od, const struct od_channel *c, uint64_t data)
{
	for (unsigned int i = 0; i < c->mapped; i++) {
		const size_t at = od_find(od, (uint16_t)(c->map[i] >> 16), (uint8_t)(c->map[i] >> 8));
		const unsigned int width = c->map[i] & 0xFF;

		if (at < od->device->objects_n)
			od_write(od, at, (uint32_t)(data & ((UINT64_C(1) << width) - 1)));
		data >>= width;
	}
}

static void received(struct od *od, struct od_channel *c, const struct frame *f, int64_t t_ns)
{
	unsigned int bits = 0;
	uint64_t data = 0;

	for (unsigned int i = 0; i < c->mapped; i++)
		bits += c->map[i] & 0xFF;
	if (f->len * 8u < bits) {
		od_emcy(od, 0x8210, 0x11, t_ns);
		return;
	}
	for (unsigned int i = 0; i < f->len && i < 8; i++)
		data |= (uint64_t)f->data[i] << 8 * i;
	c->due_ns = c->event_ms ? t_ns + c->event_ms * NS_PER_MS : CLOCK_NEVER;
	c->waiting = c->type <= LAST_SYNC_TYPE;
	c->waits = data;
	if (!c->waiting)
		take_over(od, c, data);
}

static void synced(struct od *od, int64_t t_ns)
{
	for (size_t k = 0; k < od->device->pdos_n; k++) {
		struct od_channel *c = &od->pdo[k];

		if (!od->device->pdos[k].tx && c->waiting) {
			take_over(od, c, c->waits);
			c->waiting = false;
		} else if (od->device->pdos[k].tx && c->type && c->type <= LAST_SYNC_TYPE && ++c->syncs >= c->type) {
			c->syncs = 0;
			od_transmit(od, k, t_ns);
		}
	}
}

/* Sends event-driven TPDOs whose objects changed since they were sent. */
static void changed(struct od *od, int64_t t_ns)
{
	for (size_t k = 0; k < od->device->pdos_n; k++) {
		struct od_channel *c = &od->pdo[k];
		uint8_t len;

		if (od->device->pdos[k].tx && c->type == ON_CHANGE && !(c->cob & DISABLED) &&
		    compose(od, c, &len) != c->last)
			od_transmit(od, k, t_ns);
	}
}

/* ---- life ---- */

static void preset(struct od *od, uint16_t last)
{
	for (size_t i = 0; i < od->device->objects_n; i++) {
		const struct od_object *o = &od->device->objects[i];

		if (o->index <= last)
			od->value[i] = o->preset + (o->access & OD_ADD_NODE ? od->node : 0);
	}
	for (size_t k = 0; k < od->device->pdos_n; k++) {
		const struct od_pdo *p = &od->device->pdos[k];
		struct od_channel *c = &od->pdo[k];

		*c = (struct od_channel){ .cob = p->cob ? p->cob + od->node : DISABLED, .type = p->type };
		c->due_ns = CLOCK_NEVER;
		memcpy(c->map, p->map, sizeof(c->map));
		while (c->mapped < OD_MAP_MAX && c->map[c->mapped])
			c->mapped++;
	}
	for (size_t i = 0; i < OD_CONSUMERS_MAX; i++)
		od->consumer_ns[i] = CLOCK_NEVER;
	od->heartbeat_ns = od->guard_ns = CLOCK_NEVER;
	od->guard_toggle = false;
	od->segments.object = NULL;
	od->queue.n = 0;
}

static void boot(struct od *od, uint16_t last, int64_t t_ns)
{
	preset(od, last);
	od->nmt = OD_BOOT;
	od->booted_ns = t_ns + od->boot_ns;
	od->resets++;
	if (last == 0xFFFF && od->device->reset)
		od->device->reset(od->of);
}

bool od_has_power(const void *state)
{
	return ((const struct od *)state)->nmt != OD_OFF;
}

void od_power(void *state, bool on, int64_t t_ns)
{
	struct od *od = state;

	if (on == (od->nmt != OD_OFF))
		return;
	boot(od, 0xFFFF, t_ns);
	if (!on)
		od->nmt = OD_OFF;
}

void od_start(struct od *od, const struct od_device *device, void *of, unsigned int node, int64_t t_ns)
{
	*od = (struct od){ .device = device, .of = of, .node = node, .nmt = OD_OFF };
	od->boot_ns = device->boot_ns;
	od->reply_ns = device->reply_ns;
	od->pdo_ns = device->pdo_ns;
	od_power(od, true, t_ns);
}

static void nmt(struct od *od, const struct frame *f, int64_t t_ns)
{
	if (f->len != 2 || (f->data[1] && f->data[1] != od->node) || od->nmt == OD_BOOT)
		return;
	switch (f->data[0]) {
	case 0x01:
		od->nmt = OD_OPERATIONAL;
		for (size_t k = 0; k < od->device->pdos_n; k++) {
			struct od_channel *c = &od->pdo[k];

			c->syncs = 0;
			if (od->device->pdos[k].tx && c->type > LAST_SYNC_TYPE && c->event_ms)
				c->due_ns = t_ns + c->event_ms * NS_PER_MS;
		}
		break;
	case 0x02:
		od->nmt = OD_STOPPED;
		break;
	case 0x80:
		od->nmt = OD_PRE_OPERATIONAL;
		break;
	case 0x81:
		boot(od, 0xFFFF, t_ns);
		break;
	case 0x82:
		boot(od, 0x1FFF, t_ns);
		break;
	default:
		break;
	}
}

static void guarded(struct od *od, int64_t t_ns)
{
	const uint8_t state = (uint8_t)(od->nmt | (od->guard_toggle ? 0x80 : 0));
	const int64_t life_ms = (int64_t)od_value(od, 0x100C, 0) * od_value(od, 0x100D, 0);

	od->guard_toggle = !od->guard_toggle;
	od->guard_ns = life_ms ? t_ns + life_ms * NS_PER_MS : CLOCK_NEVER;
	od_queue(od, 0x700 + od->node, &state, 1, t_ns + od->pdo_ns);
}

static void heard(struct od *od, unsigned int node, int64_t t_ns)
{
	for (uint8_t i = 0; i < OD_CONSUMERS_MAX; i++) {
		const uint32_t consumer = od_value(od, 0x1016, i + 1);

		if (consumer >> 16 == node && consumer & 0xFFFF)
			od->consumer_ns[i] = t_ns + (consumer & 0xFFFF) * NS_PER_MS;
	}
}

void od_frame(struct od *od, const struct frame *f, int64_t t_ns)
{
	const uint32_t id = f->id;

	od_advance(od, t_ns);
	if (od->nmt == OD_OFF || od->nmt == OD_BOOT)
		return;
	if (id == 0) {
		nmt(od, f, t_ns);
	} else if (id == (FRAME_RTR | (0x700 + od->node))) {
		guarded(od, t_ns);
	} else if (id > 0x700 && id < 0x780 && f->len == 1) {
		heard(od, id - 0x700, t_ns);
	} else if (id == 0x600 + od->node) {
		if (od->nmt != OD_STOPPED)
			od_sdo(od, f, t_ns);
	} else if (od->nmt == OD_OPERATIONAL && id == (od_value(od, 0x1005, 0) & FRAME_STD_MASK)) {
		synced(od, t_ns);
	} else if (od->nmt == OD_OPERATIONAL && !(id & ~FRAME_STD_MASK)) {
		for (size_t k = 0; k < od->device->pdos_n; k++)
			if (!od->device->pdos[k].tx && od->pdo[k].cob == id)
				received(od, &od->pdo[k], f, t_ns);
	}
}

/* ---- what is due ---- */

static void lost(struct od *od, int64_t *due_ns, uint16_t code)
{
	const int64_t t_ns = *due_ns;

	*due_ns = CLOCK_NEVER;
	if (od->device->lost)
		od->device->lost(od->of, code, t_ns);
}

static void advance_pdo(struct od *od, size_t k, int64_t t_ns)
{
	struct od_channel *c = &od->pdo[k];

	while (c->due_ns <= t_ns) {
		if (!od->device->pdos[k].tx) {
			lost(od, &c->due_ns, OD_LOST_RPDO);
			continue;
		}
		od_transmit(od, k, c->due_ns);
		c->due_ns =
			od->nmt == OD_OPERATIONAL && c->event_ms ? c->due_ns + c->event_ms * NS_PER_MS : CLOCK_NEVER;
	}
}

void od_advance(struct od *od, int64_t t_ns)
{
	const int64_t period_ns = (int64_t)od_value(od, 0x1017, 0) * NS_PER_MS;

	if (od->nmt == OD_BOOT && od->booted_ns <= t_ns) {
		od->nmt = OD_PRE_OPERATIONAL;
		od_queue(od, 0x700 + od->node, (const uint8_t[]){ 0 }, 1, od->booted_ns);
	}
	if (od->nmt == OD_OFF || od->nmt == OD_BOOT)
		return;
	for (; od->heartbeat_ns <= t_ns; od->heartbeat_ns = period_ns ? od->heartbeat_ns + period_ns : CLOCK_NEVER)
		od_queue(od, 0x700 + od->node, (const uint8_t[]){ (uint8_t)od->nmt }, 1, od->heartbeat_ns);
	for (size_t i = 0; i < OD_CONSUMERS_MAX; i++)
		if (od->consumer_ns[i] <= t_ns)
			lost(od, &od->consumer_ns[i], OD_LOST_LIFE);
	if (od->guard_ns <= t_ns)
		lost(od, &od->guard_ns, OD_LOST_LIFE);
	for (size_t k = 0; k < od->device->pdos_n; k++)
		advance_pdo(od, k, t_ns);
	if (od->nmt == OD_OPERATIONAL)
		changed(od, t_ns);
}

bool od_is_guarded(const struct od *od)
{
	bool guarded = od->guard_ns != CLOCK_NEVER;

	for (size_t i = 0; i < OD_CONSUMERS_MAX; i++)
		guarded |= od->consumer_ns[i] != CLOCK_NEVER;
	for (size_t k = 0; k < od->device->pdos_n; k++)
		guarded |= !od->device->pdos[k].tx && od->pdo[k].due_ns != CLOCK_NEVER;
	return guarded;
}

int64_t od_next_ns(const void *state)
{
	const struct od *od = state;
	int64_t next_ns = sim_queue_next_ns(&od->queue);

	if (od->nmt == OD_OFF)
		return CLOCK_NEVER;
	if (od->nmt == OD_BOOT)
		return od->booted_ns;
	next_ns = num_min(next_ns, num_min(od->heartbeat_ns, od->guard_ns));
	for (size_t i = 0; i < OD_CONSUMERS_MAX; i++)
		next_ns = num_min(next_ns, od->consumer_ns[i]);
	for (size_t k = 0; k < od->device->pdos_n; k++)
		next_ns = num_min(next_ns, od->pdo[k].due_ns);
	return next_ns;
}

bool od_send(struct od *od, int64_t now_ns, struct frame *frame)
{
	od_advance(od, now_ns);
	return sim_queue_take(&od->queue, now_ns, frame);
}
