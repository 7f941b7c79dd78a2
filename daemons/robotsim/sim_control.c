/* sim_control.c: RUN/robotsim: faults, pushes, reports, on command.
 *
 *	fault UNIT WORD [clear]
 *	push UNIT TORQUE DURATION	push body FORCE DURATION
 *	set UNIT KEY=VALUE...		set body KEY=VALUE...
 *	report [UNIT]			a line per unit, and one of the body: name, then keys and values by turns
 */
#include <fcntl.h>
#include <unistd.h>

#include "daemons/robotsim/sim_base.h"

#define WORDS_MAX 64 /* behind a name */

/* ---- answers ---- */

static void answer_report(struct sim *sim, const char *name, struct rpc_text *answer, int64_t now_ns)
{
	const bool body = sim->body.is_there && (!name || !strcmp(name, SIM_BODY));
	const struct sim_unit *only = name && !body ? sim_find(sim, name, answer) : NULL;

	if (name && !only && !body)
		return;
	sim_body_advance(sim, now_ns);
	rpc_say(answer, "ok ");
	if (body)
		sim_body_report(sim, answer);
	if (name && body)
		return;
	for (size_t i = 0; i < sim->units_n; i++) {
		const struct sim_unit *unit = &sim->units[i];

		if (only && unit != only)
			continue;
		rpc_say(answer, "%s bus %s controller %s", unit->name, unit->on->name,
			unit->line.bus ? bus_state_name(bus_state(unit->line.bus)) : "off");
		if (unit->kind->advance)
			unit->kind->advance(unit->state, now_ns);
		unit->kind->report(unit->state, answer);
		rpc_say(answer, " dropped %" PRIu64 "\n", unit->dropped);
	}
}

static void set_flag(void *state, const struct sim_fault *fault, bool on)
{
	char *at = (char *)state + fault->offset;
	uint16_t *bits = (void *)at;

	if (!fault->mask)
		*(bool *)at = on;
	else
		*bits = (uint16_t)((*bits & ~fault->mask) | (on ? fault->mask : 0));
}

static void switch_power(const struct sim_unit *unit, bool on, int64_t now_ns)
{
	struct sim_base *base = unit->state;

	if (unit->kind->power) {
		unit->kind->power(unit->state, on, now_ns);
		return;
	}
	base->off = !on;
	base->queue.n = 0;
	if (on)
		unit->kind->boot(unit->state, now_ns);
}

static void say_words(const struct sim_unit *unit, const char *word, struct rpc_text *answer)
{
	static const char *const own[] = { "cut", "power-off", "power-on" };
	const size_t own_n = unit->kind->power || unit->kind->boot ? 3 : 1;
	const char *near = NULL;

	for (const struct sim_fault *known = unit->kind->faults; known && known->word; known++)
		nearest_try(word, known->word, &near);
	for (size_t i = 0; i < own_n; i++)
		nearest_try(word, own[i], &near);
	rpc_say(answer, "error %s: no such fault", word);
	if (near) {
		rpc_say(answer, "; did you mean %s?", near);
		return;
	}
	for (size_t i = 0; i < own_n; i++)
		rpc_say(answer, "%s %s", i ? "," : ": there are", own[i]);
	for (const struct sim_fault *known = unit->kind->faults; known && known->word; known++)
		rpc_say(answer, ", %s", known->word);
}

int sim_fault(struct sim_unit *unit, const char *word, bool clear, int64_t now_ns, struct rpc_text *answer)
{
	const struct sim_kind *kind = unit->kind;
	int r;

	if (kind->advance)
		kind->advance(unit->state, now_ns);
	for (const struct sim_fault *known = kind->faults; known && known->word; known++)
		if (!strcmp(known->word, word)) {
			set_flag(unit->state, known, !clear);
			if (kind->faulted)
				kind->faulted(unit->state, now_ns);
			return 0;
		}
	if ((kind->power || kind->boot) && (!strcmp(word, "power-off") || !strcmp(word, "power-on"))) {
		switch_power(unit, !strcmp(word, "power-on") != clear, now_ns);
		return 0;
	}
	r = kind->fault ? kind->fault(unit->state, word, clear, now_ns, answer) : -ENOENT;
	if (r == -ENOENT)
		say_words(unit, word, answer);
	return r ? -EINVAL : 0;
}

