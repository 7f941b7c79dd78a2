/* fault.c: faults read from words. */
#include "can/wire/fault.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "can/bits.h"
#include "can/frame_text.h"
#include "config/nearest.h"
#include "config/text.h"

const char fault_help[] = "drop N|P%|off [NODE]\n"
			  "        the next N frames, or P percent, are acknowledged and lost: for NODE, or for all\n"
			  "corrupt N|P%|off [at BIT] [NODE]\n"
			  "        a bit of them is flipped on the wire, or as NODE alone hears it\n"
			  "delay NODE TIME|off\n"
			  "        what NODE sends comes TIME later\n"
			  "stuck [dominant|recessive] TIME|off\n"
			  "        nobody can send: the wire is held busy, shorted, open\n"
			  "babble NODE FRAME [TIME] | babble NODE off\n"
			  "        NODE sends FRAME without end\n"
			  "power off|on NODE, disconnect NODE, connect NODE\n"
			  "clear   no more drop, corrupt, delay, stuck, babble\n";

#define WORDS_MAX 8
#define WORD_MAX FRAME_TEXT_MAX

struct fault_words {
	char words[WORDS_MAX][WORD_MAX];
	int n, at;
	char *why;
};

static int __attribute__((format(printf, 2, 3))) wrong(struct fault_words *line, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(line->why, FAULT_WHY_MAX, fmt, args);
	va_end(args);
	return -EINVAL;
}

static int split(struct fault_words *line, const char *text)
{
	static const char blanks[] = " \t";

	for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
		size_t len = strcspn(text, blanks);

		if (line->n == WORDS_MAX)
			return wrong(line, "too many words");
		if (len >= WORD_MAX)
			return wrong(line, "a word of %zu letters", len);
		memcpy(line->words[line->n], text, len);
		line->words[line->n++][len] = 0;
		text += len;
	}
	return 0;
}

/* The next word; "" behind the last. */
static const char *next(struct fault_words *line)
{
	return line->at < line->n ? line->words[line->at++] : "";
}

static bool next_is(struct fault_words *line, const char *word)
{
	if (line->at == line->n || strcmp(line->words[line->at], word) != 0)
		return false;
	line->at++;
	return true;
}

static bool more(const struct fault_words *line)
{
	return line->at < line->n;
}

/* ---- the parts ---- */

static int read_node(struct fault_words *line, struct engine_fault *fault)
{
	const char *word = next(line);
	char quoted[TEXT_QUOTED_MAX];

	if (!*word)
		return wrong(line, "%s: which node?", line->words[0]);
	if (!text_is_name(word))
		return wrong(line, "%s: %s is no name of a node: letters, digits, _ . -", line->words[0],
			     text_quote(quoted, word));
	snprintf(fault->node, sizeof(fault->node), "%s", word);
	return 0;
}

static int read_time(struct fault_words *line, struct engine_fault *fault)
{
	const char *word = next(line);
	char quoted[TEXT_QUOTED_MAX];

	if (text_duration(word, &fault->ns) || fault->ns <= 0)
		return wrong(line, "%s: %s is not a time such as 5ms", line->words[0], text_quote(quoted, word));
	return 0;
}

static int read_chance(struct fault_words *line, struct engine_fault *fault)
{
	const char *word = next(line);
	const size_t len = strlen(word);
	char quoted[TEXT_QUOTED_MAX], number[WORD_MAX];
	int64_t n;
	double percent;

	if (!strcmp(word, "off")) {
		fault->off = true;
		return 0;
	}
	if (len && word[len - 1] == '%') {
		snprintf(number, sizeof(number), "%.*s", (int)(len - 1), word);
		if (text_real(number, &percent) || percent < 0.0001 || percent > 100)
			return wrong(line, "%s: %s is not from 0.0001%% to 100%%", line->words[0],
				     text_quote(quoted, word));
		fault->ppm = (uint32_t)(percent * 10000 + 0.5);
		return 0;
	}
	if (text_int(word, &n) || n < 1 || n > UINT32_MAX)
		return wrong(line, "%s: %s: write how many frames (3), which part of them (2.5%%), or off",
			     line->words[0], text_quote(quoted, word));
	fault->next = (uint32_t)n;
	return 0;
}

/* ---- the faults ---- */

