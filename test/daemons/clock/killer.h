/* killer.h: kills hubo-daemon and starts it again while a driver ticks on it. */
#pragma once

#include <stdint.h>

/* On the wire and the clock that the test has begun, with the devices clock and demo of that robot file.  Prints what
 * is wrong, and how much was looked at.  How many things are wrong. */
int killer_run(const char *robot_file, uint32_t kills);
void killer_end(void); /* ends what a run that failed has left */
