/* test_drv_calls.c: what a driver may declare, ask and tell; an undeclared frame cannot leave.
 * Also for drv_fault.c, drv_declare.c. */
#include <math.h>

#include "channels/ach/ach.h"
#include "channels/clock/clock.h"
#include "daemons/drv/drv_inside.h"
#include "test/daemons/drv/test_drv_lib.h"
#include "test/lib/testcase.h"

void setUp(void)
{
	drv_lib_begin();
}

void tearDown(void)
{
	drv_lib_end();
}

#define ON_WIRES "--name arm --bus left=wire:nowhere --bus vcan98 --set lock_memory=no"

static char first_line[256];

static void keep(void *to, const char *line)
{
	(void)to;
	if (!*first_line)
		snprintf(first_line, sizeof(first_line), "%s", line);
}

static struct error_sink kept(void)
{
	*first_line = 0;
	return (struct error_sink){ keep, NULL, 0 };
}

static int status;
#define DRIVER fake.drv

/* ---- what it was given ---- */

static int check_two_buses(struct drv *drv, struct error_sink *errors)
{
	(void)errors;
	TEST_ASSERT_EQUAL(2, drv_buses(drv));
	TEST_ASSERT_EQUAL(0, drv_bus(drv, "left"));
	TEST_ASSERT_EQUAL(1, drv_bus(drv, "vcan98"));
	TEST_ASSERT_EQUAL(-ENOENT, drv_bus(drv, "right"));
	TEST_ASSERT_EQUAL_STRING("left", drv_bus_name(drv, 0));
	TEST_ASSERT_EQUAL_STRING("vcan98", drv_bus_name(drv, 1));
	TEST_ASSERT_EQUAL_STRING("wire:nowhere", drv_bus_interface(drv, 0));
	TEST_ASSERT_NULL(drv_robot_bus(drv, 0));
	TEST_ASSERT_EQUAL(7 * DRV_LIB_MS, drv_period_ns(drv));
	TEST_ASSERT_TRUE(isinf(drv_limits(drv, 0)->velocity_rad_s));
	return 0;
}

TEST(given_on_the_line)
{
	fake.declare = check_two_buses;
	TEST_ASSERT_EQUAL(0, drv_lib_main(ON_WIRES " --set tick=7ms --check"));
}

static bool balances;

static int check_the_file(struct drv *drv, struct error_sink *errors)
{
	(void)errors;
	TEST_ASSERT_EQUAL(1, drv_buses(drv));
	TEST_ASSERT_EQUAL(0, drv_bus(drv, "main"));
	TEST_ASSERT_EQUAL(0, drv_bus(drv, "lab"));
	TEST_ASSERT_EQUAL(250000, drv_robot_bus(drv, 0)->bitrate);
	/* Those of the file; what it does not say is not limited. */
	TEST_ASSERT_EQUAL_DOUBLE(-1, drv_limits(drv, 0)->position_min_rad);
	TEST_ASSERT_EQUAL_DOUBLE(2, drv_limits(drv, 0)->position_max_rad);
	TEST_ASSERT_EQUAL_DOUBLE(3, drv_limits(drv, 0)->velocity_rad_s);
	TEST_ASSERT_EQUAL_DOUBLE(4, drv_limits(drv, 0)->acceleration_rad_s2);
	TEST_ASSERT_EQUAL_DOUBLE(5, drv_limits(drv, 0)->current_a);
	TEST_ASSERT_EQUAL_DOUBLE(6, drv_limits(drv, 0)->step_rad);
	if (balances) /* the full current in one tick */
		TEST_ASSERT_TRUE(isinf(drv_limits(drv, 0)->current_slew_a_s));
	else
		TEST_ASSERT_EQUAL_DOUBLE(100, drv_limits(drv, 0)->current_slew_a_s); /* in 50 ms */
	TEST_ASSERT_EQUAL(1, drv_add_joint(drv, "hand", errors));
	TEST_ASSERT_EQUAL_DOUBLE(0.5, drv_limits(drv, 1)->velocity_rad_s);
	TEST_ASSERT_EQUAL_DOUBLE(4, drv_limits(drv, 1)->acceleration_rad_s2);
	TEST_ASSERT_EQUAL_DOUBLE(7, drv_limits(drv, 1)->current_slew_a_s);
	return 0;
}

