/* vt_outside.h: names what came to a process of a virtual clock from outside of it. */
#pragma once

#include "channels/clock/vt_page.h"

/* The descriptor in words: the path of a socket and the process at its other end, the port, or what the kernel calls
 * it.  Of a set of epoll(7) the first that is ready; nothing is read. */
void vt_outside_fd(char text[VT_OUTSIDE_MAX], int fd);
