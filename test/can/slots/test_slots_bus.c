/* test_slots_bus.c: slots on a bus that the test scripts; then two processes on a bus that stalls.
 * Also for slots_flight.c. */
#include "test/lib/testcase.h"

#include "can/bus/bus_backend.h"
#include "can/slots/slots_bus.h"
#include "channels/clock/clock.h"

#define US 1000ll
#define MS (1000 * US)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { REF, REQ };

static const struct slots_row rows[] = {
	[REF] = { .id = 0x101, .class = SLOTS_LATEST, .key = { 0xff }, .period_ns = 5 * MS },
	[REQ] = { .id = 0x0c0, .class = SLOTS_QUEUE, .deadline_ns = 10 * MS },
};

/* ---- a bus ---- */

struct fake {
	struct bus bus;
	int send_answer, receive_answer; /* receive_answer: once there is nothing left */
	struct frame sent[64];
	unsigned int sent_n;
	struct bus_frame inbox[64];
	unsigned int inbox_n;
	int (*send)(struct fake *fake, const struct frame *frame); /* instead */
};

static int fake_send(struct bus *bus, const struct frame *frame)
{
	struct fake *fake = (struct fake *)bus;

	if (fake->send)
		return fake->send(fake, frame);
	if (!fake->send_answer)
		fake->sent[fake->sent_n++ % COUNT(fake->sent)] = *frame;
	return fake->send_answer;
}

static int fake_receive(struct bus *bus, struct bus_frame *frames, size_t n)
{
	struct fake *fake = (struct fake *)bus;

	if (!fake->inbox_n)
		return fake->receive_answer;
	if (n > fake->inbox_n)
		n = fake->inbox_n;
	memcpy(frames, fake->inbox, n * sizeof(frames[0]));
	fake->inbox_n -= (unsigned int)n;
	memmove(fake->inbox, fake->inbox + n, fake->inbox_n * sizeof(frames[0]));
	return (int)n;
}

static const struct bus_ops fake_ops = { .prefix = "", .send = fake_send, .receive = fake_receive };

static void fake_start(struct fake *fake)
{
	memset(fake, 0, sizeof(*fake));
	fake->bus.ops = &fake_ops;
	fake->bus.next_ns = CLOCK_NEVER;
	fake->bus.state = BUS_ERROR_ACTIVE;
	fake->bus.stats.attached = 1;
}

static void arrives(struct fake *fake, const struct frame *frame, uint32_t flags, int64_t t_ns)
{
	TEST_ASSERT_TRUE(fake->inbox_n < COUNT(fake->inbox));
	fake->inbox[fake->inbox_n++] = (struct bus_frame){ t_ns, flags, *frame };
}

/* ---- one process on it ---- */

struct process {
	struct fake fake;
	struct slots slots;
	struct slots_bus line;
};

static struct process one, two;
static struct bus_frame got[4];

static void process_start(struct process *p)
{
	struct error_sink errors = { 0 };

	fake_start(&p->fake);
	TEST_ASSERT_EQUAL_INT(0, slots_init(&p->slots, rows, COUNT(rows), NULL, &errors));
	slots_bus_init(&p->line, &p->slots, &p->fake.bus, 0);
	p->slots.proven = true;
}

void setUp(void)
{
	process_start(&one);
}

static void put(unsigned int row, uint8_t key, int64_t now_ns)
{
	struct frame frame = { .id = rows[row].id, .len = 1, .data = { key } };

	TEST_ASSERT_EQUAL_INT(0, slots_put(&one.slots, row, &frame, now_ns));
}

static void drain(struct process *p, int64_t now_ns)
{
	while (slots_bus_receive(&p->line, got, COUNT(got), now_ns) > 0)
		;
}

static void echo_arrives(unsigned int nth, int64_t t_ns)
{
	arrives(&one.fake, &one.fake.sent[nth], BUS_OWN, t_ns);
}

static const struct slots_counts *counts(void)
{
	return slots_counts(&one.slots);
}

static void error_arrives(uint32_t class)
{
	arrives(&one.fake, &(struct frame){ .id = FRAME_ERR | class, .len = 8 }, 0, 0);
}

/* ---- reports to the slots ---- */