static void given_in_the_file_once(void)
{
	char line[256];

	snprintf(line, sizeof(line), "--name arm --check --set balance=%s --config %s", balances ? "yes" : "no",
		 drv_lib_file("lab.yaml", "robot: lab\n"
					  "buses:\n"
					  "  lab: {interface: wire:lab, bitrate: 250000}\n"
					  "devices:\n"
					  "  arm:\n"
					  "    driver: faked\n"
					  "    bus: {main: lab}\n"
					  "    limits:\n"
					  "      position: [-1, 2]\n"
					  "      velocity: 3\n"
					  "      acceleration: 4\n"
					  "      current: 5\n"
					  "      step: 6\n"
					  "      joints: {hand: {velocity: 0.5, current_slew: 7}}\n"));
	fake.declare = check_the_file;
	TEST_ASSERT_EQUAL_MESSAGE(0, drv_lib_main(line), drv_lib.said);
}

TEST(given_in_the_file)
{
	balances = false;
	given_in_the_file_once();
	balances = true;
	given_in_the_file_once();
	TEST_ASSERT_EQUAL(2, fake.plans);
}

/* ---- declaring too much ---- */

static int declare_too_much(struct drv *drv, struct error_sink *none)
{
	struct drv_send send = { .row = { .id = 0x300, .class = SLOTS_LATEST, .period_ns = 1000000 }, .len = 1 };
	struct drv_receive receive = { .id = 0x400, .any_len = true };
	struct error_sink errors = kept();
	int n = 2;

	(void)none;
	send.bus = 2;
	TEST_ASSERT_EQUAL(-EINVAL, drv_add_send(drv, &send, &errors));
	TEST_ASSERT_EQUAL_STRING("frame 300: there is no bus 2", first_line);
	receive.bus = 2;
	errors = kept();
	TEST_ASSERT_EQUAL(-EINVAL, drv_add_receive(drv, &receive, &errors));
	TEST_ASSERT_EQUAL_STRING("frame 400: there is no bus 2", first_line);

	errors = kept();
	receive.bus = 1;
	for (n = 0; n < DRV_BUS_RECEIVES_MAX; n++) /* those of the other bus come first */
		TEST_ASSERT_EQUAL(n + 2, drv_add_receive(drv, &receive, &errors));
	TEST_ASSERT_EQUAL(-ENOSPC, drv_add_receive(drv, &receive, &errors));
	TEST_ASSERT_EQUAL_STRING("more than 256 kinds of frames to receive on one bus", first_line);
	TEST_ASSERT_EQUAL(0, drv_row_bus(drv, 1));
	TEST_ASSERT_EQUAL(1, drv_row_bus(drv, 2));
	drv_joint_absent(drv, 1);
	TEST_ASSERT_TRUE(drv->joint_absent[1] && !drv->joint_absent[0]);

	errors = kept();
	send.bus = 1;
	for (n = 0; n < SLOTS_ROWS_MAX; n++)
		TEST_ASSERT_EQUAL(n + 2, drv_add_send(drv, &send, &errors));
	TEST_ASSERT_EQUAL(-ENOSPC, drv_add_send(drv, &send, &errors));
	TEST_ASSERT_EQUAL_STRING("more than 512 kinds of frames to send on one bus", first_line);
	TEST_ASSERT_EQUAL(0, drv_send_bus(drv, 1));
	TEST_ASSERT_EQUAL(1, drv_send_bus(drv, 2));

	errors = kept();
	for (n = 1; n < MSG_JOINTS; n++)
		TEST_ASSERT_EQUAL(n, drv_add_joint(drv, "finger", &errors));
	TEST_ASSERT_EQUAL(-ENOSPC, drv_add_joint(drv, "finger", &errors));
	TEST_ASSERT_EQUAL_STRING("more than 48 joints", first_line);

	errors = kept();
	for (n = 0; n < DRV_OUTPUTS_MAX; n++)
		TEST_ASSERT_EQUAL(n, drv_add_output(drv, "more", msg_event_number, &errors));
	TEST_ASSERT_EQUAL(-ENOSPC, drv_add_output(drv, "more", msg_event_number, &errors));
	TEST_ASSERT_EQUAL_STRING("more than 24 further channels", first_line);

	errors = kept();
	for (n = 0; n < DRV_CLAIMS_MAX; n++)
		TEST_ASSERT_EQUAL(n, drv_add_claim(drv, 0, "clock", &errors));
	TEST_ASSERT_EQUAL(-ENOSPC, drv_add_claim(drv, 0, "clock", &errors));
	TEST_ASSERT_EQUAL_STRING("more than 16 claims", first_line);
	return 0;
}

