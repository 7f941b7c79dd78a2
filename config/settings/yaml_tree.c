/* yaml_tree.c: libyaml's events, made a tree. */
#include <yaml.h>

#include "config/settings/yaml_tree.h"

struct builder {
	struct yaml *doc;
	struct error_sink *errors;
	const char *text; /* all of it, for a look at the line that libyaml dislikes */
	size_t len;
	int err;
	bool done;				       /* the document has ended */
	size_t depth;				       /* mappings and lists open */
	struct yaml_node *open[YAML_DEPTH_MAX];	       /* they */
	const struct yaml_node **tail[YAML_DEPTH_MAX]; /* where the next entry of each goes */
	const char *key;			       /* seen, its value not yet; NULL: a key comes next */
	yaml_mark_t key_mark;
};

#define refuse(b, mark, ...) ((b)->err = error_at((b)->errors, (b)->doc->file, (mark)->line + 1, __VA_ARGS__))

static void no_memory(struct builder *b)
{
	error_add(b->errors, "%s: %s", b->doc->file, strerror(ENOMEM));
	b->err = -ENOMEM;
}

/* ---- nodes ---- */

static bool in_mapping(const struct builder *b)
{
	return b->depth && b->open[b->depth - 1]->kind == YAML_MAP;
}

/* A node where the tree grows: below the innermost open mapping or list, or as the root. */
static struct yaml_node *add(struct builder *b, enum yaml_kind kind, const yaml_mark_t *mark)
{
	struct yaml_node *node;

	if (in_mapping(b) && !b->key) {
		refuse(b, mark, "a key must be text, not a mapping or list");
		return NULL;
	}
	node = arena_alloc(&b->doc->arena, sizeof(*node));
	if (!node) {
		no_memory(b);
		return NULL;
	}
	if (b->key)
		mark = &b->key_mark;
	node->kind = kind;
	node->file = b->doc->file;
	node->line = (unsigned int)mark->line + 1;
	node->column = (unsigned int)mark->column + 1;
	node->key = b->key;
	b->key = NULL;
	if (b->depth) {
		*b->tail[b->depth - 1] = node;
		b->tail[b->depth - 1] = &node->next;
		b->open[b->depth - 1]->count++;
	} else {
		b->doc->root = node;
	}
	return node;
}

static void open_node(struct builder *b, enum yaml_kind kind, const yaml_mark_t *mark)
{
	struct yaml_node *node;

	if (b->depth == YAML_DEPTH_MAX) {
		refuse(b, mark, "nested deeper than %d levels", YAML_DEPTH_MAX);
		return;
	}
	node = add(b, kind, mark);
	if (!node)
		return;
	b->open[b->depth] = node;
	b->tail[b->depth] = &node->first;
	b->depth++;
}

static void add_key(struct builder *b, const yaml_event_t *event, const char *text)
{
	const struct yaml_node *map = b->open[b->depth - 1];
	const struct yaml_node *same = yaml_find(map, text);

	if (!*text) {
		refuse(b, &event->start_mark, "an empty key");
	} else if (same) {
		refuse(b, &event->start_mark, "%s: said twice, first in line %u", text, same->line);
	} else if (map->count == YAML_KEYS_MAX) {
		refuse(b, &event->start_mark, "more than %d keys in one mapping", YAML_KEYS_MAX);
	}
	b->key = text;
	b->key_mark = event->start_mark;
}

static void add_scalar(struct builder *b, const yaml_event_t *event)
{
	size_t len = event->data.scalar.length;
	const char *text = arena_copy(&b->doc->arena, event->data.scalar.value, len);
	struct yaml_node *node;

	if (!text) {
		no_memory(b);
	} else if (strlen(text) != len) {
		refuse(b, &event->start_mark, "a zero byte in text");
	} else if (in_mapping(b) && !b->key) {
		add_key(b, event, text);
	} else {
		node = add(b, YAML_TEXT, &event->start_mark);
		if (!node)
			return;
		node->text = text;
		node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	}
}

/* ---- events ---- */

