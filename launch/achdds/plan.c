/* plan.c: the file of a bridge: from its tree to the structs, and how its parts fit together. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/base/nearest.h"
#include "launch/achdds/plan.h"

#define DOMAIN_UNKNOWN (-1)
#define DOMAIN_MAX 232 /* the last one with ports */

/* ---- names ---- */

/* "/waist/joint_states": each part has letters, digits and underscores, a letter first. */
static bool is_topic(const char *text)
{
	if (*text != '/' || strlen(text) >= PLAN_TOPIC_MAX)
		return false;
	for (const char *at = text; *at; at++)
		if (*at == '/' ? (at[1] < 'A' || at[1] > 'z' || (at[1] > 'Z' && at[1] < 'a' && at[1] != '_'))
			       : !strchr("0123456789_", *at) && (*at < 'A' || *at > 'z' || (*at > 'Z' && *at < 'a')))
			return false;
	return true;
}

static void take_topic(char topic[PLAN_TOPIC_MAX], const struct yaml_node *node, struct error_sink *errors)
{
	if (!is_topic(node->key))
		yaml_error(errors, node,
			   "not a topic such as /waist/joint_states: a slash, then letters, digits and _, "
			   "a letter first");
	snprintf(topic, PLAN_TOPIC_MAX, "%s", node->key);
}

static const struct ros_type *take_type(const struct yaml_node *node, const char *name, struct error_sink *errors)
{
	const struct ros_type *type = ros_type_by_name(name);
	const char *near = NULL;

	if (type)
		return type;
	for (size_t i = 0; i < ros_types_n; i++)
		nearest_try(name, ros_types[i].name, &near);
	yaml_error(errors, node, "type: %s is not a type that is mapped%s%s%s", name, near ? "; did you mean " : "",
		   near ? near : "", near ? "?" : "");
	return NULL;
}

/* ---- publish ---- */

/* The type that ROS users expect on a topic whose name ends like that. */
static const char *usual_type(const char *topic)
{
	const char *last = strrchr(topic, '/') + 1;

	for (size_t i = 0; i < msg_types_n; i++)
		for (const struct ros_map *map = ros_map_of(msg_types[i].number, NULL); map;
		     map = ros_map_of(msg_types[i].number, map))
			if (map->topic && !strcmp(map->topic, last))
				return map->type_name;
	return NULL;
}

/* Is there a message that becomes this type? */
static bool is_mapped(const struct ros_type *type)
{
	for (size_t i = 0; i < msg_types_n; i++)
		for (const struct ros_map *map = ros_map_of(msg_types[i].number, NULL); map;
		     map = ros_map_of(msg_types[i].number, map))
			if (ros_map_type(map) == type)
				return true;
	return false;
}

static void read_topic(struct plan_topic *topic, const struct yaml_node *node, struct error_sink *errors)
{
	struct settings table = { .rows = plan_topic_rows, .values = topic, .noun = "key of a topic" };
	const char *usual;

	topic->node = node;
	take_topic(topic->topic, node, errors);
	if (settings_fill(&table, node, errors) || !is_topic(node->key))
		return;
	if (!settings_given(&table, "qos") && !strcmp(strrchr(topic->topic, '/'), "/rosout"))
		topic->qos = NODE_LOG;
	usual = *topic->type_name ? topic->type_name : usual_type(topic->topic);
	if (!usual) {
		yaml_error(errors, node,
			   "type is missing: no type is usual for this topic; write type: sensor_msgs/Imu");
		return;
	}
	topic->type = take_type(node, usual, errors);
	if (topic->type && !is_mapped(topic->type))
		yaml_error(errors, node, "type: no message becomes %s", topic->type->name);
}

/* ---- subscribe ---- */

static void find_into(struct plan_input *input, struct error_sink *errors)
{
	static const enum msg_number refs[] = { msg_joint_ref_number, msg_gripper_ref_number, msg_balance_ref_number };
	const struct msg_type *into;

	for (size_t i = 0; i < sizeof(refs) / sizeof(*refs) && !input->estop && !input->into; i++) {
		into = msg_type_by_number(refs[i]);
		input->into = ros_decodes(input->type, into) ? into : NULL;
	}
	into = msg_type_by_number(msg_estop_number);
	if (input->estop && ros_decodes(input->type, into))
		input->into = into;
	if (!input->into)
		yaml_error(errors, input->node, "type: %s does not become %s", input->type->name,
			   input->estop ? "a raise of the e-stop; std_msgs/String does" : "a reference");
}

