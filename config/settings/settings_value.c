/* settings_value.c: one value of one row, in and out of its place. */
#include <math.h>

#include "config/settings/settings_value.h"
#include "config/settings/unit.h"

#define JOINED_MAX 2048 /* bytes of a list that becomes one text; the place of a row may be smaller */

/* ---- what is allowed ---- */

static void list_words(struct text_out *out, const char *const *words)
{
	for (size_t i = 0; words[i]; i++)
		text_add(out, "%s%s", i ? ", " : "", words[i]);
}

/* "a whole number", "one of hold, coast" */
static void expected_text(const struct settings_row *row, char *text, size_t size)
{
	static const char *const expected[] = {
		[SETTINGS_IS_BOOL] = "yes or no",
		[SETTINGS_IS_INT] = "a whole number",
		[SETTINGS_IS_REAL] = "a number",
		[SETTINGS_IS_TEXT] = "text",
		[SETTINGS_IS_WORD] = "one of ",
		[SETTINGS_IS_DURATION] = "a duration such as 5ms",
		[SETTINGS_IS_REALS] = "a list of numbers such as [0.5, 1]",
		[SETTINGS_IS_INTS] = "a list of whole numbers such as [4, 5]",
		[SETTINGS_IS_NODE] = "a part of a file",
		[SETTINGS_IS_STRING] = "text",
		[SETTINGS_IS_STRINGS] = "text",
	};
	struct text_out out = text_out(text, size);

	text_add(&out, "%s", expected[row->type]);
	if (row->type == SETTINGS_IS_WORD)
		list_words(&out, row->words);
}

void settings_value_range(const struct settings_row *row, char *text, size_t size)
{
	struct text_out out = text_out(text, size);

	if (row->words)
		list_words(&out, row->words);
	else if (row->type == SETTINGS_IS_BOOL)
		text_add(&out, "yes, no");
	else if (row->min && row->max)
		text_add(&out, "%s to %s", row->min, row->max);
	else if (row->min || row->max)
		text_add(&out, "at %s %s", row->min ? "least" : "most", row->min ? row->min : row->max);
}

static int refuse(char why[SETTINGS_WHY_MAX], const struct settings_row *row, const char *shown)
{
	char expected[SETTINGS_WHY_MAX - TEXT_QUOTED_MAX - 16];

	expected_text(row, expected, sizeof(expected));
	return text_refuse(why, SETTINGS_WHY_MAX, *shown ? "%s is not %s" : "%sno value; write %s", shown, expected);
}

static int refuse_unit(char why[SETTINGS_WHY_MAX], const struct settings_row *row, const char *shown)
{
	struct text_out out = text_out(why, SETTINGS_WHY_MAX);

	text_add(&out, "%s is not in one of ", shown);
	unit_list(&out, row->unit);
	return -EINVAL;
}

/* ---- numbers: whole numbers, numbers and durations differ in how they are read only ---- */

union number {
	int64_t i;
	double r;
};

#define WHOLE_MAX 9007199254740992.0 /* up to it a double has every whole number */

/* -EDOM: a number, in another unit. */
static int read_unit(const struct settings_row *row, const char *text, double *r)
{
	const char *unit = "";
	int err = text_real_unit(text, r, &unit);

	if (err || !*unit)
		return err;
	if (unit_convert(r, unit, row->unit))
		return *row->unit ? -EDOM : -EINVAL;
	return isfinite(*r) ? 0 : -ERANGE;
}

/* 500 kbit/s */
static int read_whole(const struct settings_row *row, const char *text, int64_t *i)
{
	double r;
	int err = text_int(text, i);

	if (err != -EINVAL || !*row->unit || !text_real(text, &r))
		return err;
	err = read_unit(row, text, &r);
	if (err || fabs(r) > WHOLE_MAX || r != round(r))
		return err ? err : -EINVAL;
	*i = (int64_t)r;
	return 0;
}

static int read_number(const struct settings_row *row, const char *text, union number *v)
{
	char with_unit[TEXT_VALUE_MAX];

	switch (row->type) {
	case SETTINGS_IS_INT:
	case SETTINGS_IS_INTS:
		return read_whole(row, text, &v->i);
	case SETTINGS_IS_DURATION:
		if (*row->unit && !text_real(text, &v->r) &&
		    snprintf(with_unit, sizeof(with_unit), "%s%s", text, row->unit) < TEXT_VALUE_MAX)
			return text_duration(with_unit, &v->i);
		return text_duration(text, &v->i);
	case SETTINGS_IS_REAL:
	case SETTINGS_IS_REALS:
		return read_unit(row, text, &v->r);
	default:
		return -EINVAL;
	}
}

