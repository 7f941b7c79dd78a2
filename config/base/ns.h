/* ns.h: times are int64_t nanoseconds. */
#pragma once

#include <stdint.h>

#define NS_PER_S INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_US INT64_C(1000)
