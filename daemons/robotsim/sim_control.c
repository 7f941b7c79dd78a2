/* sim_control.c: RUN/robotsim: faults, pushes, reports, on command.
 *
 *	fault UNIT WORD [clear]
 *	push UNIT TORQUE DURATION
 *	set UNIT KEY=VALUE
 *	report [UNIT]			a line per unit: its name, then keys and values by turns
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "config/run.h"
#include "daemons/robotsim/sim.h"

/* ---- answers ---- */

static void answer_report(struct sim *sim, const char *name, struct query_text *answer, int64_t now_ns)
{
	const struct sim_unit *only = name ? sim_find(sim, name, answer) : NULL;

	if (name && !only)
		return;
	query_say(answer, "ok ");
	for (size_t i = 0; i < sim->units_n; i++) {
		const struct sim_unit *unit = &sim->units[i];

		if (only && unit != only)
			continue;
		query_say(answer, "%s bus %s controller %s", unit->name, unit->on->name,
			  unit->bus ? bus_state_name(bus_state(unit->bus)) : "off");
		unit->kind->report(unit->state, now_ns, answer);
		query_say(answer, " dropped %" PRIu64 "\n", unit->dropped);
	}
}

static int do_fault(struct sim_unit *unit, const char *word, const char *clear, struct query_text *answer,
		    int64_t now_ns)
{
	int r = 0;

	if (!word || (clear && strcmp(clear, "clear") != 0)) {
		query_say(answer, "error which fault? fault %s silent", unit->name);
		return -EINVAL;
	}
	if (!strcmp(word, "cut"))
		unit->cut = !clear;
	else
		r = unit->kind->fault(unit->state, word, clear, now_ns, answer);
	sim_connect(unit);
	return r;
}

static int do_push(struct sim_unit *unit, const char *torque, const char *duration, struct query_text *answer,
		   int64_t now_ns)
{
	double torque_nm;
	int64_t duration_ns;

	if (!torque || !duration || text_real(torque, &torque_nm) || text_duration(duration, &duration_ns) ||
	    duration_ns < 0) {
		query_say(answer, "error push %s: a torque in N m and a duration such as 100ms", unit->name);
		return -EINVAL;
	}
	if (!unit->kind->push) {
		query_say(answer, "error %s cannot be pushed", unit->name);
		return -EINVAL;
	}
	unit->kind->push(unit->state, torque_nm, duration_ns, now_ns);
	return 0;
}

static void say_line(void *to, const char *line)
{
	query_say(to, "error %s", line);
}

static int do_set(struct sim_unit *unit, const char *assignment, struct query_text *answer)
{
	struct settings settings = { .rows = unit->kind->rows, .values = unit->state };
	struct error_sink errors = { say_line, answer, 0 };
	const size_t len = strcspn(assignment, "=");

	for (const struct settings_row *row = settings.rows; unit->kind->live && row->key; row++)
		if (strlen(row->key) == len && !strncmp(row->key, assignment, len) && !unit->kind->live(row->key)) {
			query_say(answer, "error %s: is set in the robot file, not while it runs", row->key);
			return -EINVAL;
		}
	return settings_assign(&settings, "set", assignment, &errors);
}

void sim_control_answer(struct sim *sim, char *question, struct query_text *answer, int64_t now_ns)
{
	char *save = NULL;
	const char *verb = strtok_r(question, " \n", &save), *name = strtok_r(NULL, " \n", &save);
	const char *first = strtok_r(NULL, " \n", &save), *second = strtok_r(NULL, " \n", &save);
	struct sim_unit *unit;
	int r;

	if (verb && !strcmp(verb, "report")) {
		answer_report(sim, name, answer, now_ns);
		return;
	}
	if (!verb || !name || (strcmp(verb, "fault") != 0 && strcmp(verb, "push") != 0 && strcmp(verb, "set") != 0)) {
		query_say(answer, "error %.40s: fault, push or set and a name, or report", verb ? verb : "");
		return;
	}
	unit = sim_find(sim, name, answer);
	if (!unit)
		return;
	if (!strcmp(verb, "fault"))
		r = do_fault(unit, first, second, answer, now_ns);
	else if (!strcmp(verb, "push"))
		r = do_push(unit, first, second, answer, now_ns);
	else
		r = do_set(unit, first ? first : "", answer);
	if (!r)
		query_say(answer, "ok");
}

/* ---- the socket ---- */

static void replace(int *fd, int by)
{
	if (*fd >= 0)
		close(*fd);
	*fd = by;
}

/* Takes over the descriptor of the folder if it can be had. */
static int take(struct sim_control *c, int folder, struct error_sink *errors)
{
	const int status = place_take(&c->place, folder, errors);

	if (status)
		close(folder);
	else
		replace(&c->folder, folder);
	c->server.listener = c->place.listener;
	return status;
}

static void take_question(void *context, struct query_client *client, char *question, int64_t now_ns)
{
	static char text[SIM_ANSWER_MAX];
	struct query_text answer = { text, 0, sizeof(text) };

	sim_control_answer(context, question, &answer, now_ns);
	query_answer(client, text);
}

int sim_control_open(struct sim_control *c, struct sim *sim, struct error_sink *errors)
{
	int folder;

	*c = (struct sim_control){
		.folder = -1,
		.place = { .name = SIM_SOCKET,
			   .who = "this robot",
			   .busy = "is played already",
			   .backlog = 16,
			   .lock = -1,
			   .listener = -1 },
		.server = { .question = take_question, .context = sim, .clients_max = SIM_CONTROL_FDS - 1 }
	};
	query_server_init(&c->server);
	folder = run_folder(NULL, errors);
	return folder < 0 ? folder : take(c, folder, errors);
}

void sim_control_reopen(struct sim_control *c)
{
	struct error_sink quiet = { 0 }; /* it is tried again in a second */
	const int folder = run_folder(NULL, &quiet);

	if (folder < 0)
		return;
	if (place_is_ours(&c->place, folder))
		close(folder);
	else
		take(c, folder, &quiet);
}

void sim_control_close(struct sim_control *c)
{
	place_leave(&c->place, c->folder);
	query_server_close(&c->server);
	replace(&c->folder, -1);
}
