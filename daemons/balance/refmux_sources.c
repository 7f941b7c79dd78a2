/* refmux_sources.c: the setting sources of refmuxd. */
#include "config/base/base.h"
#include "daemons/drv/refmux.h"

static const char form[] = "1 to 8 names, each once, by priority: [joy:50ms, control]";

/* "joy" or "joy:50ms", of len bytes. */
static bool parse_one(struct refmux_source *to, const char *text, size_t len)
{
	char one[2 * TEXT_NAME_MAX], *colon;

	if (len >= sizeof(one))
		return false;
	memcpy(one, text, len);
	one[len] = 0;
	colon = strchr(one, ':');
	if (colon)
		*colon = 0;
	if (!text_is_name(one) || (colon && (text_duration(colon + 1, &to->timeout_ns) || to->timeout_ns <= 0)))
		return false;
	memcpy(to->name, one, strlen(one) + 1);
	return true;
}

static bool is_twice(const struct refmux_source *sources, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (!strcmp(sources[i].name, sources[n].name))
			return true;
	return false;
}

const char *refmux_sources(struct refmux *mux, const char *text)
{
	struct refmux_source found[MSG_SOURCES] = { 0 };
	unsigned int n = 0;

	for (const char *end; *(text += strspn(text, ", ")); text = end) {
		end = text + strcspn(text, ", ");
		if (n == MSG_SOURCES || !parse_one(&found[n], text, (size_t)(end - text)) || is_twice(found, n))
			return form;
		n++;
	}
	if (mux)
		memcpy(mux->sources, found, sizeof(found));
	if (mux)
		mux->n = n;
	return n ? NULL : form;
}
