/* slots.c: the table of rows, losses, state. */
#include "can/bus/bits.h"
#include "can/slots/slots_inside.h"
#include "channels/clock/clock.h"

/* ---- rows ---- */

/* On a bus that is not proven it would leave before a row that it has to leave after. */
static bool overtakes(const struct slots_row *row, const struct slots_row *rows, unsigned int rows_n)
{
	if (!row->harmless || row->class == SLOTS_URGENT)
		return false;
	for (unsigned int i = 0; i < rows_n; i++)
		if (rows[i].class == row->class && rows[i].step < row->step && !rows[i].harmless)
			return true;
	return false;
}

static const char *row_wrong(const struct slots_row *row, const struct slots_row *rows, unsigned int rows_n)
{
	if (row->id & FRAME_ERR || !frame_valid(&(struct frame){ .id = row->id }))
		return "no identifier that can be sent: 000 to 7FF, or up to 1FFFFFFF with FRAME_EXT";
	if ((unsigned int)row->class >= SLOTS_CLASSES)
		return "no class: one of SLOTS_URGENT, SLOTS_LATEST, SLOTS_COMMAND, SLOTS_QUEUE";
	if (row->period_ns < 0 || row->deadline_ns < 0 || (!row->period_ns && !row->deadline_ns))
		return "neither a period nor a deadline: after what time is it worth nothing?";
	if (row->period_ns > SLOTS_DEADLINE_MAX_NS || row->deadline_ns > SLOTS_DEADLINE_MAX_NS)
		return "more than an hour of period or deadline: they are nanoseconds";
	if (overtakes(row, rows, rows_n))
		return "harmless, but a lower step of its class is not: a bus that is not proven would take it first";
	return NULL;
}

static void set_options(struct slots *s, const struct slots_options *options)
{
	struct slots_options *o = &s->options;

	if (options)
		*o = *options;
	if (!o->in_flight)
		o->in_flight = 2;
	if (!o->bitrate)
		o->bitrate = 1000000;
	s->frame_ns = num_max(BITS_MAX * NS_PER_S / o->bitrate, o->longest_ns);
	s->patience_ns = (num_max(o->in_flight, SLOTS_PROBES) + 1) * s->frame_ns + 2 * NS_PER_MS;
	if (o->retry_ns <= 0)
		o->retry_ns = num_min(3 * s->frame_ns, NS_PER_MS);
}

int slots_init(struct slots *s, const struct slots_row *rows, unsigned int rows_n, const struct slots_options *options,
	       struct error_sink *errors)
{
	int status = 0;

	memset(s, 0, sizeof(*s));
	if (rows_n > SLOTS_ROWS_MAX)
		return error_refuse(errors, -EINVAL, "%u rows of frames to send on one bus: at most %d", rows_n,
				    SLOTS_ROWS_MAX);
	if (options && options->in_flight > SLOTS_IN_FLIGHT_MAX)
		return error_refuse(errors, -EINVAL, "in_flight: %u frames: at most %d", options->in_flight,
				    SLOTS_IN_FLIGHT_MAX);
	for (unsigned int i = 0; i < rows_n; i++) {
		const char *wrong = row_wrong(&rows[i], rows, rows_n);

		if (wrong) {
			error_add(errors, "row %u of the frames to send, %03X: %s", i, rows[i].id, wrong);
			status = -EINVAL;
		}
		s->harmless |= rows[i].harmless;
		s->rank[i] =
			(uint64_t)rows[i].class << 40 | (uint64_t)rows[i].step << 32 | bits_arbitration(rows[i].id);
	}
	if (status)
		return status;
	s->rows = rows;
	s->rows_n = rows_n;
	set_options(s, options);
	for (unsigned int i = 0; i < SLOTS_WAITING_MAX; i++)
		s->order[i] = (uint16_t)i;
	s->earliest_ns = CLOCK_NEVER;
	s->doubt_ns = CLOCK_NEVER;
	s->taken = -1;
	return 0;
}

/* ---- losses ---- */

void slots_lose(struct slots *s, unsigned int row, const struct frame *frame, enum slots_why why)
{
	struct slots_loss *loss;

	s->counts.lost++;
	if (s->losses_n == SLOTS_LOSSES_MAX) {
		s->losses_first = (s->losses_first + 1) % SLOTS_LOSSES_MAX;
		s->losses_n--;
	}
	loss = &s->losses[(s->losses_first + s->losses_n++) % SLOTS_LOSSES_MAX];
	loss->row = row;
	loss->why = why;
	loss->frame = *frame;
}

bool slots_lost(struct slots *s, struct slots_loss *loss)
{
	if (!s->losses_n)
		return false;
	*loss = s->losses[s->losses_first];
	s->losses_first = (s->losses_first + 1) % SLOTS_LOSSES_MAX;
	s->losses_n--;
	return true;
}

/* ---- how it is ---- */

enum slots_state slots_state(const struct slots *s)
{
	return s->state;
}

int64_t slots_since_ns(const struct slots *s)
{
	return s->since_ns;
}

bool slots_proven(const struct slots *s)
{
	return s->proven;
}

unsigned int slots_waiting(const struct slots *s)
{
	return s->waiting_n;
}

unsigned int slots_in_flight(const struct slots *s)
{
	return s->in_flight_n;
}

const struct slots_counts *slots_counts(const struct slots *s)
{
	return &s->counts;
}
