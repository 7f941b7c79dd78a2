/* estop_talk.c: raising and lowering the e-stop from a test. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "channels/clock/clock.h"
#include "test/lib/estop_talk.h"

#define LONG_NS 10000000000 /* a loaded machine is not what is tested */

static struct estop estop;

static void must(bool holds, const char *what, const char *why)
{
	if (holds)
		return;
	fprintf(stderr, "estop_talk: %s: %s\n", what, why);
	abort();
}

static void begin(bool make)
{
	const struct estop_options options = { .owner = geteuid(), .make = make, .group = (gid_t)-1, .name = "test" };
	struct error_sink quiet = { 0 };

	estop_open(&estop, &options, &quiet);
	estop_read(&estop, clock_now_ns());
	if (make && estop_mend(&estop, &quiet))
		estop_read(&estop, clock_now_ns());
}

struct msg_estop estop_talk_message(enum msg_estop_kind kind, enum msg_level level)
{
	struct estop_seen seen;
	struct msg_estop msg;

	begin(false);
	seen = estop_seen(&estop);
	msg_init(&msg, msg_type_by_number(msg_estop_number));
	msg.header.t_publish_ns = clock_now_ns();
	msg.kind = kind;
	msg.level = level;
	msg.epoch = estop.epoch;
	msg.until_ns = clock_now_ns() + LONG_NS;
	memcpy(msg.boot, estop.boot, sizeof(msg.boot));
	memcpy(msg.chan, seen.id, sizeof(msg.chan));
	memcpy(msg.seen, seen.seq, sizeof(msg.seen));
	snprintf(msg.who, sizeof(msg.who), "test");
	snprintf(msg.why, sizeof(msg.why), "to see what happens");
	estop_close(&estop);
	return msg;
}

void estop_talk_put(unsigned int channel, const struct msg_estop *msg)
{
	begin(false);
	must(estop.channel[channel].open, "open", estop.channel[channel].why);
	must(ach_put(&estop.channel[channel].chan, msg, sizeof(*msg)) == ACH_OK, "put", ach_errstr());
	estop_close(&estop);
}

void estop_talk_raise(unsigned int channel, enum msg_level level)
{
	const struct msg_estop msg = estop_talk_message(MSG_ESTOP_RAISE, level);

	estop_talk_put(channel, &msg);
}

void estop_talk_raise_both(enum msg_level level)
{
	begin(false);
	must(!estop_raise(&estop, level, "test", geteuid(), "to see what happens", &(struct error_sink){ 0 }), "raise",
	     estop.channel[1].why);
	estop_close(&estop);
}

bool estop_talk_is_ratified(void)
{
	struct estop_window w[ESTOP_CHANNELS];
	bool ratified;

	begin(false);
	for (unsigned int i = 0; i < ESTOP_CHANNELS; i++)
		w[i] = estop.channel[i].window;
	ratified = !estop_rule_must_ratify(&estop.rule, w);
	estop_close(&estop);
	return ratified;
}

void estop_talk_mend(void)
{
	begin(true);
	estop_close(&estop);
}

uint64_t estop_talk_lower(enum msg_level level, uint64_t epoch)
{
	struct estop_seen seen;
	uint64_t base = 0;

	begin(true);
	seen = estop_seen(&estop);
	must(!estop_lower(&estop, &seen, level, clock_now_ns() + LONG_NS, epoch, "test", geteuid(),
			  "to see what happens", &base, &(struct error_sink){ 0 }),
	     "lower", estop.channel[0].why);
	estop_close(&estop);
	return base;
}
