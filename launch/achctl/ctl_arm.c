/* ctl_arm.c: achctl arm: asks achstart to lower the level to run, and waits until the drivers have taken it.
 *
 * Whether they do is theirs to say: each tells the epoch it obeys.  A raise that achstart had not read makes the
 * lowering void, and one that follows it is a stop; both are reported as refused.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "launch/achctl/ask.h"
#include "launch/achctl/ctl.h"
#include "launch/achctl/judge.h"
#include "launch/achctl/view.h"

#define LOOK_NS 20000000

/* The first one that has not taken the epoch; NULL: all have. */
static const struct view_daemon *behind(const struct view *v, int64_t epoch, size_t *taken)
{
	const struct view_daemon *first = NULL;

	*taken = 0;
	for (size_t i = 0; i < v->daemons_n; i++) {
		const struct view_daemon *d = &v->daemons[i];

		if (!d->wanted || !d->ready || !*d->life)
			continue;
		if (d->epoch >= epoch && !strcmp(d->level, "run"))
			++*taken;
		else if (!first)
			first = d;
	}
	return first;
}

static int armed(const struct ctl_line *line, int64_t epoch, size_t taken, const char *who)
{
	char members[128];

	snprintf(members, sizeof(members), "\"level\":\"run\",\"epoch\":%lld,\"taken\":%zu", (long long)epoch, taken);
	return ctl_done(line, members, "armed: level run, epoch %lld, by %s; taken by %zu driver%s", (long long)epoch,
			who, taken, taken == 1 ? "" : "s");
}

static int raised(const struct ctl_line *line, const struct judge *j)
{
	return ctl_fail(line, CTL_NO, "refused: level %s, raised meanwhile by %s%s%s", msg_level_word(j->highest),
			*j->who ? j->who : "somebody", *j->why ? ": " : "", j->why);
}

static int wait_taken(const struct ctl_line *line, struct judge *j, int64_t epoch, const char *who)
{
	const int64_t until_ns = clock_now_ns() + line->within_ns;
	static struct view view;

	for (;;) {
		const struct view_daemon *late;
		struct ctl_lines why;
		struct ask ask;
		size_t taken;

		if (ask_for(&ask, (const char *const[]){ "status", NULL }, clock_now_ns() + ASK_WITHIN_NS,
			    ctl_lines(&why)))
			return ctl_fail(line, CTL_WORLD, "%s", why.text);
		view_read(&view, yaml_root(ask.doc));
		ask_end(&ask);
		judge_look(j);
		late = behind(&view, epoch, &taken);
		if (j->highest != MSG_LEVEL_RUN)
			return raised(line, j);
		if (!late)
			return armed(line, epoch, taken, who);
		if (clock_now_ns() >= until_ns)
			return ctl_fail(line, CTL_NO,
					"refused: %s has not taken epoch %lld within %g s: it is at %s, epoch %lld",
					late->name, (long long)epoch, (double)line->within_ns / 1e9, late->level,
					(long long)late->epoch);
		clock_wait(NULL, 0, clock_now_ns() + LOOK_NS);
	}
}

static int arm(const struct ctl_line *line, struct judge *j)
{
	const struct yaml_node *node;
	char who[CTL_WHO_MAX];
	struct ctl_lines why;
	struct ask ask;
	int64_t epoch;
	int status = 0;

	ctl_who(line, who);
	judge_look(j);
	judge_mark(j);
	if (ask_for(&ask, (const char *const[]){ "arm", who, NULL }, clock_now_ns() + ASK_WITHIN_NS, ctl_lines(&why)))
		return ctl_fail(line, CTL_WORLD, "%s", why.text);
	node = yaml_find(yaml_root(ask.doc), "epoch");
	if (!ask.ok)
		status = ctl_fail(line, CTL_NO, "refused: %s", ask.error);
	else if (!node || yaml_int(node, &epoch))
		status = ctl_fail(line, CTL_WORLD, "achstart does not say in which epoch: is it of another version?");
	ask_end(&ask);
	if (status)
		return status;
	return line->within_ns ? wait_taken(line, j, epoch, who) : armed(line, epoch, 0, who);
}

int ctl_arm(const struct ctl_line *line, int argc, char **argv)
{
	struct judge judge;
	int status = ctl_find_robot(line);

	(void)argc;
	(void)argv;
	if (status)
		return status;
	judge_open(&judge);
	status = arm(line, &judge);
	judge_close(&judge);
	return status;
}
