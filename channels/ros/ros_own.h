/* ros_own.h: endplate_msgs, printed and encoded from the tables of channels/msg/types.h.
 *
 * A struct becomes a message of the same fields in the same order:
 *
 *	u8 ... f64	uint8 ... float64
 *	name, text	string<=23, string<=119
 *	word, flags	uint32, with constants: LIFECYCLE_ACTIVE=5, FLAGS_HELD=2
 *	group		a message of its own: endplate_msgs/Common
 *	[n]		[n]; [<=n] where a count says how many elements are used, and the count itself is left out
 *	reserved	left out
 *
 * A message begins with std_msgs/Header header; what Endplate calls the header is the field endplate, of type
 * MessageHeader.  interface is interface_name and sequence is sequence_number, since IDL reserves those words.
 */
#pragma once

#include "channels/ros/ros_map.h"

#define ROS_OWN_PACKAGE "endplate_msgs"

/* The name of the message of a struct: "JointState", "ForceTorque", "MessageHeader".  Returns name. */
#define ROS_OWN_NAME_MAX 32
const char *ros_own_name(char name[ROS_OWN_NAME_MAX], const struct msg_group *group);

/* The text of <name>.msg.  Returns the length, as snprintf does. */
size_t ros_own_msg(char *text, size_t size, const struct msg_group *group);

void ros_own_encode(struct cdr_out *o, const struct msg_type *type, const void *msg, const struct ros_context *c);

/* What elements behind a count hold: zero, or what msg_unknown gives, as drivers leave them. */
enum ros_unused { ROS_UNUSED_ZERO, ROS_UNUSED_UNKNOWN };

/* The message that is decoded where nothing is written: all lists empty. */
void ros_own_empty(const struct msg_type *type, enum ros_unused unused, void *msg);

/* Does msg, encoded and decoded, come back byte for byte?  empty is of ros_own_empty.  Not so if something is in a
 * reserved place or behind the end of a list or a text, a count is larger than its list, or a text is not UTF-8. */
bool ros_own_keeps(const struct msg_type *type, const void *msg, const void *empty);

/* The other way round.  0, or -1: these are not the bytes of one. */
int ros_own_decode(const void *cdr, size_t len, const struct msg_type *type, enum ros_unused unused, void *msg);
