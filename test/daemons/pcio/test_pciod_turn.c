/* test_pciod_turn.c: the driver's ticks and requests, frame by frame, with the loop's calls played here. */
#include <math.h>
#include <stdarg.h>

#include "test/lib/testcase.h"

#include "daemons/pcio/pciod.h"

#define HANDLE 17 /* of every request */
#define MS INT64_C(1000000)
#define JOINTS 2
#define FIRST 4 /* modules 4 and 5 */
#define QUEUE_MAX 64

/* ---- the loop ---- */

struct drv {
	struct drv_ref_limits limits[JOINTS];
	unsigned int not_driven[JOINTS]; /* 1: so it was said; 2: and stopped */
	unsigned int stops;		 /* frames of drv_send_stop */
	char frames[4096];		 /* what was put, in order: "100#07 0C4#0A27 ..." */
	unsigned int cancelled;
	unsigned int room; /* frames of class queue that still find room in this tick */
	char fault[PCIOD_CODE_MAX], why[128], events[2048];
	bool homing, replied;
	int result;
	char reply[128];
	const struct msg_joint_state *previous;
	uint32_t latches, unlatching;
	struct frame sent[QUEUE_MAX]; /* in this tick, to be confirmed and answered */
	unsigned int sent_rows[QUEUE_MAX], sent_n, handed_over;
	struct drv_ask asks;
	int64_t heard_ns[JOINTS];
};
static struct drv drv;
static struct pciod p;
static struct drv_orders orders;
static struct drv_ref_command commands[JOINTS];

/* ---- modules that answer ---- */

static struct module {
	uint32_t state, config;
	bool mute, ignores_halt;
} modules[JOINTS];

unsigned int drv_buses(const struct drv *d)
{
	(void)d;
	return 1;
}

const char *drv_bus_name(const struct drv *d, unsigned int bus)
{
	(void)d, (void)bus;
	return "torso";
}

unsigned int drv_row_bus(const struct drv *d, unsigned int row)
{
	(void)d, (void)row;
	return 0;
}

bool drv_bus_dead(const struct drv *d, unsigned int bus)
{
	(void)d, (void)bus;
	return false;
}

struct drv_ref_limits *drv_limits(struct drv *d, unsigned int joint)
{
	return &d->limits[joint];
}

void drv_not_driven(struct drv *d, unsigned int joint, bool stopped)
{
	d->not_driven[joint] = stopped ? 2 : 1;
}

void drv_hand_over(struct drv *d)
{
	d->handed_over = d->sent_n;
}

int drv_send(struct drv *d, unsigned int send, const struct frame *frame)
{
	size_t len = strlen(d->frames);
	bool queued = frame->id < 0x0E0 || (frame->id < 0x100 && frame->data[0] != 0x02 && frame->data[0] != 0x0B);

	if (queued && !d->room)
		return -ENOSPC;
	d->room -= queued;
	len += (size_t)snprintf(d->frames + len, sizeof(d->frames) - len, "%s%03X#", len ? " " : "", frame->id);
	for (unsigned int i = 0; i < frame->len; i++)
		len += (size_t)snprintf(d->frames + len, sizeof(d->frames) - len, "%02X", frame->data[i]);
	TEST_ASSERT_TRUE(d->sent_n < QUEUE_MAX);
	d->sent_rows[d->sent_n] = send;
	d->sent[d->sent_n++] = *frame;
	return 0;
}

int drv_send_stop(struct drv *d, unsigned int send, const struct frame *frame)
{
	d->stops++;
	return drv_send(d, send, frame);
}

int drv_ask(struct drv *d, unsigned int question, const struct frame *request, uint32_t tag)
{
	int status = drv_ask_may(&d->asks, question, request);

	if (!status)
		status = drv_send(d, d->asks.questions[question].row.send, request);
	if (!status)
		drv_ask_put(&d->asks, question, request, tag, orders.now_ns);
	return status;
}

int drv_ask_stop(struct drv *d, unsigned int question, const struct frame *request, uint32_t tag)
{
	const int status = drv_ask(d, question, request, tag);

	d->stops += !status;
	return status;
}

int64_t drv_heard_ns(const struct drv *d, unsigned int row)
{
	return d->heard_ns[row];
}

int64_t drv_paused_ns(const struct drv *d, unsigned int bus, int64_t t_ns)
{
	(void)d;
	(void)bus;
	(void)t_ns;
	return 0;
}

void drv_await(struct drv *d, unsigned int bus, unsigned int answers, uint8_t len)
{
	(void)d;
	(void)bus;
	(void)answers;
	(void)len;
}

void drv_cancel(struct drv *d, unsigned int send)
{
	(void)send;
	d->cancelled++;
}

void drv_fault(struct drv *d, unsigned int joint, const char *code, const char *fmt, ...)
{
	(void)joint, (void)fmt;
	snprintf(d->fault, sizeof(d->fault), "%s", code);
}

void drv_fault_clear(struct drv *d, unsigned int joint, const char *code)
{
	(void)joint;
	if (!strcmp(code, d->fault))
		*d->fault = '\0';
}

