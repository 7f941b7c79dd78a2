/* pylon.c: the codec of a Pylontech low-voltage pack.  Checked: pure, covered. */
#include <math.h>

#include "config/base/base.h"
#include "daemons/bms/pylon.h"

#define PERCENT_MAX 100
#define FINE_PER_PERCENT 100

#define PERMIT_CHARGE 0x80u
#define PERMIT_DISCHARGE 0x40u
#define WANTS_CHARGE 0x30u /* I, II */

static int16_t i16(const uint8_t *bytes)
{
	return (int16_t)frame_le16(bytes);
}

/* Each decoder returns false for a frame that is not as the page says.
 *
 * The sign of the discharge limit differs between vendors. */
static bool decode_limits(struct pylon_pack *p, const struct frame *f)
{
	if (f->len != 6 && f->len != 8)
		return false;
	p->charge_limit_a = fabs(i16(f->data + 2) * 0.1);
	p->discharge_limit_a = fabs(i16(f->data + 4) * 0.1);
	return true;
}

/* The hundredths count if they agree with the whole percents: what they mean is not sure. */
static bool decode_charge(struct pylon_pack *p, const struct frame *f)
{
	const int charge = frame_le16(f->data), health = frame_le16(f->data + 2), fine = frame_le16(f->data + 4);

	if (f->len != 4 && f->len != 6)
		return false;
	if (charge > PERCENT_MAX)
		return false;
	p->charge = charge / 100.0;
	if (f->len == 6 && fabs((double)fine / FINE_PER_PERCENT - charge) <= 1 &&
	    fine <= PERCENT_MAX * FINE_PER_PERCENT)
		p->charge = fine / 10000.0;
	p->health = health > PERCENT_MAX ? NAN : health / 100.0;
	return true;
}

static bool decode_measured(struct pylon_pack *p, const struct frame *f)
{
	if (f->len != 6)
		return false;
	p->voltage_v = i16(f->data) * 0.01;
	p->current_a = i16(f->data + 2) * 0.1;
	p->temperature_k = i16(f->data + 4) * 0.1 + KELVIN;
	return true;
}

static uint32_t decode_bits(const uint8_t *bytes)
{
	static const struct {
		uint16_t bits;
		uint32_t alarm;
	} rows[] = {
		{ 0x0002, MSG_ALARM_OVER_VOLTAGE },	{ 0x0004, MSG_ALARM_UNDER_VOLTAGE },
		{ 0x0008, MSG_ALARM_OVER_TEMPERATURE }, { 0x0010, MSG_ALARM_UNDER_TEMPERATURE },
		{ 0x0180, MSG_ALARM_OVER_CURRENT },	{ 0x8800, MSG_ALARM_INTERNAL },
	};
	uint32_t alarms = 0;

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (frame_le16(bytes) & rows[i].bits)
			alarms |= rows[i].alarm;
	return alarms;
}

static bool decode_alarms(struct pylon_pack *p, const struct frame *f)
{
	if (f->len != 7)
		return false;
	p->protections = decode_bits(f->data);
	p->warnings = decode_bits(f->data + 2);
	return true;
}

static bool decode_permits(struct pylon_pack *p, const struct frame *f)
{
	if (f->len != 2)
		return false;
	p->refused = (f->data[0] & PERMIT_CHARGE ? 0 : MSG_ALARM_CHARGE_REFUSED) |
		     (f->data[0] & PERMIT_DISCHARGE ? 0 : MSG_ALARM_DISCHARGE_REFUSED);
	p->wants_charge = f->data[0] & WANTS_CHARGE;
	return true;
}

static const struct {
	uint32_t id;
	unsigned int part;
	bool (*decode)(struct pylon_pack *pack, const struct frame *frame);
} parts[] = {
	{ PYLON_ID_LIMITS, PYLON_LIMITS, decode_limits },	{ PYLON_ID_CHARGE, PYLON_CHARGE, decode_charge },
	{ PYLON_ID_MEASURED, PYLON_MEASURED, decode_measured }, { PYLON_ID_ALARMS, PYLON_ALARMS, decode_alarms },
	{ PYLON_ID_PERMITS, PYLON_PERMITS, decode_permits },
};

/* ---- telegrams ---- */

/* true: it was complete.  Permits alone are those of a pack that began to send them. */
static bool end_telegram(struct pylon *p, struct pylon_pack *pack)
{
	const unsigned int has = p->has;

	p->has = 0;
	if ((has & PYLON_NEEDED) == PYLON_NEEDED) {
		p->no_permits = !(has & PYLON_PERMITS);
		p->lacked = 0;
		*pack = p->next;
		return true;
	}
	if (has & PYLON_NEEDED) {
		p->incomplete++;
		p->lacked = PYLON_NEEDED & ~has;
	}
	return false;
}

bool pylon_pause(struct pylon *p, int64_t now_ns, struct pylon_pack *pack)
{
	return p->has && now_ns - p->last_ns > p->pause_ns && end_telegram(p, pack);
}

bool pylon_take(struct pylon *p, const struct frame *frame, int64_t t_ns, struct pylon_pack *pack)
{
	struct pylon_pack next = p->next;
	unsigned int i = 0, wanted;
	bool complete = false;

	while (i < sizeof(parts) / sizeof(*parts) && parts[i].id != frame->id)
		i++;
	if (i == sizeof(parts) / sizeof(*parts) || !parts[i].decode(&next, frame)) {
		p->odd++;
		return false;
	}
	if (p->has & parts[i].part || (p->has && t_ns - p->last_ns > p->pause_ns))
		complete = end_telegram(p, pack);
	if (!p->has)
		next.t_ns = t_ns;
	p->next = next;
	p->has |= parts[i].part;
	p->last_ns = t_ns;
	if (parts[i].part == PYLON_PERMITS)
		p->no_permits = false;
	wanted = PYLON_NEEDED | (p->no_permits ? 0 : PYLON_PERMITS);
	if ((p->has & wanted) == wanted)
		complete = end_telegram(p, pack);
	return complete;
}

void pylon_forget(struct pylon *p)
{
	p->has = 0;
	p->no_permits = false;
	memset(&p->next, 0, sizeof(p->next));
}

void pylon_encode_keep_alive(struct frame *frame)
{
	*frame = (struct frame){ .id = PYLON_ID_KEEP_ALIVE, .len = PYLON_KEEP_ALIVE_LEN };
}
