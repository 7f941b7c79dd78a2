/* test_hubo_legacy.c: hubo-ach's structs: both layouts as hw-docs/devices/hubo-legacy.md has them, modes, states.
 * Also for legacy.c. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "channels/msg/msg.h"
#include "daemons/hubo/jmc.h"
#include "daemons/hubo/legacy.h"
#include "test/lib/testcase.h"

#define PAGE "hw-docs/devices/hubo-legacy.md"

/* Where each member is, as on the page; arrays are those of structs. */
struct member {
	const char *of, *name;
	size_t at, size, n, step;
};

/* clang-format off */
#define REF(m) { "ref", #m, offsetof(struct legacy_ref, m), sizeof(((struct legacy_ref *)0)->m[0]), HUBO_JOINTS, \
		 sizeof(((struct legacy_ref *)0)->m[0]) }
#define IN(a, m) { "state", #a "." #m, offsetof(struct legacy_state, a[0].m), \
		   sizeof(((struct legacy_state *)0)->a[0].m), \
		   sizeof(((struct legacy_state *)0)->a) / sizeof(((struct legacy_state *)0)->a[0]), \
		   sizeof(((struct legacy_state *)0)->a[0]) }
#define ONE(m) { "state", #m, offsetof(struct legacy_state, m), sizeof(((struct legacy_state *)0)->m), 1, 0 }
static const struct member members[] = {
	REF(ref), REF(mode), REF(comply),
	IN(imu, a_x), IN(imu, a_y), IN(imu, a_z), IN(imu, w_x), IN(imu, w_y), IN(imu, w_z),
	IN(ft, m_x), IN(ft, m_y), IN(ft, f_z),
	IN(joint, ref), IN(joint, comply), IN(joint, pos), IN(joint, cur), IN(joint, vel), IN(joint, duty),
	IN(joint, heat), IN(joint, tmp), IN(joint, active), IN(joint, zeroed),
	IN(status, driver_on), IN(status, ctrl_on), IN(status, mode), IN(status, limit_switch), IN(status, home_flag),
	IN(status, jam), IN(status, pwm_saturated), IN(status, big_error), IN(status, enc_error),
	IN(status, driver_fault), IN(status, motor_fail_0), IN(status, motor_fail_1), IN(status, pos_min),
	IN(status, pos_max), IN(status, velocity), IN(status, acceleration), IN(status, temperature),
	{ "state", "driver_temp", offsetof(struct legacy_state, driver_temp), sizeof(double), LEGACY_DRIVERS,
	  sizeof(double) },
	ONE(voltage), ONE(current), ONE(power), ONE(time), ONE(ref_wait),
	{ 0 },
};
/* clang-format on */

static struct legacy_joint joints[HUBO_JOINTS];
static struct msg_joint_state state;
static struct msg_joint_ref ref;
static struct legacy_ref old;
static struct legacy_state told;

void setUp(void)
{
	memset(joints, 0, sizeof(joints));
	memset(&state, 0, sizeof(state));
	memset(&ref, 0, sizeof(ref));
	memset(&old, 0, sizeof(old));
	memset(&told, 0, sizeof(told));
	joints[4].active = joints[32].active = true;
	joints[32].finger = true;
	joints[32].current_a = 0.5;
}

void tearDown(void)
{
}

/* "| STRUCT | MEMBER | OFFSET | BYTES | TIMES | STEP |": all members in their order, and nothing else. */
TEST(the_page_has_both_layouts)
{
	FILE *page = fopen(PAGE, "r");
	const struct member *m = members;
	char line[256], of[16], name[32];
	size_t at, size, n, step;

	TEST_ASSERT_NOT_NULL(page);
	while (fgets(line, sizeof(line), page)) {
		if (sscanf(line, "| %15s | %31s | %zu | %zu | %zu | %zu |", of, name, &at, &size, &n, &step) != 6)
			continue;
		TEST_ASSERT_NOT_NULL_MESSAGE(m->name, line);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(m->of, of, line);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(m->name, name, line);
		TEST_ASSERT_EQUAL_UINT_MESSAGE(m->at, at, line);
		TEST_ASSERT_EQUAL_UINT_MESSAGE(m->size, size, line);
		TEST_ASSERT_EQUAL_UINT_MESSAGE(m->n, n, line);
		TEST_ASSERT_EQUAL_UINT_MESSAGE(m->step, step, line);
		m++;
	}
	fclose(page);
	TEST_ASSERT_NULL(m->name);
}

/* Members fill their structs without a hole: the ends of one is the begin of the next. */
TEST(members_leave_no_hole)
{
	static const struct {
		const char *of;
		size_t size;
	} structs[] = { { "ref", 462 }, { "state", 3898 } };

	for (int s = 0; s < 2; s++) {
		size_t bytes = 0;

		for (const struct member *m = members; m->name; m++)
			bytes += strcmp(m->of, structs[s].of) ? 0 : m->size * m->n;
		TEST_ASSERT_EQUAL_UINT(structs[s].size, bytes);
	}
}

