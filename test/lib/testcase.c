/* testcase.c: main, setUp and tearDown of the tests that have none, and the list of cases. */
#include <stdbool.h>

#include "test/lib/testcase.h"

struct testcase *testcase_first;
void (*testcase_at_end)(void);
static char **parts; /* of names, ended by NULL */

__attribute__((weak)) void setUp(void)
{
}

__attribute__((weak)) void tearDown(void)
{
}

__attribute__((weak)) void testcase_begin(void)
{
}

/* The C library passes the arguments of main to constructors too. */
__attribute__((constructor)) static void keep_arguments(int argc, char **argv)
{
	parts = argc ? argv + 1 : argv;
}

/* Constructors run in any order. */
void testcase_add(struct testcase *testcase)
{
	struct testcase **at = &testcase_first;

	while (*at && (*at)->line <= testcase->line)
		at = &(*at)->next;
	testcase->next = *at;
	*at = testcase;
}

static bool chosen(const char *name)
{
	for (char **part = parts; *part; part++)
		if (strstr(name, *part))
			return true;
	return !*parts;
}

void testcase_run(void (*body)(void), const char *name, int line)
{
	if (chosen(name))
		UnityDefaultTestRun(body, name, line);
}

void testcase_run_all(void)
{
	for (struct testcase *c = testcase_first; c; c = c->next)
		testcase_run(c->body, c->name, c->line);
}

__attribute__((weak)) int main(void)
{
	testcase_begin();
	UnityBegin(testcase_first ? testcase_first->file : program_invocation_name);
	testcase_run_all();
	if (testcase_at_end)
		testcase_at_end();
	if (Unity.NumberOfTests)
		return UNITY_END();
	fprintf(stderr, "%s: no case of such a name\n", program_invocation_name);
	return 2;
}
