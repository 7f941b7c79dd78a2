/* yaml_tree.h: private to yaml*.c: a document and the reading of its text. */
#pragma once

#include "config/settings/yaml.h"

struct yaml {
	struct arena arena;
	const char *file;
	const struct yaml_node *root;
	struct yaml *like; /* whose nodes it has taken over, or NULL */
};

/* Makes the tree of text, which is UTF-8 without control characters: doc->root.  0 or -errno with a line in errors. */
int yaml_tree_read(struct yaml *doc, const char *text, size_t len, struct error_sink *errors);