static int read_drop(struct fault_words *line, struct engine_fault *fault)
{
	int status = read_chance(line, fault);

	return status || !more(line) ? status : read_node(line, fault);
}

static int read_corrupt(struct fault_words *line, struct engine_fault *fault)
{
	int status = read_chance(line, fault);
	char quoted[TEXT_QUOTED_MAX];
	int64_t bit;

	if (!status && next_is(line, "at")) {
		const char *word = next(line);

		if (text_int(word, &bit) || bit < 0 || bit >= BITS_MAX)
			return wrong(line, "corrupt: at %s: write a bit from 0, the start bit, to %d",
				     text_quote(quoted, word), BITS_MAX - 1);
		fault->bit = (int)bit;
	}
	return status || !more(line) ? status : read_node(line, fault);
}

static int read_delay(struct fault_words *line, struct engine_fault *fault)
{
	int status = read_node(line, fault);

	if (status)
		return status;
	fault->off = next_is(line, "off");
	return fault->off ? 0 : read_time(line, fault);
}

static int read_stuck(struct fault_words *line, struct engine_fault *fault)
{
	fault->off = next_is(line, "off");
	if (fault->off)
		return 0;
	if (next_is(line, "dominant"))
		fault->level = ENGINE_DOMINANT;
	else if (next_is(line, "recessive"))
		fault->level = ENGINE_RECESSIVE;
	return read_time(line, fault);
}

static int read_babble(struct fault_words *line, struct engine_fault *fault)
{
	int status = read_node(line, fault);
	const char *word, *problem;
	char quoted[TEXT_QUOTED_MAX];
	struct bits bits;

	if (status)
		return status;
	fault->off = next_is(line, "off");
	if (fault->off)
		return 0;
	word = next(line);
	problem = frame_text_read(&fault->frame, word, strlen(word));
	if (!problem && (!frame_valid(&fault->frame) || !bits_of(&bits, &fault->frame)))
		problem = "the wire takes classic frames only";
	if (problem)
		return wrong(line, "babble: %s is no frame such as 123#DEADBEEF: %s", text_quote(quoted, word),
			     problem);
	return more(line) ? read_time(line, fault) : 0;
}

static int read_power(struct fault_words *line, struct engine_fault *fault)
{
	if (next_is(line, "on"))
		fault->kind = ENGINE_POWER_ON;
	else if (!next_is(line, "off"))
		return wrong(line, "power: write power off NODE or power on NODE");
	return read_node(line, fault);
}

static int read_nothing(struct fault_words *line, struct engine_fault *fault)
{
	(void)line;
	(void)fault;
	return 0;
}

static const struct kind {
	const char *word;
	enum engine_fault_kind kind;
	int (*read)(struct fault_words *line, struct engine_fault *fault);
} kinds[] = {
	{ "drop", ENGINE_DROP, read_drop },
	{ "corrupt", ENGINE_CORRUPT, read_corrupt },
	{ "delay", ENGINE_DELAY, read_delay },
	{ "stuck", ENGINE_STUCK, read_stuck },
	{ "babble", ENGINE_BABBLE, read_babble },
	{ "power", ENGINE_POWER_OFF, read_power },
	{ "disconnect", ENGINE_DISCONNECT, read_node },
	{ "connect", ENGINE_CONNECT, read_node },
	{ "clear", ENGINE_CLEAR, read_nothing },
};

int fault_read(struct engine_fault *fault, const char *text, char why[FAULT_WHY_MAX])
{
	struct fault_words line = { .why = why };
	const char *word, *near = NULL;
	char quoted[TEXT_QUOTED_MAX];

	*fault = (struct engine_fault){ .bit = -1 };
	if (split(&line, text))
		return -EINVAL;
	word = next(&line);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		int status;

		nearest_try(word, kinds[i].word, &near);
		if (strcmp(word, kinds[i].word) != 0)
			continue;
		fault->kind = kinds[i].kind;
		status = kinds[i].read(&line, fault);
		if (!status && more(&line))
			status = wrong(&line, "%s: %s is too much", word, text_quote(quoted, next(&line)));
		return status;
	}
	if (near)
		return wrong(&line, "%s is no fault; did you mean %s?", text_quote(quoted, word), near);
	return wrong(&line, "%s is no fault: drop, corrupt, delay, stuck, babble, power, disconnect, connect or clear",
		     text_quote(quoted, word));
}
