/* judge.h: what a driver makes of the e-stop channels, by the same rules (daemons/drv_estop.h).
 *
 * achctl arm uses it to see whether a raise came in between and made the lowering void.
 */
#ifndef LAUNCH_ACHCTL_JUDGE_H
#define LAUNCH_ACHCTL_JUDGE_H

#include <stdbool.h>

#include "channels/ach.h"
#include "daemons/drv_estop.h"

struct judge {
	struct drv_estop estop; /* level, epoch, voided, who, why */
	ach_channel_t chan[DRV_ESTOP_CHANNELS];
	bool open[DRV_ESTOP_CHANNELS];
	bool fresh[DRV_ESTOP_CHANNELS]; /* nothing has been read: what is missed does not count */
	enum msg_level highest;		/* raised since judge_mark */
	char who[MSG_NAME_SIZE], why[MSG_TEXT_SIZE];
};

/* true: both channels can be read.  It may be used either way. */
bool judge_open(struct judge *judge);
void judge_close(struct judge *judge);
/* Takes what has come. */
void judge_look(struct judge *judge);
/* From now on raises are noted: highest, who and why; MSG_LEVEL_RUN: there was none. */
void judge_mark(struct judge *judge);

#endif
