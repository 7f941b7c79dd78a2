/* fault.h: a fault of the soft wire as people write it: `canwire fault BUS ...`, and in scripts.
 *
 *	drop N|P%|off [NODE]		the next N frames, or P percent, are acknowledged and lost: for NODE, or for all
 *	corrupt N|P%|off [at BIT] [NODE]	a bit is flipped on the wire, or as NODE alone hears it
 *	delay NODE TIME|off		frames of NODE come TIME later
 *	stuck [dominant|recessive] TIME	no node can send: held busy, shorted, open
 *	babble NODE FRAME [TIME]	NODE sends FRAME without end, for TIME; babble NODE off: no more
 *	power off|on NODE
 *	disconnect NODE, connect NODE	from the wire, to it
 *	classic NODE [off]		its controller does not know CAN FD
 *	clear				no more drop, corrupt, delay, stuck, babble
 */
#pragma once

#include "can/bus/frame_text.h"
#include "can/wire/engine.h"

#define FAULT_WHY_MAX 256
#define FAULT_WORDS_MAX 12

/* Reads the words of text, blanks between them.  0, or -EINVAL with one line in why that says what is wrong and what to
 * write. */
int fault_read(struct engine_fault *fault, const char *text, char why[FAULT_WHY_MAX]);

/* The list above, for a help text. */
extern const char fault_help[];

/* ---- shared with script.c: the words of a line ---- */

struct fault_words {
	char word[FAULT_WORDS_MAX][FRAME_TEXT_MAX];
	int n, at;
	const char *about; /* begins why, unless it is NULL */
	char *why;	   /* FAULT_WHY_MAX bytes */
};

/* These return 0, or -EINVAL with why set. */
int fault_wrong(struct fault_words *words, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int fault_split(struct fault_words *words, const char *text); /* up to a word that begins with #, a comment */
int fault_read_words(struct engine_fault *fault, struct fault_words *words); /* all that are left */
int fault_read_node(struct fault_words *words, char node[ENGINE_NAME_MAX]);
int fault_read_frame(struct fault_words *words, struct frame *frame);
int fault_end(struct fault_words *words); /* no word is left */

const char *fault_next(struct fault_words *words); /* the next word; "" behind the last */
