/* test_bridge_in.c: what a bridge does with samples of anyone: which references it puts, and that stops pass. */
#include "test/lib/testcase.h"

#include "launch/achdds/bridge_in.h"
#include "launch/achdds/bridge_trajectory.h"
#include "launch/achdds/relay_inside.h"

#define MS INT64_C(1000000)

struct dds_node_reader {
	uint64_t writer;
	unsigned int waiting; /* samples */
	const uint8_t *cdr;
	size_t len;
};

static struct dds_node_reader readers[3]; /* of references; of stops, two */
static size_t opened;
static struct bridge_file_input inputs[2];
static struct bridge bridge = { .file = { .inputs = inputs, .inputs_n = 2 } };
static struct bridge_in *s;

static struct msg_joint_state state;
static uint32_t incarnation;
static unsigned int takes, agains, puts_n, raises, trajectories, steps;
static enum msg_level raised;
static struct msg_joint_ref put;
static int64_t put_valid_ns, now_ns;

/* ---- in place of the node, the robot and the clock ---- */

struct dds_node_reader *dds_node_read(struct dds_node *node, const struct dds_node_topic *topic,
				      struct error_sink *errors)
{
	(void)node;
	(void)topic;
	(void)errors;
	return &readers[opened++];
}

int dds_node_take(struct dds_node_reader *reader, struct dds_node_sample *sample)
{
	if (!reader->waiting)
		return 0;
	reader->waiting--;
	takes++;
	*sample = (struct dds_node_sample){ .writer = reader->writer, .cdr = reader->cdr, .len = reader->len };
	return 1;
}

void dds_node_release(struct dds_node_sample *sample)
{
	(void)sample;
}

void dds_node_again(struct dds_node *node)
{
	(void)node;
	agains++;
}

unsigned int dds_node_writers(const struct dds_node_reader *reader)
{
	(void)reader;
	return 1;
}

int endplate_device_open(struct endplate *robot, const char *name, uint32_t number, struct endplate_device **device)
{
	(void)robot;
	(void)name;
	(void)number;
	*device = (struct endplate_device *)&state;
	return 0;
}

int endplate_source(struct endplate_device *device, const char *source)
{
	(void)device;
	(void)source;
	return 0;
}

int endplate_state(struct endplate_device *device, void *msg, size_t size, struct endplate_view *view)
{
	(void)device;
	memcpy(msg, &state, size < sizeof(state) ? size : sizeof(state));
	*view = (struct endplate_view){ .incarnation = incarnation };
	return 0;
}

int endplate_put(struct endplate_device *device, void *ref, size_t size, int64_t valid_ns)
{
	(void)device;
	memcpy(&put, ref, size < sizeof(put) ? size : sizeof(put));
	put_valid_ns = valid_ns;
	puts_n++;
	return 0;
}

int endplate_raise(struct endplate *robot, enum msg_level level, const char *why)
{
	(void)robot;
	(void)why;
	raised = level;
	raises++;
	return 0;
}

int bridge_trajectory_take(struct bridge_trajectory *t, struct endplate *robot, struct endplate_device *device,
			   const struct msg_joint_state *joints, const struct dds_node_sample *sample, char *error,
			   size_t error_size)
{
	(void)robot;
	(void)device;
	(void)joints;
	(void)error;
	(void)error_size;
	t->runs = sample->len > 0;
	t->step_ns = 0;
	trajectories++;
	return 0;
}

int bridge_trajectory_step(struct bridge_trajectory *t, int64_t at_ns)
{
	steps += t->runs && at_ns >= t->step_ns;
	t->step_ns = at_ns + 5 * MS;
	return 0;
}

void bridge_trajectory_close(struct bridge_trajectory *t)
{
	(void)t;
}

const char *endplate_strerror(int status)
{
	(void)status;
	return "";
}

const char *endplate_errstr(void)
{
	return "";
}

const char *endplate_refusal(struct endplate_device *device)
{
	(void)device;
	return "";
}

void bridge_say(struct bridge *b, enum msg_severity severity, const char *code, const char *fmt, ...)
{
	(void)b;
	(void)severity;
	(void)code;
	(void)fmt;
}

int64_t bridge_valid_ns(int64_t planned_ns, const struct msg_common *driver)
{
	(void)driver;
	return planned_ns ? planned_ns : 20 * MS;
}

int64_t clock_now_ns(void)
{
	return now_ns;
}

bool relay_peer_offset(const struct relay *r, uint64_t session, int64_t t_ns, int64_t *offset_ns, int64_t *error_ns)
{
	(void)r;
	(void)t_ns;
	*offset_ns = 0;
	*error_ns = 0;
	return session;
}

