/* daemon_state.c: how a daemon is, by what it publishes. */
#include <unistd.h>

#include "channels/client/daemon_state.h"
#include "channels/port/port.h"

#define LOOK_NS 1000000000
#define MODE_MAX 0640

void daemon_state_init(struct daemon_state *p, const char *channel)
{
	memset(p, 0, sizeof(*p));
	if (port_name(p->channel, channel))
		*p->channel = 0;
}

void daemon_state_close(struct daemon_state *p)
{
	if (p->open)
		ach_close(&p->chan);
	p->open = false;
}

static void check_file(struct daemon_state *p, int64_t now_ns)
{
	if (now_ns < p->look_ns)
		return;
	p->look_ns = now_ns + (p->open ? LOOK_NS : LOOK_NS / 10);
	if (p->open && port_is_gone(&p->chan)) {
		daemon_state_close(p);
		p->lost_ns = now_ns;
	}
	if (p->open || !*p->channel)
		return;
	switch (port_attach(&p->chan, p->channel, geteuid(), MODE_MAX)) {
	case ACH_OK:
		p->open = true;
		p->corrupt = false;
		break;
	case ACH_BAD_SHM_FILE:
	case ACH_CORRUPT:
		p->corrupt = true;
		break;
	default:
		break;
	}
}

/* A state begins with header and common block, whatever it is of. */
static void take(struct daemon_state *p, const void *msg, size_t len)
{
	const struct msg_type *type;

	if (msg_check(msg, len, NULL, &type) != MSG_FINE || len < sizeof(p->header) + sizeof(p->common))
		return;
	memcpy(&p->header, msg, sizeof(p->header));
	memcpy(&p->common, (const char *)msg + sizeof(p->header), sizeof(p->common));
	p->is_clock = type->number == msg_clock_number;
	if (p->is_clock)
		memcpy(&p->clock, msg, sizeof(p->clock));
	p->there = true;
}

static void measure_rate(struct daemon_state *p, int64_t now_ns)
{
	const int64_t passed_ns = now_ns - p->rate_ns;

	if (passed_ns < LOOK_NS)
		return;
	if (p->rate_ns && p->chan.seq_num >= p->rate_sequence) /* else the file is another one */
		p->rate_hz = (double)(p->chan.seq_num - p->rate_sequence) * 1e9 / (double)passed_ns;
	p->rate_sequence = p->chan.seq_num;
	p->rate_ns = now_ns;
}

void daemon_state_update(struct daemon_state *p, int64_t now_ns)
{
	static union {
		struct msg_header header;
		char bytes[8192];
	} msg; /* of one thread */
	size_t len;

	check_file(p, now_ns);
	if (!p->open)
		return;
	switch (ach_get(&p->chan, &msg, sizeof(msg), &len, NULL, ACH_O_LAST)) {
	case ACH_OK:
	case ACH_MISSED_FRAME:
		take(p, &msg, len);
		break;
	case ACH_CORRUPT:
	case ACH_BAD_SHM_FILE:
		p->corrupt = true;
		p->lost_ns = now_ns;
		p->look_ns = 0;
		daemon_state_close(p);
		return;
	default:
		break;
	}
	measure_rate(p, now_ns);
}

void daemon_state_update_now(struct daemon_state *p, int64_t now_ns)
{
	p->look_ns = 0;
	daemon_state_update(p, now_ns);
}

int64_t daemon_state_age_ns(const struct daemon_state *p, int64_t now_ns)
{
	return p->there ? now_ns - p->header.t_publish_ns : INT64_MAX;
}
