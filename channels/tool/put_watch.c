/* put_watch.c: ach put: does the driver take the references? */
#include <dirent.h>
#include <unistd.h>

#include "channels/ach/ach_file.h"
#include "channels/clock/clock.h"
#include "channels/tool/put_watch.h"

#define DEAD_NS 3000000000 /* a driver puts its info once a second */
#define WAIT_MAX_NS 1000000000
#define LOOK_NS 1000000
#define TICKS \
	2 /* the one under way when it was put may have read already; late ones are left out, so states count, too */
#define SOURCE_VALID_NS 200000000 /* the most that a refmuxd takes of a source that has a time-out */

union message {
	struct {
		struct msg_header header;
		struct msg_common common;
	} front;
	struct msg_mux_state mux;
	struct msg_event event;
	struct msg_device_info info;
	uint8_t bytes[MSG_SIZE_MAX];
};

/* NULL: there is none, or it is not sound. */
static const struct msg_type *newest(ach_channel_t *chan, union message *msg)
{
	const struct msg_type *type = NULL;
	size_t len;
	const enum ach_status status = ach_get(chan, msg, sizeof(*msg), &len, NULL, ACH_O_LAST | ACH_O_COPY);

	if (status == ACH_OK || status == ACH_MISSED_FRAME)
		msg_check(msg, len, NULL, &type);
	return type;
}

static bool open_of(ach_channel_t *chan, const char *device, size_t len, const char *suffix)
{
	char name[ACH_CHAN_NAME_MAX];

	return snprintf(name, sizeof(name), "%.*s%s", (int)len, device, suffix) < (int)sizeof(name) &&
	       ach_open(chan, name, NULL) == ACH_OK;
}

/* ---- who reads it ---- */

static bool read_info(struct put_watch *w)
{
	union message msg;
	const struct msg_type *type = newest(&w->info, &msg), *ref;
	bool complies = false;

	if (!type || type->number != msg_device_info_number || msg.info.count > MSG_JOINTS)
		return false;
	w->known = msg.info;
	w->known.ref_type[MSG_NAME_SIZE - 1] = 0;
	ref = msg_type_by_name(w->known.ref_type);
	if (!ref || ref_layout(&w->layout, ref))
		return false;
	for (uint32_t i = 0; i < w->known.count; i++)
		complies |= w->known.modes[i] & MSG_MODE_BIT_COMPLIANT;
	if (!complies)
		ref_layout_rigid(&w->layout);
	return true;
}

/* The number of a source in a refmuxd's state; -1: it is not one of its own. */
static int source_in(const struct msg_mux_state *mux, const char *output, const char *source)
{
	if (strncmp(mux->output, output, MSG_NAME_SIZE) != 0)
		return -1;
	for (uint32_t i = 0; i < mux->source_count && i < MSG_SOURCES; i++)
		if (!strncmp(mux->source[i], source, MSG_NAME_SIZE))
			return (int)i;
	return -1;
}

/* The device of a name with a prefix is the end of it. */
static const char *device_of(const char *name)
{
	const char *prefix = getenv("ENDPLATE_PREFIX");
	const size_t len = prefix ? strlen(prefix) : 0;

	return len && !strncmp(name, prefix, len) ? name + len : name;
}

/* Finds the refmuxd of the source among all that publish. */
static bool open_mux(struct put_watch *w, const char *output, const char *source)
{
	DIR *folder = ach_file_list();
	union message msg;
	const char *name;

	while (w->source < 0 && folder && (name = ach_file_next(folder))) {
		const struct msg_type *type;

		if (!text_ends_with(name, "-state") || ach_open(&w->state, name, NULL) != ACH_OK)
			continue;
		type = newest(&w->state, &msg);
		if (type && type->number == msg_mux_state_number)
			w->source = source_in(&msg.mux, output, source);
		if (w->source >= 0)
			open_of(&w->event, name, strlen(name) - strlen("-state"), "-event");
		else
			ach_close(&w->state);
	}
	if (folder)
		closedir(folder);
	return w->source >= 0;
}

static bool open_driver(struct put_watch *w, size_t len)
{
	if (!open_of(&w->info, w->name, len, "-info") || !open_of(&w->state, w->name, len, "-state"))
		return false;
	open_of(&w->event, w->name, len, "-event");
	return true;
}

static bool open_source(struct put_watch *w, size_t len)
{
	const char *dot = memrchr(w->name, '.', len);
	char output[ACH_CHAN_NAME_MAX], source[ACH_CHAN_NAME_MAX];

	if (!dot || !open_of(&w->info, w->name, (size_t)(dot - w->name), "-info"))
		return false;
	snprintf(output, sizeof(output), "%.*s", (int)(dot - w->name), w->name);
	snprintf(source, sizeof(source), "%.*s", (int)(w->name + len - dot - 1), dot + 1);
	return open_mux(w, device_of(output), source);
}

