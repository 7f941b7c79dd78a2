/* replay_match_rules.h: which frames of a recording are a driver's own, by its --frames.
 *
 *	{"driver":"pciod","name":"waist","frames":[
 *	 {"bus":"torso","id":"0CF","dir":"tx","len":2,"key":"FFFF",
 *	  "reply":{"id":"0AF","mask":null,"key":"FFFF","frames":1,"within_us":100000}},
 *	 {"bus":"torso","id":"0AF","dir":"rx","len":8}]}
 *
 * A frame of a tx row is the driver's; all others are of devices, or of other programs.  The key has the bits of the
 * data that tell two requests of one identifier apart: two frames with the same bits are the same request.  A frame of
 * the reply's identifier (of one that agrees with it in the bits of mask) that repeats the bits of the reply's key at
 * the same places, within the time, is the answer.
 * Several files of several drivers add up.  Only bus, id and dir are required: such a file may be written by hand.
 */
#pragma once

#include "can/bus/frame.h"
#include "config/base/base.h"

#define REPLAY_MATCH_NAME_MAX 24	   /* bytes of the name of a bus, with the terminating zero */
#define REPLAY_MATCH_WITHIN_NS 100000000   /* of a reply whose row gives no time */
#define REPLAY_MATCH_REPLY_FRAMES_MAX 1000 /* that may make an answer */

struct replay_match_rule {
	char bus[REPLAY_MATCH_NAME_MAX]; /* of the driver */
	uint32_t id;			 /* with FRAME_EXT and FRAME_RTR */
	uint8_t len;			 /* of the longest frame */
	uint8_t key[FRAME_DATA_MAX_FD];
	bool answered; /* the rest is about the answer: */
	uint32_t reply_id;
	uint32_t reply_mask; /* bits of the identifier that count: several make one answer */
	uint8_t reply_key[FRAME_DATA_MAX_FD];
	unsigned int reply_frames; /* that make one answer */
	int64_t within_ns;	   /* from the request */
};

/* The rows with dir tx. */
struct replay_match_rules {
	struct replay_match_rule *rows;
	size_t n, room;
};

/* Adds what a driver printed; name is that of the text in errors.  0; -EINVAL or -ENOMEM with a line in errors. */
int replay_match_rules_read(struct replay_match_rules *rules, const char *name, const char *text, size_t len,
			    struct error_sink *errors);
void replay_match_rules_free(struct replay_match_rules *rules);
