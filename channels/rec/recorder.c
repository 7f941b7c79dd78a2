/* recorder.c: records channels: every message, with its time, in the format of reclog.h. */
#include <sys/inotify.h>
#include <unistd.h>

#include "channels/ach/ach_file.h"
#include "channels/ach/ach_ring.h"
#include "channels/clock/vt_clock.h"
#include "channels/msg/msg.h"
#include "channels/rec/chan.h"
#include "channels/rec/recorder.h"

#define RECORDER_BATCH 256     /* messages of a channel before the others have their turn */
#define CHECK_NS 500000000     /* between two checks whether channels were removed */
#define CHECK_SOON_NS 20000000 /* while some are not there, and on a virtual clock */

enum { TAG_STOP = RECORDER_CHANNELS_MAX, TAG_ENDED, TAG_FOLDER };

/* "NAME: WHY".  r. */
static int refuse(const struct recorder *rec, int r, const char *name, const char *why)
{
	if (rec->errors)
		return error_refuse(rec->errors, r, "%s: %s", name, why);
	return program_report(r, "%s: %s", name, why);
}

/* ---- into the file ---- */

/* A record of now. */
static struct reclog_record record_of(enum reclog_kind kind, size_t channel, uint64_t number)
{
	return (struct reclog_record){
		.kind = kind, .channel = (uint16_t)channel, .t_ns = clock_now_ns(), .number = number
	};
}

static bool is_message(const struct reclog_record *r)
{
	return r->kind == RECLOG_MESSAGE || r->kind == RECLOG_SPARSE;
}

/* Records in the memory that give way to newer ones. */
static void lose(void *to, const char *bytes, size_t len)
{
	struct recorder *rec = to;

	for (size_t at = 0; at < len;) {
		struct reclog_record r;
		struct recorder_channel *c;

		if (len - at >= RECLOG_MAGIC_SIZE && !memcmp(bytes + at, RECLOG_MAGIC, RECLOG_MAGIC_SIZE))
			at += RECLOG_MAGIC_SIZE;
		r = reclog_head_read((const uint8_t *)bytes + at);
		c = &rec->channels[r.channel];
		if (r.kind == RECLOG_CHANNEL)
			c->described = false;
		if (r.kind == RECLOG_LOSS)
			c->dropped += r.number;
		if (is_message(&r)) {
			c->dropped++;
			c->lost++;
			rec->messages--;
		}
		at += RECLOG_HEAD_SIZE + r.len;
	}
}

/* The description of a channel.  Returns its length; 0: the room is too small. */
static size_t write_channel(struct recorder *rec, size_t i, char *bytes, size_t room)
{
	struct recorder_channel *c = &rec->channels[i];
	struct reclog_record r = record_of(RECLOG_CHANNEL, i, c->id);
	uint8_t body[RECLOG_CHANNEL_MAX];

	r.body = body;
	r.len = reclog_channel_write(body, &c->what);
	if (room < RECLOG_HEAD_SIZE + r.len)
		return 0;
	reclog_head((uint8_t *)bytes, &r);
	memcpy(bytes + RECLOG_HEAD_SIZE, body, r.len);
	c->described = true;
	return RECLOG_HEAD_SIZE + r.len;
}

/* Writes in their place what is missing, and what was described there; the rest of it, if the room is too small,
 * follows later. */
static size_t note_lost(void *to, char *bytes, size_t room)
{
	struct recorder *rec = to;
	size_t len = 0;

	for (size_t i = 0; i < rec->n; i++) {
		struct reclog_record r = record_of(RECLOG_LOSS, i, rec->channels[i].dropped);

		if (!rec->channels[i].described)
			len += write_channel(rec, i, bytes + len, room - len);
		if (!r.number || room - len < RECLOG_HEAD_SIZE)
			continue;
		reclog_head((uint8_t *)bytes + len, &r);
		len += RECLOG_HEAD_SIZE;
		rec->channels[i].dropped = 0;
	}
	return len;
}