TEST(there_is_an_end_to_declaring)
{
	fake.declare = declare_too_much;
	TEST_ASSERT_EQUAL_MESSAGE(0, drv_lib_main(ON_WIRES " --check"), drv_lib.said);
}

/* ---- what large robots need ---- */

static const struct body {
	const char *name;
	unsigned int buses, boards; /* boards: of each bus */
	unsigned int sends[SLOTS_CLASSES], receives;
} bodies[] = {
	{ "an eight-bus Krang", 8, 31, { 1, 1, 2, 3 }, 1 },    { "a Hubo on two buses", 2, 13, { 2, 5, 4, 4 }, 6 },
	{ "a Hubo on one bus", 1, 26, { 2, 5, 4, 4 }, 6 },     { "drives on two buses", 2, 32, { 2, 5, 1, 1 }, 7 },
	{ "64 drives on each bus", 2, 64, { 1, 5, 0, 1 }, 3 },
};
static const struct body *body;

/* One kind for each board, all of it put at once. */
static void plan_board(struct drv *drv, unsigned int bus, unsigned int board)
{
	struct drv_receive receive = { .bus = bus, .id = 0x400 + 8 * board, .any_len = true };
	struct error_sink errors = kept();

	for (unsigned int i = 0; i < body->receives; i++, receive.id++)
		TEST_ASSERT_GREATER_OR_EQUAL_MESSAGE(0, drv_add_receive(drv, &receive, &errors), body->name);
	for (enum slots_class class = 0; class < SLOTS_CLASSES; class ++)
		for (unsigned int i = 0; i < body->sends[class]; i++) {
			const struct drv_send send = { .bus = bus,
						       .row = { .id = (board << 4 | i << 2 | class) & FRAME_STD_MASK,
								.class = class,
								.deadline_ns = 1 },
						       .len = 1 };

			TEST_ASSERT_GREATER_OR_EQUAL_MESSAGE(0, drv_add_send(drv, &send, &errors), body->name);
		}
}

static int declare_body(struct drv *drv, struct error_sink *errors)
{
	for (unsigned int bus = 0; bus < body->buses; bus++) {
		static struct slots slots;
		const struct drv_bus *line = &drv->buses[bus];

		for (unsigned int board = 0; board < body->boards; board++)
			plan_board(drv, bus, board);
		TEST_ASSERT_EQUAL_MESSAGE(0, slots_init(&slots, line->rows, line->sends_n, NULL, errors), body->name);
		for (unsigned int row = 0; row < line->sends_n; row++)
			TEST_ASSERT_EQUAL_MESSAGE(
				0, slots_put(&slots, row, &(struct frame){ .id = line->rows[row].id }, 0), body->name);
	}
	return 0;
}

TEST(large_robots_meet_no_limit)
{
	fake.declare = declare_body;
	for (body = bodies; body < bodies + sizeof(bodies) / sizeof(bodies[0]); body++) {
		char line[256] = "--name arm --check";

		for (unsigned int i = 0; i < body->buses; i++)
			sprintf(line + strlen(line), " --bus wire:%c", 'a' + (int)i);
		TEST_ASSERT_EQUAL_MESSAGE(0, drv_lib_main(line), drv_lib.said);
		TEST_ASSERT_EQUAL_STRING("", drv_lib.said);
	}
}

static int add_long_names(struct drv *drv, struct error_sink *errors)
{
	TEST_ASSERT_EQUAL(1, drv_add_joint(drv, "a-name-that-is-longer-than-it-may-be", errors));
	return 0;
}

TEST(long_names_are_cut)
{
	fake.declare = add_long_names;
	TEST_ASSERT_EQUAL(0, drv_lib_run(10, ""));
	TEST_ASSERT_EQUAL(2, drv_lib_last()->count);
	TEST_ASSERT_EQUAL_STRING("a-name-that-is-longer-t", drv_lib_last()->joint[1]);
}

/* ---- sending ---- */

static struct frame frame_of(uint32_t id, uint8_t len)
{
	return (struct frame){ .id = id, .len = len, .data = { 1, 2, 3, 4, 5, 6, 7, 8 } };
}

