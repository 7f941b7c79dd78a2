/* budget_show_json.c: the same as one JSON object. */
#include <math.h>

#include "can/tool/budget_show.h"
#include "config/json.h"

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
	char name[BUDGET_SHOW_ID_MAX];

	budget_show_id(name, id->id);
	json_object(j, NULL);
	json_text(j, "id", name);
	json_bool(j, "ext", id->id & FRAME_EXT);
	json_bool(j, "remote", id->id & FRAME_RTR);
	json_bool(j, "fd", id->fd);
	json_uint(j, "len_max", id->len_max);
	write_sum(j, &id->sum);
	write_known(j, "rate_hz", 3, budget_rate_hz(b, id->sum.timed));
	write_periods(j, &id->periods);
	write_known(j, "load", 6, id->fd ? -1 : budget_load(b, bus, &id->sum));
	write_known(j, "share", 6, id->fd ? -1 : (double)id->sum.bits / (double)bus->sum.bits);
	json_end(j);
}

static void write_over(struct json *j, const struct budget *b, const struct budget_bus *bus)
{
	json_array(j, "over");
	for (size_t i = 0; i < bus->intervals_n; i++) {
		const struct budget_interval *at = &bus->intervals[i];
		int64_t ns = budget_show_interval_ns(b, at->number);

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

	budget_show_sort(b, show->order);
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
