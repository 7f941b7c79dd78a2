/* traffic.c: whether buses have time for what drivers declare. */
#include "can/load/traffic.h"

#include "can/bus/bits.h"

#define HOST 0 /* the queue of the computer */
#define ROUNDING 1e-9

/* ---- what is in it ---- */

int traffic_bus(struct traffic *traffic, const char *name)
{
	for (size_t i = 0; i < traffic->buses_n; i++)
		if (!strcmp(traffic->buses[i].name, name))
			return (int)i;
	if (traffic->buses_n == TRAFFIC_BUSES_MAX)
		return -ENOSPC;
	traffic->buses[traffic->buses_n] = (struct traffic_bus){ .bitrate = TRAFFIC_BITRATE };
	snprintf(traffic->buses[traffic->buses_n].name, sizeof(traffic->buses[0].name), "%s", name);
	return (int)traffic->buses_n++;
}

int traffic_driver(struct traffic *traffic, const char *name, int64_t tick_ns)
{
	struct traffic_driver *driver = &traffic->drivers[traffic->drivers_n];

	for (size_t i = 0; i < traffic->drivers_n; i++)
		if (!strcmp(traffic->drivers[i].name, name))
			return -EEXIST;
	if (traffic->drivers_n == TRAFFIC_DRIVERS_MAX)
		return -ENOSPC;
	*driver = (struct traffic_driver){ .tick_ns = tick_ns };
	snprintf(driver->name, sizeof(driver->name), "%s", name);
	return (int)traffic->drivers_n++;
}

int traffic_add(struct traffic *traffic, const struct traffic_row *row)
{
	if (!grow(&traffic->rows, &traffic->rows_room, traffic->rows_n + 1, sizeof(*row)))
		return -ENOMEM;
	traffic->rows[traffic->rows_n++] = *row;
	return 0;
}

void traffic_free(struct traffic *traffic)
{
	free(traffic->rows);
	free(traffic->frames);
	memset(traffic, 0, sizeof(*traffic));
}

/* ---- frames ---- */

/* The longest time of a frame on the wire, without stuff bits or with as many as possible, and the space behind it. */
static int64_t frame_ns(const struct traffic_bus *bus, uint32_t id, unsigned int len, uint8_t flags, bool stuffed)
{
	const struct bits_rates rates = { bus->bitrate, bus->data_bitrate };

	return bits_frame_ns(&rates, id, len, flags, stuffed);
}

/* Several frames in a tick have a shorter period than the tick; they are released together. */
static void set_period(const struct traffic *traffic, struct traffic_frame *f, int64_t period_ns)
{
	const int64_t tick_ns = traffic->drivers[f->driver].tick_ns;

	f->r.period_ns = period_ns;
	f->r.burst = 1;
	if (period_ns && tick_ns > period_ns) {
		f->r.burst = (unsigned int)((tick_ns + period_ns / 2) / period_ns);
		f->r.period_ns = tick_ns;
	}
}

static struct traffic_frame *add_frame(struct traffic *traffic, enum traffic_kind kind, const struct traffic_row *row,
				       uint32_t id, unsigned int len)
{
	const struct traffic_bus *bus = &traffic->buses[row->bus];
	struct traffic_frame *f = &traffic->frames[traffic->frames_n++];

	*f = (struct traffic_frame){
		.kind = kind, .driver = row->driver, .bus = row->bus, .id = id, .len = (uint8_t)len, .flags = row->flags
	};
	f->r = (struct response_frame){ .order = bits_arbitration(id),
					.sender = kind == TRAFFIC_SENT ? HOST : RESPONSE_ALONE,
					.cause = -1,
					.time_ns = frame_ns(bus, id, len, row->flags, true),
					.least_ns = frame_ns(bus, id, 0, row->flags, false),
					.jitter_ns = kind == TRAFFIC_SENT ? traffic->jitter_ns : 0 };
	return f;
}

