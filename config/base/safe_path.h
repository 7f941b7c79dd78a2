/* safe_path.h: folders and files that no other user can have put there, or can change.
 *
 * A path is walked folder by folder and no symbolic link is followed, so that another user who owns a folder on the way
 * can keep us from starting, but cannot lead us elsewhere.  After that everything is opened by the folder's descriptor.
 * Each refusal is a line in errors: which file, what is wrong with it, and what to do.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "config/base/error.h"

/* The folder, made with all above it if need be: mode 0755, the last one with mode.  It belongs to us, and no other
 * user may write it.  An O_PATH descriptor, or -errno: -EPERM if owner or mode are wrong, -ELOOP if there is a link. */
int safe_path_folder(const char *path, mode_t mode, struct error_sink *errors);

/* The same for a folder in it. */
int safe_path_folder_in(int folder, const char *name, mode_t mode, struct error_sink *errors);

/* The folder of a robot that we want to talk to, if it is there.  It is owned by this user, root, or a user to whom
 * root has given it: the folder above it is root's alone, as /run/endplate is.  Root may use any folder. */
int safe_path_open(const char *path, struct error_sink *errors);

/* A regular file in a folder from above: of the folder's owner or root, with one name, and no other user may write it.
 * flags as of open(2); O_CREAT with mode, whatever the umask.  A descriptor or -errno. */
int safe_path_file(int folder, const char *name, int flags, mode_t mode, struct error_sink *errors);

/* Removes what another user has put there, if we may; a folder that is not empty gets another name beside it,
 * .foreign-NUMBER.  0 or -errno. */
int safe_path_evict(const char *path);

/* Is that descriptor's file still the one of that name? */
bool safe_path_is_there(int fd, int folder, const char *name);

/* Into text, with a zero behind it: how many bytes, or -errno. */
int safe_path_read(int folder, const char *name, char *text, size_t size, struct error_sink *errors);
/* Written to a new file, which then takes the name: a reader sees the old text or the new one.  0 or -errno.  Allocates
 * nothing, and leaves no line. */
int safe_path_write(int folder, const char *name, mode_t mode, const char *text, size_t len);

/* A socket of that type bound to that name, which replaces whatever has it; it does not listen yet. */
int safe_path_socket(int folder, const char *name, int type, mode_t mode);
/* A SOCK_SEQPACKET socket that listens there, or -errno with a line. */
int safe_path_listen(int folder, const char *name, mode_t mode, int backlog, struct error_sink *errors);
/* A connection to the socket of that name, not blocking; its process belongs to the folder's owner, or to root. */
int safe_path_connect(int folder, const char *name, int type);
