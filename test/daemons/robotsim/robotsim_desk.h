/* robotsim_desk.h: one simulated module on a desk: frames as text, time as an argument. */
#pragma once

#include <stdint.h>

#include "daemons/robotsim/pcube.h"

#define MS ((int64_t)1000000)

extern struct pcube desk; /* number 15 */
extern int64_t desk_now_ns;

/* As sim: {...} in a robot file, on one line: "position: 0.5, homed: no"; its limits are -2 to 2 unless it says so. */
void desk_is(const char *settings);

void desk_pass(int64_t ns);
void desk_hear(const char *frame); /* a frame is on its bus now */

/* What it says next, waiting for it: "0AF#00"; "": nothing. */
const char *desk_said(void);
/* Both: a frame, and what comes of it. */
const char *desk_ask(const char *frame);
void desk_expect(const char *frame, const char *answer);
void desk_expect_nothing(const char *frame);

uint32_t desk_state(void);
float desk_real(uint8_t parameter);	     /* by asking for it */
void desk_move(uint8_t motion, float value); /* and drops the answer */
void desk_set_real(uint8_t parameter, float value);
void desk_set_config(uint32_t config);

/* Time passes until these bits are as wanted, or it fails.  How long it took. */
int64_t desk_until(uint32_t mask, uint32_t bits);
