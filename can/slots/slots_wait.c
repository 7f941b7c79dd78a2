/* slots_wait.c: waiting frames: order, replacement, deadlines.
 *
 * order is sorted by rank, and within a rank by arrival.  So the first of it is the next to be sent, and all frames of
 * one identifier and class are neighbours.
 */
#include "can/slots/slots_inside.h"
#include "channels/clock/clock.h"

static const unsigned int class_max[SLOTS_CLASSES] = {
	[SLOTS_URGENT] = SLOTS_URGENT_MAX,
	[SLOTS_LATEST] = SLOTS_LATEST_MAX,
	[SLOTS_COMMAND] = SLOTS_COMMAND_MAX,
	[SLOTS_QUEUE] = SLOTS_QUEUE_MAX,
};

static enum slots_class class_of(const struct slots *s, unsigned int row)
{
	return s->rows[row].class;
}

/* A frame with this deadline is about to leave. */
static void forget_deadline(struct slots *s, unsigned int index)
{
	if (s->deadlines_ns[index] == s->earliest_ns)
		s->earliest_exact = false;
}

/* The index stays in order, behind those that wait. */
void slots_leave(struct slots *s, unsigned int place)
{
	const uint16_t index = s->order[place];

	s->waiting_of[class_of(s, s->waiting[index].row)]--;
	memmove(s->order + place, s->order + place + 1, (s->waiting_n - place - 1) * sizeof(s->order[0]));
	s->order[--s->waiting_n] = index;
	forget_deadline(s, index);
}

static struct slots_waiting *enter(struct slots *s, unsigned int place, unsigned int row)
{
	const uint16_t index = s->order[s->waiting_n];

	memmove(s->order + place + 1, s->order + place, (s->waiting_n - place) * sizeof(s->order[0]));
	s->order[place] = index;
	s->waiting_n++;
	s->waiting_of[class_of(s, row)]++;
	return &s->waiting[index];
}

static void find_earliest(struct slots *s)
{
	s->earliest_ns = CLOCK_NEVER;
	for (unsigned int i = 0; i < s->waiting_n; i++)
		s->earliest_ns = num_min(s->earliest_ns, s->deadlines_ns[s->order[i]]);
	s->earliest_exact = true;
}

void slots_expire(struct slots *s, int64_t now_ns)
{
	unsigned int place = 0;

	if (now_ns < s->earliest_ns)
		return;
	while (place < s->waiting_n) {
		const struct slots_waiting *w = slots_place(s, place);

		if (now_ns < s->deadlines_ns[s->order[place]]) {
			place++;
			continue;
		}
		if (class_of(s, w->row) == SLOTS_LATEST)
			s->counts.expired++;
		else
			slots_lose(s, w->row, &w->frame, SLOTS_EXPIRED);
		slots_leave(s, place);
	}
	find_earliest(s);
}

int64_t slots_earliest_ns(struct slots *s)
{
	if (!s->earliest_exact)
		find_earliest(s);
	return s->earliest_ns;
}

/* Behind the last one of this rank and above. */
static unsigned int place_behind(struct slots *s, uint64_t rank)
{
	unsigned int low = 0, high = s->waiting_n;

	while (low < high) {
		const unsigned int middle = (low + high) / 2;

		if (s->rank[slots_place(s, middle)->row] <= rank)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void find_key(const struct slots_row *row, const struct frame *frame, uint64_t *key, uint64_t *key_mask)
{
	const unsigned int len = frame_data_len(frame);

	*key = *key_mask = 0;
	for (unsigned int i = 0; i < FRAME_DATA_MAX && i < len; i++) {
		*key_mask |= (uint64_t)row->key[i] << 8 * i;
		*key |= (uint64_t)(frame->data[i] & row->key[i]) << 8 * i;
	}
}

/* A frame that waits for the same purpose, or NULL. */
static struct slots_waiting *find_same(struct slots *s, unsigned int row, unsigned int behind, uint64_t key,
				       uint64_t mask)
{
	for (unsigned int place = behind; place-- > 0;) {
		struct slots_waiting *w = slots_place(s, place);

		if (s->rank[w->row] != s->rank[row])
			break;
		if (w->row == row && w->key == key && w->key_mask == mask)
			return w;
	}
	return NULL;
}

int slots_put(struct slots *s, unsigned int row, const struct frame *frame, int64_t now_ns)
{
	struct slots_waiting *w = NULL;
	uint64_t key, key_mask;
	int64_t deadline_ns;
	unsigned int behind;
	enum slots_class class;

	if (row >= s->rows_n || frame->id != s->rows[row].id || !frame_valid(frame))
		return -EINVAL;
	s->taken = -1;
	slots_expire(s, now_ns);
	class = class_of(s, row);
	behind = place_behind(s, s->rank[row]);
	find_key(&s->rows[row], frame, &key, &key_mask);
	if (class < SLOTS_COMMAND)
		w = find_same(s, row, behind, key, key_mask);
	if (w) {
		s->counts.replaced++;
		forget_deadline(s, (unsigned int)(w - s->waiting));
	} else if (s->waiting_of[class] == class_max[class]) {
		s->counts.no_room++;
		return -ENOSPC;
	} else {
		w = enter(s, behind, row);
		if (class == SLOTS_URGENT)
			s->retry_ns = 0;
	}
	*w = (struct slots_waiting){ row, key, key_mask, *frame };
	deadline_ns = now_ns + slots_deadline_ns(s, row);
	s->deadlines_ns[w - s->waiting] = deadline_ns;
	if (deadline_ns <= s->earliest_ns) {
		s->earliest_ns = deadline_ns;
		s->earliest_exact = true;
	}
	s->counts.put++;
	return 0;
}

void slots_cancel(struct slots *s, unsigned int row)
{
	s->taken = -1;
	for (unsigned int place = s->waiting_n; place-- > 0;) {
		const unsigned int of = slots_place(s, place)->row;

		if (row == SLOTS_ALL ? class_of(s, of) == SLOTS_URGENT : of != row)
			continue;
		slots_leave(s, place);
		s->counts.cancelled++;
	}
}
