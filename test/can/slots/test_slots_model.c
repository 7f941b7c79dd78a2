/* test_slots_model.c: the slots against a model that keeps every frame ever put and checks all of them each time.
 * Also for slots_flight.c and slots_wait.c.
 *
 * Chance drives both, and a kernel that queues, refuses, confirms, loses and is reset.  After every step both must say
 * the same; and what they say must hold by itself: so many in flight, nothing past its deadline, the newest of its key.
 */
#include <inttypes.h>

#include "test/lib/testcase.h"

#include "can/bus/bits.h"
#include "can/slots/slots.h"
#include "channels/clock/clock.h"

#define RUNS 200
#define STEPS 1800
#define US 1000ll
#define MS (1000 * US)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct slots_row rows[] = {
	{ .id = 0x101, .class = SLOTS_LATEST, .key = { 0x07 }, .period_ns = 5 * MS },
	{ .id = 0x101, .class = SLOTS_LATEST, .key = { 0x0f }, .period_ns = 3 * MS },
	{ .id = 0x101, .class = SLOTS_QUEUE, .deadline_ns = 30 * MS },
	{ .id = 0x101u << 18 | FRAME_EXT, .class = SLOTS_LATEST, .key = { 0x01 }, .deadline_ns = 8 * MS },
	{ .id = (0x101u << 18 | 0x3ffff) | FRAME_EXT, .class = SLOTS_QUEUE, .deadline_ns = 12 * MS },
	{ .id = 0x101 | FRAME_RTR, .class = SLOTS_QUEUE, .deadline_ns = 6 * MS },
	{ .id = 0x080, .class = SLOTS_QUEUE, .deadline_ns = 20 * MS },
	{ .id = 0x700, .class = SLOTS_URGENT, .key = { 0x03 }, .deadline_ns = 15 * MS },
	{ .id = 0x701, .class = SLOTS_URGENT, .deadline_ns = 1 * MS },
	{ .id = 0x000, .class = SLOTS_LATEST, .deadline_ns = 60 * MS },
	{ .id = 0x080, .class = SLOTS_LATEST, .deadline_ns = 5 * MS, .step = 1 },
	{ .id = 0x101, .class = SLOTS_LATEST, .key = { 0x07 }, .deadline_ns = 4 * MS, .step = 2 },
	{ .id = 0x001, .class = SLOTS_QUEUE, .deadline_ns = 20 * MS, .step = 1 },
	{ .id = 0x101, .class = SLOTS_COMMAND, .deadline_ns = 10 * MS },
	{ .id = 0x780, .class = SLOTS_COMMAND, .deadline_ns = 25 * MS },
};

/* ---- the model ---- */

enum fate { WAITING, FLYING, REPLACED, EXPIRED, LOST, CANCELLED, CONFIRMED, LATE, STALE, FATES };

struct put {
	enum fate fate;
	unsigned int row, place; /* place: when the first of those it replaces was put */
	unsigned int handed;	 /* in which order */
	int64_t deadline_ns, handed_ns;
	bool stalled;
	struct frame frame;
};

static struct put all[STEPS];
static unsigned int depth, stall_room; /* of frames in flight */
static unsigned int all_n, handed_n, stalls, strays, refused, no_room;
static enum slots_state state;
static bool proven, harmless;
static int64_t now_ns, since_ns, confirmed_ns, received_ns, link_ns, retry_ns, doubt_ns;

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t deadline_of(unsigned int row)
{
	return rows[row].deadline_ns ? rows[row].deadline_ns : rows[row].period_ns;
}

static unsigned int count(enum fate fate)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < all_n; i++)
		n += all[i].fate == fate;
	return n;
}

static bool goes_before(const struct put *a, const struct put *b)
{
	static const int order[] = { [SLOTS_URGENT] = 0, [SLOTS_LATEST] = 1, [SLOTS_COMMAND] = 2, [SLOTS_QUEUE] = 3 };
	int by_class = order[rows[a->row].class] - order[rows[b->row].class];
	int by_step = rows[a->row].step - rows[b->row].step;
	int by_id = bits_arbitrate(&a->frame, &b->frame);

	return by_class ? by_class < 0 : by_step ? by_step < 0 : by_id ? by_id < 0 : a->place < b->place;
}

static bool may_go(const struct put *p)
{
	return p->fate == WAITING &&
	       (proven || !harmless || rows[p->row].harmless || rows[p->row].class == SLOTS_URGENT);
}

static struct put *first_waiting(void)
{
	struct put *first = NULL;

