/* dds_node.c: this process in a DDS domain, on Cyclone DDS. */
#include <dds/dds.h>
#include <dds/ddsi/ddsi_serdata.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "launch/achdds/dds_node.h"
#include "launch/achdds/dds_type.h"
#include "launch/achdds/library_log.h"
#include "launch/achdds/ros_graph.h"

#define BLOCKED_NS 0 /* a writer does not wait for room */
#define LOG_LIFE_NS DDS_SECS(10)
#define PARTICIPANTS_MAX 32 /* of this machine, as in ROS 2 */
#define XML_MAX 8192

struct end {
	struct end *next;
	struct dds_node *node;
	dds_entity_t entity;
	const struct ddsi_sertype *type;
	atomic_bool news; /* of a reader: samples came since it was taken from last, or were left */
};

struct dds_node_writer {
	struct end end;
};

struct dds_node_reader {
	struct end end;
};

struct dds_node {
	dds_entity_t domain, participant;
	int fd;
	atomic_bool rung; /* fd is readable, or about to be */
	char name[TEXT_NAME_MAX + 1], space[64];
	struct end *writers, *readers;
	struct dds_node_writer *graph;
};

/* ---- the domain ---- */

static void write_xml(struct text_out *xml, const struct dds_node_options *o)
{
	text_add(xml,
		 "<CycloneDDS><Domain id=\"any\"><General><Interfaces><NetworkInterface name=\"%s\"/></Interfaces>"
		 "<AllowMulticast>%s</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex>"
		 "<MaxAutoParticipantIndex>%d</MaxAutoParticipantIndex><SPDPInterval>1s</SPDPInterval><Peers>",
		 o->interface, o->multicast ? "true" : "false", PARTICIPANTS_MAX);
	for (size_t i = 0; i < o->peers_n; i++)
		text_add(xml, "<Peer address=\"%s\"/>", o->peers[i]);
	/* High enough for any history here, so that a reader that lags never fills it.  Fragments of samples that would
	 * be dropped as a whole are not kept. */
	text_add(xml,
		 "</Peers></Discovery><Internal><MaxSampleSize>%uB</MaxSampleSize><Watermarks><WhcHigh>16MB</WhcHigh>"
		 "<WhcAdaptive>false</WhcAdaptive></Watermarks></Internal></Domain></CycloneDDS>",
		 DDS_TYPE_SIZE_MAX);
}

static void secure(dds_qos_t *qos, const struct dds_node_security *s)
{
	static const char *const libraries[][3] = { { "auth", "dds_security_auth", "authentication" },
						    { "access", "dds_security_ac", "access_control" },
						    { "crypto", "dds_security_crypto", "crypto" } };
	const struct {
		const char *property, *file;
	} files[] = {
		{ "dds.sec.auth.identity_ca", s->identity_ca }, { "dds.sec.auth.identity_certificate", s->certificate },
		{ "dds.sec.auth.private_key", s->key },		{ "dds.sec.access.permissions_ca", s->permissions_ca },
		{ "dds.sec.access.governance", s->governance }, { "dds.sec.access.permissions", s->permissions }
	};
	char property[64], value[300];

	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++) {
		snprintf(property, sizeof(property), "dds.sec.%s.library.path", libraries[i][0]);
		dds_qset_prop(qos, property, libraries[i][1]);
		snprintf(property, sizeof(property), "dds.sec.%s.library.init", libraries[i][0]);
		snprintf(value, sizeof(value), "init_%s", libraries[i][2]);
		dds_qset_prop(qos, property, value);
		snprintf(property, sizeof(property), "dds.sec.%s.library.finalize", libraries[i][0]);
		snprintf(value, sizeof(value), "finalize_%s", libraries[i][2]);
		dds_qset_prop(qos, property, value);
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(value, sizeof(value), "file:%s", files[i].file);
		dds_qset_prop(qos, files[i].property, value);
	}
}

/* A line with the reason that the library gave; -EIO. */
static int refuse(struct error_sink *errors, const char *what, dds_return_t r)
{
	struct library_log log;

	library_log_read(&log);
	return error_refuse(errors, -EIO, "unable to open %s: %s", what, log.lines ? log.first : dds_strretcode(r));
}

static int check_sockets(const struct dds_node_options *o, struct error_sink *errors)
{
	return o->check_sockets ? o->check_sockets(errors) : 0;
}