static void send_what_is_not_declared(void)
{
	struct frame frame = frame_of(0x203, 2);

	TEST_ASSERT_EQUAL(-EINVAL, drv_send(DRIVER, FAKE_LATEST, &frame)); /* another identifier */
	TEST_ASSERT_EQUAL(-EINVAL, drv_send(DRIVER, FAKE_QUEUE, &frame));
	frame = frame_of(0x201, 2);
	TEST_ASSERT_EQUAL(-EINVAL, drv_send(DRIVER, 2, &frame)); /* no such row */
	TEST_ASSERT_EQUAL(-EINVAL, drv_send(DRIVER, ~0u, &frame));
	frame = frame_of(0x201, 3);
	TEST_ASSERT_EQUAL(-EINVAL, drv_send(DRIVER, FAKE_LATEST, &frame)); /* longer than declared */
	frame = frame_of(FRAME_EXT | 0x201, 2);
	TEST_ASSERT_EQUAL(-EINVAL, drv_send(DRIVER, FAKE_LATEST, &frame));
	frame = frame_of(FRAME_RTR | 0x201, 2);
	TEST_ASSERT_EQUAL(-EINVAL, drv_send(DRIVER, FAKE_LATEST, &frame));
	frame = frame_of(0x202, 9);
	TEST_ASSERT_EQUAL(-EINVAL, drv_send(DRIVER, FAKE_QUEUE, &frame));
	frame = frame_of(0x202, 8);
	TEST_ASSERT_EQUAL(0, drv_send(DRIVER, FAKE_QUEUE, &frame));
	frame = frame_of(0x201, 0);
	TEST_ASSERT_EQUAL(0, drv_send(DRIVER, FAKE_LATEST, &frame)); /* shorter is fine */
}

TEST(frames_that_are_not_declared_cannot_leave)
{
	drv_lib_at(3, send_what_is_not_declared);
	TEST_ASSERT_EQUAL(0, drv_lib_run(20, ""));
	TEST_ASSERT_EQUAL(2, fake.sent_n);
	TEST_ASSERT_EQUAL(0x201, fake.sent[0].id);
	TEST_ASSERT_EQUAL(0x202, fake.sent[1].id);
	TEST_ASSERT_EQUAL(2, drv_lib_last()->common.bus[0].sent);
}

static int add_on_the_second_bus(struct drv *drv, struct error_sink *errors)
{
	static const struct drv_send other = {
		.bus = 1, .row = { .id = 0x203, .class = SLOTS_LATEST, .period_ns = DRV_LIB_TICK_NS }, .len = 2
	};

	TEST_ASSERT_EQUAL(2, drv_add_send(drv, &other, errors));
	TEST_ASSERT_EQUAL(0, drv_add_claim(drv, 1, "clock", errors));
	TEST_ASSERT_EQUAL(1, drv->claims[0].bus);
	TEST_ASSERT_EQUAL_STRING("clock", drv->claims[0].what);
	return 0;
}

static void send_on_the_second_bus(void)
{
	const struct frame frame = frame_of(0x203, 2);

	TEST_ASSERT_EQUAL(0, drv_send(DRIVER, 2, &frame));
	TEST_ASSERT_EQUAL(0, drv_send(DRIVER, 2, &frame));
	drv_cancel(DRIVER, 2);
	TEST_ASSERT_EQUAL(0, drv_send(DRIVER, 2, &frame));
}

TEST(each_bus_has_its_own_frames)
{
	char line[256];

	fake.declare = add_on_the_second_bus;
	drv_lib_at(3, send_on_the_second_bus);
	snprintf(line, sizeof(line), "--bus other=log:%s",
		 drv_lib_file("other.log", "(1.000000) can0 123#\n"
					   "(1.018000) can0 20000080#0000000000000000\n"));
	TEST_ASSERT_EQUAL(0, drv_lib_run(20, line));
	TEST_ASSERT_EQUAL(1, fake.sent_n);
	TEST_ASSERT_EQUAL(2, fake.sent_row);
	TEST_ASSERT_EQUAL(0, drv_lib_last()->common.bus[0].sent);
	TEST_ASSERT_EQUAL(1, drv_lib_last()->common.bus[1].sent);
}

/* Two PDOs and the SYNC behind them, which move. */
static int add_pdos_and_sync(struct drv *drv, struct error_sink *errors)
{
	static const uint32_t ids[] = { 0x080, 0x301, 0x302 };

	for (unsigned int i = 0; i < 3; i++) {
		const struct drv_send send = {
			.row = { .id = ids[i], .class = SLOTS_LATEST, .period_ns = DRV_LIB_TICK_NS, .step = !i },
			.len = 1,
			.moves = true
		};

		TEST_ASSERT_EQUAL(2 + i, drv_add_send(drv, &send, errors));
	}
	return 0;
}

