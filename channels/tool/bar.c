/* bar.c: a progress bar on the terminal. */
#include "channels/clock/clock.h"
#include "channels/tool/bar.h"
#include "channels/tool/tool.h"

#define AFTER_NS 2000000000 /* shorter runs have no bar */
#define EVERY_NS 200000000
#define CLEAR_NS 2000000   /* drawing takes time: draw only if nothing is due for this long, */
#define LATE_NS 1000000000 /* or if drawing was put off for this long */
#define WIDTH 30

void bar_start(struct bar *b, int64_t now_ns)
{
	b->began_ns = now_ns;
	b->next_ns = tool_is_terminal(stderr) ? now_ns + AFTER_NS : CLOCK_NEVER;
}

int64_t bar_next_ns(const struct bar *b)
{
	return b->next_ns;
}

void bar_draw(struct bar *b, uint64_t done, uint64_t count, int64_t now_ns, int64_t due_ns)
{
	double part = b->all ? (double)done / (double)b->all : 0;
	int filled = (int)(part * WIDTH);

	if (now_ns < b->next_ns || (due_ns - now_ns < CLEAR_NS && now_ns < b->next_ns + LATE_NS))
		return;
	b->next_ns = now_ns + EVERY_NS;
	b->drawn = true;
	fputc('\r', stderr);
	if (b->all)
		fprintf(stderr, "[%.*s%.*s] %3.0f %%  ", filled, "##############################", WIDTH - filled,
			"..............................", part * 100);
	fprintf(stderr, "%.1f s  %" PRIu64 " %s ", (double)(now_ns - b->began_ns) * 1e-9, count, b->unit);
	fflush(stderr);
}

void bar_clear(struct bar *b)
{
	if (b->drawn)
		fprintf(stderr, "\r\033[K");
	b->drawn = false;
}
