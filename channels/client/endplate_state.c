/* endplate_state.c: states read, and references put. */
#include "channels/client/endplate_inside.h"
#include "channels/clock/clock.h"

/* ---- the type of a device, once its first state has come ---- */

static void learn_type(struct endplate_device *d, const struct msg_type *type)
{
	const size_t len = lines_before(type->name, "-state");
	char name[MSG_NAME_SIZE], error[MSG_TEXT_SIZE];
	const struct msg_type *ref;
	struct msg_place place;

	d->type = type;
	d->count_at = msg_find(type, "count", &place, error, sizeof(error)) ? 0 : place.offset;
	d->layout = (struct ref_layout){ 0 };
	snprintf(name, sizeof(name), "%.*s-ref", (int)len, type->name);
	ref = len ? msg_type_by_name(name) : NULL;
	if (ref)
		ref_layout(&d->layout, ref);
}

/* ---- reading ---- */

/* INT64_MAX for a stamp that is missing or makes no sense. */
static int64_t age_ns(int64_t now_ns, int64_t stamp_ns)
{
	return stamp_ns > 0 ? now_ns - stamp_ns : INT64_MAX;
}

static uint32_t find_doubts(const struct endplate_device *d, const struct endplate_front *f,
			    const struct endplate_view *v)
{
	const uint32_t life = f->common.lifecycle;
	const bool up = life == MSG_LIFE_DISARMED || life == MSG_LIFE_HOLDING || life == MSG_LIFE_HOMING ||
			life == MSG_LIFE_ACTIVE;

	return (d->seen && f->header.incarnation != d->incarnation ? ENDPLATE_RESTARTED : 0) |
	       (v->silent_ns > d->max_age_ns ? ENDPLATE_SILENT : 0) | (v->age_ns > d->max_age_ns ? ENDPLATE_OLD : 0) |
	       (f->header.flags & MSG_FLAG_PARTIAL ? ENDPLATE_PARTIAL : 0) |
	       (f->header.flags & MSG_FLAG_REPLAYED ? ENDPLATE_REPLAYED : 0) | (up ? 0 : ENDPLATE_NOT_UP);
}

static bool takes_references(const struct msg_common *common)
{
	return common->lifecycle == MSG_LIFE_HOLDING || common->lifecycle == MSG_LIFE_ACTIVE;
}

static void fill_view(const struct endplate_device *d, const struct endplate_front *f, struct endplate_view *v)
{
	const uint64_t refused = ref_refused(&f->common.refs_refused), before = ref_refused(&d->refused);
	const bool same = d->seen && f->header.incarnation == d->incarnation;

	v->incarnation = f->header.incarnation;
	v->lifecycle = f->common.lifecycle;
	v->level = f->common.level;
	v->silent_ns = age_ns(v->now_ns, f->header.t_publish_ns);
	v->age_ns = age_ns(v->now_ns, f->header.t_sample_ns);
	v->refused = same && refused >= before ? refused - before : 0;
	v->doubts = find_doubts(d, f, v);
	v->follows = takes_references(&f->common) && f->common.level == MSG_LEVEL_RUN && d->layout.type != NULL;
}

static void remember(struct endplate_device *d, const void *msg, const struct endplate_front *f,
		     const struct endplate_view *v)
{
	if (v->refused) {
		d->refused_ns = v->now_ns;
		d->refused_why = ref_counted(&d->refused, &f->common.refs_refused);
	} else if (v->doubts & ENDPLATE_RESTARTED) {
		d->refused_ns = 0;
	}
	d->incarnation = f->header.incarnation;
	d->refused = f->common.refs_refused;
	d->count = 0;
	if (d->count_at)
		memcpy(&d->count, (const char *)msg + d->count_at, sizeof(d->count));
	if (!d->seen)
		d->ref.look_ns = 0;
	d->seen = true;
}

