/* peer_lcm.c: LCM, multicast that does not leave this machine. */
#include <lcm/lcm.h>
#include <stdlib.h>
#include <string.h>

#include "test/bench/peers/peers.h"

struct peer {
	lcm_t *lcm;
	void *buf; /* NULL: filled */
	size_t size;
};

static void lcm_join_sending(struct transport_link *link)
{
	struct peer *peer = link->peer = calloc(1, sizeof *peer);

	peer->lcm = lcm_create("udpm://239.255.76.67:7667?ttl=0");
	peer->size = link->size;
	if (!peer->lcm)
		peers_die(link, "lcm_create", NULL);
}

static void heard(const lcm_recv_buf_t *message, const char *channel, void *user)
{
	struct peer *peer = user;

	(void)channel;
	if (message->data_size != peer->size)
		return;
	memcpy(peer->buf, message->data, peer->size);
	peer->buf = NULL;
}

static void lcm_join_receiving(struct transport_link *link, unsigned reader)
{
	struct peer *peer;

	(void)reader;
	lcm_join_sending(link);
	peer = link->peer;
	if (!lcm_subscribe(peer->lcm, link->name, heard, peer))
		peers_die(link, "lcm_subscribe", NULL);
}

static void lcm_send(struct transport_link *link, const void *message)
{
	const struct peer *peer = link->peer;

	lcm_publish(peer->lcm, link->name, message, (unsigned)link->size); /* a full socket loses it */
}

static void lcm_receive(struct transport_link *link, unsigned reader, void *buf)
{
	struct peer *peer = link->peer;

	(void)reader;
	for (peer->buf = buf; peer->buf;)
		if (lcm_handle(peer->lcm))
			peers_die(link, "lcm_handle", NULL);
}

static void lcm_leave(struct transport_link *link)
{
	struct peer *peer = link->peer;

	if (!peer)
		return;
	lcm_destroy(peer->lcm);
	free(peer);
}

const struct transport peer_lcm = {
	.name = "lcm",
	.open = peers_open,
	.join_sending = lcm_join_sending,
	.join_receiving = lcm_join_receiving,
	.send = lcm_send,
	.receive = lcm_receive,
	.close = lcm_leave,
};
