/* standby.h: a driver that is started before it is needed.
 *
 * For a daemon with a spare (launch(5)) achstart keeps a second process of its driver: with its settings read, its
 * channels open and its memory locked, but it has claimed no device, opened no bus and sent nothing.  It waits on
 * stdin.  A text that ends with a zero, its place on the virtual clock or "", makes it the daemon, which spares the
 * time of exec, linking, reading and locking; the end of stdin, when achstart dies or does not need it, ends it.
 */
#pragma once

#include "config/base/base.h"

#define STANDBY "ENDPLATE_STANDBY" /* in the environment of a spare: its real-time priority once it is needed, or 0, */
#define STANDBY_ON_CLOCK (-1)	   /* or this: it will be on a virtual clock */

bool standby_asked(void);
bool standby_on_clock(void); /* if asked: what it opens before it is needed must not depend on the clock */

/* First of all, if asked: from here on without real-time priority, with which it was started so that achstart did not
 * have to wait for it, unless it is needed already. */
void standby_begin(int argc, char **argv);

/* Waits.  true: it is needed now, has its priority, and stdin is /dev/null.  false: it is not.  If the program or a
 * file that it has read was changed meanwhile, the program is run again from the beginning and this does not
 * return. */
bool standby_wait(void);
