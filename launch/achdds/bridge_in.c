/* bridge_in.c: topics to references, and to raises of the e-stop. */
#include "launch/achdds/bridge_in.h"
#include "launch/achdds/bridge_trajectory.h"

#define LOOK_NS 50000000  /* between two looks at a driver */
#define REPEAT_NS 5000000 /* after a raise that could not be put */
#define AT_ONCE 32	  /* samples of a reader */
#define APART_NS 50000000 /* between two raises that could */

struct input {
	const struct bridge_file_input *file;
	struct dds_node_reader *readers[2]; /* the second: reliable, of the e-stop */
	struct endplate_device *device;
	/* of the driver */
	uint32_t incarnation;
	int64_t since_ns; /* that incarnation was seen first; 0: none was */
	int64_t look_ns;  /* the next look at it, if no sample comes before */
	const char *joints[MSG_JOINTS];
	size_t joints_n;
	/* of the writer whose references are taken */
	uint64_t writer;
	int64_t until_ns;
	struct bridge_trajectory trajectory;
	/* a raise that is not put yet; run: none */
	enum msg_level raise;
	int64_t raise_ns; /* not before this */
	char why[MSG_TEXT_SIZE];

	int64_t newest_ns; /* when the last sample came */
	uint64_t received, taken, malformed, other_writer, restarted, refused, by_driver;
	union {
		struct {
			struct msg_header header;
			struct msg_common common;
		} front;
		struct msg_joint_state joints;
		struct msg_gripper_state gripper;
		struct msg_balance_state balance;
	} state;
};

struct bridge_in {
	struct bridge *b;
	struct input *inputs;
	size_t n;
};

union message {
	struct msg_header header;
	struct msg_joint_ref joints;
	struct msg_gripper_ref gripper;
	struct msg_balance_ref balance;
	struct msg_estop estop;
};

/* ---- opening ---- */

static enum msg_number state_of(const struct bridge_file_input *file)
{
	switch (file->into->number) {
	case msg_joint_ref_number:
		return msg_joint_state_number;
	case msg_gripper_ref_number:
		return msg_gripper_state_number;
	default:
		return msg_balance_state_number;
	}
}

static int open_device(struct bridge_in *s, struct input *in, struct error_sink *errors)
{
	int r = endplate_device_open(s->b->robot, in->file->device, state_of(in->file), &in->device);

	if (!r && *in->file->source)
		r = endplate_source(in->device, in->file->source);
	if (r)
		error_add(errors, "device %s: %s", in->file->device, endplate_strerror(r));
	return r;
}

/* A reader that asks for the best only matches every writer, but gets no lost sample again; so the e-stop has two. */
static int open_input(struct bridge_in *s, struct input *in, struct error_sink *errors)
{
	char name[BRIDGE_FILE_TOPIC_MAX + 2];
	struct dds_node_topic topic = { name, in->file->type->dds_name, in->file->type->hash, DDS_NODE_NEWEST };

	snprintf(name, sizeof(name), "rt%s", in->file->topic);
	in->readers[0] = dds_node_read(s->b->node, &topic, errors);
	topic.qos = DDS_NODE_DEFAULT;
	if (in->file->estop)
		in->readers[1] = dds_node_read(s->b->node, &topic, errors);
	if (!in->readers[0] || (in->file->estop && !in->readers[1]))
		return -EIO;
	return in->file->estop ? 0 : open_device(s, in, errors);
}

int bridge_in_open(struct bridge_in **subscribe, struct bridge *b, struct error_sink *errors)
{
	struct bridge_in *s = calloc(1, sizeof(*s));
	int r = 0;

	*subscribe = s;
	if (!s)
		return -ENOMEM;
	s->b = b;
	s->inputs = calloc(b->file.inputs_n + 1, sizeof(*s->inputs));
	if (!s->inputs)
		return -ENOMEM;
	for (; s->n < b->file.inputs_n && !r; s->n++) {
		s->inputs[s->n].file = &b->file.inputs[s->n];
		r = open_input(s, &s->inputs[s->n], errors);
	}
	return r;
}

void bridge_in_close(struct bridge_in *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		bridge_trajectory_close(&s->inputs[i].trajectory);
	free(s->inputs);
	free(s);
}

/* ---- references ---- */

