/* test_slots.c: the rules of the slots, each as a script of steps. */
#include <stddef.h>

#include "test/lib/testcase.h"

#include "can/slots/slots.h"
#include "channels/clock/clock.h"

#define MS 1000 /* steps count microseconds */
#define US_NS 1000ll

/* ---- rows ---- */

enum { REF, REF2, REQ, REQ2, HALT, EXT, REMOTE, SLOW, TWIN, SHORT, CMD, ROWS };

static const struct slots_row rows[ROWS] = {
	[REF] = { .id = 0x101, .class = SLOTS_LATEST, .key = { 0xff }, .period_ns = 5 * MS * US_NS },
	[REF2] = { .id = 0x102, .class = SLOTS_LATEST, .key = { 0xff }, .deadline_ns = 5 * MS * US_NS },
	[REQ] = { .id = 0x0c0, .class = SLOTS_QUEUE, .deadline_ns = 10 * MS * US_NS, .period_ns = 1 },
	[REQ2] = { .id = 0x0c1, .class = SLOTS_QUEUE, .deadline_ns = 10 * MS * US_NS },
	[HALT] = { .id = 0x300, .class = SLOTS_URGENT, .key = { 0x0f }, .deadline_ns = 20 * MS * US_NS },
	[EXT] = { .id = 0x101u << 18 | FRAME_EXT, .class = SLOTS_LATEST, .deadline_ns = 5 * MS * US_NS },
	[REMOTE] = { .id = 0x101 | FRAME_RTR, .class = SLOTS_LATEST, .key = { 0xff }, .deadline_ns = 5 * MS * US_NS },
	[SLOW] = { .id = 0x200, .class = SLOTS_LATEST, .key = { 0xff }, .deadline_ns = 100 * MS * US_NS },
	[TWIN] = { .id = 0x101, .class = SLOTS_LATEST, .key = { 0, 0xff }, .deadline_ns = 5 * MS * US_NS },
	[CMD] = { .id = 0x7c0, .class = SLOTS_COMMAND, .key = { 0xff }, .deadline_ns = 10 * MS * US_NS },
	[SHORT] = { .id = 0x103, .class = SLOTS_LATEST, .deadline_ns = 1 * MS * US_NS },
};

/* ---- steps ---- */

enum op {
	END,
	OP_PUT,
	OP_TAKE,
	OP_REFUSE,
	OP_REJECT,
	OP_NONE,
	OP_ECHO,
	OP_RECEIVED,
	OP_OVERFLOW,
	OP_RESET,
	OP_DOWN,
	OP_UP,
	OP_CANCEL,
	OP_LOST,
	OP_NO_LOSS,
	OP_NEXT,
	OP_COUNT,
	OP_STATE,
	OP_PAUSE,
};

struct step {
	enum op op;
	int64_t us;
	unsigned int row, data; /* data: two bytes, the first of them in front */
	int64_t is;		/* what is expected */
	size_t count;		/* its place in struct slots_counts */
	unsigned int line;
};

#define STEP(op_, us_, row_, data_, is_)                          \
	{                                                         \
		(op_), (us_), (row_), (data_), (is_), 0, __LINE__ \
	}
#define PUT(us, row, data) STEP(OP_PUT, us, row, data, 0)
#define PUT_IS(us, row, data, is) STEP(OP_PUT, us, row, data, is)
#define TAKE(us, row, data) STEP(OP_TAKE, us, row, data, 0) /* this one is to be handed over, and is */
#define REFUSE(us, row, data) STEP(OP_REFUSE, us, row, data, 0)
#define REJECT(us, row, data) STEP(OP_REJECT, us, row, data, 0)
#define NONE(us) STEP(OP_NONE, us, 0, 0, 0)
#define ECHO(us, row, data) STEP(OP_ECHO, us, row, data, 0)
#define RECEIVED(us, id) STEP(OP_RECEIVED, us, 0, id, 0)
#define OVERFLOW(us) STEP(OP_OVERFLOW, us, 0, 0, 0)
#define RESET(us) STEP(OP_RESET, us, 0, 0, 0)
#define DOWN(us) STEP(OP_DOWN, us, 0, 0, 0)
#define UP(us) STEP(OP_UP, us, 0, 0, 0)
#define CANCEL(row) STEP(OP_CANCEL, 0, row, 0, 0)
#define LOST(row, data, why) STEP(OP_LOST, 0, row, data, why)
#define NO_LOSS STEP(OP_NO_LOSS, 0, 0, 0, 0)
#define NEXT(us) STEP(OP_NEXT, us, 0, 0, 0)
#define NEXT_NEVER STEP(OP_NEXT, -1, 0, 0, 0)
#define COUNT(field, n)                                                                \
	{                                                                              \
		OP_COUNT, 0, 0, 0, (n), offsetof(struct slots_counts, field), __LINE__ \
	}
#define STATE(state, since_us) STEP(OP_STATE, since_us, 0, 0, state)
#define PAUSE(us, to_us) STEP(OP_PAUSE, us, 0, 0, to_us)

static char said[ERROR_LINE_MAX];

static struct slots slots;
static struct slots_row table[ROWS]; /* other rows than the above */
static const struct slots_row *frame_rows = rows;

static void start(const struct slots_options *options)
{
	struct error_sink errors = { 0 };

	TEST_ASSERT_EQUAL_INT(0, slots_init(&slots, rows, ROWS, options, &errors));
	slots.proven = true; /* but where that is what is tested */
}

void setUp(void)
{
	frame_rows = rows;
	start(NULL);
}

static struct frame frame_of(unsigned int row, unsigned int data)
{
	return (struct frame){ .id = frame_rows[row].id, .len = 2, .data = { (uint8_t)(data >> 8), (uint8_t)data } };
}

static char where[64];

static void expect_frame(const struct step *step, const struct frame *frame)
{
	struct frame wanted = frame_of(step->row, step->data);

	TEST_ASSERT_NOT_NULL_MESSAGE(frame, where);
	TEST_ASSERT_EQUAL_HEX32_MESSAGE(wanted.id, frame->id, where);
	TEST_ASSERT_TRUE_MESSAGE(frame_equal(&wanted, frame), where);
}

static void take(const struct step *step, int64_t now_ns)
{
	expect_frame(step, slots_take(&slots, now_ns));
	if (step->op == OP_TAKE)
		slots_handed(&slots, now_ns);
	else if (step->op == OP_REFUSE)
		slots_refused(&slots, now_ns);
	else
		slots_rejected(&slots);
}

static void check_step(const struct step *step)
{
	struct slots_loss loss;

	switch (step->op) {
	case OP_LOST:
		TEST_ASSERT_TRUE_MESSAGE(slots_lost(&slots, &loss), where);
		TEST_ASSERT_EQUAL_UINT_MESSAGE(step->row, loss.row, where);
		TEST_ASSERT_EQUAL_INT_MESSAGE(step->is, loss.why, where);
		expect_frame(step, &loss.frame);
		break;
	case OP_NO_LOSS:
		TEST_ASSERT_FALSE_MESSAGE(slots_lost(&slots, &loss), where);
		break;
	case OP_NEXT:
		TEST_ASSERT_EQUAL_INT64_MESSAGE(step->us < 0 ? CLOCK_NEVER : step->us * US_NS, slots_next_ns(&slots),
						where);
		break;
	case OP_COUNT:
		TEST_ASSERT_EQUAL_UINT64_MESSAGE(
			step->is, *(const uint64_t *)((const char *)slots_counts(&slots) + step->count), where);
		break;
	default:
		TEST_ASSERT_EQUAL_INT_MESSAGE(step->is, slots_state(&slots), where);
		TEST_ASSERT_EQUAL_INT64_MESSAGE(step->us * US_NS, slots_since_ns(&slots), where);
		break;
	}
}

