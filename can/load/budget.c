/* budget.c: what frames cost a bus. */
#include "can/load/budget.h"

#include "can/bus/bits.h"

#define SET_BACK_NS NS_PER_S /* a stamp that lies further back than this is from another time */

static int64_t bits_ns(uint64_t bits, uint32_t bitrate)
{
	return (int64_t)((bits * NS_PER_S + bitrate / 2) / bitrate);
}

/* ---- finding ---- */

uint32_t budget_rate_of(const struct budget_rate *rates, size_t n, const char *bus)
{
	uint32_t bitrate = 0;

	for (size_t i = 0; i < n; i++)
		if (rates[i].bus ? !strcmp(rates[i].bus, bus) : !bitrate)
			bitrate = rates[i].bitrate;
	return bitrate;
}

static struct budget_bus *bus_of(struct budget *b, const char *name)
{
	struct budget_bus *bus;

	for (size_t i = 0; i < b->buses_n; i++)
		if (!strcmp(b->buses[i].name, name))
			return &b->buses[i];
	if (!grow(&b->buses, &b->buses_room, b->buses_n + 1, sizeof(*bus)))
		return NULL;
	bus = &b->buses[b->buses_n++];
	memset(bus, 0, sizeof(*bus));
	snprintf(bus->name, sizeof(bus->name), "%s", name);
	bus->bitrate = budget_rate_of(b->options.rates, b->options.rates_n, bus->name);
	bus->data_bitrate = budget_rate_of(b->options.fd_rates, b->options.fd_rates_n, bus->name);
	return bus;
}

static size_t place(const struct budget *b, uint32_t bus, uint32_t id, bool fd)
{
	uint64_t key = ((uint64_t)bus << 33 | (uint64_t)fd << 32 | id) * 0x9e3779b97f4a7c15u;
	size_t at = key >> 20 & (b->index_size - 1);

	for (; b->index[at]; at = (at + 1) & (b->index_size - 1)) {
		const struct budget_id *other = &b->ids[b->index[at] - 1];

		if (other->id == id && other->bus == bus && other->fd == fd)
			break;
	}
	return at;
}

static int index_again(struct budget *b, size_t size)
{
	uint32_t *index = calloc(size, sizeof(*index));

	if (!index)
		return -ENOMEM;
	free(b->index);
	b->index = index;
	b->index_size = size;
	for (size_t i = 0; i < b->ids_n; i++)
		b->index[place(b, b->ids[i].bus, b->ids[i].id, b->ids[i].fd)] = (uint32_t)i + 1;
	return 0;
}

static struct budget_id *id_of(struct budget *b, uint32_t bus, const struct frame *f)
{
	const bool fd = f->flags & FRAME_FD;
	size_t at;

	if (b->ids_n >= b->index_size / 2 && index_again(b, b->index_size ? 2 * b->index_size : 256))
		return NULL;
	at = place(b, bus, f->id, fd);
	if (!b->index[at]) {
		if (!grow(&b->ids, &b->ids_room, b->ids_n + 1, sizeof(*b->ids)))
			return NULL;
		b->ids[b->ids_n] = (struct budget_id){ .bus = bus, .id = f->id, .fd = fd };
		b->index[at] = (uint32_t)++b->ids_n;
	}
	return &b->ids[b->index[at] - 1];
}

/* ---- the peak ---- */

/* A frame that ends at t_ns, not before the one before, and took busy_ns.  A window ends with each frame; a window that
 * begins before the first frame stands for the window that begins with it.  Of the frame that lies across its start
 * only the part inside counts. */
static int add_to_peak(const struct budget *b, struct budget_bus *bus, int64_t t_ns, int64_t busy_ns)
{
	const int64_t start = t_ns - b->options.window_ns;
	struct budget_recent *oldest;
	int64_t before, inside;

	if (bus->recent_n == bus->recent_room && bus->recent_first > bus->recent_n / 2) {
		bus->recent_n -= bus->recent_first;
		memmove(bus->recent, bus->recent + bus->recent_first, bus->recent_n * sizeof(*bus->recent));
		bus->recent_first = 0;
	}
	if (!grow(&bus->recent, &bus->recent_room, bus->recent_n + 1, sizeof(*bus->recent)))
		return -ENOMEM;
	bus->recent[bus->recent_n++] = (struct budget_recent){ t_ns, busy_ns };
	bus->recent_ns += busy_ns;
	for (oldest = bus->recent + bus->recent_first; oldest->t_ns <= start; oldest++) {
		bus->recent_ns -= oldest->busy_ns;
		bus->recent_first++;
	}
	before = start - (oldest->t_ns - oldest->busy_ns);
	inside = bus->recent_ns - (before > 0 ? before : 0);
	if (inside > bus->peak_ns) {
		bus->peak_ns = inside;
		bus->peak_at_ns = t_ns;
	}
	return 0;
}