void drv_event(struct drv *d, enum msg_severity severity, const char *code, const char *fmt, ...)
{
	(void)severity, (void)fmt;
	TEST_ASSERT_TRUE(*code);
	strncat(d->events, code, sizeof(d->events) - strlen(d->events) - 2);
	strcat(d->events, " ");
}

void drv_latch(struct drv *d, uint32_t latches, const char *code, const char *fmt, ...)
{
	(void)code, (void)fmt;
	d->latches |= latches;
}

/* With the next state, which is at the end of the tick. */
void drv_unlatch(struct drv *d, uint32_t latches)
{
	d->unlatching = latches;
}

uint32_t drv_latched(const struct drv *d)
{
	return d->latches;
}

const void *drv_previous(const struct drv *d)
{
	return d->previous;
}

void drv_homing(struct drv *d, bool homing)
{
	d->homing = homing;
}

void drv_why(struct drv *d, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(d->why, sizeof(d->why), fmt, args);
	va_end(args);
}

void drv_reply(struct drv *d, uint32_t handle, int result, const char *fmt, ...)
{
	va_list args;

	TEST_ASSERT_FALSE_MESSAGE(d->replied, "answered twice");
	TEST_ASSERT_EQUAL(HANDLE, handle);
	va_start(args, fmt);
	vsnprintf(d->reply, sizeof(d->reply), fmt, args);
	va_end(args);
	d->replied = true;
	d->result = result;
}

/* ---- ticks ---- */

static void obey(struct module *m, const struct frame *frame)
{
	if (frame->id < 0x0E0)
		return;
	switch (frame->data[0]) {
	case 0x00:
		m->state &= PCIO_STATE_HOMED;
		break;
	case 0x01:
		m->state = PCIO_STATE_MOVING;
		break;
	case 0x02:
		if (m->ignores_halt)
			break;
		m->state |= PCIO_STATE_HALTED;
		m->state &= ~(uint32_t)PCIO_STATE_MOVING;
		break;
	case 0x08:
		memcpy(&m->config, frame->data + 2, 4);
		break;
	}
}

static bool receive(unsigned int joint, const struct bus_frame *got)
{
	struct drv_ask_answer a;

	drv.heard_ns[joint] = got->t_ns;
	switch (drv_ask_reply(&drv.asks, joint, &got->frame, got->t_ns, &a)) {
	case DRV_ASK_ANSWER:
		return pciod_answer(&p, &drv, &a, got);
	case DRV_ASK_NOTHING:
		return pciod_rx(&p, &drv, joint, got);
	default:
		return false;
	}
}

static bool answer(const struct frame *request, int64_t t_ns)
{
	struct module *m = &modules[(request->id & 0x1F) - FIRST];
	struct bus_frame got = { .t_ns = t_ns, .frame = { .id = 0x0A0 + (request->id & 0x1F), .len = 6 } };
	const float one = 1;

	memcpy(got.frame.data, request->data, 2);
	memcpy(got.frame.data + 2, &one, 4);
	switch (request->data[0]) {
	case 0x0A:
		if (request->data[1] == PCIO_STATE)
			memcpy(got.frame.data + 2, &m->state, 4);
		else if (request->data[1] == PCIO_CONFIG)
			memcpy(got.frame.data + 2, &m->config, 4);
		else if (request->data[1] == PCIO_MAX_POSITION)
			got.frame.data[5] = 0x40; /* 4 */
		got.frame.len = request->data[1] == PCIO_VERSION ? 4 : 6;
		break;
	case 0x08:
		got.frame.data[2] = 0x64;
		got.frame.len = 3;
		break;
	case 0x0B:
		if (request->data[1] < 14)
			got.frame.data[2] = 0x64;
		got.frame.len = request->data[1] < 14 ? 3 : 8;
		break;
	default:
		got.frame.len = 1;
	}
	return receive((request->id & 0x1F) - FIRST, &got);
}

/* What was put goes onto the wire 1 ms after the tick, and is answered 1 ms later. */
static bool wire(void)
{
	bool complete = false;
	unsigned int i;

	for (i = 0; i < drv.sent_n; i++) {
		drv.room = QUEUE_MAX;
		drv_ask_sent(&drv.asks, drv.sent_rows[i], &drv.sent[i], orders.now_ns + MS);
		pciod_sent(&p, &drv, drv.sent_rows[i], &drv.sent[i], orders.now_ns + MS);
	}
	for (i = 0; i < drv.sent_n; i++) {
		const struct frame request = drv.sent[i];

		if (request.id == 0x100 || modules[(request.id & 0x1F) - FIRST].mute)
			continue;
		obey(&modules[(request.id & 0x1F) - FIRST], &request);
		complete |= answer(&request, orders.now_ns + 2 * MS);
	}
	drv.sent_n = 0;
	drv.latches &= ~drv.unlatching;
	drv.unlatching = 0;
	return complete;
}

static void due(void)
{
	struct drv_ask_answer a;

	while (drv_ask_due(&drv.asks, orders.now_ns, &a) == DRV_ASK_UNANSWERED)
		pciod_answer(&p, &drv, &a, NULL);
}

