/* arm.h: the level of the e-stop, on both channels.
 *
 * Raising needs nothing but the channels, so that achctl does it without achstart.  Lowering is judged by achstart:
 * epoch + 1 and what whoever decided had read of both channels then; see drv_estop.h.  An operator has decided before
 * achstart hears of it: what was raised in between wins.
 */
#ifndef LAUNCH_ACHSTART_ARM_H
#define LAUNCH_ACHSTART_ARM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "channels/ach.h"
#include "channels/msg/msg.h"
#include "config/error.h"

/* What somebody has read: of each channel its id, which one made anew does not share, and the last message there. */
struct arm_seen {
	uint64_t id[2], seq[2];
};

struct arm {
	ach_channel_t chan[2];
	bool open[2];
	bool corrupt[2];	   /* its file is no channel, or was overwritten */
	enum ach_status status[2]; /* why it is not open */
	struct arm_level {
		uint64_t epoch;
		enum msg_level level; /* the highest in this epoch */
	} of[2];		      /* each channel */
	uint64_t epoch;		      /* the higher one */
	enum msg_level level; /* the higher one; estop also when a channel cannot be read, or one has the epoch alone */
	struct arm_seen seen;
	char who[MSG_NAME_SIZE]; /* of the newest message that is of this epoch and not below this level */
	char why[MSG_TEXT_SIZE];
	int64_t t_ns;	       /* when that was published */
	uint64_t raise_seq[2]; /* of the last message that was not run, or that was missed and may have been none */
	char raise_who[2][MSG_NAME_SIZE];
	char raise_why[2][MSG_TEXT_SIZE];
};

/* Opens both channels, and with make makes those that are missing (0660, group: (gid_t)-1 for one's own).  0, or
 * -errno with a line. */
int arm_open(struct arm *arm, bool make, gid_t group, struct error_sink *errors);
void arm_close(struct arm *arm);
/* A line for each channel that is not open: why. */
void arm_why(const struct arm *arm, struct error_sink *errors);
/* Reads all that is new; re-opens what was replaced.  0, or -errno with the reason in errors: a channel that cannot
 * be read, which drivers take for estop. */
int arm_read(struct arm *arm, struct error_sink *errors);
/* For achstart: makes anew what is missing or corrupt.  How many; drivers are at estop then. */
int arm_mend(struct arm *arm, gid_t group, struct error_sink *errors);
/* Raises, on each channel that can be written, estop-b first if the first waits; 0 if one was. */
int arm_raise(struct arm *arm, enum msg_level level, const char *who, const char *why, struct error_sink *errors);
/* Was the level raised, or a channel made anew, behind what was seen, as far as arm has read?  0, or -EAGAIN with a
 * line that says who did. */
int arm_raised_since(const struct arm *arm, const struct arm_seen *seen, struct error_sink *errors);
/* Lowers to level with a new epoch, for one who had read no more than seen when he decided: a raise since makes it
 * void.  0, or -errno with the reason. */
int arm_lower(struct arm *arm, const struct arm_seen *seen, enum msg_level level, const char *who, const char *why,
	      struct error_sink *errors);

#endif
