/* ctl_doctor.c: what achdoctor(1) finds before a robot on a real bus is armed (prearm.h). */
#include "launch/achctl/ctl.h"
#include "launch/achdoctor/prearm.h"

int ctl_doctor(const struct ctl_line *line, const struct status *robot)
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
