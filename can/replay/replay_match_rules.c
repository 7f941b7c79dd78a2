/* replay_match_rules.c: which frames are a driver's own. */
#include "can/bus/frame_text.h"
#include "can/replay/replay_match_rules.h"
#include "config/settings/yaml.h"

static bool is_given(const struct yaml_node *map, const char *key)
{
	const struct yaml_node *node = yaml_find(map, key);

	return node && !yaml_is_null(node);
}

static bool read_id(const struct yaml_node *map, uint32_t *id)
{
	const char *text = yaml_text(map, "id", NULL);

	return text && frame_text_read_id(text, id);
}

static bool read_key(const struct yaml_node *map, uint8_t key[FRAME_DATA_MAX_FD])
{
	const char *text = yaml_text(map, "key", NULL);
	size_t len = text ? strlen(text) : 0;

	if (is_given(map, "key") && !text)
		return false;
	if (len % 2 || len > 2 * FRAME_DATA_MAX_FD)
		return false;
	for (size_t i = 0; i < len; i++) {
		const uint8_t digit = frame_text_digits[(uint8_t)text[i]];

		if (digit == FRAME_TEXT_NO_DIGIT)
			return false;
		key[i / 2] = (uint8_t)(key[i / 2] << 4 | digit);
	}
	return true;
}

/* Whether it is a remote frame, and the width of the identifier, count always. */
static bool read_mask(const struct yaml_node *map, uint32_t id, uint32_t *mask)
{
	const char *text = yaml_text(map, "mask", NULL);
	char *end = NULL;

	*mask = UINT32_MAX;
	if (!is_given(map, "mask"))
		return true;
	if (!text || strlen(text) > 8 || !*text)
		return false;
	*mask = (uint32_t)strtoul(text, &end, 16) | ~(id & FRAME_EXT ? FRAME_EXT_MASK : FRAME_STD_MASK);
	return !*end;
}

static const char *read_reply(struct replay_match_rule *rule, const struct yaml_node *reply)
{
	const struct yaml_node *frames = yaml_find(reply, "frames"), *within = yaml_find(reply, "within_us");
	int64_t n = 1;
	double us = REPLAY_MATCH_WITHIN_NS / 1e3;

	if (!read_id(reply, &rule->reply_id))
		return "reply has no id of three or eight digits such as 0AF";
	if (!read_mask(reply, rule->reply_id, &rule->reply_mask))
		return "mask of the reply is not a hexadecimal number";
	if (!read_key(reply, rule->reply_key))
		return "key of the reply is not an even number of hexadecimal digits";
	if (frames && (yaml_int(frames, &n) || n < 1 || n > REPLAY_MATCH_REPLY_FRAMES_MAX))
		return "frames of the reply is not 1 to 1000";
	if (within && !yaml_is_null(within) && (yaml_real(within, &us) || us <= 0 || us > 3.6e9))
		return "within_us of the reply is not above 0, and at most an hour";
	rule->answered = true;
	rule->reply_frames = (unsigned int)n;
	rule->within_ns = (int64_t)(us * 1e3);
	return NULL;
}

/* NULL, or what is wrong.  *sent: it is a row of the driver's. */
static const char *read_row(struct replay_match_rule *rule, bool *sent, const struct yaml_node *node)
{
	const char *bus = yaml_text(node, "bus", NULL), *dir = yaml_text(node, "dir", NULL);
	const struct yaml_node *length = yaml_find(node, "len"), *remote = yaml_find(node, "rtr");
	int64_t len = FRAME_DATA_MAX;
	bool rtr = false;

	if (!bus || !*bus || strlen(bus) >= sizeof(rule->bus))
		return "bus is not the name of a bus";
	if (!dir || (strcmp(dir, "tx") != 0 && strcmp(dir, "rx") != 0))
		return "dir is not tx or rx";
	if (!read_id(node, &rule->id))
		return "id is not three or eight digits such as 0EF";
	if (length && (yaml_int(length, &len) || len < 0 || len > FRAME_DATA_MAX_FD))
		return "len is not 0 to 64";
	if (remote && yaml_bool(remote, &rtr))
		return "rtr is not true or false";
	*sent = !strcmp(dir, "tx");
	if (*sent && !read_key(node, rule->key))
		return "key is not an even number of hexadecimal digits";
	snprintf(rule->bus, sizeof(rule->bus), "%s", bus);
	rule->len = (uint8_t)len;
	rule->id |= rtr ? FRAME_RTR : 0;
	return *sent && is_given(node, "reply") ? read_reply(rule, yaml_find(node, "reply")) : NULL;
}

static int add(struct replay_match_rules *rules, const struct replay_match_rule *rule)
{
	if (!grow(&rules->rows, &rules->room, rules->n + 1, sizeof(*rule)))
		return -ENOMEM;
	rules->rows[rules->n++] = *rule;
	return 0;
}

static int read_rows(struct replay_match_rules *rules, const char *name, const struct yaml_node *root,
		     struct error_sink *errors)
{
	const struct yaml_node *list = yaml_find(root, "frames");
	const size_t before = rules->n;

	if (!list || list->kind != YAML_LIST)
		return error_refuse(errors, -EINVAL, "%s: no list \"frames\": DRIVER --frames prints it", name);
	for (const struct yaml_node *node = list->first; node; node = node->next) {
		struct replay_match_rule rule = { 0 };
		bool sent = false;
		const char *wrong = read_row(&rule, &sent, node);

		if (wrong)
			return yaml_error(errors, node, "frames: %s", wrong);
		if (sent && add(rules, &rule))
			return error_refuse(errors, -ENOMEM, "%s: no memory left", name);
	}
	if (rules->n == before)
		return error_refuse(errors, -EINVAL,
				    "%s: no row with dir tx: this driver only listens, so there is no "
				    "loop to close; replay without --closed-loop",
				    name);
	return 0;
}

int replay_match_rules_read(struct replay_match_rules *rules, const char *name, const char *text, size_t len,
			    struct error_sink *errors)
{
	struct yaml *doc;
	int status = yaml_open_text(&doc, name, text, len, errors);

	if (status)
		return status;
	status = read_rows(rules, name, yaml_root(doc), errors);
	yaml_close(doc);
	return status;
}

void replay_match_rules_free(struct replay_match_rules *rules)
{
	free(rules->rows);
	*rules = (struct replay_match_rules){ 0 };
}
