/* ctl_level.c: achctl hold and estop: raise the level, on the channels themselves.
 *
 * Nothing but the channels is needed: no achstart, no names of users.  Which channels, the folder of the robot says, if
 * there is one.  A channel whose lock somebody holds is left after 2 ms for the other one, which is enough: the higher
 * of the two counts.  Where it is in doubt which robot is meant, all are that may be.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "channels/clock.h"
#include "launch/achctl/ctl.h"
#include "launch/achctl/which.h"
#include "launch/achstart/arm.h"

#define AGAIN_NS 5000000
#define GIVE_UP_NS 2000000000

struct raise {
	enum msg_level level;
	char who[CTL_WHO_MAX];
	const char *why;
	struct target {
		const struct which_one *which;
		struct arm arm;
		bool done;
		struct ctl_lines lines; /* what is wrong, of a channel or of both */
	} at[WHICH_MAX];
	size_t n;
};

static bool is_absent(const struct target *t)
{
	return !t->arm.open[0] && !t->arm.open[1] && t->arm.status[0] == ACH_ENOENT && t->arm.status[1] == ACH_ENOENT;
}

static bool can_be_raised(const struct target *t)
{
	return t->arm.open[0] || t->arm.open[1];
}

static void use_channels(const struct target *t)
{
	setenv("ENDPLATE_PREFIX", t->which->prefix, 1);
}

static void try_once(const struct raise *r, struct target *t)
{
	use_channels(t);
	/* For the epoch, which an unreadable channel does not tell: a raise counts whatever its epoch. */
	arm_read(&t->arm, &(struct error_sink){ 0 });
	t->done = !arm_raise(&t->arm, r->level, r->who, r->why, ctl_lines(&t->lines));
}

/* Nobody waits for another's channels. */
static void try_all(struct raise *r)
{
	const int64_t until_ns = clock_now_ns() + GIVE_UP_NS;
	bool again = true;

	for (size_t i = 0; i < r->n; i++) {
		use_channels(&r->at[i]);
		arm_open(&r->at[i].arm, false, (gid_t)-1, &(struct error_sink){ 0 });
	}
	for (;;) {
		again = false;
		for (size_t i = 0; i < r->n; i++) {
			if (!r->at[i].done)
				try_once(r, &r->at[i]);
			again |= !r->at[i].done && can_be_raised(&r->at[i]);
		}
		if (!again || clock_now_ns() >= until_ns)
			return;
		clock_wait(NULL, 0, clock_now_ns() + AGAIN_NS);
	}
}

/* ---- what came of it ---- */

/* "t-estop of robot bench, b-estop" of those that are done. */
static size_t list(const struct raise *r, char *text, size_t size)
{
	size_t len = 0, n = 0;

	*text = 0;
	for (size_t i = 0; i < r->n && len < size; i++) {
		const struct which_one *w = r->at[i].which;

		if (r->at[i].done)
			len += (size_t)snprintf(text + len, size - len, "%s%sestop%s%s", n++ ? ", " : "", w->prefix,
						*w->robot ? " of robot " : "", w->robot);
	}
	return n;
}

static int not_raised(const struct ctl_line *line, const struct raise *r, const struct target *t)
{
	char others[200];
	const bool some = list(r, others, sizeof(others));

	return ctl_fail(line, CTL_WORLD, "NOT RAISED: %s%s%s%s%s%s", is_absent(t) ? "no robot is up here (" : "",
			t->lines.text, is_absent(t) ? ")" : "", some ? "; raised on " : "", others,
			some ? " only" : "");
}

static int raised(const struct ctl_line *line, const struct raise *r, const struct which *which)
{
	const struct target *t = r->at;
	char members[300], where[200];

	while (!t->done)
		t++;
	list(r, where, sizeof(where));
	if (*which->doubt)
		ctl_warn(line, "%s: raised on %s", which->doubt, where);
	snprintf(members, sizeof(members), "\"level\":\"%s\",\"epoch\":%llu%s%s%s", msg_level_word(t->arm.level),
		 (unsigned long long)t->arm.epoch, *which->doubt ? ",\"raised\":\"" : "", *which->doubt ? where : "",
		 *which->doubt ? "\"" : "");
	return ctl_done(line, members, "level %s, epoch %llu, by %s", msg_level_word(t->arm.level),
			(unsigned long long)t->arm.epoch, r->who);
}

/* One that is not there is no matter, if another is. */
static int tell(const struct ctl_line *line, struct raise *r, const struct which *which)
{
	const struct target *failed = NULL;
	size_t done = 0;

	for (size_t i = 0; i < r->n; i++) {
		struct target *t = &r->at[i];

		done += t->done;
		if (!t->done && (!failed || is_absent(failed)))
			failed = t;
		if (t->done && t->lines.sink.count)
			ctl_warn(line, "%s; the other channel has it, which is enough", t->lines.text);
		use_channels(t);
		arm_read(&t->arm, &(struct error_sink){ 0 });
	}
	if (failed && (!done || !is_absent(failed)))
		return not_raised(line, r, failed);
	return raised(line, r, which);
}

static int raise_level(const struct ctl_line *line, enum msg_level level)
{
	static struct which which;
	static struct raise raise;
	char usual[32];
	int status;

	raise.level = level;
	ctl_who(line, raise.who);
	snprintf(usual, sizeof(usual), "achctl %s", msg_level_word(level));
	raise.why = line->why ? line->why : usual;
	which_all(line, &which);
	for (raise.n = 0; raise.n < which.n; raise.n++)
		raise.at[raise.n].which = &which.one[raise.n];
	try_all(&raise);
	status = tell(line, &raise, &which);
	for (size_t i = 0; i < raise.n; i++)
		arm_close(&raise.at[i].arm);
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
