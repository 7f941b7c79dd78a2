/* refmux.c: which source's reference counts.  Checked: pure, covered. */
#include "daemons/drv/refmux.h"

void refmux_output(struct refmux *m, uint32_t incarnation, uint32_t count)
{
	if (incarnation == m->incarnation && count == m->count)
		return;
	m->incarnation = incarnation;
	m->count = count;
	for (struct refmux_source *s = m->sources; s < m->sources + m->n; s++)
		s->there = s->odd = false;
	for (unsigned int i = 0; i < MSG_JOINTS; i++)
		m->author[i] = REFMUX_NONE;
	m->in_charge = REFMUX_NONE;
}

void refmux_take(struct refmux *m, unsigned int source, const union refmux_ref *ref, int64_t now_ns)
{
	struct refmux_source *s = &m->sources[source];

	s->newest_ns = now_ns;
	s->odd = !ref;
	if (!ref) {
		s->refused++;
		return;
	}
	s->taken++;
	s->there = true;
	s->taken_ns = now_ns;
	s->ref = *ref;
}

/* Until when its reference counts; 0: it has none. */
static int64_t until_ns(const struct refmux_source *s)
{
	const int64_t valid_ns = s->ref.header.valid_until_ns;

	if (!s->there)
		return 0;
	return s->timeout_ns && valid_ns - s->taken_ns > s->timeout_ns ? s->taken_ns + s->timeout_ns : valid_ns;
}

static bool asks(const struct refmux *m, const struct refmux_source *s, unsigned int joint)
{
	return !m->by_joint || s->ref.joints.mode[joint] != MSG_MODE_NONE;
}

/* The first that is valid at least until then. */
static int first_until(const struct refmux *m, unsigned int joint, int64_t t_ns)
{
	for (unsigned int i = 0; i < m->n; i++)
		if (until_ns(&m->sources[i]) >= t_ns && asks(m, &m->sources[i], joint))
			return (int)i;
	return REFMUX_NONE;
}

static int author_of(const struct refmux *m, unsigned int joint, int64_t now_ns, int64_t tick_ns)
{
	const int lasting = first_until(m, joint, now_ns + tick_ns);

	return lasting == REFMUX_NONE ? first_until(m, joint, now_ns) : lasting;
}

/* true: an author has changed. */
static bool find_authors(struct refmux *m, int64_t now_ns, int64_t tick_ns)
{
	const int before = m->in_charge;
	bool changed = false;

	m->in_charge = m->by_joint ? REFMUX_NONE : author_of(m, 0, now_ns, tick_ns);
	for (unsigned int i = 0; m->by_joint && i < m->count; i++) {
		const int author = author_of(m, i, now_ns, tick_ns);

		changed |= author != m->author[i];
		m->author[i] = author;
		if (author != REFMUX_NONE && (m->in_charge == REFMUX_NONE || author < m->in_charge))
			m->in_charge = author;
	}
	return changed || m->in_charge != before;
}

static bool is_author(const struct refmux *m, int source)
{
	for (unsigned int i = 0; m->by_joint && i < m->count; i++)
		if (m->author[i] == source)
			return true;
	return source == m->in_charge;
}

static enum msg_source state_of(const struct refmux *m, unsigned int source, int64_t now_ns)
{
	const struct refmux_source *s = &m->sources[source];

	if (is_author(m, (int)source))
		return MSG_SOURCE_IN_CHARGE;
	if (until_ns(s) >= now_ns)
		return MSG_SOURCE_READY;
	if (s->odd)
		return MSG_SOURCE_REFUSED;
	return s->newest_ns ? MSG_SOURCE_STALE : MSG_SOURCE_ABSENT;
}

static void take_joint(struct refmux *m, struct msg_joint_ref *to, unsigned int joint)
{
	const struct refmux_source *s = &m->sources[m->author[joint]];
	const struct msg_joint_ref *from = &s->ref.joints;

	to->mode[joint] = from->mode[joint];
	to->position[joint] = from->position[joint];
	to->velocity[joint] = from->velocity[joint];
	to->current[joint] = from->current[joint];
	if (!to->header.valid_until_ns || until_ns(s) < to->header.valid_until_ns)
		to->header.valid_until_ns = until_ns(s);
}

/* A joint that no source asks for has mode none. */
static void compose(struct refmux *m, struct msg_joint_ref *to, int64_t now_ns)
{
	memset(to, 0, sizeof(*to));
	to->count = m->count;
	for (unsigned int i = 0; i < m->count; i++)
		if (m->author[i] != REFMUX_NONE)
			take_joint(m, to, i);
	/* A source that asks for nothing lets the device hold now, not when the last reference has expired. */
	for (unsigned int i = 0; i < m->n && !to->header.valid_until_ns; i++)
		if (until_ns(&m->sources[i]) >= now_ns)
			to->header.valid_until_ns = until_ns(&m->sources[i]);
}

bool refmux_choose(struct refmux *m, union refmux_ref *ref, int64_t now_ns, int64_t tick_ns)
{
	m->handovers += find_authors(m, now_ns, tick_ns);
	for (unsigned int i = 0; i < m->n; i++)
		m->sources[i].state = state_of(m, i, now_ns);
	if (m->by_joint) {
		compose(m, &ref->joints, now_ns);
		return ref->header.valid_until_ns;
	}
	if (m->in_charge == REFMUX_NONE)
		return false;
	*ref = m->sources[m->in_charge].ref;
	ref->header.valid_until_ns = until_ns(&m->sources[m->in_charge]);
	return true;
}
