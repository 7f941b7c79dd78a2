/* hubod_missed.c: replies that did not come within their cycle, and who lost them.
 *	unsent	their request was not on the wire within the cycle: this process was late, the bus was full or dead, or
 *		the reply that the request waits for did not come
 *	late	they were on the wire, after the end of their cycle
 *	lost	their request was on the wire, and they never were: a board, or the wire, lost them
 */
#include "daemons/hubo-daemon/hubod.h"

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

void hubod_missed(struct hubod *h, unsigned int row)
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
