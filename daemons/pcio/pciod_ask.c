/* pciod_ask.c: which reply belongs to which request. */
#include "daemons/pcio/pciod_ask.h"

#define EARLY_MAX 2 /* as many as are in flight at a time */

static void give_up(struct pciod_ask *ask)
{
	ask->phase = PCIOD_ASK_OWED;
	ask->owed = 1;
	ask->unanswered = true;
}

bool pciod_ask_free(struct pciod_ask *ask, const struct pciod_ask_times *times, int64_t now_ns)
{
	int64_t age_ns = now_ns - ask->since_ns;

	if ((ask->phase == PCIOD_ASK_PUT || ask->phase == PCIOD_ASK_SENT) && age_ns > times->late_ns)
		give_up(ask);
	if (ask->phase == PCIOD_ASK_OWED && age_ns > times->lost_ns)
		ask->phase = PCIOD_ASK_FREE;
	return ask->phase == PCIOD_ASK_FREE;
}

void pciod_ask_put(struct pciod_ask *ask, int64_t now_ns)
{
	ask->phase = PCIOD_ASK_PUT;
	ask->since_ns = now_ns;
}

/* The echo of what was answered already. */
static bool passed_over(struct pciod_ask *ask)
{
	const bool early = ask->early;

	ask->early -= early;
	return early;
}

void pciod_ask_sent(struct pciod_ask *ask, int64_t t_ns)
{
	if (passed_over(ask))
		return;
	ask->since_ns = t_ns;
	switch (ask->phase) {
	case PCIOD_ASK_PUT:
		ask->phase = PCIOD_ASK_SENT;
		break;
	case PCIOD_ASK_FREE: /* a stall held it back for so long that it was given up */
		give_up(ask);
		break;
	case PCIOD_ASK_SENT: /* likewise, and its successor is out, too: their replies cannot be told apart */
		give_up(ask);
		ask->owed = 2;
		break;
	case PCIOD_ASK_OWED: /* given up before it was on the wire: the time counts from now */
		break;
	}
}

void pciod_ask_lost(struct pciod_ask *ask)
{
	if (!passed_over(ask) && ask->phase == PCIOD_ASK_PUT)
		give_up(ask);
}

bool pciod_ask_reply(struct pciod_ask *ask, const struct pciod_ask_times *times, int64_t t_ns)
{
	bool in_time = t_ns - ask->since_ns <= times->late_ns;

	if (t_ns < ask->since_ns)
		return false;
	switch (ask->phase) {
	case PCIOD_ASK_FREE:
		return false;
	case PCIOD_ASK_PUT:
		ask->early += ask->early < EARLY_MAX;
		__attribute__((fallthrough));
	case PCIOD_ASK_SENT:
		ask->phase = PCIOD_ASK_FREE;
		ask->unanswered = !in_time;
		return in_time;
	case PCIOD_ASK_OWED:
		if (--ask->owed == 0)
			ask->phase = PCIOD_ASK_FREE;
		return false;
	}
	return false;
}
