/* sim_object.c: kinds of simulated devices that are in shared objects. */
#include "daemons/robotsim/sim.h"

#include <unistd.h>

static struct {
	const struct sim_kind *kind[SIM_UNITS_MAX];
	size_t n;
} loaded;

const struct sim_kind *sim_object_kind(const char *driver)
{
	for (size_t i = 0; i < loaded.n; i++)
		if (!strcmp(loaded.kind[i]->driver, driver))
			return loaded.kind[i];
	return NULL;
}

static int open_object(char path[PATH_MAX], const struct robot_device *device)
{
	char name[sizeof(device->driver) + sizeof("-sim.so")];

	snprintf(name, sizeof(name), "%s-sim.so", device->driver);
	return object_open(path, name, device->node->file);
}

int sim_object_load(const struct robot_device *device, struct error_sink *errors)
{
	static const struct object_kind object = {
		.what = "Endplate device for robotsim",
		.interface = "the simulator's interface",
		.macro = "SIM_OBJECT",
		.mark = SIM_ABI_MARK,
		.abi = SIM_ABI,
		.abi_of = "sim_abi",
		.made = "sim_object",
		.host = "robotsim",
	};
	const struct sim_kind *kind;
	char path[PATH_MAX];
	const int fd = open_object(path, device);

	if (fd == -ENOENT)
		return fd;
	if (fd < 0)
		return error_refuse(errors, -EINVAL, "%s: %s", path, strerror(-fd));
	kind = object_load(&object, path, fd, errors);
	if (!kind)
		return -EINVAL;
	if (!kind->driver || !kind->load || strcmp(kind->driver, device->driver) != 0)
		return error_refuse(errors, -EINVAL, "%s: it plays devices of %s, not of %s: correct SIM_DRIVER", path,
				    kind->driver && kind->load ? kind->driver : "no driver", device->driver);
	if (loaded.n == SIM_UNITS_MAX)
		return error_refuse(errors, -EINVAL, "%s: there are too many drivers: robotsim plays %d at most", path,
				    SIM_UNITS_MAX);
	loaded.kind[loaded.n++] = kind;
	return 0;
}

void sim_object_missing(const struct robot_device *device, struct error_sink *errors)
{
	char path[PATH_MAX];
	const int fd = open_object(path, device);

	if (fd >= 0)
		close(fd);
	yaml_error(errors, device->node, "not played: robotsim has no device for %s, and there is no %s-sim.so in %s",
		   device->driver, device->driver, path);
}
