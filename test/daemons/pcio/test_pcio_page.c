/* test_pcio_page.c: hw-docs/devices/powercube.md, its tables and its vectors, held against the codec. */

#include "test/lib/testcase.h"

#include "can/bus/frame_text.h"
#include "daemons/pcio/pcio.h"

#define PAGE "hw-docs/devices/powercube.md"
#define LINE_MAX_BYTES 512
#define CELLS_MAX 8
#define WORDS_MAX 12

static const char *const kinds[] = { "info", "warning", "reset", "by hand", "power off" };
static const char *const types[] = { "f32", "u8", "u16", "i16", "u32", "i32" };

static const struct {
	const char *name;
	unsigned int value;
} commands[] = {
	{ "reset", 0x00 }, { "home", 0x01 }, { "halt", 0x02 },	{ "watchdog", 0x07 },
	{ "set", 0x08 },   { "get", 0x0A },  { "move", 0x0B }, { "start", 0x0F },
}, motions[] = {
	{ "ramp", 4 },	      { "step", 6 },	   { "velocity", 7 },	     { "current", 8 },
	{ "ramp+state", 14 }, { "step+state", 16 }, { "velocity+state", 17 }, { "current+state", 18 },
}, errors[] = {
	{ "EINVAL", EINVAL }, { "EPERM", EPERM },     { "EDOM", EDOM },		{ "ERANGE", ERANGE },
	{ "ENOMSG", ENOMSG }, { "EBADMSG", EBADMSG }, { "EMSGSIZE", EMSGSIZE },
};
#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define FIND(table, word) find(&(table)[0].name, sizeof(*(table)), COUNT(table), word)

static FILE *page;
static char line[LINE_MAX_BYTES]; /* as read: what a failure shows */

void setUp(void)
{
	page = fopen(PAGE, "r");
	TEST_ASSERT_NOT_NULL_MESSAGE(page, PAGE ": run from the top of the tree");
}

void tearDown(void)
{
	fclose(page);
}

/* ---- reading ---- */

static bool next_line(void)
{
	if (!fgets(line, sizeof(line), page))
		return false;
	TEST_ASSERT_MESSAGE(strchr(line, '\n'), "a line of the page is too long for this test");
	line[strcspn(line, "\n")] = '\0';
	return true;
}

static void go_to(const char *start)
{
	while (next_line())
		if (!strcmp(line, start))
			return;
	TEST_FAIL_MESSAGE(start);
}

static char *trim(char *text)
{
	char *end = text + strlen(text);

	while (*text == ' ')
		text++;
	while (end > text && end[-1] == ' ')
		*--end = '\0';
	return text;
}

/* The cells of the next row of the section's table; without the heading and the rule under it. */
static bool next_row(char *cells[CELLS_MAX])
{
	static char row[LINE_MAX_BYTES];

	while (next_line() && strncmp(line, "## ", 3)) {
		size_t n = 0;

		if (line[0] != '|' || !strncmp(line, "|---", 4) || !strncmp(line, "| id ", 5) ||
		    !strncmp(line, "| bit ", 6))
			continue;
		strcpy(row, line + 1);
		for (char *cell = row, *bar; (bar = strchr(cell, '|')) && n < CELLS_MAX; cell = bar + 1) {
			*bar = '\0';
			cells[n++] = trim(cell);
		}
		while (n < CELLS_MAX)
			cells[n++] = row + strlen(row);
		return true;
	}
	return false;
}

static int find(const char *const *names, size_t stride, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(*(const char *const *)((const char *)names + i * stride), word))
			return (int)i;
	return -1;
}

/* ---- tables ---- */

TEST(parameters_are_those_of_the_page)
{
	char *cells[CELLS_MAX];
	unsigned int rows = 0, known = 0;

	go_to("## Parameters");
	while (next_row(cells)) {
		unsigned int id = (unsigned int)strtoul(cells[0], NULL, 16), flags;
		const struct pcio_parameter *p = pcio_parameter(id);

		TEST_ASSERT_NOT_NULL_MESSAGE(p, line);
		flags = !strcmp(cells[4], "any")	    ? PCIO_SETTABLE
			: !strcmp(cells[4], "not negative") ? PCIO_SETTABLE | PCIO_MAGNITUDE
							    : 0;
		TEST_ASSERT_EQUAL_STRING_MESSAGE(cells[1], p->name, line);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(cells[2], types[p->type], line);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(cells[3], p->unit, line);
		TEST_ASSERT_EQUAL_MESSAGE(flags, p->flags, line);
		TEST_ASSERT_MESSAGE(flags || !*cells[4], line);
		rows++;
	}
	for (unsigned int id = 0; id < 0x200; id++)
		known += pcio_parameter(id) != NULL;
	TEST_ASSERT_EQUAL(known, rows);
}

