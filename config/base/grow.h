/* grow.h: arrays that grow.
 *
 *	if (n == room && !grow(&rows, &room, n + 1, sizeof(*rows)))
 *		return -ENOMEM;
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Makes room for n elements of that size.  array is the address of the pointer to them, *room how many there is room
 * for, which at least doubles.  false: no memory, and everything is as it was. */
bool grow(void *array, size_t *room, size_t n, size_t size);