bool settings_value_is_limit(const struct settings_row *row, const char *text)
{
	union number v;

	return !text || !read_number(row, text, &v);
}

static bool less(enum settings_type type, const union number *a, const union number *b)
{
	return type == SETTINGS_IS_REAL || type == SETTINGS_IS_REALS ? a->r < b->r : a->i < b->i;
}

static int set_number(const struct settings_row *row, void *place, const char *text, char why[SETTINGS_WHY_MAX])
{
	union number v, limit;
	const char *unit = row->type == SETTINGS_IS_DURATION ? "" : row->unit, *gap = *unit ? " " : "";
	char quoted[TEXT_QUOTED_MAX];
	int err = read_number(row, text, &v);

	_Static_assert(sizeof(v.i) == sizeof(v.r), "one copy serves both");
	if (err == -ERANGE)
		return text_refuse(why, SETTINGS_WHY_MAX, "%s is out of range", text_quote(quoted, text));
	if (err == -EDOM)
		return refuse_unit(why, row, text_quote(quoted, text));
	if (err)
		return refuse(why, row, text_quote(quoted, text));
	if (row->min && !read_number(row, row->min, &limit) && less(row->type, &v, &limit))
		return text_refuse(why, SETTINGS_WHY_MAX, "%.40s is below the minimum %s%s%s", text, row->min, gap,
				   unit);
	if (row->max && !read_number(row, row->max, &limit) && less(row->type, &limit, &v))
		return text_refuse(why, SETTINGS_WHY_MAX, "%.40s is above the maximum %s%s%s", text, row->max, gap,
				   unit);
	memcpy(place, &v, sizeof(v));
	return 0;
}

/* ---- lists: first checked, then set, so that a wrong one changes nothing ---- */

static int set_element(const struct settings_row *row, void *values, size_t i, const char *text,
		       char why[SETTINGS_WHY_MAX])
{
	union number scratch;

	if (values && i < row->room)
		return set_number(row, (char *)values + row->offset + i * sizeof(scratch), text, why);
	return set_number(row, &scratch, text, why);
}

static int set_count(const struct settings_row *row, void *values, size_t n, char why[SETTINGS_WHY_MAX])
{
	if (n > row->room)
		return text_refuse(why, SETTINGS_WHY_MAX, "%zu values, at most %zu are allowed", n, row->room);
	if (row->vector && n != row->room)
		return text_refuse(why, SETTINGS_WHY_MAX, "%zu values, %zu are needed, such as %s", n, row->room,
				   row->preset);
	if (values && !row->vector)
		memcpy((char *)values + row->count_offset, &n, sizeof(n));
	return 0;
}

/* "1, 2" or "[1, 2]" */
static int set_list(const struct settings_row *row, void *values, const char *text, char why[SETTINGS_WHY_MAX])
{
	size_t len = strlen(text), n = 0;
	bool brackets = len >= 2 && text[0] == '[' && text[len - 1] == ']';
	const char *p = text + brackets, *end = text + len - brackets;

	for (; p < end; n++) {
		const char *comma = memchr(p, ',', (size_t)(end - p)), *stop = comma ? comma : end, *last = stop;
		char one[TEXT_VALUE_MAX];

		while (p < last && *p == ' ')
			p++;
		while (last > p && last[-1] == ' ')
			last--;
		snprintf(one, sizeof(one), "%.*s", (int)(last - p), p);
		if (set_element(row, values, n, one, why))
			return -EINVAL;
		p = stop + 1;
	}
	return set_count(row, values, n, why);
}

static int read_list(const struct settings_row *row, void *values, const struct yaml_node *list,
		     char why[SETTINGS_WHY_MAX])
{
	size_t n = 0;

	for (const struct yaml_node *node = yaml_first(list); node; node = node->next) {
		if (node->kind != YAML_TEXT || node->quoted)
			return refuse(why, row, node->quoted ? "a list of text" : "a list of lists or mappings");
		if (set_element(row, values, n++, node->text, why))
			return -EINVAL;
	}
	return set_count(row, values, n, why);
}

/* ---- text ---- */

