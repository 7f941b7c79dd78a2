/* launch_command.c: the command line and the environment of each daemon, and how it shows that it is alive. */
#include "daemons/drv/drv_tick.h"
#include "daemons/drv/standby.h"
#include "launch/file/launch_inside.h"

#define CLOCK_TICK_NS 1000000 /* hubo-daemon's, unless the robot file says otherwise */
#define DEAD_MIN_NS 100000000
#define DEAD_UNKNOWN_NS 1000000000 /* for a tick that the robot file does not give; ten beats of a watchdog */
#define DEAD_DISK_NS 30000000000   /* for a daemon that waits for the disk, and on which no other depends */
#define KILL_NS 2000000000

/* A list of strings that grows in the launch's memory. */
struct strings {
	struct launch *launch;
	char **item;
	size_t n, room;
};

__attribute__((format(printf, 2, 3))) static void add(struct strings *s, const char *fmt, ...)
{
	char text[LAUNCH_PATH_MAX * 2];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	/* The last stays NULL. */
	if (s->n + 1 < s->room)
		s->item[s->n++] = arena_copy(yaml_arena(s->launch->doc), text, strlen(text));
}

static bool start(struct strings *s, size_t room, struct error_sink *errors)
{
	s->n = 0;
	s->room = room + 1;
	s->item = yaml_room(s->launch->doc, s->room, sizeof(*s->item), errors);
	return s->item;
}

/* ---- command lines ---- */

static void add_args(struct strings *argv, const struct yaml_node *args)
{
	const struct yaml_node *one = NULL;

	while ((one = launch_next(args, one)))
		add(argv, "%s", one->text);
}

/* A name is searched for later; a path is relative to the launch file. */
static void add_file(struct strings *argv, const char *file)
{
	if (strchr(file, '/') && *file != '/')
		add(argv, "%s/%s", argv->launch->folder, file);
	else
		add(argv, "%s", file);
}

/* Also of blackbox. */
static void driver_line(struct strings *argv, const struct launch_daemon *daemon)
{
	add(argv, "--name");
	add(argv, "%s", daemon->device ? daemon->device->name : daemon->name);
	for (size_t i = 0; daemon->raw.bus && i < daemon->buses_n; i++) {
		const char *role = daemon->raw.roles[i];

		add(argv, "--bus");
		add(argv, "%s%s%s", role, *role ? "=" : "", daemon->buses[i]->name);
	}
	add(argv, "--robot");
	add(argv, "%s", argv->launch->name);
	add(argv, "--config");
	add(argv, "%s", argv->launch->config);
	add_args(argv, daemon->raw.args);
}

/* achstart sets it before exec; with the option the program also locks its memory. */
static void add_priority(struct strings *argv, const struct launch_daemon *daemon)
{
	if (!daemon->priority)
		return;
	add(argv, "--priority");
	add(argv, "%lld", (long long)daemon->priority);
}

static void canwire_line(struct strings *argv, const struct launch_daemon *daemon)
{
	add(argv, "run");
	add(argv, "--robot");
	add(argv, "%s", argv->launch->name);
	add(argv, "--bitrate");
	add(argv, "%lld", daemon->buses_n ? (long long)daemon->buses[0]->bitrate : 0);
	if (daemon->buses_n && daemon->buses[0]->data_bitrate) {
		add(argv, "--fd");
		add(argv, "%lld", (long long)daemon->buses[0]->data_bitrate);
	}
	add_priority(argv, daemon);
	add_args(argv, daemon->raw.args);
	for (size_t i = 0; i < daemon->buses_n; i++)
		add(argv, "%s", launch_bus_wire(daemon->buses[i]));
}

/* "5 6" without quotes is one argument, and two were probably meant. */
static void question_args(const struct yaml_node *args, struct error_sink *errors)
{
	char list[LAUNCH_PATH_MAX] = "", quoted[TEXT_QUOTED_MAX];

	for (const char *word = args->text + strspn(args->text, " \t"); *word;) {
		const size_t len = strcspn(word, " \t");

		lines_append(list, sizeof(list), ", ", "%.*s", (int)len, word);
		word += len + strspn(word + len, " \t");
	}
	text_quote(quoted, args->text);
	yaml_error(errors, args, "%s is one argument: write [%s] for several, or put it in quotes", quoted, list);
}

