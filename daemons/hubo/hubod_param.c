/* hubod_param.c: parameters that boards store: read by name or all of a joint, and those of the home file written and
 * read back.
 *
 * A parameter has the identifier of a current: a board is asked for one of them at a time.
 */
#include "daemons/hubo/hubod.h"

#define TRIES 5
#define ALL_LETTERS 0x1FF
#define HOME_LETTERS 0xE /* B, C, D */
#define LIMIT_STORED 3	 /* enabled, and with a new value */

static void end(struct hubod *h, struct drv *drv, int result, const char *words)
{
	h->read.on = false;
	if (h->read.unasked)
		h->param.unread &= ~HUBOD_BIT(h->read.joint);
	else
		drv_reply(drv, h->read.handle, result, "%s", words);
}

static void fail(struct hubod *h, struct drv *drv, const char *why)
{
	char words[96];

	snprintf(words, sizeof(words), "%s: %s", hubo_joint_name(h->read.joint), why);
	end(h, drv, -EIO, words);
}

/* ---- the next joint ---- */

/* Sent now, and read back from the next cycle on. */
static void write_home(struct hubod *h, struct drv *drv)
{
	const struct hubod_joint *j = &h->joints[h->read.joint];
	const struct hubo_home *home = &j->table->home;

	if (hubod_command(h, drv, j->board, JMC_HOME_SEARCH, j->motor,
			  (int32_t[]){ (int32_t)home->search, (int32_t)home->direction, home->offset }) ||
	    hubod_command(h, drv, j->board, JMC_LOWER_LIMIT, j->motor, (int32_t[]){ LIMIT_STORED, home->lower }) ||
	    hubod_command(h, drv, j->board, JMC_UPPER_LIMIT, j->motor, (int32_t[]){ LIMIT_STORED, home->upper }))
		fail(h, drv, "a value of the home file is out of the limits of its command");
}

static void next_joint(struct hubod *h, struct drv *drv)
{
	struct hubod_read *r = &h->read;

	r->joint = __builtin_ctzll(r->joints);
	r->joints &= ~HUBOD_BIT(r->joint);
	r->letters = r->left = r->home ? HOME_LETTERS : ALL_LETTERS;
	if (r->home)
		write_home(h, drv);
}

/* ---- requests ---- */

/* A read that no client waits for is put off. */
static int begin(struct hubod *h, struct drv *drv, const struct hubod_read *read)
{
	if (h->read.on && !h->read.unasked)
		return drv_refuse(drv, -EBUSY, "other parameters are under way");
	h->read = *read;
	if (read->joints)
		next_joint(h, drv);
	return DRV_LATER;
}

/* JOINT.all, LIMB.all, all.all */
static int read_all(struct hubod *h, struct drv *drv, uint32_t handle, const char *place)
{
	const uint64_t joints = hubod_joints_at(h, place);

	if (!joints)
		return drv_refuse(drv, -ENOENT,
				  "\"%.20s\" is neither an active joint nor a limb; write RHY.all, rleg.all or all.all",
				  place);
	return begin(h, drv,
		     &(struct hubod_read){ .on = true, .handle = handle, .parameter = HUBO_NONE, .joints = joints });
}

/* JOINT.NAME */
int hubod_read_parameter(struct hubod *h, struct drv *drv, uint32_t handle, const char *key)
{
	char joint[MSG_NAME_SIZE];
	const char *name = hubod_split(joint, key);
	const int parameter = jmc_parameter_find(name);
	uint16_t letters;
	int at;

	if (!strcmp(name, "all"))
		return read_all(h, drv, handle, joint);
	at = hubo_joint_find(joint);
	if (at == HUBO_NONE || !h->joints[at].active)
		return drv_refuse(drv, -ENOENT, "\"%.20s\" is not an active joint; write RHY.kp", joint);
	if (parameter < 0)
		return drv_refuse(drv, -ENOENT, "\"%.20s\" is not a parameter; write RHY.kp", name);
	letters = jmc_parameter_about((unsigned int)parameter).letters;
	return begin(h, drv,
		     &(struct hubod_read){ .on = true,
					   .handle = handle,
					   .joint = at,
					   .parameter = parameter,
					   .letters = letters,
					   .left = letters });
}

