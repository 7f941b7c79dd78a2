/* stall_driver.c: a driver as small as can be: references at 1 kHz through slots. */
#include <stdatomic.h>
#include <string.h>

#include "can/slots/slots_bus.h"
#include "channels/clock/clock.h"
#include "config/base/error.h"
#include "test/can/slots/stall_lib.h"

#define NUMBER_BYTES 3 /* the rest are nanoseconds since the start of the run */
#define REFERENCE_ID 0x101u
#define QUESTION_ID 0x701u

struct running {
	struct stall_driver *shared;
	struct slots_row rows[STALL_ROWS];
	struct slots slots;
	struct slots_bus line;
	struct bus *bus;
	uint32_t number; /* of the last reference */
	int64_t tick_ns, question_ns;
	uint64_t put[STALL_ROWS], reported[STALL_ROWS];
};

/* ---- frames ---- */

static void write_number(uint8_t *to, unsigned int bytes, uint64_t number)
{
	for (unsigned int i = 0; i < bytes; i++)
		to[i] = (uint8_t)(number >> 8 * i);
}

static uint64_t read_number(const uint8_t *from, unsigned int bytes)
{
	uint64_t number = 0;

	for (unsigned int i = bytes; i-- > 0;)
		number = number << 8 | from[i];
	return number;
}

bool stall_frame_read(struct stall_frame *f, const struct bus_frame *got, int64_t start_ns)
{
	const uint32_t id = got->frame.id;

	f->row = id >= QUESTION_ID ? STALL_QUESTION : STALL_REFERENCE;
	f->driver = id - (f->row == STALL_QUESTION ? QUESTION_ID : REFERENCE_ID);
	f->number = (uint32_t)read_number(got->frame.data, NUMBER_BYTES);
	f->put_ns = start_ns + (int64_t)read_number(got->frame.data + NUMBER_BYTES, FRAME_DATA_MAX - NUMBER_BYTES);
	f->t_ns = got->t_ns;
	return f->driver < STALL_DRIVERS && f->number < STALL_REFERENCES_MAX && got->frame.len == FRAME_DATA_MAX;
}

static void put(struct running *r, enum stall_row row, int64_t now_ns)
{
	struct frame frame = { .id = r->rows[row].id, .len = FRAME_DATA_MAX };

	write_number(frame.data, NUMBER_BYTES, r->number);
	write_number(frame.data + NUMBER_BYTES, FRAME_DATA_MAX - NUMBER_BYTES,
		     (uint64_t)(now_ns - r->shared->start_ns));
	LIB_CHECK(!slots_put(&r->slots, row, &frame, now_ns));
	r->put[row]++;
}

/* ---- the loop ---- */

static void tick(struct running *r, int64_t now_ns)
{
	LIB_CHECK(++r->number < STALL_REFERENCES_MAX);
	r->shared->references[r->number].put_ns = now_ns;
	put(r, STALL_REFERENCE, now_ns);
	if (!slots_proven(&r->slots) && now_ns >= r->question_ns) {
		put(r, STALL_QUESTION, now_ns);
		r->question_ns = now_ns + STALL_QUESTION_NS;
	}
	/* Whole periods are skipped, never a burst. */
	r->tick_ns += ((now_ns - r->tick_ns) / STALL_PERIOD_NS + 1) * STALL_PERIOD_NS;
}

static void publish(struct running *r, int64_t now_ns)
{
	const uint32_t n = atomic_load_explicit(&r->shared->said_n, memory_order_relaxed) + 1;
	struct stall_said *said = &r->shared->said[n % 2];

	*said = (struct stall_said){
		.turn_ns = now_ns,
		.state = slots_state(&r->slots),
		.since_ns = slots_since_ns(&r->slots),
		.link = bus_state(r->bus),
		.confirmed_ns = bus_stats(r->bus)->confirmed_ns,
		.received_ns = bus_stats(r->bus)->received_ns,
		.waiting = slots_waiting(&r->slots),
		.in_flight = slots_in_flight(&r->slots),
		.counts = *slots_counts(&r->slots),
	};
	memcpy(said->put, r->put, sizeof(said->put));
	memcpy(said->reported, r->reported, sizeof(said->reported));
	/* release: it is whole */
	atomic_store_explicit(&r->shared->said_n, n, memory_order_release);
}

void stall_driver_said(const struct stall_driver *driver, struct stall_said *said)
{
	uint32_t n;

	do {
		n = atomic_load_explicit(&driver->said_n, memory_order_acquire);
		*said = driver->said[n % 2];
		atomic_thread_fence(memory_order_acquire);
	} while (n != atomic_load_explicit(&driver->said_n, memory_order_relaxed));
}

static void turn(struct running *r)
{
	struct clock_fd fd = { .fd = bus_fd(r->bus), .events = POLLIN };
	const bool stop = atomic_load_explicit(&r->shared->stop, memory_order_relaxed);
	int64_t next_ns = slots_bus_next_ns(&r->line), now_ns, took_ns;
	struct bus_frame got[32];
	struct slots_loss loss;

	clock_wait(&fd, 1, next_ns < r->tick_ns ? next_ns : r->tick_ns);
	now_ns = clock_now_ns();
	while (slots_bus_receive(&r->line, got, sizeof(got) / sizeof(got[0]), now_ns) > 0)
		;
	if (now_ns >= r->tick_ns && !stop)
		tick(r, now_ns);
	else if (now_ns >= r->tick_ns)
		r->tick_ns = now_ns + STALL_PERIOD_NS;
	slots_bus_pump(&r->line, now_ns);
	while (slots_lost(&r->slots, &loss))
		r->reported[loss.row]++;
	took_ns = clock_now_ns() - now_ns;
	if (took_ns > r->shared->references[r->number].turn_ns)
		r->shared->references[r->number].turn_ns = took_ns;
	publish(r, now_ns);
}

int stall_driver(void *driver)
{
	static const struct bus_filter none;
	static struct running r;
	struct error_sink errors = { .line = error_to_stderr };

	r.shared = driver;
	r.rows[STALL_REFERENCE] = (struct slots_row){ .id = REFERENCE_ID + r.shared->index,
						      .class = SLOTS_LATEST,
						      .period_ns = STALL_PERIOD_NS,
						      .deadline_ns = r.shared->bus->deadline_ns };
	r.rows[STALL_QUESTION] = (struct slots_row){ .id = QUESTION_ID + r.shared->index,
						     .class = SLOTS_LATEST,
						     .deadline_ns = STALL_QUESTION_NS,
						     .harmless = true };
	LIB_CHECK(!slots_init(&r.slots, r.rows, STALL_ROWS, NULL, &errors));
	LIB_CHECK(!bus_open(&r.bus, r.shared->bus->near,
			    &(struct bus_options){ .filters = &none, .filters_n = 0, .errors = true }, &errors));
	slots_bus_init(&r.line, &r.slots, r.bus, clock_now_ns());
	lib_gate_wait(&r.shared->go, 1);
	r.tick_ns = clock_now_ns();
	do
		turn(&r);
	while (!atomic_load_explicit(&r.shared->stop, memory_order_relaxed) || slots_waiting(&r.slots) ||
	       slots_in_flight(&r.slots));
	bus_close(r.bus);
	atomic_store_explicit(&r.shared->done, true, memory_order_relaxed);
	return 0;
}
