/* arena.h: memory that is given back all at once.
 *
 *	struct arena arena = { 0 };
 *	struct thing *t = arena_alloc(&arena, n * sizeof(*t));
 *	arena_free(&arena);
 */
#pragma once

#include <stddef.h>

struct arena {
	struct arena_chunk *chunks;
};

/* Zeroed memory for any type, or NULL when there is none. */
void *arena_alloc(struct arena *arena, size_t size);
/* A copy of len bytes with a zero behind them. */
char *arena_copy(struct arena *arena, const void *bytes, size_t len);
void arena_free(struct arena *arena);