/* ---- intervals ---- */

/* Frames come in order, but a frame that began in the interval before also counts there; that may be a new interval. */
static struct budget_interval *interval_of(struct budget_bus *bus, int64_t number)
{
	size_t at = bus->intervals_n;

	while (at && bus->intervals[at - 1].number > number)
		at--;
	if (at && bus->intervals[at - 1].number == number)
		return &bus->intervals[at - 1];
	if (!grow(&bus->intervals, &bus->intervals_room, bus->intervals_n + 1, sizeof(*bus->intervals)))
		return NULL;
	memmove(&bus->intervals[at + 1], &bus->intervals[at], (bus->intervals_n++ - at) * sizeof(*bus->intervals));
	bus->intervals[at] = (struct budget_interval){ .number = number };
	return &bus->intervals[at];
}

static int add_to_intervals(const struct budget *b, struct budget_bus *bus, int64_t t_ns, int64_t busy_ns)
{
	const int64_t over = b->options.over_ns;
	int64_t from = t_ns > busy_ns ? t_ns - busy_ns : 0;
	/* A frame that ends exactly at the end of an interval is inside. */
	struct budget_interval *last = interval_of(bus, (t_ns > 0 ? t_ns - 1 : 0) / over);

	if (!last)
		return -ENOMEM;
	last->frames++;
	while (from < t_ns) {
		int64_t number = from / over, end = (number + 1) * over < t_ns ? (number + 1) * over : t_ns;
		struct budget_interval *i = interval_of(bus, number);

		if (!i)
			return -ENOMEM;
		i->busy_ns += end - from;
		from = end;
	}
	return 0;
}

/* ---- counting ---- */

static int periods_add(struct budget *b, struct budget_periods *p, int64_t ns)
{
	size_t at = p->n;

	if (!p->n || ns < p->min_ns)
		p->min_ns = ns;
	if (!p->n || ns > p->max_ns)
		p->max_ns = ns;
	p->n++;
	if (at < BUDGET_KEPT) {
		if (!grow(&p->kept, &p->room, at + 1, sizeof(*p->kept)))
			return -ENOMEM;
	} else {
		/* Each of them all ends up among the kept ones with the same probability. */
		b->random = b->random * 6364136223846793005u + 1442695040888963407u;
		at = (b->random >> 33) % p->n;
	}
	if (at < BUDGET_KEPT)
		p->kept[at] = ns;
	return 0;
}

/* What a frame costs; slow and fast 0: it is not known. */
static struct bits_fd cost_of(const struct budget_bus *bus, const struct frame *f)
{
	struct bits_fd cost = { 0 };

	if (!(f->flags & FRAME_FD) || bus->data_bitrate)
		bits_any_of(&cost, f);
	cost.stuff += cost.fixed;
	return cost;
}

static int64_t cost_ns(const struct budget_bus *bus, const struct bits_fd *cost)
{
	int64_t ns = bits_ns(cost->slow, bus->bitrate);

	return cost->fast ? ns + bits_ns(cost->fast, bus->data_bitrate) : ns;
}

static void sum_add(struct budget_sum *sum, const struct frame *f, const struct bits_fd *cost, bool timed)
{
	sum->frames++;
	sum->bytes += frame_data_len(f);
	sum->bits += cost->slow + cost->fast;
	sum->stuff_bits += cost->stuff;
	sum->timed += timed;
	sum->timed_bits += timed ? cost->slow + cost->fast : 0;
	sum->timed_fast += timed ? cost->fast : 0;
}

/* The time of a stamp; less than span_ns if it is out of order. */
static int64_t time_of(struct budget *b, int64_t t_ns)
{
	int64_t t;

	if (!b->frames++) {
		b->first_ns = t_ns;
		if (__builtin_sub_overflow(0, t_ns, &b->shift_ns))
			b->shift_ns = 0;
	}
	if (__builtin_add_overflow(t_ns, b->shift_ns, &t) || t < b->span_ns - SET_BACK_NS || t > INT64_MAX / 2) {
		b->set_back++;
		if (__builtin_sub_overflow(b->span_ns, t_ns, &b->shift_ns))
			b->shift_ns = 0;
		t = b->span_ns;
	}
	if (t > b->span_ns)
		b->span_ns = t;
	return t;
}

