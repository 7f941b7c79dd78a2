/* duration.h: a time for people. */
#pragma once

#include <stdint.h>

/* As people read it, in four digits: 5.021 ms, 120.4 us.  Returns text. */
#define DURATION_TEXT_MAX 24
const char *duration_text(char text[DURATION_TEXT_MAX], int64_t ns);
