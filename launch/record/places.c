/* places.c: where earlier recordings end. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "channels/rec/rec_rotate.h"
#include "launch/record/achlogd.h"

struct places {
	struct recorder_place *found; /* number 0: described, and its last message is not found yet */
	size_t n, open;
};

static struct recorder_place *place_of(struct places *p, uint64_t id)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->found[i].id == id)
			return &p->found[i];
	if (p->n == RECORDER_CHANNELS_MAX)
		return NULL;
	p->found[p->n] = (struct recorder_place){ .id = id };
	p->open++;
	return &p->found[p->n++];
}

/* A channel of this number in the piece is over: another one follows, or the piece ends. */
static void close_channel(struct places *p, struct recorder_place *last)
{
	struct recorder_place *place = last->id ? place_of(p, last->id) : NULL;

	if (place && last->number && !place->number) {
		place->number = last->number;
		p->open--;
	}
	*last = (struct recorder_place){ 0 };
}

static void read_piece(struct places *p, const char *path)
{
	static struct recorder_place last[RECLOG_CHANNELS_MAX]; /* by the number in the piece */
	struct reclog_reader reader;
	struct reclog_record r;
	enum reclog_found found;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	reclog_open(&reader, fd);
	while ((found = reclog_read(&reader, &r)) == RECLOG_FOUND_RECORD || found == RECLOG_FOUND_DAMAGE) {
		struct recorder_place *l = &last[r.channel];

		if (found == RECLOG_FOUND_DAMAGE)
			continue;
		if (r.kind == RECLOG_CHANNEL && l->id != r.number) {
			close_channel(p, l);
			l->id = r.number;
		}
		if (r.kind == RECLOG_MESSAGE && l->id)
			l->number = r.number;
	}
	for (size_t i = 0; i < RECLOG_CHANNELS_MAX; i++)
		close_channel(p, &last[i]);
	reclog_close(&reader);
	close(fd);
}

size_t places_read(struct recorder_place places[RECORDER_CHANNELS_MAX], const char *whole)
{
	struct places p = { .found = places };
	struct rec_piece *pieces;
	char path[PATH_MAX];
	size_t n = writer_pieces(whole, &pieces), kept = 0;

	for (size_t left = n; left && (left == n || p.open); left--)
		if (!rec_rotate_path(path, whole, ACHLOGD_DIGITS, pieces[left - 1].number))
			read_piece(&p, path);
	free(pieces);
	for (size_t i = 0; i < p.n; i++)
		if (places[i].number)
			places[kept++] = places[i];
	return kept;
}
