/* test_engine_random.c: properties of the soft wire under random requests: time may be cut into any steps, frames do
 * not overlap, every request that was taken ends once. */
#include <inttypes.h>

#include "test/lib/testcase.h"

#include "can/bus/bits.h"
#include "can/bus/frame_text.h"
#include "can/wire/fault.h"
#include "test/can/wire/test_engine_lib.h"

static uint64_t seed;

static uint32_t chance(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((seed >> 33) % below);
}

/* ---- what is asked ---- */

enum kind { REQUEST, RESET, DOWN, UP, RESTART, DETACH, ATTACH, FAULT };

struct ask {
	enum kind kind;
	int64_t t_ns;
	int node;
	struct frame frame;
	char fault[64];
};

#define ASKS 400
#define NODES 5
static struct ask asks[ASKS];
static uint32_t bitrate;
static const char *const names[NODES] = { "a", "b", "c", "d", "e" };

/* Few identifiers, so that frames meet. */
static struct frame any_frame(void)
{
	struct frame f = { .id = 0x120 + chance(4) };

	if (!chance(4))
		f.id = f.id << 18 | chance(2) | FRAME_EXT;
	if (!chance(5))
		f.id |= FRAME_RTR;
	f.len = (uint8_t)chance(9);
	for (int i = 0; i < f.len && !(f.id & FRAME_RTR); i++)
		f.data[i] = (uint8_t)(chance(2) ? 0 : chance(3));
	return f;
}

static void any_fault(struct ask *ask, bool hard)
{
	/* Behind the words comes a node. */
	static const struct {
		const char *words, *behind;
		bool node;
	} faults[] = {
		{ "corrupt 1", "", false },
		{ "corrupt 10%", "", false },
		{ "corrupt 1", "", true },
		{ "corrupt off", "", false },
		{ "drop 1", "", false },
		{ "drop 30%", "", true },
		{ "drop off", "", true },
		{ "delay", " 200us", true },
		{ "delay", " off", true },
		{ "babble", " 121#", true },
		{ "babble", " off", true },
		{ "babble", " 100# 1ms", true },
		{ "stuck 500us", "", false },
		{ "stuck off", "", false },
		{ "power off", "", true },
		{ "power on", "", true },
		{ "power on", "", true },
		{ "disconnect", "", true },
		{ "connect", "", true },
		{ "connect", "", true },
		{ "clear", "", false },
		{ "stuck dominant 1ms", "", false },
		{ "stuck recessive 300us", "", false },
	};
	const uint32_t i = chance(hard ? sizeof(faults) / sizeof(faults[0]) : 9);

	if (!chance(10))
		snprintf(ask->fault, sizeof(ask->fault), "corrupt 2 at %u", chance(90));
	else
		snprintf(ask->fault, sizeof(ask->fault), "%s %s%s", faults[i].words,
			 faults[i].node ? names[chance(NODES)] : "", faults[i].behind);
}

/* hard: with everything that can go wrong; else requests and a little noise. */
static void make(uint64_t from, bool hard)
{
	static const uint32_t rates[] = { 1000000, 600000, 500000, 83333, 125000 };
	int64_t t_ns = 0;

	seed = from * 7919 + 1;
	for (int i = 0; i < 10; i++)
		chance(2);
	bitrate = rates[chance(5)];
	for (int i = 0; i < ASKS; i++) {
		struct ask *ask = &asks[i];
		uint32_t what = chance(hard ? 40 : 30);

		*ask = (struct ask){ .kind = REQUEST, .node = (int)chance(NODES) };
		if (chance(3))
			t_ns += (int64_t)chance(chance(10) ? 400 : 4000) * 1000000 / (bitrate / 1000) / 4;
		ask->t_ns = t_ns;
		ask->frame = any_frame();
		if (what == 1 && hard)
			ask->kind = (enum kind)(RESET + chance(3));
		if ((what == 2 || what == 3) && hard)
			ask->kind = RESTART;
		if (what == 4 && hard)
			ask->kind = chance(3) ? ATTACH : DETACH;
		if (what == 5 || (what > 35 && hard)) {
			ask->kind = FAULT;
			any_fault(ask, hard);
		}
	}
}

/* ---- what happens ---- */