static void act(const struct step *step)
{
	const int64_t now_ns = step->us * US_NS;
	struct frame frame = step->op == OP_RECEIVED ? (struct frame){ .id = step->data }
			     : step->row < ROWS	     ? frame_of(step->row, step->data)
						     : (struct frame){ 0 };

	switch (step->op) {
	case OP_PUT:
		TEST_ASSERT_EQUAL_INT_MESSAGE(step->is, slots_put(&slots, step->row, &frame, now_ns), where);
		break;
	case OP_TAKE:
	case OP_REFUSE:
	case OP_REJECT:
		take(step, now_ns);
		break;
	case OP_NONE:
		TEST_ASSERT_NULL_MESSAGE(slots_take(&slots, now_ns), where);
		break;
	case OP_ECHO:
		slots_echo(&slots, &frame, now_ns);
		break;
	case OP_RECEIVED:
		slots_received(&slots, &frame, now_ns);
		break;
	case OP_PAUSE:
		slots_paused(&slots, now_ns, step->is * US_NS);
		break;
	case OP_OVERFLOW:
		slots_overflow(&slots, now_ns);
		break;
	case OP_RESET:
		slots_link_down(&slots, now_ns);
		slots_link_up(&slots, now_ns);
		break;
	case OP_DOWN:
		slots_link_down(&slots, now_ns);
		break;
	case OP_UP:
		slots_link_up(&slots, now_ns);
		break;
	case OP_CANCEL:
		slots_cancel(&slots, step->row);
		break;
	default:
		check_step(step);
		break;
	}
}

static void run(const struct step *step)
{
	for (; step->op != END; step++) {
		const struct slots_counts *c = slots_counts(&slots);

		snprintf(where, sizeof(where), "step of line %u", step->line);
		act(step);
		TEST_ASSERT_EQUAL_UINT64_MESSAGE(c->put,
						 c->replaced + c->expired + c->lost + c->cancelled + c->confirmed +
							 c->unsure + slots_waiting(&slots) + slots_in_flight(&slots),
						 where);
		TEST_ASSERT_TRUE_MESSAGE(slots_in_flight(&slots) <= SLOTS_IN_FLIGHT_MAX, where);
	}
}

#define RUN(...) run((const struct step[]){ __VA_ARGS__, { .op = END } })

/* ---- order ---- */

TEST(urgent_then_latest_then_command_then_queue)
{
	RUN(PUT(0, CMD, 1), PUT(0, REQ, 1), PUT(0, REF2, 1), PUT(0, REF, 1), PUT(0, HALT, 1), PUT(0, REQ2, 1), NEXT(0),
	    TAKE(0, HALT, 1), TAKE(0, REF, 1), ECHO(0, HALT, 1), TAKE(0, REF2, 1), ECHO(0, REF, 1), TAKE(0, CMD, 1),
	    ECHO(0, REF2, 1), TAKE(0, REQ, 1), ECHO(0, CMD, 1), TAKE(0, REQ2, 1));
}

TEST(identifiers_as_in_arbitration)
{
	RUN(PUT(0, SHORT, 1), PUT(0, REF2, 1), PUT(0, EXT, 1), PUT(0, REMOTE, 1), PUT(0, REF, 1), TAKE(0, REF, 1),
	    TAKE(0, REMOTE, 1), ECHO(0, REF, 1), TAKE(0, EXT, 1), ECHO(0, REMOTE, 1), TAKE(0, REF2, 1), ECHO(0, EXT, 1),
	    TAKE(0, SHORT, 1), COUNT(lost, 0));
}

TEST(first_come_first_served)
{
	/* Keys 3, 1, 2 of one row, and another row of the same identifier in between. */
	RUN(PUT(0, REF, 0x300), PUT(1, TWIN, 9), PUT(2, REF, 0x100), PUT(3, REF, 0x200), TAKE(4, REF, 0x300),
	    TAKE(4, TWIN, 9), ECHO(4, REF, 0x300), ECHO(4, TWIN, 9), TAKE(4, REF, 0x100), TAKE(4, REF, 0x200));
}

/* ---- steps ---- */

enum { PDO1, PDO2, PDO3, SYNC, STEP_HALT, STEP_REQ };

/* PDOs, then SYNC, though the SYNC has the lowest identifier; the deadline of the first is short. */
static const struct slots_row pdo_sync[ROWS] = {
	[PDO1] = { .id = 0x201, .class = SLOTS_LATEST, .deadline_ns = 5 * MS * US_NS },
	[PDO2] = { .id = 0x202, .class = SLOTS_LATEST, .deadline_ns = 10 * MS * US_NS },
	[PDO3] = { .id = 0x203, .class = SLOTS_LATEST, .deadline_ns = 10 * MS * US_NS },
	[SYNC] = { .id = 0x080, .class = SLOTS_LATEST, .deadline_ns = 10 * MS * US_NS, .step = 1 },
	[STEP_HALT] = { .id = 0x300, .class = SLOTS_URGENT, .deadline_ns = 20 * MS * US_NS, .step = 255 },
	[STEP_REQ] = { .id = 0x601, .class = SLOTS_QUEUE, .deadline_ns = 50 * MS * US_NS },
};

/* SYNC, then PDOs, though the SYNC has the highest identifier. */
static const struct slots_row sync_pdo[ROWS] = {
	[PDO1] = { .id = 0x201, .class = SLOTS_LATEST, .deadline_ns = 10 * MS * US_NS, .step = 1 },
	[PDO2] = { .id = 0x202, .class = SLOTS_LATEST, .deadline_ns = 10 * MS * US_NS, .step = 1 },
	[PDO3] = { .id = 0x203, .class = SLOTS_LATEST, .deadline_ns = 10 * MS * US_NS, .step = 1 },
	[SYNC] = { .id = 0x7f0, .class = SLOTS_LATEST, .deadline_ns = 10 * MS * US_NS },
};

static void start_rows(const struct slots_row *of, unsigned int n, const struct slots_options *options)
{
	TEST_ASSERT_EQUAL_INT(0, slots_init(&slots, of, n, options, &(struct error_sink){ 0 }));
	slots.proven = true;
	frame_rows = of;
}

#define TICK(us, n) PUT(us, SYNC, n), PUT(us, PDO3, n), PUT(us, PDO1, n), PUT(us, PDO2, n)
#define SENT(us, row, n) TAKE(us, row, n), ECHO(us, row, n)

TEST(steps_order_a_class_before_identifiers)
{
	start_rows(pdo_sync, STEP_REQ + 1, NULL);
	RUN(PUT(0, STEP_REQ, 1), TICK(0, 1), PUT(0, STEP_HALT, 1), SENT(0, STEP_HALT, 1), SENT(0, PDO1, 1),
	    SENT(0, PDO2, 1), SENT(0, PDO3, 1), SENT(0, SYNC, 1), SENT(0, STEP_REQ, 1), NONE(0));
	start_rows(sync_pdo, SYNC + 1, NULL);
	RUN(TICK(0, 1), SENT(0, SYNC, 1), SENT(0, PDO1, 1), SENT(0, PDO2, 1), SENT(0, PDO3, 1), NONE(0));
}

TEST(a_late_sync_is_replaced_and_waits_for_the_next_ticks_pdos)
{
	start_rows(pdo_sync, STEP_REQ + 1, NULL);
	RUN(TICK(0, 1), SENT(0, PDO1, 1), SENT(0, PDO2, 1), SENT(0, PDO3, 1), TICK(1, 2), COUNT(replaced, 1),
	    SENT(1, PDO1, 2), SENT(1, PDO2, 2), SENT(1, PDO3, 2), SENT(1, SYNC, 2), NONE(1), COUNT(confirmed, 7));
}

TEST(a_new_sync_overtakes_and_its_pdos_replace)
{
	start_rows(sync_pdo, SYNC + 1, NULL);
	RUN(TICK(0, 1), SENT(0, SYNC, 1), SENT(0, PDO1, 1), TICK(1, 2), COUNT(replaced, 2), SENT(1, SYNC, 2),
	    SENT(1, PDO1, 2), SENT(1, PDO2, 2), SENT(1, PDO3, 2), NONE(1));
}

TEST(a_pdo_that_is_put_again_goes_before_the_waiting_sync)
{
	start_rows(pdo_sync, STEP_REQ + 1, NULL);
	RUN(PUT(0, SYNC, 1), PUT(1, PDO3, 2), SENT(1, PDO3, 2), SENT(1, SYNC, 1), NONE(1));
}

