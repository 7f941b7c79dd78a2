/* drv_publish.c: the state of a tick: what every state has, and when it is made and put. */
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

/* What outlives the process: for its successor, and for achstart, which waits until every driver obeys a lowering. */
static void fill_kept(const struct drv *drv, struct msg_common *common)
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
	fill_kept(drv, common);
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

/* ---- the state of the device ---- */

/* Another writer that holds the channel delays this. */
static void put(struct drv *drv)
{
	if (!drv->unput)
		return;
	if (port_put(&drv->state_port, &drv->state))
		drv_latch_published(drv);
	drv_parts_put(drv);
	drv->unput = false;
}

static void make(struct drv *drv, bool partial, int64_t now_ns)
{
	struct msg_header *header = &drv->state.header;

	put(drv);
	header->t_sample_ns = drv->driver->fill(drv->self, drv, &drv->state, now_ns);
	drv_fill_common(drv, &drv->state.state.common, now_ns);
	for (unsigned int i = 0; i < drv->joints_n && drv->driver->state == msg_joint_state_number; i++)
		drv->state.joints.lifecycle[i] =
			drv->life == MSG_LIFE_DOWN || drv->joint_absent[i] ? MSG_LIFE_DOWN : drv->joint_life[i];
	header->flags = drv_flags(drv, partial, now_ns);
	header->t_publish_ns = now_ns;
	drv->unput = true;
	drv->owed = DRV_OWED_NOTHING;
}

/* In a tick a stream publishes what changed, and a heartbeat. */
static bool stream_owes(const struct drv *drv, int64_t now_ns)
{
	const struct msg_common *last = &drv->state.state.common;

	return drv->life != last->lifecycle || drv->estop.level != last->level ||
	       now_ns - drv->state.header.t_publish_ns >= STREAM_TICKS * drv->tick.period_ns;
}

void drv_publish_first(struct drv *drv)
{
	drv->state.header.flags = MSG_FLAG_PARTIAL;
	drv->state.header.t_publish_ns = clock_now_ns();
	drv_fill_common(drv, &drv->state.state.common, drv->state.header.t_publish_ns);
	if (drv->driver->state != msg_clock_number)
		port_put(&drv->state_port, &drv->state);
}

void drv_publish_tick(struct drv *drv, int64_t now_ns)
{
	if (drv->owed > DRV_OWED_IN_TICK ||
	    (drv->owed == DRV_OWED_IN_TICK && (!drv->driver->streams || stream_owes(drv, now_ns))))
		make(drv, drv->owed != DRV_OWED_SAMPLE, now_ns);
	drv->owed = DRV_OWED_IN_TICK;
	drv->ticks = drv->tick.ticks;
}

void drv_publish_owe(struct drv *drv, enum drv_owed owed)
{
	if (drv->owed != DRV_OWED_NOTHING && drv->owed < owed)
		drv->owed = owed;
}

void drv_publish_turn(struct drv *drv, int64_t now_ns)
{
	if (drv->owed > DRV_OWED_IN_TICK)
		make(drv, drv->owed != DRV_OWED_SAMPLE, now_ns);
	put(drv);
}

void drv_complete(struct drv *drv)
{
	drv_publish_owe(drv, DRV_OWED_SAMPLE);
}

void drv_publish(struct drv *drv)
{
	make(drv, false, clock_now_ns());
}