TEST(two_are_handed_over_and_echoes_make_room)
{
	for (uint8_t i = 0; i < 4; i++)
		put(REF, i, 0);
	TEST_ASSERT_EQUAL_INT(2, slots_bus_pump(&one.line, 0));
	TEST_ASSERT_EQUAL_INT(0, slots_bus_pump(&one.line, 0));
	echo_arrives(0, 100 * US);
	TEST_ASSERT_EQUAL_INT(1, slots_bus_receive(&one.line, got, COUNT(got), 200 * US));
	TEST_ASSERT_EQUAL_UINT(BUS_OWN, got[0].flags);
	TEST_ASSERT_EQUAL_INT(1, slots_bus_pump(&one.line, 200 * US));
	TEST_ASSERT_EQUAL_UINT(3, one.fake.sent_n);
	TEST_ASSERT_EQUAL_UINT(2, one.fake.sent[2].data[0]);
	TEST_ASSERT_EQUAL_UINT64(1, counts()->confirmed);
}

TEST(error_frames_do_not_count_as_receptions)
{
	put(REF, 0, 0);
	slots_bus_pump(&one.line, 0);
	error_arrives(0x4); /* the controller's */
	arrives(&one.fake, &(struct frame){ .id = 0x20 }, 0, 3 * MS);
	arrives(&one.fake, &(struct frame){ .id = FRAME_ERR | 0x8, .len = 8 }, 0, 4 * MS);
	drain(&one, 4 * MS);
	TEST_ASSERT_EQUAL_INT64(8 * MS, slots_bus_next_ns(&one.line));
	TEST_ASSERT_EQUAL_UINT(1, slots_in_flight(&one.slots));
}

/* A frame that the kernel returns as queued does not confirm or prove anything; a missing one is not a stall.
 * A frame of another node does. */
TEST(a_bus_without_an_echo_confirms_nothing)
{
	const struct frame other = { .id = 0x700, .len = 1 };

	one.slots.proven = false;
	one.fake.bus.unconfirmed = true;
	one.fake.bus.stats.attached++;
	drain(&one, 0);
	for (uint8_t key = 1; key <= 4; key++) {
		put(0, key, 0);
		TEST_ASSERT_EQUAL_INT(1, slots_bus_pump(&one.line, 0));
		arrives(&one.fake, &one.fake.sent[key - 1], BUS_QUEUED, 0);
		drain(&one, 0);
	}
	TEST_ASSERT_EQUAL_UINT64(4, counts()->handed);
	TEST_ASSERT_EQUAL_UINT64(4, counts()->unsure);
	TEST_ASSERT_EQUAL_UINT64(0, counts()->confirmed);
	TEST_ASSERT_EQUAL_UINT64(0, counts()->stray);
	TEST_ASSERT_EQUAL_UINT(0, slots_in_flight(&one.slots));
	TEST_ASSERT_EQUAL_UINT64(0, bus_stats(&one.fake.bus)->confirmed);
	TEST_ASSERT_EQUAL_UINT64(0, bus_stats(&one.fake.bus)->received);
	slots_bus_pump(&one.line, 1000000000);
	TEST_ASSERT_EQUAL(SLOTS_RUNNING, slots_state(&one.slots));
	TEST_ASSERT_FALSE(slots_proven(&one.slots));
	arrives(&one.fake, &other, 0, 1000000001);
	drain(&one, 1000000001);
	TEST_ASSERT_TRUE(slots_proven(&one.slots));
	/* Another interface of that name, which has one: nothing is known of it. */
	one.fake.bus.unconfirmed = false;
	drain(&one, 1000000002);
	TEST_ASSERT_FALSE(slots_proven(&one.slots));
}

TEST(a_full_queue_keeps_the_newest)
{
	one.fake.send_answer = -ENOBUFS;
	put(REF, 0, 0);
	TEST_ASSERT_EQUAL_INT(0, slots_bus_pump(&one.line, 0));
	TEST_ASSERT_EQUAL_INT64(480 * US, slots_bus_next_ns(&one.line));
	one.fake.bus.next_ns = 470 * US;
	TEST_ASSERT_EQUAL_INT64(470 * US, slots_bus_next_ns(&one.line));
	TEST_ASSERT_EQUAL_UINT64(1, one.fake.bus.stats.refused);
	for (int64_t t = 1; t < 480; t++)
		slots_bus_pump(&one.line, t * US);
	TEST_ASSERT_EQUAL_UINT64(1, one.fake.bus.stats.refused);
	one.fake.send_answer = 0;
	drain(&one, 480 * US);
	TEST_ASSERT_TRUE(slots_proven(&one.slots)); /* the link is well */
	TEST_ASSERT_EQUAL_INT(1, slots_bus_pump(&one.line, 480 * US));
	TEST_ASSERT_EQUAL_UINT64(1, counts()->refused);
	/* The frames in flight stay in flight. */
	put(REF, 1, 480 * US);
	one.fake.send_answer = -ENOBUFS;
	slots_bus_pump(&one.line, 480 * US);
	drain(&one, 500 * US);
	TEST_ASSERT_EQUAL_UINT(1, slots_in_flight(&one.slots));
}

