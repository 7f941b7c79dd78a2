/* console.h: the verbs of hubo-console: what they take, when they are refused, how a word goes on.  Pure. */
#pragma once

#include "channels/msg/types.h"
#include "config/base/base.h"

#define CONSOLE_WORDS_MAX 5
#define CONSOLE_LINE_MAX 256

enum console_takes { /* what follows the verb */
		     CONSOLE_NOTHING,
		     CONSOLE_JOINT,
		     CONSOLE_JOINT_SWITCH, /* and 0 or 1 */
		     CONSOLE_JOINT_NUMBER,
		     CONSOLE_JOINT_NUMBER_TIME, /* and seconds */
		     CONSOLE_SWITCH,
		     CONSOLE_SENSOR,
		     CONSOLE_PLACE, /* a joint or a limb */
		     CONSOLE_PLACE_OR_ALL,
};

enum console_does {
	CONSOLE_ASK, /* a request to the driver */
	CONSOLE_GET,
	CONSOLE_STATUS,
	CONSOLE_STATUS_ALL,
	CONSOLE_UPDATE,
	CONSOLE_GOTO,
	CONSOLE_COMPLY,
	CONSOLE_PARAMETERS,
	CONSOLE_RESET_ALL,
	CONSOLE_SENSORS,
	CONSOLE_RAISE,
	CONSOLE_HELP,
	CONSOLE_QUIT,
};

/* In the texts of a request %s is the word behind the verb, %d its number as a whole one, %g as it is. */
struct console_verb {
	const char *name, *about;
	enum console_takes takes;
	enum console_does does;
	enum msg_verb verb;
	const char *key, *key_off; /* key_off: where the switch is 0; NULL: the same */
	const char *value;
	double scale, least, most; /* of the number */
	uint32_t in, in_off; /* lifecycles in which it is not refused, a bit each; in_off: where the switch is 0 */
};
extern const struct console_verb console_verbs[]; /* ends with a name NULL */

struct console_call {
	const struct console_verb *verb;
	char word[MSG_NAME_SIZE]; /* as it is written in the tables: RHY; "" all */
	double number, time_s;
	bool on;
};

/* A line into a call.  verb NULL: it is empty.  0, or -1 with why. */
int console_parse(struct console_call *call, const char *line, char *why, size_t size);
/* In this lifecycle: 0, or -1 with why. */
int console_allowed(const struct console_call *call, enum msg_life life, char *why, size_t size);

/* The words that the last word of a line may become: the one of that number, or NULL. */
const char *console_complete(const char *line, size_t len, unsigned int number);

/* The key and the value of its request. */
void console_request(const struct console_call *call, char key[MSG_NAME_SIZE], char value[MSG_TEXT_SIZE]);
