/* peer_zmq.c: ZeroMQ, PUB and SUB over a Unix socket. */
#include <stdio.h>
#include <stdlib.h>
#include <zmq.h>

#include "test/bench/peers/peers.h"

struct peer {
	void *context, *socket;
};

static void zmq_join(struct transport_link *link, int kind)
{
	struct peer *peer = link->peer = calloc(1, sizeof *peer);
	char url[128];

	snprintf(url, sizeof url, "ipc:///tmp/%s", link->name);
	peer->context = zmq_ctx_new();
	peer->socket = zmq_socket(peer->context, kind);
	if (kind == ZMQ_PUB ? zmq_bind(peer->socket, url)
			    : zmq_connect(peer->socket, url) || zmq_setsockopt(peer->socket, ZMQ_SUBSCRIBE, "", 0))
		peers_die(link, url, zmq_strerror(zmq_errno()));
}

static void zmq_join_sending(struct transport_link *link)
{
	zmq_join(link, ZMQ_PUB);
}

static void zmq_join_receiving(struct transport_link *link, unsigned reader)
{
	(void)reader;
	zmq_join(link, ZMQ_SUB);
}

static void zmq_send_copy(struct transport_link *link, const void *message)
{
	const struct peer *peer = link->peer;

	if (zmq_send(peer->socket, message, link->size, 0) < 0)
		peers_die(link, "zmq_send", zmq_strerror(zmq_errno()));
}

static void zmq_receive(struct transport_link *link, unsigned reader, void *buf)
{
	const struct peer *peer = link->peer;

	(void)reader;
	if (zmq_recv(peer->socket, buf, link->size, 0) != (int)link->size)
		peers_die(link, "zmq_recv", zmq_strerror(zmq_errno()));
}

static void zmq_leave(struct transport_link *link)
{
	struct peer *peer = link->peer;
	int linger_ms = 0;

	if (!peer)
		return;
	zmq_setsockopt(peer->socket, ZMQ_LINGER, &linger_ms, sizeof linger_ms);
	zmq_close(peer->socket);
	zmq_ctx_term(peer->context);
	free(peer);
}

const struct transport peer_zmq = {
	.name = "zmq",
	.open = peers_open,
	.join_sending = zmq_join_sending,
	.join_receiving = zmq_join_receiving,
	.send = zmq_send_copy,
	.receive = zmq_receive,
	.close = zmq_leave,
};
