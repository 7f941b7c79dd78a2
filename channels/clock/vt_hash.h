/* vt_hash.h: the hash over a run on a virtual clock: equal for two runs that did the same.
 *
 * It leaves out all that identifies a run: process numbers, the boot, ids of channels and requests, the prefix.
 * Of texts digits and paths are left out, since they name processes and folders. */
#pragma once

#include "channels/clock/vt_page.h"

const char *vt_hash_name(const char *channel); /* without the prefix */
void vt_hash_message(struct vt_object *object, int64_t t_ns, const void *data, size_t len);
