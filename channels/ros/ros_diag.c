/* ros_diag.c: states as diagnostic_msgs/DiagnosticArray.
 *
 * A device has one status, with every single field of its common block and of its message that is not a measurement as
 * a key and a value, and the fields of its buses as "can0 state"; a joint has one more, "device: joint".
 *
 * Checked: covered.
 */
#include "channels/ros/ros_inside.h"

enum { OK, WARN, ERROR, STALE };

#define TEXT_MAX 256

static uint8_t worse(uint8_t a, uint8_t b)
{
	return a > b ? a : b;
}

/* ---- levels ---- */

static uint8_t life_level(uint32_t life)
{
	return life == MSG_LIFE_FAULT ? ERROR : life == MSG_LIFE_DOWN ? STALE : OK;
}

static uint8_t link_level(uint32_t state)
{
	return state == MSG_LINK_ERROR_ACTIVE				? OK
	       : state == MSG_LINK_WARNING || state == MSG_LINK_PASSIVE ? WARN
									: ERROR;
}

static uint8_t common_level(const struct msg_common *s)
{
	const uint32_t buses = s->bus_count < MSG_BUSES ? s->bus_count : MSG_BUSES;
	uint8_t level = worse(life_level(s->lifecycle), s->latches || s->level != MSG_LEVEL_RUN ? WARN : OK);

	for (uint32_t i = 0; i < buses; i++)
		level = worse(level, link_level(s->bus[i].state));
	return level;
}

static uint8_t joint_level(const struct msg_joint_state *s, size_t i)
{
	if (s->status[i] & MSG_JOINT_SILENT)
		return STALE;
	if (s->status[i] & MSG_JOINT_FAULT)
		return ERROR;
	return worse(life_level(s->lifecycle[i]), s->status[i] & MSG_JOINT_WARNING ? WARN : OK);
}

/* ---- keys and values ---- */

struct status {
	struct cdr_out *o;
	size_t mark;
	uint32_t values;
};

static struct status begin(struct cdr_out *o, uint8_t level, const char *name, const char *message, const char *device)
{
	struct status s = { .o = o };

	cdr_put_u8(o, level);
	cdr_put_string(o, name, TEXT_MAX);
	cdr_put_string(o, message, TEXT_MAX);
	cdr_put_string(o, device, TEXT_MAX);
	s.mark = cdr_mark(o);
	return s;
}

static void end(struct status *s)
{
	cdr_set_mark(s->o, s->mark, s->values);
}

/* One element; "" before the key, or the name of what it belongs to. */
static void add(struct status *s, const char *of, const struct msg_field *f, const void *at)
{
	const bool kelvin = !strcmp(f->unit, "K");
	char key[TEXT_MAX], value[TEXT_MAX];
	double kelvins;

	snprintf(key, sizeof(key), "%s%s%s%s", of, *of ? " " : "", f->name, kelvin ? "_degc" : "");
	msg_element_text(value, sizeof(value), f, at);
	if (kelvin) {
		memcpy(&kelvins, at, sizeof(kelvins));
		snprintf(value, sizeof(value), "%.2f", kelvins - KELVIN);
	}
	ros_put_text(s->o, key, MSG_TEXT_SIZE);
	ros_put_text(s->o, value, MSG_TEXT_SIZE);
	s->values++;
}

static void add_group(struct status *s, const char *of, const struct msg_group *group, const uint8_t *base)
{
	const uint8_t *at = base;

	for (const struct msg_field *f = group->fields; f < group->fields + group->n; at += msg_field_size(f), f++) {
		const size_t n = msg_used(group, f, base);

		if (msg_is_reserved(f) || !strcmp(f->name, "header"))
			continue;
		if (f->kind == MSG_group && !f->count)
			add_group(s, of, f->group, at);
		else if (f->kind == MSG_group)
			for (size_t i = 0; i < n; i++) {
				char name[MSG_NAME_SIZE]; /* a struct in a list begins with its name */

				snprintf(name, sizeof(name), "%.*s", MSG_NAME_SIZE - 1, (const char *)at + i * f->size);
				add_group(s, name, f->group, at + i * f->size);
			}
		else if (!f->count && (f->kind != MSG_f64 || !strcmp(f->unit, "K")))
			add(s, of, f, at);
	}
}

/* ---- statuses ---- */

static void put_joint(struct cdr_out *o, const struct msg_type *type, const struct msg_joint_state *m, size_t i,
		      const struct ros_context *c)
{
	char joint[MSG_TEXT_SIZE], name[TEXT_MAX];
	const uint8_t *at = (const uint8_t *)m;
	struct status s;

	snprintf(name, sizeof(name), "%.80s: %s", ros_device(c), ros_joint(joint, m, i, c));
	s = begin(o, joint_level(m, i), name, msg_life_word(m->lifecycle[i]), ros_device(c));
	for (const struct msg_field *f = type->body->fields; f < type->body->fields + type->body->n; f++) {
		const bool measured = f->kind == MSG_f64 && strcmp(f->unit, "K") != 0;

		if (f->used && !measured && f->kind != MSG_name)
			add(&s, "", f, at + i * f->size);
		at += msg_field_size(f);
	}
	end(&s);
}

/* The device itself: its level, and a word for it. */
static uint8_t device_level(const struct msg_type *type, const void *msg, const char **word)
{
	const struct msg_bus_stats *bus = msg;
	const struct msg_estop *estop = msg;

	if (type->number == msg_bus_stats_number) {
		*word = msg_link_word(bus->state);
		return link_level(bus->state);
	}
	if (type->number == msg_estop_number) {
		*word = msg_level_word(estop->level);
		return estop->kind == MSG_ESTOP_RAISE ? WARN : OK;
	}
	*word = msg_life_word(
		((const struct msg_joint_state *)msg)->common.lifecycle); /* the same place in every state */
	return common_level(&((const struct msg_joint_state *)msg)->common);
}

void ros_put_diagnostics(struct cdr_out *o, const struct msg_type *type, const void *msg, const struct ros_context *c)
{
	const struct msg_joint_state *m = type->number == msg_joint_state_number ? msg : NULL;
	const uint32_t joints = !m ? 0 : m->count < MSG_JOINTS ? m->count : MSG_JOINTS;
	const char *word;
	const uint8_t level = device_level(type, msg, &word);
	struct status s;

	ros_put_header(o, msg, c);
	cdr_put_u32(o, 1 + joints);
	s = begin(o, level, ros_device(c), word, ros_device(c));
	add_group(&s, "", type->body, msg);
	end(&s);
	for (uint32_t i = 0; i < joints; i++)
		put_joint(o, type, m, i, c);
}
