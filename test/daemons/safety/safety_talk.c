/* safety_talk.c: what the cases say to the driver, to the simulator and to the wire; see safety_lib.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channels/clock/clock.h"
#include "test/can/bus/wire_lib.h"
#include "test/daemons/safety/safety_lib.h"
#include "test/lib/estop_talk.h"
#include "test/lib/request_talk.h"
#include "test/lib/sim_talk.h"
#include "unity.h"

#define LOWER_EVERY 40 /* states */

/* ---- channels ---- */

const char *safety_channel(const char *name)
{
	static char full[96];

	snprintf(full, sizeof(full), "%s%s", safety.prefix, name);
	return full;
}

void safety_put(const char *name, const void *msg, size_t len)
{
	ach_channel_t chan;

	TEST_ASSERT_EQUAL_MESSAGE(ACH_OK, ach_open(&chan, safety_channel(name), NULL), name);
	TEST_ASSERT_EQUAL_MESSAGE(ACH_OK, ach_put(&chan, msg, len), name);
	ach_close(&chan);
}

uint64_t safety_seq(const char *name)
{
	char bytes[8192];
	ach_channel_t chan;
	uint64_t seq;
	size_t len;

	if (ach_open(&chan, safety_channel(name), NULL) != ACH_OK)
		return 0;
	ach_get(&chan, bytes, sizeof(bytes), &len, NULL, ACH_O_LAST);
	seq = chan.seq_num;
	ach_close(&chan);
	return seq;
}

void safety_raise(enum msg_level level)
{
	estop_talk_raise_both(level);
}

void safety_lower(void)
{
	estop_talk_lower(MSG_LEVEL_RUN, ++safety.epoch);
}

/* One that comes before the driver has read of some trouble is void: then once more. */
static unsigned int lowered_at; /* so many states had been published */

static bool obeyed(void)
{
	if (safety_state()->common.epoch == safety.epoch && safety_state()->common.level == MSG_LEVEL_RUN)
		return safety_life() != MSG_LIFE_DISARMED;
	if (safety.states_n > lowered_at + LOWER_EVERY) {
		lowered_at = safety.states_n;
		safety_lower();
	}
	return false;
}

void safety_arm(void)
{
	SAFETY_UNTIL(estop_talk_is_ratified());
	safety_lower();
	lowered_at = safety.states_n;
	SAFETY_UNTIL(obeyed());
}

struct msg_joint_ref safety_ref(void)
{
	struct msg_joint_ref ref;

	msg_init(&ref, msg_type_by_number(msg_joint_ref_number));
	ref.header.for_incarnation = safety_state()->header.incarnation;
	ref.count = 1;
	ref.mode[0] = MSG_MODE_VELOCITY;
	return ref;
}

void safety_put_ref(struct msg_joint_ref *ref)
{
	safety.ref_ns = clock_now_ns();
	ref->header.t_publish_ns = safety.ref_ns;
	ref->header.valid_until_ns = safety.ref_ns + SAFETY_VALID_NS;
	TEST_ASSERT_EQUAL(ACH_OK, ach_put(&safety.ref_channel, ref, sizeof(*ref)));
	safety.ref.header.valid_until_ns = ref->header.valid_until_ns;
}

void safety_velocity(double rad_s)
{
	safety.ref = safety_ref();
	safety.ref.velocity[0] = rad_s;
	safety.referring = true;
}

void safety_position_to(double rad)
{
	safety.ref = safety_ref();
	safety.ref.mode[0] = MSG_MODE_POSITION;
	safety.ref.position[0] = rad;
	safety.referring = true;
}

void safety_quiet(void)
{
	safety.referring = false;
}

uint64_t safety_request(enum msg_verb verb, const char *key)
{
	const struct msg_request msg = request_talk(verb, key, "");

	safety_put(SAFETY_DEVICE "-req", &msg, sizeof(msg));
	return msg.id;
}

const struct msg_reply *safety_reply(uint64_t id)
{
	for (unsigned int i = 0; i < safety.replies_n; i++)
		if (safety.replies[i].id == id)
			return &safety.replies[i];
	return NULL;
}

void safety_clear(void)
{
	const uint64_t id = safety_request(MSG_VERB_CLEAR, "");

	SAFETY_UNTIL(safety_reply(id));
	TEST_ASSERT_EQUAL_MESSAGE(0, safety_reply(id)->result, safety_reply(id)->error);
	SAFETY_UNTIL(!safety_state()->common.latches);
}

/* ---- robotsim, canwire ---- */

void safety_sim(const char *question)
{
	sim_talk(question, safety.said, sizeof(safety.said), safety_turn);
}

void safety_fault(const char *words)
{
	char question[96];

	snprintf(question, sizeof(question), "fault %s %s", safety_on->unit, words);
	safety_sim(question);
}

static const char *sim_value(const char *key)
{
	char wanted[64];
	const char *at;

	snprintf(wanted, sizeof(wanted), "report %s", safety_on->unit);
	safety_sim(wanted);
	snprintf(wanted, sizeof(wanted), " %s ", key);
	at = strstr(safety.said, wanted);
	TEST_ASSERT_NOT_NULL_MESSAGE(at, safety.said);
	return at + strlen(wanted);
}

double safety_sim_number(const char *key)
{
	return strtod(sim_value(key), NULL);
}

bool safety_sim_has(const char *word)
{
	char words[512], wanted[64];

	if (!word)
		return true;
	snprintf(words, sizeof(words), ",%.*s,", (int)strcspn(sim_value("words"), " "), sim_value("words"));
	snprintf(wanted, sizeof(wanted), ",%s,", word);
	return strstr(words, wanted);
}

double safety_sim_speed(void)
{
	return fabs(safety_sim_number("velocity"));
}

double safety_trips(void)
{
	return safety_has(SAFETY_TRIPS) ? safety_sim_number("trips") : 0;
}

const char *safety_wire(const char *question)
{
	return wire_lib_ask("wire:torso", question);
}
