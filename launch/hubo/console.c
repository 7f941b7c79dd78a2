/* console.c: the verbs of hubo-console. */
#include "launch/hubo/console.h"

#include <strings.h>

#include "channels/msg/msg.h"
#include "daemons/hubo/hubo_table.h"

#define TIME_LEAST_S 0.1
#define TIME_MOST_S 3600

/* ---- the table ---- */

#define LIFE(word) (1u << MSG_LIFE_##word)
#define ALWAYS UINT32_MAX
#define UP (LIFE(DISARMED) | LIFE(HOLDING) | LIFE(HOMING) | LIFE(ACTIVE) | LIFE(FAULT))
#define ARMED (LIFE(HOLDING) | LIFE(ACTIVE) | LIFE(FAULT))
#define STOPPED (LIFE(DISARMED) | LIFE(FAULT))
#define STANDS (LIFE(DISARMED) | LIFE(HOLDING) | LIFE(FAULT))

/* clang-format off */
#define REQUEST(v, k) CONSOLE_ASK, MSG_VERB_##v, k
const struct console_verb console_verbs[] = {
	{ "get", "position, velocity, current and temperature of a joint", CONSOLE_JOINT, CONSOLE_GET, .in = ALWAYS },
	{ "status", "what the board of a joint reports of it", CONSOLE_JOINT, CONSOLE_STATUS, .in = ALWAYS },
	{ "statusAll", "the same of all joints", CONSOLE_NOTHING, CONSOLE_STATUS_ALL, .in = ALWAYS },
	{ "update", "lifecycle, level and replies that did not come", CONSOLE_NOTHING, CONSOLE_UPDATE, .in = ALWAYS },
	{ "params", "parameters that the board of a joint has stored", CONSOLE_JOINT, CONSOLE_PARAMETERS, .in = UP },
	{ "home", "home a joint or a limb", CONSOLE_PLACE, REQUEST(HOME, "%s"), .in = ARMED },
	{ "homeAll", "home all limbs", CONSOLE_NOTHING, REQUEST(HOME, ""), .in = ARMED },
	{ "startup", "bridges and control of all boards on", CONSOLE_NOTHING, REQUEST(ACTIVATE, ""), .in = ARMED },
	{ "goto", "move a joint there, in rad", CONSOLE_JOINT_NUMBER, CONSOLE_GOTO,
	  .scale = 1, .least = -10, .most = 10, .in = LIFE(HOLDING) },
	{ "comp", "let a joint give way around an angle, in rad, for a time in seconds", CONSOLE_JOINT_NUMBER_TIME,
	  CONSOLE_COMPLY, .scale = 1, .least = -10, .most = 10, .in = LIFE(HOLDING) },
	{ "kp", "stiffness of a compliant joint, %/rad", CONSOLE_JOINT_NUMBER, REQUEST(SET, "%s.comply-kp"),
	  .value = "%g", .scale = 1, .least = 0, .most = 10000, .in = UP },
	{ "kd", "its damping, % s/rad", CONSOLE_JOINT_NUMBER, REQUEST(SET, "%s.comply-kd"), .value = "%g",
	  .scale = 1, .least = 0, .most = 10000, .in = UP },
	{ "maxPWM", "its greatest duty, %", CONSOLE_JOINT_NUMBER, REQUEST(SET, "%s.comply-pwm"), .value = "%g",
	  .scale = 1, .least = 0, .most = 100, .in = UP },
	{ "grav", "its duty that carries the weight, %", CONSOLE_JOINT_NUMBER, REQUEST(SET, "%s.comply-grav"),
	  .value = "%g", .scale = 1, .least = -100, .most = 100, .in = UP },
	{ "fet", "bridges of a board off or on", CONSOLE_JOINT_SWITCH, REQUEST(SET, "%s.fet"), .value = "%d",
	  .in = ARMED, .in_off = UP },
	{ "ctrl", "control of a board off or on", CONSOLE_JOINT_SWITCH,
	  REQUEST(SET, "%s.control-on"), .key_off = "%s.control-off", .in = ARMED, .in_off = UP },
	{ "ctrlAll", "control of all boards off or on", CONSOLE_SWITCH,
	  REQUEST(SET, "all.control-on"), .key_off = "all.control-off", .in = ARMED, .in_off = UP },
	{ "initialize", "initialize a board: faults are cleared, and it is off", CONSOLE_JOINT,
	  REQUEST(SET, "%s.initialize"), .in = STOPPED },
	{ "initializeAll", "the same of all boards", CONSOLE_NOTHING, REQUEST(SET, "all.initialize"), .in = STOPPED },
	{ "reset", "here a joint is at 0; its faults are cleared", CONSOLE_JOINT, REQUEST(RESET, "%s"), .in = STOPPED },
	{ "resetAll", "the same of all joints", CONSOLE_NOTHING, CONSOLE_RESET_ALL, .in = STOPPED },
	{ "zero", "here a sensor is at 0", CONSOLE_SENSOR, REQUEST(BIAS, "%s"), .in = STANDS },
	{ "zeroacc", "here the tilt of a foot is 0", CONSOLE_SENSOR, REQUEST(BIAS, "%s.tilt"), .in = STANDS },
	{ "iniSensors", "initialize all sensor boards", CONSOLE_NOTHING, CONSOLE_SENSORS, .in = STANDS },
	{ "beep", "for a time in seconds", CONSOLE_JOINT_NUMBER, REQUEST(SET, "%s.beep"), .value = "%d", .scale = 10,
	  .least = 0.1, .most = 25, .in = UP },
	{ "homefile", "write the values of the home file to boards", CONSOLE_PLACE_OR_ALL,
	  REQUEST(SET, "home-file"), .value = "%s", .in = STOPPED },
	{ "hold", "protective stop", CONSOLE_NOTHING, CONSOLE_RAISE, .in = ALWAYS },
	{ "estop", "emergency stop", CONSOLE_NOTHING, CONSOLE_RAISE, .in = ALWAYS },
	{ "help", "this list", CONSOLE_NOTHING, CONSOLE_HELP, .in = ALWAYS },
	{ "quit", "end", CONSOLE_NOTHING, CONSOLE_QUIT, .in = ALWAYS },
	{ 0 },
};
/* clang-format on */

