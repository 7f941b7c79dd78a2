/* relay.c: channels of one Endplate machine on another. */
#include <sys/random.h>

#include "launch/achdds/relay_inside.h"

#define PACKAGE "endplate_msgs::msg::dds_::"
#define BATCH 64
#define LOOK_NS 500000000 /* between two looks whether a channel was removed */
#define ASK_SOON_NS 50000000
#define ASK_NS 500000000

/* ---- opening ---- */

/* Topics have letters, digits, _ and / only: "joint-state" is joint_hstate there. */
static struct dds_node_topic topic_of(const struct relay *r, char name[BRIDGE_FILE_TOPIC_MAX], const char *last,
				      const char *type, enum dds_node_qos qos)
{
	static const char signs[] = "_-.", letters[] = "uhd";
	struct text_out out = text_out(name, BRIDGE_FILE_TOPIC_MAX);
	char whole[BRIDGE_FILE_TOPIC_MAX / 2];

	snprintf(whole, sizeof(whole), "%s/%s", r->b->file.relay.name, last);
	text_add(&out, "endplate/");
	for (const char *at = whole; *at; at++) {
		const char *sign = strchr(signs, *at);

		if (sign)
			text_add(&out, "_%c", letters[sign - signs]);
		else
			text_add(&out, "%c", *at);
	}
	return (struct dds_node_topic){ name, type, NULL, qos };
}

static enum dds_node_qos qos_of(const char *channel)
{
	return text_ends_with(channel, "-event") ? DDS_NODE_DEFAULT : DDS_NODE_SENSOR;
}

static int open_out(struct relay *r, struct relay_out *o, const char *name, struct error_sink *errors)
{
	char topic_name[BRIDGE_FILE_TOPIC_MAX];
	const struct dds_node_topic topic = topic_of(r, topic_name, name, PACKAGE "Relay_", qos_of(name));

	o->name = name;
	o->is_ref = text_ends_with(name, "-ref");
	o->writer = dds_node_write(r->b->node, &topic, errors);
	if (port_name(o->full, name))
		return error_refuse(errors, -ENAMETOOLONG, "%s: name too long", name);
	return o->writer ? 0 : -EIO;
}

/* "waist" or "waist.control" of the references of a device. */
static int open_device(struct relay *r, struct relay_in *in, struct error_sink *errors)
{
	char device[PORT_NAME_MAX], *dot;
	int status;

	snprintf(device, sizeof(device), "%.*s", (int)lines_before(in->name, "-ref"), in->name);
	dot = strchr(device, '.');
	if (dot)
		*dot = 0;
	status = endplate_device_open(r->b->robot, device, 0, &in->device);
	if (!status && dot)
		status = endplate_source(in->device, dot + 1);
	if (status)
		error_add(errors, "relay: %s: %s", in->name, endplate_strerror(status));
	return status;
}

static int open_in(struct relay *r, struct relay_in *in, const char *name, struct error_sink *errors)
{
	char topic_name[BRIDGE_FILE_TOPIC_MAX];
	const struct dds_node_topic topic = topic_of(r, topic_name, name, PACKAGE "Relay_", qos_of(name));

	in->name = name;
	in->reader = dds_node_read(r->b->node, &topic, errors);
	if (!in->reader)
		return -EIO;
	return text_ends_with(name, "-ref") ? open_device(r, in, errors) : 0;
}

static int open_clock(struct relay *r, struct error_sink *errors)
{
	char name[BRIDGE_FILE_TOPIC_MAX];
	struct dds_node_topic topic = topic_of(r, name, "clock/ask", PACKAGE "RelayAsk_", DDS_NODE_SENSOR);

	r->asks = dds_node_write(r->b->node, &topic, errors);
	r->asked = dds_node_read(r->b->node, &topic, errors);
	topic = topic_of(r, name, "clock/answer", PACKAGE "RelayAnswer_", DDS_NODE_SENSOR);
	r->answers = dds_node_write(r->b->node, &topic, errors);
	r->answered = dds_node_read(r->b->node, &topic, errors);
	return r->asks && r->asked && r->answers && r->answered ? 0 : -EIO;
}

