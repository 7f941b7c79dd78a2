/* drv_ask.c: which reply belongs to which request.  Checked: covered. */
#include "config/base/base.h"
#include "daemons/drv/drv_ask.h"

#include "can/slots/slots.h"

#define EARLY_MAX SLOTS_IN_FLIGHT_MAX

/* ---- keys ---- */

/* The bytes that are repeated, of the request or of the reply; false: too short for them, or not a request. */
static bool key_of(const struct drv_question *q, const struct frame *frame, bool reply, uint64_t *key)
{
	const unsigned int len = frame_data_len(frame);
	uint64_t bytes = 0;

	if (!reply && q->only.mask && (q->only.at >= len || (frame->data[q->only.at] & q->only.mask) != q->only.value))
		return false;
	for (unsigned int i = 0; i < DRV_ASK_ECHOES_MAX && q->echo[i].mask; i++) {
		const unsigned int at = reply ? q->echo[i].reply : q->echo[i].request;

		if (at >= len)
			return false;
		bytes = bytes << 8 | (frame->data[at] & q->echo[i].mask);
	}
	*key = bytes;
	return true;
}

static struct drv_ask_entry *find(struct drv_ask *a, unsigned int question, uint64_t key)
{
	for (uint16_t i = a->questions[question].first; i; i = a->entries[i - 1].next)
		if (a->entries[i - 1].key == key)
			return &a->entries[i - 1];
	return NULL;
}

static unsigned int replies_of(const struct drv_question *q)
{
	return q->replies ? q->replies : 1;
}

/* ---- entries ---- */

static void due_at(struct drv_ask *a, struct drv_ask_entry *e, int64_t due_ns)
{
	e->due_ns = due_ns;
	if (due_ns < a->next_ns)
		a->next_ns = due_ns;
	if (due_ns < a->soonest_ns)
		a->soonest_ns = due_ns;
}

static struct drv_ask_entry *take(struct drv_ask *a, unsigned int question, uint64_t key)
{
	struct drv_ask_entry *e = find(a, question, key);
	uint16_t place = a->free;

	if (e)
		return e;
	if (place)
		a->free = a->entries[place - 1].next;
	else if (a->entries_n < DRV_ASK_MAX)
		place = (uint16_t)++a->entries_n;
	else
		return NULL;
	e = &a->entries[place - 1];
	*e = (struct drv_ask_entry){
		.question = (uint16_t)question,
		.next = a->questions[question].first,
		.key = key,
	};
	a->questions[question].first = place;
	return e;
}

static void give_back(struct drv_ask *a, struct drv_ask_entry *e)
{
	const uint16_t place = (uint16_t)(e - a->entries + 1);
	uint16_t *link = &a->questions[e->question].first;

	while (*link != place)
		link = &a->entries[*link - 1].next;
	*link = e->next;
	e->phase = DRV_ASK_FREE;
	e->next = a->free;
	a->free = place;
}

/* The entry stays for lost_ns from then on if something of it may still come. */
static void settle_from(struct drv_ask *a, struct drv_ask_entry *e, int64_t from_ns)
{
	e->phase = DRV_ASK_OVER;
	if (e->expected || e->unsure || e->early)
		due_at(a, e, from_ns + a->questions[e->question].row.lost_ns);
	else
		give_back(a, e);
}

/* It is answered, or will not be. */
static void settle(struct drv_ask *a, struct drv_ask_entry *e)
{
	settle_from(a, e, e->since_ns);
}

/* Late is lost: the next one may be asked at once.  What has not left is remembered for as long again, so that it is
 * not taken for the next one. */
static void lose(struct drv_ask *a, struct drv_ask_entry *e)
{
	e->expected = 0;
	settle_from(a, e, e->due_ns);
}

static void fail(struct drv_ask *a, struct drv_ask_entry *e)
{
	e->phase = DRV_ASK_FAILED;
	due_at(a, e, INT64_MIN);
}

static void fill_answer(const struct drv_ask *a, const struct drv_ask_entry *e, struct drv_ask_answer *answer)
{
	*answer = (struct drv_ask_answer){
		.question = e->question,
		.tag = e->tag,
		.request = e->request,
		.asked_ns = e->asked_ns,
		.tries = e->tries,
		.left = e->left,
		.entry = (unsigned int)(e - a->entries),
	};
}

/* ---- asking ---- */

