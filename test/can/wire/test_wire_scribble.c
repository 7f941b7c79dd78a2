/* test_wire_scribble.c: canwire and other programs beside a program that writes nonsense wherever it can. */
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include "can/bus/attach.h"
#include "channels/clock/clock.h"
#include "channels/port/rpc.h"
#include "test/can/bus/bus_suite.h"
#include "test/can/bus/wire_lib.h"
#include "test/lib/testcase.h"

static pid_t server;
static unsigned int seed = 1;

void tearDown(void)
{
	bus_suite_end_case();
}

/* ---- a program that knows wire.h and nothing of manners ---- */

struct rude {
	int socket, event, bell;
	struct wire_memory *memory;
	const struct wire_page *page;
	uint32_t bus, controller;
};

static void connect_wire(struct rude *r)
{
	char path[RUN_PATH_MAX];
	static struct error_sink ignored;

	TEST_ASSERT_EQUAL(0, run_path(path, "wire/torso", &ignored));
	r->socket = rpc_connect_by(path, clock_now_ns() + 10000000000);
	TEST_ASSERT_TRUE(r->socket >= 0);
	r->event = eventfd(0, EFD_NONBLOCK);
	r->bell = -1;
	r->memory = NULL;
}

/* canwire's answer to an attach: its error. */
static int answer(struct rude *r)
{
	struct clock_fd fd = { .fd = r->socket, .events = POLLIN };
	struct wire_attached answer;
	int fds[ATTACH_FDS_MAX], n;

	TEST_ASSERT_EQUAL(1, clock_wait(&fd, 1, clock_now_ns() + 10000000000));
	if (attach_receive(r->socket, &answer, sizeof(answer), fds, &n) != sizeof(answer))
		return -ECONNRESET;
	if (n != WIRE_ATTACHED_FDS)
		return answer.error;
	r->memory = mmap(NULL, sizeof(*r->memory), PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
	TEST_ASSERT_TRUE(r->memory != MAP_FAILED);
	TEST_ASSERT_TRUE(mmap(NULL, sizeof(struct wire_page), PROT_READ | PROT_WRITE, MAP_SHARED, fds[1], 0) ==
			 MAP_FAILED); /* canwire's own page is for reading */
	TEST_ASSERT_NOT_EQUAL(0, ftruncate(fds[0], 0));
	r->page = mmap(NULL, sizeof(*r->page), PROT_READ, MAP_SHARED, fds[1], 0);
	TEST_ASSERT_TRUE(r->page != MAP_FAILED);
	close(fds[0]);
	close(fds[1]);
	r->bell = fds[2];
	r->bus = answer.bus;
	r->controller = answer.controller;
	return answer.error;
}

static struct wire_attach good(void)
{
	return (struct wire_attach){
		.magic = WIRE_MAGIC, .version = WIRE_VERSION, .controller = "rude", .filters_n = WIRE_EVERYTHING
	};
}

static int attach_with(struct rude *r, const struct wire_attach *ask, size_t size)
{
	connect_wire(r);
	TEST_ASSERT_EQUAL(size, attach_send(r->socket, ask, size, &r->event, 1));
	return answer(r);
}

static void leave(struct rude *r)
{
	if (r->memory) {
		munmap(r->memory, sizeof(*r->memory));
		munmap((void *)r->page, sizeof(*r->page));
	}
	if (r->bell >= 0)
		close(r->bell);
	close(r->event);
	close(r->socket);
}

/* ---- whatever it did ---- */

/* The next frame of that identifier; between, others may come, but none that cannot be. */
static struct frame next_of(struct bus *bus, uint32_t id)
{
	for (;;) {
		struct frame frame = bus_suite_receive(bus, 1)->frame;

		TEST_ASSERT_TRUE(frame_valid(&frame));
		if (frame_id(&frame) == id)
			return frame;
	}
}

/* The others talk, and every frame comes as it was sent. */
static void others_talk(struct bus *host, struct bus *imu)
{
	struct frame frame = bus_suite_frame("001#0011223344556677"), got;

	for (int i = 0; i < 20; i++) {
		frame.data[0] = (uint8_t)i;
		bus_suite_send(host, &frame);
		got = next_of(host, 1);
		TEST_ASSERT_TRUE(frame_equal(&frame, &got));
		got = next_of(imu, 1);
		TEST_ASSERT_TRUE(frame_equal(&frame, &got));
	}
	TEST_ASSERT_EQUAL(0, kill(server, 0));
}

TEST(handshakes_that_make_no_sense)
{
	static const size_t whole = offsetof(struct wire_attach, filters);
	struct wire_attach ask;
	struct rude r;

	ask = good();
	TEST_ASSERT_EQUAL(0, attach_with(&r, &ask, whole));
	leave(&r);
	ask.version++;
	TEST_ASSERT_EQUAL(-EPROTONOSUPPORT, attach_with(&r, &ask, whole));
	leave(&r);
	ask = good();
	ask.flags = ~0u;
	TEST_ASSERT_EQUAL(-EPROTONOSUPPORT, attach_with(&r, &ask, whole));
	leave(&r);
	ask = good();
	memset(ask.controller, 'x', sizeof(ask.controller));
	TEST_ASSERT_EQUAL(-EINVAL, attach_with(&r, &ask, whole));
	leave(&r);
	ask = good();
	strcpy(ask.controller, "../x");
	TEST_ASSERT_EQUAL(-EINVAL, attach_with(&r, &ask, whole));
	leave(&r);
	ask = good();
	ask.filters_n = 3; /* and none there */
	TEST_ASSERT_EQUAL(-EINVAL, attach_with(&r, &ask, whole));
	leave(&r);
	ask.filters_n = BUS_FILTERS_MAX + 1;
	TEST_ASSERT_EQUAL(-EINVAL, attach_with(&r, &ask, sizeof(ask)));
	leave(&r);
	ask = good(); /* no eventfd */
	connect_wire(&r);
	TEST_ASSERT_EQUAL(whole, attach_send(r.socket, &ask, whole, NULL, 0));
	TEST_ASSERT_EQUAL(-EINVAL, answer(&r));
	leave(&r);
}

TEST(datagrams_of_noise)
{
	static char noise[6000];
	struct bus *host = bus_suite_open("wire:torso", NULL), *imu = bus_suite_open("wire:torso@imu", NULL);

	for (int i = 0; i < 300; i++) {
		size_t size = 1 + (size_t)rand_r(&seed) % (sizeof(noise) - 1);
		struct rude r;

		for (size_t k = 0; k < size; k++)
			noise[k] = (char)rand_r(&seed);
		if (i % 3 == 0)
			memcpy(noise, &(uint32_t){ WIRE_MAGIC }, size < 4 ? size : 4);
		if (i % 3 == 1)
			memcpy(noise, "fault ", size < 6 ? size : 6);
		connect_wire(&r);
		attach_send(r.socket, noise, size, &r.event, i % 2);
		leave(&r);
	}
	others_talk(host, imu);
}

/* Random words over all of the memory it shares, and the bell as fast as it can. */
TEST(memory_full_of_noise)
{
	struct bus *host = bus_suite_open("wire:torso", NULL), *imu = bus_suite_open("wire:torso@imu", NULL);
	const struct wire_attach ask = good();
	int thrown_out = 0;

	for (int i = 0; i < 60; i++) {
		struct clock_fd fd = { .events = POLLIN };
		struct rude r;

		TEST_ASSERT_EQUAL(0, attach_with(&r, &ask, offsetof(struct wire_attach, filters)));
		for (int k = 0; k < 400; k++) {
			volatile uint32_t *words = (volatile uint32_t *)r.memory;
			size_t all = sizeof(*r.memory) / sizeof(*words), index = 48;
			uint64_t one = 1;

			/* Half of them where the indices are. */
			words[(size_t)rand_r(&seed) % (k % 2 ? all : index)] =
				(uint32_t)rand_r(&seed) % (i % 2 ? 80 : ~0u);
			(void)!write(r.bell, &one, sizeof(one));
		}
		others_talk(host, imu);
		fd.fd = r.socket;
		thrown_out += clock_wait(&fd, 1, 0) > 0;
		leave(&r);
	}
	TEST_ASSERT_GREATER_THAN(10, thrown_out);
	TEST_ASSERT_GREATER_THAN(10, wire_lib_number("torso", "torso", "broken"));
}

/* As many frames as it can write, stamped long ago or far ahead: it gets what CAN gives it and no more. */
TEST(a_flood)
{
	struct bus *host = bus_suite_open("wire:torso", NULL), *imu = bus_suite_open("wire:torso@imu", NULL);
	const struct wire_attach ask = good();
	struct frame frame = bus_suite_frame("7FF#0011223344556677");
	uint64_t one = 1;
	struct rude r;

	TEST_ASSERT_EQUAL(0, attach_with(&r, &ask, offsetof(struct wire_attach, filters)));
	for (int round = 0; round < 50; round++) {
		uint32_t head = atomic_load(&r.memory->tx_head);
		uint32_t generation = atomic_load(&r.page->buses[r.bus].controllers[r.controller].generation);

		while (head - atomic_load(&r.memory->tx_tail) < WIRE_TX_SLOTS) {
			r.memory->tx[head % WIRE_TX_SLOTS] =
				(struct wire_tx){ round % 2 ? INT64_MIN : INT64_MAX, generation, frame };
			atomic_store(&r.memory->tx_head, ++head);
		}
		(void)!write(r.bell, &one, sizeof(one));
		others_talk(host, imu); /* 001 goes before 7FF, each time */
	}
	TEST_ASSERT_GREATER_THAN(100, wire_lib_number("torso", "rude", "sent"));
	leave(&r);
}

void testcase_begin(void)
{
	server = wire_lib_start("torso");
}