static size_t begin(void *to, char *bytes, size_t room)
{
	struct recorder *rec = to;
	struct reclog_record start = record_of(RECLOG_START, 0, (uint64_t)clock_real_ns());
	size_t len = RECLOG_MAGIC_SIZE + RECLOG_HEAD_SIZE;

	memcpy(bytes, RECLOG_MAGIC, RECLOG_MAGIC_SIZE);
	reclog_head((uint8_t *)bytes + RECLOG_MAGIC_SIZE, &start);
	for (size_t i = 0; i < rec->n; i++) {
		rec->channels[i].described = false;
		len += write_channel(rec, i, bytes + len, room - len);
	}
	return len;
}

static size_t end(void *to, uint64_t items, int64_t t_ns, char bytes[WRITER_END_MAX])
{
	struct reclog_record r = { .kind = RECLOG_END, .t_ns = t_ns, .number = items };

	(void)to;
	reclog_head((uint8_t *)bytes, &r);
	return RECLOG_HEAD_SIZE;
}

static bool put_record(struct recorder *rec, const struct reclog_record *r)
{
	uint8_t head[RECLOG_HEAD_SIZE];
	const struct iovec parts[] = { { head, sizeof(head) }, { (void *)(uintptr_t)r->body, r->len } };

	if (rec->bare)
		reclog_head_bare(head, r);
	else
		reclog_head(head, r);
	return writer_put(rec->writer, r->t_ns, is_message(r), parts, 2);
}

/* The description of the channel and its losses, which precede its next message.  false: there is no room now. */
static bool put_notes(struct recorder *rec, size_t i)
{
	struct recorder_channel *c = &rec->channels[i];
	char bytes[RECLOG_HEAD_SIZE + RECLOG_CHANNEL_MAX];
	struct reclog_record r;

	if (!c->described) {
		const struct iovec part = { bytes, write_channel(rec, i, bytes, sizeof(bytes)) };

		c->described = writer_put(rec->writer, clock_now_ns(), false, &part, 1);
		if (!c->described)
			return false;
	}
	if (c->missing) {
		r = record_of(RECLOG_LOSS, i, c->missing);
		if (!put_record(rec, &r))
			return false;
		c->missing = 0;
	}
	return true;
}

static void count_lost(struct recorder_channel *c, uint64_t n)
{
	c->missing += n;
	c->lost += n;
}

/* A message or a frame, and how many before it were lost. */
static void put_counted(struct recorder *rec, const struct reclog_record *r, uint64_t missed)
{
	struct recorder_channel *c = &rec->channels[r->channel];

	count_lost(c, missed);
	if (r->len <= RECLOG_BODY_MAX && put_notes(rec, r->channel) && put_record(rec, r))
		rec->messages++;
	else
		count_lost(c, 1);
}

static void put_message(struct recorder *rec, size_t i)
{
	struct recorder_channel *c = &rec->channels[i];
	struct reclog_record r = record_of(RECLOG_MESSAGE, i, c->f.chan.seq_num);
	const size_t packed = rec->sparse ? rec_delta_pack(rec->packed, c->f.bytes, c->f.len) : 0;

	if (rec->seen)
		rec->seen(c);
	r.body = packed ? rec->packed : c->f.bytes;
	r.len = packed ? packed : c->f.len;
	r.kind = packed ? RECLOG_SPARSE : RECLOG_MESSAGE;
	put_counted(rec, &r, c->f.missed);
}

/* ---- the channels ---- */

static int wait_for(struct recorder *rec, size_t i)
{
	return rec->polled ? 0 : clock_set_add_channel(rec->set, &rec->channels[i].f.chan, (uint32_t)i);
}

static void wait_no_more(struct recorder *rec, size_t i)
{
	if (!rec->polled)
		clock_set_remove_channel(rec->set, &rec->channels[i].f.chan);
}

static void describe(struct recorder *rec, size_t i, uint32_t type)
{
	struct recorder_channel *c = &rec->channels[i];
	const struct ach_handle *h = c->f.chan.handle;

	c->what = (struct reclog_channel){ .type = type };
	snprintf(c->what.name, sizeof(c->what.name), "%.*s", (int)sizeof(c->what.name) - 1, c->name);
	c->described = false;
	c->id = 0;
	if (!c->f.gone) {
		c->what.count = h->count;
		c->what.size = (uint32_t)(h->lsize / h->count);
		c->what.mode = ach_memory_mode(h);
		c->id = h->id;
	}
}

