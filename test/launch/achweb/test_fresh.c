/* test_fresh.c: a proof is good once, and for seconds. */
#include "test/lib/testcase.h"

#include "launch/achweb/fresh.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

TEST(counts_are_good_once_within_a_window)
{
	static const struct {
		uint64_t count;
		enum fresh_taken taken;
	} rows[] = {
		{ 0, FRESH_USED },
		{ 1, FRESH_TAKEN },
		{ 1, FRESH_USED },
		{ 2, FRESH_TAKEN },
		{ 1, FRESH_USED },
		{ 40, FRESH_TAKEN },
		{ 9, FRESH_TAKEN },
		{ 9, FRESH_USED },
		{ 8, FRESH_USED }, /* 31 and 32 back */
		{ 2, FRESH_USED },
		{ 39, FRESH_TAKEN },
		{ 39, FRESH_USED },
		{ 40, FRESH_USED },
		{ 72, FRESH_TAKEN }, /* a jump by the whole window */
		{ 41, FRESH_TAKEN },
		{ 40, FRESH_USED },
		{ 71, FRESH_TAKEN },
		{ 73, FRESH_TAKEN },
		{ 41, FRESH_USED }, /* that is 32 back now */
		{ 42, FRESH_TAKEN },
		{ 1000, FRESH_TAKEN }, /* a jump beyond it */
		{ 969, FRESH_TAKEN },
		{ 968, FRESH_USED },
		{ 73, FRESH_USED },
		{ 0, FRESH_USED },
		{ 999999999999999, FRESH_TAKEN },
	};
	struct fresh_window windows[FRESH_CLIENTS] = { 0 };
	char which[32];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		snprintf(which, sizeof(which), "row %zu", i);
		TEST_ASSERT_EQUAL_INT_MESSAGE(rows[i].taken, fresh_take(windows, A, rows[i].count, 1), which);
	}
}

TEST(each_load_of_a_page_counts_by_itself)
{
	struct fresh_window windows[FRESH_CLIENTS] = { 0 };
	char client[PROOF_WORD] = A;

	for (int i = 0; i < FRESH_CLIENTS; i++) {
		client[0] = (char)('0' + i);
		TEST_ASSERT_EQUAL_INT(FRESH_TAKEN, fresh_take(windows, client, 1, 1));
		TEST_ASSERT_EQUAL_INT(FRESH_USED, fresh_take(windows, client, 1, 1));
	}
	/* No window is given away while a challenge that it was used with may be good: that is, one turn later, too. */
	TEST_ASSERT_EQUAL_INT(FRESH_FULL, fresh_take(windows, A, 1, 1));
	TEST_ASSERT_EQUAL_INT(FRESH_FULL, fresh_take(windows, A, 1, 2));
	TEST_ASSERT_EQUAL_INT(FRESH_TAKEN, fresh_take(windows, client, 2, 2));
	TEST_ASSERT_EQUAL_INT(FRESH_TAKEN, fresh_take(windows, A, 1, 3));
	TEST_ASSERT_EQUAL_INT(FRESH_USED, fresh_take(windows, client, 2, 3));
}

TEST(a_challenge_is_good_for_seconds)
{
	struct fresh f = { .turn = 0 };
	char first[PROOF_WORD], second[PROOF_WORD];
	int64_t now_ns = 1000;

	TEST_ASSERT_TRUE(fresh_is_due(&f, now_ns));
	TEST_ASSERT_FALSE(fresh_has(&f, ""));
	fresh_renew(&f, (uint8_t[FRESH_RANDOM]){ 1 }, now_ns);
	memcpy(first, f.now, sizeof(first));
	TEST_ASSERT_EQUAL_STRING("01000000000000000000000000000000", first);
	TEST_ASSERT_TRUE(fresh_has(&f, first));
	TEST_ASSERT_FALSE(fresh_has(&f, ""));
	TEST_ASSERT_FALSE(fresh_has(&f, PROOF_NONE));
	TEST_ASSERT_FALSE(fresh_is_due(&f, now_ns + FRESH_NS - 1));
	TEST_ASSERT_TRUE(fresh_is_due(&f, now_ns + FRESH_NS));
	fresh_renew(&f, (uint8_t[FRESH_RANDOM]){ 2 }, now_ns += FRESH_NS);
	memcpy(second, f.now, sizeof(second));
	TEST_ASSERT_TRUE(fresh_has(&f, first) && fresh_has(&f, second));
	fresh_renew(&f, (uint8_t[FRESH_RANDOM]){ 3 }, now_ns += FRESH_NS);
	TEST_ASSERT_FALSE(fresh_has(&f, first));
	TEST_ASSERT_TRUE(fresh_has(&f, second));
	/* Behind a time without requests neither is good. */
	fresh_renew(&f, (uint8_t[FRESH_RANDOM]){ 4 }, now_ns += 2 * FRESH_NS);
	TEST_ASSERT_FALSE(fresh_has(&f, "03000000000000000000000000000000"));
	TEST_ASSERT_FALSE(fresh_has(&f, ""));
	TEST_ASSERT_TRUE(fresh_has(&f, "04000000000000000000000000000000"));
	TEST_ASSERT_EQUAL_UINT64(4, f.turn);
}
