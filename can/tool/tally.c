/* tally.c: what became of a replay, for people and for programs. */
#include <inttypes.h>
#include <stdio.h>

#include "can/tool/sender.h"
#include "can/tool/tally.h"
#include "channels/tool/span.h"

void tally_buses(struct tally *t, const struct routes *routes)
{
	for (size_t i = 0; i < routes->buses; i++) {
		const struct route_bus *b = &routes->bus[i];

		t->sent += b->sent;
		t->unconfirmed += sender_unconfirmed(b);
		t->refused += b->refused;
		t->down += b->down;
		t->unfit += b->unfit;
	}
}

static void print_count(const char *what, uint64_t n)
{
	if (n)
		printf("%8" PRIu64 " %s\n", n, what);
}

void tally_print(const struct tally *t)
{
	char took[SPAN_TEXT_MAX], p50[SPAN_TEXT_MAX], p99[SPAN_TEXT_MAX], max[SPAN_TEXT_MAX];

	printf("%" PRIu64 " frame%s sent in %s", t->sent, t->sent == 1 ? "" : "s", span_text(took, t->took_ns));
	if (t->late->count)
		printf("; late p50 %s, p99 %s, max %s", span_text(p50, hist_quantile(t->late, 0.5)),
		       span_text(p99, hist_quantile(t->late, 0.99)), span_text(max, t->late->max_ns));
	printf("\n");
	print_count("sent, but not confirmed by the bus", t->unconfirmed);
	print_count("left out: the queue was full", t->refused);
	print_count("left out: the link was down", t->down);
	print_count("left out: no frames for that bus", t->unfit);
	print_count("error frames left out", t->errors_left_out);
	print_count("damaged lines in the file", t->damaged);
	print_count("stamps that go backwards", t->backward);
	print_count("frames lost when it was recorded", t->lost);
}

void tally_json(const struct tally *t)
{
	const struct {
		const char *name;
		uint64_t n;
	} counts[] = { { "sent", t->sent },	  { "confirmed", t->sent - t->unconfirmed },
		       { "refused", t->refused }, { "down", t->down },
		       { "unfit", t->unfit },	  { "errors_left_out", t->errors_left_out },
		       { "damaged", t->damaged }, { "backward", t->backward },
		       { "lost", t->lost },	  { "passes", t->passes } };

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		printf("%s\"%s\":%" PRIu64, i ? "," : "{", counts[i].name, counts[i].n);
	printf(",\"took_ns\":%" PRId64, t->took_ns);
	if (t->late->count)
		printf(",\"late_ns\":{\"p50\":%" PRId64 ",\"p99\":%" PRId64 ",\"max\":%" PRId64 "}}\n",
		       hist_quantile(t->late, 0.5), hist_quantile(t->late, 0.99), t->late->max_ns);
	else
		printf(",\"late_ns\":null}\n");
}
