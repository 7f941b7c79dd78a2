/* lib_transport_ach.c: a channel, read by a waiting ach_get, through its descriptor, or in a clock_set. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "channels/clock/clock.h"
#include "test/bench/lib.h"
#include "test/bench/lib_transport.h"

static void must(enum ach_status status, const char *call)
{
	if (status != ACH_OK)
		bench_die("%s: %s: %s", call, ach_result_to_string(status), ach_errstr());
}

static void ach_transport_open(struct transport_link *link)
{
	static unsigned number;

	snprintf(link->name, sizeof link->name, "bench-%d-%u", (int)getpid(), number++);
	must(ach_create(link->name, link->depth, link->size, NULL), "ach_create");
}

static void ach_transport_join_sending(struct transport_link *link)
{
	must(ach_open(&link->sending, link->name, NULL), "ach_open");
}

static void ach_transport_join_receiving(struct transport_link *link, unsigned reader)
{
	const struct timespec gap = { .tv_nsec = link->wake_gap_ns };
	ach_attr_t attr;

	(void)reader;
	ach_attr_init(&attr);
	must(ach_attr_set_wake_gap(&attr, &gap), "ach_attr_set_wake_gap");
	must(ach_open(&link->receiving, link->name, &attr), "ach_open");
}

static void ach_transport_join_fd(struct transport_link *link, unsigned reader)
{
	ach_transport_join_receiving(link, reader);
	must(ach_channel_fd(&link->receiving, &link->readable), "ach_channel_fd");
}

static void ach_transport_join_set(struct transport_link *link, unsigned reader)
{
	ach_transport_join_receiving(link, reader);
	if (clock_set_open(&link->set) || clock_set_add_channel(link->set, &link->receiving, 0))
		bench_die("no set");
}

/* Nothing is left behind even if the bench is killed after this. */
static void ach_transport_forget_name(struct transport_link *link)
{
	must(ach_unlink(link->name), "ach_unlink");
}

static void ach_transport_send(struct transport_link *link, const void *message)
{
	must(ach_put(&link->sending, message, link->size), "ach_put");
}

static void ach_transport_receive(struct transport_link *link, unsigned reader, void *buf)
{
	size_t size;
	enum ach_status status = ach_get(&link->receiving, buf, link->size, &size, NULL, ACH_O_WAIT);

	(void)reader;
	if (status != ACH_MISSED_FRAME)
		must(status, "ach_get");
}

static void ach_transport_receive_fd(struct transport_link *link, unsigned reader, void *buf)
{
	struct pollfd readable = { .fd = link->readable, .events = POLLIN };

	(void)reader;
	for (;;) {
		enum ach_status status;
		size_t size;

		if (poll(&readable, 1, -1) < 0)
			bench_die("unable to poll");
		status = ach_get(&link->receiving, buf, link->size, &size, NULL, ACH_O_NONBLOCK);
		if (status == ACH_STALE_FRAMES)
			continue; /* a descriptor may be readable for nothing now and then */
		if (status != ACH_MISSED_FRAME)
			must(status, "ach_get");
		return;
	}
}

static void ach_transport_receive_set(struct transport_link *link, unsigned reader, void *buf)
{
	enum ach_status status = ACH_STALE_FRAMES;
	uint32_t tag;
	size_t size;

	(void)reader;
	while (status == ACH_STALE_FRAMES) {
		if (clock_set_wait(link->set, &tag, 1, CLOCK_NEVER) < 0)
			bench_die("unable to wait");
		status = ach_get(&link->receiving, buf, link->size, &size, NULL, ACH_O_NONBLOCK);
	}
	if (status != ACH_MISSED_FRAME)
		must(status, "ach_get");
}

static void ach_transport_close(struct transport_link *link)
{
	if (link->sending.handle)
		must(ach_close(&link->sending), "ach_close");
	if (link->receiving.handle)
		must(ach_close(&link->receiving), "ach_close");
}

const struct transport transport_ach = {
	.name = "ach",
	.open = ach_transport_open,
	.join_sending = ach_transport_join_sending,
	.join_receiving = ach_transport_join_receiving,
	.forget_name = ach_transport_forget_name,
	.send = ach_transport_send,
	.receive = ach_transport_receive,
	.close = ach_transport_close,
};

const struct transport transport_achfd = {
	.name = "achfd",
	.open = ach_transport_open,
	.join_sending = ach_transport_join_sending,
	.join_receiving = ach_transport_join_fd,
	.forget_name = ach_transport_forget_name,
	.send = ach_transport_send,
	.receive = ach_transport_receive_fd,
	.close = ach_transport_close,
};

const struct transport transport_achset = {
	.name = "achset",
	.open = ach_transport_open,
	.join_sending = ach_transport_join_sending,
	.join_receiving = ach_transport_join_set,
	.forget_name = ach_transport_forget_name,
	.send = ach_transport_send,
	.receive = ach_transport_receive_set,
	.close = ach_transport_close,
};
