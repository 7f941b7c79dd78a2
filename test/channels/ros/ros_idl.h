/* ros_idl.h: the definitions of endplate_msgs as .idl; those in the tree are compared with it, and written by it. */
#pragma once

#include "channels/msg/msg.h"

/* The text of <name>.idl.  Returns the length, as snprintf does. */
size_t ros_own_idl(char *text, size_t size, const struct msg_group *group);
