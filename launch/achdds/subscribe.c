/* subscribe.c: topics to references, and to raises of the e-stop. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "launch/achdds/subscribe.h"

#define LOOK_NS 50000000  /* between two looks at a driver */
#define REPEAT_NS 5000000 /* after a raise that could not be put */
#define AT_ONCE 32	  /* samples of a reader */
#define APART_NS 50000000 /* between two raises that could */

struct input {
	const struct plan_input *plan;
	struct node_reader *readers[2]; /* the second: reliable, of the e-stop */
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

struct subscribe {
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

static enum msg_number state_of(const struct plan_input *plan)
{
	switch (plan->into->number) {
	case msg_joint_ref_number:
		return msg_joint_state_number;
	case msg_gripper_ref_number:
		return msg_gripper_state_number;
	default:
		return msg_balance_state_number;
	}
}

static int open_device(struct subscribe *s, struct input *in, struct error_sink *errors)
{
	int r = endplate_device_open(s->b->robot, in->plan->device, state_of(in->plan), &in->device);

	if (!r && *in->plan->source)
		r = endplate_source(in->device, in->plan->source);
	if (r)
		error_add(errors, "device %s: %s", in->plan->device, endplate_strerror(r));
	return r;
}

/* A reader that asks for the best only matches every writer, but gets no lost sample again; so the e-stop has two. */
static int open_input(struct subscribe *s, struct input *in, struct error_sink *errors)
{
	char name[PLAN_TOPIC_MAX + 2];
	struct node_topic topic = { name, in->plan->type->dds_name, in->plan->type->hash, NODE_NEWEST };

	snprintf(name, sizeof(name), "rt%s", in->plan->topic);
	in->readers[0] = node_read(s->b->node, &topic, errors);
	topic.qos = NODE_DEFAULT;
	if (in->plan->estop)
		in->readers[1] = node_read(s->b->node, &topic, errors);
	if (!in->readers[0] || (in->plan->estop && !in->readers[1]))
		return -EIO;
	return in->plan->estop ? 0 : open_device(s, in, errors);
}

int subscribe_open(struct subscribe **subscribe, struct bridge *b, struct error_sink *errors)
{
	struct subscribe *s = calloc(1, sizeof(*s));
	int r = 0;

	*subscribe = s;
	if (!s)
		return -ENOMEM;
	s->b = b;
	s->inputs = calloc(b->plan.inputs_n + 1, sizeof(*s->inputs));
	if (!s->inputs)
		return -ENOMEM;
	for (; s->n < b->plan.inputs_n && !r; s->n++) {
		s->inputs[s->n].plan = &b->plan.inputs[s->n];
		r = open_input(s, &s->inputs[s->n], errors);
	}
	return r;
}

void subscribe_close(struct subscribe *s)
{
	if (!s)
		return;
	free(s->inputs);
	free(s);
}

/* ---- references ---- */

/* Sees the driver; true: its state can be read. */
static bool read_driver_state(struct subscribe *s, struct input *in, int64_t now_ns)
{
	const size_t size = msg_type_by_number(state_of(in->plan))->body->size;
	struct endplate_view view;

	in->look_ns = now_ns + LOOK_NS;
	if (endplate_state(in->device, &in->state, size, &view))
		return false;
	in->by_driver += view.refused;
	if (view.refused && in->taken)
		bridge_say(s->b, MSG_SEVERITY_WARNING, "by-driver",
			   "%s: %s refused references; refs_refused in its state says why", in->plan->topic,
			   in->plan->device);
	if (!in->since_ns || view.incarnation != in->incarnation) {
		in->incarnation = view.incarnation;
		in->since_ns = now_ns;
		in->until_ns = 0;
	}
	in->joints_n = 0;
	if (state_of(in->plan) != msg_joint_state_number)
		return true;
	for (; in->joints_n < in->state.joints.count && in->joints_n < MSG_JOINTS; in->joints_n++) {
		in->state.joints.joint[in->joints_n][MSG_NAME_SIZE - 1] = 0; /* another process wrote it */
		in->joints[in->joints_n] = in->state.joints.joint[in->joints_n];
	}
	return true;
}

static void refuse(struct subscribe *s, struct input *in, uint64_t *count, const char *code, const char *why)
{
	++*count;
	bridge_say(s->b, MSG_SEVERITY_WARNING, code, "%s: %s", in->plan->topic, why);
}

static void put_reference(struct subscribe *s, struct input *in, union message *ref, uint64_t writer, int64_t now_ns)
{
	const int64_t valid_ns = bridge_valid_ns(in->plan->valid_ns, &in->state.front.common);
	int r;

	if (now_ns - in->since_ns < SUBSCRIBE_PAUSE_NS) {
		refuse(s, in, &in->restarted, "restarted", "the driver, or this bridge, has just been started");
		return;
	}
	if (now_ns <= in->until_ns && writer != in->writer) {
		refuse(s, in, &in->other_writer, "other-writer",
		       "references of two writers; those of the first are taken");
		return;
	}
	r = endplate_put(in->device, ref, in->plan->into->body->size, valid_ns);
	if (r) {
		refuse(s, in, &in->refused, "refused", endplate_strerror(r));
		return;
	}
	in->taken++;
	in->writer = writer;
	in->until_ns = now_ns + valid_ns;
}

/* ---- the e-stop ---- */

/* A message is put for each raise, but not for each of a flood. */
static void repeat_raise(struct subscribe *s, struct input *in, int64_t now_ns)
{
	int r;

	if (!in->raise || now_ns < in->raise_ns)
		return;
	r = endplate_raise(s->b->robot, in->raise, in->why);
	in->raise_ns = now_ns + (r ? REPEAT_NS : APART_NS);
	if (!r)
		in->raise = MSG_LEVEL_RUN;
	else
		bridge_say(s->b, MSG_SEVERITY_ERROR, "raise", "%s: unable to raise the e-stop: %s", in->plan->topic,
			   endplate_strerror(r));
}

static void raise_level(struct subscribe *s, struct input *in, const struct msg_estop *estop, int64_t now_ns)
{
	in->taken++;
	if (estop->level <= in->raise)
		return;
	in->raise = estop->level;
	snprintf(in->why, sizeof(in->why), "topic %.50s: %.60s", in->plan->topic, estop->why);
	repeat_raise(s, in, now_ns);
}

/* ---- samples ---- */

static void take(struct subscribe *s, struct input *in, const struct node_sample *sample)
{
	const int64_t now_ns = clock_now_ns();
	struct ros_context context = { .device = in->plan->device };
	char error[MSG_TEXT_SIZE];
	union message msg;
	int r;

	in->received++;
	in->newest_ns = now_ns;
	if (!in->plan->estop && !read_driver_state(s, in, now_ns)) {
		refuse(s, in, &in->refused, "refused", "the device publishes no state");
		return;
	}
	context.joints = in->joints;
	context.joints_n = in->joints_n;
	r = ros_decode(in->plan->type, sample->cdr, sample->len, &context, in->plan->into, &msg, error, sizeof(error));
	if (r)
		refuse(s, in, &in->malformed, "malformed", error);
	if (r && in->plan->estop) { /* a stop that was damaged on its way is one */
		msg.estop.level = MSG_LEVEL_ESTOP;
		snprintf(msg.estop.why, sizeof(msg.estop.why), "%s", error);
	}
	if (in->plan->estop)
		raise_level(s, in, &msg.estop, now_ns);
	else if (!r)
		put_reference(s, in, &msg, sample->writer, now_ns);
}

/* true: there may be more. */
static bool take_some(struct subscribe *s, struct input *in, struct node_reader *reader)
{
	struct node_sample sample;
	int n = 0;

	for (; n < AT_ONCE && node_take(reader, &sample) > 0; n++) {
		take(s, in, &sample);
		node_release(&sample);
	}
	return n == AT_ONCE;
}

/* Stops first.  A flood on one topic delays neither the others nor the rest of the bridge. */
void subscribe_take(struct subscribe *s)
{
	bool more = false;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < s->n; i++)
			for (size_t k = 0; k < 2 && s->inputs[i].readers[k] && s->inputs[i].plan->estop == !pass; k++)
				more |= take_some(s, &s->inputs[i], s->inputs[i].readers[k]);
	if (more)
		node_again(s->b->node);
}

int64_t subscribe_due(struct subscribe *s, int64_t now_ns)
{
	int64_t next_ns = CLOCK_NEVER;

	for (size_t i = 0; i < s->n; i++) {
		struct input *in = &s->inputs[i];

		if (in->plan->estop)
			repeat_raise(s, in, now_ns);
		else if (now_ns >= in->look_ns)
			read_driver_state(s, in, now_ns);
		if (in->raise && in->raise_ns < next_ns)
			next_ns = in->raise_ns;
		if (!in->plan->estop && in->look_ns < next_ns)
			next_ns = in->look_ns;
	}
	return next_ns;
}

/* ---- the state ---- */

void subscribe_state(const struct subscribe *s, struct json *j, int64_t now_ns)
{
	json_array(j, "subscribe");
	for (size_t i = 0; i < s->n; i++) {
		const struct input *in = &s->inputs[i];

		json_line(j);
		json_object(j, NULL);
		json_text(j, "topic", in->plan->topic);
		json_text(j, "device", in->plan->estop ? NULL : in->plan->device);
		json_uint(j, "writers", node_writers(in->readers[0]));
		json_uint(j, "received", in->received);
		json_uint(j, "taken", in->taken);
		json_uint(j, "malformed", in->malformed);
		json_uint(j, "other_writer", in->other_writer);
		json_uint(j, "restarted", in->restarted);
		json_uint(j, "refused", in->refused);
		json_uint(j, "refused_by_driver", in->by_driver);
		if (in->newest_ns)
			json_int(j, "age_ns", now_ns - in->newest_ns);
		else
			json_null(j, "age_ns");
		json_end(j);
	}
	json_end(j);
}
