/* story.h: what happened, in words and in order, from the frames and messages of an incident.  Pure.
 *
 *	story_frame(&story, "torso", &frame, t_ns);		each, in order of time
 *	story_message(&story, "waist-ref", bytes, len, t_ns);
 *	story_end(&story, t_ns);
 *	for (i = 0; i < story.n; i++)
 *		printf("%+.6f s %s\n", (story.lines[i].t_ns - cause_ns) / 1e9, story.lines[i].text);
 *
 * Lines are about what changes: frames and states that come regularly and then do not, references that expire before
 * the next one comes, lifecycles, incarnations, stops, and events from warnings on.
 */
#ifndef LAUNCH_VIEW_STORY_H
#define LAUNCH_VIEW_STORY_H

#include <stddef.h>
#include <stdint.h>

#include "can/bus/frame.h"
#include "channels/msg/msg.h"

#define STORY_TEXT_MAX 320
#define STORY_LATE 3	       /* means, and twice the longest interval: longer is late */
#define STORY_LATE_NS 10000000 /* and longer than this */
#define STORY_REGULAR 10       /* intervals that make a mean */

struct story {
	struct story_line {
		int64_t t_ns;
		size_t number;
		char text[STORY_TEXT_MAX];
	} * lines;
	size_t n, room;

	/* private */
	struct story_rhythm { /* of a frame, a daemon, or a channel of states or references */
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

void story_frame(struct story *s, const char *bus, const struct frame *frame, int64_t t_ns);
void story_message(struct story *s, const char *channel, const void *bytes, size_t len, int64_t t_ns);
/* Nothing follows: puts the lines in order.  0 or -ENOMEM. */
int story_end(struct story *s, int64_t t_ns);
void story_free(struct story *s);

#endif
