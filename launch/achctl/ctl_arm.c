/* ctl_arm.c: achctl arm: asks achstart to lower the level to run.
 *
 * achstart answers when every driver has taken the lowering, or with the reason why the robot is not armed.  A raise
 * since achctl was started is a reason to refuse.  On a real bus the checks of achdoctor come first.
 */
#include "launch/achctl/ctl.h"
#include "launch/achdoctor/prearm.h"
#include "launch/view/estop_raise.h"

/* Without an answer the robot may be armed, now or in a moment: raise the level before giving up. */
static int no_answer(const struct ctl_line *line, const char *who, const char *why)
{
	static struct estop_raise raise;

	if (estop_raise_all(&raise, MSG_LEVEL_ESTOP, who, "achstart has not answered achctl arm"))
		return ctl_fail(line, EXIT_RETRY, "not armed, level estop is raised: %s", why);
	if (!*raise.behind)
		return ctl_fail(line, EXIT_RETRY, "%s; NOT CONFIRMED: level estop, which cannot be raised: %s", why,
				raise.lines.text);
	return ctl_fail(line, EXIT_RETRY, "%s; NOT CONFIRMED: level estop, which %s not show: %s", why,
			strchr(raise.behind, ',') ? "these drivers do" : "this driver does", raise.behind);
}

int ctl_armed(const struct ctl_line *line, const char *who, uint64_t epoch, uint64_t taken)
{
	struct json j;

	if (!ctl_json(line, &j))
		return ctl_done(line, "armed: level run, epoch %llu, by %s; taken by %llu driver%s",
				(unsigned long long)epoch, who, (unsigned long long)taken, taken == 1 ? "" : "s");
	json_text(&j, "level", "run");
	json_uint(&j, "epoch", epoch);
	json_uint(&j, "taken", taken);
	return ctl_json_end(&j);
}

static int answered(const struct ctl_line *line, const struct control_call *ask, const char *who)
{
	const struct yaml_node *root = yaml_root(ask->doc), *node = yaml_find(root, "epoch");
	int64_t epoch, taken = 0;

	if (!ask->ok)
		return ctl_fail(line, CTL_NO, "refused: %s", ask->error);
	if (!node || yaml_int(node, &epoch))
		return ctl_fail(line, EXIT_RETRY, "the answer of achstart has no epoch: is it of another version?");
	node = yaml_find(root, "taken");
	if (node)
		yaml_int(node, &taken);
	return ctl_armed(line, who, (uint64_t)epoch, (uint64_t)taken);
}

/* What achdoctor(1) finds before a robot on a real bus is armed (prearm.h).  0, or CTL_NO after a line for each check
 * that fails. */
static int fails_doctor(const struct ctl_line *line, const struct status *robot)
{
	static struct doctor_report report;
	struct lines all;

	if (!prearm_is_needed(robot))
		return 0;
	lines_begin(&all);
	prearm_examine(robot, &report);
	for (size_t i = 0; i < report.n; i++) {
		const struct doctor_finding *f = &report.at[i];

		if (f->verdict != DOCTOR_FAIL)
			continue;
		error_add(&all.sink, "%s: %s%s%s", f->part, f->found, *f->mend ? ": " : "", f->mend);
		if (!line->json)
			ctl_fail(line, CTL_NO, "refused: %s: %s%s%s", f->part, f->found, *f->mend ? ": " : "", f->mend);
	}
	if (all.sink.count && line->json)
		ctl_fail(line, CTL_NO, "refused: %s", all.text);
	return all.sink.count ? CTL_NO : 0;
}

/* Is the machine fit?  0, or the exit status after a line. */
static int examine(const struct ctl_line *line, const char *who, int64_t until_ns)
{
	static struct status robot;
	struct lines why;
	struct control_call ask;
	int status = control_call_for(&ask, (const char *const[]){ "status", NULL }, until_ns, lines_begin(&why));

	if (status)
		return control_call_did_not_arrive(status) ? ctl_fail(line, EXIT_RETRY, "%s", why.text)
							   : no_answer(line, who, why.text);
	if (ask.ok) { /* if not, arm will be refused, too */
		status_read(&robot, yaml_root(ask.doc));
		status = fails_doctor(line, &robot);
	}
	control_call_end(&ask);
	return status;
}

static int arm(const struct ctl_line *line, struct estop *estop)
{
	struct estop_seen seen;
	char who[CTL_WHO_MAX];
	struct lines why;
	int64_t until_ns;
	struct control_call_arm words;
	struct control_call ask;
	int status;

	ctl_who(line, who);
	estop_read(estop, clock_now_ns());
	seen = estop_seen(estop);
	status = examine(line, who, clock_now_ns() + line->within_ns);
	if (status)
		return status;
	until_ns = clock_now_ns() + line->within_ns;
	for (;;) {
		status = control_call_for(&ask, control_call_arm(&words, who, &seen), until_ns, lines_begin(&why));
		if (control_call_did_not_arrive(status))
			return ctl_fail(line, EXIT_RETRY, "%s", why.text); /* it was not asked */
		if (status)
			return no_answer(line, who, why.text);
		if (ask.ok || clock_now_ns() >= until_ns || !robot_level_only_copied(estop, &seen))
			break;
		control_call_end(&ask);
	}
	status = answered(line, &ask, who);
	control_call_end(&ask);
	return status;
}

int ctl_arm(const struct ctl_line *line)
{
	static struct estop estop;
	int status;

	if (line->unsupervised)
		return ctl_unsupervised(line);
	robot_level_open(&estop, false, &(struct error_sink){ 0 });
	status = arm(line, &estop);
	estop_close(&estop);
	return status;
}
