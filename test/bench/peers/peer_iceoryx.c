/* peer_iceoryx.c: iceoryx, in loaned memory or with a copy into it and out of it.  iox-roudi must run. */
#include <iceoryx_binding_c/log.h>
#include <iceoryx_binding_c/publisher.h>
#include <iceoryx_binding_c/runtime.h>
#include <iceoryx_binding_c/subscriber.h>
#include <iceoryx_binding_c/wait_set.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/bench/peers/peers.h"

struct peer {
	iox_pub_storage_t pub_storage;
	iox_sub_storage_t sub_storage;
	iox_ws_storage_t set_storage;
	iox_pub_t pub;
	iox_sub_t sub;
	iox_ws_t set;
	void *loaned;
	const void *taken;
};

static struct peer *iceoryx_join(struct transport_link *link)
{
	char name[64];

	link->peer = calloc(1, sizeof(struct peer));
	snprintf(name, sizeof name, "peers-%d", (int)getpid());
	iox_set_loglevel(Iceoryx_LogLevel_Fatal);
	iox_runtime_init(name);
	return link->peer;
}

static void iceoryx_join_sending(struct transport_link *link)
{
	struct peer *peer = iceoryx_join(link);
	iox_pub_options_t options;

	iox_pub_options_init(&options);
	peer->pub = iox_pub_init(&peer->pub_storage, "bench", "peers", link->name, &options);
}

static void iceoryx_join_receiving(struct transport_link *link, unsigned reader)
{
	struct peer *peer = iceoryx_join(link);
	iox_sub_options_t options;

	(void)reader;
	iox_sub_options_init(&options);
	options.queueCapacity = link->depth < PEERS_ICEORYX_MAX ? link->depth : PEERS_ICEORYX_MAX;
	peer->sub = iox_sub_init(&peer->sub_storage, "bench", "peers", link->name, &options);
	peer->set = iox_ws_init(&peer->set_storage);
	if (iox_ws_attach_subscriber_state(peer->set, peer->sub, SubscriberState_HAS_DATA, 0, NULL) !=
	    WaitSetResult_SUCCESS)
		peers_die(link, "iox_ws_attach_subscriber_state", NULL);
}

static void *iceoryx_loan(struct transport_link *link)
{
	struct peer *peer = link->peer;

	while (iox_pub_loan_chunk(peer->pub, &peer->loaned, (uint32_t)link->size) != AllocationResult_SUCCESS)
		sched_yield(); /* readers hold all of the memory */
	return peer->loaned;
}

static void iceoryx_publish(struct transport_link *link)
{
	struct peer *peer = link->peer;

	iox_pub_publish_chunk(peer->pub, peer->loaned);
}

static const void *iceoryx_take(struct transport_link *link, unsigned reader)
{
	struct peer *peer = link->peer;
	iox_notification_info_t event;
	uint64_t missed;

	(void)reader;
	while (iox_sub_take_chunk(peer->sub, &peer->taken) != ChunkReceiveResult_SUCCESS)
		iox_ws_wait(peer->set, &event, 1, &missed);
	return peer->taken;
}

static bool iceoryx_give_back(struct transport_link *link)
{
	struct peer *peer = link->peer;

	iox_sub_release_chunk(peer->sub, peer->taken);
	return true;
}

static void iceoryx_send(struct transport_link *link, const void *message)
{
	memcpy(iceoryx_loan(link), message, link->size);
	iceoryx_publish(link);
}

static void iceoryx_receive(struct transport_link *link, unsigned reader, void *buf)
{
	memcpy(buf, iceoryx_take(link, reader), link->size);
	iceoryx_give_back(link);
}

static void iceoryx_leave(struct transport_link *link)
{
	struct peer *peer = link->peer;

	if (!peer)
		return;
	if (peer->set)
		iox_ws_deinit(peer->set);
	if (peer->sub)
		iox_sub_deinit(peer->sub);
	if (peer->pub)
		iox_pub_deinit(peer->pub);
	iox_runtime_shutdown();
	free(peer);
}

const struct transport peer_iceoryx = {
	.name = "iceoryx",
	.open = peers_open,
	.join_sending = iceoryx_join_sending,
	.join_receiving = iceoryx_join_receiving,
	.send = iceoryx_send,
	.receive = iceoryx_receive,
	.close = iceoryx_leave,
};

const struct transport peer_iceoryx_loan = {
	.name = "iceoryx-loan",
	.open = peers_open,
	.join_sending = iceoryx_join_sending,
	.join_receiving = iceoryx_join_receiving,
	.loan = iceoryx_loan,
	.publish = iceoryx_publish,
	.take = iceoryx_take,
	.give_back = iceoryx_give_back,
	.close = iceoryx_leave,
};
