/* clock_page.h: the page of a virtual clock that an achstart finds: of a robot whose achstart was killed. */
#pragma once

#include "channels/clock/vt_page.h"
#include "config/base/base.h"
#include "launch/file/launch_file.h"

/* The page, to be unmapped, if a daemon of the launch file runs on that clock.  NULL: none does; then a coordinator
 * that was left behind is killed, and *beside says whether a daemon runs in real time. */
struct vt_page *clock_page_find(const char *path, const struct launch *launch, int first, bool *beside);

int clock_page_coordinator(const struct vt_page *page); /* a descriptor of its process; -1: it has ended */
int clock_page_processor(const struct vt_page *page);	/* which all of them share */
int clock_page_slot_named(const struct vt_page *page, const char *name, int first); /* -1: none */

/* Asks for that slot and waits for it in real time; check is called meanwhile.  0, or -ETIMEDOUT. */
int clock_page_enter(const char *path, struct vt_page *page, int slot, void (*check)(void));
