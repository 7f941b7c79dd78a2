/* drv_publish.c: the state of a tick: what every state has, and when it is put. */
#include <string.h>

#include "daemons/drv/drv_inside.h"

#define QUANTILE_NS 1000000000
#define STREAM_TICKS 10

uint32_t drv_flags(const struct drv *drv, bool partial, int64_t now_ns)
{
	uint32_t flags = partial ? MSG_FLAG_PARTIAL : 0;

	if (drv->life == MSG_LIFE_HOLDING)
		flags |= MSG_FLAG_HELD;
	if (drv_tick_freerun(&drv->tick, now_ns))
		flags |= MSG_FLAG_FREERUN;
	for (unsigned int i = 0; i < drv->buses_n; i++) {
		if (!strncmp(drv->buses[i].setup->interface, "log:", 4))
			flags |= MSG_FLAG_REPLAYED;
		else if (!drv->buses[i].real)
			flags |= MSG_FLAG_SIMULATED;
	}
	return flags;
}

/* For its successor, and for achstart, which waits until every driver obeys a lowering. */
void drv_fill_kept(const struct drv *drv, struct msg_common *common)
{
	const struct estop_kept kept = estop_kept(&drv->estop);

	memcpy(common->boot, drv->estop.boot, sizeof(common->boot));
	common->base_chan = kept.chan;
	common->base_seq = kept.base;
	common->base_level = kept.level;
	common->latches = drv->latches & ~drv->unlatching;
}

void drv_fill_common(struct drv *drv, struct msg_common *common, int64_t now_ns)
{
	if (now_ns >= drv->late_p99_at_ns) {
		drv->late_p99_ns = hist_quantile(&drv->late, 0.99);
		drv->late_p99_at_ns = now_ns + QUANTILE_NS;
	}
	common->lifecycle = drv->life;
	common->level = drv->estop.level;
	common->epoch = drv->estop.epoch;
	drv_fill_kept(drv, common);
	common->period_ns = drv_period_ns(drv);
	common->ticks = drv->ticks;
	common->skipped = drv->tick.skipped;
	common->late_p99_ns = drv->late_p99_ns;
	common->late_max_ns = drv->late.max_ns;
	common->put_timeouts = drv->state_port.puts_failed;
	common->frames_withheld = drv->withheld;
	common->frames_odd = common->frames_missing = 0;
	for (unsigned int i = 0; i < drv->buses_n; i++) {
		common->frames_odd += drv->buses[i].odd;
		common->frames_missing += drv->buses[i].missing;
		drv_bus_fill(&drv->buses[i], &common->bus[i]);
	}
}

/* Puts the state that was made; that may take as long as another writer holds the channel. */
void drv_publish_post(struct drv *drv)
{
	if (drv->unposted && port_put(&drv->state_port, &drv->state))
		drv_latch_published(drv);
	if (drv->unposted)
		drv_parts_put(drv);
	drv->unposted = false;
}

/* Makes the state; it is put when the frames of this turn are with the buses. */
void drv_publish_state(struct drv *drv, bool partial, int64_t now_ns)
{
	struct msg_header *header = &drv->state.header;

	drv_publish_post(drv);
	header->t_sample_ns = drv->driver->fill(drv->self, drv, &drv->state, now_ns);
	drv_fill_common(drv, &drv->state.state.common, now_ns);
	for (unsigned int i = 0; i < drv->joints_n && drv->driver->state == msg_joint_state_number; i++)
		drv->state.joints.lifecycle[i] =
			drv->life == MSG_LIFE_DOWN || drv->joint_absent[i] ? MSG_LIFE_DOWN : drv->joint_life[i];
	header->flags = drv_flags(drv, partial, now_ns);
	header->t_publish_ns = now_ns;
	drv->unposted = drv->published = true;
	drv->published_ns = now_ns;
	drv->published_life = drv->life;
	drv->published_level = drv->estop.level;
}

void drv_publish(struct drv *drv)
{
	drv_publish_state(drv, false, clock_now_ns());
}

/* Nothing was published in this tick: is that to be made up for?  A stream says what changed, and that it lives. */
bool drv_publish_owed(const struct drv *drv, int64_t now_ns)
{
	return !drv->driver->streams || drv->life != drv->published_life || drv->estop.level != drv->published_level ||
	       now_ns - drv->published_ns >= STREAM_TICKS * drv->tick.period_ns;
}
