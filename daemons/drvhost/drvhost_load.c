/* drvhost_load.c: a driver in a shared object. */
#include "daemons/drvhost/drvhost_load.h"

#include "config/base/base.h"

const struct drv_driver *drvhost_load(const char *name, struct error_sink *errors)
{
	static const struct object_kind kind = {
		.what = "Endplate driver",
		.interface = "the driver interface",
		.macro = "DRV_OBJECT",
		.mark = DRV_ABI_MARK,
		.abi = DRV_ABI,
		.abi_of = "drv_abi",
		.made = "drv_object",
		.host = "drvhost",
	};
	char path[PATH_MAX];
	const int fd = object_open(path, name, NULL);
	const struct drv_driver *driver = fd < 0 ? NULL : object_load(&kind, name, fd, errors);

	if (fd < 0)
		error_add(errors, "%s: %s", name, strerror(-fd));
	if (!driver || (driver->program && driver->declare && driver->fill))
		return driver;
	error_add(errors, "%s: its drv_object lacks program, declare or fill", name);
	return NULL;
}
