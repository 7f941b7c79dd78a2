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
			  "        frames of NODE come TIME later\n"
			  "stuck [dominant|recessive] TIME|off\n"
			  "        no node can send: the wire is held busy, shorted, open\n"
			  "babble NODE FRAME [TIME] | babble NODE off\n"
			  "        NODE sends FRAME without end\n"
			  "power off|on NODE, disconnect NODE, connect NODE\n"
			  "clear   no more drop, corrupt, delay, stuck, babble\n";

#define WORDS_MAX 8
#define WORD_MAX FRAME_TEXT_MAX

struct fault_words {
	char word[WORDS_MAX][WORD_MAX];
	int n, at;
	char *why;
};

static int __attribute__((format(printf, 2, 3))) wrong(struct fault_words *words, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(words->why, FAULT_WHY_MAX, fmt, args);
	va_end(args);
	return -EINVAL;
}

static int split(struct fault_words *words, const char *text)
{
	static const char blanks[] = " \t";

	for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
		size_t len = strcspn(text, blanks);

		if (words->n == WORDS_MAX)
			return wrong(words, "too many words");
		if (len >= WORD_MAX)
			return wrong(words, "a word of %zu letters", len);
		memcpy(words->word[words->n], text, len);
		words->word[words->n++][len] = 0;
		text += len;
	}
	return 0;
}

/* The next word; "" behind the last. */
static const char *next(struct fault_words *words)
{
	return words->at < words->n ? words->word[words->at++] : "";
}

static bool next_is(struct fault_words *words, const char *word)
{
	if (words->at == words->n || strcmp(words->word[words->at], word) != 0)
		return false;
	words->at++;
	return true;
}

static bool more(const struct fault_words *words)
{
	return words->at < words->n;
}

/* ---- the parts ---- */

static int read_node(struct fault_words *words, struct engine_fault *fault)
{
	const char *word = next(words);
	char quoted[TEXT_QUOTED_MAX];

	if (!*word)
		return wrong(words, "%s: which node?", words->word[0]);
	if (!text_is_name(word))
		return wrong(words, "%s: %s is not the name of a node: letters, digits, _ . -", words->word[0],
			     text_quote(quoted, word));
	snprintf(fault->node, sizeof(fault->node), "%s", word);
	return 0;
}

static int read_time(struct fault_words *words, struct engine_fault *fault)
{
	const char *word = next(words);
	char quoted[TEXT_QUOTED_MAX];

	if (text_duration(word, &fault->ns) || fault->ns <= 0)
		return wrong(words, "%s: %s is not a time such as 5ms", words->word[0], text_quote(quoted, word));
	return 0;
}

static int read_chance(struct fault_words *words, struct engine_fault *fault)
{
	const char *word = next(words);
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
			return wrong(words, "%s: %s is not from 0.0001%% to 100%%", words->word[0],
				     text_quote(quoted, word));
		fault->ppm = (uint32_t)(percent * 10000 + 0.5);
		return 0;
	}
	if (text_int(word, &n) || n < 1 || n > UINT32_MAX)
		return wrong(words, "%s: %s: write how many frames (3), which part of them (2.5%%), or off",
			     words->word[0], text_quote(quoted, word));
	fault->next = (uint32_t)n;
	return 0;
}

/* ---- the faults ---- */

static int read_drop(struct fault_words *words, struct engine_fault *fault)
{
	int status = read_chance(words, fault);

	return status || !more(words) ? status : read_node(words, fault);
}

static int read_corrupt(struct fault_words *words, struct engine_fault *fault)
{
	int status = read_chance(words, fault);
	char quoted[TEXT_QUOTED_MAX];
	int64_t bit;

	if (!status && next_is(words, "at")) {
		const char *word = next(words);

		if (text_int(word, &bit) || bit < 0 || bit >= BITS_MAX)
			return wrong(words, "corrupt: at %s: write a bit from 0, the start bit, to %d",
				     text_quote(quoted, word), BITS_MAX - 1);
		fault->bit = (int)bit;
	}
	return status || !more(words) ? status : read_node(words, fault);
}

static int read_delay(struct fault_words *words, struct engine_fault *fault)
{
	int status = read_node(words, fault);

	if (status)
		return status;
	fault->off = next_is(words, "off");
	return fault->off ? 0 : read_time(words, fault);
}

static int read_stuck(struct fault_words *words, struct engine_fault *fault)
{
	fault->off = next_is(words, "off");
	if (fault->off)
		return 0;
	if (next_is(words, "dominant"))
		fault->level = ENGINE_DOMINANT;
	else if (next_is(words, "recessive"))
		fault->level = ENGINE_RECESSIVE;
	return read_time(words, fault);
}

static int read_babble(struct fault_words *words, struct engine_fault *fault)
{
	int status = read_node(words, fault);
	const char *word, *problem;
	char quoted[TEXT_QUOTED_MAX];
	struct bits bits;

	if (status)
		return status;
	fault->off = next_is(words, "off");
	if (fault->off)
		return 0;
	word = next(words);
	problem = frame_text_read(&fault->frame, word, strlen(word));
	if (!problem && (!frame_valid(&fault->frame) || !bits_of(&bits, &fault->frame)))
		problem = "the wire takes classic frames only";
	if (problem)
		return wrong(words, "babble: %s is not a frame such as 123#DEADBEEF: %s", text_quote(quoted, word),
			     problem);
	return more(words) ? read_time(words, fault) : 0;
}

static int read_power(struct fault_words *words, struct engine_fault *fault)
{
	if (next_is(words, "on"))
		fault->kind = ENGINE_POWER_ON;
	else if (!next_is(words, "off"))
		return wrong(words, "power: write power off NODE or power on NODE");
	return read_node(words, fault);
}

static int read_nothing(struct fault_words *words, struct engine_fault *fault)
{
	(void)words;
	(void)fault;
	return 0;
}

static const struct kind {
	const char *word;
	enum engine_fault_kind kind;
	int (*read)(struct fault_words *words, struct engine_fault *fault);
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
	struct fault_words words = { .why = why };
	const char *word, *near = NULL;
	char quoted[TEXT_QUOTED_MAX];

	*fault = (struct engine_fault){ .bit = -1 };
	if (split(&words, text))
		return -EINVAL;
	word = next(&words);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		int status;

		nearest_try(word, kinds[i].word, &near);
		if (strcmp(word, kinds[i].word) != 0)
			continue;
		fault->kind = kinds[i].kind;
		status = kinds[i].read(&words, fault);
		if (!status && more(&words))
			status = wrong(&words, "%s: %s is too much", word, text_quote(quoted, next(&words)));
		return status;
	}
	if (near)
		return wrong(&words, "%s is not a fault; did you mean %s?", text_quote(quoted, word), near);
	return wrong(&words,
		     "%s is not a fault: drop, corrupt, delay, stuck, babble, power, disconnect, connect or clear",
		     text_quote(quoted, word));
}
