/* doctor.c: the report: findings, as text and as JSON. */
#include "launch/achdoctor/doctor.h"

static const char *const words[DOCTOR_VERDICTS] = {
	[DOCTOR_OK] = "ok",	    [DOCTOR_WARN] = "warn", [DOCTOR_FAIL] = "fail",
	[DOCTOR_UNSEEN] = "unseen", [DOCTOR_SKIP] = "skip",
};
static const char *const colours[DOCTOR_VERDICTS] = {
	[DOCTOR_OK] = "32", [DOCTOR_WARN] = "33", [DOCTOR_FAIL] = "1;31", [DOCTOR_UNSEEN] = "36", [DOCTOR_SKIP] = "2",
};

void doctor_part(struct doctor_report *report, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(report->part, sizeof(report->part), fmt, args);
	va_end(args);
}

void doctor_add(struct doctor_report *report, enum doctor_verdict verdict, const char *check, const char *fmt, ...)
{
	struct doctor_finding *f = &report->at[report->n];
	va_list args;

	if (report->n == DOCTOR_FINDINGS_MAX)
		return;
	report->n++;
	*f = (struct doctor_finding){ .verdict = verdict, .check = check };
	memcpy(f->part, report->part, sizeof(f->part));
	va_start(args, fmt);
	vsnprintf(f->found, sizeof(f->found), fmt, args);
	va_end(args);
}

void doctor_mend(struct doctor_report *report, const char *fmt, ...)
{
	va_list args;

	if (!report->n ||
	    (report->at[report->n - 1].verdict != DOCTOR_FAIL && report->at[report->n - 1].verdict != DOCTOR_WARN))
		return;
	va_start(args, fmt);
	vsnprintf(report->at[report->n - 1].mend, DOCTOR_MEND_MAX, fmt, args);
	va_end(args);
}

size_t doctor_count(const struct doctor_report *report, enum doctor_verdict verdict)
{
	size_t n = 0;

	for (size_t i = 0; i < report->n; i++)
		n += report->at[i].verdict == verdict;
	return n;
}

/* ---- for people ---- */

#define WORD_WIDTH 6
#define CHECK_WIDTH 12

static void print_finding(const struct doctor_finding *f, FILE *to, bool colour)
{
	const char *word = words[f->verdict];

	if (colour)
		fprintf(to, "  \033[%sm%-*s\033[0m  %-*s  %s\n", colours[f->verdict], WORD_WIDTH, word, CHECK_WIDTH,
			f->check, f->found);
	else
		fprintf(to, "  %-*s  %-*s  %s\n", WORD_WIDTH, word, CHECK_WIDTH, f->check, f->found);
	if (*f->mend)
		fprintf(to, "  %*s  %*s  > %s\n", WORD_WIDTH, "", CHECK_WIDTH, "", f->mend);
}

void doctor_print(const struct doctor_report *report, FILE *to, bool colour)
{
	const char *part = "", *separator = "\n";

	for (size_t i = 0; i < report->n; i++) {
		const struct doctor_finding *f = &report->at[i];

		if (strcmp(part, f->part) != 0)
			fprintf(to, "%s%s\n", *part ? "\n" : "", f->part);
		part = f->part;
		print_finding(f, to, colour);
	}
	for (enum doctor_verdict v = 0; v < DOCTOR_VERDICTS; v++) {
		const size_t n = doctor_count(report, v);

		if (!n && v > DOCTOR_FAIL)
			continue;
		fprintf(to, "%s%zu %s", separator, n, words[v]);
		separator = ", ";
	}
	fputc('\n', to);
}

void doctor_print_json(const struct doctor_report *report, FILE *to)
{
	struct json j = json_to(to);

	json_object(&j, NULL);
	json_bool(&j, "ok", !doctor_count(report, DOCTOR_FAIL));
	json_array(&j, "checks");
	for (size_t i = 0; i < report->n; i++) {
		const struct doctor_finding *f = &report->at[i];

		json_line(&j);
		json_object(&j, NULL);
		json_text(&j, "part", f->part);
		json_text(&j, "check", f->check);
		json_text(&j, "verdict", words[f->verdict]);
		json_text(&j, "found", f->found);
		json_text(&j, "mend", *f->mend ? f->mend : NULL);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	fputc('\n', to);
}
