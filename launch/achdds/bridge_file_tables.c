/* bridge_file_tables.c: the keys of the file of a bridge. */
#include "launch/achdds/bridge_file.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
#define DIGITS "0123456789"

static const char *const qos_words[] = { "default", "sensor", "latched", "log", "newest", NULL };
static const char *const who_words[] = { "local", "secured", "anyone", NULL };

/* As ROS 2 has it: letters, digits and underscores, a letter first. */
static const char *node_form(const char *text)
{
	return *text && strspn(text, LETTERS DIGITS) == strlen(text) && !strchr(DIGITS, *text)
		       ? NULL
		       : "the name of a ROS node: letters, digits and _, a letter first";
}

static const char *interface_form(const char *text)
{
	return text_is_name(text) && strlen(text) <= 15 ? NULL : "a network interface such as lo or eth0";
}

static const char *peers_form(const char *text)
{
	return strspn(text, LETTERS DIGITS ".:-,") == strlen(text) ? NULL : "a list of addresses: [10.0.0.2, 10.0.0.3]";
}

static const char *channel_form(const char *text)
{
	return *text && strspn(text, LETTERS DIGITS ".-*?[]") == strlen(text)
		       ? NULL
		       : "a channel such as waist-state or \"*-event\"";
}

static const char *frame_form(const char *text)
{
	return *text && strspn(text, LETTERS DIGITS "/-.") == strlen(text) ? NULL : "a frame such as imu_link";
}

static const char *path_form(const char *text)
{
	return *text == '/' ? NULL : "a path that begins with a slash";
}

const struct settings_row bridge_file_rows[] = {
	SETTINGS_INT("domain", struct bridge_file, domain, "", NULL, "0", "232",
		     "DDS domain; by default ROS_DOMAIN_ID, or 0"),
	SETTINGS_TEXT("node", struct bridge_file, name, "achdds", "name of the ROS node", .check = node_form),
	SETTINGS_TEXT("interface", struct bridge_file, interface, "lo", "the network interface that is used",
		      .check = interface_form),
	SETTINGS_TEXT("peers", struct bridge_file, peers_text, "",
		      "[10.0.0.2]: the machines whose packets are received", .check = peers_form, .joined = true),
	SETTINGS_BOOL("multicast", struct bridge_file, multicast, "no", "find participants, and send, by multicast"),
	SETTINGS_NODE("security", struct bridge_file, security_node, NULL, "files of DDS Security"),
	SETTINGS_NODE("publish", struct bridge_file, publish_node, NULL, "topics that go out"),
	SETTINGS_NODE("subscribe", struct bridge_file, subscribe_node, NULL, "topics that come in"),
	SETTINGS_NODE("relay", struct bridge_file, relay_node, NULL, "channels of, and for, another Endplate machine"),
	SETTINGS_END,
};

const struct settings_row bridge_file_topic_rows[] = {
	SETTINGS_TEXT("channel", struct bridge_file_topic, channel, SETTINGS_REQUIRED,
		      "waist-state, or several: \"*-event\"", .check = channel_form),
	SETTINGS_TEXT("type", struct bridge_file_topic, type_name, "",
		      "ROS type; by default the usual one of such a topic"),
	SETTINGS_WORD("qos", struct bridge_file_topic, qos, qos_words, "default", "how it is delivered"),
	SETTINGS_REAL("rate", struct bridge_file_topic, rate, "Hz", "0", "0", "10000",
		      "greatest rate of each channel; 0: all messages"),
	SETTINGS_TEXT("frame", struct bridge_file_topic, frame, NULL, "frame_id; by default the device",
		      .check = frame_form),
	SETTINGS_END,
};

const struct settings_row bridge_file_input_rows[] = {
	SETTINGS_TEXT("type", struct bridge_file_input, type_name, SETTINGS_REQUIRED,
		      "ROS type: sensor_msgs/JointState"),
	SETTINGS_TEXT("device", struct bridge_file_input, device, NULL, "the device that gets the references",
		      .check = text_name_form),
	SETTINGS_TEXT("source", struct bridge_file_input, source, NULL, "the source of its refmuxd",
		      .check = text_name_form),
	SETTINGS_BOOL("estop", struct bridge_file_input, estop, "no", "each message raises the e-stop"),
	SETTINGS_WORD("who", struct bridge_file_input, who, who_words, SETTINGS_REQUIRED,
		      "participants that may send it"),
	SETTINGS_DURATION("valid", struct bridge_file_input, valid_ns, "0", "0", "200ms",
			  "how long a reference counts from its reception; 0: 5 ticks of the driver"),
	SETTINGS_END,
};

const struct settings_row bridge_file_relay_rows[] = {
	SETTINGS_TEXT("name", struct bridge_file_relay, name, SETTINGS_REQUIRED, "the same on both machines",
		      .check = text_name_form),
	SETTINGS_TEXT("send", struct bridge_file_relay, send_text, "", "[waist-state]: channels that are sent",
		      .joined = true),
	SETTINGS_TEXT("receive", struct bridge_file_relay, receive_text, "",
		      "[waist-ref]: channels that come from there", .joined = true),
	SETTINGS_WORD("who", struct bridge_file_relay, who, who_words, NULL, "participants that may send references"),
	SETTINGS_DURATION("valid", struct bridge_file_relay, valid_ns, "0", "0", "200ms",
			  "how long a reference counts from its reception, at most; 0: 5 ticks of the driver"),
	SETTINGS_DURATION("uncertainty", struct bridge_file_relay, uncertainty_ns, "5ms", "10us", "1s",
			  "uncertainty of the other clock; if it is larger, nothing is delivered"),
	SETTINGS_END,
};

#define FILE_ROW(key, member, help) \
	SETTINGS_TEXT(key, struct dds_node_security, member, SETTINGS_REQUIRED, help, .check = path_form)
const struct settings_row bridge_file_security_rows[] = {
	FILE_ROW("identity_ca", identity_ca, "certificate of the authority of identities"),
	FILE_ROW("certificate", certificate, "of this participant"),
	FILE_ROW("key", key, "of this participant"),
	FILE_ROW("permissions_ca", permissions_ca, "certificate of the authority of permissions"),
	FILE_ROW("governance", governance, "signed governance of the domain"),
	FILE_ROW("permissions", permissions, "signed permissions of this participant"),
	SETTINGS_END,
};
