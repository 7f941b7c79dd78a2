/* budget_show.c: tables of the bits and times of frames. */
#include <math.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "can/bus/frame_text.h"
#include "can/tool/budget_frames.h"
#include "can/tool/budget_show.h"
#include "config/base/base.h"

#define COLUMNS 80
#define OVERLOAD 1.1   /* a peak above this is not explained by inexact stamps */
#define BAR_MAX 80     /* columns */
#define SILENT_LINES 2 /* more intervals without frames than this become one line */

const char *const budget_show_orders[] = { "id", "load", "rate", NULL };

/* ---- single values ---- */

void budget_id_text(char text[BUDGET_ID_MAX], uint32_t id)
{
	snprintf(text, BUDGET_ID_MAX, id & FRAME_EXT ? "%08" PRIX32 : "%03" PRIX32,
		 id & (id & FRAME_EXT ? FRAME_EXT_MASK : FRAME_STD_MASK));
}

const char *budget_time_text(char text[16], int64_t ns)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = { { 3600e9, "h" }, { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } };
	size_t i = ns < (int64_t)36000e9 ? 1 : 0;
	double v;

	while (units[i].ns > 1 && (double)ns < units[i].ns)
		i++;
	v = (double)ns / units[i].ns;
	snprintf(text, 16, "%.*f%s",
		 i == 4	      ? 0
		 : v < 9.9995 ? 3
		 : v < 99.995 ? 2
		 : v < 999.95 ? 1
			      : 0,
		 v, units[i].name);
	return text;
}

const char *budget_percent_text(char text[16], double part)
{
	if (part > 0 && part < 0.0005)
		return "<0.1%";
	snprintf(text, 16, part < 0 ? "-" : "%.1f%%", 100 * part);
	return text;
}

static const char *rate_text(char text[16], double hz)
{
	snprintf(text, 16,
		 hz < 0		? "-"
		 : hz < 9.9995	? "%.3f"
		 : hz < 99.995	? "%.2f"
		 : hz < 9999.95 ? "%.1f"
				: "%.0f",
		 hz);
	return text;
}

/* ---- frames of the command line ---- */

struct cost {
	unsigned int bits, fast, stuff, fixed, worst;
	int64_t ns, worst_ns;
};

static struct cost cost_of(const struct frame *f, const struct bits_rates *rates)
{
	struct bits_fd bits, worst = { .slow = bits_worst(f->id & FRAME_EXT, f->id & FRAME_RTR, f->len) };

	bits_any_of(&bits, f);
	if (f->flags & FRAME_FD)
		bits_fd_bound(&worst, f->id & FRAME_EXT, f->flags & FRAME_BRS, f->len, true);
	return (struct cost){ .bits = bits.slow + bits.fast,
			      .fast = bits.fast,
			      .stuff = bits.stuff,
			      .fixed = bits.fixed,
			      .worst = worst.slow + worst.fast,
			      .ns = bits_fd_ns(rates, bits.slow, bits.fast),
			      .worst_ns = bits_fd_ns(rates, worst.slow, worst.fast) };
}

static void write_frame(const char *text, const struct frame *f, const struct cost *cost)
{
	struct json j = json_to(stdout);

	json_object(&j, NULL);
	json_text(&j, "frame", text);
	json_uint(&j, "bits", cost->bits);
	json_uint(&j, "stuff_bits", cost->stuff);
	json_uint(&j, "worst_bits", cost->worst);
	if (f->flags & FRAME_FD) {
		json_uint(&j, "fixed_stuff_bits", cost->fixed);
		json_uint(&j, "fast_bits", cost->fast);
		json_int(&j, "time_ns", cost->ns);
	}
	json_end(&j);
	putchar('\n');
}

