/* drvhost_load.h: a driver in a shared object. */
#pragma once

#include "daemons/drv/drv.h"

/* name: a path, or, without a slash, a file beside this program, or in lib/endplate beside the folder of it.  The
 * driver, which stays loaded; or NULL with a line in errors.  No code of a file that is refused has run, unless it
 * lacks a symbol. */
const struct drv_driver *drvhost_load(const char *name, struct error_sink *errors);
