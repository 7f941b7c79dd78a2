/* lib_transport_kernel.c: pipe, unix datagram and POSIX message queue: one of them, and one copy, per reader. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test/bench/lib.h"
#include "test/bench/lib_transport.h"

/* ---- pipe ---- */

static void pipe_transport_open(struct transport_link *link)
{
	for (unsigned i = 0; i < link->readers; i++)
		if (pipe(link->fds[i]))
			bench_die("unable to make a pipe");
}

/* Up to PIPE_BUF bytes are read and written whole. */
static void fd_transport_send(struct transport_link *link, const void *message)
{
	for (unsigned i = 0; i < link->readers; i++)
		if (write(link->fds[i][1], message, link->size) != (ssize_t)link->size)
			bench_die("unable to write to a %s", link->kind->name);
}

static void fd_transport_receive(struct transport_link *link, unsigned reader, void *buf)
{
	if (read(link->fds[reader][0], buf, link->size) != (ssize_t)link->size)
		bench_die("unable to read from a %s", link->kind->name);
}

static void fd_transport_close(struct transport_link *link)
{
	for (unsigned i = 0; i < link->readers; i++) {
		close(link->fds[i][0]);
		close(link->fds[i][1]);
	}
}

const struct transport transport_pipe = {
	.name = "pipe",
	.open = pipe_transport_open,
	.send = fd_transport_send,
	.receive = fd_transport_receive,
	.close = fd_transport_close,
};

/* ---- unix datagram ---- */

static void dgram_transport_open(struct transport_link *link)
{
	for (unsigned i = 0; i < link->readers; i++)
		if (socketpair(AF_UNIX, SOCK_DGRAM, 0, link->fds[i]))
			bench_die("unable to make a pair of sockets");
}

const struct transport transport_dgram = {
	.name = "dgram",
	.open = dgram_transport_open,
	.send = fd_transport_send,
	.receive = fd_transport_receive,
	.close = fd_transport_close,
};

/* ---- POSIX message queue ---- */

static void mq_transport_open(struct transport_link *link)
{
	/* 10 is what an ordinary user may have on every machine */
	struct mq_attr attr = { .mq_maxmsg = 10, .mq_msgsize = (long)link->size };
	char name[64];

	for (unsigned i = 0; i < link->readers; i++) {
		snprintf(name, sizeof name, "/bench-%d-%u", (int)getpid(), i);
		link->queues[i] = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &attr);
		if (link->queues[i] == (mqd_t)-1)
			bench_die("unable to make the message queue %s", name);
		mq_unlink(name); /* children inherit the descriptor */
	}
}

static void mq_transport_send(struct transport_link *link, const void *message)
{
	for (unsigned i = 0; i < link->readers; i++)
		if (mq_send(link->queues[i], message, link->size, 0))
			bench_die("unable to send to a message queue");
}

static void mq_transport_receive(struct transport_link *link, unsigned reader, void *buf)
{
	if (mq_receive(link->queues[reader], buf, link->size, NULL) < 0)
		bench_die("unable to receive from a message queue");
}

static void mq_transport_close(struct transport_link *link)
{
	for (unsigned i = 0; i < link->readers; i++)
		mq_close(link->queues[i]);
}

const struct transport transport_mq = {
	.name = "mq",
	.open = mq_transport_open,
	.send = mq_transport_send,
	.receive = mq_transport_receive,
	.close = mq_transport_close,
};
