/* yaml.c: opening, closing and asking a document. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/text.h"
#include "config/utf8.h"
#include "config/yaml_tree.h"

static int check_and_read(struct yaml *doc, char *text, size_t len, struct error_sink *errors)
{
	unsigned int line = 1;
	const char *wrong;

	if (len > YAML_SIZE_MAX) {
		error_add(errors, "%s:1: larger than %d bytes", doc->file, YAML_SIZE_MAX);
		return -EFBIG;
	}
	if (len >= 3 && !memcmp(text, "\xEF\xBB\xBF", 3)) {
		error_add(errors, "%s:1: begins with a byte order mark; save it as UTF-8 without", doc->file);
		return -EINVAL;
	}
	wrong = utf8_check(text, len, &line);
	if (wrong) {
		error_add(errors, "%s:%u: %s: not a text file", doc->file, line, wrong);
		return -EINVAL;
	}
	return yaml_tree_read(doc, text, yaml_json_escapes(text, len), errors);
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
	/* One byte more than allowed tells a text that is too long. */
	size_t kept = len <= YAML_SIZE_MAX ? len : YAML_SIZE_MAX + 1;
	char *copy = malloc(kept + 1);

	if (copy && kept)
		memcpy(copy, text, kept);
	return open_text(doc, name, copy, kept, errors);
}

static ssize_t read_all(int fd, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t n = 1;

	while (n && len < size) {
		n = read(fd, buf + len, size - len);
		if (n < 0 && errno != EINTR)
			return -errno;
		len += n > 0 ? (size_t)n : 0;
	}
	return (ssize_t)len;
}

int yaml_open_file(struct yaml **doc, const char *path, struct error_sink *errors)
{
	char *text = malloc(YAML_SIZE_MAX + 1);
	/* Do not wait for the writer of a FIFO. */
	int fd = text ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	ssize_t len = text ? -errno : -ENOMEM;

	*doc = NULL;
	if (fd >= 0) {
		len = read_all(fd, text, YAML_SIZE_MAX + 1);
		close(fd);
	}
	if (len >= 0)
		return open_text(doc, path, text, (size_t)len, errors);
	free(text);
	error_add(errors, "%s: %s", path, strerror((int)-len));
	return (int)len;
}

void yaml_close(struct yaml *doc)
{
	if (!doc)
		return;
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

void yaml_error(struct error_sink *errors, const struct yaml_node *node, const char *fmt, ...)
{
	char what[ERROR_LINE_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	error_add(errors, "%s:%u: %s%s%s", node->file, node->line, node->key ? node->key : "", node->key ? ": " : "",
		  what);
}