/* words: those behind the name; they end with NULL. */
static int do_fault(struct sim *sim, struct sim_unit *unit, char **words, struct rpc_text *answer, int64_t now_ns)
{
	const bool clear = words[0] && words[1];
	int r = 0;

	if (!words[0] || (clear && strcmp(words[1], "clear") != 0))
		return sim_refuse(answer, "which fault? fault %s silent", unit->name);
	if (!strcmp(words[0], "cut"))
		unit->cut = !clear;
	else
		r = sim_fault(unit, words[0], clear, now_ns, answer);
	sim_connect(sim, unit);
	return r;
}

/* A number; a force may have its unit. */
static int read_push(const char *text, bool is_force, double *value)
{
	char number[32];
	const size_t len = strlen(text);

	if (len >= sizeof(number))
		return -EINVAL;
	memcpy(number, text, len + 1);
	if (is_force && len && number[len - 1] == 'N')
		number[len - 1] = '\0';
	return text_real(number, value);
}

/* unit NULL: the body. */
static int do_push(struct sim *sim, struct sim_unit *unit, char **words, struct rpc_text *answer, int64_t now_ns)
{
	double value;
	int64_t duration_ns;

	if (!words[0] || !words[1] || read_push(words[0], !unit, &value) || text_duration(words[1], &duration_ns) ||
	    duration_ns < 0)
		return sim_refuse(answer, "push %s: a %s and a duration such as 100ms", unit ? unit->name : SIM_BODY,
				  unit ? "torque in N m" : "force in N such as 80N");
	if (!unit) {
		sim_body_push(sim, value, duration_ns);
		return 0;
	}
	if (!unit->kind->push)
		return sim_refuse(answer, "%s cannot be pushed", unit->name);
	unit->kind->push(unit->state, value, duration_ns, now_ns);
	return 0;
}

static void say_line(void *to, const char *line)
{
	rpc_say(to, "error %s", line);
}

static bool is_listed(const char *const *list, const char *key)
{
	for (; *list; list++)
		if (!strcmp(*list, key))
			return true;
	return false;
}

/* unit NULL: the body. */
static bool may_change(const struct sim_unit *unit, const char *key)
{
	if (!unit)
		return sim_body_live(key);
	return !(unit->kind->fixed && is_listed(unit->kind->fixed, key)) &&
	       (!unit->kind->live || is_listed(unit->kind->live, key));
}

/* The same. */
static int set_one(struct sim *sim, struct sim_unit *unit, const char *assignment, struct rpc_text *answer)
{
	struct settings settings = { .rows = unit ? unit->kind->rows : krang_rows,
				     .values = unit ? unit->state : &sim->body.krang.settings,
				     .noun = "setting" };
	struct error_sink errors = { say_line, answer, 0 };
	const size_t len = strcspn(assignment, "=");
	const char *key = NULL;

	for (const struct settings_row *row = settings.rows; row->key; row++)
		if (strlen(row->key) == len && !strncmp(row->key, assignment, len))
			key = row->key;
	if (key && !may_change(unit, key))
		return sim_refuse(answer, "%s: is set in the robot file, not while it runs", key);
	if (settings_assign(&settings, "set", assignment, &errors))
		return -EINVAL;
	if (!unit)
		sim_body_changed(sim, key);
	return 0;
}

/* A list has blanks, and a unit may have: "force=[0.5, 1]".  What follows a word up to the next with a = belongs to it.
 * All are in one line, whose blanks became zeros. */
static void join_values(char **words)
{
	char **last = words;

	for (char **next = words + !!words[0]; *next; next++) {
		char *end = *last + strlen(*last);

		if (strchr(*next, '='))
			*++last = *next;
		else
			memset(end, ' ', (size_t)(*next - end));
	}
	if (*last)
		last[1] = NULL;
}