/* moves: NULL, or what references from there move. */
static void check_who(const struct plan *plan, const struct yaml_node *node, enum plan_who who, const char *moves,
		      struct error_sink *errors)
{
	if (who == PLAN_LOCAL && moves)
		yaml_error(errors, node,
			   "who: local would let any user of this machine move %s; write references into its channel, "
			   "as a member of the group moving:, or write who: secured, with keys of that group "
			   "(scripts/dds-keys --group)",
			   moves);
	else if (who == PLAN_LOCAL && strcmp(plan->interface, "lo") != 0)
		yaml_error(errors, node,
			   "who: local needs interface: lo; on %s write who: secured, with security:, or who: anyone",
			   plan->interface);
	if (who == PLAN_SECURED && !plan->secured)
		yaml_error(errors, node, "who: secured needs security:, which says where keys and permissions are");
}

static void read_input(const struct plan *plan, struct plan_input *input, const struct yaml_node *node,
		       struct error_sink *errors)
{
	struct settings table = { .rows = plan_input_rows, .values = input, .noun = "key of a topic" };

	input->node = node;
	take_topic(input->topic, node, errors);
	if (settings_fill(&table, node, errors))
		return;
	if (input->estop == (*input->device != 0))
		yaml_error(errors, node, "write device: NAME for references, or estop: yes to raise the e-stop");
	if (input->estop && (*input->source || settings_given(&table, "valid")))
		yaml_error(errors, node, "source and valid are of references, not of the e-stop");
	input->type = take_type(node, input->type_name, errors);
	if (input->type)
		find_into(input, errors);
	check_who(plan, node, input->who, input->estop || !*input->device ? NULL : input->device, errors);
}

/* Two topics for one place: it would not be clear which reference counts. */
static void check_twice(const struct plan *plan, struct error_sink *errors)
{
	for (size_t i = 0; i < plan->inputs_n; i++)
		for (size_t k = 0; k < i; k++)
			if (*plan->inputs[i].device && !strcmp(plan->inputs[i].device, plan->inputs[k].device) &&
			    !strcmp(plan->inputs[i].source, plan->inputs[k].source))
				yaml_error(
					errors, plan->inputs[i].node,
					"device: %s has references from %s already; make them two sources of a refmuxd",
					plan->inputs[i].device, plan->inputs[k].topic);
}

/* ---- relay ---- */

/* The names of a list; the e-stop, requests and replies are of one machine. */
static size_t read_channels(const char **to, char *text, const struct yaml_node *node, struct error_sink *errors)
{
	size_t n = 0;
	char *name;

	while ((name = strsep(&text, ", "))) {
		if (!*name)
			continue;
		if (strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") != strlen(name) ||
		    strlen(name) > 2 * TEXT_NAME_MAX)
			yaml_error(errors, node, "%s is not a channel such as waist-state", name);
		else if (!strncmp(name, "estop", 5) || text_ends_with(name, "-req") || text_ends_with(name, "-rep"))
			yaml_error(errors, node, "%s stays on its machine; subscribe: raises the e-stop from outside",
				   name);
		else if (n == PLAN_RELAY_MAX)
			yaml_error(errors, node, "at most %d channels", PLAN_RELAY_MAX);
		else
			to[n++] = name;
	}
	return n;
}

static void read_relay(struct plan *plan, struct error_sink *errors)
{
	struct plan_relay *relay = &plan->relay;
	struct settings table = { .rows = plan_relay_rows, .values = relay, .noun = "key of the relay" };
	const char *moves = NULL;

	if (!plan->relay_node || settings_fill(&table, plan->relay_node, errors))
		return;
	relay->node = plan->relay_node;
	relay->send_n = read_channels(relay->send, relay->send_text, yaml_find(relay->node, "send"), errors);
	relay->receive_n =
		read_channels(relay->receive, relay->receive_text, yaml_find(relay->node, "receive"), errors);
	for (size_t i = 0; i < relay->receive_n; i++) {
		if (!text_ends_with(relay->receive[i], "-ref"))
			continue;
		moves = "the robot";
		if (!settings_given(&table, "who"))
			yaml_error(errors, relay->node,
				   "who is missing: %s moves the robot; write who: secured or anyone",
				   relay->receive[i]);
	}
	if (settings_given(&table, "who"))
		check_who(plan, relay->node, relay->who, moves, errors);
	for (size_t i = 0; i < relay->send_n; i++)
		for (size_t k = 0; k < relay->receive_n; k++)
			if (!strcmp(relay->send[i], relay->receive[k]))
				yaml_error(errors, relay->node, "%s cannot go both ways", relay->send[i]);
}

