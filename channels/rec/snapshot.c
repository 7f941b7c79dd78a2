/* snapshot.c: the state of a channel at one moment, read without changing it. */
#include <math.h>
#include <signal.h>

#include "channels/ach/ach_file.h"
#include "channels/clock/clock.h"
#include "channels/rec/snapshot.h"

#define TRIES 1000 /* against a writer that overwrites the newest message while it is read */

void snapshot_take(struct snapshot *snap, ach_channel_t *chan)
{
	struct ach_handle *h = chan->handle;
	const void *newest;

	memset(snap, 0, sizeof(*snap));
	snap->count = h->count;
	snap->size = (uint32_t)(h->lsize / h->count);
	snap->mode = ach_memory_mode(h);
	snap->refusal = MSG_SHORT;
	snap->status = ACH_EAGAIN;
	for (int i = 0; i < TRIES && snap->status == ACH_EAGAIN; i++) {
		snap->status = ach_peek(chan, &newest, &snap->len, NULL, ACH_O_LAST | ACH_O_COPY);
		if (snap->status == ACH_EAGAIN && !atomic_load(&h->shm->commit))
			break; /* nothing was ever put */
		if (snap->status == ACH_EAGAIN)
			continue;
		if (snap->status != ACH_OK && snap->status != ACH_MISSED_FRAME)
			return;
		memcpy(&snap->header, newest, snap->len < sizeof(snap->header) ? snap->len : sizeof(snap->header));
		snap->writer = atomic_load(&h->shm->writer);
		snap->status = ach_peek_end(chan);
	}
	snap->at_ns = clock_now_ns();
	snap->seq = snap->status == ACH_OK ? chan->seq_num : atomic_load(&h->shm->commit);
	snap->waited = ach_waited_for(h) > snap->seq;
	if (snap->status == ACH_OK) {
		struct ach_seen entry = ach_entry_read(h, snap->seq);

		snap->retained = ach_entry_ok(h, &entry, snap->seq) ? entry.keep : 1;
		snap->refusal = msg_check(&snap->header, snap->len, NULL, &snap->type);
	}
	if (snap->status == ACH_EAGAIN)
		snap->status = ACH_OK;
}

int64_t snapshot_age_ns(const struct snapshot *snap)
{
	return snap->at_ns - snap->header.t_publish_ns;
}

double snapshot_rate(const struct snapshot *first, const struct snapshot *second)
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

bool snapshot_alive(uint32_t pid)
{
	return pid && pid <= INT32_MAX && (!kill((pid_t)pid, 0) || errno == EPERM);
}

void snapshot_rate_text(char text[SNAPSHOT_TEXT_MAX], double hz)
{
	snprintf(text, SNAPSHOT_TEXT_MAX, hz < 999.5 ? "%.3g Hz" : "%.0f Hz", hz);
}

void snapshot_age_text(char text[SNAPSHOT_TEXT_MAX], int64_t ns)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = { { 86400e9, "d" }, { 3600e9, "h" }, { 60e9, "min" }, { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" } };

	snprintf(text, SNAPSHOT_TEXT_MAX, ns < 0 ? "future" : "%" PRId64 " ns", ns);
	for (size_t i = sizeof(units) / sizeof(*units); i-- && (double)ns >= units[i].ns;) {
		double value = (double)ns / units[i].ns;

		snprintf(text, SNAPSHOT_TEXT_MAX, "%.*f %s",
			 value >= 99.95	  ? 0
			 : value >= 9.995 ? 1
					  : 2,
			 value, units[i].name);
	}
}

void snapshot_json(struct json *j, const char *name, double rate_hz, const struct snapshot *snap)
{
	char rate[32];

	snprintf(rate, sizeof(rate), "%.6g", rate_hz);
	json_text(j, "name", name);
	json_uint(j, "count", snap->count);
	json_uint(j, "size", snap->size);
	json_textf(j, "mode", "%04o", (unsigned)snap->mode & 07777);
	json_text(j, "type", snap->type ? snap->type->name : NULL);
	json_uint(j, "last_seq", snap->seq);
	if (snap->type)
		json_int(j, "age_ns", snapshot_age_ns(snap));
	else
		json_null(j, "age_ns");
	json_raw(j, "rate_hz", isnan(rate_hz) ? "null" : rate);
	json_uint_or_null(j, "writer_pid", snap->writer);
}
