/* drv_info.c: what is known of a device before it moves, put when it begins, when the device is up, and once a second,
 * so that recordings and relays that begin later have it, too. */
#include <math.h>

#include "daemons/drv/drv_inside.h"

#define EVERY_NS 1000000000

static uint32_t modes_of(const struct drv *drv, unsigned int joint)
{
	const uint32_t by_position =
		MSG_MODE_BIT_POSITION | (drv->driver->complies ? (uint32_t)MSG_MODE_BIT_COMPLIANT : 0);

	if (drv->driver->ref != msg_joint_ref_number || drv->joint_absent[joint])
		return 0;
	return MSG_MODE_BIT_VELOCITY | MSG_MODE_BIT_CURRENT | (drv->ramps[joint].no_position ? 0 : by_position);
}

/* The device may have tightened its limits since. */
static void fill_limits(struct drv *drv)
{
	struct msg_device_info *info = &drv->info;

	info->period_ns = drv_period_ns(drv);
	for (unsigned int i = 0; i < drv->joints_n; i++) {
		const struct drv_ref_limits *l = &drv->limits[i];

		info->position_min[i] = l->position_min_rad;
		info->position_max[i] = l->position_max_rad;
		info->velocity[i] = l->velocity_rad_s;
		info->acceleration[i] = l->acceleration_rad_s2;
		info->current[i] = l->current_a;
	}
}

void drv_info_put(struct drv *drv, int64_t now_ns)
{
	if (now_ns < drv->info_ns)
		return;
	drv->info_ns = now_ns + EVERY_NS;
	fill_limits(drv);
	drv->info.header.t_sample_ns = drv->info.header.t_publish_ns = now_ns;
	port_put(&drv->info_port, &drv->info);
	drv_parts_put_info(drv);
}

void drv_info_begin(struct drv *drv)
{
	const struct drv_driver *d = drv->driver;
	const struct msg_type *ref = d->ref ? msg_type_by_number(d->ref) : NULL;
	struct msg_device_info *info = &drv->info;

	msg_init(info, drv->info_port.type);
	info->header.incarnation = drv->incarnation;
	snprintf(info->driver, sizeof(info->driver), "%s", d->program);
	snprintf(info->state_type, sizeof(info->state_type), "%s", msg_type_by_number(d->state)->name);
	snprintf(info->ref_type, sizeof(info->ref_type), "%s", ref ? ref->name : "");
	info->valid_max_ns = ref ? drv->setup.ref_max_ns : 0;
	info->count = drv->joints_n;
	for (unsigned int i = 0; i < drv->joints_n; i++) {
		memcpy(info->joint[i], drv->joints[i], MSG_NAME_SIZE);
		info->modes[i] = modes_of(drv, i);
		info->jerk[i] = drv->setup.device ? robot_limits(drv->setup.device, drv->joints[i])->jerk : INFINITY;
	}
	drv->info_ns = 0;
	drv_info_put(drv, clock_now_ns());
}