int drv_ask_add(struct drv_ask *a, const struct drv_question *question)
{
	const unsigned int number = a->questions_n;

	if (question->send >= DRV_ASK_ROWS_MAX || question->receive >= DRV_ASK_ROWS_MAX || a->by_send[question->send] ||
	    question->late_ns <= 0 || question->lost_ns < question->late_ns)
		return -EINVAL;
	if (number == DRV_ASK_QUESTIONS_MAX)
		return -ENOSPC;
	if (!number)
		a->next_ns = a->soonest_ns = INT64_MAX;
	a->questions[number].row = *question;
	a->questions[number].next = a->by_receive[question->receive];
	a->by_send[question->send] = a->by_receive[question->receive] = (uint16_t)++a->questions_n;
	return (int)number;
}

int drv_ask_may(const struct drv_ask *a, unsigned int question, const struct frame *request)
{
	bool there = false;
	uint64_t key;

	if (question >= a->questions_n || !key_of(&a->questions[question].row, request, false, &key))
		return -EINVAL;
	for (uint16_t i = a->questions[question].first; i; i = a->entries[i - 1].next) {
		const struct drv_ask_entry *e = &a->entries[i - 1];

		/* Over, perhaps a confirmation is waited for. */
		if ((e->phase != DRV_ASK_OVER || e->expected) &&
		    (e->key == key || a->questions[question].row.exclusive))
			return -EBUSY;
		there |= e->key == key;
	}
	return there || a->free || a->entries_n < DRV_ASK_MAX ? 0 : -ENOSPC;
}

void drv_ask_again(struct drv_ask *a, unsigned int entry, bool handed, int64_t now_ns)
{
	struct drv_ask_entry *e = &a->entries[entry];
	const struct drv_question *q = &a->questions[e->question].row;

	if (!e->expected)
		e->asked_ns = now_ns;
	e->tries++;
	e->expected += handed ? replies_of(q) : 0;
	e->unsure += handed;
	e->left = replies_of(q);
	e->since_ns = now_ns;
	e->phase = DRV_ASK_ASKED;
	due_at(a, e, now_ns + q->late_ns);
}

void drv_ask_put(struct drv_ask *a, unsigned int question, const struct frame *request, uint32_t tag, int64_t now_ns)
{
	struct drv_ask_entry *e;
	uint64_t key;

	if (!key_of(&a->questions[question].row, request, false, &key) || !(e = take(a, question, key)))
		return;
	e->early += e->unsure;
	if (e->early > EARLY_MAX)
		e->early = EARLY_MAX;
	e->unsure = e->tries = 0;
	e->tag = tag;
	e->request = *request;
	drv_ask_again(a, (unsigned int)(e - a->entries), true, now_ns);
}

/* ---- what became of it ---- */

static struct drv_ask_entry *entry_of(struct drv_ask *a, unsigned int send, const struct frame *frame, bool make)
{
	const uint16_t question = send < DRV_ASK_ROWS_MAX ? a->by_send[send] : 0;
	uint64_t key;

	if (!question || !key_of(&a->questions[question - 1].row, frame, false, &key))
		return NULL;
	return make ? take(a, question - 1U, key) : find(a, question - 1U, key);
}

/* The confirmation, or the loss, of a request that was answered before. */
static bool passed_over(struct drv_ask_entry *e)
{
	if (!e->early)
		return false;
	e->early--;
	return true;
}

/* A request was held back by a stall until it was forgotten: one more reply will come, and if its successor is on the
 * wire, too, their replies cannot be distinguished. */
static void unexpected(struct drv_ask *a, struct drv_ask_entry *e, int64_t t_ns)
{
	const struct drv_question *q = &a->questions[e->question].row;

	if (!e->expected)
		e->asked_ns = t_ns;
	e->expected += replies_of(q);
	e->since_ns = t_ns;
	if (e->phase == DRV_ASK_ASKED) {
		e->tries = q->tries;
		fail(a, e);
	} else if (e->phase != DRV_ASK_FAILED) {
		settle(a, e);
	}
}

void drv_ask_sent(struct drv_ask *a, unsigned int send, const struct frame *frame, int64_t t_ns)
{
	struct drv_ask_entry *e = entry_of(a, send, frame, true);

	if (!e || passed_over(e))
		return;
	if (!e->unsure) {
		unexpected(a, e, t_ns);
		return;
	}
	e->unsure--;
	e->since_ns = t_ns;
	if (e->tries == 1)
		e->asked_ns = t_ns;
	if (e->phase == DRV_ASK_ASKED)
		due_at(a, e, t_ns + a->questions[e->question].row.late_ns);
	else if (e->phase == DRV_ASK_OVER)
		due_at(a, e, t_ns + a->questions[e->question].row.lost_ns);
}