/* The newest message into msg, and whether it is new.  The file is looked at only while nothing new comes. */
static int read_newest(struct endplate_device *d, void *msg, size_t size, size_t *len, struct endplate_view *v)
{
	struct endplate_end *end = &d->state;
	enum ach_status status = ACH_EAGAIN;
	uint64_t before;

	if (end->open && !end->chan.seq_num) /* not read yet: it may have been opened long ago, by a spare */
		endplate_end_reopen(end, v->now_ns);
	before = end->open ? end->chan.seq_num : 0;
	if (end->open)
		status = ach_get(&end->chan, msg, size, len, NULL, ACH_O_LAST);
	if (status == ACH_EAGAIN) {
		const bool was_open = end->open;
		const int closed = endplate_end_reopen(end, v->now_ns);

		if (closed)
			return closed;
		status = ach_get(&end->chan, msg, size, len, NULL, ACH_O_LAST | ACH_O_COPY);
		v->is_new = !was_open || end->chan.seq_num != before;
	} else {
		v->is_new = 1;
	}
	v->missed = before && end->chan.seq_num > before ? end->chan.seq_num - before - 1 : 0;
	switch (status) {
	case ACH_OK:
	case ACH_MISSED_FRAME:
		return 0;
	case ACH_EAGAIN:
		return -ENODATA;
	case ACH_OVERFLOW:
		endplate_end_reopen(end, v->now_ns);
		return -EPROTO;
	default:
		endplate_end_close(end, port_error(status));
		return end->status;
	}
}

int endplate_state(struct endplate_device *d, void *msg, size_t size, struct endplate_view *view)
{
	const struct msg_type *expected = d->number ? msg_type_by_number(d->number) : NULL, *type;
	struct endplate_front front;
	size_t len;
	int status;

	*view = (struct endplate_view){ .doubts = ENDPLATE_SILENT, .age_ns = INT64_MAX, .silent_ns = INT64_MAX };
	view->now_ns = clock_now_ns();
	if (expected && size != expected->body->size)
		return -EPROTO;
	status = read_newest(d, msg, size, &len, view);
	if (status)
		return status;
	if (msg_check(msg, len, expected, &type) != MSG_FINE || !msg_is_state(type))
		return -EPROTO;
	if (type != d->type)
		learn_type(d, type);
	memcpy(&front, msg, sizeof(front));
	fill_view(d, &front, view);
	remember(d, msg, &front, view);
	return 0;
}

int endplate_max_age(struct endplate_device *d, int64_t max_age_ns)
{
	if (max_age_ns <= 0)
		return -EINVAL;
	d->max_age_ns = max_age_ns;
	return 0;
}

/* ---- references ---- */

int endplate_peek_front(struct endplate_device *d, struct endplate_front *front, int64_t now_ns)
{
	const uint64_t cursor = d->state.chan.seq_num;
	const void *inside;
	size_t len;
	enum ach_status status;

	if (!d->state.open && endplate_end_reopen(&d->state, now_ns))
		return d->state.status;
	for (int i = 0; i < 3; i++) {
		status = ach_peek(&d->state.chan, &inside, &len, NULL, ACH_O_LAST | ACH_O_COPY);
		if (status != ACH_OK && status != ACH_MISSED_FRAME)
			return status == ACH_EAGAIN ? -ENODATA : port_error(status);
		if (len < sizeof(*front))
			return -EPROTO;
		memcpy(front, inside, sizeof(*front));
		status = ach_peek_end(&d->state.chan);
		d->state.chan.seq_num = cursor;
		if (status == ACH_OK)
			return 0;
	}
	return -EIO;
}

/* Does a driver run that would take it, and has the caller seen a state of this incarnation? */
static int check_driver(struct endplate_device *d, int64_t now_ns)
{
	struct endplate_front front;
	int status;

	if (!d->seen)
		return endplate_refuse(-ENODATA, "%s: no state seen yet: read its state first", d->name);
	status = endplate_peek_front(d, &front, now_ns);
	if (status)
		return endplate_refuse(status, "%s-state: %s", d->name, endplate_strerror(status));
	if (front.header.incarnation != d->incarnation)
		return endplate_refuse(-ESTALE, "%s: for incarnation %u, the driver is %u: read its state again",
				       d->name, d->incarnation, front.header.incarnation);
	if (age_ns(now_ns, front.header.t_publish_ns) > d->max_age_ns)
		return endplate_refuse(-ETIME, "%s: its driver has been silent for %lld ms", d->name,
				       (long long)(age_ns(now_ns, front.header.t_publish_ns) / 1000000));
	return takes_references(&front.common)
		       ? 0
		       : endplate_refuse(-EHOSTDOWN, "%s: lifecycle %s, level %s", d->name,
					 msg_life_word(front.common.lifecycle), msg_level_word(front.common.level));
}