static int open_participant(struct dds_node *n, const struct dds_node_options *o, struct error_sink *errors)
{
	static const char enclave[] = "enclave=/;"; /* of a ROS 2 context */
	char xml[XML_MAX], what[ERROR_LINE_MAX / 4];
	struct text_out out = text_out(xml, sizeof(xml));
	dds_qos_t *qos;
	int r;

	write_xml(&out, o);
	if (out.len >= sizeof(xml))
		return error_refuse(errors, -E2BIG, "peers: too many");
	snprintf(what, sizeof(what), "domain %u on %s", o->domain, o->interface);
	n->domain = dds_create_domain(o->domain, xml);
	if (n->domain < 0)
		return refuse(errors, what, n->domain);
	r = check_sockets(o, errors);
	if (r)
		return r;
	qos = dds_create_qos();
	dds_qset_userdata(qos, enclave, sizeof(enclave) - 1);
	if (o->security)
		secure(qos, o->security);
	n->participant = dds_create_participant(o->domain, qos, NULL);
	dds_delete_qos(qos);
	return n->participant < 0 ? refuse(errors, what, n->participant) : check_sockets(o, errors);
}

int dds_node_open(struct dds_node **node, const struct dds_node_options *options, struct error_sink *errors)
{
	struct dds_node *n = calloc(1, sizeof(*n));
	int r;

	*node = NULL;
	if (!n)
		return -ENOMEM;
	snprintf(n->name, sizeof(n->name), "%s", options->name);
	snprintf(n->space, sizeof(n->space), "%s", options->space);
	n->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	library_log_open();
	r = n->fd < 0 ? -errno : open_participant(n, options, errors);
	if (!r) {
		n->graph = dds_node_write(
			n, &(struct dds_node_topic){ ROS_GRAPH_TOPIC, ROS_GRAPH_TYPE, NULL, DDS_NODE_LATCHED }, errors);
		r = n->graph ? 0 : -EIO;
	}
	if (r)
		dds_node_close(n);
	else
		*node = n;
	return r;
}

static void free_ends(struct end *end)
{
	while (end) {
		struct end *next = end->next;

		free(end);
		end = next;
	}
}

void dds_node_close(struct dds_node *n)
{
	if (!n)
		return;
	if (n->domain > 0)
		dds_delete(n->domain);
	library_log_close();
	free_ends(n->writers);
	free_ends(n->readers);
	if (n->fd >= 0)
		close(n->fd);
	free(n);
}

int dds_node_fd(const struct dds_node *n)
{
	return n->fd;
}

/* ---- topics ---- */

static dds_qos_t *make_qos(const struct dds_node_topic *topic)
{
	static const struct {
		int depth;
		bool reliable, late;
	} profiles[] = { [DDS_NODE_DEFAULT] = { 10, true, false },
			 [DDS_NODE_SENSOR] = { 5, false, false },
			 [DDS_NODE_LATCHED] = { 1, true, true },
			 [DDS_NODE_LOG] = { 1000, true, true },
			 [DDS_NODE_NEWEST] = { 1, false, false } };
	const int depth = profiles[topic->qos].depth;
	dds_qos_t *qos = dds_create_qos();
	char data[96];

	dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, depth);
	dds_qset_reliability(qos,
			     profiles[topic->qos].reliable ? DDS_RELIABILITY_RELIABLE : DDS_RELIABILITY_BEST_EFFORT,
			     BLOCKED_NS);
	if (profiles[topic->qos].late) {
		dds_qset_durability(qos, DDS_DURABILITY_TRANSIENT_LOCAL);
		dds_qset_durability_service(qos, 0, DDS_HISTORY_KEEP_LAST, depth, DDS_LENGTH_UNLIMITED,
					    DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED);
	}
	if (topic->qos == DDS_NODE_LOG)
		dds_qset_lifespan(qos, LOG_LIFE_NS);
	dds_qset_writer_data_lifecycle(qos, false);
	dds_qset_ignorelocal(qos, DDS_IGNORELOCAL_PARTICIPANT);
	dds_qset_data_representation(qos, 1, (dds_data_representation_id_t[]){ DDS_DATA_REPRESENTATION_XCDR1 });
	if (topic->hash) {
		snprintf(data, sizeof(data), "typehash=%s;", topic->hash);
		dds_qset_userdata(qos, data, strlen(data));
	}
	return qos;
}

void dds_node_again(struct dds_node *n)
{
	const uint64_t one = 1;

	if (atomic_exchange(&n->rung, true))
		return;
	if (write(n->fd, &one, sizeof(one)) < 0)
		return; /* it is full, and readable */
}

/* On a thread of the library.  The news first: they are looked at after dds_node_seen has taken the ring back. */
static void data_came(dds_entity_t reader, void *to)
{
	struct end *end = to;

	(void)reader;
	atomic_store(&end->news, true);
	dds_node_again(end->node);
}

static dds_entity_t make_topic(struct dds_node *n, const struct dds_node_topic *topic, const struct ddsi_sertype **used)
{
	struct ddsi_sertype *type = dds_type_type(topic->type);
	dds_entity_t entity;

	if (!type)
		return DDS_RETCODE_OUT_OF_RESOURCES;
	entity = dds_create_topic_sertype(n->participant, topic->topic, &type, NULL, NULL, NULL);
	if (entity < 0)
		ddsi_sertype_unref(type);
	*used = type;
	return entity;
}

