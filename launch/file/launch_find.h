/* launch_find.h: finds the file of a program. */
#ifndef LAUNCH_FILE_LAUNCH_FIND_H
#define LAUNCH_FILE_LAUNCH_FIND_H

#include <stdbool.h>

#define LAUNCH_FIND_MAX 1024

/* The file that program names: a path (with a slash) as it is; a name beside the running executable (/proc/self/exe)
 * first, so that a build starts what was built with it, then in $PATH.  0, -ENOENT, -EACCES (it may not be executed),
 * -ENAMETOOLONG. */
int launch_find(char path[LAUNCH_FIND_MAX], const char *program);

/* The same with both given: beside is a folder or NULL, search as $PATH or NULL. */
int launch_find_in(char path[LAUNCH_FIND_MAX], const char *program, const char *beside, const char *search);

/* Does the file carry the mark of a driver, "@(#)endplate" and "-driver" in one word?  Every program with drv_main() in
 * it does; a script has it in a comment.  So a program that is named as a driver by mistake need not be run to find
 * out.  Also true if the file cannot be read: starting it fails, or it is for execution only. */
bool launch_is_driver(const char *path);

#endif
