/* endplate_estop.c: the level of the e-stop, read and raised. */
#include <errno.h>
#include <unistd.h>

#include "channels/ach_ring.h"
#include "channels/clock.h"
#include "launch/common/lowering.h"
#include "launch/endplate/endplate_inside.h"

/* Begins where the drivers are: with the lowering that their states say they obey. */
static enum msg_level look(struct endplate *r, int64_t now_ns)
{
	struct estop *e = &r->estop;
	struct estop_kept kept = { 0 };

	estop_maintain(e, now_ns);
	for (const struct endplate_device *d = r->devices; d && e->channel[0].open; d = d->next)
		if (d->seen && d->publish_ns > now_ns - d->max_age_ns)
			lowering_add(&kept, &d->common, e->boot, e->channel[0].chan.handle->id);
	if (kept.base)
		estop_rule_start(&e->judge, &kept, e->boot);
	return estop_read(e, now_ns);
}

enum msg_level endplate_level(struct endplate *robot)
{
	return look(robot, clock_now_ns());
}

int endplate_raise(struct endplate *robot, enum msg_level level, const char *why)
{
	if (level != MSG_LEVEL_HOLD && level != MSG_LEVEL_ESTOP)
		return -EINVAL;
	look(robot, clock_now_ns());
	return estop_raise(&robot->estop, level, program_invocation_short_name, getuid(), why ? why : "",
			   &(struct error_sink){ 0 });
}