static void next_tick(void)
{
	orders.now_ns += 5 * MS;
	orders.tick_ns = orders.now_ns;
	orders.tick++;
	due();
	drv.sent_n = 0;
	drv.room = QUEUE_MAX;
	*drv.frames = '\0';
}

static bool tick(void)
{
	next_tick();
	pciod_tick(&p, &drv, &orders);
	return wire();
}

static void start_up(void)
{
	for (unsigned int i = 0; i < 20; i++) {
		enum drv_step step;

		next_tick();
		step = pciod_start(&p, &drv, &orders);
		wire();
		if (step == DRV_DONE)
			return;
	}
	TEST_FAIL_MESSAGE("it is not up after 20 ticks");
}

static void level(enum msg_level to)
{
	orders.level = to;
	orders.armed = to == MSG_LEVEL_RUN;
	orders.life = to == MSG_LEVEL_ESTOP ? MSG_LIFE_DISARMED : MSG_LIFE_HOLDING;
}

static void add_question(struct pciod_joint *j, enum pcio_send kind)
{
	const bool two = kind == PCIO_SEND_GET || kind == PCIO_SEND_MOVE;
	const struct drv_question question = { .send = j->sends[kind],
					       .receive = j->receive,
					       .only = { 1, kind == PCIO_SEND_MOVE ? 0x10 : 0, 0x10 },
					       .echo = { { 0, 0, 0xFF }, { 1, 1, two ? 0xFF : 0 } },
					       .late_ns = p.settings.reply_late_ns,
					       .lost_ns = p.settings.reply_lost_ns };

	if (kind != PCIO_SEND_HALT && kind != PCIO_SEND_WATCHDOG)
		j->questions[kind] = (unsigned int)drv_ask_add(&drv.asks, &question);
}

void setUp(void)
{
	memset(&p, 0, sizeof(p));
	memset(&drv, 0, sizeof(drv));
	memset(commands, 0, sizeof(commands));
	orders = (struct drv_orders){ .now_ns = 1000 * MS, .dt_s = 0.005, .joint = commands };
	p.settings = (struct pciod_settings){ .reply_late_ns = 20 * MS,
					      .reply_lost_ns = 100 * MS,
					      .silent_after_ns = 50 * MS,
					      .watchdog_ns = 50 * MS,
					      .ack_ok = 0x64,
					      .gain_s = 10 };
	p.settings.on_estop = PCIOD_ACTION_HALT;
	p.settings.on_fault = PCIOD_ACTION_HOLD;
	p.joints_n = JOINTS;
	p.buses[0].modules = JOINTS;
	for (unsigned int i = 0; i < JOINTS; i++) {
		modules[i] = (struct module){ .state = PCIO_STATE_HOMED, .config = PCIO_CONFIG_WATCHDOG };
		drv.limits[i] = drv_ref_no_limits;
		commands[i].mode = MSG_MODE_VELOCITY;
		p.joints[i].module.number = FIRST + i;
		for (unsigned int row = 0; row < PCIO_SENDS; row++)
			p.joints[i].sends[row] = row == PCIO_SEND_WATCHDOG ? 2 : i * PCIO_SENDS + row;
		p.joints[i].receive = i;
		for (enum pcio_send kind = 0; kind < PCIO_SENDS; kind++)
			add_question(&p.joints[i], kind);
		snprintf(p.joints[i].name, sizeof(p.joints[i].name), "%u", FIRST + i);
		p.buses[0].joint[FIRST + i] = (uint8_t)(i + 1);
	}
	p.buses[0].watchdog = 2;
	level(MSG_LEVEL_RUN);
	orders.life = MSG_LIFE_STARTING;
}

#define FRAMES(expected) TEST_ASSERT_EQUAL_STRING(expected, drv.frames)
#define ASK4 "0C4#0A27 0C5#0A27 0C4#0A3C 0C5#0A3C 0C4#0A41 0C5#0A41 0C4#0A4D 0C5#0A4D"
#define ASK3 "0C4#0A27 0C5#0A27 0C4#0A41 0C5#0A41 0C4#0A4D 0C5#0A4D"

/* ---- tests ---- */

TEST(the_first_tick_feeds_and_asks)
{
	next_tick();
	TEST_ASSERT_EQUAL(DRV_AGAIN, pciod_start(&p, &drv, &orders));
	FRAMES("100#07 " ASK4);
	TEST_ASSERT_TRUE_MESSAGE(wire(), "the first state is complete");
}

TEST(it_is_up_in_four_ticks_when_nothing_has_to_be_written)
{
	start_up();
	TEST_ASSERT_EQUAL_UINT64(4, orders.tick);
	TEST_ASSERT_EQUAL_STRING("taken-over-4 taken-over-5 ", drv.events);
	TEST_ASSERT_EQUAL_DOUBLE(1, drv.limits[1].position_min_rad);
	TEST_ASSERT_EQUAL_DOUBLE(1, drv.limits[1].velocity_rad_s);
	TEST_ASSERT_EQUAL_STRING("", drv.fault);
}

