/* clock_virtual.h: time that passes only inside clock_wait, for tests in one process and one thread.
 *
 * It never sleeps: if something is ready clock_wait returns with the time unmoved, else the time is the deadline now.
 * A descriptor that becomes ready by the work of another thread or process may be too late for it.
 * clock_use(&clock_real) ends it. */
#pragma once

#include <stdint.h>

void clock_use_virtual(int64_t start_ns);
