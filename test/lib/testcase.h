/* testcase.h: cases that run without being listed.
 *
 *	TEST(two_and_two_are_four)
 *	{
 *		TEST_ASSERT_EQUAL(4, 2 + 2);
 *	}
 *
 * A program runs its cases in the order of the file, or those whose names contain one of its arguments, behind
 * testcase_begin and before testcase_at_end.  A file with cases is a program; it has a main only to run other cases as
 * well, which calls testcase_run_all between UNITY_BEGIN and UNITY_END.  RUN_TEST there runs a case under a condition,
 * or again.
 */
#pragma once

/* What almost every test uses. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unity.h"

struct testcase {
	void (*body)(void);
	const char *name, *file;
	int line;
	unsigned int needs; /* of safety_lib.h */
	struct testcase *next;
};

#define TEST(name) TEST_NEEDS(name, 0)
#define TEST_NEEDS(name, needs)                                                                    \
	static void name(void);                                                                    \
	static struct testcase testcase_##name = { name, #name, __FILE__, __LINE__, needs, NULL }; \
	__attribute__((constructor)) static void testcase_add_##name(void)                         \
	{                                                                                          \
		testcase_add(&testcase_##name);                                                    \
	}                                                                                          \
	static void name(void)

#undef RUN_TEST
#define RUN_TEST(body) testcase_run(body, #body, __LINE__)

extern struct testcase *testcase_first; /* in the order of the file */
void testcase_add(struct testcase *testcase);
void testcase_run(void (*body)(void), const char *name, int line);
void testcase_run_all(void);
void testcase_begin(void);	      /* of the program, or of none */
extern void (*testcase_at_end)(void); /* NULL: nothing */
