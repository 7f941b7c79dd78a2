/* port.h: one end of a channel, as a daemon holds it.
 *
 * port_open opens the channel or, if it does not exist, makes it with the size that its message needs.  Its
 * owner is our effective user or root, and no other user has more rights than we grant: a channel that another user
 * made first is refused.  An unlinked or corrupt channel is reopened (port_reopen, once a second or as often as
 * asked), and its new handle begins at the oldest message there.  Nothing here waits: a put whose lock is held waits
 * for 2 ms at most, and is counted.
 *
 * Offered to other folders:
 *	notify.h removal.h report.h request.h rpc.h
 */
#pragma once

#include <sys/types.h>

#include "channels/ach/ach.h"
#include "channels/msg/msg.h"
#include "config/base/base.h"

#define PORT_NAME_MAX 64 /* with the prefix */
#define PORT_PUT_NS 2000000

struct port {
	char name[PORT_NAME_MAX];
	const struct msg_type *type;
	mode_t mode; /* at most */
	bool open;
	bool fresh; /* the handle has not been read from yet: what it missed does not count */
	uint32_t puts_failed;
	uint64_t sequence; /* of the messages put here */
	int64_t look_ns;   /* when to look at its file again */
	ach_channel_t chan;
};

/* Opens a channel of that owner, or root's, that grants no other user more than mode; a put waits for PORT_PUT_NS. */
enum ach_status port_attach(ach_channel_t *chan, const char *name, uid_t owner, mode_t mode);
int port_error(enum ach_status status); /* 0, -ENOENT, -EACCES, -ETIMEDOUT, else -EIO */
/* Was its file removed, or replaced? */
bool port_is_gone(const ach_channel_t *chan);

/* "$ENDPLATE_PREFIX" + channel.  -ENAMETOOLONG. */
int port_name(char name[PORT_NAME_MAX], const char *channel);

/* The group of the operators, for the channels of a daemon: the number that achstart leaves in the environment, if
 * that is our effective group or one of the supplementary ones; else (gid_t)-1. */
#define PORT_OPERATORS "ENDPLATE_OPERATORS"
gid_t port_group(void);
/* The group arming: of the launch file, whose members may act through a daemon of the robot; or (gid_t)-1. */
#define PORT_ARMING "ENDPLATE_ARMING"
gid_t port_arming(void);

/* Opens or makes the channel: 0600, and with a port_group 0640 if that is the mode.  0, or with a line in errors
 * -EINVAL: it is there, and too small for its messages; -EACCES: it belongs to another user, or its mode has bits that
 * mode has not; and the like.  A port that could not be opened is tried again by port_reopen. */
int port_open(struct port *port, const char *channel, const struct msg_type *type, mode_t mode,
	      struct error_sink *errors);
/* The same for the channel NAME-SUFFIX, with messages of the type of that number. */
int port_open_of(struct port *port, const char *name, const char *suffix, enum msg_number type, mode_t mode,
		 struct error_sink *errors);
/* The line for a channel that ach_open has just refused with ACH_EACCES: whose it is, what is wrong, what to do.
 * -EACCES. */
int port_foreign(const char *name, struct error_sink *errors);
void port_close(struct port *port);

/* Is its file still the one under its name?  Asked every_ns.  If not, or if it is not open: opens (and if need be
 * makes) it again.  true: it was reopened. */
bool port_reopen(struct port *port, int64_t now_ns, int64_t every_ns);

/* Puts a message whose header is filled in but for its sequence.  false: not put, and counted. */
bool port_put(struct port *port, void *msg);

/* Has something been put since it was last read? */
bool port_has_news(const struct port *port);

enum port_got {
	PORT_NONE,
	PORT_ONE,    /* *len bytes */
	PORT_MISSED, /* one, and others were overwritten before they could be read */
	PORT_BROKEN, /* not open, or corrupt: it is closed now */
};
/* The next message, or the newest.  What is longer than size counts as an empty one. */
enum port_got port_next(struct port *port, void *msg, size_t size, size_t *len);
enum port_got port_newest(struct port *port, void *msg, size_t size, size_t *len);
