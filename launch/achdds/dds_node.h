/* dds_node.h: this process in a DDS domain, seen there as a ROS 2 node: writers and readers of CDR bytes.
 *
 *	struct dds_node *node;
 *	struct dds_node_writer *writer;
 *
 *	dds_node_open(&node, &options, errors);
 *	writer = dds_node_write(node, &topic, errors);	"rt/imu", "sensor_msgs::msg::dds_::Imu_"
 *	dds_node_announce(node);			once all are there
 *	dds_node_put(writer, cdr, len);
 *
 * Topics and types have their DDS names.  Samples that come in wait in the library, the newest of each reader, until
 * dds_node_take; dds_node_fd is readable then.  Nothing here waits for a reader of ours.
 */
#pragma once

#include "config/base/base.h"

/* How a topic is delivered: the profiles of ROS 2. */
enum dds_node_qos {
	DDS_NODE_DEFAULT, /* the last 10, reliable */
	DDS_NODE_SENSOR,  /* the last 5, best effort */
	DDS_NODE_LATCHED, /* the last one, reliable, for readers that come later, too */
	DDS_NODE_LOG,	  /* the last 1000 of 10 s, reliable, for readers that come later, too: /rosout */
	DDS_NODE_NEWEST,  /* the last one, best effort: references */
};

/* Files of DDS Security; all or none of them. */
struct dds_node_security {
	char identity_ca[256], certificate[256], key[256], permissions_ca[256], governance[256], permissions[256];
};

struct dds_node_options {
	unsigned int domain;
	const char *name, *space; /* of the node: "achdds", "/" */
	const char *interface;	  /* "lo" */
	const char *const *peers; /* addresses, asked for participants */
	size_t peers_n;
	bool multicast;
	const struct dds_node_security *security; /* NULL: none */
	/* After the domain, and after the participant, was opened: 0, or -errno with a line; NULL: no check. */
	int (*check_sockets)(struct error_sink *errors);
};

struct dds_node;
struct dds_node_writer;
struct dds_node_reader;

struct dds_node_topic {
	const char *topic; /* "rt/joint_states" */
	const char *type;  /* "sensor_msgs::msg::dds_::JointState_" */
	const char *hash;  /* "RIHS01_..."; NULL: unknown */
	enum dds_node_qos qos;
};

/* 0, or -errno with a line in errors. */
int dds_node_open(struct dds_node **node, const struct dds_node_options *options, struct error_sink *errors);
void dds_node_close(struct dds_node *node); /* and its writers and readers; NULL is allowed */
int dds_node_fd(const struct dds_node *node);

/* NULL: a line in errors. */
struct dds_node_writer *dds_node_write(struct dds_node *node, const struct dds_node_topic *topic,
				       struct error_sink *errors);
struct dds_node_reader *dds_node_read(struct dds_node *node, const struct dds_node_topic *topic,
				      struct error_sink *errors);
/* Publishes the node with its writers and readers on ros_discovery_info.  0 or -errno. */
int dds_node_announce(struct dds_node *node);

/* 0; -EAGAIN: there is no room, a reader is too far behind; or -errno. */
int dds_node_put(struct dds_node_writer *writer, const void *cdr, size_t len);
unsigned int dds_node_readers(const struct dds_node_writer *writer); /* that match, anywhere */
unsigned int dds_node_writers(const struct dds_node_reader *reader);

struct dds_node_sample {
	uint64_t writer; /* which one wrote it; 0: unknown */
	size_t len;
	const uint8_t *cdr; /* header included; until dds_node_release */
	void *own;
};
/* Before the samples are taken: dds_node_fd is not readable any more. */
void dds_node_seen(struct dds_node *node);
void dds_node_again(struct dds_node *node); /* it is: not all samples were taken */
/* 1: the next sample; 0: there is none; or -errno. */
int dds_node_take(struct dds_node_reader *reader, struct dds_node_sample *sample);
void dds_node_release(struct dds_node_sample *sample);
