/* bridge_file.h: the file of a bridge: what goes out, and what may come in (achdds(1)).
 *
 *	domain: 7
 *	publish:
 *	  /joint_states: {channel: waist-state, rate: 100}
 *	  /rosout: {channel: "*-event"}
 *	subscribe:
 *	  /stop: {estop: yes, type: std_msgs/String, who: local}
 *
 *	struct bridge_file plan;
 *
 *	if (bridge_file_open(&plan, "krang.dds", &errors))
 *		return 100;	(all that is wrong is in errors, one line each)
 *	bridge_file_close(&plan);
 */
#pragma once

#include "channels/ros/ros_map.h"
#include "config/settings/settings.h"
#include "launch/achdds/dds_node.h"
#include "launch/achdds/filter.h"

#define BRIDGE_FILE_TOPIC_MAX 200

/* A topic, and the channels whose messages are published there. */
struct bridge_file_topic {
	char topic[BRIDGE_FILE_TOPIC_MAX];
	char channel[64]; /* a name or a shell pattern, without the prefix */
	char type_name[96];
	const struct ros_type *type;
	enum dds_node_qos qos;
	double rate; /* messages of each channel in a second; 0: all */
	char frame[64];
	const struct yaml_node *node;
};

/* Who may send references, or raise. */
enum bridge_file_who {
	BRIDGE_FILE_LOCAL,   /* programs of this machine, of any user: the interface is lo; not for references */
	BRIDGE_FILE_SECURED, /* participants that the permissions of DDS Security name */
	BRIDGE_FILE_ANYONE,  /* any participant of the domain that the filter lets in */
};

/* A topic whose messages become references of a device, or raise the e-stop. */
struct bridge_file_input {
	char topic[BRIDGE_FILE_TOPIC_MAX];
	char type_name[96];
	const struct ros_type *type;
	const struct msg_type *into; /* joint-ref, gripper-ref, balance-ref or estop */
	char device[TEXT_NAME_MAX + 1], source[TEXT_NAME_MAX + 1];
	bool estop, trajectory; /* trajectory: its messages are followed, as motions */
	enum bridge_file_who who;
	int64_t valid_ns; /* of a reference, from its reception; 0: 5 ticks of the driver */
	const struct yaml_node *node;
};

#define BRIDGE_FILE_RELAY_MAX 64

/* Channels that go to another Endplate machine, and come from it. */
struct bridge_file_relay {
	const struct yaml_node *node; /* NULL: there is none */
	char name[TEXT_NAME_MAX + 1]; /* the same on both */
	char send_text[2048], receive_text[2048];
	const char *send[BRIDGE_FILE_RELAY_MAX], *receive[BRIDGE_FILE_RELAY_MAX]; /* channels */
	size_t send_n, receive_n;
	enum bridge_file_who who; /* may send references */
	int64_t valid_ns, uncertainty_ns;
};

struct bridge_file {
	int64_t domain;
	char name[TEXT_NAME_MAX + 1], interface[16], peers_text[1024];
	bool multicast;
	const char *peers[FILTER_PEERS_MAX];
	struct in_addr addresses[FILTER_PEERS_MAX]; /* of the peers */
	size_t peers_n;
	const struct yaml_node *publish_node, *subscribe_node, *security_node, *relay_node;
	struct bridge_file_topic *topics;
	size_t topics_n;
	struct bridge_file_input *inputs;
	size_t inputs_n;
	struct bridge_file_relay relay;
	bool secured;
	struct dds_node_security security;
	struct yaml *doc; /* holds all of the above */
};

/* 0; or -errno, everything that is wrong in errors, and nothing to close. */
int bridge_file_open(struct bridge_file *file, const char *path, struct error_sink *errors);
/* The same from memory, for tests; name begins error lines. */
int bridge_file_open_text(struct bridge_file *file, const char *name, const char *text, size_t len,
			  struct error_sink *errors);
void bridge_file_close(struct bridge_file *file);

/* The tables behind the file, for those who document or test it. */
extern const struct settings_row bridge_file_rows[], bridge_file_topic_rows[], bridge_file_input_rows[],
	bridge_file_relay_rows[], bridge_file_security_rows[];
