/* relay_receive.c: messages of another machine, into channels and to drivers. */
#include "launch/achdds/relay_inside.h"
#include "launch/achdds/relay_stamp.h"

#define SILENT_NS ENDPLATE_VALID_MAX_NS

/* One writer at a time: while it sends, those of another are refused, whatever session and number they name. */
static bool is_writer(struct relay_in *in, const struct dds_node_sample *sample, int64_t now_ns)
{
	if (in->writer_ns && in->writer != sample->writer && now_ns - in->writer_ns < SILENT_NS) {
		in->other_writer++;
		return false;
	}
	if (in->writer != sample->writer)
		in->session = 0;
	in->writer = sample->writer;
	in->writer_ns = now_ns;
	return true;
}

/* false: it is not new, or not a message. */
static bool unpack(struct relay *r, struct relay_in *in, const struct dds_node_sample *sample, int64_t now_ns,
		   const struct msg_type **type)
{
	struct cdr_in cdr = cdr_in(sample->cdr, sample->len);
	uint64_t session = 0, number = 0;
	uint32_t len;

	cdr_get(&cdr, &session, sizeof(session), 1);
	cdr_get(&cdr, &number, sizeof(number), 1);
	len = cdr_get_length(&cdr, 1);
	if (!cdr.bad && len <= sizeof(r->msg))
		cdr_get(&cdr, r->msg.bytes, 1, len);
	if (cdr.bad || len > sizeof(r->msg) || msg_check(r->msg.bytes, len, NULL, type) != MSG_FINE ||
	    (*type)->number == msg_estop_number || (*type)->number == msg_request_number ||
	    !relay_clock_is_sane(r->msg.header.t_publish_ns) || !relay_clock_is_sane(r->msg.header.valid_until_ns)) {
		in->malformed++;
		return false;
	}
	if (!is_writer(in, sample, now_ns))
		return false;
	if (session == in->session && number <= in->number) {
		in->late++;
		return false;
	}
	if (session == in->session)
		in->lost += number - in->number - 1;
	in->session = session;
	in->number = number;
	in->received++;
	return true;
}

static int put_state(struct relay *r, struct relay_in *in, const struct msg_type *type)
{
	struct error_sink quiet = { 0 };

	if (in->port.open && in->port.type != type)
		port_close(&in->port);
	if (!in->port.open)
		port_open(&in->port, in->name, type, 0640, &quiet);
	if (!in->port.open)
		return -EIO;
	return ach_put(&in->port.chan, r->msg.bytes, type->body->size) == ACH_OK ? 0 : -EIO;
}

static int put_reference(struct relay *r, struct relay_in *in, const struct msg_type *type)
{
	const struct msg_header *h = &r->msg.header;
	const int64_t lasts_ns = h->valid_until_ns - h->t_publish_ns;
	struct endplate_view view;
	const int status = endplate_state(in->device, r->state.bytes, sizeof(r->state), &view);
	int64_t most_ns;

	if (status)
		return status;
	if (h->for_incarnation != view.incarnation)
		return -ESTALE;
	if (!h->valid_until_ns || lasts_ns <= 0 || in->age_ns - in->error_ns > lasts_ns)
		return -ERANGE;
	most_ns = bridge_valid_ns(r->b->file.relay.valid_ns, &r->state.front.common);
	return endplate_put(in->device, r->msg.bytes, type->body->size, lasts_ns < most_ns ? lasts_ns : most_ns);
}

void relay_receive(struct relay *r, struct relay_in *in, const struct dds_node_sample *sample)
{
	const int64_t now_ns = clock_now_ns();
	const struct msg_type *type = NULL;
	int64_t offset_ns = 0, error_ns = 0;
	int status;

	if (!unpack(r, in, sample, now_ns, &type))
		return;
	if (!relay_peer_offset(r, in->session, now_ns, &offset_ns, &error_ns)) {
		in->unsynchronized++;
		return;
	}
	relay_stamp_shift(type, r->msg.bytes, -offset_ns, error_ns);
	in->age_ns = now_ns - r->msg.header.t_publish_ns;
	in->error_ns = error_ns;
	status = in->device ? put_reference(r, in, type) : put_state(r, in, type);
	if (!status)
		return;
	in->refused++;
	bridge_say(r->b, MSG_SEVERITY_WARNING, "relay", "%s: %s", in->name, endplate_strerror(status));
}
