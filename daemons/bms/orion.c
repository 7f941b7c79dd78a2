/* orion.c: the codec of an Orion BMS's cell broadcast.  Checked: pure, covered. */
#include "config/base/base.h"
#include "daemons/bms/orion.h"

#define VOLT_LSB 0.0001
#define OHM_LSB 0.00001
#define SHUNTING 0x8000u

static uint8_t checksum(const struct frame *frame)
{
	uint32_t sum = frame->id + ORION_LEN;

	for (unsigned int i = 0; i < ORION_LEN - 1; i++)
		sum += frame->data[i];
	return (uint8_t)sum;
}

int orion_decode(struct orion_cell *cell, const struct frame *frame)
{
	const unsigned int resistance = frame_be(frame->data + 3, 2);

	if (frame->len != ORION_LEN)
		return -EMSGSIZE;
	if (frame->data[ORION_LEN - 1] != checksum(frame))
		return -EBADMSG;
	cell->number = frame->data[0];
	cell->voltage_v = frame_be(frame->data + 1, 2) * VOLT_LSB;
	cell->resistance_ohm = (resistance & ~SHUNTING) * OHM_LSB;
	cell->shunting = resistance & SHUNTING;
	cell->open_v = frame_be(frame->data + 5, 2) * VOLT_LSB;
	return 0;
}
