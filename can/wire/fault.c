/* fault.c: faults read from words. */
#include "can/wire/fault.h"
#include "config/base/base.h"

#include "can/bus/bits.h"

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
			  "classic NODE [off]\n"
			  "        its controller does not know CAN FD, and destroys such frames\n"
			  "clear   no more drop, corrupt, delay, stuck, babble\n";

/* ---- words ---- */

int fault_wrong(struct fault_words *words, const char *fmt, ...)
{
	int n = words->about ? snprintf(words->why, FAULT_WHY_MAX, "%s: ", words->about) : 0;
	va_list args;

	va_start(args, fmt);
	vsnprintf(words->why + n, (size_t)(FAULT_WHY_MAX - n), fmt, args);
	va_end(args);
	return -EINVAL;
}

int fault_split(struct fault_words *words, const char *text)
{
	static const char blanks[] = " \t\r\n";

	for (text += strspn(text, blanks); *text && *text != '#'; text += strspn(text, blanks)) {
		size_t len = strcspn(text, blanks);

		if (words->n == FAULT_WORDS_MAX)
			return fault_wrong(words, "too many words");
		if (len >= sizeof(words->word[0]))
			return fault_wrong(words, "a word of %zu letters", len);
		memcpy(words->word[words->n], text, len);
		words->word[words->n++][len] = 0;
		text += len;
	}
	return 0;
}

const char *fault_next(struct fault_words *words)
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

int fault_end(struct fault_words *words)
{
	char quoted[TEXT_QUOTED_MAX];

	return words->at < words->n ? fault_wrong(words, "%s is too much", text_quote(quoted, fault_next(words))) : 0;
}

/* ---- the parts ---- */

int fault_read_node(struct fault_words *words, char node[ENGINE_NAME_MAX])
{
	const char *word = fault_next(words);
	char quoted[TEXT_QUOTED_MAX];

	if (!*word)
		return fault_wrong(words, "which node?");
	if (!text_is_name(word))
		return fault_wrong(words, "%s is not the name of a node: letters, digits, _ . -",
				   text_quote(quoted, word));
	strcpy(node, word);
	return 0;
}

int fault_read_frame(struct fault_words *words, struct frame *frame)
{
	const char *word = fault_next(words), *problem = frame_text_read(frame, word, strlen(word));
	char quoted[TEXT_QUOTED_MAX];
	struct bits bits;

	if (!problem && !bits_of(&bits, frame))
		problem = "scripts and faults take classic frames only";
	return problem ? fault_wrong(words, "%s is not a frame such as 123#DEADBEEF: %s", text_quote(quoted, word),
				     problem)
		       : 0;
}

static int read_time(struct fault_words *words, struct engine_fault *fault)
{
	const char *word = fault_next(words);
	char quoted[TEXT_QUOTED_MAX];

	if (text_duration(word, &fault->ns) || fault->ns <= 0)
		return fault_wrong(words, "%s is not a time such as 5ms", text_quote(quoted, word));
	return 0;
}

static int read_chance(struct fault_words *words, struct engine_fault *fault)
{
	const char *word = fault_next(words);
	const size_t len = strlen(word);
	char quoted[TEXT_QUOTED_MAX], number[FRAME_TEXT_MAX];
	int64_t n;
	double percent;

	if (!strcmp(word, "off")) {
		fault->off = true;
		return 0;
	}
	if (len && word[len - 1] == '%') {
		snprintf(number, sizeof(number), "%.*s", (int)(len - 1), word);
		if (text_real(number, &percent) || percent < 0.0001 || percent > 100)
			return fault_wrong(words, "%s is not from 0.0001%% to 100%%", text_quote(quoted, word));
		fault->ppm = (uint32_t)(percent * 10000 + 0.5);
		return 0;
	}
	if (text_int(word, &n) || n < 1 || n > UINT32_MAX)
		return fault_wrong(words, "%s: write how many frames (3), which part of them (2.5%%), or off",
				   text_quote(quoted, word));
	fault->next = (uint32_t)n;
	return 0;
}

