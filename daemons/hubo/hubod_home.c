/* hubod_home.c: homing, stage by stage. */
#include <math.h>

#include "daemons/hubo/hubod.h"

#define HOME_RAD 0.0075 /* a joint that is home is so near to 0 */
#define RESETS_MAX 3	/* of a board in one homing: a supply that breaks down under load will not end by itself */

enum stage { STAGE_FINGERS, STAGE_WRISTS, STAGE_NECK, STAGE_ARMS, STAGE_WAIST, STAGE_LEGS, STAGES };

static enum stage stage_of(int joint)
{
	switch (hubo_joint_limb(joint)) {
	case HUBO_LHAND:
	case HUBO_RHAND:
		return STAGE_FINGERS;
	case HUBO_NECK:
		return STAGE_NECK;
	case HUBO_WAIST:
		return STAGE_WAIST;
	case HUBO_LLEG:
	case HUBO_RLEG:
		return STAGE_LEGS;
	default:
		return hubo_joint_name(joint)[1] == 'W' ? STAGE_WRISTS : STAGE_ARMS;
	}
}

static int command(struct hubod *h, struct drv *drv, int joint)
{
	const int32_t motor = (int32_t)h->joints[joint].motor + 1;

	h->joints[joint].homed = false;
	h->boards[h->joints[joint].board].home_on = false;
	if (!h->boards[h->joints[joint].board].is_on)
		hubod_enable(h, drv, h->joints[joint].board);
	return hubod_command(h, drv, h->joints[joint].board, JMC_HOME, 0, &motor);
}

/* The joints of the next stage that has any get their command. */
static void begin_stage(struct hubod *h, struct drv *drv, int64_t now_ns)
{
	struct hubod_home *home = &h->home;

	home->now = home->again = 0;
	home->silent_ns = 0;
	for (int stage = 0; stage < STAGES && !home->now; stage++)
		for (int i = 0; i < HUBO_JOINTS; i++)
			if (home->left & HUBOD_BIT(i) && stage_of(i) == (enum stage)stage)
				home->now |= HUBOD_BIT(i);
	for (int i = 0; i < HUBO_JOINTS; i++)
		if (home->now & HUBOD_BIT(i) && command(h, drv, i))
			home->again |= HUBOD_BIT(i);
	home->left &= ~home->now;
	home->began_ns = home->sent_ns = now_ns;
	hubod_quiet(h, now_ns + h->settings.quiet_home_ns);
}

static void end(struct hubod *h, struct drv *drv, int result, const char *words)
{
	h->home.on = false;
	drv_homing(drv, false);
	if (result) {
		/* No command ends a homing; without control a motor stops at once. */
		for (int i = 0; i < HUBO_JOINTS; i++)
			if (h->home.now & HUBOD_BIT(i))
				hubod_command(h, drv, h->joints[i].board, JMC_CONTROL_OFF, 0, NULL);
		drv_latch(drv, MSG_LATCH_HOMING_ABORTED, "homing-aborted",
			  "%s: control is off; the request home ends it", words);
	} else {
		drv_unlatch(drv, MSG_LATCH_HOMING_ABORTED | MSG_LATCH_POSITION_UNKNOWN);
	}
	drv_reply(drv, h->home.handle, result, "%s", words);
}

static bool is_at_home(const struct hubod_joint *j)
{
	if (fabs(j->position_rad) > HOME_RAD)
		return false;
	return j->home == JMC_HOME_UNKNOWN ? !(j->flags & JMC_FAULTS) : j->homed;
}

/* NULL: it goes well. */
static const char *trouble_of(const struct hubod *h, const struct hubod_joint *j, const struct drv_orders *orders)
{
	if (!orders->armed)
		return "the robot is not armed any more";
	if (h->boards[j->board].silent && orders->now_ns - h->home.silent_ns >= h->settings.home_wait_ns)
		return "its board does not reply";
	if (h->home.resets > RESETS_MAX)
		return "a board is reset again and again";
	if (j->flags & JMC_FAULTS)
		return "its board reports a fault";
	if (orders->now_ns - h->home.began_ns > h->settings.home_time_ns)
		return "it did not come home in time (home_time)";
	return NULL;
}

static bool is_silent(const struct hubod *h)
{
	for (int i = 0; i < HUBO_JOINTS; i++)
		if (h->home.now & HUBOD_BIT(i) && h->boards[h->joints[i].board].silent)
			return true;
	return false;
}

/* A board that is silent may do what it was ordered to, so nothing is sent to it until it is heard. */
static void repeat_lost(struct hubod *h, struct drv *drv, int64_t now_ns)
{
	uint64_t again = 0;

	for (int i = 0; i < HUBO_JOINTS; i++) {
		struct hubod_board *b = &h->boards[h->joints[i].board];

		if (!(h->home.again & HUBOD_BIT(i)) || b->silent || drv_bus_dead(drv, b->bus))
			continue;
		again |= HUBOD_BIT(i);
		b->is_on = false; /* what switches it on may be lost, too */
	}
	for (int i = 0; i < HUBO_JOINTS; i++)
		if (again & HUBOD_BIT(i) && !command(h, drv, i)) {
			h->home.again &= ~HUBOD_BIT(i);
			h->home.sent_ns = now_ns;
		}
}