TEST(states_are_those_of_the_page)
{
	const struct pcio_bit *b = pcio_state_bits;
	char *cells[CELLS_MAX];

	go_to("## State word");
	for (; next_row(cells); b++) {
		TEST_ASSERT_EQUAL_HEX32_MESSAGE(1u << strtoul(cells[0], NULL, 10), b->bit, line);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(cells[1], b->name, line);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(cells[2], kinds[b->kind], line);
	}
	TEST_ASSERT_EQUAL(0, b->bit);
}

TEST(configs_are_those_of_the_page)
{
	static const struct {
		const char *name;
		uint32_t bit;
	} bits[] = {
		{ "linear", PCIO_CONFIG_LINEAR },
		{ "full-current", PCIO_CONFIG_FULL_CURRENT },
		{ "linear-screw", PCIO_CONFIG_LINEAR_SCREW },
		{ "watchdog", PCIO_CONFIG_WATCHDOG },
		{ "no-acknowledge", PCIO_CONFIG_NO_ACKNOWLEDGE },
		{ "sync-motion", PCIO_CONFIG_SYNC_MOTION },
	};
	char *cells[CELLS_MAX];
	size_t n = 0;

	go_to("## Config word");
	while (next_row(cells)) {
		if (n == COUNT(bits) || strcmp(cells[1], bits[n].name) != 0)
			continue;
		TEST_ASSERT_EQUAL_HEX32_MESSAGE(1u << strtoul(cells[0], NULL, 10), bits[n].bit, line);
		n++;
	}
	TEST_ASSERT_EQUAL(COUNT(bits), n);
}

/* ---- vectors: each line is said again by the codec, and must come out the same ---- */

static struct frame frame_of(const char *text)
{
	struct frame f;

	TEST_ASSERT_NULL_MESSAGE(frame_text_read(&f, text, strlen(text)), line);
	return f;
}

static const char *error_word(int error)
{
	for (size_t i = 0; i < COUNT(errors); i++)
		if (errors[i].value == (unsigned int)-error)
			return errors[i].name;
	return "?";
}

static int find_parameter(const char *name)
{
	int id = 0;

	while (!pcio_parameter((unsigned int)id) || strcmp(pcio_parameter((unsigned int)id)->name, name) != 0)
		TEST_ASSERT_MESSAGE(id++ < PCIO_PARAMETER_MAX, line);
	return id;
}

static int encode(char **word, size_t n, struct frame *f)
{
	int command = FIND(commands, word[1]), motion, parameter;
	unsigned int module = (unsigned int)strtoul(word[0], NULL, 10);
	enum pcio_command code;
	double value = n > 3 ? strtod(word[3], NULL) : 0;

	TEST_ASSERT_MESSAGE(command >= 0, line);
	code = (enum pcio_command)commands[command].value;
	if (!strcmp(word[0], "all"))
		return pcio_encode_all(code, f);
	if (n == 2)
		return pcio_encode_command(module, code, f);
	if (code == PCIO_MOVE) {
		motion = FIND(motions, word[2]);
		TEST_ASSERT_MESSAGE(motion >= 0 && n > 3, line);
		motion = (int)motions[motion].value;
		return pcio_encode_move(module, (enum pcio_motion)motion, value, f);
	}
	parameter = find_parameter(word[2]);
	if (code == PCIO_GET) {
		TEST_ASSERT_MESSAGE(n == 3, line);
		return pcio_encode_get(module, (unsigned int)parameter, f);
	}
	TEST_ASSERT_MESSAGE(code == PCIO_SET && n == 4, line);
	return pcio_encode_set(module, (unsigned int)parameter, value, f);
}

static void say_encode(char *said, char **word, size_t n)
{
	struct frame f, before;
	int error;

	memset(&f, 0x5A, sizeof(f));
	before = f;
	error = encode(word, n, &f);
	if (error) {
		TEST_ASSERT_EQUAL_MEMORY_MESSAGE(&before, &f, sizeof(f), line);
		strcpy(said, error_word(error));
		return;
	}
	TEST_ASSERT_MESSAGE(frame_valid(&f), line);
	frame_text_write(said, &f);
}

static const char *motion_word(unsigned int motion)
{
	for (size_t i = 0; i < COUNT(motions); i++)
		if (motions[i].value == motion)
			return motions[i].name;
	return "?";
}

