/* joints.c: the joints of the robot. */
#include <math.h>

#include "launch/view/joints.h"

#define OLD_S 1
#define BAD (MSG_JOINT_FAULT | MSG_JOINT_SILENT)
#define ODD (MSG_JOINT_WARNING | MSG_JOINT_LIMIT_LOW | MSG_JOINT_LIMIT_HIGH)

static size_t count(const struct msg_joint_state *s)
{
	return s->count < MSG_JOINTS ? s->count : MSG_JOINTS;
}

/* ---- which ---- */

static bool has(const struct msg_joint_state *s, const char *name)
{
	for (size_t i = 0; i < count(s); i++)
		if (!strncmp(s->joint[i], name, MSG_NAME_SIZE))
			return true;
	return false;
}

static bool is_part_of(const struct robot_channel *part, const struct robot_channel *whole)
{
	const size_t len = lines_before(whole->name, "-state");

	if (!whole->joints || part == whole || strncmp(part->name, whole->name, len) || part->name[len] != '-' ||
	    count(part->joints) >= count(whole->joints))
		return false;
	for (size_t i = 0; i < count(part->joints); i++)
		if (!has(whole->joints, part->joints->joint[i]))
			return false;
	return true;
}

static bool is_part(const struct robot_channels *channels, const struct robot_channel *one)
{
	for (size_t i = 0; i < channels->n; i++)
		if (is_part_of(one, channels->at[i]))
			return true;
	return false;
}

/* ---- between which limits ---- */

/* The device-info of the driver; NULL: there was none. */
static const struct msg_device_info *find_info(const struct robot_channels *channels, const struct robot_channel *one)
{
	const size_t len = lines_before(one->name, "-state");

	for (size_t i = 0; i < channels->n; i++)
		if (channels->at[i]->info && !strncmp(channels->at[i]->name, one->name, len) &&
		    !strcmp(channels->at[i]->name + len, "-info"))
			return channels->at[i]->info;
	return NULL;
}

static double share(const struct msg_device_info *info, const char *joint, double position_rad)
{
	for (size_t i = 0; info && i < info->count && i < MSG_JOINTS; i++) {
		const double low_rad = info->position_min[i], range_rad = info->position_max[i] - low_rad;

		if (!strncmp(info->joint[i], joint, MSG_NAME_SIZE))
			return isfinite(range_rad) && range_rad > 0 ? (position_rad - low_rad) / range_rad : NAN;
	}
	return NAN;
}

/* ---- how they are ---- */

static void find_doubt(struct joint *j, double age_s, uint32_t life, uint32_t flags, uint32_t device_life)
{
	static const char *const words[] = { MSG_WORDS_JOINT(MSG_WORD) };

	flags &= BAD | ODD | MSG_JOINT_COMPLIANT;
	if (life == MSG_LIFE_FAULT)
		flags |= MSG_JOINT_FAULT;
	j->old = !(age_s <= OLD_S);
	j->rank = flags & BAD || j->old ? STATUS_BAD : flags & ODD ? STATUS_ODD : STATUS_FINE;
	if (j->old)
		lines_append(j->doubt, sizeof(j->doubt), ", ", "no state for %.0f s", age_s);
	if (life != device_life && !(flags & MSG_JOINT_FAULT))
		lines_append(j->doubt, sizeof(j->doubt), ", ", "%s", msg_life_word(life));
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (flags & 1u << i)
			lines_append(j->doubt, sizeof(j->doubt), ", ", "%s", words[i]);
}

static void fill(struct joint *j, const struct robot_channel *one, const struct msg_device_info *info, size_t i)
{
	const struct msg_joint_state *s = one->joints;

	*j = (struct joint){ .position_rad = s->position[i],
			     .velocity_rad_s = s->velocity[i],
			     .current_a = s->current[i],
			     .temperature_k = s->temperature[i],
			     .at = share(info, s->joint[i], s->position[i]) };
	snprintf(j->device, sizeof(j->device), "%.*s", (int)lines_before(one->name, "-state"), one->name);
	snprintf(j->name, sizeof(j->name), "%.*s", MSG_NAME_SIZE - 1, s->joint[i]);
	utf8_clean(j->name);
	find_doubt(j, robot_channel_age_ms(one) / 1e3, s->lifecycle[i], s->status[i], s->common.lifecycle);
}

size_t joints_list(const struct robot_channels *channels, struct joint joints[JOINTS_MAX])
{
	size_t n = 0;

	for (size_t c = 0; c < channels->n; c++) {
		const struct robot_channel *one = channels->at[c];
		const struct msg_device_info *info;

		if (!one->joints || is_part(channels, one))
			continue;
		info = find_info(channels, one);
		for (size_t i = 0; i < count(one->joints) && n < JOINTS_MAX; i++)
			if (one->joints->lifecycle[i] != MSG_LIFE_DOWN || isfinite(one->joints->position[i]))
				fill(&joints[n++], one, info, i);
	}
	return n;
}