bool traffic_is_answer(const struct traffic_row *asked, const struct traffic_row *row)
{
	return asked->tx && asked->answered && !row->tx && row->bus == asked->bus && row->driver == asked->driver &&
	       row->id == asked->reply_id;
}

static double rate_hz(int64_t period_ns)
{
	return period_ns ? 1e9 / (double)period_ns : 0;
}

/* How long an answer is: that of its longest row; eight bytes if none describes it. */
static unsigned int answer_len(const struct traffic *traffic, const struct traffic_row *asked)
{
	unsigned int len = 0;
	bool described = false;

	for (size_t i = 0; i < traffic->rows_n; i++)
		if (traffic_is_answer(asked, &traffic->rows[i])) {
			described = true;
			len = traffic->rows[i].len > len ? traffic->rows[i].len : len;
		}
	return described ? len : FRAME_DATA_MAX;
}

/* Frames that a device sends more often than it is asked come by themselves; the first row of an identifier stands for
 * all of them. */
static bool comes_unasked(const struct traffic *traffic, const struct traffic_row *row)
{
	double asked = 0, unasked = 0;

	for (size_t i = 0; i < traffic->rows_n; i++) {
		const struct traffic_row *other = &traffic->rows[i];

		if (traffic_is_answer(other, row))
			asked += rate_hz(other->period_ns);
		if (other->tx || other->bus != row->bus || other->id != row->id)
			continue;
		if (other < row && other->driver == row->driver)
			return false;
		if (other->driver == row->driver)
			unasked += rate_hz(other->period_ns);
	}
	return unasked > asked;
}

/* A frame that several drivers receive is sent by another driver, or once. */
static bool declared_elsewhere(const struct traffic *traffic, const struct traffic_row *row)
{
	for (size_t i = 0; i < traffic->rows_n && row->shared; i++) {
		const struct traffic_row *other = &traffic->rows[i];

		if (other->bus == row->bus && other->id == row->id && (other->tx || (other->shared && other < row)))
			return true;
	}
	return false;
}

static void add_cyclic(struct traffic *traffic, const struct traffic_row *row)
{
	struct traffic_frame *f;
	double hz = 0;
	unsigned int len = 0;

	if (declared_elsewhere(traffic, row) || !comes_unasked(traffic, row))
		return;
	for (const struct traffic_row *other = row; other < traffic->rows + traffic->rows_n; other++)
		if (!other->tx && other->driver == row->driver && other->bus == row->bus && other->id == row->id) {
			hz += rate_hz(other->period_ns);
			len = other->len > len ? other->len : len;
		}
	f = add_frame(traffic, TRAFFIC_CYCLIC, row, row->id, len);
	f->r.period_ns = (int64_t)(1e9 / hz);
	f->deadline_ns = f->r.period_ns;
}

static void add_sent(struct traffic *traffic, const struct traffic_row *row)
{
	struct traffic_frame *f = add_frame(traffic, TRAFFIC_SENT, row, row->id, row->len), *answer;

	set_period(traffic, f, row->period_ns);
	f->deadline_ns = row->deadline_ns;
	if (!row->answered)
		return;
	answer = add_frame(traffic, TRAFFIC_ANSWER, row, row->reply_id, answer_len(traffic, row));
	set_period(traffic, answer, row->period_ns);
	answer->r.cause = (int)(f - traffic->frames);
	answer->r.delay_ns = traffic->reply_ns;
	answer->deadline_ns = row->within_ns;
}

static int by_bus(const void *x, const void *y)
{
	const struct traffic_frame *a = x, *b = y;

	if (a->bus != b->bus)
		return a->bus < b->bus ? -1 : 1;
	return (a->r.order > b->r.order) - (a->r.order < b->r.order);
}