static uint32_t type_by_name(const char *name)
{
	const struct msg_type *type = msg_type_by_channel(name);

	return type ? type->number : 0;
}

/* Behind the last message of it in an earlier file; or from its first message on, and if it is older than this process,
 * what it does not hold any more is not lost. */
static void find_place(struct recorder *rec, struct recorder_channel *c)
{
	c->f.counts = rec->begun;
	for (size_t i = 0; i < rec->places_n; i++)
		if (rec->places[i].id == c->f.chan.handle->id) {
			c->f.chan.seq_num = rec->places[i].number;
			c->f.counts = true;
		}
}

/* A channel was opened: another one than that of the last time. */
static void take_channel(struct recorder *rec, size_t i)
{
	struct recorder_channel *c = &rec->channels[i];

	if (rec->errors)
		find_place(rec, c);
	c->said = false;
	describe(rec, i, type_by_name(c->name));
}

static void say_why(struct recorder *rec, struct recorder_channel *c)
{
	const char *why = *ach_errstr() ? ach_errstr() : ach_result_to_string(c->f.status);

	if (!c->said && strstr(why, c->name))
		error_add(rec->errors, "%s", why);
	else if (!c->said)
		error_add(rec->errors, "%s: %s", c->name, why);
	c->said = true;
}

static int read_channel(struct recorder *rec, size_t i, size_t most)
{
	struct recorder_channel *c = &rec->channels[i];
	int r = 0;

	for (size_t k = 0; k < most && (r = follow_next(&c->f)) > 0; k++)
		put_message(rec, i);
	if (r >= 0)
		return 0;
	if (!rec->errors)
		return -EIO;
	say_why(rec, c);
	c->broken = c->f.chan.handle->id;
	wait_no_more(rec, i);
	follow_leave(&c->f);
	return 0;
}

/* ---- the buses ---- */

/* Frames, and those that were lost before them. */
static void read_bus(struct recorder *rec, size_t i)
{
	struct recorder_channel *c = &rec->channels[i];
	struct ros_can can;

	while (rec->buses->receive(c->bus, &can)) {
		struct reclog_record r = record_of(RECLOG_MESSAGE, i, ++c->frames);
		const uint64_t lost = rec->buses->lost(c->bus) - c->dropped_frames;
		uint8_t body[RECLOG_CAN_MAX];

		c->dropped_frames += lost;
		r.t_ns = can.t_ns;
		r.body = body;
		r.len = reclog_can_write(body, &can);
		put_counted(rec, &r, lost);
	}
}

/* When one of them is to be read at the latest. */
static int64_t buses_ns(const struct recorder *rec)
{
	int64_t next_ns = CLOCK_NEVER;

	for (size_t i = 0; i < rec->n; i++)
		if (rec->channels[i].bus && rec->buses->next_ns(rec->channels[i].bus) < next_ns)
			next_ns = rec->buses->next_ns(rec->channels[i].bus);
	return next_ns;
}

/* Opens the channel again if it was removed and made again. */
static void check_channel(struct recorder *rec, size_t i)
{
	struct recorder_channel *c = &rec->channels[i];
	struct follow *f = &c->f;
	const bool was_gone = f->gone;

	follow_check(f);
	if (!f->gone && f->chan.handle->id == c->broken)
		follow_leave(f);
	else if (f->gone && rec->errors && f->status != ACH_ENOENT)
		say_why(rec, c);
	if (!was_gone && (f->gone || f->chan.handle->id != c->id))
		wait_no_more(rec, i);
	if (!f->gone && f->chan.handle->id != c->id)
		take_channel(rec, i);
}

/* Finds channels that were removed, recreated or made at last, and adds them to the set. */
static int check_channels(struct recorder *rec)
{
	const int64_t now = clock_own_ns();

	rec->check_ns = now + CHECK_NS;
	for (size_t i = 0; i < rec->n; i++) {
		struct recorder_channel *c = &rec->channels[i];
		const bool due = c->f.gone || now >= c->f.check_ns;
		const uint64_t id = c->id;
		int r = 0;

		if (c->bus)
			continue;
		if (due && !c->f.gone)
			r = read_channel(rec, i, c->f.chan.handle->count); /* before it may be closed */
		if (r)
			return r;
		if (due)
			check_channel(rec, i);
		if (!c->f.gone && (c->id != id || !rec->begun))
			r = wait_for(rec, i);
		if (r)
			return refuse(rec, r, c->name, strerror(-r));
		if (c->f.gone && rec->folder < 0)
			rec->check_ns = now + CHECK_SOON_NS;
	}
	return 0;
}