/* Sees the driver; true: its state can be read. */
static bool read_driver_state(struct bridge_in *s, struct input *in, int64_t now_ns)
{
	const size_t size = msg_type_by_number(state_of(in->file))->body->size;
	struct endplate_view view;

	in->look_ns = now_ns + LOOK_NS;
	if (endplate_state(in->device, &in->state, size, &view))
		return false;
	in->by_driver += view.refused;
	if (view.refused && in->taken)
		bridge_say(s->b, MSG_SEVERITY_WARNING, "by-driver", "%s: %s refused a reference: %s", in->file->topic,
			   in->file->device, endplate_refusal(in->device));
	if (!in->since_ns || view.incarnation != in->incarnation) {
		in->incarnation = view.incarnation;
		in->since_ns = now_ns;
		in->until_ns = 0;
	}
	in->joints_n = 0;
	if (state_of(in->file) != msg_joint_state_number)
		return true;
	for (; in->joints_n < in->state.joints.count && in->joints_n < MSG_JOINTS; in->joints_n++) {
		in->state.joints.joint[in->joints_n][MSG_NAME_SIZE - 1] = 0; /* another process wrote it */
		in->joints[in->joints_n] = in->state.joints.joint[in->joints_n];
	}
	return true;
}

static void refuse(struct bridge_in *s, struct input *in, uint64_t *count, const char *code, const char *why)
{
	++*count;
	bridge_say(s->b, MSG_SEVERITY_WARNING, code, "%s: %s", in->file->topic, why);
}

/* May this writer move the device now? */
static bool may_move(struct bridge_in *s, struct input *in, uint64_t writer, int64_t now_ns)
{
	if (now_ns - in->since_ns < BRIDGE_IN_PAUSE_NS) {
		refuse(s, in, &in->restarted, "restarted", "the driver, or this bridge, has just been started");
		return false;
	}
	if ((in->trajectory.runs || now_ns <= in->until_ns) && writer != in->writer) {
		refuse(s, in, &in->other_writer, "other-writer",
		       "references of two writers; those of the first are taken");
		return false;
	}
	return true;
}

/* Any writer may stop the device. */
static bool is_stop(const struct dds_node_sample *sample)
{
	struct ros_trajectory t;
	char error[ERROR_LINE_MAX];

	return !ros_trajectory_begin(&t, sample->cdr, sample->len, error, sizeof(error)) && !t.points_n;
}

static void follow(struct bridge_in *s, struct input *in, const struct dds_node_sample *sample, int64_t now_ns)
{
	char error[ERROR_LINE_MAX] = "";

	if (!is_stop(sample) && !may_move(s, in, sample->writer, now_ns))
		return;
	if (bridge_trajectory_take(&in->trajectory, s->b->robot, in->device, &in->state.joints, sample, error,
				   sizeof(error))) {
		refuse(s, in, &in->refused, "refused", error);
		return;
	}
	in->taken++;
	in->writer = sample->writer;
}

static void step(struct bridge_in *s, struct input *in, int64_t now_ns)
{
	if (bridge_trajectory_step(&in->trajectory, now_ns))
		bridge_say(s->b, MSG_SEVERITY_WARNING, "trajectory", "%s: the trajectory has ended: %s",
			   in->file->topic, endplate_errstr());
}

static void put_reference(struct bridge_in *s, struct input *in, union message *ref, uint64_t writer, int64_t now_ns)
{
	const int64_t valid_ns = bridge_valid_ns(in->file->valid_ns, &in->state.front.common);
	int r;

	if (!may_move(s, in, writer, now_ns))
		return;
	r = endplate_put(in->device, ref, in->file->into->body->size, valid_ns);
	if (r) {
		refuse(s, in, &in->refused, "refused", endplate_errstr());
		return;
	}
	in->taken++;
	in->writer = writer;
	in->until_ns = now_ns + valid_ns;
}

/* ---- the e-stop ---- */

/* A message is put for each raise, but not for each of a flood. */
static void repeat_raise(struct bridge_in *s, struct input *in, int64_t now_ns)
{
	int r;

	if (!in->raise || now_ns < in->raise_ns)
		return;
	r = endplate_raise(s->b->robot, in->raise, in->why);
	in->raise_ns = now_ns + (r ? REPEAT_NS : APART_NS);
	if (!r)
		in->raise = MSG_LEVEL_RUN;
	else
		bridge_say(s->b, MSG_SEVERITY_ERROR, "raise", "%s: unable to raise the e-stop: %s", in->file->topic,
			   endplate_strerror(r));
}

