/* test_response_wire.c: no frame on a soft wire takes longer than its bound.  Also for traffic.c.
 *
 * Random robots: processes with ticks and slots on one queue, devices that answer or send by themselves.  Time is an
 * argument of the engine, so a second takes milliseconds.  RESPONSE_SETS robots (80: about 100 thousand frames).
 */
#include <stdlib.h>

#include "test/lib/testcase.h"

#include "can/load/traffic.h"
#include "can/slots/slots.h"
#include "can/wire/engine.h"
#include "channels/clock/clock.h"

#define PROCESSES 4
#define ROWS 6		     /* of a process */
#define CYCLIC 4	     /* frames that devices send by themselves */
#define RUN_NS 300000000     /* of a robot */
#define WARM_NS 20000000     /* until the slots have seen the bus confirm */
#define LONG_NS 100000000000 /* deadline of slots: no frame expires */
#define PENDING 512
#define LOAD 0.85

static uint64_t seed;

static uint32_t any(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % below;
}

/* ---- a robot ---- */

struct row {
	struct slots_row slot;
	unsigned int burst, len, reply_len;
	bool answered;
	uint32_t reply_id;
	int64_t put_ns[PENDING]; /* of those that have not left, in order */
	unsigned int put_first, put_n;
	int64_t bound_ns, reply_bound_ns;
	int reply_node;
};

struct process {
	struct slots slots;
	struct slots_row slot_rows[ROWS];
	struct row rows[ROWS];
	unsigned int rows_n;
	int64_t tick_ns, next_ns, nominal_ns;
};

struct cyclic {
	uint32_t id;
	unsigned int len;
	int64_t period_ns, next_ns, bound_ns;
	int node;
};

static struct process processes[PROCESSES];
static unsigned int processes_n, cyclic_n;
static struct cyclic cyclic[CYCLIC];
static struct traffic traffic;
static struct engine engine;
static int host;

/* Answers that are to come, and frames of devices on their way: by tag. */
static struct reply {
	int64_t at_ns;
	struct row *row; /* NULL: free */
} replies[PENDING];
static struct on_way {
	int64_t released_ns, bound_ns; /* bound_ns 0: free */
} on_way[PENDING];

/* What happened in engine_advance. */
static struct happened {
	bool echo;
	struct engine_tag tag;
	struct frame frame;
	int64_t t_ns;
} happened[64];
static unsigned int happened_n;

static uint64_t frames_n;
static double closest;

static void note(void *to, const struct engine_event *event)
{
	(void)to;
	if (event->kind != ENGINE_ECHO)
		return;
	TEST_ASSERT_LESS_THAN_UINT(64, happened_n);
	happened[happened_n++] = (struct happened){ event->node == host, event->tag, *event->frame, event->t_ns };
}

/* ---- making it ---- */

static bool used[FRAME_STD_MASK + 1];

static uint32_t new_id(void)
{
	uint32_t id;

	do
		id = any(FRAME_STD_MASK + 1);
	while (used[id]);
	used[id] = true;
	return id;
}

static void make_process(struct process *p, unsigned int number)
{
	static const int64_t ticks[] = { 1000000, 2000000, 2500000, 5000000, 10000000 };
	char name[8];

	p->tick_ns = ticks[any(5)];
	p->nominal_ns = any((uint32_t)p->tick_ns);
	p->rows_n = 1 + any(ROWS);
	snprintf(name, sizeof(name), "p%u", number);
	TEST_ASSERT_EQUAL_INT(number, traffic_driver(&traffic, name, p->tick_ns));
	for (unsigned int i = 0; i < p->rows_n; i++) {
		struct row *row = &p->rows[i];
		struct traffic_row planned = { .driver = number, .tx = true };

		*row = (struct row){ .burst = 1, .len = any(9), .reply_len = any(9), .reply_node = -1 };
		row->slot = (struct slots_row){ .id = new_id(), .deadline_ns = LONG_NS, .period_ns = p->tick_ns };
		row->slot.class = any(4);
		if (row->slot.class >= SLOTS_COMMAND)
			row->burst = 1 + any(3);
		row->answered = any(2);
		row->reply_id = row->answered ? new_id() : 0;
		p->slot_rows[i] = row->slot;
		planned.id = row->slot.id;
		planned.len = (uint8_t)row->len;
		planned.period_ns = p->tick_ns / row->burst;
		planned.answered = row->answered;
		planned.reply_id = row->reply_id;
		traffic_add(&traffic, &planned);
		if (row->answered)
			traffic_add(&traffic, &(struct traffic_row){ .driver = number,
								     .id = row->reply_id,
								     .len = (uint8_t)row->reply_len });
	}
	TEST_ASSERT_EQUAL_INT(0, slots_init(&p->slots, p->slot_rows, p->rows_n, NULL, &(struct error_sink){ 0 }));
}