/* ---- all of it ---- */

static void read_domain(struct plan *plan, struct error_sink *errors)
{
	const char *text = getenv("ROS_DOMAIN_ID");

	if (plan->domain != DOMAIN_UNKNOWN)
		return;
	plan->domain = 0;
	if (text && *text && (text_int(text, &plan->domain) || plan->domain < 0 || plan->domain > DOMAIN_MAX))
		error_add(errors, "ROS_DOMAIN_ID: %s is not a number from 0 to %d", text, DOMAIN_MAX);
}

static void read_peers(struct plan *plan, struct error_sink *errors)
{
	const struct yaml_node *node = yaml_find(yaml_root(plan->doc), "peers");
	char *rest = plan->peers_text, *peer;

	while ((peer = strsep(&rest, ","))) {
		if (!*peer)
			continue;
		if (plan->peers_n == FILTER_PEERS_MAX) {
			yaml_error(errors, node, "at most %d", FILTER_PEERS_MAX);
			return;
		}
		if (inet_pton(AF_INET, peer, &plan->addresses[plan->peers_n]) != 1)
			yaml_error(errors, node,
				   "%s is not an IPv4 address such as 10.0.0.2; packets are filtered by address, so a "
				   "name cannot be a peer",
				   peer);
		plan->peers[plan->peers_n++] = peer;
	}
	if (strcmp(plan->interface, "lo") != 0)
		return;
	if (plan->peers_n || plan->multicast)
		error_add(errors,
			  "%s: peers and multicast need interface: NAME; without it nothing leaves this machine",
			  yaml_root(plan->doc)->file);
	plan->peers[0] = "127.0.0.1";
	plan->addresses[0].s_addr = htonl(INADDR_LOOPBACK);
	plan->peers_n = 1;
	plan->multicast = false;
}

static void read_all(struct plan *plan, struct error_sink *errors)
{
	struct settings table = { .rows = plan_rows, .values = plan, .noun = "key" };
	struct settings security = { .rows = plan_security_rows, .values = &plan->security, .noun = "file" };
	const struct yaml_node *node;

	plan->domain = DOMAIN_UNKNOWN;
	if (settings_fill(&table, yaml_root(plan->doc), errors))
		return;
	read_domain(plan, errors);
	read_peers(plan, errors);
	plan->secured = plan->security_node && !settings_fill(&security, plan->security_node, errors);
	plan->topics_n = yaml_count(plan->publish_node, "/topic", errors);
	plan->inputs_n = yaml_count(plan->subscribe_node, "/topic", errors);
	plan->topics = yaml_room(plan->doc, plan->topics_n, sizeof(*plan->topics), errors);
	plan->inputs = yaml_room(plan->doc, plan->inputs_n, sizeof(*plan->inputs), errors);
	if (!plan->topics || !plan->inputs)
		return;
	node = plan->topics_n ? yaml_first(plan->publish_node) : NULL;
	for (size_t i = 0; node; node = node->next)
		read_topic(&plan->topics[i++], node, errors);
	node = plan->inputs_n ? yaml_first(plan->subscribe_node) : NULL;
	for (size_t i = 0; node; node = node->next)
		read_input(plan, &plan->inputs[i++], node, errors);
	check_twice(plan, errors);
	read_relay(plan, errors);
}

static int read_document(struct plan *plan, struct error_sink *errors)
{
	const unsigned int before = errors->count;

	read_all(plan, errors);
	if (errors->count == before)
		return 0;
	plan_close(plan);
	return -EINVAL;
}

int plan_open(struct plan *plan, const char *path, struct error_sink *errors)
{
	int r;

	*plan = (struct plan){ 0 };
	r = yaml_open_file(&plan->doc, path, errors);
	return r ? r : read_document(plan, errors);
}

int plan_open_text(struct plan *plan, const char *name, const char *text, size_t len, struct error_sink *errors)
{
	int r;

	*plan = (struct plan){ 0 };
	r = yaml_open_text(&plan->doc, name, text, len, errors);
	return r ? r : read_document(plan, errors);
}

void plan_close(struct plan *plan)
{
	yaml_close(plan->doc);
	plan->doc = NULL;
}