int hubod_write_home(struct hubod *h, struct drv *drv, uint32_t handle, const char *key)
{
	uint64_t joints = hubod_joints_at(h, key);

	for (int i = 0; i < HUBO_JOINTS; i++)
		if (!h->joints[i].active || !h->joints[i].table->home.line)
			joints &= ~HUBOD_BIT(i);
	if (!joints)
		return drv_refuse(drv, -ENOENT,
				  "\"%.20s\": no such joint in the home file; write all, a limb, or a joint", key);
	if (drv_may_move(drv))
		return drv_refuse(drv, -EBUSY,
				  "the limits of joints would change while they move: disarm the robot first");
	return begin(h, drv,
		     &(struct hubod_read){
			     .on = true, .home = true, .handle = handle, .parameter = HUBO_NONE, .joints = joints });
}

/* ---- reading ---- */

static void begin_unasked(struct hubod *h, struct drv *drv)
{
	for (int i = 0; i < HUBO_JOINTS; i++)
		if (h->param.unread & HUBOD_BIT(i) && !h->boards[h->joints[i].board].silent) {
			begin(h, drv,
			      &(struct hubod_read){
				      .on = true, .unasked = true, .parameter = HUBO_NONE, .joints = HUBOD_BIT(i) });
			return;
		}
}

void hubod_read_step(struct hubod *h, struct drv *drv)
{
	const bool silent = h->read.on && h->boards[h->joints[h->read.joint].board].silent;

	if (!h->read.on)
		begin_unasked(h, drv);
	else if (silent && h->read.unasked)
		h->read.on = false; /* again when it is back */
	else if (silent)
		fail(h, drv, "its board does not reply");
	else if (h->read.home && drv_may_move(drv))
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

static bool is_home_file(const struct hubo_home *home, const struct jmc_parameters *p)
{
	const struct {
		const char *name;
		int64_t value;
	} wanted[] = {
		{ "search-turns", home->search }, { "home-direction", home->direction },
		{ "home-offset", home->offset },  { "lower", home->lower },
		{ "upper", home->upper },
	};
	bool same = true;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		same &= jmc_parameter_value(p, (unsigned int)jmc_parameter_find(wanted[i].name)) == wanted[i].value;
	return same;
}

/* A board that has stored other values than the home file says is perhaps that of another joint. */
static void joint_is_read(struct hubod *h, struct drv *drv, int64_t t_ns)
{
	struct hubod_read *r = &h->read;
	const struct hubo_home *home = &h->joints[r->joint].table->home;
	const bool other = !(HOME_LETTERS & ~r->letters) && home->line && !is_home_file(home, &r->values);
	char words[64];

	hubod_board_param_took(h, r->joint, r->letters, &r->values, t_ns);
	if (other && r->home) {
		fail(h, drv, "its board reports other values than it was given");
		return;
	}
	if (other)
		drv_event(drv, MSG_SEVERITY_WARNING, "home-file",
			  "%s: its board has stored another search or limits than the home file says: write the home "
			  "file, or look whether boards are swapped",
			  hubo_joint_name(r->joint));
	r->done++;
	if (r->joints) {
		next_joint(h, drv);
		return;
	}
	if (r->parameter != HUBO_NONE)
		snprintf(words, sizeof(words), "%" PRId64, jmc_parameter_value(&r->values, (unsigned int)r->parameter));
	else
		snprintf(words, sizeof(words), r->home ? "%u joints written and read back" : "%u joints read", r->done);
	end(h, drv, 0, words);
}

void hubod_read_answer(struct hubod *h, struct drv *drv, unsigned int board, const struct bus_frame *reply)
{
	struct hubod_read *r = &h->read;
	const unsigned int letter = r->left ? (unsigned int)__builtin_ctz(r->left) : 0;

	if (!r->on || !r->asked || h->joints[r->joint].board != board) /* it was cancelled, or put off */
		return;
	r->asked = false;
	if (!reply || jmc_decode_parameter(&r->values, letter, &reply->frame)) {
		if (++r->tries == TRIES)
			fail(h, drv, "its board did not send the parameter");
		return;
	}
	r->tries = 0;
	r->left &= (uint16_t) ~(1u << letter);
	if (!r->left)
		joint_is_read(h, drv, reply->t_ns);
}

void hubod_read_again(struct hubod *h, unsigned int board)
{
	if (h->joints[h->read.joint].board != board)
		return;
	h->read.left = h->read.letters;
	h->read.asked = false;
}

bool hubod_read_cancel(struct hubod *h, uint32_t handle)
{
	const bool ours = h->read.on && !h->read.unasked && handle == h->read.handle;

	h->read.on &= !ours;
	return ours;
}
