/* paused_text.h: the words of the event "paused", for those who write it and for achstart, which merges it. */
#pragma once

#define PAUSED_CODE "paused"
#define PAUSED_TEXT "this machine paused for %lld ms"
#define PAUSED_MS_MAX 1000000000LL
#define PAUSED_REMEDY ": no fault of a device; achdoctor, --virtual"
