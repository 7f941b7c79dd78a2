/* msg_old.c: old layouts of messages, and how they become those of today.  A layout never changes once it is here. */
#include <math.h>
#include <string.h>

#include "channels/msg/msg_old.h"

/* ---- layouts ---- */

/* clang-format off */

#define ROW(name, size) { name, size, NULL }
#define END { NULL, 0, NULL }

static const struct msg_old_row common_2[] = {
	ROW("lifecycle", 4), ROW("level", 4), ROW("epoch", 8), ROW("refs_taken", 8),
	ROW("refs_refused", 32), ROW("ticks", 8), ROW("skipped", 8), ROW("late_p99_ns", 8),
	ROW("late_max_ns", 8), ROW("frames_odd", 8), ROW("frames_missing", 8),
	ROW("put_timeouts", 4), ROW("bus_count", 4), ROW("bus", 8 * 144), END,
};

#define HEADER ROW("header", 56)
#define STATE_2 HEADER, { "common", 1264, common_2 }

static const struct msg_old_row joint_state_2[] = {
	STATE_2, ROW("count", 4), ROW("reserved", 4), ROW("joint", 48 * 24), ROW("position", 48 * 8),
	ROW("velocity", 48 * 8), ROW("current", 48 * 8), ROW("temperature", 48 * 8),
	ROW("age_ns", 48 * 8), ROW("status", 48 * 4), ROW("state_word", 48 * 4), END,
};
static const struct msg_old_row imu_2[] = {
	STATE_2, ROW("acceleration", 24), ROW("rate", 24), ROW("orientation", 32),
	ROW("temperature", 8), ROW("age_ns", 8), ROW("status", 4), ROW("samples", 4),
	END,
};
static const struct msg_old_row ft_2[] = {
	STATE_2, ROW("force", 24), ROW("torque", 24), ROW("bias_force", 24), ROW("bias_torque", 24),
	ROW("age_ns", 8), ROW("status", 4), ROW("saturated", 4), END,
};
static const struct msg_old_row gripper_state_2[] = {
	STATE_2, ROW("grip", 4), ROW("activated", 4), ROW("status", 4), ROW("count", 4),
	ROW("position", 32), ROW("current", 32), ROW("finger", 16), ROW("age_ns", 8),
	END,
};
static const struct msg_old_row battery_2[] = {
	STATE_2, ROW("voltage", 8), ROW("current", 8), ROW("charge", 8), ROW("health", 8),
	ROW("temperature", 8), ROW("current_limit", 8), ROW("age_ns", 8), ROW("alarms", 4),
	ROW("cell_count", 4), ROW("cell", 128 * 8), END,
};
static const struct msg_old_row clock_2[] = {
	STATE_2, ROW("cycle", 8), ROW("t_cycle_ns", 8), ROW("period_ns", 8), ROW("late_ns", 8),
	ROW("bus_count", 4), ROW("reserved", 4), ROW("bus", 8 * 56), END,
};
static const struct msg_old_row estop_1[] = {
	HEADER, ROW("epoch", 8), ROW("level", 4), ROW("reserved", 4), ROW("seen_seq", 16),
	ROW("who", 24), ROW("why", 120), END,
};

static const struct {
	uint32_t number;
	uint16_t version;
	const struct msg_old_row *rows;
} layouts[] = {
	{ msg_joint_state_number, 2, joint_state_2 }, { msg_imu_number, 2, imu_2 }, { msg_ft_number, 2, ft_2 },
	{ msg_gripper_state_number, 2, gripper_state_2 }, { msg_battery_number, 2, battery_2 },
	{ msg_clock_number, 2, clock_2 }, { msg_estop_number, 1, estop_1 },
};

/* clang-format on */

/* ---- conversion ---- */

static size_t size_of(const struct msg_old_row *rows)
{
	size_t size = 0;

	for (; rows->name; rows++)
		size += rows->size;
	return size;
}

static const struct msg_old_row *row_named(const struct msg_old_row *rows, const char *name, size_t *offset)
{
	for (*offset = 0; rows->name; *offset += rows->size, rows++)
		if (!strcmp(rows->name, name))
			return rows;
	return NULL;
}

static void leave_out(const struct msg_field *f, uint8_t *at)
{
	static const double none = NAN;

	for (size_t i = 0; f->kind == MSG_f64 && i < (f->count ? f->count : 1u); i++)
		memcpy(at + i * sizeof(none), &none, sizeof(none));
}

void msg_old_copy(const struct msg_group *group, uint8_t *to, const struct msg_old_row *rows, const uint8_t *from)
{
	for (const struct msg_field *f = group->fields; f < group->fields + group->n; f++) {
		size_t size = msg_field_size(f), offset;
		const struct msg_old_row *row = row_named(rows, f->name, &offset);

		if (row && row->rows)
			msg_old_copy(f->group, to, row->rows, from + offset);
		else if (row && row->size == size)
			memcpy(to, from + offset, size);
		else
			leave_out(f, to);
		to += size;
	}
}

/* Version 1 knew levels only: nothing is raised to run. */
static void estop_kind(void *msg)
{
	struct msg_estop estop;

	memcpy(&estop, msg, sizeof(estop));
	estop.kind = estop.level == MSG_LEVEL_RUN ? MSG_ESTOP_LOWER : MSG_ESTOP_RAISE;
	memcpy(msg, &estop, sizeof(estop));
}

static const struct msg_old_row *layout_of(const struct msg_header *h)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		if (layouts[i].number == h->type && layouts[i].version == h->version)
			return layouts[i].rows;
	return NULL;
}

size_t msg_old_convert(void *to, const void *buf, size_t len)
{
	const struct msg_type *type;
	const struct msg_old_row *rows;
	struct msg_header h;

	if (len < sizeof(h))
		return 0;
	memcpy(&h, buf, sizeof(h));
	type = msg_type_by_number(h.type);
	rows = layout_of(&h);
	if (!type || !rows || h.size != len || size_of(rows) != len)
		return 0;
	memset(to, 0, type->body->size);
	msg_old_copy(type->body, to, rows, buf);
	h.version = type->version;
	h.size = (uint32_t)type->body->size;
	memcpy(to, &h, sizeof(h));
	if (h.type == msg_estop_number)
		estop_kind(to);
	return type->body->size;
}
