/* top_joints.c: the table of joints. */
#include <math.h>

#include "launch/achctl/top.h"
#include "launch/view/joints.h"

#define ODD_NUMBER 1e5 /* it must not push other columns out */

enum column { JOINT, POSITION, RANGE, VELOCITY, CURRENT, TEMPERATURE, STATUS, COLUMNS };

static const struct table_column columns[COLUMNS] = {
	[JOINT] = { "JOINT", true, 0 },	     [POSITION] = { "POSITION", false, 9 },
	[RANGE] = { "RANGE", true, 6 },	     [VELOCITY] = { "VELOCITY", false, 5 },
	[CURRENT] = { "CURRENT", false, 4 }, [TEMPERATURE] = { "TEMP", false, 3 },
	[STATUS] = { "STATUS", true, 8 },
};

static double degrees(double rad)
{
	return rad * 180 / M_PI;
}

/* Wide enough that columns stay where they are while a joint moves. */
static void number(struct table_row *row, enum column column, enum tone tone, double value, int width, int digits,
		   const char *unit)
{
	if (isfinite(value) && fabs(value) < ODD_NUMBER)
		table_cell(row, column, tone, "%*.*f %s", width, digits, value, unit);
	else if (isfinite(value))
		table_cell(row, column, tone, "%.2g %s", value, unit);
	else
		table_cell(row, column, TONE_DIM, "-");
}

void top_joints(const struct top *top, struct table *t)
{
	static const enum tone tones[] = { TONE_PLAIN, TONE_ODD, TONE_BAD };
	static struct joint joints[JOINTS_MAX];
	const size_t n = joints_list(&top->channels, joints);
	struct table_row *row;

	memcpy(t->columns, columns, sizeof(columns));
	table_begin(t, COLUMNS);
	t->bar = RANGE;
	for (size_t i = 0; i < n && (row = table_add(t)); i++) {
		const struct joint *j = &joints[i];
		const enum tone tone = j->old ? TONE_DIM : TONE_PLAIN;

		row->rank = (int)j->rank;
		table_cell(row, JOINT, tone, "%s %s", j->device, j->name);
		number(row, POSITION, tone, degrees(j->position_rad), 6, 1, "deg");
		table_bar(t, row, j->old ? TONE_DIM : j->at < 0 || j->at > 1 ? TONE_ODD : TONE_GOOD, j->at);
		number(row, VELOCITY, tone, degrees(j->velocity_rad_s), 6, 1, "deg/s");
		number(row, CURRENT, tone, j->current_a, 6, 2, "A");
		number(row, TEMPERATURE, tone, j->temperature_k - 273.15, 3, 0, "C");
		table_cell(row, STATUS, tones[j->rank], "%s", j->doubt);
	}
}
