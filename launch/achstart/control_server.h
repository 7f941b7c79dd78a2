/* control_server.h: the socket $RUN/control, which takes the commands of achctl (channels/port/rpc.h).
 *
 * A client sends one line, words with tabs between them ("restart\t1234567890\twaist"), and gets one line of JSON:
 * {"ok":true,...} or {"ok":false,"error":"..."}.  rights.h says which commands a user may give, by SO_PEERCRED and
 * SO_PEERGROUPS; events name the user by the same credentials.
 *
 *	status				the whole robot
 *	start, restart, stop UNTIL NAME	a daemon
 *	stop UNTIL			the robot, and then achstart
 *	arm UNTIL WHO ID SEQ ID SEQ	lowers the level to run, for a person who had read that of both e-stop channels;
 *					answered when every driver has taken it, or refused
 *	raise LEVEL WHY			raises the level to hold or estop
 *	clear UNTIL NAME		forgets that a daemon has failed, and starts it
 *	request UNTIL NAME VERB KEY VALUE [DEADLINE]	to a driver; the answer is its reply.  The driver ends it after
 *					DEADLINE, or when the client sends "cancel" behind it.
 *
 * UNTIL is in ns of CLOCK_MONOTONIC.  A command is not done after that, nor when its client has hung up: the client has
 * reported a failure by then, and the robot may have changed.  A raise has no UNTIL and is always done.
 */
#pragma once

#include "channels/port/request.h"
#include "channels/port/rpc.h"
#include "launch/achstart/supervise.h"

#define CONTROL_SERVER_REQUESTS 8 /* clients that wait for a driver, at most */
#define CONTROL_SERVER_FDS RPC_FDS_MAX

struct control;

/* NULL with a line in errors. */
struct control *control_server_open(struct supervisor *s, struct error_sink *errors);
/* Recreates the socket; clients that are connected stay so.  0, or -errno with a line. */
int control_server_listen(struct control *c, struct error_sink *errors);
void control_server_close(struct control *c);
/* Its descriptors for clock_wait; how many. */
size_t control_server_fds(const struct control *c, struct clock_fd fds[CONTROL_SERVER_FDS]);
/* Answers the questions that have come, and those that waited; never blocks. */
void control_server_serve(struct control *c, const struct clock_fd *fds, int64_t now_ns);