	for (unsigned int i = 0; i < all_n; i++)
		if (may_go(&all[i]) && (!first || goes_before(&all[i], first)))
			first = &all[i];
	return first;
}

static struct put *oldest_flying(void)
{
	struct put *oldest = NULL;

	for (unsigned int i = 0; i < all_n; i++)
		if (all[i].fate == FLYING && (!oldest || all[i].handed < oldest->handed))
			oldest = &all[i];
	return oldest;
}

static void model_expire(void)
{
	for (unsigned int i = 0; i < all_n; i++)
		if (all[i].fate == WAITING && all[i].deadline_ns <= now_ns)
			all[i].fate = rows[all[i].row].class == SLOTS_LATEST ? EXPIRED : LOST;
}

static bool same_key(const struct put *a, const struct put *b)
{
	const unsigned int len_a = frame_data_len(&a->frame), len_b = frame_data_len(&b->frame);

	for (unsigned int i = 0; i < 8; i++) {
		const uint8_t mask = rows[a->row].key[i];

		if (mask && (i < len_a) != (i < len_b))
			return false;
		if (i < len_a && i < len_b && (a->frame.data[i] & mask) != (b->frame.data[i] & mask))
			return false;
	}
	return a->row == b->row;
}

static bool is_queued(unsigned int row)
{
	return rows[row].class == SLOTS_COMMAND || rows[row].class == SLOTS_QUEUE;
}

static int model_put(unsigned int row, const struct frame *frame)
{
	static const unsigned int room[] = { SLOTS_URGENT_MAX, SLOTS_LATEST_MAX, SLOTS_COMMAND_MAX, SLOTS_QUEUE_MAX };
	struct put *p = &all[all_n];
	unsigned int of_class = 0;
	bool replaces = false;

	model_expire();
	*p = (struct put){ WAITING, row, all_n, 0, now_ns + deadline_of(row), 0, false, *frame };
	for (unsigned int i = 0; i < all_n; i++) {
		of_class += all[i].fate == WAITING && rows[all[i].row].class == rows[row].class;
		if (all[i].fate == WAITING && !is_queued(row) && same_key(&all[i], p)) {
			all[i].fate = REPLACED;
			p->place = all[i].place;
			replaces = true;
		}
	}
	if (!replaces && of_class == room[rows[row].class]) {
		no_room++;
		return -1;
	}
	if (!replaces && rows[row].class == SLOTS_URGENT)
		retry_ns = 0;
	all_n++;
	return 0;
}

static int64_t model_stall_ns(void)
{
	const int64_t least_ns = (most(depth, 2) + 1) * 160 * US + 2 * MS;
	int64_t at_ns = CLOCK_NEVER;

	for (unsigned int i = 0; i < all_n; i++) {
		int64_t limit_ns = most(deadline_of(all[i].row), least_ns);
		int64_t from_ns = most(all[i].handed_ns, confirmed_ns);

		if (all[i].fate != FLYING)
			continue;
		at_ns = least(at_ns, most(from_ns, received_ns) + limit_ns);
		at_ns = least(at_ns, from_ns + most(2 * limit_ns, 20 * MS));
	}
	return at_ns;
}

static void model_state(enum slots_state to, int64_t at_ns)
{
	if (state != to)
		since_ns = at_ns;
	state = to;
}

static int64_t model_hand_over_ns(void)
{
	if (!first_waiting() || state == SLOTS_DOWN)
		return CLOCK_NEVER;
	if (count(FLYING) >= (state == SLOTS_STALLED ? stall_room : depth))
		return CLOCK_NEVER;
	if (state == SLOTS_RUNNING && !proven && count(FLYING))
		return CLOCK_NEVER;
	return state == SLOTS_STALLED ? most(since_ns + 50 * MS, retry_ns) : retry_ns;
}

static struct put *model_take(void)
{
	model_expire();
	if (doubt_ns != CLOCK_NEVER && now_ns >= doubt_ns + 1000 * MS) {
		oldest_flying()->fate = LOST;
		doubt_ns = CLOCK_NEVER;
		if (!count(FLYING))
			model_state(SLOTS_RUNNING, now_ns);
	}
	if (state == SLOTS_RUNNING && now_ns >= model_stall_ns()) {
		model_state(SLOTS_STALLED, now_ns);
		stalls++;
		stall_room = (unsigned int)most(count(FLYING), 2);
		proven = false;
		for (unsigned int i = 0; i < all_n; i++)
			all[i].stalled |= all[i].fate == FLYING;
	}
	return now_ns >= model_hand_over_ns() ? first_waiting() : NULL;
}