static void show_frame(const struct frame *f, int width, const struct bits_rates *rates, bool json)
{
	const struct cost cost = cost_of(f, rates);
	char text[FRAME_TEXT_MAX], time[16], worst_time[16];

	frame_text_write(text, f);
	if (json)
		write_frame(text, f, &cost);
	else
		printf("%-*s  %4u  %10u  %7s  %10u  %10s\n", width, text, cost.bits, cost.stuff + cost.fixed,
		       budget_time_text(time, cost.ns), cost.worst, budget_time_text(worst_time, cost.worst_ns));
}

void budget_show_frames(const struct frame *frames, size_t n, const struct bits_rates *rates, bool json)
{
	int width = (int)strlen("frame");

	for (size_t i = 0; i < n; i++) {
		char text[FRAME_TEXT_MAX];
		int len = (int)frame_text_write(text, &frames[i]);

		width = len > width ? len : width;
	}
	if (!json)
		printf("%-*s  %4s  %10s  %7s  %10s  %10s\n", width, "frame", "bits", "stuff bits", "time", "worst bits",
		       "worst time");
	for (size_t i = 0; i < n; i++)
		show_frame(&frames[i], width, rates, json);
}

/* ---- order ---- */

/* Highest first, of one bus. */
static int compare(const struct budget_id *a, const struct budget_id *b, uint64_t of_a, uint64_t of_b)
{
	if (a->bus != b->bus)
		return a->bus < b->bus ? -1 : 1;
	if (of_a != of_b)
		return of_a > of_b ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static int by_bits(const void *x, const void *y)
{
	const struct budget_id *a = x, *b = y;

	return compare(a, b, a->sum.bits, b->sum.bits);
}

static int by_rate(const void *x, const void *y)
{
	const struct budget_id *a = x, *b = y;

	return compare(a, b, a->sum.frames, b->sum.frames);
}

static void sort(struct budget *b, int order)
{
	if (order && b->ids_n)
		qsort(b->ids, b->ids_n, sizeof(*b->ids), order == 1 ? by_bits : by_rate);
}

/* ---- tables ---- */

static int bus_width(const struct budget *b)
{
	size_t width = strlen("bus");

	for (size_t i = 0; i < b->buses_n; i++)
		width = strlen(b->buses[i].name) > width ? strlen(b->buses[i].name) : width;
	return (int)width;
}

static void print_buses(const struct budget *b)
{
	char window[TEXT_VALUE_MAX], text[3][16];

	text_from_duration(window, b->options.window_ns);
	printf("%-*s  bit rate     frames       Hz    load    peak in %s, ending at\n", bus_width(b), "bus", window);
	for (size_t i = 0; i < b->buses_n; i++) {
		const struct budget_bus *bus = &b->buses[i];
		double peak = budget_peak(b, bus);

		printf("%-*s  %8" PRIu32 "  %9" PRIu64 "  %7s  %6s  %6s", bus_width(b), bus->name, bus->bitrate,
		       bus->sum.frames, rate_text(text[0], budget_rate_hz(b, bus->sum.timed)),
		       budget_percent_text(text[1], budget_load(b, bus, &bus->sum)),
		       budget_percent_text(text[2], peak));
		if (peak > 0)
			printf("  %14.3f s", (double)bus->peak_at_ns / 1e9);
		printf("\n");
	}
}

static int digits(uint64_t value)
{
	return snprintf(NULL, 0, "%" PRIu64, value);
}

/* As wide as the widest value, so that usual logs fit 80 columns. */
struct widths {
	int id, frames, bytes, bits;
};

static struct widths widths_of(const struct budget *b, size_t which)
{
	struct widths w = { 3, 6, 5, 4 };
	bool remote = false;

	for (size_t i = 0; i < b->ids_n; i++) {
		const struct budget_id *id = &b->ids[i];

		if (id->bus != which)
			continue;
		remote |= id->id & FRAME_RTR;
		w.id = id->id & FRAME_EXT ? 8 : w.id;
		w.frames = digits(id->sum.frames) > w.frames ? digits(id->sum.frames) : w.frames;
		w.bytes = digits(id->sum.bytes) > w.bytes ? digits(id->sum.bytes) : w.bytes;
		w.bits = digits(id->sum.bits) > w.bits ? digits(id->sum.bits) : w.bits;
	}
	w.id += remote;
	return w;
}

static void print_id(const struct budget *b, const struct budget_bus *bus, const struct budget_id *id,
		     const struct widths *w)
{
	char name[BUDGET_ID_MAX + 1], rate[16], text[3][16] = { "-", "-", "-" };
	const struct budget_periods *p = &id->periods;

	budget_id_text(name, id->id);
	if (id->id & FRAME_RTR)
		strcat(name, "R");
	if (p->n) {
		budget_time_text(text[0], budget_median_ns(p));
		budget_time_text(text[1], p->min_ns);
		budget_time_text(text[2], p->max_ns);
	}
	printf("%-*s  %*" PRIu64 "  %6s  %7s  %7s  %7s  %*" PRIu64, w->id, name, w->frames, id->sum.frames,
	       rate_text(rate, budget_rate_hz(b, id->sum.timed)), text[0], text[1], text[2], w->bytes, id->sum.bytes);
	if (!id->sum.bits)
		printf("  CAN FD\n");
	else
		printf("  %*" PRIu64 "  %6s  %6s\n", w->bits, id->sum.bits,
		       budget_percent_text(text[0], budget_load(b, bus, &id->sum)),
		       budget_percent_text(text[1], (double)id->sum.bits / (double)bus->sum.bits));
}

static void print_ids(const struct budget *b, size_t which)
{
	const struct widths w = widths_of(b, which);

	printf("\n%-*s  %*s  %6s  %7s  %7s  %7s  %*s  %*s  %6s  %6s\n", w.id, "id", w.frames, "frames", "Hz", "period",
	       "min", "max", w.bytes, "bytes", w.bits, "bits", "load", "share");
	for (size_t i = 0; i < b->ids_n; i++)
		if (b->ids[i].bus == which)
			print_id(b, &b->buses[which], &b->ids[i], &w);
}

/* ---- over time ---- */

/* How long the interval is: the last one ends with the log. */
static int64_t interval_ns(const struct budget *b, int64_t number)
{
	const int64_t over = b->options.over_ns, left = b->span_ns - number * over;

	return left < over ? left : over;
}

static int bar_columns(void)
{
	struct winsize size;
	int columns = COLUMNS;

	if (isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		columns = size.ws_col;
	columns -= 32; /* the columns before the bar, and the mark of a load above 100 % */
	return columns < 10 ? 10 : columns > BAR_MAX ? BAR_MAX : columns;
}

static void print_interval(const struct budget *b, int64_t number, uint64_t frames, int64_t busy_ns, int columns)
{
	int64_t ns = interval_ns(b, number);
	double load = ns > 0 ? (double)busy_ns / (double)ns : 0;
	int bar = (int)(load * columns + 0.5);
	char text[16];

	printf("%10.3f  %8" PRIu64 "  %6s  |", (double)(number * b->options.over_ns) / 1e9, frames,
	       budget_percent_text(text, load));
	for (int i = 0; i < bar && i < columns; i++)
		putchar('#');
	printf("%s\n", bar > columns ? ">" : "");
}

static void print_silence(const struct budget *b, int64_t from, int64_t to, int columns)
{
	char text[16];

	if (to - from > SILENT_LINES)
		printf("%10s  %8s  %6s  |%s without frames\n", "...", "0", "0.0%",
		       budget_time_text(text, (to - from) * b->options.over_ns));
	else
		for (; from < to; from++)
			print_interval(b, from, 0, 0, columns);
}

static void print_over(const struct budget *b, const struct budget_bus *bus)
{
	const int64_t last = b->span_ns > 0 ? (b->span_ns - 1) / b->options.over_ns : 0;
	const int columns = bar_columns();
	int64_t next = 0;

	printf("\n%10s  %8s  %6s  |%-*s100%%\n", "from s", "frames", "load", columns - 3, "0%");
	for (size_t i = 0; i < bus->intervals_n; i++) {
		const struct budget_interval *at = &bus->intervals[i];

		print_silence(b, next, at->number, columns);
		print_interval(b, at->number, at->frames, at->busy_ns, columns);
		next = at->number + 1;
	}
	print_silence(b, next, last + 1, columns);
}

/* ---- the whole report ---- */

static void print_errors(const struct budget_bus *bus)
{
	const char *comma = " (";

	printf("%s: error frames: %" PRIu64, bus->name, bus->errors);
	for (unsigned int kind = 0; kind < BUDGET_ERROR_KINDS; kind++)
		if (bus->error_kinds[kind]) {
			printf("%s%s %" PRIu64, comma, budget_error_name(kind), bus->error_kinds[kind]);
			comma = ", ";
		}
	printf("%s\n", *comma == ',' ? ")" : "");
}

static void print_notes(const struct budget_show *show, const struct budget *b, const struct log *log)
{
	for (size_t i = 0; i < b->buses_n; i++) {
		const struct budget_bus *bus = &b->buses[i];

		/* the last rate is that of all others */
		if (show->assumed && !budget_rate_of(b->options.rates, b->options.rates_n - 1, bus->name))
			printf("%s: bit rate assumed; for another: --bitrate %s=500k\n", bus->name, bus->name);
		if (budget_load(b, bus, &bus->sum) > 1 || budget_peak(b, bus) > OVERLOAD)
			printf("%s: more than a bus can carry: another bit rate, or stamps that are not the bus's\n",
			       bus->name);
		if (bus->fd && !bus->data_bitrate)
			printf("%s: CAN FD frames: %" PRIu64 ", not in the load; for it: --fd %s=2M\n", bus->name,
			       bus->fd, bus->name);
		if (bus->errors)
			print_errors(bus);
	}
	if (log->damaged)
		printf("damaged lines left out: %" PRIu64 "\n", log->damaged);
	if (log->lost)
		printf("frames lost when it was recorded: %" PRIu64 "\n", log->lost);
	if (b->set_back)
		printf("times that the clock was set back: %" PRIu64 "\n", b->set_back);
}

void budget_show_text(const struct budget_show *show, struct budget *b, const struct log *log)
{
	char text[16];

	printf("%s: %" PRIu64 " frames in %s\n", show->path, b->frames, budget_time_text(text, b->span_ns));
	print_buses(b);
	print_notes(show, b, log);
	sort(b, show->order);
	for (size_t i = 0; i < b->buses_n; i++) {
		if (b->buses_n > 1)
			printf("\n%s", b->buses[i].name);
		print_ids(b, i);
		if (b->options.over_ns)
			print_over(b, &b->buses[i]);
	}
}

/* ---- the same as one JSON object ---- */

/* Null for a negative value, which means not known. */
static void write_known(struct json *j, const char *name, int decimals, double value)
{
	json_fixed(j, name, decimals, value < 0 ? NAN : value);
}

static void write_sum(struct json *j, const struct budget_sum *sum)
{
	json_uint(j, "frames", sum->frames);
	json_uint(j, "bytes", sum->bytes);
	json_uint(j, "bits", sum->bits);
	json_uint(j, "stuff_bits", sum->stuff_bits);
}

static void write_periods(struct json *j, const struct budget_periods *p)
{
	if (!p->n) {
		json_null(j, "period_ns");
		return;
	}
	json_object(j, "period_ns");
	json_int(j, "p50", budget_median_ns(p));
	json_int(j, "min", p->min_ns);
	json_int(j, "max", p->max_ns);
	json_end(j);
}

static void write_id(struct json *j, const struct budget *b, const struct budget_bus *bus, const struct budget_id *id)
{
	char name[BUDGET_ID_MAX];

	budget_id_text(name, id->id);
	json_object(j, NULL);
	json_text(j, "id", name);
	json_bool(j, "ext", id->id & FRAME_EXT);
	json_bool(j, "remote", id->id & FRAME_RTR);
	json_bool(j, "fd", id->fd);
	json_uint(j, "len_max", id->len_max);
	write_sum(j, &id->sum);
	write_known(j, "rate_hz", 3, budget_rate_hz(b, id->sum.timed));
	write_periods(j, &id->periods);
	write_known(j, "load", 6, !id->sum.bits ? -1 : budget_load(b, bus, &id->sum));
	write_known(j, "share", 6, !id->sum.bits ? -1 : (double)id->sum.bits / (double)bus->sum.bits);
	json_end(j);
}

static void write_over(struct json *j, const struct budget *b, const struct budget_bus *bus)
{
	json_array(j, "over");
	for (size_t i = 0; i < bus->intervals_n; i++) {
		const struct budget_interval *at = &bus->intervals[i];
		int64_t ns = interval_ns(b, at->number);

		json_object(j, NULL);
		json_int(j, "t_ns", at->number * b->options.over_ns);
		json_int(j, "span_ns", ns);
		json_uint(j, "frames", at->frames);
		write_known(j, "load", 6, ns > 0 ? (double)at->busy_ns / (double)ns : -1);
		json_end(j);
	}
	json_end(j);
}

static void write_bus(struct json *j, const struct budget *b, size_t which)
{
	const struct budget_bus *bus = &b->buses[which];
	double peak = budget_peak(b, bus);

	json_object(j, NULL);
	json_text(j, "name", bus->name);
	json_uint(j, "bitrate", bus->bitrate);
	if (bus->data_bitrate)
		json_uint(j, "data_bitrate", bus->data_bitrate);
	write_sum(j, &bus->sum);
	json_uint(j, "fd_frames", bus->fd);
	json_uint(j, "error_frames", bus->errors);
	json_object(j, "error_kinds");
	for (unsigned int kind = 0; kind < BUDGET_ERROR_KINDS; kind++)
		if (bus->error_kinds[kind])
			json_uint(j, budget_error_name(kind), bus->error_kinds[kind]);
	json_end(j);
	write_known(j, "rate_hz", 3, budget_rate_hz(b, bus->sum.timed));
	write_known(j, "load", 6, budget_load(b, bus, &bus->sum));
	write_known(j, "peak", 6, peak);
	if (peak > 0)
		json_int(j, "peak_at_ns", bus->peak_at_ns);
	else
		json_null(j, "peak_at_ns");
	json_array(j, "ids");
	for (size_t i = 0; i < b->ids_n; i++)
		if (b->ids[i].bus == which)
			write_id(j, b, bus, &b->ids[i]);
	json_end(j);
	if (b->options.over_ns)
		write_over(j, b, bus);
	json_end(j);
}

void budget_show_json(const struct budget_show *show, struct budget *b, const struct log *log)
{
	struct json j = json_to(stdout);

	sort(b, show->order);
	json_object(&j, NULL);
	json_text(&j, "log", show->path);
	json_uint(&j, "frames", b->frames);
	json_int(&j, "first_ns", b->first_ns);
	json_int(&j, "span_ns", b->span_ns);
	json_int(&j, "window_ns", b->options.window_ns);
	json_uint(&j, "damaged", log->damaged);
	json_uint(&j, "lost", log->lost);
	json_uint(&j, "backward", log->backward);
	json_uint(&j, "set_back", b->set_back);
	json_array(&j, "buses");
	for (size_t i = 0; i < b->buses_n; i++)
		write_bus(&j, b, i);
	json_end(&j);
	json_end(&j);
	putchar('\n');
}