TEST(a_frame_in_flight_keeps_its_place_before_the_next_tick)
{
	start_rows(pdo_sync, STEP_REQ + 1, NULL);
	RUN(TICK(0, 1), SENT(0, PDO1, 1), SENT(0, PDO2, 1), TAKE(0, PDO3, 1), TAKE(0, SYNC, 1), TICK(1, 2), NONE(1),
	    COUNT(replaced, 0), ECHO(1, PDO3, 1), TAKE(1, PDO1, 2), ECHO(1, SYNC, 1), SENT(1, PDO2, 2),
	    LOST(PDO1, 2, SLOTS_OVERTAKEN), SENT(1, PDO3, 2), SENT(1, SYNC, 2));
}

TEST(a_refused_pdo_is_not_overtaken_by_its_sync)
{
	start_rows(pdo_sync, STEP_REQ + 1, NULL);
	RUN(TICK(0, 1), SENT(0, PDO1, 1), SENT(0, PDO2, 1), REFUSE(0, PDO3, 1), NONE(479), TAKE(480, PDO3, 1),
	    TAKE(480, SYNC, 1));
}

TEST(a_sync_does_not_wait_for_what_is_gone)
{
	start_rows(pdo_sync, STEP_REQ + 1, NULL);
	RUN(TICK(0, 1), REFUSE(5 * MS, PDO2, 1), COUNT(expired, 1), CANCEL(PDO2), NONE(5 * MS), REJECT(6 * MS, PDO3, 1),
	    TAKE(6 * MS, SYNC, 1), LOST(PDO3, 1, SLOTS_REJECTED));
	/* Put at the same time with the same deadline, it goes with them. */
	start_rows(pdo_sync, STEP_REQ + 1, NULL);
	RUN(TICK(0, 1), NONE(10 * MS), COUNT(expired, 4), NEXT_NEVER);
}

TEST(after_a_stall_the_order_is_the_same)
{
	start_rows(pdo_sync, STEP_REQ + 1, NULL);
	RUN(TICK(0, 1), TAKE(0, PDO1, 1), TAKE(0, PDO2, 1), NONE(5 * MS), STATE(SLOTS_STALLED, 5 * MS), TICK(6 * MS, 2),
	    NONE(6 * MS), RESET(7 * MS), LOST(PDO1, 1, SLOTS_FLUSHED), LOST(PDO2, 1, SLOTS_FLUSHED),
	    SENT(7 * MS, PDO1, 2), SENT(7 * MS, PDO2, 2), SENT(7 * MS, PDO3, 2), SENT(7 * MS, SYNC, 2), NONE(7 * MS));
}

/* ---- replacing ---- */

TEST(the_newest_replaces_and_keeps_the_place)
{
	RUN(PUT(0, REF, 0x101), PUT(1, REF, 0x201), PUT(2, REF, 0x102), COUNT(replaced, 1), TAKE(3, REF, 0x102),
	    TAKE(3, REF, 0x201), COUNT(put, 3));
}

TEST(the_newest_brings_its_own_deadline)
{
	RUN(PUT(0, REF, 1), PUT(3 * MS, REF, 2), NEXT(0), DOWN(3 * MS), NEXT(8 * MS), UP(5 * MS), TAKE(5 * MS, REF, 2));
}

TEST(an_expired_one_is_not_replaced)
{
	RUN(PUT(0, REF, 1), PUT(5 * MS, REF, 2), COUNT(replaced, 0), COUNT(expired, 1), TAKE(5 * MS, REF, 2));
}

TEST(in_flight_is_not_replaced)
{
	RUN(PUT(0, REF, 1), TAKE(0, REF, 1), PUT(0, REF, 2), PUT(0, REF, 3), TAKE(0, REF, 3), COUNT(replaced, 1));
}

TEST(keys_tell_apart_by_their_bits_only)
{
	/* HALT looks at the lower half of its first byte. */
	RUN(PUT(0, HALT, 0x1100), PUT(0, HALT, 0x2101), COUNT(replaced, 1), PUT(0, HALT, 0x1200), COUNT(replaced, 1),
	    TAKE(0, HALT, 0x2101), TAKE(0, HALT, 0x1200));
}

TEST(keys_may_lie_in_any_byte)
{
	RUN(PUT(0, TWIN, 1), PUT(0, TWIN, 2), COUNT(replaced, 0), PUT(0, TWIN, 0x701), COUNT(replaced, 1),
	    TAKE(0, TWIN, 0x701), TAKE(0, TWIN, 2));
}

TEST(the_key_of_a_long_frame_is_in_its_first_bytes)
{
	struct frame frame = { .id = rows[REF].id, .len = 12, .flags = FRAME_FD };

	TEST_ASSERT_EQUAL_INT(0, slots_put(&slots, REF, &frame, 0));
	frame.data[8] = 1;
	TEST_ASSERT_EQUAL_INT(0, slots_put(&slots, REF, &frame, 0));
	TEST_ASSERT_EQUAL_UINT(1, slots_waiting(&slots));
	/* What only later bytes tell apart has a row of its own, with the same identifier. */
	frame.data[8] = 2;
	TEST_ASSERT_EQUAL_INT(0, slots_put(&slots, TWIN, &frame, 0));
	TEST_ASSERT_EQUAL_UINT(2, slots_waiting(&slots));
}

TEST(a_key_that_is_not_carried_is_another)
{
	struct frame empty = { .id = rows[REF].id, .len = 0 }, one = { .id = rows[REF].id, .len = 1 };
	struct frame zero = { .id = rows[REF].id, .len = 8 };

	TEST_ASSERT_EQUAL_INT(0, slots_put(&slots, REF, &empty, 0));
	TEST_ASSERT_EQUAL_INT(0, slots_put(&slots, REF, &zero, 0));
	TEST_ASSERT_EQUAL_UINT(2, slots_waiting(&slots));
	/* Another length alone makes no other key. */
	TEST_ASSERT_EQUAL_INT(0, slots_put(&slots, REF, &one, 0));
	TEST_ASSERT_EQUAL_UINT(2, slots_waiting(&slots));
	RUN(COUNT(replaced, 1));
}

TEST(remote_frames_have_no_key)
{
	RUN(PUT(0, REMOTE, 0x100), PUT(0, REMOTE, 0x200), COUNT(replaced, 1));
}

/* ---- queue ---- */

TEST(a_queue_keeps_all_in_order)
{
	RUN(PUT(0, REQ, 2), PUT(0, REQ, 2), PUT(0, REQ, 1), COUNT(replaced, 0), TAKE(0, REQ, 2), TAKE(0, REQ, 2),
	    ECHO(0, REQ, 2), TAKE(0, REQ, 1));
}

TEST(commands_are_kept_in_order_and_go_before_questions)
{
	RUN(PUT(0, REQ, 1), PUT(0, CMD, 2), PUT(0, CMD, 2), PUT(0, CMD, 1), COUNT(replaced, 0), TAKE(0, CMD, 2),
	    TAKE(0, CMD, 2), ECHO(0, CMD, 2), TAKE(0, CMD, 1), ECHO(0, CMD, 2), TAKE(0, REQ, 1), ECHO(0, CMD, 1),
	    ECHO(0, REQ, 1), PUT(0, CMD, 3), NONE(10 * MS), LOST(CMD, 3, SLOTS_EXPIRED), NO_LOSS);
}

TEST(a_full_queue_of_questions_refuses_no_command)
{
	for (unsigned int i = 0; i < SLOTS_QUEUE_MAX; i++)
		RUN(PUT(0, REQ, i));
	for (unsigned int i = 0; i < SLOTS_COMMAND_MAX; i++)
		RUN(PUT_IS(0, REQ, 0, -ENOSPC), PUT(0, CMD, i));
	RUN(PUT_IS(0, CMD, 0, -ENOSPC), TAKE(0, CMD, 0), PUT_IS(0, REQ, 0, -ENOSPC), PUT(0, CMD, 0), CANCEL(REQ),
	    PUT_IS(0, CMD, 0, -ENOSPC), PUT(0, REQ, 0));
}

