/* safety_suite.c: runs the cases of a test program for each actuator; see safety_lib.h. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/can/bus/wire_lib.h"
#include "test/daemons/safety/safety_lib.h"
#include "test/lib/lib.h"

#define ACTUATORS_MAX 16
#define WORD(prefix, name, word) word,

const struct safety_actuator *safety_on;
const struct testcase *safety_case;

static const struct {
	unsigned int has;
	const char *lacks;
} lacks[] = {
	{ SAFETY_VELOCITIES, "it takes no velocities" },
	{ SAFETY_POSITIONS, "it takes no positions" },
	{ SAFETY_TRIPS, "its watchdog leaves no fault" },
	{ SAFETY_HOMES, "it does not home" },
	{ SAFETY_LOSES_POWER, "the driver cannot know that it lost its power" },
	{ SAFETY_HALTED_BY_OTHERS, "others cannot halt it" },
	{ SAFETY_FAULTS, "it has no faults that wait for a person" },
	{ SAFETY_HALTS, "it has no halt" },
	{ SAFETY_ON_ESTOP, "the driver has no setting on_estop" },
	{ SAFETY_CARELESS, "there is no careless variant of the driver" },
};

/* ---- one case ---- */

/* For a person who looks at a failure. */
static void print_state(void)
{
	static const char *const lives[] = { MSG_WORDS_LIFE(WORD) };

	if (safety.states_n) {
		const struct msg_joint_state *s = &safety.states[safety.states_n - 1];

		printf("\n%s, level %u, epoch %u, tick %u, skipped %u, at %g rad, word %08X, bus %u\n",
		       lives[s->common.lifecycle], s->common.level, (unsigned int)s->common.epoch,
		       (unsigned int)s->common.ticks, (unsigned int)s->common.skipped, s->position[0], s->state_word[0],
		       s->common.bus[0].state);
	}
	for (unsigned int i = 0; i < safety.events_n; i++)
		printf("event %s: %s\n", safety.events[i].code, safety.events[i].text);
}

static void run_case(void)
{
	jmp_buf outer;

	memcpy(&outer, &Unity.AbortFrame, sizeof(outer));
	safety_begin();
	if (TEST_PROTECT())
		safety_case->body();
	memcpy(&Unity.AbortFrame, &outer, sizeof(outer));
	if (Unity.CurrentTestFailed)
		print_state();
	safety_end();
	if (Unity.CurrentTestFailed)
		TEST_ABORT();
}

static const char *missing(const struct testcase *c)
{
	for (size_t i = 0; i < sizeof(lacks) / sizeof(*lacks); i++)
		if (c->needs & lacks[i].has && !safety_has(lacks[i].has))
			return lacks[i].lacks;
	return NULL;
}

static void run_or_skip(const struct testcase *c)
{
	static char name[160];
	const char *why = missing(c);

	snprintf(name, sizeof(name), "%s/%s", safety_on->program, c->name);
	if (why) {
		printf("%s: skipped: %s\n", name, why);
		return;
	}
	safety_case = c;
	Unity.TestFile = c->file;
	lib_watchdog(name, LIB_HANG_S);
	UnityDefaultTestRun(run_case, name, c->line);
}

/* ---- one actuator ---- */

static int run_cases(const struct safety_actuator *on, const char *only)
{
	safety_on = on;
	UNITY_BEGIN();
	for (const struct testcase *c = testcase_first; c; c = c->next)
		if (!only || !strcmp(only, c->name))
			run_or_skip(c);
	wire_lib_clean();
	return UNITY_END();
}

static int run_one(const char *program, const char *only)
{
	for (const struct safety_actuator *const *on = safety_actuators; *on; on++)
		if (!strcmp((*on)->program, program))
			return run_cases(*on, only);
	fprintf(stderr, "%s: no such actuator in test/daemons/safety\n", program);
	return 2;
}

/* ---- all of them ---- */

struct child {
	pid_t pid;
	FILE *output;
};

static void start_child(struct child *child, const struct safety_actuator *on)
{
	child->output = tmpfile();
	if (!child->output || (child->pid = fork()) < 0) {
		perror("fork");
		exit(1);
	}
	if (child->pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	dup2(fileno(child->output), STDOUT_FILENO);
	dup2(fileno(child->output), STDERR_FILENO);
	exit(run_cases(on, NULL) != 0);
}

struct sum {
	unsigned int tests, failures, ignored;
};

/* Prints what it said, and adds up what Unity counted. */
static bool end_child(struct child *child, struct sum *sum)
{
	struct sum own;
	bool counted = false;
	char line[1024];
	int status;

	waitpid(child->pid, &status, 0);
	rewind(child->output);
	while (fgets(line, sizeof(line), child->output)) {
		if (sscanf(line, "%u Tests %u Failures %u Ignored", &own.tests, &own.failures, &own.ignored) == 3)
			counted = true;
		fputs(line, stdout);
	}
	fclose(child->output);
	if (counted) {
		sum->tests += own.tests;
		sum->failures += own.failures;
		sum->ignored += own.ignored;
	}
	return counted && WIFEXITED(status) && !WEXITSTATUS(status);
}

static int run_all(void)
{
	struct child children[ACTUATORS_MAX];
	struct sum sum = { 0 };
	unsigned int failed = 0;

	for (unsigned int i = 0; safety_actuators[i]; i++)
		start_child(&children[i], safety_actuators[i]);
	for (unsigned int i = 0; safety_actuators[i]; i++) {
		printf("---- %s\n", safety_actuators[i]->program);
		failed += !end_child(&children[i], &sum);
	}
	/* An actuator whose process died is a failure that no count shows. */
	if (failed && !sum.failures)
		sum.failures = failed;
	printf("---- all actuators\n%u Tests %u Failures %u Ignored\n%s\n", sum.tests, sum.failures, sum.ignored,
	       sum.failures ? "FAIL" : "OK");
	return sum.failures != 0;
}

int safety_main(int argc, char **argv)
{
	if (argc > 1)
		return run_one(argv[1], argc > 2 ? argv[2] : NULL);
	return run_all();
}
