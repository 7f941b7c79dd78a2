/* act_inside.h: between act.c and act_stop.c. */
#ifndef LAUNCH_ACHWEB_ACT_INSIDE_H
#define LAUNCH_ACHWEB_ACT_INSIDE_H

#include "launch/achweb/act.h"

void act_finish(struct acts *acts, struct act *a, bool ok, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

void act_stop_begin(struct acts *acts, enum msg_level level, uint64_t client, const char *who, int64_t now_ns);
int64_t act_stop_step(struct acts *acts, int64_t now_ns);
void act_stop_close(struct acts *acts);
/* Without an answer the robot may be armed, now or in a moment: raises the level, and tells the client that. */
void act_stop_arming(struct acts *acts, struct act *a, const char *why, int64_t now_ns);

#endif