/* ---- the calls ---- */

int recorder_open(struct recorder *rec, struct error_sink *errors)
{
	int r;

	*rec = (struct recorder){ .errors = errors, .folder = -1 };
	rec->channels = calloc(RECORDER_CHANNELS_MAX, sizeof(*rec->channels));
	if (!rec->channels)
		return -ENOMEM;
	r = clock_set_open(&rec->set);
	if (!r)
		r = clock_set_add_fd(rec->set, clock_stop_fd(), POLLIN, TAG_STOP);
	/* The kernel also reports files of other robots, in real time: on a virtual clock it looks instead. */
	rec->looks = vt_clock_end();
	rec->folder = rec->looks ? -1 : inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (rec->folder >= 0 &&
	    (inotify_add_watch(rec->folder, ach_file_dir(), IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM) < 0 ||
	     clock_set_add_fd(rec->set, rec->folder, POLLIN, TAG_FOLDER))) {
		close(rec->folder); /* they are found a little later */
		rec->folder = -1;
	}
	return r;
}

bool recorder_has(const struct recorder *rec, const char *name)
{
	for (size_t i = 0; i < rec->n; i++)
		if (!strcmp(rec->channels[i].name, name))
			return true;
	return false;
}

/* From now on.  The newest message gives the type. */
static int open_now(struct recorder *rec, size_t i)
{
	struct follow *f = &rec->channels[i].f;
	const char *name = rec->channels[i].name;
	uint32_t type = type_by_name(name);
	const struct msg_type *found;

	if (follow_open(f, name))
		return EXIT_RETRY;
	if (follow_from(f, 1) && follow_next(f) > 0)
		type = msg_check(f->bytes, f->len, NULL, &found) == MSG_FINE ? found->number : 0;
	f->counts = true;
	describe(rec, i, type);
	return 0;
}

int recorder_add(struct recorder *rec, const char *name)
{
	struct recorder_channel *c = &rec->channels[rec->n];
	const char *own = c->name;
	ach_channel_t chan;
	enum ach_status status = ACH_ENOENT;

	if (rec->n == RECORDER_CHANNELS_MAX)
		return refuse(rec, EXIT_RETRY, name, "there is no room for another channel");
	snprintf(c->name, sizeof(c->name), "%s", name);
	if (!rec->errors) {
		status = rec->wait ? ach_open(&chan, name, NULL) : ACH_OK;
		if (rec->wait && status == ACH_OK)
			ach_close(&chan);
	}
	if (status != ACH_ENOENT) {
		if (open_now(rec, rec->n))
			return EXIT_RETRY;
	} else {
		c->f = (struct follow){ .name = own, .gone = true, .fd = -1, .counts = true, .quiet = rec->errors };
		describe(rec, rec->n, type_by_name(own));
		if (rec->errors)
			check_channel(rec, rec->n);
		if (rec->begun && !c->f.gone && wait_for(rec, rec->n)) {
			follow_leave(&c->f);
			c->id = 0;
		}
	}
	rec->n++;
	return 0;
}

int recorder_add_bus(struct recorder *rec, const char *text, struct error_sink *errors)
{
	struct recorder_channel *c = &rec->channels[rec->n];
	char name[ROS_CAN_BUS_MAX];

	if (rec->n == RECORDER_CHANNELS_MAX)
		return refuse(rec, EXIT_RETRY, text, "there is no room for another bus");
	c->bus = rec->buses->open(text, name, errors);
	if (!c->bus)
		return EXIT_RETRY;
	snprintf(c->name, sizeof(c->name), "%s", name);
	c->f = (struct follow){ .name = c->name, .gone = true, .fd = -1 };
	describe(rec, rec->n, RECLOG_CAN);
	rec->n++;
	return 0;
}

