/* clock_set.c: sets of descriptors and channels, waited for in one call.
 *
 * A set is an epoll(7), in which a channel is its descriptor (ach_channel_fd).  On the virtual clock of this process
 * channels are in a list instead, a look at which is a comparison, and probes stand beside the descriptors. */
#include <unistd.h>

#include "channels/ach/ach_ring.h"
#include "channels/clock/vt_clock.h"

#define PROBES_MAX 256

struct clock_set {
	int epoll;
	bool is_virtual;
	uint64_t changes; /* of the descriptors */
	size_t n, room;
	struct watched {
		ach_channel_t *chan;
		uint32_t tag;
	} * channels;
	size_t probes_n;
	struct probed {
		int fd, place;
		uint32_t tag;
		uint64_t rung; /* reported last */
	} probes[PROBES_MAX];
};

int clock_set_open(struct clock_set **set)
{
	const struct clock_source *source = clock_used();
	int err;

	*set = calloc(1, sizeof(**set));
	if (!*set)
		return -ENOMEM;
	(*set)->is_virtual = source && source->is_virtual;
	(*set)->epoll = epoll_create1(EPOLL_CLOEXEC);
	if ((*set)->epoll >= 0)
		return 0;
	err = -errno;
	free(*set);
	*set = NULL;
	return err;
}

void clock_set_close(struct clock_set *set)
{
	if (!set)
		return;
	close(set->epoll);
	free(set->channels);
	free(set);
}

int clock_set_fd(const struct clock_set *set)
{
	return set->epoll;
}

int clock_set_add_fd(struct clock_set *set, int fd, uint32_t events, uint32_t tag)
{
	struct epoll_event event = { .events = (events & CLOCK_EDGE ? EPOLLET : 0) | (events & 0xffff),
				     .data.u32 = tag };
	const int place = vt_clock_probe(fd);

	if (place >= 0 && set->probes_n == PROBES_MAX)
		return -ENOSPC;
	if (place >= 0)
		set->probes[set->probes_n++] = (struct probed){ fd, place, tag, 0 };
	set->changes++;
	return epoll_ctl(set->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

int clock_set_remove_fd(struct clock_set *set, int fd)
{
	for (size_t i = 0; i < set->probes_n; i++)
		if (set->probes[i].fd == fd)
			set->probes[i--] = set->probes[--set->probes_n];
	return epoll_ctl(set->epoll, EPOLL_CTL_DEL, fd, NULL) ? -errno : 0;
}

int clock_set_add_channel(struct clock_set *set, ach_channel_t *chan, uint32_t tag)
{
	int fd;

	if (!set->is_virtual)
		return ach_channel_fd(chan, &fd) == ACH_OK ? clock_set_add_fd(set, fd, POLLIN, tag) : -EMFILE;
	if (!grow(&set->channels, &set->room, set->n + 1, sizeof(*set->channels)))
		return -ENOMEM;
	set->channels[set->n++] = (struct watched){ chan, tag };
	vt_clock_watch(chan->handle);
	return 0;
}

int clock_set_remove_channel(struct clock_set *set, ach_channel_t *chan)
{
	int fd;

	if (!set->is_virtual)
		return ach_channel_fd(chan, &fd) == ACH_OK ? clock_set_remove_fd(set, fd) : -ENOENT;
	for (size_t i = 0; i < set->n; i++)
		if (set->channels[i].chan == chan) {
			memmove(&set->channels[i], &set->channels[i + 1], (set->n - i - 1) * sizeof(*set->channels));
			set->n--;
			return 0;
		}
	return -ENOENT;
}

static int poll_virtual(struct vt_poll *at)
{
	struct clock_set *set = at->set;
	struct epoll_event events[CLOCK_TAGS_MAX];
	size_t n = 0;
	int ready;

	at->found_channel = NULL;
	for (size_t i = 0; i < set->n && n < at->n; i++)
		if (ach_newer(set->channels[i].chan->handle, set->channels[i].chan->seq_num)) {
			at->found_channel = set->channels[i].chan->handle->name;
			at->tags[n++] = set->channels[i].tag;
		}
	for (struct probed *p = set->probes; p < set->probes + set->probes_n && n < at->n; p++) {
		const uint64_t rung = vt_clock_rung(p->place);

		if (rung && rung != p->rung) {
			at->found_fd = p->fd;
			at->tags[n++] = p->tag;
		}
		p->rung = rung ? rung : p->rung;
	}
	if (n == at->n || !vt_clock_asks((uintptr_t)set + set->changes))
		return (int)n;
	ready = epoll_wait(set->epoll, events, (int)(at->n - n), 0);
	vt_clock_asked(ready);
	if (ready > 0)
		at->found_fd = set->epoll;
	for (int i = 0; i < ready; i++)
		at->tags[n++] = events[i].data.u32;
	return (int)n;
}

int clock_set_wait(struct clock_set *set, uint32_t *tags, size_t n, int64_t deadline_ns)
{
	struct vt_poll at = { poll_virtual, .set = set, .tags = tags, .n = n < CLOCK_TAGS_MAX ? n : CLOCK_TAGS_MAX,
			      .found_fd = -1 };
	struct epoll_event events[CLOCK_TAGS_MAX];
	int ready;

	if (set->is_virtual)
		return vt_clock_wait(&at, deadline_ns);
	ready = clock_wait_set(set->epoll, events, (int)at.n, deadline_ns);
	for (int i = 0; i < ready; i++)
		tags[i] = events[i].data.u32;
	return ready;
}