static char logs[2][1 << 20];
static size_t log_n;
static int which;
static int64_t last_ns, free_ns;
static uint32_t echoed;		      /* last, of the lowest sender */
static unsigned char ended[ASKS + 1]; /* by sequence: 1 taken, 2 over */

static void note(void *to, const struct engine_event *ev)
{
	char frame[FRAME_TEXT_MAX] = "";
	struct bits bits;

	(void)to;
	if (ev->frame)
		frame_text_write(frame, ev->frame);
	log_n += (size_t)snprintf(logs[which] + log_n, sizeof(logs[0]) - log_n,
				  "%" PRId64 " %d %d %s %08x %08x %08x %u %d %u %u\n", ev->t_ns, ev->kind, ev->node,
				  frame, ev->senders, ev->receivers, ev->lost, ev->tag.sequence, ev->state,
				  ev->tx_errors, ev->rx_errors);
	TEST_ASSERT_LESS_THAN(sizeof(logs[0]) - 1000, log_n);
	if (ev->kind == ENGINE_ECHO && !(ev->senders & ((UINT32_C(1) << ev->node) - 1)))
		echoed = ev->tag.sequence;
	if (ev->kind == ENGINE_PURGED || ev->kind == ENGINE_ECHO) {
		TEST_ASSERT_EQUAL_INT(1, ended[ev->tag.sequence]);
		ended[ev->tag.sequence] = 2;
	}
	TEST_ASSERT_GREATER_OR_EQUAL_INT64(last_ns, ev->t_ns);
	last_ns = ev->t_ns;
	if (ev->kind == ENGINE_FRAME) {
		const double bit_ns = 1e9 / bitrate;

		TEST_ASSERT_TRUE(bits_of(&bits, ev->frame));
		TEST_ASSERT_GREATER_OR_EQUAL_INT64(free_ns, ev->start_ns);
		if (!ev->again)
			TEST_ASSERT_DOUBLE_WITHIN(1.01, (bits.all - 3) * bit_ns, (double)(ev->t_ns - ev->start_ns));
		TEST_ASSERT_EQUAL_HEX32(0, ev->senders & ev->receivers);
		TEST_ASSERT_EQUAL_HEX32(0, ev->lost & ev->receivers);
		/* Its sender has just had its echo. */
		if (ev->senders && !ev->again && !ev->babble)
			TEST_ASSERT_EQUAL_UINT32(echoed, ev->tag.sequence);
		free_ns = ev->t_ns + (int64_t)(3 * bit_ns) - 1;
	}
}

static void ask_for(const struct ask *ask, uint32_t sequence)
{
	const int node = engine_find(&bus, names[ask->node]);
	struct engine_fault f;
	char why[FAULT_WHY_MAX];

	switch (ask->kind) {
	case REQUEST:
		ended[sequence] = 1;
		if (engine_request(&bus, node, &ask->frame, ask->t_ns, (struct engine_tag){ 0, sequence }, ask->t_ns))
			ended[sequence] = 2;
		break;
	case RESET:
		engine_reset(&bus, node, ask->t_ns);
		break;
	case DOWN:
		engine_down(&bus, node, ask->t_ns);
		break;
	case UP:
		engine_up(&bus, node, ask->t_ns);
		break;
	case RESTART:
		engine_restart(&bus, node, ask->t_ns);
		break;
	case DETACH:
		engine_detach(&bus, node, ask->t_ns);
		break;
	case ATTACH:
		engine_attach(&bus, names[ask->node], ask->t_ns);
		break;
	case FAULT:
		TEST_ASSERT_EQUAL_INT_MESSAGE(0, fault_read(&f, ask->fault, why), ask->fault);
		engine_fault(&bus, &f, ask->t_ns);
		break;
	}
}

static void start(int log, uint32_t queue)
{
	static const struct engine_settings settings = { .event = note, .seed = 5 };
	struct engine_settings own = settings;

	own.bitrate = bitrate;
	own.queue = queue;
	own.restart_ms = bitrate == 500000 ? 3 : 0;
	which = log;
	log_n = 0;
	last_ns = free_ns = INT64_MIN;
	memset(ended, 2, sizeof(ended));
	TEST_ASSERT_EQUAL_INT(0, engine_init(&bus, &own, -1000 * MS));
	for (int i = 0; i < NODES; i++)
		engine_attach(&bus, names[i], -1000 * MS);
}

