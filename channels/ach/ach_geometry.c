/* ach_geometry.c: the immutable part of a channel. */
#include <sys/random.h>
#include <unistd.h>

#include "channels/ach/ach_file.h"

uint64_t ach_file_page(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t round_up(uint64_t n, uint64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

uint64_t ach_sum(const void *bytes, size_t len)
{
	const uint8_t *b = bytes;
	uint64_t sum = 14695981039346656037ull; /* FNV-1a */

	for (size_t i = 0; i < len; i++)
		sum = (sum ^ b[i]) * 1099511628211ull;
	return sum;
}

static uint64_t geometry_sum(const struct ach_geometry *g)
{
	return ach_sum(g, offsetof(struct ach_geometry, sum));
}

uint64_t ach_geometry_size(const struct ach_geometry *g)
{
	return g->data_offset + g->psize;
}

enum ach_status ach_geometry_make(struct ach_geometry *g, size_t count, size_t size, const ach_create_attr_t *attr)
{
	uint64_t bytes, page = ach_file_page();

	count = count ? count : ACH_DEFAULT_FRAME_COUNT;
	size = size ? size : ACH_DEFAULT_FRAME_SIZE;
	if (count > ACH_COUNT_MAX || __builtin_mul_overflow(count, size, &bytes) || bytes > ACH_BYTES_MAX)
		return ach_error(ACH_EINVAL, "%zu messages of %zu bytes: at most %u, and less than 2 GiB in all", count,
				 size, ACH_COUNT_MAX);
	*g = (struct ach_geometry){
		.magic = ACH_MAGIC,
		.lsize = bytes,
		.count = (uint32_t)count,
		.size = (uint32_t)size,
		.slots = 2,
		.clock = attr && attr->set_clock ? attr->clock : ACH_DEFAULT_CLOCK,
		.named = !(attr && attr->map == ACH_MAP_ANON),
	};
	while (g->slots <= g->count)
		g->slots *= 2;
	/* Whatever is retained, the longest message fits beside it; each may be padded to ACH_ALIGN. */
	g->psize = round_up(2 * g->lsize + (uint64_t)(g->count + 1) * ACH_ALIGN, page);
	g->data_offset = (uint32_t)round_up(sizeof(struct ach_header) + g->slots * sizeof(struct ach_entry), page);
	if (getrandom(&g->id, sizeof(g->id), 0) != sizeof(g->id))
		return ach_error(ACH_FAILED_SYSCALL, "getrandom: %s", strerror(errno));
	g->sum = geometry_sum(g);
	return ACH_OK;
}

/* Everything a handle relies on later. */
bool ach_geometry_ok(const struct ach_geometry *g)
{
	uint64_t page = ach_file_page();

	return g->magic == ACH_MAGIC && g->sum == geometry_sum(g) && g->count && g->count <= ACH_COUNT_MAX && g->size &&
	       g->lsize == (uint64_t)g->count * g->size && g->lsize <= ACH_BYTES_MAX && g->slots > g->count &&
	       g->slots <= 2 * ACH_COUNT_MAX && !(g->slots & (g->slots - 1)) && g->psize % page == 0 &&
	       g->psize >= 2 * g->lsize + (uint64_t)(g->count + 1) * ACH_ALIGN && g->psize < 1ull << 34 &&
	       g->data_offset % page == 0 &&
	       g->data_offset >= sizeof(struct ach_header) + (uint64_t)g->slots * sizeof(struct ach_entry) &&
	       (g->clock == CLOCK_MONOTONIC || g->clock == CLOCK_REALTIME);
}