static void model_echo(const struct frame *frame, int64_t t_ns)
{
	struct put *hit = NULL;

	confirmed_ns = most(confirmed_ns, t_ns);
	doubt_ns = CLOCK_NEVER;
	retry_ns = 0;
	if (state != SLOTS_DOWN && t_ns >= link_ns)
		proven = true;
	if (state == SLOTS_STALLED)
		model_state(SLOTS_RUNNING, t_ns);
	for (unsigned int i = 0; i < all_n; i++)
		if (all[i].fate == FLYING && frame_equal(&all[i].frame, frame) && (!hit || all[i].handed < hit->handed))
			hit = &all[i];
	strays += !hit;
	for (unsigned int i = 0; hit && i < all_n; i++)
		if (all[i].fate == FLYING && all[i].handed < hit->handed)
			all[i].fate = LOST;
	if (hit)
		hit->fate = t_ns <= hit->deadline_ns ? CONFIRMED : hit->stalled ? STALE : LATE;
}

static void model_received(const struct frame *frame, int64_t t_ns)
{
	received_ns = most(received_ns, t_ns);
	if (state == SLOTS_STALLED && t_ns > since_ns && doubt_ns == CLOCK_NEVER &&
	    bits_arbitrate(&oldest_flying()->frame, frame) < 0)
		doubt_ns = t_ns;
}

static void model_down(void)
{
	for (unsigned int i = 0; i < all_n; i++)
		if (all[i].fate == FLYING)
			all[i].fate = LOST;
	model_state(SLOTS_DOWN, now_ns);
	proven = false;
	link_ns = now_ns;
	doubt_ns = CLOCK_NEVER;
	retry_ns = 0;
}

static void model_up(void)
{
	if (state == SLOTS_DOWN) {
		model_state(SLOTS_RUNNING, now_ns);
		link_ns = now_ns;
	}
}

static int64_t model_next_ns(void)
{
	int64_t next_ns = model_hand_over_ns();

	for (unsigned int i = 0; i < all_n; i++)
		if (all[i].fate == WAITING)
			next_ns = least(next_ns, all[i].deadline_ns);
	if (state == SLOTS_RUNNING)
		next_ns = least(next_ns, model_stall_ns());
	return doubt_ns == CLOCK_NEVER ? next_ns : least(next_ns, doubt_ns + 1000 * MS);
}

/* ---- both of them, and a kernel ---- */

static struct slots slots;
static uint64_t chance_state;
static struct frame kernel[16]; /* what it holds, in order; without those it lost */
static unsigned int kernel_n, fetched;
static char where[64];
static unsigned int seen[FATES], seen_why[SLOTS_GIVEN_UP + 1], seen_stalls, seen_no_room, seen_strays;

static unsigned int chance(unsigned int n)
{
	chance_state = chance_state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned int)(chance_state >> 33) % n;
}

static void begin(unsigned int run)
{
	static const unsigned int depths[] = { 2, 1, 2, 8, 3 };
	struct error_sink errors = { 0 };

	chance_state = run * 7919 + 1;
	depth = depths[run / 2 % COUNT(depths)];
	all_n = handed_n = stalls = strays = refused = no_room = kernel_n = fetched = 0;
	state = SLOTS_RUNNING;
	since_ns = retry_ns = 0;
	now_ns = 1000 * MS;
	confirmed_ns = received_ns = link_ns = 0;
	proven = false;
	harmless = rows[4].harmless = run % 2; /* every other run: a question that does no harm */
	doubt_ns = CLOCK_NEVER;
	TEST_ASSERT_EQUAL_INT(0, slots_init(&slots, rows, COUNT(rows), &(struct slots_options){ .in_flight = depth },
					    &errors));
}

static struct frame any_frame(uint32_t id)
{
	struct frame frame = { .id = id, .len = (uint8_t)chance(3) };

	for (unsigned int i = 0; i < 2 && i < frame_data_len(&frame); i++)
		frame.data[i] = (uint8_t)chance(20);
	return frame;
}

static void put(unsigned int row)
{
	struct frame frame = any_frame(rows[row].id);

	TEST_ASSERT_EQUAL_INT_MESSAGE(model_put(row, &frame) < 0, slots_put(&slots, row, &frame, now_ns) < 0, where);
}

/* More than there is room for, if they queue. */
static void put_many(void)
{
	const unsigned int row = chance(COUNT(rows));

	for (unsigned int i = 0; i <= SLOTS_QUEUE_MAX && all_n < STEPS - 1; i++)
		put(row);
}