/* Sorts, and keeps causes right: they are places in the list of their bus from here on. */
static int sort(struct traffic *traffic)
{
	size_t *places = calloc(traffic->frames_n + 1, sizeof(*places));
	size_t first = 0;

	if (!places)
		return -ENOMEM;
	for (size_t i = 0; i < traffic->frames_n; i++)
		traffic->frames[i].r.instance = (unsigned int)i;
	if (traffic->frames_n)
		qsort(traffic->frames, traffic->frames_n, sizeof(*traffic->frames), by_bus);
	for (size_t i = 0; i < traffic->frames_n; i++) {
		first = i && traffic->frames[i].bus == traffic->frames[i - 1].bus ? first : i;
		places[traffic->frames[i].r.instance] = i - first;
	}
	for (size_t i = 0; i < traffic->frames_n; i++)
		if (traffic->frames[i].r.cause >= 0)
			traffic->frames[i].r.cause = (int)places[traffic->frames[i].r.cause];
	free(places);
	for (size_t i = 0; i < traffic->frames_n; i++)
		traffic->frames[i].r.instance = 0;
	return 0;
}

/* ---- one bus ---- */

size_t traffic_frames_of(const struct traffic *traffic, unsigned int bus, size_t *first)
{
	size_t n = 0;

	*first = 0;
	while (*first < traffic->frames_n && traffic->frames[*first].bus != bus)
		++*first;
	while (*first + n < traffic->frames_n && traffic->frames[*first + n].bus == bus)
		n++;
	return n;
}

static double share(const struct traffic_frame *f, int64_t time_ns)
{
	return f->r.period_ns ? (double)time_ns * f->r.burst / (double)f->r.period_ns : 0;
}

static void sum_up(struct traffic *traffic, unsigned int number)
{
	struct traffic_bus *bus = &traffic->buses[number];

	bus->load_least = bus->load_most = bus->hz = 0;
	bus->late = bus->any = 0;
	for (size_t i = 0; i < traffic->frames_n; i++) {
		struct traffic_frame *f = &traffic->frames[i];

		if (f->bus != number)
			continue;
		f->r.burst = f->r.burst ? f->r.burst : 1;
		f->late = f->r.period_ns && f->deadline_ns && f->r.response_ns > f->deadline_ns;
		bus->late += f->late && f->kind == TRAFFIC_SENT;
		bus->any += !f->r.period_ns;
		bus->load_most += share(f, f->r.time_ns);
		bus->load_least += share(f, frame_ns(bus, f->id, f->len, f->flags, false));
		bus->hz += f->r.burst * rate_hz(f->r.period_ns);
	}
}