/* Characters that people do not see in a file are refused. */
static const char *unsupported(const yaml_event_t *event)
{
	const yaml_char_t *anchor = NULL, *tag = NULL;

	switch (event->type) {
	case YAML_ALIAS_EVENT:
		return "aliases (*name) are not supported; write the value again";
	case YAML_DOCUMENT_START_EVENT:
		if (event->data.document_start.version_directive ||
		    event->data.document_start.tag_directives.start != event->data.document_start.tag_directives.end)
			return "directives (%...) are not supported";
		return NULL;
	case YAML_SCALAR_EVENT:
		anchor = event->data.scalar.anchor;
		tag = event->data.scalar.tag;
		break;
	case YAML_SEQUENCE_START_EVENT:
		anchor = event->data.sequence_start.anchor;
		tag = event->data.sequence_start.tag;
		break;
	case YAML_MAPPING_START_EVENT:
		anchor = event->data.mapping_start.anchor;
		tag = event->data.mapping_start.tag;
		break;
	default:
		return NULL;
	}
	return anchor ? "anchors (&name) are not supported; write the value again where it is needed"
	       : tag  ? "tags (!name) are not supported; quotes make text of anything"
		      : NULL;
}

static void take(struct builder *b, const yaml_event_t *event)
{
	const char *what = unsupported(event);

	if (what) {
		refuse(b, &event->start_mark, "%s", what);
		return;
	}
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		if (b->done)
			refuse(b, &event->start_mark, "a second document; one file holds one");
		break;
	case YAML_SCALAR_EVENT:
		add_scalar(b, event);
		break;
	case YAML_SEQUENCE_START_EVENT:
		open_node(b, YAML_LIST, &event->start_mark);
		break;
	case YAML_MAPPING_START_EVENT:
		open_node(b, YAML_MAP, &event->start_mark);
		break;
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		b->depth--;
		break;
	case YAML_DOCUMENT_END_EVENT:
		b->done = true;
		break;
	default:
		break;
	}
}

/* ---- what libyaml dislikes ---- */

/* The line at *number, counted from 0; if there are fewer, the last one, and *number is its number. */
static const char *find_line(const struct builder *b, size_t *number)
{
	const char *line = b->text, *end = line + b->len;

	for (size_t n = 0; n < *number; n++) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));

		if (!newline || newline + 1 == end) {
			*number = n;
			break;
		}
		line = newline + 1;
	}
	return line;
}

static void syntax_error(struct builder *b, const yaml_parser_t *parser)
{
	const char *problem = parser->problem ? parser->problem : "not YAML", *context = parser->context;
	yaml_mark_t mark = parser->problem_mark;
	const char *line = find_line(b, &mark.line), *end = b->text + b->len;
	char column[32] = " at the end";

	if (parser->error == YAML_MEMORY_ERROR) {
		no_memory(b);
		return;
	}
	while (line < end && *line == ' ')
		line++;
	if (line < end && *line == '\t') {
		refuse(b, &mark, "a tab at the start of the line; indent with blanks");
		return;
	}
	if (mark.line == parser->problem_mark.line)
		snprintf(column, sizeof(column), " in column %zu", mark.column + 1);
	refuse(b, &mark, "%s%s%s%s", context ? context : "", context ? ": " : "", problem, column);
}

int yaml_tree_read(struct yaml *doc, const char *text, size_t len, struct error_sink *errors)
{
	struct builder b = { .doc = doc, .errors = errors, .text = text, .len = len };
	yaml_parser_t parser;
	yaml_event_t event;
	bool end = false;

	if (!yaml_parser_initialize(&parser)) {
		no_memory(&b);
		return b.err;
	}
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	while (!end && !b.err) {
		if (!yaml_parser_parse(&parser, &event)) {
			syntax_error(&b, &parser);
			break;
		}
		end = event.type == YAML_STREAM_END_EVENT;
		take(&b, &event);
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	return b.err || doc->root ? b.err : error_refuse(errors, -EINVAL, "%s:1: nothing in it", doc->file);
}