/* The end, linked to the others, or NULL with a line. */
static struct end *make_end(struct dds_node *n, const struct dds_node_topic *what, bool writes,
			    struct error_sink *errors)
{
	struct end **list = writes ? &n->writers : &n->readers, *end = calloc(1, sizeof(*end));
	dds_listener_t *listener = dds_create_listener(end);
	const struct ddsi_sertype *type = NULL;
	dds_qos_t *qos = make_qos(what);
	dds_entity_t entity = make_topic(n, what, &type);

	if (end)
		end->node = n; /* samples may come at once */
	dds_lset_data_available(listener, data_came);
	if (entity > 0 && end)
		entity = writes ? dds_create_writer(n->participant, entity, qos, NULL)
				: dds_create_reader(n->participant, entity, qos, listener);
	dds_delete_qos(qos);
	dds_delete_listener(listener);
	if (entity < 0 || !end) {
		error_add(errors, "topic %s of type %s: %s", what->topic, what->type, dds_strretcode(entity));
		free(end);
		return NULL;
	}
	end->next = *list;
	end->entity = entity;
	end->type = type;
	*list = end;
	return end;
}

struct dds_node_writer *dds_node_write(struct dds_node *n, const struct dds_node_topic *topic,
				       struct error_sink *errors)
{
	return (struct dds_node_writer *)make_end(n, topic, true, errors);
}

struct dds_node_reader *dds_node_read(struct dds_node *n, const struct dds_node_topic *topic, struct error_sink *errors)
{
	return (struct dds_node_reader *)make_end(n, topic, false, errors);
}

/* ---- the graph of ROS 2 ---- */

static size_t gids(const struct end *end, const struct dds_node_writer *but, uint8_t gid[][ROS_GRAPH_GID])
{
	size_t n = 0;

	for (; end && n < ROS_GRAPH_ENDS_MAX; end = end->next)
		if (end != &but->end && !dds_get_guid(end->entity, (dds_guid_t *)gid[n]))
			n++;
	return n;
}

int dds_node_announce(struct dds_node *n)
{
	static struct ros_graph graph;
	static uint8_t cdr[ROS_GRAPH_SIZE_MAX];
	size_t len;

	graph.space = n->space;
	graph.name = n->name;
	if (dds_get_guid(n->participant, (dds_guid_t *)graph.participant))
		return -EIO;
	graph.readers_n = gids(n->readers, n->graph, graph.readers);
	graph.writers_n = gids(n->writers, n->graph, graph.writers);
	len = ros_graph_write(&graph, cdr, sizeof(cdr));
	return len ? dds_node_put(n->graph, cdr, len) : -E2BIG;
}

/* ---- samples ---- */

int dds_node_put(struct dds_node_writer *writer, const void *cdr, size_t len)
{
	struct ddsi_serdata *sample = dds_type_sample(writer->end.type, cdr, len);
	dds_return_t r;

	if (!sample)
		return -ENOMEM;
	r = dds_writecdr(writer->end.entity, sample);
	if (r == DDS_RETCODE_TIMEOUT)
		return -EAGAIN;
	return r == DDS_RETCODE_OK ? 0 : -EIO;
}

unsigned int dds_node_readers(const struct dds_node_writer *writer)
{
	dds_publication_matched_status_t status = { 0 };

	dds_get_publication_matched_status(writer->end.entity, &status);
	return status.current_count;
}

unsigned int dds_node_writers(const struct dds_node_reader *reader)
{
	dds_subscription_matched_status_t status = { 0 };

	dds_get_subscription_matched_status(reader->end.entity, &status);
	return status.current_count;
}

void dds_node_seen(struct dds_node *n)
{
	uint64_t count;

	if (read(n->fd, &count, sizeof(count)) < 0)
		return; /* nothing came */
	atomic_store(&n->rung, false);
}

int dds_node_take(struct dds_node_reader *reader, struct dds_node_sample *sample)
{
	struct ddsi_serdata *data = NULL;
	dds_sample_info_t info;
	dds_return_t n;

	if (!atomic_exchange(&reader->end.news, false))
		return 0;
	while ((n = dds_takecdr(reader->end.entity, &data, 1, &info, DDS_ANY_STATE)) > 0) {
		if (!info.valid_data) { /* a writer has gone */
			ddsi_serdata_unref(data);
			continue;
		}
		atomic_store(&reader->end.news, true); /* there may be more */
		*sample = (struct dds_node_sample){ .writer = info.publication_handle, .own = data };
		sample->cdr = dds_type_bytes(data, &sample->len);
		return 1;
	}
	return n < 0 && n != DDS_RETCODE_NO_DATA ? -EIO : 0;
}

void dds_node_release(struct dds_node_sample *sample)
{
	ddsi_serdata_unref(sample->own);
}
