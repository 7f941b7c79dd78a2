/* od_sdo.c: the SDO server of a simulated node: expedited and segmented transfers, PDO parameters, abort codes. */
#include "channels/clock/clock.h"
#include "daemons/robotsim/od_inside.h"

#define ABORT_TOGGLE 0x05030000u
#define ABORT_COMMAND 0x05040001u
#define ABORT_WRITE_ONLY 0x06010001u
#define ABORT_READ_ONLY 0x06010002u
#define ABORT_ABSENT 0x06020000u
#define ABORT_UNMAPPABLE 0x06040041u
#define ABORT_PDO_LENGTH 0x06040042u
#define ABORT_LENGTH 0x06070010u
#define ABORT_SUB 0x06090011u

#define DISABLED 0x80000000u
#define COB_BITS (DISABLED | 0x40000000u | FRAME_STD_MASK)

static void reply(struct od *od, uint8_t command, const uint8_t *key, uint32_t value, int64_t t_ns)
{
	uint8_t data[8] = { command, key[0], key[1], key[2] };

	frame_put_le(data + 4, value, 4);
	od_queue(od, 0x580 + od->node, data, 8, t_ns + od->reply_ns);
}

/* A segment has 7 bytes where other replies have key and value. */
static void reply_segment(struct od *od, uint8_t command, const uint8_t *bytes, int64_t t_ns)
{
	uint8_t data[8] = { command };

	if (bytes)
		memcpy(data + 1, bytes, 7);
	od_queue(od, 0x580 + od->node, data, 8, t_ns + od->reply_ns);
}

static uint32_t size_command(const struct od *od, unsigned int bytes)
{
	return od->device->hides_size ? 0x42 : 0x43 | (4 - bytes) << 2;
}

/* ---- PDO parameters: 0x1400, 0x1600, 0x1800, 0x1A00 and number - 1 ---- */

struct place {
	const struct od_pdo *pdo; /* NULL: not a PDO parameter of this device */
	struct od_channel *channel;
	bool map;
};

static struct place find_pdo(struct od *od, uint16_t index)
{
	const unsigned int base = index & ~0x1FFu, number = (index & 0x1FFu) + 1;

	for (size_t k = 0; k < od->device->pdos_n; k++) {
		const struct od_pdo *p = &od->device->pdos[k];

		if (p->number == number && (base == (p->tx ? 0x1800u : 0x1400u) || base == (p->tx ? 0x1A00u : 0x1600u)))
			return (struct place){ p, &od->pdo[k], base == (p->tx ? 0x1A00u : 0x1600u) };
	}
	return (struct place){ 0 };
}

/* Bytes of the parameter; 0: absent. */
static unsigned int pdo_get(const struct place *at, uint8_t sub, uint32_t *value)
{
	const struct od_channel *c = at->channel;

	if (at->map) {
		*value = sub ? c->map[(sub - 1) % OD_MAP_MAX] : c->mapped;
		return !sub ? 1 : sub <= OD_MAP_MAX && (at->pdo->free || sub <= c->mapped) ? 4 : 0;
	}
	*value = sub == 1 ? c->cob : sub == 2 ? c->type : sub == 3 ? c->inhibit : sub == 5 ? c->event_ms : 5;
	return !sub || sub == 2 ? 1 : sub == 1 ? 4 : sub == 3 || sub == 5 ? 2 : 0;
}

static uint32_t map_set(struct od *od, const struct place *at, uint8_t sub, uint32_t value)
{
	struct od_channel *c = at->channel;
	const size_t i = od_find(od, (uint16_t)(value >> 16), (uint8_t)(value >> 8));
	unsigned int bits = 0;

	if (!at->pdo->free)
		return ABORT_READ_ONLY;
	if (!(c->cob & DISABLED) || (sub && c->mapped))
		return OD_ABORT_STATE;
	if (sub) {
		if (value && (i == od->device->objects_n || !(od->device->objects[i].access & OD_MAP) ||
			      od->device->objects[i].bits != (value & 0xFF)))
			return ABORT_UNMAPPABLE;
		c->map[sub - 1] = value;
		return 0;
	}
	for (uint32_t k = 0; k < value && k < OD_MAP_MAX; k++)
		bits += c->map[k] ? c->map[k] & 0xFF : 65;
	if (value > OD_MAP_MAX || bits > 64)
		return ABORT_PDO_LENGTH;
	c->mapped = (uint8_t)value;
	return 0;
}

