/* studio_services.h: services of a studio: the same actions as on the page, in JSON. */
#ifndef LAUNCH_ACHWEB_STUDIO_SERVICES_H
#define LAUNCH_ACHWEB_STUDIO_SERVICES_H

#include "launch/achweb/studio.h"

/* The message "advertiseServices" for a session with these rights. */
struct blob *studio_services(unsigned int rights);

/* A call: what the client has sent behind the opcode.  It is answered with studio_result, or a failure. */
void studio_services_call(struct client *client, struct acts *acts, const uint8_t *bytes, size_t len, int64_t now_ns);

/* An answer to the call. */
struct blob *studio_services_answer(uint32_t service, uint32_t call, bool ok, const char *text);

#endif
