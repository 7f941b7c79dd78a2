/* estop.h: the e-stop as every process of a robot reads and writes it: drivers, achstart, achctl.
 *
 *	estop_open(&estop, &options, errors);
 *	for (;;) {
 *		level = estop_read(&estop, now_ns);	// before anything is commanded
 *		...
 *		estop_maintain(&estop, now_ns);		// after the frames are sent: it may wait up to 2 ms
 *	}
 *
 * estop_rule.h says what the level is.  Anyone who may write estop-b can raise; only achstart lowers.
 *
 * Offered to other folders:
 *	estop_lower.h
 */
#pragma once

#include <sys/types.h>

#include "channels/estop/estop_rule.h"
#include "channels/port/port.h"
#include "channels/port/removal.h"

#define ESTOP_RETAINED 64
#define ESTOP_READ_NS 10000000	 /* every process of the robot looks at least this often */
#define ESTOP_FILE_NS 1000000000 /* between two looks at the file of a channel that is watched */
#define ESTOP_LOWER_NS 200000000 /* how long a lowering may be taken */

struct estop_options {
	uid_t owner;			      /* of the channels; root's are accepted as well */
	bool make;			      /* make channels that are missing, at estop_open */
	gid_t group;			      /* of the channels made here; (gid_t)-1: none, modes 0600 */
	bool ratify;			      /* this process may write estop: it copies raises of estop-b there */
	const char *name;		      /* of this process, for the raises it writes itself */
	const struct estop_kept *predecessor; /* NULL: none */
	const struct removal *removal; /* reports removed channels; NULL: each estop_maintain looks at their files */
};

struct estop_channel {
	char name[PORT_NAME_MAX];
	ach_channel_t chan;
	bool open;
	bool removed;	   /* found by estop_maintain; counts as unreadable in the next look */
	bool watched;	   /* by options.removal: its file is looked at if that reports something, and each second */
	uint64_t removals; /* what it had reported at the last look */
	int64_t look_ns;   /* when to look in any case */
	int64_t retry_ns;  /* not opened again before this */
	enum ach_status status; /* why it is not open */
	char why[128];		/* the same, in words */
	struct estop_window window;
	struct msg_estop messages[ESTOP_RETAINED];
};

struct estop {
	struct estop_options options;
	struct estop_rule rule;
	struct estop_channel channel[ESTOP_CHANNELS];
	uint64_t boot[2];
	int64_t suspended_ns; /* how long the machine was suspended since it booted */

	/* results of the last look */
	enum msg_level level;
	uint64_t epoch;		 /* of the lowering obeyed, or of the last one that was */
	char who[MSG_NAME_SIZE]; /* who gave the level; "" if no message did */
	char why[MSG_TEXT_SIZE];
	int64_t since_ns;		 /* when that message was published; 0: no message */
	uint64_t invalid;		 /* invalid messages stepped over, ever */
	char invalid_why[MSG_TEXT_SIZE]; /* of the newest of them */
};

/* What a person, or a program, had read of both channels when it decided. */
struct estop_seen {
	uint64_t id[ESTOP_CHANNELS], seq[ESTOP_CHANNELS];
};

/* 0, or -errno with a line for each channel that is not open; estop_maintain tries it again.  -EINVAL: a name is too
 * long. */
int estop_open(struct estop *e, const struct estop_options *options, struct error_sink *errors);
/* The same for a spare that has opened them, and has not looked, before it was needed: those that are still the ones
 * under their names stay open. */
int estop_take_over(struct estop *e, const struct estop_options *options, struct error_sink *errors);
void estop_close(struct estop *e);

/* Reads all that is new and computes the level.  Never waits. */
enum msg_level estop_read(struct estop *e, int64_t now_ns);
/* Reopens channels that were removed or made again, ratifies, condemns.  Call it also when removal_read was true. */
void estop_maintain(struct estop *e, int64_t now_ns);
/* Makes missing channels again, and replaces those that cannot be used: condemned, corrupt, foreign.  For achstart, and
 * for achctl arm --unsupervised.  How many. */
int estop_mend(struct estop *e, struct error_sink *errors);
/* A line for each channel that is not open: why. */
void estop_why_closed(const struct estop *e, struct error_sink *errors);

struct estop_seen estop_seen(const struct estop *e); /* as of the last look */
struct estop_kept estop_kept(const struct estop *e);

/* Raises on each channel that this process may write; one whose writer is stuck, or that cannot be written, is
 * condemned.  0 if every process of the robot finds the raise or the condemned channel; else -errno with lines. */
int estop_raise(struct estop *e, enum msg_level level, const char *who, uid_t uid, const char *why,
		struct error_sink *errors);

/* Puts a lowering for a process that had read `seen`; it is valid only if nothing was written to estop since, and
 * obeyed only by drivers that read it before until_ns.  The Ach sequence number it has if it is valid, in *base:
 * drivers that obey it publish that number.  0, or -errno with a line. */
int estop_lower(struct estop *e, const struct estop_seen *seen, enum msg_level level, int64_t until_ns, uint64_t epoch,
		const char *who, uid_t uid, const char *why, uint64_t *base, struct error_sink *errors);

/* Between estop.c and estop_write.c. */
enum ach_status estop_channel_open(const struct estop *e, unsigned int channel, struct estop_channel *c);
void estop_channel_close(struct estop_channel *c, enum ach_status status, const char *why);
