/* scribble.c: damage that a user can do to a channel which he may write.
 *
 *	scribble sit CHANNEL		begins to put, and stops (SIGSTOP) with the writers' lock held
 *	scribble over CHANNEL		overwrites all of its memory, again and again for a while
 *	scribble back CHANNEL		takes the newest message back
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channels/ach/ach_ring.h"

static void give_up(const char *what)
{
	fprintf(stderr, "scribble: %s: %s\n", what, ach_errstr());
	exit(1);
}

static void sit(ach_channel_t *chan)
{
	void *room;

	if (ach_reserve(chan, 16, &room) != ACH_OK)
		give_up("reserve");
	raise(SIGSTOP);
}

static void over(ach_channel_t *chan)
{
	struct ach_handle *h = chan->handle;

	for (int i = 0; i < 100; i++) {
		memset((char *)h->shm + sizeof(struct ach_geometry), i, sizeof(*h->shm) - sizeof(struct ach_geometry));
		memset(h->data, i, h->psize);
	}
}

int main(int argc, char **argv)
{
	ach_channel_t chan;

	if (argc != 3)
		return 2;
	if (ach_open(&chan, argv[2], NULL) != ACH_OK || !chan.handle->writable)
		give_up("open for writing");
	if (!strcmp(argv[1], "sit"))
		sit(&chan);
	else if (!strcmp(argv[1], "over"))
		over(&chan);
	else
		atomic_fetch_sub(&chan.handle->shm->commit, 1);
	return 0;
}