/* ---- samples ---- */

static uint8_t cdr[200];

/* A JointState for joint 15. */
static size_t joint_state(double position)
{
	struct cdr_out o = cdr_out(cdr, sizeof(cdr));

	cdr_put_i32(&o, 0);
	cdr_put_u32(&o, 0);
	cdr_put_string(&o, "", 0);
	cdr_put_u32(&o, 1);
	cdr_put_string(&o, "15", 2);
	cdr_put_u32(&o, 1);
	cdr_put_f64(&o, position);
	cdr_put_u32(&o, 0);
	cdr_put_u32(&o, 0);
	return o.len;
}

static void refer(uint64_t writer, double position)
{
	readers[0] = (struct dds_node_reader){ writer, 1, cdr, joint_state(position) };
	bridge_in_take(s);
}

static void begin(void)
{
	struct error_sink errors = { 0 };

	memset(readers, 0, sizeof(readers));
	opened = 0;
	inputs[0] = (struct bridge_file_input){ .topic = "/command",
						.type = ros_type_by_name("sensor_msgs/msg/JointState"),
						.into = msg_type_by_number(msg_joint_ref_number),
						.device = "waist" };
	inputs[1] = (struct bridge_file_input){ .topic = "/stop",
						.type = ros_type_by_name("std_msgs/msg/String"),
						.into = msg_type_by_number(msg_estop_number),
						.estop = true };
	msg_init(&state, msg_type_by_number(msg_joint_state_number));
	state.count = 1;
	strcpy(state.joint[0], "15");
	incarnation = 1;
	takes = agains = puts_n = raises = 0;
	raised = MSG_LEVEL_RUN;
	now_ns = 1000 * MS;
	TEST_ASSERT_EQUAL_INT(0, bridge_in_open(&s, &bridge, &errors));
	bridge_in_due(s, now_ns);
	now_ns += BRIDGE_IN_PAUSE_NS;
}

TEST(a_flood_of_references_keeps_no_stop_out)
{
	static const uint8_t stop[] = { 0, 1, 0, 0, 4, 0, 0, 0, 'n', 'o', 'w', 0 };

	for (int which = 1; which < 3; which++) {
		begin();
		readers[0] = (struct dds_node_reader){ 7, 1000000, cdr, joint_state(0.5) };
		readers[which] = (struct dds_node_reader){ 8, 1, stop, sizeof(stop) };
		bridge_in_take(s);
		TEST_ASSERT_EQUAL_UINT(1, raises);
		TEST_ASSERT_EQUAL_INT(MSG_LEVEL_ESTOP, raised);
		TEST_ASSERT_LESS_THAN_UINT(100, takes);
		TEST_ASSERT_EQUAL_UINT(1, agains);
		readers[0].waiting = 3;
		bridge_in_take(s);
		TEST_ASSERT_EQUAL_UINT(0, readers[0].waiting);
		TEST_ASSERT_EQUAL_UINT(1, agains); /* nothing is left */
		bridge_in_close(s);
	}
}

TEST(references_are_of_one_writer_and_of_a_driver_that_was_seen)
{
	begin();
	refer(7, 0.5);
	TEST_ASSERT_EQUAL_UINT(1, puts_n);
	TEST_ASSERT_EQUAL_DOUBLE(0.5, put.position[0]);
	TEST_ASSERT_EQUAL_INT64(20 * MS, put_valid_ns);
	refer(8, 0.6); /* of another writer, while that one counts */
	refer(7, NAN);
	refer(7, INFINITY);
	TEST_ASSERT_EQUAL_UINT(1, puts_n);
	now_ns += 20 * MS + 1;
	refer(8, 0.6);
	TEST_ASSERT_EQUAL_UINT(2, puts_n);
	refer(7, 0.5);
	TEST_ASSERT_EQUAL_UINT(2, puts_n);
	incarnation = 2; /* the driver was restarted, and the writer may not know */
	refer(8, 0.6);
	now_ns += BRIDGE_IN_PAUSE_NS - 1;
	refer(8, 0.6);
	TEST_ASSERT_EQUAL_UINT(2, puts_n);
	now_ns += 1;
	refer(8, 0.6);
	TEST_ASSERT_EQUAL_UINT(3, puts_n);
	bridge_in_close(s);
}

/* ---- the relay ---- */

static struct relay relay = { .b = &bridge };
static struct relay_in in;

