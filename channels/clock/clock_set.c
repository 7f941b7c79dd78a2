/* clock_set.c: sets of descriptors and channels, waited for in one call.
 *
 * A set is an epoll(7) (clock_set_epoll.c) unless the clock has sets of its own; those of the real clock are in
 * clock_set_ring.c.  Only a program that opens a set is linked with it. */
#include <errno.h>

#include "channels/clock/clock.h"

int clock_set_open(struct clock_set **set)
{
	const struct clock_source *source = clock_used();
	const struct clock_set_ops *ops = source ? source->sets : &clock_set_ring_ops;
	int status = ops ? ops->open(set) : -ENOSYS;

	if (status == -ENOSYS) {
		ops = &clock_set_epoll_ops;
		status = ops->open(set);
	}
	if (!status)
		(*set)->ops = ops;
	else
		*set = NULL;
	return status;
}

void clock_set_close(struct clock_set *set)
{
	if (set)
		set->ops->close(set);
}

int clock_set_add_fd(struct clock_set *set, int fd, uint32_t events, uint32_t tag)
{
	return set->ops->add_fd(set, fd, events, tag);
}

int clock_set_remove_fd(struct clock_set *set, int fd)
{
	return set->ops->remove_fd(set, fd);
}

int clock_set_add_channel(struct clock_set *set, ach_channel_t *chan, uint32_t tag)
{
	return set->ops->add_channel(set, chan, tag);
}

int clock_set_remove_channel(struct clock_set *set, ach_channel_t *chan)
{
	return set->ops->remove_channel(set, chan);
}

void clock_set_rough(struct clock_set *set, bool rough)
{
	set->rough = rough;
}

int clock_set_wait(struct clock_set *set, uint32_t *tags, size_t n, int64_t deadline_ns)
{
	return set->ops->wait(set, tags, n, deadline_ns);
}
