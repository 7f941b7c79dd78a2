/* golden_lib.c: plays a log to a real driver, in this process, on a virtual clock; see README. */
#include "test/daemons/golden/golden_lib.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "channels/ach/ach.h"
#include "channels/clock/clock.h"

#define START_NS INT64_C(1000000000)

FILE *golden_lib_states;
static const struct golden_lib_what *what;
static char prefix[32];
static ach_channel_t state_chan, event_chan;
static int64_t now_ns = START_NS;

/* ---- what is published ---- */

void golden_lib_word(enum msg_number state, const char *name, const void *value)
{
	struct msg_place place;
	char text[64];

	msg_find(msg_type_by_number(state), name, &place, NULL, 0);
	msg_element_text(text, sizeof(text), place.field, value);
	fprintf(golden_lib_states, "  %s", *text ? text : "-");
}

double golden_lib_ms(int64_t age_ns)
{
	return age_ns == INT64_MAX ? INFINITY : (double)age_ns / 1e6;
}

static void write_states(void)
{
	static struct msg_event e;
	static union {
		struct { /* as every state begins */
			struct msg_header header;
			struct msg_common common;
		} begin;
		char bytes[MSG_SIZE_MAX];
	} s;
	size_t len;

	while (ach_get(&event_chan, &e, sizeof(e), &len, NULL, 0) == ACH_OK)
		fprintf(golden_lib_states, "%.3f ms  %s: %s\n", (double)(e.header.t_publish_ns - START_NS) / 1e6,
			e.code, e.text);
	while (ach_get(&state_chan, &s, sizeof(s), &len, NULL, 0) == ACH_OK) {
		fprintf(golden_lib_states, "%.3f ms", (double)(s.begin.header.t_publish_ns - START_NS) / 1e6);
		golden_lib_word(what->state, "common.lifecycle", &s.begin.common.lifecycle);
		what->write(&s);
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
	if (deadline_ns > now_ns)
		now_ns = deadline_ns;
	return 0;
}

/* ---- channels ---- */

static void make(ach_channel_t *chan, const char *suffix, enum msg_number number)
{
	const struct msg_type *type = msg_type_by_number(number);
	ach_create_attr_t attr;
	char full[64];

	snprintf(full, sizeof(full), "%s%s%s", prefix, what->device, suffix);
	ach_create_attr_init(&attr);
	ach_create_attr_set_mode(&attr, 0600, (gid_t)-1);
	if (ach_create(full, type->retained, type->body->size, &attr) != ACH_OK || ach_open(chan, full, NULL) != ACH_OK)
		exit(111);
}

static void sweep(void)
{
	static const char *const suffixes[] = { "-state", "-ref", "-req", "-rep", "-event" };
	char full[64];

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		snprintf(full, sizeof(full), "%s%s%s", prefix, what->device, suffixes[i]);
		ach_unlink(full);
	}
	for (const char *const *name = what->further; name && *name; name++) {
		snprintf(full, sizeof(full), "%s%s", prefix, *name);
		ach_unlink(full);
	}
	snprintf(full, sizeof(full), "%sestop", prefix);
	ach_unlink(full);
	snprintf(full, sizeof(full), "%sestop-b", prefix);
	ach_unlink(full);
}

/* ---- the run ---- */

/* The driver's own command line, which it may change. */
static int run(const char *log, const char *sent)
{
	static char words[9 + 2 * GOLDEN_LIB_SETTINGS_MAX][1024];
	char *line[sizeof(words) / sizeof(*words) + 1] = { NULL };
	int n = 5;

	snprintf(words[0], sizeof(*words), "%s", what->driver);
	strcpy(words[1], "--name");
	snprintf(words[2], sizeof(*words), "%s", what->device);
	strcpy(words[3], "--bus");
	snprintf(words[4], sizeof(*words), "%s=log:%s>%s", what->bus, log, sent);
	if (what->bus2) {
		strcpy(words[n++], "--bus");
		snprintf(words[n++], sizeof(*words), "%s=log:%s-2>%s-2", what->bus2, log, sent);
	}
	for (size_t i = 0; i < GOLDEN_LIB_SETTINGS_MAX && what->settings[i]; i++) {
		strcpy(words[n++], "--set");
		snprintf(words[n++], sizeof(*words), "%s", what->settings[i]);
	}
	strcpy(words[n++], "--set");
	strcpy(words[n++], "lock_memory=no");
	for (int i = 0; i < n; i++)
		line[i] = words[i];
	return what->main(n, line);
}

int golden_lib_play(const struct golden_lib_what *of, const char *log, const char *sent, const char *states)
{
	static const struct clock_source source = { .now = golden_now, .real = golden_real, .wait = golden_wait };
	int status;

	what = of;
	snprintf(prefix, sizeof(prefix), "golden%d.", (int)getpid());
	setenv("ENDPLATE_PREFIX", prefix, 1);
	setenv("NOTIFY_SOCKET", "/nowhere", 1); /* no lines on stderr */
	golden_lib_states = fopen(states, "w");
	if (!golden_lib_states)
		return 111;
	make(&state_chan, "-state", what->state);
	make(&event_chan, "-event", msg_event_number);
	clock_use(&source);
	status = run(log, sent);
	write_states();
	sweep();
	return fclose(golden_lib_states) || status ? 111 : 0;
}
