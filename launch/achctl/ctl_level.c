/* ctl_level.c: achctl hold and estop: raise the level, on the channels themselves.
 *
 * Nothing but the channels is needed, so nothing else is looked at: no $RUN, no achstart, no names of users.  A
 * channel whose lock somebody holds is left after 2 ms for the other one, which is enough: the higher of the two
 * counts.
 */
#include <errno.h>
#include <string.h>

#include "channels/clock.h"
#include "launch/achctl/ctl.h"
#include "launch/achstart/arm.h"

#define AGAIN_NS 5000000
#define GIVE_UP_NS 2000000000

static int no_channel(const struct ctl_line *line, const struct arm *arm, const char *why)
{
	if (!arm->open[0] && !arm->open[1])
		return ctl_fail(line, CTL_WORLD, "NOT RAISED: no robot is up here (%s)", why);
	return ctl_fail(line, CTL_WORLD, "NOT RAISED: %s", why);
}

static int raise_level(const struct ctl_line *line, enum msg_level level)
{
	const int64_t until_ns = clock_now_ns() + GIVE_UP_NS;
	char who[CTL_WHO_MAX], usual[32], members[64];
	struct ctl_lines lines;
	struct arm arm;
	int status;

	ctl_who(line, who);
	snprintf(usual, sizeof(usual), "achctl %s", msg_level_word(level));
	arm_open(&arm, false, (gid_t)-1, ctl_lines(&lines));
	for (;;) {
		/* For the epoch, which an unreadable channel does not tell: a raise counts whatever its epoch. */
		arm_read(&arm, &(struct error_sink){ 0 });
		status = arm_raise(&arm, level, who, line->why ? line->why : usual, ctl_lines(&lines));
		if (!status || (!arm.open[0] && !arm.open[1]) || clock_now_ns() >= until_ns)
			break;
		clock_wait(NULL, 0, clock_now_ns() + AGAIN_NS);
	}
	if (status) {
		status = no_channel(line, &arm, lines.text);
		arm_close(&arm);
		return status;
	}
	if (lines.sink.count)
		ctl_warn(line, "%s; the other channel has it, which is enough", lines.text);
	arm_read(&arm, &(struct error_sink){ 0 });
	snprintf(members, sizeof(members), "\"level\":\"%s\",\"epoch\":%llu", msg_level_word(arm.level),
		 (unsigned long long)arm.epoch);
	status = ctl_done(line, members, "level %s, epoch %llu, by %s", msg_level_word(arm.level),
			  (unsigned long long)arm.epoch, who);
	arm_close(&arm);
	return status;
}

int ctl_hold(const struct ctl_line *line, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return raise_level(line, MSG_LEVEL_HOLD);
}

int ctl_estop(const struct ctl_line *line, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return raise_level(line, MSG_LEVEL_ESTOP);
}
