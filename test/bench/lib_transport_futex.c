/* lib_transport_futex.c: the floor: one word, slots, FUTEX_WAIT and FUTEX_WAKE.
 *
 * No check, no lock, no death: nothing that sleeps in the kernel and shares
 * memory can be faster, which is why the channel is measured against it.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test/bench/lib.h"
#include "test/bench/lib_transport.h"

#define SLOTS 16u /* as many messages as the channel keeps */

struct transport_floor {
	_Atomic uint32_t newest;
	_Alignas(64) char slots[SLOTS][TRANSPORT_SIZE_MAX];
};

static void futex_transport_open(struct transport_link *link)
{
	link->floor = bench_shared(sizeof *link->floor);
}

static void futex_transport_send(struct transport_link *link, const void *message)
{
	struct transport_floor *floor = link->floor;
	uint32_t next = atomic_load_explicit(&floor->newest, memory_order_relaxed) + 1;

	memcpy(floor->slots[next % SLOTS], message, link->size);
	atomic_store_explicit(&floor->newest, next, memory_order_release);
	syscall(SYS_futex, &floor->newest, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void futex_transport_receive(struct transport_link *link, unsigned reader, void *buf)
{
	struct transport_floor *floor = link->floor;
	uint32_t newest;

	(void)reader;
	while ((newest = atomic_load_explicit(&floor->newest, memory_order_acquire)) == link->seen)
		syscall(SYS_futex, &floor->newest, FUTEX_WAIT, link->seen, NULL, NULL, 0);
	link->seen = newest - link->seen < SLOTS ? link->seen + 1 : newest;
	memcpy(buf, floor->slots[link->seen % SLOTS], link->size);
}

static void futex_transport_close(struct transport_link *link)
{
	munmap(link->floor, sizeof *link->floor);
}

const struct transport transport_futex = {
	.name = "futex",
	.open = futex_transport_open,
	.send = futex_transport_send,
	.receive = futex_transport_receive,
	.close = futex_transport_close,
};
