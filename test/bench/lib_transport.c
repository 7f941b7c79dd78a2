/* lib_transport.c: what is alike in all transports. */
#define _GNU_SOURCE
#include "test/bench/lib_transport.h"

#include <string.h>

#include "test/bench/lib.h"

void transport_open(struct transport_link *link, const struct transport *kind, size_t size, unsigned readers,
		    unsigned depth)
{
	memset(link, 0, sizeof *link);
	link->kind = kind;
	link->size = size;
	link->readers = readers;
	link->depth = depth;
	kind->open(link);
}

void transport_join_sending(struct transport_link *link)
{
	if (link->kind->join_sending)
		link->kind->join_sending(link);
}

void transport_join_receiving(struct transport_link *link, unsigned reader)
{
	if (link->kind->join_receiving)
		link->kind->join_receiving(link, reader);
}

void transport_all_joined(struct transport_link *link)
{
	if (link->kind->forget_name)
		link->kind->forget_name(link);
}

void transport_send(struct transport_link *link, void *message, enum transport_note note)
{
	struct transport_message *head = message;

	head->note = note;
	head->sent_ns = bench_now_ns();
	link->kind->send(link, message);
}

void transport_close(struct transport_link *link)
{
	link->kind->close(link);
}