static void send_a_tick(void)
{
	static const uint32_t ids[] = { 0x080, 0x301, 0x302 };

	for (unsigned int i = 0; i < 3; i++) {
		const struct frame frame = frame_of(ids[i], 1);

		TEST_ASSERT_EQUAL(-EPERM, drv_send(DRIVER, 2 + i, &frame)); /* not armed */
		TEST_ASSERT_EQUAL(0, drv_send_stop(DRIVER, 2 + i, &frame));
	}
}

/* Also the tick that stops: PDOs without their SYNC would have no effect. */
TEST(steps_order_what_the_loop_sends)
{
	fake.declare = add_pdos_and_sync;
	drv_lib_at(3, send_a_tick);
	TEST_ASSERT_EQUAL(0, drv_lib_run(20, ""));
	TEST_ASSERT_EQUAL(3, fake.sent_n);
	TEST_ASSERT_EQUAL_HEX32(0x301, fake.sent[0].id);
	TEST_ASSERT_EQUAL_HEX32(0x302, fake.sent[1].id);
	TEST_ASSERT_EQUAL_HEX32(0x080, fake.sent[2].id);
}

static int send_too_early(struct drv *drv, struct error_sink *errors)
{
	const struct frame frame = frame_of(0x201, 2);

	(void)errors;
	TEST_ASSERT_EQUAL(-EINVAL, drv_send(drv, FAKE_LATEST, &frame));
	return 0;
}

TEST(nothing_leaves_from_a_plan)
{
	fake.declare = send_too_early;
	TEST_ASSERT_EQUAL(0, drv_lib_run(20, ""));
	TEST_ASSERT_EQUAL(0, fake.sent_n);
}

static void send_and_cancel(void)
{
	const struct frame latest = frame_of(0x201, 2), queued = frame_of(0x202, 2);

	TEST_ASSERT_EQUAL(0, drv_send(DRIVER, FAKE_LATEST, &latest));
	TEST_ASSERT_EQUAL(0, drv_send(DRIVER, FAKE_QUEUE, &queued));
	drv_cancel(DRIVER, FAKE_QUEUE);
	drv_cancel(DRIVER, 2);
}

TEST(cancelled_frames_do_not_leave)
{
	drv_lib_at(3, send_and_cancel);
	TEST_ASSERT_EQUAL(0, drv_lib_run(20, ""));
	TEST_ASSERT_EQUAL(1, fake.sent_n);
	TEST_ASSERT_EQUAL(0x201, fake.sent[0].id);
}

static void fill_the_queue(void)
{
	const struct frame frame = frame_of(0x202, 8);

	for (int i = 0; i < SLOTS_QUEUE_MAX; i++)
		TEST_ASSERT_EQUAL(0, drv_send(DRIVER, FAKE_QUEUE, &frame));
	TEST_ASSERT_EQUAL(-ENOSPC, drv_send(DRIVER, FAKE_QUEUE, &frame));
	drv_lib_stop();
}

static void reply_often(void)
{
	struct msg_reply reply;

	msg_init(&reply, msg_type_by_number(msg_reply_number));
	for (int i = 0; i <= DRV_REQUEST_KEPT; i++)
		drv_queue_reply(DRIVER, &reply);
	status = (int)DRIVER->replies_n;
	DRIVER->replies_n = 0; /* the channel holds as many as were put */
}

/* As many as wait at most are put before the next one. */
TEST(no_reply_is_lost)
{
	status = 0;
	drv_lib_at(3, reply_often);
	TEST_ASSERT_EQUAL(0, drv_lib_run(20, ""));
	TEST_ASSERT_EQUAL(1, status);
}

TEST(a_queue_has_an_end)
{
	drv_lib_at(3, fill_the_queue);
	TEST_ASSERT_EQUAL(0, drv_lib_main("--name arm --bus left=wire:nowhere --set lock_memory=no"));
	TEST_ASSERT_EQUAL(SLOTS_QUEUE_MAX, drv_lib.states[drv_lib.states_n - 1].common.bus[0].lost);
}

/* ---- how the bus is ---- */

static void check_before(void)
{
	TEST_ASSERT_FALSE(slots_proven(&fake.drv->buses[0].slots));
	TEST_ASSERT_FALSE(drv_bus_dead(DRIVER, 0));
	TEST_ASSERT_FALSE(fake.drv->buses[0].real);
	TEST_ASSERT_EQUAL(BUS_ERROR_ACTIVE, drv_bus_state(DRIVER, 0));
	TEST_ASSERT_EQUAL(0, drv_bus_stats(DRIVER, 0)->sent);
}

