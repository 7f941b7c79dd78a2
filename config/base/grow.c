/* grow.c: arrays that grow. */
#include "config/base/grow.h"

#include <stdlib.h>
#include <string.h>

bool grow(void *array, size_t *room, size_t n, size_t size)
{
	const size_t more = n > 2 * *room ? n : 2 * *room;
	void *before, *after;

	if (n <= *room)
		return true;
	memcpy(&before, array, sizeof(before)); /* a pointer of any type */
	after = reallocarray(before, more, size);
	if (!after)
		return false;
	memcpy(array, &after, sizeof(after));
	*room = more;
	/* cppcheck-suppress memleak; *array has it */
	return true;
}
