/* replay_live_refs.c: the references of a recording, published beside the frames of a closed loop. */
#include <fcntl.h>
#include <unistd.h>

#include "can/replay/replay_live_refs.h"
#include "channels/msg/msg.h"
#include "channels/tool/put.h"
#include "config/settings/program.h"

#define CHANNEL_MAX (1 << 24) /* bytes of a channel that is made because a file says so */
#define APART_NS 1000000000   /* a message was read within this time of its publication, or its stamp is not believed */

/* ---- reading ---- */

/* NULL: not wanted; else the name under which it is played. */
static const char *name_of(const struct settings_strings *names, const char *recorded)
{
	const size_t len = strlen(recorded);

	if (!names->n)
		return text_ends_with(recorded, "-ref") ? recorded : NULL;
	for (size_t i = 0; i < names->n; i++) {
		const char *item = names->item[i];

		if (!strncmp(item, recorded, len) && (!item[len] || item[len] == '='))
			return item[len] ? item + len + 1 : recorded;
	}
	return NULL;
}

static bool is_estop(const char *name)
{
	return text_ends_with(name, "estop") || text_ends_with(name, "estop-b");
}

static int describe(struct replay_live_refs *refs, const struct reclog_record *r, const struct settings_strings *names)
{
	struct replay_live_refs_channel *c;
	struct reclog_channel what;
	const char *name;

	if (reclog_channel_read(&what, r))
		return 0;
	if (!grow(&refs->channels, &refs->channels_room, r->channel + 1u, sizeof(*c)))
		return -ENOMEM;
	for (; refs->channels_n <= r->channel; refs->channels_n++)
		refs->channels[refs->channels_n] = (struct replay_live_refs_channel){ 0 };
	c = &refs->channels[r->channel];
	if (c->known && !what.count) /* it was removed, and no new one was made yet */
		return 0;
	name = is_estop(what.name) ? NULL : name_of(names, what.name);
	c->what = what;
	c->known = true;
	c->wanted = name;
	snprintf(c->name, sizeof(c->name), "%s", name ? name : "");
	if (name && text_ends_with(name, "-ref"))
		snprintf(c->state, sizeof(c->state), "%.*s-state", (int)(strlen(name) - 4) % 57, name);
	return 0;
}

/* When it was published, as far as it says so itself; else when it was read. */
static int64_t published_ns(const struct reclog_record *r)
{
	struct msg_header h;

	if (msg_check(r->body, r->len, NULL, NULL) != MSG_FINE)
		return r->t_ns;
	memcpy(&h, r->body, sizeof(h));
	return h.t_publish_ns <= r->t_ns && h.t_publish_ns > r->t_ns - APART_NS ? h.t_publish_ns : r->t_ns;
}

static int keep(struct replay_live_refs *refs, const struct reclog_record *r, int64_t epoch_ns)
{
	struct replay_live_refs_message m = { .recorded_ns = published_ns(r),
					      .channel = r->channel,
					      .len = (uint32_t)r->len };
	size_t at = refs->n;

	if (!grow(&refs->messages, &refs->room, refs->n + 1, sizeof(m)))
		return -ENOMEM;
	m.t_ns = m.recorded_ns + epoch_ns;
	m.bytes = malloc(r->len ? r->len : 1);
	if (!m.bytes)
		return -ENOMEM;
	memcpy(m.bytes, r->body, r->len);
	for (; at && m.t_ns < refs->messages[at - 1].t_ns; at--) /* of two channels, read a moment later */
		refs->messages[at] = refs->messages[at - 1];
	refs->messages[at] = m;
	refs->n++;
	return 0;
}

static void note_arming(struct replay_live_refs *refs, const struct reclog_record *r, int64_t epoch_ns)
{
	const struct msg_type *type;
	struct msg_estop estop;

	if (refs->armed_ns || msg_check(r->body, r->len, NULL, &type) != MSG_FINE || type->number != msg_estop_number)
		return;
	memcpy(&estop, r->body, sizeof(estop));
	if (estop.kind == MSG_ESTOP_LOWER && estop.level == MSG_LEVEL_RUN)
		refs->armed_ns = published_ns(r) + epoch_ns;
}

static int take(struct replay_live_refs *refs, const struct reclog_record *r, const struct settings_strings *names,
		int64_t *epoch_ns)
{
	if (r->kind == RECLOG_START)
		*epoch_ns = (int64_t)r->number - r->t_ns;
	if (r->kind == RECLOG_CHANNEL)
		return describe(refs, r, names);
	if (r->kind != RECLOG_MESSAGE || r->channel >= refs->channels_n)
		return 0;
	if (refs->channels[r->channel].wanted)
		return keep(refs, r, *epoch_ns);
	note_arming(refs, r, *epoch_ns);
	return 0;
}

static int read_all(struct replay_live_refs *refs, struct reclog_reader *reader, const char *path,
		    const struct settings_strings *names)
{
	struct reclog_record r;
	int64_t epoch_ns = 0;

	for (;;) {
		switch (reclog_read(reader, &r)) {
		case RECLOG_FOUND_RECORD:
			if (take(refs, &r, names, &epoch_ns))
				return program_fail("%s: no memory left", path);
			break;
		case RECLOG_FOUND_DAMAGE:
			return program_fail("%s: %zu bytes at %" PRIu64 " are damaged, so references would be missing",
					    path, r.len, r.position);
		case RECLOG_FOUND_CUT:
			program_say("%s: is cut off at %" PRIu64 "; all before it is whole", path, r.position);
			return 0;
		case RECLOG_FOUND_EOF:
			return 0;
		case RECLOG_FOUND_NO_LOG:
			return program_fail("%s: is not a recording of ach record", path);
		case RECLOG_FOUND_LARGE:
			return program_fail("%s: a record asks for %zu bytes; one has at most %d", path, r.len,
					    RECLOG_BODY_MAX);
		case RECLOG_FOUND_ERROR:
			return program_fail("%s: %s", path, strerror(errno));
		}
	}
}

