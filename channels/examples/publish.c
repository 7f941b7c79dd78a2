/* publish.c: a counter and the time on channel NAME, HZ times a second, COUNT times or for ever. */
#include <err.h>
#include <stdlib.h>

#include "channels/ach/ach.h"
#include "channels/examples/sample.h"

int main(int argc, char **argv)
{
	double hz = argc > 2 ? atof(argv[2]) : 0;
	uint64_t count = argc > 3 ? strtoull(argv[3], NULL, 10) : UINT64_MAX;
	struct sample sample = { .count = 0 };
	struct ach_channel chan;

	if (!(hz >= 0.001 && hz <= 1e6))
		errx(2, "usage: publish NAME HZ [COUNT]");
	enum ach_status status = ach_create(argv[1], SAMPLE_KEPT, sizeof(sample), NULL);
	if (status == ACH_OK || status == ACH_EEXIST)
		status = ach_open(&chan, argv[1], NULL);
	if (status != ACH_OK)
		errx(1, "cannot open %s: %s", argv[1], ach_result_to_string(status));

	for (int64_t next_ns = sample_now_ns(); sample.count < count; next_ns += (int64_t)(1e9 / hz)) {
		sample_sleep_until(next_ns); /* a time, not a pause: the rate does not drift */
		sample = (struct sample){ .count = sample.count + 1, .t_ns = sample_now_ns() };
		status = ach_put(&chan, &sample, sizeof(sample));
		if (status != ACH_OK)
			errx(1, "cannot put to %s: %s", argv[1], ach_result_to_string(status));
	}
	return ach_close(&chan);
}
