/* id_filter.h: selection of identifiers: --only 123,200-2FF,00012345 and --not 7F0-7FF.
 *
 * Three digits are an 11-bit identifier, eight a 29-bit one, and a range has two of a kind.  Data and remote frames of
 * an identifier go together; error frames have no identifier, and the caller handles them.
 */
#pragma once

#include "can/bus/bus.h"
#include "config/settings/settings.h"

#define ID_FILTER_RANGES_MAX 1024

/* Ranges in order, none touching the next; a 29-bit identifier has FRAME_EXT. */
struct id_filter {
	bool all; /* no selection */
	size_t n;
	struct id_filter_range {
		uint32_t first, last;
	} range[ID_FILTER_RANGES_MAX];
};

/* Both options; each of their items is a list with commas.  0, or -EINVAL with a line in errors. */
int id_filter_read(struct id_filter *ids, const struct settings_strings *only, const struct settings_strings *without,
		   struct error_sink *errors);

bool id_filter_want(const struct id_filter *ids, const struct frame *f);

/* The same as filters of a bus.  Returns their number; -E2BIG: more than max. */
int id_filter_filters(const struct id_filter *ids, struct bus_filter *filters, size_t max);