static void make_line(struct strings *argv, struct launch_daemon *daemon, struct error_sink *errors)
{
	const struct yaml_node *args = launch_given(daemon->raw.args);

	daemon->raw.args = args;
	if (args && args->kind == YAML_TEXT && !args->quoted && strpbrk(args->text, " \t")) {
		question_args(args, errors);
		return;
	}
	if (args && !launch_are_names(args, "a list of arguments: [--for, 10s]", errors))
		return;
	if (!start(argv, 16 + 2 * LAUNCH_BUSES_MAX + (args ? args->count : 0), errors))
		return;
	if (*daemon->raw.object)
		add(argv, "drvhost");
	add_file(argv, *daemon->raw.object ? daemon->raw.object
		       : daemon->device	   ? daemon->device->driver
					   : daemon->raw.program);
	if (daemon->kind == LAUNCH_DRIVER || daemon->kind == LAUNCH_BLACKBOX) {
		driver_line(argv, daemon);
	} else if (daemon->kind == LAUNCH_CANWIRE) {
		canwire_line(argv, daemon);
	} else {
		if (daemon->kind == LAUNCH_ROBOTSIM) {
			add(argv, "run");
			add_priority(argv, daemon);
			add(argv, "%s", argv->launch->config);
		}
		add_args(argv, args);
	}
	daemon->argv = argv->item;
}

/* ---- environment ---- */

static bool is_variable(const char *name)
{
	const char *letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";

	return strspn(name, letters + 10) && !name[strspn(name, letters)];
}

static void check_environment(const struct yaml_node *map, struct error_sink *errors)
{
	if (map->kind != YAML_MAP) {
		yaml_error(errors, map, "write a mapping from variable to value: {LANG: C}");
		return;
	}
	for (const struct yaml_node *one = map->first; one; one = one->next) {
		if (!is_variable(one->key))
			yaml_error(errors, one, "a variable has a name of A-Z a-z 0-9 _, no digit first");
		else if (!strcmp(one->key, "ENDPLATE_RUN") || !strcmp(one->key, "ENDPLATE_PREFIX"))
			yaml_error(errors, one, "all parts of a robot must have the same: export it before achstart");
		else if (!strcmp(one->key, "NOTIFY_SOCKET") || !strcmp(one->key, STANDBY))
			yaml_error(errors, one, "achstart sets it itself: take this out");
		if (one->kind != YAML_TEXT)
			yaml_error(errors, one, "%s where text is expected", yaml_kind_name(one));
	}
}

static void add_environment(struct strings *environment, const struct yaml_node *map)
{
	for (const struct yaml_node *one = yaml_first(map); one; one = one->next)
		add(environment, "%s=%s", one->key, one->kind == YAML_TEXT && !yaml_is_null(one) ? one->text : "");
}

static void make_environment(struct strings *s, struct launch_daemon *daemon, const struct yaml_node *of_all,
			     struct error_sink *errors)
{
	const struct yaml_node *own = launch_given(daemon->raw.environment);

	if (own)
		check_environment(own, errors);
	if (!start(s, (of_all ? of_all->count : 0) + (own ? own->count : 0), errors))
		return;
	add_environment(s, of_all);
	add_environment(s, own);
	daemon->environment = s->item;
}

/* ---- life ---- */

/* The time between two ticks; 0: the robot file does not give it. */
static int64_t tick_ns(const struct robot_device *device, int64_t clock_ns)
{
	const struct yaml_node *node = yaml_find(device->settings, "tick");
	struct drv_tick_rule rule;

	if (!node || node->kind != YAML_TEXT || drv_tick_parse(&rule, node->text))
		return 0;
	return rule.kind == DRV_TICK_CLOCK ? rule.divider * clock_ns : rule.period_ns;
}

