/* arena.c: memory that is given back all at once. */
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "config/base/arena.h"

#define ARENA_CHUNK ((size_t)16384)

struct arena_chunk {
	struct arena_chunk *next;
	size_t used, size;
	alignas(max_align_t) char bytes[];
};

static struct arena_chunk *grow(struct arena *arena, size_t size)
{
	struct arena_chunk *chunk;

	size = size > ARENA_CHUNK ? size : ARENA_CHUNK;
	chunk = calloc(1, sizeof(*chunk) + size);
	if (!chunk)
		return NULL;
	chunk->size = size;
	chunk->next = arena->chunks;
	arena->chunks = chunk;
	return chunk;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	const size_t align = alignof(max_align_t);
	struct arena_chunk *chunk = arena->chunks;
	void *p;

	if (size > (size_t)1 << 30)
		return NULL;
	size = (size + align - 1) / align * align;
	if (!chunk || chunk->size - chunk->used < size)
		chunk = grow(arena, size);
	if (!chunk)
		return NULL;
	p = chunk->bytes + chunk->used;
	chunk->used += size;
	return p;
}

char *arena_copy(struct arena *arena, const void *bytes, size_t len)
{
	char *copy = arena_alloc(arena, len + 1);

	if (copy)
		memcpy(copy, bytes, len);
	return copy;
}

void arena_free(struct arena *arena)
{
	while (arena->chunks) {
		struct arena_chunk *chunk = arena->chunks;

		arena->chunks = chunk->next;
		free(chunk);
	}
}