static const struct console_verb *find_verb(const char *name)
{
	for (const struct console_verb *v = console_verbs; v->name; v++)
		if (!strcmp(v->name, name))
			return v;
	return NULL;
}

/* ---- words ---- */

/* What stands behind a verb. */
static const struct {
	const char *form;
	unsigned int words;
	bool joint, limb;
} takes[] = {
	[CONSOLE_NOTHING] = { .form = "" },
	[CONSOLE_JOINT] = { " JOINT", 1, .joint = true },
	[CONSOLE_JOINT_SWITCH] = { " JOINT 0|1", 2, .joint = true },
	[CONSOLE_JOINT_NUMBER] = { " JOINT NUMBER", 2, .joint = true },
	[CONSOLE_JOINT_NUMBER_TIME] = { " JOINT NUMBER SECONDS", 3, .joint = true },
	[CONSOLE_SWITCH] = { .form = " 0|1", .words = 1 },
	[CONSOLE_SENSOR] = { .form = " SENSOR", .words = 1 },
	[CONSOLE_PLACE] = { " JOINT|LIMB", 1, .joint = true, .limb = true },
	[CONSOLE_PLACE_OR_ALL] = { " JOINT|LIMB|all", 1, .joint = true, .limb = true },
};

/* The word of that number that may stand behind the verb; NULL: none is left. */
static const char *argument(const struct console_verb *v, unsigned int number)
{
	unsigned int n = 0;

	for (int i = 0; takes[v->takes].joint && i < HUBO_JOINTS; i++)
		if (hubo_joint_name(i) && n++ == number)
			return hubo_joint_name(i);
	for (int i = 0; takes[v->takes].limb && i < HUBO_LIMBS; i++)
		if (n++ == number)
			return hubo_limb_names[i];
	if (v->takes == CONSOLE_PLACE_OR_ALL && n++ == number)
		return "all";
	for (int i = 0; v->takes == CONSOLE_SENSOR && i < HUBO_SENSORS; i++)
		if (n++ == number)
			return hubo_sensor_names[i];
	return NULL;
}

static const char *const switches[] = { "0", "1", NULL };

const char *console_complete(const char *line, size_t len, unsigned int number)
{
	char before[CONSOLE_LINE_MAX], *words[CONSOLE_WORDS_MAX] = { NULL }, *rest = before, *word;
	const bool fresh = !len || line[len - 1] == ' ';
	const struct console_verb *v;
	unsigned int n = 0, found = 0;
	const char *begins, *one;

	if (len >= sizeof(before))
		return NULL;
	memcpy(before, line, len);
	before[len] = 0;
	while ((word = strsep(&rest, " ")) && n < CONSOLE_WORDS_MAX)
		if (*word)
			words[n++] = word;
	begins = fresh ? "" : words[n - 1];
	n -= !fresh;
	v = n ? find_verb(words[0]) : NULL;
	if (n && !v)
		return NULL;
	for (unsigned int i = 0;; i++) {
		if (!n)
			one = console_verbs[i].name;
		else if (n == 1 && v->takes == CONSOLE_SWITCH)
			one = switches[i];
		else if (n == 1)
			one = argument(v, i);
		else
			one = n == 2 && v->takes == CONSOLE_JOINT_SWITCH ? switches[i] : NULL;
		if (!one)
			return NULL;
		if (!strncmp(one, begins, strlen(begins)) && found++ == number)
			return one;
	}
}

