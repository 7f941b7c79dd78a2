/* replay_match_sort.c: the frames of a recording: the driver's own, the answers to them, all others. */
#include "can/replay/replay_match_inside.h"

/* ---- own frames ---- */

const struct replay_match_id *replay_match_id_of(const struct replay_match *l, unsigned int bus, uint32_t id)
{
	for (size_t i = 0; i < l->ids_n; i++)
		if (l->ids[i].id == id && l->ids[i].bus == bus)
			return &l->ids[i];
	return NULL;
}

/* The bits of the key, and how many of its bytes the frame has: a frame that ends before a byte differs from one in
 * which that byte is 0. */
static struct frame key_of(const struct replay_match_id *id, const struct frame *frame, unsigned int *bytes)
{
	struct frame key = { .id = frame->id };

	*bytes = 0;
	for (unsigned int i = 0; i < frame_data_len(frame); i++) {
		key.data[i] = frame->data[i] & id->key[i];
		*bytes += id->key[i] != 0;
		if (id->key[i])
			key.len = (uint8_t)(i + 1);
	}
	return key;
}

static uint32_t hash_of(unsigned int bus, const struct frame *key, unsigned int bytes)
{
	uint32_t h = key->id * 2654435761u + bus * 40503u + bytes;

	for (unsigned int i = 0; i < key->len; i++)
		h = (h ^ key->data[i]) * 16777619u;
	return (h ^ h >> 16) % REPLAY_MATCH_HEADS;
}

struct replay_match_stream *replay_match_stream_of(struct replay_match *l, const struct replay_match_id *id,
						   const struct frame *frame)
{
	unsigned int bytes;
	const struct frame key = key_of(id, frame, &bytes);

	for (uint32_t s = l->heads[hash_of(id->bus, &key, bytes)]; s != REPLAY_MATCH_NONE;
	     s = l->streams[s].hash_next) {
		struct replay_match_stream *stream = &l->streams[s];

		if (stream->bus == id->bus && stream->key.id == key.id && stream->key_bytes == bytes &&
		    !memcmp(stream->key.data, key.data, sizeof(key.data)))
			return stream;
	}
	return NULL;
}

static struct replay_match_stream *new_stream(struct replay_match *l, const struct replay_match_id *id,
					      const struct frame *frame)
{
	struct replay_match_stream *stream;
	uint32_t *head;

	if (!grow(&l->streams, &l->streams_room, l->streams_n + 1, sizeof(*stream)))
		return NULL;
	stream = &l->streams[l->streams_n];
	*stream = (struct replay_match_stream){ .bus = id->bus,
						.first = REPLAY_MATCH_NONE,
						.last = REPLAY_MATCH_NONE,
						.at = REPLAY_MATCH_NONE,
						.before = REPLAY_MATCH_NONE,
						.differs_ns = INT64_MAX };
	stream->key = key_of(id, frame, &stream->key_bytes);
	head = &l->heads[hash_of(id->bus, &stream->key, stream->key_bytes)];
	stream->hash_next = *head;
	*head = l->streams_n++;
	return stream;
}

static int put_own(struct replay_match *l, uint32_t number, const struct replay_match_id *id)
{
	struct replay_match_item *item = &l->items[number];
	struct replay_match_stream *stream = replay_match_stream_of(l, id, &item->frame);

	if (!stream)
		stream = new_stream(l, id, &item->frame);
	if (!stream)
		return -ENOMEM;
	item->kind = REPLAY_MATCH_OWN;
	item->stream = (uint32_t)(stream - l->streams);
	if (stream->first == REPLAY_MATCH_NONE)
		stream->first = stream->at = number;
	else
		l->items[stream->last].next = number;
	stream->last = number;
	stream->counts.recorded++;
	l->totals.own++;
	if (l->first_own == REPLAY_MATCH_NONE)
		l->first_own = number;
	return 0;
}

/* ---- answers ---- */

#define OPEN_MAX 4096 /* requests that wait for an answer; then the oldest has none */

struct open {
	uint32_t item, last; /* the request, and its last answer */
	const struct replay_match_id *id;
	unsigned int frames; /* that came */
};

struct opens {
	struct open open[OPEN_MAX];
	size_t n;
};

static void close_open(struct opens *o, size_t i)
{
	o->n--;
	memmove(&o->open[i], &o->open[i + 1], (o->n - i) * sizeof(*o->open));
}

static int64_t longest_ns(const struct replay_match_id *id)
{
	int64_t most_ns = 0;

	for (size_t i = 0; i < id->rules_n; i++)
		most_ns = id->rules[i]->within_ns > most_ns ? id->rules[i]->within_ns : most_ns;
	return most_ns;
}

