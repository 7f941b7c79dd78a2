/* check_claims.c: what only one process may have of a bus. */
#include "launch/check/check_claims.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* NULL, or what is wrong with it. */
static const char *read_claim(struct check_claim *row, const struct yaml_node *node)
{
	const struct yaml_node *bus = yaml_find(node, "bus"), *what = yaml_find(node, "what");

	for (size_t i = 0; bus && bus->kind == YAML_TEXT && i < row->daemon->buses_n; i++)
		if (!strcmp(row->daemon->buses[i]->name, bus->text))
			row->bus = row->daemon->buses[i];
	if (!row->bus)
		return "bus is none of its buses";
	if (!what || what->kind != YAML_TEXT || !text_is_name(what->text))
		return "what is no name";
	snprintf(row->what, sizeof(row->what), "%s", what->text);
	return NULL;
}

int check_claims_read(struct check_claims *claims, const struct launch_daemon *daemon, const struct yaml_node *root,
		      struct error_sink *errors)
{
	const struct yaml_node *list = yaml_find(root, "claims");

	for (const struct yaml_node *node = yaml_first(list); node && claims->n < CHECK_CLAIMS_MAX; node = node->next) {
		struct check_claim row = { .daemon = daemon };
		const char *wrong = read_claim(&row, node);

		if (wrong) {
			yaml_error(errors, node, "claims: %s", wrong);
			return -EINVAL;
		}
		claims->rows[claims->n++] = row;
	}
	return 0;
}

/* A log is read by any number of them. */
static bool clash(const struct check_claim *a, const struct check_claim *b)
{
	return a->daemon != b->daemon && a->bus == b->bus && !strcmp(a->what, b->what) &&
	       strncmp(a->bus->interface, "log:", 4) != 0;
}

unsigned int check_claims_clashes(const struct check_claims *claims, struct error_sink *errors)
{
	unsigned int n = 0;

	for (size_t i = 0; i < claims->n; i++)
		for (size_t j = 0; j < i; j++) {
			const struct check_claim *a = &claims->rows[j], *b = &claims->rows[i];
			const struct yaml_node *at = b->daemon->device ? b->daemon->device->node : b->daemon->node;

			if (!clash(a, b))
				continue;
			n++;
			error_add(errors,
				  "%s:%u: bus %s: both %s and %s need its %s, which only one of them can have: make "
				  "them one device, or give one another bus",
				  at->file, at->line, a->bus->name, a->daemon->name, b->daemon->name, a->what);
		}
	return n;
}
