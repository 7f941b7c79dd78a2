/* can_tool.c: see can_tool.h. */
#include <unistd.h>

#include "can/log/log.h"
#include "can/tool/can_tool.h"
#include "channels/clock/vt_observe.h"
#include "config/settings/program.h"

int can_tool_frame(int64_t t_ns, const char *bus, const struct frame *f)
{
	char line[LOG_WRITE_MAX];
	const size_t len = log_write_line(line, t_ns, bus, f);

	return fwrite(line, 1, len, stdout) == len ? 0 : -1;
}

int can_tool_robot(const char *robot, bool later)
{
	char clock[RUN_PATH_MAX];

	if (robot && run_robot(robot))
		return program_wrong("--robot: %s is not a valid name", robot);
	if (!run_path(clock, "clock", &(struct error_sink){ 0 }) && (later || !access(clock, F_OK)))
		vt_observe(clock); /* of a robot on a virtual clock */
	return 0;
}
