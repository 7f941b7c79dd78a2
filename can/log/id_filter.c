/* id_filter.c: selection of identifiers. */
#include "can/bus/frame_text.h"
#include "can/log/id_filter.h"
#include "config/base/base.h"

#define EXT_LAST (FRAME_EXT | FRAME_EXT_MASK)

/* ---- reading ---- */

/* 123, 200-2FF */
static bool read_range(const char *text, struct id_filter_range *r)
{
	const char *dash = strchr(text, '-');
	char first[16];

	snprintf(first, sizeof(first), "%.*s", dash ? (int)(dash - text) : (int)strlen(text), text);
	return frame_text_read_id(first, &r->first) && frame_text_read_id(dash ? dash + 1 : first, &r->last) &&
	       r->first <= r->last && !((r->first ^ r->last) & FRAME_EXT);
}

/* ---- sets ---- */

static bool add(struct id_filter *ids, struct id_filter_range r)
{
	size_t from = 0, to;

	while (from < ids->n && ids->range[from].last + 1 < r.first)
		from++;
	for (to = from; to < ids->n && ids->range[to].first <= r.last + 1; to++) {
		r.first = ids->range[to].first < r.first ? ids->range[to].first : r.first;
		r.last = ids->range[to].last > r.last ? ids->range[to].last : r.last;
	}
	if (to == from && ids->n == ID_FILTER_RANGES_MAX)
		return false;
	memmove(&ids->range[from + 1], &ids->range[to], (ids->n - to) * sizeof(r));
	ids->n += 1 + from - to;
	ids->range[from] = r;
	return true;
}

static bool take_away(struct id_filter *ids, struct id_filter_range r)
{
	for (size_t i = 0; i < ids->n; i++) {
		struct id_filter_range *have = &ids->range[i];

		if (have->last < r.first || have->first > r.last)
			continue;
		if (have->first < r.first && have->last > r.last) {
			if (ids->n == ID_FILTER_RANGES_MAX)
				return false;
			memmove(have + 1, have, (ids->n - i) * sizeof(r));
			ids->n++;
			have[0].last = r.first - 1;
			have[1].first = r.last + 1;
			return true;
		}
		if (have->first < r.first) {
			have->last = r.first - 1;
		} else if (have->last > r.last) {
			have->first = r.last + 1;
		} else {
			memmove(have, have + 1, (ids->n - i - 1) * sizeof(r));
			ids->n--;
			i--;
		}
	}
	return true;
}

static int read_list(struct id_filter *ids, const char *option, const struct settings_strings *list,
		     bool (*with)(struct id_filter *ids, struct id_filter_range r), struct error_sink *errors)
{
	for (size_t i = 0; i < list->n; i++) {
		const char *text = list->item[i], *end;

		for (;; text = end + 1) {
			char part[24], quoted[TEXT_QUOTED_MAX];
			struct id_filter_range r;

			end = strchrnul(text, ',');
			snprintf(part, sizeof(part), "%.*s", (int)(end - text), text);
			if (!read_range(part, &r))
				return error_refuse(
					errors, -EINVAL,
					"%s: %s is not an identifier such as 123 (3 digits, or 8 for 29 bits) or a "
					"range such as 200-2FF",
					option, text_quote(quoted, part));
			if (!with(ids, r))
				return error_refuse(errors, -EINVAL, "%s: more than %d ranges", option,
						    ID_FILTER_RANGES_MAX);
			if (!*end)
				break;
		}
	}
	return 0;
}

int id_filter_read(struct id_filter *ids, const struct settings_strings *only, const struct settings_strings *without,
		   struct error_sink *errors)
{
	ids->n = 0;
	ids->all = !only->n && !without->n;
	if (!only->n) {
		ids->range[ids->n++] = (struct id_filter_range){ 0, FRAME_STD_MASK };
		ids->range[ids->n++] = (struct id_filter_range){ FRAME_EXT, EXT_LAST };
	}
	if (read_list(ids, "--only", only, add, errors))
		return -EINVAL;
	return read_list(ids, "--not", without, take_away, errors);
}

/* ---- asking ---- */

bool id_filter_want(const struct id_filter *ids, const struct frame *f)
{
	uint32_t id = f->id & EXT_LAST;
	size_t low = 0, high = ids->n;

	if (ids->all)
		return true;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (id > ids->range[middle].last)
			low = middle + 1;
		else
			high = middle;
	}
	return low < ids->n && id >= ids->range[low].first;
}

/* Each range is cut into blocks of a power of two that begin at a multiple of it. */
int id_filter_filters(const struct id_filter *ids, struct bus_filter *filters, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < ids->n; i++) {
		uint32_t width = ids->range[i].first & FRAME_EXT ? FRAME_EXT_MASK : FRAME_STD_MASK;
		uint32_t first = ids->range[i].first, left = ids->range[i].last - first + 1;

		while (left) {
			uint32_t size = 1;

			while (!(first & size) && size <= left / 2 && size <= width)
				size <<= 1;
			if (n == max)
				return -E2BIG;
			filters[n++] = (struct bus_filter){ .id = first, .mask = FRAME_EXT | (width & ~(size - 1)) };
			first += size;
			left -= size;
		}
	}
	return (int)n;
}
