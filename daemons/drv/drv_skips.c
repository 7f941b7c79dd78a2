/* drv_skips.c: see drv_skips.h. */
#include "daemons/drv/drv_skips.h"

#define HALF 500
#define MANY 20 /* fewer are a start, or one pause, which is reported by itself */
#define SHARE 5 /* many are a fifth: with less a device is still asked and heard in time */

void drv_skips_add(struct drv_skips *s, uint64_t skipped)
{
	const unsigned int n = (unsigned int)(skipped < 2 * HALF ? skipped : 2 * HALF);

	if (s->cycles[1] + n >= HALF) {
		s->cycles[0] = s->cycles[1];
		s->skipped[0] = s->skipped[1];
		s->cycles[1] = s->skipped[1] = 0;
	}
	s->cycles[1] += n + 1;
	s->skipped[1] += n;
}

bool drv_skips_many(const struct drv_skips *s)
{
	const unsigned int skipped = s->skipped[0] + s->skipped[1];

	return skipped >= MANY && skipped * SHARE >= s->cycles[0] + s->cycles[1];
}

const char *drv_skips_text(const struct drv_skips *s, char text[DRV_SKIPS_TEXT_MAX])
{
	*text = '\0';
	if (drv_skips_many(s))
		snprintf(text, DRV_SKIPS_TEXT_MAX, "; this machine skipped %u of the last %u cycles",
			 s->skipped[0] + s->skipped[1], s->cycles[0] + s->cycles[1]);
	return text;
}

bool drv_skips_explain(const char *code)
{
	static const char *const codes[] = { "silent", "stale", "unanswered", "no-" };

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (!strncmp(code, codes[i], strlen(codes[i])))
			return true;
	return false;
}