static void make_cyclic(struct cyclic *c)
{
	static const int64_t periods[] = { 1000000, 3000000, 5000000, 20000000 };

	*c = (struct cyclic){ .id = new_id(), .len = any(9), .period_ns = periods[any(4)] };
	c->next_ns = any((uint32_t)c->period_ns);
	traffic_add(&traffic, &(struct traffic_row){ .id = c->id, .len = (uint8_t)c->len, .period_ns = c->period_ns });
}

static int64_t bound_of(enum traffic_kind kind, uint32_t id)
{
	for (size_t i = 0; i < traffic.frames_n; i++)
		if (traffic.frames[i].kind == kind && traffic.frames[i].id == id)
			return traffic.frames[i].r.response_ns;
	TEST_FAIL_MESSAGE("the traffic lacks a frame");
	return 0;
}

static void find_bounds(void)
{
	for (unsigned int p = 0; p < processes_n; p++)
		for (struct row *row = processes[p].rows; row < processes[p].rows + processes[p].rows_n; row++) {
			row->bound_ns = bound_of(TRAFFIC_SENT, row->slot.id);
			if (row->answered)
				row->reply_bound_ns = bound_of(TRAFFIC_ANSWER, row->reply_id);
		}
	for (unsigned int i = 0; i < cyclic_n; i++)
		cyclic[i].bound_ns = bound_of(TRAFFIC_CYCLIC, cyclic[i].id);
}

static int attach(const char *kind, unsigned int number)
{
	char name[ENGINE_NAME_MAX];
	int node;

	snprintf(name, sizeof(name), "%s%u", kind, number);
	node = engine_attach(&engine, name, -1000000000);
	TEST_ASSERT_GREATER_OR_EQUAL_INT(0, node);
	return node;
}

static void make_bus(void)
{
	unsigned int nodes = 0;

	engine_init(&engine, &(struct engine_settings){ .bitrate = 1000000, .event = note }, -1000000000);
	host = attach("host", 0);
	attach("witness", 0); /* acknowledges */
	for (unsigned int p = 0; p < processes_n; p++)
		for (unsigned int i = 0; i < processes[p].rows_n; i++)
			if (processes[p].rows[i].answered)
				processes[p].rows[i].reply_node = attach("device", nodes++);
	for (unsigned int i = 0; i < cyclic_n; i++)
		cyclic[i].node = attach("device", nodes++);
}

/* false: too full for a test of bounds. */
static bool make_robot(int64_t reply_ns, int64_t jitter_ns)
{
	memset(used, 0, sizeof(used));
	memset(replies, 0, sizeof(replies));
	memset(on_way, 0, sizeof(on_way));
	traffic_free(&traffic);
	traffic.reply_ns = reply_ns;
	traffic.jitter_ns = jitter_ns;
	TEST_ASSERT_EQUAL_INT(0, traffic_bus(&traffic, "bus"));
	processes_n = 1 + any(PROCESSES);
	cyclic_n = any(CYCLIC + 1);
	for (unsigned int p = 0; p < processes_n; p++)
		make_process(&processes[p], p);
	for (unsigned int i = 0; i < cyclic_n; i++)
		make_cyclic(&cyclic[i]);
	TEST_ASSERT_EQUAL_INT(0, traffic_solve(&traffic));
	if (traffic.buses[0].load_most > LOAD)
		return false;
	find_bounds();
	make_bus();
	return true;
}