TEST(references_of_active_joints_are_checked)
{
	TEST_ASSERT_EQUAL(0, legacy_check(&old, joints));
	old.ref[5] = NAN; /* inactive */
	old.mode[5] = 9;
	TEST_ASSERT_EQUAL(0, legacy_check(&old, joints));
	old.ref[4] = NAN;
	TEST_ASSERT_EQUAL(-EINVAL, legacy_check(&old, joints));
	old.ref[4] = 0;
	old.mode[4] = 3;
	TEST_ASSERT_EQUAL(0, legacy_check(&old, joints));
	old.mode[4] = 4;
	TEST_ASSERT_EQUAL(-EINVAL, legacy_check(&old, joints));
	old.mode[4] = -1;
	TEST_ASSERT_EQUAL(-EINVAL, legacy_check(&old, joints));
	old.mode[4] = 0;
	old.comply[5] = 2;
	old.comply[4] = 1;
	TEST_ASSERT_EQUAL(0, legacy_check(&old, joints));
	old.comply[4] = 2;
	TEST_ASSERT_EQUAL(-EINVAL, legacy_check(&old, joints));
	old.comply[4] = -1;
	TEST_ASSERT_EQUAL(-EINVAL, legacy_check(&old, joints));
}

static double refer(void)
{
	legacy_refer(&ref, &old, joints, &state, 0.005);
	TEST_ASSERT_EQUAL(MSG_MODE_POSITION, ref.mode[4]);
	return ref.position[4];
}

TEST(modes_are_those_of_hubo_ach)
{
	old.ref[4] = 1;
	state.position[4] = 0.2;
	old.mode[4] = LEGACY_FILTER; /* (39 f + r) / 40, from where it is */
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, (39 * 0.2 + 1) / 40, refer());
	state.position[4] = 0.9; /* the filter goes on from its own output */
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, (39 * ((39 * 0.2 + 1) / 40) + 1) / 40, refer());
	old.mode[4] = LEGACY_DIRECT;
	TEST_ASSERT_DOUBLE_WITHIN(0, 1, refer());
	old.mode[4] = LEGACY_COMPLIANT;
	TEST_ASSERT_DOUBLE_WITHIN(0, 0.9, refer());
	old.mode[4] = LEGACY_ENCODER_FILTER;
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, (39 * 0.9 + 1) / 40, refer());
	TEST_ASSERT_EQUAL(HUBO_JOINTS, ref.count);
	TEST_ASSERT_EQUAL(MSG_MODE_NONE, ref.mode[5]);
}

TEST(the_first_and_the_last_joint_count)
{
	static const int ends[] = { 0, HUBO_JOINTS - 1 };

	for (int i = 0; i < 2; i++) {
		const int end = ends[i];

		joints[end].active = true;
		old.ref[end] = state.position[end] = 0.25;
		legacy_refer(&ref, &old, joints, &state, 0.005);
		TEST_ASSERT_EQUAL(MSG_MODE_POSITION, ref.mode[end]);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.25, ref.position[end]);
		legacy_joints(&told, &state, &old);
		TEST_ASSERT_EQUAL_DOUBLE(0.25, told.joint[end].pos);
		old.ref[end] = NAN;
		TEST_ASSERT_EQUAL(-EINVAL, legacy_check(&old, joints));
		old.ref[end] = 0;
	}
}

TEST(a_long_tick_does_not_overshoot)
{
	old.ref[4] = 1;
	legacy_refer(&ref, &old, joints, &state, 3);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1, ref.position[4]);
}

TEST(fingers_take_a_share_of_their_current)
{
	static const double cases[][2] = { { 0, 0 }, { 1, 0.5 }, { -0.5, -0.25 }, { 2, 0.5 }, { -7, -0.5 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		old.ref[32] = cases[i][0];
		legacy_refer(&ref, &old, joints, &state, 0.005);
		TEST_ASSERT_EQUAL(MSG_MODE_CURRENT, ref.mode[32]);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, cases[i][1], ref.current[32]);
	}
}

/* Around the same place as a rigid one; fingers cannot be. */
TEST(a_compliant_joint_gives_way_around_its_reference)
{
	old.ref[4] = 1;
	old.comply[4] = old.comply[32] = 1;
	state.position[4] = 0.2;
	legacy_refer(&ref, &old, joints, &state, 0.005);
	TEST_ASSERT_EQUAL(MSG_MODE_COMPLIANT, ref.mode[4]);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, (39 * 0.2 + 1) / 40, ref.position[4]);
	TEST_ASSERT_EQUAL(MSG_MODE_CURRENT, ref.mode[32]);
	state.position[4] = 0.9; /* it was pushed */
	legacy_refer(&ref, &old, joints, &state, 0.005);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, (39 * ((39 * 0.2 + 1) / 40) + 1) / 40, ref.position[4]);
}

