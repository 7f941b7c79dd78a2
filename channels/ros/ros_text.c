/* ros_text.c: the definitions of endplate_msgs as .msg, from the tables of channels/msg/types.h.  Checked: covered. */
#include <ctype.h>

#include "channels/ros/ros_inside.h"
#include "channels/ros/ros_layout.h"
#include "channels/ros/ros_own.h"

/* msg_joint_state: JointState */
const char *ros_own_name(char name[ROS_OWN_NAME_MAX], const struct msg_group *group)
{
	static const struct {
		const char *name, *ros;
	} others[] = { { "msg_header", "MessageHeader" }, { "msg_ft", "ForceTorque" } };
	const char *from = msg_struct_name(group);
	struct text_out o = text_out(name, ROS_OWN_NAME_MAX);

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(from, others[i].name)) {
			text_add(&o, "%s", others[i].ros);
			return name;
		}
	for (from += strlen("msg"); *from; from++) {
		if (*from == '_')
			text_add(&o, "%c", toupper((unsigned char)*++from));
		else
			text_add(&o, "%c", *from);
	}
	return name;
}

const char *ros_field_name(const struct msg_field *f)
{
	static const struct {
		const char *name, *ros;
	} others[] = { { "header", "endplate" }, { "interface", "interface_name" }, { "sequence", "sequence_number" } };

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(f->name, others[i].name))
			return others[i].ros;
	return f->name;
}

bool ros_is_message(const struct msg_group *group)
{
	return !strcmp(group->fields[0].name, "header");
}

void ros_add_constant(struct text_out *o, const struct msg_field *f, uint32_t i, const char *equals, const char *end)
{
	for (const char *c = f->name; *c; c++)
		text_add(o, "%c", toupper((unsigned char)*c));
	text_add(o, "_");
	for (const char *c = f->words[i]; *c; c++)
		text_add(o, "%c", *c == '-' ? '_' : toupper((unsigned char)*c));
	text_add(o, "%s%u%s", equals, f->kind == MSG_flags ? 1u << i : i, end);
}

static const char *const msg_kinds[] = {
	[MSG_u8] = "uint8",	    [MSG_u16] = "uint16",  [MSG_u32] = "uint32",   [MSG_u64] = "uint64",
	[MSG_i32] = "int32",	    [MSG_i64] = "int64",   [MSG_f64] = "float64",  [MSG_name] = "string<=23",
	[MSG_text] = "string<=119", [MSG_word] = "uint32", [MSG_flags] = "uint32", [MSG_group] = NULL,
};
_Static_assert(MSG_NAME_SIZE == 24 && MSG_TEXT_SIZE == 120, "the bounds of strings are as above");

static void add_msg_field(struct text_out *o, const struct msg_field *f)
{
	char name[ROS_OWN_NAME_MAX];

	for (uint32_t i = 0; f->words && f->words[i]; i++) {
		text_add(o, "uint32 ");
		ros_add_constant(o, f, i, "=", "\n");
	}
	if (f->kind == MSG_group)
		text_add(o, ROS_OWN_PACKAGE "/%s", ros_own_name(name, f->group));
	else
		text_add(o, "%s", msg_kinds[f->kind]);
	if (f->count)
		text_add(o, f->used ? "[<=%u]" : "[%u]", f->count);
	text_add(o, " %s", ros_field_name(f));
	text_add(o, *f->unit && strcmp(f->unit, "1") ? " # %s\n" : "\n", f->unit);
}

size_t ros_own_msg(char *text, size_t size, const struct msg_group *group)
{
	struct text_out o = text_out(text, size);

	if (ros_is_message(group))
		text_add(&o, "std_msgs/Header header\n");
	for (const struct msg_field *f = group->fields; f < group->fields + group->n; f++)
		if (ros_layout_has(group, f))
			add_msg_field(&o, f);
	return o.len;
}
