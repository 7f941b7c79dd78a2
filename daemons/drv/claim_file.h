/* claim_file.h: claims as locks on the bytes of a file.
 *
 * FOLDER/.endplate-claims-UID, mode 0600, of the folder's owner, or of the process's user where others may write the
 * folder, too, as in /dev/shm.  Each claim is an open-file-description lock on one byte, chosen by a hash of its name.
 * No other user can open the file, so none can take, or keep, a lock.  The kernel releases a lock when its holder ends,
 * however it ends.  Nothing is written to the file, and it is never removed: a lock on a removed file excludes no one.
 */
#pragma once

#include <sys/types.h>

#include "config/base/base.h"

#define CLAIM_FILE_PATH_MAX 1024

/* Opens it, or makes it; path becomes its path, for lines and for claim_file_is_there.  A descriptor, or -errno with a
 * line: it is a link, a folder, another user's, or others may open it.  A foreign one is replaced if
 * we may remove it. */
int claim_file_open(int folder, char path[CLAIM_FILE_PATH_MAX], struct error_sink *errors);

bool claim_file_is_there(int fd, const char *path); /* not if it was removed or replaced */

uint64_t claim_file_hash(const char *text);
off_t claim_file_byte(const char *name);
int claim_file_lock(int fd, off_t at); /* 0, -EBUSY or another -errno */