/* And the filter begins again where the joint is. */
TEST(an_unmeasured_joint_holds)
{
	old.ref[4] = 1;
	refer();
	state.position[4] = NAN;
	legacy_refer(&ref, &old, joints, &state, 0.005);
	TEST_ASSERT_EQUAL(MSG_MODE_NONE, ref.mode[4]);
	state.position[4] = 0.5;
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, (39 * 0.5 + 1) / 40, refer());
}

TEST(states_are_reported_in_its_units)
{
	const struct msg_ft ft = { .torque = { 1, 2, NAN }, .force = { NAN, NAN, 3 } };
	struct msg_imu imu = { .orientation = { 1, 0, 0, 0 }, .rate = { 0.1, 0.2, NAN } };
	const struct msg_battery battery = { .voltage = 48, .current = -2 };

	state.position[4] = 0.25;
	state.velocity[4] = -1;
	state.current[4] = 0.5;
	state.temperature[4] = 313.15;
	state.lifecycle[4] = MSG_LIFE_ACTIVE;
	state.status[4] = MSG_JOINT_HOMED;
	state.state_word[4] = JMC_DRIVER_ON | JMC_JAM | JMC_ABOVE_UPPER | 6 << 16;
	state.position[5] = NAN; /* down */
	state.header.t_sample_ns = 1500000000;
	old.ref[4] = 0.75;
	old.comply[4] = 1; /* asked for, but it is not */
	legacy_joints(&told, &state, &old);
	TEST_ASSERT_TRUE(told.joint[4].ref == 0.75 && told.joint[4].comply == 0);
	state.status[4] |= MSG_JOINT_COMPLIANT;
	legacy_joints(&told, &state, &old);
	TEST_ASSERT_TRUE(told.joint[4].comply == 1);
	TEST_ASSERT_TRUE(told.joint[4].pos == 0.25 && told.joint[4].vel == -1 && told.joint[4].cur == 0.5);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 40, told.joint[4].tmp);
	TEST_ASSERT_TRUE(told.joint[4].active && told.joint[4].zeroed && !told.joint[5].active);
	TEST_ASSERT_TRUE(told.joint[5].pos == 0);
	TEST_ASSERT_TRUE(told.time == 1.5);
	legacy_joints(&told, &state, NULL);
	TEST_ASSERT_TRUE(told.joint[4].ref == 0);
	legacy_force(&told, 3, &ft);
	TEST_ASSERT_TRUE(told.ft[3].m_x == 1 && told.ft[3].m_y == 2 && told.ft[3].f_z == 3);
	legacy_incline(&told, 2, &imu);
	TEST_ASSERT_TRUE(told.imu[2].a_x == 0 && told.imu[2].a_y == 0 && told.imu[2].w_x == 0.1 &&
			 told.imu[2].w_y == 0.2);
	imu.orientation[0] = cos(0.15) * cos(0.1); /* roll 0.3, pitch 0.2 */
	imu.orientation[1] = sin(0.15) * cos(0.1);
	imu.orientation[2] = cos(0.15) * sin(0.1);
	imu.orientation[3] = -sin(0.15) * sin(0.1);
	legacy_incline(&told, 0, &imu);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.3, told.imu[0].a_x);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.2, told.imu[0].a_y);
	legacy_power(&told, &battery);
	TEST_ASSERT_TRUE(told.voltage == 48 && told.current == 2 && told.power == 96);
}

/* Bit by bit: each flag is one byte, in the order of the boards' status. */
TEST(each_flag_of_a_status_is_one_byte)
{
	static const uint32_t flags[] = { JMC_DRIVER_ON,     JMC_CONTROL_IS_ON, JMC_CURRENT_MODE,  JMC_LIMIT_SWITCH,
					  0 /* home flag */, JMC_JAM,		JMC_PWM_SATURATED, JMC_BIG_ERROR,
					  JMC_ENCODER_ERROR, JMC_DRIVER_FAULT,	JMC_MOTOR_FAIL_0,  JMC_MOTOR_FAIL_1,
					  JMC_BELOW_LOWER,   JMC_ABOVE_UPPER,	JMC_VELOCITY,	   JMC_ACCELERATION,
					  JMC_TEMPERATURE };
	const uint8_t *bytes = (const uint8_t *)&told.status[4];

	for (unsigned int i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		state.state_word[4] = flags[i] ? flags[i] : 0xD << 16;
		legacy_joints(&told, &state, NULL);
		for (unsigned int k = 0; k < sizeof(told.status[4]); k++)
			TEST_ASSERT_EQUAL_MESSAGE(k != i ? 0 : flags[i] ? 1 : 0xD, bytes[k], "of its flag alone");
	}
}
