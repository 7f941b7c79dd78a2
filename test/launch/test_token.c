/* test_token.c: tokens of one use, and sessions. */
#include "test/channels/testcase.h"

#include "launch/achweb/token.h"

#define S INT64_C(1000000000)

static struct token_store store;
static uint8_t seed;

static const uint8_t *fresh(void)
{
	static uint8_t bytes[TOKEN_RANDOM];

	memset(bytes, ++seed, sizeof(bytes));
	return bytes;
}

static void begin(void)
{
	memset(&store, 0, sizeof(store));
	seed = 0;
}

TEST(a_token_is_good_for_one_session)
{
	char token[TOKEN_MAX], session[TOKEN_MAX];
	const struct token *found;

	begin();
	snprintf(token, sizeof(token), "%s", token_issue(&store, fresh(), TOKEN_LOOK | TOKEN_ACT, "alice", S)->text);
	TEST_ASSERT_EQUAL_STRING("01010101010101010101010101010101", token);
	TEST_ASSERT_NULL(token_session(&store, token, S));
	found = token_redeem(&store, token, fresh(), 2 * S);
	TEST_ASSERT_NOT_NULL(found);
	TEST_ASSERT_EQUAL_UINT(TOKEN_LOOK | TOKEN_ACT, found->rights);
	TEST_ASSERT_EQUAL_STRING("alice", found->who);
	snprintf(session, sizeof(session), "%s", found->text);
	TEST_ASSERT_EQUAL_STRING("02020202020202020202020202020202", session);
	TEST_ASSERT_NULL(token_redeem(&store, token, fresh(), 2 * S));
	TEST_ASSERT_NULL(token_redeem(&store, session, fresh(), 2 * S));
	TEST_ASSERT_EQUAL_PTR(found, token_session(&store, session, 2 * S));
}

TEST(a_token_ends_after_its_time)
{
	char token[TOKEN_MAX];

	begin();
	snprintf(token, sizeof(token), "%s", token_issue(&store, fresh(), TOKEN_LOOK, "a", S)->text);
	TEST_ASSERT_NULL(token_redeem(&store, token, fresh(), S + TOKEN_LIFE_NS));
	TEST_ASSERT_NOT_NULL(token_redeem(&store, token, fresh(), S + TOKEN_LIFE_NS - 1));
}

TEST(a_session_ends_when_it_is_not_used)
{
	char session[TOKEN_MAX];
	int64_t now_ns = S;

	begin();
	snprintf(session, sizeof(session), "%s", token_begin_session(&store, fresh(), TOKEN_LOOK, "a", now_ns)->text);
	for (int i = 0; i < 3; i++) {
		now_ns += TOKEN_SESSION_NS - 1;
		TEST_ASSERT_NOT_NULL(token_session(&store, session, now_ns));
	}
	TEST_ASSERT_NULL(token_session(&store, session, now_ns + TOKEN_SESSION_NS));
}

TEST(other_texts_are_not_tokens)
{
	static const char *const cases[] = { "",
					     "0",
					     "00000000000000000000000000000000",
					     "0101010101010101010101010101010",
					     "010101010101010101010101010101010",
					     "01010101010101010101010101010102",
					     "11010101010101010101010101010101",
					     "0101010101010101010101010101010G" };

	begin();
	token_issue(&store, fresh(), TOKEN_LOOK, "a", S);
	token_begin_session(&store, (uint8_t[TOKEN_RANDOM]){ 9 }, TOKEN_LOOK, "a", S);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		TEST_ASSERT_NULL_MESSAGE(token_redeem(&store, cases[i], fresh(), S), cases[i]);
		TEST_ASSERT_NULL_MESSAGE(token_session(&store, cases[i], S), cases[i]);
	}
}

TEST(the_oldest_makes_room)
{
	const size_t n = sizeof(store.tokens) / sizeof(*store.tokens);
	char first[TOKEN_MAX], second[TOKEN_MAX];

	begin();
	snprintf(first, sizeof(first), "%s", token_issue(&store, fresh(), TOKEN_LOOK, "a", S)->text);
	snprintf(second, sizeof(second), "%s", token_issue(&store, fresh(), TOKEN_LOOK, "a", 2 * S)->text);
	for (size_t i = 2; i <= n; i++)
		token_issue(&store, fresh(), TOKEN_LOOK, "a", (int64_t)(i + 1) * S);
	TEST_ASSERT_NULL(token_redeem(&store, first, fresh(), 20 * S));
	TEST_ASSERT_NOT_NULL(token_redeem(&store, second, fresh(), 20 * S));
}
