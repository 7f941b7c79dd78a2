/* subscribe.c: waits for the newest message of channel NAME and prints it, COUNT times or for ever. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "channels/ach/ach.h"
#include "channels/examples/sample.h"

int main(int argc, char **argv)
{
	uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : UINT64_MAX;
	struct ach_channel chan;

	if (argc < 2)
		errx(2, "usage: subscribe NAME [COUNT]");
	enum ach_status status = ach_open(&chan, argv[1], NULL);
	if (status != ACH_OK)
		errx(1, "cannot open %s: %s", argv[1], ach_result_to_string(status));

	for (uint64_t got = 0, seen = 0; got < count; got++, seen = chan.seq_num) {
		struct sample sample;
		size_t size = 0;
		status = ach_get(&chan, &sample, sizeof(sample), &size, NULL, ACH_O_WAIT | ACH_O_LAST);
		if (!ach_status_match(status, ACH_MASK_OK | ACH_MASK_MISSED_FRAME) || size != sizeof(sample))
			errx(1, "cannot read %s: %s, %zu bytes", argv[1], ach_result_to_string(status), size);
		printf("%ju: %jd us old, %ju missed\n", (uintmax_t)sample.count,
		       (intmax_t)(sample_now_ns() - sample.t_ns) / 1000, (uintmax_t)(chan.seq_num - seen - 1));
		if (fflush(stdout) != 0) /* into a pipe, too, line by line */
			err(1, "cannot write");
	}
	return ach_close(&chan);
}