static void check_after(void)
{
	TEST_ASSERT_TRUE(slots_proven(&fake.drv->buses[0].slots));
	TEST_ASSERT_EQUAL(1, drv_bus_stats(DRIVER, 0)->sent);
	status = 1;
}

TEST(a_bus_is_proven_by_a_confirmation)
{
	fake.sends = true;
	status = 0;
	drv_lib_at(2, check_before); /* in which the first frame is put */
	drv_lib_at(3, check_after);
	TEST_ASSERT_EQUAL(0, drv_lib_run(20, ""));
	TEST_ASSERT_EQUAL(1, status);
}

static void check_absent(void)
{
	TEST_ASSERT_TRUE(drv_bus_dead(DRIVER, 0));
	TEST_ASSERT_TRUE(drv_bus_dead(DRIVER, 1));
	TEST_ASSERT_EQUAL(BUS_ABSENT, drv_bus_state(DRIVER, 0));
	TEST_ASSERT_FALSE(fake.drv->buses[0].real); /* wire: */
	TEST_ASSERT_TRUE(
		fake.drv->buses[1].real); /* whatever it is called, the kernel does not say that it is virtual */
	TEST_ASSERT_TRUE(fake.drv->buses[2].real);
	status = 1;
	drv_lib_stop();
}

TEST(real_is_what_can_move_something)
{
	status = 0;
	drv_lib_driver.ref = 0; /* on a real bus references need limits */
	drv_lib_at(2, check_absent);
	TEST_ASSERT_EQUAL(0, drv_lib_main(ON_WIRES " --bus can97"));
	TEST_ASSERT_EQUAL(1, status);
}

/* ---- limits ---- */

DRV_LIB_HOOK(tighten, drv_limits(DRIVER, 0)->velocity_rad_s = 0.25);
DRV_LIB_HOOK(go_on_at_1, drv_lib_put_ref(MSG_MODE_VELOCITY, 1, 20));

TEST(limits_are_obeyed_from_then_on)
{
	drv_lib_at(1, drv_lib_arm);
	drv_lib_at(5, tighten);
	drv_lib_always(go_on_at_1);
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, ""));
	TEST_ASSERT_EQUAL_DOUBLE(1, fake.ticks[4].joint.velocity_rad_s);
	TEST_ASSERT_EQUAL_DOUBLE(0.25, fake.ticks[5].joint.velocity_rad_s);
}

/* ---- telling ---- */

DRV_LIB_HOOK(tell, drv_event(DRIVER, MSG_SEVERITY_WARNING, "warm", "%d K", 340));

TEST(the_same_event_is_put_once_a_second)
{
	drv_lib_always(tell);
	TEST_ASSERT_EQUAL(0, drv_lib_run(1010, "--set tick=100ms"));
	TEST_ASSERT_EQUAL(2, drv_lib_events("warm"));
	TEST_ASSERT_EQUAL_STRING("340 K", drv_lib_event("warm")->text);
	TEST_ASSERT_EQUAL_STRING("arm", drv_lib_event("warm")->source);
	TEST_ASSERT_EQUAL(MSG_SEVERITY_WARNING, drv_lib_event("warm")->severity);
	TEST_ASSERT_EQUAL(9, drv_lib_event("warm")->repeated);
	TEST_ASSERT_EQUAL(1, drv_lib_event("warm")->header.incarnation);
	TEST_ASSERT_EQUAL(fake.ticks[10].ns, drv_lib_event("warm")->header.t_publish_ns);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(drv_lib.said, "faked[arm]: warning: 340 K\n"), drv_lib.said);
}

/* By the loop, when nothing else happens. */
TEST(held_events_are_put_later)
{
	drv_lib_at(3, tell);
	drv_lib_at(4, tell);
	TEST_ASSERT_EQUAL(0, drv_lib_run(2000, "--set tick=100ms"));
	TEST_ASSERT_EQUAL(2, drv_lib_events("warm"));
	TEST_ASSERT_EQUAL(fake.ticks[3].ns, drv_lib_event("warm")->header.t_sample_ns);
	TEST_ASSERT_EQUAL(fake.ticks[12].ns, drv_lib_event("warm")->header.t_publish_ns);
}

/* And at the end what is left. */
TEST(nothing_is_held_back_at_the_end)
{
	drv_lib_at(3, tell);
	drv_lib_at(4, tell);
	TEST_ASSERT_EQUAL(0, drv_lib_run(600, "--set tick=100ms"));
	TEST_ASSERT_EQUAL(2, drv_lib_events("warm"));
}