static int read_bit(struct fault_words *words, struct engine_fault *fault)
{
	const char *word = fault_next(words);
	char quoted[TEXT_QUOTED_MAX];
	int64_t bit;

	if (text_int(word, &bit) || bit < 0 || bit >= BITS_MAX)
		return fault_wrong(words, "at %s: write a bit from 0, the start bit, to %d", text_quote(quoted, word),
				   BITS_MAX - 1);
	fault->bit = (int)bit;
	return 0;
}

static int read_power(struct fault_words *words, struct engine_fault *fault)
{
	if (next_is(words, "on"))
		fault->kind = ENGINE_POWER_ON;
	else if (!next_is(words, "off"))
		return fault_wrong(words, "write power off NODE or power on NODE");
	return 0;
}

/* ---- the faults ---- */

/* What follows the word, a letter each: C how many, P off or on, N a node, F a frame, T a time; [ the rest may be left
 * out; A at and a bit, or nothing; L a level, or nothing; O off, which ends it, or nothing. */
static const struct kind {
	const char *word;
	enum engine_fault_kind kind;
	const char *form;
} kinds[] = {
	{ "drop", ENGINE_DROP, "C[N" },		  { "corrupt", ENGINE_CORRUPT, "CA[N" },
	{ "delay", ENGINE_DELAY, "NOT" },	  { "stuck", ENGINE_STUCK, "OLT" },
	{ "babble", ENGINE_BABBLE, "NOF[T" },	  { "power", ENGINE_POWER_OFF, "PN" },
	{ "disconnect", ENGINE_DISCONNECT, "N" }, { "connect", ENGINE_CONNECT, "N" },
	{ "classic", ENGINE_CLASSIC, "NO" },	  { "clear", ENGINE_CLEAR, "" },
};

static int read_part(struct fault_words *words, struct engine_fault *fault, char part)
{
	switch (part) {
	case 'C':
		return read_chance(words, fault);
	case 'P':
		return read_power(words, fault);
	case 'N':
		return fault_read_node(words, fault->node);
	case 'F':
		return fault_read_frame(words, &fault->frame);
	case 'T':
		return read_time(words, fault);
	case 'A':
		return next_is(words, "at") ? read_bit(words, fault) : 0;
	case 'L':
		fault->level = next_is(words, "dominant")    ? ENGINE_DOMINANT
			       : next_is(words, "recessive") ? ENGINE_RECESSIVE
							     : ENGINE_HELD;
		return 0;
	default:
		return 0;
	}
}

static int read_form(struct fault_words *words, struct engine_fault *fault, const char *form)
{
	int status = 0;

	for (; *form && !status; form++) {
		if (*form == '[' && words->at == words->n)
			break;
		if (*form == 'O' && next_is(words, "off")) {
			fault->off = true;
			break;
		}
		status = read_part(words, fault, *form);
	}
	return status ? status : fault_end(words);
}

int fault_read_words(struct engine_fault *fault, struct fault_words *words)
{
	const char *word = fault_next(words), *near = NULL;
	char quoted[TEXT_QUOTED_MAX];

	*fault = (struct engine_fault){ .bit = -1 };
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		nearest_try(word, kinds[i].word, &near);
		if (strcmp(word, kinds[i].word) != 0)
			continue;
		words->about = word;
		fault->kind = kinds[i].kind;
		return read_form(words, fault, kinds[i].form);
	}
	if (near)
		return fault_wrong(words, "%s is not a fault; did you mean %s?", text_quote(quoted, word), near);
	return fault_wrong(words,
			   "%s is not a fault: drop, corrupt, delay, stuck, babble, power, disconnect, connect, "
			   "classic or clear",
			   text_quote(quoted, word));
}

int fault_read(struct engine_fault *fault, const char *text, char why[FAULT_WHY_MAX])
{
	struct fault_words words = { .why = why };
	int status = fault_split(&words, text);

	return status ? status : fault_read_words(fault, &words);
}
