/* sim_talk.h: a question to robotsim from a test.  The program would take longer than a reference is valid. */
#pragma once

#include <stddef.h>

/* Its answer, which has to begin with "ok".  While a robotsim that was killed has no successor yet, turn is called. */
void sim_talk(const char *question, char *said, size_t size, void (*turn)(void));
