/* vt_core.c: whose turn it is on the virtual clock. */
#include "channels/clock/vt_core.h"

/* When this slot wants a turn; VT_NEVER: not by itself. */
static int64_t wants_ns(const struct vt_view *view, int slot, int64_t now_ns)
{
	const int64_t from_ns = view->dirty & vt_bit(slot) ? now_ns : view->deadline_ns[slot];

	return from_ns > view->floor_ns[slot] ? from_ns : view->floor_ns[slot];
}

/* The slots whose time has come, and in *next_ns the earliest time of the others. */
static uint64_t due(const struct vt_view *view, int64_t now_ns, int64_t *next_ns)
{
	uint64_t slots = 0;

	*next_ns = VT_NEVER;
	for (uint64_t left = view->live & ~view->held; left; left &= left - 1) {
		const int slot = __builtin_ctzll(left);
		const int64_t at_ns = wants_ns(view, slot, now_ns);

		if (at_ns <= now_ns)
			slots |= vt_bit(slot);
		else if (at_ns < *next_ns)
			*next_ns = at_ns;
	}
	return slots;
}

struct vt_core vt_core_next(struct vt_core core, const struct vt_view *view, int *who)
{
	int64_t next_ns;

	for (;;) {
		core.round &= view->live & ~view->held;
		while (core.round) {
			*who = __builtin_ctzll(core.round);
			core.round &= core.round - 1;
			if (view->floor_ns[*who] > core.now_ns)
				continue; /* since the round was made; it is still marked or due */
			core.turns++;
			return core;
		}
		core.round = due(view, core.now_ns, &next_ns);
		if (core.round) {
			core.rounds++;
			core.rounds_here++;
			continue;
		}
		if (next_ns == VT_NEVER || next_ns > view->limit_ns) {
			*who = VT_COORDINATOR;
			return core;
		}
		core.now_ns = next_ns;
		core.instants++;
		core.rounds_here = 0;
	}
}
