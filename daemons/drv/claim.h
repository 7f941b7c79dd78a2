/* claim.h: one driver per device, and one writer per channel.
 *
 *	struct claim_set set = { 0 };
 *
 *	claim_interface(&set, "can0", "0EF", &errors, &warnings);
 *	claim_channel(&set, "waist-state", &errors, &warnings);
 *	claim_renew(&set, &errors);			now and then
 *	claim_release(&set);
 *
 * A claim lies where the thing lies that it is for.  Those of channels and of soft wires are locks on a file in the
 * folder of the channels, and in RUN (claim_file.h): only the robot's user and root can take them.  A SocketCAN
 * interface is shared by all users of a network namespace, and so is the name of its claims: an abstract socket,
 * endplate/dev/can0.0EF, which any of them can bind.
 *
 * For one release channels and wires have such names, too, so that a version that knows no others is noticed.  One that
 * another user holds is a warning, the first of them only.
 */
#pragma once

#include "daemons/drv/claim_file.h"

enum claim_place { CLAIM_CHANNELS, CLAIM_WIRES, CLAIM_PLACES };

struct claim_set {
	struct claim_locks {
		bool open;
		int fd; /* of the file, which has all claims of this set */
		char path[CLAIM_FILE_PATH_MAX];
		off_t *bytes;
		size_t n, room;
		bool lost; /* reported */
	} locks[CLAIM_PLACES];
	int *names; /* descriptors of sockets */
	size_t names_n, names_room;
	bool warned;
};

/* 0; or -errno with a line in errors.  -EBUSY: another process holds the claim; the line names its program, pid and uid
 * as far as we may know them.  The second of the same claim in one set is not refused. */
int claim_interface(struct claim_set *set, const char *interface, const char *what, struct error_sink *errors,
		    struct error_sink *warnings);
int claim_channel(struct claim_set *set, const char *name, /* with its prefix */
		  struct error_sink *errors, struct error_sink *warnings);

/* Takes the locks again if their file was removed or replaced.  0: nothing was to be done; 1: they were taken again, or
 * will be with a later call; -EBUSY, once: another process has one of them, with a line.  It neither allocates
 * nor waits. */
int claim_renew(struct claim_set *set, struct error_sink *errors);

void claim_release(struct claim_set *set);
