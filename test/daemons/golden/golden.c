/* golden.c: plays a log and a script to the real pciod, in this process, on a virtual clock; see README.
 *
 *	golden LOG SCRIPT SENT STATES
 *
 * Time passes inside clock_wait alone.  There the script's next line is carried out when its time comes, and the states
 * that were published since are written down.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "channels/ach/ach.h"
#include "channels/clock/clock.h"
#include "channels/msg/msg.h"
#include "test/lib/estop_talk.h"

#define main pciod_main
int pciod_main(int argc, char **argv);
#include "daemons/pcio/pciod.c"
#undef main

#define START_NS INT64_C(1000000000)
#define MS_NS INT64_C(1000000)
#define REFERENCE_NS (5 * MS_NS) /* while a reference is wanted it is put so often */

static char prefix[32];
static ach_channel_t ref_chan, state_chan;
static FILE *script, *states;
static int64_t now_ns = START_NS;

/* ---- the script ---- */

static struct script_line {
	int64_t at_ns;
	char what[16], word[16], value[32];
	long long number;
} next_line;
static bool more;

static void read_line(void)
{
	char text[128];
	double ms;

	more = false;
	while (!more && fgets(text, sizeof(text), script)) {
		char third[32] = "";

		memset(&next_line, 0, sizeof(next_line));
		if (*text == '#' || sscanf(text, "%lf %15s", &ms, next_line.what) != 2)
			continue;
		if (!strcmp(next_line.what, "level"))
			more = sscanf(text, "%*s %*s %15s %lld", next_line.word, &next_line.number) == 2;
		else
			more = sscanf(text, "%*s %*s %lld %15s %31s", &next_line.number, next_line.word, third) == 3;
		memcpy(next_line.value, third, sizeof(third));
		next_line.at_ns = START_NS + (int64_t)(ms * 1e6);
	}
}

static void put_level(const struct script_line *l)
{
	if (!strcmp(l->word, "run"))
		estop_talk_lower(MSG_LEVEL_RUN, (uint64_t)l->number);
	else
		estop_talk_raise_both(!strcmp(l->word, "hold") ? MSG_LEVEL_HOLD : MSG_LEVEL_ESTOP);
}

static struct msg_joint_ref wanted;
static int64_t wanted_until_ns, wanted_next_ns = CLOCK_NEVER;

static void want(const struct script_line *l)
{
	const double value = strtod(l->value, NULL);

	msg_init(&wanted, msg_type_by_number(msg_joint_ref_number));
	wanted.count = 1;
	wanted.header.for_incarnation = 1;
	if (!strcmp(l->word, "position")) {
		wanted.mode[0] = MSG_MODE_POSITION;
		wanted.position[0] = value;
	} else if (!strcmp(l->word, "velocity")) {
		wanted.mode[0] = MSG_MODE_VELOCITY;
		wanted.velocity[0] = value;
	} else {
		wanted.mode[0] = MSG_MODE_CURRENT;
		wanted.current[0] = value;
	}
	wanted_until_ns = now_ns + l->number * MS_NS;
	wanted_next_ns = now_ns;
}

static void act(void)
{
	while (more && next_line.at_ns <= now_ns) {
		if (!strcmp(next_line.what, "level"))
			put_level(&next_line);
		else
			want(&next_line);
		read_line();
	}
	if (now_ns < wanted_next_ns)
		return;
	wanted.header.valid_until_ns = now_ns + 3 * REFERENCE_NS;
	ach_put(&ref_chan, &wanted, sizeof(wanted));
	wanted_next_ns = now_ns + REFERENCE_NS >= wanted_until_ns ? CLOCK_NEVER : now_ns + REFERENCE_NS;
}

/* ---- what is published ---- */

