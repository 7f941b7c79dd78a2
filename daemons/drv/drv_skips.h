/* drv_skips.h: how many of the last cycles this process skipped, as the cause of silence.  Pure. */
#pragma once

#include "config/base/base.h"

/* Two halves of a window; when the newer one is full it becomes the older one. */
struct drv_skips {
	unsigned int cycles[2], skipped[2];
};

/* Counts one cycle that ran, and those skipped before it. */
void drv_skips_add(struct drv_skips *s, uint64_t skipped);

/* True: a device that seems silent may not have been asked or heard in time. */
bool drv_skips_many(const struct drv_skips *s);

/* "; this machine skipped 640 of the last 1000 cycles", or "" if they are not many.  Returns text. */
#define DRV_SKIPS_TEXT_MAX 64
const char *drv_skips_text(const struct drv_skips *s, char text[DRV_SKIPS_TEXT_MAX]);

/* Is this the code of a fault that a machine without time causes as well: silent, no-answer, unanswered ...? */
bool drv_skips_explain(const char *code);
