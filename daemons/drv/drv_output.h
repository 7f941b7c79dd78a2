/* drv_output.h: the device that a controller moves, which it reaches through libendplate.
 *
 * Its settings say the name of the device, and that of the controller among the sources of a refmuxd, or none.
 */
#pragma once

#include "config/base/base.h"
#include "daemons/drv/drv_unheard.h"

#define DRV_OUTPUT_SILENT "silent" /* the fault */
#define DRV_OUTPUT_DOUBTS (ENDPLATE_RESTARTED | ENDPLATE_SILENT | ENDPLATE_OLD | ENDPLATE_NOT_UP)

struct drv_output {
	const char *name, *source; /* source "none": its references go to the device itself */
	struct endplate *robot;
	struct endplate_device *device;
	struct endplate_view view;
	bool seen; /* its state, in this tick */
};

/* In declare.  key: of the setting that names it. */
static inline void drv_output_declare(const struct drv_output *o, struct drv *drv, const char *key,
				      struct error_sink *errors)
{
	char channel[2 * MSG_NAME_SIZE];

	if (drv_robot(drv) && !robot_device(drv_robot(drv), o->name))
		error_add(errors, "%s: there is no device %s in the robot file", key, o->name);
	snprintf(channel, sizeof(channel), "%s-ref", o->name);
	if (!strcmp(o->source, "none"))
		drv_add_claim(drv, DRV_CHANNEL, channel, errors);
}

/* 0, or -errno with a line. */
static inline int drv_output_open(struct drv_output *o, enum msg_number state, struct error_sink *errors)
{
	int status = endplate_open(&o->robot, NULL);

	if (!status)
		status = endplate_device_open(o->robot, o->name, state, &o->device);
	if (!status && strcmp(o->source, "none") != 0)
		status = endplate_source(o->device, o->source);
	if (status)
		error_add(errors, "%s: %s", endplate_strerror(status), endplate_errstr());
	return status;
}

/* In each tick: reads its state; that it publishes none is a fault. */
static inline void drv_output_read(struct drv_output *o, struct drv *drv, void *state, size_t size)
{
	o->seen = !endplate_state(o->device, state, size, &o->view);
	if (o->seen && !unheard(drv, &o->view))
		drv_fault_clear(drv, DRV_ALL, DRV_OUTPUT_SILENT);
	else
		drv_fault(drv, DRV_ALL, DRV_OUTPUT_SILENT, "%s publishes no state", o->name);
}

/* What start returns after drv_output_read. */
static inline enum drv_step drv_output_step(const struct drv_output *o)
{
	return o->seen && !(o->view.doubts & ENDPLATE_SILENT) ? DRV_DONE : DRV_AGAIN;
}

static inline bool drv_output_follows(const struct drv_output *o)
{
	return o->seen && o->view.follows && !(o->view.doubts & DRV_OUTPUT_DOUBTS);
}

/* A reference that no driver would take, however it is. */
static inline bool drv_output_is_wrong(int status)
{
	return status == -ERANGE || status == -EDOM || status == -EPROTO;
}

static inline int drv_output_put(const struct drv_output *o, struct drv *drv, void *ref, size_t size, int64_t valid_ns)
{
	const int status = endplate_put(o->device, ref, size, num_min(valid_ns, ENDPLATE_VALID_MAX_NS));

	if (status == -ENOENT || status == -EACCES || status == -EIO || drv_output_is_wrong(status))
		drv_event(drv, MSG_SEVERITY_WARNING, "put", "unable to put references for %s", endplate_errstr());
	return status;
}