TEST(a_frame_that_no_bus_takes_is_lost)
{
	struct slots_loss loss;

	put(REF, 0, 0);
	put(REF, 1, 0);
	one.fake.send_answer = -EINVAL;
	TEST_ASSERT_EQUAL_INT(0, slots_bus_pump(&one.line, 0));
	TEST_ASSERT_EQUAL_UINT64(2, counts()->lost);
	TEST_ASSERT_TRUE(slots_lost(&one.slots, &loss));
	TEST_ASSERT_EQUAL_INT(SLOTS_REJECTED, loss.why);
}

TEST(a_reset_seen_by_sending_waits_for_the_echoes_before_it)
{
	put(REF, 0, 0);
	slots_bus_pump(&one.line, 0);
	put(REF, 1, 0);
	echo_arrives(0, 100 * US);
	one.fake.send_answer = -ENETDOWN; /* once, the kernel forgets it then */
	slots_bus_pump(&one.line, MS);
	one.fake.send_answer = 0;
	TEST_ASSERT_EQUAL_INT(0, slots_bus_pump(&one.line, 2 * MS)); /* nothing in between */
	drain(&one, 3 * MS);
	TEST_ASSERT_EQUAL_INT(1, slots_bus_pump(&one.line, 3 * MS));
	TEST_ASSERT_EQUAL_UINT64(1, counts()->confirmed);
	TEST_ASSERT_EQUAL_UINT64(0, counts()->lost);
	TEST_ASSERT_EQUAL_UINT(1, slots_in_flight(&one.slots));
}

TEST(a_reset_takes_away_what_was_in_flight)
{
	static const int answers[] = { -ENETDOWN, -ENODEV };

	for (size_t i = 0; i < COUNT(answers); i++) {
		process_start(&one);
		put(REF, 0, 0);
		put(REF, 1, 0);
		put(REF, 2, 0);
		slots_bus_pump(&one.line, 0);
		one.fake.receive_answer = answers[i]; /* and the state says that all is well again */
		drain(&one, MS);
		TEST_ASSERT_EQUAL_UINT64(2, counts()->lost);
		TEST_ASSERT_EQUAL_INT(SLOTS_RUNNING, slots_state(&one.slots));
		TEST_ASSERT_EQUAL_INT(1, slots_bus_pump(&one.line, MS));
	}
}

TEST(attached_again_is_a_reset)
{
	put(REF, 0, 0);
	slots_bus_pump(&one.line, 0);
	one.fake.bus.stats.attached = 2;
	drain(&one, MS);
	TEST_ASSERT_EQUAL_UINT64(1, counts()->lost);
	put(REF, 1, MS);
	slots_bus_pump(&one.line, MS);
	drain(&one, 2 * MS);
	TEST_ASSERT_EQUAL_UINT(1, slots_in_flight(&one.slots));
}

TEST(nothing_is_sent_while_it_is_down)
{
	static const enum bus_state down[] = { BUS_ABSENT, BUS_STOPPED, BUS_OFF };
	static const enum bus_state up[] = { BUS_ERROR_ACTIVE, BUS_WARNING, BUS_PASSIVE };

	for (size_t i = 0; i < COUNT(down); i++) {
		process_start(&one);
		put(REF, 0, 0);
		slots_bus_pump(&one.line, 0);
		one.fake.bus.state = down[i];
		drain(&one, MS);
		put(REF, 1, MS);
		TEST_ASSERT_EQUAL_INT(0, slots_bus_pump(&one.line, MS));
		TEST_ASSERT_EQUAL_INT(SLOTS_DOWN, slots_state(&one.slots));
		TEST_ASSERT_EQUAL_INT64(6 * MS, slots_bus_next_ns(&one.line));
		one.fake.bus.state = up[i];
		drain(&one, 2 * MS);
		TEST_ASSERT_EQUAL_INT(1, slots_bus_pump(&one.line, 2 * MS));
		TEST_ASSERT_EQUAL_UINT64(1, counts()->lost);
	}
}

TEST(a_bus_may_be_down_at_the_start)
{
	one.fake.bus.state = BUS_ABSENT;
	slots_bus_init(&one.line, &one.slots, &one.fake.bus, 7);
	put(REF, 0, 7);
	TEST_ASSERT_EQUAL_INT(0, slots_bus_pump(&one.line, 7));
	TEST_ASSERT_EQUAL_INT64(7, slots_since_ns(&one.slots));
}

