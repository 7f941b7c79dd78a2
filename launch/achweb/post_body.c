/* post_body.c: what the body of a POST asks for. */
#include "launch/achweb/post_body.h"

const char *const post_body_words[] = { "stop", "arm", "home", "clear", "restart" };

/* A text in quotes; "" if it is not there, or is not one. */
static const char *text_of(const struct yaml_node *root, const char *key)
{
	const struct yaml_node *node = yaml_find(root, key);

	return node && node->kind == YAML_TEXT && node->quoted ? node->text : "";
}

static int read_level(struct post_body *o, const struct yaml_node *root)
{
	/* Whatever it says, it is a stop. */
	o->level = strcmp(text_of(root, "level"), "hold") ? MSG_LEVEL_ESTOP : MSG_LEVEL_HOLD;
	return 0;
}

static bool read_number(const struct yaml_node *node, uint64_t *value)
{
	char *end;

	if (!node || node->kind != YAML_TEXT || *node->text < '0' || *node->text > '9')
		return false;
	errno = 0;
	*value = strtoull(node->text, &end, 10);
	return !*end && !errno;
}

static int read_seen(struct estop_seen *seen, const struct yaml_node *root, struct error_sink *errors)
{
	const struct yaml_node *node = yaml_first(yaml_find(root, "seen"));

	for (int i = 0; i < ESTOP_CHANNELS; i++) {
		if (!read_number(node, &seen->id[i]) || !read_number(node->next, &seen->seq[i]))
			return error_refuse(errors, -EINVAL, "seen: not four whole numbers");
		node = node->next->next;
	}
	return node ? error_refuse(errors, -EINVAL, "seen: not four whole numbers") : 0;
}

int post_body_read_what(struct post_body *o, const struct yaml_node *root, struct error_sink *errors)
{
	const char *name = text_of(root, "name");

	if (o->kind == POST_BODY_ARM)
		return read_seen(&o->seen, root, errors);
	if (!text_is_name(name))
		return error_refuse(errors, -EINVAL, "name: not the name of a daemon");
	snprintf(o->name, sizeof(o->name), "%s", name);
	return 0;
}

static int read_action(struct post_body *o, const struct yaml_node *root, struct error_sink *errors)
{
	const char *word = text_of(root, "do");

	for (o->kind = POST_BODY_ARM; o->kind <= POST_BODY_RESTART; o->kind++)
		if (!strcmp(word, post_body_words[o->kind]))
			return post_body_read_what(o, root, errors);
	return error_refuse(errors, -EINVAL, "do: one of arm, home, clear, restart");
}

int post_body_read(struct post_body *o, enum post_body_kind kind, const char *body, size_t len,
		   struct error_sink *errors)
{
	struct yaml *doc;
	int status;

	*o = (struct post_body){ .kind = kind };
	if (kind == POST_BODY_STOP && !len)
		return read_level(o, NULL);
	status = yaml_open_text(&doc, "the request", body, len, errors);
	if (status && kind == POST_BODY_STOP)
		return read_level(o, NULL);
	if (status)
		return -EINVAL;
	status = kind == POST_BODY_STOP ? read_level(o, yaml_root(doc)) : read_action(o, yaml_root(doc), errors);
	yaml_close(doc);
	return status;
}