static int set_text(const struct settings_row *row, char *place, const char *text, char why[SETTINGS_WHY_MAX])
{
	const char *form = row->check ? row->check(text) : NULL;
	char quoted[TEXT_QUOTED_MAX];

	if (form)
		return text_refuse(why, SETTINGS_WHY_MAX, "%s is not %s", text_quote(quoted, text), form);
	if (strlen(text) >= row->room)
		return text_refuse(why, SETTINGS_WHY_MAX, "%s is longer than %zu bytes", text_quote(quoted, text),
				   row->room - 1);
	strcpy(place, text);
	return 0;
}

/* [a, b] as "a,b". */
static int read_joined(const struct settings_row *row, void *values, const struct yaml_node *list,
		       char why[SETTINGS_WHY_MAX])
{
	char text[JOINED_MAX] = "";
	size_t len = 0;

	for (const struct yaml_node *node = yaml_first(list); node; node = node->next) {
		if (node->kind != YAML_TEXT)
			return refuse(why, row, "a list of lists or mappings");
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", len ? "," : "", node->text);
		if (len >= sizeof(text))
			return refuse(why, row, "a long list");
	}
	return set_text(row, (char *)values + row->offset, text, why);
}

static int set_word(const struct settings_row *row, void *place, const char *text, char why[SETTINGS_WHY_MAX])
{
	char quoted[TEXT_QUOTED_MAX];

	for (int i = 0; row->words[i]; i++) {
		if (!strcmp(row->words[i], text)) {
			memcpy(place, &i, sizeof(i));
			return 0;
		}
	}
	return refuse(why, row, text_quote(quoted, text));
}

static int add_string(struct settings_strings *strings, const char *text, char why[SETTINGS_WHY_MAX])
{
	if (strings->n == SETTINGS_STRINGS_MAX)
		return text_refuse(why, SETTINGS_WHY_MAX, "said more than %d times", SETTINGS_STRINGS_MAX);
	strings->item[strings->n++] = text;
	return 0;
}

/* ---- in ---- */

int settings_value_set(const struct settings_row *row, void *values, const char *text, char why[SETTINGS_WHY_MAX])
{
	char *place = (char *)values + row->offset, quoted[TEXT_QUOTED_MAX];

	switch (row->type) {
	case SETTINGS_IS_BOOL:
		return text_bool(text, (bool *)place) ? refuse(why, row, text_quote(quoted, text)) : 0;
	case SETTINGS_IS_INT:
	case SETTINGS_IS_REAL:
	case SETTINGS_IS_DURATION:
		return set_number(row, place, text, why);
	case SETTINGS_IS_TEXT:
		return set_text(row, place, text, why);
	case SETTINGS_IS_WORD:
		return set_word(row, place, text, why);
	case SETTINGS_IS_REALS:
	case SETTINGS_IS_INTS:
		return set_list(row, NULL, text, why) ? -EINVAL : set_list(row, values, text, why);
	case SETTINGS_IS_STRING:
		memcpy(place, &text, sizeof(text));
		return 0;
	case SETTINGS_IS_STRINGS:
		return add_string((struct settings_strings *)place, text, why);
	case SETTINGS_IS_NODE:
		break;
	}
	return refuse(why, row, text_quote(quoted, text));
}

int settings_value_read(const struct settings_row *row, void *values, const struct yaml_node *node,
			char why[SETTINGS_WHY_MAX])
{
	enum settings_type type = row->type;
	bool list = type == SETTINGS_IS_REALS || type == SETTINGS_IS_INTS;
	bool bare = list || type == SETTINGS_IS_INT || type == SETTINGS_IS_REAL || type == SETTINGS_IS_BOOL;
	char quoted[TEXT_QUOTED_MAX], shown[SETTINGS_WHY_MAX / 2];

	if (type == SETTINGS_IS_NODE) {
		memcpy((char *)values + row->offset, &node, sizeof(node));
		return 0;
	}
	if (list && node->kind == YAML_LIST)
		return read_list(row, NULL, node, why) ? -EINVAL : read_list(row, values, node, why);
	if (row->joined && node->kind == YAML_LIST)
		return read_joined(row, values, node, why);
	if (node->kind != YAML_TEXT)
		return refuse(why, row, yaml_kind_name(node));
	if (yaml_is_null(node))
		return refuse(why, row, "");
	if (bare && node->quoted) {
		snprintf(shown, sizeof(shown), "%s in quotes", text_quote(quoted, node->text));
		return refuse(why, row, shown);
	}
	return settings_value_set(row, values, node->text, why);
}