TEST(a_start_moves_nothing_and_writes_the_config)
{
	commands[0].track_rad_s = commands[1].track_rad_s = 0.25;
	modules[0].config = 0x118;
	for (unsigned int i = 0; i < 10; i++) {
		next_tick();
		pciod_start(&p, &drv, &orders);
		TEST_ASSERT_NULL(strstr(drv.frames, "0E5#"));
		if (i == 2)
			TEST_ASSERT_NOT_NULL_MESSAGE(strstr(drv.frames, "0E4#083918010001"), drv.frames);
		else
			TEST_ASSERT_NULL(strstr(drv.frames, "0E4#"));
		wire();
	}
	TEST_ASSERT_TRUE((p.joints[0].module.phase == PCIOD_UP));
}

TEST(a_move_goes_on_without_the_answer_to_the_last)
{
	start_up();
	level(MSG_LEVEL_RUN);
	commands[0].track_rad_s = 0.25;
	tick();
	modules[0].mute = true;
	tick();
	TEST_ASSERT_NOT_NULL(strstr(drv.frames, "0E4#0B110000803E"));
	tick();
	TEST_ASSERT_NOT_NULL(strstr(drv.frames, "0E4#0B070000803E"));
}

TEST(a_tick_moves_then_asks)
{
	start_up();
	level(MSG_LEVEL_RUN);
	tick();
	FRAMES("0E4#0B1100000000 0E5#0B1100000000 100#07 " ASK3);
	TEST_ASSERT_EQUAL_UINT(2, drv.handed_over); /* the moves, before all that can wait */
	TEST_ASSERT_TRUE(tick());
	FRAMES("0E4#0B1100000000 0E5#0B1100000000 " ASK3); /* fed every 10 ms */
}

TEST(it_is_fed_every_10_ms_whatever_happens)
{
	start_up();
	for (unsigned int i = 0; i < 40; i++) {
		level(i < 10 ? MSG_LEVEL_ESTOP : i < 20 ? MSG_LEVEL_HOLD : MSG_LEVEL_RUN);
		if (i == 30)
			modules[0].mute = modules[1].mute = true;
		tick();
		TEST_ASSERT_EQUAL_MESSAGE(i % 2 == 0, strstr(drv.frames, "100#07") != NULL, drv.frames);
	}
	TEST_ASSERT_EQUAL_INT64(10 * MS, pciod_feed_period_ns(&p));
	p.settings.watchdog_ns = 20 * MS;
	TEST_ASSERT_EQUAL_INT64(5 * MS, pciod_feed_period_ns(&p));
}

TEST(questions_without_room_are_asked_later)
{
	next_tick();
	drv.room = 3;
	pciod_start(&p, &drv, &orders);
	FRAMES("100#07 0C4#0A27 0C5#0A27 0C4#0A3C");
	TEST_ASSERT_TRUE(wire());
	FRAMES("100#07 " ASK4);
}

TEST(an_estop_cancels_and_halts_and_run_resets)
{
	start_up();
	level(MSG_LEVEL_RUN);
	tick();
	level(MSG_LEVEL_ESTOP);
	TEST_ASSERT_EQUAL_UINT(0, drv.cancelled);
	tick();
	TEST_ASSERT_EQUAL_UINT(6, drv.cancelled); /* moves, commands and homing of both */
	FRAMES("0E4#02 0E5#02 " ASK4);
	tick();
	FRAMES("100#07 " ASK4);
	level(MSG_LEVEL_RUN);
	tick();
	FRAMES("0E4#00 0E5#00 " ASK4);
	tick();
	tick();
	tick();
	FRAMES("0E4#0B1100000000 0E5#0B1100000000 100#07 " ASK3);
	TEST_ASSERT_EQUAL_STRING("", drv.fault);
}

/* Module 4 heard its halt and took no notice: the state word that was asked after it says so. */
TEST(a_halt_on_the_wire_is_waited_for_no_longer_than_its_answer)
{
	start_up();
	level(MSG_LEVEL_RUN);
	tick();
	level(MSG_LEVEL_ESTOP);
	modules[0].ignores_halt = true;
	tick();
	level(MSG_LEVEL_RUN);
	tick();
	FRAMES("0E5#00 100#07 " ASK4);
	tick();
	TEST_ASSERT_NOT_NULL(strstr(drv.frames, "0E4#0B1100000000"));
}

TEST(or_it_holds)
{
	p.settings.on_estop = PCIOD_ACTION_HOLD;
	start_up();
	level(MSG_LEVEL_RUN);
	commands[0].track_rad_s = commands[1].track_rad_s = 0.25;
	tick();
	TEST_ASSERT_NOT_NULL(strstr(drv.frames, "0E4#0B110000803E"));
	level(MSG_LEVEL_ESTOP);
	commands[0].track_rad_s = 0; /* as the loop brakes it */
	commands[1].track_rad_s = 0.125;
	commands[1].mode = MSG_MODE_CURRENT;
	drv.stops = 0;
	tick();
	FRAMES("0E4#0B1100000000 0E5#0B110000003E " ASK3);
	TEST_ASSERT_EQUAL(2, drv.stops);
}

