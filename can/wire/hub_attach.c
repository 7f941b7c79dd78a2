/* hub_attach.c: connections, handshakes, ends of programs.
 *
 * The hub detects the end of a program by the hang-up of its socket and by its pidfd, since a forked child may keep the
 * socket open.  All descriptors are in one epoll set, which says whose is readable: a driver that comes back to eight
 * buses among fifty programs must not wait until each of them has been asked, nor must their frames.
 */
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "can/bus/attach.h"
#include "can/wire/hub.h"
#include "channels/clock/clock.h"
#include "channels/port/rpc.h"

#define QUESTION_MAX 4096
#define DOORS_AT_ONCE 32 /* the others are still readable at the next call */

void *hub_memory(const char *name, size_t size, int *fd)
{
	void *memory = MAP_FAILED;

	*fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd >= 0 && !ftruncate(*fd, (off_t)size))
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, *fd, 0);
	if (memory == MAP_FAILED && *fd >= 0)
		close(*fd);
	if (memory == MAP_FAILED)
		return NULL;
	fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	return memory;
}

void hub_add_door(struct hub *hub, int fd, uint32_t number)
{
	struct epoll_event in = { .events = EPOLLIN, .data.u32 = number };

	if (fd >= 0)
		epoll_ctl(hub->doors, EPOLL_CTL_ADD, fd, &in);
}

void hub_detach(struct hub *hub, struct hub_attachment *a)
{
	struct hub_bus *bus = &hub->buses[a->bus];

	if (a->memory) {
		struct hub_controller *c = &bus->controllers[a->controller];

		/* Frames it handed over are sent, as by the kernel, if other programs hold the controller. */
		hub_collect(hub, a, clock_now_ns());
		if (!--c->attachments) {
			engine_detach(&bus->engine, c->node, clock_now_ns());
			c->node = -1;
		}
		munmap(a->memory, sizeof(*a->memory));
		close(a->event);
	}
	free(a->filters);
	if (a->pidfd >= 0)
		close(a->pidfd);
	clock_touch(0); /* its program sees the end of the connection */
	close(a->socket);
	*a = (struct hub_attachment){ .socket = -1 };
	while (hub->attachments_n && hub->attachments[hub->attachments_n - 1].socket < 0)
		hub->attachments_n--;
}

static void accept_all(struct hub *hub, unsigned int bus)
{
	for (;;) {
		unsigned int i = 0;
		pid_t pid;
		int fd = accept4(hub->buses[bus].place.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0)
			return;
		while (i < HUB_ATTACHMENTS_MAX && hub->attachments[i].socket >= 0)
			i++;
		if (i == HUB_ATTACHMENTS_MAX) {
			close(fd);
			continue;
		}
		pid = rpc_peer(fd);
		hub->attachments[i] = (struct hub_attachment){
			.socket = fd,
			.pid = pid,
			.pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1,
			.bus = (uint8_t)bus,
		};
		if (i >= hub->attachments_n)
			hub->attachments_n = i + 1;
		hub_add_door(hub, fd, i);
		hub_add_door(hub, hub->attachments[i].pidfd, i);
	}
}

static bool attach_controller(struct hub_bus *bus, struct hub_controller *c)
{
	const int64_t now_ns = clock_now_ns();

	c->node = engine_attach(&bus->engine, c->name, now_ns);
	if (c->node < 0)
		return false;
	engine_set_queue(&bus->engine, c->node, c->queue);
	engine_set_restart(&bus->engine, c->node, c->restart_ms);
	if (c->down)
		engine_down(&bus->engine, c->node, now_ns);
	c->state = c->down ? BUS_STOPPED : BUS_ERROR_ACTIVE;
	c->queued = 0;
	c->room = c->queue + 1; /* and the mailbox */
	return true;
}

