/* grow.c: arrays that grow. */
#include "config/grow.h"

#include <stdlib.h>

bool grow(void *array, size_t *room, size_t n, size_t size)
{
	typedef void *__attribute__((may_alias)) pointer; /* of any type */
	const size_t more = n > 2 * *room ? n : 2 * *room;
	pointer *at = array;
	void *moved;

	if (n <= *room)
		return true;
	moved = reallocarray(*at, more, size);
	if (!moved)
		return false;
	*at = moved;
	*room = more;
	return true;
}
