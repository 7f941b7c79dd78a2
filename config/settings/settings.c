/* settings.c: every setting is a row of a table, and nowhere else. */
#include "config/settings/settings_value.h"

#define GIVEN_MAX 64 /* bits of settings.given */

const char settings_required[] = "required";

/* The table and the row of a key; NULL: unknown. */
static struct settings *find(const struct settings *settings, const char *key, size_t *i)
{
	for (; settings; settings = settings->next) {
		for (*i = 0; settings->rows[*i].key; (*i)++)
			if (!strcmp(settings->rows[*i].key, key))
				return (struct settings *)(uintptr_t)settings;
	}
	return NULL;
}

/* "unknown setting; did you mean tick?", or where to look, or, of the keys of a file, which there are.  Returns the key
 * that was probably meant, or NULL. */
static const char *unknown(const struct settings *settings, const char *key, char why[SETTINGS_WHY_MAX])
{
	const char *noun = settings->noun ? settings->noun : "setting";
	char known[SETTINGS_WHY_MAX - 64];
	struct text_out all = text_out(known, sizeof(known));
	const char *best = NULL, *renamed = NULL;

	for (const struct settings *s = settings; s; s = s->next) {
		for (const struct settings_row *row = s->rows; row->key; row++) {
			nearest_try(key, row->key, &best);
			text_add(&all, "%s%s", all.len ? ", " : "", row->key);
			if (row->was && !strcmp(row->was, key))
				renamed = row->key;
		}
	}
	best = renamed ? renamed : best;
	if (best)
		snprintf(why, SETTINGS_WHY_MAX, "unknown %s; did you mean %s?", noun, best);
	else if (settings->noun && all.len < sizeof(known))
		snprintf(why, SETTINGS_WHY_MAX, "unknown %s; there are %s", noun, known);
	else
		snprintf(why, SETTINGS_WHY_MAX, "unknown %s; --settings lists them", noun);
	return best;
}

/* ---- defaults ---- */

static int row_default(struct settings *all, struct settings *s, size_t i, struct error_sink *errors)
{
	const struct settings_row *row = &s->rows[i];
	const char *limit = settings_value_is_limit(row, row->min) ? row->max : row->min;
	char why[SETTINGS_WHY_MAX];
	size_t first;

	if (i >= GIVEN_MAX)
		snprintf(why, sizeof(why), "more than %d rows in one table", GIVEN_MAX);
	else if (find(all, row->key, &first) != s || first != i)
		snprintf(why, sizeof(why), "two rows of this key");
	else if (!settings_value_is_limit(row, limit))
		snprintf(why, sizeof(why), "%s is not a limit of this type", limit);
	else if (!row->preset || row->preset == SETTINGS_REQUIRED ||
		 !settings_value_set(row, s->values, row->preset, why))
		return 0;
	return error_refuse(errors, -EINVAL, "default: %s: %s", row->key, why);
}

int settings_defaults(struct settings *settings, struct error_sink *errors)
{
	int err = 0;

	for (struct settings *s = settings; s; s = s->next) {
		s->given = 0;
		for (size_t i = 0; s->rows[i].key; i++)
			if (row_default(settings, s, i, errors))
				err = -EINVAL;
	}
	return err;
}

/* ---- reading ---- */

static int set(struct settings *settings, const char *where, const char *key, const char *text,
	       struct error_sink *errors)
{
	char why[SETTINGS_WHY_MAX];
	size_t i;
	struct settings *s = find(settings, key, &i);

	if (!s) {
		unknown(settings, key, why);
	} else if (!settings_value_set(&s->rows[i], s->values, text, why)) {
		s->given |= UINT64_C(1) << i;
		return 0;
	}
	return error_refuse(errors, -EINVAL, "%s: %s: %s", where, key, why);
}

int settings_assign(struct settings *settings, const char *where, const char *assignment, struct error_sink *errors)
{
	const char *equals = strchr(assignment, '=');
	char key[NEAREST_LEN_MAX + 2], quoted[TEXT_QUOTED_MAX];

	if (!equals || equals == assignment)
		return error_refuse(errors, -EINVAL, "%s: %s is not KEY=VALUE", where, text_quote(quoted, assignment));
	/* A longer key is cut, and still unknown. */
	snprintf(key, sizeof(key), "%.*s", (int)(equals - assignment), assignment);
	return set(settings, where, key, equals + 1, errors);
}