static int do_set(struct sim *sim, struct sim_unit *unit, char **words, struct rpc_text *answer, int64_t now_ns)
{
	int r = words[0] ? 0 : set_one(sim, unit, "", answer);

	(void)now_ns;
	join_values(words);
	for (; !r && *words; words++)
		r = set_one(sim, unit, *words, answer);
	return r;
}

static const struct {
	const char *word;
	int (*run)(struct sim *sim, struct sim_unit *unit, char **words, struct rpc_text *answer, int64_t now_ns);
	bool body; /* it may be the body's */
} verbs[] = { { "fault", do_fault, false }, { "push", do_push, true }, { "set", do_set, true } };
#define VERBS (sizeof(verbs) / sizeof(*verbs))

void sim_control_answer(struct sim *sim, char *question, struct rpc_text *answer, int64_t now_ns)
{
	char *words[WORDS_MAX + 1] = { NULL }, *save = NULL;
	const char *verb = strtok_r(question, " \n", &save), *name = strtok_r(NULL, " \n", &save);
	struct sim_unit *unit = NULL;
	size_t i = 0;

	for (size_t n = 0; n < WORDS_MAX && (words[n] = strtok_r(NULL, " \n", &save)); n++)
		;
	if (verb && !strcmp(verb, "report")) {
		answer_report(sim, name, answer, now_ns);
		return;
	}
	while (verb && i < VERBS && strcmp(verb, verbs[i].word) != 0)
		i++;
	if (!verb || !name || i == VERBS) {
		rpc_say(answer, "error %.40s: fault, push or set and a name, or report", verb ? verb : "");
		return;
	}
	sim_body_advance(sim, now_ns);
	if (!sim->body.is_there || strcmp(name, SIM_BODY) != 0 || !verbs[i].body) {
		unit = sim_find(sim, name, answer);
		if (!unit)
			return;
	}
	if (!verbs[i].run(sim, unit, words, answer, now_ns))
		rpc_say(answer, "ok");
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
	const int status = locked_socket_take(&c->place, folder, errors);

	if (status)
		close(folder);
	else
		replace(&c->folder, folder);
	c->server.listener = c->place.listener;
	return status;
}

static void take_question(void *context, struct rpc_client *client, char *question, int64_t now_ns)
{
	static char text[SIM_ANSWER_MAX];
	struct rpc_text answer = { text, 0, sizeof(text) };

	sim_control_answer(context, question, &answer, now_ns);
	rpc_answer(client, text);
}

/* One more than the robotsim before it, unless that ended as it was asked to: everything simulated began again. */
static unsigned int count_start(int folder)
{
	struct error_sink quiet = { 0 };
	char text[16] = "";
	const int fd = safe_path_file(folder, SIM_STARTS, O_RDWR | O_CREAT, 0600, &quiet);
	unsigned long starts = 1;
	int n;

	if (fd < 0)
		return 1;
	if (pread(fd, text, sizeof(text) - 1, 0) > 0)
		starts = strtoul(text, NULL, 10) + 1;
	n = snprintf(text, sizeof(text), "%u\n", (unsigned int)starts);
	if (pwrite(fd, text, (size_t)n, 0) != n)
		starts = 1;
	close(fd);
	return (unsigned int)starts;
}

int sim_control_open(struct sim_control *c, struct sim *sim, struct error_sink *errors)
{
	int folder, r;

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
	rpc_server_init(&c->server);
	folder = run_folder(NULL, errors);
	if (folder < 0)
		return folder;
	r = take(c, folder, errors);
	if (!r)
		sim->starts = count_start(folder);
	if (!r)
		sim_keep_open(sim, folder);
	return r;
}

void sim_control_reopen(struct sim_control *c)
{
	struct error_sink quiet = { 0 }; /* it is tried again in a second */
	const int folder = run_folder(NULL, &quiet);

	if (folder < 0)
		return;
	if (locked_socket_is_ours(&c->place, folder))
		close(folder);
	else
		take(c, folder, &quiet);
}

void sim_control_close(struct sim_control *c)
{
	unlinkat(c->folder, SIM_STARTS, 0);
	sim_keep_close(c->server.context, c->folder);
	locked_socket_leave(&c->place, c->folder);
	rpc_server_close(&c->server);
	replace(&c->folder, -1);
}
