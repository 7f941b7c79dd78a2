/* hubod_missed.c: replies that did not come within their cycle, and why.
 *	unsent	their request was not on the wire within the cycle: this process was late, the bus was full or dead, or
 *		the reply that the request waits for did not come
 *	late	they were on the wire, after the end of their cycle
 *	lost	their request was on the wire, and they never were: a board, or the wire, lost them
 */
#include "daemons/hubo/hubod.h"

#define OWED_CYCLES 200 /* a reply that is later than that is not one that was missed */

void hubod_missed_ask(struct hubod *h, unsigned int row)
{
	if (row < HUBOD_SENDS_MAX)
		h->asked[row].sent_ns = 0;
}

void hubod_missed_sent(struct hubod *h, unsigned int row, int64_t t_ns)
{
	if (row < HUBOD_SENDS_MAX)
		h->asked[row].sent_ns = t_ns;
}

/* The cycle is over without its reply. */
static void missed(struct hubod *h, unsigned int row)
{
	struct hubod_asked *a = &h->asked[row < HUBOD_SENDS_MAX ? row : 0];

	h->missed.all++;
	if (!a->sent_ns) {
		h->missed.unsent++;
		return;
	}
	h->missed.lost++; /* until it comes after all */
	a->owed++;
	a->owed_cycle = h->cycle.now;
}

void hubod_missed_reply(struct hubod *h, unsigned int row, int64_t t_ns, bool due)
{
	struct hubod_asked *a = &h->asked[row < HUBOD_SENDS_MAX ? row : 0];

	if (h->cycle.now - a->owed_cycle > OWED_CYCLES)
		a->owed = 0;
	/* Is it the reply to the request of this cycle? */
	if (!a->owed || (due && a->sent_ns && t_ns >= a->sent_ns))
		return;
	a->owed--;
	h->missed.lost--;
	h->missed.late++;
}

static void report_silence(struct hubod *h, struct drv *drv, struct hubod_board *b, int64_t now_ns)
{
	const int64_t since_ns = b->heard_ns ? b->heard_ns : h->start_ns;
	const int64_t paused_ns = drv_paused_ns(drv, b->bus, since_ns);
	const bool silent = now_ns - since_ns - paused_ns > h->settings.silent_after_ns && (h->up || b->heard_ns);
	const unsigned int joint = hubod_first_joint(b);

	if (silent && !b->silent)
		drv_fault(drv, joint, "silent", "%s (%s ...) has not replied for %lld ms", b->table->name,
			  hubo_joint_name((int)joint), (long long)((now_ns - since_ns) / 1000000));
	else if (!silent && b->silent)
		drv_fault_clear(drv, joint, "silent");
	if (silent && !b->silent) /* perhaps another one comes back */
		hubod_board_param_forget(h, (unsigned int)(b - h->boards));
	b->silent = silent;
	b->status_known &= !silent; /* what it is like when it is back has to be heard first */
}

void hubod_account(struct hubod *h, struct drv *drv, int64_t now_ns)
{
	for (struct hubod_board *b = h->boards; b < h->boards + h->boards_n; b++) {
		if (!b->active)
			continue;
		if (b->asked_ns) {
			b->kept = b->due ? 0 : b->kept + 1;
			b->missed += b->due && h->up;
			if (b->due && h->up)
				missed(h, b->encoder[!(b->due & 1)]);
		}
		report_silence(h, drv, b, now_ns);
	}
	for (struct hubod_sensor *s = h->sensors; s < h->sensors + HUBO_SENSORS && h->up; s++) {
		s->missed += s->force_due + s->tilt_due;
		if (s->force_due)
			missed(h, (unsigned int)s->ask_force);
		if (s->tilt_due)
			missed(h, (unsigned int)s->ask_tilt);
	}
	if (h->power_due && h->up)
		missed(h, (unsigned int)h->ask_power);
}