/* ---- running it ---- */

/* Often as many stuff bits as there can be. */
static struct frame make_frame(uint32_t id, unsigned int len)
{
	struct frame f = { .id = id, .len = (uint8_t)len };
	const unsigned int pattern = any(4);

	for (unsigned int i = 0; i < len; i++)
		f.data[i] = (uint8_t)(pattern == 0 ? 0x3c : pattern == 1 ? 0 : any(256));
	return f;
}

static void check_bound(int64_t took_ns, int64_t bound_ns, int64_t now_ns, uint32_t id)
{
	char text[96];

	if (now_ns < WARM_NS || bound_ns == RESPONSE_NEVER)
		return;
	snprintf(text, sizeof(text), "%03X took %lld of at most %lld ns", id, (long long)took_ns, (long long)bound_ns);
	TEST_ASSERT_LESS_OR_EQUAL_INT64_MESSAGE(bound_ns, took_ns, text);
	frames_n++;
	if ((double)took_ns / (double)bound_ns > closest)
		closest = (double)took_ns / (double)bound_ns;
}

static void pump(unsigned int number, int64_t now_ns)
{
	struct process *p = &processes[number];
	const struct frame *frame;

	while ((frame = slots_take(&p->slots, now_ns))) {
		TEST_ASSERT_EQUAL_INT(0, engine_request(&engine, host, frame, now_ns, (struct engine_tag){ number, 0 },
							now_ns));
		slots_handed(&p->slots, now_ns);
	}
}

static void put(struct process *p, unsigned int i, int64_t now_ns)
{
	struct row *row = &p->rows[i];
	const uint64_t replaced = slots_counts(&p->slots)->replaced;
	const struct frame f = make_frame(row->slot.id, row->len);

	TEST_ASSERT_EQUAL_INT(0, slots_put(&p->slots, i, &f, now_ns));
	if (slots_counts(&p->slots)->replaced != replaced)
		row->put_n--; /* the one that waited; a second one is in flight at most */
	TEST_ASSERT_LESS_THAN_UINT(PENDING, row->put_n);
	row->put_ns[(row->put_first + row->put_n++) % PENDING] = now_ns;
}

/* The bound counts from the nominal time: jitter is a part of it. */
static void tick(unsigned int number, int64_t now_ns)
{
	struct process *p = &processes[number];

	for (unsigned int i = 0; i < p->rows_n; i++)
		for (unsigned int k = 0; k < p->rows[i].burst; k++)
			put(p, i, now_ns);
	p->nominal_ns += p->tick_ns;
	p->next_ns = p->nominal_ns + (traffic.jitter_ns ? any((uint32_t)traffic.jitter_ns + 1) : 0);
	pump(number, now_ns);
}

static void release(int node, const struct frame *f, int64_t bound_ns, int64_t now_ns)
{
	unsigned int free = 0;

	while (on_way[free].bound_ns)
		TEST_ASSERT_LESS_THAN_UINT(PENDING, ++free);
	on_way[free] = (struct on_way){ now_ns, bound_ns };
	TEST_ASSERT_EQUAL_INT(0, engine_request(&engine, node, f, now_ns, (struct engine_tag){ 0, free }, now_ns));
}

static void add_reply(struct row *row, int64_t at_ns)
{
	unsigned int free = 0;

	while (replies[free].row)
		TEST_ASSERT_LESS_THAN_UINT(PENDING, ++free);
	replies[free] = (struct reply){ at_ns, row };
}