int relay_open(struct relay **relay, struct bridge *b, struct error_sink *errors)
{
	const struct bridge_file_relay *file = &b->file.relay;
	struct relay *r = NULL;
	int status;

	*relay = NULL;
	if (!file->node)
		return 0;
	*relay = r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->b = b;
	r->outs = calloc(BRIDGE_FILE_RELAY_MAX, sizeof(*r->outs));
	r->ins = calloc(BRIDGE_FILE_RELAY_MAX, sizeof(*r->ins));
	if (!r->outs || !r->ins || getrandom(&r->session, sizeof(r->session), 0) != sizeof(r->session))
		return -ENOMEM;
	r->session |= 1;
	status = open_clock(r, errors);
	for (size_t i = 0; i < file->send_n && !status; i++)
		status = open_out(r, &r->outs[i], file->send[i], errors);
	for (size_t i = 0; i < file->receive_n && !status; i++)
		status = open_in(r, &r->ins[i], file->receive[i], errors);
	return status;
}

void relay_close(struct relay *r)
{
	if (!r)
		return;
	for (size_t i = 0; r->outs && i < BRIDGE_FILE_RELAY_MAX; i++)
		channel_reader_close(&r->b->readers, &r->outs[i].reader);
	for (size_t i = 0; r->ins && i < BRIDGE_FILE_RELAY_MAX; i++)
		if (r->ins[i].port.open)
			port_close(&r->ins[i].port);
	free(r->outs);
	free(r->ins);
	free(r);
}

/* ---- sending ---- */

static void check_out(struct relay *r, struct relay_out *o, int64_t now_ns)
{
	struct error_sink quiet = { 0 };
	struct port made = { 0 };

	o->look_ns = now_ns + LOOK_NS;
	channel_reader_check(&r->b->readers, &o->reader);
	if (o->reader.open)
		return;
	/* The channel of references, which a controller here writes, is made if it is missing: no driver does. */
	if (o->is_ref && !port_open(&made, o->name, msg_type_by_number(msg_joint_ref_number), 0660, &quiet))
		port_close(&made);
	if (!channel_reader_open(&r->b->readers, &o->reader, o->full, BRIDGE_TAG_RELAY + (uint32_t)(o - r->outs)))
		ach_flush(&o->reader.chan);
}

static void send_message(struct relay *r, struct relay_out *o, size_t len)
{
	struct cdr_out cdr = cdr_out(r->cdr, sizeof(r->cdr));

	cdr_put(&cdr, &r->session, sizeof(r->session), 1);
	cdr_put(&cdr, &o->reader.chan.seq_num, sizeof(uint64_t), 1);
	cdr_put_u32(&cdr, (uint32_t)len);
	cdr_put(&cdr, r->msg.bytes, 1, len);
	if (cdr.len <= sizeof(r->cdr) && !dds_node_put(o->writer, r->cdr, cdr.len))
		o->sent++;
	else
		o->dropped++;
}

/* true: a message was sent. */
static bool send_next(struct relay *r, struct relay_out *o)
{
	const uint64_t before = o->reader.chan.seq_num;
	size_t len = 0;
	const enum ach_status status = ach_get(&o->reader.chan, r->msg.bytes, sizeof(r->msg), &len, NULL, 0);

	if (status == ACH_EAGAIN)
		return false;
	if (status != ACH_OK && status != ACH_MISSED_FRAME) {
		channel_reader_close(&r->b->readers, &o->reader);
		return false;
	}
	o->missed += o->reader.chan.seq_num - before - 1;
	send_message(r, o, len);
	return true;
}

static void send_all(struct relay *r, struct relay_out *o, int64_t now_ns)
{
	int n = 0;

	while (n < BATCH && send_next(r, o))
		n++;
	channel_reader_read(&r->b->readers, &o->reader, now_ns, n, n == BATCH);
}

void relay_read(struct relay *r, uint32_t tag, int64_t now_ns)
{
	struct relay_out *o = &r->outs[tag];

	if (!o->reader.open)
		return;
	channel_reader_seen(&r->b->readers, &o->reader, now_ns);
	send_all(r, o, now_ns);
}

/* ---- the loop ---- */

