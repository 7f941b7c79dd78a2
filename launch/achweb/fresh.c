/* fresh.c: challenges of this process, and counts that were used. */
#include "launch/achweb/fresh.h"

bool fresh_is_due(const struct fresh *f, int64_t now_ns)
{
	return now_ns >= f->until_ns;
}

void fresh_renew(struct fresh *f, const uint8_t random[FRESH_RANDOM], int64_t now_ns)
{
	/* After a quiet time the last one has ended, too. */
	if (now_ns < f->until_ns + FRESH_NS)
		memcpy(f->before, f->now, sizeof(f->before));
	else
		*f->before = 0;
	proof_hex(f->now, random, FRESH_RANDOM);
	f->until_ns = now_ns + FRESH_NS;
	f->turn++;
}

bool fresh_has(const struct fresh *f, const char *challenge)
{
	return *challenge && (!strcmp(challenge, f->now) || !strcmp(challenge, f->before));
}

static struct fresh_window *find(struct fresh_window *windows, const char *client, uint64_t turn)
{
	for (size_t i = 0; i < FRESH_CLIENTS; i++)
		if (!strcmp(windows[i].client, client))
			return &windows[i];
	for (size_t i = 0; i < FRESH_CLIENTS; i++) {
		struct fresh_window *w = &windows[i];

		if (*w->client && turn < w->turn + 2)
			continue;
		memset(w, 0, sizeof(*w));
		memcpy(w->client, client, sizeof(w->client));
		return w;
	}
	return NULL;
}

enum fresh_taken fresh_take(struct fresh_window windows[FRESH_CLIENTS], const char *client, uint64_t count,
			    uint64_t turn)
{
	struct fresh_window *w = find(windows, client, turn);
	uint64_t back;

	if (!w)
		return FRESH_FULL;
	if (count > w->highest) {
		const uint64_t up = count - w->highest;

		w->used = up < FRESH_COUNTS ? w->used << up | 1 : 1;
		w->highest = count;
		w->turn = turn;
		return FRESH_TAKEN;
	}
	back = w->highest - count;
	if (!count || back >= FRESH_COUNTS || w->used >> back & 1)
		return FRESH_USED;
	w->used |= UINT32_C(1) << back;
	w->turn = turn;
	return FRESH_TAKEN;
}
