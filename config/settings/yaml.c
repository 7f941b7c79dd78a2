/* yaml.c: opening, closing and asking a document. */
#include "config/settings/yaml_tree.h"

/* ---- what JSON writes differently ---- */

static bool looks_like_json(const char *text, size_t len)
{
	size_t i = 0;

	while (i < len && strchr(" \t\r\n", text[i]))
		i++;
	return i < len && (text[i] == '{' || text[i] == '[');
}

/* The 16 bits of \uXXXX at p, or 0. */
static uint32_t escape(const char *p, const char *end)
{
	char digits[5] = "";

	if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
		return 0;
	memcpy(digits, p + 2, 4);
	return strspn(digits, "0123456789abcdefABCDEF") == 4 ? (uint32_t)strtoul(digits, NULL, 16) : 0;
}

/* JSON writes characters beyond 16 bits as two escapes, \ud83d\ude00; YAML as one, \U0001f600.  The first form becomes
 * the second, in place and never longer, when text is an object or array of JSON.  Returns the new length. */
static size_t json_escapes(char *text, size_t len)
{
	const char *from = text, *end = text + len;
	char *to = text, code[16];

	if (!looks_like_json(text, len))
		return len;
	while (from < end) {
		uint32_t high = escape(from, end);
		uint32_t low = high >> 10 == 0x36 ? escape(from + 6, end) : 0;

		if (low >> 10 == 0x37) {
			snprintf(code, sizeof(code), "\\U%08X", 0x10000 + ((high & 0x3FF) << 10 | (low & 0x3FF)));
			memcpy(to, code, 10);
			to += 10;
			from += 12;
			continue;
		}
		/* A backslash hides the character behind it, another backslash too. */
		if (*from == '\\' && from + 1 < end)
			*to++ = *from++;
		*to++ = *from++;
	}
	return (size_t)(to - text);
}

/* ---- documents ---- */

static int check_and_read(struct yaml *doc, char *text, size_t len, struct error_sink *errors)
{
	unsigned int line = 1;
	const char *wrong;

	if (len > YAML_SIZE_MAX)
		return error_refuse(errors, -EFBIG, "%s:1: larger than %d bytes", doc->file, YAML_SIZE_MAX);
	if (len >= 3 && !memcmp(text, "\xEF\xBB\xBF", 3))
		return error_refuse(errors, -EINVAL, "%s:1: begins with a byte order mark; save it as UTF-8 without",
				    doc->file);
	wrong = utf8_check(text, len, &line);
	if (wrong)
		return error_refuse(errors, -EINVAL, "%s:%u: %s: not a text file", doc->file, line, wrong);
	return yaml_tree_read(doc, text, json_escapes(text, len), errors);
}

/* Takes text, which it may change, and frees it. */
static int open_text(struct yaml **out, const char *name, char *text, size_t len, struct error_sink *errors)
{
	struct yaml *doc = calloc(1, sizeof(*doc));
	int err = -ENOMEM;

	if (doc)
		doc->file = arena_copy(&doc->arena, name, strlen(name));
	if (doc && doc->file && text)
		err = check_and_read(doc, text, len, errors);
	else
		error_add(errors, "%s: %s", name, strerror(ENOMEM));
	free(text);
	if (err) {
		yaml_close(doc);
		doc = NULL;
	}
	*out = doc;
	return err;
}

int yaml_open_text(struct yaml **doc, const char *name, const char *text, size_t len, struct error_sink *errors)
{
	/* One byte more than allowed shows that a text is too long. */
	size_t kept = len <= YAML_SIZE_MAX ? len : YAML_SIZE_MAX + 1;
	char *copy = malloc(kept + 1);

	if (copy && kept)
		memcpy(copy, text, kept);
	return open_text(doc, name, copy, kept, errors);
}

int yaml_open_file(struct yaml **doc, const char *path, struct error_sink *errors)
{
	size_t len = 0;
	char *text = NULL;
	const int err = read_files_take(path, YAML_SIZE_MAX, &text, &len, errors);

	*doc = NULL;
	return err ? err : open_text(doc, path, text, len, errors);
}

void yaml_close(struct yaml *doc)
{
	if (!doc)
		return;
	yaml_close(doc->like);
	arena_free(&doc->arena);
	free(doc);
}

const struct yaml_node *yaml_root(const struct yaml *doc)
{
	return doc->root;
}

struct arena *yaml_arena(struct yaml *doc)
{
	return &doc->arena;
}

void *yaml_room(struct yaml *doc, size_t n, size_t size, struct error_sink *errors)
{
	void *p = arena_alloc(&doc->arena, n * size);

	if (!p)
		error_add(errors, "%s: %s", doc->file, strerror(ENOMEM));
	return p;
}

const struct yaml_node *yaml_first(const struct yaml_node *node)
{
	return node ? node->first : NULL;
}

const struct yaml_node *yaml_find(const struct yaml_node *map, const char *key)
{
	if (!map || map->kind != YAML_MAP)
		return NULL;
	for (const struct yaml_node *node = yaml_first(map); node; node = node->next)
		if (!strcmp(node->key, key))
			return node;
	return NULL;
}

bool yaml_is_null(const struct yaml_node *node)
{
	return node->kind == YAML_TEXT && !node->quoted &&
	       (!*node->text || !strcmp(node->text, "~") || !strcmp(node->text, "null"));
}

size_t yaml_count(const struct yaml_node *map, const char *key, struct error_sink *errors)
{
	if (!map || yaml_is_null(map))
		return 0;
	if (map->kind == YAML_MAP)
		return map->count;
	yaml_error(errors, map, "%s where a mapping (%s: ...) is expected", yaml_kind_name(map), key);
	return 0;
}

const char *yaml_text(const struct yaml_node *map, const char *key, const char *otherwise)
{
	const struct yaml_node *node = yaml_find(map, key);

	return node && node->kind == YAML_TEXT && !yaml_is_null(node) ? node->text : otherwise;
}

static bool is_plain(const struct yaml_node *node)
{
	return node->kind == YAML_TEXT && !node->quoted;
}

int yaml_bool(const struct yaml_node *node, bool *value)
{
	return is_plain(node) ? text_bool(node->text, value) : -EINVAL;
}

int yaml_int(const struct yaml_node *node, int64_t *value)
{
	return is_plain(node) ? text_int(node->text, value) : -EINVAL;
}

int yaml_real(const struct yaml_node *node, double *value)
{
	return is_plain(node) ? text_real(node->text, value) : -EINVAL;
}

const char *yaml_kind_name(const struct yaml_node *node)
{
	static const char *const names[] = { [YAML_TEXT] = "text", [YAML_MAP] = "a mapping", [YAML_LIST] = "a list" };

	return names[node->kind];
}

int yaml_error(struct error_sink *errors, const struct yaml_node *node, const char *fmt, ...)
{
	char what[ERROR_LINE_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	return error_refuse(errors, -EINVAL, "%s:%u: %s%s%s", node->file, node->line, node->key ? node->key : "",
			    node->key ? ": " : "", what);
}