static int solve_bus(struct traffic *traffic, unsigned int bus)
{
	size_t first, n = traffic_frames_of(traffic, bus, &first);
	struct response_frame *list = calloc(n + 1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		list[i] = traffic->frames[first + i].r;
	response_solve(list, n, (NS_PER_S + traffic->buses[bus].bitrate - 1) / traffic->buses[bus].bitrate);
	for (size_t i = 0; i < n; i++)
		traffic->frames[first + i].r = list[i];
	sum_up(traffic, bus);
	free(list);
	return 0;
}

int traffic_solve(struct traffic *traffic)
{
	int err;

	free(traffic->frames);
	traffic->frames_n = 0;
	traffic->frames = calloc(2 * traffic->rows_n + 1, sizeof(*traffic->frames));
	if (!traffic->frames)
		return -ENOMEM;
	for (size_t i = 0; i < traffic->rows_n; i++)
		if (traffic->rows[i].tx)
			add_sent(traffic, &traffic->rows[i]);
		else
			add_cyclic(traffic, &traffic->rows[i]);
	err = sort(traffic);
	for (unsigned int i = 0; i < traffic->buses_n && !err; i++)
		err = solve_bus(traffic, i);
	return err;
}

bool traffic_fits(const struct traffic *traffic, unsigned int bus)
{
	return traffic->buses[bus].load_most <= TRAFFIC_LOAD_MAX + ROUNDING && !traffic->buses[bus].late;
}

bool traffic_clash(const struct traffic_row *a, const struct traffic_row *b)
{
	const struct traffic_row *sent = a->tx ? a : b, *taken = a->tx ? b : a;

	if (a->bus != b->bus || a->id != b->id)
		return false;
	if (a->tx && b->tx)
		return a->driver != b->driver && !(a->shared && b->shared);
	if (a->tx || b->tx)
		return !taken->shared && !traffic_is_answer(sent, taken);
	return a->driver != b->driver && !a->shared && !b->shared;
}

/* ---- what if ---- */

/* The same rows, and room for more; without results.  0, or -ENOMEM: some of them. */
static int copy(struct traffic *to, const struct traffic *from)
{
	*to = *from;
	to->frames = NULL;
	to->frames_n = 0;
	to->rows = NULL;
	to->rows_n = to->rows_room = 0;
	for (size_t i = 0; i < from->rows_n; i++)
		if (traffic_add(to, &from->rows[i]))
			return -ENOMEM;
	return 0;
}

/* The least urgent identifier that a driver sends there: one more beside it changes least for the others. */
static uint32_t last_id(const struct traffic *traffic, unsigned int bus)
{
	uint32_t id = 0x7ff;
	bool found = false;

	for (size_t i = 0; i < traffic->rows_n; i++) {
		const struct traffic_row *row = &traffic->rows[i];

		if (row->bus == bus && row->tx && (!found || bits_arbitration(row->id) > bits_arbitration(id))) {
			id = row->id;
			found = true;
		}
	}
	return id;
}

/* Does the bus fit after the change?  1, 0 or -ENOMEM.  with is a copy, whose rows are freed here. */
static int fits_after(struct traffic *with, unsigned int bus, int status)
{
	if (!status)
		status = traffic_solve(with);
	if (!status)
		status = traffic_fits(with, bus);
	traffic_free(with);
	return status;
}

static int fits_with(const struct traffic *traffic, unsigned int bus, int64_t period_ns, int modules)
{
	const uint32_t id = last_id(traffic, bus);
	struct traffic_row row = { .bus = bus,
				   .id = id,
				   .len = FRAME_DATA_MAX,
				   .tx = true,
				   .shared = true,
				   .period_ns = period_ns,
				   .deadline_ns = period_ns,
				   .answered = true,
				   .reply_id = id };
	struct traffic with;
	int status = copy(&with, traffic);

	with.drivers_n -= with.drivers_n == TRAFFIC_DRIVERS_MAX;
	row.driver = (unsigned int)with.drivers_n;
	with.drivers[with.drivers_n++] = (struct traffic_driver){ .tick_ns = period_ns };
	for (int i = 0; i < modules && !status; i++)
		status = traffic_add(&with, &row);
	return fits_after(&with, bus, status);
}

int traffic_room(const struct traffic *traffic, unsigned int bus, int64_t period_ns)
{
	int room = 0, step = TRAFFIC_MODULES_MAX;

	for (; step; step /= 2) {
		const int fits =
			room + step > TRAFFIC_MODULES_MAX ? 0 : fits_with(traffic, bus, period_ns, room + step);

		if (fits < 0)
			return fits;
		room += fits ? step : 0;
	}
	return room;
}

/* With longer periods of a driver, and the deadlines that follow them. */
static int fits_slower(const struct traffic *traffic, unsigned int bus, unsigned int driver, unsigned int times)
{
	struct traffic with;
	const int status = copy(&with, traffic);

	with.drivers[driver].tick_ns *= times;
	for (size_t i = 0; i < with.rows_n; i++) {
		struct traffic_row *row = &with.rows[i];

		if (row->driver != driver)
			continue;
		row->deadline_ns *= row->deadline_ns == row->period_ns ? times : 1;
		row->period_ns *= times;
	}
	return fits_after(&with, bus, status);
}

double traffic_load(const struct traffic *traffic, unsigned int bus, unsigned int driver)
{
	double load = 0;

	for (size_t i = 0; i < traffic->frames_n; i++)
		if (traffic->frames[i].bus == bus && traffic->frames[i].driver == driver)
			load += share(&traffic->frames[i], traffic->frames[i].r.time_ns);
	return load;
}

/* The driver with the largest load but those that were asked before; -1: none is left. */
static int next_largest(const struct traffic *traffic, unsigned int bus, const bool *asked)
{
	int largest = -1;

	for (unsigned int d = 0; d < traffic->drivers_n; d++)
		if (!asked[d] && traffic_load(traffic, bus, d) > 0 &&
		    (largest < 0 || traffic_load(traffic, bus, d) > traffic_load(traffic, bus, (unsigned int)largest)))
			largest = (int)d;
	return largest;
}

int traffic_advice(const struct traffic *traffic, unsigned int bus, char text[TRAFFIC_ADVICE_MAX])
{
	int first = -1;

	for (unsigned int times = 2; times <= 8; times *= 2) {
		bool asked[TRAFFIC_DRIVERS_MAX] = { false };
		int d;

		while ((d = next_largest(traffic, bus, asked)) >= 0) {
			const int64_t tick_ns = traffic->drivers[d].tick_ns;
			int fits;

			asked[d] = true;
			first = first < 0 ? d : first;
			fits = tick_ns ? fits_slower(traffic, bus, (unsigned int)d, times) : 0;
			if (fits < 0)
				return fits;
			if (!fits)
				continue;
			snprintf(text, TRAFFIC_ADVICE_MAX, "it fits with a tick of %g ms for %s instead of %g ms",
				 (double)(times * tick_ns) / NS_PER_MS, traffic->drivers[d].name,
				 (double)tick_ns / NS_PER_MS);
			return 0;
		}
	}
	snprintf(text, TRAFFIC_ADVICE_MAX, "give %s another bus",
		 first < 0 ? "a driver" : traffic->drivers[first].name);
	return 0;
}

/* ---- offsets ---- */

#define OFFSET_STEP_NS 50000

/* What a driver sends in a tick, and the answers. */
static int64_t tick_work_ns(const struct traffic *traffic, unsigned int bus, unsigned int driver)
{
	int64_t ns = 0;

	for (size_t i = 0; i < traffic->frames_n; i++) {
		const struct traffic_frame *f = &traffic->frames[i];

		if (f->bus == bus && f->driver == driver && f->kind != TRAFFIC_CYCLIC && f->r.period_ns)
			ns += f->r.burst * f->r.time_ns;
	}
	return ns;
}

/* The fastest driver that is not done yet, the first of several; drivers_n: none. */
static unsigned int next_fastest(const struct traffic *traffic, const bool *done)
{
	unsigned int next = (unsigned int)traffic->drivers_n;

	for (unsigned int d = 0; d < traffic->drivers_n; d++)
		if (!done[d] &&
		    (next == traffic->drivers_n || traffic->drivers[d].tick_ns < traffic->drivers[next].tick_ns))
			next = d;
	return next;
}

/* One after another, the fastest first.  A driver for which no time is left in its tick begins with the clock. */
void traffic_offsets(struct traffic *traffic)
{
	int64_t taken_ns[TRAFFIC_BUSES_MAX] = { 0 };
	bool done[TRAFFIC_DRIVERS_MAX] = { false };
	unsigned int d;

	while ((d = next_fastest(traffic, done)) < traffic->drivers_n) {
		int64_t offset_ns = 0;

		done[d] = true;
		for (unsigned int b = 0; b < traffic->buses_n; b++)
			if (tick_work_ns(traffic, b, d) && taken_ns[b] > offset_ns)
				offset_ns = taken_ns[b];
		offset_ns += OFFSET_STEP_NS - 1;
		offset_ns -= offset_ns % OFFSET_STEP_NS;
		if (offset_ns >= traffic->drivers[d].tick_ns)
			offset_ns = 0;
		traffic->drivers[d].offset_ns = offset_ns;
		for (unsigned int b = 0; b < traffic->buses_n; b++)
			if (tick_work_ns(traffic, b, d))
				taken_ns[b] = offset_ns + tick_work_ns(traffic, b, d);
	}
}
