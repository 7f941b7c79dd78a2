/* request_talk.h: requests to a driver from a test, as achctl sends them. */
#pragma once

#include "channels/msg/msg.h"

/* Of this process, with another id at every call. */
struct msg_request request_talk(enum msg_verb verb, const char *key, const char *value);