/* References refused so far, in its newest state; false: it is silent. */
static bool read_state(struct put_watch *w, uint64_t *refused)
{
	union message msg;
	const struct msg_type *type = newest(&w->state, &msg);

	if (!type || !msg_is_state(type) || clock_now_ns() - msg.front.header.t_publish_ns > DEAD_NS)
		return false;
	if (w->source >= 0 && type->number != msg_mux_state_number)
		return false;
	*refused = w->source >= 0 ? msg.mux.refused[w->source] : ref_refused(&msg.front.common.refs_refused);
	if (msg.front.header.incarnation != w->incarnation) { /* it began to count again */
		w->incarnation = msg.front.header.incarnation;
		w->refused = 0;
	}
	w->ticks = msg.front.common.ticks;
	w->states = msg.front.header.sequence;
	return true;
}

void put_watch_open(struct put_watch *w, const char *name)
{
	const size_t len = text_ends_with(name, "-ref") ? strlen(name) - strlen("-ref") : 0;

	uint64_t refused;

	*w = (struct put_watch){ .name = name, .source = -1, .verdict = REF_TAKEN };
	w->on = len && (open_driver(w, len) || open_source(w, len)) && read_info(w) && read_state(w, &refused);
	w->refused = w->on ? refused : 0;
	if (w->on)
		ach_flush(&w->event);
}

void put_watch_close(struct put_watch *w)
{
	ach_close(&w->info);
	ach_close(&w->state);
	ach_close(&w->event);
}

/* ---- what it would say, and what it said ---- */

void put_watch_judge(struct put_watch *w, const void *ref, size_t len, int64_t now_ns)
{
	struct ref_rules rules = { .layout = &w->layout,
				   .max_ahead_ns = w->source < 0 ? w->known.valid_max_ns : SOURCE_VALID_NS };
	enum ref_verdict verdict;

	if (!w->on || !read_info(w))
		return;
	rules.count = w->known.count;
	rules.incarnation = w->known.header.incarnation;
	rules.joints = w->known.joint;
	w->puts++;
	verdict = ref_check(ref, len, &rules, now_ns);
	/* It is read up to a tick later, when a little less of it is left. */
	if (verdict == REF_TOO_FAR)
		verdict = ref_check(ref, len, &rules, now_ns + w->known.period_ns);
	if (verdict == REF_TAKEN && w->verdict != REF_TAKEN)
		return; /* one that was wrong is not known to be read yet */
	w->verdict = verdict;
	ref_refusal_text(w->text, sizeof(w->text), verdict, ref, len, &rules, now_ns);
}

/* Has the reader said of a reference of this process why it was refused?  The newest, into why. */
static bool hears(struct put_watch *w)
{
	const struct msg_type *type = msg_type_by_number(msg_event_number);
	enum ach_status status = ACH_OK;
	union message msg;
	char mine[32];
	const char *at;
	bool found = false;
	size_t len;

	snprintf(mine, sizeof(mine), "process %d: ", (int)getpid());
	for (;;) {
		status = ach_get(&w->event, &msg, sizeof(msg), &len, NULL, 0);
		if (status != ACH_OK && status != ACH_MISSED_FRAME)
			return found;
		if (msg_check(&msg, len, type, NULL) != MSG_FINE)
			continue;
		msg.event.code[MSG_NAME_SIZE - 1] = msg.event.text[MSG_TEXT_SIZE - 1] = 0;
		at = strcmp(msg.event.code, REF_REFUSED) ? NULL : strstr(msg.event.text, mine);
		if (at)
			snprintf(w->why, sizeof(w->why), "%s", at + strlen(mine));
		found |= at != NULL;
	}
}

bool put_watch_look(struct put_watch *w)
{
	uint64_t refused, more;

	if (!w->on || !read_state(w, &refused))
		return false;
	more = refused - w->refused;
	w->refused = refused;
	if (!more)
		return false;
	if (w->verdict != REF_TAKEN)
		memcpy(w->why, w->text, sizeof(w->why));
	else if (!hears(w))
		return false; /* another writer's */
	w->count += more < w->puts ? more : w->puts;
	w->verdict = REF_TAKEN;
	w->puts = 0;
	return true;
}

bool put_watch_wait(struct put_watch *w)
{
	const uint64_t ticks = w->ticks + TICKS, states = w->states + TICKS + 1;
	const int64_t until_ns = clock_now_ns() + WAIT_MAX_NS;
	struct clock_fd stop = { .fd = clock_stop_fd(), .events = POLLIN };

	while (w->on && (w->ticks < ticks || w->states < states) && clock_now_ns() < until_ns) {
		if (clock_wait(&stop, 1, clock_now_ns() + LOOK_NS))
			break;
		if (put_watch_look(w))
			return true;
	}
	return put_watch_look(w);
}