/* The conditions for a frame to be handed over, without the model's mechanics. */
static void check_taken(const struct put *p)
{
	TEST_ASSERT_TRUE_MESSAGE(p->deadline_ns > now_ns, where);
	TEST_ASSERT_TRUE_MESSAGE(slots_proven(&slots) || !harmless || p->row == 4 || rows[p->row].class == SLOTS_URGENT,
				 where);
	for (unsigned int i = 0; i < all_n; i++) {
		if (all[i].fate != WAITING)
			continue;
		if (is_queued(p->row) && all[i].row == p->row)
			TEST_ASSERT_TRUE_MESSAGE(&all[i] >= p, where);
		if (rows[all[i].row].class == rows[p->row].class)
			TEST_ASSERT_TRUE_MESSAGE(rows[all[i].row].step >= rows[p->row].step, where);
		if (rows[all[i].row].class == SLOTS_URGENT)
			TEST_ASSERT_TRUE_MESSAGE(rows[p->row].class == SLOTS_URGENT, where);
	}
	for (const struct put *newer = p + 1; !is_queued(p->row) && newer < all + all_n; newer++)
		if (same_key(p, newer))
			TEST_ASSERT_TRUE_MESSAGE(newer->fate == CANCELLED, where);
}

static void take(void)
{
	const struct frame *frame = slots_take(&slots, now_ns);
	struct put *p = model_take();
	unsigned int answer = chance(10);

	TEST_ASSERT_EQUAL_INT_MESSAGE(!!p, !!frame, where);
	if (!p || !frame)
		return;
	TEST_ASSERT_TRUE_MESSAGE(frame_equal(&p->frame, frame), where);
	check_taken(p);
	if (answer == 0) {
		slots_rejected(&slots);
		p->fate = LOST;
	} else if (answer < 3) {
		slots_refused(&slots, now_ns);
		refused++;
		retry_ns = now_ns + 480 * US;
	} else {
		p->fate = FLYING;
		p->handed = ++handed_n;
		p->handed_ns = now_ns;
		p->stalled = state == SLOTS_STALLED;
		if (answer != 9 && kernel_n < COUNT(kernel)) /* 9: lost without a word */
			kernel[kernel_n++] = *frame;
		slots_handed(&slots, now_ns);
	}
}

static void confirm(void)
{
	const int64_t t_ns = now_ns - chance(200) * US;

	if (!kernel_n)
		return;
	model_echo(&kernel[0], t_ns);
	slots_echo(&slots, &kernel[0], t_ns);
	memmove(kernel, kernel + 1, --kernel_n * sizeof(kernel[0]));
}

static void receive(void)
{
	const int64_t t_ns = now_ns - chance(200) * US;
	struct frame frame = any_frame(chance(2) ? rows[chance(COUNT(rows))].id : chance(0x800));

	model_received(&frame, t_ns);
	slots_received(&slots, &frame, t_ns);
}

static void overflow(void)
{
	if (count(FLYING) && doubt_ns == CLOCK_NEVER)
		doubt_ns = now_ns;
	slots_overflow(&slots, now_ns);
}

static void cancel(void)
{
	unsigned int row = chance(2) ? SLOTS_ALL : chance(COUNT(rows));

	for (unsigned int i = 0; i < all_n; i++)
		if (all[i].fate == WAITING &&
		    (row == SLOTS_ALL ? rows[all[i].row].class != SLOTS_URGENT : all[i].row == row))
			all[i].fate = CANCELLED;
	slots_cancel(&slots, row);
}

static void change_link(void)
{
	switch (chance(3)) {
	case 0:
		model_down();
		model_up();
		slots_link_down(&slots, now_ns);
		slots_link_up(&slots, now_ns);
		break;
	case 1:
		model_down();
		slots_link_down(&slots, now_ns);
		break;
	default:
		model_up();
		slots_link_up(&slots, now_ns);
		return;
	}
	kernel_n = chance(4) ? 0 : kernel_n; /* sometimes an echo was already on its way */
}

static void tally(unsigned int n[FATES])
{
	memset(n, 0, FATES * sizeof(n[0]));
	for (unsigned int i = 0; i < all_n; i++)
		n[all[i].fate]++;
}

