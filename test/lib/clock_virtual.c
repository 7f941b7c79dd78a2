/* clock_virtual.c: time that passes only inside clock_wait. */
#include "test/lib/clock_virtual.h"

#include <errno.h>

#include "channels/clock/clock.h"

static int64_t virtual_ns;

static int64_t virtual_now(void)
{
	return virtual_ns;
}

static int64_t virtual_real(void)
{
	int64_t real;

	return __builtin_add_overflow(CLOCK_VIRTUAL_EPOCH_NS, virtual_ns, &real) ? INT64_MAX : real;
}

static int virtual_wait(struct clock_fd *fds, size_t n, int64_t deadline_ns)
{
	const int ready = clock_real.wait(fds, n, 0);

	if (ready)
		return ready;
	if (deadline_ns == CLOCK_NEVER)
		return -EDEADLK;
	if (deadline_ns > virtual_ns)
		virtual_ns = deadline_ns;
	return 0;
}

void clock_use_virtual(int64_t start_ns)
{
	static const struct clock_source source = { .now = virtual_now, .real = virtual_real, .wait = virtual_wait };

	virtual_ns = start_ns;
	clock_use(&source);
}