static void say_decode(char *said, const char *text)
{
	struct frame f = frame_of(text);
	const struct pcio_parameter *p;
	struct pcio_reply r, before;
	int error;

	memset(&r, 0x5A, sizeof(r));
	before = r;
	/* What a frame does not carry must not count. */
	memset(f.data + f.len, 0xA5, sizeof(f.data) - f.len);
	error = pcio_decode(&r, &f, 123456789);
	if (error) {
		TEST_ASSERT_EQUAL_MEMORY_MESSAGE(&before, &r, sizeof(r), line);
		strcpy(said, error_word(error));
		return;
	}
	TEST_ASSERT_EQUAL_INT64_MESSAGE(123456789, r.t_ns, line);
	TEST_ASSERT_EQUAL_MESSAGE(r.command == PCIO_MOVE && r.parameter > 10, r.with_state, line);
	said += sprintf(said, "%u ", r.module);
	switch (r.command) {
	case PCIO_GET:
		p = pcio_parameter(r.parameter);
		sprintf(said, "get %s %.*g", p->name, p->type == PCIO_F32 ? 9 : 10, r.value);
		break;
	case PCIO_SET:
		sprintf(said, "set %s status %02x", pcio_parameter(r.parameter)->name, r.status);
		break;
	case PCIO_MOVE:
		said += sprintf(said, "move %s ", motion_word(r.parameter));
		if (r.with_state)
			sprintf(said, "%.9g short %02x in %x out %x", r.value, f.data[6], f.data[7] & 0xF,
				f.data[7] >> 4);
		else
			sprintf(said, "status %02x", r.status);
		break;
	default:
		for (size_t i = 0; i < COUNT(commands); i++)
			if (commands[i].value == r.command)
				strcpy(said, commands[i].name);
	}
}

/* Left of " = " in words; what stands right of it comes back as said by the codec. */
static void say(char *said, char *left)
{
	char *word[WORDS_MAX] = { left };
	size_t n = 0;

	for (char *w = strtok(left, " "); w && n < WORDS_MAX; w = strtok(NULL, " "))
		word[n++] = w;
	if (!strcmp(word[0], "encode") && n >= 3) {
		say_encode(said, word + 1, n - 1);
	} else if (!strcmp(word[0], "decode") && n == 2) {
		say_decode(said, word[1]);
	} else if (!strcmp(word[0], "state") && n == 2) {
		uint32_t state = (uint32_t)strtoul(word[1], NULL, 16);

		said += sprintf(said, "%s:", kinds[pcio_worst(state)]);
		if (state)
			*said++ = ' ';
		pcio_text(said, PCIO_TEXT_MAX, state);
	} else {
		TEST_FAIL_MESSAGE(line);
	}
}

TEST(vectors_hold)
{
	unsigned int vectors = 0;

	go_to("```vectors");
	while (next_line() && strcmp(line, "```")) {
		char said[PCIO_TEXT_MAX + 40], copy[LINE_MAX_BYTES], *equals;

		/* The driver sends no steps, and names no bits of the config word. */
		if (line[0] == '#' || strstr(line, " ms ") || !strncmp(line, "config ", 7))
			continue;
		strcpy(copy, line);
		equals = strstr(copy, " =");
		TEST_ASSERT_NOT_NULL_MESSAGE(equals, line);
		*equals++ = '\0';
		if (strstr(equals, ", bit "))
			*strstr(equals, ", bit ") = '\0'; /* without a name */
		say(said, copy);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(trim(equals + 1), said, line);
		vectors++;
	}
	TEST_ASSERT_GREATER_THAN(150, vectors);
}

/* ---- every command, every motion and an example of every kind of value is among the vectors ---- */

static bool vector_with(const char *start, const char *part)
{
	rewind(page);
	go_to("```vectors");
	while (next_line() && strcmp(line, "```"))
		if (!strncmp(line, start, strlen(start)) && strstr(line, part) && !strstr(line, "= E"))
			return true;
	return false;
}

TEST(vectors_cover_the_protocol)
{
	static const unsigned int type_examples[] = { PCIO_ACTUAL_POSITION, PCIO_ADDRESS, PCIO_VERSION,
						      PCIO_RAW_CURRENT,	    PCIO_SERIAL,  PCIO_POSITION_COUNT };
	char part[80];

	for (size_t i = 0; i < COUNT(motions); i++) {
		snprintf(part, sizeof(part), " move %s ", motions[i].name);
		TEST_ASSERT_MESSAGE(vector_with("encode ", part), part);
		TEST_ASSERT_MESSAGE(vector_with("decode ", part), part);
	}
	for (size_t i = 0; i < COUNT(commands); i++) {
		snprintf(part, sizeof(part), " %s ", commands[i].name);
		TEST_ASSERT_MESSAGE(vector_with("encode ", part), part);
	}
	for (size_t i = 0; i < COUNT(type_examples); i++) {
		const struct pcio_parameter *p = pcio_parameter(type_examples[i]);

		TEST_ASSERT_EQUAL(i, p->type);
		snprintf(part, sizeof(part), " get %s ", p->name);
		TEST_ASSERT_MESSAGE(vector_with("decode ", part), part);
	}
}
