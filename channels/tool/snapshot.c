/* look.c: one look at a channel, without moving anything in it. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <string.h>

#include "channels/ach_ring.h"
#include "channels/clock.h"
#include "channels/tool/look.h"
#include "channels/tool/span.h"

#define TRIES 1000 /* against a writer that overwrites the newest message while it is looked at */

void look_at(struct look *look, ach_channel_t *chan)
{
	struct ach_handle *h = chan->handle;
	const void *newest;

	memset(look, 0, sizeof(*look));
	look->refusal = MSG_SHORT;
	look->status = ACH_EAGAIN;
	for (int i = 0; i < TRIES && look->status == ACH_EAGAIN; i++) {
		look->status = ach_peek(chan, &newest, &look->len, NULL, ACH_O_LAST | ACH_O_COPY);
		if (look->status == ACH_EAGAIN && !atomic_load(&h->shm->commit))
			break; /* nothing was ever put */
		if (look->status == ACH_EAGAIN)
			continue;
		if (look->status != ACH_OK && look->status != ACH_MISSED_FRAME)
			return;
		memcpy(&look->header, newest, look->len < sizeof(look->header) ? look->len : sizeof(look->header));
		look->writer = atomic_load(&h->shm->writer);
		look->status = ach_peek_end(chan);
	}
	look->at_ns = clock_now_ns();
	look->seq = look->status == ACH_OK ? chan->seq_num : atomic_load(&h->shm->commit);
	look->waited = ach_waited_for(h) > look->seq;
	if (look->status == ACH_OK) {
		struct ach_seen entry = ach_entry_read(h, look->seq);

		look->retained = ach_entry_ok(h, &entry, look->seq) ? entry.keep : 1;
		look->refusal = msg_check(&look->header, look->len, NULL, &look->type);
	}
	if (look->status == ACH_EAGAIN)
		look->status = ACH_OK;
}

int64_t look_age_ns(const struct look *look)
{
	return look->at_ns - look->header.t_publish_ns;
}

double look_rate(const struct look *first, const struct look *second)
{
	double seconds = (double)(second->at_ns - first->at_ns) / 1e9, n = (double)(second->seq - first->seq), stamped;

	if (seconds <= 0 || second->seq <= first->seq)
		return 0;
	if (first->type && second->type && second->header.t_publish_ns > first->header.t_publish_ns) {
		stamped = n / ((double)(second->header.t_publish_ns - first->header.t_publish_ns) / 1e9);
		/* Unless the times are of another clock: then they do not agree with what was seen. */
		if (fabs(stamped * seconds - n) <= 1)
			return stamped;
	}
	return n / seconds;
}

bool look_alive(uint32_t pid)
{
	return pid && pid <= INT32_MAX && (!kill((pid_t)pid, 0) || errno == EPERM);
}

static void three_digits(char text[LOOK_TEXT_MAX], double value, const char *unit)
{
	snprintf(text, LOOK_TEXT_MAX, "%.*f %s", value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2, value, unit);
}

void look_rate_text(char text[LOOK_TEXT_MAX], double hz)
{
	snprintf(text, LOOK_TEXT_MAX, hz < 999.5 ? "%.3g Hz" : "%.0f Hz", hz);
}

void look_age_text(char text[LOOK_TEXT_MAX], int64_t ns)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = { { 86400e9, "d" }, { 3600e9, "h" }, { 60e9, "min" }, { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" } };

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if ((double)ns >= units[i].ns) {
			three_digits(text, (double)ns / units[i].ns, units[i].name);
			return;
		}
	}
	snprintf(text, LOOK_TEXT_MAX, ns < 0 ? "future" : "%" PRId64 " ns", ns);
}

void look_json(struct json *j, const struct look_channel *channel, const struct look *look)
{
	char rate[32];

	snprintf(rate, sizeof(rate), "%.6g", channel->rate_hz);
	json_text(j, "name", channel->name);
	json_uint(j, "count", channel->count);
	json_uint(j, "size", channel->size);
	json_textf(j, "mode", "%04o", (unsigned)channel->mode & 07777);
	json_text(j, "type", look->type ? look->type->name : NULL);
	json_uint(j, "last_seq", look->seq);
	if (look->type)
		json_int(j, "age_ns", look_age_ns(look));
	else
		json_null(j, "age_ns");
	json_raw(j, "rate_hz", isnan(channel->rate_hz) ? "null" : rate);
	if (look->writer)
		json_uint(j, "writer_pid", look->writer);
	else
		json_null(j, "writer_pid");
}

int look_for(const char *text, int64_t *ns)
{
	*ns = 0;
	if (text && !strcmp(text, "0"))
		return 0;
	*ns = 500000000;
	return span_read("--for", text, "s", ns);
}
