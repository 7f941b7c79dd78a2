/* ros_inside.h: between the files of channels/ros. */
#pragma once

#include "channels/ros/ros_map.h"

/* ros_put.c.  The time of a message; std_msgs/Header: that, and the frame_id of the context. */
void ros_put_stamp(struct cdr_out *o, const void *msg, const struct ros_context *c);
void ros_put_header(struct cdr_out *o, const void *msg, const struct ros_context *c);
void ros_skip_header(struct cdr_in *in);
/* A name or text of a message, size bytes, as sound UTF-8. */
void ros_put_text(struct cdr_out *o, const char *from, size_t size);
bool ros_text_is_sound(const char *text, size_t size); /* is it that already, with zeros behind it? */
/* The name of the device in the context; "" if there is none. */
const char *ros_device(const struct ros_context *c);
/* A joint's name: the message's, that of the context, or "device_3".  Returns name. */
const char *ros_joint(char name[MSG_TEXT_SIZE], const struct msg_joint_state *s, size_t i, const struct ros_context *c);

/* For the texts of endplate_msgs: what it calls a field, whether the struct is a message and so begins with a header,
 * and the constant of a word, "LIFECYCLE_ACTIVE=5".  Declared for test/channels/ros/ros_idl.c. */
const char *ros_field_name(const struct msg_field *f);
bool ros_is_message(const struct msg_group *group);
void ros_add_constant(struct text_out *o, const struct msg_field *f, uint32_t i, const char *equals, const char *end);

/* The rows of the table. */
void ros_put_joint_state(struct cdr_out *o, const struct msg_type *type, const void *msg, const struct ros_context *c);
void ros_put_imu(struct cdr_out *o, const struct msg_type *type, const void *msg, const struct ros_context *c);
void ros_put_temperature(struct cdr_out *o, const struct msg_type *type, const void *msg, const struct ros_context *c);
void ros_put_wrench(struct cdr_out *o, const struct msg_type *type, const void *msg, const struct ros_context *c);
void ros_put_battery(struct cdr_out *o, const struct msg_type *type, const void *msg, const struct ros_context *c);
void ros_put_log(struct cdr_out *o, const struct msg_type *type, const void *msg, const struct ros_context *c);
void ros_put_markers(struct cdr_out *o, const struct msg_type *type, const void *msg, const struct ros_context *c);
void ros_put_diagnostics(struct cdr_out *o, const struct msg_type *type, const void *msg, const struct ros_context *c);
