/* fuzz_bms.c: arbitrary frames as those of a Pylontech pack and of an Orion BMS: a telegram has every part that is
 * needed, finite and in range, and is not older than its first frame; a cell has the right checksum.
 *
 * Longest: 240 bytes.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "daemons/bms/orion.h"
#include "daemons/bms/pylon.h"
#include "test/fuzz/must.h"

#define MS ((int64_t)1000000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_pack(const struct pylon_pack *p, int64_t t_ns)
{
	must(p->t_ns >= MS && p->t_ns <= t_ns);
	must(p->charge >= 0 && p->charge <= 1 && !(p->health < 0) && !(p->health > 1));
	must(fabs(p->voltage_v) < 328 && fabs(p->current_a) < 3277 && fabs(p->temperature_k) < 3600);
	must(p->charge_limit_a >= 0 && p->discharge_limit_a >= 0 && p->discharge_limit_a < 3277);
	must(!((p->protections | p->warnings) & (MSG_ALARM_CHARGE_REFUSED | MSG_ALARM_DISCHARGE_REFUSED)));
	must(!(p->refused & ~(uint32_t)(MSG_ALARM_CHARGE_REFUSED | MSG_ALARM_DISCHARGE_REFUSED)));
}

static void check_cell(const struct frame *f)
{
	struct orion_cell cell;
	unsigned int sum = f->id + 8;

	if (orion_decode(&cell, f))
		return;
	for (unsigned int i = 0; i < 7; i++)
		sum += f->data[i];
	must(f->len == 8 && f->data[7] == sum % 256 && cell.number == f->data[0]);
	must(cell.voltage_v >= 0 && cell.voltage_v < 6.6 && cell.resistance_ohm >= 0 && cell.resistance_ohm < 0.33);
}

/* Of each frame 10 bytes: identifier, length, data; the identifier also says how much time passes. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t ids[8] = { PYLON_ID_LIMITS,  PYLON_ID_CHARGE, PYLON_ID_MEASURED, PYLON_ID_ALARMS,
					 PYLON_ID_PERMITS, 0x35E,	    PYLON_ID_CHARGE,   PYLON_ID_ALARMS };
	struct pylon pylon = { .pause_ns = 5 * MS };
	unsigned int seen = 0, n = 0;
	int64_t t_ns = MS;

	for (; size >= 10; data += 10, size -= 10, n++) {
		struct frame f = { .id = ids[data[0] & 7], .len = data[1] % 9 };
		struct pylon_pack pack;

		memcpy(f.data, data + 2, 8);
		t_ns += (data[0] >> 4) * MS;
		seen |= f.id == PYLON_ID_LIMITS	    ? PYLON_LIMITS
			: f.id == PYLON_ID_CHARGE   ? PYLON_CHARGE
			: f.id == PYLON_ID_MEASURED ? PYLON_MEASURED
			: f.id == PYLON_ID_ALARMS   ? PYLON_ALARMS
						    : 0;
		if ((data[1] & 0x80 && pylon_pause(&pylon, t_ns, &pack)) || pylon_take(&pylon, &f, t_ns, &pack)) {
			must(seen == PYLON_NEEDED);
			check_pack(&pack, t_ns);
		}
		if (data[1] & 0x40)
			pylon_forget(&pylon);
		f.id = 0x036;
		check_cell(&f);
	}
	must(pylon.odd <= n && pylon.incomplete <= n);
	return 0;
}
