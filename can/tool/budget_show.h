/* budget_show.h: the output of canbudget. */
#pragma once

#include "can/bus/bits.h"
#include "can/load/budget.h"
#include "can/log/log.h"

extern const char *const budget_show_orders[]; /* id, load, rate */

struct budget_show {
	const char *path;
	bool assumed; /* the bit rate of buses without --bitrate */
	int order;    /* of budget_show_orders */
};

/* After budget_end; text puts the ids into another order. */
void budget_show_text(const struct budget_show *show, struct budget *b, const struct log *log);
void budget_show_json(const struct budget_show *show, struct budget *b, const struct log *log);

/* Frames of the command line: a table, or an object a line. */
void budget_show_frames(const struct frame *frames, size_t n, const struct bits_rates *rates, bool json);