TEST(off_and_back_in_one_batch_is_a_reset)
{
	put(REF, 0, 0);
	slots_bus_pump(&one.line, 0);
	error_arrives(0x40);
	error_arrives(0x100);
	error_arrives(0x4);
	TEST_ASSERT_EQUAL_INT(3, slots_bus_receive(&one.line, got, COUNT(got), MS));
	TEST_ASSERT_EQUAL_UINT64(0, counts()->lost); /* more may lie behind */
	drain(&one, MS);
	TEST_ASSERT_EQUAL_UINT64(1, counts()->lost);
	TEST_ASSERT_EQUAL_INT(SLOTS_RUNNING, slots_state(&one.slots));
}

TEST(dropped_receptions_raise_a_doubt)
{
	put(REF, 0, 0);
	slots_bus_pump(&one.line, 0);
	one.fake.bus.stats.dropped = 3;
	drain(&one, MS);
	slots_bus_pump(&one.line, 5 * MS);
	TEST_ASSERT_EQUAL_INT64(1001 * MS, slots_bus_next_ns(&one.line));
	drain(&one, 6 * MS); /* the same three */
	slots_bus_pump(&one.line, 1001 * MS);
	TEST_ASSERT_EQUAL_UINT64(1, counts()->lost);
	put(REF, 0, 1001 * MS);
	slots_bus_pump(&one.line, 1001 * MS);
	drain(&one, 1001 * MS);
	TEST_ASSERT_EQUAL_INT64(1006 * MS, slots_bus_next_ns(&one.line));
	slots_bus_pump(&one.line, 1006 * MS);
	TEST_ASSERT_EQUAL_INT64(CLOCK_NEVER, slots_bus_next_ns(&one.line));
}

/* ---- a stall, with two processes at 1 kHz on one interface ---- */

#define QUEUE 10
#define STEP_NS (20 * US)
#define FRAME_NS (130 * US)
#define STALL_FROM (50 * MS)
#define AFTER (30 * MS)
#define OWNER_NS (4 * MS)     /* what the link's owner takes to see that every driver is stalled */
#define QUESTION_NS (10 * MS) /* how often a driver asks a harmless question while the bus is not proven */

static const struct slots_row stall_rows[] = {
	[REF] = { .id = 0x101, .class = SLOTS_LATEST, .period_ns = 5 * MS },
	[REQ] = { .id = 0x0c0, .class = SLOTS_QUEUE, .deadline_ns = 50 * MS, .harmless = true },
};

struct stall {
	int64_t to_ns;
	bool owner;	    /* resets the link */
	bool harmless;	    /* there is such a row */
	unsigned int depth; /* frames in flight; 0: the usual */
};

static struct {
	struct queued {
		int from;
		struct frame frame;
	} queue[QUEUE];
	unsigned int n, stale[2];
	int64_t free_ns, first_ns[2]; /* first: reference after the stall that is not stale */
} kernel;

static int kernel_send(struct fake *fake, const struct frame *frame)
{
	if (kernel.n == QUEUE)
		return -ENOBUFS;
	kernel.queue[kernel.n++] = (struct queued){ fake == &two.fake, *frame };
	return 0;
}

static void on_the_wire(const struct queued *q, int64_t now_ns, int64_t stall_to_ns)
{
	int64_t put_ns;

	memcpy(&put_ns, q->frame.data, sizeof(put_ns));
	if (q->frame.id != stall_rows[REF].id)
		;
	else if (now_ns - put_ns > stall_rows[REF].period_ns)
		kernel.stale[q->from]++;
	else if (now_ns >= stall_to_ns && !kernel.first_ns[q->from])
		kernel.first_ns[q->from] = now_ns;
	arrives(q->from ? &two.fake : &one.fake, &q->frame, BUS_OWN, now_ns);
}

static void kernel_step(const struct stall *stall, int64_t now_ns)
{
	if (!kernel.n || now_ns < kernel.free_ns || (now_ns >= STALL_FROM && now_ns < stall->to_ns))
		return;
	on_the_wire(&kernel.queue[0], now_ns, stall->to_ns);
	memmove(kernel.queue, kernel.queue + 1, --kernel.n * sizeof(kernel.queue[0]));
	kernel.free_ns = now_ns + FRAME_NS;
}

static void owner_step(int64_t now_ns)
{
	struct process *both[] = { &one, &two };

	for (int i = 0; i < 2; i++)
		if (slots_state(&both[i]->slots) != SLOTS_STALLED ||
		    now_ns < slots_since_ns(&both[i]->slots) + OWNER_NS)
			return;
	kernel.n = 0;
	one.fake.receive_answer = two.fake.receive_answer = -ENETDOWN;
}

