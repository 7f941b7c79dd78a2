/* span.h: a time on the command line: --for 5, --for 5s, --valid 50, --valid 50ms. */
#ifndef CHANNELS_TOOL_SPAN_H
#define CHANNELS_TOOL_SPAN_H

#include <stdint.h>

/* text is a duration, or a number of that unit; NULL leaves *ns as it is.  0, or TOOL_USAGE after a line. */
int span_read(const char *option, const char *text, const char *unit, int64_t *ns);

/* As people read it, in four digits: 5.021 ms, 120.4 us.  Returns text. */
#define SPAN_TEXT_MAX 24
const char *span_text(char text[SPAN_TEXT_MAX], int64_t ns);

#endif
