/* ros_text.c: the definitions of endplate_msgs as .msg and .idl, from the tables of channels/msg/types.h. */
#include <ctype.h>
#include <string.h>

#include "channels/ros/ros_own.h"
#include "channels/ros/ros_plan.h"
#include "config/text.h"

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

static const char *field_name(const struct msg_field *f)
{
	static const struct {
		const char *name, *ros;
	} others[] = { { "header", "endplate" }, { "interface", "interface_name" }, { "sequence", "sequence_number" } };

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(f->name, others[i].name))
			return others[i].ros;
	return f->name;
}

static bool is_message(const struct msg_group *group)
{
	return !strcmp(group->fields[0].name, "header");
}

/* LIFECYCLE_ACTIVE */
static void add_constant(struct text_out *o, const struct msg_field *f, const char *word)
{
	for (const char *c = f->name; *c; c++)
		text_add(o, "%c", toupper((unsigned char)*c));
	text_add(o, "_");
	for (; *word; word++)
		text_add(o, "%c", *word == '-' ? '_' : toupper((unsigned char)*word));
}

static uint32_t constant_value(const struct msg_field *f, uint32_t i)
{
	return f->kind == MSG_flags ? 1u << i : i;
}

/* ---- .msg ---- */

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
		add_constant(o, f, f->words[i]);
		text_add(o, "=%u\n", constant_value(f, i));
	}
	if (f->kind == MSG_group)
		text_add(o, ROS_OWN_PACKAGE "/%s", ros_own_name(name, f->group));
	else
		text_add(o, "%s", msg_kinds[f->kind]);
	if (f->count)
		text_add(o, f->used ? "[<=%u]" : "[%u]", f->count);
	text_add(o, " %s", field_name(f));
	text_add(o, *f->unit && strcmp(f->unit, "1") ? " # %s\n" : "\n", f->unit);
}

size_t ros_own_msg(char *text, size_t size, const struct msg_group *group)
{
	struct text_out o = text_out(text, size);

	if (is_message(group))
		text_add(&o, "std_msgs/Header header\n");
	for (const struct msg_field *f = group->fields; f < group->fields + group->n; f++)
		if (ros_plan_has(group, f))
			add_msg_field(&o, f);
	return o.len;
}

/* ---- .idl ---- */

static const char *const idl_kinds[] = {
	[MSG_u8] = "uint8",	    [MSG_u16] = "uint16",  [MSG_u32] = "uint32",   [MSG_u64] = "uint64",
	[MSG_i32] = "int32",	    [MSG_i64] = "int64",   [MSG_f64] = "double",   [MSG_name] = "string<23>",
	[MSG_text] = "string<119>", [MSG_word] = "uint32", [MSG_flags] = "uint32", [MSG_group] = NULL,
};

static void add_includes(struct text_out *o, const struct msg_group *group)
{
	char name[ROS_OWN_NAME_MAX];

	if (is_message(group))
		text_add(o, "#include \"std_msgs/msg/Header.idl\"\n");
	for (const struct msg_field *f = group->fields; f < group->fields + group->n; f++)
		if (f->kind == MSG_group)
			text_add(o, "#include \"" ROS_OWN_PACKAGE "/msg/%s.idl\"\n", ros_own_name(name, f->group));
	text_add(o, "%s", o->len ? "\n" : "");
}

static void add_constants(struct text_out *o, const struct msg_group *group, const char *name)
{
	bool any = false;

	for (const struct msg_field *f = group->fields; f < group->fields + group->n; f++)
		for (uint32_t i = 0; f->words && f->words[i]; i++) {
			if (!any)
				text_add(o, "    module %s_Constants {\n", name);
			any = true;
			text_add(o, "      const uint32 ");
			add_constant(o, f, f->words[i]);
			text_add(o, " = %u;\n", constant_value(f, i));
		}
	if (any)
		text_add(o, "    };\n");
}

static void add_idl_field(struct text_out *o, const struct msg_field *f)
{
	char name[ROS_OWN_NAME_MAX], type[64];
	struct text_out t = text_out(type, sizeof(type));

	if (f->kind == MSG_group)
		text_add(&t, ROS_OWN_PACKAGE "::msg::%s", ros_own_name(name, f->group));
	else
		text_add(&t, "%s", idl_kinds[f->kind]);
	if (*f->unit && strcmp(f->unit, "1") != 0)
		text_add(o, "      @unit (value=\"%s\")\n", f->unit);
	if (f->used)
		text_add(o, "      sequence<%s, %u> %s", type, f->count, field_name(f));
	else
		text_add(o, "      %s %s", type, field_name(f));
	if (f->count && !f->used)
		text_add(o, "[%u]", f->count);
	text_add(o, ";\n");
}

size_t ros_own_idl(char *text, size_t size, const struct msg_group *group)
{
	struct text_out o = text_out(text, size);
	char name[ROS_OWN_NAME_MAX];

	ros_own_name(name, group);
	add_includes(&o, group);
	text_add(&o, "module " ROS_OWN_PACKAGE " {\n  module msg {\n");
	add_constants(&o, group, name);
	text_add(&o, "    struct %s {\n", name);
	if (is_message(group))
		text_add(&o, "      std_msgs::msg::Header header;\n");
	for (const struct msg_field *f = group->fields; f < group->fields + group->n; f++)
		if (ros_plan_has(group, f))
			add_idl_field(&o, f);
	text_add(&o, "    };\n  };\n};\n");
	return o.len;
}