static void error_count(struct budget_bus *bus, const struct frame *f)
{
	bus->errors++;
	for (unsigned int kind = 0; kind < BUDGET_ERROR_KINDS; kind++)
		bus->error_kinds[kind] += f->id >> kind & 1;
}

int budget_add(struct budget *b, const char *name, int64_t t_ns, const struct frame *f)
{
	const int64_t t = time_of(b, t_ns);
	struct budget_bus *bus = bus_of(b, name);
	const bool timed = b->frames > 1;
	struct budget_id *id;
	struct bits_fd cost;
	int status = 0;

	if (!bus)
		return -ENOMEM;
	if (f->id & FRAME_ERR) {
		error_count(bus, f);
		return 0;
	}
	id = id_of(b, (uint32_t)(bus - b->buses), f);
	if (!id)
		return -ENOMEM;
	if (id->sum.frames && id->last_set_back == b->set_back && t >= id->last_ns)
		status = periods_add(b, &id->periods, t - id->last_ns);
	id->last_ns = t;
	id->last_set_back = b->set_back;
	if (frame_data_len(f) > id->len_max)
		id->len_max = (uint8_t)frame_data_len(f);
	bus->fd += !!(f->flags & FRAME_FD);
	cost = cost_of(bus, f);
	if (cost.slow) {
		const int64_t busy_ns = cost_ns(bus, &cost);

		sum_add(&bus->sum, f, &cost, timed);
		if (!status && timed && b->options.window_ns)
			status = add_to_peak(b, bus, b->span_ns, busy_ns);
		if (!status && timed && b->options.over_ns)
			status = add_to_intervals(b, bus, b->span_ns, busy_ns);
	}
	sum_add(&id->sum, f, &cost, timed);
	return status;
}

/* ---- the end ---- */

static int by_precedence(const void *x, const void *y)
{
	const struct budget_id *a = x, *b = y;
	const struct frame f = { .id = a->id }, g = { .id = b->id };

	if (a->bus != b->bus)
		return a->bus < b->bus ? -1 : 1;
	return bits_arbitrate(&f, &g) ? bits_arbitrate(&f, &g) : (int)a->fd - (int)b->fd;
}

static int by_size(const void *x, const void *y)
{
	const int64_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

void budget_end(struct budget *b)
{
	for (size_t i = 0; i < b->ids_n; i++) {
		struct budget_periods *p = &b->ids[i].periods;

		if (p->n)
			qsort(p->kept, p->n < BUDGET_KEPT ? p->n : BUDGET_KEPT, sizeof(*p->kept), by_size);
	}
	if (b->ids_n)
		qsort(b->ids, b->ids_n, sizeof(*b->ids), by_precedence);
	free(b->index); /* sorting moved the ids */
	b->index = NULL;
	b->index_size = 0;
}

void budget_free(struct budget *b)
{
	for (size_t i = 0; i < b->ids_n; i++)
		free(b->ids[i].periods.kept);
	for (size_t i = 0; i < b->buses_n; i++) {
		free(b->buses[i].intervals);
		free(b->buses[i].recent);
	}
	free(b->ids);
	free(b->buses);
	free(b->index);
	memset(b, 0, sizeof(*b));
}

/* ---- asking ---- */

double budget_load(const struct budget *b, const struct budget_bus *bus, const struct budget_sum *sum)
{
	double s = (double)(sum->timed_bits - sum->timed_fast) / bus->bitrate;

	if (sum->timed_fast)
		s += (double)sum->timed_fast / bus->data_bitrate;
	return b->span_ns > 0 ? s / ((double)b->span_ns / NS_PER_S) : -1;
}

double budget_peak(const struct budget *b, const struct budget_bus *bus)
{
	const int64_t window = b->options.window_ns;

	return window && b->span_ns >= window ? (double)bus->peak_ns / (double)window : -1;
}

double budget_rate_hz(const struct budget *b, uint64_t timed)
{
	return b->span_ns > 0 ? (double)timed / ((double)b->span_ns / NS_PER_S) : -1;
}

int64_t budget_median_ns(const struct budget_periods *p)
{
	size_t n = p->n < BUDGET_KEPT ? p->n : BUDGET_KEPT;

	return n ? (p->kept[(n - 1) / 2] + p->kept[n / 2]) / 2 : 0;
}

const char *budget_error_name(unsigned int kind)
{
	static const char *const names[BUDGET_ERROR_KINDS] = {
		"send timeout",	  "lost arbitration", "controller", "protocol violation", "transceiver",
		"no acknowledge", "bus off",	      "bus error",  "restarted",	  "error counters",
	};

	return kind < BUDGET_ERROR_KINDS ? names[kind] : "";
}
