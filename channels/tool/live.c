/* live.c: does a running robot read that channel? */
#include <string.h>

#include "channels/ach/ach_file.h"
#include "channels/rec/snapshot.h"
#include "channels/tool/live.h"
#include "channels/tool/tool.h"
#include "config/base/text.h"

/* Is its last writer alive? */
static bool is_live(const char *name)
{
	ach_channel_t chan;
	enum ach_status status = ach_open(&chan, name, NULL);
	struct snapshot snap;
	int64_t age_ns;

	if (status != ACH_OK)
		return status != ACH_ENOENT && status != ACH_INVALID_NAME;
	snapshot_take(&snap, &chan);
	ach_close(&chan);
	if (snap.status != ACH_OK)
		return true;
	if (!snap.seq)
		return false;
	age_ns = snap.type && !(snap.header.flags & MSG_FLAG_REPLAYED) ? snapshot_age_ns(&snap) : -1;
	return snapshot_alive(snap.writer) || (age_ns >= 0 && age_ns < LIVE_NS);
}

/* A channel of the robot on which len bytes of prefix are those of the e-stop. */
static bool any_is_live(const char *prefix, size_t len, char by[ACH_CHAN_NAME_MAX])
{
	DIR *folder = ach_file_list();
	const char *name;
	bool found = false;

	while (folder && !found && (name = ach_file_next(folder))) {
		if (strncmp(name, prefix, len) != 0 ||
		    !(text_ends_with(name, "-state") || text_ends_with(name, "-event") || !strcmp(name + len, "clock")))
			continue;
		found = is_live(name);
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
		if (text_ends_with(channel, estops[i]))
			return any_is_live(channel, len - strlen(estops[i]), by);
	for (size_t i = 0; i < 2; i++) {
		if (!text_ends_with(channel, inputs[i]))
			continue;
		for (size_t k = 0; k < 2; k++) {
			snprintf(by, ACH_CHAN_NAME_MAX, "%.*s%s", (int)(len - strlen(inputs[i])), channel, outputs[k]);
			if (is_live(by))
				return true;
		}
	}
	return false;
}
