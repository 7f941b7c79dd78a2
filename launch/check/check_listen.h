/* check_listen.h: whether daemons can have the ports that they listen on. */
#ifndef LAUNCH_CHECK_CHECK_LISTEN_H
#define LAUNCH_CHECK_CHECK_LISTEN_H

#include "launch/file/launch_file.h"

/* Errors: a daemon with listen:, or an achweb without local sockets, where this process may open no network socket, as
 * in endplate@.service.  Warnings: a port that another user has. */
void check_listen(const struct launch *launch, struct error_sink *errors, struct error_sink *warnings);

#endif
