/* dmu.h: frames of a Silicon Sensing DMU, and its stream; see hw-docs/devices/imu.md.  Pure. */
#pragma once

#include "can/bus/frame.h"
#include "daemons/imu/imu.h"

#define DMU_ID_RATE 0x040u	   /* dQ, dP, dR: about x, y, z (i16 each), status (u8), sequence (u8) */
#define DMU_ID_ACCELERATION 0x050u /* x, y, z (i16 each), status (u8), sequence (u8) */
#define DMU_ID_TOGGLE 0x090u	   /* 0F: ends the stream if it streams, begins it if it does not */
#define DMU_LEN 8
#define DMU_TOGGLE_LEN 1

/* ---- samples: a rate and an acceleration of the same sequence ---- */

struct dmu {
	int64_t window_ns; /* by the caller: halves that are further apart are of two samples, 256 apart */

	struct imu_counts counts;
	struct imu_sample half; /* that waits for its other one */
	unsigned int has;	/* which: 1 rate, 2 acceleration, 0 none */
	uint8_t sequence;
	bool any; /* a sample was complete */
	uint8_t last;
};

/* A frame of one of the two identifiers.  true: with it the sample is complete. */
bool dmu_take(struct dmu *dmu, const struct frame *frame, int64_t t_ns, struct imu_sample *sample);

void dmu_encode_toggle(struct frame *frame);

/* ---- the stream ----
 *
 * There is no frame that means on, and no answer.  So a toggle is sent only after silence, and then the silence begins
 * again: whatever the device did on its own, a toggle that switched it off is followed by another one.  The time of
 * silence doubles with each toggle up to a limit, so that a device that needs longer to begin is not switched off
 * again before its first frame.  Silence counts only while this process listened to a bus that works. */

struct dmu_stream {
	int64_t listen_ns, retry_ns; /* by the caller: the first time of silence, and the longest */

	int64_t since_ns; /* silent since, as far as known */
	int64_t tick_ns;  /* the last tick; 0: none */
	int64_t wait_ns;  /* silence before the next toggle */
	bool waits;	  /* a toggle was put, and was not on the wire yet */
};

/* At least twice in listen_ns; deaf: the bus is dead.  true: put a toggle now. */
bool dmu_stream_tick(struct dmu_stream *stream, int64_t now_ns, bool deaf);
/* Any frame of the device.  true: a toggle that waits must not leave. */
bool dmu_stream_heard(struct dmu_stream *stream, int64_t t_ns);
/* The toggle was sent at t_ns, was possibly sent, or was dropped. */
void dmu_stream_sent(struct dmu_stream *stream, int64_t t_ns);
/* It streams. */
void dmu_stream_steady(struct dmu_stream *stream);
