/* budget_show_json.c: the same as one JSON object. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "can/tool/budget_show.h"
#include "config/utf8.h"

/* Anything may stand in a path or in a log; what is no text becomes '?'. */
static void print_string(const char *text)
{
	size_t left = strlen(text);

	putchar('"');
	while (left) {
		uint32_t c;
		size_t len = utf8_character(text, left, &c);

		if (!len || c < ' ')
			putchar('?');
		else
			printf("%s%.*s", c == '"' || c == '\\' ? "\\" : "", (int)len, text);
		len += !len;
		text += len;
		left -= len;
	}
	putchar('"');
}

/* Null where there is no saying. */
static void print_real(const char *name, double value, int decimals)
{
	if (value < 0)
		printf(",\"%s\":null", name);
	else
		printf(",\"%s\":%.*f", name, decimals, value);
}

static void print_sum(const struct budget_sum *sum)
{
	printf(",\"frames\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"bits\":%" PRIu64 ",\"stuff_bits\":%" PRIu64,
	       sum->frames, sum->bytes, sum->bits, sum->stuff_bits);
}

static void print_id(const struct budget *b, const struct budget_bus *bus, const struct budget_id *id)
{
	const struct budget_periods *p = &id->periods;
	char name[BUDGET_SHOW_ID_MAX];

	budget_show_id(name, id->id);
	printf("{\"id\":\"%s\",\"ext\":%s,\"remote\":%s,\"fd\":%s,\"len_max\":%u", name,
	       id->id & FRAME_EXT ? "true" : "false", id->id & FRAME_RTR ? "true" : "false", id->fd ? "true" : "false",
	       id->len_max);
	print_sum(&id->sum);
	print_real("rate_hz", budget_rate_hz(b, id->sum.timed), 3);
	if (p->n)
		printf(",\"period_ns\":{\"p50\":%" PRId64 ",\"min\":%" PRId64 ",\"max\":%" PRId64 "}",
		       budget_median_ns(p), p->min_ns, p->max_ns);
	else
		printf(",\"period_ns\":null");
	print_real("load", id->fd ? -1 : budget_load(b, bus, &id->sum), 6);
	print_real("share", id->fd ? -1 : (double)id->sum.bits / (double)bus->sum.bits, 6);
	printf("}");
}

static void print_over(const struct budget *b, const struct budget_bus *bus)
{
	printf(",\"over\":[");
	for (size_t i = 0; i < bus->intervals_n; i++) {
		const struct budget_interval *at = &bus->intervals[i];
		int64_t ns = budget_show_interval_ns(b, at->number);

		printf("%s{\"t_ns\":%" PRId64 ",\"span_ns\":%" PRId64 ",\"frames\":%" PRIu64, i ? "," : "",
		       at->number * b->options.over_ns, ns, at->frames);
		print_real("load", ns > 0 ? (double)at->busy_ns / (double)ns : -1, 6);
		printf("}");
	}
	printf("]");
}

static void print_bus(const struct budget *b, size_t which)
{
	const struct budget_bus *bus = &b->buses[which];
	double peak = budget_peak(b, bus);
	const char *comma = "";

	printf("{\"name\":");
	print_string(bus->name);
	printf(",\"bitrate\":%" PRIu32, bus->bitrate);
	print_sum(&bus->sum);
	printf(",\"fd_frames\":%" PRIu64 ",\"error_frames\":%" PRIu64, bus->fd, bus->errors);
	printf(",\"error_kinds\":{");
	for (unsigned int kind = 0; kind < BUDGET_ERROR_KINDS; kind++)
		if (bus->error_kinds[kind]) {
			printf("%s\"%s\":%" PRIu64, comma, budget_error_name(kind), bus->error_kinds[kind]);
			comma = ",";
		}
	printf("}");
	print_real("rate_hz", budget_rate_hz(b, bus->sum.timed), 3);
	print_real("load", budget_load(b, bus, &bus->sum), 6);
	print_real("peak", peak, 6);
	if (peak > 0)
		printf(",\"peak_at_ns\":%" PRId64, bus->peak_at_ns);
	else
		printf(",\"peak_at_ns\":null");
	printf(",\"ids\":[");
	comma = "";
	for (size_t i = 0; i < b->ids_n; i++)
		if (b->ids[i].bus == which) {
			printf("%s", comma);
			print_id(b, bus, &b->ids[i]);
			comma = ",";
		}
	printf("]");
	if (b->options.over_ns)
		print_over(b, bus);
	printf("}");
}

void budget_show_json(const struct budget_show *show, struct budget *b, const struct log *log)
{
	budget_show_sort(b, show->order);
	printf("{\"log\":");
	print_string(show->path);
	printf(",\"frames\":%" PRIu64 ",\"first_ns\":%" PRId64 ",\"span_ns\":%" PRId64 ",\"window_ns\":%" PRId64
	       ",\"damaged\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"backward\":%" PRIu64 ",\"set_back\":%" PRIu64
	       ",\"buses\":[",
	       b->frames, b->first_ns, b->span_ns, b->options.window_ns, log->damaged, log->lost, log->backward,
	       b->set_back);
	for (size_t i = 0; i < b->buses_n; i++) {
		printf("%s", i ? "," : "");
		print_bus(b, i);
	}
	printf("]}\n");
}
