/* children.c: linked into every test program: only the test itself looks for leaks, not the programs that it starts.
 * A look takes seconds, with some kernels for ever, and memory that a daemon holds when it ends is not a leak. */
#include <stdlib.h>

__attribute__((constructor)) static void children_do_not_look_for_leaks(void)
{
	setenv("ASAN_OPTIONS", "detect_leaks=0", 0); /* our own were read before */
}