static void find_alive(struct launch_daemon *daemon, int64_t clock_ns, struct error_sink *errors)
{
	static const enum launch_alive usual[] = { LAUNCH_ALIVE_STATE, LAUNCH_ALIVE_WATCHDOG, LAUNCH_ALIVE_WATCHDOG,
						   LAUNCH_ALIVE_WATCHDOG, LAUNCH_ALIVE_PROCESS };

	if (daemon->alive == LAUNCH_ALIVE_UNSAID)
		daemon->alive = usual[daemon->kind];
	if (daemon->device)
		daemon->tick_ns = daemon->clock ? clock_ns : tick_ns(daemon->device, clock_ns);
	if (!daemon->rules.kill_within_ns)
		daemon->rules.kill_within_ns = daemon->kind == LAUNCH_BLACKBOX ? DEAD_DISK_NS : KILL_NS;
	daemon->dead_after_given = daemon->dead_after_ns;
	if (daemon->dead_after_given && daemon->alive == LAUNCH_ALIVE_PROCESS)
		yaml_error(errors, yaml_find(daemon->node, "dead_after"),
			   "with alive: process nothing is published: write alive: state or alive: watchdog, or take "
			   "this out");
	if (daemon->dead_after_given)
		return;
	daemon->dead_after_ns = daemon->tick_ns && daemon->alive == LAUNCH_ALIVE_STATE
					? daemon->tick_ns * LAUNCH_DEAD_TICKS
				: daemon->kind == LAUNCH_BLACKBOX ? DEAD_DISK_NS
								  : DEAD_UNKNOWN_NS;
	if (daemon->dead_after_ns < DEAD_MIN_NS)
		daemon->dead_after_ns = DEAD_MIN_NS;
}

/* The period is that of a driver's ticks, and the budget the period, unless the file gives them. */
static void find_budget(struct launch_daemon *daemon, struct error_sink *errors)
{
	const struct yaml_node *node = daemon->node;
	const struct yaml_node *period = yaml_find(node, "period"), *budget = yaml_find(node, "budget");
	const struct yaml_node *over = yaml_find(node, "over"), *weight = yaml_find(node, "weight");
	const struct yaml_node *any = period ? period : budget ? budget : over;

	if (daemon->world && (any || weight))
		yaml_error(errors, any ? any : weight, "the computing of the world around the robot is not charged");
	else if (weight && any)
		yaml_error(errors, weight, "it has either a weight or a period with a budget: take one of the two out");
	if (daemon->world || weight) {
		daemon->period_ns = 0;
		return;
	}
	if (!period)
		daemon->period_ns = daemon->tick_ns;
	if (any && !daemon->period_ns)
		yaml_error(errors, any, "there is no tick in the robot file: write period, too");
	if (!budget)
		daemon->budget_ns = daemon->period_ns;
	else if (daemon->period_ns && daemon->budget_ns > daemon->period_ns)
		yaml_error(errors, budget, "it is longer than the period");
}

void launch_command(struct launch *launch, struct error_sink *errors)
{
	const struct launch_daemon *clock = launch->clock ? launch_daemon(launch, launch->clock) : NULL;
	int64_t clock_ns = clock && clock->device ? tick_ns(clock->device, CLOCK_TICK_NS) : 0;
	const struct yaml_node *of_all = launch_given(launch->raw.environment);
	struct strings strings = { .launch = launch };
	char name[TEXT_NAME_MAX + 8];

	if (of_all)
		check_environment(of_all, errors);
	clock_ns = clock_ns ? clock_ns : CLOCK_TICK_NS;
	for (size_t i = 0; i < launch->daemons_n; i++) {
		struct launch_daemon *daemon = &launch->daemons[i];

		if (daemon->kind == LAUNCH_DRIVER && !daemon->device)
			continue; /* reported before */
		make_line(&strings, daemon, errors);
		make_environment(&strings, daemon, of_all, errors);
		find_alive(daemon, clock_ns, errors);
		find_budget(daemon, errors);
		if (daemon->alive != LAUNCH_ALIVE_STATE)
			continue;
		snprintf(name, sizeof(name), "%s-state", daemon->device ? daemon->device->name : daemon->name);
		daemon->channel = daemon->clock ? "clock" : arena_copy(yaml_arena(launch->doc), name, strlen(name));
	}
}
