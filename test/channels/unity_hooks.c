/* unity_hooks.c: setUp and tearDown for tests that need none. */
#include "unity.h"

__attribute__((weak)) void setUp(void)
{
}

__attribute__((weak)) void tearDown(void)
{
}