DRV_LIB_HOOK(break_down, drv_fault(DRIVER, DRV_ALL, "hot", "400 K"));
DRV_LIB_HOOK(break_otherwise, drv_fault(DRIVER, DRV_ALL, "wet", "in the rain"));
DRV_LIB_HOOK(be_well, drv_fault_clear(DRIVER, DRV_ALL, NULL));

TEST(another_fault_is_reported_and_health_only_after_one)
{
	drv_lib_at(2, be_well);
	drv_lib_at(3, break_down);
	drv_lib_at(4, break_otherwise);
	drv_lib_at(5, break_otherwise);
	drv_lib_at(8, be_well);
	drv_lib_at(9, be_well);
	TEST_ASSERT_EQUAL(0, drv_lib_run(60, ""));
	TEST_ASSERT_EQUAL(1, drv_lib_events("hot"));
	TEST_ASSERT_EQUAL(1, drv_lib_events("wet"));
	TEST_ASSERT_EQUAL_STRING("in the rain", drv_lib_event("wet")->text);
	TEST_ASSERT_EQUAL(1, drv_lib_events("well"));
	TEST_ASSERT_EQUAL_STRING("wet and 1 more are over", drv_lib_event("well")->text);
	TEST_ASSERT_EQUAL(0, drv_lib_event("well")->repeated);
}

/* The same fault is one, however often the driver says so. */
TEST(a_lasting_fault_is_reported_once)
{
	drv_lib_at(3, break_down);
	drv_lib_at(4, break_down);
	drv_lib_at(15, be_well);
	drv_lib_at(16, break_down);
	TEST_ASSERT_EQUAL(0, drv_lib_run(2000, "--set tick=100ms"));
	TEST_ASSERT_EQUAL(2, drv_lib_events("hot"));
	TEST_ASSERT_EQUAL(0, drv_lib_event("hot")->repeated);
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, drv_lib_last()->common.lifecycle);
}

static uint32_t later_handle;

DRV_LIB_HOOK(reply_to_unknown_handle, drv_reply(DRIVER, later_handle, 0, "hello"));

TEST(a_reply_without_a_request_is_dropped)
{
	drv_lib_at(2, reply_to_unknown_handle);
	TEST_ASSERT_EQUAL(0, drv_lib_run(20, ""));
	TEST_ASSERT_EQUAL(0, drv_lib.replies_n);
}

static int answer_later(void *self, struct drv *drv, uint32_t handle, const struct msg_request *request, int64_t now_ns)
{
	(void)self;
	(void)now_ns;
	later_handle = handle;
	drv_why(drv, "%s is %d", request->key, 5);
	return request->verb == MSG_VERB_BIAS ? DRV_LATER : request->verb == MSG_VERB_GET ? 0 : -EIO;
}

static void ask(void)
{
	drv_lib_request(1, MSG_VERB_GET, "five", "");
	drv_lib_request(2, MSG_VERB_RESET, "six", "");
	drv_lib_request(3, MSG_VERB_BIAS, "", "");
}

static int reply_at_once(void *self, struct drv *drv, uint32_t handle, const struct msg_request *request,
			 int64_t now_ns)
{
	(void)self;
	(void)now_ns;
	drv_reply(drv, handle, -EIO, "%s", "at once");
	return request->verb == MSG_VERB_BIAS ? DRV_LATER : 0;
}

TEST(an_answer_in_the_request_itself_is_the_only_one)
{
	drv_lib_driver.request = reply_at_once;
	drv_lib_at(2, ask);
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, ""));
	TEST_ASSERT_EQUAL(3, drv_lib.replies_n);
	for (uint64_t id = 1; id <= 3; id++)
		TEST_ASSERT_EQUAL(-EIO, drv_lib_answer(id)->result);
}

DRV_LIB_HOOK(ask_again, drv_lib_request(4, MSG_VERB_BIAS, "", ""));
DRV_LIB_HOOK(refuse, drv_reply(DRIVER, later_handle, -EIO, "%s %d", "channel", 5));