static void put_stamped(struct process *p, unsigned int row, int64_t now_ns)
{
	struct frame frame = { .id = stall_rows[row].id, .len = 8 };

	memcpy(frame.data, &now_ns, sizeof(now_ns));
	TEST_ASSERT_EQUAL_INT(0, slots_put(&p->slots, row, &frame, now_ns));
}

static void process_step(struct process *p, bool harmless, int64_t now_ns)
{
	const bool tick = now_ns % MS == 0, woken = p->fake.inbox_n || p->fake.receive_answer;

	if (!tick && !woken && slots_bus_next_ns(&p->line) > now_ns)
		return;
	drain(p, now_ns);
	p->fake.receive_answer = 0;
	if (tick)
		put_stamped(p, REF, now_ns);
	if (harmless && !slots_proven(&p->slots) && now_ns % QUESTION_NS == 0)
		put_stamped(p, REQ, now_ns);
	slots_bus_pump(&p->line, now_ns);
	TEST_ASSERT_TRUE(slots_bus_next_ns(&p->line) > now_ns); /* it does not spin */
}

static void run_stall(const struct stall *stall)
{
	struct process *both[] = { &one, &two };
	struct error_sink errors = { 0 };

	memset(&kernel, 0, sizeof(kernel));
	for (int i = 0; i < 2; i++) {
		fake_start(&both[i]->fake);
		both[i]->fake.send = kernel_send;
		TEST_ASSERT_EQUAL_INT(0, slots_init(&both[i]->slots, stall_rows, stall->harmless ? 2 : 1,
						    &(struct slots_options){ .in_flight = stall->depth }, &errors));
		slots_bus_init(&both[i]->line, &both[i]->slots, &both[i]->fake.bus, 0);
	}
	for (int64_t now_ns = MS; now_ns < stall->to_ns + AFTER; now_ns += STEP_NS) {
		kernel_step(stall, now_ns);
		if (stall->owner)
			owner_step(now_ns);
		for (int i = 0; i < 2; i++)
			process_step(both[i], stall->harmless, now_ns);
	}
	for (int i = 0; i < 2; i++) {
		TEST_ASSERT_EQUAL_INT(SLOTS_RUNNING, slots_state(&both[i]->slots));
		TEST_ASSERT_TRUE(kernel.first_ns[i]);
		TEST_ASSERT_TRUE(kernel.first_ns[i] - stall->to_ns <= (stall->harmless ? QUESTION_NS : 0) + 2 * MS);
	}
}

/* In a queue of 10 there is no room for 8 of each: they are refused. */
TEST(without_a_reset_no_more_are_stale_than_may_be_in_flight)
{
	static const struct {
		unsigned int depth, stale;
	} cases[] = { { 1, 2 }, { 2, 2 }, { 4, 4 }, { 8, 8 } };

	for (size_t c = 0; c < COUNT(cases); c++) {
		run_stall(&(struct stall){ .to_ns = 1050 * MS, .depth = cases[c].depth });
		for (int i = 0; i < 2; i++) {
			const struct slots_counts *counts = slots_counts(i ? &two.slots : &one.slots);

			TEST_ASSERT_TRUE(kernel.stale[i] > 0 && kernel.stale[i] <= cases[c].stale);
			TEST_ASSERT_EQUAL_UINT64(kernel.stale[i], counts->stale);
			TEST_ASSERT_EQUAL_UINT64(1, counts->stalls);
		}
	}
}

/* Whenever it comes back. */
TEST(with_resets_at_most_one_stale_frame_each)
{
	unsigned int all = 0;

	for (int64_t to_ns = 100 * MS; to_ns < 120 * MS; to_ns += 400 * US) {
		run_stall(&(struct stall){ .to_ns = to_ns, .owner = true });
		TEST_ASSERT_TRUE(kernel.stale[0] <= 1 && kernel.stale[1] <= 1);
		all += kernel.stale[0] + kernel.stale[1];
	}
	TEST_ASSERT_TRUE(all > 0); /* a reset alone does not do it */
}

TEST(with_resets_and_a_harmless_question_none_is_stale)
{
	for (int64_t to_ns = 100 * MS; to_ns < 200 * MS; to_ns += 1100 * US) {
		run_stall(&(struct stall){ .to_ns = to_ns, .owner = true, .harmless = true });
		TEST_ASSERT_EQUAL_UINT(0, kernel.stale[0] + kernel.stale[1]);
		TEST_ASSERT_TRUE(slots_counts(&one.slots)->expired + slots_counts(&one.slots)->replaced > 40);
	}
}