TEST(a_queue_is_bounded_and_takes_no_place_of_other_classes)
{
	for (unsigned int i = 0; i < SLOTS_QUEUE_MAX; i++)
		RUN(PUT(0, REQ, i));
	RUN(PUT_IS(0, REQ2, 1, -ENOSPC), COUNT(no_room, 1));
	for (unsigned int i = 0; i < SLOTS_LATEST_MAX; i++)
		RUN(PUT(0, i < 256 ? REF : REF2, i << 8 & 0xff00));
	RUN(PUT_IS(0, SLOW, 0, -ENOSPC), PUT(0, REF, 7), COUNT(replaced, 1));
	for (unsigned int i = 0; i < 16; i++)
		RUN(PUT(0, HALT, i << 8));
	RUN(TAKE(0, HALT, 0), CANCEL(HALT), TAKE(0, REF, 7), PUT(0, REF2, 1), CANCEL(REF), CANCEL(REF2),
	    ECHO(0, HALT, 0), ECHO(0, REF, 7), TAKE(0, REQ, 0), TAKE(0, REQ, 1), ECHO(0, REQ, 0), TAKE(0, REQ, 2),
	    PUT(0, REQ2, 1));
}

/* ---- in flight ---- */

TEST(two_in_flight_and_no_more)
{
	RUN(PUT(0, REF, 1), PUT(0, REF2, 1), PUT(0, HALT, 1), TAKE(0, HALT, 1), TAKE(0, REF, 1), NONE(0),
	    PUT(1, HALT, 2), NONE(1), ECHO(2, HALT, 1), TAKE(2, HALT, 2), NONE(2), ECHO(3, REF, 1), TAKE(3, REF2, 1),
	    ECHO(4, HALT, 2), ECHO(5, REF2, 1), NONE(6), NEXT_NEVER, COUNT(handed, 4), COUNT(confirmed, 4),
	    COUNT(late, 0));
}

/* Each depth: so many are handed over, an echo makes room for one, and the order stays. */
TEST(as_many_in_flight_as_the_option_says)
{
	for (unsigned int depth = 1; depth <= SLOTS_IN_FLIGHT_MAX; depth++) {
		start(&(struct slots_options){ .in_flight = depth });
		for (unsigned int i = 0; i <= depth; i++)
			RUN(PUT(0, REQ, i));
		for (unsigned int i = 0; i < depth; i++)
			RUN(TAKE(0, REQ, i));
		RUN(NONE(0), ECHO(1, REQ, 0), TAKE(1, REQ, depth), NONE(1), ECHO(2, REQ, depth));
		for (unsigned int i = 1; i < depth; i++)
			RUN(LOST(REQ, i, SLOTS_OVERTAKEN));
		RUN(NO_LOSS);
		TEST_ASSERT_EQUAL_UINT(0, slots_in_flight(&slots));
	}
}

TEST(echoes_match_by_content_in_order)
{
	RUN(PUT(0, REQ, 7), PUT(MS, REQ, 7), TAKE(MS, REQ, 7), TAKE(MS, REQ, 7), ECHO(10 * MS, REQ, 7), COUNT(late, 0),
	    ECHO(10 * MS + 1, REQ, 7), COUNT(confirmed, 2), COUNT(late, 0), COUNT(lost, 0));
}

TEST(an_overtaken_one_is_lost)
{
	RUN(PUT(0, REQ, 1), PUT(0, REQ, 2), TAKE(0, REQ, 1), TAKE(0, REQ, 2), ECHO(1, REQ, 2),
	    LOST(REQ, 1, SLOTS_OVERTAKEN), NO_LOSS, COUNT(confirmed, 1), NEXT_NEVER, ECHO(2, REQ, 1), COUNT(stray, 1),
	    COUNT(confirmed, 1));
}

TEST(a_confirmation_after_the_deadline_is_late)
{
	RUN(PUT(0, REF, 1), PUT(0, REF2, 1), TAKE(0, REF, 1), TAKE(0, REF2, 1), ECHO(5 * MS, REF, 1), COUNT(late, 0),
	    ECHO(5 * MS + 1, REF2, 1), COUNT(late, 1), COUNT(stale, 0), COUNT(confirmed, 2));
}

/* ---- refusal ---- */

TEST(a_refused_one_stays_and_may_be_replaced)
{
	RUN(PUT(0, REF, 1), REFUSE(0, REF, 1), COUNT(refused, 1), NONE(0), NEXT(480), PUT(100, REF, 2), NONE(479),
	    REFUSE(480, REF, 2), NEXT(960), TAKE(960, REF, 2), COUNT(refused, 2), COUNT(handed, 1), COUNT(lost, 0));
}

TEST(an_echo_ends_the_wait_after_a_refusal)
{
	RUN(PUT(0, REF, 1), PUT(0, REF2, 1), TAKE(0, REF, 1), REFUSE(0, REF2, 1), NONE(1), ECHO(150, REF, 1), NEXT(0),
	    TAKE(150, REF2, 1));
}

TEST(a_reset_ends_the_wait_after_a_refusal)
{
	RUN(PUT(0, REF, 1), REFUSE(0, REF, 1), RESET(1), REFUSE(1, REF, 1), NEXT(481), TAKE(481, REF, 1));
}

TEST(an_urgent_one_does_not_wait_after_a_refusal)
{
	RUN(PUT(0, REF, 1), REFUSE(0, REF, 1), PUT(1, HALT, 1), REFUSE(1, HALT, 1), PUT(2, HALT, 2), NONE(2), NEXT(481),
	    TAKE(481, HALT, 2), TAKE(481, REF, 1));
}

TEST(the_wait_is_at_most_a_millisecond)
{
	start(&(struct slots_options){ .bitrate = 125000 });
	RUN(PUT(0, REF, 1), REFUSE(0, REF, 1), NEXT(1 * MS));
	start(&(struct slots_options){ .retry_ns = 200 * US_NS });
	RUN(PUT(0, REF, 1), REFUSE(0, REF, 1), NEXT(200));
}

TEST(a_refused_one_expires)
{
	RUN(PUT(0, SHORT, 1), REFUSE(900, SHORT, 1), NEXT(1 * MS), NONE(1 * MS), COUNT(expired, 1), NEXT_NEVER);
}

TEST(a_rejected_one_is_lost)
{
	RUN(PUT(0, REF, 1), PUT(0, REF2, 1), REJECT(0, REF, 1), TAKE(0, REF2, 1), LOST(REF, 1, SLOTS_REJECTED),
	    COUNT(lost, 1), COUNT(refused, 0));
}

TEST(an_answer_needs_a_frame_that_was_taken)
{
	slots_handed(&slots, 0);
	slots_refused(&slots, 0);
	slots_rejected(&slots);
	RUN(PUT(0, REF, 1), PUT(0, REF2, 1));
	slots_handed(&slots, 0);
	RUN(REFUSE(0, REF, 1));
	slots_handed(&slots, 0);
	slots_rejected(&slots);
	slots_refused(&slots, 0);
	RUN(TAKE(480, REF, 1));
	slots_handed(&slots, 480);
	slots_rejected(&slots);
	RUN(TAKE(480, REF2, 1), COUNT(handed, 2), COUNT(refused, 1), COUNT(lost, 0));
}

/* ---- deadlines ---- */

TEST(frames_that_wait_too_long_are_dropped)
{
	RUN(DOWN(0), PUT(0, REF, 1), PUT(1, REQ, 1), PUT(2, REQ, 2), PUT(3, HALT, 1), NEXT(5 * MS), NONE(5 * MS - 1),
	    COUNT(expired, 0), NONE(5 * MS), COUNT(expired, 1), NEXT(10 * MS + 1), NONE(10 * MS + 1), COUNT(lost, 1),
	    NEXT(10 * MS + 2), LOST(REQ, 1, SLOTS_EXPIRED), NO_LOSS, NONE(10 * MS + 2), LOST(REQ, 2, SLOTS_EXPIRED),
	    NONE(30 * MS), LOST(HALT, 1, SLOTS_EXPIRED), NO_LOSS, NEXT_NEVER, COUNT(expired, 1), COUNT(lost, 3));
}

TEST(nothing_is_handed_over_at_its_deadline)
{
	RUN(PUT(0, REF, 1), PUT(1, REF2, 1), TAKE(5 * MS, REF2, 1), NONE(5 * MS), COUNT(expired, 1));
}

