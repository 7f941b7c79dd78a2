/* sim_orion.c: the cells of a simulated battery on the bus, written from hw-docs/devices/bms.md. */
#include <math.h>

#include "daemons/robotsim/sim_pylon.h"

#define CELL_MOHM 2.5
#define BALANCED_ABOVE_V 3.6 /* a cell above it is shunted */

static void word(struct frame *f, unsigned int at, double value)
{
	const unsigned int w = (unsigned int)lround(num_clamp(value, 0, 65535));

	f->data[at] = (uint8_t)(w / 256);
	f->data[at + 1] = (uint8_t)(w % 256);
}

struct frame orion_cell_frame(const struct pylon_unit *u, unsigned int cell)
{
	const double v = pylon_cell_v(u, cell);
	struct frame f = { .id = (uint32_t)u->settings.cell_id, .len = 8, .data = { (uint8_t)cell } };
	unsigned int sum = f.id % 256 + 8;

	word(&f, 1, v * 10000);
	word(&f, 3, CELL_MOHM * 100 + (v > BALANCED_ABOVE_V ? 32768 : 0));
	word(&f, 5, (v + u->load_a * CELL_MOHM / 1000) * 10000);
	for (unsigned int i = 0; i < 7; i++)
		sum += f.data[i];
	f.data[7] = (uint8_t)(sum % 256 ^ (u->wrong_checksum ? 0x55 : 0));
	return f;
}
