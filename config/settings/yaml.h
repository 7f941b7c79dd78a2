/* yaml.h: YAML, and JSON with it, as a tree of nodes that know their line.
 *
 *	struct yaml *doc;
 *
 *	if (yaml_open_file(&doc, "robot.yaml", &errors))
 *		return 100;
 *	for (node = yaml_first(yaml_find(yaml_root(doc), "buses")); node; node = node->next)
 *		printf("%s in line %u\n", node->key, node->line);
 *	yaml_close(doc);
 *
 * The part of YAML that people read without surprises: mappings, lists, text.  Refused with "file:line: what": keys
 * said twice, anchors, aliases, tags, directives, several documents, more than YAML_DEPTH_MAX levels or YAML_SIZE_MAX
 * bytes, what is not UTF-8.  A plain value is text until a number is asked for: "no" is not false by itself.
 *
 * libyaml's names begin with yaml_, too: mind yaml_free, yaml_strdup and other private ones that it exports.
 */
#pragma once

#include "config/base/base.h"

#define YAML_SIZE_MAX (1 << 20)
#define YAML_DEPTH_MAX 32
#define YAML_KEYS_MAX 1000 /* in one mapping */

enum yaml_kind { YAML_TEXT, YAML_MAP, YAML_LIST };

struct yaml_node {
	enum yaml_kind kind;
	unsigned int line, column;     /* from 1: of its key in a mapping, else its own */
	const char *key;	       /* in a mapping, else NULL */
	const char *text;	       /* of YAML_TEXT; no zero byte inside */
	bool quoted;		       /* it stood in quotes or in a block: text, whatever it looks like */
	size_t count;		       /* entries of a mapping or list */
	const struct yaml_node *first; /* of them */
	const struct yaml_node *next;  /* beside this one */
	const char *file;	       /* for error lines */
};

struct yaml;

/* Reads path, or text that errors call name.  0; or -errno with a line in errors.  Text is copied. */
int yaml_open_file(struct yaml **doc, const char *path, struct error_sink *errors);
int yaml_open_text(struct yaml **doc, const char *name, const char *text, size_t len, struct error_sink *errors);
/* If the root has the key, its value is the path of another file, relative to this one: the document takes over the
 * entries of that one that it lacks, in nested mappings, too.  0; or -errno with a line in errors. */
int yaml_join_like(struct yaml *doc, const char *key, struct error_sink *errors);
void yaml_close(struct yaml *doc); /* and all its nodes; NULL is fine */

const struct yaml_node *yaml_root(const struct yaml *doc);
/* For what is made of the document and lives as long. */
struct arena *yaml_arena(struct yaml *doc);
void *yaml_room(struct yaml *doc, size_t n, size_t size, struct error_sink *errors); /* zeros; or NULL with a line */

/* The entry of a mapping, or NULL; also for a node that is NULL or no mapping. */
const struct yaml_node *yaml_find(const struct yaml_node *map, const char *key);
/* The first entry of a mapping or list, or NULL; the others are behind it: next. */
const struct yaml_node *yaml_first(const struct yaml_node *node);

/* How many entries a mapping has; 0 if it is NULL or null, or, with a line, if it is not a mapping.  key is what the
 * line calls the keys: "name". */
size_t yaml_count(const struct yaml_node *map, const char *key, struct error_sink *errors);

/* The text of that entry; otherwise if there is none, or it is null or not text. */
const char *yaml_text(const struct yaml_node *map, const char *key, const char *otherwise);

/* Nothing, ~ or null without quotes. */
bool yaml_is_null(const struct yaml_node *node);
/* 0, or -EINVAL when the node is not that (numbers in quotes are text), or -ERANGE. */
int yaml_bool(const struct yaml_node *node, bool *value);
int yaml_int(const struct yaml_node *node, int64_t *value);
int yaml_real(const struct yaml_node *node, double *value);

/* "a mapping", "a list", "text": for error lines. */
const char *yaml_kind_name(const struct yaml_node *node);

/* Adds "file:line: key: what"; of an entry without key, "file:line: what".  Returns -EINVAL. */
int yaml_error(struct error_sink *errors, const struct yaml_node *node, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
