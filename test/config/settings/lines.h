/* lines.h: an error sink that keeps its lines, for tests. */
#pragma once

#include "config/base/error.h"

/* All lines so far, each with a newline. */
extern char lines[1 << 16];
/* Empty again; returns the sink. */
struct error_sink *lines_start(void);