TEST(the_next_time_is_that_of_what_still_waits)
{
	RUN(PUT(0, REF, 1), PUT(0, SLOW, 1), PUT(0, REF2, 1), PUT(0, SLOW, 0x100), TAKE(0, REF, 1), TAKE(0, REF2, 1),
	    RECEIVED(0, 1), NEXT(5 * MS), ECHO(10, REF, 1), ECHO(10, REF2, 1), TAKE(10, SLOW, 1),
	    REFUSE(10, SLOW, 0x100), NEXT(490), CANCEL(SLOW), NEXT(100 * MS + 10));
}

TEST(reports_of_losses_are_bounded)
{
	struct slots_loss loss;
	unsigned int n = 0;

	for (unsigned int i = 0; i < SLOTS_LOSSES_MAX + 3; i++)
		RUN(PUT(0, REQ, i), REJECT(0, REQ, i));
	RUN(LOST(REQ, 3, SLOTS_REJECTED), COUNT(lost, SLOTS_LOSSES_MAX + 3));
	while (slots_lost(&slots, &loss))
		TEST_ASSERT_EQUAL_UINT(4 + n++, loss.frame.data[0] << 8 | loss.frame.data[1]);
	TEST_ASSERT_EQUAL_UINT(SLOTS_LOSSES_MAX - 1, n);
}

/* ---- stall ---- */

TEST(quiet_for_the_deadline_is_a_stall)
{
	RUN(PUT(0, REF, 1), TAKE(1 * MS, REF, 1), NEXT(6 * MS), PUT(3 * MS, REF, 2), PUT(3 * MS, REF2, 2),
	    TAKE(3 * MS, REF, 2), NONE(6 * MS - 1), STATE(SLOTS_RUNNING, 0), NONE(6 * MS), STATE(SLOTS_STALLED, 6 * MS),
	    COUNT(stalls, 1), NONE(7 * MS), STATE(SLOTS_STALLED, 6 * MS), NEXT(8 * MS), NONE(8 * MS), COUNT(expired, 1),
	    NEXT_NEVER);
}

TEST(a_short_deadline_is_not_yet_a_stall)
{
	RUN(PUT(0, SHORT, 1), TAKE(0, SHORT, 1), NEXT(2480), NONE(2479), STATE(SLOTS_RUNNING, 0), NONE(2480),
	    STATE(SLOTS_STALLED, 2480));
	start(&(struct slots_options){ .bitrate = 125000 });
	RUN(PUT(0, SHORT, 1), TAKE(0, SHORT, 1), NEXT(5840));
}

TEST(a_pause_puts_the_stall_off)
{
	/* Without it, after 100 ms; it was at 2 ms when it began. */
	RUN(PUT(0, SLOW, 1), TAKE(0, SLOW, 1), PAUSE(2 * MS, 42 * MS), NEXT(140 * MS), NONE(140 * MS - 1),
	    STATE(SLOTS_RUNNING, 0), NONE(140 * MS), STATE(SLOTS_STALLED, 140 * MS));
}

/* The wire has to have had time: the pause may have begun before it was noticed. */
TEST(after_a_pause_there_is_the_shortest_time_and_an_eighth_of_it_at_least)
{
	RUN(PUT(0, REF, 1), TAKE(0, REF, 1), PAUSE(5 * MS, 40 * MS), NONE(40 * MS), NONE(46854),
	    STATE(SLOTS_RUNNING, 0), NONE(46855), STATE(SLOTS_STALLED, 46855));
	start(NULL);
	RUN(PUT(0, REF, 1), TAKE(0, REF, 1), PAUSE(5 * MS, 805 * MS), NONE(805 * MS), NONE(817479),
	    STATE(SLOTS_RUNNING, 0), NONE(817480), STATE(SLOTS_STALLED, 817480));
}

/* All processes send at once what they were late with. */
TEST(a_frame_of_after_a_pause_has_that_time_too)
{
	RUN(PAUSE(0, 80 * MS), PUT(81 * MS, SHORT, 1), TAKE(81 * MS, SHORT, 1), NEXT(92480), NONE(92479),
	    STATE(SLOTS_RUNNING, 0), NONE(92480), STATE(SLOTS_STALLED, 92480));
}

TEST(a_pause_of_before_changes_nothing)
{
	RUN(PAUSE(0, 10 * MS), PUT(10 * MS, REF, 1), TAKE(10 * MS, REF, 1), NEXT(15 * MS), NONE(15 * MS),
	    STATE(SLOTS_STALLED, 15 * MS));
}

/* A bus that is dead is found however often the process pauses: all time between counts. */
TEST(a_stall_is_found_between_pauses)
{
	RUN(PUT(0, SLOW, 1), TAKE(0, SLOW, 1), PAUSE(10 * MS, 50 * MS), NONE(50 * MS), PAUSE(80 * MS, 120 * MS),
	    NEXT(180 * MS), NONE(180 * MS - 1), STATE(SLOTS_RUNNING, 0), NONE(180 * MS),
	    STATE(SLOTS_STALLED, 180 * MS));
}

TEST(receiving_puts_the_stall_off)
{
	RUN(PUT(0, REF, 1), TAKE(0, REF, 1), RECEIVED(4 * MS, 1), NEXT(9 * MS), RECEIVED(8 * MS, 1), NEXT(13 * MS),
	    RECEIVED(19 * MS, 1), NEXT(20 * MS), NONE(20 * MS - 1), STATE(SLOTS_RUNNING, 0), NONE(20 * MS),
	    STATE(SLOTS_STALLED, 20 * MS));
}

TEST(twice_a_long_deadline_is_a_stall_whatever_was_received)
{
	RUN(PUT(0, SLOW, 1), TAKE(0, SLOW, 1), NEXT(100 * MS), RECEIVED(150 * MS, 1), NEXT(200 * MS), NONE(200 * MS),
	    STATE(SLOTS_STALLED, 200 * MS));
}

TEST(frames_received_before_do_not_count)
{
	RUN(RECEIVED(0, 1), PUT(0, REF, 1), TAKE(2 * MS, REF, 1), NEXT(7 * MS));
}

TEST(the_shorter_deadline_in_flight_decides)
{
	RUN(PUT(0, SLOW, 1), TAKE(0, SLOW, 1), PUT(1, REF, 1), TAKE(1, REF, 1), NEXT(5 * MS + 1), NONE(5 * MS + 1),
	    STATE(SLOTS_STALLED, 5 * MS + 1));
}

TEST(a_confirmation_starts_the_count_again)
{
	RUN(PUT(0, REF, 1), TAKE(0, REF, 1), PUT(0, REF2, 1), TAKE(0, REF2, 1), ECHO(4 * MS, REF, 1), NEXT(9 * MS),
	    RECEIVED(23 * MS, 1), NEXT(24 * MS));
}

TEST(echoes_read_late_are_not_a_stall)
{
	RUN(PUT(0, REF, 1), TAKE(0, REF, 1), PUT(90 * MS, REF, 2), ECHO(200, REF, 1), TAKE(90 * MS, REF, 2),
	    STATE(SLOTS_RUNNING, 0), COUNT(late, 0));
}

TEST(a_reset_ends_the_stall_and_the_first_is_fresh)
{
	RUN(PUT(0, REF, 1), PUT(0, REQ, 1), TAKE(0, REF, 1), TAKE(0, REQ, 1), NONE(5 * MS), PUT(9 * MS, REF, 2),
	    PUT(30 * MS, REF, 3), PUT(33 * MS, REF, 4), NONE(33 * MS), RESET(34 * MS), STATE(SLOTS_RUNNING, 34 * MS),
	    LOST(REF, 1, SLOTS_FLUSHED), LOST(REQ, 1, SLOTS_FLUSHED), NO_LOSS, NEXT(0), REFUSE(34 * MS, REF, 4),
	    TAKE(34 * MS + 480, REF, 4), ECHO(35 * MS, REF, 4), COUNT(confirmed, 1), COUNT(late, 0), COUNT(stale, 0),
	    COUNT(expired, 1), COUNT(replaced, 1));
}