static void compare(void)
{
	const struct slots_counts *c = slots_counts(&slots);
	struct slots_loss loss;
	unsigned int n[FATES];

	tally(n);
	TEST_ASSERT_EQUAL_UINT_MESSAGE(n[WAITING], slots_waiting(&slots), where);
	TEST_ASSERT_EQUAL_UINT_MESSAGE(n[FLYING], slots_in_flight(&slots), where);
	TEST_ASSERT_TRUE_MESSAGE(slots_in_flight(&slots) <= most(depth, 2), where);
	TEST_ASSERT_EQUAL_UINT64_MESSAGE(all_n, c->put, where);
	TEST_ASSERT_EQUAL_UINT64_MESSAGE(no_room, c->no_room, where);
	TEST_ASSERT_EQUAL_UINT64_MESSAGE(n[REPLACED], c->replaced, where);
	TEST_ASSERT_EQUAL_UINT64_MESSAGE(n[EXPIRED], c->expired, where);
	TEST_ASSERT_EQUAL_UINT64_MESSAGE(n[LOST], c->lost, where);
	TEST_ASSERT_EQUAL_UINT64_MESSAGE(n[CANCELLED], c->cancelled, where);
	TEST_ASSERT_EQUAL_UINT64_MESSAGE(handed_n, c->handed, where);
	TEST_ASSERT_EQUAL_UINT64_MESSAGE(refused, c->refused, where);
	TEST_ASSERT_EQUAL_UINT64_MESSAGE(n[CONFIRMED] + n[LATE] + n[STALE], c->confirmed, where);
	TEST_ASSERT_EQUAL_UINT64_MESSAGE(n[LATE] + n[STALE], c->late, where);
	TEST_ASSERT_EQUAL_UINT64_MESSAGE(n[STALE], c->stale, where);
	TEST_ASSERT_EQUAL_UINT64_MESSAGE(strays, c->stray, where);
	TEST_ASSERT_EQUAL_UINT64_MESSAGE(stalls, c->stalls, where);
	TEST_ASSERT_EQUAL_INT_MESSAGE(proven, slots_proven(&slots), where);
	TEST_ASSERT_EQUAL_INT_MESSAGE(state, slots_state(&slots), where);
	TEST_ASSERT_EQUAL_INT64_MESSAGE(since_ns, slots_since_ns(&slots), where);
	TEST_ASSERT_EQUAL_INT64_MESSAGE(model_next_ns(), slots_next_ns(&slots), where);
	for (; slots_lost(&slots, &loss); fetched++)
		seen_why[loss.why]++;
	TEST_ASSERT_EQUAL_UINT_MESSAGE(n[LOST], fetched, where);
}

/* Exactly until something is due, or a little, or (rarely) for long. */
static void pass_time(void)
{
	const int64_t next_ns = slots_next_ns(&slots);

	if (chance(3) == 0 && next_ns != CLOCK_NEVER && next_ns > now_ns)
		now_ns = next_ns - chance(2);
	else
		now_ns += chance(100) ? chance(1000) * US : chance(400) * MS;
}

/* A good bus, a full bus, and a bus that sends hardly anything. */
static const unsigned int confirm_part[] = { 30, 8, 1 };

static void one_run(unsigned int run)
{
	begin(run);
	for (unsigned int step = 0; step < STEPS; step++) {
		const unsigned int mood = confirm_part[step / 200 % COUNT(confirm_part)];
		const unsigned int what = chance(100);

		snprintf(where, sizeof(where), "run %u step %u", run, step);
		if (what < 25)
			put(chance(COUNT(rows)));
		else if (what < 50)
			take();
		else if (what < 50 + mood)
			confirm();
		else if (what < 82)
			pass_time();
		else if (what < 84 && step / 600 % 2)
			receive();
		else if (what == 84)
			overflow();
		else if (what == 85 && chance(5) == 0)
			change_link();
		else if (what == 86 && chance(5) == 0)
			cancel();
		else if (what == 87 && run % 10 == 0)
			put_many();
		if (all_n == STEPS - 1)
			break;
		compare();
	}
	for (unsigned int fate = 0; fate < FATES; fate++)
		seen[fate] += count((enum fate)fate);
	seen_stalls += stalls;
	seen_no_room += no_room;
	seen_strays += strays;
}

TEST(slots_and_model_agree)
{
	for (unsigned int run = 0; run < RUNS; run++)
		one_run(run);
	/* It has been everywhere. */
	for (unsigned int fate = REPLACED; fate < FATES; fate++)
		TEST_ASSERT_TRUE(seen[fate] > 20);
	for (unsigned int why = 0; why < COUNT(seen_why); why++)
		TEST_ASSERT_TRUE(seen_why[why] > 20);
	TEST_ASSERT_TRUE(seen_stalls > 20 && seen_no_room > 20 && seen_strays > 20);
}
