/* drv_tick_parse.c: a tick as people write it.  Checked: covered. */
#include "can/bus/frame.h"
#include "daemons/drv/drv_tick.h"

#define CLOCK_NS 1000000 /* unless the robot file says otherwise */
#define DIVIDER_MAX 1000
#define EXT_CHARS 10 /* 0x12345678 */
#define WORDS_MAX 4  /* frame BUS ID PERIOD */
#define WORD_SIZE 32 /* with its end; no longer word is right */

_Static_assert(TEXT_NAME_MAX < DRV_TICK_BUS_MAX, "a bus has a name");

static const char wrong_form[] = "a tick such as 5ms, clock/5+1ms, frame torso 0x0AF 10ms or ref 2ms";
static const char wrong_period[] = "a tick with a period from 0.1ms to 10s";
static const char wrong_divider[] = "a tick on each of 1 to 1000 cycles of the clock, such as clock/5";
static const char wrong_offset[] = "a tick with an offset from 0 to less than its period, as in clock/5+1ms";
static const char wrong_slow[] = "a tick with a period of at most 10s, of which the clock's is a part";
static const char wrong_bus[] = "a tick on a bus with a name such as torso";
static const char wrong_id[] = "a tick on an identifier such as 0x0AF, or 0x000000AF for one of 29 bits";

/* How many words there are, or WORDS_MAX + 1 when there are more, or one is too long. */
static size_t split(char words[WORDS_MAX][WORD_SIZE], const char *text)
{
	size_t n = 0, len;

	for (text += strspn(text, " "); *text; text += len + strspn(text + len, " ")) {
		len = strcspn(text, " ");
		if (n == WORDS_MAX || len >= WORD_SIZE)
			return WORDS_MAX + 1;
		memcpy(words[n], text, len);
		words[n++][len] = '\0';
	}
	return n;
}

static const char *parse_period(struct drv_tick_rule *rule, const char *text)
{
	if (text_duration(text, &rule->period_ns))
		return wrong_form;
	if (rule->period_ns < DRV_TICK_PERIOD_MIN_NS || rule->period_ns > DRV_TICK_PERIOD_MAX_NS)
		return wrong_period;
	return NULL;
}

/* What follows "clock". */
static const char *parse_clock(struct drv_tick_rule *rule, char *text)
{
	char *offset = strchr(text, '+');

	if (offset)
		*offset++ = '\0';
	if (*text && (*text != '/' || text_int(text + 1, &rule->divider)))
		return wrong_form;
	if (rule->divider < 1 || rule->divider > DIVIDER_MAX)
		return wrong_divider;
	rule->period_ns = rule->divider * CLOCK_NS;
	if (offset && text_duration(offset, &rule->offset_ns))
		return wrong_form;
	return rule->offset_ns < 0 ? wrong_offset : NULL;
}

static const char *parse_frame(struct drv_tick_rule *rule, const char *bus, const char *id)
{
	bool ext = strlen(id) == EXT_CHARS;
	int64_t value;

	if (*bus && !text_is_name(bus))
		return wrong_bus;
	strcpy(rule->bus, bus);
	if (strncmp(id, "0x", 2) || strlen(id) > EXT_CHARS || text_int(id, &value) ||
	    value > (ext ? FRAME_EXT_MASK : FRAME_STD_MASK))
		return wrong_id;
	rule->id = (uint32_t)value | (ext ? FRAME_EXT : 0);
	return NULL;
}

static const char *parse(struct drv_tick_rule *rule, const char *text)
{
	char words[WORDS_MAX][WORD_SIZE] = { "" };
	size_t n = split(words, text);
	const char *wrong;
	bool named; /* the bus */

	if (n == 1 && !strncmp(words[0], "clock", 5)) {
		rule->kind = DRV_TICK_CLOCK;
		return parse_clock(rule, words[0] + 5);
	}
	if (n == 1)
		return parse_period(rule, words[0]);
	if (n == 2 && !strcmp(words[0], "ref")) {
		rule->kind = DRV_TICK_REF;
		return parse_period(rule, words[1]);
	}
	named = n == WORDS_MAX;
	if (strcmp(words[0], "frame") != 0 || !(named || (n == WORDS_MAX - 1 && !strncmp(words[1], "0x", 2))))
		return wrong_form;
	rule->kind = DRV_TICK_FRAME;
	wrong = parse_frame(rule, named ? words[1] : "", words[n - 2]);
	return wrong ? wrong : parse_period(rule, words[n - 1]);
}

const char *drv_tick_parse(struct drv_tick_rule *rule, const char *text)
{
	struct drv_tick_rule found = { .kind = DRV_TICK_PERIOD, .divider = 1 };
	const char *wrong = parse(&found, text);

	if (!wrong && rule)
		*rule = found;
	return wrong;
}

const char *drv_tick_pace(struct drv_tick_rule *rule, int64_t clock_ns)
{
	if (rule->kind != DRV_TICK_CLOCK)
		return NULL;
	rule->period_ns = rule->divider * (clock_ns ? clock_ns : CLOCK_NS);
	if (rule->period_ns > DRV_TICK_PERIOD_MAX_NS)
		return wrong_slow;
	return rule->offset_ns < rule->period_ns ? NULL : wrong_offset;
}
