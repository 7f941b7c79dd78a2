/* ctl_arm.c: achctl arm: asks achstart to lower the level to run, and waits until the drivers have taken it.
 *
 * Whether they do is theirs to say: each tells the epoch it obeys.  What is lowered is what had been raised when this
 * was called: any raise since makes the lowering void, and one that follows it is a stop; both are reported as refused.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "launch/achctl/ask.h"
#include "launch/achctl/ctl.h"
#include "launch/achctl/judge.h"
#include "launch/achctl/view.h"
#include "launch/achctl/which.h"

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

static int wait_taken(const struct ctl_line *line, struct judge *j, int64_t until_ns, int64_t epoch, const char *who)
{
	static struct view view;

	for (;;) {
		const struct view_daemon *late;
		struct ctl_lines why;
		struct ask ask;
		size_t taken;

		if (ask_for(&ask, (const char *const[]){ "status", NULL }, until_ns + ASK_GRACE_NS, ctl_lines(&why)))
			return ctl_fail(line, CTL_WORLD, "armed: epoch %lld, but %s", (long long)epoch, why.text);
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

/* What the operator has seen.  Of a channel that cannot be read that is nothing, and achstart refuses. */
static struct arm_seen look(void)
{
	struct error_sink quiet = { 0 };
	struct arm_seen seen;
	struct arm arm;

	arm_open(&arm, false, (gid_t)-1, &quiet);
	arm_read(&arm, &quiet);
	seen = arm.seen;
	arm_close(&arm);
	return seen;
}

static int ask_to_arm(struct ask *ask, const char *who, const struct arm_seen *seen, int64_t until_ns,
		      struct error_sink *errors)
{
	char words[4][24];

	for (int i = 0; i < 2; i++) {
		snprintf(words[2 * i], sizeof(words[0]), "%llu", (unsigned long long)seen->id[i]);
		snprintf(words[2 * i + 1], sizeof(words[0]), "%llu", (unsigned long long)seen->seq[i]);
	}
	return ask_for(ask, (const char *const[]){ "arm", who, words[0], words[1], words[2], words[3], NULL }, until_ns,
		       errors);
}

static int arm(const struct ctl_line *line, struct judge *j)
{
	const bool soon = line->within_ns && line->within_ns < ASK_WITHIN_NS;
	const int64_t begun_ns = clock_now_ns();
	const struct arm_seen seen = look();
	const struct yaml_node *node;
	char who[CTL_WHO_MAX];
	struct ctl_lines why;
	struct ask ask;
	int64_t epoch;
	int status = 0;

	ctl_who(line, who);
	judge_look(j);
	judge_mark(j);
	if (ask_to_arm(&ask, who, &seen, begun_ns + (soon ? line->within_ns : ASK_WITHIN_NS), ctl_lines(&why)))
		return ctl_fail(line, CTL_WORLD, "%s", why.text);
	node = yaml_find(yaml_root(ask.doc), "epoch");
	if (!ask.ok)
		status = ctl_fail(line, CTL_NO, "refused: %s", ask.error);
	else if (!node || yaml_int(node, &epoch))
		status = ctl_fail(line, CTL_WORLD, "achstart does not say in which epoch: is it of another version?");
	ask_end(&ask);
	if (status)
		return status;
	return line->within_ns ? wait_taken(line, j, begun_ns + line->within_ns, epoch, who)
			       : armed(line, epoch, 0, who);
}

int ctl_arm(const struct ctl_line *line, int argc, char **argv)
{
	struct judge judge;
	int status = which_robot(line);

	(void)argc;
	(void)argv;
	if (status)
		return status;
	judge_open(&judge);
	status = arm(line, &judge);
	judge_close(&judge);
	return status;
}
