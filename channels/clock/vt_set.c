/* vt_set.c: a set on a virtual clock: descriptors in an epoll, channels in a list, a look at which is a comparison. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "channels/ach/ach_ring.h"
#include "channels/clock/vt_clock.h"
#include "config/base/grow.h"

#define PROBES_MAX 256

struct vt_set {
	struct clock_set set;
	struct clock_set *fds;
	uint64_t changes; /* of the descriptors */
	size_t n, room;
	struct vt_watched {
		ach_channel_t *chan;
		uint32_t tag;
	} * channels;
	size_t probes_n;
	struct vt_probed {
		int fd, place;
		uint32_t tag;
		uint64_t rung; /* reported last */
	} probes[PROBES_MAX];
};

static struct vt_set *of(struct clock_set *set)
{
	return (struct vt_set *)set;
}

static int set_open(struct clock_set **set)
{
	struct vt_set *s = calloc(1, sizeof(*s));
	int status;

	if (!s)
		return -ENOMEM;
	status = clock_set_epoll_ops.open(&s->fds);
	if (status) {
		free(s);
		return status;
	}
	s->fds->ops = &clock_set_epoll_ops;
	*set = &s->set;
	return 0;
}

static void set_close(struct clock_set *set)
{
	clock_set_epoll_ops.close(of(set)->fds);
	free(of(set)->channels);
	free(set);
}

static int set_add_fd(struct clock_set *set, int fd, uint32_t events, uint32_t tag)
{
	const int place = vt_clock_probe(fd);
	struct vt_set *s = of(set);

	if (place >= 0 && s->probes_n == PROBES_MAX)
		return -ENOSPC;
	if (place >= 0)
		s->probes[s->probes_n++] = (struct vt_probed){ fd, place, tag, 0 };
	s->changes++;
	return clock_set_epoll_ops.add_fd(of(set)->fds, fd, events, tag);
}

static int set_remove_fd(struct clock_set *set, int fd)
{
	struct vt_set *s = of(set);

	for (size_t i = 0; i < s->probes_n; i++)
		if (s->probes[i].fd == fd)
			s->probes[i--] = s->probes[--s->probes_n];
	return clock_set_epoll_ops.remove_fd(of(set)->fds, fd);
}

static int set_add_channel(struct clock_set *set, ach_channel_t *chan, uint32_t tag)
{
	struct vt_set *s = of(set);

	if (!grow(&s->channels, &s->room, s->n + 1, sizeof(*s->channels)))
		return -ENOMEM;
	s->channels[s->n++] = (struct vt_watched){ chan, tag };
	vt_clock_watch(chan->handle);
	return 0;
}

static int set_remove_channel(struct clock_set *set, ach_channel_t *chan)
{
	struct vt_set *s = of(set);

	for (size_t i = 0; i < s->n; i++)
		if (s->channels[i].chan == chan) {
			memmove(&s->channels[i], &s->channels[i + 1], (s->n - i - 1) * sizeof(*s->channels));
			s->n--;
			return 0;
		}
	return -ENOENT;
}

static int poll_set(struct vt_poll *at)
{
	struct vt_set *s = of(at->set);
	struct epoll_event events[CLOCK_TAGS_MAX];
	int n = 0, ready;

	at->found_channel = NULL;
	for (size_t i = 0; i < s->n && (size_t)n < at->n; i++)
		if (ach_newer(s->channels[i].chan->handle, s->channels[i].chan->seq_num)) {
			at->found_channel = s->channels[i].chan->handle->name;
			at->tags[n++] = s->channels[i].tag;
		}
	for (size_t i = 0; i < s->probes_n && (size_t)n < at->n; i++) {
		const uint64_t rung = vt_clock_rung(s->probes[i].place);

		if (rung && rung != s->probes[i].rung) {
			at->found_fd = s->probes[i].fd;
			at->tags[n++] = s->probes[i].tag;
		}
		s->probes[i].rung = rung ? rung : s->probes[i].rung;
	}
	if ((size_t)n == at->n || !vt_clock_asks((uintptr_t)s + s->changes))
		return n;
	ready = epoll_wait(clock_set_fd(s->fds), events, (int)at->n - n, 0);
	vt_clock_asked(ready);
	if (ready > 0)
		at->found_fd = clock_set_fd(s->fds);
	for (int i = 0; i < ready; i++)
		at->tags[n++] = events[i].data.u32;
	return n;
}

static int set_wait(struct clock_set *set, uint32_t *tags, size_t n, int64_t deadline_ns)
{
	struct vt_poll at = { poll_set, .set = set, .tags = tags, .n = n < CLOCK_TAGS_MAX ? n : CLOCK_TAGS_MAX,
			      .found_fd = -1 };

	return vt_clock_wait(&at, deadline_ns);
}

const struct clock_set_ops vt_set_ops = {
	.open = set_open,
	.close = set_close,
	.add_fd = set_add_fd,
	.remove_fd = set_remove_fd,
	.add_channel = set_add_channel,
	.remove_channel = set_remove_channel,
	.wait = set_wait,
};
