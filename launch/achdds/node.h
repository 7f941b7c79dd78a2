/* node.h: this process in a DDS domain, seen there as a ROS 2 node: writers and readers of CDR bytes.
 *
 *	struct node *node;
 *	struct node_writer *writer;
 *
 *	node_open(&node, &options, errors);
 *	writer = node_write(node, &topic, errors);	"rt/imu", "sensor_msgs::msg::dds_::Imu_"
 *	node_announce(node);			once all are there
 *	node_put(writer, cdr, len);
 *
 * Topics and types have their DDS names.  Samples that come in wait in the library, the newest of each reader, until
 * node_take; node_fd is readable then.  Nothing here waits for a reader of ours.
 */
#ifndef LAUNCH_ACHDDS_NODE_H
#define LAUNCH_ACHDDS_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/base/error.h"

/* How a topic is delivered: the profiles of ROS 2. */
enum node_qos {
	NODE_DEFAULT, /* the last 10, reliable */
	NODE_SENSOR,  /* the last 5, best effort */
	NODE_LATCHED, /* the last one, reliable, for readers that come later, too */
	NODE_LOG,     /* the last 1000 of 10 s, reliable, for readers that come later, too: /rosout */
	NODE_NEWEST,  /* the last one, best effort: references */
};

/* Files of DDS Security; all or none of them. */
struct node_security {
	char identity_ca[256], certificate[256], key[256], permissions_ca[256], governance[256], permissions[256];
};

struct node_options {
	unsigned int domain;
	const char *name, *space; /* of the node: "achdds", "/" */
	const char *interface;	  /* "lo" */
	const char *const *peers; /* addresses, asked for participants */
	size_t peers_n;
	bool multicast;
	const struct node_security *security; /* NULL: none */
	/* After the domain, and after the participant, was opened: 0, or -errno with a line; NULL: no check. */
	int (*check_sockets)(struct error_sink *errors);
};

struct node;
struct node_writer;
struct node_reader;

struct node_topic {
	const char *topic; /* "rt/joint_states" */
	const char *type;  /* "sensor_msgs::msg::dds_::JointState_" */
	const char *hash;  /* "RIHS01_..."; NULL: unknown */
	enum node_qos qos;
};

/* 0, or -errno with a line in errors. */
int node_open(struct node **node, const struct node_options *options, struct error_sink *errors);
void node_close(struct node *node); /* and its writers and readers; NULL is allowed */
int node_fd(const struct node *node);

/* NULL: a line in errors. */
struct node_writer *node_write(struct node *node, const struct node_topic *topic, struct error_sink *errors);
struct node_reader *node_read(struct node *node, const struct node_topic *topic, struct error_sink *errors);
/* Publishes the node with its writers and readers on ros_discovery_info.  0 or -errno. */
int node_announce(struct node *node);

/* 0; -EAGAIN: there is no room, a reader is too far behind; or -errno. */
int node_put(struct node_writer *writer, const void *cdr, size_t len);
unsigned int node_readers(const struct node_writer *writer); /* that match, anywhere */
unsigned int node_writers(const struct node_reader *reader);

struct node_sample {
	uint64_t writer; /* which one wrote it; 0: unknown */
	size_t len;
	const uint8_t *cdr; /* header included; until node_release */
	void *own;
};
/* Before the samples are taken: node_fd is not readable any more. */
void node_seen(struct node *node);
void node_again(struct node *node); /* it is: not all samples were taken */
/* 1: the next sample; 0: there is none; or -errno. */
int node_take(struct node_reader *reader, struct node_sample *sample);
void node_release(struct node_sample *sample);

#endif
