/* peer_cyclone.c: Cyclone DDS on the loopback interface, or in the shared memory of iceoryx, for which iox-roudi must
 * run; best effort, as many messages kept as in a channel. */
#include <dds/dds.h>
#include <peer_message.h>
#include <stdlib.h>
#include <string.h>

#include "test/bench/peers/peers.h"

#define DOMAIN 77
#define CONFIG(more)                                                                                         \
	"<CycloneDDS><Domain id=\"any\"><General><Interfaces><NetworkInterface name=\"lo\"/></Interfaces>"   \
	"<AllowMulticast>false</AllowMulticast><MaxMessageSize>65500B</MaxMessageSize></General><Discovery>" \
	"<ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>30</MaxAutoParticipantIndex>"     \
	"<Peers><Peer address=\"127.0.0.1\"/></Peers></Discovery>" more "</Domain></CycloneDDS>"

struct peer {
	dds_entity_t participant, topic, end, waitset;
	dds_qos_t *qos;
};

static dds_entity_t must(const struct transport_link *link, const char *call, dds_entity_t answer)
{
	if (answer < 0)
		peers_die(link, call, dds_strretcode(-answer));
	return answer;
}

static struct peer *cyclone_join(struct transport_link *link)
{
	struct peer *peer = link->peer = calloc(1, sizeof *peer);
	const bool shm = link->kind == &peer_cyclone_shm;

	setenv("CYCLONEDDS_URI",
	       shm ? CONFIG("<SharedMemory><Enable>true</Enable><LogLevel>error</LogLevel></SharedMemory>")
		   : CONFIG(""),
	       1);
	peer->qos = dds_create_qos();
	dds_qset_reliability(peer->qos, DDS_RELIABILITY_BEST_EFFORT, 0);
	dds_qset_history(peer->qos, DDS_HISTORY_KEEP_LAST,
			 shm && link->depth > PEERS_ICEORYX_MAX ? PEERS_ICEORYX_MAX : (int32_t)link->depth);
	peer->participant = must(link, "dds_create_participant", dds_create_participant(DOMAIN, NULL, NULL));
	peer->topic = must(link, "dds_create_topic",
			   dds_create_topic(peer->participant, &PeerMessage_desc, link->name, NULL, NULL));
	return peer;
}

static void cyclone_join_sending(struct transport_link *link)
{
	struct peer *peer = cyclone_join(link);

	peer->end = must(link, "dds_create_writer", dds_create_writer(peer->participant, peer->topic, peer->qos, NULL));
}

static void cyclone_join_receiving(struct transport_link *link, unsigned reader)
{
	struct peer *peer = cyclone_join(link);
	dds_entity_t any;

	(void)reader;
	peer->end = must(link, "dds_create_reader", dds_create_reader(peer->participant, peer->topic, peer->qos, NULL));
	any = must(link, "dds_create_readcondition", dds_create_readcondition(peer->end, DDS_ANY_STATE));
	peer->waitset = must(link, "dds_create_waitset", dds_create_waitset(peer->participant));
	must(link, "dds_waitset_attach", dds_waitset_attach(peer->waitset, any, 0));
}

static void cyclone_send(struct transport_link *link, const void *message)
{
	const struct peer *peer = link->peer;
	const PeerMessage sample = {
		.bytes = { ._maximum = (uint32_t)link->size,
			   ._length = (uint32_t)link->size,
			   ._buffer = (void *)message },
	};

	must(link, "dds_write", dds_write(peer->end, &sample));
}

static void cyclone_receive(struct transport_link *link, unsigned reader, void *buf)
{
	const struct peer *peer = link->peer;

	(void)reader;
	for (bool valid = false; !valid;) {
		void *sample = NULL;
		dds_sample_info_t info;

		if (must(link, "dds_take", dds_take(peer->end, &sample, &info, 1, 1)) == 0) {
			must(link, "dds_waitset_wait", dds_waitset_wait(peer->waitset, NULL, 0, DDS_INFINITY));
			continue;
		}
		valid = info.valid_data;
		if (valid)
			memcpy(buf, ((PeerMessage *)sample)->bytes._buffer, link->size);
		must(link, "dds_return_loan", dds_return_loan(peer->end, &sample, 1));
	}
}

static void cyclone_leave(struct transport_link *link)
{
	struct peer *peer = link->peer;

	if (!peer)
		return;
	dds_delete(peer->participant);
	dds_delete_qos(peer->qos);
	free(peer);
}

const struct transport peer_cyclone = {
	.name = "cyclone",
	.open = peers_open,
	.join_sending = cyclone_join_sending,
	.join_receiving = cyclone_join_receiving,
	.send = cyclone_send,
	.receive = cyclone_receive,
	.close = cyclone_leave,
};

/* lines reads these tables. */
const struct transport peer_cyclone_shm = {
	.name = "cyclone-shm",
	.open = peers_open,
	.join_sending = cyclone_join_sending,
	.join_receiving = cyclone_join_receiving,
	.send = cyclone_send,
	.receive = cyclone_receive,
	.close = cyclone_leave,
};
