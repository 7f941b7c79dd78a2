/* ros_idl.c: the definitions of endplate_msgs as .idl, from the tables of channels/msg/types.h. */
#include "test/channels/ros/ros_idl.h"

#include <string.h>

#include "channels/ros/ros_inside.h"
#include "channels/ros/ros_layout.h"
#include "channels/ros/ros_own.h"

static const char *const idl_kinds[] = {
	[MSG_u8] = "uint8",	    [MSG_u16] = "uint16",  [MSG_u32] = "uint32",   [MSG_u64] = "uint64",
	[MSG_i32] = "int32",	    [MSG_i64] = "int64",   [MSG_f64] = "double",   [MSG_name] = "string<23>",
	[MSG_text] = "string<119>", [MSG_word] = "uint32", [MSG_flags] = "uint32", [MSG_group] = NULL,
};

static void add_includes(struct text_out *o, const struct msg_group *group)
{
	char name[ROS_OWN_NAME_MAX];

	if (ros_is_message(group))
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
			ros_add_constant(o, f, i, " = ", ";\n");
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
		text_add(o, "      sequence<%s, %u> %s", type, f->count, ros_field_name(f));
	else
		text_add(o, "      %s %s", type, ros_field_name(f));
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
	if (ros_is_message(group))
		text_add(&o, "      std_msgs::msg::Header header;\n");
	for (const struct msg_field *f = group->fields; f < group->fields + group->n; f++)
		if (ros_layout_has(group, f))
			add_idl_field(&o, f);
	text_add(&o, "    };\n  };\n};\n");
	return o.len;
}
