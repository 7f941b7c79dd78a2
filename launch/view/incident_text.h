/* incident_text.h: what happened, in words and in order, from the frames and messages of an incident.  Pure.
 *
 *	incident_text_frame(&story, "torso", &frame, t_ns);		each, in order of time
 *	incident_text_message(&story, "waist-ref", bytes, len, t_ns);
 *	incident_text_end(&story, t_ns);
 *	for (i = 0; i < story.n; i++)
 *		printf("%+.6f s %s\n", (story.lines[i].t_ns - cause_ns) / 1e9, story.lines[i].text);
 *
 * Lines are about what changes: frames and states that come regularly and then do not, references that expire before
 * the next one comes, lifecycles, incarnations, stops, and events from warnings on.
 */
#pragma once

#include "can/bus/frame.h"
#include "channels/msg/msg.h"
#include "config/base/base.h"

#define INCIDENT_TEXT_TEXT_MAX 320
#define INCIDENT_TEXT_LATE 3	       /* means, and twice the longest interval: longer is late */
#define INCIDENT_TEXT_LATE_NS 10000000 /* and longer than this */
#define INCIDENT_TEXT_REGULAR 10       /* intervals that make a mean */

struct incident_text {
	struct incident_text_line {
		int64_t t_ns;
		size_t number;
		char text[INCIDENT_TEXT_TEXT_MAX];
	} * lines;
	size_t n, room;

	/* private */
	struct incident_text_rhythm { /* of a frame, a daemon, or a channel of states or references */
		char what[72];
		int64_t first_ns, last_ns, longest_ns; /* the last: from one to the next */
		uint64_t n;
		bool gone;		/* a daemon that died, and was not restarted yet */
		int64_t valid_until_ns; /* of references */
		uint32_t incarnation;
		uint32_t life;
		bool known; /* incarnation and life */
	} * rhythms;
	size_t rhythms_n, rhythms_room;
	int failed;
};

void incident_text_frame(struct incident_text *s, const char *bus, const struct frame *frame, int64_t t_ns);
void incident_text_message(struct incident_text *s, const char *channel, const void *bytes, size_t len, int64_t t_ns);
/* Nothing follows: puts the lines in order.  0 or -ENOMEM. */
int incident_text_end(struct incident_text *s, int64_t t_ns);
void incident_text_free(struct incident_text *s);