/* All is made well again, and after that nothing waits. */
static void finish(void)
{
	int64_t t_ns = asks[ASKS - 1].t_ns;
	struct engine_stats s;

	engine_fault(&bus, &(struct engine_fault){ .kind = ENGINE_CLEAR }, t_ns);
	for (int i = 0; i < NODES; i++) {
		struct engine_fault f = { .kind = ENGINE_POWER_ON };
		int node = engine_attach(&bus, names[i], t_ns);

		strcpy(f.node, names[i]);
		engine_fault(&bus, &f, t_ns);
		f.kind = ENGINE_CONNECT;
		engine_fault(&bus, &f, t_ns);
		engine_up(&bus, node, t_ns);
		engine_restart(&bus, node, t_ns);
	}
	engine_stats(&bus, &s, t_ns);
	log_n += (size_t)snprintf(logs[which] + log_n, sizeof(logs[0]) - log_n,
				  "frames %" PRIu64 " attempts %" PRIu64 " errors %" PRIu64 " lost %" PRIu64
				  " load %.4f\n",
				  s.frames, s.attempts, s.errors, s.arbitration_lost, s.load);
	engine_advance(&bus, t_ns + 10000 * MS);
	TEST_ASSERT_EQUAL_INT64(ENGINE_NEVER, engine_next_ns(&bus));
	for (uint32_t i = 0; i <= ASKS; i++)
		TEST_ASSERT_EQUAL_INT(2, ended[i]);
}

/* Says in which line they differ, not all of them. */
static void same_logs(uint64_t from)
{
	size_t start = 0, i = 0;
	char message[600];

	while (logs[0][i] && logs[0][i] == logs[1][i])
		if (logs[0][i++] == '\n')
			start = i;
	if (logs[0][i] == logs[1][i])
		return;
	snprintf(message, sizeof(message), "seed %" PRIu64 ": %.*s and %.*s", from, (int)strcspn(logs[0] + start, "\n"),
		 logs[0] + start, (int)strcspn(logs[1] + start, "\n"), logs[1] + start);
	TEST_FAIL_MESSAGE(message);
}

enum pace { AT_ASKS, OFTEN, AT_EVENTS };

static void play(int log, enum pace pace)
{
	int64_t t_ns = 0;

	start(log, ENGINE_QUEUE);
	for (int i = 0; i < ASKS; i++) {
		while (pace == OFTEN && t_ns < asks[i].t_ns) {
			engine_advance(&bus, t_ns);
			if (!chance(3))
				engine_stats(&bus, &(struct engine_stats){ 0 }, t_ns);
			t_ns += 1 + chance(100000);
		}
		while (pace == AT_EVENTS && engine_next_ns(&bus) <= asks[i].t_ns)
			engine_advance(&bus, engine_next_ns(&bus));
		engine_advance(&bus, asks[i].t_ns);
		ask_for(&asks[i], (uint32_t)i);
	}
	finish();
}

TEST(steps_do_not_matter)
{
	for (uint64_t i = 0; i < 300; i++) {
		make(i, i % 2);
		play(0, AT_ASKS);
		play(1, i % 3 ? OFTEN : AT_EVENTS);
		same_logs(i);
	}
}

/* The same twice: nothing depends on what was in memory before. */
TEST(the_same_again)
{
	for (uint64_t i = 1000; i < 1020; i++) {
		make(i, true);
		play(0, AT_ASKS);
		memset(&bus, 0xa5, sizeof(bus));
		play(1, AT_ASKS);
		same_logs(i);
	}
}

/* Requests alone, all handed over at once or one after the other: stamps decide, not arrival. */
TEST(arrival_does_not_matter)
{
	for (uint64_t i = 2000; i < 2100; i++) {
		make(i, false);
		/* Identifiers of its own for each node: one that goes bus-off would refuse what comes one after the
		 * other. */
		for (int k = 0; k < ASKS; k++)
			asks[k].frame.id ^= (uint32_t)asks[k].node << 4;
		for (int log = 0; log < 2; log++) {
			start(log, ENGINE_QUEUE_MAX);
			for (int k = 0; k < ASKS; k++) {
				if (asks[k].kind != REQUEST)
					continue;
				if (!log)
					engine_advance(&bus, asks[k].t_ns);
				ask_for(&asks[k], (uint32_t)k);
			}
			finish();
		}
		same_logs(i);
	}
}
