/* drvhost_load.h: a driver in a shared object. */
#pragma once

#include "daemons/drv/drv.h"

/* name: as of object_open.  The driver, which stays loaded; or NULL with a line in errors. */
const struct drv_driver *drvhost_load(const char *name, struct error_sink *errors);