TEST(one_fault_halts_the_others_if_set_so)
{
	p.settings.on_fault = PCIOD_ACTION_HALT;
	start_up();
	level(MSG_LEVEL_RUN);
	tick();
	modules[0].state |= PCIO_STATE_ERROR | PCIO_STATE_HALTED | PCIO_STATE_TOW_ERROR;
	tick();
	tick();
	TEST_ASSERT_EQUAL_STRING("tow-error-4", drv.fault);
	orders.life = MSG_LIFE_FAULT;
	tick();
	FRAMES("0E5#02 " ASK4);
}

TEST(by_default_they_hold)
{
	start_up();
	level(MSG_LEVEL_RUN);
	modules[0].state |= PCIO_STATE_ERROR | PCIO_STATE_HALTED | PCIO_STATE_TOW_ERROR;
	tick();
	tick();
	orders.life = MSG_LIFE_FAULT;
	tick();
	TEST_ASSERT_EQUAL_STRING("tow-error-4", drv.fault);
	TEST_ASSERT_NULL(strstr(drv.frames, "0E4#"));
	TEST_ASSERT_NULL_MESSAGE(strstr(drv.frames, "0E5#"), "it stands, with servo on");
	modules[0].state |= PCIO_STATE_OVERLOAD | PCIO_STATE_ERROR;
	*drv.events = '\0';
	tick();
	tick();
	TEST_ASSERT_EQUAL_STRING("overload-4", drv.fault);
	modules[0].state |= PCIO_STATE_SHORT_CIRCUIT; /* the same code, other words */
	tick();
	tick();
	TEST_ASSERT_EQUAL_STRING("short-circuit-4", drv.fault);
}

TEST(a_silent_module_makes_samples_partial_then_a_fault_and_comes_back)
{
	unsigned int ticks;

	start_up();
	level(MSG_LEVEL_RUN);
	TEST_ASSERT_TRUE(tick());
	modules[1].mute = true;
	for (ticks = 0; !*drv.fault && ticks < 30; ticks++)
		TEST_ASSERT_FALSE(tick());
	TEST_ASSERT_EQUAL_STRING("silent-5", drv.fault);
	TEST_ASSERT_TRUE(ticks <= 12);
	modules[1].mute = false;
	for (ticks = 0; *drv.fault && ticks < 30; ticks++)
		tick();
	TEST_ASSERT_EQUAL_STRING("", drv.fault);
	/* It was heard; unanswered questions are repeated when no late answer can come any more. */
	for (ticks = 0; !tick() && ticks < 30; ticks++)
		;
	TEST_ASSERT_TRUE(ticks < 30);
}

TEST(missing_feeds_explain_a_comm_error)
{
	start_up();
	level(MSG_LEVEL_RUN);
	for (unsigned int i = 0; i < 50; i++)
		tick();
	orders.now_ns += 30 * MS; /* stopped, for more than half of module_watchdog */
	for (unsigned int i = 0; i < JOINTS; i++)
		modules[i].state |= PCIO_STATE_ERROR | PCIO_STATE_HALTED | PCIO_STATE_COMM_ERROR;
	*drv.events = '\0';
	for (unsigned int i = 0; i < 8; i++)
		tick();
	TEST_ASSERT_EQUAL_STRING("comm-cleared-4 comm-cleared-5 ", drv.events);
	TEST_ASSERT_EQUAL_STRING("", drv.fault);
	for (unsigned int i = 0; i < 50; i++)
		tick();
	modules[0].state |= PCIO_STATE_ERROR | PCIO_STATE_HALTED | PCIO_STATE_COMM_ERROR;
	for (unsigned int i = 0; i < 8; i++)
		tick();
	TEST_ASSERT_EQUAL_STRING("comm-error-4", drv.fault);
}

TEST(without_the_clock_synchronous_modules_are_halted)
{
	struct bus_frame clock = { .frame = { .id = 0x100, .len = 1, .data = { 0x0F } } };

	p.settings.sync_motion = true;
	modules[0].config = modules[1].config = PCIO_CONFIG_WATCHDOG | PCIO_CONFIG_SYNC_MOTION;
	next_tick();
	pciod_start(&p, &drv, &orders);
	TEST_ASSERT_EQUAL_STRING("clock-lost", drv.fault);
	for (unsigned int i = 0; i < 20; i++) {
		clock.t_ns = orders.now_ns;
		TEST_ASSERT_FALSE(pciod_rx(&p, &drv, 0, &clock));
		wire();
		next_tick();
		pciod_start(&p, &drv, &orders);
	}
	TEST_ASSERT_EQUAL_STRING("", drv.fault);
	level(MSG_LEVEL_RUN);
	for (unsigned int i = 0; i < 9; i++) {
		tick();
		TEST_ASSERT_NULL(strstr(drv.frames, "#02"));
	}
	tick();
	tick();
	TEST_ASSERT_EQUAL_STRING("clock-lost", drv.fault);
	TEST_ASSERT_NOT_NULL(strstr(drv.frames, "0E4#02"));
	TEST_ASSERT_NOT_NULL(strstr(drv.frames, "0E5#02"));
}

