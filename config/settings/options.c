/* options.c: command lines from a table. */
#include <ctype.h>

#include "config/settings/options.h"
#include "config/settings/settings_value.h"

struct reader {
	struct options *options;
	struct error_sink *errors;
	char **argv;
	int argc, at;  /* the next word to look at */
	int arguments; /* found */
	bool wrong;
};

static void refuse(struct reader *r, const char *what, const char *why)
{
	error_add(r->errors, "%s: %s: %s", r->options->program, what, why);
	r->wrong = true;
}

/* ---- rows ---- */

static bool is_answer(const struct options *options, const char *name)
{
	return !strcmp(name, "help") || (options->version && !strcmp(name, "version")) ||
	       (options->settings && !strcmp(name, "settings"));
}

static const struct settings_row *row_named(const struct options *options, const char *name, size_t len)
{
	for (const struct settings_row *row = options->rows; row->key; row++)
		if (strlen(row->key) == len && !strncmp(row->key, name, len))
			return row;
	return NULL;
}

static const struct settings_row *row_lettered(const struct options *options, char letter)
{
	for (const struct settings_row *row = options->rows; row->key; row++)
		if (row->letter == letter)
			return row;
	return NULL;
}

static void unknown(struct reader *r, const char *word)
{
	const struct options *o = r->options;
	const char *const answers[] = { "help", o->version ? "version" : "help", o->settings ? "settings" : "help" };
	const char *name = word + strspn(word, "-"), *best = NULL, *renamed = NULL;
	char why[SETTINGS_WHY_MAX], shown[2 * NEAREST_LEN_MAX];

	for (const struct settings_row *row = o->rows; row->key; row++) {
		nearest_try(name, row->key, &best);
		if (row->was && !strcmp(row->was, name))
			renamed = row->key;
	}
	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++)
		nearest_try(name, answers[i], &best);
	best = renamed ? renamed : best;
	snprintf(shown, sizeof(shown), "%s", word);
	snprintf(why, sizeof(why), "unknown option%s%s%s (%s --help lists them)", best ? "; did you mean --" : "",
		 best ? best : "", best ? "?" : "", o->program);
	refuse(r, shown, why);
}

/* ---- one option ---- */

static bool number_follows(const struct reader *r)
{
	return r->at < r->argc && isdigit((unsigned char)*r->argv[r->at]);
}

/* word is how it was written, for errors; text its value, or NULL: the next word, if it needs one. */
static void take(struct reader *r, const struct settings_row *row, const char *word, const char *text)
{
	uint64_t bit = UINT64_C(1) << (row - r->options->rows);
	char why[SETTINGS_WHY_MAX];

	if (row->type == SETTINGS_IS_BOOL) {
		if (text) {
			refuse(r, word, "takes no value");
			return;
		}
		text = "yes";
	} else if (!text && row->bare && !number_follows(r)) {
		text = row->bare;
	} else if (!text && r->at < r->argc) {
		text = r->argv[r->at++];
	}
	if (!text) {
		snprintf(why, sizeof(why), "needs a value: %s %s", word, row->value ? row->value : "VALUE");
		refuse(r, word, why);
	} else if (r->options->given & bit && row->type != SETTINGS_IS_BOOL && row->type != SETTINGS_IS_STRINGS) {
		refuse(r, word, "said twice");
	} else if (settings_value_set(row, r->options->values, text, why)) {
		refuse(r, word, why);
	}
	r->options->given |= bit;
}

static void take_long(struct reader *r, const char *word)
{
	const char *name = word + 2, *equals = strchr(name, '=');
	size_t len = equals ? (size_t)(equals - name) : strlen(name);
	const struct settings_row *row = row_named(r->options, name, len);
	char shown[NEAREST_LEN_MAX + 4];

	snprintf(shown, sizeof(shown), "--%.*s", (int)len, name);
	if (row)
		take(r, row, shown, equals ? equals + 1 : NULL);
	else if (!equals && is_answer(r->options, name))
		r->options->answer = r->options->answer ? r->options->answer : name;
	else
		unknown(r, shown);
}

/* -n 64 and -n64, and flags in a row: -1t */
static void take_letters(struct reader *r, const char *word)
{
	for (const char *letter = word + 1; *letter; letter++) {
		const struct settings_row *row = row_lettered(r->options, *letter);
		char shown[] = { '-', *letter, '\0' };

		if (!row) {
			unknown(r, word);
			return;
		}
		if (row->type == SETTINGS_IS_BOOL) {
			take(r, row, shown, NULL);
			continue;
		}
		take(r, row, shown, letter[1] ? letter + 1 : NULL);
		return;
	}
}

/* ---- the line ---- */

static void check_arguments(struct reader *r)
{
	const struct options *o = r->options;
	char quoted[TEXT_QUOTED_MAX];
	int max = o->arguments ? o->arguments_max : 0;

	if (o->arguments && r->arguments < o->arguments_min) {
		error_add(r->errors, "%s: %s is missing (%s --help says more)", o->program, o->arguments, o->program);
		r->wrong = true;
	} else if (max >= 0 && r->arguments > max) {
		refuse(r, text_quote(quoted, r->argv[max]), max ? "one argument too many" : "it takes no arguments");
	}
}

static void read_words(struct reader *r)
{
	bool options_over = false;

	while (r->at < r->argc) {
		char *word = r->argv[r->at++];

		/* A single dash is an argument: standard input. */
		if (options_over || word[0] != '-' || !word[1])
			r->argv[r->arguments++] = word;
		else if (!strcmp(word, "--"))
			options_over = true;
		else if (word[1] == '-')
			take_long(r, word);
		else
			take_letters(r, word);
	}
}

enum options_outcome options_read(struct options *options, int *argc, char **argv, struct error_sink *errors)
{
	struct reader r = { .options = options, .errors = errors, .argv = argv, .argc = *argc, .at = 1 };
	struct settings table = { .rows = options->rows, .values = options->values };

	options->given = 0;
	options->answer = NULL;
	if (settings_defaults(&table, errors))
		return OPTIONS_WRONG;
	read_words(&r);
	*argc = r.arguments;
	if (options->answer)
		return OPTIONS_ANSWER;
	for (size_t i = 0; options->rows[i].key; i++) {
		if (options->rows[i].preset == SETTINGS_REQUIRED && !(options->given >> i & 1)) {
			error_add(errors, "%s: --%s %s is missing: %s", options->program, options->rows[i].key,
				  options->rows[i].value ? options->rows[i].value : "VALUE", options->rows[i].help);
			r.wrong = true;
		}
	}
	check_arguments(&r);
	return r.wrong ? OPTIONS_WRONG : OPTIONS_GO;
}