TEST(a_confirmation_ends_the_stall)
{
	RUN(PUT(0, REF, 1), PUT(0, REF2, 1), TAKE(0, REF, 1), TAKE(0, REF2, 1), NONE(5 * MS), PUT(999 * MS, REF, 9),
	    NONE(1000 * MS), ECHO(1000 * MS, REF, 1), STATE(SLOTS_RUNNING, 1000 * MS), COUNT(stale, 1),
	    TAKE(1000 * MS, REF, 9), NONE(1001 * MS), STATE(SLOTS_RUNNING, 1000 * MS), ECHO(1001 * MS, REF2, 1),
	    COUNT(stale, 2), COUNT(late, 2), ECHO(1002 * MS, REF, 9), COUNT(stale, 2), COUNT(confirmed, 3),
	    COUNT(stalls, 1));
}

TEST(in_time_is_not_stale)
{
	RUN(PUT(0, SLOW, 1), TAKE(0, SLOW, 1), PUT(0, REF, 1), TAKE(0, REF, 1), NONE(5 * MS),
	    STATE(SLOTS_STALLED, 5 * MS), ECHO(100 * MS, SLOW, 1), COUNT(stale, 0), COUNT(late, 0));
}

TEST(a_fresh_probe_joins_a_single_one)
{
	RUN(PUT(0, REF, 1), TAKE(0, REF, 1), NONE(5 * MS), PUT(54 * MS, REF, 2), PUT(54 * MS, REF2, 2), NEXT(55 * MS),
	    NONE(55 * MS - 1), REFUSE(55 * MS, REF, 2), NEXT(55 * MS + 480), TAKE(55 * MS + 480, REF, 2),
	    NONE(55 * MS + 480), PUT(900 * MS, REF, 3), NONE(900 * MS), STATE(SLOTS_STALLED, 5 * MS),
	    /* The kernel had lost the first. */
	    ECHO(901 * MS, REF, 2), LOST(REF, 1, SLOTS_OVERTAKEN), STATE(SLOTS_RUNNING, 901 * MS), COUNT(stale, 1),
	    TAKE(901 * MS, REF, 3));
}

TEST(two_in_flight_are_the_probe_however_long_it_takes)
{
	RUN(PUT(0, REF, 1), PUT(0, REF2, 1), TAKE(0, REF, 1), TAKE(0, REF2, 1), NONE(5 * MS), PUT(10000 * MS, REF, 2),
	    NONE(10000 * MS), RECEIVED(10001 * MS, 0x100), NONE(10001 * MS), RECEIVED(10001 * MS, 0x101),
	    NONE(10001 * MS), PUT(12000 * MS, REF, 3), NONE(12000 * MS), NO_LOSS, STATE(SLOTS_STALLED, 5 * MS));
}

TEST(one_frame_in_flight_is_given_up_upon_evidence)
{
	RUN(PUT(0, REF, 1), PUT(0, REF2, 1), TAKE(0, REF, 1), TAKE(0, REF2, 1), RECEIVED(1, 0x102), NONE(5 * MS + 1),
	    STATE(SLOTS_STALLED, 5 * MS + 1), RECEIVED(5 * MS + 1, 0x102), NEXT_NEVER, RECEIVED(10 * MS, 0x102),
	    RECEIVED(11 * MS, 0x102), NEXT(1010 * MS), PUT(1009 * MS, REF, 2), NONE(1010 * MS - 1),
	    TAKE(1010 * MS, REF, 2), LOST(REF, 1, SLOTS_GIVEN_UP), NO_LOSS, NEXT_NEVER,
	    STATE(SLOTS_STALLED, 5 * MS + 1), ECHO(1011 * MS, REF, 2), LOST(REF2, 1, SLOTS_OVERTAKEN),
	    STATE(SLOTS_RUNNING, 1011 * MS));
}

TEST(dropped_receptions_are_evidence_for_one)
{
	RUN(OVERFLOW(0), PUT(0, REF, 1), PUT(0, REF2, 1), TAKE(0, REF, 1), TAKE(0, REF2, 1), OVERFLOW(2 * MS),
	    OVERFLOW(3 * MS), NONE(5 * MS), NEXT(1002 * MS), NONE(1002 * MS - 1), NO_LOSS, NONE(1002 * MS),
	    LOST(REF, 1, SLOTS_GIVEN_UP), NEXT_NEVER, PUT(5000 * MS, REF, 3), TAKE(5000 * MS, REF, 3),
	    PUT(9000 * MS, REF, 4), NONE(9000 * MS), NO_LOSS);
}

TEST(a_confirmation_dispels_the_doubt)
{
	RUN(PUT(0, REF, 1), PUT(0, REF2, 1), TAKE(0, REF, 1), TAKE(0, REF2, 1), OVERFLOW(0), ECHO(1, REF, 1),
	    NONE(5000 * MS), NO_LOSS, STATE(SLOTS_STALLED, 5000 * MS));
}

TEST(with_the_last_in_flight_given_up_it_runs_again)
{
	RUN(PUT(0, REF, 1), TAKE(0, REF, 1), OVERFLOW(0), NONE(5 * MS), NONE(1000 * MS), LOST(REF, 1, SLOTS_GIVEN_UP),
	    STATE(SLOTS_RUNNING, 1000 * MS), PUT(1000 * MS, REF, 2), TAKE(1000 * MS, REF, 2));
}

/* ---- stall, with other depths than two ---- */

TEST(patience_grows_with_what_may_be_in_flight)
{
	static const struct {
		unsigned int depth;
		int64_t stall_us;
	} cases[] = { { 0, 2480 }, { 1, 2480 }, { 2, 2480 }, { 3, 2640 }, { 8, 3440 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		start(&(struct slots_options){ .in_flight = cases[i].depth });
		RUN(PUT(0, SHORT, 1), TAKE(0, SHORT, 1), NEXT(cases[i].stall_us), NONE(cases[i].stall_us - 1),
		    STATE(SLOTS_RUNNING, 0), NONE(cases[i].stall_us), STATE(SLOTS_STALLED, cases[i].stall_us));
	}
}

/* Also beside a single one of a bus that has one in flight at a time, else a lost frame would end it for ever. */
TEST(at_most_one_probe_joins_whatever_the_depth)
{
	static const unsigned int depths[] = { 1, 2, 8 };

	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		start(&(struct slots_options){ .in_flight = depths[i] });
		RUN(PUT(0, REF, 1), TAKE(0, REF, 1), NONE(5 * MS), PUT(55 * MS, REF, 2), PUT(55 * MS, REF2, 2),
		    TAKE(55 * MS, REF, 2), NONE(55 * MS), ECHO(56 * MS, REF, 2), LOST(REF, 1, SLOTS_OVERTAKEN), NO_LOSS,
		    TAKE(56 * MS, REF2, 2), COUNT(stalls, 1));
	}
}

TEST(after_a_stall_the_depth_holds_again)
{
	start(&(struct slots_options){ .in_flight = 1 });
	RUN(PUT(0, REF, 1), TAKE(0, REF, 1), NONE(5 * MS), PUT(55 * MS, REF, 2), PUT(55 * MS, REF2, 2),
	    TAKE(55 * MS, REF, 2), ECHO(56 * MS, REF, 1), STATE(SLOTS_RUNNING, 56 * MS), NONE(56 * MS),
	    ECHO(57 * MS, REF, 2), TAKE(57 * MS, REF2, 2), NONE(57 * MS));
}

TEST(in_a_stall_there_are_no_more_than_at_its_beginning)
{
	start(&(struct slots_options){ .in_flight = 8 });
	RUN(PUT(0, REQ, 1), PUT(0, REQ, 2), PUT(0, REQ, 3), TAKE(0, REQ, 1), TAKE(0, REQ, 2), TAKE(0, REQ, 3),
	    NONE(10 * MS), STATE(SLOTS_STALLED, 10 * MS), PUT(100 * MS, REF, 1), NONE(100 * MS),
	    /* One is given up upon evidence: a fresh one takes its place as the probe, and ends the stall. */
	    OVERFLOW(100 * MS), PUT(1100 * MS, REF, 2), PUT(1100 * MS, REF2, 2), TAKE(1100 * MS, REF, 2),
	    LOST(REQ, 1, SLOTS_GIVEN_UP), NONE(1100 * MS), ECHO(1101 * MS, REF, 2), LOST(REQ, 2, SLOTS_OVERTAKEN),
	    LOST(REQ, 3, SLOTS_OVERTAKEN), STATE(SLOTS_RUNNING, 1101 * MS), TAKE(1101 * MS, REF2, 2));
}

