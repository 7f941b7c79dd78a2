/* msg_old.h: messages of versions before those of types.h, as recordings hold them. */
#ifndef MSG_OLD_H
#define MSG_OLD_H

#include "channels/msg/msg.h"

/* A row of an old table: all its elements together.  The list ends with a row without name. */
struct msg_old_row {
	const char *name;
	uint16_t size;
	const struct msg_old_row *rows; /* of a group that has changed; NULL: copied as it is */
};

/* Makes of buf, len bytes, a message of the present version in to, which has room for MSG_SIZE_MAX bytes and does not
 * overlap.  Fields go by their names; new ones are zero, or NaN if they measure something.  An old lowering of the
 * e-stop names no boot, no channel and no deadline, so no driver obeys it.  Returns the length of the new message; 0:
 * buf is not a whole message of an older version known here. */
size_t msg_old_convert(void *to, const void *buf, size_t len);

/* A struct at to, already zero, from an old one. */
void msg_old_copy(const struct msg_group *group, uint8_t *to, const struct msg_old_row *rows, const uint8_t *from);

#endif
