/* robot_level.c: the level of the e-stop that the drivers of a robot obey. */
#include "channels/ach_ring.h"
#include "channels/clock.h"
#include "launch/achctl/robot_level.h"
#include "launch/common/folder.h"
#include "launch/common/lowering.h"

#define SILENT_NS 1000000000

int robot_level_open(struct estop *e, bool make, struct error_sink *errors)
{
	const struct estop_options options = {
		.owner = run_owner(), .make = make, .group = (gid_t)-1, .name = "achctl"
	};

	return estop_open(e, &options, errors);
}

enum msg_level robot_level_read(struct estop *e, const struct robot_channels *channels, int64_t now_ns)
{
	struct estop_kept kept = { 0 };
	enum msg_level level;

	estop_maintain(e, now_ns);
	for (size_t i = 0; e->channel[0].open && i < channels->n; i++)
		if (channels->at[i]->state)
			lowering_add(&kept, &channels->at[i]->common, e->boot, e->channel[0].chan.handle->id);
	estop_rule_start(&e->judge, kept.base ? &kept : NULL, e->boot);
	level = estop_read(e, now_ns);
	for (size_t i = 0; !e->judge.base && i < channels->n; i++)
		if (channels->at[i]->state && lowering_is_driver(&channels->at[i]->common, e->boot) &&
		    channels->at[i]->common.epoch > e->epoch)
			e->epoch = channels->at[i]->common.epoch;
	return level;
}

static bool is_copy(const struct msg_estop *msg, const struct estop_seen *seen)
{
	return msg->kind == MSG_ESTOP_RAISE && msg->chan[0] == seen->id[0] && msg->chan[1] == seen->id[1] &&
	       msg->seen[1] == seen->seq[1];
}

bool robot_level_only_copied(struct estop *e, struct estop_seen *seen)
{
	struct estop_seen now;

	estop_read(e, clock_now_ns());
	now = estop_seen(e);
	if (now.id[0] != seen->id[0] || now.id[1] != seen->id[1] || now.seq[1] != seen->seq[1] ||
	    now.seq[0] <= seen->seq[0] || e->channel[0].window.oldest > seen->seq[0] + 1)
		return false;
	for (uint64_t seq = seen->seq[0] + 1; seq <= now.seq[0]; seq++)
		if (!is_copy(&e->channel[0].messages[seq % ESTOP_RETAINED], seen))
			return false;
	*seen = now;
	return true;
}

bool robot_level_exists(const struct estop *e, const struct robot_channels *channels)
{
	for (int c = 0; c < ESTOP_CHANNELS; c++)
		if (e->channel[c].open || e->channel[c].status != ACH_ENOENT)
			return true;
	for (size_t i = 0; i < channels->n; i++)
		if (channels->at[i]->state && lowering_is_driver(&channels->at[i]->common, e->boot))
			return true;
	return false;
}

bool robot_level_driver(const struct estop *e, const struct robot_channel *one, char *name, size_t size)
{
	return robot_channel_daemon(one, name, size) && lowering_is_driver(&one->common, e->boot);
}

bool robot_level_is_gone(const struct robot_channel *one, const char *name, int64_t now_ns)
{
	struct folder_state kept;

	if (!folder_state_read(name, &kept))
		return !folder_runs(&kept);
	return now_ns - one->header.t_publish_ns > SILENT_NS;
}