TEST(all_in_flight_are_lost_with_the_link)
{
	start(&(struct slots_options){ .in_flight = 8 });
	for (unsigned int i = 0; i < 8; i++)
		RUN(PUT(0, REQ, i), TAKE(0, REQ, i));
	RUN(RESET(1));
	for (unsigned int i = 0; i < 8; i++)
		RUN(LOST(REQ, i, SLOTS_FLUSHED));
	RUN(NO_LOSS, PUT(1, REQ, 1), PUT(1, REQ, 2), TAKE(1, REQ, 1), NONE(1)); /* one until it is proven */
}

TEST(a_depth_that_makes_no_sense_is_named)
{
	struct error_sink errors = { error_keep_last, said, 0 };

	TEST_ASSERT_EQUAL_INT(-EINVAL,
			      slots_init(&slots, rows, ROWS, &(struct slots_options){ .in_flight = 9 }, &errors));
	TEST_ASSERT_EQUAL_STRING("in_flight: 9 frames: at most 8", said);
}

/* ---- proof ---- */

TEST(one_frame_is_in_flight_until_the_first_confirmation)
{
	start(NULL);
	slots.proven = false;
	RUN(PUT(0, REF, 1), PUT(0, REF2, 1), PUT(0, HALT, 1), TAKE(0, HALT, 1), NONE(0), NEXT(5 * MS), ECHO(1, HALT, 1),
	    TAKE(1, REF, 1), TAKE(1, REF2, 1));
	TEST_ASSERT_TRUE(slots_proven(&slots));
}

TEST(after_a_reset_and_after_a_stall_it_must_be_proven_again)
{
	RUN(PUT(0, REF, 1), TAKE(0, REF, 1), RESET(1 * MS), PUT(1 * MS, REF, 2), PUT(1 * MS, REF2, 2),
	    TAKE(1 * MS, REF, 2), NONE(1 * MS),
	    /* An echo from before the reset proves nothing. */
	    ECHO(900, REF, 1), NONE(1 * MS), ECHO(1 * MS + 1, REF, 2), TAKE(1 * MS + 1, REF2, 2), NONE(7 * MS),
	    STATE(SLOTS_STALLED, 7 * MS));
	TEST_ASSERT_FALSE(slots_proven(&slots));
	RUN(RESET(8 * MS), PUT(8 * MS, REF, 3), PUT(8 * MS, REF2, 3), TAKE(8 * MS, REF, 3), NONE(8 * MS));
}

/* The same rows, but the second is a question that does no harm. */
static void start_harmless(void)
{
	struct error_sink errors = { 0 };

	memcpy(table, rows, sizeof(table));
	table[REF2].class = SLOTS_QUEUE;
	table[REF2].deadline_ns = 100 * MS * US_NS;
	table[REF2].harmless = true;
	TEST_ASSERT_EQUAL_INT(0, slots_init(&slots, table, ROWS, NULL, &errors));
}

TEST(only_what_is_harmless_proves_a_bus)
{
	start_harmless();
	RUN(PUT(0, REF, 1), NONE(0), NEXT(5 * MS), PUT(1, REF2, 1), PUT(1, REF2, 2), NEXT(0), REFUSE(1, REF2, 1),
	    NEXT(481), TAKE(481, REF2, 1), NONE(481), PUT(500, REF, 2), ECHO(600, REF2, 1), TAKE(600, REF, 2),
	    TAKE(600, REF2, 2), COUNT(replaced, 1));
}

/* No further reference comes before the end of the quiet time: none has to wait behind them. */
TEST(harmless_ones_stand_twice_as_deep_while_it_is_quiet)
{
	start_harmless();
	slots.proven = true;
	for (unsigned int i = 0; i < 8; i++)
		RUN(PUT(0, REF2, i));
	slots_quiet(&slots, 640 * US_NS); /* of four frames */
	RUN(TAKE(0, REF2, 0), TAKE(0, REF2, 1), TAKE(0, REF2, 2), NONE(0));
	slots_quiet(&slots, 10 * MS * US_NS);
	RUN(TAKE(0, REF2, 3), NONE(0), NEXT(100 * MS), ECHO(1, REF2, 0), REFUSE(1, REF2, 4), NONE(1), ECHO(2, REF2, 1),
	    TAKE(2, REF2, 4), TAKE(2, REF2, 5), NONE(2));
	/* Nothing overtakes a reference, and it keeps its depth. */
	RUN(PUT(3, REF, 1), NONE(3), ECHO(4, REF2, 2), ECHO(4, REF2, 3), NONE(4), ECHO(5, REF2, 4), TAKE(5, REF, 1),
	    TAKE(5, REF2, 6), TAKE(5, REF2, 7), NONE(5));
	/* A stall ends it. */
	RUN(NONE(10 * MS), STATE(SLOTS_STALLED, 10 * MS), PUT(61 * MS, REF2, 8), NONE(61 * MS), COUNT(stalls, 1));
}

TEST(all_cannot_have_been_on_the_wire_before)
{
	start(&(struct slots_options){ .bitrate = 500000 });
	RUN(RECEIVED(100, 0x200));
	TEST_ASSERT_EQUAL_INT64(100 * US_NS, slots_clear_ns(&slots));
	RUN(PUT(500, REF, 1), PUT(500, REF2, 1), TAKE(500, REF, 1), TAKE(500, REF2, 1));
	TEST_ASSERT_EQUAL_INT64((500 + 2 * 2 * (47 + 16)) * US_NS, slots_clear_ns(&slots));
	RUN(ECHO(640, REF, 1));
	TEST_ASSERT_EQUAL_INT64((640 + 2 * (47 + 16)) * US_NS, slots_clear_ns(&slots));
	TEST_ASSERT_EQUAL_INT64(2 * (67 + 64) * US_NS, slots_frame_ns(&slots, FRAME_EXT, 8, 0));
	TEST_ASSERT_EQUAL_INT64(2 * 47 * US_NS, slots_frame_ns(&slots, FRAME_RTR, 8, 0));
}

/* 17 bits up to BRS, 9 at the end and 3 of space at 500 kbit/s; 5, the data, 4 of stuff count, 17 of CRC, 6 fixed stuff
 * bits and the delimiter at 2 Mbit/s. */
TEST(a_can_fd_frame_has_two_rates)
{
	start(&(struct slots_options){ .bitrate = 500000, .data_bitrate = 2000000 });
	TEST_ASSERT_EQUAL_INT64(29 * 2 * US_NS + (33 + 96) * US_NS / 2,
				slots_frame_ns(&slots, 0, 12, FRAME_FD | FRAME_BRS));
	TEST_ASSERT_EQUAL_INT64((29 + 33 + 96) * 2 * US_NS, slots_frame_ns(&slots, 0, 12, FRAME_FD));
	start(&(struct slots_options){ .bitrate = 500000, .longest_ns = 1400 * US_NS });
	RUN(PUT(0, REF, 1), TAKE(0, REF, 1));
}

TEST(urgent_is_harmless)
{
	start_harmless();
	RUN(PUT(0, REF, 1), PUT(1, HALT, 1), TAKE(1, HALT, 1), NONE(1));
}

TEST(a_harmless_probe_joins_a_single_one)
{
	start_harmless();
	RUN(PUT(0, REF2, 0), TAKE(0, REF2, 0), ECHO(1, REF2, 0), PUT(1, REF, 1), TAKE(1, REF, 1), NONE(6 * MS),
	    STATE(SLOTS_STALLED, 6 * MS), PUT(55 * MS, REF, 2), PUT(56 * MS, REF2, 1), PUT(56 * MS, REF2, 2),
	    REJECT(56 * MS, REF2, 1), TAKE(56 * MS, REF2, 2), NONE(56 * MS), ECHO(58 * MS, REF2, 2),
	    LOST(REF2, 1, SLOTS_REJECTED), LOST(REF, 1, SLOTS_OVERTAKEN), TAKE(58 * MS, REF, 2));
}

/* ---- link ---- */

