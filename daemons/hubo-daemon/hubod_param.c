/* hubod_param.c: parameters that boards store: read by name, and those of the home file written and read back.
 *
 * A parameter has the identifier of a current: a board is asked for one of them at a time.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemons/hubo-daemon/hubod.h"

#define TRIES 5
#define HOME_LETTERS 0xE /* B, C, D */
#define LIMIT_STORED 3	 /* enabled, and with a new value */
#define BIT(joint) (1ull << (joint))

static void end(struct hubod *h, struct drv *drv, int result, const char *words)
{
	h->read.on = false;
	drv_reply(drv, h->read.handle, result, "%s", words);
}

static void fail(struct hubod *h, struct drv *drv, const char *why)
{
	char words[96];

	snprintf(words, sizeof(words), "%s: %s", hubo_joint_name(h->read.joint), why);
	end(h, drv, -EIO, words);
}

static int begin(struct hubod *h, struct drv *drv, const struct hubod_read *read)
{
	if (h->read.on) {
		drv_why(drv, "other parameters are under way");
		return -EBUSY;
	}
	h->read = *read;
	return DRV_LATER;
}

/* JOINT.NAME */
int hubod_read_parameter(struct hubod *h, struct drv *drv, uint32_t handle, const char *key)
{
	const size_t len = strcspn(key, ".");
	const int parameter = jmc_parameter_find(key + len + 1);
	char joint[MSG_NAME_SIZE];
	int at;

	snprintf(joint, sizeof(joint), "%.*s", (int)len, key);
	at = hubo_joint_find(joint);
	if (at == HUBO_NONE || !h->joints[at].active) {
		drv_why(drv, "\"%.20s\" is not an active joint; write RHY.kp", joint);
		return -ENOENT;
	}
	if (parameter < 0) {
		drv_why(drv, "\"%.20s\" is not a parameter; write RHY.kp", key + len + 1);
		return -ENOENT;
	}
	return begin(h, drv,
		     &(struct hubod_read){ .on = true,
					   .handle = handle,
					   .joint = at,
					   .parameter = parameter,
					   .left = jmc_parameter_about((unsigned int)parameter).letters });
}

/* ---- the home file ---- */

/* Of the next joint: sent now, and read back from the next cycle on. */
static void write_next(struct hubod *h, struct drv *drv)
{
	struct hubod_read *r = &h->read;
	const struct hubod_joint *j;
	const struct hubo_home *home;

	r->joint = __builtin_ctzll(r->joints);
	r->joints &= ~BIT(r->joint);
	r->left = HOME_LETTERS;
	j = &h->joints[r->joint];
	home = &j->table->home;
	if (hubod_command(h, drv, j->board, JMC_HOME_SEARCH, j->motor,
			  (int32_t[]){ (int32_t)home->search, (int32_t)home->direction, home->offset }) ||
	    hubod_command(h, drv, j->board, JMC_LOWER_LIMIT, j->motor, (int32_t[]){ LIMIT_STORED, home->lower }) ||
	    hubod_command(h, drv, j->board, JMC_UPPER_LIMIT, j->motor, (int32_t[]){ LIMIT_STORED, home->upper }))
		fail(h, drv, "a value of the home file is out of the limits of its command");
}

int hubod_write_home(struct hubod *h, struct drv *drv, uint32_t handle, const char *key)
{
	uint64_t joints = hubod_joints_of(h, strcmp(key, "all") ? key : "");
	int status;

	for (int i = 0; i < HUBO_JOINTS; i++)
		if (!h->joints[i].active || !h->joints[i].table->home.line)
			joints &= ~BIT(i);
	if (!joints || !*key) {
		drv_why(drv, "\"%.20s\": no such joint in the home file; write all, a limb, or a joint", key);
		return -ENOENT;
	}
	if (drv_may_move(drv)) {
		drv_why(drv, "the limits of joints would change while they move: disarm the robot first");
		return -EBUSY;
	}
	status = begin(h, drv,
		       &(struct hubod_read){ .on = true, .handle = handle, .parameter = HUBO_NONE, .joints = joints });
	if (status == DRV_LATER)
		write_next(h, drv);
	return status;
}

static void compare(struct hubod *h, struct drv *drv)
{
	struct hubod_read *r = &h->read;
	const struct hubo_home *home = &h->joints[r->joint].table->home;
	const struct jmc_parameters *p = &r->values;
	char words[64];

	if (p->search_turns != home->search || p->home_direction != home->direction || p->home_offset != home->offset ||
	    p->lower != home->lower || p->upper != home->upper) {
		fail(h, drv, "its board reports other values than it was given");
		return;
	}
	r->done++;
	if (r->joints) {
		write_next(h, drv);
		return;
	}
	snprintf(words, sizeof(words), "%u joints written and read back", r->done);
	end(h, drv, 0, words);
}

/* ---- reading ---- */

void hubod_read_step(struct hubod *h, struct drv *drv)
{
	if (!h->read.on)
		return;
	if (h->boards[h->joints[h->read.joint].board].silent)
		fail(h, drv, "its board does not reply");
	else if (h->read.parameter == HUBO_NONE && drv_may_move(drv))
		fail(h, drv, "the robot was armed; this joint and those behind it may keep old values");
}

void hubod_read_ask(struct hubod *h, struct drv *drv, unsigned int board)
{
	const struct hubod_joint *j = &h->joints[h->read.joint];
	const struct hubod_board *b = &h->boards[board];
	struct frame frame;
	int32_t index;

	if (!h->read.on || h->read.asked || j->board != board)
		return;
	index = jmc_parameter_index((unsigned int)__builtin_ctz(h->read.left), j->motor);
	jmc_encode(&frame, (unsigned int)b->table->number, JMC_GET_PARAMETER, 0, &index);
	h->read.asked = !drv_ask(drv, b->values, &frame, HUBOD_TAG_PARAMETER | board);
}

void hubod_read_answer(struct hubod *h, struct drv *drv, const struct bus_frame *reply)
{
	struct hubod_read *r = &h->read;
	const unsigned int letter = r->left ? (unsigned int)__builtin_ctz(r->left) : 0;
	char value[24];

	if (!r->on || !r->asked) /* it was cancelled */
		return;
	r->asked = false;
	if (!reply || jmc_decode_parameter(&r->values, letter, &reply->frame)) {
		if (++r->tries == TRIES)
			fail(h, drv, "its board did not send the parameter");
		return;
	}
	r->tries = 0;
	r->left &= (uint16_t) ~(1u << letter);
	if (r->left)
		return;
	if (r->parameter == HUBO_NONE) {
		compare(h, drv);
		return;
	}
	snprintf(value, sizeof(value), "%" PRId64, jmc_parameter_value(&r->values, (unsigned int)r->parameter));
	end(h, drv, 0, value);
}

bool hubod_read_cancel(struct hubod *h, uint32_t handle)
{
	const bool ours = h->read.on && handle == h->read.handle;

	h->read.on &= !ours;
	return ours;
}