/* Its bridges were on since it was told to home, and are off: it has started again, and knows neither the command nor
 * a zero.  Joints that came home in an earlier stage follow after this one. */
void hubod_home_status(struct hubod *h, struct drv *drv, unsigned int board, bool driver_on)
{
	struct hubod_home *home = &h->home;
	struct hubod_board *b = &h->boards[board];
	uint64_t joints = 0;

	for (int i = 0; i < HUBO_JOINTS; i++)
		if (home->wanted & ~home->left & HUBOD_BIT(i) && h->joints[i].board == board)
			joints |= HUBOD_BIT(i);
	if (!home->on || !joints || driver_on || !b->home_on) {
		b->home_on |= driver_on;
		return;
	}
	b->home_on = b->is_on = false;
	if (++b->home_resets > home->resets)
		home->resets = b->home_resets;
	home->again |= joints & home->now;
	home->left |= joints & ~home->now;
	drv_event(drv, MSG_SEVERITY_WARNING, "homing-again", "%s was reset: its joints are homed again",
		  b->table->name);
}

/* A frame to a board that switches it on or homes its joints: those that are not home need it. */
void hubod_lost(void *self, struct drv *drv, unsigned int row, const struct frame *frame)
{
	struct hubod *h = self;

	(void)drv;
	(void)frame;
	for (int i = 0; i < HUBO_JOINTS && h->home.on; i++)
		if (h->home.now & HUBOD_BIT(i) && h->boards[h->joints[i].board].home == row && !h->joints[i].homed)
			h->home.again |= HUBOD_BIT(i);
}

static void watch_silence(struct hubod *h, struct drv *drv, int64_t now_ns)
{
	const bool silent = is_silent(h);

	if (silent && !h->home.silent_ns) {
		h->home.silent_ns = now_ns;
		drv_event(drv, MSG_SEVERITY_WARNING, "homing-waits", "homing waits for a board that does not reply");
	} else if (!silent && h->home.silent_ns) {
		h->home.silent_ns = 0;
		drv_event(drv, MSG_SEVERITY_INFO, "homing-goes-on", "homing goes on: all boards reply again");
	}
}

void hubod_home_step(struct hubod *h, struct drv *drv, const struct drv_orders *orders)
{
	struct hubod_home *home = &h->home;
	bool done = orders->now_ns - home->sent_ns > h->settings.quiet_home_ns;
	char words[80];

	if (!home->on)
		return;
	watch_silence(h, drv, orders->now_ns);
	repeat_lost(h, drv, orders->now_ns);
	done &= !home->silent_ns && !home->again;
	for (int i = 0; i < HUBO_JOINTS; i++) {
		const struct hubod_joint *j = &h->joints[i];
		const char *trouble;

		if (!(home->now & HUBOD_BIT(i)))
			continue;
		trouble = trouble_of(h, j, orders);
		if (trouble) {
			snprintf(words, sizeof(words), "%s: %s", hubo_joint_name(i), trouble);
			end(h, drv, -EIO, words);
			return;
		}
		done &= is_at_home(j);
	}
	if (!done)
		return;
	for (int i = 0; i < HUBO_JOINTS; i++)
		if (home->now & HUBOD_BIT(i))
			h->joints[i].homed = true;
	if (home->left)
		begin_stage(h, drv, orders->now_ns);
	else
		end(h, drv, 0, "homed");
}

int hubod_home(struct hubod *h, struct drv *drv, uint32_t handle, const char *key, int64_t now_ns)
{
	const uint64_t legs = hubod_joints_of(h, "lleg") | hubod_joints_of(h, "rleg");
	uint64_t joints = hubod_joints_of(h, key);

	if (!joints)
		return drv_refuse(drv, -ENOENT, "\"%.20s\" is neither a limb nor an active joint", key);
	if (!*key && !h->settings.hung)
		joints &= ~legs;
	if (joints & legs && !h->settings.hung)
		return drv_refuse(drv, -EPERM, "legs are homed only when the robot hangs: set hung");
	if (hubod_comply_busy(h, drv))
		return -EBUSY;
	h->home = (struct hubod_home){ .on = true, .handle = handle, .wanted = joints, .left = joints };
	for (unsigned int i = 0; i < h->boards_n; i++)
		h->boards[i].home_resets = 0;
	drv_homing(drv, true);
	begin_stage(h, drv, now_ns);
	return DRV_LATER;
}

int hubod_cancel(void *self, struct drv *drv, uint32_t handle, int why)
{
	struct hubod *h = self;

	if (hubod_read_cancel(h, handle) || !h->home.on || handle != h->home.handle)
		return 0;
	end(h, drv, why, why == -ECANCELED ? "homing cancelled" : "homing took too long");
	return DRV_LATER;
}