TEST(nothing_is_handed_over_while_the_link_is_down)
{
	RUN(PUT(0, REF, 1), TAKE(0, REF, 1), PUT(0, REF2, 1), DOWN(1 * MS), LOST(REF, 1, SLOTS_FLUSHED),
	    STATE(SLOTS_DOWN, 1 * MS), NONE(2 * MS), NEXT(5 * MS), DOWN(3 * MS), STATE(SLOTS_DOWN, 1 * MS),
	    ECHO(3 * MS, REF, 1), COUNT(stray, 1), STATE(SLOTS_DOWN, 1 * MS), NONE(5 * MS), COUNT(expired, 1),
	    PUT(100 * MS, REF, 2), NONE(100 * MS), UP(101 * MS), STATE(SLOTS_RUNNING, 101 * MS), TAKE(101 * MS, REF, 2),
	    UP(102 * MS), STATE(SLOTS_RUNNING, 101 * MS));
}

/* ---- driver ---- */

TEST(frames_that_a_halt_overtook_can_be_cancelled)
{
	RUN(PUT(0, REF, 1), PUT(0, REQ, 1), PUT(0, REF2, 1), PUT(0, HALT, 1), CANCEL(REF2), COUNT(cancelled, 1),
	    PUT(0, CMD, 1), CANCEL(SLOTS_ALL), COUNT(cancelled, 4), TAKE(0, HALT, 1), NONE(0), NO_LOSS);
}

TEST(only_what_a_row_says_is_taken)
{
	struct frame other = { .id = 0x102 }, long_one = { .id = 0x101, .len = 9 };

	TEST_ASSERT_EQUAL_INT(-EINVAL, slots_put(&slots, REF, &other, 0));
	TEST_ASSERT_EQUAL_INT(-EINVAL, slots_put(&slots, REF, &long_one, 0));
	TEST_ASSERT_EQUAL_INT(-EINVAL, slots_put(&slots, ROWS, &other, 0));
	TEST_ASSERT_EQUAL_INT(0, slots_init(&slots, rows, REF2, NULL, &(struct error_sink){ 0 }));
	TEST_ASSERT_EQUAL_INT(-EINVAL, slots_put(&slots, REF2, &other, 0));
	RUN(COUNT(put, 0), NONE(0), NEXT_NEVER);
}

TEST(nothing_comes_between_taking_and_answering)
{
	RUN(PUT(0, REF, 1), PUT(0, REF2, 1));
	slots_take(&slots, 0);
	RUN(CANCEL(REF));
	slots_handed(&slots, 0);
	slots_take(&slots, 0);
	RUN(PUT(0, HALT, 1));
	slots_handed(&slots, 0);
	RUN(COUNT(handed, 0), TAKE(0, HALT, 1), TAKE(0, REF2, 1));
}

TEST(rows_that_make_no_sense_are_named)
{
	static const struct {
		struct slots_row row;
		const char *line;
	} wrong[] = {
		{ { .id = 0x800, .period_ns = 1 }, "row 0 of the frames to send, 800: no identifier" },
		{ { .id = FRAME_ERR, .period_ns = 1 }, "row 0 of the frames to send, 20000000: no identifier" },
		{ { .id = 0x0ef, .period_ns = 1, .class = SLOTS_CLASSES },
		  "row 0 of the frames to send, 0EF: no class" },
		{ { .id = 1 }, "row 0 of the frames to send, 001: neither a period nor a deadline" },
		{ { .id = 1, .period_ns = -1, .deadline_ns = 1 }, "row 0 of the frames to send, 001: neither" },
		{ { .id = 1, .period_ns = 1, .deadline_ns = -1 }, "row 0 of the frames to send, 001: neither" },
		{ { .id = 1, .deadline_ns = SLOTS_DEADLINE_MAX_NS + 1 },
		  "row 0 of the frames to send, 001: more than" },
		{ { .id = 1, .period_ns = SLOTS_DEADLINE_MAX_NS + 1 }, "row 0 of the frames to send, 001: more than" },
	};
	static struct slots_row many[SLOTS_ROWS_MAX + 1];
	struct error_sink errors = { error_keep_last, said, 0 };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		TEST_ASSERT_EQUAL_INT(-EINVAL, slots_init(&slots, &wrong[i].row, 1, NULL, &errors));
		TEST_ASSERT_EQUAL_STRING_LEN(wrong[i].line, said, strlen(wrong[i].line));
	}
	for (unsigned int i = 0; i <= SLOTS_ROWS_MAX; i++)
		many[i] = (struct slots_row){ .id = i, .period_ns = SLOTS_DEADLINE_MAX_NS };
	many[1].deadline_ns = SLOTS_DEADLINE_MAX_NS;
	TEST_ASSERT_EQUAL_INT(0, slots_init(&slots, many, SLOTS_ROWS_MAX, NULL, &errors));
	TEST_ASSERT_EQUAL_INT(-EINVAL, slots_init(&slots, many, SLOTS_ROWS_MAX + 1, NULL, &errors));
	TEST_ASSERT_EQUAL_STRING("513 rows of frames to send on one bus: at most 512", said);
}

/* On a bus that is not proven harmless frames leave alone. */
TEST(a_harmless_row_does_not_stand_behind_another)
{
	static const struct {
		struct slots_row first, second;
		bool wrong;
	} cases[] = {
		{ { .class = SLOTS_LATEST }, { .class = SLOTS_LATEST, .step = 1, .harmless = true }, true },
		{ { .class = SLOTS_LATEST, .harmless = true }, { .class = SLOTS_LATEST, .step = 1 }, false },
		{ { .class = SLOTS_LATEST, .step = 1 }, { .class = SLOTS_LATEST, .step = 1, .harmless = true }, false },
		{ { .class = SLOTS_LATEST, .harmless = true },
		  { .class = SLOTS_LATEST, .step = 1, .harmless = true },
		  false },
		{ { .class = SLOTS_LATEST }, { .class = SLOTS_QUEUE, .step = 1, .harmless = true }, false },
		{ { .class = SLOTS_URGENT }, { .class = SLOTS_URGENT, .step = 1, .harmless = true }, false },
	};
	struct error_sink errors = { error_keep_last, said, 0 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		/* One in front, and one behind the table that does not count. */
		struct slots_row few[] = { { .class = SLOTS_QUEUE, .harmless = true },
					   cases[i].first,
					   cases[i].second,
					   { .class = cases[i].second.class } };

		for (unsigned int r = 0; r < 3; r++)
			few[r].period_ns = 1;
		few[2].id = 0x80;
		*said = 0;
		TEST_ASSERT_EQUAL_INT(cases[i].wrong ? -EINVAL : 0, slots_init(&slots, few, 3, NULL, &errors));
		TEST_ASSERT_EQUAL_STRING(cases[i].wrong
						 ? "row 2 of the frames to send, 080: harmless, but a lower step "
						   "of its class is not: a bus that is not proven would take it "
						   "first"
						 : "",
					 said);
	}
}

TEST(an_echo_identifies_its_row)
{
	static const struct slots_row two[] = {
		{ .id = 0x0e4, .class = SLOTS_LATEST, .key = { 0xff }, .period_ns = 1000000 },
		{ .id = 0x0e4, .class = SLOTS_QUEUE, .key = { 0xff }, .deadline_ns = 1000000 },
	};
	const struct frame first = { .id = 0x0e4, .len = 1, .data = { 1 } }, second = { .id = 0x0e4, .len = 1 };
	struct error_sink errors = { error_keep_last, said, 0 };

	TEST_ASSERT_EQUAL_INT(0, slots_init(&slots, two, 2, NULL, &errors));
	TEST_ASSERT_EQUAL_INT(0, slots_put(&slots, 1, &second, 1));
	TEST_ASSERT_EQUAL_INT(0, slots_put(&slots, 0, &first, 1));
	for (int i = 0; i < 2; i++) {
		const struct frame *frame = slots_take(&slots, 2);

		TEST_ASSERT_NOT_NULL(frame);
		slots_handed(&slots, 2);
		TEST_ASSERT_EQUAL_INT(i, slots_echo(&slots, i ? &second : &first, 3));
	}
	TEST_ASSERT_EQUAL_INT(-ENOENT, slots_echo(&slots, &first, 4));
}
