/* look.h: one look at a channel, without moving anything in it. */
#ifndef CHANNELS_TOOL_LOOK_H
#define CHANNELS_TOOL_LOOK_H

#include "channels/tool/tool.h"
#include "config/json.h"

struct look {
	enum ach_status status; /* of the look; ACH_OK also for an empty channel */
	int64_t at_ns;		/* when */
	uint64_t seq;		/* of the newest message; 0: there is none */
	size_t len;		/* its bytes */
	size_t retained;	/* messages, this one included */
	uint32_t writer;	/* pid of who put it */
	bool waited;		/* somebody waits for the next one, or did and died */
	enum msg_refusal refusal;
	const struct msg_type *type; /* NULL: not ours */
	struct msg_header header;    /* as it lies there; to be believed if type is set */
};

void look_at(struct look *look, ach_channel_t *chan);

/* Messages per second between two looks; those of ours by their own times, which a short look does not blur. */
double look_rate(const struct look *first, const struct look *second);

/* Since the newest message was published; only if it has a type. */
int64_t look_age_ns(const struct look *look);

/* Is there such a process?  One that came later under the same number counts, too. */
bool look_alive(uint32_t pid);

/* For people, three digits: "200 Hz", "3.14 ms". */
#define LOOK_TEXT_MAX 32
void look_rate_text(char text[LOOK_TEXT_MAX], double hz);
void look_age_text(char text[LOOK_TEXT_MAX], int64_t ns);

/* The members of the object that ach info --json prints, without its braces. */
struct look_channel {
	const char *name;
	uint32_t count, size;
	mode_t mode;
	double rate_hz;
};
void look_json(struct json *j, const struct look_channel *channel, const struct look *look);

/* How long --for says to watch between two looks: half a second unless told.  0, or TOOL_USAGE after a line. */
int look_for(const char *text, int64_t *ns);

#endif
