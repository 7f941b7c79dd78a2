/* object.h: code in a shared object, as drvhost(1) loads drivers and robotsim(1) simulated devices.
 *
 * Whose file it is, and for which version of an interface it was built, is checked before any code of it runs.  The
 * version stands in the file as text, behind a mark:
 *
 *	const char drv_abi[] = OBJECT_ABI(DRV_ABI_MARK, DRV_ABI) "\n";
 */
#pragma once

#include <limits.h>

#include "config/base/error.h"

#define OBJECT_TEXT(number) #number
#define OBJECT_ABI(mark, number) mark OBJECT_TEXT(number)

struct object_kind {
	const char *what;      /* "Endplate driver" */
	const char *interface; /* "the driver interface" */
	const char *macro;     /* which its source needs */
	const char *mark;
	unsigned int abi;	   /* the version of this program */
	const char *abi_of, *made; /* the symbols: of the text, and of the pointer to what the object offers */
	const char *host;	   /* this program */
};

/* A name with a slash is a path.  Another one is a file in the folder of the file beside (NULL: not there), or beside
 * this program, or in lib/endplate beside the folder of that; never in the working directory, where a name could be any
 * user's.  A descriptor and its path, or -errno; -ENOENT: path has the folders, as words of a sentence. */
int object_open(char path[PATH_MAX], const char *name, const char *beside);

/* Takes the descriptor.  What the object offers, which stays loaded; NULL: a line in errors.  No code of a file that is
 * refused has run, unless it lacks a symbol. */
const void *object_load(const struct object_kind *kind, const char *name, int fd, struct error_sink *errors);