static uint32_t pdo_set(struct od *od, const struct place *at, uint8_t sub, uint32_t value, int64_t t_ns)
{
	struct od_channel *c = at->channel;

	if (at->map)
		return map_set(od, at, sub, value);
	switch (sub) {
	case 1: /* another identifier only while it is disabled */
		if (value & ~COB_BITS || (!((c->cob | value) & DISABLED) && c->cob != value))
			return OD_ABORT_RANGE;
		c->cob = value;
		return 0;
	case 2:
		if (value > 0xF0 && value < 0xFE)
			return OD_ABORT_RANGE;
		c->type = (uint8_t)value;
		c->syncs = 0;
		return 0;
	case 3:
		c->inhibit = (uint16_t)value;
		return 0;
	case 5: /* that of a RPDO counts from its next frame on */
		c->event_ms = (uint16_t)value;
		c->due_ns = value && at->pdo->tx ? t_ns + value * NS_PER_MS : CLOCK_NEVER;
		return 0;
	default:
		return ABORT_READ_ONLY;
	}
}

/* ---- objects ---- */

static uint32_t absent(struct od *od, uint16_t index)
{
	for (size_t i = 0; i < od->device->objects_n; i++)
		if (od->device->objects[i].index == index)
			return ABORT_SUB;
	return find_pdo(od, index).pdo ? ABORT_SUB : ABORT_ABSENT;
}

/* Communication objects that the node itself acts on. */
static void acted_on(struct od *od, uint16_t index, uint8_t sub, uint32_t value, int64_t t_ns)
{
	if (index == 0x1017)
		od->heartbeat_ns = value ? t_ns + value * NS_PER_MS : CLOCK_NEVER;
	if (index == 0x1016 && sub && sub <= OD_CONSUMERS_MAX)
		od->consumer_ns[sub - 1] = CLOCK_NEVER; /* from the next heartbeat on */
	if (index == 0x100C || index == 0x100D)
		od->guard_ns = CLOCK_NEVER; /* from the next request on */
}

static void begin_segments(struct od *od, const struct od_object *object, bool download)
{
	od->segments.object = object;
	od->segments.download = download;
	od->segments.toggle = false;
	od->segments.at = 0;
}

/* 0 or an abort code. */
static uint32_t upload(struct od *od, const uint8_t *key, int64_t t_ns)
{
	const uint16_t index = (uint16_t)(key[0] | key[1] << 8);
	const size_t i = od_find(od, index, key[2]);
	const struct place place = find_pdo(od, index);
	const struct od_object *o = &od->device->objects[i];
	uint32_t value = 0;
	unsigned int bytes;

	if (i == od->device->objects_n) {
		bytes = place.pdo ? pdo_get(&place, key[2], &value) : 0;
		if (bytes)
			reply(od, (uint8_t)size_command(od, bytes), key, value, t_ns);
		return bytes ? 0 : absent(od, index);
	}
	if (!(o->access & OD_READ))
		return ABORT_WRITE_ONLY;
	if (o->bits) {
		reply(od, (uint8_t)size_command(od, o->bits / 8), key, od_read(od, i), t_ns);
		return 0;
	}
	begin_segments(od, o, false);
	reply(od, 0x41, key, (uint32_t)(o->text ? strlen(o->text) : od->bytes_n), t_ns);
	return 0;
}