static bool is_there(const struct replay_live_refs *refs, const char *item)
{
	const size_t len = strcspn(item, "=");

	for (size_t i = 0; i < refs->channels_n; i++)
		if (refs->channels[i].known && strlen(refs->channels[i].what.name) == len &&
		    !memcmp(refs->channels[i].what.name, item, len))
			return true;
	return false;
}

int replay_live_refs_read(struct replay_live_refs *refs, const char *path, const struct settings_strings *names)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct reclog_reader reader;
	int status;

	if (fd < 0)
		return program_fail("%s: %s", path, strerror(errno));
	reclog_open(&reader, fd);
	status = read_all(refs, &reader, path, names);
	reclog_close(&reader);
	close(fd);
	for (size_t i = 0; !status && i < names->n; i++)
		if (!is_there(refs, names->item[i]))
			status = program_fail("--channel: %s has no channel %s (ach play --list lists them)", path,
					      names->item[i]);
	if (!status && !refs->n && !refs->armed_ns)
		status = program_fail("%s: no messages of references: --channel NAME plays another channel", path);
	return status;
}

void replay_live_refs_close(struct replay_live_refs *refs)
{
	for (size_t i = 0; i < refs->n; i++)
		free(refs->messages[i].bytes);
	for (size_t i = 0; i < refs->channels_n; i++)
		if (refs->channels[i].open)
			ach_close(&refs->channels[i].chan);
	free(refs->messages);
	free(refs->channels);
}

/* ---- playing ---- */

bool replay_live_refs_span(const struct replay_live_refs *refs, int64_t *first_ns, int64_t *last_ns)
{
	if (!refs->n)
		return false;
	*first_ns = refs->messages[0].t_ns;
	*last_ns = refs->messages[refs->n - 1].t_ns;
	return true;
}

int64_t replay_live_refs_next_ns(const struct replay_live_refs *refs, int64_t offset_ns)
{
	return refs->at < refs->n ? refs->messages[refs->at].t_ns + offset_ns : INT64_MAX;
}

void replay_live_refs_begin(struct replay_live_refs *refs, int64_t offset_ns, int64_t now_ns)
{
	for (; replay_live_refs_next_ns(refs, offset_ns) < now_ns; refs->at++)
		refs->early++;
}

static int open_channel(struct replay_live_refs_channel *c)
{
	enum ach_status status = ach_open(&c->chan, c->name, NULL);
	ach_create_attr_t attr;

	if (status == ACH_ENOENT && (uint64_t)c->what.count * c->what.size <= CHANNEL_MAX) {
		ach_create_attr_init(&attr);
		ach_create_attr_set_mode(&attr, c->what.mode & 0777, (gid_t)-1);
		status = ach_create(c->name, c->what.count, c->what.size, &attr);
		if (status == ACH_OK || status == ACH_EEXIST)
			status = ach_open(&c->chan, c->name, NULL);
	}
	c->open = status == ACH_OK;
	return c->open ? 0 : program_fail("%s: %s", c->name, ach_result_to_string(status));
}

/* The incarnation of the driver that runs now; 0: not known. */
static uint32_t incarnation(const struct replay_live_refs_channel *c)
{
	struct msg_header h = { 0 };
	ach_channel_t chan;
	uint32_t found = 0;

	if (!c->state[0] || ach_open(&chan, c->state, NULL) != ACH_OK)
		return 0;
	if (put_newest(&chan, &h))
		found = h.incarnation;
	ach_close(&chan);
	return found;
}

static void rebase(struct replay_live_refs_message *m, const struct replay_live_refs_channel *c, int64_t by_ns)
{
	struct msg_header h;
	uint32_t now;

	if (msg_check(m->bytes, m->len, NULL, NULL) != MSG_FINE)
		return;
	memcpy(&h, m->bytes, sizeof(h));
	h.flags |= MSG_FLAG_REPLAYED;
	h.t_sample_ns += h.t_sample_ns ? by_ns : 0;
	h.t_publish_ns += by_ns;
	h.valid_until_ns += h.valid_until_ns ? by_ns : 0;
	now = h.for_incarnation ? incarnation(c) : 0;
	h.for_incarnation = now ? now : h.for_incarnation;
	memcpy(m->bytes, &h, sizeof(h));
}

int replay_live_refs_play(struct replay_live_refs *refs, int64_t offset_ns, int64_t now_ns)
{
	for (; replay_live_refs_next_ns(refs, offset_ns) <= now_ns; refs->at++) {
		struct replay_live_refs_message *m = &refs->messages[refs->at];
		struct replay_live_refs_channel *c = &refs->channels[m->channel];
		enum ach_status status;

		if (!c->open && open_channel(c))
			return EXIT_RETRY;
		rebase(m, c, m->t_ns + offset_ns - m->recorded_ns);
		status = ach_put(&c->chan, m->bytes, m->len);
		if (status != ACH_OK)
			return program_fail("%s: %s", c->name, ach_result_to_string(status));
		refs->put++;
	}
	return 0;
}