int settings_read(struct settings *settings, const struct yaml_node *map, struct error_sink *errors)
{
	char why[SETTINGS_WHY_MAX];
	int err = 0;
	size_t i;

	if (!map || yaml_is_null(map))
		return 0;
	if (map->kind != YAML_MAP)
		return yaml_error(errors, map, "%s where a mapping (key: value) is expected", yaml_kind_name(map));
	for (const struct yaml_node *node = yaml_first(map); node; node = node->next) {
		struct settings *s = find(settings, node->key, &i);
		bool wrong = !s || settings_value_read(&s->rows[i], s->values, node, why);

		const char *meant = s ? node->key : unknown(settings, node->key, why);

		/* A key whose value or spelling is wrong is not missing as well. */
		s = meant ? find(settings, meant, &i) : NULL;
		if (s)
			s->given |= UINT64_C(1) << i;
		if (wrong) {
			yaml_error(errors, node, "%s", why);
			err = -EINVAL;
		}
	}
	return err;
}

int settings_missing(const struct settings *settings, const char *where, struct error_sink *errors)
{
	int err = 0;

	for (const struct settings *s = settings; s; s = s->next) {
		for (size_t i = 0; s->rows[i].key; i++) {
			if (s->rows[i].preset == SETTINGS_REQUIRED && !(s->given >> i & 1)) {
				error_add(errors, "%s: %s is missing: %s", where, s->rows[i].key, s->rows[i].help);
				err = -EINVAL;
			}
		}
	}
	return err;
}

int settings_fill(struct settings *settings, const struct yaml_node *map, struct error_sink *errors)
{
	char where[ERROR_LINE_MAX / 2]; /* "robot.yaml:9: waist" */
	int err = settings_defaults(settings, errors), r = settings_read(settings, map, errors);

	if (r && map->kind != YAML_MAP)
		return r;
	snprintf(where, sizeof(where), "%s:%u%s%s", map->file, map->line, map->key ? ": " : "",
		 map->key ? map->key : "");
	err = err ? err : r;
	return settings_missing(settings, where, errors) ? -EINVAL : err;
}

static int64_t duration_of(const struct settings *s, const struct settings_row *row)
{
	int64_t ns;

	memcpy(&ns, (const char *)s->values + row->offset, sizeof(ns));
	return ns;
}

/* "listen: it must be at least 2 ticks, 100ms" */
static int check_row(const struct settings *all, const struct settings *s, const struct settings_row *row,
		     int64_t tick_ns, struct error_sink *errors)
{
	char least[SETTINGS_TEXT_MAX], ns[TEXT_VALUE_MAX];
	struct text_out out = text_out(least, sizeof(least));
	int64_t least_ns = row->ticks * tick_ns;
	const struct settings *other;
	size_t i;

	if (row->ticks)
		text_add(&out, "%u tick%s", row->ticks, row->ticks > 1 ? "s" : "");
	if (row->of && (other = find(all, row->of, &i))) {
		least_ns += (row->twice ? 2 : 1) * duration_of(other, &other->rows[i]);
		text_add(&out, "%s%s%s", row->ticks ? " and " : "", row->twice ? "twice " : "", row->of);
	}
	if (!duration_of(s, row) || duration_of(s, row) >= least_ns)
		return 0;
	text_from_duration(ns, least_ns);
	return error_refuse(errors, -EINVAL, "%s: it must be at least %s, %s%s", row->key, least, ns,
			    row->min && *row->min == '0' ? ", or 0s" : "");
}

int settings_check(const struct settings *settings, int64_t tick_ns, struct error_sink *errors)
{
	int err = 0;

	for (const struct settings *s = settings; s; s = s->next)
		for (const struct settings_row *row = s->rows; row->key; row++)
			if ((row->ticks || row->of) && check_row(settings, s, row, tick_ns, errors))
				err = -EINVAL;
	return err;
}

bool settings_given(const struct settings *settings, const char *key)
{
	size_t i;
	const struct settings *s = find(settings, key, &i);

	return s && s->given >> i & 1;
}

int settings_text(const struct settings *settings, const char *key, char *text, size_t size)
{
	size_t i;
	const struct settings *s = find(settings, key, &i);

	if (s)
		return settings_value_text(&s->rows[i], s->values, text, size);
	snprintf(text, size, "%s", "");
	return -ENOENT;
}