TEST(a_trajectory_is_of_one_writer_until_it_has_ended)
{
	begin();
	inputs[0].trajectory = true;
	for (uint64_t writer = 1; writer <= 3; writer++) {
		readers[0] = (struct dds_node_reader){ writer % 2 + 1, 1, cdr, writer < 3 };
		bridge_in_take(s);
	}
	TEST_ASSERT_EQUAL_UINT(2, trajectories); /* the second writer is refused */
	bridge_in_close(s);
	trajectories = 0;
	begin();
	inputs[0].trajectory = true;
	readers[0] = (struct dds_node_reader){ 1, 1, cdr, 1 };
	bridge_in_take(s);
	for (int i = 0; i < 3; i++)
		now_ns = bridge_in_due(s, now_ns);
	TEST_ASSERT_EQUAL_UINT(3, steps);
	TEST_ASSERT_EQUAL_UINT(0, puts_n);
	bridge_in_close(s);
}

static void receive(uint64_t writer, uint64_t session, uint64_t number, int64_t t_publish_ns, int64_t valid_until_ns)
{
	static uint8_t bytes[MSG_SIZE_MAX + 100];
	struct cdr_out o = cdr_out(bytes, sizeof(bytes));
	struct msg_joint_ref ref;

	msg_init(&ref, msg_type_by_number(msg_joint_ref_number));
	ref.header.t_publish_ns = t_publish_ns;
	ref.header.valid_until_ns = valid_until_ns;
	ref.header.for_incarnation = incarnation;
	cdr_put(&o, &session, 8, 1);
	cdr_put(&o, &number, 8, 1);
	cdr_put_u32(&o, sizeof(ref));
	cdr_put(&o, &ref, 1, sizeof(ref));
	relay_receive(&relay, &in, &(struct dds_node_sample){ .writer = writer, .cdr = bytes, .len = o.len });
}

static void begin_relay(void)
{
	in = (struct relay_in){ .name = "waist-ref", .device = (struct endplate_device *)&state };
	incarnation = 1;
	puts_n = 0;
	now_ns = 1000 * MS;
}

TEST(a_relay_has_one_writer_at_a_time)
{
	begin_relay();
	receive(7, 1, 5, now_ns, now_ns + 10 * MS);
	TEST_ASSERT_EQUAL_UINT(1, puts_n);
	receive(8, 1, UINT64_MAX, now_ns, now_ns + 10 * MS); /* with the session of the first */
	receive(8, 2, 1, now_ns, now_ns + 10 * MS);
	TEST_ASSERT_EQUAL_UINT(1, puts_n);
	TEST_ASSERT_EQUAL_UINT64(2, in.other_writer);
	receive(7, 1, 6, now_ns, now_ns + 10 * MS);
	TEST_ASSERT_EQUAL_UINT(2, puts_n);
	receive(7, 1, 6, now_ns, now_ns + 10 * MS); /* again */
	TEST_ASSERT_EQUAL_UINT(2, puts_n);
	now_ns += ENDPLATE_VALID_MAX_NS; /* the other bridge was started again */
	receive(9, 3, 1, now_ns, now_ns + 10 * MS);
	TEST_ASSERT_EQUAL_UINT(3, puts_n);
	receive(9, 3, UINT64_MAX, now_ns, now_ns + 10 * MS);
	now_ns += ENDPLATE_VALID_MAX_NS; /* it was not of that session */
	receive(7, 3, 2, now_ns, now_ns + 10 * MS);
	TEST_ASSERT_EQUAL_UINT(5, puts_n);
}

TEST(a_relay_takes_no_reference_that_has_expired_or_whose_times_are_absurd)
{
	const int64_t most = INT64_MAX;
	const struct {
		int64_t publish_ns, until_ns;
		unsigned int puts_n;
	} rows[] = {
		{ 990 * MS, 1010 * MS, 1 }, { 990 * MS, 999 * MS, 0 },	 { 990 * MS, 0, 0 },
		{ 990 * MS, 980 * MS, 0 },  { -most - 1, most, 0 },	 { most, 1, 0 },
		{ most, most, 0 },	    { -most - 1, -most - 1, 0 }, { 990 * MS, most, 0 },
		{ -1, 10 * MS, 0 },	    { 1000 * MS, -1, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		begin_relay();
		receive(7, 1, 5, rows[i].publish_ns, rows[i].until_ns);
		TEST_ASSERT_EQUAL_UINT_MESSAGE(rows[i].puts_n, puts_n, "row");
	}
	begin_relay();
	incarnation = 2;
	receive(7, 1, 5, now_ns, now_ns + 10 * MS);
	TEST_ASSERT_EQUAL_UINT(1, puts_n);
}
