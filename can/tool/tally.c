/* tally.c: the result of a replay, as text and as JSON. */
#include <inttypes.h>
#include <stdio.h>

#include "can/tool/sender.h"
#include "can/tool/tally.h"
#include "channels/tool/span.h"
#include "config/json.h"

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

void tally_print(const struct tally *t)
{
	char took[SPAN_TEXT_MAX], p50[SPAN_TEXT_MAX], p99[SPAN_TEXT_MAX], max[SPAN_TEXT_MAX];
	const struct {
		const char *what;
		uint64_t n;
	} counts[] = {
		{ "sent, but not confirmed by the bus", t->unconfirmed },
		{ "left out: the queue was full", t->refused },
		{ "left out: the link was down", t->down },
		{ "left out: no frames for that bus", t->unfit },
		{ "error frames left out", t->errors_left_out },
		{ "damaged lines in the file", t->damaged },
		{ "stamps that go backwards", t->backward },
		{ "frames lost when it was recorded", t->lost },
	};

	printf("%" PRIu64 " frame%s sent in %s", t->sent, t->sent == 1 ? "" : "s", span_text(took, t->took_ns));
	if (t->late->count)
		printf("; late p50 %s, p99 %s, max %s", span_text(p50, hist_quantile(t->late, 0.5)),
		       span_text(p99, hist_quantile(t->late, 0.99)), span_text(max, t->late->max_ns));
	printf("\n");
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		if (counts[i].n)
			printf("%8" PRIu64 " %s\n", counts[i].n, counts[i].what);
}

void tally_json(const struct tally *t)
{
	struct json j = json_to(stdout);

	json_object(&j, NULL);
	json_uint(&j, "sent", t->sent);
	json_uint(&j, "confirmed", t->sent - t->unconfirmed);
	json_uint(&j, "refused", t->refused);
	json_uint(&j, "down", t->down);
	json_uint(&j, "unfit", t->unfit);
	json_uint(&j, "errors_left_out", t->errors_left_out);
	json_uint(&j, "damaged", t->damaged);
	json_uint(&j, "backward", t->backward);
	json_uint(&j, "lost", t->lost);
	json_uint(&j, "passes", t->passes);
	json_int(&j, "took_ns", t->took_ns);
	if (t->late->count) {
		json_object(&j, "late_ns");
		json_int(&j, "p50", hist_quantile(t->late, 0.5));
		json_int(&j, "p99", hist_quantile(t->late, 0.99));
		json_int(&j, "max", t->late->max_ns);
		json_end(&j);
	} else {
		json_null(&j, "late_ns");
	}
	json_end(&j);
	putchar('\n');
}
