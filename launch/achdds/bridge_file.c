/* bridge_file.c: the file of a bridge: from its tree to the structs, and how its parts fit together. */
#include <arpa/inet.h>

#include "channels/ros/ros_trajectory.h"
#include "launch/achdds/bridge_file.h"

#define DOMAIN_UNKNOWN (-1)
#define DOMAIN_MAX 232 /* the last one with ports */

/* ---- names ---- */

/* "/waist/joint_states": each part has letters, digits and underscores, a letter first. */
static bool is_topic(const char *text)
{
	if (*text != '/' || strlen(text) >= BRIDGE_FILE_TOPIC_MAX)
		return false;
	for (const char *at = text; *at; at++)
		if (*at == '/' ? (at[1] < 'A' || at[1] > 'z' || (at[1] > 'Z' && at[1] < 'a' && at[1] != '_'))
			       : !strchr("0123456789_", *at) && (*at < 'A' || *at > 'z' || (*at > 'Z' && *at < 'a')))
			return false;
	return true;
}

static void take_topic(char topic[BRIDGE_FILE_TOPIC_MAX], const struct yaml_node *node, struct error_sink *errors)
{
	if (!is_topic(node->key))
		yaml_error(errors, node,
			   "not a topic such as /waist/joint_states: a slash, then letters, digits and _, "
			   "a letter first");
	snprintf(topic, BRIDGE_FILE_TOPIC_MAX, "%s", node->key);
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

static void read_topic(struct bridge_file_topic *topic, const struct yaml_node *node, struct error_sink *errors)
{
	struct settings table = { .rows = bridge_file_topic_rows, .values = topic, .noun = "key of a topic" };
	const char *usual;

	topic->node = node;
	take_topic(topic->topic, node, errors);
	if (settings_fill(&table, node, errors) || !is_topic(node->key))
		return;
	if (!settings_given(&table, "qos") && !strcmp(strrchr(topic->topic, '/'), "/rosout"))
		topic->qos = DDS_NODE_LOG;
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

static void find_into(struct bridge_file_input *input, struct error_sink *errors)
{
	static const enum msg_number refs[] = { msg_joint_ref_number, msg_gripper_ref_number, msg_balance_ref_number };
	const struct msg_type *into;

	for (size_t i = 0; i < sizeof(refs) / sizeof(*refs) && !input->estop && !input->into; i++) {
		into = msg_type_by_number(refs[i]);
		input->into = ros_decodes(input->type, into) ? into : NULL;
	}
	if (!input->estop && !strcmp(input->type->name, ROS_TRAJECTORY)) {
		input->into = msg_type_by_number(msg_joint_ref_number);
		input->trajectory = true;
	}
	into = msg_type_by_number(msg_estop_number);
	if (input->estop && ros_decodes(input->type, into))
		input->into = into;
	if (!input->into)
		yaml_error(errors, input->node, "type: %s does not become %s", input->type->name,
			   input->estop ? "a raise of the e-stop; std_msgs/String does" : "a reference");
}

/* moves: NULL, or what references from there move. */
static void check_who(const struct bridge_file *file, const struct yaml_node *node, enum bridge_file_who who,
		      const char *moves, struct error_sink *errors)
{
	if (who == BRIDGE_FILE_LOCAL && moves)
		yaml_error(errors, node,
			   "who: local would let any user of this machine move %s; write references into its channel, "
			   "as a member of the group moving:, or write who: secured, with keys of that group "
			   "(scripts/dds-keys --group)",
			   moves);
	else if (who == BRIDGE_FILE_LOCAL && strcmp(file->interface, "lo") != 0)
		yaml_error(errors, node,
			   "who: local needs interface: lo; on %s write who: secured, with security:, or who: anyone",
			   file->interface);
	if (who == BRIDGE_FILE_SECURED && !file->secured)
		yaml_error(errors, node, "who: secured needs security:, which says where keys and permissions are");
}

static void read_input(const struct bridge_file *file, struct bridge_file_input *input, const struct yaml_node *node,
		       struct error_sink *errors)
{
	struct settings table = { .rows = bridge_file_input_rows, .values = input, .noun = "key of a topic" };

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
	if (input->trajectory && settings_given(&table, "valid"))
		yaml_error(errors, node, "valid is of references, not of trajectories");
	check_who(file, node, input->who, input->estop || !*input->device ? NULL : input->device, errors);
}

/* Two topics for one place: it would not be clear which reference counts. */
static void check_twice(const struct bridge_file *file, struct error_sink *errors)
{
	for (size_t i = 0; i < file->inputs_n; i++)
		for (size_t k = 0; k < i; k++)
			if (*file->inputs[i].device && !strcmp(file->inputs[i].device, file->inputs[k].device) &&
			    !strcmp(file->inputs[i].source, file->inputs[k].source))
				yaml_error(
					errors, file->inputs[i].node,
					"device: %s has references from %s already; make them two sources of a refmuxd",
					file->inputs[i].device, file->inputs[k].topic);
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
		else if (n == BRIDGE_FILE_RELAY_MAX)
			yaml_error(errors, node, "at most %d channels", BRIDGE_FILE_RELAY_MAX);
		else
			to[n++] = name;
	}
	return n;
}

static void read_relay(struct bridge_file *file, struct error_sink *errors)
{
	struct bridge_file_relay *relay = &file->relay;
	struct settings table = { .rows = bridge_file_relay_rows, .values = relay, .noun = "key of the relay" };
	const char *moves = NULL;

	if (!file->relay_node || settings_fill(&table, file->relay_node, errors))
		return;
	relay->node = file->relay_node;
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
		check_who(file, relay->node, relay->who, moves, errors);
	for (size_t i = 0; i < relay->send_n; i++)
		for (size_t k = 0; k < relay->receive_n; k++)
			if (!strcmp(relay->send[i], relay->receive[k]))
				yaml_error(errors, relay->node, "%s cannot go both ways", relay->send[i]);
}

/* ---- all of it ---- */

static void read_domain(struct bridge_file *file, struct error_sink *errors)
{
	const char *text = getenv("ROS_DOMAIN_ID");

	if (file->domain != DOMAIN_UNKNOWN)
		return;
	file->domain = 0;
	if (text && *text && (text_int(text, &file->domain) || file->domain < 0 || file->domain > DOMAIN_MAX))
		error_add(errors, "ROS_DOMAIN_ID: %s is not a number from 0 to %d", text, DOMAIN_MAX);
}

static void read_peers(struct bridge_file *file, struct error_sink *errors)
{
	const struct yaml_node *node = yaml_find(yaml_root(file->doc), "peers");
	char *rest = file->peers_text, *peer;

	while ((peer = strsep(&rest, ","))) {
		if (!*peer)
			continue;
		if (file->peers_n == FILTER_PEERS_MAX) {
			yaml_error(errors, node, "at most %d", FILTER_PEERS_MAX);
			return;
		}
		if (inet_pton(AF_INET, peer, &file->addresses[file->peers_n]) != 1)
			yaml_error(errors, node,
				   "%s is not an IPv4 address such as 10.0.0.2; packets are filtered by address, so a "
				   "name cannot be a peer",
				   peer);
		file->peers[file->peers_n++] = peer;
	}
	if (strcmp(file->interface, "lo") != 0)
		return;
	if (file->peers_n || file->multicast)
		error_add(errors,
			  "%s: peers and multicast need interface: NAME; without it nothing leaves this machine",
			  yaml_root(file->doc)->file);
	file->peers[0] = "127.0.0.1";
	file->addresses[0].s_addr = htonl(INADDR_LOOPBACK);
	file->peers_n = 1;
	file->multicast = false;
}

static void read_all(struct bridge_file *file, struct error_sink *errors)
{
	struct settings table = { .rows = bridge_file_rows, .values = file, .noun = "key" };
	struct settings security = { .rows = bridge_file_security_rows, .values = &file->security, .noun = "file" };
	const struct yaml_node *node;

	file->domain = DOMAIN_UNKNOWN;
	if (settings_fill(&table, yaml_root(file->doc), errors))
		return;
	read_domain(file, errors);
	read_peers(file, errors);
	file->secured = file->security_node && !settings_fill(&security, file->security_node, errors);
	file->topics_n = yaml_count(file->publish_node, "/topic", errors);
	file->inputs_n = yaml_count(file->subscribe_node, "/topic", errors);
	file->topics = yaml_room(file->doc, file->topics_n, sizeof(*file->topics), errors);
	file->inputs = yaml_room(file->doc, file->inputs_n, sizeof(*file->inputs), errors);
	if (!file->topics || !file->inputs)
		return;
	node = file->topics_n ? yaml_first(file->publish_node) : NULL;
	for (size_t i = 0; node; node = node->next)
		read_topic(&file->topics[i++], node, errors);
	node = file->inputs_n ? yaml_first(file->subscribe_node) : NULL;
	for (size_t i = 0; node; node = node->next)
		read_input(file, &file->inputs[i++], node, errors);
	check_twice(file, errors);
	read_relay(file, errors);
}

static int read_document(struct bridge_file *file, struct error_sink *errors)
{
	const unsigned int before = errors->count;

	read_all(file, errors);
	if (errors->count == before)
		return 0;
	bridge_file_close(file);
	return -EINVAL;
}

int bridge_file_open(struct bridge_file *file, const char *path, struct error_sink *errors)
{
	int r;

	*file = (struct bridge_file){ 0 };
	r = yaml_open_file(&file->doc, path, errors);
	return r ? r : read_document(file, errors);
}

int bridge_file_open_text(struct bridge_file *file, const char *name, const char *text, size_t len,
			  struct error_sink *errors)
{
	int r;

	*file = (struct bridge_file){ 0 };
	r = yaml_open_text(&file->doc, name, text, len, errors);
	return r ? r : read_document(file, errors);
}

void bridge_file_close(struct bridge_file *file)
{
	yaml_close(file->doc);
	file->doc = NULL;
}