int recorder_begin(struct recorder *rec, struct writer_options *writer, struct error_sink *errors)
{
	int r;

	writer->lose = lose;
	writer->note = note_lost;
	writer->begin = begin;
	writer->end = end;
	writer->to = rec;
	rec->bare = writer->convert;
	r = writer_open(&rec->writer, writer, errors);
	if (!r)
		r = clock_set_add_fd(rec->set, writer_ended_fd(rec->writer), POLLIN, TAG_ENDED);
	if (!r)
		r = check_channels(rec);
	for (size_t i = 0; i < rec->n && !r; i++)
		if (rec->channels[i].bus)
			r = rec->buses->join(rec->channels[i].bus, rec->set, (uint32_t)i);
	rec->begun = true;
	return r;
}

static void folder_changed(struct recorder *rec)
{
	char events[4096];

	while (read(rec->folder, events, sizeof(events)) > 0)
		;
	rec->check_ns = 0;
	for (size_t i = 0; i < rec->n; i++)
		rec->channels[i].f.check_ns = 0;
}

int recorder_turn(struct recorder *rec, int64_t deadline_ns)
{
	const int64_t bus_ns = buses_ns(rec);
	uint32_t tags[CLOCK_TAGS_MAX];
	int n, r = 0, happened = 0;

	if (clock_own_ns() >= rec->check_ns)
		r = check_channels(rec);
	if (r)
		return r;
	if (rec->check_ns - clock_own_ns() < deadline_ns - clock_now_ns())
		deadline_ns = clock_now_ns() + rec->check_ns - clock_own_ns();
	if (rec->looks && rec->look_ns < deadline_ns)
		deadline_ns = rec->look_ns;
	n = clock_set_wait(rec->set, tags, CLOCK_TAGS_MAX, bus_ns < deadline_ns ? bus_ns : deadline_ns);
	if (n < 0)
		return refuse(rec, n, "unable to wait", strerror(-n));
	for (int i = 0; i < n && !r; i++) {
		if (tags[i] == TAG_STOP)
			happened |= RECORDER_STOP;
		else if (tags[i] == TAG_ENDED)
			happened |= RECORDER_ENDED;
		else if (tags[i] == TAG_FOLDER)
			happened |= RECORDER_FOLDER;
		else if (!rec->channels[tags[i]].f.gone)
			r = read_channel(rec, tags[i], RECORDER_BATCH);
	}
	for (size_t i = 0; i < rec->n && !r; i++) {
		if (rec->channels[i].bus)
			read_bus(rec, i);
		else if (rec->polled && !rec->channels[i].f.gone)
			r = read_channel(rec, i, RECORDER_BATCH);
	}
	if (rec->looks && clock_now_ns() >= rec->look_ns) {
		rec->look_ns = clock_now_ns() + CHECK_SOON_NS;
		happened |= RECORDER_FOLDER;
	}
	if (happened & RECORDER_FOLDER)
		folder_changed(rec);
	return r ? r : happened;
}

/* Reads what was put before the signal, but no more than a channel can hold. */
static void read_rest(struct recorder *rec)
{
	for (size_t i = 0; i < rec->n; i++)
		rec->channels[i].f.check_ns = 0;
	if (check_channels(rec))
		return;
	for (size_t i = 0; i < rec->n; i++)
		if (!rec->channels[i].f.gone)
			read_channel(rec, i, rec->channels[i].f.chan.handle->count);
		else if (rec->channels[i].bus)
			read_bus(rec, i);
}

int recorder_end(struct recorder *rec, bool rest)
{
	if (rest)
		read_rest(rec);
	writer_ending(rec->writer);
	for (size_t i = 0; i < rec->n; i++) {
		rec->channels[i].missing += rec->channels[i].dropped;
		put_notes(rec, i);
	}
	return writer_finish(rec->writer);
}

void recorder_close(struct recorder *rec)
{
	writer_close(rec->writer);
	while (rec->n) {
		struct recorder_channel *c = &rec->channels[--rec->n];

		if (c->bus)
			rec->buses->close(c->bus);
		follow_close(&c->f);
	}
	free(rec->channels);
	clock_set_close(rec->set);
	if (rec->folder >= 0)
		close(rec->folder);
}

uint64_t recorder_lost(const struct recorder *rec)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < rec->n; i++)
		lost += rec->channels[i].lost;
	return lost;
}