/* Judges a reference by the rules of the driver. */
static int check_reference(struct endplate_device *d, const void *ref, int64_t now_ns)
{
	static const int statuses[] = {
		[REF_NOT_FINITE] = -EDOM, [REF_NO_VALIDITY] = -ERANGE, [REF_PAST] = -ERANGE, [REF_TOO_FAR] = -ERANGE
	};
	const struct msg_device_info *info = endplate_known_info(d, now_ns);
	const size_t len = d->layout.type->body->size;
	struct ref_rules rules = { .layout = &d->layout,
				   .count = d->count,
				   .incarnation = d->incarnation,
				   .max_ahead_ns = ENDPLATE_VALID_MAX_NS,
				   .joints = info ? info->joint : NULL };
	char text[MSG_TEXT_SIZE];
	enum ref_verdict verdict;

	/* A refmuxd takes references that are valid for longer than those it puts. */
	if (info && info->valid_max_ns > 0 && !d->source)
		rules.max_ahead_ns = info->valid_max_ns;
	verdict = ref_check(ref, len, &rules, now_ns);
	if (verdict == REF_TAKEN)
		return 0;
	ref_refusal_text(text, sizeof(text), verdict, ref, len, &rules, now_ns);
	return endplate_refuse(verdict >= REF_NO_VALIDITY ? statuses[verdict] : -EPROTO, "%s: %s", d->name, text);
}

static void fill_header(struct endplate_device *d, struct msg_header *header, int64_t now_ns, int64_t valid_ns)
{
	*header = (struct msg_header){ .type = d->layout.type->number,
				       .version = d->layout.type->version,
				       .size = (uint32_t)d->layout.type->body->size,
				       .incarnation = d->robot->pid,
				       .for_incarnation = d->incarnation,
				       .sequence = ++d->sequence,
				       .t_sample_ns = now_ns,
				       .t_publish_ns = now_ns,
				       .valid_until_ns = now_ns + valid_ns };
}

int endplate_put(struct endplate_device *d, void *ref, size_t size, int64_t valid_ns)
{
	const int64_t now_ns = clock_now_ns();
	enum ach_status put;
	int status;

	if (valid_ns <= 0 || valid_ns > ENDPLATE_VALID_MAX_NS)
		return endplate_refuse(-ERANGE, "%s: valid for %.4g ms: give it more than 0 and at most %d ms", d->name,
				       (double)valid_ns / 1e6, ENDPLATE_VALID_MAX_NS / 1000000);
	status = check_driver(d, now_ns);
	if (status)
		return status;
	if (!d->layout.type)
		return endplate_refuse(-EPROTO, "%s: takes no references: its state is of type %s", d->name,
				       d->type->name);
	if (size != d->layout.type->body->size)
		return endplate_refuse(-EPROTO, "%s: %zu bytes, a %s has %zu", d->name, size, d->layout.type->name,
				       d->layout.type->body->size);
	fill_header(d, ref, now_ns, valid_ns);
	status = check_reference(d, ref, now_ns);
	if (status)
		return status;
	status = endplate_end_reopen(&d->ref, now_ns);
	if (status)
		return endplate_refuse(status, "%s: %s", d->ref.name, endplate_strerror(status));
	put = ach_put(&d->ref.chan, ref, size);
	if (put == ACH_CORRUPT)
		endplate_end_close(&d->ref, -EIO);
	return put == ACH_OK
		       ? 0
		       : endplate_refuse(port_error(put), "%s: %s", d->ref.name, endplate_strerror(port_error(put)));
}
