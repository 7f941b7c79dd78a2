/* fuzz_table.c: arbitrary bytes as the tables of Hubo's boards, and as the data sheet of a CANopen device: error lines,
 * or a table whose joints, boards and objects fit together.
 *
 * Seeds: config/hubo.
 * Longest: 4096 bytes.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "can/canopen/eds.h"
#include "daemons/hubo/hubo_table.h"
#include "test/fuzz/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_joints(const struct hubo_table *t)
{
	must(t->boards_n >= 0 && t->boards_n <= HUBO_BOARDS_MAX);
	for (int i = 0; i < t->boards_n; i++) {
		const struct hubo_board *b = &t->boards[i];

		must(b->bus >= 0 && b->bus < HUBO_BUSES && b->motors >= 1 && b->motors <= HUBO_MOTORS_MAX);
		for (int k = 0; k < b->motors; k++)
			must(b->joint[k] == HUBO_NONE || t->joints[b->joint[k]].board == i);
	}
	for (int i = 0; i < HUBO_JOINTS; i++) {
		const struct hubo_joint *j = &t->joints[i];

		if (!j->line)
			continue;
		must(hubo_joint_name(i) && hubo_joint_find(hubo_joint_name(i)) == i);
		must(j->board >= 0 && j->board < t->boards_n && t->boards[j->board].joint[j->motor] == i);
		must(isfinite(j->counts_per_rad) && j->counts_per_rad != 0);
	}
}

static void try_hubo(const char *text)
{
	static struct hubo_table t;
	struct error_sink errors = { must_be_line, NULL, 0 };

	memset(&t, 0, sizeof(t));
	must(!hubo_table_joints(&t, "fuzz", text, &errors) == !errors.count);
	if (!errors.count)
		check_joints(&t);
	errors.count = 0;
	must(!hubo_table_sensors(&t, "fuzz", text, &errors) == !errors.count);
	for (int i = 0; i < HUBO_SENSORS && !errors.count; i++)
		must(!t.sensors[i].line || (t.sensors[i].bus >= 0 && t.sensors[i].bus < HUBO_BUSES));
	errors.count = 0;
	must(!hubo_table_homes(&t, "fuzz", text, &errors) == !errors.count);
}

static void try_eds(const char *text, size_t len)
{
	struct error_sink errors = { must_be_line, NULL, 0 };
	struct eds eds;

	must(!eds_parse(&eds, "fuzz", text, len, &errors) == !errors.count);
	if (errors.count)
		return;
	for (size_t i = 0; i < eds.n; i++) {
		const struct eds_object *o = &eds.objects[i], *found = eds_find(&eds, o->index, o->sub);

		must(found && found->index == o->index && found->sub == o->sub);
		must(memchr(o->name, 0, sizeof(o->name)) && memchr(o->access, 0, sizeof(o->access)));
		must(eds_bytes(o->type) <= 8);
	}
	eds_free(&eds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	memcpy(text, data, size);
	text[size] = 0;
	try_hubo(text);
	try_eds(text, size);
	free(text);
	return 0;
}