TEST(answers_are_put)
{
	drv_lib_driver.request = answer_later;
	drv_lib_at(2, ask);
	drv_lib_at(5, reply_to_unknown_handle); /* its handle exists now */
	drv_lib_at(6, reply_to_unknown_handle);
	drv_lib_at(6, ask_again);
	drv_lib_at(8, refuse);
	TEST_ASSERT_EQUAL(0, drv_lib_run(40, ""));
	TEST_ASSERT_EQUAL(4, drv_lib.replies_n);
	TEST_ASSERT_EQUAL_STRING("channel 5", drv_lib_answer(4)->error);
	TEST_ASSERT_EQUAL_STRING("", drv_lib_answer(4)->value);
	TEST_ASSERT_EQUAL_STRING("", drv_lib_answer(3)->error);
	TEST_ASSERT_EQUAL_STRING("five is 5", drv_lib_answer(1)->value);
	TEST_ASSERT_EQUAL_STRING("", drv_lib_answer(1)->error);
	TEST_ASSERT_EQUAL_STRING("six is 5", drv_lib_answer(2)->error);
	TEST_ASSERT_EQUAL(-EIO, drv_lib_answer(2)->result);
	TEST_ASSERT_EQUAL_STRING("hello", drv_lib_answer(3)->value);
	TEST_ASSERT_EQUAL(fake.ticks[4].ns, drv_lib_answer(3)->header.t_publish_ns);
	TEST_ASSERT_EQUAL(fake.ticks[4].ns, drv_lib_answer(3)->header.t_sample_ns);
	TEST_ASSERT_EQUAL(1, drv_lib_answer(3)->header.incarnation);
}

static int add_output_and_watch(struct drv *drv, struct error_sink *errors)
{
	TEST_ASSERT_EQUAL(2, drv_monitor(drv, 0));
	TEST_ASSERT_EQUAL(2, drv_monitor(drv, 0));
	TEST_ASSERT_EQUAL(0, drv_row_bus(drv, 2));
	TEST_ASSERT_EQUAL(0, drv_add_output(drv, "bus-table", msg_bus_stats_number, errors));
	return 0;
}

static void put_output(void)
{
	struct msg_bus_stats msg = { .header.t_sample_ns = 5, .bitrate = 6 };

	drv_put(DRIVER, 0, &msg, clock_now_ns());
}

TEST(outputs_are_put_with_their_header)
{
	struct msg_bus_stats msg = { 0 };

	fake.declare = add_output_and_watch;
	drv_lib_at(2, put_output);
	drv_lib_frame(4, "7FE#");
	TEST_ASSERT_EQUAL(0, drv_lib_run(20, ""));
	drv_lib_get("bus-table", &msg, msg_bus_stats_number);
	TEST_ASSERT_EQUAL(5, msg.header.t_sample_ns);
	TEST_ASSERT_EQUAL(6, msg.bitrate);
	TEST_ASSERT_EQUAL(1, msg.header.sequence);
	TEST_ASSERT_EQUAL(1, msg.header.incarnation);
	TEST_ASSERT_EQUAL(fake.ticks[1].ns, msg.header.t_publish_ns);
	TEST_ASSERT_EQUAL(3, fake.got_n); /* watched: the log's first and last, too */
}

static int add_imu(struct drv *drv, struct error_sink *errors)
{
	return drv_add_output(drv, "arm-imu", msg_imu_number, errors);
}

static void put_imu(void)
{
	struct msg_imu msg = { .samples = 7 };

	drv_put(DRIVER, 0, &msg, clock_now_ns());
}

/* A state beside the state is as complete. */
TEST(a_further_state_has_the_common_block)
{
	struct msg_imu msg = { 0 };

	fake.declare = add_imu;
	drv_lib_at(4, put_imu);
	TEST_ASSERT_EQUAL(0, drv_lib_run(20, ""));
	drv_lib_get("arm-imu", &msg, msg_imu_number);
	TEST_ASSERT_EQUAL(7, msg.samples);
	TEST_ASSERT_EQUAL(MSG_FLAG_REPLAYED, msg.header.flags);
	TEST_ASSERT_EQUAL(MSG_LIFE_DISARMED, msg.common.lifecycle);
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, msg.common.level);
	TEST_ASSERT_EQUAL(4, msg.common.ticks);
}

/* ---- time ---- */

DRV_LIB_HOOK(set_phase, drv_tick_at(DRIVER, clock_now_ns() + 3 * DRV_LIB_MS));

TEST(a_driver_may_set_the_phase)
{
	drv_lib_at(1, set_phase);
	TEST_ASSERT_EQUAL(0, drv_lib_run(20, ""));
	TEST_ASSERT_EQUAL(DRV_LIB_START_NS + 3 * DRV_LIB_MS, fake.ticks[1].ns);
	TEST_ASSERT_EQUAL(DRV_LIB_START_NS + 8 * DRV_LIB_MS, fake.ticks[2].ns);
}