void drv_ask_lost(struct drv_ask *a, unsigned int send, const struct frame *frame, bool perhaps_sent)
{
	struct drv_ask_entry *e = entry_of(a, send, frame, false);
	unsigned int replies;

	if (!e || passed_over(e) || !e->unsure)
		return;
	replies = replies_of(&a->questions[e->question].row);
	e->unsure--;
	if (!perhaps_sent)
		e->expected -= e->expected < replies ? e->expected : replies;
	if (e->phase == DRV_ASK_ASKED)
		fail(a, e);
}

/* ---- what comes ---- */

static enum drv_ask_what take_reply(struct drv_ask *a, struct drv_ask_entry *e, int64_t t_ns,
				    struct drv_ask_answer *answer)
{
	const struct drv_question *q = &a->questions[e->question].row;

	if (!e->expected || t_ns < e->asked_ns)
		return DRV_ASK_NOTHING;
	e->expected--;
	if (e->phase == DRV_ASK_ASKED &&
	    t_ns - e->since_ns - pauses_within_ns(&a->pauses, e->since_ns, t_ns) <= q->late_ns) {
		e->left--;
		fill_answer(a, e, answer);
		if (!e->left)
			settle(a, e);
		return DRV_ASK_ANSWER;
	}
	return DRV_ASK_LATE;
}

enum drv_ask_what drv_ask_reply(struct drv_ask *a, unsigned int receive, const struct frame *frame, int64_t t_ns,
				struct drv_ask_answer *answer)
{
	enum drv_ask_what what = DRV_ASK_NOTHING;
	uint16_t i = receive < DRV_ASK_ROWS_MAX ? a->by_receive[receive] : 0;

	for (; i && what == DRV_ASK_NOTHING; i = a->questions[i - 1].next) {
		struct drv_ask_entry *e = NULL;
		uint64_t key;

		if (a->questions[i - 1].first && key_of(&a->questions[i - 1].row, frame, true, &key))
			e = find(a, i - 1U, key);
		if (e)
			what = take_reply(a, e, t_ns, answer);
	}
	return what;
}

/* ---- time ---- */

static enum drv_ask_what expire(struct drv_ask *a, struct drv_ask_entry *e, struct drv_ask_answer *answer)
{
	const struct drv_question *q = &a->questions[e->question].row;

	if (e->phase == DRV_ASK_OVER) {
		give_back(a, e);
		return DRV_ASK_NOTHING;
	}
	fill_answer(a, e, answer);
	if (e->tries < q->tries)
		return DRV_ASK_AGAIN;
	if (e->phase == DRV_ASK_ASKED && q->lost_ns == q->late_ns)
		lose(a, e);
	else
		settle(a, e);
	return DRV_ASK_UNANSWERED;
}

void drv_ask_paused(struct drv_ask *a, int64_t from_ns, int64_t to_ns)
{
	pauses_add(&a->pauses, from_ns, to_ns);
}

enum drv_ask_what drv_ask_due(struct drv_ask *a, int64_t now_ns, struct drv_ask_answer *answer)
{
	if (now_ns <= a->next_ns)
		return DRV_ASK_NOTHING;
	if (!a->at)
		a->soonest_ns = INT64_MAX;
	while (a->at < a->entries_n) {
		struct drv_ask_entry *e = &a->entries[a->at++];
		enum drv_ask_what what = DRV_ASK_NOTHING;
		int64_t due_ns;

		if (e->phase == DRV_ASK_FREE)
			continue;
		due_ns = e->due_ns + pauses_within_ns(&a->pauses, e->since_ns, now_ns);
		if (now_ns > due_ns)
			what = expire(a, e, answer);
		else if (due_ns < a->soonest_ns)
			a->soonest_ns = due_ns;
		if (what != DRV_ASK_NOTHING)
			return what;
	}
	a->next_ns = a->soonest_ns;
	a->at = 0;
	return DRV_ASK_NOTHING;
}

int64_t drv_ask_next_ns(const struct drv_ask *a)
{
	return a->questions_n && a->next_ns < INT64_MAX ? a->next_ns + 1 : INT64_MAX;
}
