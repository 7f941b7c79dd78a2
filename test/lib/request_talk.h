/* request_talk.h: requests to a driver from a test, as achctl sends them. */
#ifndef REQUEST_TALK_H
#define REQUEST_TALK_H

#include "channels/msg/msg.h"

/* Of this process, with another id at every call. */
struct msg_request request_talk(enum msg_verb verb, const char *key, const char *value);

#endif
