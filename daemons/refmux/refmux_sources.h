/* refmux_sources.h: the setting sources of refmuxd: "joy:50ms,control". */
#ifndef REFMUX_SOURCES_H
#define REFMUX_SOURCES_H

#include "daemons/refmux/refmux.h"

/* Names and time-outs into mux, which may be NULL.  NULL, or the form that it should have. */
const char *refmux_sources(struct refmux *mux, const char *text);

#endif
