/* launch_mux.c: which references a refmuxd reads and writes, as its settings in the robot file say. */
#include <string.h>

#include "launch/file/launch_inside.h"

/* "joy:50ms,control": what is not valid is reported by the daemon's own check. */
static void add_sources(struct launch_mux *mux, const char *text)
{
	for (const char *end; *(text += strspn(text, ", ")); text = end) {
		char *name = mux->sources[mux->n];

		end = text + strcspn(text, ", ");
		if (mux->n == MSG_SOURCES)
			return;
		snprintf(name, TEXT_NAME_MAX + 1, "%.*s", (int)strcspn(text, ":, "), text);
		mux->n += text_is_name(name);
	}
}

bool launch_mux(const struct launch_daemon *daemon, struct launch_mux *mux)
{
	const struct yaml_node *output, *sources, *one = NULL;

	*mux = (struct launch_mux){ 0 };
	if (!daemon->wanted || !daemon->device || strcmp(daemon->device->driver, "refmuxd") != 0)
		return false;
	output = yaml_find(daemon->device->settings, "output");
	if (!output || output->kind != YAML_TEXT || !text_is_name(output->text))
		return false;
	mux->output = output->text;
	sources = launch_given(yaml_find(daemon->device->settings, "sources"));
	while ((one = launch_next(sources, one)))
		if (one->kind == YAML_TEXT)
			add_sources(mux, one->text);
	return true;
}

bool launch_is_muxed(const struct launch *launch, const struct robot_device *device)
{
	struct launch_mux mux;

	for (size_t i = 0; i < launch->daemons_n; i++)
		if (launch_mux(&launch->daemons[i], &mux) && !strcmp(mux.output, device->name))
			return true;
	return false;
}
