/* peer_nng.c: nng, pub0 and sub0 over a Unix socket. */
#include <nng/nng.h>
#include <nng/protocol/pubsub0/pub.h>
#include <nng/protocol/pubsub0/sub.h>
#include <stdio.h>
#include <stdlib.h>

#include "test/bench/peers/peers.h"

static void must(const struct transport_link *link, const char *call, int error)
{
	if (error)
		peers_die(link, call, nng_strerror(error));
}

static nng_socket *nng_join(struct transport_link *link, char *url, size_t room)
{
	snprintf(url, room, "ipc:///tmp/%s", link->name);
	link->peer = calloc(1, sizeof(nng_socket));
	return link->peer;
}

static void nng_join_sending(struct transport_link *link)
{
	char url[128];
	nng_socket *socket = nng_join(link, url, sizeof url);

	must(link, "nng_pub0_open", nng_pub0_open(socket));
	must(link, url, nng_listen(*socket, url, NULL, 0));
}

static void nng_join_receiving(struct transport_link *link, unsigned reader)
{
	char url[128];
	nng_socket *socket = nng_join(link, url, sizeof url);

	(void)reader;
	must(link, "nng_sub0_open", nng_sub0_open(socket));
	must(link, "nng_socket_set", nng_socket_set(*socket, NNG_OPT_SUB_SUBSCRIBE, "", 0));
	must(link, "nng_socket_set_ms", nng_socket_set_ms(*socket, NNG_OPT_RECONNMINT, 1));
	must(link, "nng_socket_set_ms", nng_socket_set_ms(*socket, NNG_OPT_RECONNMAXT, 100));
	must(link, url, nng_dial(*socket, url, NULL, NNG_FLAG_NONBLOCK));
}

static void nng_send_copy(struct transport_link *link, const void *message)
{
	const nng_socket *socket = link->peer;

	must(link, "nng_send", nng_send(*socket, (void *)message, link->size, 0));
}

static void nng_receive(struct transport_link *link, unsigned reader, void *buf)
{
	const nng_socket *socket = link->peer;
	size_t size = link->size;

	(void)reader;
	must(link, "nng_recv", nng_recv(*socket, buf, &size, 0));
}

static void nng_leave(struct transport_link *link)
{
	nng_socket *socket = link->peer;

	if (!socket)
		return;
	nng_close(*socket);
	free(socket);
}

const struct transport peer_nng = {
	.name = "nng",
	.open = peers_open,
	.join_sending = nng_join_sending,
	.join_receiving = nng_join_receiving,
	.send = nng_send_copy,
	.receive = nng_receive,
	.close = nng_leave,
};