static void expire(struct replay_match *l, struct opens *o, int64_t now_ns)
{
	for (size_t i = 0; i < o->n;) {
		if (now_ns - l->items[o->open[i].item].t_ns <= longest_ns(o->open[i].id)) {
			i++;
			continue;
		}
		l->totals.unanswered += !o->open[i].frames;
		close_open(o, i);
	}
}

/* 0: not an answer of that rule; else 1 and the bits in which it has to agree. */
static unsigned int fits(const struct replay_match_rule *rule, const struct replay_match_item *asked,
			 const struct replay_match_item *item)
{
	const unsigned int then = frame_data_len(&asked->frame), now = frame_data_len(&item->frame);
	unsigned int bits = 1 + (unsigned int)__builtin_popcount(rule->reply_mask);

	if ((rule->reply_id ^ item->frame.id) & rule->reply_mask || item->t_ns - asked->t_ns > rule->within_ns)
		return 0;
	for (unsigned int i = 0; i < FRAME_DATA_MAX_FD; i++) {
		const uint8_t mask = rule->reply_key[i];

		if (mask && (i >= then || i >= now || (asked->frame.data[i] ^ item->frame.data[i]) & mask))
			return 0;
		bits += (unsigned int)__builtin_popcount(mask);
	}
	return bits;
}

struct fit {
	size_t open;
	unsigned int bits, frames;
	bool exact; /* all bits of the identifier count */
};

/* The request that it answers: of those that fit the one that it fits most exactly, then the oldest; but of the same
 * request, sent again, the last: a lost answer must not move all that follow to the request before. */
static bool find_asked(const struct replay_match *l, const struct opens *o, const struct replay_match_item *item,
		       struct fit *best)
{
	*best = (struct fit){ 0 };
	for (size_t i = 0; i < o->n; i++) {
		const struct replay_match_item *asked = &l->items[o->open[i].item];

		for (size_t r = 0; asked->bus == item->bus && r < o->open[i].id->rules_n; r++) {
			const struct replay_match_rule *rule = o->open[i].id->rules[r];
			const unsigned int bits = fits(rule, asked, item);

			if (bits > best->bits ||
			    (bits && bits == best->bits && asked->stream == l->items[o->open[best->open].item].stream))
				*best = (struct fit){ i, bits, rule->reply_frames, rule->reply_mask == UINT32_MAX };
		}
	}
	return best->bits;
}

static void put_answer(struct replay_match *l, struct opens *o, uint32_t number, const struct fit *fit)
{
	struct open *open = &o->open[fit->open];

	l->items[number].kind = REPLAY_MATCH_ANSWER;
	l->totals.answers++;
	if (open->frames++)
		l->items[open->last].next = number;
	else
		l->items[open->item].answers = number;
	open->last = number;
	if (open->frames >= fit->frames)
		close_open(o, fit->open);
}

static void put_open(struct replay_match *l, struct opens *o, uint32_t number, const struct replay_match_id *id)
{
	if (!id->rules_n)
		return;
	if (o->n == OPEN_MAX) {
		l->totals.unanswered += !o->open[0].frames;
		close_open(o, 0);
	}
	o->open[o->n++] = (struct open){ .item = number, .last = REPLAY_MATCH_NONE, .id = id };
}

/* ---- all ---- */

/* A device may answer with the identifier of the request: a longer frame is its, and one that fits a request of just
 * this identifier that waits. */
static bool is_own(const struct replay_match_id *id, const struct replay_match_item *item, bool fits_exactly)
{
	return id && !(id->echoed && (item->frame.len > id->len || fits_exactly));
}

int replay_match_sort(struct replay_match *l)
{
	struct opens *o = calloc(1, sizeof(*o));
	int status = o ? 0 : -ENOMEM;

	for (uint32_t i = 0; !status && i < l->n; i++) {
		struct replay_match_item *item = &l->items[i];
		const struct replay_match_id *id = replay_match_id_of(l, item->bus, item->frame.id);
		struct fit fit;
		bool answers;

		expire(l, o, item->t_ns);
		answers = (!id || id->echoed) && find_asked(l, o, item, &fit);
		if (is_own(id, item, answers && fit.exact)) {
			status = put_own(l, i, id);
			put_open(l, o, i, id);
		} else if (answers) {
			put_answer(l, o, i, &fit);
		} else {
			l->totals.others++;
		}
	}
	for (size_t i = 0; o && i < o->n; i++)
		l->totals.unanswered += !o->open[i].frames;
	free(o);
	return status;
}
