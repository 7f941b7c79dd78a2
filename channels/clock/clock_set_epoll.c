/* clock_set_epoll.c: a set as an epoll(7) that clock_wait_set waits for, with whatever clock there is. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "channels/clock/clock.h"

struct epoll_set {
	struct clock_set set;
	int fd;
};

static int fd_of(const struct clock_set *set)
{
	return ((const struct epoll_set *)set)->fd;
}

static int epoll_set_open(struct clock_set **set)
{
	struct epoll_set *e = malloc(sizeof(*e));
	int err;

	if (!e)
		return -ENOMEM;
	e->fd = epoll_create1(EPOLL_CLOEXEC);
	if (e->fd < 0) {
		err = -errno;
		free(e);
		return err;
	}
	*set = &e->set;
	return 0;
}

static void epoll_set_close(struct clock_set *set)
{
	close(fd_of(set));
	free(set);
}

static int epoll_set_add_fd(struct clock_set *set, int fd, uint32_t events, uint32_t tag)
{
	struct epoll_event event = { .events = (events & CLOCK_EDGE ? EPOLLET : 0) | (events & 0xffff),
				     .data.u32 = tag };

	return epoll_ctl(fd_of(set), EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int epoll_set_remove_fd(struct clock_set *set, int fd)
{
	return epoll_ctl(fd_of(set), EPOLL_CTL_DEL, fd, NULL) ? -errno : 0;
}

static int epoll_set_add_channel(struct clock_set *set, ach_channel_t *chan, uint32_t tag)
{
	int fd;

	return ach_channel_fd(chan, &fd) == ACH_OK ? epoll_set_add_fd(set, fd, POLLIN, tag) : -EMFILE;
}

static int epoll_set_remove_channel(struct clock_set *set, ach_channel_t *chan)
{
	int fd;

	return ach_channel_fd(chan, &fd) == ACH_OK ? epoll_set_remove_fd(set, fd) : -ENOENT;
}

static int epoll_set_wait(struct clock_set *set, uint32_t *tags, size_t n, int64_t deadline_ns)
{
	struct epoll_event events[CLOCK_TAGS_MAX];
	const int ready =
		clock_wait_set(fd_of(set), events, (int)(n < CLOCK_TAGS_MAX ? n : CLOCK_TAGS_MAX), deadline_ns);

	for (int i = 0; i < ready; i++)
		tags[i] = events[i].data.u32;
	return ready;
}

const struct clock_set_ops clock_set_epoll_ops = {
	.open = epoll_set_open,
	.close = epoll_set_close,
	.add_fd = epoll_set_add_fd,
	.remove_fd = epoll_set_remove_fd,
	.add_channel = epoll_set_add_channel,
	.remove_channel = epoll_set_remove_channel,
	.wait = epoll_set_wait,
};

int clock_set_fd(const struct clock_set *set)
{
	return set->ops == &clock_set_epoll_ops ? fd_of(set) : -1;
}