static uint32_t download(struct od *od, const struct frame *f, int64_t t_ns)
{
	const uint8_t command = f->data[0], *key = f->data + 1;
	const uint16_t index = (uint16_t)(key[0] | key[1] << 8);
	const size_t i = od_find(od, index, key[2]);
	const struct place place = find_pdo(od, index);
	const struct od_object *o = &od->device->objects[i];
	const unsigned int given = command & 1 ? 4 - (command >> 2 & 3) : 0; /* 0: size not indicated */
	uint32_t value = frame_le32(f->data + 4), ignored, code;
	unsigned int bytes = i < od->device->objects_n ? o->bits / 8u
			     : place.pdo	       ? pdo_get(&place, key[2], &ignored)
						       : 0;

	if (i == od->device->objects_n && !bytes)
		return absent(od, index);
	if (i < od->device->objects_n && !(o->access & OD_WRITE_ONLY))
		return ABORT_READ_ONLY;
	if (!(command & 2)) { /* not expedited */
		if (bytes)
			return ABORT_LENGTH;
		begin_segments(od, o, true);
		reply(od, 0x60, key, 0, t_ns);
		return 0;
	}
	if (!bytes || (given && given != bytes))
		return ABORT_LENGTH;
	value &= bytes == 4 ? ~0u : (1u << 8 * bytes) - 1;
	code = i < od->device->objects_n ? od_write(od, i, value) : pdo_set(od, &place, key[2], value, t_ns);
	if (code)
		return code;
	acted_on(od, index, key[2], value, t_ns);
	reply(od, 0x60, key, 0, t_ns);
	return 0;
}

static uint32_t upload_segment(struct od *od, uint8_t command, int64_t t_ns)
{
	const struct od_object *o = od->segments.object;
	const char *all = o->text ? o->text : (const char *)od->bytes;
	const size_t size = o->text ? strlen(o->text) : od->bytes_n, left = size - od->segments.at;
	const size_t n = left < 7 ? left : 7;
	uint8_t bytes[7] = { 0 };

	memcpy(bytes, all + od->segments.at, n);
	od->segments.at += n;
	reply_segment(od, (uint8_t)((command & 0x10) | (7 - n) << 1 | (left <= 7)), bytes, t_ns);
	if (left <= 7)
		od->segments.object = NULL;
	return 0;
}

static uint32_t download_segment(struct od *od, const struct frame *f, int64_t t_ns)
{
	const size_t n = 7 - (f->data[0] >> 1 & 7);

	if (od->segments.at + n > OD_BYTES_MAX)
		return ABORT_LENGTH;
	memcpy(od->segments.bytes + od->segments.at, f->data + 1, n);
	od->segments.at += n;
	reply_segment(od, 0x20 | (f->data[0] & 0x10), NULL, t_ns);
	if (f->data[0] & 1) {
		memcpy(od->bytes, od->segments.bytes, od->segments.at);
		od->bytes_n = od->segments.at;
		od->segments.object = NULL;
	}
	return 0;
}

static uint32_t segment(struct od *od, const struct frame *f, bool is_download, int64_t t_ns)
{
	if (!od->segments.object || od->segments.download != is_download)
		return ABORT_COMMAND;
	if (!(f->data[0] & 0x10) == od->segments.toggle)
		return ABORT_TOGGLE;
	od->segments.toggle = !od->segments.toggle;
	return is_download ? download_segment(od, f, t_ns) : upload_segment(od, f->data[0], t_ns);
}

void od_sdo(struct od *od, const struct frame *f, int64_t t_ns)
{
	uint8_t key[3] = { f->data[1], f->data[2], f->data[3] };
	uint32_t code;

	if (f->len != 8)
		return;
	switch (f->data[0] >> 5) {
	case 0:
	case 3:
		if (od->segments.object) {
			key[0] = (uint8_t)od->segments.object->index;
			key[1] = (uint8_t)(od->segments.object->index >> 8);
			key[2] = od->segments.object->sub;
		}
		code = segment(od, f, f->data[0] >> 5 == 0, t_ns);
		break;
	case 1:
		code = download(od, f, t_ns);
		break;
	case 2:
		code = upload(od, key, t_ns);
		break;
	case 4: /* the client aborts */
		od->segments.object = NULL;
		return;
	default:
		code = ABORT_COMMAND;
		break;
	}
	if (!code)
		return;
	od->segments.object = NULL;
	od->aborts++;
	reply(od, 0x80, key, code, t_ns);
}