static void raise_level(struct bridge_in *s, struct input *in, const struct msg_estop *estop, int64_t now_ns)
{
	in->taken++;
	if (estop->level <= in->raise)
		return;
	in->raise = estop->level;
	snprintf(in->why, sizeof(in->why), "topic %.50s: %.60s", in->file->topic, estop->why);
	repeat_raise(s, in, now_ns);
}

/* ---- samples ---- */

static void take(struct bridge_in *s, struct input *in, const struct dds_node_sample *sample)
{
	const int64_t now_ns = clock_now_ns();
	struct ros_context context = { .device = in->file->device };
	char error[MSG_TEXT_SIZE];
	union message msg;
	int r;

	in->received++;
	in->newest_ns = now_ns;
	if (!in->file->estop && !read_driver_state(s, in, now_ns)) {
		refuse(s, in, &in->refused, "refused", "the device publishes no state");
		return;
	}
	if (in->file->trajectory) {
		follow(s, in, sample, now_ns);
		return;
	}
	context.joints = in->joints;
	context.joints_n = in->joints_n;
	r = ros_decode(in->file->type, sample->cdr, sample->len, &context, in->file->into, &msg, error, sizeof(error));
	if (r)
		refuse(s, in, &in->malformed, "malformed", error);
	if (r && in->file->estop) { /* a stop that was damaged on its way is one */
		msg.estop.level = MSG_LEVEL_ESTOP;
		snprintf(msg.estop.why, sizeof(msg.estop.why), "%s", error);
	}
	if (in->file->estop)
		raise_level(s, in, &msg.estop, now_ns);
	else if (!r)
		put_reference(s, in, &msg, sample->writer, now_ns);
}

/* true: there may be more. */
static bool take_some(struct bridge_in *s, struct input *in, struct dds_node_reader *reader)
{
	struct dds_node_sample sample;
	int n = 0;

	for (; n < AT_ONCE && dds_node_take(reader, &sample) > 0; n++) {
		take(s, in, &sample);
		dds_node_release(&sample);
	}
	return n == AT_ONCE;
}

/* Stops first.  A flood on one topic delays neither the others nor the rest of the bridge. */
void bridge_in_take(struct bridge_in *s)
{
	bool more = false;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < s->n; i++)
			for (size_t k = 0; k < 2 && s->inputs[i].readers[k] && s->inputs[i].file->estop == !pass; k++)
				more |= take_some(s, &s->inputs[i], s->inputs[i].readers[k]);
	if (more)
		dds_node_again(s->b->node);
}

int64_t bridge_in_due(struct bridge_in *s, int64_t now_ns)
{
	int64_t next_ns = CLOCK_NEVER;

	for (size_t i = 0; i < s->n; i++) {
		struct input *in = &s->inputs[i];

		if (in->file->estop)
			repeat_raise(s, in, now_ns);
		else if (now_ns >= in->look_ns)
			read_driver_state(s, in, now_ns);
		step(s, in, now_ns);
		if (in->trajectory.runs)
			next_ns = num_min(next_ns, in->trajectory.step_ns);
		if (in->raise && in->raise_ns < next_ns)
			next_ns = in->raise_ns;
		if (!in->file->estop && in->look_ns < next_ns)
			next_ns = in->look_ns;
	}
	return next_ns;
}

/* ---- the state ---- */

void bridge_in_state(const struct bridge_in *s, struct json *j, int64_t now_ns)
{
	json_array(j, "subscribe");
	for (size_t i = 0; i < s->n; i++) {
		const struct input *in = &s->inputs[i];

		json_line(j);
		json_object(j, NULL);
		json_text(j, "topic", in->file->topic);
		json_text(j, "device", in->file->estop ? NULL : in->file->device);
		json_uint(j, "writers", dds_node_writers(in->readers[0]));
		json_uint(j, "received", in->received);
		json_uint(j, "taken", in->taken);
		json_uint(j, "malformed", in->malformed);
		json_uint(j, "other_writer", in->other_writer);
		json_uint(j, "restarted", in->restarted);
		json_uint(j, "refused", in->refused);
		json_uint(j, "refused_by_driver", in->by_driver);
		bridge_age(j, now_ns, in->newest_ns);
		json_end(j);
	}
	json_end(j);
}
