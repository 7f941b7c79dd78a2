/* request_talk.c: requests to a driver from a test. */
#include <stdio.h>
#include <unistd.h>

#include "test/lib/request_talk.h"

struct msg_request request_talk(enum msg_verb verb, const char *key, const char *value)
{
	static uint64_t id;
	struct msg_request request;

	msg_init(&request, msg_type_by_number(msg_request_number));
	request.id = ++id;
	request.client_pid = (uint32_t)getpid();
	request.verb = verb;
	snprintf(request.key, sizeof(request.key), "%s", key);
	snprintf(request.value, sizeof(request.value), "%s", value);
	return request;
}
