/* ctl_unsupervised.c: achctl arm --unsupervised. */
#include <sys/stat.h>
#include <unistd.h>

#include "channels/estop/estop_lower.h"
#include "launch/achctl/ctl.h"
#include "launch/view/robot_channels.h"

#define LOOK_NS 5000000
#define QUIET_NS 30000000 /* a driver copies what it has read of estop-b to estop within this time */
#define NAME_MAX_BYTES 40

struct unsupervised {
	const struct ctl_line *line;
	struct estop estop;
	struct robot_channels channels;
	struct estop_seen seen;
	char who[CTL_WHO_MAX];
	int64_t until_ns; /* the lowering may be taken */
	uint64_t base, epoch;
	size_t taken;
	char behind[200];
};

/* ---- drivers ---- */

static void read_channels(struct unsupervised *a)
{
	robot_channels_read(&a->channels);
	estop_read(&a->estop, clock_now_ns());
}

static bool is_ready(const struct msg_common *state)
{
	return state->lifecycle == MSG_LIFE_DISARMED || state->lifecycle == MSG_LIFE_HOLDING ||
	       state->lifecycle == MSG_LIFE_ACTIVE; /* of a clock, always */
}

/* Counts the drivers.  behind: names of drivers that are not ready, or, with a base, that have not taken it. */
static size_t count(struct unsupervised *a, uint64_t base)
{
	size_t drivers = 0;

	*a->behind = 0;
	for (size_t i = 0; i < a->channels.n; i++) {
		const struct robot_channel *one = a->channels.at[i];
		const struct msg_common *state = &one->common;
		char name[NAME_MAX_BYTES];

		if (!robot_level_driver(&a->estop, one, name, sizeof(name), clock_now_ns()))
			continue;
		drivers++;
		if (base ? estop_lower_is_taken(state, a->estop.boot, a->seen.id[0], base) : is_ready(state))
			continue;
		lines_append(a->behind, sizeof(a->behind), ", ", "%s (%s)", name,
			     base ? msg_level_word(state->level) : msg_life_word(state->lifecycle));
	}
	return drivers;
}

/* ---- arming ---- */

/* Waits until the drivers have copied what was raised.  0, or the exit status: the level was raised since. */
static int wait_quiet(struct unsupervised *a)
{
	int64_t until_ns = clock_now_ns() + QUIET_NS;

	while (clock_now_ns() < until_ns) {
		const uint64_t before = a->seen.seq[0];
		struct estop_seen now;

		clock_wait(NULL, 0, clock_now_ns() + LOOK_NS);
		read_channels(a);
		now = estop_seen(&a->estop);
		if (!memcmp(&now, &a->seen, sizeof(now)))
			continue;
		if (!robot_level_only_copied(&a->estop, &a->seen))
			return ctl_fail(a->line, CTL_NO, "refused: level raised since%s%s%s%s",
					*a->estop.who ? " by " : "", a->estop.who, *a->estop.why ? ": " : "",
					a->estop.why);
		if (a->seen.seq[0] != before)
			until_ns = clock_now_ns() + QUIET_NS;
	}
	return 0;
}

static int lower(struct unsupervised *a)
{
	const struct epoch saved = epoch_read(), next = epoch_next(&saved, a->estop.epoch);
	char path[RUN_PATH_MAX];
	struct lines why;
	struct stat st;
	int status = 0;

	a->epoch = next.last;
	lines_begin(&why);
	if (!run_path(path, NULL, &(struct error_sink){ 0 }) && !stat(path, &st)) /* a robot may have no folder */
		status = epoch_write(&next, &why.sink);
	a->until_ns = clock_now_ns() + ESTOP_LOWER_NS;
	if (!status)
		status = estop_lower(&a->estop, &a->seen, MSG_LEVEL_RUN, a->until_ns, a->epoch, a->who, getuid(),
				     "armed", &a->base, &why.sink);
	return status ? ctl_fail(a->line, EXIT_RETRY, "%s", why.text) : 0;
}

/* A driver takes it in time or never, but publishes later that it has. */
static bool wait_taken(struct unsupervised *a)
{
	const int64_t give_up_ns = a->until_ns + a->line->within_ns;

	do {
		clock_wait(NULL, 0, clock_now_ns() + LOOK_NS);
		read_channels(a);
		a->taken = count(a, a->base);
		if (a->estop.rule.kept.base != a->base || a->estop.level != MSG_LEVEL_RUN)
			return false;
	} while (*a->behind && clock_now_ns() <= give_up_ns);
	return !*a->behind;
}

static int arm(struct unsupervised *a)
{
	int status;

	robot_level_read(&a->estop, &a->channels, clock_now_ns());
	a->seen = estop_seen(&a->estop);
	if (!count(a, 0))
		return ctl_fail(a->line, EXIT_RETRY, "no driver publishes a state here");
	if (*a->behind)
		return ctl_fail(a->line, CTL_NO, "refused: not ready: %s", a->behind);
	status = wait_quiet(a);
	if (!status)
		status = lower(a);
	if (status)
		return status;
	if (wait_taken(a))
		return ctl_armed(a->line, a->who, a->epoch, a->taken);
	estop_raise(&a->estop, MSG_LEVEL_ESTOP, a->who, getuid(), "an arm request was refused",
		    &(struct error_sink){ 0 });
	if (*a->behind)
		return ctl_fail(a->line, CTL_NO, "refused: not taken by %s", a->behind);
	return ctl_fail(a->line, CTL_NO, "refused: level %s, raised since: %s", msg_level_word(a->estop.level),
			a->estop.why);
}

int ctl_unsupervised(const struct ctl_line *line)
{
	static struct unsupervised a;
	struct lines why;
	const pid_t achstart = ctl_achstart(&(struct error_sink){ 0 });
	int status;

	if (achstart >= 0)
		return ctl_fail(line, CTL_NO,
				"refused: achstart, process %d, runs this robot: leave out --unsupervised",
				(int)achstart);
	a.line = line;
	ctl_who(line, a.who);
	robot_level_open(&a.estop, true, &(struct error_sink){ 0 });
	read_channels(&a);
	estop_mend(&a.estop, lines_begin(&why));
	if (a.estop.channel[0].open && a.estop.channel[1].open)
		status = arm(&a);
	else
		status = ctl_fail(line, EXIT_RETRY, "%s", why.text);
	robot_channels_close(&a.channels);
	estop_close(&a.estop);
	return status;
}