static void write_states(void)
{
	static struct msg_joint_state s;
	char flags[64], life[32];
	size_t len;

	while (ach_get(&state_chan, &s, sizeof(s), &len, NULL, 0) == ACH_OK) {
		const struct msg_type *type = msg_type_by_number(msg_joint_state_number);
		struct msg_place place;

		msg_find(type, "header.flags", &place, NULL, 0);
		msg_element_text(flags, sizeof(flags), place.field, &s.header.flags);
		msg_find(type, "common.lifecycle", &place, NULL, 0);
		msg_element_text(life, sizeof(life), place.field, &s.common.lifecycle);
		fprintf(states,
			"%.3f ms  %s  %s  position %.6f  velocity %.6f  current %.4f  age %.3f ms  word %08x  "
			"taken %" PRIu64 "  not finite %u\n",
			(double)(s.header.t_publish_ns - START_NS) / 1e6, life, *flags ? flags : "-", s.position[0],
			s.velocity[0], s.current[0], (double)s.age_ns[0] / 1e6, s.state_word[0], s.common.refs_taken,
			s.common.refs_refused.not_finite);
	}
}

/* ---- the clock ---- */

static int64_t golden_now(void)
{
	return now_ns;
}

static int64_t golden_real(void)
{
	return CLOCK_VIRTUAL_EPOCH_NS + now_ns;
}

static int golden_wait(struct clock_fd *fds, size_t n, int64_t deadline_ns)
{
	write_states();
	for (size_t i = 0; i < n; i++)
		fds[i].ready = 0; /* a log has no descriptor, and no signals come */
	while (now_ns < deadline_ns) {
		int64_t to_ns = deadline_ns;

		if (more && next_line.at_ns < to_ns)
			to_ns = next_line.at_ns;
		if (wanted_next_ns < to_ns)
			to_ns = wanted_next_ns;
		if (to_ns > now_ns)
			now_ns = to_ns;
		act();
	}
	return 0;
}

static void make(ach_channel_t *chan, const char *name, enum msg_number number)
{
	const struct msg_type *type = msg_type_by_number(number);
	ach_create_attr_t attr;
	char full[64];

	snprintf(full, sizeof(full), "%s%s", prefix, name);
	ach_create_attr_init(&attr);
	ach_create_attr_set_mode(&attr, 0600, (gid_t)-1);
	if (ach_create(full, type->retained, type->body->size, &attr) != ACH_OK || ach_open(chan, full, NULL) != ACH_OK)
		exit(111);
}

static void sweep(void)
{
	static const char *const names[] = { "waist-state", "waist-ref", "waist-req", "waist-rep",
					     "waist-event", "estop",	 "estop-b" };
	char full[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(full, sizeof(full), "%s%s", prefix, names[i]);
		ach_unlink(full);
	}
}

int main(int argc, char **argv)
{
	static const struct clock_source source = { .now = golden_now, .real = golden_real, .wait = golden_wait };
	char bus[1024];
	char words[][20] = { "pciod", "--name",	  "waist", "--bus",	    "", "--set", "modules=15",
			     "--set", "tick=5ms", "--set", "lock_memory=no" };
	char *line[sizeof(words) / sizeof(*words) + 1] = { NULL };
	int status;

	if (argc != 5) {
		fprintf(stderr, "usage: golden LOG SCRIPT SENT STATES\n");
		return 100;
	}
	snprintf(prefix, sizeof(prefix), "golden%d.", (int)getpid());
	setenv("ENDPLATE_PREFIX", prefix, 1);
	setenv("NOTIFY_SOCKET", "/nowhere", 1); /* no lines on stderr */
	snprintf(bus, sizeof(bus), "torso=log:%s>%s", argv[1], argv[3]);
	script = fopen(argv[2], "r");
	states = fopen(argv[4], "w");
	if (!script || !states)
		return 111;
	make(&ref_chan, "waist-ref", msg_joint_ref_number);
	make(&state_chan, "waist-state", msg_joint_state_number);
	clock_use(&source);
	read_line();
	act();
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		line[i] = *words[i] ? words[i] : bus;
	status = pciod_main(sizeof(words) / sizeof(*words), line);
	write_states();
	sweep();
	return fclose(states) || status ? 111 : 0;
}
