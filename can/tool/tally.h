/* tally.h: the result of a replay, as text and as JSON. */
#ifndef CAN_TOOL_TALLY_H
#define CAN_TOOL_TALLY_H

#include <stdint.h>

#include "can/tool/route.h"
#include "channels/hist.h"

struct tally {
	uint64_t sent;			  /* handed over */
	uint64_t unconfirmed;		  /* of them, without an echo */
	uint64_t refused, down, unfit;	  /* not handed over, as in struct route_bus */
	uint64_t errors_left_out;	  /* error frames */
	uint64_t damaged, backward, lost; /* of the log */
	uint64_t passes;
	int64_t took_ns;
	const struct hist *late;
};

/* Adds the counts of the buses. */
void tally_buses(struct tally *t, const struct routes *routes);

void tally_print(const struct tally *t);
void tally_json(const struct tally *t);

#endif