TEST(at_the_end_it_stands_then_it_is_halted)
{
	start_up();
	level(MSG_LEVEL_RUN);
	tick();
	modules[0].state |= PCIO_STATE_MOVING;
	tick();
	orders.life = MSG_LIFE_STOPPING;
	commands[0].track_rad_s = 0.00390625; /* the ramp's */
	next_tick();
	TEST_ASSERT_EQUAL(DRV_AGAIN, pciod_stop(&p, &drv, &orders));
	FRAMES("0E4#0B110000803B 0E5#02 100#07 0C4#0A27 0C5#0A27 0C5#0A3C 0C4#0A41 0C5#0A41 0C4#0A4D 0C5#0A4D");
	wire();
	modules[0].state &= ~(uint32_t)PCIO_STATE_MOVING;
	next_tick();
	pciod_stop(&p, &drv, &orders);
	wire();
	next_tick();
	TEST_ASSERT_EQUAL(DRV_AGAIN, pciod_stop(&p, &drv, &orders));
	TEST_ASSERT_NOT_NULL(strstr(drv.frames, "0E4#02"));
	wire();
	next_tick();
	TEST_ASSERT_EQUAL(DRV_DONE, pciod_stop(&p, &drv, &orders));
}

TEST(a_module_that_does_not_stand_is_halted_in_time)
{
	unsigned int ticks;

	start_up();
	modules[0].state |= PCIO_STATE_MOVING;
	tick();
	for (ticks = 0; ticks < 100; ticks++) {
		next_tick();
		if (pciod_stop(&p, &drv, &orders) == DRV_DONE)
			break;
		wire();
	}
	TEST_ASSERT_TRUE(ticks > 58 && ticks < 66);
	setUp();
	start_up();
	modules[0].mute = modules[1].mute = true; /* silent: there is nothing to wait for */
	for (ticks = 0; ticks < 100; ticks++) {
		next_tick();
		if (pciod_stop(&p, &drv, &orders) == DRV_DONE)
			break;
		wire();
	}
	TEST_ASSERT_TRUE(ticks < 20);
}

/* ---- what is published ---- */

TEST(a_state_says_what_is_known)
{
	static struct msg_joint_state state;

	TEST_ASSERT_EQUAL_INT64(0, pciod_fill(&p, &drv, &state, 0));
	TEST_ASSERT_EQUAL_UINT32(2, state.count);
	TEST_ASSERT_TRUE(isnan(state.position[0]));
	TEST_ASSERT_EQUAL_INT64(INT64_MAX, state.age_ns[0]);
	TEST_ASSERT_EQUAL_HEX32(MSG_JOINT_SILENT, state.status[0]);
	modules[1].mute = true;
	next_tick();
	pciod_start(&p, &drv, &orders);
	wire();
	TEST_ASSERT_EQUAL_INT64(orders.now_ns + 2 * MS, pciod_fill(&p, &drv, &state, orders.now_ns + 5 * MS));
	TEST_ASSERT_EQUAL_STRING("4", state.joint[0]);
	TEST_ASSERT_EQUAL_STRING("5", state.joint[1]);
	TEST_ASSERT_EQUAL_DOUBLE(1, state.position[0]);
	TEST_ASSERT_EQUAL_DOUBLE(1, state.velocity[0]);
	TEST_ASSERT_EQUAL_DOUBLE(1, state.current[0]);
	TEST_ASSERT_TRUE(isnan(state.temperature[0]));
	TEST_ASSERT_EQUAL_INT64(3 * MS, state.age_ns[0]);
	TEST_ASSERT_EQUAL_HEX32(PCIO_STATE_HOMED, state.state_word[0]);
	TEST_ASSERT_TRUE(isnan(state.position[1]));
}

TEST(frames_of_other_modules_are_ignored)
{
	struct bus_frame got = { .t_ns = 1, .frame = { .id = 0x0A9, .len = 1 } };

	TEST_ASSERT_FALSE(pciod_rx(&p, &drv, 0, &got)); /* before the first tick, too */
	start_up();
	TEST_ASSERT_FALSE(pciod_rx(&p, &drv, 0, &got));
	got.frame = (struct frame){ .id = 0x0A4, .len = 2, .data = { 0xFF } };
	*drv.events = '\0';
	pciod_rx(&p, &drv, 0, &got);
	got.frame = (struct frame){ .id = 0x0A4, .len = 3, .data = { 0x0B, 0x07, 0x01 } };
	pciod_rx(&p, &drv, 0, &got);
	TEST_ASSERT_EQUAL_STRING("odd-4 refused-4 ", drv.events);
}

