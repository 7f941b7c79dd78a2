/* ctl_status.c: achctl status: the status from achstart, or from the channels if achstart does not run. */
#include <sys/ioctl.h>

#include "launch/achctl/ctl.h"
#include "launch/achctl/status_print.h"
#include "launch/view/observe.h"

#define WIDTH_MIN 40
#define WIDTH_USUAL 80

static void print_view(const struct status *v)
{
	static struct table table;
	struct winsize size;
	const bool known = !ioctl(fileno(stdout), TIOCGWINSZ, &size) && size.ws_col;
	const size_t width = !known ? WIDTH_USUAL : size.ws_col < WIDTH_MIN ? WIDTH_MIN : size.ws_col;
	struct status_print_stream stream;

	status_print_stream(&stream, stdout, ctl_colour(stdout));
	status_print_robot(v, &stream.paint, width);
	status_print_clock(v, &stream.paint, width, SIZE_MAX);
	for (int i = 0; i < 2; i++) {
		(i ? status_print_buses : status_print_daemons)(v, &table);
		if (!table.rows_n)
			continue;
		putchar('\n');
		table_paint(&table, &stream.paint, width, SIZE_MAX, 0);
	}
}

static int without_achstart(const struct ctl_line *line, const char *why)
{
	static struct status view;
	struct robot_channels channels = { 0 };
	bool nothing;

	robot_channels_read(&channels);
	nothing = !observe_robot(&view, &channels) && !*view.level && !*view.why;
	robot_channels_close(&channels);
	observe_clock(&view, true);
	if (line->json) {
		struct json j = json_to(stdout);

		json_object(&j, NULL);
		json_bool(&j, "ok", false);
		json_text(&j, "error", why);
		json_bool(&j, "supervised", false);
		status_write(&view, &j);
		ctl_json_end(&j);
		return EXIT_RETRY;
	}
	if (!nothing)
		print_view(&view);
	return ctl_fail(line, EXIT_RETRY, "%s", why);
}

int ctl_status(const struct ctl_line *line)
{
	static struct status view;
	struct lines why;
	struct control_call ask;
	int status;

	if (control_call_for(&ask, (const char *const[]){ "status", NULL }, clock_now_ns() + CONTROL_CALL_WITHIN_NS,
			     lines_begin(&why)))
		return without_achstart(line, why.text);
	if (!ask.ok) {
		status = ctl_fail(line, CTL_NO, "refused: %s", ask.error);
	} else {
		status_read(&view, yaml_root(ask.doc));
		status = status_is_fine(&view) ? 0 : CTL_NO;
		if (line->json)
			puts(ask.text);
		else
			print_view(&view);
	}
	control_call_end(&ask);
	return status;
}
