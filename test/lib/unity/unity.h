/* unity.h: as much of Unity, the library of Endplate's own tests, as the tests of a codec take: so a driver outside the
 * tree needs no other package.  With the folder of Unity before this one on the command line, Unity it is.
 */
#pragma once

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct unity {
	unsigned int NumberOfTests, TestFailures;
	const char *file, *name;
	jmp_buf end;
};
__attribute__((weak)) struct unity Unity;

#define UnityBegin(path) (Unity.file = (path))
#define UnityDefaultTestRun(body, case_name, line)                               \
	do {                                                                     \
		Unity.NumberOfTests++;                                           \
		Unity.name = (case_name);                                        \
		if (!setjmp(Unity.end)) {                                        \
			setUp();                                                 \
			(body)();                                                \
			printf("%s:%d:%s:PASS\n", Unity.file, line, Unity.name); \
		}                                                                \
		tearDown();                                                      \
	} while (0)
#define UNITY_END()                                                                              \
	(printf("%u Tests %u Failures 0 Ignored\n%s\n", Unity.NumberOfTests, Unity.TestFailures, \
		Unity.TestFailures ? "FAIL" : "OK"),                                             \
	 (int)Unity.TestFailures)

void setUp(void);
void tearDown(void);

#define UNITY_FAIL(...)                                                                                \
	(printf("%s:%d:%s:FAIL: ", __FILE__, __LINE__, Unity.name), printf(__VA_ARGS__), printf("\n"), \
	 Unity.TestFailures++, longjmp(Unity.end, 1))

#define TEST_ASSERT_TRUE_MESSAGE(is, message)                       \
	do {                                                        \
		if (!(is))                                          \
			UNITY_FAIL("not so: %s: %s", #is, message); \
	} while (0)
#define TEST_ASSERT_TRUE(is) TEST_ASSERT_TRUE_MESSAGE(is, "")
#define TEST_ASSERT_FALSE(is) TEST_ASSERT_TRUE_MESSAGE(!(is), "")
#define TEST_ASSERT_NULL_MESSAGE(pointer, message) TEST_ASSERT_TRUE_MESSAGE(!(pointer), message)
#define TEST_ASSERT_NOT_NULL_MESSAGE(pointer, message) TEST_ASSERT_TRUE_MESSAGE(pointer, message)

#define TEST_ASSERT_EQUAL(expected, is)                                                               \
	do {                                                                                          \
		const int64_t unity_expected = (int64_t)(expected), unity_is = (int64_t)(is);         \
		if (unity_expected != unity_is)                                                       \
			UNITY_FAIL("%s is %" PRId64 ", not %" PRId64, #is, unity_is, unity_expected); \
	} while (0)
#define TEST_ASSERT_EQUAL_INT64 TEST_ASSERT_EQUAL
#define TEST_ASSERT_EQUAL_HEX8 TEST_ASSERT_EQUAL
#define TEST_ASSERT_EQUAL_HEX32 TEST_ASSERT_EQUAL
#define TEST_ASSERT_DOUBLE_WITHIN(by, expected, is)                                          \
	do {                                                                                 \
		const double unity_expected = (expected), unity_is = (is);                   \
		if (!(fabs(unity_is - unity_expected) <= (by)))                              \
			UNITY_FAIL("%s is %.17g, not %.17g", #is, unity_is, unity_expected); \
	} while (0)
#define TEST_ASSERT_EQUAL_STRING_MESSAGE(expected, is, message)                      \
	do {                                                                         \
		if (strcmp(expected, is) != 0)                                       \
			UNITY_FAIL("\"%s\", not \"%s\": %s", is, expected, message); \
	} while (0)
#define TEST_ASSERT_EQUAL_STRING(expected, is) TEST_ASSERT_EQUAL_STRING_MESSAGE(expected, is, "")
