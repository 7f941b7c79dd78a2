/* pciod_fake.h: a module that answers what one driver asks of it, for tests of pciod_module*.c. */
#pragma once

#include "daemons/pcio/pciod_module.h"

#define MS INT64_C(1000000)
#define FAKE_COMMANDS_MAX 512

struct fake {
	/* the module */
	uint32_t state, config;
	float position, velocity, current;
	float min_position, max_position, max_velocity, max_acceleration, max_current;
	bool reset_helps, config_stays, mute; /* mute: it hears, and answers nothing */
	uint32_t deaf_to;		      /* questions that it does not answer, bits */
	bool deaf_to_halt, brakes_slowly;
	uint32_t stands; /* questions for which the bus stands, bits */
	uint8_t status;	 /* of a set */

	/* its driver's half */
	struct pciod_module m;
	struct drv_ask asks;
	struct pciod_settings settings;
	struct pciod_tick_input input;
	struct pciod_tick_output output;
	struct drv_ref_limits limits;
	struct drv_ref_command command;
	int64_t now_ns;
	/* since it was last emptied: "halt", "reset", "home", "v 0.25", "V 0" (plain), "c 1", "config 01000118" */
	char commands[FAKE_COMMANDS_MAX];
	uint32_t asked; /* in the last tick */
};

/* A module that stands, homed and fine, at 1.5 rad, and its driver, which knows nothing of it but that the one before
 * it left it well, perhaps halted. */
void fake_start(struct fake *f);
void fake_restart(struct fake *f, const struct pciod_actuator_before *before); /* a new driver of the same module */
/* A tick of 5 ms: commands and questions go onto the wire, and is answered 1 ms later. */
void fake_tick(struct fake *f);
void fake_ticks(struct fake *f, unsigned int n);
/* A tick without the answers; then the answer to one question, t_ns on the wire. */
void fake_ask(struct fake *f);
void fake_answer(struct fake *f, enum pciod_question question, int64_t t_ns);
/* The reset that waits for the bus leaves, or is lost; the matcher forgets all that it waits for. */
void fake_reset_sent(struct fake *f);
void fake_reset_lost(struct fake *f);
void fake_forget(struct fake *f);
/* A reply as bytes. */
enum pciod_news fake_reply(struct fake *f, const char *hex, int64_t t_ns);
/* Its commands since the last call, separated by "; ". */
const char *fake_commands(struct fake *f);
/* Until it is up; fails the test if that takes more than 20 ticks. */
void fake_up(struct fake *f);
