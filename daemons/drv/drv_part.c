/* drv_part.c: parts of a device, each with a state and a reference channel of its own.
 *
 * NAME-ref and the references of the parts are sources of one refmux, the whole device first.
 */
#include "daemons/drv/drv_inside.h"
#include "daemons/drv/drv_refused.h"
#include "daemons/drv/refmux.h"

struct drv_part {
	unsigned int joints[MSG_JOINTS], n;
	unsigned int output, input; /* NAME-PART-state, NAME-PART-ref */
	struct drv_channel info;
	struct port info_port;
	struct msg_common counts; /* of its references, taken and refused */
};

struct drv_parts {
	struct drv_part part[DRV_PARTS_MAX];
	unsigned int n;
	struct refmux mux;
	union refmux_ref read, whole; /* as it was read; as one of all joints */
	struct msg_joint_state state;
	struct msg_device_info info;
};

/* ---- in declare ---- */

int drv_add_part(struct drv *drv, const char *name, const unsigned int *joints, unsigned int n,
		 struct error_sink *errors)
{
	char channel[PORT_NAME_MAX];
	struct drv_part *part;
	int output, input;

	if (!drv->parts)
		drv->parts = calloc(1, sizeof(*drv->parts));
	if (!drv->parts || drv->parts->n == DRV_PARTS_MAX || n > MSG_JOINTS)
		return error_refuse(errors, -ENOSPC, "part %s: %s", name, drv->parts ? "too many" : strerror(ENOMEM));
	snprintf(channel, sizeof(channel), "%s-%s-state", drv->setup.name, name);
	output = drv_add_output(drv, channel, msg_joint_state_number, errors);
	snprintf(channel, sizeof(channel), "%s-%s-ref", drv->setup.name, name);
	input = drv_add_input(drv, channel, msg_joint_ref_number, errors);
	if (output < 0 || input < 0)
		return -ENOSPC;
	part = &drv->parts->part[drv->parts->n];
	part->n = n;
	memcpy(part->joints, joints, n * sizeof(*joints));
	part->output = (unsigned int)output;
	part->input = (unsigned int)input;
	part->info.type = msg_device_info_number;
	snprintf(part->info.channel, sizeof(part->info.channel), "%s-%s-info", drv->setup.name, name);
	drv->parts->mux.by_joint = true;
	drv->parts->mux.n = 1 + ++drv->parts->n;
	return (int)drv->parts->n - 1;
}

void drv_parts_close(struct drv *drv)
{
	for (unsigned int i = 0; drv->parts && i < drv->parts->n; i++)
		port_close(&drv->parts->part[i].info_port);
	free(drv->parts);
	drv->parts = NULL;
}

/* ---- references ---- */

/* Joints of other parts have mode none. */
static void spread(struct drv_parts *p, const struct drv_part *part)
{
	const struct msg_joint_ref *from = &p->read.joints;
	struct msg_joint_ref *to = &p->whole.joints;

	memset(to, 0, sizeof(*to));
	to->header = from->header;
	for (unsigned int i = 0; i < part->n; i++) {
		to->mode[part->joints[i]] = from->mode[i];
		to->position[part->joints[i]] = from->position[i];
		to->velocity[part->joints[i]] = from->velocity[i];
		to->current[part->joints[i]] = from->current[i];
	}
}

static void refuse(struct drv *drv, const struct drv_part *part, enum ref_verdict verdict, size_t len,
		   struct ref_rules *rules, int64_t now_ns)
{
	msg_name names[MSG_JOINTS];

	for (unsigned int i = 0; i < part->n; i++)
		memcpy(names[i], drv->joints[part->joints[i]], sizeof(names[i]));
	rules->joints = names;
	drv_refused(drv, drv->inputs[part->input].channel, verdict, &drv->parts->read, len, rules, now_ns);
}

static bool read_part(struct drv *drv, unsigned int number, struct ref_rules rules, int64_t now_ns)
{
	struct drv_parts *p = drv->parts;
	struct drv_part *part = &p->part[number];
	enum ref_verdict verdict;
	const size_t len = drv_newest(drv, part->input, &p->read, sizeof(p->read));

	if (!len)
		return false;
	rules.count = part->n;
	verdict = ref_take(&p->read, len, &rules, now_ns);
	ref_count(&part->counts, verdict);
	if (verdict == REF_TAKEN)
		spread(p, part);
	else
		refuse(drv, part, verdict, len, &rules, now_ns);
	refmux_take(&p->mux, 1 + number, verdict == REF_TAKEN ? &p->whole : NULL, now_ns);
	return verdict == REF_TAKEN;
}

static bool read_whole(struct drv *drv, const struct ref_rules *rules, int64_t now_ns)
{
	struct drv_parts *p = drv->parts;
	enum ref_verdict verdict;
	size_t len;
	const enum port_got got = port_newest(&drv->ref_port, &p->read, sizeof(p->read), &len);

	if (got == PORT_NONE || got == PORT_BROKEN)
		return false;
	verdict = ref_take(&p->read, len, rules, now_ns);
	ref_count(&drv->state.state.common, verdict);
	if (verdict != REF_TAKEN)
		drv_refused(drv, NULL, verdict, &p->read, len, rules, now_ns);
	refmux_take(&p->mux, 0, verdict == REF_TAKEN ? &p->read : NULL, now_ns);
	return verdict == REF_TAKEN;
}

