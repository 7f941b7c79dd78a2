/* peers.c: what is alike in all of them. */
#include "test/bench/peers/peers.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "test/bench/lib.h"

unsigned peers_depth(size_t size)
{
	return size * ACH_DEFAULT_FRAME_COUNT < PEERS_ROOM ? (unsigned)(PEERS_ROOM / size) : ACH_DEFAULT_FRAME_COUNT;
}

void peers_open(struct transport_link *link)
{
	static unsigned number;

	snprintf(link->name, sizeof link->name, "peers_%d_%u", (int)getpid(), number++); /* valid as a name in DDS */
}

void peers_die(const struct transport_link *link, const char *call, const char *why)
{
	bench_die("%s: %s: %s", link->kind->name, call, why ? why : "it failed");
}

void peers_send(struct transport_link *link, const void *message)
{
	if (link->kind->loan) {
		memcpy(link->kind->loan(link), message, sizeof(struct transport_message));
		link->kind->publish(link);
	} else {
		link->kind->send(link, message);
	}
}

void peers_receive(struct transport_link *link, unsigned reader, void *buf, bool whole)
{
	if (!link->kind->take) {
		link->kind->receive(link, reader, buf);
		return;
	}
	do
		memcpy(buf, link->kind->take(link, reader), whole ? link->size : sizeof(struct transport_message));
	while (!link->kind->give_back(link));
}
