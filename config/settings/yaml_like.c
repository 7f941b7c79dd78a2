/* yaml_like.c: a document that says only in what it differs from another one. */
#include <limits.h>
#include <unistd.h>

#include "config/settings/yaml_tree.h"

#define LIKE_DEPTH_MAX 4 /* files, each like the next */

/* A copy of the node as the last entry of map, or NULL. */
static struct yaml_node *append(struct arena *arena, struct yaml_node *map, struct yaml_node **last,
				const struct yaml_node *node)
{
	struct yaml_node *copy = arena_alloc(arena, sizeof(*copy));

	if (!copy)
		return NULL;
	*copy = *node;
	copy->next = NULL;
	if (*last)
		(*last)->next = copy;
	else
		map->first = copy;
	*last = copy;
	map->count++;
	return copy;
}

/* Gives the mapping own those entries of base that it lacks; mappings that both have are joined in the same way. */
static int join(struct arena *arena, struct yaml_node *own, const struct yaml_node *base)
{
	const struct yaml_node given = *own;
	struct yaml_node *last = NULL, *copy;

	own->first = NULL;
	own->count = 0;
	for (const struct yaml_node *entry = base->first; entry; entry = entry->next) {
		const struct yaml_node *other = yaml_find(&given, entry->key);

		copy = append(arena, own, &last, other ? other : entry);
		if (!copy)
			return -ENOMEM;
		if (other && other->kind == YAML_MAP && entry->kind == YAML_MAP && join(arena, copy, entry))
			return -ENOMEM;
	}
	for (const struct yaml_node *entry = given.first; entry; entry = entry->next)
		if (!yaml_find(base, entry->key) && !append(arena, own, &last, entry))
			return -ENOMEM;
	return 0;
}

static int add_base(struct yaml *doc, const char *key, unsigned int depth, struct error_sink *errors)
{
	const struct yaml_node *node = yaml_find(doc->root, key);
	struct yaml_node *root = arena_alloc(&doc->arena, sizeof(*root));
	char path[PATH_MAX];
	int err;

	if (!node)
		return 0;
	if (node->kind != YAML_TEXT || yaml_is_null(node))
		yaml_error(errors, node, "the name of a file is missing");
	else if (depth == LIKE_DEPTH_MAX)
		yaml_error(errors, node, "more than %d files, each like the next", LIKE_DEPTH_MAX);
	else if (read_files_path(path, sizeof(path), node->file, node->text))
		yaml_error(errors, node, "%s: %s", node->text, strerror(ENAMETOOLONG));
	else if (access(path, R_OK))
		yaml_error(errors, node, "%s: %s", node->text, strerror(errno));
	else if (!root)
		yaml_error(errors, node, "%s", strerror(ENOMEM));
	else {
		err = yaml_open_file(&doc->like, path, errors);
		err = err ? err : add_base(doc->like, key, depth + 1, errors);
		if (err)
			return err;
		*root = *doc->root;
		doc->root = root;
		if (doc->like->root->kind == YAML_MAP)
			return join(&doc->arena, root, doc->like->root);
		yaml_error(errors, node, "%s is not a mapping", node->text);
	}
	return -EINVAL;
}

int yaml_join_like(struct yaml *doc, const char *key, struct error_sink *errors)
{
	return add_base(doc, key, 1, errors);
}
