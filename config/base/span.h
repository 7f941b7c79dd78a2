/* span.h: a time for people. */
#ifndef CONFIG_BASE_SPAN_H
#define CONFIG_BASE_SPAN_H

#include <stdint.h>

/* As people read it, in four digits: 5.021 ms, 120.4 us.  Returns text. */
#define SPAN_TEXT_MAX 24
const char *span_text(char text[SPAN_TEXT_MAX], int64_t ns);

#endif