/* The next of at most BATCH samples: a flood on one topic does not delay the others. */
static bool next_sample(struct relay *r, struct dds_node_reader *reader, struct dds_node_sample *sample, int *n)
{
	if (++*n > BATCH) {
		dds_node_again(r->b->node);
		return false;
	}
	return dds_node_take(reader, sample) > 0;
}

void relay_take(struct relay *r)
{
	struct dds_node_sample sample;
	int n = 0;

	if (!r)
		return;
	for (; next_sample(r, r->asked, &sample, &n); dds_node_release(&sample))
		relay_peer_answer(r, &sample);
	for (n = 0; next_sample(r, r->answered, &sample, &n); dds_node_release(&sample))
		relay_peer_take(r, &sample);
	for (size_t i = 0; i < r->b->file.relay.receive_n; i++)
		for (n = 0; next_sample(r, r->ins[i].reader, &sample, &n); dds_node_release(&sample))
			relay_receive(r, &r->ins[i], &sample);
}

int64_t relay_due(struct relay *r, int64_t now_ns)
{
	int64_t next_ns = CLOCK_NEVER;
	bool known = false;

	if (!r)
		return next_ns;
	for (size_t i = 0; i < RELAY_PEERS_MAX; i++)
		known |= r->peers[i].clock.n == RELAY_CLOCK_KEPT;
	if (now_ns >= r->ask_ns) {
		relay_peer_ask(r);
		r->ask_ns = now_ns + (known ? ASK_NS : ASK_SOON_NS);
	}
	next_ns = r->ask_ns;
	for (size_t i = 0; i < r->b->file.relay.send_n; i++) {
		if (now_ns >= r->outs[i].look_ns)
			check_out(r, &r->outs[i], now_ns);
		if (r->outs[i].reader.polled)
			send_all(r, &r->outs[i], now_ns);
		if (r->outs[i].look_ns < next_ns)
			next_ns = r->outs[i].look_ns;
	}
	for (size_t i = 0; i < r->b->file.relay.receive_n; i++)
		if (r->ins[i].port.type)
			port_reopen(&r->ins[i].port, now_ns, LOOK_NS);
	return next_ns;
}

/* ---- the state ---- */

void relay_state(const struct relay *r, struct json *j, int64_t now_ns)
{
	if (!r)
		return;
	json_array(j, "send");
	for (size_t i = 0; i < r->b->file.relay.send_n; i++) {
		const struct relay_out *o = &r->outs[i];

		json_line(j);
		json_object(j, NULL);
		json_text(j, "channel", o->name);
		json_bool(j, "open", o->reader.open);
		json_uint(j, "readers", dds_node_readers(o->writer));
		json_uint(j, "sent", o->sent);
		json_uint(j, "missed", o->missed);
		json_uint(j, "dropped", o->dropped);
		json_end(j);
	}
	json_end(j);
	json_array(j, "receive");
	for (size_t i = 0; i < r->b->file.relay.receive_n; i++) {
		const struct relay_in *in = &r->ins[i];

		json_line(j);
		json_object(j, NULL);
		json_text(j, "channel", in->name);
		json_uint(j, "writers", dds_node_writers(in->reader));
		json_uint(j, "received", in->received);
		json_uint(j, "lost", in->lost);
		json_uint(j, "late", in->late);
		json_uint(j, "unsynchronized", in->unsynchronized);
		json_uint(j, "malformed", in->malformed);
		json_uint(j, "other_writer", in->other_writer);
		json_uint(j, "refused", in->refused);
		json_int(j, "age_ns", in->age_ns);
		json_int(j, "uncertainty_ns", in->error_ns);
		json_end(j);
	}
	json_end(j);
	json_array(j, "clocks");
	for (size_t i = 0; i < RELAY_PEERS_MAX; i++) {
		int64_t offset_ns, error_ns;

		if (!r->peers[i].session || !relay_clock_offset(&r->peers[i].clock, now_ns, &offset_ns, &error_ns))
			continue;
		json_object(j, NULL);
		json_textf(j, "session", "%016llx", (unsigned long long)r->peers[i].session);
		json_int(j, "offset_ns", offset_ns);
		json_int(j, "uncertainty_ns", error_ns);
		json_end(j);
	}
	json_end(j);
}
