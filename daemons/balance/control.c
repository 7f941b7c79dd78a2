/* control.c: the commands of controld.  Checked: pure, covered. */
#include "daemons/balance/control.h"

#include <math.h>

const char *const control_words[] = { "stop", "move", "swing", NULL };

static const char *const forms[] = {
	[CONTROL_STOP] = "stop",
	[CONTROL_MOVE] = "move [JOINT] ANGLE [SPEED], in rad and rad/s",
	[CONTROL_SWING] = "swing [JOINT] ANGLE ANGLE [SPEED], in rad and rad/s",
};

/* The next word; its length, 0 at the end. */
static size_t next_word(const char **text)
{
	*text += strspn(*text, " \t");
	return strcspn(*text, " \t");
}

static bool read_number(const char **text, double *value)
{
	const size_t len = next_word(text);
	char *end;

	*value = strtod(*text, &end);
	if (!len || end != *text + len || !isfinite(*value))
		return false;
	*text = end;
	return true;
}

/* A first word that is not a number is the name of a joint; one that is too long stays, and is not a number. */
static void read_joint(const char **text, msg_name joint)
{
	const size_t len = next_word(text);
	double value;

	if (len >= sizeof(msg_name) || read_number(&(const char *){ *text }, &value))
		return;
	memcpy(joint, *text, len);
	*text += len;
}

static bool read_values(struct control_command *c, const char *text)
{
	const unsigned int angles = (unsigned int)c->verb;

	read_joint(&text, c->joint);
	for (unsigned int i = 0; i < angles; i++)
		if (!read_number(&text, &c->angle_rad[i]))
			return false;
	if (next_word(&text) && (!read_number(&text, &c->speed_rad_s) || c->speed_rad_s <= 0))
		return false;
	return !next_word(&text);
}

const char *control_parse(struct control_command *command, enum control_verb verb, const char *values)
{
	*command = (struct control_command){ .verb = verb, .speed_rad_s = NAN };
	return verb == CONTROL_STOP || read_values(command, values) ? NULL : forms[verb];
}
