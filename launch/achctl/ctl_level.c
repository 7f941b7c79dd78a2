/* ctl_level.c: achctl hold and estop: raise the level.
 *
 * Neither achstart nor names of users are needed.  The folder of the robot, if there is one, names its channels.
 * If the robot is ambiguous, the level of all candidates is raised.
 */
#include "launch/achctl/ctl.h"
#include "launch/view/estop_raise.h"

struct all {
	enum msg_level level;
	char who[CTL_WHO_MAX];
	const char *why;
	struct target {
		const struct robot_choice_one *which;
		struct estop_raise raise;
		bool done;
	} at[ROBOT_CHOICE_MAX];
	size_t n;
};

static void use_robot(const struct target *t)
{
	robot_choice_export(t->which->prefix, t->which->channels);
	setenv("ENDPLATE_RUN", *t->which->run ? t->which->run : "/nonexistent", 1);
}

/* Raises the level of all robots at the same time. */
static void try_all(struct all *a)
{
	const int64_t until_ns = clock_now_ns() + ESTOP_RAISE_WITHIN_NS;
	bool again = true;

	for (size_t i = 0; i < a->n; i++) {
		use_robot(&a->at[i]);
		estop_raise_begin(&a->at[i].raise, a->level, a->who, a->why);
	}
	for (;;) {
		again = false;
		for (size_t i = 0; i < a->n; i++) {
			struct target *t = &a->at[i];

			use_robot(t);
			if (!t->done)
				t->done = estop_raise_step(&t->raise, clock_now_ns());
			again |= !t->done && !estop_raise_is_hopeless(&t->raise);
		}
		if (!again || clock_now_ns() >= until_ns)
			return;
		clock_wait(NULL, 0, clock_now_ns() + ESTOP_RAISE_EVERY_NS);
	}
}

/* ---- the result ---- */

/* "t-estop of robot bench, b-estop": the robots whose level is raised. */
static void list(const struct all *a, char *text, size_t size)
{
	*text = 0;
	for (size_t i = 0; i < a->n; i++) {
		const struct robot_choice_one *w = a->at[i].which;

		if (a->at[i].done)
			lines_append(text, size, ", ", "%sestop%s%s", w->prefix, *w->robot ? " of robot " : "",
				     w->robot);
	}
}

static int not_raised(const struct ctl_line *line, const struct all *a, const struct target *t)
{
	const struct estop_raise *r = &t->raise;
	const bool absent = estop_raise_is_absent(r);
	char others[200];

	list(a, others, sizeof(others));
	if (*r->behind && (r->put || r->answered))
		return ctl_fail(line, EXIT_RETRY,
				"NOT CONFIRMED: level %s is raised, but within %g s %s not show it: %s",
				msg_level_word(a->level), ESTOP_RAISE_WITHIN_NS / 1e9,
				strchr(r->behind, ',') ? "these drivers do" : "this driver does", r->behind);
	return ctl_fail(line, EXIT_RETRY, "NOT RAISED: %s%s%s%s%s%s", absent ? "no robot is up here (" : "",
			r->lines.text, absent ? ")" : "", *others ? "; raised on " : "", others,
			*others ? " only" : "");
}

static int raised(const struct ctl_line *line, const struct all *a, const struct robot_choice *which)
{
	const struct target *t = a->at;
	const char *level;
	unsigned long long epoch;
	char where[200];
	struct json j;

	while (!t->done)
		t++;
	level = msg_level_word(t->raise.estop.level);
	epoch = (unsigned long long)t->raise.estop.epoch;
	list(a, where, sizeof(where));
	if (*which->doubt)
		ctl_warn(line, "%s: raised on %s", which->doubt, where);
	if (!ctl_json(line, &j))
		return ctl_done(line, "level %s, epoch %llu, by %s", level, epoch, a->who);
	json_text(&j, "level", level);
	json_uint(&j, "epoch", epoch);
	if (*which->doubt)
		json_text(&j, "raised", where);
	return ctl_json_end(&j);
}

/* A missing robot is not an error if the level of another one was raised. */
static int report(const struct ctl_line *line, struct all *a, const struct robot_choice *which)
{
	const struct target *failed = NULL;
	size_t done = 0;

	for (size_t i = 0; i < a->n; i++) {
		struct target *t = &a->at[i];

		use_robot(t);
		robot_level_read(&t->raise.estop, &t->raise.channels, clock_now_ns());
		done += t->done;
		if (!t->done && (!failed || estop_raise_is_absent(&failed->raise)))
			failed = t;
		if (t->done && *t->raise.lines.text)
			ctl_warn(line, "%s; %s", t->raise.lines.text,
				 t->raise.drivers ? "every driver shows the level"
				 : t->raise.put	  ? "the other channel has it"
						  : "achstart has raised the level");
	}
	if (failed && (!done || !estop_raise_is_absent(&failed->raise)))
		return not_raised(line, a, failed);
	return raised(line, a, which);
}

int ctl_level(const struct ctl_line *line)
{
	const enum msg_level level = strcmp(line->command, "hold") ? MSG_LEVEL_ESTOP : MSG_LEVEL_HOLD;
	static struct robot_choice which;
	static struct all all;
	char usual[32];
	int status;

	all.level = level;
	ctl_who(line, all.who);
	snprintf(usual, sizeof(usual), "achctl %s", msg_level_word(level));
	all.why = line->why ? line->why : usual;
	robot_choice_all(&line->asked, &which);
	for (all.n = 0; all.n < which.n; all.n++)
		all.at[all.n].which = &which.one[all.n];
	try_all(&all);
	status = report(line, &all, &which);
	for (size_t i = 0; i < all.n; i++)
		estop_raise_end(&all.at[i].raise);
	return status;
}
