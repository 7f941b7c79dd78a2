/* exit.h: the exit statuses of daemons and tools; 0 is fine.  endplate(7) says what achstart does about them. */
#pragma once

#define EXIT_WRONG 100 /* the command line or the configuration makes no sense: never restarted */
#define EXIT_RETRY 111 /* the world is not as it should be: tried again, within the budget of restarts */
#define EXIT_TAKEN 112 /* another process holds a claim or a port: tried again without an end */