/* ---- a line ---- */

static int parse_word(struct console_call *call, const char *word, char *why, size_t size)
{
	const char *nearest = NULL, *one;

	for (unsigned int i = 0; (one = argument(call->verb, i)); i++) {
		if (!strcasecmp(one, word)) {
			snprintf(call->word, sizeof(call->word), "%s", one);
			return 0;
		}
		nearest_try(word, one, &nearest);
	}
	return text_refuse(why, size, "%s: \"%.20s\" is not known%s%s%s; it is %s%s", call->verb->name, word,
			   nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "",
			   call->verb->name, takes[call->verb->takes].form);
}

static int parse_number(struct console_call *call, const char *word, double least, double most, double *number,
			char *why, size_t size)
{
	if (!text_real(word, number) && *number >= least && *number <= most)
		return 0;
	return text_refuse(why, size, "%s: \"%.20s\" is not a number from %g to %g", call->verb->name, word, least,
			   most);
}

static int parse_last(struct console_call *call, const char *word, char *why, size_t size)
{
	const struct console_verb *v = call->verb;

	if (v->takes == CONSOLE_JOINT_NUMBER || v->takes == CONSOLE_JOINT_NUMBER_TIME)
		return parse_number(call, word, v->least, v->most, &call->number, why, size);
	if (strcmp(word, "0") != 0 && strcmp(word, "1") != 0)
		return text_refuse(why, size, "%s: \"%.20s\" is neither 0 nor 1", v->name, word);
	call->on = *word == '1';
	return 0;
}

int console_parse(struct console_call *call, const char *line, char *why, size_t size)
{
	char text[CONSOLE_LINE_MAX], *words[CONSOLE_WORDS_MAX], *rest = text, *word;
	const char *nearest = NULL;
	unsigned int n = 0;
	int status = 0;

	*call = (struct console_call){ .on = true };
	if (strlen(line) >= sizeof(text))
		return text_refuse(why, size, "a line has at most %zu bytes", sizeof(text) - 1);
	strcpy(text, line);
	text[strcspn(text, "#\n")] = 0;
	while ((word = strsep(&rest, " \t")))
		if (*word && n < CONSOLE_WORDS_MAX)
			words[n++] = word;
	if (!n)
		return 0;
	call->verb = find_verb(words[0]);
	if (!call->verb) {
		for (const struct console_verb *v = console_verbs; v->name; v++)
			nearest_try(words[0], v->name, &nearest);
		return text_refuse(why, size, "\"%.20s\" is not a verb%s%s%s; help lists them", words[0],
				   nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
	}
	if (n - 1 != takes[call->verb->takes].words)
		return text_refuse(why, size, "it is: %s%s", call->verb->name, takes[call->verb->takes].form);
	if (n > 1 && call->verb->takes != CONSOLE_SWITCH)
		status = parse_word(call, words[1], why, size);
	if (!status && (n > 2 || call->verb->takes == CONSOLE_SWITCH))
		status = parse_last(call, words[call->verb->takes == CONSOLE_SWITCH ? 1 : 2], why, size);
	if (!status && n > 3)
		status = parse_number(call, words[3], TIME_LEAST_S, TIME_MOST_S, &call->time_s, why, size);
	return status;
}

int console_allowed(const struct console_call *call, enum msg_life life, char *why, size_t size)
{
	const uint32_t in = !call->on && call->verb->in_off ? call->verb->in_off : call->verb->in;

	if (in & 1u << life)
		return 0;
	return text_refuse(why, size, "%s is refused while the driver is %s", call->verb->name, msg_life_word(life));
}

/* ---- requests ---- */

static void fill(char *to, size_t size, const char *text, const struct console_call *call)
{
	const char *mark = text ? strchr(text, '%') : NULL;
	char word[32];

	if (!mark) {
		snprintf(to, size, "%s", text ? text : "");
		return;
	}
	if (mark[1] == 's')
		snprintf(word, sizeof(word), "%s", call->word);
	else if (mark[1] == 'g')
		snprintf(word, sizeof(word), "%.9g", call->number * call->verb->scale);
	else
		snprintf(word, sizeof(word), "%.0f",
			 call->verb->scale > 0 ? call->number * call->verb->scale : call->on);
	snprintf(to, size, "%.*s%s%s", (int)(mark - text), text, word, mark + 2);
}

void console_request(const struct console_call *call, char key[MSG_NAME_SIZE], char value[MSG_TEXT_SIZE])
{
	const struct console_verb *v = call->verb;

	fill(key, MSG_NAME_SIZE, !call->on && v->key_off ? v->key_off : v->key, call);
	fill(value, MSG_TEXT_SIZE, v->value, call);
}
