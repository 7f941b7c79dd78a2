/* gauge.h: frames of the example force gauge; see hw-docs/devices/gauge.md.  Pure. */
#pragma once

#include "can/bus/frame.h"

#define GAUGE_ID_ASK 0x2A0u    /* + node: what, index */
#define GAUGE_ID_REPLY 0x2C0u  /* + node: what and index as they were asked, value (i32); or an error (u8) */
#define GAUGE_ID_SAMPLE 0x2E0u /* + node: counts of the three axes (i16 each), number (u8) */
#define GAUGE_AXES 3
#define GAUGE_ASK_LEN 2
#define GAUGE_REPLY_LEN 6
#define GAUGE_REFUSAL_LEN 3
#define GAUGE_SAMPLE_LEN 7

enum gauge_what {
	GAUGE_FACTOR = 1, /* of the axis index, value in nN for each count */
	GAUGE_STREAM = 2, /* a sample every index ms; 0: none */
	GAUGE_BIAS = 3,	  /* take what is measured now as zero */
};

struct gauge_reply {
	uint8_t what, index;
	uint8_t error; /* 0: none */
	int32_t value;
};

struct gauge_sample {
	int64_t t_ns;
	int16_t counts[GAUGE_AXES];
	uint32_t saturated; /* a bit for each axis */
	uint8_t number;
};

void gauge_encode_ask(unsigned int node, enum gauge_what what, uint8_t index, struct frame *frame);

/* 0, or -EMSGSIZE: not of this length; -EREMOTEIO: it refused, and reply->error says why. */
int gauge_decode_reply(struct gauge_reply *reply, const struct frame *frame);
int gauge_decode_sample(struct gauge_sample *sample, const struct frame *frame, int64_t t_ns);