/* Checks the request and attaches the program.  Returns the descriptor of its memory, or -errno. */
static int attach_program(struct hub *hub, struct hub_attachment *a, const struct wire_attach *ask, size_t size,
			  int event)
{
	struct hub_bus *bus = &hub->buses[a->bus];
	const bool everything = ask->filters_n == WIRE_EVERYTHING;
	struct wire_memory *memory;
	struct hub_controller *c;
	int fd;

	if (ask->version != WIRE_VERSION || ask->flags & ~WIRE_FLAGS_ALL)
		return -EPROTONOSUPPORT;
	if (!memchr(ask->controller, 0, sizeof(ask->controller)) || !text_is_name(ask->controller) || event < 0 ||
	    (!everything && (ask->filters_n > BUS_FILTERS_MAX ||
			     size != offsetof(struct wire_attach, filters) + ask->filters_n * sizeof(*ask->filters))))
		return -EINVAL;
	c = hub_controller(bus, ask->controller);
	if (!c)
		return -ENOSPC;
	if (!everything) {
		a->filters = calloc(ask->filters_n + 1, sizeof(*a->filters));
		if (!a->filters)
			return -ENOMEM;
		memcpy(a->filters, ask->filters, ask->filters_n * sizeof(*a->filters));
		a->filters_n = ask->filters_n;
	}
	memory = hub_memory("canwire", sizeof(*memory), &fd);
	if (!memory)
		return -errno;
	/* The program may wait before it reads. */
	atomic_store_explicit(&memory->armed, WIRE_ARMED, memory_order_relaxed);
	if (!c->attachments && !attach_controller(bus, c)) {
		munmap(memory, sizeof(*memory));
		close(fd);
		return -ENOSPC;
	}
	c->attachments++;
	a->controller = (uint8_t)(c - bus->controllers);
	a->serial = ++hub->serial;
	a->flags = ask->flags;
	a->event = event;
	a->memory = memory; /* last: earlier frames are not for it */
	hub_publish(hub, bus, c);
	return fd;
}

static void attach(struct hub *hub, struct hub_attachment *a, const struct wire_attach *ask, size_t size, int event)
{
	struct wire_attached answer = { .magic = WIRE_MAGIC, .version = WIRE_VERSION, .bus = a->bus };
	int fd = a->memory ? -EALREADY : attach_program(hub, a, ask, size, event);

	answer.controller = a->controller;
	if (fd < 0) {
		answer.error = fd;
		attach_send(a->socket, &answer, sizeof(answer), NULL, 0);
		close(event);
		hub_detach(hub, a);
		return;
	}
	/* This fails only if the socket is full; in a new one that means a misbehaving peer. */
	if (attach_send(a->socket, &answer, sizeof(answer), (int[]){ fd, hub->page_fd, hub->bell }, 3) < 0)
		hub_detach(hub, a);
	close(fd);
}

/* A datagram, a hang-up, or nothing. */
static void read_datagram(struct hub *hub, struct hub_attachment *a)
{
	static union {
		struct wire_attach attach;
		char text[QUESTION_MAX + sizeof(struct wire_attach)];
	} in;
	static char answer[ATTACH_ANSWER_MAX];
	int fds[ATTACH_FDS_MAX], fds_n = 0;
	int n = attach_receive(a->socket, &in, sizeof(in) - 1, fds, &fds_n);

	if (n == -EAGAIN)
		return;
	if (n <= 0) {
		hub_detach(hub, a);
		return;
	}
	if ((size_t)n >= offsetof(struct wire_attach, filters) && in.attach.magic == WIRE_MAGIC) {
		attach(hub, a, &in.attach, (size_t)n, fds_n ? fds[--fds_n] : -1);
	} else {
		in.text[n] = 0;
		hub_answer(hub, &hub->buses[a->bus], in.text, answer, clock_now_ns());
		if (attach_send(a->socket, answer, strlen(answer), NULL, 0) < 0)
			hub_detach(hub, a);
	}
	while (fds_n)
		close(fds[--fds_n]);
}

static bool is_dead(const struct hub_attachment *a)
{
	struct clock_fd fd = { .fd = a->pidfd, .events = POLLIN };

	return a->pidfd >= 0 && clock_wait(&fd, 1, 0) > 0;
}

static void serve(struct hub *hub, struct hub_attachment *a)
{
	if (a->socket >= 0)
		read_datagram(hub, a);
	if (a->socket >= 0 && is_dead(a))
		hub_detach(hub, a);
}

void hub_doors(struct hub *hub)
{
	struct epoll_event ready[DOORS_AT_ONCE];
	const int n = clock_wait_set(hub->doors, ready, DOORS_AT_ONCE, 0);

	/* The ends of programs before new connections.  An attachment may have been given up, and even taken again, by
	 * a step before: there is nothing to read then. */
	for (int i = 0; i < n; i++)
		if (ready[i].data.u32 < HUB_LISTENERS)
			serve(hub, &hub->attachments[ready[i].data.u32]);
	for (int i = 0; i < n; i++)
		if (ready[i].data.u32 >= HUB_LISTENERS)
			accept_all(hub, ready[i].data.u32 - HUB_LISTENERS);
}
