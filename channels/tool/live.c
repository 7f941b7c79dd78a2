/* live.c: does a live robot listen to that channel? */
#include <string.h>

#include "channels/ach_file.h"
#include "channels/tool/live.h"
#include "channels/tool/look.h"

static bool ends_with(const char *name, const char *end)
{
	size_t len = strlen(name), n = strlen(end);

	return len >= n && !strcmp(name + len - n, end);
}

/* Is somebody alive who writes it? */
static bool speaks(const char *name)
{
	ach_channel_t chan;
	enum ach_status status = ach_open(&chan, name, NULL);
	struct look look;
	int64_t age_ns;

	if (status != ACH_OK)
		return status != ACH_ENOENT && status != ACH_INVALID_NAME;
	look_at(&look, &chan);
	ach_close(&chan);
	if (look.status != ACH_OK)
		return true;
	if (!look.seq)
		return false;
	age_ns = look.type && !(look.header.flags & MSG_FLAG_REPLAYED) ? look_age_ns(&look) : -1;
	return look_alive(look.writer) || (age_ns >= 0 && age_ns < LIVE_NS);
}

/* A channel of the robot on which len bytes of prefix are those of the e-stop. */
static bool any_speaks(const char *prefix, size_t len, char by[ACH_CHAN_NAME_MAX])
{
	DIR *folder = ach_file_list();
	const char *name;
	bool found = false;

	while (folder && !found && (name = ach_file_next(folder))) {
		if (strncmp(name, prefix, len) != 0 ||
		    !(ends_with(name, "-state") || ends_with(name, "-event") || !strcmp(name + len, "clock")))
			continue;
		found = speaks(name);
		snprintf(by, ACH_CHAN_NAME_MAX, "%s", name);
	}
	if (folder)
		closedir(folder);
	return found;
}

bool live_listens(const char *channel, char by[ACH_CHAN_NAME_MAX])
{
	static const char *const estops[] = { "estop", "estop-b" }, *const inputs[] = { "-ref", "-req" };
	static const char *const outputs[] = { "-state", "-event" };
	size_t len = strlen(channel);

	for (size_t i = 0; i < 2; i++)
		if (ends_with(channel, estops[i]))
			return any_speaks(channel, len - strlen(estops[i]), by);
	for (size_t i = 0; i < 2; i++) {
		if (!ends_with(channel, inputs[i]))
			continue;
		for (size_t k = 0; k < 2; k++) {
			snprintf(by, ACH_CHAN_NAME_MAX, "%.*s%s", (int)(len - strlen(inputs[i])), channel, outputs[k]);
			if (speaks(by))
				return true;
		}
	}
	return false;
}