bool drv_parts_read(struct drv *drv, const struct ref_rules *rules, int64_t now_ns)
{
	const struct msg_type *type = msg_type_by_number(msg_joint_ref_number);
	struct drv_parts *p = drv->parts;
	struct msg_joint_ref *next = &drv->refs[!drv->ref].joint_ref;
	bool taken;

	refmux_output(&p->mux, drv->incarnation, drv->joints_n);
	taken = read_whole(drv, rules, now_ns);
	for (unsigned int i = 0; i < p->n; i++)
		taken |= read_part(drv, i, *rules, now_ns);
	if (!refmux_choose(&p->mux, &p->whole, now_ns, drv->tick.period_ns))
		return false; /* what was chosen last has expired */
	*next = p->whole.joints;
	next->header.type = type->number;
	next->header.version = type->version;
	next->header.size = (uint32_t)type->body->size;
	drv->ref = !drv->ref;
	drv->ref_there = true;
	return taken;
}

/* ---- states ---- */

static bool is_faulty(const struct msg_joint_state *s)
{
	for (unsigned int i = 0; i < s->count; i++)
		if (s->lifecycle[i] != MSG_LIFE_FAULT)
			return false;
	return s->count;
}

/* The oldest among the joints that ever were measured; INT64_MAX: none was. */
static int64_t oldest_ns(const struct msg_joint_state *s)
{
	int64_t age_ns = -1;

	for (unsigned int i = 0; i < s->count; i++)
		if (s->age_ns[i] != INT64_MAX && s->age_ns[i] > age_ns)
			age_ns = s->age_ns[i];
	return age_ns < 0 ? INT64_MAX : age_ns;
}

static void fill(const struct drv *drv, const struct drv_part *part, struct msg_joint_state *to)
{
	const struct msg_joint_state *from = &drv->state.joints;
	int64_t age_ns;

	*to = (struct msg_joint_state){ .header = from->header, .common = from->common, .count = part->n };
	to->common.refs_taken = part->counts.refs_taken;
	to->common.refs_refused = part->counts.refs_refused;
	for (unsigned int i = 0; i < part->n; i++) {
		const unsigned int at = part->joints[i];

		memcpy(to->joint[i], from->joint[at], MSG_NAME_SIZE);
		to->position[i] = from->position[at];
		to->velocity[i] = from->velocity[at];
		to->current[i] = from->current[at];
		to->temperature[i] = from->temperature[at];
		to->age_ns[i] = from->age_ns[at];
		to->lifecycle[i] = from->lifecycle[at];
		to->status[i] = from->status[at];
		to->state_word[i] = from->state_word[at];
	}
	age_ns = oldest_ns(to);
	to->header.t_sample_ns = age_ns == INT64_MAX ? 0 : from->header.t_publish_ns - age_ns;
	if (age_ns < drv_period_ns(drv)) /* what is missing is of another part */
		to->header.flags &= ~(uint32_t)MSG_FLAG_PARTIAL;
	if (is_faulty(to))
		to->common.lifecycle = MSG_LIFE_FAULT;
}

void drv_parts_put(struct drv *drv)
{
	for (unsigned int i = 0; drv->parts && i < drv->parts->n; i++) {
		fill(drv, &drv->parts->part[i], &drv->parts->state);
		port_put(&drv->output_ports[drv->parts->part[i].output], &drv->parts->state);
	}
}

/* ---- what is known of them ---- */

const struct drv_channel *drv_parts_info(const struct drv *drv, unsigned int part, struct port **port)
{
	if (!drv->parts || part >= drv->parts->n)
		return NULL;
	*port = &drv->parts->part[part].info_port;
	return &drv->parts->part[part].info;
}

void drv_parts_put_info(struct drv *drv)
{
	const struct msg_device_info *from = &drv->info;

	for (unsigned int k = 0; drv->parts && k < drv->parts->n; k++) {
		struct drv_part *part = &drv->parts->part[k];
		struct msg_device_info *to = &drv->parts->info;

		memset(to, 0, sizeof(*to));
		memcpy(to, from, offsetof(struct msg_device_info, count));
		to->count = part->n;
		for (unsigned int i = 0; i < part->n; i++) {
			const unsigned int at = part->joints[i];

			memcpy(to->joint[i], from->joint[at], MSG_NAME_SIZE);
			to->modes[i] = from->modes[at];
			to->position_min[i] = from->position_min[at];
			to->position_max[i] = from->position_max[at];
			to->velocity[i] = from->velocity[at];
			to->acceleration[i] = from->acceleration[at];
			to->jerk[i] = from->jerk[at];
			to->current[i] = from->current[at];
		}
		port_put(&part->info_port, to);
	}
}
