/* msg_lists.h: lists of a message that count together, once the text has been read.
 *
 * They have one length, which the count says, or the count follows.  A list may be missing altogether.  Its elements
 * are zero then, numbers with a fraction NaN: a value that was not given must not become a position, and drivers refuse
 * NaN.  Where a list of words chooses among lists (mode: position, velocity, current), those that no word chooses are
 * not meant and stay zero; a chosen list must be there.
 */
#pragma once

#include "channels/msg/msg.h"

/* For each byte of the message at which an element begins: what the text gave. */
#define MSG_GIVEN_VALUE 1
#define MSG_GIVEN_GROUP 2 /* a group, whatever is in it */

/* Sets counts and what is missing; or -1 and one line in error. */
int msg_lists_finish(const struct msg_type *type, void *msg, const uint8_t *given, char *error, size_t error_size);