static void handle(const struct happened *h)
{
	struct process *p = &processes[h->tag.connection];
	struct on_way *way = &on_way[h->tag.sequence];
	struct row *row;
	int place;

	if (!h->echo) {
		check_bound(h->t_ns - way->released_ns, way->bound_ns, h->t_ns, h->frame.id);
		way->bound_ns = 0;
		return;
	}
	place = slots_echo(&p->slots, &h->frame, h->t_ns);
	TEST_ASSERT_GREATER_OR_EQUAL_INT(0, place);
	row = &p->rows[place];
	TEST_ASSERT_GREATER_THAN_UINT(0, row->put_n);
	check_bound(h->t_ns - row->put_ns[row->put_first], row->bound_ns, h->t_ns, h->frame.id);
	TEST_ASSERT_LESS_OR_EQUAL_INT64(h->t_ns - row->put_ns[row->put_first], slots_flight_ns(&p->slots));
	row->put_first = (row->put_first + 1) % PENDING;
	row->put_n--;
	if (row->answered)
		add_reply(row, h->t_ns + (traffic.reply_ns ? any((uint32_t)traffic.reply_ns + 1) : 0));
	pump(h->tag.connection, h->t_ns);
}

static int64_t next_ns(void)
{
	int64_t at_ns = engine_next_ns(&engine);

	for (unsigned int p = 0; p < processes_n; p++)
		at_ns = processes[p].next_ns < at_ns ? processes[p].next_ns : at_ns;
	for (unsigned int i = 0; i < cyclic_n; i++)
		at_ns = cyclic[i].next_ns < at_ns ? cyclic[i].next_ns : at_ns;
	for (unsigned int i = 0; i < PENDING; i++)
		if (replies[i].row && replies[i].at_ns < at_ns)
			at_ns = replies[i].at_ns;
	return at_ns;
}

static void step(int64_t now_ns)
{
	happened_n = 0;
	engine_advance(&engine, now_ns);
	for (unsigned int i = 0; i < happened_n; i++)
		handle(&happened[i]);
	for (unsigned int p = 0; p < processes_n; p++)
		if (processes[p].next_ns <= now_ns)
			tick(p, now_ns);
	for (unsigned int i = 0; i < cyclic_n; i++)
		if (cyclic[i].next_ns <= now_ns) {
			const struct frame f = make_frame(cyclic[i].id, cyclic[i].len);

			release(cyclic[i].node, &f, cyclic[i].bound_ns, now_ns);
			cyclic[i].next_ns += cyclic[i].period_ns;
		}
	for (unsigned int i = 0; i < PENDING; i++)
		if (replies[i].row && replies[i].at_ns <= now_ns) {
			const struct row *row = replies[i].row;
			const struct frame f = make_frame(row->reply_id, any(row->reply_len + 1));

			replies[i].row = NULL;
			release(row->reply_node, &f, row->reply_bound_ns, now_ns);
		}
}

TEST(no_response_exceeds_its_bound)
{
	const char *sets = getenv("RESPONSE_SETS");
	const int robots = sets ? atoi(sets) : 80;
	int done = 0;

	seed = 1;
	for (int tries = 0; done < robots; tries++) {
		static const int64_t replies_ns[] = { 0, 50000, 200000, 500000 };

		TEST_ASSERT_LESS_THAN_INT(100 * robots, tries);
		if (!make_robot(replies_ns[any(4)], any(2) ? 0 : any(300000)))
			continue;
		done++;
		for (unsigned int p = 0; p < processes_n; p++)
			processes[p].next_ns = processes[p].nominal_ns;
		for (int64_t now_ns = next_ns(); now_ns < RUN_NS; now_ns = next_ns())
			step(now_ns);
	}
	traffic_free(&traffic);
	printf("%llu frames of %d robots; the closest took %.1f %% of its bound\n", (unsigned long long)frames_n, done,
	       100 * closest);
	TEST_ASSERT_GREATER_THAN_UINT64(1000u * (unsigned int)robots, frames_n);
	TEST_ASSERT_GREATER_THAN_INT(85, (int)(100 * closest)); /* bounds are not merely large */
}