TEST(only_a_lost_reset_is_put_again)
{
	modules[0].state |= PCIO_STATE_ERROR | PCIO_STATE_HALTED | PCIO_STATE_COMM_ERROR;
	for (unsigned int i = 0; i < 20 && p.joints[0].module.a.state != PCIOD_ACTUATOR_RESET_PUT; i++) {
		wire();
		next_tick();
		pciod_start(&p, &drv, &orders);
	}
	for (unsigned int i = 0; i < drv.sent_n; i++) {
		const bool reset = drv.sent[i].id == 0x0E4 && drv.sent[i].data[0] == 0;

		TEST_ASSERT_EQUAL(PCIOD_ACTUATOR_RESET_PUT, p.joints[0].module.a.state);
		pciod_lost(&p, &drv, 99, &drv.sent[i]); /* not ours */
		if (reset)
			continue;
		pciod_lost(&p, &drv, drv.sent_rows[i], &drv.sent[i]);
		TEST_ASSERT_EQUAL(PCIOD_ACTUATOR_RESET_PUT, p.joints[0].module.a.state);
	}
	for (unsigned int i = 0; i < drv.sent_n; i++)
		if (drv.sent[i].id == 0x0E4)
			pciod_lost(&p, &drv, drv.sent_rows[i], &drv.sent[i]);
	TEST_ASSERT_EQUAL(PCIOD_ACTUATOR_BLOCKED, p.joints[0].module.a.state);
}

/* ---- requests ---- */

static int ask(enum msg_verb verb, const char *key)
{
	struct msg_request request = { .verb = verb };

	snprintf(request.key, sizeof(request.key), "%s", key);
	drv.replied = false;
	*drv.why = '\0';
	return pciod_request(&p, &drv, HANDLE, &request, orders.now_ns);
}

static void ready(void)
{
	start_up();
	level(MSG_LEVEL_RUN);
	tick();
	tick();
}

TEST(home_all_is_one_after_the_other)
{
	ready();
	TEST_ASSERT_EQUAL_INT(DRV_LATER, ask(MSG_VERB_HOME, ""));
	TEST_ASSERT_TRUE(drv.homing);
	tick();
	TEST_ASSERT_NOT_NULL(strstr(drv.frames, "0E4#01"));
	TEST_ASSERT_NOT_NULL(strstr(drv.frames, "0E5#0B"));
	tick();
	TEST_ASSERT_NULL(strstr(drv.frames, "0E4#"));
	modules[0].state = PCIO_STATE_HOMED;
	for (unsigned int i = 0; i < 30 && !strstr(drv.frames, "0E5#01"); i++)
		tick();
	TEST_ASSERT_NOT_NULL(strstr(drv.frames, "0E5#01"));
	TEST_ASSERT_FALSE(drv.replied);
	tick();
	modules[1].state = PCIO_STATE_HOMED;
	for (unsigned int i = 0; i < 30; i++)
		tick();
	TEST_ASSERT_TRUE(drv.replied);
	TEST_ASSERT_EQUAL_INT(0, drv.result);
	TEST_ASSERT_FALSE(drv.homing);
	TEST_ASSERT_NOT_NULL(strstr(drv.frames, "0E5#0B"));
}

static void begin_home(void)
{
	setUp();
	ready();
	TEST_ASSERT_EQUAL_INT(DRV_LATER, ask(MSG_VERB_HOME, "5"));
	tick();
	TEST_ASSERT_NOT_NULL(strstr(drv.frames, "0E5#01"));
	tick();
	TEST_ASSERT_FALSE(drv.replied);
}

static void ended(int result, const char *reply)
{
	TEST_ASSERT_TRUE(drv.replied);
	TEST_ASSERT_EQUAL_STRING(reply, drv.reply);
	TEST_ASSERT_EQUAL_INT(result, drv.result);
	TEST_ASSERT_FALSE(drv.homing);
}

TEST(homing_is_ended_by)
{
	begin_home();
	level(MSG_LEVEL_ESTOP);
	tick();
	ended(-ECANCELED, "module 5: not homed: level estop");
	TEST_ASSERT_NOT_NULL(strstr(drv.frames, "0E5#02"));

	begin_home();
	level(MSG_LEVEL_HOLD);
	tick();
	ended(-ECANCELED, "module 5: not homed: level hold");
	TEST_ASSERT_NOT_NULL(strstr(drv.frames, "0E5#0B1100000000"));

	begin_home();
	next_tick();
	pciod_stop(&p, &drv, &orders);
	ended(-ECANCELED, "module 5: not homed: the driver was asked to stop");

	begin_home();
	modules[0].state |= PCIO_STATE_ERROR;
	tick();
	tick();
	tick();
	ended(-EIO, "module 5: not homed: module 4: error; the request clear resets it, once the cause is gone");

	begin_home();
	for (unsigned int i = 0; i < 11990; i++)
		tick();
	TEST_ASSERT_FALSE(drv.replied);
	for (unsigned int i = 0; i < 20; i++)
		tick();
	ended(-ETIMEDOUT, "module 5: not homed: it takes longer than a minute");
}

TEST(homing_is_cancelled)
{
	begin_home();
	modules[1].state = PCIO_STATE_MOVING;
	tick();
	TEST_ASSERT_EQUAL_INT(0, pciod_cancel(&p, &drv, HANDLE, -ECANCELED));
	TEST_ASSERT_FALSE(drv.homing);
	tick();
	TEST_ASSERT_NOT_NULL(strstr(drv.frames, "0E5#0B1100000000"));
	TEST_ASSERT_EQUAL_HEX32(MSG_LATCH_HOMING_ABORTED, drv.latches);
	TEST_ASSERT_FALSE_MESSAGE(drv.replied, "the loop answers");
}

/* The reset runs to its end, but ends no latch: its client does not wait for it any more. */
TEST(clearing_is_cancelled)
{
	ready();
	modules[1].state |= PCIO_STATE_HALTED;
	tick();
	tick();
	TEST_ASSERT_EQUAL_HEX32(MSG_LATCH_HALTED_BY_OTHER, drv.latches);
	TEST_ASSERT_EQUAL_INT(DRV_LATER, ask(MSG_VERB_CLEAR, "5"));
	TEST_ASSERT_EQUAL_INT(0, pciod_cancel(&p, &drv, HANDLE, -ETIMEDOUT));
	for (unsigned int i = 0; i < 10; i++)
		tick();
	TEST_ASSERT_FALSE(modules[1].state & PCIO_STATE_HALTED);
	TEST_ASSERT_EQUAL_HEX32(MSG_LATCH_HALTED_BY_OTHER, drv.latches);
	TEST_ASSERT_FALSE(drv.replied);
}

TEST(an_unknown_request_is_refused)
{
	TEST_ASSERT_EQUAL_INT(-EAGAIN, ask(MSG_VERB_CLEAR, ""));
	ready();
	TEST_ASSERT_EQUAL_INT(-EINVAL, ask(MSG_VERB_HOME, "6"));
	TEST_ASSERT_EQUAL_STRING("6: this driver has no such module", drv.why);
	TEST_ASSERT_EQUAL_INT(-EINVAL, ask(MSG_VERB_CLEAR, "06"));
	TEST_ASSERT_EQUAL_INT(-EINVAL, ask(MSG_VERB_RESET, ""));
	TEST_ASSERT_EQUAL_INT(0, ask(MSG_VERB_CLEAR, ""));
	TEST_ASSERT_EQUAL_STRING("nothing to clear", drv.why);
	level(MSG_LEVEL_ESTOP);
	tick();
	tick();
	TEST_ASSERT_EQUAL_INT(-EPERM, ask(MSG_VERB_HOME, ""));
	TEST_ASSERT_EQUAL_STRING("module 4 is halted", drv.why);
	TEST_ASSERT_FALSE(drv.homing);
}

TEST(clear_resets_what_it_can)
{
	ready();
	modules[0].state |= PCIO_STATE_ERROR | PCIO_STATE_HALTED | PCIO_STATE_TOW_ERROR;
	modules[1].state |= PCIO_STATE_ERROR | PCIO_STATE_HALTED | PCIO_STATE_OVERLOAD;
	tick();
	tick();
	TEST_ASSERT_EQUAL_INT(-EPERM, ask(MSG_VERB_RESET, "5"));
	TEST_ASSERT_EQUAL_STRING("module 5: overload; switch its power off and on", drv.why);
	TEST_ASSERT_EQUAL_INT(DRV_LATER, ask(MSG_VERB_CLEAR, ""));
	tick();
	TEST_ASSERT_NOT_NULL(strstr(drv.frames, "0E4#00"));
	TEST_ASSERT_NULL(strstr(drv.frames, "0E5#00"));
	for (unsigned int i = 0; i < 5; i++)
		tick();
	ended(-EPERM, "module 5: overload; switch its power off and on");
	modules[1].state = PCIO_STATE_HOMED;
	modules[0].state |= PCIO_STATE_ERROR | PCIO_STATE_HALTED | PCIO_STATE_TOW_ERROR;
	tick();
	tick();
	TEST_ASSERT_EQUAL_INT(DRV_LATER, ask(MSG_VERB_RESET, "4"));
	for (unsigned int i = 0; i < 5; i++)
		tick();
	ended(0, "cleared");
	TEST_ASSERT_EQUAL_STRING("", drv.fault);
}

TEST(a_clear_that_does_not_help_says_so)
{
	ready();
	modules[0].state |= PCIO_STATE_ERROR | PCIO_STATE_HALTED;
	tick();
	tick();
	TEST_ASSERT_EQUAL_INT(DRV_LATER, ask(MSG_VERB_CLEAR, "4"));
	for (unsigned int i = 0; i < 60; i++) {
		modules[0].state |= PCIO_STATE_ERROR | PCIO_STATE_HALTED;
		tick();
	}
	ended(-EIO, "module 4: error; a reset did not clear it; is the cause gone?");
	tick();
	TEST_ASSERT_EQUAL_INT(DRV_LATER, ask(MSG_VERB_CLEAR, "4"));
	modules[0].mute = true;
	for (unsigned int i = 0; i < 60; i++)
		tick();
	ended(-EIO, "module 4: error; a reset did not clear it; is the cause gone?");
	TEST_ASSERT_EQUAL_STRING("silent-4", drv.fault);
}
